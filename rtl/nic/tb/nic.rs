//! The whole NIC at its pins: registers over AXI4-Lite, reaction points in lock step with the state machines, every frame at
//! its place, and all that can be wrong at the pins.

mod bench;
mod few;
mod floods;
mod frames;
mod garbage;
mod pins;
mod port;
mod schemes;

use bench::{CONTROL_ADDRESS, LINE_COUNTERS, MACS, SINK_MAC, Traffic, World};
use frames::{any_arrival, any_departure, data};
use penstock_cosim::bits::Bits;
use penstock_cosim::messages::{CNM, SMCC, message, message_at, message_of, put};
use penstock_cosim::reaction_point::QcnSettings;
use penstock_cosim::stream::{Beat, Frame};
use penstock_cosim::{Random, at_least, operations};
use pins::{LINES, Memories, Nic, POINTS, Pins, Shown, nic_under_test};
use schemes::{Scheme, SmccRules, plain_qcn, plain_smcc};

nic_under_test!(QcnNic, qcn_nic, 1, [0; POINTS], CNM, 65_536);
nic_under_test!(SmccNic, smcc_nic, 1, [0; POINTS], SMCC, 65_536);
nic_under_test!(QcnLines, qcn_nic_lines, 4, [0, 1, 2, 3], CNM, 1_024);

/// Clocks of each NIC in lock step.
const CLOCKS: u64 = 1_000_000;

/// As many rounds where lock steps are long, else a third of them.
fn rounds(all: u64) -> u64 {
    if operations() > 0 { all } else { all / 3 }
}

/// Settings of all but the scheme, then the flows start and the time runs.
fn configure<N: Nic, S: Scheme>(world: &mut World<N, S::Machine>, scheme: &S) {
    let starts = || scheme.start();
    for (name, value) in scheme.registers() {
        world.set(name, value, &starts);
    }
    world.rate = [1_000_000_000, 950_000_000, 500_000_000][world.random.below(3) as usize];
    // A port that is not there is port 0.
    let port = world.random.below(LINES as u64);
    world.host_port = if port < N::PORTS as u64 { port as usize } else { 0 };
    world.set("host.port", port, &starts);
    let priority = world.random.below(8);
    world.set("flow.data_priority", priority, &starts);
    let interval = world.random.below(300);
    world.set("trace.interval", interval, &starts);
    for p in 0..N::PORTS {
        world.set(&format!("line[{p}].rate"), world.rate, &starts);
        for way in ["delay_out", "delay_in"] {
            let delay = if world.random.one_in(3) { 0 } else { world.random.below(4_000) };
            world.set(&format!("{way}[{p}].delay"), delay, &starts);
        }
    }
    for (i, mac) in MACS.into_iter().enumerate() {
        let octets = [64, 1_518, 64 + world.random.below(1_455)][world.random.below(3) as usize];
        world.generated[i] = octets as usize;
        let point = |name: &str| format!("reaction_point[{i}].{name}");
        for (name, value) in [("mac", mac), ("destination_mac", SINK_MAC), ("octets", octets), ("start", 1)] {
            world.set(&point(name), value, &starts);
        }
    }
    world.set("clock.run", 1, &starts);
}

