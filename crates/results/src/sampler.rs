//! The numbers of a sample: differences from the sample before, the fair share, and the settling times that follow.

use std::ops::Deref;

use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::FlowId;
use penstock_sim::probe::{FlowNow, QueueNow};

use crate::fair::FairNow;
use crate::settling::Settling;

/// Turns the states of queues and flows at the instants of the record into the numbers that a result has. It borrows its plan, or
/// shares it.
#[derive(Debug)]
pub struct Sampler<P> {
    plan: P,
    fair: FairNow,
    /// The flows with a size.
    finite: Vec<FlowId>,
    settling: Vec<Settling>,
    /// The last sample: numbers about the time since then are differences from it.
    at: Instant,
    /// The state of each recorded queue.
    queues: Vec<QueueNow>,
    /// Octets that each flow had delivered.
    delivered: Vec<Octets>,
}

/// A sample of a queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueSample {
    /// Octets in the queue.
    pub len: Octets,
    /// Frames in the queue.
    pub frames: u32,
    /// Share of the port's scheduled rate that was used since the last sample; 0 where the line could carry nothing.
    pub utilization: f64,
    /// Data frames dropped since the last sample.
    pub dropped: u64,
    /// How long priority flow control stopped the queue since the last sample.
    pub paused: Duration,
    /// Frames that left the queue for the link since the last sample.
    pub frames_sent: u64,
    /// Their octets, without wire overhead.
    pub octets_sent: Octets,
    /// Frames that the queue marked since the last sample.
    pub frames_marked: u64,
    /// Their octets.
    pub octets_marked: Octets,
}

/// A sample of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowSample {
    /// The rate that it may send at.
    pub rate: BitRate,
    /// Delivered since the last sample, bit/s, wire overhead included; the mean over the destinations.
    pub throughput_bps: f64,
    /// Its max-min fair share now, bit/s.
    pub fair_rate_bps: f64,
}

impl<P: Deref<Target = Plan>> Sampler<P> {
    /// For the samples of a run of `plan`.
    #[must_use]
    pub fn new(plan: P) -> Self {
        Self {
            fair: FairNow::new(&plan),
            finite: (0..plan.single as u32)
                .map(FlowId)
                .filter(|flow| plan.network.flows[flow.index()].size.is_some())
                .collect(),
            settling: (0..plan.single).map(|flow| Settling::new(&plan, FlowId(flow as u32))).collect(),
            at: Instant::ZERO,
            queues: vec![QueueNow::default(); plan.record.queues.len()],
            delivered: vec![Octets(0); plan.single],
            plan,
        }
    }

    /// How many flows are sampled.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.settling.len()
    }

    /// The sample of the `i`-th recorded queue.
    pub fn queue(&mut self, i: usize, state: QueueNow) -> QueueSample {
        let before = std::mem::replace(&mut self.queues[i], state);
        let could = state.scheduled_bits - before.scheduled_bits;
        let did = state.line_bits - before.line_bits;
        QueueSample {
            len: state.len,
            frames: state.frames,
            utilization: ratio(did, could),
            dropped: state.dropped - before.dropped,
            paused: Duration(state.paused.0 - before.paused.0),
            frames_sent: state.frames_sent - before.frames_sent,
            octets_sent: Octets(state.octets_sent.0 - before.octets_sent.0),
            frames_marked: state.frames_marked - before.frames_marked,
            octets_marked: Octets(state.octets_marked.0 - before.octets_marked.0),
        }
    }

    /// Asks of each flow with a size when it ended, if it has: before the flows' samples of an instant, since the shares of the others
    /// grow then.
    pub fn look_for_ends(&mut self, ended: impl Fn(FlowId) -> Option<Instant>) {
        for &flow in &self.finite {
            self.fair.end(flow.index(), ended(flow));
        }
    }

    /// The sample of the `i`-th flow at `now`.
    pub fn flow(&mut self, now: Instant, i: usize, state: FlowNow) -> FlowSample {
        let interval = now.since(self.at);
        let (since, shares_bps) = self.fair.at(&self.plan, now);
        let share_bps = shares_bps[i];
        let before = std::mem::replace(&mut self.delivered[i], state.delivered);
        let bits = (state.delivered.0 - before.0) * 8;
        self.settling[i].sample(now, &state, since, share_bps);
        FlowSample {
            rate: state.allowed,
            throughput_bps: if interval == Duration::ZERO { 0.0 } else { bits as f64 / interval.as_seconds() },
            fair_rate_bps: share_bps,
        }
    }

    /// All samples of `now` have been taken.
    pub fn end_sample(&mut self, now: Instant) {
        self.at = now;
    }

    /// The settling time of each flow, as far as the samples have come.
    #[must_use]
    pub fn settling(&self) -> Vec<Option<Duration>> {
        self.settling.iter().map(Settling::time).collect()
    }
}

/// A share of 128 bits; most fit into 64, which a processor converts by itself, to the same number.
fn ratio(part: u64, whole: u128) -> f64 {
    match u64::try_from(whole) {
        Ok(0) => 0.0,
        Ok(whole) => part as f64 / whole as f64,
        Err(_) => part as f64 / whole as f64,
    }
}
