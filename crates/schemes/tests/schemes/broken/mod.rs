//! A scheme that breaks the rule of its configuration's number and no other; number 0 breaks none. One type for all of them:
//! the suite is compiled for it once, and once more for the rule of a constant.
//!
//! Its switches notify sources of long queues and mark frames; destinations answer marks, at most one in 20 us, and reflect
//! the probes that sources send. Signals halve the rate, down to a least one, and a timer doubles it.

use penstock_conformance::Maker;
use penstock_schemes::*;

const LINE: u64 = 10_000_000_000;
const HOLD: Duration = Duration::from_us(20);

/// `MARKS`: whether it says that it marks. Rule 30: it does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Broken<const MARKS: bool>;

#[derive(Debug, Clone)]
pub(crate) struct Config {
    rule: u8,
    least: u64,
}

const LEAST_RATE: u64 = 1_000_000;

impl Configuration for Config {
    fn from_values(values: &[Value]) -> Option<Self> {
        let least = values.iter().find_map(|&value| if let Value::Rate(rate) = value { Some(rate.0) } else { None });
        Some(Self { rule: 0, least: least.unwrap_or(LEAST_RATE) })
    }
}

/// What the suite says of the scheme that breaks this rule.
pub(crate) fn found(rule: u8) -> Result<(), String> {
    if rule == 30 { checked::<Broken<false>>(rule) } else { checked::<Broken<true>>(rule) }
}

/// What the suite says of a scheme with this rule's configuration.
pub(crate) fn checked<S: Scheme<Config = Config>>(rule: u8) -> Result<(), String> {
    let make = |values: &[Value]| Config { rule, ..Config::from_values(values).expect("values of the parameters") };
    Maker::<S>::new(&INFOS[usize::from(rule)], &make).check()
}

const GAIN: Parameter = Parameter {
    name: "gain",
    unit: Unit::Count,
    default: Value::Count(4),
    minimum: Value::Count(4),
    maximum: Value::Count(5),
    bound: None,
    when: None,
    alias: None,
    source: "this test",
    description: "Does nothing.",
};

const LEAST: Parameter = Parameter {
    name: "least",
    unit: Unit::Rate,
    default: Value::Rate(BitRate(LEAST_RATE)),
    minimum: Value::Rate(BitRate(LEAST_RATE)),
    maximum: Value::Rate(BitRate(LINE)),
    bound: Some(Bound::AtMostLine),
    description: "Least rate.",
    ..GAIN
};

/// Rule 8: a parameter without source and text.
const UNDOCUMENTED: &[Parameter] = &[Parameter { source: "", description: "", ..GAIN }];

/// Rule 23: a parameter that has an effect where a number has a value.
const CONDITIONAL: &[Parameter] =
    &[Parameter { when: Some(Condition { parameter: "gain", values: &[Value::Count(4)] }), ..GAIN }];

/// The sender of the signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Signal {
    Switch,
    /// Rule 9: no frame holds it.
    Long,
    /// Answers a mark.
    Destination,
    /// Comes from the source and returns to it.
    Probe,
}

impl penstock_schemes::Signal for Signal {
    fn octets(&self) -> u16 {
        if *self == Self::Long { 9000 } else { 64 }
    }
}

/// The number of rules, and one.
const RULES: usize = 35;

static INFOS: [Info; RULES] = {
    let mut infos = [const { info(0) }; RULES];
    let mut rule = 0;
    while rule < RULES {
        infos[rule] = info(rule as u8);
        rule += 1;
    }
    infos
};

const fn info(rule: u8) -> Info {
    Info {
        name: "broken",
        title: "Broken",
        source: "this test",
        description: "Breaks a rule.",
        parameters: match rule {
            8 => UNDOCUMENTED,
            23 => CONDITIONAL,
            _ => &[GAIN, LEAST],
        },
        profiles: &[],
        // Rule 21: no length.
        set_point: if rule == 21 { Some("gain") } else { None },
        signals: match rule {
            // Rule 24: longer than it says.
            24 => Some(Signals::backward(63)),
            // Rule 25: unsaid.
            25 => None,
            _ => Some(Signals::backward(64)),
        },
        // Rule 22: twice.
        actions: &[],
        tuned: if rule == 22 { &[&["gain"], &["gain"]] } else { &[&["gain"]] },
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        // Rule 34: its signals have no format.
        forms: Forms { capture: rule == 34, ..Forms::NONE },
    }
}

impl<const MARKS: bool> Scheme for Broken<MARKS> {
    const INFO: Info = info(0);
    type Config = Config;
    type Tag = bool;
    type Echo = ();
    type Signal = Signal;
    type Cp = Cp<MARKS>;
    type Np = Np;
    type Rp = Rp;

