//! Flows that come and go: those of processes.
//!
//! Each is in a place: an entry of every list that has one a flow, and a block of hops. It comes into a place when the flow before it
//! starts. When it is over, no frame of it is in the network and none of its ends has anything to do, another may have its place. That
//! is looked for from time to time and for all at once, as a garbage collector does: so no hop counts references.
//!
//! Places say where something lies. Everything that is ordered or drawn goes by numbers, which are never used again: a run in which
//! places are used again gives the same as one in which they are not.

mod slot_reuse;

use std::collections::BTreeMap;

use penstock_endpoint::{Destination, DestinationId, FlowSpec, LimiterId, LimiterSpec, PortId, TrafficClass};
use penstock_schemes::{BitRate, CongestionPoint, FlowKey, HEADER, Instant, ReactionPoint, Scheme};

use crate::engine::Sim;
use crate::engine::setup::{Endpoints, source};
use crate::network;
use crate::network::{
    Arrival, Arrivals, Branch, Capacity, Carriage, Excess, Flow, FlowId, Hop, HopId, Limiting, Network, NodeId, Pacer,
    Process, Sharing, Traffic,
};
use crate::outcome::FlowEnd;
use crate::probe::Probe;
use crate::random::{Owner, Stream};
use crate::state::event::Event;
use crate::state::hop_info::{ACK_LEAF, CHOICE, End, HopFacts, LEAF, SEGMENT_LEAF, Step, TURN};
use crate::state::records::FlowRecord;

/// Flows that come before places are looked for that can be used again, at the least.
const FEW: usize = 64;

/// The flows of processes.
#[derive(Debug)]
pub(crate) struct Crowd<S: Scheme> {
    arrivals: Option<Box<dyn Arrivals>>,
    processes: Vec<Numbered>,
    configs: Vec<S::Config>,
    seed: u64,
    overhead: u16,
    /// The host of each port, its rate at the start, and whether limiters that come share it by turns.
    ports: Vec<HostPort>,
    /// The first place of each list behind those of the network.
    first: Firsts,
    /// Hops of a route with its path back, and those of a slot: that number for each route that a flow may have.
    hops: usize,
    places_hops: usize,
    /// By place, the routes that its flow has later: when, first hop, way back.
    later: Vec<Vec<(Instant, HopId, Option<HopId>)>>,
    /// Frames of a flow with several ways may overtake one another.
    disorders: bool,
    /// The flow in each place; none in those that are free, which are listed.
    taken: Vec<Option<FlowKey>>,
    free: Vec<FlowId>,
    place_of: BTreeMap<u32, FlowId>,
    /// Flows that have come since places were looked for, and how many come before they are looked for again; never if
    /// they are kept.
    since: usize,
    patience: usize,
    /// By number.
    ends: Vec<FlowEnd>,
}

/// A process, and the numbers of the first of its flows and of the limiter of that, where its flows have limiters of their own.
#[derive(Debug)]
struct Numbered {
    process: Process,
    flow: u32,
    limiter: u32,
}

#[derive(Debug, Clone, Copy)]
struct HostPort {
    node: NodeId,
    rate: BitRate,
    shared: bool,
}

#[derive(Debug, Clone, Copy)]
struct Firsts {
    flow: u32,
    limiter: u32,
    destination: u32,
    hop: u32,
}

impl<S: Scheme> Crowd<S> {
    /// The processes of a network; the flows of the network are there already.
    pub(crate) fn new(network: &Network, configs: &[S::Config], seed: u64, there: &mut Endpoints<'_, S>) -> Self {
        let processes = &network.processes;
        let first = Firsts {
            flow: network.flows.len() as u32,
            limiter: there.sources.limiters().len() as u32,
            destination: there.destinations.len() as u32,
            hop: network.hops.len() as u32 + 1,
        };
        for (limiter, &Sharing { flows, .. }) in (0..).map(LimiterId).zip(&processes.sharing) {
            let own = there.sources.limiter(limiter).flows().len() as u32;
            if flows > 0 && own + flows > 1 {
                there.sources.expect_flows(limiter);
            }
        }
        let mut at_port: Vec<u32> = vec![0; network.ports.len()];
        there.sources.limiters().iter().for_each(|limiter| at_port[limiter.port().index()] += 1);
        let mut port = |(id, port): (PortId, &crate::network::Port)| {
            let coming = processes.limiters.get(id.index()).copied().unwrap_or(0);
            let shared = port.capacity == Capacity::Arbiter && coming > 0 && at_port[id.index()] + coming > 1;
            if shared {
                there.sources.expect_limiters(id);
            }
            HostPort { node: port.node, rate: port.rate, shared }
        };
        let ports = (0..).map(PortId).zip(&network.ports).map(&mut port).collect();
        let transported = processes.list.iter().any(|process| process.transport.is_some());
        let hops = processes.most_hops + if transported { processes.longest_way } else { 0 };
        Self {
            arrivals: None,
            processes: numbered(network, first.limiter),
            configs: configs.to_vec(),
            seed,
            overhead: network.wire_overhead,
            ports,
            first,
            hops,
            places_hops: hops * (1 + processes.converged.len()),
            later: Vec::new(),
            disorders: network.spread.as_ref().is_some_and(|spread| spread.by.disorders()),
            taken: Vec::new(),
            free: Vec::new(),
            place_of: BTreeMap::new(),
            since: 0,
            // A point that remembers flows may speak of any of them.
            patience: if configs.iter().any(S::Cp::remembers_flows) { usize::MAX } else { FEW },
            ends: vec![FlowEnd::NONE; processes.flows()],
        }
    }

