//! `[[change]]` of a scheme's parameters: the values in force from each such time on.

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Info, Instant, Scheme, SchemeConfig, Value};

use super::round_trip::PlannedNetwork;
use super::schemes::{check_bounds, check_thresholds};
use super::{Assigned, ParameterChange};
use crate::error::Fault;
use crate::keys::read::Entry;
use crate::keys::sections::Change;
use crate::limits::{Bounds, PLACES};

/// The changes of the parameters that the run has, in order of time: those of schemes that do not run are left out, as their tables
/// are.
pub(crate) fn changes(
    tables: &[Change],
    schemes: &[Assigned],
    laid: PlannedNetwork<'_>,
    bounds: &Bounds<'_>,
) -> Result<Vec<ParameterChange>, Fault> {
    let PlannedNetwork { network, layout, .. } = laid;
    let mut tables: Vec<_> = tables.iter().filter_map(|table| Some((table, table.new_values()?))).collect();
    tables.sort_by_key(|(table, _)| *table.at);
    let mut changes = Vec::new();
    let mut now = schemes.to_vec();
    for (table, values) in tables {
        let at = Instant(table.at.0);
        if at == Instant::ZERO {
            let message = "parameters can change only after the start of the run";
            let names: Vec<String> = values.schemes().map(|info| format!("[schemes.{}]", info.name)).collect();
            return Err(table.at.fault(message).with_hint(format!("set it in {}", names.join(" and "))));
        }
        for own in &mut now {
            let info = own.config.info();
            let Some(new) = values.of(info) else { continue };
            for (value, new) in own.written.iter_mut().zip(new) {
                *value = new.unwrap_or(*value);
            }
            let error = |parameter: usize, message: String| blame(table, new, parameter, message);
            let before = own.config.clone();
            laid.fill(own, error)?;
            check_thresholds(own, network, layout, error)?;
            check_bounds(own, network, error)?;
            check_lasting(info, &before, &own.config, table, new)?;
            let Assigned { priority, config, values, lines, .. } = own.clone();
            changes.push(ParameterChange { at, priority, config, values, lines });
        }
        let places = super::table_places(network, &now);
        bounds
            .check(PLACES, places, "shorter tables, or fewer links and flows")
            .map_err(|e| table.schemes.excess(e))?;
    }
    Ok(changes)
}

/// Sentences about changes of parameters of schemes that do not run.
pub(crate) fn notes(tables: &[Change], schemes: &[Assigned]) -> Vec<String> {
    let runs = |info: &&'static Info| schemes.iter().any(|own| own.config.info().name == info.name);
    let idle = |table: &Change| {
        let of = |info: &'static Info| {
            format!("the change of {} at {} has no effect: no flow is under it", info.name, *table.at)
        };
        let names: Vec<&'static Info> = table.new_values()?.schemes().filter(|info| !runs(info)).collect();
        Some(names.into_iter().map(of).collect::<Vec<_>>())
    };
    tables.iter().filter_map(idle).flatten().collect()
}

/// An error about the new value of a parameter, or where that is as before, about the change.
fn blame(table: &Change, new: &[Entry<Option<Value>>], parameter: usize, message: String) -> Fault {
    match &new[parameter] {
        entry if entry.is_some() => entry.fault(message),
        _ => table.at.fault(message),
    }
}

/// Refuses parameters on which frames in flight and the layout of the run depend.
fn check_lasting(
    info: &Info,
    before: &SchemeConfig,
    after: &SchemeConfig,
    table: &Change,
    new: &[Entry<Option<Value>>],
) -> Result<(), Fault> {
    let lasting = |config: &SchemeConfig| {
        let lengths = (Mixed::tag_octets(config), Mixed::echo_octets(config));
        (
            lengths,
            Mixed::moves_to(config),
            Mixed::needs_trimming(config),
            Mixed::acknowledges(config),
            Mixed::credit_limit(config),
            Mixed::levels(config),
        )
    };
    if lasting(before) == lasting(after) {
        return Ok(());
    }
    let message = format!(
        "a parameter of {} that frames carry, or by which they are moved, trimmed or limited, lasts for the run",
        info.name
    );
    let first = new.iter().position(|value| value.is_some()).unwrap_or(0);
    Err(blame(table, new, first, message).with_hint(format!("set it in [schemes.{}]", info.name)))
}
