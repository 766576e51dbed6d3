//! What the stream tests of both reaction points share: frames in random segmentation, bad ones among them, a sink that
//! stalls, and what must come out.
//!
//! Frames are random octets with types that lead the parser everywhere; a parser over whole frames, written from the
//! layout in the standard, says which are messages and what they say.

use std::collections::VecDeque;

use penstock_cosim::Random;

/// Addresses of the two reaction points.
pub const MACS: [u64; 2] = [0x0200_0000_0001, 0x0200_0000_0101];
pub const CLOCK_HZ: u64 = 125_000_000;
const VLAN: u16 = 0x8100;
const CN_TAG: u16 = 0x22e9;
pub const CNM: u16 = 0x22e7;
pub const SMCC: u16 = 0x88b5;
/// Octets on the line beside a frame's.
const LINE: u64 = 20;
const DEPTH: u64 = 3000;

/// 8 octets of a frame, or fewer at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beat {
    pub data: u64,
    pub keep: u8,
    pub last: bool,
    pub user: bool,
}

/// A frame without its FCS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    pub octets: Vec<u8>,
    pub bad: bool,
}

/// What the tests give a core in a clock.
#[derive(Debug, Default)]
pub struct Pins {
    pub reset: bool,
    pub rx: Option<Beat>,
    pub rx_ready: bool,
    /// With the frame's length.
    pub tx: [Option<(Beat, u16)>; 2],
    pub tx_ready: [bool; 2],
    /// Largest rate, bit/s.
    pub max_rate: u64,
}

/// What a core shows in a clock.
#[derive(Debug, Default, Clone)]
pub struct Shown {
    pub rx_ready: bool,
    pub rx: Option<Beat>,
    pub tx_ready: [bool; 2],
    pub tx: [Option<Beat>; 2],
    pub rate: [u64; 2],
    pub sent: [Option<u16>; 2],
    pub dropped: [u32; 2],
    pub taken: u32,
    pub malformed: u32,
    pub unknown: u32,
}

/// A core under test.
pub trait Nic {
    fn clock(&mut self, pins: &Pins) -> Shown;
}

/// A clock of a core: gives its inputs the pins and its settings, and reads what it shows. The cores of both schemes name
/// their ports alike but for the settings and the rate.
macro_rules! clock {
    ($core:expr, $inputs:ident, $pins:expr, $rate:ident, { $($setting:ident: $value:expr),* $(,)? }) => {{
        let pins: &$crate::streams::Pins = $pins;
        let rx = pins.rx.unwrap_or_default();
        let tx = pins.tx.map(Option::unwrap_or_default);
        let words = |each: [u64; 2]| [each[0] as u32, (each[0] >> 32) as u32, each[1] as u32, (each[1] >> 32) as u32];
        let bits = |each: [bool; 2]| u8::from(each[0]) | u8::from(each[1]) << 1;
        let mac = u128::from($crate::streams::MACS[0]) | u128::from($crate::streams::MACS[1]) << 48;
        let out = $core.clock(&$inputs {
            rst_i: pins.reset,
            s_axis_rx_tdata: rx.data,
            s_axis_rx_tkeep: rx.keep,
            s_axis_rx_tvalid: pins.rx.is_some(),
            s_axis_rx_tlast: rx.last,
            s_axis_rx_tuser: rx.user,
            m_axis_rx_tready: pins.rx_ready,
            mac_i: [mac as u32, (mac >> 32) as u32, (mac >> 64) as u32],
            $($setting: $value,)*
            s_axis_tx_tdata: words(tx.map(|(beat, _)| beat.data)),
            s_axis_tx_tkeep: u16::from(tx[0].0.keep) | u16::from(tx[1].0.keep) << 8,
            s_axis_tx_tvalid: bits(pins.tx.map(|t| t.is_some())),
            s_axis_tx_tlast: bits(tx.map(|(beat, _)| beat.last)),
            s_axis_tx_tuser: bits(tx.map(|(beat, _)| beat.user)),
            s_axis_tx_octets_i: u32::from(tx[0].1) | u32::from(tx[1].1) << 16,
            m_axis_tx_tready: bits(pins.tx_ready),
            ..$inputs::default()
        });
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let beat = |i: usize| $crate::streams::Beat {
            data: u64::from(out.m_axis_tx_tdata[2 * i]) | u64::from(out.m_axis_tx_tdata[2 * i + 1]) << 32,
            keep: (out.m_axis_tx_tkeep >> (8 * i)) as u8,
            last: bit(out.m_axis_tx_tlast, i),
            user: bit(out.m_axis_tx_tuser, i),
        };
        let rates = out.$rate.iter().rev().fold(0u128, |sum, &word| sum << 32 | u128::from(word));
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        $crate::streams::Shown {
            rx_ready: out.s_axis_rx_tready,
            rx: out.m_axis_rx_tvalid.then_some($crate::streams::Beat {
                data: out.m_axis_rx_tdata,
                keep: out.m_axis_rx_tkeep,
                last: out.m_axis_rx_tlast,
                user: out.m_axis_rx_tuser,
            }),
            tx_ready: [0, 1].map(|i| bit(out.s_axis_tx_tready, i)),
            tx: [0, 1].map(|i| bit(out.m_axis_tx_tvalid, i).then(|| beat(i))),
            rate: [0, 34].map(|at| (rates >> at) as u64 & ((1 << 34) - 1)),
            sent: [0, 1].map(|i| bit(out.sent_valid_o, i).then(|| halves(out.sent_octets_o)[i])),
            dropped: [out.dropped_o as u32, (out.dropped_o >> 32) as u32],
            taken: out.taken_o,
            malformed: out.malformed_o,
            unknown: out.unknown_o,
        }
    }};
}
pub(crate) use clock;

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub fb: u8,
    pub cp: u64,
    pub q_off: i32,
    pub q_delta: i32,
}

