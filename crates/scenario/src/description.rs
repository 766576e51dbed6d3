//! Description of the run that a plan lays out, as JSON: for people, figures and the theory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use penstock_schemes::{Instant, Octets};
use penstock_sim::network::{
    Action, Capacity, Feedback, Flow, FlowId, HopId, Limiting, NodeId, NodeKind, PortEvent, PortId, Traffic,
};
use penstock_sim::pfc::{Reach, headroom, headroom_in_cells};
use serde_json::Value;

use crate::declared::{Object, SchemeName, entry, words};
use crate::{Assigned, GeneratedFlow, ParameterChange, Plan, catalogue};

/// The objects of a description, each before those that hold it.
pub const OBJECTS: &[Object] = &[
    SchemeEntry::OBJECT,
    NodeEntry::OBJECT,
    MemoryEntry::OBJECT,
    PoolEntry::OBJECT,
    FlowControlEntry::OBJECT,
    WatchdogEntry::OBJECT,
    LinkEntry::OBJECT,
    ChangeEntry::OBJECT,
    ParameterChangeEntry::OBJECT,
    HopEntry::OBJECT,
    FlowEntry::OBJECT,
    FairEntry::OBJECT,
    Outline::OBJECT,
    Description::OBJECT,
];

entry! {
    /// A scenario laid out, as it would run.
    pub Description<'p> as Description, after outline: Outline<'p> {
        /// The flows, those of `[[flow]]` tables first.
        flows: Vec<FlowEntry<'p>>, "";
        /// The reference allocation of each time in which nothing changes; empty where loads, incasts or traces make flows.
        fair: Vec<FairEntry<'p>>, "";
    }
}

entry! {
    /// A scenario laid out, as it would run, without its flows.
    pub Outline<'p> as Outline {
        /// Name of the scenario.
        name: &'p str, "";
        /// The question that the scenario answers.
        question: &'p str, "";
        /// Name of the scheme; `mixed` where priorities have different ones.
        scheme: &'static str, "";
        /// The profile that the scheme's parameters start from, the same for all priorities.
        profile: Option<&'p str>, "";
        /// Seed of all random streams.
        seed: u64, "";
        /// Simulated time.
        duration_s: f64, "s";
        /// The time at the start that means and other statistics leave out.
        warmup_s: f64, "s";
        /// From one sample to the next.
        interval_s: f64, "s";
        /// What each frame takes on the line beyond its octets: preamble and gap.
        wire_overhead_octets: u16, "octets";
        /// Whether the frame that is sent counts as a part of its queue.
        in_service_counts: bool, "";
        /// The fixed delay of signals. Null where they travel as frames.
        feedback_s: Option<f64>, "s";
        /// The scheme of each priority.
        schemes: Vec<SchemeEntry<'p>>, "";
        /// Hosts and switches.
        nodes: Vec<NodeEntry<'p>>, "";
        /// The output ports.
        links: Vec<LinkEntry<'p>>, "";
        /// The memory of the pools of switches.
        memory: Vec<MemoryEntry<'p>>, "";
        /// Changes of links, in order of time.
        changes: Vec<ChangeEntry<'p>>, "";
        /// Changes of schemes' parameters, in order of time.
        parameter_changes: Vec<ParameterChangeEntry>, "";
        /// The port of each recorded queue.
        queues: Vec<&'p str>, "";
        /// Sentences on what the layout takes for granted.
        notes: &'p [String], "";
    }
}

entry! {
    /// The scheme of a priority.
    SchemeEntry<'p> as AssignedScheme {
        /// The priority, 0 to 7.
        priority: u8, "";
        /// Name of the scheme.
        name: SchemeName, "";
        /// The profile that its parameters start from.
        profile: Option<&'p str>, "";
        /// Its parameters, in the units of the catalogue (`penstock.schemes`).
        parameters: BTreeMap<&'static str, Value>, "";
    }
}

words! {
    /// Kinds of nodes.
    NodeWord { Host = "host", Switch = "switch" }
}

