//! The builds of the congestion point with the same ports, but for the width of their beats.

use penstock_cosim::cp_qcn::{In, Out};
use penstock_cosim::stream::Data;
use penstock_cosim::{cp_100g, cp_large, cp_qcn, cp_smcc};
#[cfg(feature = "widths")]
use penstock_cosim::{cp_qcn_128, cp_qcn_256};

/// QCN's congestion point, that with a buffer of three banks, SMCC's, and QCN's with wider beats: the same ports.
pub enum Core {
    Qcn(cp_qcn::Core),
    Large(cp_large::Core),
    Smcc(cp_smcc::Core),
    #[cfg(feature = "widths")]
    Wide128(cp_qcn_128::Core),
    #[cfg(feature = "widths")]
    Wide256(cp_qcn_256::Core),
    Wide512(cp_100g::Core),
}

/// Octets of the widest beat.
pub const WIDEST: usize = 64;

/// A beat of any width, without its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wires {
    pub data: [u8; WIDEST],
    pub keep: u64,
}

impl Wires {
    pub const NONE: Self = Self { data: [0; WIDEST], keep: 0 };

    /// Those of a beat.
    pub fn of<D: Data>(data: D, keep: D::Keep) -> Self {
        let mut wires = Self { keep: keep.into(), ..Self::NONE };
        wires.data[..D::OCTETS].copy_from_slice(&data.octets());
        wires
    }

    fn beat<D: Data>(&self) -> (D, D::Keep) {
        (D::of(&self.data[..D::OCTETS]), D::Keep::try_from(self.keep).ok().expect("a bit for each octet"))
    }
}

/// What comes out: of the streams of data and messages the marks, and their wires.
pub struct Given {
    pub out: Out,
    pub data: Wires,
    pub message: Wires,
}

macro_rules! same {
    ($from:expr => $to:path { $($port:ident)* } $($name:ident: $value:expr),*) => {{
        let from = $from;
        $to { $($port: from.$port,)* $($name: $value),* }
    }};
}

/// A clock of a build, with beats of its width.
macro_rules! clocked {
    ($core:expr, $input:expr, $wires:expr, $build:ident) => {{
        let (s_axis_tdata, s_axis_tkeep) = $wires.beat();
        let input = same!($input => $build::In {
            rst_i s_axis_tvalid s_axis_tlast s_axis_tuser m_axis_tready m_axis_message_tready q_eq_i w_i sample_base_i
            sample_jitter_i sample_count_i sample_probability_i cp_mac_i cp_id_i cnm_priority_i random_i
        } s_axis_tdata: s_axis_tdata, s_axis_tkeep: s_axis_tkeep);
        let from = $core.clock(&input);
        let data = Wires::of(from.m_axis_tdata, from.m_axis_tkeep);
        let message = Wires::of(from.m_axis_message_tdata, from.m_axis_message_tkeep);
        let out = same!(from => Out {
            s_axis_tready m_axis_tvalid m_axis_tlast m_axis_tuser m_axis_message_tvalid m_axis_message_tlast
            m_axis_message_tuser draw_o queue_o event_o event_octets_o event_dropped_o event_queue_o sample_o congested_o
            fb_o reloaded_o interval_o frames_o octets_o dropped_o bad_o sampled_o messages_o messages_lost_o
        } m_axis_tdata: 0, m_axis_tkeep: 0, m_axis_message_tdata: 0, m_axis_message_tkeep: 0);
        Given { out, data, message }
    }};
}

impl Core {
    pub fn clock(&mut self, input: &In, wires: &Wires) -> Given {
        match self {
            Self::Qcn(core) => clocked!(core, input, wires, cp_qcn),
            Self::Large(core) => clocked!(core, input, wires, cp_large),
            Self::Smcc(core) => clocked!(core, input, wires, cp_smcc),
            #[cfg(feature = "widths")]
            Self::Wide128(core) => clocked!(core, input, wires, cp_qcn_128),
            #[cfg(feature = "widths")]
            Self::Wide256(core) => clocked!(core, input, wires, cp_qcn_256),
            Self::Wide512(core) => clocked!(core, input, wires, cp_100g),
        }
    }

    /// Octets of a beat, and frames that may wait for the algorithm.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Qcn(_) | Self::Large(_) | Self::Smcc(_) => (8, 16),
            #[cfg(feature = "widths")]
            Self::Wide128(_) => (16, 16),
            #[cfg(feature = "widths")]
            Self::Wide256(_) => (32, 16),
            Self::Wide512(_) => (64, 128),
        }
    }
}
