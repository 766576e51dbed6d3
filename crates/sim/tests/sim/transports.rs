//! Transports over the engine: times computed by hand, losses, marks, link failures, flow control.

use crate::common::{Looking, defaults, lossless, star};
use penstock_endpoint::transport::{TRANSPORTS, Transport, go_back_n, selective, tcp};
use penstock_schemes::dcqcn;
use penstock_schemes::info::Threshold;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme, SchemeConfig, none};
use penstock_sim::network::*;
use penstock_sim::{Full, Lean, Outcome, Sim, longest_frame};
use proptest::prelude::*;

const GBPS_10: BitRate = BitRate(10_000_000_000);

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// Flow `flow` gets a transport, with acknowledgements in the class of its data.
fn carry(network: &mut Network, flow: usize, transport: Transport, size: Option<u64>) {
    let reverse_path = network.add_reverse_path(network.flows[flow].root);
    let flow = &mut network.flows[flow];
    flow.frame = longest_frame(&transport).0 as u16;
    flow.size = size.map(Octets);
    flow.transport = Some(Carriage { transport, acks: Some(flow.priority), reverse_path });
}

fn tcp(congestion: tcp::Congestion) -> Transport {
    Transport::Tcp(tcp::Config { congestion, ..tcp::Config::default() })
}

fn every_transport() -> Vec<Transport> {
    let rto = Duration::from_us(500);
    use tcp::Congestion::{Bbr, Cubic, Dctcp, NewReno};
    let mut all: Vec<_> = [NewReno, Cubic, Dctcp, Bbr]
        .into_iter()
        .map(|congestion| Transport::Tcp(tcp::Config { congestion, rto_min: rto, ..tcp::Config::default() }))
        .collect();
    all.push(Transport::GoBackN(go_back_n::Config { timeout: rto, ..go_back_n::Config::default() }));
    all.push(Transport::Selective(selective::Config::default()));
    all
}

/// Without a scheme.
fn run(network: &Network, end: Instant) -> Outcome {
    run_with::<NoControl>(network, &vec![none::Config {}; network.priorities.len()], end)
}

fn run_with<S: Scheme>(network: &Network, configs: &[S::Config], end: Instant) -> Outcome {
    let mut sim = Sim::<S, _, Full>::new(network, configs, 1, Looking::none());
    sim.run_until(end);
    sim.finish().0
}

/// Ten segments of 1518 octets fit into the first window. At 10 Gb/s each takes 1 214 400 ps, over two links of 1 us: the last
/// one arrives after 10 + 1 of that and 2 us. Two segments are answered by one acknowledgement.
#[test]
fn a_window_of_segments_arrives_when_arithmetic_says() {
    let mut b = star(1, GBPS_10, Duration::from_us(1), Octets(100_000));
    carry(&mut b.network, 0, tcp(tcp::Congestion::NewReno), Some(14_600));
    let outcome = run(&b.network, us(1000));
    let flow = &outcome.flows[0];
    assert_eq!(flow.completed, Some(Instant(11 * 1_214_400 + 2_000_000)));
    assert_eq!((flow.frames_sent, flow.frames_delivered, flow.retransmissions), (10, 10, 0));
    assert_eq!((outcome.totals.acks_sent, outcome.totals.acks_delivered), (5, 5));
}

/// Fifteen segments: ten at once; the acknowledgement of the first two lets the others go. It leaves when the second
/// segment has come, after 3 times 1 214 400 ps and 2 us, is a frame of 64 octets (51 200 ps a link) and takes 2 us. By
/// then the line is not free: the tenth segment ends after 12 144 000 ps, the acknowledgement comes after 7 745 600. So
/// the line is never idle.
#[test]
fn acknowledgements_clock_segments_out() {
    let mut b = star(1, GBPS_10, Duration::from_us(1), Octets(100_000));
    carry(&mut b.network, 0, tcp(tcp::Congestion::NewReno), Some(15 * 1460));
    let outcome = run(&b.network, us(100_000));
    assert_eq!(outcome.flows[0].completed, Some(Instant(16 * 1_214_400 + 2_000_000)));
    // The fifteenth segment waits for another one: its acknowledgement is delayed by 40 ms.
    assert_eq!((outcome.totals.acks_sent, outcome.totals.acks_delivered), (8, 8));
}

