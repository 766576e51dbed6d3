//! Every mistake of a scenario is refused with file, line, key and a hint.

use std::path::Path;

use penstock_scenario::{Choice, Scenario, ScenarioError};

pub(super) const GOOD: &str = r#"question = "Does it work?"
duration = "1 s"
scheme = "qcn"
[schemes.qcn]
q_eq = "33 KB"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
buffer = "150 KB"
[[flow]]
from = "h0..h2"
to = "h3"
"#;

fn outcome(text: &str) -> Result<(), ScenarioError> {
    Scenario::parse(text, "x.toml", "x")?.plan(&Choice::default()).map(|_| ())
}

/// The message about `GOOD` with `old` replaced by `new`.
fn refused(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    outcome(&GOOD.replacen(old, new, 1)).expect_err(new).to_string()
}

#[test]
fn the_good_one_is_good() {
    outcome(GOOD).unwrap();
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (old, new, expected) in [
        // Keys and values.
        ("q_eq =", "q_eqq =", "x.toml:5: schemes.qcn.q_eqq: unknown key (did you mean \"q_eq\"?)"),
        ("duration =", "\"\" = 1\nduration =", "x.toml:2: \"\": unknown key (known are"),
        ("duration =", "\"x.yz\" = 1\nduration =", "x.toml:2: \"x.yz\": unknown key (known are"),
        ("duration =", "acted = true\nduration =", "x.toml:2: acted: unknown key (it is called require_action now)"),
        ("duration =", "duratoin =", "x.toml:2: duratoin: unknown key (did you mean \"duration\"?)"),
        (
            "scheme = \"qcn\"",
            "scheme = \"qnc\"",
            "x.toml:3: scheme: \"qnc\" is not known here, expected one of none, bcn, fecn",
        ),
        ("[schemes.qcn]", "[schemes.qncc]", "x.toml:4: schemes.qncc: unknown key (did you mean \"qcn\"?)"),
        ("q_eq = \"33 KB\"", "profile = \"pan-10\"", "(did you mean \"pan-10g\"?)"),
        ("[topology.star]", "[topology.ster]", "x.toml:6: topology.ster: unknown key (did you mean \"star\"?)"),
        ("to = \"h3\"", "to = \"h3\"\ntraffic = \"gready\"", "(did you mean \"greedy\"?)"),
        // Kinds and units.
        ("\"1 s\"", "15", "x.toml:2: duration: the number 15 has no unit (write a number and a unit, as in \"15 ms\")"),
        ("\"1 s\"", "\"15\"", "x.toml:2: duration: \"15\" has no unit (write a number and a unit, as in \"15 ms\")"),
        ("\"1 s\"", "\"15 parsec\"", "x.toml:2: duration: \"parsec\" is not a unit of time (known are s, ms, us"),
        ("\"1 s\"", "\"300000000 s\"", "\"300000000 s\" is too large (at most 2000000 s)"),
        ("\"1 s\"", "\"10 Gbps\"", "is a rate, not a time (for instance \"15 ms\")"),
        ("\"1 s\"", "\"0 s\"", "\"0 s\" is zero; this time must be more"),
        (
            "to = \"h3\"\n",
            "to = \"h3\"\n[[load]]\nload = 0.5\nsize = { points = [[\"1 KB\", 0.0]] }\n",
            "load.0.size.points.0: expected a table, found a list (write a table, as in { size = …, share = … })",
        ),
        ("\"1 s\"", "[]", "expected a time with its unit, as in \"15 ms\", found a list"),
        ("\"10 Gbps\"", "\"0 Gbps\"", "x.toml:8: topology.star.link_rate: \"0 Gbps\" is zero; this rate must be more"),
        ("\"10 Gbps\"", "\"-1 Gbps\"", "\"-1 Gbps\" is negative"),
        ("\"150 KB\"", "\"0 frames\"", "this number of frames must be more (from 1 frames to 4294967295 frames)"),
        ("\"150 KB\"", "\"2.5 frames\"", "is not a whole number of frames (write fewer decimals"),
        ("\"150 KB\"", "\"5000000000 frames\"", "is above the maximum of 4294967295 frames"),
        ("\"150 KB\"", "\"150 packets\"", "\"packets\" is not a unit of size (known are GB"),
        ("\"150 KB\"", "\"150,000 octets\"", "has a , in its number (write digits alone"),
        ("\"150 KB\"", "\"1 KB 500 B\"", "goes on after its unit (write one number and one unit, as in \"150 KB\")"),
        ("\"1 s\"", "\"10 frames\"", "is a number of frames, not a time (for instance \"15 ms\")"),
        ("\"10 Gbps\"", "\"nan Gbps\"", "is not a rate (write a number and a unit, as in \"10 Gbps\")"),
        ("\"150 KB\"", "150", "x.toml:9: topology.star.buffer: the number 150 has no unit"),
        ("hosts = 4", "hosts = 4.5", "expected a whole number from 2 to 8192, found the number 4.5"),
        ("hosts = 4", "hosts = \"four\"", "expected a whole number from 2 to 8192, found \"four\""),
        ("question = \"Does it work?\"", "question = \" \"", "x.toml:1: question: expected one line of text"),
        ("question = \"Does it work?\"", "seed = 3", "x.toml:1: question: missing"),
        (
            "scheme =",
            "seed = \"lucky\"\nscheme =",
            "x.toml:3: seed: expected a whole number of at least 0, found \"lucky\"",
        ),
        ("scheme =", "seed = -1\nscheme =", "seed: expected a whole number of at least 0, found the number -1"),
        ("scheme =", "name = \"../x\"\nscheme =", "x.toml:3: name: a name that results are filed under has no slash"),
        // Time.
        ("scheme =", "warmup = \"1 s\"\nscheme =", "x.toml:3: warmup: nothing is left to measure"),
        ("[schemes.qcn]", "[record]\ninterval = \"0 s\"\n[schemes.qcn]", "x.toml:5: record.interval: \"0 s\" is zero"),
        ("[schemes.qcn]", "[record]\ninterval = \"2 s\"\n[schemes.qcn]", "the interval is longer than the run"),
        (
            "[schemes.qcn]",
            "[record]\ninterval = \"1 ps\"\n[schemes.qcn]",
            "1000000000000 samples; 10000000 are the most",
        ),
        (
            "to = \"h3\"",
            "to = \"h3\"\nstart = \"0.5 s\"\nstop = \"0.4 s\"",
            "x.toml:14: flow.0.stop: a flow would stop before it starts (it starts at 500 ms; stop must be later)",
        ),
        ("to = \"h3\"", "to = \"h3\"\nstart = \"1 s\"", "a flow would start at or after the end of the run"),
        (
            "to = \"h3\"",
            "to = \"h3\"\nstagger = \"0.5 s\"",
            "flow.0.stagger: a flow would start at or after the end of the run (the run ends at 1 s, the last flow",
        ),
        // Thresholds and sizes.
        (
            "\"33 KB\"",
            "\"151 KB\"",
            "x.toml:5: schemes.qcn.q_eq: 151 KB is beyond the buffer of 150 KB (the queue of sw0->h0 is",
        ),
        ("\"150 KB\"", "\"20 frames\"", "33 KB is beyond the buffer of 30 KB"),
        (
            "\"150 KB\"",
            "\"1499 octets\"",
            "x.toml:9: topology.star.buffer: 1499 octets are too small for a frame of 1500 octets",
        ),
        ("to = \"h3\"", "to = \"h3\"\nexcess = { queue = \"1 KB\" }", "is smaller than a frame of 1500 octets"),
        ("to = \"h3\"", "to = \"h3\"\nframe = \"63 octets\"", "\"63 octets\" is below the minimum of 64 octets"),
        ("to = \"h3\"", "to = \"h3\"\nframe = \"20 KB\"", "\"20 KB\" is above the maximum of 16 KiB"),
        (
            "[schemes.qcn]",
            "[hosts]\nqueue = \"1 KB\"\n[schemes.qcn]",
            "x.toml:5: hosts.queue: 1 KB are too small for a frame",
        ),
        (
            "[schemes.qcn]",
            "[hosts]\npacer = { token_bucket = { depth = \"1 KB\", interval = \"16 us\", granularity = \"1 Mbps\" } }\n[schemes.qcn]",
            "x.toml:5: hosts.pacer: the bucket of 1 KB is too small for a frame of 1500 octets",
        ),
        // Flows.
        ("to = \"h3\"", "to = \"h4\"", "x.toml:12: flow.0.to: there is no host \"h4\" (hosts are h0 to h3)"),
        ("to = \"h3\"", "to = \"sw0\"", "\"sw0\" is a switch; flows run between hosts (hosts are h0 to h3)"),
        ("to = \"h3\"", "to = \"h2\"", "\"h2\" would send to itself (take \"h2\" out of from"),
        ("[[flow]]", "[flow]", "x.toml:10: flow: expected a list of tables, found a table (write [[flow]])"),
        ("to = \"h3\"", "to = [\"h3\", \"h0\"]", "3 sources and 2 destinations: use equal numbers"),
        ("to = \"h3\"", "to = []", "an empty list"),
        (
            "to = \"h3\"",
            "to = 3",
            "expected a name, a range such as \"h0..h7\", or a list of these, found the number 3",
        ),
        ("\"h0..h2\"", "\"h2..h0\"", "the range \"h2..h0\" runs backwards"),
        ("\"h0..h2\"", "\"h0..h999999\"", "the range \"h0..h999999\" has 1000000 names; 100000 are the most"),
        (
            "to = \"h3\"",
            "to = \"h3\"\nname = \"a\"\n[[flow]]\nname = \"a1\"\nfrom = \"h0\"\nto = \"h1\"",
            "x.toml:15: flow.1.name: the name \"a1\" is used twice",
        ),
        ("to = \"h3\"", "to = \"h3\"\nname = \"a0..a1\"", "2 names for 3 flows"),
        ("to = \"h3\"", "to = \"h3\"\ntraffic = \"constant\"", "flow.0.rate: missing; traffic = \"constant\" needs it"),
        ("to = \"h3\"", "to = \"h3\"\nrate = \"1 Gbps\"", "flow.0.rate: traffic = \"greedy\" has no such key"),
        (
            "to = \"h3\"",
            "to = \"h3\"\ntraffic = \"on-off\"\nrate = \"1 Gbps\"",
            "flow.0.on: missing; traffic = \"on-off\" needs it",
        ),
        ("to = \"h3\"", "to = \"h3\"\nrandom = true", "has no on and off periods that could be random"),
        ("to = \"h3\"", "to = \"h3\"\npath = [\"h0\", \"sw0\", \"h3\"]", "a path of 3 nodes for 3 flows"),
        (
            "from = \"h0..h2\"",
            "path = [\"h0\", \"h3\"]\nfrom = \"h0\"",
            "no link joins \"h0\" and \"h3\" (links of h0 lead to sw0)",
        ),
        ("from = \"h0..h2\"", "path = [\"h0\", \"h1\", \"h3\"]\nfrom = \"h0\"", "the host \"h1\" does not forward"),
        ("from = \"h0..h2\"", "path = [\"h0\", \"sw0\"]\nfrom = \"h0\"", "the path must lead from \"h0\" to \"h3\""),
        ("from = \"h0..h2\"", "path = [\"h0\", \"sw9\", \"h3\"]\nfrom = \"h0\"", "there is no node \"sw9\""),
        ("[[flow]]\nfrom = \"h0..h2\"\nto = \"h3\"", "[record]", "flow: there is no flow (add a table [[flow]]"),
        (
            "to = \"h3\"",
            "to = \"h3\"\nrepeat = 3",
            "flow.0.every: missing; repeat needs it (the time between the rounds",
        ),
        (
            "to = \"h3\"",
            "to = \"h3\"\nevery = \"1 ms\"",
            "x.toml:13: flow.0.every: a table without repeat has a single",
        ),
        ("to = \"h3\"", "to = \"h3\"\nrepeat = 0", "expected a whole number from 1 to 100000"),
        (
            "to = \"h3\"",
            "to = \"h3\"\nrepeat = 99999\nevery = \"1 us\"",
            "flow.0.from: 299997 flows; 100000 are the most (fewer hosts or rounds",
        ),
        (
            "to = \"h3\"",
            "to = \"h3\"\nrepeat = 3\nevery = \"0.5 s\"",
            "x.toml:14: flow.0.every: a flow would start at or after the end of the run",
        ),
        // Topologies.
        (
            "[[flow]]",
            "[topology.dumbbell]\nsources = 1\nlink_rate = \"1 Gbps\"\nbottleneck_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n[[flow]]",
            "x.toml:10: topology.dumbbell: a second topology; there is \"star\" already",
        ),
        (
            "[topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"",
            "[topology]",
            "x.toml:6: topology: no topology (exactly one of star, dumbbell",
        ),
        ("hosts = 4", "hosts = 100000", "expected a whole number from 2 to 8192"),
        // Links.
        (
            "[[flow]]",
            "[[change]]\nlink = \"sw0->h8\"\nat = \"0.1 s\"\nstate = \"down\"\n[[flow]]",
            "x.toml:11: change.0.link: there is no link \"sw0->h8\" (did you mean \"sw0->h0\"?)",
        ),
        (
            "[[flow]]",
            "[[change]]\nlink = \"sw0->h3\"\nat = \"1 s\"\nstate = \"down\"\n[[flow]]",
            "x.toml:12: change.0.at: a change at or after the end",
        ),
        (
            "[[flow]]",
            "[[change]]\nlink = \"sw0->h3\"\nat = \"0.5 s\"\n[[flow]]",
            "x.toml:10: change.0.rate: a change has a rate, or a state",
        ),
        (
            "[[flow]]",
            "[[change]]\nlink = \"sw0->h3\"\nat = \"0.5 s\"\nrate = \"1 Gbps\"\nstate = \"up\"\n[[flow]]",
            "a rate or a state, not both",
        ),
        (
            "[[flow]]",
            "[[change]]\nlink = \"sw0->h3\"\nat = \"0.5 s\"\nrate = \"0 Gbps\"\n[[flow]]",
            "is zero; this rate must be more",
        ),
        (
            "[[flow]]",
            "[network]\ncongestion_points = \"everywhere\"\n[[flow]]",
            "has no queue for a congestion point (give hosts a queue",
        ),
        (
            "[[flow]]",
            "[network]\ncongestion_points = [\"sw0->h9\"]\n[[flow]]",
            "there is no port \"sw0->h9\" (did you mean",
        ),
        (
            "[[flow]]",
            "[record]\nqueues = [\"sw->h3\"]\n[[flow]]",
            "there is no port \"sw->h3\" (did you mean \"sw0->h3\"?)",
        ),
        ("[[flow]]", "[network]\nfeedback = \"in-bend\"\n[[flow]]", "(did you mean \"in-band\"?)"),
        (
            "[[flow]]",
            "[network]\nfeedback = { ideal = \"10\" }\n[[flow]]",
            "x.toml:11: network.feedback.ideal: \"10\" has no unit",
        ),
    ] {
        let message = refused(old, new);
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
        assert!(message.starts_with("x.toml:"), "{message}");
        let error = outcome(&GOOD.replacen(old, new, 1)).unwrap_err();
        assert!(error.line.is_some() && error.key.is_some(), "no location: {message}");
        assert!(error.hint.is_some_and(|hint| !hint.is_empty()), "no hint: {message}");
    }
}

