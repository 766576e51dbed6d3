//! QCN, Quantized Congestion Notification (IEEE 802.1Qau).
//!
//! A congestion point samples arriving frames and, when its queue is too long or grows too fast, tells the source of the
//! sampled frame how much: |Fb| in six bits. The reaction point cuts its rate in proportion and then raises it by itself,
//! first back to where it was (Fast Recovery), then beyond (Active and Hyper-Active Increase).
//!
//! ```text
//!   congestion point                                reaction point
//!   sample? --no--> (nothing)                       no limiter <----------------------------+
//!     | yes                                           | notification, queue above set point  | rate back at
//!   Fb = -(q_off + w q_delta)                         v                                      | line rate
//!     | Fb < 0 and quantises to more than 0         limiter: rate calculator ----------------+
//!     +--------- Cnm { fb, q_off, q_delta } ------> (parts::rate_calculator draws its phases)
//! ```
//!
//! Sources: paper 002 (the algorithm and its hardware), papers 000, 003, 004 (variants), IEEE8021-CN-MIB (constants),
//! R. Pan's pseudo-code ("Pan"). Where they disagree, each reading is a parameter; the default is the pseudo-code's.

use crate::info::values::{choice, count, kbps, mbps, octets, real, switch, us};
use crate::info::{Info, Profile, Threshold, choice, parameters};
use crate::none::Silent;
use crate::parts::jitter::Spread;
use crate::parts::quantiser::{QntzFb, Quantise, Quantiser};
use crate::parts::rate_calculator::{
    AiHaiSequence, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator, Rules, Trr,
};
use crate::parts::sampler::{Sampler, SamplerConfig, Sampling, Table};
use crate::units::{BitRate, CpId, Duration, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, ReactionPoint, Release, Scheme, To, Var,
};

/// Quantized Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct Qcn;

choice! {
    /// When the queue length of Fb's derivative is stored.
    pub enum QoldUpdate {
        /// At every sample. (Pan)
        EverySample = "every-sample",
        /// Only when a message is sent. (Wording of papers 000, 002, 003)
        LastSent = "last-sent",
    }
}

choice! {
    /// What makes a rate limiter.
    pub enum RlCreate {
        /// A notification whose queue is above the set point. (Pan)
        AboveSetPoint = "above-set-point",
        /// Any notification.
        Any = "any",
        /// It is there from the start. (Paper 002's hardware, papers 000 and 004)
        Always = "always",
    }
}

choice! {
    /// What removes a rate limiter.
    pub enum RlRelease {
        /// A frame is sent at line rate. (Pan)
        LineRate = "line-rate",
        /// Nothing was sent and no notification came for `rl_idle_time`.
        Idle = "idle",
        /// Nothing.
        Never = "never",
    }
}

