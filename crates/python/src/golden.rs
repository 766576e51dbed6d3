//! Parts of QCN's points as cores in hardware have them, for benches in Python (`penstock.golden`) and for the form of its fluid model
//! that goes from sample to sample.
//!
//! Random words are arguments, as a core takes them at a port: a call uses them in order. Words that a call needs and does not get
//! are an error. The fluid model has a function that draws.

use penstock_endpoint::TokenBucket;
use penstock_schemes::info::{Configuration, Refused};
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::{QntzFb, Quantiser};
use penstock_schemes::parts::rate_calculator::{AiHaiSequence, Efr, Phase, RateCalculator, Rules, Trr};
use penstock_schemes::parts::sampler::Sampler;
use penstock_schemes::qcn::{Config, Qcn};
use penstock_schemes::{BitRate, Draw, Duration, Instant, Octets, Parameter, Scheme, Unit, Value};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Random words: as they are, used in order; or a function that draws from [0, 1) for each.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    Words(Vec<u32>),
    Function(Bound<'py, PyAny>),
}

struct Words<'py> {
    given: Given<'py>,
    used: usize,
    failed: Option<PyErr>,
}

impl<'py> Words<'py> {
    /// The answer of `ask`, if the words were enough; else what the function raised.
    fn of<T>(given: Given<'py>, ask: impl FnOnce(&mut Self) -> T) -> PyResult<T> {
        let mut own = Self { given, used: 0, failed: None };
        let answer = ask(&mut own);
        own.failed.map_or(Ok(answer), Err)
    }
}

impl Draw for Words<'_> {
    fn draw(&mut self) -> u32 {
        self.used += 1;
        let word = match &self.given {
            Given::Words(words) => words.get(self.used - 1).copied().ok_or_else(|| {
                let (used, given) = (self.used, words.len());
                PyValueError::new_err(format!(
                    "the call uses {used} random words, and has {given}: give them as words=[...]"
                ))
            }),
            Given::Function(function) => {
                function.call0().and_then(|share| share.extract::<f64>()).map(|share| (share * 4_294_967_296.0) as u32)
            }
        };
        word.unwrap_or_else(|error| {
            self.failed = Some(error);
            0
        })
    }
}

/// Parameters of QCN: a line of text, or a value for each by its name and in the units of the catalogue.
#[derive(FromPyObject)]
pub(crate) enum Parameters<'py> {
    Text(String),
    Values(Bound<'py, PyDict>),
}

impl Default for Parameters<'_> {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Parameters<'_> {
    fn config(&self) -> PyResult<Config> {
        let values = match self {
            Self::Text(text) => Qcn::INFO.read(text).map_err(|refused| {
                let (Refused::Unknown(said) | Refused::Value(said)) = refused;
                PyValueError::new_err(said)
            })?,
            Self::Values(given) => Qcn::INFO.parameters.iter().map(|p| typed(p, given)).collect::<PyResult<_>>()?,
        };
        Config::from_values(&values)
            .ok_or_else(|| PyValueError::new_err("a value is of another kind than its parameter"))
    }
}

/// A parameter's value from its form in the catalogue ([`catalogue::value`](penstock_scenario::catalogue::value)), rounded to whole
/// units.
fn typed(p: &Parameter, values: &Bound<'_, PyDict>) -> PyResult<Value> {
    let given = values.get_item(p.name)?.ok_or_else(|| PyKeyError::new_err(p.name))?;
    let value = match p.unit {
        Unit::Switch => Some(Value::Switch(given.extract()?)),
        Unit::Choice(_) => p.unit.read(&given.extract::<String>()?).ok(),
        _ => p.unit.of_number(given.extract()?),
    };
    value.ok_or_else(|| PyValueError::new_err(format!("{} does not take {given}", p.name)))
}

/// Refuses a number that is not in a range.
fn within(what: &str, value: u64, least: u64, most: u64) -> PyResult<u64> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("{what} is {value}, and must be from {least} to {most}")))
}

/// Times, ps: half of what 64 bits hold.
const TIME: u64 = 1 << 62;
/// Octets at a place.
const LENGTH: u64 = 1 << 40;
/// Rates, bit/s.
const RATE: u64 = 1 << 50;

