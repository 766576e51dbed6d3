//! SMCC, Sliding Mode Congestion Control (Jiang et al. 2015).
//!
//! A congestion point samples frames and always answers: the queue's offset from its target and its growth since the
//! sample before, separately and with their signs. The reaction point needs no counter, no timer and no phase. The two
//! signs say whether the queue runs away from its target (state A: act on the offset, strongly) or returns to it
//! (state B: act on the growth, gently). The line "growth = 0" is then a sliding regime that leads to the target.
//!
//! ```text
//!   congestion point                     reaction point                        growth of the queue
//!   sample? --no--> (nothing)                                                          ^
//!     | yes                              signs of q_off and q_delta        B           |           A
//!     +-- Notice { q_off, q_delta } -->    agree:  r -= alpha q_off   r -= beta q_delta|r -= alpha q_off
//!         q_old = q                        differ: r -= beta q_delta  -----------------+------------> offset
//!                                        r within [min_rate, line]         A           |           B
//!                                                                     r -= alpha q_off | r -= beta q_delta
//! ```
//!
//! All state is integer. The gains are a mantissa of 18 bits and a shift ([`Gain`]), as a multiplier of FPGAs takes them.
//!
//! Where the paper is silent or its results need another reading, each reading is a parameter. The defaults fit
//! figures 15, 16 and 18 to 23 but for the equilibrium at 48 KB with a small gain (the "deal-breaker", remark 1 of
//! section 4.3), which has its own profile.

use crate::info::values::{choice, count, kbps, mbps, octets, real, switch};
use crate::info::{Action, Forms, Info, Profile, Signals, Threshold, choice, parameters};
use crate::none::Silent;
use crate::parts::ecm::Rlt;
use crate::parts::gain::Gain;
use crate::parts::jitter::Spread;
use crate::parts::sampler::{Even, FirstInterval, Sampler};
use crate::units::{BitRate, CpId, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, Message, Out, Place, Queue, ReactionPoint, Release,
    Scheme, Signal, To, Var,
};

/// Sliding Mode Congestion Control.
#[derive(Debug, Clone, Copy)]
pub struct Smcc;

choice! {
    /// The state when the queue has not changed since the sample before.
    pub enum DeltaZero {
        /// State A: the offset still stands, so it is acted upon. (Fits figures 15 to 23)
        StateA = "state-a",
        /// State B: nothing changes. A queue that has filled then stays full.
        StateB = "state-b",
        /// Sign bits are compared, so 0 counts as positive: A above the target, B below. (Section 5.1, "XOR of the
        /// signs"; fits the deal-breaker)
        SignBit = "sign-bit",
    }
}

choice! {
    /// The effect of a notice of a queue exactly at its target.
    pub enum OffsetZero {
        /// Sign bits are compared, so 0 counts as positive: with a growing queue state A, whose change is then zero, with
        /// a shrinking one state B. (Section 5.1, "XOR of the signs")
        SignBit = "sign-bit",
        /// State B: the growth is acted upon, whichever its sign.
        StateB = "state-b",
        /// Nothing: the queue is where it should be.
        NoChange = "no-change",
    }
}

choice! {
    /// The sources that a congestion point asks to raise the rate.
    pub enum IncreaseTo {
        /// The source of every sampled frame.
        All = "all",
        /// Sources that are bound to this congestion point, which their frames say. (The rule of BCN's rate-limited tag)
        Bound = "bound",
    }
}

choice! {
    /// The notices that raise the rate, by their congestion point.
    pub enum IncreaseFrom {
        /// Those of the congestion point that lowered it last. (The rule of BCN, which the paper's framework comes from)
        Bound = "bound",
        /// All.
        Any = "any",
    }
}

choice! {
    /// Which notices bind the limiter to their congestion point.
    pub enum BindOn {
        /// Those that lower the rate while the queue is above its target: a queue that is short congests nobody.
        AboveTarget = "above-target",
        /// All that lower the rate.
        Decrease = "decrease",
    }
}

