//! CUBIC (RFC 9438): after a loss the window returns along a cubic curve of time, flat where the loss was.
//!
//! ```text
//!   W_cubic(t) = C (t - K)^3 + W_max        K = cbrt((W_max - cwnd_epoch) / C)         (section 4.2)
//!
//!   cwnd |                        /
//!        |  W_max  ........_____.'          concave up to W_max, convex beyond;
//!        |             .-'  K               never below the window of NewReno (section 4.3)
//!        |  beta W_max/
//!        +---------------------------> t
//! ```
//!
//! Windows are octets, times are nanoseconds, and all is integer, so that a run gives the same bytes on every machine.
//! The fraction of an octet that a step of growth leaves is carried to the next.

use penstock_schemes::{Duration, Instant};

use super::{Acknowledged, Window};

/// C = 4/10 segments per second cubed. (Section 5.1)
const C: (u128, u128) = (4, 10);
/// Beta = 7/10. (Section 4.6)
const BETA: (u64, u64) = (7, 10);
/// Alpha of the Reno-friendly region: `3 (1 - beta) / (1 + beta)` = 9/17. (Section 4.3)
const ALPHA: (u64, u64) = (9, 17);
/// Nanoseconds in a second, cubed.
const NS3: u128 = 1_000_000_000_000_000_000_000_000_000;
/// Times and windows beyond these have no more effect: 6000 s, 2^40 octets.
const LONGEST_NS: i128 = 6_000_000_000_000;
const WIDEST: u64 = 1 << 40;

/// Its state, in the names of section 4.1.2.
#[derive(Debug, Clone)]
pub(in super::super) struct Cubic {
    fast_convergence: bool,
    /// W_max, octets; `None` before the first loss and after a timeout.
    w_max: Option<u64>,
    /// The window before the last cut.
    cwnd_prior: u64,
    /// `None` outside of congestion avoidance.
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// When it began, less the time in which the flow was not limited by the window. (Section 5.8)
    start: Instant,
    last_ack: Instant,
    k_ns: i128,
    w_max: u64,
    w_est: u64,
    /// The fraction of an octet left of the growth of the window and of `w_est`, in units of 1/divisor octets.
    cwnd_rest: u128,
    est_rest: u128,
}

impl Cubic {
    pub(super) fn new(fast_convergence: bool) -> Self {
        Self { fast_convergence, w_max: None, cwnd_prior: 0, epoch: None }
    }

    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Acknowledged) {
        if !ack.grows {
            if let Some(epoch) = &mut self.epoch {
                epoch.skip(ack.now.since(epoch.last_ack));
                epoch.last_ack = ack.now;
            }
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.octets);
            return;
        }
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(ack.now, window, w_max));
        epoch.last_ack = ack.now;
        epoch.grow(window, ack, self.cwnd_prior);
    }

    /// Sections 4.6 and 4.7.
    pub(super) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.remember(window.cwnd);
        window.cut(flight * BETA.0 / BETA.1);
    }

    /// Section 4.6: as after a loss, but for the floor.
    pub(super) fn on_mark(&mut self, window: &mut Window, flight: u64) {
        self.remember(window.cwnd);
        window.marked(flight.min(window.cwnd) * BETA.0 / BETA.1);
    }

    /// Section 4.8: the first stage of congestion avoidance after it has K = 0 and the window as W_max.
    pub(super) fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        self.cwnd_prior = window.cwnd;
        self.w_max = None;
        self.epoch = None;
        window.ssthresh = (flight * BETA.0 / BETA.1).max(2 * window.mss);
        window.lose();
    }

    /// Nothing was to be sent for `pause`.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.skip(pause);
            epoch.last_ack += pause;
        }
    }

    /// W_max of the next stage, by fast convergence where the window has not reached the last W_max. (Section 4.7)
    fn remember(&mut self, cwnd: u64) {
        let shrinks = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        // cwnd (1 + beta) / 2
        self.w_max = Some(if shrinks { cwnd * (BETA.1 + BETA.0) / (2 * BETA.1) } else { cwnd });
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }
}

