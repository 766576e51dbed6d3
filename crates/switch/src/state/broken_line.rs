//! Lines that break: their queues have no room until they are whole again.

use alloc::vec::Vec;

use penstock_endpoint::TrafficClass;

use crate::state::port::{Closed, DOWN, PortState, QueueState};

impl PortState {
    /// The line breaks: from now on its queues have no room, so that no hop has to ask for the state of a line.
    pub fn close(&mut self) {
        self.attention |= DOWN;
        let classes = (0..).map(TrafficClass).take(self.queues.len());
        let control: Vec<u64> = classes.map(|class| self.ledger.control_drops(class)).collect();
        let close = |(q, control): (&mut QueueState, u64)| {
            let QueueState { plain_len, max_len, max_frames, dropped, .. } = *q;
            (q.plain_len, q.max_len, q.max_frames) = (0, 0, 0);
            Closed { plain_len, max_len, max_frames, dropped: dropped - control }
        };
        self.ledger.closed = self.queues.iter_mut().zip(control).map(close).collect();
    }

    /// The line is whole again.
    pub fn open(&mut self) {
        let classes = (0..).map(TrafficClass).take(self.queues.len());
        self.ledger.flushed = classes.map(|class| self.flushed(class)).collect();
        self.attention &= !DOWN;
        for (q, closed) in self.queues.iter_mut().zip(self.ledger.closed.drain(..)) {
            (q.plain_len, q.max_len, q.max_frames) = (closed.plain_len, closed.max_len, closed.max_frames);
        }
    }

    /// Data frames that a queue has lost because its line was broken.
    #[inline]
    pub fn flushed(&self, class: TrafficClass) -> u64 {
        let never_broken = self.ledger.closed.is_empty() && self.ledger.flushed.is_empty();
        if never_broken { 0 } else { self.flushed_by_breaks(class) }
    }

    #[cold]
    fn flushed_by_breaks(&self, class: TrafficClass) -> u64 {
        let now = self.ledger.closed.get(class.index());
        let now = now.map_or(0, |closed| self.dropped_data(class) - closed.dropped);
        self.ledger.flushed.get(class.index()).copied().unwrap_or(0) + now
    }
}
