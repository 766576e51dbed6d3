//! Segments and acknowledgements of transports on their paths, and the timers of their two halves.

use penstock_endpoint::transport::{Ack, Receiver, Sender};
use penstock_schemes::{Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::datapath::Arrival;
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Marks, Payload, Slot};

use crate::engine::Sim;
use crate::engine::run_state::RunState;
use crate::hosts::transport::{Carried, Entropy, Reception, Transports, frame_around};
use crate::network::{FlowId, PortId, Traffic};
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
                && let Some(own) = &mut connection.entropy
            {
                let (entropy, words) = &mut **own;
                if segment.retransmission {
                    entropy.on_loss(fabric.now);
                }
                transports.set_entropy(frame, Some((entropy.next(fabric.now, words), false)));
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
        let marked = by_scheme || marks.contains(Marks::CONGESTION_EXPERIENCED.with(Marks::TRIMMED));
        let answered =
            if by_entropy { self.state.transports.entropy(frame).map(|(value, _)| (value, marked)) } else { None };
        for ack in acks {
            self.acknowledge_segment(flow, &ack, answered);
        }
        self.watch_receiver(flow);
        if complete {
            self.complete_data(flow, delivered, sent_at);
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
        self.state.transports.carry(index, Carried::Ack(*ack));
        if M::FULL && self.state.transports.by_entropy {
            self.state.transports.set_entropy(index, answered);
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
            if M::FULL
                && let Some(entropy) = &mut connection.entropy
                && let Some((value, marked)) = transports.entropy(frame)
            {
                entropy.0.on_ack(now, value, marked);
                if ack.cut.is_some() {
                    entropy.0.on_trimmed();
                }
            }
            connection.sender.on_ack(now, ack);
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