/// The state machine of a reaction point.
pub trait Reaction {
    fn message(&mut self, message: Message);
    fn rate(&self) -> u64;
}

impl Frame {
    fn beats(&self) -> impl Iterator<Item = Beat> + '_ {
        let count = self.octets.len().div_ceil(8);
        self.octets.chunks(8).enumerate().map(move |(i, chunk)| {
            let mut data = [0xa5; 8];
            data[..chunk.len()].copy_from_slice(chunk);
            let last = i + 1 == count;
            let keep = (0xffu16 >> (8 - chunk.len())) as u8;
            Beat { data: u64::from_le_bytes(data), keep, last, user: last && self.bad }
        })
    }

    fn u16_at(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(self.octets.get(at..at + 2)?.try_into().ok()?))
    }

    /// Where the message begins, if this is a frame of type `kind`.
    fn message_at(&self, kind: u16) -> Option<usize> {
        let mut at = 12;
        if self.u16_at(at)? == VLAN {
            at += 4;
        }
        if self.u16_at(at)? == CN_TAG {
            at += 4;
        }
        (self.u16_at(at)? == kind).then_some(at + 2)
    }

    fn message(&self, kind: u16) -> Option<Message> {
        let pdu = &self.octets[self.message_at(kind)?..];
        (!self.bad && (60..=120).contains(&self.octets.len())).then(|| {
            let u32_at = |at: usize| u32::from_be_bytes(pdu[at..at + 4].try_into().expect("long enough"));
            Message {
                fb: pdu[1] & 63,
                cp: u64::from(u32_at(2)) << 32 | u64::from(u32_at(6)),
                q_off: if kind == SMCC { u32_at(24) as i32 } else { 0 },
                q_delta: if kind == SMCC { u32_at(28) as i32 } else { 0 },
            }
        })
    }

    fn destination(&self) -> u64 {
        self.octets[..6].iter().fold(0, |mac, &octet| mac << 8 | u64::from(octet))
    }
}

