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

/// Frames that are kept until they are taken: those of a run that is slow enough to be looked at are far fewer.
const MOST_FRAMES: usize = 4000;
/// Signals that are kept until they are taken: a page takes them some hundred times a second.
const MOST_SIGNALS: usize = 500_000;
/// The ports of a network whose frames are drawn: larger networks are not.
const MOST_PORTS: usize = 400;

/// The probe that keeps a run's rows.
#[derive(Debug)]
pub(crate) struct Store {
    plan: Rc<Plan>,
    pub(crate) sampler: Sampler<Rc<Plan>>,
    /// Row after row: the time, the columns of each queue, the columns of each flow.
    pub(crate) samples: Vec<f64>,
    /// Row after row: signals since they were last taken.
    signals: Vec<f64>,
    /// Whether frames are looked at.
    pub(crate) looks: bool,
    /// Row after row: frames since they were last taken.
    frames: Vec<f64>,
    ports: Vec<PortId>,
}

impl Store {
    pub(crate) fn new(plan: &Rc<Plan>) -> Self {
        let sampler = Sampler::new(Rc::clone(plan));
        let count = plan.network.ports.len();
        let ports = if count > MOST_PORTS { Vec::new() } else { (0..count as u32).map(PortId).collect() };
        Self {
            plan: Rc::clone(plan),
            sampler,
            samples: Vec::new(),
            signals: Vec::new(),
            looks: false,
            frames: Vec::new(),
            ports,
        }
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
        self.sampler.look_for_ends(|flow| view.flow(flow).ended);
        for i in 0..self.sampler.flows() {
            let sample = self.sampler.flow(now, i, view.flow(FlowId(i as u32)));
            self.samples.extend([sample.rate.0 as f64, sample.throughput_bps, sample.fair_rate_bps]);
        }
        self.sampler.end_sample(now);
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
