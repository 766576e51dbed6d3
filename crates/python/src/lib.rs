//! `penstock._core`, the native module of the Python package: scenarios, runs and results, without Python's lock while a
//! run goes on.
//!
//! Nested data crosses the border as JSON text, tables as Arrow through the PyCapsule interface. The Python package turns
//! both into its public API; `_core.pyi` beside it is the module's reference.

use pyo3::prelude::*;

mod catalogue;
mod dcb;
mod errors;
mod folder;
mod foreign;
mod golden;
mod gym;
mod jobs;
mod measures;
mod pool;
mod quantity;
mod result;
mod scenario;
mod stepper;
mod table;
// Frames on wires: Linux's sockets.
#[cfg(target_os = "linux")]
mod testbed;
mod wire;
mod wire_stats;

/// Scenarios, runs and results.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::catalogue::{
        catalogue_objects, description_objects, limits, metrics, objects, reference, schema, scheme, schemes, tables,
    };
    #[pymodule_export]
    use super::dcb::{
        dcb_fit, dcb_get, dcb_negotiate, dcb_objects, dcb_read, dcb_reply, dcb_set, dcb_show, dcb_show_member,
    };
    #[pymodule_export]
    use super::errors::{LimitError, OutputError, PenstockError, ScenarioError};
    #[pymodule_export]
    use super::folder::PyFolder;
    #[pymodule_export]
    use super::foreign::{
        PyAcknowledgement, PyFrame, PyPlace, PyQueue, PyRelease, PySignal, scheme_conforms, scheme_methods,
    };
    #[pymodule_export]
    use super::golden::{PyRateCalculator, PySampler, PyTokenBucket, golden_jitter};
    #[pymodule_export]
    use super::gym::PyAgents;
    #[pymodule_export]
    use super::jobs::{job_files, job_text};
    #[pymodule_export]
    use super::pool::PyPool;
    #[pymodule_export]
    use super::quantity::{read_quantity, show_quantity, show_share, write_quantity};
    #[pymodule_export]
    use super::result::PyRun;
    #[pymodule_export]
    use super::scenario::PyScenario;
    #[pymodule_export]
    use super::stepper::PyStepper;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::testbed::{TestbedRunError, testbed_collect, testbed_layout, testbed_node};
    #[pymodule_export]
    use super::wire::{PyCapture, wire_decode, wire_encode, wire_formats, wire_pcapng};
    #[pymodule_export]
    use super::wire_stats::wire_stats;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::foreign::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
