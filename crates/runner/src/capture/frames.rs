//! Frames of the simulator as octets: the only module that turns them into formats of `penstock_wire`.
//!
//! | frame | as |
//! |---|---|
//! | data of a flow with a transport, and its acknowledgements | TCP or RoCEv2, the priority's DSCP: they have no room for tags. MRC's headers with a bitmap |
//! | data of other flows | UDP behind 802.1Q, CN-TAG or rate-limited tag; TCP where destinations acknowledge; RoCEv2 under DCQCN |
//! | signals | the scheme's message behind 802.1Q |
//! | pause frames | PFC |
//!
//! A frame's length in the simulator counts its FCS, which is not captured.

use penstock_endpoint::transport::Transport;
use penstock_scenario::{CodePoints, Plan};
use penstock_schemes::{Label, Octets, Scheme, Signal as _};
use penstock_sim::network::{FlowId, PortId};
use penstock_sim::probe::{Ack, Answered, Content, Ecn, FrameSeen, Load, Segment, SignalPath};
use penstock_wire::ethernet::ether_type;
use penstock_wire::ipv4::ecn;
use penstock_wire::vlan;

use super::flows::Flows;
use super::headers::{self, Route, Tag};
use super::messages::{self, About};
use super::transports;

/// Octets of the frame check sequence.
const FCS: usize = 4;

/// Octets of the two addresses.
const ADDRESSES: usize = 12;

/// A plan's frames.
#[derive(Debug)]
pub(crate) struct Frames<'p> {
    plan: &'p Plan,
    flows: Flows<'p>,
    /// For each priority of the network, whether destinations acknowledge frames to the scheme.
    acknowledged: Vec<bool>,
}

/// A data frame of a flow.
struct Data<'a> {
    flow: FlowId,
    label: Label,
    ecn: Ecn,
    seq: Octets,
    segment: Option<&'a Segment>,
    /// Its entropy value, which stands in UDP's source port.
    entropy: Option<u16>,
    /// Octets without FCS.
    octets: usize,
    points: CodePoints,
}

impl<'p> Frames<'p> {
    pub(crate) fn new<S: Scheme>(plan: &'p Plan, configs: &[S::Config]) -> Self {
        Self { plan, flows: Flows::new(plan), acknowledged: configs.iter().map(S::acknowledges).collect() }
    }

    /// The octets of a frame, without FCS.
    pub(super) fn octets<S: Scheme>(&self, seen: &FrameSeen<'_, S>) -> Vec<u8> {
        let octets = usize::from(seen.octets) - FCS;
        let frame = match &seen.content {
            &Content::Pause { stop, resume } => self.pause(seen.port, stop, resume),
            Content::Frame { flow, priority, load } => {
                let (flow, points) = (*flow, headers::code_points(self.plan, *priority));
                match load {
                    &Load::Data { tag, seq, ecn, segment, entropy, .. } => {
                        self.data(&Data { flow, label: S::label(tag), ecn, seq, segment, entropy, octets, points })
                    }
                    &Load::Ack { ack, answered } => self.ack(flow, points, ack, answered),
                    Load::Echo { echo, arrived, hop } => {
                        let route = self.route(flow, SignalPath::Up { origin: None, hop: *hop }, points, seen.port);
                        let ack = self.tcp_number(flow, *arrived);
                        transports::tcp_ack(route, headers::port(flow), &scheme_ack(ack, S::echoes_mark(echo)))
                    }
                    Load::Signal { signal, path } => {
                        let about = self.about(flow, *path, points, seen.port);
                        messages::message(signal.message(), &about, |octets| self.first_octets(flow, octets))
                    }
                }
            }
        };
        // RoCEv2 pads data to whole words, for which the simulator counts nothing.
        debug_assert!(
            frame.len() < octets + transports::WORD,
            "a frame of {octets} octets has headers of {}",
            frame.len()
        );
        headers::padded(frame, octets)
    }

