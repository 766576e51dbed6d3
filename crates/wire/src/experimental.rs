//! Messages that have no EtherType or no public layout, behind the local experimental EtherType 2. Each begins
//! with 4 bits of version (0) and 4 of subtype. All layouts here are Penstock's; the fields are those that the papers and
//! proposals name. Two stations that agree on other EtherTypes for them may use those: a decoder takes them as a setting.

/// The format of a message: its subtype, and what [`format!`](crate::field::format) takes.
macro_rules! experimental {
    ($subtype:literal, $name:literal, $title:literal, $source:literal, $octets:literal octets; $($fields:tt)*) => {
        crate::field::format! {
            $name, $title, $source, $octets octets;
            fixed {
                /// Version of the format.
                version, set_version: u8 = "version", 0..4 is 0;
                /// The kind of message.
                subtype, set_subtype: u8 = "subtype", 4..8 is $subtype;
            }
            $($fields)*
        }
    };
}

/// A rate that no switch has limited yet.
pub const UNLIMITED: u64 = u64::MAX;

/// FECN's rate-discovery tag in a separate frame, which E-FECN uses too: from the source, through all switches, to the
/// destination and back.
pub mod rate_probe {
    use crate::ethernet::ether_type;

    experimental! {
        1, "fecn", "Rate probe (FECN, E-FECN)", "Penstock's own, after So-In et al. 2008, section 3: rate, direction, limiter", 24 octets;
        /// The destination has sent it back.
        returned, set_returned: bool = "direction", 8..9;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// Number of the probe among the flow's, from 1.
        round, set_round: u32 = "round", 32..64;
        /// The least rate that the switches on the path have allowed, bit/s; all ones before the first.
        rate, set_rate: u64 = "rate", 64..128, usually super::UNLIMITED;
        /// The congestion point that allowed it.
        cp_id, set_cp_id: u64 = "cpId", 128..192 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 9..16;
        }
        message {
            "FECN", ether_type::EXPERIMENTAL,
            "Flow {rlq_id}, {returned=1?returned|to the destination}, {rate=18446744073709551615?not limited yet|{rate} bit/s}";
            strength rate in "bit/s" unless rate is super::UNLIMITED;
        }
    }
}

/// BCN's message (ECM). Both lengths 0 is BCN(0,0): stop. The offset has the sign of a CNM's: set point less length, negative
/// under congestion.
pub mod bcn {
    use crate::ethernet::ether_type;

    experimental! {
        2, "bcn", "BCN message (BCN, E-FECN, E2CM)", "Penstock's own, with the fields of Bergamasco's proposal to 802.1Qau", 16 octets;
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
        message {
            "BCN", ether_type::EXPERIMENTAL,
            "Flow {rlq_id}, {q_off=0,q_delta=0?BCN(0,0): stop|queue {-64*q_off} octets above set point, growth {64*q_delta}}";
            strength q_off in "octets" times -64;
        }
    }
}

/// The rate-limited tag of BCN: on data frames of a limited source, so that the congestion point that limits it may raise its
/// rate.
pub mod rlt {
    use crate::ethernet::ether_type;

    experimental! {
        3, "rlt", "Rate-limited tag (BCN, E2CM)", "Penstock's own, with the fields of Bergamasco's proposal to 802.1Qau", 14 octets;
        /// The rate limiter's flow at the source.
        rlq_id, set_rlq_id: u16 = "RLQ-ID", 16..32;
        /// The congestion point with which the limiter is associated.
        cp_id, set_cp_id: u64 = "CPID", 32..96 as Hex;
        /// The format behind the tag.
        ether_type, set_ether_type: u16 = "EtherType", 96..112 as Hex, usually 0xffff;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
        message {
            "RLT", ether_type::EXPERIMENTAL, "Flow {rlq_id}, limited by {cp_id}";
        }
    }
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

    use crate::ethernet::ether_type;
    experimental! {
        4, "cim", "Congestion isolation message", "Penstock's own, with the stream entry of IEEE 802.1Qcz-2023 (YANG)", 20 octets;
        /// The flow is isolated; otherwise no longer.
        add, set_add: bool = "add", 8..9, usually 1;
        /// Destination of the congesting flow.
        destination, set_destination: MacAddress = "destination-address", 16..64;
        /// Source of the congesting flow.
        source, set_source: MacAddress = "source-address", 64..112;
        /// Its priority.
        priority, set_priority: u8 = "priority", 112..115;
        /// Its VLAN.
        vlan_identifier, set_vlan_identifier: u16 = "vlan-identifier", 116..128;
        /// Octets of a frame of it that follow (YANG: encapsulation length 0 to 512).
        msdu_length, set_msdu_length: u16 = "msdu length", 144..160;
        /// How many messages name this flow before this one.
        count, set_count: u16 = "cim-count", 128..144;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 9..16;
            /// Sent as 0.
            reserved_dei, set_reserved_dei: bool = "reserved bit", 115..116;
        }
        message {
            "CIM", ether_type::EXPERIMENTAL, "{add=1?isolate|isolate no longer} {source} to {destination}";
            sampled msdu = "MSDU", msdu_length in 0..=512;
            legal vlan;
        }
    }

    fn vlan(octets: &[u8]) -> Result<(), Error> {
        if crate::field::read(octets, 116, 12) == 0xfff {
            return Err(FORMAT.illegal("vlan_identifier", octets, "0 to 4094: 4095 is reserved"));
        }
        Ok(())
    }
}

