//! A network interface that is polled: one port, its line, its sources, its destinations, its timers.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use penstock_schemes::{BitRate, Class, Draw, Duration, FlowKey, Frame, Instant, Out, Scheme, Signal, To};

use crate::destination::{Acknowledgement, Destination};
use crate::flow::FlowSpec;
use crate::grants::Grants;
use crate::ids::{DestinationId, FlowId, LimiterId, PortId, TrafficClass};
use crate::limiter::LimiterSpec;
use crate::pacer::Pacer;
use crate::source::DataSource;
use crate::sources::{Line, Permission, Sent, Sources, Watch};
use crate::timer::{Alarms, Timer, Timers};

/// A frame that leaves.
#[derive(Debug, Clone, Copy)]
pub struct Transmit<S: Scheme> {
    /// When its transmission starts.
    pub at: Instant,
    /// When its transmission ends.
    pub end: Instant,
    /// Its length, octets with FCS.
    pub octets: u16,
    /// The frame itself.
    pub frame: Outgoing<S>,
}

/// A frame by its kind.
#[derive(Debug, Clone, Copy)]
pub enum Outgoing<S: Scheme> {
    /// Data of a flow.
    Data(Sent<S::Tag>),
    /// A signal of a reaction point or of a notification point.
    Signal {
        /// Its addressee.
        to: To,
        /// Its priority.
        class: Class,
        /// Its content.
        signal: S::Signal,
    },
    /// An acknowledgement by a destination.
    Acknowledgement {
        /// Which destination.
        from: DestinationId,
        /// The flow whose frames are acknowledged.
        flow: FlowKey,
        /// Its content.
        acknowledgement: Acknowledgement<S::Echo>,
    },
}

/// A network interface with one port. Its order of calls:
///
/// - *Inputs* ([`start`](Self::start), [`on_signal`](Self::on_signal), [`on_ack`](Self::on_ack), …) at the times at which
///   they happen. Those of an instant come before its polls.
/// - [`poll_transmit`](Self::poll_transmit) until it gives nothing: the frames that leave, each with its time.
/// - [`next_timeout`](Self::next_timeout): the latest time of the next poll, so that no frame leaves late.
///
/// A poll that comes late gives the frames with the times at which they were due. So frames and times do not depend on when it
/// is polled, as long as inputs come in order.
#[derive(Debug, Clone)]
pub struct Nic<S: Scheme, X, D> {
    sources: Sources<S, X, D>,
    destinations: Vec<Destination<S, D>>,
    grants: Grants,
    /// The class of the signals of each destination.
    classes: Vec<TrafficClass>,
    desk: Desk<S>,
    line: Transmitter<S>,
}

/// The only port.
const PORT: PortId = PortId(0);

/// One picosecond.
const LEAST: Duration = Duration(1);

impl<S: Scheme, X: DataSource, D: Draw> Nic<S, X, D> {
    /// A network interface whose line has `rate`. `overhead` are the octets that every frame occupies on the line beyond its
    /// own length.
    ///
    /// # Panics
    /// If `rate` is zero.
    #[must_use]
    pub fn new(rate: BitRate, overhead: u16) -> Self {
        assert!(rate > BitRate::ZERO, "a line of 0 bit/s sends nothing: its rate must be above zero");
        Self {
            sources: Sources::new(1, overhead),
            destinations: Vec::new(),
            grants: Grants::default(),
            classes: Vec::new(),
            desk: Desk { timers: Timers::default(), signals: Vec::new() },
            line: Transmitter::new(rate, overhead),
        }
    }

    /// Adds a limiter with a reaction point of the scheme.
    pub fn add_limiter(&mut self, config: &S::Config, pacer: Pacer, draw: D) -> LimiterId {
        self.limiter_with(Some(config), pacer, draw)
    }

    /// Adds a limiter for traffic that nothing controls: its rate is the line's.
    pub fn add_uncontrolled(&mut self, pacer: Pacer, draw: D) -> LimiterId {
        self.limiter_with(None, pacer, draw)
    }

    fn limiter_with(&mut self, config: Option<&S::Config>, pacer: Pacer, draw: D) -> LimiterId {
        self.sources.add_limiter(LimiterSpec::new(PORT, self.line.rate, pacer, config, draw), true)
    }

