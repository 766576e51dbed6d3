//! One run on many threads: each has a part of the network (`penstock_sim::parallel`), and one recorder sees all of them.
//!
//! ```text
//!   thread 0:  events of its part, to the end of the window | mail | meet | import | next window
//!   thread 1:  events of its part, to the end of the window | mail | meet | import | next window
//! ```
//!
//! In a run that ends when all jobs have, a part whose jobs have ended waits there in the midst of the window. When all wait, the
//! latest of these times is the end of the run, and nobody is beyond it. Otherwise they go on.
//!
//! A window is as long as the least delay of a line between two parts, so that a frame from one part to another arrives
//! in a later one. Threads live for a slice: between two slices the parts lie still, and the run is measured, reported
//! and stopped as on one thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_results::Simulation;
use penstock_schemes::{Instant, Scheme};
use penstock_sim::{CombinedView, Model, Outcome, Partition, RemoteFrames, Sim, Stop};

use crate::RunError;
use crate::barrier::{Barrier, Guard};
use crate::probe::{Notes, Recorded, RunProbe};
use crate::recorder::{Recorder, Recording};

/// Work of a slice, in slices of a run on one thread: threads take a while to start.
const LONGER: u64 = 32;

type Part<'p, S, M, const ARRIVALS: bool> = Sim<S, RunProbe<'p, ARRIVALS>, M>;

/// A run in parts.
pub(crate) struct ParallelRun<'p, S: Scheme, M: Model, const ARRIVALS: bool> {
    parts: Vec<Mutex<Part<'p, S, M, ARRIVALS>>>,
    partition: Arc<Partition>,
    /// For each part the mail for each other one: that of the windows with even numbers, and that of the others.
    mail: [Vec<Vec<Mutex<RemoteFrames<S>>>>; 2],
    recorder: Mutex<Recorder<'p, ARRIVALS>>,
    /// The run ends when all jobs have, and when they have.
    until_complete: bool,
    ended_at: Option<Instant>,
}

/// What a thread does with a window that its part is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It runs to the end, or to the next stop.
    Run,
    /// It waits for others to come to the sample at which it stands.
    Wait,
    /// It has come to the end.
    End,
    /// The run ends at that time.
    Finish(Instant),
}

/// An unfinished slice.
struct Slice {
    barrier: Barrier,
    /// End of the window, in picoseconds.
    end: AtomicU64,
    /// Work that is left, in events.
    left: AtomicU64,
    until: Instant,
    /// Where each part stands in its window, and what it does next, in a run that ends when all jobs have.
    stops: Mutex<Vec<(Stop, Next)>>,
}

impl Slice {
    /// The end of the run, if it is in this window.
    fn ended_at(&self) -> Option<Instant> {
        let stops = lock(&self.stops);
        stops.iter().find_map(|(_, next)| if let Next::Finish(at) = next { Some(*at) } else { None })
    }

