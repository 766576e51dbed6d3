//! Convergence: some time after a line has broken, or is whole again, all switches have heard of it, and flows take other routes.
//!
//! The plan of a run computes the routes ([`Network::reroutes`]), and each has its own hops. A frame in flight goes on by the new route from the
//! switch at which that parts from the old one: the steps from the hops before it are those of the new route. So no hop asks for routes.

use penstock_schemes::{Instant, Scheme};
use penstock_switch::Model;
use penstock_switch::events::FrameId;

use crate::engine::Sim;
use crate::network::{FlowId, HopId, Network, PortId, Reroute};
use crate::probe::Probe;
use crate::routing::load_balancing::paths;
use crate::state::event::ChangeId;
use crate::state::hops::{CHOICE, HopEnd};

/// The instants at which flows have new routes, each with the first entry of the list that is not earlier.
pub(crate) fn instants(network: &Network) -> Vec<(Instant, ChangeId)> {
    let of_flows = network.reroutes.iter().map(|reroute| reroute.at);
    let mut instants: Vec<Instant> = of_flows.chain(network.processes.converged.iter().copied()).collect();
    instants.sort_unstable();
    instants.dedup();
    let first = |at: Instant| ChangeId(network.reroutes.partition_point(|reroute| reroute.at < at) as u32);
    instants.into_iter().map(|at| (at, first(at))).collect()
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Flows have new routes, from entry `first` of the list on.
    #[cold]
    pub(crate) fn converge(&mut self, first: ChangeId) {
        // It happens in all parts, and is one event.
        self.housekeeping += u64::from(self.part.as_ref().is_some_and(|part| part.own != 0));
        let now = self.state.fabric.now;
        let moved: Vec<Reroute> =
            self.reroutes[first.index()..].iter().copied().take_while(|reroute| reroute.at == now).collect();
        self.charge(moved.len() as u64);
        for Reroute { flow, root, reverse_path, .. } in moved {
            self.move_flow(flow, root, reverse_path);
        }
        self.converge_dynamic_flows();
    }

    /// Frames of a flow that are sent from now on take another route; signals and acknowledgements go back over the links of the first of
    /// its paths.
    pub(crate) fn move_flow(&mut self, flow: FlowId, root: HopId, reverse_path: Option<HopId>) {
        let destination = self.state.records[flow.index()].first_destination;
        let mut route: Vec<(PortId, HopId)> = Vec::new();
        let mut waiting = vec![root];
        let mut first = None;
        while let Some(hop) = waiting.pop() {
            let own = &self.hops[hop.index()];
            route.push((own.port, hop));
            waiting.extend((0..u32::from(own.children)).rev().map(|i| HopId(own.first_child.0 + i)));
            if own.children == 0 {
                self.end_of_hop[hop.index()] = HopEnd { destination, flow };
                first = first.or(Some(hop));
            }
        }
        let chooses = route.iter().any(|(_, hop)| self.steps[hop.index()].next == CHOICE);
        if chooses && self.load_balancer.as_ref().is_some_and(|load_balancer| load_balancer.disorders()) {
            self.destinations[destination.index()].expect_disorder();
        }
        let old = std::mem::replace(&mut self.state.sources.flow_mut(flow).supply_mut().root, root);
        self.splice(old, root);
        if let Some(leaf) = first {
            self.leaves[destination.index()] = leaf;
        }
        if let Some(reverse_path) = reverse_path
            && let Some(old) = self.state.transports.send_back_over(flow, reverse_path)
        {
            self.splice(old, reverse_path);
        }
        if flow.0 < self.state.static_flows {
            self.routes.move_to(flow, &route);
        }
    }

    /// Frames on the hops that two routes have in common, from `old` and `new` on, go on by the new one.
    fn splice(&mut self, old: HopId, new: HopId) {
        let mut waiting = vec![(old, new)];
        while let Some((old, new)) = waiting.pop() {
            if old == new || self.hops[old.index()].port != self.hops[new.index()].port {
                continue;
            }
            for child in paths(&self.hops, old) {
                waiting.extend(paths(&self.hops, new).map(|own| (child, own)));
            }
            self.steps[old.index()] = self.steps[new.index()];
            self.successors.insert(old, new);
        }
    }

    /// The hop at which a frame is that chooses its path or its turn: of a newer route, if its own one has been replaced.
    pub(crate) fn succeed(&mut self, index: FrameId) {
        if !self.successors.is_empty() {
            let slot = self.state.fabric.frames.get_mut(index);
            slot.hop = self.successors.get(&slot.hop).copied().unwrap_or(slot.hop);
        }
    }
}
