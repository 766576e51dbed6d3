//! Bursts: senders, sizes, times and amount, by hand; and mistakes that are refused. Their statistics are found again by
//! `tools/burst_statistics.py`, in `python/tests/test_burst_statistics.py`.

use std::collections::{BTreeMap, BTreeSet};

use penstock_scenario::{Choice, GeneratedFlow, Plan, Scenario};

/// Two racks of four hosts at 10 Gb/s.
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
[[burst]]
"#;

fn outcome(keys: &str, seed: Option<u64>) -> Result<Plan, String> {
    let choice = Choice { seed, ..Choice::default() };
    Scenario::parse(&format!("{FABRIC}{keys}"), "x.toml", "x").and_then(|s| s.plan(&choice)).map_err(|e| e.to_string())
}

fn flows(keys: &str) -> Vec<GeneratedFlow> {
    outcome(keys, None).unwrap_or_else(|e| panic!("{keys}: {e}")).generated.flows().collect()
}

/// The flows by start and receiver: each burst, if senders begin at once.
fn bursts(flows: &[GeneratedFlow]) -> BTreeMap<(u64, usize), Vec<&GeneratedFlow>> {
    let mut bursts = BTreeMap::<_, Vec<_>>::new();
    flows.iter().for_each(|flow| bursts.entry((flow.start.0, flow.destination)).or_default().push(flow));
    bursts
}

/// 10 007 octets from four senders: 2501 octets three times out of 10 007 - 4 * 2501 = 3, so 2502, 2502, 2502, 2501.
#[test]
fn a_burst_is_shared_among_different_senders() {
    let flows = flows("to = [\"h0\", \"h5\"]\ndegree = 4\nsize = \"10007 octets\"\nevery = \"1 ms\"\n");
    let bursts = bursts(&flows);
    // Two receivers for 200 ms, one a millisecond each: 400 bursts, with a deviation of 20.
    assert!((300..500).contains(&bursts.len()), "{}", bursts.len());
    for ((_, to), flows) in &bursts {
        let mut sizes: Vec<u64> = flows.iter().map(|flow| flow.size.0).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [2501, 2502, 2502, 2502]);
        let from: BTreeSet<usize> = flows.iter().map(|flow| flow.source).collect();
        assert!(from.len() == 4 && !from.contains(to), "{from:?} to {to}");
    }
    assert_eq!(bursts.keys().map(|(_, to)| to).collect::<BTreeSet<_>>().len(), 2);
    assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
}

/// Three octets cannot come from four senders.
#[test]
fn a_burst_has_no_more_senders_than_octets() {
    let flows = flows("degree = 4\nsize = \"3 octets\"\nevery = \"10 ms\"\n");
    assert!(flows.iter().all(|flow| flow.size.0 == 1));
    assert!(bursts(&flows).values().all(|burst| burst.len() == 3));
}

/// 2 ms at 10 Gb/s are 2.5 MB. At a load of 0.4, 8 hosts receive 2 GB * 0.4 = 800 MB in 200 ms: 320 bursts, and a deviation of 18.
#[test]
fn a_duration_is_a_size_at_line_rate() {
    let flows = flows("degree = 5\nduration = \"2 ms\"\nload = 0.4\n");
    let bursts = bursts(&flows);
    assert!(bursts.values().all(|burst| burst.iter().map(|flow| flow.size.0).sum::<u64>() == 2_500_000));
    assert!((250..390).contains(&bursts.len()), "{}", bursts.len());
}

/// A receiver and all three beside it, or it alone; at any correlation the load is the same.
#[test]
fn correlated_bursts_begin_together_in_a_rack_and_keep_the_load() {
    for (correlation, together) in [(1.0, 4), (0.0, 1)] {
        let keys = format!(
            "degree = {{ minimum = 2, maximum = 4 }}\nsize = \"100 KB\"\nload = 0.5\ncorrelation = {correlation:?}\n"
        );
        let flows = flows(&keys);
        let mut receivers = BTreeMap::<u64, BTreeSet<usize>>::new();
        flows.iter().for_each(|flow| {
            receivers.entry(flow.start.0).or_default().insert(flow.destination);
        });
        assert!(receivers.values().all(|at| at.len() == together), "{correlation}");
        // 10 000 bursts in groups of one or four: a deviation of 1 % or 2 % of 1 GB.
        let octets: u64 = flows.iter().map(|flow| flow.size.0).sum();
        assert!((octets as f64 / 1e9 - 1.0).abs() < 0.08, "{correlation}: {octets}");
    }
}

