//! Fabrics in a builder's words: ranges of links, cables, parallel links, chips whose pools add up.

use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::Share;

use crate::common::{outcome, plan, plan_or_message};

/// 8 leaves, 4 spines, 32 hosts a leaf; cables of 5, 40 and 300 m; chips of 64 MB.
const FABRIC: &str = r#"question = "?"
duration = "1 ms"
scheme = "dcqcn"
[topology.graph]
hosts = "h0..h255"
switches = ["leaf0..leaf7", "spine0..spine3"]
[[topology.graph.link]]
ends = ["h0..h255", "leaf0..leaf7"]
join = "blocks"
rate = "200 Gbps"
cable = "5 m"
[[topology.graph.link]]
ends = ["leaf0..leaf7", "spine0..spine1"]
rate = "400 Gbps"
cable = "40 m"
[[topology.graph.link]]
ends = ["leaf0..leaf7", "spine2..spine3"]
parallel = 2
rate = "400 Gbps"
cable = "300 m"
[network]
wire_overhead = "20 octets"
[[switch]]
memory = "64 MB"
cell = "256 octets"
[[buffer]]
ingress_alpha = { 0 = 8, 3 = "1/8" }
alpha = "none"
[pfc]
priorities = [3]
mtu = "9216 octets"
[[flow]]
from = "h0"
to = "h255"
priority = 3
"#;

fn port(plan: &Plan, name: &str) -> usize {
    plan.port_names.iter().position(|own| own == name).unwrap_or_else(|| panic!("no port {name}"))
}

#[test]
fn ranges_cables_and_parallel_links_make_the_ports() {
    let plan = plan(FABRIC);
    assert_eq!(plan.network.nodes.len(), 256 + 12);
    assert_eq!(plan.network.ports.len(), 2 * (256 + 16 + 32));
    // Blocks of 32 hosts: h31 is the last of leaf0, h255 of leaf7.
    for (name, gbps, metres) in [
        ("h31->leaf0", 200, 5),
        ("leaf1->h32", 200, 5),
        ("h255->leaf7", 200, 5),
        ("leaf0->spine1", 400, 40),
        ("spine3->leaf7.2", 400, 300),
    ] {
        let index = port(&plan, name);
        let own = &plan.network.ports[index];
        assert_eq!((own.rate, own.latency), (BitRate::from_gbps(gbps), Duration(metres * 5050)), "{name}");
        assert_eq!(plan.cables_mm[index], Some(metres * 1000), "{name}");
    }
    let copper = FABRIC.replace("[network]\n", "[network]\ncable_delay = \"4.3 ns\"\n");
    let copper = crate::common::plan(&copper);
    assert_eq!(copper.network.ports[port(&copper, "h0->leaf0")].latency, Duration(21_500));
    let again = outcome(&plan.resolved).unwrap();
    assert_eq!((&again.resolved, &again.port_names), (&plan.resolved, &plan.port_names));
}

/// The parts of a chip add up to its memory, but for less than a cell.
#[test]
fn headroom_reserves_and_shared_memory_are_the_chip() {
    let plan = plan(FABRIC);
    let pools = &plan.network.pools;
    assert_eq!(pools.len(), 12);
    for pool in pools {
        assert_eq!(pool.cell, 256);
        let left = 64_000_000 - pool.size.0 - pool.headroom.0;
        assert!(left < 256, "{left}");
        // Priority 0 has no flow, and no queue.
        assert_eq!(pool.priorities, [3]);
        assert_eq!(pool.ingress, [Share { reserve: Octets(0), alpha: Some(0.125) }]);
    }
    // A leaf has 32 lines of hosts and 6 of spines, a spine 8 or 16.
    assert_eq!((pools[0].lines.len(), pools[8].lines.len(), pools[10].lines.len()), (38, 8, 16));
    let headroom: u64 = pools[0].lines.iter().map(|(_, octets)| octets.0).sum();
    assert_eq!(pools[0].headroom.0, headroom);
    // 200 Gb/s, 5 m, MTU 9216: (2 x 25.25 + 1159.68 + 9320 x 8 / 200) ns x 25 octets are 39 575 of the line.
    // They are 471 frames of 84 with a cell each; two frames of 9216 have 36 cells.
    let of_host = pools[0].lines.iter().find(|(line, _)| line.index() == port(&plan, "h0->leaf0")).unwrap().1;
    assert_eq!(of_host, Octets((471 + 2 * 36) * 256));
    let named =
        plan_or_message(&FABRIC.replace("memory = \"64 MB\"\ncell = \"256 octets\"", "chip = \"tomahawk-5\"")).unwrap();
    assert_eq!((named.network.pools[0].cell, named.chip_memory[256]), (254, Some(Octets(165_660_324))));
    // Without a [[buffer]] there is one pool of all of it.
    let text = FABRIC.replace("[[buffer]]\ningress_alpha = { 0 = 8, 3 = \"1/8\" }\nalpha = \"none\"\n", "");
    let bare = plan_or_message(&text).unwrap();
    assert_eq!(bare.network.pools[0].headroom, pools[0].headroom);
}

