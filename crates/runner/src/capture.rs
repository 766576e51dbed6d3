//! Captures: the frames that start on the lines of some ports, as octets with their times, in a file of the results folder.
//!
//! ```text
//!   engine --FrameSeen--> Frames: octets --> Waiting, by start --> capture.pcapng
//! ```
//!
//! The engine shows a frame when it leaves its line, port by port in the order of starts; here the ports are merged. The
//! engine says which time no later frame started before: those that started earlier are written at once, so that only the
//! frames that are on lines wait in memory.

mod flows;
mod frames;
mod headers;
mod messages;
mod transports;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use penstock_scenario::Plan;
use penstock_schemes::{Instant, Message, Octets, Scheme, Signal as _};
use penstock_sim::network::{Feedback, FlowId, NodeKind, PortId};
use penstock_sim::probe::{Content, FateOnLine, FrameSeen, Load};
use penstock_wire::capture::pcapng;

use crate::RunError;
use crate::folder::Folder;
pub(crate) use frames::Frames;

/// The file.
const FILE: &str = "capture.pcapng";

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1000;

/// A capture that is being written.
#[derive(Debug)]
pub(crate) struct Capture<'p> {
    plan: &'p Plan,
    frames: Frames<'p>,
    /// The interfaces of the file.
    ports: Vec<PortId>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// The block that is written next.
    block: Vec<u8>,
    file: BufWriter<File>,
    path: PathBuf,
}

/// A frame that waits for those that started before it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    start: Instant,
    interface: u32,
    octets: Vec<u8>,
    comment: String,
}

impl<'p> Capture<'p> {
    /// Begins the capture of `ports`, each of which counts once, in `folder`.
    pub(crate) fn new(plan: &'p Plan, frames: Frames<'p>, ports: &[PortId], folder: &Folder) -> Result<Self, RunError> {
        let mut own: Vec<PortId> = Vec::new();
        for &port in ports {
            if !own.contains(&port) {
                own.push(port);
            }
        }
        let path = folder.file(FILE);
        let file = File::create_new(&path).map_err(RunError::io(&path, "make the file"))?;
        let mut block = Vec::new();
        pcapng::section(&mut block, concat!("Penstock ", env!("CARGO_PKG_VERSION")), Some(&heading(plan)));
        for &port in &own {
            let Described { name, description, bits_per_s } = described(plan, port);
            pcapng::interface(&mut block, name, Some(&description), Some(bits_per_s));
        }
        let mut capture =
            Self { plan, frames, ports: own, waiting: BinaryHeap::new(), block, file: BufWriter::new(file), path };
        capture.write_block()?;
        Ok(capture)
    }

    /// The ports that are captured.
    pub(crate) fn ports(&self) -> &[PortId] {
        &self.ports
    }

    /// Takes a frame, and writes those that no other can come before.
    pub(crate) fn take<S: Scheme>(&mut self, seen: &FrameSeen<'_, S>) -> Result<(), RunError> {
        let Some(interface) = self.ports.iter().position(|&port| port == seen.port) else { return Ok(()) };
        let octets = self.frames.octets(seen);
        let &FrameSeen { start, queue, earliest, fate, .. } = seen;
        let comment = comment(self.plan, Subject::of(&seen.content), queue, fate);
        self.waiting.push(Reverse(Waiting { start, interface: interface as u32, octets, comment }));
        self.write_before(earliest)
    }

    /// Writes the frames that started before this time.
    fn write_before(&mut self, earliest: Instant) -> Result<(), RunError> {
        while let Some(Reverse(first)) = self.waiting.peek() {
            if first.start >= earliest {
                break;
            }
            self.write_first()?;
        }
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn close(mut self) -> Result<(), RunError> {
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        self.file.flush().map_err(RunError::io(&self.path, "write"))?;
        self.file.get_ref().sync_all().map_err(RunError::io(&self.path, "write"))
    }

    fn write_first(&mut self) -> Result<(), RunError> {
        let Some(Reverse(first)) = self.waiting.pop() else { return Ok(()) };
        let time_ns = first.start.since(Instant::ZERO).0 / PS_PER_NS;
        pcapng::packet(&mut self.block, first.interface, time_ns, &first.octets, Some(&first.comment));
        self.write_block()
    }

    fn write_block(&mut self) -> Result<(), RunError> {
        self.file.write_all(&self.block).map_err(RunError::io(&self.path, "write"))?;
        self.block.clear();
        Ok(())
    }
}

/// A text for the whole capture.
fn heading(plan: &Plan) -> String {
    let heading = format!("scenario {}, scheme {}, seed {}", plan.name, plan.scheme(), plan.seed);
    match plan.network.feedback {
        Feedback::InBand => heading,
        Feedback::Ideal(_) => {
            format!("{heading}; feedback is ideal: notifications cross no port, and none is captured")
        }
    }
}

/// A port as an interface.
struct Described<'p> {
    name: &'p str,
    description: String,
    bits_per_s: u64,
}

