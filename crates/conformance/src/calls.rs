//! Sequences of calls of the three roles, and the rules that each call keeps.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Write};

use penstock_schemes::*;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::typical::Typical;
use crate::world::{FLOWS, LINE, Nobody, TwoQueues, Words, frame, place};

/// What values say as `Debug`, for comparison alone: a number of octets, and their hash (FNV-1a). Texts of thousands of answers
/// would take most of a test.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    hash: u64,
    octets: usize,
}

impl Said {
    fn of(value: impl Debug) -> Self {
        let mut said = Self::default();
        said.add(value);
        said
    }

    fn add(&mut self, value: impl Debug) {
        write!(self, "{value:?};").expect("it takes all");
    }
}

impl Write for Said {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &octet in text.as_bytes() {
            self.hash = (self.hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
        }
        self.octets += text.len();
        Ok(())
    }
}

/// Everything that a role has answered, and the lengths and addressees of its signals.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) answers: Said,
    pub(crate) lengths: Vec<u16>,
    addressees: Vec<To>,
}

impl Log {
    fn note(&mut self, answer: impl Debug) {
        self.answers.add(answer);
    }

    fn append(&mut self, later: Log) {
        self.answers.add(later.answers);
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

/// One call of a role.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    /// A frame of this number of octets comes to the queue, or is sent.
    Frame(u16),
    /// A frame is refused by the full queue; or a signal comes.
    Refused(u16),
    /// A frame leaves the queue; or a signal comes.
    Leaves,
    /// This number of nanoseconds passes.
    Wait(u32),
    /// The timer fires when it is due.
    Timeout,
    /// The timer fires although it is not due.
    Early,
    /// The parameters change to those that come next, or stay.
    Configure,
}

pub(crate) fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (64u16..9000).prop_map(Call::Frame),
        1 => (64u16..9000).prop_map(Call::Refused),
        4 => Just(Call::Leaves),
        3 => (0u32..2_000_000).prop_map(Call::Wait),
        2 => Just(Call::Timeout),
        2 => Just(Call::Early),
        1 => Just(Call::Configure),
    ];
    prop::collection::vec(call, 1..300)
}

/// The rule of [`Call::Configure`].
pub(crate) const UNMOVED: &str = "configured with the parameters that it has, a point stays as it is";

/// A rule that a call keeps or breaks.
fn rule(ok: bool, rule: &str) -> Result<(), TestCaseError> {
    prop_assert!(ok, "{}", rule);
    Ok(())
}

/// Parameters, and the least rate that a reaction point keeps under them.
pub(crate) struct Setting<S: Scheme> {
    pub(crate) config: S::Config,
    pub(crate) least_rate: u64,
}

/// The settings that a point goes through, one after the other and again, and the one that it has.
struct SettingCycle<'a, S: Scheme> {
    settings: &'a [Setting<S>],
    at: usize,
}

impl<'a, S: Scheme> SettingCycle<'a, S> {
    fn new(settings: &'a [Setting<S>]) -> Self {
        Self { settings, at: 0 }
    }

    fn now(&self) -> &'a Setting<S> {
        &self.settings[self.at]
    }

    /// Gives a point the next setting, if there is another one, and then the one that it has.
    fn go_on<P: Debug>(&mut self, point: &mut P, configure: impl Fn(&mut P, &S::Config)) -> Result<(), TestCaseError> {
        if self.settings.len() > 1 {
            self.at = (self.at + 1) % self.settings.len();
            configure(point, &self.now().config);
        }
        let before = Said::of(&point);
        configure(point, &self.now().config);
        rule(Said::of(&point) == before, UNMOVED)
    }
}

