//! Completions of finite flows: times on an empty network, slowdowns, percentiles, flows that are left.

use std::ops::ControlFlow;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, UInt64Type};
use penstock_runner::{Options, Progress, Run, Table};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::Duration;

fn run(tables: &str) -> Run {
    run_with("", tables)
}

fn run_with(keys: &str, tables: &str) -> Run {
    run_until(keys, tables, f64::INFINITY)
}

/// The run is interrupted where it has simulated `most` seconds.
fn run_until(keys: &str, tables: &str, most: f64) -> Run {
    let text = format!(
        "{keys}question = \"When do flows complete?\"\nduration = \"100 ms\"\nscheme = \"none\"\nrecord.interval = \"1 ms\"\n\
         [topology.star]\nhosts = 4\nlink_rate = \"1 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"1 MB\"\n{tables}"
    );
    let plan = Scenario::parse(&text, "x.toml", "x")
        .and_then(|s| s.plan(&Choice::default()))
        .unwrap_or_else(|e| panic!("{e}"));
    let options = Options { slice: Some(Duration::from_ms(1)), ..Options::default() };
    let mut watch = |progress: &Progress| {
        if progress.now.as_seconds() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    penstock_runner::run(&plan, &options, &mut watch).expect("it runs")
}

/// A column of numbers of the table; nulls are NaN.
fn column(run: &Run, name: &str) -> Vec<f64> {
    let records = run.table(Table::Completions).expect("there are completions");
    let mut values = Vec::new();
    for batch in &records.batches {
        let array = batch.column_by_name(name).expect("the table has the column");
        match array.as_primitive_opt::<Float64Type>() {
            Some(reals) => values.extend(reals.iter().map(|value| value.unwrap_or(f64::NAN))),
            None => values.extend(array.as_primitive::<UInt64Type>().values().iter().map(|&value| value as f64)),
        }
    }
    values
}

/// Frames of 1500 octets take 12 us at 1 Gb/s. 15 KB are ten of them: 2 × 12 us and 2 us for the first, 9 × 12 us for the others.
/// Flows that come one after the other, a millisecond apart, take just so long: each slowdown is 1.
#[test]
fn a_flow_alone_takes_the_ideal_time() {
    let flow = "[[flow]]\nname = \"a\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"15 KB\"\nrepeat = 5\nevery = \"1 ms\"\n";
    // 1460 octets of data and 58 around them; the second segment has 540: ideally the last frame waits for the first one's.
    let tcp = "[[flow]]\nname = \"b\"\nfrom = \"h2\"\nto = \"h3\"\nsize = \"2 KB\"\ntransport = \"tcp\"\n";
    let run = run(&format!("{flow}{tcp}"));
    let (ideal, slowdown) = (column(&run, "ideal_s"), column(&run, "slowdown"));
    assert!(ideal[..5].iter().all(|ideal| (ideal - 134e-6).abs() < 1e-12), "{ideal:?}");
    let segments = 2.0 * 1518.0 * 8e-9 + 2e-6 + 598.0 * 8e-9;
    assert!((ideal[5] - segments).abs() < 1e-12, "{} {segments}", ideal[5]);
    assert!(slowdown.iter().all(|slowdown| (slowdown - 1.0).abs() < 1e-9), "{slowdown:?}");
    let all = &run.summary.completions[0];
    assert_eq!((all.group.as_deref(), all.flows, all.completed), (None, 6, 6));
    let groups: Vec<_> =
        run.summary.completions.iter().map(|c| (c.group.as_deref(), c.least_octets, c.flows)).collect();
    let expected = [
        (None, 0, 6),
        (None, 0, 1),
        (None, 10_001, 5),
        (Some("a0..a4"), 0, 5),
        (Some("a0..a4"), 10_001, 5),
        (Some("b"), 0, 1),
        (Some("b"), 0, 1),
    ];
    assert_eq!(groups, expected);
}

/// The rates of a flow with a size are over the time that it is there, and its fair share ends with it. 200 frames each from two
/// hosts and 400 from a third one meet at a port: they take turns for 600 times 12 us, the last 200 come alone. So the
/// shares are a third for 7.2 ms; the third flow has all of the port for 2.4 ms more, half of it on average.
#[test]
fn a_fair_share_ends_with_its_flow() {
    let flow = |from: &str, size: &str| {
        format!("[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"h1\"\nsize = \"{size}\"\n")
    };
    let window = "[[window]]\nname = \"late\"\nstart = \"8 ms\"\nend = \"20 ms\"\n";
    let run = run(&[&flow("h0", "300 KB"), &flow("h2", "300 KB"), &flow("h3", "600 KB"), window].concat());
    let summary = &run.summary;
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.01 * expected, "{found} {expected}");
    for (flow, (took_s, rate_bps)) in
        summary.flows.iter().zip([(7.2e-3, 1e9 / 3.0), (7.2e-3, 1e9 / 3.0), (9.6e-3, 5e8)])
    {
        assert_eq!(flow.active_s, flow.completion_time_s);
        near(flow.active_s.unwrap(), took_s);
        near(flow.throughput_bps, rate_bps);
        near(flow.fair_rate_bps, rate_bps);
    }
    // Each has all of its share; of the throughputs alone the index would be 0.961.
    assert!(summary.jain_index > 0.9999, "{}", summary.jain_index);
    // From 8 ms on the third flow alone is there, for 1.6 ms.
    let late = &summary.windows[0];
    assert_eq!((late.flows[0].throughput_bps, late.flows[0].fair_rate_bps), (0.0, 0.0));
    near(late.flows[2].active_s.unwrap(), 1.6e-3);
    near(late.flows[2].throughput_bps, 1e9);
    near(late.flows[2].fair_rate_bps, 1e9);
    assert_eq!(late.jain_index, 1.0);
    let rates = run.table(Table::Rates).expect("rates are recorded");
    let shares = |time_s: f64| -> Vec<f64> {
        let mut found = Vec::new();
        for batch in &rates.batches {
            let column =
                |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec();
            let of_time = column("time_s").into_iter().zip(column("fair_rate_bps"));
            found.extend(of_time.filter(|(time, _)| *time == time_s).map(|(_, share)| share));
        }
        found
    };
    assert_eq!(shares(0.005), [1e9 / 3.0; 3]);
    assert_eq!(shares(0.008), [0.0, 0.0, 1e9]);
    assert_eq!(shares(0.02), [0.0; 3]);
}

