//! Sums at the limits of times, rates and sizes, and slices of bounded work in every network.

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases, defaults, star};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::{Full, Lean, Outcome, Sim};
use proptest::prelude::*;

const S: u64 = 1_000_000_000_000;
const END: Instant = Instant(LONGEST.0);

fn none() -> Config {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    config
}

fn sim(network: &Network) -> Sim<NoControl, Looking<'static, NoControl>, Lean> {
    Sim::new(network, &[none()], 1, Looking::none())
}

fn outcome(network: &Network, until: Instant) -> Outcome {
    let mut sim = sim(network);
    sim.run_until(until);
    sim.finish().0
}

/// Handles `slices` slices of 10 000 events before `until`; where the run is then.
fn after(network: &Network, slices: u32, until: Instant) -> (Instant, bool) {
    let mut sim = sim(network);
    let done = (0..slices).any(|_| sim.run_slice(until, 10_000));
    (sim.now(), done)
}

/// One frame of 64 octets at 1 bit/s takes 512 s on each of two lines and three of the longest times after each.
#[test]
fn the_longest_delays_add_up() {
    let three = Duration(3 * LONGEST.0);
    let mut b = star(1, BitRate(1), three, LARGEST_QUEUE);
    (b.network.flows[0].frame, b.network.flows[0].size) = (64, Some(Octets(64)));
    let early = outcome(&b.network, END);
    assert_eq!((early.totals.frames_in_flight, early.totals.frames_delivered), (1, 0));
    for port in &mut b.network.ports {
        port.latency = Duration(LONGEST.0 / 2 - 513 * S);
    }
    let late = outcome(&b.network, END);
    assert_eq!(late.flows[0].completed, Some(Instant(LONGEST.0 - 2 * S)));
}

/// A source allowed 100 Tb/s on an idle line of 100 Tb/s, all the longest run through: the integral of the rate's square is
/// 2 × 10^46, the line could carry 2 × 10^20 bits.
#[test]
fn statistics_hold_the_fastest_rate_for_the_longest_time() {
    let mut b = star(1, FASTEST, Duration::ZERO, LARGEST_QUEUE);
    (b.network.flows[0].traffic, b.network.flows[0].frame) = (Traffic::Constant(BitRate(1)), 16_384);
    let outcome = outcome(&b.network, END);
    let flow = outcome.flows[0];
    assert!((flow.mean_rate_bps / 1e14 - 1.0).abs() < 1e-12, "{flow:?}");
    assert!(flow.std_rate_bps < 1e14 * 1e-7, "{flow:?}");
    // Sixteen frames of 131 072 bits, one each 131 072 s from 0 s on.
    assert_eq!(flow.frames_delivered, 16);
    let queue = outcome.queues[b.network.queue(b.port(2, 1), 0).index()];
    assert!((queue.utilization / (16.0 * 131_072.0 / 2e20) - 1.0).abs() < 1e-9, "{queue:?}");
}

/// A queue that fills at 100 Tb/s to 4 GB and stays there: mean and deviation are those of its length.
#[test]
fn statistics_hold_the_largest_queue() {
    let mut b = star(2, FASTEST, Duration::ZERO, LARGEST_QUEUE);
    for flow in &mut b.network.flows {
        (flow.frame, flow.size) = (16_000, Some(LARGEST_QUEUE));
    }
    let line = b.port(3, 2);
    b.network.ports[line.index()].rate = BitRate(1);
    let mut sim = sim(&b.network);
    sim.run_until(Instant(S));
    sim.start_measuring();
    sim.run_until(END);
    let queue = sim.finish().0.queues[b.network.queue(line, 0).index()];
    // In the time that is left the slow line sends 250 KB.
    assert!((3.9997e9..=4e9).contains(&queue.mean_octets), "{queue:?}");
    assert!(queue.std_octets < 1e5, "{queue:?}");
}

/// At 100 Tb/s a frame of 64 octets is made each 5.12 ps: 195 312 500 000 in a second, of which the line of 1 bit/s takes one.
#[test]
fn frames_without_number_are_made_at_once() {
    let mut b = star(1, BitRate(1), Duration::ZERO, LARGEST_QUEUE);
    let flow = &mut b.network.flows[0];
    (flow.frame, flow.traffic, flow.excess) = (64, Traffic::Constant(FASTEST), Excess::Discard);
    let outcome = outcome(&b.network, Instant(S));
    assert_eq!(outcome.flows[0].frames_offered, 195_312_500_000);
    assert_eq!(outcome.flows[0].frames_sent, 1);
}

