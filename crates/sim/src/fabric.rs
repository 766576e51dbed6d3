//! All ports together, and how frames move through them.
//!
//! A port is settled lazily: an access at time t first lets all departures up to t happen, in order, each at its own
//! time. Between two accesses nothing arrives, so the departures are determined. Thus a frame costs one event per link,
//! its delivery at the far end, and a departure at t always precedes an arrival at t.
//!
//! With priority flow control (`PFC`) departures from switches have consequences elsewhere: there the end of each
//! transmission is an event as well. Ports that share memory need none ([`crate::pool`]).

use penstock_endpoint::cache::START;
use penstock_endpoint::{FlowId, PortId, TrafficClass};
use penstock_schemes::{BitRate, Class, CongestionPoint, Fate, FlowKey, Instant, Octets, Out, Scheme, To};

use crate::admission::Entry;
use crate::event::{CounterId, CpIndex, Event};
use crate::event_queue::EventQueue;
use crate::facts::{HopFacts, facts, weight_of};
use crate::frame::{FrameId, Frames, Kind};
use crate::histogram::Histograms;
use crate::memory::Memory;
use crate::network::{HopId, Network, QueueId};
use crate::pause::Pauses;
use crate::point::CpState;
use crate::port::{MARKS_AT_DEPARTURE, MARKS_BY_PORT, POOLED, PortState, QueueState, TAPPED, TRIMS};
use crate::random::{Owner, Stream};
use crate::start::{Watched, class_of, ports, watched};
use crate::taps::Taps;

/// Where congestion points' signals go until the engine routes them.
pub(crate) type Outbox<S> = Vec<(To, Class, <S as Scheme>::Signal)>;

/// [`Out`] onto an [`Outbox`].
pub(crate) struct Sender<'a, S: Scheme>(pub(crate) &'a mut Outbox<S>);

impl<S: Scheme> Out<S> for Sender<'_, S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.0.push((to, class, signal));
    }
}

/// A frame that comes to a port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) index: FrameId,
    /// The class of the queue that it is bound for.
    pub(crate) class: TrafficClass,
    pub(crate) octets: u16,
    /// The port over whose line it has come, or none.
    pub(crate) from: PortId,
}

/// All ports with their queues, lines, congestion points and frames, and the event queue.
#[derive(Debug)]
pub(crate) struct Fabric<S: Scheme, const PFC: bool> {
    pub(crate) now: Instant,
    pub(crate) events: EventQueue,
    pub(crate) ports: Vec<PortState>,
    pub(crate) cps: Vec<CpState<S>>,
    pub(crate) frames: Frames<S>,
    pub(crate) per_port: u32,
    pub(crate) overhead: u32,
    /// Priority flow control; idle unless `PFC`.
    pub(crate) pauses: Pauses,
    /// The ports whose frames the probe sees; none unless `PFC`.
    pub(crate) taps: Taps,
    /// Of the queues that have some; none unless `PFC`.
    pub(crate) histograms: Histograms,
    /// By hop.
    pub(crate) facts: Vec<HopFacts>,
    classes: Classes,
}

