//! The registry of metrics: every number by which a run is judged, declared once.
//!
//! Comparisons, sweeps, the arena, tuning, claims of papers and the reference page read it. Numbers of the summary that no entry names
//! are metrics too: their declaration in `penstock_sim::metrics` has all that an entry needs.

use std::borrow::Cow;

use serde::Serialize;

use crate::completions::CompletionSummary;
use crate::jobs::JobSummary;
use crate::queues::PERCENTILES;
use crate::schema::{Key, Object, Shape};
use crate::summary::{FlowSummary, HostSummary, QueueSummary, Totals};
use crate::switches::PoolSummary;

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Its name, which ends in the unit. Metrics of different levels may share one: the number of a flow, and that of the run.
    pub name: &'static str,
    /// What it is of.
    pub level: Level,
    /// How it is written.
    pub kind: Kind,
    /// Which of two values is the better one, all else being equal; `None` where neither is.
    pub better: Option<Better>,
    /// Its title, clear by itself.
    pub title: Cow<'static, str>,
    /// Its title as a column of a comparison's table, where it has one.
    pub column: Option<&'static str>,
    /// How it is computed.
    pub source: Source,
    /// A sentence on it.
    pub description: &'static str,
    /// Whether comparisons have it.
    pub compared: bool,
    /// Whether a run has it by its histograms alone (`record.percentiles`), or has a better value by them.
    pub needs_histograms: bool,
}

/// What a metric is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The run.
    Run,
    /// A queue: that by which runs are judged, or one that is named.
    Queue,
    /// A flow.
    Flow,
    /// A class of finite flows, by group and size.
    Class,
    /// A host.
    Host,
    /// A pool of memory.
    Pool,
    /// A job.
    Job,
}

/// How a metric is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Frames, or other things that are counted.
    Count,
    /// Octets.
    Octets,
    /// A part of a whole.
    Share,
    /// A rate, bit/s.
    Rate,
    /// An index between 0 and 1.
    Index,
    /// A time, s.
    Time,
    /// One number over another.
    Ratio,
}

/// Which of two values is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The smaller one.
    Less,
    /// The larger one.
    More,
}

/// How a metric is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The sum of these keys of the object that it is of. Of a run they are keys of the summary, its totals, its first completions,
    /// those of all flows, or its first job.
    Keys(&'static [&'static str]),
    /// Of a key of the flows of `[[flow]]` tables that have it: the median, the mean or the sum.
    Flows(Over, &'static str),
    /// By a function of its name, from the summary or the recorded samples: of `penstock_runner::Judged`, or of `penstock.metrics` where it
    /// has more arguments.
    Function,
}

/// How values of flows come to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// The median.
    Median,
    /// The mean.
    Mean,
    /// The sum.
    Sum,
}

use Better::{Less, More};
use Kind::{Count, Index, Octets, Rate, Ratio, Share, Time};
use Level::{Flow, Queue, Run};
use Over::{Mean, Median, Sum};
use Source::{Flows, Function, Keys};

/// Declares metrics, all compared or none: `name of level: kind, better, title (column), source, description`.
macro_rules! metrics {
    (
        $compared:literal:
        $($name:ident of $level:ident: $kind:ident, $better:ident, $title:literal $(($column:literal))?, $source:expr,
            $text:literal;)+
    ) => {
        &[$(Metric {
            name: stringify!($name),
            level: $level,
            kind: $kind,
            better: Some($better),
            title: Cow::Borrowed($title),
            column: first(&[$($column)?]),
            source: $source,
            description: $text,
            compared: $compared,
            needs_histograms: false,
        }),+]
    };
}

