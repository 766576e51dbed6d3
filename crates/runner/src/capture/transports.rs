//! Datagrams of UDP and TCP, and packets of RoCEv2: data of zeros, and acknowledgements.

use penstock_endpoint::entropy_states::Heard;
use penstock_sim::probe::{Ack, Answered, Segment};
use penstock_wire::checksum::PseudoHeader;
use penstock_wire::ethernet::ether_type;
use penstock_wire::tcp::option_kind;
use penstock_wire::{ethernet, fast_cnp, ipv4, ipv6, mrc, roce, tcp, udp};

use super::headers::{Address, DISCARD, Route, Tag, put, put_udp};

/// Opcodes of the reliable connection. (InfiniBand, volume 1, table 38) The simulator's frames are those of writes without the
/// header of 16 octets that a first one has.
const WRITE_MIDDLE: u8 = 0x07;
const WRITE_LAST: u8 = 0x08;
const ACKNOWLEDGE: u8 = 0x11;

/// Syndromes of an acknowledgement: taken in, with no limit of credits; out of sequence. (section 9.7.5)
const ACK: u8 = 0x1f;
const NAK_SEQUENCE: u8 = 0x60;
/// Octets in the unit to which data are padded. (section 9.2.4)
pub(super) const WORD: usize = 4;
/// Octets of the acknowledgement extended header.
const AETH: usize = 4;

/// A packet sequence number has 24 bits.
const PSN: u32 = 0x00ff_ffff;

/// Windows are advertised in units of 128 octets, as if that scale had been negotiated. (RFC 7323, section 2)
const WINDOW_SCALE: u32 = 7;

/// A datagram of UDP that fills the frame.
pub(super) fn datagram(route: Route, tags: &[Tag], port: u16, frame: usize) -> Vec<u8> {
    let head = route.ipv4(tags, ipv4::protocol::UDP, 0).len();
    let data = frame.saturating_sub(head + udp::Repr::OCTETS);
    let mut out = route.ipv4(tags, ipv4::protocol::UDP, udp::Repr::OCTETS + data);
    put_udp(&mut out, port, DISCARD, data);
    out.resize(out.len() + data, 0);
    let pseudo = PseudoHeader::Ipv4(route.source.ip, route.destination.ip, ipv4::protocol::UDP);
    let checksum = udp::checksum(&out[head..], pseudo);
    out[head + 6..head + 8].copy_from_slice(&checksum.to_be_bytes());
    out
}

/// Octets of data for which a frame of TCP has room.
pub(super) fn tcp_room(frame: usize) -> usize {
    frame.saturating_sub(ethernet::Repr::OCTETS + ipv4::Repr::OCTETS + tcp::Repr::OCTETS)
}

/// A segment of TCP with data.
pub(super) fn tcp_segment(route: Route, port: u16, frame: usize, segment: &Segment) -> Vec<u8> {
    let data = (segment.len as usize).min(tcp_room(frame));
    let header = tcp::Repr {
        source_port: port,
        destination_port: DISCARD,
        sequence_number: segment.seq,
        cwr: segment.cwr,
        psh: segment.last,
        window: u16::MAX,
        ..plain_tcp()
    };
    tcp_frame(route, header, &[], data)
}

/// An acknowledgement of TCP. Blocks stand behind two octets that do nothing, as hosts align them.
pub(super) fn tcp_ack(route: Route, port: u16, ack: &Ack) -> Vec<u8> {
    let blocks = ack.sack.as_slice();
    let mut options = Vec::new();
    if !blocks.is_empty() {
        options.extend([option_kind::NO_OPERATION; 2]);
        options.extend([option_kind::SACK, 2 + 8 * blocks.len() as u8]);
        options.extend(blocks.iter().flat_map(|&(left, right)| [left.to_be_bytes(), right.to_be_bytes()]).flatten());
    }
    let header = tcp::Repr {
        source_port: DISCARD,
        destination_port: port,
        acknowledgment_number: ack.ack,
        ece: ack.ece,
        window: (ack.window >> WINDOW_SCALE).min(u16::MAX.into()) as u16,
        ..plain_tcp()
    };
    tcp_frame(route, header, &options, 0)
}

fn plain_tcp() -> tcp::Repr {
    tcp::Repr {
        source_port: 0,
        destination_port: 0,
        sequence_number: 0,
        acknowledgment_number: 0,
        data_offset: 5,
        cwr: false,
        ece: false,
        urg: false,
        ack: true,
        psh: false,
        rst: false,
        syn: false,
        fin: false,
        window: 0,
        checksum: 0,
        urgent_pointer: 0,
    }
}

