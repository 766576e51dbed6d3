//! Where flows pass: the hop by which the data of a flow leaves a port.

use std::collections::BTreeMap;

use crate::network::{FlowId, HopId, Network, PortId};

/// Where each flow passes, by port.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The first of `entries` of each flow, and the end of the last one's.
    first: Vec<u32>,
    /// Port and hop: those of a flow in the order of ports.
    entries: Vec<(PortId, HopId)>,
    /// The hops by port of flows that have another route since: those of the newest one that passes there.
    moved: BTreeMap<FlowId, BTreeMap<PortId, HopId>>,
}

impl Routes {
    pub(crate) fn new(network: &Network) -> Self {
        let entries = Vec::with_capacity(network.hops.len());
        let mut routes = Self { first: vec![0], entries, moved: BTreeMap::new() };
        for flow in (0..network.flows.len() as u32).map(FlowId) {
            let start = routes.entries.len();
            routes.entries.extend(network.route(flow).map(|hop| (network.hops[hop.index()].port, hop)));
            routes.entries[start..].sort_unstable();
            routes.keep_first_paths(start);
            routes.first.push(routes.entries.len() as u32);
        }
        routes
    }

    /// Of several hops of a flow at one port, keeps the first; the flow's entries are those from `start` on.
    fn keep_first_paths(&mut self, start: usize) {
        let mut own = self.entries.split_off(start);
        own.dedup_by_key(|entry| entry.0);
        self.entries.append(&mut own);
    }

    /// A flow has another route, over these ports; of several paths over one port the first counts.
    pub(crate) fn move_to(&mut self, flow: FlowId, route: &[(PortId, HopId)]) {
        let entries = self.moved.entry(flow).or_default();
        route.iter().rev().for_each(|&(port, hop)| {
            entries.insert(port, hop);
        });
    }

    /// The hop of `flow` that leaves by `port`, if its data passes there; the first where several paths do.
    pub(crate) fn hop(&self, flow: FlowId, port: PortId) -> Option<HopId> {
        if let Some(entries) = self.moved.get(&flow)
            && let Some(&hop) = entries.get(&port)
        {
            return Some(hop);
        }
        let range = self.first[flow.index()] as usize..self.first[flow.index() + 1] as usize;
        let entries = &self.entries[range];
        let entry = entries.binary_search_by_key(&port, |&(port, _)| port).ok()?;
        Some(entries[entry].1)
    }
}
