//! Readers of job graphs in files of others: GOAL, Chakra (protobuf and JSON), SimAI.
//!
//! A caller hands octets in and gets a [`Graph`]; files are opened elsewhere. What a file contains is detected from its
//! content:
//!
//! | Format | Files | Source |
//! |---|---|---|
//! | [`goal`] | one with all ranks | `src/LogGOPSim/txt2bin.re` of <https://github.com/spcl/LogGOPSim> |
//! | [`chakra`] | one a rank, named `NAME.RANK.et` | `et_def.proto` of <https://github.com/mlcommons/chakra> |
//! | [`chakra_json`] | one a rank, named `NAME.RANK.json` | `src/feeder/json_node.cpp` and `src/jsonizer` there |
//! | [`simai`] | one for all ranks | `astra-sim/workload/Workload.cc` of <https://github.com/aliyun/SimAI> |
//!
//! # Lost dependencies
//!
//! A trace may lack what its program had: a send without its receive, a dependency on a node that was cut away, two
//! nodes of one stream without an order. These are counted ([`Lost`]), each with its first example. With
//! [`Options::complete`] partners and orders are added; otherwise the graph is that of the file, and [`Graph::check`]
//! may refuse it.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::collective::{Algorithm, Collective, Kind};
use crate::graph::Graph;

pub mod chakra;
pub mod chakra_json;
mod chakra_nodes;
mod draft;
pub mod goal;
mod json;
mod protobuf;
pub mod simai;

pub(crate) use chakra_nodes::{CALLS, DURATION_PS};

/// The most nodes of a graph that a file may describe.
pub const NODES_MAX: u64 = 50_000_000;

/// A file: its name, for messages and for the rank of a Chakra file, and its content.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its name, with or without folders.
    pub name: &'a str,
    /// Its content.
    pub octets: &'a [u8],
}

/// Where in a file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the file as a whole.
    File,
    /// In a line, counted from 1.
    Line(usize),
    /// At an octet, counted from 0.
    Octet(usize),
}

/// Why a file is no graph: the file, the place in it, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The name of the file; empty if there is none.
    pub file: String,
    /// Where in the file.
    pub place: Place,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl ReadError {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { file: String::new(), place, message: message.into() }
    }

    fn in_file(mut self, name: &str) -> Self {
        if self.file.is_empty() {
            name.clone_into(&mut self.file);
        }
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Octet(octet) => write!(f, ": octet {octet}"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.file, self.place, self.message)
    }
}

impl core::error::Error for ReadError {}

/// What a reader is asked for.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Adds what is lost: partners of sends and receives, and the order of the file within a unit or stream.
    pub complete: bool,
    /// How a collective of this kind, these octets and this number of members is done.
    pub collective: &'a dyn Fn(Kind, u64, u32) -> Collective,
    /// Chakra: operations a second, for computations that state operations (`num_ops`) and no duration.
    pub ops_per_s: Option<f64>,
    /// Chakra: octets a second between a processor and its memory, for nodes that state `tensor_size` and no duration.
    pub memory_octets_per_s: Option<f64>,
    /// Chakra: the sizes of the network's dimensions, the innermost first, for `involved_dim`. Empty where the file
    /// needs none.
    pub dimensions: &'a [u32],
    /// Chakra: the ranks of groups by their names (`pg_name`), beside those that the trace has itself.
    pub groups: Option<&'a BTreeMap<String, Vec<u32>>>,
    /// Chakra: whether nodes wait for their control dependencies too, as in ASTRA-sim, or for data alone, as Chakra's
    /// own feeder has it.
    pub control_deps: bool,
    /// SimAI: how many passes (forward and backward) the ranks do.
    pub passes: u32,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("complete", &self.complete)
            .field("ops_per_s", &self.ops_per_s)
            .field("memory_octets_per_s", &self.memory_octets_per_s)
            .field("dimensions", &self.dimensions)
            .field("groups", &self.groups)
            .field("control_deps", &self.control_deps)
            .field("passes", &self.passes)
            .finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            complete: false,
            collective: &usual_collective,
            ops_per_s: None,
            memory_octets_per_s: None,
            dimensions: &[],
            groups: None,
            control_deps: true,
            passes: 1,
        }
    }
}

/// The collective as most libraries do it: an all-to-all directly, all others by a ring.
#[must_use]
pub fn usual_collective(kind: Kind, octets: u64, _members: u32) -> Collective {
    let direct = matches!(kind, Kind::AllToAll | Kind::AllToAllV(_));
    Collective::new(kind, octets, if direct { Algorithm::Direct } else { Algorithm::Ring })
}

/// How often something is lost, and the first example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Count {
    /// How often.
    pub number: u64,
    /// The first one: its file, place and node. Empty if there is none.
    pub first: String,
}

impl Count {
    fn add(&mut self, example: impl FnOnce() -> String) {
        if self.number == 0 {
            self.first = example();
        }
        self.number += 1;
    }
}

