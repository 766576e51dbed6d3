//! Workloads of SimAI: the layers of a model, which all ranks go through.
//!
//! Source: `astra-sim-alibabacloud/astra-sim/workload/Workload.cc` and `Layer.cc` of <https://github.com/aliyun/SimAI>
//! (format, steps) and `MockNcclGroup.cc` of SimCCL (groups).
//!
//! The first line has the policy and the sizes of groups, the second the number of layers, then each layer has twelve
//! fields. Any white space separates them:
//!
//! ```text
//! name dependency  fwd_ns fwd_comm fwd_octets  ig_ns ig_comm ig_octets  wg_ns wg_comm wg_octets  update_ns
//! ```
//!
//! # What a rank does in a pass
//!
//! - Forward, from the first layer: compute, communicate, wait for it.
//! - Backward, from the last layer: compute the gradient of the input, communicate, wait for it. Then compute the
//!   gradient of the weights, and begin to communicate.
//! - `update_ns` follows each communication. The next pass enters a layer when that of its weights has ended.
//! - With checkpoints a layer of `checkpoint_initiates` first repeats forward steps from the last checkpoint on.
//!
//! A forward communication of 1 to 4095 octets has 4096 under `HYBRID_TRANSFORMER_FWD_IN_BCKWD`. One of 0 octets is
//! none, and one of an all-gather counts what a rank has afterwards.
//!
//! # Groups
//!
//! With TP ranks a tensor group and EP tensor groups an expert group, rank r is at position r mod TP of its tensor
//! group, r / TP:
//!
//! | Suffix | Ranks |
//! |---|---|
//! | none, forward and input | TP: the same tensor group |
//! | none, weights | DP: the same position, all tensor groups |
//! | `_EP` | the same position, the tensor groups g with the same g / EP |
//! | `_DP_EP` | the same position, the tensor groups g with the same g mod EP |
//!
//! As in SimAI, pipeline stages (`pp`, `vpp`, `ga`, `pp_comm`) do not act: all ranks have all layers. Its scheduler of
//! concurrent collectives is left out too.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::draft::{Draft, NO_LANE};
use super::{File, Imported, NODES_MAX, Options, Place, ReadError, shown};
use crate::collective::Kind;
use crate::graph::{GroupId, NodeId, Rank, Work};
use crate::time::Time;

/// Policies with which files of SimAI begin; the first two are read here.
pub(super) const POLICIES: [&str; 11] = [
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_TRANSFORMER",
    "DATA",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_CUSTOMIZED",
    "MICRO",
    "DISTRIBUTED_INFERENCE",
];

/// The most layers of a workload.
const LAYERS_MAX: u64 = 1_000_000;

/// The most ranks of a workload.
const RANKS_MAX: u32 = 1 << 20;

/// Reads a workload, and makes the graph of all its ranks.
///
/// # Errors
///
/// A field is none of the format, a communication is unknown, sizes of groups do not divide each other, or the graph
/// would be too large; with the line.
pub fn read(file: &File<'_>, options: &Options<'_>) -> Result<Imported, ReadError> {
    workload(file, options).map_err(|error| error.in_file(file.name))
}

fn workload(file: &File<'_>, options: &Options<'_>) -> Result<Imported, ReadError> {
    let mut words = Words::new(file.octets);
    let header = Header::read(&mut words)?;
    let layers = layers(&mut words, &header)?;
    let steps: u64 = layers.iter().map(|layer| layer.nodes(layer.repeats)).sum();
    let nodes = u128::from(steps) * u128::from(header.ranks) * u128::from(options.passes);
    if nodes > u128::from(NODES_MAX) {
        let ranks = header.ranks;
        let reason = format!(
            "{ranks} ranks would have {nodes} nodes together, and {NODES_MAX} are the most; give fewer layers or ranks"
        );
        return Err(ReadError::new(Place::Line(1), reason));
    }
    let mut draft = Draft::new(header.ranks, options);
    draft.begin_file(file.name);
    if header.stages > 1 {
        draft
            .notes
            .push(format!("{} pipeline stages do not act, as in SimAI: all ranks have all layers", header.stages));
    }
    let mut groups = BTreeMap::new();
    for rank in 0..header.ranks {
        let (header, layers, draft, groups) = (&header, &layers[..], &mut draft, &mut groups);
        Program { rank, header, layers, draft, groups, last: None }.passes(options.passes)?;
    }
    draft.finish()
}

