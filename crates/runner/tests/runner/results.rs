//! Contents of a result: the same bytes each time, sums that agree, and a run that was stopped.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;

use crate::common::{into, run, star};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use penstock_runner::{OBJECTS, Options, Records, Run, RunError, Table, fingerprint};
use penstock_scenario::Plan;
use penstock_schemes::Duration;
use penstock_sim::network::PortEvent;

#[test]
fn the_same_plan_gives_the_same_result() {
    let plan = star(&[("record.arrivals", "true")]);
    let print = |options: &Options| fingerprint(&run(&plan, options).unwrap()).unwrap();
    let first = print(&Options::default());
    assert_eq!(print(&Options::default()), first, "twice in one process");
    for slice in [Duration::from_us(7), Duration::from_ms(1), Duration::from_ms(1000)] {
        assert_eq!(print(&Options { slice: Some(slice), ..Options::default() }), first, "slices of {slice:?}");
    }
    thread::scope(|scope| {
        let others: Vec<_> = (0..3).map(|_| scope.spawn(|| print(&Options::default()))).collect();
        for other in others {
            assert_eq!(other.join().unwrap(), first, "side by side");
        }
    });
    assert_ne!(fingerprint(&run(&star(&[("seed", "8")]), &Options::default()).unwrap()).unwrap(), first);
}

#[test]
fn a_folder_says_what_memory_says_in_the_same_bytes_each_time() {
    let root = tempfile::tempdir().unwrap();
    let plan = star(&[("record.arrivals", "true")]);
    let memory = run(&plan, &Options::default()).unwrap();
    let [first, second] = ["first", "second"].map(|name| run(&plan, &into(root.path().join(name))).unwrap());
    assert_eq!(fingerprint(&first).unwrap(), fingerprint(&memory).unwrap());

    let opened = penstock_runner::open(&root.path().join("first")).unwrap();
    assert_eq!(opened.summary, first.summary);
    assert_eq!(opened.scenario, plan.resolved);
    assert!(opened.tables().eq(memory.tables()));
    for table in memory.tables() {
        let (kept, read) = (memory.table(table).unwrap(), opened.table(table).unwrap());
        assert_eq!(read.schema, kept.schema, "{}: names, types, units and descriptions", table.name());
        assert_eq!(rows(&read), rows(&kept));
    }

    let bytes = |run: &Run, name: &str| fs::read(run.path.as_ref().unwrap().join(name)).unwrap();
    for table in memory.tables() {
        let file = table.file_name();
        assert_eq!(bytes(&first, &file), bytes(&second, &file), "{file}");
    }
    assert_eq!(bytes(&first, "scenario.toml"), bytes(&second, "scenario.toml"));
}

#[test]
fn the_columns_of_the_scheme_come_last_and_carry_their_meaning() {
    let result = run(&star(&[]), &Options::default()).unwrap();
    let queues = result.table(Table::Queues).unwrap().schema;
    assert_eq!(queues.field(3).name(), "queue_octets");
    assert_eq!(queues.field(3).metadata()["unit"], "octets");
    assert!(queues.field_with_name("cp_fb").unwrap().metadata().contains_key("description"));
    assert!(result.table(Table::Signals).unwrap().schema.field_with_name("q_off_octets").is_ok());
}

#[test]
fn notifications_and_returned_probes_are_counted_apart() {
    for scheme in ["fecn", "efecn", "e2cm"] {
        // A buffer beyond Qsc, so that E-FECN sends BCN(0,0), and a link that probes need time to cross.
        let plan = star(&[
            ("scheme", scheme),
            ("topology.star.buffer", "600 KB"),
            ("change.0.at", "15 ms"),
            ("duration", "20 ms"),
        ]);
        let summary = run(&plan, &Options::default()).unwrap().summary;
        let t = &summary.totals;
        let (notifications, probes) = (t.notifications.unwrap(), t.probes_returned.unwrap());
        assert_eq!(notifications + probes, t.feedback_frames, "{scheme}");
        assert!(probes > 0, "{scheme}");
        assert_eq!(notifications > 0, scheme != "fecn", "{scheme}: FECN has probes alone");
        assert_eq!(summary.flows.iter().map(|f| f.probes_returned.unwrap()).sum::<u64>(), probes, "{scheme}");
        assert_eq!(summary.flows.iter().map(|f| f.notifications_received.unwrap()).sum::<u64>(), notifications);
        let sent: u64 = summary.queues.iter().map(|q| q.feedback_frames).sum();
        assert!(sent >= notifications, "{scheme}: congestion points sent {sent}, and {notifications} have arrived");
    }
    let qcn = run(&star(&[]), &Options::default()).unwrap().summary;
    assert_eq!((qcn.totals.notifications, qcn.totals.probes_returned), (None, None), "QCN has no probes");
    assert!(!qcn.to_json().contains("probes_returned"));
}