    /// All parts have stopped: what they do next. Whether they stand at a sample.
    fn decide(&self) -> bool {
        let mut stops = lock(&self.stops);
        let samples = stops.iter().filter(|(stop, _)| *stop == Stop::Sample).count();
        let done = |(stop, _): &(Stop, Next)| if let Stop::Done(at) = stop { Some(*at) } else { None };
        let all_done = stops.iter().map(done).try_fold(Instant::ZERO, |last, at| Some(last.max(at?)));
        let all = stops.len();
        for (stop, next) in &mut *stops {
            *next = match (all_done, *stop) {
                (Some(at), _) => Next::Finish(at),
                // The others come to it first.
                (None, Stop::Sample) if samples < all => Next::Wait,
                (None, Stop::End) => Next::End,
                (None, Stop::Sample | Stop::Done(_)) => Next::Run,
            };
        }
        samples == all
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'p, S: Scheme, M: Model, const ARRIVALS: bool> ParallelRun<'p, S, M, ARRIVALS> {
    pub(crate) fn new(
        parts: Vec<Part<'p, S, M, ARRIVALS>>,
        partition: Arc<Partition>,
        recorder: Recorder<'p, ARRIVALS>,
        until_complete: bool,
    ) -> Self {
        let of_part = || parts.iter().map(|_| Mutex::default()).collect();
        let mail = [0, 1].map(|_| parts.iter().map(|_| of_part()).collect());
        let parts = parts.into_iter().map(Mutex::new).collect();
        Self { parts, partition, mail, recorder: Mutex::new(recorder), until_complete, ended_at: None }
    }

    /// The work of one thread in a slice.
    fn work(&self, own: usize, slice: &Slice) {
        let _guard = Guard(&slice.barrier);
        // Letters are written where no other thread looks, and change hands all at once.
        let mut outbox: Vec<RemoteFrames<S>> = self.parts.iter().map(|_| RemoteFrames::default()).collect();
        let mut window = 0;
        loop {
            let end = Instant(slice.end.load(Ordering::Acquire));
            self.run_window(own, &mut outbox, end, slice);
            for (mail, letters) in self.mail[window][own].iter().zip(&mut outbox) {
                std::mem::swap(&mut *lock(mail), letters);
            }
            slice.barrier.meet(|| self.plan_window(end, slice));
            self.collect(own, window);
            // The same flows have come to all parts.
            if lock(&self.parts[own]).wants_slots() {
                slice.barrier.meet(|| self.reclaim_slots());
            }
            if slice.end.load(Ordering::Acquire) == end.0 || slice.ended_at().is_some() {
                return;
            }
            window = 1 - window;
        }
    }

    /// Lets one part come to `end`; at samples the threads meet.
    fn run_window(&self, own: usize, outbox: &mut [RemoteFrames<S>], end: Instant, slice: &Slice) {
        let mut part = lock(&self.parts[own]);
        let before = part.events();
        if self.until_complete {
            drop(part);
            self.run_window_until_done(own, end, slice);
            part = lock(&self.parts[own]);
        } else {
            while !part.run_part(end) {
                drop(part);
                slice.barrier.meet(|| self.sample());
                part = lock(&self.parts[own]);
            }
        }
        part.export(outbox);
        let done = part.events() - before;
        // Nobody reads it before all have met.
        let less = |left: u64| Some(left.saturating_sub(done));
        let _ = slice.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// The same in a run that ends when all jobs have. A part stops where its own have.
    fn run_window_until_done(&self, own: usize, end: Instant, slice: &Slice) {
        let mut stop = lock(&self.parts[own]).stands_at();
        let mut done = if let Stop::Done(_) = stop { Some(stop) } else { None };
        let mut next = if done.is_some() { Next::Wait } else { Next::Run };
        loop {
            let mut part = lock(&self.parts[own]);
            stop = match (next, stop, done) {
                // Behind a sample others may come to the end of the run.
                (Next::Run, Stop::Sample, Some(done)) => done,
                (Next::Run, ..) if part.run_part(end) => Stop::End,
                (Next::Run, ..) => part.stands_at(),
                (Next::Wait | Next::End, stop, _) => stop,
                (Next::Finish(at), ..) => return part.end_part(at),
            };
            if let Stop::Done(_) = stop {
                done = Some(stop);
            }
            drop(part);
            lock(&slice.stops)[own].0 = stop;
            slice.barrier.meet(|| {
                if slice.decide() {
                    self.sample();
                }
            });
            next = lock(&slice.stops)[own].1;
            if lock(&slice.stops).iter().all(|(_, next)| *next == Next::End) {
                return;
            }
        }
    }

    /// All parts have come to `end`: another window, if there is work left.
    fn plan_window(&self, end: Instant, slice: &Slice) {
        if slice.left.load(Ordering::Relaxed) > 0 {
            slice.end.store((end + self.partition.lookahead()).min(slice.until).0, Ordering::Release);
        }
    }

    /// Takes the frames that have come for a part.
    fn collect(&self, own: usize, window: usize) {
        let mut part = lock(&self.parts[own]);
        for from in &self.mail[window] {
            part.import(&mut lock(&from[own]));
        }
    }

    /// All parts stand at the end of a window, and have the frames that came for them.
    fn reclaim_slots(&self) {
        let mut parts: Vec<_> = self.parts.iter().map(lock).collect();
        Sim::reclaim_slots(&mut parts.iter_mut().map(|part| &mut **part).collect::<Vec<_>>());
    }

    /// All parts stand at a sample.
    fn sample(&self) {
        let parts: Vec<_> = self.parts.iter().map(lock).collect();
        let parts: Vec<&Part<'p, S, M, ARRIVALS>> = parts.iter().map(|part| &**part).collect();
        let together = CombinedView::new(&parts).expect("they are parts of one network");
        penstock_sim::Probe::<S>::sample(&mut *lock(&self.recorder), parts[0].now(), &together);
    }

    /// All parts, while no thread has any.
    fn all(&mut self) -> impl Iterator<Item = &mut Part<'p, S, M, ARRIVALS>> {
        self.parts.iter_mut().map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    fn first(&self) -> MutexGuard<'_, Part<'p, S, M, ARRIVALS>> {
        lock(&self.parts[0])
    }

    /// Records the signals that parts have noted.
    fn record_notes(&mut self) {
        let mut parts: Vec<_> = self.parts.iter().map(lock).collect();
        let mut notes: Vec<&mut Notes> = parts.iter_mut().filter_map(|part| part.probe_mut().notes()).collect();
        lock(&self.recorder).unless_failed(|recorder| Notes::record(&mut notes, recorder));
    }
}

impl<S: Scheme, M: Model, const ARRIVALS: bool> Simulation for ParallelRun<'_, S, M, ARRIVALS> {
    fn run_slice(&mut self, until: Instant, work: u64) -> bool {
        let now = self.now();
        let slice = Slice {
            barrier: Barrier::new(self.parts.len()),
            end: AtomicU64::new((now + self.partition.lookahead()).min(until).0),
            left: AtomicU64::new(work.saturating_mul(LONGER)),
            until,
            stops: Mutex::new(vec![(Stop::End, Next::Run); self.parts.len()]),
        };
        let (many, slice) = (&*self, &slice);
        std::thread::scope(|scope| {
            for own in 1..many.parts.len() {
                scope.spawn(move || many.work(own, slice));
            }
            many.work(0, slice);
        });
        self.record_notes();
        self.ended_at = slice.ended_at();
        self.now() >= until || self.ended_at.is_some()
    }

    fn now(&self) -> Instant {
        self.first().now()
    }

    fn events(&self) -> u64 {
        self.parts.iter().map(|part| lock(part).events()).sum()
    }

    fn frames_held(&self) -> usize {
        self.parts.iter().map(|part| lock(part).frames_held()).sum()
    }

    fn is_over(&self) -> bool {
        self.ended_at.is_some()
    }

    fn start_measuring(&mut self) {
        self.all().for_each(Sim::start_measuring);
    }

    fn open_window(&mut self, window: usize) {
        self.all().for_each(|part| part.open_window(window));
    }

    fn close_window(&mut self, window: usize) -> Option<Outcome> {
        Sim::close_windows(&mut self.all().collect::<Vec<_>>(), window)
    }
}

impl<S: Scheme, M: Model, const ARRIVALS: bool> Recorded for ParallelRun<'_, S, M, ARRIVALS> {
    fn rows_kept(&self) -> usize {
        lock(&self.recorder).rows_kept()
    }

    fn has_failed(&self) -> bool {
        lock(&self.recorder).has_failed()
    }

    fn await_work(&mut self) {
        unreachable!("work is for a network that is simulated as a whole")
    }

    fn finish(mut self: Box<Self>) -> Result<(Outcome, Recording), RunError> {
        self.all().for_each(Sim::settle);
        self.sample();
        let parts = self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let (outcome, _) = Sim::finish_parts(parts.collect());
        let recorder = self.recorder.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((outcome, recorder.finish()?))
    }
}