/// The first line.
struct Header {
    /// Whether layers may begin forward steps in the backward pass, and small forward communications are enlarged.
    repeats: bool,
    ranks: u32,
    tensor: u32,
    expert: u32,
    stages: u32,
    checkpoints: Vec<u32>,
    initiates: Vec<u32>,
}

impl Header {
    fn read(words: &mut Words<'_>) -> Result<Self, ReadError> {
        let line = words.line_of_words();
        let error = |reason: String| ReadError::new(Place::Line(1), reason);
        let policy = line.first().copied().unwrap_or(b"");
        if policy != POLICIES[0].as_bytes() && policy != POLICIES[1].as_bytes() {
            let known = format!("write {} or {}", POLICIES[0], POLICIES[1]);
            return Err(error(format!("the policy {:?} is not read here; {known}", shown(policy))));
        }
        let mut header = Self {
            repeats: policy == POLICIES[0].as_bytes(),
            ranks: 0,
            tensor: 0,
            expert: 1,
            stages: 1,
            checkpoints: Vec::new(),
            initiates: Vec::new(),
        };
        let number = |at: usize, key: &[u8]| {
            let word = line.get(at).copied().unwrap_or(b"");
            let found = core::str::from_utf8(word).ok().and_then(|word| word.parse::<u32>().ok());
            found.ok_or_else(|| error(format!("{} has {:?} and no whole number; write one", shown(key), shown(word))))
        };
        let mut at = 1;
        while let Some(&key) = line.get(at) {
            let value = number(at + 1, key)?;
            at += 2;
            match key {
                b"model_parallel_NPU_group:" => header.tensor = value,
                b"ep:" => header.expert = value,
                b"pp:" => header.stages = value,
                b"all_gpus:" => header.ranks = value,
                b"vpp:" | b"ga:" | b"pp_comm" | b"pp_comm:" => {}
                b"checkpoints:" | b"checkpoint_initiates:" => {
                    let into = if key == b"checkpoints:" { &mut header.checkpoints } else { &mut header.initiates };
                    for _ in 0..value {
                        into.push(number(at, key)?);
                        at += 1;
                    }
                }
                _ => return Err(error(format!("{:?} is no key of the first line; take it out", shown(key)))),
            }
        }
        let Self { ranks, tensor, expert, .. } = header;
        if ranks > RANKS_MAX {
            return Err(error(format!("all_gpus is {ranks}; write {RANKS_MAX} at most")));
        }
        if ranks == 0 || tensor == 0 || expert == 0 || ranks % tensor != 0 || ranks / tensor % expert != 0 {
            let sizes = format!("all_gpus {ranks}, model_parallel_NPU_group {tensor} and ep {expert}");
            return Err(error(format!(
                "{sizes} are no groups; write an all_gpus that the product of the others divides"
            )));
        }
        Ok(header)
    }

    /// The number of members of a group.
    fn size(&self, group: Group) -> u32 {
        match group {
            Group::Tensor => self.tensor,
            Group::Data => self.ranks / self.tensor,
            Group::Expert => self.expert,
            Group::DataExpert => self.ranks / self.tensor / self.expert,
        }
    }

    /// The first member of the group that a rank belongs to, and the distance from each member to the next.
    fn members(&self, group: Group, rank: Rank) -> (Rank, u32) {
        let Self { tensor, expert, .. } = *self;
        let (own, position) = (rank / tensor, rank % tensor);
        match group {
            Group::Tensor => (own * tensor, 1),
            Group::Data => (position, tensor),
            Group::Expert => (own / expert * expert * tensor + position, tensor),
            Group::DataExpert => (own % expert * tensor + position, expert * tensor),
        }
    }
}

/// The groups in which ranks communicate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Tensor,
    Data,
    Expert,
    DataExpert,
}

/// A phase of a layer: a computation, then perhaps a collective.
struct Phase {
    compute_ps: u64,
    collective: Option<(Kind, Group, u64)>,
}

struct Layer {
    name: String,
    line: usize,
    forward: Phase,
    input: Phase,
    weights: Phase,
    update_ps: u64,
    /// The layer from which forward steps are repeated before its own backward step.
    repeat_from: Option<usize>,
    /// How often its forward steps happen in a pass.
    repeats: u64,
}

