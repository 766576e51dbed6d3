//! HPCC beside its authors' simulator (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a): long flows into one port of 100 Gb/s.

use penstock_schemes::{BitRate, Duration, Instant, Octets, Value};
use penstock_sim::Outcome;

use super::{configured, ms, run};
use crate::common::star;

/// `n` sources with payloads of 1000 octets, headers and telemetry 1090, started `apart_ns` after one another, from 20 to 40 ms.
fn port(n: usize, apart_ns: u64, in_service_counts: bool, changes: &[(&str, Value)]) -> (Outcome, usize, f64) {
    let mut b = star(n, BitRate::from_gbps(100), Duration::from_us(1), Octets(32_000_000));
    b.network.in_service_counts = in_service_counts;
    for (i, flow) in b.network.flows.iter_mut().enumerate() {
        (flow.frame, flow.start) = (1048, Instant(1000 * apart_ns * i as u64));
    }
    let queue = b.network.queue(b.port(n + 1, n), 0).index();
    let own = [
        ("w_ai", Value::Octets(Octets(21))),
        ("base_rtt", Value::Time(Duration(4_160_000))),
        ("min_rate", Value::Rate(BitRate::from_gbps(1))),
    ];
    let outcome = run(&b.network, &configured("hpcc", &[&own, changes].concat()), ms(20), ms(40));
    let got: Vec<f64> = outcome.flows.iter().map(|flow| flow.throughput_bps).collect();
    let jain = got.iter().sum::<f64>().powi(2) / (got.len() as f64 * got.iter().map(|x| x * x).sum::<f64>());
    (outcome, queue, jain)
}

/// Its own: Jain's index 0.970 for 4 sources, 0.942 for 8 and 0.989 for 32; mean queues of 663, 1095 and 2213 octets. A window of one to
/// two frames is one frame with the other gate, and the queue a quarter.
#[test]
fn hpcc_holds_the_queue_of_its_authors_simulator() {
    for (n, mean, jain) in [(4, 662.7, 0.970), (8, 1095.0, 0.942), (32, 2212.5, 0.989)] {
        let (outcome, queue, seen) = port(n, 100, false, &[]);
        let queue = outcome.queues[queue].mean_octets;
        assert!((queue / mean - 1.0).abs() < 0.1, "{n}: {queue} octets, and {mean}");
        assert!((seen - jain).abs() < 0.03, "{n}: Jain's index {seen}, and {jain}");
    }
    let (outcome, queue, _) = port(32, 100, false, &[("gate", Value::Choice("whole"))]);
    assert!(outcome.queues[queue].mean_octets < 2212.5 / 3.0, "{}", outcome.queues[queue].mean_octets);
}

/// A record is written as the transmission starts, whether the frame then still counts as queued or not: sources see the same.
#[test]
fn telemetry_does_not_follow_how_queues_are_counted() {
    let shares = |counts: bool| {
        let (outcome, ..) = port(3, 1_000_000, counts, &[]);
        outcome.flows.iter().map(|flow| flow.throughput_bps).collect::<Vec<_>>()
    };
    assert_eq!(shares(true), shares(false));
}

/// Its own with `max_stage` 0: Jain's index 0.991, a mean queue of 2436 octets. With the rest of a gap alone in
/// `RdmaHw::ChangeRate` it has 8592: sources fall into step.
#[test]
fn a_new_window_moves_the_next_frame_by_the_whole_gap() {
    let stage = ("max_stage", Value::Count(0));
    let (outcome, queue, jain) = port(32, 100, false, &[stage, ("unit_factor", Value::Count(4))]);
    let mean = outcome.queues[queue].mean_octets;
    assert!((mean / 2435.8 - 1.0).abs() < 0.1, "{mean} octets");
    assert!((jain - 0.991).abs() < 0.03, "Jain's index {jain}");
    let (outcome, queue, _) = port(32, 100, false, &[stage, ("gap", Value::Choice("rest"))]);
    assert!(outcome.queues[queue].mean_octets > 3.0 * 2435.8, "{}", outcome.queues[queue].mean_octets);
}
