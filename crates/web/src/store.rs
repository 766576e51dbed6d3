//! The rows of a run, in memory: numbers alone, so that they cross to JavaScript as one array.

use std::rc::Rc;

use penstock_results::Sampler;
use penstock_scenario::Plan;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::{FlowId, PortId};
use penstock_sim::probe::{Content, FateOnLine, FrameSeen, Load, Probe, SignalSeen, View};

/// The columns of each recorded queue, as the table `queues` has them.
pub const QUEUE_COLUMNS: &[&str] = &["queue_octets", "queue_frames", "utilization", "frames_dropped", "paused_s"];
/// The columns of each flow, as the table `rates` has them.
pub const FLOW_COLUMNS: &[&str] = &["rate_bps", "throughput_bps", "fair_rate_bps"];
/// The columns of a signal: the flow by its index, the port that it comes from by its index, or -1 for a destination.
pub const SIGNAL_COLUMNS: &[&str] = &["time_s", "flow", "port", "rate_bps"];

/// The columns of a frame that was sent: start of its transmission, arrival at the other end, index of the port, index of
/// the flow or -1, index in [`FRAME_KINDS`]. The last is 1 if it was lost on the line, else 0.
pub const FRAME_COLUMNS: &[&str] = &["start_s", "end_s", "port", "flow", "kind", "lost"];
/// Kinds of frames in a drawing: data; acknowledgements of any kind; messages of the scheme; pause frames that
/// stop a priority; and those that let it go on.
pub const FRAME_KINDS: &[&str] = &["data", "ack", "signal", "pause", "resume"];

/// The columns of each recorded queue in the state of an instant; all but the first count from the start of the run.
pub const QUEUE_NOW_COLUMNS: &[&str] = &["queue_octets", "frames_dropped", "paused_s", "line_bits", "scheduled_bits"];
/// The columns of each flow in the state of an instant; the octets that it has delivered count from the start of the run.
pub const FLOW_NOW_COLUMNS: &[&str] = &["rate_bps", "delivered_octets"];

/// Frames that are kept until they are taken: those of a run that is slow enough to be looked at are far fewer.
const MOST_FRAMES: usize = 4000;
/// Signals that are kept until they are taken: a page takes them some hundred times a second.
const MOST_SIGNALS: usize = 500_000;
/// The ports of a network whose frames are drawn: larger networks are not.
const MOST_PORTS: usize = 400;

/// Of the samples of a long run one in `every` is kept, so that a page holds them. Where a sample is about the time since the one before, it
/// covers the time since the last one that is kept.
#[derive(Debug)]
struct Thinned {
    every: u64,
    /// Samples so far, and those since the last that is kept.
    taken: u64,
    since: u64,
    /// The sums of each number since then.
    sums: Vec<f64>,
    /// The last row, where it is not kept.
    open: Vec<f64>,
}

impl Thinned {
    /// Takes the row that `samples` has from `start` on, after which it stays there or not.
    fn take(&mut self, samples: &mut Vec<f64>, start: usize, queues: usize) {
        if self.every == 1 {
            return;
        }
        self.since += 1;
        let flows_at = 1 + queues * QUEUE_COLUMNS.len();
        for (i, (cell, sum)) in samples[start..].iter_mut().zip(&mut self.sums).enumerate() {
            *sum += *cell;
            let column = match i {
                0 => "time_s",
                i if i < flows_at => QUEUE_COLUMNS[(i - 1) % QUEUE_COLUMNS.len()],
                i => FLOW_COLUMNS[(i - flows_at) % FLOW_COLUMNS.len()],
            };
            match column {
                "utilization" | "throughput_bps" => *cell = *sum / self.since as f64,
                "frames_dropped" | "paused_s" => *cell = *sum,
                _ => {}
            }
        }
        self.open.clear();
        if self.taken.is_multiple_of(self.every) {
            self.since = 0;
            self.sums.fill(0.0);
        } else {
            self.open.extend(samples.drain(start..));
        }
        self.taken += 1;
    }
}

/// The probe that keeps a run's rows.
#[derive(Debug)]
pub(crate) struct Store {
    plan: Rc<Plan>,
    pub(crate) sampler: Sampler<Rc<Plan>>,
    /// Row after row: the time, the columns of each queue, the columns of each flow.
    pub(crate) samples: Vec<f64>,
    thinned: Thinned,
    /// Row after row: signals since they were last taken.
    signals: Vec<f64>,
    /// Whether frames are looked at.
    pub(crate) looks: bool,
    /// Row after row: frames since they were last taken.
    frames: Vec<f64>,
    ports: Vec<PortId>,
}

