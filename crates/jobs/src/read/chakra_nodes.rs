//! Nodes of Chakra's traces, however they are encoded, as nodes of a graph.
//!
//! Source: `schema/protobuf/et_def.proto` of <https://github.com/mlcommons/chakra>, and how
//! `workload/Workload.cc` and `collective_algorithm/Ring.cc` of <https://github.com/astra-sim/astra-sim> read it.
//!
//! | Node | Here |
//! |---|---|
//! | computation | its duration; or operations and octets at the caller's rates, whichever takes longer |
//! | load, store of memory | its duration; or its octets at the caller's rate |
//! | send, receive | a message; tag -1 of a receive is any |
//! | collective | one of the group `pg_name`, of the dimensions `involved_dim`, or of all ranks |
//! | metadata | a delay of its duration, which is none as a rule; process groups in its inputs are read |
//!
//! A node waits for the ends of those of its data and its control dependencies. In traces of PyTorch the latter are
//! calls, which end after what they call; a caller may leave them out. The nodes of a file are taken in the order of
//! their numbers.
//!
//! `comm_size` is what a rank gives: an all-gather has that, times the size of the group, afterwards. A collective
//! without `comm_size` is the call of one, and a computation. Computations follow each other on a processor's thread or
//! a device's stream.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::draft::Draft;
use super::json::{self, Json, Value};
use super::{File, Imported, Options, Place, ReadError, shown};
use crate::collective::Kind;
use crate::graph::{NodeId, Rank, Work};
use crate::time::Time;

/// The types of nodes, by their numbers.
pub(super) const KINDS: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// The types of collectives, by their numbers.
pub(super) const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// The attribute in which [`crate::write::chakra`] keeps a duration that is no whole number of microseconds.
pub(crate) const DURATION_PS: &str = "duration_ps";

/// The stream of messages and collectives for which a file names none.
const BESIDE: u32 = 0x3fff_ffff;

/// The unit of calls of collectives for which a file names no stream.
pub(crate) const CALLS: u32 = 2 * BESIDE + 1;

/// The value of an attribute.
pub(super) enum Attribute {
    Whole(i128),
    Real(f64),
    Text(String),
    Bools(Vec<bool>),
    /// A type that no attribute which is read here has.
    Other,
}

/// A node as a file has it. A number that the file leaves out is 0.
pub(super) struct RawNode {
    place: Place,
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) kind: u64,
    pub(super) data_deps: Vec<u64>,
    pub(super) ctrl_deps: Vec<u64>,
    pub(super) duration_us: u64,
    /// The texts of its inputs.
    pub(super) inputs: String,
    duration_ps: Option<u64>,
    on_cpu: bool,
    /// `tid` of the processor, `stream` of a device.
    unit: Option<u32>,
    comm_type: u64,
    comm_size: Option<u64>,
    /// -1 is any, as a receive may have it.
    comm_src: Option<i64>,
    comm_dst: Option<i64>,
    comm_tag: i64,
    num_ops: u64,
    tensor_size: u64,
    group: String,
    involved: Vec<bool>,
}