#[test]
fn sums_agree() {
    let plan = star(&[("topology.star.buffer", "40 KB")]);
    let result = run(&plan, &Options::default()).unwrap();
    let summary = &result.summary;
    let t = &summary.totals;
    assert!(t.frames_dropped > 0 && t.feedback_frames > 0, "the experiment is to drop and to signal: {t:?}");
    assert_eq!(t.frames_offered, t.frames_sent + t.frames_discarded_at_source + t.frames_waiting_at_source);
    assert_eq!(
        t.frames_sent + t.copies_made,
        t.frames_delivered + t.frames_dropped + t.frames_lost_on_link + t.frames_in_flight
    );
    let flows = |count: fn(&penstock_runner::summary::FlowSummary) -> u64| summary.flows.iter().map(count).sum::<u64>();
    assert_eq!(flows(|f| f.frames_sent), t.frames_sent);
    assert_eq!(flows(|f| f.frames_delivered), t.frames_delivered);
    assert_eq!(flows(|f| f.frames_dropped), t.frames_dropped);
    assert_eq!(flows(|f| f.feedback_received), t.feedback_frames);
    assert_eq!(summary.queues.iter().map(|q| q.frames_dropped).sum::<u64>(), t.frames_dropped);
    assert!((summary.loss_rate - t.frames_dropped as f64 / t.frames_sent as f64).abs() < 1e-15);
    assert!((summary.feedback_rate - t.feedback_frames as f64 / t.frames_sent as f64).abs() < 1e-15);

    // Tables and summary are two views of one run.
    let queues = result.table(Table::Queues).unwrap();
    assert_eq!(counts(&queues, "frames_dropped").iter().sum::<u64>(), t.frames_dropped);
    assert_eq!(
        result.table(Table::Signals).unwrap().batches.iter().map(|b| b.num_rows() as u64).sum::<u64>(),
        t.feedback_frames
    );
    // The samples are 1 ms apart, from 0 s to 200 ms, and there is no warm-up: the mean of the 200 intervals is the whole.
    let rates = result.table(Table::Rates).unwrap();
    let time = reals(&rates, "time_s");
    assert_eq!((time[0], time[time.len() - 1], time.len()), (0.0, 0.2, 201 * 3));
    let throughput = reals(&rates, "throughput_bps");
    for (i, flow) in summary.flows.iter().enumerate() {
        let mean = throughput[i..].iter().step_by(3).sum::<f64>() / 200.0;
        assert!((mean - flow.throughput_bps).abs() < 1e-6 * flow.throughput_bps, "{}: {mean}", flow.name);
    }
    // Full, except in the first interval: the frames come 20 us late. A frame that is on the link when its rate falls,
    // 12 000 bits at most, is sent to its end at the old rate: beyond the schedule.
    let (time, busy) = (reals(&queues, "time_s"), reals(&queues, "utilization"));
    for (time, busy) in time.iter().zip(&busy).skip(2) {
        let most = if (0.1005..0.1015).contains(time) { 1.0 + 12_000.0 / 500_000.0 } else { 1.0 };
        assert!((0.9..=most).contains(busy), "{busy} at {time} s");
    }
}

