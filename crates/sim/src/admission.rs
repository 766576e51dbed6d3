//! Admission of frames to a queue, where congestion points decide on them (`CongestionPoint::ADMITS`), and the trimming of those that
//! find no room.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{CongestionPoint, Fate, HEADER, PortView, Queue, Scheme, Verdict};

use crate::fabric::{Around, Arrival, Classes, Fabric, Outbox, Sender};
use crate::state::frame::{FrameId, GONE, Marks};
use crate::state::hop_info::weight_of;
use crate::state::port::{DOWN, DRAINS, PortState};

/// The outcome of a frame's arrival at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It is in a queue of the port, or on the line.
    Queued,
    /// Its header alone is.
    Trimmed,
    /// Its header alone went on, and found no room.
    TrimmedInVain,
    /// It is gone.
    Dropped,
    /// It finds no room in the queue of this class, is to be cut down to its header, and nothing has happened.
    Cut(TrafficClass),
    /// It is not known yet whether it finds memory, and nothing has happened.
    Unsure,
}

/// A port with all its queues, for a congestion point.
struct Queues<'a, const PFC: bool> {
    p: &'a PortState,
    classes: &'a Classes,
}

impl<const PFC: bool> PortView for Queues<'_, PFC> {
    fn queue(&self, priority: u8) -> Option<Queue> {
        let class = *self.classes.get(usize::from(priority)).filter(|&&class| class != GONE)?;
        Some(self.p.queues[class.index()].seen(self.p.rate, self.p.stops::<PFC>(class)))
    }
}

impl<S: Scheme, const PFC: bool, const POOL: bool> Around<'_, S, PFC, POOL> {
    /// The class in which a frame that comes to a queue goes on, by the verdict of the queue's congestion point; `None` if it does not.
    pub(crate) fn admit(&mut self, p: &PortState, arrival: Arrival) -> Option<TrafficClass> {
        match self.verdict(p, arrival) {
            Verdict::Accept => Some(arrival.class),
            Verdict::Drop => None,
            Verdict::Move(priority) => {
                let other = self.classes.get(usize::from(priority)).filter(|&&class| class != GONE);
                Some(*other.expect("frames are moved to priorities that the network has"))
            }
        }
    }

    /// The verdict of a queue's congestion point on a frame that comes to the queue.
    fn verdict(&mut self, p: &PortState, arrival: Arrival) -> Verdict {
        let Arrival { index, class, octets, from } = arrival;
        let q = &p.queues[class.index()];
        let fits = self.fits(q, self.counter(from, class), octets)
            && !(PFC && p.is_special() && !self.pauses.pool_has_room((p.index, class, from), octets, q.len));
        let port = Queues::<PFC> { p, classes: self.classes };
        let seen = q.seen(p.rate, p.stops::<PFC>(class));
        let Some(state) = self.cps.get_mut(q.cp.index()) else { return Verdict::Accept };
        let slot = self.frames.get_mut(index);
        let weight = weight_of(self.facts, slot.hop);
        let Some(frame) = slot.data(weight) else { return Verdict::Accept };
        let verdict = state.cp.admit(self.now, frame, fits, &seen, &port, &mut state.stream);
        state.moved += u64::from(matches!(verdict, Verdict::Move(_)));
        state.arm(self.events, q.cp);
        verdict
    }

    /// Whether a frame that finds no room in the queue of a port and class is cut down to its header there.
    #[cold]
    pub(crate) fn is_cut(&self, index: FrameId, (port, class): (PortId, TrafficClass), attention: u8) -> bool {
        let drains = attention & DOWN != 0 || (attention & DRAINS != 0 && self.pauses.drains(port, class));
        !drains && self.pauses.trimmed & class.bit() != 0 && self.frames.get(index).can_be_cut()
    }
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// Cuts a frame that finds no room in its queue at a port down to its header, which comes in its place. To the queue's congestion
    /// point it is dropped.
    pub(crate) fn cut(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Arrival {
        let Arrival { index, class, .. } = arrival;
        let header = Arrival { class: self.control_class(), octets: HEADER, ..arrival };
        let p = &mut self.ports[port.index()];
        let (rate, stopped) = (p.rate, p.stops::<PFC>(class));
        let q = &mut p.queues[class.index()];
        q.arrived += 1;
        q.dropped += 1;
        let slot = self.frames.get_mut(index);
        if let Some(state) = self.cps.get_mut(q.cp.index())
            && let Some(frame) = slot.data(weight_of(&self.facts, slot.hop))
        {
            let seen = q.seen(rate, stopped);
            state.cp.on_arrival(self.now, frame, Fate::Dropped, &seen, &mut state.stream, &mut Sender(out));
            state.arm(&mut self.events, q.cp);
        }
        slot.marks = slot.marks.with(Marks::TRIMMED);
        (slot.class, slot.octets) = (header.class, header.octets);
        header
    }
}
