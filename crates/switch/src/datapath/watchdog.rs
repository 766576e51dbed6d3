//! The watchdog of priority flow control: it lets a queue go that has been stopped for too long, as switches do.
//!
//! It watches the queues of switches. One that has been stopped without a break for [`Watchdog::after`](crate::config::Watchdog::after) ignores
//! pause frames until none has come for [`Watchdog::restoration`](crate::config::Watchdog::restoration): each that comes begins this time again,
//! so that a storm stops the queue once. Until then it sends what it has, or drops it, with all that comes. After that it obeys again.
//! With [`Action::Alert`] it obeys all the time, and the storm is counted alone. (SONiC, sonic-swss, `orchagent/pfc_restore.lua`,
//! `pfcwdorch.cpp`)

use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Scheme;

use crate::config::Action;
use crate::datapath::Fabric;
use crate::events::{Events, FrameId, QueueId, Timer};
use crate::model::Model;
use crate::state::frame::{Chain, FrameKind};
use crate::state::port::{DRAINS, HISTOGRAMS};

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// The watchdog of a queue may be due, or the end of its action.
    pub(super) fn watchdog(&mut self, queue: QueueId) {
        let (now, (port, class)) = (self.now, self.port_and_class(queue));
        if let Some(end) = self.pauses.drains_until(queue, now) {
            // Pause frames have come since.
            self.events.wake(end, Timer::Watchdog(queue));
        } else if self.pauses.ends_draining(queue, now) {
            let mut classes = (0..self.per_port).map(|class| QueueId(port.0 * self.per_port + class));
            if !classes.any(|queue| self.pauses.is_draining(queue)) {
                self.ports[port.index()].attention &= !DRAINS;
            }
        }
        let Some(watchdog) = self.pauses.watchdog_due(queue, now) else { return };
        let end = watchdog.due(now, watchdog.restoration);
        if watchdog.action == Action::Alert {
            return self.pauses.let_off(queue, end);
        }
        if let Some(mut deadlock) = self.stopped_queues().deadlock(&self.pauses) {
            deadlock.ended = Some(now);
            self.pauses.deadlocks.push(deadlock);
        }
        self.pauses.let_off(queue, end);
        if watchdog.action == Action::Drop {
            self.ports[port.index()].attention |= DRAINS;
            self.events.wake(end, Timer::Watchdog(queue));
            let flushed = self.drain(port, class);
            self.pauses.watchdog_dropped += flushed.len() as u64;
            self.flushed.extend(flushed);
        }
        self.go_on(port, class);
    }

    /// Takes the frames that wait in a queue out of it; it drops them. Their slots are still theirs.
    pub fn drain(&mut self, port: PortId, class: TrafficClass) -> Vec<FrameId> {
        let now = self.now;
        let p = &mut self.ports[port.index()];
        let (held, queue) = (p.flow_controlled(), p.queue(class));
        p.ready &= !class.bit();
        let q = &mut p.queues[class.index()];
        let frames: Vec<FrameId> = q.waiting.iter(&self.frames).collect();
        q.waiting = Chain::EMPTY;
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
                pools.give_back(now, queue, frame, octets);
            }
        }
        q.statistics.min = q.statistics.min.min(q.len as u32);
        frames
    }
}
