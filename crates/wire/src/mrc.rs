//! Headers of MRC behind RoCEv2's base transport header: acknowledgements, probes of paths, and messages between interfaces.
//!
//! ```text
//!   Ethernet | IP | UDP 4791 | BTH | one of these, by BTH's opcode | ICRC
//! ```
//!
//! The specification is not at hand. Fields and octets are those of two public programs that build these headers from its tables: the
//! packets of a test bench for hardware, and a packet generator in Python. They agree on the bits of SACK and NACK; the other three
//! headers were read in one of them.

use crate::{Error, Format};

/// Opcode of a selective acknowledgement.
pub const SACK: u8 = 0xdc;
/// Opcode of a negative acknowledgement.
pub const NACK: u8 = 0xdd;
/// Opcode of a probe of a path.
pub const PROBE: u8 = 0xde;
/// Opcode of a request from one interface to another.
pub const ENDPOINT_REQUEST: u8 = 0xd8;
/// Opcode of the response.
pub const ENDPOINT_RESPONSE: u8 = 0xd9;

/// The format behind a base transport header with this opcode, if it is one of these.
#[must_use]
pub const fn header_of(opcode: u8) -> Option<&'static Format> {
    match opcode {
        SACK => Some(&FORMAT),
        NACK => Some(&nack::FORMAT),
        PROBE => Some(&probe::FORMAT),
        ENDPOINT_REQUEST => Some(&endpoint_request::FORMAT),
        ENDPOINT_RESPONSE => Some(&endpoint_response::FORMAT),
        _ => None,
    }
}

/// Whether packets of an operation carry data: writes, with an immediate value or without.
#[must_use]
pub const fn carries_data(opcode: u8) -> bool {
    matches!(opcode, 0xc6..=0xcb)
}

/// The mark of the frame that is answered: none.
pub const NONE: u8 = 0;
/// It was marked: its path is to be skipped once.
pub const SKIP_ONCE: u8 = 1;

/// Why a frame is refused: a switch has cut it to its header.
pub const TRIMMED: u8 = 0x01;
/// The same at the last switch before the destination.
pub const TRIMMED_LAST_HOP: u8 = 0x02;

/// The part of a format that follows from its fields being fixed in length.
macro_rules! plain {
    () => {
        fn measure(_octets: &[u8]) -> Result<usize, Error> {
            Ok(Repr::OCTETS)
        }

        fn legal(octets: &[u8]) -> Result<(), Error> {
            FORMAT.fixed(octets)
        }
    };
}

crate::field::format! {
    "mrc_sack", "MRC selective acknowledgement",
    "OCP, Multipath Reliable Connection 1.0, tables 7-12 and 7-14, as programs have them", 36 octets;
    fixed {
        /// Type of the header.
        header_type, set_header_type: u8 = "type", 0..4 is 0;
        /// The header behind it: none.
        nh, set_nh: u8 = "nh", 4..9 is 0;
    }
    /// The path of the frame that is answered: 0 fine, 1 to be skipped once, 2 always.
    m, set_m: u8 = "m", 9..11;
    /// It answers a probe.
    pr, set_pr: bool = "pr", 14..15;
    /// Sequence number of the frame that is answered, less the cumulative one; of a probe its number.
    ack_psn_offset, set_ack_psn_offset: i16 = "ack_psn_offset", 16..32;
    /// Entropy value of the frame that is answered.
    entropy, set_entropy: u32 = "entropy", 32..64 as Hex;
    /// Delivery context of the source.
    spdcid, set_spdcid: u16 = "spdcid", 64..80;
    /// Delivery context of the destination.
    dpdcid, set_dpdcid: u16 = "dpdcid", 80..96;
    /// All frames up to this sequence number have arrived.
    cack_psn, set_cack_psn: u32 = "cack_psn", 104..128;
    /// Type of the state of congestion control: 0 is NSCC's.
    cc_type, set_cc_type: u8 = "cc_type", 128..132;
    /// Its flags.
    cc_fl, set_cc_fl: u8 = "cc_fl", 132..136 as Hex;
    /// Frames that the destination can follow.
    mpr, set_mpr: u8 = "mpr", 136..144;
    /// Sequence number of the lowest bit of the bitmap, less the cumulative one.
    sack_offset, set_sack_offset: i16 = "sack_offset", 144..160;
    /// A bit for each of 64 frames that has arrived.
    sack_bitmap, set_sack_bitmap: u64 = "sack_bitmap", 160..224 as Hex;
    /// Time stamp of the frame that is answered.
    cc_tx_timestamp, set_cc_tx_timestamp: u16 = "timestamp", 224..240;
    /// Frames that have arrived out of order.
    ooo_count, set_ooo_count: u16 = "ooo_count", 241..256;
    /// The window from before a penalty is to be restored.
    restore_cwnd, set_restore_cwnd: bool = "restore_cwnd", 256..257;
    /// Penalty of the destination, in 128ths.
    rcv_cwnd_pen, set_rcv_cwnd_pen: u8 = "rcv_cwnd_pen", 257..264;
    /// Octets that have arrived, in units of 256.
    rcvd_bytes, set_rcvd_bytes: u32 = "rcvd_bytes", 264..288;
    reserved {
        /// Sent as 0.
        reserved_r, set_reserved_r: u8 = "r1", 11..14;
        /// Sent as 0.
        reserved_1, set_reserved_1: bool = "r2", 15..16;
        /// Sent as 0.
        reserved_res, set_reserved_res: u8 = "res", 96..104;
        /// Sent as 0.
        reserved_ooo, set_reserved_ooo: bool = "r3", 240..241;
    }
}

