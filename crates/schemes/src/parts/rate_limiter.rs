//! QCN's reaction point: one rate limiter, when it is made and removed, and the rate calculator in it.
//!
//! ```text
//!   no limiter <----------------------------+
//!     | notification, queue above set point  | rate back at
//!     v                                      | line rate
//!   limiter: rate calculator ----------------+
//!   (parts::rate_calculator draws its phases)
//! ```
//!
//! Schemes that keep QCN's messages and have no tag take it as it is ([`ReactionPoint`] is implemented for all of them).

use crate::info::values::{choice, count, kbps, mbps, octets, real, switch, us};
use crate::info::{choice, parameters};
use crate::parts::jitter::Spread;
use crate::parts::notification::Cnm;
use crate::parts::quantiser::QntzFb;
use crate::parts::rate_calculator::{
    AiHaiSequence, ByteCycle, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator,
    Rules, Trr,
};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{Allowance, Draw, Out, ReactionPoint, Release, Scheme, Var};

choice! {
    /// The event that makes a rate limiter.
    pub enum RlCreate {
        /// A notification whose queue is above the set point. (Pan)
        AboveSetPoint = "above-set-point",
        /// Any notification.
        Any = "any",
        /// It is there from the start. (Kabbani and Yasuda's hardware, Mliki et al. 2016 and Jiang et al. 2015)
        Always = "always",
    }
}

choice! {
    /// The event that removes a rate limiter.
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
    /// How a rate falls and rises, but for the length of the byte counter's cycles.
    pub struct RateParameters {
        /// 1/Gd: a feedback value of n cuts the rate by n Gd.
        gd_inverse: u32 {
            default: count(128),
            range: count(64)..=count(65_536),
            source: "rpgGd (7 for 2^7); Kabbani and Yasuda 2010 table 2",
        }
        /// The least share of the rate that one cut leaves, in percent.
        rpg_min_dec_fac: u32 {
            default: count(50),
            range: count(1)..=count(100),
            source: "rpgMinDecFac",
        }
        /// Whether the target rate becomes the rate before the cut or, as printed, after it.
        decrease_order: DecreaseOrder {
            default: choice("simultaneous"),
            source: "Matsushima et al. 2014, 802.1Qau; Kabbani and Yasuda 2010 eq. (2), (3)",
        }
        /// Cycles of Fast Recovery.
        rpg_threshold: u32 {
            default: count(5),
            range: count(1)..=count(1000),
            source: "rpgThreshold",
        }
        /// Active Increase begins beyond rpg_threshold cycles, or with cycle number rpg_threshold.
        fr_cycles: FrCycles {
            default: choice("threshold"),
            source: "Mliki et al. 2016, Kabbani and Yasuda 2010; Matsushima et al. 2014 algorithm 1",
        }
        /// Whether the timer exists.
        timer_on: bool {
            default: switch(true),
            source: "option; off in Jiang et al. 2015",
        }
        /// Length of a timer cycle.
        rpg_time_reset: Duration {
            default: us(15_000),
            range: us(1)..=us(1_000_000_000),
            source: "rpgTimeReset; TIMER_PERIOD",
            when: timer_on = true,
        }
        /// When cycles are halved.
        cycle_halving: CycleHalving {
            default: choice("per-counter"),
            source: "Mliki et al. 2016, Kabbani and Yasuda 2010, Matsushima et al. 2014",
        }
        /// Which cycles are jittered: all but the first after a notification, all, or none.
        jitter_rp: JitterRp {
            default: choice("reload"),
            source: "Pan; Kabbani and Yasuda 2010",
        }
        /// Spread of the cycles (0.15 for ±15 %).
        rp_jitter: f64 {
            default: real(0.15),
            range: real(0.0)..=real(0.99),
            source: "Kabbani and Yasuda 2010 section 2",
            when: jitter_rp = "reload" | "always",
        }
        /// R_AI, the step of Active Increase.
        rpg_ai_rate: BitRate {
            default: mbps(5),
            range: mbps(0)..=mbps(1_000_000),
            source: "rpgAiRate; AI_INC",
        }
        /// R_HAI, the step of Hyper-Active Increase.
        rpg_hai_rate: BitRate {
            default: mbps(50),
            range: mbps(0)..=mbps(1_000_000),
            source: "rpgHaiRate; HAI_INC",
        }
        /// The factor of R_HAI.
        hai_multiplier: HaiMultiplier {
            default: choice("min-count"),
            source: "Pan; 802.1Qau; Mliki et al. 2016, Kabbani and Yasuda 2010, Matsushima et al. 2014",
        }
        /// The condition that leads from Active to Hyper-Active Increase.
        ai_hai_sequence: AiHaiSequence {
            default: choice("counters"),
            source: "Kabbani and Yasuda 2010, Matsushima et al. 2014; Mliki et al. 2016",
        }
        /// Extra Fast Recovery: when a notification keeps target rate and byte counter.
        efr: Efr {
            default: choice("byte-stage"),
            source: "Pan, 802.1Qau; Kabbani and Yasuda 2010",
        }
        /// Target Rate Reduction: when a target rate above 10 times the current rate is divided by 8.
        trr: Trr {
            default: choice("first-cycle"),
            source: "Pan, 802.1Qau; Kabbani and Yasuda 2010",
        }
        /// Hold the target rate at the largest rate.
        tr_clamp: bool {
            default: switch(false),
            source: "option; on in NIC firmware",
        }
        /// Least rate.
        rpg_min_rate: BitRate {
            default: mbps(5),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "rpgMinRate",
        }
        /// Largest rate; 0 for the line's.
        rpg_max_rate: BitRate {
            default: mbps(0),
            range: mbps(0)..=mbps(10_000_000),
            source: "rpgMaxRate",
        }
    }
}

