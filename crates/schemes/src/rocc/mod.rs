//! RoCC: the switch computes the rate that is fair for the flows in its queue, and tells them.
//!
//! ```text
//!   congestion point, every T                                           reaction point
//!   q ≥ Qmax, F > Fmax/8:              F = Fmin                         from its own point, or a lower rate:  R = F
//!   q grows by Qmid, F > Fmax/8:       F = F / 2                        nothing for self_rise:                R = 2 R
//!   else:  F -= a (q - Qref) + b (q - q before),  a, b = alpha, beta     R at the line's:                      no limiter
//!             × 2 / level,  level = 2, 4, 8 … 64 by Fmax / F
//!   to each flow with a frame in the queue: F  -------------------->
//! ```
//!
//! A PI controller whose gains follow the rate: with N flows at the line each rate is C/N, and N of them answer. Halving the gains
//! with the rate keeps the loop's gain the same.
//!
//! Rates are integers of 10 Mb/s with 16 fraction bits, lengths integers of 600 octets, gains have 16 fraction bits: products are
//! rounded down. The authors' simulator drops the fraction of the rate at every step; at 10 Gb/s and 64 flows a step is
//! below 1, and the rate would never rise.
//!
//! Sources: Taheri et al., CoNEXT 2020 ("RoCC"); the authors' OMNeT++ simulator.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::info::values::{count, kbps, mbps, octets, real, us};
use crate::info::{Action, Forms, Info, Signals, Threshold, parameters};
use crate::units::{BitRate, CpId, Duration, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Message, Out, Place, Queue, ReactionPoint, Release, Scheme,
    Signal, To, Var,
};

/// RoCC.
#[derive(Debug, Clone, Copy)]
pub struct Rocc;

parameters! {
    /// RoCC's parameters.
    pub struct Config {
        /// Length at which the queue is held, Qref.
        q_ref: Threshold {
            default: octets(37_500),
            range: octets(600)..=octets(1_000_000_000),
            source: "option, for 10 Gb/s; open in the authors' simulator",
        }
        /// Growth of the queue in one interval that halves the rate, Qmid.
        q_mid: Threshold {
            default: octets(75_000),
            range: octets(600)..=octets(1_000_000_000),
            at_least: q_ref,
            source: "option, twice Qref; open in the authors' simulator",
        }
        /// Length of the queue that leaves the least rate, Qmax.
        q_max: Threshold {
            default: octets(90_000),
            range: octets(600)..=octets(1_000_000_000),
            at_least: q_mid,
            source: "option, 2.4 times Qref; open in the authors' simulator",
        }
        /// Gain of the queue's offset, in 10 Mb/s for 600 octets, while the rate is above a half of the line.
        alpha: f64 {
            default: real(0.3),
            range: real(0.0)..=real(100.0),
            source: "the authors' simulator, alphaBar",
        }
        /// Gain of the queue's growth, likewise.
        beta: f64 {
            default: real(1.5),
            range: real(0.0)..=real(100.0),
            source: "the authors' simulator, betaBar",
        }
        /// Interval of the congestion point, T.
        interval: Duration {
            default: us(40),
            range: us(1)..=us(1_000_000),
            source: "the authors' simulator",
        }
        /// Least rate that a congestion point asks for, Fmin.
        f_min: BitRate {
            default: mbps(10),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "option; open in the authors' simulator",
        }
        /// Flows that a congestion point tells apart; frames of further ones are not answered.
        flow_table_size: u32 {
            default: count(512),
            range: count(1)..=count(65_536),
            source: "option; no limit in the authors' simulator",
        }
        /// Time without a message after which a source doubles its rate.
        self_rise: Duration {
            default: us(55),
            range: us(1)..=us(1_000_000),
            source: "the authors' simulator",
        }
    }
}

