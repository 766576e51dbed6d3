//! How schemes look on the wire: their tags on data frames, their signals as control frames.
//!
//! A scheme says its content in the terms of the wire's formats ([`Label`], [`Message`]); here these become octets, and octets
//! these. So each scheme of the registry whose `INFO` has the form `testbed` is on these wires.
//!
//! Flows have the numbers of [`crate::frame::number`]. A controlled data frame carries its flow's number in a CN-TAG, whatever the
//! scheme: congestion points copy it into their messages, and nothing else names a flow on these wires. A rate-limited tag
//! stands behind the CN-TAG; DCQCN's mark is the ECN field of the IP header. A CNM has the first octets of the sampled frame.

use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::{BitRate, CpId, Instant, Label, Message, SCHEMES, Scheme, SchemeConfig, Signal as _, Visitor};
use penstock_wire::ethernet::{LEAST, ether_type};
use penstock_wire::experimental;
use penstock_wire::{MacAddress, cnm, ipv4, roce, smcc, udp};

use crate::frame::{Header, control, msdu, number, numbered};

/// Addresses of a control frame, and everything else that its octets need beside the signal.
#[derive(Debug, Clone, Copy)]
pub struct Addressing<'a> {
    /// The station that receives the signal.
    pub destination: MacAddress,
    /// The station that sends the signal.
    pub source: MacAddress,
    /// Priority of the control frame.
    pub priority: u8,
    /// The flow, by its number in the scenario.
    pub flow: u16,
    /// The data frame that caused it; empty if none did.
    pub sampled: &'a [u8],
}

/// The tags and signals of a scheme as octets.
pub trait OnWire: Scheme {
    /// Whether controlled data frames carry a CN-TAG.
    const TAGGED: bool = Self::INFO.signals.is_some();
    /// Whether a data frame carries more than that, or than its IP header.
    const MARKS: bool = size_of::<Self::Tag>() > 0;

    /// Writes the tag to a data frame that leaves its source.
    fn put(tag: Self::Tag, flow: u16, frame: &mut Vec<u8>) {
        match Self::label(&tag) {
            Label::Rlt(cp) => put_rlt(cp, flow, frame),
            _ => Self::edit(tag, frame),
        }
    }

    /// Writes the tag that a congestion point has edited.
    fn edit(tag: Self::Tag, frame: &mut [u8]) {
        if let Label::Ecn(marked) | Label::Roce(marked) = Self::label(&tag) {
            set_ecn(frame, if marked { ipv4::ecn::CE } else { ipv4::ecn::ECT_0 });
        }
    }

    /// Reads the tag of a data frame.
    fn tag(frame: &[u8]) -> Self::Tag {
        if !Self::MARKS {
            return Self::Tag::default();
        }
        let marked = || ecn(frame) == Some(ipv4::ecn::CE);
        Self::from_label(match Self::label(&Self::Tag::default()) {
            Label::Ecn(_) => Label::Ecn(marked()),
            Label::Roce(_) => Label::Roce(marked()),
            other => rlt(frame).map_or(other, |tag| Label::Rlt(CpId(tag.cp_id))),
        })
    }

    /// Takes off what [`put`](Self::put) has put on.
    fn take(frame: &mut Vec<u8>) {
        match Self::label(&Self::Tag::default()) {
            // The mark was for the interface; the application has not asked for it.
            Label::Ecn(_) | Label::Roce(_) => set_ecn(frame, 0),
            _ if Self::MARKS => take_rlt(frame),
            _ => {}
        }
    }

    /// The control frame of a signal.
    fn emit(signal: Self::Signal, way: &Addressing<'_>) -> Vec<u8> {
        padded(match signal.message() {
            Some(message) => octets_of(message, way),
            None => panic!("{signal:?} has no format, and {} is on the testbed", Self::INFO.name),
        })
    }

    /// The flow and the signal of a control frame; `None` for any other frame.
    fn parse(frame: &[u8]) -> Option<(u16, Self::Signal)> {
        let (flow, message) = message_of(frame)?;
        Some((flow, Self::Signal::from_message(message)?))
    }
}

