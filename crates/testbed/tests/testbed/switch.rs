//! The testbed's switch and the simulator's, on the same arrivals.

use crate::common::{Arrivals, THREE, bottleneck, datagram, frame, node, plan, port_to};
use penstock_scenario::Plan;
use penstock_schemes::qcn::Qcn;
use penstock_schemes::{Duration, Instant, SchemeConfig};
use penstock_sim::network::NodeId;
use penstock_sim::{Full, Sim};
use penstock_testbed::addressing::station;
use penstock_testbed::bridge::Bridge;
use penstock_testbed::frame::{Header, put_tags};
use penstock_testbed::interface::Interface;
use penstock_testbed::scheme_frames::OnWire;
use proptest::prelude::*;

fn config(plan: &Plan) -> penstock_schemes::qcn::Config {
    let SchemeConfig::Qcn(config) = &plan.schemes[0].config else { panic!("not QCN") };
    config.clone()
}

#[test]
fn the_switch_holds_the_simulators_queue_and_sends_its_notifications() {
    let plan = plan(THREE);
    let config = config(&plan);
    let (_, queue) = bottleneck(&plan);
    let probe = Arrivals { queue, seen: Vec::new() };
    let mut sim = Sim::<Qcn, _, Full>::new(&plan.network, std::slice::from_ref(&config), plan.seed, probe);
    sim.run_until(Instant::ZERO + plan.duration);
    let (outcome, probe) = sim.finish();
    assert!(probe.seen.len() > 20_000, "{}", probe.seen.len());
    assert!(outcome.queues[queue.index()].feedback_frames > 10);

    let (sw, sink) = (node(&plan, "sw0"), node(&plan, "h3"));
    let mut bridge = Bridge::<Qcn>::new(&plan, sw, std::slice::from_ref(&config));
    let out = port_to(&plan, &bridge, sink);
    // The switch learns where everyone is, by frames that do not cross the bottleneck.
    for host in ["h0", "h1", "h2", "h3"].map(|name| node(&plan, name)) {
        let port = port_to(&plan, &bridge, host);
        let own = frame(&plan, host, host, None, 60);
        bridge.receive(Instant::ZERO, port, own);
    }
    let (mut notified, mut lens) = (0, Vec::new());
    for arrival in &probe.seen {
        let from = NodeId(plan.flow_ends[arrival.flow.index()].0 as u32);
        let port = port_to(&plan, &bridge, from);
        let octets = frame(&plan, from, sink, Some(arrival.flow.0 as u16), 996);
        bridge.receive(arrival.at, port, octets);
        lens.push(bridge.queue_len(out, 0));
        while let Some((port, departure)) = bridge.poll_departure() {
            if let Some((flow, cnm)) = Qcn::parse(&departure.octets) {
                let source = NodeId(plan.flow_ends[usize::from(flow)].0 as u32);
                assert_eq!(port, port_to(&plan, &bridge, source), "it goes to the source of flow {flow}");
                assert_eq!(cnm.cp, plan.network.cp_id(bottleneck(&plan).0, 0));
                notified += 1;
            }
        }
    }
    let expected: Vec<u64> = probe.seen.iter().map(|arrival| arrival.len.0).collect();
    let first = lens.iter().zip(&expected).position(|(own, other)| own != other);
    assert_eq!(first, None, "queues differ from arrival {first:?} on, at {:?}", first.map(|i| probe.seen[i]));
    let counts = bridge.queue_counts(out, 0);
    assert_eq!(counts.signals, outcome.queues[queue.index()].feedback_frames);
    assert_eq!(counts.arrived, probe.seen.len() as u64);
    bridge.advance(Instant::ZERO + plan.duration + Duration::from_ms(1));
    while let Some((_, departure)) = bridge.poll_departure() {
        notified += u64::from(Qcn::parse(&departure.octets).is_some());
    }
    assert_eq!(notified, counts.signals, "all notifications leave");
}