impl Scheme for Rocc {
    const INFO: Info = Info {
        name: "rocc",
        title: "Robust Congestion Control for RDMA",
        source: "Taheri et al., RoCC: Robust Congestion Control for RDMA, CoNEXT 2020; the authors' simulator",
        description: "A PI controller at the queue computes a fair rate and sends it to the sources of the flows in the queue; its gains \
                      follow the rate.",
        parameters: Config::PARAMETERS,
        profiles: &[],
        set_point: Some("q_ref"),
        signals: Some(Signals::backward(FairRate::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[&["q_ref"], &["q_mid"], &["q_max"], &["alpha"], &["beta"], &["interval"], &["self_rise"]],
        recovers_alone: true,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: false, fluid: Some("rocc"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = FairRate;
    type Cp = Cp;
    type Np = crate::none::Silent;
    type Rp = Rp;
}

/// A congestion point's word to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FairRate {
    /// The congestion point.
    pub cp: CpId,
    /// The rate.
    pub rate: BitRate,
}

impl FairRate {
    /// Length of the frame: an ICMP message (Ethernet 14, IP 20, ICMP 8, flow and rate, FCS 4), padded to the shortest frame.
    pub const OCTETS: u16 = 64;
}

impl Signal for FairRate {
    const VARS: &'static [Var] = &[Var { name: "fair_rate_bps", description: "fair rate, bit/s" }];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        Some(Message::FairRate { cp: self.cp, rate: self.rate })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.rate.0 as i64]);
    }
}

/// Unit of rates, bit/s.
const RATE_UNIT: u64 = 10_000_000;
/// Unit of lengths, octets.
const LENGTH_UNIT: u64 = 600;
/// Fraction bits of rates and gains.
const FRACTION: u32 = 16;
/// The largest level of the gains.
const HIGHEST_LEVEL: u32 = 64;

/// A flow, and how many of its frames are in the queue.
#[derive(Debug, Clone, Copy)]
struct Entry {
    flow: FlowKey,
    frames: u32,
}

/// RoCC's congestion point.
#[derive(Debug, Clone)]
pub struct Cp {
    id: CpId,
    interval: Duration,
    q_ref: i64,
    q_mid: i64,
    q_max: i64,
    /// With [`FRACTION`] fraction bits, as are the rates.
    alpha: i64,
    beta: i64,
    f_min: i64,
    f_max: i64,
    fair_rate: i64,
    /// Length at the last interval's end.
    q_old: i64,
    /// The interval ends here.
    tick: Instant,
    /// The queue is empty and the rate is the largest: no interval changes anything until a frame comes.
    asleep: bool,
    /// In the order of keys.
    flows: Vec<Entry>,
    most_flows: usize,
}

impl Cp {
    /// The rate of the next interval, for a queue of `q` units.
    fn recalculate(&mut self, q: i64) {
        let growth = q - self.q_old;
        let quick = self.fair_rate > self.f_max / 8;
        self.fair_rate = if q >= self.q_max && quick {
            self.f_min
        } else if growth >= self.q_mid && quick {
            self.fair_rate / 2
        } else {
            let shift = self.level().ilog2() - 1;
            self.fair_rate - (((q - self.q_ref) * self.alpha) >> shift) - ((growth * self.beta) >> shift)
        };
        self.fair_rate = self.fair_rate.clamp(self.f_min, self.f_max);
        self.q_old = q;
    }

    /// The least power of 2 from 2 to 64 whose share of the largest rate is not above the rate.
    fn level(&self) -> u32 {
        let mut level = 2;
        while level < HIGHEST_LEVEL && self.fair_rate < self.f_max / i64::from(level) {
            level *= 2;
        }
        level
    }

    /// The first end of an interval after `now`.
    fn wake(&mut self, now: Instant) {
        if self.asleep {
            self.asleep = false;
            let step = self.interval.0;
            let ended = (now.since(self.tick).0 / step + 1) * step;
            self.tick = if now < self.tick { self.tick } else { Instant(self.tick.0 + ended) };
        }
    }

    fn index_of(&self, flow: FlowKey) -> Result<usize, usize> {
        self.flows.binary_search_by_key(&flow, |entry| entry.flow)
    }

    fn rate(&self) -> BitRate {
        BitRate(((self.fair_rate as u128 * u128::from(RATE_UNIT)) >> FRACTION) as u64)
    }
}

/// A rate in units, with fraction bits. Never zero: a source that may not send would never receive a higher rate.
fn in_units(rate: BitRate) -> i64 {
    ((u128::from(rate.0) << FRACTION) / u128::from(RATE_UNIT)).max(1) as i64
}

impl CongestionPoint<Rocc> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "fair_rate_bps", description: "fair rate, bit/s" },
        Var { name: "flows", description: "flows with frames in the queue, as far as the flow table holds them" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        let units = |threshold: Threshold| (threshold.0 / LENGTH_UNIT) as i64;
        let gain = |gain: f64| (gain * f64::from(1u32 << FRACTION) + 0.5) as i64;
        let f_max = in_units(place.line);
        Self {
            id: place.cp,
            interval: config.interval,
            q_ref: units(config.q_ref),
            q_mid: units(config.q_mid),
            q_max: units(config.q_max),
            alpha: gain(config.alpha),
            beta: gain(config.beta),
            f_min: in_units(config.f_min).min(f_max),
            f_max,
            fair_rate: f_max,
            q_old: 0,
            tick: Instant::ZERO + place.phase + config.interval,
            asleep: true,
            flows: Vec::with_capacity(config.flow_table_size as usize),
            most_flows: config.flow_table_size as usize,
        }
    }

