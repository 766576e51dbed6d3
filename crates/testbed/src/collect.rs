//! The records of all processes of a run, put together: the tables and the summary of a results folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use penstock_runner::Run;
use penstock_runner::external::{Collector, End as MeasuredEnd};
use penstock_runner::summary::TestbedSummary;
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme};
use penstock_sim::network::{NodeKind, QueueId};
use penstock_sim::outcome::{FlowOutcome, HostOutcome, Outcome, QueueOutcome, Totals};
use penstock_sim::probe::{FlowNow, QueueNow};

use crate::TestbedError;
use crate::lateness::Lateness;
use crate::progress::FlowCounts;
use crate::record::{self, End, FlowEnd, FlowSample, QueueSample, Record, SignalSeen};
use crate::scheme_frames;

/// Facts about a run that no process of it knows.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// Time on the machine's clock, s.
    pub wall_s: f64,
    /// Frames that the kernel dropped before they were read.
    pub unread: u64,
    /// Faults that were seen elsewhere, such as an application that failed, in sentences.
    pub faults: Vec<String>,
}

/// Reads the records of all nodes in folder `logs`, one file a node (`NODE.jsonl`), and writes the results to folder `out`, or
/// without one keeps them in memory.
///
/// # Errors
/// If a record cannot be read or the results cannot be written.
pub fn collect(
    plan: &Plan,
    logs: &Path,
    course: &Course,
    out: Option<&Path>,
    force: bool,
) -> Result<Run, TestbedError> {
    let mut records = Records::default();
    for name in &plan.node_names {
        let path = logs.join(format!("{name}.jsonl"));
        let found = File::open(&path).and_then(record::read).map_err(TestbedError::Log)?;
        records.add(name, found);
    }
    let job = Job { plan, records, course, out, force };
    scheme_frames::visit(&plan.configs(), job).unwrap_or_else(|| Err(TestbedError::no_form(plan)))
}

/// All records, sorted by their kind.
#[derive(Debug, Default)]
struct Records {
    queues: BTreeMap<(u64, u32), QueueSample>,
    flows: BTreeMap<(u64, u32), FlowSample>,
    /// Octets delivered.
    sinks: BTreeMap<(u64, u32), u64>,
    signals: Vec<SignalSeen>,
    ends: Vec<End>,
    /// Nodes whose records break off.
    unfinished: Vec<String>,
}

impl Records {
    fn add(&mut self, name: &str, records: Vec<Record>) {
        let before = self.ends.len();
        for record in records {
            match record {
                Record::Queue(sample) => drop(self.queues.insert((sample.at, sample.queue), sample)),
                Record::Flow(sample) => drop(self.flows.insert((sample.at, sample.flow), sample)),
                Record::Sink(sample) => drop(self.sinks.insert((sample.at, sample.flow), sample.delivered)),
                Record::Signal(seen) => self.signals.push(seen),
                Record::End(end) => self.ends.push(*end),
            }
        }
        if self.ends.len() == before {
            self.unfinished.push(name.to_owned());
        }
    }

    /// The time that all processes have reached.
    fn end(&self) -> Instant {
        if !self.unfinished.is_empty() {
            return Instant(self.queues.keys().map(|&(at, _)| at).max().unwrap_or(0));
        }
        Instant(self.ends.iter().map(|end| end.at).min().unwrap_or(0))
    }
}

struct Job<'a> {
    plan: &'a Plan,
    records: Records,
    course: &'a Course,
    out: Option<&'a Path>,
    force: bool,
}

impl penstock_schemes::Visitor for Job<'_> {
    type Output = Result<Run, TestbedError>;

    fn visit<S: Scheme>(self, _: &[S::Config]) -> Self::Output {
        let Self { plan, mut records, course, out, force } = self;
        let mut collector = Collector::new::<S>(plan, out, force)?;
        let end = records.end();
        records.signals.sort_by_key(|seen| (seen.at, seen.flow));
        for seen in records.signals.iter().filter(|seen| seen.at <= end.0) {
            let origin = seen.cp.and_then(|cp| queue_of(plan, cp));
            collector.signal(Instant(seen.at), seen.flow as usize, origin, BitRate(seen.rate), &seen.vars)?;
        }
        samples(plan, &records, end, &mut collector)?;
        let testbed = testbed_summary(plan, &records, course);
        let outcome = outcome(plan, &records, end);
        Ok(collector.finish(MeasuredEnd { outcome, end, wall_s: course.wall_s, testbed })?)
    }
}

