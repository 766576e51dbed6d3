//! Priority flow control: the switch's side by the simulator's rules, the NIC's side, and both with a line between them.

use std::collections::VecDeque;

use penstock_cosim::{
    Random, at_least, pfc_rx, pfc_rx_512, pfc_rx_fast, pfc_tx, pfc_tx_512, pfc_tx_all,
    stream::{Beat, Data, Frame, Sink, Source, length},
};
#[cfg(feature = "widths")]
use penstock_cosim::{pfc_rx_128, pfc_rx_256, pfc_tx_128, pfc_tx_256};
use penstock_schemes::{BitRate, Duration};
use penstock_sim::pfc::{FRAME, QUANTUM_BITS, Reach, headroom};

const CONTROL: u64 = 0x0180_c200_0001;

macro_rules! beat {
    ($out:expr) => {
        Beat { data: $out.m_axis_tdata, keep: $out.m_axis_tkeep, last: $out.m_axis_tlast, user: $out.m_axis_tuser }
    };
}

/// A PFC frame as 802.3 annex 31D lays it out (standards.md B4).
fn pfc_frame(source: u64, enable: u8, times: [u16; 8]) -> Vec<u8> {
    let mut octets = Vec::new();
    octets.extend(&CONTROL.to_be_bytes()[2..]);
    octets.extend(&source.to_be_bytes()[2..]);
    octets.extend([0x88, 0x08, 0x01, 0x01, 0x00, enable]);
    times.iter().for_each(|time| octets.extend(time.to_be_bytes()));
    octets.resize(60, 0);
    octets
}

