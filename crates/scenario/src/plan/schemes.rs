//! Which scheme runs on which priority, with which parameters.
//!
//! The scenario's `scheme` (or the one chosen for the run) has all priorities but those with a `[[priority]]` table.
//! Parameters come from `[schemes.NAME]`; a priority that names a profile starts from that profile instead.

use std::collections::BTreeSet;

use penstock_schemes::{BitRate, Bound, Duration, Info, Octets, Parameter, Profile, Unit, Value};
use penstock_sim::network::{Capacity, Network, Port};

use super::Assigned;
use super::lines;
use super::network::largest_frame;
use super::round_trip::{self, PlannedNetwork};
use crate::error::Fault;
use crate::foreign;
use crate::keys::sections::{self, check_order};
use crate::keys::topology::Layout;
use crate::resolve::{self, Choice, Resolved};

/// The scheme of each of the network's priorities. Those to which schemes move frames are added to them.
pub(crate) fn assign(resolved: &Resolved, network: &mut Network, choice: &Choice) -> Result<Vec<Assigned>, Fault> {
    check_priorities(&resolved.priority, network, choice)?;
    let assign = |&priority: &u8| {
        let (info, profile) = of_priority(&resolved.priority, resolved.scheme(), priority);
        let (written, name) = match profile {
            Some((own, name)) => (of_profile(info, profile_of(info, own, name)?), Some(name)),
            None => {
                let settings = resolved.schemes.of(info);
                (settings.values(), settings.profile().map(|profile| profile.name))
            }
        };
        let changed = resolved.change.iter().filter_map(|table| table.new_values()?.of(info));
        let new =
            changed.flat_map(|new| info.parameters.iter().zip(new).filter_map(|(p, value)| Some((p, (**value)?))));
        let mut given = info.parameters.iter().zip(written.iter().copied()).chain(new);
        let follows_lines = given.any(|(parameter, value)| lines::follows(parameter, value));
        let values = lines::provisional(info, &written);
        let config = foreign::configured(info, &values);
        let profile = name.map(str::to_owned);
        Ok(Assigned { priority, config, values, lines: Vec::new(), profile, written, follows_lines })
    };
    let used = network.priorities.clone();
    let assigned: Vec<Assigned> = network.priorities.iter().map(&assign).collect::<Result<_, Fault>>()?;
    let moved = assigned.iter().filter_map(|own| own.config.moves_to());
    let levels = assigned.iter().flat_map(|own| own.priority..own.priority + own.config.levels());
    let moved: BTreeSet<u8> = moved.chain(levels).collect();
    let assigned = if moved.iter().all(|priority| network.priorities.contains(priority)) {
        assigned
    } else {
        let all: BTreeSet<u8> = network.priorities.iter().copied().chain(moved).collect();
        network.priorities = all.into_iter().collect();
        network.priorities.iter().map(assign).collect::<Result<_, Fault>>()?
    };
    check_moves(&resolved.priority, &assigned)?;
    check_levels(resolved, &used, &assigned)?;
    Ok(assigned)
}

/// Gives parameters that follow from the network their values.
pub(crate) fn fill(resolved: &Resolved, schemes: &mut [Assigned], laid: PlannedNetwork<'_>) -> Result<(), Fault> {
    for own in schemes {
        // A profile has values alone, but a change need not.
        let (info, profile) = of_priority(&resolved.priority, resolved.scheme(), own.priority);
        let settings = resolved.schemes.of(info);
        laid.fill(own, |parameter, message| match profile {
            Some((table, _)) => table.profile.fault(message),
            None => settings.values[parameter].fault(message),
        })?;
    }
    Ok(())
}

/// Refuses a scheme that moves frames to a priority of another one, whose signals their sources would not understand.
fn check_moves(tables: &[sections::Priority], schemes: &[Assigned]) -> Result<(), Fault> {
    for own in schemes {
        let name = own.config.info().name;
        let to = own.config.moves_to().filter(|&to| to < own.priority);
        let Some(there) = schemes.iter().find(|there| Some(there.priority) == to) else { continue };
        let other = there.config.info().name;
        let table = tables.iter().find(|table| [own.priority, there.priority].contains(&table.priority));
        if let Some(table) = table.filter(|_| other != name) {
            let message = format!(
                "{name} moves frames of priority {} to priority {}, where {other} runs",
                own.priority, there.priority
            );
            return Err(table.priority.fault(message).with_hint(format!("let {name} run in both")));
        }
    }
    Ok(())
}

