//! All ports together, and how frames move through them.
//!
//! A port is settled lazily: an access at time t first lets all departures up to t happen, in order, each at its own
//! time. Between two accesses nothing arrives, so the departures are determined. Thus a frame costs one event per link,
//! its delivery at the far end, and a departure at t always precedes an arrival at t.
//!
//! With priority flow control ([`Full`](crate::Full)) departures from switches have consequences elsewhere: there the end of each
//! transmission is an event as well. Ports that share memory need none ([`crate::flow_control::pool`]).

mod ecn;
pub mod enqueue;
pub mod line_capture;
mod links;
pub mod pausing;
mod scheduling;
pub mod setup;
mod telemetry;
mod watchdog;

use alloc::vec::Vec;
use core::marker::PhantomData;

use penstock_endpoint::cache::START;
use penstock_endpoint::{FlowId, PortId, TrafficClass};
use penstock_schemes::{BitRate, Class, CongestionPoint, FlowKey, Instant, Octets, Out, Scheme, To};

use crate::config::Config;
use crate::datapath::line_capture::LineCapture;
use crate::datapath::links::Fate;
use crate::datapath::setup::{CpQueue, class_of, cp_queues, ports};
use crate::events::{CpIndex, Events, FrameId, HopId, QueueId, Timer};
use crate::flow_control::deadlock::StoppedQueues;
use crate::flow_control::pause::Pauses;
use crate::model::{Model, Shared};
use crate::random::{Owner, Stream};
use crate::state::congestion_point::CpState;
use crate::state::frame::{FrameKind, Frames, GONE};
use crate::state::histograms::Histograms;
use crate::state::hop_info::{HopInfo, weight_of};
use crate::state::port::{
    CAPTURED, CREDITED, HISTOGRAMS, IMPAIRED, MARKS_AT_DEPARTURE, PAUSES, POOLED, PortState, QueueState, RETRIED,
    SCHEDULED, SHAPED,
};

/// The start of a transmission at such a port has other consequences than its end, or a scheduler chooses its frame.
const LOOKED_AT: u16 = CAPTURED | MARKS_AT_DEPARTURE | SHAPED | IMPAIRED | SCHEDULED | CREDITED | RETRIED;

/// Signals of congestion points, for the driver to send: addressee, class of the frame, signal.
pub type Outbox<S> = Vec<(To, Class, <S as Scheme>::Signal)>;

/// [`Out`] onto an [`Outbox`].
pub struct SignalSender<'a, S: Scheme>(pub &'a mut Outbox<S>);

impl<S: Scheme> Out<S> for SignalSender<'_, S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.0.push((to, class, signal));
    }
}

/// What is kept for observers, by [`Full`](crate::Full) switches alone.
#[derive(Debug, Default)]
pub struct Observed {
    /// The transmissions on captured lines.
    pub line_capture: LineCapture,
    /// Of the queues of ports with [`HISTOGRAMS`].
    pub histograms: Histograms,
}

/// A frame that comes to a port.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// Its slot.
    pub index: FrameId,
    /// The class of the queue that it is bound for.
    pub class: TrafficClass,
    /// Its length.
    pub octets: u16,
    /// The port over whose line it has come, or none.
    pub from: PortId,
}

/// All ports with their queues, lines, congestion points and frames, and the event queue.
#[derive(Debug)]
pub struct Fabric<S: Scheme, E, M: Model> {
    /// The present: the driver sets it.
    pub now: Instant,
    /// The driver.
    pub events: E,
    /// The ports.
    pub ports: Vec<PortState>,
    /// The congestion points.
    pub cps: Vec<CpState<S>>,
    /// All frames.
    pub frames: Frames<S>,
    /// How many queues each port has.
    pub per_port: u32,
    /// Octets that every frame occupies on the line beyond its own length.
    pub overhead: u32,
    /// Priority flow control; idle unless [`Full`](crate::Full).
    pub pauses: Pauses,
    /// What is kept for observers.
    pub observed: Observed,
    /// By hop.
    pub hop_info: Vec<HopInfo>,
    /// Queues that have gone on after a stop, for the driver to take out: sources before them may send again.
    pub resumed: Vec<(PortId, TrafficClass)>,
    /// Frames that the watchdog has taken out of a queue, for the driver to take out: it counts them, and removes them from [`Self::frames`].
    pub flushed: Vec<FrameId>,
    /// Frames that link-level retry has given up, likewise: the line has corrupted them.
    pub given_up: Vec<FrameId>,
    classes: Classes,
    model: PhantomData<M>,
}

