//! The arena of frames. A frame stays in its slot from source to destination; a queue is a chain through slots.

use alloc::vec::Vec;

use penstock_endpoint::cache::ask_for_start;
use penstock_endpoint::{DestinationId, TrafficClass};
use penstock_schemes::{FlowKey, Frame, HEADER, Instant, Octets, Scheme};

use crate::events::{FrameId, HopId, QueueId};

/// The class of no frame.
pub const GONE: TrafficClass = TrafficClass::NONE;

/// The payload of a frame, and the path that the frame goes.
#[derive(Debug, Clone, Copy)]
pub enum Payload<S: Scheme> {
    /// Data, down its flow's tree.
    Data(S::Tag),
    /// A signal for the destinations, down the tree.
    Down(S::Signal),
    /// A signal for the source, up the tree. `origin` is the queue whose congestion point sent it, or none.
    Up {
        /// The signal.
        signal: S::Signal,
        /// The queue.
        origin: QueueId,
    },
    /// A signal for the previous hop: up the tree over one link.
    Back(S::Signal),
    /// An acknowledgement by destination `from`, up the tree. `lost` are the octets that are known there to be lost,
    /// modulo 2^32; those that arrived are in the slot's `seq`. No variant of a scheme without acknowledgements, and then
    /// without room in the slot.
    Ack {
        /// The destination.
        from: DestinationId,
        /// Octets that are lost.
        lost: u32,
        /// What the destination answers.
        echo: S::Echo,
    },
}

/// The marks of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks(u8);

impl Marks {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Its flow ends with it.
    pub const LAST: Self = Self(1);
    /// A queue has cut it down to its header.
    pub const TRIMMED: Self = Self(2);
    /// It carries an acknowledgement of a transport, and has a separate path: see `transport`.
    pub const ACK: Self = Self(4);
    /// A queue may mark it: ECN-Capable Transport. (RFC 3168, section 5)
    pub const ECN_CAPABLE: Self = Self(8);
    /// A queue has marked it: Congestion Experienced.
    pub const CONGESTION_EXPERIENCED: Self = Self(16);
    /// Its header alone would say nothing to its destination: it is not trimmed.
    pub const WHOLE: Self = Self(32);
    /// The queue that has cut it is the last before its destination.
    pub const AT_LAST_HOP: Self = Self(64);

    /// [`LAST`](Self::LAST) or [`NONE`](Self::NONE).
    #[inline(always)]
    pub fn last(last: bool) -> Self {
        Self(u8::from(last))
    }

    /// Whether it has a mark, or any of several.
    #[inline(always)]
    pub fn contains(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    /// Both marks.
    pub const fn with(self, mark: Self) -> Self {
        Self(self.0 | mark.0)
    }
}

/// A frame.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Slot<S: Scheme> {
    /// The next slot of the same queue.
    pub next: FrameId,
    /// Its flow.
    pub flow: FlowKey,
    /// The hop that it is on; going up, the hop whose `back` port it takes.
    pub hop: HopId,
    /// Its length.
    pub octets: u16,
    /// Which queue of each port it joins; [`GONE`] if the slot holds no frame, or one that a broken link has lost.
    pub class: TrafficClass,
    /// Its marks.
    pub marks: Marks,
    /// When it was released; of an acknowledgement, when the frame that it answers was.
    pub sent_at: Instant,
    /// Octets that its flow had sent before it; of an acknowledgement, the octets that have arrived.
    pub seq: Octets,
    /// Its payload.
    pub payload: Payload<S>,
}

/// The heading under which a frame is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A data frame of its flow.
    Data,
    /// The header of a trimmed one.
    Header,
    /// A signal of a congestion or notification point.
    Signal,
    /// An acknowledgement.
    Ack,
}

impl<S: Scheme> Slot<S> {
    /// The heading under which it is counted.
    #[inline(always)]
    pub fn kind(&self) -> FrameKind {
        match self.payload {
            Payload::Data(_) if self.marks.contains(Marks::ACK) => FrameKind::Ack,
            Payload::Data(_) if self.marks.contains(Marks::TRIMMED) => FrameKind::Header,
            Payload::Data(_) => FrameKind::Data,
            Payload::Down(_) | Payload::Up { .. } | Payload::Back(_) => FrameKind::Signal,
            Payload::Ack { .. } => FrameKind::Ack,
        }
    }

    /// Whether a queue without room may cut it down to its header.
    pub fn can_be_cut(&self) -> bool {
        let whole = Marks::WHOLE.with(Marks::ACK).with(Marks::TRIMMED);
        matches!(self.payload, Payload::Data(_)) && self.octets > HEADER && !self.marks.contains(whole)
    }

    /// The data frame as a scheme sees it; `None` for a signal.
    #[inline(always)]
    pub fn data(&mut self, weight: u16) -> Option<Frame<'_, S::Tag>> {
        let Payload::Data(tag) = &mut self.payload else { return None };
        Some(Frame {
            flow: self.flow,
            octets: self.octets,
            weight,
            seq: self.seq,
            last: self.marks.contains(Marks::LAST),
            trimmed: self.marks.contains(Marks::TRIMMED),
            sent_at: self.sent_at,
            tag,
        })
    }
}

