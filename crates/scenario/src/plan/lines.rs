//! Values of a scheme's parameters that follow from the network: those that are "auto", and those that follow the rate of a port's line.
//!
//! A congestion point goes by the line behind its queue, a source by the line of its port, a destination by the line that leads to it. Rates
//! are those at the start of the run.

use std::cmp::Reverse;

use penstock_schemes::{AUTO, BitRate, Bound, Duration, Info, Octets, Parameter, Unit, Value};
use penstock_sim::network::Network;

use super::round_trip::PlannedNetwork;
use super::{Assigned, AtLine};
use crate::error::Fault;
use crate::foreign;

/// The value in a file of a parameter that follows from the network.
const COMPUTED: Value = Value::Choice(AUTO);

/// Values as a file has them, those that follow from the network at their defaults until [`PlannedNetwork::fill`] has them.
pub(crate) fn provisional(info: &Info, written: &[Value]) -> Vec<Value> {
    let given =
        |(value, parameter): (&Value, &Parameter)| if value.is_in(parameter.unit) { *value } else { parameter.default };
    written.iter().zip(info.parameters).map(given).collect()
}

/// Whether a parameter has another value at another line.
pub(crate) fn follows(parameter: &Parameter, value: Value) -> bool {
    let of_line = parameter.unit == Unit::Octets || matches!(parameter.bound, Some(Bound::Window(_)));
    parameter.follows_line(value) || (value == COMPUTED && of_line)
}

/// The rates of a network's lines, each once: that of the fastest with a congestion point, and then the others.
fn rates(network: &Network) -> Vec<BitRate> {
    let mut rates: Vec<(bool, BitRate)> =
        network.ports.iter().map(|port| (port.congestion_points, port.rate)).collect();
    rates.sort_unstable_by_key(|&rate| Reverse(rate));
    let mut once = Vec::new();
    for (_, rate) in rates {
        if !once.contains(&rate) {
            once.push(rate);
        }
    }
    once
}

impl PlannedNetwork<'_> {
    /// Gives the parameters of a priority the values that stand for what is written. `error` makes the error about a parameter.
    pub(crate) fn fill(self, own: &mut Assigned, error: impl Fn(usize, String) -> Fault) -> Result<(), Fault> {
        let rates = rates(self.network);
        let Some((&first, others)) = rates.split_first() else { return Ok(()) };
        let time = own.written.contains(&COMPUTED).then(|| self.longest(own)).flatten();
        let AtLine { config, values, .. } = at(first, own, time, &error)?;
        let others = if own.follows_lines { others } else { &[] };
        let lines = others.iter().map(|&line| at(line, own, time, &error)).collect::<Result<_, _>>()?;
        (own.config, own.values, own.lines) = (config, values, lines);
        Ok(())
    }
}

/// The parameters at lines of rate `line`; `time` is the longest round trip of the flows under the scheme, where there is one and it is wanted.
fn at(
    line: BitRate,
    own: &Assigned,
    time: Option<Duration>,
    error: &impl Fn(usize, String) -> Fault,
) -> Result<AtLine, Fault> {
    let info = own.config.info();
    // Such thresholds are brought to the line by the scheme.
    let scaled = Some(info.thresholds_at(&own.written)).filter(|at| *at != BitRate::ZERO);
    let value = |(i, (parameter, &written)): (usize, (&Parameter, &Value))| {
        let range = |what: String| {
            format!("{what}, and {} is from {} to {}", parameter.name, parameter.minimum, parameter.maximum)
        };
        if written == COMPUTED && !written.is_in(parameter.unit) {
            let (value, what) =
                computed(parameter, line, own, time).map_err(|(what, hint)| error(i, what).with_hint(hint))?;
            return match parameter.accepts(value) {
                true => Ok(value),
                false => Err(error(i, range(what)).with_hint("write a value within these bounds")),
            };
        }
        let at = scaled.filter(|_| parameter.unit == Unit::Threshold).unwrap_or(line);
        let value = parameter.on_line(written, at).ok_or_else(|| {
            error(i, format!("{written} is beyond 64 bits at {at}"))
                .with_hint("write less, or an amount that follows no line")
        })?;
        if value != written && !parameter.accepts(value) {
            let hint = "write one within these bounds, or an amount that follows no line";
            return Err(error(i, range(format!("{written} is {value} at {at}"))).with_hint(hint));
        }
        Ok(value)
    };
    let values: Vec<Value> =
        info.parameters.iter().zip(&own.written).enumerate().map(value).collect::<Result<_, _>>()?;
    let config = foreign::configured(info, &values);
    Ok(AtLine { line, config, values })
}

/// Rates are bits a second, times picoseconds.
const BIT_PS_PER_OCTET: u128 = 8_000_000_000_000;

/// The value of a parameter that is "auto", and what it is; else an error and a hint.
fn computed(
    parameter: &Parameter,
    line: BitRate,
    own: &Assigned,
    time: Option<Duration>,
) -> Result<(Value, String), (String, String)> {
    let info = own.config.info();
    let Some(time) = time else {
        let message = format!("no flow of priority {} is under {}", own.priority, info.name);
        let example = match parameter.unit {
            Unit::Time => "the time, as in \"20 us\"",
            Unit::Octets => "the octets, or the time in which a line sends them",
            _ => "the number",
        };
        return Err((message, format!("write {example}")));
    };
    let bits = u128::from(time.0) * u128::from(line.0);
    if parameter.unit == Unit::Octets {
        let value = Value::Octets(Octets(bits.div_ceil(BIT_PS_PER_OCTET).try_into().unwrap_or(u64::MAX)));
        return Ok((
            value,
            format!("{line} send {value} in the longest round trip of {time} through the empty network"),
        ));
    }
    let Some(Bound::Window(unit)) = parameter.bound else {
        let value = Value::Time(time);
        return Ok((value, format!("the longest round trip through the empty network takes {value}")));
    };
    let mut given = info.parameters.iter().zip(&own.written);
    let octets = given.find(|(other, _)| other.name == unit).and_then(|(other, value)| other.on_line(*value, line));
    let Some(Value::Octets(Octets(octets @ 1..))) = octets else {
        return Err((format!("it counts {unit}, which is no length"), format!("write {unit}, as in \"1500 octets\"")));
    };
    let count = bits.div_ceil(BIT_PS_PER_OCTET * u128::from(octets)) as u64;
    let value = if parameter.unit == Unit::Real { Value::Real(count as f64) } else { Value::Count(count) };
    Ok((value, format!("{line} send {count} times {unit} in the round trip of {time} through the empty network")))
}

/// Says which values parameters have at lines of which rates, where they differ.
pub(crate) fn note(own: &Assigned, network: &Network) -> Option<String> {
    let info = own.config.info();
    let first = *rates(network).first()?;
    let of_parameter = |(i, (parameter, value)): (usize, (&Parameter, &Value))| {
        let all = std::iter::once((first, &own.values)).chain(own.lines.iter().map(|at| (at.line, &at.values)));
        let shown = all.map(|(line, values)| format!("{} at {line}", values[i]));
        (follows(parameter, *value) && info.has_effect(parameter, &own.values))
            .then(|| format!("{} is {}", parameter.name, shown.collect::<Vec<_>>().join(", ")))
    };
    let all: Vec<String> = info.parameters.iter().zip(&own.written).enumerate().filter_map(of_parameter).collect();
    (!own.lines.is_empty() && !all.is_empty())
        .then(|| format!("{}: values follow the line of each port: {}", info.name, all.join("; ")))
}