parameters! {
    /// SMCC's parameters.
    pub struct Config {
        /// Target of the queue length, q0.
        q0: Threshold {
            default: octets(64_000),
            range: octets(100)..=octets(2_147_483_647),
            source: "Jiang et al. 2015 section 5.2",
        }
        /// Whether every n-th frame is sampled or each frame with a probability.
        sampling: Even {
            default: choice("count"),
            source: "option; Jiang et al. 2015 section 2.2 says \"periodically with probability p\"",
        }
        /// Frames from one sample to the next.
        sample_count: u32 {
            default: count(100),
            range: count(1)..=count(1_000_000_000),
            source: "Jiang et al. 2015 (p = 0.01)",
            when: sampling = "count",
        }
        /// Probability of a sample.
        sample_probability: f64 {
            default: real(0.01),
            range: real(0.0)..=real(1.0),
            source: "Jiang et al. 2015 (p = 0.01)",
            when: sampling = "probability",
        }
        /// Spread of the counted intervals (0.15 for ±15 %). At 0 a count can keep step with periodic traffic, and
        /// then samples some sources more often than others.
        sample_jitter: f64 {
            default: real(0.0),
            range: real(0.0)..=real(0.99),
            source: "option; BCN and QCN have 0.15",
            when: sampling = "count",
        }
        /// How long the first counted interval of a congestion point is.
        first_interval: FirstInterval {
            default: choice("whole"),
            source: "option",
            when: sampling = "count",
        }
        /// Frames that the full queue refuses count for sampling.
        sample_dropped: bool {
            default: switch(true),
            source: "option",
        }
        /// Change of the rate in state A when the offset is ra_at; this sets alpha (with two stages the larger alpha).
        ra: BitRate {
            default: mbps(256),
            range: kbps(1)..=mbps(1_000_000),
            source: "Jiang et al. 2015 section 5.4, Ra and Rlarge",
        }
        /// Offset at which the change is ra.
        ra_at: Octets {
            default: octets(64_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "option; the largest offset with q0 64 KB and a buffer of 128 KB",
        }
        /// Two values of alpha: the larger while the queue changes fast.
        two_stage: bool {
            default: switch(false),
            source: "Jiang et al. 2015 section 4.4",
        }
        /// Change of the rate in state A when the offset is ra_at and the queue changes by t1 or less.
        ra_small: BitRate {
            default: mbps(128),
            range: kbps(1)..=mbps(1_000_000),
            source: "Jiang et al. 2015 section 5.4, Rsmall",
            when: two_stage = true,
        }
        /// A change of the queue by more, up or down, calls for the larger alpha.
        t1: Octets {
            default: octets(8_000),
            range: octets(0)..=octets(1_000_000_000),
            source: "Jiang et al. 2015 section 5.4, T1",
            when: two_stage = true,
        }
        /// Change of the rate in state B when the growth is rb_at; this sets beta.
        rb: BitRate {
            default: mbps(64),
            range: kbps(1)..=mbps(1_000_000),
            source: "Jiang et al. 2015 section 5.4, Rb",
        }
        /// Growth at which the change is rb.
        rb_at: Octets {
            default: octets(16_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "option; 8 to 16 KB fit the figures",
        }
        /// A change is never larger than ra and rb, whatever offset and growth.
        hold_change: bool {
            default: switch(false),
            source: "option; \"the maximum amount of the rate adjustment\", Jiang et al. 2015 section 5.2",
        }
        /// The state when the queue has not changed.
        delta_zero: DeltaZero {
            default: choice("state-a"),
            source: "option; Jiang et al. 2015 section 5.1",
        }
        /// The effect of a notice of a queue exactly at its target.
        offset_zero: OffsetZero {
            default: choice("sign-bit"),
            source: "option; Jiang et al. 2015 section 5.1",
        }
        /// The sources that a congestion point asks to raise the rate.
        increase_to: IncreaseTo {
            default: choice("all"),
            source: "option; Jiang et al. 2015 section 2.2",
        }
        /// The notices that raise the rate, by their congestion point.
        increase_from: IncreaseFrom {
            default: choice("bound"),
            source: "option; BCN's rule",
        }
        /// Which notices bind the limiter to their congestion point.
        bind_on: BindOn {
            default: choice("above-target"),
            source: "option",
        }
        /// Least rate.
        min_rate: BitRate {
            default: mbps(10),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "option",
        }
    }
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "paper-sliding-mode",
        description: "Jiang et al. 2015 at 1 Gb/s with one value of alpha: Ra 256 Mb/s, Rb 64 Mb/s, target 64 KB of a buffer of 128 KB.",
        settings: &[("q0", octets(64_000)), ("ra", mbps(256)), ("rb", mbps(64)), ("two_stage", switch(false))],
    },
    Profile {
        name: "two-stage",
        description: "The settings that Jiang et al. 2015 recommend at 1 Gb/s: Ra 256 and 128 Mb/s, T1 8 KB, Rb 64 Mb/s.",
        settings: &[
            ("two_stage", switch(true)),
            ("ra", mbps(256)),
            ("ra_small", mbps(128)),
            ("t1", octets(8_000)),
            ("rb", mbps(64)),
        ],
    },
    Profile {
        name: "dealbreaker",
        description: "The readings under which Jiang et al.'s figure 15 settles at 48 KB with Ra 64 Mb/s; they starve \
                      sources when little bandwidth is left.",
        settings: &[
            ("ra", mbps(64)),
            ("sampling", choice("probability")),
            ("delta_zero", choice("sign-bit")),
            ("rb_at", octets(7_000)),
        ],
    },
    Profile {
        name: "scaled-10g",
        description: "Scaled by this project, in no source: rates times 10, lengths times 24/64, for 10 Gb/s, frames of \
                      1500 octets and a buffer of 150 KB.",
        settings: &[
            ("q0", octets(24_000)),
            ("sample_count", count(25)),
            ("sample_probability", real(0.04)),
            ("ra", mbps(2560)),
            ("ra_at", octets(24_000)),
            ("ra_small", mbps(1280)),
            ("t1", octets(3_000)),
            ("rb", mbps(640)),
            ("rb_at", octets(6_000)),
            ("min_rate", mbps(100)),
        ],
    },
];

/// A congestion point's report on its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// The congestion point that sent it.
    pub cp: CpId,
    /// Queue length less the target, octets.
    pub q_off: i32,
    /// Growth of the queue since the sample before, octets.
    pub q_delta: i32,
}

