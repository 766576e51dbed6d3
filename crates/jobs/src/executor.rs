//! The state machine that runs a graph by completions.

use alloc::string::String;
use alloc::vec::Vec;

use crate::graph::{Graph, GraphError, NodeId, Rank};

/// A message of a run, from 0 and dense over the job: sends of the first iteration, messages of its collectives, then those of the next
/// iteration.
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
}

/// What the caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a message; report its last octet by [`Executor::delivered`].
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
    /// The dependency that ended last, and so let it begin.
    pub after: Option<NodeId>,
    /// The message whose arrival ended it: of a receive or a collective.
    pub message: Option<MessageId>,
}

/// Runs a graph. Its caller keeps the time, sends messages and reports them.
///
/// After each call, [`next_wake_ps`](Self::next_wake_ps) says when to call [`wake`](Self::wake) next. Times never decrease.
#[derive(Clone, Debug)]
pub struct Executor {}

impl Executor {
    /// An executor of a graph, which it checks first.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::check`], and hosts of a number other than that of the ranks.
    pub fn new(_graph: Graph, _settings: Settings) -> Result<Self, GraphError> {
        unimplemented!()
    }

    /// Starts the job. Called once, before the others.
    pub fn start(&mut self, _now_ps: u64, _out: &mut Vec<Action>) {
        unimplemented!()
    }

    /// The last octet of a message is at its receiver.
    ///
    /// # Panics
    ///
    /// If the message has not been sent, or was reported before.
    pub fn delivered(&mut self, _message: MessageId, _now_ps: u64, _out: &mut Vec<Action>) {
        unimplemented!()
    }

    /// Ends what ends at or before `now_ps`: computations, delays, messages inside of hosts.
    pub fn wake(&mut self, _now_ps: u64, _out: &mut Vec<Action>) {
        unimplemented!()
    }

    /// When [`wake`](Self::wake) has something to do; `None` if it only waits for messages.
    #[must_use]
    pub fn next_wake_ps(&self) -> Option<u64> {
        unimplemented!()
    }

    /// Whether all has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        unimplemented!()
    }

    /// Messages of the whole job, those inside of hosts included: one more than the largest number.
    #[must_use]
    pub fn messages(&self) -> u64 {
        unimplemented!()
    }

    /// The nodes that have begun and not ended, and those that wait while nothing else of their rank runs: for each a sentence with its
    /// name and what it waits for. At most `limit` of them.
    #[must_use]
    pub fn waiting(&self, _limit: usize) -> Vec<String> {
        unimplemented!()
    }

    /// Takes the records of what has ended since the last call, in the order of their ends.
    pub fn take_records(&mut self) -> Vec<Record> {
        unimplemented!()
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        unimplemented!()
    }
}
