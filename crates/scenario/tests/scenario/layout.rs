//! The parts of a plan: names, routes, delays, limiters, changes, fair shares.

use std::collections::{BTreeMap, BTreeSet};

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::{BitRate, Duration, Instant, Octets, Value};
use penstock_sim::network::{Capacity, Excess, Feedback, FlowId, Pacer, PortEvent, PortId, Traffic};

fn plan(body: &str) -> Plan {
    let text = format!("question = \"?\"\nduration = \"1 s\"\nscheme = \"none\"\n{body}");
    Scenario::parse(&text, "x.toml", "x").and_then(|s| s.plan(&Choice::default())).unwrap_or_else(|e| panic!("{e}"))
}

/// The nodes that a flow passes.
fn path(plan: &Plan, flow: u32) -> Vec<&str> {
    let ports: Vec<PortId> = plan.network.route(FlowId(flow)).map(|hop| plan.network.hops[hop.index()].port).collect();
    let first = plan.network.ports[ports[0].index()].node;
    let rest = ports.iter().map(|p| plan.network.ports[p.index()].peer);
    std::iter::once(first).chain(rest).map(|node| plan.node_names[node.index()].as_str()).collect()
}

fn port<'a>(plan: &'a Plan, name: &str) -> &'a penstock_sim::network::Port {
    &plan.network.ports[plan.port_names.iter().position(|n| n == name).unwrap()]
}

