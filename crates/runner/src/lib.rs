//! Runs plans: simulates, records, sums up, and keeps the result in memory or in a results folder.
//!
//! ```text
//!   Plan --run--> Sim<S, Recorder> ---blocks of rows---> Parquet files, or memory
//!                        |                                      |
//!                        +--- Outcome ---> Summary ---------> Run  <--open-- results folder
//! ```
//!
//! With ports to capture, `capture.pcapng` has the frames on their lines (`capture`).
//!
//! A results folder holds `scenario.toml` (resolved: every default written out), `summary.json`, and one Parquet file a
//! [`Table`]. The same plan gives the same bytes in all of them, but for the summary's `run` object.

mod barrier;
mod capture;
mod completions;
mod drive;
mod driven;
mod error;
pub mod external;
mod figure_columns;
mod file;
mod fingerprint;
mod folder;
mod followed;
pub mod foreign;
mod jobs;
mod measures;
mod memory;
mod parallel_run;
mod probe;
mod recorder;
mod rows;
mod select;
mod sink;
mod stepper;
mod tables;
mod threads;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use penstock_scenario::Plan;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::PortId;

pub use penstock_results::{Key, OBJECTS, Object, Shape, Summary, registry, summary};

pub use driven::{Driven, Next};
pub use error::RunError;
pub use figure_columns::{in_brief, queues};
pub use fingerprint::{Fingerprint, fingerprint};
pub use folder::{Folder, Holds};
pub use followed::{Learnt, Pauses};
pub use measures::Judged;
pub use recorder::Recorder;
use select::Selection;
pub use sink::Records;
pub use stepper::{NotFree, Stepper};
pub use tables::{Column, TABLES, Table, TableInfo};
pub use threads::{Threading, Threads};

/// How a plan is run. None of it changes the result.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The results folder. Without one, records stay in memory.
    pub out: Option<PathBuf>,
    /// An older results folder of that name may be replaced; it is, once the new one is whole.
    pub force: bool,
    /// Simulated time from one call of the observer to the next; `None` for calls about ten times a second.
    pub slice: Option<Duration>,
    /// The ports whose frames are captured, into a file of the results folder, which there must be then.
    pub capture: Vec<PortId>,
    /// The threads that are to run it.
    pub threads: Threads,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// Simulated time of the whole run.
    pub duration: Duration,
    /// Events handled.
    pub events: u64,
    /// Time on the wall clock.
    pub wall: std::time::Duration,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// The run in numbers.
    pub summary: Summary,
    /// The resolved scenario, as TOML.
    pub scenario: String,
    /// The results folder, if there is one.
    pub path: Option<PathBuf>,
    /// The threads that ran it; `None` for a run that was read from its folder, or was one of the testbed.
    pub threading: Option<Threading>,
    tables: Vec<(Table, Store)>,
}

/// Where a table is.
#[derive(Debug)]
enum Store {
    Memory(Records),
    File(PathBuf),
}

impl Run {
    /// A run whose tables are files in the folder `path`.
    fn kept(summary: Summary, scenario: String, path: PathBuf) -> Self {
        let files = TABLES.iter().map(|info| (info.table, path.join(info.table.file_name())));
        let tables = files.filter(|(_, file)| file.is_file()).map(|(table, file)| (table, Store::File(file))).collect();
        Self { summary, scenario, path: Some(path), threading: None, tables }
    }

    /// The tables that there are.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.tables.iter().map(|&(table, _)| table)
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// If the run has not recorded it, or if its file cannot be read.
    pub fn table(&self, table: Table) -> Result<Records, RunError> {
        match self.tables.iter().find(|&&(t, _)| t == table) {
            Some((_, Store::Memory(records))) => Ok(records.clone()),
            Some((_, Store::File(path))) => sink::read(path, None),
            None => Err(RunError::NotRecorded { table: table.name() }),
        }
    }

    /// The rows of a table whose queue or flow (the first column of names) is one of `names`, in order, or all rows. They have the
    /// listed columns, and that of the names if rows are selected by name. The rest is never in memory.
    ///
    /// # Errors
    /// As for [`Self::table`].
    pub fn rows_of(&self, table: Table, columns: &[&str], names: Option<&[&str]>) -> Result<Records, RunError> {
        let selection = Selection { columns, names };
        match self.tables.iter().find(|&&(t, _)| t == table) {
            Some((_, Store::Memory(records))) => Ok(records.selected(&selection)),
            Some((_, Store::File(path))) => sink::read(path, Some(&selection)),
            None => Err(RunError::NotRecorded { table: table.name() }),
        }
    }
}

/// Runs `plan`. `observer` gets the progress and may interrupt the run: then the rows recorded so far are kept, and the
/// summary has the time at which it ended.
///
/// # Errors
/// If the results folder exists, or cannot be written: then there is none under that name, or still the older one. If frames
/// are to be captured and there is no folder for them.
pub fn run(
    plan: &Plan,
    options: &Options,
    observer: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Run, RunError> {
    drive::run(plan, options, observer)
}

/// Opens a results folder. Its tables are read when they are asked for.
///
/// # Errors
/// If there is none, or if it is not whole.
pub fn open(path: &Path) -> Result<Run, RunError> {
    if let Some(missing) = Holds::Results.lacks(path) {
        return Err(RunError::NoResults { path: path.to_owned(), missing });
    }
    let read = |name: &str| {
        let file = path.join(name);
        fs::read_to_string(&file).map_err(RunError::io(&file, "read"))
    };
    let summary = serde_json::from_str(&read(folder::SUMMARY)?)
        .map_err(|source| RunError::Summary { path: path.join(folder::SUMMARY), source })?;
    let scenario = read(folder::SCENARIO)?;
    Ok(Run::kept(summary, scenario, path.to_owned()))
}
