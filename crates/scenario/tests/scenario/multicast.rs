//! Multicast groups: the trees that flows to them get, their fair shares, and mistakes that are refused.

use std::collections::BTreeSet;

use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_sim::network::{FlowId, HopId};
use proptest::prelude::*;

fn outcome(body: &str) -> Result<Plan, ScenarioError> {
    let text = format!("question = \"?\"\nduration = \"1 s\"\nscheme = \"none\"\n{body}");
    Scenario::parse(&text, "x.toml", "x")?.plan(&Choice::default())
}

fn plan(body: &str) -> Plan {
    outcome(body).unwrap_or_else(|e| panic!("{e}"))
}

/// The links of a flow's tree, in the order of the hops.
fn tree(plan: &Plan, flow: u32) -> Vec<&str> {
    plan.network.route(FlowId(flow)).map(|hop| plan.port_name(plan.network.hops[hop.index()].port)).collect()
}

/// Checks that a route is a tree that the engine can walk: children follow their parents, each node has one link in, and
/// the leaves are the destinations.
fn check_tree(plan: &Plan, flow: u32) {
    let network = &plan.network;
    let (source, destinations) = &plan.flow_ends[flow as usize];
    let hops: Vec<HopId> = network.route(FlowId(flow)).collect();
    let port = |hop: HopId| &network.ports[network.hops[hop.index()].port.index()];
    assert_eq!(port(hops[0]).node.index(), *source);
    assert_eq!(network.hops[hops[0].index()].parent, None);
    let mut nodes = BTreeSet::from([*source]);
    let mut leaves = BTreeSet::new();
    for hop in &hops {
        let h = &network.hops[hop.index()];
        assert!(nodes.insert(port(*hop).peer.index()), "two links lead to a node");
        for child in (0..u32::from(h.children)).map(|i| HopId(h.first_child.0 + i)) {
            assert_eq!(network.hops[child.index()].parent, Some(*hop));
            assert_eq!(port(child).node, port(*hop).peer);
        }
        if h.children == 0 {
            leaves.insert(port(*hop).peer.index());
        }
    }
    assert_eq!(leaves, destinations.iter().copied().collect());
}

const STAR: &str = r#"[topology.star]
hosts = 8
link_rate = "1 Gbps"
buffer = "100 frames"
[[group]]
name = "receivers"
members = "h6..h7"
[[flow]]
from = "h0..h5"
to = "receivers"
"#;

const LEAF_SPINE: &str = r#"[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 2
host_rate = "10 Gbps"
fabric_rate = "40 Gbps"
buffer = "100 frames"
"#;

#[test]
fn a_flow_to_a_group_is_one_flow_with_several_destinations() {
    let plan = plan(STAR);
    assert_eq!(plan.flow_names, ["f0", "f1", "f2", "f3", "f4", "f5"]);
    assert_eq!(plan.flow_ends[5], (5, vec![6, 7]));
    assert_eq!(tree(&plan, 5), ["h5->sw0", "sw0->h6", "sw0->h7"]);
    (0..6).for_each(|flow| check_tree(&plan, flow));
    let again = Scenario::parse(&plan.resolved, "again", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(format!("{plan:?}"), format!("{again:?}"));
}

#[test]
fn fair_shares_count_each_link_of_a_tree_once() {
    // Six multicast flows over both receivers' ports of 1 Gb/s: a sixth each, by either notion, as all flows cross the
    // same two ports. The unicast flow h0 -> h6 makes seven at h6's port: max-min gives each a seventh.
    let shares = |plan: &Plan| (plan.fair[0].max_min_bps.clone(), plan.fair[0].proportional_bps.clone());
    let near = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6 * e), "{found:?} is not {expected:?}");
    };
    let (max_min, proportional) = shares(&plan(STAR));
    near(&max_min, &[1e9 / 6.0; 6]);
    near(&proportional, &[1e9 / 6.0; 6]);
    let (max_min, _) = shares(&plan(&format!("{STAR}[[flow]]\nfrom = \"h0\"\nto = \"h6\"\n")));
    near(&max_min, &[1e9 / 7.0; 7]);

    // One multicast flow over two ports, on each of which it meets one unicast flow. Max-min: halves. Proportional: its
    // price is the sum of the two, p + p, the others' p, and 1/(2p) + 1/p = 1 Gb/s: p = 1.5 per Gb/s, so 1/3 and 2/3.
    let (max_min, proportional) =
        shares(&plan(&format!("{}[[flow]]\nfrom = \"h1..h2\"\nto = \"h6..h7\"\n", STAR.replace("h0..h5", "h0"))));
    near(&max_min, &[0.5e9, 0.5e9, 0.5e9]);
    near(&proportional, &[1e9 / 3.0, 2e9 / 3.0, 2e9 / 3.0]);
}

