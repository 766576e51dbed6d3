//! A congestion point in the engine: the scheme's state machine, and the engine's own state beside it.

use penstock_endpoint::cache::Start;
use penstock_schemes::{CongestionPoint, Instant, Scheme};

use crate::network::QueueId;
use crate::random::Stream;
use crate::state::event::{CpIndex, Event};
use crate::state::event_queue::EventQueue;

/// A congestion point with its queue, random stream, count of signals and timer.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct CpState<S: Scheme> {
    /// Where its lines of cache begin.
    pub(crate) start: Start,
    pub(crate) cp: S::Cp,
    pub(crate) stream: Stream,
    /// The queue that it watches.
    pub(crate) queue: QueueId,
    /// Signals that it has sent.
    pub(crate) signals: u64,
    /// Frames that it has moved to another queue.
    pub(crate) moved: u64,
    /// Time of the earliest timer event under way.
    pub(crate) armed: Instant,
}

impl<S: Scheme> CpState<S> {
    #[inline]
    pub(crate) fn arm(&mut self, events: &mut EventQueue, index: CpIndex) {
        if let Some(at) = self.cp.next_timeout()
            && at < self.armed
        {
            self.armed = at;
            events.schedule(at, Event::CpTimer(index));
        }
    }
}

/// The congestion points of a network, whatever the scheme.
pub(crate) trait CongestionPoints {
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