/// Everything stops, and frames in flight arrive; then the counters must agree with the model.
fn settle<N: Nic, S: Scheme>(world: &mut World<N, S::Machine>, scheme: &S) {
    let starts = || scheme.start();
    world.traffic = Traffic { line_stalls: u64::MAX, host_stalls: u64::MAX, ..world.traffic };
    // Twice: messages that were in flight may lower the rate for which a packet waits.
    for _ in 0..2 {
        for i in 0..POINTS {
            world.set(&format!("reaction_point[{i}].enable"), 0, &starts);
            world.set(&format!("reaction_point[{i}].start"), 1, &starts);
        }
        let (started, give_up) = (world.clock, world.clock + 600_000);
        while world.quiet().min(world.clock - started) < 12_000 {
            world.step(&starts);
            assert!(world.clock < give_up, "something never stops");
        }
    }
    assert!((0..LINES).all(|p| world.waiting(p) == 0) && world.host_waiting() == 0, "something is stuck");
    let read = |world: &mut World<N, S::Machine>, name: &str| world.get(name, &starts);

    // The lines.
    world.give_up();
    let (mut lost, mut arrived, mut taken_out) = (0, 0, 0);
    for p in 0..N::PORTS {
        let at = |name: &str| name.replace("[]", &format!("[{p}]"));
        let counters = LINE_COUNTERS.map(|name| read(world, &at(name)));
        if world.any_message.is_none() {
            assert_eq!(counters, world.lines[p].counters, "line {p}: {LINE_COUNTERS:?}");
        }
        arrived += counters[0];
        taken_out += counters[6] + counters[7] + counters[8];
        lost += read(world, &at("line[].dropped")) + read(world, &at("delay_in[].dropped"));
        let dropped = read(world, &at("delay_out[].dropped"));
        let mut missing = world.lines[p].missing;
        for i in (0..POINTS).filter(|&i| N::PORT_OF[i] == p) {
            let made = read(world, &format!("reaction_point[{i}].next_sequence"));
            missing += u64::from((made as u32).wrapping_sub(world.next_sequence(i)));
        }
        assert_eq!(missing, dropped, "line {p}: lost frames are counted");
        assert_eq!(read(world, &at("line[].frames")), world.lines[p].seen + dropped);
        if dropped == 0 {
            assert_eq!(read(world, &at("line[].octets")), world.lines[p].seen_octets);
        }
        assert!(world.traffic.line_lossy || dropped == 0);
        assert_eq!(read(world, &at("delay_out[].words")) + read(world, &at("delay_in[].words")), 0);
        assert_eq!(read(world, &at("pfc[].paused")), 0);
    }

    for p in N::PORTS..LINES {
        let counters = LINE_COUNTERS.map(|name| read(world, &name.replace("[]", &format!("[{p}]"))));
        assert_eq!(counters, [0; 9], "line {p} is not there");
    }

    // Messages and the host.
    let receiver = ["receiver.taken", "receiver.malformed", "receiver.unknown"].map(|name| read(world, name));
    let host = ["host.frames", "host.dropped"].map(|name| read(world, name));
    assert_eq!(host[0], world.host_seen);
    lost += host[1];
    assert!(world.traffic.host_lossy || lost == 0);
    let refused = read(world, "receiver.refused");
    if world.any_message.is_none() {
        assert_eq!((receiver, refused), (world.receiver, 0));
        assert!(world.messages.iter().all(|m| m.is_empty()), "every message is served");
        assert_eq!(world.host_missing, lost, "lost frames are counted");
    }
    assert_eq!(arrived, taken_out + receiver[0] + receiver[1] + refused + host[0] + lost, "every frame is somewhere");
    let steered = ["host.paced", "host.unpaced"].map(|name| read(world, name));
    assert_eq!(steered, world.steered);
    for i in 0..POINTS {
        let point = |name: &str| format!("reaction_point[{i}].{name}");
        assert_eq!(read(world, &point("dropped")), world.too_long[i]);
        assert!(read(world, &point("tokens")) <= 3_000);
        let rate = read(world, &point("current_rate"));
        assert!(rate >= scheme.least_rate() && rate <= 1_000_000_000);
        assert!(N::KIND != SMCC || read(world, &point("phase")) == 0);
    }
    assert!(read(world, "clock.now") > 0);
}

