//! A NIC with its lines, host, memories and bus, and the frames that must come out of it.
//!
//! Every frame that enters is expected at one point: in the host's queue, on its line, or in a counter. Reaction points are
//! compared in every clock with the state machines of [`penstock_cosim::reaction_point`].

use std::collections::VecDeque;

use penstock_cosim::Random;
use penstock_cosim::axil::{Master, NIC_REGISTERS};
use penstock_cosim::bucket::{Bucket, DEPTH};
use penstock_cosim::messages::{SMCC, mac_at, message_at, message_of, u16_at};
use penstock_cosim::reaction_point::{Event, Machine, Message};
use penstock_cosim::stream::{Beat, Frame, Sink, Source};

use crate::pins::{LINES, Nic, POINTS, Pins, Shown};

/// The longest frame without FCS, and the octets of a longer one that pass a delay line.
pub const LONGEST: usize = 1514;
const CUT: usize = 1520;
const FCS: usize = 4;
/// Octets on the line beside a frame's.
const LINE: usize = 20;
const CONTROL: u16 = 0x8808;
pub const CONTROL_ADDRESS: u64 = 0x0180_c200_0001;
/// Addresses of the reaction points, and where their packets go. The third ends as a beat does that is not full: a frame
/// that ends within it must not have it.
pub const MACS: [u64; POINTS] = [0x0200_0000_0011, 0x0200_0000_0012, 0x0200_0300_0000, 0x7eff_0000_0011];
pub const SINK_MAC: u64 = 0x0200_0000_00aa;

/// The frame of which a beat has gone in, once its fate is known: with its last beat, or where it is cut.
fn decided(coming: &mut VecDeque<Frame>, beats: &mut usize, last: bool) -> Option<Frame> {
    *beats += 1;
    let cut_here = *beats == CUT / 8;
    let frame = coming.front().expect("it is coming");
    let frame = (if frame.octets.len() > CUT { cut_here } else { last }).then(|| frame.clone());
    if last {
        coming.pop_front();
        *beats = 0;
    }
    frame
}

/// Counters of a line, in the order of [`LINE_COUNTERS`].
pub const LINE_COUNTERS: [&str; 9] = [
    "line[].arrived",
    "line[].arrived_octets",
    "line[].runts",
    "line[].oversized",
    "line[].bad",
    "delay_in[].cut",
    "pfc[].frames",
    "pfc[].malformed",
    "pfc[].other",
];

/// The frames that are expected on a line.
#[derive(Default)]
pub struct Line {
    pub source: Source,
    coming: VecDeque<Frame>,
    beats: usize,
    /// A frame is being sent; from this clock on the next may begin.
    inside: bool,
    free_at: u64,
    pub sink: Sink,
    pub counters: [u64; 9],
    /// Frames seen, their octets with FCS.
    pub seen: u64,
    pub seen_octets: u64,
    /// Frames of the host that are to come: the path of each reaction point, and at last that of no reaction point; their lengths
    /// before they were cut.
    ways: [VecDeque<(Frame, usize)>; POINTS + 1],
    next_sequence: [u32; POINTS],
    /// Frames that were expected and did not come.
    pub missing: u64,
    /// When the line gets free, in units of a bit time.
    ideal: f64,
    begun: bool,
    started: u64,
    /// First beats, at which clock.
    pub starts: Vec<u64>,
}

/// The rules that sources and sinks keep.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    /// Frames that arrive keep the gap of a 1 Gb/s line.
    pub line_rate: bool,
    /// Beats of a frame come without a gap: true; else each comes with probability 1 / `gap`.
    pub gap: u64,
    /// Sinks stall in one of this number of clocks.
    pub line_stalls: u64,
    pub host_stalls: u64,
    /// Frames may be lost before the lines, and before the host.
    pub line_lossy: bool,
    pub host_lossy: bool,
}

impl Traffic {
    /// Nothing stalls, and nothing may be lost.
    pub const GOOD: Self = Self {
        line_rate: true,
        gap: 1,
        line_stalls: u64::MAX,
        host_stalls: u64::MAX,
        line_lossy: false,
        host_lossy: false,
    };
}

