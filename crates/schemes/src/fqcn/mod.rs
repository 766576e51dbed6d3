//! FQCN, Fair QCN: a congested queue signals every flow that sends its fair share or more, not only the sampled one.
//!
//! ```text
//!   congestion point: QCN's sample                     flow table: A_i, arrivals of each flow
//!   Fb < 0                                             over-rated: A_i >= W_i / sum(W) sum(A)
//!     |                                                          |
//!     +---> to each over-rated flow: Fb(i) = (A_i / W_i) / sum over the over-rated of (A_k / W_k) × Fb
//!                                                                |
//!                                                     each one's reaction point is QCN's
//! ```
//!
//! Source: Zhang, Ansari, "Fair QCN" (2011), whose text was not at hand: summaries give Fb(i) = A_i / sum(A_k) Fb. Dividing
//! by the weights makes it right for flows of different weight and is the same for equal ones. A flow exactly at its share
//! counts as over-rated, so a single flow is signalled too. While the table is empty (in the first interval), the
//! source of the sampled frame is signalled as in QCN. A part that rounds to 0 is not sent. How arrivals are estimated is
//! [`flow_table`](crate::parts::flow_table)'s reading.

use crate::info::{Action, Forms, Info, Signals, parameters};
use crate::none::Silent;
use crate::parts::flow_table::{FlowTable, FlowTableParameters, Share};
use crate::parts::notification::Cnm;
use crate::parts::quantiser::{QntzFb, Quantise};
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::{Sample, SamplingCp};
use crate::qcn::{self, PAN_10G, TUNED};
use crate::units::{BitRate, Instant};
use crate::{Class, CongestionPoint, Draw, Fate, Frame, Label, Out, Place, Queue, Scheme, To, Var};

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
    six_bits: bool,
    /// Flows that the last congested sample found over-rated.
    over_rated: u32,
}

