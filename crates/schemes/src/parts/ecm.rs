//! Parts that BCN, also called ECM, and E2CM share: the switch's monitor and the source's rate limiter.
//!
//! ```text
//!   monitor, at a sampled frame                          limiter
//!   q > Qsc and bcn_00 -----> both fields 0 ----------> STOPPED for U[0, Tmax], then r = Rmin --+
//!   q > 2 Qeq and bcn_max --> the largest |Fb| --+                                              |
//!   Fb < 0 ------------------------------------- +----> LIMITED: r = max(Rmin, r (1 - Gd |Fb|)) |
//!   Fb > 0, the frame carries                           associated with the message's CPID <----+
//!   this point's CPID ------> fields as they are -----> r = r + Gi Ru Fb, if the CPID is its own
//!                                                       drift: every Td without message, r = r + Rd
//!                                                       r >= C: no limiter
//! ```
//!
//! Fb = −(q_off + w q_delta) counts in units of 64 octets: only then have the gains of So-In et al. 2008 their intended
//! effect. Qeq is 375 units, |Fb|max = (1 + 2w) Qeq is 1875, Gd |Fb|max is one half and Gi Ru |Fb|max is 1 Gb/s, a
//! tenth of the line.
//!
//! Rates are whole bits per second. Rounding: lengths become units towards zero, Fb towards zero, a cut rounds the new
//! rate down, a raise rounds the step down.

use crate::info::values::{bps, count, mbps, octets, real, switch, us};
use crate::info::{Threshold, parameters};
use crate::parts::jitter::Spread;
use crate::units::{BitRate, CpId, Duration, Instant, Octets};
use crate::{Draw, Fate, Label, Message, Place, Queue, Signal, Var};

