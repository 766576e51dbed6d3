//! Description of the run that a plan lays out, as JSON: for people, figures and the theory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use penstock_schemes::{Instant, Octets};
use penstock_sim::network::{
    Capacity, Feedback, Flow, FlowId, HopId, Limiting, NodeId, NodeKind, PortEvent, PortId, Traffic,
};
use penstock_sim::pfc::{Reach, headroom, headroom_in_cells};
use serde::Serialize;
use serde_json::Value;

use crate::{Assigned, GeneratedFlow, ParameterChange, Plan, catalogue};

/// Description of the run that a plan lays out.
#[derive(Serialize)]
pub struct Description<'p> {
    #[serde(flatten)]
    outline: Outline<'p>,
    flows: Vec<FlowEntry<'p>>,
    fair: Vec<FairEntry<'p>>,
}

/// The same without its flows: short, however many there are.
#[derive(Serialize)]
pub struct Outline<'p> {
    name: &'p str,
    question: &'p str,
    scheme: &'static str,
    profile: Option<&'p str>,
    seed: u64,
    duration_s: f64,
    warmup_s: f64,
    interval_s: f64,
    wire_overhead_octets: u16,
    in_service_counts: bool,
    /// The fixed delay of signals; none where they travel in band.
    feedback_s: Option<f64>,
    schemes: Vec<SchemeEntry<'p>>,
    nodes: Vec<NodeEntry<'p>>,
    links: Vec<LinkEntry<'p>>,
    changes: Vec<ChangeEntry<'p>>,
    parameter_changes: Vec<ParameterChangeEntry>,
    queues: Vec<&'p str>,
    notes: &'p [String],
}

#[derive(Serialize)]
struct SchemeEntry<'p> {
    priority: u8,
    name: &'static str,
    profile: Option<&'p str>,
    parameters: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
struct NodeEntry<'p> {
    name: &'p str,
    kind: &'static str,
}

#[derive(Serialize)]
struct LinkEntry<'p> {
    name: &'p str,
    rate_bps: u64,
    latency_s: f64,
    buffer_octets: Option<u64>,
    buffer_frames: Option<u32>,
    congestion_points: bool,
    /// The ingress buffer at the far end, where priority flow control can stop the port.
    flow_control: Option<FlowControlEntry<'p>>,
}

#[derive(Serialize)]
struct FlowControlEntry<'p> {
    buffer_octets: u64,
    xoff_octets: u64,
    xon_octets: u64,
    /// Room in the buffer above xoff.
    headroom_octets: u64,
    /// Headroom that frames, delays and response ask for.
    headroom_needed_octets: u64,
    /// From the arrival of a pause frame until the port starts no more frames.
    response_s: f64,
    /// The pools of the switch at the far end that lossless priorities share.
    pools: Vec<PoolEntry<'p>>,
}

/// What a pool makes of the limits of a line.
#[derive(Serialize)]
struct PoolEntry<'p> {
    name: &'p str,
    cell_octets: u16,
    /// The memory of a line and priority at which it is stopped if no other holds any; `xoff_octets` where that is less.
    xoff_alone_octets: u64,
    /// The same if all lossless lines and priorities hold as much.
    xoff_together_octets: u64,
    /// The most that the line and a priority take of the headroom, in whole cells.
    headroom_octets: u64,
    /// Headroom that frames, delays and response ask for, in whole cells.
    headroom_needed_octets: u64,
}

#[derive(Serialize)]
struct ChangeEntry<'p> {
    at_s: f64,
    link: &'p str,
    event: &'static str,
    rate_bps: Option<u64>,
}

#[derive(Serialize)]
struct ParameterChangeEntry {
    at_s: f64,
    priority: u8,
    /// The scheme.
    name: &'static str,
    /// All its parameters from then on.
    parameters: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
struct FlowEntry<'p> {
    name: Cow<'p, str>,
    source: &'p str,
    destinations: Vec<&'p str>,
    controlled: bool,
    priority: u8,
    weight: u16,
    frame_octets: u16,
    start_s: Option<f64>,
    stop_s: Option<f64>,
    size_octets: Option<u64>,
    traffic: &'static str,
    /// Mean rate; none for a greedy flow.
    rate_bps: Option<f64>,
    hops: Vec<HopEntry<'p>>,
}

#[derive(Serialize)]
struct HopEntry<'p> {
    link: &'p str,
    back: &'p str,
    /// Index of the hop before.
    after: Option<usize>,
}

#[derive(Serialize)]
struct FairEntry<'p> {
    start_s: f64,
    stop_s: f64,
    max_min_bps: &'p [f64],
    proportional_bps: &'p [f64],
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
        let nodes = network.nodes.iter().zip(&plan.node_names).map(|(node, name)| NodeEntry {
            name,
            kind: match node.kind {
                NodeKind::Host => "host",
                NodeKind::Switch => "switch",
            },
        });
        let mut pools: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (index, pool) in network.pools.iter().enumerate() {
            pools.entry(pool.node).or_default().push(index);
        }
        let changes = network.changes.iter().map(|change| {
            let (event, rate_bps) = match change.event {
                PortEvent::Rate(rate) => ("rate", Some(rate.0)),
                PortEvent::Down => ("down", None),
                PortEvent::Up => ("up", None),
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
            name: info.name,
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
            name: info.name,
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
            rate_bps: port.rate.0,
            latency_s: port.latency.as_seconds(),
            buffer_octets,
            buffer_frames,
            congestion_points: port.congestion_points,
            flow_control,
        }
    }
}

impl<'p> PoolEntry<'p> {
    /// The pool at this index for the line of `port`, which is stopped at `xoff` at the latest; `None` if it stops none.
    fn new(plan: &'p Plan, index: usize, port: PortId, xoff: Octets, reach: &Reach) -> Option<Self> {
        let (pool, stopping) = (&plan.network.pools[index], plan.stopping[index]?);
        let place = pool.lines.binary_search_by_key(&port, |(line, _)| *line).ok()?;
        Some(Self {
            name: &plan.pool_names[index],
            cell_octets: pool.cell,
            xoff_alone_octets: stopping.alone.min(xoff).0,
            xoff_together_octets: stopping.together.min(xoff).0,
            headroom_octets: pool.lines[place].1.0.min(pool.headroom.0),
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
            Traffic::Greedy => "greedy",
            Traffic::Constant(_) => "constant",
            Traffic::Poisson(_) => "poisson",
            Traffic::OnOff { .. } => "on-off",
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
        let hops = flow.way.iter().enumerate().map(|(place, &port)| HopEntry {
            link: plan.port_name(port),
            // The two directions of a link differ in the last bit.
            back: plan.port_name(PortId(port.0 ^ 1)),
            after: place.checked_sub(1),
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
            traffic: "greedy",
            rate_bps: None,
            hops: hops.collect(),
        }
    }
}
