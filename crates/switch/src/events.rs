//! What a switch asks of its driver: timers, and deliveries at the far ends of lines; and the indices that they carry.

use penstock_endpoint::PortId;
use penstock_schemes::Instant;

penstock_endpoint::indices!(
    /// A congestion point, by its index in the list of all of them.
    pub CpIndex,
    /// A pause frame on its way, by its slot.
    pub PauseId,
    /// The counter of the frames of one class that have come over the line of one port: see [`Pauses`](crate::flow_control::pause::Pauses).
    pub CounterId,
    /// One queue of a port: queues are numbered port by port, the control queue of each last.
    pub QueueId,
    /// A node.
    pub NodeId,
    /// One link of a route.
    pub HopId,
    /// A frame, by its slot in the arena.
    pub FrameId,
);

/// The kind of the line of a port, for drivers that keep deliveries of one kind together. It changes no result.
pub type Lane = u8;

/// The far end of the line belongs to another driver.
pub const ELSEWHERE: Lane = Lane::MAX;

/// A call that is due at a time. Of timers that expire at one instant, the first of this list goes first.
///
/// A timer is never taken back. If it turns out to be no longer needed, nothing happens when it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A transmission on the line of this flow-controlled port ends.
    LineFree(PortId),
    /// A stop of a queue of this port begins or runs out.
    Stopping(PortId),
    /// The pause frame for this ingress counter is due again.
    Refresh(CounterId),
    /// The timer of this congestion point.
    CongestionPoint(CpIndex),
    /// The watchdog of this queue may be due.
    Watchdog(QueueId),
    /// The shaper of a queue of this port lets it go.
    Shaper(PortId),
    /// Credits or acknowledgements may be due at this port, or frames that are to be sent again.
    Link(PortId),
}

/// Keeps the timers and the lines of a switch: an event queue of a simulation, a list.
pub trait Events {
    /// Asks for a call at `at`, which is not before the present.
    fn wake(&mut self, at: Instant, timer: Timer);

    /// A frame reaches the far end of the line of `port` at `at`.
    fn deliver(&mut self, at: Instant, frame: FrameId, port: PortId, lane: Lane);

    /// So does a frame that the line has corrupted: the far end drops it.
    fn deliver_corrupted(&mut self, at: Instant, frame: FrameId, port: PortId);

    /// A pause frame reaches the far end of the line.
    fn deliver_pause(&mut self, at: Instant, pause: PauseId, port: PortId);
}
