//! Marks of congestion on frames, as they join a queue or as they leave it: by the network's threshold or WRED, and by congestion
//! points (`CongestionPoint::MARKS`). Ports that mark by all their queues or at departure take the longer way.

use penstock_endpoint::TrafficClass;
use penstock_schemes::{CongestionPoint, Instant, Octets, Scheme};

use crate::datapath::{Arrival, HopContext};
use crate::events::{Events, FrameId};
use crate::model::Model;
use crate::state::frame::{Frames, Marks};
use crate::state::hop_info::weight_of;
use crate::state::port::{IMPAIRED, Ledger, MARKS_AT_DEPARTURE, PortState, SHAPED};

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// A frame leaves for a line that is captured or loses frames, is marked as it leaves, or may have a shaper. Returns whether the line
    /// corrupts it.
    #[inline(never)]
    pub(crate) fn look_at_start(mut self, p: &mut PortState, class: TrafficClass, index: FrameId, at: Instant) -> bool {
        if p.attention & MARKS_AT_DEPARTURE != 0 {
            if self.can_be_marked(index) && p.is_to_mark(class) {
                self.frames.mark(index, &mut p.ledger, class);
            }
            self.ask_for_mark(p, class, index, at);
        }
        if p.attention & SHAPED != 0 {
            self.charge_shaper(p, class, index, at);
        }
        p.attention & IMPAIRED != 0 && Self::corrupts(self.frames, p, index, at)
    }

    /// The congestion point of a queue may mark a frame.
    #[inline(always)]
    pub(crate) fn ask_for_mark(&mut self, p: &mut PortState, class: TrafficClass, index: FrameId, at: Instant) {
        if !S::Cp::MARKS {
            return;
        }
        if let Some(state) = self.cps.get_mut(p.queues[class.index()].cp.index())
            && let Some(slot) = self.frames.peek_mut(index)
            && let Some(frame) = slot.data(weight_of(self.hop_info, slot.hop))
        {
            let octets = frame.octets;
            if state.cp.mark(at, frame, Octets(p.len_to_mark(class)), &mut state.stream) {
                p.ledger.mark(class, octets);
            }
        }
    }

    /// A frame has joined a queue of a port that marks by the length of all its queues.
    #[inline(never)]
    pub(crate) fn mark_as_it_comes(self, p: &mut PortState, class: TrafficClass, index: FrameId) {
        if self.can_be_marked(index) && p.is_to_mark(class) {
            self.frames.mark(index, &mut p.ledger, class);
        }
    }

    /// Whether a frame is that of a transport that uses ECN.
    fn can_be_marked(&self, index: FrameId) -> bool {
        self.frames.get(index).marks.contains(Marks::ECN_CAPABLE)
    }

    /// Whether WRED drops a frame that has room in its queue.
    #[cold]
    pub(crate) fn drops_early(&self, p: &mut PortState, arrival: Arrival) -> bool {
        let Arrival { index, class, octets, .. } = arrival;
        let len = p.len_to_mark(class) + u64::from(octets);
        let markable = self.can_be_marked(index);
        p.ledger.early.get_mut(class.index()).is_some_and(|own| own.drops(len, markable))
    }

    /// WRED may mark a frame that joins a queue, which is `len` octets long with it.
    #[cold]
    pub(crate) fn mark_early(&mut self, ledger: &mut Ledger, (class, len): (TrafficClass, u64), index: FrameId) {
        let early = ledger.early.get_mut(class.index()).filter(|_| self.can_be_marked(index));
        if early.is_some_and(|own| own.marks(len)) {
            self.frames.mark(index, ledger, class);
        }
    }
}

impl<S: Scheme> Frames<S> {
    /// Marks a frame, if it may be marked, and counts it for its queue.
    #[cold]
    pub(crate) fn mark(&mut self, index: FrameId, ledger: &mut Ledger, class: TrafficClass) {
        let slot = self.get_mut(index);
        if slot.marks.contains(Marks::ECN_CAPABLE) {
            slot.marks = slot.marks.with(Marks::CONGESTION_EXPERIENCED);
            ledger.mark(class, slot.octets);
            self.marked += 1;
        }
    }
}