/// Random traffic and settings, resets within frames; each reaction point in lock step with its state machine.
fn lock_step<N: Nic, S: Scheme>(seed: u64) {
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = World::new(seed);
    let (mut signals, mut traced, mut seen, mut settled, mut resets) = (0, 0, 0, 0, 0);
    // Settings may be such that rates change seldom.
    while world.clock < at_least(CLOCKS) || (traced <= 500 && world.clock < 2 * CLOCKS) {
        world.reset();
        resets += 1;
        let scheme = S::any(&mut random);
        configure(&mut world, &scheme);
        let starts = || scheme.start();
        // As on lines at 1 Gb/s with sinks that take, so that nothing is lost; or worse.
        let (stalls, flood) = (random.one_in(3), random.one_in(4));
        world.traffic = Traffic {
            line_rate: !flood,
            gap: [1, 1, 2, 5][random.below(4) as usize],
            line_stalls: if stalls { 200 } else { u64::MAX },
            host_stalls: if stalls { 200 } else { u64::MAX },
            line_lossy: stalls,
            host_lossy: stalls || flood,
        };
        let same = message(&mut random, N::KIND, MACS[0]);
        let busy = [1, 3, 10, 100][random.below(4) as usize];
        for i in 0..POINTS {
            let enable = u64::from(!random.one_in(4));
            world.set(&format!("reaction_point[{i}].enable"), enable, &starts);
        }
        if flood {
            world.any_message = Some(message_of(&same.octets, N::KIND));
        }
        for _ in 0..20_000 + random.below(60_000) {
            for p in 0..N::PORTS {
                if world.waiting(p) < 2 && random.one_in(busy * 60) {
                    let macs: Vec<u64> = (0..POINTS).filter(|i| i % N::PORTS == p).map(|i| MACS[i]).collect();
                    let mut frame = any_arrival(&mut random, N::KIND, &macs);
                    // Two frames that are cut before their source address may be the same: none that is looked for among
                    // those behind the next one, and none of another line.
                    if frame.octets.len() < 12 {
                        if world.traffic.host_lossy {
                            frame.octets = Frame::random(&mut random, 12).octets;
                        } else if let Some(last) = frame.octets.last_mut() {
                            *last = p as u8;
                        }
                    }
                    // A flood of messages that all say the same, since some are lost.
                    if flood && message_at(&frame.octets, N::KIND).is_some() {
                        frame.octets = same.octets.clone();
                        let mac = macs[random.below(macs.len() as u64) as usize];
                        put(&mut frame.octets, 0, &mac.to_be_bytes()[2..]);
                    }
                    let copies = if flood { random.below(40) } else { 1 };
                    for _ in 0..copies {
                        world.arrive(p, frame.clone());
                    }
                }
            }
            if world.host_waiting() < 2 && random.one_in(busy.min(10) * 200) {
                world.send(any_departure(&mut random));
            }
            if random.one_in(20_000) {
                world.bus.write(&format!("reaction_point[{}].start", random.below(4)), 1);
            }
            world.step(&starts);
        }
        signals += world.signals;
        traced += world.traced;
        seen += world.lines.iter().map(|line| line.seen).sum::<u64>();
        // A reset within frames, or all that was begun ends.
        if !random.one_in(3) {
            settle(&mut world, &scheme);
            settled += 1;
        }
    }
    println!(
        "{} clocks, {resets} resets, {settled} settled; {} events, {signals} messages served, {seen} frames sent, {traced} records",
        world.clock, world.events
    );
    assert!(signals > 500 && traced > 500 && seen > 500);
}

/// A world in which nothing goes wrong, its flows started, no packets generated.
fn quiet_world<N: Nic, S: Scheme>(seed: u64, scheme: &S) -> World<N, S::Machine> {
    let mut world: World<N, S::Machine> = World::new(seed);
    world.reset();
    configure(&mut world, scheme);
    world.rate = 1_000_000_000;
    for p in 0..N::PORTS {
        for (name, value) in [("line[].rate", world.rate), ("delay_out[].delay", 0), ("delay_in[].delay", 0)] {
            world.set(&name.replace("[]", &format!("[{p}]")), value, &|| scheme.start());
        }
    }
    world
}

