//! How late a process was: a histogram that is small, whatever is put in.

use serde::{Deserialize, Serialize};

/// Buckets in each doubling of the time.
const STEPS: u64 = 16;

/// A histogram of times in nanoseconds, each known to a sixteenth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// How many fell into each bucket; later buckets are empty.
    buckets: Vec<u64>,
    count: u64,
    most: u64,
}

impl Lateness {
    /// Something was late by `ns`.
    pub fn add(&mut self, ns: u64) {
        let bucket = bucket(ns);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.most = self.most.max(ns);
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.resize(self.buckets.len().max(other.buckets.len()), 0);
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += other;
        }
        self.count += other.count;
        self.most = self.most.max(other.most);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest, ns.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The least time that `share` of all do not exceed, ns, rounded up to the end of its bucket; 0 if there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut passed = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            passed += count;
            if passed >= wanted && count > 0 {
                return end(bucket).min(self.most);
            }
        }
        0
    }
}

fn bucket(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let doubling = u64::from(ns.ilog2() - STEPS.ilog2());
    (doubling * STEPS + (ns >> doubling)) as usize
}

/// The largest time of a bucket.
fn end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let doubling = bucket / STEPS - 1;
    ((bucket - doubling * STEPS + 1) << doubling) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another() {
        // 16 to 31 have a bucket each, 32 and 33 share one.
        assert_eq!([0, 15, 16, 31, 32, 33, 34, 63, 64].map(bucket), [0, 15, 16, 31, 32, 32, 33, 47, 48]);
        assert_eq!([15, 31, 32, 47].map(end), [15, 31, 33, 63]);
        for ns in [1, 100, 12_345, 1 << 40, u64::MAX >> 1] {
            assert!(end(bucket(ns)) >= ns && bucket(end(bucket(ns))) == bucket(ns), "{ns}");
        }
    }

    #[test]
    fn quantiles_of_known_times() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), 0);
        for ns in 1..=100 {
            lateness.add(ns * 1000);
        }
        let near = |share, wanted: u64| {
            let found = lateness.quantile(share);
            assert!(found >= wanted && found <= wanted + wanted / 16 + 1, "{found} for {wanted}");
        };
        near(0.5, 50_000);
        near(0.99, 99_000);
        assert_eq!((lateness.quantile(1.0), lateness.most(), lateness.count()), (100_000, 100_000, 100));
        let mut both = lateness.clone();
        both.merge(&lateness);
        assert_eq!((both.count(), both.quantile(0.5)), (200, lateness.quantile(0.5)));
    }
}