/// At 10 Gb/s, 1250 octets (1246 and the check sequence) take 1 us; the link 3 us.
#[test]
fn frames_leave_at_the_ports_rate_and_arrive_after_the_links_delay() {
    let plan = plan(THREE);
    let mut bridge = Bridge::<Qcn>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let (from, to) = (port_to(&plan, &bridge, h0), port_to(&plan, &bridge, h3));
    bridge.receive(Instant::ZERO, to, frame(&plan, h3, h3, None, 60));
    let us = |n| Instant::ZERO + Duration::from_us(n);
    for at in [10, 10, 15] {
        bridge.receive(us(at), from, frame(&plan, h0, h3, Some(0), 1246));
    }
    bridge.advance(us(100));
    let left: Vec<_> = std::iter::from_fn(|| bridge.poll_departure()).collect();
    assert_eq!(
        left.iter().map(|(port, sent)| (*port, sent.due)).collect::<Vec<_>>(),
        [(to, us(14)), (to, us(15)), (to, us(19)),]
    );
}

/// The buffer of 150 KB holds 150 frames of 1000 octets, one of them in transmission.
#[test]
fn a_full_queue_drops_and_counts_for_the_flow() {
    let plan = plan(THREE);
    let mut bridge = Bridge::<Qcn>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h1, h3) = (node(&plan, "h1"), node(&plan, "h3"));
    let (from, to) = (port_to(&plan, &bridge, h1), port_to(&plan, &bridge, h3));
    bridge.receive(Instant::ZERO, to, frame(&plan, h3, h3, None, 60));
    for _ in 0..160 {
        bridge.receive(Instant::ZERO, from, frame(&plan, h1, h3, Some(1), 996));
    }
    assert_eq!((bridge.queue_len(to, 0), bridge.dropped()), (150_000, &[0, 10, 0][..]));
}

#[test]
fn frames_that_no_bridge_forwards_are_refused_and_unknown_ones_are_flooded() {
    let plan = plan(THREE);
    let mut bridge = Bridge::<Qcn>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let mut lldp = frame(&plan, node(&plan, "h0"), node(&plan, "h3"), None, 60);
    lldp[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 0x0e]);
    bridge.receive(Instant::ZERO, 0, lldp);
    bridge.receive(Instant::ZERO, 0, vec![1, 2, 3]);
    bridge.receive(Instant::ZERO, 0, frame(&plan, node(&plan, "h0"), node(&plan, "h3"), None, 60));
    assert_eq!((bridge.counts().refused, bridge.counts().flooded), (2, 1));
    bridge.advance(Instant::ZERO + Duration::from_ms(1));
    let mut ports: Vec<_> = std::iter::from_fn(|| bridge.poll_departure()).map(|(port, _)| port).collect();
    ports.sort_unstable();
    assert_eq!(ports, [1, 2, 3]);
}

/// A frame of 1000 octets with both tags (8) and check sequence (4) takes 0.8 us at 10 Gb/s; the link 3 us.
#[test]
fn an_interface_tags_its_flow_and_slows_down_when_it_is_notified() {
    let plan = plan(THREE);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<Qcn>::new(&plan, h0, &[config(&plan)]);
    interface.start(Instant::ZERO, 0);
    for _ in 0..3 {
        interface.from_host(Instant::ZERO, datagram(&plan, h0, h3, 5201, 988));
    }
    // To a port that is no flow's: no CN-TAG, and the priority of control frames.
    interface.from_host(Instant::ZERO, datagram(&plan, h0, h3, 9, 988));
    interface.advance(Instant::ZERO + Duration::from_us(50));
    let sent: Vec<_> = std::iter::from_fn(|| interface.poll_departure()).collect();
    let mut times: Vec<u64> = sent.iter().map(|sent| sent.due.0).collect();
    times.sort_unstable();
    // That of the other has 4 octets less.
    assert_eq!(times.len(), 4);
    assert_eq!(times[0], 3_800_000);
    let headers: Vec<_> = sent.iter().map(|sent| Header::read(&sent.octets).unwrap()).collect();
    assert_eq!(headers.iter().filter(|header| (header.flow, header.priority) == (Some(0), Some(0))).count(), 3);
    assert_eq!(headers.iter().filter(|header| (header.flow, header.priority) == (None, Some(6))).count(), 1);

    let line = 10_000_000_000;
    assert_eq!(interface.allowed(0), line);
    let way = penstock_testbed::scheme_frames::Addressing {
        destination: station(&plan.network, h0),
        source: station(&plan.network, node(&plan, "sw0")),
        priority: 7,
        flow: 0,
        sampled: &sent[0].octets,
    };
    let cnm = penstock_schemes::parts::notification::Cnm {
        fb: penstock_schemes::parts::quantiser::QntzFb::from_steps(63),
        cp: plan.network.cp_id(bottleneck(&plan).0, 0),
        q_off: 64_000,
        q_delta: 0,
    };
    let now = Instant::ZERO + Duration::from_us(60);
    assert_eq!(interface.from_wire(now, Qcn::emit(cnm, &way)), None, "no application sees it");
    // Rd = Rc (1 - Gd Fb): 63/128 less.
    let allowed = interface.allowed(0);
    assert!(allowed.abs_diff(line * 65 / 128) < line / 100, "{allowed}");
    // One for a flow of another host is refused.
    let others = penstock_testbed::scheme_frames::Addressing { flow: 1, ..way };
    assert_eq!(interface.from_wire(now, Qcn::emit(cnm, &others)), None);
    assert_eq!((interface.counts().signals_refused, interface.flow(0).signals), (1, 1));
}