impl<S: Scheme> OnWire for S {}

/// Names of the schemes that have a form on the wire.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().filter(|info| info.forms.testbed).map(|info| info.name)
}

/// Calls `visitor` with the type of the scheme of all of `configs`; `None` where they differ, or where that scheme has no form on
/// the wire.
pub fn visit<V: Visitor>(configs: &[SchemeConfig], visitor: V) -> Option<V::Output> {
    struct OnTestbed<V>(V);

    impl<V: Visitor> Visitor for OnTestbed<V> {
        type Output = Option<V::Output>;

        fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
            // Known when this is compiled: for other schemes the testbed is not.
            if const { S::INFO.forms.testbed } { Some(self.0.visit::<S>(configs)) } else { None }
        }
    }

    SchemeConfig::visit(configs, OnTestbed(visitor))
}

/// Why a scheme has no form on the wire, in a clause.
pub(crate) fn obstacle(configs: &[SchemeConfig]) -> &'static str {
    struct Acknowledges;

    impl Visitor for Acknowledges {
        type Output = bool;

        fn visit<S: Scheme>(self, _: &[S::Config]) -> bool {
            size_of::<Option<S::Echo>>() > 0
        }
    }

    let first = configs.first().map(|config| config.info().name);
    if configs.iter().any(|config| Some(config.info().name) != first) {
        return "the processes of the testbed have one scheme for all priorities";
    }
    match SchemeConfig::visit(configs, Acknowledges) {
        true => "it needs an acknowledgement of every frame, which applications do not send",
        false => "nothing says how its messages would look",
    }
}

/// Appends `octets` octets that `write` fills.
fn append(frame: &mut Vec<u8>, octets: usize, write: impl FnOnce(&mut [u8])) {
    let at = frame.len();
    frame.resize(at + octets, 0);
    write(&mut frame[at..]);
}

fn padded(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(LEAST), 0);
    frame
}

/// The part behind the tags of a frame of this EtherType.
fn message(frame: &[u8], kind: u16) -> Option<(Header, &[u8])> {
    let header = Header::read(frame).filter(|header| header.ether_type == kind)?;
    Some((header, frame.get(header.data..)?))
}

/// The control frame of a message, not padded.
fn octets_of(message: Message, way: &Addressing<'_>) -> Vec<u8> {
    let sampled = Header::read(way.sampled);
    let encapsulated_priority = sampled.and_then(|header| header.priority).unwrap_or(0);
    let encapsulated_destination = sampled.map_or(MacAddress([0; 6]), |header| header.destination);
    let begin = |flow, kind| control(way.destination, way.source, way.priority, flow, kind);
    let experimental = || begin(None, ether_type::EXPERIMENTAL);
    let rlq_id = number(way.flow);
    match message {
        Message::Cnm { cp, fb, q_off, q_delta } => {
            let msdu = msdu(way.sampled);
            let msdu = &msdu[..msdu.len().min(usize::from(cnm::MSDU_MOST))];
            let repr = cnm::Repr {
                quantized_feedback: fb.steps(),
                cp_id: cp.0,
                // The standard's sign: set point less length.
                q_offset: cnm::Repr::units(-q_off),
                q_delta: cnm::Repr::units(q_delta),
                encapsulated_priority,
                encapsulated_destination,
                encapsulated_msdu_length: msdu.len() as u16,
            };
            let mut frame = begin(Some(way.flow), ether_type::CNM);
            append(&mut frame, cnm::Repr::OCTETS, |place| _ = repr.emit(place));
            frame.extend(msdu);
            frame
        }
        Message::Smcc { cp, q_off, q_delta } => {
            let repr = smcc::Repr { cp_id: cp.0, encapsulated_priority, encapsulated_destination, q_off, q_delta };
            let mut frame = begin(Some(way.flow), ether_type::SMCC);
            append(&mut frame, smcc::Repr::OCTETS, |place| _ = repr.emit(place));
            frame
        }
        Message::Bcn { cp, q_off, q_delta } => {
            let units = |n: i32| n.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
            let repr = experimental::bcn::Repr {
                cp_id: cp.0,
                q_off: units(q_off.saturating_neg()),
                q_delta: units(q_delta),
                rlq_id,
            };
            let mut frame = experimental();
            append(&mut frame, experimental::bcn::Repr::OCTETS, |place| _ = repr.emit(place));
            frame
        }
        Message::RateProbe { round, rate, cp, returned } => {
            let repr = experimental::rate_probe::Repr {
                returned,
                rlq_id,
                round,
                rate: rate.map_or(experimental::UNLIMITED, |rate| rate.0),
                cp_id: cp.0,
            };
            let mut frame = experimental();
            append(&mut frame, experimental::rate_probe::Repr::OCTETS, |place| _ = repr.emit(place));
            frame
        }
        Message::PathProbe { sent_at, q_off, returned } => {
            let repr = experimental::path_probe::Repr {
                returned,
                measured: q_off.is_some(),
                rlq_id,
                sent_at: sent_at.0,
                q_off: q_off.unwrap_or(0),
            };
            let mut frame = experimental();
            append(&mut frame, experimental::path_probe::Repr::OCTETS, |place| _ = repr.emit(place));
            frame
        }
        Message::Cnp => cnp(way),
        other => panic!("{other:?} has no octets on the testbed"),
    }
}