fn tcp_frame(route: Route, header: tcp::Repr, options: &[u8], data: usize) -> Vec<u8> {
    let words = (tcp::Repr::OCTETS + options.len()) / 4;
    let mut out = route.ipv4(&[], ipv4::protocol::TCP, words * 4 + data);
    let at = out.len();
    let header = tcp::Repr { data_offset: words as u8, ..header };
    put(&mut out, tcp::Repr::OCTETS, |octets| header.emit(octets));
    out.extend(options);
    out.resize(out.len() + data, 0);
    let pseudo = PseudoHeader::Ipv4(route.source.ip, route.destination.ip, ipv4::protocol::TCP);
    let checksum = tcp::checksum(&out[at..], pseudo);
    out[at + 16..at + 18].copy_from_slice(&checksum.to_be_bytes());
    out
}

/// Octets of data for which a frame of RoCEv2 has room.
pub(super) fn roce_room(frame: usize) -> usize {
    let around = ethernet::Repr::OCTETS + ipv4::Repr::OCTETS + udp::Repr::OCTETS + roce::Repr::OCTETS + roce::ICRC;
    frame.saturating_sub(around)
}

/// A packet of a transport over RoCEv2.
pub(super) fn roce_segment(route: Route, port: u16, pair: u16, frame: usize, segment: &Segment) -> Vec<u8> {
    let opcode = if segment.last { WRITE_LAST } else { WRITE_MIDDLE };
    let data = (segment.len as usize).min(roce_room(frame));
    let padding = data.next_multiple_of(WORD) - data;
    let header =
        roce::Repr { opcode, pad_cnt: padding as u8, psn: segment.seq & PSN, a: segment.last, ..plain_roce(pair) };
    roce_packet(route, port, header, &vec![0; data + padding])
}

/// A packet of RoCEv2 that fills a frame, of a flow without transport.
pub(super) fn roce_data(route: Route, port: u16, pair: u16, frame: usize, psn: u32) -> Vec<u8> {
    let header = roce::Repr { opcode: WRITE_MIDDLE, psn: psn & PSN, ..plain_roce(pair) };
    // Octets beyond whole words are padding of the frame.
    roce_packet(route, port, header, &vec![0; roce_room(frame) / WORD * WORD])
}

/// The same over IPv6.
pub(super) fn roce6_data(route: Route, port: u16, pair: u16, frame: usize, psn: u32) -> Vec<u8> {
    let header = roce::Repr { opcode: WRITE_MIDDLE, psn: psn & PSN, ..plain_roce(pair) };
    let room = roce_room(frame).saturating_sub(ipv6::Repr::OCTETS - ipv4::Repr::OCTETS);
    roce6_packet(route, None, port, header, &vec![0; room / WORD * WORD])
}

/// The answer to a frame with MRC's headers: that its header alone has come, or what has arrived so far. Time stamps and counts, which the transport
/// does not know, are 0.
pub(super) fn mrc_answer(route: Route, port: u16, pair: u16, ack: &Ack, answered: Option<Answered>) -> Vec<u8> {
    let entropy = answered.map_or(0, |answered| answered.value.into());
    let heard = answered.map(|answered| answered.heard);
    let mut octets = Vec::new();
    let (opcode, psn) = if let Some(nack_psn) = ack.cut {
        let at_last_hop = heard == Some(Heard::TrimmedAtLastHop);
        let nack_reason = if at_last_hop { mrc::TRIMMED_LAST_HOP } else { mrc::TRIMMED };
        let header = mrc::nack::Repr::of(nack_reason, nack_psn & PSN, entropy);
        put(&mut octets, mrc::nack::Repr::OCTETS, |octets| header.emit(octets));
        (mrc::NACK, nack_psn)
    } else {
        let cack_psn = ack.ack.wrapping_sub(1) & PSN;
        let (first, bitmap) = ack.sack.bitmap().unwrap_or((ack.ack, 0));
        // 24 bits, with their sign.
        let ahead = ((first.wrapping_sub(cack_psn) << 8) as i32 >> 8) as i16;
        let m = if heard == Some(Heard::Marked) { mrc::SKIP_ONCE } else { mrc::NONE };
        let pr = answered.is_some_and(|answered| answered.probe);
        let header = mrc::Repr { pr, ..mrc::Repr::answer(cack_psn, (ahead, bitmap), (entropy, m)) };
        put(&mut octets, mrc::Repr::OCTETS, |octets| header.emit(octets));
        (mrc::SACK, cack_psn)
    };
    roce_packet(route, port, roce::Repr { opcode, psn: psn & PSN, ..plain_roce(pair) }, &octets)
}

