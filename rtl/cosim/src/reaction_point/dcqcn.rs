//! DCQCN's reaction point (Zhu et al. 2015) with the clocks of `dcqcn_rate_calculator`.
//!
//! The hardware serves one event at a time, at clocks that follow from the inputs alone. At each of them the state
//! machine is called, and its answer is expected after the latency of the documentation. Octets are given to it as
//! they come; those that end a cycle when the cycle's end is served.

use penstock_schemes::dcqcn::{
    AlphaOrder, AlphaUpdate, Cnp, Config, Counters, Dcqcn, HaiBoundary, HaiFactor, Rp, RtUpdate,
};
use penstock_schemes::{BitRate, Class, Draw, Duration, FlowKey, Instant, Octets, Out, ReactionPoint, Release, To};

use super::qcn::any_rate;
use super::{Event, Machine, Point, Shown};
use crate::{Random, dcqcn};

/// Clocks from the one in which an event is served to the next in which one can be.
const SERVICE: u64 = 38;
/// Clocks until alpha shows a notification, the target rate a cut and a rise, and the current rate either.
const ALPHA: [u64; 2] = [2, 3];
const TARGET_CUT: u64 = 34;
const TARGET_RISE: u64 = 15;
const CURRENT: u64 = 36;
/// Clocks from the one in which a cycle ends to the first in which that is served.
const ENDED: u64 = 2;
/// The largest stage.
const STAGES: i64 = 255;
/// The least time without a notification after which alpha falls.
const LEAST_ALPHA_TIME: u64 = 8;
const ONE: u32 = 1 << 30;

/// The settings, as the pins have them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Alpha as it starts, with 30 fraction bits.
    pub alpha_init: u32,
    /// g is 2 to the minus this: 0 to 15.
    pub g_shift: u8,
    /// Ticks without a notification after which alpha falls; less than 8 count as 8.
    pub alpha_time: u32,
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
        Self {
            alpha_init: match random.below(4) {
                0 => ONE,
                1 => 0,
                _ => random.below(1 + u64::from(ONE)) as u32,
            },
            g_shift: match random.below(4) {
                0 => 8,
                _ => random.below(16) as u8,
            },
            alpha_time: match random.below(6) {
                0 => random.below(12) as u32,
                1 => (1 << 30) - 1,
                _ => random.below(3_000) as u32,
            },
            threshold: match random.below(8) {
                0 => 1 + random.below(254),
                _ => 1 + random.below(6),
            } as u8,
            byte_reset: match random.below(8) {
                0 => 0,
                1 => (1 << 30) - 1,
                2 => 150_000,
                3..=5 => random.below(500),
                _ => random.below(20_000),
            } as u32,
            time_reset: match random.below(8) {
                0 => 0,
                1 => (1 << 30) - 1,
                2..=4 => random.below(100),
                _ => random.below(3_000),
            } as u32,
            ai_rate: any_rate(random, most),
            hai_rate: any_rate(random, most),
            min_rate: any_rate(random, max_rate),
            max_rate,
        }
    }

    /// DCQCN's rules with these: those of the paper, and a target rate that is held at the largest.
    fn config(&self) -> Config {
        Config {
            alpha_order: AlphaOrder::CutFirst,
            alpha_update: AlphaUpdate::PerCnp,
            decrease_time: Duration::ZERO,
            first_cnp_percent: 0,
            rt_update: RtUpdate::EveryCut,
            counters: Counters::Both,
            hai_boundary: HaiBoundary::Above,
            hai_factor: HaiFactor::Stages,
            tr_clamp: true,
            g_inverse: 1 << self.g_shift,
            alpha0: f64::from(self.alpha_init) / f64::from(ONE),
            alpha_time: Duration(self.alpha_time_counted()),
            f: self.threshold.into(),
            byte_reset: Octets(self.byte_reset.into()),
            time_reset: Duration(self.time_reset.into()),
            r_ai: BitRate(self.ai_rate),
            r_hai: BitRate(self.hai_rate),
            min_rate: BitRate(self.min_rate),
            ..dcqcn::defaults()
        }
    }

    fn alpha_time_counted(&self) -> u64 {
        u64::from(self.alpha_time).max(LEAST_ALPHA_TIME)
    }
}

struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("DCQCN's reaction point draws nothing")
    }
}

impl Out<Dcqcn> for Nothing {
    fn send(&mut self, _: To, _: Class, _: Cnp) {
        unreachable!("DCQCN's reaction point sends nothing")
    }
}

/// A value that becomes others some clocks later.
#[derive(Debug, Default)]
struct Delayed {
    value: u64,
    coming: Vec<(u64, u64)>,
}

impl Delayed {
    fn at(&mut self, clock: u64) -> u64 {
        while self.coming.first().is_some_and(|(at, _)| *at <= clock) {
            self.value = self.coming.remove(0).1;
        }
        self.value
    }
}

/// A cycle: what has passed of it, and the clock in which it ended.
#[derive(Debug, Default)]
struct Cycle {
    length: u64,
    passed: u64,
    ended: Option<u64>,
}

impl Cycle {
    fn begin(&mut self) {
        (self.passed, self.ended) = (0, None);
    }

    /// Whether this step, in this clock, is one before the cycle's end.
    fn pass(&mut self, clock: u64, step: u64) -> bool {
        if self.ended.is_none() {
            self.passed += step;
            if self.passed >= self.length {
                self.ended = Some(clock);
            }
            return self.ended.is_none();
        }
        false
    }

    fn waits(&self, clock: u64) -> bool {
        self.ended.is_some_and(|ended| ended + ENDED <= clock)
    }
}

/// DCQCN's reaction point from a reset on, or from a start of its flow.
#[derive(Debug)]
pub struct DcqcnPoint {
    settings: Settings,
    machine: Rp,
    /// Clocks and ticks since the reset.
    clock: u64,
    ticks: u64,
    current_rate: Delayed,
    target_rate: Delayed,
    byte: Cycle,
    time: Cycle,
    /// The octets that ended the cycle of the byte counter.
    ending: u16,
    /// From when an event can be served.
    free_at: u64,
    /// Alpha by itself, in whole numbers, and the ticks until it falls; none before the first notification.
    alpha: u32,
    left: Option<u64>,
    alpha_shown: Delayed,
    /// Notifications, cycles of the byte counter and of the timer that were served, and falls of alpha.
    pub served: [u64; 4],
}