#[test]
fn lists_within_lists_are_refused_where_they_are_deepest() {
    let list = format!("duration = \"1 s\"\nquestion = {}1{}\n", "[".repeat(100), "]".repeat(100));
    let key = format!("duration = \"1 s\"\nquestion{} = 1\n", ".a".repeat(100));
    for text in [list, key] {
        let error = outcome(&text).unwrap_err();
        assert_eq!(error.line, Some(2), "{error}");
        assert_eq!(error.hint.as_deref(), Some("lists and tables stand in one another at most 80 deep"));
    }
}

#[test]
fn a_consequence_of_the_choice_of_a_scheme_is_blamed_on_it() {
    let text = GOOD.replace("[schemes.qcn]\nq_eq = \"33 KB\"\n", "").replace("150 KB", "20 KB");
    let error = outcome(&text).unwrap_err();
    assert_eq!((error.line, error.key.as_deref()), (Some(3), Some("schemes.qcn.q_eq")), "{error}");
}

#[test]
fn a_name_that_cannot_be_filed_is_refused_or_made_fit() {
    let from_file = |name: &str| {
        let plan = Scenario::parse(GOOD, "x.toml", name).unwrap().plan(&Choice::default()).unwrap();
        let again = Scenario::parse(&plan.resolved, "scenario.toml", "scenario").unwrap();
        (plan.name, again.plan(&Choice::default()).unwrap().resolved == plan.resolved)
    };
    for (name, filed) in
        [(".hidden", "hidden"), ("a\\b", "a-b"), ("a\nb", "a-b"), ("\u{1b}[31mred", "-[31mred"), ("..", "scenario")]
    {
        assert_eq!(from_file(name), (filed.to_owned(), true), "{name:?}");
    }
    let long = "x".repeat(300);
    assert_eq!(from_file(&long), ("x".repeat(200), true));
    for name in [".hidden", "a\\\\b", &long] {
        let message = refused("scheme =", &format!("name = \"{name}\"\nscheme ="));
        assert!(message.starts_with("x.toml:3: name: a name that results are filed under has"), "{message}");
    }
}

