//! Hosts: generators that make frames, and limiters that let them go.

use penstock_schemes::{BitRate, Duration, FlowKey, Instant, ReactionPoint, Scheme};

use crate::acknowledgement::{InFlight, acknowledged};
use crate::frame::NONE;
use crate::network::{Excess, Flow, Network, ReactionPointSpec, Traffic};
use crate::outcome::Sum;
use crate::pacer::PacerState;
use crate::random::{Owner, Stream};

const NEVER: u64 = u64::MAX;

/// Frames that a generator makes at a time: fewer than take a millisecond.
const AT_ONCE: u64 = 4096;

/// Makes the frames of one flow. It is advanced lazily: whoever asks at time t first learns of all frames up to t.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    traffic: Traffic,
    /// Frames are made when they are taken: greedy traffic, and traffic that waits (`Excess::Hold`).
    on_demand: bool,
    /// Frames that may wait at the source otherwise.
    room: u64,
    pub(crate) backlog: u64,
    pub(crate) offered: u64,
    /// Frames still to be made; `u64::MAX` for a flow without size.
    left: u64,
    frame: u16,
    pub(crate) last_octets: u16,
    stop: u64,
    /// When the next frame is made; for greedy traffic the flow's start.
    next: u64,
    /// Even distance of frames, and its remainder in 1/rate picoseconds.
    gap: (u64, u64),
    remainder: u64,
    rate: u64,
    /// End of the present turn of sending, for on-off traffic.
    on_until: u64,
    stream: Stream,
}

impl Generator {
    fn new(flow: &Flow, overhead: u16, seed: u64, index: usize) -> Self {
        let rate = match flow.traffic {
            Traffic::Constant(rate) | Traffic::Poisson(rate) | Traffic::OnOff { rate, .. } => rate,
            Traffic::Greedy => BitRate(1),
        };
        let (gap, remainder) = rate.serialisation(u64::from(flow.frame) + u64::from(overhead));
        let (left, last_octets) = match flow.size {
            None => (u64::MAX, flow.frame),
            Some(size) => {
                let frames = size.0.div_ceil(u64::from(flow.frame)).max(1);
                let rest = size.0 - (frames - 1) * u64::from(flow.frame);
                (frames, (rest as u16).max(64).min(flow.frame))
            }
        };
        let room = match flow.excess {
            Excess::Hold | Excess::Discard => 1,
            Excess::Queue(size) => (size.0 / u64::from(flow.frame)).max(1),
        };
        let mut generator = Self {
            traffic: flow.traffic,
            on_demand: flow.excess == Excess::Hold || flow.traffic == Traffic::Greedy,
            room,
            backlog: 0,
            offered: 0,
            left,
            frame: flow.frame,
            last_octets,
            stop: flow.stop.map_or(NEVER, |t| t.0),
            next: flow.start.0,
            gap: (gap.0, remainder),
            remainder: 0,
            rate: rate.0,
            on_until: 0,
            stream: Stream::new(seed, Owner::Generator, index),
        };
        match flow.traffic {
            // A Poisson source is silent for a while first; even distances and turns begin with a frame.
            Traffic::Poisson(_) => generator.next = later(generator.next, generator.stream.exponential(gap.0)),
            Traffic::OnOff { on, random, .. } => generator.on_until = later(flow.start.0, generator.turn(on, random)),
            Traffic::Constant(_) | Traffic::Greedy => {}
        }
        generator
    }