/// A NIC and all around it.
pub struct World<N, M> {
    pub nic: N,
    pub random: Random,
    pub clock: u64,
    pub bus: Master,
    pub pins: Pins,
    pub lines: [Line; LINES],
    pub traffic: Traffic,
    host: Source,
    host_coming: VecDeque<Frame>,
    host_beats: usize,
    host_sink: Sink,
    /// The port of the host's frames that are no reaction point's.
    pub host_port: usize,
    /// Frames that are to come to the host, by line.
    for_host: [VecDeque<Frame>; LINES],
    pub host_seen: u64,
    pub host_missing: u64,
    /// Counters that are expected: good messages, malformed, unknown; paced, unpaced; frames too long for a bucket.
    pub receiver: [u64; 3],
    pub steered: [u64; 2],
    pub too_long: [u64; POINTS],
    /// Lengths of the frames that each reaction point has let go and that are not on the line yet, octets with FCS.
    sent: [VecDeque<u16>; POINTS],
    /// Messages that are to come to each reaction point. With `any_message` they all say the same, and some may be lost.
    pub messages: [VecDeque<Message>; POINTS],
    pub any_message: Option<Message>,
    pub signals: u64,
    /// None until the flow of a reaction point starts.
    pub machines: [Option<M>; POINTS],
    /// Octets of generated frames.
    pub generated: [usize; POINTS],
    /// Line rate, bit/s.
    pub rate: u64,
    buckets: [Bucket; POINTS],
    /// The outputs of the clock before, with whose end a bucket passes to the next.
    rate_before: [Option<u64>; POINTS],
    stall: [u64; LINES + 1],
    quiet: u64,
    /// Rates as they changed: time and rate.
    rates: [Vec<(u64, u64)>; POINTS],
    pub traced: u64,
    /// Events of the reaction points.
    pub events: u64,
}

impl<N: Nic, M: Machine> World<N, M> {
    pub fn new(seed: u64) -> Self {
        Self {
            nic: N::new(seed),
            random: Random::new(seed),
            clock: 0,
            bus: Master::new(NIC_REGISTERS),
            pins: Pins::default(),
            lines: Default::default(),
            traffic: Traffic::GOOD,
            host: Source::<u64>::default(),
            host_coming: VecDeque::new(),
            host_beats: 0,
            host_sink: Sink::<u64>::default(),
            host_port: 0,
            for_host: Default::default(),
            host_seen: 0,
            host_missing: 0,
            receiver: [0; 3],
            steered: [0; 2],
            too_long: [0; POINTS],
            sent: Default::default(),
            messages: Default::default(),
            any_message: None,
            signals: 0,
            machines: Default::default(),
            generated: [LONGEST + FCS; POINTS],
            rate: 1_000_000_000,
            buckets: Default::default(),
            rate_before: [None; POINTS],
            stall: [0; LINES + 1],
            quiet: 0,
            rates: Default::default(),
            traced: 0,
            events: 0,
        }
    }

    /// A reset: all around the NIC begins again too.
    pub fn reset(&mut self) {
        let seed = self.random.next();
        let fresh = Self::new(seed);
        let old = std::mem::replace(self, fresh);
        self.nic = old.nic;
        self.clock = old.clock;
        self.events = old.events;
        // The lines bring something all the same.
        let beat = Beat { data: seed, keep: 0xff, last: true, user: true };
        self.nic.clock(&Pins { reset: true, line: [Some(beat); LINES], ..Pins::default() });
    }

    /// Writes a register.
    pub fn set(&mut self, name: &str, value: u64, starts: &impl Fn() -> M) {
        self.bus.write(name, value);
        while self.bus.busy() {
            self.step(starts);
        }
    }

    /// Reads one.
    pub fn get(&mut self, name: &str, starts: &impl Fn() -> M) -> u64 {
        self.bus.read(name);
        while self.bus.busy() {
            self.step(starts);
        }
        self.bus.answer().expect("it has been read")
    }

    /// A frame is to arrive from a line.
    pub fn arrive(&mut self, p: usize, frame: Frame) {
        self.lines[p].source.push(&frame);
        self.lines[p].coming.push_back(frame);
    }