impl Repr {
    /// The answer to a frame that came on the path of value `entropy` with the mark `m`. All up to `cack_psn` have arrived, and of the 64 frames from `sack_offset` behind it on those whose bits are set.
    #[must_use]
    pub fn answer(cack_psn: u32, (sack_offset, sack_bitmap): (i16, u64), (entropy, m): (u32, u8)) -> Self {
        Self {
            m,
            pr: false,
            ack_psn_offset: 0,
            entropy,
            spdcid: 0,
            dpdcid: 0,
            cack_psn,
            cc_type: 0,
            cc_fl: 0,
            mpr: 0,
            sack_offset,
            sack_bitmap,
            cc_tx_timestamp: 0,
            ooo_count: 0,
            restore_cwnd: false,
            rcv_cwnd_pen: 0,
            rcvd_bytes: 0,
        }
    }
}

plain!();

/// The negative acknowledgement: why a frame is refused.
pub mod nack {
    use crate::Error;

    crate::field::format! {
        "mrc_nack", "MRC negative acknowledgement",
        "OCP, Multipath Reliable Connection 1.0, table 7-16, as programs have it", 20 octets;
        fixed {
            /// Type of the header.
            header_type, set_header_type: u8 = "type", 0..4 is 0;
            /// The header behind it: none.
            nh, set_nh: u8 = "nh", 4..9 is 0;
        }
        /// The reason: 1 trimmed, 2 trimmed at the last hop, 6 no bitmap, 7 no packet buffer, 10 no resource, 11 outside of the window, 25 fatal.
        nack_reason, set_nack_reason: u8 = "nack_reason", 16..24, usually 1;
        /// The maker's.
        vendor_info, set_vendor_info: u8 = "vendor_info", 24..32 as Hex;
        /// Entropy value of the frame that is refused.
        entropy, set_entropy: u32 = "entropy", 32..64 as Hex;
        /// Delivery context of the source.
        spdcid, set_spdcid: u16 = "spdcid", 64..80;
        /// Delivery context of the destination.
        dpdcid, set_dpdcid: u16 = "dpdcid", 80..96;
        /// Sequence number of the frame that is refused.
        nack_psn, set_nack_psn: u32 = "nack_psn", 104..128;
        /// Type of the state of congestion control: 2 is that of refusals.
        cc_type, set_cc_type: u8 = "cc_type", 128..132, usually 2;
        /// Its flags.
        cc_fl, set_cc_fl: u8 = "cc_fl", 132..136 as Hex;
        /// Time stamp of the frame that is refused.
        tx_timestamp, set_tx_timestamp: u16 = "timestamp", 144..160;
        reserved {
            /// Sent as 0.
            reserved_nh, set_reserved_nh: u8 = "r1", 9..16;
            /// Sent as 0.
            reserved_res, set_reserved_res: u8 = "res", 96..104;
            /// Sent as 0.
            reserved_cc, set_reserved_cc: u8 = "r2", 136..144;
        }
    }

    impl Repr {
        /// The refusal of frame `nack_psn`, which came on the path of value `entropy`.
        #[must_use]
        pub fn of(nack_reason: u8, nack_psn: u32, entropy: u32) -> Self {
            let (spdcid, dpdcid) = (0, 0);
            Self {
                nack_reason,
                vendor_info: 0,
                entropy,
                spdcid,
                dpdcid,
                nack_psn,
                cc_type: 2,
                cc_fl: 0,
                tx_timestamp: 0,
            }
        }
    }

    plain!();
}

/// The probe of a path, which takes no sequence number. A selective acknowledgement answers it.
pub mod probe {
    use crate::Error;

