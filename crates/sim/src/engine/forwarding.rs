//! Frames and signals on their paths: down the tree to destinations, up the tree to sources.

use penstock_endpoint::{DestinationId, Flow, PortId, TrafficClass, acknowledged};
use penstock_schemes::{
    Class, Duration, FlowKey, NotificationPoint, Octets, ReactionPoint, Scheme, Signal, SignalKind, To,
};
use penstock_switch::Model;
use penstock_switch::datapath::enqueue::Enqueued;
use penstock_switch::datapath::{Arrival, SignalSender};
use penstock_switch::events::FrameId;
use penstock_switch::flow_control::pfc::LARGEST_SIGNAL;
use penstock_switch::state::frame::{FrameKind, Marks, Payload, Slot};
use penstock_switch::state::hop_info::weight_of;

use crate::engine::Sim;
use crate::engine::dynamic_flows::conversation::Conversation;
use crate::engine::host::Outputs;
use crate::engine::run_state::RunState;
use crate::hosts::generator::Source;
use crate::hosts::transport::Transports;
use crate::network::{Feedback, FlowId, Hop, HopId, QueueId};
use crate::probe::{Probe, SignalSeen};
use crate::state::event::{Entity, Event};
use crate::state::event_queue::NO_LANE;
use crate::state::hops::{ACK_LEAF, BRANCH, HopEnd, LEAF, LOST, RECEIVE_BUFFER, SEGMENT_LEAF, Step, TURN};

