//! QCN's rate calculator against the state machine of the schemes, all outputs in every clock.
//!
//! The hardware serves one event at a time, at clocks that follow from the inputs alone; at each of them the state machine
//! is called. A frame whose octets end a cycle is given to it when the cycle's end is served, with what came until then.

use std::collections::VecDeque;

use penstock_cosim::Random;
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
const SETS: u64 = 400;
const CLOCKS: u64 = 30_000;

/// The words of a clock, in the order in which the state machine draws them, and how many it has drawn.
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
}

impl Left {
    fn begin(&mut self, clock: u64, length: i64) {
        *self = Self { value: 0, running: true, coming: Some((clock + SERVICE, length)) };
    }

    fn at(&mut self, clock: u64) -> i64 {
        if let Some((_, length)) = self.coming.take_if(|(at, _)| *at <= clock) {
            self.value += length;
        }
        self.value
    }

    /// What passes in a clock counts, unless the cycle has ended and waits.
    fn pass(&mut self, step: i64, ended: bool) {
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
            let bits = random.below(20);
            random.below((most >> bits) + 1)
        }
    }
}

fn rules(random: &mut Random, readings: &Readings) -> (Rules, u8) {
    let max_rate = match random.below(4) {
        0 => (1 << 34) - 1,
        1 => 1_000_000_000,
        2 => 10_000_000_000,
        _ => 1 + random.below((1 << 34) - 1),
    };
    let gd_shift = 6 + random.below(11) as u8;
    let rules = Rules {
        gd_inverse: 1 << gd_shift,
        rpg_min_dec_fac: 50,
        min_rate: rate(random, max_rate),
        max_rate,
        r_ai: rate(random, (1 << 34) - 1),
        r_hai: rate(random, (1 << 34) - 1),
        threshold: match random.below(8) {
            0 => random.below(255) as u32,
            1 => 0,
            _ => 1 + random.below(6) as u32,
        },
        byte_cycle: ByteCycle::Fixed(match random.below(8) {
            0 => 0,
            1 => (1 << 24) - 1,
            2 => 150_000,
            _ => random.below(20_000),
        }),
        time_reset: (readings.full && !random.one_in(8)).then(|| {
            Duration(match random.below(8) {
                0 => 0,
                1 => (1 << 24) - 1,
                _ => random.below(3_000),
            })
        }),
        jitter: Spread::NONE,
        jitter_rp: readings.jitter_rp,
        decrease_order: DecreaseOrder::Simultaneous,
        fr_cycles: FrCycles::Threshold,
        cycle_halving: CycleHalving::PerCounter,
        hai_multiplier: readings.hai_multiplier,
        ai_hai_sequence: AiHaiSequence::Counters,
        efr: readings.efr,
        trr: readings.trr,
        tr_clamp: true,
    };
    (rules, gd_shift)
}

/// What a build is fixed to.
struct Readings {
    full: bool,
    hai_multiplier: HaiMultiplier,
    efr: Efr,
    trr: Trr,
    jitter_rp: JitterRp,
}

