//! Keys that come from a list of parameters, of a scheme or a transport.

use penstock_schemes::{AUTO, BitRate, Bound, Duration, Octets, Parameter, Unit, Value};

use super::pfc::Computed;
use crate::error::Fault;
use crate::keys::fields::{self, Either, Field};
use crate::keys::key::{Fallback, Key, Kind};
use crate::keys::location::Location;
use crate::keys::read::{Entry, Given};
use crate::keys::tree::Node;
use crate::keys::write::{self, Written};

/// The text on the keys.
pub(super) fn keys(parameters: &'static [Parameter]) -> impl Iterator<Item = Key> {
    parameters.iter().map(|p| Key {
        name: p.name,
        kind: kind(p),
        fallback: Fallback::Value(written(p.default)),
        doc: format!("{} Source: {}", p.meaning(), p.source),
    })
}

/// Their values, in the order of the list.
pub(super) fn read(parameters: &'static [Parameter], given: &Given<'_>) -> Result<Vec<Entry<Value>>, Fault> {
    let value =
        |p: &'static Parameter| given.or_else(p.name, || p.default, |node, location| read_one(p, node, location));
    parameters.iter().map(value).collect()
}

/// The same of a table in which they are new values: those that it does not have stay as they are.
pub(super) fn read_new(
    parameters: &'static [Parameter],
    given: &Given<'_>,
) -> Result<Vec<Entry<Option<Value>>>, Fault> {
    let read =
        |p: &'static Parameter| given.or_else(p.name, || None, |node, location| read_one(p, node, location).map(Some));
    parameters.iter().map(read).collect()
}

/// The keys of new values with their text.
pub(super) fn new_keys(parameters: &'static [Parameter]) -> impl Iterator<Item = Key> {
    keys(parameters).map(|key| Key { fallback: Fallback::None("as before"), ..key })
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
    matches!(p.bound, Some(Bound::RoundTrip { .. }))
}

/// How a parameter is described.
fn kind(p: &Parameter) -> Kind {
    match (p.minimum, p.maximum) {
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

/// Reads the value of a parameter.
fn read_one(p: &Parameter, node: &Node, location: Location<'_>) -> Result<Value, Fault> {
    match (p.minimum, p.maximum) {
        (Value::Time(low), Value::Time(high)) if follows(p) => {
            Either::<Duration, Computed>::read(&(low..=high, ()), node, location).map(|value| match value {
                Either::First(time) => Value::Time(time),
                Either::Second(Computed::Auto) => Value::Choice(AUTO),
            })
        }
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
        Value::Octets(_) | Value::Time(_) | Value::Rate(_) | Value::Choice(_) => write::quoted(&value.to_string()),
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
