//! Large networks, whose runs ask for memory in advance.

use crate::common::random::random_network;
use crate::common::{Looking, defaults};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::Network;
use penstock_sim::{Lean, Outcome, Sim};
use proptest::prelude::*;

fn run(network: &Network) -> Outcome {
    let mut sim = Sim::<Mixed, _, Lean>::new(network, &defaults("qcn", network), 1, Looking::none());
    sim.run_until(Instant::ZERO + Duration::from_ms(5));
    sim.finish().0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(16), ..ProptestConfig::default() })]

    /// Ports that carry nothing make a network large, and change nothing else.
    #[test]
    fn a_large_network_runs_as_a_small_one_does(network in random_network()) {
        let small = run(&network);
        let mut large = network.clone();
        let mut port = network.ports[0].clone();
        port.congestion_points = false;
        large.ports.extend(vec![port; 20_000]);
        let Outcome { totals, mut queues, flows, .. } = run(&large);
        queues.truncate(small.queues.len());
        prop_assert_eq!((small.totals, small.queues, small.flows), (totals, queues, flows));
    }
}