    /// Adds a flow behind `limiter`. All flows of a limiter have one class.
    ///
    /// # Panics
    /// If there is no such limiter.
    pub fn add_flow(&mut self, limiter: LimiterId, spec: FlowSpec, supply: X) -> FlowId {
        self.sources.add_flow(limiter, spec, supply)
    }

    /// Adds a destination of a flow that another interface sends; its signals with the priority of data go in `class`.
    pub fn add_destination(
        &mut self,
        config: &S::Config,
        flow: FlowKey,
        class: TrafficClass,
        draw: D,
    ) -> DestinationId {
        let id = DestinationId(self.destinations.len() as u32);
        self.destinations.push(Destination::new(config, flow, id.0, draw));
        self.classes.push(class);
        id
    }

    /// The flows and limiters.
    #[must_use]
    pub fn sources(&self) -> &Sources<S, X, D> {
        &self.sources
    }

    /// `flow` starts.
    pub fn start(&mut self, now: Instant, flow: FlowId) {
        self.expire(now);
        self.sources.start(now, flow, &mut self.desk);
        self.post(now);
    }

    /// `flow` is stopped: it sends no more.
    pub fn stop(&mut self, now: Instant, flow: FlowId) {
        self.expire(now);
        self.sources.stop(now, flow, &mut self.desk);
        self.post(now);
    }

    /// Lets the data of `flow` be changed, as by an application that writes: its [`DataSource::when`] may become earlier.
    pub fn write(&mut self, now: Instant, flow: FlowId, change: impl FnOnce(&mut X)) {
        self.expire(now);
        let state = self.sources.flow_mut(flow);
        change(state.supply_mut());
        let limiter = state.limiter();
        self.sources.wake(now, limiter, &mut self.desk);
    }

    /// A signal for the source of `flow` has come.
    pub fn on_signal(&mut self, now: Instant, flow: FlowId, signal: S::Signal) {
        self.expire(now);
        self.sources.on_signal(now, flow, signal, &mut self.desk);
        self.post(now);
    }

    /// An acknowledgement of the `destination`-th destination of `flow` has come.
    pub fn on_ack(
        &mut self,
        now: Instant,
        flow: FlowId,
        destination: usize,
        acknowledgement: Acknowledgement<S::Echo>,
    ) {
        self.expire(now);
        self.sources.on_ack(now, flow, destination, acknowledgement, &mut self.desk);
        self.post(now);
    }

    /// A data frame has come to one of the destinations. Its source had sent it with `octets`: more than it has where a queue
    /// has cut it down to its header.
    pub fn on_frame(&mut self, now: Instant, to: DestinationId, mut frame: Frame<'_, S::Tag>, octets: u16) {
        self.expire(now);
        let destination = &mut self.destinations[to.index()];
        destination.on_frame(now, again(&mut frame), &mut self.desk);
        let answer = destination.acknowledge(now, frame, octets);
        destination.arm(to, &mut self.desk);
        self.grants.ask(now, to, destination, PORT, &mut self.desk.timers);
        self.post_from(now, to);
        if let Some(acknowledgement) = answer {
            let destination = &self.destinations[to.index()];
            let (flow, octets) = (destination.flow(), destination.acknowledgement_octets());
            let frame = Outgoing::Acknowledgement { from: to, flow, acknowledgement };
            self.line.queue(now, Class::Control, TrafficClass::NONE, octets, frame);
        }
    }

    /// A signal for one of the destinations has come.
    pub fn on_probe(&mut self, now: Instant, to: DestinationId, signal: S::Signal) {
        self.expire(now);
        let destination = &mut self.destinations[to.index()];
        destination.on_signal(now, signal, &mut self.desk);
        destination.arm(to, &mut self.desk);
        self.grants.ask(now, to, destination, PORT, &mut self.desk.timers);
        self.post_from(now, to);
    }

    /// Priority flow control stops `class`: no frame of it starts from now on.
    pub fn pause(&mut self, now: Instant, class: TrafficClass) {
        self.expire(now);
        self.line.settle(now);
        self.line.stopped |= class.bit();
    }

    /// Priority flow control lets `class` go on.
    pub fn resume(&mut self, now: Instant, class: TrafficClass) {
        self.expire(now);
        self.line.settle(now);
        self.line.stopped &= !class.bit();
        // A waiting frame starts now, not when the line became free.
        self.line.busy_until = self.line.busy_until.max(now);
        self.sources.unpark(now, PORT, class);
        self.arm_turn(now);
    }

