//! A small experiment and its runs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use penstock_runner::{Options, Run, RunError};
use penstock_scenario::{Choice, Plan, Scenario};

/// Three greedy sources into one 1 Gb/s port, the first of which is finite; the port slows down half-way.
const STAR: &str = r#"
question = "How do three sources share a port?"
duration = "200 ms"
seed = 7
scheme = "qcn"

[schemes.qcn]
profile = "paper-netfpga"

[topology.star]
hosts = 4
link_rate = "1 Gbps"
link_delay = "10 us"
buffer = "100 KB"

[[flow]]
from = "h0"
to = "h3"
size = "3 MB"

[[flow]]
from = "h1..h2"
to = "h3"
start = "10 ms"

[[change]]
link = "sw0->h3"
at = "100 ms"
rate = "0.5 Gbps"

[record]
interval = "1 ms"
"#;

/// The plan of [`STAR`] with some keys set.
pub(crate) fn star(settings: &[(&str, &str)]) -> Plan {
    let mut scenario = Scenario::parse(STAR, "star.toml", "star").unwrap();
    for (key, value) in settings {
        scenario.set(key, value).unwrap();
    }
    scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `plan` to its end.
pub(crate) fn run(plan: &Plan, options: &Options) -> Result<Run, RunError> {
    penstock_runner::run(plan, options, &mut |_| ControlFlow::Continue(()))
}

/// Options for a run into the folder `out`.
pub(crate) fn into(out: impl Into<PathBuf>) -> Options {
    Options { out: Some(out.into()), ..Options::default() }
}