/// The same where the line is idle at times: links of 100 us. The acknowledgements of the first window come 400 us
/// after its frames; that of the first two segments at 3 × 1 214 400 ps + 200 us + 2 × 51 200 ps + 200 us. In slow
/// start three segments may follow it, and two the next one (RFC 5681: one for each segment acknowledged, at most one
/// segment an acknowledgement).
#[test]
fn a_window_waits_for_its_round_trip() {
    let mut b = star(1, GBPS_10, Duration::from_us(100), Octets(100_000));
    carry(&mut b.network, 0, tcp(tcp::Congestion::NewReno), Some(11 * 1460));
    let outcome = run(&b.network, us(100_000));
    let ack = 3 * 1_214_400 + 200_000_000 + 2 * 51_200 + 200_000_000;
    assert_eq!(outcome.flows[0].completed, Some(Instant(ack + 2 * 1_214_400 + 200_000_000)));
}

/// A queue of four frames loses much of the first window: everything arrives nevertheless, once and in order.
#[test]
fn every_transport_repairs_what_a_queue_drops() {
    for transport in every_transport() {
        let mut b = star(2, GBPS_10, Duration::from_us(1), Octets(4 * 1518));
        for flow in 0..b.network.flows.len() {
            carry(&mut b.network, flow, transport.clone(), Some(1_000_000));
        }
        let outcome = run(&b.network, us(1_000_000));
        let again: u64 = outcome.flows.iter().map(|flow| flow.retransmissions).sum();
        assert!(outcome.totals.frames_dropped > 0 && again > 0, "{transport:?}");
        for flow in &outcome.flows {
            assert!(flow.completed.is_some(), "{transport:?}: {flow:?}");
            let data = flow.goodput_bps * flow.active_s / 8.0;
            assert!((data - 1e6).abs() < 1e-3, "{transport:?}: {data} octets in order");
        }
    }
}

/// The same queue trims. RoCE's receivers ask for each frame that is cut, so that no timeout is needed, not even for the last ones; the lost
/// tail of dropped frames waits for one. TCP, which makes nothing of headers, sees frames dropped as before.
#[test]
fn a_header_tells_of_the_loss_at_once() {
    for transport in every_transport() {
        let seen = |trims: bool| {
            let mut b = star(4, GBPS_10, Duration::from_us(1), Octets(4 * 1518));
            b.network.trimmed = if trims { vec![0] } else { Vec::new() };
            for flow in 0..b.network.flows.len() {
                carry(&mut b.network, flow, transport.clone(), Some(8_000));
            }
            let outcome = run(&b.network, us(1_000_000));
            let last =
                outcome.flows.iter().map(|flow| flow.completed.expect("it ends")).max().expect("there are flows");
            let timeouts: u64 = outcome.flows.iter().map(|flow| flow.timeouts).sum();
            (last, timeouts, outcome.totals)
        };
        let ((dropping, waits, dropped), (trimming, none, trimmed)) = (seen(false), seen(true));
        assert!(waits > 0 && dropping > us(100), "{transport:?}: {waits} {dropping:?}");
        assert_eq!(dropped.headers_sent, 0);
        if let Transport::Tcp(_) = transport {
            assert_eq!((trimming, none, trimmed.headers_sent), (dropping, waits, 0));
        } else {
            assert!(none == 0 && trimming < us(60), "{transport:?}: {none} timeouts, {trimming:?}");
            assert_eq!((trimmed.frames_trimmed, trimmed.headers_lost), (trimmed.frames_dropped, 0));
            assert!(trimmed.headers_delivered == trimmed.headers_sent && trimmed.headers_sent > 0);
        }
    }
}