/// Refuses a scheme whose frames would have a priority that there is not, or one of another scheme. `used` are those of flows.
fn check_levels(resolved: &Resolved, used: &[u8], schemes: &[Assigned]) -> Result<(), Fault> {
    for own in schemes.iter().filter(|own| used.contains(&own.priority) && own.config.levels() > 1) {
        let (name, first) = (own.config.info().name, own.priority);
        let last = first + own.config.levels() - 1;
        if last > 7 {
            let message = format!("{name} has {} priorities, from {first} to {last}", last - first + 1);
            let lower = 8_u8
                .checked_sub(own.config.levels())
                .map(|most| format!("give its flows priority {most} or less, or "));
            let hint = format!("the highest is 7: {}set fewer levels in schemes.{name}", lower.unwrap_or_default());
            return Err(resolved.scheme.fault(message).with_hint(hint));
        }
        let other = schemes.iter().find(|there| {
            (first..=last).contains(&there.priority)
                && (there.config.info().name != name || (there.priority != first && used.contains(&there.priority)))
        });
        let Some(other) = other else { continue };
        let message = format!(
            "{name} has the priorities {first} to {last}, and flows or another scheme have priority {}",
            other.priority
        );
        let table = resolved.priority.iter().find(|table| *table.priority == other.priority);
        let fault = table.map_or_else(|| resolved.scheme.fault(&message), |table| table.priority.fault(&message));
        return Err(fault.with_hint("give other flows a priority that is not among these"));
    }
    Ok(())
}