#[test]
fn senders_begin_within_the_spread_and_the_run() {
    let at_once = flows("to = \"h0\"\ndegree = 7\nsize = \"7 KB\"\nevery = \"20 ms\"\n");
    let spread = flows("to = \"h0\"\ndegree = 7\nsize = \"7 KB\"\nevery = \"20 ms\"\nspread = \"50 us\"\n");
    // Bursts are 20 ms apart: each has its seven in a row, later by less than 50 us = 50 000 000 ps.
    let begins: BTreeSet<u64> = at_once.iter().map(|flow| flow.start.0).collect();
    assert_eq!(spread.len(), at_once.len());
    for (at, seven) in begins.iter().zip(spread.chunks(7)) {
        assert!(seven.iter().all(|flow| (*at..at + 50_000_000).contains(&flow.start.0)), "{at}");
        assert!(seven.iter().map(|flow| flow.start.0).collect::<BTreeSet<_>>().len() > 1);
    }
    let late = flows("degree = 7\nsize = \"7 KB\"\nevery = \"20 ms\"\nspread = \"1 s\"\n");
    assert!(late.iter().all(|flow| flow.start.0 < 200_000_000_000), "no flow begins after the end of the run");
    let ended = flows("degree = 2\nsize = \"7 KB\"\nevery = \"1 ms\"\nstart = \"50 ms\"\nend = \"60 ms\"\n");
    assert!(ended.iter().all(|flow| (50_000_000_000..60_000_000_000).contains(&flow.start.0)) && !ended.is_empty());
}

/// Each dimension has its own random numbers: other sizes, spreads and degrees change no time and no receiver.
#[test]
fn dimensions_do_not_disturb_each_other() {
    let clusters = "every = \"1 ms\"\ncluster = 4.0\ngap = \"100 us\"\ncorrelation = 0.3\n";
    let begins = |keys: &str| {
        let flows = flows(&format!("{clusters}{keys}"));
        flows.iter().map(|flow| (flow.start.0, flow.destination)).collect::<BTreeSet<_>>()
    };
    let plain = begins("degree = 1\nsize = \"1 KB\"\n");
    assert_eq!(plain, begins("degree = { minimum = 1, maximum = 6 }\nsize = { exponential = { mean = \"9 KB\" } }\n"));
}

#[test]
fn the_resolved_scenario_makes_the_same_flows() {
    let keys = "degree = 3\nsize = { workload = \"hadoop\" }\nload = 0.1\ncluster = 3.0\ngap = \"200 us\"\nspread = \"9 us\"\ntransport = \"tcp\"\n";
    let plan = outcome(keys, None).unwrap_or_else(|e| panic!("{e}"));
    let again = Scenario::parse(&plan.resolved, "x.toml", "x").and_then(|s| s.plan(&Choice::default()));
    let again = again.unwrap_or_else(|e| panic!("{e}\n{}", plan.resolved));
    assert_eq!(again.resolved, plan.resolved);
    assert!(
        again.generated.flows().eq(plan.generated.flows()) && again.generated.arrivals().eq(plan.generated.arrivals())
    );
    let of = |seed, own: &str| {
        let plan = outcome(&format!("{keys}{own}"), Some(seed)).unwrap_or_else(|e| panic!("{e}"));
        plan.generated.flows().map(|flow| (flow.start, flow.size)).collect::<Vec<_>>()
    };
    assert!(of(1, "") != of(2, "") && of(1, "seed = 7\n") == of(2, "seed = 7\n"));
}

