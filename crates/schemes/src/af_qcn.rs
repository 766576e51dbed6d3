//! AF-QCN, Approximately Fair QCN: a congestion point tells flows that send more than their fair share to slow down more.
//!
//! ```text
//!   congestion point: QCN's sample           flow table: what each flow sends
//!   Fb_QCN = quant[-(q_off + w q_delta)]     r_fair = W_i / sum(W) sum(r)
//!                  |                                   |
//!                  |                         Fb_AF = quant[1 - r_fair / r_i]+
//!                  +-----------------+-----------------+
//!                                    v
//!              Fb = (1 - alpha) Fb_QCN + alpha Fb_AF  --->  QCN's reaction point
//! ```
//!
//! Source: Kabbani, Alizadeh, Yasuda, Pan, Prabhakar, "AF-QCN" (HotI 2010), as papers 000 and 004 cite it; its text was not
//! at hand, the formulas are those of summaries. How arrivals are estimated is [`flow_table`](crate::parts::flow_table)'s
//! reading. Whether a flow may be told to slow down while its queue is not congested is an option.

use crate::info::values::{choice, real, switch};
use crate::info::{Info, choice, parameters};
use crate::none::Silent;
use crate::parts::flow_table::{FlowTable, FlowTableParameters, Share};
use crate::parts::notification::{CNM_OCTETS, Cnm};
use crate::parts::quantiser::{QntzFb, Quantise};
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::SamplingCp;
use crate::qcn::{self, PAN_10G};
use crate::units::{BitRate, Instant};
use crate::{Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, Scheme, To, Var};

/// Approximately Fair QCN.
#[derive(Debug, Clone, Copy)]
pub struct AfQcn;

choice! {
    /// What a flow at or below its fair share is told.
    pub enum BelowShare {
        /// (1 − alpha) Fb_QCN, as the formula gives with Fb_AF = 0.
        Weighted = "weighted",
        /// Fb_QCN in full.
        Qcn = "qcn",
        /// Nothing.
        Nothing = "nothing",
    }
}

parameters! {
    /// AF-QCN's parameters.
    pub struct Config {
        ..qcn: qcn::Config;
        ..flows: FlowTableParameters;
        alpha: f64 = real(0.5), real(0.0) => real(1.0); "AF-QCN (HotI 2010); value by hearsay", "Weight of fairness in the feedback value, rounded to 1/256.";
        below_share: BelowShare = choice("weighted"); "AF-QCN's formula; option", "What a flow at or below its fair share is told: the queue's part of the formula, Fb_QCN in full, or nothing.";
        af_alone: bool = switch(false); "option; not clear in the sources", "Send Fb_AF also while the queue is not congested.";
    }
}

impl RpConfig for Config {
    fn rate_limiter(&self, line: BitRate) -> RateLimiter {
        self.qcn.rate_limiter(line)
    }
}

impl Scheme for AfQcn {
    const INFO: Info = Info {
        name: "af-qcn",
        title: "Approximately Fair QCN",
        source: "Kabbani, Alizadeh, Yasuda, Pan, Prabhakar: AF-QCN (HotI 2010), cited by papers 000 and 004",
        description: "QCN whose switches estimate what each flow sends and add its excess over a weighted fair share to |Fb|.",
        parameters: Config::PARAMETERS,
        profiles: &[PAN_10G],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
    };
    type Config = Config;
    type Tag = ();
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Silent;
    type Rp = RateLimiter;

    const SIGNAL_VARS: &'static [Var] = Cnm::VARS;

    fn octets(_: &Cnm) -> u16 {
        CNM_OCTETS
    }

    fn signal_vars(signal: &Cnm, row: &mut [i64]) {
        row.copy_from_slice(&signal.values());
    }
}

/// QCN's congestion point with a table of flows.
#[derive(Debug, Clone)]
pub struct Cp {
    point: SamplingCp,
    flows: FlowTable,
    /// alpha in 1/256.
    alpha: u32,
    below_share: BelowShare,
    af_alone: bool,
    six_bits: bool,
    last_af: QntzFb,
}

impl Cp {
    /// Fb_AF = quant[1 - r_fair / r]+.
    fn excess(&self, share: Share) -> QntzFb {
        let over = share.arrivals.saturating_sub(share.fair);
        if over == 0 {
            return QntzFb::default();
        }
        let largest = QntzFb::from_steps(if self.six_bits { 63 } else { 64 });
        let units = u128::from(largest.get()) * u128::from(over) / u128::from(share.arrivals);
        QntzFb::from_units(units as u16, self.six_bits)
    }

    /// Fb = (1 - alpha) Fb_QCN + alpha Fb_AF; `None` for a flow that is told nothing.
    fn blend(&self, qcn: QntzFb, af: QntzFb) -> Option<QntzFb> {
        if af.is_zero() {
            match self.below_share {
                BelowShare::Weighted => {}
                BelowShare::Qcn => return Some(qcn),
                BelowShare::Nothing => return None,
            }
        }
        let units = (u32::from(qcn.get()) * (256 - self.alpha) + u32::from(af.get()) * self.alpha) / 256;
        Some(QntzFb::from_units(units as u16, self.six_bits))
    }
}

impl CongestionPoint<AfQcn> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "fb", description: "quantised |Fb_QCN| of the last sample, 0 to 63" },
        SamplingCp::VARS[1],
        Var { name: "fb_af", description: "quantised Fb_AF of the last sample, 0 to 63" },
        Var { name: "flows", description: "flows in the table" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        Self {
            point: SamplingCp::new(&config.qcn.cp, place.cp),
            flows: FlowTable::new(&config.flows),
            alpha: (config.alpha * 256.0 + 0.5) as u32,
            below_share: config.below_share,
            af_alone: config.af_alone,
            six_bits: config.qcn.cp.quantise != Quantise::None,
            last_af: QntzFb::default(),
        }
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<AfQcn>,
    ) {
        self.flows.count(now, frame.flow, frame.weight, frame.octets, draw);
        let Some(sample) = self.point.sample(frame.octets, fate, queue, draw) else { return };
        let af = self.flows.share(frame.flow).map_or(QntzFb::default(), |share| self.excess(share));
        // A value of 0 is sent where QCN would send a 0 (send_qf0), not where a small one was rounded to it.
        let tells = |fb: &QntzFb| !fb.is_zero() || sample.fb.is_zero();
        let fb = self.blend(sample.fb, af).filter(tells);
        let sends = fb.filter(|_| sample.congested || self.af_alone && !af.is_zero());
        if let Some(fb) = sends {
            out.send(To::Source(frame.flow), Class::Control, Cnm { fb, ..self.point.message(&sample) });
        }
        self.last_af = af;
        self.point.conclude(&sample, sends.is_some(), queue.len, draw);
    }

    fn vars(&self, row: &mut [i64]) {
        let [fb, q_old] = self.point.values();
        row.copy_from_slice(&[fb, q_old, i64::from(self.last_af.steps()), self.flows.len() as i64]);
    }
}
