//! Every file in `scenarios/`: it plans, and its resolved form says the same again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::BitRate;
use penstock_sim::network::{FlowId, PortId};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn plan(name: &str) -> Plan {
    Scenario::load(&folder().join(name)).and_then(|s| s.plan(&Choice::default())).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_file_plans_and_its_resolved_form_says_the_same() {
    assert!(files().len() >= 20);
    for path in files() {
        let plan = Scenario::load(&path).and_then(|s| s.plan(&Choice::default())).unwrap_or_else(|e| panic!("{e}"));
        let again = Scenario::parse(&plan.resolved, "resolved", "other")
            .and_then(|s| s.plan(&Choice::default()))
            .unwrap_or_else(|e| panic!("{}: {e}\n{}", path.display(), plan.resolved));
        assert_eq!(plan.resolved, again.resolved, "{}", path.display());
        assert_eq!(format!("{plan:?}"), format!("{again:?}"), "{}", path.display());
    }
}

#[test]
fn the_resolved_form_writes_every_default() {
    insta::assert_snapshot!(plan("netfpga/eight-sources-100us.toml").resolved);
}

#[test]
fn the_netfpga_experiment_has_its_fair_shares() {
    let plan = plan("netfpga/eight-sources-100us.toml");
    let shares: Vec<(f64, f64, f64)> =
        plan.fair.iter().map(|p| (p.time.start.as_seconds(), p.time.end.as_seconds(), p.max_min_bps[3])).collect();
    assert_eq!(shares, [(0.0, 2.3, 118.75e6), (2.3, 6.0, 25e6), (6.0, 10.0, 118.75e6)]);
    let port = plan.port_names.iter().position(|n| n == "sw0->h8").unwrap();
    assert_eq!(plan.network.ports[port].rate, BitRate::from_mbps(950));
    assert_eq!(plan.record.queues, [plan.network.queue(PortId(port as u32), 0)]);
}

#[test]
fn no_link_of_the_fat_tree_carries_two_flows() {
    let plan = plan("bench/fat-tree-k8.toml");
    assert_eq!(plan.network.flows.len(), 128);
    let mut load: BTreeMap<PortId, usize> = BTreeMap::new();
    for flow in 0..128 {
        let route: Vec<_> = plan.network.route(FlowId(flow)).collect();
        assert_eq!(route.len(), 6, "each flow goes over the core");
        for hop in route {
            *load.entry(plan.network.hops[hop.index()].port).or_default() += 1;
        }
    }
    assert!(load.values().all(|flows| *flows == 1));
    let last = plan.fair.last().unwrap();
    assert!(last.max_min_bps.iter().all(|rate| *rate == 99e9));
}

#[test]
fn the_dumbbell_is_loaded_to_99_percent() {
    let plan = plan("bench/dumbbell-16.toml");
    let sum: f64 = plan.fair.last().unwrap().max_min_bps.iter().sum();
    assert_eq!(sum, 9.9e9);
}

#[test]
fn the_four_victims_have_one_network() {
    let [none, qcn, pfc, both] =
        ["none", "qcn", "pfc", "pfc-qcn"].map(|name| plan(&format!("victim-flow/{name}.toml")));
    let bare = |plan: &Plan| {
        let mut network = plan.network.clone();
        network.pfc = None;
        format!("{network:?}")
    };
    for other in [&qcn, &pfc, &both] {
        assert_eq!(bare(other), bare(&none));
    }
    assert_eq!([&none, &qcn, &pfc, &both].map(Plan::scheme), ["none", "qcn", "none", "qcn"]);
    assert_eq!([&none, &qcn, &pfc, &both].map(|plan| plan.network.pfc.is_some()), [false, false, true, true]);
    assert_eq!([&none, &qcn, &pfc, &both].map(|plan| plan.lossless), [false, false, true, true]);
    assert_eq!(format!("{:?}", pfc.network.pfc), format!("{:?}", both.network.pfc));
    // The victim shares trunks with the incast, but not its port: 10 Gb/s for it, a sixteenth for each of the others.
    let fair = &pfc.fair.last().unwrap().max_min_bps;
    assert_eq!((fair[0], fair[1]), (10e9, 0.625e9));
}

#[test]
fn multicast_groups_pass_the_congestion_points_of_the_paper() {
    let plan = plan("multicast/multi-link.toml");
    let crosses = |flow: &str, port: &str| {
        let flow = plan.flow_names.iter().position(|name| name == flow).unwrap();
        let mut route = plan.network.route(FlowId(flow as u32)).map(|hop| plan.network.hops[hop.index()].port);
        route.any(|p| plan.port_name(p) == port)
    };
    for (flow, first, second, receiver) in
        [("g1-0", true, true, "sw3->r6"), ("g2-0", false, true, "sw3->r1"), ("g3-5", false, false, "sw3->r4")]
    {
        assert_eq!(
            [crosses(flow, "sw1->sw2"), crosses(flow, "sw2->sw3"), crosses(flow, receiver)],
            [first, second, true]
        );
    }
}

/// Parts of keys that exist, and some that do not.
const KEYS: &str = "flow|0|1|network|feedback|ideal|topology|star|hosts|pacer|token_bucket|depth|record|size|uniform|points|\
    pfc|priorities|headroom|xoff|group|priority|repeat|\\PC{0,4}";
/// Values of every kind.
const VALUES: &str = "1|\"h0\"|\"9 KB\"|\\{ ideal = \"1 us\" \\}|\\{ points = \\[\\] \\}|\\[\\]|\\[0\\]|\\[1, 2\\]|\
    \\[\\{ a = 1 \\}\\]|true|1979-05-27|\\PC{0,6}";

/// `usual` cases, or the number in the environment variable PROPTEST_CASES.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |n| n.parse().expect("PROPTEST_CASES is a number"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// For any damage to a file, the answer is a plan or an error, and the error says where.
    #[test]
    fn a_damaged_file_never_panics(
        which in 0..1000_usize,
        edits in prop::collection::vec((0..10_000_usize, 0..4_u8, "[-a-z0-9\"\\[\\]={}., >\n]{0,6}"), 1..4),
    ) {
        let files = files();
        let mut text: Vec<char> = std::fs::read_to_string(&files[which % files.len()]).unwrap().chars().collect();
        for (at, what, new) in edits {
            let at = at % text.len();
            let end = match what {
                0 => at,
                1 => (at + 1).min(text.len()),
                2 => (at + 12).min(text.len()),
                _ => (at + 80).min(text.len()),
            };
            text.splice(at..end, new.chars());
            if text.is_empty() {
                text.push('\n');
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(e) = Scenario::parse(&text, "damaged.toml", "damaged").and_then(|s| s.plan(&Choice::default())) {
            prop_assert!(e.to_string().starts_with("damaged.toml"));
            prop_assert!(!e.message.is_empty());
        }
    }

    /// For any value set, the answer is a plan or an error, and the value stays set.
    #[test]
    fn setting_never_panics(
        key in prop::collection::vec(KEYS, 1..5),
        then in prop::collection::vec(KEYS, 1..5),
        value in VALUES,
    ) {
        let mut scenario = Scenario::load(&folder().join("baseline/ten-gig.toml")).unwrap();
        for path in [key.join("."), then.join("."), key.join(".")] {
            if scenario.set(&path, &value).is_ok() {
                let _ = scenario.plan(&Choice::default());
                let again = Scenario::parse(&scenario.to_toml(), "again", "ten-gig").unwrap();
                prop_assert_eq!(again.plan(&Choice::default()).is_ok(), scenario.plan(&Choice::default()).is_ok());
            }
        }
    }
}

/// A table of a list is found by its name as by its number; names may have dots, and one that nobody has is answered with those that there
/// are.
#[test]
fn a_table_of_a_list_is_set_by_its_name() {
    let text = r#"
        question = "?"
        [[flow]]
        name = "s0..s7"
        size = "1 MB"
        [[flow]]
        name = "s0"
        [[flow]]
        rate = "1 Gbps"
    "#;
    let set = |key: &str| {
        let mut scenario = Scenario::parse(text, "own.toml", "own").unwrap();
        scenario.set(key, "2 MB").map(|()| scenario.keys_set())
    };
    assert_eq!(set("flow.s0..s7.size").unwrap(), ["flow.0.size"]);
    assert_eq!(set("flow.s0.size").unwrap(), ["flow.1.size"]);
    assert_eq!(set("flow.2.size").unwrap(), ["flow.2.size"]);
    let error = set("flow.s9.size").unwrap_err();
    assert_eq!(error.key.as_deref(), Some("flow.s9.size"));
    assert_eq!(error.hint.as_deref(), Some("there are flow.0 to flow.2, by name s0..s7, s0"));
}

/// An error names the key as it was set, by name or by index.
#[test]
fn an_error_names_the_key_as_it_was_set() {
    let text = "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.star]\nhosts = 3\nlink_rate = \"1 Gbps\"\n\
        link_delay = \"1 us\"\nbuffer = \"15 KB\"\n[[flow]]\nname = \"a\"\nfrom = \"h0\"\nto = \"h2\"\n[[flow]]\nname = \"b\"\nfrom = \"h1\"\nto = \"h2\"\n";
    let key_of_error = |key: &str, value: &str| {
        let mut scenario = Scenario::parse(text, "own.toml", "own").unwrap();
        scenario.set(key, value).unwrap();
        scenario.plan(&Choice::default()).unwrap_err().key
    };
    for key in ["flow.b.size", "flow.1.size"] {
        assert_eq!(key_of_error(key, "5 q").as_deref(), Some(key));
    }
    assert_eq!(key_of_error("flow.b.nonsense", "1").as_deref(), Some("flow.b.nonsense"));
    assert_eq!(key_of_error("flow.b.transport", "{ tcp = { mss = 9 } }").as_deref(), Some("flow.b.transport.tcp.mss"));
    // The error is in another table, which keeps its index.
    assert_eq!(key_of_error("flow.a.name", "b").as_deref(), Some("flow.1.name"));
}
