//! The whole core of a reaction point, QCN's or SMCC's, with two of them: frames that arrive, messages among them, and frames
//! that go, every output in every clock.

use std::collections::VecDeque;

use penstock_cosim::bucket::{DEPTH, REFILL, Shape};
use penstock_cosim::messages::{self, CNM, SMCC, message, message_at};
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source};
use penstock_cosim::vectors::{self, Recorder};
use penstock_cosim::{Random, at_least};

use crate::pins::{MACS, Nic, Pins, Shown};
use crate::reference::{LINE, Reference};

const CLOCK_HZ: u64 = 125_000_000;
/// Clocks of one lock step, of which each core has two, side by side.
const CLOCKS: u64 = 1_000_000;

/// A core, and the outputs that it has to show.
struct Bench<N: Nic> {
    nic: N,
    reference: Option<Reference<N::Machine, N::Data>>,
    settings: N::Settings,
    kept: Recorder<N::In>,
    clocks: u64,
}

impl<N: Nic> Bench<N> {
    fn new(seed: u64) -> Self {
        let (core, build) = N::NAMES;
        let mut kept = Recorder::new(core, build);
        kept.begin(seed);
        Self { nic: N::new(seed), reference: None, settings: N::usual(0), kept, clocks: 0 }
    }

    /// All begins again, with other settings.
    fn reset(&mut self, settings: N::Settings) {
        self.settings = settings;
        self.clock(&Pins { reset: true, ..Pins::default() });
    }

    fn clock(&mut self, pins: &Pins<N::Data>) -> Shown<N::Data> {
        let inputs = N::inputs(&self.settings, pins);
        self.kept.clock(&inputs);
        self.both(&inputs)
    }

    /// The outputs of the core, and those that it has to show, by its pins alone.
    fn both(&mut self, inputs: &N::In) -> Shown<N::Data> {
        let (shown, pins) = (self.nic.clock(inputs), N::pins(inputs));
        if pins.reset {
            let settings = N::settings(inputs);
            self.reference = Some(Reference::new(N::KIND, Shape::PAPER, || N::machine(&settings)));
        } else if let Some(reference) = &mut self.reference {
            assert_eq!(shown, reference.clock(&pins), "clock {}", self.clocks);
        }
        self.clocks += 1;
        shown
    }

    fn overflows(&self, i: usize) -> bool {
        self.reference.as_ref().is_some_and(|reference| N::overflows(&reference.machines[i]))
    }
}

/// A frame that may be a message, and may be cut, too long or bad.
fn any_arrival(random: &mut Random, kind: u16) -> Frame {
    let length = match random.below(16) {
        0 => 1 + random.below(30),
        1 => 50 + random.below(20),
        2 => 110 + random.below(20),
        3 if random.one_in(4) => 60 + random.below(9000),
        3 | 4 => 60 + random.below(1440),
        _ => 60 + random.below(61),
    };
    messages::any(random, kind, &MACS, length as usize)
}

/// A frame of any length that a bucket may hold or not.
fn any_departure(random: &mut Random) -> Frame {
    let most = DEPTH - LINE - 4;
    let length = match random.below(20) {
        0 => most + 1 + random.below(7000),
        1 => most,
        2 => 1 + random.below(60),
        _ => 60 + random.below(1455),
    };
    Frame { octets: vec![random.word() as u8; length as usize], bad: random.one_in(9) }
}

/// A frame so long that 16 bits cannot say its length with what the line adds.
fn endless_departure(random: &mut Random) -> Frame {
    let length = 65_535 - 4 - random.below(LINE);
    Frame { octets: vec![random.word() as u8; length as usize], bad: random.one_in(9) }
}

/// A sink that stalls now and then, sometimes for long.
#[derive(Default)]
struct Stalls(u64);

impl Stalls {
    fn ready(&mut self, random: &mut Random, one_in: u64) -> bool {
        if self.0 == 0 && random.one_in(one_in) {
            let longest = if random.one_in(50) { 3000 } else { 8 };
            self.0 = random.below(longest);
        }
        let ready = self.0 == 0;
        self.0 = self.0.saturating_sub(1);
        ready
    }
}