impl Layer {
    /// Its nodes in a pass, with this number of forward steps.
    fn nodes(&self, forward: u64) -> u64 {
        let of = |phase: &Phase| 1 + 2 * u64::from(phase.collective.is_some());
        forward * of(&self.forward) + of(&self.input) + of(&self.weights)
    }
}

/// Reads the layers, and finds which repeat forward steps.
fn layers(words: &mut Words<'_>, header: &Header) -> Result<Vec<Layer>, ReadError> {
    let line = words.line;
    let count = words.number("the number of layers", LAYERS_MAX)?;
    if count == 0 {
        return Err(ReadError::new(Place::Line(line), "there are 0 layers; write 1 at least"));
    }
    let mut layers: Vec<Layer> = Vec::new();
    for _ in 0..count {
        let (name, line) = words.next("the name of a layer")?;
        let name = String::from_utf8_lossy(name).into_owned();
        words.next("the dependency of a layer, which is -1")?;
        let forward = phase(words, Group::Tensor, header)?;
        let input = phase(words, Group::Tensor, header)?;
        let weights = phase(words, Group::Data, header)?;
        let update_ps = words.number("a time of update in ns", u64::MAX / 1000)? * 1000;
        let mut layer = Layer { name, line, forward, input, weights, update_ps, repeat_from: None, repeats: 1 };
        if let Some((_, _, octets)) = &mut layer.forward.collective
            && header.repeats
        {
            *octets = (*octets).max(4096);
        }
        layers.push(layer);
    }
    if words.rest.is_empty() {
        let reason = "the file ends at its last number, which may be cut off; end the line";
        return Err(ReadError::new(Place::Line(words.line), reason));
    }
    if let Ok((word, line)) = words.next("") {
        let reason = format!("{:?} follows the last of {count} layers; correct line 2 or take it out", shown(word));
        return Err(ReadError::new(Place::Line(line), reason));
    }
    for &initiating in if header.repeats { &header.initiates[..] } else { &[] } {
        let from = header.checkpoints.iter().copied().filter(|&from| from <= initiating).max();
        let (Some(from), true) = (from, u64::from(initiating) < count) else {
            let reason = format!(
                "layer {initiating} initiates forward steps, and no checkpoint is at or before it, or it does not exist"
            );
            return Err(ReadError::new(Place::Line(1), reason));
        };
        layers[initiating as usize].repeat_from = Some(from as usize);
        for layer in &mut layers[from as usize..initiating as usize] {
            layer.repeats += 1;
        }
    }
    Ok(layers)
}

/// Reads time, communication and octets of a phase; `usual` is the group of a communication without a suffix.
fn phase(words: &mut Words<'_>, usual: Group, header: &Header) -> Result<Phase, ReadError> {
    let compute_ps = words.number("a time of computation in ns", u64::MAX / 1000)? * 1000;
    let (word, line) = words.next("a communication")?;
    let octets = words.number("a size in octets", u64::MAX)?;
    let kinds = [
        ("ALLREDUCE", Kind::AllReduce),
        ("ALLGATHER", Kind::AllGather),
        ("REDUCESCATTER", Kind::ReduceScatter),
        ("ALLTOALL", Kind::AllToAll),
    ];
    if word == b"NONE" {
        return Ok(Phase { compute_ps, collective: None });
    }
    let found = kinds.into_iter().find_map(|(name, kind)| {
        let group = match word.strip_prefix(name.as_bytes())? {
            b"" => usual,
            b"_EP" => Group::Expert,
            b"_DP_EP" => Group::DataExpert,
            _ => return None,
        };
        Some((kind, group))
    });
    let Some((kind, group)) = found else {
        let known = "NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, perhaps with _EP or _DP_EP";
        return Err(ReadError::new(
            Place::Line(line),
            format!("the communication {:?} is unknown; write {known}", shown(word)),
        ));
    };
    let alone = header.size(group) < 2;
    Ok(Phase { compute_ps, collective: Some((kind, group, octets)).filter(|_| octets > 0 && !alone) })
}

/// The nodes of a rank, one after another.
struct Program<'p, 'd> {
    rank: Rank,
    header: &'p Header,
    layers: &'p [Layer],
    draft: &'p mut Draft<'d>,
    /// The groups that a rank before needed, by their first members.
    groups: &'p mut BTreeMap<(Group, Rank), GroupId>,
    last: Option<NodeId>,
}

