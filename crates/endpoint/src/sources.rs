//! The sending half of an endpoint: flows, the limiters that release their frames, and the arbiters of the ports.
//!
//! A frame of a flow passes these:
//!
//! ```text
//!   DataSource --> regulator, window, pacer of its limiter --> turn at the port --> Sent
//!                ^ rate, window
//!              reaction point <-- signals, acknowledgements, silence, timers
//! ```
//!
//! The driver owns the lines and the timers. It calls [`Sources::may_send`] when a limiter is due, [`Sources::send`] if
//! the answer is yes, and [`Sources::after_send`] when the frame has been sent.

use alloc::vec;
use alloc::vec::Vec;

use penstock_schemes::{Ack, BitRate, Draw, Instant, Octets, Out, ReactionPoint, Release, Scheme};

use crate::arbiter::Arbiter;
use crate::cache::ask_for_entry;
use crate::destination::{Acknowledgement, acknowledged};
use crate::flow::{Flow, FlowSpec};
use crate::ids::{FlowId, LimiterId, PortId, TrafficClass};
use crate::limiter::{Limiter, LimiterSpec};
use crate::source::DataSource;
use crate::timer::{Alarms, Timer};

/// Sees rates and limiters change, for statistics.
pub trait Watch<S: Scheme, D> {
    /// The allowed rate of `limiter` and its flows changes; it still has the old one.
    fn rate_changes<X: DataSource>(&mut self, _limiter: &Limiter<S, D>, _flows: &[Flow<X>]) {}

    /// A rate limiter is installed at `limiter`, or is no longer.
    fn limiting_changes(&mut self, _limiter: LimiterId, _limiting: bool) {}
}

/// The line of a port without queue, as a limiter finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// A frame could start at once.
    Free,
    /// Something is in transmission, or waits for it.
    Busy,
    /// Priority flow control has stopped the class of the limiter's flow.
    Stopped,
}

/// Whether a limiter may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// It may send one frame now.
    Send,
    /// It may send one frame once nobody else can ask for the line at this instant, for nobody waits for it. The driver lets it take
    /// its turn then ([`Sources::take_turn`]), or wait for it as others do ([`Sources::wait`]).
    Turn,
    /// It waits for its turn: the driver sees to it that turns go on when the line is free ([`Sources::arm_turn`]).
    Wait,
    /// It waits for the end of the stop ([`Sources::unpark`]).
    Parked,
}

/// A frame that goes.
#[derive(Debug, Clone, Copy)]
pub struct Sent<T> {
    /// The flow that it belongs to.
    pub flow: FlowId,
    /// Its class.
    pub class: TrafficClass,
    /// Length, offset in the flow, whether it is the last.
    pub release: Release,
    /// The scheme's field on the frame.
    pub tag: T,
    /// Whether the limiter's next release is still open.
    pub open: bool,
}

/// How often reaction points have changed what they allow, but for their first answer to the start of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// The rate fell, or under the same rate the window did.
    pub cuts: u64,
    /// The rate rose, or under the same rate the window did.
    pub raises: u64,
}

impl Changes {
    /// A change from one allowance to another, each a rate and a window.
    fn count(&mut self, from: (BitRate, Octets), to: (BitRate, Octets)) {
        self.cuts += u64::from(to < from);
        self.raises += u64::from(to > from);
    }
}

/// The flows and limiters of one port or of many. Limiters of different ports have nothing to do with one another, so that the
/// hosts of a whole network may lie in one of these lists.
#[derive(Debug, Clone)]
pub struct Sources<S: Scheme, X, D> {
    pub(crate) flows: Vec<Flow<X>>,
    pub(crate) limiters: Vec<Limiter<S, D>>,
    turns: Vec<Arbiter>,
    /// Octets that every frame occupies on the line beyond its own length.
    overhead: u32,
    /// By class, how many classes from it upwards frames with ranks may have; one where the list ends.
    levels: Vec<u8>,
    changes: Changes,
}

impl<S: Scheme, X: DataSource, D: Draw> Sources<S, X, D> {
    /// The sources at `ports` ports. `overhead` are the octets that every frame occupies on a line beyond its own length.
    #[must_use]
    pub fn new(ports: usize, overhead: u16) -> Self {
        Self {
            flows: Vec::new(),
            limiters: Vec::new(),
            turns: vec![Arbiter::new(); ports],
            overhead: u32::from(overhead),
            levels: Vec::new(),
            changes: Changes::default(),
        }
    }