    fn info(config: &Config) -> &'static Info {
        &INFOS[usize::from(config.rule)]
    }

    fn label(tag: &bool) -> Label {
        Label::Ecn(*tag)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Cp<const MARKS: bool> {
    rule: u8,
}

impl<const MARKS: bool> CongestionPoint<Broken<MARKS>> for Cp<MARKS> {
    const ADMITS: bool = true;
    const MARKS: bool = MARKS;

    fn new(config: &Config, _: Place) -> Self {
        Self { rule: config.rule }
    }

    fn configure(&mut self, _: &Config, _: Place) {}

    fn admit(
        &mut self,
        _: Instant,
        frame: Frame<'_, bool>,
        _: bool,
        _: &Queue,
        _: &impl PortView,
        _: &mut impl Draw,
    ) -> Verdict {
        match frame.octets {
            // Rule 19: to a queue that the port has not got.
            1000.. if self.rule == 19 => Verdict::Move(6),
            0..100 => Verdict::Move(5),
            100..120 => Verdict::Drop,
            _ => Verdict::Accept,
        }
    }

    fn on_arrival(
        &mut self,
        _: Instant,
        frame: Frame<'_, bool>,
        _: Fate,
        queue: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<Broken<MARKS>>,
    ) {
        // Rule 31: marks before it is asked.
        *frame.tag |= self.rule == 31;
        if queue.len.0 > 60_000 {
            let signal = if self.rule == 9 { Signal::Long } else { Signal::Switch };
            out.send(To::Source(frame.flow), Class::Control, signal);
        }
    }

    fn mark(&mut self, _: Instant, frame: Frame<'_, bool>, len: Octets, _: &mut impl Draw) -> bool {
        *frame.tag = len.0 > 60_000;
        *frame.tag
    }

    fn on_transmission(&mut self, _: Instant, frame: Frame<'_, bool>, _: &Queue) {
        // Rule 32: writes, and does not say so.
        *frame.tag |= self.rule == 32;
    }

    fn on_departure(&mut self, _: Instant, frame: Frame<'_, bool>, _: &Queue) {
        // Rule 33: writes into a frame that is on the line.
        *frame.tag |= self.rule == 33;
    }
}

#[derive(Debug)]
pub(crate) struct Np {
    rule: u8,
    flow: FlowKey,
    /// Until then marks are only remembered.
    hold: Instant,
    marked: bool,
}

impl Clone for Np {
    fn clone(&self) -> Self {
        // Rule 12: a clone that forgets.
        Self { hold: if self.rule == 12 { Instant::NEVER } else { self.hold }, ..*self }
    }
}

impl Np {
    fn answer<const MARKS: bool>(&mut self, now: Instant, signal: Signal, out: &mut impl Out<Broken<MARKS>>) {
        // Rule 13: answers the source of another flow.
        let flow = if self.rule == 13 { FlowKey(self.flow.0 + 1) } else { self.flow };
        out.send(To::Source(flow), Class::Control, signal);
        self.marked = false;
        self.hold = now + HOLD;
    }
}

impl<const MARKS: bool> NotificationPoint<Broken<MARKS>> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        Self { rule: config.rule, flow, hold: Instant::NEVER, marked: false }
    }

    fn configure(&mut self, _: &Config) {
        // Rule 27: forgets what it waits for.
        if self.rule == 27 {
            (self.hold, self.marked) = (Instant::NEVER, false);
        }
    }

    fn on_frame(&mut self, now: Instant, frame: Frame<'_, bool>, _: &mut impl Draw, out: &mut impl Out<Broken<MARKS>>) {
        match (*frame.tag, self.hold) {
            (true, Instant::NEVER) => self.answer(now, Signal::Destination, out),
            (marked, _) => self.marked |= marked,
        }
    }

    fn on_signal(
        &mut self,
        _: Instant,
        _: FlowKey,
        probe: Signal,
        _: &mut impl Draw,
        out: &mut impl Out<Broken<MARKS>>,
    ) {
        assert_eq!(probe, Signal::Probe);
        out.send(To::Source(self.flow), Class::Control, probe);
    }

    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, bool>) -> Option<()> {
        // Rule 20: leaves out the last frame too.
        (frame.octets.is_multiple_of(4) || (frame.last && self.rule != 20)).then_some(())
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.hold != Instant::NEVER).then_some(self.hold)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, out: &mut impl Out<Broken<MARKS>>) {
        // Rule 10: acts on early timeouts.
        if now < self.hold && (self.rule != 10 || self.hold == Instant::NEVER) {
            return;
        }
        if self.marked {
            self.answer(now, Signal::Destination, out);
        } else {
            self.hold = Instant::NEVER;
        }
        // Rule 11: does not move its timer on.
        if self.rule == 11 {
            self.hold = now;
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rp {
    rule: u8,
    least: u64,
    rate: u64,
    timer: Instant,
    sends: u64,
    configured: Hidden,
}

/// A number that its text does not show.
#[derive(Clone, Copy)]
struct Hidden(u64);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hidden")
    }
}

