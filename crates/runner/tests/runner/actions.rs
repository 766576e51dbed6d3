//! Every scheme acts where there is congestion, and its counts say so; where there is none, a claim that it acts fails.

use std::ops::ControlFlow;

use penstock_runner::{Options, fingerprint, run};
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::{Action, SCHEMES};

/// Sources of one port, greedy or each at a tenth of its rate. A queue of 75 KB: an incast fills it.
const PORT: &str = r#"
question = "Does the scheme act?"
duration = "20 ms"
require_action = true
scheme = "qcn"

[topology.star]
hosts = 9
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"

[[flow]]
from = "h0..h7"
to = "h8"
priority = 3
"#;

fn plan(scheme: &str, settings: &[(&str, &str)]) -> Plan {
    let mut scenario = Scenario::parse(PORT, "port.toml", "port").unwrap();
    for (key, value) in settings {
        scenario.set(key, value).unwrap();
    }
    let choice = Choice { scheme: Some(scheme.to_owned()), ..Choice::default() };
    scenario.plan(&choice).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the scheme acted, and the count of each of its actions.
fn actions(plan: &Plan) -> (Option<bool>, Vec<(Action, u64)>) {
    let summary = run(plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap().summary;
    let of = |&action: &Action| Some((action, summary.actions.as_ref()?.of(action)?));
    (summary.acted, Action::ALL.iter().filter_map(of).collect())
}

/// An incast, and one flow at 1 Gb/s alone, to which no scheme has anything to say but how much more there is.
#[test]
fn every_scheme_takes_each_of_its_actions_in_an_incast_and_has_no_effect_where_there_is_no_congestion() {
    let alone = [("flow.0.from", "h0"), ("flow.0.traffic", "constant"), ("flow.0.rate", "1 Gbps")];
    let preparing = [Action::Replies, Action::Raises];
    let mut wrong = Vec::new();
    for info in SCHEMES {
        let claim = |acted: bool| (!info.actions.is_empty()).then_some(acted);
        // First windows of 11 KB each, which fill the queue.
        let full = [
            ("schemes.nscc.trimming", "true"),
            ("schemes.nscc.k_min", "6 KB"),
            ("schemes.nscc.k_max", "15 KB"),
            ("topology.star.buffer", "20 KB"),
        ];
        let own = match info.name {
            "nscc" => &full[..],
            // It marks for sources of which it is not known that they understand its notifications.
            "fast-cnp" => &[("schemes.fast-cnp.mark_ecn", "true")],
            _ => &[],
        };
        let (acted, counts) = actions(&plan(info.name, own));
        assert_eq!(counts.iter().map(|count| count.0).collect::<Vec<_>>(), info.actions, "{}", info.name);
        if acted != claim(true) || counts.iter().any(|&(_, count)| count == 0) {
            wrong.push(format!("{} in an incast: {acted:?} {counts:?}", info.name));
        }
        // SMCC's queue also says that it is empty, and its first message installs the limiter.
        if info.name == "smcc" {
            continue;
        }
        let (acted, counts) = actions(&plan(info.name, &alone));
        let idle = |(action, count): &(Action, u64)| *count == 0 || preparing.contains(action);
        if acted != claim(false) || !counts.iter().all(idle) {
            wrong.push(format!("{} alone: {acted:?} {counts:?}", info.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The error that this is made for: thresholds that the queue never reaches.
#[test]
fn a_scheme_whose_threshold_no_queue_reaches_does_not_act() {
    let out_of_reach = [("schemes.dctcp.k", "150 KB"), ("topology.star.buffer", "150 KB")];
    let (acted, counts) = actions(&plan("dctcp", &out_of_reach));
    assert_eq!(acted, Some(false), "losses close the window, and no mark: {counts:?}");
    assert_eq!(counts[0], (Action::Marks, 0));
    assert!(counts.iter().any(|&(action, count)| action == Action::Cuts && count > 0), "{counts:?}");
    let far = [("schemes.timely.t_low", "900 us"), ("schemes.timely.t_high", "2 ms")];
    let (acted, counts) = actions(&plan("timely", &far));
    assert_eq!(acted, Some(false), "{counts:?}");
}

/// A claim costs nothing where it is not made, and changes no result.
#[test]
fn the_claim_is_reported_only_if_made_and_changes_no_result() {
    let [claimed, unclaimed] = ["true", "false"].map(|claim| plan("qcn", &[("require_action", claim)]));
    assert_eq!(actions(&unclaimed).0, None);
    assert_eq!(actions(&unclaimed).1, actions(&claimed).1);
    let print =
        |plan| fingerprint(&run(plan, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap()).unwrap();
    assert_eq!(print(&claimed), print(&unclaimed));
}
