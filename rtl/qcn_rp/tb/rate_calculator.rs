//! QCN's rate calculator against the state machine of the schemes, all outputs in every clock.
//!
//! The hardware serves one event at a time, at clocks that follow from the inputs alone; at each of them the state machine
//! is called. A frame whose octets end a cycle is given to it when the cycle's end is served, with what came until then.

use std::collections::VecDeque;

use penstock_cosim::Random;
use penstock_cosim::vectors::{self, Pins, Recorder};
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::{
    AiHaiSequence, ByteCycle, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator,
    Rules, Trr,
};
use penstock_schemes::{Draw, Duration, Instant};

/// Clocks from the one in which an event is served to the next in which one can be; then the counters show it.
const SERVICE: u64 = 51;
/// Clocks until the target rate and the current rate show it.
const TARGET: u64 = 19;
const CURRENT: u64 = 25;
/// The largest stage.
const STAGES: u32 = 255;
const SETS: u64 = 660;
const CLOCKS: u64 = 30_000;
const FOLDER: &str = "qcn_rp";

/// The words of a clock, in the order in which the state machine draws them, and how many it has drawn.
#[derive(Default)]
struct Words(VecDeque<u32>, u8);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.1 += 1;
        self.0.pop_front().expect("no more words than counters")
    }
}

/// A value that becomes another some clocks later.
#[derive(Default)]
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

/// What is left of a cycle: what has passed meanwhile counts before its length is known.
#[derive(Default)]
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

    /// What passes in a clock counts, unless the cycle has ended and waits.
    fn pass(&mut self, step: i64, ended: bool) {
        if let Some((_, old)) = &mut self.old {
            old.pass(step, ended);
        }
        if self.running && (self.coming.is_some() || !ended) {
            self.value -= step;
        }
    }
}

