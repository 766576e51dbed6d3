//! The start of a run: the sources and destinations of a network, and an event queue that suits it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use penstock_endpoint::{Destination, DestinationId, FlowSpec, LimiterId, LimiterSpec, TrafficClass};
use penstock_schemes::{Duration, HEADER, Instant, ReactionPoint, Scheme};
use penstock_switch::Model;
use penstock_switch::events::Lane;

use crate::engine::{convergence, interfaces};
use crate::hosts::Sources;
use crate::hosts::entropy::Values;
use crate::hosts::generator::{Generator, Source};
use crate::hosts::transport::{Connection, Transports};
use crate::network::{
    Capacity, Flow, FlowId, Hop, HopId, Limiting, Network, NodeKind, Pacer, Port, PortId, RpId, Ties, Traffic,
};
use crate::random::{Owner, Stream};
use crate::state::Fabric;
use crate::state::event::{ChangeId, Event};
use crate::state::event_queue::{EventQueue, NO_LANE, RELEASES};
use crate::state::hops::{
    ACK_LEAF, BRANCH, CHOICE, HopEnd, LEAF, LOST, RECEIVE_BUFFER, SEGMENT_LEAF, Step, TURN, hop_info,
};
use crate::state::records::FlowRecord;

/// The sources and destinations of a network, flow by flow.
pub(crate) struct Endpoints<'n, S: Scheme> {
    network: &'n Network,
    configs: &'n [S::Config],
    seed: u64,
    pub(crate) sources: Sources<S>,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) transports: Transports,
    pub(crate) destinations: Vec<Destination<S, Stream>>,
    pub(crate) leaves: Vec<HopId>,
    pub(crate) end_of_hop: Vec<HopEnd>,
    /// How many reaction points there are in all, those of flows that come and go counted.
    reaction_points: u32,
}

impl<'n, S: Scheme> Endpoints<'n, S> {
    /// The limiters with reaction points; flows are added in order.
    pub(crate) fn new(network: &'n Network, configs: &'n [S::Config], seed: u64) -> Self {
        let by_entropy = network.goes_by_entropy();
        let mut endpoints = Self {
            network,
            configs,
            seed,
            sources: Sources::new(network.ports.len(), network.wire_overhead),
            records: Vec::with_capacity(network.flows.len()),
            transports: Transports::new(network.transmit, by_entropy, network.entropy_profile().cloned()),
            destinations: Vec::new(),
            leaves: Vec::new(),
            end_of_hop: vec![HopEnd::NONE; network.hops.len() + 1],
            reaction_points: network.reaction_points.len() as u32 + own_reaction_points(network),
        };
        endpoints.sources.set_levels(network.levels.clone());
        let round_trips = endpoints.round_trips();
        let classes = classes_of_reaction_points(network);
        for ((spec, class), round_trip) in network.reaction_points.iter().zip(classes).zip(round_trips) {
            let number = endpoints.sources.limiters().len() as u32;
            let config = Some(&configs[network.configuration(class, spec.port)]);
            let limiter = endpoints.limiter(number, spec.port, spec.pacer, config).with_round_trip(round_trip);
            endpoints.add_limiter(number, limiter);
        }
        endpoints
    }

    /// The longest round trip of the flows of each reaction point, where the scheme goes by it and all of its flows are known.
    fn round_trips(&self) -> Vec<Option<Duration>> {
        let network = self.network;
        let mut longest = vec![None; network.reaction_points.len()];
        if !S::Rp::LEARNS_ROUND_TRIP {
            return longest;
        }
        for (id, flow) in (0..).map(FlowId).zip(&network.flows) {
            if let Some(RpId(rp)) = flow.reaction_point {
                let own = network.round_trip(id, HEADER + S::echo_octets(self.config(flow.priority)));
                longest[rp as usize] = own.max(longest[rp as usize]);
            }
        }
        let to_come = network.processes.sharing.iter().zip(&mut longest).filter(|(sharing, _)| sharing.flows > 0);
        to_come.for_each(|(_, longest)| *longest = None);
        longest
    }

