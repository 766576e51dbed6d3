//! Random networks.

use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use proptest::prelude::*;

/// A random chain of switches with hosts, random traffic, capacities and failures. `finish` checks conservation itself.
pub(crate) fn random_network() -> impl Strategy<Value = Network> {
    let flow = (
        0usize..6,
        0usize..6,
        0u8..3,
        64u16..3000,
        0u8..4,
        0u64..2000,
        prop::option::of(1500u64..100_000),
        any::<bool>(),
    );
    let change = (0u64..4000, 0usize..100, 0u8..3);
    let parts = (
        2usize..5,
        prop::collection::vec(flow, 1..8),
        prop::collection::vec(change, 0..6),
        4000u64..100_000,
        0u64..20_000_000,
        any::<(bool, bool, bool)>(),
    );
    parts.prop_map(|(switches, flows, changes, buffer, latency, (in_service, ideal, host_queues))| {
        let mut b = Builder::new(6, switches);
        let at = |host: usize| 6 + host % switches;
        for host in 0..6 {
            b.link(host, at(host), BitRate(1_000_000_000 + host as u64 * 7), Duration(latency), Octets(buffer));
        }
        for s in 1..switches {
            b.link(5 + s, 6 + s, BitRate(1_000_000_000), Duration(latency / 2), Octets(buffer));
        }
        b.network.priorities = vec![0, 2, 7];
        b.network.in_service_counts = in_service;
        b.network.wire_overhead = if host_queues { 24 } else { 0 };
        if ideal {
            b.network.feedback = Feedback::Ideal(Duration(latency));
        }
        for (from, to, priority, frame, traffic, start, size, controlled) in flows {
            if from == to {
                continue;
            }
            let (a, z) = (at(from), at(to));
            let between: Vec<usize> = if a <= z { (a..=z).collect() } else { (z..=a).rev().collect() };
            let path: Vec<usize> = [from].into_iter().chain(between).chain([to]).collect();
            let flow = b.flow(&path);
            flow.priority = [0, 2, 7][usize::from(priority)];
            flow.frame = frame;
            flow.start = Instant::ZERO + Duration::from_us(start);
            flow.size = size.map(Octets);
            let rate = BitRate(300_000_000);
            (flow.traffic, flow.excess) = match traffic {
                0 => (Traffic::Greedy, Excess::Wait),
                1 => (Traffic::Constant(rate), Excess::Discard),
                2 => (Traffic::Poisson(rate), Excess::Queue(Octets(20_000))),
                _ => (
                    Traffic::OnOff { rate, on: Duration::from_us(50), off: Duration::from_us(30), random: true },
                    Excess::Stall,
                ),
            };
            if !controlled {
                flow.reaction_point = None;
            }
        }
        if host_queues {
            for port in b.network.ports.iter_mut().filter(|p| p.capacity == Capacity::Arbiter) {
                port.capacity = Capacity::Frames(8);
                port.congestion_points = true;
            }
        }
        let ports = b.network.ports.len();
        for (at, port, kind) in changes {
            let event = match kind {
                0 => PortEvent::Rate(BitRate(123_456_789)),
                1 => PortEvent::Down,
                _ => PortEvent::Up,
            };
            b.network.changes.push(Change {
                at: Instant::ZERO + Duration::from_us(at),
                port: PortId((port % ports) as u32),
                event,
            });
        }
        b.network
    })
}
