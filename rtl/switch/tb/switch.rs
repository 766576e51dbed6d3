//! The switch: frames go to the ports that the table says, the congestion point does what the simulator's does, and
//! nothing sticks or leaves its bounds, whatever comes at the pins.

#[path = "bench.rs"]
mod bench;
#[path = "follow.rs"]
mod follow;
#[path = "input.rs"]
mod input;
#[path = "queue.rs"]
mod queue;
#[path = "../../cp/tb/reference.rs"]
#[allow(dead_code)]
mod reference;
#[path = "stop.rs"]
mod stop;

use std::collections::VecDeque;

use bench::{BUFFER, Bench, CP, MAX_OCTETS, PORTS};
use follow::Message;
use penstock_cosim::stream::{Frame, length};
use penstock_cosim::{Random, operations, switch_trace_none};
use reference::{QCN_SAMPLE, RELOAD, Settings};

/// No sample ever, and those of Kabbani and Yasuda 2010.
const QUIET: Settings =
    Settings { q_eq: 0xff_ffff, w: 0, base: 0xff_ffff, jitter: 0, count: 0xff_ffff, probability: 0 };
const PAPER: Settings =
    Settings { q_eq: 13_200, w: 2048, base: 150_000, jitter: 9830, count: 100, probability: 1 << 25 };

/// Address of a station behind a port.
fn station(port: usize) -> u64 {
    0x0200_0000_1000 + port as u64
}

/// A good frame of `octets` without FCS.
fn frame(random: &mut Random, from: u64, to: u64, octets: usize) -> Frame {
    let mut frame = Frame::random(random, octets.max(60));
    frame.octets[..6].copy_from_slice(&to.to_be_bytes()[2..]);
    frame.octets[6..12].copy_from_slice(&from.to_be_bytes()[2..]);
    frame.octets[12..14].copy_from_slice(&[0x08, 0x00]);
    frame
}

/// A switch whose table has a station behind each port.
fn bench(smcc: bool, seed: u64) -> Bench {
    let mut bench = Bench::new(smcc, seed);
    for port in 0..PORTS {
        bench.entry(port as u64, station(port), 1 << port);
    }
    bench
}

/// Frames good and bad from and to everywhere, also to several ports; octet for octet, in the order of each line.
#[test]
fn frames_go_to_their_ports() {
    for smcc in [false, true] {
        let mut bench = Bench::new(smcc, 1);
        let mut random = Random::new(2);
        let mut totals = [0u64; 4];
        for round in 0..3u64 {
            let masks: Vec<u64> = (0..16).map(|_| 1 + random.below(15)).collect();
            let default = random.below(16);
            for (entry, &mask) in masks.iter().enumerate() {
                bench.entry(entry as u64, 0x0200_0000_0000 + (round << 8) + entry as u64, mask);
            }
            bench.write("forwarding.default_ports", default);
            // Lines that are never too slow.
            bench.write("line.rate", 5_500_000_000);
            bench.write("port.rate", 5_500_000_000);
            bench.start(&QUIET);
            bench.pause = 1 + round % 3;
            let mut expected: [[VecDeque<Frame>; PORTS]; PORTS] = Default::default();
            let (mut bad, mut unknown, mut discarded) = ([0; PORTS], [0; PORTS], [0; PORTS]);
            for _ in 0..300 {
                for line in 0..PORTS {
                    if bench.lines[line].left() > 0 {
                        continue;
                    }
                    let entry = random.below(20);
                    let to = 0x0200_0000_0000 + (round << 8) + entry;
                    let octets = length(&mut random);
                    let mut sent = frame(&mut random, 1, to, octets);
                    match random.below(12) {
                        0 => sent.bad = true,
                        1 => sent.octets.truncate(1 + random.below(59) as usize),
                        2 => sent.octets.resize(MAX_OCTETS - 3 + random.below(3000) as usize, 7),
                        _ => {}
                    }
                    bench.lines[line].push(&sent);
                    let mask = masks.get(entry as usize).copied().unwrap_or(default);
                    if sent.bad || !(60..=MAX_OCTETS - 4).contains(&sent.octets.len()) {
                        bad[line] += 1;
                        continue;
                    }
                    unknown[line] += u64::from(entry >= 16);
                    discarded[line] += u64::from(mask == 0);
                    for port in (0..PORTS).filter(|port| mask >> port & 1 == 1) {
                        expected[port][line].push_back(sent.clone());
                    }
                }
                bench.run(1 + random.below(3000));
            }
            bench.drain();
            for (port, expected) in expected.iter_mut().enumerate() {
                for frame in std::mem::take(&mut bench.came[port]) {
                    let line = expected.iter().position(|line| line.front() == Some(&frame));
                    expected[line.expect("the next of a line")].pop_front();
                    totals[0] += 1;
                }
                assert!(expected.iter().all(VecDeque::is_empty), "nothing is lost");
            }
            for line in 0..PORTS {
                assert_eq!(bench.line(line, "bad"), bad[line]);
                assert_eq!(bench.line(line, "unknown"), unknown[line]);
                assert_eq!(bench.line(line, "discarded"), discarded[line]);
                for (name, total) in [("dropped", 1), ("lost", 2), ("control", 3)] {
                    let count = bench.line(line, name);
                    assert_eq!(count, 0, "{name}");
                    totals[total] += count;
                }
            }
            assert_eq!(bench.read("cp.bad") + bench.read("cp.dropped"), 0);
        }
        println!("{} frames in {} clocks", totals[0], bench.clock);
    }
}