impl Store {
    /// For a run of which one of `every` samples is kept.
    pub(crate) fn new(plan: &Rc<Plan>, every: u64) -> Self {
        let sampler = Sampler::new(Rc::clone(plan));
        let count = plan.network.ports.len();
        let ports = if count > MOST_PORTS { Vec::new() } else { (0..count as u32).map(PortId).collect() };
        Self {
            plan: Rc::clone(plan),
            sampler,
            samples: Vec::new(),
            thinned: Thinned { every, taken: 0, since: 0, sums: vec![0.0; width(plan)], open: Vec::new() },
            signals: Vec::new(),
            looks: false,
            frames: Vec::new(),
            ports,
        }
    }

    /// The run has come to its end: its last sample is kept.
    pub(crate) fn close(&mut self) {
        self.samples.append(&mut self.thinned.open);
    }

    /// Gives the signals since the last call.
    pub(crate) fn take_signals(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.signals)
    }

    /// Gives the frames that have left lines since the last call.
    pub(crate) fn take_frames(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.frames)
    }
}

/// The kind of a frame by its index in [`FRAME_KINDS`], and its flow by its index, or -1.
fn kind(content: &Content<'_, Mixed>) -> (f64, f64) {
    match content {
        Content::Frame { flow, load, .. } => {
            let kind = match load {
                Load::Data { .. } => 0.0,
                Load::Ack { .. } | Load::Echo { .. } => 1.0,
                Load::Signal { .. } => 2.0,
            };
            (kind, f64::from(flow.0))
        }
        Content::Pause { stop: 0, .. } => (4.0, -1.0),
        Content::Pause { .. } => (3.0, -1.0),
    }
}

/// The state of an instant: the time, [`QUEUE_NOW_COLUMNS`] for each recorded queue, [`FLOW_NOW_COLUMNS`] for each flow.
pub(crate) fn state(plan: &Plan, now: Instant, view: &impl View<Mixed>) -> Vec<f64> {
    let mut row = vec![now.as_seconds()];
    for &queue in &plan.record.queues {
        let queue = view.queue(queue);
        let counts =
            [queue.dropped as f64, queue.paused.as_seconds(), queue.line_bits as f64, queue.scheduled_bits as f64];
        row.push(queue.len.0 as f64);
        row.extend(counts);
    }
    for flow in (0..plan.single as u32).map(FlowId) {
        let flow = view.flow(flow);
        row.extend([flow.allowed.0 as f64, flow.delivered.0 as f64]);
    }
    row
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
        let start = self.samples.len();
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
        self.sampler.look_for_ends(|flow| view.flow(flow).ended);
        for i in 0..self.sampler.flows() {
            let sample = self.sampler.flow(now, i, view.flow(FlowId(i as u32)));
            self.samples.extend([sample.rate.0 as f64, sample.throughput_bps, sample.fair_rate_bps]);
        }
        self.sampler.end_sample(now);
        self.thinned.take(&mut self.samples, start, self.plan.record.queues.len());
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, Mixed>) {
        if !self.plan.record.signals || self.signals.len() >= MOST_SIGNALS * SIGNAL_COLUMNS.len() {
            return;
        }
        let port =
            seen.origin.and_then(|queue| self.plan.network.port_and_priority(queue)).map(|(port, _)| port.index());
        self.signals.extend([
            now.as_seconds(),
            f64::from(seen.flow.0),
            port.map_or(-1.0, |port| port as f64),
            seen.rate.0 as f64,
        ]);
    }

    fn captured_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn frame(&mut self, seen: &FrameSeen<'_, Mixed>) {
        if !self.looks || self.frames.len() >= MOST_FRAMES * FRAME_COLUMNS.len() || seen.fate == FateOnLine::UnderWay {
            return;
        }
        let (kind, flow) = kind(&seen.content);
        let lost = if seen.fate != FateOnLine::Crossed { 1.0 } else { 0.0 };
        self.frames.extend([seen.start.as_seconds(), seen.end.as_seconds(), f64::from(seen.port.0), flow, kind, lost]);
    }
}
