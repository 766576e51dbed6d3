//! Parameters whose value follows from the network: the word "auto", and what follows the rate of a port's line; names that vendors have for
//! parameters.

use crate::common::plan_or_message;
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Instant, Octets, Value};
use penstock_sim::network::OwnLine;
use penstock_sim::{Lean, NoProbe, Sim};

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

/// What a line sends in the same round trip, each at its own rate: 10128 ns of 40 Gb/s, and of 10 Gb/s.
#[test]
fn a_size_that_is_auto_is_what_each_line_sends_in_a_round_trip() {
    let plan =
        planned("homa", "rtt_octets = \"auto\"", &flow("h0", "h7").replace("flow]]\n", "flow]]\npriority = 3\n"))
            .unwrap();
    assert_eq!(value(&plan, "rtt_octets"), "50640 octets");
    let (at, own) = (&plan.schemes[0].lines[0], &plan.schemes[0]);
    let place = own.config.info().parameters.iter().position(|parameter| parameter.name == "rtt_octets").unwrap();
    assert_eq!((at.line, at.values[place].to_string()), (BitRate(10_000_000_000), "12660 octets".to_owned()));
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

/// The value of a parameter at lines of `gbps`.
fn at_line(plan: &Plan, name: &str, gbps: u64) -> String {
    let own = &plan.schemes[0];
    let at = own.config.info().parameters.iter().position(|parameter| parameter.name == name).expect("a parameter");
    own.values_at(BitRate::from_gbps(gbps))[at].to_string()
}

/// 80 us of 10 Gb/s are 100 000 octets, of 40 Gb/s 400 000; 10 KB for each Gb/s are the same, written by another rule.
#[test]
fn a_size_by_time_or_for_each_gbps_follows_each_port() {
    let plans = ["k = \"80 us\"", "k = \"10 KB per Gbps\"", "k = \"10 KB per Gb/s\""]
        .map(|settings| planned("dctcp", settings, &flow("h0", "h7")).unwrap());
    for plan in &plans {
        assert_eq!((at_line(plan, "k", 10), at_line(plan, "k", 40)), ("100 KB".into(), "400 KB".into()));
        assert_eq!(value(plan, "k"), "400 KB", "the fastest line with a congestion point");
        assert_eq!(plan.network.own_lines, [OwnLine { priority: 0, line: BitRate::from_gbps(10) }]);
        assert_eq!(plan.configs().len(), 2);
        let note = "dctcp: values follow the line of each port: k is 400 KB at 40 Gbps, 100 KB at 10 Gbps";
        assert!(plan.notes.iter().any(|own| own == note), "{:?}", plan.notes);
        assert!(plan.resolved.contains("k = \"80 us\""), "{}", plan.resolved);
        let again = plan_or_message(&plan.resolved).unwrap();
        assert_eq!(format!("{again:?}"), format!("{plan:?}"));
    }
    let fixed = planned("dctcp", "k = \"100 KB\"", &flow("h0", "h7")).unwrap();
    assert_eq!((fixed.configs().len(), fixed.network.own_lines.len()), (1, 0));
}

/// 1 Mb/s for each Gb/s.
#[test]
fn a_rate_follows_each_source() {
    let plan = planned("dcqcn", "r_ai = \"1 Mbps per Gbps\"", &flow("h0", "h7")).unwrap();
    assert_eq!((at_line(&plan, "r_ai", 10), at_line(&plan, "r_ai", 40)), ("10 Mbps".into(), "40 Mbps".into()));
    assert!(plan.resolved.contains("r_ai = \"1 Mbps per Gbps\""));
    assert_eq!(format!("{:?}", plan_or_message(&plan.resolved).unwrap()), format!("{plan:?}"));
}

/// Where thresholds are given for one rate already, those by time are brought there first: the ports have the same.
#[test]
fn a_threshold_by_time_agrees_with_thresholds_at() {
    let given = "k = \"80 us\"\nthresholds_at = \"10 Gbps\"";
    let plan = planned("dctcp", given, &flow("h0", "h7")).unwrap();
    assert_eq!((at_line(&plan, "k", 10), at_line(&plan, "k", 40)), ("100 KB".into(), "100 KB".into()));
}

/// A change may bring in values that follow a line: 40 us of 10 and 40 Gb/s.
#[test]
fn a_change_follows_each_port_too() {
    let change = "[[change]]\nat = \"100 us\"\nschemes.dctcp.k = \"40 us\"\n";
    let plan = planned("dctcp", "", &format!("{}{change}", flow("h0", "h7"))).unwrap();
    assert_eq!((at_line(&plan, "k", 10), at_line(&plan, "k", 40)), ("97500 octets".into(), "97500 octets".into()));
    let lengths: Vec<_> =
        plan.settings().iter().map(|setting| (setting.line.map(|line| line.0), setting.at.0)).collect();
    assert_eq!(lengths, [(None, 100_000_000), (Some(10_000_000_000), 100_000_000)]);
    for (gbps, octets) in [(10, 50_000), (40, 200_000)] {
        let values = plan.parameter_changes[0].values_at(BitRate::from_gbps(gbps));
        assert!(values.contains(&Value::Octets(Octets(octets))), "{gbps}");
    }
}

/// 10.128 us of 10 Gb/s are 12 660 octets: 9 segments of 1500. Of 40 Gb/s 50 640: 34.
#[test]
fn auto_is_a_window_of_one_bandwidth_delay_product() {
    for (scheme, name, near, far) in [("dctcp", "initial_window", "9", "34"), ("swift", "initial_fcwnd", "9.0", "34.0")]
    {
        let plan = planned(scheme, &format!("{name} = \"auto\""), &flow("h0", "h7")).unwrap();
        assert_eq!((at_line(&plan, name, 10), at_line(&plan, name, 40)), (near.into(), far.into()), "{scheme}");
    }
    let target = planned("swift", "base_delay_target = \"auto\"", &flow("h0", "h7")).unwrap();
    assert_eq!(value(&target, "base_delay_target"), "10128 ns");
    let word = planned("dctcp", "initial_window = \"atuo\"", &flow("h0", "h7")).unwrap_err();
    assert!(word.contains("x.toml:5: schemes.dctcp.initial_window"), "{word}");
}

/// NVIDIA's names, with its numbers: 1019 of 1024 leave 5/1024, of which the inverse is 205.
#[test]
fn every_name_of_a_vendor_sets_its_parameter() {
    let given = [
        ("min_time_between_cnps = 4", "cnp_interval", "4 us"),
        ("dce_tcp_g = 1019", "g_inverse", "205"),
        ("initial_alpha_value = 512", "alpha0", "0.5"),
        ("dce_tcp_rtt = 1", "alpha_time", "1 us"),
        ("rate_reduce_monitor_period = 4", "decrease_time", "4 us"),
        ("clamp_tgt_rate = 0", "rt_update", "after-increase"),
        ("clamp_tgt_rate = true", "rt_update", "every-cut"),
        ("rpg_threshold = 1", "f", "2"),
        ("rpg_byte_reset = 32767", "byte_reset", "32767 octets"),
        ("rpg_time_reset = 300", "time_reset", "300 us"),
        ("rpg_ai_rate = 5", "r_ai", "5 Mbps"),
        ("rpg_hai_rate = 50", "r_hai", "50 Mbps"),
        ("rpg_min_rate = 1", "min_rate", "1 Mbps"),
        ("rpg_ai_rate = \"7 Mbps\"", "r_ai", "7 Mbps"),
        ("rpg_ai_rate = \"1 Mbps per Gbps\"", "r_ai", "40 Mbps"),
    ];
    for (written, name, wanted) in given {
        let plan = planned("dcqcn", written, &flow("h0", "h7")).unwrap();
        assert_eq!(value(&plan, name), wanted, "{written}");
        assert!(!plan.resolved.contains("rpg_"), "the resolved scenario has the scheme's own names");
    }
    let aliases = penstock_schemes::SCHEMES.iter().flat_map(|info| info.parameters).filter_map(|p| p.alias);
    for alias in aliases {
        assert!(given.iter().any(|(written, ..)| written.starts_with(alias.name)), "{} is tried", alias.name);
    }
}

#[test]
fn wrong_values_that_follow_a_line_are_refused_with_a_remedy() {
    for (scheme, settings, wanted) in [
        (
            "dcqcn",
            "r_ai = \"32 us\"",
            "schemes.dcqcn.r_ai: \"32 us\" is a time, not a rate (write a rate, as in \"10 Mbps\", or one",
        ),
        ("dcqcn", "alpha_time = \"4 us per Gbps\"", "schemes.dcqcn.alpha_time"),
        ("dctcp", "k = \"0 us\"", "schemes.dctcp.k: 0 s is 0 octets at 40 Gbps, and k is from 64 octets to 1 GB"),
        ("dctcp", "k = \"1 s\"", "schemes.dctcp.k: 1 s is 5 GB at 40 Gbps"),
        ("dctcp", "k = \"18446744 s\"", "at 40 Gbps"),
        ("dctcp", "k = \"9000000 GB per Gbps\"", "schemes.dctcp.k"),
        ("dctcp", "k = \"-4 KB per Gbps\"", "is negative"),
        ("dctcp", "k = \"4 per Gbps\"", "has no unit"),
        ("dctcp", "k = \"4 Mbps per Gbps\"", "is a rate, not a size"),
        ("dcqcn", "r_ai = \"4 KB per Gbps\"", "is a size, not a rate"),
        ("dctcp", "k = \"500 us\"", "schemes.dctcp.k: 2500 KB is beyond the buffer of 2 MB"),
        ("dcqcn", "min_rate = \"2 Gbps per Gbps\"", "schemes.dcqcn.min_rate"),
        ("dcqcn", "k_min = \"80 us\"\nk_max = \"150 KB\"", "schemes.dcqcn.k_max: 150 KB is below k_min, 400 KB"),
        ("dcqcn", "rpg_ai_rate = 5\nr_ai = \"5 Mbps\"", "schemes.dcqcn.rpg_ai_rate: r_ai is written already"),
        ("dcqcn", "dce_tcp_g = 1024", "schemes.dcqcn.dce_tcp_g: 1024 is out of range"),
        ("dcqcn", "clamp_tgt_rate = 2", "schemes.dcqcn.clamp_tgt_rate: 2 is out of range"),
        ("dcqcn", "rpg_ai_rate = -1", "schemes.dcqcn.rpg_ai_rate: -1 is out of range"),
        ("dcqcn", "rpg_ai_rate = 0.5", "schemes.dcqcn.rpg_ai_rate"),
        ("qcn", "dce_tcp_g = 1019", "unknown key"),
    ] {
        let error = planned(scheme, settings, &flow("h0", "h7")).unwrap_err();
        assert!(error.starts_with("x.toml:") && error.contains(wanted), "{settings}: {error}");
    }
    let transport = flow("h0", "h7") + "transport = { tcp = { mss = \"1 us\" } }\n";
    let error = planned("none", "", &transport).unwrap_err();
    assert!(error.contains("is a time, not a size"), "{error}");
}

/// A profile for each rate that sources have today, its description naming the rate.
#[test]
fn schemes_have_profiles_for_line_rates() {
    for name in ["dcqcn", "dctcp", "hpcc", "timely", "swift", "nscc"] {
        let info = penstock_schemes::SCHEMES.iter().find(|info| info.name == name).unwrap();
        for gbps in [25, 100, 200, 400, 800] {
            let rate = format!("at {gbps} Gb/s");
            assert!(info.profiles.iter().any(|own| own.description.contains(&rate)), "{name} {rate}");
        }
    }
}

/// The outcome of a run of four hosts below two leaves, 10 Gb/s to a host and 5 Gb/s above: ports of both rates are congested.
fn ran(scheme: &str, settings: &str) -> String {
    let text = format!(
        "question = \"?\"\nduration = \"2 ms\"\nscheme = \"{scheme}\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         host_rate = \"10 Gbps\"\nfabric_rate = \"5 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"2 MB\"\n\
         [[load]]\nload = 0.1\nsize = \"20 KB\"\n{}{}{}[schemes.{scheme}]\n{settings}\n",
        flow("h0..h1", "h2"),
        flow("h3", "h2"),
        flow("h2", "h0"),
    );
    let plan = plan_or_message(&text).unwrap();
    let mut sim = Sim::<Mixed, _, Lean>::new(&plan.network, &plan.configs(), plan.seed, NoProbe);
    sim.feed(plan.generated.arrivals());
    sim.configure(&plan.network, plan.seed, plan.settings());
    sim.run_until(Instant::ZERO + plan.duration);
    format!("{:?}", sim.finish().0)
}

/// 80 us are 50 KB at 5 Gb/s and 100 KB at 10 Gb/s, from the start or from a change on.
#[test]
fn congestion_points_have_the_threshold_of_their_line() {
    let (given, fixed) = ("k = \"50 KB\"\nthresholds_at = \"5 Gbps\"", "k = \"100 KB\"");
    assert_eq!(ran("dctcp", "k = \"80 us\""), ran("dctcp", given));
    assert_ne!(ran("dctcp", "k = \"80 us\""), ran("dctcp", fixed), "the threshold at 5 Gb/s counts");
    let later = |k: &str| format!("\n[[change]]\nat = \"500 us\"\nschemes.dctcp.k = \"{k}\"");
    let changed = ran("dctcp", &format!("{given}{}", later("25 KB")));
    assert_eq!(ran("dctcp", &format!("k = \"80 us\"{}", later("40 us"))), changed);
    assert_ne!(changed, ran("dctcp", given));
}

/// 30 Mb/s for each Gb/s are 300 Mb/s at all sources, of flows that stay and of those that come and go.
#[test]
fn sources_have_the_step_of_their_line() {
    let step = |r_ai: &str| ran("dcqcn", &format!("r_ai = \"{r_ai}\""));
    assert_eq!(step("30 Mbps per Gbps"), step("300 Mbps"));
    assert_ne!(step("30 Mbps per Gbps"), step("150 Mbps"), "that of the fabric's lines");
}