/// 5000 messages within a microsecond: all act, 4096 are kept for the record.
#[test]
fn a_flood_of_signals_takes_no_memory() {
    let plan = plan(THREE);
    let h0 = node(&plan, "h0");
    let mut interface = Interface::<Qcn>::new(&plan, h0, &[config(&plan)]);
    interface.start(Instant::ZERO, 0);
    let way = penstock_testbed::scheme_frames::Addressing {
        destination: station(&plan.network, h0),
        source: station(&plan.network, node(&plan, "sw0")),
        priority: 7,
        flow: 0,
        sampled: &[],
    };
    let cnm = penstock_schemes::parts::notification::Cnm {
        fb: penstock_schemes::parts::quantiser::QntzFb::from_steps(63),
        cp: plan.network.cp_id(bottleneck(&plan).0, 0),
        q_off: 64_000,
        q_delta: 0,
    };
    let forged = Qcn::emit(cnm, &way);
    for _ in 0..5000 {
        interface.from_wire(Instant::ZERO + Duration::from_us(1), forged.clone());
    }
    assert_eq!((interface.flow(0).signals, interface.counts().signals_unrecorded), (5000, 904));
    assert_eq!(std::iter::from_fn(|| interface.poll_seen()).count(), 4096);
    assert!(interface.allowed(0) > 0, "it still may send");
}

#[test]
fn a_host_sends_no_tags_and_no_signals_of_its_own() {
    let plan = plan(THREE);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<Qcn>::new(&plan, h0, &[config(&plan)]);
    let mut tagged = datagram(&plan, h0, h3, 5201, 988);
    put_tags(&mut tagged, 0, Some(1));
    interface.from_host(Instant::ZERO, tagged);
    for kind in [[0x22, 0xe7], [0x88, 0x08], [0x88, 0xb5], [0x88, 0xb6]] {
        let mut forged = datagram(&plan, h0, h3, 5201, 988);
        forged[12..14].copy_from_slice(&kind);
        interface.from_host(Instant::ZERO, forged);
    }
    interface.advance(Instant::ZERO + Duration::from_ms(1));
    assert_eq!((interface.counts().refused_from_host, interface.poll_departure()), (5, None));
}

