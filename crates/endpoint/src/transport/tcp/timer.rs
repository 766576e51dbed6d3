//! The retransmission timer (RFC 6298).
//!
//! The clock's granularity G is nothing here, so that `max(G, K RTTVAR)` is `K RTTVAR`.

use penstock_schemes::{Duration, Instant};

use super::Config;

/// K of RFC 6298, (2.2).
const K: u64 = 4;

/// Round-trip time, timeout and deadline.
#[derive(Debug, Clone)]
pub(super) struct Timer {
    /// SRTT and RTTVAR; `None` before the first sample.
    round_trip: Option<(Duration, Duration)>,
    /// RTO, doubled as often as it has expired.
    rto: Duration,
    least: Duration,
    most: Duration,
    deadline: Option<Instant>,
}

impl Timer {
    pub(super) fn new(config: &Config) -> Self {
        let (least, most) = (config.rto_min, config.rto_max.max(config.rto_min));
        Self { round_trip: None, rto: config.rto_initial.clamp(least, most), least, most, deadline: None }
    }

    /// A round trip has been timed: (2.2) to (2.5). A timeout that has been backed off collapses.
    pub(super) fn sample(&mut self, r: Duration) {
        let (srtt, rttvar) = match self.round_trip {
            None => (r.0, r.0 / 2),
            // RTTVAR first: alpha = 1/8, beta = 1/4.
            Some((srtt, rttvar)) => (srtt.0 - srtt.0 / 8 + r.0 / 8, rttvar.0 - rttvar.0 / 4 + srtt.0.abs_diff(r.0) / 4),
        };
        self.round_trip = Some((Duration(srtt), Duration(rttvar)));
        self.rto = Duration(srtt + K * rttvar).clamp(self.least, self.most);
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.round_trip.map(|r| r.0)
    }

    /// RTO as it is now.
    pub(super) fn rto(&self) -> Duration {
        self.rto
    }

    /// RTO doubled `times` more.
    pub(super) fn backed_off(&self, times: u32) -> Duration {
        Duration(self.rto.0.saturating_mul(1 << times.min(32))).min(self.most)
    }

    /// (5.1): a segment is sent; starts the timer unless it runs.
    pub(super) fn start(&mut self, now: Instant) {
        self.deadline.get_or_insert(now + self.rto);
    }

    /// (5.3): new data is acknowledged, and other data is outstanding.
    pub(super) fn restart(&mut self, now: Instant) {
        self.deadline = Some(now + self.rto);
    }

    /// (5.2): all data is acknowledged.
    pub(super) fn stop(&mut self) {
        self.deadline = None;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// (5.5) and (5.6): it has expired. RTO is doubled, and the timer runs again.
    pub(super) fn back_off(&mut self, now: Instant) {
        self.rto = self.backed_off(1);
        self.restart(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn timer(least_ms: u64) -> Timer {
        Timer::new(&Config { rto_min: Duration::from_ms(least_ms), ..Config::default() })
    }

    #[test]
    fn samples_follow_the_formulas() {
        let mut t = timer(1);
        assert_eq!(t.rto(), Duration::from_ms(1000), "before the first sample, (2.1)");
        // (2.2): SRTT = 80, RTTVAR = 40, RTO = 80 + 4 * 40 = 240 ms.
        t.sample(Duration::from_ms(80));
        assert_eq!((t.srtt(), t.rto()), (Some(Duration::from_ms(80)), Duration::from_ms(240)));
        // (2.3): RTTVAR = 3/4 * 40 + 1/4 * |80 - 120| = 40; SRTT = 7/8 * 80 + 120/8 = 85; RTO = 85 + 160 = 245 ms.
        t.sample(Duration::from_ms(120));
        assert_eq!((t.srtt(), t.rto()), (Some(Duration::from_ms(85)), Duration::from_ms(245)));
    }

    #[test]
    fn the_timeout_stays_between_its_bounds() {
        let mut t = timer(200);
        t.sample(Duration(MS));
        assert_eq!(t.rto(), Duration::from_ms(200), "(2.4)");
        assert_eq!(t.backed_off(3), Duration::from_ms(1600));
        assert_eq!(t.backed_off(u32::MAX), Duration::from_ms(60_000));
        for _ in 0..40 {
            t.back_off(Instant::ZERO);
        }
        assert_eq!(t.rto(), Duration::from_ms(60_000), "(2.5)");
    }

    #[test]
    fn it_backs_off_until_a_round_trip_is_timed() {
        let mut t = timer(10);
        t.sample(Duration::from_ms(8)); // RTO = 8 + 4 * 4 = 24 ms
        t.start(Instant(0));
        t.start(Instant(5 * MS));
        assert_eq!(t.deadline(), Some(Instant(24 * MS)), "it runs already");
        t.back_off(Instant(24 * MS));
        assert_eq!(t.deadline(), Some(Instant(72 * MS)), "24 + 48");
        t.back_off(Instant(72 * MS));
        assert_eq!(t.deadline(), Some(Instant(168 * MS)), "72 + 96");
        t.restart(Instant(100 * MS));
        assert_eq!(t.deadline(), Some(Instant(196 * MS)), "an acknowledgement alone does not end the back-off");
        t.sample(Duration::from_ms(8)); // RTTVAR = 3, RTO = 8 + 12 = 20 ms
        t.restart(Instant(100 * MS));
        assert_eq!(t.deadline(), Some(Instant(120 * MS)));
        t.stop();
        assert_eq!(t.deadline(), None);
    }
}