/// A frame of 64 octets each 84 clocks, 1 Gb/s at 125 MHz, on all lines at once, to ports in turn.
#[test]
fn shortest_frames_at_line_rate_on_all_ports() {
    let mut bench = bench(false, 3);
    let mut random = Random::new(3);
    bench.write("port.rate", 1_000_000_000);
    bench.start(&PAPER);
    let frames = 2000;
    for number in 0..frames {
        for line in 0..PORTS {
            assert_eq!(bench.lines[line].left(), 0);
            let to = station((line + 1 + number / 400) % PORTS);
            bench.lines[line].push(&frame(&mut random, station(line), to, 60));
        }
        bench.run(84);
    }
    bench.drain();
    for port in 0..PORTS {
        assert_eq!(bench.came[port].len(), frames);
        assert_eq!(bench.line(port, "frames"), frames as u64);
        assert_eq!(bench.line(port, "octets"), 64 * frames as u64);
        for name in ["bad", "dropped", "lost", "unknown", "messages_lost"] {
            assert_eq!(bench.line(port, name), 0, "{name}");
        }
    }
    assert_eq!(bench.read("port.frames"), frames as u64);
}

/// Three lines bring more than the congestion point's port takes: samples, Fb and messages are the simulator's, and the messages
/// reach the senders, before data.
#[test]
fn messages_go_back_to_who_sent() {
    const CLOCKS: u64 = 120_000;
    for smcc in [false, true] {
        let mut bench = bench(smcc, 4);
        let mut random = Random::new(4);
        bench.write("cp.cp_id", 0x1234_5678_9abc_def0);
        let mut messages = [0u64; PORTS];
        let (mut data, mut dropped) = (0, 0);
        let mut round = 0;
        while round < 3 || bench.clock < operations() {
            round += 1;
            let settings = Settings {
                q_eq: 1 + random.below(BUFFER / 3) as u32,
                base: 500 + random.below(6_000) as u32,
                jitter: random.word() as u16,
                count: 1 + random.below(40) as u32,
                ..PAPER
            };
            bench.write("port.rate", 200_000_000 + random.below(900_000_000));
            bench.start(&settings);
            let (shortest, mut brought) = (round % 2 == 0, 0);
            for clock in 0..CLOCKS {
                for line in 0..PORTS - 1 {
                    if bench.lines[line].left() == 0 && clock % (if shortest { 84 } else { 1538 }) == 0 {
                        let octets = if shortest { 60 } else { 60 + random.below(1455) as usize };
                        // Two of three lines also have traffic between themselves.
                        let to = if random.one_in(4) { (line + 1) % (PORTS - 1) } else { CP };
                        bench.lines[line].push(&frame(&mut random, station(line), station(to), octets));
                        brought += 1;
                    }
                }
                bench.clock();
            }
            bench.drain();
            let (mut came, mut others, mut lost, mut left) = (0, 0, 0, 0);
            for (port, count) in messages.iter_mut().enumerate() {
                for frame in std::mem::take(&mut bench.came[port]) {
                    if let Some(message) = Message::of(&frame, smcc) {
                        assert_eq!((message.destination, message.cp_id), (station(port), 0x1234_5678_9abc_def0));
                        *count += 1;
                        came += 1;
                    } else {
                        others += 1;
                        data += u64::from(port == CP);
                    }
                }
                lost += bench.line(port, "messages_lost");
                left += bench.line(port, "dropped");
            }
            let refused = bench.read("cp.dropped");
            let untold = bench.read("cp.messages_lost");
            assert_eq!(bench.missing_messages(), untold);
            assert_eq!(bench.read("cp.messages"), came + lost, "all messages reach somebody");
            assert_eq!(brought, others + refused + left, "each frame came out or was refused");
            // A message for each frame may be more than a line takes, and samples without a pause more than lines can wait for.
            let samples = bench.follow.as_ref().expect("it is followed").samples;
            assert!(lost + untold == 0 || smcc && settings.count < 3, "{lost} lost: {settings:?}");
            assert!(
                left == 0 || !smcc && samples * (QCN_SAMPLE + RELOAD) > CLOCKS / 2,
                "{left} left out: {settings:?}"
            );
            dropped += refused;
        }
        println!("{messages:?} messages, {data} frames, {dropped} dropped, {} clocks", bench.clock);
        assert!(messages[..CP].iter().all(|&count| count > 50) && messages[CP] == 0 && dropped > 100);
    }
}