/// What a file lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost {
    /// Receives that no send matches.
    pub receives: Count,
    /// Sends that no receive matches.
    pub sends: Count,
    /// Dependencies on nodes that the file does not have; they are left out.
    pub dependencies: Count,
    /// Pairs of nodes that follow each other in one unit or stream of a rank without a dependency between them.
    pub unordered: Count,
}

impl Lost {
    /// A sentence for each kind of loss that occurs.
    #[must_use]
    pub fn notes(&self, completed: bool) -> Vec<String> {
        let added = |what: &str| if completed { format!("; {what}") } else { String::new() };
        [
            (&self.receives, "receives without a send", added("the sends are added")),
            (&self.sends, "sends without a receive", added("the receives are added")),
            (&self.dependencies, "dependencies on nodes that the file lacks", String::from("; they are left out")),
            (&self.unordered, "pairs of one unit or stream without an order", added("they have the order of the file")),
        ]
        .into_iter()
        .filter(|(count, ..)| count.number > 0)
        .map(|(count, what, more)| format!("{} {what}, first {}{more}", count.number, count.first))
        .collect()
    }
}

/// A graph that was read, and what there is to say about it.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The graph; [`Graph::check`] says whether it can end.
    pub graph: Graph,
    /// What the files lack.
    pub lost: Lost,
    /// Sentences on what was assumed or not followed.
    pub notes: Vec<String>,
}

/// The formats of files that describe a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text of LogGOPSim.
    Goal,
    /// Execution traces of MLCommons in protobuf.
    Chakra,
    /// The same in JSON.
    ChakraJson,
    /// Workloads of SimAI in text.
    SimAi,
}

impl Format {
    /// The format of a file, from its first octets.
    #[must_use]
    pub fn of(octets: &[u8]) -> Self {
        let begin = octets.iter().position(|octet| !octet.is_ascii_whitespace()).unwrap_or(octets.len());
        let text = &octets[begin..];
        if text.starts_with(b"num_ranks") || text.starts_with(b"//") || text.starts_with(b"/*") {
            Self::Goal
        } else if text.starts_with(b"HYBRID_")
            || simai::POLICIES.iter().any(|policy| text.starts_with(policy.as_bytes()))
        {
            // A policy that is cut off or unknown is refused by its reader.
            Self::SimAi
        } else if text.starts_with(b"{") && text[1..].trim_ascii_start().starts_with(b"\"") {
            Self::ChakraJson
        } else {
            Self::Chakra
        }
    }
}

/// Reads the files of one job: one file of GOAL or SimAI, or all ranks' files of Chakra in any order.
///
/// # Errors
///
/// A file is none of these, has an unknown or wrong entry, or is cut off; two files have one rank, or a rank has no
/// file.
pub fn read(files: &[File<'_>], options: &Options<'_>) -> Result<Imported, ReadError> {
    let Some(first) = files.first() else {
        return Err(ReadError::new(Place::File, "there is no file; give one at least"));
    };
    let format = Format::of(first.octets);
    if matches!(format, Format::Goal | Format::SimAi) {
        if let Some(second) = files.get(1) {
            let reason = format!("{} describes all ranks; give no second file", first.name);
            return Err(ReadError::new(Place::File, reason).in_file(second.name));
        }
        let read = if format == Format::Goal { goal::read } else { simai::read };
        return read(first, options);
    }
    let files = by_rank(files)?;
    if format == Format::Chakra { chakra::read(&files, options) } else { chakra_json::read(&files, options) }
}

/// The files in the order of their ranks, which their names have: `NAME.RANK.et`. A file alone needs no rank.
fn by_rank<'a>(files: &[File<'a>]) -> Result<Vec<File<'a>>, ReadError> {
    if let &[file] = files {
        return Ok([file].to_vec());
    }
    let mut ranks = BTreeMap::new();
    for file in files {
        let mut parts = file.name.rsplit('.');
        let rank = parts.next().and_then(|_| parts.next()).and_then(|part| part.parse::<u32>().ok());
        let Some(rank) = rank else {
            let reason = "the name has no rank; write one before its ending, as in trace.0.et";
            return Err(ReadError::new(Place::File, reason).in_file(file.name));
        };
        if let Some(other) = ranks.insert(rank, *file) {
            let reason = format!("{} is a file of rank {rank} too; give one a rank", other.name);
            return Err(ReadError::new(Place::File, reason).in_file(file.name));
        }
    }
    for (expected, (&rank, file)) in (0..).zip(&ranks) {
        if rank != expected {
            let reason =
                format!("there is no file of rank {expected}, and this is that of rank {rank}; give all from 0");
            return Err(ReadError::new(Place::File, reason).in_file(file.name));
        }
    }
    Ok(ranks.into_values().collect())
}

/// A word of a file at a length that a message can show, without octets that a terminal would obey.
fn shown(word: &[u8]) -> String {
    const SHOWN_MAX: usize = 40;
    String::from_utf8_lossy(&word[..word.len().min(SHOWN_MAX)])
        .chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect::<String>()
        .to_string()
}