const fn first(list: &[&'static str]) -> Option<&'static str> {
    if list.is_empty() { None } else { Some(list[0]) }
}

/// The metrics of comparisons, in the order of the table's columns.
const COMPARED: &[Metric] = metrics! { true:
    frames_lost of Run: Count, Less, "frames lost" ("lost"), Keys(&["frames_dropped", "frames_lost_on_link"]),
        "Data frames and copies lost over the whole run: dropped at full queues, or lost on broken links.";
    loss_rate of Run: Share, Less, "loss" ("loss"), Keys(&["loss_rate"]), "Frames dropped at full queues over frames sent.";
    queue_mean_octets of Queue: Octets, Less, "queue mean" ("queue mean"), Keys(&["mean_octets"]),
        "Mean length of the queue, weighted with time.";
    queue_std_octets of Queue: Octets, Less, "queue standard deviation" ("σ"), Keys(&["std_octets"]),
        "Standard deviation of its length, weighted with time.";
    queue_p50_octets of Queue: Octets, Less, "queue p50" ("p50"), Keys(&["p50_octets"]),
        "Median of its length, weighted with time; without `record.percentiles`, of its samples.";
    queue_p90_octets of Queue: Octets, Less, "queue p90", Keys(&["p90_octets"]),
        "90th percentile of its length, weighted with time; without `record.percentiles`, of its samples.";
    queue_p95_octets of Queue: Octets, Less, "queue p95", Keys(&["p95_octets"]),
        "95th percentile of its length, weighted with time; without `record.percentiles`, of its samples.";
    queue_p99_octets of Queue: Octets, Less, "queue p99" ("p99"), Keys(&["p99_octets"]),
        "99th percentile of its length, weighted with time; without `record.percentiles`, of its samples.";
    queue_p999_octets of Queue: Octets, Less, "queue p99.9", Keys(&["p999_octets"]),
        "99.9th percentile of its length, weighted with time; without `record.percentiles`, of its samples.";
    queue_max_octets of Queue: Octets, Less, "queue max", Keys(&["max_octets"]), "Its greatest length, between samples too.";
    queue_delay_p50_s of Queue: Time, Less, "delay p50", Keys(&["delay_p50_s"]),
        "Median of the time that a frame stays in the queue; with `record.percentiles`.";
    queue_delay_p90_s of Queue: Time, Less, "delay p90", Keys(&["delay_p90_s"]),
        "90th percentile of the time that a frame stays in the queue; with `record.percentiles`.";
    queue_delay_p95_s of Queue: Time, Less, "delay p95", Keys(&["delay_p95_s"]),
        "95th percentile of the time that a frame stays in the queue; with `record.percentiles`.";
    queue_delay_p99_s of Queue: Time, Less, "delay p99", Keys(&["delay_p99_s"]),
        "99th percentile of the time that a frame stays in the queue; with `record.percentiles`.";
    queue_delay_p999_s of Queue: Time, Less, "delay p99.9", Keys(&["delay_p999_s"]),
        "99.9th percentile of the time that a frame stays in the queue; with `record.percentiles`.";
    queue_pause_p50_s of Queue: Time, Less, "pause p50", Keys(&["pause_p50_s"]),
        "Median of the stops of the queue by flow control; with `record.percentiles`.";
    queue_pause_p90_s of Queue: Time, Less, "pause p90", Keys(&["pause_p90_s"]),
        "90th percentile of the stops of the queue by flow control; with `record.percentiles`.";
    queue_pause_p95_s of Queue: Time, Less, "pause p95", Keys(&["pause_p95_s"]),
        "95th percentile of the stops of the queue by flow control; with `record.percentiles`.";
    queue_pause_p99_s of Queue: Time, Less, "pause p99", Keys(&["pause_p99_s"]),
        "99th percentile of the stops of the queue by flow control; with `record.percentiles`.";
    queue_pause_p999_s of Queue: Time, Less, "pause p99.9", Keys(&["pause_p999_s"]),
        "99.9th percentile of the stops of the queue by flow control; with `record.percentiles`.";
    queue_amplitude_octets of Queue: Octets, Less, "queue amplitude" ("amplitude"), Function,
        "Oscillation amplitude of the queue: half the distance between the 5th and the 95th percentile of its sampled length. A sine of \
         amplitude A gives 0.99 A.";
    empty_fraction of Queue: Share, Less, "empty" ("empty"), Keys(&["empty_fraction"]),
        "Share of the time without an octet in the queue.";
    utilization of Queue: Share, More, "utilisation" ("utilisation"), Keys(&["utilization"]),
        "Share of the scheduled rate of the queue's port that was used.";
    throughput_bps of Run: Rate, More, "throughput" ("throughput"), Function,
        "The rate that all flows of [[flow]] tables together deliver, wire overhead included.";
    jain_index of Run: Index, More, "Jain's index" ("Jain"), Function,
        "Jain's index of the controlled flows' throughputs over their fair shares.";
    rate_amplitude_bps of Run: Rate, Less, "rate amplitude" ("rate amplitude"), Function,
        "Oscillation amplitude of the rates: half the distance between the 5th and the 95th percentile of a flow's sampled allowed rate \
         while the flow lasts; the mean over the controlled flows.";
    feedback_frames of Run: Count, Less, "feedback" ("feedback"), Keys(&["feedback_frames"]),
        "Signals that reached the sources of controlled flows.";
    feedback_rate of Run: Share, Less, "signals per frame", Keys(&["feedback_rate"]),
        "Signals that reached sources over data frames sent.";
    settling_time_s of Run: Time, Less, "settled" ("settled"), Flows(Median, "settling_time_s"),
        "Median of the flows' settling times, of the flows that have settled. `flows` of `of_flows` have, all runs together.";
    completion_time_s of Run: Time, Less, "completed" ("completed"), Flows(Mean, "completion_time_s"),
        "Mean of the flows' completion times, of the flows that have completed. `flows` of `of_flows` have, all runs together.";
    slowdown_mean of Run: Ratio, Less, "slowdown mean" ("slowdown mean"), Keys(&["slowdown_mean"]),
        "Mean slowdown of finite flows that started after the warm-up: flow completion time over that on an empty network, of the flows \
         that completed.";
    slowdown_p50 of Run: Ratio, Less, "slowdown p50", Keys(&["slowdown_p50"]), "Median slowdown of these flows.";
    slowdown_p95 of Run: Ratio, Less, "slowdown p95", Keys(&["slowdown_p95"]), "95th percentile of their slowdown.";
    slowdown_p99 of Run: Ratio, Less, "slowdown p99" ("slowdown p99"), Keys(&["slowdown_p99"]),
        "99th percentile of their slowdown.";
    slowdown_p999 of Run: Ratio, Less, "slowdown p99.9", Keys(&["slowdown_p999"]),
        "99.9th percentile of their slowdown.";
    flows_left of Run: Count, Less, "flows left" ("not completed"), Function,
        "Finite flows that started after the warm-up and had not completed at the end: no percentile has them.";
    retransmissions of Run: Count, Less, "sent again" ("sent again"), Keys(&["retransmissions"]),
        "Segments that transports sent again, over the whole run.";
    timeouts of Run: Count, Less, "timeouts" ("timeouts"), Keys(&["timeouts"]),
        "Retransmission timeouts of transports, over the whole run.";
    job_time_s of Run: Time, Less, "job" ("job"), Keys(&["job_time_s"]),
        "Time of the first job, from its start to the end of its last rank.";
    iteration_mean_s of Run: Time, Less, "iteration" ("iteration"), Keys(&["iteration_mean_s"]),
        "Mean time of an iteration of the first job, over all ranks.";
    collective_mean_s of Run: Time, Less, "collective", Keys(&["collective_mean_s"]),
        "Mean time of the collective of the first job: t of NCCL's tests.";
    bus_bandwidth_bps of Run: Rate, More, "bus bandwidth" ("bus bandwidth"), Keys(&["bus_bandwidth_bps"]),
        "Bus bandwidth of the first job, as NCCL's tests define it.";
    efficiency of Run: Ratio, More, "efficiency of the collective", Keys(&["efficiency"]),
        "The ideal time of the first job's collective over its time: 1 where nothing but the lines of the hosts takes time.";
    exposed_communication_s of Run: Time, Less, "exposed communication" ("exposed"), Keys(&["exposed_communication_s"]),
        "Mean time of an iteration of a rank of the first job in which it does not compute.";
    straggling_s of Run: Time, Less, "stragglers", Keys(&["straggling_s"]),
        "Mean time from the end of the first rank in an iteration of the first job to that of the last.";
    path_queue_s of Run: Time, Less, "slowest path, in queues", Keys(&["path_queue_s"]),
        "Waits of messages in queues on the slowest path of the first job.";
    path_pause_s of Run: Time, Less, "slowest path, in pauses", Keys(&["path_pause_s"]),
        "Waits of messages in pauses of priority flow control on the slowest path of the first job.";
    path_limited_s of Run: Time, Less, "slowest path, by rate limits", Keys(&["path_limited_s"]),
        "Time that rate limiters added on the slowest path of the first job.";
    paused_s of Run: Time, Less, "paused, all queues" ("paused, all queues"), Keys(&["paused_s"]),
        "Time that priority flow control stopped queues, the sum over all of the network, recorded or not, over the whole run.";
    pause_frames of Run: Count, Less, "pause frames" ("pauses"), Keys(&["pause_frames"]),
        "Frames of priority flow control, pause and resume, over the whole run.";
};

/// Metrics that tuning and claims of papers read.
const OTHERS: &[Metric] = metrics! { false:
    frames_dropped of Run: Count, Less, "frames dropped, whole run", Keys(&["frames_dropped"]),
        "Data frames and copies dropped at full queues, over the whole run.";
    frames_dropped_measured of Queue: Count, Less, "frames dropped, after the warm-up", Function,
        "Data frames and copies dropped at the queue after the warm-up.";
    goodput_bps of Run: Rate, More, "goodput", Flows(Sum, "goodput_bps"),
        "The rate of data that the transports of all flows of [[flow]] tables deliver in order, together.";
    throughput_jain_index of Run: Index, More, "Jain's index of throughputs", Function,
        "Jain's index of the throughputs of flows, whatever their fair shares: (Σx)² / (n Σx²).";
    share_ratio of Flow: Ratio, More, "throughput over that of others", Function,
        "The rate that a flow delivers, over the mean of the others, or of all others.";
    settling_s of Flow: Time, Less, "settled, by throughput", Function,
        "Time until a flow's throughput, averaged or sample by sample, stays within a band around its fair share.";
};

/// The objects whose numbers are metrics, each with what it is of.
const OBJECTS: [(Level, &Object); 7] = [
    (Run, &Totals::OBJECT),
    (Queue, &QueueSummary::OBJECT),
    (Flow, &FlowSummary::OBJECT),
    (Level::Class, &CompletionSummary::OBJECT),
    (Level::Host, &HostSummary::OBJECT),
    (Level::Pool, &PoolSummary::OBJECT),
    (Level::Job, &JobSummary::OBJECT),
];

/// Every metric: those of comparisons, those of tuning and claims, then the other numbers of the summary.
#[must_use]
pub fn metrics() -> Vec<Metric> {
    let mut found = [COMPARED, OTHERS].concat();
    for (level, object) in OBJECTS {
        let is_new =
            |key: &&Key| !found.iter().any(|m| m.level == level && matches!(m.source, Keys([own]) if *own == key.name));
        let new: Vec<Metric> = object.keys.iter().filter(is_new).filter_map(|key| of_summary(level, key)).collect();
        found.extend(new);
    }
    for metric in found.iter_mut().filter(|metric| metric.level == Queue) {
        metric.needs_histograms = matches!(metric.source, Keys([key]) if PERCENTILES.contains(key));
    }
    found
}

/// A number of the summary as a metric.
fn of_summary(level: Level, key: &'static Key) -> Option<Metric> {
    let shape = if let Shape::Maybe(inner) = key.shape { *inner } else { key.shape };
    if key.name == "priority" || !matches!(shape, Shape::Whole | Shape::Real) {
        return None;
    }
    let kind = match (key.unit, shape) {
        ("octets", _) => Octets,
        ("s", _) => Time,
        ("bit/s", _) => Rate,
        (_, Shape::Whole) => Count,
        _ if key.name.ends_with("_rate") => Share,
        _ => Ratio,
    };
    let bare = ["_octets", "_bps", "_s"].iter().find_map(|unit| key.name.strip_suffix(unit)).unwrap_or(key.name);
    Some(Metric {
        name: key.name,
        level,
        kind,
        better: None,
        title: Cow::Owned(bare.replace('_', " ")),
        column: None,
        source: Keys(std::slice::from_ref(&key.name)),
        description: key.description.trim(),
        compared: false,
        needs_histograms: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    #[test]
    fn a_name_means_one_thing_at_a_level() {
        let all = metrics();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].iter().any(|other| (other.name, other.level) == (one.name, one.level)), "{}", one.name);
        }
    }

    #[test]
    fn percentiles_of_queues_alone_need_histograms() {
        let all = metrics();
        let needs: Vec<_> = all.iter().filter(|metric| metric.needs_histograms).collect();
        assert_eq!(needs.len(), PERCENTILES.len());
        assert!(needs.iter().all(|metric| metric.level == Queue && metric.name.contains("_p")));
    }

    #[test]
    fn every_source_is_a_number_of_the_summary() {
        let object = |level: Level| OBJECTS.iter().filter(move |(of, _)| *of == level).map(|(_, object)| *object);
        for metric in metrics() {
            let (level, keys) = match metric.source {
                Keys(keys) => (metric.level, keys),
                Flows(_, ref key) => (Flow, std::slice::from_ref(key)),
                Function => continue,
            };
            let mut places: Vec<&Object> = object(level).collect();
            if level == Run {
                places.extend([&Summary::OBJECT, &CompletionSummary::OBJECT, &JobSummary::OBJECT]);
            }
            for key in keys {
                let known = places.iter().filter(|object| object.keys.iter().any(|own| own.name == *key)).count();
                assert_eq!(known, 1, "{}: {key}", metric.name);
            }
        }
    }
}
