//! Nodes of Chakra's traces before they are encoded: numbers, names, dependencies and attributes.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{WriteError, by_rank};
use crate::collective::{Collective, Kind};
use crate::graph::{Graph, GroupId, NodeId, Rank, Work};
use crate::read::{CALLS, DURATION_PS, usual_collective};
use crate::time::Time;

/// Traces, a file a rank, and what belongs to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traces {
    /// The file of each rank, from rank 0.
    pub files: Vec<Vec<u8>>,
    /// The members of groups by their names, in JSON; empty where no collective has a group.
    pub groups: String,
    /// What is said in another way.
    pub notes: Vec<String>,
}

/// A node of a rank.
pub(super) struct TraceNode<'a> {
    pub(super) id: u64,
    pub(super) name: &'a str,
    /// Its type, by its number.
    pub(super) kind: u64,
    /// The numbers of the nodes whose ends it waits for.
    pub(super) data_deps: Vec<u64>,
    pub(super) duration_us: u64,
    pub(super) attributes: Vec<(&'static str, Value)>,
}

/// The value of an attribute, with the type that other programs give it.
pub(super) enum Value {
    Bool(bool),
    Int32(i32),
    Uint32(u32),
    Int64(i64),
    Uint64(u64),
    Text(String),
}

/// The traces of all ranks, each encoded from its nodes.
///
/// # Errors
///
/// A node waits for a start, has a drawn time, a unit beyond 2^30, or is an all-to-all of different sizes. Or an
/// all-gather has octets that its members do not share equally.
pub(super) fn write(graph: &Graph, encode: fn(&[TraceNode<'_>]) -> Vec<u8>) -> Result<Traces, WriteError> {
    let (mut delays, mut unusual) = (0_u64, 0_u64);
    let mut named: BTreeMap<GroupId, &[Rank]> = BTreeMap::new();
    let mut files = Vec::new();
    let awaited = awaited(graph)?;
    for nodes in by_rank(graph) {
        let numbers: BTreeMap<NodeId, u64> = nodes.iter().copied().zip(0..).collect();
        let mut trace = Vec::with_capacity(nodes.len());
        for &node in &nodes {
            let first = awaited.partition_point(|pair| pair.0 < node);
            let others = awaited[first..].iter().take_while(|pair| pair.0 == node);
            let work = graph.work(node);
            delays += u64::from(matches!(work, Work::Delay { ps: 1.. }));
            unusual += u64::from(is_unusual(graph, work));
            let mut written = TraceNode {
                id: numbers[&node],
                name: graph.name(node),
                kind: kind(work),
                data_deps: others.map(|(_, other)| numbers[other]).collect(),
                duration_us: 0,
                attributes: Vec::new(),
            };
            let grouped = written.describe(graph, work).map_err(|reason| WriteError::new(graph, node, reason))?;
            named.extend(grouped.map(|group| (group, &graph.groups()[group as usize][..])));
            trace.push(written);
        }
        files.push(encode(&trace));
    }
    let mut notes = Vec::new();
    if delays > 0 {
        notes.push(format!("{delays} delays are metadata nodes, which take no time in other simulators"));
    }
    if unusual > 0 {
        notes.push(format!("{unusual} nodes have an algorithm, channels, chunks or a latency, which traces lack"));
    }
    let lists: Vec<String> = named.iter().map(|(group, ranks)| format!("\"{group}\": {ranks:?}")).collect();
    let groups = if lists.is_empty() { String::new() } else { format!("{{{}}}\n", lists.join(", ")) };
    Ok(Traces { files, groups, notes })
}

/// Whether a collective is another than the one that a reader makes of its trace.
fn is_unusual(graph: &Graph, work: Work) -> bool {
    let Work::Collective { group, collective } = work else { return false };
    let known: &Collective = &graph.collectives()[collective as usize];
    let members = graph.groups()[group as usize].len() as u32;
    let usual = usual_collective(known.kind.clone(), known.octets, members);
    // Of one chunk no second is in flight.
    *known != Collective { in_flight: if known.chunks == 1 { known.in_flight } else { usual.in_flight }, ..usual }
}

/// Pairs of a node and one whose end it waits for, by the first.
fn awaited(graph: &Graph) -> Result<Vec<(NodeId, NodeId)>, WriteError> {
    let mut pairs = Vec::new();
    for other in 0..graph.len() {
        if let Some(&node) = graph.waiting_for_start(other).first() {
            return Err(WriteError::new(graph, node, "a trace has no dependency on a start; let it wait for an end"));
        }
        pairs.extend(graph.waiting_for_end(other).iter().map(|&node| (node, other)));
    }
    pairs.sort_unstable();
    Ok(pairs)
}

fn kind(work: Work) -> u64 {
    match work {
        Work::Delay { .. } => 1,
        Work::Compute { .. } => 4,
        Work::Send { .. } => 5,
        Work::Receive { .. } => 6,
        Work::Collective { .. } => 7,
    }
}

impl TraceNode<'_> {
    /// Takes duration and attributes of a node; returns the group whose members must be given beside the traces.
    fn describe(&mut self, graph: &Graph, work: Work) -> Result<Option<GroupId>, &'static str> {
        match work {
            Work::Delay { ps } => self.last(ps),
            Work::Compute { time: Time::Fixed(ps), unit: CALLS } => {
                // A collective without octets, as calls are in traces of PyTorch.
                self.kind = 7;
                self.last(ps);
                self.add("is_cpu_op", Value::Bool(false));
            }
            Work::Compute { time: Time::Fixed(ps), unit } if unit < 1 << 30 => {
                self.last(ps);
                self.add("is_cpu_op", Value::Bool(unit % 2 == 0));
                self.add(if unit % 2 == 0 { "tid" } else { "stream" }, Value::Int64(i64::from(unit / 2)));
            }
            Work::Compute { time: Time::Fixed(_), .. } => {
                return Err("a trace has units below 2^30; use smaller ones");
            }
            Work::Compute { .. } => return Err("a trace has no drawn times; give the computation a fixed time"),
            Work::Send { to, octets, tag } => {
                self.size(octets);
                self.small("comm_dst", Some(to));
                self.small("comm_tag", Some(tag));
            }
            Work::Receive { from, octets, tag } => {
                self.size(octets);
                self.small("comm_src", from);
                self.small("comm_tag", tag);
            }
            Work::Collective { group, collective } => {
                let members = &graph.groups()[group as usize][..];
                let collective = &graph.collectives()[collective as usize];
                let mut octets = collective.octets;
                let number = match collective.kind {
                    Kind::AllReduce => 0,
                    Kind::Reduce { root } => {
                        self.small("comm_dst", Some(members[root as usize]));
                        1
                    }
                    Kind::AllGather if octets.is_multiple_of(members.len() as u64) => {
                        octets /= members.len() as u64;
                        2
                    }
                    Kind::AllGather => {
                        return Err("a trace has equal parts; let the members share the octets equally");
                    }
                    Kind::Broadcast { root } => {
                        self.small("comm_src", Some(members[root as usize]));
                        5
                    }
                    Kind::AllToAll => 6,
                    Kind::ReduceScatter => 7,
                    Kind::Barrier => 9,
                    Kind::AllToAllV(_) => {
                        return Err("a trace has no all-to-all of different sizes; write its messages");
                    }
                };
                self.add("is_cpu_op", Value::Bool(false));
                self.add("comm_type", Value::Int64(number));
                self.size(octets);
                if !members.iter().copied().eq(0..graph.ranks()) {
                    self.add("pg_name", Value::Text(group.to_string()));
                    return Ok(Some(group));
                }
            }
        }
        Ok(None)
    }

    fn add(&mut self, name: &'static str, value: Value) {
        self.attributes.push((name, value));
    }

    fn last(&mut self, ps: u64) {
        if ps.is_multiple_of(1_000_000) {
            self.duration_us = ps / 1_000_000;
        } else {
            self.add(DURATION_PS, Value::Uint64(ps));
        }
    }

    /// Takes `comm_size` as other programs write it, in 64 bits with a sign where that is enough.
    fn size(&mut self, octets: u64) {
        self.add("comm_size", i64::try_from(octets).map_or(Value::Uint64(octets), Value::Int64));
    }

    /// Takes a rank or a tag as other programs write it, in 32 bits with a sign where that is enough; -1 is any.
    fn small(&mut self, name: &'static str, value: Option<u32>) {
        let small = |value: u32| i32::try_from(value).map_or(Value::Uint32(value), Value::Int32);
        self.add(name, value.map_or(Value::Int32(-1), small));
    }
}
