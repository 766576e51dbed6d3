//! The arena of frames. A frame stays in its slot from source to destination; a queue is a chain through slots.

use penstock_schemes::{CongestionPoint, FlowKey, Frame, Instant, Octets, Scheme};

/// No frame, no entity.
pub(crate) const NONE: u32 = u32::MAX;

/// The class of no frame.
pub(crate) const GONE: u8 = u8::MAX;

/// What a frame carries, and which way it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<S: Scheme> {
    /// Data, down its flow's tree.
    Data(S::Tag),
    /// A signal for the destinations, down the tree. `origin` is the queue or [`NONE`].
    Down(S::Signal),
    /// A signal for the source, up the tree.
    Up { signal: S::Signal, origin: u32 },
    /// A signal for the previous hop: up the tree over one link.
    Back(S::Signal),
    /// An acknowledgement of notification point `np`, up the tree. `lost` are the octets that are known there to be lost,
    /// modulo 2^32; those that arrived are in the slot's `seq`. No variant of a scheme without acknowledgements, and then
    /// without room in the slot.
    Ack { np: u32, lost: u32, echo: S::Echo },
}

/// What is special about a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Nothing.
    pub(crate) const NONE: Self = Self(0);
    /// Its flow ends with it.
    pub(crate) const LAST: Self = Self(1);
    /// A queue has cut it down to its header.
    pub(crate) const TRIMMED: Self = Self(2);

    /// [`LAST`](Self::LAST) or [`NONE`](Self::NONE).
    #[inline(always)]
    pub(crate) fn last(last: bool) -> Self {
        Self(u8::from(last))
    }

    #[inline(always)]
    pub(crate) fn contains(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    pub(crate) fn with(self, mark: Self) -> Self {
        Self(self.0 | mark.0)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Slot<S: Scheme> {
    /// The next slot of the same queue.
    pub(crate) next: u32,
    pub(crate) flow: u32,
    /// The hop that it is on; going up, the hop whose `back` port it takes.
    pub(crate) hop: u32,
    pub(crate) octets: u16,
    /// Which queue of each port it joins; [`GONE`] if the slot holds no frame, or one that a broken link has lost.
    pub(crate) class: u8,
    pub(crate) marks: Marks,
    /// When it was released; of an acknowledgement, when the frame that it answers was.
    pub(crate) sent_at: u64,
    /// Octets that its flow had sent before it; of an acknowledgement, the octets that have arrived.
    pub(crate) seq: u64,
    /// While on a line: when it reaches the far end. Else 0.
    pub(crate) at: u64,
    pub(crate) payload: Payload<S>,
}

/// As what a frame is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A data frame of its flow.
    Data,
    /// The header of a trimmed one.
    Header,
    Signal,
    Ack,
}

impl<S: Scheme> Slot<S> {
    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        match self.payload {
            Payload::Data(_) if S::Cp::ADMITS && self.marks.contains(Marks::TRIMMED) => Kind::Header,
            Payload::Data(_) => Kind::Data,
            Payload::Down(_) | Payload::Up { .. } | Payload::Back(_) => Kind::Signal,
            Payload::Ack { .. } => Kind::Ack,
        }
    }

    /// The data frame as a scheme sees it; `None` for a signal.
    #[inline(always)]
    pub(crate) fn data(&mut self, weight: u16) -> Option<Frame<'_, S::Tag>> {
        let Payload::Data(tag) = &mut self.payload else { return None };
        Some(Frame {
            flow: FlowKey(self.flow),
            octets: self.octets,
            weight,
            seq: Octets(self.seq),
            last: self.marks.contains(Marks::LAST),
            trimmed: self.marks.contains(Marks::TRIMMED),
            sent_at: Instant(self.sent_at),
            tag,
        })
    }
}

/// All frames in the network.
#[derive(Debug)]
pub(crate) struct Frames<S: Scheme> {
    slots: Vec<Slot<S>>,
    free: u32,
}

impl<S: Scheme> Frames<S> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, slot: Slot<S>) -> u32 {
        if let Some(place) = self.slots.get_mut(self.free as usize) {
            let index = self.free;
            self.free = place.next;
            *place = slot;
            index
        } else {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        }
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.next = self.free;
        slot.class = GONE;
        self.free = index;
    }

    /// Places for frames, taken or free.
    pub(crate) fn held(&self) -> usize {
        self.slots.len()
    }

    /// Every frame.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Slot<S>)> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.class != GONE)
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> &Slot<S> {
        &self.slots[index as usize]
    }

    /// The slot of a frame that is needed for its side effects alone: the compiler may leave the look-up out.
    #[inline(always)]
    pub(crate) fn peek_mut(&mut self, index: u32) -> Option<&mut Slot<S>> {
        self.slots.get_mut(index as usize)
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut Slot<S> {
        &mut self.slots[index as usize]
    }
}

/// A chain of frames, first in, first out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    /// Appends a frame whose `next` is [`NONE`].
    #[inline(always)]
    pub(crate) fn push<S: Scheme>(&mut self, frames: &mut Frames<S>, index: u32) {
        if self.head == NONE {
            self.head = index;
        } else {
            frames.get_mut(self.tail).next = index;
        }
        self.tail = index;
    }

    /// Takes the first frame. The chain must not be empty.
    #[inline(always)]
    pub(crate) fn pop<S: Scheme>(&mut self, frames: &Frames<S>) -> u32 {
        let index = self.head;
        self.head = frames.get(index).next;
        index
    }

    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The slots of the chain in order.
    pub(crate) fn iter<S: Scheme>(self, frames: &Frames<S>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors((self.head != NONE).then_some(self.head), move |&i| {
            let next = frames.get(i).next;
            (next != NONE).then_some(next)
        })
    }
}