/// The class of each priority; [`GONE`] where no flow has it.
pub type Classes = [TrafficClass; 8];

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// All ports of `config`, whose hops are `hop_info`, with the scheme of each class, and then of each of [`Config::own_lines`]; `seed` is that of random words.
    ///
    /// # Panics
    /// If `config` is not as its documentation says.
    pub fn new(config: &Config<'_>, hop_info: Vec<HopInfo>, configs: &[S::Config], seed: u64, events: E) -> Self {
        let cp = |queue: CpQueue| CpState {
            start: START,
            cp: {
                let mut cp = S::Cp::new(&configs[config.configuration(queue.class, queue.place.line)], queue.place);
                queue.ramp.into_iter().for_each(|ramp| cp.set_thresholds(ramp));
                cp
            },
            stream: Stream::new(seed, Owner::CongestionPoint, queue.queue.index()),
            queue: queue.queue,
            signals: 0,
            moved: 0,
            armed: Instant::NEVER,
        };
        let mut fabric = Self {
            now: Instant::ZERO,
            events,
            ports: ports(config, M::FULL, seed),
            cps: cp_queues(config, seed).into_iter().map(cp).collect(),
            frames: Frames::default(),
            per_port: config.queues_per_port() as u32,
            overhead: u32::from(config.wire_overhead),
            pauses: Pauses::new(config),
            observed: Observed::default(),
            classes: core::array::from_fn(|priority| class_of(config, priority)),
            hop_info,
            resumed: Vec::new(),
            flushed: Vec::new(),
            given_up: Vec::new(),
            model: PhantomData,
        };
        for (index, state) in (0..).map(CpIndex).zip(&mut fabric.cps) {
            state.arm(&mut fabric.events, index);
        }
        fabric.arm_links(|_| true);
        fabric
    }

    /// How many queues there are.
    pub fn queues(&self) -> u32 {
        self.ports.len() as u32 * self.per_port
    }

    /// The class of control frames: the last queue of each port.
    pub fn control_class(&self) -> TrafficClass {
        TrafficClass((self.per_port - 1) as u8)
    }

    /// The flow whose hop this is.
    pub fn flow_at(&self, hop: HopId) -> FlowId {
        self.hop_info[hop.index()].flow
    }

    /// The class of a priority; [`GONE`] where no flow has it.
    pub fn class_of(&self, priority: u8) -> TrafficClass {
        self.classes[usize::from(priority)]
    }

    /// The priority of a class; `None` for that of control frames.
    #[must_use]
    pub fn priority(&self, class: TrafficClass) -> Option<u8> {
        (0..8).find(|&priority| class != GONE && self.class_of(priority) == class)
    }

    /// A bit for each priority whose class has one among `classes`.
    #[must_use]
    pub fn priorities(&self, classes: u32) -> u8 {
        let message = |&priority: &u8| {
            let class = self.class_of(priority);
            class != GONE && classes & class.bit() != 0
        };
        (0..8).filter(message).fold(0, |mask, priority| mask | 1 << priority)
    }

    /// A port.
    #[inline(always)]
    pub fn port(&self, port: PortId) -> &PortState {
        &self.ports[port.index()]
    }

    /// The port and the class of a queue.
    pub fn port_and_class(&self, queue: QueueId) -> (PortId, TrafficClass) {
        (PortId(queue.0 / self.per_port), TrafficClass((queue.0 % self.per_port) as u8))
    }

    /// The queue of a class at a port.
    pub fn queue_at(&self, port: PortId, class: TrafficClass) -> QueueId {
        QueueId(port.0 * self.per_port + u32::from(class.0))
    }

    /// A queue, by its number in the network.
    pub fn queue(&self, queue: QueueId) -> &QueueState {
        let (port, class) = self.port_and_class(queue);
        &self.port(port).queues[class.index()]
    }

    /// Whether a frame could start on `port` at once. The port must be settled.
    #[inline]
    pub fn idle(&self, port: PortId) -> bool {
        self.port(port).free::<M>(self.now)
    }

    /// Lets every departure up to now happen.
    #[inline]
    pub fn settle(&mut self, port: PortId) {
        let (p, mut context) = self.at(port);
        context.settle(p);
    }

    /// A port, and the state that its frames touch.
    #[inline(always)]
    pub fn at(&mut self, port: PortId) -> (&mut PortState, HopContext<'_, S, E, M>) {
        let context = HopContext {
            now: self.now,
            frames: &mut self.frames,
            events: &mut self.events,
            cps: &mut self.cps,
            hop_info: &self.hop_info,
            classes: &self.classes,
            pauses: &mut self.pauses,
            observed: &mut self.observed,
            model: PhantomData,
        };
        (&mut self.ports[port.index()], context)
    }

    /// A frame has reached the far end of the line of `port`. Says whether the line is captured, or has credits or retry.
    #[inline(always)]
    pub fn cross(&mut self, port: PortId) -> bool {
        let (p, mut context) = self.at(port);
        p.hops += 1;
        // Before the frame moves on: its departure may edit its tag. And the next transmission may be due.
        if M::FULL && p.attention == POOLED {
            context.with_pool_alone().settle(p);
            return false;
        }
        context.settle(p);
        M::FULL && p.attention & (CAPTURED | CREDITED | RETRIED) != 0
    }

    /// The queues that are stopped, and the frames that wait in them.
    pub fn stopped_queues(&self) -> StoppedQueues {
        StoppedQueues::of(&self.ports, &self.pauses, &self.frames)
    }

    /// The timer of a congestion point.
    pub fn cp_timeout(&mut self, cp: CpIndex, out: &mut Outbox<S>) -> Option<QueueId> {
        let state = &self.cps[cp.index()];
        if state.armed != self.now {
            return None;
        }
        let queue = state.queue;
        let (port, class) = self.port_and_class(queue);
        // While the timer counts as under way: a departure that happens now must not ask for it again.
        self.settle(port);
        let p = self.port(port);
        let mut seen = p.queues[class.index()].seen(p.rate, p.stops::<M>(class));
        if S::Cp::MARKS {
            seen.len = Octets(p.len_to_mark(class));
        }
        let state = &mut self.cps[cp.index()];
        state.armed = Instant::NEVER;
        state.cp.on_timeout(self.now, &seen, &mut state.stream, &mut SignalSender(out));
        state.arm(&mut self.events, cp);
        Some(queue)
    }

    /// A signal of the next hop of `flow` has come to `port`, which `hop` leads over; `None` where no congestion point is there.
    pub fn cp_signal(
        &mut self,
        port: PortId,
        flow: FlowKey,
        hop: HopId,
        signal: S::Signal,
        out: &mut Outbox<S>,
    ) -> Option<QueueId> {
        self.settle(port);
        let class = self.hop_info[hop.index()].class;
        let p = &self.ports[port.index()];
        let q = &p.queues[class.index()];
        let state = self.cps.get_mut(q.cp.index())?;
        let seen = q.seen(p.rate, p.stops::<M>(class));
        state.cp.on_signal(self.now, flow, signal, &seen, &mut state.stream, &mut SignalSender(out));
        state.arm(&mut self.events, q.cp);
        Some(state.queue)
    }

    /// The line's rate changes from the next frame on.
    pub fn set_rate(&mut self, port: PortId, rate: BitRate) {
        let (p, mut context) = self.at(port);
        context.settle(p);
        p.set_rate(context.now, rate);
        if M::FULL {
            context.pauses.set_rate(port, rate);
        }
    }

    /// The line breaks: `lost` frames were on it.
    pub fn set_down(&mut self, port: PortId, lost: u64) {
        let (p, mut context) = self.at(port);
        context.settle(p);
        p.ledger.lost += lost;
        if !p.is_up() {
            return;
        }
        p.close();
        // The transmission in progress ends here.
        if p.busy_until > context.now {
            p.ledger.cut_bits += p.unsent_bits(context.now);
            p.busy_until = context.now;
        }
        if p.in_service != TrafficClass::NONE {
            context.end_service(p);
        }
        p.busy_until = Instant::NEVER;
    }

    /// The line is whole again.
    pub fn set_up(&mut self, port: PortId) {
        let (p, mut context) = self.at(port);
        if !p.is_up() {
            p.open();
            p.busy_until = context.now;
            context.settle(p);
        }
    }

    /// Brings ports to the present, for observers: those whose departures have consequences come there by events alone,
    /// or watching them would change the order of the events of one instant.
    pub fn settle_all(&mut self) {
        for port in (0..self.ports.len() as u32).map(PortId) {
            let p = self.port(port);
            if p.is_due::<M>(self.now) && !(M::FULL && p.departs_by_event()) {
                self.settle(port);
            }
        }
    }
}