#[test]
fn paths_to_members_share_links_as_far_as_they_can() {
    let group = "[[group]]\nname = \"g\"\nmembers = \"h2..h7\"\n[[flow]]\nfrom = \"h0\"\nto = \"g\"\n";
    let plan = plan(&format!("{LEAF_SPINE}{group}"));
    check_tree(&plan, 0);
    let links = tree(&plan, 0);
    // One link up, one to each of three leaves, two down from each: however the spine is chosen, it is one.
    assert_eq!(links.len(), 1 + 1 + 3 + 6);
    assert_eq!(links.iter().filter(|l| l.starts_with("leaf0->spine")).count(), 1);

    // Under d-mod-k the tree goes where a flow to the first member would. Host h7 of a 4-ary fat tree is reached over
    // agg1 and core3; h6, whose own path would be over agg0, is next to it.
    let tree_to = |members: &str| {
        format!(
            "[topology.fat-tree]\nk = 4\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\nrouting = \"d-mod-k\"\n\
             [[group]]\nname = \"g\"\nmembers = {members}\n[[flow]]\nfrom = \"h0\"\nto = \"g\"\n"
        )
    };
    let plan = self::plan(&tree_to("[\"h7\", \"h6\"]"));
    let first = ["h0->edge0", "edge0->agg1", "agg1->core3", "core3->agg3", "agg3->edge3"];
    assert_eq!(tree(&plan, 0), [&first[..], &["edge3->h7", "edge3->h6"]].concat());
    // h1 is at the first switch, h2 (up-port 2 mod 2 = 0) is not on the path of h7: the tree branches as late as it can.
    let plan = self::plan(&tree_to("[\"h7\", \"h1\", \"h2\"]"));
    check_tree(&plan, 0);
    let links: BTreeSet<&str> = tree(&plan, 0).into_iter().collect();
    let more = ["edge3->h7", "edge0->h1", "agg1->edge1", "edge1->h2"];
    assert_eq!(links, first.into_iter().chain(more).collect());
}

