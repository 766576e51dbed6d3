//! Graphs as schedules of LogGOPSim, in the grammar of [`crate::read::goal`].
//!
//! A node keeps its name as its label where it can be one; otherwise its label is `l` and its number in the rank,
//! counted from one. A time is rounded to nanoseconds. A delay is a calculation on the cpu 255, where no computation of
//! the rank has to wait for it. A unit from 256 on, and 255 beside delays, has the smallest cpu that is free
//! at its rank. Collectives must have been written out before, by [`Graph::expand`].

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::{WriteError, by_rank};
use crate::graph::{Graph, NodeId, Work};
use crate::time::Time;

/// The cpu of delays.
const DELAYS: u32 = 255;

/// Schedules as text, and sentences on what they say in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The file.
    pub text: String,
    /// What was rounded or replaced.
    pub notes: Vec<String>,
}

/// Writes the schedules of all ranks.
///
/// # Errors
///
/// A node is a collective, or has a drawn time; or a rank has more units than there are cpus.
pub fn write(graph: &Graph) -> Result<Goal, WriteError> {
    let mut text = format!("num_ranks {}\n", graph.ranks());
    let (mut rounded, mut delays, mut renumbered) = (0_u64, 0_u64, 0_u64);
    for (rank, nodes) in by_rank(graph).into_iter().enumerate() {
        let labels = labels(graph, &nodes);
        let cpus = cpus(graph, &nodes);
        let _ = write!(text, "\nrank {rank} {{\n");
        for (&node, label) in nodes.iter().zip(&labels) {
            if !label.is_empty() {
                let _ = write!(text, "{label}: ");
            }
            let work = graph.work(node);
            let operation = operation(work, &cpus).map_err(|reason| WriteError::new(graph, node, reason))?;
            let _ = writeln!(text, "{operation}");
            if let Work::Compute { time: Time::Fixed(ps), .. } | Work::Delay { ps } = work {
                rounded += u64::from(ps % 1000 != 0);
                delays += u64::from(matches!(work, Work::Delay { .. }));
                renumbered += u64::from(matches!(work, Work::Compute { unit, .. } if cpus.contains_key(&unit)));
            }
        }
        let of: BTreeMap<NodeId, &String> = nodes.iter().copied().zip(&labels).collect();
        for (&other, label) in &of {
            for node in graph.waiting_for_end(other) {
                let _ = writeln!(text, "{} requires {label}", of[node]);
            }
            for node in graph.waiting_for_start(other) {
                let _ = writeln!(text, "{} irequires {label}", of[node]);
            }
        }
        text.push_str("}\n");
    }
    let mut notes = Vec::new();
    if rounded > 0 {
        notes.push(format!("{rounded} times are rounded to nanoseconds, as GOAL has no shorter ones"));
    }
    if delays > 0 {
        let delays =
            if delays == 1 { "a delay is a calculation".into() } else { format!("{delays} delays are calculations") };
        notes.push(format!("{delays} on the cpu {DELAYS}"));
    }
    if renumbered > 0 {
        notes.push(format!("{renumbered} computations have another cpu than their unit, as GOAL has 256"));
    }
    Ok(Goal { text, notes })
}

/// The cpus of a rank's units that are no cpus: the smallest that no other unit has, while there are such.
fn cpus(graph: &Graph, nodes: &[NodeId]) -> BTreeMap<u32, u32> {
    let works = || nodes.iter().map(|&node| graph.work(node));
    let delays = works().any(|work| matches!(work, Work::Delay { .. }));
    let end = if delays { DELAYS } else { DELAYS + 1 };
    let units: BTreeSet<u32> =
        works().filter_map(|work| if let Work::Compute { unit, .. } = work { Some(unit) } else { None }).collect();
    let free = (0..end).filter(|cpu| !units.contains(cpu));
    units.range(end..).copied().zip(free).collect()
}

/// The operation of a node, or why there is none.
fn operation(work: Work, cpus: &BTreeMap<u32, u32>) -> Result<String, &'static str> {
    let work = match work {
        Work::Compute { time, unit } => Work::Compute { time, unit: cpus.get(&unit).copied().unwrap_or(unit) },
        other => other,
    };
    let ns = |ps: u64| ps / 1000 + u64::from(ps % 1000 >= 500);
    let or_any = |number: Option<u32>| number.map_or(String::from("-1"), |number| format!("{number}"));
    Ok(match work {
        Work::Compute { time: Time::Fixed(ps), unit: 0 } => format!("calc {}", ns(ps)),
        Work::Compute { time: Time::Fixed(ps), unit } if unit <= DELAYS => format!("calc {} cpu {unit}", ns(ps)),
        Work::Compute { time: Time::Fixed(_), .. } => {
            return Err("GOAL has 256 cpus, and one of them is that of delays; use fewer units");
        }
        Work::Compute { .. } => return Err("GOAL has no drawn times; give the computation a fixed time"),
        Work::Delay { ps } => format!("calc {} cpu {DELAYS}", ns(ps)),
        Work::Send { to, octets, tag } => format!("send {octets}b to {to} tag {tag}"),
        Work::Receive { from, octets, tag } => format!("recv {octets}b from {} tag {}", or_any(from), or_any(tag)),
        Work::Collective { .. } => return Err("GOAL has no collectives; write what Graph::expand returns"),
    })
}

/// The labels of a rank's nodes; a node without name and dependency has none.
fn labels(graph: &Graph, nodes: &[NodeId]) -> Vec<String> {
    let mut named: BTreeMap<&str, NodeId> = BTreeMap::new();
    let mut bound: BTreeSet<NodeId> = BTreeSet::new();
    for &node in nodes {
        let name = graph.name(node);
        let mut letters = name.chars();
        let fits = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !matches!(name, "calc" | "send" | "recv" | "rank" | "num_ranks");
        if fits {
            named.entry(name).or_insert(node);
        }
        let waiting = graph.waiting_for_end(node).iter().chain(graph.waiting_for_start(node));
        bound.extend(waiting.flat_map(|&waiting| [node, waiting]));
    }
    let label = |(number, &node): (u32, &NodeId)| {
        let name = graph.name(node);
        if named.get(name) == Some(&node) {
            return String::from(name);
        }
        if name.is_empty() && !bound.contains(&node) {
            return String::new();
        }
        let mut label = format!("l{number}");
        while named.contains_key(label.as_str()) {
            label.push('_');
        }
        label
    };
    (1..).zip(nodes).map(label).collect()
}
