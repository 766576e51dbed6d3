//! Priority flow control (802.1Qbb): ingress counters at switches, pause frames between neighbours, stopped queues.
//!
//! ```text
//!   port P ====== data ======> switch: counter of P and priority       held >= xoff: full, held <= xon: no longer
//!    stops[P, priority]           |
//!      ^                          v
//!      +------- PFC frame ------ port B, the way back                  PortState::pauses: the classes to tell of
//! ```
//!
//! A PFC frame has a time for each of the eight priorities. Here it is made when its transmission starts, from the
//! state of the counters at that instant: every change that had to be told until then is in it, and one that was taken
//! back before is not.
//!
//! *Lines that break.* A PFC frame on a broken line is lost, and the queue that it would have stopped or let go is left
//! to its pause time. A stop goes on while its own line is down. When the way back comes up again, the state that was
//! lost on it is told again, ahead of all frames, as the counters stand then.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{BitRate, Duration, Instant, Scheme, units::PS_PER_S};

use crate::deadlock::Deadlock;
use crate::engine::Sim;
use crate::event::{CounterId, Event, MAX_INDEX, PauseId};
use crate::event_queue::{ELSEWHERE, NO_LANE};
use crate::fabric::{Around, Fabric};
use crate::frame::FrameId;
use crate::network::{Network, NodeKind, Port, QueueId};
use crate::pause_frames::{PauseFrame, PauseFrames};
use crate::pfc::{FRAME, QUANTUM_BITS};
use crate::pool::Pools;
use crate::port::PortState;
use crate::probe::Probe;
use crate::watchdog::Watchdog;

/// Longer than any run, and with the longest run still below 2^64: a stop of this length is for good.
const FOREVER: Duration = Duration(1 << 62);

/// The frames of one priority that have come in over one line and are still held.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    held: u64,
    /// 0 where nothing is counted: that line or priority has no ingress buffer.
    buffer: u64,
    pub(crate) xoff: u64,
    pub(crate) xon: u64,
    /// The neighbour is to stop.
    pub(crate) full: bool,
    /// The neighbour was told so last, or the last frame about it was lost on the line.
    told: bool,
    /// When the pause frame is due again, if the counter is still full then.
    refresh: Instant,
}

/// A queue as pause frames stop it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    /// When a stop begins that has been told but is not yet in force.
    from: Instant,
    /// When the stop runs out.
    until: Instant,
    /// Since when it is stopped; never if it is not.
    pub(crate) since: Instant,
    /// Time stopped before that.
    total: Duration,
    /// Pause frames that stopped it or went on stopping it.
    frames: u64,
    /// Times that it was stopped.
    stops: u64,
    /// The storm that the watchdog has seen here lasts until then, if no more pause frames come.
    pub(crate) let_off: Instant,
    /// It drops all frames until then.
    pub(crate) draining: bool,
}

impl Stop {
    /// No stop yet.
    const NONE: Self = Self {
        from: Instant::NEVER,
        until: Instant::ZERO,
        since: Instant::NEVER,
        total: Duration::ZERO,
        frames: 0,
        stops: 0,
        let_off: Instant::ZERO,
        draining: false,
    };
}

/// A line as it carries pause frames.
#[derive(Debug, Clone)]
pub(crate) struct PauseLine {
    /// The port of the opposite direction, or none.
    reverse: PortId,
    /// Present rate of the line.
    rate: BitRate,
    /// From the arrival of a pause frame until the port starts no more frames.
    response: Duration,
    /// Pause frames whose transmission began here, that arrived, and that broke with the line.
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    pub(crate) lost: u64,
}

/// The state of flow control in the whole network.
#[derive(Debug)]
pub(crate) struct Pauses {
    pub(crate) per_port: u32,
    /// A bit for each lossless class.
    lossless: u32,
    /// A bit for each class of which frames that find no room are cut down to their headers.
    pub(crate) trimmed: u32,
    /// Pause time of a frame, in bits of the stopped port.
    bits: u64,
    /// For each port and class: the frames that came over its line and are still held. Empty without flow control, as
    /// the two lists that follow.
    pub(crate) counters: Vec<Counter>,
    /// For each queue.
    pub(crate) stops: Vec<Stop>,
    pub(crate) lines: Vec<PauseLine>,
    /// For each slot of a frame in a queue of a watched port: its counter, or none.
    charged: Vec<CounterId>,
    /// Counters that have crossed a threshold.
    pub(crate) crossed: Vec<CounterId>,
    pub(crate) frames: PauseFrames,
    /// The pools of switches, where there are any; frames there count as they come and go, too.
    pub(crate) pools: Option<Box<Pools>>,
    pub(crate) watchdog: Option<Watchdog>,
    /// How often it has acted, and the frames that it has dropped.
    pub(crate) watchdog_fired: u64,
    pub(crate) watchdog_dropped: u64,
    /// The deadlocks that it has broken.
    pub(crate) deadlocks: Vec<Deadlock>,
}