/// Sentences about schemes whose parameters do not fit the network, and that run nevertheless.
pub(crate) fn notes(schemes: &[Assigned], network: &Network) -> Vec<String> {
    let of_scheme = |own| {
        round_trip::notes(own, network)
            .into_iter()
            .chain(note_on_losses(own, network))
            .chain(note_on_lines(own, network))
            .chain(lines::note(own, network))
    };
    let mut notes = notes_on_moves(schemes, network);
    for note in schemes.iter().flat_map(of_scheme) {
        // A scheme that has several priorities says the same of each.
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Says where a scheme that isolates flows has no flow control in the priority of those: there frames are lost.
fn note_on_losses(own: &Assigned, network: &Network) -> Option<String> {
    let to = own.config.moves_to().filter(|&to| to < own.priority)?;
    let lossless = network.pfc.as_ref().is_some_and(|pfc| pfc.priorities.contains(&to));
    let name = own.config.info().name;
    (!lossless).then(|| {
        format!(
            "{name} moves congesting flows to priority {to}, and no flow control stops their sources there: what finds no \
             room is lost ([pfc] with that priority)"
        )
    })
}

/// Says which thresholds, steps and timers were chosen for lines of another rate, by a factor of four and more, than that of the fastest port with a
/// congestion point. A profile's description and a default's source say for which ("at 25 Gb/s"); a value of the scenario's own is nobody else's. A timer
/// goes by the line only where its profile sets it and no profile for the rate of the port has the same.
fn note_on_lines(own: &Assigned, network: &Network) -> Option<String> {
    let info = own.config.info();
    let line = network.ports.iter().filter(|port| port.congestion_points).map(|port| port.rate.0).max()?;
    let profile = own.profile.as_deref().and_then(|name| info.profile(name));
    let other = |(parameter, value): (&Parameter, &Value)| {
        let set = profile.and_then(|at| set_by(at, parameter));
        let size = match *value {
            Value::Octets(octets) if parameter.unit == Unit::Threshold => Some(octets),
            Value::Rate(_) if parameter.bound.is_none() => None,
            Value::Time(time) if time > Duration::ZERO && set.is_some() && !agreed(info, parameter, value, line) => {
                None
            }
            _ => return None,
        };
        let (chosen, text) =
            set.map_or((parameter.default, parameter.source), |value| (value, profile.map_or("", |at| at.description)));
        let of_theirs = chosen == *value
            && info.has_effect(parameter, &own.values)
            && size.is_none_or(|octets| info.threshold_at(octets, BitRate(line), &own.values) == octets);
        let rate = line_rate(text).filter(|_| of_theirs)?;
        let apart = rate.max(line) / rate.min(line).max(1);
        (apart >= 4).then(|| match (size, value) {
            (Some(octets), _) => {
                let ps = u128::from(octets.0) * 8 * 1_000_000_000_000 / u128::from(line);
                format!("{}, {octets}, is {} of the line", parameter.name, Duration(ps as u64))
            }
            (None, Value::Time(time)) => {
                let [here, there] = [line, rate].map(|rate| sent_in(*time, rate));
                format!("{}, {value}, is {here} of the line instead of {there}", parameter.name)
            }
            (None, _) => {
                format!("{}, {value}, is {} instead of {}", parameter.name, each(*value, line), each(*value, rate))
            }
        })
    };
    let all: Vec<String> = info.parameters.iter().zip(&own.values).filter_map(other).collect();
    let from = profile.map_or_else(|| "the defaults".to_owned(), |at| format!("the profile {}", at.name));
    (!all.is_empty()).then(|| {
        format!(
            "{}: values are those of {from}, chosen for another line rate; at {} {}",
            info.name,
            BitRate(line),
            all.join(", ")
        )
    })
}

/// The value that a profile sets for a parameter.
fn set_by(profile: &Profile, parameter: &Parameter) -> Option<Value> {
    profile.settings.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| *value)
}

/// Octets that a line of this rate, in bit/s, sends in a time.
fn sent_in(time: Duration, rate: u64) -> Octets {
    Octets((u128::from(time.0) * u128::from(rate) / 8_000_000_000_000) as u64)
}

/// Whether a profile for lines of this rate has the same value of a parameter.
fn agreed(info: &Info, parameter: &Parameter, value: &Value, line: u64) -> bool {
    let at_rate = info.profiles.iter().filter(|profile| line_rate(profile.description) == Some(line));
    at_rate.map(|profile| set_by(profile, parameter).unwrap_or(parameter.default)).any(|own| own == *value)
}

/// A rate for each Gb/s of a line, as text.
fn each(value: Value, line: u64) -> Value {
    match value {
        Value::Rate(rate) => {
            Value::PerGbps(BitRate((u128::from(rate.0) * 1_000_000_000 / u128::from(line.max(1))) as u64))
        }
        other => other,
    }
}

/// The rate, in bit/s, in a text such as "… at 25 Gb/s: …".
fn line_rate(text: &str) -> Option<u64> {
    let before = text.split(" Gb/s").next().filter(|before| before.len() < text.len())?;
    before.rsplit(' ').next()?.parse::<u64>().ok().map(|gbps| gbps * 1_000_000_000)
}

/// Says of which priorities a scheme moves no frame: those that are not above the one to which it would.
fn notes_on_moves(schemes: &[Assigned], network: &Network) -> Vec<String> {
    let generated = network.processes.list.iter().map(|process| process.priority);
    let used: BTreeSet<u8> = network.flows.iter().map(|flow| flow.priority).chain(generated).collect();
    let stays = |own: &Assigned| {
        let to = own.config.moves_to().filter(|&to| used.contains(&own.priority) && own.priority <= to)?;
        let (name, priority) = (own.config.info().name, own.priority);
        Some(format!(
            "{name} moves frames to priority {to}, and none of flows of priority {priority}, which is not above it: give them \
             a higher one, as in priority = 3"
        ))
    };
    schemes.iter().filter_map(stays).collect()
}

/// The scheme of a priority, and where its table names a profile, both.
fn of_priority<'a>(
    tables: &'a [sections::Priority],
    scheme: &'static Info,
    priority: u8,
) -> (&'static Info, Option<(&'a sections::Priority, &'a str)>) {
    let own = tables.iter().find(|own| *own.priority == priority);
    let named = own.and_then(|own| *own.scheme).map_or(scheme, |named| named.0);
    (named, own.and_then(|own| Some((own, own.profile.as_deref()?))))
}

/// Refuses parameters that contradict the network or one another.
pub(crate) fn check(
    resolved: &Resolved,
    schemes: &[Assigned],
    network: &Network,
    layout: &Layout,
) -> Result<(), Fault> {
    for own in schemes {
        let (info, profile) = of_priority(&resolved.priority, resolved.scheme(), own.priority);
        let settings = resolved.schemes.of(info);
        let error = |parameter: usize, message: String| match profile {
            Some((own, name)) => own.profile.fault(format!("{} of {name}: {message}", info.parameters[parameter].name)),
            None => settings.values[parameter].fault(message),
        };
        check_thresholds(own, network, layout, error)?;
        check_bounds(own, network, error)?;
    }
    Ok(())
}

