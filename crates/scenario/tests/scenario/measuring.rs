//! Windows of measurement, runs that are cut short, and the differences from seed to seed: starts and clocks.

use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::Instant;

const STAR: &str = r#"
question = "Q"
duration = "20 ms"
scheme = "none"

[topology.star]
hosts = 9
link_rate = "10 Gbps"
buffer = "150 KB"

[[flow]]
from = "h0..h7"
to = "h8"
"#;

fn parse(rest: &str) -> Scenario {
    Scenario::parse(&format!("{STAR}{rest}"), "x.toml", "x").unwrap()
}

fn plan(rest: &str) -> Result<Plan, ScenarioError> {
    parse(rest).plan(&Choice::default())
}

fn seeded(rest: &str, seed: u64) -> Plan {
    parse(rest).plan(&Choice { seed: Some(seed), ..Choice::default() }).unwrap()
}

fn set(rest: &str, settings: &[(&str, &str)]) -> Result<Plan, ScenarioError> {
    let mut scenario = parse(rest);
    for (key, value) in settings {
        scenario.set(key, value).unwrap();
    }
    scenario.plan(&Choice::default())
}

/// The error of a text that is refused; each has a key, a line and a hint.
fn refused(rest: &str) -> String {
    let error = plan(rest).expect_err(rest);
    assert!(error.key.is_some() && error.line.is_some() && error.hint.is_some(), "{error}");
    error.to_string()
}

const MS: u64 = 1_000_000_000;

#[test]
fn a_window_lasts_to_the_end_of_the_run_unless_it_says_otherwise() {
    let windows = "[[window]]\nname = \"rise\"\nstart = \"0 s\"\nend = \"5 ms\"\n\
                   [[window]]\nname = \"rest\"\nstart = \"4 ms\"\n";
    let plan = plan(windows).unwrap();
    let times: Vec<_> = plan.windows.iter().map(|w| (w.name.as_str(), w.time.clone())).collect();
    assert_eq!(times, [("rise", Instant(0)..Instant(5 * MS)), ("rest", Instant(4 * MS)..Instant(20 * MS))]);
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!((again.windows, again.resolved), (plan.windows, plan.resolved));
}

#[test]
fn windows_that_cannot_be_are_refused() {
    for (window, message, hint) in [
        ("start = \"20 ms\"", "would open at or after the end of the run", "the run ends at 20 ms"),
        ("start = \"1 ms\"\nend = \"21 ms\"", "would close after the end of the run", "the run ends at 20 ms"),
        ("start = \"2 ms\"\nend = \"2 ms\"", "would close before it opens", "it opens at 2 ms"),
    ] {
        let error = refused(&format!("[[window]]\nname = \"a\"\n{window}\n"));
        assert!(error.contains(message) && error.contains(hint), "{error}");
    }
    let twice = refused(&"[[window]]\nname = \"a\"\nstart = \"0 s\"\n".repeat(2));
    assert!(twice.contains("the name \"a\" is used twice"), "{twice}");
    let many: String = (0..10_000).map(|i| format!("[[window]]\nname = \"w{i}\"\nstart = \"{i} ns\"\n")).collect();
    let flows = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"\nname = \"x\"\nrepeat = 1000\nevery = \"1 ns\"\n";
    let error = refused(&format!("{many}{flows}"));
    assert!(error.contains("readings of windows; 10000000 are the most"), "{error}");
    assert!(error.contains("--limit 2"), "{error}");
}

#[test]
fn a_run_that_is_cut_short_leaves_later_changes_and_windows_out_and_says_so() {
    let rest = "[[change]]\nlink = \"sw0->h8\"\nat = \"5 ms\"\nrate = \"1 Gbps\"\n\
                [[change]]\nlink = \"sw0->h8\"\nat = \"10 ms\"\nrate = \"10 Gbps\"\n\
                [[flow]]\nfrom = \"h1\"\nto = \"h2\"\nname = \"late\"\nstart = \"9 ms\"\n\
                [[window]]\nname = \"early\"\nstart = \"1 ms\"\n\
                [[window]]\nname = \"slow\"\nstart = \"5 ms\"\nend = \"10 ms\"\n\
                [[window]]\nname = \"late\"\nstart = \"15 ms\"\n";
    let plan = set(rest, &[("duration", "8 ms")]).unwrap();
    let times: Vec<_> = plan.windows.iter().map(|w| (w.name.as_str(), w.time.clone())).collect();
    assert_eq!(times, [("early", Instant(MS)..Instant(8 * MS)), ("slow", Instant(5 * MS)..Instant(8 * MS))]);
    assert_eq!(plan.network.changes.len(), 1);
    let notes = [
        "a change is left out: the duration was set, and the run ends at 8 ms",
        "a window is left out: the duration was set, and the run ends at 8 ms",
        "the window slow closes with the run, at 8 ms: the duration was set",
        "a flow is left out: the duration was set, and the run ends at 8 ms",
    ];
    assert_eq!(plan.notes, notes);
    // The resolved scenario is that of the run as it is.
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    assert_eq!(again.windows, plan.windows);
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    // At the instant of a change it is left out as well; before, nothing is.
    assert_eq!(set(rest, &[("duration", "5 ms")]).unwrap().network.changes.len(), 0);
    assert!(set(rest, &[("duration", "16 ms")]).unwrap().notes.is_empty());
    // Without a flow there is no run.
    let error = set("start = \"9 ms\"\n", &[("duration", "8 ms")]).unwrap_err().to_string();
    assert!(error.contains("there is no flow") && error.contains("the run ends at 8 ms"), "{error}");
    // A change that the file itself has behind its end is a mistake.
    let error = refused("[[change]]\nlink = \"sw0->h8\"\nat = \"20 ms\"\nrate = \"1 Gbps\"\n");
    assert!(error.contains("at or after the end of the run"), "{error}");
}