/// `01 80 C2 00 00 01 | SA | 88 08 | 01 01 | 00 08 | 0000 0000 0000 FFFF 0000 0000 0000 0000 | 26 x 00`, then a resume.
#[test]
fn makes_the_example_of_the_standard() {
    let mut core = pfc_tx::Core::new(61);
    let mut sink = Sink::default();
    let mut given = pfc_tx::In {
        rst_i: true,
        xoff_i: 50_000,
        xon_i: 40_000,
        quanta_i: 0xffff,
        source_mac_i: 0x0200_0000_00aa,
        arrive_priority_i: 3,
        arrive_octets_i: 60_000,
        depart_priority_i: 3,
        depart_octets_i: 20_000,
        line_free_i: true,
        m_axis_tready: true,
        ..Default::default()
    };
    let mut frames = Vec::new();
    for clock in 0..60 {
        given.rst_i = clock == 0;
        given.arrive_valid_i = clock == 5;
        given.depart_valid_i = clock == 30;
        let out = core.clock(&given);
        // Before the reset it may show anything.
        if clock > 0 {
            frames.extend(sink.see(out.m_axis_tvalid, beat!(out), true));
        }
    }
    let example = [
        &[0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0xaa, 0x88, 0x08, 0x01, 0x01][..],
        &[0x00, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &[0; 26][..],
    ]
    .concat();
    let mut resume = example.clone();
    resume[24..26].fill(0);
    assert_eq!(frames, [Frame::new(example), Frame::new(resume)]);
}

/// One priority by the rules of the simulator's counters.
#[derive(Clone, Copy, Default)]
struct Counter {
    full: bool,
    announced: bool,
    pending: bool,
    refresh: Option<u64>,
}

struct Side<D: Data = u64> {
    held: [u32; 8],
    full: u8,
    frames: u32,
    valid: bool,
    beat: Beat<D>,
}

/// Inputs of the switch's side in a clock.
#[derive(Default)]
struct Given {
    reset: bool,
    xoff: u32,
    xon: u32,
    quanta: u16,
    arrive: Option<(u8, u16)>,
    depart: Option<(u8, u16)>,
    line_free: bool,
    ready: bool,
}

macro_rules! tells {
    ($module:ident) => {
        |core: &mut $module::Core, given: &Given| {
            let out = core.clock(&$module::In {
                rst_i: given.reset,
                xoff_i: given.xoff,
                xon_i: given.xon,
                quanta_i: given.quanta,
                source_mac_i: 0x0200_0000_00aa,
                arrive_valid_i: given.arrive.is_some(),
                arrive_priority_i: given.arrive.map_or(3, |a| a.0),
                arrive_octets_i: given.arrive.map_or(999, |a| a.1),
                depart_valid_i: given.depart.is_some(),
                depart_priority_i: given.depart.map_or(3, |d| d.0),
                depart_octets_i: given.depart.map_or(999, |d| d.1),
                line_free_i: given.line_free,
                m_axis_tready: given.ready,
            });
            let octet = |at: usize| out.held_o[at / 4] >> (8 * (at % 4)) & 0xff;
            Side {
                held: std::array::from_fn(|p| octet(3 * p) | octet(3 * p + 1) << 8 | octet(3 * p + 2) << 16),
                full: out.full_o,
                frames: out.frames_o,
                valid: out.m_axis_tvalid,
                beat: beat!(out),
            }
        }
    };
}

fn keeps_the_rules<C, D: Data>(mut core: C, clock: impl Fn(&mut C, &Given) -> Side<D>, lossless: u8, quantum: u64) {
    let all = 60usize.div_ceil(D::OCTETS);
    let mut random = Random::new(62);
    let mut given = Given::default();
    let mut counters = [Counter::default(); 8];
    // Octets held after the events of each of the last clocks, the newest first.
    let mut held = [[0u32; 8]; 5];
    let mut sink = Sink::default();
    let mut coming = VecDeque::new();
    let (mut shown, mut beats, mut frames, mut since_reset) = (false, 0, 0, 0);
    let (mut stalls, mut busy, mut wild, mut floods, mut grain, mut announcements, mut brimful) =
        (1, 1, false, false, 1, 0u64, 0u64);
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        given.reset = now == 0 || since_reset > 20_000 && random.one_in(2_000);
        since_reset += 1;
        if given.reset {
            // Now and then all are multiples of a number, and the counters meet both thresholds exactly.
            grain = if random.one_in(3) { 400 } else { 1 };
            given.xoff = (10_000 + random.below(100_000) as u32) / grain * grain;
            given.xon = random.below(u64::from(given.xoff)) as u32 / grain * grain;
            given.quanta = if random.one_in(4) { random.below(3) as u16 } else { random.below(300) as u16 };
            (stalls, busy, wild) = (1 + random.below(3), 1 + random.below(100), random.one_in(3));
            // Much more comes than leaves: the counters get to their largest value.
            floods = wild && random.one_in(3);
        }
        let event = |random: &mut Random| {
            random.one_in(if floods { 2 } else { 8 }).then(|| {
                let octets = if wild { random.word() as u16 } else { 64 + random.below(1455) as u16 };
                (random.below(8) as u8, (u32::from(octets) / grain * grain) as u16)
            })
        };
        given.arrive = event(&mut random);
        // The octets that leave are those that were held, but for a wild report.
        given.depart = event(&mut random).filter(|&(p, octets)| wild || held[0][usize::from(p)] >= octets.into());
        given.depart = given.depart.filter(|_| !floods || random.one_in(16));
        given.line_free = random.one_in(busy);
        given.ready = random.one_in(stalls);
        let out = clock(&mut core, &given);
        if given.reset {
            counters = Default::default();
            held = Default::default();
            sink.clear();
            coming.clear();
            (shown, beats, frames, since_reset) = (false, 0, 0, 0);
            continue;
        }
        let full = (0..8).map(|p| u8::from(counters[p].full) << p).sum::<u8>();
        assert_eq!((out.held, out.full, out.frames), (held[1], full, frames), "in clock {now}");
        assert_eq!(out.valid, shown, "in clock {now}");
        if let Some(frame) = sink.see(out.valid, out.beat, given.ready) {
            assert_eq!(Some(frame), coming.pop_front(), "in clock {now}");
        }
        // A frame is made when the line is free, from the state at that time.
        let pending = (0..8).map(|p| u8::from(counters[p].pending) << p).sum::<u8>();
        let moves = !shown || given.ready;
        let composes = beats == 0 && !shown && given.line_free && pending != 0;
        if composes {
            let times = std::array::from_fn(|p| if pending & full & 1 << p != 0 { given.quanta } else { 0 });
            coming.push_back(Frame::new(pfc_frame(0x0200_0000_00aa, pending, times)));
            frames += 1;
            announcements += 1;
        }
        if moves {
            shown = composes || beats > 0;
            beats = if composes || beats > 0 { (beats + 1) % all } else { 0 };
        }
        for (p, counter) in counters.iter_mut().enumerate() {
            let now_held = held[2][p];
            let was_full = counter.full;
            if composes && counter.pending {
                counter.announced = counter.full;
                counter.pending = false;
                let half = u64::from(given.quanta) * quantum / 2;
                counter.refresh = (counter.full && half > 0).then_some(now + half);
            } else if counter.refresh == Some(now) {
                counter.refresh = None;
                counter.pending |= was_full;
            }
            if !was_full && now_held >= given.xoff {
                (counter.full, counter.pending) = (true, true);
            } else if was_full && now_held <= given.xon {
                // If it was announced, the opposite has to be announced; else nothing is pending.
                (counter.full, counter.pending) = (false, counter.announced);
            }
        }
        held.copy_within(0..4, 1);
        for (p, held) in held[0].iter_mut().enumerate().filter(|(p, _)| lossless & 1 << p != 0) {
            let of = |event: Option<(u8, u16)>| event.filter(|e| usize::from(e.0) == p).map_or(0, |e| i64::from(e.1));
            *held = (i64::from(*held) + of(given.arrive) - of(given.depart)).clamp(0, (1 << 24) - 1) as u32;
            brimful += u64::from(*held == (1 << 24) - 1);
        }
    }
    assert!(announcements > clocks * 3 / 10_000, "{announcements} frames");
    assert!(brimful > clocks / 1_000, "full for {brimful} clocks");
}