/// DCTCP keeps the queue at the threshold, where CUBIC fills it.
#[test]
fn marks_keep_the_queue_short() {
    let mean = |congestion, threshold: Option<u64>| {
        let mut b = star(2, GBPS_10, Duration::from_us(20), Octets(400_000));
        b.network.ecn_threshold = threshold.map(Octets);
        for flow in 0..b.network.flows.len() {
            carry(&mut b.network, flow, tcp(congestion), None);
        }
        let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[none::Config {}], 1, Looking::none());
        sim.run_until(us(20_000));
        sim.start_measuring();
        sim.run_until(us(60_000));
        let queue = b.network.queue(b.port(3, 2), 0);
        let outcome = sim.finish().0;
        (outcome.queues[queue.index()], outcome.totals)
    };
    let (marked, totals) = mean(tcp::Congestion::Dctcp, Some(60_000));
    assert_eq!(totals.frames_dropped, 0);
    assert!((30_000.0..90_000.0).contains(&marked.mean_octets), "{}", marked.mean_octets);
    assert!(marked.utilization > 0.99, "{}", marked.utilization);
    let (unmarked, totals) = mean(tcp::Congestion::Dctcp, None);
    assert!(totals.frames_dropped > 0 && unmarked.mean_octets > 150_000.0, "{}", unmarked.mean_octets);
    // A sender that does not take part in ECN is not marked.
    let (cubic, totals) = mean(tcp::Congestion::Cubic, Some(60_000));
    assert!(totals.frames_dropped > 0 && cubic.mean_octets > 150_000.0, "{}", cubic.mean_octets);
}

/// Two flows of BBR share a line of 10 Gb/s whose round trip without a queue is 84 us, 105 KB: they keep it full. Each measures more than its half
/// while it probes, so that both together stand at the bound of the window, two round trips: a queue of about one more. (Hock et al. 2017, section III)
#[test]
fn flows_that_pace_fill_the_line_and_stop_at_their_window() {
    let mut b = star(2, GBPS_10, Duration::from_us(20), Octets(1_000_000));
    for flow in 0..b.network.flows.len() {
        let config = tcp::Config { congestion: tcp::Congestion::Bbr, offload: false, ..tcp::Config::default() };
        carry(&mut b.network, flow, Transport::Tcp(config), None);
    }
    let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[none::Config {}], 1, Looking::none());
    sim.run_until(us(20_000));
    sim.start_measuring();
    sim.run_until(us(60_000));
    let queue = b.network.queue(b.port(3, 2), 0).index();
    let outcome = sim.finish().0;
    let queue = &outcome.queues[queue];
    assert_eq!((queue.utilization, outcome.totals.frames_dropped), (1.0, 0));
    assert!((0.8..1.2).contains(&(queue.mean_octets / 105_000.0)), "{}", queue.mean_octets);
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.2, "{rates:?}");
    // A timer for each segment, and none that is asked for again without effect.
    assert!(outcome.totals.events < 5 * outcome.totals.frames_sent, "{}", outcome.totals.events);
}

/// Under priority flow control nothing is lost, so that nothing is sent again.
#[test]
fn flow_control_leaves_nothing_to_repair() {
    for transport in every_transport() {
        let mut b = star(3, GBPS_10, Duration::from_us(1), Octets(4_000_000));
        for flow in 0..b.network.flows.len() {
            carry(&mut b.network, flow, transport.clone(), Some(2_000_000));
        }
        let ingress = Ingress { buffer: Octets(100_000), xoff: Octets(40_000), xon: Octets(30_000) };
        lossless(&mut b.network, vec![0], ingress);
        let outcome = run(&b.network, us(100_000));
        assert_eq!(outcome.totals.frames_dropped, 0);
        assert!(outcome.totals.pause_frames > 0, "{transport:?}");
        for flow in &outcome.flows {
            assert!(flow.completed.is_some(), "{transport:?}: {flow:?}");
            assert_eq!((flow.timeouts, flow.retransmissions), (0, 0), "{transport:?}: {flow:?}");
        }
    }
}

/// QCN's reaction point limits the rate at which TCP may send: two NICs share the link, and the queue stays where QCN
/// keeps it.
#[test]
fn a_reaction_point_paces_beneath_the_transport() {
    let outcome = |controlled: bool| {
        let mut b = star(2, GBPS_10, Duration::from_us(1), Octets(150_000));
        for flow in 0..b.network.flows.len() {
            carry(&mut b.network, flow, tcp(tcp::Congestion::Cubic), None);
            if !controlled {
                b.network.flows[flow].reaction_point = None;
            }
        }
        run_with::<Mixed>(&b.network, &defaults("qcn", &b.network), us(100_000))
    };
    let (with, without) = (outcome(true), outcome(false));
    assert!(with.flows[0].mean_rate_bps < 9e9 && with.totals.feedback_frames > 0, "{:?}", with.flows[0]);
    assert!(
        with.totals.frames_dropped * 10 < without.totals.frames_dropped,
        "{} {}",
        with.totals.frames_dropped,
        without.totals.frames_dropped
    );
}

