//! The rules that every congestion-management scheme must keep, those of the contract in [`penstock_schemes`], as a
//! test that any crate can call.
//!
//! ```
//! # use penstock_schemes::none::NoControl as MyScheme;
//! // In a test of the crate that defines `MyScheme`:
//! penstock_conformance::check::<MyScheme>();
//! ```
//!
//! With the defaults and with each profile, random sequences of calls drive each role. After every call these rules are checked:
//!
//! - timeouts, early ones too, keep the contract;
//! - the same calls give the same answers, also from a clone;
//! - the rate stays within its bounds and keeps the statements of `INFO`;
//! - a flow that has waited until the instant of `admits` is admitted;
//! - signals have allowed addressees and lengths;
//! - every recorded variable is written;
//! - a point that is configured with its current parameters does not change.
//!
//! Also checked: every parameter is documented, and has no effect where its
//! condition does not hold; and the rules hold while parameters change in the midst of calls.
//!
//! The sequences are the same in every run: 24 for the defaults, 8 for each profile. `PROPTEST_CASES=1000` asks for more of them.
#![forbid(unsafe_code)]

mod calls;
mod changes;
mod facts;
mod maker;
mod typical;
mod world;

use std::cell::Cell;

use penstock_schemes::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use calls::{Call, Points, Setting, UNMOVED, calls, recovers};
pub use facts::tells_the_source;
use maker::DEFAULTS;
pub use maker::Maker;
use typical::Typical;
use world::Words;

/// Checks a scheme at its defaults and under each of its profiles.
///
/// # Panics
/// If a rule is broken: the message names the configuration, the rule, and the shortest sequence of calls that was found.
pub fn check<S: Scheme>() {
    if let Err(broken) = Maker::<S>::of_type().check() {
        panic!("{} {broken}", S::INFO.name);
    }
}

/// The configurations that a scheme names: `defaults` and its profiles.
///
/// # Panics
/// If a profile sets a parameter to a value of another kind.
pub fn configurations<S: Scheme>() -> impl Iterator<Item = (&'static str, S::Config)> {
    let maker = Maker::<S>::of_type();
    maker.named().map(|(name, settings)| (name, maker.with(settings))).collect::<Vec<_>>().into_iter()
}

/// Checks that points keep the rules while their parameters change and change back: from the defaults and from each profile, to
/// values that are drawn over the ranges of the parameters. A draw under which a new point breaks a rule is left out.
///
/// # Errors
/// The first rule that is broken, with the shortest sequence of calls that was found and the parameters.
pub fn changes<S: Scheme>() -> Result<(), String> {
    Maker::<S>::of_type().changes()
}

/// Checks that a parameter changes no answer where its condition does not hold. Of the pairs of a parameter and a value
/// of the other one, gives the number without an effect and the number with one.
///
/// # Errors
/// The parameter that has an effect all the same.
pub fn conditions<S: Scheme>() -> Result<(usize, usize), String> {
    Maker::<S>::of_type().conditions()
}

/// The rules of the contract for one configuration, under random sequences of calls: 24 of them, or as many as the
/// environment's `PROPTEST_CASES` asks for.
///
/// # Errors
/// The first rule that is broken, with the shortest sequence of calls that was found.
pub fn conforms<S: Scheme>(config: &S::Config) -> Result<(), String> {
    conforms_in::<S>(config, CASES)
}

/// The sequences of calls for one configuration.
const CASES: u32 = 24;

/// Those for a profile, beside the defaults: it differs in values alone.
const CASES_OF_PROFILE: u32 = 8;

/// Of the configuration with this name, as [`Maker::named`] gives it.
fn cases_of(name: &str) -> u32 {
    if name == DEFAULTS { CASES } else { CASES_OF_PROFILE }
}

/// The same under this number of sequences.
fn conforms_in<S: Scheme>(config: &S::Config, cases: u32) -> Result<(), String> {
    facts::documented(S::info(config))?;
    let given = &Typical::<S>::of(config);
    facts::has_forms(config, given)?;
    let settings = &[Setting { config: config.clone(), least_rate: given.least(config) }];
    let run = |(first, then, seed): (Vec<Call>, Vec<Call>, u32)| {
        let mut points = Points::<S>::new(config, Words(seed));
        points.drive(&first, given, settings)?;
        // Clones go on exactly as the original does, also without the calls of `configure`.
        let (mut replay, mut unmoved) = (points.clone(), points.clone());
        points.drive(&then, given, settings)?;
        replay.drive(&then, given, settings)?;
        prop_assert!(points.log.answers == replay.log.answers, "the same calls give the same answers");
        let without: Vec<Call> = then.into_iter().filter(|call| !matches!(call, Call::Configure)).collect();
        unmoved.drive(&without, given, settings)?;
        prop_assert!(points.log.answers == unmoved.log.answers, "{}", UNMOVED);
        let fits = points.log.lengths.iter().all(|octets| (64..=1522).contains(octets));
        prop_assert!(fits, "a signal fits an Ethernet frame");
        if S::info(config).recovers_alone { recovers::<S>(&mut points.rp, &mut points.words) } else { Ok(()) }
    };
    run_cases(&run, cases)
}

/// Two sequences of calls and a seed.
type Case = (Vec<Call>, Vec<Call>, u32);

/// Tries to shorten a sequence that breaks a rule.
const SHRINKING: u32 = 64;

/// Runs `cases` cases, or as many as the environment's `PROPTEST_CASES` asks for, the same ones each time. It is compiled once, and
/// not for each scheme.
fn run_cases(test: &dyn Fn(Case) -> Result<(), TestCaseError>, cases: u32) -> Result<(), String> {
    let cases = std::env::var("PROPTEST_CASES").map_or(cases, |n| n.parse().expect("PROPTEST_CASES is a number"));
    let (max_shrink_iters, max_global_rejects) = (u32::MAX - 1, 100 * cases);
    let runs = Runs { cases, max_shrink_iters, max_global_rejects, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // The search for a shorter sequence ends after as many tries. The runner's own limit would print a line.
    let tries = Cell::new(None::<u32>);
    let limited = |case: Case| {
        if tries.get().is_some_and(|count| count >= SHRINKING) {
            return Ok(());
        }
        let kept = test(case);
        let failed = matches!(kept, Err(TestCaseError::Fail(_)));
        tries.set(tries.get().map(|count| count + 1).or(failed.then_some(0)));
        kept
    };
    runner.run(&(calls(), calls(), any::<u32>()), limited).map_err(|e| e.to_string())
}