    /// The scheme's parameters for a priority, but for those that follow a line.
    fn config(&self, priority: u8) -> &'n S::Config {
        &self.configs[self.network.class(priority).index()]
    }

    /// A limiter under its own number.
    fn limiter(&self, number: u32, port: PortId, pacer: Pacer, config: Option<&S::Config>) -> LimiterSpec<S, Stream> {
        let draw = Stream::new(self.seed, Owner::ReactionPoint, number as usize);
        LimiterSpec::new(port, self.network.ports[port.index()].rate, pacer, config, draw)
    }

    fn add_limiter(&mut self, number: u32, spec: LimiterSpec<S, Stream>) -> LimiterId {
        let by_turns = self.network.ports[spec.port.index()].capacity == Capacity::Arbiter;
        self.sources.add_numbered_limiter(number, spec, by_turns)
    }

    /// Adds flow `id`, with its own limiter if nothing controls it, and its destinations.
    pub(crate) fn add_flow(&mut self, id: FlowId, flow: &Flow) {
        let (network, class) = (self.network, self.network.class(flow.priority));
        let first = DestinationId(self.destinations.len() as u32);
        for leaf in network.last_hops(id) {
            let draw = Stream::new(self.seed, Owner::NotificationPoint, self.destinations.len());
            self.end_of_hop[leaf.index()] =
                HopEnd { destination: DestinationId(self.destinations.len() as u32), flow: id };
            let number = self.destinations.len() as u32;
            let config = &self.configs[network.configuration(class, network.hops[leaf.index()].port)];
            self.destinations.push(Destination::new(config, id.key(), number, draw));
            self.leaves.push(leaf);
        }
        if network.is_multipath(id) {
            self.join_paths(id, first);
        }
        let destinations = self.destinations.len() as u32 - first.0;
        let limiter = match flow.reaction_point {
            Some(RpId(rp)) => LimiterId(rp),
            None => {
                // Behind all reaction points.
                let uncontrolled = self.sources.limiters().len() - network.reaction_points.len();
                let number = self.reaction_points + uncontrolled as u32;
                let port = network.hops[flow.root.index()].port;
                self.add_limiter(number, self.limiter(number, port, Pacer::Ideal, None))
            }
        };
        let (source, frames) = source(flow, network.wire_overhead, self.seed, id, &self.transports);
        self.records.push(FlowRecord::new(first, destinations, flow.size.is_some(), frames));
        let spec = FlowSpec { class, frame: flow.frame, destinations };
        let acks = |priority: Option<u8>| priority.map_or(network.control_class(), |priority| network.class(priority));
        self.transports.receive(id, flow, acks);
        self.sources.add_flow(limiter, spec, source);
    }
}

impl<S: Scheme> Endpoints<'_, S> {
    /// All paths of a flow lead to its one destination.
    fn join_paths(&mut self, id: FlowId, destination: DestinationId) {
        let network = self.network;
        for leaf in network.route(id).filter(|hop| network.hops[hop.index()].children == 0) {
            self.end_of_hop[leaf.index()] = HopEnd { destination, flow: id };
        }
        if network.load_balancing.as_ref().is_some_and(|spread| spread.by.disorders()) {
            self.destinations[destination.index()].expect_disorder();
        }
    }
}

/// The class of each of the network's reaction points: the flows of one share a priority.
pub(crate) fn classes_of_reaction_points(network: &Network) -> Vec<TrafficClass> {
    let mut classes = vec![TrafficClass(0); network.reaction_points.len()];
    for flow in &network.flows {
        if let Some(RpId(rp)) = flow.reaction_point {
            classes[rp as usize] = network.class(flow.priority);
        }
    }
    for (class, sharing) in classes.iter_mut().zip(&network.processes.sharing) {
        if sharing.flows > 0 {
            *class = network.class(sharing.priority);
        }
    }
    classes
}

/// The data of flow `number`, and the frames whose delivery completes it, if their number does.
pub(crate) fn source(
    flow: &Flow,
    overhead: u16,
    seed: u64,
    number: FlowId,
    transports: &Transports,
) -> (Source, Option<u64>) {
    let generator = Generator::new(flow, overhead, seed, number);
    let frames = generator.frames().filter(|_| flow.transport.is_none());
    let connection = flow
        .transport
        .as_ref()
        .map(|carriage| Box::new(Connection::new(&carriage.transport, flow.size, transports.transmit.exist())));
    let connection = connection.map(|mut own| {
        let words = || Stream::new(seed, Owner::Entropy, number.index());
        own.values = transports.by_entropy.then(|| Box::new(Values::new(transports.profile.as_ref(), words())));
        own
    });
    (Source { generator, root: flow.root, connection }, frames)
}

/// Number of reaction points that single flows of processes have.
fn own_reaction_points(network: &Network) -> u32 {
    let own = network.processes.list.iter().filter(|process| matches!(process.limiting, Limiting::Own(_)));
    own.map(|process| process.flows).sum()
}

/// A queue whose spans suit the network: how far ahead deliveries and releases are, and how many events come.
pub(crate) fn event_queue_for(network: &Network) -> EventQueue {
    let largest = network.largest_frame().unwrap_or(1500);
    let octets = u64::from(largest) + u64::from(network.wire_overhead);
    let ahead = network.ports.iter().map(|p| p.rate.serialisation(octets).0 + p.latency);
    let reach = ahead.max().unwrap_or(Duration::ZERO);
    let per_second = network.flows.iter().enumerate().map(|(index, flow)| {
        let line = network.ports[network.hops[flow.root.index()].port.index()].rate.0;
        let rate = match flow.traffic {
            Traffic::Constant(rate) | Traffic::Poisson(rate) | Traffic::OnOff { rate, .. } => rate.0.min(line),
            Traffic::Greedy => line,
        };
        let hops = network.route(FlowId(index as u32)).count() as f64;
        rate as f64 / (8.0 * octets as f64) * (hops + 1.0)
    });
    debug_assert!(network.nodes.iter().any(|n| n.kind == NodeKind::Host) || network.flows.is_empty());
    // Flows that come and go are many: as many events as the queue is made for.
    let per_second = if network.processes.list.is_empty() { per_second.sum() } else { f64::INFINITY };
    EventQueue::new(reach, per_second)
}

