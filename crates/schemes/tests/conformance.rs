//! What every scheme of the registry must do, whatever else it does, and schemes that break one rule each.
//!
//! Random sequences of calls drive each role; the rules of the crate's documentation are checked after every call.

mod broken;
mod typical;

use std::fmt::Write;

use penstock_schemes::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use typical::Typical;

const LINE: BitRate = BitRate(10_000_000_000);
/// The flows of the reaction point; the notification point is the first one's.
const FLOWS: [FlowKey; 2] = [FlowKey(3), FlowKey(8)];

/// Words from a counter: the same for an original and its clone.
#[derive(Clone)]
struct Words(u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ self.0 >> 16
    }
}

/// Everything that a role has answered, as text, and the lengths and addressees of its signals.
#[derive(Clone, Default)]
struct Log {
    text: String,
    lengths: Vec<u16>,
    addressees: Vec<To>,
}

impl Log {
    fn note(&mut self, answer: impl std::fmt::Debug) {
        write!(self.text, "{answer:?};").expect("strings take all");
    }

    fn append(&mut self, later: Log) {
        self.text += &later.text;
        self.lengths.extend(later.lengths);
        self.addressees.extend(later.addressees);
    }
}

impl<S: Scheme> Out<S> for Log {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.note((to, class, signal));
        self.lengths.push(signal.octets());
        self.addressees.push(to);
    }
}

/// Forgets what is sent.
struct Nobody;

impl<S: Scheme> Out<S> for Nobody {
    fn send(&mut self, _: To, _: Class, _: S::Signal) {}
}

/// One call of a role.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// A frame of so many octets comes to the queue; or is sent.
    Frame(u16),
    /// A frame is refused by the full queue; or a signal comes.
    Refused(u16),
    /// A frame leaves the queue; or a signal comes.
    Leaves,
    /// So many ns pass.
    Wait(u32),
    /// The timer fires when it is due.
    Timeout,
    /// The timer fires although it is not due.
    Early,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (64u16..9000).prop_map(Call::Frame),
        1 => (64u16..9000).prop_map(Call::Refused),
        4 => Just(Call::Leaves),
        3 => (0u32..2_000_000).prop_map(Call::Wait),
        2 => Just(Call::Timeout),
        2 => Just(Call::Early),
    ];
    prop::collection::vec(call, 1..300)
}

fn place() -> Place {
    Place { cp: CpId::new(0x0200_0000_0001, 2, 3), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO }
}

fn frame<T>(octets: u16, tag: &mut T) -> Frame<'_, T> {
    Frame {
        flow: FLOWS[0],
        octets,
        weight: 1,
        seq: Octets(0),
        last: false,
        trimmed: false,
        sent_at: Instant::ZERO,
        tag,
    }
}

/// The other queues of the port: that of [`place`]'s priority and one more.
struct TwoQueues;

impl PortView for TwoQueues {
    fn queue(&self, priority: u8) -> Option<Queue> {
        [3, 5].contains(&priority).then(|| Queue { rate: LINE, ..Queue::default() })
    }
}

fn check(ok: bool, rule: &str) -> Result<(), TestCaseError> {
    prop_assert!(ok, "{}", rule);
    Ok(())
}

