//! Frames and signals on their ways: down the tree to destinations, up the tree to sources.

use penstock_schemes::{
    Class, Duration, FlowKey, Instant, NotificationPoint, Octets, ReactionPoint, Scheme, Signal, SignalKind, To,
};

use crate::acknowledgement::acknowledged;
use crate::admission::Entry;
use crate::engine::{LEAF, LOST, NEVER, NpState, Sim, State};
use crate::event::Event;
use crate::event_queue::NO_LANE;
use crate::fabric::Sender;
use crate::frame::{Kind, Marks, NONE, Payload, Slot};
use crate::network::{Feedback, FlowId, HopId, QueueId};
use crate::pfc::LARGEST_SIGNAL;
use crate::probe::{Probe, SignalSeen};
use crate::source::FlowState;

/// Where a signal comes from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// The congestion point of this queue.
    Queue(u32),
    /// This notification point.
    Destination(u32),
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// A frame has reached the far end of a line.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get_mut(index);
        let step = self.steps[slot.hop as usize];
        let kind = match slot.payload {
            Payload::Data(_) | Payload::Down(_) => slot.kind(),
            Payload::Up { .. } | Payload::Back(_) | Payload::Ack { .. } => return self.ascend(index),
        };
        if step.next < LOST {
            slot.hop = step.next;
            let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
            self.state.fabric.cross(step.port);
            self.forward(index, step.next, flow, class, octets, step.port, kind);
        } else if step.next == LOST {
            // Its slot was kept for this event.
            self.state.fabric.frames.remove(index);
        } else {
            self.state.fabric.cross(step.port);
            if step.next == LEAF { self.arrive(index) } else { self.branch(index) }
        }
    }

    /// The frame, which has come over the line of port `from`, joins the queue of hop `next`, which is its hop already.
    #[inline(always)]
    pub(crate) fn forward(&mut self, index: u32, next: u32, flow: u32, class: u8, octets: u16, from: u32, kind: Kind) {
        let port = self.steps[next as usize].port;
        let entry = self.state.fabric.enqueue(port, index, class, octets, from, &mut self.outbox);
        if entry != Entry::Queued {
            self.count_refusal(flow, kind, entry);
        }
        if !self.outbox.is_empty() || (P::ARRIVALS && kind == Kind::Data) {
            self.seen_at_queue(port, class, flow, entry == Entry::Queued);
        }
    }

    /// A congestion point has seen a frame: its signals go out, and the probe may look on.
    #[cold]
    pub(crate) fn seen_at_queue(&mut self, port: u32, class: u8, flow: u32, queued: bool) {
        let queue = port * self.state.fabric.per_port + u32::from(class);
        self.route_from_cp(queue);
        if P::ARRIVALS && class != self.state.fabric.control_class() {
            let len = Octets(self.state.fabric.queue(queue).len);
            let now = Instant(self.state.fabric.now);
            self.probe.arrival(now, QueueId(queue), FlowId(flow), len, !queued);
        }
    }

    /// A copy for each branch.
    #[cold]
    pub(crate) fn branch(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get(index).clone();
        let hop = &self.hops[slot.hop as usize];
        let (from, first, n) = (hop.port.0, hop.first_child.0, u32::from(hop.children));
        let extra = u64::from(n) - 1;
        self.charge(extra);
        let kind = slot.kind();
        match kind {
            Kind::Data => {
                self.state.totals.copies_made += extra;
                self.state.flows[slot.flow as usize].copies += extra;
            }
            Kind::Header => self.state.totals.headers_sent += extra,
            Kind::Signal => self.state.totals.signals_sent += extra,
            Kind::Ack => unreachable!("acknowledgements go up the tree"),
        }
        for i in 0..n {
            let copy = if i == 0 { index } else { self.state.fabric.frames.insert(slot.clone()) };
            let next = first + i;
            self.state.fabric.frames.get_mut(copy).hop = next;
            self.forward(copy, next, slot.flow, slot.class, slot.octets, from, kind);
        }
    }

    /// A frame has reached a destination.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, index: u32) {
        let State { fabric, flows, totals, .. } = &mut self.state;
        let now = fabric.now;
        let (flow_index, hop) = {
            let slot = fabric.frames.get(index);
            (slot.flow, slot.hop)
        };
        let weight = fabric.weight_of(flow_index);
        let np = self.np_of_hop[hop as usize];
        let state = &mut self.nps[np as usize];
        let slot = fabric.frames.get_mut(index);
        let mut ack = None;
        if let Some(frame) = slot.data(weight) {
            let flow = &mut flows[flow_index as usize];
            if frame.trimmed {
                totals.headers_delivered += 1;
            } else {
                flow.delivered += 1;
                flow.delivered_octets += u64::from(frame.octets) + u64::from(fabric.overhead);
                if flow.delivered == flow.expected {
                    flow.completed = Some(Instant(now));
                }
            }
            state.np.on_frame(Instant(now), frame, &mut state.stream, &mut Sender(&mut self.outbox));
            if acknowledged::<S>() {
                ack = state.acknowledge(now, slot, weight, flow);
            }
        } else if let Payload::Down(signal) = slot.payload {
            totals.probes_delivered += 1;
            state.np.on_signal(
                Instant(now),
                FlowState::key(flow_index),
                signal,
                &mut state.stream,
                &mut Sender(&mut self.outbox),
            );
        }
        fabric.frames.remove(index);
        state.arm(&mut fabric.events, np);
        if !self.outbox.is_empty() {
            self.route_from_np(np);
        }
        if let Some(ack) = ack {
            self.send_ack(np, ack);
        }
    }

    /// A signal for the source has crossed one link upwards.
    pub(crate) fn ascend(&mut self, index: u32) {
        let Some(hop) = self.hops.get(self.state.fabric.frames.get(index).hop as usize) else {
            // Lost on a broken link; its slot was kept for this event.
            self.state.fabric.frames.remove(index);
            return;
        };
        let (port, parent) = (hop.back.0, hop.parent);
        self.state.fabric.cross(port);
        match self.state.fabric.frames.get(index).payload {
            Payload::Back(_) => self.reaches_previous_hop(index),
            _ => match parent {
                Some(parent) => self.climb(index, parent, port),
                None => self.reaches_source(index),
            },
        }
    }

    /// The signal joins its queue towards the source over hop `hop`. It has come over the line of port `from`, or from nowhere
    /// ([`NONE`]).
    pub(crate) fn climb(&mut self, index: u32, hop: HopId, from: u32) {
        let slot = self.state.fabric.frames.get_mut(index);
        slot.hop = hop.0;
        let (flow, class, octets, kind) = (slot.flow, slot.class, slot.octets, slot.kind());
        let port = self.hops[hop.index()].back.0;
        let entry = self.state.fabric.enqueue(port, index, class, octets, from, &mut self.outbox);
        if entry == Entry::Dropped {
            self.count_drop(flow, kind);
        }
    }

    /// A queue has dropped a frame, or kept its header alone.
    #[cold]
    pub(crate) fn count_refusal(&mut self, flow: u32, kind: Kind, entry: Entry) {
        self.count_drop(flow, kind);
        if entry == Entry::Trimmed {
            self.state.totals.headers_sent += 1;
        }
    }

    pub(crate) fn count_drop(&mut self, flow: u32, kind: Kind) {
        match kind {
            Kind::Data => self.state.flows[flow as usize].dropped += 1,
            Kind::Header => self.state.totals.headers_lost += 1,
            Kind::Signal => self.state.totals.signals_lost += 1,
            Kind::Ack => self.state.totals.acks_lost += 1,
        }
    }

    /// Sends what a congestion point has put into the outbox.
    #[cold]
    pub(crate) fn route_from_cp(&mut self, queue: u32) {
        let port = queue / self.state.fabric.per_port;
        let cp = self.state.fabric.queue(queue).cp;
        if let Some(state) = self.state.fabric.cps.get_mut(cp as usize) {
            state.signals += self.outbox.len() as u64;
        }
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, priority, signal) in outbox.drain(..) {
            let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow)) | To::PreviousHop(FlowKey(flow))) = to;
            let hop = self.routes.hop(flow, port);
            let parent = self.hops[hop.index()].parent;
            match to {
                To::Source(_) => self.send_up(flow, parent, priority, signal, Origin::Queue(queue)),
                To::Destination(_) => self.send_down(flow, hop, priority, signal),
                To::PreviousHop(_) => self.send_back(flow, parent, priority, signal, queue),
            }
        }
        self.return_outbox(outbox);
    }

    /// A signal for the source of `flow` leaves a station; `hop` is the link that it takes first, upwards (`None`: it is
    /// at the source already).
    fn send_up(&mut self, flow: u32, hop: Option<HopId>, class: Class, signal: S::Signal, origin: Origin) {
        let start = hop.map_or(NONE, |h| h.0);
        let queue = if let Origin::Queue(queue) = origin { queue } else { NONE };
        let index = self.signal_frame(flow, start, class, Payload::Up { signal, origin: queue });
        match (self.feedback, hop) {
            (Feedback::Ideal(delay), _) => self.send_outside(index, delay, origin),
            (Feedback::InBand, None) => self.reaches_source(index),
            (Feedback::InBand, Some(hop)) => self.climb(index, hop, NONE),
        }
    }

    /// A signal for the previous hop of `flow`: to the port of hop `parent`, if the frames come from a port at all.
    fn send_back(&mut self, flow: u32, parent: Option<HopId>, class: Class, signal: S::Signal, queue: u32) {
        let Some(parent) = parent else {
            self.state.totals.signals_sent += 1;
            self.state.totals.signals_discarded += 1;
            return;
        };
        let index = self.signal_frame(flow, parent.0, class, Payload::Back(signal));
        match self.feedback {
            Feedback::Ideal(delay) => self.send_outside(index, delay, Origin::Queue(queue)),
            Feedback::InBand => self.climb(index, parent, NONE),
        }
    }

    /// The signal travels outside of the network.
    fn send_outside(&mut self, index: u32, delay: Duration, origin: Origin) {
        let entity = match origin {
            Origin::Queue(queue) => queue,
            Origin::Destination(np) => self.state.fabric.queues() + np,
        };
        self.state.ideal_in_flight += 1;
        let at = self.state.fabric.now + delay.0;
        self.state.fabric.events.schedule_from(NO_LANE, at, Event::Ideal(index), entity);
    }

    /// A signal for the destinations of `flow` leaves a station by `hop`. Probes are frames even where feedback is ideal:
    /// switches read and edit them on their way.
    pub(crate) fn send_down(&mut self, flow: u32, hop: HopId, class: Class, signal: S::Signal) {
        let index = self.signal_frame(flow, hop.0, class, Payload::Down(signal));
        let port = self.hops[hop.index()].port.0;
        let slot = self.state.fabric.frames.get(index);
        let (class, octets) = (slot.class, slot.octets);
        let entry = self.state.fabric.enqueue(port, index, class, octets, NONE, &mut self.outbox);
        if entry == Entry::Dropped {
            self.count_drop(flow, Kind::Signal);
        }
    }

    pub(crate) fn signal_frame(&mut self, flow: u32, hop: u32, class: Class, payload: Payload<S>) -> u32 {
        let (Payload::Up { signal, .. } | Payload::Down(signal) | Payload::Back(signal)) = &payload else {
            unreachable!("data frames come from limiters, acknowledgements from `send_ack`")
        };
        let octets = signal.octets();
        debug_assert!(
            octets <= LARGEST_SIGNAL,
            "a signal of {octets} octets; head-room is computed for {LARGEST_SIGNAL}"
        );
        let fabric = &mut self.state.fabric;
        let class = match class {
            Class::Data => fabric.class_of(flow),
            Class::Control => fabric.control_class(),
        };
        self.state.totals.signals_sent += 1;
        self.state.totals.probes_sent += u64::from(matches!(payload, Payload::Down(_)));
        let sent_at = fabric.now;
        let marks = Marks::NONE;
        fabric.frames.insert(Slot { next: NONE, flow, hop, octets, class, marks, sent_at, seq: 0, at: 0, payload })
    }

    pub(crate) fn ideal_arrival(&mut self, index: u32) {
        self.state.ideal_in_flight -= 1;
        match self.state.fabric.frames.get(index).payload {
            Payload::Back(_) => self.reaches_previous_hop(index),
            _ => self.reaches_source(index),
        }
    }

    /// A signal has reached the node before the one that sent it. Without a congestion point at the port of its flow it
    /// ends there.
    fn reaches_previous_hop(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get(index);
        let Payload::Back(signal) = slot.payload else { unreachable!("only signals for previous hops end here") };
        let (flow, hop) = (slot.flow, slot.hop);
        self.state.fabric.frames.remove(index);
        let port = self.hops[hop as usize].port.0;
        match self.state.fabric.cp_signal(port, flow, signal, &mut self.outbox) {
            Some(queue) => {
                self.state.totals.signals_to_previous_hops += 1;
                self.route_from_cp(queue.0);
            }
            None => self.state.totals.signals_discarded += 1,
        }
    }

    /// A signal or an acknowledgement has reached its source.
    fn reaches_source(&mut self, index: u32) {
        match self.state.fabric.frames.get(index).payload {
            Payload::Up { signal, origin } => self.signal_arrives(index, signal, origin),
            Payload::Ack { np, lost, echo } => self.ack_arrives(index, np, lost, echo),
            _ => unreachable!("data frames end at destinations"),
        }
    }

    /// A signal has reached its source.
    fn signal_arrives(&mut self, index: u32, signal: S::Signal, origin: u32) {
        let flow = self.state.fabric.frames.get(index).flow;
        self.state.fabric.frames.remove(index);
        let now = Instant(self.state.fabric.now);
        let limiter_index = self.state.flows[flow as usize].limiter;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let Some(rp) = &mut limiter.rp else {
            self.state.totals.signals_discarded += 1;
            return;
        };
        rp.on_signal(now, FlowState::key(flow), signal, &mut limiter.stream, &mut Sender(&mut self.outbox));
        let rate = rp.allowance().rate;
        let probes = u64::from(signal.kind() == SignalKind::Reply);
        let flow_state = &mut self.state.flows[flow as usize];
        flow_state.signals += 1;
        flow_state.probes += probes;
        self.state.totals.feedback_frames += 1;
        self.state.totals.probes_returned += probes;
        let origin = (origin != NONE).then_some(QueueId(origin));
        self.probe.signal(now, &SignalSeen { flow: FlowId(flow), origin, signal: &signal, rate });
        self.after_rp(limiter_index);
    }

    /// Sends what a notification point has put into the outbox.
    #[cold]
    pub(crate) fn route_from_np(&mut self, np: u32) {
        let NpState { flow, leaf, .. } = self.nps[np as usize];
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, class, signal) in outbox.drain(..) {
            let To::Source(FlowKey(to)) = to else { panic!("a notification point signals sources only") };
            assert_eq!(to, flow, "a notification point signals the source of its own flow");
            self.send_up(flow, Some(HopId(leaf)), class, signal, Origin::Destination(np));
        }
        self.return_outbox(outbox);
    }

    pub(crate) fn np_timeout(&mut self, np: u32) {
        let state = &mut self.nps[np as usize];
        if state.armed == self.state.fabric.now {
            state.armed = NEVER;
            let now = Instant(self.state.fabric.now);
            state.np.on_timeout(now, &mut state.stream, &mut Sender(&mut self.outbox));
            state.arm(&mut self.state.fabric.events, np);
            self.route_from_np(np);
        }
    }
}
