//! The course of a run: the instants at which it is measured. They depend on no caller and on no slices.

use std::collections::VecDeque;

use penstock_scenario::Plan;
use penstock_schemes::{Instant, Scheme};
use penstock_sim::Model;
use penstock_sim::probe::Probe;
use penstock_sim::{Outcome, Sim};

use crate::summary::Measured;

/// A simulation whose scheme no longer matters: all that is asked of it between two slices.
pub trait Simulation {
    /// Handles events before `until`, no more than `work` of them; false if there is more to do.
    fn run_slice(&mut self, until: Instant, work: u64) -> bool;
    /// Simulated time.
    fn now(&self) -> Instant;
    /// Events handled.
    fn events(&self) -> u64;
    /// Frames in the network, or kept for others.
    fn frames_held(&self) -> usize;
    /// Whether every flow with a size has ended, in a run that is to last so long.
    fn is_over(&self) -> bool;
    /// The warm-up has ended.
    fn start_measuring(&mut self);
    /// A window of the plan opens.
    fn open_window(&mut self, window: usize);
    /// A window closes; its outcome, if it was open.
    fn close_window(&mut self, window: usize) -> Option<Outcome>;
}

impl<S: Scheme, P: Probe<S>, M: Model> Simulation for Sim<S, P, M> {
    fn run_slice(&mut self, until: Instant, work: u64) -> bool {
        self.run_slice(until, work)
    }

    fn now(&self) -> Instant {
        self.now()
    }

    fn events(&self) -> u64 {
        self.events()
    }

    fn frames_held(&self) -> usize {
        self.frames_held()
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn start_measuring(&mut self) {
        self.start_measuring();
    }

    fn open_window(&mut self, window: usize) {
        self.open_window(window);
    }

    fn close_window(&mut self, window: usize) -> Option<Outcome> {
        self.close_window(window)
    }
}

/// An occasion to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Occasion {
    Close(usize),
    WarmedUp,
    Open(usize),
    End,
}

/// The occasions of a run that are still to come, and the windows that were measured.
#[derive(Debug)]
pub struct Course {
    occasions: VecDeque<(Instant, Occasion)>,
    measured: Vec<Measured>,
}

impl Course {
    /// That of a run of `plan`: the end of its warm-up, its windows, its end.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut occasions = vec![(Instant::ZERO + plan.warmup, Occasion::WarmedUp)];
        for (window, spec) in plan.windows.iter().enumerate() {
            occasions.extend([(spec.time.start, Occasion::Open(window)), (spec.time.end, Occasion::Close(window))]);
        }
        occasions.sort_unstable();
        occasions.push((Instant::ZERO + plan.duration, Occasion::End));
        Self { occasions: occasions.into(), measured: Vec::new() }
    }

    /// The next occasion; `None` at the end of the run.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.occasions.front().map(|&(at, _)| at)
    }

    /// Measures on the next occasion, at which the simulation has arrived, or before which it was over or `stopped`. A run
    /// that was stopped closes the windows that it has opened, and opens no more.
    pub fn measure(&mut self, sim: &mut dyn Simulation, stopped: bool) {
        match self.occasions.pop_front().map(|(_, occasion)| occasion) {
            Some(Occasion::WarmedUp) => sim.start_measuring(),
            Some(Occasion::Open(window)) if !stopped && !sim.is_over() => sim.open_window(window),
            Some(Occasion::Close(window)) => {
                let closed = sim.close_window(window);
                self.measured.extend(closed.map(|outcome| Measured { window, until: sim.now(), outcome }));
            }
            Some(Occasion::Open(_) | Occasion::End) | None => {}
        }
    }

    /// The windows that have closed, in the plan's order.
    #[must_use]
    pub fn into_windows(mut self) -> Vec<Measured> {
        self.measured.sort_by_key(|measured| measured.window);
        self.measured
    }
}