parameters! {
    /// BCN's parameters.
    pub struct Ecm {
        /// Set point of the queue, Qeq.
        q_eq: Threshold {
            default: octets(24_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "So-In et al. 2008 table 2, Qeq",
        }
        /// Severe congestion: above this queue length BCN(0,0) is sent and frames are sampled more often.
        q_sc: Threshold {
            default: octets(120_000),
            range: octets(64)..=octets(1_000_000_000),
            at_least: q_eq,
            source: "So-In et al. 2008 table 2, Qsc",
        }
        /// Weight of the queue's growth in Fb, rounded to 1/8.
        w: f64 {
            default: real(2.0),
            range: real(0.0)..=real(1024.0),
            source: "So-In et al. 2008 table 2, W; rp_w",
        }
        /// Above 2 Qeq a message is the most negative one, whatever the queue's growth.
        bcn_max: bool {
            default: switch(true),
            source: "So-In et al. 2008 section 2, BCNMAX",
        }
        /// Above Qsc a message has both fields zero, and stops the source.
        bcn_00: bool {
            default: switch(false),
            source: "So-In et al. 2008 section 2, BCN00",
        }
        /// Above Qsc frames are sampled every `sample_interval_severe`.
        over_sampling: bool {
            default: switch(true),
            source: "So-In et al. 2008 section 2",
        }
        /// Positive messages are sent only while the queue is shorter than Qeq.
        positive_below_q_eq: bool {
            default: switch(false),
            source: "option",
        }
        /// Octets between samples.
        sample_interval: Octets {
            default: octets(75_000),
            range: octets(64)..=octets(1_000_000_000),
            at_least: sample_interval_severe,
            source: "So-In et al. 2008 table 2, 2 %",
        }
        /// Octets between samples above Qsc.
        sample_interval_severe: Octets {
            default: octets(15_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "So-In et al. 2008 table 2, 10 %",
            when: over_sampling = true,
        }
        /// Spread of the sampling intervals (0.15 for ±15 %); at 0, sources that send in step are sampled unevenly.
        sample_jitter: f64 {
            default: real(0.15),
            range: real(0.0)..=real(0.99),
            source: "option; as QCN's",
        }
        /// Frames that the full queue refuses count for sampling.
        sample_dropped: bool {
            default: switch(true),
            source: "option",
        }
        /// 1/Gd: a unit of Fb, 64 octets, cuts the rate by Gd of it.
        gd_inverse: u32 {
            default: count(3750),
            range: count(1)..=count(1_000_000_000),
            source: "So-In et al. 2008 table 2, Gd = 0.0002667; rp_gd",
        }
        /// Gi: a unit of Fb raises the rate by Gi Ru; rounded to 2^-32.
        gi: f64 {
            default: real(8.0 / 15.0),
            range: real(0.0)..=real(1000.0),
            source: "So-In et al. 2008 table 2, Gi = 0.533; rp_gi",
        }
        /// Ru, the unit of rate.
        ru: BitRate {
            default: mbps(1),
            range: bps(1)..=mbps(1000),
            source: "So-In et al. 2008 table 2, Ru; rp_ru",
        }
        /// Least rate, and the rate after a stop.
        rmin: BitRate {
            default: mbps(10),
            range: bps(1)..=mbps(1_000_000),
            at_most: line,
            source: "option; rp_rmin",
        }
        /// The longest stop after BCN(0,0).
        tmax: Duration {
            default: us(500),
            range: us(1)..=us(1_000_000),
            source: "option; rp_tmax",
            when: bcn_00 = true,
        }
        /// Without messages the rate drifts upwards.
        drift: bool {
            default: switch(false),
            source: "So-In et al. 2008 section 2; rp_td, rp_rd",
        }
        /// Time without a message after which the rate drifts by a step.
        td: Duration {
            default: us(1000),
            range: us(1)..=us(1_000_000),
            source: "option; rp_td",
            when: drift = true,
        }
        /// The step of a drift.
        rd: BitRate {
            default: mbps(1),
            range: bps(1)..=mbps(1_000_000),
            source: "option; rp_rd",
            when: drift = true,
        }
        /// Spread of the drift's intervals (0.5 for ±50 %).
        td_jitter: f64 {
            default: real(0.5),
            range: real(0.0)..=real(0.99),
            source: "So-In et al. 2008 section 2 (randomly)",
            when: drift = true,
        }
    }
}

/// Octets in the unit of Fb.
pub const UNIT: u64 = 64;

/// A BCN message. Both fields zero is BCN(0,0): stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bcn {
    /// The congestion point that sent it.
    pub cp: CpId,
    /// Queue length less the set point, in units of 64 octets.
    pub q_off: i32,
    /// Growth of the queue since the sample before, in units of 64 octets.
    pub q_delta: i32,
}

impl Bcn {
    /// Length of the frame, padded to Ethernet's minimum.
    pub const OCTETS: u16 = 64;

    /// BCN(0,0).
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.q_off == 0 && self.q_delta == 0
    }
}

impl Signal for Bcn {
    const VARS: &'static [Var] = &[
        Var { name: "q_off_octets", description: "queue length less the set point, octets; with q_delta 0: stop" },
        Var { name: "q_delta_octets", description: "growth of the queue since the sample before, octets" },
    ];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        let Self { cp, q_off, q_delta } = *self;
        Some(Message::Bcn { cp, q_off, q_delta })
    }

    fn from_message(message: Message) -> Option<Self> {
        let Message::Bcn { cp, q_off, q_delta } = message else { return None };
        Some(Self { cp, q_off, q_delta })
    }

    fn vars(&self, row: &mut [i64]) {
        let octets = |units: i32| i64::from(units) * UNIT as i64;
        row.copy_from_slice(&[octets(self.q_off), octets(self.q_delta)]);
    }
}

/// The rate-limited tag of data frames: the congestion point with which their limiter is associated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rlt(pub Option<CpId>);

impl Rlt {
    /// The tag of a data frame that carries `label`.
    #[must_use]
    pub const fn of(label: Label) -> Self {
        Self(if let Label::Rlt(cp) = label { Some(cp) } else { None })
    }
}

/// How a queue's state becomes Fb.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    q_eq: i64,
    /// w in 1/8.
    w: i64,
}

impl Measure {
    /// For the set point and weight of `config`.
    #[must_use]
    pub fn new(config: &Ecm) -> Self {
        Self { q_eq: config.q_eq.0 as i64, w: (config.w * 8.0 + 0.5) as i64 }
    }

    /// The fields for a queue of `len` octets that had `old` octets at the sample before.
    fn fields(self, len: u64, old: u64) -> (i32, i32) {
        let units = |octets: i64| (octets / UNIT as i64).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        (units(len as i64 - self.q_eq), units(len as i64 - old as i64))
    }

