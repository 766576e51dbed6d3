//! Pacers: how a rate becomes times of release.

use penstock_schemes::{BitRate, Duration, Gap, Instant, Octets, units::PS_PER_S};

/// How a limiter turns a rate into times of release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacer {
    /// The next frame leaves when the last one would have ended at the allowed rate. A wait for other frames of the port is lost, as in
    /// HPCC's simulator (rdma-hw.cc, UpdateNextAvail).
    Ideal,
    /// Tokens come every `interval`, as many octets as the rate (rounded down to `granularity`) gives; a frame leaves
    /// when the bucket holds its length. (Kabbani and Yasuda 2010, section 3.2)
    TokenBucket {
        /// The most octets that the bucket holds.
        depth: Octets,
        /// Time between refills.
        interval: Duration,
        /// Step of the rate.
        granularity: BitRate,
    },
}

/// When a limiter may release its next frame.
#[derive(Debug, Clone)]
pub(crate) enum PacerState {
    Ideal {
        /// When the last frame ends at the allowed rate.
        next: Instant,
        /// The last frame: when it went, and its length on the wire, 0 before the first.
        last: (Instant, u32),
        /// Bits × ps/s still owed when the rate is zero.
        owed: u128,
        /// The length on the wire whose time was computed last at the present rate: octets, time, and remainder in 1/rate
        /// picoseconds.
        known: (u32, Duration, u64),
        remainder: u64,
    },
    TokenBucket(TokenBucket),
}

impl PacerState {
    pub(crate) fn new(pacer: Pacer, rate: BitRate) -> Self {
        match pacer {
            Pacer::Ideal => Self::Ideal {
                next: Instant::ZERO,
                last: (Instant::ZERO, 0),
                owed: 0,
                known: (0, Duration::ZERO, 0),
                remainder: 0,
            },
            Pacer::TokenBucket { depth, interval, granularity } => {
                Self::TokenBucket(TokenBucket::new(depth, interval, granularity, rate))
            }
        }
    }

    /// When a frame of `octets` (with overhead) may go, seen from `now`.
    #[inline(always)]
    pub(crate) fn ready(&mut self, now: Instant, octets: u32) -> Instant {
        match self {
            Self::Ideal { next, .. } => *next,
            Self::TokenBucket(bucket) => bucket.ready(now, octets),
        }
    }

    /// A frame of `octets` (with overhead) goes at `now`.
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: Instant, octets: u32, rate: BitRate) {
        match self {
            Self::Ideal { next, last, known, remainder, .. } => {
                *last = (now, octets);
                if known.0 != octets {
                    let (time, rest) = rate.serialisation(u64::from(octets));
                    *known = (octets, time, rest);
                    *remainder = 0;
                }
                *remainder += known.2;
                let carry = u64::from(*remainder >= rate.0);
                *remainder -= carry * rate.0;
                *next = now.after(Duration(known.1.0 + carry));
            }
            Self::TokenBucket(bucket) => bucket.take(now, octets),
        }
    }

    /// The rate changes from `old` to `new` at `now`. A stop, and a start after one, leave what is owed, whatever the `gap`.
    pub(crate) fn change(&mut self, now: Instant, old: BitRate, new: BitRate, gap: Gap) {
        match self {
            Self::Ideal { next, last, known, .. }
                if gap == Gap::Whole && ![old, new].contains(&BitRate::ZERO) && *next != Instant::NEVER =>
            {
                known.0 = 0;
                *next = last.0.after(new.serialisation(last.1.into()).0);
            }
            Self::Ideal { next, owed, known, .. } => {
                known.0 = 0;
                let left = match *next {
                    Instant::NEVER => *owed,
                    at => u128::from(at.since(now).0) * u128::from(old.0),
                };
                if new == BitRate::ZERO {
                    (*next, *owed) = (Instant::NEVER, left);
                } else {
                    let rest = left.div_ceil(u128::from(new.0)).try_into().unwrap_or(u64::MAX);
                    *next = now + Duration(rest);
                }
            }
            Self::TokenBucket(bucket) => bucket.set_rate(now, new),
        }
    }
}

