//! The tables of a file that flows come from, for names and errors.

use crate::error::Fault;
use crate::limits;
use crate::resolve::Resolved;

/// The table of the file that a flow comes from: its number among those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceTable {
    Flow(usize),
    Load(usize),
    Incast(usize),
    Burst(usize),
    Trace(usize),
    Collective(usize),
    Job(usize),
}

impl SourceTable {
    /// Its name.
    pub(crate) fn name(self, resolved: &Resolved) -> String {
        let name = match self {
            Self::Flow(i) => &resolved.flow[i].name,
            Self::Load(i) => &resolved.load[i].name,
            Self::Incast(i) => &resolved.incast[i].name,
            Self::Burst(i) => &resolved.burst[i].name,
            Self::Trace(i) => &resolved.trace[i].name,
            Self::Collective(i) => &resolved.collective[i].name,
            Self::Job(i) => &resolved.job[i].name,
        };
        // `flows` has given a name to tables without one.
        Option::clone(name).unwrap_or_default()
    }

    /// An error about its destinations.
    pub(crate) fn fault(self, resolved: &Resolved, message: String) -> Fault {
        match self {
            Self::Flow(i) => resolved.flow[i].to.fault(message),
            Self::Load(i) => resolved.load[i].hosts.fault(message),
            Self::Incast(i) => resolved.incast[i].hosts.fault(message),
            Self::Burst(i) => resolved.burst[i].hosts.fault(message),
            Self::Trace(i) => resolved.trace[i].flows.fault(message),
            Self::Collective(i) => resolved.collective[i].hosts.fault(message),
            Self::Job(i) => resolved.job[i].graph.fault(message),
        }
    }

    /// Too many of its flows.
    pub(crate) fn excess(self, resolved: &Resolved, excess: limits::Excess) -> Fault {
        match self {
            Self::Flow(i) => resolved.flow[i].from.excess(excess),
            Self::Load(i) => resolved.load[i].load.excess(excess),
            Self::Incast(i) => resolved.incast[i].every.excess(excess),
            Self::Burst(i) => resolved.burst[i].rate_excess(excess),
            Self::Trace(i) => resolved.trace[i].flows.excess(excess),
            Self::Collective(i) => resolved.collective[i].iterations.excess(excess),
            Self::Job(i) => resolved.job[i].iterations.excess(excess),
        }
    }

    /// An error about its transport, and about its acknowledgements.
    pub(crate) fn transport_fault(self, resolved: &Resolved, message: String) -> Fault {
        match self {
            Self::Flow(i) => resolved.flow[i].transport.fault(message),
            Self::Load(i) => resolved.load[i].transport.fault(message),
            Self::Incast(i) => resolved.incast[i].transport.fault(message),
            Self::Burst(i) => resolved.burst[i].transport.fault(message),
            Self::Trace(i) => resolved.trace[i].transport.fault(message),
            Self::Collective(i) => resolved.collective[i].transport.fault(message),
            Self::Job(i) => resolved.job[i].transport.fault(message),
        }
    }

    pub(crate) fn acks_fault(self, resolved: &Resolved, message: String) -> Fault {
        match self {
            Self::Flow(i) => resolved.flow[i].acks.fault(message),
            Self::Load(i) => resolved.load[i].acks.fault(message),
            Self::Incast(i) => resolved.incast[i].acks.fault(message),
            Self::Burst(i) => resolved.burst[i].acks.fault(message),
            Self::Trace(i) => resolved.trace[i].acks.fault(message),
            Self::Collective(i) => resolved.collective[i].acks.fault(message),
            Self::Job(i) => resolved.job[i].acks.fault(message),
        }
    }
}