entry! {
    /// A node.
    NodeEntry<'p> as Node {
        /// Its name.
        name: &'p str, "";
        /// Whether it is a host or a switch.
        kind: NodeWord, "";
        /// Of a switch with hosts the rate of its links to them over that of its links to switches. Null where it has no hosts, or no other
        /// links.
        oversubscription: Option<f64>, "";
    }
}

entry! {
    /// The memory of a pool. Reserves, shared part and headroom of all pools of a switch are its memory.
    MemoryEntry<'p> as PoolMemory {
        /// The switch.
        switch: &'p str, "";
        /// The packet memory of the switch. Null without a `[[switch]]`.
        memory_octets: Option<u64>, "octets";
        /// The pool.
        pool: &'p str, "";
        /// Its priorities that flows have.
        priorities: &'p [u8], "";
        /// Size of a memory cell.
        cell_octets: u16, "octets";
        /// Memory reserved for queues and lines.
        reserved_octets: u64, "octets";
        /// Memory that queues and lines share.
        shared_octets: u64, "octets";
        /// Memory for frames that arrive after a line was paused.
        headroom_octets: u64, "octets";
        /// Headroom that all lines need at once, in whole cells.
        headroom_needed_octets: u64, "octets";
    }
}

entry! {
    /// An output port and the line after it, as it is at the start.
    LinkEntry<'p> as LinkDescription {
        /// Its name, `node->peer`; of parallel links with a number, `node->peer.2`.
        name: &'p str, "";
        /// The node that has it.
        node: &'p str, "";
        /// The node at the far end.
        peer: &'p str, "";
        /// The port of the opposite direction.
        reverse: &'p str, "";
        /// The line rate.
        rate_bps: u64, "bit/s";
        /// From the end of a frame's transmission until the peer acts on it.
        latency_s: f64, "s";
        /// The length of its cable. Null where its delay is given instead.
        cable_m: Option<f64>, "m";
        /// Size of its buffer. Null where that is a number of frames, and at a host's port where reaction points take turns.
        buffer_octets: Option<u64>, "octets";
        /// Size of its buffer. Null where that is a number of octets, and at a host's port where reaction points take turns.
        buffer_frames: Option<u32>, "frames";
        /// Whether its queues have congestion points.
        congestion_points: bool, "";
        /// The ingress buffer at the far end. Null where priority flow control cannot stop the port.
        flow_control: Option<FlowControlEntry<'p>>, "";
        /// The watchdog of priority flow control at the port. Null without.
        watchdog: Option<WatchdogEntry>, "";
        /// Memory at the far end for each priority with credits (`[[credits]]`). Null without.
        credit_octets: Option<u64>, "octets";
        /// Frames that may wait for their acknowledgement (`[[retry]]`). Null without.
        replay_octets: Option<u64>, "octets";
    }
}

words! {
    /// What the watchdog does with a queue that is paused for too long.
    WatchdogWord { Drop = "drop", Forward = "forward", Alert = "alert" }
}

entry! {
    /// The watchdog of priority flow control at a port.
    WatchdogEntry as WatchdogDescription {
        /// How long a queue is paused before it acts.
        detection_s: f64, "s";
        /// How long no pause frame arrives until the queue obeys again.
        restoration_s: f64, "s";
        /// Distance of its looks at the queues; 0: it sees everything at once.
        poll_s: f64, "s";
        /// What happens to the queue meanwhile.
        action: WatchdogWord, "";
    }
}

entry! {
    /// The ingress buffer after a port that priority flow control can stop. Where there are `pools`, the line is stopped by the first
    /// that is at its threshold.
    FlowControlEntry<'p> as FlowControlDescription {
        /// Its size.
        buffer_octets: u64, "octets";
        /// The length at which it stops the port.
        xoff_octets: u64, "octets";
        /// The length at which the port goes on.
        xon_octets: u64, "octets";
        /// Room in the buffer above xoff.
        headroom_octets: u64, "octets";
        /// Headroom that frames, delays and response need (802.1Qbb; the page on priority flow control has the formula).
        headroom_needed_octets: u64, "octets";
        /// From the arrival of a pause frame until the port starts no more frames.
        response_s: f64, "s";
        /// The pools of the switch at the far end that lossless priorities share.
        pools: Vec<PoolEntry<'p>>, "";
    }
}

