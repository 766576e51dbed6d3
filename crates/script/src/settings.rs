//! The settings of a scheme's class, and what each may be.

use crate::value::Value;
use crate::{At, Error};

/// The kinds of a scheme's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    Text,
    Texts,
    Switch,
    Octets,
}

const SETTINGS: &[(&str, Setting)] = &[
    ("name", Setting::Text),
    ("source", Setting::Text),
    ("signals", Setting::Text),
    ("set_point", Setting::Text),
    ("actions", Setting::Texts),
    ("ecn", Setting::Switch),
    ("random", Setting::Switch),
    ("needs_order", Setting::Switch),
    ("needs_trimming", Setting::Switch),
    ("remembers_flows", Setting::Switch),
    ("recovers_alone", Setting::Switch),
    ("raises_on_signal", Setting::Switch),
    ("signal_octets", Setting::Octets),
    ("tag_octets", Setting::Octets),
    ("echo_octets", Setting::Octets),
];

/// Refuses a setting that a scheme does not have, or that is of another kind.
pub(crate) fn check(name: &str, value: &Value, at: At) -> Result<(), Error> {
    let Some((_, kind)) = SETTINGS.iter().find(|(own, _)| *own == name) else {
        let known: Vec<&str> = SETTINGS.iter().map(|(own, _)| *own).collect();
        let hint = format!("it has {}; other numbers are parameters", known.join(", "));
        return Err(Error::new(at, format!("a scheme has no setting {name}"), hint));
    };
    let texts = |all: &[Value]| all.iter().all(|own| matches!(own, Value::Text(_)));
    let (fits, hint) = match (kind, value) {
        (Setting::Text, _) => (matches!(value, Value::Text(_) | Value::None), "write a text, as in \"my-scheme\""),
        (Setting::Switch, _) => (matches!(value, Value::Bool(_)), "write True or False"),
        (Setting::Octets, _) => (value.whole().is_some_and(|own| (0..=1522).contains(&own)), "a number from 0 to 1522"),
        (Setting::Texts, Value::Tuple(all)) => (texts(all), "write texts, as in (\"marks\", \"cuts\")"),
        (Setting::Texts, _) => (false, "write texts in brackets, as in (\"marks\", \"cuts\")"),
    };
    if fits { Ok(()) } else { Err(Error::new(at, format!("{name} is {}", value.written()), hint)) }
}
