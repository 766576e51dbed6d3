//! Segments and acknowledgements of transports on their paths, and the timers of their two halves.

use penstock_endpoint::TrafficClass;
use penstock_endpoint::entropy_states::Heard;
use penstock_endpoint::transport::{Ack, LARGEST_PSN, MRC_PROBE_OCTETS, Receiver, Segment, Sender};
use penstock_schemes::{FlowKey, Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::datapath::Arrival;
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Marks, Payload, Slot};

use crate::engine::Sim;
use crate::engine::run_state::RunState;
use crate::hosts::entropy::Entropy;
use crate::hosts::transport::{Carried, Reception, Transports, frame_around};
use crate::network::{FlowId, HopId, PortId, Traffic};
use crate::probe::Probe;
use crate::state::event::Event;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The frame with the segment that a flow's sender gave last is on its way.
    #[inline(never)]
    pub(crate) fn segment_sent(&mut self, flow: FlowId, frame: FrameId) {
        let RunState { fabric, sources, transports, .. } = &mut self.state;
        let state = sources.flow_mut(flow);
        let key = state.key();
        let Some(connection) = &mut state.supply_mut().connection else { return };
        if let Some(segment) = connection.taken {
            // A queue at the host's own port has seen it without these: switches alone mark and trim.
            let slot = fabric.frames.get_mut(frame);
            if segment.ect {
                slot.marks = slot.marks.with(Marks::ECN_CAPABLE);
            }
            if !connection.sender.may_be_trimmed() {
                slot.marks = slot.marks.with(Marks::WHOLE);
            }
            if M::FULL
                && let Some(values) = &mut connection.values
            {
                transports.set_entropy(frame, Some(values.next(fabric.now, &segment)));
            }
            transports.carry(frame, Carried::Segment(segment));
        }
        if connection.queue.is_none() {
            connection.watch(fabric.now, flow, key, &mut fabric.events);
        } else {
            self.left_transmit_queue(flow);
            self.watch_sender(flow);
        }
    }

    /// A flow with a connection starts: an application that is greedy has all its data.
    pub(crate) fn open(&mut self, flow: FlowId) {
        let source = self.state.sources.flow_mut(flow).supply_mut();
        let greedy = source.generator.traffic() == Traffic::Greedy;
        if let Some(connection) = source.connection.as_mut().filter(|_| greedy) {
            connection.hand_over_all();
            self.fill_transmit_queue(flow);
        }
    }

    /// The application of a flow with a connection has made the octets that are due: the sender gets them.
    pub(crate) fn write(&mut self, flow: FlowId) {
        let fabric = &mut self.state.fabric;
        let source = self.state.sources.flow_mut(flow).supply_mut();
        let Some(connection) = &mut source.connection else { return };
        let generator = &mut source.generator;
        if generator.traffic() == Traffic::Greedy {
            return;
        }
        generator.advance(fabric.now);
        connection.hand_over(generator.offered, generator.frames() == Some(0));
        if let Some(at) = generator.next_write() {
            fabric.events.schedule(at, Event::Generate(flow));
        }
        self.wake_sender(flow);
    }

    /// Something has changed for the sender of a flow.
    pub(crate) fn wake_sender(&mut self, flow: FlowId) {
        let state = self.state.sources.flow(flow);
        let (limiter, active) = (state.limiter(), state.active());
        let Some(connection) = &state.supply().connection else { return };
        if active && connection.sender.is_finished() {
            self.state.records[flow.index()].acked = Some(self.state.fabric.now);
            self.state.pass_rate(flow);
            self.with_limiter(limiter, |sources, now, host| sources.stop(now, flow, host));
        } else {
            self.fill_transmit_queue(flow);
            self.watch_sender(flow);
            self.with_limiter(limiter, |sources, now, host| sources.wake(now, limiter, host));
        }
    }

    /// Sees to it that the sender of a flow is called when its timer expires.
    pub(crate) fn watch_sender(&mut self, flow: FlowId) {
        let fabric = &mut self.state.fabric;
        let state = self.state.sources.flow_mut(flow);
        let key = state.key();
        let Some(connection) = &mut state.supply_mut().connection else { return };
        connection.watch(fabric.now, flow, key, &mut fabric.events);
    }

    /// The timer of a flow's sender has expired.
    pub(crate) fn sender_timeout(&mut self, flow: FlowId) {
        let now = self.state.fabric.now;
        let state = self.state.sources.flow_mut(flow);
        let active = state.active();
        let Some(connection) = &mut state.supply_mut().connection else { return };
        connection.armed.expire(now);
        // A flow that was stopped sends nothing again.
        if active {
            connection.sender.on_timeout(now);
            if M::FULL
                && let Some(values) = &mut connection.values
            {
                values.on_silence(now, &connection.sender);
            }
            self.wake_sender(flow);
        }
    }

    /// A frame has reached the destination of a flow with a transport.
    #[inline(always)]
    pub(crate) fn segment_arrives(&mut self, frame: FrameId) {
        let now = self.state.fabric.now;
        let slot = self.state.fabric.frames.get(frame);
        let (hop, marks, sent_at) = (slot.hop, slot.marks, slot.sent_at);
        let flow = self.state.fabric.flow_at(hop);
        let data = matches!(slot.payload, Payload::Data(_));
        let by_entropy = M::FULL && self.state.transports.by_entropy;
        if by_entropy && marks.contains(Marks::ACK) {
            return self.path_probe_arrives(frame, flow);
        }
        let by_scheme = by_entropy && matches!(&slot.payload, Payload::Data(tag) if S::label(tag).marked());
        self.arrive(frame);
        if !data {
            // A probe of the scheme.
            return;
        }
        let Transports { receptions, carried, .. } = &mut self.state.transports;
        let Some(Carried::Segment(segment)) = carried.get(frame.index()) else {
            unreachable!("data of a flow with a transport is a segment")
        };
        let Some(Some(reception)) = receptions.get_mut(flow.index()) else { return };
        if M::FULL
            && self.spray_acks
            && let Some(&back) = self.reverse_paths.get(&hop)
        {
            reception.reverse_path = back;
        }
        let acks = if marks.contains(Marks::TRIMMED) {
            reception.receiver.on_header(now, segment)
        } else {
            reception.receiver.on_segment(now, segment, marks.contains(Marks::CONGESTION_EXPERIENCED))
        };
        let delivered = reception.receiver.delivered();
        let complete = reception.size.is_some_and(|size| size <= delivered);
        let answered = if by_entropy { self.answered(frame, marks, by_scheme) } else { None };
        for ack in acks {
            self.acknowledge_segment(flow, &ack, answered);
        }
        self.watch_receiver(flow);
        if complete {
            self.complete_data(flow, delivered, sent_at);
        }
    }

    /// The entropy value of a frame that has arrived with these marks, and with that of the scheme or not.
    fn answered(&self, frame: FrameId, marks: Marks, by_scheme: bool) -> Option<Entropy> {
        let heard = match (marks.contains(Marks::TRIMMED), marks.contains(Marks::AT_LAST_HOP)) {
            (true, true) => Heard::TrimmedAtLastHop,
            (true, false) => Heard::Trimmed,
            _ if by_scheme || marks.contains(Marks::CONGESTION_EXPERIENCED) => Heard::Marked,
            _ => Heard::Arrived,
        };
        self.state.transports.entropy(frame).map(|entropy| Entropy { heard, ..entropy })
    }

    /// A probe of a path goes to the destination of a flow: MRC's header instead of data, in the flow's class. The receiver takes it for a frame that has
    /// arrived, so that it answers what it has.
    #[cold]
    fn probe_path(&mut self, flow: FlowId, entropy: Entropy, acknowledged: u32) {
        let state = self.state.sources.flow(flow);
        let (key, hop, class) = (state.key(), state.supply().root, state.class());
        let Some(connection) = &state.supply().connection else { return };
        let octets = frame_around(connection.sender.header_octets() + MRC_PROBE_OCTETS);
        let seq = acknowledged.wrapping_sub(1) & LARGEST_PSN;
        let segment = Segment { seq, len: 0, last: false, retransmission: true, ect: true, cwr: false };
        self.send_beside_data(Carried::Segment(segment), Some(entropy), (key, hop, class, octets));
    }

    /// A probe of a path has reached the destination of a flow, which answers as it would answer a duplicate.
    #[cold]
    fn path_probe_arrives(&mut self, frame: FrameId, flow: FlowId) {
        let (now, spray_acks) = (self.state.fabric.now, self.spray_acks);
        let slot = self.state.fabric.frames.get(frame);
        let (hop, marks) = (slot.hop, slot.marks);
        let by_scheme = matches!(&slot.payload, Payload::Data(tag) if S::label(tag).marked());
        self.state.fabric.frames.remove(frame);
        self.state.totals.acks_delivered += 1;
        let answered = self.answered(frame, marks, by_scheme);
        let back = self.reverse_paths.get(&hop).copied().filter(|_| spray_acks);
        let Some(&segment) = self.state.transports.segment(frame) else { return };
        let Some(reception) = self.reception(flow) else { return };
        reception.reverse_path = back.unwrap_or(reception.reverse_path);
        for ack in reception.receiver.on_segment(now, &segment, false) {
            self.acknowledge_segment(flow, &ack, answered);
        }
    }

    fn reception(&mut self, flow: FlowId) -> Option<&mut Reception> {
        self.state.transports.receptions.get_mut(flow.index())?.as_deref_mut()
    }

    /// An acknowledgement leaves a flow's destination. It answers a frame with this entropy value, or none.
    fn acknowledge_segment(&mut self, flow: FlowId, ack: &Ack, answered: Option<Entropy>) {
        let key = self.state.sources.flow(flow).key();
        let Some(reception) = self.reception(flow) else { return };
        let (octets, hop, class) =
            (frame_around(reception.receiver.ack_octets(ack)), reception.reverse_path, reception.class);
        self.send_beside_data(Carried::Ack(*ack), answered, (key, hop, class, octets));
    }

    /// An acknowledgement, or a probe, starts on its path. The last argument is the flow, the first hop, class and length.
    #[inline(always)]
    fn send_beside_data(
        &mut self,
        carried: Carried,
        entropy: Option<Entropy>,
        (key, hop, class, octets): (FlowKey, HopId, TrafficClass, u16),
    ) {
        let slot = Slot {
            next: FrameId::NONE,
            flow: key,
            hop,
            octets,
            class,
            marks: Marks::ACK,
            sent_at: self.state.fabric.now,
            seq: Octets(0),
            payload: Payload::Data(S::Tag::default()),
        };
        let index = self.state.fabric.frames.insert(slot);
        self.state.transports.carry(index, carried);
        if M::FULL && self.state.transports.by_entropy {
            self.state.transports.set_entropy(index, entropy);
        }
        self.state.totals.acks_sent += 1;
        let arrival = Arrival { index, class, octets, from: PortId::NONE };
        self.forward(self.hops[hop.index()].port, key, arrival);
    }

    /// An acknowledgement has reached the source of its flow.
    pub(crate) fn segment_ack_arrives(&mut self, frame: FrameId) {
        let now = self.state.fabric.now;
        let flow = self.state.fabric.flow_at(self.state.fabric.frames.get(frame).hop);
        self.state.fabric.frames.remove(frame);
        self.state.totals.acks_delivered += 1;
        let RunState { sources, transports, .. } = &mut self.state;
        let ack = transports.ack(frame).expect("an acknowledgement of a transport carries one");
        if let Some(connection) = &mut sources.flow_mut(flow).supply_mut().connection {
            connection.sender.on_ack(now, ack);
            if M::FULL
                && let Some(values) = &mut connection.values
                && let Some(answered) = transports.entropy(frame)
            {
                let acknowledged = ack.ack;
                values.on_answer(now, answered, ack.cut.is_some(), &connection.sender);
                let probe = values.probe(now);
                if connection.unacknowledged.is_some() {
                    self.report_acknowledgements(flow);
                }
                self.wake_sender(flow);
                if let Some(probe) = probe {
                    self.probe_path(flow, probe, acknowledged);
                }
                return;
            }
            if M::FULL && connection.unacknowledged.is_some() {
                self.report_acknowledgements(flow);
            }
            self.wake_sender(flow);
        }
    }

    /// Sees to it that the receiver of a flow is called when its timer expires.
    fn watch_receiver(&mut self, flow: FlowId) {
        let fabric = &mut self.state.fabric;
        let Some(Some(reception)) = self.state.transports.receptions.get_mut(flow.index()) else { return };
        let (event, key) = (Event::DelayedAck(flow), self.state.sources.flow(flow).key());
        reception.armed.ask(&mut fabric.events, fabric.now, reception.receiver.next_timeout(), event, key);
    }

    /// The timer of a flow's receiver has expired.
    pub(crate) fn receiver_timeout(&mut self, flow: FlowId) {
        let now = self.state.fabric.now;
        let Some(reception) = self.reception(flow) else { return };
        reception.armed.expire(now);
        if let Some(ack) = reception.receiver.on_timeout(now) {
            self.acknowledge_segment(flow, &ack, None);
        }
        self.watch_receiver(flow);
    }
}
