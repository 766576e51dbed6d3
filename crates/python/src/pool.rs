//! `Pool`: threads that run one run each at a time, from the scenario's text to the result, without Python's lock.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use penstock_runner::{Options, Run, RunError};
use penstock_scenario::{Choice, Scenario, ScenarioError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::scenario_error;
use crate::foreign;
use crate::measures::{Cell, row};
use crate::result::PyRun;
use crate::scenario::{PyScenario, Seed, chosen, report};

/// Threads for many runs.
#[pyclass(name = "Pool", module = "penstock._core", frozen)]
pub(crate) struct PyPool {
    shared: Arc<Shared>,
}

/// The state that the threads and the caller share.
#[derive(Default)]
struct Shared {
    lists: Mutex<Lists>,
    /// Signalled when a task comes, or when no more will.
    work: Condvar,
    /// Signalled when a run ends.
    news: Condvar,
    /// The running runs are to end, and no further one begins.
    stopped: AtomicBool,
}

#[derive(Default)]
struct Lists {
    waiting: VecDeque<Task>,
    running: usize,
    ended: Vec<(u64, Ending)>,
    /// The threads are to end once nothing waits.
    closed: bool,
}

/// A run that waits for a thread.
struct Task {
    index: u64,
    scenario: Arc<Scenario>,
    settings: Vec<(String, String)>,
    choice: Choice,
    begin: Option<Py<PyAny>>,
    /// The columns of the row that is kept, and the queue by which the run is judged; without them the result is kept.
    row: Option<(Vec<String>, Option<String>)>,
}

/// How a run has ended.
enum Ending {
    Run(Box<Run>),
    Row(Vec<Cell>),
    /// It was stopped before its end.
    Dropped,
    Refused(ScenarioError),
    Failed(RunError),
    /// An exception of the function that gets the progress.
    Raised(PyErr),
    Panicked(String),
}

#[pymethods]
impl PyPool {
    /// Starts `workers` threads.
    #[new]
    fn new(workers: usize) -> PyResult<Self> {
        let pool = Self { shared: Arc::new(Shared::default()) };
        for _ in 0..workers.max(1) {
            let shared = Arc::clone(&pool.shared);
            std::thread::Builder::new()
                .name("penstock-run".to_owned())
                .spawn(move || shared.work())
                .map_err(|error| PyRuntimeError::new_err(format!("no thread for a run: {error}")))?;
        }
        Ok(pool)
    }

    /// Takes a run: a scenario as it is now, with the keys of `settings` set. With `row` a row of these columns is kept of it, which
    /// is judged by a queue.
    #[pyo3(signature = (
        index, scenario, settings, scheme = None, profile = None, seed = None, limit = 1, begin = None, row = None,
    ))]
    fn submit(
        &self,
        index: u64,
        scenario: &PyScenario,
        settings: Vec<(String, String)>,
        scheme: Option<String>,
        profile: Option<String>,
        seed: Option<Seed>,
        limit: u64,
        begin: Option<Py<PyAny>>,
        row: Option<(Vec<String>, Option<String>)>,
    ) {
        let choice = chosen(scheme, profile, seed, limit);
        let task = Task { index, scenario: scenario.now(), settings, choice, begin, row };
        self.shared.lists().waiting.push_back(task);
        self.shared.work.notify_one();
    }

    /// Appends the runs that have ended since the last call to `into`: index, result and exception, each. Waits for the first of
    /// them for `timeout_s` at the most.
    fn ended(&self, py: Python<'_>, into: &Bound<'_, PyList>, timeout_s: f64) -> PyResult<()> {
        let timeout = Duration::try_from_secs_f64(timeout_s).unwrap_or_default();
        let ended = py.detach(|| {
            let lists = self.shared.lists();
            let wait = self.shared.news.wait_timeout_while(lists, timeout, |lists| lists.ended.is_empty());
            std::mem::take(&mut wait.unwrap_or_else(PoisonError::into_inner).0.ended)
        });
        for (index, ending) in ended {
            into.append(shown(py, index, ending)?)?;
        }
        Ok(())
    }

    /// Drops the runs that wait, and ends those that are running.
    fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.lists().waiting.clear();
    }

    /// How many runs are running.
    #[getter]
    fn running(&self) -> usize {
        self.shared.lists().running
    }
}

