//! Keys that come from a list of parameters, of a scheme or a transport.
//!
//! A scheme's sizes and rates may follow the rate of a port's line. A size is then the time in which the line sends it (`"32 us"`), or for each
//! Gb/s (`"4 KB per Gbps"`, the same); a rate is for each Gb/s (`"0.2 Mbps per Gbps"`). Values that do are resolved in `plan/lines.rs`.

use penstock_schemes::quantity::{Dimension, PER_GBPS};
use penstock_schemes::{AUTO, Alias, BitRate, Bound, Duration, Octets, Parameter, Unit, Value};

use super::pfc::Computed;
use crate::error::Fault;
use crate::keys::fields::{self, Either, Field, amount};
use crate::keys::key::{Fallback, Key, Kind};
use crate::keys::location::Location;
use crate::keys::read::{Entry, Given};
use crate::keys::tree::{Data, Node};
use crate::keys::write::{self, Written};

/// Whose parameters they are: those of schemes may follow a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Scheme,
    Transport,
}

/// The names that keys have: those of parameters, and those that vendors have for them.
pub(super) fn names(parameters: &'static [Parameter]) -> impl Iterator<Item = &'static str> {
    parameters.iter().flat_map(|p| std::iter::once(p.name).chain(p.alias.map(|alias| alias.name)))
}

/// The text on the keys.
pub(super) fn keys(parameters: &'static [Parameter], of: Of) -> impl Iterator<Item = Key> {
    let own = move |p: &'static Parameter| Key {
        name: p.name,
        kind: kind(p, of),
        fallback: Fallback::Value(written(p.default)),
        doc: format!("{} Source: {}", p.meaning(), p.source),
    };
    let vendors = move |p: &'static Parameter| {
        p.alias.map(|alias| Key {
            name: alias.name,
            kind: Kind::Either(vec![Kind::Count(0, i64::MAX as u64), kind(p, of)]),
            fallback: Fallback::None(p.name),
            doc: format!("NVIDIA's name of {}; a bare number is in {}.", p.name, alias.unit.name()),
        })
    };
    parameters.iter().flat_map(move |p| std::iter::once(own(p)).chain(vendors(p)))
}

/// Their values, in the order of the list.
pub(super) fn read(parameters: &'static [Parameter], given: &Given<'_>, of: Of) -> Result<Vec<Entry<Value>>, Fault> {
    parameters.iter().map(|p| read_key(p, given, of, || p.default, |value| value)).collect()
}

/// The same of a table in which they are new values: those that it does not have stay as they are.
pub(super) fn read_new(
    parameters: &'static [Parameter],
    given: &Given<'_>,
) -> Result<Vec<Entry<Option<Value>>>, Fault> {
    parameters.iter().map(|p| read_key(p, given, Of::Scheme, || None, Some)).collect()
}

/// A parameter under its own name, or a vendor's.
fn read_key<T>(
    p: &'static Parameter,
    given: &Given<'_>,
    of: Of,
    default: impl FnOnce() -> T,
    some: impl FnOnce(Value) -> T,
) -> Result<Entry<T>, Fault> {
    let Some(alias) = p.alias.filter(|alias| given.has(alias.name)) else {
        return given.or_else(p.name, default, |node, location| read_one(p, of, node, location).map(some));
    };
    let twice = given.has(p.name);
    given.or_else(alias.name, default, |node, location| {
        if twice {
            let message = format!("{} is written already: {} is a vendor's name of it", p.name, alias.name);
            return Err(location.error(message, "keep one of them"));
        }
        read_alias(p, alias, of, node, location).map(some)
    })
}