#[test]
fn a_distribution_of_sizes_is_checked() {
    for (size, expected) in [
        (
            "{}",
            "x.toml:13: flow.0.size: no distribution (exactly one of uniform, exponential, pareto, lognormal, points, workload)",
        ),
        ("\"0 KB\"", "flow.0.size: \"0 KB\" is zero; this size must be more"),
        ("12", "flow.0.size: the number 12 has no unit"),
        ("true", "expected a size with its unit, as in \"150 KB\", or a table of uniform, exponential, pareto"),
        ("{ unifrom = { minimum = \"1 KB\" } }", "flow.0.size.unifrom: unknown key (did you mean \"uniform\"?)"),
        ("{ uniform = { minimum = \"1 KB\" } }", "flow.0.size.uniform.maximum: missing"),
        (
            "{ uniform = { minimum = \"2 KB\", maximum = \"1 KB\" } }",
            "x.toml:13: flow.0.size.uniform.maximum: not above the minimum of 2 KB (for a single size, write it alone)",
        ),
        (
            "{ exponential = { mean = \"1 KB\" }, uniform = { minimum = \"1 KB\", maximum = \"2 KB\" } }",
            "flow.0.size.uniform: a second distribution; there is \"exponential\" already (keep one of them)",
        ),
        ("{ exponential = \"1 KB\" }", "flow.0.size.exponential: expected a table of mean, found \"1 KB\""),
        (
            "{ pareto = { shape = 0, minimum = \"1 KB\", maximum = \"2 KB\" } }",
            "flow.0.size.pareto.shape: expected a number from 0.01 to 100",
        ),
        ("{ points = [] }", "flow.0.size.points: no points (at least"),
        (
            "{ points = [{ size = \"1 KB\", share = 1.5 }] }",
            "flow.0.size.points.0.share: expected a number from 0 to 1",
        ),
        (
            "{ points = [{ size = \"1 KB\", share = 0.5 }] }",
            "flow.0.size.points.0.share: the last share is 0.5: some flows would have no size (no flow is larger",
        ),
        (
            "{ points = [{ size = \"1 KB\", share = 0.5 }, { size = \"1 KB\", share = 1.0 }] }",
            "flow.0.size.points.1.size: not above the 1 KB before it (list the points in rising order)",
        ),
        (
            "{ points = [{ size = \"1 KB\", share = 0.5 }, { size = \"2 KB\", share = 0.5 }] }",
            "flow.0.size.points.1.share: 0.5 is not above the 0.5 before it (the share of a point",
        ),
    ] {
        let message = refused("to = \"h3\"", &format!("to = \"h3\"\nsize = {size}"));
        assert!(message.contains(expected), "{size}\n gives {message}\n not {expected}");
    }
}