/// The plan of a run of 8 ms, with the checks of every run that is cut short. Its flows are those of the whole run that
/// start before its end, and its resolved scenario lays out the same run without a note.
fn cut(rest: &str) -> Plan {
    let (whole, plan) = (plan(rest).unwrap(), set(rest, &[("duration", "8 ms")]).unwrap());
    let flows = |plan: &Plan| -> Vec<String> {
        let own = plan.flow_names.iter().zip(&plan.flow_ends).zip(&plan.network.flows);
        own.filter(|(_, flow)| flow.start.0 < 8 * MS)
            .map(|((name, ends), flow)| format!("{name} {ends:?} {:?} {:?} {:?}", flow.start, flow.stop, flow.size))
            .collect()
    };
    assert_eq!(flows(&plan), flows(&whole));
    assert_eq!(plan.network.flows.len(), flows(&plan).len(), "none starts after the end");
    let gone = whole.network.flows.len() - plan.network.flows.len();
    let many = if gone == 1 { "a flow is".to_owned() } else { format!("{gone} flows are") };
    assert_eq!(plan.notes, [format!("{many} left out: the duration was set, and the run ends at 8 ms")]);
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    assert_eq!(again.resolved, plan.resolved);
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    plan
}

#[test]
fn of_a_staggered_table_the_flows_behind_the_end_of_a_run_that_is_cut_short_are_left_out() {
    // 0, 2, 4, 6 ms; the flow that would start at 8 ms is the first that is left out. Numbers of later tables stay.
    let plan = cut("stagger = \"2 ms\"\n[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n");
    assert_eq!(plan.flow_names, ["f0", "f1", "f2", "f3", "f8"]);
    assert_eq!(plan.flow_tables, ["f0..f3", "f0..f3", "f0..f3", "f0..f3", "f8"]);
    // From one to many, and in pairs.
    let plan = cut("stagger = \"1 us\"\n[[flow]]\nfrom = \"h8\"\nto = \"h0..h3\"\nname = \"a\"\nstagger = \"5 ms\"\n");
    assert_eq!(plan.flow_names[8..], ["a0", "a1"]);
    let pairs =
        "from = [\"h0\", \"h6\", \"h2\"]\nto = \"h3..h5\"\nname = \"a4..a6\"\nstart = \"1 ms\"\nstop = \"19 ms\"\n";
    let plan = cut(&format!("[[flow]]\n{pairs}stagger = \"4 ms\"\n"));
    assert_eq!((plan.flow_names[8..].join(" "), plan.flow_ends[9].clone()), ("a4 a5".to_owned(), (6, vec![4])));
}

#[test]
fn of_rounds_those_behind_the_end_are_left_out_and_the_last_in_part() {
    let rounds = |every: &str, stagger: &str| {
        let keys =
            format!("repeat = 4\nevery = \"{every}\"\nstagger = \"{stagger}\"\nsize = \"30 KB\"\nname = \"x\"\n");
        let plan = cut(&keys);
        let mut tables = plan.flow_tables.clone();
        tables.dedup();
        (tables.join(" "), plan.resolved.matches("[[flow]]").count(), plan.resolved)
    };
    // Rounds at 0, 3, 6 and 9 ms: three are whole.
    let (tables, count, resolved) = rounds("3 ms", "1 us");
    assert_eq!((tables.as_str(), count), ("x0..x23", 1));
    assert!(resolved.contains("repeat = 3"), "{resolved}");
    // Flows 0.5 ms apart: of the third round those at 6, 6.5, 7 and 7.5 ms.
    assert_eq!(rounds("3 ms", "500 us").0, "x0..x15 x16..x19");
    // Rounds that overlap: 7, 5, 4 and 2 flows, at 0, 2, 4 and 6 ms and every 1.2 ms.
    assert_eq!(rounds("2 ms", "1200 us").0, "x0..x6 x8..x12 x16..x19 x24..x25");
}

