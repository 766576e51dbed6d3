//! GOAL: the grammar, its numbers, and what is refused.

use penstock_jobs::read::{self, Options};
use penstock_jobs::{Graph, Time, Work};

use crate::{data, pairs, refusal, text, works};

#[test]
fn each_form_of_the_grammar_is_read() {
    let read = read::read(&[data!("goal/messages.goal")], &Options::default()).expect("it is right");
    let graph = &read.graph;
    assert_eq!(graph.ranks(), 3);
    let calc = |ns: u64, unit| Work::Compute { time: Time::Fixed(ns * 1000), unit };
    assert_eq!(
        works(graph, 0),
        [
            calc(8000, 0),
            Work::Send { to: 1, octets: 80_000_000, tag: 7 },
            Work::Receive { from: None, octets: 5_000_000_000, tag: None },
        ]
    );
    assert_eq!(works(graph, 2), [calc(5, 3)]);
    assert_eq!(
        works(graph, 1),
        [
            Work::Receive { from: Some(0), octets: 80_000_000, tag: Some(7) },
            Work::Send { to: 0, octets: 5_000_000_000, tag: 4_294_967_294 },
            Work::Send { to: 1, octets: 0, tag: 0 },
            Work::Receive { from: Some(1), octets: 0, tag: Some(0) },
        ]
    );
    // Nodes 0 to 2 are those of rank 0, 3 that of rank 2, 4 to 7 those of rank 1.
    assert_eq!(pairs(graph), [vec![(1, 0), (7, 4)], vec![(2, 1)]]);
    assert_eq!(["a", "b", "c", "", "l1", "", "l2", "l3"], std::array::from_fn(|node| graph.name(node as u32)));
    graph.check().expect("each message has its partner");
}

/// A graph in the words of `scanner.txt`: of each rank the operations, then the dependencies in the order of their
/// letters.
fn dump(graph: &Graph) -> String {
    let [ends, starts] = pairs(graph);
    let mut lines = String::new();
    for rank in 0..graph.ranks() {
        let nodes: Vec<_> = (0..graph.len()).filter(|&node| graph.rank(node) == rank).collect();
        let any = |number: Option<u32>| number.unwrap_or(u32::MAX);
        let operation = |work| match work {
            Work::Send { to, octets, tag } => format!("send {octets} {to} {tag}\n"),
            Work::Receive { from, octets, tag } => format!("recv {octets} {} {}\n", any(from), any(tag)),
            Work::Compute { time: Time::Fixed(ps), unit } => format!("calc {} {unit}\n", ps / 1000),
            other => panic!("GOAL has no {other:?}"),
        };
        let dependency = |kind: &str, &(node, other): &(u32, u32)| {
            let index = |node| nodes.iter().position(|&one| one == node);
            index(node).zip(index(other)).map(|(node, other)| format!("{kind} {node} {other}\n"))
        };
        let mut dependencies: Vec<String> = ends.iter().filter_map(|pair| dependency("end", pair)).collect();
        dependencies.extend(starts.iter().filter_map(|pair| dependency("start", pair)));
        dependencies.sort();
        lines.push_str(&format!("rank {rank}\n"));
        lines.extend(nodes.iter().map(|&node| operation(graph.work(node))));
        lines.extend(dependencies);
    }
    lines
}

#[test]
fn the_scanner_of_loggopsim_finds_the_same() {
    let cases = include_str!("../data/goal/scanner.txt").split("==== file\n").skip(1);
    let (mut same, mut refused) = (0, 0);
    for case in cases {
        let (content, scanner) = case.split_once("==== scanner\n").expect("a file, then the scanner's words");
        match text("x", content) {
            Ok(read) => {
                assert_eq!(dump(&read.graph), scanner, "{content}");
                same += 1;
            }
            Err(error) => {
                assert_eq!(scanner, "refused\n", "{content}{error}");
                refused += 1;
            }
        }
    }
    assert_eq!((same, refused), (20, 12));
}

#[test]
fn an_order_that_nothing_holds_is_counted_and_added_if_asked() {
    // On cpu 0 of rank 1 are l1, l2 and l3, of which l3 waits for l1 alone: neither l1 and l2 nor l2 and l3 have an
    // order.
    let file = [data!("goal/messages.goal")];
    let read = read::read(&file, &Options::default()).expect("it is right");
    assert_eq!(read.lost.unordered.number, 2);
    assert_eq!(
        read.lost.unordered.first,
        "l1 of rank 1 (goal/messages.goal:19) and l2 of rank 1 (goal/messages.goal:21)"
    );
    assert!(read.notes.iter().all(|note| !note.contains("order")), "{:?}", read.notes);
    let completed = read::read(&file, &Options { complete: true, ..Options::default() }).expect("it is right");
    assert_eq!(pairs(&completed.graph)[0], [(1, 0), (6, 4), (7, 4), (7, 6)]);
    assert!(completed.notes.iter().any(|note| note.starts_with("2 pairs of one unit or stream without an order")));
    // A chain has one, and so have nodes that a third one, on another cpu, stands between.
    let chained = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1 cpu 1\nc: calc 1\nb requires a\nc irequires b\n}";
    assert_eq!(text("x", chained).expect("it is right").lost.unordered.number, 0);
}

