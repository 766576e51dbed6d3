//! Schemes by their location: shared libraries (`./libmine.so`), and classes in Python (`my.py:MyScheme`).

mod class;
mod events;
mod failure;
mod functions;
mod load;
mod point;

use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::Definition;
use pyo3::prelude::*;

pub(crate) use events::{PyAcknowledgement, PyFrame, PyPlace, PyQueue, PyRelease, PySignal};
pub(crate) use failure::{raised, share};

/// Lets scenarios name schemes by their location.
pub(crate) fn install() {
    penstock_scenario::foreign::install(load);
}

fn load(location: &str) -> Result<&'static Definition, Refusal> {
    if penstock_foreign::is_library(location) {
        // A crash in the library ends the process: Python then says so, and where. That has no effect where its standard error is no file.
        let _ = Python::attach(|py| py.import("faulthandler")?.call_method0("enable").map(drop));
        return penstock_foreign::load(location);
    }
    if location.contains(".py:") {
        return load::class(location);
    }
    let message = format!("\"{location}\" is neither a shared library nor a class in a file of Python");
    Err(Refusal { message, hint: "as in \"./libmine.so\" or \"my.py:MyScheme\"".to_owned() })
}
