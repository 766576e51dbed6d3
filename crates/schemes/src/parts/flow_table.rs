//! How much each flow sends to a queue: a bounded table of estimates, from counted samples of the arriving octets.
//!
//! ```text
//!   every flow_sample octets (jittered): credit them to the flow of the arriving frame
//!   every flow_interval: estimate += flow_gain (credited - estimate), credited = 0; forget silent flows
//! ```
//!
//! A flow that is not in a full table replaces the one with the smallest estimate: only flows that send much
//! matter. Intervals end when the first frame after them arrives, so that an idle queue costs nothing.
//!
//! Sources: AF-QCN (Kabbani, Alizadeh, Yasuda, Pan, Prabhakar 2010) counts sampled frames per flow, FQCN (Zhang, Ansari
//! 2011) the frames of each flow; neither source at hand fixes the constants, which are chosen here.

use alloc::boxed::Box;
use alloc::vec;
use core::cmp::Reverse;

use crate::Draw;
use crate::info::parameters;
use crate::info::values::{count, octets, real, us};
use crate::parts::jitter::Spread;
use crate::units::{Duration, FlowKey, Instant, Octets};

parameters! {
    /// The table of flows at a congestion point.
    pub struct FlowTableParameters {
        /// Size of the flow table of a congestion point; a further flow replaces the one with the smallest
        /// estimate.
        flow_table_size: u32 {
            default: count(64),
            range: count(1)..=count(65_536),
            source: "option; AF-QCN, FQCN",
        }
        /// Mean octets between frames that are counted for their flow; the distances are spread by half.
        flow_sample: Octets {
            default: octets(6000),
            range: octets(64)..=octets(1_000_000_000),
            source: "option; AF-QCN",
        }
        /// Time over which counts are collected before they enter the estimates.
        flow_interval: Duration {
            default: us(1000),
            range: us(1)..=us(1_000_000_000),
            source: "option; AF-QCN, FQCN",
        }
        /// Weight of the last interval in an estimate, rounded to 1/256.
        flow_gain: f64 {
            default: real(0.25),
            range: real(0.004)..=real(1.0),
            source: "option",
        }
        /// A flow without a counted frame for so long is forgotten.
        flow_lifetime: Duration {
            default: us(20_000),
            range: us(1)..=us(1_000_000_000),
            source: "option",
        }
    }
}

/// Fraction bits of estimates.
const FRACTION: u32 = 8;

/// An entry, or an empty slot.
#[derive(Debug, Clone, Copy)]
struct Entry {
    flow: FlowKey,
    weight: u64,
    /// Octets credited in this interval.
    credited: u64,
    /// Octets per interval, with [`FRACTION`] fraction bits.
    estimate: u64,
    /// No interval has ended yet since the flow came.
    new: bool,
    /// When a frame of it was last counted.
    seen: Instant,
}

/// A flow and how much it sends, as the last interval left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The flow.
    pub flow: FlowKey,
    /// Its arrivals, in units that are the same for all flows of the table.
    pub arrivals: u64,
    /// Its fair share of all arrivals, W_i / sum(W) × sum(r), rounded down, in the same units.
    pub fair: u64,
    /// Its weight.
    pub weight: u64,
}

/// Estimates of how much each flow sends.
#[derive(Debug, Clone)]
pub struct FlowTable {
    interval: Duration,
    lifetime: Duration,
    /// Weight of the last interval, in 1/256.
    gain: u64,
    sample: u64,
    jitter: Spread,
    /// Octets until the next counted frame, and octets since the last one.
    left: i64,
    since: u64,
    /// The interval's end.
    ends: Instant,
    /// The first `used` slots are entries.
    slots: Box<[Entry]>,
    used: usize,
    /// Sums over the entries when the last interval ended.
    arrivals: u64,
    weights: u64,
}

impl FlowTable {
    /// An empty table.
    #[must_use]
    pub fn new(config: &FlowTableParameters) -> Self {
        let slot = Entry { flow: FlowKey(0), weight: 0, credited: 0, estimate: 0, new: true, seen: Instant::ZERO };
        Self {
            interval: config.flow_interval,
            lifetime: config.flow_lifetime,
            gain: (config.flow_gain * 256.0 + 0.5) as u64,
            sample: config.flow_sample.0,
            jitter: Spread::new(0.5),
            left: config.flow_sample.0 as i64,
            since: 0,
            ends: Instant::ZERO + config.flow_interval,
            slots: vec![slot; config.flow_table_size as usize].into_boxed_slice(),
            used: 0,
            arrivals: 0,
            weights: 0,
        }
    }

    /// Goes by `config` from now on. The interval that runs and the distance to the next counted frame go on to their end; flows and
    /// estimates stay. Of flows for which it has no room those with the smallest estimates go.
    pub fn configure(&mut self, config: &FlowTableParameters) {
        let Self { left, since, ends, arrivals, weights, .. } = *self;
        let fresh = Self::new(config);
        let room = fresh.slots.len();
        let mut slots = core::mem::take(&mut self.slots).into_vec();
        if self.used > room {
            slots[..self.used].sort_by_key(|entry| Reverse(entry.estimate));
        }
        slots.resize(room, fresh.slots[0]);
        let used = self.used.min(room);
        *self = Self { left, since, ends, slots: slots.into_boxed_slice(), used, arrivals, weights, ..fresh };
    }

