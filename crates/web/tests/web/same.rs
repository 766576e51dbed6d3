//! The engine for a browser gives the numbers of the runner, to the last bit, and a changed run is the same until its change.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::{FOUR, to_end};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use penstock_results::jobs::JobRow;
use penstock_runner::summary::RunSummary;
use penstock_runner::{Options, Run, Summary, Table};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::{Instant, SCHEMES};
use penstock_web::{
    Background, FLOW_COLUMNS, FLOW_NOW_COLUMNS, FRAME_COLUMNS, MESSAGE_COLUMNS, QUEUE_COLUMNS, QUEUE_NOW_COLUMNS,
    Session, change_background, change_link, change_parameter, change_sources, count_background, set,
};

fn native(text: &str, scheme: Option<&str>) -> Run {
    let choice = Choice { scheme: scheme.map(str::to_owned), ..Choice::default() };
    let plan = Scenario::parse(text, "scenario", "scenario").unwrap().plan(&choice).unwrap();
    penstock_runner::run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn json(summary: &Summary) -> String {
    Summary { run: RunSummary::default(), ..summary.clone() }.to_json()
}

/// A column of numbers over all blocks, as the page has them; `None` where the table lacks it.
fn column(run: &Run, table: Table, name: &str) -> Option<Vec<f64>> {
    let records = run.table(table).unwrap();
    let place = records.schema.index_of(name).ok()?;
    let numbers = |batch: &RecordBatch| -> Vec<f64> {
        let column = batch.column(place);
        if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
            floats.values().to_vec()
        } else if let Some(octets) = column.as_primitive_opt::<UInt64Type>() {
            octets.values().iter().map(|&n| n as f64).collect()
        } else {
            column.as_primitive::<UInt32Type>().values().iter().map(|&n| f64::from(n)).collect()
        }
    };
    Some(records.batches.iter().flat_map(numbers).collect())
}

/// All numbers of a kind in the rows of samples, in the order of the runner's table.
fn of_samples(session: &Session, first: usize, end: usize, step: usize) -> Vec<f64> {
    let rows = session.samples(0).chunks(session.width());
    rows.flat_map(|row| row[first..end].iter().step_by(step).copied()).collect()
}

fn check(text: &str, scheme: Option<&str>) {
    let (mut session, run) = (to_end(text, scheme, 10_000), native(text, scheme));
    assert_eq!(json(session.summary().unwrap()), json(&run.summary), "{scheme:?}");
    let (flows_at, width) = (session.flows_at(), session.width());
    for (i, name) in QUEUE_COLUMNS.iter().enumerate() {
        let ours = of_samples(&session, 1 + i, flows_at.max(1 + i), QUEUE_COLUMNS.len());
        match column(&run, Table::Queues, name) {
            Some(theirs) => assert_eq!(ours, theirs, "{name} {scheme:?}"),
            None => assert!(ours.iter().all(|&paused| paused == 0.0), "{name} {scheme:?}"),
        }
    }
    for (i, name) in FLOW_COLUMNS.iter().enumerate() {
        let ours = of_samples(&session, (flows_at + i).min(width), width, FLOW_COLUMNS.len());
        assert_eq!(Some(ours), column(&run, Table::Rates, name), "{name} {scheme:?}");
    }
    if session.plan().record.signals {
        let ours: Vec<f64> = session.take_signals().chunks(4).map(|row| row[3]).collect();
        assert_eq!(Some(ours), column(&run, Table::Signals, "rate_bps"), "signals {scheme:?}");
    }
}

#[test]
fn every_scheme_gives_the_numbers_of_its_own_engine() {
    for info in SCHEMES {
        check(FOUR, Some(info.name));
    }
}

#[test]
fn scenarios_with_loads_pauses_and_windows_give_the_same_numbers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for (name, key, value) in [
        ("bench/incast-16-pfc", "duration", "20 ms"),
        ("loads/closed-loop", "record.interval", "1 ms"),
        ("priorities/dcqcn-above-qcn", "record.interval", "1 ms"),
        ("multicast/star", "seed", "2"),
    ] {
        let text = std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        check(&set(&text, key, value).unwrap(), None);
    }
}

/// Two ranks that exchange a frame of 1500 octets in each of two steps.
const TWO: &str = r#"
    question = "When does a step end?"
    duration = "1 ms"
    until = "all-flows-complete"
    scheme = "none"
    topology.star = { hosts = 2, link_rate = "100 Gbps", link_delay = "1 us", buffer = "150 KB" }
    [[collective]]
    kind = "all-reduce"
    size = "3000 octets"