/// The part of a frame that is the same in every scheme.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// See [`Slot`].
    pub next: FrameId,
    /// Its flow.
    pub flow: FlowKey,
    /// See [`Slot`].
    pub hop: HopId,
    /// Its length.
    pub octets: u16,
    /// See [`Slot`].
    pub class: TrafficClass,
    /// See [`Slot::kind`].
    pub kind: FrameKind,
    /// Whether it goes up the tree.
    pub ascends: bool,
}

/// All frames in the network, whatever the scheme: for code that looks at them seldom and is compiled once.
pub trait Arena {
    /// Places for frames, taken or free.
    fn held(&self) -> usize;

    /// The head of a frame.
    fn head(&self, index: FrameId) -> Head;
}

impl dyn Arena + '_ {
    /// Every frame.
    pub fn iter(&self) -> impl Iterator<Item = (FrameId, Head)> {
        let all = (0..self.held() as u32).map(FrameId);
        all.map(|frame| (frame, self.head(frame))).filter(|(_, head)| head.class != GONE)
    }
}

impl<S: Scheme> Arena for Frames<S> {
    fn held(&self) -> usize {
        self.slots.len()
    }

    fn head(&self, index: FrameId) -> Head {
        let slot = self.get(index);
        let &Slot { next, flow, hop, octets, class, .. } = slot;
        let ascends = match slot.payload {
            Payload::Data(_) | Payload::Down(_) => false,
            Payload::Up { .. } | Payload::Back(_) | Payload::Ack { .. } => true,
        };
        Head { next, flow, hop, octets, class, kind: slot.kind(), ascends }
    }
}

/// All frames in the network.
#[derive(Debug)]
pub struct Frames<S: Scheme> {
    slots: Vec<Slot<S>>,
    free: FrameId,
    /// Frames that queues have marked.
    pub marked: u64,
}

impl<S: Scheme> Default for Frames<S> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: FrameId::NONE, marked: 0 }
    }
}

impl<S: Scheme> Frames<S> {
    /// Gives a frame a slot.
    #[inline(always)]
    pub fn insert(&mut self, slot: Slot<S>) -> FrameId {
        if let Some(free) = self.slots.get_mut(self.free.index()) {
            let index = self.free;
            self.free = free.next;
            *free = slot;
            index
        } else {
            self.slots.push(slot);
            FrameId((self.slots.len() - 1) as u32)
        }
    }

    /// A frame is gone: its slot is free.
    #[inline(always)]
    pub fn remove(&mut self, index: FrameId) {
        let slot = &mut self.slots[index.index()];
        slot.next = self.free;
        slot.class = GONE;
        self.free = index;
    }

    /// The frame in a slot.
    #[inline(always)]
    pub fn get(&self, index: FrameId) -> &Slot<S> {
        &self.slots[index.index()]
    }

    /// The slot of a frame that is needed for its side effects alone: the compiler may leave the look-up out.
    #[inline(always)]
    pub fn peek_mut(&mut self, index: FrameId) -> Option<&mut Slot<S>> {
        self.slots.get_mut(index.index())
    }

    /// Asks for the memory of a slot, which is to be read or written soon.
    #[inline(always)]
    pub fn ask(&self, index: FrameId) {
        ask_for_start(&self.slots, index.index());
    }

    /// The same, which may be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, index: FrameId) -> &mut Slot<S> {
        &mut self.slots[index.index()]
    }
}

/// A chain of frames, first in, first out.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    head: FrameId,
    tail: FrameId,
}

impl Chain {
    /// No frame.
    pub const EMPTY: Self = Self { head: FrameId::NONE, tail: FrameId::NONE };

    /// Appends a frame whose `next` is none.
    #[inline(always)]
    pub fn push<S: Scheme>(&mut self, frames: &mut Frames<S>, index: FrameId) {
        if self.head == FrameId::NONE {
            self.head = index;
        } else {
            frames.get_mut(self.tail).next = index;
        }
        self.tail = index;
    }

    /// Takes the first frame. The chain must not be empty.
    #[inline(always)]
    pub fn pop<S: Scheme>(&mut self, frames: &Frames<S>) -> FrameId {
        let index = self.head;
        self.head = frames.get(index).next;
        index
    }

    /// Its first frame, or none.
    #[inline(always)]
    pub fn first(self) -> FrameId {
        self.head
    }

    /// The frame that came last; it may have left.
    #[inline(always)]
    pub fn last(self) -> FrameId {
        self.tail
    }

    /// Whether no frame is in it.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.head == FrameId::NONE
    }

    /// The slots of the chain in order.
    pub fn iter(self, frames: &dyn Arena) -> impl Iterator<Item = FrameId> {
        core::iter::successors((self.head != FrameId::NONE).then_some(self.head), move |&i| {
            let next = frames.head(i).next;
            (next != FrameId::NONE).then_some(next)
        })
    }
}