entry! {
    /// The limits of a line in a pool that its switch has for lossless priorities. A pool stops a line at a dynamic threshold.
    PoolEntry<'p> as PoolOfLine {
        /// The pool.
        name: &'p str, "";
        /// Size of a memory cell.
        cell_octets: u16, "octets";
        /// The memory of a line and priority at which it is stopped if no other holds any; `xoff_octets` where that is less.
        xoff_alone_octets: u64, "octets";
        /// The same if all lossless lines and priorities hold as much.
        xoff_together_octets: u64, "octets";
        /// The most that the line and a priority take of the headroom, in whole cells.
        headroom_octets: u64, "octets";
        /// Headroom that frames, delays and response need, in whole cells.
        headroom_needed_octets: u64, "octets";
    }
}

words! {
    /// Events of links.
    EventWord { Rate = "rate", Down = "down", Up = "up" }
}

entry! {
    /// A change of a link.
    ChangeEntry<'p> as ChangeDescription {
        /// Its time.
        at_s: f64, "s";
        /// The link.
        link: &'p str, "";
        /// What changes: it has another rate, breaks, or is whole again.
        event: EventWord, "";
        /// The new rate. Null where that does not change.
        rate_bps: Option<u64>, "bit/s";
    }
}

entry! {
    /// The scheme of a priority with all its parameters from a time on.
    ParameterChangeEntry as ParameterChange {
        /// The time.
        at_s: f64, "s";
        /// The priority, 0 to 7.
        priority: u8, "";
        /// Name of the scheme.
        name: SchemeName, "";
        /// All its parameters from then on, in the units of the catalogue.
        parameters: BTreeMap<&'static str, Value>, "";
    }
}

words! {
    /// Kinds of traffic.
    TrafficWord { Greedy = "greedy", Constant = "constant", Poisson = "poisson", OnOff = "on-off" }
}

entry! {
    /// A flow: the nodes at its ends, its route, its traffic.
    FlowEntry<'p> as FlowDescription {
        /// Its name.
        name: Cow<'p, str>, "";
        /// The host that sends.
        source: &'p str, "";
        /// The hosts that receive.
        destinations: Vec<&'p str>, "";
        /// Whether a reaction point controls it.
        controlled: bool, "";
        /// Its priority, 0 to 7.
        priority: u8, "";
        /// Its weight among the flows of its host.
        weight: u16, "";
        /// Length of its frames, without preamble and gap.
        frame_octets: u16, "octets";
        /// Its start. Null where it follows from the end of other flows.
        start_s: Option<f64>, "s";
        /// The time at which it stops. Null where it has none.
        stop_s: Option<f64>, "s";
        /// Its size. Null where it has none.
        size_octets: Option<u64>, "octets";
        /// The kind of its traffic.
        traffic: TrafficWord, "";
        /// Mean rate of its traffic, without wire overhead. Null for a greedy flow.
        rate_bps: Option<f64>, "bit/s";
        /// The links of its route; that of a multicast flow is a tree.
        hops: Vec<HopEntry<'p>>, "";
    }
}

entry! {
    /// A link of a route.
    HopEntry<'p> as Hop {
        /// The link.
        link: &'p str, "";
        /// The link of the opposite direction.
        back: &'p str, "";
        /// Index of the hop before. Null for the first.
        after: Option<usize>, "";
    }
}

