//! The result of a run: counts, time-weighted statistics, and the conservation of frames.
//!
//! Of a run, counts cover all of it. Means, deviations, extremes, throughput and utilisation cover the time from
//! [`Sim::start_measuring`](crate::Sim::start_measuring) (the end of the warm-up) to the end. Of a window
//! ([`Sim::open_window`](crate::Sim::open_window)), everything covers the window.
//!
//! The fields are the metrics that [`metrics_of`] declares.

use std::fmt::Debug;

use penstock_schemes::{Duration, Instant};

use crate::histogram::QueueHistograms;
use crate::metrics_of;
use crate::network::QueueId;

pub use crate::network::{JobOutcome, LinkSpan, MessageAccount, PathPiece, SentOnPath, Span};
pub use penstock_switch::flow_control::Deadlock;

/// The result of a run, or of a window of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Sums over the network.
    pub totals: Totals,
    /// Every queue, under [`QueueId`](crate::network::QueueId).
    pub queues: Vec<QueueOutcome>,
    /// The histograms of queues, where they are kept ([`Sim::keep_histograms`](crate::Sim::keep_histograms)).
    pub histograms: Vec<(QueueId, QueueHistograms)>,
    /// Every flow of [`Network::flows`](crate::Network::flows).
    pub flows: Vec<FlowOutcome>,
    /// Every flow of a process, in the order of their numbers. Not in windows.
    pub ends: Vec<FlowEnd>,
    /// Every job of the run's [`Work`](crate::network::Work). Not in windows.
    pub jobs: Vec<JobOutcome>,
    /// Every node (zeros for switches).
    pub hosts: Vec<HostOutcome>,
    /// Every one of [`Network::pools`](crate::Network::pools).
    pub pools: Vec<PoolOutcome>,
    /// Deadlocks of flow control: those that the watchdog broke, and one that is there at the end. Not in windows.
    pub deadlocks: Vec<Deadlock>,
    /// Time measured.
    pub measured: Duration,
}

/// Declares a part of an outcome with the metrics that are handed to it.
macro_rules! outcome {
    (
        ($name:ident $doc:literal)
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal $(, where $when:ident)? })*
    ) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct $name {
            $(#[doc = unit!($text $unit)] pub $metric: $type,)*
        }
    };
}

/// A description with its unit, where there is one.
macro_rules! unit {
    ($text:literal "") => {
        $text
    };
    ($text:literal $unit:literal) => {
        concat!($text, " (", $unit, ")")
    };
}

/// Declares the part of an outcome that is computed together, so that none of it can be forgotten where it is computed.
macro_rules! part {
    (
        ($name:ident of $outcome:ident)
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal $(, where $when:ident)? })*
    ) => {
        #[doc = concat!("A part of [`", stringify!($outcome), "`].")]
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $name {
            $(pub(crate) $metric: $type,)*
        }

        impl $name {
            fn fill(self, outcome: &mut $outcome) {
                $(outcome.$metric = self.$metric;)*
            }
        }
    };
}

/// Counts that a window has as a difference.
macro_rules! since {
    (
        ($name:ident)
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal $(, where $when:ident)? })*
    ) => {
        impl $name {
            /// The counts since `earlier`, a state of the same run.
            pub(crate) fn since(&self, earlier: &Self) -> Self {
                let mut counted = Self::default();
                $(counted.$metric = self.$metric - earlier.$metric;)*
                counted
            }
        }
    };
}

/// Counts of several parts of a network are sums.
macro_rules! plus {
    (
        ($name:ident)
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal $(, where $when:ident)? })*
    ) => {
        impl $name {
            /// Adds the counts of another part of the network.
            pub(crate) fn absorb(&mut self, other: &Self) {
                $(self.$metric += other.$metric;)*
            }
        }
    };
}

metrics_of!(totals, engine => outcome!(Totals
    "Sums over the network and the whole run, or the window. A window does not say what is under path at its end, nor what was \
     discarded at sources, nor events: these are 0 there."));
metrics_of!(totals, counts => since!(Totals));
metrics_of!(totals, counts => plus!(Totals));

metrics_of!(queue, engine => outcome!(QueueOutcome "A queue's result."));
metrics_of!(queue, counts => part!(QueueCounts of QueueOutcome));
metrics_of!(queue, measures => part!(QueueMeasures of QueueOutcome));
metrics_of!(queue, counts => since!(QueueCounts));

metrics_of!(flow, engine => outcome!(FlowOutcome "A flow's result."));
metrics_of!(flow, counts => part!(FlowCounts of FlowOutcome));
metrics_of!(flow, measures => part!(FlowMeasures of FlowOutcome));
metrics_of!(flow, counts => since!(FlowCounts));
metrics_of!(flow, counts => plus!(FlowCounts));

metrics_of!(host, engine => outcome!(HostOutcome "A host's result."));

