//! The summary of a run: the object that `summary.json` holds and `penstock run --json` prints. Other tools build on its
//! names, so they are part of the interface.

use penstock_scenario::Plan;
use penstock_scenario::plan::Assigned;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::NodeKind;
use penstock_sim::outcome::{FlowOutcome, Outcome};
use serde::{Deserialize, Serialize};

use crate::fair;

/// A run in numbers. All but [`run`](Self::run) follows from scenario and seed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the scheme; `mixed` where priorities have different ones.
    pub scheme: String,
    /// The profile that the scheme's parameters started from, the same for all priorities.
    pub profile: Option<String>,
    /// The scheme of each priority, where they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<AssignedSummary>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time that was asked for, s.
    pub duration_s: f64,
    /// Time before statistics begin, s.
    pub warmup_s: f64,
    /// Where the run was stopped, s, if it was stopped before its end. Everything below covers the time until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_at_s: Option<f64>,
    /// For a scenario that claims to lose no data frame, whether that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossless: Option<bool>,
    /// Counts over the network and the whole run.
    pub totals: TotalsSummary,
    /// Frames dropped in the network over frames sent; drops of multicast copies count each.
    pub loss_rate: f64,
    /// Feedback frames that reached sources over data frames sent.
    pub feedback_rate: f64,
    /// Jain's index of the controlled flows' throughputs: 1 if they are equal, 1/n if one of n has all. 1 if there is
    /// nothing to compare.
    pub jain_index: f64,
    /// The recorded queues.
    pub queues: Vec<QueueSummary>,
    /// Every flow.
    pub flows: Vec<FlowSummary>,
    /// Every host.
    pub hosts: Vec<HostSummary>,
    /// The windows of measurement that the scenario has, if it has any; of a run that was stopped, those that it opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowSummary>,
    /// The machine's share: differs from run to run.
    pub run: RunSummary,
}

/// The scheme of a priority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedSummary {
    /// The priority, 0 to 7.
    pub priority: u8,
    /// Name of its scheme.
    pub scheme: String,
    /// The profile that the scheme's parameters started from.
    pub profile: Option<String>,
}

/// Counts over the network and the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalsSummary {
    /// Data frames that generators made.
    pub frames_offered: u64,
    /// Of them, discarded at their source, or still waiting there at the end.
    pub frames_discarded_at_source: u64,
    /// Data frames released into the network.
    pub frames_sent: u64,
    /// Copies made at the branches of multicast trees, beyond the first of each frame.
    pub copies_made: u64,
    /// Data frames and copies that reached a destination.
    pub frames_delivered: u64,
    /// Data frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Data frames and copies lost on broken links.
    pub frames_lost_on_link: u64,
    /// Data frames and copies in queues and on lines at the end.
    pub frames_in_flight: u64,
    /// Signals that reached the sources of controlled flows.
    pub feedback_frames: u64,
    /// Of them, notifications: a switch or a destination saw congestion. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<u64>,
    /// Of them, probes that came back. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_returned: Option<u64>,
    /// Signals that reached the sources of flows without congestion management and were discarded there; where there are
    /// such flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_discarded: Option<u64>,
    /// Frames of priority flow control, pause and resume; where the network has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_frames: Option<u64>,
    /// Frames, data or control, that crossed a link.
    pub packet_hops: u64,
    /// Events that the engine handled.
    pub events: u64,
}

/// A queue. Lengths and utilisation cover the time after the warm-up and are weighted by time, counts the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueSummary {
    /// Its port, `node->peer`.
    pub name: String,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Mean length, octets.
    pub mean_octets: f64,
    /// Standard deviation of the length, octets.
    pub std_octets: f64,
    /// Smallest length, octets.
    pub min_octets: u64,
    /// Largest length, octets.
    pub max_octets: u64,
    /// Share of the time without an octet in the queue.
    pub empty_fraction: f64,
    /// Share of the port's scheduled rate that was used, by all its queues, wire overhead included.
    pub utilization: f64,
    /// Data frames dropped.
    pub frames_dropped: u64,
    /// Signals that its congestion point sent.
    pub feedback_frames: u64,
    /// Time that priority flow control stopped the queue, over the whole run, s.
    pub paused_s: f64,
    /// Pause frames that stopped it, refreshes included.
    pub pause_frames: u64,
}

