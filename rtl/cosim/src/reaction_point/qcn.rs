//! QCN's reaction point (Kabbani and Yasuda 2010; Jiang et al. 2015; 802.1Qau, clause 32) with the clocks of
//! `qcn_rate_calculator`.
//!
//! The hardware serves one event at a time, at clocks that follow from the inputs alone. At each of them the state machine
//! is called, and its answer is expected after the latency of the documentation. A frame whose octets end a cycle is
//! given to it when the cycle's end is served, with the octets that arrived until then.

use std::collections::VecDeque;

use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::{
    AiHaiSequence, ByteCycle, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator,
    Rules, Trr,
};
use penstock_schemes::{Draw, Duration, Instant};

use super::{Event, Machine, Message, Point, Shown};
use crate::Random;
use crate::vectors::Pins;

/// Clocks from the one in which an event is served to the next in which one can be; then the counters show it.
const SERVICE: u64 = 51;
/// Clocks until the target rate and the current rate show it.
const TARGET: u64 = 19;
const CURRENT: u64 = 25;
/// The largest stage.
const STAGES: u32 = 255;

/// The settings, as the pins and the registers have them.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Gd is 2 to the minus this; less than 6 counts as 6, more than 16 as 16.
    pub gd_shift: u8,
    /// Cycles of Fast Recovery.
    pub threshold: u8,
    /// Cycle of the byte counter, octets, and of the timer, ticks.
    pub byte_reset: u32,
    /// See there.
    pub time_reset: u32,
    /// R_AI, bit/s.
    pub ai_rate: u64,
    /// R_HAI, bit/s.
    pub hai_rate: u64,
    /// The least rate, bit/s.
    pub min_rate: u64,
    /// The largest rate, bit/s.
    pub max_rate: u64,
    /// Jitter of a cycle, up or down, in 1/65536 of it.
    pub jitter: u16,
    /// There is a timer.
    pub timer_on: bool,
}

/// A rate in a range of a random size, and often at its end.
pub fn any_rate(random: &mut Random, most: u64) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => most,
        2 => random.below(16).min(most),
        _ => {
            let bits = random.below(30);
            random.below((most >> bits) + 1)
        }
    }
}

impl Settings {
    /// Anything that is allowed with rates of this number of bits, and often the ends of it.
    pub fn any(random: &mut Random, rate_bits: u32) -> Self {
        let most = (1 << rate_bits) - 1;
        let max_rate = match random.below(4) {
            0 => most,
            1 => 1_000_000_000,
            2 if rate_bits > 34 => [25, 100, 400][random.below(3) as usize] * 1_000_000_000,
            2 => 10_000_000_000,
            _ => 1 + random.below(most),
        };
        // Feedback that keeps the target rate at its largest takes the current rate down to the least: now and then these
        // are a factor of ten apart, where Target Rate Reduction begins.
        let tenth = 1 + random.below(1_000_000_000);
        let (min_rate, max_rate) = if random.one_in(6) {
            (tenth, 10 * tenth + random.below(3))
        } else {
            (any_rate(random, max_rate), max_rate)
        };
        Self {
            min_rate,
            max_rate,
            ai_rate: any_rate(random, most),
            hai_rate: any_rate(random, most),
            gd_shift: random.below(32) as u8,
            threshold: match random.below(8) {
                0 => random.below(255),
                1 => 0,
                _ => 1 + random.below(6),
            } as u8,
            byte_reset: match random.below(8) {
                0 => 0,
                1 => (1 << 24) - 1,
                2 => 150_000,
                // Short cycles lead to Hyper-Active Increase before the next signal.
                3..=5 => random.below(500),
                _ => random.below(20_000),
            } as u32,
            time_reset: match random.below(8) {
                0 => 0,
                1 => (1 << 24) - 1,
                2..=4 => random.below(100),
                _ => random.below(3_000),
            } as u32,
            timer_on: !random.one_in(8),
            jitter: match random.below(4) {
                0 => 0,
                1 => 65_535,
                2 => 9_830,
                _ => random.below(65_536),
            } as u16,
        }
    }