/// Each turn of a picosecond begins with a frame: a second has 10^12 of them, and a slice ends after some. The frames of a longer turn are
/// made at once.
#[test]
fn turns_without_number_end_with_the_slice() {
    for (on, random) in [(1, false), (1, true), (1000, true)] {
        let mut b = star(1, BitRate(1), Duration::ZERO, LARGEST_QUEUE);
        let flow = &mut b.network.flows[0];
        let traffic = Traffic::OnOff { rate: FASTEST, on: Duration(on), off: Duration::ZERO, random };
        (flow.frame, flow.traffic, flow.excess) = (64, traffic, Excess::Discard);
        let (now, done) = after(&b.network, 20, Instant(S));
        assert!(!done && now > Instant::ZERO && now < Instant(S / 1000), "{on} {random}: {now}");
    }
    let mut b = star(1, BitRate(1), Duration::ZERO, LARGEST_QUEUE);
    (b.network.flows[0].traffic, b.network.flows[0].excess) = (Traffic::Poisson(FASTEST), Excess::Discard);
    let (now, done) = after(&b.network, 20, Instant(S));
    assert!(!done && now > Instant::ZERO && now < Instant(S / 1000), "{now}");
}

/// A full bucket of 1000 GB lets 6 × 10^8 frames go at one instant into a host's queue of one frame.
#[test]
fn an_instant_without_end_ends_with_the_slice() {
    let mut b = star(1, BitRate(1_000_000_000), Duration::ZERO, LARGEST_QUEUE);
    b.network.ports[0].capacity = Capacity::Frames(1);
    b.network.reaction_points[0].pacer = Pacer::TokenBucket {
        depth: Octets(1_000_000_000_000),
        interval: Duration::from_us(1),
        granularity: BitRate(1),
    };
    assert_eq!(after(&b.network, 20, Instant(S)), (Instant::ZERO, false));
}

/// An observer's sample of many flows, and a limiter that has many, are work beyond their events.
#[test]
fn work_beyond_events_counts() {
    struct Looks;
    impl Look<NoControl> for Looks {
        fn interval(&self) -> Option<Duration> {
            Some(Duration(1))
        }
    }
    let mut b = star(300, BitRate(1_000_000_000), Duration::ZERO, LARGEST_QUEUE);
    for flow in &mut b.network.flows {
        flow.start = Instant(S);
    }
    let mut looks = Looks;
    let mut sim = Sim::<_, _, Full>::new(&b.network, &[none()], 1, Looking::with(&mut looks));
    assert!(!sim.run_slice(Instant(S), 10_000));
    // A sample each picosecond counts as 1 event, 300 flows and 602 ports.
    assert_eq!((sim.now(), sim.events()), (Instant(11), 12));
}

/// As many flows as a scenario can have; 30 s if each limiter looks for its flow.
#[test]
#[allow(clippy::disallowed_types, reason = "a generous bound on a hang")]
fn many_flows_are_laid_out_in_time_that_grows_with_their_number() {
    let mut b = star(1, BitRate(1_000_000_000), Duration::ZERO, LARGEST_QUEUE);
    let (flow, limiter) = (b.network.flows[0].clone(), b.network.reaction_points[0]);
    for rp in 1..100_000 {
        b.network.flows.push(flow.clone());
        b.network.flows[rp as usize].reaction_point = Some(RpId(rp));
        b.network.reaction_points.push(limiter);
    }
    let started = std::time::Instant::now();
    sim(&b.network);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

fn sliced(network: &Network, works: &[u64]) -> Outcome {
    let mut sim = Sim::<Mixed, _, Full>::new(network, &defaults("qcn", network), 1, Looking::none());
    let mut works = works.iter().cycle();
    while !sim.run_slice(Instant(5_000_000_000), *works.next().expect("a cycle")) {}
    sim.finish().0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    /// However little a slice does, the result is that of one slice, the number of events included.
    #[test]
    fn slices_of_any_work_change_nothing(
        network in random_network(),
        works in prop::collection::vec(1_u64..200, 1..5),
    ) {
        prop_assert_eq!(sliced(&network, &works), sliced(&network, &[u64::MAX]));
    }
}
