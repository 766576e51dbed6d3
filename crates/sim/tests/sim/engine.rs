//! The engine against numbers computed by hand, and conservation over random networks.

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases, star};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::{Full, Lean, Outcome, Sim, View};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const ROOMY: Octets = Octets(10_000_000);

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

fn run<S: Scheme>(network: &Network, config: &S::Config, until: Instant) -> Outcome {
    let configs = vec![config.clone(); network.priorities.len()];
    let mut sim = Sim::<S, _, Lean>::new(network, &configs, 1, Looking::none());
    sim.run_until(until);
    sim.finish().0
}

fn without_control(network: &Network, until: Instant) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    run::<NoControl>(network, &config, until)
}

fn qcn_config() -> SchemeConfig {
    SchemeConfig::with_defaults("qcn").expect("a scheme")
}

/// A frame of 1500 octets lasts 12 us at 1 Gb/s; two links with 1 us each: the first is there after 26 us, the tenth 9 × 12 us
/// later.
#[test]
fn frames_take_their_time() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.flows[0].size = Some(Octets(15_000));
    let outcome = without_control(&b.network, us(1000));
    assert_eq!(outcome.flows[0].completed, Some(us(26 + 108)));
    assert_eq!(outcome.totals.packet_hops, 20);
    assert_eq!(outcome.totals.frames_delivered, 10);
}

/// FECN probes at the start and about every millisecond from then on; a flow that has been stopped is probed no more.
#[test]
fn a_flow_that_is_stopped_is_probed_no_more() {
    for name in ["fecn", "efecn"] {
        let mut b = star(1, GBPS, US, ROOMY);
        b.network.flows[0].stop = Some(us(3500));
        let config = SchemeConfig::with_defaults(name).expect("a scheme");
        let probes = run::<Mixed>(&b.network, &config, us(10_000));
        assert_eq!(probes.totals.probes_delivered, 4, "{name}: at 0, 1, 2 and 3 ms");
    }
}

/// FECN whose sources do not spread their probes draws nothing but the clocks of the nodes, where these have their own.
#[test]
fn switches_have_clocks_of_their_own() {
    let Some(SchemeConfig::Fecn(mut config)) = SchemeConfig::with_defaults("fecn") else { unreachable!() };
    config.rates.probe_spread = Duration::ZERO;
    let mut b = star(2, GBPS, US, ROOMY);
    let mut outcome = |own_clocks, seed| {
        b.network.own_clocks = own_clocks;
        let mut sim =
            Sim::<Mixed, _, Lean>::new(&b.network, &[SchemeConfig::Fecn(config.clone())], seed, Looking::none());
        sim.run_until(us(20_000));
        sim.finish().0
    };
    assert_eq!(outcome(false, 1), outcome(false, 2));
    assert_eq!(outcome(true, 1), outcome(true, 1));
    assert_ne!(outcome(true, 1), outcome(false, 1));
    assert_ne!(outcome(true, 1), outcome(true, 2));
}

#[test]
fn wire_overhead_lengthens_every_frame() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.wire_overhead = 24;
    b.network.flows[0].size = Some(Octets(15_000));
    // 1524 octets: 12.192 us a frame.
    let outcome = without_control(&b.network, us(1000));
    assert_eq!(outcome.flows[0].completed, Some(Instant(2_000_000 + 11 * 12_192_000)));
}

#[test]
fn a_last_frame_may_be_short() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.flows[0].size = Some(Octets(3100));
    // 12 + 12 + 0.8 us to leave the host, 1 us, 0.8 us more and 1 us; the switch forwards as fast as it receives.
    let outcome = without_control(&b.network, us(1000));
    assert_eq!(outcome.totals.frames_sent, 3);
    assert_eq!(outcome.flows[0].completed, Some(Instant(2_000_000 + 3 * 12_000_000 + 800_000)));
}

