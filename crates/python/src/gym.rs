//! `Agents`: runs in steps for agents that learn, many at a time, in threads without Python's lock.

mod crew;
mod flows;
mod hosts;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_runner::{NotFree, Pauses};
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::{NodeId, PortId};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::foreign;
use crate::scenario::{PyScenario, Seed, chosen};
use crew::{Crew, Items};
use flows::{FlowRules, Flows, WIDTH};
use hosts::{HostRules, Hosts};

/// The run has ended.
const OVER: u8 = 1;
/// Every flow with a size had ended before the run's duration.
const COMPLETE: u8 = 2;
/// The agent decides now.
const DUE: u8 = 4;
/// The flow of the agent has ended.
const ENDED: u8 = 8;

/// What agents decide on.
#[derive(Debug, Clone, Copy)]
enum Rules {
    Hosts(HostRules),
    Flows(FlowRules),
}

/// A run.
#[derive(Debug)]
enum Task {
    Hosts(Hosts),
    Flows(Flows),
}

/// A run, and the numbers of its last step.
#[derive(Debug, Default)]
struct Place {
    task: Option<Task>,
    actions: Vec<f64>,
    seen: Vec<f64>,
    rewards: Vec<f64>,
    flags: Vec<u8>,
    /// What ended the run before its end: each step says so until another run begins.
    failed: Option<PyErr>,
}

/// The numbers of all runs, in arrays as Python has them.
#[derive(Debug, Default)]
struct Numbers {
    actions: Vec<f64>,
    seen: Vec<f64>,
    rewards: Vec<f64>,
    flags: Vec<u8>,
}

/// Runs in steps, and agents who decide between two of them.
#[pyclass(name = "Agents", module = "penstock._core", frozen)]
pub(crate) struct PyAgents {
    crew: Crew<Places>,
    rules: Rules,
    numbers: Mutex<Numbers>,
    /// A step is being taken.
    stepping: AtomicBool,
}

/// The runs, and the time of a step.
struct Places {
    places: Vec<Mutex<Place>>,
    step: Duration,
}

impl Items for Places {
    fn count(&self) -> usize {
        self.places.len()
    }

    fn take(&self, index: usize) {
        lock(&self.places[index]).step(self.step);
    }
}

#[pymethods]
impl PyAgents {
    /// One agent a run, which caps hosts.
    #[staticmethod]
    fn hosts(runs: usize, threads: usize, step_s: f64, most_octets: f64, least: f64) -> PyResult<Self> {
        Self::new(runs, threads, step_s, Rules::Hosts(HostRules { most_octets, least }))
    }

    /// An agent for each flow of a run, which decides on its rate.
    #[staticmethod]
    fn flows(
        runs: usize,
        threads: usize,
        step_s: f64,
        target: f64,
        least: f64,
        factors: bool,
        acks: u64,
        signals: bool,
        held: bool,
    ) -> PyResult<Self> {
        let pauses = Pauses { acks, signals };
        Self::new(runs, threads, step_s, Rules::Flows(FlowRules { target, least, factors, pauses, held }))
    }

    /// Begins the `place`-th run: a scenario as it is now, with the keys of `settings` set.
    #[pyo3(signature = (place, scenario, settings, scheme = None, seed = None))]
    fn begin(
        &self,
        py: Python<'_>,
        place: usize,
        scenario: &PyScenario,
        settings: Vec<(String, String)>,
        scheme: Option<String>,
        seed: Option<Seed>,
    ) -> PyResult<()> {
        let mut own = scenario.now();
        let choice = chosen(scheme, None, seed, 1);
        let plan = py.detach(|| {
            for (key, value) in &settings {
                Arc::make_mut(&mut own).set(key, value)?;
            }
            own.plan(&choice)
        });
        let plan = Arc::new(plan.map_err(|error| scenario_error(py, &error))?);
        let name = plan.schemes[0].config.info().name;
        let task = match self.rules {
            Rules::Hosts(rules) => py.detach(|| Hosts::new(plan, rules)).map(|own| Ok(Task::Hosts(own))),
            Rules::Flows(rules) => py.detach(|| Flows::new(plan, rules)).map(|own| own.map(Task::Flows)),
        };
        let task = task.map_err(|error| foreign::run_error(py, &error))?.map_err(|error| not_free(error, name))?;
        self.place(place)?.begin(task, self.crew.work().step);
        Ok(())
    }

