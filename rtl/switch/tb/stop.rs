//! The end of a run: software writes 0 to `clock.run` at any time.

use penstock_cosim::{Random, switch_stop};

use crate::bench::{Bench, CP, PORTS};
use crate::{QUIET, bench, frame, station};

/// All beats that were shown are taken, and frames that were coming have come.
fn settle(bench: &mut Bench) {
    (bench.sinks, bench.reader) = ([256; PORTS], 256);
    bench.run(800);
    assert!(bench.lines.iter().all(|line| line.left() == 0));
}

/// Frames that have begun on a line end there, whole, and nothing that is shown is withdrawn (the bench sees to that).
/// The rest of a frame that was coming is no frame of the next run, and each run begins with counters of 0.
#[test]
fn a_run_ends_between_frames() {
    let mut bench = bench(false, 9);
    let mut random = Random::new(9);
    let (mut whole, mut cut) = (0, 0);
    for round in 0..120u64 {
        bench.write("forwarding.default_ports", 0);
        bench.write("line.rate", [1_000_000_000, 5_000_000_000][random.below(2) as usize]);
        bench.write("port.rate", 1_000_000_000);
        bench.start(&QUIET);
        assert_eq!((0..PORTS).map(|port| bench.line(port, "frames") + bench.line(port, "bad")).sum::<u64>(), 0);
        bench.sinks = std::array::from_fn(|_| [20, 128, 256][random.below(3) as usize]);
        bench.reader = [0, 10, 256][random.below(3) as usize];
        let until = bench.clock + 200 + random.below(3_000);
        let mut sent = Vec::new();
        while bench.clock < until {
            for line in 0..PORTS {
                if bench.lines[line].left() == 0 {
                    let octets = [60, 1_514, 60 + random.below(1_400) as usize][random.below(3) as usize];
                    let to = station((line + 1 + random.below(3) as usize) % PORTS);
                    sent.push(frame(&mut random, station(line), to, octets));
                    bench.lines[line].push(&sent[sent.len() - 1]);
                }
            }
            bench.clock();
        }
        // Some of the frames that come are within their beats now, and so are some that go; one time in two the run is on again
        // before these have ended.
        cut += bench.lines.iter().filter(|line| line.left() > 0).count();
        assert!(bench.clock().now_o >= 200, "round {round}: the time runs");
        bench.write("clock.run", 0);
        if random.one_in(2) {
            bench.write("clock.run", 1);
        } else {
            settle(&mut bench);
            assert_eq!((bench.read("clock.now"), bench.read("cp.queue")), (0, 0), "round {round}");
        }
        settle(&mut bench);
        for came in &mut bench.came {
            for frame in came.drain(..) {
                assert!(sent.contains(&frame), "round {round}: not a whole frame, or one that nobody sent");
                whole += 1;
            }
        }
        // Frames that were cut at the input are not counted either.
        assert_eq!((0..PORTS).map(|port| bench.line(port, "bad")).sum::<u64>(), 0, "round {round}");
        bench.write("clock.run", 0);
        settle(&mut bench);
    }
    println!("{whole} frames came out whole, {cut} were cut as they came");
    assert!(whole > 500 && cut > 200);
}

/// The congestion point's memory does not read where a frame that comes ends, so that many short ones make gaps in one that goes.
/// No run ends there.
#[test]
fn a_run_does_not_end_in_a_gap() {
    let mut bench = bench(false, 14);
    let mut random = Random::new(14);
    bench.write("port.rate", 5_000_000_000);
    // The first run shows when the gap comes.
    let mut gap = 700;
    for earlier in 0..20 {
        bench.start(&QUIET);
        for line in 0..CP {
            // The short ones of the other lines wait for the end of a bad frame.
            let mut long = frame(&mut random, station(line), station(CP), 1_514);
            long.bad = line > 0;
            bench.lines[line].push(&long);
            for _ in 0..20 {
                bench.lines[line].push(&frame(&mut random, station(line), station(CP), 60));
            }
        }
        let (from, mut seen) = (bench.clock, None);
        while bench.clock < from + gap - earlier {
            let inside = bench.inside[CP];
            let out = bench.clock();
            if inside && out.m_axis_line_tvalid >> CP & 1 == 0 {
                seen = seen.or(Some(bench.clock - from));
            }
        }
        if earlier == 0 {
            gap = seen.expect("there is a gap");
        }
        bench.write("clock.run", 0);
        settle(&mut bench);
        assert!(!bench.inside[CP], "a run that ends {earlier} clocks before the gap cuts the frame");
    }
}

/// The part that ends the run alone, clock by clock: when no frame may begin, and when the reset begins and ends.
#[test]
fn a_reset_comes_when_all_lines_have_ended() {
    let mut random = Random::new(11);
    let mut core = switch_stop::Core::new(12);
    // The run has ended, in the clock before, and the clocks since `run_i` went low.
    let (mut stopped, mut first, mut since) = (true, false, None);
    let (mut given, mut stops) = (switch_stop::In::default(), 0);
    for clock in 0..100_000 {
        given.rst_i = clock == 0 || random.one_in(200);
        given.run_i ^= random.one_in(10);
        given.between_frames_i = if random.one_in(3) { 15 } else { random.below(16) as u8 };
        let out = core.clock(&given);
        if clock > 0 {
            let reset = given.rst_i || first || stopped && !given.run_i;
            assert_eq!((out.stopping_o, out.reset_o), (since.is_some(), reset), "clock {clock}");
        }
        let ends = since.is_some_and(|clocks| clocks >= 3) && given.between_frames_i == 15;
        (stopped, first, since) = match (given.rst_i, stopped) {
            (true, _) => (true, false, None),
            (_, true) => (!given.run_i, false, None),
            _ => (ends, ends, since.map(|clocks| clocks + 1).or((!given.run_i).then_some(1))),
        };
        stops += u64::from(first);
    }
    assert!(stops > 1_000, "{stops} stops");
}