#[test]
fn each_mistake_is_named_with_its_location() {
    let burst = "degree = 3\nsize = \"1 KB\"\n";
    for (keys, expected) in [
        ("size = \"1 KB\"\nevery = \"1 ms\"\n", "burst.0.degree: missing"),
        ("degree = 0\nsize = \"1 KB\"\nevery = \"1 ms\"\n", "burst.0.degree: "),
        (
            "degree = 8\nsize = \"1 KB\"\nevery = \"1 ms\"\n",
            "8 senders to one host, and there are 7 others (at most 7)",
        ),
        ("degree = 4\nhosts = \"h0..h3\"\nsize = \"1 KB\"\nevery = \"1 ms\"\n", "there are 3 others"),
        (
            "degree = { minimum = 4, maximum = 3 }\nsize = \"1 KB\"\nevery = \"1 ms\"\n",
            "burst.0.degree.maximum: not above the minimum of 4",
        ),
        ("degree = 3\nsize = \"0 B\"\nevery = \"1 ms\"\n", "burst.0.size: \"0 B\" is zero"),
        ("degree = 3\nevery = \"1 ms\"\n", "burst.0.size: missing (or write a duration)"),
        (
            "degree = 3\nevery = \"1 ms\"\nsize = { lognormal = { median = \"1 KB\", sigma = 0 } }\n",
            "burst.0.size.lognormal.sigma: expected a number from 0.001 to 10",
        ),
        (
            "degree = 3\nevery = \"1 ms\"\nsize = { lognormal = { median = \"1 KB\", sigma = 1, minimum = \"2 KB\" } }\n",
            "burst.0.size.lognormal.median: not between the bounds of 2 KB and",
        ),
        (
            "degree = 3\nevery = \"1 ms\"\n\
             size = { lognormal = { median = \"1 KB\", sigma = 1, minimum = \"2 KB\", maximum = \"1 KB\" } }\n",
            "burst.0.size.lognormal.maximum: not above the minimum of 2 KB",
        ),
        (
            "degree = 3\nevery = \"1 ms\"\nsize = \"1 KB\"\nduration = \"1 ms\"\n",
            "burst.0.duration: given beside size (leave out one of the two)",
        ),
        ("degree = 3\nevery = \"1 ms\"\nduration = \"0 s\"\n", "burst.0.duration: "),
        (
            "degree = 3\nevery = \"1 ms\"\nduration = \"1 ps\"\n",
            "burst.0.duration: 0 octets at the line rate of h0 (from 1 octet",
        ),
        (burst, "burst.0.load: missing (or write every)"),
        (
            &format!("{burst}load = 0.1\nevery = \"1 ms\"\n"),
            "burst.0.every: given beside load (leave out one of the two)",
        ),
        (
            &format!("{burst}every = \"1 ns\"\n"),
            "burst.0.every: bursts would begin less than 1 ns apart in the mean, those at all receivers together",
        ),
        (&format!("{burst}load = 1.1\n"), "burst.0.load: expected a number from 0.000001 to 1"),
        (
            &format!("{burst}load = 0.9\n"),
            "flows of loads, incasts and bursts, and connections of jobs; 2000000 are the most (fewer bursts, fewer senders",
        ),
        (
            &format!("{burst}every = \"1 ms\"\ncorrelation = 1.5\n"),
            "burst.0.correlation: expected a number from 0 to 1",
        ),
        (
            &format!("{burst}every = \"1 ms\"\ncorrelation = 0.5\nto = \"h0\"\n"),
            "no two receivers are at the same switch",
        ),
        (&format!("{burst}every = \"1 ms\"\ncluster = 0.5\n"), "burst.0.cluster: expected a number from 1 to 100000"),
        (&format!("{burst}every = \"1 ms\"\ncluster = 2.0\n"), "burst.0.gap: missing: bursts come in clusters"),
        (
            &format!("{burst}every = \"1 ms\"\ngap = \"1 us\"\n"),
            "burst.0.gap: applies to clusters of more than one burst",
        ),
        (&format!("{burst}every = \"1 ms\"\nto = \"h9\"\n"), "burst.0.to: there is no host \"h9\""),
        (&format!("{burst}every = \"1 ms\"\nto = []\n"), "burst.0.to"),
        (&format!("{burst}every = \"1 ms\"\nstart = \"5 ms\"\nend = \"5 ms\"\n"), "burst.0.end: no flow would begin"),
    ] {
        let message = outcome(keys, None).expect_err(keys);
        assert!(message.contains(expected), "{keys}\n{message}\n{expected}");
    }
}
