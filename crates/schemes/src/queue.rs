//! The queue that a congestion point watches: where it is, what it holds, and what becomes of frames that come to it.

use crate::units::{BitRate, CpId, Duration, Octets};

/// Where a congestion point sits.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its identity.
    pub cp: CpId,
    /// Rate of the port's line.
    pub line: BitRate,
    /// Size of the queue; for a queue counted in frames, that number of the largest frame.
    pub capacity: Octets,
    /// Offset of periodic measurements, so that neighbours need not measure at the same instant.
    pub phase: Duration,
}

/// The state of one output queue (one priority of a port) at the time of a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue {
    /// Octets in the queue. Whether the frame in transmission counts is a parameter of the network.
    pub len: Octets,
    /// Frames in the queue, counted likewise.
    pub frames: u32,
    /// The port's rate now.
    pub rate: BitRate,
    /// Octets of this priority that have left the queue since the start.
    pub sent: Octets,
    /// The queue is stopped by priority flow control.
    pub paused: bool,
}

/// The fate of a frame that arrived at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It waits in the queue.
    Queued,
    /// The queue was full and the frame is lost, or its header alone goes on.
    Dropped,
}

/// The decision of a congestion point on a data frame that comes to its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the queue; if it does not fit, it is dropped.
    Accept,
    /// It joins the queue of this priority at this port instead, and keeps its own priority; if it does not fit there, it is
    /// dropped.
    Move(u8),
    /// It is dropped.
    Drop,
}

/// A port as a congestion point may see it: all its queues.
pub trait PortView {
    /// The queue of `priority`; `None` where no data flow of the network has this priority.
    fn queue(&self, priority: u8) -> Option<Queue>;
}
