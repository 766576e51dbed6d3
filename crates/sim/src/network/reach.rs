//! The reach of flow control over each line of a network.

use std::collections::BTreeMap;

use penstock_schemes::{BitRate, Duration};
use penstock_switch::flow_control::pfc::{LARGEST_SIGNAL, Reach};

use crate::network::{Network, NodeId, NodeKind, PortEvent};

impl Network {
    /// For each port that leads to a switch the reach of flow control over its line, for the buffer of `priority` at its far end. All
    /// frames may have `largest` octets, whatever flows send: a line has the same reach as others of its kind. (Only copies follow
    /// the multicast flows of the priority.) `response` as in [`Pfc`](crate::network::Pfc). Rates that change count as they are
    /// worst.
    #[must_use]
    pub fn reaches(&self, priority: u8, largest: u16, response: &[Duration]) -> Vec<Option<Reach>> {
        let copies = self.copies(priority);
        let mut rates: Vec<(BitRate, BitRate)> = self.ports.iter().map(|port| (port.rate, port.rate)).collect();
        for change in &self.changes {
            if let PortEvent::Rate(rate) = change.event {
                let (lowest, highest) = &mut rates[change.port.index()];
                (*lowest, *highest) = ((*lowest).min(rate), (*highest).max(rate));
            }
        }
        let ends = self.ports.iter().enumerate().map(|(index, port)| ((port.node, port.peer), index));
        let between: BTreeMap<(NodeId, NodeId), usize> = ends.collect();
        // Signals in a flow's own priority go down its path, or up.
        let largest = largest.max(LARGEST_SIGNAL);
        let reach = |port: usize| {
            let own = &self.ports[port];
            let back = *between.get(&(own.peer, own.node))?;
            (self.nodes[own.peer.index()].kind == NodeKind::Switch).then(|| Reach {
                rate: rates[port].1,
                latency: own.latency,
                largest,
                back_rate: rates[back].0,
                back_latency: self.ports[back].latency,
                back_largest: largest,
                response: response.get(port).copied().unwrap_or(Duration::ZERO),
                wire_overhead: self.wire_overhead,
                copies: copies[port],
            })
        };
        (0..self.ports.len()).map(reach).collect()
    }

    /// For each port, the most output queues at its far end that a frame of `priority` joins: 1 but for multicast.
    fn copies(&self, priority: u8) -> Vec<u16> {
        let mut copies = vec![1; self.ports.len()];
        let chosen = self.load_balancing.as_ref().map_or(&[][..], |spread| &spread.hops[..]);
        for (own, root) in self.routes() {
            if !self.joins(self.flows[own.index()].priority, priority) {
                continue;
            }
            for id in self.route_from(root) {
                let hop = &self.hops[id.index()];
                if hop.children > 1 && chosen.binary_search(&id).is_err() {
                    copies[hop.port.index()] = copies[hop.port.index()].max(hop.children);
                }
            }
        }
        copies
    }
}
