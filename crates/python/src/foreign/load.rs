//! The class of a scheme: loaded from its file, described, and made a definition.

use std::sync::{Arc, PoisonError};

use penstock_foreign::define::{self, Described, Written, lasting};
use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::Definition;
use penstock_schemes::{Parameter, Profile, Var};
use pyo3::prelude::*;
use serde::Deserialize;

use super::class::{CLASSES, Class, Known, Role};
use super::failure::CARRIER;
use super::functions;

/// A class as `penstock.scheme_class` describes it.
#[derive(Deserialize)]
struct Entry {
    name: String,
    title: String,
    source: String,
    description: String,
    parameters: Vec<EntryParameter>,
    profiles: Vec<EntryProfile>,
    variables: [Vec<(String, String)>; 3],
    methods: [Vec<String>; 3],
    set_point: Option<String>,
    properties: u32,
    actions: u32,
    tag_octets: u16,
    echo_octets: u16,
    signal_octets: u16,
    random: bool,
    draws: usize,
    ecn: bool,
}

/// Name, description, and the parameters with their values as text.
type EntryProfile = (String, String, Vec<(String, String)>);

#[derive(Deserialize)]
struct EntryParameter {
    name: String,
    unit: String,
    words: Vec<String>,
    default: String,
    minimum: String,
    maximum: String,
    source: String,
    description: String,
    bound: Option<String>,
    when: Option<String>,
}

/// Loads a class by its location, `my.py:MyScheme`.
pub(super) fn class(location: &str) -> Result<&'static Definition, Refusal> {
    Python::attach(|py| {
        let described = |py: Python<'_>| -> PyResult<(Py<PyAny>, [Py<PyAny>; 3], String)> {
            py.import("penstock.scheme_class")?.call_method1("described", (location,))?.extract()
        };
        let (class, roles, entry) = described(py).map_err(|error| refusal(py, location, &error))?;
        let known = |classes: &[Known]| classes.iter().find(|known| known.1.is(&class)).map(|known| known.2);
        if let Some(known) = known(&CLASSES.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let entry: Entry = serde_json::from_str(&entry).expect("the package describes classes in this form");
        let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
        let has = [Role::Congestion, Role::Notification, Role::Reaction].map(|role| {
            let own = &entry.methods[role as usize];
            role.methods().iter().map(|method| own.iter().any(|own| own == method)).collect()
        });
        let (random, draws, ecn) = (entry.random, entry.draws, entry.ecn);
        let definition = definition(entry, &has, classes.len() as u64, location)?;
        let parameters = definition.info.parameters;
        let kept = Class { location: location.to_owned(), roles, has, parameters, random, draws, ecn };
        classes.push((Arc::new(kept), class, definition));
        Ok(definition)
    })
}

/// A refusal of the package has a message and a hint; any other exception arose in the file.
fn refusal(py: Python<'_>, location: &str, error: &PyErr) -> Refusal {
    let field = |name: &str| error.value(py).getattr(name).and_then(|text| text.extract::<String>());
    match (field("message"), field("hint")) {
        (Ok(message), Ok(hint)) => Refusal { message, hint },
        _ => Refusal { message: format!("{location}: {error}"), hint: "mend the file".to_owned() },
    }
}

fn definition(entry: Entry, has: &[Vec<bool>; 3], user: u64, location: &str) -> Result<&'static Definition, Refusal> {
    let variables = entry.variables.map(|all| {
        let var =
            |(name, description): (String, String)| Var { name: lasting(&name), description: lasting(&description) };
        all.into_iter().map(var).collect()
    });
    let parameters: Vec<Parameter> =
        entry.parameters.iter().map(|own| parameter(own, location)).collect::<Result<_, _>>()?;
    let own = entry.profiles.into_iter();
    let profiles = own.map(|own| profile(own, &parameters, location)).collect::<Result<_, _>>()?;
    let described = Described {
        name: lasting(&entry.name),
        title: lasting(&entry.title),
        source: lasting(&entry.source),
        description: lasting(&entry.description),
        parameters,
        profiles,
        variables,
        set_point: entry.set_point.as_deref().map(lasting),
        user,
        // The number of an object.
        memory: [8; 3],
        properties: entry.properties,
        actions: entry.actions,
        tag_octets: entry.tag_octets,
        echo_octets: entry.echo_octets,
        signal_octets: entry.signal_octets,
        functions: functions::table(has),
        carrier: Some(CARRIER),
        guard: None,
    };
    described.define(location)
}

fn parameter(own: &EntryParameter, location: &str) -> Result<Parameter, Refusal> {
    let EntryParameter { name, unit, words, default, minimum, maximum, bound, when, source, description } = own;
    let range = [default, minimum, maximum].map(String::as_str);
    let (bound, when) = (bound.as_deref(), when.as_deref());
    Written { name, unit, words, range, bound, when, source, description }
        .read()
        .map_err(|wrong| of_class(wrong, location))
}

fn of_class((message, hint): (String, String), location: &str) -> Refusal {
    Refusal { message: format!("{location}: {message}"), hint }
}

fn profile(
    (name, description, settings): EntryProfile,
    parameters: &[Parameter],
    location: &str,
) -> Result<Profile, Refusal> {
    let setting = |(set, text): (String, String)| {
        let known = parameters.iter().find(|known| known.name == set).ok_or_else(|| Refusal {
            message: format!("{location}: profile {name}: there is no parameter {set}"),
            hint: "name one of the class".to_owned(),
        })?;
        let read = define::value(known.unit, &text, &format!("profile {name}: {set}"));
        Ok((known.name, read.map_err(|wrong| of_class(wrong, location))?))
    };
    let settings: Vec<_> = settings.into_iter().map(setting).collect::<Result<_, _>>()?;
    Ok(Profile { name: lasting(&name), description: lasting(&description), settings: settings.leak() })
}