#[test]
fn a_graph_is_checked_too() {
    let graph = |change: (&str, &str)| {
        let text = r#"question = "?"
duration = "1 s"
scheme = "none"
[topology.graph]
hosts = "a0..a2"
switches = ["s"]
buffer = "100 frames"
[[topology.graph.link]]
ends = ["a0", "s"]
rate = "1 Gbps"
[[topology.graph.link]]
ends = ["a1", "s"]
rate = "1 Gbps"
[[flow]]
from = "a0"
to = "a1"
"#;
        assert!(text.contains(change.0));
        outcome(&text.replacen(change.0, change.1, 1))
    };
    graph(("", "")).unwrap();
    for (old, new, expected) in [
        (
            "to = \"a1\"",
            "to = \"a2\"",
            "x.toml:16: flow.0.to: \"a2\" cannot be reached from \"a0\" (hosts do not forward",
        ),
        ("[\"a1\", \"s\"]", "[\"a1\", \"a2\"]", "links and switches lead from there to nowhere)"),
        ("[\"s\"]", "[\"s\", \"a1\"]", "x.toml:6: topology.graph.switches: the name \"a1\" is used twice"),
        ("[\"s\"]", "[\"s->t\"]", "\"s->t\" is not a name"),
        (
            "[\"a1\", \"s\"]",
            "[\"a0\", \"s\"]",
            "x.toml:12: topology.graph.link.1.ends: two links join \"a0\" and \"s\"",
        ),
        ("[\"a1\", \"s\"]", "[\"s\", \"s\"]", "both ends are \"s\""),
        ("[\"a1\", \"s\"]", "[\"a1\"]", "a link has two ends, found 1"),
        ("[\"a1\", \"s\"]", "[\"a1\", \"s1\"]", "there is no node \"s1\""),
        ("[[flow]]", "[[topology.graph.node]]\nname = \"t\"\ndelay = \"1 us\"\n[[flow]]", "there is no node \"t\""),
    ] {
        let message = graph((old, new)).expect_err(new).to_string();
        assert!(message.contains(expected), "{message}\n not {expected}");
    }
}

