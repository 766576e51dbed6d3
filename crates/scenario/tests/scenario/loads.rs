//! Loads and incasts: senders and receivers, sizes, the amount of traffic, and mistakes that are refused.

use std::collections::BTreeSet;

use penstock_scenario::{Choice, GeneratedFlow, Plan, Scenario};
use penstock_schemes::{Duration, Instant};

const FABRIC: &str = r#"question = "Does it work?"
duration = "200 ms"
scheme = "none"
record.interval = "1 ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
buffer = "1 MB"
"#;

fn outcome(text: &str, seed: Option<u64>) -> Result<Plan, String> {
    let choice = Choice { seed, ..Choice::default() };
    Scenario::parse(text, "x.toml", "x").and_then(|s| s.plan(&choice)).map_err(|e| e.to_string())
}

fn planned(tables: &str) -> Plan {
    outcome(&format!("{FABRIC}{tables}"), None).unwrap_or_else(|e| panic!("{e}"))
}

/// Octets of all flows.
fn octets(plan: &Plan) -> f64 {
    plan.generated.flows().map(|flow| flow.size.0 as f64).sum()
}

/// Eight hosts at 10 Gb/s: in 200 ms they carry 2 GB. Halves of four hosts with two spines at 10 Gb/s each: 20 Gb/s in each direction, half
/// of that. Exponential sizes of 100 KB: some 10 000 and 5000 flows, whose sum deviates by sqrt(2 / n): 1.4 % and 2 %.
#[test]
fn a_load_is_a_share_of_what_the_hosts_or_the_bisection_carry() {
    for (reference, capacity) in [("hosts", 2e9), ("bisection", 1e9)] {
        let plan = planned(&format!(
            "[[load]]\nload = 0.5\nreference = \"{reference}\"\nsize = {{ exponential = {{ mean = \"100 KB\" }} }}\n"
        ));
        let share = octets(&plan) / capacity;
        assert!((share / 0.5 - 1.0).abs() < 0.08, "{reference}: {share}");
        assert_eq!((plan.single, plan.generated.table(0), &*plan.flow_name(1)), (0, "load0", "load0.1"));
    }
}

/// Gaps of all three kinds have the mean that the load asks for. Lognormal gaps with sigma 1 deviate by sqrt(e - 1) of it.
#[test]
fn gaps_have_their_mean() {
    for gaps in ["poisson", "even", "lognormal\"\nsigma = 1.0\nname = \"web"] {
        let plan = planned(&format!("[[load]]\nload = 0.4\nsize = \"100 KB\"\ngaps = \"{gaps}\"\n"));
        let flows = plan.generated.len() as f64;
        assert!((flows / 8000.0 - 1.0).abs() < 0.08, "{gaps}: {flows}");
    }
    let burst = planned("[[load]]\nload = 0.4\nsize = \"100 KB\"\nburst = 10\nflows = 995\n");
    let starts: Vec<Instant> = burst.generated.flows().map(|flow| flow.start).collect();
    assert_eq!(starts.len(), 995);
    assert!(starts.chunks(10).all(|ten| ten.iter().all(|start| *start == ten[0])));
    assert_eq!(starts.iter().collect::<BTreeSet<_>>().len(), 100);
}

#[test]
fn pairs_are_those_that_were_asked_for() {
    let pairs = |kind: &str| {
        let plan = planned(&format!("[[load]]\nload = 0.5\nsize = \"100 KB\"\npairs = \"{kind}\"\n"));
        let name = |node: usize| plan.node_names[node].clone();
        plan.generated.flows().map(|flow| (name(flow.source), name(flow.destination))).collect::<Vec<_>>()
    };
    let all = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeSet<_>>();
    let random = pairs("random");
    assert_eq!(all(&random).len(), 56, "every pair of eight hosts comes up");
    assert!(random.iter().all(|(from, to)| from != to));
    let permutation = all(&pairs("permutation"));
    assert_eq!(permutation.len(), 8);
    assert_eq!(permutation.iter().map(|(_, to)| to).collect::<BTreeSet<_>>().len(), 8);
    assert_eq!(all(&pairs("all-to-all")[..56]).len(), 56, "56 flows, every pair once");
    let rack = |name: &str| name[1..].parse::<u32>().expect("hosts are h0 to h7") / 4;
    assert!(pairs("racks").iter().all(|(from, to)| rack(from) != rack(to)));
}

