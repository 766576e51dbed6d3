//! Files of others, read and written: right ones, wrong ones, cut-off ones, changed ones.

mod broken;
mod chakra;
mod goal;
mod round_trip;
mod runs;
mod simai;
// The network of the other tests, of which these need a part.
#[allow(dead_code)]
#[path = "../jobs/toy.rs"]
mod toy;

use penstock_jobs::read::{self, File, Imported, Options, ReadError};
use penstock_jobs::{Graph, NodeId, Rank, Work};

/// A file of the folder `tests/data`.
macro_rules! data {
    ($name:literal) => {
        penstock_jobs::read::File { name: $name, octets: include_bytes!(concat!("../data/", $name)) }
    };
}
pub(crate) use data;

/// The files of the ring of eight ranks.
pub(crate) const RING: [File<'static>; 8] = [
    data!("chakra/ring_8_ranks_1MB.0.et"),
    data!("chakra/ring_8_ranks_1MB.1.et"),
    data!("chakra/ring_8_ranks_1MB.2.et"),
    data!("chakra/ring_8_ranks_1MB.3.et"),
    data!("chakra/ring_8_ranks_1MB.4.et"),
    data!("chakra/ring_8_ranks_1MB.5.et"),
    data!("chakra/ring_8_ranks_1MB.6.et"),
    data!("chakra/ring_8_ranks_1MB.7.et"),
];

/// The files of one all-reduce of four ranks.
pub(crate) const ALL_REDUCE: [File<'static>; 4] = [
    data!("chakra/all_reduce_4_ranks_1MB.0.et"),
    data!("chakra/all_reduce_4_ranks_1MB.1.et"),
    data!("chakra/all_reduce_4_ranks_1MB.2.et"),
    data!("chakra/all_reduce_4_ranks_1MB.3.et"),
];

/// Reads a text.
pub(crate) fn text(name: &str, text: &str) -> Result<Imported, ReadError> {
    read::read(&[File { name, octets: text.as_bytes() }], &Options::default())
}

/// The message with which a text is refused.
pub(crate) fn refusal(name: &str, content: &str) -> String {
    text(name, content).expect_err("the text is wrong").to_string()
}

/// The works of a rank in the order of its nodes.
pub(crate) fn works(graph: &Graph, rank: Rank) -> Vec<Work> {
    (0..graph.len()).filter(|&node| graph.rank(node) == rank).map(|node| graph.work(node)).collect()
}

/// The pairs (waiting, awaited) of a graph, sorted: those at an end and those at a start.
pub(crate) fn pairs(graph: &Graph) -> [Vec<(NodeId, NodeId)>; 2] {
    let of = |waiting: &dyn Fn(NodeId) -> Vec<NodeId>| {
        let mut pairs: Vec<_> =
            (0..graph.len()).flat_map(|other| waiting(other).into_iter().map(move |node| (node, other))).collect();
        pairs.sort_unstable();
        pairs
    };
    [of(&|node| graph.waiting_for_end(node).to_vec()), of(&|node| graph.waiting_for_start(node).to_vec())]
}
