//! A network interface without input or output: frames of applications in, frames of the wire out, and back.
//!
//! It is the edge of the congestion notification domain. It classifies the host's frames into the scenario's flows by protocol and
//! port, and the scheme's reaction points release them. It adds priority, CN-TAG and the scheme's tag to sent frames and removes
//! them from received ones. Signals reach reaction points only, never an application; signals and tags of the host are refused.

use std::collections::VecDeque;

use penstock_endpoint::{DestinationId, FlowId, FlowSpec, LimiterId, Nic, Outgoing, Pacer, TrafficClass};
use penstock_scenario::Plan;
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, Class, Duration, FlowKey, Frame, Instant, Octets, Scheme, Signal, To};
use penstock_sim::network::{Network, NodeId, Transmit};
use penstock_sim::random::{Owner, Stream};
use penstock_wire::ethernet::ether_type;
use penstock_wire::{MacAddress, ipv4};

use crate::addressing::{FIRST_PORT, control_priority, flow_ports, is_reserved, ports_of, station};
use crate::agenda::Departure;
use crate::frame::{Header, Segment, length, ports, put_tags, segment, take_tags};
use crate::host_queue::HostQueue;
use crate::pause::{self, Stops, pause_time};
use crate::progress::{FlowCounts, Progress};
use crate::scheme_frames::{Addressing, OnWire};

/// Frames that an application may have waiting, where the scenario does not say: 64 of the longest.
const FRAMES_WAITING: u64 = 64;

/// Signals that are kept for the record until the next sample; those beyond act, and are counted alone.
const MOST_SEEN: usize = 4096;

/// The most frames that an interface sends at once to catch up after a late wake-up. Its clock drops the time beyond that.
pub const CREDIT_FRAMES: u64 = 4;

/// Counts of an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Frames of the host that are none, or that a host must not send: tags, signals, MAC control, and all else for addresses
    /// that no bridge forwards.
    pub refused_from_host: u64,
    /// Frames of the wire for other stations.
    pub not_ours: u64,
    /// Frames of the wire for addresses that no bridge forwards, unless they are PFC frames where there is flow control.
    pub control_refused: u64,
    /// Signals for a flow that is not of this host.
    pub signals_refused: u64,
    /// Frames that a switch has cut down to their headers: the host does not get them.
    pub trimmed: u64,
    /// Pause frames that came, and that it has obeyed.
    pub pauses: u64,
    /// Signals that have acted, and of which there is no record: too many came at once.
    pub signals_unrecorded: u64,
    /// Virtual time that was given up since the process was woken too late, ps.
    pub given_up_ps: u64,
}

/// A signal that a reaction point has acted on.
#[derive(Debug, Clone, Copy)]
pub struct Seen<S: Scheme> {
    /// When.
    pub at: Instant,
    /// Its flow.
    pub flow: usize,
    /// The signal.
    pub signal: S::Signal,
    /// The rate allowed after it, bit/s.
    pub rate: u64,
}

/// Facts about a flow.
#[derive(Debug, Clone, Copy)]
struct Facts {
    source: NodeId,
    destination: NodeId,
    priority: u8,
    class: usize,
    /// The protocol that carries it.
    protocol: u8,
    /// Priority of its acknowledgements; `None` for control frames.
    acks: Option<u8>,
    /// Its frames carry a CN-TAG.
    tagged: bool,
}

/// A network interface.
#[derive(Debug)]
pub struct Interface<S: OnWire> {
    own: NodeId,
    station: MacAddress,
    stations: Vec<MacAddress>,
    nic: Nic<S, HostQueue, Stream>,
    /// Under the scenario's indices, as are the flows of `nic`; those that end elsewhere never start.
    flows: Vec<Facts>,
    limiters: Vec<LimiterId>,
    destinations: Vec<Option<DestinationId>>,
    counts: Vec<FlowCounts>,
    priorities: Vec<u8>,
    control: u8,
    overhead: u64,
    latency: Duration,
    line: u64,
    credit: Duration,
    /// How far its clock is behind that of the network.
    behind: Duration,
    /// The latest time on its own clock.
    local: Instant,
    own_counts: Counts,
    seen: VecDeque<Seen<S>>,
    outbox: VecDeque<Departure>,
    progress: Progress,
    stops: Stops,
    /// Octets put on the line, overhead included, the transmission in progress counted whole, and its end.
    line_octets: u64,
    line_until: Instant,
}