    /// The host sends a frame.
    pub fn send(&mut self, frame: Frame) {
        self.host.push(&frame);
        self.host_coming.push_back(frame);
    }

    /// Frames that wait at a line, and at the host.
    pub fn waiting(&self, p: usize) -> usize {
        self.lines[p].coming.len()
    }

    pub fn host_waiting(&self) -> usize {
        self.host_coming.len()
    }

    /// A frame has arrived whole.
    fn arrived(&mut self, p: usize, mut frame: Frame) {
        let octets = frame.octets.len();
        let line = &mut self.lines[p].counters;
        line[0] += 1;
        line[1] += (octets + FCS).min(65_535) as u64;
        line[2] += u64::from(octets + FCS < 64);
        line[3] += u64::from(octets > LONGEST);
        line[4] += u64::from(frame.bad);
        if octets > CUT {
            line[5] += 1;
            frame.octets.truncate(CUT);
            frame.bad = true;
        }
        if u16_at(&frame.octets, 12) == Some(CONTROL) {
            let right = octets == 60 && !frame.bad && mac_at(&frame.octets, 0) == Some(CONTROL_ADDRESS);
            line[if !right {
                7
            } else if u16_at(&frame.octets, 14) == Some(0x0101) {
                6
            } else {
                8
            }] += 1;
            return;
        }
        if message_at(&frame.octets, N::KIND).is_none() {
            self.for_host[p].push_back(frame);
            return;
        }
        if frame.bad || !(60..=120).contains(&octets) {
            self.receiver[1] += 1;
            return;
        }
        self.receiver[0] += 1;
        let message = message_of(&frame.octets, N::KIND);
        if N::KIND == SMCC || message.fb > 0 {
            match MACS.iter().position(|&mac| Some(mac) == mac_at(&frame.octets, 0)) {
                Some(point) => self.messages[point].push_back(message),
                None => self.receiver[2] += 1,
            }
        }
    }

    /// The host's frame has gone in whole.
    fn went(&mut self, mut frame: Frame) {
        let octets = frame.octets.len();
        let point = mac_at(&frame.octets, 6).and_then(|mac| MACS.iter().position(|&m| m == mac));
        let (way, port) = point.map_or((POINTS, self.host_port), |i| (i, N::PORT_OF[i]));
        self.steered[usize::from(point.is_none())] += 1;
        if let Some(i) = point.filter(|_| (octets + FCS + LINE) as u64 > DEPTH) {
            self.too_long[i] += 1;
            return;
        }
        if octets > CUT {
            frame.octets.truncate(CUT);
            frame.bad = true;
        }
        self.lines[port].ways[way].push_back((frame, octets));
    }

    /// A frame is on a line whole: the host's, or a generated one.
    fn left(&mut self, p: usize, frame: &Frame) {
        let lossless = !self.traffic.line_lossy;
        let line = &mut self.lines[p];
        line.seen += 1;
        let mut length = frame.octets.len();
        let mut found = false;
        for way in &mut line.ways {
            let most = if lossless { 1 } else { way.len() };
            if let Some(index) = way.iter().take(most).position(|(first, _)| first == frame) {
                line.missing += index as u64;
                length = way[index].1;
                way.drain(..=index);
                found = true;
                break;
            }
        }
        if !found {
            let octets = &frame.octets;
            let point = MACS.iter().position(|&mac| mac_at(octets, 6) == Some(mac)).expect("a frame of someone");
            assert_eq!((N::PORT_OF[point], mac_at(octets, 0)), (p, Some(SINK_MAC)), "clock {}", self.clock);
            let made = (octets.len() + FCS, u16_at(octets, 12));
            assert_eq!(made, (self.generated[point], Some(0x0800)), "clock {}, point {point}", self.clock);
            let sequence = u32::from_be_bytes(octets[42..46].try_into().expect("four octets"));
            let skipped = sequence.wrapping_sub(line.next_sequence[point]);
            assert!(!lossless || skipped == 0, "frames go in order");
            line.missing += u64::from(skipped);
            line.next_sequence[point] = sequence + 1;
        }
        line.seen_octets += (length + FCS) as u64;
        let point = mac_at(&frame.octets, 6).and_then(|mac| MACS.iter().position(|&m| m == mac));
        if let Some(point) = point.filter(|_| lossless) {
            let said = self.sent[point].pop_front().map(usize::from);
            assert_eq!(said, Some(length + FCS), "clock {}, point {point}: the length of a frame", self.clock);
        }
        // In clocks; a frame that is chosen late counts as back to back.
        let work = ((length + FCS).max(64) + LINE) as f64 * 8.0 * 125e6 / self.rate as f64;
        if lossless {
            assert!(line.started as f64 + 1.0 >= line.ideal, "never faster than the line: clock {}", self.clock);
            let at = line.started as f64;
            line.ideal = if at > line.ideal + 6.0 { at } else { line.ideal } + work;
        }
    }

