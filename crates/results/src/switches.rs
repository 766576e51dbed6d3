//! The part of a summary that is about the memory of switches and the stops between them.

use penstock_scenario::Plan;
use penstock_schemes::Instant;
use penstock_sim::metrics_of;
use penstock_sim::outcome::{Deadlock, Outcome, PoolOutcome};
use serde::{Deserialize, Serialize};

use crate::schema::{Key, Object, Shape, Shaped, object, record, value, value_type};

metrics_of!(pool, run => object!(PoolSummary of PoolSource,
    "Memory that queues of a switch share. Lengths cover the time after the warm-up, counts the whole run; in a window, everything covers \
     the window."));

record! {
    /// A deadlock: a cycle of queues that priority flow control has stopped. Frames that came over the line of each one wait in the next, and
    /// those of the last in the first, so that none will ever go on.
    DeadlockSummary {
        /// The queues' ports, `node->peer`, in the order of the cycle.
        ports: Vec<String>, "";
        /// The queues' priorities, likewise.
        priorities: Vec<u8>, "";
        /// When the last of them was stopped.
        since_s: f64, "s";
        /// When the watchdog broke it. Null if it lasted to the end of the run.
        ended_s: Option<f64>, "s";
    }
}

/// Source of the summary of a pool.
struct PoolSource<'a> {
    plan: &'a Plan,
    /// Its index.
    pool: usize,
    outcome: &'a PoolOutcome,
}

impl PoolSource<'_> {
    fn switch(&self) -> String {
        self.plan.node_names[self.plan.network.pools[self.pool].node.index()].clone()
    }

    fn name(&self) -> String {
        self.plan.pool_names[self.pool].clone()
    }

    fn size_octets(&self) -> u64 {
        self.plan.network.pools[self.pool].size.0
    }

    fn headroom_octets(&self) -> u64 {
        self.plan.network.pools[self.pool].headroom.0
    }

    fn headroom_needed_octets(&self) -> u64 {
        self.plan.headroom_needed[self.pool].0
    }

    fn xoff_alone_octets(&self) -> Option<u64> {
        Some(self.plan.stopping[self.pool]?.alone.0)
    }

    fn xoff_together_octets(&self) -> Option<u64> {
        Some(self.plan.stopping[self.pool]?.together.0)
    }
}

/// The pools of a run or a window.
pub(crate) fn pools(plan: &Plan, outcome: &Outcome) -> Vec<PoolSummary> {
    let pools = outcome.pools.iter().enumerate();
    pools.map(|(pool, outcome)| PoolSummary::new(&PoolSource { plan, pool, outcome })).collect()
}

/// The deadlocks of a run.
pub(crate) fn deadlocks(plan: &Plan, outcome: &Outcome) -> Vec<DeadlockSummary> {
    outcome.deadlocks.iter().map(|deadlock| deadlock_of(plan, deadlock)).collect()
}

fn deadlock_of(plan: &Plan, deadlock: &Deadlock) -> DeadlockSummary {
    let places = deadlock.cycle.iter().filter_map(|&queue| plan.network.port_and_priority(queue));
    let (ports, priorities) = places.map(|(port, priority)| (plan.port_name(port).to_owned(), priority)).unzip();
    DeadlockSummary {
        ports,
        priorities,
        since_s: deadlock.since.as_seconds(),
        ended_s: deadlock.ended.map(Instant::as_seconds),
    }
}
