//! Priority flow control against times computed by hand.

use crate::common::{Looking, lossless, respond};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::pfc::{LARGEST_SIGNAL, Reach, headroom};
use penstock_sim::{Full, Lean, Outcome, Sim};

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const ROOMY: Octets = Octets(10_000_000);

fn ns(n: u64) -> Instant {
    Instant(n * 1000)
}

fn run(network: &Network, until: Instant) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let configs = vec![config; network.priorities.len()];
    let mut sim = Sim::<NoControl, _, Full>::new(network, &configs, 1, Looking::none());
    sim.run_until(until);
    sim.finish().0
}

/// Source 0, receiver 1, switch 2; 1 Gb/s in, 0.5 Gb/s out, 1 us each. Frames of 1500 octets arrive at 13, 25, 37 … us and
/// depart at 37, 61, 85 … us, so the ingress counter is (in octets)
///
/// ```text
///   13 us 1500, 25 us 3000, 37 us 3000 (one departs, one arrives), 49 us 4500, 61 us 4500, 73 us 6000: XOFF
/// ```
///
/// The pause frame takes 0.512 us and 1 us: it arrives at 74.512 us and acts at 75.012 us. The frame that the source began at
/// 72 us is its seventh and last: it arrives at 85 us, when one departs. 109 us 4500, 133 us 3000: XON. The resume frame
/// arrives at 134.512 us.
fn chain() -> Builder {
    let mut b = Builder::new(2, 1);
    b.link(0, 2, GBPS, US, ROOMY);
    b.link(1, 2, BitRate(500_000_000), US, ROOMY);
    b.flow(&[0, 2, 1]);
    let ingress = Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) };
    lossless(&mut b.network, vec![0], ingress);
    respond(&mut b.network, Duration(500_000));
    b
}

#[test]
fn a_neighbour_stops_and_goes_on() {
    let b = chain();
    let queue = b.network.queue(b.port(0, 2), 0).index();
    let before = run(&b.network, ns(134_512));
    assert_eq!((before.queues[queue].pause_frames, before.totals.pause_frames), (1, 2));
    assert_eq!(before.queues[queue].paused, Duration(134_512_000 - 75_012_000));
    assert_eq!(before.totals.frames_sent, 7);
    // From 134.512 us on frames start every 12 us and arrive from 147.512 us on. Two frames are queued at 133 us; with
    // departures at 157 us (and 181 us) the counter is 6000 again at 171.512 us. That pause frame acts at
    // 171.512 + 1.512 + 0.5 = 173.524 us; the last frame began at 170.512 us.
    let after = run(&b.network, ns(180_000));
    assert_eq!((after.queues[queue].pause_frames, after.totals.pause_frames), (2, 3));
    assert_eq!(after.queues[queue].paused, Duration(59_500_000 + 180_000_000 - 173_524_000));
    assert_eq!(after.totals.frames_sent, 11);
    // 11 frames have arrived by 182.512 us, but only 10 by 180 us; 6 have left the switch and 5 of them arrived (at 158 us the
    // last); two pause frames and a resume frame.
    assert_eq!(after.totals.packet_hops, 10 + 6 + 3);
    assert_eq!(after.queues[b.network.queue(b.port(2, 1), 0).index()].max_octets, 6000);
}

/// Where the frame in transmission does not count, departures are 24 us earlier. The counter is 1500 with the second frame at
/// 25 us, falls to 0 as it starts at 37 us and rises to 1500 with the third, and so on. It has one frame less than above at
/// any time, so it reaches 6000 two arrivals later, at 97 us. It reaches XON (3000) at 157 us, when the frame begins that departs
/// above at 181 us.
#[test]
fn the_frame_in_transmission_may_leave_the_counter() {
    let mut b = chain();
    b.network.in_service_counts = false;
    let queue = b.network.queue(b.port(0, 2), 0).index();
    // XOFF acts at 97 + 1.512 + 0.5 = 99.012 us; frames began at 0, 12 … 96 us.
    let outcome = run(&b.network, ns(150_000));
    assert_eq!(outcome.totals.frames_sent, 9);
    assert_eq!(outcome.queues[queue].paused, Duration(150_000_000 - 99_012_000));
    // The ninth frame arrives at 109 us when one starts: 6000 still. 133 us 4500, 157 us 3000: it goes on at 158.512 us.
    let outcome = run(&b.network, ns(170_000));
    assert_eq!(outcome.queues[queue].paused, Duration(158_512_000 - 99_012_000));
    assert_eq!(outcome.totals.pause_frames, 2);
}