    /// Takes a step of each run that has not ended. `actions` has a row a run, with a number for each of its hosts or flows; the results are
    /// written to `seen`, `rewards` and `flags`.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyBuffer<f64>,
        seen: PyBuffer<f64>,
        rewards: PyBuffer<f64>,
        flags: PyBuffer<u8>,
    ) -> PyResult<()> {
        // No lock is held while Python's is given up: whoever has one could wait for the other.
        if self.stepping.swap(true, Ordering::Acquire) {
            return Err(PyRuntimeError::new_err("another thread steps these runs"));
        }
        let result = self.step_with(py, &actions, [&seen, &rewards], &flags);
        self.stepping.store(false, Ordering::Release);
        result
    }

    /// Writes the numbers of the last step, or of the start of runs that have taken none.
    fn write(&self, py: Python<'_>, seen: PyBuffer<f64>, rewards: PyBuffer<f64>, flags: PyBuffer<u8>) -> PyResult<()> {
        self.show(py, &mut self.numbers(), [&seen, &rewards], &flags)
    }

    /// The ports that an agent of hosts sees: name, and rate of the line in bit/s.
    fn ports(&self, place: usize) -> PyResult<Vec<(String, f64)>> {
        self.with(place, |task| match task {
            Task::Hosts(own) => {
                let plan = own.stepper.plan();
                let port = |port: PortId| {
                    (plan.port_names[port.index()].clone(), plan.network.ports[port.index()].rate.0 as f64)
                };
                Ok(own.stepper.tuned_ports().map(port).collect())
            }
            Task::Flows(_) => Ok(Vec::new()),
        })
    }

    /// The hosts or flows that actions are for: name, rate of the line in bit/s, and for flows the round trip of the empty network in s.
    fn names(&self, place: usize) -> PyResult<Vec<(String, f64, f64)>> {
        self.with(place, |task| match task {
            Task::Hosts(own) => {
                let names = &own.stepper.plan().node_names;
                let host = |(node, line): (&NodeId, &f64)| (names[node.index()].clone(), *line, 0.0);
                Ok(own.stepper.senders().iter().zip(&own.host_lines).map(host).collect())
            }
            Task::Flows(own) => {
                let flows = own.stepper.plan().flow_names.iter().zip(&own.agents);
                let flow = |(name, agent): (&String, &flows::Agent)| (name.clone(), agent.line, agent.round_trip_s);
                Ok(flows.map(flow).collect())
            }
        })
    }

    /// Simulated time of a run, ps, and how long it lasts.
    fn times(&self, place: usize) -> PyResult<(u64, u64)> {
        self.with(place, |task| {
            let stepper = task.stepper();
            Ok((stepper.now().0, stepper.plan().duration.0))
        })
    }

    /// Lets a run pause for a flow at a time, ps; with `None` at none.
    #[pyo3(signature = (place, flow, at))]
    fn wake_at(&self, place: usize, flow: usize, at: Option<u64>) -> PyResult<()> {
        self.of_flow(place, flow, |own| own.stepper.wake_at(flow, at.map(Instant)))
    }

    /// Lets a run pause once a flow has sent this number of further octets; with `None` not for that.
    #[pyo3(signature = (place, flow, octets))]
    fn wake_after(&self, place: usize, flow: usize, octets: Option<u64>) -> PyResult<()> {
        self.of_flow(place, flow, |own| own.stepper.wake_after(flow, octets))
    }

    /// Counts of a flow's source since the start of a run: acknowledgements, those that echo a mark, signals. Then round trips added up in
    /// s, octets sent, and the rate that it may use, bit/s.
    fn learnt(&self, place: usize, flow: usize) -> PyResult<(u64, u64, u64, f64, u64, u64)> {
        self.of_flow(place, flow, |own| {
            let (found, rate) = (own.stepper.learnt(flow), own.stepper.rate_of(flow));
            (found.acks, found.marked, found.signals, found.round_trips.as_seconds(), found.octets, rate.0)
        })
    }

    /// Ends a run where it is, and gives its summary as JSON.
    fn finish(&self, py: Python<'_>, place: usize) -> PyResult<String> {
        let task = self.place(place)?.task.take().ok_or_else(ended)?;
        Ok(py.detach(|| {
            let stepper = match task {
                Task::Hosts(own) => own.stepper,
                Task::Flows(own) => own.stepper,
            };
            stepper.finish().to_json()
        }))
    }
}

impl PyAgents {
    fn new(runs: usize, threads: usize, step_s: f64, rules: Rules) -> PyResult<Self> {
        let step = Duration((step_s.max(0.0) * 1e12).round() as u64);
        let places = std::iter::repeat_with(Mutex::default).take(runs).collect();
        let crew = Crew::new(Places { places, step }, threads.clamp(1, runs.max(1)) - 1)
            .map_err(|error| PyRuntimeError::new_err(format!("no thread for runs: {error}")))?;
        Ok(Self { crew, rules, numbers: Mutex::default(), stepping: AtomicBool::new(false) })
    }

    fn places(&self) -> &[Mutex<Place>] {
        &self.crew.work().places
    }