/// From this many cycles on the hardware's factor of R_HAI stays, and only a target rate at its largest value agrees.
fn factor_stays(calculator: &RateCalculator, rules: &Rules) -> bool {
    let (byte, time) = (calculator.byte_stage(), calculator.time_stage());
    let cycles = match rules.hai_multiplier {
        HaiMultiplier::Ordinal => byte + time,
        _ => byte.min(time),
    };
    cycles >= STAGES - 1 && calculator.target_rate() < rules.max_rate
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $seed:expr, $readings:expr) => {
        #[test]
        #[allow(clippy::cognitive_complexity)]
        fn $name() {
            use penstock_cosim::$core::{Core, In};
            let readings: Readings = $readings;
            let mut random = Random::new($seed);
            let mut core = Core::new($seed);
            let (mut operations, mut served) = (0u64, [0u64; 3]);
            let (mut clock, mut ticks) = (0u64, 0u64);
            for set in 0..SETS {
                let (mut rules, gd_shift) = rules(&mut random, &readings);
                let spread = match random.below(4) {
                    0 => 0,
                    1 => 65_535,
                    2 => 9_830,
                    _ => random.below(65_536) as u16,
                };
                rules.jitter = Spread::new(f64::from(spread) / 65_536.0);
                let mut input = In {
                    rst_i: true,
                    gd_shift_i: gd_shift,
                    rpg_threshold_i: rules.threshold as u8,
                    rpg_byte_reset_i: match rules.byte_cycle {
                        ByteCycle::Fixed(octets) => octets as u32,
                        ByteCycle::AtRate { .. } => unreachable!(),
                    },
                    rpg_time_reset_i: rules.time_reset.map_or(1000, |time| time.0 as u32),
                    rpg_ai_rate_i: rules.r_ai,
                    rpg_hai_rate_i: rules.r_hai,
                    rpg_min_rate_i: rules.min_rate,
                    rpg_max_rate_i: rules.max_rate,
                    rp_jitter_i: spread,
                    timer_on_i: rules.time_reset.is_some(),
                    ..In::default()
                };
                core.clock(&input);
                input.rst_i = false;

                // How dense the inputs are; signals back to back, or none.
                let (sends, longest) = (1 + random.below(20), [64, 1518, 9018, 65_535][random.below(4) as usize]);
                let rarely = if random.one_in(2) { 2 } else { 100 };
                let ticking = 1 + random.below(rarely);
                let signals = [1, 20, 500, 5_000, 100_000][random.below(5) as usize];

                let mut calculator = RateCalculator::new(rules);
                let mut shown = (Delayed::default(), Delayed::default());
                shown.0.is(rules.max_rate);
                shown.1.is(rules.max_rate);
                let (mut byte, mut time) = (Left::default(), Left::default());
                let (mut free_at, mut waiting) = (clock, 0u64);
                let mut signal = None;
                for first in (0..CLOCKS).map(|c| c == 0) {
                    let restart = random.one_in(10_000)
                        || (readings.full && free_at == clock && factor_stays(&calculator, &rules));
                    if signal.is_none() && random.one_in(signals) {
                        signal = Some(random.below(64) as u8);
                    }
                    let sent = random.one_in(sends).then(|| match random.below(8) {
                        0 => longest,
                        1 => 0,
                        _ => random.below(longest + 1),
                    } as u16);
                    let tick = random.one_in(ticking);
                    let corner = |random: &mut Random| match random.below(8) {
                        0 => 0,
                        1 => u32::MAX,
                        2 => 1 << 31,
                        _ => random.word(),
                    };
                    let (random_byte, random_timer) = (corner(&mut random), corner(&mut random));
                    input.start_i = restart;
                    input.signal_valid_i = signal.is_some();
                    input.fb_i = signal.unwrap_or(random.word() as u8 & 63);
                    input.sent_valid_i = sent.is_some();
                    input.octets_i = sent.unwrap_or(random.word() as u16);
                    input.tick_i = tick;
                    input.random_byte_i = random_byte;
                    input.random_timer_i = random_timer;
                    let out = core.clock(&input);
                    operations +=
                        [restart, signal.is_some(), sent.is_some(), tick].into_iter().map(u64::from).sum::<u64>();

                    // What the state machine says.
                    let begins = restart || first;
                    let ready = free_at <= clock && !begins;
                    let stage = |n: u32| n.min(STAGES) as u8;
                    let signed = |n: u32| i64::from((n << 6) as i32 >> 6);
                    let (byte_left, time_left) = (byte.at(clock), time.at(clock));
                    assert_eq!(
                        (
                            (out.current_rate_o, out.target_rate_o),
                            (out.byte_stage_o, out.time_stage_o, out.phase_o),
                            (signed(out.byte_left_o), signed(out.time_left_o)),
                            (out.signal_ready_o, out.busy_o),
                        ),
                        (
                            (shown.0.at(clock), shown.1.at(clock)),
                            (stage(calculator.byte_stage()), stage(calculator.time_stage()), calculator.phase() as u8),
                            (byte_left, time_left),
                            (ready, free_at > clock),
                        ),
                        "seed {}, set {set}, clock {clock}: {rules:?}",
                        $seed
                    );

                    // The events of this clock.
                    let now = Instant(ticks);
                    let mut words = Words(VecDeque::new(), 0);
                    let byte_ended = byte.running && byte.coming.is_none() && byte_left < 0;
                    let time_ended = time.running && time.coming.is_none() && time_left <= 0;
                    let left =
                        |calculator: &RateCalculator| calculator.next_timeout().map(|at| at.0 as i64 - ticks as i64);
                    let event = if begins {
                        calculator.reset();
                        waiting = 0;
                        byte.begin(clock, calculator.byte_count());
                        time = Left::default();
                        if restart {
                            words.0.push_back(random_timer);
                            calculator.start_timer(now, &mut words);
                            if let Some(length) = left(&calculator) {
                                time.begin(clock, length);
                            }
                        }
                        shown.0.is(rules.max_rate);
                        shown.1.is(rules.max_rate);
                        free_at = clock + SERVICE;
                        None
                    } else if !ready {
                        None
                    } else if let Some(fb) = signal.take() {
                        let keeps = match readings.efr {
                            Efr::ByteStage => calculator.byte_stage() == 0,
                            Efr::NeitherFired => calculator.byte_stage() == 0 && calculator.time_stage() == 0,
                            Efr::Off => false,
                        };
                        if !keeps {
                            words.0.push_back(random_byte);
                        }
                        if readings.jitter_rp == JitterRp::Always {
                            words.0.push_back(random_timer);
                        }
                        calculator.decrease(now, QntzFb::from_steps(fb), &mut words);
                        if !keeps {
                            waiting = 0;
                            byte.begin(clock, calculator.byte_count());
                        }
                        if let Some(length) = left(&calculator) {
                            time.begin(clock, length);
                        }
                        Some(0)
                    } else if byte_ended {
                        words.0.push_back(random_byte);
                        let before = calculator.byte_stage();
                        calculator.count(u16::try_from(waiting).unwrap_or(u16::MAX), &mut words);
                        assert!(calculator.byte_stage() > before, "the state machine's cycle ends too");
                        waiting = 0;
                        byte.begin(clock, calculator.byte_count());
                        Some(1)
                    } else if time_ended {
                        words.0.push_back(random_timer);
                        let before = calculator.time_stage();
                        calculator.on_timeout(now, &mut words);
                        assert!(calculator.time_stage() > before, "the state machine's timer is due too");
                        time.begin(clock, left(&calculator).expect("it runs"));
                        Some(2)
                    } else {
                        None
                    };
                    assert_eq!(u8::from(out.draw_byte_o) + u8::from(out.draw_timer_o), words.1, "words are drawn");
                    if let Some(event) = event {
                        served[event] += 1;
                        free_at = clock + SERVICE;
                        shown.1.becomes(clock + TARGET, calculator.target_rate());
                        shown.0.becomes(clock + CURRENT, calculator.current_rate());
                    }

                    // What passes in this clock: the state machine is told at once, unless it ends the cycle.
                    if let Some(octets) = sent {
                        byte.pass(octets.into(), byte_ended);
                        if waiting > 0 || calculator.byte_count() < i64::from(octets) {
                            waiting += u64::from(octets);
                        } else {
                            calculator.count(octets, &mut words);
                        }
                    }
                    time.pass(tick.into(), time_ended);
                    ticks += u64::from(tick);
                    clock += 1;
                }
            }
            println!("{}: {clock} clocks, {operations} operations; served {served:?}", stringify!($name));
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
            sent_valid_i: random.one_in(2),
            octets_i: random.word() as u16,
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