#[test]
fn fair_shares_and_completion_are_those_of_the_flows() {
    // Without control, and with room for all: 3 MB and 24 octets or less of overhead a frame at 1 Gb/s need some 24 ms
    // alone. From 10 ms on the flow shares with two others.
    let result = run(&star(&[("scheme", "none"), ("topology.star.buffer", "40 MB")]), &Options::default()).unwrap();
    let flow = &result.summary.flows[0];
    let alone_s = 0.024;
    let completion_s = flow.completion_time_s.unwrap();
    assert!((alone_s..0.1).contains(&completion_s), "{completion_s}");
    assert_eq!(flow.frames_delivered, 2000);
    assert_eq!(result.summary.flows[1].completion_time_s, None);
    let rates = result.table(Table::Rates).unwrap();
    let fair = reals(&rates, "fair_rate_bps");
    // Row 3 t + i is flow i at t ms.
    assert_eq!(fair[..3], [1e9, 0.0, 0.0]);
    assert!((fair[3 * 20 + 1] - 1e9 / 3.0).abs() < 1.0, "{}", fair[3 * 20 + 1]);
    assert_eq!(fair[3 * 99..3 * 100], [0.0, 5e8, 5e8]);
    assert_eq!(fair[3 * 150..3 * 151], [0.0, 2.5e8, 2.5e8]);
    // 10 ms at 0, a third of 1 Gb/s until the first flow ends, half of it until 100 ms, and a quarter for 100 ms.
    let mean = ((completion_s - 0.01) / 3.0 + (0.1 - completion_s) / 2.0 + 0.1 / 4.0) / 0.2 * 1e9;
    assert!((result.summary.flows[1].fair_rate_bps - mean).abs() < 1.0);
    // The first flow had all for 10 ms, and a third after that.
    let own = (0.01 + (completion_s - 0.01) / 3.0) / completion_s * 1e9;
    assert!((flow.fair_rate_bps - own).abs() < 1.0);
}

#[test]
fn arrivals_are_recorded_on_request_and_signals_by_default() {
    let plain = run(&star(&[("record.signals", "false")]), &Options::default()).unwrap();
    // One of the flows has a size.
    assert!(plain.tables().eq([Table::Queues, Table::Rates, Table::Flows, Table::Completions]));
    assert!(matches!(plain.table(Table::Arrivals), Err(RunError::NotRecorded { table: "arrivals" })));

    let plan = star(&[("record.arrivals", "true"), ("topology.star.buffer", "40 KB")]);
    let result = run(&plan, &Options::default()).unwrap();
    let arrivals = result.table(Table::Arrivals).unwrap();
    let dropped: usize =
        arrivals.batches.iter().map(|b| b.column_by_name("dropped").unwrap().as_boolean().true_count()).sum();
    assert_eq!(dropped as u64, result.summary.totals.frames_dropped);
    assert!(counts(&arrivals, "queue_octets").iter().all(|&octets| octets <= 40_000));
}

/// Windows that lie end to end, and one across.
const WINDOWS: &str = r#"[{ name = "first", start = "0 s", end = "50 ms" }, { name = "second", start = "50 ms" },
    { name = "across", start = "40 ms", end = "60 ms" }]"#;

#[test]
fn windows_add_up_to_the_run_and_change_nothing_in_it() {
    let tight = ("topology.star.buffer", "40 KB");
    let plain = run(&star(&[tight]), &Options::default()).unwrap();
    let result = run(&star(&[tight, ("window", WINDOWS)]), &Options::default()).unwrap();
    assert_eq!(fingerprint_without_windows(&result), fingerprint_without_windows(&plain));
    let [first, second, across] = &result.summary.windows[..] else { panic!("three windows") };
    assert_eq!((first.name.as_str(), first.start_s, first.end_s), ("first", 0.0, 0.05));
    assert_eq!((across.name.as_str(), across.start_s, across.end_s), ("across", 0.04, 0.06));
    let t = &result.summary.totals;
    assert!(t.frames_dropped > 0 && t.feedback_frames > 0, "{t:?}");
    let sums = [
        (first.totals.frames_offered + second.totals.frames_offered, t.frames_offered),
        (first.totals.frames_sent + second.totals.frames_sent, t.frames_sent),
        (first.totals.frames_delivered + second.totals.frames_delivered, t.frames_delivered),
        (first.totals.frames_dropped + second.totals.frames_dropped, t.frames_dropped),
        (first.totals.feedback_frames + second.totals.feedback_frames, t.feedback_frames),
        (first.totals.packet_hops + second.totals.packet_hops, t.packet_hops),
    ];
    assert!(sums.iter().all(|(parts, whole)| parts == whole), "{sums:?}");
    for (whole, (a, b)) in result.summary.queues.iter().zip(first.queues.iter().zip(&second.queues)) {
        assert!((whole.mean_octets - (a.mean_octets * 0.25 + b.mean_octets * 0.75)).abs() < 1e-6, "{}", whole.name);
        assert_eq!(whole.max_octets, a.max_octets.max(b.max_octets));
        assert_eq!(whole.min_octets, a.min_octets.min(b.min_octets));
        assert_eq!(whole.frames_dropped, a.frames_dropped + b.frames_dropped);
    }
    for (whole, (a, b)) in result.summary.flows.iter().zip(first.flows.iter().zip(&second.flows)) {
        assert!((whole.throughput_bps - (a.throughput_bps * 0.25 + b.throughput_bps * 0.75)).abs() < 1.0);
        assert!((whole.fair_rate_bps - (a.fair_rate_bps * 0.25 + b.fair_rate_bps * 0.75)).abs() < 1.0);
    }
    // A window measures before the warm-up has ended, too.
    let warmed = run(&star(&[tight, ("window", WINDOWS), ("warmup", "100 ms")]), &Options::default()).unwrap();
    assert_eq!(warmed.summary.windows, result.summary.windows);
    assert_ne!(warmed.summary.queues, result.summary.queues);
}