metrics_of!(pool, engine => outcome!(PoolOutcome "A pool's result."));
metrics_of!(pool, counts => part!(PoolCounts of PoolOutcome));
metrics_of!(pool, measures => part!(PoolMeasures of PoolOutcome));
metrics_of!(pool, counts => since!(PoolCounts));

impl PoolOutcome {
    pub(crate) fn new(counts: PoolCounts, measures: PoolMeasures) -> Self {
        let mut outcome = Self::default();
        counts.fill(&mut outcome);
        measures.fill(&mut outcome);
        outcome
    }
}

impl QueueOutcome {
    pub(crate) fn new(counts: QueueCounts, measures: QueueMeasures) -> Self {
        let mut outcome = Self::default();
        counts.fill(&mut outcome);
        measures.fill(&mut outcome);
        outcome
    }
}

impl FlowOutcome {
    pub(crate) fn new(counts: FlowCounts, measures: FlowMeasures) -> Self {
        let mut outcome = Self::default();
        counts.fill(&mut outcome);
        measures.fill(&mut outcome);
        outcome
    }
}

/// Mean and standard deviation of a quantity from its integrals over `time`, in picoseconds.
pub(crate) fn moments(time: Duration, area: u128, area_squared: f64) -> (f64, f64) {
    if time == Duration::ZERO {
        return (0.0, 0.0);
    }
    let time = time.0 as f64;
    let mean = area as f64 / time;
    let variance = area_squared / time - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

/// A sum of products that 128 bits do not hold: the square of 100 Tb/s for 34 ms is as much.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    low: u128,
    /// In 2^128.
    high: u64,
}

impl Sum {
    /// Adds `square` × `time`.
    pub(crate) fn add(&mut self, square: u128, time: u64) {
        let below = (square & u128::from(u64::MAX)) * u128::from(time);
        let above = (square >> 64) * u128::from(time);
        let (low, first) = self.low.overflowing_add(below);
        let (low, second) = low.overflowing_add(above << 64);
        self.low = low;
        self.high += (above >> 64) as u64 + u64::from(first) + u64::from(second);
    }

    /// Adds another sum.
    pub(crate) fn absorb(&mut self, other: Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high += other.high + u64::from(carry);
    }

    /// This sum without an earlier state of it.
    pub(crate) fn less(self, earlier: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(earlier.low);
        Self { low, high: self.high - earlier.high - u64::from(borrow) }
    }

    pub(crate) fn as_f64(self) -> f64 {
        self.high as f64 * (u128::MAX as f64) + self.low as f64
    }
}

/// The rest of a flow of a process that has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowEnd {
    /// When its last octet was delivered; [`Instant::NEVER`] if data is missing.
    pub completed: Instant,
    /// When its transport knew that; [`Instant::NEVER`] if it does not, or if there is none.
    pub acked: Instant,
    /// Segments that its transport sent again, and its timeouts; no more than 32 bits hold.
    pub retransmissions: u32,
    /// Retransmission timeouts of its transport.
    pub timeouts: u32,
}

impl FlowEnd {
    /// That of a flow that has not ended.
    pub(crate) const NONE: Self =
        Self { completed: Instant::NEVER, acked: Instant::NEVER, retransmissions: 0, timeouts: 0 };

    /// Adds what another part of the network knows of the flow: one has its source, and one its destination.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.completed = self.completed.min(other.completed);
        self.acked = self.acked.min(other.acked);
        self.retransmissions = self.retransmissions.saturating_add(other.retransmissions);
        self.timeouts = self.timeouts.saturating_add(other.timeouts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Tb/s for 2 000 000 s: 10^28 × 2 × 10^18, of which 128 bits hold the 10^-8.
    #[test]
    fn a_sum_holds_the_largest_square_for_the_longest_time() {
        let mut sum = Sum::default();
        for _ in 0..1000 {
            sum.add(10_u128.pow(28), 2 * 10_u64.pow(15));
        }
        assert!((sum.as_f64() / 2e46 - 1.0).abs() < 1e-15, "{}", sum.as_f64());
        let (mean, deviation) = moments(Duration(2 * 10_u64.pow(18)), 2 * 10_u128.pow(32), sum.as_f64());
        assert!(mean == 1e14 && deviation < 1e14 * 1e-7, "{mean} {deviation}");
        let mut small = Sum::default();
        small.add(u128::from(u64::MAX), u64::MAX);
        assert_eq!(small.as_f64(), (u128::from(u64::MAX) * u128::from(u64::MAX)) as f64);
        assert_eq!((sum.high > 0, sum.less(sum).as_f64()), (true, 0.0));
        // 2^128 + 2 less 3: a borrow.
        let (large, three) = (Sum { low: 2, high: 1 }, Sum { low: 3, high: 0 });
        assert_eq!(large.less(three).low, u128::MAX);
    }
}
