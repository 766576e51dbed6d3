//! Results folders when things go wrong: a name that is taken, a disk that is full, a process that dies.

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use common::{into, run, star};
use penstock_runner::{Options, RunError};
use penstock_schemes::Duration;

/// Where a child of this test writes.
const OUT: &str = "PENSTOCK_TEST_OUT";

fn visible(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// Runs one ignored test of this file in a process of its own, behind `prelude` of a shell.
fn child(prelude: &str, test: &str, out: &Path) -> std::process::Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("{prelude} exec \"$0\" --ignored --exact --nocapture {test}"))
        .arg(std::env::current_exe().unwrap())
        .env(OUT, out)
        .output()
        .unwrap()
}

#[test]
fn a_name_that_is_taken_is_refused_before_the_run() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("out");
    run(&star(&[]), &into(&out)).unwrap();
    let mut calls = 0;
    let again = penstock_runner::run(&star(&[("seed", "8")]), &into(&out), &mut |_| {
        calls += 1;
        ControlFlow::Continue(())
    });
    assert!(matches!(again, Err(RunError::Exists { .. })));
    assert_eq!(calls, 0);
    assert_eq!(penstock_runner::open(&out).unwrap().summary.seed, 7);

    run(&star(&[("seed", "8")]), &Options { force: true, ..into(&out) }).unwrap();
    assert_eq!(penstock_runner::open(&out).unwrap().summary.seed, 8);
    assert_eq!(visible(root.path()), ["out"]);
}

#[test]
fn what_is_no_results_folder_is_neither_opened_nor_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("notes.txt"), "mine").unwrap();
    assert!(matches!(penstock_runner::open(root.path()), Err(RunError::NoResults { .. })));
    let force = Options { force: true, ..into(root.path()) };
    assert!(matches!(run(&star(&[]), &force), Err(RunError::NoResults { .. })));
    assert_eq!(visible(root.path()), ["notes.txt"]);
}

#[test]
fn a_broken_results_folder_is_an_error_with_its_file() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("out");
    run(&star(&[]), &into(&out)).unwrap();
    fs::write(out.join("rates.parquet"), "not Parquet").unwrap();
    let error = penstock_runner::fingerprint(&penstock_runner::open(&out).unwrap()).unwrap_err();
    assert!(error.to_string().contains("rates.parquet"), "{error}");
    fs::write(out.join("summary.json"), "{}").unwrap();
    assert!(penstock_runner::open(&out).unwrap_err().to_string().contains("summary.json"));
}

#[test]
fn a_full_disk_is_an_error_with_the_file_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    // Files may grow to 8 blocks of 512 octets; what is more is refused, as by a full disk.
    let output = child("trap '' XFSZ; ulimit -f 8;", "child_reports_a_full_disk", &root.path().join("out"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "runs in a process of its own, for the test above"]
fn child_reports_a_full_disk() {
    let out = std::env::var_os(OUT).unwrap();
    let error = run(&star(&[("record.arrivals", "true")]), &into(&out)).unwrap_err().to_string();
    assert!(error.contains(".parquet") && error.contains("File too large"), "{error}");
}

#[test]
fn a_killed_process_leaves_nothing_under_the_final_name() {
    let root = tempfile::tempdir().unwrap();
    let output = child("", "child_dies_half_way", &root.path().join("out"));
    assert!(!output.status.success());
    assert!(visible(root.path()).is_empty());
    // What it left does not stand in the way of the next run.
    run(&star(&[]), &into(root.path().join("out"))).unwrap();
    assert_eq!(visible(root.path()), ["out"]);
}

#[test]
#[ignore = "runs in a process of its own, for the test above"]
fn child_dies_half_way() {
    let out = std::env::var_os(OUT).unwrap();
    let options = Options { slice: Some(Duration::from_ms(100)), ..into(&out) };
    let _ = penstock_runner::run(&star(&[]), &options, &mut |_| std::process::abort());
}
