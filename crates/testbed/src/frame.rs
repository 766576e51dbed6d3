//! Frames on the testbed's wires: their tags, read, put on and taken off.
//!
//! ```text
//!   between host and interface      destination, source, EtherType, data
//!   between interface and switch    destination, source, 8100, priority, [22E9, flow,] EtherType, data
//! ```
//!
//! Octets begin with the destination address and end before the frame check sequence, which counts in a frame's length.

use penstock_wire::ethernet::{LEAST, ether_type};
use penstock_wire::{MacAddress, cn_tag, ethernet, ipv4, tcp, udp, vlan};

/// Octets of the frame check sequence, which no veth carries.
pub const FCS: usize = 4;

/// Octets of the two addresses: tags come behind them.
const ADDRESSES: usize = 12;

/// Octets of an EtherType.
const TYPE: usize = 2;

/// A flow as frames number it, in CN-TAG, RLQ-ID and queue pair: its index in the scenario's table from 1, as in the simulator's
/// captures. 0 is left for no flow.
#[must_use]
pub fn number(flow: u16) -> u16 {
    flow.wrapping_add(1)
}

/// The flow of such a number.
#[must_use]
pub fn numbered(number: u16) -> Option<u16> {
    number.checked_sub(1)
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The station for which the frame is.
    pub destination: MacAddress,
    /// The station that sends it.
    pub source: MacAddress,
    /// Priority in its 802.1Q tag, where it has one.
    pub priority: Option<u8>,
    /// Flow in its CN-TAG, where that names one.
    pub flow: Option<u16>,
    /// The format behind its tags.
    pub ether_type: u16,
    /// Where the octets behind that EtherType begin.
    pub data: usize,
}

impl Header {
    /// Reads the header; `None` if the frame ends within it.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let head = ethernet::Packet::new_checked(frame).ok()?;
        let (mut kind, mut at) = (head.ether_type(), ethernet::Repr::OCTETS);
        let (mut priority, mut flow) = (None, None);
        if kind == ether_type::VLAN {
            let tag = vlan::Packet::new_checked(frame.get(at..)?).ok()?;
            priority = Some(tag.pcp());
            (kind, at) = (tag.ether_type(), at + vlan::Repr::OCTETS);
        }
        if kind == ether_type::CN_TAG {
            let tag = cn_tag::Packet::new_checked(frame.get(at..)?).ok()?;
            flow = numbered(tag.flow_identifier());
            (kind, at) = (tag.ether_type(), at + cn_tag::Repr::OCTETS);
        }
        Some(Self {
            destination: head.destination(),
            source: head.source(),
            priority,
            flow,
            ether_type: kind,
            data: at,
        })
    }

    /// Octets of the tags.
    #[must_use]
    pub fn tags(&self) -> usize {
        self.data - ethernet::Repr::OCTETS
    }
}

/// Octets by which an 802.1Q tag lengthens a frame.
pub const VLAN_OCTETS: u16 = vlan::Repr::OCTETS as u16;

/// Octets by which a CN-TAG lengthens a frame.
pub const CN_TAG_OCTETS: u16 = cn_tag::Repr::OCTETS as u16;

/// Puts tags on a frame without tags: the priority, then the flow if there is one.
pub fn put_tags(frame: &mut Vec<u8>, priority: u8, flow: Option<u16>) {
    let [high, low] = ether_type::VLAN.to_be_bytes();
    let mut tags = vec![high, low, priority << 5, 0];
    if let Some(flow) = flow {
        tags.extend(ether_type::CN_TAG.to_be_bytes());
        tags.extend(number(flow).to_be_bytes());
    }
    let at = ADDRESSES.min(frame.len());
    frame.splice(at..at, tags);
}

/// Sets the priority in the 802.1Q tag of a frame that has one.
pub fn set_priority(frame: &mut [u8], priority: u8) {
    if Header::read(frame).is_some_and(|header| header.priority.is_some())
        && let Some(tag) = frame.get_mut(ADDRESSES + TYPE)
    {
        *tag = *tag & 0x1f | priority << 5;
    }
}

/// Takes the tags off a frame whose header this is.
pub fn take_tags(frame: &mut Vec<u8>, header: &Header) {
    frame.drain(ADDRESSES..header.data - TYPE);
}

/// Puts back the 802.1Q tag that the kernel has taken off on receipt.
pub fn put_back(frame: &mut Vec<u8>, tpid: u16, tci: u16) {
    let at = ADDRESSES.min(frame.len());
    frame.splice(at..at, tpid.to_be_bytes().into_iter().chain(tci.to_be_bytes()));
}

/// A frame's length as the network counts it: with check sequence, and padded to the shortest frame.
#[must_use]
pub fn length(octets: usize) -> u16 {
    (octets.max(LEAST) + FCS).min(usize::from(u16::MAX)) as u16
}

/// The EtherType and the octets behind the tags of a sampled frame, as a notification encapsulates them.
#[must_use]
pub fn msdu(frame: &[u8]) -> &[u8] {
    Header::read(frame).and_then(|header| frame.get(header.data - TYPE..)).unwrap_or_default()
}