entry! {
    /// The reference allocation while nothing changes.
    FairEntry<'p> as FairPeriod {
        /// Its start.
        start_s: f64, "s";
        /// Its end.
        stop_s: f64, "s";
        /// The max-min fair rate of each flow, with wire overhead.
        max_min_bps: &'p [f64], "bit/s";
        /// The proportionally fair rate of each flow, with wire overhead.
        proportional_bps: &'p [f64], "bit/s";
    }
}

impl<'p> Description<'p> {
    /// That of `plan`.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let mut description = Self::of_tables(plan);
        description.flows.extend(plan.generated.flows().map(|flow| FlowEntry::generated(plan, &flow)));
        description
    }

    /// The same, but of the flows those of `[[flow]]` tables alone: loads can make millions.
    #[must_use]
    pub fn of_tables(plan: &'p Plan) -> Self {
        let fair = plan.fair.iter().map(|period| FairEntry {
            start_s: period.time.start.as_seconds(),
            stop_s: period.time.end.as_seconds(),
            max_min_bps: &period.max_min_bps,
            proportional_bps: &period.proportional_bps,
        });
        Self {
            outline: Outline::new(plan),
            flows: (0..plan.single).map(|flow| FlowEntry::new(plan, flow)).collect(),
            fair: fair.collect(),
        }
    }
}

impl<'p> Outline<'p> {
    /// That of `plan`.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let network = &plan.network;
        let places = plan.record.queues.iter().filter_map(|&queue| network.port_and_priority(queue));
        // By node: the rate of its links to hosts, and to switches.
        let mut rates = vec![(0, 0); network.nodes.len()];
        for port in &network.ports {
            let (to_hosts, to_switches) = &mut rates[port.node.index()];
            let to_host = network.nodes[port.peer.index()].kind == NodeKind::Host;
            *if to_host { to_hosts } else { to_switches } += port.rate.0;
        }
        let nodes = network.nodes.iter().zip(&plan.node_names).zip(rates).map(|((node, name), (hosts, switches))| {
            let kind = match node.kind {
                NodeKind::Host => NodeWord::Host,
                NodeKind::Switch => NodeWord::Switch,
            };
            let both = node.kind == NodeKind::Switch && hosts > 0 && switches > 0;
            NodeEntry { name, kind, oversubscription: both.then(|| hosts as f64 / switches as f64) }
        });
        let mut pools: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (index, pool) in network.pools.iter().enumerate() {
            pools.entry(pool.node).or_default().push(index);
        }
        let changes = network.changes.iter().map(|change| {
            let (event, rate_bps) = match change.event {
                PortEvent::Rate(rate) => (EventWord::Rate, Some(rate.0)),
                PortEvent::Down => (EventWord::Down, None),
                PortEvent::Up => (EventWord::Up, None),
            };
            ChangeEntry { at_s: change.at.as_seconds(), link: plan.port_name(change.port), event, rate_bps }
        });
        Self {
            name: &plan.name,
            question: &plan.question,
            scheme: plan.scheme(),
            profile: plan.profile(),
            seed: plan.seed,
            duration_s: plan.duration.as_seconds(),
            warmup_s: plan.warmup.as_seconds(),
            interval_s: plan.record.interval.as_seconds(),
            wire_overhead_octets: network.wire_overhead,
            in_service_counts: network.in_service_counts,
            feedback_s: match network.feedback {
                Feedback::InBand => None,
                Feedback::Ideal(delay) => Some(delay.as_seconds()),
            },
            schemes: plan.schemes.iter().map(SchemeEntry::new).collect(),
            nodes: nodes.collect(),
            links: (0..network.ports.len()).map(|port| LinkEntry::new(plan, port, &pools)).collect(),
            memory: (0..network.pools.len()).map(|pool| MemoryEntry::new(plan, pool)).collect(),
            changes: changes.collect(),
            parameter_changes: plan.parameter_changes.iter().map(ParameterChangeEntry::new).collect(),
            queues: places.map(|(port, _)| plan.port_name(port)).collect(),
            notes: &plan.notes,
        }
    }
}

