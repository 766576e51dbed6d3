//! The endpoint's token bucket, given a rate as many clocks late as the hardware's sees it.

use std::collections::VecDeque;

use penstock_endpoint::TokenBucket;
use penstock_schemes::{BitRate, Duration, Instant, Octets};

const CLOCK_PS: u64 = 8_000;
/// Clocks from one refill to the next.
pub const REFILL: u64 = 2_000;
/// Its content, octets.
pub const DEPTH: u64 = 3_000;
/// Clocks from the one in which a rate is seen to the next in which one can be.
const DIVISION: u64 = 17;
/// Clocks from the one in which a rate is seen to the first whose refill it counts for.
const LATENCY: u64 = DIVISION + 1;

/// `token_bucket` with its default parameters, at 125 MHz, from a reset on: full, and at rate 0.
#[derive(Debug)]
pub struct Bucket {
    bucket: TokenBucket,
    /// Clocks since the reset.
    clock: u64,
    /// The last rate that was seen, and from when on another can be.
    seen: u64,
    free_at: u64,
    /// When rates begin to count.
    coming: VecDeque<(u64, u64)>,
}

impl Default for Bucket {
    fn default() -> Self {
        let bucket = TokenBucket::new(Octets(DEPTH), Duration(REFILL * CLOCK_PS), BitRate(500_000), BitRate(0));
        Self { bucket, clock: 0, seen: 0, free_at: 0, coming: VecDeque::new() }
    }
}

impl Bucket {
    /// Whether the bucket holds `octets` octets in this clock, and how many it holds.
    pub fn shows(&mut self, octets: u32) -> (bool, u64) {
        let now = Instant(self.clock * CLOCK_PS);
        if self.coming.front().is_some_and(|(at, _)| *at == self.clock)
            && let Some((_, rate)) = self.coming.pop_front()
        {
            self.bucket.set_rate(now, BitRate(rate));
        }
        (self.bucket.ready(now, octets) == now, self.bucket.octets().0)
    }

    /// One clock, in which the input has the rate `rate` and `take` octets are taken.
    ///
    /// # Panics
    /// If the bucket does not hold them.
    pub fn clock(&mut self, rate: u64, take: Option<u32>) {
        let (ready, _) = self.shows(take.unwrap_or(0));
        if let Some(octets) = take {
            assert!(ready, "a frame goes when the bucket has its length");
            self.bucket.take(Instant(self.clock * CLOCK_PS), octets);
        }
        // The division takes one rate at a time.
        if self.clock >= self.free_at && rate != self.seen {
            (self.seen, self.free_at) = (rate, self.clock + DIVISION);
            self.coming.push_back((self.clock + LATENCY, rate));
        }
        self.clock += 1;
    }
}
