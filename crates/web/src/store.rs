//! The rows of a run, in memory: numbers alone, so that they cross to JavaScript as one array.

use std::rc::Rc;

use penstock_results::Sampler;
use penstock_scenario::Plan;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::FlowId;
use penstock_sim::probe::{Probe, SignalSeen, View};

/// The columns of each recorded queue, as the table `queues` has them.
pub const QUEUE_COLUMNS: &[&str] = &["queue_octets", "queue_frames", "utilization", "frames_dropped", "paused_s"];
/// The columns of each flow, as the table `rates` has them.
pub const FLOW_COLUMNS: &[&str] = &["rate_bps", "throughput_bps", "fair_rate_bps"];
/// The columns of a signal: the flow by its index, the port that it comes from by its index, or -1 for a destination.
pub const SIGNAL_COLUMNS: &[&str] = &["time_s", "flow", "port", "rate_bps"];

/// The probe that keeps a run's rows.
#[derive(Debug)]
pub(crate) struct Store {
    plan: Rc<Plan>,
    pub(crate) sampler: Sampler<Rc<Plan>>,
    /// Row after row: the time, the columns of each queue, the columns of each flow.
    pub(crate) samples: Vec<f64>,
    /// Row after row.
    pub(crate) signals: Vec<f64>,
}

impl Store {
    pub(crate) fn new(plan: &Rc<Plan>) -> Self {
        let sampler = Sampler::new(Rc::clone(plan));
        Self { plan: Rc::clone(plan), sampler, samples: Vec::new(), signals: Vec::new() }
    }
}

/// Numbers in a row of samples.
pub(crate) fn width(plan: &Plan) -> usize {
    1 + plan.record.queues.len() * QUEUE_COLUMNS.len() + plan.single * FLOW_COLUMNS.len()
}

impl Probe<Mixed> for Store {
    fn interval(&self) -> Option<Duration> {
        Some(self.plan.record.interval)
    }

    fn sample(&mut self, now: Instant, view: &impl View<Mixed>) {
        self.samples.push(now.as_seconds());
        for (i, &queue) in self.plan.record.queues.iter().enumerate() {
            let sample = self.sampler.queue(i, view.queue(queue));
            self.samples.extend([
                sample.len.0 as f64,
                f64::from(sample.frames),
                sample.utilization,
                sample.dropped as f64,
                sample.paused.as_seconds(),
            ]);
        }
        for i in 0..self.sampler.flows() {
            let sample = self.sampler.flow(now, i, view.flow(FlowId(i as u32)));
            self.samples.extend([sample.rate.0 as f64, sample.throughput_bps, sample.fair_rate_bps]);
        }
        self.sampler.end_sample(now);
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, Mixed>) {
        if !self.plan.record.signals {
            return;
        }
        let port = seen.origin.and_then(|queue| self.plan.network.place(queue)).map(|(port, _)| port.index());
        self.signals.extend([
            now.as_seconds(),
            f64::from(seen.flow.0),
            port.map_or(-1.0, |port| port as f64),
            seen.rate.0 as f64,
        ]);
    }
}