/// DCQCN's message: a congestion notification packet of RoCEv2.
fn cnp(way: &Addressing<'_>) -> Vec<u8> {
    let behind = udp::Repr::OCTETS + roce::Repr::OCTETS + roce::CNP_RESERVED + roce::ICRC;
    let address = |station: MacAddress| {
        let [.., high, low] = station.0;
        [10, 99, high, low]
    };
    let ip = ipv4::Repr::new(address(way.source), address(way.destination), ipv4::protocol::UDP, behind as u16);
    let datagram = udp::Repr { source_port: 49_152, destination_port: udp::ROCE, length: behind as u16, checksum: 0 };
    let mut frame = control(way.destination, way.source, way.priority, None, ether_type::IPV4);
    let start = frame.len();
    append(&mut frame, ipv4::Repr::OCTETS, |place| _ = ip.emit(place));
    append(&mut frame, udp::Repr::OCTETS, |place| _ = datagram.emit(place));
    append(&mut frame, roce::Repr::OCTETS, |place| _ = roce::Repr::cnp(u32::from(number(way.flow))).emit(place));
    append(&mut frame, roce::CNP_RESERVED, |_| ());
    let icrc = roce::icrc(ether_type::IPV4, &frame[start..]).unwrap_or_default();
    frame.extend(icrc);
    frame
}

/// The flow and the message of a control frame; `None` for any other frame.
fn message_of(frame: &[u8]) -> Option<(u16, Message)> {
    let header = Header::read(frame)?;
    let octets = frame.get(header.data..)?;
    match header.ether_type {
        ether_type::CNM => {
            let repr = cnm::Repr::parse(&cnm::Packet::new_checked(octets).ok()?).ok()?;
            let message = Message::Cnm {
                fb: QntzFb::from_steps(repr.quantized_feedback),
                cp: CpId(repr.cp_id),
                q_off: -i64::from(repr.q_offset) * cnm::UNIT,
                q_delta: i64::from(repr.q_delta) * cnm::UNIT,
            };
            // A notification without CN-TAG names no flow: its sender was not answering us.
            Some((header.flow?, message))
        }
        ether_type::SMCC => {
            let repr = smcc::Repr::parse(&smcc::Packet::new_checked(octets).ok()?).ok()?;
            Some((header.flow?, Message::Smcc { cp: CpId(repr.cp_id), q_off: repr.q_off, q_delta: repr.q_delta }))
        }
        ether_type::EXPERIMENTAL => {
            let (rlq_id, message) = experimental_message(octets)?;
            Some((numbered(rlq_id)?, message))
        }
        ether_type::IPV4 => Some((numbered(queue_pair_of_cnp(octets)?)?, Message::Cnp)),
        _ => None,
    }
}