/// Three flows of 300 KB at the same instant to one host: each would take 200 × 12 us and 14 us alone. Their frames take turns, so
/// that the last one ends when three times as many have passed.
#[test]
fn flows_that_share_a_link_are_slowed_down() {
    let run = run("[[incast]]\nto = \"h3\"\nhosts = \"h0..h3\"\nfan_in = 3\nsize = \"300 KB\"\nevery = \"1 s\"\n");
    let mut slowdown = column(&run, "slowdown");
    slowdown.sort_by(f64::total_cmp);
    let last = (600.0 * 12e-6 + 14e-6) / (200.0 * 12e-6 + 14e-6);
    assert!((slowdown[2] - last).abs() < 1e-9, "{slowdown:?} {last}");
    assert!(slowdown[0] > 0.95 * last, "{slowdown:?}");
    let all = &run.summary.completions[0];
    assert_eq!(all.slowdown_p50, Some(slowdown[1]));
    assert_eq!((all.slowdown_p99, all.slowdown_p999), (Some(slowdown[2]), Some(slowdown[2])));
    assert!(run.summary.flows.is_empty(), "results aggregate the flows of incasts");
    assert_eq!(run.summary.jain_index, 1.0);
}

/// A flow that has not completed at the end of the run is counted, and has no slowdown.
#[test]
fn flows_that_are_left_are_counted() {
    let run = run("[[flow]]\nfrom = \"h0..h1\"\nto = \"h2\"\nsize = \"8 MB\"\ntransport = \"selective\"\n");
    let all = &run.summary.completions[0];
    assert_eq!((all.flows, all.completed, all.slowdown_mean), (2, 0, None));
    assert!(column(&run, "end_s").iter().all(|end| end.is_nan()));
}

/// Flows that start in the warm-up are in the table and not in the summary.
#[test]
fn the_summary_leaves_the_warm_up_out() {
    let flow = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"\nsize = \"15 KB\"\nrepeat = 5\nevery = \"10 ms\"\ntransport = \"go-back-n\"\n";
    let run = run_with("warmup = \"25 ms\"\n", flow);
    assert_eq!(column(&run, "slowdown").len(), 5);
    assert_eq!(run.summary.completions[0].flows, 2, "those of 30 and 40 ms");
}

