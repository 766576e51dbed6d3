//! Small networks for tests.

pub(crate) mod random;
pub(crate) mod trial;

use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;

/// The number of cases: `usual`, or the value of PROPTEST_CASES in the environment.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |n| n.parse().expect("PROPTEST_CASES is a number"))
}

/// Builds networks link by link.
pub(crate) struct Builder {
    pub(crate) network: Network,
}

impl Builder {
    /// `hosts` hosts and `switches` switches without links; hosts come first.
    pub(crate) fn new(hosts: usize, switches: usize) -> Self {
        let node = |i: usize| Node {
            kind: if i < hosts { NodeKind::Host } else { NodeKind::Switch },
            station: 0x0200_0000_0000 + i as u64 + 1,
        };
        Self {
            network: Network {
                nodes: (0..hosts + switches).map(node).collect(),
                ports: Vec::new(),
                priorities: vec![0],
                moves: Vec::new(),
                tags: Vec::new(),
                hops: Vec::new(),
                flows: Vec::new(),
                processes: Processes::default(),
                dependencies: Vec::new(),
                until_complete: false,
                reaction_points: Vec::new(),
                changes: Vec::new(),
                reroutes: Vec::new(),
                wire_overhead: 0,
                in_service_counts: true,
                own_clocks: false,
                ecn_threshold: None,
                marking: Marking::default(),
                trimmed: vec![],
                transmit: Transmit::Pull,
                control_capacity: Octets(64_000),
                feedback: Feedback::InBand,
                pfc: None,
                pools: Vec::new(),
                load_balancing: None,
                ties: Ties::Number,
            },
        }
    }

    /// A link in both directions; the ports of switches have queues of `buffer` and congestion points.
    pub(crate) fn link(&mut self, a: usize, b: usize, rate: BitRate, latency: Duration, buffer: Octets) {
        for (node, peer) in [(a, b), (b, a)] {
            let host = self.network.nodes[node].kind == NodeKind::Host;
            let number = self.network.ports.iter().filter(|p| p.node.index() == node).count() as u16;
            self.network.ports.push(Port {
                node: NodeId(node as u32),
                peer: NodeId(peer as u32),
                number,
                rate,
                latency,
                capacity: if host { Capacity::Arbiter } else { Capacity::Octets(buffer) },
                congestion_points: !host,
            });
        }
    }

    /// The port from `a` to `b`.
    pub(crate) fn port(&self, a: usize, b: usize) -> PortId {
        let found = self.network.ports.iter().position(|p| p.node.index() == a && p.peer.index() == b);
        PortId(found.expect("a link joins the nodes") as u32)
    }

    /// A greedy controlled flow along `path`, from time zero; its other properties can be changed in the returned
    /// entry.
    pub(crate) fn flow(&mut self, path: &[usize]) -> &mut Flow {
        let first = self.network.hops.len() as u32;
        for (i, pair) in path.windows(2).enumerate() {
            let i = i as u32;
            let leaf = i as usize + 2 == path.len();
            let hop = Hop {
                port: self.port(pair[0], pair[1]),
                back: self.port(pair[1], pair[0]),
                parent: (i > 0).then(|| HopId(first + i - 1)),
                first_child: HopId(first + i + 1),
                children: u16::from(!leaf),
            };
            self.network.hops.push(hop);
        }
        let rp = RpId(self.network.reaction_points.len() as u32);
        let port = self.network.hops[first as usize].port;
        self.network.reaction_points.push(ReactionPointSpec { port, pacer: Pacer::Ideal });
        self.network.flows.push(Flow {
            root: HopId(first),
            priority: 0,
            frame: 1500,
            weight: 1,
            start: Instant::ZERO,
            stop: None,
            size: None,
            traffic: Traffic::Greedy,
            excess: Excess::Stall,
            reaction_point: Some(rp),
            transport: None,
        });
        self.network.flows.last_mut().expect("just pushed")
    }
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
    network.pfc = Some(Pfc { priorities, ingress, quanta: u16::MAX, responses: Vec::new(), watchdog: None });
}
