//! Frames as schemes see them, and the columns of results.

use crate::units::{FlowKey, Instant, Octets};

/// A data frame as a scheme sees it.
#[derive(Debug)]
pub struct Frame<'a, T> {
    /// The flow that it belongs to.
    pub flow: FlowKey,
    /// Length.
    pub octets: u16,
    /// Weight of the flow, 1 unless the scenario says otherwise.
    pub weight: u16,
    /// Octets that the flow had sent before this frame.
    pub seq: Octets,
    /// The flow ends with this frame.
    pub last: bool,
    /// A full queue cut it down to its header ([`HEADER`] octets).
    pub trimmed: bool,
    /// When the reaction point released it.
    pub sent_at: Instant,
    /// The scheme's own field; edits travel on with this copy of the frame.
    pub tag: &'a mut T,
}

/// Length of a trimmed frame and of an acknowledgement without echo, with FCS.
pub const HEADER: u16 = 64;

/// Which queue a signal's frame joins at each hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The flow's own priority.
    Data,
    /// The strict priority of control frames.
    Control,
}

/// One internal variable that probes record: a column of the results.
#[derive(Debug, Clone, Copy)]
pub struct Var {
    /// Column name, ending in the unit where there is one; that of a count from the start of the run ends in `_total`, since the other
    /// columns of a sample count from the last one.
    pub name: &'static str,
    /// The meaning of the variable.
    pub description: &'static str,
}
