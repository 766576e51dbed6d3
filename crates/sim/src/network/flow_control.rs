//! Priority flow control (802.1Qbb), its watchdog, and the memory that queues of switches share.

use penstock_endpoint::PortId;
use penstock_schemes::{Duration, Instant, Octets};

use crate::network::NodeId;

/// Priority flow control (802.1Qbb): a switch that is about to run out of room stops its neighbour, priority by
/// priority.
///
/// A switch counts, for each port by which frames come in and each lossless priority, the octets that it holds. From
/// XOFF on it sends pause frames against the direction of the data, at XON a resume frame. A frame that arrives beyond
/// the ingress buffer is dropped, and counts at the output queue that it was bound for. The limit of an output queue
/// holds only for frames that no ingress buffer holds: those of a host at its own port, those that come in where there
/// is no flow control.
///
/// A copy of a multicast frame counts as long as that copy is held. A frame is held until it departs from its output queue:
/// to the end of its transmission if [`Network::in_service_counts`](crate::Network::in_service_counts), else to its start.
#[derive(Debug, Clone)]
pub struct Pfc {
    /// The lossless priorities, each one of [`Network::priorities`](crate::Network::priorities).
    pub priorities: Vec<u8>,
    /// For each port, the ingress buffer at the far end of its line, one for each lossless priority; `None` where the far
    /// end sends no pause frames (a host, or a port without PFC).
    pub ingress: Vec<Option<Ingress>>,
    /// How long a pause frame stops a queue, from its arrival: in quanta of 512 bit times of the stopped port. Refreshed half
    /// of it after its transmission began. Never zero; [`Reach::least_quanta`](crate::pfc::Reach::least_quanta) says from
    /// which number on stops do not run out.
    pub quanta: u16,
    /// For each port, from the arrival of a pause frame until the port starts no more frames of that priority; at once at ports that have no
    /// entry. A resume frame acts at once.
    pub responses: Vec<Duration>,
    /// Lets queues go that are stopped for too long.
    pub watchdog: Option<Watchdog>,
}

/// An ingress buffer of one priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ingress {
    /// The most octets that it holds. The part above `xoff` is the headroom: see [`headroom`](crate::pfc::headroom). All of
    /// a switch and one of its output queues together hold less than 2^32: that queue can be as long.
    pub buffer: Octets,
    /// From this number of octets on the neighbour is stopped; at most `buffer`.
    pub xoff: Octets,
    /// At this number of octets or less it may go on; below `xoff`.
    pub xon: Octets,
}

/// Memory of one switch that the queues of some priorities share.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The switch. No two of its pools have a priority in common.
    pub node: NodeId,
    /// The priorities whose queues share it, each one of [`Network::priorities`](crate::Network::priorities).
    pub priorities: Vec<u8>,
    /// Octets of a cell: each frame takes whole cells. Never zero.
    pub cell: u16,
    /// All of it but the headroom, at most [`LARGEST_QUEUE`](crate::network::LARGEST_QUEUE); no less than all reserves.
    pub size: Octets,
    /// Memory for frames of lossless priorities that come after their neighbour was signalled to stop, for all lines together.
    pub headroom: Octets,
    /// The most of the headroom that the frames of one line and priority take: each with its port, in the order of ports. Frames over other
    /// lines may take all of it. [`headroom_in_cells`](crate::pfc::headroom_in_cells) is enough.
    pub lines: Vec<(PortId, Octets)>,
    /// Output queues: a reserve for each.
    pub egress: Share,
    /// Frames that came over a line: a reserve for each line and priority.
    pub ingress: Share,
}

/// How much of a pool one queue, or the frames of one line, may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Memory that is kept for it.
    pub reserve: Octets,
    /// The factor of its dynamic threshold; `None`: it may take all that is free.
    pub alpha: Option<f64>,
}

/// What becomes of a queue that has been stopped for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It ignores pause frames and drops its frames.
    Drop,
    /// It ignores pause frames and sends its frames.
    Forward,
    /// It stays stopped. The storm is counted once, until no pause frame has come for [`Watchdog::restoration`].
    Alert,
}

/// The settings of the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchdog {
    /// How long a queue is stopped before it acts. Never zero.
    pub after: Duration,
    /// How long no pause frame has come for the queue when it obeys again. Never zero.
    pub restoration: Duration,
    /// Distance of its looks at the queues: it counts whole ones of these. Zero: it sees everything at once.
    pub poll: Duration,
    /// What it does meanwhile.
    pub action: Action,
}

impl Watchdog {
    /// When something that has been so since `from` has been so for `time`, by its looks: the first one counts nothing, each
    /// that follows the time since the one before.
    pub(crate) fn due(&self, from: Instant, time: Duration) -> Instant {
        if self.poll == Duration::ZERO {
            return from + time;
        }
        let looks = from.0.div_ceil(self.poll.0).saturating_add(time.0.div_ceil(self.poll.0));
        Instant(looks.saturating_mul(self.poll.0))
    }
}