    /// The next frame that leaves up to `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit<S>> {
        self.expire(now + LEAST);
        self.line.settle(now);
        self.line.sent.pop_front()
    }

    /// When something happens next by itself; `None` if nothing does. It may turn out to be nothing.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let line = self.line.next_start();
        [self.desk.timers.next(), line].into_iter().flatten().min()
    }

    /// Handles all timers before `limit`, each at its time.
    fn expire(&mut self, limit: Instant) {
        while let Some((at, timer)) = self.desk.timers.expire(limit) {
            match timer {
                Timer::Release(limiter) => {
                    if self.sources.due(at, limiter) {
                        self.release(at, limiter, false);
                    }
                }
                Timer::Turn(_) => self.turn(at),
                Timer::ReactionPoint(limiter) => self.sources.on_rp_timeout(at, limiter, &mut self.desk),
                Timer::Silence(flow) => self.sources.on_silence(at, flow, &mut self.desk),
                Timer::Destination(own) => {
                    let destination = &mut self.destinations[own.index()];
                    let mut timers = core::mem::take(&mut self.desk.timers);
                    destination.on_timeout(at, own, &mut timers, &mut self.desk);
                    self.desk.timers = timers;
                    self.grants.ask(at, own, &mut self.destinations[own.index()], PORT, &mut self.desk.timers);
                    self.post_from(at, own);
                }
                Timer::Grant(_) => self.grant(at),
            }
            self.post(at);
        }
    }

    /// Lets a frame of `limiter` go, or lets it wait.
    fn release(&mut self, now: Instant, limiter: LimiterId, in_turn: bool) {
        self.line.settle(now);
        let line = match self.line.busy_until <= now {
            _ if self.line.stops(self.sources.class_in_turn(limiter)) => Line::Stopped,
            true => Line::Free,
            false => Line::Busy,
        };
        match self.sources.may_send(now, limiter, line, in_turn) {
            Permission::Send => {
                let sent = self.sources.send(now, limiter, &mut self.desk);
                self.line.start(now, sent.release.octets, Outgoing::Data(sent));
                if sent.open {
                    self.sources.after_send(now, limiter, &mut self.desk);
                }
            }
            Permission::Turn => {
                self.sources.wait(now, limiter);
                self.arm_turn(now);
            }
            Permission::Wait => self.arm_turn(now),
            Permission::Parked => {}
        }
    }

    /// Sees to it that the limiters that wait go on when the line is free.
    fn arm_turn(&mut self, now: Instant) {
        self.sources.arm_turn(PORT, self.line.busy_until.max(now), &mut self.desk);
    }

    /// A destination may grant a frame.
    fn grant(&mut self, now: Instant) {
        if let Some(own) = self.grants.on_timeout(now) {
            let line = (PORT, self.line.rate, self.sources.overhead());
            self.grants.grant(now, own, &mut self.destinations[own.index()], line, &mut self.desk);
            self.post_from(now, own);
        }
    }

    /// The line is free, or so it was thought: limiters take their turns.
    fn turn(&mut self, now: Instant) {
        if !self.sources.turn_due(now, PORT) {
            return;
        }
        self.line.settle(now);
        while self.line.busy_until <= now {
            let Some(limiter) = self.sources.next_turn(now, PORT, &mut self.desk) else { return };
            self.release(now, limiter, true);
        }
        self.arm_turn(now);
    }

    /// The signals of reaction points join the line.
    fn post(&mut self, now: Instant) {
        for (to, class, signal) in self.desk.signals.drain(..) {
            let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow)) | To::PreviousHop(FlowKey(flow))) = to;
            let own = self.sources.flow(FlowId(flow)).class();
            self.line.queue(now, class, own, signal.octets(), Outgoing::Signal { to, class, signal });
        }
    }

    /// The signals of destination `from` join the line.
    fn post_from(&mut self, now: Instant, from: DestinationId) {
        let own = self.classes[from.index()];
        for (to, class, signal) in self.desk.signals.drain(..) {
            self.line.queue(now, class, own, signal.octets(), Outgoing::Signal { to, class, signal });
        }
    }
}