parameters! {
    /// QCN's parameters.
    pub struct Config {
        q_eq: Threshold = octets(26_000), octets(100) => octets(4_294_967_295); "cpQSp, CpQueueSizeSetPoint", "Set point of the queue, Qeq.";
        w: f64 = real(2.0), real(0.0) => real(1024.0); "cpW, CpFeedbackWeight (w = 2^x); paper 002 eq. (1)", "Weight of the queue's growth in Fb, rounded to 1/1024.";
        quantise: Quantise = choice("linear63"); "802.1Qau; papers 002, 004", "How |Fb| is quantised: in 63 equal steps, by the six most significant bits, or not at all.";
        send_qf0: bool = switch(false); "option; Pan sends none", "Send a notification for Fb < 0 that quantises to 0.";
        qold_update: QoldUpdate = choice("every-sample"); "Pan; papers 000, 002, 003", "When the queue length that q_delta refers to is stored: at every sample, or when a message is sent (so the wording of papers 000, 002 and 003; their results fit every sample).";
        sampling: Sampling = choice("table"); "paper 002 table 1; papers 000, 004", "How frames are sampled: byte counter with table, probability, count, or every frame.";
        sample_base: Octets = octets(150_000), octets(10_000) => octets(1_000_000_000); "cpSampleBase, CpMinSampleBase", "Octets between samples at feedback value 0 (sampling = table).";
        sample_table: Table = choice("paper"); "paper 002 table 1; 802.1Qau", "Intervals of the table: the paper's rounded values, or base / (k + 1).";
        sample_jitter: f64 = real(0.15), real(0.0) => real(0.99); "paper 002 section 2", "Spread of the sampling intervals (0.15 for ±15 %).";
        sample_count: u32 = count(100), count(1) => count(1_000_000_000); "option", "Frames between samples (sampling = count).";
        sample_probability: f64 = real(0.01), real(0.0) => real(1.0); "paper 004", "Probability of a sample at feedback value 0 (sampling = probability).";
        sample_probability_max: f64 = real(0.01), real(0.0) => real(1.0); "paper 000", "Probability of a sample at feedback value 63; linear in between.";
        sample_dropped: bool = switch(true); "option", "Frames that the full queue refuses count for sampling; without them fixed-rate sources can lock in phase with a full queue.";
        gd_inverse: u32 = count(128), count(64) => count(65_536); "rpgGd (7 for 2^7); paper 002 table 2", "1/Gd: a feedback value of n cuts the rate by n Gd.";
        rpg_min_dec_fac: u32 = count(50), count(1) => count(100); "rpgMinDecFac", "The least share of the rate that one cut leaves, in percent.";
        decrease_order: DecreaseOrder = choice("simultaneous"); "paper 003, 802.1Qau; paper 002 eq. (2), (3)", "Whether the target rate becomes the rate before the cut or, as printed, after it.";
        rpg_threshold: u32 = count(5), count(1) => count(1000); "rpgThreshold", "Cycles of Fast Recovery.";
        fr_cycles: FrCycles = choice("threshold"); "papers 000, 002; paper 003 algorithm 1", "Active Increase begins beyond rpg_threshold cycles, or with cycle number rpg_threshold.";
        rpg_byte_reset: Octets = octets(150_000), octets(64) => octets(10_000_000_000); "rpgByteReset; BC_LIMIT", "Octets of a byte-counter cycle.";
        timer_on: bool = switch(true); "option; off in paper 004", "Whether the timer exists.";
        rpg_time_reset: Duration = us(15_000), us(1) => us(1_000_000_000); "rpgTimeReset; TIMER_PERIOD", "Length of a timer cycle.";
        cycle_halving: CycleHalving = choice("per-counter"); "papers 000, 002, 003", "When cycles are halved.";
        jitter_rp: JitterRp = choice("reload"); "Pan; paper 002", "Which cycles are jittered: all but the first after a notification, all, or none.";
        rp_jitter: f64 = real(0.15), real(0.0) => real(0.99); "paper 002 section 2", "Spread of the cycles (0.15 for ±15 %).";
        rpg_ai_rate: BitRate = mbps(5), mbps(0) => mbps(1_000_000); "rpgAiRate; AI_INC", "R_AI, the step of Active Increase.";
        rpg_hai_rate: BitRate = mbps(50), mbps(0) => mbps(1_000_000); "rpgHaiRate; HAI_INC", "R_HAI, the step of Hyper-Active Increase.";
        hai_multiplier: HaiMultiplier = choice("min-count"); "Pan; 802.1Qau; papers 000, 002, 003", "The factor of R_HAI.";
        ai_hai_sequence: AiHaiSequence = choice("counters"); "papers 002, 003; paper 000", "What leads from Active to Hyper-Active Increase.";
        efr: Efr = choice("byte-stage"); "Pan, 802.1Qau; paper 002", "Extra Fast Recovery: when a notification keeps target rate and byte counter.";
        trr: Trr = choice("first-cycle"); "Pan, 802.1Qau; paper 002", "Target Rate Reduction: when a target rate above 10 times the current rate is divided by 8.";
        tr_clamp: bool = switch(false); "option; on in NIC firmware", "Hold the target rate at the largest rate.";
        rpg_min_rate: BitRate = mbps(5), kbps(1) => mbps(1_000_000); "rpgMinRate", "Least rate.";
        rpg_max_rate: BitRate = mbps(0), mbps(0) => mbps(10_000_000); "rpgMaxRate", "Largest rate; 0 for the line's.";
        rl_create: RlCreate = choice("above-set-point"); "Pan; 802.1Qau", "What makes a rate limiter.";
        rl_release: RlRelease = choice("line-rate"); "Pan", "What removes a rate limiter.";
        rl_idle_time: Duration = us(100_000), us(1) => us(1_000_000_000); "option", "How long a limiter must be idle to be removed (rl_release = idle).";
    }
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "ieee-2010",
        description: "IEEE 802.1Qau-2010 with the defaults of its MIB and the increase states of its figure 32-2.",
        settings: &[
            ("q_eq", octets(26_000)),
            ("sample_table", choice("harmonic")),
            ("fr_cycles", choice("threshold-less-one")),
            ("cycle_halving", choice("hai-only")),
            ("hai_multiplier", choice("min-count-plus-one")),
            ("rl_create", choice("any")),
        ],
    },
    Profile {
        name: "pan-10g",
        description: "R. Pan's pseudo-code at 10 Gb/s, for a buffer of 150 KB.",
        settings: &[("q_eq", octets(33_000))],
    },
    Profile {
        name: "paper-multicast",
        description: "Paper 000 at 1 Gb/s: sampling probability rises from 1 % to 50 % with |Fb|, timer 10 ms, no EFR, no TRR.",
        settings: &[
            ("q_eq", octets(37_500)),
            ("sampling", choice("probability")),
            ("sample_probability_max", real(0.5)),
            ("gd_inverse", count(126)),
            ("rpg_time_reset", us(10_000)),
            ("hai_multiplier", choice("one")),
            ("efr", choice("off")),
            ("trr", choice("off")),
            ("rl_create", choice("always")),
            ("rl_release", choice("never")),
        ],
    },
    Profile {
        name: "paper-netfpga",
        description: "Paper 002 at 1 Gb/s: table 2, timer 25 ms, permanent limiters of 0.5 Mb/s granularity.",
        settings: &[
            ("q_eq", octets(33_000)),
            ("rpg_time_reset", us(25_000)),
            ("jitter_rp", choice("always")),
            ("rpg_ai_rate", kbps(500)),
            ("rpg_hai_rate", mbps(5)),
            ("hai_multiplier", choice("ordinal")),
            ("efr", choice("neither-fired")),
            ("trr", choice("any-time")),
            ("rpg_min_rate", kbps(500)),
            ("rl_create", choice("always")),
            ("rl_release", choice("never")),
        ],
    },
    Profile {
        name: "paper-bottleneck",
        description: "Paper 003 at 10 Gb/s: Qeq of 22 frames, Active Increase from the fifth cycle, HAI without multiplier.",
        settings: &[
            ("q_eq", octets(33_000)),
            ("fr_cycles", choice("threshold-less-one")),
            ("hai_multiplier", choice("one")),
        ],
    },
    Profile {
        name: "paper-sliding-mode",
        description: "Paper 004 at 1 Gb/s: one frame in a hundred drawn, unquantised Fb, decrease, FR and AI alone.",
        settings: &[
            ("q_eq", octets(64_000)),
            ("quantise", choice("none")),
            ("sampling", choice("probability")),
            ("qold_update", choice("last-sent")),
            ("timer_on", switch(false)),
            ("rpg_ai_rate", mbps(1)),
            ("rpg_hai_rate", mbps(0)),
            ("efr", choice("off")),
            ("trr", choice("off")),
            ("rl_create", choice("always")),
            ("rl_release", choice("never")),
        ],
    },
];