/// A rated application writes at even distances: octets that it has not written are not sent, and its last octets come
/// last.
#[test]
fn an_application_writes_at_its_rate() {
    for transport in every_transport() {
        let mut b = star(1, GBPS_10, Duration::from_us(1), Octets(100_000));
        let segment = transport.segment().0;
        carry(&mut b.network, 0, transport.clone(), Some(10 * segment - 7));
        let flow = &mut b.network.flows[0];
        flow.traffic = Traffic::Constant(BitRate(u64::from(flow.frame) * 8 * 1000));
        let outcome = run(&b.network, us(100_000));
        // A write each millisecond, the last one after 9 ms; 7 octets less.
        let completed = outcome.flows[0].completed.expect("it completes");
        assert!(completed > us(9000) && completed < us(9010), "{transport:?}: {completed:?}");
        assert_eq!(outcome.flows[0].frames_sent, 10, "{transport:?}");
    }
}

/// Two senders over two switches whose middle link breaks.
fn fragile(transport: &Transport, breaks: &[(u64, u64)], queue: u64, size: u64) -> Network {
    let mut b = Builder::new(3, 2);
    for (a, c) in [(0, 3), (1, 3), (3, 4), (4, 2)] {
        b.link(a, c, GBPS_10, Duration::from_us(2), Octets(queue));
    }
    for source in [0, 1] {
        b.flow(&[source, 3, 4, 2]);
        carry(&mut b.network, source, transport.clone(), Some(size));
    }
    let ports = [b.port(3, 4), b.port(4, 3)];
    let mut now = 0;
    for &(up, down) in breaks {
        for (wait, event) in [(up, PortEvent::Down), (down, PortEvent::Up)] {
            now += wait;
            b.network.changes.extend(ports.map(|port| Change { at: us(now), port, event }));
        }
    }
    b.network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases(24)))]

    /// A short queue drops frames, or trims them, and broken links lose them, in either direction. Still every octet arrives, and where
    /// the run is cut into slices changes nothing.
    #[test]
    fn progress_is_always_made(
        which in 0..every_transport().len(),
        breaks in prop::collection::vec((1_u64..400, 1_u64..3000), 0..4),
        queue in 1518_u64..20_000,
        size in 1_u64..600_000,
        slice in 1_u64..5000,
        trims in any::<bool>(),
    ) {
        let transport = &every_transport()[which];
        // Two of go-back-N need more than two frames of room where their frames are trimmed (the test after this one).
        let locks = trims && matches!(transport, Transport::GoBackN(_));
        let mut network = fragile(transport, &breaks, queue.max(if locks { 4 * 1518 } else { 0 }), size);
        network.trimmed = if trims { vec![0] } else { Vec::new() };
        let whole = run(&network, us(8_000_000));
        for flow in &whole.flows {
            prop_assert!(flow.completed.is_some(), "{:?}", flow);
        }
        let mut sim = Sim::<NoControl, _, Full>::new(&network, &[none::Config {}], 1, Looking::none());
        while !sim.run_slice(us(8_000_000), slice) {}
        let mut sliced = sim.finish().0;
        sliced.totals.events = whole.totals.events;
        prop_assert_eq!(sliced, whole);
    }
}

/// Two flows meet at a queue with room for one frame. Go-back-N sends all again for each header of the frame that it waits for, so that
/// there is always a frame of the other in the queue when that one arrives. Both send at the rate of their lines, and neither gets on. A
/// timeout, which trimming makes needless, would end it. Selective retransmission sends what is missing and gets on; room for four frames
/// is enough for go-back-N.
#[test]
fn go_back_n_can_lock_where_a_queue_of_one_frame_trims() {
    let outcome = |transport: usize, queue| {
        let mut network = fragile(&every_transport()[transport], &[], queue, 141_764);
        network.trimmed = vec![0];
        run(&network, us(20_000))
    };
    let index = |name| every_transport().iter().position(|t| t.info().name == name).expect("it is in the list");
    let (go_back_n, selective) = (index("go-back-n"), index("selective"));
    let locked = outcome(go_back_n, 1518);
    assert!(locked.flows.iter().all(|flow| flow.completed.is_none() && flow.timeouts == 0));
    assert!(locked.totals.retransmissions > 20_000, "{}", locked.totals.retransmissions);
    for (transport, queue) in [(selective, 1518), (go_back_n, 4 * 1518)] {
        assert!(outcome(transport, queue).flows.iter().all(|flow| flow.completed.is_some()));
    }
}

