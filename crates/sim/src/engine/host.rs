//! Hosts: the engine drives the sources and destinations of `penstock_endpoint`, by its events and on its lines.

use penstock_endpoint::{Alarms, DataSource, Flow, Limiter, LimiterId, Line, Permission, Sent, Timer, Watch};
use penstock_schemes::{Class, Instant, Octets, Out, ReactionPoint, Scheme, To};
use penstock_switch::Model;
use penstock_switch::datapath::enqueue::{Enqueued, PoolAnswer};
use penstock_switch::datapath::{Arrival, HopContext, Outbox};
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Marks, Payload, Slot};
use penstock_switch::state::port::PortState;

use crate::engine::Sim;
use crate::engine::run_state::RunState;
use crate::hosts::Sources;
use crate::network::{FlowId, HopId, NodeId, PortId};
use crate::probe::Probe;
use crate::random::Stream;
use crate::state::event::Event;
use crate::state::event_queue::EventQueue;
use crate::state::records::{FlowRecord, HostRecord};

/// The parts that sources need to send a frame, and destinations to grant one.
pub(crate) struct Outputs<'a, S: Scheme> {
    pub(crate) events: &'a mut EventQueue,
    pub(crate) outbox: &'a mut Outbox<S>,
}

impl<S: Scheme> Alarms for Outputs<'_, S> {
    #[inline(always)]
    fn wake(&mut self, at: Instant, timer: Timer, turn: u32) {
        self.events.wake(at, timer, turn);
    }
}

impl<S: Scheme> Out<S> for Outputs<'_, S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.outbox.push((to, class, signal));
    }
}

/// The same, with the statistics that change when reaction points answer.
pub(crate) struct LimiterContext<'a, S: Scheme> {
    now: Instant,
    outputs: Outputs<'a, S>,
    records: &'a mut [FlowRecord],
    hosts: &'a mut [HostRecord],
    homes: &'a [NodeId],
}

impl<S: Scheme> Alarms for LimiterContext<'_, S> {
    #[inline(always)]
    fn wake(&mut self, at: Instant, timer: Timer, turn: u32) {
        self.outputs.wake(at, timer, turn);
    }
}

impl<S: Scheme> Out<S> for LimiterContext<'_, S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.outputs.send(to, class, signal);
    }
}

