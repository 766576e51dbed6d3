//! The nodes of a file before they are a graph: what is lost is found here, and completed if asked.

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Imported, Lost, NODES_MAX, Options, Place, ReadError};
use crate::collective::{Collective, Kind};
use crate::graph::{CollectiveId, GraphBuilder, GroupId, NodeId, Rank, Work};

/// A node that shares no unit or stream with others.
pub(super) const NO_LANE: u32 = u32::MAX;

/// Lanes of a rank beyond this number are not examined: each costs a walk through the rank.
const LANES_MAX: usize = 256;

#[derive(Clone, Copy)]
struct Node {
    rank: Rank,
    work: Work,
    lane: u32,
    file: u32,
    place: Place,
    name_end: u32,
}

/// Sends that no receive has taken yet.
#[derive(Default)]
struct Sends {
    /// The nodes by destination, source and tag.
    of: BTreeMap<(Rank, Rank, u32), Vec<NodeId>>,
    /// The keys of `of` as destination, tag and source.
    by_tag: BTreeSet<(Rank, u32, Rank)>,
}

impl Sends {
    fn add(&mut self, to: Rank, from: Rank, tag: u32, node: NodeId) {
        self.of.entry((to, from, tag)).or_default().push(node);
        self.by_tag.insert((to, tag, from));
    }

    /// Takes a send to a rank that a receive accepts; says whether there was one.
    fn take(&mut self, to: Rank, from: Option<Rank>, tag: Option<u32>) -> bool {
        let key = match (from, tag) {
            (Some(from), Some(tag)) => Some((to, from, tag)),
            (None, Some(tag)) => {
                self.by_tag.range((to, tag, 0)..=(to, tag, Rank::MAX)).next().map(|&(_, _, from)| (to, from, tag))
            }
            (from, None) => {
                let (low, high) = from.map_or((0, Rank::MAX), |from| (from, from));
                self.of.range((to, low, 0)..=(to, high, u32::MAX)).next().map(|(&key, _)| key)
            }
        };
        let Some((key, nodes)) = key.and_then(|key| self.of.get_mut(&key).map(|nodes| (key, nodes))) else {
            return false;
        };
        // Which of them does not matter: those that are left are counted.
        nodes.pop();
        if nodes.is_empty() {
            self.of.remove(&key);
            self.by_tag.remove(&(key.0, key.2, key.1));
        }
        true
    }
}

/// Nodes, dependencies, groups and collectives as a reader finds them.
pub(super) struct Draft<'a> {
    options: &'a Options<'a>,
    builder: GraphBuilder,
    ranks: u32,
    nodes: Vec<Node>,
    names: String,
    after_end: Vec<(NodeId, NodeId)>,
    after_start: Vec<(NodeId, NodeId)>,
    files: Vec<String>,
    groups: BTreeMap<Vec<Rank>, GroupId>,
    collectives: BTreeMap<(u8, u32, u64, u32), CollectiveId>,
    pub(super) lost: Lost,
    pub(super) notes: Vec<String>,
}

impl<'a> Draft<'a> {
    /// A graph of this number of ranks.
    pub(super) fn new(ranks: u32, options: &'a Options<'a>) -> Self {
        Self {
            options,
            builder: GraphBuilder::new(ranks),
            ranks,
            nodes: Vec::new(),
            names: String::new(),
            after_end: Vec::new(),
            after_start: Vec::new(),
            files: Vec::new(),
            groups: BTreeMap::new(),
            collectives: BTreeMap::new(),
            lost: Lost::default(),
            notes: Vec::new(),
        }
    }

