//! Acknowledgements on their paths from destinations to sources.

use penstock_endpoint::{Acknowledgement, DestinationId};
use penstock_schemes::{FlowKey, Scheme};
use penstock_switch::Model;
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Marks, Payload, Slot};

use crate::engine::Sim;
use crate::network::{HopId, PortId};
use crate::probe::Probe;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The acknowledgement of a data frame of `flow`, which came over hop `over`, leaves destination `from`, as a control frame.
    pub(crate) fn send_ack(&mut self, from: DestinationId, over: HopId, flow: FlowKey, ack: Acknowledgement<S::Echo>) {
        let leaf = if M::FULL && self.spray_acks { over } else { self.leaves[from.index()] };
        let fabric = &mut self.state.fabric;
        let slot = Slot {
            next: FrameId::NONE,
            flow,
            hop: leaf,
            octets: self.destinations[from.index()].acknowledgement_octets(),
            class: fabric.control_class(),
            marks: Marks::NONE,
            sent_at: ack.sent_at,
            seq: ack.arrived,
            payload: Payload::Ack { from, lost: ack.lost, echo: ack.echo },
        };
        let index = fabric.frames.insert(slot);
        self.state.totals.acks_sent += 1;
        self.climb(index, leaf, PortId::NONE);
    }

    /// An acknowledgement has reached its source.
    pub(crate) fn ack_arrives(&mut self, index: FrameId, from: DestinationId, lost: u32, echo: S::Echo) {
        let slot = self.state.fabric.frames.get(index);
        let (flow, ack) = (
            self.state.fabric.flow_at(slot.hop),
            Acknowledgement { sent_at: slot.sent_at, arrived: slot.seq, lost, echo },
        );
        self.state.fabric.frames.remove(index);
        self.state.totals.acks_delivered += 1;
        let index = self.state.records[flow.index()].index_of(from);
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, now, host| sources.on_ack(now, flow, index, ack, host));
        if P::FOLLOWS {
            let rtt = self.state.fabric.now.since(ack.sent_at);
            self.probe.acknowledged(flow, rtt, S::echoes_mark(&ack.echo));
            self.pause_if_asked();
        }
    }
}
