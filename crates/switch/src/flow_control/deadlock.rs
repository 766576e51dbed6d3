//! Deadlocks of priority flow control and of credits: queues that wait for one another, so that none will ever go on.
//!
//! A stopped queue goes on when the buffer that stopped it has let go of its frames. They wait in output queues of that switch. Where these
//! are stopped as well, and their buffers' frames wait in stopped queues, and so on round to the first one, nothing moves any more:
//!
//! ```text
//!   queue A is stopped by the buffer behind it, whose frames wait in queue B
//!   queue B is stopped by the buffer behind it, whose frames wait in queue A
//! ```
//!
//! The queues that are stuck are found as the largest set of stopped queues of which each has more octets than XON waiting in queues of
//! the set. All others go on sooner or later. A stop of a set's queue is for good, so the deadlock began with the last stop of its cycle.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use penstock_schemes::Instant;

use crate::events::QueueId;
use crate::flow_control::Deadlock;
use crate::flow_control::pause::Pauses;
use crate::state::frame::Arena;
use crate::state::port::PortState;

/// For each queue: the octets of its buffer that wait in each stopped queue, and their memory in a pool.
type Waiting = BTreeMap<QueueId, BTreeMap<QueueId, (u64, u64)>>;

/// The stopped queues of a network, or of a part of one, and the frames that wait in them.
#[derive(Debug, Default)]
pub struct StoppedQueues {
    /// Since when each is stopped.
    stops: BTreeMap<QueueId, Instant>,
    /// The credits that each needs that waits for some.
    needs: BTreeMap<QueueId, u64>,
    /// The queues that a full buffer keeps stopped.
    full: BTreeSet<QueueId>,
    waiting: Waiting,
}

impl StoppedQueues {
    /// That of a network, or of a part of one.
    pub fn of(ports: &[PortState], pauses: &Pauses, frames: &dyn Arena) -> Self {
        let mut stopped_queues = Self { full: pauses.full().collect(), ..Self::default() };
        for (queue, since, need) in pauses.stopped() {
            stopped_queues.stops.insert(queue, since);
            stopped_queues.needs.insert(queue, need);
        }
        for &own in stopped_queues.stops.keys() {
            let (port, class) = pauses.port_and_class(own);
            let p = &ports[port.index()];
            if !p.flow_controlled() {
                continue;
            }
            let queue = &p.queues[class.index()];
            for frame in queue.waiting.iter(frames) {
                // The index of a counter is that of the queue that it stops.
                let Some(counter) = pauses.holder(frame) else { continue };
                let octets = frames.head(frame).octets;
                let (all, memory) =
                    stopped_queues.waiting.entry(QueueId(counter.0)).or_default().entry(own).or_default();
                *all += u64::from(octets);
                *memory += pauses.memory(own, counter, octets);
            }
        }
        stopped_queues
    }

    /// Adds that of another part of the network.
    pub fn absorb(&mut self, other: Self) {
        self.stops.extend(other.stops);
        self.needs.extend(other.needs);
        self.full.extend(other.full);
        for (queue, by_queue) in other.waiting {
            self.waiting.entry(queue).or_default().extend(by_queue);
        }
    }

    /// A cycle of queues that will never go on, if there is one.
    pub fn deadlock(&self, pauses: &Pauses) -> Option<Deadlock> {
        let mut stuck: BTreeSet<QueueId> =
            self.stops.keys().copied().filter(|queue| self.full.contains(queue)).collect();
        loop {
            let all = |(): ()| stuck.iter().map(|&queue| (queue, sum(self.waiting.get(&queue), &stuck)));
            let goes_on = |&(queue, (octets, memory)): &(QueueId, (u64, u64))| {
                let pool = all(()).filter(|&(other, _)| pauses.share_a_pool(queue, other));
                let of_pool = pool.map(|(_, (_, memory))| memory).sum();
                pauses.would_go_on(queue, (octets, memory, of_pool), self.needs[&queue])
            };
            let moving: Vec<QueueId> = all(()).filter(goes_on).map(|(queue, _)| queue).collect();
            if moving.is_empty() {
                break;
            }
            moving.iter().for_each(|queue| {
                stuck.remove(queue);
            });
        }
        let cycle = cycle(&self.waiting, &stuck)?;
        let since = cycle.iter().map(|queue| self.stops[queue]).max()?;
        Some(Deadlock { cycle, since, ended: None })
    }
}

/// Octets and memory that wait in queues of `stuck`.
fn sum(by_queue: Option<&BTreeMap<QueueId, (u64, u64)>>, stuck: &BTreeSet<QueueId>) -> (u64, u64) {
    let within = by_queue.into_iter().flatten().filter(|(queue, _)| stuck.contains(queue));
    within.fold((0, 0), |(octets, memory), (_, own)| (octets + own.0, memory + own.1))
}

/// The cycle that the path from the first stuck queue ends in, going to the first that each waits for.
fn cycle(waiting: &Waiting, stuck: &BTreeSet<QueueId>) -> Option<Vec<QueueId>> {
    let mut path = vec![*stuck.first()?];
    loop {
        let last = path.last()?;
        let next = waiting.get(last)?.keys().copied().find(|queue| stuck.contains(queue))?;
        if let Some(start) = path.iter().position(|&queue| queue == next) {
            return Some(path.split_off(start));
        }
        path.push(next);
    }
}
