//! The probe of a run: its recorder; or, for one part of a network that is simulated in several, notes for the recorder of all.

use penstock_results::Simulation;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme, Signal};
use penstock_sim::network::{FlowId, PortId, QueueId};
use penstock_sim::probe::{FrameSeen, Probe, SignalSeen, View};
use penstock_sim::{Model, Outcome, Sim};

use crate::RunError;
use crate::recorder::{Recorder, Recording};

/// A simulation that a recorder watches.
pub(crate) trait Recorded: Simulation {
    fn rows_kept(&self) -> usize;
    fn has_failed(&self) -> bool;
    /// The work of the run has something to do that it did not have before.
    fn await_work(&mut self);
    fn finish(self: Box<Self>) -> Result<(Outcome, Recording), RunError>;
}

impl<S: Scheme, M: Model, const ARRIVALS: bool> Recorded for Sim<S, RunProbe<'_, ARRIVALS>, M> {
    fn rows_kept(&self) -> usize {
        self.probe().recorder().map_or(0, Recorder::rows_kept)
    }

    fn has_failed(&self) -> bool {
        self.probe().recorder().is_some_and(Recorder::has_failed)
    }

    fn await_work(&mut self) {
        self.await_work();
    }

    fn finish(self: Box<Self>) -> Result<(Outcome, Recording), RunError> {
        let (outcome, watcher) = (*self).finish();
        Ok((outcome, watcher.into_recorder().finish()?))
    }
}

/// The recorder, or the notes of a part. One type for both: the engine is compiled once.
#[derive(Debug)]
pub(crate) enum RunProbe<'p, const ARRIVALS: bool> {
    Recorder(Box<Recorder<'p, ARRIVALS>>),
    Notes(Notes),
}

/// The signals that sources of a part have received, until they are recorded.
#[derive(Debug)]
pub(crate) struct Notes {
    /// Distance of samples.
    interval: Duration,
    /// Whether signals are recorded at all, and how many variables each has.
    signals: bool,
    columns: usize,
    noted: Vec<Noted>,
    /// The variables of all of them.
    vars: Vec<i64>,
}

/// A signal that has reached a source.
#[derive(Debug, Clone, Copy)]
struct Noted {
    at: Instant,
    over: Option<PortId>,
    flow: FlowId,
    origin: Option<QueueId>,
    rate: BitRate,
}

impl<'p, const ARRIVALS: bool> RunProbe<'p, ARRIVALS> {
    /// The notes, if it takes any.
    pub(crate) fn notes(&mut self) -> Option<&mut Notes> {
        if let Self::Notes(notes) = self { Some(notes) } else { None }
    }

    /// The recorder.
    ///
    /// # Panics
    /// If it takes notes.
    pub(crate) fn into_recorder(self) -> Recorder<'p, ARRIVALS> {
        let Self::Recorder(recorder) = self else { unreachable!("the recorder of a run in parts is apart from them") };
        *recorder
    }

    /// The recorder of the whole network, if it is one.
    pub(crate) fn recorder(&self) -> Option<&Recorder<'p, ARRIVALS>> {
        if let Self::Recorder(recorder) = self { Some(recorder) } else { None }
    }
}

impl Notes {
    pub(crate) fn new(interval: Duration, signals: bool, columns: usize) -> Self {
        Self { interval, signals, columns, noted: Vec::new(), vars: Vec::new() }
    }

    /// Hands the notes of all parts of a network to its recorder, in the order in which one part would have seen the signals.
    pub(crate) fn record<const ARRIVALS: bool>(
        all: &mut [&mut Self],
        recorder: &mut Recorder<'_, ARRIVALS>,
    ) -> Result<(), RunError> {
        let mut order: Vec<(Instant, Option<PortId>, usize, usize)> = Vec::new();
        for (part, notes) in all.iter().enumerate() {
            order.extend(notes.noted.iter().enumerate().map(|(place, noted)| (noted.at, noted.over, part, place)));
        }
        order.sort_unstable();
        for (_, _, part, place) in order {
            let Self { columns, noted, vars, .. } = &*all[part];
            let Noted { at, flow, origin, rate, .. } = noted[place];
            let own = &vars[place * columns..(place + 1) * columns];
            recorder.write_signal(at, flow, origin, rate, |row| row.copy_from_slice(own))?;
        }
        for notes in all {
            notes.noted.clear();
            notes.vars.clear();
        }
        Ok(())
    }
}

impl<S: Scheme, const ARRIVALS: bool> Probe<S> for RunProbe<'_, ARRIVALS> {
    const ARRIVALS: bool = ARRIVALS;

    fn sees_arrivals(&self) -> bool {
        match self {
            Self::Recorder(recorder) => Probe::<S>::sees_arrivals(&**recorder),
            Self::Notes(_) => false,
        }
    }

    fn interval(&self) -> Option<Duration> {
        match self {
            Self::Recorder(recorder) => Probe::<S>::interval(&**recorder),
            Self::Notes(notes) => Some(notes.interval),
        }
    }

    fn sample(&mut self, now: Instant, view: &impl View<S>) {
        if let Self::Recorder(recorder) = self {
            recorder.sample(now, view);
        }
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, S>) {
        match self {
            Self::Recorder(recorder) => recorder.signal(now, seen),
            Self::Notes(notes) if notes.signals => {
                let &SignalSeen { flow, origin, over, rate, signal } = seen;
                notes.noted.push(Noted { at: now, over, flow, origin, rate });
                let before = notes.vars.len();
                notes.vars.resize(before + notes.columns, 0);
                signal.vars(&mut notes.vars[before..]);
            }
            Self::Notes(_) => {}
        }
    }

    fn captured_ports(&self) -> &[PortId] {
        match self {
            Self::Recorder(recorder) => Probe::<S>::captured_ports(&**recorder),
            Self::Notes(_) => &[],
        }
    }

    fn frame(&mut self, seen: &FrameSeen<'_, S>) {
        if let Self::Recorder(recorder) = self {
            recorder.frame(seen);
        }
    }

    fn arrival(&mut self, now: Instant, queue: QueueId, flow: FlowId, len: Octets, dropped: bool) {
        if let Self::Recorder(recorder) = self {
            Probe::<S>::arrival(&mut **recorder, now, queue, flow, len, dropped);
        }
    }
}
