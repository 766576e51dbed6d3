//! The pins of the whole core of a reaction point, QCN's or SMCC's, with two of them.

use penstock_cosim::Random;
use penstock_cosim::bits::Bits;
use penstock_cosim::reaction_point::{self as point, Machine};
use penstock_cosim::stream::{Beat, Data};
use penstock_cosim::vectors;

pub const POINTS: usize = 2;
/// Addresses of the two reaction points.
pub const MACS: [u64; POINTS] = [0x0200_0000_0001, 0x0200_0000_0101];

/// Inputs of a core in a clock.
#[derive(Debug)]
pub struct Pins<D: Data = u64> {
    pub reset: bool,
    /// Addresses of the reaction points.
    pub mac: [u64; POINTS],
    pub rx: Option<Beat<D>>,
    pub rx_ready: bool,
    /// Messages do not wait.
    pub drop_if_busy: bool,
    /// With the frame's length.
    pub tx: [Option<(Beat<D>, u16)>; POINTS],
    pub tx_ready: [bool; POINTS],
    pub start: [bool; POINTS],
    pub tick: bool,
    /// Random words of byte counter and timer.
    pub words: [[u32; 2]; POINTS],
}

impl<D: Data> Default for Pins<D> {
    fn default() -> Self {
        Self {
            reset: false,
            mac: MACS,
            rx: None,
            rx_ready: false,
            drop_if_busy: false,
            tx: [None; POINTS],
            tx_ready: [false; POINTS],
            start: [false; POINTS],
            tick: false,
            words: [[0; 2]; POINTS],
        }
    }
}

/// Outputs of a core in a clock.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Shown<D: Data = u64> {
    pub rx_ready: bool,
    pub rx: Option<Beat<D>>,
    pub tx_ready: [bool; POINTS],
    pub tx: [Option<Beat<D>>; POINTS],
    pub point: [point::Shown; POINTS],
    pub signal: [bool; POINTS],
    pub sent: [Option<u16>; POINTS],
    pub tokens: [u16; POINTS],
    pub dropped: [u32; POINTS],
    pub taken: u32,
    pub malformed: u32,
    pub refused: u32,
    pub unknown: u32,
}

/// A core under test.
pub trait Nic {
    /// The data of a beat.
    type Data: Data;
    /// EtherType of its messages.
    const KIND: u16;
    type Settings;
    type Machine: Machine;
    fn new(seed: u64) -> Self;
    /// One whose streams may break every rule.
    fn unchecked(seed: u64) -> Self;
    /// Any settings that are allowed; or the usual ones, with this largest rate.
    fn any(random: &mut Random) -> Self::Settings;
    fn usual(max_rate: u64) -> Self::Settings;
    /// Least and largest rate, bit/s.
    fn bounds(settings: &Self::Settings) -> (u64, u64);
    fn machine(settings: &Self::Settings) -> Self::Machine;
    /// A flow has to start again, since the hardware counts no further.
    fn overflows(machine: &Self::Machine) -> bool;
    /// The input pins of the core, and their values.
    type In: vectors::Pins + Default;
    fn inputs(settings: &Self::Settings, pins: &Pins<Self::Data>) -> Self::In;
    fn settings(inputs: &Self::In) -> Self::Settings;
    fn pins(inputs: &Self::In) -> Pins<Self::Data>;
    fn clock(&mut self, inputs: &Self::In) -> Shown<Self::Data>;
    /// Of the core, and of this build.
    const NAMES: (&'static str, &'static str);
}

/// The data of two streams side by side.
pub fn data_of<D: Data, W: Bits + Default>(beats: [Beat<D>; POINTS]) -> W {
    let mut pins = W::default();
    for (n, octet) in beats.iter().flat_map(|beat| beat.data.octets()).enumerate() {
        pins.put(8 * n, 8, octet.into());
    }
    pins
}

/// Their `tkeep`.
pub fn keep_of<D: Data, W: Bits + Default>(beats: [Beat<D>; POINTS]) -> W {
    let mut pins = W::default();
    for (i, beat) in beats.iter().enumerate() {
        pins.put(i * D::OCTETS, D::OCTETS, beat.keep.into());
    }
    pins
}

/// The beat of one of the streams, without its marks.
pub fn beat_of<D: Data>(data: &impl Bits, keep: &impl Bits, i: usize) -> Beat<D> {
    let octets: Vec<u8> = (0..D::OCTETS).map(|n| data.get(8 * (i * D::OCTETS + n), 8) as u8).collect();
    let keep = D::Keep::try_from(keep.get(i * D::OCTETS, D::OCTETS)).ok().expect("a bit for each octet");
    Beat { data: D::of(&octets), keep, ..Beat::default() }
}

