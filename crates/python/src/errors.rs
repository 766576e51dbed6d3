//! The exceptions, and how Rust's errors become them.

use penstock_runner::RunError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;

create_exception!(penstock._core, PenstockError, PyException, "Base class of Penstock's errors.");
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
     replace the file that has it, would help; hint (str or None), a remedy."
);

create_exception!(
    penstock._core,
    LimitError,
    PenstockError,
    "A run that came to more than a scenario may ask for.\n\nAttributes: hint (str)."
);

fn hinted(exception: PyErr, hint: &str) -> PyErr {
    let set = Python::attach(|py| exception.value(py).setattr("hint", in_python(hint)));
    set.err().unwrap_or(exception)
}

/// A message in which options of the command line are named as Python has them.
///
/// The engine names the options of the command line, since most of its messages are read there.
fn in_python(text: &str) -> String {
    let mut said = text.replace("as given by --set", "as given by set()");
    for keyword in ["profile", "scheme", "seed"] {
        said = said.replace(&format!("as given by --{keyword}"), &format!("as given by {keyword}="));
    }
    // "--limit 2, in Python limit=2": the second is enough.
    let both = ", in Python ";
    if let Some(at) = said.find("--limit ")
        && let Some(length) = said[at..].find(both)
    {
        said.replace_range(at..at + length + both.len(), "");
    }
    said
}

/// A scenario's error as an exception with its parts as attributes.
pub(crate) fn scenario_error(py: Python<'_>, error: &penstock_scenario::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(in_python(&error.to_string()));
    let value = exception.value(py);
    let set = || -> PyResult<()> {
        value.setattr("file", &error.file)?;
        value.setattr("line", error.line)?;
        value.setattr("key", &error.key)?;
        value.setattr("message", in_python(&error.message))?;
        value.setattr("hint", error.hint.as_deref().map(in_python))
    };
    match set() {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// A results folder's error as an exception.
pub(crate) fn output_error(error: &RunError) -> PyErr {
    match error {
        RunError::Limit { hint, .. } => return hinted(LimitError::new_err(in_python(&error.to_string())), hint),
        RunError::Memory { .. } => return PyMemoryError::new_err(in_python(&error.to_string())),
        _ => {}
    }
    let exception = OutputError::new_err(error.to_string());
    let set = Python::attach(|py| {
        let value = exception.value(py);
        value.setattr("refused", error.is_refusal())?;
        value.setattr("hint", error.hint())
    });
    set.err().unwrap_or(exception)
}

/// The error of a scheme that broke a rule, at the place from which it was loaded.
pub(crate) fn foreign_error(py: Python<'_>, location: &str, message: &str) -> PyErr {
    let (file, key) = (location.to_owned(), Some("scheme".to_owned()));
    scenario_error(
        py,
        &penstock_scenario::ScenarioError { file, line: None, key, message: message.to_owned(), hint: None },
    )
}