parameters! {
    /// Byte-counter cycles of the same length at every rate.
    pub struct ByteResetParameters {
        /// Octets of a byte-counter cycle.
        rpg_byte_reset: Octets {
            default: octets(150_000),
            range: octets(64)..=octets(10_000_000_000),
            source: "rpgByteReset; BC_LIMIT",
        }
    }
}

parameters! {
    /// When a rate limiter comes and goes.
    pub struct LimiterParameters {
        /// The event that makes a rate limiter.
        rl_create: RlCreate {
            default: choice("above-set-point"),
            source: "Pan; 802.1Qau",
        }
        /// The event that removes a rate limiter.
        rl_release: RlRelease {
            default: choice("line-rate"),
            source: "Pan",
        }
        /// How long a limiter must be idle to be removed.
        rl_idle_time: Duration {
            default: us(100_000),
            range: us(1)..=us(1_000_000_000),
            source: "option",
            when: rl_release = "idle",
        }
    }
}

impl RateParameters {
    /// The rules of a rate calculator in front of a line of rate `line`.
    #[must_use]
    pub fn rules(&self, line: BitRate, byte_cycle: ByteCycle) -> Rules {
        let max_rate = if self.rpg_max_rate.0 == 0 { line.0 } else { self.rpg_max_rate.0.min(line.0) };
        Rules {
            gd_inverse: u64::from(self.gd_inverse),
            rpg_min_dec_fac: u64::from(self.rpg_min_dec_fac),
            min_rate: self.rpg_min_rate.0.min(max_rate),
            max_rate,
            r_ai: self.rpg_ai_rate.0,
            r_hai: self.rpg_hai_rate.0,
            threshold: self.rpg_threshold,
            byte_cycle,
            time_reset: self.timer_on.then_some(self.rpg_time_reset),
            jitter: Spread::new(self.rp_jitter),
            jitter_rp: self.jitter_rp,
            decrease_order: self.decrease_order,
            fr_cycles: self.fr_cycles,
            cycle_halving: self.cycle_halving,
            hai_multiplier: self.hai_multiplier,
            ai_hai_sequence: self.ai_hai_sequence,
            efr: self.efr,
            trr: self.trr,
            tr_clamp: self.tr_clamp,
        }
    }
}

impl ByteResetParameters {
    /// The cycle that they stand for.
    #[must_use]
    pub fn cycle(&self) -> ByteCycle {
        ByteCycle::Fixed(self.rpg_byte_reset.0)
    }
}

/// A configuration of a scheme that has QCN's reaction point.
pub trait RpConfig {
    /// A reaction point in front of a line of rate `line`.
    fn rate_limiter(&self, line: BitRate) -> RateLimiter;
}

/// QCN's reaction point.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    calculator: RateCalculator,
    create: RlCreate,
    release: RlRelease,
    idle_time: Duration,
    max_rate: u64,
    installed: bool,
    /// When the limiter is removed for idleness.
    idle_at: Instant,
}

impl RateLimiter {
    /// The columns that [`values`](Self::values) fills.
    pub const VARS: [Var; 3] = [
        Var { name: "target_rate_bps", description: "target rate TR, bit/s" },
        Var { name: "byte_stage", description: "cycles of the byte counter since the last notification" },
        Var { name: "time_stage", description: "cycles of the timer since the last notification" },
    ];