/// The same frame once more.
fn again<'a, T>(frame: &'a mut Frame<'_, T>) -> Frame<'a, T> {
    Frame {
        flow: frame.flow,
        octets: frame.octets,
        weight: frame.weight,
        seq: frame.seq,
        last: frame.last,
        trimmed: frame.trimmed,
        sent_at: frame.sent_at,
        tag: frame.tag,
    }
}

/// Where timers and signals are kept.
#[derive(Debug, Clone)]
struct Desk<S: Scheme> {
    timers: Timers,
    signals: Vec<(To, Class, S::Signal)>,
}

impl<S: Scheme> Alarms for Desk<S> {
    fn wake(&mut self, at: Instant, timer: Timer, turn: u32) {
        self.timers.wake(at, timer, turn);
    }
}

impl<S: Scheme> Out<S> for Desk<S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.signals.push((to, class, signal));
    }
}

/// Ignores every change.
impl<S: Scheme, D> Watch<S, D> for Desk<S> {}

/// The line, and the frames that wait for it: signals and acknowledgements, those with the priority of control first.
#[derive(Debug, Clone)]
struct Transmitter<S: Scheme> {
    rate: BitRate,
    overhead: u32,
    /// End of the transmission in progress, or of the last one.
    busy_until: Instant,
    /// Carried from frame to frame, in 1/rate picoseconds, so that the line's rate is kept exactly.
    remainder: u64,
    /// A bit for each class that priority flow control stops.
    stopped: u32,
    control: VecDeque<Queued<S>>,
    data: VecDeque<Queued<S>>,
    /// Frames that have left, for the driver's next poll.
    sent: VecDeque<Transmit<S>>,
}

/// A frame that waits for the line.
#[derive(Debug, Clone, Copy)]
struct Queued<S: Scheme> {
    /// Since when.
    since: Instant,
    class: TrafficClass,
    octets: u16,
    frame: Outgoing<S>,
}

impl<S: Scheme> Transmitter<S> {
    fn new(rate: BitRate, overhead: u16) -> Self {
        Self {
            rate,
            overhead: u32::from(overhead),
            busy_until: Instant::ZERO,
            remainder: 0,
            stopped: 0,
            control: VecDeque::new(),
            data: VecDeque::new(),
            sent: VecDeque::new(),
        }
    }

    fn stops(&self, class: TrafficClass) -> bool {
        self.stopped & class.bit() != 0
    }

    fn queue(&mut self, since: Instant, priority: Class, class: TrafficClass, octets: u16, frame: Outgoing<S>) {
        // Those that could start before are not overtaken, also where no poll has come in between.
        self.settle_before(since);
        let queue = if priority == Class::Control { &mut self.control } else { &mut self.data };
        queue.push_back(Queued { since, class, octets, frame });
    }

    /// Whether a frame waits that may go when the line is free, and of which priority.
    fn eligible(&self) -> Option<Class> {
        if !self.control.is_empty() {
            return Some(Class::Control);
        }
        self.data.front().filter(|first| !self.stops(first.class)).map(|_| Class::Data)
    }

    /// When the next of the frames that wait starts: a line that has long been idle starts none before it has come.
    fn next_start(&self) -> Option<Instant> {
        let queue = if self.eligible()? == Class::Control { &self.control } else { &self.data };
        Some(self.busy_until.max(queue.front()?.since))
    }

    /// Starts everything that starts up to `now`.
    fn settle(&mut self, now: Instant) {
        self.settle_before(now + LEAST);
    }

    /// Starts everything that starts before `limit`.
    fn settle_before(&mut self, limit: Instant) {
        while self.next_start().is_some_and(|at| at < limit)
            && let Some(priority) = self.eligible()
        {
            let queue = if priority == Class::Control { &mut self.control } else { &mut self.data };
            let Some(first) = queue.pop_front() else { return };
            self.start(self.busy_until.max(first.since), first.octets, first.frame);
        }
    }

    /// The transmission of a frame starts at `at`.
    fn start(&mut self, at: Instant, octets: u16, frame: Outgoing<S>) {
        let (time, rest) = self.rate.serialisation(u64::from(u32::from(octets) + self.overhead));
        self.remainder += rest;
        let carry = u64::from(self.remainder >= self.rate.0);
        self.remainder -= carry * self.rate.0;
        self.busy_until = at + time + Duration(carry);
        self.sent.push_back(Transmit { at, end: self.busy_until, octets, frame });
    }
}
