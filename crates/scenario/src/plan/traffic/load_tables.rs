//! The flows of loads, incasts and traces.

use std::collections::BTreeSet;

use penstock_schemes::Octets;

use super::RunEnd;
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::Entry;
use crate::keys::sections::{AckClass, Carried};
use crate::keys::topology::Layout;
use crate::limits::Bounds;
use crate::names;
use crate::plan::arrivals::Arrivals;
use crate::plan::flow_census::{Model, Table};
use crate::plan::flow_transport;
use crate::plan::listed_jobs::OUTSIDE;
use crate::plan::source_table::SourceTable;
use crate::resolve::Resolved;

/// The keys that flows of loads, of incasts, of bursts and of traces have alike.
struct Common<'a> {
    name: &'a Entry<Option<String>>,
    transport: &'a Entry<Carried>,
    acks: &'a Entry<Option<Either<AckClass, u8>>>,
    frame: &'a Entry<Option<Octets>>,
    controlled: bool,
    priority: u8,
    weight: u16,
}

/// Borrows them from a table.
macro_rules! common {
    ($table:expr) => {
        Common {
            controlled: *$table.controlled,
            priority: *$table.priority,
            weight: *$table.weight,
            name: &$table.name,
            transport: &$table.transport,
            acks: &$table.acks,
            frame: &$table.frame,
        }
    };
}

/// The traces with flows that would start after the end of the run, and how many each has.
pub(super) type TooLate = Vec<(String, u64)>;

/// The tables of loads, then those of incasts, of bursts, of traces, of collectives and of jobs, with the flows that each makes. `taken` are the names of flows so far.
pub(super) fn tables(
    resolved: &Resolved,
    taken: &mut BTreeSet<String>,
    layout: &Layout,
    end: RunEnd,
    bounds: &Bounds<'_>,
) -> Result<(Vec<Table>, TooLate), Fault> {
    let seed = *resolved.seed;
    let mut tables = Vec::new();
    for (i, load) in resolved.load.iter().enumerate() {
        let model = common!(load).model(SourceTable::Load(i), taken)?;
        let arrivals = load.arrivals(&model.name, layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals: Arrivals::Load(arrivals), flows: 0 });
    }
    for (i, incast) in resolved.incast.iter().enumerate() {
        let model = common!(incast).model(SourceTable::Incast(i), taken)?;
        let arrivals = incast.arrivals(&model.name, layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals: Arrivals::Incast(arrivals), flows: 0 });
    }
    for (i, burst) in resolved.burst.iter().enumerate() {
        let model = common!(burst).model(SourceTable::Burst(i), taken)?;
        let arrivals = burst.arrivals(&model.name, layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals: Arrivals::Burst(Box::new(arrivals)), flows: 0 });
    }
    let mut too_late = TooLate::new();
    for (i, trace) in resolved.trace.iter().enumerate() {
        let model = common!(trace).model(SourceTable::Trace(i), taken)?;
        let (arrivals, late) = trace.arrivals(taken, layout, end.at, bounds)?;
        if late > 0 {
            too_late.push((model.name.clone(), late));
        }
        tables.push(Table { model, arrivals: Arrivals::Trace(arrivals), flows: 0 });
    }
    for (i, collective) in resolved.collective.iter().enumerate() {
        let model = common!(collective).model(SourceTable::Collective(i), taken)?;
        let job = collective.job(layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals: Arrivals::Job(Box::new(job)), flows: 0 });
    }
    for (i, table) in resolved.job.iter().enumerate() {
        if table.graph.0 == OUTSIDE && resolved.job.iter().take(i).any(|other| other.graph.0 == OUTSIDE) {
            let fault = table.graph.fault("a second job has its messages from outside");
            return Err(fault.with_hint("one [[job]] with graph = \"outside\", whose hosts are those of all its ranks"));
        }
        let model = common!(table).model(SourceTable::Job(i), taken)?;
        let job = table.job(layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals: Arrivals::Job(Box::new(job)), flows: 0 });
    }
    Ok((tables, too_late))
}

impl Common<'_> {
    /// The properties of its flows.
    fn model(self, origin: SourceTable, taken: &mut BTreeSet<String>) -> Result<Model, Fault> {
        let name = Option::clone(self.name).unwrap_or_default();
        names::check(&name).map_err(|e| self.name.excess(e))?;
        // A name has no dot, so that no other flow is called as one of these will be.
        if !taken.insert(name.clone()) {
            let message = format!("the name \"{name}\" is used twice");
            return Err(self
                .name
                .fault(message)
                .with_hint("give each flow, load, incast, burst, trace, collective and job a different name"));
        }
        let carriage = flow_transport::carriage(self.transport, self.acks)?;
        let frame = flow_transport::frame(self.frame, self.transport, carriage.as_ref())?;
        let (controlled, priority, weight) = (self.controlled, self.priority, self.weight);
        Ok(Model { origin, name, carriage, frame: frame.0 as u16, controlled, priority, weight })
    }
}
