//! The network that the engine runs: nodes, ports and flows, with what changes during the run.

use std::collections::BTreeSet;

use penstock_endpoint::transport::Transport;
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{
    self, Capacity, Change, Dependency, Feedback, Flow, FlowId, Hop, HopId, LARGEST_QUEUE, Marking, Network, Node,
    NodeId, Pacer, Port, PortEvent, PortId, ReactionPointSpec, RpId, Ties, Transmit,
};

use super::changes;
use super::clocks::Clocks;
use super::flow_census::{FlowCensus, Points};
use super::flow_transport::Carriage;
use super::links;
use super::routing::Branch;
use super::traffic::FlowSpec;
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::sections::{self, Delayed, Limiters, LinkState, MarkedAt, MarkedBy, SwitchClocks, Watched, WhenFull};
use crate::keys::topology::{self, Layout};
use crate::resolve::Resolved;

/// MAC address of the node before the first: locally administered.
const STATION: u64 = 0x0200_0000_0000;

/// The network, and its reaction points by port and priority, where flows share them.
pub(super) fn network(
    resolved: &Resolved,
    layout: &Layout,
    flows: &[FlowSpec],
    census: &FlowCensus,
    clocks: &Clocks,
) -> Result<(Network, Points), Fault> {
    let generated = census.tables.iter().map(|table| table.model.priority);
    let (settings, hosts) = (&*resolved.network, &*resolved.hosts);
    let node = |(i, n): (usize, &topology::LayoutNode)| Node::new(n.kind, STATION + 1 + i as u64);
    let mut network = Network::new(layout.nodes.iter().enumerate().map(node).collect());
    network.ports = ports(settings, hosts, layout, clocks)?;
    let used = flows.iter().map(|f| f.priority).chain(generated).collect::<BTreeSet<u8>>();
    network.priorities = used.into_iter().collect();
    network.until_complete = *resolved.until == sections::Until::Complete;
    network.wire_overhead = settings.wire_overhead.0 as u16;
    network.in_service_counts = *settings.in_service_counts;
    network.own_clocks = *settings.switch_clocks == SwitchClocks::Own;
    network.ecn_threshold = *settings.ecn_threshold;
    network.marking =
        Marking { at_departure: *settings.ecn_at == MarkedAt::Departure, by_port: *settings.ecn_by == MarkedBy::Port };
    network.transmit = transmit(hosts);
    network.spray_acks = *settings.spray_acks;
    if network.spray_acks && !layout.spreads {
        let message = "there is nothing to spray: all frames of a flow take its path";
        return Err(settings.spray_acks.fault(message).with_hint("add load_balancing = \"spray\""));
    }
    network.control_capacity = *settings.control_buffer;
    network.ties = match *settings.ties {
        sections::Ties::Number => Ties::Number,
        sections::Ties::InTurn => Ties::InTurn,
        sections::Ties::Drawn => Ties::Drawn,
    };
    network.feedback = match &*settings.feedback {
        Either::First(_) => Feedback::InBand,
        Either::Second(delay) => Feedback::Ideal(*delay.ideal),
    };
    let pacer = pacer(hosts);
    let shared = *hosts.reaction_points == Limiters::PerHost;
    let mut limiters = Points::new();
    for spec in flows {
        let root = add_hops(&mut network.hops, &spec.route);
        let transport = spec.carriage.as_ref().map(|Carriage { transport, acks }| network::Carriage {
            transport: transport.clone(),
            acks: *acks,
            reverse_path: network.add_reverse_path(root),
        });
        let next = RpId(network.reaction_points.len() as u32);
        let key = (spec.route[0].port, spec.priority);
        let reaction_point = spec.controlled.then(|| match limiters.get(&key) {
            Some(limiter) if shared => *limiter,
            _ => {
                network.reaction_points.push(ReactionPointSpec { port: PortId(key.0 as u32), pacer });
                limiters.insert(key, next);
                next
            }
        });
        let mut flow = Flow::new(root);
        (flow.priority, flow.frame, flow.weight) = (spec.priority, spec.frame, spec.weight);
        (flow.start, flow.stop, flow.size) = (spec.start, spec.stop, spec.size);
        (flow.traffic, flow.excess) = (spec.traffic, spec.excess);
        (flow.reaction_point, flow.transport) = (reaction_point, transport);
        network.flows.push(flow);
    }
    let waits = (0..).map(FlowId).zip(flows).filter_map(|(flow, spec)| Some((flow, spec.wait.as_ref()?)));
    network.dependencies = waits
        .map(|(flow, wait)| Dependency {
            flow,
            after: wait.after.iter().map(|&other| FlowId(other as u32)).collect(),
            delay: wait.delay,
        })
        .collect();
    let endless = census.tables.is_empty() && network.flows.iter().all(|flow| flow.size.is_none());
    if network.until_complete && endless {
        let message = "no flow has a size: none completes";
        return Err(resolved.until.fault(message).with_hint("give a flow a size, for instance size = \"1 MB\""));
    }
    for change in resolved.change.iter() {
        add_change(change, &mut network, layout, clocks, *resolved.duration)?;
    }
    network.changes.sort_by_key(|change| change.at);
    network.processes = census.processes(&mut network, &mut limiters, shared, pacer);
    Ok((network, limiters))
}

