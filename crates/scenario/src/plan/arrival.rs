//! A flow of a load, an incast or a trace, before it has a path.

use penstock_schemes::{Duration, Octets};

/// When a flow begins, from where to where, and how much it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) start: Duration,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) size: Octets,
}

/// Flows of one path.
pub(crate) struct Demand {
    /// The first of them, with the octets of all.
    pub(crate) arrival: Arrival,
    /// How many there are.
    pub(crate) flows: u32,
    /// The name that their path follows from.
    pub(crate) name: String,
}
