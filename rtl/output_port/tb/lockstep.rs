//! The output port against the line of the event simulator: when each frame starts.

mod edges;
mod wide;

use std::collections::VecDeque;

use penstock_cosim::{
    Random, at_least, output_port, output_port_25g, output_port_bare, output_port_slack, output_port_ten_gig,
    stream::{Beat, Frame, Sink, Source, length},
};
use penstock_schemes::BitRate;

const CLOCK_PS: u64 = 8_000;
const CHECK: u64 = 4;
const LINE: u64 = 20;
const SHORTEST: u64 = 64;

/// The line of the event simulator: remainders of picoseconds are carried as long as the rate stays.
#[derive(Default)]
struct Line {
    free_ps: u64,
    rate: u64,
    remainder: u64,
}

impl Line {
    /// A frame that is there from `from_ps` on: when it starts.
    fn send(&mut self, from_ps: u64, rate: u64, octets: u64) -> u64 {
        let start = from_ps.max(self.free_ps);
        if rate != self.rate {
            // The port does not carry the rest of a clock over a change of the rate.
            let start = start.div_ceil(CLOCK_PS) * CLOCK_PS;
            (self.rate, self.remainder) = (rate, 0);
            self.free_ps = start + self.time(octets);
            return start;
        }
        self.free_ps = start + self.time(octets);
        start
    }

    fn time(&mut self, octets: u64) -> u64 {
        let (time, rest) = BitRate(self.rate).serialisation((octets + CHECK).max(SHORTEST) + LINE);
        self.remainder += rest;
        let carry = u64::from(self.remainder >= self.rate);
        self.remainder -= carry * self.rate;
        time.0 + carry
    }
}

fn wide<const N: usize>(values: &[u64], bits: usize) -> [u32; N] {
    let mut words = [0; N];
    for (index, value) in values.iter().enumerate() {
        for bit in (0..bits).filter(|bit| value >> bit & 1 == 1) {
            words[(index * bits + bit) / 32] |= 1 << ((index * bits + bit) % 32);
        }
    }
    words
}

/// 0.95, 0.2, 0.95 Gb/s and an odd rate: every frame starts in the first clock in which it may.
#[test]
fn keeps_the_time_of_the_ideal_line() {
    let mut random = Random::new(5);
    let mut core = output_port::Core::new(6);
    let clocks = at_least(2_000_000);
    let changes = [(clocks / 4, 200_000_000), (clocks * 2 / 5, 950_000_000), (clocks * 4 / 5, 999_999_937)];
    let mut given = output_port::In {
        rst_i: true,
        rate_i: 950_000_000,
        schedule_at_i: wide(&changes.map(|c| c.0), 48),
        schedule_rate_i: wide(&changes.map(|c| c.1), 34),
        schedule_entries_i: 3,
        m_axis_tready: true,
        ..Default::default()
    };
    core.clock(&given);
    given.rst_i = false;
    // The registers of the rate.
    core.clock(&given);
    core.clock(&given);
    let (mut source, mut sink, mut line) = (Source::default(), Sink::default(), Line::default());
    let (mut sent, mut came) = (VecDeque::new(), VecDeque::new());
    let (mut frames, mut waited, mut phase, mut octets) = (0u64, 0u64, 0, 0);
    for clock in 0..clocks {
        // Phases of a full queue, and of gaps.
        if clock.is_multiple_of(50_000) {
            phase = random.below(3);
        }
        let wants = match phase {
            0 | 1 => source.left() < 300,
            _ => source.left() == 0 && random.one_in(1_500),
        };
        if wants {
            let length = if phase == 0 { 1514 } else { length(&mut random) };
            let frame = Frame::random(&mut random, length);
            source.push(&frame);
            came.push_back((clock, length as u64));
            sent.push_back(frame);
        }
        let shown = source.show(true);
        let beat = shown.unwrap_or_default();
        given.now_i = clock;
        given.s_axis_tvalid = shown.is_some();
        (given.s_axis_tdata, given.s_axis_tkeep) = (beat.data, beat.keep);
        (given.s_axis_tlast, given.s_axis_tuser) = (beat.last, beat.user);
        let out = core.clock(&given);
        let rate = changes.iter().rev().find(|c| clock >= c.0 + 3).map_or(950_000_000, |c| c.1);
        assert_eq!(out.rate_o, rate, "in clock {clock}");
        if out.start_o {
            let (from, length) = came.pop_front().expect("a frame that starts has come");
            let ideal = line.send(from * CLOCK_PS, rate, length);
            let late = (clock * CLOCK_PS).checked_sub(ideal);
            assert!(late.is_some_and(|ps| ps <= CLOCK_PS), "frame {frames} in clock {clock}, ideally at {ideal} ps");
            frames += 1;
            waited += u64::from(ideal > from * CLOCK_PS);
        }
        if shown.is_some() && out.s_axis_tready {
            source.take();
        }
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        if let Some(frame) = sink.see(out.m_axis_tvalid, beat, true) {
            octets += frame.octets.len() as u64 + CHECK;
            assert_eq!(Some(frame), sent.pop_front());
        }
        assert!(octets.abs_diff(out.octets_o) <= 1514 + CHECK, "in clock {clock}");
    }
    assert!(frames.min(waited) > clocks / 1_000, "{frames} frames, {waited} waited");
}

