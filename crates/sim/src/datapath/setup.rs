//! The ports and congestion points of a network at the start of a run.

use std::collections::BTreeSet;

use penstock_endpoint::TrafficClass;
use penstock_schemes::{Duration, Octets, Place};

use crate::network::{Capacity, Network, NodeId, NodeKind, Port, PortId, QueueId};
use crate::random::{Owner, Stream};
use crate::state::event::CpIndex;
use crate::state::event_queue::{Lane, NO_LANE, RELEASES};
use crate::state::frame::GONE;
use crate::state::port::{FLOW_CONTROLLED, MARKS_AT_DEPARTURE, MARKS_BY_PORT, POOLED, PortState, QueueState, TRIMS};

/// The ports of a network, whatever its scheme. The queues of those with congestion points have them in the order of
/// [`cp_queues`]. `pfc` says whether the engine can do priority flow control.
pub(crate) fn ports(network: &Network, pfc: bool) -> Vec<PortState> {
    let marks_above = network.ecn_threshold.map_or(u32::MAX, |threshold| threshold.0 as u32);
    let lanes = lanes(network);
    let pooled: BTreeSet<NodeId> = network.pools.iter().map(|pool| pool.node).collect();
    let mut cps = 0;
    let state = |(id, port): (PortId, &Port)| {
        let (max_len, max_frames) = match port.capacity {
            // No queue has 2^32 octets: see `network::LARGEST_QUEUE`.
            Capacity::Octets(o) => (o.0 as u32, 0),
            Capacity::Frames(n) => (0, n),
            Capacity::Arbiter => (u32::MAX, 0),
        };
        let mut queues = Vec::with_capacity(network.queues_per_port());
        for _ in &network.priorities {
            let cp = if port.congestion_points { CpIndex(cps) } else { CpIndex::NONE };
            cps += u32::from(port.congestion_points);
            queues.push(QueueState::new(max_len, max_frames, marks_above, cp));
        }
        queues.push(QueueState::new(network.control_capacity.0 as u32, 0, u32::MAX, CpIndex::NONE));
        let mut state = PortState::new(network, port, id, lanes[id.index()], queues.into_boxed_slice());
        let switch = network.nodes[port.node.index()].kind == NodeKind::Switch;
        if pfc && switch {
            // The neighbours that it stops see its departures.
            state.attention |= if network.pfc.is_some() { FLOW_CONTROLLED } else { 0 };
            state.attention |= if pooled.contains(&port.node) { POOLED } else { 0 };
            state.attention |= if network.marking.by_port { MARKS_BY_PORT } else { 0 };
            state.attention |= if network.marking.at_departure { MARKS_AT_DEPARTURE } else { 0 };
            state.attention |= if network.trimmed.is_empty() { 0 } else { TRIMS };
        }
        state.mark_above(marks_above);
        state
    };
    (0..).map(PortId).zip(&network.ports).map(state).collect()
}

/// A queue with a congestion point.
#[derive(Debug)]
pub(crate) struct CpQueue {
    pub(crate) queue: QueueId,
    /// The class of its priority.
    pub(crate) class: usize,
    pub(crate) place: Place,
}

/// The queues with congestion points: port by port, class by class.
pub(crate) fn cp_queues(network: &Network, seed: u64) -> Vec<CpQueue> {
    let largest = network.largest_frame().unwrap_or(0);
    let mut queues = Vec::new();
    for (id, port) in (0..).map(PortId).zip(&network.ports).filter(|(_, port)| port.congestion_points) {
        let capacity = match port.capacity {
            Capacity::Frames(n) => u64::from(n) * u64::from(largest),
            Capacity::Octets(o) => o.0,
            Capacity::Arbiter => u64::MAX,
        };
        // The clock of a node shows the same to all its queues.
        let phase = match network.own_clocks {
            true => Stream::new(seed, Owner::Clock, port.node.index()).offset(),
            false => Duration::ZERO,
        };
        for (class, &priority) in network.priorities.iter().enumerate() {
            let cp = network.cp_id(id, priority);
            let place = Place { cp, line: port.rate, capacity: Octets(capacity), phase };
            queues.push(CpQueue { queue: network.queue(id, priority), class, place });
        }
    }
    queues
}

/// The class of a priority; [`GONE`] where no flow has it.
pub(crate) fn class_of(network: &Network, priority: usize) -> TrafficClass {
    let class = network.priorities.iter().position(|&p| usize::from(p) == priority);
    class.map_or(GONE, |class| TrafficClass(class as u8))
}

/// The lane of each port's deliveries. The kinds of lines that carry most get one each: rate, latency, and whether a host
/// sends on them. Of two that carry the same, that of hosts goes first. A switch's port with a backlog learns late that its
/// next frame has started, when hosts' ports have made later deliveries already, so that the two do not go well together.
fn lanes(network: &Network) -> Vec<Lane> {
    let kind_of = |port: &Port| (port.rate, port.latency, network.nodes[port.node.index()].kind == NodeKind::Host);
    let mut kinds = std::collections::BTreeMap::new();
    for port in &network.ports {
        *kinds.entry(kind_of(port)).or_insert(0) += u128::from(port.rate.0);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&((_, _, host), rate)| std::cmp::Reverse((rate, host)));
    let common = &kinds[..kinds.len().min(usize::from(RELEASES))];
    let lane = |port| common.iter().position(|&(kind, _)| kind == kind_of(port)).map_or(NO_LANE, |lane| lane as Lane);
    network.ports.iter().map(lane).collect()
}