/// Two sources into one link, one frame each at time zero: the second one waits for 12 us. Queue at the switch: 3000 octets
/// from 13 us, 1500 from 25 us, 0 from 37 us. The integral is 3000 × 12 + 1500 × 12 = 54 000 octet-us.
#[test]
fn queue_statistics_are_weighted_by_time() {
    let mut b = star(2, GBPS, US, ROOMY);
    for flow in &mut b.network.flows {
        flow.size = Some(Octets(1500));
    }
    let (port, outcome) = (b.port(3, 2), without_control(&b.network, us(100)));
    let q = &outcome.queues[b.network.queue(port, 0).index()];
    assert!((q.mean_octets - 540.0).abs() < 1e-9, "{}", q.mean_octets);
    let second_moment = (9.0e6 * 12.0 + 2.25e6 * 12.0) / 100.0;
    assert!((q.std_octets - (second_moment - 540.0f64.powi(2)).sqrt()).abs() < 1e-6);
    assert_eq!((q.min_octets, q.max_octets), (0, 3000));
    assert!((q.empty_fraction - 0.76).abs() < 1e-12);
    assert!((q.utilization - 0.24).abs() < 1e-12);
    // The same where the frame in transmission does not count: the first starts as it comes, 1500 octets wait for 12 us.
    b.network.in_service_counts = false;
    let outcome = without_control(&b.network, us(100));
    let q = &outcome.queues[b.network.queue(port, 0).index()];
    assert!((q.mean_octets - 180.0).abs() < 1e-9 && q.max_octets == 1500, "{q:?}");
    assert!((q.empty_fraction - 0.88).abs() < 1e-12);
}

/// Statistics from the warm-up on: from 20 us, 3000 octets for 5 us and 1500 for 12.
#[test]
fn measuring_begins_after_the_warm_up() {
    let mut b = star(2, GBPS, US, ROOMY);
    for flow in &mut b.network.flows {
        flow.size = Some(Octets(1500));
    }
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[config], 1, Looking::none());
    sim.run_until(us(20));
    sim.start_measuring();
    sim.run_until(us(120));
    let outcome = sim.finish().0;
    let q = &outcome.queues[b.network.queue(b.port(3, 2), 0).index()];
    assert!((q.mean_octets - (3000.0 * 5.0 + 1500.0 * 12.0) / 100.0).abs() < 1e-9);
    assert!((q.utilization - 0.17).abs() < 1e-12);
    assert_eq!(outcome.measured, Duration::from_us(100));
    // Both frames are delivered after the warm-up, at 26 and 38 us, and their flows end with them.
    for (flow, active_s) in outcome.flows.iter().zip([6e-6, 18e-6]) {
        assert!((flow.active_s - active_s).abs() < 1e-15);
        assert!((flow.throughput_bps - 12_000.0 / active_s).abs() < 1e-3);
    }
}

/// A flow that is stopped before its size has been sent is not complete: frames on their way arrive after the stop, and all the time
/// counts.
#[test]
fn a_flow_that_is_stopped_counts_to_the_end() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.flows[0].size = Some(Octets(15_000));
    b.network.flows[0].stop = Some(us(20));
    let outcome = without_control(&b.network, us(100));
    let flow = &outcome.flows[0];
    assert_eq!((flow.frames_delivered, flow.completed, flow.ended), (2, None, Some(us(20))));
    assert_eq!((flow.active_s, flow.throughput_bps), (100e-6, 24_000.0 / 100e-6));
}