impl<'p> SchemeEntry<'p> {
    fn new(assigned: &'p Assigned) -> Self {
        let info = assigned.config.info();
        let parameters = info.parameters.iter().zip(&assigned.values);
        Self {
            priority: assigned.priority,
            name: SchemeName(info.name),
            profile: assigned.profile.as_deref(),
            parameters: parameters.map(|(p, &value)| (p.name, catalogue::value(value))).collect(),
        }
    }
}

impl ParameterChangeEntry {
    fn new(change: &ParameterChange) -> Self {
        let info = change.config.info();
        let parameters = info.parameters.iter().zip(&change.values);
        Self {
            at_s: change.at.as_seconds(),
            priority: change.priority,
            name: SchemeName(info.name),
            parameters: parameters.map(|(p, &value)| (p.name, catalogue::value(value))).collect(),
        }
    }
}

impl<'p> LinkEntry<'p> {
    fn new(plan: &'p Plan, index: usize, pools: &BTreeMap<NodeId, Vec<usize>>) -> Self {
        let (port, pfc) = (&plan.network.ports[index], plan.network.pfc.as_ref());
        let reach = plan.reaches[index].as_ref();
        let flow_control = pfc.and_then(|pfc| pfc.ingress[index]).zip(reach).map(|(ingress, reach)| FlowControlEntry {
            buffer_octets: ingress.buffer.0,
            xoff_octets: ingress.xoff.0,
            xon_octets: ingress.xon.0,
            headroom_octets: ingress.buffer.0 - ingress.xoff.0,
            headroom_needed_octets: headroom(reach).0,
            response_s: reach.response.as_seconds(),
            pools: pools.get(&port.peer).map_or(Vec::new(), |own| {
                own.iter()
                    .filter_map(|&pool| PoolEntry::new(plan, pool, PortId(index as u32), ingress.xoff, reach))
                    .collect()
            }),
        });
        let (buffer_octets, buffer_frames) = match port.capacity {
            Capacity::Octets(octets) => (Some(octets.0), None),
            Capacity::Frames(frames) => (None, Some(frames)),
            Capacity::Arbiter => (None, None),
        };
        Self {
            name: &plan.port_names[index],
            node: &plan.node_names[port.node.index()],
            peer: &plan.node_names[port.peer.index()],
            // The two directions of a link differ in the last bit.
            reverse: &plan.port_names[index ^ 1],
            rate_bps: port.rate.0,
            latency_s: port.latency.as_seconds(),
            cable_m: plan.cables_mm[index].map(|length| length as f64 / 1000.0),
            buffer_octets,
            buffer_frames,
            congestion_points: port.congestion_points,
            flow_control,
            watchdog: pfc.and_then(|pfc| pfc.watchdogs.get(index).copied().flatten()).map(|own| WatchdogEntry {
                detection_s: own.after.as_seconds(),
                restoration_s: own.restoration.as_seconds(),
                poll_s: own.poll.as_seconds(),
                action: match own.action {
                    Action::Drop => WatchdogWord::Drop,
                    Action::Forward => WatchdogWord::Forward,
                    Action::Alert => WatchdogWord::Alert,
                },
            }),
            credit_octets: of_line(&plan.network.credits, index, |line| line.port)
                .map(|line| u64::from(line.cells) * u64::from(line.cell)),
            replay_octets: of_line(&plan.network.retries, index, |line| line.port).map(|line| line.buffer.0),
        }
    }
}

/// The first entry of a port in a list in the order of ports.
fn of_line<T>(lines: &[T], port: usize, of: impl Fn(&T) -> PortId) -> Option<&T> {
    let first = lines.partition_point(|line| of(line).index() < port);
    lines.get(first).filter(|line| of(line).index() == port)
}