"#;

#[test]
fn messages_of_a_job_begin_and_end_at_their_times() {
    let mut session = to_end(TWO, None, 3);
    let rows = session.take_messages();
    assert!(session.take_messages().is_empty());
    let rows: Vec<&[f64]> = rows.chunks(MESSAGE_COLUMNS.len()).collect();
    // From each to the other, begun and ended, twice.
    assert_eq!(rows.len(), 8);
    // 0.12 us on each of two lines, which take 1 us each.
    let step = 2.24e-6;
    for row in &rows {
        let &[job, _, from, to, octets, begin_s, end_s] = *row else { panic!("{row:?}") };
        let mut ends = [from, to].map(|node| session.plan().node_names[node as usize].as_str());
        ends.sort_unstable();
        assert_eq!((job, octets, ends), (0.0, 1500.0, ["h0", "h1"]), "{row:?}");
        assert!(begin_s == 0.0 || (begin_s - step).abs() < 1e-12, "{row:?}");
        assert!(end_s == -1.0 || (end_s - begin_s - step).abs() < 1e-12, "{row:?}");
    }
    assert_eq!(rows.iter().filter(|row| row[6] < 0.0).count(), 4, "each begins once");
    let mut without = to_end(FOUR, None, 10_000);
    assert!(without.take_messages().is_empty() && without.jobs().is_empty());
}

#[test]
fn jobs_give_the_numbers_and_the_table_of_the_runner() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/jobs");
    let file = std::fs::read_to_string(folder.join("two-uplinks.toml")).unwrap();
    for (key, value) in [("scheme", "dcqcn"), ("network.load_balancing", "spray"), ("collective.0.iterations", "2")] {
        let text = set(&set(&file, key, value).unwrap(), "collective.0.size", "200 KB").unwrap();
        check(&text, None);
        let (session, run) = (to_end(&text, None, 10_000), native(&text, None));
        let ours = |value: fn(&JobRow) -> f64| Some(session.jobs().iter().map(value).collect::<Vec<_>>());
        assert_eq!(ours(|row| row.rank as f64), column(&run, Table::Jobs, "rank"), "{key}");
        assert_eq!(ours(|row| row.begin_s), column(&run, Table::Jobs, "begin_s"), "{key}");
        assert_eq!(ours(|row| row.end_s), column(&run, Table::Jobs, "end_s"), "{key}");
        assert!(session.jobs().len() >= 16, "{key}: an iteration and a collective of each rank");
    }
}

#[test]
fn slices_change_nothing() {
    let (mut whole, mut sliced) = (to_end(FOUR, None, u64::MAX), to_end(FOUR, None, 7));
    assert_eq!(json(whole.summary().unwrap()), json(sliced.summary().unwrap()));
    assert_eq!(whole.samples(0), sliced.samples(0));
    assert_eq!(whole.take_signals(), sliced.take_signals());
}

/// The rows of frames over a link, of a session that has been looked at up to a time.
fn frames(session: &mut Session, link: &str, until: penstock_schemes::Duration) -> Vec<Vec<f64>> {
    session.look(true);
    assert!(session.advance(Instant::ZERO + until, 1000).unwrap());
    let rows = session.take_frames();
    let plan = session.plan();
    let ours = |row: &&[f64]| plan.port_name(penstock_sim::network::PortId(row[2] as u32)) == link;
    rows.chunks(FRAME_COLUMNS.len()).filter(ours).map(<[f64]>::to_vec).collect()
}

#[test]
fn frames_on_lines_have_their_times_and_to_look_at_them_changes_nothing() {
    let until = penstock_schemes::Duration::from_us(13);
    // 1500 octets at 10 Gb/s are 1.2 us, and the line takes 5 us; then the same over the second link.
    for (link, start, end) in [("h0->sw0", 0.0, 6.2e-6), ("sw0->h4", 6.2e-6, 12.4e-6)] {
        let mut session = Session::new(FOUR, None).unwrap();
        let first = frames(&mut session, link, until).remove(0);
        assert!((first[0] - start).abs() < 1e-12 && (first[1] - end).abs() < 1e-12, "{first:?}");
        assert_eq!(first[3..], [0.0, 0.0, 0.0], "flow 0, data, not lost");
        assert!(session.take_frames().is_empty());
    }
    let mut looked = Session::new(FOUR, None).unwrap();
    looked.look(true);
    while !looked.advance(Instant::NEVER, 1000).unwrap() {
        assert!(looked.take_frames().len() <= 4000 * FRAME_COLUMNS.len());
    }
    let plain = to_end(FOUR, None, 1000);
    assert_eq!(json(looked.summary().unwrap()), json(plain.summary().unwrap()));
    assert_eq!(looked.samples(0), plain.samples(0));
}

