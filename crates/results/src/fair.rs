//! The reference allocation along time.

use std::borrow::Cow;

use penstock_scenario::{FairPeriod, FairShares, Plan};
use penstock_schemes::Instant;
use penstock_sim::outcome::FlowOutcome;

/// The max-min fair shares at one instant after the other.
#[derive(Debug)]
pub(crate) enum FairNow {
    /// They are the plan's, at the place of the last instant's period.
    Planned { place: usize },
    /// They end with flows that have a size.
    Ending(Ending),
}

/// Shares that follow the ends of flows.
#[derive(Debug)]
pub(crate) struct Ending {
    shares: FairShares,
    /// When each flow ended, as far as is known, and when the last one did.
    ended: Vec<Option<Instant>>,
    last: Instant,
    /// Since when the shares hold, and each flow's; `None` where they have changed.
    now: Option<(Instant, Vec<f64>)>,
}

impl FairNow {
    pub(crate) fn new(plan: &Plan) -> Self {
        let ending = |shares| {
            let ended = vec![None; plan.network.flows.len()];
            Self::Ending(Ending { shares, ended, last: Instant::ZERO, now: None })
        };
        FairShares::new(plan).map_or(Self::Planned { place: 0 }, ending)
    }

    /// A flow has ended `at`, or has not.
    pub(crate) fn end(&mut self, flow: usize, at: Option<Instant>) {
        if let (Self::Ending(ending), Some(at)) = (self, at)
            && ending.ended[flow].is_none()
        {
            ending.ended[flow] = Some(at);
            ending.last = ending.last.max(at);
            ending.now = None;
        }
    }

    /// Since when the shares of `now` hold, and each flow's, bit/s. `now` never decreases from call to call.
    ///
    /// # Panics
    /// If there is no period: a plan's periods cover all of its time.
    pub(crate) fn at<'a>(&'a mut self, plan: &'a Plan, now: Instant) -> (Instant, &'a [f64]) {
        match self {
            Self::Planned { place } => {
                while plan.fair.get(*place + 1).is_some_and(|next| next.time.start <= now) {
                    *place += 1;
                }
                let period = &plan.fair[*place];
                (period.time.start, &period.max_min_bps)
            }
            Self::Ending(ending) => {
                let since = ending.shares.changed(now).max(ending.last);
                if ending.now.as_ref().is_none_or(|known| known.0 != since) {
                    ending.now = Some((since, ending.shares.max_min_bps(plan, now, &ending.ended)));
                }
                let (since, rates) = ending.now.as_ref().expect("they have just been found");
                (*since, rates)
            }
        }
    }
}

/// The periods of a run whose flows have these outcomes.
pub(crate) fn periods<'p>(plan: &'p Plan, flows: &[FlowOutcome]) -> Cow<'p, [FairPeriod]> {
    FairShares::new(plan).map_or(Cow::Borrowed(&plan.fair), |shares| {
        let ended: Vec<_> = flows.iter().take(plan.network.flows.len()).map(|flow| flow.ended).collect();
        Cow::Owned(shares.periods(plan, &ended))
    })
}

/// Means, from `start` to `end`, of the rates that `rates` picks from a period, one for each of `flows`, weighted by time.
/// Each covers the time that counts for the flow's other rates, and is zero if that is no time.
pub(crate) fn mean_bps(
    periods: &[FairPeriod],
    start: Instant,
    end: Instant,
    flows: &[FlowOutcome],
    rates: impl Fn(&FairPeriod) -> &[f64],
) -> Vec<f64> {
    let mut sums = vec![0.0; flows.len()];
    for period in periods {
        let time = period.time.end.min(end).since(period.time.start.max(start));
        for (sum, rate) in sums.iter_mut().zip(rates(period)) {
            *sum += rate * time.as_seconds();
        }
    }
    let mean = |(sum, flow): (f64, &FlowOutcome)| if flow.active_s > 0.0 { sum / flow.active_s } else { 0.0 };
    sums.into_iter().zip(flows).map(mean).collect()
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
        // From 50 to 250 ps: 50 at 10 and 150 at 4. A flow that is there for 100 ps of them has the same sum in half the time.
        let lasting = |picoseconds: f64| FlowOutcome { active_s: picoseconds * 1e-12, ..FlowOutcome::default() };
        let mean = |flow| mean_bps(&periods(), Instant(50), Instant(250), &[flow], |p| &p.max_min_bps)[0];
        let sum = 50.0 * 10.0 + 150.0 * 4.0;
        assert!((mean(lasting(200.0)) - sum / 200.0).abs() < 1e-9);
        assert!((mean(lasting(100.0)) - sum / 100.0).abs() < 1e-9);
        assert_eq!(mean(lasting(0.0)), 0.0);
    }
}