/// A vendor's number, or a value as the parameter has them.
fn read_alias(p: &Parameter, alias: Alias, of: Of, node: &Node, location: Location<'_>) -> Result<Value, Fault> {
    let number = match node.data {
        Data::Integer(number) => number,
        Data::Switch(on) => i64::from(on),
        _ => return read_one(p, of, node, location),
    };
    let value =
        u64::try_from(number).ok().and_then(|number| alias.unit.value(number)).filter(|value| p.accepts(*value));
    value.ok_or_else(|| {
        let range =
            if p.minimum == p.maximum { String::new() } else { format!(", from {} to {}", p.minimum, p.maximum) };
        let message = format!("{number} is out of range: {} is {}{range}", alias.name, p.name);
        location.error(message, format!("a bare number is in {}", alias.unit.name()))
    })
}

/// The keys of new values with their text.
pub(super) fn new_keys(parameters: &'static [Parameter]) -> impl Iterator<Item = Key> {
    keys(parameters, Of::Scheme).map(|key| Key { fallback: Fallback::None("as before"), ..key })
}

/// The keys that have new values, with these.
pub(super) fn write_new(
    parameters: &'static [Parameter],
    values: &[Entry<Option<Value>>],
) -> impl Iterator<Item = (&'static str, Written)> {
    let line = |value: Value| Written::Line(written(value));
    parameters.iter().zip(values).filter_map(move |(p, value)| Some((p.name, line((**value)?))))
}

/// The keys with their values.
pub(super) fn write(
    parameters: &'static [Parameter],
    values: &[Entry<Value>],
) -> impl Iterator<Item = (&'static str, Written)> {
    parameters.iter().zip(values).map(|(p, value)| (p.name, Written::Line(written(**value))))
}

/// Whether a value may follow from the network.
fn follows(p: &Parameter) -> bool {
    matches!(p.bound, Some(Bound::RoundTrip { .. } | Bound::Window(_)))
}

/// How a parameter is described.
fn kind(p: &Parameter, of: Of) -> Kind {
    match (p.minimum, p.maximum) {
        (Value::Octets(low), Value::Octets(high)) if of == Of::Scheme && follows(p) => {
            Kind::Either(vec![Kind::OfLine(Dimension::Size, low.0, high.0), Computed::kind(&())])
        }
        (Value::Octets(low), Value::Octets(high)) if of == Of::Scheme => Kind::OfLine(Dimension::Size, low.0, high.0),
        (Value::Rate(low), Value::Rate(high)) if of == Of::Scheme => Kind::OfLine(Dimension::Rate, low.0, high.0),
        (Value::Count(low), Value::Count(high)) if follows(p) => Either::<u64, Computed>::kind(&(low..=high, ())),
        (Value::Real(low), Value::Real(high)) if follows(p) => Either::<f64, Computed>::kind(&(low..=high, ())),
        (Value::Time(low), Value::Time(high)) if follows(p) => Either::<Duration, Computed>::kind(&(low..=high, ())),
        (Value::Octets(low), Value::Octets(high)) => Octets::kind(&(low..=high)),
        (Value::Time(low), Value::Time(high)) => Duration::kind(&(low..=high)),
        (Value::Rate(low), Value::Rate(high)) => BitRate::kind(&(low..=high)),
        (Value::Count(low), Value::Count(high)) => u64::kind(&(low..=high)),
        (Value::Real(low), Value::Real(high)) => f64::kind(&(low..=high)),
        _ => match p.unit {
            Unit::Choice(words) => Kind::Word(words.to_vec()),
            _ => Kind::Switch,
        },
    }
}

/// Reads a value that may follow from the network.
fn or_auto<T: Field>(
    range: T::Range,
    value: impl FnOnce(T) -> Value,
    node: &Node,
    location: Location<'_>,
) -> Result<Value, Fault> {
    Either::<T, Computed>::read(&(range, ()), node, location).map(|read| match read {
        Either::First(first) => value(first),
        Either::Second(Computed::Auto) => Value::Choice(AUTO),
    })
}