/// With an arbiter that looks for a frame when the line gets free, a full queue still loses no time.
#[test]
fn slack_keeps_the_rate_behind_a_held_arbiter() {
    let mut random = Random::new(15);
    let mut core = output_port_slack::Core::unchecked(6);
    let mut given = output_port_slack::In {
        rst_i: true,
        rate_i: 947_368_421,
        hold_i: true,
        m_axis_tready: true,
        s_axis_tvalid: true,
        ..Default::default()
    };
    core.clock(&given);
    given.rst_i = false;
    core.clock(&given);
    core.clock(&given);
    let (mut source, mut line) = (Source::default(), Line::default());
    let mut lengths = VecDeque::new();
    let (mut wait, mut first) = (0, None);
    for clock in 0..2_000_000u64 {
        while source.left() < 400 {
            let length = length(&mut random);
            source.push(&Frame::random(&mut random, length));
            lengths.push_back(length as u64);
        }
        let beat = source.show(true).expect("the queue is full");
        (given.s_axis_tdata, given.s_axis_tkeep, given.s_axis_tlast) = (beat.data, beat.keep, beat.last);
        let out = core.clock(&given);
        if out.start_o {
            let from = *first.get_or_insert(clock) * CLOCK_PS;
            let ideal = line.send(from, given.rate_i, lengths.pop_front().expect("it has come"));
            let late = (clock * CLOCK_PS).checked_sub(ideal);
            assert!(late.is_some_and(|ps| ps <= 5 * CLOCK_PS), "in clock {clock}, ideally at {ideal} ps");
        }
        if out.s_axis_tready {
            source.take();
        }
        // Two to four clocks after the line got free.
        wait = if out.free_o && given.hold_i { wait - 1 } else { 1 + random.below(3) as i32 };
        given.hold_i = !out.free_o || (wait > 0 && given.hold_i);
    }
    assert!(first.is_some());
}