/// A rate in a range of a random size, and often at its end.
fn rate(random: &mut Random, most: u64) -> u64 {
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

/// What a build is fixed to.
struct Readings {
    full: bool,
    hai_multiplier: HaiMultiplier,
    efr: Efr,
    trr: Trr,
    jitter_rp: JitterRp,
}

/// The rules that the pins are set to.
fn rules(input: &impl Pins, readings: &Readings) -> Rules {
    let pin = |name| input.get(pin_of(input, name));
    Rules {
        // Less counts as 6, more as 16.
        gd_inverse: 1 << pin("gd_shift_i").clamp(6, 16),
        rpg_min_dec_fac: 50,
        min_rate: pin("rpg_min_rate_i"),
        max_rate: pin("rpg_max_rate_i"),
        r_ai: pin("rpg_ai_rate_i"),
        r_hai: pin("rpg_hai_rate_i"),
        threshold: pin("rpg_threshold_i") as u32,
        byte_cycle: ByteCycle::Fixed(pin("rpg_byte_reset_i")),
        time_reset: (readings.full && pin("timer_on_i") != 0).then(|| Duration(pin("rpg_time_reset_i"))),
        jitter: Spread::new(pin("rp_jitter_i") as f64 / 65_536.0),
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

fn pin_of<I: Pins>(_: &I, name: &str) -> usize {
    I::NAMES.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no pin {name}"))
}

/// Sets the pins of the settings to anything that is allowed, and often to the ends of it.
fn draw_settings<I: Pins>(random: &mut Random, input: &mut I) {
    let max_rate = match random.below(4) {
        0 => (1 << 34) - 1,
        1 => 1_000_000_000,
        2 => 10_000_000_000,
        _ => 1 + random.below((1 << 34) - 1),
    };
    // Feedback that keeps the target rate at its largest takes the current rate down to the least: now and then these are a
    // factor of ten apart, where Target Rate Reduction begins.
    let tenth = 1 + random.below(1_000_000_000);
    let (min_rate, max_rate) =
        if random.one_in(6) { (tenth, 10 * tenth + random.below(3)) } else { (rate(random, max_rate), max_rate) };
    let mut set = |name, value| input.set(pin_of(&I::default(), name), value);
    set("rpg_max_rate_i", max_rate);
    set("rpg_min_rate_i", min_rate);
    set("rpg_ai_rate_i", rate(random, (1 << 34) - 1));
    set("rpg_hai_rate_i", rate(random, (1 << 34) - 1));
    set("gd_shift_i", random.below(32));
    set(
        "rpg_threshold_i",
        match random.below(8) {
            0 => random.below(255),
            1 => 0,
            _ => 1 + random.below(6),
        },
    );
    set(
        "rpg_byte_reset_i",
        match random.below(8) {
            0 => 0,
            1 => (1 << 24) - 1,
            2 => 150_000,
            // Short cycles lead to Hyper-Active Increase before the next signal.
            3..=5 => random.below(500),
            _ => random.below(20_000),
        },
    );
    set(
        "rpg_time_reset_i",
        match random.below(8) {
            0 => 0,
            1 => (1 << 24) - 1,
            2..=4 => random.below(100),
            _ => random.below(3_000),
        },
    );
    set("timer_on_i", u64::from(!random.one_in(8)));
    set(
        "rp_jitter_i",
        match random.below(4) {
            0 => 0,
            1 => 65_535,
            2 => 9_830,
            _ => random.below(65_536),
        },
    );
}

/// What the pins are given in a clock, but for the settings.
struct Given {
    start: bool,
    signal: Option<u8>,
    sent: Option<u16>,
    tick: bool,
    random_byte: u32,
    random_timer: u32,
}

/// What they show.
#[derive(Debug, PartialEq)]
struct Shown {
    current_rate: u64,
    target_rate: u64,
    byte_stage: u8,
    time_stage: u8,
    phase: u8,
    byte_left: i64,
    time_left: i64,
    signal_ready: bool,
    busy: bool,
    /// Random words drawn in this clock.
    drawn: u8,
}

/// The state machine, asked as the hardware's clocks come.
struct Model {
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
    /// From when an event can be served.
    free_at: u64,
    /// Octets that wait for the byte counter's next cycle.
    waiting: u64,
    /// Random words drawn in this clock.
    drawn: u8,
    /// Signals, cycles of the byte counter and of the timer that were served.
    served: [u64; 3],
}

impl Model {
    fn new(readings: Readings, rules: Rules) -> Self {
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
            free_at: 0,
            waiting: 0,
            drawn: 0,
            served: [0; 3],
        }
    }

    /// From this many cycles on the hardware's factor of R_HAI stays, and only a target rate at its largest value agrees.
    fn factor_stays(&self) -> bool {
        let (byte, time) = (self.calculator.byte_stage(), self.calculator.time_stage());
        let cycles = match self.rules.hai_multiplier {
            HaiMultiplier::Ordinal => byte + time,
            _ => byte.min(time),
        };
        cycles >= STAGES - 1 && self.calculator.target_rate() < self.rules.max_rate
    }

    /// What shows in a clock; then what happens in it happens.
    fn clock(&mut self, given: &Given) -> Shown {
        let clock = self.clock;
        // In the first clock after the reset the byte counter's first cycle begins.
        let begins = given.start || clock == 0;
        let ready = self.free_at <= clock && !begins;
        let stage = |n: u32| n.min(STAGES) as u8;
        let mut shown = Shown {
            current_rate: self.current_rate.at(clock),
            target_rate: self.target_rate.at(clock),
            byte_stage: stage(self.calculator.byte_stage()),
            time_stage: stage(self.calculator.time_stage()),
            phase: self.calculator.phase() as u8,
            byte_left: self.byte.at(clock),
            time_left: self.time.at(clock),
            signal_ready: ready,
            busy: self.free_at > clock,
            drawn: 0,
        };
        let byte_ended = self.byte.running && self.byte.coming.is_none() && shown.byte_left < 0;
        let time_ended = self.time.running && self.time.coming.is_none() && shown.time_left <= 0;
        self.drawn = 0;
        if begins {
            self.begin(given);
        } else if ready {
            self.serve(given, byte_ended, time_ended);
        }
        shown.drawn = self.drawn;

        // What passes in this clock: the state machine is told at once, unless it ends the cycle.
        if let Some(octets) = given.sent {
            self.byte.pass(octets.into(), byte_ended);
            if self.waiting > 0 || self.calculator.byte_count() < i64::from(octets) {
                self.waiting += u64::from(octets);
            } else {
                self.calculator.count(octets, &mut Words::default());
            }
        }
        self.time.pass(given.tick.into(), time_ended);
        self.ticks += u64::from(given.tick);
        self.clock += 1;
        shown
    }

    fn begin(&mut self, given: &Given) {
        self.calculator.reset();
        self.waiting = 0;
        self.byte.begin(self.clock, self.calculator.byte_count());
        if given.start {
            let mut words = Words([given.random_timer].into(), 0);
            self.calculator.start_timer(Instant(self.ticks), &mut words);
            if self.calculator.next_timeout().is_none() {
                self.time = Left::default();
            }
            self.begin_time();
            self.drawn = words.1;
        }
        self.current_rate.is(self.rules.max_rate);
        self.target_rate.is(self.rules.max_rate);
        self.free_at = self.clock + SERVICE;
    }

    fn serve(&mut self, given: &Given, byte_ended: bool, time_ended: bool) {
        let now = Instant(self.ticks);
        let mut words = Words::default();
        let event = if let Some(fb) = given.signal {
            let (byte_stage, time_stage) = (self.calculator.byte_stage(), self.calculator.time_stage());
            let keeps = match self.readings.efr {
                Efr::ByteStage => byte_stage == 0,
                Efr::NeitherFired => byte_stage == 0 && time_stage == 0,
                Efr::Off => false,
            };
            if !keeps {
                words.0.push_back(given.random_byte);
            }
            if self.readings.jitter_rp == JitterRp::Always {
                words.0.push_back(given.random_timer);
            }
            self.calculator.decrease(now, QntzFb::from_steps(fb), &mut words);
            if !keeps {
                self.waiting = 0;
                self.byte.begin(self.clock, self.calculator.byte_count());
            }
            self.begin_time();
            0
        } else if byte_ended {
            words.0.push_back(given.random_byte);
            let before = self.calculator.byte_stage();
            self.calculator.count(u16::try_from(self.waiting).unwrap_or(u16::MAX), &mut words);
            assert!(self.calculator.byte_stage() > before, "the state machine's cycle ends too");
            self.waiting = 0;
            self.byte.begin(self.clock, self.calculator.byte_count());
            1
        } else if time_ended {
            words.0.push_back(given.random_timer);
            let before = self.calculator.time_stage();
            self.calculator.on_timeout(now, &mut words);
            assert!(self.calculator.time_stage() > before, "the state machine's timer is due too");
            self.begin_time();
            2
        } else {
            return;
        };
        self.drawn = words.1;
        self.served[event] += 1;
        self.free_at = self.clock + SERVICE;
        self.target_rate.becomes(self.clock + TARGET, self.calculator.target_rate());
        self.current_rate.becomes(self.clock + CURRENT, self.calculator.current_rate());
    }

    /// The timer's cycle begins, if there is a timer.
    fn begin_time(&mut self) {
        if let Some(at) = self.calculator.next_timeout() {
            self.time.begin(self.clock, at.0 as i64 - self.ticks as i64);
        }
    }
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $seed:expr, $readings:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};

            /// One clock of both; whether a signal was taken.
            fn clock(core: &mut Core, model: &mut Option<Model>, input: &In) -> bool {
                let out = core.clock(input);
                if input.rst_i {
                    let served = model.as_ref().map_or([0; 3], |model| model.served);
                    *model = Some(Model { served, ..Model::new($readings, rules(input, &$readings)) });
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let given = Given {
                    start: input.start_i,
                    signal: input.signal_valid_i.then_some(input.fb_i),
                    sent: (input.octets_i > 0).then_some(input.octets_i),
                    tick: input.tick_i,
                    random_byte: input.random_byte_i,
                    random_timer: input.random_timer_i,
                };
                let signed = |n: u32| i64::from((n << 6) as i32 >> 6);
                let shown = Shown {
                    current_rate: out.current_rate_o,
                    target_rate: out.target_rate_o,
                    byte_stage: out.byte_stage_o,
                    time_stage: out.time_stage_o,
                    phase: out.phase_o,
                    byte_left: signed(out.byte_left_o),
                    time_left: signed(out.time_left_o),
                    signal_ready: out.signal_ready_o,
                    busy: out.busy_o,
                    drawn: u8::from(out.draw_byte_o) + u8::from(out.draw_timer_o),
                };
                assert_eq!(shown, model.clock(&given), "{} clocks after the reset: {:?}", model.clock - 1, model.rules);
                out.signal_ready_o && input.signal_valid_i
            }

            for vector in vectors::kept(FOLDER, stringify!($core)) {
                let (mut core, mut model) = (Core::new(vector.seed), None);
                for input in &vector.clocks {
                    clock(&mut core, &mut model, input);
                }
            }

            let mut random = Random::new($seed);
            let mut kept = Recorder::new(FOLDER, stringify!($core));
            let (mut operations, mut served) = (0u64, [0u64; 3]);
            for _ in 0..SETS {
                let seed = random.next();
                let (mut core, mut model) = (Core::new(seed), None::<Model>);
                kept.begin(seed);
                let mut input = In::default();
                draw_settings(&mut random, &mut input);
                // How dense the inputs are; signals back to back, or none.
                let (sends, longest) = (1 + random.below(20), [64, 1518, 9018, 65_535][random.below(4) as usize]);
                let rarely = if random.one_in(2) { 2 } else { 100 };
                let ticking = 1 + random.below(rarely);
                let starts = [10_000, 10_000, 500][random.below(3) as usize];
                let signals = [1, 20, 500, 2_000, 5_000, 100_000][random.below(6) as usize];
                for n in 0..CLOCKS {
                    input.rst_i = n == 0 || random.one_in(20_000);
                    input.start_i = random.one_in(starts)
                        || ($readings.full && model.as_ref().is_some_and(|m| m.free_at == m.clock && m.factor_stays()));
                    if !input.signal_valid_i {
                        input.signal_valid_i = random.one_in(signals);
                        input.fb_i = random.below(64) as u8;
                    }
                    input.octets_i = match random.below(8) {
                        _ if !random.one_in(sends) => 0,
                        0 => longest,
                        _ => random.below(longest + 1),
                    } as u16;
                    input.tick_i = random.one_in(ticking);
                    let corner = |random: &mut Random| match random.below(8) {
                        0 => 0,
                        1 => u32::MAX,
                        2 => 1 << 31,
                        _ => random.word(),
                    };
                    input.random_byte_i = corner(&mut random);
                    input.random_timer_i = corner(&mut random);
                    kept.clock(&input);
                    let taken = clock(&mut core, &mut model, &input);
                    operations +=
                        [input.start_i, taken, input.octets_i > 0, input.tick_i].map(u64::from).iter().sum::<u64>();
                    input.signal_valid_i &= !taken;
                }
                (0..3).for_each(|event| served[event] += model.as_ref().map_or(0, |model| model.served[event]));
            }
            drop(kept);
            println!("{}: {operations} operations; served {served:?}", stringify!($name));
            assert!(operations >= 10_000_000);
        }
    };
}

