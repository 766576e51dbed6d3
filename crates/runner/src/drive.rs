//! Drives the engine through a plan, in slices, and puts the result together.
//!
//! The engine is compiled for each scheme, with and without the features that cost time at every hop. All else exists
//! once: it sees a [`Simulation`].
#![allow(clippy::disallowed_types, reason = "how long a run takes and when to report is a matter of the wall clock")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration as WallDuration, Instant as WallInstant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use penstock_results::completions::{Ending, are_reported, completions};
use penstock_results::summary::{Measured, TestbedSummary, flow_rows};
use penstock_results::{Course, Summary};
use penstock_scenario::Plan;
use penstock_schemes::{Duration, Instant, Scheme, SchemeConfig, Visitor};
use penstock_sim::network::{NodeId, PortId, Work};
use penstock_sim::{Full, Lean, Model, Outcome, Partition, Reconfiguration, Sim};

use crate::capture::{Capture, Frames};
use crate::completions;
use crate::folder::{self, Folder, Holds};
use crate::foreign::Foreigners;
use crate::jobs;
use crate::memory::{self, Memory};
use crate::parallel_run::ParallelRun;
use crate::probe::{Notes, Recorded, RunProbe};
use crate::recorder::{Recorder, Recording};
use crate::rows::{ROWS_PER_BLOCK, flow_table};
use crate::sink::{Records, Sink};
use crate::tables::{SchemeVars, Table};
use crate::{Options, Progress, Run, RunError, Store, threads};

/// Called between slices.
type Observer<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// Between two reports to the observer.
const REPORT: WallDuration = WallDuration::from_millis(100);
/// A slice that takes less is too short: the next one does twice as much.
const SHORT: WallDuration = WallDuration::from_millis(10);
/// A slice that takes more is too long: the next one does half as much.
const LONG: WallDuration = WallDuration::from_millis(40);
/// Work of the first slice, in events, and the most of any. More would save nothing, and events may become slower.
const FIRST: u64 = 1 << 10;
const MOST: u64 = 1 << 15;

pub(crate) fn run(plan: &Plan, options: &Options, observer: Observer<'_>) -> Result<Run, RunError> {
    // The folder first: a name that is taken is to be known before the work, not after it.
    if options.out.is_none() && !options.capture.is_empty() {
        return Err(RunError::NoFolder);
    }
    let folder = options.out.as_deref().map(|path| Folder::create(path, options.force, Holds::Results)).transpose()?;
    let (threading, partition) = threads::choose(plan, options.threads, !options.capture.is_empty());
    let configs = all_configs(plan);
    let vars = SchemeVars::of_configs(&configs);
    let clock = Clock::new(plan, options, observer, Foreigners::new(&configs));
    let (capture, work) = (&options.capture[..], plan.generated.work().filter(|_| partition.is_none()));
    let sim = simulation(&configs, Build { plan, vars: &vars, folder: folder.as_ref(), capture, partition, work })?;
    let mut run = Job { plan, folder, clock }.run(sim, &vars)?;
    run.threading = Some(threading);
    Ok(run)
}

/// The parameters of a plan's schemes, and those that its changes set: they are of the same types.
pub(crate) fn all_configs(plan: &Plan) -> Vec<SchemeConfig> {
    plan.configs().into_iter().chain(plan.settings().into_iter().map(|setting| setting.config)).collect()
}

/// The simulation of a plan before its start. `configs` are [all](all_configs) of its parameters.
pub(crate) fn simulation<'a>(
    configs: &[SchemeConfig],
    build: Build<'a, '_>,
) -> Result<Box<dyn Recorded + 'a>, RunError> {
    // The tests of this crate's parts would compile each engine once more, in half a minute.
    if cfg!(test) {
        unreachable!("whole runs are tested in tests/runner");
    }
    SchemeConfig::visit_engine(configs, build)
}

