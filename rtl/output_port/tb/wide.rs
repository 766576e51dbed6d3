//! The port for wide beats: each frame starts when it does on an ideal line, in every clock, at 100 Gb/s and at the highest rate.

use std::collections::VecDeque;

use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source};
use penstock_cosim::{Random, at_least, output_port_wide, output_port_wide_slack};
#[cfg(feature = "widths")]
use penstock_cosim::{output_port_wide_128, output_port_wide_256};

use super::{CHECK, LINE, SHORTEST};

const CLOCK_HZ: u64 = 322_265_625;
/// The cost of an octet on the line, bit × Hz: a clock has as many as the rate has bit/s.
const OCTET: u64 = 8 * CLOCK_HZ;

/// Inputs in a clock.
struct Given<D: Data> {
    reset: bool,
    rate: u64,
    beat: Option<Beat<D>>,
    ready: bool,
}

/// Outputs in a clock.
struct Seen<D: Data> {
    rate: u64,
    ready: bool,
    beat: Option<Beat<D>>,
    start: bool,
    frames: u32,
    octets: u64,
}

macro_rules! clocked {
    ($core:ident, $seed:expr) => {{
        let mut core = $core::Core::new($seed);
        move |given: &Given<_>| {
            let beat = given.beat.unwrap_or_default();
            let out = core.clock(&$core::In {
                rst_i: given.reset,
                rate_i: given.rate,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                s_axis_tvalid: given.beat.is_some(),
                m_axis_tready: given.ready,
                ..Default::default()
            });
            let shown =
                Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
            Seen {
                rate: out.rate_o,
                ready: out.s_axis_tready,
                beat: out.m_axis_tvalid.then_some(shown),
                start: out.start_o,
                frames: out.frames_o,
                octets: out.octets_o,
            }
        }
    }};
}

/// Octets that a frame has on the line.
fn on_line(length: usize) -> u64 {
    (length as u64 + CHECK).max(SHORTEST) + LINE
}

/// As fast as beats come: each frame of each length starts in the first clock in which it may, so that the line has all of its rate.
fn reaches<D: Data>(mut core: impl FnMut(&Given<D>) -> Seen<D>, rate: u64) {
    let mut random = Random::new(35);
    let lengths: Vec<usize> = (60..=140).chain([187, 188, 189, 252, 508, 1020, 1513, 1514, 9000]).collect();
    let rounds: Vec<&[usize]> = lengths.chunks(1).chain([&lengths[..]; 20]).collect();
    for choice in rounds {
        let mut given = Given { reset: true, rate, beat: None, ready: true };
        core(&given);
        given.reset = false;
        let (mut source, mut waiting, mut ideal) = (Source::default(), VecDeque::new(), None);
        for clock in 0..12_000u64 {
            while source.left() < 10 {
                let length = choice[random.below(choice.len() as u64) as usize];
                source.push(&Frame::random(&mut random, length));
                waiting.push_back(length);
            }
            given.beat = source.show(true);
            let out = core(&given);
            if out.start {
                let at = *ideal.get_or_insert(clock * rate);
                assert_eq!(clock, at.div_ceil(rate), "{choice:?}: ideally at {at}/{rate}");
                ideal = Some(at + on_line(waiting.pop_front().expect("it waits")) * OCTET);
            }
            if out.ready {
                source.take();
            }
        }
        assert!(ideal.is_some_and(|at| at > 10_000 * rate));
    }
}

