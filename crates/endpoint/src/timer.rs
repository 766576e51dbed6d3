//! Timers: calls for flows, limiters, ports and destinations, each due at a time.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use penstock_schemes::Instant;

use crate::ids::{DestinationId, FlowId, LimiterId, PortId};

/// The addressee of a timer. Of timers that expire at one instant, the first of this list goes first, and of one kind
/// the one with the lowest turn: see [`Alarms::wake`].
///
/// A timer is never taken back. If it turns out to be no longer needed, nothing happens when it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// This limiter may release a frame.
    Release(LimiterId),
    /// The line of this port is free for the next limiter in turn.
    Turn(PortId),
    /// The notification point of this destination.
    Destination(DestinationId),
    /// The reaction point of this limiter.
    ReactionPoint(LimiterId),
    /// No acknowledgement of this flow may have come for too long.
    Silence(FlowId),
    /// A destination at this port may grant a frame.
    Grant(PortId),
}

/// Keeps timers: an event queue of a simulation, a list.
pub trait Alarms {
    /// Asks for a call at `at`, which is not before the present. `turn` is the number of the addressee among those of its kind: its
    /// index in its list, unless the slot was reused.
    fn wake(&mut self, at: Instant, timer: Timer, turn: u32);
}

/// A list of timers, for drivers that have none.
#[derive(Debug, Clone, Default)]
pub struct Timers(BinaryHeap<Reverse<(Instant, Timer)>>);

impl Timers {
    /// When the first timer expires.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.0.peek().map(|&Reverse((at, _))| at)
    }

    /// Takes the first timer, if it expires before `limit`.
    pub fn expire(&mut self, limit: Instant) -> Option<(Instant, Timer)> {
        if self.next()? >= limit {
            return None;
        }
        self.0.pop().map(|Reverse(first)| first)
    }
}

impl Alarms for Timers {
    /// No slot of its lists is reused: a turn is an index.
    fn wake(&mut self, at: Instant, timer: Timer, _turn: u32) {
        self.0.push(Reverse((at, timer)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_one_instant_expire_in_the_order_of_their_kinds() {
        let (early, late) = (Instant(10), Instant(20));
        let mut timers = Timers::default();
        let silence = Timer::Silence(FlowId(0));
        let (second, first) = (Timer::Release(LimiterId(2)), Timer::Release(LimiterId(1)));
        for (at, timer) in [(late, first), (late, silence), (late, second), (early, silence)] {
            timers.wake(at, timer, 0);
        }
        assert_eq!(timers.next(), Some(early));
        assert_eq!(timers.expire(early), None, "the limit itself is left");
        let taken: Vec<_> = core::iter::from_fn(|| timers.expire(Instant::NEVER)).collect();
        assert_eq!(taken, [(early, silence), (late, first), (late, second), (late, silence)]);
    }
}