impl Pauses {
    /// The state at the start: nothing is held, nothing is stopped.
    ///
    /// # Panics
    /// If `network.pfc` is not as its documentation says.
    pub(crate) fn new(network: &Network) -> Self {
        let per_port = network.queues_per_port();
        let mut pauses = Self {
            per_port: per_port as u32,
            lossless: 0,
            trimmed: network.trimmed.iter().fold(0, |bits, &priority| bits | network.class(priority).bit()),
            bits: 0,
            counters: Vec::new(),
            stops: Vec::new(),
            lines: Vec::new(),
            charged: Vec::new(),
            crossed: Vec::new(),
            frames: PauseFrames::default(),
            pools: Pools::new(network),
            watchdog: network.pfc.as_ref().and_then(|pfc| pfc.watchdog),
            watchdog_fired: 0,
            watchdog_dropped: 0,
            deadlocks: Vec::new(),
        };
        let Some(pfc) = &network.pfc else { return pauses };
        let queues = network.ports.len() * per_port;
        assert!(queues < MAX_INDEX, "a network with flow control has at most {MAX_INDEX} queues");
        assert!(pfc.quanta > 0, "a pause of no time stops nothing");
        assert_eq!(pfc.ingress.len(), network.ports.len(), "an entry for each port");
        for &priority in &pfc.priorities {
            pauses.lossless |= network.class(priority).bit();
        }
        pauses.bits = u64::from(pfc.quanta) * QUANTUM_BITS;
        let responses = pfc.responses.iter().copied().chain(std::iter::repeat(Duration::ZERO));
        let line = |(port, response): (&Port, Duration)| {
            let reverse = PortId::NONE;
            PauseLine { reverse, rate: port.rate, response, sent: 0, arrived: 0, lost: 0 }
        };
        pauses.lines = network.ports.iter().zip(responses).map(line).collect();
        let made = network.processes.list.iter().flat_map(|process| process.links.iter().map(|crossed| crossed.link));
        for (port, back) in network.hops.iter().map(|hop| (hop.port, hop.back)).chain(made) {
            for (port, back) in [(port, back), (back, port)] {
                let reverse = &mut pauses.lines[port.index()].reverse;
                assert!(*reverse == PortId::NONE || *reverse == back, "port {} has two ways back", port.0);
                *reverse = back;
            }
        }
        let refresh = Instant::NEVER;
        let nothing = Counter { held: 0, buffer: 0, xoff: u64::MAX, xon: 0, full: false, told: false, refresh };
        pauses.counters = vec![nothing; queues];
        pauses.stops = vec![Stop::NONE; queues];
        for (index, ingress) in pfc.ingress.iter().enumerate() {
            let Some(ingress) = ingress else { continue };
            let peer = &network.nodes[network.ports[index].peer.index()];
            assert!(peer.kind == NodeKind::Switch, "port {index} leads to a host, which sends no pause frames");
            let (buffer, xoff, xon) = (ingress.buffer.0, ingress.xoff.0, ingress.xon.0);
            assert!(xon < xoff && xoff <= buffer, "port {index}: {ingress:?}");
            for class in bits(pauses.lossless) {
                let counter = &mut pauses.counters[index * per_port + class.index()];
                (counter.buffer, counter.xoff, counter.xon) = (buffer, xoff, xon);
            }
        }
        pauses
    }