/// Two pools of a chip: the one without a size gets what headroom and the other leave.
#[test]
fn the_pool_without_a_size_gets_the_rest() {
    let text = FABRIC.replace(
        "[[buffer]]\n",
        "[[buffer]]\nname = \"lossy\"\nsize = \"10 MB\"\npriorities = [0, 1]\n[[buffer]]\npriorities = [3]\n",
    );
    let plan = plan(&text);
    // The pool of classes without flows is a part of the account, and shares its memory with nobody.
    let of_first = plan.network.pools.iter().filter(|pool| pool.node == plan.network.pools[0].node);
    let [lossy, pool] = of_first.collect::<Vec<_>>()[..] else { panic!("two pools a switch") };
    assert_eq!((lossy.size, lossy.priorities.len()), (Octets(10_000_000), 0));
    assert!(64_000_000 - 10_000_000 - pool.headroom.0 - pool.size.0 < 256, "{pool:?}");
}

#[test]
fn each_form_of_alpha_is_one_number() {
    for (written, alpha) in
        [("0.125", Some(0.125)), ("\"1/8\"", Some(0.125)), ("{ dynamic_th = -3 }", Some(0.125)), ("\"none\"", None)]
    {
        let plan = plan(&FABRIC.replace("3 = \"1/8\" }", &format!("3 = {written} }}")));
        assert_eq!(plan.network.pools[0].ingress[0].alpha, alpha, "{written}");
    }
}

#[test]
fn rails_and_meshes_are_a_line_each() {
    let text = "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.graph]\nhosts = \"h0..h7\"\n\
        switches = \"rail0..rail3\"\nbuffer = \"1 MB\"\n[[topology.graph.link]]\nends = [\"h0..h7\", \"rail0..rail3\"]\n\
        join = \"turns\"\nrate = \"10 Gbps\"\n[[topology.graph.link]]\nends = [\"rail0..rail3\", \"rail0..rail3\"]\n\
        rate = \"10 Gbps\"\n[[flow]]\nfrom = \"h0\"\nto = \"h5\"\n";
    let plan = plan(text);
    // 8 hosts, and 6 pairs of 4 switches.
    assert_eq!(plan.network.ports.len(), 2 * (8 + 6));
    for name in ["h5->rail1", "h7->rail3", "rail0->rail3"] {
        port(&plan, name);
    }
    // Dual-homed: each host at two switches.
    let dual = text.replace("join = \"turns\"\n", "");
    assert_eq!(crate::common::plan(&dual).network.ports.len(), 2 * (32 + 6));
}