/// Where a signal comes from.
#[derive(Debug, Clone, Copy)]
enum SignalSource {
    /// The congestion point of this queue.
    Queue(QueueId),
    /// This destination.
    Destination(DestinationId),
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A frame has reached the far end of a line.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, index: FrameId) {
        let slot = self.state.fabric.frames.get_mut(index);
        let step = self.steps[slot.hop.index()];
        match slot.payload {
            Payload::Data(_) | Payload::Down(_) => {}
            Payload::Up { .. } | Payload::Back(_) | Payload::Ack { .. } => return self.ascend(index),
        }
        if step.next < LOST {
            slot.hop = step.next;
            let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
            self.cross(step.port, index);
            self.forward(step.to, flow, Arrival { index, class, octets, from: step.port });
        } else if step.next == LEAF {
            self.cross(step.port, index);
            self.arrive(index);
        } else {
            self.deliver_otherwise(index, step);
        }
    }

    /// The same where the frame's path neither goes on by one link nor ends at a destination of a scheme.
    #[inline(always)]
    fn deliver_otherwise(&mut self, index: FrameId, step: Step) {
        if step.next == SEGMENT_LEAF {
            self.cross(step.port, index);
            self.segment_arrives(index);
        } else if step.next == ACK_LEAF {
            self.cross(step.port, index);
            self.segment_ack_arrives(index);
        } else if step.next == LOST {
            // Its slot was kept for this event.
            self.state.fabric.frames.remove(index);
        } else if step.next == TURN {
            self.wait_for_turn(index);
        } else if M::FULL && step.next == RECEIVE_BUFFER {
            self.cross(step.port, index);
            self.join_receive_buffer(index, step.port);
        } else {
            self.cross(step.port, index);
            if step.next == BRANCH { self.branch(index) } else { self.choose(index) }
        }
    }

    /// The frame, of flow `flow`, joins the queue at `port`, to which its hop leads already.
    #[inline(always)]
    pub(crate) fn forward(&mut self, port: PortId, flow: FlowKey, arrival: Arrival) -> Enqueued {
        let Arrival { index, class, .. } = arrival;
        let entry = self.state.fabric.enqueue(port, arrival, &mut self.outbox);
        if entry != Enqueued::Queued {
            self.count_refusal(index, entry);
        }
        let shows = P::ARRIVALS && self.probe.sees_arrivals();
        if !self.outbox.is_empty() || (shows && self.state.fabric.frames.get(index).kind() == FrameKind::Data) {
            self.seen_at_queue(port, class, flow, entry == Enqueued::Queued);
        }
        entry
    }

    /// A congestion point has seen a frame: its signals go out, and the probe may look on.
    #[cold]
    pub(crate) fn seen_at_queue(&mut self, port: PortId, class: TrafficClass, flow: FlowKey, queued: bool) {
        let queue = self.state.fabric.queue_at(port, class);
        self.route_from_cp(queue);
        if P::ARRIVALS && self.probe.sees_arrivals() && class != self.state.fabric.control_class() {
            let len = Octets(self.state.fabric.queue(queue).len);
            let now = self.state.fabric.now;
            self.probe.arrival(now, queue, FlowId(flow.0), len, !queued);
        }
    }

    /// A copy for each branch.
    #[cold]
    pub(crate) fn branch(&mut self, index: FrameId) {
        let slot = self.state.fabric.frames.get(index).clone();
        let hop = &self.hops[slot.hop.index()];
        let (from, first, n) = (hop.port, hop.first_child.0, u32::from(hop.children));
        let extra = u64::from(n) - 1;
        self.charge(extra);
        let kind = slot.kind();
        match kind {
            FrameKind::Data => {
                self.state.totals.copies_made += extra;
                let flow = self.state.fabric.flow_at(slot.hop);
                self.state.records[flow.index()].copies += extra;
            }
            FrameKind::Header => self.state.totals.headers_sent += extra,
            FrameKind::Signal => self.state.totals.signals_sent += extra,
            FrameKind::Ack => unreachable!("acknowledgements go up the tree"),
        }
        for i in 0..n {
            let copy = if i == 0 { index } else { self.state.fabric.frames.insert(slot.clone()) };
            let next = HopId(first + i);
            self.state.fabric.frames.get_mut(copy).hop = next;
            let port = self.hops[next.index()].port;
            let (class, octets) = (slot.class, slot.octets);
            self.forward(port, slot.flow, Arrival { index: copy, class, octets, from });
        }
    }

    /// A frame has reached a destination.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, index: FrameId) {
        let RunState { fabric, sources, records, totals, transports, .. } = &mut self.state;
        let now = fabric.now;
        let hop = fabric.frames.get(index).hop;
        let HopEnd { destination: id, flow } = self.end_of_hop[hop.index()];
        let weight = weight_of(&fabric.hop_info, hop);
        let destination = &mut self.destinations[id.index()];
        let slot = fabric.frames.get_mut(index);
        let mut ack = None;
        let mut complete = false;
        if let Some(frame) = slot.data(weight) {
            if frame.trimmed {
                totals.headers_delivered += 1;
            } else {
                if records[flow.index()].deliver(u32::from(frame.octets) + fabric.overhead) {
                    complete = true;
                    self.ending = (frame.seq, frame.sent_at);
                }
                totals.frames_marked += u64::from(S::label(frame.tag).marked());
            }
            destination.on_frame(now, frame, &mut SignalSender(&mut self.outbox));
            if acknowledged::<S>() {
                let dynamic_flows = &self.dynamic_flows;
                let conversation = || dynamic_flows.conversation(flow);
                let octets = octets_as_sent(slot, sources.flow(flow), transports, conversation, index);
                ack = slot.data(weight).and_then(|frame| destination.acknowledge(now, frame, octets));
            }
        } else if let Payload::Down(signal) = slot.payload {
            totals.probes_delivered += 1;
            destination.on_signal(now, signal, &mut SignalSender(&mut self.outbox));
        }
        fabric.frames.remove(index);
        destination.arm(id, &mut fabric.events);
        if S::Np::GRANTS {
            let port = self.hops[hop.index()].back;
            self.grants[port.index()].ask(now, id, destination, port, &mut fabric.events);
        }
        if !self.outbox.is_empty() {
            self.route_from_destination(id);
        }
        if S::Np::RANKS {
            self.rank(id);
        }
        if let Some(ack) = ack {
            self.send_ack(id, hop, self.state.sources.flow(flow).key(), ack);
        }
        if complete {
            self.complete_frame(flow);
        }
    }

    /// A signal for the source has crossed one link upwards.
    pub(crate) fn ascend(&mut self, index: FrameId) {
        let hop = self.state.fabric.frames.get(index).hop;
        if hop == self.lost {
            // On a broken link; its slot was kept for this event.
            self.state.fabric.frames.remove(index);
            return;
        }
        let Hop { back: port, parent, .. } = self.hops[hop.index()];
        self.cross(port, index);
        match self.state.fabric.frames.get(index).payload {
            Payload::Back(_) => self.reaches_previous_hop(index),
            _ => match parent {
                Some(parent) => self.climb(index, parent, port),
                None => self.reaches_source(index),
            },
        }
    }

    /// The signal joins its queue towards the source over hop `hop`. It has come over the line of port `from`, or from nowhere.
    pub(crate) fn climb(&mut self, index: FrameId, hop: HopId, from: PortId) {
        let slot = self.state.fabric.frames.get_mut(index);
        slot.hop = hop;
        let (class, octets, kind) = (slot.class, slot.octets, slot.kind());
        let port = self.hops[hop.index()].back;
        let entry = self.state.fabric.enqueue(port, Arrival { index, class, octets, from }, &mut self.outbox);
        if entry == Enqueued::Dropped {
            self.count_drop(hop, kind);
        }
    }

    /// A queue has dropped a frame, whose slot nothing has taken since, or kept its header alone.
    #[cold]
    pub(crate) fn count_refusal(&mut self, index: FrameId, entry: Enqueued) {
        let slot = self.state.fabric.frames.get_mut(index);
        let (hop, kind) = (slot.hop, slot.kind());
        if entry == Enqueued::Trimmed && self.hops[hop.index()].children == 0 {
            slot.marks = slot.marks.with(Marks::AT_LAST_HOP);
        }
        match entry {
            Enqueued::Trimmed | Enqueued::TrimmedThenDropped => {
                self.count_drop(hop, FrameKind::Data);
                self.state.totals.headers_sent += 1;
                self.state.totals.frames_trimmed += 1;
                self.state.totals.headers_lost += u64::from(entry == Enqueued::TrimmedThenDropped);
            }
            Enqueued::Queued | Enqueued::Dropped => self.count_drop(hop, kind),
        }
    }

    /// A frame was dropped on its way to `hop`. Where that line is broken, it is lost on it.
    pub(crate) fn count_drop(&mut self, hop: HopId, kind: FrameKind) {
        match kind {
            FrameKind::Data => {
                let up = self.state.fabric.port(self.hops[hop.index()].port).is_up();
                let record = &mut self.state.records[self.state.fabric.flow_at(hop).index()];
                *(if up { &mut record.dropped } else { &mut record.lost }) += 1;
            }
            FrameKind::Header => self.state.totals.headers_lost += 1,
            FrameKind::Signal => self.state.totals.signals_lost += 1,
            FrameKind::Ack => self.state.totals.acks_lost += 1,
        }
    }

    /// Sends the signals that a congestion point has put into the outbox.
    #[cold]
    pub(crate) fn route_from_cp(&mut self, queue: QueueId) {
        let (port, _) = self.state.fabric.port_and_class(queue);
        let cp = self.state.fabric.queue(queue).cp;
        if let Some(state) = self.state.fabric.cps.get_mut(cp.index()) {
            state.signals += self.outbox.len() as u64;
        }
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, priority, signal) in outbox.drain(..) {
            let (To::Source(key) | To::Destination(key) | To::PreviousHop(key)) = to;
            let flow = self.flow_of(key);
            let Some(hop) = self.hop_at(flow, port) else {
                self.discard_about_acks(flow, port);
                continue;
            };
            let parent = self.hops[hop.index()].parent;
            match to {
                To::Source(_) => self.send_up(flow, parent, priority, signal, SignalSource::Queue(queue)),
                To::Destination(_) => self.send_down(flow, hop, priority, signal),
                To::PreviousHop(_) => self.send_back(flow, parent, priority, signal, queue),
            }
        }
        self.return_outbox(outbox);
    }

    /// A signal for the source of `flow` leaves a station; `hop` is the link that it takes first, upwards (`None`: it is
    /// at the source already).
    fn send_up(&mut self, flow: FlowId, hop: Option<HopId>, class: Class, signal: S::Signal, origin: SignalSource) {
        let start = hop.unwrap_or(HopId::NONE);
        let queue = if let SignalSource::Queue(queue) = origin { queue } else { QueueId::NONE };
        let index = self.signal_frame(flow, start, class, Payload::Up { signal, origin: queue });
        match (self.feedback, hop) {
            (Feedback::Ideal(delay), _) => self.send_outside(index, delay, origin),
            (Feedback::InBand, None) => self.reaches_source(index),
            (Feedback::InBand, Some(hop)) => self.climb(index, hop, PortId::NONE),
        }
    }

    /// A signal for the previous hop of `flow`: to the port of hop `parent`, if the frames come from a port at all.
    fn send_back(&mut self, flow: FlowId, parent: Option<HopId>, class: Class, signal: S::Signal, queue: QueueId) {
        let Some(parent) = parent else {
            self.state.totals.signals_sent += 1;
            self.state.totals.signals_discarded += 1;
            return;
        };
        let index = self.signal_frame(flow, parent, class, Payload::Back(signal));
        match self.feedback {
            Feedback::Ideal(delay) => self.send_outside(index, delay, SignalSource::Queue(queue)),
            Feedback::InBand => self.climb(index, parent, PortId::NONE),
        }
    }

    /// The signal travels outside of the network.
    fn send_outside(&mut self, index: FrameId, delay: Duration, origin: SignalSource) {
        let entity = match origin {
            SignalSource::Queue(queue) => Entity::from(queue),
            SignalSource::Destination(destination) => {
                Entity(self.state.fabric.queues() + self.destinations[destination.index()].number())
            }
        };
        self.state.ideal_in_flight += 1;
        let at = self.state.fabric.now + delay;
        self.state.fabric.events.schedule_from(NO_LANE, at, Event::Ideal(index), entity);
    }

    /// A signal for the destinations of `flow` leaves a station by `hop`. Probes are frames even where feedback is ideal:
    /// switches read and edit them on their way.
    pub(crate) fn send_down(&mut self, flow: FlowId, hop: HopId, class: Class, signal: S::Signal) {
        let index = self.signal_frame(flow, hop, class, Payload::Down(signal));
        let port = self.hops[hop.index()].port;
        let slot = self.state.fabric.frames.get(index);
        let (class, octets) = (slot.class, slot.octets);
        let arrival = Arrival { index, class, octets, from: PortId::NONE };
        let entry = self.state.fabric.enqueue(port, arrival, &mut self.outbox);
        if entry == Enqueued::Dropped {
            self.count_drop(hop, FrameKind::Signal);
        }
    }

    pub(crate) fn signal_frame(&mut self, flow: FlowId, hop: HopId, class: Class, payload: Payload<S>) -> FrameId {
        let (Payload::Up { signal, .. } | Payload::Down(signal) | Payload::Back(signal)) = &payload else {
            unreachable!("data frames come from limiters, acknowledgements from `send_ack`")
        };
        let octets = signal.octets();
        debug_assert!(
            octets <= LARGEST_SIGNAL,
            "a signal of {octets} octets; headroom is computed for {LARGEST_SIGNAL}"
        );
        let fabric = &mut self.state.fabric;
        let flow = self.state.sources.flow(flow);
        let class = match class {
            Class::Data => flow.class(),
            Class::Control => fabric.control_class(),
        };
        self.state.totals.signals_sent += 1;
        self.state.totals.probes_sent += u64::from(matches!(payload, Payload::Down(_)));
        fabric.frames.insert(Slot {
            next: FrameId::NONE,
            flow: flow.key(),
            hop,
            octets,
            class,
            marks: Marks::NONE,
            sent_at: fabric.now,
            seq: Octets(0),
            payload,
        })
    }

    pub(crate) fn ideal_arrival(&mut self, index: FrameId) {
        self.state.ideal_in_flight -= 1;
        match self.state.fabric.frames.get(index).payload {
            Payload::Back(_) => self.reaches_previous_hop(index),
            _ => self.reaches_source(index),
        }
    }

    /// A signal has reached the node before the one that sent it. Without a congestion point at the port of its flow it
    /// ends there.
    fn reaches_previous_hop(&mut self, index: FrameId) {
        let slot = self.state.fabric.frames.get(index);
        let Payload::Back(signal) = slot.payload else { unreachable!("only signals for previous hops end here") };
        let (flow, hop) = (slot.flow, slot.hop);
        self.state.fabric.frames.remove(index);
        let port = self.hops[hop.index()].port;
        match self.state.fabric.cp_signal(port, flow, hop, signal, &mut self.outbox) {
            Some(queue) => {
                self.state.totals.signals_to_previous_hops += 1;
                self.route_from_cp(queue);
            }
            None if self.hops[hop.index()].parent.is_none() => self.reaches_source_of(flow, signal),
            None => self.state.totals.signals_discarded += 1,
        }
    }

    /// A signal for the previous hop has reached the source, whose port has no congestion point.
    fn reaches_source_of(&mut self, key: FlowKey, signal: S::Signal) {
        let flow = self.flow_of(key);
        let limiter = self.state.sources.flow(flow).limiter();
        if self.state.sources.limiter(limiter).reaction_point().is_none() {
            self.state.totals.signals_discarded += 1;
            return;
        }
        self.state.totals.signals_to_previous_hops += 1;
        self.with_limiter(limiter, |sources, now, host| sources.on_signal(now, flow, signal, host));
        let point = self.state.sources.limiter(limiter).reaction_point();
        if let Some(priority) = point.and_then(|rp| rp.stopped_by(key)) {
            let (now, class) = (self.state.fabric.now, self.state.fabric.class_of(priority));
            self.state.sources.stop_with(now, flow, class);
            self.arm_turn(self.state.sources.limiter(limiter).port());
        }
    }

    /// A signal or an acknowledgement has reached its source.
    fn reaches_source(&mut self, index: FrameId) {
        match self.state.fabric.frames.get(index).payload {
            Payload::Up { signal, origin } => self.signal_arrives(index, signal, origin),
            Payload::Ack { from, lost, echo } => self.ack_arrives(index, from, lost, echo),
            _ => unreachable!("data frames end at destinations"),
        }
    }

    /// A signal has reached its source.
    fn signal_arrives(&mut self, index: FrameId, signal: S::Signal, origin: QueueId) {
        let &Slot { flow: key, hop, .. } = self.state.fabric.frames.get(index);
        let flow = self.flow_of(key);
        self.state.fabric.frames.remove(index);
        let limiter = self.state.sources.flow(flow).limiter();
        if self.state.sources.limiter(limiter).reaction_point().is_none() {
            self.state.totals.signals_discarded += 1;
            return;
        }
        let probes = u64::from(signal.kind() == SignalKind::Reply);
        let record = &mut self.state.records[flow.index()];
        record.signals += 1;
        record.probes += probes;
        self.state.totals.feedback_frames += 1;
        self.state.totals.probes_returned += probes;
        self.with_limiter(limiter, |sources, now, host| sources.on_signal(now, flow, signal, host));
        let rate = self.state.sources.limiter(limiter).rate();
        let origin = (origin != QueueId::NONE).then_some(origin);
        let ideal = matches!(self.feedback, Feedback::Ideal(_));
        let over = self.hops.get(hop.index()).filter(|_| !ideal).map(|hop| hop.back);
        let seen = SignalSeen { flow: FlowId(key.0), origin, over, signal: &signal, rate };
        self.probe.signal(self.state.fabric.now, &seen);
        if P::FOLLOWS {
            self.pause_if_asked();
        }
    }

    /// Sends the signals that a notification point has put into the outbox.
    #[cold]
    pub(crate) fn route_from_destination(&mut self, from: DestinationId) {
        let (own, leaf) = (self.destinations[from.index()].flow(), self.leaves[from.index()]);
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, class, signal) in outbox.drain(..) {
            let To::Source(flow) = to else { panic!("a notification point signals sources only") };
            assert_eq!(flow, own, "a notification point signals its flow's source");
            let flow = self.state.fabric.flow_at(leaf);
            self.send_up(flow, Some(leaf), class, signal, SignalSource::Destination(from));
        }
        self.return_outbox(outbox);
    }

    /// A congestion point has seen an acknowledgement and has something to say of it. No reaction point would hear it.
    fn discard_about_acks(&mut self, flow: FlowId, port: PortId) {
        let source = self.state.sources.flow(flow).supply();
        assert!(
            source.connection.is_some(),
            "a congestion point at port {} signals flow {}, which does not pass there",
            port.0,
            flow.0
        );
        self.state.totals.signals_sent += 1;
        self.state.totals.signals_discarded += 1;
    }

    /// A destination at a host's port may grant a frame.
    pub(crate) fn grant(&mut self, port: PortId) {
        let fabric = &mut self.state.fabric;
        let now = fabric.now;
        let grants = &mut self.grants[port.index()];
        let Some(id) = grants.on_timeout(now) else { return };
        let line = (port, fabric.port(port).rate, fabric.overhead);
        let mut outputs = Outputs { events: &mut fabric.events, outbox: &mut self.outbox };
        grants.grant(now, id, &mut self.destinations[id.index()], line, &mut outputs);
        self.route_from_destination(id);
    }

    /// Something has come to a destination, whose place among those of its host may be another now: those that may grant do.
    fn rank(&mut self, id: DestinationId) {
        let (now, port) = (self.state.fabric.now, self.hops[self.leaves[id.index()].index()].back);
        let ranks = &mut self.ranks[port.index()];
        ranks.note(id, &mut self.destinations[id.index()]);
        let mut place = 0;
        while let Some(id) = self.ranks[port.index()].at(place) {
            let of = self.ranks[port.index()].len() as u32;
            let destination = &mut self.destinations[id.index()];
            let goes_on = destination.grant_ranked(now, place as u32, of, &mut SignalSender(&mut self.outbox));
            if self.outbox.is_empty() {
                place += 1;
            } else {
                destination.arm(id, &mut self.state.fabric.events);
                self.ranks[port.index()].note(id, destination);
                // It has less left than before, and its place is the same or free.
                place += usize::from(self.ranks[port.index()].at(place) == Some(id));
                self.route_from_destination(id);
            }
            if !goes_on {
                break;
            }
        }
        self.charge(place as u64 / 16);
    }

    /// All octets of a flow, or of a message of it, have reached its destination.
    #[cold]
    pub(crate) fn tell_destination(&mut self, flow: FlowId) {
        if !S::Np::GRANTS && !S::Np::RANKS {
            return;
        }
        let id = self.state.records[flow.index()].first_destination;
        let now = self.state.fabric.now;
        self.destinations[id.index()].on_complete(now, &mut SignalSender(&mut self.outbox));
        self.route_from_destination(id);
        if S::Np::RANKS {
            self.rank(id);
        }
    }

    pub(crate) fn np_timeout(&mut self, id: DestinationId) {
        let fabric = &mut self.state.fabric;
        let destination = &mut self.destinations[id.index()];
        if destination.on_timeout(fabric.now, id, &mut fabric.events, &mut SignalSender(&mut self.outbox)) {
            if S::Np::GRANTS {
                let port = self.hops[self.leaves[id.index()].index()].back;
                self.grants[port.index()].ask(fabric.now, id, destination, port, &mut fabric.events);
            }
            self.route_from_destination(id);
            if S::Np::RANKS {
                self.rank(id);
            }
        }
    }
}

/// The length of frame `index`, in `slot`, as its source sent it: the header of a trimmed one says so.
#[inline(always)]
fn octets_as_sent<'a, S: Scheme>(
    slot: &Slot<S>,
    source: &Flow<Source>,
    transports: &Transports,
    conversation: impl FnOnce() -> Option<&'a Conversation>,
    index: FrameId,
) -> u16 {
    if !slot.marks.contains(Marks::TRIMMED) {
        return slot.octets;
    }
    let supply = source.supply();
    if let (None, Some(conversation)) = (&supply.connection, conversation()) {
        return conversation.frame_octets(slot.seq, supply.octets(false) + source.tag_octets());
    }
    let plain = match (&supply.connection, transports.segment(index)) {
        (Some(connection), Some(segment)) => connection.frame_octets(segment.len),
        _ => supply.octets(slot.marks.contains(Marks::LAST)),
    };
    plain + source.tag_octets()
}
