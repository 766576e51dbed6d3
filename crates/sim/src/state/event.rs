//! The kinds of events, packed into 32 bits: five for the kind, the rest for an index; and their order at one instant.

use penstock_endpoint::{Alarms, DestinationId, FlowId, LimiterId, PortId, Timer};
use penstock_schemes::{FlowKey, Instant};
use penstock_switch::events::{CounterId, CpIndex, Events, FrameId, Lane, PauseId};

use crate::network::QueueId;
use crate::state::event_queue::{EventQueue, NO_LANE, RELEASES};

penstock_endpoint::indices!(
    /// An entry of the list of changes.
    pub(crate) ChangeId,
    /// An entry of the list of changed parameters.
    pub(crate) ReconfigurationId,
    /// The entity whose turn an event has: the sender of a frame (a port, or the origin of a signal), or a number of a kind.
    pub(crate) Entity,
);

impl From<PortId> for Entity {
    #[inline(always)]
    fn from(port: PortId) -> Self {
        Self(port.0)
    }
}

impl From<QueueId> for Entity {
    fn from(queue: QueueId) -> Self {
        Self(queue.0)
    }
}

/// An event and its entity. Events of one instant happen in the order of this list, those of a kind in the order of
/// the numbers of their entities. The order in which they were put into the queue never counts.
///
/// A sample shows links and flows as they are from its instant on, and frames as they were before it, as the end of a run and
/// the bounds of a window do. Frames that arrive are known when a limiter releases one; timers expire after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// This entry of the list of changes is due.
    Change(ChangeId),
    /// The parameters of a scheme change. Housekeeping: it counts as no event.
    Configure(ReconfigurationId),
    /// This flow starts.
    Start(FlowId),
    /// This flow stops.
    Stop(FlowId),
    /// The probe samples.
    Sample,
    /// A transmission on the line of this flow-controlled port ends.
    LineFree(PortId),
    /// The frame in this slot reaches the far end of the line that it is on.
    Deliver(FrameId),
    /// All frames that reach switches at this instant are known. Housekeeping: it counts as no event.
    Arbitrate,
    /// This pause frame reaches the far end of its line.
    Pause(PauseId),
    /// A signal outside of the network (its frame's slot) reaches its source or destinations.
    Ideal(FrameId),
    /// A stop of a queue of this port begins or runs out.
    Stopping(PortId),
    /// The pause frame for this ingress counter is due again.
    Refresh(CounterId),
    /// This flow's generator is to make the frames that are due. Housekeeping: it changes nothing, and counts as no
    /// event.
    Generate(FlowId),
    /// This limiter may release a frame.
    Release(LimiterId),
    /// The line of this host port is free for the next limiter in turn.
    NicFree(PortId),
    /// The timer of this congestion point.
    CpTimer(CpIndex),
    /// The timer of this notification point.
    NpTimer(DestinationId),
    /// The timer of this limiter's reaction point.
    RpTimer(LimiterId),
    /// No acknowledgement of this flow may have come for too long.
    Silence(FlowId),
    /// The timer of this flow's sender.
    Retransmit(FlowId),
    /// The timer of this flow's receiver.
    DelayedAck(FlowId),
    /// A timer of a flow that was forgotten since.
    Nothing,
    /// The watchdog of this queue may be due.
    Watchdog(QueueId),
    /// All switches have heard of a change of a line: flows have new routes, those from this entry of the list on.
    Converge(ChangeId),
    /// The frame in this slot reaches the far end of the line that has corrupted it.
    Corrupted(FrameId),
    /// This entry of the list of beginnings and ends of storms is due.
    Storm(ChangeId),
    /// The frame in this slot has been processed by the network interface where it waited.
    Drained(FrameId),
    /// The shaper of a queue of this port lets it go.
    Shaper(PortId),
    /// Credits, acknowledgements or frames that go again may be due at this port.
    Link(PortId),
    /// Flows of work have ended, or it goes on.
    Work,
    /// A destination at this host port may grant a frame.
    Grant(PortId),
}

