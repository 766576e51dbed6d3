//! A congestion point: the scheme's state machine, with its queue, random words, counts and timer.

use alloc::vec::Vec;

use penstock_endpoint::cache::Start;
use penstock_schemes::{CongestionPoint, Instant, Scheme};

use crate::events::{CpIndex, Events, QueueId, Timer};
use crate::random::Stream;

/// A congestion point with its queue, random stream, count of signals and timer.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct CpState<S: Scheme> {
    /// Where its lines of cache begin.
    pub start: Start,
    /// The scheme's state machine.
    pub cp: S::Cp,
    /// Its random words.
    pub stream: Stream,
    /// The queue that it watches.
    pub queue: QueueId,
    /// Signals that it has sent.
    pub signals: u64,
    /// Frames that it has moved to another queue.
    pub moved: u64,
    /// Time of the earliest timer event under way.
    pub armed: Instant,
}

impl<S: Scheme> CpState<S> {
    /// Asks for the timer of the state machine, unless one is under way that expires no later.
    #[inline]
    pub fn arm(&mut self, events: &mut impl Events, index: CpIndex) {
        if let Some(at) = self.cp.next_timeout()
            && at < self.armed
        {
            self.armed = at;
            events.wake(at, Timer::CongestionPoint(index));
        }
    }
}

/// The congestion points of a network, whatever the scheme.
pub trait CongestionPoints {
    /// Signals that a point has sent; 0 for none.
    fn signals(&self, point: CpIndex) -> u64;

    /// Frames that all of them have moved to another queue.
    fn moved(&self) -> u64;
}

impl<S: Scheme> CongestionPoints for Vec<CpState<S>> {
    fn signals(&self, point: CpIndex) -> u64 {
        self.get(point.index()).map_or(0, |state| state.signals)
    }

    fn moved(&self) -> u64 {
        self.iter().map(|state| state.moved).sum()
    }
}