/// A congestion notification message. On the wire its lengths are in units of 64 octets and the offset's sign is reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cnm {
    /// Quantised |Fb|.
    pub fb: QntzFb,
    /// The congestion point that sent it.
    pub cp: CpId,
    /// Queue length less the set point, octets.
    pub q_off: i32,
    /// Growth of the queue since the sample before, octets.
    pub q_delta: i32,
}

/// Length of the frame of a CNM without encapsulated data: headers, CN-TAG, 24 octets of PDU, padding, FCS.
pub const CNM_OCTETS: u16 = 64;

impl Scheme for Qcn {
    const INFO: Info = Info {
        name: "qcn",
        title: "Quantized Congestion Notification",
        source: "IEEE 802.1Qau-2010; paper 002 (Kabbani, Yasuda: QCN on NetFPGA)",
        description: "Switches sample frames and send the source |Fb| in six bits; sources cut their rate and recover it by \
                      byte counter and timer.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
    };
    type Config = Config;
    type Tag = ();
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    const SIGNAL_VARS: &'static [Var] = &[
        Var { name: "fb", description: "quantised |Fb|, 0 to 63" },
        Var { name: "q_off_octets", description: "queue length less the set point, octets" },
        Var { name: "q_delta_octets", description: "growth of the queue since the sample before, octets" },
    ];

    fn octets(_: &Cnm) -> u16 {
        CNM_OCTETS
    }

    fn signal_vars(signal: &Cnm, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(signal.fb.steps()), i64::from(signal.q_off), i64::from(signal.q_delta)]);
    }
}