/// A frame of 64 octets every 84 clocks, 1 Gb/s at 125 MHz, at every line and in both directions at once, and messages back to back
/// among them. Nothing is lost, and each line is full.
fn line_rate<N: Nic, S: Scheme>(seed: u64, scheme: &S) {
    const FRAMES: u64 = 1_500;
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    let starts = || scheme.start();
    for i in 0..POINTS {
        world.generated[i] = 64;
        world.set(&format!("reaction_point[{i}].octets"), 64, &starts);
    }
    for round in 0..3 {
        // Until a generator has seen its length.
        for _ in 0..20 {
            world.step(&starts);
        }
        // Generated packets of all reaction points; the host's own frames; generated ones while messages come.
        for i in 0..POINTS {
            world.set(&format!("reaction_point[{i}].enable"), u64::from(round != 1), &starts);
        }
        if round == 1 {
            world.host_port = N::PORTS - 1;
            world.set("host.port", world.host_port as u64, &starts);
        }
        let (from, seen) = (world.clock, world.host_seen);
        let mut brought = 0;
        while world.clock < from + 84 * FRAMES {
            for (p, &mac) in MACS.iter().enumerate().take(N::PORTS) {
                if world.waiting(p) == 0 {
                    world
                        .arrive(p, if round == 2 { message(&mut random, N::KIND, mac) } else { data(&mut random, 60) });
                    brought += u64::from(round != 2);
                }
            }
            if round == 1 && world.host_waiting() < 2 {
                world.send(data(&mut random, 60));
            }
            world.step(&starts);
        }
        let lines = (0..N::PORTS).filter(|&p| round == 0 || (round == 1 && p == world.host_port));
        for p in lines {
            let starts_of = &world.lines[p].starts;
            let count = starts_of.iter().filter(|&&at| at >= from).count() as u64;
            assert!(count + 3 >= FRAMES, "line {p}: {count} frames in {} clocks", 84 * FRAMES);
        }
        assert!(world.host_seen - seen + 12 >= brought, "arriving frames reach the host");
    }
    settle(&mut world, scheme);
}

/// Latencies from pin to pin without other frames, as in the documentation.
fn latencies<N: Nic, S: Scheme>(seed: u64, scheme: &S, served: u64, moved: u64) {
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    let starts = || scheme.start();
    let run = |world: &mut World<N, S::Machine>, until: &dyn Fn(&Shown) -> bool| {
        let from = world.clock;
        while !until(&world.step(&starts)) {
            assert!(world.clock < from + 10_000);
        }
        world.clock - from - 1
    };
    let rest = |world: &mut World<N, S::Machine>| {
        for _ in 0..500 {
            world.step(&starts);
        }
    };
    // The host's frame, whose first beat is shown in the first clock.
    let port = world.host_port;
    world.send(data(&mut random, 60));
    let unpaced = run(&mut world, &|out| out.line[port].is_some());
    rest(&mut world);
    world.send({
        let mut frame = data(&mut random, 60);
        put(&mut frame.octets, 6, &MACS[0].to_be_bytes()[2..]);
        frame
    });
    let paced = run(&mut world, &|out| out.line[N::PORT_OF[0]].is_some());
    rest(&mut world);
    // Eight beats, the last in clock 7; the rate moves later.
    let mut loud = message(&mut random, N::KIND, MACS[0]);
    put(&mut loud.octets, 14, &[0, 63]);
    put(&mut loud.octets, 38, &20_000u32.to_be_bytes());
    put(&mut loud.octets, 42, &1_000u32.to_be_bytes());
    let before = world.step(&starts).point[0].current_rate;
    world.arrive(0, loud.clone());
    let taken = run(&mut world, &|out| out.signal[0]);
    let shown = 1 + run(&mut world, &|out| out.point[0].current_rate != before);
    assert_eq!((unpaced, paced), (14, 18));
    assert_eq!((taken - 7, shown), (served, moved));
    // Each direction has its own delay, instead of the least: transmitted frames have that of the transmit path, received
    // frames that of the receive path.
    for (out, back) in [(300, 0), (0, 900), (77, 1_000), (800, 8)] {
        rest(&mut world);
        for p in 0..N::PORTS {
            world.set(&format!("delay_out[{p}].delay"), out, &starts);
            world.set(&format!("delay_in[{p}].delay"), back, &starts);
        }
        rest(&mut world);
        rest(&mut world);
        world.send(data(&mut random, 60));
        assert_eq!(run(&mut world, &|out| out.line[port].is_some()), unpaced - 6 + out.max(6), "out {out}, in {back}");
        rest(&mut world);
        rest(&mut world);
        world.arrive(0, loud.clone());
        assert_eq!(run(&mut world, &|out| out.signal[0]), taken - 6 + back.max(6), "out {out}, in {back}");
    }
}

