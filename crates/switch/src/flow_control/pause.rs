//! Priority flow control (802.1Qbb): ingress counters at switches, pause frames between neighbours, stopped queues.
//!
//! ```text
//!   port P ====== data ======> switch: counter of P and priority       held >= xoff: full, held <= xon: no longer
//!    stops[P, priority]           |
//!      ^                          v
//!      +------- PFC frame ------ port B, the path back                  PortState::pauses: the classes to signal
//! ```
//!
//! A PFC frame has a time for each of the eight priorities. Here it is made when its transmission starts, from the state of
//! the counters at that instant. It has every change that had to be signalled until then, and none that was taken back
//! before.
//!
//! *Lines that break.* A PFC frame on a broken line is lost, and the queue that it would have stopped or let go is left
//! to its pause time. A stop goes on while its own line is down. When the path back comes up again, the state that was
//! lost on it is signalled again, ahead of all frames, as the counters stand then.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, Duration, Instant, Octets};

use crate::config::{Action, Config, NodeKind, Port, Watchdog};
use crate::events::{CounterId, FrameId, PauseId, QueueId};
use crate::flow_control::Deadlock;
use crate::flow_control::counter::Counter;
use crate::flow_control::credits::Credits;
use crate::flow_control::pause_frames::{PauseFrame, PauseFrames};
use crate::flow_control::pfc::QUANTUM_BITS;
use crate::flow_control::pool::{Claim, Occupancy, PoolState, Pools};
use crate::flow_control::retry::{Retry, retries};
use crate::flow_control::stop::Stop;

/// Longer than any run, and with the longest run still below 2^64: a stop of this length is for good.
const FOREVER: Duration = Duration(1 << 62);

/// The ingress buffer that bounds a frame, by its counter.
#[derive(Debug, Clone, Copy)]
pub struct Ingress {
    /// Its counter; none where the queue bounds the frame.
    pub counter: CounterId,
    /// Whether the frame fits.
    pub has_room: bool,
}

impl Ingress {
    /// The frame's queue bounds it.
    pub const NONE: Self = Self { counter: CounterId::NONE, has_room: false };
}

/// A line as it carries pause frames.
#[derive(Debug, Clone)]
pub struct PauseLine {
    /// The port of the opposite direction, or none.
    reverse: PortId,
    /// Present rate of the line.
    rate: BitRate,
    /// From the arrival of a pause frame until the port starts no more frames.
    pub response: Duration,
    /// Pause frames whose transmission began here, that arrived, and that broke with the line.
    pub sent: u64,
    /// Pause frames that arrived.
    pub arrived: u64,
    /// Pause frames that broke with the line.
    pub lost: u64,
    /// Of those sent, messages of credits and of link-level retry.
    pub messages: u64,
}

/// The state of flow control in the whole config.
#[derive(Debug)]
pub struct Pauses {
    /// How many queues each port has.
    pub per_port: u32,
    /// A bit for each lossless class.
    pub lossless: u32,
    /// A bit for each class of which frames that find no room are cut down to their headers.
    pub trimmed: u32,
    /// Pause time of a frame, in bits of the stopped port.
    bits: u64,
    /// For each port and class: the frames that came over its line and are still held. Empty without flow control, as
    /// the two lists that follow.
    pub counters: Vec<Counter>,
    /// For each queue.
    pub stops: Vec<Stop>,
    /// For each port.
    pub lines: Vec<PauseLine>,
    /// For each slot of a frame in a queue of a flow-controlled port: its counter, or none.
    charged: Vec<CounterId>,
    /// Counters that have crossed a threshold.
    pub crossed: Vec<CounterId>,
    /// Pause frames on their lines.
    pub frames: PauseFrames,
    /// The pools of switches, where there are any; frames there count as they come and go, too.
    pub pools: Option<Box<Pools>>,
    /// For each port, the settings of its watchdog; empty where there is none.
    watchdogs: Vec<Option<Watchdog>>,
    /// How often it has acted, and the frames that it has dropped.
    pub watchdog_fired: u64,
    /// Frames that it has dropped.
    pub watchdog_dropped: u64,
    /// The deadlocks that it has broken.
    pub deadlocks: Vec<Deadlock>,
    /// The credits of lines, where there are any.
    pub credits: Option<Box<Credits>>,
    /// By port, the lines that send again what they lose. Empty where there are none.
    pub retries: Vec<Option<Box<Retry>>>,
}