/// The value that a text has where it follows a line, if it does.
fn of_line(p: &Parameter, node: &Node, location: Location<'_>) -> Option<Result<Value, Fault>> {
    let Data::Text(text) = &node.data else { return None };
    let each = [PER_GBPS, "per Gb/s"].into_iter().find_map(|suffix| text.trim_end().strip_suffix(suffix));
    match (p.unit, each) {
        (Unit::Octets | Unit::Threshold, Some(each)) => {
            // An octet for each Gb/s takes 8 ns at any rate.
            let read = amount(&(Octets(0)..=Octets(u64::MAX / 8000)), each, location);
            Some(read.map(|octets| Value::Time(Duration(octets.0 * 8000))))
        }
        (Unit::Octets | Unit::Threshold, None) if Dimension::Time.has_unit_of(text) => {
            Some(amount(&(Duration::ZERO..=Duration(u64::MAX)), text, location).map(Value::Time))
        }
        (Unit::Rate, Some(each)) => {
            Some(amount(&(BitRate::ZERO..=BitRate(u64::MAX)), each, location).map(Value::PerGbps))
        }
        (Unit::Rate, None) if Dimension::Time.has_unit_of(text) => {
            let hint = "write a rate, as in \"10 Mbps\", or one for each Gb/s of the line, as in \"0.2 Mbps per Gbps\"";
            Some(Err(location.error(format!("\"{text}\" is a time, not a rate"), hint)))
        }
        _ => None,
    }
}

/// Reads the value of a parameter.
fn read_one(p: &Parameter, of: Of, node: &Node, location: Location<'_>) -> Result<Value, Fault> {
    if let Some(read) = of_line(p, node, location).filter(|_| of == Of::Scheme) {
        return read;
    }
    match (p.minimum, p.maximum) {
        (Value::Time(low), Value::Time(high)) if follows(p) => or_auto(low..=high, Value::Time, node, location),
        (Value::Count(low), Value::Count(high)) if follows(p) => or_auto(low..=high, Value::Count, node, location),
        (Value::Real(low), Value::Real(high)) if follows(p) => or_auto(low..=high, Value::Real, node, location),
        (Value::Octets(low), Value::Octets(high)) if follows(p) => or_auto(low..=high, Value::Octets, node, location),
        (Value::Octets(low), Value::Octets(high)) => Octets::read(&(low..=high), node, location).map(Value::Octets),
        (Value::Time(low), Value::Time(high)) => Duration::read(&(low..=high), node, location).map(Value::Time),
        (Value::Rate(low), Value::Rate(high)) => BitRate::read(&(low..=high), node, location).map(Value::Rate),
        (Value::Count(low), Value::Count(high)) => u64::read(&(low..=high), node, location).map(Value::Count),
        (Value::Real(low), Value::Real(high)) => f64::read(&(low..=high), node, location).map(Value::Real),
        _ => match p.unit {
            Unit::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| (*word, Value::Choice(word))).collect();
                fields::word(&words, node, location)
            }
            _ => bool::read(&(), node, location).map(Value::Switch),
        },
    }
}

/// The value of a parameter as TOML: text with a unit and names are quoted.
fn written(value: Value) -> String {
    match value {
        Value::Octets(_) | Value::Time(_) | Value::Rate(_) | Value::PerGbps(_) | Value::Choice(_) => {
            write::quoted(&value.to_string())
        }
        Value::Count(_) | Value::Real(_) | Value::Switch(_) => value.to_string(),
    }
}

/// Refuses parameters that are less than another one which bounds them from below. `error` makes the error about a parameter.
pub(crate) fn check_order(
    parameters: &[Parameter],
    values: &[Value],
    error: impl Fn(usize, String) -> Fault,
) -> Result<(), Fault> {
    for (i, (parameter, value)) in parameters.iter().zip(values).enumerate() {
        let Some(Bound::AtLeast(other)) = parameter.bound else { continue };
        let least = parameters.iter().zip(values).find(|(p, _)| p.name == other).map(|(_, v)| v);
        if let Some(least) = least.filter(|least| value < least) {
            let message = format!("{value} is below {other}, {least}");
            let hint = format!("{} is never less than {other}", parameter.name);
            return Err(error(i, message).with_hint(hint));
        }
    }
    Ok(())
}
