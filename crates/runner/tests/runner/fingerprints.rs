//! Every committed scenario gives the bytes that it gave before: its fingerprint is in `fingerprints.txt`.
//!
//! A change that is meant to alter results renews the file, and the commit says why:
//! `PENSTOCK_RENEW=1 cargo test -p penstock-runner --test runner fingerprints`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::committed::{files, scenarios};
use penstock_runner::{Options, fingerprint};
use penstock_scenario::{Choice, Scenario};

const RENEW: &str = "PENSTOCK_RENEW=1 cargo test -p penstock-runner --test runner fingerprints";
/// The scenarios of the bench are long on purpose; this much of them is enough to see a change.
const BENCH_DURATION: &str = "5 ms";

#[test]
fn every_scenario_has_the_committed_fingerprint() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = scenarios();
    let committed = home.join("tests/fingerprints.txt");
    let found: BTreeMap<String, String> =
        files(&scenarios).into_iter().map(|file| (name(&scenarios, &file), run(&scenarios, &file))).collect();
    assert!(!found.is_empty(), "no scenario in {}", scenarios.display());

    if std::env::var_os("PENSTOCK_RENEW").is_some() {
        let mut text = format!("# Fingerprint of each scenario's result. Renewed by: {RENEW}\n");
        for (name, print) in &found {
            writeln!(text, "{name} {print}").unwrap();
        }
        fs::write(&committed, text).unwrap();
        return;
    }
    let text = fs::read_to_string(&committed).unwrap_or_default();
    let known: BTreeMap<String, String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, print)| (name.to_owned(), print.to_owned()))
        .collect();
    let differ: Vec<_> = known.keys().chain(found.keys()).filter(|name| known.get(*name) != found.get(*name)).collect();
    assert!(differ.is_empty(), "results changed: {differ:?}. If that is meant, renew the file: {RENEW}");
}

fn run(scenarios: &Path, file: &Path) -> String {
    let mut scenario = Scenario::load(file).unwrap();
    if file.starts_with(scenarios.join("bench")) {
        scenario.set("duration", BENCH_DURATION).unwrap();
    }
    let plan = scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"));
    let run = penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    fingerprint(&run).unwrap().to_string()
}

/// The name of a scenario, such as `netfpga/one-source-100us`.
fn name(scenarios: &Path, file: &Path) -> String {
    let path = file.strip_prefix(scenarios).unwrap().with_extension("");
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