#[test]
fn sizes_that_would_take_too_long_are_refused_at_once() {
    let text = GOOD.replace(
        "[topology.star]\nhosts = 4\nlink_rate",
        "[topology.leaf-spine]\nleaves = 1024\nspines = 1024\nhosts_per_leaf = 1024\nfabric_rate = \"1 Gbps\"\nhost_rate",
    );
    let message = outcome(&text).unwrap_err().to_string();
    assert!(message.contains("1050624 nodes; 10000 are the most"), "{message}");
    let text = GOOD.replace("[topology.star]\nhosts = 4\nlink_rate", "[topology.fat-tree]\nk = 5\nlink_rate");
    let message = outcome(&text).unwrap_err().to_string();
    assert!(message.contains("topology.fat-tree.k: a fat tree needs an even number of ports, found 5"), "{message}");
    let text = GOOD.replace(
        "[topology.star]\nhosts = 4\nlink_rate",
        "[topology.dragonfly]\ngroups = 6\nswitches_per_group = 2\nhosts_per_switch = 1\nglobal_links = 2\n\
         local_rate = \"1 Gbps\"\nglobal_rate = \"1 Gbps\"\nhost_rate",
    );
    let message = outcome(&text).unwrap_err().to_string();
    let expected = "topology.dragonfly.groups: 6 groups need 5 links to others, but 2 switches with 2 each have 4";
    assert!(message.contains(expected) && message.contains("at most 5"), "{message}");
}