/// Frames on a path through the core.
#[derive(Default)]
struct Way<D: Data> {
    source: Source<D>,
    /// Frames that go in, and those that must come out.
    inside: VecDeque<Frame>,
    expected: VecDeque<Frame>,
    sink: Sink<D>,
    stalls: Stalls,
    passed: u64,
}

impl<D: Data> Way<D> {
    fn push(&mut self, frame: Frame) {
        self.source.push(&frame);
        self.inside.push_back(frame);
    }

    /// A beat is taken; the frame whose last it is.
    fn take(&mut self) -> Option<Frame> {
        self.source.take().last.then(|| self.inside.pop_front().expect("it was sent"))
    }

    /// A frame comes out before its end has gone in, so it is looked for behind both.
    fn see(&mut self, beat: Option<Beat<D>>, ready: bool) {
        if let Some(frame) = self.sink.see(beat.is_some(), beat.unwrap_or_default(), ready) {
            assert_eq!(Some(frame), self.expected.pop_front());
            self.passed += 1;
        }
    }
}

/// Cases that once failed.
pub fn kept<N: Nic>() {
    let (core, build) = N::NAMES;
    for vector in vectors::kept::<N::In>(core, build) {
        let mut bench = Bench::<N>::new(vector.seed);
        for inputs in &vector.clocks {
            bench.both(inputs);
        }
    }
}

/// Random settings, frames in both directions, starts, ticks and words, and resets within frames.
pub fn lock_step<N: Nic>(seed: u64) {
    let mut random = Random::new(seed);
    let (mut clocks, mut signals, mut sent, mut resets) = (0u64, 0u64, 0u64, 0u64);
    let (mut arrived, mut passed, mut left_out) = (0u64, 0u64, [0u64; 5]);
    let mut bench = Bench::<N>::new(seed);
    while clocks + bench.clocks < at_least(CLOCKS) {
        // A core that is new, or one that is reset in the middle; a vector begins with the former.
        if random.one_in(4) {
            clocks += bench.clocks;
            bench = Bench::new(random.next());
        }
        bench.reset(if random.one_in(2) { N::any(&mut random) } else { N::usual(1_000_000_000) });
        resets += 1;
        let (gap, stalls) = ([1, 1, 2, 10][random.below(4) as usize], [1, 10, 1_000_000][random.below(3) as usize]);
        let (quiet, starts) =
            ([1, 100, 3_000][random.below(3) as usize], [10_000, 10_000, 500][random.below(3) as usize]);
        let rarely = if random.one_in(2) { 2 } else { 100 };
        let ticking = 1 + random.below(rarely);
        let hurries = [1, 2, 50, 1_000_000][random.below(4) as usize];
        let (mut rx, mut tx) = (Way::<N::Data>::default(), [Way::default(), Way::default()]);
        let (mut last, mut mac) = (Shown::default(), MACS);
        for _ in 0..random.below(60_000) {
            if rx.source.left() == 0 && random.one_in(quiet) {
                rx.push(any_arrival(&mut random, N::KIND));
                arrived += 1;
            }
            // Addresses change, now and then while a message waits for its reaction point.
            if random.one_in(500) {
                mac = [(); 2].map(|()| MACS[random.below(2) as usize]);
            }
            let mut pins = Pins {
                rx: rx.source.show(random.one_in(gap)),
                rx_ready: rx.stalls.ready(&mut random, stalls),
                drop_if_busy: random.one_in(hurries),
                tick: random.one_in(ticking),
                mac,
                ..Pins::default()
            };
            for (i, tx) in tx.iter_mut().enumerate() {
                if tx.source.left() == 0 {
                    tx.push(if random.one_in(400) {
                        endless_departure(&mut random)
                    } else {
                        any_departure(&mut random)
                    });
                }
                let length = (tx.inside[0].octets.len() + 4) as u16;
                pins.tx[i] = tx.source.show(random.one_in(gap)).map(|beat| (beat, length));
                pins.tx_ready[i] = tx.stalls.ready(&mut random, stalls);
                pins.start[i] = random.one_in(starts) || bench.overflows(i);
                pins.words[i] = [(); 2].map(|()| match random.below(8) {
                    0 => 0,
                    1 => u32::MAX,
                    2 => 1 << 31,
                    _ => random.word(),
                });
            }
            let out = bench.clock(&pins);
            // Frames whole and in their order, apart from the reference.
            if pins.rx.is_some() && out.rx_ready {
                let whole = rx.take().filter(|frame| message_at(&frame.octets, N::KIND).is_none());
                rx.expected.extend(whole);
            }
            rx.see(out.rx, pins.rx_ready);
            for (i, tx) in tx.iter_mut().enumerate() {
                if pins.tx[i].is_some() && out.tx_ready[i] {
                    let fits = |frame: &Frame| frame.octets.len() as u64 + 4 + LINE <= DEPTH;
                    let whole = tx.take().filter(fits);
                    tx.expected.extend(whole);
                }
                tx.see(out.tx[i], pins.tx_ready[i]);
                signals += u64::from(out.signal[i]);
                sent += u64::from(out.sent[i].is_some());
            }
            last = out;
        }
        passed += rx.passed;
        let counts = [last.taken, last.malformed, last.refused, last.unknown, last.dropped[0] + last.dropped[1]];
        left_out.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
    }
    println!(
        "{} clocks, {resets} resets; {arrived} frames arrived, {passed} passed, {signals} messages served, {sent} frames went; taken, malformed, refused, unknown, dropped: {left_out:?}",
        clocks + bench.clocks
    );
    // With wide beats more arrive than a calculator takes.
    let least = arrived.min(8_000) / 8;
    assert!(passed > least && signals > least && sent > 500 && left_out.iter().all(|&n| n > 20));
}

