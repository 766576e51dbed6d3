//! Limiters: a reaction point, a pacer, a window, and the flows behind them.

use alloc::vec::Vec;

use penstock_schemes::{
    BitRate, Draw, Duration, FlowKey, Gap, Gate, Instant, Octets, Out, Rank, ReactionPoint, Release, Scheme,
};

use crate::destination::acknowledged;
use crate::flow::Flow;
use crate::ids::{FlowId, LimiterId, PortId};
use crate::pacer::{Pacer, PacerState};
use crate::source::DataSource;
use crate::timer::{Alarms, Timer};

/// The window of a limiter without one.
const UNLIMITED: Octets = Octets(u64::MAX);

/// A limiter before it is at work.
#[derive(Debug, Clone)]
pub struct LimiterSpec<S: Scheme, D> {
    /// The port that it feeds.
    pub port: PortId,
    /// Rate of that port's line.
    pub line: BitRate,
    /// How it turns a rate into times of release.
    pub pacer: Pacer,
    /// Its reaction point; `None` for traffic that nothing controls.
    pub reaction_point: Option<S::Rp>,
    /// Octets by which tags lengthen its frames.
    pub tag_octets: u16,
    /// Whether its frames are acknowledged.
    pub acknowledged: bool,
    /// Random words for its reaction point.
    pub draw: D,
}

impl<S: Scheme, D> LimiterSpec<S, D> {
    /// A limiter with a reaction point under `config`, or for traffic that nothing controls.
    #[must_use]
    pub fn new(port: PortId, line: BitRate, pacer: Pacer, config: Option<&S::Config>, draw: D) -> Self {
        Self {
            port,
            line,
            pacer,
            reaction_point: config.map(|config| S::Rp::new(config, line)),
            tag_octets: config.map_or(0, S::tag_octets),
            acknowledged: config.is_some_and(S::acknowledges),
            draw,
        }
    }

    /// The same for flows of which a frame and its acknowledgement take so long through the empty network.
    #[must_use]
    pub fn with_round_trip(mut self, round_trip: Option<Duration>) -> Self {
        if let (Some(rp), Some(round_trip)) = (&mut self.reaction_point, round_trip) {
            rp.learn_round_trip(round_trip);
        }
        self
    }
}

/// Rate, window and timer of the reaction point have been compared with those in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answers {
    /// Something differs.
    pub(crate) changed: bool,
}

/// A limiter at work.
#[derive(Debug, Clone)]
pub struct Limiter<S: Scheme, D> {
    pub(crate) number: u32,
    pub(crate) rp: Option<S::Rp>,
    pub(crate) draw: D,
    pub(crate) port: PortId,
    /// Whether other limiters send over the same port by turns.
    pub(crate) shares_port: bool,
    pacer: PacerState,
    /// The allowed rate.
    rate: BitRate,
    /// The same without the cap.
    uncapped: BitRate,
    /// The rate of the port's line.
    line: BitRate,
    /// The most that a caller allows besides the reaction point.
    cap: BitRate,
    /// The congestion window; [`UNLIMITED`] without one.
    window: Octets,
    /// Octets in flight of all its flows, where the scheme has acknowledgements.
    pub(crate) in_flight: Octets,
    pub(crate) tag: u16,
    /// Whether its frames are acknowledged, and counted as in flight until then.
    pub(crate) acknowledged: bool,
    limiting: bool,
    /// Whether it has one flow alone, all that come and go counted.
    alone: bool,
    flows: Vec<FlowId>,
    /// The flow whose turn it is, and its index in `flows`.
    in_turn: FlowId,
    turn: usize,
    /// The least key of the flow whose turn it is, where flows come and go: a flow that comes in before the one in turn and not before
    /// this key has its turn first.
    turn_from: u32,
    /// Time of the release that counts; timers for others are out of date.
    pub(crate) wake: Instant,
    /// In turn for its port.
    pub(crate) waiting: bool,
    /// Time of the earliest pending timer of the reaction point.
    armed: Instant,
}

impl<S: Scheme, D: Draw> Limiter<S, D> {
    pub(crate) fn new(number: u32, spec: LimiterSpec<S, D>) -> Self {
        let rp = spec.reaction_point;
        let rate = rp.as_ref().map_or(spec.line, |rp| rp.allowance().rate);
        Self {
            number,
            limiting: rp.as_ref().is_some_and(ReactionPoint::limiting),
            window: rp.as_ref().map_or(UNLIMITED, window),
            in_flight: Octets(0),
            tag: spec.tag_octets,
            acknowledged: spec.acknowledged,
            rp,
            draw: spec.draw,
            port: spec.port,
            shares_port: false,
            alone: true,
            pacer: PacerState::new(spec.pacer, rate),
            rate,
            uncapped: rate,
            line: spec.line,
            cap: spec.line,
            flows: Vec::new(),
            in_turn: FlowId::NONE,
            turn: 0,
            turn_from: 0,
            wake: Instant::NEVER,
            waiting: false,
            armed: Instant::NEVER,
        }
    }