impl Notice {
    /// Length of the frame: that of a QCN notification, for it replaces one field of it by another.
    pub const OCTETS: u16 = 64;
}

impl Signal for Notice {
    const VARS: &'static [Var] = &[
        Var { name: "q_off_octets", description: "queue length less the target, octets" },
        Var { name: "q_delta_octets", description: "growth of the queue since the sample before, octets" },
    ];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        let Self { cp, q_off, q_delta } = *self;
        Some(Message::Smcc { cp, q_off, q_delta })
    }

    fn from_message(message: Message) -> Option<Self> {
        let Message::Smcc { cp, q_off, q_delta } = message else { return None };
        Some(Self { cp, q_off, q_delta })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(self.q_off), i64::from(self.q_delta)]);
    }
}

impl Scheme for Smcc {
    const INFO: Info = Info {
        name: "smcc",
        title: "Sliding Mode Congestion Control",
        source: "Jiang et al. 2015 (SMCC for data center Ethernet, with its NetFPGA implementation)",
        description: "Switches sample frames and send the source the queue's offset and growth; their signs choose which \
                      of the two changes the rate.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q0"),
        signals: Some(Signals::backward(Notice::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[&["q0"], &["ra"], &["rb"], &["ra_small"], &["t1"], &["sample_count"], &["sample_probability"]],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("smcc"), cores: &["cp", "smcc_rp"] },
    };
    type Config = Config;
    type Tag = Rlt;
    type Echo = crate::Never;
    type Signal = Notice;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    fn label(tag: &Rlt) -> Label {
        tag.0.map_or(Label::CnTag, Label::Rlt)
    }

    fn from_label(label: Label) -> Rlt {
        Rlt::of(label)
    }
}

/// SMCC's congestion point.
#[derive(Debug, Clone)]
pub struct Cp {
    id: CpId,
    sampler: Sampler,
    q0: u64,
    sample_dropped: bool,
    law: Law,
    increase_to: IncreaseTo,
    q_old: u64,
}

impl CongestionPoint<Smcc> for Cp {
    const VARS: &'static [Var] =
        &[Var { name: "q_old_octets", description: "queue length at the last sample, octets" }];

    fn new(config: &Config, place: Place) -> Self {
        Self {
            id: place.cp,
            sampler: Sampler::even(
                config.sampling,
                config.sample_count,
                config.sample_probability,
                Spread::new(config.sample_jitter),
                config.first_interval,
            ),
            q0: config.q0.0,
            sample_dropped: config.sample_dropped,
            law: Law::new(config),
            increase_to: config.increase_to,
            q_old: 0,
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        let fresh = <Self as CongestionPoint<Smcc>>::new(config, place);
        self.sampler.configure(fresh.sampler.clone());
        *self = Self { sampler: self.sampler.clone(), q_old: self.q_old, ..fresh };
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Instant,
        frame: Frame<'_, Rlt>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<Smcc>,
    ) {
        if fate == Fate::Dropped && !self.sample_dropped {
            return;
        }
        if !self.sampler.sample(frame.octets, || 0, draw) {
            return;
        }
        self.sampler.reload(0, draw);
        let len = queue.len.0;
        let notice = Notice { cp: self.id, q_off: difference(len, self.q0), q_delta: difference(len, self.q_old) };
        self.q_old = len;
        let asks_for_more = self.law.acts_on(&notice).is_some_and(|(_, by)| by < 0);
        if asks_for_more && self.increase_to == IncreaseTo::Bound && *frame.tag != Rlt(Some(self.id)) {
            return;
        }
        out.send(To::Source(frame.flow), Class::Control, notice);
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.q_old as i64]);
    }
}