fn described(plan: &Plan, port: PortId) -> Described<'_> {
    let wanted = &plan.network.ports[port.index()];
    let of = |node: penstock_sim::network::NodeId| {
        let kind = match plan.network.nodes[node.index()].kind {
            NodeKind::Host => "host",
            NodeKind::Switch => "switch",
        };
        format!("{kind} {}", plan.node_names[node.index()])
    };
    let description = format!("from {} to {}", of(wanted.node), of(wanted.peer));
    Described { name: plan.port_name(port), description, bits_per_s: wanted.rate.0 }
}

/// The frame of a comment, whatever the scheme.
enum Subject {
    Trimmed(FlowId),
    SentAgain(FlowId),
    Data(FlowId),
    Acknowledgement(FlowId),
    /// A control frame, with the steps of its feedback if it is a CNM.
    Control(FlowId, Option<u8>),
    Pause,
}

impl Subject {
    fn of<S: Scheme>(content: &Content<'_, S>) -> Self {
        let Content::Frame { flow, load, .. } = content else { return Self::Pause };
        match load {
            Load::Data { trimmed: true, .. } => Self::Trimmed(*flow),
            Load::Data { segment: Some(segment), .. } if segment.retransmission => Self::SentAgain(*flow),
            Load::Data { .. } => Self::Data(*flow),
            Load::Ack { .. } | Load::Echo { .. } => Self::Acknowledgement(*flow),
            Load::Signal { signal, .. } => {
                let steps = if let Some(Message::Cnm { fb, .. }) = signal.message() { Some(fb.steps()) } else { None };
                Self::Control(*flow, steps)
            }
        }
    }
}

/// A sentence without its subject, the frame: its flow, its message, the length of its queue.
fn comment(plan: &Plan, subject: Subject, queue: Option<Octets>, fate: FateOnLine) -> String {
    let name = |flow: FlowId| plan.flow_name(flow.index());
    let mut parts = match subject {
        Subject::Trimmed(flow) => vec![format!("flow {}, header of a trimmed frame", name(flow))],
        Subject::SentAgain(flow) => vec![format!("flow {}, sent again", name(flow))],
        Subject::Data(flow) => vec![format!("flow {}", name(flow))],
        Subject::Acknowledgement(flow) => vec![format!("acknowledgement of flow {}", name(flow))],
        Subject::Control(flow, steps) => {
            let control = format!("control frame of flow {}", name(flow));
            [control].into_iter().chain(steps.map(|steps| format!("Fb {steps}"))).collect()
        }
        Subject::Pause => Vec::new(),
    };
    match queue {
        Some(octets) => parts.push(format!("queue {} octets", octets.0)),
        None => parts.push("no queue".to_owned()),
    }
    match fate {
        FateOnLine::Crossed => {}
        FateOnLine::Corrupted => parts.push("corrupted on the line".to_owned()),
        FateOnLine::Lost => parts.push("lost on the line".to_owned()),
        FateOnLine::UnderWay => parts.push("on the line at the end of the run".to_owned()),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use penstock_scenario::{Choice, Scenario};
    use penstock_schemes::{SchemeConfig, qcn::Qcn};
    use penstock_sim::{Full, Sim};

    use super::*;
    use crate::Recorder;
    use crate::tables::SchemeVars;

    /// A frame takes 12 us, and 100 us over the second line: some nine are on it at a time. As many of the first line, which
    /// started after those, wait for them.
    const LINE: &str = r#"
        question = "How many frames are held?"
        duration = "100 ms"
        scheme = "qcn"
        [topology.graph]
        hosts = "h0..h1"
        switches = ["sw0"]
        buffer = "150 KB"
        [[topology.graph.link]]
        ends = ["h0", "sw0"]
        rate = "1 Gbps"
        [[topology.graph.link]]
        ends = ["sw0", "h1"]
        rate = "1 Gbps"
        delay = "100 us"
        [[flow]]
        from = "h0"
        to = "h1"
    "#;

    #[test]
    fn the_frames_that_wait_are_those_on_the_lines() {
        let plan = Scenario::parse(LINE, "line.toml", "line").unwrap().plan(&Choice::default()).unwrap();
        let SchemeConfig::Qcn(config) = &plan.schemes[0].config else { panic!("not QCN") };
        let configs = std::slice::from_ref(config);
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(&root.path().join("out"), false, crate::Holds::Results).unwrap();
        let ports: Vec<PortId> = ["h0->sw0", "sw0->h1"].map(|name| plan.port(name).unwrap()).into();
        let capture = Capture::new(&plan, Frames::new::<Qcn>(&plan, configs), &ports, &folder).unwrap();
        let recorder = Recorder::<true>::new(&plan, &SchemeVars::of::<Qcn>(), Some(&folder)).unwrap();
        let recorder = recorder.capturing(Some(capture));
        let mut sim = Sim::<Qcn, _, Full>::new(&plan.network, configs, plan.seed, recorder);
        let mut most = 0;
        for us in (0..=100_000).step_by(50) {
            sim.run_until(Instant(us * 1_000_000));
            most = most.max(sim.probe().capture.as_ref().expect("frames are captured").waiting.len());
        }
        let hops = sim.packet_hops();
        let (_, recorder) = sim.finish();
        recorder.finish().unwrap();
        assert!(hops > 10_000, "{hops}");
        assert!((7..=11).contains(&most), "{most} frames held");
    }
}