    fn ready(&mut self, sink: usize, one_in: u64) -> bool {
        if self.stall[sink] == 0 && one_in != u64::MAX && self.random.one_in(one_in) {
            let longest = if self.random.one_in(30) { 8_000 } else { 30 };
            self.stall[sink] = self.random.below(longest);
        }
        let ready = self.stall[sink] == 0;
        self.stall[sink] = self.stall[sink].saturating_sub(1);
        ready
    }

    /// One clock. `starts` makes the state machine of a flow that starts.
    pub fn step(&mut self, starts: &impl Fn() -> M) -> Shown {
        let mut pins = std::mem::take(&mut self.pins);
        pins.bus = self.bus.show();
        for p in 0..N::PORTS {
            let line = &mut self.lines[p];
            let may = line.free_at <= self.clock || line.inside;
            let may = may && (!line.inside || self.random.one_in(self.traffic.gap));
            pins.line[p] = line.source.show(may);
            if pins.line[p].is_some() && !line.inside {
                line.inside = true;
                let frame = line.coming.front().expect("it is coming");
                let length = ((frame.octets.len() + FCS).max(64) + LINE) as u64;
                line.free_at = self.clock + if self.traffic.line_rate { length } else { 0 };
            }
            pins.line_ready[p] = self.ready(p, self.traffic.line_stalls);
        }
        let may = self.random.one_in(self.traffic.gap);
        let length = self.host_coming.front().map_or(0, |frame| frame.octets.len() + FCS) as u16;
        pins.host = self.host.show(may).map(|beat| (beat, length));
        pins.host_ready = self.ready(LINES, self.traffic.host_stalls);
        for words in &mut pins.words {
            *words = [self.random.word(), self.random.word()];
        }
        let out = self.nic.clock(&pins);
        self.bus.see(&out.bus);
        self.points(&pins, &out, starts);
        self.trace(&out);
        self.streams(&pins, &out);
        self.clock += 1;
        self.pins = pins;
        out
    }

    fn points(&mut self, pins: &Pins, out: &Shown, starts: &impl Fn() -> M) {
        for i in 0..POINTS {
            let signal = out.signal[i].then(|| {
                self.signals += 1;
                self.any_message.unwrap_or_else(|| self.messages[i].pop_front().expect("a message was sent"))
            });
            let event = Event { start: out.start[i], signal, sent: out.sent[i], tick: out.tick, words: pins.words[i] };
            self.sent[i].extend(out.sent[i]);
            let begins = out.start[i] && self.machines[i].is_none();
            if begins {
                self.machines[i] = Some(starts());
            }
            if let Some(machine) = &mut self.machines[i] {
                let shows = machine.clock(&event);
                let clock = self.clock;
                assert!(
                    begins || out.point[i] == shows.point,
                    "reaction point {i}, clock {clock}: {:?}, {shows:?}",
                    out.point[i]
                );
                assert!(signal.is_none() || shows.ready, "a message is taken when none is served");
                assert_eq!(out.draws[i], shows.draws, "reaction point {i}, clock {clock}");
                self.events += [event.start, signal.is_some(), event.sent.is_some(), event.tick]
                    .map(u64::from)
                    .iter()
                    .sum::<u64>();
            }
            let rate = out.point[i].current_rate;
            // That a frame goes shows a clock later.
            if let Some(before) = self.rate_before[i].replace(rate) {
                self.buckets[i].clock(before, out.sent[i].map(|octets| u32::from(octets) + LINE as u32));
            }
            if self.rates[i].last().is_none_or(|&(_, last)| last != rate) {
                self.rates[i].push((out.now, rate));
            }
        }
    }