impl DcqcnPoint {
    /// In the clock behind a reset, or a start of its flow.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let rate = || Delayed { value: settings.max_rate, coming: Vec::new() };
        let cycle = |length: u32| Cycle { length: length.into(), ..Cycle::default() };
        Self {
            settings: *settings,
            machine: Rp::new(&settings.config(), BitRate(settings.max_rate)),
            clock: 0,
            ticks: 0,
            current_rate: rate(),
            target_rate: rate(),
            byte: cycle(settings.byte_reset),
            time: cycle(settings.time_reset),
            ending: 0,
            free_at: 0,
            alpha: settings.alpha_init,
            left: None,
            alpha_shown: Delayed { value: settings.alpha_init.into(), coming: Vec::new() },
            served: [0; 4],
        }
    }

    /// The hardware's stages are at their end, where the state machine's go on: a test starts the flow again then.
    #[must_use]
    pub fn overflows(&self) -> bool {
        let [_, _, byte, time] = self.vars();
        self.free_at == self.clock && byte.min(time) >= STAGES - 1
    }

    /// Target rate, alpha, and the stages.
    fn vars(&self) -> [i64; 4] {
        let mut row = [0; 4];
        self.machine.vars(&mut row);
        row
    }

    /// Alpha in this clock.
    pub fn alpha(&mut self) -> u32 {
        self.alpha_shown.at(self.clock) as u32
    }

    /// The outputs in this clock.
    fn show(&mut self) -> Shown {
        let [_, _, byte, time] = self.vars();
        let stage = |n: i64| n.min(STAGES) as u8;
        Shown {
            point: Point {
                current_rate: self.current_rate.at(self.clock),
                target_rate: self.target_rate.at(self.clock),
                byte_stage: stage(byte),
                time_stage: stage(time),
            },
            busy: self.free_at > self.clock,
            ready: self.free_at <= self.clock,
            ..Shown::default()
        }
    }

    /// A notification, or the end of a cycle.
    fn serve(&mut self, event: &Event) {
        let now = Instant(self.ticks);
        let (byte_waits, time_waits) = (self.byte.waits(self.clock), self.time.waits(self.clock));
        let [_, _, byte, time] = self.vars();
        let target_after = if event.signal.is_some() {
            self.machine.on_signal(now, FlowKey(7), Cnp, &mut Nothing, &mut Nothing);
            self.byte.begin();
            self.time.begin();
            // Equation (1): first the part falls, then g is added.
            self.alpha -= self.alpha >> self.settings.g_shift;
            self.alpha_shown.coming.push((self.clock + ALPHA[0], self.alpha.into()));
            self.alpha += ONE >> self.settings.g_shift;
            self.alpha_shown.coming.push((self.clock + ALPHA[1], self.alpha.into()));
            self.left = Some(self.settings.alpha_time_counted());
            self.served[0] += 1;
            TARGET_CUT
        } else if !self.machine.limiting() {
            return;
        } else if byte_waits {
            let frame = Release { flow: FlowKey(7), octets: self.ending, seq: Octets(0), last: false };
            self.machine.on_send(now, frame, &mut Nothing, &mut Nothing);
            assert!(self.vars()[2] > byte, "the state machine's cycle ends too");
            self.byte.begin();
            self.served[1] += 1;
            TARGET_RISE
        } else if time_waits {
            assert!(
                self.machine.next_timeout().is_some_and(|next| next <= now),
                "the state machine's timer is due too"
            );
            self.machine.on_timeout(now, &mut Nothing, &mut Nothing);
            assert!(self.vars()[3] > time);
            self.time.begin();
            self.served[2] += 1;
            TARGET_RISE
        } else {
            return;
        };
        self.free_at = self.clock + SERVICE;
        self.target_rate.coming.push((self.clock + target_after, self.vars()[0] as u64));
        self.current_rate.coming.push((self.clock + CURRENT, self.machine.allowance().rate.0));
    }
}

impl Machine for DcqcnPoint {
    fn clock(&mut self, event: &Event) -> Shown {
        let shown = self.show();
        if event.start {
            *self = Self { served: self.served, ..Self::new(&self.settings) };
            return Shown { ready: false, ..shown };
        }
        if shown.ready {
            self.serve(event);
        }
        // Octets sent in this clock: the state machine counts them at once, unless they end the cycle.
        let octets = event.sent.unwrap_or(0);
        let ended = self.byte.ended.is_some();
        if self.byte.pass(self.clock, octets.into()) {
            let frame = Release { flow: FlowKey(7), octets, seq: Octets(0), last: false };
            self.machine.on_send(Instant(self.ticks), frame, &mut Nothing, &mut Nothing);
        } else if !ended {
            self.ending = octets;
        }
        self.time.pass(self.clock, event.tick.into());
        if let Some(left) = self.left.as_mut().filter(|_| event.tick) {
            *left -= 1;
            if *left == 0 {
                *left = self.settings.alpha_time_counted();
                self.alpha -= self.alpha >> self.settings.g_shift;
                self.alpha_shown.coming.push((self.clock + 1, self.alpha.into()));
                self.served[3] += 1;
            }
        }
        self.ticks += u64::from(event.tick);
        self.clock += 1;
        shown
    }
}