/// A frame of random octets that may be a message of type `kind`, and may be cut, too long or bad.
fn any_frame(random: &mut Random, kind: u16) -> Frame {
    let length = match random.below(16) {
        0 => 1 + random.below(30),
        1 => 50 + random.below(20),
        2 => 110 + random.below(20),
        3 => 60 + random.below(9000),
        4..8 => 60 + random.below(1440),
        _ => 60 + random.below(61),
    } as usize;
    let mut octets: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
    let put = |octets: &mut Vec<u8>, at: usize, value: &[u8]| {
        for (i, &octet) in value.iter().enumerate() {
            if let Some(place) = octets.get_mut(at + i) {
                *place = octet;
            }
        }
    };
    let mac = MACS[random.below(2) as usize] ^ u64::from(random.one_in(8)) << random.below(48);
    put(&mut octets, 0, &mac.to_be_bytes()[2..]);
    // Messages alone or behind tags, or any order of types.
    let plain: [&[u16]; 4] = [&[kind], &[VLAN, kind], &[CN_TAG, kind], &[VLAN, CN_TAG, kind]];
    let mut types = plain[random.below(4) as usize].to_vec();
    if random.one_in(3) {
        for one in &mut types {
            *one = [CNM, SMCC, VLAN, CN_TAG, 0x0800][random.below(5) as usize];
        }
    }
    for (i, one) in types.iter().enumerate() {
        put(&mut octets, 12 + 4 * i, &one.to_be_bytes());
    }
    // Offset and growth as queues have them, from few congestion points.
    if !random.one_in(4) {
        let pdu = 10 + 4 * types.len();
        put(&mut octets, pdu + 2, &(random.below(3)).to_be_bytes());
        for at in [24, 28] {
            put(&mut octets, pdu + at, &(random.below(64_000) as i32 - 32_000).to_be_bytes());
        }
    }
    Frame { octets, bad: random.one_in(16) }
}

/// Gives the beats of frames with random gaps; what is shown stays until it is taken.
#[derive(Default)]
struct Source {
    beats: VecDeque<Beat>,
    shown: bool,
}

impl Source {
    fn push(&mut self, frame: &Frame) {
        self.beats.extend(frame.beats());
    }

    fn show(&mut self, random: &mut Random, gap: u64) -> Option<Beat> {
        self.shown = self.shown || random.one_in(gap);
        self.beats.front().copied().filter(|_| self.shown)
    }

    fn taken(&mut self) -> Beat {
        self.shown = false;
        self.beats.pop_front().expect("one was shown")
    }
}

/// Takes beats, holds them to the rules of the stream, and gives whole frames.
#[derive(Default)]
struct Sink {
    octets: Vec<u8>,
    held: Option<Beat>,
    stall: u64,
}

impl Sink {
    fn ready(&mut self, random: &mut Random, stalls: u64) -> bool {
        if self.stall == 0 && random.one_in(stalls) {
            let longest = if random.one_in(50) { 3000 } else { 8 };
            self.stall = random.below(longest);
        }
        let ready = self.stall == 0;
        self.stall = self.stall.saturating_sub(1);
        ready
    }

    fn see(&mut self, beat: Option<Beat>, ready: bool) -> Option<Frame> {
        if self.held.is_some() {
            assert_eq!(beat, self.held, "what is shown stays until it is taken");
        }
        self.held = beat.filter(|_| !ready);
        let beat = beat.filter(|_| ready)?;
        let count = beat.keep.trailing_ones() as usize;
        assert!(count > 0 && u32::from(beat.keep).count_ones() as usize == count && (beat.last || count == 8));
        self.octets.extend(&beat.data.to_le_bytes()[..count]);
        beat.last.then(|| Frame { octets: std::mem::take(&mut self.octets), bad: beat.user })
    }
}

/// The rates that messages bring, in their order.
struct Rates<R> {
    machine: R,
    last: u64,
    coming: VecDeque<u64>,
}

impl<R: Reaction> Rates<R> {
    fn new(machine: R) -> Self {
        let last = machine.rate();
        Self { machine, last, coming: VecDeque::new() }
    }

    fn message(&mut self, message: Message) {
        let before = self.machine.rate();
        self.machine.message(message);
        if self.machine.rate() != before {
            self.coming.push_back(self.machine.rate());
        }
    }