impl RawNode {
    /// A node that begins at a place.
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            id: 0,
            name: String::new(),
            kind: 0,
            data_deps: Vec::new(),
            ctrl_deps: Vec::new(),
            duration_us: 0,
            inputs: String::new(),
            duration_ps: None,
            on_cpu: false,
            unit: None,
            comm_type: 0,
            comm_size: None,
            comm_src: None,
            comm_dst: None,
            comm_tag: 0,
            num_ops: 0,
            tensor_size: 0,
            group: String::new(),
            involved: Vec::new(),
        }
    }

    /// Takes an attribute; one that is not known says nothing here.
    ///
    /// # Errors
    ///
    /// The value is none of the attribute.
    pub(super) fn set(&mut self, name: &str, value: Attribute, place: Place) -> Result<(), ReadError> {
        let number = |low: i128, high: u64| match value {
            Attribute::Whole(number) if (low..=i128::from(high)).contains(&number) => Ok(number),
            // Beyond 2^53 not every whole number is one of these.
            Attribute::Real(real) if real >= low as f64 && real <= (high as f64).min(9e15) && real % 1.0 == 0.0 => {
                Ok(real as i128)
            }
            _ => {
                let reason = format!("{} is no whole number from {low} to {high}; write one", shown(name.as_bytes()));
                Err(ReadError::new(place, reason))
            }
        };
        let ranks = u64::from(u32::MAX);
        match name {
            "is_cpu_op" => self.on_cpu = number(0, 1)? == 1,
            "tid" | "stream" => self.unit = Some(number(i128::from(i64::MIN), u64::MAX)? as u32),
            "comm_type" => self.comm_type = number(0, u64::MAX)? as u64,
            "comm_size" => self.comm_size = Some(number(0, u64::MAX)? as u64),
            "comm_src" => self.comm_src = Some(number(-1, ranks)? as i64),
            "comm_dst" => self.comm_dst = Some(number(-1, ranks)? as i64),
            "comm_tag" => self.comm_tag = number(-1, ranks)? as i64,
            "num_ops" => self.num_ops = number(0, u64::MAX)? as u64,
            "tensor_size" => self.tensor_size = number(0, u64::MAX)? as u64,
            DURATION_PS => self.duration_ps = Some(number(0, u64::MAX)? as u64),
            "pg_name" => match value {
                Attribute::Text(text) => self.group = text,
                _ => self.group = format!("{}", number(0, u64::MAX)?),
            },
            "involved_dim" => match value {
                Attribute::Bools(involved) => self.involved = involved,
                _ => return Err(ReadError::new(place, "involved_dim is no list of true and false; write one")),
            },
            _ => {}
        }
        Ok(())
    }

    fn error(&self, reason: impl AsRef<str>) -> ReadError {
        let name = if self.name.is_empty() { String::new() } else { format!(" ({})", shown(self.name.as_bytes())) };
        ReadError::new(self.place, format!("node {}{name}: {}", self.id, reason.as_ref()))
    }

    /// Its time, ps: that which it states, or that of its operations and octets.
    fn time_ps(&self, options: &Options<'_>) -> Result<u64, ReadError> {
        if let Some(ps) = self.duration_ps {
            return Ok(ps);
        }
        if self.duration_us > 0 || (self.num_ops == 0 && self.tensor_size == 0) {
            let ps = self.duration_us.checked_mul(1_000_000);
            return ps.ok_or_else(|| self.error("the duration is longer than 2^64 ps; write a shorter one"));
        }
        let mut longest = 0.0_f64;
        let parts = [
            ("num_ops", self.num_ops, options.ops_per_s, "operations"),
            ("tensor_size", self.tensor_size, options.memory_octets_per_s, "octets of memory"),
        ];
        for (name, number, rate, what) in parts {
            // The operations of a computation say enough without the rate of its memory.
            if number == 0 || (name == "tensor_size" && rate.is_none() && self.num_ops > 0) {
                continue;
            }
            let rate = rate.filter(|&rate| rate > 0.0).ok_or_else(|| {
                self.error(format!("there is no duration, and {name} {number}; state a rate of {what} a second"))
            })?;
            longest = longest.max(number as f64 / rate * 1e12);
        }
        if longest >= u64::MAX as f64 {
            return Err(self.error("its work takes longer than 2^64 ps; state a higher rate"));
        }
        // Half up: `f64::round` is none of `core`.
        Ok((longest + 0.5) as u64)
    }

    fn peer(&self, name: &str, peer: Option<i64>, ranks: u32) -> Result<Rank, ReadError> {
        let peer = peer.unwrap_or(0);
        let known = u32::try_from(peer).ok().filter(|&peer| peer < ranks);
        known.ok_or_else(|| {
            self.error(format!("{name} is {peer}, and the ranks are 0 to {}; give all files", ranks - 1))
        })
    }
}

/// The groups that collectives of a rank name.
struct Groups {
    all: Vec<Rank>,
    /// Those of the caller, and those of the ranks so far: a rank may give a name to another group than the ranks
    /// before.
    named: BTreeMap<String, Vec<Rank>>,
}

