//! Dynamic flows: those that processes make, which begin and end while the run goes on.
//!
//! Each has a slot: an entry of every list that has one a flow, and a block of hops. It gets the slot when the flow before it
//! starts. When it has ended, no frame of it is in the network and none of its ends has anything to do, another may have its slot. That
//! is looked for from time to time and for all at once, as a garbage collector does: so no hop counts references.
//!
//! A slot says where something lies. Everything that is ordered or drawn goes by numbers, which are never used again: a run in which
//! slots are used again gives the same as one in which they are not.

mod admission;
pub(crate) mod conversation;
mod slot_reuse;
mod slots;

use std::collections::BTreeMap;

use penstock_endpoint::{Destination, DestinationId, FlowSpec, LimiterId, LimiterSpec, PortId, TrafficClass};
use penstock_schemes::{BitRate, CongestionPoint, FlowKey, HEADER, Instant, ReactionPoint, Scheme};
use penstock_switch::Model;
use penstock_switch::config::configuration;
use penstock_switch::state::hop_info::HopInfo;

use crate::engine::Sim;
use crate::engine::dynamic_flows::conversation::Conversation;
use crate::engine::dynamic_flows::slots::Slots;
use crate::engine::interfaces::ReceiveBuffers;
use crate::engine::message_accounts::MessageAccounts;
use crate::engine::setup::{Endpoints, source};
use crate::network;
use crate::network::{
    Arrival, Arrivals, Branch, Capacity, Carriage, Excess, Flow, FlowId, Hop, HopId, Limiting, Network, NodeId,
    OwnLine, Pacer, Process, Sharing, Traffic,
};
use crate::outcome::FlowEnd;
use crate::probe::Probe;
use crate::random::{Owner, Stream};
use crate::state::event::Event;
use crate::state::hops::{ACK_LEAF, CHOICE, HopEnd, LEAF, RECEIVE_BUFFER, SEGMENT_LEAF, Step, TURN};
use crate::state::records::FlowRecord;

/// Flows that come before slots are looked for that can be used again, at the least.
const FEW: usize = 64;

/// The flows of processes.
#[derive(Debug)]
pub(crate) struct DynamicFlows<S: Scheme> {
    arrivals: Option<Box<dyn Arrivals>>,
    /// The flow of these that comes next.
    announced: Option<FlowId>,
    processes: Vec<Numbered>,
    configs: Vec<S::Config>,
    /// What says which of them a scheme has at a port: the network's priorities, and its lines with their own.
    lines: (Vec<u8>, Vec<OwnLine>),
    seed: u64,
    overhead: u16,
    /// The host of each port, its rate at the start, and whether limiters that come share it by turns.
    ports: Vec<HostPort>,
    /// The first slot of each list behind those of the network.
    first: Firsts,
    /// Hops of a route with its path back, and those of a slot: that number for each route that a flow may have.
    hops: usize,
    hops_per_slot: usize,
    /// By slot, the routes that its flow has later: when, first hop, reverse path.
    later: Vec<Vec<(Instant, HopId, Option<HopId>)>>,
    /// Frames of a flow with several paths may overtake one another.
    disorders: bool,
    /// The flow in each slot; none in those that are free.
    taken: Vec<Option<FlowKey>>,
    slots: Slots,
    slot_of: BTreeMap<u32, FlowId>,
    /// By slot, the messages of a flow that stays.
    conversations: Vec<Option<Box<Conversation>>>,
    pub(crate) accounts: MessageAccounts,
    /// Flows that have come since slots were looked for, and how many come before they are looked for again; never if
    /// they are kept.
    since: usize,
    patience: usize,
    /// By number.
    ends: Vec<FlowEnd>,
}

/// A process, and the numbers of the first of its flows and of the limiter of that, where its flows have separate limiters.
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

