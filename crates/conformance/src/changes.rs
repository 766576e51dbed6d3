//! Parameters that change in the midst of calls, to others that a scenario could have.

use penstock_schemes::*;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::calls::{Points, Setting};
use crate::typical::Typical;
use crate::world::{LINE, Words, place};
use crate::{Case, Maker, run_cases};

/// Changes from one set of values, in `cases` sequences of calls: see [`changes`](crate::changes).
pub(crate) fn changes_from<S: Scheme>(maker: &Maker<'_, S>, from: &[Value], cases: u32) -> Result<(), String> {
    let config = maker.of_values(from);
    let given = &Typical::<S>::of(&config);
    let bounded = keeps_its_minimum(maker, from, given);
    let setting = |values: &[Value]| Setting {
        config: maker.of_values(values),
        least_rate: if bounded { minimum(maker.parameters(), values) } else { 0 },
    };
    let run = |(calls, _, seed): Case| {
        let mut words = Words(seed);
        let to = drawn(maker.parameters(), from, &mut words);
        let mut new = Points::<S>::new(&maker.of_values(&to), words.clone());
        let possible = is_legal(maker.parameters(), &to)
            && may_become::<S>(&config, &maker.of_values(&to))
            && (new.rp.limiting() || new.rp.allowance().rate == LINE)
            && new.drive(&calls, given, &[setting(&to)]).is_ok();
        if !possible {
            return Err(TestCaseError::reject("no change of a scenario"));
        }
        let mut points = Points::<S>::new(&config, words);
        let broken = points.drive(&calls, given, &[setting(from), setting(&to)]).err();
        prop_assert!(broken.is_none(), "{}, while {config:?} and {:?} change", broken.unwrap(), maker.of_values(&to));
        Ok(())
    };
    run_cases(&run, cases)
}

/// Whether a scenario lets parameters change so: the lengths of frames stay, and their paths.
fn may_become<S: Scheme>(from: &S::Config, to: &S::Config) -> bool {
    let fixed = |config: &S::Config| {
        let octets = (S::tag_octets(config), S::echo_octets(config));
        (octets, S::moves_to(config), S::needs_trimming(config), S::acknowledges(config))
    };
    fixed(from) == fixed(to)
}

/// Whether reaction points themselves keep the rate to the minimum that a parameter sets. In some schemes it is congestion points
/// that ask for no less.
fn keeps_its_minimum<S: Scheme>(maker: &Maker<'_, S>, from: &[Value], given: &Typical<S>) -> bool {
    let highest =
        |(p, &value): (&Parameter, &Value)| if p.bound == Some(Bound::AtMostLine) { p.maximum } else { value };
    let values: Vec<Value> = maker.parameters().iter().zip(from).map(highest).collect();
    given.least(&maker.of_values(&values)) >= minimum(maker.parameters(), &values)
}

/// The least rate that the parameters name; 0 where none does.
fn minimum(parameters: &[Parameter], values: &[Value]) -> u64 {
    let rates = parameters.iter().zip(values).filter(|(p, _)| p.bound == Some(Bound::AtMostLine));
    rates.map(|(_, &value)| number(value) as u64).min().unwrap_or(0).min(LINE.0)
}

/// Whether a scenario takes these values.
fn is_legal(parameters: &[Parameter], values: &[Value]) -> bool {
    parameters.iter().zip(values).all(|(p, &value)| p.accepts(value))
}

/// Values of which each third one differs from those in `from`, by chance. None is below another one that bounds it.
fn drawn(parameters: &[Parameter], from: &[Value], words: &mut Words) -> Vec<Value> {
    let mut values: Vec<Value> = parameters
        .iter()
        .zip(from)
        .map(|(p, &value)| if words.draw() >> 16 < (1 << 16) / 3 { draw(p, words) } else { value })
        .collect();
    // A bound may be bounded itself.
    for _ in parameters {
        for (i, p) in parameters.iter().enumerate() {
            if let Some(Bound::AtLeast(other)) = p.bound
                && let Some(j) = parameters.iter().position(|p| p.name == other)
                && number(values[i]) < number(values[j])
            {
                values[i] = values[j];
            }
        }
    }
    values
}

/// A value of a parameter: an end of its range, or one in between. Large ones are rare, and none is much larger than the default:
/// tables stay of a size that is soon written down.
fn draw(p: &Parameter, words: &mut Words) -> Value {
    let share = f64::from(words.draw()) / 4_294_967_296.0;
    let one_of = |count: usize| (share * count as f64) as usize;
    match p.unit {
        Unit::Choice(all) => return Value::Choice(all[one_of(all.len())]),
        Unit::Switch => return Value::Switch(share < 0.5),
        _ => {}
    }
    let (low, default) = (number(p.minimum), number(p.default));
    let most = match (p.unit, p.bound) {
        (Unit::Threshold, _) => place().capacity.0 as f64,
        (_, Some(Bound::AtMostLine)) => LINE.0 as f64,
        (Unit::Count, _) if default > 0.0 => 8.0 * default,
        _ if default > 0.0 => 64.0 * default,
        _ => f64::INFINITY,
    };
    let high = number(p.maximum).min(most).max(low);
    let x = match words.draw() >> 30 {
        0 => low,
        1 => high,
        _ => low + (high - low) * share * share * share,
    };
    match p.default {
        Value::Octets(_) => Value::Octets(Octets(x as u64)),
        Value::Time(_) => Value::Time(Duration(x as u64)),
        Value::Rate(_) => Value::Rate(BitRate(x as u64)),
        Value::Count(_) => Value::Count(x as u64),
        Value::Real(_) => Value::Real(x),
        Value::Choice(_) | Value::Switch(_) | Value::PerGbps(_) => unreachable!("drawn above"),
    }
}

/// The value as a number; 0 for choices and switches.
fn number(value: Value) -> f64 {
    match value {
        Value::Octets(Octets(x)) | Value::Time(Duration(x)) | Value::Rate(BitRate(x)) | Value::Count(x) => x as f64,
        Value::Real(x) => x,
        Value::Choice(_) | Value::Switch(_) | Value::PerGbps(_) => 0.0,
    }
}
