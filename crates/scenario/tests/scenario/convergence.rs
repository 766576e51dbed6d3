//! Routes that change with broken links, notes about flows that stand still, and links whose directions differ.

use crate::common::{plan, plan_or_message as outcome};
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant};
use penstock_sim::network::{HopId, PortEvent, PortId, Reroute};

const FABRIC: &str = r#"question = "Does it work?"
duration = "10 ms"
scheme = "none"
[network]
convergence = "1 ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
buffer = "150 KB"
[[flow]]
from = "h0..h3"
to = "h4..h7"
transport = "selective"
[[change]]
link = "leaf0--spine0"
at = "2 ms"
state = "down"
[[change]]
link = "leaf0--spine0"
at = "6 ms"
state = "up"
"#;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(n)
}

/// The links of the route from a hop.
fn links(plan: &Plan, root: HopId) -> Vec<&str> {
    plan.network.route_from(root).map(|hop| plan.port_name(plan.network.hops[hop.index()].port)).collect()
}

fn notes(plan: &Plan) -> Vec<&String> {
    plan.notes.iter().filter(|note| note.contains("while a link is broken")).collect()
}

#[test]
fn flows_over_a_broken_link_have_another_route_until_it_is_whole() {
    let plan = plan(FABRIC);
    let network = &plan.network;
    let over: Vec<u32> =
        (0..4).filter(|&flow| links(&plan, network.flows[flow as usize].root).contains(&"leaf0->spine0")).collect();
    assert!(!over.is_empty() && over.len() < 4, "the hash uses both spines: {over:?}");
    let moved: Vec<(Instant, u32)> = network.reroutes.iter().map(|own| (own.at, own.flow.0)).collect();
    let expected: Vec<(Instant, u32)> =
        [2, 7].iter().flat_map(|&at| over.iter().map(move |&flow| (ms(at), flow))).collect();
    assert_eq!(moved, expected);
    for Reroute { at, flow, root, reverse_path } in &network.reroutes {
        let (host, peer) = (format!("h{}", flow.0), format!("h{}", flow.0 + 4));
        let spine = if *at == ms(2) { "spine1" } else { "spine0" };
        let nodes = [host.as_str(), "leaf0", spine, "leaf1", peer.as_str()];
        let there: Vec<String> = nodes.windows(2).map(|pair| format!("{}->{}", pair[0], pair[1])).collect();
        let back: Vec<String> = nodes.windows(2).rev().map(|pair| format!("{}->{}", pair[1], pair[0])).collect();
        assert_eq!(links(&plan, *root), there);
        assert_eq!(links(&plan, reverse_path.expect("a transport")), back);
    }
    assert_eq!(notes(&plan), Vec::<&String>::new());
    // Four flows share one uplink while it is known, and the stopped ones have nothing before that.
    let share = |at: Instant| {
        let period = plan.fair.iter().find(|period| period.time.contains(&at)).expect("a period");
        period.max_min_bps.iter().map(|bps| (bps / 1e7).round() / 100.0).collect::<Vec<f64>>()
    };
    assert_eq!((share(Instant(2_500_000_000)), share(ms(4))), (vec![2.5; 4], vec![2.5; 4]));
    assert_eq!(share(ms(8)), share(ms(1)));
}

/// Far from the sender, or in one direction alone, which acknowledgements or data need; a change that nobody hears of before the end.
#[test]
fn links_elsewhere_and_single_directions_count() {
    for link in ["leaf1--spine0", "spine0->leaf1", "leaf1->spine0", "leaf0->spine0"] {
        let plan = plan(&FABRIC.replace("leaf0--spine0", link));
        assert!(!plan.network.reroutes.is_empty(), "{link}");
        // A leaf notices a port that it has at once, a distant one when all do.
        let known = if link == "leaf0->spine0" { ms(2) } else { ms(3) };
        for own in plan.network.reroutes.iter().filter(|own| own.at < ms(6)) {
            assert!(own.at == known && links(&plan, own.root).contains(&"leaf0->spine1"), "{link}");
        }
    }
    let late = plan(&FABRIC.replace("\"6 ms\"", "\"9 ms\""));
    assert!(late.network.reroutes.iter().all(|own| own.at == ms(2)));
    let spread = plan(&FABRIC.replace("[network]\n", "[network]\nload_balancing = \"spray\"\n"));
    // Each flow has a tree, then a chain, then its tree again.
    let routes = |flow: u32| spread.network.reroutes.iter().filter(move |own| own.flow.0 == flow).map(|own| own.root);
    for flow in 0..4 {
        let lengths: Vec<usize> = routes(flow).map(|root| links(&spread, root).len()).collect();
        assert_eq!(lengths, [4, 7]);
    }
}

#[test]
fn a_note_names_the_flows_that_stand_still() {
    let never = plan(&FABRIC.replace("\"1 ms\"", "\"never\""));
    assert!(never.network.reroutes.is_empty());
    let [note] = notes(&never)[..] else { panic!("{:?}", never.notes) };
    assert!(note.contains("(leaf0--spine0)") && note.contains("network.convergence = \"never\""), "{note}");
    // A host with a single link, and a flow that lists its path, have no other path.
    let host = plan(&FABRIC.replace("leaf0--spine0", "h5--leaf1"));
    let [note] = notes(&host)[..] else { panic!("{:?}", host.notes) };
    assert!(note.contains("h5") && note.contains("f1 may stand still: no route avoids it"), "{note}");
    let path = "from = \"h0\"\nto = \"h4\"\npath = [\"h0\", \"leaf0\", \"spine0\", \"leaf1\", \"h4\"]";
    let listed = plan(&FABRIC.replace("from = \"h0..h3\"\nto = \"h4..h7\"", path));
    assert!(listed.network.reroutes.is_empty());
    assert_eq!(notes(&listed).len(), 1, "{:?}", listed.notes);
}

