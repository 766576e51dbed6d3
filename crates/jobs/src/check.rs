//! Whether a graph can end: partners of sends, receives and collectives, and cycles.

use crate::graph::{Graph, GraphError};

impl Graph {
    /// Refuses a graph that cannot end.
    ///
    /// # Errors
    ///
    /// A cycle, with its nodes in order; a send without receive or a receive without send; a send and its receive of different sizes; a
    /// collective that a member lacks, or that differs among members.
    pub fn check(&self) -> Result<(), GraphError> {
        unimplemented!()
    }
}