/// The time stands and begins at 0, and a tick comes as often as its register says; 0 counts as 1. Reaction points begin with
/// a reset, too.
fn ticks<N: Nic, S: Scheme>(seed: u64, scheme: &S) {
    let mut world: World<N, S::Machine> = World::new(seed);
    let starts = || scheme.start();
    world.reset();
    for _ in 0..200 {
        assert_eq!(world.step(&starts).start, [false; POINTS], "no flow starts by itself");
    }
    assert!(world.step(&starts).point.iter().all(|point| point.current_rate == 1_000_000_000));
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    for period in [125, 1, 2, 0, 3, 999, 1_000] {
        world.set("clock.run", 0, &starts);
        world.set("qcn.tick_clocks", period, &starts);
        for _ in 0..10 {
            let out = world.step(&starts);
            assert!(out.now == 0 && !out.tick, "the time stands");
        }
        world.set("clock.run", 1, &starts);
        let (mut came, mut now) = (Vec::new(), 0);
        while came.len() < 20 {
            let out = world.step(&starts);
            assert!(now == 0 || out.now == now + 1, "{now}, then {}", out.now);
            now = out.now;
            if out.tick {
                came.push(world.clock);
            }
            assert!(came.len() == 20 || world.clock < 1_000_000, "no tick with {period}");
        }
        assert!(came.windows(2).all(|two| two[1] - two[0] == period.max(1)), "{period}: {came:?}");
    }
}

