//! The tag of 802.1Q, behind the EtherType 8100 (C-TAG) or 88A8 (S-TAG): tag control information, then the next EtherType.
//! Tags nest, the S-TAG outside. Devices older than 802.1ad have 9100 outside.

use crate::Error;

crate::field::format! {
    "vlan", "802.1Q tag", "IEEE 802.1Q-2022, clause 9.6", 4 octets;
    /// Priority code point.
    pcp, set_pcp: u8 = "PCP", 0..3;
    /// Drop eligible indicator.
    dei, set_dei: bool = "DEI", 3..4;
    /// VLAN identifier; 0 gives a priority alone, 4095 is reserved.
    vid, set_vid: u16 = "VID", 4..16;
    /// The format behind the tag.
    ether_type, set_ether_type: u16 = "EtherType", 16..32 as Hex;
}

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 4, 12) == 0xfff {
        return Err(FORMAT.illegal("vid", octets, "0 to 4094: 4095 is reserved"));
    }
    Ok(())
}