    fn see(&mut self, rate: u64) {
        if rate != self.last {
            assert_eq!(Some(rate), self.coming.pop_front(), "the next rate that messages bring");
            self.last = rate;
        }
    }
}

/// Messages are taken out and change the rates of whom they are for, all else passes, the counters tell; also when the core
/// is reset within frames.
pub fn messages_are_taken<N: Nic, R: Reaction>(
    nic: &mut N,
    kind: u16,
    seed: u64,
    frames: u64,
    machine: impl Fn() -> R,
) {
    let max_rate = 1_000_000_000;
    let mut random = Random::new(seed);
    let (mut passed, mut all, mut resets) = (0u64, 0u64, 0u64);
    while all < frames {
        // Until the next reset.
        nic.clock(&Pins { reset: true, max_rate, ..Pins::default() });
        resets += 1;
        let (gap, stalls) = ([1, 1, 2, 10][random.below(4) as usize], [1, 10, 1_000_000][random.below(3) as usize]);
        let (mut source, mut sink) = (Source::default(), Sink::default());
        let mut rates = [Rates::new(machine()), Rates::new(machine())];
        let (mut inside, mut expected) = (VecDeque::new(), VecDeque::new());
        let (mut taken, mut malformed, mut unknown) = (0, 0, 0);
        let mut left = random.below(60_000);
        let mut quiet = 0;
        let cut = random.one_in(2);
        loop {
            // A reset in the middle, or all frames through and silence.
            if left == 0 && (cut || quiet > 300) {
                break;
            }
            left = left.saturating_sub(1);
            if source.beats.is_empty() && left > 0 {
                let frame = any_frame(&mut random, kind);
                source.push(&frame);
                inside.push_back(frame);
                all += 1;
            }
            let rx = source.show(&mut random, gap);
            let rx_ready = sink.ready(&mut random, stalls);
            let out = nic.clock(&Pins { rx, rx_ready, max_rate, ..Pins::default() });
            quiet = if rx.is_some() || out.rx.is_some() { 0 } else { quiet + 1 };
            for (rates, rate) in rates.iter_mut().zip(out.rate) {
                rates.see(rate);
            }
            if let Some(frame) = sink.see(out.rx, rx_ready) {
                assert_eq!(Some(frame), expected.pop_front(), "seed {seed}");
                passed += 1;
            }
            if rx.is_some() && out.rx_ready {
                let (first, last) = (inside.front().expect("it is being sent"), source.taken().last);
                // A frame comes out before its end has gone in.
                let is_message = first.message_at(kind).is_some();
                if last {
                    let frame: Frame = inside.pop_front().expect("it was sent");
                    match frame.message(kind) {
                        Some(message) => {
                            taken += 1;
                            // No congestion says nothing.
                            if kind == SMCC || message.fb > 0 {
                                match MACS.iter().position(|&mac| mac == frame.destination()) {
                                    Some(point) => rates[point].message(message),
                                    None => unknown += 1,
                                }
                            }
                        }
                        None if is_message => malformed += 1,
                        None => expected.push_back(frame),
                    }
                }
            }
            if quiet > 300 {
                assert_eq!((out.taken, out.malformed, out.unknown), (taken, malformed, unknown), "seed {seed}");
            }
        }
        if !cut {
            assert!(expected.is_empty() && rates.iter().all(|r| r.coming.is_empty()), "seed {seed}: nothing is lost");
        }
    }
    println!("{all} frames, {passed} passed, {resets} resets");
    assert!(passed > all / 4);
}

