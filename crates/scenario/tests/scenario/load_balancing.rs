//! Load balancing in scenario files: the paths among which switches choose, and flows that do not tolerate reordering.

use crate::common::{plan, plan_or_message as outcome};
use penstock_scenario::Plan;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::{FlowId, HopId, PathChoice};

/// Hosts h0, h1 at leaf0 and h2, h3 at leaf1.
const GOOD: &str = r#"question = "Does it work?"
duration = "1 ms"
scheme = "qcn"
[network]
load_balancing = "spray"
[topology.leaf-spine]
leaves = 2
spines = 3
hosts_per_leaf = 2
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
buffer = "150 KB"
[[flow]]
name = "across"
from = "h0"
to = "h2"
"#;

fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

/// The links of a flow's route, each with the one before it.
fn links(plan: &Plan, flow: u32) -> Vec<(&str, Option<&str>)> {
    let name = |hop: HopId| plan.port_name(plan.network.hops[hop.index()].port);
    let route = plan.network.route(FlowId(flow));
    route.map(|hop| (name(hop), plan.network.hops[hop.index()].parent.map(name))).collect()
}

#[test]
fn the_route_is_a_tree_of_all_shortest_paths_the_flows_own_first() {
    let plan = plan(GOOD);
    let spread = plan.network.load_balancing.as_ref().unwrap();
    assert_eq!(spread.by, PathChoice::Turns);
    assert_eq!(spread.hops, [plan.network.flows[0].root]);
    let single = self::plan(&with("\"spray\"", "\"flow\""));
    assert!(single.network.load_balancing.is_none());
    let own: Vec<_> = links(&single, 0).iter().map(|link| link.0.to_owned()).collect();
    let tree = links(&plan, 0);
    assert_eq!(tree.iter().take(4).map(|link| link.0).collect::<Vec<_>>(), own);
    let mut up: Vec<_> = tree.iter().filter(|link| link.1 == Some("h0->leaf0")).map(|link| link.0).collect();
    up.sort_unstable();
    assert_eq!(up, ["leaf0->spine0", "leaf0->spine1", "leaf0->spine2"]);
    assert_eq!(tree.iter().filter(|link| link.0 == "leaf1->h2").count(), 3);
    assert_eq!(tree.len(), 1 + 3 + 3 + 3);
    assert_eq!(plan.network.last_hops(FlowId(0)).count(), 1);
    assert!(plan.notes.iter().any(|note| note.starts_with("no fair share is computed")), "{:?}", plan.notes);
}

/// A fat tree of degree 4: two aggregation switches, then two cores each; d-mod-k's path from h0 to h7 is agg1, core3.
#[test]
fn a_fat_tree_has_four_paths() {
    let plan = plan(
        "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[network]\nload_balancing = \"adaptive\"\n[topology.fat-tree]\nk = 4\n\
         link_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\nrouting = \"d-mod-k\"\n[[flow]]\nfrom = \"h0\"\nto = \"h7\"\n",
    );
    let tree = links(&plan, 0);
    let first: Vec<_> = tree.iter().take(6).map(|link| link.0).collect();
    let path = ["h0->edge0", "edge0->agg1", "agg1->core3", "core3->agg3", "agg3->edge3", "edge3->h7"];
    assert_eq!(first, path);
    assert_eq!(tree.len(), 1 + 2 + 4 + 4 + 4 + 4);
    assert_eq!(plan.network.load_balancing.unwrap().hops.len(), 1 + 2);
}

#[test]
fn explicit_paths_and_groups_are_not_balanced() {
    let plan = plan(&format!(
        "{}path = [\"h0\", \"leaf0\", \"spine1\", \"leaf1\", \"h2\"]\n[[group]]\nname = \"both\"\nmembers = \"h2..h3\"\n[[flow]]\nfrom = \"h1\"\nto = \"both\"\n",
        GOOD
    ));
    assert!(plan.network.load_balancing.is_none());
    assert_eq!(links(&plan, 0).len(), 4);
    assert_eq!(plan.network.last_hops(FlowId(1)).count(), 2);
}

