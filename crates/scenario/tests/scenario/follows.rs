//! Parameters whose value follows from the network: round trips of the word "auto", thresholds in proportion to a port's line.

use crate::common::plan_or_message;
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::Value;

/// Four leaves with two hosts each: 10 Gb/s to a host, 40 Gb/s above, 1 us a link.
fn planned(scheme: &str, settings: &str, traffic: &str) -> Result<Plan, String> {
    let text = format!(
        "question = \"?\"\nduration = \"1 ms\"\nscheme = \"{scheme}\"\n[schemes.{scheme}]\n{settings}\n[topology.leaf-spine]\nleaves = 4\n\
         spines = 2\nhosts_per_leaf = 2\nhost_rate = \"10 Gbps\"\nfabric_rate = \"40 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"2 MB\"\n{traffic}"
    );
    plan_or_message(&text)
}

fn flow(from: &str, to: &str) -> String {
    format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nframe = \"1000 octets\"\n")
}

fn value(plan: &Plan, name: &str) -> String {
    let own = &plan.schemes[0];
    let at = own.config.info().parameters.iter().position(|parameter| parameter.name == name).expect("a parameter");
    own.values[at].to_string()
}

/// Frames of 1000 octets and 42 of telemetry, acknowledgements of 64 and 42. Below one leaf: 2 x (833.6 + 84.8) ns and 4 us. From leaf to leaf:
/// 2 x (833.6 + 84.8) ns at 10 Gb/s, 2 x (208.4 + 21.2) ns at 40 Gb/s, and 8 us.
#[test]
fn auto_is_the_longest_round_trip_of_the_flows_under_the_scheme() {
    let (near, far) = (flow("h0", "h1"), flow("h0", "h7"));
    let auto = "base_rtt = \"auto\"";
    for (traffic, wanted) in
        [(near.clone(), "5836800 ps"), (far.clone(), "10296 ns"), (format!("{near}{far}"), "10296 ns")]
    {
        assert_eq!(value(&planned("hpcc", auto, &traffic).unwrap(), "base_rtt"), wanted, "{traffic}");
    }
    let free = far.replace("[[flow]]", "[[flow]]\ncontrolled = false");
    assert_eq!(value(&planned("hpcc", auto, &format!("{near}{free}")).unwrap(), "base_rtt"), "5836800 ps");
    assert_eq!(value(&planned("hpcc", "", &far).unwrap(), "base_rtt"), "13 us", "without the word, the default");
}

/// Flows that a load makes count too, here from leaf to leaf alone.
#[test]
fn auto_counts_the_flows_of_loads() {
    let load = "[[load]]\nhosts = [\"h0\", \"h7\"]\nload = 0.5\nsize = \"10 KB\"\nframe = \"1000 octets\"\n";
    for traffic in [load.to_owned(), format!("{}{load}", flow("h0", "h1"))] {
        assert_eq!(value(&planned("hpcc", "base_rtt = \"auto\"", &traffic).unwrap(), "base_rtt"), "10296 ns");
    }
}

/// Frames of 1000 octets without telemetry, acknowledgements of 64: 2 x (800 + 51.2) + 2 x (200 + 12.8) ns and 8 us.
#[test]
fn every_scheme_with_a_round_trip_takes_the_word() {
    for (scheme, name) in
        [("nscc", "network_rtt"), ("timely", "d_min"), ("timely", "window_time"), ("dctcp", "base_rtt")]
    {
        let plan = planned(scheme, &format!("{name} = \"auto\""), &flow("h0", "h7")).unwrap();
        assert_eq!(value(&plan, name), "10128 ns", "{scheme}");
    }
}

#[test]
fn a_change_takes_the_word_too() {
    let change = "[[change]]\nat = \"100 us\"\nschemes.hpcc.base_rtt = \"auto\"\n";
    let plan = planned("hpcc", "", &format!("{}{change}", flow("h0", "h7"))).unwrap();
    assert!(plan.parameter_changes[0].values.contains(&Value::Time(penstock_schemes::Duration(10_296_000))));
}

#[test]
fn a_wrong_word_and_a_round_trip_beyond_the_range_are_refused() {
    let error = |settings: &str, traffic: &str| planned("hpcc", settings, traffic).unwrap_err();
    let word = error("base_rtt = \"atuo\"", &flow("h0", "h1"));
    assert!(word.contains("x.toml:5: schemes.hpcc.base_rtt") && word.contains("auto"), "{word}");
    let eta = error("eta = \"auto\"", &flow("h0", "h1"));
    assert!(eta.contains("schemes.hpcc.eta"), "{eta}");
    let none = error("base_rtt = \"auto\"", &flow("h0", "h1").replace("[[flow]]", "[[flow]]\ncontrolled = false"));
    assert!(none.contains("x.toml:5: schemes.hpcc.base_rtt: no flow of priority 0 is under hpcc"), "{none}");
}

/// 200 KB given for 10 Gb/s are 800 KB at a port of 40: a queue of 600 KB has no such length, one of 2 MB has.
#[test]
fn a_threshold_in_proportion_is_held_to_the_queue_of_its_port() {
    let given = "k = \"200 KB\"\nthresholds_at = \"10 Gbps\"";
    assert!(planned("dctcp", given, &flow("h0", "h7")).is_ok());
    let small = |settings: &str| {
        let text = format!(
            "question = \"?\"\nduration = \"1 ms\"\nscheme = \"dctcp\"\n[schemes.dctcp]\n{settings}\n[topology.leaf-spine]\nleaves = 2\n\
             spines = 1\nhosts_per_leaf = 1\nhost_rate = \"10 Gbps\"\nfabric_rate = \"40 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"600 KB\"\n{}",
            flow("h0", "h1")
        );
        let plan = Scenario::parse(&text, "x.toml", "x").and_then(|scenario| scenario.plan(&Choice::default()));
        plan.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(small("k = \"200 KB\""), Ok(()));
    let error = small(given).unwrap_err();
    assert!(error.contains("schemes.dctcp.k: 800 KB is beyond the buffer of 600 KB"), "{error}");
}