fn fingerprint_without_windows(result: &Run) -> String {
    let mut summary = result.summary.clone();
    summary.windows.clear();
    summary.run = Default::default();
    summary.to_json()
}

#[test]
fn a_run_that_is_stopped_keeps_the_windows_that_it_opened() {
    let plan = star(&[("window", WINDOWS)]);
    let options = Options { slice: Some(Duration::from_ms(1)), ..Options::default() };
    let result = penstock_runner::run(&plan, &options, &mut |progress| {
        if progress.now.0 >= 45_000_000_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let summary = result.unwrap().summary;
    assert_eq!(summary.interrupted_at_s, Some(0.045));
    let windows: Vec<_> = summary.windows.iter().map(|w| (w.name.as_str(), w.start_s, w.end_s)).collect();
    assert_eq!(windows, [("first", 0.0, 0.045), ("across", 0.04, 0.045)]);
    assert_eq!(summary.windows[0].totals.frames_delivered, summary.totals.frames_delivered);
}

#[test]
fn a_claim_to_lose_nothing_is_judged_and_no_other() {
    let lossy = [("topology.star.buffer", "40 KB")];
    assert_eq!(run(&star(&lossy), &Options::default()).unwrap().summary.lossless, None);
    let judged = |plan: Plan| {
        let plan = Plan { lossless: true, ..plan };
        run(&plan, &Options::default()).unwrap().summary.lossless
    };
    assert_eq!(judged(star(&lossy)), Some(false));
    let roomy = || star(&[("scheme", "none"), ("topology.star.buffer", "40 MB")]);
    assert_eq!(judged(roomy()), Some(true));
    // A frame on a link that breaks is lost as well.
    let mut broken = roomy();
    broken.network.changes[0].event = PortEvent::Down;
    assert_eq!(judged(broken), Some(false));
}

#[test]
fn feedback_to_uncontrolled_sources_is_counted_where_there_are_such() {
    assert_eq!(run(&star(&[]), &Options::default()).unwrap().summary.totals.feedback_discarded, None);
    let totals = run(&star(&[("flow.1.controlled", "false")]), &Options::default()).unwrap().summary.totals;
    assert!(totals.feedback_discarded.unwrap() > 0, "{totals:?}");
    assert_eq!(totals.pause_frames, None, "nothing is ever paused");
}

#[test]
fn flows_say_which_table_they_come_from_and_whether_the_scheme_limits_them() {
    // Two hosts in three rounds are six flows of one table.
    let rounds = [
        ("flow.1.name", "asks"),
        ("flow.1.size", "15 KB"),
        ("flow.1.repeat", "3"),
        ("flow.1.every", "10 ms"),
        ("flow.1.controlled", "false"),
    ];
    let summary = run(&star(&rounds), &Options::default()).unwrap().summary;
    let flows_of: Vec<_> = summary.flows.iter().map(|f| (f.name.as_str(), f.group.as_str(), f.controlled)).collect();
    assert_eq!(flows_of[0], ("f0", "f0", true));
    assert_eq!(flows_of[1..].len(), 6);
    assert!(
        flows_of[1..].iter().all(|&(_, group, controlled)| (group, controlled) == ("asks0..asks5", false)),
        "{flows_of:?}"
    );
    assert_eq!(summary.question, "How do three sources share a port?");
}

#[test]
fn every_key_of_the_summary_is_declared_in_its_order() {
    // With probes, flow control with a watchdog, switches that trim, finite flows over a transport without a rate limiter, and a window,
    // every optional key is there but those of other runs.
    let finite = [("flow.1.controlled", "false"), ("flow.1.transport", "tcp"), ("flow.1.size", "15 KB")];
    let plan = star(
        &[
            &[("scheme", "efecn"), ("window", WINDOWS), ("pfc", "{ watchdog = {} }"), ("network.trimming", "true")][..],
            &finite,
        ]
        .concat(),
    );
    let text = run(&plan, &Options::default()).unwrap().summary.to_json();
    for (object, key, depth) in [("Summary", "", 1), ("Totals", "totals", 2), ("RunSummary", "run", 2)] {
        let indent = "  ".repeat(depth);
        let from = text.find(&format!("\"{key}\": {{")).unwrap_or(0);
        let end = from + text[from..].find(&format!("\n{}}}", "  ".repeat(depth - 1))).unwrap();
        let quoted = |line: &str| line.strip_prefix(&format!("{indent}\""))?.split('"').next().map(str::to_owned);
        let written: Vec<_> = text[from..end].lines().filter_map(quoted).collect();
        let declared = OBJECTS.iter().find(|about| about.name == object).unwrap().keys;
        let absent = [
            ["schemes", "interrupted_at_s", "ended_at_s", "lossless", "acted", "pools", "deadlocks", "testbed"]
                .as_slice(),
            &["frames_impaired", "control_frames_impaired", "credit_wait_s", "replays", "frames_replayed", "jobs"],
            &["paths_skipped", "paths_assumed_bad", "paths_restored", "path_probes"],
        ]
        .concat();
        let declared: Vec<_> = declared.iter().map(|key| key.name).filter(|key| !absent.contains(key)).collect();
        assert_eq!(written, declared, "{object}");
    }
}

#[test]
fn schemes_are_listed_where_priorities_differ() {
    let mut plan = star(&[("flow.1.priority", "3")]);
    assert_eq!(run(&plan, &Options::default()).unwrap().summary.schemes, []);
    plan.schemes[1].profile = Some("of-its-own".to_owned());
    let summary = run(&plan, &Options::default()).unwrap().summary;
    let listed: Vec<_> =
        summary.schemes.iter().map(|s| (s.priority, s.scheme.as_str(), s.profile.as_deref())).collect();
    assert_eq!(listed, [(0, "qcn", Some("paper-netfpga")), (3, "qcn", Some("of-its-own"))]);
    assert_eq!(summary.profile, None);
    assert_eq!(serde_json::from_str::<penstock_runner::Summary>(&summary.to_json()).unwrap(), summary);
}

#[test]
fn a_stopped_run_keeps_what_was_recorded_and_says_so() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("stopped");
    run_until_call(&star(&[]), 50, Some(out.clone()));
    let stopped = penstock_runner::open(&out).unwrap();
    assert_eq!(stopped.summary.interrupted_at_s, Some(0.05));
    assert_eq!((stopped.summary.duration_s, stopped.summary.planned_s), (0.05, 0.2));
    let time = reals(&stopped.table(Table::Rates).unwrap(), "time_s");
    assert_eq!(time.last(), Some(&0.05));

    // It is the beginning of the whole run.
    let whole = reals(&run(&star(&[]), &Options::default()).unwrap().table(Table::Rates).unwrap(), "throughput_bps");
    assert_eq!(reals(&stopped.table(Table::Rates).unwrap(), "throughput_bps"), whole[..time.len()]);
}

#[test]
fn a_run_that_is_stopped_in_its_warm_up_has_measured_nothing() {
    let stopped = run_until_call(&star(&[("warmup", "100 ms")]), 20, None);
    assert_eq!(stopped.summary.interrupted_at_s, Some(0.02));
    assert!(stopped.summary.flows.iter().all(|f| f.throughput_bps == 0.0 && f.fair_rate_bps == 0.0));
    assert!(!stopped.summary.to_json().contains("NaN"));
    assert_eq!(serde_json::from_str::<penstock_runner::Summary>(&stopped.summary.to_json()).unwrap(), stopped.summary);
}

#[test]
fn a_whole_run_is_not_stopped_at_its_end() {
    let whole = run_until_call(&star(&[]), 200, None);
    assert_eq!(whole.summary.interrupted_at_s, None);
}

/// Row 3 t + i is flow i at t ms; the second of the three flows has extra rows.
#[test]
fn a_part_of_a_table_has_the_rows_and_columns_that_are_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let plan = star(&[]);
    let memory = run(&plan, &Options::default()).unwrap();
    let folder = run(&plan, &into(root.path().join("out"))).unwrap();
    let second = memory.summary.flows[1].name.as_str();
    let all = memory.table(Table::Rates).unwrap();
    for result in [&memory, &folder] {
        let part = result.rows_of(Table::Rates, &["throughput_bps", "no_such"], Some(&[second, "nobody"])).unwrap();
        let names: Vec<_> = part.schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["flow", "throughput_bps"]);
        let every_third: Vec<f64> = reals(&all, "throughput_bps").into_iter().skip(1).step_by(3).collect();
        assert_eq!(reals(&part, "throughput_bps"), every_third);
        let nothing = result.rows_of(Table::Rates, &["throughput_bps"], Some(&["nobody"])).unwrap();
        assert!(reals(&nothing, "throughput_bps").is_empty());
        let column = result.rows_of(Table::Rates, &["throughput_bps"], None).unwrap();
        assert_eq!(column.schema.fields().len(), 1);
        assert_eq!(reals(&column, "throughput_bps"), reals(&all, "throughput_bps"));
        let arrivals = result.rows_of(Table::Arrivals, &[], Some(&[]));
        assert!(matches!(arrivals, Err(RunError::NotRecorded { table: "arrivals" })));
    }
}

