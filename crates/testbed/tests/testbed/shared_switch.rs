//! What the testbed's switch has from the simulator's beyond queues that drop: marks at departure and by the port, shared memory, trimming,
//! the watchdog; on the same arrivals.

use crate::common::{Arrivals, THREE, bottleneck, datagram, frame, node, plan, port_to};
use penstock_scenario::Plan;
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{Duration, Instant, SchemeConfig};
use penstock_sim::network::NodeId;
use penstock_sim::{Full, Outcome, Sim};
use penstock_testbed::bridge::Bridge;
use penstock_testbed::frame::{Header, put_tags};
use penstock_testbed::interface::Interface;
use penstock_wire::ipv4;

fn config(plan: &Plan) -> Config {
    let SchemeConfig::None(config) = &plan.schemes[0].config else { panic!("a scheme") };
    config.clone()
}

fn without_control(settings: &str) -> Plan {
    let text = THREE.replace("\"qcn\"", "\"none\"");
    plan(&text.replace("[topology.star]", &format!("{settings}\n[topology.star]")))
}

/// A frame of 1000 octets with tags and check sequence, which may be marked if `ecn`.
fn sent(plan: &Plan, from: NodeId, to: NodeId, flow: u16, ecn: bool) -> Vec<u8> {
    let mut octets = datagram(plan, from, to, 5201 + flow, 988);
    if ecn {
        octets[15] = ipv4::ecn::ECT_0;
    }
    put_tags(&mut octets, 0, Some(flow));
    octets
}

/// Whether a frame is marked.
fn is_marked(octets: &[u8]) -> bool {
    let header = Header::read(octets).unwrap();
    octets[header.data + 1] & 3 == ipv4::ecn::CE
}

/// The simulator's run of three sources at one port, and the testbed's switch with the same arrivals: it is compared arrival by arrival. Gives
/// the switch and the simulator's outcome.
fn both(settings: &str) -> (Bridge<NoControl>, Outcome) {
    let plan = without_control(settings);
    let config = config(&plan);
    let (_, queue) = bottleneck(&plan);
    let probe = Arrivals { queue, seen: Vec::new() };
    let mut sim = Sim::<NoControl, _, Full>::new(&plan.network, std::slice::from_ref(&config), plan.seed, probe);
    let end = Instant::ZERO + plan.duration;
    sim.run_until(end);
    let (outcome, probe) = sim.finish();
    let (sw, sink) = (node(&plan, "sw0"), node(&plan, "h3"));
    let mut bridge = Bridge::<NoControl>::new(&plan, sw, std::slice::from_ref(&config));
    let out = port_to(&plan, &bridge, sink);
    bridge.receive(Instant::ZERO, out, frame(&plan, sink, sink, None, 60));
    let mut lens = Vec::new();
    for arrival in &probe.seen {
        let from = NodeId(plan.flow_ends[arrival.flow.index()].0 as u32);
        let port = port_to(&plan, &bridge, from);
        bridge.receive(arrival.at, port, sent(&plan, from, sink, arrival.flow.0 as u16, false));
        lens.push(bridge.queue_len(out, 0));
    }
    let expected: Vec<u64> = probe.seen.iter().map(|arrival| arrival.len.0).collect();
    assert_eq!(lens.iter().zip(&expected).position(|(own, other)| own != other), None, "queues are equal");
    assert!(expected.len() > 20_000, "{}", expected.len());
    bridge.settle(end);
    let counts = bridge.queue_counts(out, 0);
    let own = &outcome.queues[queue.index()];
    assert_eq!((counts.dropped, counts.octets_sent), (own.frames_dropped, own.octets_sent));
    (bridge, outcome)
}

