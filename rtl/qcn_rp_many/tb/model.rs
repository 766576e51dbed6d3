//! `qcn_flows` in words: a state machine of the schemes for each flow, and the calendar as lists. It gives every output in every clock.
//!
//! An event is one call of the flow's state machine, in the clock in which the core has served it. Departures are those of the core's
//! definition: a frame of a flow goes at e = max(D, t), and then D = e + (octets + 20) × gap, in exact numbers that never wrap.

use std::collections::VecDeque;

use penstock_cosim::reaction_point::{QcnSettings, Readings, Words};
use penstock_schemes::Instant;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::{Efr, JitterRp, RateCalculator, Rules};

/// Clocks of a round, and of an event.
pub const ROUND: u64 = 10;
pub const SERVICE: u64 = 90;
/// The clock of an event in which its cycles are drawn.
const DRAWN: u64 = 4;
/// Clocks behind a reset until the memories are being filled.
pub const BOOT: u64 = 88;
/// Times are in 2^-22 clocks.
const FRACTION: u32 = 22;
/// The largest gap.
const LARGEST_GAP: u128 = (1 << 36) - 1;
/// Preamble and gap of a frame on its line.
const LINE: u64 = 20;

/// What a build's parameters say.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub flows: usize,
    pub buckets: u64,
    pub bucket_clocks: u64,
    pub clock_hz: u64,
    pub first_clock: u64,
    pub readings: Readings,
}

/// The inputs of a clock but settings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given {
    pub start: Option<usize>,
    pub signal: Option<(usize, u8)>,
    pub tick: bool,
    pub words: [u32; 2],
    pub request: Option<(usize, u16)>,
    pub release_ready: bool,
}

/// What an event was, and what its flow is behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// 0 start, 1 signal, 2 a cycle of octets, 3 one of the timer.
    pub kind: u8,
    pub flow: usize,
    pub current_rate: u64,
    pub target_rate: u64,
    pub byte_stage: u8,
    pub time_stage: u8,
    pub phase: u8,
}

/// The outputs of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    pub ready: bool,
    pub start_ready: bool,
    pub signal_ready: bool,
    pub draws: [bool; 2],
    pub request_ready: bool,
    pub refused: bool,
    pub release: Option<(usize, u16)>,
    pub event: Option<Served>,
}

#[derive(Debug)]
struct Flow {
    calculator: RateCalculator,
    /// Octets of the cycle that has ended, from the frame on that ended it; and that the flow is in the queue of those.
    beyond: u64,
    queued: bool,
    gap: u128,
    /// D, and the frame that waits.
    departure: u128,
    waits: Option<u16>,
}

impl Flow {
    fn ended(&self) -> bool {
        self.beyond > 0
    }
}

/// An event in service.
#[derive(Debug, Clone, Copy)]
struct Service {
    begun: u64,
    kind: u8,
    flow: usize,
    fb: u8,
    words: [u32; 2],
}

/// A request as it is in clock 1 of a round: the flow, whether it has a frame that waits, and its time.
type Asked = Option<(bool, u128)>;

#[derive(Debug)]
pub struct Model {
    shape: Shape,
    rules: Rules,
    /// Clocks since the reset.
    clock: u64,
    ticks: u64,
    flows: Vec<Flow>,
    buckets: Vec<VecDeque<usize>>,
    /// The bucket at hand, counted without end.
    bucket: u64,
    release: Option<(usize, u16)>,
    asked: Asked,
    moves: bool,
    queue: VecDeque<usize>,
    queue_waits: bool,
    due: bool,
    sweep: usize,
    choice: Option<u8>,
    last: u8,
    service: Option<Service>,
    event: Option<Served>,
    /// Events served by kind; frames that went, and those that moved to a bucket of another turn; how late the latest went, clocks.
    pub served: [u64; 4],
    pub gone: u64,
    pub moved: u64,
    pub latest: u64,
}

impl Model {
    pub fn new(shape: Shape, settings: &QcnSettings) -> Self {
        let rules = settings.rules(&shape.readings);
        let gap = gap(&shape, rules.max_rate);
        let departure = u128::from(shape.first_clock) << FRACTION;
        let calculator = RateCalculator::new(rules);
        let flow = |_| Flow { calculator: calculator.clone(), beyond: 0, queued: false, gap, departure, waits: None };
        Self {
            flows: (0..shape.flows).map(flow).collect(),
            buckets: vec![VecDeque::new(); shape.buckets as usize],
            bucket: shape.first_clock / shape.bucket_clocks,
            shape,
            rules,
            clock: 0,
            ticks: 0,
            release: None,
            asked: None,
            moves: false,
            queue: VecDeque::new(),
            queue_waits: false,
            due: false,
            sweep: 0,
            choice: None,
            last: 3,
            service: None,
            event: None,
            served: [0; 4],
            gone: 0,
            moved: 0,
            latest: 0,
        }
    }

