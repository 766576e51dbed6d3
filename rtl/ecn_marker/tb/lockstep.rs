//! The marker against the congestion point of the schemes: which frames are marked, every beat in every clock.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Data, Frame, Source, length};
use penstock_cosim::{Random, at_least, dcqcn};
use penstock_schemes::dcqcn::{Config, Dcqcn};
use penstock_schemes::info::Threshold;
use penstock_schemes::parts::marking::Ce;
use penstock_schemes::parts::marking_cp::MarkingCp;
use penstock_schemes::{BitRate, CongestionPoint, Draw, FlowKey, Instant, Octets};
use penstock_wire::ipv4;

/// Clocks from a beat's arrival to the one in which it shows.
const LATENCY: usize = 6;
const VLAN: [u8; 2] = [0x81, 0x00];
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// The settings, and what a clock brings.
#[derive(Debug, Clone, Copy, Default)]
struct Given<D: Data> {
    reset: bool,
    k_min: u32,
    k_max: u32,
    p_max: u64,
    len: u32,
    word: u32,
    beat: Option<Beat<D>>,
    ready: bool,
}

/// The outputs of all builds, in one shape.
struct Shown<D: Data> {
    ready: bool,
    beat: Option<Beat<D>>,
    counts: [u32; 2],
}

/// A word that is drawn.
struct Word(u32);

impl Draw for Word {
    fn draw(&mut self) -> u32 {
        self.0
    }
}

/// The congestion point with these settings.
fn point(k_min: u32, k_max: u32, p_max: u64) -> MarkingCp {
    let config = Config {
        k_min: Threshold(k_min.into()),
        k_max: Threshold(k_max.into()),
        p_max: p_max as f64 / 4_294_967_296.0,
        ..dcqcn::defaults()
    };
    MarkingCp::new(&config, BitRate::from_gbps(10))
}

/// Whether it marks a frame that finds this queue with this word.
fn marks(point: &mut MarkingCp, len: u32, word: u32) -> bool {
    let mut tag = Ce(false);
    let frame = penstock_schemes::Frame {
        flow: FlowKey(7),
        octets: 1500,
        weight: 1,
        seq: Octets(0),
        last: false,
        trimmed: false,
        sent_at: Instant::ZERO,
        tag: &mut tag,
    };
    CongestionPoint::<Dcqcn>::mark(point, Instant::ZERO, frame, Octets(len.into()), &mut Word(word));
    tag.0
}