impl<S: OnWire> Interface<S> {
    /// The interface of host `node` of a plan, with the scheme's parameters for each priority.
    ///
    /// # Panics
    /// If the node has no port, or the scheme acknowledges frames: then it has no form on the wire.
    #[must_use]
    pub fn new(plan: &Plan, node: NodeId, configs: &[S::Config]) -> Self {
        const {
            let silent = size_of::<Option<S::Echo>>() == 0;
            assert!(silent || !S::INFO.forms.testbed, "acknowledgements of schemes have no form on the wire")
        };
        let network = &plan.network;
        let spec = &network.ports[ports_of(network, node)[0].index()];
        let mut nic = Nic::new(spec.rate, network.wire_overhead);
        let facts = facts::<S>(plan);
        let limiters = add_flows(&mut nic, plan, node, configs, &facts);
        let destinations = facts.iter().enumerate().map(|(i, flow)| {
            let stream = Stream::new(plan.seed, Owner::NotificationPoint, i);
            let class = TrafficClass(flow.class as u8);
            let ends_here = flow.destination == node && flow.tagged;
            ends_here.then(|| nic.add_destination(&configs[flow.class], FlowKey(i as u32), class, stream))
        });
        let destinations = destinations.collect();
        let longest = network.flows.iter().map(|flow| u64::from(flow.frame)).max().unwrap_or_default();
        let frame = spec.rate.serialisation(longest + u64::from(network.wire_overhead)).0;
        Self {
            own: node,
            station: station(network, node),
            stations: (0..network.nodes.len() as u32).map(|i| station(network, NodeId(i))).collect(),
            nic,
            counts: vec![FlowCounts::default(); facts.len()],
            flows: facts,
            limiters,
            destinations,
            priorities: network.priorities.clone(),
            control: control_priority(network).expect("a network whose data has all priorities is refused"),
            overhead: u64::from(network.wire_overhead),
            latency: spec.latency,
            line: spec.rate.0,
            credit: Duration(frame.0 * CREDIT_FRAMES),
            behind: Duration::ZERO,
            local: Instant::ZERO,
            own_counts: Counts::default(),
            seen: VecDeque::new(),
            outbox: VecDeque::new(),
            progress: Progress::new(plan),
            stops: Stops::new(network, ports_of(network, node)[0]),
            line_octets: 0,
            line_until: Instant::ZERO,
        }
    }