    /// Learns of all frames made up to `now`, where frames are made whether or not they can go.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: u64) {
        if !self.on_demand {
            self.make_until(now);
        }
    }

    fn make_until(&mut self, now: u64) {
        while self.next <= now && self.left > 0 && self.next < self.stop {
            self.offered += 1;
            if self.left != u64::MAX {
                self.left -= 1;
            }
            self.backlog = (self.backlog + 1).min(self.room);
            self.next = self.following(self.next);
            if self.next <= now && matches!(self.traffic, Traffic::Constant(_)) {
                self.make_evenly_until(now);
            }
        }
        if now >= self.stop {
            self.backlog = 0;
        }
    }

    /// The same for frames at even distances, however many they are.
    fn make_evenly_until(&mut self, now: u64) {
        // All in 1/rate picoseconds: the next frame, the distance of frames, the end. None of it reaches 2^110.
        let rate = u128::from(self.rate);
        let next = u128::from(self.next) * rate + u128::from(self.remainder);
        let gap = u128::from(self.gap.0) * rate + u128::from(self.gap.1);
        let end = u128::from(self.stop.min(now + 1)) * rate;
        let due = end.saturating_sub(next).div_ceil(gap).min(self.left.into());
        self.offered += due as u64;
        if self.left != u64::MAX {
            self.left -= due as u64;
        }
        self.backlog = self.backlog.saturating_add(due as u64).min(self.room);
        let next = next + due * gap;
        (self.next, self.remainder) = ((next / rate) as u64, (next % rate) as u64);
    }

    /// When it is to be asked again, seen from `now`, lest more than [`AT_ONCE`] frames or so come due at a time; `None` where
    /// that cannot be, or where no more frames come.
    pub(crate) fn ask_again(&self, now: u64) -> Option<u64> {
        let distance = match self.traffic {
            _ if self.on_demand || self.left == 0 || self.next >= self.stop => return None,
            Traffic::Greedy | Traffic::Constant(_) => return None,
            Traffic::Poisson(_) => self.gap.0,
            // Each turn begins with a frame, however short it is.
            Traffic::OnOff { on, off, .. } => self.gap.0.min(later(on.0, off.0)),
        };
        Some(later(now, distance.max(1).saturating_mul(AT_ONCE)).max(self.next))
    }

    /// When a frame is there, seen from `now`: now or later, or never.
    #[inline(always)]
    pub(crate) fn when(&mut self, now: u64) -> u64 {
        self.advance(now);
        if self.backlog > 0 {
            return now;
        }
        let at = self.next.max(now);
        if self.left > 0 && at < self.stop { at } else { NEVER }
    }

    /// Takes one frame at `now`: its octets, and whether it is the flow's last. There must be one.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: u64) -> (u16, bool) {
        if self.on_demand {
            self.offered += 1;
            if self.left != u64::MAX {
                self.left -= 1;
            }
            self.next = self.following(now);
        } else {
            self.make_until(now);
            self.backlog -= 1;
        }
        let last = self.left == 0 && self.backlog == 0;
        (if last { self.last_octets } else { self.frame }, last)
    }

    /// Octets of the frame that [`take`](Self::take) gives next.
    pub(crate) fn next_octets(&self) -> u16 {
        let waiting = if self.on_demand { self.left } else { self.backlog.saturating_add(self.left) };
        if waiting == 1 { self.last_octets } else { self.frame }
    }

    /// When the frame after one made at `at` is made.
    #[inline(always)]
    fn following(&mut self, at: u64) -> u64 {
        match self.traffic {
            Traffic::Greedy => at,
            Traffic::Constant(_) => at + self.even_gap(),
            Traffic::Poisson(_) => later(at, self.stream.exponential(self.gap.0)),
            Traffic::OnOff { on, off, random, .. } => self.following_in_turn(at, on, off, random),
        }
    }

    #[inline(never)]
    fn following_in_turn(&mut self, at: u64, on: Duration, off: Duration, random: bool) -> u64 {
        let mut next = at + self.even_gap();
        while next >= self.on_until && next != NEVER {
            // A turn of sending begins when the silence ends, whether or not it lasts for a frame.
            next = later(self.on_until, self.turn(off, random));
            self.on_until = later(next, self.turn(on, random));
        }
        next
    }

    fn even_gap(&mut self) -> u64 {
        self.remainder += self.gap.1;
        if self.remainder >= self.rate {
            self.remainder -= self.rate;
            self.gap.0 + 1
        } else {
            self.gap.0
        }
    }

    fn turn(&mut self, mean: Duration, random: bool) -> u64 {
        if random { self.stream.exponential(mean.0) } else { mean.0.max(1) }
    }
}

/// `time` after `at`, or never: what is drawn has no bound.
fn later(at: u64, time: u64) -> u64 {
    at.saturating_add(time)
}

/// A rate limiter: a reaction point (or none, for traffic that nothing controls), a pacer, and the flows behind it.
#[derive(Debug, Clone)]
pub(crate) struct Limiter<S: Scheme> {
    pub(crate) rp: Option<S::Rp>,
    pub(crate) stream: Stream,
    pub(crate) port: u32,
    pub(crate) host: u32,
    pacer: PacerState,
    /// The allowed rate.
    pub(crate) rate: u64,
    /// The congestion window, octets; `u64::MAX` without one.
    pub(crate) window: u64,
    /// Octets in flight of all its flows, where the scheme has acknowledgements.
    pub(crate) in_flight: u64,
    /// Octets by which tags lengthen its frames.
    pub(crate) tag: u16,
    pub(crate) limiting: bool,
    pub(crate) flows: Vec<u32>,
    /// The flow whose turn it is, as an index into `flows`.
    turn: usize,
    /// Time of the release event that counts; others are stale.
    pub(crate) wake: u64,
    /// In turn for its port.
    pub(crate) waiting: bool,
    /// Time of the earliest timer event under way.
    pub(crate) armed: u64,
}