    /// Frames with ranks may have these numbers of classes, by the class of their flow; one where the list ends.
    pub fn set_levels(&mut self, levels: Vec<u8>) {
        self.levels = levels;
    }

    /// Adds a limiter. `by_turns` says that its port has no queue, so that it shares the line with other limiters by turns.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn add_limiter(&mut self, spec: LimiterSpec<S, D>, by_turns: bool) -> LimiterId {
        let number = self.limiters.len() as u32;
        self.add_numbered_limiter(number, spec, by_turns)
    }

    /// The same, with a given number in the order of turns and timers.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn add_numbered_limiter(&mut self, number: u32, spec: LimiterSpec<S, D>, by_turns: bool) -> LimiterId {
        let id = LimiterId(self.limiters.len() as u32);
        let port = spec.port.index();
        self.limiters.push(Limiter::new(number, spec));
        if by_turns && let Some(first) = self.turns[port].add(id) {
            for limiter in [first, id] {
                self.limiters[limiter.index()].shares_port = true;
            }
        }
        id
    }

    /// Adds a flow behind `limiter`. All flows of a limiter have one class.
    ///
    /// # Panics
    /// If there is no such limiter.
    pub fn add_flow(&mut self, limiter: LimiterId, spec: FlowSpec, supply: X) -> FlowId {
        let id = FlowId(self.flows.len() as u32);
        let behind = &mut self.limiters[limiter.index()];
        self.flows.push(Flow::new(id.key(), spec, limiter, behind.tag, acknowledged::<S>(), supply));
        behind.add_flow(id);
        id
    }

    /// A flow.
    #[inline(always)]
    pub fn flow(&self, flow: FlowId) -> &Flow<X> {
        &self.flows[flow.index()]
    }

    /// A flow, whose data may be changed.
    #[inline(always)]
    pub fn flow_mut(&mut self, flow: FlowId) -> &mut Flow<X> {
        &mut self.flows[flow.index()]
    }

    /// All flows, in the order in which they were added.
    #[must_use]
    pub fn flows(&self) -> &[Flow<X>] {
        &self.flows
    }

    /// The same, whose data may be changed.
    pub fn flows_mut(&mut self) -> &mut [Flow<X>] {
        &mut self.flows
    }

    /// Asks for the memory of a limiter that is due soon.
    #[inline(always)]
    pub fn ask_for_limiter(&self, limiter: LimiterId) {
        ask_for_entry(&self.limiters, limiter.index());
    }

    /// Asks for the memory of the flow that is in turn at a limiter, and of the turns at its port. That of the limiter is there.
    #[inline(always)]
    pub fn ask_for_turn(&self, limiter: LimiterId) {
        let limiter = self.limiter(limiter);
        ask_for_entry(&self.flows, limiter.flow_in_turn().index());
        ask_for_entry(&self.turns, limiter.port.index());
    }

    /// A limiter.
    #[inline(always)]
    pub fn limiter(&self, limiter: LimiterId) -> &Limiter<S, D> {
        &self.limiters[limiter.index()]
    }

    /// All limiters, in the order in which they were added.
    #[must_use]
    pub fn limiters(&self) -> &[Limiter<S, D>] {
        &self.limiters
    }

    /// The class whose pauses stop the frame that `limiter` sends next.
    #[inline(always)]
    pub fn class_in_turn(&self, limiter: LimiterId) -> TrafficClass {
        let limiter = &self.limiters[limiter.index()];
        self.flows[limiter.flow_in_turn().index()].stopped_by.raised(limiter.rank(), &self.levels)
    }

    /// From now on pauses of `class` stop `flow`, and those of another class do not.
    pub fn stop_with(&mut self, now: Instant, flow: FlowId, class: TrafficClass) {
        let state = &mut self.flows[flow.index()];
        if state.stopped_by != class {
            state.stopped_by = class;
            let limiter = state.limiter;
            // One that is parked asks for its line again.
            self.turns[self.limiters[limiter.index()].port.index()].unpark(now, |other| other == limiter);
        }
    }

    /// `flow` starts.
    pub fn start(&mut self, now: Instant, flow: FlowId, driver: &mut (impl Alarms + Out<S> + Watch<S, D>)) {
        let state = &mut self.flows[flow.index()];
        state.start();
        let (id, key) = (state.limiter, state.key);
        let limiter = &mut self.limiters[id.index()];
        if let Some(rp) = &mut limiter.rp {
            rp.on_start(now, key, &mut limiter.draw, driver);
        }
        // The first allowance of a flow changes none.
        let before = self.changes;
        self.heed(now, id, driver);
        self.changes = before;
        self.wake(now, id, driver);
    }

    /// A message of `flow`, or all of it, is to be sent: `octets` in frames. To be called before it starts, where reaction points have ranks.
    pub fn announce(&mut self, flow: FlowId, octets: Octets) {
        let Flow { limiter, key, .. } = self.flows[flow.index()];
        if let Some(rp) = &mut self.limiters[limiter.index()].rp {
            rp.on_message(key, octets);
        }
    }

    /// `flow` is stopped: it sends no more.
    pub fn stop(&mut self, now: Instant, flow: FlowId, driver: &mut (impl Alarms + Out<S> + Watch<S, D>)) {
        let state = &mut self.flows[flow.index()];
        state.end();
        let (id, key) = (state.limiter, state.key);
        if let Some(rp) = &mut self.limiters[id.index()].rp {
            rp.on_stop(now, key);
        }
        self.heed(now, id, driver);
        self.wake(now, id, driver);
    }

    /// A signal for the source of `flow` has come; false where no reaction point is there to hear it.
    #[inline(always)]
    pub fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowId,
        signal: S::Signal,
        driver: &mut (impl Alarms + Out<S> + Watch<S, D>),
    ) -> bool {
        let Flow { limiter: id, key, .. } = self.flows[flow.index()];
        let limiter = &mut self.limiters[id.index()];
        let Some(rp) = &mut limiter.rp else { return false };
        rp.on_signal(now, key, signal, &mut limiter.draw, driver);
        self.heed(now, id, driver);
        true
    }

    /// An acknowledgement of the `destination`-th destination of `flow` has come.
    pub fn on_ack(
        &mut self,
        now: Instant,
        flow: FlowId,
        destination: usize,
        ack: Acknowledgement<S::Echo>,
        driver: &mut (impl Alarms + Out<S> + Watch<S, D>),
    ) {
        let state = &mut self.flows[flow.index()];
        state.known[destination].learn(ack.arrived, ack.lost);
        let rtt = now.since(ack.sent_at);
        let settled = state.in_flight.acknowledge(now, rtt, &state.known);
        state.watch(flow, driver);
        let (id, key) = (state.limiter, state.key);
        let limiter = &mut self.limiters[id.index()];
        let Some(rp) = &mut limiter.rp else { return };
        limiter.in_flight.0 -= settled.acked.0 + settled.lost.0;
        let ack = Ack { acked: settled.acked, lost: settled.lost, rtt, echo: ack.echo };
        rp.on_ack(now, key, &ack, &mut limiter.draw, driver);
        self.heed(now, id, driver);
        self.wake(now, id, driver);
    }

    /// The timer of a flow's silence has expired.
    pub fn on_silence(&mut self, now: Instant, flow: FlowId, driver: &mut (impl Alarms + Out<S> + Watch<S, D>)) {
        let state = &mut self.flows[flow.index()];
        if state.in_flight.armed <= now {
            state.in_flight.armed = Instant::NEVER;
        }
        if state.in_flight.deadline <= now {
            let lost = state.in_flight.give_up(now);
            let (id, key) = (state.limiter, state.key);
            let limiter = &mut self.limiters[id.index()];
            limiter.in_flight.0 -= lost.0;
            if let Some(rp) = &mut limiter.rp {
                rp.on_silence(now, key, lost);
                self.heed(now, id, driver);
                self.wake(now, id, driver);
            }
        }
        self.flows[flow.index()].watch(flow, driver);
    }

    /// The timer of a reaction point has expired.
    pub fn on_rp_timeout(
        &mut self,
        now: Instant,
        limiter: LimiterId,
        driver: &mut (impl Alarms + Out<S> + Watch<S, D>),
    ) {
        let state = &mut self.limiters[limiter.index()];
        if state.expire(now)
            && let Some(rp) = &mut state.rp
        {
            rp.on_timeout(now, &mut state.draw, driver);
            self.heed(now, limiter, driver);
        }
    }

    /// The parameters of a limiter's reaction point change; `line` is the rate that it was made for.
    pub fn configure(
        &mut self,
        now: Instant,
        limiter: LimiterId,
        config: &S::Config,
        line: BitRate,
        driver: &mut (impl Alarms + Watch<S, D>),
    ) {
        let Some(rp) = &mut self.limiters[limiter.index()].rp else { return };
        rp.configure(config, line);
        // A rate that follows new bounds is no answer to congestion.
        let before = self.changes;
        self.heed(now, limiter, driver);
        self.changes = before;
    }

    /// A limiter allows no more than `rate` from now on, whatever its reaction point allows. That is no answer of the scheme's.
    pub fn cap(&mut self, now: Instant, limiter: LimiterId, rate: BitRate, driver: &mut (impl Alarms + Watch<S, D>)) {
        self.limiters[limiter.index()].set_cap(rate);
        let before = self.changes;
        self.take_over(now, limiter, driver);
        self.changes = before;
        self.wake(now, limiter, driver);
    }

    /// After any call of a reaction point: asks for its timer, and gives effect to its answers.
    #[inline(always)]
    fn heed(&mut self, now: Instant, limiter: LimiterId, driver: &mut (impl Alarms + Watch<S, D>)) {
        let state = &mut self.limiters[limiter.index()];
        let changed = state.answers(limiter, driver).changed;
        // Where several flows share the point, their own regulators may have changed although the allowance has not. So may grants.
        let several = !state.alone() || S::Rp::NEEDS_GRANTS;
        if changed {
            self.take_over(now, limiter, driver);
        }
        if changed || several {
            self.wake(now, limiter, driver);
        }
    }

    /// Gives effect to a reaction point's answers.
    fn take_over(&mut self, now: Instant, limiter: LimiterId, driver: &mut impl Watch<S, D>) {
        let state = &mut self.limiters[limiter.index()];
        let limiting = state.rp.as_ref().is_some_and(ReactionPoint::limiting);
        if limiting != state.limiting() {
            driver.limiting_changes(limiter, limiting);
        }
        if state.allowed_rate() != state.rate() {
            driver.rate_changes(state, &self.flows);
        }
        let before = state.allowed();
        state.take_over(now);
        self.changes.count(before, state.allowed());
    }

    /// Sees to it that `limiter` is called when its next frame may go; returns that time. To be called when its flows
    /// have new data; every other change of that time is known here.
    #[inline(always)]
    pub fn wake(&mut self, now: Instant, limiter: LimiterId, alarms: &mut impl Alarms) -> Instant {
        let state = &mut self.limiters[limiter.index()];
        if state.waiting {
            return Instant::NEVER;
        }
        let at = state.next_release(now, &mut self.flows, self.overhead);
        state.wake_at(at, limiter, alarms);
        at
    }

    /// Whether the release for which `limiter` was called is the one that counts.
    #[inline(always)]
    pub fn due(&mut self, now: Instant, limiter: LimiterId) -> bool {
        let state = &mut self.limiters[limiter.index()];
        let due = state.wake == now;
        if due {
            state.wake = Instant::NEVER;
        }
        due
    }

    /// Asks for the line of a port without queue, for a limiter that is [`due`](Self::due) or whose turn it is (`in_turn`). If
    /// the line is not free, or if other limiters share it and it is not this one's turn, it waits.
    #[inline(always)]
    pub fn may_send(&mut self, now: Instant, limiter: LimiterId, line: Line, in_turn: bool) -> Permission {
        let state = &mut self.limiters[limiter.index()];
        // A limiter that shares a line waits for the others that may send at the same instant: the turn decides among
        // them.
        match line {
            Line::Free if in_turn || !state.shares_port => Permission::Send,
            Line::Free if state.alone() && !self.turns[state.port.index()].any_wait() => Permission::Turn,
            Line::Free | Line::Busy => {
                self.wait(now, limiter);
                Permission::Wait
            }
            Line::Stopped => {
                state.waiting = true;
                self.turns[state.port.index()].park(limiter, state.number);
                Permission::Parked
            }
        }
    }

    /// `limiter` waits for the line of its port.
    #[inline(always)]
    pub fn wait(&mut self, now: Instant, limiter: LimiterId) {
        let state = &mut self.limiters[limiter.index()];
        state.waiting = true;
        self.turns[state.port.index()].wait(now, limiter, state.number);
    }

    /// Takes the frame that `limiter` may send now.
    #[inline(always)]
    pub fn send(&mut self, now: Instant, limiter: LimiterId, driver: &mut (impl Alarms + Out<S>)) -> Sent<S::Tag> {
        let overhead = self.overhead;
        let state = &mut self.limiters[limiter.index()];
        let id = state.flow_in_turn();
        let flow = &mut self.flows[id.index()];
        let class = flow.class.raised(state.rank(), &self.levels);
        let release = flow.take(now, overhead);
        state.spend(now, u32::from(release.octets) + overhead, release.flow);
        let tag = state.tag(now, release, driver);
        if acknowledged::<S>() && state.acknowledged {
            state.in_flight.0 += u64::from(release.octets);
            flow.in_flight.send(now, release.octets.into());
            flow.watch(id, driver);
        }
        let open = state.answers(limiter, driver).changed || !state.alone();
        if !open {
            let wake = state.next_release_of(flow, now, overhead);
            state.wake = wake;
            if wake != Instant::NEVER {
                driver.wake(wake, Timer::Release(limiter), state.number);
            }
        }
        Sent { flow: id, class, release, tag, open }
    }

    /// The frame has been sent. To be called where its [`open`](Sent::open) says so.
    pub fn after_send(&mut self, now: Instant, limiter: LimiterId, driver: &mut (impl Alarms + Watch<S, D>)) {
        self.take_over(now, limiter, driver);
        self.wake(now, limiter, driver);
    }

    /// Whether a limiter waits for the line of `port`.
    #[must_use]
    #[inline(always)]
    pub fn any_waits(&self, port: PortId) -> bool {
        self.turns[port.index()].any_wait()
    }

    /// Sees to it that turns at `port` go on at `at`, when its line is free, if any limiter waits for it.
    pub fn arm_turn(&mut self, port: PortId, at: Instant, alarms: &mut impl Alarms) {
        if self.turns[port.index()].any_wait() {
            self.turns[port.index()].arm(at, port, alarms);
        }
    }

    /// Whether the turn for which `port` was called is the one that counts.
    pub fn turn_due(&mut self, now: Instant, port: PortId) -> bool {
        self.turns[port.index()].expire(now)
    }

    /// `limiter` takes the turn at its port without having waited for it. A pending timer for the turn no longer counts.
    #[inline(always)]
    pub fn take_turn(&mut self, limiter: LimiterId) {
        let state = &self.limiters[limiter.index()];
        self.turns[state.port.index()].take(state.number);
    }

    /// The line of `port` is free: the limiter that may send now in its turn, if there is one; its release is due with that. Those
    /// whose allowance has changed while they waited may be passed over.
    pub fn next_turn(&mut self, now: Instant, port: PortId, alarms: &mut impl Alarms) -> Option<LimiterId> {
        loop {
            let limiters = &self.limiters;
            let left = |limiter: LimiterId| limiters[limiter.index()].rank().map(|rank| rank.left);
            let turns = &mut self.turns[port.index()];
            let limiter = if S::Rp::RANKS { turns.next_ranked(left) } else { turns.next() }?;
            let state = &mut self.limiters[limiter.index()];
            state.waiting = false;
            let at = state.next_release(now, &mut self.flows, self.overhead);
            if at == now {
                state.wake = Instant::NEVER;
                return Some(limiter);
            }
            state.wake_at(at, limiter, alarms);
        }
    }

    /// Priority flow control no longer stops `class` at `port`: its limiters wait for the line.
    pub fn unpark(&mut self, now: Instant, port: PortId, class: TrafficClass) {
        let (limiters, flows) = (&self.limiters, &self.flows);
        let own = |limiter: LimiterId| flows[limiters[limiter.index()].flow_in_turn().index()].stopped_by;
        // A frame with a rank may have another class by now than that which was stopped.
        let ranked = |limiter: LimiterId| limiters[limiter.index()].rank().is_some();
        self.turns[port.index()].unpark(now, |limiter| ranked(limiter) || own(limiter) == class);
    }

    /// Octets of `flow` in flight, where the scheme has acknowledgements.
    #[must_use]
    pub fn octets_in_flight(&self, flow: FlowId) -> Octets {
        self.flows[flow.index()].in_flight.octets()
    }

    /// How often reaction points have changed what they allow.
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// Octets that every frame occupies on the line beyond its own length.
    #[must_use]
    pub fn overhead(&self) -> u32 {
        self.overhead
    }
}
