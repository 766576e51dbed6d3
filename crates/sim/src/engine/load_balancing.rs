//! The choice of a path for a frame, where its switch has one.

use penstock_schemes::Scheme;
use penstock_switch::Model;
use penstock_switch::datapath::Arrival;
use penstock_switch::events::FrameId;

use crate::engine::Sim;
use crate::hosts::entropy::Entropy;
use crate::network::{HopId, PortId};
use crate::probe::Probe;
use crate::routing::load_balancing::{OpenPorts, paths};

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A frame has come to a switch that chooses its path.
    #[inline(never)]
    pub(crate) fn choose(&mut self, index: FrameId) {
        self.succeed(index);
        let slot = self.state.fabric.frames.get(index);
        let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
        let from: PortId = self.hops[slot.hop.index()].port;
        let next = self.path_of(index);
        self.state.fabric.frames.get_mut(index).hop = next;
        self.forward(self.hops[next.index()].port, flow, Arrival { index, class, octets, from });
    }

    /// The hop that a switch chooses for a frame.
    pub(crate) fn path_of(&mut self, index: FrameId) -> HopId {
        let slot = self.state.fabric.frames.get(index);
        let (hop, flow) = (slot.hop, slot.flow);
        let entropy = self.state.transports.entropy(index);
        let rest = entropy.map_or(0, |entropy| entropy.rest);
        let load_balancer = self.load_balancer.as_mut().expect("steps lead to choices in networks with choices");
        if let Some(entropy) = entropy.filter(|_| load_balancer.goes_by_numbers()) {
            let rest = rest / self.hops[hop.index()].children;
            self.state.transports.set_entropy(index, Some(Entropy { rest, ..entropy }));
        }
        let fabric = &mut self.state.fabric;
        load_balancer.goes_on(fabric.now, &OpenPorts::new(&fabric.ports, &self.hops, hop), hop).unwrap_or_else(|| {
            if load_balancer.looks_at_queues() {
                paths(&self.hops, hop).for_each(|path| fabric.settle(self.hops[path.index()].port));
            }
            load_balancer.choose(&OpenPorts::new(&fabric.ports, &self.hops, hop), hop, flow, rest)
        })
    }
}