#[test]
fn one_lossless_priority() {
    keeps_the_rules(pfc_tx::Core::new(63), tells!(pfc_tx), 0b1000, 64);
}

#[test]
fn eight_lossless_priorities() {
    keeps_the_rules(pfc_tx_all::Core::new(64), tells!(pfc_tx_all), 0xff, 8);
}

/// Frames of all kinds, right and wrong.
enum Kind {
    Passes,
    Stops(u8, [u16; 8]),
    Malformed,
    Other,
}

fn any_frame(random: &mut Random) -> (Frame, Kind) {
    let enable = random.word() as u8;
    let times = std::array::from_fn(|_| match random.below(4) {
        0 => 0,
        1 => 1,
        2 => random.below(60) as u16,
        _ => random.below(10) as u16,
    });
    let source = random.next() >> 16;
    let mut frame = Frame::new(pfc_frame(source, enable, times));
    // The enable vector's high octet and the padding say nothing.
    if random.one_in(3) {
        frame.octets[16] = random.word() as u8;
        frame.octets[34..].fill(random.word() as u8);
    }
    match random.below(10) {
        0..=3 => (frame, Kind::Stops(enable, times)),
        4 => {
            frame.bad = true;
            (frame, Kind::Malformed)
        }
        5 => {
            let wrong = random.below(6) as usize;
            frame.octets[wrong] ^= 1 << random.below(8);
            (frame, Kind::Malformed)
        }
        6 => {
            // Around 60, and to the longest frame and beyond; or what 60 octets say again at each sixteenth beat, which a number of
            // beats that wraps would take for them.
            let (octets, again) = match random.below(4) {
                0 => (14 + random.below(100) as usize, false),
                1 => (60 + 8 * random.below(190) as usize, false),
                2 => (14 + random.below(1600) as usize, false),
                _ => (60 + 128 * random.below(12) as usize, true),
            };
            let kind = if octets == 60 { Kind::Stops(enable, times) } else { Kind::Malformed };
            if again {
                frame.octets.resize(128, 0);
                frame.octets = frame.octets.repeat(12);
            }
            frame.octets.resize(octets, 0);
            (frame, kind)
        }
        7 => {
            frame.octets[15] = 0;
            frame.octets[14] = random.word() as u8;
            (frame, Kind::Other)
        }
        8 => {
            // Another EtherType, or none.
            if random.one_in(2) {
                frame.octets[12 + random.below(2) as usize] ^= 1 << random.below(8);
            } else {
                frame.octets.truncate(1 + random.below(13) as usize);
            }
            (frame, Kind::Passes)
        }
        _ => {
            let length = length(random);
            let mut frame = Frame::random(random, length);
            // An address that has the EtherType's octets where a second beat would have it.
            if random.one_in(3) && length > 5 {
                frame.octets[4..6].copy_from_slice(&[0x88, 0x08]);
            }
            frame.bad = random.one_in(9);
            let control = frame.octets.get(12..14) == Some(&[0x88, 0x08]);
            (frame, if control { Kind::Malformed } else { Kind::Passes })
        }
    }
}

