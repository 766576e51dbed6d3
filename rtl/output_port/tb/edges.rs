//! Cases that random frames meet too seldom: the clocks behind a reset, frames and beats that come hardly in time or hardly too late.

use std::iter;

use penstock_cosim::{
    Random, output_port, output_port_slack,
    stream::{Frame, Source},
};

use super::{CHECK, CLOCK_HZ, Clocked, HIGHEST, LINE};

/// The cost of an octet on the line, bit × Hz: a clock has as many as the rate has bit/s.
const OCTET: u64 = 8 * CLOCK_HZ;
/// Octets that a frame of the shortest length takes on the line.
const SHORT: u64 = 60 + CHECK + LINE;
const FRAMES: usize = 50;
/// `Slack` of the build that has one.
const SLACK: u64 = 5;

/// A build with one change of the rate, driven as one with four.
fn with_slack(core: &mut output_port_slack::Core, given: &output_port::In) -> output_port::Out {
    let out = core.clock(&output_port_slack::In {
        rst_i: given.rst_i,
        rate_i: given.rate_i,
        m_axis_tready: given.m_axis_tready,
        s_axis_tdata: given.s_axis_tdata,
        s_axis_tkeep: given.s_axis_tkeep,
        s_axis_tvalid: given.s_axis_tvalid,
        s_axis_tlast: given.s_axis_tlast,
        ..Default::default()
    });
    output_port::Out {
        s_axis_tready: out.s_axis_tready,
        start_o: out.start_o,
        free_o: out.free_o,
        free_soon_o: out.free_soon_o,
        ..Default::default()
    }
}

/// The deeds of a port: the clocks since the reset in which frames started, in which the beat behind a gap was taken, and in which
/// `free_o` and `free_soon_o` were high.
#[derive(Default)]
struct Did {
    starts: Vec<u64>,
    resumed: u64,
    free: Vec<u64>,
    soon: Vec<u64>,
}

/// Behind a reset of one clock: frames at a rate, each shown from its clock on, if the one before it has been taken; of the first
/// the beat number `gap.0` comes `gap.1` clocks late.
fn did(core: Clocked, rate: u64, frames: &[(usize, u64)], mut gap: (usize, u64)) -> Did {
    let mut random = Random::new(45);
    let mut given = output_port::In { rst_i: true, rate_i: rate, m_axis_tready: true, ..Default::default() };
    core(&given);
    given.rst_i = false;
    let (mut did, mut source, mut left, mut taken) = (Did::default(), Source::default(), frames.iter(), 0);
    for clock in 0..10_000 {
        if source.left() == 0
            && let Some(&(length, from)) = left.as_slice().first()
            && clock >= from
        {
            source.push(&Frame::random(&mut random, length));
            left.next();
        }
        let late = taken == gap.0 && gap.1 > 0;
        gap.1 -= u64::from(late);
        let shown = source.show(!late);
        let beat = shown.unwrap_or_default();
        given.s_axis_tvalid = shown.is_some();
        (given.s_axis_tdata, given.s_axis_tkeep, given.s_axis_tlast) = (beat.data, beat.keep, beat.last);
        let out = core(&given);
        if out.start_o {
            did.starts.push(clock);
        }
        if out.free_o {
            did.free.push(clock);
        }
        if out.free_soon_o {
            did.soon.push(clock);
        }
        if shown.is_some() && out.s_axis_tready {
            source.take();
            if taken == gap.0 {
                did.resumed = clock;
            }
            taken += 1;
        }
    }
    did
}

/// A long frame and short ones that wait for it.
fn waiting(first: usize) -> Vec<(usize, u64)> {
    iter::once((first, 0)).chain([(60, 0); FRAMES]).collect()
}

/// The clocks in which they start, if the first one starts in this clock and ends at that time, in bit × Hz.
fn behind(start: u64, end: u64, rate: u64) -> Vec<u64> {
    iter::once(start).chain((0..FRAMES as u64).map(|index| (end + index * SHORT * OCTET).div_ceil(rate))).collect()
}

/// Nothing is open in the clock behind a reset; in the next one the first frame starts, if it is there.
#[test]
fn a_frame_starts_in_the_second_clock_behind_a_reset() {
    let mut core = output_port::Core::new(46);
    let busy = did(&mut |given| core.clock(given), 1_000_000_000, &[(60, 0)], (8, 0));
    assert_eq!(busy.starts, [1]);
    let idle = did(&mut |given| core.clock(given), 1_000_000_000, &[], (8, 0));
    let open: Vec<u64> = (1..10_000).collect();
    assert_eq!(idle.free, open);
    assert_eq!(idle.soon, open);
}

/// A frame of 60 octets has a line of 1 Gb/s for 84 clocks.
#[test]
fn soon_comes_three_clocks_before_the_line_is_free() {
    let mut core = output_port::Core::new(46);
    let busy = did(&mut |given| core.clock(given), 1_000_000_000, &[(60, 100)], (8, 0));
    assert_eq!(busy.starts, [100]);
    assert_eq!(busy.free, (1..=100).chain(184..10_000).collect::<Vec<u64>>());
    assert_eq!(busy.soon, (1..=101).chain(181..10_000).collect::<Vec<u64>>());
}