    /// Whether there is flow control.
    #[inline(always)]
    pub(crate) fn stops_neighbours(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The counter of the frames that come over the line of port `from` (none: from nowhere) in `class`, if there is
    /// one.
    #[inline(always)]
    pub(crate) fn counter(&self, from: PortId, class: TrafficClass) -> CounterId {
        if self.lossless & class.bit() == 0 || from == PortId::NONE {
            return CounterId::NONE;
        }
        let counter = self.counter_of(from, class);
        if self.counters[counter.index()].buffer == 0 { CounterId::NONE } else { counter }
    }

    /// The place of the counter of the frames that come over the line of port `from` in `class`.
    #[inline(always)]
    fn counter_of(&self, from: PortId, class: TrafficClass) -> CounterId {
        CounterId(from.0 * self.per_port + u32::from(class.0))
    }

    /// The port over whose line the frames of a counter come, and their class.
    fn counted(&self, counter: CounterId) -> (PortId, TrafficClass) {
        (PortId(counter.0 / self.per_port), TrafficClass((counter.0 % self.per_port) as u8))
    }

    /// Whether the ingress buffer takes a frame.
    #[inline(always)]
    pub(crate) fn has_room(&self, counter: CounterId, octets: u16) -> bool {
        let counter = &self.counters[counter.index()];
        counter.held + u64::from(octets) <= counter.buffer
    }

    /// A frame joins a queue; it is held by `counter`, or by none.
    #[inline(always)]
    pub(crate) fn hold(&mut self, frame: FrameId, counter: CounterId, octets: u16) {
        if frame.index() >= self.charged.len() {
            self.charged.resize(frame.index() + 1, CounterId::NONE);
        }
        self.charged[frame.index()] = counter;
        if let Some(state) = self.counters.get_mut(counter.index()) {
            state.held += u64::from(octets);
            if state.held >= state.xoff && !state.full {
                self.crossed.push(counter);
            }
        }
    }

    /// A frame departs from its queue.
    #[inline(always)]
    pub(crate) fn let_go(&mut self, frame: FrameId, octets: u16) {
        let counter = self.charged[frame.index()];
        if let Some(state) = self.counters.get_mut(counter.index()) {
            state.held -= u64::from(octets);
            if state.held <= state.xon && state.full {
                self.crossed.push(counter);
            }
        }
    }

    /// The rate of a port's line changes.
    pub(crate) fn set_rate(&mut self, port: PortId, rate: BitRate) {
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
    fn reverse(&self, port: PortId) -> PortId {
        self.lines[port.index()].reverse
    }

    /// The pause frame whose transmission on the line of `port` starts at `at`, about `classes`; its number.
    fn compose(&mut self, port: PortId, classes: u32, at: Instant) -> PauseId {
        let from = self.reverse(port);
        let time = self.time(from);
        let refresh = at + Duration(time.0 / 2);
        let mut frame = PauseFrame::new(port, time);
        for class in bits(classes) {
            let counter = self.counter_of(from, class);
            let counter = &mut self.counters[counter.index()];
            counter.told = counter.full;
            if counter.full {
                frame.stop |= class.bit();
                counter.refresh = refresh;
            } else {
                frame.resume |= class.bit();
            }
        }
        self.lines[port.index()].sent += 1;
        self.frames.keep(frame)
    }

    /// The message of a pause frame under way: bits of the classes that it stops, and of those that it lets go on.
    pub(crate) fn told(&self, frame: PauseId) -> (u32, u32) {
        self.frames.get(frame).told()
    }

    /// The line of `port` breaks: how many pause frames were on it, and the classes that they were about. They are told again by those who
    /// sent them: `own` says that the port is in this part of the network.
    fn lose(&mut self, port: PortId, own: bool) -> (u64, u32) {
        let (lost, classes) = self.frames.lose(port);
        if !own {
            return (0, 0);
        }
        let from = self.reverse(port);
        for class in bits(classes) {
            let counter = self.counter_of(from, class);
            self.counters[counter.index()].told = true;
        }
        self.lines[port.index()].lost += lost;
        (lost, classes)
    }

    /// Pause frames on the line of each port.
    pub(crate) fn on_lines(&self) -> Vec<u64> {
        let mut frames = vec![0; self.lines.len()];
        self.frames.lines().for_each(|line| frames[line.index()] += 1);
        frames
    }

    /// The octets that each counter holds, as it has counted.
    pub(crate) fn held(&self) -> Vec<u64> {
        self.counters.iter().map(|counter| counter.held).collect()
    }

    /// The counter that holds a frame in a queue, if one does.
    pub(crate) fn holder(&self, frame: FrameId) -> Option<CounterId> {
        self.charged.get(frame.index()).copied().filter(|&counter| counter != CounterId::NONE)
    }

    /// How long a queue has been stopped until `now`.
    pub(crate) fn paused(&self, queue: QueueId, now: Instant) -> Duration {
        self.stops.get(queue.index()).map_or(Duration::ZERO, |stop| stop.total + now.since(stop.since))
    }

    /// How often a queue was stopped.
    pub(crate) fn stops_of(&self, queue: QueueId) -> u64 {
        self.stops.get(queue.index()).map_or(0, |stop| stop.stops)
    }

    /// Pause frames that stopped a queue.
    pub(crate) fn pause_frames(&self, queue: QueueId) -> u64 {
        self.stops.get(queue.index()).map_or(0, |stop| stop.frames)
    }
}

/// The classes of the bits that are set, lowest first.
fn bits(mut mask: u32) -> impl Iterator<Item = TrafficClass> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(TrafficClass(place as u8))
    })
}