/// QCN's congestion point.
#[derive(Debug, Clone)]
pub struct Cp {
    id: CpId,
    sampler: Sampler,
    quantiser: Quantiser,
    send_qf0: bool,
    qold_every_sample: bool,
    sample_dropped: bool,
    q_old: u64,
    last_fb: QntzFb,
}

impl CongestionPoint<Qcn> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "fb", description: "quantised |Fb| of the last sample, 0 to 63" },
        Var { name: "q_old_octets", description: "queue length that the next q_delta refers to, octets" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        Self {
            id: place.cp,
            sampler: Sampler::new(&SamplerConfig {
                sampling: config.sampling,
                base: config.sample_base.0,
                table: config.sample_table,
                jitter: Spread::new(config.sample_jitter),
                every: config.sample_count,
                probability: config.sample_probability,
                probability_max: config.sample_probability_max,
            }),
            quantiser: Quantiser::new(config.q_eq.0, config.w, config.quantise),
            send_qf0: config.send_qf0,
            qold_every_sample: config.qold_update == QoldUpdate::EverySample,
            sample_dropped: config.sample_dropped,
            q_old: 0,
            last_fb: QntzFb::default(),
        }
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Instant,
        frame: Frame<'_, ()>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<Qcn>,
    ) {
        if fate == Fate::Dropped && !self.sample_dropped {
            return;
        }
        let (quantiser, q_old) = (self.quantiser, self.q_old);
        let steps = || quantiser.quantise(quantiser.measure(queue.len.0, q_old)).steps();
        if !self.sampler.sample(frame.octets, steps, draw) {
            return;
        }
        let measure = quantiser.measure(queue.len.0, q_old);
        let fb = quantiser.quantise(measure);
        let send = !fb.is_zero() || (self.send_qf0 && measure.congestion > 0);
        if send {
            let cnm = Cnm { fb, cp: self.id, q_off: saturate(measure.q_off), q_delta: saturate(measure.q_delta) };
            out.send(To::Source(frame.flow), Class::Control, cnm);
        }
        if send || self.qold_every_sample {
            self.q_old = queue.len.0;
        }
        self.last_fb = fb;
        self.sampler.reload(fb.steps(), draw);
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(self.last_fb.steps()), self.q_old as i64]);
    }
}

/// QCN's reaction point: one rate limiter.
#[derive(Debug, Clone)]
pub struct Rp {
    calculator: RateCalculator,
    create: RlCreate,
    release: RlRelease,
    idle_time: Duration,
    max_rate: u64,
    installed: bool,
    /// When the limiter is removed for idleness.
    idle_at: Instant,
}

impl Rp {
    /// Cycles that the byte counter has ended since the last notification (rpByteStage).
    #[must_use]
    pub fn byte_stage(&self) -> u32 {
        self.calculator.byte_stage()
    }

    /// The target rate (rpTargetRate).
    #[must_use]
    pub fn target_rate(&self) -> BitRate {
        BitRate(self.calculator.target_rate())
    }

    fn install(&mut self, now: Instant, draw: &mut impl Draw) {
        self.installed = true;
        self.calculator.reset();
        self.calculator.start_timer(now, draw);
    }

    fn remove(&mut self) {
        self.installed = false;
        self.idle_at = Instant::NEVER;
        self.calculator.reset();
    }

    fn touch(&mut self, now: Instant) {
        if self.release == RlRelease::Idle {
            self.idle_at = now + self.idle_time;
        }
    }
}

