//! The marking of a congestion point: by thresholds in the length of the queue, or by a PI controller instead.
//!
//! ```text
//!   thresholds:  a frame is marked with probability 0 up to k_min, p_max at k_max, 1 beyond; between them it rises evenly
//! ```
//!
//! A port of another rate than that for which thresholds are given, `thresholds_at`, may have them in proportion to its own.
//!
//! ## The controller
//!
//! ```text
//!   every pi_interval:  p += a (q - q_ref) - b (q before - q_ref),  0 ≤ p ≤ 1
//!   a frame is marked with probability p
//! ```
//!
//! A threshold or a ramp needs a longer queue for more flows, for the queue is their signal. Here the sum over time is, so that the
//! queue rests at its reference for any number of flows.
//!
//! The probability has 48 fraction bits; gains are rounded to 2^-48 for an octet.
//!
//! Sources: Zhu et al., CoNEXT 2016 ("ECN or Delay"), section 5 and its fluid model `dcqcn_pi.m`; Hollot et al., INFOCOM 2001.

use crate::info::values::{choice, mbps, octets, real, us};
use crate::info::{Threshold, choice, parameters, scaled};
use crate::units::{BitRate, Duration, Instant};
use crate::{Draw, Fate};

choice! {
    /// The decision on which frames are marked.
    pub enum Marking {
        /// The length of the queue, against the scheme's own thresholds.
        Threshold = "threshold",
        /// A PI controller. (Zhu et al. 2016)
        Pi = "pi",
    }
}

parameters! {
    /// Marking by a PI controller.
    pub struct MarkingParameters {
        /// The decision on which frames are marked.
        marking: Marking {
            default: choice("threshold"),
            source: "each scheme's own; Zhu et al. 2016 section 5",
        }
        /// Rate of the lines for which the thresholds are given: ports of other rates have thresholds in proportion to theirs; 0 where all ports
        /// have these.
        thresholds_at: BitRate {
            default: mbps(0),
            range: mbps(0)..=mbps(1_000_000),
            scales: thresholds,
            source: "option; HPCC's simulator, KMIN_MAP and KMAX_MAP of run.py",
            when: marking = "threshold",
        }
        /// Length at which the PI controller holds the queue.
        pi_q_ref: Threshold {
            default: octets(50_000),
            range: octets(64)..=octets(2_147_483_647),
            source: "option, for 10 Gb/s; Zhu et al. 2016 have 200 KB at 40 Gb/s",
            when: marking = "pi",
        }
        /// Gain of the queue's offset now, for 1000 octets.
        pi_a: f64 {
            default: real(0.000_505),
            range: real(0.0)..=real(1.0),
            source: "option, 1.01 pi_b; 1.0001 pi_b in Zhu et al. 2016, who leave the interval open",
            when: marking = "pi",
        }
        /// Gain of the queue's offset one interval ago, for 1000 octets.
        pi_b: f64 {
            default: real(0.000_5),
            range: real(0.0)..=real(1.0),
            source: "option, half the slope of DCQCN's default ramp; 0.000005816 or 0.00001816 in Zhu et al. 2016",
            when: marking = "pi",
        }
        /// Distance of updates.
        pi_interval: Duration {
            default: us(50),
            range: us(1)..=us(1_000_000),
            source: "option; open in Zhu et al. 2016",
            when: marking = "pi",
        }
    }
}

/// Fraction bits of the probability.
const FRACTION: u32 = 48;

/// A PI controller at work.
#[derive(Debug, Clone)]
pub struct Controller {
    q_ref: i64,
    /// For an octet, with [`FRACTION`] fraction bits, as is the probability.
    a: i64,
    b: i64,
    probability: i64,
    q_old: i64,
    interval: Duration,
    /// The next update; never while the queue is empty and the probability 0.
    next: Instant,
}

impl MarkingParameters {
    /// The controller, where one marks.
    fn controller(&self) -> Option<Controller> {
        let gain = |gain: f64| (gain / 1000.0 * (1u64 << FRACTION) as f64 + 0.5) as i64;
        (self.marking == Marking::Pi).then(|| Controller {
            q_ref: self.pi_q_ref.0 as i64,
            a: gain(self.pi_a),
            b: gain(self.pi_b),
            probability: 0,
            q_old: 0,
            interval: self.pi_interval,
            next: Instant::NEVER,
        })
    }

    /// The controller that replaces `old` and keeps its probability, the last length and the time of the next update.
    fn controller_after(&self, old: Option<&Controller>) -> Option<Controller> {
        let fresh = self.controller()?;
        Some(match old {
            Some(&Controller { probability, q_old, next, .. }) => Controller { probability, q_old, next, ..fresh },
            None => fresh,
        })
    }
}