/// Stalls, holds, runts, frames without end, closed lines, resets: never faster than the rate, never stuck, nothing cut.
#[test]
fn survives_what_comes() {
    let mut random = Random::new(25);
    let mut core = output_port::Core::new(26);
    let (mut source, mut sink) = (Source::default(), Sink::default());
    let mut sent = VecDeque::new();
    let mut given = output_port::In::default();
    let (mut earliest_ps, mut latest_ps, mut line_time, mut since_reset) = (0, 0, 0, 0);
    let mut last_rate = 0;
    let (mut stalls, mut holds, mut frames, mut idle, mut length_now) = (1, 1, 0u64, 0, VecDeque::new());
    // Frames and octets, which show three clocks after a beat was taken.
    let (mut counted, mut shown_counts) = ((0, 0), VecDeque::new());
    for clock in 0..3_000_000u64 {
        given.rst_i = clock == 0 || since_reset > 15_000 && random.one_in(3_000);
        since_reset += 1;
        if given.rst_i {
            source.clear();
            sink.clear();
            sent.clear();
            length_now.clear();
            (stalls, holds) = (1 + random.below(3), 1 + random.below(30));
            given.rate_i = match random.below(8) {
                0 => 1_000_000_000,
                1 => 6_000_000_000,
                2 => HIGHEST,
                3 => HIGHEST + 1 + random.below((1 << 34) - 1 - HIGHEST),
                _ => 20_000_000 + random.below(2_000_000_000),
            };
            given.schedule_entries_i = random.below(8) as u8;
            given.schedule_at_i = wide(&[clock + 5_000, clock + random.below(20_000), 0, random.next() >> 16], 48);
            given.schedule_rate_i = wide(&[0, given.rate_i, random.below(given.rate_i), given.rate_i], 34);
            (earliest_ps, latest_ps, since_reset, idle) = (0, 0, 0, 0);
            last_rate = 0;
            counted = (0, 0);
            shown_counts = VecDeque::from([counted; 3]);
        }
        if source.left() < 3_000 {
            let length = if random.one_in(200) { 20_000 } else { length(&mut random) };
            let mut frame = Frame::random(&mut random, length);
            frame.bad = random.one_in(9);
            source.push(&frame);
            length_now.push_back(length as u64);
            sent.push_back(frame);
        }
        let shown = source.show(!random.one_in(5));
        let beat = shown.unwrap_or_default();
        given.now_i = clock;
        let held = given.hold_i;
        given.hold_i = random.one_in(holds) && holds > 1;
        given.m_axis_tready = random.one_in(stalls);
        given.s_axis_tvalid = shown.is_some();
        (given.s_axis_tdata, given.s_axis_tkeep) = (beat.data, beat.keep);
        (given.s_axis_tlast, given.s_axis_tuser) = (beat.last, beat.user);
        let out = core.clock(&given);
        if given.rst_i {
            continue;
        }
        let now = clock * CLOCK_PS;
        assert!(out.rate_o <= HIGHEST, "in clock {clock}");
        if out.start_o {
            assert!(out.rate_o > 0 && !held, "in clock {clock} the line is closed or held");
            assert!(now >= earliest_ps, "in clock {clock} before {earliest_ps} ps");
            let length = length_now.pop_front().expect("it has come");
            let (time, _) = BitRate(out.rate_o).serialisation((length + CHECK).max(SHORTEST) + LINE);
            // Less than a clock of credit, and none from another rate.
            let credit = if out.rate_o == last_rate { CLOCK_PS } else { 0 };
            earliest_ps = earliest_ps.max(now - credit) + time.0;
            last_rate = out.rate_o;
            line_time = time.0;
            frames += 1;
        }
        assert_eq!(Some((out.frames_o, out.octets_o)), shown_counts.pop_front(), "in clock {clock}");
        let moves = shown.is_some() && out.s_axis_tready;
        if moves {
            let last = source.take().last;
            counted.0 += u32::from(last);
            counted.1 += u64::from(beat.keep.count_ones()) + if last { CHECK } else { 0 };
            if last {
                // A beat that comes late takes its time from then on.
                latest_ps = now + line_time;
            }
        }
        shown_counts.push_back(counted);
        // Nothing sticks: a frame that waits starts, one that has begun goes on.
        let may = shown.is_some() && !held && given.m_axis_tready && out.rate_o > 0 && now > latest_ps;
        idle = if may && !moves { idle + 1 } else { 0 };
        assert!(idle < 4, "stuck in clock {clock}");
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        if let Some(frame) = sink.see(out.m_axis_tvalid, beat, given.m_axis_tready) {
            assert_eq!(Some(frame), sent.pop_front());
        }
    }
    assert!(frames > 4_000, "{frames} frames");
}

/// An output port's clock.
type Clocked<'a> = &'a mut dyn FnMut(&output_port::In) -> output_port::Out;