    fn step_with(
        &self,
        py: Python<'_>,
        actions: &PyBuffer<f64>,
        results: [&PyBuffer<f64>; 2],
        flags: &PyBuffer<u8>,
    ) -> PyResult<()> {
        let mut numbers = std::mem::take(&mut *self.numbers());
        numbers.actions.resize(actions.item_count(), 0.0);
        actions.copy_to_slice(py, &mut numbers.actions)?;
        let width = numbers.actions.len() / self.places().len().max(1);
        for (own, row) in self.places().iter().zip(numbers.actions.chunks(width.max(1))) {
            let mut own = lock(own);
            own.actions.clear();
            own.actions.extend_from_slice(row);
        }
        if !py.detach(|| self.crew.step()) {
            return Err(PyRuntimeError::new_err("the engine has a fault: a thread of it has panicked"));
        }
        self.show(py, &mut numbers, results, flags)?;
        *self.numbers() = numbers;
        Ok(())
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the numbers of all runs into Python's arrays.
    fn show(
        &self,
        py: Python<'_>,
        numbers: &mut Numbers,
        [seen, rewards]: [&PyBuffer<f64>; 2],
        flags: &PyBuffer<u8>,
    ) -> PyResult<()> {
        numbers.seen.clear();
        numbers.rewards.clear();
        numbers.flags.clear();
        for own in self.places() {
            let own = lock(own);
            if let Some(error) = &own.failed {
                return Err(error.clone_ref(py));
            }
            numbers.seen.extend_from_slice(&own.seen);
            numbers.rewards.extend_from_slice(&own.rewards);
            numbers.flags.extend_from_slice(&own.flags);
        }
        seen.copy_from_slice(py, &numbers.seen)?;
        rewards.copy_from_slice(py, &numbers.rewards)?;
        flags.copy_from_slice(py, &numbers.flags)
    }

    fn place(&self, place: usize) -> PyResult<MutexGuard<'_, Place>> {
        self.places().get(place).map(lock).ok_or_else(|| PyIndexError::new_err("no such run"))
    }

    fn with<T>(&self, place: usize, ask: impl FnOnce(&mut Task) -> PyResult<T>) -> PyResult<T> {
        ask(self.place(place)?.task.as_mut().ok_or_else(ended)?)
    }

    fn of_flow<T>(&self, place: usize, flow: usize, ask: impl FnOnce(&mut Flows) -> T) -> PyResult<T> {
        self.with(place, |task| match task {
            Task::Flows(own) if flow < own.agents.len() => Ok(ask(own)),
            _ => Err(PyIndexError::new_err("no such flow")),
        })
    }
}

impl Task {
    fn stepper(&self) -> &penstock_runner::Stepper {
        match self {
            Self::Hosts(own) => &own.stepper,
            Self::Flows(own) => &own.stepper,
        }
    }
}

impl Place {
    /// A run begins.
    fn begin(&mut self, mut task: Task, step: Duration) {
        match &mut task {
            Task::Hosts(own) => {
                (self.seen, self.rewards, self.flags) = (vec![0.0; own.width()], vec![0.0], vec![DUE]);
                own.observe(step, &mut self.seen);
            }
            Task::Flows(own) => {
                let agents = own.agents.len();
                (self.seen, self.rewards, self.flags) =
                    (vec![0.0; WIDTH * agents], vec![0.0; agents], vec![DUE; agents]);
                own.observe(&mut self.seen);
            }
        }
        (self.task, self.failed) = (Some(task), None);
    }

    /// Takes a step of a run that has not ended.
    fn step(&mut self, step: Duration) {
        let Self { task, actions, seen, rewards, flags, failed } = self;
        let Some(running) = task.as_mut().filter(|task| !task.stepper().is_over()) else { return };
        let result = match running {
            Task::Hosts(own) => own.step(actions, step, seen).map(|reward| {
                rewards[0] = reward;
                flags[0] = DUE | run_flags(own.stepper.is_over(), own.is_complete());
            }),
            Task::Flows(own) => own.step(actions, step, seen, rewards).map(|()| {
                let of_run = run_flags(own.stepper.is_over(), own.is_complete());
                for (flag, agent) in flags.iter_mut().zip(&own.agents) {
                    *flag = of_run | if agent.due { DUE } else { 0 } | if agent.ended { ENDED } else { 0 };
                }
            }),
        };
        if let Err(error) = result {
            // The exception of a scheme's method is of this thread.
            *failed = Some(Python::attach(|py| foreign::run_error(py, &error)));
            *task = None;
        }
    }
}

fn run_flags(over: bool, complete: bool) -> u8 {
    if complete {
        OVER | COMPLETE
    } else if over {
        OVER
    } else {
        0
    }
}

fn lock(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended() -> PyErr {
    PyValueError::new_err("the run has been ended: reset() begins another one")
}

fn not_free(error: NotFree, scheme: &str) -> PyErr {
    PyValueError::new_err(match error {
        NotFree::NoLeastRate => {
            format!("{scheme} has no parameter min_rate, by which its sources could be held at the line's rate")
        }
        NotFree::Window => format!("{scheme} has a window, which would go on to limit flows"),
        NotFree::Shared => "flows have a rate limiter in common".to_owned(),
        NotFree::NoFlows => "the scenario lists no flows, or some that no scheme controls".to_owned(),
    })
}