/// At 125 MHz a gigabit line brings a frame of 64 octets every 84 clocks: all may be messages for one reaction point, and
/// the stream never stops.
pub fn back_to_back_messages_at_line_rate<N: Nic>(seed: u64) {
    let mut random = Random::new(seed);
    let mut bench = Bench::<N>::new(seed);
    bench.reset(N::usual(1_000_000_000));
    let mut source = Source::<N::Data>::default();
    let mut signals = 0;
    for clock in 0..84 * 2000u64 {
        if clock % 84 == 0 {
            assert_eq!(source.left(), 0, "the frame before has gone in");
            source.push(&message(&mut random, N::KIND, MACS[0]));
        }
        let rx = source.show(true);
        let out = bench.clock(&Pins { rx, rx_ready: true, ..Pins::default() });
        assert_eq!(out.rx, None, "no message passes");
        signals += u64::from(out.signal[0]);
        if rx.is_some() {
            assert!(out.rx_ready, "clock {clock}");
            source.take();
        }
    }
    assert!(signals >= 1999, "{signals} messages");
}

/// Forged messages in every beat that a line can bring, with a data frame between each few, where none may wait. The stream never
/// stops, all data pass, and messages beyond those that the reaction points take are dropped and counted.
pub fn floods_of_messages_cost_no_data<N: Nic>(seed: u64) {
    let mut random = Random::new(seed);
    let mut bench = Bench::<N>::new(seed);
    bench.reset(N::usual(1_000_000_000));
    let (mut source, mut data, mut inside) = (Source::<N::Data>::default(), VecDeque::new(), VecDeque::new());
    let mut sink = Sink::default();
    let (mut sent, mut served, mut last) = (0u32, 0u32, Shown::default());
    for _ in 0..100_000 {
        while source.left() < 10 {
            let kept = random.one_in(4).then(|| Frame::random(&mut random, 60)).map(|mut frame| {
                frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
                frame
            });
            let frame = kept.clone().unwrap_or_else(|| {
                let mut loud = message(&mut random, N::KIND, MACS[0]);
                messages::put(&mut loud.octets, 14, &[0, 63]);
                loud
            });
            source.push(&frame);
            inside.push_back(kept);
        }
        let rx = source.show(true);
        let out = bench.clock(&Pins { rx, rx_ready: true, drop_if_busy: true, ..Pins::default() });
        assert!(out.rx_ready, "the stream never stops");
        if source.take().last {
            match inside.pop_front().expect("it was sent") {
                Some(frame) => data.push_back(frame),
                None => sent += 1,
            }
        }
        if let Some(frame) = sink.see(out.rx.is_some(), out.rx.unwrap_or_default(), true) {
            assert_eq!(Some(frame), data.pop_front());
        }
        served += u32::from(out.signal[0]);
        last = out;
    }
    println!("{sent} messages: {} taken, {} refused; {served} served", last.taken, last.refused);
    // Where a beat is a frame, some pass in the clocks until one shows or is counted.
    let within = N::Data::OCTETS.div_ceil(16);
    assert!(data.len() <= within && last.malformed == 0);
    assert!(sent - last.taken - last.refused <= within as u32 && last.taken - served <= 1);
    assert!(served >= 1_000 && last.refused > served);
}