/// The same queue in two windows that meet at 26 us, and in a third that holds both: an event at the instant at which
/// they meet belongs to the later one.
#[test]
fn windows_have_statistics_and_counts_of_their_own() {
    let mut b = star(2, GBPS, US, ROOMY);
    for flow in &mut b.network.flows {
        flow.size = Some(Octets(1500));
    }
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<NoControl, _, Lean>::new(&b.network, &[config], 1, Looking::none());
    sim.start_measuring();
    sim.run_until(us(20));
    sim.open_window(7);
    sim.open_window(9);
    sim.run_until(us(26));
    let first = sim.close_window(7).unwrap();
    sim.open_window(7);
    sim.run_until(us(60));
    let second = sim.close_window(7).unwrap();
    let both = sim.close_window(9).unwrap();
    assert_eq!(sim.close_window(9), None);
    sim.run_until(us(100));
    let whole = sim.finish().0;
    let index = b.network.queue(b.port(3, 2), 0).index();
    let queue = |outcome: &Outcome| {
        let q = &outcome.queues[index];
        (q.mean_octets, q.min_octets, q.max_octets, q.frames_arrived, outcome.totals.frames_delivered)
    };
    // The first frame reaches its destination at 26 us, the second at 38.
    assert_eq!(queue(&first), ((3000.0 * 5.0 + 1500.0) / 6.0, 1500, 3000, 0, 0));
    assert_eq!(queue(&second), (1500.0 * 11.0 / 34.0, 0, 1500, 0, 2));
    assert_eq!(queue(&both), ((3000.0 * 5.0 + 1500.0 * 12.0) / 40.0, 0, 3000, 0, 2));
    assert_eq!(queue(&whole), (540.0, 0, 3000, 2, 2));
    // The first flow is there for 6 us of the third window, and of no other: the window that opens as it ends has its frame.
    assert_eq!((both.flows[0].throughput_bps, both.flows[0].active_s), (12_000.0 / 6e-6, 6e-6));
    assert_eq!((first.flows[0].throughput_bps, first.flows[0].active_s), (0.0, 6e-6));
    assert_eq!((second.flows[0].throughput_bps, second.flows[0].active_s), (0.0, 0.0));
    assert_eq!((first.measured, whole.measured), (Duration::from_us(6), Duration::from_us(100)));
    // Windows change nothing.
    assert_eq!(whole, without_control(&b.network, us(100)));
}

/// Watches the bits of a line in every picosecond.
struct Line(QueueId, u64);

impl Look<NoControl> for Line {
    fn interval(&self) -> Option<Duration> {
        Some(Duration(1))
    }

    fn sample(&mut self, now: Instant, view: &dyn View<NoControl>) {
        let bits = view.queue(self.0).line_bits;
        assert!(bits >= self.1, "{bits} bits at {now:?}, {} before", self.1);
        self.1 = bits;
    }
}

/// 1500 octets at 58 Tb/s take 206.9 ps: some transmissions 206 ps, most 207. Where one begins on an idle line, it is not
/// 207 ps of bits that are to come but its own.
#[test]
fn no_line_takes_back_what_it_has_sent() {
    for changes in [0, 3] {
        let mut b = star(1, BitRate(58_000_000_000_000), Duration::ZERO, ROOMY);
        let port = b.port(2, 1);
        let rate = |i: u64| PortEvent::Rate(BitRate(29_000_000_000_000 + 7 * i));
        let change = |i| Change { at: Instant(901 + 633 * i), port, event: rate(i) };
        b.network.changes = (0..changes).map(change).collect();
        b.network.flows[0].traffic = Traffic::Constant(BitRate(20_000_000_000_000));
        let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
        let mut line = Line(b.network.queue(port, 0), 0);
        Sim::<_, _, Full>::new(&b.network, &[config], 1, Looking::with(&mut line)).run_until(Instant(6000));
        assert!(line.1 > 50_000);
    }
}

/// Three greedy sources into one link of the same rate: two thirds are dropped when the queue is full.
#[test]
fn full_queues_drop() {
    for (capacity, most) in [(Capacity::Octets(Octets(15_000)), 15_000), (Capacity::Frames(7), 10_500)] {
        let mut b = star(3, GBPS, US, ROOMY);
        let port = b.port(4, 3);
        b.network.ports[port.index()].capacity = capacity;
        let outcome = without_control(&b.network, us(12_000));
        let q = &outcome.queues[b.network.queue(port, 0).index()];
        assert_eq!(q.max_octets, most);
        assert!((q.utilization - 0.999).abs() < 0.001);
        let t = &outcome.totals;
        assert_eq!(t.frames_sent, 3 * 1000);
        assert!(t.frames_dropped.abs_diff(2000) < 12, "{t:?}");
    }
}

#[test]
fn back_to_back_frames_keep_the_rate_exactly() {
    // 0.95 Gb/s: a frame lasts 12 631 578.947... ps. In 1.2 s there are exactly 95 000 of them.
    let mut b = star(1, BitRate(950_000_000), Duration::ZERO, ROOMY);
    b.network.flows[0].size = Some(Octets(95_000 * 1500));
    let outcome = without_control(&b.network, us(2_000_000));
    let done = outcome.flows[0].completed.expect("all delivered").0;
    let exact = 1_200_000_000_000u64 + 12_631_579;
    assert!(done.abs_diff(exact) <= 2, "{done}");
}

