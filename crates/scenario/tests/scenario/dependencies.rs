//! Flows that wait for others: the keys, and mistakes that are refused.

use penstock_scenario::{Choice, Scenario};
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Dependency, FlowId};

fn text(keys: &str, flows: &str) -> String {
    format!(
        "question = \"Q\"\nduration = \"10 ms\"\nscheme = \"none\"\n{keys}\n\
         [topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\n{flows}"
    )
}

fn plan_of(text: &str) -> penstock_scenario::Plan {
    let scenario = Scenario::parse(text, "test.toml", "test").expect("it is a scenario");
    scenario.plan(&Choice::default()).expect("it can be laid out")
}

fn sequels(text: &str) -> Vec<(String, Vec<String>, Duration)> {
    let plan = plan_of(text);
    let name = |flow: FlowId| plan.flow_names[flow.index()].clone();
    let described = |sequel: &Dependency| {
        assert_eq!(plan.network.flows[sequel.flow.index()].start, Instant::NEVER);
        (name(sequel.flow), sequel.after.iter().copied().map(name).collect(), sequel.delay)
    };
    let sequels = plan.network.dependencies.iter().map(described).collect();
    // The resolved scenario gives the same plan.
    let again = plan_of(&plan.resolved);
    assert_eq!((&again.resolved, &again.flow_names), (&plan.resolved, &plan.flow_names));
    assert_eq!(again.network.dependencies.len(), plan.network.dependencies.len());
    sequels
}

fn refused(text: &str) -> String {
    let scenario = Scenario::parse(text, "test.toml", "test");
    let error = scenario.and_then(|scenario| scenario.plan(&Choice::default())).expect_err("it is refused");
    error.to_string()
}

const US: u64 = 1_000_000;

fn row(flow: &str, after: &[&str], delay: u64) -> (String, Vec<String>, Duration) {
    (flow.to_owned(), after.iter().map(|&name| name.to_owned()).collect(), Duration(delay))
}

#[test]
fn a_table_waits_for_all_or_for_one_each() {
    let flows = r#"
        [[flow]]
        name = "a0..a1"
        from = "h0..h1"
        to = "h3"
        size = "10 KB"
        [[flow]]
        name = "b0..b1"
        from = "h0..h1"
        to = "h2"
        size = "10 KB"
        after = "a0..a1"
        delay = "5 us"
        stagger = "1 us"
        [[flow]]
        name = "c0..c1"
        from = "h2"
        to = "h0..h1"
        after_each = ["b1", "b0"]
    "#;
    assert_eq!(
        sequels(&text("", flows)),
        [
            row("b0", &["a0", "a1"], 5 * US),
            row("b1", &["a0", "a1"], 6 * US),
            row("c0", &["b1"], 0),
            row("c1", &["b0"], 0),
        ]
    );
}

#[test]
fn a_closed_loop_goes_on_when_its_answer_has_come() {
    let flows = r#"
        [[flow]]
        name = "ask"
        from = "h0..h1"
        to = "h3"
        size = "1 KB"
        response = "100 KB"
        repeat = 2
        think = "10 us"
        start = "3 us"
        stagger = "1 us"
        [[flow]]
        name = "end"
        from = "h2"
        to = "h3"
        after = "ask2..ask3.response"
    "#;
    let file = text("", flows);
    assert_eq!(
        sequels(&file),
        [
            row("ask2", &["ask0.response"], 10 * US),
            row("ask3", &["ask1.response"], 10 * US),
            row("ask0.response", &["ask0"], 0),
            row("ask1.response", &["ask1"], 0),
            row("ask2.response", &["ask2"], 0),
            row("ask3.response", &["ask3"], 0),
            row("end", &["ask2.response", "ask3.response"], 0),
        ]
    );
    let plan = plan_of(&file);
    let starts: Vec<u64> = plan.network.flows[..2].iter().map(|flow| flow.start.0).collect();
    assert_eq!(starts, [3 * US, 4 * US]);
    let answer = plan.flow_names.iter().position(|name| name == "ask1.response").unwrap();
    assert_eq!(plan.network.flows[answer].size, Some(Octets(100_000)));
    assert_eq!(plan.flow_ends[answer], (3, vec![1]));
    assert_eq!((&*plan.flow_tables[answer], &*plan.flow_tables[0]), ("ask0..ask3.response", "ask0..ask3"));
    // The time of flows that wait is not known beforehand, so there are no fair shares.
    assert!(plan.fair.iter().all(|period| period.max_min_bps.iter().all(|rate| *rate == 0.0)));
}

