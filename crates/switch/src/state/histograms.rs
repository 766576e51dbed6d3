//! The histograms of queues while a run lasts, and when each of their frames joined.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Instant;

use crate::events::QueueId;
use crate::histogram::QueueHistograms;
use crate::state::length_statistics::LengthStatistics;
use crate::state::port::PortState;

/// The histograms of some queues of a network; of none, where they are not kept.
#[derive(Debug, Default)]
pub struct Histograms {
    per_port: u32,
    /// For each queue of the network, its index in `kept`.
    index: Vec<Option<u32>>,
    kept: Vec<Kept>,
}

/// A queue's port and class.
type PortAndClass = (PortId, TrafficClass);

#[derive(Debug)]
struct Kept {
    queue: QueueId,
    histograms: QueueHistograms,
    /// When each of its frames joined it.
    joined: VecDeque<Instant>,
}

impl Histograms {
    /// Of these queues, of `queues` with `per_port` at each port.
    pub fn of(kept: &[QueueId], queues: u32, per_port: u32) -> Self {
        let mut index = vec![None; queues as usize];
        for (position, queue) in (0..).zip(kept) {
            index[queue.index()] = Some(position);
        }
        let new = |&queue: &QueueId| Kept { queue, histograms: QueueHistograms::default(), joined: VecDeque::new() };
        Self { per_port, index, kept: kept.iter().map(new).collect() }
    }

    /// Those of a queue.
    fn at(&mut self, (port, class): PortAndClass) -> Option<&mut Kept> {
        let queue = QueueId(port.0 * self.per_port + u32::from(class.0));
        self.index.get(queue.index()).copied().flatten().map(|index| &mut self.kept[index as usize])
    }

    /// A frame joins a queue of the length `len`.
    #[inline(never)]
    pub fn joins(&mut self, queue: PortAndClass, now: Instant, statistics: &LengthStatistics, len: u64) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.lengths.add(len, statistics.since(now));
            kept.joined.push_back(now);
        }
    }

    /// The frame that joined it first leaves a queue of the length `len`.
    #[inline(never)]
    pub fn leaves(&mut self, queue: PortAndClass, at: Instant, statistics: &LengthStatistics, len: u64) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.lengths.add(len, statistics.since(at));
            let joined = kept.joined.pop_front().expect("a frame that leaves a queue has joined it");
            kept.histograms.delays.add(at.since(joined).0, 1);
        }
    }

    /// The last `frames` of a queue of the length `len` are taken out of it: they have no delay.
    pub fn drains(
        &mut self,
        queue: PortAndClass,
        now: Instant,
        statistics: &LengthStatistics,
        len: u64,
        frames: usize,
    ) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.lengths.add(len, statistics.since(now));
            kept.joined.truncate(kept.joined.len() - frames);
        }
    }

    /// A stop of a queue that lasted from `since` has ended.
    pub fn stopped(&mut self, queue: PortAndClass, since: Instant, now: Instant) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.stops.add(now.since(since).0, 1);
        }
    }

    /// Brings lengths to the present, before the statistics of queues are.
    pub fn pass_all(&mut self, now: Instant, ports: &[PortState]) {
        for kept in &mut self.kept {
            let (port, class) = (kept.queue.0 / self.per_port, kept.queue.0 % self.per_port);
            let queue = &ports[port as usize].queues[class as usize];
            kept.histograms.lengths.add(queue.len, queue.statistics.since(now));
        }
    }

    /// The queues, and their histograms until now.
    pub fn reading(&self) -> Vec<(QueueId, QueueHistograms)> {
        self.kept.iter().map(|kept| (kept.queue, kept.histograms.clone())).collect()
    }
}