/// At 125 MHz a gigabit line brings a frame of 64 octets every 84 clocks: all may be messages for one reaction point, and
/// the stream never stops.
pub fn back_to_back_messages_at_line_rate<N: Nic, R: Reaction>(nic: &mut N, kind: u16, seed: u64, machine: R) {
    let max_rate = 1_000_000_000;
    let mut random = Random::new(seed);
    nic.clock(&Pins { reset: true, max_rate, ..Pins::default() });
    let mut rates = Rates::new(machine);
    let mut source = Source::default();
    let mut sink = Sink::default();
    for clock in 0..84 * 2000u64 {
        if clock % 84 == 0 {
            assert!(source.beats.is_empty(), "the frame before has gone in");
            let mut frame = any_frame(&mut random, kind);
            frame.octets.resize(60, 0);
            frame.octets[..6].copy_from_slice(&MACS[0].to_be_bytes()[2..]);
            frame.octets[12..14].copy_from_slice(&kind.to_be_bytes());
            frame.bad = false;
            source.push(&frame);
            rates.message(frame.message(kind).expect("it is one"));
        }
        let rx = source.show(&mut random, 1);
        let out = nic.clock(&Pins { rx, rx_ready: true, max_rate, ..Pins::default() });
        rates.see(out.rate[0]);
        assert_eq!(sink.see(out.rx, true), None, "no message passes");
        if rx.is_some() {
            assert!(out.rx_ready, "clock {clock}");
            source.taken();
        }
    }
}

/// Beats that break every rule of the stream, and lengths that are none: rates stay within their bounds, and once the
/// frames that were begun have ended, a frame passes on each stream.
pub fn garbage_leaves_nothing_stuck<N: Nic>(nic: &mut N, seed: u64, min_rate: u64) {
    let max_rate = 1_000_000_000;
    let mut random = Random::new(seed);
    nic.clock(&Pins { reset: true, max_rate, ..Pins::default() });
    let good = Frame { octets: (0..100).collect(), bad: false };
    for round in 0..300 {
        let within = |out: &Shown| out.rate.iter().all(|rate| (min_rate..=max_rate).contains(rate));
        for _ in 0..random.below(5_000) {
            let beat = |random: &mut Random| Beat {
                data: if random.one_in(2) {
                    u64::from(CNM.to_be()) << 32 | u64::from(SMCC.to_be())
                } else {
                    random.next()
                },
                keep: random.word() as u8,
                last: random.one_in(12),
                user: random.one_in(2),
            };
            let rx = (!random.one_in(3)).then(|| beat(&mut random));
            let tx = [0, 1].map(|_| (!random.one_in(3)).then(|| (beat(&mut random), random.word() as u16)));
            let ready = random.word();
            let tx_ready = [ready & 1 == 0, ready & 2 == 0];
            let out = nic.clock(&Pins { rx, rx_ready: ready & 4 == 0, tx, tx_ready, max_rate, reset: false });
            assert!(within(&out), "seed {seed}, round {round}: {:?}", out.rate);
        }
        // One last beat for what was begun, then a frame; the bucket may be empty.
        let end = Frame { octets: vec![0; 8], bad: false };
        let mut sources: [Source; 3] = Default::default();
        for source in &mut sources {
            source.push(&end);
            source.push(&good);
        }
        let mut last = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..400_000 {
            let [rx, tx_0, tx_1] = [0, 1, 2].map(|i: usize| sources[i].show(&mut random, 1));
            let length = |beat: Option<Beat>| beat.map(|beat| (beat, 100));
            let tx = [length(tx_0), length(tx_1)];
            let out = nic.clock(&Pins { rx, rx_ready: true, tx, tx_ready: [true; 2], max_rate, reset: false });
            assert!(within(&out), "seed {seed}, round {round}: {:?}", out.rate);
            for (i, (shown, ready)) in
                [(rx, out.rx_ready), (tx_0, out.tx_ready[0]), (tx_1, out.tx_ready[1])].into_iter().enumerate()
            {
                if shown.is_some() && ready {
                    sources[i].taken();
                }
            }
            for (beats, beat) in last.iter_mut().zip([out.rx, out.tx[0], out.tx[1]]) {
                beats.extend(beat);
            }
            if last.iter().all(|beats| beats.ends_with(&good.beats().collect::<Vec<_>>())) {
                break;
            }
        }
        let whole = |beats: &Vec<Beat>| beats.ends_with(&good.beats().collect::<Vec<_>>());
        assert!(last.iter().all(whole), "seed {seed}, round {round}: a stream is stuck");
    }
}

