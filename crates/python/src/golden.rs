//! Parts of QCN's points as cores in hardware have them, for benches in Python: `penstock.golden`.
//!
//! Random words are arguments, as a core takes them at a port: a call uses them in order. Words that a call needs and does not get
//! are an error.

use penstock_endpoint::TokenBucket;
use penstock_schemes::info::{Configuration, Refused};
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::{QntzFb, Quantiser};
use penstock_schemes::parts::rate_calculator::{Phase, RateCalculator};
use penstock_schemes::parts::sampler::Sampler;
use penstock_schemes::qcn::{Config, Qcn};
use penstock_schemes::{BitRate, Draw, Duration, Instant, Octets, Scheme};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Words of the caller, used in order.
struct Words {
    words: Vec<u32>,
    used: usize,
}

impl Words {
    /// The answer of `ask`, if the words were enough.
    fn of<T>(words: Vec<u32>, ask: impl FnOnce(&mut Self) -> T) -> PyResult<T> {
        let mut own = Self { words, used: 0 };
        let answer = ask(&mut own);
        let (used, given) = (own.used, own.words.len());
        if used > given {
            return Err(PyValueError::new_err(format!(
                "the call uses {used} random words, and has {given}: give them as words=[...]"
            )));
        }
        Ok(answer)
    }
}

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.used += 1;
        self.words.get(self.used - 1).copied().unwrap_or(0)
    }
}

/// QCN's parameters from a line of text.
fn config(parameters: &str) -> PyResult<Config> {
    let values = Qcn::INFO.read(parameters).map_err(|refused| {
        let (Refused::Unknown(said) | Refused::Value(said)) = refused;
        PyValueError::new_err(said)
    })?;
    Config::from_values(&values).ok_or_else(|| PyValueError::new_err("a value is of another kind than its parameter"))
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
    #[pyo3(signature = (line_rate_bps, parameters = ""))]
    fn new(line_rate_bps: u64, parameters: &str) -> PyResult<Self> {
        let config = config(parameters)?;
        let line = BitRate(within("line_rate_bps", line_rate_bps, 1, RATE)?);
        Ok(Self(RateCalculator::new(config.rate.rules(line, config.byte_reset.cycle())), 0))
    }

    #[pyo3(signature = (now_ps, words = vec![]))]
    fn start_timer(&mut self, now_ps: u64, words: Vec<u32>) -> PyResult<()> {
        let now = at(&mut self.1, now_ps)?;
        Words::of(words, |words| self.0.start_timer(now, words))
    }

    #[pyo3(signature = (now_ps, feedback, words = vec![]))]
    fn decrease(&mut self, now_ps: u64, feedback: u64, words: Vec<u32>) -> PyResult<()> {
        let feedback = within("feedback", feedback, 0, 64 * u64::from(QntzFb::PER_STEP))?;
        let now = at(&mut self.1, now_ps)?;
        Words::of(words, |words| self.0.decrease(now, QntzFb::from_units(feedback as u16, false), words))
    }

    #[pyo3(signature = (octets, words = vec![]))]
    fn count(&mut self, octets: u16, words: Vec<u32>) -> PyResult<()> {
        Words::of(words, |words| self.0.count(octets, words))
    }

    #[pyo3(signature = (now_ps, words = vec![]))]
    fn timeout(&mut self, now_ps: u64, words: Vec<u32>) -> PyResult<()> {
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
    #[pyo3(signature = (parameters = ""))]
    fn new(parameters: &str) -> PyResult<Self> {
        let cp = config(parameters)?.cp;
        Ok(Self(cp.sampler(), cp.quantiser()))
    }

    fn feedback(&self, queue_octets: u32, old_octets: u32) -> u16 {
        self.1.quantise(self.1.measure(queue_octets.into(), old_octets.into())).get()
    }

    #[pyo3(signature = (octets, steps, words = vec![]))]
    fn sample(&mut self, octets: u16, steps: u64, words: Vec<u32>) -> PyResult<bool> {
        let steps = within("steps", steps, 0, 63)? as u8;
        Words::of(words, |words| self.0.sample(octets, || steps, words))
    }

    #[pyo3(signature = (steps, words = vec![]))]
    fn reload(&mut self, steps: u64, words: Vec<u32>) -> PyResult<()> {
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
            Octets(within("depth_octets", depth_octets, 1, 1 << 40)?),
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
