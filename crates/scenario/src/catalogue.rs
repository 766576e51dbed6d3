//! The catalogue of schemes as JSON, for programs that are not written in Rust.

use std::collections::BTreeMap;

use penstock_schemes::info::{Action, Condition, Info, Parameter, Profile, SignalPath, Signals};
use penstock_schemes::{SCHEMES, Unit, Value};
use serde::Serialize;

/// Every scheme with its parameters and profiles, as JSON.
///
/// # Panics
/// Never: every entry can be written as JSON.
#[must_use]
pub fn schemes() -> String {
    let entries: Vec<_> = SCHEMES.iter().map(SchemeEntry::new).collect();
    serde_json::to_string(&entries).expect("an entry has text keys only")
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
    needs_order: bool,
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
            needs_order: info.needs_order,
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
        // Choices and switches have no range.
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
                minimum: ranged.then(|| p.minimum.write_short()),
                maximum: ranged.then(|| p.maximum.write_short()),
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
#[must_use]
pub fn value(value: Value) -> serde_json::Value {
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
