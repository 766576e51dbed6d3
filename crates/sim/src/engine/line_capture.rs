//! Line capture: a probe is shown the frames that cross the lines of ports that it has named.

use std::collections::VecDeque;

use penstock_endpoint::PortId;
use penstock_schemes::{Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::datapath::line_capture::{OnLine, Transmission};
use penstock_switch::events::FrameId;
use penstock_switch::flow_control::pfc;
use penstock_switch::state::frame::{FrameKind, Marks, Payload};
use penstock_switch::state::port::{CAPTURED, CREDITED, RETRIED};

use crate::engine::Sim;
use crate::engine::run_state::RunState;
use crate::network::{FlowId, QueueId};
use crate::probe::{Answered, Content, Ecn, FateOnLine, FrameSeen, Load, Probe, SignalPath};

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Captures the lines of the ports that the probe names.
    pub(crate) fn capture_lines(&mut self) {
        for &port in self.probe.captured_ports() {
            assert!(M::FULL, "line capture needs the engine that has it");
            self.state.fabric.ports[port.index()].attention |= CAPTURED;
            self.state.fabric.observed.line_capture.lines.insert(port, VecDeque::new());
        }
    }

    /// A frame has crossed the line of `port`.
    #[inline(always)]
    pub(crate) fn cross(&mut self, port: PortId, frame: FrameId) {
        if self.state.fabric.cross(port) {
            self.cross_looked_at(port, frame);
        }
    }

    /// The same for a line that is captured, or has credits or retry.
    #[cold]
    fn cross_looked_at(&mut self, port: PortId, frame: FrameId) {
        let p = self.state.fabric.port(port);
        let (captured, counted) = (p.captured(), p.attention & (CREDITED | RETRIED) != 0);
        if captured {
            self.show_frame(port, frame);
        }
        if counted {
            self.state.fabric.came(port, frame);
        }
    }

    /// A frame that the probe sees has crossed the line of `port`, and has not moved on.
    fn show_frame(&mut self, port: PortId, frame: FrameId) {
        let start = self.state.fabric.observed.line_capture.leaves(port).expect("its start was noted");
        assert_eq!(start.what, OnLine::Frame(frame), "frames leave a line in the order in which they came to it");
        self.show(port, start, FateOnLine::Crossed, (0, 0));
    }

    /// A pause frame, about these classes, has crossed the line of `port`.
    pub(crate) fn show_pause(&mut self, port: PortId, message: (u32, u32)) {
        self.show_first(port, FateOnLine::Crossed, message);
    }

    /// A frame that the line of `port` has corrupted, about these classes if it is a pause frame, has reached the far end.
    pub(crate) fn show_corrupted(&mut self, port: PortId, message: (u32, u32)) {
        self.show_first(port, FateOnLine::Corrupted, message);
    }

    /// The frame that is first on the line of `port` leaves it; frames leave in the order in which they came.
    fn show_first(&mut self, port: PortId, fate: FateOnLine, message: (u32, u32)) {
        if self.state.fabric.port(port).captured() {
            let start = self.state.fabric.observed.line_capture.leaves(port).expect("its start was noted");
            self.show(port, start, fate, message);
        }
    }

    /// The frames that are on the line of `port` are shown now: they are lost, or the run ends.
    pub(crate) fn show_rest(&mut self, port: PortId, fate: FateOnLine) {
        while let Some(start) = self.state.fabric.observed.line_capture.leaves(port) {
            let message = match start.what {
                OnLine::Frame(_) => (0, 0),
                OnLine::Pause(pause) => self.state.fabric.pauses.message(pause),
            };
            self.show(port, start, fate, message);
        }
    }

    /// The run ends: the frames on all lines are shown.
    pub(crate) fn show_all(&mut self) {
        let ports: Vec<PortId> = self.state.fabric.observed.line_capture.lines.keys().copied().collect();
        for port in ports {
            self.show_rest(port, FateOnLine::UnderWay);
        }
    }

    fn show(&mut self, port: PortId, start: Transmission, fate: FateOnLine, message: (u32, u32)) {
        let fabric = &self.state.fabric;
        let earliest = fabric.observed.line_capture.earliest(fabric.now);
        let end = fabric.now;
        let (octets, content) = match start.what {
            OnLine::Frame(frame) => {
                let slot = fabric.frames.get(frame);
                (slot.octets, self.state.content(frame, self.flow_of(slot.flow)))
            }
            OnLine::Pause(_) => (
                pfc::FRAME,
                Content::Pause { stop: fabric.priorities(message.0), resume: fabric.priorities(message.1) },
            ),
        };
        let queue = start.queue.map(Octets);
        self.probe.frame(&FrameSeen { port, start: start.at, end, queue, octets, earliest, fate, content });
    }
}

impl<S: Scheme, M: Model> RunState<S, M> {
    /// The content of a frame of `flow`.
    fn content(&self, frame: FrameId, flow: FlowId) -> Content<'_, S> {
        let fabric = &self.fabric;
        let slot = fabric.frames.get(frame);
        let hop = slot.hop;
        let load = match &slot.payload {
            Payload::Data(_) if slot.kind() == FrameKind::Ack && self.transports.ack(frame).is_some() => {
                let answered = self.transports.entropy(frame).map(|own| Answered {
                    value: own.turn.value,
                    heard: own.heard,
                    probe: own.turn.number.is_none(),
                });
                Load::Ack { ack: self.transports.ack(frame).expect("it carries an acknowledgement"), answered }
            }
            // A probe of a path is a segment without data.
            Payload::Data(tag) => {
                let connected = self.sources.flow(flow).supply().connection.is_some();
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
                    entropy: self.transports.entropy(frame).map(|own| own.turn.value),
                }
            }
            Payload::Down(signal) => Load::Signal { signal, path: SignalPath::Down },
            Payload::Up { signal, origin } => Load::Signal {
                signal,
                path: SignalPath::Up { origin: (*origin != QueueId::NONE).then_some(*origin), hop },
            },
            Payload::Back(signal) => Load::Signal { signal, path: SignalPath::Back { hop } },
            Payload::Ack { echo, .. } => Load::Echo { echo, arrived: slot.seq, hop },
        };
        Content::Frame { flow: FlowId(slot.flow.0), priority: fabric.priority(slot.class), load }
    }
}