/// A token bucket as hardware has it: tokens come at even distances of time, as many as a rate in steps gives. (Kabbani and
/// Yasuda 2010, section 3.2: each 16 us, 0.5 Mb/s a step, 3 KB deep)
///
/// Refills come at whole multiples of the interval since the start.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    interval: Duration,
    granularity: BitRate,
    refills: u64,
    /// These three in tokens.
    depth: u128,
    tokens: u128,
    per_refill: u128,
}

/// Tokens of an octet: 1 bit/s gives one token in a picosecond, so that every refill is a whole number of them.
const TOKEN: u128 = 8 * PS_PER_S as u128;

impl TokenBucket {
    /// A full bucket of `depth` that lets `rate` through, rounded down to `granularity`.
    ///
    /// # Panics
    /// If `interval` or `granularity` is zero.
    #[must_use]
    pub fn new(depth: Octets, interval: Duration, granularity: BitRate, rate: BitRate) -> Self {
        let mut bucket = Self {
            interval,
            granularity,
            refills: 0,
            depth: u128::from(depth.0) * TOKEN,
            tokens: u128::from(depth.0) * TOKEN,
            per_refill: 0,
        };
        bucket.set_rate(Instant::ZERO, rate);
        bucket
    }

    /// When a frame of `octets` may go, seen from `now`: `now` or later, or never.
    pub fn ready(&mut self, now: Instant, octets: u32) -> Instant {
        self.advance(now);
        let needed = u128::from(octets) * TOKEN;
        let missing = needed.saturating_sub(self.tokens);
        if missing == 0 {
            now
        } else if self.per_refill == 0 || needed > self.depth {
            Instant::NEVER
        } else {
            let refills = u128::from(self.refills) + missing.div_ceil(self.per_refill);
            let at = u64::try_from(refills.saturating_mul(self.interval.0.into()));
            at.map_or(Instant::NEVER, Instant).max(now)
        }
    }

    /// A frame of `octets`, for which it is [`ready`](Self::ready), goes at `now`.
    pub fn take(&mut self, now: Instant, octets: u32) {
        self.advance(now);
        self.tokens -= u128::from(octets) * TOKEN;
    }