#[test]
fn rates_follow_their_schedule() {
    let mut b = star(1, GBPS, US, ROOMY);
    let port = b.port(2, 1);
    b.network.changes = vec![
        Change { at: us(12_000), port, event: PortEvent::Rate(BitRate(200_000_000)) },
        Change { at: us(24_000), port, event: PortEvent::Rate(GBPS) },
    ];
    b.network.flows[0].traffic = Traffic::Constant(BitRate(100_000_000));
    let outcome = without_control(&b.network, us(36_000));
    let q = &outcome.queues[b.network.queue(port, 0).index()];
    // 0.1 Gb/s over 1, 0.2 and 1 Gb/s: 3.6 Mb of 26.4 Mb.
    assert!((q.utilization - 3.6 / 26.4).abs() < 0.001, "{}", q.utilization);
    assert_eq!(outcome.totals.frames_dropped, 0);
}

#[test]
fn a_broken_line_loses_what_is_on_it_and_what_comes() {
    let mut b = star(1, GBPS, Duration::from_us(30), ROOMY);
    let port = b.port(2, 1);
    b.network.changes =
        vec![Change { at: us(100), port, event: PortEvent::Down }, Change { at: us(150), port, event: PortEvent::Up }];
    b.network.flows[0].size = Some(Octets(20 * 1500));
    let outcome = without_control(&b.network, us(3000));
    // Frame k reaches the switch at 42 + 12 k us and is on the line from then for 12 + 30 us: those of k = 2 (66 .. 108 us)
    // to k = 4 (at 90 us) are lost there, and those of k = 5 (102 us) to k = 8 (138 us) as they come.
    assert_eq!(outcome.totals.frames_lost_on_link, 7);
    assert_eq!(outcome.totals.frames_delivered, 13);
    let queue = &outcome.queues[b.network.queue(port, 0).index()];
    assert_eq!((queue.frames_flushed, queue.frames_dropped, outcome.totals.frames_dropped), (4, 0, 0));
    assert_eq!(outcome.flows[0].completed, None);
}

#[test]
fn limiters_of_one_port_take_turns() {
    // Four greedy flows on one NIC: each gets a quarter; nothing queues in the host.
    let mut b = Builder::new(5, 1);
    for host in 0..5 {
        b.link(host, 5, GBPS, US, ROOMY);
    }
    for to in 1..5 {
        b.flow(&[0, 5, to]);
    }
    let outcome = without_control(&b.network, us(12_000));
    for flow in &outcome.flows {
        assert!((flow.throughput_bps / 250e6 - 1.0).abs() < 0.005, "{flow:?}");
    }
    assert_eq!(outcome.queues[b.network.queue(b.port(0, 5), 0).index()].max_octets, 0);
}

#[test]
fn a_host_queue_lets_limiters_overrun_the_port() {
    let mut b = Builder::new(3, 1);
    for host in 0..3 {
        b.link(host, 3, GBPS, US, ROOMY);
    }
    b.flow(&[0, 3, 1]);
    b.flow(&[0, 3, 2]);
    let port = b.port(0, 3);
    b.network.ports[port.index()].capacity = Capacity::Octets(Octets(30_000));
    let outcome = without_control(&b.network, us(12_000));
    let q = &outcome.queues[b.network.queue(port, 0).index()];
    assert_eq!(q.max_octets, 30_000);
    assert!(q.frames_dropped > 900, "two limiters at line rate into one line");
}

#[test]
fn higher_priorities_go_first() {
    let mut b = star(2, GBPS, US, Octets(15_000));
    b.network.priorities = vec![1, 5];
    b.network.flows[0].priority = 1;
    b.network.flows[1].priority = 5;
    let outcome = without_control(&b.network, us(12_000));
    assert!(outcome.flows[1].throughput_bps > 0.99e9);
    assert!(outcome.flows[0].throughput_bps < 0.01e9);
    assert_eq!(outcome.flows[1].frames_dropped, 0);
}

