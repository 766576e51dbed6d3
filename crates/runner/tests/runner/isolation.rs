//! Congestion isolation (802.1Qcz) and source flow control, in the scenarios of their pages, each beside a run that must not show it.

use std::ops::ControlFlow;
use std::path::Path;

use penstock_runner::{Options, Summary, run};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::Action;

/// The summary of a scenario of the folder `scenarios` with some keys set, under its own scheme or another one.
fn summary(name: &str, scheme: Option<&str>, settings: &[(&str, &str)]) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    summary_of(&text, name, scheme, settings)
}

/// The same of a text.
fn summary_of(text: &str, name: &str, scheme: Option<&str>, settings: &[(&str, &str)]) -> Summary {
    let mut scenario = Scenario::parse(text, name, name).unwrap();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let choice = Choice { scheme: scheme.map(str::to_owned), ..Choice::default() };
    let plan = scenario.plan(&choice).unwrap_or_else(|error| panic!("{error}"));
    run(&plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap().summary
}

fn count(summary: &Summary, action: Action) -> u64 {
    summary.actions.as_ref().and_then(|actions| actions.of(action)).expect("the scheme declares it")
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
    let (one, three) = (count(&once, Action::NeighbourMessages), count(&often, Action::NeighbourMessages));
    assert!((17..=17 * 3).contains(&one), "{one}");
    assert!(one <= three && three <= 3 * 17 * 3, "{one} {three}");
    let silent = summary("victim-flow/ci", None, &[("schemes.ci.max_cim_tx", "0"), ("duration", "20 ms")]);
    assert_eq!(count(&silent, Action::NeighbourMessages), 0);
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
    assert!(count(&isolated, Action::Moves) > 1000, "{:?}", isolated.actions);
    settings.push(("topology.graph.buffer", "60 KB"));
    let dropping = summary("victim-flow/none", None, &settings);
    assert!(dropping.totals.retransmissions > Some(0));
}

/// Flows whose priority is not above that of the congesting queue stay where they are, and a claim that the scheme acts finds it.
#[test]
fn isolation_at_the_congesting_priority_does_nothing() {
    let low = [("flow.0.priority", "0"), ("flow.1.priority", "0"), ("duration", "20 ms")];
    let seen = summary("victim-flow/ci", None, &low);
    assert_eq!((seen.acted, count(&seen, Action::Moves)), (Some(false), 0));
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

/// Beside the incast, its first source has a flow of 1 Gb/s to a host that nobody else sends to.
const BESIDE: &str = r#"
question = "Does a pause stop the flow alone, or the host?"
duration = "20 ms"
warmup = "2 ms"
scheme = "sfc"
topology.star = { hosts = 18, link_rate = "10 Gbps", link_delay = "1 us", buffer = "400 KB" }

[[flow]]
from = "h0..h15"
to = "h16"
traffic = "greedy"
stagger = "75 ns"

[[flow]]
from = "h0"
to = "h17"
traffic = "constant"
rate = "1 Gbps"
excess = "discard"
"#;

/// A source that understands the message stops the flow alone. Where an edge switch turns it into a pause frame, the host stops: that is
/// one reaction point for all its flows.
#[test]
fn a_pause_stops_the_flow_or_by_the_edge_its_host() {
    let [flow, host] =
        ["per-flow", "per-host"].map(|points| summary_of(BESIDE, "beside", None, &[("hosts.reaction_points", points)]));
    let beside = |of: &Summary| of.flows[16].throughput_bps;
    assert!(beside(&flow) > 0.99e9, "{}", beside(&flow));
    assert!(beside(&host) < 0.3e9, "{}", beside(&host));
    for of in [&flow, &host] {
        let queue = of.queues.iter().find(|queue| queue.name == "sw0->h16").expect("it is recorded");
        assert!(queue.utilization > 0.99 && of.totals.frames_dropped == 0, "{}", queue.utilization);
    }
}