#[test]
fn times_to_think_are_drawn() {
    let flows = r#"
        [[flow]]
        name = "f"
        from = "h0"
        to = "h3"
        size = "1 KB"
        repeat = 20000
        think = { exponential = { mean = "10 us" } }
    "#;
    let delays: Vec<f64> = sequels(&text("", flows)).iter().map(|(_, _, delay)| delay.0 as f64 / 1e7).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    // Of 20 000 exponential numbers the mean lies within 0.7 % of 1, two times of three.
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    assert_ne!(sequels(&text("seed = 2", flows))[0].2, sequels(&text("", flows))[0].2);
}

#[test]
fn a_run_can_end_with_its_flows() {
    let finite = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1 MB\"";
    assert!(plan_of(&text("until = \"all-flows-complete\"", finite)).network.until_complete);
    assert!(!plan_of(&text("", finite)).network.until_complete);
    let endless = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"";
    assert_eq!(
        refused(&text("until = \"all-flows-complete\"", endless)),
        "test.toml:4: until: no flow has a size: none completes (give a flow a size, for instance size = \"1 MB\")"
    );
}

#[test]
fn a_contradiction_is_refused_with_its_location() {
    let flow = |keys: &str| format!("[[flow]]\nname = \"f\"\nfrom = \"h0\"\nto = \"h1\"\n{keys}\n");
    let one = |keys: &str| text("", &flow(keys));
    let with = |name: &str, keys: &str| format!("[[flow]]\nname = \"{name}\"\nfrom = \"h0\"\nto = \"h1\"\n{keys}\n");
    for (file, wanted) in [
        (one("after = \"g\""), "test.toml:13: flow.0.after: there is no flow \"g\" (did you mean \"f\"?)"),
        (
            one("size = \"1 KB\"\nafter = \"f\""),
            "flow.0.after: flows wait for one another in a cycle: f after f (let one of them begin at a time: start instead of after)",
        ),
        (
            text(
                "",
                &(with("a", "size = \"1 KB\"\nafter = \"c\"")
                    + &with("b", "size = \"1 KB\"\nafter = \"a\"")
                    + &with("c", "size = \"1 KB\"\nafter = \"b\"")),
            ),
            "flow.0.after: flows wait for one another in a cycle: a after c after b after a",
        ),
        (
            text("", &(with("a", "") + &with("b", "after = \"a\""))),
            "flow.1.after: \"a\" has no end: nothing begins after it (give it a size or a stop)",
        ),
        (
            text("", &(with("a", "size = \"1 KB\"") + &with("b", "after = [\"a\", \"a\"]"))),
            "flow.1.after: \"a\" is listed twice",
        ),
        (
            text("", &(with("a", "size = \"1 KB\"") + &with("b", "after_each = \"a\"\nrepeat = 2\nevery = \"1 us\""))),
            "flow.1.after_each: 1 flows for 2 that wait",
        ),
        (
            text("", &(with("a", "size = \"1 KB\"") + &with("b", "after = \"a\"\nafter_each = \"a\""))),
            "flow.1.after_each: a table has after or after_each, not both",
        ),
        (
            text("", &(with("a", "size = \"1 KB\"") + &with("b", "after = \"a\"\nstart = \"1 us\""))),
            "flow.1.start: the flow begins when others have ended, and not at a time",
        ),
        (
            text("", &(with("a", "size = \"1 KB\"") + &with("b", "after = \"a\"\nstop = \"1 us\""))),
            "flow.1.stop: the flow begins when others have ended, which may be later",
        ),
        (one("delay = \"1 us\""), "flow.0.delay: applies only to a flow that waits for others"),
        (one("size = \"1 KB\"\nthink = \"1 us\""), "flow.0.think: a table without repeat has a single round"),
        (one("repeat = 2\nthink = \"1 us\""), "flow.0.size: missing; think needs the end of the flow"),
        (
            one("size = \"1 KB\"\nrepeat = 2\nthink = \"1 us\"\nevery = \"1 ms\""),
            "flow.0.think: rounds begin at times or after one another: every or think, not both",
        ),
        (one("response = \"1 KB\""), "flow.0.size: missing; response needs the end of the flow"),
        (
            text(
                "",
                "[[group]]\nname = \"g\"\nmembers = \"h1..h2\"\n[[flow]]\nfrom = \"h0\"\nto = \"g\"\nsize = \"1 KB\"\nresponse = \"1 KB\"",
            ),
            "flow.0.response: a group does not answer",
        ),
        (
            text(
                "",
                "[[flow]]\nname = \"a\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1 KB\"\nrepeat = 2000\nevery = \"1 us\"\n[[flow]]\nname = \"b\"\nfrom = \"h0\"\nto = \"h1\"\nrepeat = 2000\nevery = \"1 us\"\nafter = \"a0..a1999\"",
            ),
            "flow.1.after: 4000000 flows to wait for; 1000000 are the most (fewer flows in after, or raise the limits: --limit 4",
        ),
    ] {
        let message = refused(&file);
        assert!(message.contains(wanted), "{message}\nwanted {wanted}");
    }
}
