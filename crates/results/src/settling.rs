//! Settling time: how long a flow takes to come to its fair share and stay there.
//!
//! The time counts from the last change of the flow's max-min fair share by more than 0.1 %: its own start, the start or
//! stop of another flow, or a change of a link. The allowed rate is averaged over a sliding window of 50 sample intervals
//! (a twentieth of the run at the default interval), which begins after the change. The flow settles at the beginning of
//! the first window from which on every window's mean lies within 5 % of the share, until the share ends (the flow stops
//! or completes, or the run ends). A flow that is inside from the first instant has settled after zero seconds; one whose
//! last window is outside, or that never had a whole window, has not settled.

use std::collections::VecDeque;

use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::FlowId;
use penstock_sim::probe::FlowNow;

/// Length of the window in samples.
const WINDOW: usize = 50;
/// The greatest distance of a settled mean from the share.
const TOLERANCE: f64 = 0.05;
/// A share that moves by less has not changed: allocations of neighbouring periods differ by rounding.
const SAME_SHARE: f64 = 0.001;

/// Follows one flow.
#[derive(Debug)]
pub(crate) struct Settling {
    /// Octets that the flow sends in all, wire overhead included, if it is finite.
    total: Option<Octets>,
    /// The share, zero before the flow's first.
    share_bps: f64,
    /// Instant of the share's last change.
    changed: Instant,
    /// The last samples after the change: when, and the allowed rate.
    window: VecDeque<(Instant, BitRate)>,
    /// Sum of the window's rates.
    sum_bps: u64,
    state: State,
}

/// Where a flow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No window is full yet.
    Early,
    /// The last window's mean is too far from the share.
    Outside,
    /// Every window that began at this instant or later is close enough.
    Since(Instant),
}

impl Settling {
    pub(crate) fn new(plan: &Plan, flow: FlowId) -> Self {
        let flow = &plan.network.flows[flow.index()];
        let overhead = u64::from(plan.network.wire_overhead);
        Self::of(flow.size.map(|size| Octets(size.0 + size.0.div_ceil(u64::from(flow.frame)) * overhead)))
    }

    /// A flow that sends `total`, wire overhead included.
    fn of(total: Option<Octets>) -> Self {
        Self {
            total,
            share_bps: 0.0,
            changed: Instant::ZERO,
            window: VecDeque::with_capacity(WINDOW),
            sum_bps: 0,
            state: State::Early,
        }
    }

    /// Takes the sample of `now`: the flow's state, and its max-min fair share in the period that began at `since`.
    pub(crate) fn sample(&mut self, now: Instant, flow: &FlowNow, since: Instant, share_bps: f64) {
        if share_bps == 0.0 {
            // The verdict stands. A share that comes back later, of any size, is a new one.
            self.share_bps = 0.0;
            return;
        }
        if self.total.is_some_and(|total| flow.sent >= total) {
            return;
        }
        if (share_bps - self.share_bps).abs() > SAME_SHARE * self.share_bps {
            *self = Self { share_bps, changed: since, ..Self::of(self.total) };
        }
        if self.window.len() == WINDOW
            && let Some((_, oldest)) = self.window.pop_front()
        {
            self.sum_bps -= oldest.0;
        }
        self.window.push_back((now, flow.allowed));
        self.sum_bps += flow.allowed.0;
        if self.window.len() == WINDOW {
            self.judge();
        }
    }

    fn judge(&mut self) {
        let mean_bps = self.sum_bps as f64 / WINDOW as f64;
        let inside = (mean_bps - self.share_bps).abs() <= TOLERANCE * self.share_bps;
        self.state = match self.state {
            _ if !inside => State::Outside,
            // The first window stands for all the time since the change.
            State::Early => State::Since(self.changed),
            State::Outside => State::Since(self.window[0].0),
            State::Since(begin) => State::Since(begin),
        };
    }

