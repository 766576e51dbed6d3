//! The network's clock beside the machine's: with a time scale of 100, a second of the network takes 100 s.

use penstock_schemes::Instant;

/// Picoseconds in a nanosecond.
const PS: u128 = 1000;

/// Translates times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The machine's time (CLOCK_REALTIME) at the start of the run, ns.
    origin: u64,
    /// How many times slower the network's clock is.
    scale: u32,
}

impl Clock {
    /// A clock whose 0 s is the machine's time `origin`, ns since 1970, and which is `scale` times slower.
    ///
    /// # Panics
    /// If `scale` is zero.
    #[must_use]
    pub fn new(origin: u64, scale: u32) -> Self {
        assert!(scale > 0, "a clock that is 0 times slower stands still");
        Self { origin, scale }
    }

    /// The network's time at the machine's time `ns`; 0 before the start.
    #[must_use]
    pub fn network(&self, ns: u64) -> Instant {
        let passed = u128::from(ns.saturating_sub(self.origin)) * PS / u128::from(self.scale);
        Instant(passed.min(u128::from(Instant::NEVER.0)) as u64)
    }

    /// The first whole nanosecond of the machine's clock at which the network's time `at` has come.
    #[must_use]
    pub fn machine(&self, at: Instant) -> u64 {
        let passed = (u128::from(at.0) * u128::from(self.scale)).div_ceil(PS);
        self.origin.saturating_add(passed.min(u128::from(u64::MAX)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use penstock_schemes::Duration;

    use super::*;

    #[test]
    fn a_scaled_clock_is_slower() {
        let clock = Clock::new(1_000_000_000, 100);
        // 1 ms of the machine is 10 us of the network.
        assert_eq!(clock.network(1_001_000_000), Instant::ZERO + Duration::from_us(10));
        assert_eq!(clock.machine(Instant::ZERO + Duration::from_us(10)), 1_001_000_000);
        assert_eq!(clock.network(5), Instant::ZERO);
        assert_eq!(clock.machine(Instant::NEVER), 1_000_000_000 + u64::MAX / 10 + 1);
    }

    #[test]
    fn a_time_that_is_waited_for_has_come() {
        for scale in [1, 3, 7, 100] {
            let clock = Clock::new(17, scale);
            for ps in [0, 1, 999, 1000, 123_456_789] {
                assert!(clock.network(clock.machine(Instant(ps))) >= Instant(ps), "{ps} ps, {scale}");
            }
        }
    }
}
