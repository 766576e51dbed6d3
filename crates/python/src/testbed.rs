//! The testbed: its layout, its processes, and the results of a run.

use std::fs::File;
use std::io::BufWriter;
use std::os::fd::AsFd;
use std::path::PathBuf;

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_testbed::TestbedError;
use penstock_testbed::collect::{Course, collect};
use penstock_testbed::layout::Layout;
use penstock_testbed::node::{self, Settings};
use pyo3::create_exception;
use pyo3::prelude::*;

use crate::catalogue::to_json;
use crate::errors::{PenstockError, output_error, scenario_error};
use crate::result::PyRun;

create_exception!(
    penstock._core,
    TestbedRunError,
    PenstockError,
    "A run on the testbed that cannot be made.\n\nAttributes: unsuited (bool), whether it is the scenario that cannot run there."
);

fn testbed_error(py: Python<'_>, error: TestbedError) -> PyErr {
    match error {
        TestbedError::Run(error) => output_error(&error),
        other => {
            let exception = TestbedRunError::new_err(other.to_string());
            let unsuited = matches!(other, TestbedError::Unsuited { .. });
            exception.value(py).setattr("unsuited", unsuited).err().unwrap_or(exception)
        }
    }
}

fn plan(py: Python<'_>, toml: &str) -> PyResult<Plan> {
    let scenario = Scenario::parse(toml, "scenario.toml", "scenario");
    let plan = scenario.and_then(|scenario| py.detach(|| scenario.plan(&Choice::default())));
    plan.map_err(|error| scenario_error(py, &error))
}

/// The layout of a resolved scenario's testbed, as JSON.
#[pyfunction]
pub(crate) fn testbed_layout(py: Python<'_>, toml: &str) -> PyResult<String> {
    let layout = Layout::new(&plan(py, toml)?).map_err(|error| testbed_error(py, error))?;
    Ok(to_json(&layout))
}

/// Runs a node of a resolved scenario until its end, or until the standard input, a socket by which its wires come, is closed.
#[pyfunction]
#[pyo3(signature = (toml, node, origin_ns, real_time, log))]
pub(crate) fn testbed_node(
    py: Python<'_>,
    toml: &str,
    node: &str,
    origin_ns: u64,
    real_time: bool,
    log: PathBuf,
) -> PyResult<()> {
    let plan = plan(py, toml)?;
    let scale = u32::try_from(plan.testbed.time_scale).unwrap_or(u32::MAX);
    let settings = Settings { origin_ns, scale, real_time };
    let mut log = BufWriter::new(File::create(log)?);
    py.detach(|| node::run(&plan, node, &settings, std::io::stdin().as_fd(), &mut log))
        .map_err(|error| testbed_error(py, error))
}

/// Puts the records of a run together: a result as of the simulator.
#[pyfunction]
#[pyo3(signature = (toml, logs, wall_s, unread, faults, out = None, force = false))]
pub(crate) fn testbed_collect(
    py: Python<'_>,
    toml: &str,
    logs: PathBuf,
    wall_s: f64,
    unread: u64,
    faults: Vec<String>,
    out: Option<PathBuf>,
    force: bool,
) -> PyResult<PyRun> {
    let plan = plan(py, toml)?;
    let course = Course { wall_s, unread, faults };
    py.detach(|| collect(&plan, &logs, &course, out.as_deref(), force))
        .map(|run| PyRun(run, None))
        .map_err(|error| testbed_error(py, error))
}