#[test]
fn token_buckets_release_at_their_ticks() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.flows[0].traffic = Traffic::Constant(BitRate(500_000_000));
    b.network.reaction_points[0].pacer =
        Pacer::TokenBucket { depth: Octets(3000), interval: Duration::from_us(16), granularity: BitRate(500_000) };
    let outcome = without_control(&b.network, us(24_000));
    assert!((outcome.flows[0].throughput_bps / 500e6 - 1.0).abs() < 0.01, "{:?}", outcome.flows[0]);
    // A bucket for a trickle: granularity 300 Mb/s makes 1 Gb/s into 0.9 Gb/s.
    b.network.flows[0].traffic = Traffic::Greedy;
    b.network.reaction_points[0].pacer = Pacer::TokenBucket {
        depth: Octets(30_000),
        interval: Duration::from_us(16),
        granularity: BitRate(300_000_000),
    };
    let outcome = without_control(&b.network, us(24_000));
    assert!((outcome.flows[0].throughput_bps / 900e6 - 1.0).abs() < 0.02, "{:?}", outcome.flows[0]);
}

/// A constant source of 500 Mb/s behind a token bucket that allows 200 Mb/s: the three answers to excess.
#[test]
fn excess_stalls_is_queued_or_discarded() {
    let outcome = |excess| {
        let mut b = star(1, GBPS, US, ROOMY);
        let flow = &mut b.network.flows[0];
        (flow.traffic, flow.excess) = (Traffic::Constant(BitRate(500_000_000)), excess);
        b.network.reaction_points[0].pacer = Pacer::TokenBucket {
            depth: Octets(1500),
            interval: Duration::from_us(60),
            granularity: BitRate(200_000_000),
        };
        // 1 Gb/s is a multiple of 200 Mb/s; the bucket of one frame and 60 us between ticks allow 200 Mb/s.
        without_control(&b.network, us(60_000))
    };
    let (held, queued, discarded) =
        (outcome(Excess::Stall), outcome(Excess::Queue(Octets(15_000))), outcome(Excess::Discard));
    for o in [&held, &queued, &discarded] {
        assert!((o.flows[0].throughput_bps / 200e6 - 1.0).abs() < 0.01, "{:?}", o.flows[0]);
        assert_eq!(o.totals.frames_dropped, 0, "discards at the source are no network loss");
    }
    assert_eq!(held.totals.frames_discarded_at_source, 0);
    // 2500 frames offered in 60 ms, 1000 or so sent.
    for o in [&queued, &discarded] {
        assert_eq!(o.totals.frames_offered, 2500);
        assert!(o.totals.frames_discarded_at_source.abs_diff(1500) <= 12);
    }
}

#[test]
fn generators_keep_their_mean_rates() {
    let rate = |traffic| {
        let mut b = star(1, GBPS, US, ROOMY);
        b.network.flows[0].traffic = traffic;
        b.network.flows[0].excess = Excess::Queue(ROOMY);
        without_control(&b.network, us(2_400_000)).flows[0].frames_offered as f64 * 12_000.0 / 2.4
    };
    let (mean, on, off) = (BitRate(100_000_000), Duration::from_us(3000), Duration::from_us(1000));
    assert!((rate(Traffic::Constant(mean)) / 100e6 - 1.0).abs() < 1e-4);
    assert!((rate(Traffic::Poisson(mean)) / 100e6 - 1.0).abs() < 0.03, "20 000 frames: five times 0.7 %");
    let turns = |random| Traffic::OnOff { rate: mean, on, off, random };
    assert!((rate(turns(false)) / 75e6 - 1.0).abs() < 0.01);
    assert!((rate(turns(true)) / 75e6 - 1.0).abs() < 0.15, "600 turns: some 3 %");
}

/// Poisson arrivals at 80 % of a line that serves each frame in 12 us: M/D/1. The mean number in the system is
/// 0.8 + 0.8² / (2 × 0.2) = 2.4 frames; the system is empty 20 % of the time.
#[test]
fn a_poisson_source_makes_the_textbook_queue() {
    let mut b = Builder::new(2, 1);
    b.link(0, 2, BitRate(1_000_000_000_000), US, ROOMY);
    b.link(1, 2, GBPS, US, ROOMY);
    let flow = b.flow(&[0, 2, 1]);
    (flow.traffic, flow.excess) = (Traffic::Poisson(BitRate(800_000_000)), Excess::Queue(ROOMY));
    let (port, outcome) = (b.port(2, 1), without_control(&b.network, us(20_000_000)));
    let q = &outcome.queues[b.network.queue(port, 0).index()];
    assert!((q.mean_octets / (2.4 * 1500.0) - 1.0).abs() < 0.03, "{q:?}");
    assert!((q.empty_fraction - 0.2).abs() < 0.004, "{q:?}");
    assert!((q.utilization - 0.8).abs() < 0.004, "{q:?}");
}