    /// The flows whose source is here.
    pub fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.flows.len()).filter(|&flow| self.flows[flow].source == self.own)
    }

    /// The flows whose destination is here.
    pub fn sinks(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.flows.len()).filter(|&flow| self.flows[flow].destination == self.own)
    }

    /// The counts of a flow.
    #[must_use]
    pub fn flow(&self, flow: usize) -> FlowCounts {
        let queue = self.nic.sources().flow(FlowId(flow as u32)).supply();
        FlowCounts { offered: queue.offered, discarded: queue.discarded, ..self.counts[flow] }
    }

    /// Its own counts.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { given_up_ps: self.behind.0, ..self.own_counts }
    }

    /// The rate that a flow may send at, bit/s; 0 while it is not active.
    #[must_use]
    pub fn allowed(&self, flow: usize) -> u64 {
        let sources = self.nic.sources();
        let active = sources.flow(FlowId(flow as u32)).active();
        if active { sources.limiter(self.limiters[flow]).rate().0.min(self.line) } else { 0 }
    }

    /// The reaction point of a flow.
    #[must_use]
    pub fn reaction_point(&self, flow: usize) -> Option<&S::Rp> {
        self.nic.sources().limiter(self.limiters[flow]).reaction_point()
    }

    /// Bits put on the line up to `now`, and bits that it could have carried.
    #[must_use]
    pub fn line_bits(&self, now: Instant) -> (u64, u128) {
        let bits = |time: Duration| u128::from(time.0) * u128::from(self.line) / u128::from(PS_PER_S);
        let unsent = bits(self.line_until.since(now)) as u64;
        ((self.line_octets * 8).saturating_sub(unsent), bits(now.since(Instant::ZERO)))
    }

    /// Frames of the switch that have let a class go on.
    #[must_use]
    pub fn resumes(&self, class: usize) -> u64 {
        self.stops.resumes(class)
    }

    /// How often the switch has stopped a class.
    #[must_use]
    pub fn times_stopped(&self, class: usize) -> u64 {
        self.stops.times(class)
    }

    /// How long the switch has stopped a class until `now`, and by how many frames.
    #[must_use]
    pub fn paused(&self, class: usize, now: Instant) -> (Duration, u64) {
        self.stops.paused(class, now)
    }

    /// Installed rate limiters.
    #[must_use]
    pub fn limiting(&self) -> u32 {
        self.nic.sources().limiters().iter().filter(|limiter| limiter.limiting()).count() as u32
    }

    /// When something happens by itself, on the network's clock.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        let own = self.nic.next_timeout().map_or(Instant::NEVER, |at| at.after(self.behind));
        own.min(self.stops.next_event())
    }

    /// Lets everything happen that is due up to `now`. If it comes too late, its clock stays behind from then on: frames that
    /// were not sent in time are not sent in a burst.
    pub fn advance(&mut self, now: Instant) {
        if let Some(due) = self.nic.next_timeout() {
            let due = due.after(self.behind);
            let late = Duration(now.0.saturating_sub(due.0));
            if late > self.credit {
                self.behind = self.behind + (late - self.credit);
            }
        }
        while self.stops.next_event() <= now {
            let at = self.stops.next_event();
            self.transmit(at);
            self.obey(at);
        }
        self.transmit(now);
    }

    /// Pauses and resumes classes as the switch's pause frames say.
    fn obey(&mut self, now: Instant) {
        let local = self.localise(now);
        while let Some((class, stopped)) = self.stops.due(now) {
            let class = TrafficClass(class as u8);
            if stopped { self.nic.pause(local, class) } else { self.nic.resume(local, class) }
        }
    }

    /// Lets the frames leave that are due up to `now`.
    fn transmit(&mut self, now: Instant) {
        let local = self.localise(now);
        while let Some(sent) = self.nic.poll_transmit(local) {
            let end = sent.end.after(self.behind);
            let due = end.after(self.latency);
            self.line_octets += u64::from(sent.octets) + self.overhead;
            self.line_until = end;
            if let Some(octets) = self.octets(local, sent.frame) {
                self.outbox.push_back(Departure { due, octets });
            }
        }
    }

    /// The next frame for the wire.
    pub fn poll_departure(&mut self) -> Option<Departure> {
        self.outbox.pop_front()
    }

    /// The next signal that a reaction point has acted on.
    pub fn poll_seen(&mut self) -> Option<Seen<S>> {
        self.seen.pop_front()
    }

    /// A flow of this host starts.
    pub fn start(&mut self, now: Instant, flow: usize) {
        let local = self.localise(now);
        self.nic.start(local, FlowId(flow as u32));
    }

    /// A flow of this host stops.
    pub fn stop(&mut self, now: Instant, flow: usize) {
        let local = self.localise(now);
        self.nic.stop(local, FlowId(flow as u32));
    }

    /// The host sends a frame.
    pub fn from_host(&mut self, now: Instant, mut frame: Vec<u8>) {
        self.advance(now);
        let Some(header) = Header::read(&frame).filter(may_send) else {
            self.own_counts.refused_from_host += 1;
            return;
        };
        let (flow, priority, number) = self.classify(&frame, &header);
        put_tags(&mut frame, priority, number);
        let local = self.localise(now);
        self.nic.write(local, flow, |queue| queue.push(frame));
        self.advance(now);
    }

    /// A frame comes by the wire. Gives what the host is to get.
    pub fn from_wire(&mut self, now: Instant, mut frame: Vec<u8>) -> Option<Vec<u8>> {
        self.advance(now);
        let header = Header::read(&frame)?;
        if is_reserved(header.destination) {
            match pause::times(&frame, &header).filter(|_| self.stops.obeys()) {
                Some(times) => self.pause(now, times),
                None => self.own_counts.control_refused += 1,
            }
            return None;
        }
        if header.destination != self.station && !header.destination.is_group() {
            self.own_counts.not_ours += 1;
            return None;
        }
        if let Some((flow, signal)) = S::parse(&frame) {
            self.signal(now, usize::from(flow), signal);
            return None;
        }
        if is_cut(&frame, &header) {
            self.own_counts.trimmed += 1;
            return None;
        }
        self.count(now, &frame, &header);
        S::take(&mut frame);
        take_tags(&mut frame, &header);
        Some(frame)
    }

    /// Its own clock, which never goes back.
    fn localise(&mut self, now: Instant) -> Instant {
        let local = Instant(now.0.saturating_sub(self.behind.0));
        self.local = self.local.max(local);
        self.local
    }

    /// The queue of a frame, its priority, and the number of its flow for a CN-TAG.
    fn classify(&self, frame: &[u8], header: &Header) -> (FlowId, u8, Option<u16>) {
        let other = self.flows.len() as u32;
        let Some((protocol, from, to)) = ports(frame, header) else { return (FlowId(other), self.control, None) };
        let numbered = |port: u16| Some(usize::from(port.checked_sub(FIRST_PORT)?)).filter(|&n| n < self.flows.len());
        if let Some(flow) = numbered(to)
            && self.flows[flow].source == self.own
            && self.flows[flow].protocol == protocol
        {
            let facts = &self.flows[flow];
            return (FlowId(flow as u32), facts.priority, facts.tagged.then_some(flow as u16));
        }
        if let Some(flow) = numbered(from)
            && self.flows[flow].destination == self.own
            && self.flows[flow].protocol == protocol
            && let Some(priority) = self.flows[flow].acks
            && let Some(class) = self.priorities.iter().position(|&p| p == priority)
        {
            return (FlowId(other + 1 + class as u32), priority, None);
        }
        (FlowId(other), self.control, None)
    }

    /// A signal has come.
    fn signal(&mut self, now: Instant, flow: usize, signal: S::Signal) {
        let local = self.localise(now);
        let ends = self.flows.get(flow).map(|facts| (facts.source, facts.destination));
        match ends {
            Some((source, _)) if source == self.own && self.flows[flow].tagged => {
                self.nic.on_signal(local, FlowId(flow as u32), signal);
                self.counts[flow].signals += 1;
                let rate = self.nic.sources().limiter(self.limiters[flow]).rate().0;
                if self.seen.len() < MOST_SEEN {
                    self.seen.push_back(Seen { at: now, flow, signal, rate });
                } else {
                    self.own_counts.signals_unrecorded += 1;
                }
            }
            Some((_, destination)) if destination == self.own => {
                if let Some(to) = self.destinations[flow] {
                    self.nic.on_probe(local, to, signal);
                }
            }
            _ => self.own_counts.signals_refused += 1,
        }
        self.advance(now);
    }

    /// A data frame has come: it counts for its flow, and the flow's notification point sees it.
    fn count(&mut self, now: Instant, frame: &[u8], header: &Header) {
        let octets = length(frame.len());
        let Some((protocol, _, to)) = flow_ports::<S>(frame, header) else { return };
        let Some(flow) = to.checked_sub(FIRST_PORT).map(usize::from).filter(|&n| n < self.flows.len()) else { return };
        let facts = self.flows[flow];
        if facts.destination != self.own || facts.protocol != protocol {
            return;
        }
        self.counts[flow].delivered += 1;
        self.counts[flow].delivered_octets += u64::from(octets) + self.overhead;
        match segment_behind::<S>(frame, header) {
            Some(segment) => self.progress.segment(now, flow, segment, &mut self.counts[flow]),
            None => self.progress.frame(now, flow, octets, &mut self.counts[flow]),
        }
        let (Some(to), Some(number)) = (self.destinations[flow], header.flow) else { return };
        let mut tag = S::tag(frame);
        let local = self.localise(now);
        let frame = Frame {
            flow: FlowKey(u32::from(number)),
            octets,
            weight: 1,
            seq: Octets(0),
            last: false,
            trimmed: false,
            sent_at: local,
            tag: &mut tag,
        };
        self.nic.on_frame(local, to, frame, octets);
        self.advance(now);
    }

    /// The octets of a frame that leaves.
    fn octets(&mut self, local: Instant, frame: Outgoing<S>) -> Option<Vec<u8>> {
        match frame {
            Outgoing::Data(sent) => {
                let mut octets = None;
                self.nic.write(local, sent.flow, |queue| octets = queue.released.pop_front());
                let mut octets = octets?;
                if let Some(counts) = self.counts.get_mut(sent.flow.index()) {
                    counts.sent += 1;
                    counts.sent_octets += u64::from(sent.release.octets) + self.overhead;
                    if self.flows[sent.flow.index()].tagged {
                        S::put(sent.tag, sent.flow.0 as u16, &mut octets);
                    }
                }
                Some(octets)
            }
            Outgoing::Signal { to, class, signal } => {
                let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow)) | To::PreviousHop(FlowKey(flow))) = to;
                let facts = self.flows.get(flow as usize)?;
                let node = if matches!(to, To::Destination(_)) { facts.destination } else { facts.source };
                self.counts[flow as usize].probes += u64::from(matches!(to, To::Destination(_)));
                let priority = if class == Class::Data { facts.priority } else { self.control };
                let destination = self.stations[node.index()];
                let way = Addressing { destination, source: self.station, priority, flow: flow as u16, sampled: &[] };
                Some(S::emit(signal, &way))
            }
            // Nothing is acknowledged: `new` has made sure.
            Outgoing::Acknowledgement { .. } => None,
        }
    }

    /// A PFC frame stops classes, or lets them go on.
    fn pause(&mut self, now: Instant, times: [Option<u16>; 8]) {
        self.own_counts.pauses += 1;
        for (priority, quanta) in times.into_iter().enumerate() {
            let class = self.priorities.iter().position(|&p| usize::from(p) == priority);
            if let (Some(class), Some(quanta)) = (class, quanta) {
                self.stops.tell(now, class, pause_time(quanta, BitRate(self.line)));
            }
        }
        self.advance(now);
    }
}

