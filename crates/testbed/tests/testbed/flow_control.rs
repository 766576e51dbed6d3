//! Priority flow control on the testbed: the switch pauses as the simulator's does, and interfaces obey.

use crate::common::{Arrivals, THREE, bottleneck, datagram, frame, node, plan, port_to};
use penstock_scenario::Plan;
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{Duration, Instant, SchemeConfig};
use penstock_sim::network::NodeId;
use penstock_sim::{Full, Sim};
use penstock_testbed::bridge::Bridge;
use penstock_testbed::frame::{Header, put_tags};
use penstock_testbed::interface::Interface;
use penstock_testbed::pause;
use penstock_wire::mac_control;

/// Three sources of 10 Gb/s, one port of 10 Gb/s, and flow control: XOFF at 40 KB, XON at 20 KB.
fn lossless() -> Plan {
    let pfc = "[pfc]\nresponse = \"0 s\"\nbuffer = \"60 KB\"\nxoff = \"40 KB\"\nxon = \"20 KB\"\n[topology.star]";
    plan(&THREE.replace("\"qcn\"", "\"none\"").replace("[topology.star]", pfc))
}

fn config(plan: &Plan) -> Config {
    let SchemeConfig::None(config) = &plan.schemes[0].config else { panic!("a scheme") };
    config.clone()
}

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// The times of a PFC frame; none for any other.
fn times(octets: &[u8]) -> Option<[Option<u16>; 8]> {
    let header = Header::read(octets)?;
    (header.destination == mac_control::DESTINATION).then(|| pause::times(octets, &header).expect("a PFC frame"))
}

#[test]
fn the_switch_pauses_as_the_simulators_does() {
    let plan = lossless();
    let config = config(&plan);
    let (_, queue) = bottleneck(&plan);
    let probe = Arrivals { queue, seen: Vec::new() };
    let mut sim = Sim::<NoControl, _, Full>::new(&plan.network, std::slice::from_ref(&config), plan.seed, probe);
    sim.run_until(Instant::ZERO + plan.duration);
    let (outcome, probe) = sim.finish();
    assert!(outcome.totals.pause_frames > 100, "{}", outcome.totals.pause_frames);
    assert!(probe.seen.iter().all(|arrival| !arrival.dropped));

    let (sw, sink) = (node(&plan, "sw0"), node(&plan, "h3"));
    let mut bridge = Bridge::<NoControl>::new(&plan, sw, std::slice::from_ref(&config));
    let out = port_to(&plan, &bridge, sink);
    bridge.receive(Instant::ZERO, out, frame(&plan, sink, sink, None, 60));
    let (mut lens, mut stops, mut resumes) = (Vec::new(), 0, 0);
    let mut count = |bridge: &mut Bridge<NoControl>| {
        while let Some((port, departure)) = bridge.poll_departure() {
            if let Some(times) = times(&departure.octets) {
                assert_ne!(port, out, "nobody is to be stopped there");
                stops += u64::from(times[0] > Some(0));
                resumes += u64::from(times[0] == Some(0));
                assert!(times[1..].iter().all(Option::is_none));
            }
        }
    };
    for arrival in &probe.seen {
        let from = NodeId(plan.flow_ends[arrival.flow.index()].0 as u32);
        let port = port_to(&plan, &bridge, from);
        bridge.receive(arrival.at, port, frame(&plan, from, sink, None, 996));
        lens.push(bridge.queue_len(out, 0));
        count(&mut bridge);
    }
    bridge.advance(Instant::ZERO + plan.duration);
    count(&mut bridge);
    let expected: Vec<u64> = probe.seen.iter().map(|arrival| arrival.len.0).collect();
    assert_eq!(lens.iter().zip(&expected).position(|(own, other)| own != other), None, "queues are equal");
    assert_eq!(bridge.counts().pauses_sent, outcome.totals.pause_frames);
    assert_eq!(stops + resumes, outcome.totals.pause_frames);
    assert!(stops >= resumes && resumes > 10, "{stops} {resumes}");
    assert_eq!(bridge.dropped(), [0, 0, 0]);
}

