//! Every scheme of the registry passes the conformance suite, and schemes that break one rule each do not.

mod broken;

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

/// The way through the enum of all schemes breaks no rule.
#[test]
fn every_member_of_mixed_conforms() {
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        if let Err(broken) = conforms::<mixed::Mixed>(&config) {
            panic!("{} as a member of mixed: {broken}", info.name);
        }
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
    use broken::{Broken, Config, Deaf};
    assert_eq!(conforms::<Broken<0>>(&Config), Ok(()), "the scheme that breaks nothing");
    assert_eq!(tells_the_source::<Broken<0>>(&Config), Ok(()), "the scheme that breaks nothing");
    let found = [
        (conforms::<Broken<1>>(&Config), "within [minimum, line]"),
        (conforms::<Broken<2>>(&Config), "raises the rate only"),
        (conforms::<Broken<3>>(&Config), "early timeout does nothing"),
        (conforms::<Broken<4>>(&Config), "same calls give the same answers"),
        (conforms::<Broken<5>>(&Config), "next one lies ahead"),
        (conforms::<Broken<6>>(&Config), "returns to the line rate"),
        (conforms::<Broken<7>>(&Config), "every variable of VARS is written"),
        (conforms::<Broken<8>>(&Config), "has a source and a sentence"),
        (conforms::<Broken<9>>(&Config), "fits an Ethernet frame"),
        (conforms::<Broken<10>>(&Config), "early timeout does nothing"),
        (conforms::<Broken<11>>(&Config), "next one lies ahead"),
        (conforms::<Broken<12>>(&Config), "same calls give the same answers"),
        (conforms::<Broken<13>>(&Config), "the source of its own flow"),
        (conforms::<Broken<14>>(&Config), "the destinations of its own flows"),
        (conforms::<Broken<15>>(&Config), "as long as it was told is admitted"),
        (conforms::<Broken<16>>(&Config), "raises the rate only"),
        (conforms::<Broken<17>>(&Config), "raises the rate only"),
        (conforms::<Broken<18>>(&Config), "within [minimum, line]"),
        (conforms::<Broken<19>>(&Config), "to queues that the port has"),
        (conforms::<Broken<20>>(&Config), "the last frame of a flow is acknowledged"),
        (conforms::<Broken<21>>(&Config), "the set point is a length of the queue"),
        (conforms::<Broken<22>>(&Config), "numbers of the scheme, each named once"),
        (conforms::<Broken<23>>(&Config), "a condition names a choice or a switch"),
        (tells_the_source::<Broken<24>>(&Config), "as long as `INFO` says"),
        (tells_the_source::<Broken<25>>(&Config), "hears nothing in a scheme without signals"),
        (conforms::<Deaf>(&Config), "only a scheme with acknowledgements has a window"),
        (tells_the_source::<Deaf>(&Config), "the congestion point tells the source"),
    ];
    for (i, (result, rule)) in found.iter().enumerate() {
        let message = result.as_ref().expect_err("each breaks a rule");
        assert!(message.contains(rule), "rule {}: {message}", i + 1);
    }
}
