//! What a switch has to do later, in order of time; and the frames that leave it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_endpoint::PortId;
use penstock_schemes::Instant;
use penstock_switch::events::{FrameId, Lane, PauseId};
use penstock_switch::{Events, Timer};

/// A frame that leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// When the node at the far end is to act on it.
    pub due: Instant,
    /// Its octets.
    pub octets: Vec<u8>,
}

/// Something that is due at a time. At one instant, in this order, as in the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// The end of a transmission on this port's line.
    LineFree(PortId),
    /// A frame at the far end of this port's line.
    Deliver(PortId, FrameId),
    /// A pause frame there.
    Pause(PortId, PauseId),
    /// Any other timer.
    Timer(Timer),
}

/// What is due.
#[derive(Debug, Default)]
pub(crate) struct Agenda(BinaryHeap<Reverse<(Instant, Due)>>);

impl Agenda {
    /// When the first thing is due; never if nothing is.
    pub(crate) fn next(&self) -> Instant {
        self.0.peek().map_or(Instant::NEVER, |&Reverse((at, _))| at)
    }

    /// Takes the first thing that is due, if it is due by `limit`.
    pub(crate) fn take(&mut self, limit: Instant) -> Option<(Instant, Due)> {
        if self.next() > limit {
            return None;
        }
        self.0.pop().map(|Reverse(first)| first)
    }
}

impl Events for Agenda {
    fn wake(&mut self, at: Instant, timer: Timer) {
        let due = match timer {
            Timer::LineFree(port) => Due::LineFree(port),
            other => Due::Timer(other),
        };
        self.0.push(Reverse((at, due)));
    }

    fn deliver(&mut self, at: Instant, frame: FrameId, port: PortId, _: Lane) {
        self.0.push(Reverse((at, Due::Deliver(port, frame))));
    }

    fn deliver_corrupted(&mut self, _: Instant, _: FrameId, _: PortId) {
        unreachable!("the testbed refuses links that lose frames at random")
    }

    fn deliver_pause(&mut self, at: Instant, pause: PauseId, port: PortId) {
        self.0.push(Reverse((at, Due::Pause(port, pause))));
    }
}
