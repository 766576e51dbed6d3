//! Convergence: some time after a line has broken, or is whole again, all switches have heard of it, and flows take other routes.
//!
//! The plan of a run computes the routes ([`Network::reroutes`]), and each has its own hops. So a frame keeps to the route that it
//! was sent by, which no later one changes, and the path to a switch that has not heard yet costs no hop anything.

use penstock_schemes::{Instant, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::network::{FlowId, HopId, Network, PortId, Reroute};
use crate::probe::Probe;
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
        self.state.sources.flow_mut(flow).supply_mut().root = root;
        if let Some(leaf) = first {
            self.leaves[destination.index()] = leaf;
        }
        if let Some(reverse_path) = reverse_path {
            self.state.transports.send_back_over(flow, reverse_path);
        }
        if flow.0 < self.state.static_flows {
            self.routes.move_to(flow, &route);
        }
    }
}