/// `a - b`, held within 32 bits.
fn difference(a: u64, b: u64) -> i32 {
    (a as i64 - b as i64).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// The half-planes of figure 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The queue runs away from its target.
    A,
    /// The queue returns to its target.
    B,
}

/// How the signs of a notice choose the state. The congestion point needs it too, to know which sources it may ask.
#[derive(Debug, Clone, Copy)]
struct Law {
    delta_zero: DeltaZero,
    offset_zero: OffsetZero,
}

impl Law {
    fn new(config: &Config) -> Self {
        Self { delta_zero: config.delta_zero, offset_zero: config.offset_zero }
    }

    fn state(self, notice: &Notice) -> State {
        let agree = (notice.q_off < 0) == (notice.q_delta < 0);
        let a = match (notice.q_delta, self.delta_zero) {
            _ if notice.q_off == 0 && self.offset_zero == OffsetZero::StateB => false,
            (0, DeltaZero::StateA) => true,
            (0, DeltaZero::StateB) => false,
            _ => agree,
        };
        if a { State::A } else { State::B }
    }

    /// The state, and the length to act on in it, octets: positive to slow down. `None` where nothing is to be done.
    fn acts_on(self, notice: &Notice) -> Option<(State, i32)> {
        if notice.q_off == 0 && self.offset_zero == OffsetZero::NoChange {
            return None;
        }
        Some(match self.state(notice) {
            State::A => (State::A, notice.q_off),
            State::B => (State::B, notice.q_delta),
        })
    }
}

/// SMCC's reaction point: a rate, and the congestion point that it is bound to.
#[derive(Debug, Clone)]
pub struct Rp {
    rate: u64,
    min_rate: u64,
    max_rate: u64,
    alpha: Gain,
    /// Where the queue changes by no more than `t1`.
    alpha_small: Gain,
    /// With one stage both alphas are the same, and it decides nothing.
    t1: u64,
    beta: Gain,
    ra: u64,
    rb: u64,
    law: Law,
    bound_only: bool,
    bind_above_target: bool,
    bound: Option<CpId>,
    /// The last change of the rate, bit/s, for observers.
    change: i64,
}

impl Rp {
    /// The state that a notice stands for.
    #[must_use]
    pub fn state(&self, notice: &Notice) -> State {
        self.law.state(notice)
    }

    /// The decrease of the rate for `notice` (an increase, if negative), bit/s. Rounded towards zero.
    #[must_use]
    pub fn decrease(&self, notice: &Notice) -> i64 {
        let Some((state, by)) = self.law.acts_on(notice) else { return 0 };
        let (gain, most) = match state {
            State::A if u64::from(notice.q_delta.unsigned_abs()) > self.t1 => (self.alpha, self.ra),
            State::A => (self.alpha_small, self.ra),
            State::B => (self.beta, self.rb),
        };
        let size = gain.times(by.unsigned_abs()).min(most) as i64;
        if by < 0 { -size } else { size }
    }
}

impl ReactionPoint<Smcc> for Rp {
    const VARS: &'static [Var] = &[Var { name: "change_bps", description: "last change of the rate, bit/s" }];

    fn new(config: &Config, line: BitRate) -> Self {
        let alpha = Gain::new(config.ra.0, config.ra_at.0);
        let most = |rate: BitRate| if config.hold_change { rate.0 } else { i64::MAX as u64 };
        Self {
            rate: line.0,
            min_rate: config.min_rate.0.min(line.0),
            max_rate: line.0,
            alpha,
            alpha_small: if config.two_stage { Gain::new(config.ra_small.0, config.ra_at.0) } else { alpha },
            t1: config.t1.0,
            beta: Gain::new(config.rb.0, config.rb_at.0),
            ra: most(config.ra),
            rb: most(config.rb),
            law: Law::new(config),
            bound_only: config.increase_from == IncreaseFrom::Bound,
            bind_above_target: config.bind_on == BindOn::AboveTarget,
            bound: None,
            change: 0,
        }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        let Self { rate, bound, change, .. } = *self;
        let fresh = Self::new(config, line);
        *self = Self { rate: rate.max(fresh.min_rate), bound, change, ..fresh };
    }