impl Clone for Rp {
    fn clone(&self) -> Self {
        // Rule 4: a clone that forgets.
        Self { sends: if self.rule == 4 { 0 } else { self.sends }, ..*self }
    }
}

impl<const MARKS: bool> ReactionPoint<Broken<MARKS>> for Rp {
    const VARS: &'static [Var] = &[Var { name: "sends", description: "frames sent" }];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            rule: config.rule,
            least: config.least,
            rate: line.0,
            timer: Instant::NEVER,
            sends: 0,
            configured: Hidden(0),
        }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.least = config.least;
        // Rule 28: stays below the new least rate.
        if self.rule != 28 {
            self.rate = self.rate.max(self.least);
        }
        // Rule 26: counts from the start again.
        if self.rule == 26 {
            self.sends = 0;
        }
        // Rule 29: counts what nobody sees at once.
        if self.rule == 29 {
            self.configured.0 += 1;
        }
    }

    fn on_signal(
        &mut self,
        now: Instant,
        _flow: FlowKey,
        signal: Signal,
        _: &mut impl Draw,
        _: &mut impl Out<Broken<MARKS>>,
    ) {
        self.rate = match (self.rule, signal) {
            // Rule 1: below the least rate, every other time.
            (1, _) if self.sends % 2 == 1 => 1000,
            // Rule 2: a signal that raises; rules 16 and 17: one that only the destination sends, or reflects.
            (2, _) | (16, Signal::Destination) | (17, Signal::Probe) if self.sends % 2 == 1 => LINE,
            _ => (self.rate / 2).max(self.least),
        };
        if self.timer == Instant::NEVER {
            self.timer = now + Duration::from_us(50);
        }
    }

    fn on_send(&mut self, _: Instant, frame: Release, _: &mut impl Draw, out: &mut impl Out<Broken<MARKS>>) -> bool {
        self.sends += 1;
        if self.sends.is_multiple_of(8) {
            // Rule 14: probes the path of another flow.
            let flow = if self.rule == 14 { FlowKey(frame.flow.0 + 1) } else { frame.flow };
            out.send(To::Destination(flow), Class::Data, Signal::Probe);
        }
        // Rule 18: a second flow breaks the bound.
        if self.rule == 18 && frame.flow.0 > 3 {
            self.rate = 1000;
        }
        false
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Broken<MARKS>>) {
        // Rule 3: acts on early timeouts.
        if now < self.timer && (self.rule != 3 || self.timer == Instant::NEVER) {
            return;
        }
        // Rule 6: never recovers.
        if self.rule != 6 {
            // Rule 29: is slower by what it has counted.
            self.rate = (self.rate * 2 - self.configured.0).min(LINE);
        }
        // Rule 5: does not move its timer on.
        if self.rule != 5 {
            self.timer = if self.rate == LINE { Instant::NEVER } else { now + Duration::from_us(50) };
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.rate), window: None }
    }

    fn admits(&self, now: Instant, _: FlowKey) -> Instant {
        // Rule 15: however long a flow waits, it is to wait longer.
        if self.rule == 15 { now + HOLD } else { now }
    }

    fn limiting(&self) -> bool {
        self.rate != LINE
    }

    fn vars(&self, row: &mut [i64]) {
        // Rule 7: leaves its column unwritten.
        if self.rule != 7 {
            row[0] = self.sends as i64;
        }
    }
}

/// A scheme that states a window, and whose destinations acknowledge nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deaf;

impl Scheme for Deaf {
    const INFO: Info = info(0);
    type Config = Config;
    type Tag = ();
    type Echo = Never;
    type Signal = Never;
    type Cp = DeafCp;
    type Np = none::Silent;
    type Rp = DeafRp;
}

#[derive(Debug, Clone)]
pub(crate) struct DeafCp;

impl CongestionPoint<Deaf> for DeafCp {
    fn new(_: &Config, _: Place) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config, _: Place) {}

    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, ()>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Deaf>,
    ) {
    }
}

#[derive(Debug, Clone)]
pub(crate) struct DeafRp(BitRate);

impl ReactionPoint<Deaf> for DeafRp {
    fn new(_: &Config, line: BitRate) -> Self {
        Self(line)
    }

    fn configure(&mut self, _: &Config, _: BitRate) {}

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Deaf>) {
        match signal {}
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Deaf>) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Deaf>) {}

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.0, window: Some(Octets(3000)) }
    }

    fn limiting(&self) -> bool {
        false
    }
}