/// Starts a control frame: addresses, priority, flow if there is one, and the EtherType of the message.
#[must_use]
pub fn control(destination: MacAddress, source: MacAddress, priority: u8, flow: Option<u16>, kind: u16) -> Vec<u8> {
    let mut frame = Vec::with_capacity(LEAST + usize::from(VLAN_OCTETS + CN_TAG_OCTETS));
    frame.extend(destination.0);
    frame.extend(source.0);
    frame.extend(kind.to_be_bytes());
    put_tags(&mut frame, priority, flow);
    frame
}

/// The protocol and the ports of an IPv4 packet that has some.
#[must_use]
pub fn ports(frame: &[u8], header: &Header) -> Option<(u8, u16, u16)> {
    if header.ether_type != ether_type::IPV4 {
        return None;
    }
    let packet = ipv4::Packet::new_checked(frame.get(header.data..)?).ok()?;
    // Only a packet's first fragment has ports.
    if packet.fragment_offset() != 0 {
        return None;
    }
    match packet.protocol() {
        protocol @ ipv4::protocol::UDP => {
            let datagram = udp::Packet::new_checked(packet.payload()).ok()?;
            Some((protocol, datagram.source_port(), datagram.destination_port()))
        }
        protocol @ ipv4::protocol::TCP => {
            let segment = tcp::Packet::new_checked(packet.payload()).ok()?;
            Some((protocol, segment.source_port(), segment.destination_port()))
        }
        _ => None,
    }
}

/// A TCP segment, as far as its connection's progress asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Port of the sender.
    pub port: u16,
    /// Number of its first octet.
    pub sequence: u32,
    /// Octets of data.
    pub octets: u32,
    /// It begins the connection (SYN).
    pub first: bool,
}

/// The TCP segment of a frame, where it is one over IPv4.
#[must_use]
pub fn segment(frame: &[u8], header: &Header) -> Option<Segment> {
    if header.ether_type != ether_type::IPV4 {
        return None;
    }
    let packet = ipv4::Packet::new_checked(frame.get(header.data..)?).ok()?;
    if packet.protocol() != ipv4::protocol::TCP {
        return None;
    }
    let segment = tcp::Packet::new_checked(packet.payload()).ok()?;
    Some(Segment {
        port: segment.source_port(),
        sequence: segment.sequence_number(),
        octets: segment.payload().len() as u32,
        first: segment.syn(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 02…01 to 02…02, IPv4, two octets of data.
    const PLAIN: [u8; 16] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00, 0xaa, 0xbb];

    #[test]
    fn tags_are_put_on_and_taken_off() {
        let mut frame = PLAIN.to_vec();
        put_tags(&mut frame, 3, Some(5));
        // Priority 3 is 011 in the three highest bits: 60. Flow 5 is the sixth.
        assert_eq!(frame[12..20], [0x81, 0x00, 0x60, 0x00, 0x22, 0xe9, 0x00, 0x06]);
        let header = Header::read(&frame).unwrap();
        assert_eq!((header.priority, header.flow, header.ether_type, header.data), (Some(3), Some(5), 0x0800, 22));
        assert_eq!(header.source, MacAddress([2, 0, 0, 0, 0, 1]));
        assert_eq!(header.tags(), 8);
        assert_eq!(msdu(&frame), [0x08, 0x00, 0xaa, 0xbb]);
        take_tags(&mut frame, &header);
        assert_eq!(frame, PLAIN);
    }

    #[test]
    fn a_frame_without_flow_has_a_priority_alone() {
        let mut frame = PLAIN.to_vec();
        put_tags(&mut frame, 7, None);
        let header = Header::read(&frame).unwrap();
        assert_eq!((header.priority, header.flow, header.data), (Some(7), None, 18));
        put_tags(&mut frame, 7, Some(0));
        frame[19] = 0;
        assert_eq!(Header::read(&frame).unwrap().flow, None, "number 0 is no flow's");
        let untagged = Header::read(&PLAIN).unwrap();
        assert_eq!((untagged.priority, untagged.flow, untagged.tags()), (None, None, 0));
    }

    #[test]
    fn the_kernels_tag_comes_back() {
        let mut frame = PLAIN.to_vec();
        put_back(&mut frame, 0x8100, 0x6005);
        assert_eq!(frame[12..18], [0x81, 0x00, 0x60, 0x05, 0x08, 0x00]);
        assert_eq!(Header::read(&frame).unwrap().priority, Some(3));
    }

    #[test]
    fn lengths_count_padding_and_check_sequence() {
        assert_eq!([length(14), length(60), length(61), length(1514)], [64, 64, 65, 1518]);
    }

    #[test]
    fn frames_that_end_within_their_header_are_none() {
        let mut frame = PLAIN.to_vec();
        put_tags(&mut frame, 3, Some(5));
        for end in 0..22 {
            assert_eq!(Header::read(&frame[..end]), None, "{end} octets");
        }
        assert!(Header::read(&frame[..22]).is_some());
    }
}