/// MRC's probe of a path. The simulator does not number probes.
pub(super) fn mrc_probe(route: Route, port: u16, pair: u16) -> Vec<u8> {
    let mut octets = Vec::new();
    put(&mut octets, mrc::probe::Repr::OCTETS, |octets| mrc::probe::Repr::plain().emit(octets));
    roce_packet(route, port, roce::Repr { opcode: mrc::PROBE, ..plain_roce(pair) }, &octets)
}

/// An acknowledgement of RoCEv2: of the packet before the one that is expected, or of the latter that it has not come.
pub(super) fn roce_ack(route: Route, port: u16, pair: u16, ack: &Ack) -> Vec<u8> {
    let missing = ack.nak || ack.cut.is_some();
    let (psn, syndrome) = if missing { (ack.ack, NAK_SEQUENCE) } else { (ack.ack.wrapping_sub(1), ACK) };
    let header = roce::Repr { opcode: ACKNOWLEDGE, psn: psn & PSN, ..plain_roce(pair) };
    let mut extended = [0; AETH];
    extended[0] = syndrome;
    roce_packet(route, port, header, &extended)
}

/// A congestion notification packet.
pub(super) fn cnp(route: Route, port: u16, pair: u16) -> Vec<u8> {
    roce_packet(route, port, roce::Repr::cnp(pair.into()), &[0; roce::CNP_RESERVED])
}

/// The notification of a switch for a flow that goes to `destination`.
pub(super) fn fast_cnp(route: Route, destination: Address, port: u16, pair: u16) -> Vec<u8> {
    roce6_packet(route, Some(destination), port, roce::Repr::cnp(pair.into()), &[0; roce::CNP_RESERVED])
}

fn plain_roce(pair: u16) -> roce::Repr {
    roce::Repr { opcode: 0, becn: false, ..roce::Repr::cnp(pair.into()) }
}

fn roce_packet(route: Route, port: u16, header: roce::Repr, data: &[u8]) -> Vec<u8> {
    let behind_udp = roce::Repr::OCTETS + data.len() + roce::ICRC;
    let mut out = route.ipv4(&[], ipv4::protocol::UDP, udp::Repr::OCTETS + behind_udp);
    let start = out.len() - ipv4::Repr::OCTETS;
    put_udp(&mut out, port, udp::ROCE, behind_udp);
    put(&mut out, roce::Repr::OCTETS, |octets| header.emit(octets));
    out.extend(data);
    let icrc = roce::icrc(ether_type::IPV4, &out[start..]).expect("it is a packet of UDP over IPv4");
    out.extend(icrc);
    out
}

/// A packet over IPv6; `original` is the destination that the options of a Fast CNP name, where there are any.
fn roce6_packet(route: Route, original: Option<Address>, port: u16, header: roce::Repr, data: &[u8]) -> Vec<u8> {
    let behind_udp = roce::Repr::OCTETS + data.len() + roce::ICRC;
    let options = if original.is_some() { fast_cnp::Repr::OCTETS } else { 0 };
    let next = if original.is_some() { fast_cnp::NEXT_HEADER } else { ipv4::protocol::UDP };
    let mut out = route.ipv6(next, options + udp::Repr::OCTETS + behind_udp);
    let start = out.len() - ipv6::Repr::OCTETS;
    if let Some(original) = original {
        let options = fast_cnp::Repr { next_header: ipv4::protocol::UDP, original_destination: original.ip6() };
        put(&mut out, fast_cnp::Repr::OCTETS, |octets| options.emit(octets));
    }
    let datagram = out.len();
    put_udp(&mut out, port, udp::ROCE, behind_udp);
    put(&mut out, roce::Repr::OCTETS, |octets| header.emit(octets));
    out.extend(data);
    let icrc = roce::icrc(ether_type::IPV6, &out[start..]).expect("it is a packet of UDP over IPv6");
    out.extend(icrc);
    // Over IPv6 a datagram has a checksum, which the invariant CRC leaves out.
    let pseudo = PseudoHeader::Ipv6(route.source.ip6(), route.destination.ip6(), ipv4::protocol::UDP);
    let checksum = udp::checksum(&out[datagram..], pseudo);
    out[datagram + 6..datagram + 8].copy_from_slice(&checksum.to_be_bytes());
    out
}
