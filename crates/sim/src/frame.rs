//! The arena of frames. A frame stays in its slot from source to destination; a queue is a chain through slots.

use penstock_schemes::{FlowKey, Frame, Instant, Scheme};

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
    /// Its flow ends with it.
    pub(crate) last: bool,
    /// When it was released.
    pub(crate) sent_at: u64,
    /// While on a line: when it reaches the far end. Else 0.
    pub(crate) at: u64,
    pub(crate) payload: Payload<S>,
}

impl<S: Scheme> Slot<S> {
    /// The data frame as a scheme sees it; `None` for a signal.
    #[inline(always)]
    pub(crate) fn data(&mut self, weight: u16) -> Option<Frame<'_, S::Tag>> {
        let Payload::Data(tag) = &mut self.payload else { return None };
        Some(Frame {
            flow: FlowKey(self.flow),
            octets: self.octets,
            weight,
            last: self.last,
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