impl Pauses {
    /// The state at the start: nothing is held, nothing is stopped.
    ///
    /// # Panics
    /// If `config.pfc` is not as its documentation says.
    pub fn new(config: &Config<'_>) -> Self {
        let per_port = config.queues_per_port();
        let mut pauses = Self {
            per_port: per_port as u32,
            lossless: 0,
            trimmed: config.trimmed.iter().fold(0, |bits, &priority| bits | config.class(priority).bit()),
            bits: 0,
            counters: Vec::new(),
            stops: Vec::new(),
            lines: Vec::new(),
            charged: Vec::new(),
            crossed: Vec::new(),
            frames: PauseFrames::default(),
            pools: Pools::new(config),
            watchdogs: config.pfc.map_or_else(Vec::new, |pfc| pfc.watchdogs.clone()),
            watchdog_fired: 0,
            watchdog_dropped: 0,
            deadlocks: Vec::new(),
            credits: Credits::new(config),
            retries: retries(config),
        };
        if !config.sends_messages() {
            return pauses;
        }
        let queues = config.ports.len() * per_port;
        let responses = config.pfc.map_or(&[][..], |pfc| &pfc.responses);
        let responses = responses.iter().copied().chain(core::iter::repeat(Duration::ZERO));
        assert_eq!(config.reverse.len(), config.ports.len(), "an opposite direction for each port");
        let line = |((port, &reverse), response): ((&Port, &PortId), Duration)| PauseLine {
            reverse,
            rate: port.rate,
            response,
            sent: 0,
            arrived: 0,
            lost: 0,
            messages: 0,
        };
        pauses.lines = config.ports.iter().zip(&config.reverse).zip(responses).map(line).collect();
        pauses.counters = vec![Counter::NOTHING; queues];
        pauses.stops = vec![Stop::NONE; queues];
        if let Some(credits) = pauses.credits.as_deref() {
            for (counter, state) in (0..).map(CounterId).zip(&mut pauses.counters) {
                if credits.counts(counter) {
                    (state.buffer, state.credited) = (credits.memory(counter), true);
                    state.arm();
                }
            }
        }
        let Some(pfc) = config.pfc else { return pauses };
        assert!(pfc.quanta > 0, "a pause of no time stops nothing");
        assert_eq!(pfc.ingress.len(), config.ports.len(), "an entry for each port");
        for &priority in &pfc.priorities {
            pauses.lossless |= config.class(priority).bit();
        }
        pauses.bits = u64::from(pfc.quanta) * QUANTUM_BITS;
        for (index, ingress) in pfc.ingress.iter().enumerate() {
            let Some(ingress) = ingress else { continue };
            let peer = &config.nodes[config.ports[index].peer.index()];
            assert!(peer.kind == NodeKind::Switch, "port {index} leads to a host, which sends no pause frames");
            let (buffer, xoff, xon) = (ingress.buffer.0, ingress.xoff.0, ingress.xon.0);
            assert!(xon < xoff && xoff <= buffer, "port {index}: {ingress:?}");
            for class in bits(pauses.lossless) {
                let counter = &mut pauses.counters[index * per_port + class.index()];
                if counter.credited {
                    continue;
                }
                (counter.buffer, counter.xoff, counter.xon) = (buffer, xoff, xon);
                counter.arm();
            }
        }
        pauses
    }

