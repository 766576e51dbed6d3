//! Which scheme runs on which priority, with which parameters.
//!
//! The scenario's `scheme` (or the one chosen for the run) has all priorities but those with a `[[priority]]` table.
//! Parameters come from `[schemes.NAME]`; a priority that names a profile starts from that profile instead.

use std::collections::BTreeSet;

use penstock_schemes::{Bound, Info, Profile, SCHEMES, SchemeConfig, Unit, Value as Setting};
use penstock_sim::network::{Capacity, Network, Port};

use crate::assemble::largest_frame;
use crate::error::{Fault, brief, suggest};
use crate::keys::{Record, Value};
use crate::plan::Assigned;
use crate::read::{self, fault};
use crate::topology::Fabric;
use crate::tree::{Node, Origin};
use crate::{Choice, sections, units};

/// The scheme of the priorities without a table of their own. Its settings are then in the record, with the chosen
/// profile.
pub(crate) fn choose(record: &mut Record, choice: &Choice) -> Result<&'static Info, Fault> {
    if let Some(name) = &choice.scheme {
        let Some(info) = SCHEMES.iter().find(|info| info.name == name) else {
            let hint = suggest(name, SCHEMES.iter().map(|info| info.name));
            return Err(chosen("scheme", format!("unknown scheme \"{name}\""), hint));
        };
        record.replace("scheme", Value::Word(info.name));
    }
    let chosen = listed(record.text("scheme").expect("required"));
    let by = record.entry("scheme").expect("required").origin;
    let tables = record.table_mut("schemes").expect("schemes have a default");
    fill(tables, chosen, by)?;
    for info in SCHEMES {
        if let Some(table) = tables.table_mut(info.name) {
            let wanted = if info.name == chosen.name { choice.profile.as_deref() } else { None };
            apply_profile(info, table, wanted)?;
        }
    }
    Ok(chosen)
}

/// The scheme of each of the network's priorities.
pub(crate) fn assign(
    record: &mut Record,
    scheme: &'static Info,
    network: &Network,
    fabric: &Fabric,
    choice: &Choice,
) -> Result<Vec<Assigned>, Fault> {
    check_priorities(record, network, choice)?;
    let own = |table: &Record| (listed(table.text("scheme").expect("required")), table.origin);
    for (info, by) in record.tables("priority").iter().map(own).collect::<Vec<_>>() {
        fill(record.table_mut("schemes").expect("schemes have a default"), info, by)?;
    }
    let assign = |&priority: &u8| {
        let own = record.tables("priority").iter().find(|table| table.number("priority") == u64::from(priority));
        let info = own.map_or(scheme, |table| listed(table.text("scheme").expect("required")));
        let profile = own.and_then(|table| Some((table, table.text("profile")?)));
        let table = record.table("schemes").and_then(|tables| tables.table(info.name)).expect("filled");
        let (values, name) = match profile {
            Some((table, name)) => (of_profile(info, profile_of(info, table, name)?), Some(name)),
            None => (of_table(info, table), profile_name(info, table)),
        };
        let error = |parameter: &str, message: String| match profile {
            Some((own, name)) => fault(own, "profile", format!("{parameter} of {name}: {message}")),
            None => fault(table, parameter, message),
        };
        check_thresholds(info, &values, priority, network, fabric, error)?;
        check_bounds(info, &values, network, error)?;
        let config = SchemeConfig::new(info.name, &values).expect("values are of their parameters' kinds");
        Ok(Assigned { priority, config, values, profile: name.map(str::to_owned) })
    };
    network.priorities.iter().map(assign).collect()
}