fn ports(
    settings: &sections::Network,
    hosts: &sections::Hosts,
    layout: &Layout,
    clocks: &Clocks,
) -> Result<Vec<Port>, Fault> {
    let queue = match *hosts.queue {
        Either::First(_) => Capacity::Arbiter,
        Either::Second(size) => size,
    };
    let mut chosen = BTreeSet::new();
    if let Either::Second(listed) = &*settings.congestion_points {
        for name in listed.iter() {
            let port = layout.port(name).ok_or_else(|| {
                let message = format!("there is no port \"{name}\"");
                settings.congestion_points.fault(message).with_hint(layout.suggest_port(name))
            })?;
            if !chosen.insert(port) {
                let message = format!("the port \"{name}\" is listed twice");
                return Err(settings.congestion_points.fault(message).with_hint("list each port once"));
            }
        }
    }
    let mut ports = Vec::with_capacity(layout.ports.len());
    for (i, p) in layout.ports.iter().enumerate() {
        let (own_host, peer_host) = (layout.is_host(p.node), layout.is_host(p.peer));
        let takes = match *settings.node_delay_at {
            Delayed::All => true,
            Delayed::Hosts => peer_host,
            Delayed::Switches => !peer_host,
        };
        let delay = layout.nodes[p.peer].delay.unwrap_or(if takes { *settings.node_delay } else { Duration::ZERO });
        let latency = p.delay + delay + if peer_host { *settings.host_delay } else { Duration::ZERO };
        let congestion_points = match &*settings.congestion_points {
            Either::First(Watched::Everywhere) => true,
            Either::First(Watched::Switches) => !own_host,
            Either::First(Watched::BetweenSwitches) => !own_host && !peer_host,
            Either::Second(_) => chosen.contains(&i),
        };
        let capacity = if own_host { queue } else { p.buffer };
        if congestion_points && capacity == Capacity::Arbiter {
            let message = format!("\"{}\" has no queue for a congestion point", layout.port_name(i));
            let hint = "give hosts a queue: hosts.queue = \"150 KB\"";
            return Err(settings.congestion_points.fault(message).with_hint(hint));
        }
        let (node, peer) = (NodeId(p.node as u32), NodeId(p.peer as u32));
        let mut port = Port::new(node, peer, clocks.rate(p.node, p.rate), latency);
        (port.number, port.capacity, port.congestion_points) = (p.number, capacity, congestion_points);
        ports.push(port);
    }
    Ok(ports)
}

fn pacer(hosts: &sections::Hosts) -> Pacer {
    match &*hosts.pacer {
        Either::First(_) => Pacer::Ideal,
        Either::Second(pacer) => {
            let bucket = &*pacer.token_bucket;
            Pacer::TokenBucket { depth: *bucket.depth, interval: *bucket.interval, granularity: *bucket.granularity }
        }
    }
}

fn transmit(hosts: &sections::Hosts) -> Transmit {
    match &*hosts.transmit_queue {
        Either::First(_) => Transmit::Pull,
        Either::Second(queue) if *queue.when_full == WhenFull::Wait => Transmit::Wait(*queue.limit),
        Either::Second(queue) => Transmit::Drop(*queue.limit),
    }
}

/// Appends the hops of `route`; returns the first.
pub(crate) fn add_hops(hops: &mut Vec<Hop>, route: &[Branch]) -> HopId {
    let first = hops.len();
    let id = |i: usize| HopId((first + i) as u32);
    for branch in route {
        hops.push(Hop {
            port: PortId(branch.port as u32),
            // The two directions of a link differ in the last bit.
            back: PortId((branch.port ^ 1) as u32),
            parent: branch.parent.map(id),
            first_child: id(0),
            children: 0,
        });
    }
    for (i, branch) in route.iter().enumerate() {
        if let Some(parent) = branch.parent {
            let parent = &mut hops[first + parent];
            if parent.children == 0 {
                parent.first_child = id(i);
            }
            parent.children += 1;
        }
    }
    id(0)
}

/// Refuses a change of nothing, and one of more than one kind.
fn check_kind(change: &sections::Change) -> Result<(), Fault> {
    let two = "for a link and for parameters, write two changes at the same time";
    let of_link = change.rate.is_some() || change.state.is_some();
    match (change.link.is_some(), change.new_values().is_some()) {
        (true, false) => Ok(()),
        (false, true) if !of_link => Ok(()),
        (_, true) => {
            let message = "a change is of a link or of parameters, not both";
            Err(change.schemes.fault(message).with_hint(two))
        }
        (false, false) if of_link => {
            let message = "a change of a rate or a state names its link";
            Err(change.link.fault(message).with_hint("for instance link = \"sw0->h8\""))
        }
        (false, false) => {
            let message = "a change has a link, or parameters of a scheme";
            let hint = "for instance link = \"sw0->h8\" and rate = \"1 Gbps\", or schemes.qcn.q_eq = \"33 KB\"";
            Err(change.at.fault(message).with_hint(hint))
        }
    }
}