/// Hands the samples over, those of a time together. A sample that one process lacks is left out of all.
fn samples(plan: &Plan, records: &Records, end: Instant, collector: &mut Collector<'_>) -> Result<(), TestbedError> {
    let step = plan.record.interval.0.max(1);
    for at in (0..=end.0 / step).map(|k| k * step) {
        let queues: Option<Vec<_>> =
            plan.record.queues.iter().map(|queue| records.queues.get(&(at, queue.0))).collect();
        let flows: Option<Vec<_>> = (0..plan.single as u32)
            .map(|flow| Some((records.flows.get(&(at, flow))?, *records.sinks.get(&(at, flow))?)))
            .collect();
        let (Some(queues), Some(flows)) = (queues, flows) else { continue };
        let now = Instant(at);
        let ended = |flow: usize| ended(plan, records, flow).filter(|&end| end <= now);
        collector.look_for_ends(|flow| ended(flow.index()));
        for (i, sample) in queues.into_iter().enumerate() {
            let state = QueueNow {
                len: Octets(sample.len),
                frames: sample.frames,
                line_bits: sample.line_bits,
                scheduled_bits: u128::from(sample.scheduled_bits),
                dropped: sample.counts.dropped,
                paused: Duration(sample.paused),
                frames_sent: sample.counts.frames_sent,
                octets_sent: Octets(sample.counts.octets_sent),
                frames_marked: sample.counts.frames_marked,
                octets_marked: Octets(sample.counts.octets_marked),
            };
            collector.queue(now, i, state, sample.vars.as_deref())?;
        }
        for (i, (sample, delivered)) in flows.into_iter().enumerate() {
            let state = FlowNow {
                allowed: BitRate(if ended(i).is_some() { 0 } else { sample.allowed }),
                delivered: Octets(delivered),
                sent: Octets(sample.sent),
                signals: sample.signals,
                ended: ended(i),
            };
            collector.flow(now, i, state, sample.vars.as_deref())?;
        }
        collector.end_sample(now);
    }
    Ok(())
}

/// The queue whose congestion point has this identity.
fn queue_of(plan: &Plan, cp: u64) -> Option<QueueId> {
    plan.record.queues.iter().copied().find(|&queue| {
        let place = plan.network.port_and_priority(queue);
        place.is_some_and(|(port, priority)| plan.network.cp_id(port, priority).0 == cp)
    })
}

/// The counts and measures of a run, as the simulator has them.
fn outcome(plan: &Plan, records: &Records, end: Instant) -> Outcome {
    let network = &plan.network;
    let from = (Instant::ZERO + plan.warmup).min(end);
    let measured = end.passed_since(from);
    let mut queues = vec![QueueOutcome::default(); network.ports.len() * network.queues_per_port()];
    for own in records.ends.iter().flat_map(|end| &end.queues) {
        queues[own.queue as usize] = QueueOutcome {
            mean_octets: own.mean,
            std_octets: own.std,
            min_octets: own.min,
            max_octets: own.max,
            // The testbed does not record the memory of its pools.
            ingress_shared_max_octets: 0,
            ingress_headroom_max_octets: 0,
            empty_fraction: own.empty,
            utilization: own.utilization,
            // Its counts are those of the whole run.
            sent_bps: own.counts.octets_sent as f64 * 8.0 / end.as_seconds(),
            frames_arrived: own.counts.arrived,
            frames_dropped: own.counts.dropped,
            control_frames_dropped: 0,
            // Links of the testbed do not break, and lose nothing at random.
            frames_flushed: 0,
            frames_impaired: 0,
            frames_sent: own.counts.frames_sent,
            octets_sent: own.counts.octets_sent,
            frames_marked: own.counts.frames_marked,
            octets_marked: own.counts.octets_marked,
            feedback_frames: own.counts.signals,
            paused: Duration(own.paused),
            stops: own.stops,
            pause_frames: own.pause_frames,
            resume_frames: own.resume_frames,
        };
    }
    let flows: Vec<FlowOutcome> =
        (0..network.flows.len()).map(|flow| flow_outcome(plan, records, flow, (from, end))).collect();
    let host = |(name, node): (&String, &penstock_sim::network::Node)| {
        let end = records.ends.iter().find(|end| end.node == *name && node.kind == NodeKind::Host);
        end.map_or_else(HostOutcome::default, |end| HostOutcome {
            rate_limiters_mean: end.limiters_mean,
            rate_limiters_max: end.limiters_max,
            receive_drops: 0,
        })
    };
    let hosts = plan.node_names.iter().zip(&network.nodes).map(host).collect();
    let totals = totals(records, &flows);
    Outcome { totals, queues, flows, hosts, measured, ..Outcome::default() }
}

