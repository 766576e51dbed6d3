//! Writers of job graphs as files of others: GOAL, Chakra.
//!
//! What a format cannot say is refused with the node. What it says in another way is noted.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::graph::{Graph, NodeId};

pub mod chakra;
pub mod chakra_json;
pub mod goal;
mod trace;

/// A graph that a format cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    /// The node at fault.
    pub node: NodeId,
    /// What the format lacks, and what to do instead.
    pub message: String,
}

impl WriteError {
    fn new(graph: &Graph, node: NodeId, reason: &str) -> Self {
        let (name, rank) = (graph.name(node), graph.rank(node));
        Self { node, message: format!("node {node} ({name:?} of rank {rank}): {reason}") }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for WriteError {}

/// The nodes of each rank, in their order.
fn by_rank(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut ranks = alloc::vec![Vec::new(); graph.ranks() as usize];
    for node in 0..graph.len() {
        ranks[graph.rank(node) as usize].push(node);
    }
    ranks
}
