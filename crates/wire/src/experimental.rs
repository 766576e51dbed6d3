//! Messages that have no EtherType or no public layout, behind the local experimental EtherType 2. Each begins
//! with 4 bits of version (0) and 4 of subtype. All layouts here are Penstock's; the fields are those that the papers and
//! proposals name. Two stations that agree on other EtherTypes for them may use those: a decoder takes them as a setting.

use crate::{Error, Format};

/// Subtypes.
pub mod subtype {
    /// FECN's and E-FECN's probe.
    pub const RATE_PROBE: u8 = 1;
    /// BCN's message; E-FECN's BCN(0,0) too.
    pub const BCN: u8 = 2;
    /// The rate-limited tag of BCN's data frames.
    pub const RLT: u8 = 3;
    /// A congestion isolation message.
    pub const CIM: u8 = 4;
    /// E2CM's probe.
    pub const PATH_PROBE: u8 = 5;
    /// RoCC's message.
    pub const FAIR_RATE: u8 = 6;
    /// The message of source flow control.
    pub const SOURCE_PAUSE: u8 = 7;
}

/// A rate that no switch has limited yet.
pub const UNLIMITED: u64 = u64::MAX;

/// The checks of a message that has one length, by its subtype.
macro_rules! of_one_length {
    ($subtype:ident, $number:literal) => {
        fn measure(_octets: &[u8]) -> Result<usize, crate::Error> {
            Ok(Repr::OCTETS)
        }

        fn legal(octets: &[u8]) -> Result<(), crate::Error> {
            super::head(&FORMAT, octets, super::subtype::$subtype, $number)
        }
    };
}
use of_one_length;

/// FECN's rate-discovery tag in a separate frame, which E-FECN uses too: from the source, through all switches, to the
/// destination and back.
pub mod rate_probe {
    crate::field::format! {
        "fecn", "Rate probe (FECN, E-FECN)", "Penstock's own, after So-In et al. 2008, section 3: rate, direction, limiter", 24 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 1.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The destination has sent it back.
        returned, set_returned: bool = "direction", 8..9;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// Number of the probe among the flow's, from 1.
        round, set_round: u32 = "round", 32..64;
        /// The least rate that the switches on the path have allowed, bit/s; all ones before the first.
        rate, set_rate: u64 = "rate", 64..128;
        /// The congestion point that allowed it.
        cp_id, set_cp_id: u64 = "cpId", 128..192 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 9..16;
        }
    }

    super::of_one_length!(RATE_PROBE, "1");
}

/// BCN's message (ECM). Both lengths 0 is BCN(0,0): stop. The offset has the sign of a CNM's: set point less length, negative
/// under congestion.
pub mod bcn {
    crate::field::format! {
        "bcn", "BCN message (BCN, E-FECN, E2CM)", "Penstock's own, with the fields of Bergamasco's proposal to 802.1Qau", 16 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 2.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The congestion point.
        cp_id, set_cp_id: u64 = "CPID", 16..80 as Hex;
        /// Set point less queue length, in units of 64 octets.
        q_off, set_q_off: i16 = "Qoff", 80..96;
        /// Growth of the queue since the sample before, in units of 64 octets.
        q_delta, set_q_delta: i16 = "Qdelta", 96..112;
        /// The rate limiter's flow at the source, from the sampled frame's tag; 0 without one.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 112..128;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
    }

    super::of_one_length!(BCN, "2");
}

/// The rate-limited tag of BCN: on data frames of a limited source, so that the congestion point that limits it may raise its
/// rate.
pub mod rlt {
    crate::field::format! {
        "rlt", "Rate-limited tag (BCN, E2CM)", "Penstock's own, with the fields of Bergamasco's proposal to 802.1Qau", 14 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 3.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// The congestion point with which the limiter is associated.
        cp_id, set_cp_id: u64 = "CPID", 32..96 as Hex;
        /// The format behind the tag.
        ether_type, set_ether_type: u16 = "EtherType", 96..112 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
    }

    super::of_one_length!(RLT, "3");
}

/// A congestion isolation message of 802.1Qcz: a bridge names a congesting flow to its upstream neighbour, which isolates it
/// too.
///
/// Public are the fields of its stream entry (YANG module ieee802-dot1q-congestion-isolation, 2023-01-24): destination,
/// source, VLAN, first octets of the MSDU. Order and sizes here, and the EtherType, are Penstock's, and an EtherType may be
/// set in the decoder.
pub mod cim {
    use crate::Error;
    use crate::field::MacAddress;

    /// The most octets of a frame that a message holds (YANG: encapsulation length 0 to 512).
    pub const MSDU_MOST: u16 = 512;

