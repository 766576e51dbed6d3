//! Generators: they make the data of flows.

use std::collections::VecDeque;

use penstock_endpoint::{DataSource, Taken};
use penstock_schemes::{BitRate, Draw, Duration, Instant, Octets};

use crate::hosts::transmit_queue::TransmitPart;
use crate::hosts::transport::Connection;
use crate::network::{Excess, Flow, FlowId, HopId, SEND_BUFFER, Traffic};
use crate::random::{Owner, Stream};

/// Frames of a flow without size that are still to be made.
const ENDLESS: u64 = u64::MAX;

/// Frames that a generator makes at a time: fewer than take a millisecond.
const AT_ONCE: u64 = 4096;

/// Makes the frames of one flow. It is advanced lazily: a query at time t first makes all frames up to t.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    traffic: Traffic,
    /// Frames are made when they are taken: greedy traffic, and schedules that stand still (`Excess::Stall`).
    on_demand: bool,
    /// Frames that may wait at the source otherwise.
    room: u64,
    pub(crate) backlog: u64,
    pub(crate) offered: u64,
    /// Frames still to be made; [`ENDLESS`] for a flow without size.
    left: u64,
    frame: u16,
    last_octets: u16,
    stop: Instant,
    /// When the next frame is made; for greedy traffic the flow's start. Never before the flow begins.
    next: Instant,
    /// Even distance of frames, and its remainder in 1/rate picoseconds.
    gap: (Duration, u64),
    remainder: u64,
    rate: BitRate,
    /// End of the present turn of sending, for on-off traffic.
    on_until: Instant,
    stream: Stream,
    /// The messages of a flow that stays, and octets of data in its frames. Frames of `left` are of the message before them.
    messages: Option<Box<Messages>>,
}

/// The messages of a flow that stays, which are sent one after the other: each but the first. The last frame of each is short.
#[derive(Debug, Clone)]
struct Messages {
    payload: u64,
    /// Frames, and octets of the last one.
    waiting: VecDeque<(u64, u16)>,
    /// No more will come.
    all: bool,
}

/// Frames of `size` octets, full ones of `frame` octets with `payload` octets of data each, and the length of the last one.
pub(crate) fn cut(size: Octets, payload: u64, frame: u16) -> (u64, u16) {
    let frames = size.0.div_ceil(payload).max(1);
    let rest = size.0 - (frames - 1) * payload;
    (frames, (rest as u16).max(64).min(frame))
}

impl Generator {
    pub(crate) fn new(flow: &Flow, overhead: u16, seed: u64, id: FlowId) -> Self {
        let payload = flow.payload();
        let rate = match flow.traffic {
            Traffic::Constant(rate) | Traffic::Poisson(rate) | Traffic::OnOff { rate, .. } => rate,
            Traffic::Greedy => BitRate(1),
        };
        let (gap, remainder) = rate.serialisation(u64::from(flow.frame) + u64::from(overhead));
        let (left, last_octets) = match flow.size {
            None => (ENDLESS, flow.frame),
            Some(size) => cut(size, payload, flow.frame),
        };
        // A greedy application hands all its data to its connection at the start: see `transport`.
        let left = if flow.transport.is_some() && flow.traffic == Traffic::Greedy { 0 } else { left };
        let frames = |size: Octets| (size.0 / u64::from(flow.frame)).max(1);
        let room = match flow.excess {
            Excess::Wait if flow.size.is_some() => u64::MAX,
            Excess::Wait => frames(SEND_BUFFER),
            Excess::Queue(size) => frames(size),
            Excess::Discard | Excess::Stall => 1,
        };
        Self {
            traffic: flow.traffic,
            on_demand: flow.transport.is_none() && (flow.excess == Excess::Stall || flow.traffic == Traffic::Greedy),
            room,
            backlog: 0,
            offered: 0,
            left,
            frame: flow.frame,
            last_octets,
            stop: flow.stop.unwrap_or(Instant::NEVER),
            next: Instant::NEVER,
            gap: (gap, remainder),
            remainder: 0,
            rate,
            on_until: Instant::ZERO,
            stream: Stream::new(seed, Owner::Generator, id.index()),
            messages: None,
        }
    }

    /// The flow stays: further messages follow the data that it has, in frames with `payload` octets of data.
    fn stay(&mut self, payload: u64) {
        self.messages = Some(Box::new(Messages { payload, waiting: VecDeque::new(), all: false }));
    }

    /// One message more of a flow that stays; the `last` one ends it.
    fn post(&mut self, size: Octets, last: bool) {
        let Some(messages) = &mut self.messages else { unreachable!("a flow with several messages stays") };
        messages.all = last;
        let cut = cut(size, messages.payload, self.frame);
        if self.left == 0 { (self.left, self.last_octets) = cut } else { messages.waiting.push_back(cut) }
    }