impl Epoch {
    /// A stage begins; without a W_max it is the window, and K is 0. (Sections 4.8 and 4.10)
    fn new(now: Instant, window: &Window, w_max: Option<u64>) -> Self {
        let w_max = w_max.unwrap_or(window.cwnd).min(WIDEST);
        Self {
            start: now,
            last_ack: now,
            k_ns: k_ns(w_max.saturating_sub(window.cwnd), window.mss),
            w_max,
            w_est: window.cwnd,
            cwnd_rest: 0,
            est_rest: 0,
        }
    }

    /// The stage's time stands still for `pause`.
    fn skip(&mut self, pause: Duration) {
        self.start += pause;
    }

    /// Sections 4.2 to 4.5.
    fn grow(&mut self, window: &mut Window, ack: &Acknowledged, cwnd_prior: u64) {
        let (cwnd, mss) = (window.cwnd, window.mss);
        // Section 4.3, figure 4, in octets: alpha is 1 once the window of the last cut is reached again.
        let alpha = if self.w_est >= cwnd_prior { (1, 1) } else { ALPHA };
        let divisor = u128::from(alpha.1) * u128::from(cwnd);
        self.est_rest += u128::from(alpha.0) * u128::from(ack.octets) * u128::from(mss);
        self.w_est += (self.est_rest / divisor) as u64;
        self.est_rest %= divisor;

        let t = ns(ack.now.since(self.start));
        if self.w_cubic(t, mss) < self.w_est {
            // The Reno-friendly region.
            window.cwnd = cwnd.max(self.w_est);
            return;
        }
        let ahead = t + ns(ack.srtt.unwrap_or(Duration::ZERO));
        let target = self.w_cubic(ahead, mss).clamp(cwnd, cwnd + cwnd / 2);
        // (target - cwnd) / cwnd segments for each segment that is acknowledged. (Sections 4.4 and 4.5; with delayed
        // acknowledgements each counts as the segments that it acknowledges, as in Linux.)
        self.cwnd_rest += u128::from(target - cwnd) * u128::from(ack.octets);
        window.cwnd += (self.cwnd_rest / u128::from(cwnd)) as u64;
        self.cwnd_rest %= u128::from(cwnd);
    }

    /// W_cubic(t), octets. (Section 4.2, figure 1)
    fn w_cubic(&self, t_ns: i128, mss: u64) -> u64 {
        let dt = (t_ns - self.k_ns).clamp(-LONGEST_NS, LONGEST_NS);
        // Billionths of a second cubed suffice, and leave room for the segment's length.
        let cube = dt.unsigned_abs().pow(3) / (NS3 / 1_000_000_000);
        let step = (C.0 * cube * u128::from(mss) / (C.1 * 1_000_000_000)).min(u128::from(WIDEST)) as u64;
        if dt < 0 { self.w_max.saturating_sub(step) } else { self.w_max + step }
    }
}

/// K for a window `below` octets below W_max, nanoseconds. (Section 4.2, figure 2)
fn k_ns(below: u64, mss: u64) -> i128 {
    cube_root(u128::from(below.min(1 << 30)) * C.1 * NS3 / (C.0 * u128::from(mss))) as i128
}

fn ns(d: Duration) -> i128 {
    i128::from(d.0 / 1000)
}