/// Time that may not go back.
fn at(last: &mut u64, now_ps: u64) -> PyResult<Instant> {
    *last = within("now_ps", now_ps, *last, TIME)?;
    Ok(Instant(now_ps))
}

/// QCN's rate calculator, with its timer.
#[pyclass(name = "GoldenRateCalculator")]
pub(crate) struct PyRateCalculator(RateCalculator, u64);

#[pymethods]
impl PyRateCalculator {
    #[new]
    #[pyo3(signature = (line_rate_bps, parameters = Parameters::default()))]
    fn new(line_rate_bps: u64, parameters: Parameters<'_>) -> PyResult<Self> {
        let config = parameters.config()?;
        let line = BitRate(within("line_rate_bps", line_rate_bps, 1, RATE)?);
        Ok(Self(RateCalculator::new(config.rate.rules(line, config.byte_reset.cycle())), 0))
    }

    /// One without a timer, and without the rules that follow from it, some cycles of the byte counter after feedback.
    #[staticmethod]
    fn recovering(
        line_rate_bps: u64,
        rate_bps: u64,
        target_bps: u64,
        cycles: u32,
        parameters: Parameters<'_>,
    ) -> PyResult<Self> {
        let config = parameters.config()?;
        let line = BitRate(within("line_rate_bps", line_rate_bps, 1, RATE)?);
        let rules = Rules {
            time_reset: None,
            ai_hai_sequence: AiHaiSequence::Counters,
            efr: Efr::Off,
            trr: Trr::Off,
            ..config.rate.rules(line, config.byte_reset.cycle())
        };
        Ok(Self(RateCalculator::recovering(rules, rate_bps, target_bps, cycles), 0))
    }

    #[pyo3(signature = (words = Given::Words(vec![])))]
    fn end_byte_cycle(&mut self, words: Given<'_>) -> PyResult<()> {
        Words::of(words, |words| self.0.end_byte_cycle(words))
    }

    #[pyo3(signature = (now_ps, words = Given::Words(vec![])))]
    fn start_timer(&mut self, now_ps: u64, words: Given<'_>) -> PyResult<()> {
        let now = at(&mut self.1, now_ps)?;
        Words::of(words, |words| self.0.start_timer(now, words))
    }

    #[pyo3(signature = (now_ps, feedback, words = Given::Words(vec![])))]
    fn decrease(&mut self, now_ps: u64, feedback: u64, words: Given<'_>) -> PyResult<()> {
        let feedback = within("feedback", feedback, 0, 64 * u64::from(QntzFb::PER_STEP))?;
        let now = at(&mut self.1, now_ps)?;
        Words::of(words, |words| self.0.decrease(now, QntzFb::from_units(feedback as u16, false), words))
    }

    #[pyo3(signature = (octets, words = Given::Words(vec![])))]
    fn count(&mut self, octets: u16, words: Given<'_>) -> PyResult<()> {
        Words::of(words, |words| self.0.count(octets, words))
    }

    #[pyo3(signature = (now_ps, words = Given::Words(vec![])))]
    fn timeout(&mut self, now_ps: u64, words: Given<'_>) -> PyResult<()> {
        let now = at(&mut self.1, now_ps)?;
        Words::of(words, |words| self.0.on_timeout(now, words))
    }

    #[getter]
    fn current_bps(&self) -> u64 {
        self.0.current_rate()
    }

    #[getter]
    fn target_bps(&self) -> u64 {
        self.0.target_rate()
    }

    #[getter]
    fn byte_count(&self) -> i64 {
        self.0.byte_count()
    }

    #[getter]
    fn byte_stage(&self) -> u32 {
        self.0.byte_stage()
    }

    #[getter]
    fn time_stage(&self) -> u32 {
        self.0.time_stage()
    }

    #[getter]
    fn timer_ps(&self) -> Option<u64> {
        self.0.next_timeout().map(|at| at.0)
    }

