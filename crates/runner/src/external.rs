//! Results that were measured elsewhere than in the simulator: in the same tables, with the same summary.

use std::path::Path;

use penstock_results::completions::Ending;
use penstock_results::summary::TestbedSummary;
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Instant, Scheme};
use penstock_sim::Outcome;
use penstock_sim::network::{FlowId, QueueId};
use penstock_sim::probe::{FlowNow, QueueNow};

use crate::drive::{Ended, conclude};
use crate::folder::{Folder, Holds};
use crate::recorder::Recorder;
use crate::tables::SchemeVars;
use crate::{Run, RunError};

/// Takes the samples of a run that something else has made, in order of time.
#[derive(Debug)]
pub struct Collector<'p> {
    plan: &'p Plan,
    vars: SchemeVars,
    folder: Option<Folder>,
    recorder: Recorder<'p, false>,
}

/// The end of such a run.
#[derive(Debug)]
pub struct End {
    /// Its counts and measures, under the plan's indices.
    pub outcome: Outcome,
    /// The network's time that was reached.
    pub end: Instant,
    /// Time on the machine's clock, s.
    pub wall_s: f64,
    /// How well time was kept.
    pub testbed: TestbedSummary,
}

impl<'p> Collector<'p> {
    /// For a run of `plan` under scheme `S`, which must be the plan's. Its results go to folder `out`, or without one into memory.
    ///
    /// # Errors
    /// If the folder exists and may not be replaced (`force`), or cannot be written.
    pub fn new<S: Scheme>(plan: &'p Plan, out: Option<&Path>, force: bool) -> Result<Self, RunError> {
        let folder = out.map(|path| Folder::create(path, force, Holds::Results)).transpose()?;
        let vars = SchemeVars::of::<S>();
        let recorder = Recorder::new(plan, &vars, folder.as_ref())?;
        Ok(Self { plan, vars, folder, recorder })
    }

    /// A sample of the `i`-th recorded queue, with its congestion point's variables.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn queue(&mut self, now: Instant, i: usize, state: QueueNow, vars: Option<&[i64]>) -> Result<(), RunError> {
        self.recorder.write_queue(now, i, state, vars.map(|vars| |row: &mut [i64]| copy(row, vars)))
    }

    /// When each flow with a size ended, if it has: before the flows' samples of an instant.
    pub fn look_for_ends(&mut self, ended: impl Fn(FlowId) -> Option<Instant>) {
        self.recorder.look_for_ends(ended);
    }

    /// A sample of a flow, with its reaction point's variables.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn flow(&mut self, now: Instant, flow: usize, state: FlowNow, vars: Option<&[i64]>) -> Result<(), RunError> {
        self.recorder.write_flow(now, flow, state, vars.map(|vars| |row: &mut [i64]| copy(row, vars)))
    }

    /// All samples of `now` have been handed over.
    pub fn end_sample(&mut self, now: Instant) {
        self.recorder.end_sample(now);
    }

    /// A signal that has reached the source of `flow` from the congestion point of `origin`, and the rate allowed after it.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn signal(
        &mut self,
        now: Instant,
        flow: usize,
        origin: Option<QueueId>,
        rate: BitRate,
        vars: &[i64],
    ) -> Result<(), RunError> {
        self.recorder.write_signal(now, FlowId(flow as u32), origin, rate, |row| copy(row, vars))
    }

    /// The run has ended: its results are written.
    ///
    /// # Errors
    /// If they cannot be.
    pub fn finish(self, end: End) -> Result<Run, RunError> {
        let recorded = self.recorder.finish()?;
        let interrupted = end.end < Instant::ZERO + self.plan.duration;
        let ending = Ending { end: end.end, interrupted, over: false, wall_s: end.wall_s };
        let testbed = Some(end.testbed);
        let ended = Ended { outcome: end.outcome, windows: Vec::new(), recorded, ending, testbed };
        conclude(self.plan, self.folder, &self.vars, ended)
    }
}

/// Fills a row; values that are missing are 0.
fn copy(row: &mut [i64], vars: &[i64]) {
    for (place, value) in row.iter_mut().zip(vars) {
        *place = *value;
    }
}
