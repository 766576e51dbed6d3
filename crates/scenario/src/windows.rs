//! `[[window]]`: windows of measurement in addition to that of the whole run. And a run that is cut short: everything
//! behind its new end goes.

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::Network;

use crate::error::Fault;
use crate::limits::{Bounds, READINGS};
use crate::names;
use crate::plan::Window;
use crate::sections::{self, Experiment};
use crate::tree::Origin;

/// The windows; the tables then say where each ends.
pub(crate) fn windows(
    tables: &mut [sections::Window],
    network: &Network,
    duration: Duration,
    bounds: &Bounds<'_>,
) -> Result<Vec<Window>, Fault> {
    let each = network.flows.len() + network.ports.len() * network.queues_per_port();
    let readings = (tables.len() * each) as u64;
    if let Some(last) = tables.last() {
        let less = format!("fewer windows: each reads {each} flows and queues");
        bounds.check(READINGS, readings, &less).map_err(|e| last.name.excess(e))?;
    }
    let mut taken = BTreeSet::new();
    let mut windows = Vec::with_capacity(tables.len());
    let run_ends = || format!("the run ends at {}", duration);
    for table in tables {
        let name = String::clone(&table.name);
        if !taken.insert(name.clone()) {
            let message = format!("the name \"{name}\" is used twice");
            return Err(table.name.fault(message).with_hint("give each window a different name"));
        }
        if names::for_files(&name) != name {
            let message = "a window's name has no slash, no dot in front, and at most 200 octets";
            let hint = format!("for instance \"{}\"", names::for_files(&name));
            return Err(table.name.fault(message).with_hint(hint));
        }
        let (start, end) = (*table.start, table.end.fill(duration));
        if start >= duration {
            let message = "a window would open at or after the end of the run";
            return Err(table.start.fault(message).with_hint(run_ends()));
        }
        if end > duration {
            let message = "a window would close after the end of the run";
            return Err(table.end.fault(message).with_hint(run_ends()));
        }
        if end <= start {
            let hint = format!("it opens at {}; end must be later", start);
            return Err(table.end.fault("a window would close before it opens").with_hint(hint));
        }
        windows.push(Window { name, time: Instant(start.0)..Instant(end.0) });
    }
    Ok(windows)
}

/// Whether the duration was set for this run alone.
pub(crate) fn is_cut_short(experiment: &Experiment) -> bool {
    experiment.duration.origin() == Origin::Set
}

/// Takes changes and windows behind the end out of a scenario that is cut short, and says so. An entry of the file that lies
/// behind the file's own end is a mistake, and stays.
pub(crate) fn cut_short(experiment: &mut Experiment) -> Vec<String> {
    if !is_cut_short(experiment) {
        return Vec::new();
    }
    let duration = *experiment.duration;
    let changes = leave_out(experiment.change.inner(), |change| *change.at >= duration);
    let windows = leave_out(experiment.window.inner(), |window| *window.start >= duration);
    let mut notes = Vec::new();
    notes.extend(note(changes, "a change", "changes", duration));
    notes.extend(note(windows, "a window", "windows", duration));
    for window in experiment.window.inner() {
        if window.end.is_some_and(|at| at > duration) {
            let end = duration;
            notes.push(format!("the window {} closes with the run, at {end}: the duration was set", *window.name));
            window.end.replace(Some(duration));
        }
    }
    notes
}

/// The note that `gone` entries are left out of a shortened run; `None` if there is none. `one` and `several` name them.
pub(crate) fn note(gone: usize, one: &str, several: &str, end: Duration) -> Option<String> {
    let many = match gone {
        0 => return None,
        1 => format!("{one} is"),
        _ => format!("{gone} {several} are"),
    };
    Some(format!("{many} left out: the duration was set, and the run ends at {}", end))
}

/// Takes entries out of a list; says how many.
fn leave_out<T>(list: &mut Vec<T>, which: impl Fn(&T) -> bool) -> usize {
    let before = list.len();
    list.retain(|entry| !which(entry));
    before - list.len()
}
