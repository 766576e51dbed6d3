//! Everything that passes between a reaction point and its caller: allowances, acknowledgements, frames that go.

use crate::info::choice;
use crate::units::{BitRate, Duration, FlowKey, Octets};

/// The rate and the window that a source may use now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Rate at which frames may be released; zero stops the source.
    pub rate: BitRate,
    /// The congestion window: octets of frames that may be in flight, neither acknowledged nor known to be lost. `None`
    /// where the scheme has no window. The caller counts them, and lets one frame go where nothing is in flight, however
    /// small the window is. Which other frames go is for [`ReactionPoint::gate`](crate::ReactionPoint::gate). Only a scheme with acknowledgements can have a window.
    pub window: Option<Octets>,
}

choice! {
    /// Which frame a congestion window lets go. The two differ by a part of a frame, which decides shares where windows are a few
    /// frames long.
    pub enum Gate {
        /// One that fits into the window as a whole: what is in flight never exceeds the window. (RFC 5681, section 3.1; RFC 9293)
        Whole = "whole",
        /// Any, as long as less than the window is in flight: it is exceeded by a part of a frame. (HPCC's simulator,
        /// `RdmaQueuePair::IsWinBound`)
        Open = "open",
    }
}

choice! {
    /// What a new rate does to the time between the last frame and the next one. Where the rate changes with each acknowledgement, this decides
    /// whether sources send in step.
    pub enum Gap {
        /// The rest of it is stretched or shrunk: in any time as many octets go as the rates allowed. (A token bucket)
        Rest = "rest",
        /// All of it is that of the new rate, counted from the last frame. (HPCC's simulator, `RdmaHw::ChangeRate`)
        Whole = "whole",
    }
}

/// The content of an acknowledgement for the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack<E> {
    /// Octets that are now known to have arrived.
    pub acked: Octets,
    /// Octets that are now known to be lost: they were sent before the acknowledged frame and did not arrive, or arrived
    /// without their payload ([`Frame::trimmed`](crate::Frame::trimmed)).
    pub lost: Octets,
    /// Time since the release of the acknowledged frame.
    pub rtt: Duration,
    /// The echo that the notification point wrote.
    pub echo: E,
}

/// The rank of a frame among those of its host and of the queues on its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// By how much its priority is above that of its flow; less than [`Scheme::levels`](crate::Scheme::levels).
    pub level: u8,
    /// Octets of its message that have not been sent. Of the points that wait for a line the one with the least has it next.
    pub left: u64,
}

/// A data frame that a reaction point lets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The flow that it belongs to.
    pub flow: FlowKey,
    /// Length.
    pub octets: u16,
    /// Octets that the flow has sent before this frame.
    pub seq: Octets,
    /// The flow ends with this frame.
    pub last: bool,
}

/// The content of an echo in terms that all schemes share. A scheme uses those that its echo has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// The acknowledged frame was marked. (RFC 3168)
    pub marked: bool,
    /// It came without its payload.
    pub trimmed: bool,
    /// Switches that it has passed.
    pub hops: u8,
    /// Level of the destination's buffer, in 1/31.
    pub rx_buffer_level: u8,
    /// The destination's buffer was full.
    pub exhausted: bool,
}