    /// Whether there is flow control.
    #[inline(always)]
    pub fn stops_neighbours(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The ingress buffer of a frame of `octets` in `class` that comes over the line of port `from` (none: from nowhere).
    #[inline(always)]
    pub fn ingress(&self, from: PortId, class: TrafficClass, octets: u16) -> Ingress {
        // Without a port there is no such counter, and that of another class has no buffer.
        let counter = CounterId(from.0.wrapping_mul(self.per_port).wrapping_add(u32::from(class.0)));
        match self.counters.get(counter.index()) {
            Some(state) if state.buffer != 0 => {
                Ingress { counter, has_room: state.held + u64::from(octets) <= state.buffer }
            }
            _ => Ingress::NONE,
        }
    }

    /// The index of the counter of the frames that come over the line of port `from` in `class`.
    #[inline(always)]
    pub fn counter_of(&self, from: PortId, class: TrafficClass) -> CounterId {
        CounterId(from.0 * self.per_port + u32::from(class.0))
    }

    /// The port over whose line the frames of a counter come, and their class.
    pub fn counted(&self, counter: CounterId) -> (PortId, TrafficClass) {
        (PortId(counter.0 / self.per_port), TrafficClass((counter.0 % self.per_port) as u8))
    }

    /// The host at the far end of the line of `port` stops it from `xoff` octets of a lossless class on, and lets it go on at `xon`.
    pub fn bound(&mut self, port: PortId, xoff: Octets, xon: Octets) {
        for class in bits(self.lossless) {
            let counter = self.counter_of(port, class);
            let counter = &mut self.counters[counter.index()];
            (counter.xoff, counter.xon) = (xoff.0, xon.0);
            counter.arm();
        }
    }

    /// The host at the far end of the line of `port` signals stop from now on, whatever it holds, and again after `interval`; or no longer, if that
    /// is zero.
    pub fn storm(&mut self, port: PortId, class: TrafficClass, interval: Duration) {
        let counter = self.counter_of(port, class);
        self.counters[counter.index()].storm = interval;
        self.crossed.push(counter);
    }

    /// The port and the class of a queue.
    pub fn port_and_class(&self, queue: QueueId) -> (PortId, TrafficClass) {
        (PortId(queue.0 / self.per_port), TrafficClass((queue.0 % self.per_port) as u8))
    }

    /// A frame joins a queue; it is held by `counter`, or by none.
    #[inline(always)]
    pub fn hold(&mut self, frame: FrameId, counter: CounterId, octets: u16) {
        match self.charged.get_mut(frame.index()) {
            Some(charged) => *charged = counter,
            None => self.charge_new_slot(frame, counter),
        }
        if let Some(state) = self.counters.get_mut(counter.index()) {
            state.held += u64::from(octets);
            if state.held >= state.rising {
                self.cross(counter, octets, true);
            }
        }
    }

    /// The first frame in its slot.
    #[cold]
    #[inline(never)]
    fn charge_new_slot(&mut self, frame: FrameId, counter: CounterId) {
        self.charged.resize(frame.index() + 1, CounterId::NONE);
        self.charged[frame.index()] = counter;
    }

    /// A counter has crossed a threshold, or its line has credits, and holds a frame, or no longer.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, counter: CounterId, octets: u16, held: bool) {
        if self.counters[counter.index()].credited
            && let Some(credits) = self.credits.as_deref_mut()
        {
            let state = &mut credits.states[counter.index()];
            if held {
                return state.hold(octets);
            }
            state.let_go(octets);
        }
        self.crossed.push(counter);
    }

    /// A frame departs from its queue.
    #[inline(always)]
    pub fn let_go(&mut self, frame: FrameId, octets: u16) {
        let counter = self.charged[frame.index()];
        if let Some(state) = self.counters.get_mut(counter.index()) {
            state.held -= u64::from(octets);
            if state.held < state.falling {
                self.cross(counter, octets, false);
            }
        }
    }

    /// The rate of a port's line changes.
    pub fn set_rate(&mut self, port: PortId, rate: BitRate) {
        if let Some(line) = self.lines.get_mut(port.index()) {
            line.rate = rate;
        }
    }

    /// How long a pause frame that is made now stops `port`: its time counts in bit times of that port. A rate that changes
    /// while the frame is under way changes nothing in it, or its refresh, which is due by the same time, could come too late.
    fn time(&self, port: PortId) -> Duration {
        let rate = self.lines[port.index()].rate;
        let time = u128::from(self.bits) * u128::from(PS_PER_S) / u128::from(rate.0);
        Duration(time.min(FOREVER.0.into()) as u64)
    }

