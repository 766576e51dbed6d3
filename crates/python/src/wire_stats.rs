//! Counts of a capture: notifications, pauses, marks and faults, and their time series, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use penstock_wire::capture::{ETHERNET, frames};
use penstock_wire::layers::Types;
use penstock_wire::stats::{Notified, Paused, Pauser, QueuePair, Roce, STORM_PS, Stats, Stopped, Way};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::wire::{EtherTypes, i64_or_u64, types};

/// Counts of a capture's notifications and pause frames, as a JSON object; `damage` says where it could not be read on.
/// `bits_per_s` is the rate of all lines, instead of those in the file; `storm_ps` the least pause that is a storm;
/// `every_ns` the interval of time series, of which there are none without it.
///
/// # Errors
///
/// The time series would have more than a million rows.
#[pyfunction]
#[pyo3(signature = (file, ether_types, bits_per_s, storm_ps=None, every_ns=None))]
pub(crate) fn wire_stats(
    py: Python<'_>,
    file: &[u8],
    ether_types: EtherTypes,
    bits_per_s: Option<u64>,
    storm_ps: Option<u64>,
    every_ns: Option<u64>,
) -> PyResult<String> {
    let storm_ps = storm_ps.map_or(STORM_PS, u128::from);
    let counted = py.detach(|| stats(file, types(ether_types), bits_per_s, storm_ps, every_ns));
    counted.map(|counted| counted.to_string()).map_err(PyValueError::new_err)
}

fn stats(
    file: &[u8],
    types: Types,
    bits_per_s: Option<u64>,
    storm_ps: u128,
    every_ns: Option<u64>,
) -> Result<Value, String> {
    let mut stats = every_ns.map_or_else(Stats::default, Stats::with_series);
    let (mut damage, mut others, mut file_of) = (None, 0u64, None);
    match frames(file) {
        Err(found) => damage = Some(found),
        Ok(mut read) => {
            while let Some(frame) = read.next() {
                match frame {
                    Ok(frame) if frame.link == ETHERNET => {
                        stats.add(&frame, bits_per_s.or_else(|| read.interface_rate(frame.interface)), types);
                    }
                    Ok(_) => {
                        stats.pass();
                        others += 1;
                    }
                    Err(found) => damage = Some(found),
                }
            }
            file_of = Some(read);
        }
    }
    let name = |interface| file_of.as_ref().and_then(|read| read.interface_name(interface));
    let notified = stats.notified.iter().map(|(way, found)| notified(way, found, name(way.interface)));
    let span_ns = stats.first_ns.zip(stats.last_ns);
    let series = every_ns.map(|every_ns| series(&stats, every_ns, &name)).transpose()?;
    let paused = stats
        .paused
        .iter()
        .map(|(pauser, found)| joined(pauser_named(*pauser, name(pauser.interface)), paused(found, span_ns, storm_ps)));
    let roce =
        stats.roce.iter().map(|(&interface, &seen)| joined(interface_named(interface, name(interface)), counts(seen)));
    let queue_pairs = stats.queue_pairs.iter().map(|(pair, &seen)| {
        let QueuePair { interface, source, destination, qp } = pair;
        let ends = json!({"source": source.to_string(), "destination": destination.to_string(), "qp": qp});
        joined(interface_named(*interface, name(*interface)), joined(ends, counts(seen)))
    });
    let faults = stats.faults.iter().map(|((format, kind), faulty)| {
        json!({
            "format": format,
            "kind": kind,
            "frames": faulty.frames,
            "numbers": faulty.numbers,
            "first": faulty.first.to_string(),
        })
    });
    Ok(json!({
        "frames": stats.frames,
        "octets": stats.octets,
        "span_s": span_ns.map(|(first, last)| (last - first) as f64 / 1e9),
        "formats": stats.formats,
        "tagged": stats.tagged,
        "cut": stats.cut,
        "faulty": stats.faulty,
        "faults": faults.collect::<Vec<_>>(),
        "not_ethernet": others,
        "notified": notified.collect::<Vec<_>>(),
        "paused": paused.collect::<Vec<_>>(),
        "roce": roce.collect::<Vec<_>>(),
        "queue_pairs": queue_pairs.collect::<Vec<_>>(),
        "series": series.as_ref().map(|(frames, _)| frames),
        "paused_series": series.as_ref().map(|(_, paused)| paused),
        "damage": damage.map(|damage| json!({"offset": damage.offset, "message": damage.to_string()})),
    }))
}

/// The most rows of a capture's time series: some hundreds of megabytes as Python's objects.
const SERIES_ROWS: u128 = 1_000_000;