#[test]
fn an_interface_that_wakes_late_sends_no_more_than_its_credit_at_once() {
    let plan = plan(THREE);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<Qcn>::new(&plan, h0, &[config(&plan)]);
    interface.start(Instant::ZERO, 0);
    for _ in 0..60 {
        interface.from_host(Instant::ZERO, datagram(&plan, h0, h3, 5201, 988));
    }
    // It sleeps for a millisecond: 1250 frames could have gone.
    let woken = Instant::ZERO + Duration::from_ms(1);
    interface.advance(woken);
    let burst = std::iter::from_fn(|| interface.poll_departure()).count();
    assert!((4..=7).contains(&burst), "{burst} frames");
    assert!(interface.counts().given_up_ps > 990_000_000, "{:?}", interface.counts());
    // From then on it is in time.
    while interface.next_event() <= woken + Duration::from_us(8) {
        interface.advance(interface.next_event());
    }
    let after = std::iter::from_fn(|| interface.poll_departure()).count();
    assert!((9..=11).contains(&after), "{after} frames in 8 us");
}

/// A TCP segment of `octets` octets of data to port 5201, as the switch delivers it.
fn segment(plan: &Plan, sequence: u32, octets: usize, syn: bool) -> Vec<u8> {
    use penstock_wire::ipv4;
    let (h0, h3) = (node(plan, "h0"), node(plan, "h3"));
    let mut sent = frame(plan, h0, h3, Some(0), 22);
    let mut ip = [0; 20];
    let length = 20 + octets as u16;
    ipv4::Repr::new([10, 99, 0, 1], [10, 99, 0, 4], ipv4::protocol::TCP, length).emit(&mut ip).unwrap();
    sent.extend(ip);
    sent.extend(40_000u16.to_be_bytes());
    sent.extend(5201u16.to_be_bytes());
    sent.extend(sequence.to_be_bytes());
    // Acknowledgement, header of 20 octets, flags, window, checksum, urgent pointer.
    sent.extend([0, 0, 0, 0, 0x50, if syn { 0x02 } else { 0x10 }, 0, 0, 0, 0, 0, 0]);
    sent.resize(sent.len() + octets, 0);
    sent
}

/// Numbers go on behind the largest one: 2^32 - 1000 and 1448 octets end at 448.
#[test]
fn a_connection_goes_on_by_what_is_new() {
    let plan = plan(&THREE.replace("stagger", "transport = \"tcp\"\nstagger").replace("frame = \"1000 octets\"", ""));
    let mut interface = Interface::<Qcn>::new(&plan, node(&plan, "h3"), &[config(&plan)]);
    let start = u32::MAX - 1000;
    let mut come = |sequence: u32, octets, syn| {
        assert!(interface.from_wire(Instant::ZERO, segment(&plan, sequence, octets, syn)).is_some());
        let counts = interface.flow(0);
        (counts.data_octets, counts.late_segments)
    };
    assert_eq!(come(start, 0, true), (0, 0));
    assert_eq!(come(start.wrapping_add(1), 1448, false), (1448, 0));
    // A segment is missing; the next one ends 2896 octets further.
    assert_eq!(come(1896, 1448, false), (4344, 0));
    assert_eq!(come(448, 1448, false), (4344, 1));
    assert_eq!(come(3344, 100, false), (4444, 1));
    assert_eq!(come(3344, 100, false), (4444, 2));
    assert_eq!(interface.flow(0).delivered, 6);
}

/// A flow of 5037 octets: a segment that comes late completes it, and nothing before.
#[test]
fn a_flow_with_a_size_is_complete_when_all_of_it_has_arrived() {
    let text = THREE.replace("stagger", "transport = \"tcp\"\nsize = \"5037 octets\"\nstagger");
    let plan = plan(&text.replace("frame = \"1000 octets\"", ""));
    let mut interface = Interface::<Qcn>::new(&plan, node(&plan, "h3"), &[config(&plan)]);
    let mut come = |us, port, sequence: u32, octets, syn| {
        let mut frame = segment(&plan, sequence, octets, syn);
        frame[42..44].copy_from_slice(&u16::to_be_bytes(port));
        interface.from_wire(Instant::ZERO + Duration::from_us(us), frame);
        interface.flow(0).completed
    };
    // Octets of another connection to the same port do not count.
    come(1, 40_001, 10, 0, true);
    assert_eq!(come(2, 40_001, 11, 3000, false), None);
    come(3, 40_002, u32::MAX - 1, 0, true);
    assert_eq!(come(4, 40_002, u32::MAX, 1037, false), None);
    // 1000 octets are missing at two offsets, then the end arrives.
    assert_eq!(come(5, 40_002, 1536, 1500, false), None);
    assert_eq!(come(6, 40_002, 3536, 1500, false), None);
    assert_eq!(come(7, 40_002, 1036, 500, false), None);
    // Twice the same, then one that reaches over the gap on both sides.
    assert_eq!(come(8, 40_002, 1036, 500, false), None);
    assert_eq!(come(9, 40_002, 3000, 600, false), Some(9_000_000));
    assert_eq!(come(10, 40_002, 5036, 100, false), Some(9_000_000));
    let counts = interface.flow(0);
    assert!(counts.complete_octets < counts.delivered_octets);
}