/// The ingress buffer of 60 KB bounds what comes by a port, and not the output queue, whose own bound is 150 KB.
#[test]
fn a_neighbour_that_does_not_stop_overflows_its_own_buffer_alone() {
    let plan = lossless();
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h0, h1, h3) = (node(&plan, "h0"), node(&plan, "h1"), node(&plan, "h3"));
    let ports = [h0, h1, h3].map(|host| port_to(&plan, &bridge, host));
    bridge.receive(Instant::ZERO, ports[2], frame(&plan, h3, h3, None, 60));
    for _ in 0..70 {
        bridge.receive(Instant::ZERO, ports[0], datagram(&plan, h0, h3, 5201, 996));
    }
    // Datagrams without tags have no class; those of priority 0 have.
    assert_eq!(bridge.held(ports[0], 0), 0);
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    bridge.receive(Instant::ZERO, ports[2], frame(&plan, h3, h3, None, 60));
    for _ in 0..70 {
        bridge.receive(Instant::ZERO, ports[0], frame(&plan, h0, h3, Some(0), 996));
    }
    bridge.receive(Instant::ZERO, ports[1], frame(&plan, h1, h3, Some(1), 996));
    assert_eq!((bridge.dropped(), bridge.queue_len(ports[2], 0)), (&[10, 0, 0][..], 61_000));
    assert_eq!(bridge.held(ports[0], 0), 60_000);
    // 61 frames of 0.8 us and more leave: the buffers are empty, and the neighbour goes on.
    bridge.advance(us(100));
    assert_eq!(bridge.held(ports[0], 0), 0);
    let frames: Vec<_> = std::iter::from_fn(|| bridge.poll_departure()).collect();
    let pause_times: Vec<_> = frames.iter().filter_map(|(port, sent)| Some((*port, times(&sent.octets)?[0]))).collect();
    assert_eq!(pause_times.first(), Some(&(ports[0], Some(65_535))));
    assert_eq!(pause_times.last(), Some(&(ports[0], Some(0))));
}

/// A PFC frame for priority 0.
fn pause_frame(quanta: u16) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[..6].copy_from_slice(&mac_control::DESTINATION.0);
    frame[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 9, 0x88, 0x08]);
    let mut times = [None; 8];
    times[0] = Some(quanta);
    mac_control::pfc::Repr::new(times).emit(&mut frame[14..]).unwrap();
    frame
}

/// Frames of 1000 octets take 0.8 us at 10 Gb/s, a quantum 51.2 ns: 100 quanta are 5.12 us.
#[test]
fn an_interface_pauses_for_the_time_and_resumes_on_request() {
    let plan = lossless();
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<NoControl>::new(&plan, h0, &[config(&plan)]);
    interface.start(Instant::ZERO, 0);
    for _ in 0..40 {
        interface.from_host(Instant::ZERO, datagram(&plan, h0, h3, 5201, 992));
    }
    let mut sent = Vec::new();
    let mut drive = |interface: &mut Interface<NoControl>, until: Instant| {
        while interface.next_event() <= until {
            interface.advance(interface.next_event());
        }
        interface.advance(until);
        // When its transmission began: the link takes 3 us, the frame 0.8 us.
        sent.extend(std::iter::from_fn(|| interface.poll_departure()).map(|frame| frame.due.0 - 3_800_000));
        sent.len()
    };
    // At 0, 0.8, 1.6 us.
    assert_eq!(drive(&mut interface, us(2)), 3);
    assert_eq!(interface.from_wire(us(2), pause_frame(100)), None);
    assert_eq!((drive(&mut interface, us(7)), interface.counts().pauses), (3, 1));
    // The stop has run out at 7.12 us.
    assert_eq!(drive(&mut interface, us(8)), 5);
    interface.from_wire(us(8), pause_frame(65_535));
    assert_eq!(drive(&mut interface, us(1000)), 5);
    interface.from_wire(us(1000), pause_frame(0));
    assert_eq!(drive(&mut interface, us(1001)), 7);
    let pause_times: Vec<u64> = sent.iter().map(|ps| ps / 10_000).collect();
    assert_eq!(pause_times, [0, 80, 160, 712, 792, 100_000, 100_080]);
}

/// Neither h0's interface nor the switch's port to h3 is stopped by `frames`, and both refuse them.
fn none_stops(plan: &Plan, frames: &[Vec<u8>]) {
    let (h0, h3) = (node(plan, "h0"), node(plan, "h3"));
    let mut interface = Interface::<NoControl>::new(plan, h0, &[config(plan)]);
    let mut bridge = Bridge::<NoControl>::new(plan, node(plan, "sw0"), &[config(plan)]);
    let (from, out) = (port_to(plan, &bridge, h0), port_to(plan, &bridge, h3));
    bridge.receive(Instant::ZERO, out, frame(plan, h3, h3, None, 60));
    interface.start(Instant::ZERO, 0);
    for wrong in frames {
        assert_eq!(interface.from_wire(Instant::ZERO, wrong.clone()), None);
        bridge.receive(Instant::ZERO, out, wrong.clone());
    }
    interface.from_host(Instant::ZERO, datagram(plan, h0, h3, 5201, 992));
    interface.advance(us(10));
    assert!(interface.poll_departure().is_some());
    bridge.receive(Instant::ZERO, from, frame(plan, h0, h3, Some(0), 996));
    bridge.advance(us(10));
    assert_eq!(std::iter::from_fn(|| bridge.poll_departure()).count(), 1);
    let all = frames.len() as u64;
    assert_eq!((interface.counts().pauses, interface.counts().control_refused), (0, all));
    assert_eq!((bridge.counts().pauses, bridge.counts().refused), (0, all));
}

