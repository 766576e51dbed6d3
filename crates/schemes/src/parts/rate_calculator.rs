//! QCN's rate calculator: feedback decreases a rate, and cycles raise it again. (Kabbani and Yasuda 2010, section 2;
//! 802.1Qau RP)
//!
//! ```text
//!               signal                       either counter      both counters
//!   (line rate) ------> FAST RECOVERY -----> past its 5 cycles: ----> past them:
//!                       CR = (CR+TR)/2       ACTIVE INCREASE      HYPER-ACTIVE INCREASE
//!                         ^                  TR += R_AI           TR += i R_HAI
//!                         |                  CR = (CR+TR)/2       CR = (CR+TR)/2
//!                         +------- signal: TR = CR, CR -= CR Gd |Fb| -------+
//! ```
//!
//! A *cycle* ends when the byte counter has counted `rpg_byte_reset` octets, or when the timer has run `rpg_time_reset`.
//!
//! Rates are whole bits per second. Rounding: a decrease rounds the new rate down, an increase rounds the mean of current
//! and target rate down, a target rate reduction rounds down, and half a cycle is rounded down.

use crate::Draw;
use crate::info::choice;
use crate::parts::jitter::Spread;
use crate::parts::quantiser::QntzFb;
use crate::units::{Duration, Instant, PS_PER_S};

choice! {
    /// The target rate after feedback has decreased the rate.
    pub enum DecreaseOrder {
        /// The current rate before the decrease. (Matsushima et al. 2014, 802.1Qau; equations (2) and (3) of Kabbani
        /// and Yasuda 2010 read as simultaneous)
        Simultaneous = "simultaneous",
        /// The current rate after the decrease, as equations (2) and (3) of Kabbani and Yasuda 2010 stand; Fast
        /// Recovery then recovers nothing.
        Printed = "printed",
    }
}

choice! {
    /// How many updates without increase of the target rate Fast Recovery has.
    pub enum FrCycles {
        /// `rpg_threshold`: Active Increase begins beyond it. (Mliki et al. 2016 and Kabbani and Yasuda 2010)
        Threshold = "threshold",
        /// One less: Active Increase begins with cycle number `rpg_threshold`. (Matsushima et al. 2014, algorithm 1)
        ThresholdLessOne = "threshold-less-one",
    }
}

choice! {
    /// When cycles are halved.
    pub enum CycleHalving {
        /// Each counter for itself, after its own `rpg_threshold` cycles. (Mliki et al. 2016, Kabbani and Yasuda 2010,
        /// Matsushima et al. 2014)
        PerCounter = "per-counter",
        /// Both while in Hyper-Active Increase. (A simulator's reading of the standard)
        HaiOnly = "hai-only",
        /// Never.
        Never = "never",
    }
}

choice! {
    /// The factor i of R_HAI.
    pub enum HaiMultiplier {
        /// min(byte stage, time stage) − threshold. (Pan)
        MinCount = "min-count",
        /// min(byte stage, time stage) − threshold + 1. (The standard's form)
        MinCountPlusOne = "min-count-plus-one",
        /// The number of cycles that either counter ended since Hyper-Active Increase began. (Kabbani and Yasuda 2010,
        /// equation (7))
        Ordinal = "ordinal",
        /// 1. (Mliki et al. 2016 and Matsushima et al. 2014)
        One = "one",
    }
}

choice! {
    /// The condition that leads from Active to Hyper-Active Increase.
    pub enum AiHaiSequence {
        /// The two counters: one past Fast Recovery is Active, both are Hyper-Active. (Kabbani and Yasuda 2010 and
        /// Matsushima et al. 2014)
        Counters = "counters",
        /// The faster counter alone: one cycle of Active Increase, then Hyper-Active. (Wording of Mliki et al. 2016,
        /// sections 2.2.2 and 2.2.3)
        Serial = "serial",
    }
}

choice! {
    /// Extra Fast Recovery: when feedback keeps target rate and byte counter.
    pub enum Efr {
        /// If the byte counter has ended no cycle since the last signal. (Pan, 802.1Qau)
        ByteStage = "byte-stage",
        /// If neither counter has. (Kabbani and Yasuda 2010: "CR has not increased meanwhile")
        NeitherFired = "neither-fired",
        /// Never. (Mliki et al. 2016, Matsushima et al. 2014, Jiang et al. 2015)
        Off = "off",
    }
}

