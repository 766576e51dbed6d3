//! Priority flow control, as data and formulas: counters and stopped queues, the pools of memory that frames share, deadlocks, and
//! the headroom that a pause needs. [`crate::datapath`] calls it, frame by frame.

use alloc::vec::Vec;

use penstock_schemes::Instant;

use crate::events::QueueId;

pub mod counter;
pub mod credits;
pub mod deadlock;
pub mod pause;
pub mod pause_frames;
pub mod pfc;
pub mod pool;
pub mod retry;
pub mod stop;

/// A cycle of queues that priority flow control has stopped, each of which waits for the next one, and the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// The queues. Frames that came over the line of each one wait in the next.
    pub cycle: Vec<QueueId>,
    /// When the last of them was stopped.
    pub since: Instant,
    /// When the watchdog broke it; `None`: it lasted to the end.
    pub ended: Option<Instant>,
}