/// Before the first change the rate is that of `rate_i`, whatever that was before, and after it that of the schedule.
#[test]
fn the_rate_is_the_given_one_until_the_first_change() {
    const CHANGE: u64 = 900;
    let given_rates = [1_000_000_000, 0, 500_000_000, HIGHEST + 1, HIGHEST, 100_000_000, 0];
    let mut core = output_port_slack::Core::unchecked(6);
    let mut given = output_port_slack::In {
        rst_i: true,
        rate_i: given_rates[0],
        schedule_entries_i: true,
        schedule_at_i: CHANGE,
        schedule_rate_i: 2_000_000_000,
        m_axis_tready: true,
        s_axis_tvalid: true,
        s_axis_tlast: true,
        s_axis_tkeep: 0xff,
        ..Default::default()
    };
    core.clock(&given);
    given.rst_i = false;
    for (index, given_rate) in given_rates.into_iter().enumerate() {
        given.rate_i = given_rate;
        let mut starts = 0;
        for clock in 0..200 {
            given.now_i = index as u64 * 200 + clock;
            let out = core.clock(&given);
            // The registers of the rate.
            if clock > 3 {
                let rate = match given_rate {
                    _ if given.now_i >= CHANGE + 3 => 2_000_000_000,
                    given if given > HIGHEST => 0,
                    given => given,
                };
                assert_eq!(out.rate_o, rate, "in clock {}", given.now_i);
                assert!(rate > 0 || !out.free_o && !out.free_soon_o, "in clock {}", given.now_i);
                starts += u64::from(out.start_o);
                assert!(rate > 0 || starts == 0, "in clock {}", given.now_i);
            }
        }
        assert!(starts > 0 || given_rate == 0 || given_rate > HIGHEST, "{given_rate} bit/s");
    }
}

/// The rest of the clock in which a frame ends counts for one that has waited for the line, or came within `Slack` clocks
/// after it got free, and for no other.
#[test]
fn the_rest_of_a_clock_counts_for_frames_that_come_in_time() {
    // 88.4 clocks a frame: two of them take 177, but 178 if the second begins with a whole clock.
    const RATE: u64 = 950_000_000;
    let one = (SHORT * OCTET).div_ceil(RATE);
    let two = (2 * SHORT * OCTET).div_ceil(RATE);
    assert_eq!((one, two), (89, 177));
    let mut strict = output_port::Core::new(46);
    let mut slack = output_port_slack::Core::new(46);
    // Clocks from the one in which the line got free to the one in which the second frame comes.
    for late in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 500] {
        let comes = 1 + one + late;
        let frames = [(60, 0), (60, comes), (60, 0)];
        let third = did(&mut |given| strict.clock(given), RATE, &frames, (8, 0)).starts;
        assert_eq!(third, [1, comes, comes + one], "{late} clocks late");
        let third = did(&mut |given| with_slack(&mut slack, given), RATE, &frames, (8, 0)).starts;
        let expected = if late <= SLACK { 1 + two } else { comes + one };
        assert_eq!(third, [1, comes, expected], "{late} clocks late, with slack");
    }
    let frames = [(60, 0), (60, one), (60, 0)];
    assert_eq!(did(&mut |given| strict.clock(given), RATE, &frames, (8, 0)).starts, [1, 1 + one, 1 + two]);
    // The line has been free since the reset: there is nothing left of a frame.
    for first in 1..10 {
        let starts = did(&mut |given| with_slack(&mut slack, given), RATE, &[(60, first), (60, 0)], (8, 0)).starts;
        assert_eq!(starts, [first, first + one]);
    }
}

/// A last beat that comes late takes work back two clocks later. While a whole beat's work is left then, the frame behind it starts
/// as on the ideal line; with less the line has waited for it, and nothing of a clock is left over.
#[test]
fn a_late_last_beat_that_finds_a_whole_beat_of_work_loses_nothing() {
    // Beats of a frame, of which the last is an octet, the clocks by which that is late, and the rate at which exactly a beat's
    // work is left.
    for (beats, late, rate) in [(12, 24, 3_027_027_027), (18, 2, 7_619_047_619), (24, 146, 1_216_374_269)] {
        let mut core = output_port::Core::new(46);
        let octets = beats * 8 - 7;
        let frames = waiting(octets);
        for (rate, counts) in [(rate, true), (rate + 1, false)] {
            let starts = did(&mut |given| core.clock(given), rate, &frames, (beats - 1, late)).starts;
            let ideal = starts[0] * rate + (octets as u64 + CHECK + LINE) * OCTET;
            let end = if counts { ideal } else { ideal.next_multiple_of(rate) };
            assert_eq!(starts, behind(starts[0], end, rate), "{beats} beats, {late} clocks late, {rate} bit/s");
        }
    }
}

/// A line that has waited within a frame takes the time of the beats then, to the bit, from two clocks after its first
/// beat on. These are 14 beats, which end with a clock, and at another rate leave one bit × Hz for the next.
#[test]
fn a_line_that_waited_within_a_frame_loses_no_bit_of_the_rest() {
    for rate in [1_000_000_000, 3_027_027_027] {
        let mut core = output_port::Core::new(46);
        let did = did(&mut |given| core.clock(given), rate, &waiting(23 * 8), (8, 300));
        let end = (did.resumed + 2) * rate + 14 * 8 * OCTET;
        assert_eq!(did.starts, behind(did.starts[0], end, rate), "{rate} bit/s");
    }
}