/// Garbage from lines, stalls of sinks, and resets in the middle: afterwards a good frame passes everywhere.
#[test]
fn nothing_sticks() {
    for smcc in [false, true] {
        let mut bench = bench(smcc, 5);
        let mut random = Random::new(5);
        let mut counted = [0u64; 4];
        for round in 0..25u64 {
            if random.one_in(4) {
                bench.reset();
                for port in 0..PORTS {
                    bench.entry(port as u64, station(port), 1 << port);
                }
            }
            bench.write("forwarding.default_ports", random.below(16) & random.below(16));
            bench.write("line.rate", [1_000_000_000, 5_000_000_000, 100_000_000][random.below(3) as usize]);
            bench.write("port.rate", [1_000_000_000, 5_000_000_000, 100_000_000][random.below(3) as usize]);
            bench.write("pfc.xoff", [0xff_ffff, 10_000][random.below(2) as usize]);
            bench.write("pfc.xon", 5_000);
            bench.start(&Settings { q_eq: 5000, base: 20_000, count: 20, ..PAPER });
            bench.garbage = [2, 20, 200][random.below(3) as usize];
            for _ in 0..6 {
                for sink in &mut bench.sinks {
                    *sink = [0, 20, 128, 256, 256][random.below(5) as usize];
                }
                bench.run(random.below(4000));
            }
            bench.garbage = 0;
            // A frame of one beat ends a frame that was begun; frames that wait go, and pauses end.
            for line in 0..PORTS {
                bench.lines[line].push(&Frame::new(vec![0; 8]));
            }
            bench.write("line.rate", 5_000_000_000);
            bench.write("port.rate", 5_000_000_000);
            bench.drain();
            for (total, name) in ["bad", "dropped", "lost", "discarded"].iter().enumerate() {
                counted[total] += (0..PORTS).map(|port| bench.line(port, name)).sum::<u64>();
            }
            let lost = bench.read("cp.messages_lost") + bench.read("forwarding.messages_discarded");
            assert_eq!(bench.missing_messages(), lost, "round {round}");
            bench.came.iter_mut().for_each(VecDeque::clear);
            for line in 0..PORTS {
                for to in 0..PORTS {
                    let sent = frame(&mut random, station(line), station(to), 60 + 8 * line + to);
                    bench.lines[line].push(&sent);
                    bench.run(500);
                    // A sample of these frames may call for a message too.
                    let data = |frame: &Frame| !control(frame) && Message::of(frame, smcc).is_none();
                    let came: Vec<_> = bench.came[to].drain(..).filter(data).collect();
                    assert_eq!(came, [sent], "round {round}: from {line} to {to}");
                }
            }
        }
        println!("bad, dropped, lost, discarded: {counted:?}, {} clocks", bench.clock);
        assert!(counted.iter().all(|&count| count > 20), "{counted:?}");
    }
}