#[test]
fn of_starts_that_are_drawn_those_behind_the_end_are_left_out() {
    let drawn = "start = { uniform = { minimum = \"1 ms\", maximum = \"15 ms\" } }\nname = \"x\"\n";
    let plan = cut(drawn);
    assert!((1..8).contains(&plan.network.flows.len()), "{:?}", plan.flow_names);
    assert_eq!(plan.flow_tables, plan.flow_names, "each is a table with its own start");
    cut(&format!("{drawn}stagger = \"1 ms\"\nrepeat = 3\nevery = \"500 us\"\n").replace("15 ms", "10 ms"));
    // Where the latest start is within the run, nothing is drawn beforehand.
    let early = set(drawn, &[("duration", "16 ms")]).unwrap();
    assert!(early.resolved.contains("uniform") && early.notes.is_empty());
}

#[test]
fn a_path_for_several_flows_stays_a_mistake_in_a_run_that_is_cut_short() {
    let rest = "stagger = \"2 ms\"\npath = [\"h0\", \"sw0\", \"h8\"]\n";
    let error = set(rest, &[("duration", "2 ms")]).unwrap_err().to_string();
    assert!(error.contains("a path of 3 nodes for 8 flows"), "{error}");
}

const DRAWN: &str = "start = { uniform = { minimum = \"1 ms\", maximum = \"2 ms\" } }\n";

#[test]
fn starts_are_drawn_by_seed_and_name() {
    let starts = |plan: &Plan| plan.network.flows.iter().map(|f| f.start.0).collect::<Vec<_>>();
    let [first, second] = [1, 2].map(|seed| starts(&seeded(DRAWN, seed)));
    assert!(first.iter().chain(&second).all(|start| (MS..=2 * MS).contains(start)), "{first:?}");
    assert_ne!(first, second);
    assert_eq!(first, starts(&seeded(DRAWN, 1)));
    // Another table changes nothing, and stagger comes on top.
    let more = starts(&seeded(&format!("{DRAWN}[[flow]]\nfrom = \"h1\"\nto = \"h2\"\nname = \"g\"\n"), 1));
    assert_eq!(more[..8], first);
    let apart = starts(&seeded(&format!("{DRAWN}stagger = \"1 ms\"\n"), 1));
    let later: Vec<u64> = (0..8).map(|i| first[i as usize] + i * MS).collect();
    assert_eq!(apart, later);
    // All starts are as likely: their mean.
    let many = DRAWN.to_owned() + "repeat = 100\nevery = \"1 ps\"\n";
    let starts = starts(&seeded(&many, 1));
    let mean = starts.iter().sum::<u64>() as f64 / starts.len() as f64 / MS as f64;
    // 800 draws of deviation 0.29 ms; five standard errors.
    assert!((mean - 1.5).abs() < 0.051, "{mean}");
}