    /// All frames have been taken: the next message begins, or else the flow ends unless others will come. Whether it ends.
    #[cold]
    fn ends(&mut self) -> bool {
        let Some(messages) = &mut self.messages else { return true };
        match messages.waiting.pop_front() {
            Some(next) => {
                (self.left, self.last_octets) = next;
                false
            }
            None => messages.all,
        }
    }

    /// The flow begins.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.next = now;
        match self.traffic {
            // A Poisson source is silent for a while first; even distances and turns begin with a frame.
            Traffic::Poisson(_) => self.next += exponential(&mut self.stream, self.gap.0),
            Traffic::OnOff { on, random, .. } => self.on_until = now + self.turn(on, random),
            Traffic::Constant(_) | Traffic::Greedy => {}
        }
    }

    /// Learns of all frames made up to `now`, where frames are made whether or not they can go. Returns how much work it was, in
    /// frames and runs of frames at even distances.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Instant) -> u64 {
        if self.on_demand { 0 } else { self.make_due(now) }
    }

    /// Makes the frames that are due, most often none.
    #[inline(always)]
    fn make_due(&mut self, now: Instant) -> u64 {
        if self.next > now && now < self.stop { 0 } else { self.make_until(now) }
    }

    fn make_until(&mut self, now: Instant) -> u64 {
        let mut work = 0;
        while self.next <= now && self.left > 0 && self.next < self.stop {
            work += 1;
            self.offered += 1;
            if self.left != ENDLESS {
                self.left -= 1;
            }
            self.backlog = (self.backlog + 1).min(self.room);
            self.next = self.following(self.next);
            if self.next <= now {
                match self.traffic {
                    Traffic::Constant(_) => self.make_evenly_until(now),
                    Traffic::OnOff { on, off, random, .. } => {
                        self.make_evenly_until(now.min(Instant(self.on_until.0 - 1)));
                        self.next = self.in_turn(self.next, on, off, random);
                    }
                    Traffic::Greedy | Traffic::Poisson(_) => {}
                }
            }
        }
        if now >= self.stop {
            self.backlog = 0;
        }
        work
    }

    /// The same for frames at even distances, however many they are.
    fn make_evenly_until(&mut self, now: Instant) {
        // All in 1/rate picoseconds: the next frame, the distance of frames, the end. None of it reaches 2^110.
        let rate = u128::from(self.rate.0);
        let next = u128::from(self.next.0) * rate + u128::from(self.remainder);
        let gap = u128::from(self.gap.0.0) * rate + u128::from(self.gap.1);
        let end = u128::from(self.stop.min(now + Duration(1)).0) * rate;
        let due = end.saturating_sub(next).div_ceil(gap).min(self.left.into());
        self.offered += due as u64;
        if self.left != ENDLESS {
            self.left -= due as u64;
        }
        self.backlog = self.backlog.saturating_add(due as u64).min(self.room);
        let next = next + due * gap;
        (self.next, self.remainder) = (Instant((next / rate) as u64), (next % rate) as u64);
    }

    /// When it is to be asked again, seen from `now`, so that no more than about [`AT_ONCE`] frames or turns come due at a time;
    /// `None` where that cannot be, or where no more frames come.
    pub(crate) fn ask_again(&self, now: Instant) -> Option<Instant> {
        let distance = match self.traffic {
            _ if self.on_demand || self.left == 0 || self.next >= self.stop => return None,
            Traffic::Greedy | Traffic::Constant(_) => return None,
            Traffic::Poisson(_) => self.gap.0,
            Traffic::OnOff { on, off, .. } => on + off,
        };
        Some((now + Duration(distance.0.max(1).saturating_mul(AT_ONCE))).max(self.next))
    }

    /// When the application of a connection writes next; `None` if it writes no more.
    pub(crate) fn next_write(&self) -> Option<Instant> {
        (self.left > 0 && self.next < self.stop).then_some(self.next)
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Frames that are still to be made, unless it is stopped; `None` for a flow without size.
    pub(crate) fn frames(&self) -> Option<u64> {
        (self.left != ENDLESS).then_some(self.left)
    }

    /// When the frame after one made at `at` is made.
    #[inline(always)]
    fn following(&mut self, at: Instant) -> Instant {
        match self.traffic {
            Traffic::Greedy => at,
            Traffic::Constant(_) => at.after(self.even_gap()),
            Traffic::Poisson(_) => at + exponential(&mut self.stream, self.gap.0),
            Traffic::OnOff { on, off, random, .. } => self.following_in_turn(at, on, off, random),
        }
    }

    #[inline(never)]
    fn following_in_turn(&mut self, at: Instant, on: Duration, off: Duration, random: bool) -> Instant {
        let next = at.after(self.even_gap());
        self.in_turn(next, on, off, random)
    }

    /// The time of a frame that would be made at `next`: then, or at the start of the first turn of sending behind that.
    fn in_turn(&mut self, mut next: Instant, on: Duration, off: Duration, random: bool) -> Instant {
        while next >= self.on_until && next != Instant::NEVER {
            // A turn of sending begins when the silence ends, whether or not it lasts for a frame.
            next = self.on_until + self.turn(off, random);
            self.on_until = next + self.turn(on, random);
        }
        next
    }

    fn even_gap(&mut self) -> Duration {
        self.remainder += self.gap.1;
        if self.remainder >= self.rate.0 {
            self.remainder -= self.rate.0;
            Duration(self.gap.0.0 + 1)
        } else {
            self.gap.0
        }
    }

    fn turn(&mut self, mean: Duration, random: bool) -> Duration {
        if random { exponential(&mut self.stream, mean) } else { mean.max(Duration(1)) }
    }
}