/// A frame of MAC control.
fn control(frame: &Frame) -> bool {
    frame.octets[12..14] == [0x88, 0x08]
}

/// A queue that is long stops the neighbours; a neighbour stops data on its line, not messages.
#[test]
fn flow_control_stops_and_lets_go() {
    let mut bench = bench(false, 6);
    let mut random = Random::new(6);
    bench.write("pfc.xoff", 20_000);
    bench.write("pfc.xon", 10_000);
    bench.write("pfc.quanta", 1000);
    bench.write("port.rate", 500_000_000);
    bench.start(&PAPER);
    // Line 0 brings 1 Gb/s, except while it is paused.
    let mut stopped = false;
    let mut pauses = 0;
    for _ in 0..200_000 {
        while let Some(pause) = bench.came[0].pop_front() {
            assert!(control(&pause), "nothing else goes there");
            assert_eq!(pause.octets[..6], [0x01, 0x80, 0xc2, 0, 0, 1]);
            assert_eq!(pause.octets[14..18], [0x01, 0x01, 0, 8]);
            let quanta = u16::from_be_bytes([pause.octets[24], pause.octets[25]]);
            assert!(quanta == 1000 || quanta == 0);
            stopped = quanta > 0;
            assert!(bench.most_queue >= 20_000, "it stops when the queue is long");
            pauses += 1;
        }
        if bench.lines[0].left() == 0 && !stopped {
            bench.lines[0].push(&frame(&mut random, station(0), station(CP), 1514));
        }
        bench.clock();
        assert!(bench.most_queue < 28_000, "it stops in time");
    }
    assert!(pauses > 10);
    assert_eq!(bench.read("cp.dropped"), 0);
    assert!(bench.line(0, "pauses") >= pauses && bench.line(CP, "pauses") == 0);
    // Now the neighbour of line 1 stops data there for 500 quanta of 64 clocks.
    bench.drain();
    bench.came.iter_mut().for_each(VecDeque::clear);
    let mut pause = Frame::new(vec![0; 60]);
    pause.octets[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
    pause.octets[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, 8]);
    pause.octets[24..26].copy_from_slice(&500u16.to_be_bytes());
    bench.lines[1].push(&pause);
    bench.run(100);
    assert_eq!((bench.read("pfc.paused"), bench.line(1, "pauses_taken")), (2, 1));
    bench.lines[0].push(&frame(&mut random, station(0), station(1), 1000));
    bench.lines[0].push(&frame(&mut random, station(0), station(2), 1000));
    bench.run(25_000);
    assert_eq!((bench.came[1].len(), bench.came[2].len()), (0, 1));
    bench.run(8_000);
    assert_eq!(bench.came[1].len(), 1);
    assert_eq!(bench.read("pfc.paused"), 0);
}

