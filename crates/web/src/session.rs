//! A run that is taken slice by slice.

use std::rc::Rc;

use penstock_results::completions::Ending;
use penstock_results::jobs::{self, JobRow};
use penstock_results::{Course, Summary};
use penstock_scenario::limits::Limits;
use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Instant, SchemeConfig};
use penstock_sim::{Full, Sim};
use serde::Serialize;

use crate::messages::Messages;
use crate::own;
use crate::store::{QUEUE_COLUMNS, Store, state, width};

/// Limits of a page in a browser are those of the command line divided by this.
pub(crate) const SMALLER: u64 = 10;
/// The longest text of a scenario, octets.
const MOST_TEXT: usize = 256_000;
/// The most numbers in the samples of a run: 64 MB. Of a run with more, one in some samples is kept.
const MOST_NUMBERS: u64 = 8_000_000;
/// The fewest samples of a run that are worth a plot.
const FEWEST_SAMPLES: u64 = 100;
/// The most frames in the network at a time.
const MOST_FRAMES: usize = 1_000_000;
/// The hint where a run is too large for a page.
const ELSEWHERE: &str = "run it on the command line: penstock run";
/// Events between two looks at the methods of a reader's scheme, and their steps in a call of [`Session::advance`]: a step takes some ten
/// nanoseconds, and a page is to be heard.
const OWN_SLICE: u64 = 500;
const MOST_STEPS: u64 = 2_000_000;

/// A scenario that is wrong, or a run that is too large for a page: location, message and hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The line of the text, counted from 1.
    pub line: Option<usize>,
    /// The letter in it, counted from 1, where it is known.
    pub column: Option<usize>,
    /// The text is that of the reader's scheme, and not the scenario.
    pub own: bool,
    /// The key, as a dotted path.
    pub key: Option<String>,
    /// The mistake, as text.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Self {
        let ScenarioError { line, key, message, hint, .. } = error;
        Self { line, column: None, own: false, key, message, hint }
    }
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, hint: &str) -> Self {
        Self { line: None, column: None, own: false, key: None, message: message.into(), hint: Some(hint.to_owned()) }
    }
}

/// A run of a scenario.
#[derive(Debug)]
pub struct Session {
    plan: Rc<Plan>,
    every: u64,
    messages: Messages,
    state: State,
}

#[derive(Debug)]
enum State {
    Running(Box<Running>),
    Ended(Box<Ended>),
    /// Between the two.
    Ending,
}

#[derive(Debug)]
struct Running {
    sim: Sim<Mixed, Store, Full>,
    course: Course,
    /// A scheme of the reader's runs, and the mistake that one of its methods has made.
    own: bool,
    failed: Option<Refusal>,
}

#[derive(Debug)]
struct Ended {
    store: Store,
    summary: Summary,
    jobs: Vec<JobRow>,
    at: Instant,
    events: u64,
    hops: u64,
}

/// Reads a scenario's text, if it is not too long for a page.
pub(crate) fn scenario(text: &str) -> Result<Scenario, Refusal> {
    if text.len() > MOST_TEXT {
        let message = format!("the scenario has {} octets; {MOST_TEXT} are the most in a page", text.len());
        return Err(Refusal::new(message, ELSEWHERE));
    }
    Ok(Scenario::parse(text, "scenario", "scenario")?)
}