impl DataSource for Generator {
    #[inline(always)]
    fn when(&mut self, now: Instant) -> Instant {
        if !self.on_demand {
            self.make_due(now);
            if self.backlog > 0 {
                return now;
            }
        }
        let at = self.next.max(now);
        if self.left > 0 && at < self.stop { at } else { Instant::NEVER }
    }

    fn next_octets(&self) -> u16 {
        let waiting = if self.on_demand { self.left } else { self.backlog.saturating_add(self.left) };
        if waiting == 1 { self.last_octets } else { self.frame }
    }

    #[inline(always)]
    fn take(&mut self, now: Instant) -> Taken {
        if self.on_demand {
            self.offered += 1;
            if self.left != ENDLESS {
                self.left -= 1;
            }
            self.next = self.following(now);
        } else {
            self.make_due(now);
            self.backlog -= 1;
        }
        if self.left == 0 && self.backlog == 0 {
            let octets = self.last_octets;
            return Taken { octets, last: self.ends() };
        }
        Taken { octets: self.frame, last: false }
    }
}

/// The data of a flow, and where its frames enter the network.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) generator: Generator,
    /// The flow's first hop.
    pub(crate) root: HopId,
    /// The sending half of its connection, where it has a transport.
    pub(crate) connection: Option<Box<Connection>>,
}

impl Source {
    /// The flow is forgotten: nothing is left of it.
    pub(crate) fn forget(&mut self) {
        self.generator.offered = 0;
        self.generator.messages = None;
        self.connection = None;
    }

    /// The flow stays: further messages follow the data that it has, in frames with `payload` octets of data.
    pub(crate) fn stay(&mut self, payload: u64) {
        match &mut self.connection {
            Some(connection) => connection.stay(),
            None => self.generator.stay(payload),
        }
    }

    /// One message more of a flow that stays; the `last` one ends it.
    pub(crate) fn post(&mut self, size: Octets, last: bool) {
        match &mut self.connection {
            Some(connection) => connection.post(size, last),
            None => self.generator.post(size, last),
        }
    }

    /// Octets and number of the frames of all its data, or of its first message, without tags; `None` without end.
    pub(crate) fn extent(&self) -> Option<(u64, u64)> {
        let generator = &self.generator;
        match &self.connection {
            Some(connection) => connection.size().map(|size| connection.extent(size)),
            None => generator
                .frames()
                .map(|frames| ((frames - 1) * u64::from(generator.frame) + u64::from(generator.last_octets), frames)),
        }
    }

    /// The same of `size` octets of data, `payload` in a full frame.
    pub(crate) fn extent_of(&self, size: Octets, payload: u64) -> (u64, u64) {
        let Some(connection) = &self.connection else {
            let (frames, last) = cut(size, payload, self.generator.frame);
            return ((frames - 1) * u64::from(self.generator.frame) + u64::from(last), frames);
        };
        connection.extent(size)
    }

    /// Frames that were offered to the limiter. A connection offers those that it sends, of which there are `sent`, and those that
    /// wait in the transmit queue or found no room there.
    pub(crate) fn offered(&self, sent: u64) -> u64 {
        match &self.connection {
            Some(connection) => sent + connection.queue.as_ref().map_or(0, TransmitPart::unsent),
            None => self.generator.offered,
        }
    }