#[test]
fn a_tree_may_be_listed_and_shared_by_all_sources() {
    let text = |links: &str| {
        format!(
            "[topology.parking-lot]\nswitches = 3\nhosts_per_switch = 2\nlink_rate = \"1 Gbps\"\ntrunk_rate = \"1 Gbps\"\n\
             buffer = \"100 frames\"\n[[group]]\nname = \"g\"\nmembers = [\"h3\", \"h5\"]\nlinks = [{links}]\n\
             [[flow]]\nfrom = [\"h0\", \"h1\", \"h4\"]\nto = \"g\"\n"
        )
    };
    let shared = plan(&text(r#""sw1->h3", "sw2->h5", "sw1->sw2""#).replace(", \"h4\"]", "]"));
    assert_eq!(tree(&shared, 1), ["h1->sw0", "sw0->sw1", "sw1->h3", "sw1->sw2", "sw2->h5"]);
    (0..2).for_each(|flow| check_tree(&shared, flow));
    // The path of h4 to the root would run through the tree.
    let message = outcome(&text(r#""sw1->h3", "sw2->h5", "sw1->sw2""#)).unwrap_err().to_string();
    assert!(message.contains("the path from \"h4\" to \"sw1\", where the tree of \"g\" begins, runs through \"sw2\""));
    // A tree may begin at its source, and then serves that source alone.
    let links = r#""h0->sw0", "sw0->sw1", "sw1->h3", "sw1->sw2", "sw2->h5""#;
    let own = plan(&text(links).replace("[\"h0\", \"h1\", \"h4\"]", "\"h0\""));
    assert_eq!(tree(&own, 0), ["h0->sw0", "sw0->sw1", "sw1->h3", "sw1->sw2", "sw2->h5"]);
    let message = outcome(&text(links)).unwrap_err().to_string();
    assert!(message.contains("flow.0.to: the tree of \"g\" begins at the host \"h0\", not at \"h1\""), "{message}");
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (old, new, expected) in [
        // Groups.
        ("members = \"h6..h7\"\n", "", "x.toml:8: group.0.members: missing (expected a name, a range"),
        ("\"h6..h7\"", "[]", "x.toml:10: group.0.members: an empty list (expected a name, a range"),
        ("\"h6..h7\"", "[\"h6..h7\", \"h6\"]", "x.toml:10: group.0.members: \"h6\" is a member twice (list each"),
        ("\"h6..h7\"", "\"h8\"", "x.toml:10: group.0.members: there is no host \"h8\" (hosts are h0 to h7)"),
        ("\"h6..h7\"", "\"sw0\"", "\"sw0\" is a switch; flows run between hosts"),
        ("\"h6..h7\"", "\"h7..h6\"", "the range \"h7..h6\" runs backwards"),
        (
            "name = \"receivers\"",
            "name = \"h0\"",
            "x.toml:9: group.0.name: a node is called \"h0\" already (give the group a",
        ),
        ("name = \"receivers\"", "name = \"sw0\"", "x.toml:9: group.0.name: a node is called \"sw0\" already"),
        ("name = \"receivers\"", "name = \"g0..g1\"", "x.toml:9: group.0.name: \"g0..g1\" is not a name"),
        (
            "[[flow]]",
            "[[group]]\nname = \"receivers\"\nmembers = \"h1\"\n[[flow]]",
            "x.toml:12: group.1.name: the name \"receivers\" is used twice",
        ),
        // Flows to groups.
        (
            "to = \"receivers\"",
            "to = \"recievers\"",
            "there is no host or group \"recievers\" (did you mean \"receivers\"?)",
        ),
        (
            "to = \"receivers\"",
            "to = [\"receivers\", \"h1\"]",
            "x.toml:13: flow.0.to: groups and hosts are mixed (write one",
        ),
        (
            "from = \"h0..h5\"",
            "from = \"h5..h6\"",
            "the source \"h6\" is a member of the group \"receivers\" (take \"h6\"",
        ),
        ("from = \"h0..h5\"", "from = \"receivers\"", "flow.0.from: there is no host \"receivers\""),
        (
            "from = \"h0..h5\"",
            "path = [\"h0\", \"sw0\", \"h6\"]\nfrom = \"h0\"",
            "x.toml:12: flow.0.path: a path leads to a single host (the path to a group is a tree",
        ),
    ] {
        assert!(STAR.contains(old), "{old}");
        let message = outcome(&STAR.replacen(old, new, 1)).expect_err(new).to_string();
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
    }
    let text = format!("{STAR}[[flow]]\nfrom = \"h0\"\nto = \"receivers\"\n").replace("\"h0..h5\"", "\"h0\"");
    let text = text.replace("hosts = 8\n", "hosts = 8192\n").replace("\"h6..h7\"", "\"h1..h8191\"");
    let many = format!("{text}{}", "[[flow]]\nfrom = \"h0\"\nto = \"receivers\"\n".repeat(12));
    let message = outcome(&many).unwrap_err().to_string();
    assert!(message.contains("106483 destinations of flows; 100000 are the most"), "{message}");
}

#[test]
fn links_that_are_no_tree_are_refused() {
    // A ring of switches s0, s1, s2 with a host at each, and h3, h4 at s2.
    let text = |links: &str| {
        format!(
            "[topology.graph]\nhosts = \"h0..h4\"\nswitches = \"s0..s2\"\nbuffer = \"100 frames\"\nlink = [{}]\n\
             [[group]]\nname = \"g\"\nmembers = [\"h1\", \"h2\"]\nlinks = [{links}]\n[[flow]]\nfrom = \"h0\"\nto = \"g\"\n",
            ["h0 s0", "h1 s1", "h2 s2", "h3 s2", "s0 s1", "s1 s2", "s2 s0", "h4 s2", "h0 s2"]
                .map(|ends| ends.replace(' ', "\", \""))
                .map(|ends| format!("{{ ends = [\"{ends}\"], rate = \"1 Gbps\" }}"))
                .join(", ")
        )
    };
    let good = r#""h0->s0", "s0->s1", "s1->h1", "s1->s2", "s2->h2""#;
    check_tree(&plan(&text(good)), 0);
    for (links, expected) in [
        // A loop, first as a branch that runs back, then without a beginning.
        (
            r#""h0->s0", "s0->s1", "s1->s2", "s2->s0", "s1->h1", "s2->h2""#,
            "x.toml:12: group.0.links: the links run in a loop: s0->s1->s2->s0 (a tree has no loop",
        ),
        (r#""s2->s0", "s0->s1", "s1->s2", "s1->h1", "s2->h2""#, "the links run in a loop: s2->s0->s1->s2"),
        (r#""s0->s1", "s1->s0""#, "the links run in a loop: s0->s1->s0"),
        (
            r#""h0->s0", "s0->s1", "s1->h1", "s0->s2", "s1->s2", "s2->h2""#,
            "two links lead to \"s2\": s0->s2 and s1->s2 (a tree has one link to each node",
        ),
        (r#""s0->s1", "s0->s1""#, "the link \"s0->s1\" is listed twice"),
        (r#""h0->s0", "s0->s1", "s1->h1""#, "no link leads to the member \"h2\" (the tree reaches each member)"),
        (
            r#""h0->s0", "s0->s1", "s1->h1", "s1->s2", "s2->h2", "s2->h3""#,
            "a branch ends at \"h3\", which is no member (each branch of a tree ends at a member)",
        ),
        (r#""s0->s1", "s1->h1", "s0->s2""#, "a branch ends at \"s2\", which is no member"),
        (
            r#""s0->s1", "s1->h1", "s2->h2""#,
            "\"s2->h2\" cannot be reached from \"s0\" (the links of a tree are connected",
        ),
        (r#""s0->s2", "s2->h2", "h1->s1", "s0->s1""#, "two links lead to \"s1\": h1->s1 and s0->s1"),
        (r#""s0->s1", "s1->h2""#, "there is no link \"s1->h2\" (did you mean"),
        (r#""h0->s0", "s0->s1", "s1->h1", "h0->s2", "s2->h2""#, "leaves its source \"h0\" over several links"),
    ] {
        let message = outcome(&text(links)).expect_err(links).to_string();
        assert!(message.contains(expected), "{links}\n gives {message}\n not {expected}");
    }
    assert!(outcome(&text("")).unwrap_err().to_string().contains("group.0.links: an empty list"));
}

proptest! {
    /// On any connected graph, under either rule of routing, a group gets a tree.
    #[test]
    fn every_group_gets_a_tree(
        parents in prop::collection::vec(0..1000_usize, 1..12),
        extra in prop::collection::vec((0..1000_usize, 0..1000_usize), 0..16),
        at in prop::collection::vec(0..1000_usize, 3..20),
        by_destination: bool,
    ) {
        let switches = parents.len() + 1;
        let ring = parents.iter().enumerate().map(|(i, parent)| (parent % (i + 1), i + 1));
        let extra = extra.iter().map(|(a, b)| (a % switches, b % switches)).filter(|(a, b)| a != b);
        let joined: BTreeSet<(usize, usize)> = ring.chain(extra).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let links = joined.iter().map(|(a, b)| format!("{{ ends = [\"s{a}\", \"s{b}\"], rate = \"1 Gbps\" }}"));
        let homes = at.iter().enumerate().map(|(i, s)| format!("{{ ends = [\"h{i}\", \"s{}\"], rate = \"1 Gbps\" }}", s % switches));
        let plan = plan(&format!(
            "[topology.graph]\nhosts = \"h0..h{}\"\nswitches = \"s0..s{}\"\nbuffer = \"100 frames\"\nrouting = \"{}\"\n\
             link = [{}]\n[[group]]\nname = \"g\"\nmembers = \"h1..h{0}\"\n[[flow]]\nfrom = \"h0\"\nto = \"g\"\n",
            at.len() - 1,
            switches - 1,
            if by_destination { "d-mod-k" } else { "ecmp" },
            links.chain(homes).collect::<Vec<_>>().join(", "),
        ));
        check_tree(&plan, 0);
    }
}