/// The class of each priority; [`GONE`] where no flow has it.
pub(crate) type Classes = [TrafficClass; 8];

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    pub(crate) fn new(network: &Network, configs: &[S::Config], seed: u64, events: EventQueue) -> Self {
        let cp = |watched: Watched| CpState {
            start: START,
            cp: S::Cp::new(&configs[watched.class], watched.place),
            stream: Stream::new(seed, Owner::CongestionPoint, watched.queue.index()),
            queue: watched.queue,
            signals: 0,
            moved: 0,
            armed: Instant::NEVER,
        };
        let mut fabric = Self {
            now: Instant::ZERO,
            events,
            ports: ports(network, PFC),
            cps: watched(network, seed).into_iter().map(cp).collect(),
            frames: Frames::new(),
            per_port: network.queues_per_port() as u32,
            overhead: u32::from(network.wire_overhead),
            pauses: Pauses::new(network),
            taps: Taps::default(),
            histograms: Histograms::default(),
            classes: std::array::from_fn(|priority| class_of(network, priority)),
            facts: facts(network),
        };
        for (index, state) in (0..).map(CpIndex).zip(&mut fabric.cps) {
            state.arm(&mut fabric.events, index);
        }
        fabric
    }

    /// How many queues there are.
    pub(crate) fn queues(&self) -> u32 {
        self.ports.len() as u32 * self.per_port
    }

    /// The class of control frames: the last queue of each port.
    pub(crate) fn control_class(&self) -> TrafficClass {
        TrafficClass((self.per_port - 1) as u8)
    }

    /// The flow whose hop this is.
    pub(crate) fn flow_at(&self, hop: HopId) -> FlowId {
        self.facts[hop.index()].flow
    }

    /// The class of a priority; [`GONE`] where no flow has it.
    pub(crate) fn class_of(&self, priority: u8) -> TrafficClass {
        self.classes[usize::from(priority)]
    }

    /// A port.
    #[inline(always)]
    pub(crate) fn port(&self, port: PortId) -> &PortState {
        &self.ports[port.index()]
    }

    /// The port and the class of a queue.
    pub(crate) fn place(&self, queue: QueueId) -> (PortId, TrafficClass) {
        (PortId(queue.0 / self.per_port), TrafficClass((queue.0 % self.per_port) as u8))
    }

    /// The queue of a class at a port.
    pub(crate) fn queue_at(&self, port: PortId, class: TrafficClass) -> QueueId {
        QueueId(port.0 * self.per_port + u32::from(class.0))
    }

    /// A queue, by its number in the network.
    pub(crate) fn queue(&self, queue: QueueId) -> &QueueState {
        let (port, class) = self.place(queue);
        &self.port(port).queues[class.index()]
    }

    /// Whether a frame could start on `port` at once. The port must be settled.
    #[inline]
    pub(crate) fn idle(&self, port: PortId) -> bool {
        self.port(port).free::<PFC>(self.now)
    }

    /// Lets every departure up to now happen.
    #[inline]
    pub(crate) fn settle(&mut self, port: PortId) {
        let (p, mut around) = self.at(port);
        around.settle(p);
    }

    /// A port, and the state that its frames touch.
    #[inline(always)]
    pub(crate) fn at(&mut self, port: PortId) -> (&mut PortState, Around<'_, S, PFC, false>) {
        let around = Around {
            now: self.now,
            frames: &mut self.frames,
            events: &mut self.events,
            cps: &mut self.cps,
            facts: &self.facts,
            classes: &self.classes,
            pauses: &mut self.pauses,
            taps: &mut self.taps,
            histograms: &mut self.histograms,
        };
        (&mut self.ports[port.index()], around)
    }

    /// Puts a frame into the queue of its class at `port`, or into the one that the congestion point there decides on.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Entry {
        let (p, mut around) = self.at(port);
        if PFC && p.attention == POOLED {
            let entry = around.with_pool_alone().settle_and_enqueue(p, arrival, out);
            return if entry == Entry::Unsure { self.enqueue_in_settled_pool(port, arrival, out) } else { entry };
        }
        let entry = around.settle_and_enqueue(p, arrival, out);
        if PFC && matches!(entry, Entry::Unsure | Entry::Cut(_)) {
            return self.enqueue_further(entry, port, arrival, out);
        }
        entry
    }

    /// A frame has crossed the line of `port`. Says whether the probe sees it.
    #[inline(always)]
    pub(crate) fn cross(&mut self, port: PortId) -> bool {
        let (p, mut around) = self.at(port);
        p.hops += 1;
        // Before the frame moves on: its departure may edit its tag. And the next transmission may be due.
        if PFC && p.attention == POOLED {
            around.with_pool_alone().settle(p);
            return false;
        }
        around.settle(p);
        PFC && p.tapped()
    }

    /// The timer of a congestion point.
    pub(crate) fn cp_timeout(&mut self, cp: CpIndex, out: &mut Outbox<S>) -> Option<QueueId> {
        let state = &self.cps[cp.index()];
        if state.armed != self.now {
            return None;
        }
        let queue = state.queue;
        let (port, class) = self.place(queue);
        // While the timer counts as under way: a departure that happens now must not ask for it again.
        self.settle(port);
        let p = self.port(port);
        let mut seen = p.queues[class.index()].seen(p.rate, p.stops::<PFC>(class));
        if S::Cp::MARKS {
            seen.len = Octets(p.len_to_mark(class));
        }
        let state = &mut self.cps[cp.index()];
        state.armed = Instant::NEVER;
        state.cp.on_timeout(self.now, &seen, &mut state.stream, &mut Sender(out));
        state.arm(&mut self.events, cp);
        Some(queue)
    }

    /// A signal of the next hop of `flow` has come to `port`, which `hop` leads over; `None` where no congestion point is there.
    pub(crate) fn cp_signal(
        &mut self,
        port: PortId,
        flow: FlowKey,
        hop: HopId,
        signal: S::Signal,
        out: &mut Outbox<S>,
    ) -> Option<QueueId> {
        self.settle(port);
        let class = self.facts[hop.index()].class;
        let p = &self.ports[port.index()];
        let q = &p.queues[class.index()];
        let state = self.cps.get_mut(q.cp.index())?;
        let seen = q.seen(p.rate, p.stops::<PFC>(class));
        state.cp.on_signal(self.now, flow, signal, &seen, &mut state.stream, &mut Sender(out));
        state.arm(&mut self.events, q.cp);
        Some(state.queue)
    }

    /// The line's rate changes from the next frame on.
    pub(crate) fn set_rate(&mut self, port: PortId, rate: BitRate) {
        let (p, mut around) = self.at(port);
        around.settle(p);
        p.set_rate(around.now, rate);
        if PFC {
            around.pauses.set_rate(port, rate);
        }
    }

    /// The line breaks: `lost` frames were on it.
    pub(crate) fn set_down(&mut self, port: PortId, lost: u64) {
        let (p, mut around) = self.at(port);
        around.settle(p);
        p.ledger.lost += lost;
        if !std::mem::replace(&mut p.up, false) {
            return;
        }
        p.close();
        // The transmission in progress ends here.
        if p.busy_until > around.now {
            p.ledger.cut_bits += p.unsent_bits(around.now);
            p.busy_until = around.now;
        }
        if p.in_service != TrafficClass::NONE {
            around.end_service(p);
        }
        p.busy_until = Instant::NEVER;
    }

    /// The line is whole again.
    pub(crate) fn set_up(&mut self, port: PortId) {
        let (p, mut around) = self.at(port);
        if !std::mem::replace(&mut p.up, true) {
            p.open();
            p.busy_until = around.now;
            around.settle(p);
        }
    }

    /// Brings ports to the present, for observers: those whose departures have consequences come there by events alone,
    /// or watching them would change the order of the events of one instant.
    pub(crate) fn settle_all(&mut self) {
        for port in (0..self.ports.len() as u32).map(PortId) {
            if !(PFC && self.port(port).watched()) {
                self.settle(port);
            }
        }
    }
}