/// A simulation, waiting for its scheme's type.
pub(crate) struct Build<'a, 'b> {
    pub(crate) plan: &'a Plan,
    pub(crate) vars: &'b SchemeVars,
    pub(crate) folder: Option<&'b Folder>,
    /// The ports whose frames are captured.
    pub(crate) capture: &'a [PortId],
    /// The parts of the network, if it is simulated in several.
    pub(crate) partition: Option<Arc<Partition>>,
    /// The work of a network that is simulated as a whole.
    pub(crate) work: Option<Box<dyn Work>>,
}

impl<'a> Visitor for Build<'a, '_> {
    type Output = Result<Box<dyn Recorded + 'a>, RunError>;

    fn visit<S: Scheme>(mut self, configs: &[S::Config]) -> Self::Output {
        let (configs, changed) = configs.split_at(self.plan.configs().len());
        // Two engines for each scheme: a lean one, and one with the features that cost time at every hop.
        let network = &self.plan.network;
        let full = network.needs_flow_control()
            || self.plan.record.arrivals
            || self.plan.record.percentiles
            || self.work.as_ref().is_some_and(|work| work.wants_acknowledgements())
            || !self.capture.is_empty();
        memory::check_network(self.plan, self.partition.as_ref().map_or(1, |partition| partition.parts()))?;
        let folder_of_capture = self.folder.filter(|_| !self.capture.is_empty());
        let frames = |folder| Capture::new(self.plan, Frames::new::<S>(self.plan, configs), self.capture, folder);
        let capture = folder_of_capture.map(frames).transpose()?;
        if full {
            self.simulation::<S, Full, true>(configs, changed, capture)
        } else {
            self.simulation::<S, Lean, false>(configs, changed, None)
        }
    }
}

impl<'a> Build<'a, '_> {
    /// The simulation before its start, on one thread or several. `changed` are the parameters of the plan's changes.
    fn simulation<S: Scheme, M: Model, const ARRIVALS: bool>(
        &mut self,
        configs: &[S::Config],
        changed: &[S::Config],
        capture: Option<Capture<'a>>,
    ) -> Result<Box<dyn Recorded + 'a>, RunError> {
        let &mut Self { plan, vars, folder, .. } = self;
        let kept: &[_] = if plan.record.percentiles { &plan.record.queues } else { &[] };
        let recorder = Recorder::<ARRIVALS>::new(plan, vars, folder)?.capturing(capture);
        let settings = || {
            let changes = plan.settings().into_iter().zip(changed);
            changes.map(|(change, config)| Reconfiguration {
                at: change.at,
                priority: change.priority,
                line: change.line,
                config: config.clone(),
            })
        };
        let Some(partition) = &self.partition else {
            let watcher = RunProbe::Recorder(Box::new(recorder));
            let mut sim = Sim::<S, _, M>::new(&plan.network, configs, plan.seed, watcher);
            sim.feed(plan.generated.arrivals());
            self.work.take().into_iter().for_each(|work| sim.employ(work));
            sim.keep_histograms(kept);
            sim.configure(&plan.network, plan.seed, settings().collect());
            return Ok(Box::new(sim));
        };
        let part = |own| {
            let notes = Notes::new(plan.record.interval, plan.record.signals, vars.signal.len());
            let watcher = RunProbe::<ARRIVALS>::Notes(notes);
            let mut sim = Sim::<S, _, M>::part(&plan.network, configs, plan.seed, watcher, partition, own);
            sim.feed(plan.generated.arrivals());
            let has = |node: usize| partition.of_node(NodeId(node as u32)) == own;
            plan.generated.work_of_hosts(has).into_iter().for_each(|work| sim.employ(work));
            sim.keep_histograms(kept);
            sim.configure(&plan.network, plan.seed, settings().collect());
            sim
        };
        let parts = (0..partition.parts()).map(part).collect();
        let until_complete = plan.network.until_complete;
        Ok(Box::new(ParallelRun::new(parts, Arc::clone(partition), recorder, until_complete)))
    }
}