/// Of three flows one has time series; all settle and all are in the summary and in the table of flows.
#[test]
fn flows_without_time_series_are_in_everything_else() {
    let whole = run(&star(&[]), &Options::default()).unwrap();
    let part = run(&star(&[("record.most_flows", "1")]), &Options::default()).unwrap();
    assert_eq!(part.summary.flows, whole.summary.flows);
    assert_eq!(rows(&part.table(Table::Flows).unwrap()), rows(&whole.table(Table::Flows).unwrap()));
    let throughput = reals(&part.table(Table::Rates).unwrap(), "throughput_bps");
    let first: Vec<f64> = reals(&whole.table(Table::Rates).unwrap(), "throughput_bps").into_iter().step_by(3).collect();
    assert_eq!(throughput, first);
}

/// Runs `plan` until the observer has been called `calls` times, 1 ms of simulated time apart.
fn run_until_call(plan: &Plan, calls: u32, out: Option<PathBuf>) -> Run {
    let options = Options { out, slice: Some(Duration::from_ms(1)), ..Options::default() };
    let mut left = calls;
    penstock_runner::run(plan, &options, &mut |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap()
}

fn column<'a>(records: &'a Records, name: &'a str) -> impl Iterator<Item = &'a arrow_array::ArrayRef> {
    records.batches.iter().map(move |batch| batch.column_by_name(name).unwrap())
}

fn reals(records: &Records, name: &str) -> Vec<f64> {
    column(records, name).flat_map(|c| c.as_primitive::<Float64Type>().values().to_vec()).collect()
}

fn counts(records: &Records, name: &str) -> Vec<u64> {
    column(records, name).flat_map(|c| c.as_primitive::<UInt64Type>().values().to_vec()).collect()
}

/// Every row as text, names spelled out: lists of names need not have the same order.
fn rows(records: &Records) -> Vec<String> {
    let cell = |column: &arrow_array::ArrayRef, row: usize| match column.as_dictionary_opt::<Int32Type>() {
        Some(names) => names
            .keys()
            .iter()
            .nth(row)
            .flatten()
            .map(|key| names.values().as_string::<i32>().value(key as usize).to_owned())
            .unwrap_or_default(),
        None => format!("{:?}", column.slice(row, 1)),
    };
    let rows = |batch: &arrow_array::RecordBatch| -> Vec<String> {
        (0..batch.num_rows()).step_by(97).map(|row| batch.columns().iter().map(|c| cell(c, row)).collect()).collect()
    };
    records.batches.iter().flat_map(rows).collect()
}
