//! Credit-based flow control (CBFC, Ultra Ethernet 1.0, 5.2) as data: a frame starts only while the memory at the far end of its line has
//! room for it.
//!
//! ```text
//!   sender:   S_CC consumed - S_CF freed + cells of the frame <= limit     else its queue waits
//!   receiver: R_CC received, R_CF = R_CC - cells that are held             CF_Update: R_CF goes back
//!   sender:   CC_Update: S_CC as of now                                    receiver: what it has not received is lost, and free
//! ```
//!
//! Counters and messages are those of the public text (OCP SAI, `doc/CBFC/SAI-Credit_Based_Flow_Control.md`, commit 9ca8312). All
//! counters are cumulative, so that the next message heals the loss of one. Reconstruction: `CF_Update` is repeated after each
//! `CC_Update`, not at a largest distance; counters do not wrap.
//!
//! A frame is held from its arrival until it departs from its output queue. Frames that no queue holds (those for a host, those that are
//! dropped) are free at once.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use penstock_endpoint::PortId;
use penstock_schemes::{Duration, Instant, Octets};

use crate::config::Config;
use crate::events::{CounterId, QueueId};

/// Octets of a `CF_Update` on the line: a control ordered set.
pub const UPDATE: u32 = 8;
/// Octets of a `CC_Update` on the line, to which wire overhead is added: a frame.
pub const SYNC: u32 = 64;

/// The credits of one priority of a line, at either end.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreditState {
    /// Octets of a credit; 0 where there are none.
    cell: u16,
    limit: u64,
    /// At the sender: `S_CC`, `S_CF`.
    pub consumed: u64,
    freed: u64,
    /// Credits that the first frame needs for which the sender has too few; 0 while it waits for none.
    pub need: u64,
    /// At the receiver: `R_CC`, the credits of frames that are held, and the last `R_CF` that was sent.
    received: u64,
    held: u64,
    announced: u64,
}

impl CreditState {
    /// Credits of a frame.
    #[must_use]
    pub fn cells(&self, octets: u16) -> u64 {
        if self.cell == 0 { 0 } else { octets.div_ceil(self.cell).into() }
    }

    /// Whether the sender has this number of credits.
    #[must_use]
    pub fn has(&self, cells: u64) -> bool {
        self.cell == 0 || self.consumed - self.freed + cells <= self.limit
    }

    /// `R_CF`.
    #[must_use]
    pub fn to_return(&self) -> u64 {
        self.received - self.held
    }

    /// Whether the sender does not know of all credits that are free.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.to_return() != self.announced
    }

    /// The credits that an update carries.
    pub fn announce(&mut self) -> u64 {
        self.announced = self.to_return();
        self.announced
    }

    /// An update has come to the sender.
    pub fn free(&mut self, total: u64) {
        self.freed = self.freed.max(total);
    }

    /// The sender has consumed `total` credits for frames that have come by now, or never will.
    pub fn reconcile(&mut self, total: u64) {
        self.received = self.received.max(total);
    }

    /// The receiver holds a frame.
    pub fn hold(&mut self, octets: u16) {
        self.held += self.cells(octets);
    }

    /// It holds the frame no longer.
    pub fn let_go(&mut self, octets: u16) {
        self.held -= self.cells(octets);
    }

    /// A frame has come to the receiver.
    pub fn receive(&mut self, octets: u16) {
        self.received += self.cells(octets);
    }

    /// Whether the queue that waits for credits goes on once no more than `memory` octets, in whole credits, are held.
    #[must_use]
    pub fn would_go_on(&self, memory: u64, need: u64) -> bool {
        memory + need * u64::from(self.cell) <= self.limit * u64::from(self.cell)
    }
}

/// The credits of a line.
#[derive(Debug, Clone, Copy)]
pub struct CreditedLine {
    /// A bit for each class with credits.
    pub classes: u32,
    spacing: Octets,
    /// See [`CreditLine::sync`](crate::config::CreditLine::sync).
    pub sync: Duration,
    /// When the next `CC_Update` is due.
    pub sync_at: Instant,
    /// Of the far end: no update starts before then.
    pub update_at: Instant,
    /// The classes that wait until then.
    pub due: u32,
    /// When a timer looks at them.
    pub timer_at: Instant,
}