    /// Its number, which orders turns and timers: its index in the list, unless the slot was reused.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its reaction point, if it has one.
    #[must_use]
    pub fn reaction_point(&self) -> Option<&S::Rp> {
        self.rp.as_ref()
    }

    /// The port that it feeds.
    #[must_use]
    #[inline(always)]
    pub fn port(&self) -> PortId {
        self.port
    }

    /// The rate that is in force.
    #[must_use]
    #[inline(always)]
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// The rate and the window that are in force.
    pub(crate) fn allowed(&self) -> (BitRate, Octets) {
        (self.rate, self.window)
    }

    /// Whether a rate limiter is installed: see [`ReactionPoint::limiting`].
    #[must_use]
    pub fn limiting(&self) -> bool {
        self.limiting
    }

    /// The flows behind it.
    #[must_use]
    #[inline(always)]
    pub fn flows(&self) -> &[FlowId] {
        &self.flows
    }

    /// The flow whose frame goes next.
    #[must_use]
    #[inline(always)]
    pub fn flow_in_turn(&self) -> FlowId {
        self.in_turn
    }

    /// Whether it waits for the line, or for the end of a stop.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Whether it has one flow alone, all that come and go counted.
    #[inline(always)]
    pub(crate) fn alone(&self) -> bool {
        self.alone
    }

    pub(crate) fn add_flow(&mut self, flow: FlowId) {
        self.flows.push(flow);
        self.alone = self.flows.len() == 1;
        self.in_turn = self.flows[self.turn];
    }

    /// More than one flow comes and goes here.
    pub(crate) fn expect_several(&mut self) {
        self.alone = false;
    }

    /// Adds a flow that comes while others are there, in the order of keys.
    pub(crate) fn insert_flow<X>(&mut self, flow: FlowId, flows: &[Flow<X>]) {
        let key = |flow: FlowId| flows[flow.index()].key;
        let place = self.flows.partition_point(|&other| key(other) < key(flow));
        self.flows.insert(place, flow);
        self.find_turn(flows);
    }

    /// Removes a finished flow.
    pub(crate) fn remove_flow<X>(&mut self, flow: FlowId, flows: &[Flow<X>]) {
        self.flows.retain(|&other| other != flow);
        self.find_turn(flows);
    }

    /// The turn is that of the first flow from the key on that has it, all round.
    fn find_turn<X>(&mut self, flows: &[Flow<X>]) {
        let place = self.flows.partition_point(|flow| flows[flow.index()].key.0 < self.turn_from);
        self.turn = if place < self.flows.len() { place } else { 0 };
        self.in_turn = self.flows.get(self.turn).copied().unwrap_or(FlowId::NONE);
    }

    /// The release of `own`, this limiter, that counts is at `at`, or there is none.
    #[inline(always)]
    pub(crate) fn wake_at(&mut self, at: Instant, own: LimiterId, alarms: &mut impl Alarms) {
        if at != self.wake {
            self.wake = at;
            if at != Instant::NEVER {
                alarms.wake(at, Timer::Release(own), self.number);
            }
        }
    }

    /// When the next frame may go as far as traffic, regulators, pacer and window are concerned; its flow is the one in turn.
    pub(crate) fn next_release<X: DataSource>(
        &mut self,
        now: Instant,
        flows: &mut [Flow<X>],
        overhead: u32,
    ) -> Instant {
        let earliest = if self.alone { Instant::ZERO } else { self.select(now, flows) };
        match flows.get_mut(self.in_turn.index()) {
            Some(flow) => self.next_release_of(flow, now, overhead).max(earliest),
            None => Instant::NEVER,
        }
    }

    /// The same for a frame of `flow`.
    #[inline(always)]
    pub(crate) fn next_release_of<X: DataSource>(
        &mut self,
        flow: &mut Flow<X>,
        now: Instant,
        overhead: u32,
    ) -> Instant {
        if S::Rp::NEEDS_GRANTS && !self.granted() {
            return Instant::NEVER;
        }
        let available = flow.when(now);
        if available == Instant::NEVER || (acknowledged::<S>() && !self.window_allows(flow)) {
            return Instant::NEVER;
        }
        self.pacer.ready(now, flow.longest(overhead)).max(available)
    }

    /// Whether a frame is granted, where frames need grants.
    pub(crate) fn granted(&self) -> bool {
        self.rp.as_ref().is_none_or(ReactionPoint::granted)
    }

