//! The switch's part that FECN and E-FECN share: the rate allocator of one output queue, and the probe that it edits.
//!
//! ```text
//!            first frame            tick: frames came         advertised rate
//!   DORMANT ------------> MEASURING ------------------+       r = min(C, r / rho),
//!   r = initial    ^          ^                       |       rho = octets that came / (T C f(q))
//!                  |          +-----------------------+
//!                  +--- tick: no frame came
//! ```
//!
//! Every interval T the allocator compares the octets that came with those that should have come, the measured capacity
//! times f(q). That is more than the capacity while the queue is below Qeq, and less while it is above. A departing probe
//! takes r if r is less than its rate, so it returns with the least rate of its path.
//!
//! The tick must fall shortly before the probes pass. Then a measured interval holds traffic of one rate alone, and one
//! step puts the load right. Otherwise part of it still has the old rate, and the correction overshoots. On
//! `four-sources.toml`, with the tick half an interval before the probes and no averaging, FECN never settles. Averaging
//! tolerates that, but not a tick shortly after the probes (`phase` of 100 us).
//!
//! Sources: So-In et al. 2008, sections 2 to 5; the FECN pseudo-code as reposted (names, order of steps, constants);
//! where its bodies are lost, ERICA+ (arXiv cs/9809041), from which the formulas descend.
//!
//! Rates are whole bits per second, f(q) is an exact fraction rounded down to 2^-24, and every quotient rounds down.

use crate::info::values::{choice, count, mbps, octets, real, switch, us};
use crate::info::{Threshold, choice, parameters};
use crate::units::{BitRate, CpId, Duration, Instant, PS_PER_S};
use crate::{Class, Fate, Message, Place, Queue, Signal, SignalKind, Var};

choice! {
    /// The owner of a rate regulator.
    pub enum Sharing {
        /// A flow's.
        PerFlow = "per-flow",
        /// That of all flows which one congestion point limits.
        PerCongestionPoint = "per-congestion-point",
    }
}

choice! {
    /// Which of the constants a and b the queue function has below Qeq and above it.
    pub enum FecnBranch {
        /// a below, b above: the form of ERICA+.
        Ab = "ab",
        /// b below, a above.
        Ba = "ba",
    }
}

choice! {
    /// The rate that the load is compared with.
    pub enum CapacityOf {
        /// Octets that left over the time in which the queue was backlogged.
        Measured = "measured",
        /// The line's rate.
        Line = "line",
    }
}

choice! {
    /// Which frames are load.
    pub enum Load {
        /// Those that the queue takes: a full queue shows no more than the line's rate, and rates fall step by step.
        Accepted = "accepted",
        /// Those that come, taken or not.
        Offered = "offered",
    }
}

choice! {
    /// When the new rate is averaged with the old one.
    pub enum Averaging {
        /// Never.
        Off = "off",
        /// When the rate turns: falls after a rise, or rises after a fall.
        Turns = "turns",
        /// At every tick.
        Always = "always",
    }
}

choice! {
    /// Which queue probes join.
    pub enum ProbeClass {
        /// That of their flow's data, so that a full queue loses probes as it loses data.
        Data = "data",
        /// That of control frames.
        Control = "control",
    }
}

impl From<ProbeClass> for Class {
    fn from(class: ProbeClass) -> Self {
        match class {
            ProbeClass::Data => Self::Data,
            ProbeClass::Control => Self::Control,
        }
    }
}

