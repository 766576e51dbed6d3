//! Shared memory in a plan: pools of switches, headroom that is computed, mistakes refused.

use crate::common::outcome;
use penstock_scenario::{Plan, ScenarioError};
use penstock_schemes::Octets;
use penstock_sim::network::{NodeId, Share};

const GOOD: &str = r#"question = "?"
duration = "1 s"
scheme = "none"
[[buffer]]
size = "1 MB"
[topology.dumbbell]
sources = 2
receivers = 2
link_rate = "10 Gbps"
bottleneck_rate = "10 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
from = "h0..h1"
to = "h2"
[[flow]]
from = "h0"
to = "h3"
priority = 3
"#;

/// With these lines in `[[buffer]]`.
fn with(lines: &str) -> Result<Plan, ScenarioError> {
    outcome(&GOOD.replacen("size = \"1 MB\"\n", &format!("size = \"1 MB\"\n{lines}\n"), 1))
}

#[test]
fn a_size_alone_is_enough() {
    let plan = outcome(GOOD).unwrap();
    assert_eq!(plan.pool_names, ["pool0", "pool0"]);
    let nodes: Vec<&str> = plan.network.pools.iter().map(|pool| plan.node_names[pool.node.index()].as_str()).collect();
    assert_eq!(nodes, ["sw0", "sw1"]);
    let pool = &plan.network.pools[0];
    assert_eq!(
        (&pool.priorities[..], pool.cell, pool.size, pool.headroom),
        (&[0, 3][..], 1, Octets(1_000_000), Octets(0))
    );
    assert_eq!(pool.egress, [Share { reserve: Octets(0), alpha: Some(1.0) }; 2]);
    assert_eq!(pool.ingress, [Share { reserve: Octets(0), alpha: None }; 2]);
    assert!(outcome(&GOOD.replace("[[buffer]]\nsize = \"1 MB\"\n", "")).unwrap().network.pools.is_empty());
}

#[test]
fn every_key_has_its_effect() {
    let lines = "name = \"mine\"\nswitches = [\"sw1\"]\npriorities = [3]\ncell = \"208 octets\"\nreserve = \"2 KB\"\n\
                 alpha = \"none\"\ningress_reserve = \"3 KB\"\ningress_alpha = 0.125\nheadroom = \"40 KB\"";
    let plan = with(lines).unwrap();
    let [pool] = &plan.network.pools[..] else { panic!("{:?}", plan.network.pools) };
    assert_eq!((plan.pool_names[0].as_str(), pool.node), ("mine", NodeId(5)));
    assert_eq!((&pool.priorities[..], pool.cell, pool.headroom), (&[3][..], 208, Octets(40_000)));
    assert_eq!(pool.egress, [Share { reserve: Octets(2000), alpha: None }]);
    assert_eq!(pool.ingress, [Share { reserve: Octets(3000), alpha: Some(0.125) }]);
    for plan in [&plan, &outcome(GOOD).unwrap()] {
        let again = outcome(&plan.resolved).unwrap();
        assert_eq!((&again.network.pools, &again.resolved), (&plan.network.pools, &plan.resolved));
    }
}

/// Three lines lead to sw0 under flow control (h0, h1 and the trunk), with two lossless priorities each.
#[test]
fn headroom_has_room_for_all_lines() {
    let text = GOOD.replace("[[buffer]]", "[pfc]\n[[buffer]]");
    let plan = outcome(&text).unwrap();
    let pool = &plan.network.pools[0];
    let pfc = plan.network.pfc.as_ref().unwrap();
    let lines: Vec<_> =
        plan.network.ports.iter().zip(&pfc.ingress).filter(|(port, _)| port.peer == pool.node).collect();
    let sum: u64 = pool.lines.iter().map(|(_, most)| most.0).sum();
    assert_eq!((lines.len(), pool.lines.len(), pool.headroom.0), (3, 3, 2 * sum));
    // A line's headroom, and an octet.
    let first = lines[0].1.unwrap();
    assert_eq!(pool.lines[0].1.0, first.buffer.0 - first.xoff.0 + 1);
    // A third priority is kept room for, before any flow has it.
    let three = outcome(&text.replace("[pfc]\n", "[pfc]\npriorities = [0, 3, 5]\n")).unwrap();
    assert_eq!((&three.network.pools[0].priorities[..], three.network.pools[0].headroom.0), (&[0, 3][..], 3 * sum));
    assert_eq!(outcome(&three.resolved).unwrap().resolved, three.resolved);
    assert!(!plan.notes.iter().any(|note| note.starts_with("buffer:")), "{:?}", plan.notes);
    let short = outcome(&text.replace("size = \"1 MB\"", "size = \"1 MB\"\nheadroom = \"1 KB\"")).unwrap();
    let note = format!(
        "the headroom of 2 pools has no room for all lines at once, so that frames of lossless priorities may be lost: pool0 is 1 KB, and {} octets are needed",
        2 * sum
    );
    assert!(short.notes.iter().any(|own| own.contains(&note)), "{note}: {:?}", short.notes);
}