fn any_keep<D: Data>(random: &mut Random) -> D::Keep {
    D::Keep::try_from(random.next() >> (64 - D::OCTETS)).ok().expect("a bit for each octet")
}

/// Beats that break every rule of the stream, and lengths that are none: rates stay within their bounds, and once the
/// frames that were begun have ended, a frame passes on each stream.
pub fn garbage_leaves_nothing_stuck<N: Nic>(seed: u64) {
    let mut random = Random::new(seed);
    let settings = N::usual(1_000_000_000);
    let (least, most) = N::bounds(&settings);
    let mut nic = N::unchecked(seed);
    let mut clock = |pins: &Pins<N::Data>| nic.clock(&N::inputs(&settings, pins));
    clock(&Pins { reset: true, ..Pins::default() });
    let good = Frame::new((0..100).collect());
    for round in 0..300 {
        let within = |out: &Shown<N::Data>| out.point.iter().all(|p| (least..=most).contains(&p.point.current_rate));
        for _ in 0..random.below(5_000) {
            let beat = |random: &mut Random| Beat::<N::Data> {
                data: if random.one_in(2) {
                    let types = u64::from(CNM.to_be()) << 32 | u64::from(SMCC.to_be());
                    Data::of(&types.to_le_bytes().repeat(N::Data::OCTETS / 8))
                } else {
                    Data::of(&Frame::random(random, N::Data::OCTETS).octets)
                },
                keep: any_keep::<N::Data>(random),
                last: random.one_in(12),
                user: random.one_in(2),
            };
            let rx = (!random.one_in(3)).then(|| beat(&mut random));
            let tx = [0, 1].map(|_| (!random.one_in(3)).then(|| (beat(&mut random), random.word() as u16)));
            let ready = random.word();
            let tx_ready = [ready & 1 == 0, ready & 2 == 0];
            let out = clock(&Pins { rx, rx_ready: ready & 4 == 0, tx, tx_ready, ..Pins::default() });
            assert!(within(&out), "seed {seed}, round {round}: {:?}", out.point);
        }
        // One last beat for each frame that was begun, then a frame; the bucket may be empty.
        let mut sources: [Source<N::Data>; 3] = Default::default();
        for source in &mut sources {
            source.push(&Frame::new(vec![0; 8]));
            source.push(&good);
        }
        let mut came = [Vec::new(), Vec::new(), Vec::new()];
        let whole = |beats: &Vec<Beat<N::Data>>| beats.ends_with(&good.beats());
        for _ in 0..400_000 {
            let [rx, tx_0, tx_1] = [0, 1, 2].map(|i: usize| sources[i].show(true));
            let length = |beat: Option<Beat<N::Data>>| beat.map(|beat| (beat, 100));
            let tx = [length(tx_0), length(tx_1)];
            let out = clock(&Pins { rx, rx_ready: true, tx, tx_ready: [true; 2], ..Pins::default() });
            assert!(within(&out), "seed {seed}, round {round}: {:?}", out.point);
            let taken = [(rx, out.rx_ready), (tx_0, out.tx_ready[0]), (tx_1, out.tx_ready[1])];
            for (source, (shown, ready)) in sources.iter_mut().zip(taken) {
                if shown.is_some() && ready {
                    source.take();
                }
            }
            for (beats, beat) in came.iter_mut().zip([out.rx, out.tx[0], out.tx[1]]) {
                beats.extend(beat);
            }
            if came.iter().all(whole) {
                break;
            }
        }
        assert!(came.iter().all(whole), "seed {seed}, round {round}: a stream is stuck");
    }
}

