//! A scheme that breaks the rule of its number and no other; number 0 breaks none.

use penstock_schemes::none::Silent;
use penstock_schemes::*;

const LINE: u64 = 10_000_000_000;
const LEAST: u64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Broken<const RULE: u8>;

#[derive(Debug, Clone)]
pub(crate) struct Config;

impl Configuration for Config {
    fn from_values(_: &[Value]) -> Option<Self> {
        Some(Self)
    }
}

/// Rule 8: a parameter without source and text.
const UNDOCUMENTED: &[Parameter] = &[Parameter {
    name: "gain",
    unit: Unit::Count,
    default: Value::Int(4),
    minimum: Value::Int(4),
    maximum: Value::Int(5),
    source: "",
    description: "",
}];

impl<const RULE: u8> Scheme for Broken<RULE> {
    const INFO: Info = Info {
        name: "broken",
        title: "Broken",
        source: "this test",
        description: "Breaks a rule.",
        parameters: if RULE == 8 { UNDOCUMENTED } else { &[] },
        profiles: &[],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
    };
    type Config = Config;
    type Tag = ();
    type Signal = ();
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp<RULE>;

    fn octets((): &()) -> u16 {
        // Rule 9: a signal that no frame holds.
        if RULE == 9 { 9000 } else { 64 }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Cp;

impl<const RULE: u8> CongestionPoint<Broken<RULE>> for Cp {
    fn new(_: &Config, _: Place) -> Self {
        Self
    }

    fn on_arrival(
        &mut self,
        _: Instant,
        frame: Frame<'_, ()>,
        _: Fate,
        queue: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<Broken<RULE>>,
    ) {
        if queue.len.0 > 60_000 {
            out.send(To::Source(frame.flow), Class::Control, ());
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rp<const RULE: u8> {
    rate: u64,
    timer: Instant,
    sends: u64,
}

impl<const RULE: u8> Clone for Rp<RULE> {
    fn clone(&self) -> Self {
        // Rule 4: a clone that forgets.
        Self { rate: self.rate, timer: self.timer, sends: if RULE == 4 { 0 } else { self.sends } }
    }
}

impl<const RULE: u8> ReactionPoint<Broken<RULE>> for Rp<RULE> {
    const VARS: &'static [Var] = &[Var { name: "sends", description: "frames sent" }];

    fn new(_: &Config, line: BitRate) -> Self {
        Self { rate: line.0, timer: Instant::NEVER, sends: 0 }
    }

    fn on_signal(&mut self, now: Instant, (): (), _: &mut impl Draw, _: &mut impl Out<Broken<RULE>>) {
        self.rate = match RULE {
            // Rule 1: below the least rate, every other time.
            1 if self.sends % 2 == 1 => 1000,
            // Rule 2: a signal that raises.
            2 if self.sends % 2 == 1 => LINE,
            _ => (self.rate / 2).max(LEAST),
        };
        if self.timer == Instant::NEVER {
            self.timer = now + Duration::from_us(50);
        }
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Broken<RULE>>) {
        self.sends += 1;
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Broken<RULE>>) {
        // Rule 3: acts on early timeouts.
        if now < self.timer && (RULE != 3 || self.timer == Instant::NEVER) {
            return;
        }
        // Rule 6: never recovers.
        if RULE != 6 {
            self.rate = (self.rate * 2).min(LINE);
        }
        // Rule 5: does not move its timer on.
        if RULE != 5 {
            self.timer = if self.rate == LINE { Instant::NEVER } else { now + Duration::from_us(50) };
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.rate), window: None }
    }

    fn limiting(&self) -> bool {
        self.rate != LINE
    }

    fn vars(&self, row: &mut [i64]) {
        // Rule 7: leaves its column unwritten.
        if RULE != 7 {
            row[0] = self.sends as i64;
        }
    }
}