/// The frames of each interface, then the pauses of each sender, interval by interval from the first frame to the last.
fn series(
    stats: &Stats,
    every_ns: u64,
    name: &impl Fn(u32) -> Option<String>,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    let Some((first_ns, last_ns)) = stats.first_ns.zip(stats.last_ns) else { return Ok((Vec::new(), Vec::new())) };
    let indices = first_ns / every_ns..=last_ns / every_ns;
    let interfaces: BTreeSet<_> = stats.series.keys().map(|(_, interface)| *interface).collect();
    let intervals = u128::from(indices.end() - indices.start()) + 1;
    let rows = intervals * (interfaces.len() + stats.paused.len()) as u128;
    if rows > SERIES_ROWS {
        return Err(format!("the time series would have {rows} rows, of {intervals} intervals"));
    }
    let time = |index: u64| index as f64 * every_ns as f64 / 1e9;
    let mut frames = Vec::new();
    for index in indices.clone() {
        for &interface in &interfaces {
            let seen = stats.series.get(&(index, interface)).copied().unwrap_or_default();
            let row = json!({"from_s": time(index), "frames": seen.frames, "octets": seen.octets});
            frames.push(joined(interface_named(interface, name(interface)), joined(row, counts(seen.roce))));
        }
    }
    let (end_ps, every_ps) = (u128::from(last_ns) * 1000, u128::from(every_ns) * 1000);
    let mut paused = Vec::new();
    for (pauser, found) in &stats.paused {
        let Some(stopped) = &found.stopped else { continue };
        let mut times: BTreeMap<u128, u128> = BTreeMap::new();
        for span in stopped.spans(end_ps) {
            for index in span.since_ps / every_ps..=span.until_ps / every_ps {
                let (since, until) = (span.since_ps.max(index * every_ps), span.until_ps.min((index + 1) * every_ps));
                *times.entry(index).or_default() += until - since;
            }
        }
        for index in indices.clone() {
            let paused_ps = times.get(&u128::from(index)).copied().unwrap_or(0);
            let share = paused_ps as f64 / every_ps as f64;
            let row = json!({"from_s": time(index), "paused_s": paused_ps as f64 / 1e12, "share": share});
            paused.push(joined(pauser_named(*pauser, name(pauser.interface)), row));
        }
    }
    Ok((frames, paused))
}

/// Both objects as one.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(keys), Value::Object(more)) = (one.as_object_mut(), other) {
        keys.extend(more);
    }
    one
}

fn interface_named(interface: u32, name: Option<String>) -> Value {
    json!({"interface": interface, "interface_name": name})
}

fn pauser_named(pauser: Pauser, name: Option<String>) -> Value {
    let sender = json!({"source": pauser.source.to_string(), "priority": pauser.priority});
    joined(interface_named(pauser.interface, name), sender)
}

fn counts(seen: Roce) -> Value {
    let share = (seen.data > 0).then(|| seen.marked as f64 / seen.data as f64);
    json!({
        "data": seen.data,
        "marked": seen.marked,
        "share": share,
        "cnps": seen.cnps,
        "sacks": seen.sacks,
        "skips": seen.skips,
        "nacks": seen.nacks,
        "probes": seen.probes,
    })
}

/// `span_ns`: the times of the capture's first and last frames.
fn paused(found: &Paused, span_ns: Option<(u64, u64)>, storm_ps: u128) -> Value {
    let seconds = |ps: u128| ps as f64 / 1e12;
    let (first_ns, last_ns) = span_ns.unwrap_or_default();
    let (stopped, end_ps) = (found.stopped.as_ref(), u128::from(last_ns) * 1000);
    let span_s = (last_ns - first_ns) as f64 / 1e9;
    let share = stopped.filter(|_| last_ns > first_ns).map(|it| seconds(it.total_ps(end_ps)) / span_s);
    json!({
        "stops": found.stops,
        "resumes": found.resumes,
        "quanta": found.quanta,
        "pauses": stopped.map(Stopped::pauses),
        "paused_s": stopped.map(|it| seconds(it.total_ps(end_ps))),
        "longest_s": stopped.map(|it| seconds(it.longest_ps(end_ps))),
        "storms": stopped.map(|it| it.storms(end_ps, storm_ps)),
        "share": share,
        "open_s": stopped.map(|it| seconds(it.open_ps(end_ps))),
    })
}

fn notified(way: &Way, found: &Notified, interface_name: Option<String>) -> Value {
    let strength = found.strength.map(|strength| {
        json!({
            "frames": strength.frames,
            "least": i64_or_u64(strength.least),
            "mean": strength.sum as f64 / strength.frames as f64,
            "most": i64_or_u64(strength.most),
        })
    });
    json!({
        "interface": way.interface,
        "interface_name": interface_name,
        "format": way.format,
        "source": way.source.to_string(),
        "destination": way.destination.to_string(),
        "cp_id": way.cp_id.map(|id| format!("0x{id:016x}")),
        "flow": way.flow,
        "to": way.to.map(|to| to.to_string()),
        "frames": found.frames,
        "strength": strength,
        "first_ns": found.first_ns,
        "last_ns": found.last_ns,
    })
}