#[test]
fn flows_start_and_stop() {
    let mut b = star(1, GBPS, US, ROOMY);
    (b.network.flows[0].start, b.network.flows[0].stop) = (us(120), Some(us(240)));
    let outcome = without_control(&b.network, us(1000));
    assert_eq!(outcome.totals.frames_sent, 10);
    assert!((outcome.flows[0].mean_rate_bps - 1e9).abs() < 1.0, "the rate counts while the flow is active");
}

#[test]
fn signals_reach_their_source_and_only_controlled_ones_act() {
    for feedback in [Feedback::InBand, Feedback::Ideal(Duration::from_us(50))] {
        let mut b = star(4, GBPS, US, Octets(150_000));
        b.network.feedback = feedback;
        b.network.flows[3].reaction_point = None;
        b.network.flows[3].traffic = Traffic::Constant(BitRate(100_000_000));
        b.network.reaction_points.pop();
        let outcome = run::<Mixed>(&b.network, &qcn_config(), us(200_000));
        let t = &outcome.totals;
        assert!(t.feedback_frames > 20 && t.signals_discarded > 0, "{t:?}");
        assert_eq!(t.feedback_frames, outcome.flows.iter().map(|f| f.feedback_received).sum::<u64>());
        assert_eq!(outcome.flows[3].feedback_received, 0);
        assert!(outcome.flows[0].mean_rate_bps < 0.6e9, "{:?}", outcome.flows[0]);
        assert!(outcome.hosts[0].rate_limiters_max == 1 && outcome.hosts[3].rate_limiters_max == 0);
        let q = &outcome.queues[b.network.queue(b.port(5, 4), 0).index()];
        assert_eq!(q.feedback_frames, t.signals_sent);
    }
}

/// A tree with two leaves: the copy is made where the paths part.
#[test]
fn branches_copy_frames() {
    let mut b = Builder::new(3, 1);
    for host in 0..3 {
        b.link(host, 3, GBPS, US, ROOMY);
    }
    b.flow(&[0, 3, 1]).size = Some(Octets(15_000));
    let (port, back) = (b.port(3, 2), b.port(2, 3));
    b.network.hops[0].children = 2;
    b.network.hops.push(Hop { port, back, parent: Some(HopId(0)), first_child: HopId(3), children: 0 });
    let outcome = without_control(&b.network, us(1000));
    let t = &outcome.totals;
    assert_eq!((t.frames_sent, t.copies_made, t.frames_delivered), (10, 10, 20));
    assert_eq!(outcome.flows[0].completed, Some(us(134)));
}

/// Adds the queue lengths that it sees to a sum, and counts samples and arrivals.
struct Counting {
    samples: u64,
    octets: u64,
    arrivals: u64,
}

impl Look<Mixed> for Counting {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_us(10))
    }
    fn sample(&mut self, _: Instant, view: &dyn View<Mixed>) {
        self.samples += 1;
        self.octets += view.queue(QueueId(0)).len.0;
    }
    fn arrival(&mut self, _: Instant, _: QueueId, _: FlowId) {
        self.arrivals += 1;
    }
}

#[test]
fn probes_watch_and_do_not_steer() {
    let b = star(4, GBPS, US, Octets(150_000));
    let config = qcn_config();
    let plain = run::<Mixed>(&b.network, &config, us(50_000));
    let mut seen = Counting { samples: 0, octets: 0, arrivals: 0 };
    let mut sim = Sim::<_, _, Full>::new(&b.network, &[config], 1, Looking::with(&mut seen));
    sim.run_until(us(50_000));
    let mut watched = sim.finish().0;
    assert_eq!(seen.samples, 5001, "at 0, 10, … us, and at the end, which is no event");
    assert_eq!(
        seen.arrivals,
        watched.queues.iter().map(|q| q.frames_arrived).sum::<u64>() - watched.totals.signals_sent
    );
    watched.totals.events -= 5000;
    assert_eq!(plain, watched);
}

