//! The CN-TAG, behind its EtherType 22E9: the flow, as the source's reaction points number it, then the next EtherType.
//! Bridges copy the number into a notification and read nothing from it.

use crate::ethernet::ether_type;

crate::field::format! {
    "cn_tag", "CN-TAG", "IEEE 802.1Q-2022, clause 33 (802.1Qau)", 4 octets;
    /// The flow, a number of the source's own.
    flow_identifier, set_flow_identifier: u16 = "Flow Identifier", 0..16;
    /// The format behind the tag.
    ether_type, set_ether_type: u16 = "EtherType", 16..32 as Hex, usually 0xffff;
    message { "CN-TAG", ether_type::CN_TAG, "Flow {flow_identifier}"; }
}
