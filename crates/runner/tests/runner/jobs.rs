//! Jobs: their summary, their table, and runs that end before them.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use penstock_runner::{Options, Run, Table, Threads};
use penstock_scenario::{Choice, Scenario};

fn run(duration: &str, keys: &str, threads: usize) -> Run {
    let text = format!(
        "question = \"How long?\"\nduration = \"{duration}\"\nuntil = \"all-flows-complete\"\nscheme = \"none\"\n\
         record.interval = \"100 us\"\n[topology.star]\nhosts = 4\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"1 MB\"\n\
         [[collective]]\nkind = \"all-reduce\"\nsize = \"6 MB\"\n{keys}"
    );
    let plan = Scenario::parse(&text, "x.toml", "x")
        .and_then(|s| s.plan(&Choice::default()))
        .unwrap_or_else(|e| panic!("{e}"));
    let threads = Threads::Number(NonZeroUsize::new(threads).expect("one thread at least"));
    let options = Options { threads, ..Options::default() };
    penstock_runner::run(&plan, &options, &mut |_| ControlFlow::Continue(())).expect("it runs")
}

/// Six steps of 1.5 MB at 80 ps an octet, each with a frame of 1500 octets and 2 us more.
const RING_S: f64 = 6.0 * (1.5e6 * 80e-12 + 0.12e-6 + 2e-6);

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("there is a number");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn a_job_has_times_and_bandwidths() {
    let run = run("1 s", "iterations = 3\ncompute = \"100 us\"\n", 1);
    let [job] = &run.summary.jobs[..] else { panic!("one job") };
    assert_eq!((job.kind.as_deref(), job.algorithm.as_deref()), (Some("all-reduce"), Some("ring")));
    assert_eq!((job.ranks, job.iterations, job.iterations_ended), (4, 3, 3));
    near(job.job_time_s, 3.0 * (100e-6 + RING_S));
    near(job.iteration_mean_s, 100e-6 + RING_S);
    near(job.collective_mean_s, RING_S);
    near(job.algorithm_bandwidth_bps, 48e6 / RING_S);
    near(job.bus_bandwidth_bps, 1.5 * 48e6 / RING_S);
    // 9 MB through the line of each host.
    near(job.ideal_s, 9e6 * 80e-12);
    near(job.exposed_communication_s, RING_S);
    assert_eq!(job.straggling_s, Some(0.0));
    near(run.summary.finished_at_s, 3.0 * (100e-6 + RING_S));
    assert!(run.summary.completions.is_empty() && run.summary.notes.iter().all(|note| !note.contains("job0")));

    // An iteration, a computation and a collective for each rank, three times.
    let table = run.table(Table::Jobs).expect("there is a job");
    assert_eq!(table.batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 4 * 3 * 3);
    let ends = |batch: &arrow_array::RecordBatch| {
        let ends = batch.column_by_name("end_s").expect("it has ends").as_primitive::<Float64Type>();
        ends.values().iter().copied().fold(0.0, f64::max)
    };
    near(table.batches.iter().map(ends).reduce(f64::max), 3.0 * (100e-6 + RING_S));
}

#[test]
fn a_run_that_ends_before_its_job_says_what_waits() {
    let run = run("300 us", "", 1);
    let [job] = &run.summary.jobs[..] else { panic!("one job") };
    assert_eq!((job.job_time_s, job.iterations_ended, run.summary.finished_at_s), (None, 0, None));
    let note = run.summary.notes.iter().find(|note| note.starts_with("job0 had not ended at the end of the run: "));
    assert!(note.is_some(), "{:?}", run.summary.notes);
}

/// A star has one switch: there is nothing to cut. `python/tests/test_jobs_threads.py` has fabrics.
#[test]
fn a_job_on_one_switch_runs_on_one_thread() {
    let two = run("1 s", "", 2);
    let threading = two.threading.clone().expect("it was a simulation");
    assert_eq!((threading.threads, &*threading.reason), (1, "the network has fewer switches than threads"));
    assert_eq!(two.summary.jobs, run("1 s", "", 1).summary.jobs);
}
