//! The ports and congestion points of a network at the start of a run.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Octets, Place};

use crate::config::{Capacity, Config, NodeKind, Port};
use crate::events::{CpIndex, NodeId, QueueId};
use crate::random::{Owner, Stream};
use crate::state::frame::GONE;
use crate::state::port::{
    FLOW_CONTROLLED, IMPAIRED, MARKS_AT_DEPARTURE, MARKS_BY_PORT, POOLED, PortState, QueueState, TRIMS,
};

/// The ports of a network, whatever its scheme. The queues of those with congestion points have them in the order of
/// [`cp_queues`]. `full` says whether they are [`Full`](crate::Full).
pub fn ports(config: &Config<'_>, full: bool) -> Vec<PortState> {
    let marks_above = config.ecn_threshold.map_or(u32::MAX, |threshold| threshold.0 as u32);
    let pooled: BTreeSet<NodeId> = config.pools.iter().map(|pool| pool.node).collect();
    let mut cps = 0;
    let state = |(id, port): (PortId, &Port)| {
        let (max_len, max_frames) = match port.capacity {
            // No queue has 2^32 octets: see `config::LARGEST_QUEUE`.
            Capacity::Octets(o) => (o.0 as u32, 0),
            Capacity::Frames(n) => (0, n),
            Capacity::Arbiter => (u32::MAX, 0),
        };
        let mut queues = Vec::with_capacity(config.queues_per_port());
        for _ in config.priorities {
            let cp = if port.congestion_points { CpIndex(cps) } else { CpIndex::NONE };
            cps += u32::from(port.congestion_points);
            queues.push(QueueState::new(max_len, max_frames, config.largest_frame, marks_above, cp));
        }
        queues.push(QueueState::new(
            config.control_capacity.0 as u32,
            0,
            config.largest_frame,
            u32::MAX,
            CpIndex::NONE,
        ));
        let mut state = PortState::new(config, port, id, queues.into_boxed_slice());
        let switch = config.nodes[port.node.index()].kind == NodeKind::Switch;
        if full && switch {
            // The neighbours that it stops see its departures.
            state.attention |= if config.pfc.is_some() { FLOW_CONTROLLED } else { 0 };
            state.attention |= if pooled.contains(&port.node) { POOLED } else { 0 };
            state.attention |= if config.marking.by_port { MARKS_BY_PORT } else { 0 };
            state.attention |= if config.marking.at_departure { MARKS_AT_DEPARTURE } else { 0 };
            state.attention |= if config.trimmed.is_empty() { 0 } else { TRIMS };
        }
        state.mark_above(marks_above);
        state
    };
    let mut ports: Vec<PortState> = (0..).map(PortId).zip(config.ports).map(state).collect();
    for impairment in config.impairments.iter().filter(|_| full) {
        let port = &mut ports[impairment.port.index()];
        port.attention |= IMPAIRED;
        port.ledger.impairments.add(*impairment);
    }
    ports
}

/// A queue with a congestion point.
#[derive(Debug)]
pub struct CpQueue {
    /// The queue.
    pub queue: QueueId,
    /// The class of its priority.
    pub class: usize,
    /// What its congestion point knows of it.
    pub place: Place,
}

/// The queues with congestion points: port by port, class by class.
pub fn cp_queues(config: &Config<'_>, seed: u64) -> Vec<CpQueue> {
    let largest = config.largest_frame;
    let mut queues = Vec::new();
    for (id, port) in (0..).map(PortId).zip(config.ports).filter(|(_, port)| port.congestion_points) {
        let capacity = match port.capacity {
            Capacity::Frames(n) => u64::from(n) * u64::from(largest),
            Capacity::Octets(o) => o.0,
            Capacity::Arbiter => u64::MAX,
        };
        // The clock of a node shows the same to all its queues.
        let phase = match config.own_clocks {
            true => Stream::new(seed, Owner::Clock, port.node.index()).offset(),
            false => Duration::ZERO,
        };
        for (class, &priority) in config.priorities.iter().enumerate() {
            let cp = config.cp_id(id, priority);
            let place = Place { cp, line: port.rate, capacity: Octets(capacity), phase };
            queues.push(CpQueue { queue: config.queue(id, priority), class, place });
        }
    }
    queues
}

/// The class of a priority; [`GONE`] where no flow has it.
pub fn class_of(config: &Config<'_>, priority: usize) -> TrafficClass {
    let class = config.priorities.iter().position(|&p| usize::from(p) == priority);
    class.map_or(GONE, |class| TrafficClass(class as u8))
}