#[test]
fn overhead_lengthens_pause_frames() {
    let mut b = chain();
    b.network.wire_overhead = 24;
    // 12.192 us in, 24.384 us out: the sixth frame arrives at 6 × 12.192 + 1 us = 74.152 us, when two have departed (at
    // 13.192 + 24.384 k us). The pause frame of 88 octets takes 0.704 us: 74.152 + 0.704 + 1 + 0.5 = 76.356 us.
    let outcome = run(&b.network, ns(80_000));
    let queue = b.network.queue(b.port(0, 2), 0).index();
    assert_eq!(outcome.queues[queue].paused, Duration(80_000_000 - 76_356_000));
}

/// 20 quanta of 512 bits are 10.24 us at 1 Gb/s. The pause frame that started at 73 us goes again every 5.12 us until XON at
/// 133 us: 11 times, the last at 129.32 us.
#[test]
fn a_stop_is_renewed_in_time() {
    let mut b = chain();
    b.network.pfc.as_mut().unwrap().quanta = 20;
    let outcome = run(&b.network, ns(140_000));
    let queue = &outcome.queues[b.network.queue(b.port(0, 2), 0).index()];
    assert_eq!((queue.pause_frames, outcome.totals.pause_frames), (12, 13));
    assert_eq!(queue.paused, Duration(59_500_000));
    assert_eq!(outcome.totals.frames_sent, 7 + 1, "at 134.512 us, not before");
}

/// 100 quanta are 51.2 us at 1 Gb/s, to be renewed at 73 + 25.6 us. While the pause frame is under way the source's line
/// becomes ten times as fast. The stop lasts as long as its refresh counts on, and from then on quanta are shorter.
#[test]
fn a_rate_that_rises_under_a_pause_frame_does_not_shorten_the_stop() {
    let mut b = chain();
    b.network.pfc.as_mut().unwrap().quanta = 100;
    let change = Change { at: ns(74_000), port: b.port(0, 2), event: PortEvent::Rate(BitRate::from_gbps(10)) };
    b.network.changes = vec![change];
    let outcome = run(&b.network, ns(134_512));
    let queue = b.network.queue(b.port(0, 2), 0).index();
    assert_eq!(outcome.queues[queue].paused, Duration(59_500_000));
    assert_eq!(outcome.totals.frames_sent, 7);
}

/// The path back breaks after the pause frame has arrived (74.512 us): the stop runs out at 84.752 us. At 125 us the
/// line is whole, and the waiting frames go at once.
#[test]
fn a_stop_runs_out_where_its_renewal_is_lost() {
    let mut b = chain();
    b.network.pfc.as_mut().unwrap().quanta = 20;
    let port = b.port(2, 0);
    b.network.changes = vec![
        Change { at: ns(75_000), port, event: PortEvent::Down },
        Change { at: ns(125_000), port, event: PortEvent::Up },
    ];
    let queue = b.network.queue(b.port(0, 2), 0).index();
    let outcome = run(&b.network, ns(125_000));
    assert_eq!(outcome.queues[queue].paused, Duration(84_752_000 - 75_012_000));
    // Seven frames up to 72 us, then at 84.752, 96.752, 108.752, 120.752 us.
    assert_eq!((outcome.totals.frames_sent, outcome.totals.pause_frames), (11, 1));
    // Signalled at 125 us, there at 126.512 us, in force at 127.012 us.
    let outcome = run(&b.network, ns(130_000));
    assert_eq!(outcome.queues[queue].paused, Duration(9_740_000 + 130_000_000 - 127_012_000));
    assert_eq!((outcome.queues[queue].pause_frames, outcome.totals.pause_frames), (2, 2));
}

/// The line breaks under the pause frame (73 to 73.512 us, or on its way until 74.512 us) and is whole at 80 us: signalled again, it
/// acts at 80 + 1.512 + 0.5 = 82.012 us.
#[test]
fn a_pause_frame_that_a_broken_line_lost_is_sent_again() {
    for broken in [73_200, 74_000] {
        let mut b = chain();
        let port = b.port(2, 0);
        b.network.changes = vec![
            Change { at: ns(broken), port, event: PortEvent::Down },
            Change { at: ns(80_000), port, event: PortEvent::Up },
        ];
        let outcome = run(&b.network, ns(100_000));
        let queue = &outcome.queues[b.network.queue(b.port(0, 2), 0).index()];
        assert_eq!((queue.pause_frames, outcome.totals.pause_frames), (1, 2));
        assert_eq!(queue.paused, Duration(100_000_000 - 82_012_000));
    }
}

