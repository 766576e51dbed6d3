//! Every scheme of the registry passes the conformance suite, and schemes that break one rule each do not.

use penstock_conformance::{check, conditions, conforms, tells_the_source};
use penstock_schemes::*;

struct Conformance;

impl Visitor for Conformance {
    type Output = ();
    fn visit<S: Scheme>(self, _: &[S::Config]) {
        check::<S>();
    }
}

#[test]
fn every_scheme_conforms() {
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        SchemeConfig::visit(&[config], Conformance);
    }
}

/// Where a condition holds, some parameter changes the answers, and where it does not, none does.
#[test]
fn conditions_are_looked_at() {
    let (without, with) = conditions::<qcn::Qcn>().expect("QCN conforms");
    assert!(without > 10 && with > 10, "{without} without effect, {with} with one");
}

/// Dispatch through the enum of all schemes breaks no rule.
#[test]
fn every_member_of_mixed_conforms() {
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        if let Err(broken) = conforms::<mixed::Mixed>(&config) {
            panic!("{} as a member of mixed: {broken}", info.name);
        }
    }
}

struct Marks;

impl Visitor for Marks {
    type Output = bool;
    fn visit<S: Scheme>(self, _: &[S::Config]) -> bool {
        S::Cp::MARKS
    }
}

/// A scenario goes by the actions that a scheme declares when it asks whether anything marks.
#[test]
fn schemes_that_mark_declare_it() {
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        let declared = info.actions.contains(&info::Action::Marks);
        assert_eq!(SchemeConfig::visit(&[config], Marks), declared, "{}", info.name);
    }
}

#[test]
fn names_are_unique() {
    for (i, info) in SCHEMES.iter().enumerate() {
        assert!(SCHEMES[..i].iter().all(|other| other.name != info.name), "{} is registered twice", info.name);
        assert!(SchemeConfig::with_defaults(info.name).is_some_and(|c| c.info().name == info.name));
    }
    assert!(SchemeConfig::with_defaults("qcm").is_none());
    assert!(SchemeConfig::new("qcn", &[]).is_none(), "a value for each parameter is needed");
}

#[test]
fn a_broken_scheme_is_found_out() {
    use crate::broken::{Deaf, checked, found};
    assert_eq!(found(0), Ok(()), "the scheme that breaks nothing");
    let rules = [
        "within [minimum, line]",
        "raises the rate only",
        "early timeout does nothing",
        "same calls give the same answers",
        "next one lies ahead",
        "returns to the line rate",
        "every variable of VARS is written",
        "has a source and a sentence",
        "fits an Ethernet frame",
        "early timeout does nothing",
        "next one lies ahead",
        "same calls give the same answers",
        "only the source of its flow",
        "only destinations of its flows",
        "until the instant of `admits` is admitted",
        "raises the rate only",
        "raises the rate only",
        "within [minimum, line]",
        "to queues that the port has",
        "the last frame of a flow is acknowledged",
        "the set point is a length of the queue",
        "numbers of the scheme, each named once",
        "a condition names a choice or a switch",
        "as long as `INFO` says",
        "a scheme whose `INFO` has no signals sends none",
        "a point stays as it is",
        "a point stays as it is",
        "within [minimum, line]",
        "a point stays as it is",
        "a point that marks says so",
        "marked by `mark` alone",
        "writes into frames that leave says so",
        "a frame that has left stays as it is",
        "captures hold signals that have a format",
    ];
    for (rule, &wanted) in (1..).zip(&rules) {
        let message = found(rule).expect_err("each breaks a rule");
        assert!(message.contains(wanted), "rule {rule}: {message}");
    }
    let message = checked::<Deaf>(0).expect_err("it has a window");
    assert!(message.contains("only a scheme with acknowledgements has a window"), "{message}");
    let config = Configuration::from_values(&[]).expect("no value is needed");
    assert_eq!(tells_the_source::<Deaf>(&config), Err("the congestion point signals the source".into()));
}
