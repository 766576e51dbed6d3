//! Priority flow control by the simulator's switch: its pools, its counters with their thresholds, its stops and their watchdog are those
//! of `penstock_switch`, driven clock by clock.

use std::collections::BTreeSet;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::none::{Config as Parameters, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_switch::config::{Ingress, Node, NodeKind, Pfc, Pool, Port, Share, Watchdog};
use penstock_switch::events::{CounterId, FrameId, Lane, NodeId, PauseId, QueueId};
use penstock_switch::{Config, Events, Fabric, Full, Timer};

/// A clock of a core.
pub const CLOCK: Duration = Duration(1_000);
/// More octets than any core counts.
const ENDLESS: Octets = Octets(1 << 30);
const PRIORITIES: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The time of a clock.
fn at(clock: u64) -> Instant {
    Instant(clock * CLOCK.0)
}

/// The timers of a switch, and its pause frames that have landed.
#[derive(Debug, Default)]
struct Agenda {
    timers: BTreeSet<(Instant, Timer)>,
    pauses: Vec<PauseId>,
}

impl Events for Agenda {
    fn wake(&mut self, at: Instant, timer: Timer) {
        self.timers.insert((at, timer));
    }
    fn deliver(&mut self, _: Instant, _: FrameId, _: PortId, _: Lane) {}
    fn deliver_corrupted(&mut self, _: Instant, _: FrameId, _: PortId) {}
    fn deliver_pause(&mut self, _: Instant, pause: PauseId, _: PortId) {
        self.pauses.push(pause);
    }
}

/// A switch, to which `lines` lead (port `2 i` sends over line `i`, port `2 i + 1` back), and a port behind them that sends nothing.
fn switch(lines: u32, pfc: &Pfc, pools: &[Pool]) -> Fabric<NoControl, Agenda, Full> {
    let host = |number: u32| Node::new(NodeKind::Host, u64::from(number) + 1);
    let nodes: Vec<Node> = std::iter::once(Node::new(NodeKind::Switch, 1)).chain((1..lines + 2).map(host)).collect();
    let rate = BitRate(1_000_000_000_000);
    let line = |line: u32| [(line + 1, 0), (0, line + 1)];
    let port = |(from, to): (u32, u32)| Port::new(NodeId(from), NodeId(to), rate, Duration::ZERO);
    let ports: Vec<Port> = (0..lines).flat_map(line).chain([(0, lines + 1)]).map(port).collect();
    let mut config = Config::new(&nodes, &ports);
    config.reverse = (0..2 * lines).map(|port| PortId(port ^ 1)).chain([PortId::NONE]).collect();
    config.priorities = &PRIORITIES;
    config.pfc = Some(pfc);
    config.pools = pools;
    Fabric::new(&config, Vec::new(), &std::array::from_fn::<_, 8, _>(|_| Parameters {}), 1, Agenda::default())
}

/// Settings of `pfc_pool`, of each priority where there are eight.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolSettings {
    /// Octets of the shared part, and of the headroom of all lines and of one.
    pub shared: u32,
    /// See there.
    pub headroom: u32,
    /// See there.
    pub most: u32,
    /// The exponent of a dynamic threshold's factor.
    pub alpha: [Option<i8>; 8],
    /// From this number of octets on a neighbour is to stop, and at the other it may go on.
    pub xoff: [u32; 8],
    /// See there.
    pub xon: [u32; 8],
}

/// Memory that the frames of several lines share.
#[derive(Debug)]
pub struct SharedMemory {
    fabric: Fabric<NoControl, Agenda, Full>,
    lines: u32,
    lossless: u8,
    /// Octets of the queues, which all frames of a priority join.
    len: [u64; 8],
    free: Vec<FrameId>,
    frames: u32,
}

/// A frame that is held.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    frame: FrameId,
    /// Its line, priority and length.
    pub line: u32,
    /// See there.
    pub priority: u8,
    /// See there.
    pub octets: u16,
}

