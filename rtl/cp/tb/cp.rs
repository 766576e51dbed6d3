//! The whole congestion point: in lock step with the simulator's, on streams of random frames good and bad.

#[path = "bench.rs"]
mod bench;
#[path = "expected.rs"]
mod expected;
#[path = "reference.rs"]
mod reference;
#[path = "wire.rs"]
mod wire;
#[path = "wires.rs"]
mod wires;

use bench::{BUFFER, Bench, Counters, LARGE_BUFFER, MAX_OCTETS, Sending};
use penstock_cosim::{Random, at_least};
use reference::Settings;

/// Clocks with one set of settings.
const EPISODE: u64 = 20_000;

/// A frame: mostly good, of any length and with any tags.
fn frame(random: &mut Random) -> Sending {
    let octets = match random.below(24) {
        0 => 1 + random.below(59) as usize,
        1 => MAX_OCTETS - 3 + random.below(20) as usize,
        2 => 1 + random.below(4000) as usize,
        3 => 59 + random.below(3) as usize,
        4 => MAX_OCTETS - 5 + random.below(3) as usize,
        5..=12 => 60 + random.below(12) as usize,
        13..=17 => 1514,
        _ => 60 + random.below(1455) as usize,
    };
    let mut frame = of(octets, random);
    frame.bad = random.one_in(20);
    frame.hole = random.one_in(40);
    frame
}

/// A good frame of `octets` octets without FCS.
fn of(octets: usize, random: &mut Random) -> Sending {
    let mut data: Vec<u8> = (0..octets.max(24)).map(|_| random.word() as u8).collect();
    let mut at = 12;
    if random.one_in(3) {
        data[at..at + 2].copy_from_slice(&[0x81, 0x00]);
        at += 4;
    }
    if random.one_in(3) {
        data[at..at + 2].copy_from_slice(&[0x22, 0xe9]);
        at += 4;
    }
    let client = match random.below(16) {
        0 => [0x22, 0xe7],
        1 => [0x88, 0xb5],
        2 => [0x22, 0xe9],
        3 => [0x81, 0x00],
        _ => [0x08, 0x00],
    };
    data[at..at + 2].copy_from_slice(&client);
    data.truncate(octets);
    Sending { octets: data, bad: false, hole: false }
}

fn settings(random: &mut Random) -> Settings {
    Settings {
        q_eq: match random.below(4) {
            0 => 1 + random.below((1 << 24) - 1) as u32,
            1 => 1 + random.below(1000) as u32,
            _ => 1 + random.below(BUFFER) as u32,
        },
        w: if random.one_in(2) { 2048 } else { random.word() as u16 },
        base: match random.below(4) {
            0 => random.below(1000) as u32,
            1 => 150_000,
            _ => random.below(20_000) as u32,
        },
        jitter: if random.one_in(2) { 9830 } else { random.word() as u16 },
        count: random.below(20) as u32,
        probability: random.word(),
    }
}

/// Long random operation with resets in the middle of everything.
fn lock_step(bench: Bench, smcc: bool, clocks: u64, seed: u64) {
    let mut bench = bench;
    let mut random = Random::new(!seed);
    let mut total = Counters::default();
    for _ in 0..clocks / EPISODE {
        bench.pause = [1, 1, 1, 2, 10][random.below(5) as usize];
        let gap = [0, 0, 0, 10, 100][random.below(5) as usize];
        // Frames of 64 octets without pause, all of them sampled, are more than the algorithm can take.
        let short = random.one_in(4);
        let mut settings = settings(&mut random);
        if short && random.one_in(2) {
            (settings.base, settings.count) = (0, 1);
        }
        bench.reset(settings);
        if random.one_in(2) {
            bench.forget();
        }
        let (sinks, message_sinks) = ([0, 10, 100, 200, 250, 256], [0, 5, 40, 256, 256, 256]);
        let mut wait = 0;
        for clock in 0..EPISODE {
            if clock % 4000 == 0 {
                bench.sink = sinks[random.below(6) as usize];
                bench.message_sink = message_sinks[random.below(6) as usize];
            }
            if bench.waiting() == 0 {
                if wait == 0 {
                    let frame = if short { of(60, &mut random) } else { frame(&mut random) };
                    bench.send(&frame);
                    wait = random.below(gap + 1);
                } else {
                    wait -= 1;
                }
            }
            bench.clock();
        }
        let seen = bench.counters();
        total.frames += seen.frames;
        total.dropped += seen.dropped;
        total.bad += seen.bad;
        total.sampled += seen.sampled;
        total.messages += seen.messages;
        total.lost += seen.lost;
    }
    println!("{total:?}, out {} frames {} messages, held {} clocks", bench.frames_out, bench.messages_out, bench.held);
    for (what, times) in [
        ("dropped", total.dropped),
        ("bad", total.bad),
        ("sampled", total.sampled),
        ("messages", total.messages),
        ("messages lost", total.lost),
    ] {
        assert!(u64::from(times) > clocks / 100_000, "{what}: only {times}");
    }
    assert!(smcc || bench.held > 0, "the algorithm has never held the source");
}