parameters! {
    /// The parameters that FECN and E-FECN share.
    pub struct ExplicitRate {
        /// Set point of the queue, Qeq.
        q_eq: Threshold {
            default: octets(24_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "So-In et al. 2008 table 2, Qeq",
        }
        /// T: distance of a flow's probes, and length of a switch's measurements.
        interval: Duration {
            default: us(1000),
            range: us(10)..=us(100_000),
            source: "So-In et al. 2008 table 2, tagging frequency",
        }
        /// Switches measure at this offset from whole multiples of `interval`. Best shortly before the probes pass:
        /// flows that start at a multiple send theirs at phase 0.
        phase: Duration {
            default: us(0),
            range: us(0)..=us(100_000),
            source: "option",
        }
        /// Constant a of the queue function, rounded to 1/1 000 000.
        a: f64 {
            default: real(1.1),
            range: real(1.0)..=real(100.0),
            source: "So-In et al. 2008 table 2, a",
        }
        /// Constant b of the queue function, rounded to 1/1 000 000.
        b: f64 {
            default: real(1.002),
            range: real(1.0)..=real(100.0),
            source: "So-In et al. 2008 table 2, b",
        }
        /// The least value of the queue function, rounded to 1/1 000 000.
        c: f64 {
            default: real(0.1),
            range: real(0.001)..=real(1.0),
            source: "So-In et al. 2008 table 2, c",
        }
        /// Which constant the queue function has below Qeq and above it.
        fecn_branch: FecnBranch {
            default: choice("ba"),
            source: "ERICA+ has a below; So-In et al. 2008 do not say",
        }
        /// The rate that the load is compared with: the measured capacity, or the line's rate.
        capacity: CapacityOf {
            default: choice("measured"),
            source: "FECN pseudo-code",
        }
        /// Whether frames that the full queue refuses count as load.
        load: Load {
            default: choice("accepted"),
            source: "So-In et al. 2008 do not say",
        }
        /// Probes count as load, and as octets that left where the capacity is measured. (f(q) spans 0.2 % below Qeq,
        /// so that 64 octets a flow and interval are seen.) Returning probes do not: no congestion point sees
        /// them.
        load_probes: bool {
            default: switch(false),
            source: "So-In et al. 2008 do not say",
        }
        /// When the new rate is averaged with the old one.
        averaging: Averaging {
            default: choice("always"),
            source: "FECN pseudo-code, exponential averaging",
        }
        /// Weight of the new rate in the average, rounded to 1/1 000 000.
        averaging_weight: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            source: "FECN pseudo-code",
            when: averaging = "turns" | "always",
        }
        /// Beyond Qeq the rate rises by C/`rmin_n0` an interval at most.
        limited_increase: bool {
            default: switch(false),
            source: "FECN pseudo-code",
        }
        /// The rate is scaled by the last change of capacity, in anticipation of the next.
        capacity_adjustment: bool {
            default: switch(false),
            source: "FECN pseudo-code",
        }
        /// The least rate that a switch advertises.
        min_rate: BitRate {
            default: mbps(1),
            range: mbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "FECN tag, unit of its rate field",
        }
        /// Rmin = C/N0: the rate of a source whose probes do not come back, and after BCN(0,0).
        rmin_n0: u32 {
            default: count(20),
            range: count(1)..=count(1_000_000),
            source: "So-In et al. 2008 section 5.1, N0",
        }
        /// Time without a probe's return after which a source falls to Rmin.
        timeout: Duration {
            default: us(2000),
            range: us(10)..=us(1_000_000),
            source: "So-In et al. 2008 table 2, Timeout",
        }
        /// A probe goes out up to so much later than it is due, at random: the clocks of sources are not those of
        /// switches.
        probe_spread: Duration {
            default: us(10),
            range: us(0)..=us(100_000),
            source: "option",
        }
        /// Which queue probes join towards the destination. In the data's, a full queue loses them, sources
        /// fall to Rmin without an answer, and a fast start takes several times as long.
        probe_class: ProbeClass {
            default: choice("control"),
            source: "option",
        }
        /// Whether each flow has a rate regulator, or those that one congestion point limits share one.
        regulators: Sharing {
            default: choice("per-flow"),
            source: "So-In et al. 2008 section 3",
        }
        /// Flows that a reaction point tells apart; more than that share the regulator of the last.
        flow_table: u32 {
            default: count(64),
            range: count(1)..=count(65_536),
            source: "option",
        }
    }
}