impl ReactionPoint<Qcn> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "target_rate_bps", description: "target rate TR, bit/s" },
        Var { name: "byte_stage", description: "cycles of the byte counter since the last notification" },
        Var { name: "time_stage", description: "cycles of the timer since the last notification" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let max_rate = if config.rpg_max_rate.0 == 0 { line.0 } else { config.rpg_max_rate.0.min(line.0) };
        Self {
            calculator: RateCalculator::new(Rules {
                gd_inverse: u64::from(config.gd_inverse),
                rpg_min_dec_fac: u64::from(config.rpg_min_dec_fac),
                min_rate: config.rpg_min_rate.0.min(max_rate),
                max_rate,
                r_ai: config.rpg_ai_rate.0,
                r_hai: config.rpg_hai_rate.0,
                threshold: config.rpg_threshold,
                byte_reset: config.rpg_byte_reset.0,
                time_reset: config.timer_on.then_some(config.rpg_time_reset),
                jitter: Spread::new(config.rp_jitter),
                jitter_rp: config.jitter_rp,
                decrease_order: config.decrease_order,
                fr_cycles: config.fr_cycles,
                cycle_halving: config.cycle_halving,
                hai_multiplier: config.hai_multiplier,
                ai_hai_sequence: config.ai_hai_sequence,
                efr: config.efr,
                trr: config.trr,
                tr_clamp: config.tr_clamp,
            }),
            create: config.rl_create,
            release: config.rl_release,
            idle_time: config.rl_idle_time,
            max_rate,
            installed: false,
            idle_at: Instant::NEVER,
        }
    }

    fn on_start(&mut self, now: Instant, _flow: FlowKey, draw: &mut impl Draw, _out: &mut impl Out<Qcn>) {
        if self.create == RlCreate::Always && !self.installed {
            self.install(now, draw);
            self.touch(now);
        }
    }

    fn on_signal(&mut self, now: Instant, signal: Cnm, draw: &mut impl Draw, _out: &mut impl Out<Qcn>) {
        if signal.fb.is_zero() {
            return;
        }
        if !self.installed {
            if self.create == RlCreate::AboveSetPoint && signal.q_off <= 0 {
                return;
            }
            self.installed = true;
        }
        self.calculator.decrease(now, signal.fb, draw);
        self.touch(now);
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, _out: &mut impl Out<Qcn>) {
        if !self.installed {
            return;
        }
        if self.release == RlRelease::LineRate && self.calculator.current_rate() == self.max_rate {
            self.remove();
            return;
        }
        self.touch(now);
        self.calculator.count(frame.octets, draw);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let timer = self.calculator.next_timeout().unwrap_or(Instant::NEVER).min(self.idle_at);
        (timer != Instant::NEVER).then_some(timer)
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _out: &mut impl Out<Qcn>) {
        if now >= self.idle_at {
            self.remove();
        } else {
            self.calculator.on_timeout(now, draw);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.calculator.current_rate()), window: None }
    }

    fn limiting(&self) -> bool {
        self.installed
    }

    fn vars(&self, row: &mut [i64]) {
        let c = &self.calculator;
        row.copy_from_slice(&[c.target_rate() as i64, i64::from(c.byte_stage()), i64::from(c.time_stage())]);
    }
}

