//! The kinds of events, packed into 32 bits: five for the kind, the rest for an index; and their order at one instant.

use crate::event_queue::{EventQueue, Lane, NO_LANE};

/// What happens, and to which entity. Events of one instant happen in the order of this list, those of a kind in the order of
/// their entities: never in the order in which they were put into the queue.
///
/// A sample shows links and flows as they are from its instant on, and frames as they were before it, as the end of a run and
/// the bounds of a window do. Frames that arrive are known when a limiter releases one; timers expire after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// This entry of the list of changes is due.
    Change(u32),
    /// This flow starts.
    Start(u32),
    /// This flow stops.
    Stop(u32),
    /// The probe samples.
    Sample,
    /// A transmission on the line of this watched port ends.
    LineFree(u32),
    /// The frame in this slot reaches the far end of the line that it is on.
    Deliver(u32),
    /// This pause frame reaches the far end of its line.
    Pause(u32),
    /// A signal outside of the network (its frame's slot) reaches its source or destinations.
    Ideal(u32),
    /// A stop of a queue of this port begins or runs out.
    Stopping(u32),
    /// The pause frame for this ingress counter is due again.
    Refresh(u32),
    /// This flow's generator is to make what is due. Housekeeping: it changes nothing, and counts as no event.
    Generate(u32),
    /// This limiter may release a frame.
    Release(u32),
    /// The line of this host port is free for the next limiter in turn.
    NicFree(u32),
    /// The timer of this congestion point.
    CpTimer(u32),
    /// The timer of this notification point.
    NpTimer(u32),
    /// The timer of this limiter's reaction point.
    RpTimer(u32),
    /// No acknowledgement of this flow may have come for too long.
    Silence(u32),
}

const INDEX_BITS: u32 = 27;

/// The largest number of entities of a kind.
pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

const DELIVER: u32 = 5;

impl Event {
    #[inline(always)]
    pub(crate) fn pack(self) -> u32 {
        let (kind, index) = match self {
            Self::Change(i) => (0, i),
            Self::Start(i) => (1, i),
            Self::Stop(i) => (2, i),
            Self::Sample => (3, 0),
            Self::LineFree(i) => (4, i),
            Self::Deliver(i) => (DELIVER, i),
            Self::Pause(i) => (6, i),
            Self::Ideal(i) => (7, i),
            Self::Stopping(i) => (8, i),
            Self::Refresh(i) => (9, i),
            Self::Generate(i) => (10, i),
            Self::Release(i) => (11, i),
            Self::NicFree(i) => (12, i),
            Self::CpTimer(i) => (13, i),
            Self::NpTimer(i) => (14, i),
            Self::RpTimer(i) => (15, i),
            Self::Silence(i) => (16, i),
        };
        kind << INDEX_BITS | index
    }

    /// The event's turn among those of one instant, where `entity` has made it.
    #[inline(always)]
    fn rank(self, entity: u32) -> u32 {
        self.pack() & !(MAX_INDEX as u32) | entity
    }

    /// The frame's slot, if this is a delivery.
    #[inline(always)]
    pub(crate) fn delivery(what: u32) -> Option<u32> {
        let slot = what.wrapping_sub(DELIVER << INDEX_BITS);
        (slot <= MAX_INDEX as u32).then_some(slot)
    }

    #[inline(always)]
    pub(crate) fn unpack(what: u32) -> Self {
        let i = what & MAX_INDEX as u32;
        match what >> INDEX_BITS {
            0 => Self::Change(i),
            1 => Self::Start(i),
            2 => Self::Stop(i),
            3 => Self::Sample,
            4 => Self::LineFree(i),
            DELIVER => Self::Deliver(i),
            6 => Self::Pause(i),
            7 => Self::Ideal(i),
            8 => Self::Stopping(i),
            9 => Self::Refresh(i),
            10 => Self::Generate(i),
            11 => Self::Release(i),
            12 => Self::NicFree(i),
            13 => Self::CpTimer(i),
            14 => Self::NpTimer(i),
            15 => Self::RpTimer(i),
            _ => Self::Silence(i),
        }
    }
}

impl EventQueue {
    /// Puts in an event at `at`, in the turn of the entity that it is about.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: u64, event: Event) {
        self.schedule_in(NO_LANE, at, event);
    }

    /// The same, in a lane.
    #[inline(always)]
    pub(crate) fn schedule_in(&mut self, lane: Lane, at: u64, event: Event) {
        self.push(lane, at, event.pack(), event.pack());
    }

    /// Puts in an event of a frame, whose slot says nothing of its turn: `entity` has sent it, a port or the origin of a signal.
    #[inline(always)]
    pub(crate) fn schedule_from(&mut self, lane: Lane, at: u64, event: Event, entity: u32) {
        self.push(lane, at, event.rank(entity), event.pack());
    }
}