    #[getter]
    fn phase(&self) -> &'static str {
        match self.0.phase() {
            Phase::FastRecovery => "fast-recovery",
            Phase::ActiveIncrease => "active-increase",
            Phase::HyperActiveIncrease => "hyper-active-increase",
        }
    }
}

/// QCN's congestion measure and its sampling.
#[pyclass(name = "GoldenSampler")]
pub(crate) struct PySampler(Sampler, Quantiser);

#[pymethods]
impl PySampler {
    #[new]
    #[pyo3(signature = (parameters = Parameters::default()))]
    fn new(parameters: Parameters<'_>) -> PyResult<Self> {
        let cp = parameters.config()?.cp;
        Ok(Self(cp.sampler(), cp.quantiser()))
    }

    fn feedback(&self, queue_octets: u64, old_octets: u64) -> PyResult<u16> {
        let queue = within("queue_octets", queue_octets, 0, LENGTH)?;
        let old = within("old_octets", old_octets, 0, LENGTH)?;
        Ok(self.1.quantise(self.1.measure(queue, old)).get())
    }

    /// Octets until the next sample by the table.
    #[pyo3(signature = (feedback, words = Given::Words(vec![])))]
    fn interval_octets(&self, feedback: u16, words: Given<'_>) -> PyResult<u64> {
        let steps = QntzFb::from_units(feedback, false).steps();
        Words::of(words, |words| self.0.table_interval(steps, words))
    }

    #[pyo3(signature = (octets, steps, words = Given::Words(vec![])))]
    fn sample(&mut self, octets: u16, steps: u64, words: Given<'_>) -> PyResult<bool> {
        let steps = within("steps", steps, 0, 63)? as u8;
        Words::of(words, |words| self.0.sample(octets, || steps, words))
    }

    #[pyo3(signature = (steps, words = Given::Words(vec![])))]
    fn reload(&mut self, steps: u64, words: Given<'_>) -> PyResult<()> {
        let steps = within("steps", steps, 0, 63)? as u8;
        Words::of(words, |words| self.0.reload(steps, words))
    }
}

/// The token bucket of a rate limiter.
#[pyclass(name = "GoldenTokenBucket")]
pub(crate) struct PyTokenBucket(TokenBucket, u64);

#[pymethods]
impl PyTokenBucket {
    #[new]
    fn new(depth_octets: u64, interval_ps: u64, granularity_bps: u64, rate_bps: u64) -> PyResult<Self> {
        let bucket = TokenBucket::new(
            Octets(within("depth_octets", depth_octets, 1, LENGTH)?),
            Duration(within("interval_ps", interval_ps, 1, 1 << 50)?),
            BitRate(within("granularity_bps", granularity_bps, 1, RATE)?),
            BitRate(within("rate_bps", rate_bps, 0, RATE)?),
        );
        Ok(Self(bucket, 0))
    }

    fn set_rate(&mut self, now_ps: u64, rate_bps: u64) -> PyResult<()> {
        let rate = BitRate(within("rate_bps", rate_bps, 0, RATE)?);
        self.0.set_rate(at(&mut self.1, now_ps)?, rate);
        Ok(())
    }

    fn ready_ps(&mut self, now_ps: u64, octets: u32) -> PyResult<Option<u64>> {
        let at = self.0.ready(at(&mut self.1, now_ps)?, octets);
        Ok((at != Instant::NEVER).then_some(at.0))
    }

    fn take(&mut self, now_ps: u64, octets: u32) -> PyResult<()> {
        let now = at(&mut self.1, now_ps)?;
        if self.0.ready(now, octets) != now {
            let held = self.0.octets().0;
            return Err(PyValueError::new_err(format!("the bucket holds {held} of {octets} octets")));
        }
        self.0.take(now, octets);
        Ok(())
    }

    #[getter]
    fn octets(&self) -> u64 {
        self.0.octets().0
    }
}

/// A base value, spread by a fraction of 2^16ths.
#[pyfunction]
pub(crate) fn golden_jitter(base: u64, spread: u64, word: u32) -> PyResult<u64> {
    let spread = within("spread", spread, 0, 65_535)?;
    Ok(Spread::new(spread as f64 / 65_536.0).apply(base, word))
}