    /// At the largest rate, no limiter installed.
    #[must_use]
    pub fn new(rules: Rules, config: &LimiterParameters) -> Self {
        Self {
            calculator: RateCalculator::new(rules),
            create: config.rl_create,
            release: config.rl_release,
            idle_time: config.rl_idle_time,
            max_rate: rules.max_rate,
            installed: false,
            idle_at: Instant::NEVER,
        }
    }

    /// Goes by the parameters of `fresh`, which has just been made. A limiter that is installed stays until an event removes it; one
    /// that is not is like `fresh`.
    pub fn configure(&mut self, fresh: Self) {
        if !self.installed {
            *self = fresh;
            return;
        }
        self.calculator.configure(*fresh.calculator.rules());
        let calculator = self.calculator.clone();
        let idle_at = if fresh.release == RlRelease::Idle { self.idle_at } else { Instant::NEVER };
        *self = Self { calculator, installed: true, idle_at, ..fresh };
    }

    /// A flow starts.
    pub fn start(&mut self, now: Instant, draw: &mut impl Draw) {
        if self.create == RlCreate::Always && !self.installed {
            self.installed = true;
            self.calculator.reset();
            self.calculator.start_timer(now, draw);
            self.touch(now);
        }
    }

    /// A notification of `fb` has come from a queue that is `q_off` octets above its set point. False if it makes no
    /// limiter and changes nothing.
    pub fn notify(&mut self, now: Instant, fb: QntzFb, q_off: i32, draw: &mut impl Draw) -> bool {
        if fb.is_zero() {
            return false;
        }
        if !self.installed {
            if self.create == RlCreate::AboveSetPoint && q_off <= 0 {
                return false;
            }
            self.installed = true;
        }
        self.calculator.decrease(now, fb, draw);
        self.touch(now);
        true
    }

    /// A frame of `octets` is sent.
    #[inline(always)]
    pub fn sent(&mut self, now: Instant, octets: u16, draw: &mut impl Draw) {
        if self.installed {
            self.count(now, octets, draw);
        }
    }

    /// Counts a frame that the limiter has let go.
    fn count(&mut self, now: Instant, octets: u16, draw: &mut impl Draw) {
        if self.release == RlRelease::LineRate && self.calculator.current_rate() == self.max_rate {
            self.remove();
            return;
        }
        self.touch(now);
        self.calculator.count(octets, draw);
    }

    /// When [`timeout`](Self::timeout) is due.
    #[must_use]
    #[inline]
    pub fn due(&self) -> Option<Instant> {
        let timer = self.calculator.next_timeout().unwrap_or(Instant::NEVER).min(self.idle_at);
        (timer != Instant::NEVER).then_some(timer)
    }

    /// A timer may have run out.
    pub fn timeout(&mut self, now: Instant, draw: &mut impl Draw) {
        if now >= self.idle_at {
            self.remove();
        } else {
            self.calculator.on_timeout(now, draw);
        }
    }

    /// The current rate (rpCurrentRate).
    #[must_use]
    #[inline]
    pub fn current_rate(&self) -> BitRate {
        BitRate(self.calculator.current_rate())
    }

    /// The target rate (rpTargetRate).
    #[must_use]
    pub fn target_rate(&self) -> BitRate {
        BitRate(self.calculator.target_rate())
    }

    /// Cycles that the byte counter has ended since the last notification (rpByteStage).
    #[must_use]
    pub fn byte_stage(&self) -> u32 {
        self.calculator.byte_stage()
    }

    /// Whether the limiter is there.
    #[must_use]
    #[inline]
    pub fn installed(&self) -> bool {
        self.installed
    }

    /// One value for each of [`VARS`](Self::VARS).
    #[must_use]
    pub fn values(&self) -> [i64; 3] {
        let c = &self.calculator;
        [c.target_rate() as i64, i64::from(c.byte_stage()), i64::from(c.time_stage())]
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

impl<S> ReactionPoint<S> for RateLimiter
where
    S: Scheme<Tag = (), Signal = Cnm>,
    S::Config: RpConfig,
{
    const VARS: &'static [Var] = &Self::VARS;

    fn new(config: &S::Config, line: BitRate) -> Self {
        config.rate_limiter(line)
    }

    fn configure(&mut self, config: &S::Config, line: BitRate) {
        self.configure(config.rate_limiter(line));
    }

    fn on_start(&mut self, now: Instant, _flow: FlowKey, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.start(now, draw);
    }

    fn on_signal(&mut self, now: Instant, _flow: FlowKey, signal: Cnm, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.notify(now, signal.fb, signal.q_off, draw);
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.sent(now, frame.octets, draw);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.due()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.timeout(now, draw);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.current_rate(), window: None }
    }

    fn limiting(&self) -> bool {
        self.installed
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&self.values());
    }
}