/// The rate-discovery tag of a probe, which is a separate control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Its number among the flow's probes, from 1: a multicast flow's probe comes back from each destination.
    pub round: u32,
    /// The least rate that the switches on its path have advertised; `None` before the first.
    pub rate: Option<BitRate>,
    /// Which of them it was.
    pub cp: CpId,
    /// The destination has sent it back.
    pub returned: bool,
}

impl Probe {
    /// Length of the frame: the tag's 20 octets (So-In et al. 2008), padded to Ethernet's minimum.
    pub const OCTETS: u16 = 64;

    /// A probe that leaves its source.
    #[must_use]
    pub fn new(round: u32) -> Self {
        Self { round, rate: None, cp: CpId::default(), returned: false }
    }

    /// The reply of the destination.
    #[must_use]
    pub fn reply(self) -> Self {
        Self { returned: true, ..self }
    }
}

impl Signal for Probe {
    const VARS: &'static [Var] =
        &[Var { name: "probe_rate_bps", description: "rate of the probe, bit/s; -1: unlimited" }];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        let Self { round, rate, cp, returned } = *self;
        Some(Message::RateProbe { round, rate, cp, returned })
    }

    fn from_message(message: Message) -> Option<Self> {
        let Message::RateProbe { round, rate, cp, returned } = message else { return None };
        Some(Self { round, rate, cp, returned })
    }

    fn kind(&self) -> SignalKind {
        if self.returned { SignalKind::Reply } else { SignalKind::Probe }
    }

    fn vars(&self, row: &mut [i64]) {
        row[0] = self.rate.map_or(-1, |rate| rate.0 as i64);
    }
}

/// The unit of the queue function's constants is a millionth.
const MILLION: u64 = 1_000_000;
/// Fraction bits of f(q).
const F_BITS: u32 = 24;

/// The queue function f(q), hyperbolic on both sides of Qeq.
#[derive(Debug, Clone, Copy)]
struct QueueFunction {
    q_eq: u64,
    /// Constants below Qeq and above, and the least value, in millionths.
    below: u64,
    above: u64,
    least: u64,
}

impl QueueFunction {
    fn new(config: &ExplicitRate) -> Self {
        let millionths = |x: f64| (x * MILLION as f64 + 0.5) as u64;
        let (a, b) = (millionths(config.a), millionths(config.b));
        let (below, above) = match config.fecn_branch {
            FecnBranch::Ab => (a, b),
            FecnBranch::Ba => (b, a),
        };
        Self { q_eq: config.q_eq.0, below, above, least: millionths(config.c) }
    }

    /// f(q) in 2^-24: k Qeq / ((k − 1) q + Qeq), not less than c.
    fn at(self, q: u64) -> u64 {
        let k = if q <= self.q_eq { self.below } else { self.above };
        let numerator = u128::from(k) * u128::from(self.q_eq);
        let denominator = u128::from(k - MILLION) * u128::from(q) + u128::from(MILLION) * u128::from(self.q_eq);
        let f = ((numerator << F_BITS) / denominator) as u64;
        f.max((self.least << F_BITS) / MILLION)
    }
}

/// Measures how fast a backlogged queue empties. Exact to the frame: a measurement ends with a departure, and the time
/// after it belongs to the next one.
#[derive(Debug, Clone, Copy)]
struct CapacityMeter {
    /// Since when the queue has been backlogged without a measured departure; `NEVER` while it is empty.
    since: Instant,
    busy: u64,
    octets: u64,
}

impl CapacityMeter {
    const IDLE: Self = Self { since: Instant::NEVER, busy: 0, octets: 0 };

    /// A frame was queued.
    fn arrival(&mut self, now: Instant) {
        if self.since == Instant::NEVER {
            self.since = now;
        }
    }

