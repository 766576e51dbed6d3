//! QCN with Bottleneck Selection (QCN/BS): a rate for each congested switch, the slowest of which governs.
//!
//! A flow that crosses several bottlenecks gets notifications from each of them. QCN subtracts all of them from one
//! rate and so slows long flows down too much. QCN/BS keeps rate, counters and timer for each switch that complains;
//! the least of the rates is the flow's. Congestion points are QCN's. [`limiter_table`](crate::parts::limiter_table)
//! draws the reaction point.
//!
//! Source: Matsushima et al. 2014, section II.B and algorithm 1. It leaves open the lifetime of an entry and the rule
//! for a full table; each is an option or a rule stated there.

use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::none::Silent;
use crate::parts::limiter_table::{LimiterTable, TableConfig, TableParameters};
use crate::parts::notification::Cnm;
use crate::parts::rate_limiter::{ByteResetParameters, RateParameters};
use crate::parts::sampling_cp::{CpConfig, CpParameters, SamplingCp};
use crate::qcn::{PAN_10G, PAPER_BOTTLENECK, TUNED};
use crate::units::BitRate;
use crate::{Label, Scheme};

/// QCN with Bottleneck Selection.
#[derive(Debug, Clone, Copy)]
pub struct QcnBs;

parameters! {
    /// The parameters of QCN/BS.
    pub struct Config {
        ..cp: CpParameters;
        ..rate: RateParameters;
        ..byte_reset: ByteResetParameters;
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
        LimiterTable::new(self.rate.rules(line, self.byte_reset.cycle()), &self.table)
    }
}

impl Scheme for QcnBs {
    const INFO: Info = Info {
        name: "qcn-bs",
        title: "QCN with Bottleneck Selection",
        source: "Matsushima et al. 2014 (fairness of multiple-bottleneck flows)",
        description: "QCN whose sources keep a rate for each congested switch and send at the least of them.",
        parameters: Config::PARAMETERS,
        profiles: &[
            PAN_10G,
            Profile {
                name: PAPER_BOTTLENECK.name,
                description: "Matsushima et al. 2014 at 10 Gb/s: Qeq of 22 frames, an entry for each switch, decreased when it is made.",
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
        forms: Forms { capture: true, testbed: true, fluid: Some("qcn_bs"), cores: &[] },
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