/// The number of the flow and the message in the octets behind the local experimental EtherType.
fn experimental_message(octets: &[u8]) -> Option<(u16, Message)> {
    use experimental::{UNLIMITED, bcn, path_probe, rate_probe};
    if let Some(repr) = bcn::Packet::new_checked(octets).ok().and_then(|packet| bcn::Repr::parse(&packet).ok()) {
        let (q_off, q_delta) = (-i32::from(repr.q_off), i32::from(repr.q_delta));
        return Some((repr.rlq_id, Message::Bcn { cp: CpId(repr.cp_id), q_off, q_delta }));
    }
    if let Some(repr) =
        rate_probe::Packet::new_checked(octets).ok().and_then(|packet| rate_probe::Repr::parse(&packet).ok())
    {
        let rate = (repr.rate != UNLIMITED).then_some(BitRate(repr.rate));
        let (round, cp, returned) = (repr.round, CpId(repr.cp_id), repr.returned);
        return Some((repr.rlq_id, Message::RateProbe { round, rate, cp, returned }));
    }
    let repr = path_probe::Repr::parse(&path_probe::Packet::new_checked(octets).ok()?).ok()?;
    let (sent_at, q_off) = (Instant(repr.sent_at), repr.measured.then_some(repr.q_off));
    Some((repr.rlq_id, Message::PathProbe { sent_at, q_off, returned: repr.returned }))
}

/// The queue pair of a congestion notification packet.
fn queue_pair_of_cnp(octets: &[u8]) -> Option<u16> {
    let ip = ipv4::Packet::new_checked(octets).ok()?;
    if ip.protocol() != ipv4::protocol::UDP {
        return None;
    }
    let datagram = udp::Packet::new_checked(ip.payload()).ok()?;
    if datagram.destination_port() != udp::ROCE {
        return None;
    }
    let header = roce::Packet::new_checked(datagram.payload()).ok()?;
    u16::try_from(header.dest_qp()).ok().filter(|_| header.opcode() == roce::CNP)
}

/// Puts a rate-limited tag behind the other tags: the source is limited.
fn put_rlt(cp: CpId, flow: u16, frame: &mut Vec<u8>) {
    let Some(header) = Header::read(frame) else { return };
    let repr = experimental::rlt::Repr { rlq_id: number(flow), cp_id: cp.0, ether_type: header.ether_type };
    let mut octets = [0; experimental::rlt::Repr::OCTETS];
    if repr.emit(&mut octets).is_ok() {
        let kind = header.data - 2..header.data;
        frame.splice(kind, ether_type::EXPERIMENTAL.to_be_bytes().into_iter().chain(octets));
    }
}

fn rlt(frame: &[u8]) -> Option<experimental::rlt::Repr> {
    let (_, octets) = message(frame, ether_type::EXPERIMENTAL)?;
    experimental::rlt::Repr::parse(&experimental::rlt::Packet::new_checked(octets).ok()?).ok()
}

fn take_rlt(frame: &mut Vec<u8>) {
    if let (Some(tag), Some(header)) = (rlt(frame), Header::read(frame)) {
        let end = header.data + experimental::rlt::Repr::OCTETS;
        frame.splice(header.data - 2..end, tag.ether_type.to_be_bytes());
    }
}

/// Sets the ECN field of a frame's IPv4 header, and its checksum; other frames stay as they are.
pub(crate) fn set_ecn(frame: &mut [u8], ecn: u8) {
    let Some(header) = Header::read(frame).filter(|header| header.ether_type == ether_type::IPV4) else { return };
    let Some(mut packet) = frame.get_mut(header.data..).and_then(|octets| ipv4::Packet::new_checked(octets).ok())
    else {
        return;
    };
    packet.set_ecn(ecn);
    let octets = packet.into_inner();
    let checksum = ipv4::checksum(octets).to_be_bytes();
    octets[10..12].copy_from_slice(&checksum);
}

/// The ECN field of a frame's IPv4 header.
pub(crate) fn ecn(frame: &[u8]) -> Option<u8> {
    let (_, octets) = message(frame, ether_type::IPV4)?;
    Some(ipv4::Packet::new_checked(octets).ok()?.ecn())
}

