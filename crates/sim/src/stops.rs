//! The stops of priority flow control, as the watchdog and deadlocks know them, and the pools that cause some.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Instant;

use crate::network::QueueId;
use crate::network::{Action, Watchdog};
use crate::pause::{Pauses, Stop};
use crate::pool::{Claim, PoolState};
use crate::state::event::CounterId;
use crate::state::frame::FrameId;

impl Pauses {
    /// Whether the pool of a queue of `len`, if it has one, has memory for a frame. `at` is as in [`take_from_pool`](Self::take_from_pool).
    #[inline(always)]
    pub(crate) fn pool_has_room(&self, at: (PortId, TrafficClass, PortId), octets: u16, len: u64) -> bool {
        self.pools.as_deref().is_none_or(|pools| pools.has_room(pools.claim(at, octets, len)))
    }

    /// A frame that joins a queue takes memory of the queue's pool, which may be enough to stop a neighbour. `at` is the queue's port
    /// and class, and the line that the frame came over; the queue is `len` octets long.
    #[inline(never)]
    pub(crate) fn take_from_pool(
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

    /// One of the ports whose queues share memory with the queue of a claim, by its place among them.
    pub(crate) fn port_of_pool(&self, claim: Claim, place: usize) -> Option<PortId> {
        self.pools.as_deref()?.neighbours(claim).get(place).copied()
    }

    /// All pools.
    pub(crate) fn pools(&self) -> &[PoolState] {
        self.pools.as_deref().map_or(&[], |pools| &pools.list)
    }

    /// The same, to be changed.
    pub(crate) fn pools_mut(&mut self) -> &mut [PoolState] {
        self.pools.as_deref_mut().map_or(&mut [], |pools| &mut pools.list)
    }

    /// The queues that are stopped, and since when.
    pub(crate) fn stopped(&self) -> impl Iterator<Item = (QueueId, Instant)> + '_ {
        let stops = (0..).map(QueueId).zip(&self.stops);
        stops.filter(|(_, stop)| stop.since != Instant::NEVER).map(|(queue, stop)| (queue, stop.since))
    }

    /// The queues whose frames go into a buffer that is full.
    pub(crate) fn full(&self) -> impl Iterator<Item = QueueId> + '_ {
        (0..).map(QueueId).zip(&self.counters).filter(|(_, counter)| counter.full).map(|(queue, _)| queue)
    }

    /// Whether a stopped queue goes on once no more than `octets` of its frames are held, which take `memory` of a pool of which the
    /// frames of all that are stuck take `of_pool`.
    pub(crate) fn would_go_on(&self, queue: QueueId, octets: u64, memory: u64, of_pool: u64) -> bool {
        let counter = &self.counters[queue.index()];
        let pools = self.pools.as_deref();
        octets <= counter.xon
            && pools.is_none_or(|pools| {
                pools.would_be_under(CounterId(queue.0), memory, of_pool, counter.xoff - counter.xon)
            })
    }

    /// Whether the frames over the lines of two queues have the same pool.
    pub(crate) fn share_a_pool(&self, one: QueueId, other: QueueId) -> bool {
        self.pools.as_deref().is_some_and(|pools| pools.share(CounterId(one.0), CounterId(other.0)))
    }

    /// Memory of a frame in a queue that has a pool.
    pub(crate) fn memory(&self, queue: QueueId, octets: u16) -> u64 {
        self.pools.as_deref().map_or(0, |pools| pools.memory(queue, octets))
    }

    /// The watchdog, if it is due: the queue has been stopped for that long, by a storm that it has not counted.
    pub(crate) fn watchdog_due(&self, queue: QueueId, now: Instant) -> Option<Watchdog> {
        let watchdog = self.watchdog?;
        let Stop { since, let_off, .. } = self.stops[queue.index()];
        (since != Instant::NEVER && watchdog.due(since, watchdog.after) == now && let_off <= now).then_some(watchdog)
    }

    /// The watchdog has seen a storm at a queue, which lasts until then at the least: the queue ignores pause frames, if it is to.
    pub(crate) fn let_off(&mut self, queue: QueueId, until: Instant) {
        let stop = &mut self.stops[queue.index()];
        stop.let_off = until;
        stop.draining = self.watchdog.is_some_and(|watchdog| watchdog.action == Action::Drop);
        self.watchdog_fired += 1;
    }

    /// When a queue that drops its frames is to take them again, if that is after `now`.
    pub(crate) fn drains_until(&self, queue: QueueId, now: Instant) -> Option<Instant> {
        let stop = &self.stops[queue.index()];
        (stop.draining && stop.let_off > now).then_some(stop.let_off)
    }

    /// A pause frame for a queue has come. Whether the watchdog lets the queue ignore it: then the time without any begins again.
    #[inline]
    pub(crate) fn ignores(&mut self, queue: QueueId, now: Instant) -> bool {
        let Some(watchdog) = &self.watchdog else { return false };
        let stop = &mut self.stops[queue.index()];
        if now >= stop.let_off {
            return false;
        }
        stop.let_off = watchdog.due(now, watchdog.restoration);
        watchdog.action != Action::Alert
    }

    /// Whether a queue that drops its frames is to take them again from `now` on.
    pub(crate) fn ends_draining(&mut self, queue: QueueId, now: Instant) -> bool {
        let stop = &mut self.stops[queue.index()];
        let ends = stop.draining && stop.let_off == now;
        stop.draining &= !ends;
        ends
    }

    /// Whether a queue drops its frames.
    pub(crate) fn is_draining(&self, queue: QueueId) -> bool {
        self.stops[queue.index()].draining
    }

    /// Whether the watchdog drains a queue.
    pub(crate) fn drains(&self, port: PortId, class: TrafficClass) -> bool {
        let place = (port.0 * self.per_port + u32::from(class.0)) as usize;
        self.stops.get(place).is_some_and(|stop| stop.draining)
    }

    /// Whether a queue drops a frame that comes; it counts.
    pub(crate) fn drops_at(&mut self, port: PortId, class: TrafficClass) -> bool {
        let drops = self.drains(port, class);
        self.watchdog_dropped += u64::from(drops);
        drops
    }
}
