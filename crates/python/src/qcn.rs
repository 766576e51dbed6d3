//! QCN's state machines, asked one thing at a time: by the form of its fluid model that goes from sample to sample.
//!
//! That form has a queue that is a straight line between samples, and rates that change at messages and ends of cycles.
//! It asks here for the feedback of a sample, the octets to the next sample, and the rate after a message or a cycle.

use penstock_schemes::info::Configuration;
use penstock_schemes::parts::quantiser::{QntzFb, Quantiser};
use penstock_schemes::parts::rate_calculator::{AiHaiSequence, Efr, RateCalculator, Rules, Trr};
use penstock_schemes::parts::sampler::Sampler;
use penstock_schemes::qcn::{Config, Qcn};
use penstock_schemes::{BitRate, Draw, Instant, Parameter, Scheme, Unit, Value};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The answer of QCN's congestion point to a sample.
#[pyclass(name = "QcnSampling", frozen)]
pub(crate) struct PySampling {
    quantiser: Quantiser,
    sampler: Sampler,
}

#[pymethods]
impl PySampling {
    #[new]
    fn new(parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let cp = config(parameters)?.cp;
        Ok(Self { quantiser: cp.quantiser(), sampler: cp.sampler() })
    }

    /// |Fb| as it travels, in 256ths of a step.
    fn feedback(&self, queue_octets: u64, old_octets: u64) -> u16 {
        self.quantiser.quantise(self.quantiser.measure(queue_octets, old_octets)).get()
    }

    /// Octets until the next sample by the table.
    fn interval_octets(&self, feedback: u16, random: &Bound<'_, PyAny>) -> PyResult<u64> {
        let steps = QntzFb::from_units(feedback, false).steps();
        Words::of(random, |words| self.sampler.table_interval(steps, words))
    }
}

/// QCN's rate calculator without its timer.
#[pyclass(name = "QcnRate")]
pub(crate) struct PyRate(RateCalculator);

#[pymethods]
impl PyRate {
    #[new]
    fn new(
        parameters: &Bound<'_, PyDict>,
        line_rate_bps: u64,
        rate_bps: u64,
        target_bps: u64,
        cycles: u32,
    ) -> PyResult<Self> {
        let config = config(parameters)?;
        let rules = Rules {
            // A model without the timer has none of the rules that follow from it.
            time_reset: None,
            ai_hai_sequence: AiHaiSequence::Counters,
            efr: Efr::Off,
            trr: Trr::Off,
            ..config.rate.rules(BitRate(line_rate_bps), config.byte_reset.cycle())
        };
        Ok(Self(RateCalculator::recovering(rules, rate_bps, target_bps, cycles)))
    }

    /// A message has come.
    fn decrease(&mut self, feedback: u16, random: &Bound<'_, PyAny>) -> PyResult<()> {
        let fb = QntzFb::from_units(feedback, false);
        Words::of(random, |words| self.0.decrease(Instant::ZERO, fb, words))
    }

    /// A cycle of the byte counter has ended.
    fn end_cycle(&mut self, random: &Bound<'_, PyAny>) -> PyResult<()> {
        Words::of(random, |words| self.0.end_byte_cycle(words))
    }

    #[getter]
    fn rate_bps(&self) -> u64 {
        self.0.current_rate()
    }

    #[getter]
    fn target_bps(&self) -> u64 {
        self.0.target_rate()
    }

    #[getter]
    fn cycle_octets(&self) -> i64 {
        self.0.byte_count()
    }

    #[getter]
    fn cycles(&self) -> u32 {
        self.0.byte_stage()
    }
}

/// Random words from a Python function that draws from [0, 1).
struct Words<'a, 'py> {
    random: &'a Bound<'py, PyAny>,
    failed: Option<PyErr>,
}

impl<'a, 'py> Words<'a, 'py> {
    /// The answer of `ask`, or the exception that the function raised.
    fn of<T>(random: &'a Bound<'py, PyAny>, ask: impl FnOnce(&mut Self) -> T) -> PyResult<T> {
        let mut words = Self { random, failed: None };
        let answer = ask(&mut words);
        words.failed.map_or(Ok(answer), Err)
    }
}

impl Draw for Words<'_, '_> {
    fn draw(&mut self) -> u32 {
        match self.random.call0().and_then(|share| share.extract::<f64>()) {
            Ok(share) => (share * 4_294_967_296.0) as u32,
            Err(error) => {
                self.failed.get_or_insert(error);
                0
            }
        }
    }
}

/// QCN's configuration of a value for each parameter, by its name and in the units of the catalogue.
fn config(parameters: &Bound<'_, PyDict>) -> PyResult<Config> {
    let value = |p: &Parameter| {
        let given = parameters.get_item(p.name)?.ok_or_else(|| PyKeyError::new_err(p.name))?;
        typed(p.unit, &given)?.ok_or_else(|| PyValueError::new_err(format!("{} does not take {given}", p.name)))
    };
    let values: Vec<Value> = Qcn::INFO.parameters.iter().map(value).collect::<PyResult<_>>()?;
    Config::from_values(&values).ok_or_else(|| PyValueError::new_err("a value is of another kind than its parameter"))
}

/// A parameter's value from its form in the catalogue ([`catalogue::value`](penstock_scenario::catalogue::value)), rounded to whole
/// units. `None` for a choice that the parameter does not have, and for a number that its unit does not have.
fn typed(unit: Unit, given: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    Ok(match unit {
        Unit::Switch => Some(Value::Switch(given.extract()?)),
        Unit::Choice(_) => unit.read(&given.extract::<String>()?).ok(),
        _ => unit.of_number(given.extract()?),
    })
}