    /// The fields of the most negative Fb: q_off = Qeq, q_delta = 2 Qeq.
    fn most_negative(self) -> (i32, i32) {
        let q_eq = (self.q_eq / UNIT as i64).clamp(1, i64::from(i32::MAX / 2)) as i32;
        (q_eq, 2 * q_eq)
    }

    /// −Fb in units of 64 octets, at most |Fb|max in size: positive means congestion.
    fn congestion(self, q_off: i32, q_delta: i32) -> i64 {
        let (q_eq, q_2eq) = self.most_negative();
        let measure = |off: i32, delta: i32| (i64::from(off) * 8 + self.w * i64::from(delta)) / 8;
        let most = measure(q_eq, q_2eq);
        measure(q_off, q_delta).clamp(-most, most)
    }
}

/// The switch's side: samples frames and gives the messages for their sources.
#[derive(Debug, Clone)]
pub struct Monitor {
    id: CpId,
    measure: Measure,
    q_eq: u64,
    /// Above this, BCN-MAX; `u64::MAX` without it.
    q_max: u64,
    /// Above this, BCN(0,0); `u64::MAX` without it.
    q_stop: u64,
    /// Above this, over-sampling; `u64::MAX` without it.
    q_over: u64,
    positive_below_q_eq: bool,
    sample_dropped: bool,
    interval: u64,
    interval_severe: u64,
    jitter: Spread,
    /// Octets since the last sample, and how many make the next one, usually and above Qsc.
    counted: u64,
    due: u64,
    due_severe: u64,
    q_old: u64,
    last: i64,
}

impl Monitor {
    /// The columns that [`vars`](Self::vars) fills.
    pub const VARS: &'static [Var] = &[
        Var { name: "fb_octets", description: "Fb of the last sample, octets (negative: congestion)" },
        Var { name: "q_old_octets", description: "queue length at the last sample, octets" },
    ];

    /// A monitor at `place`; the first interval is unjittered.
    #[must_use]
    pub fn new(config: &Ecm, place: Place) -> Self {
        let from = |on: bool, threshold: u64| if on { threshold } else { u64::MAX };
        let (interval, interval_severe) = (config.sample_interval.0, config.sample_interval_severe.0);
        Self {
            id: place.cp,
            measure: Measure::new(config),
            q_eq: config.q_eq.0,
            q_max: from(config.bcn_max, 2 * config.q_eq.0),
            q_stop: from(config.bcn_00, config.q_sc.0),
            q_over: from(config.over_sampling, config.q_sc.0),
            positive_below_q_eq: config.positive_below_q_eq,
            sample_dropped: config.sample_dropped,
            interval,
            interval_severe,
            jitter: Spread::new(config.sample_jitter),
            counted: 0,
            due: interval,
            due_severe: interval_severe,
            q_old: 0,
            last: 0,
        }
    }

    /// Goes by `config` from now on. The interval that runs, the queue length of the last sample and its Fb stay.
    pub fn configure(&mut self, config: &Ecm, place: Place) {
        let Self { counted, due, due_severe, q_old, last, .. } = *self;
        *self = Self { counted, due, due_severe, q_old, last, ..Self::new(config, place) };
    }

    /// Counts a frame; the message to its source, if there is one.
    #[inline]
    pub fn on_arrival(
        &mut self,
        octets: u16,
        tag: Rlt,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
    ) -> Option<Bcn> {
        if fate == Fate::Dropped && !self.sample_dropped {
            return None;
        }
        self.counted += u64::from(octets);
        let due = if queue.len.0 > self.q_over { self.due_severe } else { self.due };
        if self.counted < due { None } else { self.sample(queue.len.0, tag, draw) }
    }

    fn sample(&mut self, len: u64, tag: Rlt, draw: &mut impl Draw) -> Option<Bcn> {
        let word = draw.draw();
        self.counted = 0;
        self.due = self.jitter.apply(self.interval, word);
        self.due_severe = self.jitter.apply(self.interval_severe, word);
        let (q_off, q_delta) = self.measure.fields(len, self.q_old);
        let congestion = self.measure.congestion(q_off, q_delta);
        self.q_old = len;
        self.last = -congestion;
        let raises = tag.0 == Some(self.id) && (len < self.q_eq || !self.positive_below_q_eq);
        let (q_off, q_delta) = if len > self.q_stop {
            (0, 0)
        } else if len > self.q_max {
            self.measure.most_negative()
        } else if congestion > 0 || (congestion < 0 && raises) {
            (q_off, q_delta)
        } else {
            return None;
        };
        Some(Bcn { cp: self.id, q_off, q_delta })
    }

    /// Fb of the last sample and the queue's length then, octets.
    pub fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.last * UNIT as i64, self.q_old as i64]);
    }
}