#[cfg(test)]
mod tests {
    use penstock_wire::layers::{Types, layers};

    use penstock_schemes::dcqcn::{Cnp, Dcqcn};
    use penstock_schemes::e2cm::{self, ExtendedEcm};
    use penstock_schemes::efecn::{self, EnhancedForwardExplicitRate};
    use penstock_schemes::parts::ecm::{Bcn, Rlt};
    use penstock_schemes::parts::explicit_rate::Probe;
    use penstock_schemes::parts::marking::Ce;
    use penstock_schemes::parts::notification::Cnm;
    use penstock_schemes::qcn::Qcn;
    use penstock_schemes::smcc::{Notice, Smcc};
    use penstock_schemes::{bcn, fecn};

    use super::*;
    use crate::frame::{length, put_tags};

    /// 60 octets of an IPv4 frame, with tags of priority 0 and flow 5.
    fn data() -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
        let ip = ipv4::Repr::new([10, 99, 0, 1], [10, 99, 0, 9], ipv4::protocol::UDP, 26);
        append(&mut frame, 20, |place| _ = ip.emit(place));
        let datagram = udp::Repr { source_port: 1000, destination_port: 5201, length: 26, checksum: 0 };
        append(&mut frame, 8, |place| _ = datagram.emit(place));
        frame.resize(60, 0);
        put_tags(&mut frame, 0, Some(5));
        frame
    }

    fn way(sampled: &[u8]) -> Addressing<'_> {
        let station = |n| MacAddress([2, 0, 0, 0, 0, n]);
        Addressing { destination: station(1), source: station(0xaa), priority: 7, flow: 5, sampled }
    }

    fn faultless(frame: &[u8]) -> Vec<&'static str> {
        let found: Vec<_> = layers(frame, Types::default()).collect();
        assert!(found.iter().all(|layer| layer.fault.is_none()), "{found:?}");
        found.iter().map(|layer| layer.name()).collect()
    }

    #[test]
    fn a_notification_names_flow_queue_and_sampled_frame() {
        let sampled = data();
        let cnm = Cnm { fb: QntzFb::from_steps(25), cp: CpId(0x0200_0000_00aa_0001), q_off: 26_048, q_delta: -640 };
        let frame = Qcn::emit(cnm, &way(&sampled));
        assert_eq!(faultless(&frame)[..4], ["eth", "vlan", "cn_tag", "cnm"]);
        // 26 048 octets are 407 units above the set point: -407 is fe69. -640 octets are -10 units: fff6.
        let at = Header::read(&frame).unwrap().data;
        assert_eq!(frame[at..at + 2], [0x00, 0x19]);
        assert_eq!(frame[at + 10..at + 14], [0xfe, 0x69, 0xff, 0xf6]);
        assert_eq!(Qcn::parse(&frame), Some((5, cnm)));
        // 18 octets of header and tags, 4 of CN-TAG, 24, and the sampled frame's EtherType and 46 octets behind it.
        assert_eq!(length(frame.len()), 18 + 4 + 24 + 48 + 4);
    }

    #[test]
    fn a_notification_without_flow_is_refused() {
        let cnm = Cnm { fb: QntzFb::from_steps(1), cp: CpId(1), q_off: 64, q_delta: 0 };
        let mut frame = Qcn::emit(cnm, &way(&[]));
        assert!(Qcn::parse(&frame).is_some());
        // Without its CN-TAG.
        frame.drain(16..20);
        assert_eq!(Qcn::parse(&frame), None);
        assert_eq!(Qcn::parse(&data()), None);
        for end in 0..46 {
            assert_eq!(Qcn::parse(&Qcn::emit(cnm, &way(&[]))[..end]), None, "{end} octets");
        }
    }

    #[test]
    fn bcn_marks_frames_of_limited_sources_and_names_them() {
        type S = bcn::BackwardCongestionNotification;
        let mut frame = data();
        S::put(Rlt(None), 5, &mut frame);
        assert_eq!(frame, data());
        S::put(Rlt(Some(CpId(0xab))), 5, &mut frame);
        assert_eq!(faultless(&frame)[..4], ["eth", "vlan", "cn_tag", "rlt"]);
        assert_eq!(frame.len(), data().len() + 14);
        assert_eq!(S::tag(&frame), Rlt(Some(CpId(0xab))));
        assert_eq!(S::parse(&frame), None);
        S::take(&mut frame);
        assert_eq!(frame, data());
        let signal = Bcn { cp: CpId(0xab), q_off: 25, q_delta: -2 };
        let frame = S::emit(signal, &way(&[]));
        faultless(&frame);
        assert_eq!((S::parse(&frame), S::tag(&frame)), (Some((5, signal)), Rlt(None)));
    }

    #[test]
    fn probes_and_notices_come_back_as_they_were() {
        let probe = Probe { round: 3, rate: Some(BitRate(5_000_000_000)), cp: CpId(7), returned: true };
        for probe in [probe, Probe::new(1)] {
            let frame = fecn::ForwardExplicitRate::emit(probe, &way(&[]));
            faultless(&frame);
            assert_eq!(fecn::ForwardExplicitRate::parse(&frame), Some((5, probe)));
        }
        let notice = Notice { cp: CpId(7), q_off: 123_456, q_delta: -77 };
        let frame = Smcc::emit(notice, &way(&data()));
        faultless(&frame);
        assert_eq!(Smcc::parse(&frame), Some((5, notice)));
    }

    #[test]
    fn probes_of_e2cm_carry_clock_and_queue() {
        let (sent_at, cp) = (Instant(123_456_789_000), CpId(0xab));
        let messages = [
            e2cm::Message::Probe { sent_at, q_off: None },
            e2cm::Message::Probe { sent_at, q_off: Some(-16_500) },
            e2cm::Message::Reply { sent_at, q_off: Some(0) },
            e2cm::Message::Ecm(Bcn { cp, q_off: 25, q_delta: -2 }),
        ];
        for message in messages {
            let frame = ExtendedEcm::emit(message, &way(&[]));
            faultless(&frame);
            assert_eq!(ExtendedEcm::parse(&frame), Some((5, message)));
        }
        // A data frame's tag of the same EtherType is no message.
        let mut frame = data();
        ExtendedEcm::put(Rlt(Some(cp)), 5, &mut frame);
        assert_eq!((ExtendedEcm::parse(&frame), ExtendedEcm::tag(&frame)), (None, Rlt(Some(cp))));
    }

    #[test]
    fn efecn_sends_probes_and_the_message_with_both_lengths_zero() {
        type S = EnhancedForwardExplicitRate;
        let probe = Probe { round: 3, rate: Some(BitRate(500_000_000)), cp: CpId(7), returned: true };
        for message in [efecn::Message::Probe(probe), efecn::Message::Bcn00 { cp: CpId(7) }] {
            let frame = S::emit(message, &way(&data()));
            faultless(&frame);
            assert_eq!(S::parse(&frame), Some((5, message)));
        }
        let other = bcn::BackwardCongestionNotification::emit(Bcn { cp: CpId(7), q_off: 1, q_delta: 0 }, &way(&[]));
        assert_eq!(S::parse(&other), None);
    }

    #[test]
    fn dcqcn_marks_the_ip_header() {
        let mut frame = data();
        Dcqcn::put(Ce(false), 5, &mut frame);
        assert_eq!(Dcqcn::tag(&frame), Ce(false));
        Dcqcn::edit(Ce(true), &mut frame);
        faultless(&frame);
        assert_eq!(Dcqcn::tag(&frame), Ce(true));
        Dcqcn::take(&mut frame);
        assert_eq!(frame, data());
        let frame = Dcqcn::emit(Cnp, &way(&[]));
        faultless(&frame);
        // With its 802.1Q tag.
        assert_eq!(length(frame.len()), Cnp::OCTETS + 4);
        assert_eq!(Dcqcn::parse(&frame), Some((5, Cnp)));
        assert_eq!(Dcqcn::parse(&data()), None);
    }
}
