//! A network: sources and one receiver around a switch.

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Builder, Excess, Network, PortId, QueueId};

/// Returns `sources` greedy flows to one receiver through one switch: node `sources` receives, the node after it is the
/// switch. All links run at `rate`; the switch's queues hold 150 KB.
#[must_use]
pub fn star(sources: usize, rate: BitRate) -> Network {
    let (receiver, switch) = (sources, sources + 1);
    let mut builder = Builder::new(sources + 1, 1);
    for host in 0..=receiver {
        builder.link(host, switch, rate, Duration::from_us(1), Octets(150_000));
    }
    for source in 0..sources {
        builder.flow(&[source, switch, receiver]).excess = Excess::Wait;
    }
    builder.network.wire_overhead = 24;
    builder.network
}

/// The queue in front of the receiver.
#[must_use]
pub fn bottleneck(network: &Network) -> QueueId {
    network.queue(PortId(network.ports.len() as u32 - 1), 0)
}