/// Refuses priorities that are listed twice, profiles without a scheme, and choices that have no effect.
fn check_priorities(tables: &[sections::Priority], network: &Network, choice: &Choice) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for table in tables {
        let priority = *table.priority;
        if !seen.insert(priority) {
            let message = format!("priority {priority} has a table already");
            return Err(table.priority.fault(message).with_hint("one [[priority]] for each priority"));
        }
        if table.profile.is_some() && table.scheme.is_none() {
            let message = "a profile is that of a scheme";
            return Err(table
                .profile
                .fault(message)
                .with_hint("name the scheme of this priority, too: scheme = \"qcn\""));
        }
    }
    let named = |&&priority: &&u8| tables.iter().any(|own| *own.priority == priority && own.scheme.is_some());
    let all_named = network.priorities.iter().all(|priority| named(&priority));
    let given = [("scheme", &choice.scheme), ("profile", &choice.profile)];
    match given.into_iter().find(|(_, given)| given.is_some()) {
        Some((what, _)) if all_named => {
            let message = "has no effect if every priority names its scheme in [[priority]]".to_owned();
            Err(resolve::schemes::chosen(what, message, "remove the [[priority]] tables from the file, or edit them"))
        }
        _ => Ok(()),
    }
}

/// A scheme's parameters as a profile has them.
fn of_profile(info: &Info, profile: &Profile) -> Vec<Value> {
    let set = |name: &str| profile.settings.iter().find(|(set, _)| *set == name).map(|(_, value)| *value);
    info.parameters.iter().map(|p| set(p.name).unwrap_or(p.default)).collect()
}

/// The profile that a priority's table names.
fn profile_of(info: &Info, table: &sections::Priority, name: &str) -> Result<&'static Profile, Fault> {
    info.profile(name).ok_or_else(|| {
        let hint = resolve::schemes::no_profile(info, name);
        table.profile.fault(format!("{} has no profile \"{name}\"", info.name)).with_hint(hint)
    })
}

/// Refuses a threshold that no queue length can reach. `error` makes the error about a parameter.
pub(crate) fn check_thresholds(
    own: &Assigned,
    network: &Network,
    layout: &Layout,
    error: impl Fn(usize, String) -> Fault,
) -> Result<(), Fault> {
    let (info, priority, values) = (own.config.info(), own.priority, &own.values);
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
    let watched: Vec<(usize, &Port)> = watched.collect();
    let of_queues =
        |(_, (p, _)): &(usize, (&Parameter, &Value))| p.unit == Unit::Threshold && info.has_effect(p, values);
    for (i, _) in info.parameters.iter().zip(values).enumerate().filter(of_queues) {
        let at_port = |p: &Port| own.threshold_at(i, p.rate);
        // The port where the least of it is left beyond the threshold, of two the one with the shorter queue.
        let room = |p: &Port| longest(p).saturating_sub(at_port(p).0);
        let Some(&(port, p)) = watched.iter().min_by_key(|(_, p)| (room(p), longest(p))) else { return Ok(()) };
        let (threshold, smallest) = (at_port(p), longest(p));
        if threshold.0 > smallest {
            let (what, at_port) = match lossless {
                None => ("buffer", "is the smallest with a congestion point"),
                Some(_) => ("buffer and ingress buffers", "can grow least of those with a congestion point"),
            };
            let message = format!("{threshold} is beyond the {what} of {}", Octets(smallest));
            let hint = format!("the queue of {} {at_port}", layout.port_name(port));
            return Err(error(i, message).with_hint(hint));
        }
    }
    Ok(())
}

/// Refuses parameters that contradict one another, and least rates that no source could have. `error` as above.
pub(crate) fn check_bounds(
    own: &Assigned,
    network: &Network,
    error: impl Fn(usize, String) -> Fault,
) -> Result<(), Fault> {
    let all = std::iter::once(&own.values).chain(own.lines.iter().map(|at| &at.values));
    all.into_iter().try_for_each(|values| check_bounds_of(own.config.info(), values, network, &error))
}

/// The same for the values at some lines.
fn check_bounds_of(
    info: &Info,
    values: &[Value],
    network: &Network,
    error: &impl Fn(usize, String) -> Fault,
) -> Result<(), Fault> {
    check_order(info.parameters, values, error)?;
    for (i, (parameter, value)) in info.parameters.iter().zip(values).enumerate() {
        if parameter.bound == Some(Bound::AtMostLine) {
            let lines =
                network.flows.iter().map(|flow| network.ports[network.hops[flow.root.index()].port.index()].rate);
            let generated = network.processes.sources.iter().map(|port| network.ports[port.index()].rate);
            if let Some(fastest) = lines.chain(generated).max().map(Value::Rate).filter(|fastest| value > fastest) {
                let message = format!("{value} is above the rate of the sources' lines, {fastest}");
                return Err(error(i, message).with_hint("no source could slow down"));
            }
        }
    }
    Ok(())
}