    /// That a flow has no frame that waits, nor one that may go and has not been taken.
    pub fn may_ask(&self, flow: usize) -> bool {
        self.flows[flow].waits.is_none() && self.release.is_none_or(|(gone, _)| gone != flow)
    }

    /// A flow's counters are near the largest that the core has, beyond which it differs from the state machine.
    pub fn overflows(&self, flow: usize) -> bool {
        let calculator = &self.flows[flow].calculator;
        calculator.byte_stage() + calculator.time_stage() > 250
    }

    fn filled(&self) -> u64 {
        BOOT + self.shape.buckets.max(self.shape.flows as u64)
    }

    /// The outputs in a clock; then its inputs count.
    pub fn clock(&mut self, given: &Given) -> Shown {
        let mut shown = Shown { ready: self.clock >= self.filled(), ..Shown::default() };
        if shown.ready {
            let since = self.clock - self.filled();
            self.running(given, since, &mut shown);
        }
        self.ticks += u64::from(given.tick);
        self.clock += 1;
        shown
    }

    fn running(&mut self, given: &Given, since: u64, shown: &mut Shown) {
        let phase = since % ROUND;
        // The time of a round is that of its first clock.
        let now = self.shape.first_clock + since - phase;
        shown.release = self.release;
        shown.event = self.event.take();
        shown.start_ready = phase == 9 && self.choice == Some(0);
        shown.signal_ready = phase == 9 && self.choice == Some(1);
        let free = self.release.is_none() || given.release_ready;
        if given.release_ready {
            self.release = None;
        }
        self.draw(given, since, shown);
        match phase {
            1 => {
                let at = |flow: &Flow| (flow.waits.is_some(), flow.departure.max(u128::from(now) << FRACTION));
                self.asked = given.request.map(|(flow, _)| at(&self.flows[flow]));
            }
            5 => {
                self.queue_waits = !self.queue.is_empty();
                self.departs(now, free);
                shown.request_ready = self.asked.is_some() && !self.moves;
                if let (true, Some((waits, at)), Some((flow, octets))) =
                    (shown.request_ready, self.asked, given.request)
                {
                    shown.refused = waits;
                    if !waits {
                        self.enters(flow, octets, at);
                    }
                }
            }
            7 => {
                let at = self.flows[self.sweep].calculator.next_timeout();
                self.due = at.is_some_and(|at| at.0 <= self.ticks);
            }
            8 => {
                self.choice = if self.service.is_none() { self.choose(given) } else { None };
            }
            9 => {
                if let Some(service) = self.service.take_if(|service| since == service.begun + SERVICE) {
                    self.event = Some(self.serves(&service));
                }
                let choice = self.choice.take();
                self.begins(choice, given, since);
                if !self.due || choice == Some(3) {
                    self.sweep = (self.sweep + 1) % self.shape.flows;
                }
            }
            _ => {}
        }
    }

    /// The flow at hand: it goes, moves to the bucket of its time, or waits; or the calendar goes on.
    fn departs(&mut self, now: u64, free: bool) {
        self.moves = false;
        let list = (self.bucket % self.shape.buckets) as usize;
        let Some(&head) = self.buckets[list].front() else {
            self.bucket += u64::from(self.bucket < now / self.shape.bucket_clocks);
            return;
        };
        let at = self.flows[head].departure;
        let due = (at >> FRACTION) as u64;
        if due <= now && free {
            self.buckets[list].pop_front();
            let flow = &mut self.flows[head];
            let octets = flow.waits.take().expect("what is in the calendar waits");
            flow.departure = at + u128::from(u64::from(octets) + LINE) * flow.gap;
            self.release = Some((head, octets));
            self.gone += 1;
            self.latest = self.latest.max(now - due);
            if flow.ended() {
                flow.beyond += u64::from(octets);
            } else if flow.calculator.byte_count() < i64::from(octets) {
                flow.beyond = octets.into();
                if !flow.queued {
                    flow.queued = true;
                    self.queue.push_back(head);
                }
            } else {
                flow.calculator.count(octets, &mut Words::default());
            }
        } else if due > now && due / self.shape.bucket_clocks != self.bucket {
            self.moves = true;
            self.moved += 1;
            self.buckets[list].pop_front();
            let octets = self.flows[head].waits.expect("what is in the calendar waits");
            self.enters(head, octets, at);
        }
    }