impl Controller {
    /// A frame has joined the queue: updates begin.
    pub fn wake(&mut self, now: Instant) {
        if self.next == Instant::NEVER {
            self.next = now + self.interval;
        }
    }

    /// Whether a frame is marked now.
    pub fn marks(&self, draw: &mut impl Draw) -> bool {
        i64::from(draw.draw()) < self.probability >> (FRACTION - 32)
    }

    /// When [`update`](Self::update) is due.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        (self.next != Instant::NEVER).then_some(self.next)
    }

    /// An interval may have ended, with a queue of `len` octets.
    pub fn update(&mut self, now: Instant, len: u64) {
        if now < self.next {
            return;
        }
        let offset = |q: i64, gain: i64| i128::from(q - self.q_ref) * i128::from(gain);
        let q = len as i64;
        let moved = i128::from(self.probability) + offset(q, self.a) - offset(self.q_old, self.b);
        self.probability = moved.clamp(0, 1 << FRACTION) as i64;
        self.q_old = q;
        let idle = q == 0 && self.probability == 0;
        self.next = if idle { Instant::NEVER } else { now + self.interval };
    }

    /// The probability in millionths.
    #[must_use]
    pub fn ppm(&self) -> i64 {
        ((i128::from(self.probability) * 1_000_000) >> FRACTION) as i64
    }
}

/// Whether a frame has met congestion: the CE code point of ECN. (RFC 3168, section 5)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ce(pub bool);

/// Thresholds in the length of the queue. Where `k_min` is not below `k_max`, they are a step at `k_max`.
#[derive(Debug, Clone, Copy)]
pub struct Ramp {
    /// Octets up to which no frame is marked.
    pub k_min: u64,
    /// Octets beyond which every frame is marked.
    pub k_max: u64,
    /// Probability at `k_max`, times 2^32.
    pub p_max: u64,
}

impl Ramp {
    /// The thresholds of a port whose line has rate `line`.
    fn of_port(self, parameters: &MarkingParameters, line: BitRate) -> Self {
        let of_port = |octets| scaled(octets, parameters.thresholds_at, line);
        Self { k_min: of_port(self.k_min), k_max: of_port(self.k_max), ..self }
    }

    /// Whether a frame that finds a queue of `len` octets is marked.
    #[inline]
    pub fn marks(&self, len: u64, draw: &mut impl Draw) -> bool {
        // The word is below p_max (len - k_min) / (k_max - k_min), without the division.
        len > self.k_max
            || (len > self.k_min
                && u64::from(draw.draw()) * (self.k_max - self.k_min) < self.p_max * (len - self.k_min))
    }
}

/// The marking of a queue.
#[derive(Debug, Clone)]
pub struct Marker {
    ramp: Ramp,
    /// The ramp is that of the queue, whatever the parameters say.
    own: bool,
    /// Instead of the thresholds.
    pi: Option<Controller>,
    marked: u64,
}

impl Marker {
    /// By thresholds, unless the parameters choose the controller; `line` is the rate of the port's line.
    #[must_use]
    pub fn new(ramp: Ramp, parameters: &MarkingParameters, line: BitRate) -> Self {
        Self { ramp: ramp.of_port(parameters, line), own: false, pi: parameters.controller(), marked: 0 }
    }

    /// Goes by these from now on. The count of marks stays, and the state of a controller.
    pub fn configure(&mut self, ramp: Ramp, parameters: &MarkingParameters, line: BitRate) {
        let pi = parameters.controller_after(self.pi.as_ref());
        let ramp = if self.own { self.ramp } else { ramp.of_port(parameters, line) };
        *self = Self { ramp, own: self.own, pi, marked: self.marked };
    }

    /// The queue has its own thresholds: the parameters' no longer count.
    pub fn set_thresholds(&mut self, ramp: Ramp) {
        (self.ramp, self.own) = (ramp, true);
    }

    /// A frame has come to the queue.
    #[inline]
    pub fn on_arrival(&mut self, now: Instant, fate: Fate) {
        if fate == Fate::Queued
            && let Some(pi) = &mut self.pi
        {
            pi.wake(now);
        }
    }

    /// Whether a frame is marked that is one of `len` octets.
    #[inline]
    pub fn marks(&mut self, len: u64, draw: &mut impl Draw) -> bool {
        let marks = match &self.pi {
            None => self.ramp.marks(len, draw),
            Some(pi) => pi.marks(draw),
        };
        self.marked += u64::from(marks);
        marks
    }

