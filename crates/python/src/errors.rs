//! The exceptions, and how Rust's errors become them.

use penstock_runner::RunError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(penstock._core, PenstockError, PyException, "An error that Penstock tells of.");
create_exception!(
    penstock._core,
    ScenarioError,
    PenstockError,
    "A scenario that cannot be run.\n\nAttributes: file (str), line (int or None), key (str or None), message (str), \
     hint (str or None)."
);
create_exception!(
    penstock._core,
    OutputError,
    PenstockError,
    "A results folder that cannot be written or read.\n\nAttributes: refused (bool), whether another name, or leave to \
     replace what has it, would help."
);

/// A scenario's error as an exception with its parts as attributes.
pub(crate) fn scenario_error(py: Python<'_>, error: &penstock_scenario::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(error.to_string());
    let value = exception.value(py);
    let set = || -> PyResult<()> {
        value.setattr("file", &error.file)?;
        value.setattr("line", error.line)?;
        value.setattr("key", &error.key)?;
        value.setattr("message", &error.message)?;
        value.setattr("hint", &error.hint)
    };
    match set() {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// A results folder's error as an exception.
pub(crate) fn output_error(error: &RunError) -> PyErr {
    let exception = OutputError::new_err(error.to_string());
    let set = Python::attach(|py| exception.value(py).setattr("refused", error.is_refusal()));
    set.err().unwrap_or(exception)
}