    /// Flows of a class that come from now on have these parameters.
    pub(crate) fn configure(&mut self, class: TrafficClass, config: S::Config) {
        self.configs[class.index()] = config;
    }

    /// Whether a flow of the network or in a place is there.
    pub(crate) fn is_there(&self, flow: FlowId) -> bool {
        self.place(flow).is_none_or(|place| self.taken[place].is_some())
    }

    /// The place of a flow among those of the crowd.
    fn index(&self, flow: FlowId) -> usize {
        (flow.0 - self.first.flow) as usize
    }

    /// The same, if it is one of them.
    fn place(&self, flow: FlowId) -> Option<usize> {
        let place = flow.0.checked_sub(self.first.flow)? as usize;
        (place < self.taken.len()).then_some(place)
    }

    /// The place that an event is about, if it is one of the crowd.
    fn owner(&self, event: Event) -> Option<usize> {
        let place = match event {
            Event::Silence(flow) | Event::Retransmit(flow) | Event::DelayedAck(flow) => {
                flow.0.checked_sub(self.first.flow)
            }
            Event::Release(limiter) | Event::RpTimer(limiter) => limiter.0.checked_sub(self.first.limiter),
            Event::NpTimer(destination) => destination.0.checked_sub(self.first.destination),
            _ => None,
        };
        place.map(|place| place as usize)
    }

    /// The limiter of a place.
    fn limiter(&self, flow: FlowId) -> LimiterId {
        LimiterId(self.first.limiter + flow.0 - self.first.flow)
    }

    /// The destination of a place.
    fn destination(&self, flow: FlowId) -> DestinationId {
        DestinationId(self.first.destination + flow.0 - self.first.flow)
    }

    /// The first hop of a place.
    fn root(&self, flow: FlowId) -> HopId {
        HopId(self.first.hop + self.index(flow) as u32 * self.places_hops as u32)
    }
}

