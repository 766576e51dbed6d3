//! The sending side of a flow.

use alloc::boxed::Box;
use alloc::vec;

use penstock_schemes::{FlowKey, Instant, Octets, Release};

use crate::ids::{FlowId, LimiterId, TrafficClass};
use crate::in_flight::{InFlight, Known};
use crate::source::DataSource;
use crate::timer::{Alarms, Timer};

/// The properties of a flow, apart from its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSpec {
    /// The class of its frames.
    pub class: TrafficClass,
    /// Length of its longest frame, with FCS, without tags: the pacer waits until a frame of this length may go.
    pub frame: u16,
    /// How many destinations it has: a frame is acknowledged when all of them have acknowledged it.
    pub destinations: u32,
}

/// Whether a flow sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    NotYet,
    Active,
    Over,
}

/// A flow at its source.
#[derive(Debug, Clone)]
pub struct Flow<X> {
    pub(crate) supply: X,
    pub(crate) key: FlowKey,
    pub(crate) limiter: LimiterId,
    pub(crate) class: TrafficClass,
    /// The class whose pauses stop it: its own, or one to which its reaction point moves it.
    pub(crate) stopped_by: TrafficClass,
    phase: Phase,
    /// Length of its longest frame, and octets by which tags lengthen each.
    frame: u16,
    tag: u16,
    sent: u64,
    sent_octets: u64,
    pub(crate) in_flight: InFlight,
    /// The counts of each destination, from its acknowledgements; empty without them.
    pub(crate) known: Box<[Known]>,
}

impl<X: DataSource> Flow<X> {
    pub(crate) fn new(
        key: FlowKey,
        spec: FlowSpec,
        limiter: LimiterId,
        tag: u16,
        acknowledged: bool,
        supply: X,
    ) -> Self {
        let known = if acknowledged { spec.destinations as usize } else { 0 };
        Self {
            supply,
            key,
            limiter,
            class: spec.class,
            stopped_by: spec.class,
            phase: Phase::NotYet,
            frame: spec.frame,
            tag,
            sent: 0,
            sent_octets: 0,
            in_flight: InFlight::default(),
            known: vec![Known::default(); known].into_boxed_slice(),
        }
    }

    /// Its data.
    #[must_use]
    #[inline(always)]
    pub fn supply(&self) -> &X {
        &self.supply
    }

    /// Its data, to be changed. A caller that makes [`DataSource::when`] earlier lets its limiter know ([`Sources::wake`]).
    ///
    /// [`Sources::wake`]: crate::Sources::wake
    #[inline(always)]
    pub fn supply_mut(&mut self) -> &mut X {
        &mut self.supply
    }

    /// The name by which schemes know it: its index, unless the slot was reused.
    #[must_use]
    #[inline(always)]
    pub fn key(&self) -> FlowKey {
        self.key
    }

    /// The limiter that it is behind.
    #[must_use]
    #[inline(always)]
    pub fn limiter(&self) -> LimiterId {
        self.limiter
    }

    /// The class of its frames.
    #[must_use]
    #[inline(always)]
    pub fn class(&self) -> TrafficClass {
        self.class
    }

    /// Frames sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Octets sent so far, with the line's overhead.
    #[must_use]
    pub fn sent_octets(&self) -> Octets {
        Octets(self.sent_octets)
    }

    /// Whether it sends: it has started, and neither was stopped nor has sent its last frame.
    #[must_use]
    #[inline(always)]
    pub fn active(&self) -> bool {
        self.phase == Phase::Active
    }

    /// Whether it has sent its last frame, or was stopped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Octets by which tags lengthen its frames.
    #[must_use]
    pub fn tag_octets(&self) -> u16 {
        self.tag
    }

    pub(crate) fn start(&mut self) {
        if self.phase == Phase::NotYet {
            self.phase = Phase::Active;
        }
    }

    pub(crate) fn end(&mut self) {
        self.phase = Phase::Over;
    }

    /// When it has data for a frame, seen from `now`: now or later, or never.
    #[inline(always)]
    pub(crate) fn when(&mut self, now: Instant) -> Instant {
        if self.active() { self.supply.when(now) } else { Instant::NEVER }
    }

    /// Octets of its longest frame on the line, with `overhead`.
    #[inline(always)]
    pub(crate) fn longest(&self, overhead: u32) -> u32 {
        u32::from(self.frame + self.tag) + overhead
    }

    /// Octets of the frame that goes next.
    pub(crate) fn next_octets(&self) -> u16 {
        self.supply.next_octets() + self.tag
    }

    /// Its counts begin again at zero.
    pub(crate) fn forget_counts(&mut self) {
        (self.sent, self.sent_octets) = (0, 0);
    }

    /// Takes the frame that goes at `now`.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Instant, overhead: u32) -> Release {
        let taken = self.supply.take(now);
        let octets = taken.octets + self.tag;
        let seq = Octets(self.sent_octets - self.sent * u64::from(overhead));
        self.sent += 1;
        self.sent_octets += u64::from(u32::from(octets) + overhead);
        if taken.last {
            self.end();
        }
        Release { flow: self.key, octets, seq, last: taken.last }
    }

    /// Sees to it that its silence is noticed.
    #[inline]
    pub(crate) fn watch(&mut self, own: FlowId, alarms: &mut impl Alarms) {
        let deadline = self.in_flight.deadline;
        if deadline < self.in_flight.armed {
            self.in_flight.armed = deadline;
            alarms.wake(deadline, Timer::Silence(own), self.key.0);
        }
    }
}