    /// A frame left, and the queue is empty or not.
    fn departure(&mut self, now: Instant, octets: u16, empty: bool) {
        self.busy += now.since(self.since).0;
        self.octets += u64::from(octets);
        self.since = if empty { Instant::NEVER } else { now };
    }

    /// A probe left: its octets took part of the time, if the queue is backlogged.
    fn probe(&mut self, octets: u16) {
        if self.since != Instant::NEVER {
            self.octets += u64::from(octets);
        }
    }

    /// The capacity since the last call, bit/s; `None` if nothing left.
    fn take(&mut self) -> Option<u64> {
        let (octets, busy) = (core::mem::take(&mut self.octets), core::mem::take(&mut self.busy));
        let bits_ps = u128::from(octets) * 8 * u128::from(PS_PER_S);
        (busy > 0).then(|| (bits_ps / u128::from(busy)) as u64)
    }
}

/// The rate allocator of an output queue.
#[derive(Debug, Clone)]
pub struct RateAllocator {
    id: CpId,
    function: QueueFunction,
    interval: u64,
    phase: u64,
    line: u64,
    initial: u64,
    min_rate: u64,
    /// The most that the rate rises beyond Qeq; `None` without that limit.
    rise: Option<u64>,
    averaging: Averaging,
    /// Weight of the new rate, millionths.
    weight: u64,
    measures: bool,
    adjusts: bool,
    counts_dropped: bool,
    counts_probes: bool,
    /// r of this interval and of the one before.
    rate: u64,
    before: u64,
    capacity: u64,
    received: u64,
    /// Octets of probes in this interval, if they count.
    probed: u64,
    meter: CapacityMeter,
    tick: Instant,
}

