//! Deadlocks of priority flow control: queues that wait for one another, so that none will ever go on.
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

use std::collections::{BTreeMap, BTreeSet};

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Instant;

use crate::frame::Arena;
use crate::network::QueueId;
use crate::pause::Pauses;
use crate::port::PortState;

/// A cycle of queues that priority flow control has stopped, each of which waits for the next one, and the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// The queues. Frames that came over the line of each one wait in the next.
    pub cycle: Vec<QueueId>,
    /// When the last of them was stopped.
    pub since: Instant,
    /// When the watchdog broke it; `None`: it lasted to the end.
    pub ended: Option<Instant>,
}

/// For each stopped queue: the octets that wait for it in each other stopped queue, and their memory in a pool.
type Waiting = BTreeMap<QueueId, BTreeMap<QueueId, (u64, u64)>>;

/// The network that is searched for a deadlock.
pub(crate) struct Search<'a> {
    pub(crate) ports: &'a [PortState],
    pub(crate) pauses: &'a Pauses,
    pub(crate) frames: &'a dyn Arena,
}

impl Search<'_> {
    /// A cycle of queues that will never go on, if there is one.
    pub(crate) fn deadlock(&self) -> Option<Deadlock> {
        let waiting = self.waiting_for_stopped();
        let mut stuck: BTreeSet<QueueId> = waiting.keys().copied().collect();
        loop {
            let all = |(): ()| stuck.iter().map(|&queue| (queue, sum(&waiting[&queue], &stuck)));
            let goes_on = |&(queue, (octets, memory)): &(QueueId, (u64, u64))| {
                let pool = all(()).filter(|&(other, _)| self.pauses.share_a_pool(queue, other));
                let of_pool = pool.map(|(_, (_, memory))| memory).sum();
                self.pauses.would_go_on(queue, octets, memory, of_pool)
            };
            let moving: Vec<QueueId> = all(()).filter(goes_on).map(|(queue, _)| queue).collect();
            if moving.is_empty() {
                break;
            }
            moving.iter().for_each(|queue| {
                stuck.remove(queue);
            });
        }
        let cycle = cycle(&waiting, &stuck)?;
        let since = cycle.iter().map(|&queue| self.pauses.stopped_since(queue)).max()?;
        Some(Deadlock { cycle, since, ended: None })
    }

    /// The octets that keep each stopped queue from going on, by the stopped queue in which they wait.
    fn waiting_for_stopped(&self) -> Waiting {
        let mut waiting: Waiting = self.pauses.stopped().map(|queue| (queue, BTreeMap::new())).collect();
        if waiting.is_empty() {
            return waiting;
        }
        for (port, p) in (0..).map(PortId).zip(self.ports).filter(|(_, p)| p.watched()) {
            for (class, q) in (0..).map(TrafficClass).zip(&p.queues).filter(|(class, _)| p.stopped & class.bit() != 0) {
                let own = QueueId(port.0 * p.queues.len() as u32 + u32::from(class.0));
                for frame in q.waiting.iter(self.frames) {
                    // The place of a counter is that of the queue that it stops.
                    let Some(counter) = self.pauses.holder(frame) else { continue };
                    let Some(by_queue) = waiting.get_mut(&QueueId(counter.0)) else { continue };
                    let octets = self.frames.head(frame).octets;
                    let (all, memory) = by_queue.entry(own).or_default();
                    *all += u64::from(octets);
                    *memory += self.pauses.memory(own, octets);
                }
            }
        }
        waiting
    }
}

/// Octets and memory that wait in queues of `stuck`.
fn sum(by_queue: &BTreeMap<QueueId, (u64, u64)>, stuck: &BTreeSet<QueueId>) -> (u64, u64) {
    let within = by_queue.iter().filter(|(queue, _)| stuck.contains(queue));
    within.fold((0, 0), |(octets, memory), (_, own)| (octets + own.0, memory + own.1))
}

/// The cycle that the way from the first stuck queue ends in, going to the first that each waits for.
fn cycle(waiting: &Waiting, stuck: &BTreeSet<QueueId>) -> Option<Vec<QueueId>> {
    let mut way = vec![*stuck.first()?];
    loop {
        let last = way.last()?;
        let next = waiting[last].keys().copied().find(|queue| stuck.contains(queue))?;
        if let Some(start) = way.iter().position(|&queue| queue == next) {
            return Some(way.split_off(start));
        }
        way.push(next);
    }
}