/// The inputs of a core. Those of both schemes name their ports alike but for the settings and the state of the
/// reaction points.
macro_rules! inputs {
    ($inputs:ident, $pins:expr, { $($setting:ident: $value:expr),* $(,)? }) => {{
        let pins: &$crate::pins::Pins<_> = $pins;
        let rx = pins.rx.unwrap_or_default();
        let tx = pins.tx.map(Option::unwrap_or_default);
        let bits = |each: [bool; 2]| u8::from(each[0]) | u8::from(each[1]) << 1;
        let mac = u128::from(pins.mac[0]) | u128::from(pins.mac[1]) << 48;
        $inputs {
            rst_i: pins.reset,
            drop_if_busy_i: pins.drop_if_busy,
            s_axis_rx_tdata: rx.data,
            s_axis_rx_tkeep: rx.keep,
            s_axis_rx_tvalid: pins.rx.is_some(),
            s_axis_rx_tlast: rx.last,
            s_axis_rx_tuser: rx.user,
            m_axis_rx_tready: pins.rx_ready,
            mac_i: [mac as u32, (mac >> 32) as u32, (mac >> 64) as u32],
            start_i: bits(pins.start),
            $($setting: $value,)*
            s_axis_tx_tdata: $crate::pins::data_of(tx.map(|(beat, _)| beat)),
            s_axis_tx_tkeep: $crate::pins::keep_of(tx.map(|(beat, _)| beat)),
            s_axis_tx_tvalid: bits(pins.tx.map(|t| t.is_some())),
            s_axis_tx_tlast: bits(tx.map(|(beat, _)| beat.last)),
            s_axis_tx_tuser: bits(tx.map(|(beat, _)| beat.user)),
            s_axis_tx_octets_i: u32::from(tx[0].1) | u32::from(tx[1].1) << 16,
            m_axis_tx_tready: bits(pins.tx_ready),
        }
    }};
}
pub(crate) use inputs;

/// The values at the inputs of a core, but for the settings; `tick` and `words` if it has such.
macro_rules! pins {
    ($inputs:expr, $tick:expr, $words:expr) => {{
        let inputs = $inputs;
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let tx = |i: usize| penstock_cosim::stream::Beat {
            last: bit(inputs.s_axis_tx_tlast, i),
            user: bit(inputs.s_axis_tx_tuser, i),
            ..$crate::pins::beat_of(&inputs.s_axis_tx_tdata, &inputs.s_axis_tx_tkeep, i)
        };
        let octets = |i: usize| (inputs.s_axis_tx_octets_i >> (16 * i)) as u16;
        $crate::pins::Pins {
            reset: inputs.rst_i,
            mac: [0, 1].map(|i| inputs.mac_i.get(48 * i, 48)),
            rx: inputs.s_axis_rx_tvalid.then_some(penstock_cosim::stream::Beat {
                data: inputs.s_axis_rx_tdata,
                keep: inputs.s_axis_rx_tkeep,
                last: inputs.s_axis_rx_tlast,
                user: inputs.s_axis_rx_tuser,
            }),
            rx_ready: inputs.m_axis_rx_tready,
            drop_if_busy: inputs.drop_if_busy_i,
            tx: [0, 1].map(|i| bit(inputs.s_axis_tx_tvalid, i).then(|| (tx(i), octets(i)))),
            tx_ready: [0, 1].map(|i| bit(inputs.m_axis_tx_tready, i)),
            start: [0, 1].map(|i| bit(inputs.start_i, i)),
            tick: $tick,
            words: $words,
        }
    }};
}
pub(crate) use pins;

/// The values at the outputs of a core.
macro_rules! shown {
    ($out:expr, $point:expr) => {{
        let out = $out;
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let beat = |i: usize| penstock_cosim::stream::Beat {
            last: bit(out.m_axis_tx_tlast, i),
            user: bit(out.m_axis_tx_tuser, i),
            ..$crate::pins::beat_of(&out.m_axis_tx_tdata, &out.m_axis_tx_tkeep, i)
        };
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        let sent = halves(out.sent_octets_o);
        $crate::pins::Shown {
            rx_ready: out.s_axis_rx_tready,
            rx: out.m_axis_rx_tvalid.then_some(penstock_cosim::stream::Beat {
                data: out.m_axis_rx_tdata,
                keep: out.m_axis_rx_tkeep,
                last: out.m_axis_rx_tlast,
                user: out.m_axis_rx_tuser,
            }),
            tx_ready: [0, 1].map(|i| bit(out.s_axis_tx_tready, i)),
            tx: [0, 1].map(|i| bit(out.m_axis_tx_tvalid, i).then(|| beat(i))),
            point: [0, 1].map(|i| $point(out, i)),
            signal: [0, 1].map(|i| bit(out.signal_o, i)),
            // No octets where no frame goes.
            sent: [0, 1].map(|i| (bit(out.sent_valid_o, i) || sent[i] != 0).then(|| sent[i])),
            tokens: halves(out.tokens_o),
            dropped: [out.dropped_o as u32, (out.dropped_o >> 32) as u32],
            taken: out.taken_o,
            malformed: out.malformed_o,
            refused: out.refused_o,
            unknown: out.unknown_o,
        }
    }};
}
pub(crate) use shown;
