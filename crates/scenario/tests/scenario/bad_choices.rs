//! Every mistake in what is given beside the file, by `--set` or as a choice of a run, is named as such.

use penstock_scenario::{Choice, Scenario};

use crate::bad_input::GOOD;

#[test]
fn a_setting_from_outside_is_named_as_such() {
    let with = |key: &str, value: &str| {
        let mut scenario = Scenario::parse(GOOD, "x.toml", "x").unwrap();
        scenario.set(key, value)?;
        scenario.plan(&Choice::default()).map(|plan| (plan, scenario))
    };
    let (plan, scenario) = with("schemes.qcn.q_eq", "40 KB").unwrap();
    assert!(plan.resolved.contains("q_eq = \"40 KB\""));
    assert_eq!(scenario.to_toml(), GOOD.replace("33 KB", "40 KB"));
    assert_eq!(with("flow.0.stop", "0.5 s").unwrap().0.network.flows[2].stop.unwrap().as_seconds(), 0.5);
    assert_eq!(with("network.feedback", "{ ideal = \"10 us\" }").unwrap().0.fair.len(), 1);
    assert_eq!(with("seed", "7").unwrap().0.seed, 7);
    for (key, value, expected) in [
        (
            "schemes.qcn.q_eqq",
            "1 KB",
            "x.toml: schemes.qcn.q_eqq: unknown key, as given by --set (did you mean \"q_eq\"?)",
        ),
        (
            "schemes.qcn.q_eq",
            "1 MB",
            "x.toml: schemes.qcn.q_eq: 1 MB is beyond the buffer of 150 KB, as given by --set",
        ),
        (
            "schemes.qcn.rpg_min_rate",
            "1000001 Mbps",
            "schemes.qcn.rpg_min_rate: \"1000001 Mbps\" is above the maximum of 1 Tbps, as given by --set",
        ),
        (
            "schemes.qcn.rpg_min_rate",
            "11 Gbps",
            "schemes.qcn.rpg_min_rate: 11 Gbps is above the rate of the sources' lines, 10 Gbps, as given by --set",
        ),
        ("record.interval", "0 s", "\"0 s\" is zero; this time must be more, as given by --set"),
        (
            "flow.0.start.uniform.minimum",
            "1 ms",
            "flow.0.start.uniform.maximum: missing beside what is given by --set (expected a time with its unit",
        ),
        ("seed", "x", "found \"x\", as given by --set"),
        ("flow.1.stop", "1 s", "there is no flow.1, as given by --set (there are flow.0 to flow.0)"),
        ("duration.x", "1", "duration is not a table, as given by --set (it is a value: set duration itself)"),
        ("flow.0", "1", "is a table, as given by --set (set one key of it, as in flow.0.KEY)"),
        ("topology", "1", "is a table, as given by --set (set one key of it, as in topology.KEY)"),
        ("a..b", "1", "a part of the key is empty, as given by --set"),
        ("new.table", "1", "x.toml: new: unknown key, as given by --set"),
        (
            "network.feedback",
            "{}",
            "x.toml: network.feedback.ideal: missing beside what is given by --set (expected a time",
        ),
    ] {
        let message = with(key, value).unwrap_err().to_string();
        assert!(message.contains(expected), "{key}: {message}");
        assert!(with(key, value).unwrap_err().hint.is_some(), "{key}: no hint: {message}");
    }
    // Lines below a key that was set are still those of the file.
    let mut scenario = Scenario::parse(&GOOD.replace("to = ", "tu = "), "x.toml", "x").unwrap();
    scenario.set("record.signals", "false").unwrap();
    assert!(
        scenario.plan(&Choice::default()).unwrap_err().to_string().starts_with("x.toml:12: flow.0.tu: unknown key")
    );
}

#[test]
fn the_choices_of_a_run_are_checked() {
    let with = |choice: Choice| Scenario::parse(GOOD, "x.toml", "x").unwrap().plan(&choice);
    let scheme = |name: &str| Choice { scheme: Some(name.into()), ..Choice::default() };
    let profile = |name: &str| Choice { profile: Some(name.into()), ..Choice::default() };
    let message = with(scheme("qnc")).unwrap_err().to_string();
    assert_eq!(message, "x.toml: scheme: unknown scheme \"qnc\", as given by --scheme (did you mean \"qcn\"?)");
    let message = with(profile("pan10g")).unwrap_err().to_string();
    assert!(
        message.contains("qcn has no profile \"pan10g\", as given by --profile (did you mean \"pan-10g\"?)"),
        "{message}"
    );
    let message = with(Choice { seed: Some(u64::MAX), ..Choice::default() }).unwrap_err().to_string();
    assert!(message.contains("above the maximum"), "{message}");

    let plan = with(Choice { seed: Some(9), ..profile("paper-netfpga") }).unwrap();
    assert_eq!((plan.seed, plan.profile()), (9, Some("paper-netfpga")));
    assert!(plan.resolved.contains("q_eq = \"33 KB\""), "single keys go before the profile");
    assert_eq!(with(scheme("none")).unwrap().scheme(), "none");
}
