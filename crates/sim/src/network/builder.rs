//! Networks link by link and flow by flow.

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_switch::config::{Capacity, Node, NodeKind, Port};
use penstock_switch::events::{HopId, NodeId};

use crate::network::{Flow, Hop, Network, Pacer, PortId, ReactionPointSpec, RpId};

/// Builds a [`Network`]: nodes, then links, then flows over them.
///
/// ```
/// use penstock_schemes::{BitRate, Duration, Octets};
/// use penstock_sim::network::Builder;
///
/// // Host 0 sends to host 1 through switch 2.
/// let mut builder = Builder::new(2, 1);
/// let (rate, delay) = (BitRate::from_gbps(10), Duration::from_us(1));
/// builder.link(0, 2, rate, delay, Octets(150_000));
/// builder.link(1, 2, rate, delay, Octets(150_000));
/// builder.flow(&[0, 2, 1]).size = Some(Octets(1_000_000));
/// builder.network.wire_overhead = 24;
/// assert_eq!(builder.network.hops.len(), 2);
/// ```
#[derive(Debug)]
pub struct Builder {
    /// The network as far as it is built. What the builder has no method for is set here.
    pub network: Network,
}

impl Builder {
    /// `hosts` hosts and `switches` switches without links; hosts come first.
    #[must_use]
    pub fn new(hosts: usize, switches: usize) -> Self {
        let kind = |node| if node < hosts { NodeKind::Host } else { NodeKind::Switch };
        let node = |node| Node::new(kind(node), 0x0200_0000_0001 + node as u64);
        Self { network: Network::new((0..hosts + switches).map(node).collect()) }
    }

    /// A link in both directions. Ports of hosts have no queue; those of switches have queues of `buffer`, with congestion points.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn link(&mut self, a: usize, b: usize, rate: BitRate, latency: Duration, buffer: Octets) {
        for (node, peer) in [(a, b), (b, a)] {
            let mut port = Port::new(NodeId(node as u32), NodeId(peer as u32), rate, latency);
            port.number = self.network.ports.iter().filter(|p| p.node.index() == node).count() as u16;
            if self.network.nodes[node].kind == NodeKind::Switch {
                (port.capacity, port.congestion_points) = (Capacity::Octets(buffer), true);
            }
            self.network.ports.push(port);
        }
    }

    /// The port from `a` to `b`.
    ///
    /// # Panics
    /// If no link joins them.
    #[must_use]
    pub fn port(&self, a: usize, b: usize) -> PortId {
        let found = self.network.ports.iter().position(|p| p.node.index() == a && p.peer.index() == b);
        PortId(found.expect("a link joins the nodes") as u32)
    }

    /// A flow as [`Flow::new`] makes it along `path`, with a rate limiter. The rest of it can be changed in the returned entry.
    ///
    /// # Panics
    /// If no link joins two neighbours of `path`, or it has fewer than two.
    pub fn flow(&mut self, path: &[usize]) -> &mut Flow {
        let first = self.network.hops.len() as u32;
        for (i, pair) in (0..).zip(path.windows(2)) {
            let hop = Hop {
                port: self.port(pair[0], pair[1]),
                back: self.port(pair[1], pair[0]),
                parent: (i > 0).then(|| HopId(first + i - 1)),
                first_child: HopId(first + i + 1),
                children: u16::from(i as usize + 2 < path.len()),
            };
            self.network.hops.push(hop);
        }
        let mut flow = Flow::new(HopId(first));
        flow.reaction_point = Some(RpId(self.network.reaction_points.len() as u32));
        let port = self.network.hops[first as usize].port;
        self.network.reaction_points.push(ReactionPointSpec { port, pacer: Pacer::Ideal });
        self.network.flows.push(flow);
        self.network.flows.last_mut().expect("just pushed")
    }
}
