//! Checks of a scheme's description of itself, its `INFO`.

use penstock_schemes::*;

use crate::typical::Typical;

/// Checks that names, texts, values, ranges and conditions are given and fit.
pub(crate) fn documented(info: &Info) -> Result<(), String> {
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
    };
    let rule = |ok: bool, rule: &str| if ok { Ok(()) } else { Err(format!("{}: {rule}", info.name)) };
    rule(plain(info.name), "the name is in small letters")?;
    rule(![info.title, info.source, info.description].contains(&""), "title, source and description are given")?;
    for (i, p) in info.parameters.iter().enumerate() {
        rule(plain(p.name), "names of parameters are in small letters")?;
        rule(!p.source.is_empty() && p.description.ends_with('.'), "a parameter has a source and a sentence")?;
        rule([p.default, p.minimum, p.maximum].iter().all(|&v| p.accepts(v)), "defaults are in their ranges")?;
        rule(info.parameters[..i].iter().all(|other| other.name != p.name), "a parameter is declared once")?;
    }
    for condition in info.parameters.iter().filter_map(|p| p.when) {
        let of = info.parameter(condition.parameter).filter(|p| matches!(p.unit, Unit::Choice(_) | Unit::Switch));
        let legal = of.is_some_and(|p| condition.values.iter().all(|&v| p.accepts(v)));
        rule(legal, "a condition names a choice or a switch of the scheme, and values of it")?;
    }
    let is_threshold = |name| info.parameter(name).is_some_and(|p| p.unit == Unit::Threshold);
    rule(info.set_point.is_none_or(is_threshold), "the set point is a length of the queue")?;
    let names: Vec<&str> = info.tuned.iter().flat_map(|group| group.iter().copied()).collect();
    for (i, name) in names.iter().enumerate() {
        let number = info.parameter(name).is_some_and(|p| !matches!(p.unit, Unit::Choice(_) | Unit::Switch));
        rule(number && !names[..i].contains(name), "tuned parameters are numbers of the scheme, each named once")?;
    }
    for (name, value) in info.profiles.iter().flat_map(|profile| profile.settings) {
        rule(info.parameter(name).is_some_and(|p| p.accepts(*value)), "profiles set parameters to legal values")?;
    }
    Ok(())
}

/// Whether signals, tags and echoes have the formats of the wire that `INFO` says they have.
pub(crate) fn has_forms<S: Scheme>(config: &S::Config, given: &Typical<S>) -> Result<(), String> {
    let Forms { capture, testbed, .. } = S::info(config).forms;
    let rule = |ok: bool, rule: &str| if ok { Ok(()) } else { Err(rule.to_owned()) };
    rule(capture || !testbed, "what the testbed carries has formats")?;
    let signals = || given.for_source.iter().chain(&given.for_destination).chain(&given.for_previous_hop);
    rule(!capture || signals().all(|signal| signal.message().is_some()), "captures hold signals that have a format")?;
    // Those that look alike on the wire are alike.
    let tags = given.tags.iter().map(|tag| (format!("{:?}", S::label(tag)), format!("{tag:?}")));
    let echoes = given.echoes.iter().map(|echo| (S::echoes_mark(echo).to_string(), format!("{echo:?}")));
    rule(!capture || one_to_one(tags), "captures hold tags that have a format")?;
    rule(!capture || one_to_one(echoes), "captures hold echoes that have a format")?;
    if testbed {
        let read = |signal: &S::Signal| signal.message().and_then(S::Signal::from_message);
        let same = |signal: &S::Signal| format!("{:?}", read(signal)) == format!("{:?}", Some(signal));
        rule(signals().all(same), "a signal is read back from its message")?;
        let same = |tag: &S::Tag| format!("{:?}", S::from_label(S::label(tag))) == format!("{tag:?}");
        rule(given.tags.iter().all(same), "a tag is read back from its label")?;
        rule(!given.acknowledged, "applications of the testbed acknowledge nothing")?;
    }
    Ok(())
}

/// Whether equal forms stand for equal values.
fn one_to_one(mut pairs: impl Iterator<Item = (String, String)>) -> bool {
    let mut known = std::collections::BTreeMap::new();
    pairs.all(|(form, value)| *known.entry(form).or_insert_with(|| value.clone()) == value)
}

/// Whether a source gets its signals as `INFO` says: from the right role, and with the right length.
///
/// # Errors
/// The rule that is broken, as a sentence.
pub fn tells_the_source<S: Scheme>(config: &S::Config) -> Result<(), String> {
    let given = Typical::<S>::of(config);
    let Some(signals) = S::info(config).signals else {
        return if given.for_source.is_empty() {
            Ok(())
        } else {
            Err("a scheme whose `INFO` has no signals sends none to a source".into())
        };
    };
    let (signals_sent, by) = match signals.path {
        SignalPath::Backward => (given.from_queue, "the congestion point signals the source"),
        SignalPath::ByDestination => (given.from_destination, "the destination signals the source"),
    };
    if signals_sent == 0 {
        return Err(by.into());
    }
    let long = given.for_source.iter().all(|signal| signal.octets() == signals.octets);
    if long { Ok(()) } else { Err("a signal to a source is as long as `INFO` says".into()) }
}
