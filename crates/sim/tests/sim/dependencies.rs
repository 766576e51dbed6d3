//! Flows that begin when others have ended, and runs that end with their flows: times computed by hand.

use crate::common::{Looking, star};
use penstock_endpoint::transport::{Transport, tcp};
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::{Lean, Outcome, Sim, longest_frame};

const GBPS_10: BitRate = BitRate(10_000_000_000);
/// A frame of 1500 octets at 10 Gb/s, ps.
const FRAME: u64 = 1_200_000;
/// The time that a frame takes over both links of the star, with 1 us each, ps.
const WAY: u64 = 2 * (FRAME + 1_000_000);

/// A star whose flows have ten frames each.
fn tens(n: usize) -> Builder {
    let mut b = star(n, GBPS_10, Duration::from_us(1), Octets(100_000));
    for flow in &mut b.network.flows {
        flow.size = Some(Octets(15_000));
    }
    b
}

/// Flow `flow` begins `delay` after the end of those of `after`.
fn follow(b: &mut Builder, flow: u32, after: &[u32], delay: Duration) {
    b.network.flows[flow as usize].start = Instant::NEVER;
    b.network.dependencies.push(Dependency {
        flow: FlowId(flow),
        after: after.iter().copied().map(FlowId).collect(),
        delay,
    });
}

fn run(network: &Network, end: Instant, slice: Option<u64>) -> (Outcome, Instant) {
    let mut sim = Sim::<NoControl, _, Lean>::new(network, &[Config {}], 1, Looking::none());
    match slice {
        None => sim.run_until(end),
        Some(work) => while !sim.run_slice(end, work) {},
    }
    let now = sim.now();
    (sim.finish().0, now)
}

fn times(outcome: &Outcome) -> Vec<(Option<u64>, Option<u64>)> {
    outcome.flows.iter().map(|flow| (flow.started.map(|at| at.0), flow.completed.map(|at| at.0))).collect()
}

#[test]
fn a_flow_begins_after_the_last_of_those_that_it_waits_for() {
    let mut b = tens(4);
    b.network.flows[1].start = Instant(50_000_000);
    follow(&mut b, 2, &[0, 1], Duration::from_us(3));
    follow(&mut b, 3, &[2], Duration::ZERO);
    let (outcome, _) = run(&b.network, Instant(1_000_000_000), None);
    let ten = 9 * FRAME + WAY;
    let second = 50_000_000 + ten + 3_000_000;
    assert_eq!(
        times(&outcome),
        [
            (Some(0), Some(ten)),
            (Some(50_000_000), Some(50_000_000 + ten)),
            (Some(second), Some(second + ten)),
            // At the very instant of that end.
            (Some(second + ten), Some(second + 2 * ten)),
        ]
    );
}

#[test]
fn a_flow_that_is_stopped_has_ended() {
    let mut b = tens(2);
    b.network.flows[0].size = None;
    b.network.flows[0].stop = Some(Instant(7_000_000));
    follow(&mut b, 1, &[0], Duration::from_us(1));
    let (outcome, _) = run(&b.network, Instant(1_000_000_000), None);
    assert_eq!(outcome.flows[0].completed, None);
    assert_eq!(outcome.flows[1].started, Some(Instant(8_000_000)));
    // Six frames of the other one were sent; the sixth leaves the host's line at 7.2 us, and the queue is empty by 10.4 us.
    assert_eq!(outcome.flows[0].frames_sent, 6);
}

/// A finite flow that is stopped before its end has ended then, once.
#[test]
fn the_first_end_of_a_flow_counts() {
    let mut b = tens(3);
    b.network.flows[0].stop = Some(Instant(10_900_000));
    follow(&mut b, 2, &[0, 1], Duration::ZERO);
    let (outcome, _) = run(&b.network, Instant(1_000_000_000), None);
    // All ten frames had left by then; they arrive later, two flows share the link to the receiver.
    assert_eq!(outcome.flows[0].frames_sent, 10);
    let last = outcome.flows[1].completed.max(outcome.flows[0].completed);
    assert_eq!(last, Some(Instant(19 * FRAME + WAY)));
    assert_eq!(outcome.flows[2].started, outcome.flows[1].completed);
}