/// The times at which routes change.
fn times(text: &str) -> Vec<Instant> {
    let mut times: Vec<Instant> = plan(text).network.reroutes.iter().map(|own| own.at).collect();
    times.dedup();
    times
}

/// The switch of the link takes some time to notice, or routing is faster than it; without the key all take 5 ms, where a link goes down.
#[test]
fn switches_know_their_own_ports_first() {
    let settings = |new: &str| FABRIC.replace("convergence = \"1 ms\"", new);
    let late = settings("local_repair = \"0.5 ms\"\nconvergence = \"1 ms\"");
    assert_eq!(times(&late), [Instant(2_500_000_000), ms(7)]);
    let slow = settings("local_repair = \"5 ms\"\nconvergence = \"1 ms\"");
    assert_eq!(times(&slow), [ms(3), ms(7)]);
    // Back at 6 ms, before all would have acted at 7 ms; or at 9 ms, which they know after the end.
    let (back, late) = (settings(""), settings("").replace("\"6 ms\"", "\"9 ms\""));
    assert_eq!((times(&back), times(&late)), (vec![ms(2), ms(6)], vec![ms(2)]));
    let far = |text: &str| times(&text.replace("leaf0--spine0", "leaf1--spine0"));
    assert_eq!((far(&back), far(&late)), (vec![], vec![ms(7)]));
    assert!(plan(&settings("")).resolved.contains("convergence = \"5 ms\""));
    assert!(!plan(&settings("").replace("\"down\"", "\"up\"")).resolved.contains("convergence"));
    let drawn = |seed: u64| {
        let uniform = settings("convergence = { uniform = { minimum = \"1 ms\", maximum = \"3 ms\" } }");
        times(&format!("seed = {seed}\n{}", uniform.replace("leaf0--", "leaf1--")))
    };
    let (one, other) = (drawn(1), drawn(2));
    assert!(one != other && one == drawn(1), "{one:?} {other:?}");
    for times in [one, other] {
        assert!(ms(3) <= times[0] && times[0] <= ms(5) && ms(7) <= times[1] && times[1] <= ms(9), "{times:?}");
    }
}

/// A table for a link that flaps: 1 ms down every 3 ms.
#[test]
fn a_link_flaps_by_one_table() {
    let first = FABRIC.find("[[change]]").unwrap();
    let flap = |rest: &str| {
        let change = "[[change]]\nlink = \"leaf0--spine0\"\nat = \"1 ms\"\nstate = \"down\"\ndown_for = \"1 ms\"\n";
        let plan = plan(&format!("{}{change}{rest}\n", &FABRIC[..first]));
        let port = plan.port("leaf0->spine0").unwrap();
        let own = plan.network.changes.iter().filter(|change| change.port == port);
        own.map(|change| (change.at.0 / 1_000_000_000, change.event == PortEvent::Down)).collect::<Vec<_>>()
    };
    assert_eq!(flap(""), [(1, true), (2, false)]);
    let all = [(1, true), (2, false), (4, true), (5, false), (7, true), (8, false)];
    assert_eq!(flap("every = \"3 ms\""), all);
    assert_eq!(flap("every = \"3 ms\"\ntimes = 2"), all[..4]);
    assert_eq!(flap("every = \"3 ms\"\nuntil = \"4 ms\""), all[..2]);
    assert_eq!(flap("every = \"3 ms\"\nuntil = \"1 s\"\ntimes = 100"), all);
}

#[test]
fn directions_of_a_link_have_rates_and_delays_of_their_own() {
    let text = |link: &str| {
        format!(
            "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.graph]\nhosts = [\"a\", \"b\"]\nswitches = [\"s\"]\n\
             buffer = \"1 MB\"\n[[topology.graph.link]]\nends = [\"a\", \"s\"]\n{link}\n[[topology.graph.link]]\n\
             ends = [\"b\", \"s\"]\nrate = \"1 Gbps\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    let plan = plan(&text("rate = { up = \"2 Gbps\", down = \"5 Gbps\" }\ndelay = { up = \"1 us\", down = \"7 us\" }"));
    let port = |name: &str| {
        let PortId(port) = plan.port(name).unwrap();
        let port = &plan.network.ports[port as usize];
        (port.rate, port.latency)
    };
    assert_eq!(port("a->s"), (BitRate::from_gbps(2), Duration::from_us(1)));
    assert_eq!(port("s->a"), (BitRate::from_gbps(5), Duration::from_us(7)));
    assert_eq!(port("s->b"), (BitRate::from_gbps(1), Duration::ZERO));
    let again = outcome(&plan.resolved).unwrap();
    assert_eq!(again.resolved, plan.resolved);
    for wrong in ["rate = { up = \"2 Gbps\" }", "rate = { up = \"2 Gbps\", down = \"0 Gbps\" }", "rate = [\"1 Gbps\"]"]
    {
        let message = outcome(&text(wrong)).unwrap_err();
        assert!(message.starts_with("x.toml:10: topology.graph.link"), "{message}");
    }
}
