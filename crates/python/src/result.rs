//! `Result`: the results of a run.

use std::path::{Path, PathBuf};

use penstock_runner::{Run, RunError, Table};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::errors::output_error;
use crate::measures::{self, Cell};
use crate::table::to_arro3;

/// The result of a run.
#[pyclass(name = "Result", module = "penstock._core", frozen)]
pub(crate) struct PyRun(pub(crate) Run, pub(crate) Option<f64>);

#[pymethods]
impl PyRun {
    /// Opens a results folder.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| penstock_runner::open(&path)).map(|run| Self(run, None)).map_err(|error| output_error(&error))
    }

    /// The summary, as JSON; without `flows`, its list of flows is empty.
    #[pyo3(signature = (*, flows = true))]
    fn summary_json(&self, flows: bool) -> String {
        if flows { self.0.summary.to_json() } else { self.0.summary.without_flows().to_json() }
    }

    /// The same without its queues, flows, hosts and windows.
    fn brief_json(&self) -> String {
        penstock_runner::in_brief(&self.0.summary).to_json()
    }

    /// The queues of the summary, a row each, as an `arro3.core.Table`: the columns by which they are chosen and shown.
    fn queues_shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_arro3(py, penstock_runner::queues(&self.0.summary))
    }

    /// Metrics of the run, and of its queue called `queue`, each by its name and by whether it is of the queue; `None` for one that
    /// the run does not have.
    #[pyo3(signature = (names, queue = None))]
    fn measures(&self, py: Python<'_>, names: Vec<(String, bool)>, queue: Option<&str>) -> PyResult<Vec<Cell>> {
        py.detach(|| measures::values(&self.0, &names, queue)).map_err(|error| unread(&error))
    }

    /// The row of the run in a table of runs with these columns, judged by the queue called `queue`, or by its longest.
    #[pyo3(signature = (columns, queue = None))]
    fn row(&self, py: Python<'_>, columns: Vec<String>, queue: Option<&str>) -> PyResult<Vec<Cell>> {
        py.detach(|| measures::row(&self.0, &columns, queue)).map_err(|error| unread(&error))
    }

    /// The resolved scenario, as TOML.
    #[getter]
    fn scenario_toml(&self) -> &str {
        &self.0.scenario
    }

    /// Whether the run was stopped before its end.
    #[getter]
    fn interrupted(&self) -> bool {
        self.0.summary.interrupted_at_s.is_some()
    }

    /// The simulated time at which it was stopped, s.
    #[getter]
    fn interrupted_at_s(&self) -> Option<f64> {
        self.0.summary.interrupted_at_s
    }

    /// How many threads ran it, and why; nothing for a run that was read from a folder.
    #[getter]
    fn threads(&self) -> Option<(usize, &str)> {
        self.0.threading.as_ref().map(|threading| (threading.threads, threading.reason.as_str()))
    }

    /// The share of its time that the run spent in Python, where a scheme is a class there; nothing for the run of a results folder.
    #[getter]
    fn python_share(&self) -> Option<f64> {
        self.1
    }

    /// Whether no data frame was lost; nothing where the scenario does not claim so.
    #[getter]
    fn lossless(&self) -> Option<bool> {
        self.0.summary.lossless
    }

    /// Whether the scheme has acted; nothing where the scenario does not claim so.
    #[getter]
    fn acted(&self) -> Option<bool> {
        self.0.summary.acted
    }

    /// The simulated time that the run reached, s.
    #[getter]
    fn end_s(&self) -> f64 {
        self.0.summary.end_s()
    }

    /// The results folder.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Names of the recorded tables.
    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.0.tables().map(Table::name).collect()
    }

    /// A hash of all columns and of the summary without its `run` object, in hexadecimal.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        let hash = py.detach(|| penstock_runner::fingerprint(&self.0)).map_err(|error| output_error(&error))?;
        Ok(hash.to_string())
    }

    /// A table, as an `arro3.core.Table`.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let table = named(name)?;
        to_arro3(py, py.detach(|| self.0.table(table)).map_err(|error| unread(&error))?)
    }

    /// Of a table the rows of some queues or flows, or all of them, and of these some columns, as an `arro3.core.Table`.
    fn rows_of<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        columns: Vec<String>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = named(name)?;
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let names: Option<Vec<_>> = names.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let rows = py.detach(|| self.0.rows_of(table, &columns, names.as_deref()));
        to_arro3(py, rows.map_err(|error| unread(&error))?)
    }

    fn __repr__(&self) -> String {
        let summary = &self.0.summary;
        format!("<Result of {}, scheme {}, seed {}>", summary.scenario, summary.scheme, summary.seed)
    }
}

fn named(name: &str) -> PyResult<Table> {
    Table::named(name).ok_or_else(|| PyKeyError::new_err(format!("no table is called {name:?}")))
}

fn unread(error: &RunError) -> PyErr {
    match error {
        RunError::NotRecorded { .. } => PyKeyError::new_err(error.to_string()),
        other => output_error(other),
    }
}