/// Requests of one frame, answered with ten, and 50 us to think: each round takes the ideal times of both and the thinking.
#[test]
fn a_closed_loop_takes_the_time_of_its_parts() {
    let run = run_with(
        "until = \"all-flows-complete\"\n",
        "[[flow]]\nname = \"ask\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1500 B\"\nresponse = \"15 KB\"\nrepeat = 4\nthink = \"50 us\"\n",
    );
    let (asked, answered) = (2.0 * 12e-6 + 2e-6, 2.0 * 12e-6 + 2e-6 + 9.0 * 12e-6);
    let start = column(&run, "start_s");
    for round in 0..4 {
        let begins = round as f64 * (asked + answered + 50e-6);
        assert!((start[round] - begins).abs() < 1e-12, "{start:?}");
        assert!((start[4 + round] - begins - asked).abs() < 1e-12, "{start:?}");
    }
    assert!(column(&run, "slowdown").iter().all(|slowdown| (slowdown - 1.0).abs() < 1e-9));
    let end = 4.0 * (asked + answered) + 3.0 * 50e-6;
    assert!((run.summary.ended_at_s.unwrap() - end).abs() < 1e-12, "{:?}", run.summary.ended_at_s);
    assert_eq!(run.summary.interrupted_at_s, None);
    // It lasted as long as that, of the 100 ms that it might have had.
    assert!((run.summary.duration_s - end).abs() < 1e-12, "{:?}", run.summary.duration_s);
    assert_eq!(run.summary.planned_s, 0.1);
    let groups: Vec<_> = run.summary.completions.iter().filter_map(|c| c.group.as_deref()).collect();
    assert_eq!(groups, ["ask0..ask3", "ask0..ask3", "ask0..ask3.response", "ask0..ask3.response"]);
}

/// The first round is not over when the run ends: the second has no start.
#[test]
fn a_flow_that_has_not_begun_has_no_start() {
    let run = run("[[flow]]\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1 GB\"\nrepeat = 2\nthink = \"0 s\"\n");
    let start = column(&run, "start_s");
    assert!(start[0] == 0.0 && start[1].is_nan(), "{start:?}");
    assert_eq!((run.summary.completions[0].flows, run.summary.ended_at_s), (1, None));
}

/// An interrupted run reports the flows that had begun, each with its state at that time: of one table, of two loads, of an incast.
#[test]
fn an_interrupted_run_reports_the_flows_that_had_begun() {
    let tables = "[[flow]]\nname = \"a\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"15 KB\"\nrepeat = 9\nevery = \"10 ms\"\n\
                  [[load]]\nname = \"few\"\nload = 0.01\nsize = \"15 KB\"\n[[load]]\nname = \"many\"\nload = 0.05\nsize = \"15 KB\"\n\
                  [[incast]]\nname = \"in\"\nfan_in = 2\nsize = \"15 KB\"\nevery = \"7 ms\"\n";
    let (whole, part) = (run(tables), run_until("", tables, 0.03));
    let at = part.summary.interrupted_at_s.expect("it was interrupted");
    assert!((at - 0.03).abs() < 1e-9, "{at}");
    let rows = |run: &Run| -> Vec<(f64, f64, f64)> {
        let (starts, ends, ideal) = (column(run, "start_s"), column(run, "end_s"), column(run, "ideal_s"));
        starts.into_iter().zip(ends).zip(ideal).map(|((start, end), ideal)| (start, end, ideal)).collect()
    };
    let expected: Vec<_> = rows(&whole).into_iter().filter(|&(start, ..)| start <= at).collect();
    let reported = rows(&part);
    assert!(reported.len() < rows(&whole).len() && reported.len() > 20, "{} of {}", reported.len(), rows(&whole).len());
    assert_eq!(reported.len(), expected.len());
    for ((start, end, ideal), (of_whole, ended, same)) in reported.iter().zip(&expected) {
        assert_eq!((start, ideal), (of_whole, same));
        assert!(if *ended <= at { end == ended } else { end.is_nan() }, "{end} and {ended}");
    }
    assert_eq!(part.summary.completions[0].flows, reported.len() as u64);
}