/// The processes with their numbers. `fixed` limiters are there already.
fn numbered(network: &Network, fixed: u32) -> Vec<Numbered> {
    let own = |process: &Process| if matches!(process.limiting, Limiting::Own(_)) { process.flows } else { 0 };
    let mut flow = network.flows.len() as u32;
    // Reaction points come first, in the order of flows, and then the limiters of flows without.
    let mut controlled = network.reaction_points.len() as u32;
    let (mut uncontrolled, mut none) = (fixed + network.processes.list.iter().map(own).sum::<u32>(), 0);
    let number = |process: &Process| {
        let limiter = match process.limiting {
            Limiting::Own(_) => &mut controlled,
            Limiting::Uncontrolled => &mut uncontrolled,
            Limiting::Shared => &mut none,
        };
        let numbered = Numbered { process: process.clone(), flow, limiter: *limiter };
        *limiter += process.flows;
        flow += process.flows;
        numbered
    };
    network.processes.list.iter().map(number).collect()
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// The flows of the network's processes come from `arrivals`. To be called before the run begins.
    pub fn feed(&mut self, arrivals: Box<dyn Arrivals>) {
        self.crowd.arrivals = Some(arrivals);
        self.admit_next();
    }

    /// Flows of processes keep their places when they are over. Changes nothing but the memory that the run takes.
    pub fn keep_places(&mut self) {
        self.crowd.patience = usize::MAX;
    }

    /// Places for flows of processes, taken or free.
    #[must_use]
    pub fn places(&self) -> usize {
        self.crowd.taken.len()
    }

    /// The start of a flow of a process has come: the next one takes a place. Whether it starts here: it is told in all parts of a
    /// network, and one has its source.
    pub(crate) fn arrives(&mut self, flow: FlowId) -> bool {
        self.admit_next();
        let own = self.has_source(flow);
        self.housekeeping += u64::from(!own);
        own
    }

    /// Whether the source of a flow of a process is in this part of the network.
    fn has_source(&self, flow: FlowId) -> bool {
        let port = self.hops[self.crowd.root(flow).index()].port;
        self.share.as_ref().is_none_or(|share| share.has_port(port))
    }

    /// Whether its destination is.
    fn has_destination(&self, flow: FlowId) -> bool {
        let leaf = self.leaves[self.crowd.destination(flow).index()];
        self.share.as_ref().is_none_or(|share| share.has_peer(self.hops[leaf.index()].port))
    }

    /// The place of the flow with this key.
    ///
    /// # Panics
    /// If it was forgotten: its congestion point said that it remembers none.
    pub(crate) fn flow_of(&self, key: FlowKey) -> FlowId {
        if key.0 < self.state.lasting {
            return FlowId(key.0);
        }
        let place = self.crowd.place_of.get(&key.0);
        *place
            .unwrap_or_else(|| panic!("{} signals flow {}, which is over, without a frame of it", S::INFO.name, key.0))
    }

    /// The hop of a flow of a process that leaves by `port`, if its data passes there.
    pub(crate) fn hop_of_crowd(&self, flow: FlowId, port: PortId) -> Option<HopId> {
        let first = self.crowd.root(flow);
        let present = self.state.sources.flow(flow).supply().root;
        let later = self.crowd.later.get(self.crowd.index(flow)).into_iter().flatten().map(|&(_, root, _)| root);
        // Frames that are under way keep to the route that they were sent by.
        [present, first].into_iter().chain(later).find_map(|root| self.hop_of_route(root, port))
    }

    /// The hop that leaves by `port`, of the route from `root` of a flow of a process.
    fn hop_of_route(&self, root: HopId, port: PortId) -> Option<HopId> {
        let mut hop = root;
        // Parents come before children, so that the end of the route is known when it is reached.
        let mut end = hop.0 + 1;
        while hop.0 < end {
            let Hop { port: own, children, first_child, .. } = self.hops[hop.index()];
            if own == port {
                return Some(hop);
            }
            if children > 0 {
                end = end.max(first_child.0 + u32::from(children));
            }
            hop.0 += 1;
        }
        None
    }

    /// The next flow comes into a place.
    fn admit_next(&mut self) {
        let Some(arrival) = self.crowd.arrivals.as_mut().and_then(Iterator::next) else { return };
        // The parts of a network look together, when they meet.
        if self.share.is_none() && self.wants_places() {
            Self::look_for_places(&mut [&mut *self]);
        }
        self.crowd.since += 1;
        let place = self.crowd.free.pop().unwrap_or(FlowId(self.crowd.first.flow + self.crowd.taken.len() as u32));
        let key = FlowKey(self.crowd.processes[arrival.process as usize].flow + arrival.number);
        let flow = self.lay_out(place, &arrival);
        self.equip(place, key, &arrival, &flow);
        self.ends.come(place);
        let index = self.crowd.index(place);
        if index == self.crowd.taken.len() {
            self.crowd.taken.push(None);
        }
        self.crowd.taken[index] = Some(key);
        self.crowd.place_of.insert(key.0, place);
        self.state.fabric.events.schedule_of(arrival.start, Event::Start(place), key);
    }

    /// Writes the hops of a flow that comes into `place`. Returns the flow.
    fn lay_out(&mut self, place: FlowId, arrival: &Arrival) -> Flow {
        let Numbered { process, .. } = &self.crowd.processes[arrival.process as usize];
        let fabric = &mut self.state.fabric;
        let facts = HopFacts { flow: place, weight: process.weight, class: fabric.class_of(process.priority) };
        let root = self.crowd.root(place);
        let end = root.index() + self.crowd.places_hops;
        let (hops, steps, ends) = (&mut self.hops, &mut self.steps, &mut self.end_of_hop);
        let turns = self.arbiters.is_some();
        let mut ways = Ways { hops, steps, ends, facts: &mut fabric.facts, turns };
        ways.make_room(end, facts);
        if let Some(spreading) = &mut self.spreading {
            spreading.renew(root, end);
        }
        let flow = ways.lay_out(process, arrival, root, facts);
        let mut next = root;
        let transported = process.transport.is_some();
        let later = arrival.later.iter().map(|onward| {
            next = HopId(next.0 + self.crowd.hops as u32);
            let way_back = ways.lay_out_route((&onward.way, &onward.tree), next, facts, transported);
            (onward.at, next, transported.then_some(way_back))
        });
        let later = later.collect();
        put(&mut self.crowd.later, (place.0 - self.crowd.first.flow) as usize, later);
        flow
    }

    /// Flows of processes have the routes that they have from now on.
    pub(crate) fn converge_crowd(&mut self) {
        let now = self.state.fabric.now;
        self.charge(self.crowd.taken.len() as u64);
        for index in 0..self.crowd.taken.len() {
            let found = self.crowd.later[index].iter().find(|later| later.0 == now);
            if let (Some(_), Some(&(_, root, way_back))) = (self.crowd.taken[index], found) {
                self.move_flow(FlowId(self.crowd.first.flow + index as u32), root, way_back);
            }
        }
    }

    /// The ends of a flow that comes into `place`: limiter, source, destination, record.
    fn equip(&mut self, place: FlowId, key: FlowKey, arrival: &Arrival, flow: &Flow) {
        let crowd = &self.crowd;
        let Numbered { process, flow: first, limiter: limiters } = &crowd.processes[arrival.process as usize];
        let class = self.state.fabric.class_of(flow.priority);
        let config = &crowd.configs[class.index()];
        let port = arrival.way[0].0;
        let host = crowd.ports[port.index()];
        let (own, sources) = (crowd.limiter(place), &mut self.state.sources);
        let (pacer, reaction_point) = match process.limiting {
            Limiting::Own(pacer) => (pacer, Some(config)),
            Limiting::Uncontrolled | Limiting::Shared => (Pacer::Ideal, None),
        };
        let shared = process.limiting == Limiting::Shared;
        if !shared || own.index() == sources.limiters().len() {
            let number = limiters + arrival.number;
            let draw = Stream::new(crowd.seed, Owner::ReactionPoint, number as usize);
            let spec = LimiterSpec::new(port, host.rate, pacer, reaction_point, draw);
            let round_trip = S::Rp::LEARNS_ROUND_TRIP.then(|| {
                let line = |port: PortId| (self.state.fabric.port(port).rate, self.state.fabric.port(port).latency);
                let octets = [flow.frame + spec.tag_octets, HEADER + S::echo_octets(config)];
                network::round_trip(arrival.way.iter().copied(), octets, crowd.overhead, line)
            });
            let spec = spec.with_round_trip(round_trip);
            sources.put_limiter(own, number, spec, host.shared);
            self.homes.resize(sources.limiters().len(), host.node);
            self.homes[own.index()] = host.node;
            if sources.limiter(own).limiting() {
                self.state.hosts[host.node.index()].change(self.state.fabric.now, true);
            }
        }
        let limiter = match flow.reaction_point {
            Some(rp) if shared => LimiterId(rp.0),
            _ => own,
        };
        let transports = &mut self.state.transports;
        let (source, frames) = source(flow, crowd.overhead, crowd.seed, FlowId(key.0), transports);
        let spec = FlowSpec { class, frame: flow.frame, destinations: 1 };
        sources.put_flow(place, key, limiter, spec, source);
        let fabric = &self.state.fabric;
        let acks = |priority: Option<u8>| priority.map_or(fabric.control_class(), |priority| fabric.class_of(priority));
        transports.receive(place, flow, acks);

        let number = crowd.first.destination + key.0 - crowd.first.flow;
        debug_assert!(*first <= key.0, "numbers go on from process to process");
        let draw = Stream::new(crowd.seed, Owner::NotificationPoint, number as usize);
        let id = crowd.destination(place);
        let mut destination = Destination::new(config, key, number, draw);
        if crowd.disorders && !arrival.tree.is_empty() {
            destination.expect_disorder();
        }
        put(&mut self.destinations, id.index(), destination);
        let hops = flow.root.0..flow.root.0 + arrival.way.len().max(arrival.tree.len()) as u32;
        let leaves = hops.map(HopId).filter(|hop| self.hops[hop.index()].children == 0);
        let first = leaves.clone().next().expect("a way has a last link");
        put(&mut self.leaves, id.index(), first);
        leaves.for_each(|leaf| self.end_of_hop[leaf.index()] = End { destination: id, flow: place });
        put(&mut self.state.records, place.index(), FlowRecord::new(id, 1, true, frames));
    }
}