/// All ports of a network at the start.
pub(crate) fn fabric<S: Scheme, M: Model>(network: &Network, configs: &[S::Config], seed: u64) -> Fabric<S, M> {
    let events = event_queue_for(network);
    let mut fabric = Fabric::new(&network.switches(), hop_info(network), configs, seed, events);
    for (port, lane) in fabric.ports.iter_mut().zip(lanes(network)) {
        port.lane = lane;
    }
    fabric
}

/// The lane of each port's deliveries. The kinds of lines that carry most get one each: rate, latency, and whether a host
/// sends on them. Of two that carry the same, that of hosts goes first. A switch's port with a backlog learns late that its
/// next frame has started, when hosts' ports have made later deliveries already, so that the two do not go well together.
fn lanes(network: &Network) -> Vec<Lane> {
    let kind_of = |port: &Port| (port.rate, port.latency, network.nodes[port.node.index()].kind == NodeKind::Host);
    let mut kinds = BTreeMap::new();
    for port in &network.ports {
        *kinds.entry(kind_of(port)).or_insert(0) += u128::from(port.rate.0);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&((_, _, host), rate)| Reverse((rate, host)));
    let common = &kinds[..kinds.len().min(usize::from(RELEASES))];
    let lane = |port| common.iter().position(|&(kind, _)| kind == kind_of(port)).map_or(NO_LANE, |lane| lane as Lane);
    network.ports.iter().map(lane).collect()
}

/// Schedules what a network says of the course of the run: starts and stops of those flows that are `own`, changes of ports, and the
/// first sample of a probe that takes any.
pub(crate) fn schedule(network: &Network, sampled: bool, own: &dyn Fn(FlowId) -> bool, events: &mut EventQueue) {
    for (id, flow) in (0..).map(FlowId).zip(&network.flows).filter(|&(id, _)| own(id)) {
        if flow.start != Instant::NEVER {
            events.schedule(flow.start, Event::Start(id));
        }
        if let Some(stop) = flow.stop {
            events.schedule(stop, Event::Stop(id));
        }
    }
    for (id, change) in (0..).map(ChangeId).zip(&network.changes) {
        events.schedule(change.at, Event::Change(id));
    }
    for (id, edge) in (0..).map(ChangeId).zip(interfaces::edges(network)) {
        events.schedule(edge.at, Event::Storm(id));
    }
    for (at, first) in convergence::instants(network) {
        events.schedule(at, Event::Converge(first));
    }
    if sampled {
        events.schedule(Instant::ZERO, Event::Sample);
    }
}

/// The path of a frame from each hop, and behind them that of frames that a broken link has lost.
pub(crate) fn steps(network: &Network) -> Vec<Step> {
    let turns = network.ties != Ties::Number;
    let step = |hop: &Hop| Step {
        port: hop.port,
        next: match hop.children {
            0 => LEAF,
            1 if turns => TURN,
            1 => hop.first_child,
            _ => BRANCH,
        },
        to: if hop.children == 1 { network.hops[hop.first_child.index()].port } else { PortId::NONE },
    };
    let lost = Step { port: PortId(0), next: LOST, to: PortId::NONE };
    let mut steps: Vec<Step> = network.hops.iter().map(step).chain([lost]).collect();
    for hop in network.load_balancing.iter().flat_map(|spread| &spread.hops) {
        steps[hop.index()].next = if turns { TURN } else { CHOICE };
    }
    let first =
        network.flows.iter().map(|flow| (flow.root, flow.transport.as_ref().map(|carriage| carriage.reverse_path)));
    for (root, reverse_path) in first.chain(network.reroutes.iter().map(|later| (later.root, later.reverse_path))) {
        let Some(reverse_path) = reverse_path else { continue };
        let leaves = network.route_from(root).filter(|hop| network.hops[hop.index()].children == 0);
        leaves.for_each(|leaf| steps[leaf.index()].next = SEGMENT_LEAF);
        steps[network.last_hop(reverse_path).index()].next = ACK_LEAF;
    }
    for &(_, first) in &network.reverse_paths {
        steps[network.last_hop(first).index()].next = ACK_LEAF;
    }
    for receiver in &network.receivers {
        let at_host = |step: &&mut Step| step.port == receiver.link.0 && matches!(step.next, LEAF | SEGMENT_LEAF);
        steps.iter_mut().filter(at_host).for_each(|step| step.next = RECEIVE_BUFFER);
    }
    steps
}