impl<S: Scheme> Watch<S, Stream> for LimiterContext<'_, S> {
    fn rate_changes<X: DataSource>(&mut self, limiter: &Limiter<S, Stream>, flows: &[Flow<X>]) {
        for flow in limiter.flows() {
            let active = flows[flow.index()].active();
            self.records[flow.index()].pass_rate(self.now, limiter.rate(), active);
        }
    }

    fn limiting_changes(&mut self, limiter: LimiterId, limiting: bool) {
        self.hosts[self.homes[limiter.index()].index()].change(self.now, limiting);
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    pub(crate) fn start(&mut self, flow: FlowId) {
        self.state.pass_rate(flow);
        let now = self.state.fabric.now;
        self.state.records[flow.index()].started = Some(now);
        self.state.sources.flow_mut(flow).supply_mut().generator.begin(now);
        self.open(flow);
        if S::Rp::RANKS
            && let Some(extent) = self.state.sources.flow(flow).supply().extent()
        {
            self.announce(flow, extent);
        }
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, now, host| sources.start(now, flow, host));
        self.produce(flow);
    }

    /// A message of a flow has these octets and frames, without tags: its reaction point ranks frames by that.
    pub(crate) fn announce(&mut self, flow: FlowId, (octets, frames): (u64, u64)) {
        let sources = &mut self.state.sources;
        let tags = frames * u64::from(sources.flow(flow).tag_octets());
        sources.announce(flow, Octets(octets + tags));
    }

    pub(crate) fn stop(&mut self, flow: FlowId) {
        if self.is_connected(flow) && !self.state.sources.flow(flow).active() {
            return;
        }
        self.state.pass_rate(flow);
        let now = self.state.fabric.now;
        let state = self.state.sources.flow_mut(flow);
        state.supply_mut().generator.advance(now);
        let limiter = state.limiter();
        self.with_limiter(limiter, |sources, now, host| sources.stop(now, flow, host));
        self.clear_transmit_queue(flow);
        self.end(flow);
    }

    /// Lets a flow's generator make the frames that are due, and sees to it that never too much comes due at a time.
    pub(crate) fn generate(&mut self, flow: FlowId) {
        let fabric = &mut self.state.fabric;
        let generator = &mut self.state.sources.flow_mut(flow).supply_mut().generator;
        let work = generator.advance(fabric.now);
        if let Some(at) = generator.ask_again(fabric.now) {
            fabric.events.schedule(at, Event::Generate(flow));
        }
        self.charge(work);
    }

    /// Lets a flow's application write the octets that are due, or its generator make the frames.
    fn produce(&mut self, flow: FlowId) {
        if self.is_connected(flow) { self.write(flow) } else { self.generate(flow) }
    }

    /// The same some time after the flow's start.
    pub(crate) fn produce_again(&mut self, flow: FlowId) {
        self.housekeeping += u64::from(!self.is_connected(flow));
        self.produce(flow);
    }

    fn is_connected(&self, flow: FlowId) -> bool {
        self.state.sources.flow(flow).supply().connection.is_some()
    }

    pub(crate) fn rp_timeout(&mut self, limiter: LimiterId) {
        self.with_limiter(limiter, |sources, now, host| sources.on_rp_timeout(now, limiter, host));
        if P::FOLLOWS {
            let now = self.state.fabric.now;
            self.state.sources.limiter(limiter).flows().iter().for_each(|&flow| self.probe.timer(now, flow));
            self.pause_if_asked();
        }
    }

    /// Time passes without acknowledgements of a flow.
    pub(crate) fn silence(&mut self, flow: FlowId) {
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, now, host| sources.on_silence(now, flow, host));
    }

    /// Calls the reaction point of `limiter`, and sends its signals.
    #[inline(always)]
    pub(crate) fn with_limiter<R>(
        &mut self,
        limiter: LimiterId,
        call: impl FnOnce(&mut Sources<S>, Instant, &mut LimiterContext<'_, S>) -> R,
    ) -> R {
        self.charge_flows(limiter);
        let RunState { fabric, sources, records, hosts, .. } = &mut self.state;
        let outputs = Outputs { events: &mut fabric.events, outbox: &mut self.outbox };
        let mut host = LimiterContext { now: fabric.now, outputs, records, hosts, homes: &self.homes };
        let answer = call(sources, fabric.now, &mut host);
        if !self.outbox.is_empty() {
            self.route_from_rp(limiter);
        }
        answer
    }

    /// To go through the flows of a limiter is work: sixteen of them cost as much as one event.
    #[inline]
    fn charge_flows(&mut self, limiter: LimiterId) {
        let flows = self.state.sources.limiter(limiter).flows().len() as u64;
        if flows >= 16 {
            self.charge(flows / 16);
        }
    }

    #[cold]
    pub(crate) fn route_from_rp(&mut self, limiter: LimiterId) {
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, class, signal) in outbox.drain(..) {
            let To::Destination(key) = to else { panic!("a reaction point signals destinations only") };
            let flow = self.flow_of(key);
            let state = self.state.sources.flow(flow);
            assert_eq!(state.limiter(), limiter, "a reaction point signals its flows' destinations");
            let root = state.supply().root;
            self.send_down(flow, root, class, signal);
        }
        self.return_outbox(outbox);
    }

    /// A limiter is due, or its turn has come (`in_turn`) at a port that is settled and whose line is free: it releases a frame,
    /// unless it has to wait for the line.
    #[inline(always)]
    pub(crate) fn release(&mut self, limiter: LimiterId, in_turn: bool) {
        let port = self.state.sources.limiter(limiter).port();
        let (p, mut context) = self.state.fabric.at(port);
        if !in_turn {
            context.settle(p);
        }
        // In turn, only priority flow control can have come in between.
        if p.arbiter && (M::FULL || !in_turn) {
            let line = line_of::<S, M>(p, &self.state.sources, limiter, context.now);
            match self.state.sources.may_send(context.now, limiter, line, in_turn) {
                Permission::Send => {}
                Permission::Turn => return self.take_turn(port, limiter),
                Permission::Wait => return self.arm_turn(port),
                Permission::Parked => return,
            }
        }
        let mut outputs = Outputs { events: context.events, outbox: &mut self.outbox_of_rp };
        let sent = self.state.sources.send(context.now, limiter, &mut outputs);
        if sent.release.last {
            self.state.records[sent.flow.index()].pass_rate(
                context.now,
                self.state.sources.limiter(limiter).rate(),
                true,
            );
        }
        let source = self.state.sources.flow(sent.flow).supply();
        let slot = frame_of(&sent, context.now, source.root);
        let connected = source.connection.is_some();
        let (index, entry) = put_on_line(context, p, slot, &mut self.outbox);
        if connected {
            self.segment_sent(sent.flow, index);
        }
        if entry != Enqueued::Queued {
            self.count_refusal(index, entry);
        }
        if !self.outbox.is_empty() || (P::ARRIVALS && self.probe.sees_arrivals()) {
            self.seen_at_queue(port, sent.class, sent.release.flow, entry == Enqueued::Queued);
        }
        if sent.open {
            self.with_limiter(limiter, |sources, now, host| sources.after_send(now, limiter, host));
        }
        if !self.outbox_of_rp.is_empty() {
            std::mem::swap(&mut self.outbox, &mut self.outbox_of_rp);
            self.route_from_rp(limiter);
        }
        if P::FOLLOWS {
            self.probe.sent(sent.flow, sent.release.octets);
            self.pause_if_asked();
        }
    }

    /// A limiter asks for the free line of a host port for which nobody waits. Where it would be called in its turn by the very next
    /// event, its turn is now, and counts as an event all the same; else it waits. With flow control, ports are looked at
    /// between two events.
    #[inline(never)]
    fn take_turn(&mut self, port: PortId, limiter: LimiterId) {
        let RunState { fabric, sources, .. } = &mut self.state;
        if !(M::FULL && fabric.pauses.stops_neighbours())
            && fabric.events.would_be_first(fabric.now, Event::NicFree(port))
        {
            sources.take_turn(limiter);
            self.events_at_once += 1;
            self.release_in_turn(limiter);
        } else {
            sources.wait(fabric.now, limiter);
            self.arm_turn(port);
        }
    }

    /// The turn of a limiter has come; its release is due with it, and counts as a separate event.
    #[inline(never)]
    fn release_in_turn(&mut self, limiter: LimiterId) {
        self.events_at_once += 1;
        self.release(limiter, true);
    }

    /// Sees to it that the limiters that wait at a host port go on when its line is free.
    #[inline(never)]
    pub(crate) fn arm_turn(&mut self, port: PortId) {
        let RunState { fabric, sources, .. } = &mut self.state;
        let p = &fabric.ports[port.index()];
        if p.is_up() {
            sources.arm_turn(port, p.busy_until.max(fabric.now), &mut fabric.events);
        }
    }

    /// The line of a host port is free: the limiters that wait take their turns.
    pub(crate) fn nic_free(&mut self, port: PortId) {
        let now = self.state.fabric.now;
        if !self.state.sources.turn_due(now, port) {
            return;
        }
        self.state.fabric.settle(port);
        while self.state.fabric.idle(port) {
            let RunState { fabric, sources, .. } = &mut self.state;
            let Some(limiter) = sources.next_turn(now, port, &mut fabric.events) else { return };
            self.release_in_turn(limiter);
        }
        if self.state.sources.any_waits(port) {
            self.arm_turn(port);
        }
    }
}