/// The wires: octets that `tkeep` leaves out, and all while nothing is shown, lure it into taking them for MAC control. They have its
/// EtherType where a first beat, or with 8 octets a second one, has it.
fn on_wires<D: Data>(shown: Option<Beat<D>>) -> Beat<D> {
    let mut octets: Vec<u8> = [0x5a, 0x5a, 0x5a, 0x5a, 0x88, 0x08, 0x5a, 0x5a].repeat(D::OCTETS / 8);
    let Some(beat) = shown else {
        let beat = Frame::new(octets).beats()[0];
        return Beat { user: false, ..beat };
    };
    let shown = beat.octets();
    octets[..shown.len()].copy_from_slice(&shown);
    Beat { data: D::of(&octets), ..beat }
}

/// The beats within: one that is kept until its frame's kind is known, and whether one shows.
struct Within<D: Data> {
    kept: Option<Beat<D>>,
    first: bool,
    control: bool,
    shows: bool,
}

impl<D: Data> Within<D> {
    const EMPTY: Self = Self { kept: None, first: true, control: false, shows: false };
    /// Where the EtherType stands in its beat, and whether that is a frame's first.
    const AT: usize = 12 % D::OCTETS;
    const IN_FIRST: bool = D::OCTETS > 12;

    /// One clock; returns whether the beat that comes is taken.
    fn clock(&mut self, shown: Option<Beat<D>>, ready: bool) -> bool {
        let space = !self.shows || ready;
        let Some(kept) = self.kept else {
            self.kept = shown;
            self.shows &= !space;
            return true;
        };
        let named = |beat: Beat<D>| beat.octets().get(Self::AT..Self::AT + 2) == Some(&[0x88, 0x08]);
        let control = match self.first {
            true if Self::IN_FIRST => named(kept),
            true => !kept.last && shown.is_some_and(named),
            false => self.control,
        };
        // Only a first beat waits for the next, if that says the kind, and MAC control, which shows nowhere, not for room
        // behind a beat that is known to be of it.
        let known = Self::IN_FIRST || !self.first || kept.last || shown.is_some();
        let moves = known && (space || control && (Self::IN_FIRST || !self.first));
        if space {
            self.shows = moves && !control;
        }
        if moves {
            (self.kept, self.first, self.control) = (shown, kept.last, control);
        }
        moves
    }
}

struct Obeys<D: Data = u64> {
    ready: bool,
    valid: bool,
    beat: Beat<D>,
    paused: u8,
    counts: (u32, u32, u32),
}

macro_rules! obeys {
    ($module:ident) => {
        |core: &mut $module::Core, reset: bool, shown: Option<Beat<_>>, ready: bool| {
            let beat = on_wires(shown);
            let out = core.clock(&$module::In {
                rst_i: reset,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tvalid: shown.is_some(),
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                m_axis_tready: ready,
            });
            Obeys {
                ready: out.s_axis_tready,
                valid: out.m_axis_tvalid,
                beat: beat!(out),
                paused: out.paused_o,
                counts: (out.frames_o, out.malformed_o, out.other_o),
            }
        }
    };
}