#[test]
fn flowlets_have_a_gap() {
    let by = |text: &str| plan(text).network.load_balancing.unwrap().by;
    assert_eq!(by(&with("\"spray\"", "\"flowlet\"")), PathChoice::Flowlet(Duration::from_us(500)));
    let text = with("\"spray\"", "\"adaptive-flowlet\"\nflowlet_gap = \"20 us\"");
    assert_eq!(by(&text), PathChoice::QueueOfFlowlet(Duration::from_us(20)));
    assert!(plan(&with("\"spray\"", "\"flowlet\"")).resolved.contains("flowlet_gap = \"500 us\""));
    assert_eq!(plan(&with("\"spray\"", "\"flow\"")).network.load_balancing.map(|spread| spread.seed), None);
}

/// The flows of loads and traces have the same paths.
#[test]
fn flows_of_loads_are_spread_too() {
    let (head, _) = GOOD.split_once("[[flow]]").unwrap();
    let load = "[[load]]\nhosts = [\"h0\", \"h2\"]\nload = 0.5\nsize = \"20 KB\"\n";
    let plan = plan(&format!("{head}{load}"));
    assert_eq!(plan.network.processes.longest_path, 4);
    assert_eq!(plan.network.processes.most_hops, 1 + 3 + 3 + 3);
    let arrival = plan.generated.arrivals().next().unwrap();
    assert!(arrival.start < Instant(1_000_000_000));
    assert_eq!(arrival.tree.len(), 10);
    assert_eq!(arrival.tree[1].link, arrival.path[1], "the flow's own path is the first");
    let error = outcome(&format!("{head}{load}transport = \"go-back-n\"\n")).map(|_| ()).unwrap_err();
    assert!(error.starts_with("x.toml:5: network.load_balancing: frames of load0 would be reordered"), "{error}");
}

#[test]
fn disorder_that_nobody_bears_is_refused() {
    for by in ["spray", "spray-random", "adaptive"] {
        let text = with("\"spray\"", &format!("\"{by}\""));
        let error = outcome(&format!("{text}transport = \"go-back-n\"\n")).map(|_| ()).unwrap_err();
        assert_eq!(
            error,
            "x.toml:5: network.load_balancing: frames of across would be reordered, and go-back-n answers each frame that comes \
             early with a request to send all again (load_balancing = \"flow\" or \"flowlet\", or a transport that takes frames in any \
             order, transport = \"selective\" or \"tcp\")"
        );
        for scheme in ["dctcp", "swift", "timely", "hpcc", "annulus", "ci", "ici"] {
            let text = text.replace("scheme = \"qcn\"", &format!("scheme = \"{scheme}\""));
            let error = outcome(&text).map(|_| ()).unwrap_err();
            let expected = format!("would be reordered, and {scheme} needs them in order (load_balancing = \"flow\"");
            assert!(error.starts_with("x.toml:5: network.load_balancing: ") && error.contains(&expected), "{error}");
            for transport in ["selective", "tcp"] {
                plan(&format!("{text}transport = \"{transport}\"\n"));
            }
            plan(&format!("{text}controlled = false\n"));
            plan(&text.replace(by, "flowlet"));
        }
        plan(&text.replace("scheme = \"qcn\"", "scheme = \"nscc\""));
        // One leaf has one path.
        plan(&format!("{}transport = \"go-back-n\"\n", text.replace("to = \"h2\"", "to = \"h1\"")));
    }
    plan(&format!("{}transport = \"go-back-n\"\n", with("\"spray\"", "\"flowlet\"")));
}

#[test]
fn wrong_values_and_gaps_are_refused() {
    for (old, new, expected) in [
        (
            "\"spray\"",
            "\"sprai\"",
            "x.toml:5: network.load_balancing: \"sprai\" is not known here, expected one of flow, flowlet",
        ),
        (
            "\"spray\"",
            "\"flowlet\"\nflowlet_gap = \"0 us\"",
            "x.toml:6: network.flowlet_gap: \"0 us\" is zero; this time must be more",
        ),
        ("\"spray\"", "\"flowlet\"\nflowlet_gap = 5", "x.toml:6: network.flowlet_gap: the number 5 has no unit"),
    ] {
        let error = outcome(&with(old, new)).map(|_| ()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