#[test]
fn text_that_is_no_scenario_is_refused() {
    for (text, expected) in [
        ("", "x.toml: is empty"),
        ("# nothing\n\n", "x.toml: is empty"),
        ("a = = 1", "x.toml:1: not TOML"),
        ("a = 1\n\nb = [", "x.toml:3: not TOML"),
        ("a = 1\na = 2", "x.toml:2: not TOML: duplicate key"),
        ("a.b.c", "x.toml:1: not TOML"),
        ("duration = 10 s", "x.toml:1: not TOML: string values must be quoted"),
        ("hosts = 99999999999999999999", "x.toml:1: not TOML: integer number overflowed (whole numbers end at"),
    ] {
        let error = outcome(text).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(error.hint.is_some(), "{error}");
    }
    let long = format!("question = \"{}\"", "x".repeat(4_000_001));
    assert!(outcome(&long).unwrap_err().to_string().contains("at most 4 MB"));
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let load = |name: &str, octets: Option<&[u8]>| {
        let path = folder.join(name);
        if let Some(octets) = octets {
            std::fs::write(&path, octets).unwrap();
        }
        Scenario::load(&path).unwrap_err().to_string()
    };
    assert!(load("absent.toml", None).contains("absent.toml: cannot be read: No such file"));
    assert!(load("", None).contains("is a folder, not a scenario file"));
    assert!(
        load("large.toml", Some(&vec![b'#'; 4_000_001])).contains("has 4000001 octets; a scenario has at most 4 MB")
    );
    assert!(load("latin.toml", Some(b"question = \"\xe9\"")).contains("is not UTF-8 text"));
    assert!(load("empty.toml", Some(b"")).contains("empty.toml: is empty"));
    assert!(Scenario::load(Path::new("/dev/null")).unwrap_err().to_string().contains("is not a regular file"));
}