impl Session {
    /// Lays out the scenario of `text`, under `scheme` where one is given.
    ///
    /// # Errors
    /// If the scenario is wrong, or too large for a page.
    pub fn new(text: &str, scheme: Option<&str>) -> Result<Self, Refusal> {
        let limits = Limits::lowered(SMALLER);
        let choice = Choice { scheme: scheme.map(str::to_owned), limits, ..Choice::default() };
        let plan = Rc::new(scenario(text)?.plan(&choice)?);
        let samples = plan.duration.0 / plan.record.interval.0.max(1) + 1;
        let kept = MOST_NUMBERS / width(&plan) as u64;
        if kept < samples.min(FEWEST_SAMPLES) {
            let message = format!("samples of {} numbers are more than a page keeps", width(&plan));
            return Err(Refusal::new(message, "record fewer queues: [record] queues = [\"…\"]"));
        }
        let every = samples.div_ceil(kept);
        own::begin();
        let configs = plan.configs();
        let has_own = configs.iter().any(|config| matches!(config, SchemeConfig::Foreign(_)));
        let mut sim = Sim::<Mixed, _, Full>::new(&plan.network, &configs, plan.seed, Store::new(&plan, every));
        sim.feed(plan.generated.arrivals());
        let messages = Messages::default();
        plan.generated.work().into_iter().for_each(|work| sim.employ(messages.of(work)));
        sim.configure(&plan.network, plan.seed, plan.settings());
        if let Some(error) = own::failure() {
            return Err(error.into());
        }
        let running = Running { sim, course: Course::new(&plan), own: has_own, failed: None };
        Ok(Self { plan, every, messages, state: State::Running(Box::new(running)) })
    }

    /// The plan of the run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Simulates up to `until`, or to the end of the run, but handles no more than about `work` events; whether it has come so far. How a
    /// run is cut into calls changes nothing in it.
    ///
    /// # Errors
    /// If there are more frames than a page holds, or a method of the reader's scheme has failed.
    pub fn advance(&mut self, until: Instant, work: u64) -> Result<bool, Refusal> {
        let State::Running(running) = &mut self.state else { return Ok(true) };
        own::begin();
        let Running { sim, course, own, failed } = &mut **running;
        if let Some(refusal) = failed {
            return Err(refusal.clone());
        }
        let most = sim.events() + work;
        while let Some(stop) = course.next() {
            let left = most.saturating_sub(sim.events());
            let slice = if *own { left.min(OWN_SLICE) } else { left };
            let is_there = left > 0 && own::steps() < MOST_STEPS && sim.run_slice(stop.min(until), slice);
            check(sim)?;
            if let Some(error) = own::failure() {
                return Err(failed.insert(error.into()).clone());
            }
            if !is_there && left > slice && own::steps() < MOST_STEPS {
                continue;
            }
            if !is_there {
                return Ok(false);
            }
            if sim.now() < stop && !sim.is_over() {
                return Ok(true);
            }
            course.measure(sim, false);
            // A sample asks for variables.
            if let Some(error) = own::failure() {
                return Err(failed.insert(error.into()).clone());
            }
        }
        self.end();
        Ok(true)
    }

    /// Takes the summary of a run that has come to its end.
    fn end(&mut self) {
        let State::Running(running) = std::mem::replace(&mut self.state, State::Ending) else { return };
        let Running { sim, course, .. } = *running;
        let (at, events, hops) = (sim.now(), sim.events(), sim.packet_hops());
        let (outcome, mut store) = sim.finish();
        store.close();
        let over = at < Instant::ZERO + self.plan.duration;
        let ending = Ending { end: at, interrupted: false, over, wall_s: 0.0 };
        let settling = store.sampler.settling();
        let summary = Summary::new(&self.plan, &outcome, &course.into_windows(), &settling, &ending);
        let jobs = jobs::rows(&self.plan, &outcome).collect();
        self.state = State::Ended(Box::new(Ended { store, summary, jobs, at, events, hops }));
    }

    /// Simulated time.
    #[must_use]
    pub fn now(&self) -> Instant {
        match &self.state {
            State::Running(running) => running.sim.now(),
            State::Ended(ended) => ended.at,
            State::Ending => Instant::ZERO,
        }
    }

    /// Events handled, and links that frames have crossed.
    #[must_use]
    pub fn work(&self) -> (u64, u64) {
        match &self.state {
            State::Running(running) => (running.sim.events(), running.sim.packet_hops()),
            State::Ended(ended) => (ended.events, ended.hops),
            State::Ending => (0, 0),
        }
    }