/// A congestion point under a sequence of calls.
fn drive_cp<S: Scheme>(
    cp: &mut S::Cp,
    calls: &[Call],
    given: &Typical<S>,
    settings: &[Setting<S>],
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut signals) = (Instant(1), given.for_previous_hop.iter().cycle());
    let (mut waiting, mut cycle) = (VecDeque::<u16>::new(), SettingCycle::new(settings));
    for &call in calls {
        let state = |waiting: &VecDeque<u16>| Queue {
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
                rule(known, "frames are moved to queues that the port has")?;
                if verdict == Verdict::Accept {
                    waiting.push_back(octets);
                    join::<S>(cp, now, octets, &mut tag, &state(&waiting), words, log)?;
                } else if verdict == Verdict::Drop {
                    cp.on_arrival(now, frame(octets, &mut tag), Fate::Dropped, &state(&waiting), words, log);
                }
            }
            Call::Frame(octets) => {
                waiting.push_back(octets);
                join::<S>(cp, now, octets, &mut tag, &state(&waiting), words, log)?;
            }
            Call::Refused(octets) => {
                cp.on_arrival(now, frame(octets, &mut tag), Fate::Dropped, &state(&waiting), words, log);
                if let Some(&signal) = signals.next() {
                    cp.on_signal(now, FLOWS[0], signal, &state(&waiting), words, log);
                }
            }
            Call::Leaves => {
                if let Some(octets) = waiting.pop_front() {
                    cp.on_transmission(now, frame(octets, &mut tag), &state(&waiting));
                    let written = Said::of(tag);
                    let stamped = written != Said::of(S::Tag::default());
                    rule(S::Cp::STAMPS || !stamped, "a point that writes into frames that leave says so")?;
                    cp.on_departure(now, frame(octets, &mut tag), &state(&waiting));
                    rule(Said::of(tag) == written, "a frame that has left stays as it is")?;
                }
            }
            Call::Wait(ns) => now += Duration(u64::from(ns) * 1000),
            Call::Timeout => {
                if let Some(at) = cp.next_timeout() {
                    now = now.max(at);
                    let before = log.addressees.len();
                    cp.on_timeout(now, &state(&waiting), words, log);
                    let silent = log.addressees.len() == before;
                    rule(
                        silent || given.remembers_flows,
                        "a point that remembers no flow signals none without a frame",
                    )?;
                    rule(cp.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if cp.next_timeout().is_none_or(|at| at > now) {
                    let before = (Said::of(&*cp), log.answers.octets);
                    cp.on_timeout(now, &state(&waiting), words, log);
                    rule((Said::of(&*cp), log.answers.octets) == before, "an early timeout does nothing")?;
                }
            }
            Call::Configure => cycle.go_on(cp, |cp, config| cp.configure(config, place()))?,
        }
        let mut row = vec![i64::MIN; S::Cp::VARS.len()];
        cp.vars(&mut row);
        rule(!row.contains(&i64::MIN), "every variable of VARS is written")?;
        if !matches!(call, Call::Configure) {
            log.note((tag, cp.next_timeout(), row));
        }
    }
    Ok(())
}

/// A frame joins the queue, whose `state` has it already.
fn join<S: Scheme>(
    cp: &mut S::Cp,
    now: Instant,
    octets: u16,
    tag: &mut S::Tag,
    state: &Queue,
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    cp.on_arrival(now, frame(octets, tag), Fate::Queued, state, words, log);
    rule(!S::label(tag).marked(), "frames are marked by `mark` alone")?;
    let before = *tag;
    cp.mark(now, frame(octets, tag), state.len, words);
    rule(S::Cp::MARKS || Said::of(tag) == Said::of(before), "a point that marks says so")
}

/// A reaction point with two flows under a sequence of calls.
fn drive_rp<S: Scheme>(
    rp: &mut S::Rp,
    calls: &[Call],
    given: &Typical<S>,
    settings: &[Setting<S>],
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut signals) = (Instant(1), given.for_source.iter().cycle());
    let mut echoes = given.echoes.iter().cycle();
    let own = |log: &Log| log.addressees.iter().all(|to| FLOWS.iter().any(|&flow| *to == To::Destination(flow)));
    let (mut sent, mut cycle) = (Log::default(), SettingCycle::new(settings));
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
                rule(kept, "a flow that has waited until the instant of `admits` is admitted")?;
                log.note(at);
            }
            Call::Refused(_) | Call::Leaves => {
                if let Some(&signal) = signals.next() {
                    let before = rp.allowance().rate;
                    rp.on_signal(now, FLOWS[0], signal, words, &mut sent);
                    let lowered = rp.allowance().rate <= before;
                    let raises = S::info(&cycle.now().config).raises_on_signal;
                    rule(lowered || raises, "a signal raises the rate only in schemes that say so")?;
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
                    rule(rp.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if rp.next_timeout().is_none_or(|at| at > now) {
                    let before = (Said::of(&*rp), sent.answers.octets);
                    rp.on_timeout(now, words, &mut sent);
                    rule((Said::of(&*rp), sent.answers.octets) == before, "an early timeout does nothing")?;
                }
            }
            Call::Configure => cycle.go_on(rp, |rp, config| rp.configure(config, LINE))?,
        }
        let rate = rp.allowance().rate;
        let least = cycle.now().least_rate;
        rule(rate.0 == 0 || (least..=LINE.0).contains(&rate.0), "the allowed rate is zero or within [minimum, line]")?;
        let window = rp.allowance().window;
        rule(window.is_none() || given.acknowledged, "only a scheme with acknowledgements has a window")?;
        rule(rp.limiting() || rate == LINE, "without a limiter the rate is the line's")?;
        let mut row = vec![i64::MIN; S::Rp::VARS.len()];
        rp.vars(&mut row);
        rule(!row.contains(&i64::MIN), "every variable of VARS is written")?;
        if !matches!(call, Call::Configure) {
            log.note((rp.allowance(), rp.next_timeout(), row));
        }
    }
    rule(own(&sent), "a reaction point signals only destinations of its flows")?;
    log.append(sent);
    Ok(())
}

