//! Priority flow control, as data and formulas: counters and stopped queues, the pools of memory that frames share, deadlocks, and
//! the headroom that a pause needs. Nothing here knows of the event loop; [`crate::datapath`] calls it, frame by frame.

pub(crate) mod deadlock;
pub(crate) mod pause;
pub(crate) mod pause_frames;
pub mod pfc;
pub(crate) mod pool;
