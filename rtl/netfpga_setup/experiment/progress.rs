//! The current work, its progress and its time left: one line on standard error.

#![allow(clippy::disallowed_types, reason = "how long a run takes is a matter of the wall clock")]

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::driver::CLOCK_HZ;

/// Between two lines: on a terminal, and in a file.
const OFTEN: Duration = Duration::from_millis(500);
const SELDOM: Duration = Duration::from_secs(60);

/// The runs that there are to do.
pub struct Progress {
    begun: Instant,
    state: Mutex<State>,
}

struct State {
    /// Name, clocks, and how many of them are done.
    runs: Vec<(String, u64, u64)>,
    shown: Instant,
}

impl Progress {
    /// Names of runs and their clocks.
    pub fn new(runs: Vec<(String, u64)>) -> Self {
        let runs = runs.into_iter().map(|(name, clocks)| (name, clocks, 0)).collect();
        Self { begun: Instant::now(), state: Mutex::new(State { runs, shown: Instant::now() }) }
    }

    /// A run has come so far.
    pub fn report(&self, name: &str, clocks: u64) {
        let mut state = self.state.lock().expect("no thread panics");
        for run in state.runs.iter_mut().filter(|run| run.0 == name) {
            run.2 = clocks.min(run.1);
        }
        let terminal = std::io::stderr().is_terminal();
        if state.shown.elapsed() < if terminal { OFTEN } else { SELDOM } {
            return;
        }
        state.shown = Instant::now();
        let seconds = |clocks: u64| clocks as f64 / CLOCK_HZ as f64;
        let mut line = String::new();
        for (name, all, done) in state.runs.iter().filter(|run| run.2 > 0 && run.2 < run.1) {
            line += &format!("{name}: {:.3} of {:.3} s; ", seconds(*done), seconds(*all));
        }
        let (all, done) = state.runs.iter().fold((0, 0), |sum, run| (sum.0 + run.1, sum.1 + run.2));
        let speed = done as f64 / self.begun.elapsed().as_secs_f64();
        line += &format!("{:.2} Mclocks/s, {} left", speed / 1e6, span((all - done) as f64 / speed.max(1.0)));
        if terminal {
            eprint!("\r\x1b[K{line}");
        } else {
            eprintln!("{line}");
        }
        let _ = std::io::stderr().flush();
    }

    /// All runs are done.
    pub fn end(&self) {
        let state = self.state.lock().expect("no thread panics");
        let clocks: u64 = state.runs.iter().map(|run| run.2).sum();
        let took = self.begun.elapsed().as_secs_f64();
        if clocks > 0 {
            eprintln!(
                "\n{} Mclocks in {}, {:.2} Mclocks/s",
                clocks / 1_000_000,
                span(took),
                clocks as f64 / took / 1e6
            );
        }
    }
}

fn span(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