/// A notification point under a sequence of calls.
fn drive_np<S: Scheme>(
    np: &mut S::Np,
    calls: &[Call],
    given: &Typical<S>,
    settings: &[Setting<S>],
    words: &mut Words,
    log: &mut Log,
) -> Result<(), TestCaseError> {
    let (mut now, mut probes) = (Instant(1), given.for_destination.iter().cycle());
    let mut tags = given.tags.iter().cycle();
    let (mut sent, mut cycle) = (Log::default(), SettingCycle::new(settings));
    for &call in calls {
        match call {
            Call::Frame(octets) => {
                let mut tag = tags.next().copied().unwrap_or_default();
                np.on_frame(now, frame(octets, &mut tag), words, &mut sent);
                if let Some(echo) = np.acknowledge(now, frame(octets, &mut tag)) {
                    log.note(echo);
                }
                if np.asks() {
                    rule(S::Np::GRANTS, "a point that asks says that it grants")?;
                    rule(
                        np.grant(now, LINE, words, &mut sent) > 0,
                        "a point that asks for a turn grants a frame in it",
                    )?;
                }
                if let Some(left) = np.left_to_grant() {
                    rule(S::Np::RANKS, "a point with something left to grant says that points are ranked")?;
                    np.grant_ranked(now, u32::from(octets % 3), 3, &mut sent);
                    rule(np.left_to_grant() <= Some(left), "a grant leaves less to grant")?;
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
                    rule(np.next_timeout().is_none_or(|next| next > now), "after a timeout the next one lies ahead")?;
                }
            }
            Call::Early => {
                if np.next_timeout().is_none_or(|at| at > now) {
                    let before = (Said::of(&*np), sent.answers.octets);
                    np.on_timeout(now, words, &mut sent);
                    rule((Said::of(&*np), sent.answers.octets) == before, "an early timeout does nothing")?;
                }
            }
            Call::Configure => cycle.go_on(np, |np, config| np.configure(config))?,
        }
        if !matches!(call, Call::Configure) {
            log.note(np.next_timeout());
        }
    }
    let mut tag = tags.next().copied().unwrap_or_default();
    let last = np.acknowledge(now, Frame { last: true, ..frame(1499, &mut tag) });
    rule(
        last.is_some() == given.acknowledged,
        "the last frame of a flow is acknowledged where the scheme says that it acknowledges",
    )?;
    np.on_complete(now, &mut sent);
    rule(!np.asks(), "a point whose flow is complete asks for no turn")?;
    let own = sent.addressees.iter().all(|&to| to == To::Source(FLOWS[0]));
    rule(own, "a notification point signals only the source of its flow")?;
    log.append(sent);
    Ok(())
}

/// A point of each role, the words that they draw, and their answers.
#[derive(Clone)]
pub(crate) struct Points<S: Scheme> {
    cp: S::Cp,
    np: S::Np,
    pub(crate) rp: S::Rp,
    pub(crate) words: Words,
    pub(crate) log: Log,
}

impl<S: Scheme> Points<S> {
    pub(crate) fn new(config: &S::Config, words: Words) -> Self {
        let (cp, rp) = (S::Cp::new(config, place()), S::Rp::new(config, LINE));
        Self { cp, np: S::Np::new(config, FLOWS[0]), rp, words, log: Log::default() }
    }

    /// All of them under a sequence of calls; they have the first of `settings`.
    pub(crate) fn drive(
        &mut self,
        calls: &[Call],
        given: &Typical<S>,
        settings: &[Setting<S>],
    ) -> Result<(), TestCaseError> {
        let Self { cp, np, rp, words, log } = self;
        drive_cp::<S>(cp, calls, given, settings, words, log)?;
        drive_np::<S>(np, calls, given, settings, words, log)?;
        drive_rp::<S>(rp, calls, given, settings, words, log)
    }
}

/// Left alone and sending, the rate returns to the line's.
pub(crate) fn recovers<S: Scheme>(rp: &mut S::Rp, words: &mut Words) -> Result<(), TestCaseError> {
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
    rule(false, "a scheme that recovers alone returns to the line rate")
}