impl RateAllocator {
    /// The columns that [`vars`](Self::vars) fills.
    pub const VARS: &'static [Var] = &[
        Var { name: "advertised_rate_bps", description: "rate that probes are given, bit/s" },
        Var { name: "capacity_bps", description: "capacity of the last interval, bit/s" },
    ];

    /// An allocator at `place` that begins with C/`n0`.
    #[must_use]
    pub fn new(config: &ExplicitRate, place: Place, n0: u32) -> Self {
        let line = place.line.0;
        let min_rate = config.min_rate.0.min(line);
        let initial = (line / u64::from(n0)).max(min_rate);
        Self {
            id: place.cp,
            function: QueueFunction::new(config),
            interval: config.interval.0,
            phase: (config.phase + place.phase).0 % config.interval.0,
            line,
            initial,
            min_rate,
            rise: config.limited_increase.then(|| line / u64::from(config.rmin_n0)),
            averaging: config.averaging,
            weight: (config.averaging_weight * MILLION as f64 + 0.5) as u64,
            measures: config.capacity == CapacityOf::Measured,
            counts_dropped: config.load == Load::Offered,
            counts_probes: config.load_probes,
            adjusts: config.capacity_adjustment,
            rate: initial,
            before: initial,
            capacity: line,
            received: 0,
            probed: 0,
            meter: CapacityMeter::IDLE,
            tick: Instant::NEVER,
        }
    }

    /// Goes by these from now on. Rate, counts and measurements stay. The interval that runs goes on to its end, and then counts as one
    /// of the new length, as the short one after a rest does. A dormant allocator takes the new initial rate.
    pub fn configure(&mut self, config: &ExplicitRate, place: Place, n0: u32) {
        let Self { rate, before, capacity, received, probed, meter, tick, .. } = *self;
        let fresh = Self::new(config, place, n0);
        let dormant = tick == Instant::NEVER && (rate, before) == (self.initial, self.initial);
        let (rate, before) = if dormant { (fresh.initial, fresh.initial) } else { (rate, before) };
        // Not below a minimum that rises; E-FECN's Rmin may be below one that does not.
        let rate = if fresh.min_rate > self.min_rate { rate.max(fresh.min_rate) } else { rate };
        let probed = if fresh.counts_probes { probed } else { 0 };
        *self = Self { rate, before, capacity, received, probed, meter, tick, ..fresh };
    }

    /// A data frame has come.
    #[inline]
    pub fn on_arrival(&mut self, now: Instant, octets: u16, fate: Fate) {
        if fate == Fate::Queued {
            self.meter.arrival(now);
        } else if !self.counts_dropped {
            return;
        }
        self.received += u64::from(octets);
        if self.tick == Instant::NEVER {
            self.tick = self.tick_after(now);
        }
    }

    /// A data frame has left.
    #[inline]
    pub fn on_departure(&mut self, now: Instant, octets: u16, queue: &Queue) {
        self.meter.departure(now, octets, queue.frames == 0);
    }

    /// A probe leaves.
    pub fn on_probe_departure(&mut self, probe: &mut Probe) {
        if self.counts_probes && self.tick != Instant::NEVER {
            self.probed += u64::from(probe.octets());
            self.meter.probe(probe.octets());
        }
        if probe.rate.is_none_or(|rate| rate.0 > self.rate) {
            probe.rate = Some(BitRate(self.rate));
            probe.cp = self.id;
        }
    }

    /// Starts again from the rate `rate`.
    pub fn reset(&mut self, rate: u64) {
        (self.rate, self.before) = (rate, rate);
    }

    /// The rate that probes are given, bit/s.
    #[must_use]
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// When the interval ends; `None` while dormant.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        (self.tick != Instant::NEVER).then_some(self.tick)
    }

    /// Ends the interval, if it is due.
    pub fn on_timeout(&mut self, now: Instant, queue: &Queue) {
        if now < self.tick {
            return;
        }
        let (received, probed) = (core::mem::take(&mut self.received), core::mem::take(&mut self.probed));
        let measured = self.meter.take();
        if received == 0 {
            self.reset(self.initial);
            self.tick = Instant::NEVER;
            return;
        }
        self.tick = self.tick_after(now);
        let last_capacity = self.capacity;
        self.capacity = match measured {
            Some(capacity) if self.measures => capacity.clamp(1, self.line),
            _ => queue.rate.0,
        };
        let mut rate = self.allocate(received + probed, queue.len.0);
        let turned = (rate > self.rate) != (self.rate > self.before);
        if self.averaging == Averaging::Always || (self.averaging == Averaging::Turns && turned) {
            let sum = u128::from(rate) * u128::from(self.weight)
                + u128::from(self.rate) * u128::from(MILLION.saturating_sub(self.weight));
            rate = (sum / u128::from(MILLION)) as u64;
        }
        if let Some(rise) = self.rise
            && queue.len.0 > self.function.q_eq
        {
            rate = rate.min(self.rate + rise);
        }
        if self.adjusts {
            rate = (u128::from(rate) * u128::from(self.capacity) / u128::from(last_capacity)) as u64;
        }
        self.before = self.rate;
        self.rate = rate.clamp(self.min_rate, self.capacity.max(self.min_rate));
    }

    /// r / ρ with ρ = received / (T C f(q)).
    fn allocate(&self, received: u64, q: u64) -> u64 {
        let capacity = u128::from(self.capacity) * u128::from(self.interval) / u128::from(PS_PER_S);
        let target = (capacity * u128::from(self.function.at(q))) >> F_BITS;
        let rate = u128::from(self.rate) * target / (u128::from(received) * 8);
        rate.min(u128::from(self.capacity)) as u64
    }

    fn tick_after(&self, now: Instant) -> Instant {
        let periods = (now.0 + self.interval - self.phase) / self.interval;
        Instant(periods * self.interval + self.phase)
    }

    /// The advertised rate and the capacity.
    pub fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.rate as i64, self.capacity as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Configuration;
    use alloc::vec::Vec;

    const GBPS: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000_000;
    const Q_EQ: u64 = 24_000;

    /// FECN at its plainest: no averaging, the line's rate as capacity.
    fn config() -> ExplicitRate {
        let defaults: Vec<_> = ExplicitRate::PARAMETERS.iter().map(|p| p.default).collect();
        let config = ExplicitRate::from_values(&defaults).expect("defaults are of their kinds");
        ExplicitRate { averaging: Averaging::Off, capacity: CapacityOf::Line, ..config }
    }

    /// At 10 Gb/s, beginning with a quarter of it.
    fn allocator(config: &ExplicitRate) -> RateAllocator {
        let place =
            Place { cp: CpId(7), line: BitRate(10 * GBPS), capacity: crate::Octets(150_000), phase: Duration::ZERO };
        RateAllocator::new(config, place, 4)
    }

    fn queue(len: u64) -> Queue {
        Queue { len: crate::Octets(len), frames: (len / 1500) as u32, rate: BitRate(10 * GBPS), ..Queue::default() }
    }

    /// An interval in which `frames` of 1000 octets come, and the queue is `len` at its end.
    fn interval(a: &mut RateAllocator, frames: u32, len: u64) -> u64 {
        let end = a.next_timeout().map_or(Instant(MS), |tick| tick);
        for _ in 0..frames {
            a.on_arrival(Instant(end.0 - 1), 1000, Fate::Queued);
        }
        a.on_timeout(end, &queue(len));
        a.rate()
    }

    /// The table of the queue function for Qeq = 16 frames of 1500 octets, from k Qeq / ((k − 1) q + Qeq).
    /// 1250 frames of 1000 octets are load 1. A thousand probes add 64 000 octets: 2.5 Gb/s × 1 250 000 / 1 314 000.
    #[test]
    fn probes_may_count_as_load() {
        for (counts, expected) in [(false, 2_500_000_000), (true, 2_378_234_398)] {
            let mut a = allocator(&ExplicitRate { load_probes: counts, ..config() });
            let mut probe = Probe::new(1);
            a.on_probe_departure(&mut probe);
            assert_eq!(probe.rate, Some(BitRate(2_500_000_000)), "it takes the rate with it");
            a.on_arrival(Instant(1), 1000, Fate::Queued);
            for _ in 0..1000 {
                a.on_probe_departure(&mut probe);
            }
            assert_eq!(interval(&mut a, 1249, Q_EQ), expected, "probes count: {counts}");
        }
    }

    /// A data frame of 936 octets and a probe of 64 leave a backlogged queue in 1 us: 8 Gb/s, of which data have 7.488.
    #[test]
    fn probes_that_count_are_octets_that_left() {
        for (counts, expected) in [(false, 7_488_000_000), (true, 8_000_000_000)] {
            let config = ExplicitRate { load_probes: counts, capacity: CapacityOf::Measured, ..config() };
            let mut a = allocator(&config);
            a.on_arrival(Instant(1), 936, Fate::Queued);
            a.on_probe_departure(&mut Probe::new(1));
            a.on_departure(Instant(1_000_001), 936, &queue(0));
            a.on_probe_departure(&mut Probe::new(2));
            a.on_timeout(a.next_timeout().expect("it measures"), &queue(0));
            assert_eq!(a.capacity, expected, "probes count: {counts}");
        }
    }

    #[test]
    fn queue_function() {
        let lengths = [0, 8, 16, 32, 80, 100];
        let ab = [1.1, 1.047_619, 1.0, 0.998_008, 0.992_079, 0.989_630];
        let ba = [1.002, 1.000_999, 1.0, 0.916_667, 0.733_333, 0.676_923];
        for (fecn_branch, expected) in [(FecnBranch::Ab, ab), (FecnBranch::Ba, ba)] {
            let f = QueueFunction::new(&ExplicitRate { fecn_branch, ..config() });
            for (frames, expected) in lengths.into_iter().zip(expected) {
                let at = f.at(frames * 1500) as f64 / f64::from(1 << F_BITS);
                assert!((at - expected).abs() < 1e-6, "{fecn_branch:?} {frames}: {at}");
            }
        }
        let f = QueueFunction::new(&ExplicitRate { a: 100.0, c: 0.25, ..config() });
        assert_eq!(f.at(1_000_000_000), 1 << (F_BITS - 2), "not less than c");
    }

    #[test]
    fn one_step_puts_the_load_right() {
        // 1 ms at 10 Gb/s is 10 Mbit: 1250 frames of 1000 octets are load 1.
        for (frames, expected) in [
            (1250, 2_500_000_000),
            (2500, 1_250_000_000),
            (500, 6_250_000_000),
            (100, 10 * GBPS), // 31.25 Gb/s, held at the capacity
        ] {
            assert_eq!(interval(&mut allocator(&config()), frames, Q_EQ), expected, "{frames}");
        }
        // f(0) = 1.002: 2.505 Gb/s; f(100 frames) = 0.676923: 1.692 Gb/s.
        assert_eq!(interval(&mut allocator(&config()), 1250, 0) / 1000, 2_504_999);
        assert_eq!(interval(&mut allocator(&config()), 1250, 150_000) / 1000, 1_692_307);
        let floor = ExplicitRate { min_rate: BitRate::from_mbps(900), ..config() };
        assert_eq!(interval(&mut allocator(&floor), 5000, Q_EQ), 900_000_000, "not 625 Mb/s");
    }

    #[test]
    fn averaging_and_limits() {
        let run = |config: ExplicitRate, frames: &[(u32, u64)]| {
            let mut a = allocator(&config);
            frames.iter().map(|&(n, len)| interval(&mut a, n, len)).collect::<Vec<_>>()
        };
        let (up, down) = ((1000, Q_EQ), (2500, Q_EQ)); // loads 0.8 and 2
        let mbps = |rates: [u64; 3]| rates.map(|r| r * 1_000_000).to_vec();
        assert_eq!(run(config(), &[up, up, down]), [3_125_000_000, 3_906_250_000, 1_953_125_000]);
        // Half of the step: 2500 → (3125 + 2500) / 2, and so on; 2500 × 0.75 = 1875 down.
        let always = ExplicitRate { averaging: Averaging::Always, ..config() };
        assert_eq!(run(always.clone(), &[down]), [1_875_000_000]);
        assert_eq!(run(always, &[up]), [2_812_500_000]);
        // A fall after no change is no turn; the rise after it is: (1250 × 1.25 + 1250) / 2 = 1406.25.
        let turns = ExplicitRate { averaging: Averaging::Turns, ..config() };
        assert_eq!(run(turns, &[down, up]), [1_250_000_000, 1_406_250_000]);
        // Beyond Qeq by C/20 = 500 Mb/s at most; f(24 001) is all but 1.
        let limited = ExplicitRate { limited_increase: true, ..config() };
        assert_eq!(run(limited, &[(500, Q_EQ + 1), (250, Q_EQ + 1), (1250, Q_EQ)]), mbps([3000, 3500, 3500]));
    }

    #[test]
    fn capacity_is_that_of_the_backlogged_queue() {
        let mut a = allocator(&ExplicitRate { capacity: CapacityOf::Measured, ..config() });
        let at = |ns: u64| Instant(MS / 2 + ns * 1000);
        // Two frames of 1500 octets queued at once at 5 Gb/s (2400 ns each), then idle, then one more.
        a.on_arrival(at(0), 1500, Fate::Queued);
        a.on_arrival(at(0), 1500, Fate::Queued);
        a.on_departure(at(2400), 1500, &queue(1500));
        a.on_departure(at(4800), 1500, &queue(0));
        a.on_arrival(at(100_000), 1500, Fate::Queued);
        a.on_departure(at(102_400), 1500, &queue(0));
        // The one in transmission at the tick is measured when it has left.
        a.on_arrival(at(499_000), 1500, Fate::Queued);
        a.on_timeout(Instant(MS), &queue(1500));
        let mut row = [0; 2];
        a.vars(&mut row);
        assert_eq!(row[1], 5_000_000_000);
        // r = min(C, 2.5 Gb/s / rho): four frames, 48 000 bits, of 5 Mbit.
        assert_eq!(row[0], 5_000_000_000);
        a.on_departure(at(501_400), 1500, &queue(0));
        a.on_timeout(Instant(2 * MS), &queue(0));
        assert_eq!(a.next_timeout(), None, "no frame came");
    }

    #[test]
    fn a_change_of_capacity_is_carried_on() {
        let mut a = allocator(&ExplicitRate { capacity_adjustment: true, ..config() });
        let half = Queue { rate: BitRate(5 * GBPS), ..queue(Q_EQ) };
        for _ in 0..1250 {
            a.on_arrival(Instant(MS / 2), 1000, Fate::Queued);
        }
        a.on_timeout(Instant(MS), &half);
        // Load 2 at 5 Gb/s: 1.25 Gb/s; and once more 5/10.
        assert_eq!(a.rate(), 625_000_000);
    }

    #[test]
    fn ticks_fall_at_their_phase_and_only_while_frames_come() {
        let mut a = allocator(&ExplicitRate { phase: Duration::from_us(250), ..config() });
        assert_eq!(a.next_timeout(), None);
        a.on_arrival(Instant(5 * MS + 100), 1000, Fate::Queued);
        let first = Instant(5 * MS + MS / 4);
        assert_eq!(a.next_timeout(), Some(first));
        a.on_timeout(first, &queue(0));
        assert_eq!(a.next_timeout(), Some(Instant(6 * MS + MS / 4)));
        a.on_timeout(Instant(6 * MS + MS / 4), &queue(0));
        assert_eq!((a.next_timeout(), a.rate()), (None, 2_500_000_000), "dormant, and as at the start");
    }

    #[test]
    fn refused_frames_are_load_if_they_are_to_be() {
        for (load, expected) in [(Load::Accepted, 2_500_000_000), (Load::Offered, 625_000_000)] {
            let mut a = allocator(&ExplicitRate { load, ..config() });
            for i in 0..5000 {
                a.on_arrival(Instant(MS / 2), 1000, if i < 1250 { Fate::Queued } else { Fate::Dropped });
            }
            a.on_timeout(Instant(MS), &queue(Q_EQ));
            assert_eq!(a.rate(), expected, "{load:?}");
        }
    }

    #[test]
    fn a_probe_takes_the_least_rate_of_its_path() {
        let (mut a, mut b) = (allocator(&config()), allocator(&config()));
        (a.id, b.id) = (CpId(1), CpId(2));
        b.reset(GBPS);
        for b_first in [false, true] {
            let mut probe = Probe::new(1);
            let path = if b_first { [&mut b, &mut a] } else { [&mut a, &mut b] };
            for hop in path {
                hop.on_probe_departure(&mut probe);
            }
            assert_eq!(probe, Probe { round: 1, rate: Some(BitRate(GBPS)), cp: CpId(2), returned: false });
        }
    }

    /// Dormant it offers C/N0; awake its rate stays, but for a minimum that is raised.
    #[test]
    fn a_rate_stays_while_parameters_change() {
        let place =
            Place { cp: CpId(7), line: BitRate(10 * GBPS), capacity: crate::Octets(150_000), phase: Duration::ZERO };
        let mut a = allocator(&config());
        a.configure(&config(), place, 2);
        assert_eq!(a.rate(), 5 * GBPS);
        a.on_arrival(Instant(1), 1000, Fate::Queued);
        a.configure(&ExplicitRate { interval: Duration::from_us(500), ..config() }, place, 4);
        assert_eq!((a.rate(), a.next_timeout()), (5 * GBPS, Some(Instant(MS))));
        a.configure(&ExplicitRate { min_rate: BitRate(6 * GBPS), ..config() }, place, 4);
        assert_eq!(a.rate(), 6 * GBPS);
    }
}
