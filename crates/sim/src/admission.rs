//! Admission of frames to a queue, where congestion points decide on them (`CongestionPoint::ADMITS`).

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{CongestionPoint, HEADER, PortView, Queue, Scheme, Verdict};

use crate::fabric::{Around, Classes};
use crate::facts::weight_of;
use crate::frame::{FrameId, GONE, Marks};
use crate::port::PortState;

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

/// How a frame goes on: in which class, how long, and whether at all.
pub(crate) struct Admitted {
    pub(crate) class: TrafficClass,
    pub(crate) octets: u16,
    pub(crate) entry: Entry,
}

impl<S: Scheme, const PFC: bool, const POOL: bool> Around<'_, S, PFC, POOL> {
    /// Applies the verdict of a queue's congestion point to a frame that comes to the queue.
    pub(crate) fn admit(&mut self, p: &mut PortState, index: FrameId, from: PortId, admitted: &mut Admitted) {
        match self.verdict(p, index, admitted.class, admitted.octets, from) {
            Verdict::Accept => {}
            Verdict::Drop => admitted.entry = Entry::Dropped,
            Verdict::Move(priority) => {
                let other = self.classes.get(usize::from(priority)).filter(|&&class| class != GONE);
                admitted.class = *other.expect("frames are moved to priorities that the network has");
            }
            Verdict::Trim => {
                let control = TrafficClass(p.queues.len() as u8 - 1);
                self.trim(p, index, control);
                *admitted = Admitted { class: control, octets: HEADER, entry: Entry::Trimmed };
            }
        }
    }

    /// The verdict of a queue's congestion point on a frame that comes to the queue.
    fn verdict(&mut self, p: &PortState, index: FrameId, class: TrafficClass, octets: u16, from: PortId) -> Verdict {
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

    /// Of a frame that has come to a queue its header alone goes on, in class `control`.
    fn trim(&mut self, p: &mut PortState, index: FrameId, control: TrafficClass) {
        let slot = self.frames.get_mut(index);
        let q = &mut p.queues[slot.class.index()];
        q.arrived += 1;
        q.dropped += 1;
        slot.marks = slot.marks.with(Marks::TRIMMED);
        (slot.class, slot.octets) = (control, HEADER);
    }
}
