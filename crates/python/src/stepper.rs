//! `Stepper`: a run that Python takes step by step, and steers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_runner::Stepper;
use penstock_schemes::{BitRate, Duration, Octets, Value};
use penstock_sim::network::{NodeId, PortId};
use penstock_sim::probe::QueueNow;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::foreign;
use crate::scenario::{PyScenario, Seed, chosen};

/// A run between two steps.
#[pyclass(name = "Stepper", module = "penstock._core", frozen)]
pub(crate) struct PyStepper {
    stepper: Mutex<Option<Stepper>>,
}

#[pymethods]
impl PyStepper {
    /// Lays out a scenario as it is now, with the keys of `settings` set.
    #[new]
    #[pyo3(signature = (scenario, settings, scheme = None, profile = None, seed = None, limit = 1))]
    fn new(
        py: Python<'_>,
        scenario: &PyScenario,
        settings: Vec<(String, String)>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<Self> {
        let mut own = scenario.now();
        let choice = chosen(scheme, profile, seed, limit);
        let plan = py.detach(|| {
            for (key, value) in &settings {
                Arc::make_mut(&mut own).set(key, value)?;
            }
            own.plan(&choice)
        });
        let plan = plan.map_err(|error| scenario_error(py, &error))?;
        let stepper = py.detach(|| Stepper::new(Arc::new(plan))).map_err(|error| foreign::run_error(py, &error))?;
        Ok(Self { stepper: Mutex::new(Some(stepper)) })
    }

    /// Goes on for `step_s`, or to the end of the run.
    fn advance(&self, py: Python<'_>, step_s: f64) -> PyResult<()> {
        let step = Duration((step_s.max(0.0) * 1e12).round() as u64);
        py.detach(|| {
            let mut own = self.lock();
            let run = own.as_mut().ok_or_else(ended)?;
            let advanced = run.advance(run.now() + step);
            advanced.map_err(|error| {
                // A scheme that has failed is called no more.
                *own = None;
                Python::attach(|py| foreign::run_error(py, &error))
            })
        })
    }

    /// Whether the run has come to its end.
    #[getter]
    fn over(&self) -> PyResult<bool> {
        self.with(|own| Ok(own.is_over()))
    }

    /// Simulated time, s.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.with(|own| Ok(own.now().as_seconds()))
    }

    /// Time of the whole run, s.
    #[getter]
    fn duration_s(&self) -> PyResult<f64> {
        self.with(|own| Ok(own.plan().duration.as_seconds()))
    }

    /// The ports that can be tuned: name, and rate of the line in bit/s.
    #[getter]
    fn ports(&self) -> PyResult<Vec<(String, u64)>> {
        self.with(|own| {
            let plan = own.plan();
            let port = |id: PortId| (plan.port_names[id.index()].clone(), plan.network.ports[id.index()].rate.0);
            Ok(own.tuned_ports().map(port).collect())
        })
    }

    /// The hosts that send: name, and rate of the line in bit/s.
    #[getter]
    fn hosts(&self) -> PyResult<Vec<(String, u64)>> {
        self.with(|own| {
            let plan = own.plan();
            let line =
                |node: NodeId| plan.network.ports.iter().find(|port| port.node == node).map_or(0, |port| port.rate.0);
            Ok(own.senders().iter().map(|&node| (plan.node_names[node.index()].clone(), line(node))).collect())
        })
    }

    /// Of each port that can be tuned: octets in its queue; then, since the start of the run, seconds that its line was used, data frames
    /// dropped, frames sent, and frames marked.
    fn queues(&self) -> PyResult<Vec<[f64; 5]>> {
        self.with(|own| {
            let ports = &own.plan().network.ports;
            let rates: Vec<f64> = own.tuned_ports().map(|port| ports[port.index()].rate.0.max(1) as f64).collect();
            let row = |(queue, rate): (QueueNow, f64)| {
                let counts = [queue.dropped, queue.frames_sent, queue.frames_marked].map(|count| count as f64);
                [queue.len.0 as f64, queue.line_bits as f64 / rate, counts[0], counts[1], counts[2]]
            };
            Ok(own.queues().into_iter().zip(rates).map(row).collect())
        })
    }

    /// The value of a parameter of the scheme at the `place`-th port that can be tuned, in octets, s, bit/s or as a number.
    fn parameter(&self, place: usize, name: &str) -> PyResult<f64> {
        self.with(|own| match own.parameter(place, name) {
            Some(Value::Octets(value)) => Ok(value.0 as f64),
            Some(Value::Time(value)) => Ok(value.as_seconds()),
            Some(Value::Rate(value)) => Ok(value.0 as f64),
            Some(Value::Count(value)) => Ok(value as f64),
            Some(Value::Real(value)) => Ok(value),
            _ => Err(PyValueError::new_err(format!("the scheme has no number called {name}"))),
        })
    }

    /// Gives parameters of the scheme other values at the `place`-th port that can be tuned, in the units of `parameter`.
    fn retune(&self, place: usize, values: Vec<(String, f64)>) -> PyResult<()> {
        self.with(|own| {
            let info = own.plan().schemes[0].config.info();
            let value = |(name, number): &(String, f64)| {
                let parameter = info.parameters.iter().find(|parameter| parameter.name == name.as_str())?;
                Some((parameter.name, in_unit(*number, parameter.default)?))
            };
            let new: Option<Vec<(&str, Value)>> = values.iter().map(value).collect();
            if new.is_some_and(|new| own.retune(place, &new)) {
                return Ok(());
            }
            Err(PyValueError::new_err(format!("{} does not take {values:?}", info.name)))
        })
    }

    /// The flows of the `place`-th host that sends go together no faster than `rate_bps`.
    fn cap(&self, place: usize, rate_bps: f64) -> PyResult<()> {
        self.with(|own| {
            let host = *own.senders().get(place).ok_or_else(|| PyIndexError::new_err("no such host"))?;
            own.cap(host, BitRate(rate_bps.max(0.0) as u64));
            Ok(())
        })
    }

    /// Ends the run where it is, and gives its summary as JSON. Nothing else can be asked of it then.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let own = self.lock().take().ok_or_else(ended)?;
        Ok(py.detach(|| own.finish().to_json()))
    }
}

impl PyStepper {
    fn lock(&self) -> MutexGuard<'_, Option<Stepper>> {
        self.stepper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Stepper) -> PyResult<T>) -> PyResult<T> {
        ask(self.lock().as_mut().ok_or_else(ended)?)
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the run has been ended: reset() begins another one")
}

/// A number as a value of the kind of `like`, or nothing if that is no number.
fn in_unit(number: f64, like: Value) -> Option<Value> {
    Some(match like {
        Value::Octets(_) => Value::Octets(Octets(number.max(0.0).round() as u64)),
        Value::Time(_) => Value::Time(Duration((number.max(0.0) * 1e12).round() as u64)),
        Value::Rate(_) | Value::PerGbps(_) => Value::Rate(BitRate(number.max(0.0).round() as u64)),
        Value::Count(_) => Value::Count(number.max(0.0).round() as u64),
        Value::Real(_) => Value::Real(number),
        Value::Choice(_) | Value::Switch(_) => return None,
    })
}
