//! Results folders when things go wrong: a name that is taken, a disk that is full, a process that dies.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use crate::common::{into, run, star};
use arrow_array::{ArrayRef, Float16Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use penstock_runner::{Options, RunError};
use penstock_schemes::Duration;

/// Set in a test's second process: where it writes.
const OUT: &str = "PENSTOCK_TEST_OUT";

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Where to write, in the second process of a test that needs one: the test starts itself [`again`].
fn out_of_second_process() -> Option<PathBuf> {
    std::env::var_os(OUT).map(PathBuf::from)
}

/// Runs only the test called `test`, in a separate process, after the shell commands `prelude`.
fn again(prelude: &str, test: &str, out: &Path) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("{prelude} exec \"$0\" --exact --nocapture folders::{test}"))
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
    assert_eq!(names(root.path()), ["out"]);
}

#[test]
fn another_folder_is_neither_opened_nor_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("notes.txt"), "mine").unwrap();
    assert!(matches!(penstock_runner::open(root.path()), Err(RunError::NoResults { .. })));
    let force = Options { force: true, ..into(root.path()) };
    assert!(matches!(run(&star(&[]), &force), Err(RunError::NoResults { .. })));
    assert_eq!(names(root.path()), ["notes.txt"]);
}

#[test]
fn a_broken_results_folder_is_an_error_with_its_file() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("out");
    run(&star(&[]), &into(&out)).unwrap();
    fs::write(out.join("rates.parquet"), "not Parquet").unwrap();
    let error = penstock_runner::fingerprint(&penstock_runner::open(&out).unwrap()).unwrap_err();
    assert!(error.to_string().contains("rates.parquet"), "{error}");
    // A table of another program, of half-precision numbers.
    let half: ArrayRef = Arc::new(Float16Array::from_iter_values([]));
    let foreign = RecordBatch::try_from_iter([("time_s", half)]).unwrap();
    let file = fs::File::create(out.join("rates.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, foreign.schema(), None).unwrap();
    writer.write(&foreign).unwrap();
    writer.close().unwrap();
    let error = penstock_runner::fingerprint(&penstock_runner::open(&out).unwrap()).unwrap_err();
    assert!(error.to_string().contains("rates.parquet: column time_s: no table has"), "{error}");
    fs::write(out.join("summary.json"), "{}").unwrap();
    assert!(penstock_runner::open(&out).unwrap_err().to_string().contains("summary.json"));
}

#[test]
fn a_full_disk_is_an_error_with_the_file_and_leaves_nothing() {
    if let Some(out) = out_of_second_process() {
        let error = run(&star(&[("record.arrivals", "true")]), &into(&out)).unwrap_err().to_string();
        assert!(error.contains(".parquet") && error.contains("File too large"), "{error}");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    // Files may grow to 8 blocks of 512 octets; a longer file is refused, as by a full disk.
    let limit = "trap '' XFSZ; ulimit -f 8;";
    let test = "a_full_disk_is_an_error_with_the_file_and_leaves_nothing";
    let output = again(limit, test, &root.path().join("out"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    assert!(names(root.path()).is_empty());
}

#[test]
fn a_killed_process_leaves_nothing_under_the_final_name_and_the_next_run_cleans_up() {
    if let Some(out) = out_of_second_process() {
        let options = Options { slice: Some(Duration::from_ms(100)), ..into(&out) };
        let _ = penstock_runner::run(&star(&[]), &options, &mut |_| std::process::abort());
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let test = "a_killed_process_leaves_nothing_under_the_final_name_and_the_next_run_cleans_up";
    let output = again("", test, &root.path().join("out"));
    assert!(!output.status.success());
    let left = names(root.path());
    assert!(left.len() == 1 && left[0].starts_with(".out.partial-"), "{left:?}");
    run(&star(&[]), &into(root.path().join("out"))).unwrap();
    assert_eq!(names(root.path()), ["out"]);
}