    fn on_signal(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        notice: Notice,
        _draw: &mut impl Draw,
        _out: &mut impl Out<Smcc>,
    ) {
        let decrease = self.decrease(&notice);
        if decrease < 0 && self.bound_only && self.bound != Some(notice.cp) {
            return;
        }
        if decrease > 0 && (notice.q_off > 0 || !self.bind_above_target) {
            self.bound = Some(notice.cp);
        }
        let before = self.rate as i64;
        let rate = before.saturating_sub(decrease).clamp(self.min_rate as i64, self.max_rate as i64);
        self.change = rate - before;
        self.rate = rate as u64;
    }

    #[inline]
    fn on_send(&mut self, _now: Instant, _frame: Release, _draw: &mut impl Draw, _out: &mut impl Out<Smcc>) -> Rlt {
        Rlt(self.bound.filter(|_| self.limiting()))
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _now: Instant, _draw: &mut impl Draw, _out: &mut impl Out<Smcc>) {}

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.rate), window: None }
    }

    fn limiting(&self) -> bool {
        self.rate < self.max_rate
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.change]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;
    use crate::{SchemeConfig, Value};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Always the same word.
    struct Word(u32);
    impl Draw for Word {
        fn draw(&mut self) -> u32 {
            self.0
        }
    }

    /// Keeps the notices that were sent.
    #[derive(Default)]
    struct Sent(Vec<(To, Class, Notice)>);
    impl Out<Smcc> for Sent {
        fn send(&mut self, to: To, class: Class, signal: Notice) {
            self.0.push((to, class, signal));
        }
    }

    fn config(profile: &str, changes: &[(&str, Value)]) -> Config {
        let info = Smcc::INFO;
        let profile = if profile.is_empty() { &[][..] } else { info.profile(profile).expect("a profile").settings };
        let value = |p: &crate::Parameter| {
            changes.iter().chain(profile).find(|(name, _)| *name == p.name).map_or(p.default, |(_, value)| *value)
        };
        let values: Vec<_> = info.parameters.iter().map(value).collect();
        let Some(SchemeConfig::Smcc(config)) = SchemeConfig::new("smcc", &values) else { panic!("kinds agree") };
        config
    }

    const C1: CpId = CpId(1);
    const C2: CpId = CpId(2);
    const GBPS: u64 = 1_000_000_000;

    fn rp(profile: &str, changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config(profile, changes), BitRate::from_gbps(1))
    }

    fn notify(rp: &mut Rp, cp: CpId, q_off: i32, q_delta: i32) -> u64 {
        rp.on_signal(Instant::ZERO, FlowKey(7), Notice { cp, q_off, q_delta }, &mut Word(0), &mut Sent::default());
        rp.allowance().rate.0
    }

    /// alpha = 256 Mb/s / 64 000 octets and beta = 64 Mb/s / 16 000 octets: both 4000 bit/s an octet.
    #[test]
    fn equation_25() {
        let mut rp = rp("", &[]);
        assert!(!rp.limiting());
        assert_eq!(rp.next_timeout(), None, "it has no timer");
        // State A, queue too long and growing: 1000 - 4000 × 64 000 = 1000 - 256 Mb/s.
        assert_eq!(notify(&mut rp, C1, 64_000, 20_000), 744_000_000);
        assert!(rp.limiting());
        // State B, too long but shrinking: the rate rises by 4000 × 5000 = 20 Mb/s.
        assert_eq!(notify(&mut rp, C1, 30_000, -5_000), 764_000_000);
        // State A, too short and shrinking: rises by 4000 × 10 000 = 40 Mb/s.
        assert_eq!(notify(&mut rp, C1, -10_000, -1_000), 804_000_000);
        // State B, too short but growing: falls by 4000 × 1000 = 4 Mb/s.
        assert_eq!(notify(&mut rp, C1, -10_000, 1_000), 800_000_000);
        let mut row = [0];
        rp.vars(&mut row);
        assert_eq!(row, [-4_000_000]);
        // Never above the line, never below 10 Mb/s.
        assert_eq!(notify(&mut rp, C1, -64_000, -1), GBPS);
        assert!(!rp.limiting());
        for _ in 0..5 {
            notify(&mut rp, C1, 64_000, 1);
        }
        assert_eq!(rp.allowance().rate.0, 10_000_000);
    }

    #[test]
    fn a_queue_that_stands_still() {
        // Too long by 10 000 or too short by 10 000: state A takes or gives 40 Mb/s.
        let start = 744_000_000;
        for (word, above, below) in [
            ("state-a", start - 40_000_000, start + 40_000_000),
            ("state-b", start, start),
            ("sign-bit", start - 40_000_000, start),
        ] {
            for (q_off, expected) in [(10_000, above), (-10_000, below)] {
                let mut rp = rp("", &[("delta_zero", choice(word))]);
                notify(&mut rp, C1, 64_000, 1);
                assert_eq!(notify(&mut rp, C1, q_off, 0), expected, "{word} at {q_off}");
            }
        }
    }

    #[test]
    fn a_queue_at_its_target_acts_on_its_growth_alone() {
        // Shrinking by 4000 at the target, where 0 counts as positive: state B, 4000 × 4000 = 16 Mb/s more.
        let mut rp = rp("", &[]);
        notify(&mut rp, C1, 64_000, 1);
        assert_eq!(notify(&mut rp, C1, 0, -4_000), 760_000_000);
    }

    #[test]
    fn a_notice_that_changes_nothing_binds_nobody() {
        let mut rp = rp("", &[("delta_zero", choice("state-b"))]);
        notify(&mut rp, C1, 64_000, 1);
        // Another queue that stands still: its growth is 0, and so is the change.
        assert_eq!(notify(&mut rp, C2, 10_000, 0), 744_000_000);
        let mut row = [1];
        rp.vars(&mut row);
        assert_eq!(row, [0]);
        assert_eq!(notify(&mut rp, C1, -10_000, -1), 784_000_000, "C1 is still the one");
    }

    /// Section 4.4: the larger alpha where the queue changes by more than 8 KB, in either direction.
    #[test]
    fn two_values_of_alpha() {
        let mut rp = rp("two-stage", &[]);
        assert_eq!(notify(&mut rp, C1, 32_000, 8_000), GBPS - 64_000_000, "2000 bit/s × 32 000");
        assert_eq!(notify(&mut rp, C1, 32_000, 8_001), GBPS - 192_000_000, "4000 bit/s × 32 000 more");
        assert_eq!(notify(&mut rp, C1, -8_000, -8_000), GBPS - 176_000_000, "2000 bit/s × 8000 back");
        assert_eq!(notify(&mut rp, C1, -8_000, -8_001), GBPS - 144_000_000, "4000 bit/s × 8000 back");
    }

    #[test]
    fn a_change_can_be_held() {
        for (on, expected) in [(false, 800_000_000), (true, 936_000_000)] {
            let mut rp = rp("", &[("hold_change", switch(on))]);
            // Too short, growing by 50 000: 4000 × 50 000 = 200 Mb/s, held at Rb = 64 Mb/s.
            assert_eq!(notify(&mut rp, C1, -14_000, 50_000), expected);
        }
    }

    #[test]
    fn only_the_bound_congestion_point_raises() {
        let mut bound = rp("", &[]);
        notify(&mut bound, C1, 64_000, 1);
        assert_eq!(notify(&mut bound, C2, -64_000, -1), 744_000_000, "the other queue is empty: no matter");
        // An uncongested queue that grows lowers the rate by 4 Mb/s, but does not take over...
        assert_eq!(notify(&mut bound, C2, -63_000, 1_000), 740_000_000);
        assert_eq!(notify(&mut bound, C1, -10_000, -1), 780_000_000);
        // ... a congested one does.
        assert_eq!(notify(&mut bound, C2, 10_000, 1), 740_000_000);
        assert_eq!(notify(&mut bound, C1, -10_000, -1), 740_000_000);

        let mut any_decrease = rp("", &[("bind_on", choice("decrease"))]);
        notify(&mut any_decrease, C1, 64_000, 1);
        notify(&mut any_decrease, C2, -63_000, 1_000);
        assert_eq!(notify(&mut any_decrease, C1, -10_000, -1), 740_000_000, "now C2 is bound");

        let mut any = rp("", &[("increase_from", choice("any"))]);
        notify(&mut any, C1, 64_000, 1);
        assert_eq!(notify(&mut any, C2, -10_000, -1), 784_000_000);
    }

    #[test]
    fn a_queue_at_its_target_has_three_readings() {
        // 4000 bit/s an octet of growth, if that is acted upon; one step down first, so that the rate can rise.
        for (reading, growing, shrinking) in [
            ("sign-bit", 744_000_000, 784_000_000),
            ("state-b", 704_000_000, 744_000_000),
            ("no-change", 744_000_000, 744_000_000),
        ] {
            let mut rp = rp("", &[("offset_zero", choice(reading))]);
            notify(&mut rp, C1, 64_000, 1);
            assert_eq!(notify(&mut rp, C1, 0, 10_000), growing, "{reading}");
            assert_eq!(notify(&mut rp, C1, 0, -10_000), shrinking, "{reading}");
            assert_eq!(notify(&mut rp, C1, 0, 0), shrinking, "{reading}: no growth, no change");
            // A cut at the target does not bind: this queue is not above it.
            notify(&mut rp, C2, 0, 1_000);
            assert_eq!(rp.bound, Some(C1), "{reading}");
        }
    }

    #[test]
    fn a_congestion_point_may_ask_only_its_own_sources_to_rise() {
        let sampled = |to: &'static str, len: u64, tag: Option<CpId>| {
            let mut cp = cp(&[("sample_count", count(1)), ("increase_to", choice(to))]);
            arrive(&mut cp, 64_000, Fate::Queued);
            arrive_tagged(&mut cp, len, Fate::Queued, tag)
        };
        // Short and shrinking: state A raises.
        assert_eq!(sampled("all", 60_000, None), Some((-4_000, -4_000)));
        assert_eq!(sampled("bound", 60_000, None), None);
        assert_eq!(sampled("bound", 60_000, Some(C2)), None);
        assert_eq!(sampled("bound", 60_000, Some(C1)), Some((-4_000, -4_000)));
        // Long and growing: every source is signalled.
        assert_eq!(sampled("bound", 70_000, None), Some((6_000, 6_000)));
        // A frame's tag says where its source was slowed, for as long as it is.
        let mut rp = rp("", &[]);
        let tag = |rp: &mut Rp| {
            let release = Release { flow: FlowKey(7), octets: 1000, seq: Octets(0), last: false };
            rp.on_send(Instant::ZERO, release, &mut Word(0), &mut Sent::default())
        };
        assert_eq!(tag(&mut rp), Rlt(None));
        notify(&mut rp, C1, 64_000, 1);
        assert_eq!(tag(&mut rp), Rlt(Some(C1)));
        assert_eq!(notify(&mut rp, C1, -64_000, -1), GBPS);
        assert_eq!(tag(&mut rp), Rlt(None), "at line rate there is no limiter");
    }

    fn arrive(cp: &mut Cp, len: u64, fate: Fate) -> Option<(i32, i32)> {
        arrive_tagged(cp, len, fate, None)
    }

    fn arrive_tagged(cp: &mut Cp, len: u64, fate: Fate, tag: Option<CpId>) -> Option<(i32, i32)> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let tag = &mut Rlt(tag);
        let frame = Frame {
            flow: FlowKey(7),
            octets: 1000,
            weight: 1,
            seq: Octets(0),
            last: false,
            trimmed: false,
            sent_at: Instant::ZERO,
            tag,
        };
        cp.on_arrival(Instant::ZERO, frame, fate, &queue, &mut Word(0), &mut sent);
        sent.0.first().map(|&(to, class, notice)| {
            assert_eq!((to, class, notice.cp), (To::Source(FlowKey(7)), Class::Control, C1));
            (notice.q_off, notice.q_delta)
        })
    }

    #[test]
    fn a_notice_is_a_short_frame_whose_fields_can_be_watched() {
        let notice = Notice { cp: C1, q_off: 36_000, q_delta: -5 };
        let mut row = [0; 2];
        notice.vars(&mut row);
        assert_eq!((notice.octets(), row), (64, [36_000, -5]));
    }

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let place = Place { cp: C1, line: BitRate::from_gbps(1), capacity: Octets(128_000), phase: Duration::ZERO };
        Cp::new(&config("", changes), place)
    }

    #[test]
    fn each_sample_is_answered_with_both_signs() {
        let mut cp = cp(&[("sample_count", count(2))]);
        assert_eq!(arrive(&mut cp, 90_000, Fate::Queued), None, "the first of two is not sampled");
        assert_eq!(arrive(&mut cp, 100_000, Fate::Queued), Some((36_000, 100_000)));
        assert_eq!(arrive(&mut cp, 0, Fate::Queued), None);
        assert_eq!(arrive(&mut cp, 64_000, Fate::Queued), Some((0, -36_000)), "even at the target");
        assert_eq!(arrive(&mut cp, 0, Fate::Queued), None);
        assert_eq!(arrive(&mut cp, 1_000, Fate::Queued), Some((-63_000, -63_000)));
        let mut row = [0];
        cp.vars(&mut row);
        assert_eq!(row, [1_000], "the length at the last sample");
    }

    #[test]
    fn sampling_is_counted_or_drawn() {
        // The word 0 is below any threshold but that of probability 0.
        let mut drawn = cp(&[("sampling", choice("probability"))]);
        assert!((0..5).all(|_| arrive(&mut drawn, 1_000, Fate::Queued).is_some()));
        let mut never = cp(&[("sampling", choice("probability")), ("sample_probability", real(0.0))]);
        assert!((0..5).all(|_| arrive(&mut never, 1_000, Fate::Queued).is_none()));
        for (on, sent) in [(false, false), (true, true)] {
            let mut cp = cp(&[("sample_count", count(1)), ("sample_dropped", switch(on))]);
            assert_eq!(arrive(&mut cp, 128_000, Fate::Dropped).is_some(), sent);
        }
    }

    /// Ra of 512 Mb/s is 8000 bit/s an octet: 744 - 80 = 664 Mb/s, below the least rate of 700 that comes then.
    #[test]
    fn parameters_change_and_the_rate_and_its_binding_stay() {
        let line = BitRate::from_gbps(1);
        let mut rp = rp("", &[]);
        assert_eq!(notify(&mut rp, C1, 64_000, 20_000), 744_000_000);
        let ra = ("ra", mbps(512));
        rp.configure(&config("", &[ra]), line);
        assert_eq!(rp.allowance().rate.0, 744_000_000);
        assert_eq!(notify(&mut rp, C1, 10_000, 1_000), 664_000_000);
        rp.configure(&config("", &[ra, ("min_rate", mbps(700))]), line);
        assert_eq!(rp.allowance().rate.0, 700_000_000);
        assert_eq!(notify(&mut rp, C2, -10_000, -1_000), 700_000_000, "it is not bound to this one");
        assert_eq!(notify(&mut rp, C1, -10_000, -1_000), 780_000_000);
    }

    #[test]
    fn a_count_of_frames_ends_before_the_next_one_starts_with_the_new_number() {
        let mut cp = cp(&[("sample_count", count(2))]);
        assert_eq!(arrive(&mut cp, 90_000, Fate::Queued), None);
        let place = Place { cp: C1, line: BitRate::from_gbps(1), capacity: Octets(128_000), phase: Duration::ZERO };
        cp.configure(&config("", &[("sample_count", count(3)), ("q0", octets(50_000))]), place);
        let lengths = [100_000, 0, 0, 64_000];
        let notices = lengths.map(|len| arrive(&mut cp, len, Fate::Queued));
        assert_eq!(notices, [Some((50_000, 100_000)), None, None, Some((14_000, -36_000))]);
    }

    /// Three of ten frames, always the same three, are another source's: 300 000 frames, 3000 samples.
    #[test]
    fn a_jittered_count_does_not_keep_step_with_periodic_traffic() {
        let share = |jitter: f64| {
            let mut cp = cp(&[("sample_jitter", real(jitter))]);
            let mut words = Xorshift(2_463_534_242);
            let (mut sampled, mut others) = (0u32, 0);
            for n in 0..300_000 {
                let mut sent = Sent::default();
                let frame = Frame {
                    flow: FlowKey(u32::from(n % 10 < 3)),
                    octets: 1000,
                    weight: 1,
                    seq: Octets(0),
                    last: false,
                    trimmed: false,
                    sent_at: Instant::ZERO,
                    tag: &mut Rlt::default(),
                };
                cp.on_arrival(Instant::ZERO, frame, Fate::Queued, &Queue::default(), &mut words, &mut sent);
                sampled += sent.0.len() as u32;
                others += u32::from(sent.0.first().is_some_and(|(to, ..)| *to == To::Source(FlowKey(1))));
            }
            assert!(sampled.abs_diff(3000) < 15, "{sampled}: the mean interval stays 100");
            f64::from(others) / f64::from(sampled)
        };
        assert_eq!(share(0.0), 0.0, "every hundredth frame is the tenth of its ten");
        // Within four standard errors of 0.3: 4 √(0.3 × 0.7 / 3000) = 0.033.
        assert!((share(0.15) - 0.3).abs() < 0.033, "{}", share(0.15));
    }

    /// Marsaglia's xorshift of 32 bits.
    struct Xorshift(u32);
    impl Draw for Xorshift {
        fn draw(&mut self) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            self.0
        }
    }

    proptest! {
        /// A change goes against the sign of its quantity, grows with it, and leaves the rate within its bounds.
        #[test]
        fn changes_oppose(
            q_off in -200_000i32..200_000, q_delta in -200_000i32..200_000, two_stage: bool, times in 1u32..20,
        ) {
            let mut rp = rp("", &[("two_stage", switch(two_stage))]);
            let notice = Notice { cp: C1, q_off, q_delta };
            let acts_on = if rp.state(&notice) == State::A { q_off } else { q_delta };
            prop_assert_eq!(rp.decrease(&notice).signum(), i64::from(acts_on.signum()));
            let opposite = Notice { cp: C1, q_off: -q_off, q_delta: -q_delta };
            if q_off != 0 && q_delta != 0 {
                prop_assert_eq!(rp.decrease(&opposite), -rp.decrease(&notice));
            }
            for _ in 0..times {
                let rate = notify(&mut rp, C1, q_off, q_delta);
                prop_assert!((10_000_000..=GBPS).contains(&rate));
            }
        }
    }
}