/// Pause frames back to back, of the longest time and of none: no frame starts while the priority is stopped, messages
/// are taken all the same, and at the end frames go again.
fn pause_storms<N: Nic, S: Scheme>(seed: u64, scheme: &S) {
    let mut random = Random::new(seed);
    let mut world: World<N, S::Machine> = quiet_world(seed, scheme);
    let starts = || scheme.start();
    world.set("flow.data_priority", 5, &starts);
    // The longest length that is counted is 65 535.
    world.arrive(0, data(&mut random, 66_000));
    while world.waiting(0) > 0 {
        world.step(&starts);
    }
    // A frame that ends within its source address is no reaction point's, even behind one with the rest of it.
    // Two beats wait for their bucket, for the short ones empty it, and the next frame behind them, with another length.
    for octets in [1_514, 1_514, 1_514, 14, 14, 14, 14, 14, 14, 14, 14, 100, 60, 8] {
        let mut frame = data(&mut random, octets);
        put(&mut frame.octets, 6, &MACS[0].to_be_bytes()[2..]);
        world.send(frame);
    }
    while world.host_waiting() > 0 {
        world.step(&starts);
    }
    for i in 0..POINTS {
        world.set(&format!("reaction_point[{i}].enable"), 1, &starts);
    }
    for round in 0..rounds(15) {
        // Clocks from a line to a stop, and from that to the frames in flight.
        const LATENCY: u64 = 40;
        let storm = |enable: u8, quanta: u16| {
            let mut frame = Frame::new(vec![0; 60]);
            put(&mut frame.octets, 0, &CONTROL_ADDRESS.to_be_bytes()[2..]);
            put(&mut frame.octets, 12, &[0x88, 0x08, 0x01, 0x01, 0, enable]);
            for priority in 0..8 {
                put(&mut frame.octets, 18 + 2 * priority, &quanta.to_be_bytes());
            }
            frame
        };
        let run = |world: &mut World<N, S::Machine>, clocks: u64| {
            for _ in 0..clocks {
                world.step(&starts);
            }
        };
        // Other priorities stop nothing.
        for p in 0..N::PORTS {
            world.arrive(p, storm(!(1 << 5), 0xffff));
        }
        run(&mut world, 2_000);
        let going: Vec<usize> = world.lines.iter().map(|line| line.starts.len()).collect();
        run(&mut world, 20_000);
        assert!((0..N::PORTS).all(|p| world.lines[p].starts.len() > going[p]), "round {round}: frames go");
        // The priority itself, many times; in between a message.
        world.traffic.line_rate = round % 2 == 0;
        for (p, &mac) in MACS.iter().enumerate().take(N::PORTS) {
            for _ in 0..1 + random.below(30) {
                world.arrive(p, storm(0xff, 0xffff));
            }
            world.arrive(p, message(&mut random, N::KIND, mac));
            world.arrive(p, storm(0x20, 1 + random.below(0xffff) as u16));
        }
        while (0..N::PORTS).any(|p| world.waiting(p) > 0) {
            world.step(&starts);
        }
        run(&mut world, LATENCY);
        let stopped: Vec<usize> = world.lines.iter().map(|line| line.starts.len()).collect();
        // The message has been served.
        run(&mut world, 100);
        let signals = world.signals;
        // Stops of one quantum are over by now.
        let long = random.below(30_000);
        for (p, &mac) in MACS.iter().enumerate().take(N::PORTS) {
            world.arrive(p, storm(0x20, 0x8000));
            world.arrive(p, message(&mut random, N::KIND, mac));
        }
        run(&mut world, 200);
        let held: Vec<usize> = world.lines.iter().map(|line| line.starts.len()).collect();
        run(&mut world, long);
        let now: Vec<usize> = world.lines.iter().map(|line| line.starts.len()).collect();
        assert_eq!(held, now, "round {round}: no frame starts");
        assert!(stopped.iter().zip(&held).all(|(a, b)| b - a <= 2));
        assert_eq!(world.signals - signals, N::PORTS as u64, "messages are taken all the same");
        for p in 0..N::PORTS {
            assert_eq!(world.get(&format!("pfc[{p}].paused"), &starts) & 0x20, 0x20);
            world.arrive(p, storm(0xff, 0));
        }
        run(&mut world, 30_000);
        assert!((0..N::PORTS).all(|p| world.lines[p].starts.len() > now[p]), "round {round}: frames go again");
    }
    settle(&mut world, scheme);
}

macro_rules! tests {
    ($module:ident, $nic:ty, $scheme:ty, $seed:expr, $plain:expr, $served:expr, $moved:expr) => {
        mod $module {
            use super::*;

            #[test]
            fn reaction_points_follow_the_state_machines() {
                lock_step::<$nic, $scheme>($seed);
            }

            #[test]
            fn lines_are_full_in_both_directions() {
                line_rate::<$nic, $scheme>($seed + 1, &$plain);
            }

            #[test]
            fn latencies_are_as_documented() {
                latencies::<$nic, $scheme>($seed + 4, &$plain, $served, $moved);
            }

            #[test]
            fn ticks_come_as_their_register_says() {
                ticks::<$nic, $scheme>($seed + 5, &$plain);
            }

            #[test]
            fn pause_storms_stop_data_alone() {
                pause_storms::<$nic, $scheme>($seed + 2, &$plain);
            }

            #[test]
            fn forged_messages_cost_no_data() {
                floods::floods::<$nic, $scheme>($seed + 6, &$plain);
            }

            #[test]
            fn garbage_leaves_nothing_stuck() {
                garbage::garbage::<$nic, $scheme>($seed + 3, &$plain);
            }
        }
    };
}

tests!(qcn, QcnNic, QcnSettings, 1_000, plain_qcn(), 25, 25);
tests!(smcc, SmccNic, SmccRules, 2_000, plain_smcc(), 100, 1);
tests!(lines, QcnLines, QcnSettings, 3_000, plain_qcn(), 25, 25);