    /// A frame of `octets` of `flow`, whose weight is `weight`, has arrived.
    #[inline]
    pub fn count(&mut self, now: Instant, flow: FlowKey, weight: u16, octets: u16, draw: &mut impl Draw) {
        if now >= self.ends {
            self.end_interval(now);
        }
        self.since += u64::from(octets);
        self.left -= i64::from(octets);
        if self.left < 0 {
            self.credit(now, flow, weight);
            self.left = self.jitter.apply(self.sample, draw.draw()) as i64;
        }
    }

    /// Flows in the table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether no flow is in the table.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// How much `flow` sends, and its fair share; `None` for a flow that is not in the table, or too new to have an
    /// estimate.
    #[must_use]
    pub fn share(&self, flow: FlowKey) -> Option<Share> {
        self.shares().find(|share| share.flow == flow)
    }

    /// All flows that have an estimate, and their shares.
    pub fn shares(&self) -> impl Iterator<Item = Share> + '_ {
        self.slots[..self.used].iter().filter(|entry| !entry.new).map(|entry| Share {
            flow: entry.flow,
            arrivals: entry.estimate,
            fair: (u128::from(self.arrivals) * u128::from(entry.weight) / u128::from(self.weights)) as u64,
            weight: entry.weight,
        })
    }

    /// Credits the octets since the last counted frame to `flow`.
    fn credit(&mut self, now: Instant, flow: FlowKey, weight: u16) {
        let at = match self.slots[..self.used].iter().position(|entry| entry.flow == flow) {
            Some(at) => at,
            None => {
                let at = self.slot();
                let weight = u64::from(weight.max(1));
                self.slots[at] = Entry { flow, weight, credited: 0, estimate: 0, new: true, seen: now };
                at
            }
        };
        let entry = &mut self.slots[at];
        entry.credited += self.since;
        entry.seen = now;
        self.since = 0;
    }

    /// A slot for a flow: a free one, or that of the smallest estimate (the first, if several have it).
    fn slot(&mut self) -> usize {
        if self.used < self.slots.len() {
            self.used += 1;
            return self.used - 1;
        }
        let mut at = 0;
        for i in 1..self.used {
            if self.slots[i].estimate < self.slots[at].estimate {
                at = i;
            }
        }
        at
    }

    /// Only the ratios of estimates matter, hence an interval that lasted longer because no frame came is one interval.
    fn end_interval(&mut self, now: Instant) {
        self.ends = now + self.interval;
        (self.arrivals, self.weights) = (0, 0);
        let mut i = 0;
        while i < self.used {
            let entry = &mut self.slots[i];
            if now.since(entry.seen) >= self.lifetime {
                self.used -= 1;
                self.slots.swap(i, self.used);
                continue;
            }
            let credited = entry.credited << FRACTION;
            entry.estimate = if entry.new {
                credited
            } else {
                let mix = u128::from(entry.estimate) * u128::from(256 - self.gain)
                    + u128::from(credited) * u128::from(self.gain);
                (mix / 256) as u64
            };
            entry.new = false;
            entry.credited = 0;
            self.arrivals += entry.estimate;
            self.weights += entry.weight;
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::af_qcn::AfQcn;
    use crate::testing::{Middle, config};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const INTERVAL: Duration = Duration::from_us(1000);

    fn table(changes: &[(&str, crate::Value)]) -> FlowTable {
        FlowTable::new(&config::<AfQcn>("", changes).flows)
    }

    /// `frames` of 1500 octets of each flow in turn, all at `now`.
    fn arrive(table: &mut FlowTable, now: Instant, flows: &[(u32, u16, u32)]) {
        for &(flow, weight, frames) in flows {
            for _ in 0..frames {
                table.count(now, FlowKey(flow), weight, 1500, &mut Middle);
            }
        }
    }

    /// Arrivals and fair share of a flow in octets per interval.
    fn share(table: &FlowTable, flow: u32) -> Option<(u64, u64)> {
        table.share(FlowKey(flow)).map(|share| (share.arrivals >> FRACTION, share.fair >> FRACTION))
    }

    #[test]
    fn estimates_follow_arrivals() {
        // One frame of 1500 octets in 1400: each is counted.
        let mut t = table(&[("flow_sample", octets(1400)), ("flow_gain", real(0.25))]);
        arrive(&mut t, Instant(1), &[(1, 1, 30), (2, 1, 10)]);
        assert_eq!(share(&t, 1), None, "no interval has ended");
        arrive(&mut t, Instant(1) + INTERVAL, &[(1, 1, 10)]);
        assert_eq!(share(&t, 1), Some((45_000, 30_000)), "30 × 1500 of 40 × 1500, for two flows");
        assert_eq!(share(&t, 2), Some((15_000, 30_000)));
        assert_eq!(share(&t, 3), None);
        arrive(&mut t, Instant(1) + INTERVAL + INTERVAL, &[(1, 1, 1)]);
        assert_eq!(share(&t, 1), Some((37_500, 24_375)), "3/4 × 45 000 + 1/4 × 15 000; half of 37 500 + 11 250");
        assert_eq!(share(&t, 2), Some((11_250, 24_375)), "3/4 × 15 000");
    }

    #[test]
    fn shares_are_weighted() {
        let mut t = table(&[("flow_sample", octets(1400))]);
        arrive(&mut t, Instant(1), &[(1, 3, 20), (2, 1, 20)]);
        arrive(&mut t, Instant(1) + INTERVAL, &[(1, 3, 1)]);
        assert_eq!(share(&t, 1), Some((30_000, 45_000)));
        assert_eq!(share(&t, 2), Some((30_000, 15_000)));
    }

    #[test]
    fn the_octets_between_counted_frames_go_to_the_counted_one() {
        // Frames 5, 10, 15 … are counted (6000 octets and a frame), each for 7500 octets.
        let mut t = table(&[]);
        arrive(&mut t, Instant(1), &[(1, 1, 4), (2, 1, 1), (1, 1, 4), (2, 1, 1), (1, 1, 10)]);
        arrive(&mut t, Instant(1) + INTERVAL, &[(1, 1, 1)]);
        assert_eq!(share(&t, 2), Some((15_000, 15_000)));
        assert_eq!(share(&t, 1), Some((15_000, 15_000)));
    }

    #[test]
    fn the_smallest_is_replaced_in_a_full_table() {
        let mut t = table(&[("flow_sample", octets(1400)), ("flow_table_size", count(2))]);
        arrive(&mut t, Instant(1), &[(1, 1, 30), (2, 1, 10)]);
        arrive(&mut t, Instant(1) + INTERVAL, &[(3, 1, 20)]);
        assert_eq!((t.len(), share(&t, 2)), (2, None));
        arrive(&mut t, Instant(1) + INTERVAL + INTERVAL, &[(3, 1, 1)]);
        assert_eq!(share(&t, 1), Some((33_750, 31_875)), "3/4 × 45 000; half of 33 750 + 30 000");
        assert_eq!(share(&t, 3), Some((30_000, 31_875)));
    }

    #[test]
    fn silent_flows_are_forgotten() {
        let mut t = table(&[("flow_sample", octets(1400)), ("flow_lifetime", us(3000))]);
        arrive(&mut t, Instant(1), &[(1, 1, 30), (2, 1, 10)]);
        for i in 1..=4 {
            arrive(&mut t, Instant(1) + Duration(INTERVAL.0 * i), &[(1, 1, 30)]);
        }
        assert_eq!((t.len(), share(&t, 2)), (1, None));
        assert!(!t.is_empty());
        assert_eq!(share(&t, 1), Some((45_000, 45_000)));
    }

    #[test]
    fn a_table_that_becomes_smaller_keeps_the_largest() {
        let sample = ("flow_sample", octets(1400));
        let mut t = table(&[sample]);
        arrive(&mut t, Instant(1), &[(1, 1, 10), (2, 1, 30), (3, 1, 20)]);
        arrive(&mut t, Instant(1) + INTERVAL, &[(1, 1, 1)]);
        t.configure(&config::<AfQcn>("", &[sample, ("flow_table_size", count(2))]).flows);
        assert_eq!((t.len(), share(&t, 1)), (2, None));
        // Of the 90 000 octets of the interval a third is fair.
        assert_eq!((share(&t, 2), share(&t, 3)), (Some((45_000, 30_000)), Some((30_000, 30_000))));
        arrive(&mut t, Instant(1) + INTERVAL, &[(4, 1, 1)]);
        assert_eq!((t.len(), share(&t, 3)), (2, None), "a further flow replaces the smallest");
    }

    proptest! {
        /// Fair shares add up to the arrivals, and there are never more flows than slots.
        #[test]
        fn bounded_and_complete(frames in proptest::collection::vec((0u32..12, 1u16..5, 0u64..400_000_000), 1..400)) {
            let mut t = table(&[("flow_table_size", count(8)), ("flow_sample", octets(3000))]);
            let mut now = Instant::ZERO;
            for (flow, weight, gap) in frames {
                now += Duration(gap);
                t.count(now, FlowKey(flow), weight, 1500, &mut Middle);
                prop_assert!(t.len() <= 8);
            }
            now += INTERVAL;
            t.count(now, FlowKey(0), 1, 1500, &mut Middle);
            let shares: Vec<_> = t.shares().collect();
            let (sent, fair) = shares.iter().fold((0, 0), |(a, b), s| (a + s.arrivals, b + s.fair));
            // The last frame may have made room for its own flow, which has no estimate yet.
            if shares.len() == t.len() {
                prop_assert!(fair <= sent && sent - fair <= 8, "{} octets, shares of {}", sent, fair);
            }
        }
    }
}