/// Every transport of the list takes part in these tests.
#[test]
fn no_transport_is_left_out() {
    for info in TRANSPORTS {
        assert!(every_transport().iter().any(|transport| transport.info().name == info.name), "{}", info.name);
    }
}

/// Ten segments of 1518 octets come at 10 Gb/s, within 11 us, to a line of 1 Gb/s, which takes 12.144 us for each. Above three segments:
///
/// - as they come, the queue has 1 to 10 of them: the last seven are marked;
/// - as they leave, it has 1 at the first one, and 9, 8, … at the others, for all have come by then: the second to the seventh are.
#[test]
fn marks_are_set_as_frames_come_or_as_they_leave() {
    for (at_departure, in_service_counts, marked) in [(false, true, 7), (true, true, 6)] {
        let mut b = Builder::new(2, 1);
        b.link(0, 2, GBPS_10, Duration::from_us(1), Octets(100_000));
        b.link(1, 2, BitRate::from_gbps(1), Duration::from_us(1), Octets(100_000));
        b.flow(&[0, 2, 1]);
        carry(&mut b.network, 0, tcp(tcp::Congestion::Dctcp), Some(14_600));
        b.network.ecn_threshold = Some(Octets(3 * 1518));
        b.network.in_service_counts = in_service_counts;
        b.network.marking = Marking { at_departure, by_port: false };
        assert_eq!(run(&b.network, us(10_000)).totals.ecn_marks, marked);
        // A scheme that marks is asked at the same times: frames of 1518 octets without transport, a step at three of them.
        (b.network.flows[0].transport, b.network.flows[0].size) = (None, Some(Octets(15_180)));
        b.network.ecn_threshold = None;
        assert_eq!(run_with::<Mixed>(&b.network, &[step(3 * 1518)], us(10_000)).totals.frames_marked, marked);
    }
}

/// DCQCN's parameters with a step at `k` octets in place of its ramp.
fn step(octets: u64) -> SchemeConfig {
    let Some(SchemeConfig::Dcqcn(config)) = SchemeConfig::with_defaults("dcqcn") else { unreachable!() };
    let k = Threshold(octets);
    SchemeConfig::Dcqcn(dcqcn::Config { k_min: k, k_max: k, ..config })
}

/// The same ten segments behind a queue of another priority that is never below three segments: their own queue is longer than 20 segments at no time, the
/// port is from the beginning.
#[test]
fn all_queues_of_a_port_count_for_marks() {
    for (by_port, marked) in [(false, 0), (true, 10)] {
        let mut b = Builder::new(3, 1);
        b.link(0, 3, GBPS_10, Duration::from_us(1), Octets(100_000));
        b.link(1, 3, GBPS_10, Duration::from_us(1), Octets(100_000));
        b.link(2, 3, BitRate::from_gbps(1), Duration::from_us(1), Octets(100_000));
        let other = b.flow(&[1, 3, 2]);
        (other.priority, other.size) = (5, Some(Octets(90_000)));
        let flow = b.flow(&[0, 3, 2]);
        flow.start = us(100);
        b.network.priorities = vec![0, 5];
        carry(&mut b.network, 1, tcp(tcp::Congestion::Dctcp), Some(14_600));
        b.network.ecn_threshold = Some(Octets(20 * 1518));
        b.network.marking = Marking { at_departure: false, by_port };
        assert_eq!(run(&b.network, us(10_000)).totals.ecn_marks, marked);
        // A scheme goes by the same length; in the other priority its threshold is out of reach.
        (b.network.flows[1].transport, b.network.flows[1].size) = (None, Some(Octets(15_180)));
        b.network.ecn_threshold = None;
        let configs = [step(20 * 1518), step(100_000)];
        assert_eq!(run_with::<Mixed>(&b.network, &configs, us(10_000)).totals.frames_marked, marked);
    }
}
