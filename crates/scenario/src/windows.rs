//! `[[window]]`: windows of measurement beside that of the whole run. And a run that is cut short: whatever lies behind its
//! new end goes.

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::Network;

use crate::error::Fault;
use crate::keys::{Record, Value};
use crate::limits::{Bounds, READINGS};
use crate::names;
use crate::plan::Window;
use crate::read::{excess, fault};
use crate::tree::Origin;
use crate::units::{self, Dimension};

/// The windows; the record then says where each ends.
pub(crate) fn windows(
    record: &mut Record,
    network: &Network,
    duration: Duration,
    bounds: &Bounds<'_>,
) -> Result<Vec<Window>, Fault> {
    let each = network.flows.len() + network.ports.len() * network.queues_per_port();
    let tables = record.tables_mut("window");
    let readings = (tables.len() * each) as u64;
    if let Some(last) = tables.last() {
        let less = format!("fewer windows: each reads {each} flows and queues");
        bounds.check(READINGS, readings, &less).map_err(|e| excess(last, "name", e))?;
    }
    let mut taken = BTreeSet::new();
    let mut windows = Vec::with_capacity(tables.len());
    let run_ends = || format!("the run ends at {}", units::time(duration.0));
    for table in tables {
        let name = table.text("name").expect("required").to_owned();
        if !taken.insert(name.clone()) {
            let message = format!("the name \"{name}\" is used twice");
            return Err(fault(table, "name", message).with_hint("each window has a name of its own"));
        }
        if names::for_files(&name) != name {
            let message = "a window's name has no slash, no dot in front, and at most 200 octets";
            let hint = format!("for instance \"{}\"", names::for_files(&name));
            return Err(fault(table, "name", message).with_hint(hint));
        }
        table.fill("end", Value::Quantity(Dimension::Time, duration.0));
        let (start, end) = (Instant(table.number("start")), Instant(table.number("end")));
        if start.0 >= duration.0 {
            let message = "a window would open at or after the end of the run";
            return Err(fault(table, "start", message).with_hint(run_ends()));
        }
        if end.0 > duration.0 {
            let message = "a window would close after the end of the run";
            return Err(fault(table, "end", message).with_hint(run_ends()));
        }
        if end <= start {
            let hint = format!("it opens at {}; end must be later", units::time(start.0));
            return Err(fault(table, "end", "a window would close before it opens").with_hint(hint));
        }
        windows.push(Window { name, time: start..end });
    }
    Ok(windows)
}

/// Takes changes, windows and tables of flows behind the end out of a record whose duration was set for this run alone, and
/// says so. An entry of the file that lies behind the file's own end is a mistake, and stays.
pub(crate) fn cut_short(record: &mut Record, duration: Duration) -> Vec<String> {
    if record.entry("duration").is_none_or(|entry| entry.origin != Origin::Set) {
        return Vec::new();
    }
    let end = units::time(duration.0);
    let mut notes = Vec::new();
    let kinds = [
        ("change", "at", "a change", "changes"),
        ("flow", "start", "a table of flows", "tables of flows"),
        ("window", "start", "a window", "windows"),
    ];
    for (key, time, one, several) in kinds {
        let gone = record.leave_out(key, |table| table.get(time).is_some_and(|at| at >= duration.0));
        if gone > 0 {
            let many = if gone == 1 { format!("{one} is") } else { format!("{gone} {several} are") };
            notes.push(format!("{many} left out: the duration was set, and the run ends at {end}"));
        }
    }
    for table in record.tables_mut("window") {
        if table.get("end").is_some_and(|at| at > duration.0) {
            let name = table.text("name").unwrap_or_default();
            notes.push(format!("the window {name} closes with the run, at {end}: the duration was set"));
            table.replace("end", Value::Quantity(Dimension::Time, duration.0));
        }
    }
    notes
}