/// A stop goes on while its own line is down. It comes up before XON: nothing starts before 134.512 us.
#[test]
fn a_stop_outlasts_the_break_of_its_line() {
    let mut b = chain();
    let port = b.port(0, 2);
    b.network.changes = vec![
        Change { at: ns(80_000), port, event: PortEvent::Down },
        Change { at: ns(90_000), port, event: PortEvent::Up },
    ];
    let outcome = run(&b.network, ns(130_000));
    // The frame that began at 72 us is lost, so the counter falls to 3000 at 109 us already.
    assert_eq!(outcome.totals.frames_lost_on_link, 1);
    assert_eq!(outcome.queues[b.network.queue(port, 0).index()].paused, Duration(110_512_000 - 75_012_000));
    // 110.512 and 122.512 us.
    assert_eq!(outcome.totals.frames_sent, 7 + 2);
}

/// XOFF at 4500 octets, which is all that the buffer holds: reached at 49 us. It acts only at 49 + 1.512 + 30 = 80.512 us, so
/// frames arrive at 61 us (one departs: 4500), 73 us (6000: dropped) and 85 us (one departs).
#[test]
fn a_frame_that_exceeds_the_ingress_buffer_is_dropped() {
    let mut b = chain();
    let pfc = b.network.pfc.as_mut().unwrap();
    let ingress = Ingress { buffer: Octets(4500), xoff: Octets(4500), xon: Octets(1500) };
    pfc.ingress = pfc.ingress.iter().map(|entry| entry.map(|_| ingress)).collect();
    respond(&mut b.network, Duration::from_us(30));
    let outcome = run(&b.network, ns(100_000));
    let bottleneck = &outcome.queues[b.network.queue(b.port(2, 1), 0).index()];
    assert_eq!((outcome.totals.frames_dropped, bottleneck.frames_dropped, bottleneck.max_octets), (1, 1, 4500));
}

/// A host port with a queue: the limiter goes on at line rate while the line is stopped. Frames of 84, 96, 108, 120 and 132 us
/// wait at 134.512 us, then one starts.
#[test]
fn a_host_queue_fills_while_it_is_stopped() {
    let mut b = chain();
    let port = b.port(0, 2);
    b.network.ports[port.index()].capacity = Capacity::Octets(ROOMY);
    let outcome = run(&b.network, ns(140_000));
    let queue = &outcome.queues[b.network.queue(port, 0).index()];
    assert_eq!(queue.paused, Duration(59_500_000));
    assert_eq!((outcome.totals.frames_sent, queue.max_octets), (12, 7500));
    assert_eq!(outcome.totals.frames_dropped, 0);
    // Its own limit stays: two frames fit.
    b.network.ports[port.index()].capacity = Capacity::Frames(2);
    let outcome = run(&b.network, ns(134_000));
    assert_eq!(outcome.queues[b.network.queue(port, 0).index()].frames_dropped, 3);
}

/// Host 0 sends 400 Mb/s to a slow receiver and 400 Mb/s to a fast one (the victim) in priority 3, and 100 Mb/s to the fast
/// one in priority 5. The slow receiver takes 100 Mb/s; the two of priority 3 take turns, so the victim gets no more.
#[test]
fn a_stop_hits_the_victim_and_no_other_priority() {
    for capacity in [Capacity::Arbiter, Capacity::Octets(Octets(15_000))] {
        let mut b = Builder::new(3, 1);
        b.link(0, 3, GBPS, US, ROOMY);
        b.link(1, 3, BitRate(100_000_000), US, ROOMY);
        b.link(2, 3, GBPS, US, ROOMY);
        b.network.priorities = vec![3, 5];
        for (to, priority, rate) in [(1, 3, 400_000_000), (2, 3, 400_000_000), (2, 5, 100_000_000)] {
            let flow = b.flow(&[0, 3, to]);
            (flow.priority, flow.traffic) = (priority, Traffic::Constant(BitRate(rate)));
            flow.excess = Excess::Discard;
        }
        let port = b.port(0, 3);
        b.network.ports[port.index()].capacity = capacity;
        let free = run(&b.network, ns(60_000_000));
        assert!((free.flows[1].throughput_bps / 400e6 - 1.0).abs() < 0.01);
        let ingress = Ingress { buffer: Octets(60_000), xoff: Octets(30_000), xon: Octets(15_000) };
        lossless(&mut b.network, vec![3], ingress);
        let outcome = run(&b.network, ns(60_000_000));
        let [slow, victim, other] = [0, 1, 2].map(|flow| outcome.flows[flow].throughput_bps);
        assert!((slow / 100e6 - 1.0).abs() < 0.02, "{slow}");
        assert!(victim < 150e6, "{victim}");
        assert!((other / 100e6 - 1.0).abs() < 0.01, "{other}");
        let paused = |priority| outcome.queues[b.network.queue(port, priority).index()].paused;
        assert!(paused(3) > Duration::from_us(30_000) && paused(5) == Duration::ZERO);
        if capacity == Capacity::Arbiter {
            assert_eq!(outcome.totals.frames_dropped, 0);
            assert!(outcome.totals.frames_discarded_at_source > 1000, "as on a busy line");
        } else {
            let dropped = outcome.queues[b.network.queue(port, 3).index()].frames_dropped;
            assert_eq!(outcome.totals.frames_dropped, dropped, "at the host's own queue alone");
            assert!(dropped > 1000);
        }
    }
}

