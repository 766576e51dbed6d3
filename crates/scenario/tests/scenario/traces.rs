//! Traces: flows that are listed a line each, and mistakes that are refused with their line.

use crate::common::{plan as planned, plan_or_message as outcome};
use penstock_scenario::{Plan, Scenario};
use penstock_schemes::{Duration, Instant};

const STAR: &str = r#"question = "Does it work?"
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
buffer = "1 MB"
"#;

/// The line on which the first line of a list stands, where it follows `STAR` and the head of its table.
const FIRST: usize = 10;

fn text(list: &str) -> String {
    format!("{STAR}[[trace]]\nflows = '''\n{list}\n'''\n")
}

fn refused(list: &str) -> String {
    outcome(&text(list)).map(|_| ()).expect_err(list)
}

/// Name, ends, start (ps) and size of each flow.
fn listed(plan: &Plan) -> Vec<(String, usize, usize, u64, u64)> {
    let flow =
        |f: penstock_scenario::GeneratedFlow| (f.name(&plan.generated), f.source, f.destination, f.start.0, f.size.0);
    plan.generated.flows().map(flow).collect()
}

#[test]
fn a_line_is_a_flow_and_starts_give_the_order() {
    let plan = planned(&text(
        "# from a measurement\nsize, from, to, start\n\n10 KB, h0, h1, 5 us\n1 octet, h3, h2, 0 s\n2 KB,h1,h0,5 us",
    ));
    assert_eq!(
        listed(&plan),
        [
            ("trace0.0".into(), 3, 2, 0, 1),
            ("trace0.1".into(), 0, 1, 5_000_000, 10_000),
            ("trace0.2".into(), 1, 0, 5_000_000, 2000),
        ]
    );
    assert_eq!((plan.single, plan.generated.table(0)), (0, "trace0"));
    let process = &plan.network.processes.list[0];
    assert_eq!((process.flows, process.frame, process.transport.is_none()), (3, 1500, true));
}

#[test]
fn flows_have_names_of_their_own_where_a_column_says_them() {
    let plan = planned(&text("name, from, to, size, start\nlate, h0, h1, 1 KB, 2 us\nearly, h0, h1, 1 KB, 1 us"));
    let names: Vec<String> = listed(&plan).into_iter().map(|flow| flow.0).collect();
    assert_eq!(names, ["early", "late"]);
    // The engine is fed in the same order.
    let starts: Vec<Instant> = plan.generated.arrivals().map(|arrival| arrival.start).collect();
    assert_eq!(starts, [Instant(1_000_000), Instant(2_000_000)]);
}

#[test]
fn a_flow_takes_the_path_of_a_flow_of_its_table() {
    let fabric = STAR.replace(
        "[topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"",
        "[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nhost_rate = \"10 Gbps\"\nfabric_rate = \"10 Gbps\"",
    );
    let table = |i: usize| {
        format!("[[flow]]\nname = \"f{i}\"\nfrom = \"h{}\"\nto = \"h{}\"\nsize = \"1 KB\"\n", i % 4, 4 + i % 3)
    };
    let line = |i: usize| format!("f{i}, h{}, h{}, 1 KB, 0 s\n", i % 4, 4 + i % 3);
    let alone = planned(&format!("{fabric}{}", (0..20).map(table).collect::<String>()));
    let lines: String = (0..20).map(line).collect();
    let traced = planned(&format!("{fabric}[[trace]]\nflows = '''\nname, from, to, size, start\n{lines}'''\n"));
    for (i, flow) in traced.generated.flows().enumerate() {
        let network = &alone.network;
        let hops = network.route(penstock_sim::network::FlowId(i as u32));
        let path: Vec<_> = hops.map(|hop| network.hops[hop.index()].port).collect();
        assert_eq!(flow.path, path, "f{i}");
    }
}

#[test]
fn flows_that_start_too_late_are_left_out_with_a_note() {
    let plan = planned(&text("from, to, size, start\nh0, h1, 1 KB, 999 us\nh0, h1, 1 KB, 1 ms\nh0, h1, 1 KB, 2 s"));
    assert_eq!(plan.generated.len(), 1);
    let note = "2 of the flows of trace0 would start at or after the end of the run, and are left out";
    assert!(plan.notes.iter().any(|n| n == note), "{:?}", plan.notes);
    assert!(refused("from, to, size, start\nh0, h1, 1 KB, 1 ms").contains("there is no flow"), "all too late");
}

#[test]
fn the_resolved_scenario_lists_the_same_flows() {
    let plan = planned(&text("from, to, size, start\nh0, h1, 1 KB, 1 us\n# none\nh1, h2, 1 KB, 0 s"));
    let again = planned(&plan.resolved);
    assert_eq!(listed(&again), listed(&plan));
    assert_eq!(again.resolved, plan.resolved);
}