/// Everything that the frames of a port touch besides the port itself, borrowed once for a whole hop. With `POOL` the port has a pool,
/// and nothing else of what the engine with flow control can do: a hop need not ask for any of it.
pub(crate) struct Around<'a, S: Scheme, const PFC: bool, const POOL: bool> {
    pub(crate) now: Instant,
    pub(crate) frames: &'a mut Frames<S>,
    pub(crate) events: &'a mut EventQueue,
    pub(crate) cps: &'a mut Vec<CpState<S>>,
    pub(crate) facts: &'a Vec<HopFacts>,
    pub(crate) classes: &'a Classes,
    pub(crate) pauses: &'a mut Pauses,
    pub(crate) taps: &'a mut Taps,
    pub(crate) histograms: &'a mut Histograms,
}

impl<'a, S: Scheme, const PFC: bool> Around<'a, S, PFC, false> {
    /// The same for a port that has a pool and nothing else.
    #[inline(always)]
    fn with_pool_alone(self) -> Around<'a, S, false, true> {
        let Around { now, frames, events, cps, facts, classes, pauses, taps, histograms } = self;
        Around { now, frames, events, cps, facts, classes, pauses, taps, histograms }
    }
}

impl<S: Scheme, const PFC: bool, const POOL: bool> Around<'_, S, PFC, POOL> {
    /// Whether the queues of a port may have a pool.
    #[inline(always)]
    fn has_pool(p: &PortState) -> bool {
        POOL || (PFC && p.pooled())
    }

    /// The same by value: a struct that is never lent as a whole stays in registers.
    #[inline(always)]
    fn reborrow(&mut self) -> Around<'_, S, PFC, POOL> {
        Around {
            now: self.now,
            frames: self.frames,
            events: self.events,
            cps: self.cps,
            facts: self.facts,
            classes: self.classes,
            pauses: self.pauses,
            taps: self.taps,
            histograms: self.histograms,
        }
    }

    /// Lets every departure up to now happen.
    #[inline(always)]
    pub(crate) fn settle(&mut self, p: &mut PortState) {
        if p.busy_until <= self.now {
            if p.in_service != TrafficClass::NONE {
                self.end_service(p);
            }
            if p.has_work::<PFC>() {
                self.reborrow().start_waiting(p);
            }
        }
    }

    /// The frame in transmission, which counted as queued until now, has left.
    #[inline(always)]
    fn end_service(&mut self, p: &mut PortState) {
        let class = std::mem::replace(&mut p.in_service, TrafficClass::NONE);
        self.depart(p, class, p.busy_until);
    }

    /// Frames wait and the line is free: transmissions start one after the other until one lasts beyond now. Pause frames
    /// go ahead of all else.
    #[inline(never)]
    fn start_waiting(mut self, p: &mut PortState) {
        loop {
            if PFC && p.pauses != 0 {
                self.send_pause(p);
            } else {
                let class = TrafficClass((31 - p.eligible::<PFC>().leading_zeros()) as u8);
                let q = &mut p.queues[class.index()];
                let index = q.waiting.pop(self.frames);
                if q.waiting.is_empty() {
                    p.ready &= !class.bit();
                }
                let octets = self.frames.get(index).octets;
                self.start(p, class, index, octets, p.busy_until);
            }
            if p.busy_until > self.now {
                break;
            }
            if p.in_service != TrafficClass::NONE {
                self.end_service(p);
            }
            if !p.has_work::<PFC>() {
                break;
            }
        }
    }

    /// The transmission of a queued frame starts at `at`.
    #[inline(always)]
    fn start(&mut self, p: &mut PortState, class: TrafficClass, index: FrameId, octets: u16, at: Instant) {
        if PFC && p.attention & (TAPPED | MARKS_AT_DEPARTURE) != 0 {
            self.reborrow().look_at_start(p, class, index, at);
        }
        if S::Cp::STAMPS {
            self.stamp(p, (class, octets), index, at);
        }
        self.transmit(p, index, octets, at);
        p.in_service_octets = octets;
        p.in_service_frame = index;
        if p.in_service_counts {
            p.in_service = class;
        } else {
            self.depart(p, class, at);
        }
    }

    /// The line is taken from `at` on.
    #[inline(always)]
    fn transmit(&mut self, p: &mut PortState, index: FrameId, octets: u16, at: Instant) {
        let wire_octets = u32::from(octets) + p.overhead;
        let finish = at.after(p.serialise(wire_octets));
        p.busy_until = finish;
        p.octets += u64::from(wire_octets);
        if PFC && p.watched() {
            self.events.schedule(finish, Event::LineFree(p.index));
        }
        let delivery = finish.after(p.latency);
        self.events.schedule_from(p.lane, delivery, Event::Deliver(index), p.index.into());
    }

    /// See [`Fabric::enqueue`].
    #[inline(always)]
    fn settle_and_enqueue(&mut self, p: &mut PortState, arrival: Arrival, out: &mut Outbox<S>) -> Entry {
        self.settle(p);
        let memory = if Self::has_pool(p) { Memory::Unknown } else { Memory::Free };
        self.enqueue(p, arrival, memory, out)
    }

    /// See [`Fabric::enqueue`]; the port is settled, and `memory` is the answer of the queue's pool. Where it is unknown the
    /// frame is taken only if it is sure to get memory.
    #[inline(always)]
    pub(crate) fn enqueue(
        &mut self,
        p: &mut PortState,
        arrival: Arrival,
        memory: Memory,
        out: &mut Outbox<S>,
    ) -> Entry {
        if (PFC || POOL) && S::Cp::ADMITS && memory == Memory::Unknown {
            return Entry::Unsure;
        }
        let admitted = if S::Cp::ADMITS { self.admit(p, arrival) } else { Some(arrival.class) };
        let Arrival { index, class, octets, from } = Arrival { class: admitted.unwrap_or(arrival.class), ..arrival };
        let (rate, stopped, marks_above) = (p.rate, p.stops::<PFC>(class), p.marks_above);
        let (special, held) = (PFC && p.is_special(), PFC && p.watched());
        let marks_above = if special && p.marks_otherwise() { u32::MAX } else { marks_above };
        let q = &mut p.queues[class.index()];
        let len = q.len + u64::from(octets);
        let mut memory = memory;
        if (PFC || POOL) && memory == Memory::Unknown {
            // A frame that its own queue might refuse or mark is not given memory before.
            if held || len > u64::from(q.plain_len) || !self.takes_memory((p.index, class), octets, len) {
                return Entry::Unsure;
            }
            memory = Memory::Taken;
        }
        let counter = if held { self.counter(from, class) } else { CounterId::NONE };
        // One that has memory already was looked at before.
        let fits = memory == Memory::Taken
            || (!(S::Cp::ADMITS && admitted.is_none())
                && self.takes_in((q, &mut p.ledger), counter, (index, class), octets, marks_above)
                && !(special && self.refuses((p.index, class, from), (octets, q.len), p.attention, memory)));
        if !fits
            && PFC
            && p.attention & TRIMS != 0
            && !(S::Cp::ADMITS && admitted.is_none())
            && self.is_cut(index, (p.index, class), p.attention)
        {
            return Entry::Cut(class);
        }
        q.arrived += 1;
        if fits {
            if (PFC || POOL) && self.histograms.are_kept() {
                self.histograms.joins((p.index, class), self.now, &q.statistics, q.len);
            }
            q.statistics.pass(self.now, q.len);
            if len > u64::from(q.statistics.max) {
                q.statistics.max = len as u32;
            }
            (q.len, q.statistics.joined) = (len, self.now);
            if held {
                self.pauses.hold(index, counter, octets);
            }
            if special && memory != Memory::Taken {
                self.pauses.take_from_pool(
                    self.now,
                    index,
                    (p.index, class, from),
                    (octets, len - u64::from(octets)),
                    counter,
                );
            }
        } else {
            q.dropped += 1;
            if self.frames.get(index).kind() != Kind::Data {
                p.ledger.drop_control(class);
            }
        }
        let (cp, seen) = (q.cp, q.seen(rate, stopped));
        if let Some(state) = self.cps.get_mut(cp.index())
            && let Some(slot) = self.frames.peek_mut(index)
            && let Some(frame) = slot.data(weight_of(self.facts, slot.hop))
        {
            let fate = if fits { Fate::Queued } else { Fate::Dropped };
            state.cp.on_arrival(self.now, frame, fate, &seen, &mut state.stream, &mut Sender(out));
            state.arm(self.events, cp);
        }
        if !fits {
            let tied = p.queues[class.index()].statistics.joined == self.now && class.index() + 1 < p.queues.len();
            p.ledger.tied += u64::from(tied);
            self.frames.remove(index);
            return Entry::Dropped;
        }
        if !(special && p.attention & MARKS_AT_DEPARTURE != 0) {
            self.ask_for_mark(p, class, index, self.now);
        }
        if special && p.attention & (MARKS_BY_PORT | MARKS_AT_DEPARTURE) == MARKS_BY_PORT {
            self.reborrow().mark_as_it_comes(p, class, index);
        }
        if p.busy_until <= self.now && !stopped {
            self.start(p, class, index, octets, self.now);
        } else {
            self.frames.get_mut(index).next = FrameId::NONE;
            p.queues[class.index()].waiting.push(self.frames, index);
            p.ready |= class.bit();
        }
        Entry::Queued
    }

    /// A frame goes straight onto the free line of a port without queue.
    #[inline(always)]
    pub(crate) fn pass(&mut self, p: &mut PortState, index: FrameId, class: TrafficClass, octets: u16) {
        let q = &mut p.queues[class.index()];
        q.arrived += 1;
        q.departed += 1;
        q.sent_octets += u64::from(octets);
        if PFC && p.tapped() {
            self.taps.frame_starts(p, None, index, self.now);
        }
        self.transmit(p, index, octets, self.now);
    }

    /// The frame in transmission no longer counts as queued.
    #[inline(always)]
    fn depart(&mut self, p: &mut PortState, class: TrafficClass, at: Instant) {
        let (rate, stopped) = (p.rate, p.stops::<PFC>(class));
        if PFC && p.watched() {
            self.pauses.let_go(p.in_service_frame, p.in_service_octets);
        }
        if Self::has_pool(p)
            && let Some(pools) = self.pauses.pools.as_deref_mut()
        {
            pools.give_back(at, p.index, class, p.in_service_frame, p.in_service_octets);
        }
        let octets = u64::from(p.in_service_octets);
        let q = &mut p.queues[class.index()];
        if (PFC || POOL) && self.histograms.are_kept() {
            self.histograms.leaves((p.index, class), at, &q.statistics, q.len);
        }
        q.statistics.pass_filled(at, q.len);
        q.len -= octets;
        q.sent_octets += octets;
        q.departed += 1;
        if q.len < u64::from(q.statistics.min) {
            q.statistics.min = q.len as u32;
        }
        let Some(slot) = self.frames.peek_mut(p.in_service_frame) else { return };
        let weight = weight_of(self.facts, slot.hop);
        let (cp, seen) = (q.cp, q.seen(rate, stopped));
        if let Some(frame) = slot.data(weight)
            && let Some(state) = self.cps.get_mut(cp.index())
        {
            state.cp.on_departure(at, frame, &seen);
            state.arm(self.events, cp);
        }
    }
}
