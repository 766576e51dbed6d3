//! Line capture: a probe is shown the frames that cross the lines of ports that it has named.

use std::collections::VecDeque;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Octets, Scheme};

use crate::datapath::Fabric;
use crate::datapath::line_capture::{OnLine, Start};
use crate::engine::Sim;
use crate::engine::run_state::State;
use crate::flow_control::pfc;
use crate::network::{FlowId, QueueId};
use crate::probe::{Content, Ecn, FateOnLine, FrameSeen, Load, Probe, Way};
use crate::state::frame::{FrameId, GONE, Kind, Marks, Payload};
use crate::state::port::TAPPED;

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// Taps the ports that the probe asks for.
    pub(crate) fn tap(&mut self) {
        for &port in self.probe.taps() {
            assert!(PFC, "taps need the engine that has them");
            self.state.fabric.ports[port.index()].attention |= TAPPED;
            self.state.fabric.taps.lines.insert(port, VecDeque::new());
        }
    }

    /// A frame has crossed the line of `port`.
    #[inline(always)]
    pub(crate) fn cross(&mut self, port: PortId, frame: FrameId) {
        if self.state.fabric.cross(port) {
            self.show_frame(port, frame);
        }
    }

    /// A frame that the probe sees has crossed the line of `port`, and has not moved on.
    #[cold]
    fn show_frame(&mut self, port: PortId, frame: FrameId) {
        let start = self.state.fabric.taps.leaves(port).expect("its start was noted");
        assert_eq!(start.what, OnLine::Frame(frame), "frames leave a line in the order in which they came to it");
        self.tell(port, start, FateOnLine::Crossed, (0, 0));
    }

    /// A pause frame, about these classes, has crossed the line of `port`.
    pub(crate) fn show_pause(&mut self, port: PortId, told: (u32, u32)) {
        if self.state.fabric.port(port).tapped() {
            let start = self.state.fabric.taps.leaves(port).expect("its start was noted");
            assert!(
                matches!(start.what, OnLine::Pause(_)),
                "frames leave a line in the order in which they came to it"
            );
            self.tell(port, start, FateOnLine::Crossed, told);
        }
    }

    /// The frames that are on the line of `port` are shown now: they are lost, or the run ends.
    pub(crate) fn show_rest(&mut self, port: PortId, fate: FateOnLine) {
        while let Some(start) = self.state.fabric.taps.leaves(port) {
            let told = match start.what {
                OnLine::Frame(_) => (0, 0),
                OnLine::Pause(pause) => self.state.fabric.pauses.told(pause),
            };
            self.tell(port, start, fate, told);
        }
    }

    /// The run ends: the frames on all lines are shown.
    pub(crate) fn show_all(&mut self) {
        let ports: Vec<PortId> = self.state.fabric.taps.lines.keys().copied().collect();
        for port in ports {
            self.show_rest(port, FateOnLine::UnderWay);
        }
    }

    fn tell(&mut self, port: PortId, start: Start, fate: FateOnLine, told: (u32, u32)) {
        let fabric = &self.state.fabric;
        let earliest = fabric.taps.earliest(fabric.now);
        let end = fabric.now;
        let (octets, content) = match start.what {
            OnLine::Frame(frame) => {
                let slot = fabric.frames.get(frame);
                (slot.octets, self.state.content(frame, self.flow_of(slot.flow)))
            }
            OnLine::Pause(_) => {
                (pfc::FRAME, Content::Pause { stop: fabric.priorities(told.0), resume: fabric.priorities(told.1) })
            }
        };
        let queue = start.queue.map(Octets);
        self.probe.frame(&FrameSeen { port, start: start.at, end, queue, octets, earliest, fate, content });
    }
}

impl<S: Scheme, const PFC: bool> State<S, PFC> {
    /// The content of a frame of the flow at `place`.
    fn content(&self, frame: FrameId, place: FlowId) -> Content<'_, S> {
        let fabric = &self.fabric;
        let slot = fabric.frames.get(frame);
        let hop = slot.hop;
        let load = match &slot.payload {
            Payload::Data(_) if slot.kind() == Kind::Ack => {
                Load::Ack(self.transports.ack(frame).expect("it carries an acknowledgement"))
            }
            Payload::Data(tag) => {
                let connected = self.sources.flow(place).supply().connection.is_some();
                let ecn =
                    match (slot.marks.contains(Marks::ECN_CAPABLE), slot.marks.contains(Marks::CONGESTION_EXPERIENCED))
                    {
                        (_, true) => Ecn::Experienced,
                        (true, false) => Ecn::Capable,
                        (false, false) => Ecn::Incapable,
                    };
                Load::Data {
                    tag,
                    seq: slot.seq,
                    trimmed: slot.marks.contains(Marks::TRIMMED),
                    ecn,
                    segment: if connected { self.transports.segment(frame) } else { None },
                }
            }
            Payload::Down(signal) => Load::Signal { signal, way: Way::Down },
            Payload::Up { signal, origin } => {
                Load::Signal { signal, way: Way::Up { origin: (*origin != QueueId::NONE).then_some(*origin), hop } }
            }
            Payload::Back(signal) => Load::Signal { signal, way: Way::Back { hop } },
            Payload::Ack { echo, .. } => Load::Echo { echo, arrived: slot.seq, hop },
        };
        Content::Frame { flow: FlowId(slot.flow.0), priority: fabric.priority(slot.class), load }
    }
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// The priority of a class; `None` for that of control frames.
    fn priority(&self, class: TrafficClass) -> Option<u8> {
        (0..8).find(|&priority| class != GONE && self.class_of(priority) == class)
    }

    /// A bit for each priority whose class has one among `classes`.
    fn priorities(&self, classes: u32) -> u8 {
        let told = |&priority: &u8| {
            let class = self.class_of(priority);
            class != GONE && classes & class.bit() != 0
        };
        (0..8).filter(told).fold(0, |mask, priority| mask | 1 << priority)
    }
}