/// Frames leave whole, in order, at the rate; what is too long for the bucket is dropped and counted.
pub fn frames_go_at_the_rate<N: Nic>(nic: &mut N, seed: u64) {
    let mut random = Random::new(seed);
    for max_rate in [1_000_000_000, 333_500_000, 10_000_000, 950_250_000] {
        nic.clock(&Pins { reset: true, max_rate, ..Pins::default() });
        let mut sources = [Source::default(), Source::default()];
        let mut sinks = [Sink::default(), Sink::default()];
        let mut waiting: [VecDeque<Frame>; 2] = Default::default();
        let mut expected: [VecDeque<Frame>; 2] = Default::default();
        let (mut octets, mut sent, mut dropped, mut announced) = ([0u64; 2], [0u64; 2], [0u32; 2], [0u64; 2]);
        // A sink that stalls, but for the reaction point whose rate is measured; and frames of any size, or the shortest.
        let (clocks, shortest) = (300_000u64, max_rate == 1_000_000_000);
        for clock in 0..clocks {
            let mut pins = Pins { max_rate, tx_ready: [true, sinks[1].ready(&mut random, 10)], ..Pins::default() };
            for i in 0..2 {
                if sources[i].beats.is_empty() {
                    let length = match random.below(20) {
                        0 => 2977 + random.below(7000),
                        1 => 2976,
                        2 => 1 + random.below(60),
                        _ => 60 + random.below(1455),
                    };
                    let length = if shortest && i == 0 { 60 } else { length } as usize;
                    let frame = Frame { octets: vec![random.word() as u8; length], bad: random.one_in(9) };
                    sources[i].push(&frame);
                    waiting[i].push_back(frame);
                }
                let length = waiting[i].front().map_or(0, |frame| frame.octets.len() + 4) as u16;
                pins.tx[i] = sources[i].show(&mut random, 1 + 2 * i as u64).map(|beat| (beat, length));
            }
            let out = nic.clock(&pins);
            for i in 0..2 {
                if let Some(length) = out.sent[i] {
                    octets[i] += u64::from(length) + LINE;
                    announced[i] += 1;
                    let frame = waiting[i].front().expect("one goes");
                    assert_eq!(usize::from(length), frame.octets.len() + 4);
                    // Never more than the bucket and what has come into it: whole steps of 0.5 Mb/s, one octet a refill.
                    let refills = clock / 2000 * (max_rate / 500_000);
                    assert!(octets[i] <= DEPTH + refills, "seed {seed}, clock {clock}");
                }
                if pins.tx[i].is_some() && out.tx_ready[i] && sources[i].taken().last {
                    let frame = waiting[i].pop_front().expect("it was shown");
                    if frame.octets.len() as u64 + 4 + LINE > DEPTH {
                        dropped[i] += 1;
                    } else {
                        expected[i].push_back(frame);
                    }
                }
                if let Some(frame) = sinks[i].see(out.tx[i], pins.tx_ready[i]) {
                    assert_eq!(Some(frame), expected[i].pop_front(), "seed {seed}, clock {clock}");
                    sent[i] += 1;
                }
            }
            if clock + 1 == clocks {
                assert!(out.dropped[0].abs_diff(dropped[0]) <= 1 && out.dropped[1].abs_diff(dropped[1]) <= 1);
                assert!((0..2).all(|i| announced[i] - sent[i] <= 1), "what is announced goes");
                assert!(shortest || (dropped[0] > 0 && dropped[1] > 0) || max_rate < 100_000_000);
            }
        }
        // And no less: a frame waits for a refill at most, and for the frames that are dropped.
        let line = (max_rate / 500_000 * 500_000) * clocks / (8 * CLOCK_HZ);
        println!("{max_rate} bit/s: {} of {line} octets in {} frames", octets[0], sent[0]);
        assert!(octets[0] + 2 * DEPTH + u64::from(dropped[0]) * 1300 >= line, "seed {seed}: {octets:?} {line}");
        if shortest {
            // A frame of 64 octets every 84 clocks.
            assert!(sent[0] >= clocks / 84, "{sent:?}");
        }
    }
}