#[test]
fn the_state_between_samples_is_that_of_the_instant_and_to_look_changes_nothing() {
    let (plain, mut looked) = (to_end(FOUR, None, 1000), Session::new(FOUR, None).unwrap());
    let flows_at = 1 + looked.plan().record.queues.len() * QUEUE_NOW_COLUMNS.len();
    let place = looked.plan().record.queues.iter().position(|&queue| {
        looked
            .plan()
            .network
            .port_and_priority(queue)
            .is_some_and(|(port, _)| looked.plan().port_name(port) == "sw0->h4")
    });
    let queue = 1 + place.unwrap() * QUEUE_NOW_COLUMNS.len();
    let at = |session: &mut Session, ns: u64| {
        while !session.advance(Instant::ZERO + penstock_schemes::Duration(1000 * ns), 1000).unwrap() {}
        session.state()
    };
    // Flow 0 sends frames of 1500 octets from the start: each takes 1.2 us of either line, and 5 us of delay. At 13 us the switch has
    // sent five whole ones and 0.8 us of a sixth, 7500 and 1000 octets; the line could have carried 16250. One has arrived.
    let early = at(&mut looked, 13_000);
    assert!((early[0] - 13e-6).abs() < 2e-12, "{early:?}");
    assert_eq!(early[queue..queue + 3], [1500.0, 0.0, 0.0]);
    assert_eq!(early[queue + 3..queue + 5], [8.0 * 8500.0, 8.0 * 16250.0]);
    assert_eq!(early[flows_at..flows_at + 2], [1e10, 1500.0]);
    // At a sample it is the sample's; anywhere else the run is the same afterwards.
    let sample = at(&mut looked, 400_000);
    let row = plain.samples(20)[..plain.width()].to_vec();
    assert_eq!(sample[queue], row[1 + place.unwrap() * QUEUE_COLUMNS.len()]);
    for ns in (400_000..20_000_000).step_by(7_777) {
        assert_eq!(at(&mut looked, ns).len(), flows_at + looked.plan().single * FLOW_NOW_COLUMNS.len());
    }
    while !looked.advance(Instant::NEVER, 1000).unwrap() {}
    assert!(looked.state().is_empty());
    assert_eq!(json(looked.summary().unwrap()), json(plain.summary().unwrap()));
    assert_eq!(looked.samples(0), plain.samples(0));
}

#[test]
fn of_the_samples_of_a_long_run_some_are_kept_and_none_is_lost_to_the_summary() {
    let short = set(FOUR, "record.interval", "100 ns").unwrap();
    let width = Session::new(&short, None).unwrap().width();
    let text = set(&short, "duration", "70 ms").unwrap();
    let session = to_end(&text, None, 10_000);
    let every = (700_001 * width as u64).div_ceil(8_000_000);
    assert_eq!(session.every(), every, "{width} numbers in a row");
    let run = native(&text, None);
    assert_eq!(json(session.summary().unwrap()), json(&run.summary));
    let rows: Vec<&[f64]> = session.samples(0).chunks(width).collect();
    let every = every as usize;
    assert!(every > 1 && rows.len() - 700_001 / every < 3, "{} rows", rows.len());
    // Of the queue the state at that sample, of losses the sum since the last row, of use and throughput the mean.
    let queues = session.plan().record.queues.len();
    for (name, first, count) in [("queue_octets", 0, queues), ("frames_dropped", 3, queues), ("utilization", 2, queues)]
    {
        let all = column(&run, Table::Queues, name).unwrap();
        for (at, row) in rows.iter().enumerate().skip(1).take(2000) {
            for i in 0..count {
                let own: Vec<f64> =
                    ((at - 1) * every + 1..=at * every).map(|sample| all[sample * queues + i]).collect();
                let ours = row[1 + i * QUEUE_COLUMNS.len() + first];
                let wanted = match name {
                    "queue_octets" => own[every - 1],
                    "frames_dropped" => own.iter().sum(),
                    _ => own.iter().sum::<f64>() / every as f64,
                };
                assert!((ours - wanted).abs() <= 1e-9 * wanted.abs(), "{name} {at}: {ours} {wanted}");
            }
        }
    }
    let lost = |all: &[f64]| all.iter().sum::<f64>();
    let ours: Vec<f64> = rows.iter().map(|row| row[4]).collect();
    assert_eq!(
        lost(&ours),
        lost(&column(&run, Table::Queues, "frames_dropped").unwrap().into_iter().step_by(queues).collect::<Vec<_>>())
    );
}

