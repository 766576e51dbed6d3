//! Several schemes in one network: the scheme of each priority, its parameters, and mistakes that are refused.

use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::SchemeConfig;

const GOOD: &str = r#"question = "?"
duration = "1 s"
scheme = "qcn"
[schemes.qcn]
q_eq = "40 KB"
[[priority]]
priority = 3
scheme = "none"
[[priority]]
priority = 5
scheme = "qcn"
profile = "pan-10g"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
buffer = "150 KB"
[[flow]]
from = "h0"
to = "h3"
[[flow]]
from = "h1"
to = "h3"
priority = 3
[[flow]]
from = "h2"
to = "h3"
priority = 5
"#;

fn outcome(text: &str, choice: &Choice) -> Result<Plan, ScenarioError> {
    Scenario::parse(text, "x.toml", "x")?.plan(choice)
}

fn refused(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    outcome(&GOOD.replacen(old, new, 1), &Choice::default()).expect_err(new).to_string()
}

/// Priority, scheme, profile, and the set point where the scheme is QCN.
fn assigned(plan: &Plan) -> Vec<(u8, &str, Option<&str>, Option<u64>)> {
    let q_eq = |config: &SchemeConfig| if let SchemeConfig::Qcn(qcn) = config { Some(qcn.cp.q_eq.0) } else { None };
    plan.schemes.iter().map(|s| (s.priority, s.config.info().name, s.profile.as_deref(), q_eq(&s.config))).collect()
}

#[test]
fn each_priority_has_its_scheme_and_settings() {
    let plan = outcome(GOOD, &Choice::default()).unwrap();
    let expected = [(0, "qcn", None, Some(40_000)), (3, "none", None, None), (5, "qcn", Some("pan-10g"), Some(33_000))];
    assert_eq!(assigned(&plan), expected);
    assert_eq!((plan.scheme(), plan.profile()), ("mixed", None));
    assert_eq!(plan.configs().len(), plan.network.priorities.len());
    let again = outcome(&plan.resolved, &Choice::default()).unwrap();
    assert_eq!(format!("{:?}", plan.schemes), format!("{:?}", again.schemes));
    assert!(plan.resolved.contains("[[priority]]\npriority = 5\nscheme = \"qcn\"\nprofile = \"pan-10g\"\n"));
}

#[test]
fn the_choices_of_a_run_are_for_the_other_priorities() {
    let none = Choice { scheme: Some("none".into()), ..Choice::default() };
    let plan = outcome(GOOD, &none).unwrap();
    assert_eq!(assigned(&plan).iter().map(|a| a.1).collect::<Vec<_>>(), ["none", "none", "qcn"]);
    let netfpga = Choice { profile: Some("paper-netfpga".into()), ..Choice::default() };
    let plan = outcome(&GOOD.replace("q_eq = \"40 KB\"\n", ""), &netfpga).unwrap();
    assert_eq!(assigned(&plan)[0].2, Some("paper-netfpga"));
    assert_eq!(assigned(&plan)[2].2, Some("pan-10g"));

    // A priority without a profile runs with the scheme's table, wherever the table comes from.
    let text = GOOD
        .replace("profile = \"pan-10g\"\n", "")
        .replace("scheme = \"qcn\"\n[schemes", "scheme = \"none\"\n[schemes");
    let plan = outcome(&text, &Choice::default()).unwrap();
    assert_eq!(assigned(&plan)[2], (5, "qcn", None, Some(40_000)));
    let plan = outcome(&text.replace("[schemes.qcn]\nq_eq = \"40 KB\"\n", ""), &Choice::default()).unwrap();
    assert!(plan.resolved.contains("[schemes.qcn]"), "the settings of each scheme that runs are written out");

    let all = GOOD.replace("[[flow]]\nfrom = \"h0\"\nto = \"h3\"\n", "");
    assert_eq!(outcome(&all, &Choice::default()).unwrap().schemes.len(), 2);
    let message = outcome(&all, &none).unwrap_err().to_string();
    let expected =
        "x.toml: scheme: has no effect if every priority names its scheme in [[priority]], as given by --scheme";
    assert!(message.starts_with(expected), "{message}");
    assert!(outcome(&all, &netfpga).unwrap_err().to_string().contains("as given by --profile"));
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (old, new, expected) in [
        (
            "priority = 5\nscheme",
            "priority = 3\nscheme",
            "x.toml:10: priority.1.priority: priority 3 has a table already (one [[priority]] for each priority)",
        ),
        ("priority = 5\nscheme", "priority = 8\nscheme", "expected a whole number from 0 to 7, found the number 8"),
        ("priority = 5\nscheme", "scheme", "x.toml:9: priority.1.priority: missing (expected a whole number"),
        ("scheme = \"none\"\n[[", "scheme = \"nine\"\n[[", "x.toml:8: priority.0.scheme: \"nine\" is not known here"),
        (
            "\"pan-10g\"",
            "\"pan10g\"",
            "x.toml:12: priority.1.profile: qcn has no profile \"pan10g\" (did you mean \"pan-10g\"?)",
        ),
        (
            "scheme = \"none\"\n[[",
            "scheme = \"none\"\nprofile = \"fast\"\n[[",
            "x.toml:9: priority.0.profile: none has no profile \"fast\" (none has no profiles)",
        ),
        ("[[priority]]\npriority = 3", "[[priority]]\nprioritty = 3", "unknown key (did you mean \"priority\"?)"),
        // Thresholds of each scheme that runs, wherever they come from.
        ("\"40 KB\"", "\"151 KB\"", "x.toml:5: schemes.qcn.q_eq: 151 KB is beyond the buffer of 150 KB"),
        ("\"150 KB\"", "\"20 frames\"", "x.toml:5: schemes.qcn.q_eq: 40 KB is beyond the buffer of 30 KB"),
    ] {
        let message = refused(old, new);
        assert!(message.contains(expected), "{new}\n gives {message}\n not {expected}");
    }
    let small = GOOD.replace("\"40 KB\"", "\"15 KB\"").replace("\"150 KB\"", "\"20 KB\"");
    let message = outcome(&small, &Choice::default()).unwrap_err().to_string();
    assert!(
        message.contains("x.toml:12: priority.1.profile: q_eq of pan-10g: 33 KB is beyond the buffer of 20 KB"),
        "{message}"
    );
    // Settings that no priority runs with are not held against the buffer.
    let unused =
        small.replace("\"15 KB\"", "\"100 KB\"").replace("profile = \"pan-10g\"\n", "").replace("\"qcn\"", "\"none\"");
    outcome(&unused, &Choice::default()).unwrap();
}