    /// The registers of a NIC with these, and its time base.
    #[must_use]
    pub fn registers(&self, tick_clocks: u64) -> Vec<(&'static str, u64)> {
        vec![
            ("qcn.tick_clocks", tick_clocks),
            ("qcn.gd_shift", self.gd_shift.into()),
            ("qcn.rpg_threshold", self.threshold.into()),
            ("qcn.rpg_byte_reset", self.byte_reset.into()),
            ("qcn.rpg_time_reset", self.time_reset.into()),
            ("qcn.rpg_ai_rate", self.ai_rate),
            ("qcn.rpg_hai_rate", self.hai_rate),
            ("qcn.rpg_min_rate", self.min_rate),
            ("qcn.rpg_max_rate", self.max_rate),
            ("qcn.rp_jitter", self.jitter.into()),
            ("qcn.timer_on", self.timer_on.into()),
        ]
    }

    /// Those at the pins of a core, which have the same names in all of them.
    #[must_use]
    pub fn at_pins<I: Pins>(input: &I) -> Self {
        let pin = |name| input.get(pin_of::<I>(name));
        Self {
            gd_shift: pin("gd_shift_i") as u8,
            threshold: pin("rpg_threshold_i") as u8,
            byte_reset: pin("rpg_byte_reset_i") as u32,
            time_reset: pin("rpg_time_reset_i") as u32,
            ai_rate: pin("rpg_ai_rate_i"),
            hai_rate: pin("rpg_hai_rate_i"),
            min_rate: pin("rpg_min_rate_i"),
            max_rate: pin("rpg_max_rate_i"),
            jitter: pin("rp_jitter_i") as u16,
            timer_on: pin("timer_on_i") != 0,
        }
    }

    /// Sets the pins to these.
    pub fn put<I: Pins>(&self, input: &mut I) {
        for (name, value) in [
            ("gd_shift_i", self.gd_shift.into()),
            ("rpg_threshold_i", self.threshold.into()),
            ("rpg_byte_reset_i", self.byte_reset.into()),
            ("rpg_time_reset_i", self.time_reset.into()),
            ("rpg_ai_rate_i", self.ai_rate),
            ("rpg_hai_rate_i", self.hai_rate),
            ("rpg_min_rate_i", self.min_rate),
            ("rpg_max_rate_i", self.max_rate),
            ("rp_jitter_i", self.jitter.into()),
            ("timer_on_i", self.timer_on.into()),
        ] {
            input.set(pin_of::<I>(name), value);
        }
    }

    /// The rules of the state machine that stand for these and a build's choices.
    #[must_use]
    pub fn rules(&self, readings: &Readings) -> Rules {
        Rules {
            gd_inverse: 1 << self.gd_shift.clamp(6, 16),
            rpg_min_dec_fac: 50,
            min_rate: self.min_rate,
            max_rate: self.max_rate,
            r_ai: self.ai_rate,
            r_hai: self.hai_rate,
            threshold: self.threshold.into(),
            byte_cycle: ByteCycle::Fixed(self.byte_reset.into()),
            time_reset: (readings.full && self.timer_on).then_some(Duration(self.time_reset.into())),
            jitter: Spread::new(f64::from(self.jitter) / 65_536.0),
            jitter_rp: readings.jitter_rp,
            decrease_order: DecreaseOrder::Simultaneous,
            fr_cycles: FrCycles::Threshold,
            cycle_halving: CycleHalving::PerCounter,
            hai_multiplier: readings.hai_multiplier,
            ai_hai_sequence: AiHaiSequence::Counters,
            efr: readings.efr,
            trr: readings.trr,
            tr_clamp: true,
        }
    }
}

fn pin_of<I: Pins>(name: &str) -> usize {
    I::NAMES.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no pin {name}"))
}

/// The choices that a build's parameters fix.
#[derive(Debug, Clone, Copy)]
pub struct Readings {
    /// `Features = Full`: with a timer.
    pub full: bool,
    /// `HaiMultiplier`.
    pub hai_multiplier: HaiMultiplier,
    /// `Efr`.
    pub efr: Efr,
    /// `Trr`.
    pub trr: Trr,
    /// `JitterRp`.
    pub jitter_rp: JitterRp,
}

impl Readings {
    /// Those of the default parameters.
    pub const FULL: Self = Self {
        full: true,
        hai_multiplier: HaiMultiplier::MinCount,
        efr: Efr::ByteStage,
        trr: Trr::FirstCycle,
        jitter_rp: JitterRp::Reload,
    };
}

/// Words in the order in which the state machine draws them, and how many it has drawn.
#[derive(Default)]
pub struct Words(pub VecDeque<u32>, pub usize);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.1 += 1;
        self.0.pop_front().expect("no more words than counters")
    }
}

