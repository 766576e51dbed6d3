//! The catalogue, as JSON: schemes, tables, and the keys of a scenario.

use std::collections::BTreeMap;

use penstock_runner::{Key, OBJECTS, Object, Shape, TABLES};
use penstock_scenario::limits::{LIMITS, Limit};
use penstock_schemes::info::{Action, Condition, Info, Parameter, Profile, SignalPath, Signals};
use penstock_schemes::{SCHEMES, Unit, Value};
use pyo3::prelude::*;
use serde::Serialize;

/// Every scheme with its parameters and profiles, as JSON.
#[pyfunction]
pub(crate) fn schemes() -> String {
    to_json(&SCHEMES.iter().map(SchemeEntry::new).collect::<Vec<_>>())
}

/// Every table of a result with its columns, as JSON.
#[pyfunction]
pub(crate) fn tables() -> String {
    let column = |c: &penstock_runner::Column| ColumnEntry { name: c.name, unit: c.unit, description: c.description };
    let table = |info: &penstock_runner::TableInfo| TableEntry {
        name: info.name,
        description: info.description,
        columns: info.columns.iter().map(column).collect(),
    };
    to_json(&TABLES.iter().map(table).collect::<Vec<_>>())
}

/// Every object of a summary with its keys, as JSON.
#[pyfunction]
pub(crate) fn objects() -> String {
    let key = |key: &Key| KeyEntry {
        name: key.name,
        r#type: python_type(key),
        unit: key.unit,
        description: key.description.trim(),
        optional: key.optional,
    };
    let object = |object: &Object| ObjectEntry {
        name: object.name,
        description: object.description.trim(),
        keys: object.keys.iter().map(key).collect(),
    };
    to_json(&OBJECTS.iter().map(object).collect::<Vec<_>>())
}

/// The type of a key's value in Python.
fn python_type(key: &Key) -> String {
    fn of(shape: Shape) -> String {
        match shape {
            Shape::Text => "str".to_owned(),
            Shape::Whole => "int".to_owned(),
            Shape::Real => "float".to_owned(),
            Shape::Switch => "bool".to_owned(),
            Shape::Object(name) => name.to_owned(),
            Shape::List(inner) => format!("list[{}]", of(*inner)),
            Shape::Maybe(inner) => format!("{} | None", of(*inner)),
        }
    }
    match key.shape {
        // A key that is absent instead is never null.
        Shape::Maybe(inner) if key.optional => of(*inner),
        shape => of(shape),
    }
}

/// The JSON schema of a scenario file.
#[pyfunction]
pub(crate) fn schema() -> String {
    penstock_scenario::schema().to_string()
}

/// Every key of a scenario file, as JSON.
#[pyfunction]
pub(crate) fn reference() -> String {
    penstock_scenario::reference().to_string()
}

/// Every limit of what a scenario may ask for, as JSON.
#[pyfunction]
pub(crate) fn limits() -> String {
    let limit = |limit: &Limit| LimitEntry { what: limit.what, most: limit.most, meaning: limit.doc.trim() };
    to_json(&LIMITS.iter().map(limit).collect::<Vec<_>>())
}

/// `value` as JSON text, its keys in the order of their declaration.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what Python is told has text keys only")
}

#[derive(Serialize)]
struct TableEntry {
    name: &'static str,
    description: &'static str,
    columns: Vec<ColumnEntry>,
}

#[derive(Serialize)]
struct ObjectEntry {
    name: &'static str,
    description: &'static str,
    keys: Vec<KeyEntry>,
}

#[derive(Serialize)]
struct KeyEntry {
    name: &'static str,
    r#type: String,
    unit: &'static str,
    description: &'static str,
    optional: bool,
}

#[derive(Serialize)]
struct LimitEntry {
    what: &'static str,
    most: u64,
    meaning: &'static str,
}

#[derive(Serialize)]
struct ColumnEntry {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
}