    fn pause(&self, port: PortId, stop: u8, resume: u8) -> Vec<u8> {
        let quanta = self.plan.network.pfc.as_ref().map_or(0, |pfc| pfc.quanta);
        let source = headers::of_node(self.plan, self.plan.network.ports[port.index()].node);
        messages::pfc(source.mac, stop, resume, quanta)
    }

    fn data(&self, data: &Data<'_>) -> Vec<u8> {
        let &Data { flow, label, octets, points, .. } = data;
        let (port, number) = (headers::port(flow), headers::number(flow));
        let route = Route { ecn: code_point(data.ecn, label), ..self.forth(flow, points) };
        if let Some(segment) = data.segment {
            return match self.transport(flow) {
                Some(Transport::Tcp(_)) | None => transports::tcp_segment(route, port, octets, segment),
                // Only the probe of a path has no data.
                Some(Transport::Selective(_)) if segment.len == 0 => {
                    transports::mrc_probe(route, data.entropy.unwrap_or(port), number)
                }
                Some(Transport::GoBackN(_) | Transport::Selective(_)) => {
                    transports::roce_segment(route, data.entropy.unwrap_or(port), number, octets, segment)
                }
            };
        }
        if self.is_acknowledged(flow) {
            let segment = Segment {
                seq: self.tcp_number(flow, data.seq),
                len: transports::tcp_room(octets) as u32,
                last: false,
                retransmission: false,
                ect: false,
                cwr: false,
            };
            return transports::tcp_segment(route, port, octets, &segment);
        }
        let controlled = self.is_controlled(flow);
        let priority = Tag::Priority(points.pcp);
        match label {
            Label::Roce(_) if controlled => {
                let psn = data.seq.0 / u64::from(self.flows.of(flow).frame.max(1));
                transports::roce_data(route, port, number, octets, psn as u32)
            }
            Label::Roce6(_) if controlled => {
                let psn = data.seq.0 / u64::from(self.flows.of(flow).frame.max(1));
                transports::roce6_data(route, port, number, octets, psn as u32)
            }
            Label::CnTag if controlled => transports::datagram(route, &[priority, Tag::Cn(number)], port, octets),
            Label::Rlt(cp) => transports::datagram(route, &[priority, Tag::Rlt(number, cp)], port, octets),
            _ => transports::datagram(route, &[priority], port, octets),
        }
    }

    /// The first octets of a full frame of a flow, from its EtherType on, without tags.
    fn first_octets(&self, flow: FlowId, most: usize) -> Vec<u8> {
        let facts = self.flows.of(flow);
        let octets = usize::from(facts.frame) - FCS;
        let whole = Segment {
            seq: 0,
            len: transports::tcp_room(octets) as u32,
            last: false,
            retransmission: false,
            ect: false,
            cwr: false,
        };
        let data = Data {
            flow,
            label: Label::Bare,
            ecn: Ecn::Incapable,
            seq: Octets(0),
            segment: facts.transport.map(|_| &whole),
            entropy: None,
            octets,
            points: headers::code_points(self.plan, Some(facts.priority)),
        };
        let mut frame = headers::padded(self.data(&data), octets);
        let tag = if frame[ADDRESSES..].starts_with(&ether_type::VLAN.to_be_bytes()) { vlan::Repr::OCTETS } else { 0 };
        frame.drain(..ADDRESSES + tag);
        frame.truncate(most);
        frame
    }

    /// An acknowledgement of a flow's transport.
    fn ack(&self, flow: FlowId, points: CodePoints, ack: &Ack, answered: Option<Answered>) -> Vec<u8> {
        let (port, number) = (headers::port(flow), headers::number(flow));
        let forth = self.forth(flow, points);
        let back = Route { source: forth.destination, destination: forth.source, ..forth };
        match self.transport(flow) {
            Some(Transport::Tcp(_)) | None => transports::tcp_ack(back, port, ack),
            Some(Transport::Selective(config)) if config.bitmap => {
                transports::mrc_answer(back, port, number, ack, answered)
            }
            Some(Transport::GoBackN(_) | Transport::Selective(_)) => transports::roce_ack(back, port, number, ack),
        }
    }