/// Everything that the frames of a port touch besides the port itself, borrowed once for a whole hop. With [`Shared`] the port has a pool,
/// and nothing else of what [`Full`](crate::Full) can do: a hop need not ask for any of it.
pub struct HopContext<'a, S: Scheme, E, M: Model> {
    /// The present: the driver sets it.
    pub now: Instant,
    /// All frames.
    pub frames: &'a mut Frames<S>,
    /// The driver.
    pub events: &'a mut E,
    pub(crate) cps: &'a mut Vec<CpState<S>>,
    pub(crate) hop_info: &'a Vec<HopInfo>,
    pub(crate) classes: &'a Classes,
    pub(crate) pauses: &'a mut Pauses,
    pub(crate) observed: &'a mut Observed,
    model: PhantomData<M>,
}

impl<'a, S: Scheme, E: Events, M: Model> HopContext<'a, S, E, M> {
    /// The same for a port that has a pool and nothing else.
    #[inline(always)]
    fn with_pool_alone(self) -> HopContext<'a, S, E, Shared> {
        let HopContext { now, frames, events, cps, hop_info, classes, pauses, observed, .. } = self;
        HopContext { now, frames, events, cps, hop_info, classes, pauses, observed, model: PhantomData }
    }
}

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// Whether the queues of a port may have a pool.
    #[inline(always)]
    fn has_pool(p: &PortState) -> bool {
        M::SHARED || (M::FULL && p.pooled())
    }

    /// The same by value: a struct that is never lent as a whole stays in registers.
    #[inline(always)]
    fn reborrow(&mut self) -> HopContext<'_, S, E, M> {
        HopContext {
            now: self.now,
            frames: self.frames,
            events: self.events,
            cps: self.cps,
            hop_info: self.hop_info,
            classes: self.classes,
            pauses: self.pauses,
            observed: self.observed,
            model: PhantomData,
        }
    }

    /// Lets every departure up to now happen.
    #[inline(always)]
    pub fn settle(&mut self, p: &mut PortState) {
        if p.busy_until <= self.now {
            if p.in_service != TrafficClass::NONE {
                self.end_service(p);
            }
            if p.has_work::<M>() {
                self.reborrow().start_waiting(p);
            }
        }
    }

    /// The frame in transmission, which counted as queued until now, has left.
    #[inline(always)]
    fn end_service(&mut self, p: &mut PortState) {
        let class = core::mem::replace(&mut p.in_service, TrafficClass::NONE);
        self.depart(p, class, p.busy_until);
    }

    /// Frames wait and the line is free: transmissions start one after the other until one lasts beyond now. Pause frames
    /// go ahead of all else.
    #[inline(never)]
    fn start_waiting(mut self, p: &mut PortState) {
        if M::FULL && p.attention & LOOKED_AT != 0 {
            return self.reborrow().start_waiting_looked_at(p);
        }
        self.start_in_turn::<false>(p);
    }

    /// The same at a port with a scheduler, or whose transmissions are looked at.
    #[cold]
    fn start_waiting_looked_at(self, p: &mut PortState) {
        self.start_in_turn::<true>(p);
    }

    #[inline(always)]
    fn start_in_turn<const LOOKED: bool>(mut self, p: &mut PortState) {
        loop {
            if M::FULL && p.pauses != 0 {
                if p.pauses & PAUSES != 0 { self.send_pause(p) } else { self.send_ahead(p) }
            } else {
                let class = if LOOKED && p.attention & SCHEDULED != 0 {
                    self.choose(p)
                } else {
                    TrafficClass((31 - p.eligible::<M>().leading_zeros()) as u8)
                };
                let q = &mut p.queues[class.index()];
                let index = q.waiting.pop(self.frames);
                if q.waiting.is_empty() {
                    p.ready &= !class.bit();
                }
                let octets = self.frames.get(index).octets;
                let (frame, at) = ((index, octets), p.busy_until);
                if LOOKED {
                    self.reborrow().start_looked_at(p, class, frame, at);
                } else {
                    self.begin(p, class, frame, at, Fate::Intact);
                }
            }
            if p.busy_until > self.now {
                break;
            }
            if p.in_service != TrafficClass::NONE {
                self.end_service(p);
            }
            if LOOKED {
                p.let_go_shaped(self.now);
            }
            if !p.has_work::<M>() {
                break;
            }
        }
        if LOOKED {
            p.let_go_shaped(self.now);
        }
    }

    /// The transmission of a queued frame starts at `at`.
    #[inline(always)]
    fn start(&mut self, p: &mut PortState, class: TrafficClass, index: FrameId, octets: u16, at: Instant) {
        if M::FULL && p.attention & LOOKED_AT != 0 {
            return self.reborrow().start_looked_at(p, class, (index, octets), at);
        }
        self.begin(p, class, (index, octets), at, Fate::Intact);
    }

    #[inline(always)]
    fn begin(
        &mut self,
        p: &mut PortState,
        class: TrafficClass,
        (index, octets): (FrameId, u16),
        at: Instant,
        fate: Fate,
    ) {
        if S::Cp::STAMPS {
            self.stamp(p, (class, octets), index, at);
        }
        self.transmit(p, (index, octets), at, fate);
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
    fn transmit(&mut self, p: &mut PortState, (index, octets): (FrameId, u16), at: Instant, fate: Fate) {
        let finish = at.after(p.serialise(u32::from(octets) + p.overhead));
        p.busy_until = finish;
        let delivery = finish.after(p.latency);
        if M::FULL && p.departs_by_event() {
            self.events.wake(finish, Timer::LineFree(p.index));
        }
        if M::FULL && fate != Fate::Intact {
            self.deliver_otherwise(p, index, delivery, fate);
        } else {
            self.events.deliver(delivery, index, p.index, p.lane);
        }
    }

    /// Whether the line corrupts a frame whose transmission starts at `at`.
    #[cold]
    fn corrupts(frames: &Frames<S>, p: &mut PortState, index: FrameId, at: Instant) -> bool {
        let slot = frames.get(index);
        let (wire_octets, data) = (u32::from(slot.octets) + p.overhead, slot.kind() == FrameKind::Data);
        p.ledger.impairments.hit(at, wire_octets, data)
    }

    /// A frame goes straight onto the free line of a port without queue.
    #[inline(always)]
    pub fn pass(&mut self, p: &mut PortState, index: FrameId, class: TrafficClass, octets: u16) {
        let q = &mut p.queues[class.index()];
        q.arrived += 1;
        q.departed += 1;
        q.sent_octets += u64::from(octets);
        if M::FULL && p.attention & (CAPTURED | IMPAIRED | CREDITED | RETRIED) != 0 {
            return self.reborrow().pass_looked_at(p, class, (index, octets));
        }
        self.transmit(p, (index, octets), self.now, Fate::Intact);
    }

    /// The frame in transmission no longer counts as queued.
    #[inline(always)]
    fn depart(&mut self, p: &mut PortState, class: TrafficClass, at: Instant) {
        let (rate, stopped) = (p.rate, p.stops::<M>(class));
        if M::FULL && p.flow_controlled() {
            self.pauses.let_go(p.in_service_frame, p.in_service_octets);
        }
        if M::SHARED || (M::FULL && p.attention & (POOLED | HISTOGRAMS) != 0) {
            if Self::has_pool(p)
                && let Some(pools) = self.pauses.pools.as_deref_mut()
            {
                pools.give_back(at, p.queue(class), p.in_service_frame, p.in_service_octets);
            }
            if M::FULL && p.attention & HISTOGRAMS != 0 {
                let q = &p.queues[class.index()];
                self.observed.histograms.leaves((p.index, class), at, &q.statistics, q.len);
            }
        }
        let octets = u64::from(p.in_service_octets);
        let q = &mut p.queues[class.index()];
        q.statistics.pass_filled(at, q.len);
        q.len -= octets;
        q.sent_octets += octets;
        q.departed += 1;
        if q.len < u64::from(q.statistics.min) {
            q.statistics.min = q.len as u32;
        }
        let Some(slot) = self.frames.peek_mut(p.in_service_frame) else { return };
        let weight = weight_of(self.hop_info, slot.hop);
        let (cp, seen) = (q.cp, q.seen(rate, stopped));
        if let Some(frame) = slot.data(weight)
            && let Some(state) = self.cps.get_mut(cp.index())
        {
            state.cp.on_departure(at, frame, &seen);
            state.arm(self.events, cp);
        }
    }
}
