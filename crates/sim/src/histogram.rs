//! Histograms of queues: for how long each length lasted, how long frames stayed, and how long stops took.
//!
//! A number below 128 has a bucket to itself. From there on each power of two has 64 buckets of the same width, so that the middle of a
//! bucket is within 1/128 of each number in it. (After HdrHistogram: Tene 2012)

use std::collections::VecDeque;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Instant, Scheme};

use crate::engine::Sim;
use crate::network::QueueId;
use crate::port::{LengthStatistics, PortState};
use crate::probe::Probe;

/// Buckets of each power of two, from twice as many on.
const BUCKETS: u64 = 64;

/// Numbers with weights: how often each was there, or for how long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// By bucket, as far as numbers have come.
    weights: Vec<u64>,
}

impl Histogram {
    /// Adds a number with its weight.
    pub fn add(&mut self, number: u64, weight: u64) {
        let bucket = bucket(number);
        if bucket >= self.weights.len() {
            self.weights.resize(bucket + 1, 0);
        }
        self.weights[bucket] += weight;
    }

    /// The middle of the bucket of the least number that so many thousandths of the weight do not exceed; `None` of no weight at all.
    #[must_use]
    pub fn permille(&self, permille: u64) -> Option<f64> {
        let whole: u128 = self.weights.iter().map(|&weight| u128::from(weight)).sum();
        let wanted = (whole * u128::from(permille)).div_ceil(1000).max(1);
        let mut passed = 0;
        let bucket = self.weights.iter().position(|&weight| {
            passed += u128::from(weight);
            passed >= wanted
        })?;
        Some(middle(bucket))
    }

    /// What has been added since it was `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let before = earlier.weights.iter().copied().chain(std::iter::repeat(0));
        Self { weights: self.weights.iter().zip(before).map(|(now, before)| now - before).collect() }
    }
}

fn bucket(number: u64) -> usize {
    let shift = number.max(BUCKETS).ilog2() - BUCKETS.ilog2();
    (u64::from(shift) * BUCKETS + (number >> shift)) as usize
}

fn middle(bucket: usize) -> f64 {
    let shift = (bucket as u64 / BUCKETS).saturating_sub(1);
    let least = (bucket as u64 - shift * BUCKETS) << shift;
    least as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

/// The histograms of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueHistograms {
    /// Its lengths in octets, each for as many picoseconds as it lasted.
    pub lengths: Histogram,
    /// The times that frames stayed in it, in picoseconds.
    pub delays: Histogram,
    /// The stops by flow control that ended, in picoseconds.
    pub stops: Histogram,
}

impl QueueHistograms {
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            lengths: self.lengths.since(&earlier.lengths),
            delays: self.delays.since(&earlier.delays),
            stops: self.stops.since(&earlier.stops),
        }
    }
}

/// The histograms of some queues of a network; of none, where they are not kept.
#[derive(Debug, Default)]
pub(crate) struct Histograms {
    per_port: u32,
    /// For each queue of the network, its index in `kept`.
    index: Vec<Option<u32>>,
    kept: Vec<Kept>,
}

/// A queue's port and class.
type Place = (PortId, TrafficClass);

#[derive(Debug)]
struct Kept {
    queue: QueueId,
    histograms: QueueHistograms,
    /// When each of its frames joined it.
    joined: VecDeque<Instant>,
}

impl Histograms {
    /// Of these queues, of `queues` with `per_port` at each port.
    pub(crate) fn of(kept: &[QueueId], queues: u32, per_port: u32) -> Self {
        let mut index = vec![None; queues as usize];
        for (place, queue) in (0..).zip(kept) {
            index[queue.index()] = Some(place);
        }
        let new = |&queue: &QueueId| Kept { queue, histograms: QueueHistograms::default(), joined: VecDeque::new() };
        Self { per_port, index, kept: kept.iter().map(new).collect() }
    }

    /// Whether there are any.
    #[inline(always)]
    pub(crate) fn are_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Those of a queue.
    fn at(&mut self, (port, class): Place) -> Option<&mut Kept> {
        let queue = QueueId(port.0 * self.per_port + u32::from(class.0));
        self.index.get(queue.index()).copied().flatten().map(|place| &mut self.kept[place as usize])
    }

    /// A frame joins a queue of the length `len`.
    #[inline(never)]
    pub(crate) fn joins(&mut self, queue: Place, now: Instant, statistics: &LengthStatistics, len: u64) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.lengths.add(len, statistics.since(now));
            kept.joined.push_back(now);
        }
    }

    /// The frame that joined it first leaves a queue of the length `len`.
    #[inline(never)]
    pub(crate) fn leaves(&mut self, queue: Place, at: Instant, statistics: &LengthStatistics, len: u64) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.lengths.add(len, statistics.since(at));
            let joined = kept.joined.pop_front().expect("a frame that leaves a queue has joined it");
            kept.histograms.delays.add(at.since(joined).0, 1);
        }
    }

    /// The last `frames` of a queue of the length `len` are taken out of it: they have no delay.
    pub(crate) fn drains(
        &mut self,
        queue: Place,
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
    pub(crate) fn stopped(&mut self, queue: Place, since: Instant, now: Instant) {
        if let Some(kept) = self.at(queue) {
            kept.histograms.stops.add(now.since(since).0, 1);
        }
    }

    /// Brings lengths to the present, before the statistics of queues are.
    pub(crate) fn pass_all(&mut self, now: Instant, ports: &[PortState]) {
        for kept in &mut self.kept {
            let (port, class) = (kept.queue.0 / self.per_port, kept.queue.0 % self.per_port);
            let queue = &ports[port as usize].queues[class as usize];
            kept.histograms.lengths.add(queue.len, queue.statistics.since(now));
        }
    }

    /// The queues, and their histograms until now.
    pub(crate) fn reading(&self) -> Vec<(QueueId, QueueHistograms)> {
        self.kept.iter().map(|kept| (kept.queue, kept.histograms.clone())).collect()
    }
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// Keeps histograms of these data queues. To be called before the run begins, of the engine with `PFC`.
    pub fn keep_histograms(&mut self, queues: &[QueueId]) {
        let fabric = &mut self.state.fabric;
        fabric.histograms = Histograms::of(queues, fabric.queues(), fabric.per_port);
        self.state.measuring.start_histograms(&fabric.histograms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_within_a_hundredth_of_every_number_in_it() {
        let near = |bits: u32| [1_u64 << bits, (1 << bits) + 1, (1 << bits) - 1, 3 << (bits.max(1) - 1)];
        for number in (0..100_000).chain((0..62).flat_map(near)) {
            let off = (middle(bucket(number)) - number as f64).abs();
            assert!(off <= number as f64 / 128.0, "{number}: {}", middle(bucket(number)));
            assert!(number >= 128 || off == 0.0);
        }
        for number in 0..100_000 {
            assert!(bucket(number + 1) - bucket(number) <= 1);
        }
    }

    #[test]
    fn a_percentile_is_the_least_number_that_so_much_weight_does_not_exceed() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.permille(500), None);
        histogram.add(10, 989);
        histogram.add(100, 10);
        histogram.add(60_000, 1);
        assert_eq!([500, 989, 990, 999].map(|rank| histogram.permille(rank)), [10.0, 10.0, 100.0, 100.0].map(Some));
        let most = histogram.permille(1000).unwrap();
        assert!((most / 60_000.0 - 1.0).abs() < 0.01);
        let earlier = histogram.clone();
        histogram.add(20, 5);
        assert_eq!(histogram.since(&earlier).permille(500), Some(20.0));
    }
}
