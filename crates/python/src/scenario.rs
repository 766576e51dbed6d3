//! `Scenario`: reading, changing, describing and running scenarios.
#![allow(clippy::disallowed_types, reason = "how often Python's signals are looked at is a matter of the wall clock")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use penstock_runner::{Options, Progress, Threads};
use penstock_scenario::description::{Description, Outline};
use penstock_scenario::limits::Limits;
use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_sim::network::PortId;
use pyo3::Borrowed;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::catalogue::to_json;
use crate::errors::scenario_error;
use crate::foreign;
use crate::jobs::{Written, written};
use crate::result::PyRun;

/// Between two looks at Python's signals while a scenario is laid out.
const LOOK: Duration = Duration::from_millis(50);

/// A scenario file. Threads may set its keys at the same time: each change is made to a copy, which then takes the
/// place of the one that others still read.
#[pyclass(name = "Scenario", module = "penstock._core", frozen)]
pub(crate) struct PyScenario {
    scenario: Mutex<Arc<Scenario>>,
    /// The run that was outlined last, kept until it runs: to lay out a large network takes seconds.
    outlined: Mutex<Option<Outlined>>,
}

struct Outlined {
    scenario: Arc<Scenario>,
    choice: Choice,
    plan: Plan,
}

#[pymethods]
impl PyScenario {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Scenario::load(&path).map(Self::new).map_err(|error| scenario_error(py, &error))
    }

    /// Reads text. `origin` stands for the file in messages; `keys_set` are keys of the text that count as set.
    #[staticmethod]
    #[pyo3(signature = (text, origin = "<string>", name = "scenario", keys_set = Vec::new()))]
    fn parse(py: Python<'_>, text: &str, origin: &str, name: &str, keys_set: Vec<String>) -> PyResult<Self> {
        let mut scenario = Scenario::parse(text, origin, name).map_err(|error| scenario_error(py, &error))?;
        scenario.take_as_set(&keys_set);
        Ok(Self::new(scenario))
    }

    /// Copies the scenario: what is set in one is not set in the other.
    fn copy(&self) -> Self {
        Self { scenario: Mutex::new(self.now()), outlined: Mutex::default() }
    }

    /// The file, or the text that stands for it in messages.
    #[getter]
    fn origin(&self) -> String {
        self.now().file().to_owned()
    }

    /// The keys that were set, as dotted paths.
    #[getter]
    fn keys_set(&self) -> Vec<String> {
        self.now().keys_set()
    }

    /// Sets the key with the dotted path `key`.
    fn set(&self, py: Python<'_>, key: &str, value: &str) -> PyResult<()> {
        let change =
            || Arc::make_mut(&mut self.scenario.lock().unwrap_or_else(PoisonError::into_inner)).set(key, value);
        // The holder of the lock waits for no other lock, Python's included.
        py.detach(change).map_err(|error| scenario_error(py, &error))
    }

    /// The scenario's name.
    #[getter]
    fn name(&self) -> String {
        self.now().name().to_owned()
    }

    /// The question that it answers.
    #[getter]
    fn question(&self) -> String {
        self.now().question().to_owned()
    }

    /// The scheme that runs unless another is chosen.
    #[getter]
    fn scheme(&self) -> String {
        self.now().scheme().to_owned()
    }

    /// The schemes that the scenario has settings for.
    #[getter]
    fn schemes(&self) -> Vec<String> {
        self.now().schemes().into_iter().map(str::to_owned).collect()
    }

    /// The scenario as it was read, with what was set.
    fn toml(&self) -> String {
        self.now().to_toml()
    }

    /// The scenario with every default written out, as TOML.
    #[pyo3(signature = (scheme = None, profile = None, seed = None, limit = 1))]
    fn resolved(
        &self,
        py: Python<'_>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<String> {
        Ok(self.plan(py, scheme, profile, seed, limit)?.resolved)
    }

    /// The run that the scenario asks for, as JSON.
    #[pyo3(signature = (scheme = None, profile = None, seed = None, limit = 1))]
    fn describe(
        &self,
        py: Python<'_>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<String> {
        Ok(to_json(&Description::new(&self.plan(py, scheme, profile, seed, limit)?)))
    }

    /// The files of its jobs, each with its name, and sentences on what they say in another way.
    #[pyo3(signature = (to, messages = false, seed = None, limit = 1))]
    fn job_files(
        &self,
        py: Python<'_>,
        to: &str,
        messages: bool,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<Vec<(String, Written)>> {
        let plan = self.plan(py, None, None, seed, limit)?;
        let files = || {
            let each = plan.generated.jobs().map(|(table, job)| {
                let name = plan.generated.table(table);
                let (files, mut notes) =
                    written(job.graph(), to, messages).map_err(|reason| format!("job {name}: {reason}"))?;
                if job.iterations() > 1 {
                    notes.push(format!("the files have one of its {} iterations", job.iterations()));
                }
                Ok((name.to_owned(), (files, notes)))
            });
            each.collect::<Result<Vec<_>, String>>()
        };
        py.detach(files).map_err(PyValueError::new_err)
    }

    /// The run that the scenario asks for without flows and fair shares, as JSON.
    #[pyo3(signature = (scheme = None, profile = None, seed = None, limit = 1))]
    fn outline(
        &self,
        py: Python<'_>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<String> {
        let choice = chosen(scheme, profile, seed, limit);
        let (scenario, plan) = self.lay_out(py, &choice, None)?;
        let outline = to_json(&Outline::new(&plan));
        *self.outlined.lock().unwrap_or_else(PoisonError::into_inner) = Some(Outlined { scenario, choice, plan });
        Ok(outline)
    }

    /// Runs the scenario.
    #[pyo3(signature = (
        scheme = None, profile = None, seed = None, out = None, force = false, progress = None, limit = 1, pcap = Vec::new(),
        threads = Wanted(Threads::Number(NonZeroUsize::MIN)),
    ))]
    fn run(
        &self,
        py: Python<'_>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        out: Option<PathBuf>,
        force: bool,
        progress: Option<Py<PyAny>>,
        limit: u64,
        pcap: Vec<String>,
        threads: Wanted,
    ) -> PyResult<PyRun> {
        let choice = chosen(scheme, profile, seed, limit);
        let plan = match self.outlined(&choice) {
            Some(plan) => plan,
            None => self.lay_out(py, &choice, progress.as_ref())?.1,
        };
        let capture = ports(&plan, &pcap).map_err(|error| scenario_error(py, &error))?;
        let options = Options { out, force, slice: None, capture, threads: threads.0 };
        let mut failure = None;
        let mut observer = |at: &Progress| {
            let reported = Python::attach(|py| report(py, progress.as_ref(), at));
            match reported {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let began = Instant::now();
        let run = py.detach(|| penstock_runner::run(&plan, &options, &mut observer));
        let python_share = foreign::share(began.elapsed());
        if let Some(error) = foreign::raised(py) {
            return Err(error);
        }
        match failure {
            // Ctrl-C ends the run, not the program: the result says where it was stopped.
            Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
            _ => run.map(|run| PyRun(run, python_share)).map_err(|error| foreign::run_error(py, &error)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {}>", self.now().name())
    }
}

pub(crate) fn chosen(scheme: Option<String>, profile: Option<String>, seed: Option<Seed>, limit: u64) -> Choice {
    Choice { scheme, profile, seed: seed.map(|Seed(seed)| seed), limits: Limits::raised(limit) }
}

impl PyScenario {
    fn new(scenario: Scenario) -> Self {
        Self { scenario: Mutex::new(Arc::new(scenario)), outlined: Mutex::new(None) }
    }

    /// The scenario as it is now; keys that are set from now on do not change it.
    pub(crate) fn now(&self) -> Arc<Scenario> {
        Arc::clone(&self.scenario.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn plan(
        &self,
        py: Python<'_>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
    ) -> PyResult<Plan> {
        Ok(self.lay_out(py, &chosen(scheme, profile, seed, limit), None)?.1)
    }

    /// The plan that was outlined last, if the scenario and the choice are still the same. It is given away: it may be large.
    fn outlined(&self, choice: &Choice) -> Option<Plan> {
        let Outlined { scenario, choice: theirs, plan } =
            self.outlined.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (Arc::ptr_eq(&scenario, &self.now()) && theirs == *choice).then_some(plan)
    }

    fn lay_out(
        &self,
        py: Python<'_>,
        choice: &Choice,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<(Arc<Scenario>, Plan)> {
        // The fair shares of a large network take a while, in which Ctrl-C is to be obeyed.
        let (mut looked, mut interrupt) = (Instant::now(), None);
        let mut waits = || {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                interrupt = Python::attach(|py| py.check_signals().and_then(|()| still_waits(py, progress))).err();
            }
            interrupt.is_none()
        };
        let scenario = self.now();
        let plan = py.detach(|| scenario.plan_while(choice, &mut waits));
        match interrupt {
            Some(interrupt) => Err(interrupt),
            None => plan.map(|plan| (scenario, plan)).map_err(|error| scenario_error(py, &error)),
        }
    }
}

/// The ports of these names.
fn ports(plan: &Plan, names: &[String]) -> Result<Vec<PortId>, ScenarioError> {
    let found = names.iter().map(|name| {
        plan.port(name).map_err(|hint| ScenarioError {
            file: "<arguments>".to_owned(),
            line: None,
            key: Some("pcap".to_owned()),
            message: format!("there is no port \"{name}\""),
            hint: Some(hint),
        })
    });
    found.collect()
}

/// The most threads that may be asked for.
const MOST_THREADS: usize = 1024;

/// The threads that a run is to have: their number, or "auto".
struct Wanted(Threads);

impl<'py> FromPyObject<'_, 'py> for Wanted {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = || {
            let number = object.extract::<usize>().ok().and_then(NonZeroUsize::new)?;
            (number.get() <= MOST_THREADS).then_some(Threads::Number(number))
        };
        if object.extract::<&str>().is_ok_and(|word| word == "auto") {
            return Ok(Self(Threads::Auto));
        }
        number().map(Self).ok_or_else(|| {
            let message =
                format!("{} is neither a number of threads from 1 to {MOST_THREADS} nor auto", object.as_any());
            let (file, key) = ("<arguments>".to_owned(), Some("threads".to_owned()));
            let hint = Some("for instance 2, or auto for as many as pay".to_owned());
            scenario_error(object.py(), &ScenarioError { file, line: None, key, message, hint })
        })
    }
}

/// A seed. A whole number that no seed can have is an error of the scenario, not one of conversion.
pub(crate) struct Seed(u64);

impl<'py> FromPyObject<'_, 'py> for Seed {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<u64>().map(Self).map_err(|error| {
            let py = object.py();
            if !error.is_instance_of::<PyOverflowError>(py) {
                return error;
            }
            let message = format!("{} is not a whole number from 0 to {}", object.as_any(), i64::MAX);
            let (file, key) = ("<arguments>".to_owned(), Some("seed".to_owned()));
            let hint = Some("for instance seed = 1".to_owned());
            scenario_error(py, &ScenarioError { file, line: None, key, message, hint })
        })
    }
}

/// Asks the caller's function, if it knows the question, whether to go on laying out: signals reach the main thread alone.
fn still_waits(py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    match progress.map(|progress| progress.bind(py).getattr_opt("laying_out")).transpose()?.flatten() {
        Some(asked) => asked.call0().map(|_| ()),
        None => Ok(()),
    }
}

/// Lets Python handle its signals, and tells the caller's function how far the run is.
pub(crate) fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, at: &Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        let wall_s = at.wall.as_secs_f64();
        progress.call1(py, (at.now.as_seconds(), at.duration.as_seconds(), at.events, wall_s))?;
    }
    Ok(())
}