    /// The port that a pause frame on the line of `port` is for, or whose data the line of `port` answers.
    pub fn reverse(&self, port: PortId) -> PortId {
        self.lines[port.index()].reverse
    }

    /// The pause frame whose transmission on the line of `port` starts at `at`, about `classes`; its number.
    pub fn compose(&mut self, port: PortId, classes: u32, at: Instant) -> PauseId {
        let from = self.reverse(port);
        let time = self.time(from);
        let refresh = at + Duration(time.0 / 2);
        let mut frame = PauseFrame::new(port, time);
        for class in bits(classes) {
            let counter = self.counter_of(from, class);
            let counter = &mut self.counters[counter.index()];
            counter.announced = counter.full;
            if counter.full {
                frame.stop |= class.bit();
                counter.refresh =
                    if counter.storm == Duration::ZERO { refresh } else { refresh.min(at + counter.storm) };
            } else {
                frame.resume |= class.bit();
            }
        }
        self.lines[port.index()].sent += 1;
        self.frames.keep(frame)
    }

    /// The message of a pause frame under way: bits of the classes that it stops, and of those that it lets go on.
    pub fn message(&self, frame: PauseId) -> (u32, u32) {
        self.frames.get(frame).message()
    }

    /// The line of `port` breaks: how many pause frames were on it, and the classes that they were about. They are signalled again by those who
    /// sent them: `own` says that the port is in this part of the config.
    pub fn lose(&mut self, port: PortId, own: bool) -> (u64, u32) {
        let (lost, classes) = self.frames.lose(port);
        if !own {
            return (0, 0);
        }
        let from = self.reverse(port);
        for class in bits(classes) {
            let counter = self.counter_of(from, class);
            self.counters[counter.index()].announced = true;
        }
        self.lines[port.index()].lost += lost;
        (lost, classes)
    }

    /// Pause frames on the line of each port.
    pub fn on_lines(&self) -> Vec<u64> {
        let mut frames = vec![0; self.lines.len()];
        self.frames.lines().for_each(|line| frames[line.index()] += 1);
        frames
    }

    /// The octets that each counter holds, as it has counted.
    pub fn held(&self) -> Vec<u64> {
        self.counters.iter().map(|counter| counter.held).collect()
    }

    /// The counter that holds a frame in a queue, if one does.
    pub fn holder(&self, frame: FrameId) -> Option<CounterId> {
        self.charged.get(frame.index()).copied().filter(|&counter| counter != CounterId::NONE)
    }

    /// How long a queue has been stopped until `now`.
    pub fn paused(&self, queue: QueueId, now: Instant) -> Duration {
        self.stops.get(queue.index()).map_or(Duration::ZERO, |stop| stop.paused(now))
    }

    /// How long queues have waited for credits until `now`, all together.
    pub fn waited_for_credits(&self, now: Instant) -> Duration {
        let Some(credits) = self.credits.as_deref() else { return Duration::ZERO };
        let own = (0..).map(QueueId).zip(&self.stops).filter(|(queue, _)| credits.of_queue(*queue));
        own.fold(Duration::ZERO, |sum, (_, stop)| sum + stop.paused(now))
    }

    /// How often a queue was stopped.
    pub fn stops_of(&self, queue: QueueId) -> u64 {
        self.stops.get(queue.index()).map_or(0, |stop| stop.stops)
    }

    /// The memory of the frames that came in over the line to a queue's port in its class; `None` where no pool counts it.
    pub fn occupancy_of(&self, queue: QueueId) -> Option<Occupancy> {
        self.pools.as_deref()?.occupancy(self.incoming(queue)?)
    }

    /// The most of it since the last reading.
    pub fn most_of(&self, queue: QueueId) -> Option<Occupancy> {
        self.pools.as_deref()?.most(self.incoming(queue)?)
    }

