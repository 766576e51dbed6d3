//! `[[window]]`: windows of measurement in addition to that of the whole run.

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::Network;

use super::Window;
use crate::error::Fault;
use crate::keys::sections;
use crate::limits::{Bounds, READINGS};
use crate::names;

/// The windows.
pub(crate) fn windows(
    tables: &[sections::Window],
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
        let (start, end) = (*table.start, table.end.unwrap_or(duration));
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
