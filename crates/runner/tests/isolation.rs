//! Congestion isolation (802.1Qcz) and source flow control, in the scenarios of their pages, each beside a run that must not show it.

use std::ops::ControlFlow;
use std::path::Path;

use penstock_runner::{Options, Summary, run};
use penstock_scenario::{Choice, Scenario};

/// The summary of a scenario of the folder `scenarios` with some keys set, under its own scheme or another one.
fn summary(name: &str, scheme: Option<&str>, settings: &[(&str, &str)]) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut scenario = Scenario::parse(&text, name, name).unwrap();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let choice = Choice { scheme: scheme.map(str::to_owned), ..Choice::default() };
    let plan = scenario.plan(&choice).unwrap_or_else(|error| panic!("{error}"));
    run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap().summary
}

fn count(summary: &Summary, action: &str) -> u64 {
    summary.actions.iter().find(|told| told.action == action).map_or(0, |told| told.count)
}

/// A victim of 2 MB, 1.6 ms of its line, 2 ms after an incast of sixteen has begun.
const VICTIM: [(&str, &str); 3] = [("flow.0.size", "2 MB"), ("flow.0.start", "12 ms"), ("duration", "60 ms")];

/// The statement of 802.1Qcz: the victim is not blocked behind the congesting flows. With priority flow control alone it is.
#[test]
fn isolation_saves_the_victim_that_pauses_alone_block() {
    let isolated = summary("victim-flow/ci", None, &VICTIM);
    let paused = summary("victim-flow/pfc", None, &VICTIM);
    let time = |of: &Summary| of.flows[0].completion_time_s.expect("it completes");
    assert!(time(&isolated) < 1.02 * 0.0016 + 20e-6, "{}", time(&isolated));
    assert!(time(&paused) > 5.0 * time(&isolated), "{}", time(&paused));
    assert_eq!((isolated.lossless, isolated.acted, paused.lossless), (Some(true), Some(true), Some(true)));
    // The incast fills its port in both.
    let incast = |of: &Summary| of.flows[1..].iter().map(|flow| flow.throughput_bps).sum::<f64>();
    assert!(incast(&isolated) > 9.5e9 && incast(&paused) > 9.5e9, "{} {}", incast(&isolated), incast(&paused));
}

/// At most three messages on a flow and neighbour: the sixteen flows cross three switches each.
#[test]
fn a_flow_has_three_messages_a_neighbour_at_most() {
    let once = summary("victim-flow/ci", None, &[("schemes.ci.max_cim_tx", "1"), ("duration", "40 ms")]);
    let often = summary("victim-flow/ci", None, &[("duration", "40 ms")]);
    let (one, three) = (count(&once, "neighbour messages"), count(&often, "neighbour messages"));
    assert!((17..=17 * 3).contains(&one), "{one}");
    assert!(one <= three && three <= 3 * 17 * 3, "{one} {three}");
    let silent = summary("victim-flow/ci", None, &[("schemes.ci.max_cim_tx", "0"), ("duration", "20 ms")]);
    assert_eq!(count(&silent, "neighbour messages"), 0);
    assert_eq!(silent.lossless, Some(false), "without messages pauses stop nothing that is not isolated");
}

/// Go-back-N asks for a frame again as soon as one overtakes it. Dropped frames show that the count counts.
#[test]
fn no_frame_overtakes_another_of_its_flow() {
    let mut settings = vec![("duration", "40 ms")];
    let keys: Vec<String> = (0..2).map(|flow| format!("flow.{flow}.transport")).collect();
    settings.extend(keys.iter().map(|key| (key.as_str(), "go-back-n")));
    let isolated = summary("victim-flow/ci", None, &settings);
    assert_eq!((isolated.totals.retransmissions, isolated.lossless), (Some(0), Some(true)));
    assert!(count(&isolated, "moves") > 1000, "{:?}", isolated.actions);
    settings.push(("topology.graph.buffer", "60 KB"));
    let dropping = summary("victim-flow/none", None, &settings);
    assert!(dropping.totals.retransmissions > Some(0));
}

/// Flows whose priority is not above that of the congesting queue stay where they are, and a claim that the scheme acts finds it.
#[test]
fn isolation_at_the_congesting_priority_does_nothing() {
    let low = [("flow.0.priority", "0"), ("flow.1.priority", "0"), ("duration", "20 ms")];
    let seen = summary("victim-flow/ci", None, &low);
    assert_eq!((seen.acted, count(&seen, "moves")), (Some(false), 0));
}

/// Source flow control: no loss, and the line is busy; without it frames are lost.
#[test]
fn pauses_of_the_sources_keep_a_queue_from_overflowing() {
    let paused = summary("incast/sfc-sixteen", None, &[]);
    let queue = paused.queues.iter().find(|queue| queue.name == "sw0->h16").expect("it is recorded");
    assert_eq!((paused.lossless, paused.acted), (Some(true), Some(true)));
    assert!(queue.utilization > 0.99, "{}", queue.utilization);
    let free = summary("incast/sfc-sixteen", Some("none"), &[]);
    assert_eq!(free.lossless, Some(false));
}
