//! FQCN, Fair QCN: a congested queue tells every flow that sends its fair share or more, not only the one that it sampled.
//!
//! ```text
//!   congestion point: QCN's sample                     flow table: A_i, what each flow sends
//!   Fb < 0                                             over-rated: A_i >= W_i / sum(W) sum(A)
//!     |                                                          |
//!     +---> to each over-rated flow: Fb(i) = (A_i / W_i) / sum over the over-rated of (A_k / W_k) × Fb
//!                                                                |
//!                                                     each one's reaction point is QCN's
//! ```
//!
//! Source: Zhang, Ansari, "Fair QCN" (2011), whose text was not at hand: summaries give Fb(i) = A_i / sum(A_k) Fb. Dividing
//! by the weights makes it right for flows of different weight and is the same for equal ones. A flow exactly at its share
//! counts as over-rated, so that a flow that is alone is told. While the table knows no flow (in the first interval), the
//! source of the sampled frame is told as in QCN. A part that rounds to 0 is not sent. How arrivals are estimated is
//! [`flow_table`](crate::parts::flow_table)'s reading.

use crate::info::{Info, parameters};
use crate::none::Silent;
use crate::parts::flow_table::{FlowTable, FlowTableParameters, Share};
use crate::parts::notification::{CNM_OCTETS, Cnm};
use crate::parts::quantiser::{QntzFb, Quantise};
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::{Sample, SamplingCp};
use crate::qcn::{self, PAN_10G};
use crate::units::{BitRate, Instant};
use crate::{Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, Scheme, To, Var};

/// Fair QCN.
#[derive(Debug, Clone, Copy)]
pub struct Fqcn;

parameters! {
    /// FQCN's parameters.
    pub struct Config {
        ..qcn: qcn::Config;
        ..flows: FlowTableParameters;
    }
}

impl RpConfig for Config {
    fn rate_limiter(&self, line: BitRate) -> RateLimiter {
        self.qcn.rate_limiter(line)
    }
}

impl Scheme for Fqcn {
    const INFO: Info = Info {
        name: "fqcn",
        title: "Fair QCN",
        source: "Zhang, Ansari: Fair Quantized Congestion Notification (ICC 2011)",
        description: "QCN whose switches divide |Fb| among all flows that send their fair share or more.",
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
    six_bits: bool,
    /// Flows that the last congested sample found over-rated.
    over_rated: u32,
}

/// What counts of an over-rated flow: what it sends for its weight; `None` for one below its fair share.
fn part(share: &Share) -> Option<u64> {
    (share.arrivals >= share.fair).then_some(share.arrivals / share.weight)
}

impl Cp {
    /// Tells the over-rated flows their parts of `sample`; `None` if no flow is known, else whether a message was sent.
    fn divide(&mut self, sample: &Sample, out: &mut impl Out<Fqcn>) -> Option<bool> {
        let parts = || self.flows.shares().filter_map(|share| Some((share.flow, part(&share)?)));
        let sum: u128 = parts().map(|(_, part)| u128::from(part)).sum();
        if sum == 0 {
            return None;
        }
        let message = self.point.message(sample);
        let (mut sent, mut over_rated) = (false, 0);
        for (flow, part) in parts() {
            over_rated += 1;
            let units = u128::from(sample.fb.get()) * u128::from(part) / sum;
            let fb = QntzFb::from_units(units as u16, self.six_bits);
            // A value of 0 is sent where QCN would send a 0 (send_qf0), not where a small one was rounded to it.
            if !fb.is_zero() || sample.fb.is_zero() {
                out.send(To::Source(flow), Class::Control, Cnm { fb, ..message });
                sent = true;
            }
        }
        self.over_rated = over_rated;
        Some(sent)
    }
}

impl CongestionPoint<Fqcn> for Cp {
    const VARS: &'static [Var] = &[
        SamplingCp::VARS[0],
        SamplingCp::VARS[1],
        Var { name: "flows", description: "flows in the table" },
        Var { name: "over_rated", description: "flows at or over their fair share when feedback was last divided" },
    ];

    fn new(config: &Config, place: Place) -> Self {
        Self {
            point: SamplingCp::new(&config.qcn.cp, place.cp),
            flows: FlowTable::new(&config.flows),
            six_bits: config.qcn.cp.quantise != Quantise::None,
            over_rated: 0,
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
        out: &mut impl Out<Fqcn>,
    ) {
        self.flows.count(now, frame.flow, frame.weight, frame.octets, draw);
        let Some(sample) = self.point.sample(frame.octets, fate, queue, draw) else { return };
        let sent = sample.congested
            && self.divide(&sample, out).unwrap_or_else(|| {
                out.send(To::Source(frame.flow), Class::Control, self.point.message(&sample));
                true
            });
        self.point.conclude(&sample, sent, queue.len, draw);
    }

    fn vars(&self, row: &mut [i64]) {
        let [fb, q_old] = self.point.values();
        row.copy_from_slice(&[fb, q_old, self.flows.len() as i64, i64::from(self.over_rated)]);
    }
}