impl<S: Scheme> DynamicFlows<S> {
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
        let back = if network.spray_acks { processes.most_paths.max(1) } else { 1 };
        let hops = processes.most_hops + if transported { processes.longest_path * back } else { 0 };
        Self {
            arrivals: None,
            announced: None,
            processes: numbered(network, first.limiter),
            configs: configs.to_vec(),
            lines: (network.priorities.clone(), network.own_lines.clone()),
            seed,
            overhead: network.wire_overhead,
            ports,
            first,
            hops,
            hops_per_slot: hops * (1 + processes.converged.len()),
            later: Vec::new(),
            disorders: network.load_balancing.as_ref().is_some_and(|spread| spread.by.disorders()),
            taken: Vec::new(),
            slots: Slots::new(1),
            slot_of: BTreeMap::new(),
            conversations: Vec::new(),
            accounts: MessageAccounts::default(),
            since: 0,
            // A point that remembers flows may speak of any of them.
            patience: if configs.iter().any(S::Cp::remembers_flows) { usize::MAX } else { FEW },
            ends: vec![FlowEnd::NONE; processes.flows()],
        }
    }

    /// Flows that come from now on have these parameters, as one of the configurations.
    pub(crate) fn configure(&mut self, configuration: usize, config: S::Config) {
        self.configs[configuration] = config;
    }

    /// The parameters of the scheme of a class at a port.
    fn config(&self, class: TrafficClass, port: PortId) -> &S::Config {
        let (priorities, own_lines) = &self.lines;
        &self.configs[configuration(priorities, own_lines, class.index(), self.ports[port.index()].rate)]
    }

    /// Whether a flow of the network or in a slot is there.
    pub(crate) fn is_there(&self, flow: FlowId) -> bool {
        self.slot(flow).is_none_or(|slot| self.taken[slot].is_some())
    }

    /// The slot of a flow among the dynamic flows.
    fn index(&self, flow: FlowId) -> usize {
        (flow.0 - self.first.flow) as usize
    }

    /// The same, if it is one of them.
    fn slot(&self, flow: FlowId) -> Option<usize> {
        let slot = flow.0.checked_sub(self.first.flow)? as usize;
        (slot < self.taken.len()).then_some(slot)
    }

    /// The slot that an event is about, if it is about one of them.
    fn owner(&self, event: Event) -> Option<usize> {
        let slot = match event {
            Event::Silence(flow) | Event::Retransmit(flow) | Event::DelayedAck(flow) => {
                flow.0.checked_sub(self.first.flow)
            }
            Event::Release(limiter) | Event::RpTimer(limiter) => limiter.0.checked_sub(self.first.limiter),
            Event::NpTimer(destination) => destination.0.checked_sub(self.first.destination),
            _ => None,
        };
        slot.map(|slot| slot as usize)
    }

    /// The limiter of a slot.
    fn limiter(&self, flow: FlowId) -> LimiterId {
        LimiterId(self.first.limiter + flow.0 - self.first.flow)
    }

    /// The destination of a slot.
    fn destination(&self, flow: FlowId) -> DestinationId {
        DestinationId(self.first.destination + flow.0 - self.first.flow)
    }

    /// The first hop of the route that a flow has at a time.
    pub(crate) fn root_at(&self, flow: FlowId, at: Instant) -> HopId {
        let mut later = self.later.get(self.index(flow)).into_iter().flatten();
        later.rfind(|later| later.0 <= at).map_or_else(|| self.root(flow), |&(_, root, _)| root)
    }

    /// The first hop of a slot.
    pub(crate) fn root(&self, flow: FlowId) -> HopId {
        HopId(self.first.hop + self.index(flow) as u32 * self.hops_per_slot as u32)
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

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Whether the source of a flow of a process is in this part of the network.
    fn has_source(&self, flow: FlowId) -> bool {
        let port = self.hops[self.dynamic_flows.root(flow).index()].port;
        self.part.as_ref().is_none_or(|part| part.has_port(port))
    }

    /// Whether its destination is.
    pub(crate) fn has_destination(&self, flow: FlowId) -> bool {
        let leaf = self.leaves[self.dynamic_flows.destination(flow).index()];
        self.part.as_ref().is_none_or(|part| part.has_peer(self.hops[leaf.index()].port))
    }

    /// The slot of the flow with this key.
    ///
    /// # Panics
    /// If it was forgotten: its congestion point said that it remembers none.
    pub(crate) fn flow_of(&self, key: FlowKey) -> FlowId {
        if key.0 < self.state.static_flows {
            return FlowId(key.0);
        }
        let slot = self.dynamic_flows.slot_of.get(&key.0);
        *slot.unwrap_or_else(|| {
            panic!(
                "{}: a congestion point signalled flow {}, which has finished: its `remembers_flows` must be true",
                S::INFO.name,
                key.0
            )
        })
    }

    /// The hop of a flow of a process that leaves by `port`, if its data passes there.
    pub(crate) fn hop_of_dynamic_flow(&self, flow: FlowId, port: PortId) -> Option<HopId> {
        let first = self.dynamic_flows.root(flow);
        let present = self.state.sources.flow(flow).supply().root;
        let later = self
            .dynamic_flows
            .later
            .get(self.dynamic_flows.index(flow))
            .into_iter()
            .flatten()
            .map(|&(_, root, _)| root);
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

    /// Writes the hops of a flow that comes into `slot`. Returns the flow.
    fn lay_out(&mut self, slot: FlowId, arrival: &Arrival) -> Flow {
        let Numbered { process, .. } = &self.dynamic_flows.processes[arrival.process as usize];
        let fabric = &mut self.state.fabric;
        let hop_info = HopInfo { flow: slot, weight: process.weight, class: fabric.class_of(process.priority) };
        let root = self.dynamic_flows.root(slot);
        let end = root.index() + self.dynamic_flows.hops_per_slot;
        let freed = |hop: &HopId| (root.index()..end).contains(&hop.index());
        self.successors.retain(|hop, _| !freed(hop));
        self.reverse_paths.retain(|hop, _| !freed(hop));
        let (hops, steps, ends) = (&mut self.hops, &mut self.steps, &mut self.end_of_hop);
        let turns = self.arbiters.is_some();
        let receive_buffers = &self.receive_buffers;
        let reverse_paths = self.spray_acks.then_some(&mut self.reverse_paths);
        let hop_infos = &mut fabric.hop_info;
        let mut paths = RouteWriter { hops, steps, ends, hop_info: hop_infos, turns, receive_buffers, reverse_paths };
        paths.make_room(end, hop_info);
        if let Some(load_balancer) = &mut self.load_balancer {
            load_balancer.renew(root, end);
        }
        let flow = paths.lay_out(process, arrival, root, hop_info);
        let mut next = root;
        let transported = process.transport.is_some();
        let later = arrival.later.iter().map(|onward| {
            next = HopId(next.0 + self.dynamic_flows.hops as u32);
            let reverse_path = paths.lay_out_route((&onward.path, &onward.tree), next, hop_info, transported);
            (onward.at, next, transported.then_some(reverse_path))
        });
        let later = later.collect();
        let index = self.dynamic_flows.index(slot);
        let all = &mut self.dynamic_flows.later;
        all.resize_with(all.len().max(index), Vec::new);
        put(all, index, later);
        flow
    }

    /// Flows of processes have the routes that they have from now on.
    pub(crate) fn converge_dynamic_flows(&mut self) {
        let now = self.state.fabric.now;
        self.charge(self.dynamic_flows.taken.len() as u64);
        for index in 0..self.dynamic_flows.taken.len() {
            let found = self.dynamic_flows.later[index].iter().find(|later| later.0 == now);
            if let (Some(_), Some(&(_, root, reverse_path))) = (self.dynamic_flows.taken[index], found) {
                self.move_flow(FlowId(self.dynamic_flows.first.flow + index as u32), root, reverse_path);
            }
        }
    }

    /// The ends of a flow that comes into `slot`: limiter, source, destination, record.
    fn equip(&mut self, slot: FlowId, key: FlowKey, arrival: &Arrival, flow: &Flow) {
        let dynamic_flows = &self.dynamic_flows;
        let Numbered { process, flow: first, limiter: limiters } = &dynamic_flows.processes[arrival.process as usize];
        let class = self.state.fabric.class_of(flow.priority);
        let port = arrival.path[0].0;
        let config = dynamic_flows.config(class, port);
        let host = dynamic_flows.ports[port.index()];
        let (own, sources) = (dynamic_flows.limiter(slot), &mut self.state.sources);
        let (pacer, reaction_point) = match process.limiting {
            Limiting::Own(pacer) => (pacer, Some(config)),
            Limiting::Uncontrolled | Limiting::Shared => (Pacer::Ideal, None),
        };
        let shared = process.limiting == Limiting::Shared;
        if !shared || own.index() == sources.limiters().len() {
            let number = limiters + arrival.number;
            let draw = Stream::new(dynamic_flows.seed, Owner::ReactionPoint, number as usize);
            let spec = LimiterSpec::new(port, host.rate, pacer, reaction_point, draw);
            let round_trip = S::Rp::LEARNS_ROUND_TRIP.then(|| {
                let line = |port: PortId| (self.state.fabric.port(port).rate, self.state.fabric.port(port).latency);
                let octets = [flow.frame + spec.tag_octets, HEADER + S::echo_octets(config)];
                network::round_trip(arrival.path.iter().copied(), octets, dynamic_flows.overhead, line)
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
        let (mut source, mut frames) =
            source(flow, dynamic_flows.overhead, dynamic_flows.seed, FlowId(key.0), transports);
        if arrival.stays {
            source.stay(process.payload());
            // Its messages are complete, one by one: every frame may be the last of one.
            frames = frames.map(|_| 0);
        }
        let spec = FlowSpec { class, frame: flow.frame, destinations: 1 };
        sources.put_flow(slot, key, limiter, spec, source);
        let fabric = &self.state.fabric;
        let acks = |priority: Option<u8>| priority.map_or(fabric.control_class(), |priority| fabric.class_of(priority));
        transports.receive(slot, flow, acks);

        let number = dynamic_flows.first.destination + key.0 - dynamic_flows.first.flow;
        debug_assert!(*first <= key.0, "numbers go on from process to process");
        let draw = Stream::new(dynamic_flows.seed, Owner::NotificationPoint, number as usize);
        let id = dynamic_flows.destination(slot);
        let hops = flow.root.0..flow.root.0 + arrival.path.len().max(arrival.tree.len()) as u32;
        let leaves = hops.map(HopId).filter(|hop| self.hops[hop.index()].children == 0);
        let first = leaves.clone().next().expect("a way has a last link");
        let config = dynamic_flows.config(class, self.hops[first.index()].port);
        let mut destination = Destination::new(config, key, number, draw);
        if dynamic_flows.disorders && !arrival.tree.is_empty() {
            destination.expect_disorder();
        }
        put(&mut self.destinations, id.index(), destination);
        put(&mut self.leaves, id.index(), first);
        leaves.for_each(|leaf| self.end_of_hop[leaf.index()] = HopEnd { destination: id, flow: slot });
        put(&mut self.state.records, slot.index(), FlowRecord::new(id, 1, true, frames));
    }
}

/// The lists that have an entry for each hop.
struct RouteWriter<'a> {
    hops: &'a mut Vec<Hop>,
    steps: &'a mut Vec<Step>,
    ends: &'a mut Vec<HopEnd>,
    hop_info: &'a mut Vec<HopInfo>,
    /// Switches have arbiters.
    turns: bool,
    receive_buffers: &'a ReceiveBuffers,
    /// For the last hop of each path the first one of acknowledgements, where they go back over it.
    reverse_paths: Option<&'a mut BTreeMap<HopId, HopId>>,
}

impl RouteWriter<'_> {
    /// Makes the lists at least so long, with these facts where they grow.
    fn make_room(&mut self, len: usize, hop_info: HopInfo) {
        if self.hops.len() < len {
            let nothing = Hop { port: PortId(0), back: PortId(0), parent: None, first_child: HopId::NONE, children: 0 };
            self.hops.resize(len, nothing);
            self.steps.resize(len, Step { port: PortId(0), next: LEAF, to: PortId::NONE });
            self.ends.resize(len, HopEnd::NONE);
            self.hop_info.resize(len, hop_info);
        }
    }

    /// Writes the hops of a flow from `root` on. Returns the flow.
    fn lay_out(&mut self, process: &Process, arrival: &Arrival, root: HopId, hop_info: HopInfo) -> Flow {
        let transported = process.transport.is_some();
        let reverse_path = self.lay_out_route((&arrival.path, &arrival.tree), root, hop_info, transported);
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
            transport: process.transport.clone().map(|(transport, acks)| Carriage { transport, acks, reverse_path }),
        }
    }

    /// Writes the hops of a route from `root` on, and behind them, where the flow has a transport, those of its reverse path. Returns the first
    /// of these.
    fn lay_out_route(
        &mut self,
        (path, tree): (&[(PortId, PortId)], &[Branch]),
        root: HopId,
        hop_info: HopInfo,
        transported: bool,
    ) -> HopId {
        let reverse_path = HopId(root.0 + path.len().max(tree.len()) as u32);
        let waits = path.last().is_some_and(|(port, _)| self.receive_buffers.contains_key(port));
        let leaf = match (waits, transported) {
            (true, _) => RECEIVE_BUFFER,
            (false, true) => SEGMENT_LEAF,
            (false, false) => LEAF,
        };
        if tree.is_empty() {
            self.write_chain(root, path.iter().copied(), leaf, hop_info);
        } else {
            self.write_tree(root, tree, leaf, hop_info);
        }
        if transported {
            self.write_chain(reverse_path, path.iter().rev().map(|&(port, back)| (back, port)), ACK_LEAF, hop_info);
        }
        if transported && self.reverse_paths.is_some() {
            self.write_reverse_paths(root, tree, reverse_path, hop_info);
        }
        reverse_path
    }

    /// Writes the hops of acknowledgements over each path of a tree, after those over the first one, and keeps where they begin.
    fn write_reverse_paths(&mut self, root: HopId, tree: &[Branch], first: HopId, hop_info: HopInfo) {
        let mut next = first;
        let leaves = (0..tree.len() as u32).map(|leaf| HopId(root.0 + leaf));
        for leaf in leaves.filter(|hop| self.hops[hop.index()].children == 0).collect::<Vec<_>>() {
            let hops = std::iter::successors(Some(leaf), |hop| self.hops[hop.index()].parent);
            let links: Vec<(PortId, PortId)> =
                hops.map(|hop| (self.hops[hop.index()].back, self.hops[hop.index()].port)).collect();
            let begin = next;
            next = HopId(begin.0 + links.len() as u32);
            self.write_chain(begin, links.into_iter(), ACK_LEAF, hop_info);
            if let Some(reverse_paths) = &mut self.reverse_paths {
                reverse_paths.insert(leaf, begin);
            }
        }
    }

    /// Writes a chain of hops from `first` on.
    fn write_chain(
        &mut self,
        first: HopId,
        links: impl ExactSizeIterator<Item = (PortId, PortId)>,
        leaf: HopId,
        hop_info: HopInfo,
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
            self.ends[hop as usize] = HopEnd::NONE;
            self.hop_info[hop as usize] = hop_info;
        }
    }

    /// Writes the hops of several ways to one destination from `first` on.
    fn write_tree(&mut self, first: HopId, tree: &[Branch], leaf: HopId, hop_info: HopInfo) {
        for (hop, &Branch { link: (port, back), parent }) in (first.0..).map(HopId).zip(tree) {
            let parent = parent.map(|parent| HopId(first.0 + parent));
            self.hops[hop.index()] = Hop { port, back, parent, first_child: HopId::NONE, children: 0 };
            self.steps[hop.index()] = Step { port, next: leaf, to: PortId::NONE };
            self.ends[hop.index()] = HopEnd::NONE;
            self.hop_info[hop.index()] = hop_info;
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

/// Puts a value into a slot of a list, or behind its last one.
fn put<T>(list: &mut Vec<T>, slot: usize, value: T) {
    match list.get_mut(slot) {
        Some(old) => *old = value,
        None => list.push(value),
    }
}