/// Refuses priorities that are listed twice or unused, and choices that nothing would follow.
fn check_priorities(record: &Record, network: &Network, choice: &Choice) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for table in record.tables("priority") {
        let priority = table.number("priority");
        if !seen.insert(priority) {
            let message = format!("priority {priority} has a scheme already");
            return Err(fault(table, "priority", message).with_hint("one scheme for each priority"));
        }
        if !network.priorities.iter().any(|p| u64::from(*p) == priority) {
            let message = format!("no flow has priority {priority}");
            return Err(fault(table, "priority", message).with_hint(used(network)));
        }
    }
    let given = [("scheme", &choice.scheme), ("profile", &choice.profile)];
    match given.into_iter().find(|(_, given)| given.is_some()) {
        Some((what, _)) if seen.len() == network.priorities.len() => {
            let message = "nothing would follow: each priority has a scheme of its own".to_owned();
            Err(chosen(what, message, "take the [[priority]] tables out of the file, or edit them"))
        }
        _ => Ok(()),
    }
}

/// Which priorities flows have, in words.
pub(crate) fn used(network: &Network) -> String {
    let list: Vec<String> = network.priorities.iter().map(u8::to_string).collect();
    format!("flows have {}", list.join(", "))
}

fn listed(name: &str) -> &'static Info {
    SCHEMES.iter().find(|info| info.name == name).expect("the scheme is one of the words")
}

/// Gives a scheme without a table one with its defaults. Where these do not fit, the place is to blame that names the scheme.
fn fill(tables: &mut Record, info: &Info, by: Origin) -> Result<(), Fault> {
    if tables.table(info.name).is_none() {
        let path = tables.key_path(info.name);
        let mut defaults = read::record(sections::scheme(info.name), &Node::declared("{}"), &path)?;
        defaults.origin = by;
        tables.fill(info.name, Value::Table(defaults));
    }
    Ok(())
}

/// A scheme's parameters as its table has them.
fn of_table(info: &Info, table: &Record) -> Vec<Setting> {
    let setting = |name: &str| match table.entry(name).expect("parameters have defaults").value {
        Value::Quantity(_, x) | Value::Count(x) => Setting::Int(x),
        Value::Real(x) => Setting::Real(x),
        Value::Word(word) => Setting::Choice(word),
        Value::Switch(x) => Setting::Switch(x),
        ref other => unreachable!("a parameter cannot be {other:?}"),
    };
    info.parameters.iter().map(|p| setting(p.name)).collect()
}

/// A scheme's parameters as a profile has them.
fn of_profile(info: &Info, profile: &Profile) -> Vec<Setting> {
    let set = |name: &str| profile.settings.iter().find(|(set, _)| *set == name).map(|(_, value)| *value);
    info.parameters.iter().map(|p| set(p.name).unwrap_or(p.default)).collect()
}

/// The profile that the scheme's table names.
fn profile_name<'a>(info: &Info, table: &'a Record) -> Option<&'a str> {
    if info.profiles.is_empty() { None } else { table.text("profile") }
}

/// The profile that a priority's table names.
fn profile_of(info: &Info, table: &Record, name: &str) -> Result<&'static Profile, Fault> {
    info.profile(name).ok_or_else(|| {
        let hint = no_profile(info, name);
        fault(table, "profile", format!("{} has no profile \"{name}\"", info.name)).with_hint(hint)
    })
}

/// Gives the parameters that the table does not set the values of its profile, or of the one wanted instead.
fn apply_profile(info: &Info, table: &mut Record, wanted: Option<&str>) -> Result<(), Fault> {
    if let Some(name) = wanted {
        let Some(profile) = info.profile(name) else {
            let message = format!("{} has no profile \"{name}\"", info.name);
            return Err(chosen("profile", message, no_profile(info, name)));
        };
        table.replace("profile", Value::Word(profile.name));
    }
    let Some(profile) = profile_name(info, table).and_then(|name| info.profile(name)) else { return Ok(()) };
    for (name, value) in profile.settings {
        let parameter = info.parameter(name).expect("a profile sets parameters of its scheme");
        if table.entry(name).is_some_and(|e| e.origin == Origin::Default) {
            table.replace(name, sections::parameter_value(parameter, *value));
        }
    }
    Ok(())
}

/// Which profiles there are, for a name that is none of them.
fn no_profile(info: &Info, name: &str) -> String {
    match info.profiles {
        [] => format!("{} has no profiles", info.name),
        profiles => suggest(name, profiles.iter().map(|p| p.name)),
    }
}

