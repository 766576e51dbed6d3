//! Flows: frames and their sizes, transports and rate limiters.

use penstock_endpoint::transport::Transport;
use penstock_schemes::{BitRate, Duration, Instant, Octets};

use crate::network::{FlowId, HopId, Pacer, PortId, RpId};

/// A flow of data frames.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Flow {
    /// Its first hop.
    pub root: HopId,
    /// One of [`Network::priorities`](crate::Network::priorities).
    pub priority: u8,
    /// Length of its frames, with FCS, without wire overhead.
    pub frame: u16,
    /// Weight for schemes that have weights.
    pub weight: u16,
    /// When it begins; [`Instant::NEVER`] for one of [`Network::dependencies`](crate::Network::dependencies).
    pub start: Instant,
    /// When it ends at the latest, after its start; a sequel has no such time.
    pub stop: Option<Instant>,
    /// Octets to send in all; the last frame may be shorter.
    pub size: Option<Octets>,
    /// How frames come about.
    pub traffic: Traffic,
    /// The treatment of frames above the allowed rate.
    pub excess: Excess,
    /// Its rate limiter; `None` for traffic that nothing controls.
    pub reaction_point: Option<RpId>,
    /// The transport that it is carried by; `None` for frames that nobody acknowledges or sends again.
    pub transport: Option<Carriage>,
}

/// A flow that begins when others have ended. A flow ends when the last octet of its size has reached its destinations, or when
/// it is stopped, whichever comes first.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The flow that begins.
    pub flow: FlowId,
    /// The flows that it waits for, at least one, each once.
    pub after: Vec<FlowId>,
    /// From the end of the last of them to its beginning.
    pub delay: Duration,
}

/// The transmit queue of a rate limiter, where the segments of its flows' transports wait. Each flow has its own part of it, and
/// the flows of a limiter take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transmit {
    /// There is none: a transport is asked for a segment when the limiter lets it go.
    Pull,
    /// It holds frames of this number of octets in all, all flows of the limiter together; a transport whose segment
    /// finds no room waits until there is. A single frame always has room.
    Wait(Octets),
    /// The same; a segment that finds no room is lost, and its transport does not know.
    Drop(Octets),
}

/// How a flow to one destination is carried by a transport. Its size is octets of data, its frames are as long as
/// [`longest_frame`](crate::longest_frame) says, or shorter; each frame that its generator makes is a write of a full segment's
/// data.
#[derive(Debug, Clone)]
pub struct Carriage {
    /// The transport.
    pub transport: Transport,
    /// The priority of acknowledgements, one of [`Network::priorities`](crate::Network::priorities); `None` for control frames.
    pub acks: Option<u8>,
    /// The first hop of acknowledgements: see [`Network::add_reverse_path`](crate::Network::add_reverse_path).
    pub reverse_path: HopId,
}

impl Flow {
    /// A greedy flow of frames of 1500 octets from time zero on, of priority 0, which nothing controls.
    #[must_use]
    pub fn new(root: HopId) -> Self {
        Self {
            root,
            priority: 0,
            frame: 1500,
            weight: 1,
            start: Instant::ZERO,
            stop: None,
            size: None,
            traffic: Traffic::Greedy,
            excess: Excess::Stall,
            reaction_point: None,
            transport: None,
        }
    }

    /// Octets of a flow's size in a full frame.
    #[must_use]
    pub fn payload(&self) -> u64 {
        self.transport.as_ref().map_or(u64::from(self.frame), |carriage| carriage.transport.segment().0)
    }
}

/// How a flow's frames come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// At even distances, at this rate.
    Constant(BitRate),
    /// There is always one more.
    Greedy,
    /// At random, with exponential distances, at this mean rate.
    Poisson(BitRate),
    /// In turns of `on` at `rate`, then `off` without a frame.
    OnOff {
        /// Rate while on.
        rate: BitRate,
        /// Length of a turn of sending, or its mean.
        on: Duration,
        /// Length of a turn of silence, or its mean.
        off: Duration,
        /// Lengths are exponentially distributed.
        random: bool,
    },
}

impl Traffic {
    /// Mean rate of the traffic, bit/s; `None` for a greedy flow.
    #[must_use]
    pub fn mean_bps(self) -> Option<f64> {
        match self {
            Self::Greedy => None,
            Self::Constant(rate) | Self::Poisson(rate) => Some(rate.0 as f64),
            Self::OnOff { rate, on, off, .. } => Some(rate.0 as f64 * on.0 as f64 / (on.0 as f64 + off.0 as f64)),
        }
    }
}

/// What an application's data without end may take while it waits: as much as the largest send buffer that Linux gives a socket by
/// itself (`tcp_wmem`, ip-sysctl).
pub const SEND_BUFFER: Octets = Octets(4 << 20);

/// The treatment, at the source, of frames that come faster than the limiter lets them go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Frames are made on time and wait: all of them in a flow with a size, whose application has its data, and [`SEND_BUFFER`] of any
    /// other, from which further frames are discarded.
    Wait,
    /// Frames wait in a source queue of this size; those that do not fit are discarded at the source.
    Queue(Octets),
    /// Frames that cannot go at once are discarded at the source (one may wait for its turn).
    Discard,
    /// The schedule stands still while its frame waits, for the limiter or for the line: the next frame is made one interval after this
    /// one has gone. Nothing is lost, the offered load shrinks.
    Stall,
}

/// A rate limiter in a host. Its flows share a priority.
#[derive(Debug, Clone, Copy)]
pub struct ReactionPointSpec {
    /// The host port that it feeds.
    pub port: PortId,
    /// How it turns a rate into times of release.
    pub pacer: Pacer,
}
