//! The ports and congestion points of a network at the start of a run.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::parts::marking::Ramp;
use penstock_schemes::{Duration, Octets, Place};

use crate::config::{Capacity, Config, LARGEST_QUEUE, NodeKind, Port, Wred};
use crate::events::{CpIndex, NodeId, QueueId};
use crate::random::{Owner, Stream};
use crate::state::frame::GONE;
use crate::state::port::{
    CREDITED, FLOW_CONTROLLED, IMPAIRED, MARKS_AT_DEPARTURE, MARKS_BY_PORT, POOLED, PortState, QueueState, RETRIED,
    SCHEDULED, SENDS_PAUSES, SHAPED, TRIMS, WRED,
};
use crate::state::scheduler::Scheduler;
use crate::state::wred::EarlyDetection;

/// The ports of a network, whatever its scheme. The queues of those with congestion points have them in the order of
/// [`cp_queues`]. `full` says whether they are [`Full`](crate::Full).
pub fn ports(config: &Config<'_>, full: bool, seed: u64) -> Vec<PortState> {
    let marks_above = config.ecn_threshold.map_or(u32::MAX, |threshold| threshold.0 as u32);
    let pooled: BTreeSet<NodeId> = config.pools.iter().map(|pool| pool.node).collect();
    let (wred, scheduler) = (wred(config), Scheduler::new(config));
    let mut cps = 0;
    let state = |(id, port): (PortId, &Port)| {
        let (max_len, max_frames) = match port.capacity {
            // No queue has 2^32 octets: see `config::LARGEST_QUEUE`.
            Capacity::Octets(o) => (o.0 as u32, 0),
            Capacity::Frames(n) => (0, n),
            Capacity::Arbiter => (u32::MAX, 0),
        };
        let mut queues = Vec::with_capacity(config.queues_per_port());
        let mut least = u32::MAX;
        for &priority in config.priorities {
            let table = wred.get(&(id, priority));
            // The length of one queue says nothing where that of all counts.
            let first = if config.marking.by_port { 0 } else { LARGEST_QUEUE.0 };
            let marks_above = table.map_or(marks_above, |table| table.ramp.k_min.min(first) as u32);
            least = least.min(marks_above);
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
            let controlled = config.pfc.is_some() || !config.credits.is_empty();
            state.attention |= if controlled { FLOW_CONTROLLED } else { 0 };
            state.attention |= if pooled.contains(&port.node) { POOLED } else { 0 };
            state.attention |= if config.marking.by_port { MARKS_BY_PORT } else { 0 };
            state.attention |= if config.marking.at_departure { MARKS_AT_DEPARTURE } else { 0 };
            state.attention |= if config.trimmed.is_empty() { 0 } else { TRIMS };
            if let Some(scheduler) = &scheduler {
                let mut scheduler = scheduler.clone();
                if let Some(limit) = config.credit_limit {
                    scheduler.limit_credits(limit, port.rate, config.wire_overhead);
                }
                state.attention |= SCHEDULED | if scheduler.shapes() { SHAPED } else { 0 };
                state.ledger.scheduler = Some(scheduler);
            }
            if wred.range((id, 0)..=(id, u8::MAX)).next().is_some() {
                state.attention |= WRED;
                let early = |&priority: &u8| {
                    let table = wred.get(&(id, priority)).copied();
                    EarlyDetection::new(table, marks_above, seed, config.queue(id, priority).index())
                };
                state.ledger.early = config.priorities.iter().map(early).collect();
            }
        }
        state.mark_above(least);
        state
    };
    let mut ports: Vec<PortState> = (0..).map(PortId).zip(config.ports).map(state).collect();
    for impairment in config.impairments.iter().filter(|_| full) {
        let port = &mut ports[impairment.port.index()];
        port.attention |= IMPAIRED;
        port.ledger.impairments.add(*impairment);
    }
    let credited = config.credits.iter().map(|line| (line.port, CREDITED));
    let retried = config.retries.iter().map(|line| (line.port, RETRIED));
    for (port, kind) in credited.chain(retried).filter(|_| full) {
        let back = config.reverse[port.index()];
        if back != PortId::NONE {
            ports[port.index()].attention |= kind | SENDS_PAUSES;
            ports[back.index()].attention |= SENDS_PAUSES;
        }
    }
    ports
}

/// The queues with WRED.
fn wred<'a>(config: &Config<'a>) -> BTreeMap<(PortId, u8), &'a Wred> {
    config.wred.iter().map(|table| ((table.port, table.priority), table)).collect()
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
    /// The thresholds of its WRED, where it has any.
    pub ramp: Option<Ramp>,
}

/// The queues with congestion points: port by port, class by class.
pub fn cp_queues(config: &Config<'_>, seed: u64) -> Vec<CpQueue> {
    let (largest, wred) = (config.largest_frame, wred(config));
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
            let ramp = wred.get(&(id, priority)).map(|table| table.ramp);
            queues.push(CpQueue { queue: config.queue(id, priority), class, place, ramp });
        }
    }
    queues
}

/// The class of a priority; [`GONE`] where no flow has it.
pub fn class_of(config: &Config<'_>, priority: usize) -> TrafficClass {
    let class = config.priorities.iter().position(|&p| usize::from(p) == priority);
    class.map_or(GONE, |class| TrafficClass(class as u8))
}
