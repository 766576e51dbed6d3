//! Graphs as Chakra's execution traces in protobuf, a file a rank; [`crate::read::chakra`] has the source of the
//! format.
//!
//! Nodes of a rank are numbered from 0 in their order. A duration that is no whole number of microseconds is in the
//! attribute `duration_ps`. A delay is a metadata node, with its duration. A group is named by its number, and the
//! members of all groups are a text of JSON, as ASTRA-sim reads it. Algorithms of collectives are left out.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{WriteError, by_rank};
use crate::collective::Kind;
use crate::graph::{Graph, GroupId, NodeId, Rank, Work};
use crate::read::DURATION_PS;
use crate::time::Time;

/// The version of the schema that files state.
const SCHEMA: &str = "1.0.2-chakra.0.0.4";

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

/// Writes the traces of all ranks.
///
/// # Errors
///
/// A node waits for a start, has a drawn time, a unit beyond 2^30, or is an all-to-all of different sizes. Or an
/// all-gather has octets that its members do not share equally.
pub fn write(graph: &Graph) -> Result<Traces, WriteError> {
    let mut delays = 0_u64;
    let mut named: BTreeMap<GroupId, &[Rank]> = BTreeMap::new();
    let mut files = Vec::new();
    let awaited = awaited(graph)?;
    for nodes in by_rank(graph) {
        let (mut file, mut metadata) = (Vec::new(), Vec::new());
        part(&mut metadata, 1, SCHEMA.as_bytes());
        delimited(&mut file, &metadata);
        let numbers: BTreeMap<NodeId, u64> = nodes.iter().copied().zip(0..).collect();
        for &node in &nodes {
            let (mut message, mut packed) = (Vec::new(), Vec::new());
            let first = awaited.partition_point(|pair| pair.0 < node);
            for (_, other) in awaited[first..].iter().take_while(|pair| pair.0 == node) {
                varint(&mut packed, numbers[other]);
            }
            let work = graph.work(node);
            delays += u64::from(matches!(work, Work::Delay { ps: 1.. }));
            number(&mut message, 1, numbers[&node]);
            part(&mut message, 2, graph.name(node).as_bytes());
            number(&mut message, 3, kind(work));
            part(&mut message, 5, &packed);
            let grouped =
                attributes(&mut message, graph, work).map_err(|reason| WriteError::new(graph, node, reason))?;
            named.extend(grouped.map(|group| (group, &graph.groups()[group as usize][..])));
            delimited(&mut file, &message);
        }
        files.push(file);
    }
    let mut notes = Vec::new();
    if delays > 0 {
        notes.push(format!("{delays} delays are metadata nodes, which take no time in other simulators"));
    }
    let lists: Vec<String> = named.iter().map(|(group, ranks)| format!("\"{group}\": {ranks:?}")).collect();
    let groups = if lists.is_empty() { String::new() } else { format!("{{{}}}\n", lists.join(", ")) };
    Ok(Traces { files, groups, notes })
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

/// Writes the duration and the attributes of a node; returns the group whose members must be given beside the traces.
fn attributes(message: &mut Vec<u8>, graph: &Graph, work: Work) -> Result<Option<GroupId>, &'static str> {
    match work {
        Work::Delay { ps } => duration(message, ps),
        Work::Compute { time: Time::Fixed(ps), unit } if unit < 1 << 30 => {
            duration(message, ps);
            attribute(message, "is_cpu_op", 27, u64::from(unit % 2 == 0));
            attribute(message, if unit % 2 == 0 { "tid" } else { "stream" }, 9, u64::from(unit / 2));
        }
        Work::Compute { time: Time::Fixed(_), .. } => return Err("a trace has units below 2^30; use smaller ones"),
        Work::Compute { .. } => return Err("a trace has no drawn times; give the computation a fixed time"),
        Work::Send { to, octets, tag } => {
            size(message, octets);
            small(message, "comm_dst", Some(to));
            small(message, "comm_tag", Some(tag));
        }
        Work::Receive { from, octets, tag } => {
            size(message, octets);
            small(message, "comm_src", from);
            small(message, "comm_tag", tag);
        }
        Work::Collective { group, collective } => {
            let members = &graph.groups()[group as usize][..];
            let collective = &graph.collectives()[collective as usize];
            let mut octets = collective.octets;
            let number = match collective.kind {
                Kind::AllReduce => 0,
                Kind::Reduce { root } => {
                    small(message, "comm_dst", Some(members[root as usize]));
                    1
                }
                Kind::AllGather if octets.is_multiple_of(members.len() as u64) => {
                    octets /= members.len() as u64;
                    2
                }
                Kind::AllGather => return Err("a trace has equal parts; let the members share the octets equally"),
                Kind::Broadcast { root } => {
                    small(message, "comm_src", Some(members[root as usize]));
                    5
                }
                Kind::AllToAll => 6,
                Kind::ReduceScatter => 7,
                Kind::Barrier => 9,
                Kind::AllToAllV(_) => return Err("a trace has no all-to-all of different sizes; write its messages"),
            };
            attribute(message, "is_cpu_op", 27, 0);
            attribute(message, "comm_type", 9, number);
            size(message, octets);
            if !members.iter().copied().eq(0..graph.ranks()) {
                let mut attribute = Vec::new();
                part(&mut attribute, 1, b"pg_name");
                part(&mut attribute, 29, format!("{group}").as_bytes());
                part(message, 10, &attribute);
                return Ok(Some(group));
            }
        }
    }
    Ok(None)
}

fn duration(message: &mut Vec<u8>, ps: u64) {
    if ps.is_multiple_of(1_000_000) {
        number(message, 7, ps / 1_000_000);
    } else {
        attribute(message, DURATION_PS, 13, ps);
    }
}

/// Writes `comm_size` as other programs do, in 64 bits with a sign where that is enough.
fn size(message: &mut Vec<u8>, octets: u64) {
    attribute(message, "comm_size", if i64::try_from(octets).is_ok() { 9 } else { 13 }, octets);
}

/// Writes a rank or a tag as other programs do, in 32 bits with a sign where that is enough; -1 stands for any.
fn small(message: &mut Vec<u8>, name: &str, value: Option<u32>) {
    match value {
        Some(value) => attribute(message, name, if i32::try_from(value).is_ok() { 7 } else { 11 }, u64::from(value)),
        None => attribute(message, name, 7, u64::MAX),
    }
}

fn attribute(message: &mut Vec<u8>, name: &str, field: u64, value: u64) {
    let mut attribute = Vec::new();
    part(&mut attribute, 1, name.as_bytes());
    // A value of a oneof is written even if it is 0: it says which of them is set.
    varint(&mut attribute, field << 3);
    varint(&mut attribute, value);
    part(message, 10, &attribute);
}

fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Writes a number; 0 is left out, as protobuf does.
fn number(into: &mut Vec<u8>, field: u64, value: u64) {
    if value > 0 {
        varint(into, field << 3);
        varint(into, value);
    }
}

/// Writes a message, a text or a list inside of another message; an empty one is left out.
fn part(into: &mut Vec<u8>, field: u64, octets: &[u8]) {
    if !octets.is_empty() {
        varint(into, field << 3 | 2);
        delimited(into, octets);
    }
}

fn delimited(into: &mut Vec<u8>, octets: &[u8]) {
    varint(into, octets.len() as u64);
    into.extend_from_slice(octets);
}