/// A value that becomes another some clocks later.
#[derive(Debug, Default)]
struct Delayed {
    value: u64,
    coming: Option<(u64, u64)>,
}

impl Delayed {
    fn at(&mut self, clock: u64) -> u64 {
        if let Some((_, value)) = self.coming.take_if(|(at, _)| *at <= clock) {
            self.value = value;
        }
        self.value
    }

    fn becomes(&mut self, at: u64, value: u64) {
        self.coming = Some((at, value));
    }

    fn is(&mut self, value: u64) {
        *self = Self { value, coming: None };
    }
}

/// The rest of a cycle: octets and time that have passed meanwhile count before its length is known.
#[derive(Debug, Default)]
struct Left {
    value: i64,
    running: bool,
    coming: Option<(u64, i64)>,
    /// In the clock after a beginning the old cycle is still shown: that clock, and the cycle.
    old: Option<(u64, Box<Self>)>,
}

impl Left {
    fn begin(&mut self, clock: u64, length: i64) {
        let old = Self { old: None, ..std::mem::take(self) };
        *self = Self {
            value: 0,
            running: true,
            coming: Some((clock + SERVICE, length)),
            old: Some((clock + 1, Box::new(old))),
        };
    }

    fn at(&mut self, clock: u64) -> i64 {
        if let Some((_, old)) = self.old.take_if(|(at, _)| *at <= clock) {
            return { old }.at(clock);
        }
        if let Some((_, length)) = self.coming.take_if(|(at, _)| *at <= clock) {
            self.value += length;
        }
        self.value
    }

    fn known(&self) -> bool {
        self.running && self.coming.is_none()
    }

    /// Octets that pass in a clock count, unless the cycle has ended and waits.
    fn pass(&mut self, step: i64, ended: bool) {
        if let Some((_, old)) = &mut self.old {
            old.pass(step, ended);
        }
        if self.running && (self.coming.is_some() || !ended) {
            self.value -= step;
        }
    }
}

/// QCN's reaction point from a reset on, or from a start of its flow.
#[derive(Debug)]
pub struct Qcn {
    readings: Readings,
    rules: Rules,
    calculator: RateCalculator,
    /// Clocks and ticks since the reset.
    clock: u64,
    ticks: u64,
    current_rate: Delayed,
    target_rate: Delayed,
    byte: Left,
    time: Left,
    /// In the clock before, the cycle of the byte counter had ended, and that of the timer: they are served from now on.
    ended: [bool; 2],
    /// From when an event can be served.
    free_at: u64,
    /// Octets that wait for the byte counter's next cycle.
    waiting: u64,
    /// Messages, cycles of the byte counter and of the timer that were served.
    pub served: [u64; 3],
}

impl Qcn {
    /// In the clock behind a reset, or that in which its flow starts.
    #[must_use]
    pub fn new(readings: Readings, settings: &Settings) -> Self {
        let rules = settings.rules(&readings);
        let rate = || Delayed { value: rules.max_rate, coming: None };
        Self {
            readings,
            rules,
            calculator: RateCalculator::new(rules),
            clock: 0,
            ticks: 0,
            current_rate: rate(),
            target_rate: rate(),
            byte: Left::default(),
            time: Left::default(),
            ended: [false; 2],
            free_at: 0,
            waiting: 0,
            served: [0; 3],
        }
    }

    /// An event can be served from this clock on, and the hardware's cycle counters are saturated: its
    /// factor of R_HAI would stay where the state machine's grows. A test starts the flow again then.
    #[must_use]
    pub fn overflows(&self) -> bool {
        let (byte, time) = (self.calculator.byte_stage(), self.calculator.time_stage());
        let cycles = match self.rules.hai_multiplier {
            HaiMultiplier::Ordinal => byte + time,
            _ => byte.min(time),
        };
        let stays = cycles >= STAGES - 1 && self.calculator.target_rate() < self.rules.max_rate;
        self.readings.full && self.free_at == self.clock && stays
    }

    /// The flow starts, or the byte counter's first cycle behind a reset; the words that are drawn.
    fn begin(&mut self, event: &Event) -> [bool; 2] {
        self.calculator.reset();
        self.waiting = 0;
        self.byte.begin(self.clock, self.calculator.byte_count());
        let mut words = Words([event.words[1]].into(), 0);
        if event.start {
            self.calculator.start_timer(Instant(self.ticks), &mut words);
            if self.calculator.next_timeout().is_none() {
                self.time = Left::default();
            }
            self.begin_time();
        }
        self.current_rate.is(self.rules.max_rate);
        self.target_rate.is(self.rules.max_rate);
        self.free_at = self.clock + SERVICE;
        [false, words.1 > 0]
    }

