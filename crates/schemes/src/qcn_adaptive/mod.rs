//! QCN with Adaptive BC_LIMIT: cycles of the byte counter that take the same time at every rate.
//!
//! QCN's byte counter lets fast flows recover more often than slow ones, so that an unfair split lasts. Here a cycle has
//! `BC_LIMIT = K CR` bits: all flows recover equally often, while fast ones are sampled more often. Congestion points and
//! all other rules are QCN's.
//!
//! Source: Matsushima et al. 2014, section III.A, equation (5) and algorithm 1.

use crate::info::values::{switch, us};
use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::none::Silent;
use crate::parts::notification::Cnm;
use crate::parts::rate_calculator::ByteCycle;
use crate::parts::rate_limiter::{LimiterParameters, RateLimiter, RateParameters, RpConfig};
use crate::parts::sampling_cp::{CpConfig, CpParameters, SamplingCp};
use crate::qcn::{PAN_10G, PAPER_BOTTLENECK};
use crate::units::{BitRate, Duration};
use crate::{Label, Scheme};

/// QCN with Adaptive BC_LIMIT.
#[derive(Debug, Clone, Copy)]
pub struct QcnAdaptive;

parameters! {
    /// Byte-counter cycles of the same time at every rate.
    pub struct AdaptiveParameters {
        /// K: a cycle of the byte counter has as many octets as the current rate carries in this time (150 KB at 5
        /// Gb/s).
        k: Duration {
            default: us(240),
            range: us(1)..=us(1_000_000),
            source: "Matsushima et al. 2014 eq. (5): K = 2.4e-4, BC_LIMIT and CR in bits",
        }
        /// Cycles of K CR are halved where cycle_halving says so; otherwise never.
        halve_adaptive: bool {
            default: switch(true),
            source: "option; Matsushima et al. 2014 algorithm 1 prints none",
        }
    }
}

impl AdaptiveParameters {
    /// The cycle that they stand for.
    #[must_use]
    pub fn cycle(&self) -> ByteCycle {
        ByteCycle::AtRate { k: self.k, halved: self.halve_adaptive }
    }
}

parameters! {
    /// The parameters of QCN with Adaptive BC_LIMIT.
    pub struct Config {
        ..cp: CpParameters;
        ..rate: RateParameters;
        ..adaptive: AdaptiveParameters;
        ..limiter: LimiterParameters;
    }
}

impl CpConfig for Config {
    fn cp(&self) -> &CpParameters {
        &self.cp
    }
}

impl RpConfig for Config {
    fn rate_limiter(&self, line: BitRate) -> RateLimiter {
        RateLimiter::new(self.rate.rules(line, self.adaptive.cycle()), &self.limiter)
    }
}

/// The parameters that an operator sets: QCN's, K instead of the octets of a cycle.
pub const TUNED: &[&[&str]] = &[
    &["q_eq"],
    &["w"],
    &["gd_inverse"],
    &["sample_base"],
    &["sample_count"],
    &["sample_probability", "sample_probability_max"],
    &["k"],
    &["rpg_time_reset"],
    &["rpg_ai_rate"],
    &["rpg_hai_rate"],
];

impl Scheme for QcnAdaptive {
    const INFO: Info = Info {
        name: "qcn-adaptive",
        title: "QCN with Adaptive BC_LIMIT",
        source: "Matsushima et al. 2014 (fairness of multiple-bottleneck flows)",
        description: "QCN whose byte-counter cycles grow with the current rate, so that all flows recover equally often.",
        parameters: Config::PARAMETERS,
        profiles: &[
            PAN_10G,
            Profile {
                name: PAPER_BOTTLENECK.name,
                description: "Matsushima et al. 2014 at 10 Gb/s: Qeq of 22 frames, cycles of 240 us.",
                settings: PAPER_BOTTLENECK.settings,
            },
        ],
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Cnm::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: TUNED,
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("qcn_adaptive"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Cnm;
    type Cp = SamplingCp;
    type Np = Silent;
    type Rp = RateLimiter;

    fn label(_tag: &Self::Tag) -> Label {
        Label::CnTag
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::quantiser::QntzFb;
    use crate::testing::{Middle, config};
    use crate::units::Instant;

    /// Octets that a source at `line` sends from a notification of `fb` to its first increase.
    fn first_cycle(line: BitRate, fb: u8) -> u64 {
        let mut rp = config::<QcnAdaptive>("", &[]).rate_limiter(line);
        rp.notify(Instant(1), QntzFb::from_steps(fb), 1000, &mut Middle);
        let mut octets = 0;
        while rp.byte_stage() == 0 {
            rp.sent(Instant(1), 100, &mut Middle);
            octets += 100;
        }
        octets
    }

    /// K CR is 300 000 octets at 10 Gb/s and 30 000 at 1 Gb/s, of the rate before the cut; the counter ends below zero.
    #[test]
    fn the_first_cycle_follows_the_rate_before_the_cut() {
        assert_eq!(first_cycle(BitRate::from_gbps(10), 63), 300_100);
        assert_eq!(first_cycle(BitRate::from_gbps(10), 1), 300_100);
        assert_eq!(first_cycle(BitRate::from_gbps(1), 63), 30_100);
    }

    #[test]
    fn the_parameters_are_qcns_but_for_the_cycle() {
        let has = |name| QcnAdaptive::INFO.parameter(name).is_some();
        assert!(has("k") && has("halve_adaptive") && !has("rpg_byte_reset"));
        let of_qcn = crate::qcn::Qcn::INFO.parameters.iter().filter(|p| p.name != "rpg_byte_reset");
        assert!(of_qcn.clone().all(|p| has(p.name)));
        assert_eq!(QcnAdaptive::INFO.parameters.len(), of_qcn.count() + 2);
    }
}
