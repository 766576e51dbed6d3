//! Admission of frames to a queue, where congestion points decide on them (`CongestionPoint::ADMITS`), and the trimming of those that
//! find no room.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{CongestionPoint, Fate, HEADER, PortView, Queue, Scheme, Verdict};

use crate::datapath::{Around, Arrival, Classes, Fabric, Outbox, Sender};
use crate::flow_control::pool::Pools;
use crate::state::event::CounterId;
use crate::state::frame::{FrameId, GONE, Marks};
use crate::state::hop_info::weight_of;
use crate::state::port::{DOWN, DRAINS, Ledger, PortState, QueueState};

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

/// The answer of a queue's pool to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It has room, or there is no pool.
    Free,
    /// The frame has its memory.
    Taken,
    /// It has none.
    Refused,
    /// It has not been asked.
    Unknown,
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// The rest of [`enqueue`](Self::enqueue) for a frame that is not certain to get memory, or is left as its header.
    #[cold]
    pub(crate) fn enqueue_further(
        &mut self,
        entry: Entry,
        port: PortId,
        arrival: Arrival,
        out: &mut Outbox<S>,
    ) -> Entry {
        let entry = match entry {
            Entry::Unsure => self.enqueue_in_settled_pool(port, arrival, out),
            known => known,
        };
        let Entry::Cut(class) = entry else { return entry };
        let header = self.cut(port, Arrival { class, ..arrival }, out);
        match self.enqueue_in_settled_pool(port, header, out) {
            Entry::Dropped => Entry::TrimmedInVain,
            _ => Entry::Trimmed,
        }
    }

    /// [`Fabric::enqueue`], when all ports that share memory with the queue have been settled.
    #[cold]
    pub(crate) fn enqueue_in_settled_pool(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Entry {
        let Arrival { class, octets, from, .. } = arrival;
        let mut memory = Memory::Free;
        if let Some(pools) = self.pauses.pools.as_deref() {
            let claim = pools.claim((port, class, from), octets, self.queue(self.queue_at(port, class)).len);
            let mut place = 0;
            while let Some(neighbour) = self.pauses.port_of_pool(claim, place) {
                if !self.port(neighbour).watched() {
                    self.settle(neighbour);
                }
                place += 1;
            }
            // Where congestion points decide on frames, the pool is asked after that.
            let refuses = |pools: &Pools| !S::Cp::ADMITS && !pools.has_room(claim);
            if self.pauses.pools.as_deref().is_some_and(refuses) {
                memory = Memory::Refused;
            }
        }
        let (p, mut around) = self.at(port);
        around.enqueue(p, arrival, memory, out)
    }
}

impl<S: Scheme, const PFC: bool, const POOL: bool> Around<'_, S, PFC, POOL> {
    /// Whether a queue's pool gives a frame, with which the queue is `len` octets long, its memory at once; else it may have room
    /// nevertheless. The port is settled.
    #[inline(always)]
    pub(crate) fn takes_memory(&mut self, (port, class): (PortId, TrafficClass), octets: u16, len: u64) -> bool {
        let pools = self.pauses.pools.as_deref_mut();
        pools.is_some_and(|pools| pools.takes_surely(self.now, port, class, octets, len))
    }

    /// Whether a frame of so many octets that has room in its queue of `len` is refused: the queue's pool has no memory for it, or the
    /// watchdog drains the queue, or the line is broken. `at` is the queue's port and class, and the line that the frame came over.
    #[inline(always)]
    pub(crate) fn refuses(
        &mut self,
        at: (PortId, TrafficClass, PortId),
        (octets, len): (u16, u64),
        attention: u8,
        memory: Memory,
    ) -> bool {
        if attention & DOWN != 0 {
            return true;
        }
        if memory == Memory::Refused || S::Cp::ADMITS {
            let pools = self.pauses.pools.as_deref_mut();
            if pools.is_some_and(|pools| !pools.admits(pools.claim(at, octets, len))) {
                return true;
            }
        }
        attention & DRAINS != 0 && self.pauses.drops_at(at.0, at.1)
    }

    /// The ingress counter of frames of `class` that come over the line of port `from`, if anything counts them.
    #[inline(always)]
    pub(crate) fn counter(&self, from: PortId, class: TrafficClass) -> CounterId {
        if PFC { self.pauses.counter(from, class) } else { CounterId::NONE }
    }

    /// Whether a frame has room in the queue, or in the ingress buffer that bounds it instead.
    #[inline(always)]
    pub(crate) fn fits(&self, q: &QueueState, counter: CounterId, octets: u16) -> bool {
        if PFC && counter != CounterId::NONE {
            self.pauses.has_room(counter, octets)
        } else {
            let len = q.len + u64::from(octets);
            len <= u64::from(q.plain_len) || q.has_room_beyond(len)
        }
    }

    /// The same for frame `index`, which is marked where it finds room in a queue that is longer with it than `above`.
    #[inline(always)]
    pub(crate) fn takes_in(
        &mut self,
        (q, ledger): (&QueueState, &mut Ledger),
        counter: CounterId,
        (index, class): (FrameId, TrafficClass),
        octets: u16,
        above: u32,
    ) -> bool {
        let len = q.len + u64::from(octets);
        if !(PFC && counter != CounterId::NONE) && len <= u64::from(q.plain_len) {
            return true;
        }
        let fits = self.fits(q, counter, octets);
        if fits && len > u64::from(above) {
            self.frames.mark(index, ledger, class);
        }
        fits
    }
}
