//! A run that a program drives: it sends messages and sets alarms, and takes what happens, one event after the other.
//!
//! Between two calls time stands still, at the last event that was taken.
#![allow(clippy::disallowed_types, reason = "how long a run takes is a matter of the wall clock")]

use std::path::Path;
use std::time::Instant as WallInstant;

use penstock_results::Course;
use penstock_results::completions::Ending;
use penstock_scenario::{Event, Outside, Plan};
use penstock_schemes::{Duration, Instant};

use crate::drive::{Build, Ended, all_configs, conclude, simulation};
use crate::folder::{Folder, Holds};
use crate::foreign::Foreigners;
use crate::memory::Memory;
use crate::probe::Recorded;
use crate::tables::SchemeVars;
use crate::{Run, RunError};

/// Work between two looks at the memory, in events.
const SLICE: u64 = 1 << 15;

/// A run that a program drives.
pub struct Driven<'p> {
    plan: &'p Plan,
    vars: SchemeVars,
    folder: Option<Folder>,
    sim: Box<dyn Recorded + 'p>,
    outside: Outside,
    course: Course,
    memory: Memory,
    foreigners: Foreigners,
    began: WallInstant,
}

/// What comes next in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Something has happened, at the time that the run now has.
    Event(Event),
    /// Nothing is under way: time stands still until the program sends a message or sets an alarm.
    Idle,
    /// The scenario's duration has passed.
    End,
}

impl<'p> Driven<'p> {
    /// The run of `plan` at time zero. Its results go to the folder `out`, or without one into memory; `force` lets it
    /// replace an older one. `None` if no job of the plan has its messages from outside.
    ///
    /// # Errors
    /// If the folder exists or cannot be written, or if there is not enough memory.
    pub fn new(plan: &'p Plan, out: Option<&Path>, force: bool) -> Result<Option<Self>, RunError> {
        let Some((outside, work)) = plan.generated.outside(&plan.network) else { return Ok(None) };
        let folder = out.map(|path| Folder::create(path, force, Holds::Results)).transpose()?;
        let configs = all_configs(plan);
        let vars = SchemeVars::of_configs(&configs);
        let (folder_of_tables, work) = (folder.as_ref(), Some(work));
        let build = Build { plan, vars: &vars, folder: folder_of_tables, capture: &[], partition: None, work };
        let sim = simulation(&configs, build)?;
        let (course, memory) = (Course::new(plan), Memory::new(plan.limits));
        let (foreigners, began) = (Foreigners::new(&configs), WallInstant::now());
        Ok(Some(Self { plan, vars, folder, sim, outside, course, memory, foreigners, began }))
    }

    /// Simulated time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.sim.now()
    }

    /// The name of each rank's host.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = &'p str> {
        let names = &self.plan.node_names;
        self.outside.hosts().to_vec().into_iter().map(|host| names[host].as_str())
    }

    /// Sends the message `id` now.
    ///
    /// # Errors
    /// A sentence, if the run has ended, or as [`Outside::send`].
    pub fn send(&mut self, from: u32, to: u32, octets: u64, id: u64) -> Result<(), String> {
        self.check_open()?;
        self.outside.send(from, to, octets, id)?;
        self.sim.await_work();
        Ok(())
    }

    /// Sets the alarm `id`, for `delay` from now.
    ///
    /// # Errors
    /// A sentence, if the run has ended, or as [`Outside::schedule`].
    pub fn schedule(&mut self, delay: Duration, id: u64) -> Result<(), String> {
        self.check_open()?;
        self.outside.schedule(self.now(), delay, id)?;
        self.sim.await_work();
        Ok(())
    }

    /// Goes on to the next event and takes it.
    ///
    /// # Errors If a table cannot be written, if more frames or rows are held than the limits allow, or if a foreign
    /// scheme breaks a rule.
    pub fn next_event(&mut self) -> Result<Next, RunError> {
        loop {
            if let Some(event) = self.outside.take() {
                return Ok(Next::Event(event));
            }
            if !self.outside.waits() {
                return Ok(if self.course.next().is_none() { Next::End } else { Next::Idle });
            }
            let Some(stop) = self.course.next() else { return Ok(Next::End) };
            let arrived = self.sim.run_slice(stop, SLICE);
            self.memory.check(self.sim.now(), self.sim.frames_held(), self.sim.rows_kept())?;
            self.foreigners.fault(self.sim.now()).map_or(Ok(()), Err)?;
            if self.sim.has_failed() {
                // The error is that of the recorder.
                return Ok(Next::End);
            }
            if arrived {
                self.course.measure(&mut *self.sim, false);
            }
        }
    }

    /// Ends the run where it is, and gives its result. Messages that have not ended stay so.
    ///
    /// # Errors
    /// If its files cannot be written.
    pub fn finish(mut self) -> Result<Run, RunError> {
        while self.course.next().is_some() {
            self.course.measure(&mut *self.sim, true);
        }
        let end = self.sim.now();
        let over = end < Instant::ZERO + self.plan.duration;
        let wall_s = self.began.elapsed().as_secs_f64();
        let ending = Ending { end, interrupted: false, over, wall_s };
        let (outcome, recorded) = self.sim.finish()?;
        let ended = Ended { outcome, windows: self.course.into_windows(), recorded, ending, testbed: None };
        conclude(self.plan, self.folder, &self.vars, ended)
    }

    /// Whether the scenario's duration has passed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.course.next().is_none()
    }

    /// Refuses a call after the end.
    fn check_open(&self) -> Result<(), String> {
        if !self.has_ended() {
            return Ok(());
        }
        Err(format!("the run has ended at its duration of {}: a longer duration in the scenario", self.plan.duration))
    }
}