/// The lists that have an entry for each hop.
struct Ways<'a> {
    hops: &'a mut Vec<Hop>,
    steps: &'a mut Vec<Step>,
    ends: &'a mut Vec<End>,
    facts: &'a mut Vec<HopFacts>,
    /// Switches have arbiters.
    turns: bool,
}

impl Ways<'_> {
    /// Makes the lists at least so long, with these facts where they grow.
    fn make_room(&mut self, len: usize, facts: HopFacts) {
        if self.hops.len() < len {
            let nothing = Hop { port: PortId(0), back: PortId(0), parent: None, first_child: HopId::NONE, children: 0 };
            self.hops.resize(len, nothing);
            self.steps.resize(len, Step { port: PortId(0), next: LEAF, to: PortId::NONE });
            self.ends.resize(len, End::NONE);
            self.facts.resize(len, facts);
        }
    }

    /// Writes the hops of a flow from `root` on. Returns the flow.
    fn lay_out(&mut self, process: &Process, arrival: &Arrival, root: HopId, facts: HopFacts) -> Flow {
        let transported = process.transport.is_some();
        let way_back = self.lay_out_route((&arrival.way, &arrival.tree), root, facts, transported);
        Flow {
            root,
            priority: process.priority,
            frame: process.frame,
            weight: process.weight,
            start: arrival.start,
            stop: None,
            size: Some(arrival.size),
            traffic: Traffic::Greedy,
            excess: Excess::Wait,
            reaction_point: arrival.reaction_point,
            transport: process.transport.clone().map(|(transport, acks)| Carriage { transport, acks, way_back }),
        }
    }

    /// Writes the hops of a route from `root` on, and behind them, where the flow has a transport, those of its way back. Returns the first
    /// of these.
    fn lay_out_route(
        &mut self,
        (way, tree): (&[(PortId, PortId)], &[Branch]),
        root: HopId,
        facts: HopFacts,
        transported: bool,
    ) -> HopId {
        let way_back = HopId(root.0 + way.len().max(tree.len()) as u32);
        let leaf = if transported { SEGMENT_LEAF } else { LEAF };
        if tree.is_empty() {
            self.write_chain(root, way.iter().copied(), leaf, facts);
        } else {
            self.write_tree(root, tree, leaf, facts);
        }
        if transported {
            self.write_chain(way_back, way.iter().rev().map(|&(port, back)| (back, port)), ACK_LEAF, facts);
        }
        way_back
    }

    /// Writes a chain of hops from `first` on.
    fn write_chain(
        &mut self,
        first: HopId,
        links: impl ExactSizeIterator<Item = (PortId, PortId)>,
        leaf: HopId,
        facts: HopFacts,
    ) {
        let last = first.0 + links.len() as u32 - 1;
        for (hop, (port, back)) in (first.0..).zip(links) {
            let next = HopId(hop + 1);
            self.hops[hop as usize] = Hop {
                port,
                back,
                parent: (hop > first.0).then(|| HopId(hop - 1)),
                first_child: next,
                children: u16::from(hop < last),
            };
            let step = if self.turns { TURN } else { next };
            self.steps[hop as usize] = Step { port, next: if hop < last { step } else { leaf }, to: PortId::NONE };
            if hop > first.0 {
                self.steps[hop as usize - 1].to = port;
            }
            self.ends[hop as usize] = End::NONE;
            self.facts[hop as usize] = facts;
        }
    }

    /// Writes the hops of several ways to one destination from `first` on.
    fn write_tree(&mut self, first: HopId, tree: &[Branch], leaf: HopId, facts: HopFacts) {
        for (hop, &Branch { link: (port, back), parent }) in (first.0..).map(HopId).zip(tree) {
            let parent = parent.map(|parent| HopId(first.0 + parent));
            self.hops[hop.index()] = Hop { port, back, parent, first_child: HopId::NONE, children: 0 };
            self.steps[hop.index()] = Step { port, next: leaf, to: PortId::NONE };
            self.ends[hop.index()] = End::NONE;
            self.facts[hop.index()] = facts;
            if let Some(parent) = parent {
                let before = &mut self.hops[parent.index()];
                if before.children == 0 {
                    before.first_child = hop;
                }
                before.children += 1;
                let step = &mut self.steps[parent.index()];
                (step.next, step.to) = match before.children {
                    1 => (if self.turns { TURN } else { hop }, port),
                    _ => (if self.turns { TURN } else { CHOICE }, PortId::NONE),
                };
            }
        }
    }
}

/// Puts a value into a place of a list, or behind its last one.
fn put<T>(list: &mut Vec<T>, place: usize, value: T) {
    match list.get_mut(place) {
        Some(old) => *old = value,
        None => list.push(value),
    }
}
