//! The endpoint's token bucket, given a rate as many clocks late as the hardware's sees it.

use std::collections::VecDeque;

use penstock_endpoint::TokenBucket;
use penstock_schemes::{BitRate, Duration, Instant, Octets};

/// Clocks from one refill to the next.
pub const REFILL: u64 = 2_000;
/// Its content, octets.
pub const DEPTH: u64 = 3_000;

/// The parameters of a build.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// `RefillClocks`, and the time that these are.
    pub refill_clocks: u64,
    /// See there, ps.
    pub refill_ps: u64,
    /// `Depth`, octets.
    pub depth: u64,
    /// `Granularity`, bit/s.
    pub granularity: u64,
    /// Bits of a rate.
    pub rate_bits: u64,
}

impl Shape {
    /// The default parameters at 125 MHz.
    pub const PAPER: Self =
        Self { refill_clocks: REFILL, refill_ps: 16_000_000, depth: DEPTH, granularity: 500_000, rate_bits: 34 };

    /// Clocks from the one in which a rate is seen to the next in which one can be: a bit of the quotient each, and one.
    fn division(&self) -> u64 {
        let granularity_bits = u64::from((self.granularity + 1).next_power_of_two().ilog2());
        self.rate_bits - granularity_bits + 2
    }
}

/// `token_bucket` from a reset on: full, and at rate 0.
#[derive(Debug)]
pub struct Bucket {
    bucket: TokenBucket,
    shape: Shape,
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
        Self::new(Shape::PAPER)
    }
}

impl Bucket {
    /// That of a build.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        let every = Duration(shape.refill_ps);
        let bucket = TokenBucket::new(Octets(shape.depth), every, BitRate(shape.granularity), BitRate(0));
        Self { bucket, shape, clock: 0, seen: 0, free_at: 0, coming: VecDeque::new() }
    }

    /// The time of this clock; a refill's is exact.
    fn now(&self) -> Instant {
        Instant(self.clock * self.shape.refill_ps / self.shape.refill_clocks)
    }

    /// Whether the bucket holds `octets` octets in this clock, and how many it holds.
    pub fn shows(&mut self, octets: u32) -> (bool, u64) {
        let now = self.now();
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
            self.bucket.take(self.now(), octets);
        }
        // The division takes one rate at a time.
        if self.clock >= self.free_at && rate != self.seen {
            (self.seen, self.free_at) = (rate, self.clock + self.shape.division());
            self.coming.push_back((self.free_at + 1, rate));
        }
        self.clock += 1;
    }
}
