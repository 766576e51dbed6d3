//! Drives the engine through a plan, in slices, and puts the result together.
#![allow(clippy::disallowed_types, reason = "how long a run takes and when to report is a matter of the wall clock")]

use std::ops::ControlFlow;
use std::time::{Duration as WallDuration, Instant as WallInstant};

use penstock_scenario::Plan;
use penstock_schemes::{Duration, Instant, Scheme, SchemeConfig, Visitor};
use penstock_sim::Sim;

use crate::folder::{self, Folder, Holds};
use crate::memory::{self, Memory};
use crate::recorder::Recorder;
use crate::rows::flow_table;
use crate::sink::Sink;
use crate::summary::{Course, Measured, Summary, flow_rows};
use crate::tables::Table;
use crate::{Options, Progress, Run, RunError, Store};

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
    let folder = options.out.as_deref().map(|path| Folder::create(path, options.force, Holds::Results)).transpose()?;
    SchemeConfig::visit(&plan.configs(), Job { plan, folder, clock: Clock::new(plan, options, observer) })
}

/// A run, waiting for its scheme's type.
struct Job<'a> {
    plan: &'a Plan,
    folder: Option<Folder>,
    clock: Clock<'a>,
}

impl Visitor for Job<'_> {
    type Output = Result<Run, RunError>;

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        // Two engines for each scheme: a lean one, and one for whatever costs time at every hop.
        let full = self.plan.record.arrivals || self.plan.network.pfc.is_some();
        if full { self.run::<S, true>(configs) } else { self.run::<S, false>(configs) }
    }
}

impl Job<'_> {
    fn run<S: Scheme, const FULL: bool>(mut self, configs: &[S::Config]) -> Result<Run, RunError> {
        let plan = self.plan;
        let recorder = match &self.folder {
            Some(folder) => Recorder::<FULL>::in_folder::<S>(plan, folder)?,
            None => Recorder::<FULL>::in_memory::<S>(plan),
        };
        memory::check_network(plan)?;
        let mut sim = Sim::<S, _, FULL>::new(&plan.network, configs, plan.seed, recorder);
        let (ended, windows) = self.measure(&mut sim);
        if let Some(error) = self.clock.failure.take() {
            return Err(error);
        }
        let course = Course { end: sim.now(), interrupted: ended.is_break(), wall_s: self.clock.wall().as_secs_f64() };
        let (outcome, recorder) = sim.finish();
        let recorded = recorder.finish()?;
        let summary = Summary::new(plan, &outcome, &windows, &recorded.settling, &course);

        let schema = Table::Flows.schema::<S>(plan.network.pfc.is_some());
        let mut flows = match &self.folder {
            Some(folder) => Sink::file(folder.file(&Table::Flows.file_name()), schema.clone())?,
            None => Sink::memory(schema.clone()),
        };
        flows.write(flow_table(schema, &flow_rows(plan, &outcome, &recorded.settling, &course)))?;
        let flows = flows.close()?.map(|records| (Table::Flows, records));

        let Some(folder) = self.folder else {
            let mut tables: Vec<_> = recorded.tables.into_iter().chain(flows).collect();
            tables.sort_by_key(|&(table, _)| table);
            let tables = tables.into_iter().map(|(table, records)| (table, Store::Memory(records))).collect();
            return Ok(Run { summary, scenario: plan.resolved.clone(), path: None, tables });
        };
        folder.write(folder::SCENARIO, &plan.resolved)?;
        folder.write(folder::SUMMARY, &summary.to_json())?;
        crate::open(&folder.publish()?)
    }
}

/// An occasion to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Occasion {
    Close(usize),
    WarmedUp,
    Open(usize),
}

impl Job<'_> {
    /// Lets `sim` run to its end, if nothing stops it, and measures on the way: the whole run, and the plan's windows.
    fn measure<S: Scheme, const FULL: bool>(
        &mut self,
        sim: &mut Sim<S, Recorder<'_, FULL>, FULL>,
    ) -> (ControlFlow<()>, Vec<Measured>) {
        let plan = self.plan;
        let mut occasions = vec![(Instant::ZERO + plan.warmup, Occasion::WarmedUp)];
        for (window, spec) in plan.windows.iter().enumerate() {
            occasions.extend([(spec.time.start, Occasion::Open(window)), (spec.time.end, Occasion::Close(window))]);
        }
        occasions.sort_unstable();
        let mut measured = Vec::new();
        let mut ended = ControlFlow::Continue(());
        for (at, occasion) in occasions {
            if ended.is_continue() {
                ended = self.clock.advance(sim, at);
            }
            // A run that was stopped closes what it has opened, and opens no more.
            match occasion {
                Occasion::WarmedUp => sim.start_measuring(),
                Occasion::Open(window) if ended.is_continue() => sim.open_window(window),
                Occasion::Open(_) => {}
                Occasion::Close(window) => {
                    let closed = sim.close_window(window);
                    measured.extend(closed.map(|outcome| Measured { window, until: sim.now(), outcome }));
                }
            }
        }
        if ended.is_continue() {
            ended = self.clock.advance(sim, Instant::ZERO + plan.duration);
        }
        measured.sort_by_key(|measured| measured.window);
        (ended, measured)
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
    /// Why the run cannot go on.
    failure: Option<RunError>,
}

impl<'a> Clock<'a> {
    fn new(plan: &Plan, options: &Options, observer: Observer<'a>) -> Self {
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
            failure: None,
        }
    }

    /// Lets `sim` run until `end`, or until the observer breaks off or a record cannot be written.
    fn advance<S: Scheme, const FULL: bool>(
        &mut self,
        sim: &mut Sim<S, Recorder<'_, FULL>, FULL>,
        end: Instant,
    ) -> ControlFlow<()> {
        let mut until = self.slice_end(sim.now(), end);
        while sim.now() < end {
            let slice_started = WallInstant::now();
            let done = sim.run_slice(until, self.work);
            self.failure = self.memory.check(sim.now(), sim.frames_held(), sim.probe().rows_kept()).err();
            if self.failure.is_some() || sim.probe().has_failed() {
                return ControlFlow::Break(());
            }
            let now = WallInstant::now();
            self.work = adapted(self.work, now - slice_started);
            let whole = sim.now().since(Instant::ZERO) >= self.duration;
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
