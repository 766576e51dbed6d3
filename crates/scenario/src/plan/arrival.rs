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