/// A run until its end.
struct Job<'a> {
    plan: &'a Plan,
    folder: Option<Folder>,
    clock: Clock<'a>,
}

impl Job<'_> {
    fn run(mut self, mut sim: Box<dyn Recorded + '_>, vars: &SchemeVars) -> Result<Run, RunError> {
        let plan = self.plan;
        let (ended, windows) = self.measure(&mut *sim);
        if let Some(error) = self.clock.failure.take() {
            return Err(error);
        }
        let ending = Ending {
            end: sim.now(),
            interrupted: ended.is_break(),
            over: ended.is_continue() && sim.now() < Instant::ZERO + plan.duration,
            wall_s: self.clock.wall().as_secs_f64(),
        };
        let (outcome, recorded) = sim.finish()?;
        conclude(plan, self.folder, vars, Ended { outcome, windows, recorded, ending, testbed: None })
    }
}

/// A run that has ended, before its results are whole.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) windows: Vec<Measured>,
    pub(crate) recorded: Recording,
    pub(crate) ending: Ending,
    /// Of a run on the testbed.
    pub(crate) testbed: Option<TestbedSummary>,
}

/// Writes the tables of the end and the summary, and gives the folder its name.
pub(crate) fn conclude(plan: &Plan, folder: Option<Folder>, vars: &SchemeVars, ended: Ended) -> Result<Run, RunError> {
    let Ended { outcome, windows, recorded, ending, testbed } = ended;
    let mut summary = Summary::new(plan, &outcome, &windows, &recorded.settling, &ending);
    if testbed.is_some() {
        // The testbed does not count actions.
        (summary.acted, summary.actions) = (None, None);
    }
    summary.testbed = testbed;

    let schema = Table::Flows.schema(vars, plan.network.pfc.is_some());
    let mut flows = Sink::new(Table::Flows, schema.clone(), folder.as_ref())?;
    flows.write(flow_table(schema, &flow_rows(plan, &outcome, &recorded.settling, &ending)))?;
    let flows = flows.close()?.map(|records| (Table::Flows, records));
    let whose = (plan, folder.as_ref(), vars);
    let (mut jobs, mut paths, mut links, mut completed) = (None, None, None, None);
    if !outcome.jobs.is_empty() {
        jobs = write_blocks(Table::Jobs, whose, penstock_results::jobs::rows(plan, &outcome), jobs::table)?;
        paths = write_blocks(Table::Paths, whose, penstock_results::paths::rows(plan, &outcome), jobs::path_table)?;
        links =
            write_blocks(Table::Links, whose, penstock_results::paths::link_rows(plan, &outcome), jobs::link_table)?;
    }
    if are_reported(plan) {
        let rows = completions(plan, &outcome, &ending);
        completed =
            write_blocks(Table::Completions, whose, rows, |schema, block| completions::table(schema, plan, block))?;
    }

    let Some(folder) = folder else {
        let mut tables: Vec<_> = recorded.tables.into_iter().chain(flows).chain(completed).collect();
        tables.extend(jobs.into_iter().chain(paths).chain(links));
        tables.sort_by_key(|&(table, _)| table);
        let tables = tables.into_iter().map(|(table, records)| (table, Store::Memory(records))).collect();
        return Ok(Run { summary, scenario: plan.resolved.clone(), path: None, tables, threading: None });
    };
    folder.write(folder::SCENARIO, &plan.resolved)?;
    folder.write(folder::SUMMARY, &summary.to_json())?;
    // The folder that was just written is not read again: the summary of many flows takes longer to read than to write.
    Ok(Run::kept(summary, plan.resolved.clone(), folder.publish()?))
}