    /// The nodes that follow are those of a file of this name.
    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.push(name.into());
    }

    /// Adds a node. Nodes of a rank with one lane are expected to have an order.
    ///
    /// # Errors
    ///
    /// There are too many, or it is a message to or from a rank that does not exist.
    pub(super) fn node(
        &mut self,
        rank: Rank,
        work: Work,
        name: &str,
        lane: u32,
        place: Place,
    ) -> Result<NodeId, ReadError> {
        if self.nodes.len() as u64 >= NODES_MAX || self.names.len() + name.len() > u32::MAX as usize {
            return Err(ReadError::new(place, format!("there are more than {NODES_MAX} nodes; give a smaller job")));
        }
        if let Work::Send { to: peer, .. } | Work::Receive { from: Some(peer), .. } = work
            && peer >= self.ranks
        {
            let reason = format!("there is no rank {peer}; the {} ranks are numbered from 0", self.ranks);
            return Err(ReadError::new(place, reason));
        }
        self.names.push_str(name);
        let file = (self.files.len() as u32).saturating_sub(1);
        self.nodes.push(Node { rank, work, lane, file, place, name_end: self.names.len() as u32 });
        Ok(self.nodes.len() as u32 - 1)
    }

    /// `node` starts after the end of `other`, a node of its rank.
    pub(super) fn after(&mut self, node: NodeId, other: NodeId) {
        self.after_end.push((node, other));
    }

    /// `node` starts after the start of `other`, a node of its rank.
    pub(super) fn after_start(&mut self, node: NodeId, other: NodeId) {
        self.after_start.push((node, other));
    }

    /// Counts a dependency of `node` on a node that the file does not have.
    pub(super) fn lose(&mut self, node: NodeId, other: u64) {
        let example = if self.lost.dependencies.number == 0 { self.shown(node as usize) } else { String::new() };
        self.lost.dependencies.add(|| format!("{example}, which waits for node {other}"));
    }

    /// Whether nodes of a rank wait for each other, so that none of them can start.
    pub(super) fn has_cycle(&self) -> bool {
        self.sorted().len() < self.nodes.len()
    }

    /// The group of these ranks, in their order.
    pub(super) fn group(&mut self, ranks: &[Rank]) -> GroupId {
        if let Some(&group) = self.groups.get(ranks) {
            return group;
        }
        let group = self.builder.add_group(ranks.to_vec());
        self.groups.insert(ranks.to_vec(), group);
        group
    }

    /// The collective of a kind, done as the caller's options say. No kind here has a matrix.
    pub(super) fn collective(&mut self, kind: Kind, octets: u64, members: u32) -> CollectiveId {
        let key = match kind {
            Kind::AllReduce => (0, 0),
            Kind::ReduceScatter => (1, 0),
            Kind::AllGather => (2, 0),
            Kind::AllToAll => (3, 0),
            Kind::AllToAllV(_) => unreachable!("no format has an all-to-all of different sizes"),
            Kind::Broadcast { root } => (4, root),
            Kind::Reduce { root } => (5, root),
            Kind::Barrier => (6, 0),
        };
        let key = (key.0, key.1, octets, members);
        if let Some(&known) = self.collectives.get(&key) {
            return known;
        }
        let made: Collective = (self.options.collective)(kind, octets, members);
        let id = self.builder.collective(made);
        self.collectives.insert(key, id);
        id
    }

    /// The name of a node.
    fn name(&self, node: usize) -> &str {
        let begin = if node == 0 { 0 } else { self.nodes[node - 1].name_end };
        &self.names[begin as usize..self.nodes[node].name_end as usize]
    }

    /// A node for a message: rank, name, file and place.
    fn shown(&self, node: usize) -> String {
        let Node { rank, file, place, .. } = self.nodes[node];
        let file = self.files.get(file as usize).map_or("", |name| name.as_str());
        let name = self.name(node);
        let name = if name.is_empty() { String::from("a node") } else { super::shown(name.as_bytes()) };
        format!("{name} of rank {rank} ({file}{place})")
    }

    /// The graph, with what is lost counted, and completed if asked.
    ///
    /// # Errors
    ///
    /// A dependency or a collective does not fit, with the place of its node.
    pub(super) fn finish(mut self) -> Result<Imported, ReadError> {
        self.find_partners()?;
        self.find_order();
        if self.options.complete {
            self.notes.extend(self.lost.notes(true));
        }
        let mut begin = 0;
        for node in &self.nodes {
            let name = &self.names[begin as usize..node.name_end as usize];
            self.builder.add_node(node.rank, node.work, name);
            begin = node.name_end;
        }
        for &(node, other) in &self.after_end {
            self.builder.after(node, other);
        }
        for &(node, other) in &self.after_start {
            self.builder.after_start(node, other);
        }
        let (nodes, files) = (self.nodes, self.files);
        let graph = self.builder.finish().map_err(|error| {
            let node = error.node.and_then(|node| nodes.get(node as usize));
            let mut wrong = ReadError::new(node.map_or(Place::File, |node| node.place), error.message);
            wrong.file = node.and_then(|node| files.get(node.file as usize)).cloned().unwrap_or_default();
            wrong
        })?;
        Ok(Imported { graph, lost: self.lost, notes: self.notes })
    }

    /// Counts sends and receives that match none, and adds their partners if asked.
    ///
    /// A receive of a source and a tag goes first, then one of any tag, of any source, and of anything.
    fn find_partners(&mut self) -> Result<(), ReadError> {
        let mut sends = Sends::default();
        let mut receives: [Vec<u32>; 4] = Default::default();
        for (index, node) in (0..).zip(&self.nodes) {
            match node.work {
                Work::Send { to, tag, .. } => sends.add(to, node.rank, tag, index),
                Work::Receive { from, tag, .. } => {
                    receives[2 * usize::from(from.is_none()) + usize::from(tag.is_none())].push(index);
                }
                _ => {}
            }
        }
        let mut lone = Vec::new();
        for receive in receives.into_iter().flatten() {
            let Node { rank, work, .. } = self.nodes[receive as usize];
            if let Work::Receive { from, tag, .. } = work
                && !sends.take(rank, from, tag)
            {
                lone.push(receive);
            }
        }
        lone.sort_unstable();
        for &receive in &lone {
            let example = self.shown(receive as usize);
            self.lost.receives.add(|| example);
        }
        let mut left: Vec<u32> = sends.of.into_values().flatten().collect();
        left.sort_unstable();
        for &send in &left {
            let example = self.shown(send as usize);
            self.lost.sends.add(|| example);
        }
        if !self.options.complete {
            return Ok(());
        }
        for index in lone.into_iter().chain(left) {
            let Node { rank, work, place, .. } = self.nodes[index as usize];
            let (partner, work) = match work {
                Work::Receive { from: Some(from), octets, tag } => {
                    (from, Work::Send { to: rank, octets, tag: tag.unwrap_or(0) })
                }
                Work::Send { to, octets, tag } => (to, Work::Receive { from: Some(rank), octets, tag: Some(tag) }),
                _ => continue,
            };
            self.node(partner, work, "added", NO_LANE, place)?;
        }
        Ok(())
    }

    /// Counts nodes that follow each other in a lane without a dependency, and adds one if asked.
    ///
    /// A rank's nodes are sorted by their dependencies, then by their order in the file. In that order, each node knows
    /// the last node of a lane that it waits for, directly or not: the neighbours of a lane have an order if that is
    /// the neighbour. Nodes in a cycle are left to [`crate::Graph::check`].
    fn find_order(&mut self) {
        if self.nodes.iter().all(|node| node.lane == NO_LANE) {
            return;
        }
        let order = self.sorted();
        let mut awaits: Vec<(NodeId, NodeId)> = self.after_end.iter().chain(&self.after_start).copied().collect();
        awaits.sort_unstable();
        let of_node = |node: NodeId| {
            let begin = awaits.partition_point(|pair| pair.0 < node);
            awaits[begin..].iter().take_while(move |pair| pair.0 == node).map(|pair| pair.1)
        };
        let mut by_rank: BTreeMap<Rank, Vec<NodeId>> = BTreeMap::new();
        for node in order {
            by_rank.entry(self.nodes[node as usize].rank).or_default().push(node);
        }
        // For each node the position in the lane of the last one that it waits for, from 1; 0 is none.
        let mut last = alloc::vec![0_u32; self.nodes.len()];
        let mut pairs = Vec::new();
        for nodes in by_rank.values() {
            let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
            for &node in nodes {
                *counts.entry(self.nodes[node as usize].lane).or_default() += 1;
            }
            let lanes = counts.iter().filter(|&(&lane, &count)| lane != NO_LANE && count > 1);
            for (&lane, _) in lanes.take(LANES_MAX) {
                let (mut position, mut before) = (0, None);
                for &node in nodes {
                    let reached = of_node(node).map(|other| last[other as usize]).max().unwrap_or(0);
                    last[node as usize] = reached;
                    if self.nodes[node as usize].lane == lane {
                        if let Some(before) = before.filter(|_| reached != position) {
                            pairs.push((node, before));
                        }
                        position += 1;
                        before = Some(node);
                        last[node as usize] = position;
                    }
                }
            }
        }
        for &(node, before) in &pairs {
            let example = format!("{} and {}", self.shown(before as usize), self.shown(node as usize));
            self.lost.unordered.add(|| example);
        }
        if self.options.complete {
            self.after_end.append(&mut pairs);
        }
    }

    /// The nodes so that each comes after those that it waits for, of several the first in the file first; without
    /// those of cycles.
    fn sorted(&self) -> Vec<NodeId> {
        let pairs = || self.after_end.iter().chain(&self.after_start);
        let mut left = alloc::vec![0_u32; self.nodes.len()];
        let mut waiting: Vec<(NodeId, NodeId)> = pairs().map(|&(node, other)| (other, node)).collect();
        waiting.sort_unstable();
        pairs().for_each(|&(node, _)| left[node as usize] += 1);
        let mut ready: BinaryHeap<Reverse<NodeId>> =
            (0..self.nodes.len() as u32).filter(|&node| left[node as usize] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            let begin = waiting.partition_point(|pair| pair.0 < node);
            for &(_, freed) in waiting[begin..].iter().take_while(|pair| pair.0 == node) {
                left[freed as usize] -= 1;
                if left[freed as usize] == 0 {
                    ready.push(Reverse(freed));
                }
            }
        }
        order
    }
}