impl<S: Scheme> Limiter<S> {
    /// A limiter at the port of `spec`; `tag` are the octets by which its scheme lengthens frames.
    pub(crate) fn new(network: &Network, spec: ReactionPointSpec, rp: Option<S::Rp>, tag: u16, stream: Stream) -> Self {
        let port = &network.ports[spec.port.index()];
        let rate = rp.as_ref().map_or(port.rate, |rp| rp.allowance().rate).0;
        Self {
            limiting: rp.as_ref().is_some_and(ReactionPoint::limiting),
            window: rp.as_ref().map_or(NEVER, |rp| rp.allowance().window.map_or(NEVER, |w| w.0)),
            in_flight: 0,
            tag,
            rp,
            stream,
            port: spec.port.0,
            host: port.node.0,
            pacer: PacerState::new(spec.pacer, rate),
            rate,
            flows: Vec::new(),
            turn: 0,
            wake: NEVER,
            waiting: false,
            armed: NEVER,
        }
    }

    /// When the next frame may go as far as traffic, regulators, pacer and window are concerned; its flow is the one in turn.
    pub(crate) fn next_release(&mut self, now: u64, flows: &mut [FlowState], overhead: u32) -> u64 {
        let earliest = if self.flows.len() > 1 { self.select(now, flows) } else { 0 };
        self.next_release_of(&mut flows[self.flow_in_turn() as usize], now, overhead).max(earliest)
    }

    /// The same for a frame of `flow`.
    #[inline(always)]
    pub(crate) fn next_release_of(&mut self, flow: &mut FlowState, now: u64, overhead: u32) -> u64 {
        let available = flow.when(now);
        if available == NEVER || (acknowledged::<S>() && !self.window_allows(flow)) {
            return NEVER;
        }
        self.pacer.ready(now, u32::from(flow.frame + self.tag) + overhead).max(available)
    }

    /// Whether the window has room for the next frame of `flow`. One frame is let go in any case.
    fn window_allows(&self, flow: &FlowState) -> bool {
        let next = u64::from(flow.generator.next_octets() + self.tag);
        self.in_flight == 0 || self.in_flight.saturating_add(next) <= self.window
    }

    /// The flow that [`next_release`](Self::next_release) spoke of.
    #[inline(always)]
    pub(crate) fn flow_in_turn(&self) -> u32 {
        self.flows[self.turn]
    }

    /// Gives the turn to the first flow that has a frame now and whose own regulator lets it go, or else to the one that is
    /// so far first; returns that time.
    fn select(&mut self, now: u64, flows: &mut [FlowState]) -> u64 {
        let n = self.flows.len();
        let (mut best, mut at) = (self.turn, NEVER);
        for i in 0..n {
            let place = if self.turn + i < n { self.turn + i } else { self.turn + i - n };
            let flow = self.flows[place];
            let admitted = self.rp.as_ref().map_or(now, |rp| rp.admits(Instant(now), FlowState::key(flow)).0);
            let available = flows[flow as usize].when(now).max(admitted);
            if available < at {
                (best, at) = (place, available);
                if at <= now {
                    break;
                }
            }
        }
        self.turn = best;
        at
    }

    /// A frame of `octets` (with overhead) goes at `now`; the next turn is the next flow's.
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: u64, octets: u32) {
        self.pacer.spend(now, octets, self.rate);
        self.turn += 1;
        if self.turn >= self.flows.len() {
            self.turn = 0;
        }
    }

    pub(crate) fn set_rate(&mut self, now: u64, rate: u64) {
        self.pacer.change(now, self.rate, rate);
        self.rate = rate;
    }
}

/// The notification points of a flow, one for each of its destinations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destinations {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Destinations {
    /// Their places in lists of notification points.
    pub(crate) fn places(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A flow during a run.
#[derive(Debug, Clone)]
pub(crate) struct FlowState {
    pub(crate) generator: Generator,
    pub(crate) root: u32,
    pub(crate) limiter: u32,
    pub(crate) class: u8,
    pub(crate) frame: u16,
    /// Octets by which tags lengthen its frames.
    pub(crate) tag: u16,
    pub(crate) started: bool,
    pub(crate) stopped: bool,
    /// Deliveries that complete it.
    pub(crate) expected: u64,
    pub(crate) destinations: Destinations,
    pub(crate) in_flight: InFlight,
    pub(crate) completed: Option<Instant>,
    pub(crate) sent: u64,
    pub(crate) sent_octets: u64,
    pub(crate) delivered: u64,
    /// With overhead, over all destinations.
    pub(crate) delivered_octets: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) copies: u64,
    pub(crate) signals: u64,
    /// Of them, probes that came back.
    pub(crate) probes: u64,
    rate_since: u64,
    pub(crate) rate_time: u64,
    pub(crate) rate_area: u128,
    pub(crate) rate_area_squared: Sum,
}

