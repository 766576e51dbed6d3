//! What an executor is given, and what it gives.

use alloc::vec::Vec;

use crate::graph::{NodeId, Rank};

/// A message of a run, from 0 and dense over the job: sends of the first iteration, messages of its collectives, then
/// those of the next iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A link inside of a host. Each rank sends its messages to ranks of its host one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its rate at a rank; 0 takes no time for octets.
    pub rate_bps: u64,
    /// From the last octet sent to its arrival.
    pub latency_ps: u64,
}

/// How a graph is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The host of each rank; empty puts each rank on another host. Messages inside of a host do not reach the network.
    pub host_of: Vec<u32>,
    /// The link inside of a host.
    pub local: Local,
    /// How often the graph runs. A rank begins its next iteration when it has ended all of its nodes.
    pub iterations: u32,
    /// The seed of drawn times.
    pub seed: u64,
    /// What is recorded.
    pub detail: Detail,
}

/// What is recorded, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Iterations of ranks.
    Iterations,
    /// And each rank's part in each collective.
    Collectives,
    /// And all nodes.
    Nodes,
    /// And the slowest path through each collective.
    Paths,
    /// And what the job's slowest path needs: 20 octets for each message of a collective, until the executor is
    /// dropped.
    Job,
}

impl Default for Settings {
    /// Once, each rank on another host, without records of nodes; the local link takes no time.
    fn default() -> Self {
        let local = Local { rate_bps: 0, latency_ps: 0 };
        Self { host_of: Vec::new(), local, iterations: 1, seed: 0, detail: Detail::Iterations }
    }
}

/// What the caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a message; report its last octet by [`Executor::delivered`](super::Executor::delivered).
    Send {
        /// Its number.
        message: MessageId,
        /// The sender.
        from: Rank,
        /// The receiver, on another host.
        to: Rank,
        /// Its size, also 0.
        octets: u64,
    },
    /// All ranks have ended all iterations.
    Finished,
}

/// A piece of work that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whose.
    pub rank: Rank,
    /// In which iteration, from 0.
    pub iteration: u32,
    /// Which node; `None` is the rank's whole iteration.
    pub node: Option<NodeId>,
    /// When it began.
    pub begin_ps: u64,
    /// When it ended.
    pub end_ps: u64,
    /// The node that let it begin: the dependency that ended last, or the computation that kept its unit busy until
    /// then.
    pub after: Option<NodeId>,
    /// The message whose arrival ended it: of a receive or a collective.
    pub message: Option<MessageId>,
}

/// The messages of a collective that let each other start, up to the one that arrived last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// In which iteration, from 0.
    pub iteration: u32,
    /// The node that began last among those that matter: that of the first step's sender.
    pub first: NodeId,
    /// The node of the last step's receiver.
    pub last: NodeId,
    /// The messages, from the first to the last.
    pub steps: Vec<Step>,
}

/// A message of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub message: MessageId,
    /// Its sender.
    pub from: Rank,
    /// Its receiver.
    pub to: Rank,
    /// Its size.
    pub octets: u64,
    /// When it could start: its step's latency is part of it.
    pub begin_ps: u64,
    /// When its last octet arrived.
    pub end_ps: u64,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// In which iteration, from 0.
    pub iteration: u32,
    /// The sender's node: a send or a collective.
    pub node: NodeId,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its size.
    pub octets: u64,
}

/// A piece of a job's slowest path: a node that took time, or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// In which iteration, from 0.
    pub iteration: u32,
    /// The computation or delay, or the sender's send or collective.
    pub node: NodeId,
    /// The message, if it is one.
    pub message: Option<MessageId>,
    /// When it began; a message when it could start.
    pub begin_ps: u64,
    /// When it ended: the begin of the next piece.
    pub end_ps: u64,
}