choice! {
    /// Target Rate Reduction: when a target rate above 10 times the current rate is divided by 8.
    pub enum Trr {
        /// In the first cycle of either counter, instead of an increase. (Pan, 802.1Qau)
        FirstCycle = "first-cycle",
        /// In any cycle. (Kabbani and Yasuda 2010)
        AnyTime = "any-time",
        /// Never.
        Off = "off",
    }
}

choice! {
    /// Which cycles are jittered.
    pub enum JitterRp {
        /// All but the first after a signal. (Pan)
        Reload = "reload",
        /// All. (Kabbani and Yasuda 2010)
        Always = "always",
        /// None.
        Off = "off",
    }
}

/// How many octets a full cycle of the byte counter has (BC_LIMIT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteCycle {
    /// This number of octets. (rpgByteReset)
    Fixed(u64),
    /// The octets that the current rate carries in a given time, so that the cycles of all rates take equally long.
    /// (Matsushima et al. 2014, equation (5): BC_LIMIT = K CR)
    AtRate {
        /// K, as the time that CR bits per second take for K CR bits.
        k: Duration,
        /// Cycles are halved where [`CycleHalving`] says so; otherwise never.
        halved: bool,
    },
}

impl ByteCycle {
    /// Length of a full cycle that begins at `rate` bit/s, octets, rounded down.
    fn octets(self, rate: u64) -> u64 {
        match self {
            Self::Fixed(octets) => octets,
            Self::AtRate { k, .. } => (u128::from(rate) * u128::from(k.0) / (8 * u128::from(PS_PER_S))) as u64,
        }
    }

    fn may_halve(self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::AtRate { halved, .. } => halved,
        }
    }
}

/// The constants and readings that a rate calculator works by. The fields are QCN's parameters of the same names.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// 1/Gd.
    pub gd_inverse: u64,
    /// The least share of the rate that a decrease leaves, in percent (rpgMinDecFac).
    pub rpg_min_dec_fac: u64,
    /// Least rate, bit/s.
    pub min_rate: u64,
    /// Largest rate, bit/s.
    pub max_rate: u64,
    /// R_AI, bit/s.
    pub r_ai: u64,
    /// R_HAI, bit/s.
    pub r_hai: u64,
    /// Cycles of Fast Recovery.
    pub threshold: u32,
    /// A full byte-counter cycle.
    pub byte_cycle: ByteCycle,
    /// A full timer cycle; `None` without timer.
    pub time_reset: Option<Duration>,
    /// Spread of cycles.
    pub jitter: Spread,
    /// Which cycles are jittered.
    pub jitter_rp: JitterRp,
    /// See [`DecreaseOrder`].
    pub decrease_order: DecreaseOrder,
    /// See [`FrCycles`].
    pub fr_cycles: FrCycles,
    /// See [`CycleHalving`].
    pub cycle_halving: CycleHalving,
    /// See [`HaiMultiplier`].
    pub hai_multiplier: HaiMultiplier,
    /// See [`AiHaiSequence`].
    pub ai_hai_sequence: AiHaiSequence,
    /// See [`Efr`].
    pub efr: Efr,
    /// See [`Trr`].
    pub trr: Trr,
    /// The target rate is held at the largest rate.
    pub tr_clamp: bool,
}

/// The phase of an increase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Fast Recovery.
    FastRecovery,
    /// Active Increase.
    ActiveIncrease,
    /// Hyper-Active Increase.
    HyperActiveIncrease,
}

/// Current rate, target rate, and the two counters that time increases.
#[derive(Debug, Clone)]
pub struct RateCalculator {
    rules: Rules,
    current_rate: u64,
    target_rate: u64,
    /// Octets left of the byte counter's cycle.
    byte_count: i64,
    byte_stage: u32,
    time_stage: u32,
    timer: Instant,
    /// Cycles ended since Hyper-Active Increase began.
    hai_cycles: u32,
}