const INDEX_BITS: u32 = 27;

/// The largest number of entities of a kind.
pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

const DELIVER: u32 = 6;

impl Event {
    /// The number of its kind, and its index.
    #[inline(always)]
    const fn parts(self) -> (u32, u32) {
        match self {
            Self::Change(i) => (0, i.0),
            Self::Configure(i) => (1, i.0),
            Self::Start(i) => (2, i.0),
            Self::Stop(i) => (3, i.0),
            Self::Sample => (4, 0),
            Self::LineFree(i) => (5, i.0),
            Self::Deliver(i) => (DELIVER, i.0),
            Self::Arbitrate => (7, 0),
            Self::Pause(i) => (8, i.0),
            Self::Ideal(i) => (9, i.0),
            Self::Stopping(i) => (10, i.0),
            Self::Refresh(i) => (11, i.0),
            Self::Generate(i) => (12, i.0),
            Self::Release(i) => (13, i.0),
            Self::NicFree(i) => (14, i.0),
            Self::CpTimer(i) => (15, i.0),
            Self::NpTimer(i) => (16, i.0),
            Self::RpTimer(i) => (17, i.0),
            Self::Silence(i) => (18, i.0),
            Self::Retransmit(i) => (19, i.0),
            Self::DelayedAck(i) => (20, i.0),
            Self::Nothing => (21, 0),
            Self::Watchdog(i) => (22, i.0),
            Self::Converge(i) => (23, i.0),
            Self::Corrupted(i) => (24, i.0),
            Self::Storm(i) => (25, i.0),
            Self::Drained(i) => (26, i.0),
            Self::Shaper(i) => (27, i.0),
            Self::Link(i) => (28, i.0),
            Self::Work => (29, 0),
            Self::Grant(i) => (30, i.0),
        }
    }

    #[inline(always)]
    pub(crate) fn pack(self) -> u32 {
        let (kind, index) = self.parts();
        kind << INDEX_BITS | index
    }

    /// The event's turn among those of one instant, where `entity` has made it.
    #[inline(always)]
    fn rank(self, entity: Entity) -> u32 {
        self.parts().0 << INDEX_BITS | entity.0
    }

    /// The frame's slot, if this is a delivery.
    #[inline(always)]
    pub(crate) fn delivery(what: u32) -> Option<FrameId> {
        let slot = what.wrapping_sub(DELIVER << INDEX_BITS);
        (slot <= MAX_INDEX as u32).then_some(FrameId(slot))
    }

    /// The port over whose line a frame comes, by the turn of its delivery.
    #[inline(always)]
    pub(crate) fn line(turn: u32) -> PortId {
        PortId(turn & MAX_INDEX as u32)
    }

    #[inline(always)]
    pub(crate) fn unpack(what: u32) -> Self {
        let i = what & MAX_INDEX as u32;
        match what >> INDEX_BITS {
            0 => Self::Change(ChangeId(i)),
            1 => Self::Configure(ReconfigurationId(i)),
            2 => Self::Start(FlowId(i)),
            3 => Self::Stop(FlowId(i)),
            4 => Self::Sample,
            5 => Self::LineFree(PortId(i)),
            DELIVER => Self::Deliver(FrameId(i)),
            7 => Self::Arbitrate,
            8 => Self::Pause(PauseId(i)),
            9 => Self::Ideal(FrameId(i)),
            10 => Self::Stopping(PortId(i)),
            11 => Self::Refresh(CounterId(i)),
            12 => Self::Generate(FlowId(i)),
            13 => Self::Release(LimiterId(i)),
            14 => Self::NicFree(PortId(i)),
            15 => Self::CpTimer(CpIndex(i)),
            16 => Self::NpTimer(DestinationId(i)),
            17 => Self::RpTimer(LimiterId(i)),
            18 => Self::Silence(FlowId(i)),
            19 => Self::Retransmit(FlowId(i)),
            20 => Self::DelayedAck(FlowId(i)),
            22 => Self::Watchdog(QueueId(i)),
            23 => Self::Converge(ChangeId(i)),
            24 => Self::Corrupted(FrameId(i)),
            25 => Self::Storm(ChangeId(i)),
            26 => Self::Drained(FrameId(i)),
            27 => Self::Shaper(PortId(i)),
            28 => Self::Link(PortId(i)),
            29 => Self::Work,
            30 => Self::Grant(PortId(i)),
            _ => Self::Nothing,
        }
    }
}