/// Of 60 KB of memory a queue may have half: T = 1 x (60 - T) KB.
#[test]
fn a_shared_pool_bounds_a_queue_as_the_simulators_does() {
    let (bridge, outcome) = both("[[buffer]]\nsize = \"60 KB\"\nalpha = 1.0");
    assert!(outcome.totals.frames_dropped > 5_000, "{}", outcome.totals.frames_dropped);
    assert_eq!(bridge.dropped().iter().sum::<u64>(), outcome.totals.frames_dropped);
    let sink = bridge.ids().len() - 1;
    assert_eq!((0..=sink).map(|port| bridge.moments(port, 0).max).max(), Some(30_000));
}

/// The queue of 150 KB holds 150 frames of 1000 octets, the one in transmission among them. The headers of ten more go before those that
/// wait: control frames have the highest class.
#[test]
fn frames_without_room_are_cut() {
    let plan = without_control("[network]\ntrimming = true");
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let (from, to) = (port_to(&plan, &bridge, h0), port_to(&plan, &bridge, h3));
    bridge.receive(Instant::ZERO, to, frame(&plan, h3, h3, None, 60));
    for _ in 0..160 {
        bridge.receive(Instant::ZERO, from, sent(&plan, h0, h3, 0, false));
    }
    bridge.advance(Instant::ZERO + Duration::from_ms(1));
    let left: Vec<_> = std::iter::from_fn(|| bridge.poll_departure()).map(|(_, departure)| departure.octets).collect();
    let lengths: Vec<usize> = left.iter().map(Vec::len).collect();
    assert_eq!(lengths, [vec![996], vec![60; 10], vec![996; 149]].concat());
    let priorities: Vec<_> = left.iter().map(|octets| Header::read(octets).unwrap().priority).collect();
    assert_eq!(priorities, [vec![Some(0)], vec![Some(6); 10], vec![Some(0); 149]].concat());
    let counts = bridge.queue_counts(to, 0);
    assert_eq!(
        (bridge.counts().trimmed, counts.arrived, counts.dropped, bridge.dropped()),
        (10, 160, 10, &[0, 0, 0][..])
    );

    // The host's interface counts headers, and hands none on.
    let mut interface = Interface::<NoControl>::new(&plan, h3, &[config(&plan)]);
    assert_eq!(interface.from_wire(Instant::ZERO, left[1].clone()), None);
    assert!(interface.from_wire(Instant::ZERO, left[0].clone()).is_some());
    assert_eq!(interface.counts().trimmed, 1);
}

/// 30 frames of 1000 octets come at once, and leave one by one: the index from which on, or up to which, they are marked.
fn marked(settings: &str, ecn: bool) -> Vec<bool> {
    let plan = without_control(&format!("[network]\necn_threshold = \"20 KB\"\n{settings}"));
    let mut bridge = Bridge::<NoControl>::new(&plan, node(&plan, "sw0"), &[config(&plan)]);
    let (h0, h3) = (node(&plan, "h0"), node(&plan, "h3"));
    let (from, to) = (port_to(&plan, &bridge, h0), port_to(&plan, &bridge, h3));
    bridge.receive(Instant::ZERO, to, frame(&plan, h3, h3, None, 60));
    for _ in 0..30 {
        bridge.receive(Instant::ZERO, from, sent(&plan, h0, h3, 0, ecn));
    }
    bridge.settle(Instant::ZERO + Duration::from_ms(1));
    let left: Vec<bool> =
        std::iter::from_fn(|| bridge.poll_departure()).map(|(_, sent)| is_marked(&sent.octets)).collect();
    assert_eq!(bridge.queue_counts(to, 0).frames_marked, left.iter().filter(|&&marked| marked).count() as u64);
    left
}

/// With the 21st the queue has more than 20 KB. The first leaves before the others have come; the next nine leave more than that with
/// themselves.
#[test]
fn marks_are_set_as_frames_join_or_leave() {
    let first = [vec![false], vec![true; 9], vec![false; 20]].concat();
    let last = [vec![false; 20], vec![true; 10]].concat();
    assert_eq!(marked("", true), last);
    assert_eq!(marked("ecn_at = \"departure\"", true), first);
    assert_eq!(marked("ecn_by = \"port\"", true), last);
    assert_eq!(marked("", false), [false; 30], "those that may not be marked are not");
}
