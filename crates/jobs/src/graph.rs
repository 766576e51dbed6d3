//! Graphs of work: nodes of ranks, and what each waits for.
//!
//! Dependencies bind nodes of one rank; between ranks only messages go. A send ends when its last octet is at the receiver, a receive
//! when that octet is there and the receive has begun.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::collective::Collective;
use crate::time::Time;

/// A process of the job, from 0.
pub type Rank = u32;
/// A node's index, in the order in which nodes were added.
pub type NodeId = u32;
/// A group's index, in the order in which groups were added.
pub type GroupId = u32;
/// A collective's index; equal ones share it.
pub type CollectiveId = u32;

/// The work of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A unit of the rank is busy for a time. Computations of a unit run one after another, in the order in which they may begin, then
    /// of their nodes.
    Compute {
        /// How long.
        time: Time,
        /// The unit (GOAL's `cpu`, a stream of a GPU).
        unit: u32,
    },
    /// A time that occupies nothing. One of 0 joins dependencies.
    Delay {
        /// How long.
        ps: u64,
    },
    /// A message to a rank, also to the own one.
    Send {
        /// The destination.
        to: Rank,
        /// Its size, also 0.
        octets: u64,
        /// What its receive must name.
        tag: u32,
    },
    /// A message from a rank.
    ///
    /// Messages of one source, destination and tag are matched in the order in which dependencies allow them, then of their nodes.
    Receive {
        /// The source; `None` is any.
        from: Option<Rank>,
        /// The size of the message.
        octets: u64,
        /// The tag; `None` is any.
        tag: Option<u32>,
    },
    /// The part of the rank in a collective of a group. The n-th of a group at a rank, in the order of nodes, belongs to the n-th at the
    /// other members.
    Collective {
        /// Whose.
        group: GroupId,
        /// Which.
        collective: CollectiveId,
    },
}

/// Nodes, their dependencies, groups and collectives. Made by a [`GraphBuilder`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    ranks: u32,
    rank: Vec<Rank>,
    work: Vec<Work>,
    name_ends: Vec<u32>,
    names: String,
    pub(crate) after_end: Edges,
    pub(crate) after_start: Edges,
    groups: Vec<Vec<Rank>>,
    collectives: Vec<Collective>,
}

/// For each node the nodes that wait for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// The end of each node's part in `waiting`.
    ends: Vec<u32>,
    waiting: Vec<NodeId>,
}

impl Edges {
    /// Pairs (waiting node, awaited node), in any order.
    fn new(nodes: usize, pairs: &[(NodeId, NodeId)]) -> Self {
        let mut ends = alloc::vec![0_u32; nodes];
        for &(_, other) in pairs {
            ends[other as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            let count = *end;
            // The begin for now; each entry moves it on to the end.
            *end = sum;
            sum += count;
        }
        let mut waiting = alloc::vec![0; pairs.len()];
        for &(node, other) in pairs {
            let at = &mut ends[other as usize];
            waiting[*at as usize] = node;
            *at += 1;
        }
        Self { ends, waiting }
    }

    /// The nodes that wait for a node.
    pub(crate) fn of(&self, node: NodeId) -> &[NodeId] {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.waiting[begin as usize..self.ends[node] as usize]
    }
}

impl Graph {
    /// The number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.rank.len() as u32
    }

    /// Whether it has no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rank.is_empty()
    }

    /// The rank of a node.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> Rank {
        self.rank[node as usize]
    }

    /// The work of a node.
    #[must_use]
    pub fn work(&self, node: NodeId) -> Work {
        self.work[node as usize]
    }

    /// The name of a node, empty if it has none.
    #[must_use]
    pub fn name(&self, node: NodeId) -> &str {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.name_ends[node - 1] };
        &self.names[begin as usize..self.name_ends[node] as usize]
    }

    /// The nodes that wait for the end of a node.
    #[must_use]
    pub fn waiting_for_end(&self, node: NodeId) -> &[NodeId] {
        self.after_end.of(node)
    }

    /// The nodes that wait for the start of a node.
    #[must_use]
    pub fn waiting_for_start(&self, node: NodeId) -> &[NodeId] {
        self.after_start.of(node)
    }

    /// The members of each group.
    #[must_use]
    pub fn groups(&self) -> &[Vec<Rank>] {
        &self.groups
    }

    /// The collectives that nodes name.
    #[must_use]
    pub fn collectives(&self) -> &[Collective] {
        &self.collectives
    }
}

/// Collects nodes and dependencies.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    graph: Graph,
    after_end: Vec<(NodeId, NodeId)>,
    after_start: Vec<(NodeId, NodeId)>,
}

impl GraphBuilder {
    /// A graph of this number of ranks, without nodes.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Self { graph: Graph { ranks, ..Graph::default() }, ..Self::default() }
    }

    /// Adds a node. The name appears in messages and records; it may be empty.
    pub fn add_node(&mut self, rank: Rank, work: Work, name: &str) -> NodeId {
        let graph = &mut self.graph;
        graph.rank.push(rank);
        graph.work.push(work);
        graph.names.push_str(name);
        graph.name_ends.push(graph.names.len() as u32);
        graph.len() - 1
    }

    /// `node` starts after the end of `other`.
    pub fn after(&mut self, node: NodeId, other: NodeId) {
        self.after_end.push((node, other));
    }

    /// `node` starts after the start of `other`.
    pub fn after_start(&mut self, node: NodeId, other: NodeId) {
        self.after_start.push((node, other));
    }

    /// Adds a group of ranks, in the order of a ring.
    pub fn add_group(&mut self, ranks: Vec<Rank>) -> GroupId {
        self.graph.groups.push(ranks);
        self.graph.groups.len() as u32 - 1
    }

    /// The index of a collective, which is added if there is none like it.
    pub fn collective(&mut self, collective: Collective) -> CollectiveId {
        let known = &mut self.graph.collectives;
        let at = known.iter().position(|other| *other == collective).unwrap_or(known.len());
        if at == known.len() {
            known.push(collective);
        }
        at as u32
    }

    /// The graph.
    ///
    /// # Errors
    ///
    /// A rank, node, group, root, level or matrix that does not exist or does not fit, or a dependency between two ranks. Cycles and
    /// missing partners are found by [`Graph::check`].
    pub fn finish(self) -> Result<Graph, GraphError> {
        let Self { mut graph, after_end, after_start } = self;
        graph.after_end = Edges::new(graph.rank.len(), &after_end);
        graph.after_start = Edges::new(graph.rank.len(), &after_start);
        Ok(graph)
    }
}

/// Why a graph cannot run: a sentence that names the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// The node at fault, if it is one.
    pub node: Option<NodeId>,
    /// What is wrong, and with which nodes.
    pub message: String,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for GraphError {}
