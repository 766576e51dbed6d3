//! AF-QCN, Approximately Fair QCN: a congestion point tells flows that send more than their fair share to slow down more.
//!
//! ```text
//!   congestion point: QCN's sample           flow table: the rate of each flow
//!   Fb_QCN = quant[-(q_off + w q_delta)]     r_fair = W_i / sum(W) sum(r)
//!                  |                                   |
//!                  |                         Fb_AF = quant[1 - r_fair / r_i]+
//!                  +-----------------+-----------------+
//!                                    v
//!              Fb = (1 - alpha) Fb_QCN + alpha Fb_AF  --->  QCN's reaction point
//! ```
//!
//! Source: Kabbani, Alizadeh, Yasuda, Pan, Prabhakar, "AF-QCN" (HotI 2010), as Mliki et al. 2016 and Jiang et al. 2015
//! cite it; its text was not at hand, the formulas are those of summaries. How arrivals are estimated is
//! [`flow_table`](crate::parts::flow_table)'s reading. Whether a flow may be signalled while its queue is not
//! congested is an option.

use crate::info::values::{choice, real, switch};
use crate::info::{Action, Forms, Info, Signals, choice, parameters};
use crate::none::Silent;
use crate::parts::flow_table::{FlowTable, FlowTableParameters, Share};
use crate::parts::notification::Cnm;
use crate::parts::quantiser::{QntzFb, Quantise};
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::SamplingCp;
use crate::qcn::{self, PAN_10G};
use crate::units::{BitRate, Instant};
use crate::{Class, CongestionPoint, Draw, Fate, Frame, Label, Out, Place, Queue, Scheme, To, Var};

/// Approximately Fair QCN.
#[derive(Debug, Clone, Copy)]
pub struct AfQcn;

