//! Traffic classes and WRED: from `[[priority]]` and `[[wred]]` to the network, and mistakes that are refused.

use crate::common::{plan, plan_or_message};
use penstock_schemes::{BitRate, Octets};
use penstock_sim::network::{EarlyDrops, Service, Shaper, Wred};

const GOOD: &str = r#"question = "?"
duration = "1 ms"
scheme = "none"
[[priority]]
priority = 3
weight = 60
scheme = "dcqcn"
dscp = [26, 27]
[[priority]]
priority = 1
weight = 30
max_rate = "40 Gbps"
pcp = 7
[[priority]]
priority = 6
[[wred]]
priorities = [3]
min = "5 us"
max = "20 us"
probability = 0.05
[[wred]]
priorities = [1]
ports = ["sw0->h2"]
min = "100 KB"
max = "400 KB"
ecn = false
[topology.graph]
hosts = "h0..h2"
switches = "sw0"
buffer = "10 MB"
[[topology.graph.link]]
ends = ["h0", "sw0"]
rate = "100 Gbps"
[[topology.graph.link]]
ends = ["h1", "sw0"]
rate = "25 Gbps"
[[topology.graph.link]]
ends = ["h2", "sw0"]
rate = "100 Gbps"
[[flow]]
from = "h0"
to = "h2"
priority = 3
[[flow]]
from = "h1"
to = "h2"
priority = 1
"#;

/// Port, priority, octets of the thresholds, probability times 2^32, and what is dropped.
fn queue(plan: &penstock_scenario::Plan, wred: &Wred) -> (String, u8, u64, u64, u64, EarlyDrops) {
    let Wred { port, priority, ramp, drops } = *wred;
    (plan.port_names[port.index()].clone(), priority, ramp.k_min, ramp.k_max, ramp.p_max, drops)
}

#[test]
fn classes_have_their_service_and_code_points() {
    let plan = plan(GOOD);
    let shaper = Shaper { rate: BitRate::from_gbps(40), burst: Octets(8000) };
    let service = [Service { weight: Some(30), shaper: Some(shaper) }, Service { weight: Some(60), shaper: None }];
    assert_eq!(plan.network.service, service);
    let points = plan.code_points.map(|points| (points.pcp, points.dscp));
    assert_eq!(points, [(0, 0), (7, 8), (2, 16), (3, 26), (4, 32), (5, 40), (6, 48), (7, 56)]);
    let idle = "no flow has priority 6: its [[priority]] changes nothing";
    assert!(plan.notes.iter().any(|note| note == idle), "{:?}", plan.notes);
}

/// 5 us at 100 Gb/s are 62.5 KB, at 25 Gb/s 15.625 KB. DCQCN marks, so that nothing is dropped there.
#[test]
fn times_become_octets_at_the_rate_of_each_port() {
    let plan = plan(GOOD);
    let p_max = 214_748_364;
    let found: Vec<_> = plan.network.wred.iter().map(|wred| queue(&plan, wred)).collect();
    let expected = [
        ("sw0->h1", 3, 15_625, 62_500, p_max, EarlyDrops::None),
        ("sw0->h0", 3, 62_500, 250_000, p_max, EarlyDrops::None),
        ("sw0->h2", 3, 62_500, 250_000, p_max, EarlyDrops::None),
        ("sw0->h2", 1, 100_000, 400_000, 1 << 32, EarlyDrops::All),
    ];
    assert_eq!(found, expected.map(|(name, a, b, c, d, e)| (name.to_owned(), a, b, c, d, e)));
    for text in [
        "ports = [\"sw0->h1\"]\nmin = \"15625 octets\"\nmax = \"62500 octets\"\nprobability = 0.05",
        "ports = [\"sw0->h0\", \"sw0->h2\"]\nmin = \"62500 octets\"\nmax = \"250 KB\"\nprobability = 0.05",
    ] {
        assert!(plan.resolved.contains(text), "{}", plan.resolved);
    }
    let again = crate::common::plan(&plan.resolved);
    assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    assert_eq!(again.resolved, plan.resolved);
}

