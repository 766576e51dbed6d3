//! The watch over the foreign schemes of a run: rules that they break, and functions that do not return.
//!
//! ```text
//!   10 s without an answer   a library: the process ends    a language: it raises an exception in the function
//!   10 s more                                               the process ends
//! ```
#![allow(clippy::disallowed_types, reason = "how long a function takes is a matter of the wall clock")]

use std::any::Any;
use std::io::{Write as _, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration as WallDuration, Instant as WallInstant};

use penstock_schemes::foreign::watch::Watch;
use penstock_schemes::foreign::{Definition, LONGEST_S};
use penstock_schemes::{Instant, SchemeConfig};

use crate::RunError;

/// A function that runs for longer does not return.
const LONGEST: WallDuration = WallDuration::from_secs(LONGEST_S);
/// The status of a process that a function has stopped: that of wrong input.
const STATUS: i32 = 2;
/// Between two looks.
const LOOK: WallDuration = WallDuration::from_millis(250);

/// A definition, the watch over its points, and the name of the thread that runs it, if its language has one.
type Watched = (&'static Definition, Arc<Watch>, u64);

/// The foreign schemes of a run, or of other calls of their functions, and the watchdog's thread if there are any.
pub struct Foreigners {
    watched: Vec<Watched>,
    ended: Arc<AtomicBool>,
    watchdog: Option<JoinHandle<()>>,
    /// What the definitions keep for as long.
    _guards: Vec<Box<dyn Any + Send>>,
}

impl Foreigners {
    /// Watches those among `configs` from now on, on this thread.
    #[must_use]
    pub fn new(configs: &[SchemeConfig]) -> Self {
        let own = |config: &SchemeConfig| match config {
            SchemeConfig::Foreign(config) => {
                let definition = config.definition();
                let thread = definition.carrier.map_or(0, |carrier| (carrier.begin)());
                Some((definition, Arc::clone(config.watch()), thread))
            }
            _ => None,
        };
        let watched: Vec<Watched> = configs.iter().filter_map(own).collect();
        let guard = |(definition, watch, _): &Watched| Some((definition.guard?)(definition, watch));
        let guards = watched.iter().filter_map(guard).collect();
        let ended = Arc::new(AtomicBool::new(false));
        let (all, end) = (watched.clone(), Arc::clone(&ended));
        let watchdog = (!watched.is_empty()).then(|| thread::spawn(move || look_after(&all, &end)));
        Self { watched, ended, watchdog, _guards: guards }
    }

    /// The location of the scheme that has failed and the reason, if one has.
    #[must_use]
    pub fn failure(&self) -> Option<(&'static str, String)> {
        let failed = |own: &&Watched| own.0.carrier.is_some_and(|carrier| (carrier.failed)());
        match self.watched.iter().find(failed) {
            Some((definition, ..)) => Some((definition.location, "a function has failed".to_owned())),
            None => self.watched.iter().find_map(|(own, watch, _)| Some((own.location, watch.fault()?.to_string()))),
        }
    }

    /// The failure as that of a run.
    pub(crate) fn fault(&self, now: Instant) -> Option<RunError> {
        let (location, message) = self.failure()?;
        Some(RunError::Scheme { location, at_s: now.as_seconds(), message })
    }
}

impl Drop for Foreigners {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.thread().unpark();
            // It only looks and sleeps.
            let _ = watchdog.join();
        }
        if let Some((location, function)) = self.watched.iter().find_map(thrown) {
            end(location, function, "has thrown an exception");
        }
    }
}

/// The location and the function of a library that an exception is leaving: the run has ended, and the function has not returned. Another
/// run of the same plan may be in that function as well, which then goes on.
fn thrown((definition, watch, _): &Watched) -> Option<(&'static str, &'static str)> {
    let before = watch.progress();
    let function = before.1.filter(|_| definition.carrier.is_none())?;
    let goes_on = (0..10).any(|_| {
        thread::sleep(WallDuration::from_millis(100));
        watch.progress() != before
    });
    (!goes_on).then_some((definition.location, function.name()))
}

/// Ends the process since a function of the scheme at `location` does not return: nothing else ends it.
pub fn end_process(location: &str, function: &str) -> ! {
    end(location, function, &format!("has not returned for {LONGEST_S} s"))
}

fn end(location: &str, function: &str, fault: &str) -> ! {
    // Where nobody reads messages, the status still says it.
    let _ = writeln!(stderr(), "Error: {location}: {function} {fault}: the process ends");
    std::process::exit(STATUS)
}

/// A call as the watchdog saw it last, since when, and whether it has been interrupted.
struct Seen {
    call: (usize, Option<penstock_schemes::foreign::abi::Function>),
    since: WallInstant,
    interrupted: bool,
}

/// Until the run ends: a function that does not return is made to, or the process ends.
fn look_after(watched: &[Watched], ended: &AtomicBool) {
    let look = |watch: &Watch| Seen { call: watch.progress(), since: WallInstant::now(), interrupted: false };
    let mut seen: Vec<Seen> = watched.iter().map(|(_, watch, _)| look(watch)).collect();
    while !ended.load(Ordering::Relaxed) {
        thread::park_timeout(LOOK);
        for ((definition, watch, thread), before) in watched.iter().zip(&mut seen) {
            let now = watch.progress();
            let Some(function) = now.1.filter(|_| now == before.call) else {
                *before = look(watch);
                continue;
            };
            if before.since.elapsed() < LONGEST {
                continue;
            }
            match definition.carrier {
                Some(carrier) if !before.interrupted => {
                    // The language may have to wait for the function itself: not here.
                    let name = *thread;
                    thread::spawn(move || (carrier.interrupt)(name));
                    (before.since, before.interrupted) = (WallInstant::now(), true);
                }
                _ => end_process(definition.location, function.name()),
            }
        }
    }
}