/// Whether an IPv4 packet says that it is longer than it is: a switch has cut it.
fn is_cut(frame: &[u8], header: &Header) -> bool {
    let Some(&[_, _, high, low, ..]) = frame.get(header.data..) else { return false };
    header.ether_type == ether_type::IPV4 && usize::from(u16::from_be_bytes([high, low])) > frame.len() - header.data
}

/// The TCP segment of a frame of the wire, likewise.
fn segment_behind<S: OnWire>(frame: &[u8], header: &Header) -> Option<Segment> {
    if !S::MARKS {
        return segment(frame, header);
    }
    let mut plain = frame.to_vec();
    S::take(&mut plain);
    segment(&plain, &Header::read(&plain)?)
}

/// Whether a host may send a frame: tags, notifications and MAC control are the interface's own business. The address is
/// looked at as well as the EtherType: a switch tells MAC control by both, and others may by one.
fn may_send(header: &Header) -> bool {
    const OWN: [u16; 5] =
        [ether_type::CN_TAG, ether_type::CNM, ether_type::MAC_CONTROL, ether_type::SMCC, ether_type::EXPERIMENTAL];
    header.tags() == 0 && !OWN.contains(&header.ether_type) && !is_reserved(header.destination)
}

fn facts<S: OnWire>(plan: &Plan) -> Vec<Facts> {
    let network = &plan.network;
    let class = |priority: u8| network.priorities.iter().position(|&p| p == priority).unwrap_or_default();
    let facts = |(flow, ends): (&penstock_sim::network::Flow, &(usize, Vec<usize>))| Facts {
        source: NodeId(ends.0 as u32),
        destination: NodeId(ends.1[0] as u32),
        priority: flow.priority,
        class: class(flow.priority),
        protocol: if flow.transport.is_some() { ipv4::protocol::TCP } else { ipv4::protocol::UDP },
        acks: flow.transport.as_ref().and_then(|carriage| carriage.acks),
        tagged: flow.reaction_point.is_some() && S::TAGGED,
    };
    network.flows.iter().zip(&plan.flow_ends).map(facts).collect()
}

