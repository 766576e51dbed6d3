//! The end of a run: software writes 0 to `clock.run` at any time.

use penstock_cosim::Random;

use crate::bench::{Bench, PORTS};
use crate::{QUIET, bench, frame, station};

/// All beats that were shown are taken, and frames that were coming have come.
fn settle(bench: &mut Bench) {
    (bench.sinks, bench.reader) = ([256; PORTS], 256);
    bench.run(800);
    assert!(bench.lines.iter().all(|line| line.left() == 0));
}

/// Frames that have begun on a line end there, whole; nothing that is shown is withdrawn (the bench sees to that); the
/// rest of a frame that was coming is no frame of the next run; and each run begins with counters of 0.
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