fn stops_and_goes_on<C, D: Data>(
    mut core: C,
    clock: impl Fn(&mut C, bool, Option<Beat<D>>, bool) -> Obeys<D>,
    quantum: u64,
    seed: u64,
) {
    /// From the clock in which a last beat is taken to the first in which the stop and the counters show.
    const STOP: u64 = 3;
    let mut random = Random::new(seed);
    let (mut source, mut sink) = (Source::default(), Sink::default());
    let mut within = Within::EMPTY;
    let mut kinds = VecDeque::new();
    let mut passing = VecDeque::new();
    let mut until = [0u64; 8];
    let mut coming: VecDeque<(u64, u8, [u16; 8])> = VecDeque::new();
    let mut counts: VecDeque<(u64, (u32, u32, u32))> = VecDeque::new();
    let (mut count, mut shown_count) = ((0, 0, 0), (0, 0, 0));
    let (mut since_reset, mut stalls, mut gaps, mut load, mut stopped) = (0, 1, 1, 1, 0u64);
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        let reset = now == 0 || since_reset > 20_000 && random.one_in(2_000);
        since_reset += 1;
        if reset {
            (stalls, gaps, load) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(300));
        }
        if source.left() < 200 && random.one_in(load) {
            let (frame, kind) = any_frame(&mut random);
            source.push(&frame);
            kinds.push_back((frame, kind));
        }
        let shown = source.show(random.one_in(gaps));
        let ready = random.one_in(stalls);
        let out = clock(&mut core, reset, shown, ready);
        if reset {
            source.clear();
            sink.clear();
            within = Within::EMPTY;
            (kinds, passing) = (VecDeque::new(), VecDeque::new());
            (coming, counts) = (VecDeque::new(), VecDeque::new());
            (until, count, shown_count, since_reset) = ([0; 8], (0, 0, 0), (0, 0, 0), 0);
            continue;
        }
        while coming.front().is_some_and(|c| c.0 == now) {
            let (at, enable, times) = coming.pop_front().expect("there is one");
            for p in (0..8).filter(|p| enable & 1 << p != 0) {
                until[p] = at + u64::from(times[p]) * quantum;
            }
        }
        while counts.front().is_some_and(|c| c.0 == now) {
            let (_, count) = counts.pop_front().expect("there is one");
            shown_count = count;
        }
        let paused = (0..8).map(|p| u8::from(until[p] > now) << p).sum::<u8>();
        assert_eq!((out.paused, out.counts), (paused, shown_count), "in clock {now}");
        stopped += u64::from(paused != 0);
        let shows = within.shows;
        assert_eq!((out.valid, out.ready), (shows, within.clock(shown, ready)), "in clock {now}");
        if let Some(frame) = sink.see(out.valid, out.beat, ready) {
            assert_eq!(Some(frame), passing.pop_front(), "in clock {now}");
        }
        if shown.is_some() && out.ready && source.take().last {
            let (frame, kind) = kinds.pop_front().expect("it was shown");
            match kind {
                Kind::Passes => passing.push_back(frame),
                Kind::Stops(enable, times) => {
                    coming.push_back((now + STOP, enable, times));
                    count.0 += 1;
                }
                Kind::Malformed => count.1 += 1,
                Kind::Other => count.2 += 1,
            }
            counts.push_back((now + STOP, count));
        }
    }
    assert!(stopped > clocks / 100, "stopped for {stopped} clocks");
}

#[test]
fn stops_at_1_gbps() {
    stops_and_goes_on(pfc_rx::Core::new(65), obeys!(pfc_rx), 64, 66);
}

#[test]
fn stops_at_8_gbps() {
    stops_and_goes_on(pfc_rx_fast::Core::new(67), obeys!(pfc_rx_fast), 8, 68);
}