impl RateCalculator {
    /// At the largest rate, timer stopped.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            current_rate: rules.max_rate,
            target_rate: rules.max_rate,
            byte_count: rules.byte_cycle.octets(rules.max_rate) as i64,
            byte_stage: 0,
            time_stage: 0,
            timer: Instant::NEVER,
            hai_cycles: 0,
        }
    }

    /// At a rate that it recovers from towards another, `byte_stage` cycles of the byte counter after a signal, at the
    /// beginning of the next, timer stopped.
    #[must_use]
    pub fn recovering(rules: Rules, current_rate: u64, target_rate: u64, byte_stage: u32) -> Self {
        let byte_count = rules.byte_cycle.octets(current_rate) as i64;
        Self { current_rate, target_rate, byte_count, byte_stage, ..Self::new(rules) }
    }

    /// Goes by `rules` from now on. Rates stay, within the new bounds; so do stages, and the cycles that run. Where the timer goes, its
    /// stage goes too; where it comes, the next signal starts it.
    pub fn configure(&mut self, rules: Rules) {
        let Self { current_rate, target_rate, byte_count, byte_stage, time_stage, timer, hai_cycles, .. } = *self;
        let most = if rules.tr_clamp { rules.max_rate } else { u64::MAX };
        let (time_stage, timer) = if rules.time_reset.is_some() { (time_stage, timer) } else { (0, Instant::NEVER) };
        *self = Self {
            current_rate: current_rate.clamp(rules.min_rate, rules.max_rate),
            target_rate: target_rate.clamp(rules.min_rate, most),
            byte_count,
            byte_stage,
            time_stage,
            timer,
            hai_cycles,
            rules,
        };
    }

    /// Back to the largest rate, timer stopped.
    pub fn reset(&mut self) {
        *self = Self::new(self.rules);
    }

    /// Starts the timer's first cycle.
    pub fn start_timer(&mut self, now: Instant, draw: &mut impl Draw) {
        self.timer = match self.rules.time_reset {
            Some(full) => now + Duration(self.first_cycle(full.0, draw)),
            None => Instant::NEVER,
        };
    }

    /// Feedback: the rate falls, both counters start again.
    pub fn decrease(&mut self, now: Instant, fb: QntzFb, draw: &mut impl Draw) {
        let r = &self.rules;
        let keep = match r.efr {
            Efr::ByteStage => self.byte_stage == 0,
            Efr::NeitherFired => self.byte_stage == 0 && self.time_stage == 0,
            Efr::Off => false,
        };
        let before = self.current_rate;
        // CR (1 - Gd |Fb|), |Fb| in steps.
        let gd_scale = r.gd_inverse * u64::from(QntzFb::PER_STEP);
        let left = gd_scale.saturating_sub(u64::from(fb.get()));
        let decreased = (u128::from(before) * u128::from(left) / u128::from(gd_scale)) as u64;
        let floor = before * r.rpg_min_dec_fac / 100;
        self.current_rate = decreased.max(floor).max(r.min_rate);
        if !keep {
            self.target_rate = match r.decrease_order {
                DecreaseOrder::Simultaneous => before,
                DecreaseOrder::Printed => self.current_rate,
            };
            self.byte_count = self.first_cycle(self.rules.byte_cycle.octets(before), draw) as i64;
        }
        self.byte_stage = 0;
        self.time_stage = 0;
        self.hai_cycles = 0;
        self.start_timer(now, draw);
    }

    /// Counts octets that were sent; ends a byte-counter cycle when it is full.
    #[inline]
    pub fn count(&mut self, octets: u16, draw: &mut impl Draw) {
        self.byte_count -= i64::from(octets);
        if self.byte_count < 0 {
            self.end_byte_cycle(draw);
        }
    }

    /// Ends the byte counter's cycle, however many octets are left of it.
    #[inline]
    pub fn end_byte_cycle(&mut self, draw: &mut impl Draw) {
        self.byte_stage = self.byte_stage.saturating_add(1);
        let cycle = self.rules.byte_cycle;
        // Matsushima et al. 2014, algorithm 1: the limit is set before the rate increases.
        let full = cycle.octets(self.current_rate);
        self.increase();
        self.byte_count = self.next_cycle(full, cycle.may_halve() && self.halves(self.byte_stage), draw) as i64;
    }

    /// Ends the timer's cycle if it is due.
    pub fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw) {
        if now < self.timer {
            return;
        }
        let Some(full) = self.rules.time_reset else { return };
        self.time_stage = self.time_stage.saturating_add(1);
        self.increase();
        self.timer = now + Duration(self.next_cycle(full.0, self.halves(self.time_stage), draw).max(1));
    }

    /// The rules that it works by.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// When the timer's cycle ends.
    #[must_use]
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    /// CR, bit/s.
    #[must_use]
    #[inline]
    pub fn current_rate(&self) -> u64 {
        self.current_rate
    }

    /// TR, bit/s.
    #[must_use]
    pub fn target_rate(&self) -> u64 {
        self.target_rate
    }

    /// Octets left of the byte counter's cycle.
    #[must_use]
    pub fn byte_count(&self) -> i64 {
        self.byte_count
    }

    /// Cycles that the byte counter has ended since the last signal.
    #[must_use]
    pub fn byte_stage(&self) -> u32 {
        self.byte_stage
    }

    /// Cycles that the timer has ended since the last signal.
    #[must_use]
    pub fn time_stage(&self) -> u32 {
        self.time_stage
    }

    /// The phase that the counters' stages stand for.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let last = match self.rules.fr_cycles {
            FrCycles::Threshold => self.rules.threshold,
            FrCycles::ThresholdLessOne => self.rules.threshold.saturating_sub(1),
        };
        match self.rules.ai_hai_sequence {
            AiHaiSequence::Counters => match (self.byte_stage > last, self.time_stage > last) {
                (false, false) => Phase::FastRecovery,
                (true, true) => Phase::HyperActiveIncrease,
                _ => Phase::ActiveIncrease,
            },
            AiHaiSequence::Serial => {
                let ended = self.byte_stage.max(self.time_stage);
                if ended <= last {
                    Phase::FastRecovery
                } else if ended == last + 1 {
                    Phase::ActiveIncrease
                } else {
                    Phase::HyperActiveIncrease
                }
            }
        }
    }

    fn increase(&mut self) {
        let r = &self.rules;
        let phase = self.phase();
        if phase == Phase::HyperActiveIncrease {
            self.hai_cycles = self.hai_cycles.saturating_add(1);
        }
        let reduce = match r.trr {
            Trr::FirstCycle => self.byte_stage == 1 || self.time_stage == 1,
            Trr::AnyTime => true,
            Trr::Off => false,
        } && self.target_rate > self.current_rate.saturating_mul(10);
        if reduce {
            self.target_rate /= 8;
        } else {
            let least = u64::from(self.byte_stage.min(self.time_stage));
            let threshold = u64::from(r.threshold);
            let step = match phase {
                Phase::FastRecovery => 0,
                Phase::ActiveIncrease => r.r_ai,
                Phase::HyperActiveIncrease => r.r_hai.saturating_mul(match r.hai_multiplier {
                    HaiMultiplier::MinCount => least.saturating_sub(threshold).max(1),
                    HaiMultiplier::MinCountPlusOne => (least + 1).saturating_sub(threshold).max(1),
                    HaiMultiplier::Ordinal => u64::from(self.hai_cycles),
                    HaiMultiplier::One => 1,
                }),
            };
            self.target_rate = self.target_rate.saturating_add(step);
        }
        if r.tr_clamp {
            self.target_rate = self.target_rate.min(r.max_rate);
        }
        // Halves are added, so that no sum overflows.
        let mean = self.current_rate / 2 + self.target_rate / 2 + (self.current_rate & self.target_rate & 1);
        self.current_rate = mean.clamp(r.min_rate, r.max_rate);
    }

    /// Length of the first cycle after a signal.
    fn first_cycle(&self, full: u64, draw: &mut impl Draw) -> u64 {
        match self.rules.jitter_rp {
            JitterRp::Always => self.rules.jitter.apply(full, draw.draw()),
            JitterRp::Reload | JitterRp::Off => full,
        }
    }

    /// Whether the cycle that begins after cycle number `stage` of its counter is a half one.
    fn halves(&self, stage: u32) -> bool {
        match self.rules.cycle_halving {
            CycleHalving::PerCounter => stage >= self.rules.threshold,
            CycleHalving::HaiOnly => self.phase() == Phase::HyperActiveIncrease,
            CycleHalving::Never => false,
        }
    }

    /// Length of a cycle that follows another one.
    fn next_cycle(&self, full: u64, halved: bool, draw: &mut impl Draw) -> u64 {
        let base = if halved { full / 2 } else { full };
        match self.rules.jitter_rp {
            JitterRp::Off => base,
            JitterRp::Reload | JitterRp::Always => self.rules.jitter.apply(base, draw.draw()),
        }
    }
}

#[cfg(test)]
mod tests;