#[test]
fn without_classes_all_is_strict() {
    let text = "question = \"?\"\nduration = \"1 ms\"\nscheme = \"none\"\n[[priority]]\npriority = 0\nscheme = \"qcn\"\n[topology.star]\nhosts = 3\nlink_rate = \"10 Gbps\"\nbuffer = \"150 KB\"\n[[flow]]\nfrom = \"h0\"\nto = \"h2\"\n";
    let plan = plan(text);
    assert!(plan.network.service.is_empty() && !plan.network.needs_flow_control());
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (old, new, expected) in [
        (
            "weight = 60",
            "weight = 0",
            "x.toml:6: priority.0.weight: expected a whole number from 1 to 1000, found the number 0",
        ),
        ("weight = 60", "weight = 1001", "priority.0.weight: expected a whole number from 1 to 1000"),
        ("weight = 60", "weight = 0.6", "priority.0.weight: expected a whole number from 1 to 1000"),
        (
            "priority = 1\nweight",
            "priority = 3\nweight",
            "x.toml:10: priority.1.priority: priority 3 has a table already (one [[priority]] for each priority)",
        ),
        ("max_rate = \"40 Gbps\"", "max_rate = \"0 Gbps\"", "priority.1.max_rate: \"0 Gbps\" is zero"),
        ("max_rate = \"40 Gbps\"", "max_rate = 40", "priority.1.max_rate: the number 40 has no unit"),
        (
            "max_rate = \"40 Gbps\"",
            "burst = \"9 KB\"",
            "x.toml:12: priority.1.burst: a burst is the depth of a shaper's bucket, and there is no shaper (give its rate: max_rate = \"10 Gbps\")",
        ),
        (
            "max_rate = \"40 Gbps\"",
            "max_rate = \"1 bps\"\nburst = \"1 GB\"",
            "x.toml:12: priority.1.max_rate: at 1 bps a bucket of 1 GB takes longer to fill than any run",
        ),
        ("dscp = [26, 27]", "dscp = [26, 26]", "x.toml:8: priority.0.dscp: 26 is listed twice"),
        ("dscp = [26, 27]", "dscp = [64]", "expected a whole number from 0 to 63, found the number 64"),
        ("dscp = [26, 27]", "dscp = []", "priority.0.dscp: an empty list"),
        ("pcp = 7", "pcp = 8", "priority.1.pcp: expected a whole number from 0 to 7"),
        (
            "pcp = 7",
            "dscp = [5, 27]",
            "x.toml:13: priority.1.dscp: DSCP 27 is that of priority 3 already (each code point maps to one priority)",
        ),
        (
            "priority = 6\n",
            "priority = 6\npcp = 7\n",
            "x.toml:16: priority.2.pcp: PCP 7 is that of priority 1 already (each code point maps to one priority)",
        ),
        (
            "priority = 6\n",
            "priority = 6\nprofile = \"pan-10g\"\n",
            "x.toml:16: priority.2.profile: a profile is that of a scheme (name the scheme of this priority, too",
        ),
        ("min = \"5 us\"", "min = \"0 us\"", "wred.0.min: \"0 us\" is zero"),
        ("min = \"5 us\"", "min = \"0 KB\"", "wred.0.min: \"0 KB\" is zero"),
        ("min = \"5 us\"", "min = \"5 Gbps\"", "x.toml:18: wred.0.min: \"5 Gbps\" is a rate, not a size"),
        ("min = \"5 us\"", "min = 5", "x.toml:18: wred.0.min: the number 5 has no unit"),
        ("min = \"5 us\"\n", "", "wred.0.min: missing"),
        (
            "min = \"5 us\"",
            "min = \"70 KB\"",
            "x.toml:19: wred.0.max: the maximum threshold, 62500 octets, is below the minimum, 70 KB (at least 70 KB)",
        ),
        (
            "max = \"20 us\"",
            "max = \"10 s\"",
            "wred.0.max: at a port of 25 Gbps that is 31250 MB, more than a queue can hold",
        ),
        (
            "probability = 0.05",
            "probability = 5",
            "wred.0.probability: expected a number from 0 to 1, found the number 5",
        ),
        (
            "probability = 0.05",
            "ecn = false",
            "x.toml:20: wred.0.ecn: without ecn frames are dropped, and dcqcn needs marks in priority 3",
        ),
        ("[\"sw0->h2\"]", "[\"sw0->h9\"]", "x.toml:23: wred.1.ports: there is no port \"sw0->h9\""),
        (
            "[\"sw0->h2\"]",
            "[\"h0->sw0\"]",
            "wred.1.ports: the port \"h0->sw0\" is that of a host, and WRED is for switches",
        ),
        ("[\"sw0->h2\"]", "[\"sw0->h2\", \"sw0->h2\"]", "wred.1.ports: the port \"sw0->h2\" is listed twice"),
        (
            "priorities = [1]",
            "priorities = [3, 1]",
            "wred.1.ecn: without ecn frames are dropped, and dcqcn needs marks in priority 3",
        ),
        ("priorities = [1]\nports", "priorities = [3]\nports", "wred.1.ecn: without ecn"),
        (
            "min = \"100 KB\"\nmax = \"400 KB\"\necn = false",
            "min = \"100 KB\"\nmax = \"400 KB\"\n[[wred]]\nmin = \"1 KB\"\nmax = \"1 KB\"",
            "wred.2.ports: priority 1 of sw0->h2 has a [[wred]] already (list other ports or other priorities)",
        ),
        (
            "[topology.graph]",
            "[schemes.dcqcn]\nmarking = \"pi\"\n[topology.graph]",
            "x.toml:17: wred.0.priorities: dcqcn marks by a controller (marking = \"pi\") in priority 3, which has no thresholds",
        ),
        (
            "[topology.graph]",
            "[pfc]\npriorities = [1]\n[topology.graph]",
            "wred.1.ecn: without ecn frames are dropped, and priority 1 is lossless",
        ),
    ] {
        assert!(GOOD.contains(old), "{old}");
        let message = plan_or_message(&GOOD.replacen(old, new, 1)).expect_err(new);
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
    }
}

/// 93 ps are less than an octet at any rate here: the threshold is one octet, and the resolved scenario is legal.
#[test]
fn a_threshold_in_time_is_an_octet_at_the_least() {
    let text = GOOD.replace("min = \"5 us\"", "min = \"93 ps\"");
    let resolved = plan(&text).resolved;
    assert!(resolved.contains("min = \"1 octets\""), "{resolved}");
    assert_eq!(plan(&resolved).resolved, resolved);
}