/// From the clock of a pause frame's last beat on, no frame of data starts at the port that it came by later than the
/// documentation says, whatever waits there and whenever the pause comes.
#[test]
fn pauses_are_obeyed_within_their_bound() {
    const BOUND: u64 = 5;
    let mut bench = bench(false, 8);
    let mut random = Random::new(8);
    bench.write("line.rate", 5_000_000_000);
    bench.write("port.rate", 100_000);
    bench.start(&QUIET);
    let pause = |quanta: u16| {
        let mut pause = Frame::new(vec![0; 60]);
        pause.octets[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
        pause.octets[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, 8]);
        pause.octets[24..26].copy_from_slice(&quanta.to_be_bytes());
        pause
    };
    let (mut longest, mut frames) = (0, 0);
    for round in 0..1_500 {
        // Data for line 1 from two sides without a pause, or a frame now and then.
        let from = bench.clock;
        let phase = random.below(300);
        let rarely = if round % 2 == 0 { 1 } else { 80 };
        let (mut paused_at, mut inside) = (None, false);
        while bench.clock < from + 600 {
            for line in [0, 2] {
                if bench.lines[line].left() == 0 && random.one_in(rarely) {
                    let octets = 60 + random.below(200) as usize;
                    bench.lines[line].push(&frame(&mut random, station(line), station(1), octets));
                }
            }
            if paused_at.is_none() && bench.clock >= from + phase && bench.lines[1].left() == 0 {
                bench.lines[1].push(&pause(200));
                paused_at = Some(bench.clock + 7);
            } else if bench.lines[1].left() == 0 {
                let octets = 60 + random.below(900) as usize;
                bench.lines[1].push(&frame(&mut random, station(1), station(CP), octets));
            }
            let now = bench.clock;
            let out = bench.clock();
            let valid = out.m_axis_line_tvalid >> 1 & 1 == 1;
            if valid && !inside {
                frames += 1;
                if let Some(paused_at) = paused_at.filter(|&paused_at| now >= paused_at) {
                    longest = longest.max(now - paused_at);
                    assert!(now - paused_at <= BOUND, "a frame starts {} clocks after the pause", now - paused_at);
                }
            }
            inside = if valid { out.m_axis_line_tlast >> 1 & 1 == 0 } else { inside };
        }
        while bench.lines[1].left() > 0 {
            bench.clock();
        }
        bench.lines[1].push(&pause(0));
        bench.run(200);
    }
    println!("{frames} frames, the latest starts {longest} clocks after a pause");
    assert_eq!(longest, BOUND);
    assert!(frames > 400);
    assert_eq!(bench.line(1, "pauses_taken"), 3_000);
}

/// Lines that take nothing cost only the frames for them.
#[test]
fn stalled_lines_stop_nobody_else() {
    let mut bench = bench(false, 7);
    let mut random = Random::new(7);
    bench.start(&QUIET);
    bench.sinks = [256, 0, 256, 0];
    let mut sent = 0;
    for clock in 0..400_000u64 {
        if clock % 1600 == 0 {
            bench.lines[0].push(&frame(&mut random, station(0), station(1), 1000));
            bench.lines[2].push(&frame(&mut random, station(2), station(0), 1000));
            bench.lines[1].push(&frame(&mut random, station(1), station(CP), 1000));
            sent += 1;
        }
        bench.clock();
    }
    assert_eq!(bench.came[0].len(), sent);
    assert_eq!((bench.came[1].len(), bench.came[CP].len()), (0, 0));
    assert!(bench.line(1, "lost") > 100 && bench.read("cp.dropped") > 100);
    assert!(bench.most_queue > BUFFER - 1004);
    let lost = bench.line(1, "lost") + bench.read("cp.dropped");
    bench.drain();
    assert_eq!((bench.came[1].len() + bench.came[CP].len()) as u64 + lost, 2 * sent as u64);
}

/// Counters of a port that is not there are those of the highest.
#[test]
fn a_port_that_is_not_there_shows_as_the_highest() {
    let mut bench = bench(false, 13);
    let mut random = Random::new(13);
    bench.start(&QUIET);
    bench.lines[0].push(&frame(&mut random, station(0), station(CP), 60));
    bench.drain();
    assert_eq!(["lost", "pauses"].map(|name| bench.line(CP, name)), [0; 2]);
    let frames: Vec<u64> = (0..16).map(|port| bench.line(port, "frames")).collect();
    assert_eq!(frames, [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
}

/// A switch without a trace sends no record and drops none.
#[test]
fn no_trace_shows_nothing() {
    let out = switch_trace_none::Core::new(10).clock(&switch_trace_none::In::default());
    assert_eq!(out, switch_trace_none::Out::default());
}
