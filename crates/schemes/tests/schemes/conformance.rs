//! Every scheme of the registry passes the conformance suite, and schemes that break one rule each do not.

use penstock_conformance::{changes, check, conditions, conforms, tells_the_source};
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
    use crate::broken::{Broken, CONFIG, Deaf};
    assert_eq!(conforms::<Broken<0>>(&CONFIG), Ok(()), "the scheme that breaks nothing");
    assert_eq!(tells_the_source::<Broken<0>>(&CONFIG), Ok(()), "the scheme that breaks nothing");
    assert_eq!(changes::<Broken<0>>(), Ok(()), "the scheme that breaks nothing");
    let found = [
        (conforms::<Broken<1>>(&CONFIG), "within [minimum, line]"),
        (conforms::<Broken<2>>(&CONFIG), "raises the rate only"),
        (conforms::<Broken<3>>(&CONFIG), "early timeout does nothing"),
        (conforms::<Broken<4>>(&CONFIG), "same calls give the same answers"),
        (conforms::<Broken<5>>(&CONFIG), "next one lies ahead"),
        (conforms::<Broken<6>>(&CONFIG), "returns to the line rate"),
        (conforms::<Broken<7>>(&CONFIG), "every variable of VARS is written"),
        (conforms::<Broken<8>>(&CONFIG), "has a source and a sentence"),
        (conforms::<Broken<9>>(&CONFIG), "fits an Ethernet frame"),
        (conforms::<Broken<10>>(&CONFIG), "early timeout does nothing"),
        (conforms::<Broken<11>>(&CONFIG), "next one lies ahead"),
        (conforms::<Broken<12>>(&CONFIG), "same calls give the same answers"),
        (conforms::<Broken<13>>(&CONFIG), "only the source of its flow"),
        (conforms::<Broken<14>>(&CONFIG), "only destinations of its flows"),
        (conforms::<Broken<15>>(&CONFIG), "until the instant of `admits` is admitted"),
        (conforms::<Broken<16>>(&CONFIG), "raises the rate only"),
        (conforms::<Broken<17>>(&CONFIG), "raises the rate only"),
        (conforms::<Broken<18>>(&CONFIG), "within [minimum, line]"),
        (conforms::<Broken<19>>(&CONFIG), "to queues that the port has"),
        (conforms::<Broken<20>>(&CONFIG), "the last frame of a flow is acknowledged"),
        (conforms::<Broken<21>>(&CONFIG), "the set point is a length of the queue"),
        (conforms::<Broken<22>>(&CONFIG), "numbers of the scheme, each named once"),
        (conforms::<Broken<23>>(&CONFIG), "a condition names a choice or a switch"),
        (tells_the_source::<Broken<24>>(&CONFIG), "as long as `INFO` says"),
        (tells_the_source::<Broken<25>>(&CONFIG), "a scheme whose `INFO` has no signals sends none"),
        (conforms::<Broken<26>>(&CONFIG), "a point stays as it is"),
        (conforms::<Broken<27>>(&CONFIG), "a point stays as it is"),
        (changes::<Broken<28>>(), "within [minimum, line]"),
        (conforms::<Broken<29>>(&CONFIG), "a point stays as it is"),
        (conforms::<Broken<30>>(&CONFIG), "a point that marks says so"),
        (conforms::<Broken<31>>(&CONFIG), "marked by `mark` alone"),
        (conforms::<Broken<32>>(&CONFIG), "writes into frames that leave says so"),
        (conforms::<Broken<33>>(&CONFIG), "a frame that has left stays as it is"),
        (conforms::<Broken<34>>(&CONFIG), "captures hold signals that have a format"),
        (conforms::<Deaf>(&CONFIG), "only a scheme with acknowledgements has a window"),
        (tells_the_source::<Deaf>(&CONFIG), "the congestion point signals the source"),
    ];
    for (i, (result, rule)) in found.iter().enumerate() {
        let message = result.as_ref().expect_err("each breaks a rule");
        assert!(message.contains(rule), "rule {}: {message}", i + 1);
    }
}