/// The source's side: one rate limiter.
#[derive(Debug, Clone)]
pub struct Limiter {
    measure: Measure,
    gd_inverse: u64,
    /// Gi Ru in 2^-32 bit/s per unit of Fb.
    raise: u128,
    rmin: u64,
    line: u64,
    tmax: u64,
    /// Step and interval of the drift.
    drift: Option<(u64, u64)>,
    td_jitter: Spread,
    rate: u64,
    /// The association; `None` without limiter.
    cp: Option<CpId>,
    stopped: bool,
    /// While stopped: when that ends. Else: when the rate drifts.
    timer: Instant,
}

impl Limiter {
    /// No limiter yet, in front of a line of rate `line`.
    #[must_use]
    pub fn new(config: &Ecm, line: BitRate) -> Self {
        Self {
            measure: Measure::new(config),
            gd_inverse: u64::from(config.gd_inverse),
            raise: u128::from((config.gi * 4_294_967_296.0 + 0.5) as u64) * u128::from(config.ru.0),
            rmin: config.rmin.0.min(line.0),
            line: line.0,
            tmax: config.tmax.0,
            drift: config.drift.then_some((config.rd.0, config.td.0)),
            td_jitter: Spread::new(config.td_jitter),
            rate: line.0,
            cp: None,
            stopped: false,
            timer: Instant::NEVER,
        }
    }

    /// Goes by `config` from now on. Rate and association stay, the rate not below the new minimum. A stop goes on to its end. Where the
    /// drift goes, its timer goes too; where it comes, the next message starts it.
    pub fn configure(&mut self, config: &Ecm, line: BitRate) {
        let Self { rate, cp, stopped, timer, .. } = *self;
        let fresh = Self::new(config, line);
        let timer = if stopped || fresh.drift.is_some() { timer } else { Instant::NEVER };
        *self = Self { rate: rate.max(fresh.rmin), cp, stopped, timer, ..fresh };
    }

    /// A message has come.
    pub fn on_message(&mut self, now: Instant, message: Bcn, draw: &mut impl Draw) {
        if self.stopped {
            // A message that was in flight when the source stopped has no new information.
            return;
        }
        if message.is_stop() {
            self.cp = Some(message.cp);
            self.stopped = true;
            let wait = (u128::from(self.tmax) * u128::from(draw.draw())) >> 32;
            self.timer = now + Duration((wait as u64).max(1));
            return;
        }
        let congestion = self.measure.congestion(message.q_off, message.q_delta);
        if congestion > 0 {
            self.cp = Some(message.cp);
            let left = self.gd_inverse.saturating_sub(congestion as u64);
            let cut = (u128::from(self.rate) * u128::from(left) / u128::from(self.gd_inverse)) as u64;
            self.rate = cut.max(self.rmin);
            self.wait_for_drift(now, draw);
        } else if congestion < 0 && self.cp == Some(message.cp) {
            let step = (self.raise * u128::from(congestion.unsigned_abs())) >> 32;
            self.rise(step as u64);
            self.wait_for_drift(now, draw);
        }
    }

    /// Raises the rate by `step` bit/s; at line rate the limiter goes.
    pub fn rise(&mut self, step: u64) {
        self.rate = self.rate.saturating_add(step);
        if self.rate >= self.line {
            self.rate = self.line;
            self.cp = None;
            self.timer = Instant::NEVER;
        }
    }

    fn wait_for_drift(&mut self, now: Instant, draw: &mut impl Draw) {
        self.timer = match self.drift {
            Some((_, td)) if self.limiting() => now + Duration(self.td_jitter.apply(td, draw.draw()).max(1)),
            _ => Instant::NEVER,
        };
    }