impl CreditedLine {
    /// The distance of updates on a line back of this rate.
    #[must_use]
    pub fn spacing(&self, rate: penstock_schemes::BitRate) -> Duration {
        rate.serialisation(self.spacing.0).0
    }
}

/// All credits.
#[derive(Debug)]
pub struct Credits {
    /// By the queue of the sender, which is the counter of the receiver.
    pub states: Vec<CreditState>,
    /// By port.
    pub lines: Vec<CreditedLine>,
    /// The longest frame.
    pub largest: u16,
}

impl Credits {
    /// Those at the start; `None` where no line has any.
    ///
    /// # Panics
    /// If an entry is not as its documentation says.
    #[must_use]
    pub fn new(config: &Config<'_>) -> Option<Box<Self>> {
        if config.credits.is_empty() {
            return None;
        }
        let per_port = config.queues_per_port();
        let none = CreditedLine {
            classes: 0,
            spacing: Octets(0),
            sync: Duration::ZERO,
            sync_at: Instant::NEVER,
            update_at: Instant::ZERO,
            due: 0,
            timer_at: Instant::NEVER,
        };
        let mut credits = Self {
            states: vec![CreditState::default(); config.ports.len() * per_port],
            lines: vec![none; config.ports.len()],
            largest: config.largest_frame,
        };
        for own in config.credits {
            let port = own.port.index();
            // Nothing crosses a line without a way back.
            if config.reverse[port] == PortId::NONE {
                continue;
            }
            assert!(own.cell > 0 && own.sync > Duration::ZERO, "port {port}: {own:?}");
            let line = &mut credits.lines[port];
            (line.spacing, line.sync, line.sync_at) = (own.spacing, own.sync, Instant::ZERO + own.sync);
            for &priority in &own.priorities {
                let class = config.class(priority);
                line.classes |= class.bit();
                let state = &mut credits.states[port * per_port + class.index()];
                assert!(state.cell == 0, "port {port} has credits twice");
                (state.cell, state.limit) = (own.cell, own.cells.into());
                assert!(state.has(state.cells(config.largest_frame)), "port {port}: {own:?}");
            }
        }
        Some(Box::new(credits))
    }

    /// Whether a counter is one of a priority with credits.
    #[must_use]
    pub fn counts(&self, counter: CounterId) -> bool {
        self.states.get(counter.index()).is_some_and(|state| state.cell != 0)
    }

    /// Whether a queue may wait for credits.
    #[must_use]
    pub fn of_queue(&self, queue: QueueId) -> bool {
        self.counts(CounterId(queue.0))
    }

    /// Octets of the credits of a frame.
    #[must_use]
    pub fn octets(&self, counter: CounterId, octets: u16) -> u64 {
        let state = &self.states[counter.index()];
        state.cells(octets) * u64::from(state.cell)
    }

    /// The memory at the far end, octets.
    #[must_use]
    pub fn memory(&self, counter: CounterId) -> u64 {
        let state = &self.states[counter.index()];
        state.limit * u64::from(state.cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten credits of 256 octets; frames of 1500 take six.
    #[test]
    fn counters_are_cumulative() {
        let mut own = CreditState { cell: 256, limit: 10, ..CreditState::default() };
        assert_eq!((own.cells(1500), own.cells(1536), own.cells(1537)), (6, 6, 7));
        assert!(own.has(10) && !own.has(11));
        own.consumed = 6;
        assert!(own.has(4) && !own.has(6));
        own.receive(1500);
        own.hold(1500);
        assert!(!own.is_news());
        own.let_go(1500);
        assert!(own.is_news());
        let first = own.announce();
        // A second frame is lost on the line: the comparison frees it.
        own.consumed = 12;
        own.reconcile(12);
        let second = own.announce();
        assert_eq!((first, second), (6, 12));
        // The first update is lost, or comes after the second one.
        own.free(second);
        own.free(first);
        assert!(own.has(10));
    }
}