/// At a rate each frame of each length starts in the first clock in which it may on an ideal line, so that the line has all of its
/// rate.
fn reaches(core: Clocked, clock_hz: u64, rate: u64, line: u64) {
    let mut random = Random::new(35);
    let lengths: Vec<usize> =
        (60..=140).chain([252, 508, 1020, 1508, 1509, 1510, 1511, 1512, 1513, 1514, 9000]).collect();
    // The same frame over and over, and then all lengths in any order.
    let rounds: Vec<&[usize]> = lengths.chunks(1).chain([&lengths[..]; 20]).collect();
    let mut worst = 1.0f64;
    for choice in rounds {
        let mut given = output_port::In {
            rst_i: true,
            rate_i: rate,
            m_axis_tready: true,
            s_axis_tvalid: true,
            ..Default::default()
        };
        core(&given);
        given.rst_i = false;
        let (mut source, mut waiting) = (Source::default(), VecDeque::new());
        // Times in bit × Hz: a clock has as many as the rate has bit/s.
        let (mut ideal, mut first, mut work) = (None, 0, 0);
        for clock in 0..12_000u64 {
            while source.left() < 10 {
                let length = choice[random.below(choice.len() as u64) as usize];
                source.push(&Frame::random(&mut random, length));
                waiting.push_back(length as u64);
            }
            let beat = source.show(true).expect("there is always a frame");
            (given.s_axis_tdata, given.s_axis_tkeep, given.s_axis_tlast) = (beat.data, beat.keep, beat.last);
            let out = core(&given);
            if out.start_o {
                let at = *ideal.get_or_insert(clock * rate);
                assert_eq!(clock, at.div_ceil(rate), "{choice:?}: ideally at {at}/{rate}");
                if work == 0 {
                    first = clock;
                }
                if clock > 10_000 {
                    worst = worst.min(work as f64 / ((clock - first) * rate) as f64);
                }
                let octets = (waiting.pop_front().expect("it waits") + CHECK).max(SHORTEST) + line;
                work += octets * 8 * clock_hz;
                ideal = Some(at + octets * 8 * clock_hz);
            }
            if out.s_axis_tready {
                source.take();
            }
        }
        assert!(work > 0);
    }
    println!("at least {:.3} % of {rate} bit/s", worst * 100.0);
    assert!(worst > 0.995);
}

/// 10 Gb/s at 156.25 MHz, 64 bits a clock, as fast as beats come.
#[test]
fn reaches_the_rate_of_the_beats() {
    let mut core = output_port_ten_gig::Core::unchecked(6);
    reaches(&mut |given| core.clock(given), 156_250_000, 10_000_000_000, LINE);
}

/// 25 Gb/s at 390.625 MHz, the same.
#[test]
fn reaches_25_gbps() {
    let mut core = output_port_25g::Core::unchecked(6);
    reaches(&mut |given| core.clock(given), 390_625_000, 25_000_000_000, LINE);
}

/// With nothing between frames on the line the highest rate is that of nine beats, 11 clocks, and 64 octets with FCS.
#[test]
fn reaches_the_highest_rate_of_bare_frames() {
    let mut core = output_port_bare::Core::unchecked(6);
    reaches(&mut |given| core.clock(given), CLOCK_HZ, BARE_HIGHEST, 0);
}

const CLOCK_HZ: u64 = 125_000_000;
const HIGHEST: u64 = 64 * CLOCK_HZ;
const BARE_HIGHEST: u64 = 8 * (64 + CHECK) * CLOCK_HZ / 11;

/// A rate above the highest is refused, from the beginning on and by the schedule: the line is closed, and says so.
#[test]
fn refuses_rates_that_frames_cannot_have() {
    let mut core = output_port::Core::unchecked(6);
    refuses(&mut |given| core.clock(given), HIGHEST);
    let mut bare = output_port_bare::Core::unchecked(6);
    refuses(&mut |given| bare.clock(given), BARE_HIGHEST);
}

fn refuses(core: Clocked, highest: u64) {
    let most = (1 << 34) - 1;
    for rates in [[highest, highest + 1, highest], [highest + 1, 1_000_000_000, most], [most, highest, highest + 1]] {
        let mut given = output_port::In {
            rst_i: true,
            rate_i: rates[0],
            schedule_entries_i: 2,
            schedule_at_i: wide(&[1_000, 2_000], 48),
            schedule_rate_i: wide(&rates[1..], 34),
            m_axis_tready: true,
            s_axis_tvalid: true,
            s_axis_tlast: true,
            s_axis_tkeep: 0xff,
            ..Default::default()
        };
        core(&given);
        given.rst_i = false;
        let mut starts = [0; 3];
        for clock in 0..3_000u64 {
            given.now_i = clock;
            let out = core(&given);
            // The registers of the rate, and the clocks of a change.
            if clock % 1_000 > 3 {
                let rate = rates[(clock / 1_000) as usize];
                assert_eq!(out.rate_o, if rate > highest { 0 } else { rate }, "in clock {clock}");
                assert!(!out.free_o || rate <= highest, "in clock {clock}");
                starts[(clock / 1_000) as usize] += u64::from(out.start_o);
            }
        }
        for (rate, starts) in rates.iter().zip(starts) {
            assert_eq!(starts > 10, *rate <= highest, "{starts} frames at {rate} bit/s");
        }
    }
}