#[test]
fn each_mistake_has_its_line() {
    let head = "from, to, size, start\n";
    for (list, row, words) in [
        ("", 0, "no flow is listed"),
        (head, 0, "no flow is listed"),
        ("from, to, size", 0, "there is no column \"start\" (the first line names them, for instance"),
        ("from, to, siez, start", 0, "\"siez\" is none (did you mean \"size\"?)"),
        ("from, to, size, size, start", 0, "the column \"size\" is there twice"),
        ("h0, h1, 1 KB, 0 s", 0, "the first line names the columns, and \"h0\" is none"),
        (&format!("{head}h0, h1, 1 KB"), 1, "3 entries for 4 columns"),
        (&format!("{head}h0, h1, 1 KB, 0 s, 3"), 1, "5 entries for 4 columns"),
        (&format!("{head}h0, h1, 1 KB, 0 s\n\nh0, h9, 1 KB, 0 s"), 3, "there is no host \"h9\" (hosts are h0 to h3)"),
        (&format!("{head}h0, sw0, 1 KB, 0 s"), 1, "\"sw0\" is a switch"),
        (&format!("{head}h2, h2, 1 KB, 0 s"), 1, "\"h2\" would send to itself"),
        (&format!("{head}h0, h1, 0 KB, 0 s"), 1, "is zero; this size must be more"),
        (&format!("{head}h0, h1, 1000, 0 s"), 1, "has no unit"),
        (&format!("{head}h0, h1, 1 KB, -1 s"), 1, "\"-1 s\""),
        (&format!("{head}h0, h1, 1 KB, 1 parsec"), 1, "parsec"),
        ("name, from, to, size, start\na, h0, h1, 1 KB, 0 s\na, h0, h1, 1 KB, 0 s", 2, "the name \"a\" is used twice"),
        ("name, from, to, size, start\na b, h0, h1, 1 KB, 0 s", 1, "\"a b\" is not a name"),
    ] {
        let error = refused(list);
        let place = format!("x.toml:{}: trace.0.flows: ", FIRST + row);
        assert!(error.starts_with(&place) && error.contains(words) && error.ends_with(')'), "{list:?}: {error}");
    }
}

#[test]
fn a_list_that_stands_on_one_line_or_begins_behind_its_quotes_has_its_lines_too() {
    let error = |flows: &str| outcome(&format!("{STAR}[[trace]]\nflows = {flows}\n")).map(|_| ()).unwrap_err();
    assert!(error("'''from, to, size, start\nh0, h9, 1 KB, 0 s'''").starts_with("x.toml:10: "));
    assert!(error("\"\"\"\nfrom, to, size, start\nh0, h9, 1 KB, 0 s\n\"\"\"").starts_with("x.toml:11: "));
    assert!(error("3").contains("x.toml:9: trace.0.flows: expected lines of text"));
    assert!(outcome(&format!("{STAR}[[trace]]\nname = \"a\"\n")).unwrap_err().contains("trace.0.flows: missing"));
}

#[test]
fn a_name_that_a_flow_has_is_taken() {
    let list = "name, from, to, size, start\na, h0, h1, 1 KB, 0 s";
    let flow = "[[flow]]\nname = \"a\"\nfrom = \"h0\"\nto = \"h1\"\n";
    assert!(outcome(&(text(list) + flow)).unwrap_err().contains("the name \"a\" is used twice"));
}

#[test]
fn a_list_may_be_longer_than_keys_may() {
    let lines: String = (0..200_000).map(|i| format!("h{}, h{}, 1 KB, {i:06} ns\n", i % 4, (i + 1) % 4)).collect();
    let long = text(&format!("from, to, size, start\n{lines}"));
    assert!(long.len() > 4_200_000);
    let plan = planned(&long);
    assert_eq!(plan.generated.len(), 200_000);
    assert_eq!(plan.duration, Duration(1_000_000_000));
    // Keys are counted without it, wherever they stand.
    let keys: String = (0..400_000).map(|i| format!("x{i:06} = 1\n")).collect();
    for (text, most) in [
        (keys.clone() + &text("from, to, size, start\nh0, h1, 1 KB, 0 s"), "4 MB beside the lists of traces"),
        (format!("a = '''b'''\n{keys}"), "4 MB beside the lists of traces"),
        (format!("# '''\n{keys}# '''\n"), "4 MB beside the lists of traces"),
        (format!("a = \"\"\"x\nflows = '''\n\"\"\"\n{keys}"), "4 MB beside the lists of traces"),
        (format!("flows = '''\n'''#'''\n{keys}'''\n"), "4 MB beside the lists of traces"),
        (format!("{STAR}#{}", "x".repeat(64_000_000)), "64 MB"),
    ] {
        let error = Scenario::parse(&text, "x.toml", "x").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(most), "{error}");
    }
}