    crate::field::format! {
        "mrc_probe", "MRC probe of a path",
        "OCP, Multipath Reliable Connection 1.0, table 7-18, as programs have it", 16 octets;
        fixed {
            /// Type of the header.
            header_type, set_header_type: u8 = "type", 0..4 is 0;
            /// The header behind it: none.
            nh, set_nh: u8 = "nh", 4..9 is 0;
        }
        /// The maker's.
        vendor_info, set_vendor_info: u8 = "vendor_info", 24..32 as Hex;
        /// Number of the probe, which its answer repeats.
        probe_id, set_probe_id: u16 = "probe_id", 32..48;
        /// Delivery context of the source.
        spdcid, set_spdcid: u16 = "spdcid", 64..80;
        /// Delivery context of the destination.
        dpdcid, set_dpdcid: u16 = "dpdcid", 80..96;
        /// When it was sent.
        tx_timestamp, set_tx_timestamp: u16 = "timestamp", 96..112;
        /// The time that the answer took at its sender is wanted.
        tsr, set_tsr: bool = "tsr", 112..113;
        /// Whether there is a time stamp: 1.
        ftype, set_ftype: u8 = "ftype", 124..128;
        reserved {
            /// Sent as 0.
            reserved_nh, set_reserved_nh: u16 = "r1", 9..24;
            /// Sent as 0.
            reserved_id, set_reserved_id: u16 = "r2", 48..64;
            /// Sent as 0.
            reserved_ftype, set_reserved_ftype: u16 = "r3", 113..124;
        }
    }

    impl Repr {
        /// A probe without number and time stamp.
        #[must_use]
        pub fn plain() -> Self {
            let (spdcid, dpdcid) = (0, 0);
            Self { vendor_info: 0, probe_id: 0, spdcid, dpdcid, tx_timestamp: 0, tsr: false, ftype: 0 }
        }
    }

    plain!();
}

/// A request from interface to interface, of no connection: a probe, or the state of ports.
pub mod endpoint_request {
    use crate::Error;

    crate::field::format! {
        "mrc_endpoint_request", "MRC request between interfaces",
        "OCP, Multipath Reliable Connection 1.0, table 7-20, as programs have it", 16 octets;
        fixed {
            /// Type of the header.
            header_type, set_header_type: u8 = "type", 0..4 is 0;
            /// The header behind it: none.
            nh, set_nh: u8 = "nh", 4..9 is 0;
        }
        /// The operation: 0 the state of ports, 1 a probe of an entropy value.
        op, set_op: u8 = "op", 14..16;
        /// The maker's.
        vendor_info, set_vendor_info: u8 = "vendor_info", 24..32 as Hex;
        /// A bit for each port of the sender that works.
        port_status_mask, set_port_status_mask: u32 = "port_status_mask", 32..64 as Hex;
        /// When it was sent.
        tx_timestamp, set_tx_timestamp: u16 = "timestamp", 96..112;
        /// The time that the answer took at its sender is wanted.
        tsr, set_tsr: bool = "tsr", 112..113;
        /// Whether there is a time stamp: 1.
        ftype, set_ftype: u8 = "ftype", 124..128;
        reserved {
            /// Sent as 0.
            reserved_nh, set_reserved_nh: u8 = "r1", 9..14;
            /// Sent as 0.
            reserved_op, set_reserved_op: u8 = "r2", 16..24;
            /// Sent as 0.
            reserved_mask, set_reserved_mask: u32 = "r3", 64..96;
            /// Sent as 0.
            reserved_ftype, set_reserved_ftype: u16 = "r4", 113..124;
        }
    }

    plain!();
}

/// The response to such a request, whose number is the sequence number of the base transport header.
pub mod endpoint_response {
    use crate::Error;

    crate::field::format! {
        "mrc_endpoint_response", "MRC response between interfaces",
        "OCP, Multipath Reliable Connection 1.0, table 7-22, as programs have it", 36 octets;
        fixed {
            /// Type of the header.
            header_type, set_header_type: u8 = "type", 0..4 is 0;
            /// The header behind it: none.
            nh, set_nh: u8 = "nh", 4..9 is 0;
        }
        /// The operation that is answered: 0 the state of ports, 1 a probe of an entropy value.
        op, set_op: u8 = "op", 12..14;
        /// Time stamp of the request.
        tx_timestamp, set_tx_timestamp: u16 = "timestamp", 224..240;
        reserved {
            /// Sent as 0.
            reserved_nh, set_reserved_nh: u8 = "r1", 9..12;
            /// Sent as 0.
            reserved_op, set_reserved_op: u8 = "r2", 14..16;
            /// Sent as 0.
            reserved_1, set_reserved_1: u16 = "r3", 16..32;
            /// Sent as 0.
            reserved_2, set_reserved_2: u64 = "r4", 32..96;
            /// Sent as 0.
            reserved_3, set_reserved_3: u64 = "r5", 96..160;
            /// Sent as 0.
            reserved_4, set_reserved_4: u64 = "r6", 160..224;
            /// Sent as 0.
            reserved_5, set_reserved_5: u16 = "r7", 240..256;
            /// Sent as 0.
            reserved_6, set_reserved_6: u32 = "r8", 256..288;
        }
    }

    plain!();
}