/// A copy on each branch: the counter has both, and falls with each.
#[test]
fn each_copy_counts() {
    let mut b = Builder::new(3, 1);
    for host in 0..3 {
        b.link(host, 3, GBPS, US, ROOMY);
    }
    b.flow(&[0, 3, 1]).size = Some(Octets(1500));
    let (port, back) = (b.port(3, 2), b.port(2, 3));
    b.network.hops[0].children = 2;
    b.network.hops.push(Hop { port, back, parent: Some(HopId(0)), first_child: HopId(3), children: 0 });
    lossless(&mut b.network, vec![0], Ingress { buffer: Octets(3000), xoff: Octets(3000), xon: Octets(1500) });
    let outcome = run(&b.network, ns(100_000));
    // The frame arrives at 13 us: 3000 octets, XOFF. Both depart at 25 us: XON.
    assert_eq!((outcome.totals.pause_frames, outcome.totals.frames_delivered), (2, 2));
    let queue = &outcome.queues[b.network.queue(b.port(0, 3), 0).index()];
    assert_eq!(queue.paused, Duration::from_us(12));
    assert_eq!(b.network.reaches(0, 1500, &[])[b.port(0, 3).index()].expect("a flow passes").copies, 2);
}

/// 10 Gb/s, 1 us of latency each way, frames of 1500 octets both ways, response 0.5 us, overhead 24 octets. A frame takes
/// 1.2192 us, a PFC frame 0.0704 us. 1 + 1.2192 + 0.0704 + 1 + 0.5 = 3.7896 us are 4737 octets on the line, of which
/// 4736 end before the stop: three frames of 1524 and 164, of which 140 count. 3 × 1500 + 140 and twice 1500: 7640, less one.
#[test]
fn headroom_adds_up() {
    let rate = BitRate::from_gbps(10);
    let reach = Reach {
        rate,
        latency: US,
        largest: 1500,
        back_rate: rate,
        back_latency: US,
        back_largest: 1500,
        response: Duration(500_000),
        wire_overhead: 24,
        copies: 1,
    };
    assert_eq!(headroom(&reach), Octets(7640 - 1));
    assert_eq!(headroom(&Reach { copies: 3, ..reach }), Octets(3 * 7640 - 1));
    // Half of the pause time is to be over 1.2192 us: 2.4384 us are 47.6 quanta of 51.2 ns.
    assert_eq!(reach.least_quanta(), Some(48));
    assert_eq!(Reach { response: Duration::from_us(51), ..reach }.least_quanta(), Some(997));
    assert_eq!(Reach { response: Duration::from_us(4000), ..reach }.least_quanta(), None);
}

/// A line has the reach of its kind, whoever sends over it: frames of the largest length both ways, in priority 3 too, in which nobody
/// sends; the highest rate that it ever has. A host stops nobody.
#[test]
fn a_reach_follows_the_line() {
    let mut b = chain();
    b.network.priorities = vec![0, 3];
    let port = b.port(0, 2);
    b.network.changes = vec![Change { at: ns(1), port, event: PortEvent::Rate(BitRate::from_gbps(2)) }];
    let reach = b.network.reaches(0, 9216, &[US])[port.index()].expect("it leads to a switch");
    assert_eq!((reach.rate, reach.largest, reach.latency), (BitRate::from_gbps(2), 9216, US));
    assert_eq!((reach.back_rate, reach.back_largest, reach.back_latency), (GBPS, 9216, US));
    assert_eq!(reach.response, US);
    assert_eq!(b.network.reaches(3, 9216, &[US])[port.index()], Some(reach));
    assert_eq!(b.network.reaches(0, 64, &[])[port.index()].expect("a switch").largest, LARGEST_SIGNAL);
    assert_eq!(b.network.reaches(0, 9216, &[])[b.port(2, 0).index()], None);
}

#[test]
#[should_panic(expected = "need the engine that has them")]
fn the_lean_engine_refuses_flow_control() {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let _ = Sim::<NoControl, _, Lean>::new(&chain().network, &[config], 1, Looking::none());
}
