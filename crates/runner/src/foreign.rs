//! The watch over the foreign schemes of a run: rules that they break, and functions that do not return.
#![allow(clippy::disallowed_types, reason = "how long a function takes is a matter of the wall clock")]

use std::io::{Write as _, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration as WallDuration, Instant as WallInstant};

use penstock_schemes::foreign::Definition;
use penstock_schemes::foreign::watch::{Fault, Rule, Watch};
use penstock_schemes::{Instant, SchemeConfig};

use crate::RunError;

/// A function that runs for longer does not return.
const LONGEST: WallDuration = WallDuration::from_secs(10);
/// Between two looks.
const LOOK: WallDuration = WallDuration::from_millis(250);
/// The status of a process that a function has stopped: that of wrong input.
const STATUS: i32 = 2;

/// A definition, the watch over its points, and the name of the thread that runs it, if its language has one.
type Watched = (&'static Definition, Arc<Watch>, u64);

/// The foreign schemes of a run, and the watchdog's thread if there are any.
pub(crate) struct Foreigners {
    watched: Vec<Watched>,
    ended: Arc<AtomicBool>,
    watchdog: Option<JoinHandle<()>>,
}

impl Foreigners {
    pub(crate) fn new(configs: &[SchemeConfig]) -> Self {
        let own = |config: &SchemeConfig| match config {
            SchemeConfig::Foreign(config) => {
                let definition = config.definition();
                let thread = definition.carrier.map_or(0, |carrier| (carrier.begin)());
                Some((definition, Arc::clone(config.watch()), thread))
            }
            _ => None,
        };
        let watched: Vec<Watched> = configs.iter().filter_map(own).collect();
        let ended = Arc::new(AtomicBool::new(false));
        let (all, end) = (watched.clone(), Arc::clone(&ended));
        let watchdog = (!watched.is_empty()).then(|| thread::spawn(move || look_after(&all, &end)));
        Self { watched, ended, watchdog }
    }

    /// The rule that was broken, if any.
    pub(crate) fn fault(&self, now: Instant) -> Option<RunError> {
        let failed = |own: &&Watched| own.0.carrier.is_some_and(|carrier| (carrier.failed)());
        let (definition, message) = match self.watched.iter().find(failed) {
            Some((definition, ..)) => (definition, "a function has failed".to_owned()),
            None => self.watched.iter().find_map(|(own, watch, _)| Some((own, sentence(watch.fault()?))))?,
        };
        Some(RunError::Scheme { location: definition.location, at_s: now.as_seconds(), message })
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
    }
}

fn sentence(fault: Fault) -> String {
    let (name, value) = (fault.function.name(), fault.value);
    match fault.rule {
        Rule::Rate => format!("{name} sets the rate to {value} bit/s: it is from 0 to the rate of the line"),
        Rule::Window => format!("{name} sets the window to {value} octets: it is at least 0, or -1 for none"),
        Rule::Timer => format!("{name} sets its timer to {value} ps, which is not later than now"),
    }
}

/// Until the run ends: a function that does not return is made to, or the process ends.
fn look_after(watched: &[Watched], ended: &AtomicBool) {
    let mut seen: Vec<_> = watched.iter().map(|(_, watch, _)| (watch.progress(), WallInstant::now())).collect();
    while !ended.load(Ordering::Relaxed) {
        thread::park_timeout(LOOK);
        for ((definition, watch, thread), (before, since)) in watched.iter().zip(&mut seen) {
            let now = watch.progress();
            let (_, Some(function)) = now else {
                (*before, *since) = (now, WallInstant::now());
                continue;
            };
            if now != *before {
                (*before, *since) = (now, WallInstant::now());
            } else if since.elapsed() >= LONGEST {
                *since = WallInstant::now();
                match definition.carrier {
                    Some(carrier) => (carrier.interrupt)(*thread),
                    None => leave(definition, function.name()),
                }
            }
        }
    }
}

/// Nothing ends a function of another language but the end of the process.
fn leave(definition: &Definition, function: &str) {
    let (location, seconds) = (definition.location, LONGEST.as_secs());
    // Where nobody reads messages, the status still says it.
    let _ = writeln!(stderr(), "Error: {location}: {function} has not returned for {seconds} s: the process ends");
    std::process::exit(STATUS);
}