/// Octets of frames that a flow may have waiting.
fn most_waiting(network: &Network, flow: &penstock_sim::network::Flow) -> u64 {
    use penstock_sim::network::Excess;
    match (network.transmit, flow.excess, &flow.transport) {
        (Transmit::Wait(octets) | Transmit::Drop(octets), _, Some(_)) => octets.0,
        (_, Excess::Queue(octets), None) => octets.0,
        // One waits for its turn.
        (_, Excess::Discard, None) => u64::from(flow.frame),
        _ => FRAMES_WAITING * u64::from(flow.frame),
    }
}

/// Adds the flows of a plan, and those for all other frames of the host: control first, then acknowledgements by priority.
fn add_flows<S: OnWire>(
    nic: &mut Nic<S, HostQueue, Stream>,
    plan: &Plan,
    node: NodeId,
    configs: &[S::Config],
    facts: &[Facts],
) -> Vec<LimiterId> {
    let network = &plan.network;
    let stream = |index: usize| Stream::new(plan.seed, Owner::ReactionPoint, index);
    let others = nic.add_uncontrolled(Pacer::Ideal, stream(usize::from(u16::MAX)));
    let mut shared: Vec<Option<LimiterId>> = vec![None; network.reaction_points.len()];
    let mut limiters = Vec::new();
    for (flow, own) in network.flows.iter().zip(facts) {
        let limiter = match flow.reaction_point {
            _ if own.source != node => others,
            Some(rp) => *shared[rp.index()].get_or_insert_with(|| {
                let spec = &network.reaction_points[rp.index()];
                let config = &configs[network.configuration(TrafficClass(own.class as u8), spec.port)];
                nic.add_limiter(config, spec.pacer, stream(rp.index()))
            }),
            None => nic.add_uncontrolled(Pacer::Ideal, stream(usize::from(u16::MAX))),
        };
        let spec = FlowSpec { class: TrafficClass(own.class as u8), frame: flow.frame, destinations: 1 };
        nic.add_flow(limiter, spec, HostQueue::new(most_waiting(network, flow)));
        limiters.push(limiter);
    }
    let longest = network.flows.iter().map(|flow| flow.frame).max().unwrap_or(1522);
    let most = FRAMES_WAITING * u64::from(longest);
    let classes = std::iter::once(network.priorities.len()).chain(0..network.priorities.len());
    for class in classes {
        let limiter = nic.add_uncontrolled(Pacer::Ideal, stream(usize::from(u16::MAX)));
        let spec = FlowSpec { class: TrafficClass(class as u8), frame: longest, destinations: 1 };
        let flow = nic.add_flow(limiter, spec, HostQueue::new(most));
        nic.start(Instant::ZERO, flow);
    }
    limiters
}

/// Octets of a signal's own variables.
#[must_use]
pub fn variables<S: Scheme>(signal: &S::Signal) -> Vec<i64> {
    let mut row = vec![0; <S::Signal as Signal>::VARS.len()];
    signal.vars(&mut row);
    row
}
