//! Network interfaces of hosts that pause their switch: they send pause frames for no reason, or process what they receive slowly.

use penstock_schemes::{BitRate, Duration, Instant, Octets};

use crate::network::PortId;

/// A PFC storm: an interface sends pause frames, whatever it receives, and one that resumes at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storm {
    /// The port that is paused, which leads to the host, and that of the opposite direction.
    pub link: (PortId, PortId),
    /// The priorities that are paused, each a lossless one. No storms of a link and a priority overlap.
    pub priorities: Vec<u8>,
    /// When it begins.
    pub from: Instant,
    /// When it ends, later than that; never if it does not.
    pub until: Instant,
    /// The pause frame is repeated this long after the start of its transmission, and after half of its time at the latest. Never zero.
    pub interval: Duration,
}

/// An interface that processes the frames that reach it at a limited rate. They wait in its receive buffer, first come, first served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver {
    /// The port that leads to the host, and that of the opposite direction.
    pub link: (PortId, PortId),
    /// The rate at which frames leave the buffer, without wire overhead. Never zero.
    pub rate: BitRate,
    /// The most octets that wait, for each priority. Frames beyond it are dropped.
    pub buffer: Octets,
    /// With priority flow control, from this number of octets of a lossless priority on the port is paused; at most `buffer`.
    pub xoff: Octets,
    /// At this number or less it is resumed; below `xoff`.
    pub xon: Octets,
}