    /// The settling time, if the flow has settled.
    pub(crate) fn time(&self) -> Option<Duration> {
        if let State::Since(begin) = self.state { Some(begin.since(self.changed)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples at 0 s, 1 s, …: the allowed rate and the share since an instant.
    fn follow(settling: &mut Settling, from: u64, rates: &[u64], since: u64, share_bps: f64) {
        for (i, &rate) in rates.iter().enumerate() {
            let flow =
                FlowNow { allowed: BitRate(rate), delivered: Octets(0), sent: Octets(0), signals: 0, ended: None };
            settling.sample(seconds(from + i as u64), &flow, seconds(since), share_bps);
        }
    }

    fn seconds(n: u64) -> Instant {
        Instant(n * 1_000_000_000_000)
    }

    fn time_s(settling: &Settling) -> Option<f64> {
        settling.time().map(Duration::as_seconds)
    }

    #[test]
    fn a_flow_at_its_share_from_the_start_takes_no_time() {
        let mut s = Settling::of(None);
        follow(&mut s, 3, &[1040; 60], 2, 1000.0);
        assert_eq!(time_s(&s), Some(0.0));
    }

    #[test]
    fn a_step_settles_when_the_window_has_left_it_behind() {
        // Ten samples at 2000, then 1000 for good. A window with k samples of 2000 has the mean 1000 + 20 k: within 5 %
        // (50) from k = 2 on, in the window that begins with sample 8.
        let mut s = Settling::of(None);
        follow(&mut s, 0, &[&[2000; 10][..], &[1000; 100][..]].concat(), 0, 1000.0);
        assert_eq!(time_s(&s), Some(8.0));
    }

    #[test]
    fn a_flow_that_leaves_again_has_not_settled() {
        let mut s = Settling::of(None);
        follow(&mut s, 0, &[&[1000; 100][..], &[1300; 20][..]].concat(), 0, 1000.0);
        assert_eq!(time_s(&s), None);
    }

    #[test]
    fn fewer_samples_than_a_window_prove_nothing() {
        let mut s = Settling::of(None);
        follow(&mut s, 0, &[1000; WINDOW - 1], 0, 1000.0);
        assert_eq!(time_s(&s), None);
    }

    #[test]
    fn a_new_share_starts_the_clock_again() {
        let mut s = Settling::of(None);
        follow(&mut s, 0, &[1000; 100], 0, 1000.0);
        // The share halves at 99 s; the rate follows with sample 120. A window with k samples of 1000 has the mean
        // 500 + 10 k: within 5 % (25) from k = 2 on, in the window that begins with sample 118.
        follow(&mut s, 100, &[&[1000; 20][..], &[500; 100][..]].concat(), 99, 500.0);
        assert_eq!(time_s(&s), Some(118.0 - 99.0));
        // Rounding of the allocation is no change; the end of the share freezes the verdict.
        follow(&mut s, 220, &[500; 10], 220, 500.0 * (1.0 + 1e-9));
        follow(&mut s, 230, &[0; 100], 230, 0.0);
        assert_eq!(time_s(&s), Some(118.0 - 99.0));
    }

    #[test]
    fn a_share_that_comes_back_is_a_new_one() {
        // The link is down from 100 s to 110 s. After that the rate is right from sample 120 on. A window with k samples
        // of 2000 has the mean 1000 + 20 k, within 5 % (50) from k = 2 on, in the window that begins with sample 118.
        let mut s = Settling::of(None);
        follow(&mut s, 0, &[1000; 100], 0, 1000.0);
        follow(&mut s, 100, &[1000; 10], 100, 0.0);
        assert_eq!(time_s(&s), Some(0.0));
        follow(&mut s, 110, &[&[2000; 10][..], &[1000; 100][..]].concat(), 110, 1000.0);
        assert_eq!(time_s(&s), Some(118.0 - 110.0));
    }

    #[test]
    fn a_finite_flow_is_judged_until_its_last_frame() {
        let mut s = Settling::of(Some(Octets(1500)));
        follow(&mut s, 0, &[1000; 60], 0, 1000.0);
        let done =
            FlowNow { allowed: BitRate(0), delivered: Octets(1500), sent: Octets(1500), signals: 0, ended: None };
        for t in 60..200 {
            s.sample(seconds(t), &done, seconds(0), 1000.0);
        }
        assert_eq!(time_s(&s), Some(0.0));
    }
}
