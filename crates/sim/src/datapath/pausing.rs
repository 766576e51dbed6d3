//! Ports send pause frames and obey them; the watchdog lets them drop what waits.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Instant, Scheme};

use crate::datapath::{Fabric, HopContext};
use crate::flow_control::pause::{Stop, bits};
use crate::flow_control::pfc::FRAME;
use crate::state::event::{CounterId, Event};
use crate::state::event_queue::{ELSEWHERE, NO_LANE};
use crate::state::frame::{FrameId, FrameKind};
use crate::state::port::{HISTOGRAMS, PortState};

impl<S: Scheme, const FULL: bool, const POOL: bool> HopContext<'_, S, FULL, POOL> {
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
        if p.captured() {
            self.observed.line_capture.pause_starts(p.index, frame, at);
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

impl<S: Scheme, const FULL: bool> Fabric<S, FULL> {
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
            self.announce(counter);
        } else if state.full && is_under {
            state.full = false;
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
        let (p, mut context) = self.at(self.pauses.reverse(from));
        p.pauses |= class.bit();
        // An idle line; a flow-controlled port has settled the transmissions that ended before.
        p.busy_until = p.busy_until.max(context.now);
        context.settle(p);
    }

    /// Half of the pause time has passed: a stop that is still needed is renewed.
    pub(crate) fn refresh(&mut self, counter: CounterId) {
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
    pub(crate) fn lose_pauses(&mut self, port: PortId, own: bool) {
        if self.pauses.lines.is_empty() {
            return;
        }
        let (lost, classes) = self.pauses.lose(port, own);
        let p = &mut self.ports[port.index()];
        p.ledger.lost += lost;
        p.pauses |= classes;
    }

    pub(crate) fn stop_of(&mut self, port: PortId, class: TrafficClass) -> &mut Stop {
        let queue = self.queue_at(port, class);
        &mut self.pauses.stops[queue.index()]
    }

    /// A pause frame for a queue has arrived: it is to stop for `time`.
    pub(crate) fn receive_pause(&mut self, port: PortId, class: TrafficClass, time: Duration) {
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
    pub(crate) fn stop(&mut self, port: PortId, class: TrafficClass) {
        self.settle(port);
        self.ports[port.index()].stopped |= class.bit();
        let now = self.now;
        let stop = self.stop_of(port, class);
        (stop.from, stop.since) = (Instant::NEVER, now);
        stop.stops += 1;
        if let Some(watchdog) = self.pauses.watchdog
            && self.port(port).flow_controlled()
        {
            self.events.schedule(watchdog.due(now, watchdog.after), Event::Watchdog(self.queue_at(port, class)));
        }
    }

    /// Ends the stop of `class`, if there is one; true if it was in force.
    pub(crate) fn go_on(&mut self, port: PortId, class: TrafficClass) -> bool {
        let now = self.now;
        let stop = self.stop_of(port, class);
        stop.from = Instant::NEVER;
        if stop.since == Instant::NEVER {
            return false;
        }
        let since = std::mem::replace(&mut stop.since, Instant::NEVER);
        stop.total = stop.total + now.since(since);
        self.observed.histograms.stopped((port, class), since, now);
        let (p, mut context) = self.at(port);
        context.settle(p);
        p.stopped &= !class.bit();
        // A waiting frame starts now, not when the line became free.
        p.busy_until = p.busy_until.max(now);
        context.settle(p);
        true
    }
}

impl<S: Scheme, const FULL: bool> Fabric<S, FULL> {
    /// Takes the frames that wait in a queue out of it; it drops them. Their slots are still theirs.
    pub(crate) fn drain(&mut self, port: PortId, class: TrafficClass) -> Vec<FrameId> {
        let now = self.now;
        let p = &mut self.ports[port.index()];
        let held = p.flow_controlled();
        p.ready &= !class.bit();
        let q = &mut p.queues[class.index()];
        let frames: Vec<FrameId> = q.waiting.iter(&self.frames).collect();
        q.waiting = crate::state::frame::Chain::EMPTY;
        if p.attention & HISTOGRAMS != 0 {
            self.observed.histograms.drains((port, class), now, &q.statistics, q.len, frames.len());
        }
        q.statistics.pass(now, q.len);
        for &frame in &frames {
            let slot = self.frames.get(frame);
            let octets = slot.octets;
            q.len -= u64::from(octets);
            q.dropped += 1;
            if slot.kind() != FrameKind::Data {
                p.ledger.drop_control(class);
            }
            if held {
                self.pauses.let_go(frame, octets);
            }
            if let Some(pools) = self.pauses.pools.as_deref_mut() {
                pools.give_back(now, port, class, frame, octets);
            }
        }
        q.statistics.min = q.statistics.min.min(q.len as u32);
        frames
    }
}
