//! The exception that ended a run, the time that a run spent in Python, and a way out of a loop without end. All are of the thread that runs:
//! a run with a scheme in Python has one.
#![allow(clippy::disallowed_types, reason = "the time spent in Python is a matter of the wall clock")]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use penstock_schemes::foreign::Carrier;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::scenario_error;

/// An exception, and the method that raised it.
struct Failure {
    error: PyErr,
    location: String,
    method: Option<Py<PyAny>>,
}

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
    static FAILURE: RefCell<Option<Failure>> = const { RefCell::new(None) };
    static SPENT: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// The services of Python for the functions that it runs.
pub(super) const CARRIER: Carrier = Carrier { begin, interrupt, failed };

/// A run begins: Python's name for this thread.
fn begin() -> u64 {
    FAILED.set(false);
    FAILURE.take();
    SPENT.set(Some(Duration::ZERO));
    let name = |py: Python<'_>| py.import("threading")?.call_method0("get_ident")?.extract();
    Python::attach(name).unwrap_or(0)
}

/// Whether a method has raised an exception on this thread since its run began.
pub(crate) fn failed() -> bool {
    FAILED.get()
}

/// Raises a TimeoutError in the method that runs on a thread.
fn interrupt(thread: u64) {
    let raise = |py: Python<'_>| -> PyResult<()> {
        let locals = PyDict::new(py);
        locals.set_item("thread", thread)?;
        py.run(
            c"import ctypes; ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeoutError))",
            Some(&locals),
            None,
        )
    };
    // Where that fails the method runs on, and Ctrl-C is left.
    let _ = Python::attach(raise);
}

/// Adds to the time that the run spends in Python.
pub(super) fn spend(time: Duration) {
    SPENT.set(SPENT.get().map(|spent| spent + time));
}

/// The share of `wall` that the last run of this thread spent in Python; `None` if its schemes are in no Python.
pub(crate) fn share(wall: Duration) -> Option<f64> {
    SPENT.take().map(|spent| spent.as_secs_f64() / wall.as_secs_f64().max(1e-9))
}

/// Keeps the first exception.
pub(super) fn fail(error: PyErr, location: &str, method: Option<Py<PyAny>>) {
    if !FAILED.replace(true) {
        FAILURE.set(Some(Failure { error, location: location.to_owned(), method }));
    }
}

/// The error of the run that has just failed on this thread, if a method has raised an exception: with its file, its line and its text.
pub(crate) fn raised(py: Python<'_>) -> Option<PyErr> {
    let Failure { error, location, method } = FAILURE.take()?;
    let file = location.rsplit_once(':').map_or(location.as_str(), |(file, _)| file).to_owned();
    let line = line_of(py, &error, &file, method.as_ref());
    let kind = error.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string());
    let text = error.value(py).to_string();
    let message = if kind == "TimeoutError" && text.is_empty() {
        "the method has not returned for 10 s".to_owned()
    } else {
        format!("{kind}: {text}")
    };
    let of_run = penstock_scenario::ScenarioError { file, line, key: Some("scheme".to_owned()), message, hint: None };
    let raised = scenario_error(py, &of_run);
    raised.set_cause(py, Some(error));
    Some(raised)
}

/// The line of the user's file in which an exception arose: the last one of its trace there, or that of the method.
fn line_of(py: Python<'_>, error: &PyErr, file: &str, method: Option<&Py<PyAny>>) -> Option<usize> {
    let mut line = None;
    let mut next = error.traceback(py).map(|trace| trace.into_any());
    while let Some(trace) = next.filter(|trace| !trace.is_none()) {
        let in_file = || -> PyResult<bool> {
            let code = trace.getattr("tb_frame")?.getattr("f_code")?;
            let name: String = code.getattr("co_filename")?.extract()?;
            Ok(std::path::Path::new(&name).file_name() == std::path::Path::new(file).file_name())
        };
        if in_file().unwrap_or(false) {
            line = trace.getattr("tb_lineno").and_then(|line| line.extract()).ok().or(line);
        }
        next = trace.getattr("tb_next").ok();
    }
    let of_method = || method?.bind(py).getattr("__code__").ok()?.getattr("co_firstlineno").ok()?.extract().ok();
    line.or_else(of_method)
}
