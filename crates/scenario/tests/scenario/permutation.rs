//! A permutation over a leaf and spine, under each kind of load balancing over the spines. The table of
//! `docs/explanation/load-balancing.md` has these numbers.

use std::path::Path;

use penstock_scenario::{Choice, Scenario};
use penstock_schemes::Instant;
use penstock_schemes::none::{Config, NoControl};
use penstock_sim::network::NodeKind;
use penstock_sim::{Lean, NoProbe, Sim};

/// The measures of one run.
struct Measured {
    /// When the last flow was complete, and the mean of all, us.
    last: u64,
    mean: u64,
    /// The use of the links from leaves to spines until then, acknowledgements included: of the one that has most, and of the one that has
    /// least.
    most: f64,
    least: f64,
    sent_again: u64,
    dropped: u64,
}

fn measure(load_balancing: &str, reordering: u64) -> Measured {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/load-balancing/permutation.toml");
    let mut scenario = Scenario::load(&file).unwrap();
    scenario.set("network.load_balancing", load_balancing).unwrap();
    scenario.set("flow.0.transport", &format!("{{ selective = {{ reordering = {reordering} }} }}")).unwrap();
    let plan = scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"));
    let network = &plan.network;
    let mut sim = Sim::<NoControl, _, Lean>::new(network, &[Config {}], plan.seed, NoProbe);
    sim.run_until(Instant(plan.duration.0));
    let outcome = sim.finish().0;
    let time = |i: usize| outcome.flows[i].completed.expect("all complete").since(network.flows[i].start).0 / 1_000_000;
    let times: Vec<u64> = (0..network.flows.len()).map(time).collect();
    let is_host = |node: usize| network.nodes[node].kind == NodeKind::Host;
    // Spines come last, so that links from leaves to spines are those between switches that lead to a later node.
    let is_up = |i: usize| {
        let port = &network.ports[i];
        !is_host(port.node.index()) && !is_host(port.peer.index()) && port.peer.0 > port.node.0
    };
    let of = |i: usize| outcome.queues[i * network.queues_per_port()].utilization;
    let up: Vec<f64> = (0..network.ports.len()).filter(|&i| is_up(i)).map(of).collect();
    assert_eq!(up.len(), 16);
    Measured {
        last: times.iter().copied().max().unwrap(),
        mean: times.iter().sum::<u64>() / times.len() as u64,
        most: up.iter().copied().fold(0.0, f64::max),
        least: up.iter().copied().fold(f64::INFINITY, f64::min),
        sent_again: outcome.totals.retransmissions,
        dropped: outcome.totals.frames_dropped,
    }
}

/// Last and mean completion in us, frames sent again and lost.
const TABLE: [(&str, [u64; 4]); 6] = [
    ("flow", [10_933, 7_345, 257, 257]),
    // Flows that never pause are one flowlet each.
    ("flowlet", [10_933, 7_345, 257, 257]),
    ("spray", [6_536, 5_788, 19_649, 0]),
    ("spray-random", [7_367, 6_651, 32_618, 0]),
    ("adaptive", [6_803, 5_863, 27_333, 0]),
    ("adaptive-flowlet", [7_206, 4_454, 0, 0]),
];

#[test]
fn spraying_uses_the_links_that_a_hash_leaves_idle() {
    for (load_balancing, expected) in TABLE {
        let Measured { last, mean, most, least, sent_again, dropped } = measure(load_balancing, 1);
        assert_eq!([last, mean, sent_again, dropped], expected, "{load_balancing}");
        match load_balancing {
            "spray" | "spray-random" | "adaptive" => assert!(least > most / 2.0, "{load_balancing}: {least} {most}"),
            _ => assert_eq!(least, 0.0, "{load_balancing}"),
        }
    }
}

/// The same where the transport waits for 64 frames behind a missing one: little is sent again, and the last flow is there sooner.
const PATIENT: [(&str, [u64; 4]); 3] =
    [("spray", [4_545, 4_098, 4, 0]), ("spray-random", [4_730, 4_190, 251, 0]), ("adaptive", [4_653, 4_102, 209, 0])];

#[test]
fn a_transport_that_waits_sends_little_again() {
    let measured = PATIENT.map(|(load_balancing, _)| {
        let Measured { last, mean, sent_again, dropped, .. } = measure(load_balancing, 64);
        (load_balancing, [last, mean, sent_again, dropped])
    });
    assert_eq!(measured, PATIENT);
}