impl Program<'_, '_> {
    fn passes(&mut self, passes: u32) -> Result<(), ReadError> {
        let layers = self.layers;
        let mut updated: Vec<Option<NodeId>> = alloc::vec![None; layers.len()];
        for _ in 0..passes {
            for (layer, updated) in layers.iter().zip(&updated) {
                self.forward(layer, *updated)?;
            }
            for (index, layer) in layers.iter().enumerate().rev() {
                for again in &layers[layer.repeat_from.unwrap_or(index)..index] {
                    self.forward(again, None)?;
                }
                self.compute(layer, &layer.input, "input", None)?;
                self.last = self.communicate(layer, &layer.input, "input")?;
                self.compute(layer, &layer.weights, "weights", None)?;
                updated[index] = self.communicate(layer, &layer.weights, "weights")?;
            }
        }
        Ok(())
    }

    fn forward(&mut self, layer: &Layer, updated: Option<NodeId>) -> Result<(), ReadError> {
        self.compute(layer, &layer.forward, "forward", updated)?;
        self.last = self.communicate(layer, &layer.forward, "forward")?;
        Ok(())
    }

    fn add(&mut self, layer: &Layer, work: Work, name: &str) -> Result<NodeId, ReadError> {
        let node =
            self.draft.node(self.rank, work, &format!("{} {name}", layer.name), NO_LANE, Place::Line(layer.line))?;
        if let Some(last) = self.last {
            self.draft.after(node, last);
        }
        Ok(node)
    }

    /// Adds the computation of a phase, after the last node and after another.
    fn compute(&mut self, layer: &Layer, phase: &Phase, name: &str, after: Option<NodeId>) -> Result<(), ReadError> {
        let last = self.last;
        let node = self.add(layer, Work::Compute { time: Time::Fixed(phase.compute_ps), unit: 0 }, name)?;
        if let Some(after) = after.filter(|_| after != last) {
            self.draft.after(node, after);
        }
        self.last = Some(node);
        Ok(())
    }

    /// Adds the communication of a phase and its update after the last node; returns the node at whose end both have
    /// ended.
    fn communicate(&mut self, layer: &Layer, phase: &Phase, name: &str) -> Result<Option<NodeId>, ReadError> {
        let Some((kind, group, octets)) = &phase.collective else { return Ok(self.last) };
        let (first, step) = self.header.members(*group, self.rank);
        let size = self.header.size(*group);
        let collective = self.draft.collective(kind.clone(), *octets, size);
        let group = *self.groups.entry((*group, first)).or_insert_with(|| {
            let members: Vec<Rank> = (0..size).map(|index| first + index * step).collect();
            self.draft.group(&members)
        });
        let node = self.add(layer, Work::Collective { group, collective }, name)?;
        let (work, name) = (Work::Delay { ps: layer.update_ps }, format!("{} update", layer.name));
        let update = self.draft.node(self.rank, work, &name, NO_LANE, Place::Line(layer.line))?;
        self.draft.after(update, node);
        Ok(Some(update))
    }
}

/// The words of a text, each with its line.
struct Words<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets, line: 1 }
    }

    /// The words up to the end of the line, which is taken too.
    fn line_of_words(&mut self) -> Vec<&'a [u8]> {
        let end = self.rest.iter().position(|&octet| octet == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or(rest);
        self.line += 1;
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
    }

    /// The next word and its line.
    fn next(&mut self, what: &str) -> Result<(&'a [u8], usize), ReadError> {
        let begin = self.rest.iter().position(|octet| !octet.is_ascii_whitespace()).unwrap_or(self.rest.len());
        self.line += self.rest[..begin].iter().filter(|&&octet| octet == b'\n').count();
        let word = &self.rest[begin..];
        let length = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
        self.rest = &word[length..];
        if length == 0 {
            return Err(ReadError::new(Place::Line(self.line), format!("the file ends where {what} is due")));
        }
        Ok((&word[..length], self.line))
    }

    fn number(&mut self, what: &str, largest: u64) -> Result<u64, ReadError> {
        let (word, line) = self.next(what)?;
        let number = core::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.filter(|&number| number <= largest).ok_or_else(|| {
            let reason =
                format!("{what} is due here, and not {:?}; write a whole number of up to {largest}", shown(word));
            ReadError::new(Place::Line(line), reason)
        })
    }
}