#[test]
fn beats_of_512_bits() {
    keeps_the_rules(pfc_tx_512::Core::new(72), tells!(pfc_tx_512), 0b1000, 64);
    stops_and_goes_on(pfc_rx_512::Core::new(73), obeys!(pfc_rx_512), 64, 74);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_and_256_bits() {
    keeps_the_rules(pfc_tx_128::Core::new(75), tells!(pfc_tx_128), 0b1000, 64);
    keeps_the_rules(pfc_tx_256::Core::new(76), tells!(pfc_tx_256), 0b1000, 64);
    stops_and_goes_on(pfc_rx_128::Core::new(77), obeys!(pfc_rx_128), 64, 78);
    stops_and_goes_on(pfc_rx_256::Core::new(79), obeys!(pfc_rx_256), 64, 80);
}

/// A NIC that sends whenever it may, a line of 5 us in each direction, and a switch that drains slowly: the headroom that the
/// simulator computes is never exceeded, and stops never run out.
#[test]
fn headroom_holds_on_a_line() {
    const CLOCK_PS: u64 = 8_000;
    const LINE: u64 = 625;
    const LARGEST: u16 = 1518;
    const OVERHEAD: u16 = 20;
    // The clocks that the cores and this test take beside the line: from an arrival to the first beat, and from a frame's end to the
    // stop (its beats go into the NIC only then).
    const TELLS: u64 = 6;
    const OBEYS: u64 = 8 + 4;
    let clocks = |n: u64| Duration(n * CLOCK_PS);
    let reach = Reach {
        rate: BitRate(1_000_000_000),
        latency: clocks(LINE + TELLS),
        largest: LARGEST,
        back_rate: BitRate(1_000_000_000),
        back_latency: clocks(LINE + OBEYS),
        back_largest: LARGEST,
        response: Duration(0),
        wire_overhead: OVERHEAD,
        copies: 1,
    };
    assert_eq!((FRAME, QUANTUM_BITS), (64, 512));
    let room = headroom(&reach).0 as u32;
    let (xoff, xon) = (30_000, 20_000);
    let mut random = Random::new(69);
    let (mut tx, mut rx) = (pfc_tx::Core::new(70), pfc_rx::Core::new(71));
    let mut given = Given { xoff, xon, ready: true, ..Given::default() };
    given.quanta = reach.least_quanta().expect("it is short") + 1;
    let tells = tells!(pfc_tx);
    let obeys = obeys!(pfc_rx);
    let mut sink = Sink::default();
    let mut source = Source::default();
    let (mut on_line, mut back) = (VecDeque::new(), VecDeque::new());
    let (mut held, mut most, mut fifo) = (0u32, 0, VecDeque::new());
    let (mut sends_until, mut back_until, mut drains_until, mut paused, mut stops) = (0, 0, 0, true, 0);
    for now in 0..3_000_000u64 {
        given.reset = now == 0;
        // The NIC: frames of the lossless priority, as fast as it may.
        if now >= sends_until && !paused && now > 10 {
            let octets = if random.one_in(3) { 64 } else { LARGEST };
            sends_until = now + u64::from(octets + OVERHEAD);
            on_line.push_back((sends_until + LINE, octets));
        }
        given.arrive = on_line.pop_front_if(|f| f.0 == now).map(|f: (u64, u16)| (3, f.1));
        given.depart = None;
        if now >= drains_until && !fifo.is_empty() {
            let octets: u16 = fifo.pop_front().expect("it is not empty");
            drains_until = now + u64::from(octets) * (1 + random.below(20));
            given.depart = Some((3, octets));
            held -= u32::from(octets);
        }
        if let Some((_, octets)) = given.arrive {
            fifo.push_back(octets);
            held += u32::from(octets);
        }
        most = most.max(held);
        assert!(held <= xoff + room, "{held} octets held in clock {now}, {xoff} + {room} have room");
        // The line back: other frames as often as there is a chance.
        given.line_free = now >= back_until;
        // A pause frame comes first; one that is not asked for when another frame begins has to wait for it.
        let other = now > back_until && random.one_in(3);
        given.line_free &= !other;
        let out = tells(&mut tx, &given);
        if other && !out.valid {
            back_until = now + u64::from(LARGEST + OVERHEAD);
        }
        if let Some(frame) = sink.see(out.valid && !given.reset, out.beat, true) {
            // Its first beat was seven clocks ago.
            back_until = now - 7 + u64::from(FRAME + OVERHEAD);
            back.push_back((back_until + LINE, frame));
            stops += 1;
        } else if out.valid {
            back_until = now + 1;
        }
        if let Some((_, frame)) = back.pop_front_if(|f| f.0 == now) {
            source.push(&frame);
        }
        let shown = source.show(true);
        let out = obeys(&mut rx, given.reset, shown, true);
        paused = out.paused & 1 << 3 != 0;
        if shown.is_some() && out.ready {
            source.take();
        }
    }
    assert!(stops > 500, "{stops} frames");
    assert!(most > xoff + room / 2, "{most} octets held at most: the line was never tried");
}
