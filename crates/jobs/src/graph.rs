//! Graphs of work: nodes of ranks, and what each waits for.
//!
//! Dependencies bind nodes of one rank; between ranks only messages go. A send ends when its last octet is at the
//! receiver, a receive when that octet is there and the receive has begun.

use alloc::collections::BTreeSet;
use alloc::format;
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
    /// A unit of the rank is busy for a time. Computations of a unit run one after another, in the order in which they
    /// may begin, then of their nodes.
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
    /// Messages of one source, destination and tag are matched in the order in which dependencies allow them, then of
    /// their nodes. If a rank has a receive from any source or of any tag, its receives take messages as they arrive,
    /// and their sizes are not compared.
    Receive {
        /// The source; `None` is any.
        from: Option<Rank>,
        /// The size of the message.
        octets: u64,
        /// The tag; `None` is any.
        tag: Option<u32>,
    },
    /// The part of the rank in a collective of a group. The n-th of a group at a rank, in the order of messages,
    /// belongs to the n-th at the other members. No node may need the end at one member for the begin at another.
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
    /// For each group its ranks in ascending order, each with its index in the group.
    members: Vec<Vec<(Rank, u32)>>,
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
    /// A rank, node, group, root, level or matrix that does not exist or does not fit, or a dependency between two
    /// ranks. Cycles and missing partners are found by [`Graph::check`].
    pub fn finish(self) -> Result<Graph, GraphError> {
        let Self { mut graph, mut after_end, mut after_start } = self;
        let most = u32::MAX as usize;
        let many = [graph.names.len(), after_end.len(), after_start.len()].iter().any(|&count| count > most);
        if graph.work.len() > NODES_MAX || many {
            let message = format!("a graph has at most {NODES_MAX} nodes, 2^32 dependencies and 4 GiB of names");
            return Err(GraphError::new(None, message));
        }
        for (index, group) in graph.groups.iter().enumerate() {
            let mut members: Vec<_> = group.iter().copied().zip(0..).collect();
            members.sort_unstable();
            if let Some(&(rank, _)) = members.last().filter(|member| member.0 >= graph.ranks) {
                return Err(GraphError::new(None, format!("group {index}: {}", graph.no_rank(rank))));
            }
            if let Some(twice) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let rank = twice[0].0;
                return Err(GraphError::new(None, format!("group {index} has rank {rank} twice: once")));
            }
            graph.members.push(members);
        }
        let mut checked = BTreeSet::new();
        for node in 0..graph.len() {
            graph.check_node(node, &mut checked)?;
        }
        for (node, other) in after_end.iter().chain(&after_start) {
            let Some(missing) = [node, other].into_iter().find(|&&node| node >= graph.len()) else {
                let (of, at) = (graph.rank(*node), graph.rank(*other));
                if of == at {
                    continue;
                }
                let (node_text, other) = (graph.describe(*node), graph.describe(*other));
                let message = format!("{node_text} waits for {other}: between ranks write a send and a receive");
                return Err(GraphError::new(Some(*node), message));
            };
            let message = format!("a dependency names node {missing}, of {}: a node that was added", graph.len());
            return Err(GraphError::new(None, message));
        }
        for pairs in [&mut after_end, &mut after_start] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        graph.after_end = Edges::new(graph.rank.len(), &after_end);
        graph.after_start = Edges::new(graph.rank.len(), &after_start);
        Ok(graph)
    }
}

/// Events of nodes are numbered in 32 bits, two for each.
const NODES_MAX: usize = 1 << 30;

impl Graph {
    /// Refuses a node that names something that does not exist. `checked` has the pairs of groups and collectives that
    /// fit.
    fn check_node(&self, node: NodeId, checked: &mut BTreeSet<(GroupId, CollectiveId)>) -> Result<(), GraphError> {
        let refuse = |message: String| Err(GraphError::new(Some(node), format!("{}: {message}", self.describe(node))));
        if self.rank(node) >= self.ranks {
            return refuse(self.no_rank(self.rank(node)));
        }
        match self.work(node) {
            Work::Send { to: rank, .. } | Work::Receive { from: Some(rank), .. } if rank >= self.ranks => {
                refuse(self.no_rank(rank))
            }
            Work::Compute { time: Time::Uniform { low_ps, high_ps }, .. } if low_ps > high_ps => {
                refuse(format!("the smallest time, {low_ps} ps, is above the largest, {high_ps} ps"))
            }
            Work::Collective { group, .. } if group as usize >= self.groups.len() => {
                refuse(format!("there is no group {group}, of {}", self.groups.len()))
            }
            Work::Collective { collective, .. } if collective as usize >= self.collectives.len() => {
                refuse(format!("there is no collective {collective}, of {}", self.collectives.len()))
            }
            Work::Collective { group, .. } if self.member(group, self.rank(node)).is_none() => {
                refuse(format!("rank {} is not in group {group}", self.rank(node)))
            }
            Work::Collective { group, collective } if checked.insert((group, collective)) => {
                let members = self.groups[group as usize].len() as u32;
                self.collectives[collective as usize].check(members).or_else(refuse)
            }
            _ => Ok(()),
        }
    }

    /// The complaint about a rank.
    fn no_rank(&self, rank: Rank) -> String {
        format!("there is no rank {rank}: the job has {} ranks, from 0", self.ranks)
    }

    /// The index of a rank in a group.
    pub(crate) fn member(&self, group: GroupId, rank: Rank) -> Option<u32> {
        let members = &self.members[group as usize];
        members.binary_search_by_key(&rank, |member| member.0).ok().map(|at| members[at].1)
    }

    /// A node in messages: its number, name, rank and work.
    #[must_use]
    pub fn describe(&self, node: NodeId) -> String {
        let name = self.name(node);
        let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let any = |value: Option<u32>| value.map_or_else(|| String::from("any"), |value| format!("{value}"));
        let work = match self.work(node) {
            Work::Compute { unit, .. } => format!("computation on unit {unit}"),
            Work::Delay { ps } => format!("delay of {ps} ps"),
            Work::Send { to, octets, tag } => format!("send of {octets} octets to rank {to}, tag {tag}"),
            Work::Receive { from, octets, tag } => {
                format!("receive of {octets} octets from rank {}, tag {}", any(from), any(tag))
            }
            Work::Collective { group, collective } => match self.collectives.get(collective as usize) {
                Some(known) => format!("{} of {} octets in group {group}", known.kind.name(), known.octets),
                None => format!("collective {collective} of group {group}"),
            },
        };
        format!("node {node}{name} of rank {} ({work})", self.rank(node))
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

impl GraphError {
    /// An error at a node, or at none.
    pub(crate) fn new(node: Option<NodeId>, message: String) -> Self {
        Self { node, message }
    }
}

impl core::error::Error for GraphError {}