/// Without a transport the size is of frames; a greeting of 64 octets is none of them.
#[test]
fn a_flow_of_datagrams_is_complete_with_its_last_frame() {
    let plan = plan(&THREE.replace("stagger", "size = \"3000 octets\"\nstagger"));
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<Qcn>::new(&plan, h3, &[config(&plan)]);
    let mut come = |us, octets| {
        let mut sent = datagram(&plan, h0, h3, 5201, octets);
        put_tags(&mut sent, 0, Some(0));
        interface.from_wire(Instant::ZERO + Duration::from_us(us), sent);
        interface.flow(0).completed
    };
    // With tags and check sequence, 988 octets are the 1000 of a frame.
    assert_eq!([come(1, 60), come(2, 988), come(3, 988), come(4, 988)], [None, None, None, Some(4_000_000)]);
}

/// A probe that comes after a long silence is answered at once: its answer was not due before.
#[test]
fn an_interface_that_had_nothing_to_do_was_not_late() {
    use penstock_schemes::fecn::ForwardExplicitRate;
    use penstock_schemes::parts::explicit_rate::Probe as RateProbe;
    let plan = plan(&THREE.replace("\"qcn\"", "\"fecn\""));
    let SchemeConfig::Fecn(config) = &plan.schemes[0].config else { panic!("not FECN") };
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let mut interface = Interface::<ForwardExplicitRate>::new(&plan, h3, std::slice::from_ref(config));
    for ms in [1, 5, 9] {
        let now = Instant::ZERO + Duration::from_ms(ms);
        let way = penstock_testbed::scheme_frames::Addressing {
            destination: station(&plan.network, h3),
            source: station(&plan.network, h0),
            priority: 7,
            flow: 0,
            sampled: &[],
        };
        let probe = ForwardExplicitRate::emit(RateProbe::new(1), &way);
        assert_eq!(interface.from_wire(now, probe), None);
        let sent = interface.poll_departure().expect("it answers");
        let answer = ForwardExplicitRate::parse(&sent.octets).expect("with a probe").1;
        assert!(answer.returned);
        // 64 octets take 51.2 ns at 10 Gb/s, the link 3 us.
        assert_eq!(sent.due, now + Duration(3_051_200));
    }
    assert_eq!(interface.counts().given_up_ps, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// No octets from a wire or a host make a node panic.
    #[test]
    fn no_octets_make_a_node_panic(frames in prop::collection::vec((0usize..2, prop::collection::vec(any::<u8>(), 0..120)), 0..20)) {
        let plan = plan(THREE);
        let config = config(&plan);
        let mut bridge = Bridge::<Qcn>::new(&plan, node(&plan, "sw0"), std::slice::from_ref(&config));
        let mut interface = Interface::<Qcn>::new(&plan, node(&plan, "h0"), std::slice::from_ref(&config));
        for (i, (kind, octets)) in frames.into_iter().enumerate() {
            // Some are for the station, behind tags that are right.
            let mut octets = octets;
            if kind == 1 {
                let head = frame(&plan, node(&plan, "h1"), node(&plan, "h0"), Some(0), 20);
                octets.splice(0..0, head);
            }
            let at = Instant::ZERO + Duration::from_us(i as u64);
            bridge.receive(at, i % 4, octets.clone());
            interface.from_wire(at, octets.clone());
            interface.from_host(at, octets);
        }
    }
}
