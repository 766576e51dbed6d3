//! Priority flow control: the switch's side by the simulator's rules, the NIC's side, and both with a line between them.

#[path = "pool.rs"]
mod pool;
#[path = "rx.rs"]
mod rx;

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source};
use penstock_cosim::{Random, at_least, pfc_rx, pfc_tx, pfc_tx_512, pfc_tx_all};
#[cfg(feature = "widths")]
use penstock_cosim::{pfc_tx_128, pfc_tx_256};
use penstock_schemes::{BitRate, Duration};
use penstock_switch::flow_control::pfc::{FRAME, QUANTUM_BITS, Reach, headroom};

const CONTROL: u64 = 0x0180_c200_0001;

macro_rules! beat {
    ($out:expr) => {
        Beat { data: $out.m_axis_tdata, keep: $out.m_axis_tkeep, last: $out.m_axis_tlast, user: $out.m_axis_tuser }
    };
}
use beat;

/// Eight of the same, one a priority.
fn of_all(octets: u32) -> [u32; 6] {
    let mut all = [0; 6];
    (0..8).for_each(|p| all.put(24 * p, 24, octets.into()));
    all
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
        xoff_i: of_all(50_000),
        xon_i: of_all(40_000),
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
    most: [u32; 8],
    pause_clocks: [u64; 8],
    full: u8,
    frames: u32,
    valid: bool,
    beat: Beat<D>,
}

/// Inputs of the switch's side in a clock.
#[derive(Default)]
struct Given {
    reset: bool,
    restart: bool,
    xoff: [u32; 8],
    xon: [u32; 8],
    quanta: u16,
    arrive: Option<(u8, u16)>,
    depart: Option<(u8, u16)>,
    line_free: bool,
    ready: bool,
}

macro_rules! tells {
    ($module:ident) => {
        |core: &mut $module::Core, given: &Given| {
            let (mut xoff_i, mut xon_i) = ([0; 6], [0; 6]);
            for p in 0..8 {
                xoff_i.put(24 * p, 24, given.xoff[p].into());
                xon_i.put(24 * p, 24, given.xon[p].into());
            }
            let out = core.clock(&$module::In {
                rst_i: given.reset,
                restart_i: given.restart,
                xoff_i,
                xon_i,
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
            Side {
                held: std::array::from_fn(|p| out.held_o.get(24 * p, 24) as u32),
                most: std::array::from_fn(|p| out.most_o.get(24 * p, 24) as u32),
                pause_clocks: std::array::from_fn(|p| out.pause_clocks_o.get(48 * p, 48)),
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
    // Octets held after the events of each of the last clocks, the newest first; the most of them, and clocks of pauses, as they show.
    let mut held = [[0u32; 8]; 5];
    let (mut most, mut pause_clocks) = ([0u32; 8], [0u64; 8]);
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
            given.xoff = std::array::from_fn(|_| (10_000 + random.below(100_000) as u32) / grain * grain);
            given.xon = given.xoff.map(|xoff| random.below(u64::from(xoff)) as u32 / grain * grain);
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
        given.restart = random.one_in(5_000);
        given.line_free = random.one_in(busy);
        given.ready = random.one_in(stalls);
        let out = clock(&mut core, &given);
        if given.reset {
            counters = Default::default();
            held = Default::default();
            (most, pause_clocks) = ([0; 8], [0; 8]);
            sink.clear();
            coming.clear();
            (shown, beats, frames, since_reset) = (false, 0, 0, 0);
            continue;
        }
        let full = (0..8).map(|p| u8::from(counters[p].full) << p).sum::<u8>();
        assert_eq!((out.held, out.full, out.frames), (held[1], full, frames), "in clock {now}");
        assert_eq!((out.most, out.pause_clocks), (most, pause_clocks), "in clock {now}");
        for p in 0..8 {
            most[p] = if given.restart { held[1][p] } else { most[p].max(held[1][p]) };
            pause_clocks[p] += u64::from(counters[p].announced);
        }
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
            if !was_full && now_held >= given.xoff[p] {
                (counter.full, counter.pending) = (true, true);
            } else if was_full && now_held <= given.xon[p] {
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

#[test]
fn at_100_gbps_in_beats_of_512_bits() {
    keeps_the_rules(pfc_tx_512::Core::new(72), tells!(pfc_tx_512), 0b1000, 2);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_and_256_bits() {
    keeps_the_rules(pfc_tx_128::Core::new(75), tells!(pfc_tx_128), 0b1000, 64);
    keeps_the_rules(pfc_tx_256::Core::new(76), tells!(pfc_tx_256), 0b1000, 64);
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
    let mut given = Given { xoff: [xoff; 8], xon: [xon; 8], ready: true, ..Given::default() };
    given.quanta = reach.least_quanta().expect("it is short") + 1;
    let tells = tells!(pfc_tx);
    let obeys = rx::obeys!(pfc_rx);
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