    /// The rank of its next frame, where frames have ranks.
    #[inline(always)]
    pub(crate) fn rank(&self) -> Option<Rank> {
        if S::Rp::RANKS { self.rp.as_ref().and_then(ReactionPoint::rank) } else { None }
    }

    /// Whether the window has room for the next frame of `flow`, or for an octet of it where that is enough ([`Gate`]). One frame is
    /// let go in any case.
    fn window_allows<X: DataSource>(&self, flow: &Flow<X>) -> bool {
        let next = match self.rp.as_ref().map_or(Gate::Whole, ReactionPoint::gate) {
            Gate::Whole => u64::from(flow.next_octets()),
            Gate::Open => 1,
        };
        self.in_flight.0 == 0 || self.in_flight.0.saturating_add(next) <= self.window.0
    }

    /// Gives the turn to the first flow that has a frame now and whose own regulator lets it go, or else to the one that is
    /// so far first; returns that time.
    fn select<X: DataSource>(&mut self, now: Instant, flows: &mut [Flow<X>]) -> Instant {
        let n = self.flows.len();
        let (mut best, mut at) = (self.turn, Instant::NEVER);
        for i in 0..n {
            let place = if self.turn + i < n { self.turn + i } else { self.turn + i - n };
            let flow = self.flows[place];
            let flow = &mut flows[flow.index()];
            let admitted = self.rp.as_ref().map_or(now, |rp| rp.admits(now, flow.key));
            let available = flow.when(now).max(admitted);
            if available < at {
                (best, at) = (place, available);
                if at <= now {
                    break;
                }
            }
        }
        if at < Instant::NEVER {
            self.turn_from = flows[self.flows[best].index()].key.0;
        }
        self.turn = best;
        self.in_turn = self.flows.get(best).copied().unwrap_or(FlowId::NONE);
        at
    }

    /// A frame of `octets` (with overhead) of `flow` goes at `now`; the next turn is the next flow's.
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: Instant, octets: u32, flow: FlowKey) {
        self.pacer.spend(now, octets, self.rate);
        if !self.alone() {
            self.turn += 1;
            if self.turn >= self.flows.len() {
                self.turn = 0;
            }
            self.turn_from = flow.0 + 1;
            self.in_turn = self.flows[self.turn];
        }
    }

    /// The tag of a frame that goes.
    #[inline(always)]
    pub(crate) fn tag(&mut self, now: Instant, frame: Release, out: &mut impl Out<S>) -> S::Tag {
        match &mut self.rp {
            Some(rp) => rp.on_send(now, frame, &mut self.draw, out),
            None => S::Tag::default(),
        }
    }

    /// Asks for the timer of `own`'s reaction point, and compares its answers with the rate and the window in force.
    #[inline(always)]
    pub(crate) fn answers(&mut self, own: LimiterId, alarms: &mut impl Alarms) -> Answers {
        let Some(rp) = &self.rp else { return Answers { changed: false } };
        if let Some(at) = rp.next_timeout()
            && at < self.armed
        {
            self.armed = at;
            alarms.wake(at, Timer::ReactionPoint(own), self.number);
        }
        let rate = rp.allowance().rate;
        let changed = rate != self.uncapped || window(rp) != self.window || rp.limiting() != self.limiting;
        Answers { changed }
    }

    /// The rate that its reaction point allows, or without one the line's; no more than the cap.
    pub(crate) fn allowed_rate(&self) -> BitRate {
        self.uncapped_rate().min(self.cap)
    }

    fn uncapped_rate(&self) -> BitRate {
        self.rp.as_ref().map_or(self.line, |rp| rp.allowance().rate)
    }

    /// No more than `cap` is allowed from now on, once [`take_over`](Self::take_over) gives effect to it.
    pub(crate) fn set_cap(&mut self, cap: BitRate) {
        self.cap = cap;
    }

    /// Gives effect to the reaction point's answers, and to the cap.
    pub(crate) fn take_over(&mut self, now: Instant) {
        self.uncapped = self.uncapped_rate();
        let rate = self.uncapped.min(self.cap);
        if let Some(rp) = &self.rp {
            (self.window, self.limiting) = (window(rp), rp.limiting());
        }
        if rate != self.rate {
            let gap = self.rp.as_ref().map_or(Gap::Rest, ReactionPoint::gap);
            self.pacer.change(now, self.rate, rate, gap);
            self.rate = rate;
        }
    }

    /// Whether the timer of the reaction point that has expired is the one that counts.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        let due = self.armed == now;
        if due {
            self.armed = Instant::NEVER;
        }
        due
    }
}

/// The window that a reaction point states.
#[inline(always)]
fn window<S: Scheme>(rp: &impl ReactionPoint<S>) -> Octets {
    rp.allowance().window.unwrap_or(UNLIMITED)
}
