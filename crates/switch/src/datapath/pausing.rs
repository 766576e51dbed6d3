//! Ports send pause frames and obey them.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Instant, Scheme};

use crate::datapath::{Fabric, HopContext};
use crate::events::{CounterId, Events, PauseId, Timer};
use crate::flow_control::pause::bits;
use crate::flow_control::pause_frames::PauseFrame;
use crate::flow_control::pfc::FRAME;
use crate::flow_control::stop::Stop;
use crate::model::Model;
use crate::state::port::{BY_PAUSE, PAUSES, PortState};

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// The line is free and a pause frame waits for it.
    #[cold]
    pub(crate) fn send_pause(&mut self, p: &mut PortState) {
        let at = p.busy_until;
        let classes = p.pauses & PAUSES;
        p.pauses &= !PAUSES;
        let wire_octets = u32::from(FRAME) + p.overhead;
        let finish = at.after(p.serialise(wire_octets));
        p.busy_until = finish;
        p.ledger.pause_octets += u64::from(wire_octets);
        let frame = self.pauses.compose(p.index, classes, at);
        if p.captured() {
            self.observed.line_capture.pause_starts(p.index, frame, at);
        }
        self.events.wake(finish, Timer::LineFree(p.index));
        let arrival = finish.after(p.latency);
        let corrupted = p.ledger.impairments.hit(at, wire_octets, false);
        self.carry(p, frame, arrival, corrupted);
        let from = self.pauses.reverse(p.index);
        for class in bits(self.pauses.frames.get(frame).stop) {
            let counter = self.pauses.counter_of(from, class);
            let due = self.pauses.counters[counter.index()].refresh;
            self.events.wake(due, Timer::Refresh(counter));
        }
    }
}

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// Tells neighbours of the counters that have crossed a threshold in this event.
    #[inline(always)]
    pub fn review(&mut self) {
        while let Some(counter) = self.pauses.crossed.pop() {
            self.review_counter(counter);
        }
    }

    #[cold]
    fn review_counter(&mut self, counter: CounterId) {
        let pools = self.pauses.pools.as_deref();
        let state = &mut self.pauses.counters[counter.index()];
        if state.credited {
            return self.review_credits(counter);
        }
        let storms = state.storm != Duration::ZERO;
        let is_over = storms || state.held >= state.xoff || pools.is_some_and(|pools| pools.is_over(counter));
        let offset = state.xoff - state.xon;
        let is_under = !storms && state.held <= state.xon && pools.is_none_or(|pools| pools.is_under(counter, offset));
        if !state.full && is_over {
            state.set_full(true);
            self.announce(counter);
        } else if state.full && is_under {
            state.set_full(false);
            if state.announced {
                self.announce(counter);
            } else {
                // The stop still waits for the line.
                let (from, class) = self.pauses.counted(counter);
                let back = self.pauses.reverse(from);
                self.ports[back.index()].pauses &= !class.bit();
            }
        }
    }

    /// A pause frame goes back to the neighbour from whom this counter's frames come, as soon as the line is free.
    fn announce(&mut self, counter: CounterId) {
        let (from, class) = self.pauses.counted(counter);
        self.ask_for_line(self.pauses.reverse(from), class.bit());
    }

    /// A timer of flow control or of a shaper expires.
    ///
    /// # Panics
    /// If the timer is that of a congestion point: see [`cp_timeout`](Self::cp_timeout).
    #[cold]
    pub fn expire(&mut self, timer: Timer) {
        match timer {
            Timer::LineFree(port) => self.settle(port),
            Timer::Shaper(port) => self.let_go_shaped(port),
            Timer::Stopping(port) => self.stopping(port),
            Timer::Refresh(counter) => self.refresh(counter),
            Timer::Watchdog(queue) => self.watchdog(queue),
            Timer::Link(port) => self.link_timer(port),
            Timer::CongestionPoint(_) => unreachable!("congestion points have signals to send"),
        }
    }

    /// Half of the pause time has passed: a stop that is still needed is renewed.
    fn refresh(&mut self, counter: CounterId) {
        let state = &mut self.pauses.counters[counter.index()];
        if state.refresh == self.now {
            state.refresh = Instant::NEVER;
            if state.full {
                self.announce(counter);
            }
        }
    }

    /// The line of `port` has broken, with the pause frames on it: they are made again when it is whole, in the part of the network that
    /// has the port (`own`).
    pub fn lose_pauses(&mut self, port: PortId, own: bool) {
        if self.pauses.lines.is_empty() {
            return;
        }
        let (lost, classes) = self.pauses.lose(port, own);
        let p = &mut self.ports[port.index()];
        p.ledger.lost += lost;
        p.pauses |= classes;
    }

    /// The stops of a queue.
    fn stop_of(&mut self, port: PortId, class: TrafficClass) -> &mut Stop {
        let queue = self.queue_at(port, class);
        &mut self.pauses.stops[queue.index()]
    }

    /// A pause frame of this switch has reached the far end of its line, or was to.
    pub fn land_pause(&mut self, frame: PauseId) -> Landed {
        let Some(frame) = self.pauses.frames.land(frame) else { return Landed::Elsewhere };
        let Some(line) = self.pauses.lines.get_mut(frame.line.index()) else { return Landed::Lost };
        if frame.corrupted {
            line.lost += 1;
            self.ports[frame.line.index()].ledger.impairments.count(None);
            return Landed::Corrupted(frame);
        }
        line.arrived += 1;
        self.ports[frame.line.index()].hops += 1;
        Landed::Arrived(frame)
    }

    /// A pause frame for the queue of `class` at `port` has arrived: it is to stop for `time`, or to go on if that is zero.
    pub fn obey(&mut self, port: PortId, class: TrafficClass, time: Duration) {
        if time != Duration::ZERO {
            return self.receive_pause(port, class, time);
        }
        let queue = self.queue_at(port, class);
        self.pauses.stops[queue.index()].resumes += 1;
        self.pauses.ignores(queue, self.now);
        self.go_on(port, class);
    }

    /// It is to stop for `time`.
    fn receive_pause(&mut self, port: PortId, class: TrafficClass, time: Duration) {
        let (now, until) = (self.now, self.now + time);
        let from = now + self.pauses.lines[port.index()].response;
        let queue = self.queue_at(port, class);
        self.pauses.stops[queue.index()].frames += 1;
        if self.pauses.ignores(queue, now) {
            return;
        }
        let stop = &mut self.pauses.stops[queue.index()];
        stop.ask(from, until);
        if stop.from <= now {
            self.stop(port, class);
        } else if !stop.in_force() {
            self.events.wake(from, Timer::Stopping(port));
        }
        self.events.wake(until, Timer::Stopping(port));
    }

    /// A stop of a queue of `port` may be due to begin, or to run out.
    fn stopping(&mut self, port: PortId) {
        for class in bits(self.pauses.lossless) {
            let stop = *self.stop_of(port, class);
            if stop.until <= self.now {
                self.go_on(port, class);
            } else if stop.from <= self.now {
                self.stop(port, class);
            }
        }
    }

    /// From now on no frame of `class` starts. One that could start at this instant has.
    fn stop(&mut self, port: PortId, class: TrafficClass) {
        self.settle(port);
        self.ports[port.index()].hold(class, BY_PAUSE);
        let now = self.now;
        self.stop_of(port, class).begin(now);
        if let Some(watchdog) = self.pauses.watchdog(port)
            && self.port(port).flow_controlled()
        {
            self.events.wake(watchdog.due(now, watchdog.after), Timer::Watchdog(self.queue_at(port, class)));
        }
    }

    /// Ends the stop of `class`, if there is one.
    pub(super) fn go_on(&mut self, port: PortId, class: TrafficClass) {
        let now = self.now;
        let Some(since) = self.stop_of(port, class).end(now) else { return };
        self.observed.histograms.stopped((port, class), since, now);
        let (p, mut context) = self.at(port);
        context.settle(p);
        p.let_go(class, BY_PAUSE);
        // A waiting frame starts now, not when the line became free.
        p.busy_until = p.busy_until.max(now);
        context.settle(p);
        self.resumed.push((port, class));
    }
}

/// A pause frame at the end of its line.
#[derive(Debug, Clone, Copy)]
pub enum Landed {
    /// It has arrived.
    Arrived(PauseFrame),
    /// It has arrived, and its content is wrong.
    Corrupted(PauseFrame),
    /// It was lost on the line.
    Lost,
    /// It arrives at another driver.
    Elsewhere,
}