lockstep!(
    core,
    qcn_rate_calculator_core,
    1,
    Readings {
        full: false,
        hai_multiplier: HaiMultiplier::One,
        efr: Efr::Off,
        trr: Trr::Off,
        jitter_rp: JitterRp::Reload
    }
);
lockstep!(
    full,
    qcn_rate_calculator_full,
    2,
    Readings {
        full: true,
        hai_multiplier: HaiMultiplier::MinCount,
        efr: Efr::ByteStage,
        trr: Trr::FirstCycle,
        jitter_rp: JitterRp::Reload
    }
);
lockstep!(
    netfpga,
    qcn_rate_calculator_netfpga,
    3,
    Readings {
        full: true,
        hai_multiplier: HaiMultiplier::Ordinal,
        efr: Efr::NeitherFired,
        trr: Trr::AnyTime,
        jitter_rp: JitterRp::Always
    }
);

/// Settings that contradict each other and change in every clock: the rate is never above the largest that it was set, and
/// an event is never served longer than its clocks.
#[test]
fn wild_settings_leave_nothing_stuck() {
    use penstock_cosim::qcn_rate_calculator_netfpga::{Core, In};
    let mut random = Random::new(4);
    let mut core = Core::new(4);
    core.clock(&In { rst_i: true, ..In::default() });
    let (mut busy, mut served, mut largest) = (0u64, 0u64, 0u64);
    for clock in 0..1_000_000u64 {
        let input = In {
            rst_i: random.one_in(10_000),
            start_i: random.one_in(1_000),
            signal_valid_i: random.one_in(2),
            fb_i: random.word() as u8 & 63,
            octets_i: if random.one_in(2) { random.word() as u16 } else { 0 },
            tick_i: random.one_in(2),
            random_byte_i: random.word(),
            random_timer_i: random.word(),
            gd_shift_i: random.word() as u8 & 31,
            rpg_threshold_i: random.word() as u8,
            rpg_byte_reset_i: random.word() >> 8,
            rpg_time_reset_i: random.word() >> (8 + random.below(24)),
            rpg_ai_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_hai_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_min_rate_i: rate(&mut random, (1 << 34) - 1),
            rpg_max_rate_i: rate(&mut random, 10_000_000_000),
            rp_jitter_i: random.word() as u16,
            timer_on_i: random.one_in(2),
        };
        let out = core.clock(&input);
        largest = largest.max(input.rpg_max_rate_i);
        busy = if out.busy_o && !input.start_i && !input.rst_i { busy + 1 } else { 0 };
        served += u64::from(out.signal_ready_o && input.signal_valid_i);
        assert!(busy < SERVICE && (clock == 0 || out.current_rate_o <= largest), "clock {clock}");
    }
    assert!(served > 10_000);
}
