//! The state machines of reaction points, told what the pins of a NIC show, and what its rates then are in every clock.
//!
//! QCN's hardware serves one event at a time; which, and in which clock, follows from the pins (see `qcn_rp`). The state
//! machine is called in that clock, and its answer expected as many clocks later as the documentation says.

use std::collections::VecDeque;

use penstock_schemes::parts::gain::Gain;
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::{
    AiHaiSequence, ByteCycle, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator,
    Rules, Trr,
};
use penstock_schemes::smcc::{Config, Notice, Rp, Smcc};
use penstock_schemes::{
    BitRate, Class, CpId, Draw, Duration, Instant, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value,
};

/// Clocks from the one in which QCN's reaction point serves an event to the next in which it can; to the one in which its
/// target rate shows it; to the one in which its current rate does.
const SERVICE: u64 = 51;
const TARGET: u64 = 19;
const CURRENT: u64 = 25;

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// QCN: quantised feedback.
    pub fb: u8,
    /// SMCC: who says it, and the queue's offset and growth, octets.
    pub cp: u64,
    pub q_off: i32,
    pub q_delta: i32,
}

/// What happens at a reaction point in a clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    pub start: bool,
    pub signal: Option<Message>,
    pub sent: Option<u16>,
    pub tick: bool,
    /// Random words for byte counter and timer, and whether the NIC says that it draws them.
    pub words: [u32; 2],
    pub draws: [bool; 2],
}

/// What a reaction point shows in a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    pub current_rate: u64,
    pub target_rate: u64,
    pub byte_stage: u8,
    pub time_stage: u8,
}

/// A state machine, and the delays of the hardware.
pub trait Machine {
    /// What the reaction point shows in this clock.
    fn shows(&mut self) -> Point;
    /// What happens in it.
    fn clock(&mut self, event: &Event);
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
}

/// What is left of a cycle: what has passed meanwhile counts before its length is known.
#[derive(Debug, Default)]
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

    fn known(&self) -> bool {
        self.running && self.coming.is_none()
    }

    fn pass(&mut self, step: i64, ended: bool) {
        if self.running && (self.coming.is_some() || !ended) {
            self.value -= step;
        }
    }
}

struct Words(VecDeque<u32>);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0.pop_front().expect("no more words than counters")
    }
}

/// The settings of QCN's reaction points, as the registers have them.
#[derive(Debug, Clone, Copy)]
pub struct QcnSettings {
    pub gd_shift: u8,
    pub threshold: u8,
    pub byte_reset: u32,
    pub time_reset: u32,
    pub ai_rate: u64,
    pub hai_rate: u64,
    pub min_rate: u64,
    pub max_rate: u64,
    pub jitter: u16,
    pub timer_on: bool,
}

/// QCN's reaction point, features `Full`, from a start of its flow on.
pub struct Qcn {
    calculator: RateCalculator,
    clock: u64,
    ticks: u64,
    current: Delayed,
    target: Delayed,
    byte: Left,
    time: Left,
    free_at: u64,
    /// Octets since the frame that ended a cycle which is not served yet.
    waiting: u64,
    max_rate: u64,
}

impl Qcn {
    /// A reaction point in the clock in which its flow starts.
    pub fn new(s: &QcnSettings) -> Self {
        let calculator = RateCalculator::new(Rules {
            gd_inverse: 1 << s.gd_shift,
            rpg_min_dec_fac: 50,
            min_rate: s.min_rate,
            max_rate: s.max_rate,
            r_ai: s.ai_rate,
            r_hai: s.hai_rate,
            threshold: s.threshold.into(),
            byte_cycle: ByteCycle::Fixed(s.byte_reset.into()),
            time_reset: s.timer_on.then_some(Duration(s.time_reset.into())),
            jitter: Spread::new(f64::from(s.jitter) / 65_536.0),
            jitter_rp: JitterRp::Reload,
            decrease_order: DecreaseOrder::Simultaneous,
            fr_cycles: FrCycles::Threshold,
            cycle_halving: CycleHalving::PerCounter,
            hai_multiplier: HaiMultiplier::MinCount,
            ai_hai_sequence: AiHaiSequence::Counters,
            efr: Efr::ByteStage,
            trr: Trr::FirstCycle,
            tr_clamp: true,
        });
        Self {
            calculator,
            clock: 0,
            ticks: 0,
            current: Delayed::default(),
            target: Delayed::default(),
            byte: Left::default(),
            time: Left::default(),
            free_at: 0,
            waiting: 0,
            max_rate: s.max_rate,
        }
    }

    fn timer_left(&self) -> Option<i64> {
        self.calculator.next_timeout().map(|at| at.0 as i64 - self.ticks as i64)
    }
}

impl Machine for Qcn {
    fn shows(&mut self) -> Point {
        Point {
            current_rate: self.current.at(self.clock),
            target_rate: self.target.at(self.clock),
            byte_stage: self.calculator.byte_stage().min(255) as u8,
            time_stage: self.calculator.time_stage().min(255) as u8,
        }
    }