/// HPCC's telemetry lengthens each data frame by 42 octets.
#[test]
fn a_queue_has_room_for_a_frame_with_its_tags() {
    let small = GOOD.replace("150 KB", "1500 octets").replace("[schemes.qcn]\nq_eq = \"33 KB\"\n", "");
    assert_eq!(outcome(&small.replace("\"qcn\"", "\"none\"")), Ok(()));
    let message = outcome(&small.replace("\"qcn\"", "\"hpcc\"")).unwrap_err().to_string();
    assert!(
        message.contains("topology.star.buffer: 1500 octets are too small for a frame of 1542 octets"),
        "{message}"
    );
}

#[test]
fn parameters_that_contradict_one_another_are_refused() {
    let chosen = |scheme: &str, table: &str| {
        let text = GOOD.replace("scheme = \"qcn\"", &format!("scheme = \"{scheme}\""));
        let text = text.replace("[schemes.qcn]", &format!("[schemes.{scheme}]\n{table}\n\n[schemes.qcn]"));
        Scenario::parse(&text, "x.toml", "x").unwrap().plan(&Choice::default())
    };
    for (scheme, table, expected) in [
        (
            "bcn",
            "q_sc = \"23 KB\"",
            "x.toml:5: schemes.bcn.q_sc: 23 KB is below q_eq, 24 KB (q_sc is never less than q_eq)",
        ),
        ("e2cm", "q_eq = \"121 KB\"", "schemes.e2cm.q_sc: 120 KB is below q_eq, 121 KB"),
        ("efecn", "q_sc = \"10 KB\"", "x.toml:5: schemes.efecn.q_sc: 10 KB is below q_eq, 24 KB"),
        ("bcn", "sample_interval_severe = \"80 KB\"", "sample_interval: 75 KB is below sample_interval_severe, 80 KB"),
        ("dcqcn", "k_min = \"101 KB\"", "schemes.dcqcn.k_max: 100 KB is below k_min, 101 KB"),
        (
            "bcn",
            "rmin = \"11 Gbps\"",
            "x.toml:5: schemes.bcn.rmin: 11 Gbps is above the rate of the sources' lines, 10 Gbps",
        ),
        ("fecn", "min_rate = \"11 Gbps\"", "schemes.fecn.min_rate: 11 Gbps is above the rate of the sources' lines"),
        ("smcc", "min_rate = \"11 Gbps\"", "schemes.smcc.min_rate: 11 Gbps is above the rate of the sources' lines"),
        ("dcqcn", "min_rate = \"11 Gbps\"", "schemes.dcqcn.min_rate: 11 Gbps is above the rate of the sources' lines"),
    ] {
        let message = chosen(scheme, table).unwrap_err().to_string();
        assert!(message.contains(expected), "{scheme}, {table}: {message}");
    }
    // Equal values contradict nothing.
    for (scheme, table) in
        [("bcn", "q_sc = \"24 KB\""), ("dcqcn", "k_min = \"100 KB\""), ("smcc", "min_rate = \"10 Gbps\"")]
    {
        assert!(chosen(scheme, table).is_ok(), "{scheme}, {table}");
    }
}

/// A set point beyond the buffer is a mistake where it holds, and none where another rule decides.
#[test]
fn a_threshold_without_an_effect_is_no_mistake() {
    let small = |marking: &str| {
        let nscc =
            format!("scheme = \"nscc\"\n[schemes.nscc]\nmarking = \"{marking}\"\nk_min = \"5 KB\"\nk_max = \"9 KB\"");
        let text = GOOD.replace("scheme = \"qcn\"\n[schemes.qcn]\nq_eq = \"33 KB\"", &nscc);
        outcome(&text.replace("150 KB", "20 KB")).map_err(|error| error.to_string())
    };
    assert_eq!(small("threshold"), Ok(()));
    let error = small("pi").unwrap_err();
    assert!(error.contains("schemes.nscc.pi_q_ref: 50 KB is beyond the buffer of 20 KB"), "{error}");
}