#[derive(Serialize)]
struct SchemeEntry {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    parameters: Vec<ParameterEntry>,
    description: &'static str,
    profiles: Vec<ProfileEntry>,
    set_point: Option<&'static str>,
    signals: Option<SignalsEntry>,
    actions: Vec<ActionEntry>,
    tuned: &'static [&'static [&'static str]],
    recovers_alone: bool,
    raises_on_signal: bool,
    integer_state: bool,
}

#[derive(Serialize)]
struct ActionEntry {
    name: &'static str,
    description: &'static str,
    effect: bool,
}

impl ActionEntry {
    fn new(action: Action) -> Self {
        Self { name: action.name(), description: action.description(), effect: action.is_effect() }
    }
}

#[derive(Serialize)]
struct SignalsEntry {
    path: &'static str,
    octets: u16,
}

#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    unit: String,
    default: serde_json::Value,
    minimum: Option<serde_json::Value>,
    maximum: Option<serde_json::Value>,
    source: &'static str,
    description: String,
    queue_length: bool,
    when: Option<ConditionEntry>,
    written: Written,
}

#[derive(Serialize)]
struct ConditionEntry {
    parameter: &'static str,
    values: Vec<serde_json::Value>,
}

/// The values of a parameter as a scenario file would have them, exact.
#[derive(Serialize)]
struct Written {
    default: String,
    minimum: Option<String>,
    maximum: Option<String>,
}

#[derive(Serialize)]
struct ProfileEntry {
    name: &'static str,
    description: &'static str,
    settings: BTreeMap<&'static str, serde_json::Value>,
    /// The settings as a scenario file would have them.
    written: BTreeMap<&'static str, String>,
}

impl SchemeEntry {
    fn new(info: &Info) -> Self {
        Self {
            name: info.name,
            title: info.title,
            source: info.source,
            parameters: info.parameters.iter().map(ParameterEntry::new).collect(),
            description: info.description,
            profiles: info.profiles.iter().map(ProfileEntry::new).collect(),
            set_point: info.set_point,
            signals: info.signals.map(SignalsEntry::new),
            actions: info.actions.iter().map(|&action| ActionEntry::new(action)).collect(),
            tuned: info.tuned,
            recovers_alone: info.recovers_alone,
            raises_on_signal: info.raises_on_signal,
            integer_state: info.integer_state,
        }
    }
}

impl SignalsEntry {
    fn new(signals: Signals) -> Self {
        let path = match signals.path {
            SignalPath::Backward => "backward",
            SignalPath::ByDestination => "by destination",
        };
        Self { path, octets: signals.octets }
    }
}

impl ConditionEntry {
    fn new(condition: &Condition) -> Self {
        let values = condition.values.iter().map(|&v| value(v)).collect();
        Self { parameter: condition.parameter, values }
    }
}

impl ParameterEntry {
    fn new(p: &Parameter) -> Self {
        // Words and switches have no range.
        let ranged = !matches!(p.unit, Unit::Choice(_) | Unit::Switch);
        Self {
            name: p.name,
            unit: p.unit.to_string(),
            default: value(p.default),
            minimum: ranged.then(|| value(p.minimum)),
            maximum: ranged.then(|| value(p.maximum)),
            source: p.source,
            description: p.meaning(),
            queue_length: p.unit == Unit::Threshold,
            when: p.when.map(|condition| ConditionEntry::new(&condition)),
            written: Written {
                default: p.default.to_string(),
                minimum: ranged.then(|| p.minimum.to_string()),
                maximum: ranged.then(|| p.maximum.to_string()),
            },
        }
    }
}

impl ProfileEntry {
    fn new(profile: &Profile) -> Self {
        Self {
            name: profile.name,
            description: profile.description,
            settings: profile.settings.iter().map(|&(name, v)| (name, value(v))).collect(),
            written: profile.settings.iter().map(|&(name, v)| (name, v.to_string())).collect(),
        }
    }
}

/// A parameter's value as a number in the unit that [`Unit`] names, or as a word or switch.
pub(crate) fn value(value: Value) -> serde_json::Value {
    match value {
        Value::Octets(octets) => octets.0.into(),
        Value::Time(time) => time.as_seconds().into(),
        Value::Rate(rate) => rate.0.into(),
        Value::Count(count) => count.into(),
        Value::Real(number) => number.into(),
        Value::Choice(word) => word.into(),
        Value::Switch(on) => on.into(),
    }
}
