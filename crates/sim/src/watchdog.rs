//! The watchdog of priority flow control: it lets a queue go that has been stopped for too long, as switches do.
//!
//! It watches the queues of switches. One that has been stopped without a break for [`Watchdog::after`] ignores pause frames until none
//! has come for [`Watchdog::restoration`]: each that comes begins this time again, so that a storm stops the queue once. Until then it sends
//! what it has, or drops it, with all that comes. After that it obeys again. With [`Action::Alert`] it obeys all the time, and the storm is
//! counted alone. (SONiC, sonic-swss, `orchagent/pfc_restore.lua`, `pfcwdorch.cpp`)

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Instant, Scheme};

use crate::deadlock::Jam;
use crate::engine::Sim;
use crate::fabric::Fabric;
use crate::frame::{FrameId, Kind};
use crate::network::QueueId;
use crate::port::DRAINS;
use crate::probe::Probe;

/// What becomes of a queue that has been stopped for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It ignores pause frames and drops its frames.
    Drop,
    /// It ignores pause frames and sends its frames.
    Forward,
    /// It stays stopped. The storm is counted once, until no pause frame has come for [`Watchdog::restoration`].
    Alert,
}

/// The settings of the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchdog {
    /// How long a queue is stopped before it acts. Never zero.
    pub after: Duration,
    /// How long no pause frame has come for the queue when it obeys again. Never zero.
    pub restoration: Duration,
    /// Distance of its looks at the queues: it counts whole ones of these. Zero: it sees everything at once.
    pub poll: Duration,
    /// What it does meanwhile.
    pub action: Action,
}

impl Watchdog {
    /// When something that has been so since `from` has been so for `time`, by its looks: the first one counts nothing, each
    /// that follows the time since the one before.
    pub(crate) fn due(&self, from: Instant, time: Duration) -> Instant {
        if self.poll == Duration::ZERO {
            return from + time;
        }
        let looks = from.0.div_ceil(self.poll.0).saturating_add(time.0.div_ceil(self.poll.0));
        Instant(looks.saturating_mul(self.poll.0))
    }
}

impl<S: Scheme, const PFC: bool> Fabric<S, PFC> {
    /// Takes the frames that wait in a queue out of it; it drops them. Their slots are still theirs.
    fn drain(&mut self, port: PortId, class: TrafficClass) -> Vec<FrameId> {
        let now = self.now;
        let p = &mut self.ports[port.index()];
        let held = p.watched();
        p.ready &= !class.bit();
        let q = &mut p.queues[class.index()];
        let frames: Vec<FrameId> = q.waiting.iter(&self.frames).collect();
        q.waiting = crate::frame::Chain::EMPTY;
        if PFC && self.histograms.are_kept() {
            self.histograms.drains((port, class), now, &q.statistics, q.len, frames.len());
        }
        q.statistics.pass(now, q.len);
        for &frame in &frames {
            let slot = self.frames.get(frame);
            let octets = slot.octets;
            q.len -= u64::from(octets);
            q.dropped += 1;
            if slot.kind() != Kind::Data {
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

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// The watchdog of a queue may be due, or the end of its action.
    pub(crate) fn watchdog(&mut self, queue: QueueId) {
        let fabric = &mut self.state.fabric;
        let (now, (port, class)) = (fabric.now, fabric.place(queue));
        if let Some(end) = fabric.pauses.drains_until(queue, now) {
            // Pause frames have come since.
            fabric.events.schedule(end, crate::event::Event::Watchdog(queue));
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
        if let Some(mut deadlock) = Jam::of(fabric).deadlock(&fabric.pauses) {
            deadlock.ended = Some(now);
            fabric.pauses.deadlocks.push(deadlock);
        }
        let end = watchdog.due(now, watchdog.restoration);
        fabric.pauses.let_off(queue, end);
        if watchdog.action == Action::Drop {
            fabric.ports[port.index()].attention |= DRAINS;
            fabric.events.schedule(end, crate::event::Event::Watchdog(queue));
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
