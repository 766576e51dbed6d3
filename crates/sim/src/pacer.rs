//! How a rate becomes times of release.

use penstock_schemes::{BitRate, Duration, Octets, units::PS_PER_S};

use crate::network::Pacer;

const NEVER: u64 = u64::MAX;

/// When a limiter may release its next frame.
#[derive(Debug, Clone)]
pub(crate) enum PacerState {
    Ideal {
        /// When the last frame ends at the allowed rate.
        next: u64,
        /// Bits × ps/s still owed when the rate is zero.
        owed: u128,
        /// Wire octets whose time was computed last at the present rate.
        known: (u32, u64, u64),
        remainder: u64,
    },
    TokenBucket(TokenBucket),
}

impl PacerState {
    pub(crate) fn new(pacer: Pacer, rate: u64) -> Self {
        match pacer {
            Pacer::Ideal => Self::Ideal { next: 0, owed: 0, known: (0, 0, 0), remainder: 0 },
            Pacer::TokenBucket { depth, interval, granularity } => {
                Self::TokenBucket(TokenBucket::new(depth, interval, granularity, BitRate(rate)))
            }
        }
    }

    /// When a frame of `octets` (with overhead) may go, seen from `now`.
    #[inline(always)]
    pub(crate) fn ready(&mut self, now: u64, octets: u32) -> u64 {
        match self {
            Self::Ideal { next, .. } => *next,
            Self::TokenBucket(bucket) => bucket.ready(now, octets),
        }
    }

    /// A frame of `octets` (with overhead) goes at `now`.
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: u64, octets: u32, rate: u64) {
        match self {
            Self::Ideal { next, known, remainder, .. } => {
                if known.0 != octets {
                    let (time, rest) = BitRate(rate).serialisation(u64::from(octets));
                    *known = (octets, time.0, rest);
                    *remainder = 0;
                }
                *remainder += known.2;
                let carry = u64::from(*remainder >= rate);
                *remainder -= carry * rate;
                *next = now + known.1 + carry;
            }
            Self::TokenBucket(bucket) => bucket.take(now, octets),
        }
    }

    /// The rate changes from `old` to `new` at `now`: what is left of the present gap is stretched or shrunk.
    pub(crate) fn change(&mut self, now: u64, old: u64, new: u64) {
        match self {
            Self::Ideal { next, owed, known, .. } => {
                known.0 = 0;
                let left = match (*next, old) {
                    (NEVER, _) => *owed,
                    (at, _) => u128::from(at.saturating_sub(now)) * u128::from(old),
                };
                if new == 0 {
                    (*next, *owed) = (NEVER, left);
                } else {
                    *next = now.saturating_add(left.div_ceil(u128::from(new)).try_into().unwrap_or(NEVER));
                }
            }
            Self::TokenBucket(bucket) => bucket.set_rate(now, BitRate(new)),
        }
    }
}

/// A token bucket as hardware has it: tokens come at even distances of time, as many as a rate in steps gives. (Paper
/// 002, section 3.2: each 16 us, 0.5 Mb/s a step, 3 KB deep)
///
/// Times are picoseconds since the start; refills come at whole multiples of the interval.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    interval: u64,
    granularity: u64,
    refills: u64,
    /// These three in tokens.
    depth: u128,
    tokens: u128,
    per_refill: u128,
}

/// Tokens of an octet: one is what 1 bit/s gives in a picosecond, so that every refill is a whole number of them.
const TOKEN: u128 = 8 * PS_PER_S as u128;

impl TokenBucket {
    /// A full bucket of `depth` that lets `rate` through, rounded down to `granularity`.
    #[must_use]
    pub fn new(depth: Octets, interval: Duration, granularity: BitRate, rate: BitRate) -> Self {
        let mut bucket = Self {
            interval: interval.0,
            granularity: granularity.0,
            refills: 0,
            depth: u128::from(depth.0) * TOKEN,
            tokens: u128::from(depth.0) * TOKEN,
            per_refill: 0,
        };
        bucket.set_rate(0, rate);
        bucket
    }

    /// When a frame of `octets` may go, seen from `now`; `u64::MAX` for never.
    pub fn ready(&mut self, now: u64, octets: u32) -> u64 {
        self.advance(now);
        let needed = u128::from(octets) * TOKEN;
        let missing = needed.saturating_sub(self.tokens);
        if missing == 0 {
            now
        } else if self.per_refill == 0 || needed > self.depth {
            NEVER
        } else {
            let refills = u128::from(self.refills) + missing.div_ceil(self.per_refill);
            u64::try_from(refills.saturating_mul(self.interval.into())).unwrap_or(NEVER).max(now)
        }
    }

    /// A frame of `octets`, for which it is [`ready`](Self::ready), goes at `now`.
    pub fn take(&mut self, now: u64, octets: u32) {
        self.advance(now);
        self.tokens -= u128::from(octets) * TOKEN;
    }

    /// From `now` on refills are those of `rate`.
    pub fn set_rate(&mut self, now: u64, rate: BitRate) {
        self.advance(now);
        let stepped = rate.0 / self.granularity * self.granularity;
        self.per_refill = u128::from(stepped) * u128::from(self.interval);
    }

    /// Whole octets that it holds.
    #[must_use]
    pub fn octets(&self) -> u64 {
        (self.tokens / TOKEN) as u64
    }

    /// Tokens of all refills up to `now` come in.
    fn advance(&mut self, now: u64) {
        let refills = now / self.interval;
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
        const REFILL: u64 = 16_000_000;
        let mut bucket = TokenBucket::new(Octets(3000), Duration(REFILL), BitRate(500_000), BitRate(2_300_000));
        assert_eq!(bucket.ready(5, 3000), 5, "it begins full");
        assert_eq!(bucket.ready(5, 3001), NEVER, "more than it ever holds");
        bucket.take(5, 3000);
        assert_eq!(bucket.ready(6, 9), 3 * REFILL, "9 octets take three refills of 4");
        assert_eq!(bucket.ready(2 * REFILL, 8), 2 * REFILL);
        assert_eq!(bucket.octets(), 8);
        bucket.set_rate(2 * REFILL, BitRate(499_999));
        assert_eq!(bucket.ready(9 * REFILL, 9), NEVER, "less than a step is nothing");
        bucket.set_rate(9 * REFILL, BitRate(1_000_000_000));
        bucket.ready(20 * REFILL, 1);
        assert_eq!(bucket.octets(), 3000, "never more than its depth");
    }

    /// 100 kb/s give 1/80 000 octet a nanosecond: 80 000 ns an octet, 120 ms for 1500 octets.
    #[test]
    fn the_least_refill_counts() {
        let mut bucket = TokenBucket::new(Octets(1500), Duration(1000), BitRate(1), BitRate(100_000));
        bucket.take(0, 1500);
        assert_eq!(bucket.ready(0, 1500), 120_000_000_000);
        assert_eq!(bucket.ready(80_000_000, 1), 80_000_000);
        // 1 bit/s and refills each 2 000 000 s: the times of refills leave 64 bits.
        let mut bucket = TokenBucket::new(Octets(1 << 40), Duration(2_000_000 * PS_PER_S), BitRate(1), BitRate(1));
        bucket.take(0, 16_384);
        bucket.tokens = 0;
        assert_eq!(bucket.ready(0, u32::MAX), NEVER);
    }
}