    fn incoming(&self, queue: QueueId) -> Option<CounterId> {
        let (port, class) = self.counted(CounterId(queue.0));
        let from = self.lines.get(port.index())?.reverse;
        (from != PortId::NONE).then(|| self.counter_of(from, class))
    }

    /// Pause frames that let a queue go on.
    pub fn resume_frames(&self, queue: QueueId) -> u64 {
        self.stops.get(queue.index()).map_or(0, |stop| stop.resumes)
    }

    /// Pause frames that stopped a queue.
    pub fn pause_frames(&self, queue: QueueId) -> u64 {
        self.stops.get(queue.index()).map_or(0, |stop| stop.frames)
    }
}

/// The classes of the bits that are set, lowest first.
pub fn bits(mut mask: u32) -> impl Iterator<Item = TrafficClass> {
    core::iter::from_fn(move || {
        let lowest = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(TrafficClass(lowest as u8))
    })
}

impl Pauses {
    /// Whether the pool of a queue of `len`, if it has one, has memory for a frame. `at` is as in [`take_from_pool`](Self::take_from_pool).
    #[inline(always)]
    pub fn pool_has_room(&self, at: (PortId, TrafficClass, PortId), octets: u16, len: u64) -> bool {
        self.pools.as_deref().is_none_or(|pools| pools.has_room(pools.claim(at, octets, len)))
    }

    /// A frame that joins a queue takes memory of the queue's pool, which may be enough to stop a neighbour. `at` is the queue's port
    /// and class, and the line that the frame came over; the queue is `len` octets long.
    #[inline(never)]
    pub fn take_from_pool(
        &mut self,
        now: Instant,
        frame: FrameId,
        at: (PortId, TrafficClass, PortId),
        (octets, len): (u16, u64),
        counter: CounterId,
    ) {
        let Some(pools) = self.pools.as_deref_mut() else { return };
        pools.take(now, frame, pools.claim(at, octets, len));
        if let Some(state) = self.counters.get(counter.index())
            && !state.full
            && pools.is_over(counter)
        {
            self.crossed.push(counter);
        }
    }

    /// One of the ports whose queues share memory with the queue of a claim, by its index among them.
    pub fn port_of_pool(&self, claim: Claim, index: usize) -> Option<PortId> {
        self.pools.as_deref()?.neighbours(claim).get(index).copied()
    }

    /// All pools.
    pub fn pools(&self) -> &[PoolState] {
        self.pools.as_deref().map_or(&[], |pools| &pools.list)
    }

    /// The maxima of all pools start again.
    pub fn restart_extremes(&mut self) {
        if let Some(pools) = self.pools.as_deref_mut() {
            pools.restart_extremes();
        }
    }