#[test]
fn pauses_and_notifications_are_among_the_frames() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/victim-flow/pfc-qcn.toml");
    let mut session = Session::new(&std::fs::read_to_string(file).unwrap(), None).unwrap();
    session.look(true);
    let mut kinds = std::collections::BTreeSet::new();
    for us in 1..2000 {
        while !session.advance(Instant::ZERO + penstock_schemes::Duration::from_us(10_000 + us), 100_000).unwrap() {}
        kinds.extend(session.take_frames().chunks(FRAME_COLUMNS.len()).map(|row| row[4] as u8));
        if kinds.len() == 4 {
            break;
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4], "data, signals, pauses, resumes");
}

#[test]
fn a_run_is_the_same_until_it_is_changed() {
    let at = penstock_schemes::Duration::from_ms(10);
    let before = to_end(FOUR, None, 10_000);
    let fewer = change_sources(FOUR, at, 2).unwrap();
    let again = change_sources(&fewer, penstock_schemes::Duration::from_ms(15), 3).unwrap();
    let slower = change_link(FOUR, "sw0->h4", at, "2 Gbps").unwrap();
    let longer = change_parameter(FOUR, at, "schemes.qcn.q_eq", "80 KB").unwrap();
    for text in [&fewer, &slower, &longer] {
        let after = to_end(text, None, 10_000);
        assert_eq!(after.width(), before.width());
        // Samples are 20 us apart: 500 before the change.
        let first = 500 * before.width();
        assert_eq!(after.samples(0)[..first], before.samples(0)[..first]);
        assert_ne!(after.samples(0)[2 * first - before.width()..], before.samples(0)[2 * first - before.width()..]);
        check(text, None);
    }
    // A flow that starts again is a new flow, after the others.
    let after = to_end(&again, None, 10_000);
    assert_eq!(after.plan().single, before.plan().single + 1);
    let numbers = |session: &Session, flows: usize| -> Vec<f64> {
        session.samples(0).chunks(session.width()).take(750).flat_map(|row| row[..flows].to_vec()).collect()
    };
    let all = before.width();
    let (again, fewer) = (numbers(&after, all), numbers(&to_end(&fewer, None, 10_000), all));
    let differs = again.iter().zip(&fewer).position(|(a, b)| a != b);
    assert_eq!(differs.map(|i| (i / all, i % all, again[i], fewer[i])), None, "row, column and numbers that differ");
}

/// The changes of parameters at one time are one table; at the start they are settings of the scheme.
#[test]
fn parameters_change_at_their_time() {
    let at = penstock_schemes::Duration::from_ms(10);
    let text = change_parameter(FOUR, at, "schemes.qcn.q_eq", "80 KB").unwrap();
    let text = change_parameter(&text, at, "schemes.qcn.q_eq", "60 KB").unwrap();
    let text = change_parameter(&text, at, "schemes.qcn.w", "4").unwrap();
    let session = Session::new(&text, None).unwrap();
    let [change] = &session.plan().parameter_changes[..] else { panic!("{text}") };
    assert_eq!(change.at, Instant::ZERO + at);
    assert_eq!(text.matches("60 KB").count(), 1, "{text}");
    assert!(!text.contains("80 KB"), "{text}");
    let text = change_parameter(FOUR, penstock_schemes::Duration::ZERO, "schemes.qcn.q_eq", "80 KB").unwrap();
    assert_eq!(text, set(FOUR, "schemes.qcn.q_eq", "80 KB").unwrap());
    check(&change_parameter(&text, at, "schemes.qcn.rpg_ai_rate", "1 Mbps").unwrap(), None);
}