    /// Of flows for which the table has no room those with the fewest frames in the queue go.
    fn configure(&mut self, config: &Config, place: Place) {
        let Self { fair_rate, q_old, tick, asleep, .. } = *self;
        let mut flows = core::mem::take(&mut self.flows);
        let mut fresh = <Self as CongestionPoint<Rocc>>::new(config, place);
        if flows.len() > fresh.most_flows {
            flows.sort_by_key(|entry| Reverse(entry.frames));
            flows.truncate(fresh.most_flows);
            flows.sort_by_key(|entry| entry.flow);
        }
        fresh.flows.append(&mut flows);
        let fair_rate = fair_rate.clamp(fresh.f_min, fresh.f_max);
        *self = Self { fair_rate, q_old, tick, asleep, ..fresh };
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        fate: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Rocc>,
    ) {
        self.wake(now);
        if fate == Fate::Dropped {
            return;
        }
        match self.index_of(frame.flow) {
            Ok(index) => self.flows[index].frames += 1,
            Err(index) if self.flows.len() < self.most_flows => {
                self.flows.insert(index, Entry { flow: frame.flow, frames: 1 });
            }
            Err(_) => {}
        }
    }

    #[inline]
    fn on_departure(&mut self, _: Instant, frame: Frame<'_, ()>, _: &Queue) {
        // A flow that came while the table was full may have frames that it does not know.
        let Ok(index) = self.index_of(frame.flow) else { return };
        self.flows[index].frames -= 1;
        if self.flows[index].frames == 0 {
            self.flows.remove(index);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        (!self.asleep).then_some(self.tick)
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, _: &mut impl Draw, out: &mut impl Out<Rocc>) {
        if self.asleep || now < self.tick {
            return;
        }
        self.tick = now + self.interval;
        self.recalculate((queue.len.0 / LENGTH_UNIT) as i64);
        let signal = FairRate { cp: self.id, rate: self.rate() };
        for entry in &self.flows {
            out.send(To::Source(entry.flow), Class::Control, signal);
        }
        self.asleep = self.fair_rate == self.f_max && self.q_old == 0 && self.flows.is_empty();
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.rate().0 as i64, self.flows.len() as i64]);
    }
}

/// RoCC's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    line: u64,
    self_rise: Duration,
    rate: u64,
    /// The congestion point that the rate is from.
    own: Option<CpId>,
    /// The rate doubles here; never while it is the line's.
    rise: Instant,
}

impl Rp {
    fn adjust(&mut self, now: Instant, rate: u64) {
        self.rate = rate.min(self.line);
        self.rise = if self.limiting() { now + self.self_rise } else { Instant::NEVER };
    }
}

impl ReactionPoint<Rocc> for Rp {
    fn new(config: &Config, line: BitRate) -> Self {
        Self { line: line.0, self_rise: config.self_rise, rate: line.0, own: None, rise: Instant::NEVER }
    }

    /// The rate is a congestion point's: it changes with the next message.
    fn configure(&mut self, config: &Config, _: BitRate) {
        self.self_rise = config.self_rise;
    }

    fn on_signal(&mut self, now: Instant, _: FlowKey, signal: FairRate, _: &mut impl Draw, _: &mut impl Out<Rocc>) {
        if self.own.is_none_or(|own| own == signal.cp) || signal.rate.0 < self.rate {
            self.own = Some(signal.cp);
            self.adjust(now, signal.rate.0);
        }
    }

