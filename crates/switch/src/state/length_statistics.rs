//! The length of a queue over time.

use penstock_schemes::{Duration, Instant};

/// Time-weighted statistics of a queue's length, in integers: octets, picoseconds and their products.
#[derive(Debug, Clone, Copy, Default)]
pub struct LengthStatistics {
    since: Instant,
    /// Integral of the length, octets × ps.
    pub area: u128,
    /// Integral of its square, octets² × ps.
    pub area_squared: u128,
    /// Time without an octet.
    pub empty: Duration,
    /// Extremes since the last reading (`measure`).
    pub min: u32,
    /// See `min`.
    pub max: u32,
    /// When a frame joined the queue last; of [`Lean`](crate::Lean) switches when it was the last one that fitted.
    pub joined: Instant,
}

impl LengthStatistics {
    /// The length is `len` now; extremes start again.
    pub fn restart_extremes(&mut self, len: u64) {
        (self.min, self.max) = (len as u32, len as u32);
    }

    /// How long the length has been what it is, in picoseconds.
    pub fn since(&self, now: Instant) -> u64 {
        now.passed_since(self.since).0
    }

    /// The length was `len` since the last call, and changes at `now`.
    #[inline(always)]
    pub fn pass(&mut self, now: Instant, len: u64) {
        if len == 0 {
            self.empty = Duration(self.empty.0 + now.passed_since(self.since).0);
            self.since = now;
        } else {
            self.pass_filled(now, len);
        }
    }

    /// The same for a queue that was not empty.
    #[inline(always)]
    pub fn pass_filled(&mut self, now: Instant, len: u64) {
        let time = now.passed_since(self.since).0;
        self.since = now;
        self.area += u128::from(len) * u128::from(time);
        // No queue holds 2^32 octets: see `config::LARGEST_QUEUE`.
        self.area_squared += u128::from(len * len) * u128::from(time);
    }
}