impl Drop for PyPool {
    fn drop(&mut self) {
        self.stop();
        self.shared.lists().closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread: runs what waits until the pool is closed.
    fn work(&self) {
        loop {
            let lists = self.lists();
            let idle = |lists: &mut Lists| lists.waiting.is_empty() && !lists.closed;
            let mut lists = self.work.wait_while(lists, idle).unwrap_or_else(PoisonError::into_inner);
            let Some(task) = lists.waiting.pop_front() else { return };
            lists.running += 1;
            drop(lists);
            let index = task.index;
            let ending = catch_unwind(AssertUnwindSafe(|| task.run(&self.stopped)));
            let ending = ending.unwrap_or_else(|panic| Ending::Panicked(words(&*panic)));
            let mut lists = self.lists();
            lists.running -= 1;
            lists.ended.push((index, ending));
            self.news.notify_all();
        }
    }
}

impl Task {
    fn run(self, stopped: &AtomicBool) -> Ending {
        let mut scenario = self.scenario;
        for (key, value) in &self.settings {
            if let Err(error) = Arc::make_mut(&mut scenario).set(key, value) {
                return Ending::Refused(error);
            }
        }
        let goes_on = || !stopped.load(Ordering::Relaxed);
        let plan = scenario.plan_while(&self.choice, &mut || goes_on());
        if !goes_on() {
            return Ending::Dropped;
        }
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return Ending::Refused(error),
        };
        let (mut begun, mut failure) = (None, None);
        let mut observer = |at: &penstock_runner::Progress| {
            if !goes_on() {
                return ControlFlow::Break(());
            }
            // The last report comes as the run ends. A run that ends before any other one has reported nothing.
            let tells = begun.is_some() || at.now.as_seconds() < at.duration.as_seconds();
            let Some(begin) = self.begin.as_ref().filter(|_| tells) else { return ControlFlow::Continue(()) };
            let reported = Python::attach(|py| {
                if begun.is_none() {
                    begun = Some(begin.call0(py)?);
                }
                let progress = begun.as_ref().filter(|progress| !progress.is_none(py));
                report(py, progress, at)
            });
            match reported {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let run = penstock_runner::run(&plan, &Options::default(), &mut observer);
        // The exception of a scheme's method is of this thread.
        if let Some(raised) = foreign::failed().then(|| Python::attach(foreign::raised)).flatten() {
            return Ending::Raised(raised);
        }
        match (failure, run) {
            (Some(error), _) => Ending::Raised(error),
            (None, Err(error)) => Ending::Failed(error),
            (None, Ok(run)) if run.summary.interrupted_at_s.is_some() => Ending::Dropped,
            (None, Ok(run)) => match self.row {
                None => Ending::Run(Box::new(run)),
                Some((columns, queue)) => {
                    row(&run, &columns, queue.as_deref()).map_or_else(Ending::Failed, Ending::Row)
                }
            },
        }
    }
}

/// An end as Python sees it.
fn shown(py: Python<'_>, index: u64, ending: Ending) -> PyResult<(u64, Option<Py<PyAny>>, Option<PyErr>)> {
    let error = match ending {
        Ending::Run(run) => return Ok((index, Some(Py::new(py, PyRun(*run, None))?.into_any()), None)),
        Ending::Row(row) => return Ok((index, Some(row.into_pyobject(py)?.unbind()), None)),
        Ending::Dropped => return Ok((index, None, None)),
        Ending::Refused(error) => scenario_error(py, &error),
        Ending::Failed(error) => foreign::run_error(py, &error),
        Ending::Raised(error) => error,
        Ending::Panicked(words) => PyRuntimeError::new_err(format!("the engine has a fault: {words}")),
    };
    Ok((index, None, Some(error)))
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