/// Three of four hosts send at once to another one, each 10 ms.
#[test]
fn an_incast_comes_at_its_period() {
    let plan =
        planned("[[incast]]\nhosts = \"h0..h3\"\nfan_in = 3\nsize = \"64 KB\"\nevery = \"10 ms\"\nstart = \"5 ms\"\n");
    let all: Vec<GeneratedFlow> = plan.generated.flows().collect();
    assert_eq!((all.len(), plan.generated.len()), (3 * 20, 3 * 20));
    for (round, flows) in all.chunks(3).enumerate() {
        assert!(flows.iter().all(|flow| flow.start == Instant::ZERO + Duration::from_us(5000 + 10_000 * round as u64)));
        assert!(flows.iter().all(|flow| flow.destination == flows[0].destination));
        assert_eq!(flows.iter().map(|flow| flow.source).collect::<BTreeSet<_>>().len(), 3);
    }
    let random = planned("[[incast]]\nto = \"h7\"\nfan_in = 7\nsize = \"64 KB\"\nevery = \"1 ms\"\nrandom = true\n");
    let rounds = random.generated.len() / 7;
    assert!((150..250).contains(&rounds), "{rounds}");
}

/// The draws of a load depend on its own seed, or on the scenario's.
#[test]
fn a_load_with_a_seed_of_its_own_stays_the_same() {
    let flows = |own: &str, seed| {
        let text = format!("{FABRIC}[[load]]\nload = 0.3\nsize = {{ workload = \"hadoop\" }}\n{own}\n");
        let plan = outcome(&text, Some(seed)).unwrap_or_else(|e| panic!("{e}"));
        plan.generated.flows().map(|flow| (flow.start, flow.size)).collect::<Vec<_>>()
    };
    assert_eq!(flows("", 1), flows("", 1));
    assert_ne!(flows("", 1), flows("", 2));
    assert_eq!(flows("seed = 7", 1), flows("seed = 7", 2));
}

/// The engine gets the flows of all tables merged: by their starts, and those of one instant table by table. Each goes over the
/// links that lead from its source to its destination.
#[test]
fn the_flows_of_all_tables_come_in_the_order_of_their_starts() {
    let incast = "[[incast]]\nfan_in = 3\nsize = \"20 KB\"\nevery = \"5 ms\"\n";
    let plan = planned(&format!("[[load]]\nload = 0.2\nsize = \"1 MB\"\n{incast}{incast}"));
    let key = |flow: &GeneratedFlow| (flow.start, flow.table, flow.number);
    let mut expected: Vec<GeneratedFlow> = plan.generated.flows().collect();
    expected.sort_by_key(key);
    let merged: Vec<_> = plan.generated.arrivals().collect();
    assert_eq!((merged.len(), plan.generated.len()), (expected.len(), expected.len()));
    for (arrival, flow) in merged.iter().zip(&expected) {
        assert_eq!((arrival.start, arrival.process as usize, arrival.number), key(flow));
        let ports = &plan.network.ports;
        assert!(flow.path.windows(2).all(|pair| ports[pair[0].index()].peer == ports[pair[1].index()].node));
        let ends = (flow.path[0].index(), flow.path[flow.path.len() - 1].index());
        assert_eq!((ports[ends.0].node.index(), ports[ends.1].peer.index()), (flow.source, flow.destination));
        for (&(port, back), own) in arrival.path.iter().zip(&flow.path) {
            assert_eq!(port, *own);
            assert_eq!(
                (ports[port.index()].node, ports[port.index()].peer),
                (ports[back.index()].peer, ports[back.index()].node)
            );
        }
    }
    let counted: Vec<usize> = plan.network.processes.list.iter().map(|process| process.flows as usize).collect();
    assert_eq!(counted, [0, 1, 2].map(|table| expected.iter().filter(|flow| flow.table == table).count()));
}

/// A million flows take a plan no more memory than a thousand: none is kept. They are counted, and drawn again.
#[test]
fn flows_of_loads_are_not_limited_as_those_of_tables_are() {
    let plan = planned("[[load]]\nload = 0.5\nsize = \"5 KB\"\n");
    assert!(plan.generated.len() > 150_000, "{}", plan.generated.len());
    assert_eq!((plan.network.flows.len(), plan.network.hops.len(), plan.flow_names.len()), (0, 0, 0));
}

/// The resolved scenario keeps the load as it is, and gives the same flows again.
#[test]
fn the_resolved_scenario_makes_the_same_flows() {
    let plan = planned(
        "[[load]]\nload = 0.3\nsize = { workload = \"websearch\" }\ntransport = \"tcp\"\n[[incast]]\nfan_in = 5\nsize = \"20 KB\"\nevery = \"20 ms\"\n",
    );
    assert!(plan.resolved.contains("workload = \"websearch\""), "{}", plan.resolved);
    let again = outcome(&plan.resolved, None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.resolved, plan.resolved);
    assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    assert!(
        again.generated.flows().eq(plan.generated.flows()) && again.generated.arrivals().eq(plan.generated.arrivals())
    );
    assert!(plan.network.processes.list[0].transport.is_some());
}

