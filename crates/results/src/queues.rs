//! The summaries of the recorded queues.

use penstock_scenario::Plan;
use penstock_sim::histogram::{Histogram, QueueHistograms};
use penstock_sim::metrics_of;
use penstock_sim::network::QueueId;
use penstock_sim::outcome::{Outcome, QueueOutcome};
use serde::{Deserialize, Serialize};

use crate::schema::{Key, Object, Shape, Shaped, condition, object, value, value_type};

metrics_of!(queue, run => object!(QueueSummary of QueueSource,
    "A queue: a port and a priority. Lengths and utilisation cover the time after the warm-up and are weighted by time, counts \
     the whole run; in a window, everything covers the window."));

/// Source of the summary of a queue.
struct QueueSource<'a> {
    plan: &'a Plan,
    id: QueueId,
    outcome: &'a QueueOutcome,
    histograms: Option<&'a QueueHistograms>,
}

/// Percentiles of a queue: the name of each, the histogram that it is of, and its rank in thousandths.
macro_rules! percentiles {
    ($($name:ident: $of:ident $permille:literal;)*) => {
        /// The keys that only runs with histograms have.
        pub(crate) const PERCENTILES: &[&str] = &[$(stringify!($name)),*];

        impl QueueSource<'_> { $(fn $name(&self) -> f64 { self.$of($permille) })* }
    };
}

percentiles! {
    p50_octets: lengths 500;
    p90_octets: lengths 900;
    p95_octets: lengths 950;
    p99_octets: lengths 990;
    p999_octets: lengths 999;
    delay_p50_s: delays 500;
    delay_p90_s: delays 900;
    delay_p95_s: delays 950;
    delay_p99_s: delays 990;
    delay_p999_s: delays 999;
    pause_p50_s: stops 500;
    pause_p90_s: stops 900;
    pause_p95_s: stops 950;
    pause_p99_s: stops 990;
    pause_p999_s: stops 999;
}

impl QueueSource<'_> {
    fn of_histogram(&self, of: impl Fn(&QueueHistograms) -> &Histogram, permille: u64) -> f64 {
        self.histograms.and_then(|all| of(all).permille(permille)).unwrap_or_default()
    }

    /// The middle of a bucket may lie beyond the longest queue.
    fn lengths(&self, permille: u64) -> f64 {
        self.of_histogram(|all| &all.lengths, permille).min(self.outcome.max_octets as f64)
    }

    fn delays(&self, permille: u64) -> f64 {
        self.of_histogram(|all| &all.delays, permille) * 1e-12
    }

    fn stops(&self, permille: u64) -> f64 {
        self.of_histogram(|all| &all.stops, permille) * 1e-12
    }

    fn percentiles(&self) -> bool {
        self.histograms.is_some()
    }

    fn pause_percentiles(&self) -> bool {
        self.percentiles() && self.plan.network.pfc.is_some()
    }

    fn flow_control(&self) -> bool {
        self.plan.network.pfc.is_some()
    }

    fn ingress_pools(&self) -> bool {
        self.flow_control() && !self.plan.network.pools.is_empty()
    }

    fn classes(&self) -> bool {
        !self.plan.network.service.is_empty()
    }

    fn impaired(&self) -> bool {
        self.plan.is_impaired()
    }

    fn name(&self) -> String {
        let (port, _) = self.plan.network.port_and_priority(self.id).expect("only data queues are recorded");
        self.plan.port_name(port).to_owned()
    }

    fn priority(&self) -> u8 {
        self.plan.network.port_and_priority(self.id).expect("only data queues are recorded").1
    }

    fn paused_s(&self) -> f64 {
        self.outcome.paused.as_seconds()
    }

    fn drop_rate(&self) -> f64 {
        ratio(self.outcome.frames_dropped + self.outcome.control_frames_dropped, self.outcome.frames_arrived)
    }

    fn set_point_octets(&self) -> Option<u64> {
        let (port, priority) = self.plan.network.port_and_priority(self.id).expect("only data queues are recorded");
        let port = &self.plan.network.ports[port.index()];
        if !port.congestion_points {
            return None;
        }
        let assigned = self.plan.schemes.iter().find(|assigned| assigned.priority == priority)?;
        let last = self.plan.parameter_changes.iter().rfind(|change| change.priority == priority);
        let values = last.map_or_else(|| assigned.values_at(port.rate), |change| change.values_at(port.rate));
        assigned.config.info().set_point(values).map(|length| length.0)
    }
}

/// Of the run, or of a window.
pub(crate) fn queues(plan: &Plan, outcome: &Outcome) -> Vec<QueueSummary> {
    // They are kept of the recorded queues, in the same order.
    let histograms = |i: usize| outcome.histograms.get(i).map(|(_, own)| own);
    let source = |(i, &id): (usize, &QueueId)| QueueSource {
        plan,
        id,
        outcome: &outcome.queues[id.index()],
        histograms: histograms(i),
    };
    plan.record.queues.iter().enumerate().map(source).map(|source| QueueSummary::new(&source)).collect()
}

pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_sent_is_nothing_lost() {
        assert_eq!(ratio(0, 0), 0.0);
        assert_eq!(ratio(1, 4), 0.25);
    }
}