    /// When the stop ends or the rate drifts.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    /// Ends the stop, or drifts, if it is due.
    pub fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw) {
        if now < self.timer {
            return;
        }
        if self.stopped {
            self.stopped = false;
            self.rate = self.rmin;
        } else if let Some((rd, _)) = self.drift {
            self.rise(rd);
        }
        self.wait_for_drift(now, draw);
    }

    /// Allowed rate, bit/s; 0 while stopped.
    #[must_use]
    pub fn rate(&self) -> u64 {
        if self.stopped { 0 } else { self.rate }
    }

    /// Whether there is a limiter.
    #[must_use]
    pub fn limiting(&self) -> bool {
        self.cp.is_some()
    }

    /// The tag of the frames that it lets go.
    #[must_use]
    pub fn tag(&self) -> Rlt {
        Rlt(self.cp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Configuration;
    use crate::testing::Middle;
    use alloc::vec::Vec;

    const CP: CpId = CpId::new(0xaa, 1, 0);
    const OTHER: CpId = CpId::new(0xbb, 1, 0);
    const LINE: BitRate = BitRate::from_gbps(10);
    const AT: Instant = Instant(1_000_000);

    fn config() -> Ecm {
        let defaults: Vec<_> = Ecm::PARAMETERS.iter().map(|p| p.default).collect();
        Ecm::from_values(&defaults).expect("defaults are of their kinds")
    }

    fn monitor(config: &Ecm) -> Monitor {
        Monitor::new(config, Place { cp: CP, line: LINE, capacity: Octets(150_000), phase: Duration::ZERO })
    }

    /// The message to a frame that is sampled at a queue of `len` octets.
    fn sampled(monitor: &mut Monitor, len: u64, tag: Rlt) -> Option<(i32, i32)> {
        let queue = Queue { len: Octets(len), ..Queue::default() };
        monitor.counted = 1 << 40;
        monitor.on_arrival(1500, tag, Fate::Queued, &queue, &mut Middle).map(|bcn| (bcn.q_off, bcn.q_delta))
    }

    fn bcn(cp: CpId, q_off: i32, q_delta: i32) -> Bcn {
        Bcn { cp, q_off, q_delta }
    }

    fn limiter(config: &Ecm, messages: &[Bcn]) -> Limiter {
        let mut limiter = Limiter::new(config, LINE);
        for &message in messages {
            limiter.on_message(AT, message, &mut Middle);
        }
        limiter
    }

    #[test]
    fn one_frame_in_fifty_is_sampled_and_one_in_ten_above_qsc() {
        // 75 000 / 1500 = 50, 15 000 / 1500 = 10.
        for (len, over_sampling, every) in [(30_000, true, 50), (130_000, true, 10), (130_000, false, 50)] {
            let mut m = monitor(&Ecm { over_sampling, ..config() });
            let queue = Queue { len: Octets(len), ..Queue::default() };
            let sampled: Vec<u32> = (1..=100)
                .filter(|_| m.on_arrival(1500, Rlt(None), Fate::Queued, &queue, &mut Middle).is_some())
                .collect();
            let expected: Vec<u32> = (1..=100).filter(|i| i % every == 0).collect();
            assert_eq!(sampled, expected, "{len}");
        }
    }

    /// 24 000 octets are 375 units. 40 000 − 24 000 = 16 000 = 250 units; 40 000 − 30 000 = 10 000 = 156.25 units.
    #[test]
    fn fields_are_in_units_of_64_octets() {
        let mut m = monitor(&config());
        assert_eq!(sampled(&mut m, 30_000, Rlt(None)), Some((93, 468)), "6000 and 30 000 octets");
        assert_eq!(sampled(&mut m, 40_000, Rlt(None)), Some((250, 156)));
        let mut row = [0; 2];
        m.vars(&mut row);
        assert_eq!(row, [-(250 + 2 * 156) * 64, 40_000]);
    }

    #[test]
    fn only_tagged_frames_are_answered_with_more() {
        for (tag, below_only, len, sent) in [
            (Rlt(None), false, 12_000, false),
            (Rlt(Some(OTHER)), false, 12_000, false),
            (Rlt(Some(CP)), false, 12_000, true),
            (Rlt(Some(CP)), true, 12_000, true),
            // 30 000 after 40 000: 93 − 2 × 156 < 0, so Fb > 0 although the queue is beyond Qeq.
            (Rlt(Some(CP)), false, 30_000, true),
            (Rlt(Some(CP)), true, 30_000, false),
        ] {
            let mut m = monitor(&Ecm { positive_below_q_eq: below_only, ..config() });
            assert!(sampled(&mut m, 40_000, Rlt(None)).is_some());
            assert_eq!(sampled(&mut m, len, tag).is_some(), sent, "{tag:?} {below_only} {len}");
        }
    }

    #[test]
    fn severe_congestion_each_option_alone_and_together() {
        // Two samples at the same length: without BCN-MAX, Fb is −q_off alone.
        let plain = |len: u64| ((len as i32 - 24_000) / 64, 0);
        let most = (375, 750);
        for (bcn_max, bcn_00, at_60, at_130) in [
            (false, false, plain(60_000), plain(130_000)),
            (true, false, most, most),
            (false, true, plain(60_000), (0, 0)),
            (true, true, most, (0, 0)),
        ] {
            let mut m = monitor(&Ecm { bcn_max, bcn_00, ..config() });
            for (len, expected) in [(60_000, at_60), (130_000, at_130)] {
                sampled(&mut m, len, Rlt(None));
                assert_eq!(sampled(&mut m, len, Rlt(None)), Some(expected), "{bcn_max} {bcn_00} {len}");
            }
        }
    }

    #[test]
    fn refused_frames_count_unless_they_are_not_to() {
        for (sample_dropped, sent) in [(true, true), (false, false)] {
            let mut m = monitor(&Ecm { sample_dropped, ..config() });
            let queue = Queue { len: Octets(150_000), ..Queue::default() };
            m.counted = 1 << 40;
            assert_eq!(m.on_arrival(1500, Rlt(None), Fate::Dropped, &queue, &mut Middle).is_some(), sent);
        }
    }

    #[test]
    fn gains_are_those_of_so_in_et_al_2008() {
        let c = config();
        // 10 Gb/s × (3750 − 250 − 2 × 156) / 3750 = 10 Gb/s × 3188 / 3750.
        assert_eq!(limiter(&c, &[bcn(CP, 250, 156)]).rate(), 8_501_333_333);
        let most = bcn(CP, 375, 750);
        assert_eq!(limiter(&c, &[most]).rate(), 5_000_000_000, "Gd |Fb|max = 1875 / 3750");
        assert_eq!(limiter(&c, &[bcn(CP, 2000, 2000)]).rate(), 5_000_000_000, "|Fb| is held at |Fb|max");
        // Up: 100 units are 100 × 8/15 Mb/s, 1875 units are 1 Gb/s.
        assert_eq!(limiter(&c, &[most, bcn(CP, -100, 0)]).rate(), 5_053_333_333);
        assert_eq!(limiter(&c, &[most, bcn(CP, -375, -750)]).rate(), 6_000_000_000);
        // 5000, 2500, … 19.5, 10 (not 9.8) Mb/s.
        assert_eq!(limiter(&c, &[most; 10]).rate(), 10_000_000);
    }

    #[test]
    fn only_the_associated_point_raises() {
        let (cut, raise) = (bcn(CP, 375, 750), bcn(CP, -375, -750));
        let c = config();
        assert!(!limiter(&c, &[raise]).limiting(), "no limiter from a positive message");
        let mut l = limiter(&c, &[cut, Bcn { cp: OTHER, ..raise }]);
        assert_eq!((l.rate(), l.tag()), (5_000_000_000, Rlt(Some(CP))));
        l.on_message(AT, Bcn { cp: OTHER, ..cut }, &mut Middle);
        assert_eq!((l.rate(), l.tag()), (2_500_000_000, Rlt(Some(OTHER))), "a negative one takes over");
        l.on_message(AT, raise, &mut Middle);
        assert_eq!(l.rate(), 2_500_000_000);
        for _ in 0..8 {
            l.on_message(AT, Bcn { cp: OTHER, ..raise }, &mut Middle);
        }
        assert_eq!((l.rate(), l.limiting(), l.tag()), (10_000_000_000, false, Rlt(None)), "at line rate it goes");
        assert_eq!(l.next_timeout(), None);
    }

    #[test]
    fn bcn_00_stops_and_rmin_follows() {
        let stop = bcn(CP, 0, 0);
        let mut l = limiter(&config(), &[stop]);
        assert_eq!((l.rate(), l.limiting()), (0, true));
        // The middle of U[0, 500 us].
        let end = AT + Duration::from_us(250);
        assert_eq!(l.next_timeout(), Some(end));
        l.on_message(AT, bcn(CP, -375, -750), &mut Middle);
        l.on_message(AT, stop, &mut Middle);
        assert_eq!((l.rate(), l.next_timeout()), (0, Some(end)), "a stopped source hears nothing");
        l.on_timeout(end, &mut Middle);
        assert_eq!((l.rate(), l.next_timeout()), (10_000_000, None));
    }

    #[test]
    fn drift_goes_on_until_a_message_or_line_rate() {
        let c = Ecm { drift: true, rd: BitRate::from_gbps(2), ..config() };
        let mut l = limiter(&c, &[bcn(CP, 375, 750)]);
        for expected in [7_000_000_000, 9_000_000_000, 10_000_000_000] {
            let due = l.next_timeout().expect("it drifts");
            l.on_timeout(due, &mut Middle);
            assert_eq!(l.rate(), expected);
        }
        assert!(!l.limiting());
        assert_eq!(l.next_timeout(), None);
        // A message restarts the interval; the middle of ±50 % is td itself.
        let mut l = limiter(&c, &[bcn(CP, 375, 750)]);
        let later = AT + Duration::from_us(900);
        l.on_message(later, bcn(CP, -100, 0), &mut Middle);
        assert_eq!(l.next_timeout(), Some(later + Duration::from_us(1000)));
        assert_eq!(limiter(&config(), &[bcn(CP, 375, 750)]).next_timeout(), None, "without drift nothing is due");
    }

    /// The strongest message halves 10 Gb/s. 375 units below the set point are 200 Mb/s.
    #[test]
    fn a_limiter_stays_while_its_parameters_change() {
        let mut l = limiter(&config(), &[bcn(CP, 375, 750)]);
        assert_eq!(l.rate(), 5_000_000_000);
        let raised = Ecm { rmin: BitRate::from_gbps(6), ..config() };
        l.configure(&raised, LINE);
        assert_eq!((l.rate(), l.tag()), (6_000_000_000, Rlt(Some(CP))));
        l.on_message(AT, bcn(CP, -375, 0), &mut Middle);
        assert_eq!(l.rate(), 6_200_000_000);
        let drifting = Ecm { drift: true, ..raised };
        l.configure(&drifting, LINE);
        assert_eq!(l.next_timeout(), None, "the next message starts it");
        l.on_message(AT, bcn(CP, -375, 0), &mut Middle);
        assert_eq!(l.next_timeout(), Some(AT + Duration::from_us(1000)));
        l.configure(&Ecm { td: Duration::from_us(1), ..drifting }, LINE);
        assert_eq!(l.next_timeout(), Some(AT + Duration::from_us(1000)), "it runs");
        l.configure(&config(), LINE);
        assert_eq!((l.next_timeout(), l.rate()), (None, 6_400_000_000));
    }

    /// 75 000 octets are 50 frames, 30 000 are 20.
    #[test]
    fn an_interval_of_samples_goes_on_to_its_end() {
        let mut m = monitor(&config());
        let queue = Queue { len: Octets(30_000), ..Queue::default() };
        let place = Place { cp: CP, line: LINE, capacity: Octets(150_000), phase: Duration::ZERO };
        let mut sampled = Vec::new();
        for i in 1..=100 {
            if i == 21 {
                m.configure(&Ecm { sample_interval: Octets(30_000), ..config() }, place);
            }
            if m.on_arrival(1500, Rlt(None), Fate::Queued, &queue, &mut Middle).is_some() {
                sampled.push(i);
            }
        }
        assert_eq!(sampled, [50, 70, 90]);
    }
}