impl EventQueue {
    /// Puts in an event at `at`, in the turn of the entity that it is about, whose turn is its number.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: Instant, event: Event) {
        self.push(NO_LANE, at, event.pack(), event.pack());
    }

    /// The same for an event of a flow with this key, whose slot may have been reused.
    pub(crate) fn schedule_of(&mut self, at: Instant, event: Event, key: FlowKey) {
        self.schedule_from(NO_LANE, at, event, Entity(key.0));
    }

    /// Whether an event that is put in at `at`, in the turn of the entity that it is about, would be the next one to be taken.
    #[inline(always)]
    pub(crate) fn would_be_first(&mut self, at: Instant, event: Event) -> bool {
        self.is_behind(at, event.pack())
    }

    /// Puts in an event whose content says nothing of its turn. That of a frame is the turn of the `entity` that sent it, that of a
    /// limiter, flow or destination the turn of its number.
    #[inline(always)]
    pub(crate) fn schedule_from(&mut self, lane: Lane, at: Instant, event: Event, entity: Entity) {
        self.push(lane, at, event.rank(entity), event.pack());
    }
}

impl Alarms for EventQueue {
    #[inline(always)]
    fn wake(&mut self, at: Instant, timer: Timer, turn: u32) {
        let (lane, event) = match timer {
            Timer::Release(limiter) => (RELEASES, Event::Release(limiter)),
            Timer::Turn(port) => (NO_LANE, Event::NicFree(port)),
            Timer::Destination(destination) => (NO_LANE, Event::NpTimer(destination)),
            Timer::ReactionPoint(limiter) => (NO_LANE, Event::RpTimer(limiter)),
            Timer::Silence(flow) => (NO_LANE, Event::Silence(flow)),
            Timer::Grant(port) => (NO_LANE, Event::Grant(port)),
        };
        self.schedule_from(lane, at, event, Entity(turn));
    }
}

impl Events for EventQueue {
    #[inline(always)]
    fn wake(&mut self, at: Instant, timer: penstock_switch::Timer) {
        use penstock_switch::Timer;
        let event = match timer {
            Timer::LineFree(port) => Event::LineFree(port),
            Timer::Stopping(port) => Event::Stopping(port),
            Timer::Refresh(counter) => Event::Refresh(counter),
            Timer::CongestionPoint(cp) => Event::CpTimer(cp),
            Timer::Watchdog(queue) => Event::Watchdog(queue),
            Timer::Shaper(port) => Event::Shaper(port),
            Timer::Link(port) => Event::Link(port),
        };
        self.schedule(at, event);
    }

    #[inline(always)]
    fn deliver(&mut self, at: Instant, frame: FrameId, port: PortId, lane: Lane) {
        self.schedule_from(lane, at, Event::Deliver(frame), port.into());
    }

    fn deliver_corrupted(&mut self, at: Instant, frame: FrameId, port: PortId) {
        self.schedule_from(NO_LANE, at, Event::Corrupted(frame), port.into());
    }

    fn deliver_pause(&mut self, at: Instant, pause: PauseId, port: PortId) {
        self.schedule_from(NO_LANE, at, Event::Pause(pause), port.into());
    }
}
