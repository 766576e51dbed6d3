//! The catalogue of schemes as JSON, for programs that are not written in Rust.

use std::collections::BTreeMap;

use penstock_schemes::info::{Action, Alias, Condition, Info, Parameter, Profile, SignalPath, Signals};
use penstock_schemes::{SCHEMES, Unit, Value};

use crate::declared::{Number, Object, SchemeName, entry, words};
use crate::foreign;
use crate::keys::schema::KeyEntry;

/// Every scheme with its parameters and profiles, as JSON.
///
/// # Panics
/// Never: every entry can be written as JSON.
#[must_use]
pub fn schemes() -> String {
    let entries: Vec<_> = SCHEMES.iter().map(SchemeEntry::new).collect();
    serde_json::to_string(&entries).expect("an entry has text keys only")
}

/// The scheme of this name or at this location, as JSON like those of [`schemes`]; `None` if there is none of the name.
///
/// # Errors
/// The scheme at the location cannot be loaded.
///
/// # Panics
/// Never: every entry can be written as JSON.
pub fn scheme(text: &str) -> Result<Option<String>, foreign::Refusal> {
    let found = if foreign::is_location(text) {
        foreign::load(text)?;
        foreign::at(text)
    } else {
        foreign::known().into_iter().find(|info| info.name == text)
    };
    Ok(found.map(|info| serde_json::to_string(&SchemeEntry::new(info)).expect("an entry has text keys only")))
}

/// The objects of the catalogue, each before those that hold it, and that of [`reference`](crate::reference).
pub const OBJECTS: &[Object] = &[
    Written::OBJECT,
    ConditionEntry::OBJECT,
    AliasEntry::OBJECT,
    ParameterEntry::OBJECT,
    ProfileEntry::OBJECT,
    SignalsEntry::OBJECT,
    ActionEntry::OBJECT,
    SchemeEntry::OBJECT,
    KeyEntry::OBJECT,
];

entry! {
    /// A congestion-management scheme.
    SchemeEntry as Scheme {
        /// Its name.
        name: SchemeName, "";
        /// Its full name.
        title: &'static str, "";
        /// Where it is defined.
        source: &'static str, "";
        /// Its parameters.
        parameters: Vec<ParameterEntry>, "";
        /// The working of the scheme, in a sentence or two.
        description: &'static str, "";
        /// Its profiles.
        profiles: Vec<ProfileEntry>, "";
        /// The parameter that says at which length the queue is to be held. Null without one.
        set_point: Option<&'static str>, "";
        /// How sources receive the state of their queues. Null in a scheme without signals.
        signals: Option<SignalsEntry>, "";
        /// Its actions, which results count.
        actions: Vec<ActionEntry>, "";
        /// The parameters that an operator sets: each entry is a parameter, followed by those that take its value too.
        tuned: &'static [&'static [&'static str]], "";
        /// Whether the rate returns to line rate by itself, without signals.
        recovers_alone: bool, "";
        /// Whether a signal can raise the rate.
        raises_on_signal: bool, "";
        /// Whether its state is integer only, so that hardware can be held to it bit for bit.
        integer_state: bool, "";
        /// Whether it takes a late frame for a lost one, or assumes that all frames of a flow take one path.
        needs_order: bool, "";
        /// Whether a capture of a run shows all that its frames carry.
        capture: bool, "";
        /// Whether the testbed runs it.
        testbed: bool, "";
        /// The module of its fluid models in `penstock.theory.models`. Null without one.
        fluid: Option<&'static str>, "";
        /// Its cores in SystemVerilog: folders of `rtl`.
        cores: &'static [&'static str], "";
    }
}

entry! {
    /// An action of a scheme, which results count.
    ActionEntry as Action {
        /// Its name.
        name: &'static str, "";
        /// What is counted.
        description: &'static str, "";
        /// Whether it answers congestion by changing traffic.
        effect: bool, "";
    }
}

impl ActionEntry {
    fn new(action: Action) -> Self {
        Self { name: action.name(), description: action.description(), effect: action.is_effect() }
    }
}

words! {
    /// Paths of signals.
    PathWord { Backward = "backward", ByDestination = "by destination" }
}

entry! {
    /// How a source receives the state of its queue.
    SignalsEntry as Signals {
        /// Whether the signal comes from the congestion point, or by the destination.
        path: PathWord, "";
        /// Length of its frame, with FCS, without preamble and gap.
        octets: u16, "octets";
    }
}

entry! {
    /// One parameter of a scheme.
    ParameterEntry as Parameter {
        /// Its name.
        name: &'static str, "";
        /// Its unit. A choice lists its values here.
        unit: String, "";
        /// Its default, in its unit.
        default: serde_json::Value, "";
        /// The least value, in its unit. Null for a choice or a switch, which have no range.
        minimum: Option<Number>, "";
        /// The greatest value, in its unit. Null for a choice or a switch.
        maximum: Option<Number>, "";
        /// The source of the default.
        source: &'static str, "";
        /// Its meaning.
        description: String, "";
        /// Whether it is a length of the queue, which the buffer bounds.
        queue_length: bool, "";
        /// Where it has an effect. Null for everywhere.
        when: Option<ConditionEntry>, "";
        /// The name that vendors of network interfaces have for it, which scenarios take too. Null without one.
        alias: Option<AliasEntry>, "";
        /// Its values as a scenario file would have them.
        written: Written, "";
    }
}

entry! {
    /// A vendor's name of a parameter.
    AliasEntry as Alias {
        /// As the vendor writes it.
        name: &'static str, "";
        /// The unit of a bare number under this name.
        unit: &'static str, "";
    }
}

entry! {
    /// That another parameter of the scheme, a choice or a switch, has one of some values.
    ConditionEntry as Condition {
        /// The other parameter.
        parameter: &'static str, "";
        /// The values.
        values: Vec<serde_json::Value>, "";
    }
}

entry! {
    /// The values of a parameter as a scenario file would have them, such as `33 KB`, exact.
    Written as Written {
        /// The default.
        default: String, "";
        /// The least value. Null for a choice or a switch.
        minimum: Option<String>, "";
        /// The greatest value. Null for a choice or a switch.
        maximum: Option<String>, "";
    }
}

entry! {
    /// A named set of parameter values.
    ProfileEntry as Profile {
        /// Its name.
        name: &'static str, "";
        /// Its meaning.
        description: &'static str, "";
        /// Values by the names of their parameters, in their units.
        settings: BTreeMap<&'static str, serde_json::Value>, "";
        /// The same as a scenario file would have them.
        written: BTreeMap<&'static str, String>, "";
    }
}

impl SchemeEntry {
    fn new(info: &Info) -> Self {
        Self {
            name: SchemeName(info.name),
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
            capture: info.forms.capture,
            testbed: info.forms.testbed,
            fluid: info.forms.fluid,
            cores: info.forms.cores,
        }
    }
}

impl SignalsEntry {
    fn new(signals: Signals) -> Self {
        let path = match signals.path {
            SignalPath::Backward => PathWord::Backward,
            SignalPath::ByDestination => PathWord::ByDestination,
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
            minimum: ranged.then(|| Number(value(p.minimum))),
            maximum: ranged.then(|| Number(value(p.maximum))),
            source: p.source,
            description: p.meaning(),
            queue_length: p.unit == Unit::Threshold,
            when: p.when.map(|condition| ConditionEntry::new(&condition)),
            alias: p.alias.map(|Alias { name, unit }| AliasEntry { name, unit: unit.name() }),
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
        Value::PerGbps(_) => value.to_string().into(),
    }
}