/// The line of a port without queue, as a limiter finds it.
#[inline(always)]
fn line_of<S: Scheme, M: Model>(p: &PortState, sources: &Sources<S>, limiter: LimiterId, now: Instant) -> Line {
    if M::FULL && p.stops::<M>(sources.class_in_turn(limiter)) {
        Line::Stopped
    } else if p.free::<M>(now) {
        Line::Free
    } else {
        Line::Busy
    }
}

/// The frame that has been sent at `now`, before the first hop of its path.
#[inline(always)]
fn frame_of<S: Scheme>(sent: &Sent<S::Tag>, now: Instant, root: HopId) -> Slot<S> {
    Slot {
        next: FrameId::NONE,
        flow: sent.release.flow,
        hop: root,
        octets: sent.release.octets,
        class: sent.class,
        marks: Marks::last(sent.release.last),
        sent_at: now,
        seq: sent.release.seq,
        payload: Payload::Data(sent.tag),
    }
}

/// A frame goes onto the free line of a port without queue, or into the queue.
#[inline(always)]
fn put_on_line<S: Scheme, M: Model>(
    mut context: HopContext<'_, S, EventQueue, M>,
    p: &mut PortState,
    slot: Slot<S>,
    outbox: &mut Outbox<S>,
) -> (FrameId, Enqueued) {
    let (class, octets) = (slot.class, slot.octets);
    let index = context.frames.insert(slot);
    if p.arbiter {
        context.pass(p, index, class, octets);
        (index, Enqueued::Queued)
    } else {
        (index, context.enqueue(p, Arrival { index, class, octets, from: PortId::NONE }, PoolAnswer::Free, outbox))
    }
}
