//! The flows of loads, incasts and traces.

use std::collections::BTreeSet;

use penstock_schemes::Octets;

use super::{End, Origin, carriage};
use crate::error::Fault;
use crate::fields::Either;
use crate::limits::Bounds;
use crate::loads::Arrivals;
use crate::made::{Model, Table};
use crate::names;
use crate::read::Entry;
use crate::sections::{AckClass, Carried, Experiment};
use crate::topology::Layout;

/// The keys that flows of loads, of incasts and of traces have alike.
struct Common<'a> {
    name: &'a mut Entry<Option<String>>,
    transport: &'a mut Entry<Carried>,
    acks: &'a mut Entry<Option<Either<AckClass, u8>>>,
    frame: &'a mut Entry<Option<Octets>>,
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
            name: &mut $table.name,
            transport: &mut $table.transport,
            acks: &mut $table.acks,
            frame: &mut $table.frame,
        }
    };
}

/// The traces with flows that would start after the end of the run, and how many each has.
pub(super) type TooLate = Vec<(String, u64)>;

/// The tables of loads, then those of incasts and of traces, with the flows that each makes. `taken` are the names of flows so far.
pub(super) fn tables(
    experiment: &mut Experiment,
    taken: &mut BTreeSet<String>,
    layout: &Layout,
    end: End,
    bounds: &Bounds<'_>,
) -> Result<(Vec<Table>, TooLate), Fault> {
    let seed = *experiment.seed;
    let mut tables = Vec::new();
    for (i, load) in experiment.load.inner().iter_mut().enumerate() {
        let model = common!(load).model(Origin::Load(i), &format!("load{i}"), taken)?;
        let arrivals = load.arrivals(&model.name, layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals, flows: 0 });
    }
    for (i, incast) in experiment.incast.inner().iter_mut().enumerate() {
        let model = common!(incast).model(Origin::Incast(i), &format!("incast{i}"), taken)?;
        let arrivals = incast.arrivals(&model.name, layout, seed, end.at, bounds)?;
        tables.push(Table { model, arrivals, flows: 0 });
    }
    let mut too_late = TooLate::new();
    for (i, trace) in experiment.trace.inner().iter_mut().enumerate() {
        let model = common!(trace).model(Origin::Trace(i), &format!("trace{i}"), taken)?;
        let (arrivals, late) = trace.arrivals(taken, layout, end.at, bounds)?;
        if late > 0 {
            too_late.push((model.name.clone(), late));
        }
        tables.push(Table { model, arrivals: Arrivals::Trace(arrivals), flows: 0 });
    }
    Ok((tables, too_late))
}

impl Common<'_> {
    /// Completes the keys. The table is called `usual` where it has no name.
    fn model(self, origin: Origin, usual: &str, taken: &mut BTreeSet<String>) -> Result<Model, Fault> {
        let name = self.name.fill(usual.to_owned());
        names::check(&name).map_err(|e| self.name.excess(e))?;
        // A name has no dot, so that no other flow is called as one of these will be.
        if !taken.insert(name.clone()) {
            let message = format!("the name \"{name}\" is used twice");
            return Err(self.name.fault(message).with_hint("give each flow, load, incast and trace a different name"));
        }
        let transport = carriage::transport(self.transport, self.acks, self.priority)?;
        let frame = carriage::frame(self.frame, self.transport, transport.as_ref().map(|(transport, _)| transport))?;
        let (controlled, priority, weight) = (self.controlled, self.priority, self.weight);
        Ok(Model { origin, name, transport, frame: frame.0 as u16, controlled, priority, weight })
    }
}