/// The greatest whole number whose cube is at most `x`, binary digit by binary digit.
fn cube_root(x: u128) -> u128 {
    let mut root: u128 = 0;
    for bit in (0..43).rev() {
        let with = root | 1 << bit;
        // At most 2^43: the cube of 2^42.6 is the largest number of 128 bits.
        if with.checked_pow(3).is_some_and(|cube| cube <= x) {
            root = with;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::super::{acknowledged, window};
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// At `ms` milliseconds, with a round trip of 100 ms.
    fn ack(ms: u64, octets: u64) -> Acknowledged {
        Acknowledged { srtt: Some(Duration(100 * MS)), ..acknowledged(Instant(ms * MS), octets) }
    }

    #[test]
    fn cube_roots() {
        for x in [0, 1, 7, 8, 26, 27, 28, u128::from(u64::MAX)] {
            let root = cube_root(x);
            assert!(root.pow(3) <= x && (root + 1).pow(3) > x, "{x}: {root}");
        }
        assert_eq!(cube_root(u128::MAX), 6_981_463_658_331, "2^(128/3) = 6 981 463 658 331.56");
    }

    /// W_max = 100 segments, a window of 70: K = cbrt(30 / 0.4) = cbrt(75) = 4.217 163 327 s.
    #[test]
    fn k_and_the_curve() {
        let mut w = window(100);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 100_000);
        assert_eq!((w.cwnd, w.ssthresh, c.w_max), (70_000, 70_000, Some(100_000)));
        let epoch = Epoch::new(Instant::ZERO, &w, c.w_max);
        assert_eq!(epoch.k_ns, 4_217_163_326);
        // W(0) = 100 - 0.4 * 75 = 70. W(1) = 100 - 0.4 * 3.217163^3 = 100 - 0.4 * 33.29780 = 86.68088.
        // W(K) = 100. W(K + 1) = 100.4. W(10) = 100 + 0.4 * 5.782837^3 = 100 + 0.4 * 193.38468 = 177.35387.
        let at = |ms: i128| epoch.w_cubic(ms * 1_000_000, 1000);
        assert_eq!(at(0), 70_001, "an octet for K's rounding");
        assert!(at(1000).abs_diff(86_681) <= 1, "{}", at(1000));
        assert_eq!(epoch.w_cubic(epoch.k_ns, 1000), 100_000);
        assert_eq!(epoch.w_cubic(epoch.k_ns + 1_000_000_000, 1000), 100_400);
        assert!(at(10_000).abs_diff(177_354) <= 1, "{}", at(10_000));
        assert_eq!(at(i128::from(u32::MAX)), 100_000 + WIDEST, "no overflow");
        assert_eq!(epoch.w_cubic(-LONGEST_NS, 65_495), 0);
    }

    /// At t = 1 s a window of 80 lags behind W(1) = 86.68. W(1 + RTT) = W(1.1) = 100 - 0.4 * 3.117163^3 = 100 - 0.4 * 30.28856
    /// = 87.88458 segments. So a segment acknowledged adds (87.88458 - 80) / 80 = 0.098557 segments: 98 octets, and the rest is
    /// carried.
    #[test]
    fn concave_growth() {
        let mut w = window(100);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 100_000);
        c.on_ack(&mut w, &ack(0, 0));
        w.cwnd = 80_000;
        c.on_ack(&mut w, &ack(1000, 1000));
        assert_eq!(w.cwnd, 80_098);
        // (87 884.58 - 80 098) / 80 098 * 1000 = 97.21, and 0.56 carried.
        c.on_ack(&mut w, &ack(1000, 1000));
        assert_eq!(w.cwnd, 80_195);
    }

    /// Without congestion for long: the target is 1.5 windows at most, so that a whole window acknowledged adds half of it.
    #[test]
    fn convex_growth_has_a_limit() {
        let mut w = window(10);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 10_000);
        c.on_ack(&mut w, &ack(0, 0));
        let before = w.cwnd;
        c.on_ack(&mut w, &ack(100_000, before));
        assert_eq!(w.cwnd, before + before / 2);
    }

    /// W_max = 10 segments, window 7, round trip 100 ms. K = cbrt(3 / 0.4) = 1.957 s. After one round trip Reno's estimate
    /// is 7 + 9/17 = 7.529 segments, and W_cubic(0.1) = 10 - 0.4 * 1.857^3 = 7.436: the Reno-friendly region.
    #[test]
    fn reno_friendly_region() {
        let mut w = window(10);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 10_000);
        c.on_ack(&mut w, &ack(0, 0));
        assert_eq!(w.cwnd, 7000);
        // 7000 + 9/17 * 7000 * 1000 / 7000 = 7529.4
        c.on_ack(&mut w, &ack(100, 7000));
        assert_eq!(w.cwnd, 7529);
        // Once the estimate has reached the window of the cut, alpha is 1: a segment more a window.
        let epoch = c.epoch.as_mut().expect("congestion avoidance");
        (epoch.w_est, epoch.est_rest) = (10_000, 0);
        w.cwnd = 10_000;
        c.on_ack(&mut w, &ack(200, 10_000));
        assert_eq!(w.cwnd, 11_000);
    }

    /// 100 acknowledgements of an octet each: 100 * 9/17 * 1000 / 7000 = 7.56 octets. A window above the estimate stays.
    #[test]
    fn the_reno_friendly_estimate_carries_its_rest() {
        let mut w = window(10);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 10_000);
        c.on_ack(&mut w, &ack(0, 0));
        for _ in 0..100 {
            c.on_ack(&mut w, &ack(0, 1));
        }
        assert_eq!((c.epoch.map(|e| e.w_est), w.cwnd), (Some(7007), 7007));
        w.cwnd = 8000;
        c.on_ack(&mut w, &ack(0, 10));
        assert_eq!(w.cwnd, 8000);
    }

    #[test]
    fn fast_convergence_yields() {
        let mut w = window(100);
        let mut c = Cubic::new(true);
        c.on_loss(&mut w, 100_000);
        w.cwnd = 90_000;
        c.on_loss(&mut w, 90_000);
        // 90 * 1.7 / 2 = 76.5
        assert_eq!((c.w_max, w.cwnd, c.cwnd_prior), (Some(76_500), 63_000, 90_000));
        w.cwnd = 80_000;
        c.on_loss(&mut w, 80_000);
        assert_eq!(c.w_max, Some(80_000), "above the last W_max");
        w.cwnd = 80_000;
        c.on_loss(&mut w, 80_000);
        assert_eq!(c.w_max, Some(80_000), "at it");
        let mut slow = Cubic { fast_convergence: false, w_max: Some(100_000), ..Cubic::new(false) };
        w.cwnd = 90_000;
        slow.on_loss(&mut w, 90_000);
        assert_eq!(slow.w_max, Some(90_000));
    }

    #[test]
    fn cuts() {
        let (mut c, mut w) = (Cubic::new(true), window(10));
        c.on_loss(&mut w, 2000);
        assert_eq!((w.cwnd, w.ssthresh), (2000, 2000), "two segments at least");
        let mut w = window(10);
        c.on_mark(&mut w, 10_000);
        assert_eq!((w.cwnd, w.ssthresh), (7000, 7000));
        w.floor = 1000;
        (0..20).for_each(|_| c.on_mark(&mut w, 1000));
        assert_eq!((w.cwnd, w.ssthresh), (1000, 2000));
    }

    /// The stage after a timeout begins at the threshold with K = 0: W(t) = 7 + 0.4 t^3.
    #[test]
    fn after_a_timeout_the_curve_starts_flat() {
        let (mut c, mut w) = (Cubic::new(true), window(10));
        c.on_loss(&mut w, 10_000);
        w.cwnd = 10_000;
        c.on_timeout(&mut w, 10_000);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 7000));
        for _ in 0..6 {
            c.on_ack(&mut w, &ack(0, 1000));
        }
        assert!(w.cwnd == 7000 && c.epoch.is_none(), "slow start");
        c.on_ack(&mut w, &ack(0, 0));
        let epoch = c.epoch.expect("congestion avoidance");
        assert_eq!((epoch.k_ns, epoch.w_max, epoch.w_est), (0, 7000, 7000));
        assert_eq!(epoch.w_cubic(5_000_000_000, 1000), 7000 + 50_000);
    }

    #[test]
    fn time_stands_still_while_the_window_does_not_limit() {
        let (mut c, mut w) = (Cubic::new(true), window(100));
        c.on_loss(&mut w, 100_000);
        c.on_ack(&mut w, &ack(0, 0));
        c.on_ack(&mut w, &Acknowledged { grows: false, ..ack(3000, 1000) });
        c.on_pause(Duration(500 * MS));
        assert_eq!(w.cwnd, 70_000);
        let epoch = c.epoch.expect("congestion avoidance");
        assert_eq!(epoch.start, Instant(3500 * MS));
        assert_eq!(epoch.last_ack, Instant(3500 * MS), "no time stands still twice");
    }
}