const LEAF_SPINE: &str = r#"
[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 2
host_rate = "10 Gbps"
fabric_rate = "40 Gbps"
link_delay = "1 us"
buffer = "100 frames"
"#;

#[test]
fn every_topology_has_its_nodes_and_paths() {
    let dumbbell = "[topology.dumbbell]\nsources = 2\nreceivers = 2\nlink_rate = \"10 Gbps\"\n\
        bottleneck_rate = \"5 Gbps\"\nbuffer = \"150 KB\"\n[[flow]]\nfrom = \"h0..h1\"\nto = \"h2..h3\"";
    assert_eq!(path(&plan(dumbbell), 1), ["h1", "sw0", "sw1", "h3"]);

    let row = "[topology.parking-lot]\nswitches = 3\nlink_rate = \"10 Gbps\"\ntrunk_rate = \"10 Gbps\"\n\
        buffer = \"150 KB\"\n[[flow]]\nfrom = \"h1\"\nto = \"h4\"";
    assert_eq!(path(&plan(row), 0), ["h1", "sw0", "sw1", "sw2", "h4"]);

    let tree = "[topology.fat-tree]\nk = 4\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\nrouting = \"d-mod-k\"\n\
        [[flow]]\nfrom = \"h0\"\nto = [\"h1\", \"h2\", \"h7\", \"h15\"]";
    let tree = plan(tree);
    assert_eq!(tree.network.nodes.len(), 16 + 8 + 8 + 4);
    assert_eq!(tree.network.ports.len(), 2 * (16 + 16 + 16));
    assert_eq!(path(&tree, 0), ["h0", "edge0", "h1"]);
    // h2: edge0 goes up by 2 mod 2 = 0; the aggregation switch of the same pod has one path down.
    assert_eq!(path(&tree, 1), ["h0", "edge0", "agg0", "edge1", "h2"]);
    // h7: up by 7 mod 2 = 1, then by 3 mod 2 = 1: core 1 * 2 + 1.
    assert_eq!(path(&tree, 2), ["h0", "edge0", "agg1", "core3", "agg3", "edge3", "h7"]);
    assert_eq!(path(&tree, 3), ["h0", "edge0", "agg1", "core3", "agg7", "edge7", "h15"]);
}

/// Five groups of two switches with two links to other groups each: the largest of that shape. The groups that group 0 sees are
/// 1, 2, 3, 4; the first two are reached from sw0, the others from sw1.
#[test]
fn a_dragonfly_links_every_two_groups_once() {
    let shape = "[topology.dragonfly]\ngroups = 5\nswitches_per_group = 2\nhosts_per_switch = 2\nglobal_links = 2\n\
        host_rate = \"10 Gbps\"\nlocal_rate = \"20 Gbps\"\nglobal_rate = \"40 Gbps\"\nlink_delay = \"1 us\"\n\
        global_delay = \"5 us\"\nbuffer = \"150 KB\"\n\
        [[flow]]\nfrom = \"h0\"\nto = [\"h1\", \"h2\", \"h4\", \"h19\"]";
    let plan = plan(shape);
    assert_eq!(plan.network.nodes.len(), 20 + 10);
    assert_eq!(plan.network.ports.len(), 2 * (20 + 5 + 10));
    assert_eq!(path(&plan, 0), ["h0", "sw0", "h1"]);
    assert_eq!(path(&plan, 1), ["h0", "sw0", "sw1", "h2"]);
    // Group 1 sees 0, 2, 3, 4: its first switch, sw2, has the link to group 0.
    assert_eq!(path(&plan, 2), ["h0", "sw0", "sw2", "h4"]);
    // Group 4 sees 0, 1, 2, 3: sw8 leads to group 0, where sw1 leads to group 4; h19 is at sw9.
    assert_eq!(path(&plan, 3), ["h0", "sw0", "sw1", "sw8", "sw9", "h19"]);
    assert_eq!(port(&plan, "sw1->sw8").rate, BitRate::from_gbps(40));
    assert_eq!(port(&plan, "sw0->sw1").rate, BitRate::from_gbps(20));
}

#[test]
fn equal_paths_are_spread_or_chosen() {
    let flows = "[[flow]]\nfrom = \"h0\"\nto = \"h7\"\n".repeat(32);
    let ecmp = plan(&format!("{LEAF_SPINE}{flows}"));
    let spines: Vec<String> = (0..32).map(|f| path(&ecmp, f)[2].to_owned()).collect();
    let on_first = spines.iter().filter(|s| *s == "spine0").count();
    assert!((8..=24).contains(&on_first), "{on_first} of 32 flows go over spine0");
    let again = plan(&format!("{LEAF_SPINE}{flows}"));
    assert_eq!(spines, (0..32).map(|f| path(&again, f)[2].to_owned()).collect::<Vec<_>>());

    let listed = format!(
        "{LEAF_SPINE}[[flow]]\nfrom = \"h0\"\nto = \"h7\"\npath = [\"h0\", \"leaf0\", \"spine1\", \"leaf2\", \"spine0\", \
         \"leaf3\", \"h7\"]"
    );
    assert_eq!(path(&plan(&listed), 0), ["h0", "leaf0", "spine1", "leaf2", "spine0", "leaf3", "h7"]);
}

#[test]
fn a_seed_gives_other_paths() {
    let flows = "[[flow]]\nfrom = \"h0\"\nto = \"h7\"\n".repeat(64);
    let text = |network: &str| format!("{network}{LEAF_SPINE}{flows}");
    let spines = |network: &str| {
        let plan = plan(&text(network));
        (0..64).map(|f| path(&plan, f)[2].to_owned()).collect::<Vec<_>>()
    };
    let none = spines("");
    assert_eq!(spines("seed = 9\n"), none, "the run's seed changes no path");
    let seeded: Vec<_> = (0..4).map(|seed| spines(&format!("network.ecmp_seed = {seed}\n"))).collect();
    for (seed, own) in seeded.iter().enumerate() {
        let on_first = own.iter().filter(|s| *s == "spine0").count();
        assert!((16..=48).contains(&on_first), "seed {seed}: {on_first} of 64 flows go over spine0");
        // Half of the flows would change by chance.
        for other in seeded[..seed].iter().chain([&none]) {
            let moved = own.iter().zip(other).filter(|(one, other)| one != other).count();
            assert!((16..=48).contains(&moved), "seed {seed}: {moved} of 64 flows move");
        }
    }
}

#[test]
fn signals_have_a_reverse_path() {
    let plan = plan(&format!("{LEAF_SPINE}[[flow]]\nfrom = \"h0..h5\"\nto = \"h7\""));
    for hop in &plan.network.hops {
        let (there, back) = (&plan.network.ports[hop.port.index()], &plan.network.ports[hop.back.index()]);
        assert_eq!((there.node, there.peer), (back.peer, back.node));
    }
    let stations: BTreeSet<u64> = plan.network.nodes.iter().map(|n| n.station).collect();
    assert_eq!(stations.len(), plan.network.nodes.len());
    assert_eq!(plan.network.nodes[0].station, 0x0200_0000_0001);
    let mut numbers: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    for port in &plan.network.ports {
        numbers.entry(port.node.0).or_default().push(port.number);
    }
    for list in numbers.values() {
        assert_eq!(*list, (0..list.len() as u16).collect::<Vec<_>>());
    }
}

#[test]
fn delays_add_up() {
    let at = |which: &str| {
        plan(&format!(
            "{LEAF_SPINE}[network]\nnode_delay = \"0.5 us\"\nnode_delay_at = \"{which}\"\nhost_delay = \"100 ns\"\n\
             [[flow]]\nfrom = \"h0\"\nto = \"h7\""
        ))
    };
    for (which, to_switch, to_host) in [("switches", 1500, 1100), ("hosts", 1000, 1600), ("all", 1500, 1600)] {
        let plan = at(which);
        assert_eq!(port(&plan, "h0->leaf0").latency, Duration(to_switch * 1000), "{which}");
        assert_eq!(port(&plan, "leaf0->h0").latency, Duration(to_host * 1000), "{which}");
    }
    let graph = "[topology.graph]\nhosts = \"a..\"\n";
    assert!(Scenario::parse(graph, "x", "x").unwrap().plan(&Choice::default()).is_err());
    let plan = plan(
        "[topology.graph]\nhosts = [\"a\", \"b\"]\nswitches = \"s0..s1\"\nbuffer = \"100 frames\"\n\
         link = [{ ends = [\"a\", \"s0\"], rate = \"1 Gbps\" }, { ends = [\"s0\", \"s1\"], rate = \"2 Gbps\", \
         delay = \"3 us\", buffer = \"9 KB\" }, { ends = [\"s1\", \"b\"], rate = \"1 Gbps\" }]\n\
         node = [{ name = \"s1\", delay = \"2 us\" }]\n[[flow]]\nfrom = \"a\"\nto = \"b\"",
    );
    assert_eq!(port(&plan, "s0->s1").latency, Duration::from_us(5));
    assert_eq!(port(&plan, "s1->s0").latency, Duration::from_us(3));
    assert_eq!(port(&plan, "s0->s1").capacity, Capacity::Octets(Octets(9000)));
    assert_eq!(port(&plan, "s0->a").capacity, Capacity::Frames(100));
    assert_eq!(port(&plan, "a->s0").capacity, Capacity::Arbiter);
    assert_eq!(path(&plan, 0), ["a", "s0", "s1", "b"]);
}

#[test]
fn a_table_of_many_flows_is_read_as_written() {
    let plan = plan(&format!(
        "{LEAF_SPINE}[hosts]\nqueue = \"64 KiB\"\nreaction_points = \"per-host\"\n\
         pacer = {{ token_bucket = {{ depth = \"3 KB\", interval = \"16 us\", granularity = \"0.5 Mbps\" }} }}\n\
         [network]\nfeedback = {{ ideal = \"10 us\" }}\nwire_overhead = \"20 octets\"\ncongestion_points = \"everywhere\"\n\
         [[flow]]\nfrom = \"h0..h1\"\nto = \"h6..h7\"\nstagger = \"1 us\"\nsize = \"1 MB\"\nname = \"a\"\n\
         [[flow]]\nfrom = \"h0\"\nto = [\"h2\", \"h3\"]\ntraffic = \"poisson\"\nrate = \"1 Gbps\"\nexcess = \"discard\"\n\
         [[flow]]\nfrom = \"h0\"\nto = \"h4\"\ntraffic = \"on-off\"\nrate = \"4 Gbps\"\non = \"1 ms\"\noff = \"3 ms\"\n\
         random = true\npriority = 5\ncontrolled = false\nexcess = {{ queue = \"9 KB\" }}\nstop = \"0.5 s\"\nweight = 3"
    ));
    let network = &plan.network;
    assert_eq!(plan.flow_names, ["a0", "a1", "f2", "f3", "f4"]);
    assert_eq!(plan.flow_ends[3], (0, vec![3]));
    assert_eq!(network.priorities, [0, 5]);
    assert_eq!(network.flows[1].start, Instant(1_000_000));
    assert_eq!(network.flows[1].size, Some(Octets(1_000_000)));
    assert_eq!(network.flows[2].traffic, Traffic::Poisson(BitRate::from_gbps(1)));
    assert_eq!(network.flows[2].excess, Excess::Discard);
    assert_eq!(network.flows[4].excess, Excess::Queue(Octets(9000)));
    assert_eq!((network.flows[4].weight, network.flows[4].priority), (3, 5));
    let random = Traffic::OnOff {
        rate: BitRate::from_gbps(4),
        on: Duration::from_ms(1),
        off: Duration::from_ms(3),
        random: true,
    };
    assert_eq!(network.flows[4].traffic, random);
    // h0 has one limiter for a0, f2 and f3; h1 one for a1; nothing controls f4.
    let limiters: Vec<Option<u32>> = network.flows.iter().map(|f| f.reaction_point.map(|rp| rp.0)).collect();
    assert_eq!(limiters, [Some(0), Some(1), Some(0), Some(0), None]);
    assert!(matches!(network.reaction_points[0].pacer, Pacer::TokenBucket { depth: Octets(3000), .. }));
    assert_eq!(network.feedback, Feedback::Ideal(Duration::from_us(10)));
    assert_eq!(network.wire_overhead, 20);
    assert!(network.ports.iter().all(|p| p.congestion_points));
    // The host's port is recorded because it has a queue, under both priorities that cross it.
    let names: Vec<(String, u8)> = plan
        .record
        .queues
        .iter()
        .map(|q| network.port_and_priority(*q).unwrap())
        .map(|(port, priority)| (plan.port_name(port).to_owned(), priority))
        .collect();
    assert_eq!(names[0], ("h0->leaf0".to_owned(), 0));
    assert_eq!(names[1], ("h0->leaf0".to_owned(), 5));
}

#[test]
fn fair_shares_follow_flows_links_and_background() {
    let plan = plan(
        "[topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\n\
         [[flow]]\nfrom = \"h0..h1\"\nto = \"h3\"\n\
         [[flow]]\nfrom = \"h2\"\nto = \"h3\"\ntraffic = \"constant\"\nrate = \"4 Gbps\"\nstart = \"0.2 s\"\nstop = \"0.6 s\"\n\
         controlled = false\n\
         [[change]]\nlink = \"sw0--h3\"\nat = \"0.4 s\"\nrate = \"5 Gbps\"\n\
         [[change]]\nlink = \"sw0->h3\"\nat = \"0.8 s\"\nstate = \"down\"\n\
         [[change]]\nlink = \"sw0->h3\"\nat = \"0.9 s\"\nstate = \"up\"",
    );
    let periods: Vec<(f64, Vec<f64>)> = plan
        .fair
        .iter()
        .map(|p| (p.time.start.as_seconds(), p.max_min_bps.iter().map(|x| x / 1e9).collect()))
        .collect();
    let expected = [
        (0.0, [5.0, 5.0, 0.0]),
        (0.2, [3.0, 3.0, 4.0]),
        (0.4, [0.5, 0.5, 4.0]),
        (0.6, [2.5, 2.5, 0.0]),
        (0.8, [0.0, 0.0, 0.0]),
        (0.9, [2.5, 2.5, 0.0]),
    ];
    assert_eq!(periods, expected.map(|(t, rates)| (t, rates.to_vec())));
    assert_eq!(plan.fair.last().unwrap().time.end, Instant(1_000_000_000_000));
    let events: Vec<PortEvent> = plan.network.changes.iter().map(|c| c.event).collect();
    let slow = PortEvent::Rate(BitRate::from_gbps(5));
    assert_eq!(events, [slow, slow, PortEvent::Down, PortEvent::Up]);
    for period in &plan.fair {
        for (a, b) in period.max_min_bps.iter().zip(&period.proportional_bps) {
            assert!((a - b).abs() <= 1e-6 * a, "with one bottleneck both notions agree");
        }
    }
}

/// A star under QCN with these changes.
fn changed(changes: &str, scheme: Option<&str>) -> Result<Plan, String> {
    let text = format!(
        "question = \"?\"\nduration = \"1 s\"\nscheme = \"qcn\"\n[schemes.qcn]\nq_eq = \"30 KB\"\n\
         [topology.star]\nhosts = 3\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\n\
         [[flow]]\nfrom = \"h0..h1\"\nto = \"h2\"\n{changes}"
    );
    let choice = Choice { scheme: scheme.map(str::to_owned), ..Choice::default() };
    let plan = Scenario::parse(&text, "x.toml", "x").and_then(|scenario| scenario.plan(&choice));
    plan.map_err(|error| error.to_string())
}

/// Values of one change last until the next; those of another scheme are read, and have no effect.
#[test]
fn parameters_change_in_order_of_time() {
    let changes = "[[change]]\nat = \"0.5 s\"\nschemes.qcn.w = 4.0\nschemes.bcn.w = 3.0\n\
                   [[change]]\nat = \"0.2 s\"\nschemes.qcn.q_eq = \"60 KB\"\n";
    let plan = changed(changes, None).unwrap();
    let value = |values: &[Value], name: &str| {
        let place = plan.schemes[0].config.info().parameters.iter().position(|p| p.name == name);
        values[place.unwrap()]
    };
    let changed_to: Vec<_> = plan
        .parameter_changes
        .iter()
        .map(|change| (change.at.as_seconds(), value(&change.values, "q_eq"), value(&change.values, "w")))
        .collect();
    let length = |octets| Value::Octets(Octets(octets));
    assert_eq!(changed_to, [(0.2, length(60_000), Value::Real(2.0)), (0.5, length(60_000), Value::Real(4.0))]);
    assert_eq!(changed(changes, Some("bcn")).unwrap().parameter_changes.len(), 1);
    let none = changed(changes, Some("none")).unwrap();
    assert!(none.parameter_changes.is_empty());
    let idle: Vec<&String> = none.notes.iter().filter(|note| note.contains("has no effect")).collect();
    assert_eq!(idle.len(), 3, "{idle:?}");
    assert_eq!(idle[0], "the change of bcn at 500 ms has no effect: no flow is under it");
    // The resolved scenario says the same again.
    let again = Scenario::parse(&plan.resolved, "x.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(again.resolved, plan.resolved);
    assert_eq!(again.parameter_changes.len(), 2);
}

#[test]
fn each_wrong_change_of_parameters_is_named() {
    for (change, scheme, expected) in [
        (
            "at = \"0.1 s\"",
            None,
            "x.toml:14: change.0.at: a change has a link, or parameters of a scheme (for instance",
        ),
        ("at = \"0.1 s\"\nrate = \"1 Gbps\"", None, "change.0.link: a change of a rate or a state names its link"),
        (
            "at = \"0.1 s\"\nschemes.qcn.q_eqq = 1",
            None,
            "change.0.schemes.qcn.q_eqq: unknown key (did you mean \"q_eq\"?)",
        ),
        ("at = \"0.1 s\"\nschemes.qcm.q_eq = 1", None, "change.0.schemes.qcm: unknown key (did you mean \"qcn\"?)"),
        ("at = \"0.1 s\"\nschemes.qcn.profile = \"pan\"", None, "change.0.schemes.qcn.profile: unknown key"),
        (
            "at = \"0.1 s\"\nschemes.qcn.q_eq = \"1 Gbps\"",
            None,
            "change.0.schemes.qcn.q_eq: \"1 Gbps\" is a rate, not a size",
        ),
        (
            "at = \"0.1 s\"\nschemes.qcn.q_eq = \"151 KB\"",
            None,
            "x.toml:15: change.0.schemes.qcn.q_eq: 151 KB is beyond the buffer",
        ),
        ("at = \"0.1 s\"\nschemes.qcn = {}", None, "a change has a link, or parameters of a scheme"),
        ("at = \"1 s\"\nschemes.qcn.w = 3.0", None, "change.0.at: a change at or after the end of the run"),
        (
            "at = \"0 s\"\nschemes.qcn.w = 3.0",
            None,
            "change.0.at: parameters can change only after the start of the run (set it in [schemes.qcn])",
        ),
        ("at = \"0.1 s\"\nlink = \"sw0->h2\"\nschemes.qcn.w = 3.0", None, "of a link or of parameters, not both"),
        ("at = \"0.1 s\"\nrate = \"1 Gbps\"\nschemes.qcn.w = 3.0", None, "of a link or of parameters, not both"),
        // A bound of the other parameter, which is as before.
        (
            "at = \"0.1 s\"\nschemes.dcqcn.k_max = \"1 KB\"",
            Some("dcqcn"),
            "change.0.schemes.dcqcn.k_max: 1 KB is below k_min",
        ),
        // Frames in flight keep the length with which they were sent.
        (
            "at = \"0.1 s\"\nschemes.hpcc.telemetry = \"pint\"",
            Some("hpcc"),
            "lasts for the run (set it in [schemes.hpcc])",
        ),
        (
            "at = \"0.1 s\"\nschemes.ci.congesting_priority = 1",
            Some("ci"),
            "lasts for the run (set it in [schemes.ci])",
        ),
        ("at = \"0.1 s\"\nschemes.nscc.trimming = true", Some("nscc"), "lasts for the run (set it in [schemes.nscc])"),
    ] {
        let message = changed(&format!("[[change]]\n{change}"), scheme).expect_err(change);
        assert!(message.contains(expected), "{change}: {message}");
    }
}

#[test]
fn max_min_and_proportional_differ_on_a_parking_lot() {
    let plan = plan(
        "[topology.parking-lot]\nswitches = 4\nhosts_per_switch = 3\nlink_rate = \"10 Gbps\"\ntrunk_rate = \"10 Gbps\"\n\
         buffer = \"150 KB\"\n[[flow]]\nfrom = [\"h0\", \"h1\", \"h3\", \"h6\"]\nto = [\"h9\", \"h4\", \"h7\", \"h10\"]",
    );
    assert_eq!(plan.fair[0].max_min_bps, [5e9; 4]);
    for (found, expected) in plan.fair[0].proportional_bps.iter().zip([2.5e9, 7.5e9, 7.5e9, 7.5e9]) {
        assert!((found - expected).abs() < 1e4, "{found} is not {expected}");
    }
}

#[test]
fn sizes_are_drawn_by_seed_and_name() {
    let text = |size: &str| {
        format!(
            "seed = 3\n[topology.star]\nhosts = 17\nlink_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n\
             [[flow]]\nfrom = \"h0..h15\"\nto = \"h16\"\nsize = {size}"
        )
    };
    let sizes = |plan: &Plan| plan.network.flows.iter().map(|f| f.size.unwrap().0).collect::<Vec<u64>>();
    for size in [
        "{ uniform = { minimum = \"1250 octets\", maximum = \"62.5 MB\" } }",
        "{ exponential = { mean = \"1 MB\" } }",
        "{ pareto = { shape = 1.2, minimum = \"1 KB\", maximum = \"1 GB\" } }",
        "{ points = [{ size = \"10 KB\", share = 0.5 }, { size = \"1 MB\", share = 1.0 }] }",
    ] {
        let drawn = plan(&text(size));
        assert!(
            drawn.resolved.contains(&format!("size = {size}").replace("62.5 MB", "62500 KB")),
            "{}",
            drawn.resolved
        );
        let again = Scenario::parse(&drawn.resolved, "again", "x").unwrap();
        assert_eq!(format!("{:?}", again.plan(&Choice::default()).unwrap()), format!("{drawn:?}"));
        let seeded = again.plan(&Choice { seed: Some(4), ..Choice::default() }).unwrap();
        assert_ne!(sizes(&seeded), sizes(&drawn));
        // A flow that is added changes the sizes of no other.
        let more = plan(&format!("{}\n[[flow]]\nfrom = \"h1\"\nto = \"h2\"\nsize = \"1 MB\"", text(size)));
        assert_eq!(sizes(&more)[..16], sizes(&drawn));
    }
    assert_eq!(sizes(&plan(&text("\"1 MB\""))), [1_000_000; 16]);
}

#[test]
fn rounds_repeat_the_flows_of_a_table() {
    let plan = plan(
        "[topology.star]\nhosts = 4\nlink_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n\
         [[flow]]\nname = \"ask\"\nfrom = \"h0..h1\"\nto = \"h3\"\nsize = \"1 MB\"\nstart = \"1 ms\"\nstagger = \"10 us\"\n\
         repeat = 3\nevery = \"100 ms\"",
    );
    assert_eq!(plan.flow_names, ["ask0", "ask1", "ask2", "ask3", "ask4", "ask5"]);
    assert_eq!(plan.flow_ends.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    let starts: Vec<u64> = plan.network.flows.iter().map(|f| f.start.0 / 1_000_000).collect();
    assert_eq!(starts, [1000, 1010, 101_000, 101_010, 201_000, 201_010]);
}

/// Thresholds that somebody chose for another line rate: 97.5 KB are 7.8 us at 100 Gb/s, and 400 KB of a profile for 25 Gb/s 32 us.
#[test]
fn thresholds_for_another_line_rate_are_noted() {
    let notes = |rate: &str, scheme: &str, settings: &str| {
        let text = format!(
            "question = \"?\"\nduration = \"1 ms\"\nscheme = \"{scheme}\"\n[schemes.{scheme}]\n{settings}\n[topology.star]\nhosts = 2\n\
             link_rate = \"{rate}\"\nlink_delay = \"1 us\"\nbuffer = \"2 MB\"\n[[flow]]\nfrom = \"h0\"\nto = \"h1\"\n"
        );
        let scenario = Scenario::parse(&text, "lines.toml", "lines").expect("a scenario");
        let plan = scenario.plan(&Choice::default()).expect("a plan");
        plan.notes.into_iter().filter(|note| note.contains("another line rate")).collect::<Vec<_>>()
    };
    let dctcp = notes("100 Gbps", "dctcp", "");
    assert!(dctcp.len() == 1 && dctcp[0].contains("at 100 Gbps k, 97500 octets, is 7800 ns"), "{dctcp:?}");
    let dcqcn = notes("100 Gbps", "dcqcn", "profile = \"hpcc-mlx\"");
    assert!(dcqcn.len() == 1 && dcqcn[0].contains("k_max, 400 KB, is 32 us"), "{dcqcn:?}");
    // 900 us are 11.25 MB at 100 Gb/s, and 2.8125 MB at 25. Profiles for 100 Gb/s have alpha_time = 1 us, as this one.
    assert!(
        !dcqcn[0].contains("time_reset") && !dcqcn[0].contains("alpha_time"),
        "a profile for 100 Gb/s has it: {dcqcn:?}"
    );
    let slow = notes("10 Gbps", "dcqcn", "profile = \"hpcc-100g\"");
    assert!(slow[0].contains("time_reset, 300 us, is 375 KB of the line instead of 3750 KB"), "{slow:?}");
    for (rate, scheme, settings) in [
        ("10 Gbps", "dctcp", ""),
        ("100 Gbps", "dctcp", "k = \"300 KB\""),
        ("100 Gbps", "dcqcn", "profile = \"hpcc-100g\""),
        ("25 Gbps", "dcqcn", "profile = \"hpcc-mlx\""),
    ] {
        assert_eq!(notes(rate, scheme, settings), Vec::<String>::new(), "{rate} {scheme} {settings}");
    }
}
