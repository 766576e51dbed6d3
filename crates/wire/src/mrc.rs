//! The selective acknowledgement of MRC, behind RoCEv2's base transport header: what has arrived, on which path, and the state of congestion control.
//!
//! The specification is not at hand. Fields and octets are those of a public program that builds these headers, and names its tables.

use crate::Error;

/// Opcode of a selective acknowledgement.
pub const SACK: u8 = 0xdc;

/// The mark of the frame that is answered: none.
pub const NONE: u8 = 0;
/// It was marked: its path is to be skipped once.
pub const SKIP_ONCE: u8 = 1;

crate::field::format! {
    "mrc_sack", "MRC selective acknowledgement",
    "OCP, Multipath Reliable Connection 1.0, tables 7-12 and 7-14, as a program has them", 36 octets;
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
    /// That of a receiver which says no more than what has arrived: up to `cack_psn`, and of the 64 frames from `sack_offset` behind it on.
    #[must_use]
    pub fn of_bitmap(cack_psn: u32, sack_offset: i16, sack_bitmap: u64) -> Self {
        Self {
            m: NONE,
            pr: false,
            ack_psn_offset: 0,
            entropy: 0,
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

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    let fixed = FORMAT.fields.iter().find(|field| field.fixed.is_some() && field.read(octets) != field.usual);
    fixed.map_or(Ok(()), |field| Err(FORMAT.illegal(field.name, octets, field.fixed.unwrap_or_default())))
}
