//! The watchdog of priority flow control: it lets a queue go that has been stopped for too long, as switches do.
//!
//! It watches the queues of switches. One that has been stopped without a break for [`Watchdog::after`] ignores pause frames for
//! [`Watchdog::lasts`]. For that long it sends what it has, or drops it, with all that comes. After that it obeys again.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Scheme};

use crate::deadlock::Jam;
use crate::engine::Sim;
use crate::fabric::Fabric;
use crate::frame::FrameId;
use crate::network::QueueId;
use crate::port::DRAINS;
use crate::probe::Probe;

/// The settings of the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchdog {
    /// How long a queue is stopped before it acts. Never zero.
    pub after: Duration,
    /// How long the queue then ignores pause frames. Never zero.
    pub lasts: Duration,
    /// Whether the queue drops its frames meanwhile, or sends them.
    pub drops: bool,
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// Takes the frames that wait in a queue out of it. Their slots are still theirs.
    fn drain(&mut self, port: PortId, class: TrafficClass) -> Vec<FrameId> {
        let now = self.now;
        let p = &mut self.ports[port.index()];
        p.ready &= !class.bit();
        let q = &mut p.queues[class.index()];
        let frames: Vec<FrameId> = q.waiting.iter(&self.frames).collect();
        q.waiting = crate::frame::Chain::EMPTY;
        q.statistics.pass(now, q.len);
        for &frame in &frames {
            let octets = self.frames.get(frame).octets;
            q.len -= u64::from(octets);
            q.dropped += 1;
            self.pauses.let_go(frame, octets);
            if let Some(pools) = self.pauses.pools.as_deref_mut() {
                pools.give_back(now, port, class, frame, octets);
            }
        }
        q.statistics.min = q.statistics.min.min(q.len as u32);
        self.pauses.watchdog_dropped += frames.len() as u64;
        frames
    }
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// The watchdog of a queue may be due, or the end of its action.
    pub(crate) fn watchdog(&mut self, queue: QueueId) {
        let fabric = &mut self.state.fabric;
        let (now, (port, class)) = (fabric.now, fabric.place(queue));
        if fabric.pauses.ends_draining(queue, now) {
            let classes = (0..fabric.per_port).map(|class| QueueId(port.0 * fabric.per_port + class));
            if !classes.into_iter().any(|queue| fabric.pauses.is_draining(queue)) {
                fabric.ports[port.index()].attention &= !DRAINS;
            }
        }
        let Some(watchdog) = fabric.pauses.watchdog_due(queue, now) else { return };
        if let Some(mut deadlock) = Jam::of(fabric).deadlock(&fabric.pauses) {
            deadlock.ended = Some(now);
            fabric.pauses.deadlocks.push(deadlock);
        }
        fabric.pauses.let_off(queue, now + watchdog.lasts);
        if watchdog.drops {
            fabric.ports[port.index()].attention |= DRAINS;
            fabric.events.schedule(now + watchdog.lasts, crate::event::Event::Watchdog(queue));
            let frames = fabric.drain(port, class);
            self.charge(frames.len() as u64);
            for frame in frames {
                let slot = self.state.fabric.frames.get(frame);
                let (hop, kind) = (slot.hop, slot.kind());
                self.count_drop(hop, kind);
                self.state.fabric.frames.remove(frame);
            }
        }
        self.go_on(port, class);
    }
}