/// The part of an over-rated flow in the sum: its arrivals divided by its weight; `None` for a flow below its fair
/// share.
fn part(share: &Share) -> Option<u64> {
    (share.arrivals > 0 && share.arrivals >= share.fair).then_some(share.arrivals / share.weight)
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

    fn configure(&mut self, config: &Config, _: Place) {
        self.point.configure(&config.qcn.cp);
        self.flows.configure(&config.flows);
        self.six_bits = config.qcn.cp.quantise != Quantise::None;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::info::values::{choice, count, octets, real};
    use crate::testing::{Middle, Sent, config, frame_of};
    use crate::units::{CpId, Duration, FlowKey, Octets};
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn cp(changes: &[(&str, Value)]) -> Cp {
        let all = [changes, &[("flow_sample", octets(1400)), ("sampling", choice("every-frame")), ("w", real(0.0))]];
        let place =
            Place { cp: CpId(1), line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        <Cp as CongestionPoint<Fqcn>>::new(&config::<Fqcn>("", &all.concat()), place)
    }

    /// The flows signalled, and |Fb| for each, when a frame of `flow` meets a queue of `len` octets.
    fn arrive(cp: &mut Cp, now: Instant, (flow, weight): (u32, u16), len: u64) -> Vec<(u32, u8)> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let mut tag = ();
        let frame = Frame { weight, ..frame_of(FlowKey(flow), now, &mut tag) };
        cp.on_arrival(now, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        let signalled = |&(to, cnm): &(To, Cnm)| {
            let To::Source(flow) = to else { panic!("notifications go to sources") };
            (flow.0, cnm.fb.steps())
        };
        sent.0.iter().map(signalled).collect()
    }

    /// One interval and its end. `frames` has each flow, its weight and the number of frames that it sends.
    fn after(changes: &[(&str, Value)], frames: &[(u32, u16, u32)]) -> (Cp, Instant) {
        let mut cp = cp(changes);
        for &(flow, weight, n) in frames {
            for _ in 0..n {
                arrive(&mut cp, Instant(1), (flow, weight), 0);
            }
        }
        let now = Instant(1) + Duration::from_us(1000);
        arrive(&mut cp, now, (frames[0].0, frames[0].1), 0);
        (cp, now)
    }

    /// Qeq = 26 000, w = 0: a queue of 39 000 has |Fb| = 31. Of 30, 20, 5 and 5 frames the fair share is 15: flows 1 and 2
    /// are over-rated and get 30/50 and 20/50 of 31, that is 18.6 and 12.4.
    #[test]
    fn every_over_rated_flow_gets_its_part() {
        let (mut cp, now) = after(&[], &[(1, 1, 30), (2, 1, 20), (3, 1, 5), (4, 1, 5)]);
        assert_eq!(arrive(&mut cp, now, (3, 1), 39_000), [(1, 19), (2, 12)], "whichever flow was sampled");
        assert_eq!(cp.over_rated, 2);
        assert_eq!(arrive(&mut cp, now, (3, 1), 13_000), [], "no congestion");
    }

    /// Weights 4 and 1: of 32 and 16 frames flow 1's share is 38.4 and flow 2's 9.6.
    #[test]
    fn weights_count() {
        let (mut cp, now) = after(&[], &[(1, 4, 32), (2, 1, 16)]);
        assert_eq!(arrive(&mut cp, now, (1, 4), 39_000), [(2, 31)]);
        // 24 and 6 frames are their shares; for their weights they send the same.
        let (mut cp, now) = after(&[], &[(1, 4, 24), (2, 1, 6)]);
        assert_eq!(arrive(&mut cp, now, (1, 4), 39_000), [(1, 16), (2, 16)], "31/2, rounded to 16");
    }

    #[test]
    fn without_estimates_it_is_qcn() {
        assert_eq!(arrive(&mut cp(&[]), Instant(1), (9, 1), 39_000), [(9, 31)]);
        let (mut alone, now) = after(&[], &[(1, 1, 10)]);
        assert_eq!(arrive(&mut alone, now, (1, 1), 39_000), [(1, 31)], "at its share, for it is alone");
    }

    #[test]
    fn parts_that_round_to_nothing_are_not_sent() {
        // |Fb| = 2 in five equal parts is 0.4 each; in four it is 0.5, rounded to 1.
        let flows = |n: u32| (1..=n).map(|flow| (flow, 1, 10)).collect::<Vec<_>>();
        let len = 26_000 + (2 * 26_000u64).div_ceil(63);
        let (mut cp, now) = after(&[], &flows(5));
        assert_eq!(arrive(&mut cp, now, (1, 1), len), []);
        let (mut cp, now) = after(&[], &flows(4));
        assert_eq!(arrive(&mut cp, now, (1, 1), len), [(1, 1), (2, 1), (3, 1), (4, 1)]);
    }

    proptest! {
        /// The parts add up to Fb but for their rounding. A flow that sends more gets at least as large a part. The
        /// table bounds the number of flows signalled.
        #[test]
        fn parts_add_up(frames in proptest::collection::vec(1u32..60, 1..12), len in 0u64..150_000) {
            let flows: Vec<_> = frames.iter().enumerate().map(|(i, &n)| (i as u32, 1, n)).collect();
            let (mut cp, now) = after(&[("flow_table_size", count(8))], &flows);
            let signalled = arrive(&mut cp, now, (0, 1), len);
            let fb = cp.point.values()[0];
            let sum: i64 = signalled.iter().map(|&(_, part)| i64::from(part)).sum();
            prop_assert!(signalled.len() <= 8);
            prop_assert!((sum - fb).abs() <= 8, "{} of {}", sum, fb);
            prop_assert!(signalled.iter().all(|&(_, part)| i64::from(part) <= fb.max(1)));
            for &(a, more) in &signalled {
                for &(b, less) in &signalled {
                    prop_assert!(frames[a as usize] < frames[b as usize] || more >= less);
                }
            }
        }
    }

    #[test]
    fn no_flow_is_signalled_twice() {
        let (mut cp, now) = after(&[], &[(1, 1, 10), (2, 1, 10), (1, 1, 10)]);
        assert_eq!(arrive(&mut cp, now, (1, 1), 39_000), vec![(1, 31)]);
    }
}