impl SharedMemory {
    /// That of `lines` lines, with a bit of `lossless` for each priority that is.
    ///
    /// # Panics
    /// Never: there are eight priorities.
    #[must_use]
    pub fn new(lines: u32, lossless: u8, settings: &PoolSettings) -> Self {
        let priorities = PRIORITIES.into_iter().filter(|p| lossless & 1 << p != 0).collect();
        let ingress = |port: u32| {
            let buffer = Ingress { buffer: ENDLESS, xoff: Octets(2), xon: Octets(1) };
            (port < 2 * lines && port.is_multiple_of(2)).then_some(buffer)
        };
        let pfc = Pfc::new(priorities, (0..=2 * lines).map(ingress).collect());
        let mut pool = Pool::new(NodeId(0), PRIORITIES.into(), Octets(settings.shared.into()));
        pool.headroom = Octets(settings.headroom.into());
        pool.lines = (0..lines).map(|line| (PortId(2 * line), Octets(settings.most.into()))).collect();
        let share = |alpha: Option<i8>| Share { alpha: alpha.map(|e| f64::from(e).exp2()), ..Share::FREE };
        pool.ingress = settings.alpha.map(share).into();
        let mut fabric = switch(lines, &pfc, &[pool]);
        for port in (0..lines).map(|line| PortId(2 * line)) {
            for priority in 0..8usize {
                let counter = fabric.pauses.counter_of(port, TrafficClass(priority as u8));
                let counter = &mut fabric.pauses.counters[counter.index()];
                if lossless & 1 << priority != 0 {
                    (counter.xoff, counter.xon) = (settings.xoff[priority].into(), settings.xon[priority].into());
                    counter.set_full(false);
                }
            }
        }
        Self { fabric, lines, lossless, len: [0; 8], free: Vec::new(), frames: 0 }
    }

    fn out(&self) -> PortId {
        PortId(2 * self.lines)
    }

    fn counter(&self, line: u32, priority: u8) -> CounterId {
        self.fabric.pauses.counter_of(PortId(2 * line), TrafficClass(priority))
    }

    /// Signals what has changed; the pause frames are at their far ends at once.
    fn review(&mut self) {
        self.fabric.review();
        while let Some(pause) = self.fabric.events.pauses.pop() {
            self.fabric.land_pause(pause);
        }
        self.fabric.events.timers.clear();
    }

    /// A frame comes over a line: it is held, or has no room.
    pub fn arrive(&mut self, clock: u64, line: u32, priority: u8, octets: u16) -> Option<Held> {
        self.fabric.now = at(clock);
        let place = (self.out(), TrafficClass(priority), PortId(2 * line));
        let len = self.len[usize::from(priority)];
        let pauses = &mut self.fabric.pauses;
        if !pauses.pool_has_room(place, octets, len) {
            return None;
        }
        let frame = self.free.pop().unwrap_or_else(|| {
            self.frames += 1;
            FrameId(self.frames - 1)
        });
        let counter = pauses.ingress(place.2, place.1, octets).counter;
        pauses.take_from_pool(at(clock), frame, place, (octets, len), counter);
        pauses.hold(frame, counter, octets);
        self.len[usize::from(priority)] += u64::from(octets);
        self.review();
        Some(Held { frame, line, priority, octets })
    }

    /// A frame is held no longer.
    ///
    /// # Panics
    /// Never: there is a pool.
    pub fn depart(&mut self, clock: u64, held: Held) {
        self.fabric.now = at(clock);
        let queue = QueueId(self.out().0 * self.fabric.per_port + u32::from(held.priority));
        self.fabric.pauses.let_go(held.frame, held.octets);
        let pools = self.fabric.pauses.pools.as_deref_mut().expect("there is a pool");
        pools.give_back(at(clock), queue, held.frame, held.octets);
        self.len[usize::from(held.priority)] -= u64::from(held.octets);
        self.free.push(held.frame);
        self.review();
    }