    crate::field::format! {
        "cim", "Congestion isolation message", "Penstock's own, with the stream entry of IEEE 802.1Qcz-2023 (YANG)", 20 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 4.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The flow is isolated; otherwise no longer.
        add, set_add: bool = "add", 8..9;
        /// Destination of the congesting flow.
        destination, set_destination: MacAddress = "destination-address", 16..64;
        /// Source of the congesting flow.
        source, set_source: MacAddress = "source-address", 64..112;
        /// Its priority.
        priority, set_priority: u8 = "priority", 112..115;
        /// Its VLAN.
        vlan_identifier, set_vlan_identifier: u16 = "vlan-identifier", 116..128;
        /// Octets of a frame of it that follow, 0 to 512.
        msdu_length, set_msdu_length: u16 = "msdu length", 144..160;
        /// How many messages name this flow before this one.
        count, set_count: u16 = "cim-count", 128..144;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 9..16;
            /// Sent as 0.
            reserved_dei, set_reserved_dei: bool = "reserved bit", 115..116;
        }
    }

    fn length(octets: &[u8]) -> Result<usize, Error> {
        let msdu = crate::field::read(octets, 144, 16) as u16;
        if msdu > MSDU_MOST {
            return Err(FORMAT.illegal("msdu_length", octets, "0 to 512"));
        }
        Ok(usize::from(msdu))
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        let (needs, has) = (length(octets)?, octets.len() - Repr::OCTETS);
        if has < needs {
            return Err(FORMAT.truncated("MSDU", Repr::OCTETS, needs, has));
        }
        Ok(Repr::OCTETS + needs)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::head(&FORMAT, octets, super::subtype::CIM, "4")?;
        length(octets)?;
        if crate::field::read(octets, 116, 12) == 0xfff {
            return Err(FORMAT.illegal("vlan_identifier", octets, "0 to 4094: 4095 is reserved"));
        }
        Ok(())
    }

    impl<T: AsRef<[u8]>> Packet<T> {
        /// The first octets of the flow's frame: its EtherType and the octets behind it.
        #[must_use]
        pub fn msdu(&self) -> &[u8] {
            let octets = self.octets.as_ref();
            let end = (Repr::OCTETS + usize::from(self.msdu_length())).min(octets.len());
            octets.get(Repr::OCTETS..end).unwrap_or_default()
        }
    }
}

/// E2CM's probe: the source's clock and the path's longest queue, to the destination and back.
pub mod path_probe {
    crate::field::format! {
        "e2cm", "Path probe (E2CM)", "Penstock's own: the proposal's layout is not public", 20 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 5.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The destination has sent it back.
        returned, set_returned: bool = "direction", 8..9;
        /// A queue has been passed, and the largest offset counts.
        measured, set_measured: bool = "measured", 9..10;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// When it left, by the source's clock, picoseconds.
        sent_at, set_sent_at: u64 = "sent at", 32..96;
        /// The largest queue length less set point of the path, octets.
        q_off, set_q_off: i64 = "Qoff", 96..160;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 10..16;
        }
    }

    super::of_one_length!(PATH_PROBE, "5");
}

/// RoCC's message: the fair rate of a congestion point, to the source of a flow. Its authors send it as ICMP, and state no octets.
pub mod fair_rate {
    crate::field::format! {
        "rocc", "Fair rate (RoCC)", "Penstock's own, with the contents that Taheri et al. 2020 name: flow and rate", 20 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 6.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// The fair rate of each flow in the queue, bit/s.
        rate, set_rate: u64 = "rate", 32..96;
        /// The congestion point.
        cp_id, set_cp_id: u64 = "cpId", 96..160 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
    }

    super::of_one_length!(FAIR_RATE, "6");
}

/// The message of source flow control: a congestion point stops a source for a time. IEEE P802.1Qdw is no published standard.
pub mod source_pause {
    crate::field::format! {
        "sfc", "Source pause (SFC)", "Penstock's own, after the published scope of IEEE P802.1Qdw", 20 octets;
        /// Version of the format, 0.
        version, set_version: u8 = "version", 0..4;
        /// 7.
        subtype, set_subtype: u8 = "subtype", 4..8;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// How long the source sends nothing of the flow, from the message's arrival, picoseconds.
        pause_time, set_pause_time: u64 = "pause time", 32..96;
        /// The congestion point.
        cp_id, set_cp_id: u64 = "cpId", 96..160 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
    }

    super::of_one_length!(SOURCE_PAUSE, "7");
}

/// The format with the subtype at the start of `octets`.
#[must_use]
pub(crate) fn format_of(octets: &[u8]) -> Option<&'static Format> {
    match octets.first()? & 0xf {
        subtype::RATE_PROBE => Some(&rate_probe::FORMAT),
        subtype::BCN => Some(&bcn::FORMAT),
        subtype::RLT => Some(&rlt::FORMAT),
        subtype::CIM => Some(&cim::FORMAT),
        subtype::PATH_PROBE => Some(&path_probe::FORMAT),
        subtype::FAIR_RATE => Some(&fair_rate::FORMAT),
        subtype::SOURCE_PAUSE => Some(&source_pause::FORMAT),
        _ => None,
    }
}

fn head(format: &Format, octets: &[u8], subtype: u8, wanted: &'static str) -> Result<(), Error> {
    if crate::field::read(octets, 0, 4) != 0 {
        return Err(format.illegal("version", octets, "0, the only version"));
    }
    if crate::field::read(octets, 4, 4) != u128::from(subtype) {
        return Err(format.illegal("subtype", octets, wanted));
    }
    Ok(())
}
