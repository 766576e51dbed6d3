//! The Destination Options header of a Fast CNP: the destination of the frames of the flow that is notified.
//!
//! ```text
//!   Ethernet | IPv6 from the switch's loopback | Destination Options | UDP 4791 | BTH, opcode 129 | 16 octets | ICRC
//! ```
//!
//! The drafts' text is not at hand, and no number is assigned to the option. Its type is here that of an experiment (RFC 4727): a node
//! that does not know it skips the option. A pad to whole words of eight octets follows.

use crate::Error;

/// Next Header of Destination Options. (RFC 8200, section 4.6)
pub const NEXT_HEADER: u8 = 60;

/// Type of the option.
const TYPE: u8 = 0x1e;

crate::field::format! {
    "fast_cnp", "Destination Options of a Fast CNP",
    "Penstock's own, with the contents of draft-xiao-rtgwg-rocev2-fast-cnp-05: the original destination; RFC 8200, section 4.6", 24 octets;
    fixed {
        /// Words of eight octets after the first.
        hdr_ext_len, set_hdr_ext_len: u8 = "Hdr Ext Len", 8..16 is 2;
        /// The option: an experiment.
        option_type, set_option_type: u8 = "Option Type", 16..24 is 0x1e;
        /// Octets of an address.
        opt_data_len, set_opt_data_len: u8 = "Opt Data Len", 24..32 is 16;
        /// PadN.
        pad_type, set_pad_type: u8 = "PadN", 160..168 is 1;
        /// Octets of the pad after its length.
        pad_len, set_pad_len: u8 = "PadN Opt Data Len", 168..176 is 2;
    }
    /// The format behind the header: 17 UDP.
    next_header, set_next_header: u8 = "Next Header", 0..8, usually 17;
    /// The destination of the flow's frames, to which the queue pair of the notification belongs.
    original_destination, set_original_destination: [u8; 16] = "Original Destination Address", 32..160, usually 0xfd00_0000_0000_0000_0000_0000_0000_0003;
    reserved {
        /// Sent as 0.
        reserved_pad, set_reserved_pad: u16 = "Pad", 176..192;
    }
}

/// Whether the Destination Options at the start of `octets` are those of a Fast CNP.
#[must_use]
pub fn is_one(octets: &[u8]) -> bool {
    matches!(octets, [_, 2, TYPE, 16, ..])
}

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    FORMAT.fixed(octets)
}
