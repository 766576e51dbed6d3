//! Histograms of queues: for how long each length lasted, how long frames stayed, and how long stops took.
//!
//! A number below 128 has a bucket to itself. From there on each power of two has 64 buckets of the same width, so that the middle of a
//! bucket is within 1/128 of each number in it. (After HdrHistogram: Tene 2012)

use alloc::vec::Vec;

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

    /// The middle of the bucket of the least number that `permille` thousandths of the weight do not exceed; `None` without weight.
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
        let before = earlier.weights.iter().copied().chain(core::iter::repeat(0));
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
    /// What has been added since it was `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            lengths: self.lengths.since(&earlier.lengths),
            delays: self.delays.since(&earlier.delays),
            stops: self.stops.since(&earlier.stops),
        }
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