/// Writes a table whose rows are made one after the other, block by block.
fn write_blocks<R>(
    table: Table,
    (plan, folder, vars): (&Plan, Option<&Folder>, &SchemeVars),
    mut rows: impl Iterator<Item = R>,
    block_of: impl Fn(SchemaRef, &[R]) -> RecordBatch,
) -> Result<Option<(Table, Records)>, RunError> {
    let schema = table.schema(vars, plan.network.pfc.is_some());
    let mut sink = Sink::new(table, schema.clone(), folder)?;
    loop {
        let block: Vec<R> = rows.by_ref().take(ROWS_PER_BLOCK).collect();
        if block.is_empty() {
            break;
        }
        sink.write(block_of(schema.clone(), &block))?;
    }
    Ok(sink.close()?.map(|records| (table, records)))
}

impl Job<'_> {
    /// Runs `sim` to its end, unless it is interrupted, and measures the whole run and the plan's windows.
    fn measure(&mut self, sim: &mut dyn Recorded) -> (ControlFlow<()>, Vec<Measured>) {
        let mut course = Course::new(self.plan);
        let mut ended = ControlFlow::Continue(());
        while let Some(at) = course.next() {
            if ended.is_continue() {
                ended = self.clock.advance(sim, at);
            }
            course.measure(sim, ended.is_break());
        }
        (ended, course.into_windows())
    }
}

/// Cuts the run into slices, short enough for smooth progress and quick stops, and reports between them.
struct Clock<'a> {
    observer: Observer<'a>,
    duration: Duration,
    started: WallInstant,
    reported: WallInstant,
    /// Work of a slice, in events.
    work: u64,
    /// Simulated time after which a slice ends in any case, and is reported.
    slice: Option<Duration>,
    memory: Memory,
    foreigners: Foreigners,
    /// Why the run cannot go on.
    failure: Option<RunError>,
}

impl<'a> Clock<'a> {
    fn new(plan: &Plan, options: &Options, observer: Observer<'a>, foreigners: Foreigners) -> Self {
        let now = WallInstant::now();
        let slice = options.slice.map(|slice| Duration(slice.0.max(1)));
        Self {
            observer,
            duration: plan.duration,
            started: now,
            reported: now,
            work: FIRST,
            slice,
            memory: Memory::new(plan.limits),
            foreigners,
            failure: None,
        }
    }

    /// Lets `sim` run until `end`, or until the observer breaks off or a record cannot be written.
    fn advance(&mut self, sim: &mut dyn Recorded, end: Instant) -> ControlFlow<()> {
        let mut until = self.slice_end(sim.now(), end);
        while sim.now() < end && !sim.is_over() {
            let slice_started = WallInstant::now();
            let done = sim.run_slice(until, self.work);
            self.failure = self.memory.check(sim.now(), sim.frames_held(), sim.rows_kept()).err();
            self.failure = self.failure.take().or_else(|| self.foreigners.fault(sim.now()));
            if self.failure.is_some() || sim.has_failed() {
                return ControlFlow::Break(());
            }
            let now = WallInstant::now();
            self.work = adapted(self.work, now - slice_started);
            let whole = sim.now().since(Instant::ZERO) >= self.duration || sim.is_over();
            let due = done && self.slice.is_some();
            if done {
                until = self.slice_end(sim.now(), end);
            }
            if due || whole || now - self.reported >= REPORT {
                self.reported = now;
                let wall = now - self.started;
                let progress = Progress { now: sim.now(), duration: self.duration, events: sim.events(), wall };
                let flow = (self.observer)(&progress);
                // A whole run cannot be stopped any more.
                if !whole {
                    flow?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn slice_end(&self, now: Instant, end: Instant) -> Instant {
        self.slice.map_or(end, |slice| (now + slice).min(end))
    }

    fn wall(&self) -> WallDuration {
        self.started.elapsed()
    }
}

/// The work of the next slice, after one of `work` took `wall`.
fn adapted(work: u64, wall: WallDuration) -> u64 {
    if wall < SHORT {
        (work * 2).min(MOST)
    } else if wall > LONG {
        (work / 2).max(1)
    } else {
        work
    }
}
