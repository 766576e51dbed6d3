//! Headers that congestion points write as frames leave (`CongestionPoint::STAMPS`): telemetry into data, rates into probes. A switch
//! writes a header before it sends it, so all of them are taken as the transmission starts, whenever the network takes the frame off
//! its queue.

use penstock_endpoint::TrafficClass;
use penstock_schemes::{CongestionPoint, Instant, Scheme};

use crate::datapath::HopContext;
use crate::events::{Events, FrameId};
use crate::model::Model;
use crate::state::frame::Payload;
use crate::state::hop_info::weight_of;
use crate::state::port::PortState;

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// The transmission of a queued frame of `class` and `octets` starts at `at`; its queue still counts it.
    #[inline(always)]
    pub(crate) fn stamp(&mut self, p: &PortState, (class, octets): (TrafficClass, u16), index: FrameId, at: Instant) {
        let Some(slot) = self.frames.peek_mut(index) else { return };
        if let Some(frame) = slot.data(weight_of(self.hop_info, slot.hop)) {
            let q = &p.queues[class.index()];
            let Some(state) = self.cps.get_mut(q.cp.index()) else { return };
            let mut seen = q.seen(p.rate, p.stops::<M>(class));
            seen.len.0 -= u64::from(octets);
            seen.frames -= 1;
            state.cp.on_transmission(at, frame, &seen);
            state.arm(self.events, q.cp);
        } else if let Payload::Down(signal) = &mut slot.payload {
            // A probe is shown to the congestion point of the data that it stands for.
            let Some(hop_info) = self.hop_info.get(slot.hop.index()) else { return };
            let Some(q) = p.queues.get(hop_info.class.index()) else { return };
            let Some(state) = self.cps.get_mut(q.cp.index()) else { return };
            state.cp.on_probe_departure(at, signal, &q.seen(p.rate, p.stops::<M>(hop_info.class)));
            state.arm(self.events, q.cp);
        }
    }
}