impl<'p> MemoryEntry<'p> {
    fn new(plan: &'p Plan, index: usize) -> Self {
        let (pool, common) = (&plan.network.pools[index], plan.pool_common[index]);
        let node = pool.node.index();
        Self {
            switch: &plan.node_names[node],
            memory_octets: plan.chip_memory[node].map(|memory| memory.0),
            pool: &plan.pool_names[index],
            priorities: &pool.priorities,
            cell_octets: pool.cell,
            reserved_octets: pool.size.0 - common.0,
            shared_octets: common.0,
            headroom_octets: pool.headroom.0,
            headroom_needed_octets: plan.headroom_needed[index].0,
        }
    }
}

impl<'p> PoolEntry<'p> {
    /// The pool at this index for the line of `port`, which is stopped at `xoff` at the latest; `None` if it stops none.
    fn new(plan: &'p Plan, index: usize, port: PortId, xoff: Octets, reach: &Reach) -> Option<Self> {
        let (pool, stopping) = (&plan.network.pools[index], plan.stopping[index]?);
        let line = pool.lines.binary_search_by_key(&port, |(line, _)| *line).ok()?;
        Some(Self {
            name: &plan.pool_names[index],
            cell_octets: pool.cell,
            xoff_alone_octets: stopping.alone.min(xoff).0,
            xoff_together_octets: stopping.together.min(xoff).0,
            headroom_octets: pool.lines[line].1.0.min(pool.headroom.0),
            headroom_needed_octets: headroom_in_cells(reach, pool.cell).0,
        })
    }
}

impl<'p> FlowEntry<'p> {
    fn new(plan: &'p Plan, index: usize) -> Self {
        let network = &plan.network;
        let flow: &Flow = &network.flows[index];
        let node = |index: usize| plan.node_names[index].as_str();
        let (source, destinations) = &plan.flow_ends[index];
        let route: Vec<HopId> = network.route(FlowId(index as u32)).collect();
        let hops = route.iter().map(|hop| {
            let hop = &network.hops[hop.index()];
            HopEntry {
                link: plan.port_name(hop.port),
                back: plan.port_name(hop.back),
                after: hop.parent.and_then(|parent| route.iter().position(|&h| h == parent)),
            }
        });
        let traffic = match flow.traffic {
            Traffic::Greedy => TrafficWord::Greedy,
            Traffic::Constant(_) => TrafficWord::Constant,
            Traffic::Poisson(_) => TrafficWord::Poisson,
            Traffic::OnOff { .. } => TrafficWord::OnOff,
        };
        Self {
            name: Cow::Borrowed(&plan.flow_names[index]),
            source: node(*source),
            destinations: destinations.iter().map(|&d| node(d)).collect(),
            controlled: flow.reaction_point.is_some(),
            priority: flow.priority,
            weight: flow.weight,
            frame_octets: flow.frame,
            start_s: (flow.start != Instant::NEVER).then(|| flow.start.as_seconds()),
            stop_s: flow.stop.map(|stop| stop.as_seconds()),
            size_octets: flow.size.map(|size| size.0),
            traffic,
            rate_bps: flow.traffic.mean_bps(),
            hops: hops.collect(),
        }
    }
    /// The entry of a flow that a load or an incast makes.
    fn generated(plan: &'p Plan, flow: &GeneratedFlow) -> Self {
        let process = &plan.network.processes.list[flow.table];
        let hops = flow.path.iter().enumerate().map(|(index, &port)| HopEntry {
            link: plan.port_name(port),
            // The two directions of a link differ in the last bit.
            back: plan.port_name(PortId(port.0 ^ 1)),
            after: index.checked_sub(1),
        });
        Self {
            name: Cow::Owned(flow.name(&plan.generated)),
            source: &plan.node_names[flow.source],
            destinations: vec![&plan.node_names[flow.destination]],
            controlled: process.limiting != Limiting::Uncontrolled,
            priority: process.priority,
            weight: process.weight,
            frame_octets: process.frame,
            start_s: Some(flow.start.as_seconds()),
            stop_s: None,
            size_octets: Some(flow.size.0),
            traffic: TrafficWord::Greedy,
            rate_bps: None,
            hops: hops.collect(),
        }
    }
}
