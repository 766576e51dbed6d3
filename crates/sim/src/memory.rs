//! Whether a frame that comes has room: in its queue, or the ingress buffer that bounds it instead, and in the queue's pool. See
//! [`crate::pool`].

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{CongestionPoint, Scheme};

use crate::admission::Entry;
use crate::fabric::{Around, Arrival, Fabric, Outbox};
use crate::pool::Pools;
use crate::state::event::CounterId;
use crate::state::frame::FrameId;
use crate::state::port::{DOWN, DRAINS, Ledger, QueueState};

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