    /// When [`on_timeout`](Self::on_timeout) is due; never by thresholds.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.pi.as_ref().and_then(Controller::due)
    }

    /// An interval may have ended, with a queue of `len` octets.
    pub fn on_timeout(&mut self, now: Instant, len: u64) {
        if let Some(pi) = &mut self.pi {
            pi.update(now, len);
        }
    }

    /// Frames marked so far.
    #[must_use]
    pub fn marked(&self) -> u64 {
        self.marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    struct Word(u32);
    impl Draw for Word {
        fn draw(&mut self) -> u32 {
            self.0
        }
    }

    const LINE: BitRate = BitRate::from_gbps(10);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    /// a = 0.002, b = 0.001 for 1000 octets, reference 10 000 octets, updates each 50 us.
    fn controller() -> Controller {
        let parameters = MarkingParameters {
            marking: Marking::Pi,
            thresholds_at: BitRate(0),
            pi_q_ref: Threshold(10_000),
            pi_a: 0.002,
            pi_b: 0.001,
            pi_interval: Duration::from_us(50),
        };
        parameters.controller().expect("it marks")
    }

    /// From an empty queue: 30 000 octets, 0.002 × 20 + 0.001 × 10 = 0.05; again 30 000, 0.05 + 0.02; then 10 000, 0.07 - 0.02.
    #[test]
    fn offset_and_growth_move_the_probability() {
        let mut pi = controller();
        assert_eq!(pi.due(), None);
        pi.wake(at(7));
        assert!(!pi.marks(&mut Word(0)), "probability 0");
        let mut seen = Vec::new();
        for len in [30_000, 30_000, 10_000, 10_000] {
            let due = pi.due().expect("it is awake");
            pi.update(due, len);
            seen.push((due, (pi.ppm() + 5) / 10));
        }
        assert_eq!(seen, [(at(57), 5_000), (at(107), 7_000), (at(157), 5_000), (at(207), 5_000)]);
        // 0.05 × 2^32 = 214 748 364.8.
        assert!(pi.marks(&mut Word(214_700_000)) && !pi.marks(&mut Word(214_800_000)));
    }

    #[test]
    fn an_idle_controller_sleeps_and_an_early_update_changes_nothing() {
        let mut pi = controller();
        pi.wake(at(0));
        pi.update(at(49), 30_000);
        assert_eq!((pi.ppm(), pi.due()), (0, Some(at(50))));
        pi.update(at(50), 0);
        assert_eq!(pi.due(), None);
    }

    #[test]
    fn the_probability_stays_within_its_bounds() {
        let mut pi = controller();
        pi.wake(at(0));
        for _ in 0..100 {
            pi.update(pi.due().expect("it is awake"), 1_000_000);
        }
        assert_eq!(pi.ppm(), 1_000_000);
        assert!(pi.marks(&mut Word(u32::MAX)));
        pi.update(pi.due().expect("it is awake"), 0);
        assert_eq!(pi.ppm(), 0, "0.002 × (-10) - 0.001 × 990 is below -1");
    }

    /// 0.05 after the first update; then 0.004 × 20 - 0.001 × 20 more.
    #[test]
    fn gains_change_and_the_probability_stays() {
        let by = |marking, pi_a| MarkingParameters {
            marking,
            thresholds_at: BitRate(0),
            pi_q_ref: Threshold(10_000),
            pi_a,
            pi_b: 0.001,
            pi_interval: Duration::from_us(50),
        };
        let ramp = Ramp { k_min: 0, k_max: 0, p_max: 0 };
        let mut marker = Marker::new(ramp, &by(Marking::Pi, 0.002), LINE);
        let ppm = |marker: &Marker| marker.pi.as_ref().map(|pi| (pi.ppm() + 5) / 10);
        marker.on_arrival(at(7), Fate::Queued);
        marker.on_timeout(at(57), 30_000);
        assert!(marker.marks(1, &mut Word(0)));
        marker.configure(ramp, &by(Marking::Pi, 0.004), LINE);
        assert_eq!((ppm(&marker), marker.next_timeout()), (Some(5_000), Some(at(107))));
        marker.on_timeout(at(107), 30_000);
        assert_eq!((ppm(&marker), marker.next_timeout()), (Some(11_000), Some(at(157))));
        marker.configure(ramp, &by(Marking::Threshold, 0.004), LINE);
        assert_eq!((marker.next_timeout(), marker.marked()), (None, 1));
        marker.configure(ramp, &by(Marking::Pi, 0.004), LINE);
        assert_eq!((ppm(&marker), marker.next_timeout()), (Some(0), None), "a new controller");
    }
}