#[test]
fn starts_that_cannot_be_are_refused_for_every_seed() {
    for (start, message) in [
        ("{ uniform = { minimum = \"2 ms\", maximum = \"2 ms\" } }", "not above the minimum of 2 ms"),
        ("{ uniform = { minimum = \"2 ms\", maximum = \"20 ms\" } }", "would start at or after the end of the run"),
        ("{ normal = { mean = \"2 ms\" } }", "unknown key"),
        ("{ uniform = { minimum = \"2 ms\", maximum = \"4 ms\" } }\nstop = \"3 ms\"", "would stop before it starts"),
    ] {
        let error = refused(&format!("start = {start}\n"));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_node_sends_at_the_pace_of_its_own_clock() {
    let set = |tolerance: &str| set("", &[("network.clock_tolerance", tolerance)]).unwrap();
    let rates = |plan: &Plan| plan.network.ports.iter().map(|p| (p.node.0, p.rate.0)).collect::<Vec<_>>();
    assert!(rates(&set("0 ppm")).iter().all(|(_, rate)| *rate == 10_000_000_000));
    let plan = set("100 ppm");
    let drawn = rates(&plan);
    // 100 ppm of 10 Gb/s is 1 Mb/s.
    assert!(drawn.iter().all(|(_, rate)| rate.abs_diff(10_000_000_000) <= 1_000_000), "{drawn:?}");
    let of_node: std::collections::BTreeMap<u32, u64> = drawn.iter().copied().collect();
    assert!(drawn.iter().all(|(node, rate)| of_node[node] == *rate), "one clock a node: {drawn:?}");
    let different: std::collections::BTreeSet<u64> = of_node.values().copied().collect();
    assert_eq!(different.len(), 10, "{drawn:?}");
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    assert_ne!(rates(&seeded("[network]\nclock_tolerance = \"100 ppm\"\n", 2)), drawn);
    // A change sets the nominal rate.
    let change =
        "[network]\nclock_tolerance = \"100 ppm\"\n[[change]]\nlink = \"sw0->h8\"\nat = \"5 ms\"\nrate = \"1 Gbps\"\n";
    let changed = seeded(change, 1);
    let penstock_sim::network::PortEvent::Rate(rate) = changed.network.changes[0].event else { panic!("a rate") };
    let port = changed.network.changes[0].port;
    assert_eq!(rate.0, changed.network.ports[port.index()].rate.0.div_ceil(10));
    for (tolerance, message) in
        [("1 ms", "is a time, not a tolerance"), ("2000000 ppm", "above the maximum of 10000 ppm")]
    {
        let error = self::set("", &[("network.clock_tolerance", tolerance)]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// A table of finite flows from each of two hosts to a third, `flows` in all.
fn crowd(flows: u64, rest: &str) -> Plan {
    let star = "question = \"Q\"\nduration = \"20 ms\"\nscheme = \"none\"\n\
                [topology.star]\nhosts = 3\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\n";
    let table = |host: u8, repeat: u64| {
        format!(
            "[[flow]]\nfrom = \"h{host}\"\nto = \"h2\"\nsize = \"1500 octets\"\nrepeat = {repeat}\nevery = \"1 ps\"\n"
        )
    };
    let text = format!("{star}{rest}{}{}", table(0, flows / 2), table(1, flows - flows / 2));
    Scenario::parse(&text, "x.toml", "x").unwrap().plan(&Choice::default()).unwrap()
}

/// The notes about records.
fn notes_of(plan: &Plan) -> Vec<&str> {
    plan.notes.iter().map(String::as_str).filter(|note| note.contains("time series")).collect()
}

/// One queue, and more flows than are sampled.
#[test]
fn a_large_network_has_fewer_samples_by_default_and_a_note_says_so() {
    let samples = |plan: &Plan| plan.duration.0 / plan.record.interval.0;
    let few = crowd(3999, "[record]\nmost_flows = 5000\n");
    assert_eq!((few.record.queues.len(), samples(&few), notes_of(&few).len()), (1, 1000, 0));
    // 4 000 000 / 5000
    let many = crowd(4999, "[record]\nmost_flows = 5000\n");
    assert_eq!(samples(&many), 800);
    let note = "time series have 800 samples, one every 25 us, since 5000 queues and flows are looked at; \
                record.interval sets another interval";
    assert_eq!(notes_of(&many), [note]);
    // Settling times take fifty samples.
    assert_eq!(samples(&crowd(99_998, "")), 100);
    // An interval that is set is kept.
    let set = crowd(4999, "[record]\nmost_flows = 5000\ninterval = \"20 us\"\n");
    assert_eq!((samples(&set), notes_of(&set).len()), (1000, 0));
}

#[test]
fn of_many_flows_some_have_time_series_and_a_note_says_so() {
    let plan = crowd(1999, "");
    assert_eq!((plan.record.flows.of, plan.record.flows.count()), (1999, 1000));
    let note = "of 1999 flows 1000 have time series, evenly spread over their list; record.most_flows sets another \
                number, and the summary has all flows";
    assert_eq!(notes_of(&plan), [note]);
    assert!(notes_of(&crowd(1000, "")).is_empty());
    assert_eq!(crowd(1999, "[record]\nmost_flows = 7\n").record.flows.count(), 7);
}

/// Storms, impairments and jobs of the file that begin after the new end are left out, too.
#[test]
fn a_run_that_is_cut_short_leaves_later_storms_impairments_and_jobs_out() {
    let rest = "[pfc]\n\
                [[event]]\nkind = \"pfc-storm\"\nhost = \"h0\"\nfrom = \"9 ms\"\n\
                [[impairment]]\nloss = 0.1\nfrom = \"10 ms\"\n\
                [[flow]]\nfrom = \"h1\"\nto = \"h2\"\n\
                [[collective]]\nkind = \"barrier\"\nsize = \"1 B\"\nstart = \"8 ms\"\n";
    let plan = set(rest, &[("duration", "8 ms")]).unwrap();
    assert!(plan.network.impairments.is_empty() && plan.generated.jobs().next().is_none());
    for what in ["an event is", "an impairment is", "a job is"] {
        let note = format!("{what} left out: the duration was set, and the run ends at 8 ms");
        assert!(plan.notes.contains(&note), "{:?}", plan.notes);
    }
    let again = Scenario::parse(&plan.resolved, "resolved.toml", "x").unwrap().plan(&Choice::default()).unwrap();
    assert_eq!(again.resolved, plan.resolved);
}