/// Reads the files of all ranks, whose nodes `nodes` decodes.
///
/// # Errors
///
/// A file cannot be decoded, a node is unknown or does not say enough, or two nodes of a file have one number.
pub(super) fn read(
    files: &[File<'_>],
    options: &Options<'_>,
    nodes: fn(&[u8]) -> Result<Vec<RawNode>, ReadError>,
) -> Result<Imported, ReadError> {
    let ranks = files.len() as u32;
    let mut draft = Draft::new(ranks, options);
    let mut groups = Groups { all: (0..ranks).collect(), named: options.groups.cloned().unwrap_or_default() };
    let mut calls = 0;
    for (rank, file) in (0..).zip(files) {
        let in_file = |error: ReadError| error.in_file(file.name);
        draft.begin_file(file.name);
        let nodes = nodes(file.octets).map_err(in_file)?;
        for node in nodes.iter().filter(|node| node.kind == 1 && !node.inputs.is_empty()) {
            process_groups(node, &mut groups).map_err(in_file)?;
        }
        calls += rank_nodes(rank, ranks, nodes, &groups, options, &mut draft).map_err(in_file)?;
    }
    if calls > 0 {
        draft
            .notes
            .push(format!("{calls} collectives state no comm_size, as calls on a processor do, and are computations"));
    }
    if options.control_deps && draft.has_cycle() {
        let reason =
            "nodes of one rank wait for each other; leave control dependencies out, as Chakra's own feeder does";
        draft.notes.push(String::from(reason));
    }
    draft.finish()
}

/// Adds the nodes of a rank to a graph; returns how many collectives state no size.
fn rank_nodes(
    rank: Rank,
    ranks: u32,
    mut nodes: Vec<RawNode>,
    groups: &Groups,
    options: &Options<'_>,
    draft: &mut Draft<'_>,
) -> Result<u64, ReadError> {
    nodes.sort_by_key(|node| node.id);
    let mut calls = 0;
    let mut ids: BTreeMap<u64, NodeId> = BTreeMap::new();
    for node in &nodes {
        let call = node.kind == 7 && node.comm_size.is_none() && node.comm_type != 9;
        calls += u64::from(call);
        let unit = unit(node);
        let work = match node.kind {
            1 => Some(Work::Delay { ps: node.time_ps(options)? }),
            2..=4 => Some(Work::Compute { time: Time::Fixed(node.time_ps(options)?), unit }),
            5 => {
                let tag = u32::try_from(node.comm_tag).unwrap_or(u32::MAX);
                Some(Work::Send {
                    to: node.peer("comm_dst", node.comm_dst, ranks)?,
                    octets: node.comm_size.unwrap_or(0),
                    tag,
                })
            }
            6 => {
                let any = node.comm_src == Some(-1);
                let from = if any { None } else { Some(node.peer("comm_src", node.comm_src, ranks)?) };
                let tag = u32::try_from(node.comm_tag).ok();
                Some(Work::Receive { from, octets: node.comm_size.unwrap_or(0), tag })
            }
            7 if call => Some(Work::Compute { time: Time::Fixed(node.time_ps(options)?), unit }),
            7 => collective(node, rank, ranks, groups, options, draft)?,
            other => {
                let known = KINDS[1..].join(", ");
                return Err(node.error(format!("its type is {other}; write one from 1 to 7 ({known})")));
            }
        };
        let work = work.unwrap_or(Work::Delay { ps: 0 });
        let added = draft.node(rank, work, &node.name, unit, node.place)?;
        if ids.insert(node.id, added).is_some() {
            return Err(node.error("another node of the file has its number; give each its own"));
        }
    }
    for node in &nodes {
        let control = if options.control_deps { &node.ctrl_deps[..] } else { &[] };
        let mut others: Vec<u64> = node.data_deps.iter().chain(control).copied().collect();
        others.sort_unstable();
        others.dedup();
        for other in others {
            match ids.get(&other) {
                Some(&other) => draft.after(ids[&node.id], other),
                None => draft.lose(ids[&node.id], other),
            }
        }
    }
    Ok(calls)
}

/// The unit on which a node runs: threads of a processor are even, streams of a device odd. Messages and collectives
/// have one beside the computations where the file names no stream.
fn unit(node: &RawNode) -> u32 {
    let message = matches!(node.kind, 5..=7);
    let number = node.unit.map_or(if message && !node.on_cpu { BESIDE } else { 0 }, |unit| unit & (BESIDE >> 1));
    2 * number + u32::from(!node.on_cpu)
}

/// A rank's part in a collective; `None` if its group has no other member, so that nothing is to do.
fn collective(
    node: &RawNode,
    rank: Rank,
    ranks: u32,
    groups: &Groups,
    options: &Options<'_>,
    draft: &mut Draft<'_>,
) -> Result<Option<Work>, ReadError> {
    let members = if !node.group.is_empty() {
        let group = shown(node.group.as_bytes());
        let known = groups.named.get(&node.group);
        let known =
            known.ok_or_else(|| node.error(format!("there is no group {group:?}; give the ranks of groups")))?;
        if !known.contains(&rank) {
            return Err(node.error(format!("rank {rank} is no member of the group {group:?}; correct the group")));
        }
        Cow::Borrowed(&known[..])
    } else if node.involved.iter().all(|&involved| involved) {
        Cow::Borrowed(&groups.all[..])
    } else {
        Cow::Owned(of_dimensions(node, rank, ranks, options.dimensions)?)
    };
    let index = |peer: Option<i64>| {
        let found = peer.map_or(Some(0), |peer| members.iter().position(|&member| i64::from(member) == peer));
        found
            .map(|index| index as u32)
            .ok_or_else(|| node.error("its root is no member of its group; correct comm_src or comm_dst"))
    };
    let size = node.comm_size.unwrap_or(0);
    let (kind, octets) = match node.comm_type {
        0 => (Kind::AllReduce, Some(size)),
        1 => (Kind::Reduce { root: index(node.comm_dst)? }, Some(size)),
        2 => (Kind::AllGather, size.checked_mul(members.len() as u64)),
        5 => (Kind::Broadcast { root: index(node.comm_src)? }, Some(size)),
        6 => (Kind::AllToAll, Some(size)),
        7 | 8 => (Kind::ReduceScatter, Some(size)),
        9 => (Kind::Barrier, Some(0)),
        other => {
            let name = COLLECTIVES.get(usize::try_from(other).unwrap_or(usize::MAX)).unwrap_or(&"unknown");
            return Err(node.error(format!("its comm_type is {other} ({name}); write 0, 1, 2 or one from 5 to 9")));
        }
    };
    let octets =
        octets.ok_or_else(|| node.error("the group gathers more than 2^64 octets; write a smaller comm_size"))?;
    if members.len() < 2 {
        return Ok(None);
    }
    let collective = draft.collective(kind, octets, members.len() as u32);
    Ok(Some(Work::Collective { group: draft.group(&members), collective }))
}

/// The ranks that differ from a rank in the involved dimensions alone.
fn of_dimensions(node: &RawNode, rank: Rank, ranks: u32, dimensions: &[u32]) -> Result<Vec<Rank>, ReadError> {
    let product = dimensions.iter().try_fold(1_u32, |product, &size| product.checked_mul(size));
    if product != Some(ranks)
        || dimensions.len() < node.involved.iter().rposition(|&involved| involved).map_or(0, |at| at + 1)
    {
        return Err(node.error(format!(
            "involved_dim leaves dimensions out; state the sizes of dimensions, whose product is the {ranks} ranks"
        )));
    }
    let mut members = alloc::vec![rank];
    let mut step = 1;
    for (index, &size) in dimensions.iter().enumerate() {
        if node.involved.get(index).copied().unwrap_or(false) {
            let own = rank / step % size;
            let bases = core::mem::take(&mut members);
            members = (0..size).flat_map(|at| bases.iter().map(move |&base| base - own * step + at * step)).collect();
        }
        step *= size;
    }
    members.sort_unstable();
    Ok(members)
}

/// Takes the process groups that PyTorch's traces have in the inputs of a metadata node: a list of objects `pg_name`
/// and `ranks` inside of brackets and quotes. A group without ranks has all.
fn process_groups(node: &RawNode, groups: &mut Groups) -> Result<(), ReadError> {
    let inner = node
        .inputs
        .find("[{")
        .and_then(|begin| node.inputs.rfind("}]").and_then(|end| node.inputs.get(begin..end + 2)));
    let Some(inner) = inner else { return Ok(()) };
    let wrong = || node.error("its process groups are no list of pg_name and ranks; write them so, or take them out");
    let values = json::parse(inner.as_bytes()).map_err(|_| wrong())?;
    let [Json { value: Value::List(entries), .. }] = &values[..] else { return Err(wrong()) };
    for entry in entries {
        let Value::Object(parts) = &entry.value else { return Err(wrong()) };
        let (Some(name), Some(Json { value: Value::List(listed), .. })) = (parts.get("pg_name"), parts.get("ranks"))
        else {
            return Err(wrong());
        };
        let (Value::Text(name) | Value::Number(name)) = &name.value else { return Err(wrong()) };
        let number = |json: &Json| if let Value::Number(text) = &json.value { text.parse().ok() } else { None };
        let mut members = listed.iter().map(number).collect::<Option<Vec<Rank>>>().ok_or_else(wrong)?;
        if members.is_empty() {
            members.clone_from(&groups.all);
        }
        groups.named.insert(name.clone(), members);
    }
    Ok(())
}
