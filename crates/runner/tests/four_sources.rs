//! Paper 001's experiment with four sources: what the paper says of BCN, FECN and E-FECN, over twelve seeds.

use std::ops::ControlFlow;
use std::path::Path;

use penstock_runner::{Options, Summary};
use penstock_scenario::{Choice, Scenario};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=12;

/// The summaries of `scheme`, one a seed, whose statistics cover the time from `from` to `until`.
fn runs(scheme: &str, from: &str, until: &str) -> Vec<Summary> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/four-sources.toml");
    let run = |seed| {
        let mut scenario = Scenario::load(&file).unwrap();
        for (key, value) in [("warmup", from), ("duration", until)] {
            scenario.set(key, value).unwrap();
        }
        let choice = Choice { scheme: Some(scheme.into()), profile: None, seed: Some(seed) };
        let plan = scenario.plan(&choice).unwrap_or_else(|error| panic!("{error}"));
        penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap().summary
    };
    SEEDS.map(run).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// Mean length of the core switch's queue, octets.
fn core_queue(summary: &Summary) -> f64 {
    summary.queues.iter().find(|queue| queue.name == "CS->DU").expect("it is recorded").mean_octets
}

#[test]
fn fecn_and_efecn_end_fair_with_the_queue_near_qeq() {
    for scheme in ["fecn", "efecn"] {
        for summary in runs(scheme, "60 ms", "80 ms") {
            let (jain, queue, seed) = (summary.jain_index, core_queue(&summary), summary.seed);
            assert!(jain > 0.999, "{scheme} {seed}: {jain}");
            assert!((18_000.0..26_000.0).contains(&queue), "{scheme} {seed}: {queue}");
        }
    }
}

/// Fair and efficient: FECN by about 20 ms, E-FECN by about 15 ms.
#[test]
fn fecn_and_efecn_converge_when_the_paper_says() {
    for (scheme, from, until) in [("fecn", "18 ms", "20 ms"), ("efecn", "13 ms", "15 ms")] {
        for summary in runs(scheme, from, until) {
            let sum: f64 = summary.flows.iter().map(|flow| flow.throughput_bps).sum();
            let (jain, seed) = (summary.jain_index, summary.seed);
            assert!(jain > 0.999 && sum > 9.5e9, "{scheme} {seed}: {jain}, {sum} bit/s");
        }
    }
}

#[test]
fn efecn_loses_nothing_and_bcn_a_few_frames_at_the_start() {
    for summary in runs("efecn", "0 ms", "100 ms") {
        assert_eq!(summary.totals.frames_dropped, 0, "seed {}", summary.seed);
    }
    for until in ["6 ms", "100 ms"] {
        for summary in runs("bcn", "0 ms", until) {
            let (lost, seed) = (summary.totals.frames_dropped, summary.seed);
            assert!((10..=60).contains(&lost), "{until}, seed {seed}: {lost}");
        }
    }
}

#[test]
fn bcn_stays_unequal() {
    let summaries = runs("bcn", "25 ms", "80 ms");
    let jain = mean(summaries.iter().map(|summary| summary.jain_index));
    assert!(jain < 0.97, "{jain}");
}

#[test]
fn each_scheme_holds_its_queue_within_half_of_its_target() {
    for scheme in ["bcn", "fecn", "efecn", "e2cm", "qcn"] {
        let queue = mean(runs(scheme, "25 ms", "80 ms").iter().map(core_queue));
        assert!((12_000.0..36_000.0).contains(&queue), "{scheme}: {queue}");
    }
}
