//! `[[credits]]` and `[[retry]]`: sizes that are computed, and each mistake by its name.

use crate::common::plan_or_message as outcome;

const GOOD: &str = r#"question = "Does it work?"
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 4
link_rate = "100 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
from = "h0..h2"
to = "h3"
frame = "1500 B"
"#;

/// A frame takes 0.12 us, and is held as long in the switch. An update waits for a frame and 6400 octets (0.512 us), and takes 0.64 ns.
/// Together: 2 × 0.12 + 1 + 0.12 + 0.512 + 0.00064 + 1 = 2.87264 us, 24 frames and one more. Each takes 12 credits of 128 octets.
/// An acknowledgement, 2048 octets apart: 0.12 + 1 + 0.12 + 0.16384 + 0.00064 + 1 = 2.40448 us, 21 frames and one more.
#[test]
fn buffers_keep_a_line_full() {
    let plan = outcome(&format!("{GOOD}[[credits]]\n[[retry]]\n")).unwrap();
    assert_eq!((plan.network.credits.len(), plan.network.retries.len()), (8, 8));
    for (credits, retry) in plan.network.credits.iter().zip(&plan.network.retries) {
        assert_eq!((credits.cells, credits.cell, &credits.priorities[..]), (25 * 12, 128, &[0][..]));
        assert_eq!((retry.buffer.0, retry.timer.0, &retry.priorities), (22 * 1500, 2 * 2_404_480, &None));
    }
    assert!(plan.notes.iter().any(|note| note == "retry: 8 lines with replay buffers of 33 KB"), "{:?}", plan.notes);
    let plan =
        outcome(&format!("{GOOD}[[credits]]\nlinks = [\"h0->sw0\"]\nbuffer = \"2 KB\"\ncell = \"64 B\"\n")).unwrap();
    assert_eq!((plan.network.credits.len(), plan.network.credits[0].cells), (1, 31));
    // What is resolved gives the same again.
    assert_eq!(outcome(&plan.resolved).unwrap().network.credits[0].cells, 31);
}

/// The same hosts as a graph, with two link tables: of three hosts, and of the last.
fn graph(first: &str) -> String {
    let head = GOOD.split_once("[topology.star]").unwrap().0;
    let flow = &GOOD[GOOD.find("[[flow]]").unwrap()..];
    format!(
        "{head}[topology.graph]\nhosts = \"h0..h3\"\nswitches = \"sw0\"\nbuffer = \"1 MB\"\nlink = [\n\
         {{ ends = [\"h0..h2\", \"sw0\"], rate = \"100 Gbps\", delay = \"1 us\", {first} }},\n\
         {{ ends = [\"h3\", \"sw0\"], rate = \"100 Gbps\", delay = \"1 us\" }},\n]\n{flow}"
    )
}