fn of_flow(ends: &[FlowEnd], flow: usize) -> Option<&FlowEnd> {
    ends.iter().find(|end| end.flow as usize == flow)
}

/// When all octets of a flow with a size had arrived.
fn completed(records: &Records, flow: usize) -> Option<Instant> {
    let sink = records.ends.iter().find_map(|end| of_flow(&end.sinks, flow))?;
    sink.counts.completed.map(Instant)
}

/// When a flow with a size was complete or stopped.
fn ended(plan: &Plan, records: &Records, flow: usize) -> Option<Instant> {
    let spec = &plan.network.flows[flow];
    spec.size?;
    completed(records, flow).into_iter().chain(spec.stop).min()
}

fn flow_outcome(plan: &Plan, records: &Records, flow: usize, measured: (Instant, Instant)) -> FlowOutcome {
    let source = records.ends.iter().find_map(|end| of_flow(&end.sources, flow));
    let sink = records.ends.iter().find_map(|end| of_flow(&end.sinks, flow));
    let dropped = records.ends.iter().filter_map(|end| end.dropped.get(flow)).sum();
    let spec = &plan.network.flows[flow];
    let (completed, ended) = (completed(records, flow), ended(plan, records, flow));
    // The time of a flow with a size is that from its start to its completion; frames that come later do not count.
    let (from, until) = measured;
    let seconds = match spec.size {
        Some(_) => completed.map_or(until, |at| at.min(until)).since(from.max(spec.start)).as_seconds(),
        None => until.since(from).as_seconds(),
    };
    let most = |counts: &FlowCounts| match counts.completed {
        Some(_) => counts.complete_octets,
        None => counts.delivered_octets,
    };
    let delivered = sink.map_or(0, |end| most(&end.counts).saturating_sub(most(&end.before)));
    let data = sink.map_or(0, |end| end.counts.data_octets - end.before.data_octets);
    let data = spec.size.map_or(data, |size| data.min(size.0));
    let (mean, std) = allowed(plan, records, flow);
    FlowOutcome {
        throughput_bps: if seconds > 0.0 { delivered as f64 * 8.0 / seconds } else { 0.0 },
        goodput_bps: if seconds > 0.0 { data as f64 * 8.0 / seconds } else { 0.0 },
        retransmissions: sink.map_or(0, |end| end.counts.late_segments),
        mean_rate_bps: mean,
        std_rate_bps: std,
        frames_offered: source.map_or(0, |end| end.counts.offered),
        frames_sent: source.map_or(0, |end| end.counts.sent),
        frames_delivered: sink.map_or(0, |end| end.counts.delivered),
        frames_dropped: dropped,
        feedback_received: source.map_or(0, |end| end.counts.signals),
        segments_discarded: source.map_or(0, |end| end.counts.discarded),
        started: Some(spec.start),
        completed,
        ended: ended.filter(|&at| at <= until).or(spec.stop.filter(|&at| at <= until)),
        active_s: seconds,
        ..FlowOutcome::default()
    }
}