    /// Frames that wait for the limiter, in the source's queue or in the transmit queue.
    pub(crate) fn waiting(&self) -> u64 {
        match &self.connection {
            Some(connection) => connection.queue.as_ref().map_or(0, |part| part.unsent() - part.discarded),
            None => self.generator.backlog,
        }
    }

    fn transmit(&self) -> Option<&TransmitPart> {
        self.connection.as_ref()?.queue.as_ref()
    }

    /// The integral of the octets in its part of the transmit queue.
    pub(crate) fn transmit_area(&self, now: Instant) -> u128 {
        self.transmit().map_or(0, |part| part.area(now))
    }

    /// Segments that found no room there.
    pub(crate) fn segments_discarded(&self) -> u64 {
        self.transmit().map_or(0, |part| part.discarded)
    }

    /// Length of a frame of the flow, with FCS, without tags: of its last one, or of another.
    pub(crate) fn octets(&self, last: bool) -> u16 {
        if last { self.generator.last_octets } else { self.generator.frame }
    }
}

impl DataSource for Source {
    #[inline(always)]
    fn when(&mut self, now: Instant) -> Instant {
        // A connection makes nothing on demand, so that it is looked for where frames are made beforehand alone.
        if !self.generator.on_demand
            && let Some(connection) = &self.connection
        {
            return if connection.is_ready() { now } else { Instant::NEVER };
        }
        self.generator.when(now)
    }

    #[inline(always)]
    fn next_octets(&self) -> u16 {
        match &self.connection {
            Some(connection) => connection.next_octets(),
            None => self.generator.next_octets(),
        }
    }

    #[inline(always)]
    fn take(&mut self, now: Instant) -> Taken {
        if !self.generator.on_demand
            && let Some(connection) = &mut self.connection
        {
            return connection.take(now);
        }
        self.generator.take(now)
    }
}

/// A length with exponential distribution around `mean`, at least 1.
pub(crate) fn exponential(stream: &mut Stream, mean: Duration) -> Duration {
    let uniform = (f64::from(stream.draw()) + 0.5) / 4_294_967_296.0;
    Duration(((-libm::log(uniform) * mean.0 as f64) as u64).max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::RpId;

    proptest! {
        /// Frames at even distances that are made at once, also within a turn, are those that are made one after the other.
        #[test]
        fn many_at_once_are_many_one_by_one(
            rate in 1_u64..1_000_000_000_000,
            frame in 64_u16..9000,
            start in 0_u64..1_000_000,
            stop in prop::option::of(1_000_000_u64..100_000_000_000),
            size in prop::option::of(1_u64..10_000_000),
            turns in prop::option::of((1_u64..2_000_000_000, 0_u64..1_000_000_000, any::<bool>())),
            steps in prop::collection::vec((0_u64..40_000, 0_u32..12), 1..20),
        ) {
            let rate = BitRate(rate);
            let traffic = match turns {
                None => Traffic::Constant(rate),
                Some((on, off, random)) => Traffic::OnOff { rate, on: Duration(on), off: Duration(off), random },
            };
            let flow = Flow {
                root: HopId(0),
                priority: 0,
                frame,
                weight: 1,
                start: Instant(start),
                stop: stop.map(Instant),
                size: size.map(Octets),
                traffic,
                excess: Excess::Queue(Octets(64_000)),
                reaction_point: Some(RpId(0)),
                transport: None,
            };
            let mut at_once = Generator::new(&flow, 24, 1, FlowId(0));
            at_once.begin(flow.start);
            let mut one_by_one = at_once.clone();
            let mut now = Instant(start);
            for (ahead, scale) in steps {
                now += Duration(ahead << scale);
                while one_by_one.next <= now && one_by_one.left > 0 && one_by_one.next < one_by_one.stop {
                    one_by_one.make_until(one_by_one.next);
                    prop_assume!(one_by_one.offered < 100_000);
                }
                one_by_one.make_until(now);
                at_once.make_until(now);
                let state = |g: &Generator| (g.offered, g.left, g.backlog, g.next, g.remainder, g.on_until);
                prop_assert_eq!(state(&at_once), state(&one_by_one));
                if at_once.backlog > 0 && at_once.offered.is_multiple_of(3) {
                    prop_assert_eq!(at_once.take(now), one_by_one.take(now));
                }
            }
        }
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut stream = Stream::new(7, Owner::Generator, 0);
        let n = 100_000;
        let sum: u64 = (0..n).map(|_| exponential(&mut stream, Duration::from_us(1)).0).sum();
        let mean = sum as f64 / f64::from(n);
        // The standard error is 1/sqrt(100 000) = 0.3 %; five of them.
        assert!((mean / 1e6 - 1.0).abs() < 0.016, "{mean}");
    }
}