#[test]
fn a_sequel_of_a_flow_that_does_not_end_does_not_begin() {
    let mut b = tens(2);
    b.network.flows[0].size = None;
    follow(&mut b, 1, &[0], Duration::ZERO);
    let (outcome, now) = run(&b.network, Instant(100_000_000), None);
    assert_eq!((outcome.flows[1].started, outcome.flows[1].frames_sent), (None, 0));
    assert_eq!(now, Instant(100_000_000));
}

#[test]
fn a_run_ends_with_its_flows_however_it_is_sliced() {
    let mut b = tens(3);
    // This one has no end: no flow waits for it.
    b.network.flows[1].size = None;
    b.network.flows[1].start = Instant(30_000_000);
    follow(&mut b, 2, &[0], Duration::from_us(5));
    b.network.until_complete = true;
    let (outcome, now) = run(&b.network, Instant(1_000_000_000), None);
    assert_eq!(Some(now), outcome.flows[2].completed);
    for slice in [1, 2, 7] {
        assert_eq!(run(&b.network, Instant(1_000_000_000), Some(slice)), (outcome.clone(), now));
    }
    // A limit that comes first.
    let (outcome, now) = run(&b.network, Instant(20_000_000), None);
    assert_eq!((outcome.flows[2].completed, now), (None, Instant(20_000_000)));
}

/// Poisson, on-off and even traffic of a sequel is that of a flow which starts at the same time.
#[test]
fn traffic_begins_when_the_flow_does() {
    let kinds = [
        Traffic::Poisson(BitRate::from_gbps(1)),
        Traffic::Constant(BitRate(1_234_567_890)),
        Traffic::OnOff {
            rate: BitRate::from_gbps(2),
            on: Duration::from_us(11),
            off: Duration::from_us(7),
            random: true,
        },
    ];
    for traffic in kinds {
        let mut b = tens(2);
        b.network.flows[1].traffic = traffic;
        b.network.flows[1].size = Some(Octets(60_000));
        let mut alone = b.network.clone();
        follow(&mut b, 1, &[0], Duration::from_us(9));
        let (outcome, _) = run(&b.network, Instant(1_000_000_000), None);
        alone.flows[1].start = outcome.flows[1].started.expect("the first flow has ended");
        let (same, _) = run(&alone, Instant(1_000_000_000), None);
        assert_eq!(outcome, same);
    }
}

/// A request and its answer over TCP: the answer begins when the request has arrived, in the other direction. The request's
/// acknowledgement, 64 octets, goes first.
#[test]
fn an_answer_begins_when_its_request_has_arrived() {
    let mut b = star(1, GBPS_10, Duration::from_us(1), Octets(100_000));
    b.flow(&[1, 2, 0]);
    let transport = Transport::Tcp(tcp::Config::default());
    for flow in 0..2 {
        let reverse_path = b.network.add_reverse_path(b.network.flows[flow].root);
        let flow = &mut b.network.flows[flow];
        flow.frame = longest_frame(&transport).0 as u16;
        flow.size = Some(Octets(1_460));
        flow.transport = Some(Carriage { transport: transport.clone(), acks: Some(0), reverse_path });
    }
    follow(&mut b, 1, &[0], Duration::ZERO);
    b.network.until_complete = true;
    let (outcome, now) = run(&b.network, Instant(1_000_000_000), None);
    let one = 2 * (1_214_400 + 1_000_000);
    assert_eq!(times(&outcome), [(Some(0), Some(one)), (Some(one), Some(2 * one + 51_200))]);
    assert_eq!(now, Instant(2 * one + 51_200));
}