fn add_change(
    change: &sections::Change,
    network: &mut Network,
    layout: &Layout,
    clocks: &Clocks,
    duration: Duration,
) -> Result<(), Fault> {
    let at = Instant(change.at.0);
    if at.0 >= duration.0 {
        let message = "a change at or after the end of the run";
        return Err(change.at.fault(message).with_hint(format!("the run ends at {}", duration)));
    }
    check_kind(change)?;
    let Some(link) = change.link.as_deref() else { return Ok(()) };
    let rate = match (*change.rate, *change.state) {
        (Some(rate), None) => Some(rate),
        (None, Some(_)) => None,
        (Some(_), Some(_)) => {
            let hint = "for both, write two changes at the same time";
            return Err(change.state.fault("a change has a rate or a state, not both").with_hint(hint));
        }
        (None, None) => {
            let message = "a change has a rate, or a state (\"down\" or \"up\")";
            return Err(change.rate.fault(message).with_hint("for instance state = \"down\""));
        }
    };
    let ports = links::ports_of(layout, link).map_err(|name| {
        change.link.fault(format!("there is no link \"{link}\"")).with_hint(layout.suggest_port(&name))
    })?;
    for port in ports {
        let mut add = |at, event| network.changes.push(Change { at, port: PortId(port as u32), event });
        match rate.map(|rate| clocks.rate(layout.ports[port].node, rate)) {
            Some(rate) if at == Instant::ZERO => network.ports[port].rate = rate,
            Some(rate) => add(at, PortEvent::Rate(rate)),
            None => {
                for (at, state) in changes::states(change, duration) {
                    let event = if state == LinkState::Down { PortEvent::Down } else { PortEvent::Up };
                    add(Instant(at.0), event);
                }
            }
        }
    }
    Ok(())
}

/// Refuses queues and buckets into which the largest frame does not fit, and queues of more octets than there can be.
pub(super) fn check_frames(resolved: &Resolved, network: &Network) -> Result<(), Fault> {
    let largest = largest_frame(network);
    let check = |(size, key): topology::Size<'_>| match size {
        Capacity::Octets(size) if size.0 < largest => {
            let message = format!("{size} are too small for a frame of {largest} octets");
            Err(key.blame(message).with_hint(format!("at least {}", Octets(largest))))
        }
        Capacity::Frames(n) if u64::from(n) * largest > LARGEST_QUEUE.0 => {
            let most = LARGEST_QUEUE.0 / largest;
            let message = format!("{n} frames of up to {largest} octets are more than {}", LARGEST_QUEUE);
            Err(key.blame(message).with_hint(format!("at most {most} frames")))
        }
        _ => Ok(()),
    };
    resolved.topology.given().buffers().into_iter().try_for_each(check)?;
    let hosts = &*resolved.hosts;
    if let Either::Second(size) = *hosts.queue {
        check((size, &hosts.queue))?;
    }
    if let Either::Second(queue) = &*hosts.transmit_queue {
        check((Capacity::Octets(*queue.limit), &queue.limit))?;
        check_drops(network, queue)?;
    }
    let on_wire = largest + u64::from(network.wire_overhead);
    if let Pacer::TokenBucket { depth, .. } = pacer(hosts)
        && depth.0 < on_wire
    {
        let message =
            format!("the bucket of {depth} is too small for a frame of {on_wire} octets (wire overhead included)");
        return Err(hosts.pacer.fault(message).with_hint(format!("a depth of at least {}", Octets(on_wire))));
    }
    Ok(())
}

/// Refuses a transmit queue that drops the segments of a transport without window: it would get all data at once, and again.
fn check_drops(network: &Network, queue: &sections::TransmitQueue) -> Result<(), Fault> {
    let of_flows = network.flows.iter().filter_map(|flow| flow.transport.as_ref()).map(|carriage| &carriage.transport);
    let of_loads = network.processes.list.iter().filter_map(|process| process.transport.as_ref()).map(|(own, _)| own);
    let Some(endless) = of_flows.chain(of_loads).find(|transport| !matches!(transport, Transport::Tcp(_))) else {
        return Ok(());
    };
    if *queue.when_full == WhenFull::Wait {
        return Ok(());
    }
    let name = endless.info().name;
    let message = format!("\"{name}\" has no window: it would send all its data at once, and the queue would drop it");
    Err(queue.when_full.fault(message).with_hint("\"wait\", or the transport \"tcp\" for all flows"))
}

/// Length of the largest frame of any flow with its tags, octets.
pub(crate) fn largest_frame(network: &Network) -> u64 {
    network.largest_frame().map_or(0, u64::from)
}