#[test]
fn frames_of_mac_control_that_are_no_pfc_stop_nothing() {
    let changed = |at: usize, octet: u8| {
        let mut wrong = pause_frame(65_535);
        wrong[at] = octet;
        wrong
    };
    let mut tagged = pause_frame(65_535);
    put_tags(&mut tagged, 7, None);
    // Opcode 0001, PAUSE: it stops whole lines, and no line here uses it. EtherType 88B7: the address alone stops nothing.
    // Nor does MAC control for another address that no bridge forwards.
    none_stops(
        &lossless(),
        &[changed(14, 0x00), changed(13, 0xb7), changed(5, 0x02), pause_frame(65_535)[..20].to_vec(), tagged],
    );
}

#[test]
fn pause_frames_stop_nothing_where_the_scenario_has_no_flow_control() {
    none_stops(&plan(&THREE.replace("\"qcn\"", "\"none\"")), &[pause_frame(65_535)]);
}

/// A switch keeps frames for 01-80-C2-00-00-00 to 0F to itself, so that a host has no use for one.
#[test]
fn a_host_sends_nothing_to_addresses_that_no_bridge_forwards() {
    let plan = lossless();
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<NoControl>::new(&plan, h0, &[config(&plan)]);
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    for last in 0..=16 {
        let mut sent = datagram(&plan, h0, h3, 5201, 992);
        sent[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, last]);
        bridge.receive(Instant::ZERO, 0, sent.clone());
        interface.from_host(Instant::ZERO, sent);
    }
    // A PFC frame whose EtherType hides it, as a program of the host can send it.
    let mut hidden = pause_frame(65_535);
    hidden[13] = 0xb7;
    interface.from_host(Instant::ZERO, hidden);
    // 01-80-C2-00-00-10 is a group like any other.
    assert_eq!((bridge.counts().refused, bridge.counts().flooded), (16, 1));
    assert_eq!(interface.counts().refused_from_host, 17);
}

/// Stopped at 0, the queue between two switches drops its ten frames at 200 us, and one that comes at 300 us. At 700 us no pause frame has
/// come for 400 us, and it sends again.
#[test]
fn the_watchdog_lets_a_queue_drop_that_is_stopped_for_too_long() {
    let text = r#"
        question = "Does the watchdog act?"
        duration = "20 ms"
        scheme = "none"
        [pfc]
        response = "0 s"
        [pfc.watchdog]
        after = "200 us"
        restoration = "400 us"
        poll = "0 s"
        action = "drop"
        [topology.dumbbell]
        sources = 1
        receivers = 1
        link_rate = "10 Gbps"
        bottleneck_rate = "10 Gbps"
        buffer = "150 KB"
        [[flow]]
        from = "h0"
        to = "h1"
        frame = "1000 octets"
    "#;
    let plan = plan(text);
    penstock_testbed::layout::Layout::new(&plan).expect("the testbed has a watchdog");
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h0, h1) = (node(&plan, "h0"), node(&plan, "h1"));
    let (from, to) = (port_to(&plan, &bridge, h0), port_to(&plan, &bridge, node(&plan, "sw1")));
    bridge.receive(Instant::ZERO, to, frame(&plan, h1, h1, None, 60));
    bridge.receive(Instant::ZERO, to, pause_frame(65_535));
    let send = |bridge: &mut Bridge<NoControl>, at| {
        bridge.receive(us(at), from, frame(&plan, h0, h1, Some(0), 996));
        bridge.dropped()[0]
    };
    for _ in 0..10 {
        assert_eq!(send(&mut bridge, 100), 0);
    }
    bridge.advance(us(199));
    assert_eq!(bridge.dropped(), [0]);
    bridge.advance(us(200));
    assert_eq!((bridge.dropped(), bridge.queue_len(to, 0)), (&[10][..], 0));
    assert_eq!(send(&mut bridge, 300), 11);
    assert_eq!(send(&mut bridge, 701), 11);
    bridge.advance(us(800));
    assert_eq!(std::iter::from_fn(|| bridge.poll_departure()).filter(|(port, _)| *port == to).count(), 1);
    assert_eq!(bridge.paused(to, 0).2, 1);
}