/// A flow. Rates cover the time after the warm-up and count wire overhead, counts cover the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// The host that sends.
    pub source: String,
    /// The hosts that receive.
    pub destinations: Vec<String>,
    /// Rate of delivery, bit/s; the mean over the destinations.
    pub throughput_bps: f64,
    /// Time-weighted max-min fair share over all the measured time, bit/s; it counts as zero while the flow is not active.
    pub fair_rate_bps: f64,
    /// Time-weighted mean of the allowed rate while the flow was active, bit/s.
    pub mean_rate_bps: f64,
    /// Its standard deviation, bit/s.
    pub std_rate_bps: f64,
    /// Frames released into the network.
    pub frames_sent: u64,
    /// Frames and copies that reached a destination.
    pub frames_delivered: u64,
    /// Frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Signals that the source received.
    pub feedback_received: u64,
    /// Of them, notifications: a switch or a destination saw congestion. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications_received: Option<u64>,
    /// Of them, probes that came back. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_returned: Option<u64>,
    /// Settling time, s: from the last change of the flow's max-min fair share (its start, or a later change of traffic or
    /// links that moves the share by more than 0.1 %) to the beginning of the first window from which on every window's
    /// mean of the sampled allowed rate lies within 5 % of the share, until the share ends. A window is 50 sample
    /// intervals. `None` if the flow has not settled.
    pub settling_time_s: Option<f64>,
    /// For a finite flow, the time from its start to the delivery of its last frame, s; `None` if frames are missing.
    pub completion_time_s: Option<f64>,
}

/// A host, over the time after the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostSummary {
    /// Its name.
    pub name: String,
    /// Time-weighted mean number of installed rate limiters.
    pub rate_limiters_mean: f64,
    /// Largest number of installed rate limiters.
    pub rate_limiters_max: u32,
}

/// A window of measurement: statistics and counts from its start to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowSummary {
    /// Its name.
    pub name: String,
    /// When it opened, s.
    pub start_s: f64,
    /// When it closed, s: where a run that was stopped ended, if that was earlier than planned.
    pub end_s: f64,
    /// Counts over the network.
    pub totals: WindowTotals,
    /// Frames dropped in the network over frames sent.
    pub loss_rate: f64,
    /// Feedback frames that reached sources over data frames sent.
    pub feedback_rate: f64,
    /// Jain's index of the controlled flows' throughputs.
    pub jain_index: f64,
    /// The recorded queues.
    pub queues: Vec<QueueSummary>,
    /// Every flow.
    pub flows: Vec<WindowFlow>,
    /// Every host.
    pub hosts: Vec<HostSummary>,
}

/// Counts over the network in a window. Those of windows that lie end to end add up to those of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowTotals {
    /// Data frames that generators made.
    pub frames_offered: u64,
    /// Data frames released into the network.
    pub frames_sent: u64,
    /// Copies made at the branches of multicast trees, beyond the first of each frame.
    pub copies_made: u64,
    /// Data frames and copies that reached a destination.
    pub frames_delivered: u64,
    /// Data frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Data frames and copies lost on broken links.
    pub frames_lost_on_link: u64,
    /// Signals that reached the sources of controlled flows.
    pub feedback_frames: u64,
    /// Of them, notifications. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<u64>,
    /// Of them, probes that came back. Where sources send probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_returned: Option<u64>,
    /// Frames of priority flow control, pause and resume; where the network has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_frames: Option<u64>,
    /// Frames, data or control, that crossed a link.
    pub packet_hops: u64,
}