#[test]
fn runs_repeat_and_seeds_differ() {
    let b = star(4, GBPS, US, Octets(150_000));
    let config = qcn_config();
    let outcome = |seed, steps: u64| {
        let mut sim = Sim::<Mixed, _, Lean>::new(&b.network, std::slice::from_ref(&config), seed, Looking::none());
        for step in 1..=steps {
            sim.run_until(Instant(50_000_000_000 / steps * step));
        }
        sim.finish().0
    };
    let once = outcome(7, 1);
    assert_eq!(once, outcome(7, 1));
    assert_eq!(once, outcome(7, 1000), "where a run is cut changes nothing");
    assert_ne!(once, outcome(8, 1));
}

/// The bits that each port has put on the line, at each sample.
#[derive(Default)]
struct Bits(Vec<Vec<u64>>);

impl Look<NoControl> for Bits {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_us(5))
    }

    fn sample(&mut self, _now: Instant, view: &dyn View<NoControl>) {
        self.0.push((0..4).map(|i| view.queue(QueueId(i)).line_bits).collect());
    }
}

/// 12 000 bits at 7 Gb/s last 1 714 285.7 ps, some frames a picosecond longer than others. One that starts in the very moment of a
/// sample, at 10 us, has put nothing on the line yet: neither a bit more than the frame before it, nor a bit less.
#[test]
fn the_bits_sent_never_decrease() {
    let mut b = star(1, BitRate(7_000_000_000), US, ROOMY);
    b.network.flows[0].traffic = Traffic::Constant(BitRate(1_200_000_000));
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut bits = Bits::default();
    Sim::<_, _, Full>::new(&b.network, &[config], 1, Looking::with(&mut bits)).run_until(us(1000));
    let Bits(samples) = bits;
    for pair in samples.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(before, after)| before <= after), "{pair:?}");
    }
    assert_eq!(samples[2].iter().max(), Some(&12_000), "at 10 us the first frame is sent, of the second nothing");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    /// Nothing appears or vanishes under any changes of the network; a run can be cut anywhere; and both engines do the
    /// same.
    #[test]
    fn frames_are_conserved(network in random_network(), cut in 0u64..5000) {
        let config = qcn_config();
        let whole = run::<Mixed>(&network, &config, us(5000));
        let mut sim = Sim::<Mixed, _, Lean>::new(&network, &vec![config.clone(); network.priorities.len()], 1, Looking::none());
        sim.run_until(us(cut));
        sim.run_until(us(5000));
        prop_assert_eq!(&whole, &sim.finish().0);
        let mut full = Sim::<Mixed, _, Full>::new(&network, &vec![config; network.priorities.len()], 1, Looking::none());
        full.run_until(us(5000));
        prop_assert_eq!(&whole, &full.finish().0, "the engine with flow control, in a network without");
        let t = whole.totals;
        prop_assert_eq!(
            t.frames_sent + t.copies_made,
            t.frames_delivered + t.frames_dropped + t.frames_lost_on_link + t.frames_in_flight
        );
        for (index, q) in whole.queues.iter().enumerate() {
            // A frame that is on its way when the rate falls keeps its own rate: up to 3024 octets more for each change.
            let port = index / network.queues_per_port();
            let changes = network.changes.iter().filter(|c| c.port.index() == port).count();
            let late = changes as f64 * 3024.0 * 8.0 / (123_456_789.0 * 5e-3);
            // Bits that were sent and bits that could be are counted whole: one too many at most, of one too few.
            let whole = (network.ports[port].rate.0 as f64 * 5e-3).floor();
            prop_assert!(q.utilization <= (whole + 1.0) / whole + 1e-9 + late, "queue {}'s port carries {} of its rate", index, q.utilization);
            prop_assert!((0.0..=1.0).contains(&q.empty_fraction));
            prop_assert!(q.min_octets as f64 <= q.mean_octets + 1e-6 && q.mean_octets <= q.max_octets as f64 + 1e-6);
        }
    }
}