/// Background traffic takes the path of the first flow that crosses the link; another rate ends the one before.
#[test]
fn background_traffic_comes_changes_and_goes() {
    let ms = penstock_schemes::Duration::from_ms;
    let counted = |text: &str, at| count_background(text, ms(at), "sw0->h4").unwrap().rate_bps;
    assert_eq!(
        count_background(FOUR, ms(10), "sw0->h4").unwrap(),
        Background { rate_bps: 0, link_bps: 10_000_000_000 }
    );
    let some = change_background(FOUR, ms(10), "sw0->h4", 4_000_000_000).unwrap();
    assert_eq!((counted(&some, 9), counted(&some, 10), counted(&some, 19)), (0, 4_000_000_000, 4_000_000_000));
    // At the same time again, it is the same flow.
    let more = change_background(&some, ms(10), "sw0->h4", 6_000_000_000).unwrap();
    assert_eq!((more.matches("[[flow]]").count(), counted(&more, 10)), (2, 6_000_000_000));
    let less = change_background(&more, ms(15), "sw0->h4", 1_000_000_000).unwrap();
    assert_eq!(
        (less.matches("[[flow]]").count(), counted(&less, 14), counted(&less, 15)),
        (3, 6_000_000_000, 1_000_000_000)
    );
    let none = change_background(&less, ms(17), "sw0->h4", 0).unwrap();
    assert_eq!((counted(&none, 16), counted(&none, 17)), (1_000_000_000, 0));
    let plan = Session::new(&none, None).unwrap().plan().clone();
    assert_eq!(plan.flow_names[4..], ["background", "background-2"]);
    assert!(plan.network.flows[4..].iter().all(|flow| flow.reaction_point.is_none()));
    check(&none, None);
    // The run before is the same, but for the flows that are added to its rows.
    let numbers = |text: &str| -> Vec<f64> {
        let (session, width) = (to_end(text, None, 10_000), to_end(FOUR, None, 10_000).width());
        session.samples(0).chunks(session.width()).take(500).flat_map(|row| row[..width].to_vec()).collect()
    };
    assert_eq!(numbers(&none), numbers(FOUR));
    // A scenario's own background traffic is changed, and not added to.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sliding-mode/background.toml");
    let own = std::fs::read_to_string(file).unwrap();
    let count = |text: &str, at| count_background(text, ms(at), "sw0->sw1").unwrap().rate_bps;
    assert_eq!((count(&own, 1000), count(&own, 3000)), (0, 500_000_000));
    let halved = change_background(&own, ms(4000), "sw0->sw1", 250_000_000).unwrap();
    assert_eq!((count(&halved, 3999), count(&halved, 4000)), (500_000_000, 250_000_000));
    assert_eq!(Session::new(&halved, None).unwrap().plan().flow_names.last().unwrap(), "background-2");
    let refusal = count_background(FOUR, ms(1), "sw0->h5").unwrap_err();
    assert!(refusal.message.contains("no link"), "{refusal:?}");
    let refusal = count_background(FOUR, ms(1), "h4->sw0").unwrap_err();
    assert!(refusal.message.contains("no flow of a [[flow]] to one host crosses h4->sw0"), "{refusal:?}");
}

#[test]
fn refusals_name_location_and_hint() {
    let refusal = Session::new(&FOUR.replace("\"20 ms\"", "\"20 msec\""), None).unwrap_err();
    assert_eq!((refusal.line, refusal.key.as_deref()), (Some(3), Some("duration")));
    assert!(refusal.hint.is_some());
    let refusal = Session::new(&set(FOUR, "topology.star.hosts", "5000").unwrap(), None).unwrap_err();
    assert!(refusal.message.contains("1000 are the most"), "{refusal:?}");
    let refusal = Session::new(&set(FOUR, "record.interval", "1 ns").unwrap(), None).unwrap_err();
    assert!(refusal.hint.is_some(), "{refusal:?}");
    let refusal = Session::new(&" ".repeat(300_000), None).unwrap_err();
    assert!(refusal.message.contains("300000 octets"), "{refusal:?}");
    assert!(change_sources(FOUR, penstock_schemes::Duration::ZERO, 9).unwrap_err().message.contains("1 to"));
}

#[test]
fn every_scenario_of_the_gallery_fits_into_a_page() {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/gallery.json");
    let list: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&gallery).unwrap()).unwrap();
    let folder: PathBuf = gallery.parent().unwrap().join("../scenarios");
    for entry in list.as_array().unwrap() {
        let name = entry["scenario"].as_str().unwrap();
        let text = std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        let session = Session::new(&text, None).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
        let plan = session.plan();
        let ports = plan.record.queues.iter().filter_map(|&queue| plan.network.port_and_priority(queue));
        let view = entry["view"].as_str().unwrap();
        assert!(ports.into_iter().any(|(port, _)| plan.port_name(port) == view), "{name} has no queue {view}");
    }
}