#[test]
fn each_mistake_is_named_with_its_location() {
    let load = "[[load]]\nload = 0.5\nsize = \"100 KB\"\n";
    for (tables, expected) in [
        ("[[load]]\nload = 1.5\nsize = \"1 KB\"\n".to_owned(), "load.0.load: expected a number from 0.000001 to 1"),
        ("[[load]]\nload = 0\nsize = \"1 KB\"\n".to_owned(), "load.0.load: expected a number from 0.000001 to 1"),
        ("[[load]]\nload = 0.5\n".to_owned(), "load.0.size: missing"),
        ("[[load]]\nload = 0.5\nsize = \"0 B\"\n".to_owned(), "load.0.size: \"0 B\" is zero"),
        ("[[load]]\nload = 0.5\nsize = { workload = \"websurf\" }\n".to_owned(), "(did you mean \"websearch\"?)"),
        (
            "[[load]]\nload = 0.5\nsize = { points = [{ size = \"9 KB\", share = 0.5 }, { size = \"1 KB\", share = 1.0 }] }\n".to_owned(),
            "not above the 9 KB before it (list the points in rising order)",
        ),
        (
            "[[load]]\nload = 0.5\nsize = { points = [{ size = \"1 KB\", share = 0.5 }, { size = \"9 KB\", share = 0.4 }] }\n".to_owned(),
            "0.4 is not above the 0.5 before it",
        ),
        (format!("{load}sigma = 1.0\n"), "load.0.sigma: applies to lognormal gaps only (add gaps = \"lognormal\")"),
        (format!("{load}hosts = \"h3\"\n"), "load.0.hosts: a load needs two hosts at least"),
        (format!("{load}hosts = [\"h3\", \"h3\"]\n"), "load.0.hosts: \"h3\" is listed twice (list each host once)"),
        (format!("{load}hosts = \"h0..h9\"\n"), "load.0.hosts: there is no host \"h8\""),
        (format!("{load}hosts = \"h0..h3\"\npairs = \"racks\"\n"), "all hosts are at one switch: no two are in different racks"),
        (format!("{load}start = \"5 ms\"\nend = \"5 ms\"\n"), "load.0.end: no flow would begin (later than the start, 5 ms)"),
        (format!("{load}transport = {{ tcp = {{ congestion = \"reno\" }} }}\n"), "load.0.transport.tcp.congestion: \"reno\""),
        (format!("{load}transport = \"tcp\"\nacks = 5\n"), "load.0.acks: no flow has priority 5 (flows have 0; or \"control\")"),
        (format!("{load}name = \"a\"\n{load}name = \"a\"\n"), "load.1.name: the name \"a\" is used twice"),
        ("[[load]]\nload = 0.9\nsize = \"64 B\"\n".to_owned(), "flows of loads, incasts and bursts, and connections of jobs; 2000000 are the most (a lower load, a shorter run, or larger flows"),
        ("[[incast]]\nfan_in = 8\nsize = \"1 KB\"\nevery = \"1 ms\"\n".to_owned(), "8 senders to one host, and there are 7 others (at most 7)"),
        ("[[incast]]\nfan_in = 4\nhosts = \"h0..h3\"\nto = \"h0\"\nsize = \"1 KB\"\nevery = \"1 ms\"\n".to_owned(), "there are 3 others"),
        (String::new(), "there is no flow"),
    ] {
        let message = outcome(&format!("{FABRIC}{tables}"), None).expect_err(&tables);
        assert!(message.contains(expected), "{tables}\n{message}\n{expected}");
    }
}

/// Each flow brings the tables of its reaction point with it.
#[test]
fn tables_of_generated_flows_count_as_entries() {
    let fabric = FABRIC.replace("none", "fecn");
    let load = "[[incast]]\nfan_in = 4\nsize = \"1 KB\"\nevery = \"1 ms\"\n";
    assert!(outcome(&format!("{fabric}{load}[schemes.fecn]\nflow_table = 1000\n"), None).is_ok());
    let message = outcome(&format!("{fabric}{load}[schemes.fecn]\nflow_table = 65536\n"), None).unwrap_err();
    assert!(message.contains("entries in tables of schemes; 20000000 are the most"), "{message}");
}

/// Flow control holds the frames of loads as those of flows: the same links get the same ingress buffers.
#[test]
fn flow_control_holds_loads() {
    let table = |traffic: &str| planned(&format!("[pfc]\nbuffer = \"200 KB\"\n{traffic}"));
    let loaded = table("[[load]]\nload = 0.5\nsize = \"100 KB\"\nframe = \"1500 octets\"\npairs = \"all-to-all\"\n");
    let pairs: String = (0..8)
        .flat_map(|from| (0..8).filter(move |&to| to != from).map(move |to| (from, to)))
        .map(|(from, to)| format!("[[flow]]\nfrom = \"h{from}\"\nto = \"h{to}\"\nframe = \"1500 octets\"\n"))
        .collect();
    let single = table(&pairs);
    let (loaded, single) = (loaded.network.pfc.unwrap(), single.network.pfc.unwrap());
    assert!(loaded.ingress.iter().flatten().count() >= 8, "{loaded:?}");
    assert_eq!(loaded.priorities, single.priorities);
    let hosts = |pfc: &penstock_sim::network::Pfc| pfc.ingress[..16].to_vec();
    assert_eq!(hosts(&loaded), hosts(&single));
}
