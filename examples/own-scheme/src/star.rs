//! A network: sources and one receiver around a switch.

use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;

/// Returns `sources` greedy flows to one receiver through one switch: node `sources` receives, the node after it is the
/// switch. All links run at `rate`; the switch's queues hold 150 KB.
#[must_use]
pub fn star(sources: usize, rate: BitRate) -> Network {
    let (receiver, switch) = (sources, sources + 1);
    let node = |i| Node {
        kind: if i == switch { NodeKind::Switch } else { NodeKind::Host },
        station: 0x0200_0000_0000 + i as u64,
    };
    // Each host has two ports here: the one that it sends through, and the switch's towards it.
    let port = |from: usize, to: usize, number: usize| Port {
        node: NodeId(from as u32),
        peer: NodeId(to as u32),
        number: number as u16,
        rate,
        latency: Duration::from_us(1),
        capacity: if from == switch { Capacity::Octets(Octets(150_000)) } else { Capacity::Arbiter },
        congestion_points: from == switch,
    };
    let ports = (0..=sources).flat_map(|host| [port(host, switch, 0), port(switch, host, host)]).collect();
    let up = |host: usize| PortId(2 * host as u32);
    let down = |host: usize| PortId(2 * host as u32 + 1);
    let hops = (0..sources).flat_map(|source| {
        let first = HopId(2 * source as u32);
        let second = HopId(first.0 + 1);
        [
            Hop { port: up(source), back: down(source), parent: None, first_child: second, children: 1 },
            Hop {
                port: down(receiver),
                back: up(receiver),
                parent: Some(first),
                first_child: HopId(first.0 + 2),
                children: 0,
            },
        ]
    });
    let flow = |source: usize| Flow {
        root: HopId(2 * source as u32),
        priority: 0,
        frame: 1500,
        weight: 1,
        start: Instant::ZERO,
        stop: None,
        size: None,
        traffic: Traffic::Greedy,
        excess: Excess::Wait,
        reaction_point: Some(RpId(source as u32)),
        transport: None,
    };
    Network {
        nodes: (0..=switch).map(node).collect(),
        ports,
        priorities: vec![0],
        moves: Vec::new(),
        tags: Vec::new(),
        hops: hops.collect(),
        flows: (0..sources).map(flow).collect(),
        processes: Processes::default(),
        dependencies: Vec::new(),
        until_complete: false,
        reaction_points: (0..sources)
            .map(|source| ReactionPointSpec { port: up(source), pacer: Pacer::Ideal })
            .collect(),
        changes: Vec::new(),
        reroutes: Vec::new(),
        wire_overhead: 24,
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
    }
}

/// The queue in front of the receiver.
#[must_use]
pub fn bottleneck(network: &Network) -> QueueId {
    network.queue(PortId(network.ports.len() as u32 - 1), 0)
}
