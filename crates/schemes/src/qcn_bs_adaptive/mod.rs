//! QCN/BS integrated with Adaptive BC_LIMIT: a rate for each congested switch, and cycles that take the same time at every
//! rate.
//!
//! Bottleneck Selection alone leaves a long flow behind when it gets a few more notifications than its neighbours, for
//! QCN keeps an unfair split; Adaptive BC_LIMIT takes that away. Nothing here is new: the table is that of
//! [`qcn_bs`](crate::qcn_bs), the cycle that of [`qcn_adaptive`](crate::qcn_adaptive).
//!
//! Source: Matsushima et al. 2014, section III.B, algorithm 1.

use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::none::Silent;
use crate::parts::limiter_table::{LimiterTable, TableConfig, TableParameters};
use crate::parts::notification::Cnm;
use crate::parts::rate_limiter::RateParameters;
use crate::parts::sampling_cp::{CpConfig, CpParameters, SamplingCp};
use crate::qcn::{PAN_10G, PAPER_BOTTLENECK};
use crate::qcn_adaptive::{AdaptiveParameters, TUNED};
use crate::units::BitRate;
use crate::{Label, Scheme};

/// QCN/BS integrated with Adaptive BC_LIMIT.
#[derive(Debug, Clone, Copy)]
pub struct QcnBsAdaptive;

parameters! {
    /// The parameters of the integration.
    pub struct Config {
        ..cp: CpParameters;
        ..rate: RateParameters;
        ..adaptive: AdaptiveParameters;
        ..table: TableParameters;
    }
}

impl CpConfig for Config {
    fn cp(&self) -> &CpParameters {
        &self.cp
    }
}

impl TableConfig for Config {
    fn limiter_table(&self, line: BitRate) -> LimiterTable {
        LimiterTable::new(self.rate.rules(line, self.adaptive.cycle()), &self.table)
    }
}

impl Scheme for QcnBsAdaptive {
    const INFO: Info = Info {
        name: "qcn-bs-adaptive",
        title: "QCN/BS integrated with Adaptive BC_LIMIT",
        source: "Matsushima et al. 2014 (fairness of multiple-bottleneck flows)",
        description: "QCN whose sources keep a rate for each congested switch, each recovering at the same pace at every rate.",
        parameters: Config::PARAMETERS,
        profiles: &[
            PAN_10G,
            Profile {
                name: PAPER_BOTTLENECK.name,
                description: "Matsushima et al. 2014 at 10 Gb/s: Qeq of 22 frames, an entry for each switch, cycles of 240 us.",
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
        forms: Forms { capture: true, testbed: true, fluid: None, cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Cnm;
    type Cp = SamplingCp;
    type Np = Silent;
    type Rp = LimiterTable;

    fn label(_tag: &Self::Tag) -> Label {
        Label::CnTag
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::quantiser::QntzFb;
    use crate::testing::{Middle, Sent, config};
    use crate::units::{CpId, FlowKey, Instant, Octets};
    use crate::{ReactionPoint, Release};

    /// At 10 Gb/s two switches cut to 5.078125 and 9.921875 Gb/s. 300 000 octets later both entries end their first cycle:
    /// (5.078125 + 10) / 2 and (9.921875 + 10) / 2. The next one has K times the rate before that increase: 152 343 octets
    /// for the first, 297 656 for the second; the first one recovers, the second one does not yet.
    #[test]
    fn each_entry_has_cycles_of_its_own_length() {
        let mut t = config::<QcnBsAdaptive>("", &[]).limiter_table(BitRate::from_gbps(10));
        for (fb, station) in [(63, 0xa0), (1, 0xa1)] {
            let signal = Cnm { fb: QntzFb::from_steps(fb), cp: CpId::new(station, 0, 0), q_off: 1, q_delta: 0 };
            ReactionPoint::<QcnBsAdaptive>::on_signal(
                &mut t,
                Instant(1),
                FlowKey(0),
                signal,
                &mut Middle,
                &mut Sent::default(),
            );
        }
        let mut send = |frames: u32| {
            for _ in 0..frames {
                let frame = Release { flow: FlowKey(0), octets: 100, seq: Octets(0), last: false };
                ReactionPoint::<QcnBsAdaptive>::on_send(&mut t, Instant(1), frame, &mut Middle, &mut Sent::default());
            }
            t.entries().map(|(rate, _)| rate.0).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(send(3000), [5_078_125_000, 9_921_875_000]);
        assert_eq!(send(1), [7_539_062_500, 9_960_937_500]);
        assert_eq!(send(1523), [7_539_062_500, 9_960_937_500]);
        assert_eq!(send(1), [8_769_531_250, 9_960_937_500], "152 343 octets are less than 1524 × 100");
    }
}