/// Frames leave whole, in order, at the rate; frames too long for the bucket are dropped and counted.
pub fn frames_go_at_the_rate<N: Nic>(seed: u64) {
    let mut random = Random::new(seed);
    let mut bench = Bench::<N>::new(seed);
    for max_rate in [1_000_000_000, 333_500_000, 10_000_000, 950_250_000] {
        bench.reset(N::usual(max_rate));
        let mut ways = [Way::<N::Data>::default(), Way::default()];
        let (mut octets, mut dropped, mut announced) = ([0u64; 2], [0u32; 2], [0u64; 2]);
        // A sink that stalls, but for the reaction point whose rate is measured; and frames of any size, or the shortest.
        let (clocks, shortest) = (300_000u64, max_rate == 1_000_000_000);
        for clock in 0..clocks {
            let mut pins = Pins { tx_ready: [true, ways[1].stalls.ready(&mut random, 10)], ..Pins::default() };
            for (i, way) in ways.iter_mut().enumerate() {
                if way.source.left() == 0 {
                    let mut frame = any_departure(&mut random);
                    if shortest && i == 0 {
                        frame.octets.resize(60, 0);
                    }
                    way.push(frame);
                }
                let length = (way.inside[0].octets.len() + 4) as u16;
                pins.tx[i] = way.source.show(random.one_in(1 + 2 * i as u64)).map(|beat| (beat, length));
            }
            let out = bench.clock(&pins);
            for (i, way) in ways.iter_mut().enumerate() {
                if let Some(length) = out.sent[i] {
                    octets[i] += u64::from(length) + LINE;
                    announced[i] += 1;
                    assert_eq!(usize::from(length), way.inside[0].octets.len() + 4);
                    // Never more than the bucket and its refills: whole steps of 0.5 Mb/s, one octet a refill.
                    let refills = clock / REFILL * (max_rate / 500_000);
                    assert!(octets[i] <= DEPTH + refills, "seed {seed}, clock {clock}");
                }
                if pins.tx[i].is_some() && out.tx_ready[i] {
                    match way.take() {
                        Some(frame) if frame.octets.len() as u64 + 4 + LINE > DEPTH => dropped[i] += 1,
                        Some(frame) => way.expected.push_back(frame),
                        None => (),
                    }
                }
                way.see(out.tx[i], pins.tx_ready[i]);
            }
            if clock + 1 == clocks {
                assert!(out.dropped[0].abs_diff(dropped[0]) <= 1 && out.dropped[1].abs_diff(dropped[1]) <= 1);
                assert!((0..2).all(|i| announced[i] - ways[i].passed <= 1), "a frame that is announced goes");
                assert!(shortest || (dropped[0] > 0 && dropped[1] > 0) || max_rate < 100_000_000);
            }
        }
        // And no less: a frame waits for a refill at most, and for the frames that are dropped.
        let line = (max_rate / 500_000 * 500_000) * clocks / (8 * CLOCK_HZ);
        println!("{max_rate} bit/s: {} of {line} octets in {} frames", octets[0], ways[0].passed);
        assert!(octets[0] + 2 * DEPTH + u64::from(dropped[0]) * 1300 >= line, "seed {seed}: {octets:?} {line}");
        if shortest {
            // A frame of 64 octets every 84 clocks.
            assert!(ways[0].passed >= clocks / 84, "{}", ways[0].passed);
        }
    }
}

/// What depends on the width of a beat: arrivals and departures, messages in every beat, garbage.
pub fn other_widths<N: Nic>(seed: u64) {
    lock_step::<N>(seed);
    floods_of_messages_cost_no_data::<N>(seed + 1);
    garbage_leaves_nothing_stuck::<N>(seed + 2);
}