/// A flow in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowFlow {
    /// Its name.
    pub name: String,
    /// Rate of delivery, bit/s; the mean over the destinations.
    pub throughput_bps: f64,
    /// Time-weighted max-min fair share, bit/s; it counts as zero while the flow is not active.
    pub fair_rate_bps: f64,
    /// Time-weighted mean of the allowed rate while the flow was active, bit/s.
    pub mean_rate_bps: f64,
    /// Its standard deviation, bit/s.
    pub std_rate_bps: f64,
    /// Frames released into the network.
    pub frames_sent: u64,
    /// Frames and copies that reached a destination.
    pub frames_delivered: u64,
    /// Frames and copies dropped at full queues.
    pub frames_dropped: u64,
    /// Signals that the source received.
    pub feedback_received: u64,
}

/// What the run cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Time on the wall clock, s.
    pub wall_s: f64,
    /// Events handled in a second of it.
    pub events_per_s: u64,
    /// Nanoseconds of it that a packet hop took.
    pub ns_per_packet_hop: f64,
    /// Version of Penstock.
    pub version: String,
}

/// What the run's driver knows beside the outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// The simulated time that was reached.
    pub(crate) end: Instant,
    /// Whether that is not the plan's end.
    pub(crate) interrupted: bool,
    /// Time on the wall clock, s.
    pub(crate) wall_s: f64,
}

/// A window that has closed.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Its index in the plan.
    pub(crate) window: usize,
    /// When it closed.
    pub(crate) until: Instant,
    pub(crate) outcome: Outcome,
}

impl Course {
    /// Where measuring began: a run that was stopped in its warm-up has measured nothing.
    fn measured_from(&self, plan: &Plan) -> Instant {
        (Instant::ZERO + plan.warmup).min(self.end)
    }
}

