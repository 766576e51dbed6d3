//! Schemes by their location: shared libraries (`./libmine.so`), and classes in Python (`my.py:MyScheme`).

mod class;
mod conformance;
mod events;
mod failure;
mod functions;
mod load;
mod point;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use penstock_runner::RunError;
use penstock_runner::foreign::end_process;
use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::{Definition, LONGEST_S};
use pyo3::prelude::*;

use crate::errors::{foreign_error, output_error};

pub(crate) use class::scheme_methods;
pub(crate) use conformance::scheme_conforms;
pub(crate) use events::{PyAcknowledgement, PyFrame, PyPlace, PyQueue, PyRelease, PySignal};
pub(crate) use failure::{failed, raised, share};

/// Lets scenarios name schemes by their location.
pub(crate) fn install() {
    penstock_scenario::foreign::install(load);
}

/// The error of a run that has failed on this thread: the exception of a method, the rule that a scheme broke, or what ended it else.
pub(crate) fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    raised(py).unwrap_or_else(|| match error {
        RunError::Scheme { location, at_s, message } => {
            foreign_error(py, location, &format!("at {at_s} s of the run: {message}"))
        }
        _ => output_error(error),
    })
}

/// Loads a library, whose code gets as long as any of its functions: then the process ends.
fn in_time<R>(location: &str, load: impl FnOnce() -> R) -> R {
    let (done, waiting) = mpsc::channel::<()>();
    let of = location.to_owned();
    thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(LONGEST_S)) == Err(RecvTimeoutError::Timeout) {
            end_process(&of, penstock_foreign::SYMBOL);
        }
    });
    let loaded = load();
    drop(done);
    loaded
}

fn load(location: &str) -> Result<&'static Definition, Refusal> {
    if penstock_foreign::is_library(location) {
        // A crash in the library ends the process: Python then says so, and where. That has no effect where its standard error is no file.
        let _ = Python::attach(|py| py.import("faulthandler")?.call_method0("enable").map(drop));
        return in_time(location, || penstock_foreign::load(location));
    }
    if location.contains(".py:") {
        return load::class(location);
    }
    let message = format!("\"{location}\" is neither a shared library nor a class in a file of Python");
    Err(Refusal { message, hint: "as in \"./libmine.so\" or \"my.py:MyScheme\"".to_owned() })
}