/// An error in what was chosen for the run, outside of the file.
pub(crate) fn chosen(what: &str, message: String, hint: impl Into<String>) -> Fault {
    let message = format!("{message}, as given by --{what}");
    Fault { line: None, key: Some(what.to_owned()), message: brief(&message), hint: Some(hint.into()) }
}

/// Refuses a threshold that no queue length can reach. `error` makes the error about a parameter.
fn check_thresholds(
    info: &Info,
    values: &[Setting],
    priority: u8,
    network: &Network,
    fabric: &Fabric,
    error: impl Fn(&str, String) -> Fault,
) -> Result<(), Fault> {
    let watched = network.ports.iter().enumerate().filter(|(_, p)| p.congestion_points);
    let size = |capacity| match capacity {
        Capacity::Octets(octets) => octets.0,
        Capacity::Frames(n) => u64::from(n) * largest_frame(network),
        Capacity::Arbiter => u64::MAX,
    };
    // Frames that an ingress buffer holds find room in any output queue.
    let lossless = network.pfc.as_ref().filter(|pfc| pfc.priorities.contains(&priority));
    let mut held = vec![0_u64; network.nodes.len()];
    for (port, ingress) in network.ports.iter().zip(lossless.map_or(&[][..], |pfc| &pfc.ingress)) {
        let of_node = &mut held[port.peer.index()];
        *of_node = of_node.saturating_add(ingress.map_or(0, |ingress| ingress.buffer.0));
    }
    let longest = |p: &Port| size(p.capacity).saturating_add(held[p.node.index()]);
    let Some((smallest, port)) = watched.map(|(i, p)| (longest(p), i)).min() else { return Ok(()) };
    for (parameter, value) in info.parameters.iter().zip(values).filter(|(p, _)| p.unit == Unit::Threshold) {
        if let Setting::Int(threshold) = *value
            && threshold > smallest
        {
            let (what, at_port) = match lossless {
                None => ("buffer", "is the smallest with a congestion point"),
                Some(_) => ("buffer and ingress buffers", "can grow least of those with a congestion point"),
            };
            let message = format!("{} is beyond the {what} of {}", units::size(threshold), units::size(smallest));
            let hint = format!("the queue of {} {at_port}", fabric.port_name(port));
            return Err(error(parameter.name, message).with_hint(hint));
        }
    }
    Ok(())
}

/// Refuses parameters that contradict one another, and least rates that no source could have. `error` as above.
fn check_bounds(
    info: &Info,
    values: &[Setting],
    network: &Network,
    error: impl Fn(&str, String) -> Fault,
) -> Result<(), Fault> {
    for (parameter, value) in info.parameters.iter().zip(values) {
        let (Some(bound), Setting::Int(value)) = (parameter.bound, *value) else { continue };
        let write = |value| match sections::parameter_value(parameter, Setting::Int(value)) {
            Value::Quantity(dimension, x) => units::format(dimension, x),
            _ => value.to_string(),
        };
        match bound {
            Bound::AtLeast(other) => {
                let least = info.parameters.iter().zip(values).find(|(p, _)| p.name == other).map(|(_, v)| *v);
                if let Some(Setting::Int(least)) = least
                    && value < least
                {
                    let message = format!("{} is below {other}, {}", write(value), write(least));
                    let hint = format!("{} is never less than {other}", parameter.name);
                    return Err(error(parameter.name, message).with_hint(hint));
                }
            }
            Bound::AtMostLine => {
                let lines =
                    network.flows.iter().map(|flow| network.ports[network.hops[flow.root.index()].port.index()].rate.0);
                if let Some(fastest) = lines.max()
                    && value > fastest
                {
                    let message =
                        format!("{} is above the rate of the sources' lines, {}", write(value), write(fastest));
                    return Err(error(parameter.name, message).with_hint("no source could slow down"));
                }
            }
        }
    }
    Ok(())
}