/// Ports 2 i and 2 i + 1 are the directions of link i: the first three have credits, the last has those of `[[credits]]`. Sizes that are
/// computed are those of a table `[[credits]]`.
#[test]
fn links_of_a_graph_have_credits() {
    let plan = outcome(&graph("credits = { buffer = \"16 KB\", spacing = \"0 B\", sync = \"1 ms\" }")).unwrap();
    let lines = &plan.network.credits;
    assert_eq!(lines.iter().map(|line| line.port.index()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(lines.iter().all(|line| (line.cells, line.spacing.0, line.sync.0) == (125, 0, 1_000_000_000)));
    assert!(plan.notes.iter().any(|note| note.starts_with("credits: 6 lines with 16 KB")), "{:?}", plan.notes);
    // What is resolved gives the same again.
    let again = outcome(&plan.resolved).unwrap().network.credits;
    assert!(again.iter().map(|line| (line.port, line.cells)).eq(lines.iter().map(|line| (line.port, line.cells))));

    let last = "[[credits]]\nlinks = [\"h3--sw0\"]\nbuffer = \"4 KB\"\n";
    let plan = outcome(&format!("{}{last}", graph("credits = {}"))).unwrap();
    let cells: Vec<u32> = plan.network.credits.iter().map(|line| line.cells).collect();
    assert_eq!(cells, [300, 300, 300, 300, 300, 300, 31, 31]);
    assert!(outcome(&graph("parallel = 1")).unwrap().network.credits.is_empty());
}

#[test]
fn mistakes_in_the_credits_of_a_link_are_named_there() {
    for (credits, table, expected) in [
        (
            "{ buffer = \"1500 B\" }",
            "",
            "topology.graph.link.0.credits.buffer: 1408 octets are too small for a frame of 1500 octets",
        ),
        ("{ cell = \"0 B\" }", "", "topology.graph.link.0.credits.cell: "),
        ("{ cells = 3 }", "", "topology.graph.link.0.credits.cells: unknown key (did you mean \"cell\"?)"),
        ("{ priorities = [3] }", "", "topology.graph.link.0.credits.priorities: no flow has priority 3"),
        ("{}", "[[credits]]\n", "topology.graph.link.0.credits: priority 0 of h0->sw0 has credits already"),
        ("{}", "[pfc]\n", "topology.graph.link.0.credits.priorities: priority 0 of h0->sw0 has priority flow control"),
        ("true", "", "topology.graph.link.0.credits: expected a table"),
    ] {
        let text = format!("{}{table}", graph(&format!("credits = {credits}")));
        let message = outcome(&text).map(|_| ()).expect_err(credits);
        assert!(message.contains(expected), "{credits} {table}\n gives {message}\n not {expected}");
    }
}

#[test]
fn each_mistake_is_named() {
    for (table, expected) in [
        ("[[credits]]\ncell = \"0 B\"", "credits.0.cell: "),
        (
            "[[credits]]\nbuffer = \"1500 B\"",
            "credits.0.buffer: 1408 octets are too small for a frame of 1500 octets (at least 1536 octets, 12 credits of 128 octets)",
        ),
        ("[[credits]]\npriorities = [3]", "credits.0.priorities: no flow has priority 3 (flows have 0)"),
        (
            "[[credits]]\n[[credits]]\nlinks = [\"h1--sw0\"]",
            "credits.1.links: priority 0 of h1->sw0 has credits already",
        ),
        ("[[credits]]\nlinks = [\"h1--sw1\"]", "credits.0.links: there is no link \"h1--sw1\""),
        ("[[credits]]\n[pfc]", "credits.0.priorities: priority 0 of h0->sw0 has priority flow control"),
        ("[[credits]]\n[[buffer]]\nsize = \"1 MB\"", "credits.0.priorities: a [[buffer]] of sw0 could drop frames"),
        (
            "[[credits]]\n[[host]]\ndrain_rate = \"1 Gbps\"\nnames = \"h3\"\nbuffer = \"20 KB\"",
            "credits.0.buffer: the receive buffer of the host at sw0->h3, 20 KB, is smaller than its credits",
        ),
        ("[[credits]]\nsync = \"0 s\"", "credits.0.sync: "),
        ("[[retry]]\nbuffer = \"1 KB\"", "retry.0.buffer: 1 KB are too small for a frame of 1500 octets"),
        ("[[retry]]\nmost_replays = 0", "retry.0.most_replays: "),
        ("[[retry]]\npriorities = [1]", "retry.0.priorities: no flow has priority 1"),
        ("[[retry]]\nlinks = [\"h0->sw0\", \"h9->sw0\"]", "retry.0.links: there is no link \"h9->sw0\""),
        (
            "[[retry]]\nlinks = [\"h0->sw0\"]\n[[retry]]",
            "retry.1.links: the link h0->sw0 has a table [[retry]] already",
        ),
    ] {
        let message = outcome(&format!("{GOOD}{table}\n")).map(|_| ()).expect_err(table);
        assert!(message.contains(expected), "{table}\n gives {message}\n not {expected}");
    }
    // Each priority has one kind of flow control.
    let two = GOOD.replace("from = \"h0..h2\"", "from = \"h0\"\npriority = 4\nto = \"h3\"\n[[flow]]\nfrom = \"h1\"");
    outcome(&format!("{two}[[credits]]\npriorities = [4]\n[pfc]\npriorities = [0]\n")).unwrap();
    let multicast = GOOD.replace("to = \"h3\"", "to = \"all\"").replace("h0..h2", "h0");
    let group = "[[group]]\nname = \"all\"\nmembers = \"h2..h3\"\n";
    let message = outcome(&format!("{multicast}{group}[[credits]]\n")).map(|_| ()).unwrap_err();
    assert!(message.contains("credits.0.links: frames over h0->sw0 are copied"), "{message}");
}