/// E2CM's probe: the source's clock and the path's longest queue, to the destination and back.
pub mod path_probe {
    use crate::ethernet::ether_type;

    experimental! {
        5, "e2cm", "Path probe (E2CM)", "Penstock's own: the proposal's layout is not public", 20 octets;
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
        message {
            "E2CM", ether_type::EXPERIMENTAL,
            "Flow {rlq_id}, {returned=1?returned|to the destination}";
            strength q_off in "octets" unless measured is 0;
        }
    }
}

/// RoCC's message: the fair rate of a congestion point, to the source of a flow. Its authors send it as ICMP, and state no octets.
pub mod fair_rate {
    use crate::ethernet::ether_type;

    experimental! {
        6, "rocc", "Fair rate (RoCC)", "Penstock's own, with the contents that Taheri et al. 2020 name: flow and rate", 20 octets;
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
        message {
            "RoCC", ether_type::EXPERIMENTAL, "Flow {rlq_id}, fair rate {rate} bit/s";
            strength rate in "bit/s";
        }
    }
}

/// The message of source flow control: a congestion point stops a source for a time. IEEE P802.1Qdw is no published standard.
pub mod source_pause {
    use crate::ethernet::ether_type;

    experimental! {
        7, "sfc", "Source pause (SFC)", "Penstock's own, after the published scope of IEEE P802.1Qdw", 20 octets;
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
        message {
            "SFC", ether_type::EXPERIMENTAL, "Flow {rlq_id}, stop for {pause_time} ps";
            strength pause_time in "ps";
        }
    }
}

/// Homa's control messages: a grant, a request for missing octets, and its answer that they have not been sent yet.
pub mod grant {
    use crate::ethernet::ether_type;

    experimental! {
        8, "homa", "Grant, resend, busy (Homa)", "Penstock's own, with the contents that Montazeri et al. 2018 name: message, octets, priority", 16 octets;
        /// The octets are missing.
        resend, set_resend: bool = "RESEND", 8..9;
        /// The source has not sent them yet.
        busy, set_busy: bool = "BUSY", 9..10;
        /// By how much the priority of the granted frames is above that of the flow.
        level, set_level: u8 = "priority", 13..16;
        /// The flow at the source.
        rlq_id, set_rlq_id: u16 = "flow", 16..32;
        /// Octets that the destination has granted since the start of the flow.
        grant_offset, set_grant_offset: u64 = "offset", 32..96;
        /// Octets that this message lets go, for the first time or again.
        granted, set_granted: u32 = "length", 96..128;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 10..13;
        }
        message {
            "Homa", ether_type::EXPERIMENTAL, "Flow {rlq_id}, {busy=1?busy|{granted} octets}, {resend=1?again|level {level}}";
            strength granted in "octets";
        }
    }
}

/// NDP's pull. Its authors send it as a packet of their transport, and state no octets.
pub mod pull {
    use crate::ethernet::ether_type;

    experimental! {
        9, "ndp_pull", "Pull (NDP)", "Penstock's own, with the contents that Handley et al. 2017 name: flow, pull sequence number", 12 octets;
        /// The flow at the source.
        rlq_id, set_rlq_id: u16 = "flow", 16..32;
        /// Frames that the destination has pulled since the start of the flow, modulo 2^32: the next pull repeats one that is lost.
        pull_number, set_pull_number: u32 = "pull number", 32..64;
        /// How many of them by this pull.
        frames, set_frames: u32 = "frames", 64..96;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 8..16;
        }
        message {
            "NDP", ether_type::EXPERIMENTAL, "Flow {rlq_id}, {frames} frames, {pull_number} in all";
        }
    }
}

/// ExpressPass' credit, and the request with which a source asks for credits.
pub mod credit {
    use crate::ethernet::ether_type;

    experimental! {
        10, "expresspass", "Credit, credit request (ExpressPass)", "Penstock's own, with the contents that Cho et al. 2017 name: flow, credit sequence number", 8 octets;
        /// The source asks for credits.
        request, set_request: bool = "REQUEST", 8..9;
        /// The flow at the source.
        rlq_id, set_rlq_id: u16 = "flow", 16..32;
        /// Credits of the flow are numbered from 0, modulo 2^32; 0 in a request.
        credit_number, set_credit_number: u32 = "credit number", 32..64;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "reserved", 9..16;
        }
        message {
            "ExpressPass", ether_type::EXPERIMENTAL, "Flow {rlq_id}, {request=1?request|credit {credit_number}}";
        }
    }
}