impl<S: Scheme, const PFC: bool, const POOL: bool> Around<'_, S, PFC, POOL> {
    /// The line is free and a pause frame waits for it.
    #[cold]
    pub(crate) fn send_pause(&mut self, p: &mut PortState) {
        let at = p.busy_until;
        let classes = std::mem::take(&mut p.pauses);
        let wire_octets = u32::from(FRAME) + p.overhead;
        let finish = at.after(p.serialise(wire_octets));
        p.busy_until = finish;
        p.octets += u64::from(wire_octets);
        let frame = self.pauses.compose(p.index, classes, at);
        if p.tapped() {
            self.taps.pause_starts(p.index, frame, at);
        }
        self.events.schedule(finish, Event::LineFree(p.index));
        let arrival = finish.after(p.latency);
        self.events.schedule_from(NO_LANE, arrival, Event::Pause(frame), p.index.into());
        if p.lane == ELSEWHERE {
            self.pauses.frames.send_abroad(arrival, p.index, frame);
        }
        let from = self.pauses.reverse(p.index);
        for class in bits(self.pauses.frames.get(frame).stop) {
            let counter = self.pauses.counter_of(from, class);
            let due = self.pauses.counters[counter.index()].refresh;
            self.events.schedule(due, Event::Refresh(counter));
        }
    }
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// Tells neighbours of the counters that have crossed a threshold in this event.
    #[inline(always)]
    pub(crate) fn review(&mut self) {
        while let Some(counter) = self.pauses.crossed.pop() {
            self.review_counter(counter);
        }
    }

    #[cold]
    fn review_counter(&mut self, counter: CounterId) {
        let pools = self.pauses.pools.as_deref();
        let state = &mut self.pauses.counters[counter.index()];
        let is_over = state.held >= state.xoff || pools.is_some_and(|pools| pools.is_over(counter));
        let offset = state.xoff - state.xon;
        let is_under = state.held <= state.xon && pools.is_none_or(|pools| pools.is_under(counter, offset));
        if !state.full && is_over {
            state.full = true;
            self.tell(counter);
        } else if state.full && is_under {
            state.full = false;
            if state.told {
                self.tell(counter);
            } else {
                // The stop still waits for the line.
                let (from, class) = self.pauses.counted(counter);
                let back = self.pauses.reverse(from);
                self.ports[back.index()].pauses &= !class.bit();
            }
        }
    }

    /// A pause frame goes back to the neighbour from whom this counter's frames come, as soon as the line is free.
    fn tell(&mut self, counter: CounterId) {
        let (from, class) = self.pauses.counted(counter);
        let (p, mut around) = self.at(self.pauses.reverse(from));
        p.pauses |= class.bit();
        // An idle line; a watched port has settled the transmissions that ended before.
        p.busy_until = p.busy_until.max(around.now);
        around.settle(p);
    }

    /// Half of the pause time is over: the stop is renewed if it is still needed.
    fn refresh(&mut self, counter: CounterId) {
        let state = &mut self.pauses.counters[counter.index()];
        if state.refresh == self.now {
            state.refresh = Instant::NEVER;
            if state.full {
                self.tell(counter);
            }
        }
    }

    /// The line of `port` has broken, with the pause frames on it: they are made again when it is whole, in the part of the network that
    /// has the port (`own`).
    pub(crate) fn lose_pauses(&mut self, port: PortId, own: bool) {
        if self.pauses.lines.is_empty() {
            return;
        }
        let (lost, classes) = self.pauses.lose(port, own);
        let p = &mut self.ports[port.index()];
        p.ledger.lost += lost;
        p.pauses |= classes;
    }

    fn stop_of(&mut self, port: PortId, class: TrafficClass) -> &mut Stop {
        let queue = self.queue_at(port, class);
        &mut self.pauses.stops[queue.index()]
    }

    /// A pause frame for a queue has arrived: it is to stop for `time`.
    fn told_to_stop(&mut self, port: PortId, class: TrafficClass, time: Duration) {
        let (now, until) = (self.now, self.now + time);
        let from = now + self.pauses.lines[port.index()].response;
        let queue = self.queue_at(port, class);
        self.pauses.stops[queue.index()].frames += 1;
        if self.pauses.ignores(queue, now) {
            return;
        }
        let stop = &mut self.pauses.stops[queue.index()];
        stop.until = until;
        if stop.since == Instant::NEVER {
            stop.from = stop.from.min(from);
            if stop.from <= now {
                self.stop(port, class);
            } else {
                self.events.schedule(from, Event::Stopping(port));
            }
        }
        self.events.schedule(until, Event::Stopping(port));
    }

    /// From now on no frame of `class` starts. One that could start at this instant has.
    fn stop(&mut self, port: PortId, class: TrafficClass) {
        self.settle(port);
        self.ports[port.index()].stopped |= class.bit();
        let now = self.now;
        let stop = self.stop_of(port, class);
        (stop.from, stop.since) = (Instant::NEVER, now);
        stop.stops += 1;
        if let Some(watchdog) = self.pauses.watchdog
            && self.port(port).watched()
        {
            self.events.schedule(watchdog.due(now, watchdog.after), Event::Watchdog(self.queue_at(port, class)));
        }
    }

    /// A stop of `class`, if there is one, is over; true if it was in force.
    fn go_on(&mut self, port: PortId, class: TrafficClass) -> bool {
        let now = self.now;
        let stop = self.stop_of(port, class);
        stop.from = Instant::NEVER;
        if stop.since == Instant::NEVER {
            return false;
        }
        let since = std::mem::replace(&mut stop.since, Instant::NEVER);
        stop.total = stop.total + now.since(since);
        self.histograms.stopped((port, class), since, now);
        let (p, mut around) = self.at(port);
        around.settle(p);
        p.stopped &= !class.bit();
        // A waiting frame starts now, not when the line became free.
        p.busy_until = p.busy_until.max(now);
        around.settle(p);
        true
    }
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// Handles the events of flow control.
    #[cold]
    pub(crate) fn flow_control(&mut self, event: Event) {
        match event {
            Event::Pause(frame) => self.pause_arrives(frame),
            Event::Stopping(port) => self.stopping(port),
            Event::Refresh(counter) => self.state.fabric.refresh(counter),
            Event::Watchdog(queue) => self.watchdog(queue),
            other => unreachable!("{other:?} is no event of flow control"),
        }
    }

    /// A pause frame has reached the far end of its line.
    fn pause_arrives(&mut self, frame: PauseId) {
        let fabric = &mut self.state.fabric;
        let Some(frame) = fabric.pauses.frames.land(frame) else {
            // It is an event where it arrives.
            self.housekeeping += 1;
            return;
        };
        let Some(line) = fabric.pauses.lines.get_mut(frame.line.index()) else { return };
        line.arrived += 1;
        fabric.ports[frame.line.index()].hops += 1;
        self.show_pause(frame.line, frame.told());
        let fabric = &mut self.state.fabric;
        let port = fabric.pauses.reverse(frame.line);
        for class in bits(frame.stop) {
            self.state.fabric.told_to_stop(port, class, frame.time);
        }
        for class in bits(frame.resume) {
            let queue = self.state.fabric.queue_at(port, class);
            self.state.fabric.pauses.ignores(queue, self.state.fabric.now);
            self.go_on(port, class);
        }
    }

    /// A stop of a queue of `port` may be due to begin, or to run out.
    fn stopping(&mut self, port: PortId) {
        let now = self.state.fabric.now;
        for class in bits(self.state.fabric.pauses.lossless) {
            let stop = *self.state.fabric.stop_of(port, class);
            if stop.until <= now {
                self.go_on(port, class);
            } else if stop.from <= now {
                self.state.fabric.stop(port, class);
            }
        }
    }

    /// A stop is over: the frames that waited may go.
    pub(crate) fn go_on(&mut self, port: PortId, class: TrafficClass) {
        if self.state.fabric.go_on(port, class) {
            self.state.sources.unpark(self.state.fabric.now, port, class);
            self.arm_turn(port);
        }
    }
}