impl FlowState {
    pub(crate) fn new(network: &Network, index: usize, limiter: u32, destinations: Destinations, seed: u64) -> Self {
        let flow = &network.flows[index];
        let generator = Generator::new(flow, network.wire_overhead, seed, index);
        let expected =
            if generator.left == u64::MAX { u64::MAX } else { generator.left * u64::from(destinations.count) };
        Self {
            generator,
            root: flow.root.0,
            limiter,
            class: network.class(flow.priority) as u8,
            frame: flow.frame,
            tag: 0,
            started: false,
            stopped: false,
            expected,
            destinations,
            in_flight: InFlight::default(),
            completed: None,
            sent: 0,
            sent_octets: 0,
            delivered: 0,
            delivered_octets: 0,
            dropped: 0,
            lost: 0,
            copies: 0,
            signals: 0,
            probes: 0,
            rate_since: 0,
            rate_time: 0,
            rate_area: 0,
            rate_area_squared: Sum::default(),
        }
    }

    /// Octets of its frames in the network, or of its last one.
    pub(crate) fn octets_of(&self, last: bool) -> u16 {
        self.tag + if last { self.generator.last_octets } else { self.frame }
    }

    /// When it has a frame, seen from `now`: now or later, or never.
    #[inline(always)]
    fn when(&mut self, now: u64) -> u64 {
        if self.started { self.generator.when(now) } else { NEVER }
    }

    /// The identity that schemes see.
    pub(crate) fn key(index: u32) -> FlowKey {
        FlowKey(index)
    }

    /// Whether the allowed rate counts: from the start to the stop, or to the last frame's release.
    pub(crate) fn active(&self) -> bool {
        self.started && !self.stopped
    }

    /// The allowed rate was `rate` since the last call.
    pub(crate) fn pass_rate(&mut self, now: u64, rate: u64) {
        let time = u128::from(now - self.rate_since);
        self.rate_since = now;
        if self.active() {
            self.rate_time += time as u64;
            self.rate_area += u128::from(rate) * time;
            self.rate_area_squared.add(u128::from(rate) * u128::from(rate), time as u64);
        }
    }
}

/// Installed rate limiters of a host over time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HostState {
    pub(crate) limiters: u32,
    /// The most since the last reading (`measure`).
    pub(crate) most: u32,
    since: u64,
    pub(crate) area: u128,
}

impl HostState {
    pub(crate) fn pass(&mut self, now: u64) {
        self.area += u128::from(self.limiters) * u128::from(now - self.since);
        self.since = now;
    }

    pub(crate) fn change(&mut self, now: u64, limiting: bool) {
        self.pass(now);
        if limiting {
            self.limiters += 1;
            self.most = self.most.max(self.limiters);
        } else {
            self.limiters -= 1;
        }
    }
}

/// The stream of a limiter; index [`NONE`] would be nobody's.
pub(crate) fn limiter_stream(seed: u64, index: usize) -> Stream {
    debug_assert!(index < NONE as usize);
    Stream::new(seed, Owner::ReactionPoint, index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::{HopId, RpId};

    proptest! {
        /// Frames at even distances that are made at once are those that are made one after the other.
        #[test]
        fn many_at_once_are_many_one_by_one(
            rate in 1_u64..1_000_000_000_000,
            frame in 64_u16..9000,
            start in 0_u64..1_000_000,
            stop in prop::option::of(1_000_000_u64..100_000_000_000),
            size in prop::option::of(1_u64..10_000_000),
            steps in prop::collection::vec((0_u64..40_000, 0_u32..12), 1..20),
        ) {
            let flow = Flow {
                root: HopId(0),
                priority: 0,
                frame,
                weight: 1,
                start: Instant(start),
                stop: stop.map(Instant),
                size: size.map(penstock_schemes::Octets),
                traffic: Traffic::Constant(BitRate(rate)),
                excess: Excess::Queue(penstock_schemes::Octets(64_000)),
                reaction_point: Some(RpId(0)),
            };
            let mut at_once = Generator::new(&flow, 24, 1, 0);
            let mut one_by_one = at_once.clone();
            let mut now = start;
            for (ahead, scale) in steps {
                now += ahead << scale;
                while one_by_one.next <= now && one_by_one.left > 0 && one_by_one.next < one_by_one.stop {
                    one_by_one.make_until(one_by_one.next);
                    prop_assume!(one_by_one.offered < 100_000);
                }
                one_by_one.make_until(now);
                at_once.make_until(now);
                let state = |g: &Generator| (g.offered, g.left, g.backlog, g.next, g.remainder);
                prop_assert_eq!(state(&at_once), state(&one_by_one));
                if at_once.backlog > 0 && at_once.offered.is_multiple_of(3) {
                    prop_assert_eq!(at_once.take(now), one_by_one.take(now));
                }
            }
        }
    }
}