#[test]
fn a_lost_partner_is_counted_and_added_if_asked() {
    let content = "num_ranks 2\nrank 0 {\ns: send 5b to 1 tag 3\nr: recv 9b from 1 tag 4\n}\nrank 1 {\n}\n";
    let read = text("x.goal", content).expect("it is right");
    assert_eq!((read.lost.sends.number, read.lost.receives.number), (1, 1));
    assert_eq!(read.lost.receives.first, "r of rank 0 (x.goal:4)");
    read.graph.check().expect_err("neither message has its partner");
    let file = [read::File { name: "x.goal", octets: content.as_bytes() }];
    let completed = read::read(&file, &Options { complete: true, ..Options::default() }).expect("it is right");
    assert_eq!(
        works(&completed.graph, 1),
        [Work::Send { to: 0, octets: 9, tag: 4 }, Work::Receive { from: Some(0), octets: 5, tag: Some(3) }]
    );
    completed.graph.check().expect("both messages have their partners");
}

#[test]
fn a_receive_of_anything_takes_what_others_leave() {
    let content = "num_ranks 3
rank 0 {\nrecv 1b from -1 tag -1\nrecv 1b from 1 tag 2\nrecv 1b from -1 tag 2\nrecv 1b from 1 tag -1\n}
rank 1 {\nsend 1b to 0 tag 2\nsend 1b to 0 tag 9\n}\nrank 2 {\nsend 1b to 0 tag 2\nsend 1b to 0 tag 5\n}\n";
    let read = text("x", content).expect("it is right");
    assert_eq!((read.lost.sends.number, read.lost.receives.number), (0, 0));
}

#[test]
fn wrong_lines_are_refused_with_their_place() {
    let within = |lines: &str| refusal("x.goal", &format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\nrank 1 {{\n}}\n"));
    let cases = [
        (
            "a: calc 5\na requires b\nb: calc 1",
            "x.goal:4: no operation of rank 0 above has the label \"b\"; define it first",
        ),
        ("a: calc 5\na: calc 6", "x.goal:4: the label \"a\" appears twice in rank 0; give each operation its own"),
        ("calc 5 tag 3", "x.goal:3: the end of the line is due here, and not \"tag\""),
        ("calc -5", "x.goal:3: a time in ns is due here, and not \"-5\""),
        ("calc 5 cpu 256", "x.goal:3: a number is 256 here; write 255 at most"),
        ("calc 18446744073709552", "x.goal:3: a time in ns is 18446744073709552 here; write 18446744073709551 at most"),
        ("send 5 to 1", "x.goal:3: a b is due after the size; write, for instance, 4096b"),
        ("send 5b from 1", "x.goal:3: to and a rank are due after the size"),
        ("send 5b to -1", "x.goal:3: a rank is due here, and not \"-1\""),
        ("recv 5b from 1 nic 1 cpu 1", "x.goal:3: the end of the line is due here, and not \"cpu\""),
        ("send 18446744073709551616b to 1", "x.goal:3: a size in octets is 18446744073709551616 here"),
        ("wait 5", "x.goal:3: after the label \"wait\" a colon, requires or irequires is due"),
        ("a: wait", "x.goal:3: calc, send or recv is due here, and not \"wait\""),
        ("rank 1 {", "x.goal:3: an operation, a label or a } is due here"),
    ];
    for (lines, message) in cases {
        let found = within(lines);
        assert!(found.starts_with(message), "{lines:?} gives {found:?}");
    }
}

#[test]
fn ranks_that_are_missing_double_or_beyond_are_refused() {
    let cases = [
        ("rank 0 {\n}", "x:1: the file does not begin with num_ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "x:1: num_ranks is 2, and there is no rank 1; write rank 1 { and }"),
        ("num_ranks 4294967295\nrank 1 {\n}\n", "x:1: num_ranks is 4294967295, and there is no rank 0"),
        ("num_ranks 1\nrank 1 {\n}\n", "x:2: there is no rank 1; num_ranks is 1"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "x:4: rank 0 appears twice"),
        ("num_ranks 0\n", "x:1: num_ranks is 0"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n", "x:4: the file ends inside rank 0"),
        ("num_ranks 1\nnum_ranks 1\n", "x:2: a rank is due here"),
    ];
    for (content, message) in cases {
        let found = read::goal::read(&read::File { name: "x", octets: content.as_bytes() }, &Options::default());
        let found = found.expect_err(content).to_string();
        assert!(found.starts_with(message), "{content:?} gives {found:?}");
    }
    let beyond = refusal("x", "num_ranks 1\nrank 0 {\ncalc 1\nsend 1b to 1\n}\n");
    assert_eq!(beyond, "x:4: there is no rank 1; the 1 ranks are numbered from 0");
}

#[test]
fn two_receives_on_one_key_take_the_sends_in_their_order() {
    let content = "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: send 2b to 1\nb requires a\n}
rank 1 {\na: recv 1b from 0\nb: recv 2b from 0\nb requires a\n}\n";
    let read = text("x", content).expect("it is right");
    assert_eq!((read.lost.sends.number, read.lost.receives.number, read.lost.unordered.number), (0, 0, 0));
    read.graph.check().expect("sizes agree in order");
}

#[test]
fn a_cycle_is_read_and_refused_by_the_check() {
    let content = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n";
    let message = text("x", content).expect("labels are defined").graph.check().expect_err("it cannot end").to_string();
    assert!(message.contains('a') && message.contains('b'), "{message}");
}