    /// The queues that are stopped, since when, and the credits that the first frame of each needs, where it waits for some.
    pub fn stopped(&self) -> impl Iterator<Item = (QueueId, Instant, u64)> + '_ {
        let stops = (0..).map(QueueId).zip(&self.stops);
        let needs = |queue: QueueId| self.credits.as_deref().map_or(0, |credits| credits.states[queue.index()].need);
        stops.filter(|(_, stop)| stop.in_force()).map(move |(queue, stop)| (queue, stop.since, needs(queue)))
    }

    /// The queues whose frames go into a buffer that is full.
    pub fn full(&self) -> impl Iterator<Item = QueueId> + '_ {
        let counters = (0..).map(QueueId).zip(&self.counters);
        counters.filter(|(_, counter)| counter.full || counter.credited).map(|(queue, _)| queue)
    }

    /// Whether a stopped queue goes on once no more than `octets` of its frames are held, which take `memory` of a pool of which the
    /// frames of all that are stuck take `of_pool`. One that waits for credits needs `need` of them.
    pub fn would_go_on(&self, queue: QueueId, (octets, memory, of_pool): (u64, u64, u64), need: u64) -> bool {
        if let Some(credits) = self.credits.as_deref().filter(|credits| credits.of_queue(queue)) {
            return credits.states[queue.index()].would_go_on(memory, need);
        }
        let counter = &self.counters[queue.index()];
        let pools = self.pools.as_deref();
        octets <= counter.xon
            && pools.is_none_or(|pools| {
                pools.would_be_under(CounterId(queue.0), memory, of_pool, counter.xoff - counter.xon)
            })
    }

    /// Whether the frames over the lines of two queues have the same pool.
    pub fn share_a_pool(&self, one: QueueId, other: QueueId) -> bool {
        self.pools.as_deref().is_some_and(|pools| pools.share(CounterId(one.0), CounterId(other.0)))
    }

    /// Memory of a frame in a queue that has a pool, or of one that is held by `counter` of a line with credits.
    pub fn memory(&self, queue: QueueId, counter: CounterId, octets: u16) -> u64 {
        if let Some(credits) = self.credits.as_deref().filter(|credits| credits.counts(counter)) {
            return credits.octets(counter, octets);
        }
        self.pools.as_deref().map_or(0, |pools| pools.memory(queue, octets))
    }

    /// The settings of the watchdog of a port, if it has one.
    pub fn watchdog(&self, port: PortId) -> Option<Watchdog> {
        self.watchdogs.get(port.index()).copied().flatten()
    }

    /// The watchdog of the port of a queue.
    fn watchdog_of(&self, queue: QueueId) -> Option<Watchdog> {
        self.watchdog(PortId(queue.0 / self.per_port))
    }

    /// The watchdog, if it is due: the queue has been stopped for that long, by a storm that it has not counted.
    pub fn watchdog_due(&self, queue: QueueId, now: Instant) -> Option<Watchdog> {
        let watchdog = self.watchdog_of(queue)?;
        let Stop { since, let_off, .. } = self.stops[queue.index()];
        (since != Instant::NEVER && watchdog.due(since, watchdog.after) == now && let_off <= now).then_some(watchdog)
    }

    /// The watchdog has seen a storm at a queue, which lasts until then at the least: the queue ignores pause frames, if it is to.
    pub fn let_off(&mut self, queue: QueueId, until: Instant) {
        let draining = self.watchdog_of(queue).is_some_and(|watchdog| watchdog.action == Action::Drop);
        let stop = &mut self.stops[queue.index()];
        (stop.let_off, stop.draining) = (until, draining);
        self.watchdog_fired += 1;
    }

    /// When a queue that drops its frames is to take them again, if that is after `now`.
    pub fn drains_until(&self, queue: QueueId, now: Instant) -> Option<Instant> {
        let stop = &self.stops[queue.index()];
        (stop.draining && stop.let_off > now).then_some(stop.let_off)
    }

    /// A pause frame for a queue has come. Whether the watchdog lets the queue ignore it: then the time without any begins again.
    #[inline]
    pub fn ignores(&mut self, queue: QueueId, now: Instant) -> bool {
        let Some(watchdog) = self.watchdog_of(queue) else { return false };
        let stop = &mut self.stops[queue.index()];
        if now >= stop.let_off {
            return false;
        }
        stop.let_off = watchdog.due(now, watchdog.restoration);
        watchdog.action != Action::Alert
    }

    /// Whether a queue that drops its frames is to take them again from `now` on.
    pub fn ends_draining(&mut self, queue: QueueId, now: Instant) -> bool {
        let stop = &mut self.stops[queue.index()];
        let ends = stop.draining && stop.let_off == now;
        stop.draining &= !ends;
        ends
    }

    /// Whether a queue drops its frames.
    pub fn is_draining(&self, queue: QueueId) -> bool {
        self.stops[queue.index()].draining
    }

    /// Whether the watchdog drains a queue.
    pub fn drains(&self, port: PortId, class: TrafficClass) -> bool {
        let queue = (port.0 * self.per_port + u32::from(class.0)) as usize;
        self.stops.get(queue).is_some_and(|stop| stop.draining)
    }

    /// Whether a queue drops a frame that comes; it counts.
    pub fn drops_at(&mut self, port: PortId, class: TrafficClass) -> bool {
        let drops = self.drains(port, class);
        self.watchdog_dropped += u64::from(drops);
        drops
    }
}