impl Summary {
    pub(crate) fn new(
        plan: &Plan,
        outcome: &Outcome,
        windows: &[Measured],
        settling: &[Option<Duration>],
        course: &Course,
    ) -> Self {
        let totals = &outcome.totals;
        let probing = totals.probes_sent > 0;
        let any_uncontrolled = plan.network.flows.iter().any(|flow| flow.reaction_point.is_none());
        Self {
            scenario: plan.name.clone(),
            scheme: plan.scheme().to_owned(),
            profile: plan.profile().map(str::to_owned),
            schemes: schemes(plan),
            seed: plan.seed,
            duration_s: plan.duration.as_seconds(),
            warmup_s: plan.warmup.as_seconds(),
            interrupted_at_s: course.interrupted.then(|| course.end.as_seconds()),
            lossless: plan.lossless.then_some(totals.frames_dropped + totals.frames_lost_on_link == 0),
            totals: TotalsSummary {
                frames_offered: totals.frames_offered,
                frames_discarded_at_source: totals.frames_discarded_at_source,
                frames_sent: totals.frames_sent,
                copies_made: totals.copies_made,
                frames_delivered: totals.frames_delivered,
                frames_dropped: totals.frames_dropped,
                frames_lost_on_link: totals.frames_lost_on_link,
                frames_in_flight: totals.frames_in_flight,
                feedback_frames: totals.feedback_frames,
                notifications: probing.then_some(totals.feedback_frames - totals.probes_returned),
                probes_returned: probing.then_some(totals.probes_returned),
                feedback_discarded: any_uncontrolled.then_some(totals.signals_discarded),
                pause_frames: plan.network.pfc.is_some().then_some(totals.pause_frames),
                packet_hops: totals.packet_hops,
                events: totals.events,
            },
            loss_rate: ratio(totals.frames_dropped, totals.frames_sent),
            feedback_rate: ratio(totals.feedback_frames, totals.frames_sent),
            jain_index: fairness(plan, outcome),
            queues: queues(plan, outcome),
            flows: flows(plan, outcome, settling, course),
            hosts: hosts(plan, outcome),
            windows: windows.iter().map(|measured| window(plan, measured, probing)).collect(),
            run: RunSummary {
                wall_s: course.wall_s,
                events_per_s: if course.wall_s > 0.0 { (totals.events as f64 / course.wall_s) as u64 } else { 0 },
                ns_per_packet_hop: course.wall_s * 1e9 / totals.packet_hops.max(1) as f64,
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// The object as text, a line a value.
    ///
    /// # Panics
    /// Never: every summary can be written as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a summary has text keys only");
        text.push('\n');
        text
    }
}

/// Time-weighted proportionally fair share of each flow over the measured time, bit/s.
pub(crate) fn proportional_bps(plan: &Plan, course: &Course) -> Vec<f64> {
    let from = course.measured_from(plan);
    fair::mean_bps(&plan.fair, from, course.end, plan.flow_names.len(), |period| &period.proportional_bps)
}

/// The scheme of each priority; nothing where all have the same, settings aside.
fn schemes(plan: &Plan) -> Vec<AssignedSummary> {
    let summary = |assigned: &Assigned| AssignedSummary {
        priority: assigned.priority,
        scheme: assigned.config.info().name.to_owned(),
        profile: assigned.profile.clone(),
    };
    let all: Vec<_> = plan.schemes.iter().map(summary).collect();
    let differ = all.windows(2).any(|pair| (&pair[0].scheme, &pair[0].profile) != (&pair[1].scheme, &pair[1].profile));
    if differ { all } else { Vec::new() }
}

/// Of a window. `probing` says whether sources send probes at any time.
fn window(plan: &Plan, measured: &Measured, probing: bool) -> WindowSummary {
    let Measured { window, until, outcome } = measured;
    let spec = &plan.windows[*window];
    let totals = &outcome.totals;
    let count = plan.flow_names.len();
    let fair = fair::mean_bps(&plan.fair, spec.time.start, *until, count, |period| &period.max_min_bps);
    let flow = |(i, flow): (usize, &FlowOutcome)| WindowFlow {
        name: plan.flow_names[i].clone(),
        throughput_bps: flow.throughput_bps,
        fair_rate_bps: fair[i],
        mean_rate_bps: flow.mean_rate_bps,
        std_rate_bps: flow.std_rate_bps,
        frames_sent: flow.frames_sent,
        frames_delivered: flow.frames_delivered,
        frames_dropped: flow.frames_dropped,
        feedback_received: flow.feedback_received,
    };
    WindowSummary {
        name: spec.name.clone(),
        start_s: spec.time.start.since(Instant::ZERO).as_seconds(),
        end_s: until.since(Instant::ZERO).as_seconds(),
        totals: WindowTotals {
            frames_offered: totals.frames_offered,
            frames_sent: totals.frames_sent,
            copies_made: totals.copies_made,
            frames_delivered: totals.frames_delivered,
            frames_dropped: totals.frames_dropped,
            frames_lost_on_link: totals.frames_lost_on_link,
            feedback_frames: totals.feedback_frames,
            notifications: probing.then_some(totals.feedback_frames - totals.probes_returned),
            probes_returned: probing.then_some(totals.probes_returned),
            pause_frames: plan.network.pfc.is_some().then_some(totals.pause_frames),
            packet_hops: totals.packet_hops,
        },
        loss_rate: ratio(totals.frames_dropped, totals.frames_sent),
        feedback_rate: ratio(totals.feedback_frames, totals.frames_sent),
        jain_index: fairness(plan, outcome),
        queues: queues(plan, outcome),
        flows: outcome.flows.iter().enumerate().map(flow).collect(),
        hosts: hosts(plan, outcome),
    }
}

/// Jain's index of the controlled flows' throughputs.
fn fairness(plan: &Plan, outcome: &Outcome) -> f64 {
    let flows = plan.network.flows.iter().zip(&outcome.flows);
    jain_index(flows.filter(|(flow, _)| flow.reaction_point.is_some()).map(|(_, flow)| flow.throughput_bps))
}

fn queues(plan: &Plan, outcome: &Outcome) -> Vec<QueueSummary> {
    let summary = |&id: &penstock_sim::network::QueueId| {
        let (port, priority) = plan.network.place(id).expect("only data queues are recorded");
        let queue = &outcome.queues[id.index()];
        QueueSummary {
            name: plan.port_name(port).to_owned(),
            priority,
            mean_octets: queue.mean_octets,
            std_octets: queue.std_octets,
            min_octets: queue.min_octets,
            max_octets: queue.max_octets,
            empty_fraction: queue.empty_fraction,
            utilization: queue.utilization,
            frames_dropped: queue.frames_dropped,
            feedback_frames: queue.feedback_frames,
            paused_s: queue.paused.as_seconds(),
            pause_frames: queue.pause_frames,
        }
    };
    plan.record.queues.iter().map(summary).collect()
}

fn flows(plan: &Plan, outcome: &Outcome, settling: &[Option<Duration>], course: &Course) -> Vec<FlowSummary> {
    let from = course.measured_from(plan);
    let probing = outcome.totals.probes_sent > 0;
    let fair = fair::mean_bps(&plan.fair, from, course.end, plan.flow_names.len(), |period| &period.max_min_bps);
    let summary = |(i, flow): (usize, &FlowOutcome)| {
        let (source, destinations) = &plan.flow_ends[i];
        let start = plan.network.flows[i].start;
        FlowSummary {
            name: plan.flow_names[i].clone(),
            source: plan.node_names[*source].clone(),
            destinations: destinations.iter().map(|&node| plan.node_names[node].clone()).collect(),
            throughput_bps: flow.throughput_bps,
            fair_rate_bps: fair[i],
            mean_rate_bps: flow.mean_rate_bps,
            std_rate_bps: flow.std_rate_bps,
            frames_sent: flow.frames_sent,
            frames_delivered: flow.frames_delivered,
            frames_dropped: flow.frames_dropped,
            feedback_received: flow.feedback_received,
            notifications_received: probing.then_some(flow.feedback_received - flow.probes_returned),
            probes_returned: probing.then_some(flow.probes_returned),
            settling_time_s: settling[i].map(Duration::as_seconds),
            completion_time_s: flow.completed.map(|end| end.since(start).as_seconds()),
        }
    };
    outcome.flows.iter().enumerate().map(summary).collect()
}

fn hosts(plan: &Plan, outcome: &Outcome) -> Vec<HostSummary> {
    let nodes = plan.network.nodes.iter().zip(&plan.node_names).zip(&outcome.hosts);
    nodes
        .filter(|((node, _), _)| node.kind == NodeKind::Host)
        .map(|((_, name), host)| HostSummary {
            name: name.clone(),
            rate_limiters_mean: host.rate_limiters_mean,
            rate_limiters_max: host.rate_limiters_max,
        })
        .collect()
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// (Σx)² / (n Σx²). (R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness", 1984)
fn jain_index(rates: impl Iterator<Item = f64>) -> f64 {
    let (n, sum, squares) = rates.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (n * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_index_of_known_rates() {
        assert_eq!(jain_index([5.0, 5.0, 5.0].into_iter()), 1.0);
        assert_eq!(jain_index([8.0, 0.0, 0.0, 0.0].into_iter()), 0.25);
        // (1 + 2 + 3)² / (3 · 14) = 36/42
        assert!((jain_index([1.0, 2.0, 3.0].into_iter()) - 36.0 / 42.0).abs() < 1e-15);
        assert_eq!(jain_index([].into_iter()), 1.0);
        assert_eq!(jain_index([0.0, 0.0].into_iter()), 1.0);
    }

    #[test]
    fn nothing_sent_is_nothing_lost() {
        assert_eq!(ratio(0, 0), 0.0);
        assert_eq!(ratio(1, 4), 0.25);
    }
}