#[test]
fn qcn_in_lock_step() {
    lock_step(Bench::new(false, 1), false, at_least(2_000_000), 1);
}

#[test]
fn smcc_in_lock_step() {
    lock_step(Bench::new(true, 2), true, at_least(2_000_000), 2);
}

#[test]
fn beats_of_512_bits_in_lock_step() {
    lock_step(Bench::of_100g(9), false, at_least(1_000_000), 9);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_and_256_bits_in_lock_step() {
    for bits in [128, 256] {
        lock_step(Bench::of_width(bits, 10), false, at_least(2_000_000), 10);
    }
}

/// The published settings of Kabbani and Yasuda 2010.
const PAPER: Settings =
    Settings { q_eq: 33_000, w: 2048, base: 150_000, jitter: 9830, count: 100, probability: 1 << 25 };

fn run_until_idle(bench: &mut Bench) {
    (bench.sink, bench.message_sink) = (256, 256);
    for _ in 0..100_000 {
        if bench.idle() {
            return;
        }
        bench.clock();
    }
    panic!("something is stuck");
}

/// Frames of 64 octets in each 10.5 clocks: 10 Gb/s with preamble and gap, at 156.25 MHz.
#[test]
fn ten_gigabit_per_second_without_loss() {
    for smcc in [false, true] {
        let mut bench = Bench::new(smcc, 3);
        let mut random = Random::new(3);
        bench.reset(Settings { q_eq: 1000, ..PAPER });
        let frames = 30_000;
        let mut sent = 0;
        for half_clock in (0..frames * 21).step_by(2) {
            if half_clock >= sent * 21 {
                assert_eq!(bench.waiting(), 0, "frame {sent}: the one before is not in yet");
                let mut frame = of(60, &mut random);
                frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
                bench.send(&frame);
                sent += 1;
            }
            bench.clock();
        }
        run_until_idle(&mut bench);
        let seen = bench.counters();
        assert_eq!((u64::from(seen.frames), seen.dropped, seen.bad), (frames, 0, 0));
        assert_eq!(bench.frames_out, frames);
        assert!(seen.sampled > 10);
    }
}

/// 100 Gb/s with preamble and gap, 512 bits at 322.265625 MHz, in every clock. The core takes each beat in the clock in which the
/// line has it, or one of the next two, and loses none, and frames leave as fast.
#[test]
fn hundred_gigabit_per_second_without_loss() {
    const CLOCK_HZ: u64 = 322_265_625;
    const LINE_RATE: u64 = 100_000_000_000;
    for lengths in [&[64][..], &[69], &[64, 68, 69], &[128, 132, 133], &[64, 69, 133, 197, 1518], &[1522]] {
        let mut bench = Bench::of_100g(3);
        let mut random = Random::new(3);
        bench.reset(Settings { q_eq: 1000, ..PAPER });
        // The time of the line, in bit × Hz: a clock has as many as the rate has bit/s.
        let (mut sent, mut free_at, mut most) = (0u64, 0u64, 0);
        for clock in 0..200_000u64 {
            if clock * LINE_RATE >= free_at {
                let length = lengths[random.below(lengths.len() as u64) as usize];
                let mut frame = of(length - 4, &mut random);
                frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
                bench.send(&frame);
                free_at += (length as u64 + 20) * 8 * CLOCK_HZ;
                sent += 1;
            }
            bench.clock();
            most = most.max(bench.waiting());
        }
        run_until_idle(&mut bench);
        let seen = bench.counters();
        println!("{lengths:?}: {sent} frames, at most {most} beats wait, {} sampled", seen.sampled);
        assert_eq!((u64::from(seen.frames), seen.dropped, seen.bad), (sent, 0, 0));
        assert_eq!((bench.frames_out, bench.held), (sent, 0));
        // No more than the frame that has just come, and one of a beat that waits.
        assert!(most <= 1 + lengths.iter().max().expect("a length").div_ceil(64), "{most} beats");
        assert!(seen.sampled > 10);
    }
}

/// A gigabit, at 125 MHz: 84 clocks a frame of 64 octets, into a sink of half that rate.
#[test]
fn a_slow_sink_costs_whole_frames_only() {
    let mut bench = Bench::new(false, 4);
    let mut random = Random::new(4);
    bench.reset(PAPER);
    bench.sink = 12;
    for clock in 0..2_000_000u64 {
        if clock % 84 == 0 && bench.waiting() == 0 {
            bench.send(&of(60, &mut random));
        }
        bench.clock();
    }
    run_until_idle(&mut bench);
    let seen = bench.counters();
    assert!(seen.dropped > 1000 && seen.messages > 10 && seen.lost == 0, "{seen:?}");
    assert_eq!(bench.frames_out, u64::from(seen.frames - seen.dropped));
    assert_eq!(bench.queue_octets(), 0);
}

/// Each kind of bad frame is counted, goes nowhere and leaves what is around it alone.
#[test]
fn bad_frames_are_dropped_whole() {
    let mut bench = Bench::new(false, 5);
    let mut random = Random::new(5);
    bench.reset(PAPER);
    let good = |random: &mut Random| of(100, random);
    let mut bad: Vec<Sending> = (1..60).map(|octets| of(octets, &mut random)).collect();
    bad.extend([MAX_OCTETS - 3, MAX_OCTETS, 9000, 70_000].map(|octets| of(octets, &mut random)));
    bad.push(Sending { bad: true, ..good(&mut random) });
    bad.extend((60..76).map(|octets| Sending { hole: true, ..of(octets, &mut random) }));
    let number = bad.len() as u32;
    for frame in bad {
        bench.send(&frame);
        bench.send(&good(&mut random));
    }
    run_until_idle(&mut bench);
    assert_eq!(
        bench.counters(),
        Counters { frames: number, octets: 104 * u64::from(number), bad: number, ..Counters::default() }
    );
    assert_eq!(bench.frames_out, u64::from(number));
}

/// Both sinks stand still: the queue fills to its size, messages to theirs, and all goes on afterwards.
#[test]
fn stalled_sinks_lose_whole_frames_and_messages() {
    for smcc in [false, true] {
        let mut bench = Bench::new(smcc, 6);
        let mut random = Random::new(6);
        bench.reset(Settings { q_eq: 100, base: 1000, count: 3, ..PAPER });
        (bench.sink, bench.message_sink) = (0, 0);
        while bench.counters().lost < 20 || bench.counters().dropped < 100 {
            if bench.waiting() == 0 {
                bench.send(&of(1000, &mut random));
            }
            bench.clock();
        }
        assert!(bench.queue_octets() > BUFFER - 1004);
        run_until_idle(&mut bench);
        let seen = bench.counters();
        assert_eq!(bench.frames_out, u64::from(seen.frames - seen.dropped));
        assert_eq!(bench.messages_out, u64::from(seen.messages));
        assert_eq!(bench.queue_octets(), 0);
    }
}

/// A buffer of three banks holds what it says in the frames that take most of its memory, 69 octets in nine words. It does so
/// twice, so that the memory's end is crossed; then in the longest.
#[test]
fn a_large_buffer_holds_frames_of_any_length() {
    let mut bench = Bench::of_large(8);
    let mut random = Random::new(8);
    bench.reset(PAPER);
    for octets in [65, 65, 1514] {
        let (refused, frame) = (bench.counters().dropped + 5, octets as u64 + 4);
        bench.sink = 0;
        while bench.counters().dropped < refused {
            if bench.waiting() == 0 {
                bench.send(&of(octets, &mut random));
            }
            bench.clock();
        }
        assert_eq!(bench.queue_octets() / frame, LARGE_BUFFER / frame);
        run_until_idle(&mut bench);
    }
    let seen = bench.counters();
    assert_eq!(bench.frames_out, u64::from(seen.frames - seen.dropped));
}

/// A frame decided in c + 3 shows at the output in c + 9.
#[test]
fn latency_is_as_stated() {
    let mut bench = Bench::new(false, 7);
    let mut random = Random::new(7);
    bench.reset(PAPER);
    bench.send(&of(60, &mut random));
    let mut last_in = None;
    for clock in 0.. {
        let out = bench.clock();
        if last_in.is_none() && bench.waiting() == 0 {
            last_in = Some(clock);
        }
        if out.m_axis_tvalid {
            assert_eq!(clock, last_in.expect("it came") + 9);
            break;
        }
    }
}