    /// A record of a current rate tells the rate of the clock before its stamp.
    fn trace(&mut self, out: &Shown) {
        let Some(record) = out.trace else { return };
        let (what, place) = (record >> 60, (record >> 56 & 15) as usize);
        let (value, stamp) = (record >> 22 & ((1 << 34) - 1), record & ((1 << 22) - 1));
        if what == 3 && out.now < 1 << 22 {
            let at = self.rates[place].iter().rev().find(|&&(at, _)| at < stamp);
            assert_eq!(at.map(|&(_, rate)| rate), Some(value), "point {place}, now {}, stamp {stamp}", out.now);
            self.traced += 1;
        }
    }

    fn streams(&mut self, pins: &Pins, out: &Shown) {
        let mut quiet = true;
        for p in 0..N::PORTS {
            assert!(out.line_ready[p], "a line never waits");
            if pins.line[p].is_some() {
                quiet = false;
                let line = &mut self.lines[p];
                let last = line.source.take().last;
                line.inside = !last;
                if let Some(frame) = decided(&mut line.coming, &mut line.beats, last) {
                    self.arrived(p, frame);
                }
            }
            let beat = out.line[p];
            quiet &= beat.is_none();
            let line = &mut self.lines[p];
            if beat.is_some() && !line.begun {
                line.started = self.clock;
                line.starts.push(self.clock);
            }
            let taken = beat.filter(|_| pins.line_ready[p]);
            line.begun = beat.is_some() && taken.is_none_or(|b| !b.last) || (line.begun && beat.is_none());
            if let Some(frame) = line.sink.see(beat.is_some(), beat.unwrap_or_default(), pins.line_ready[p]) {
                self.left(p, &frame);
            }
        }
        if pins.host.is_some() {
            quiet = false;
            if out.host_ready {
                let last = self.host.take().last;
                if let Some(frame) = decided(&mut self.host_coming, &mut self.host_beats, last) {
                    self.went(frame);
                }
            }
        }
        quiet &= out.host.is_none();
        if let Some(frame) = self.host_sink.see(out.host.is_some(), out.host.unwrap_or_default(), pins.host_ready) {
            self.host_seen += 1;
            let lossless = !self.traffic.host_lossy;
            let found = self.for_host.iter().enumerate().find_map(|(p, frames)| {
                let most = if lossless { 1 } else { frames.len() };
                frames.iter().take(most).position(|first| *first == frame).map(|index| (p, index))
            });
            let (p, index) = found.unwrap_or_else(|| {
                let said = |f: &Frame| (f.octets.len(), f.bad, f.octets[..f.octets.len().min(24)].to_vec());
                let fronts: Vec<_> = self.for_host.iter().map(|f| f.front().map(said)).collect();
                panic!("clock {}: {:x?} came, not one of {fronts:x?}", self.clock, said(&frame))
            });
            self.for_host[p].drain(..=index);
            self.host_missing += index as u64;
        }
        self.quiet = if quiet { self.quiet + 1 } else { 0 };
    }

    /// Clocks for which nothing has moved at the pins.
    pub fn quiet(&self) -> u64 {
        self.quiet
    }

    /// Frames that are still expected count as missing.
    pub fn give_up(&mut self) {
        for line in &mut self.lines {
            line.missing += line.ways.iter_mut().map(|way| way.drain(..).count() as u64).sum::<u64>();
        }
        self.host_missing += self.for_host.iter_mut().map(|frames| frames.drain(..).count() as u64).sum::<u64>();
    }

    /// Sequence number of the next frame that is expected of a reaction point.
    pub fn next_sequence(&self, point: usize) -> u32 {
        self.lines[N::PORT_OF[point]].next_sequence[point]
    }
}