/// Mean and standard deviation of the samples of a flow's allowed rate after the warm-up, while it was active.
fn allowed(plan: &Plan, records: &Records, flow: usize) -> (f64, f64) {
    let end = ended(plan, records, flow).unwrap_or(Instant::NEVER).0;
    let samples = records.flows.values().filter(|sample| {
        sample.flow as usize == flow && sample.at >= plan.warmup.0 && sample.at < end && sample.allowed > 0
    });
    let (n, sum, squares) = samples.fold((0.0, 0.0, 0.0), |(n, sum, squares), sample| {
        let rate = sample.allowed as f64;
        (n + 1.0, sum + rate, squares + rate * rate)
    });
    if n == 0.0 {
        return (0.0, 0.0);
    }
    let mean: f64 = sum / n;
    let variance: f64 = squares / n - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

fn totals(records: &Records, flows: &[FlowOutcome]) -> Totals {
    let sum = |count: fn(&FlowOutcome) -> u64| flows.iter().map(count).sum::<u64>();
    let (sent, delivered, dropped) =
        (sum(|flow| flow.frames_sent), sum(|flow| flow.frames_delivered), sum(|flow| flow.frames_dropped));
    Totals {
        frames_offered: sum(|flow| flow.frames_offered),
        // Those that wait at the end are among them: the testbed does not tell them apart.
        frames_discarded_at_source: sum(|flow| flow.frames_offered).saturating_sub(sent),
        frames_sent: sent,
        frames_delivered: delivered,
        frames_dropped: dropped,
        // In flight at the end, or lost by the system: the testbed cannot know.
        frames_in_flight: sent.saturating_sub(delivered + dropped),
        feedback_frames: sum(|flow| flow.feedback_received),
        retransmissions: sum(|flow| flow.retransmissions),
        probes_sent: records.ends.iter().flat_map(|end| &end.sources).map(|end| end.counts.probes).sum(),
        signals_sent: records.ends.iter().flat_map(|end| &end.queues).map(|queue| queue.counts.signals).sum(),
        pause_frames: records.ends.iter().map(|end| end.bridge.pauses_sent).sum(),
        packet_hops: records.ends.iter().map(|end| end.frames).sum(),
        ..Totals::default()
    }
}

/// How well time was kept, and whether the figures may be used.
fn testbed_summary(plan: &Plan, records: &Records, course: &Course) -> TestbedSummary {
    let mut sending = Lateness::default();
    let mut reading = Lateness::default();
    for end in &records.ends {
        sending.merge(&end.sending);
        reading.merge(&end.reading);
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let bound = plan.testbed.lateness.as_seconds();
    let p99 = seconds(sending.quantile(0.99));
    let lost = course.unread + records.ends.iter().map(|end| end.unsent).sum::<u64>();
    let mut faults = course.faults.clone();
    if p99 > bound {
        let (p99, bound) = (p99 * 1e3, bound * 1e3);
        faults.push(format!(
            "The 99th percentile of the lateness of frames is {p99:.3} ms, more than the bound of {bound:.3} ms."
        ));
    }
    if lost > 0 {
        faults.push(format!("The system lost {lost} frames."));
    }
    let unrecorded: u64 = records.ends.iter().map(|end| end.interface.signals_unrecorded).sum();
    if unrecorded > 0 {
        faults.push(format!("{unrecorded} signals came too fast to be recorded."));
    }
    for name in &records.unfinished {
        faults.push(format!("The process of {name} did not end by itself."));
    }
    let given_up = records.ends.iter().map(|end| end.interface.given_up_ps).max().unwrap_or(0);
    TestbedSummary {
        valid: faults.is_empty(),
        faults,
        time_scale: plan.testbed.time_scale,
        real_time: records.ends.iter().all(|end| end.real_time),
        lateness_bound_s: bound,
        lateness_p50_s: seconds(sending.quantile(0.5)),
        lateness_p99_s: p99,
        lateness_p999_s: seconds(sending.quantile(0.999)),
        lateness_max_s: seconds(sending.most()),
        reading_p99_s: seconds(reading.quantile(0.99)),
        given_up_s: Duration(given_up).as_seconds(),
        frames_lost: lost,
    }
}