choice! {
    /// The feedback to a flow at or below its fair share.
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
        /// Weight of fairness in the feedback value, rounded to 1/256.
        alpha: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            source: "AF-QCN (HotI 2010); value by hearsay",
        }
        /// The feedback to a flow at or below its fair share: the queue's part of the formula, Fb_QCN in full, or
        /// nothing.
        below_share: BelowShare {
            default: choice("weighted"),
            source: "AF-QCN's formula; option",
        }
        /// Send Fb_AF also while the queue is not congested.
        af_alone: bool {
            default: switch(false),
            source: "option; not clear in the sources",
        }
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
        source: "Kabbani, Alizadeh, Yasuda, Pan, Prabhakar: AF-QCN (HotI 2010), cited by Mliki et al. 2016 and Jiang et al. 2015",
        description: "QCN whose switches estimate what each flow sends and add its excess over a weighted fair share to |Fb|.",
        parameters: Config::PARAMETERS,
        profiles: &[PAN_10G],
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Cnm::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[
            &["q_eq"],
            &["w"],
            &["gd_inverse"],
            &["sample_base"],
            &["sample_count"],
            &["sample_probability", "sample_probability_max"],
            &["rpg_byte_reset"],
            &["rpg_time_reset"],
            &["rpg_ai_rate"],
            &["rpg_hai_rate"],
            &["alpha"],
        ],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("af_qcn"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Silent;
    type Rp = RateLimiter;

    fn label(_tag: &Self::Tag) -> Label {
        Label::CnTag
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

    /// Fb = (1 - alpha) Fb_QCN + alpha Fb_AF; `None` if the flow gets no signal.
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

    fn configure(&mut self, config: &Config, place: Place) {
        self.point.configure(&config.qcn.cp);
        self.flows.configure(&config.flows);
        let (point, flows, last_af) = (self.point.clone(), self.flows.clone(), self.last_af);
        *self = Self { point, flows, last_af, ..Self::new(config, place) };
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::info::values::octets;
    use crate::testing::{Middle, Sent, config, frame_of};
    use crate::units::{CpId, Duration, FlowKey, Octets};
    use proptest::prelude::*;

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let all = [changes, &[("flow_sample", octets(1400)), ("sampling", choice("every-frame")), ("w", real(0.0))]];
        let place =
            Place { cp: CpId(1), line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        <Cp as CongestionPoint<AfQcn>>::new(&config::<AfQcn>("", &all.concat()), place)
    }

    /// The feedback that the source of `flow` gets when its frame meets a queue of `len` octets.
    fn arrive(cp: &mut Cp, now: Instant, (flow, weight): (u32, u16), len: u64) -> Option<u8> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let mut tag = ();
        let frame = Frame { weight, ..frame_of(FlowKey(flow), now, &mut tag) };
        cp.on_arrival(now, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        sent.0.first().map(|&(to, cnm)| {
            assert_eq!(to, To::Source(FlowKey(flow)));
            cnm.fb.steps()
        })
    }

    /// Three frames of flow 1 for each of flow 2, in an empty queue and for one interval.
    fn unfair(changes: &[(&str, Value)]) -> (Cp, Instant) {
        let mut cp = cp(changes);
        for i in 0..40 {
            arrive(&mut cp, Instant(i), (if i % 4 == 0 { 2 } else { 1 }, 1), 0);
        }
        let now = Instant(1) + Duration::from_us(1000);
        arrive(&mut cp, now, (1, 1), 0);
        (cp, now)
    }

    /// Qeq = 26 000, w = 0: a queue of 39 000 has |Fb_QCN| = 13 000 × 63 / 26 000 = 31 (rounded down).
    /// Flow 1 sends 45 000 octets of 60 000, its share is 30 000: Fb_AF = 63 × (1 - 30/45) = 21.
    #[test]
    fn the_excess_over_the_fair_share_is_added() {
        let (mut cp, now) = unfair(&[]);
        assert_eq!(arrive(&mut cp, now, (1, 1), 39_000), Some(26), "31/2 + 21/2");
        assert_eq!(arrive(&mut cp, now, (2, 1), 39_000), Some(16), "31/2 = 15.5, rounded to 16");
        let (mut cp, now) = unfair(&[("alpha", real(0.25))]);
        assert_eq!(arrive(&mut cp, now, (1, 1), 39_000), Some(29), "31 × 0.75 + 21 × 0.25 = 28.5");
        let (mut cp, now) = unfair(&[("alpha", real(0.0))]);
        assert_eq!(arrive(&mut cp, now, (1, 1), 39_000), Some(31), "QCN");
    }

    #[test]
    fn weights_count() {
        // With weight 3, flow 1 sends exactly its share.
        let mut cp = cp(&[]);
        for i in 0..40 {
            arrive(&mut cp, Instant(i), if i % 4 == 0 { (2, 1) } else { (1, 3) }, 0);
        }
        let now = Instant(1) + Duration::from_us(1000);
        arrive(&mut cp, now, (1, 3), 0);
        assert_eq!(arrive(&mut cp, now, (1, 3), 39_000), Some(16));
        assert_eq!(arrive(&mut cp, now, (2, 1), 39_000), Some(16));
    }

    #[test]
    fn the_message_to_a_fair_flow_is_an_option() {
        for (below, expected) in [("weighted", Some(16)), ("qcn", Some(31)), ("nothing", None)] {
            let (mut cp, now) = unfair(&[("below_share", choice(below))]);
            assert_eq!(arrive(&mut cp, now, (2, 1), 39_000), expected, "{below}");
            assert_eq!(arrive(&mut cp, now, (1, 1), 39_000), Some(26), "{below}");
        }
    }

    #[test]
    fn without_congestion_nothing_is_sent_unless_wanted() {
        for (alone, expected) in [(false, None), (true, Some(11))] {
            let (mut cp, now) = unfair(&[("af_alone", switch(alone))]);
            assert_eq!(arrive(&mut cp, now, (1, 1), 13_000), expected, "21/2, rounded to 11");
            assert_eq!(arrive(&mut cp, now, (2, 1), 13_000), None);
        }
    }

    #[test]
    fn a_flow_without_estimate_gets_the_queues_part() {
        assert_eq!(arrive(&mut cp(&[]), Instant(1), (1, 1), 39_000), Some(16));
    }

    proptest! {
        /// Fairness shifts Fb by at most alpha × 63 up or down, and a flow that sends more gets no smaller Fb.
        #[test]
        fn the_shift_is_bounded(
            few in 1u64..10,
            len in 0u64..150_000,
            alpha in 0.0f64..1.0,
        ) {
            let mut cp = cp(&[("alpha", real(alpha))]);
            for i in 0..80 {
                arrive(&mut cp, Instant(i), (if i % 20 < few { 2 } else { 1 }, 1), 0);
            }
            let now = Instant(1) + Duration::from_us(1000);
            arrive(&mut cp, now, (1, 1), 0);
            let of = |cp: &mut Cp, flow| f64::from(arrive(cp, now, (flow, 1), len).unwrap_or(0));
            let (more, less) = (of(&mut cp, 1), of(&mut cp, 2));
            let qcn = f64::from(cp.point.values()[0] as i32);
            prop_assert!(more >= less);
            prop_assert!((more - qcn).abs() <= alpha * 63.0 + 1.0 && qcn - less <= alpha * 63.0 + 1.0);
        }
    }
}
