//! Frames that lines lose at random ([`Network::impairments`](crate::Network::impairments)): the far end drops them.

use penstock_schemes::Scheme;
use penstock_switch::Model;
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Arena, FrameKind};

use crate::engine::{Sim, line_of};
use crate::probe::Probe;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A frame that its line has corrupted has reached the far end.
    #[cold]
    pub(crate) fn drop_corrupted(&mut self, index: FrameId) {
        let fabric = &mut self.state.fabric;
        let head = (&fabric.frames as &dyn Arena).head(index);
        if head.hop != self.lost {
            let port = line_of(&self.hops, head, self.feedback).expect("a frame on a line");
            // Its departure may be due, and the next transmission.
            fabric.settle(port);
            self.show_corrupted(port, (0, 0));
            return self.count_corrupted(index);
        }
        // The line has broken since; its slot was kept for this event.
        self.state.fabric.frames.remove(index);
    }

    /// A frame that its line has corrupted is gone.
    pub(crate) fn count_corrupted(&mut self, index: FrameId) {
        let fabric = &mut self.state.fabric;
        let head = (&fabric.frames as &dyn Arena).head(index);
        let port = line_of(&self.hops, head, self.feedback).expect("a frame on a line");
        let class = (head.kind == FrameKind::Data).then_some(head.class);
        fabric.ports[port.index()].ledger.impairments.count(class);
        match head.kind {
            FrameKind::Data => self.state.records[fabric.flow_at(head.hop).index()].impaired += 1,
            _ => self.count_drop(head.hop, head.kind),
        }
        self.state.fabric.frames.remove(index);
    }
}
