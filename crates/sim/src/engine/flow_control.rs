//! The events of priority flow control.
//!
//! *The watchdog* lets a queue go that has been stopped for too long, as switches do.
//!
//! It watches the queues of switches. One that has been stopped without a break for [`Watchdog::after`](crate::network::Watchdog::after) ignores pause frames until none
//! has come for [`Watchdog::restoration`](crate::network::Watchdog::restoration): each that comes begins this time again, so that a storm stops the queue once. Until then it sends
//! what it has, or drops it, with all that comes. After that it obeys again. With [`Action::Alert`](crate::network::Action::Alert) it obeys all the time, and the storm is
//! counted alone. (SONiC, sonic-swss, `orchagent/pfc_restore.lua`, `pfcwdorch.cpp`)

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Scheme;

use crate::engine::Sim;
use crate::flow_control::pause::bits;
use crate::network::{Action, QueueId};
use crate::probe::Probe;
use crate::state::event::{Event, PauseId};
use crate::state::port::DRAINS;

impl<S: Scheme, P: Probe<S>, const FULL: bool> Sim<S, P, FULL> {
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
        self.show_pause(frame.line, frame.message());
        let fabric = &mut self.state.fabric;
        let port = fabric.pauses.reverse(frame.line);
        for class in bits(frame.stop) {
            self.state.fabric.receive_pause(port, class, frame.time);
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

    /// A stop has expired: the frames that waited may be sent.
    pub(crate) fn go_on(&mut self, port: PortId, class: TrafficClass) {
        if self.state.fabric.go_on(port, class) {
            self.state.sources.unpark(self.state.fabric.now, port, class);
            self.arm_turn(port);
        }
    }
}

impl<S: Scheme, P: Probe<S>, const FULL: bool> Sim<S, P, FULL> {
    /// The watchdog of a queue may be due, or the end of its action.
    pub(crate) fn watchdog(&mut self, queue: QueueId) {
        let fabric = &mut self.state.fabric;
        let (now, (port, class)) = (fabric.now, fabric.port_and_class(queue));
        if let Some(end) = fabric.pauses.drains_until(queue, now) {
            // Pause frames have come since.
            fabric.events.schedule(end, crate::state::event::Event::Watchdog(queue));
        } else if fabric.pauses.ends_draining(queue, now) {
            let classes = (0..fabric.per_port).map(|class| QueueId(port.0 * fabric.per_port + class));
            if !classes.into_iter().any(|queue| fabric.pauses.is_draining(queue)) {
                fabric.ports[port.index()].attention &= !DRAINS;
            }
        }
        let Some(watchdog) = fabric.pauses.watchdog_due(queue, now) else { return };
        if watchdog.action == Action::Alert {
            return fabric.pauses.let_off(queue, watchdog.due(now, watchdog.restoration));
        }
        if let Some(mut deadlock) = fabric.stopped_queues().deadlock(&fabric.pauses) {
            deadlock.ended = Some(now);
            fabric.pauses.deadlocks.push(deadlock);
        }
        let end = watchdog.due(now, watchdog.restoration);
        fabric.pauses.let_off(queue, end);
        if watchdog.action == Action::Drop {
            fabric.ports[port.index()].attention |= DRAINS;
            fabric.events.schedule(end, crate::state::event::Event::Watchdog(queue));
            self.state.fabric.pauses.watchdog_dropped += self.flush(port, class);
        }
        self.go_on(port, class);
    }

    /// Drops the frames that wait in a queue. Gives their number.
    pub(crate) fn flush(&mut self, port: PortId, class: TrafficClass) -> u64 {
        let frames = self.state.fabric.drain(port, class);
        let flushed = frames.len() as u64;
        self.charge(flushed);
        for frame in frames {
            let slot = self.state.fabric.frames.get(frame);
            let (hop, kind) = (slot.hop, slot.kind());
            self.count_drop(hop, kind);
            self.state.fabric.frames.remove(frame);
        }
        flushed
    }
}