    fn clock(&mut self, event: &Event) {
        let clock = self.clock;
        let now = Instant(self.ticks);
        let mut words = Words(VecDeque::new());
        let byte_ended = self.byte.at(clock) < 0 && self.byte.known();
        let time_ended = self.time.at(clock) <= 0 && self.time.known();
        let ready = self.free_at <= clock && !event.start;
        assert!(ready || event.signal.is_none(), "a message is taken when none is served");
        let mut served = false;
        if event.start {
            self.calculator.reset();
            self.waiting = 0;
            self.byte.begin(clock, self.calculator.byte_count());
            self.time = Left::default();
            self.calculator.start_timer(now, &mut words);
            if let Some(length) = self.timer_left() {
                self.time.begin(clock, length);
            }
            self.current = Delayed { value: self.max_rate, coming: None };
            self.target = Delayed { value: self.max_rate, coming: None };
            self.free_at = clock + SERVICE;
        } else if let Some(message) = event.signal {
            let keeps = self.calculator.byte_stage() == 0;
            self.calculator.decrease(now, QntzFb::from_steps(message.fb), &mut words);
            if !keeps {
                self.waiting = 0;
                self.byte.begin(clock, self.calculator.byte_count());
            }
            if let Some(length) = self.timer_left() {
                self.time.begin(clock, length);
            }
            served = true;
        } else if ready && byte_ended {
            words.0.push_back(event.words[0]);
            let before = self.calculator.byte_stage();
            self.calculator.count(u16::try_from(self.waiting).unwrap_or(u16::MAX), &mut words);
            assert!(self.calculator.byte_stage() > before, "the state machine's cycle ends too");
            assert!(words.0.is_empty() && event.draws[0], "a word is drawn");
            self.waiting = 0;
            self.byte.begin(clock, self.calculator.byte_count());
            served = true;
        } else if ready && time_ended {
            words.0.push_back(event.words[1]);
            let before = self.calculator.time_stage();
            self.calculator.on_timeout(now, &mut words);
            assert!(self.calculator.time_stage() > before, "the state machine's timer is due too");
            assert!(words.0.is_empty() && event.draws[1], "a word is drawn");
            let length = self.timer_left().expect("it runs");
            self.time.begin(clock, length);
            served = true;
        }
        let draws = [
            ready && event.signal.is_none() && byte_ended,
            ready && event.signal.is_none() && !byte_ended && time_ended,
        ];
        assert_eq!(event.draws, draws, "words are drawn when cycles end");
        if served {
            self.free_at = clock + SERVICE;
            self.target.coming = Some((clock + TARGET, self.calculator.target_rate()));
            self.current.coming = Some((clock + CURRENT, self.calculator.current_rate()));
        }
        if let Some(octets) = event.sent {
            self.byte.pass(octets.into(), byte_ended);
            if self.waiting > 0 || self.calculator.byte_count() < i64::from(octets) {
                self.waiting += u64::from(octets);
            } else {
                self.calculator.count(octets, &mut words);
            }
        }
        self.time.pass(event.tick.into(), time_ended);
        self.ticks += u64::from(event.tick);
        self.clock += 1;
    }
}

struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("SMCC's reaction point draws nothing")
    }
}

impl Out<Smcc> for Nothing {
    fn send(&mut self, _: To, _: Class, _: Notice) {
        unreachable!("SMCC's reaction point sends nothing")
    }
}

/// SMCC's reaction point: what it takes in a clock, its rate shows in the next.
pub struct SmccPoint {
    config: Config,
    max_rate: u64,
    machine: Rp,
}

impl SmccPoint {
    /// A reaction point whose flow starts.
    pub fn new(config: &Config, max_rate: u64) -> Self {
        Self { config: config.clone(), max_rate, machine: Rp::new(config, BitRate(max_rate)) }
    }
}

impl Machine for SmccPoint {
    fn shows(&mut self) -> Point {
        Point { current_rate: self.machine.allowance().rate.0, ..Point::default() }
    }

    fn clock(&mut self, event: &Event) {
        assert_eq!(event.draws, [false; 2], "SMCC's reaction point draws nothing");
        if event.start {
            self.machine = Rp::new(&self.config, BitRate(self.max_rate));
        } else if let Some(message) = event.signal {
            let notice = Notice { cp: CpId(message.cp), q_off: message.q_off, q_delta: message.q_delta };
            self.machine.on_signal(Instant::ZERO, notice, &mut Nothing, &mut Nothing);
        }
    }
}

/// SMCC's defaults.
pub fn smcc_defaults() -> Config {
    let info = SCHEMES.iter().find(|info| info.name == "smcc").expect("it is there");
    let values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
    match SchemeConfig::new("smcc", &values) {
        Some(SchemeConfig::Smcc(config)) => config,
        _ => unreachable!("defaults fit"),
    }
}

/// A gain as a register has it.
pub fn gain(rate: BitRate, octets: u64) -> u64 {
    let gain = Gain::new(rate.0, octets);
    u64::from(gain.mantissa()) << 7 | u64::from(gain.shift() as u8 & 0x7f)
}