/// Gaps, stalls, frames of all lengths, resets: never faster than the rate by more than the rest of a clock, nothing cut or lost, and
/// every beat is counted.
fn survives<D: Data>(mut core: impl FnMut(&Given<D>) -> Seen<D>, highest: u64) {
    let mut random = Random::new(25);
    let (mut total, mut clock) = (0, 0);
    while clock < at_least(1_000_000) {
        let rate =
            [highest, highest + 1, 100_000_000_000.min(highest), 1 + random.below(highest)][random.below(4) as usize];
        let mut given = Given { reset: true, rate, beat: None, ready: true };
        core(&given);
        given.reset = false;
        let (gaps, stalls) = (1 + random.below(3), 1 + random.below(3));
        let (mut source, mut sink) = (Source::default(), Sink::default());
        let (mut coming, mut sent) = (VecDeque::new(), VecDeque::new());
        let (mut earliest, mut frames, mut octets) = (0, 0, 0);
        let clocks = 5_000 + random.below(20_000);
        // The last clocks are for what was begun.
        for now in 0..clocks {
            if source.left() == 0 && now + 2_000 < clocks {
                let length = penstock_cosim::stream::length(&mut random);
                let mut frame = Frame::random(&mut random, length);
                frame.bad = random.one_in(9);
                source.push(&frame);
                coming.push_back(length);
                sent.push_back(frame);
            }
            given.beat = source.show(random.one_in(gaps));
            given.ready = random.one_in(stalls);
            let out = core(&given);
            if now > 1 {
                assert_eq!(out.rate, if rate > highest { 0 } else { rate }, "clock {now}");
            }
            if out.start {
                assert!(rate <= highest && now * rate >= earliest, "clock {now}");
                let length = coming.pop_front().expect("it has come");
                earliest = earliest.max((now * rate).saturating_sub(rate)) + on_line(length) * OCTET;
            }
            if let Some(beat) = given.beat.filter(|_| out.ready) {
                source.take();
                octets += beat.octets().len() as u64 + if beat.last { CHECK } else { 0 };
            }
            if let Some(frame) = sink.see(out.beat.is_some(), out.beat.unwrap_or_default(), given.ready) {
                assert_eq!(Some(frame), sent.pop_front(), "clock {now}");
                frames += 1;
            }
            if now + 1 == clocks && source.left() == 0 && sent.is_empty() {
                assert_eq!((out.frames, out.octets), (frames, octets));
                total += frames;
            }
        }
        clock += clocks;
    }
    assert!(total > 1_000, "{total} frames in rounds that came to an end");
}

/// The highest rates at 322.265625 MHz: 89 octets in two clocks, or in three, or that of the beats.
const HIGHEST_512: u64 = 8 * 89 * CLOCK_HZ / 2;

#[test]
fn reaches_100_gbps() {
    reaches(clocked!(output_port_wide, 6), 100_000_000_000);
    reaches(clocked!(output_port_wide, 6), HIGHEST_512);
}

#[test]
fn survives_what_comes_in_wide_beats() {
    survives(clocked!(output_port_wide, 7), HIGHEST_512);
}

#[cfg(feature = "widths")]
#[test]
fn other_widths_reach_their_rates() {
    reaches(clocked!(output_port_wide_256, 8), 8 * 89 * CLOCK_HZ / 3);
    survives(clocked!(output_port_wide_256, 8), 8 * 89 * CLOCK_HZ / 3);
    reaches(clocked!(output_port_wide_128, 9), 128 * CLOCK_HZ);
    survives(clocked!(output_port_wide_128, 9), 128 * CLOCK_HZ);
}

/// In which clocks three of the shortest frames start: the first as soon as it may, the second `late` clocks after the line got free, and
/// the third behind it.
fn starts<D: Data>(core: &mut impl FnMut(&Given<D>) -> Seen<D>, rate: u64, late: u64) -> Vec<u64> {
    let mut given = Given { reset: true, rate, beat: None, ready: true };
    core(&given);
    given.reset = false;
    let one = (on_line(60) * OCTET).div_ceil(rate);
    let (mut source, mut random, mut starts) = (Source::default(), Random::new(10), Vec::new());
    (0..3).for_each(|_| source.push(&Frame::random(&mut random, 60)));
    for clock in 0..5 * one + late {
        let comes = if let [first] = starts[..] { first + one + late } else { 0 };
        given.beat = source.show(clock >= comes);
        let out = core(&given);
        if out.start {
            starts.push(clock);
        }
        if out.ready && given.beat.is_some() {
            source.take();
        }
    }
    starts
}

/// The rest of the clock in which a frame ends counts for one that comes within `Slack` clocks after the line got free, and for no other.
#[test]
fn the_rest_of_a_clock_counts_for_wide_frames_that_come_in_time() {
    // 88.4 clocks a frame: two of them take 177, but 178 if the second begins with a whole clock.
    const RATE: u64 = 2_450_000_000;
    const SLACK: u64 = 5;
    let [one, two] = [1, 2].map(|n| (n * on_line(60) * OCTET).div_ceil(RATE));
    assert_eq!((one, two), (89, 177));
    let mut strict = clocked!(output_port_wide, 11);
    let mut slack = clocked!(output_port_wide_slack, 11);
    for late in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 500] {
        let third = |starts: Vec<u64>| {
            assert_eq!((starts.len(), starts[1] - starts[0]), (3, one + late), "{starts:?}");
            starts[2] - starts[0]
        };
        assert_eq!(third(starts(&mut strict, RATE, late)), 2 * one + late, "{late} clocks late");
        let expected = if late <= SLACK { two } else { 2 * one + late };
        assert_eq!(third(starts(&mut slack, RATE, late)), expected, "{late} clocks late, with slack");
    }
}