    /// The path of a flow's data.
    fn forth(&self, flow: FlowId, points: CodePoints) -> Route {
        let facts = self.flows.of(flow);
        Route { source: facts.source, destination: facts.destination, points, ecn: ecn::NOT_ECT }
    }

    /// The path of a frame of a flow on the line of `port`.
    fn route(&self, flow: FlowId, path: SignalPath, points: CodePoints, port: PortId) -> Route {
        let (plan, network) = (self.plan, &self.plan.network);
        let forth = self.forth(flow, points);
        let (source, destination) = match path {
            SignalPath::Down => (forth.source, forth.destination),
            SignalPath::Up { origin, hop } => {
                let from = origin.and_then(|queue| network.port_and_priority(queue)).map_or_else(
                    || headers::behind(plan, hop).unwrap_or(forth.destination),
                    |(port, _)| headers::of_node(plan, network.ports[port.index()].node),
                );
                (from, forth.source)
            }
            // From one end of the line to the other.
            SignalPath::Back { .. } => {
                let port = &network.ports[port.index()];
                (headers::of_node(plan, port.node), headers::of_node(plan, port.peer))
            }
        };
        Route { source, destination, ..forth }
    }

    fn about(&self, flow: FlowId, path: SignalPath, points: CodePoints, port: PortId) -> About {
        let (number, facts) = (headers::number(flow), self.flows.of(flow));
        About {
            route: self.route(flow, path, points, port),
            flow: facts.controlled.then_some(number),
            pair: number,
            port: headers::port(flow),
            encapsulated_source: facts.source.mac,
            encapsulated_priority: headers::code_points(self.plan, Some(facts.priority)).pcp,
            encapsulated_destination: facts.destination,
        }
    }

    fn transport(&self, flow: FlowId) -> Option<&'p Transport> {
        self.flows.of(flow).transport
    }

    /// Whether a scheme limits the flow.
    fn is_controlled(&self, flow: FlowId) -> bool {
        self.flows.of(flow).controlled
    }

    /// Whether the flow's destinations acknowledge its frames to the scheme.
    fn is_acknowledged(&self, flow: FlowId) -> bool {
        let priority = self.flows.of(flow).priority;
        let class = self.plan.network.priorities.iter().position(|&own| own == priority);
        class.is_some_and(|class| self.acknowledged[class])
    }

    /// The sequence number of a flow without transport after `octets` octets of its frames. Headers do not count.
    fn tcp_number(&self, flow: FlowId, octets: Octets) -> u32 {
        let frame = usize::from(self.flows.of(flow).frame);
        let data = |octets: usize| transports::tcp_room(octets.saturating_sub(FCS)) as u64;
        let (frames, rest) = (octets.0 / frame as u64, (octets.0 % frame as u64) as usize);
        (frames * data(frame) + data(rest)) as u32
    }
}

/// An acknowledgement to a scheme.
fn scheme_ack(ack: u32, ece: bool) -> Ack {
    Ack { ack, window: u32::MAX, sack: Default::default(), ece, nak: false, cut: None }
}

/// The codepoint of a frame: a mark of its transport, or of its scheme.
fn code_point(mark: Ecn, label: Label) -> u8 {
    match (mark, label) {
        (Ecn::Experienced, _) | (_, Label::Ecn(true) | Label::Roce(true) | Label::Roce6(true)) => ecn::CE,
        (Ecn::Capable, _) | (_, Label::Ecn(false) | Label::Roce(false) | Label::Roce6(false)) => ecn::ECT_0,
        (Ecn::Incapable, _) => ecn::NOT_ECT,
    }
}
