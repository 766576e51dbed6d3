//! Small networks for tests.

mod look;
pub(crate) mod random;
pub(crate) mod trial;

pub(crate) use self::look::{Look, Looking};

use penstock_schemes::{BitRate, Duration, Octets, SchemeConfig};
use penstock_sim::network::*;

/// Flow control with other quanta and responses than the longest and none.
pub(crate) fn pfc(priorities: Vec<u8>, ingress: Vec<Option<Ingress>>, quanta: u16, responses: Vec<Duration>) -> Pfc {
    let mut pfc = Pfc::new(priorities, ingress);
    (pfc.quanta, pfc.responses) = (quanta, responses);
    pfc
}

/// The number of cases: `usual`, or the value of PROPTEST_CASES in the environment.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |n| n.parse().expect("PROPTEST_CASES is a number"))
}

/// `n` sources and one receiver around one switch: nodes `0..n`, receiver `n`, switch `n + 1`. Flows are greedy.
pub(crate) fn star(n: usize, rate: BitRate, latency: Duration, buffer: Octets) -> Builder {
    let mut b = Builder::new(n + 1, 1);
    for host in 0..=n {
        b.link(host, n + 1, rate, latency, buffer);
    }
    for source in 0..n {
        b.flow(&[source, n + 1, n]);
    }
    b
}

/// The same response to pause frames at each port.
pub(crate) fn respond(network: &mut Network, response: Duration) {
    let pfc = network.pfc.as_mut().expect("flow control");
    pfc.responses = vec![response; network.ports.len()];
}

/// Priority flow control for `priorities` at every port of every switch, with the same `ingress` buffer and the longest pause
/// time; pause frames act when they arrive.
pub(crate) fn lossless(network: &mut Network, priorities: Vec<u8>, ingress: Ingress) {
    let at_switch = |port: &Port| network.nodes[port.peer.index()].kind == NodeKind::Switch;
    let ingress = network.ports.iter().map(|port| at_switch(port).then_some(ingress)).collect();
    network.pfc = Some(Pfc::new(priorities, ingress));
}

/// A scheme at its defaults in each priority of a network. Tests of the engine take it as a member of `Mixed`, whatever the scheme: an
/// engine of a type's own is a tenth of a minute to compile.
pub(crate) fn defaults(scheme: &str, network: &Network) -> Vec<SchemeConfig> {
    vec![SchemeConfig::with_defaults(scheme).expect("a scheme"); network.priorities.len()]
}

/// The network with all that these schemes need of switches, each for its priority.
pub(crate) fn suited(network: &Network, configs: &[SchemeConfig]) -> Network {
    let mut network = network.clone();
    let needs = network.priorities.iter().zip(configs).filter(|(_, config)| config.needs_trimming());
    network.trimmed = needs.map(|(&priority, _)| priority).collect();
    network.credit_limit = configs.iter().find_map(SchemeConfig::credit_limit);
    network
}
