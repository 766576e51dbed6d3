//! The reference allocation along time.

use penstock_scenario::FairPeriod;
use penstock_schemes::{Duration, Instant};

/// Walks through the periods as time goes on.
#[derive(Debug, Default)]
pub(crate) struct FairNow {
    /// The place of the last instant's period.
    place: usize,
}

impl FairNow {
    /// The period of `now`, which never decreases from call to call; the last period from its start on.
    ///
    /// # Panics
    /// If there is no period: a plan's periods cover all of its time.
    pub(crate) fn at<'p>(&mut self, periods: &'p [FairPeriod], now: Instant) -> &'p FairPeriod {
        while periods.get(self.place + 1).is_some_and(|next| next.time.start <= now) {
            self.place += 1;
        }
        &periods[self.place]
    }
}

/// Time-weighted means, from `start` to `end`, of the rates that `rates` picks from a period, one for each flow; zeros
/// if that is no time.
pub(crate) fn mean_bps(
    periods: &[FairPeriod],
    start: Instant,
    end: Instant,
    flows: usize,
    rates: impl Fn(&FairPeriod) -> &[f64],
) -> Vec<f64> {
    let mut sums = vec![0.0; flows];
    let mut total = Duration::ZERO;
    for period in periods {
        let time = period.time.end.min(end).since(period.time.start.max(start));
        total = total + time;
        for (sum, rate) in sums.iter_mut().zip(rates(period)) {
            *sum += rate * time.as_seconds();
        }
    }
    if total == Duration::ZERO {
        return vec![0.0; flows];
    }
    sums.iter().map(|sum| sum / total.as_seconds()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods() -> Vec<FairPeriod> {
        let period = |start, stop, rate: f64| FairPeriod {
            time: Instant(start)..Instant(stop),
            max_min_bps: vec![rate],
            proportional_bps: vec![rate],
        };
        vec![period(0, 100, 10.0), period(100, 300, 4.0)]
    }

    #[test]
    fn a_share_counts_as_long_as_it_lasts() {
        // From 50 to 250: 50 at 10 and 150 at 4.
        let mean = mean_bps(&periods(), Instant(50), Instant(250), 1, |p| &p.max_min_bps);
        assert!((mean[0] - (50.0 * 10.0 + 150.0 * 4.0) / 200.0).abs() < 1e-12);
        assert_eq!(mean_bps(&periods(), Instant(50), Instant(50), 1, |p| &p.max_min_bps), [0.0]);
    }

    #[test]
    fn a_period_begins_with_its_first_instant() {
        let periods = periods();
        let mut fair = FairNow::default();
        let rates: Vec<f64> = [0, 99, 100, 300, 400].map(|t| fair.at(&periods, Instant(t)).max_min_bps[0]).into();
        assert_eq!(rates, [10.0, 10.0, 4.0, 4.0, 4.0]);
    }
}