fn saturate(octets: i64) -> i32 {
    octets.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemeConfig;
    use alloc::vec::Vec;

    /// Draws the middle of every jitter.
    struct Middle;
    impl Draw for Middle {
        fn draw(&mut self) -> u32 {
            1 << 31
        }
    }

    /// Keeps what was sent.
    #[derive(Default)]
    struct Sent(Vec<(To, Cnm)>);
    impl Out<Qcn> for Sent {
        fn send(&mut self, to: To, class: Class, signal: Cnm) {
            assert_eq!(class, Class::Control);
            self.0.push((to, signal));
        }
    }

    fn config(profile: &str, changes: &[(&str, crate::Value)]) -> Config {
        let info = Qcn::INFO;
        let profile = if profile.is_empty() { &[][..] } else { info.profile(profile).expect("a profile").settings };
        let values: Vec<_> = info
            .parameters
            .iter()
            .map(|p| {
                let set = changes.iter().chain(profile).find(|(name, _)| *name == p.name);
                set.map_or(p.default, |(_, value)| *value)
            })
            .collect();
        let Some(SchemeConfig::Qcn(config)) = SchemeConfig::new("qcn", &values) else { panic!("kinds agree") };
        config
    }

    const AT: Instant = Instant(1_000_000);
    const FRAME: Release = Release { flow: FlowKey(0), octets: 1500, last: false };

    fn rp(config: &Config, line: BitRate) -> Rp {
        let mut rp = Rp::new(config, line);
        rp.on_start(Instant::ZERO, FlowKey(0), &mut Middle, &mut Sent::default());
        rp
    }

    fn notify(rp: &mut Rp, fb: u8) {
        let cnm = Cnm { fb: QntzFb::from_steps(fb), cp: CpId(1), q_off: 1000, q_delta: 0 };
        rp.on_signal(AT, cnm, &mut Middle, &mut Sent::default());
    }

    /// Sends frames until the byte counter has ended `n` cycles more.
    fn cycles(rp: &mut Rp, n: u32) {
        for _ in 0..n {
            let stage = rp.byte_stage();
            while rp.byte_stage() == stage {
                rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
            }
        }
    }

    fn rates(rp: &Rp) -> (u64, u64) {
        (rp.target_rate().0, rp.allowance().rate.0)
    }

    /// In bit/s, rounded down at each step: 9846.19140625 Mb/s is 9 846 191 406 bit/s.
    #[test]
    fn golden_vector_1_recovery_after_the_strongest_cut() {
        let mut rp = rp(&config("pan-10g", &[]), BitRate::from_gbps(10));
        notify(&mut rp, 63);
        assert_eq!(rates(&rp), (10_000_000_000, 5_078_125_000));
        let fast_recovery = [7_539_062_500, 8_769_531_250, 9_384_765_625, 9_692_382_812, 9_846_191_406];
        for expected in fast_recovery {
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), (10_000_000_000, expected));
        }
        let active =
            [(10_005_000_000, 9_925_595_703), (10_010_000_000, 9_967_797_851), (10_015_000_000, 9_991_398_925)];
        for expected in active {
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), expected);
        }
    }

    /// The vector's 4284.66796875 Mb/s is 5078.125 × (1 − 20/128), exactly 4 284 667 968.75 bit/s.
    #[test]
    fn golden_vector_2_extra_fast_recovery() {
        let mut rp = rp(&config("pan-10g", &[]), BitRate::from_gbps(10));
        notify(&mut rp, 63);
        rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        notify(&mut rp, 20);
        assert_eq!(rates(&rp), (10_000_000_000, 4_284_667_968));
        assert!(alloc::format!("{:?}", rp.calculator).contains("byte_count: 148500"), "the byte counter is untouched");
        cycles(&mut rp, 1);
        notify(&mut rp, 20);
        assert_eq!(rates(&rp).0, 7_142_333_984, "after a cycle the target is the rate before the cut");
    }

    #[test]
    fn golden_vector_3_target_rate_reduction() {
        for (trr, expected_target) in [("first-cycle", 1_250_000_000), ("off", 10_000_000_000)] {
            let floor = [("trr", choice(trr)), ("rpg_min_rate", mbps(500)), ("gd_inverse", count(64))];
            let mut rp = rp(&config("pan-10g", &floor), BitRate::from_gbps(10));
            // 5000, 2500, 1250, 625, and then the least rate.
            for _ in 0..5 {
                notify(&mut rp, 63);
            }
            assert_eq!(rates(&rp), (10_000_000_000, 500_000_000));
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), (expected_target, (expected_target + 500_000_000) / 2), "{trr}");
        }
    }

    #[test]
    fn golden_vector_5_at_one_gigabit() {
        let mut rp = rp(&config("", &[]), BitRate::from_gbps(1));
        notify(&mut rp, 25);
        assert_eq!(rates(&rp).1, 804_687_500);
    }

    #[test]
    fn limiters_come_and_go() {
        let line = BitRate::from_gbps(10);
        let below = Cnm { fb: QntzFb::from_steps(5), cp: CpId(1), q_off: -64, q_delta: 4000 };
        for (create, made) in [("above-set-point", false), ("any", true), ("always", true)] {
            let mut rp = rp(&config("", &[("rl_create", choice(create)), ("rl_release", choice("never"))]), line);
            assert_eq!(rp.limiting(), create == "always");
            rp.on_signal(AT, below, &mut Middle, &mut Sent::default());
            assert_eq!(rp.limiting(), made, "{create}: the queue grows, but is below the set point");
            assert_eq!(rates(&rp).1 < line.0, made);
        }
        let mut rp = rp(&config("", &[]), line);
        notify(&mut rp, 1);
        assert!(rp.limiting());
        cycles(&mut rp, 6); // five of Fast Recovery, one of Active Increase: past the line rate
        assert_eq!(rates(&rp).1, line.0);
        assert!(rp.limiting(), "it is released when a frame is sent");
        rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        assert!(!rp.limiting());
        assert_eq!(rp.next_timeout(), None);
    }

    #[test]
    fn idle_limiters_go() {
        let mut rp =
            rp(&config("", &[("rl_release", choice("idle")), ("rl_idle_time", us(1000))]), BitRate::from_gbps(1));
        notify(&mut rp, 63);
        let idle = AT + Duration::from_us(1000);
        assert_eq!(rp.next_timeout(), Some(idle));
        rp.on_timeout(idle, &mut Middle, &mut Sent::default());
        assert!(!rp.limiting());
        assert_eq!(rates(&rp).1, 1_000_000_000);
    }

    fn arrive(cp: &mut Cp, len: u64, fate: Fate) -> Option<Cnm> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let frame = Frame { flow: FlowKey(7), octets: 1500, weight: 1, last: false, sent_at: AT, tag: &mut () };
        cp.on_arrival(AT, frame, fate, &queue, &mut Middle, &mut sent);
        sent.0.first().map(|&(to, cnm)| {
            assert_eq!(to, To::Source(FlowKey(7)));
            cnm
        })
    }

    fn cp(changes: &[(&str, crate::Value)]) -> Cp {
        let place = Place {
            cp: CpId::new(0xaa, 0, 1),
            line: BitRate::from_gbps(10),
            capacity: Octets(150_000),
            phase: Duration::ZERO,
        };
        Cp::new(&config("", changes), place)
    }

    /// standards.md B2: set point 26 000, length 52 000, old length 39 000, w = 2.
    #[test]
    fn a_notification_says_what_the_queue_does() {
        let mut cp = cp(&[("sampling", choice("every-frame"))]);
        let early = arrive(&mut cp, 13_000, Fate::Queued).expect("-13 000 + 2 × 13 000 is congestion, for it grows");
        assert_eq!((early.fb.steps(), early.q_off), (6, -13_000));
        assert!(arrive(&mut cp, 39_000, Fate::Queued).is_some());
        let cnm = arrive(&mut cp, 52_000, Fate::Queued).expect("congested");
        assert_eq!((cnm.fb.steps(), cnm.q_off, cnm.q_delta), (25, 26_000, 13_000));
        assert_eq!(cnm.cp, CpId::new(0xaa, 0, 1));
    }

    #[test]
    fn options_of_the_congestion_point() {
        let every = ("sampling", choice("every-frame"));
        // Growth refers to the last sample, or to the last message.
        for (update, q_delta) in [("every-sample", 10_000), ("last-sent", 30_000)] {
            let mut cp = cp(&[every, ("qold_update", choice(update)), ("w", real(0.2))]);
            for quiet in [0, 10_000, 20_000] {
                assert_eq!(arrive(&mut cp, quiet, Fate::Queued), None);
            }
            assert_eq!(arrive(&mut cp, 30_000, Fate::Queued).map(|cnm| cnm.q_delta), Some(q_delta));
        }
        // |Fb| = 1000 of 130 000 quantises to 0.
        for (on, sent) in [(false, false), (true, true)] {
            let mut cp = cp(&[every, ("send_qf0", switch(on)), ("w", real(0.0))]);
            assert_eq!(arrive(&mut cp, 26_300, Fate::Queued).is_some(), sent);
        }
        for (on, sent) in [(false, false), (true, true)] {
            let mut cp = cp(&[every, ("sample_dropped", switch(on))]);
            assert_eq!(arrive(&mut cp, 150_000, Fate::Dropped).is_some(), sent);
        }
    }
}