    #[inline]
    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Rocc>) {}

    fn next_timeout(&self) -> Option<Instant> {
        (self.rise != Instant::NEVER).then_some(self.rise)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Rocc>) {
        if now >= self.rise {
            self.adjust(now, self.rate * 2);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.rate), window: None }
    }

    fn limiting(&self) -> bool {
        self.rate < self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, config, frame_of};
    use crate::units::Octets;

    const FLOW: FlowKey = FlowKey(7);
    const ID: CpId = CpId(0xaa);

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let place = Place { cp: ID, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<Rocc>("", changes), place)
    }

    fn arrive(cp: &mut Cp, us: u64, flow: u32) {
        let mut tag = ();
        let frame = frame_of(FlowKey(flow), Instant::ZERO, &mut tag);
        cp.on_arrival(at(us), frame, Fate::Queued, &Queue::default(), &mut Middle, &mut Sent::default());
    }

    fn leave(cp: &mut Cp, us: u64, flow: u32) {
        let mut tag = ();
        cp.on_departure(at(us), frame_of(FlowKey(flow), Instant::ZERO, &mut tag), &Queue::default());
    }

    /// The interval ends with a queue of `len`; the signals.
    fn tick(cp: &mut Cp, len: u64) -> Vec<(To, FairRate)> {
        let now = cp.next_timeout().expect("it is awake");
        let mut sent = Sent::default();
        cp.on_timeout(now, &Queue { len: Octets(len), ..Queue::default() }, &mut Middle, &mut sent);
        sent.0
    }

    fn mbps_of(cp: &Cp) -> f64 {
        cp.fair_rate as f64 / 65_536.0 * 10.0
    }

    #[track_caller]
    fn close(seen: f64, expected: f64) {
        assert!((seen - expected).abs() < 0.01, "{seen} instead of {expected}");
    }

    /// Qref is 62 units. From 10 Gb/s, level 2, the whole gains: a queue of 100 units takes 0.3 × 38 + 1.5 × 100 = 161.4 units of
    /// 10 Mb/s. With 80 units then: 0.3 × 18 - 1.5 × 20 = -24.6 units.
    #[test]
    fn offset_and_growth_move_the_rate() {
        let mut cp = cp(&[]);
        arrive(&mut cp, 1, 7);
        tick(&mut cp, 60_000);
        close(mbps_of(&cp), 10_000.0 - 1_614.0);
        tick(&mut cp, 48_000);
        close(mbps_of(&cp), 10_000.0 - 1_614.0 + 246.0);
    }

    /// Below 10 Gb/s / 4 the level is 8, a quarter of the gains; below a 32nd and at any less it is 64.
    #[test]
    fn gains_follow_the_rate() {
        let mut cp = cp(&[]);
        for (mbps, level) in
            [(10_000, 2), (5_000, 2), (4_999, 4), (2_500, 4), (1_250, 8), (400, 32), (300, 64), (10, 64)]
        {
            cp.fair_rate = in_units(BitRate::from_mbps(mbps));
            assert_eq!(cp.level(), level, "{mbps} Mb/s");
        }
        arrive(&mut cp, 1, 7);
        (cp.fair_rate, cp.q_old) = (in_units(BitRate::from_mbps(1_250)), 100);
        tick(&mut cp, 60_000);
        // 0.3 × 38 / 4 = 2.85 units.
        close(mbps_of(&cp), 1_250.0 - 28.5);
    }

    /// 125 units are a growth of Qmid, 150 a queue of Qmax; up to an eighth of the line neither counts.
    #[test]
    fn sudden_growth_halves_and_a_long_queue_stops() {
        let mut cp = cp(&[]);
        arrive(&mut cp, 1, 7);
        tick(&mut cp, 75_000);
        close(mbps_of(&cp), 5_000.0);
        tick(&mut cp, 90_000);
        close(mbps_of(&cp), 10.0);
        (cp.fair_rate, cp.q_old) = (in_units(BitRate::from_mbps(1_250)), 150);
        tick(&mut cp, 90_000);
        // 0.3 × 88 / 4 = 6.6 units.
        close(mbps_of(&cp), 1_250.0 - 66.0);
    }

    /// 1 bit/s is less than 10 Mb/s × 2^-16, 152 bit/s.
    #[test]
    fn a_slow_line_has_a_rate_too() {
        let place = Place { cp: ID, line: BitRate(1), capacity: Octets(150_000), phase: Duration::ZERO };
        let mut cp = Cp::new(&config::<Rocc>("", &[]), place);
        arrive(&mut cp, 1, 7);
        tick(&mut cp, 150_000);
        assert_eq!((cp.rate(), cp.f_min, cp.f_max), (BitRate(152), 1, 1));
    }

    #[test]
    fn flows_with_frames_in_the_queue_hear_of_it() {
        let mut cp = cp(&[("flow_table_size", count(2))]);
        arrive(&mut cp, 1, 9);
        arrive(&mut cp, 1, 3);
        arrive(&mut cp, 2, 9);
        // No room for a third.
        arrive(&mut cp, 2, 5);
        let rate = |cp: &Cp| FairRate { cp: ID, rate: cp.rate() };
        let signals = tick(&mut cp, 60_000);
        assert_eq!(signals, [(To::Source(FlowKey(3)), rate(&cp)), (To::Source(FlowKey(9)), rate(&cp))]);
        leave(&mut cp, 41, 9);
        leave(&mut cp, 42, 3);
        leave(&mut cp, 43, 5);
        let signals = tick(&mut cp, 1_500);
        assert_eq!(signals, [(To::Source(FlowKey(9)), rate(&cp))]);
    }

    /// With an empty queue the full rate stays; intervals go on at multiples of 40 us.
    #[test]
    fn an_idle_point_sleeps() {
        let mut cp = cp(&[]);
        assert_eq!(cp.next_timeout(), None);
        arrive(&mut cp, 10, 7);
        assert_eq!(cp.next_timeout(), Some(at(40)));
        leave(&mut cp, 12, 7);
        assert_eq!(tick(&mut cp, 0), []);
        assert_eq!(cp.next_timeout(), None);
        arrive(&mut cp, 200, 7);
        assert_eq!(cp.next_timeout(), Some(at(240)), "an interval that ends at the arrival's instant has ended");
        cp.on_timeout(at(239), &Queue::default(), &mut Middle, &mut Sent::default());
        assert_eq!(cp.next_timeout(), Some(at(240)), "too early");
    }

    fn rp() -> Rp {
        Rp::new(&config::<Rocc>("", &[]), BitRate::from_gbps(10))
    }

    fn tell(rp: &mut Rp, us: u64, cp: u64, mbps: u64) -> u64 {
        let signal = FairRate { cp: CpId(cp), rate: BitRate::from_mbps(mbps) };
        rp.on_signal(at(us), FLOW, signal, &mut Middle, &mut Sent::default());
        rp.rate / 1_000_000
    }

    #[test]
    fn a_source_obeys_its_own_point_and_lower_rates() {
        let mut rp = rp();
        assert_eq!(tell(&mut rp, 1, 1, 4_000), 4_000);
        assert_eq!(tell(&mut rp, 2, 2, 5_000), 4_000, "another point, a higher rate");
        assert_eq!(tell(&mut rp, 3, 2, 3_000), 3_000);
        assert_eq!(tell(&mut rp, 4, 1, 3_500), 3_000, "the first is the other one now");
        assert_eq!(tell(&mut rp, 5, 2, 3_500), 3_500);
        assert!(rp.limiting());
        assert_eq!(tell(&mut rp, 6, 2, 10_000), 10_000);
        assert_eq!((rp.limiting(), rp.next_timeout()), (false, None));
    }

    /// 55 us after the last message that counted: 2, 4, 8, 10 Gb/s.
    #[test]
    fn without_messages_the_rate_doubles() {
        let mut rp = rp();
        tell(&mut rp, 10, 1, 2_000);
        tell(&mut rp, 20, 2, 9_000);
        let mut rates = Vec::new();
        while let Some(at) = rp.next_timeout() {
            rp.on_timeout(Instant(at.0 - 1), &mut Middle, &mut Sent::default());
            rp.on_timeout(at, &mut Middle, &mut Sent::default());
            rates.push((at, rp.rate / 1_000_000));
        }
        assert_eq!(rates, [(at(65), 4_000), (at(120), 8_000), (at(175), 10_000)]);
    }

    #[test]
    fn a_table_that_becomes_smaller_keeps_the_flows_with_most_frames() {
        let place = Place { cp: ID, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        let mut cp = cp(&[]);
        for flow in [7, 8, 9, 8, 9, 8] {
            arrive(&mut cp, 1, flow);
        }
        cp.fair_rate = in_units(BitRate::from_mbps(50));
        cp.configure(&config::<Rocc>("", &[("flow_table_size", count(2)), ("f_min", mbps(100))]), place);
        let flows: Vec<_> = cp.flows.iter().map(|entry| (entry.flow.0, entry.frames)).collect();
        assert_eq!(flows, [(8, 3), (9, 2)]);
        close(mbps_of(&cp), 100.0);
        leave(&mut cp, 2, 7);
        assert_eq!(cp.next_timeout(), Some(at(40)), "its interval runs");
    }
}