    /// A message, or the end of a cycle; the words that are drawn.
    fn serve(&mut self, event: &Event, byte_ended: bool, time_ended: bool) -> [bool; 2] {
        let now = Instant(self.ticks);
        let mut words = Words::default();
        let (kind, byte_words) = if let Some(Message { fb, .. }) = event.signal {
            let (byte_stage, time_stage) = (self.calculator.byte_stage(), self.calculator.time_stage());
            let keeps = match self.readings.efr {
                Efr::ByteStage => byte_stage == 0,
                Efr::NeitherFired => byte_stage == 0 && time_stage == 0,
                Efr::Off => false,
            };
            if !keeps {
                words.0.push_back(event.words[0]);
            }
            if self.readings.jitter_rp == JitterRp::Always {
                words.0.push_back(event.words[1]);
            }
            self.calculator.decrease(now, QntzFb::from_steps(fb), &mut words);
            if !keeps {
                self.waiting = 0;
                self.byte.begin(self.clock, self.calculator.byte_count());
            }
            self.begin_time();
            (0, usize::from(!keeps))
        } else if byte_ended {
            words.0.push_back(event.words[0]);
            let before = self.calculator.byte_stage();
            self.calculator.count(u16::try_from(self.waiting).unwrap_or(u16::MAX), &mut words);
            assert!(self.calculator.byte_stage() > before, "the state machine's cycle ends too");
            self.waiting = 0;
            self.byte.begin(self.clock, self.calculator.byte_count());
            (1, 1)
        } else if time_ended {
            words.0.push_back(event.words[1]);
            let before = self.calculator.time_stage();
            self.calculator.on_timeout(now, &mut words);
            assert!(self.calculator.time_stage() > before, "the state machine's timer is due too");
            self.begin_time();
            (2, 0)
        } else {
            return [false; 2];
        };
        self.served[kind] += 1;
        self.free_at = self.clock + SERVICE;
        self.target_rate.becomes(self.clock + TARGET, self.calculator.target_rate());
        self.current_rate.becomes(self.clock + CURRENT, self.calculator.current_rate());
        [words.1.min(byte_words) > 0, words.1 > byte_words]
    }

    /// The timer's cycle begins, if there is a timer.
    fn begin_time(&mut self) {
        if let Some(at) = self.calculator.next_timeout() {
            self.time.begin(self.clock, at.0 as i64 - self.ticks as i64);
        }
    }
}

impl Machine for Qcn {
    fn clock(&mut self, event: &Event) -> Shown {
        let clock = self.clock;
        // In the first clock after the reset the byte counter's first cycle begins.
        let begins = event.start || clock == 0;
        let ready = self.free_at <= clock && !begins;
        let stage = |n: u32| n.min(STAGES) as u8;
        let mut shown = Shown {
            point: Point {
                current_rate: self.current_rate.at(clock),
                target_rate: self.target_rate.at(clock),
                byte_stage: stage(self.calculator.byte_stage()),
                time_stage: stage(self.calculator.time_stage()),
            },
            phase: self.calculator.phase() as u8,
            byte_left: self.byte.at(clock),
            time_left: self.time.at(clock),
            busy: self.free_at > clock,
            ready,
            draws: [false; 2],
        };
        let byte_ended = self.byte.known() && shown.byte_left < 0;
        let time_ended = self.time.known() && shown.time_left <= 0;
        if begins {
            shown.draws = self.begin(event);
        } else if ready {
            let [byte_waits, time_waits] = self.ended;
            shown.draws = self.serve(event, byte_waits, time_waits);
        }
        self.ended = [byte_ended, time_ended];

        // Octets sent in this clock: the state machine counts them at once, unless the cycle ends.
        if let Some(octets) = event.sent {
            self.byte.pass(octets.into(), byte_ended);
            if self.waiting > 0 || self.calculator.byte_count() < i64::from(octets) {
                self.waiting += u64::from(octets);
            } else {
                self.calculator.count(octets, &mut Words::default());
            }
        }
        self.time.pass(event.tick.into(), time_ended);
        self.ticks += u64::from(event.tick);
        self.clock += 1;
        shown
    }
}