    /// The summary of a run that has come to its end.
    #[must_use]
    pub fn summary(&self) -> Option<&Summary> {
        match &self.state {
            State::Ended(ended) => Some(&ended.summary),
            _ => None,
        }
    }

    /// The rows of the table of jobs, of a run that has come to its end; none where the scenario has no jobs.
    #[must_use]
    pub fn jobs(&self) -> &[JobRow] {
        match &self.state {
            State::Ended(ended) => &ended.jobs,
            _ => &[],
        }
    }

    /// Takes what has begun and ended of messages of jobs since the last call: rows of [`MESSAGE_COLUMNS`](crate::MESSAGE_COLUMNS).
    /// Beyond a hundred thousand the later ones are not among them.
    pub fn take_messages(&mut self) -> Vec<f64> {
        self.messages.take(&self.plan)
    }

    /// Numbers in a row of samples: the time, then [`QUEUE_COLUMNS`] for each queue, then the columns of each flow.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.plan)
    }

    /// Where the columns of the flows begin in a row of samples.
    #[must_use]
    pub fn flows_at(&self) -> usize {
        1 + self.plan.record.queues.len() * QUEUE_COLUMNS.len()
    }

    /// The rows of samples from the `from`-th on, one after the other.
    #[must_use]
    pub fn samples(&self, from: usize) -> &[f64] {
        self.store().and_then(|store| store.samples.get(from * self.width()..)).unwrap_or_default()
    }

    /// Of this number of samples [`samples`](Self::samples) has one, where all are more than a page keeps. The summary is that of all.
    #[must_use]
    pub fn every(&self) -> u64 {
        self.every
    }

    /// The state at this instant, between the samples: the time, then [`QUEUE_NOW_COLUMNS`](crate::QUEUE_NOW_COLUMNS) for each recorded
    /// queue and [`FLOW_NOW_COLUMNS`](crate::FLOW_NOW_COLUMNS) for each flow; empty at the end of the run. To look changes nothing.
    pub fn state(&mut self) -> Vec<f64> {
        match &mut self.state {
            State::Running(running) => state(&self.plan, running.sim.now(), running.sim.view()),
            _ => Vec::new(),
        }
    }

    /// Takes the signals since the last call: rows of [`SIGNAL_COLUMNS`](crate::SIGNAL_COLUMNS). Beyond half a million the later ones
    /// are not among them.
    pub fn take_signals(&mut self) -> Vec<f64> {
        self.store_mut().map(Store::take_signals).unwrap_or_default()
    }

    /// Begins or ends to look at frames. Those of a run that is quick are too many to be drawn.
    pub fn look(&mut self, looks: bool) {
        if let State::Running(running) = &mut self.state {
            running.sim.probe_mut().looks = looks;
        }
    }

    /// Takes the frames that have left lines since the last call: rows of [`FRAME_COLUMNS`](crate::FRAME_COLUMNS). Beyond some
    /// thousands the later ones are not among them.
    pub fn take_frames(&mut self) -> Vec<f64> {
        self.store_mut().map(Store::take_frames).unwrap_or_default()
    }

    fn store_mut(&mut self) -> Option<&mut Store> {
        match &mut self.state {
            State::Running(running) => Some(running.sim.probe_mut()),
            State::Ended(ended) => Some(&mut ended.store),
            State::Ending => None,
        }
    }

    fn store(&self) -> Option<&Store> {
        match &self.state {
            State::Running(running) => Some(running.sim.probe()),
            State::Ended(ended) => Some(&ended.store),
            State::Ending => None,
        }
    }
}

/// Refuses to go on with more frames than a page holds.
fn check(sim: &Sim<Mixed, Store, Full>) -> Result<(), Refusal> {
    let at = sim.now().as_seconds();
    if sim.frames_held() > MOST_FRAMES {
        let message = format!("at {at} s there are more than {MOST_FRAMES} frames in the network");
        return Err(Refusal::new(message, "smaller buffers, or run it on the command line: penstock run"));
    }
    Ok(())
}