    /// Whether the neighbour at a line is to stop.
    #[must_use]
    pub fn is_full(&self, line: u32, priority: u8) -> bool {
        let lossless = self.lossless & 1 << priority != 0;
        lossless && self.fabric.pauses.counters[self.counter(line, priority).index()].full
    }

    /// Octets of the shared part and of the headroom that the frames of a line and a priority hold, and the most of both.
    ///
    /// # Panics
    /// Never: there is a pool.
    #[must_use]
    pub fn holds(&self, line: u32, priority: u8) -> [u32; 4] {
        let pools = self.fabric.pauses.pools.as_deref().expect("there is a pool");
        let counter = self.counter(line, priority);
        let [now, most] = [pools.occupancy(counter), pools.most(counter)].map(|both| both.expect("it is counted"));
        [now.shared, now.headroom, most.shared, most.headroom].map(|octets| octets as u32)
    }

    /// Octets of the headroom that all take, and the most of them.
    #[must_use]
    pub fn headroom(&self) -> [u32; 2] {
        let pool = &self.fabric.pauses.pools()[0];
        [pool.in_headroom, pool.most_in_headroom].map(|octets| octets as u32)
    }

    /// The watermarks start again.
    pub fn restart(&mut self) {
        self.fabric.pauses.restart_extremes();
    }
}

/// The queues of a port that obeys pause frames, with a watchdog or without.
#[derive(Debug)]
pub struct Watched {
    fabric: Fabric<NoControl, Agenda, Full>,
    now: u64,
}

impl Watched {
    const PORT: PortId = PortId(1);

    /// All eight priorities are lossless.
    #[must_use]
    pub fn new(watchdog: Option<Watchdog>) -> Self {
        let mut pfc = Pfc::new(PRIORITIES.into(), vec![None; 3]);
        pfc.watch(watchdog);
        Self { fabric: switch(1, &pfc, &[]), now: 0 }
    }

    fn queue(priority: u8) -> QueueId {
        QueueId(Self::PORT.0 * (PRIORITIES.len() as u32 + 1) + u32::from(priority))
    }

    /// A clock. A pause frame that comes in it says how many clocks each priority is to stop, or nothing.
    pub fn clock(&mut self, clock: u64, frame: Option<[Option<u64>; 8]>) {
        self.now = clock;
        self.fabric.now = at(clock);
        for (priority, time) in (0u8..).zip(frame.into_iter().flatten()) {
            if let Some(clocks) = time {
                self.fabric.obey(Self::PORT, TrafficClass(priority), Duration(clocks * CLOCK.0));
            }
        }
        // In the order of their kinds.
        while let Some(&(due, timer)) = self.fabric.events.timers.first()
            && due <= at(clock)
        {
            self.fabric.events.timers.pop_first();
            self.fabric.expire(timer);
        }
        self.fabric.review();
        self.fabric.resumed.clear();
        self.fabric.flushed.clear();
    }

    fn bits(of: impl Fn(u8) -> bool) -> u8 {
        PRIORITIES.into_iter().filter(|&p| of(p)).fold(0, |bits, p| bits | 1 << p)
    }

    /// A bit for each priority that is stopped.
    #[must_use]
    pub fn paused(&self) -> u8 {
        Self::bits(|p| self.fabric.pauses.stops[Self::queue(p).index()].in_force())
    }

    /// A bit for each priority whose queue drops its frames.
    #[must_use]
    pub fn drops(&self) -> u8 {
        Self::bits(|p| self.fabric.pauses.is_draining(Self::queue(p)))
    }

    /// Clocks in which a priority was stopped.
    #[must_use]
    pub fn pause_clocks(&self, priority: u8) -> u64 {
        self.fabric.pauses.paused(Self::queue(priority), at(self.now)).0 / CLOCK.0
    }

    /// Storms that the watchdog has seen.
    #[must_use]
    pub fn storms(&self) -> u64 {
        self.fabric.pauses.watchdog_fired
    }
}