    /// From `now` on refills are those of `rate`.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.advance(now);
        let stepped = rate.0 / self.granularity.0 * self.granularity.0;
        self.per_refill = u128::from(stepped) * u128::from(self.interval.0);
    }

    /// Whole octets that it holds.
    #[must_use]
    pub fn octets(&self) -> Octets {
        Octets((self.tokens / TOKEN) as u64)
    }

    /// Tokens of all refills up to `now` come in.
    fn advance(&mut self, now: Instant) {
        let refills = now.0 / self.interval.0;
        let come = self.per_refill.saturating_mul((refills - self.refills).into());
        self.tokens = self.tokens.saturating_add(come).min(self.depth);
        self.refills = refills;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2.3 Mb/s in steps of 0.5 Mb/s are 2 Mb/s: 4 octets each 16 us.
    #[test]
    fn tokens_come_in_steps() {
        const STEP: BitRate = BitRate(500_000);
        let refill = |n: u64| Instant(n * 16_000_000);
        let (early, late) = (Instant(5), Instant(6));
        let mut bucket = TokenBucket::new(Octets(3000), Duration::from_us(16), STEP, BitRate(2_300_000));
        assert_eq!(bucket.ready(early, 3000), early, "it begins full");
        assert_eq!(bucket.ready(early, 3001), Instant::NEVER, "more than it ever holds");
        bucket.take(early, 3000);
        assert_eq!(bucket.ready(late, 9), refill(3), "9 octets take three refills of 4");
        assert_eq!(bucket.ready(refill(2), 8), refill(2));
        assert_eq!(bucket.octets(), Octets(8));
        bucket.set_rate(refill(2), BitRate(499_999));
        assert_eq!(bucket.ready(refill(9), 9), Instant::NEVER, "less than a step is nothing");
        bucket.set_rate(refill(9), BitRate(1_000_000_000));
        bucket.ready(refill(20), 1);
        assert_eq!(bucket.octets(), Octets(3000), "never more than its depth");
    }

    /// 100 kb/s give 1/80 000 octet a nanosecond: 80 000 ns an octet, 120 ms for 1500 octets.
    #[test]
    fn the_least_refill_counts() {
        let mut bucket = TokenBucket::new(Octets(1500), Duration(1000), BitRate(1), BitRate(100_000));
        bucket.take(Instant::ZERO, 1500);
        assert_eq!(bucket.ready(Instant::ZERO, 1500), Instant(120_000_000_000));
        assert_eq!(bucket.ready(Instant(80_000_000), 1), Instant(80_000_000));
        // 1 bit/s and refills each 2 000 000 s: the times of refills leave 64 bits.
        let mut bucket = TokenBucket::new(Octets(1 << 40), Duration(2_000_000 * PS_PER_S), BitRate(1), BitRate(1));
        bucket.take(Instant::ZERO, 16_384);
        bucket.tokens = 0;
        assert_eq!(bucket.ready(Instant::ZERO, u32::MAX), Instant::NEVER);
    }

    /// 1500 octets at 1 Gb/s last 12 us. After 4 us of them the rate is halved: 8 us become 16 us. A stop keeps the
    /// wait that is owed.
    #[test]
    fn an_ideal_pacer_stretches_what_is_left_of_a_gap() {
        let (gigabit, half) = (BitRate::from_gbps(1), BitRate::from_mbps(500));
        let us = |n| Instant::ZERO + Duration::from_us(n);
        let mut pacer = PacerState::new(Pacer::Ideal, gigabit);
        pacer.spend(us(0), 1500, gigabit);
        assert_eq!(pacer.ready(us(1), 1500), us(12));
        pacer.change(us(4), gigabit, half, Gap::Rest);
        assert_eq!(pacer.ready(us(4), 1500), us(20));
        pacer.change(us(10), half, BitRate::ZERO, Gap::Rest);
        assert_eq!(pacer.ready(us(10), 1500), Instant::NEVER);
        pacer.change(us(50), BitRate::ZERO, gigabit, Gap::Rest);
        assert_eq!(pacer.ready(us(50), 1500), us(55), "10 us at 0.5 Gb/s are 5 us at 1 Gb/s");
    }

    /// As before, but the whole gap is that of half the rate: 24 us from the first frame. At 30 us it has ended, and at a quarter of the rate
    /// it has not: 48 us.
    #[test]
    fn a_whole_gap_is_that_of_the_new_rate() {
        let (gigabit, half, quarter) = (BitRate::from_gbps(1), BitRate::from_mbps(500), BitRate::from_mbps(250));
        let us = |n| Instant::ZERO + Duration::from_us(n);
        let mut pacer = PacerState::new(Pacer::Ideal, gigabit);
        pacer.change(us(0), gigabit, half, Gap::Whole);
        assert_eq!(pacer.ready(us(0), 1500), us(0), "no frame has gone");
        pacer.spend(us(0), 1500, half);
        pacer.change(us(1), half, gigabit, Gap::Whole);
        assert_eq!(pacer.ready(us(1), 1500), us(12));
        pacer.change(us(4), gigabit, half, Gap::Whole);
        assert_eq!(pacer.ready(us(4), 1500), us(24));
        pacer.change(us(30), half, quarter, Gap::Whole);
        assert_eq!(pacer.ready(us(30), 1500), us(48));
        pacer.change(us(36), quarter, BitRate::ZERO, Gap::Whole);
        pacer.change(us(50), BitRate::ZERO, gigabit, Gap::Whole);
        assert_eq!(pacer.ready(us(50), 1500), us(53), "12 us at 0.25 Gb/s are 3 us at 1 Gb/s");
    }
}
