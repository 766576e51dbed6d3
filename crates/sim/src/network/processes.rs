//! Processes: they make flows while the run goes on.
//!
//! A flow of a process exists from shortly before its start until it has ended and nothing in the network refers to it. So memory
//! follows the flows that are alive, and not those that ever were; of each that was there is its [`FlowEnd`](crate::outcome::FlowEnd).

use std::fmt::Debug;

use penstock_endpoint::PortId;
use penstock_endpoint::transport::Transport;
use penstock_schemes::{Duration, Instant, Octets};

use crate::network::{Pacer, RpId};

/// All processes of a network. Their flows are numbered process by process, after those of
/// [`Network::flows`](crate::Network::flows).
#[derive(Debug, Clone, Default)]
pub struct Processes {
    /// Each process.
    pub list: Vec<Process>,
    /// The most links that a frame of any of them crosses to its destination.
    pub longest_path: usize,
    /// The most hops of a flow's route: as many, where each flow has one way.
    pub most_hops: usize,
    /// The most paths of a flow; none or one where none has a choice.
    pub most_paths: usize,
    /// When flows have new routes, in order: as many as a flow may have later.
    pub converged: Vec<Instant>,
    /// The ports at which flows begin; some may be there twice.
    pub sources: Vec<PortId>,
    /// For each port the number of separate limiters that flows bring there in all.
    pub limiters: Vec<u32>,
    /// For each of [`Network::reaction_points`](crate::Network::reaction_points) the flows that share it.
    pub sharing: Vec<Sharing>,
}

/// The flows of processes that share a reaction point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sharing {
    /// How many there are in all.
    pub flows: u32,
    /// Their priority.
    pub priority: u8,
}

impl Processes {
    /// How many flows they make in all.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.list.iter().map(|process| process.flows as usize).sum()
    }
}

/// A process, and the properties that its flows have in common: they are finite, and greedy.
#[derive(Debug, Clone)]
pub struct Process {
    /// How many flows it makes.
    pub flows: u32,
    /// One of [`Network::priorities`](crate::Network::priorities).
    pub priority: u8,
    /// Length of frames, with FCS, without wire overhead.
    pub frame: u16,
    /// Weight for schemes that have weights.
    pub weight: u16,
    /// The transport, and the priority of acknowledgements (`None`: control frames). Frames are as long as
    /// [`longest_frame`](crate::longest_frame) says.
    pub transport: Option<(Transport, Option<u8>)>,
    /// The rate limiters.
    pub limiting: Limiting,
    /// The links that its flows cross.
    pub links: Vec<CrossedLink>,
    /// From the start of its first flow to that of its last; zero where flows come from work.
    pub span: Duration,
    /// Its flows come from [`Work`](crate::network::Work), which decides when they begin. Else they come from [`Arrivals`].
    pub of_work: bool,
}

/// A link that flows of a process cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossedLink {
    /// Its port, and the port of the opposite direction.
    pub link: (PortId, PortId),
    /// Octets that they bring there, where each takes the first of its paths.
    pub octets: u64,
}

impl Process {
    /// Octets of a flow's size in a full frame.
    #[must_use]
    pub fn payload(&self) -> u64 {
        self.transport.as_ref().map_or(u64::from(self.frame), |(transport, _)| transport.segment().0)
    }
}

/// The rate limiters of a process's flows. In one network flows have separate reaction points or share those of the network, not some
/// the one and some the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limiting {
    /// Nothing controls the flows.
    Uncontrolled,
    /// Each flow has its own reaction point.
    Own(Pacer),
    /// Flows share those of the network.
    Shared,
}

/// A link of several ways to one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// Its port, and the port of the opposite direction.
    pub link: (PortId, PortId),
    /// The link before, an index into the tree; `None` at the source.
    pub parent: Option<u32>,
}

/// A flow that a process makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Which process.
    pub process: u32,
    /// Its number among the flows of the process.
    pub number: u32,
    /// When it begins.
    pub start: Instant,
    /// Octets to send.
    pub size: Octets,
    /// It does not end with its size: [`Work`](crate::network::Work) has further messages for it.
    pub stays: bool,
    /// The links to its destination: the port of each, and the port of the opposite direction.
    pub path: Vec<(PortId, PortId)>,
    /// The paths among which switches choose, `path` first, as a tree: parents come before children, the children of a link together. Empty where there
    /// is nothing to choose.
    pub tree: Vec<Branch>,
    /// The routes that it has later, in order of time: see [`Reroute`](crate::network::Reroute).
    pub later: Vec<LaterRoute>,
    /// The reaction point that it shares, where its process's flows do.
    pub reaction_point: Option<RpId>,
}

/// A route that a flow of a process has from a time on, if it is not over by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterRoute {
    /// When: one of the times of [`Processes::converged`].
    pub at: Instant,
    /// Its links, as those of [`Arrival::path`], the same one first.
    pub path: Vec<(PortId, PortId)>,
    /// All of its paths, as [`Arrival::tree`].
    pub tree: Vec<Branch>,
}

/// The flows of all processes, in the order of their starts, those of one instant in the order of their numbers.
pub trait Arrivals: Iterator<Item = Arrival> + Debug + Send {}

impl<T: Iterator<Item = Arrival> + Debug + Send> Arrivals for T {}