fn word(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// A frame of IPv4 or IPv6, with a tag or without, or of another protocol; often a short one, for most of it does not
/// matter.
fn frame(random: &mut Random) -> Frame {
    let long = if random.one_in(8) { length(random) } else { 1 + random.below(80) as usize };
    let mut frame = Frame::random(random, long.max(60));
    let octets = &mut frame.octets;
    let mut at = 12;
    if random.one_in(2) {
        octets[12..14].copy_from_slice(&VLAN);
        at = 16;
    }
    match random.below(8) {
        0..=4 => {
            octets[at..at + 2].copy_from_slice(&IPV4);
            octets[at + 2] = 0x45;
            let header = at + 2;
            // The identification takes the checksum to its ends.
            if random.one_in(2) {
                let wanted = [0, 1, 2, 0xfffe, 0xfffd][random.below(5) as usize];
                octets[header + 4..header + 6].fill(0);
                let lacks = ipv4::checksum(&octets[header..header + 20]);
                octets[header + 4..header + 6].copy_from_slice(&add(lacks, !wanted).to_be_bytes());
            }
            let checksum = ipv4::checksum(&octets[header..header + 20]);
            octets[header + 10..header + 12].copy_from_slice(&checksum.to_be_bytes());
            if random.one_in(8) {
                octets[header + 10] ^= 1 << random.below(8);
            }
        }
        5 | 6 => octets[at..at + 2].copy_from_slice(&IPV6),
        _ => {}
    }
    octets.truncate(long);
    frame.bad = random.one_in(10);
    frame
}

/// The sum in one's complement.
fn add(a: u16, b: u16) -> u16 {
    let sum = u32::from(a) + u32::from(b);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The frame with the mark of RFC 3168; the octet that has changed, if one has.
fn marked(frame: &Frame) -> (Frame, Option<usize>) {
    let mut octets = frame.octets.clone();
    octets.resize(octets.len().max(64), 0);
    let at = if octets[12..14] == VLAN { 16 } else { 12 };
    let (ipv4, octet) = (octets[at..at + 2] == IPV4, at + 3);
    let shift = if ipv4 { 0 } else { 4 };
    let ecn = octets[octet] >> shift & 3;
    let capable = octet < frame.octets.len() && (ipv4 || octets[at..at + 2] == IPV6) && (ecn == 1 || ecn == 2);
    if !capable {
        return (frame.clone(), None);
    }
    let header = at + 2..at + 22;
    let right = ipv4::checksum(&octets[header.clone()]) == word(&octets, at + 12);
    octets[octet] |= 3 << shift;
    if ipv4 {
        // The whole header's where it was right; where it was wrong, it is so by as much.
        let place = at + 12;
        let mended =
            if right { ipv4::checksum(&octets[header]) } else { !add(!word(&octets, place), u16::from(3 - ecn)) };
        octets[place..place + 2].copy_from_slice(&mended.to_be_bytes());
    }
    octets.truncate(frame.octets.len());
    (Frame { octets, bad: frame.bad }, Some(octet))
}

/// What counts of a beat: data behind `tkeep` may be anything.
fn counted<D: Data>(beat: Beat<D>) -> (Vec<u8>, bool, bool) {
    (beat.octets(), beat.last, beat.user)
}

/// A beat on its way, and what counts when it shows: its frame is chosen, and it gets the mark.
#[derive(Clone, Copy)]
struct Moving<D: Data>(Beat<D>, [u32; 2]);

fn settings<D: Data>(random: &mut Random, given: &mut Given<D>) {
    let any = |random: &mut Random| match random.below(6) {
        0 => 0,
        1 => (1 << 24) - 1,
        2 => 10_000,
        3 => 100_000,
        _ => (random.next() >> (40 + random.below(24))) as u32,
    };
    (given.k_min, given.k_max) = (any(random), any(random));
    if random.one_in(8) {
        given.k_max = given.k_min;
    }
    given.p_max = match random.below(5) {
        0 => 1 << 32,
        1 => 0,
        2 => (1 << 32) - 1,
        3 => 429_496_729,
        _ => random.next() >> 32,
    };
}

/// A queue near one of the thresholds or between them, and a word near the one at which the decision turns.
fn queue<D: Data>(random: &mut Random, given: &mut Given<D>) {
    let (low, high) = (given.k_min, given.k_max);
    let near = |at: u32, random: &mut Random| (at + random.below(3) as u32).saturating_sub(1).min((1 << 24) - 1);
    given.len = match random.below(8) {
        0 => near(low, random),
        1 => near(high, random),
        2 => random.below(1 << 24) as u32,
        _ => low + random.below(1 + u64::from(high.saturating_sub(low))) as u32,
    };
    given.word = random.word();
    if low < given.len && given.len <= high && random.one_in(2) {
        let turns = u128::from(given.p_max) * u128::from(given.len - low) / u128::from(high - low);
        given.word = (turns + 1).saturating_sub(random.below(3).into()).min(u128::from(u32::MAX)) as u32;
    }
}

fn holds<D: Data>(seed: u64, clocks: u64, mut clock: impl FnMut(&Given<D>) -> Shown<D>) {
    let mut random = Random::new(seed);
    let mut source = Source::<D>::default();
    let mut coming: VecDeque<Frame> = VecDeque::new();
    // What is left of the frame that is taken, as it should leave.
    let mut leaving: VecDeque<Moving<D>> = VecDeque::new();
    let mut steps: VecDeque<Option<Moving<D>>> = VecDeque::new();
    let mut given = Given::<D>::default();
    let mut chooser = point(0, 1, 0);
    let (mut counts, mut shown_counts) = ([0; 2], [0; 2]);
    let (mut gaps, mut stalls) = (1, 1);
    let (mut frames, mut all) = (0u64, [0u64; 2]);
    for now in 0..clocks {
        given.reset = now == 0 || random.one_in(3_000);
        if given.reset {
            settings(&mut random, &mut given);
            chooser = point(given.k_min, given.k_max, given.p_max);
            (gaps, stalls) = (1 + random.below(3), 1 + random.below(4));
        }
        while source.left() < 4 {
            let frame = frame(&mut random);
            source.push(&frame);
            coming.push_back(frame);
        }
        queue(&mut random, &mut given);
        given.beat = source.show(random.one_in(gaps));
        given.ready = random.one_in(stalls);
        let out = clock(&given);
        if given.reset {
            source.clear();
            (coming, leaving) = (VecDeque::new(), VecDeque::new());
            steps = std::iter::repeat_n(None, LATENCY).collect();
            (counts, shown_counts) = ([0; 2], [0; 2]);
            continue;
        }
        let last = steps.back().expect("there are steps").map(|moving| moving.0);
        assert_eq!(out.beat.map(counted), last.map(counted), "in clock {now}, {given:?}");
        assert_eq!(out.counts, counts, "in clock {now}");
        counts = shown_counts;
        let moves = last.is_none() || given.ready;
        assert_eq!(out.ready, moves, "in clock {now}");
        if !moves {
            continue;
        }
        let taken = given.beat.map(|_| {
            source.take();
            if leaving.is_empty() {
                let frame = coming.pop_front().expect("a frame is on its way");
                let chosen = marks(&mut chooser, given.len, given.word);
                let (wanted, octet) = if chosen { marked(&frame) } else { (frame, None) };
                leaving = wanted.beats().into_iter().map(|beat| Moving(beat, [0; 2])).collect();
                leaving[0].1[0] = chosen.into();
                if let Some(octet) = octet {
                    leaving[octet / D::OCTETS].1[1] = 1;
                }
                frames += 1;
                all = [all[0] + u64::from(chosen), all[1] + u64::from(octet.is_some())];
            }
            leaving.pop_front().expect("a beat is left")
        });
        steps.push_front(taken);
        steps.pop_back();
        if let Some(Moving(_, [chosen, marks])) = steps.back().expect("there are steps") {
            shown_counts = [shown_counts[0] + chosen, shown_counts[1] + marks];
        }
    }
    println!("{frames} frames, {} chosen, {} marked", all[0], all[1]);
    assert!(frames > clocks / 100 && all[1] > frames / 20 && all[0] < frames, "{frames} frames, {all:?}");
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $data:ty, $seed:expr, $clocks:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};
            let mut core = Core::new($seed);
            holds::<$data>($seed, at_least($clocks), |given| {
                let beat = given.beat.unwrap_or_default();
                let out = core.clock(&In {
                    rst_i: given.reset,
                    k_min_i: given.k_min,
                    k_max_i: given.k_max,
                    p_max_i: given.p_max,
                    queue_octets_i: given.len,
                    random_i: given.word,
                    s_axis_tvalid: given.beat.is_some(),
                    s_axis_tdata: beat.data,
                    s_axis_tkeep: beat.keep,
                    s_axis_tlast: beat.last,
                    s_axis_tuser: beat.user,
                    m_axis_tready: given.ready,
                });
                let beat = Beat {
                    data: out.m_axis_tdata,
                    keep: out.m_axis_tkeep,
                    last: out.m_axis_tlast,
                    user: out.m_axis_tuser,
                };
                Shown {
                    ready: out.s_axis_tready,
                    beat: out.m_axis_tvalid.then_some(beat),
                    counts: [out.chosen_o, out.marked_o],
                }
            });
        }
    };
}

lockstep!(marks_as_the_scheme_does, ecn_marker, u64, 51, 2_000_000);
lockstep!(marks_512_bits_as_the_scheme_does, ecn_marker_512, [u32; 16], 52, 1_000_000);
#[cfg(feature = "widths")]
lockstep!(marks_128_bits_as_the_scheme_does, ecn_marker_128, [u32; 4], 53, 2_000_000);
#[cfg(feature = "widths")]
lockstep!(marks_256_bits_as_the_scheme_does, ecn_marker_256, [u32; 8], 54, 2_000_000);