    fn enters(&mut self, flow: usize, octets: u16, at: u128) {
        self.flows[flow].departure = at;
        self.flows[flow].waits = Some(octets);
        let number = (at >> FRACTION) as u64 / self.shape.bucket_clocks;
        let number = number.min(self.bucket + self.shape.buckets - 1);
        self.buckets[(number % self.shape.buckets) as usize].push_back(flow);
    }

    /// A start first, then by turns.
    fn choose(&self, given: &Given) -> Option<u8> {
        if given.start.is_some() {
            return Some(0);
        }
        let waits = [given.signal.is_some(), self.queue_waits, self.due];
        (0..3).map(|n| (self.last + n) % 3 + 1).find(|kind| waits[usize::from(*kind) - 1])
    }

    fn begins(&mut self, choice: Option<u8>, given: &Given, since: u64) {
        let Some(kind) = choice else { return };
        let (flow, fb) = match kind {
            0 => (given.start.expect("it stays"), 0),
            1 => given.signal.expect("it stays"),
            2 => {
                let flow = self.queue.pop_front().expect("it waits");
                self.flows[flow].queued = false;
                if !self.flows[flow].ended() {
                    // A signal or a start has begun another cycle meanwhile.
                    return;
                }
                (flow, 0)
            }
            _ => (self.sweep, 0),
        };
        if kind > 0 {
            self.last = kind;
        }
        self.service = Some(Service { begun: since, kind, flow, fb, words: [0; 2] });
    }

    fn keeps(&self, flow: usize) -> bool {
        let calculator = &self.flows[flow].calculator;
        let (byte, time) = (calculator.byte_stage() == 0, calculator.time_stage() == 0);
        match self.shape.readings.efr {
            Efr::ByteStage => byte,
            Efr::NeitherFired => byte && time,
            Efr::Off => false,
        }
    }

    fn draw(&mut self, given: &Given, since: u64, shown: &mut Shown) {
        let Some(service) = self.service.filter(|service| since == service.begun + DRAWN) else { return };
        let always = self.shape.readings.jitter_rp == JitterRp::Always;
        let timer = self.rules.time_reset.is_some();
        shown.draws = match service.kind {
            0 => [false, always && timer],
            1 => [always && !self.keeps(service.flow), always && timer],
            2 => [true, false],
            _ => [false, timer],
        };
        self.service = Some(Service { words: given.words, ..service });
    }

    /// The event has been served.
    fn serves(&mut self, service: &Service) -> Served {
        let now = Instant(self.ticks);
        let keeps = self.keeps(service.flow);
        let flow = &mut self.flows[service.flow];
        let [byte_word, time_word] = service.words;
        let mut words = Words::default();
        match service.kind {
            0 => {
                flow.calculator.reset();
                flow.beyond = 0;
                words.0.push_back(time_word);
                flow.calculator.start_timer(now, &mut words);
            }
            1 => {
                if !keeps {
                    words.0.push_back(byte_word);
                    flow.beyond = 0;
                }
                words.0.push_back(time_word);
                flow.calculator.decrease(now, QntzFb::from_steps(service.fb), &mut words);
            }
            2 => {
                words.0.push_back(byte_word);
                let before = flow.calculator.byte_stage();
                flow.calculator.count(u16::try_from(flow.beyond).unwrap_or(u16::MAX), &mut words);
                assert!(flow.calculator.byte_stage() > before, "the state machine's cycle ends too");
                flow.beyond = 0;
            }
            _ => {
                words.0.push_back(time_word);
                let before = flow.calculator.time_stage();
                flow.calculator.on_timeout(now, &mut words);
                assert!(flow.calculator.time_stage() > before, "the state machine's timer is due too");
            }
        }
        let calculator = &flow.calculator;
        flow.gap = gap(&self.shape, calculator.current_rate());
        self.served[usize::from(service.kind)] += 1;
        let stage = |n: u32| u8::try_from(n).expect("a start comes in time");
        Served {
            kind: service.kind,
            flow: service.flow,
            current_rate: calculator.current_rate(),
            target_rate: calculator.target_rate(),
            byte_stage: stage(calculator.byte_stage()),
            time_stage: stage(calculator.time_stage()),
            phase: calculator.phase() as u8,
        }
    }
}

/// Clocks that an octet takes at a rate, in 2^-22, rounded up.
fn gap(shape: &Shape, rate: u64) -> u128 {
    let octet = u128::from(shape.clock_hz * 8) << FRACTION;
    if rate == 0 { LARGEST_GAP } else { octet.div_ceil(u128::from(rate)).min(LARGEST_GAP) }
}