#[test]
fn a_path_and_a_change_name_one_of_parallel_links() {
    let path = "to = \"h255\"\npath = [\"h0\", \"leaf0\", \"spine2.2\", \"leaf7.1\", \"h255\"]\n";
    let text = FABRIC.replace("to = \"h255\"\n", path);
    let with = format!("{text}[[change]]\nlink = \"leaf0--spine2.2\"\nat = \"100 us\"\nstate = \"down\"\n");
    let plan = plan(&with);
    let both: Vec<usize> = plan.network.changes.iter().map(|change| change.port.index()).collect();
    assert_eq!(both, [port(&plan, "leaf0->spine2.2"), port(&plan, "spine2->leaf0.2")]);
    let message = outcome(&text.replace("spine2.2", "spine2")).unwrap_err().to_string();
    assert!(
        message.contains("parallel links join \"leaf0\" and \"spine2\" (say which one, as in \"spine2.1\")"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_built_is_refused_with_its_remedy() {
    for (old, new, expected) in [
        ("cable = \"5 m\"", "cable = \"-1 m\"", "\"-1 m\" is negative; a length is not"),
        ("cable = \"5 m\"", "cable = \"5 ms\"", "\"5 ms\" is a time, not a length (for instance \"40 m\")"),
        (
            "cable = \"5 m\"",
            "cable = \"5 m\"\ndelay = \"1 us\"",
            "a link has a delay, or a cable from whose length it follows",
        ),
        (
            "\"h0..h255\", \"leaf0..leaf7\"]\njoin",
            "\"h0..h250\", \"leaf0..leaf7\"]\njoin",
            "251 nodes are no blocks of equal size for 8",
        ),
        (
            "\"h0..h255\", \"leaf0..leaf7\"]\njoin",
            "\"h9..h1\", \"leaf0..leaf7\"]\njoin",
            "the range \"h9..h1\" runs backwards",
        ),
        ("parallel = 2", "parallel = 0", "parallel: expected a whole number from 1 to 64"),
        ("\"spine2..spine3\"]\nparallel", "\"spine1..spine2\"]\nparallel", "two links join \"leaf0\" and \"spine1\""),
        ("\"spine2..spine3\"]\nparallel", "\"leaf0..leaf1\"]\nparallel", "both ends are \"leaf0\""),
        ("memory = \"64 MB\"", "memory = \"4 MB\"", "leaf0 has 4 MB, and headroom and other pools take"),
        ("[[buffer]]\n", "[[buffer]]\nsize = \"60 MB\"\n", "leaf0 has 64 MB, and its pools take"),
        ("[[buffer]]\n", "[[buffer]]\npriorities = [0]\n", "no [[buffer]] of leaf0 has priority 3"),
        ("memory = \"64 MB\"\n", "", "a switch has a chip or a memory"),
        ("[[switch]]\n", "[[switch]]\nchip = \"tomahawk-9\"\n", "\"tomahawk-9\" is not known here"),
        ("[[switch]]\n", "[[switch]]\nmemory = \"1 MB\"\n[[switch]]\n", "leaf0 has a [[switch]] already"),
        ("[[switch]]\nmemory = \"64 MB\"\ncell = \"256 octets\"\n", "", "topology.graph.buffer: missing"),
        ("3 = \"1/8\"", "9 = \"1/8\"", "ingress_alpha.9: no such priority (priorities are 0 to 7)"),
        ("3 = \"1/8\"", "3 = \"1/0\"", "ingress_alpha.3: expected a number from 0 to 1024"),
        ("3 = \"1/8\"", "3 = { dynamic_th = 9 }", "dynamic_th is a whole number from -8 to 7"),
    ] {
        assert!(FABRIC.contains(old), "{old}");
        let message = outcome(&FABRIC.replacen(old, new, 1)).expect_err(new).to_string();
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
    }
}

/// Mistakes of a builder: each is refused with file, line and key, and with what to write instead.
#[test]
fn a_builders_mistakes_have_a_place_and_a_remedy() {
    let rest = "[[flow]]\nfrom = \"h0\"\nto = \"h32\"\npriority = 3\n";
    for (old, new, expected) in [
        (
            "[pfc]",
            "[[priority]]\npriority = 3\ndscp = [26]\n[[priority]]\npriority = 1\ndscp = [26]\n[pfc]",
            "priority.1.dscp: DSCP 26 is that of priority 3 already (each code point maps to one priority)",
        ),
        (
            "[pfc]",
            "[[priority]]\npriority = 3\n[[priority]]\npriority = 3\n[pfc]",
            "priority.1.priority: priority 3 has a table already (one [[priority]] for each priority)",
        ),
        (
            "[pfc]",
            "[[priority]]\npriority = 3\nweight = 0\n[pfc]",
            "priority.0.weight: expected a whole number from 1 to 1000, found the number 0",
        ),
        ("\"h0..h255\", \"leaf0", "\"h9..h1\", \"leaf0", "the range \"h9..h1\" runs backwards ("),
        ("hosts = \"h0..h255\"", "hosts = []", "topology.graph.hosts: "),
        ("cable = \"5 m\"", "cable = \"-1 m\"", "\"-1 m\" is negative; a length is not ("),
        ("[[buffer]]\n", "[[buffer]]\nsize = \"60 MB\"\n", "switch.0.memory: leaf0 has 64 MB, and its pools take"),
        (
            rest,
            &format!("{rest}path = [\"h0\", \"leaf0\", \"leaf1\", \"h32\"]\n"),
            "path: no link joins \"leaf0\" and \"leaf1\" (",
        ),
    ] {
        let text = format!("{FABRIC}\n{rest}");
        assert!(text.contains(old), "{old}");
        let message = outcome(&text.replacen(old, new, 1)).expect_err(new).to_string();
        let line = message.strip_prefix("x.toml:").and_then(|rest| rest.split_once(": ")).map(|(line, _)| line);
        assert!(line.is_some_and(|line| line.parse::<u32>().is_ok()), "{new}\n gives {message}");
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
    }
    // Two islands: there is no path at all.
    let split = "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.graph]\nhosts = \"h0..h1\"\nswitches = \"sw0..sw1\"\n\
                 buffer = \"1 MB\"\nlink = [{ ends = [\"h0\", \"sw0\"], rate = \"1 Gbps\" }, { ends = [\"h1\", \"sw1\"], rate = \"1 Gbps\" }]\n\
                 [[flow]]\nfrom = \"h0\"\nto = \"h1\"\n";
    let message = outcome(split).unwrap_err().to_string();
    assert!(message.contains("h0") && message.contains("h1") && message.contains('('), "{message}");
    // A memory of less than a frame, whose pool has no size of its table.
    let tiny = format!("{}[[switch]]\nmemory = \"3 octets\"\n", split.replace("\"sw1\"]", "\"sw0\"]"));
    let message = outcome(&tiny).unwrap_err().to_string();
    assert!(message.starts_with("x.toml:13: switch.0.memory: 3 octets are too small for a frame"), "{message}");
}