/// 10 Gb/s, 1 us and no other delay, frames of 1500 octets and 20 of overhead, response 67 quanta. 2 us and 3.4304 us are 6788 octets of
/// the line. With 1520 of the frame in the reverse direction and 84 of the pause frame they are 8392: 99 of the shortest frames (84), one
/// cell of 208 each. Two frames of 1500 are 16 cells.
#[test]
fn headroom_in_cells_counts_with_the_shortest_frames() {
    let text = GOOD.replace("[[buffer]]", "[network]\nwire_overhead = \"20 octets\"\n[pfc]\n[[buffer]]");
    let text = text.replace("size = \"1 MB\"", "size = \"1 MB\"\ncell = \"208 octets\"");
    let plan = outcome(&text).unwrap();
    let pool = &plan.network.pools[0];
    let of_host = (99 + 16) * 208;
    assert_eq!(pool.lines[0].1, Octets(of_host));
    assert_eq!(plan.headroom_needed[0], pool.headroom);
    // A headroom of 2 KB and the octet of the frame that crosses is ten cells, and no more.
    let little = outcome(&text.replace("[pfc]\n", "[pfc]\nheadroom = \"2 KB\"\n")).unwrap();
    assert_eq!(little.network.pools[0].lines[0].1, Octets(10 * 208));
    assert_eq!(little.headroom_needed[0], plan.headroom_needed[0]);
    assert!(little.notes.iter().any(|note| note.starts_with("buffer:")), "{:?}", little.notes);
}

/// 1 MB with alpha 1/8: a line alone is stopped at 1/8 of the free 8/9, and each of six lines and priorities at 1/8 of 1 / (1 + 6/8).
#[test]
fn a_pool_says_where_it_stops_lines() {
    let text = GOOD.replace("[[buffer]]", "[pfc]\n[[buffer]]");
    let with = |lines: &str| {
        let plan = outcome(&text.replace("size = \"1 MB\"", &format!("size = \"1 MB\"\n{lines}"))).unwrap();
        plan.stopping[0].map(|stopping| (stopping.alone.0, stopping.together.0))
    };
    assert_eq!(with("ingress_alpha = 0.125"), Some((111_111, 71_428)));
    assert_eq!(with(""), Some((1_000_000, 166_666)));
    // Three lines, three ports, two priorities: 6 x 10 KB of each account are reserved, of 880 KB a ninth and 10 KB.
    assert_eq!(
        with("ingress_alpha = 0.125\nreserve = \"10 KB\"\ningress_reserve = \"10 KB\""),
        Some((107_777, 72_857))
    );
    let free = outcome(GOOD).unwrap();
    assert_eq!(free.stopping, [None, None]);
}

/// sw0 has three ports and three lines. Priority 5, which no flow has, keeps 3 x 10 KB of queues and 3 x 20 KB of lines. The shared part
/// is the same as if a flow had it.
#[test]
fn reserves_of_priorities_without_flows_are_kept() {
    let common = |lines: &str, text: &str| {
        let plan = outcome(&text.replacen("size = \"1 MB\"\n", &format!("size = \"1 MB\"\n{lines}\n"), 1)).unwrap();
        assert_eq!(outcome(&plan.resolved).unwrap().pool_common, plan.pool_common, "{lines}");
        (plan.pool_common[0].0, plan.network.pools[0].idle.0)
    };
    let reserves = "reserve = { 5 = \"10 KB\" }\ningress_reserve = { 5 = \"20 KB\" }";
    assert_eq!(common("", GOOD), (1_000_000, 0));
    assert_eq!(common(reserves, GOOD), (910_000, 90_000));
    assert_eq!(common(reserves, &GOOD.replace("priority = 3", "priority = 5")), (910_000, 0));
    // A reserve for all goes to those that are listed: 3 ports x 10 KB for 0, 3 and 5.
    assert_eq!(common("reserve = \"10 KB\"\npriorities = [0, 3, 5]", GOOD), (910_000, 30_000));
    assert_eq!(common("reserve = \"10 KB\"", GOOD), (940_000, 0));
    let message = with("reserve = { 5 = \"400 KB\" }").unwrap_err().to_string();
    assert!(message.contains("buffer.0.reserve: the reserves of 9 queues"), "{message}");
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (lines, expected) in [
        ("switches = [\"sw2\"]", "x.toml:6: buffer.0.switches: there is no switch \"sw2\" (did you mean \"sw0\"?)"),
        (
            "switches = [\"h0\"]",
            "x.toml:6: buffer.0.switches: \"h0\" is a host, and hosts share no memory (list switches)",
        ),
        ("switches = [\"sw0\", \"sw0\"]", "the switch \"sw0\" is listed twice (list each switch once)"),
        ("switches = \"some\"", "expected \"all\""),
        ("alpha = -1", "expected a number from 0 to 1024"),
        ("alpha = \"some\"", "expected a number from 0 to 1024"),
        ("cell = \"0 octets\"", "is zero; this size must be more"),
        (
            "reserve = \"200 KB\"",
            "x.toml:6: buffer.0.reserve: the reserves of 6 queues and of as many lines and priorities at sw0 are 1200 KB together, more \
             than the 1 MB of the pool (at most 166666 octets each)",
        ),
        ("headroom = \"4 GB\"", "x.toml:6: buffer.0.headroom: 1 MB and a headroom of 4 GB at sw0 are more than 4 GB"),
        ("[[buffer]]\nsize = \"1 MB\"", "buffer.1.priorities: priority 0 of sw0 has a pool already"),
        ("name = \"x\"\n[[buffer]]\nname = \"x\"\nsize = \"1 MB\"", "buffer.1.name: there is a pool \"x\" already"),
        ("sizes = 1", "x.toml:6: buffer.0.sizes: unknown key (did you mean \"size\"?)"),
    ] {
        let message = with(lines).expect_err(lines).to_string();
        assert!(message.contains(expected), "{lines}\n gives {message}\n not {expected}");
    }
    let message = outcome(&GOOD.replacen("size = \"1 MB\"", "size = \"1 KB\"", 1)).unwrap_err().to_string();
    assert!(message.contains("x.toml:5: buffer.0.size: 1 KB are too small for a frame of 1500 octets"), "{message}");
}
