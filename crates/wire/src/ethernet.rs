//! The header of an Ethernet II frame. Its octets begin with the destination address; preamble and frame check sequence are
//! no part of them.

use crate::Error;
use crate::field::MacAddress;

/// EtherTypes.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// 802.1Q, a C-TAG.
    pub const VLAN: u16 = 0x8100;
    /// 802.1Q, an S-TAG: the outer tag of a provider's network (802.1ad).
    pub const S_TAG: u16 = 0x88a8;
    /// The outer tag of devices that are older than 802.1ad.
    pub const OLD_S_TAG: u16 = 0x9100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// MAC control: PAUSE and PFC.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// The local experimental EtherType 1 (IEEE 802, clause 9.2.4): SMCC's messages, as Penstock's cores have them.
    pub const SMCC: u16 = 0x88b5;
    /// The local experimental EtherType 2: other messages that have no EtherType ([`experimental`](crate::experimental)).
    pub const EXPERIMENTAL: u16 = 0x88b6;
    /// LLDP.
    pub const LLDP: u16 = 0x88cc;
    /// A congestion notification message (802.1Qau).
    pub const CNM: u16 = 0x22e7;
    /// A CN-TAG (802.1Qau).
    pub const CN_TAG: u16 = 0x22e9;
}

/// Octets of the shortest frame without its check sequence.
pub const LEAST: usize = 60;

/// A type field below this is a length (IEEE 802.3, clause 3.2.6).
pub const LEAST_TYPE: u16 = 0x0600;

crate::field::format! {
    "eth", "Ethernet II", "IEEE 802.3, clause 3.2", 14 octets;
    /// The station for which the frame is.
    destination, set_destination: MacAddress = "Destination Address", 0..48, usually 0x0200_0000_0001;
    /// The station that sends it.
    source, set_source: MacAddress = "Source Address", 48..96, usually 0x0200_0000_0002;
    /// The format behind the header; below 0600 (hexadecimal) the length of a frame without EtherType.
    ether_type, set_ether_type: u16 = "EtherType", 96..112 as Hex;
}

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(_octets: &[u8]) -> Result<(), Error> {
    Ok(())
}
