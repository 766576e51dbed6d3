//! The suite for a scheme, with the configurations that it has: those of a type, or those of one of the schemes that a type stands for.

use penstock_schemes::*;

use crate::calls::{Call, Points, Said, Setting};
use crate::changes;
use crate::facts::tells_the_source;
use crate::typical::Typical;
use crate::world::Words;
use crate::{cases_of, conforms_in};

/// The name of the configuration that sets no parameter.
pub(crate) const DEFAULTS: &str = "defaults";

/// Makes configurations of a scheme.
pub struct Maker<'a, S: Scheme> {
    info: &'static Info,
    make: &'a dyn Fn(&[Value]) -> S::Config,
}

impl<S: Scheme> Maker<'static, S> {
    /// The one scheme of a type, whose configurations are made from values alone.
    #[must_use]
    pub fn of_type() -> Self {
        let make = &|values: &[Value]| S::Config::from_values(values).expect("values are of their parameters' kinds");
        Self { info: const { &S::INFO }, make }
    }
}

impl<'a, S: Scheme> Maker<'a, S> {
    /// A scheme whose configurations `make` gives for values of the parameters of `info`.
    #[must_use]
    pub fn new(info: &'static Info, make: &'a dyn Fn(&[Value]) -> S::Config) -> Self {
        Self { info, make }
    }

    /// Checks the scheme at its defaults and under each of its profiles, as [`check`](crate::check) does.
    ///
    /// # Errors
    /// The rule that is broken: the text names the configuration, the rule, and the shortest sequence of calls that was found.
    pub fn check(&self) -> Result<(), String> {
        for (name, settings) in self.named() {
            let config = self.with(settings);
            let kept = conforms_in::<S>(&config, cases_of(name)).and_then(|()| tells_the_source::<S>(&config));
            kept.map_err(|broken| format!("{name}: {broken}"))?;
        }
        self.conditions()?;
        self.changes()
    }

    /// `defaults` and the profiles, and the parameters that each of them sets.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &'static [(&'static str, Value)])> + use<S> {
        self.info.profiles.iter().map(|p| (p.name, p.settings)).chain([(DEFAULTS, &[][..])])
    }

    /// The configuration with some parameters at other values than their defaults.
    pub(crate) fn with(&self, changes: &[(&str, Value)]) -> S::Config {
        self.of_values(&self.values(changes))
    }

    /// The value of each parameter: some have others than their defaults.
    fn values(&self, changes: &[(&str, Value)]) -> Vec<Value> {
        let value =
            |p: &Parameter| changes.iter().find(|change| change.0 == p.name).map_or(p.default, |change| change.1);
        self.info.parameters.iter().map(value).collect()
    }

    pub(crate) fn of_values(&self, values: &[Value]) -> S::Config {
        (self.make)(values)
    }

    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.info.parameters
    }

    /// See [`changes`](crate::changes).
    pub(crate) fn changes(&self) -> Result<(), String> {
        self.named().try_for_each(|(name, settings)| {
            changes::changes_from(self, &self.values(settings), cases_of(name))
                .map_err(|broken| format!("{name}: {broken}"))
        })
    }

    /// See [`conditions`](crate::conditions).
    pub(crate) fn conditions(&self) -> Result<(usize, usize), String> {
        let (mut without, mut with_effect) = (0, 0);
        for p in self.info.parameters {
            let Some(condition) = p.when else { continue };
            let Some(other) = self.info.parameter(condition.parameter) else {
                return Err(format!("{}: there is no parameter {}", p.name, condition.parameter));
            };
            for value in every_value(other) {
                let at = |end| answers::<S>(&self.with(&[(other.name, value), (p.name, end)]));
                let (least, most) = (at(p.minimum)?, at(p.maximum)?);
                if condition.values.contains(&value) {
                    with_effect += usize::from(least != most);
                } else if least == most {
                    without += 1;
                } else {
                    return Err(format!("{} has an effect although {} is {value:?}", p.name, other.name));
                }
            }
        }
        Ok((without, with_effect))
    }
}

/// All values of a choice or a switch.
fn every_value(p: &Parameter) -> Vec<Value> {
    match p.unit {
        Unit::Choice(words) => words.iter().map(|&word| Value::Choice(word)).collect(),
        _ => vec![Value::Switch(false), Value::Switch(true)],
    }
}

/// The answers of all roles to a fixed sequence of calls.
fn answers<S: Scheme>(config: &S::Config) -> Result<Said, String> {
    let mut words = Words(1);
    let calls: Vec<Call> = (0..1500)
        .map(|i| match i % 8 {
            0..3 => Call::Frame(1500),
            3 => Call::Refused(1000),
            4 => Call::Wait(words.draw() >> 14),
            5 => Call::Timeout,
            _ => Call::Leaves,
        })
        .collect();
    let given = Typical::<S>::of(config);
    let mut points = Points::<S>::new(config, words);
    let settings = [Setting { config: config.clone(), least_rate: 0 }];
    points.drive(&calls, &given, &settings).map_err(|broken| broken.to_string())?;
    Ok(points.log.answers)
}