/// A congestion point under a sequence of calls.
fn drive_cp<S: Scheme>(
    cp: &mut S::Cp,
    calls: &[Call],
    given: &Typical<S>,
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut signals) = (Instant(1), given.for_previous_hop.iter().cycle());
    let mut waiting = std::collections::VecDeque::<u16>::new();
    for &call in calls {
        let state = |waiting: &std::collections::VecDeque<u16>| Queue {
            len: Octets(waiting.iter().map(|&octets| u64::from(octets)).sum()),
            frames: waiting.len() as u32,
            rate: LINE,
            ..Queue::default()
        };
        let mut tag = S::Tag::default();
        match call {
            Call::Frame(octets) if S::Cp::ADMITS => {
                let verdict = cp.admit(now, frame(octets, &mut tag), true, &state(&waiting), &TwoQueues, words);
                log.note(verdict);
                let known = !matches!(verdict, Verdict::Move(priority) if TwoQueues.queue(priority).is_none());
                check(known, "frames are moved to queues that the port has")?;
                if verdict == Verdict::Accept {
                    waiting.push_back(octets);
                    cp.on_arrival(now, frame(octets, &mut tag), Fate::Queued, &state(&waiting), words, log);
                } else if verdict == Verdict::Drop {
                    cp.on_arrival(now, frame(octets, &mut tag), Fate::Dropped, &state(&waiting), words, log);
                }
            }
            Call::Frame(octets) => {
                waiting.push_back(octets);
                cp.on_arrival(now, frame(octets, &mut tag), Fate::Queued, &state(&waiting), words, log);
            }
            Call::Refused(octets) => {
                cp.on_arrival(now, frame(octets, &mut tag), Fate::Dropped, &state(&waiting), words, log);
                if let Some(&signal) = signals.next() {
                    cp.on_signal(now, FLOWS[0], signal, &state(&waiting), words, log);
                }
            }
            Call::Leaves => {
                if let Some(octets) = waiting.pop_front() {
                    cp.on_departure(now, frame(octets, &mut tag), &state(&waiting));
                }
            }
            Call::Wait(ns) => now += Duration(u64::from(ns) * 1000),
            Call::Timeout => {
                if let Some(at) = cp.next_timeout() {
                    now = now.max(at);
                    cp.on_timeout(now, &state(&waiting), words, log);
                    check(cp.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if cp.next_timeout().is_none_or(|at| at > now) {
                    let before = (format!("{cp:?}"), log.text.len());
                    cp.on_timeout(now, &state(&waiting), words, log);
                    check((format!("{cp:?}"), log.text.len()) == before, "an early timeout does nothing")?;
                }
            }
        }
        let mut row = vec![i64::MIN; S::Cp::VARS.len()];
        cp.vars(&mut row);
        check(!row.contains(&i64::MIN), "every variable of VARS is written")?;
        log.note((tag, cp.next_timeout(), row));
    }
    Ok(())
}

/// A reaction point with two flows under a sequence of calls.
fn drive_rp<S: Scheme>(
    rp: &mut S::Rp,
    calls: &[Call],
    given: &Typical<S>,
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut signals) = (Instant(1), given.for_source.iter().cycle());
    let mut echoes = given.echoes.iter().cycle();
    let own = |log: &Log| log.addressees.iter().all(|to| FLOWS.iter().any(|&flow| *to == To::Destination(flow)));
    let mut sent = Log::default();
    for flow in FLOWS {
        rp.on_start(now, flow, words, &mut sent);
    }
    for &call in calls {
        match call {
            Call::Frame(octets) => {
                let flow = FLOWS[usize::from(octets) % 2];
                let tag = rp.on_send(now, Release { flow, octets, seq: Octets(0), last: false }, words, &mut sent);
                log.note(tag);
                let at = rp.admits(now, flow);
                let kept = at == Instant::NEVER || rp.admits(at.max(now), flow) <= at.max(now);
                check(kept, "a flow that has waited as long as it was told is admitted")?;
                log.note(at);
            }
            Call::Refused(_) | Call::Leaves => {
                if let Some(&signal) = signals.next() {
                    let before = rp.allowance().rate;
                    rp.on_signal(now, FLOWS[0], signal, words, &mut sent);
                    let lowered = rp.allowance().rate <= before;
                    check(lowered || S::INFO.raises_on_signal, "a signal raises the rate only in schemes that say so")?;
                }
            }
            Call::Wait(ns) => {
                now += Duration(u64::from(ns) * 1000);
                if let Some(&echo) = echoes.next() {
                    let (acked, lost) = (Octets(1500), Octets(1500 * u64::from(ns % 8 == 0)));
                    let ack = Ack { acked, lost, rtt: Duration(u64::from(ns) * 1000), echo };
                    rp.on_ack(now, FLOWS[0], &ack, words, &mut sent);
                    if ns % 16 == 1 {
                        rp.on_silence(now, FLOWS[0], Octets(3000));
                    }
                }
                if rp.next_timeout().is_some_and(|at| at <= now) {
                    rp.on_timeout(now, words, &mut sent);
                }
            }
            Call::Timeout => {
                if let Some(at) = rp.next_timeout() {
                    now = now.max(at);
                    rp.on_timeout(now, words, &mut sent);
                    check(rp.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if rp.next_timeout().is_none_or(|at| at > now) {
                    let before = (format!("{rp:?}"), sent.text.len());
                    rp.on_timeout(now, words, &mut sent);
                    check((format!("{rp:?}"), sent.text.len()) == before, "an early timeout does nothing")?;
                }
            }
        }
        let rate = rp.allowance().rate;
        let least = given.least_rate;
        check(rate.0 == 0 || (least..=LINE.0).contains(&rate.0), "the allowed rate is zero or within [minimum, line]")?;
        let window = rp.allowance().window;
        check(window.is_none() || acknowledged::<S>(), "only a scheme with acknowledgements has a window")?;
        check(rp.limiting() || rate == LINE, "without a limiter the rate is the line's")?;
        let mut row = vec![i64::MIN; S::Rp::VARS.len()];
        rp.vars(&mut row);
        check(!row.contains(&i64::MIN), "every variable of VARS is written")?;
        log.note((rp.allowance(), rp.next_timeout(), row));
    }
    check(own(&sent), "a reaction point signals the destinations of its own flows")?;
    log.append(sent);
    Ok(())
}

/// A notification point under a sequence of calls.
fn drive_np<S: Scheme>(
    np: &mut S::Np,
    calls: &[Call],
    given: &Typical<S>,
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut probes) = (Instant(1), given.for_destination.iter().cycle());
    let mut tags = given.tags.iter().cycle();
    let mut sent = Log::default();
    for &call in calls {
        match call {
            Call::Frame(octets) => {
                let mut tag = tags.next().copied().unwrap_or_default();
                np.on_frame(now, frame(octets, &mut tag), words, &mut sent);
                if let Some(echo) = np.acknowledge(now, frame(octets, &mut tag)) {
                    log.note(echo);
                }
            }
            Call::Refused(_) | Call::Leaves => {
                if let Some(&probe) = probes.next() {
                    np.on_signal(now, FLOWS[0], probe, words, &mut sent);
                }
            }
            Call::Wait(ns) => now += Duration(u64::from(ns) * 1000),
            Call::Timeout => {
                if let Some(at) = np.next_timeout() {
                    now = now.max(at);
                    np.on_timeout(now, words, &mut sent);
                    check(np.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if np.next_timeout().is_none_or(|at| at > now) {
                    let before = (format!("{np:?}"), sent.text.len());
                    np.on_timeout(now, words, &mut sent);
                    check((format!("{np:?}"), sent.text.len()) == before, "an early timeout does nothing")?;
                }
            }
        }
        log.note(np.next_timeout());
    }
    let mut tag = tags.next().copied().unwrap_or_default();
    let last = np.acknowledge(now, Frame { last: true, ..frame(1499, &mut tag) });
    check(last.is_some() || !acknowledged::<S>(), "the last frame of a flow is acknowledged")?;
    let own = sent.addressees.iter().all(|&to| to == To::Source(FLOWS[0]));
    check(own, "a notification point signals the source of its own flow")?;
    log.append(sent);
    Ok(())
}

/// Whether the scheme has acknowledgements: its type of echo has values.
fn acknowledged<S: Scheme>() -> bool {
    size_of::<Option<S::Echo>>() > 0
}

/// Left alone and sending, the rate returns to the line's.
fn recovers<S: Scheme>(rp: &mut S::Rp, words: &mut Words) -> Result<(), TestCaseError> {
    let mut now = Instant(1 << 50);
    for _ in 0..200_000 {
        if rp.allowance().rate == LINE {
            return Ok(());
        }
        now += Duration::from_us(100);
        if rp.next_timeout().is_some_and(|at| at <= now) {
            rp.on_timeout(now, words, &mut Nobody);
        }
        for i in 0..16 {
            rp.on_send(
                now,
                Release { flow: FLOWS[i % 2], octets: 9000, seq: Octets(0), last: false },
                words,
                &mut Nobody,
            );
        }
    }
    check(false, "a scheme that recovers alone returns to the line rate")
}

/// So many cases, or as many as the environment's PROPTEST_CASES asks for.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |n| n.parse().expect("PROPTEST_CASES is a number"))
}

/// The rules for one scheme and one configuration: `Err` names the first that is broken.
fn conforms<S: Scheme>(config: &S::Config) -> Result<(), String> {
    documented(&S::INFO)?;
    let given = &Typical::<S>::of(config);
    let runs = Runs { cases: cases(48), max_shrink_iters: 64, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let run = |(first, then, seed): (Vec<Call>, Vec<Call>, u32)| {
        let (mut words, mut log) = (Words(seed), Log::default());
        let (mut cp, mut rp) = (S::Cp::new(config, place()), S::Rp::new(config, LINE));
        let mut np = S::Np::new(config, FLOWS[0]);
        drive_cp::<S>(&mut cp, &first, given, &mut words, &mut log)?;
        drive_np::<S>(&mut np, &first, given, &mut words, &mut log)?;
        drive_rp::<S>(&mut rp, &first, given, &mut words, &mut log)?;
        // Clone and replay: the copy goes on exactly as the original does.
        let (mut cp2, mut np2, mut rp2) = (cp.clone(), np.clone(), rp.clone());
        let (mut words2, mut log2) = (words.clone(), log.clone());
        drive_cp::<S>(&mut cp, &then, given, &mut words, &mut log)?;
        drive_np::<S>(&mut np, &then, given, &mut words, &mut log)?;
        drive_rp::<S>(&mut rp, &then, given, &mut words, &mut log)?;
        drive_cp::<S>(&mut cp2, &then, given, &mut words2, &mut log2)?;
        drive_np::<S>(&mut np2, &then, given, &mut words2, &mut log2)?;
        drive_rp::<S>(&mut rp2, &then, given, &mut words2, &mut log2)?;
        check(log.text == log2.text, "the same calls give the same answers")?;
        check(log.lengths.iter().all(|octets| (64..=1522).contains(octets)), "a signal fits an Ethernet frame")?;
        if S::INFO.recovers_alone { recovers::<S>(&mut rp, &mut words) } else { Ok(()) }
    };
    runner.run(&(calls(), calls(), any::<u32>()), run).map_err(|e| e.to_string())
}

fn documented(info: &Info) -> Result<(), String> {
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
    };
    let rule = |ok: bool, rule: &str| if ok { Ok(()) } else { Err(format!("{}: {rule}", info.name)) };
    rule(plain(info.name), "the name is in small letters")?;
    rule(![info.title, info.source, info.description].contains(&""), "title, source and description are given")?;
    for (i, p) in info.parameters.iter().enumerate() {
        rule(plain(p.name), "names of parameters are in small letters")?;
        rule(!p.source.is_empty() && p.description.ends_with('.'), "a parameter has a source and a sentence")?;
        rule([p.default, p.minimum, p.maximum].iter().all(|&v| p.accepts(v)), "defaults are in their ranges")?;
        rule(info.parameters[..i].iter().all(|other| other.name != p.name), "a parameter is declared once")?;
    }
    for condition in info.parameters.iter().filter_map(|p| p.when) {
        let of = info.parameter(condition.parameter).filter(|p| matches!(p.unit, Unit::Choice(_) | Unit::Switch));
        let legal = of.is_some_and(|p| condition.values.iter().all(|&v| p.accepts(v)));
        rule(legal, "a condition names a choice or a switch of the scheme, and values of it")?;
    }
    let is_threshold = |name| info.parameter(name).is_some_and(|p| p.unit == Unit::Threshold);
    rule(info.set_point.is_none_or(is_threshold), "the set point is a length of the queue")?;
    let names: Vec<&str> = info.tuned.iter().flat_map(|group| group.iter().copied()).collect();
    for (i, name) in names.iter().enumerate() {
        let number = info.parameter(name).is_some_and(|p| !matches!(p.unit, Unit::Choice(_) | Unit::Switch));
        rule(number && !names[..i].contains(name), "what is tuned is a number of the scheme, named once")?;
    }
    for (name, value) in info.profiles.iter().flat_map(|profile| profile.settings) {
        rule(info.parameter(name).is_some_and(|p| p.accepts(*value)), "profiles set parameters to legal values")?;
    }
    Ok(())
}

/// Whether a source hears of its queue as `INFO` says.
fn tells_the_source<S: Scheme>(config: &S::Config) -> Result<(), String> {
    let given = Typical::<S>::met(config);
    let Some(signals) = S::INFO.signals else {
        return if given.for_source.is_empty() {
            Ok(())
        } else {
            Err("a source hears nothing in a scheme without signals".into())
        };
    };
    let (told, by) = match signals.path {
        SignalPath::Backward => (given.from_queue, "the congestion point tells the source"),
        SignalPath::ByDestination => (given.from_destination, "the destination tells the source"),
    };
    if told == 0 {
        return Err(by.into());
    }
    let long = given.for_source.iter().all(|signal| signal.octets() == signals.octets);
    if long { Ok(()) } else { Err("a signal to a source is as long as `INFO` says".into()) }
}

struct Conformance;

impl Visitor for Conformance {
    type Output = Result<(), String>;
    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        conforms::<S>(&configs[0])?;
        tells_the_source::<S>(&configs[0])
    }
}

/// What all roles answer to a fixed sequence of calls.
struct Answers;

impl Visitor for Answers {
    type Output = String;
    fn visit<S: Scheme>(self, configs: &[S::Config]) -> String {
        let (mut words, mut log, config) = (Words(1), Log::default(), &configs[0]);
        let calls: Vec<Call> = (0..1500)
            .map(|i| match i % 8 {
                0..3 => Call::Frame(1500),
                3 => Call::Refused(1000),
                4 => Call::Wait(words.draw() >> 14),
                5 => Call::Timeout,
                _ => Call::Leaves,
            })
            .collect();
        let given = Typical::<S>::met(config);
        let (mut cp, mut rp) = (S::Cp::new(config, place()), S::Rp::new(config, LINE));
        drive_cp::<S>(&mut cp, &calls, &given, &mut words, &mut log).expect("a rule is kept");
        drive_np::<S>(&mut S::Np::new(config, FLOWS[0]), &calls, &given, &mut words, &mut log).expect("a rule is kept");
        drive_rp::<S>(&mut rp, &calls, &given, &mut words, &mut log).expect("a rule is kept");
        log.text
    }
}

/// The answers of a scheme with some of its parameters at other values than their defaults.
fn answers(info: &Info, changes: &[(&str, Value)]) -> String {
    let value = |p: &Parameter| changes.iter().find(|change| change.0 == p.name).map_or(p.default, |change| change.1);
    let values: Vec<_> = info.parameters.iter().map(value).collect();
    let config = SchemeConfig::new(info.name, &values).expect("values are of their parameters' kinds");
    SchemeConfig::visit(&[config], Answers)
}

/// All values of a choice or a switch.
fn every_value(p: &Parameter) -> Vec<Value> {
    match p.unit {
        Unit::Choice(words) => words.iter().map(|&word| Value::Choice(word)).collect(),
        _ => vec![Value::Switch(false), Value::Switch(true)],
    }
}

/// Each scheme at its defaults and under each of its profiles.
fn configurations() -> impl Iterator<Item = (String, SchemeConfig)> {
    SCHEMES.iter().flat_map(|info| {
        let profiles = info.profiles.iter().map(|p| (p.name, p.settings));
        profiles.chain([("defaults", &[][..])]).map(move |(name, settings)| {
            let value = |p: &Parameter| settings.iter().find(|s| s.0 == p.name).map_or(p.default, |s| s.1);
            let values: Vec<_> = info.parameters.iter().map(value).collect();
            let config = SchemeConfig::new(info.name, &values).expect("values are of their parameters' kinds");
            (format!("{} {name}", info.name), config)
        })
    })
}

#[test]
fn every_scheme_conforms() {
    for (name, config) in configurations() {
        if let Err(broken) = SchemeConfig::visit(&[config], Conformance) {
            panic!("{name}: {broken}");
        }
    }
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
fn a_parameter_has_no_effect_where_its_condition_does_not_hold() {
    let (mut without, mut with) = (0, 0);
    for info in SCHEMES {
        for p in info.parameters {
            let Some(condition) = p.when else { continue };
            let other = info.parameter(condition.parameter).expect("a condition names a parameter");
            for value in every_value(other) {
                let [least, most] =
                    [p.minimum, p.maximum].map(|end| answers(info, &[(other.name, value), (p.name, end)]));
                let (differs, name) = (least != most, format!("{} of {} at {value:?}", p.name, info.name));
                if condition.values.contains(&value) {
                    with += usize::from(differs);
                } else {
                    without += 1;
                    assert!(!differs, "{name}");
                }
            }
        }
    }
    assert!(without > 20 && with > 20, "{without} without effect, {with} with one");
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
        (conforms::<Broken<22>>(&Config), "a number of the scheme, named once"),
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
