//! A port and its queues: their contents, and the time that a frame takes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Queue};

use crate::config::{Capacity, Config, Port};
use crate::events::{CpIndex, FrameId, Lane, QueueId};
use crate::model::Model;
use crate::state::frame::Chain;
use crate::state::impairment::Impairments;
use crate::state::length_statistics::LengthStatistics;
use crate::state::scheduler::Scheduler;
use crate::state::wred::EarlyDetection;

/// One queue of a port: 128 octets, two lines of the processor's cache.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct QueueState {
    /// Frames that wait for transmission.
    pub waiting: Chain,
    /// Octets that count as queued.
    pub len: u64,
    /// Up to this length, octets, a frame joins the queue and nothing else happens, and one more would fit; 0 for a queue that is counted in
    /// frames.
    pub plain_len: u32,
    /// The most octets; 0 for a queue that is counted in frames.
    pub max_len: u32,
    /// The most frames, for a queue that is counted in frames; else 0.
    pub max_frames: u32,
    /// Its congestion point, or none.
    pub cp: CpIndex,
    /// Octets that have left.
    pub sent_octets: u64,
    /// Frames that came, those that were dropped among them.
    pub arrived: u64,
    /// Frames dropped, data and control.
    pub dropped: u64,
    /// Frames that have left.
    pub departed: u64,
    /// Its length over time.
    pub statistics: LengthStatistics,
}

/// The end of each transmission of a port is an event, and its frames are held by ingress counters.
pub const FLOW_CONTROLLED: u16 = 1;
/// The line of a port is captured: an observer is shown its frames.
pub const CAPTURED: u16 = 2;
/// Queues of a port share memory with others.
pub const POOLED: u16 = 4;
/// The length of all data queues of a port decides whether frames are marked.
pub const MARKS_BY_PORT: u16 = 16;
/// Frames are marked as they leave.
pub const MARKS_AT_DEPARTURE: u16 = 32;
/// A queue of a port drops all that comes.
pub const DRAINS: u16 = 8;
/// Of a frame that finds no room at a port the header goes on.
pub const TRIMS: u16 = 64;
/// The line of a port is broken: its queues drop all that comes.
pub const DOWN: u16 = 128;
/// Histograms of a port's queues are kept.
pub const HISTOGRAMS: u16 = 256;
/// Queues of a port have WRED.
pub const WRED: u16 = 512;
/// Queues of a port have weights or shapers: its scheduler chooses among them.
pub const SCHEDULED: u16 = 1024;
/// Queues of a port have shapers.
pub const SHAPED: u16 = 2048;
/// Why a queue starts no frame, as a shift of its bit in [`PortState::stopped`]: priority flow control stops it, or its line lacks credits.
pub const BY_PAUSE: u32 = 10;
/// Its shaper has nothing left.
pub const BY_SHAPER: u32 = 20;
/// The line of a port loses frames at random.
pub const IMPAIRED: u16 = 4096;
/// The port of a host that sends pause frames: the end of each transmission is an event, as at flow-controlled ports of switches.
pub const SENDS_PAUSES: u16 = 8192;
/// The line of a port has credits.
pub const CREDITED: u16 = 16_384;
/// Frames of a port's line that are lost are sent again.
pub const RETRIED: u16 = 32_768;

/// Of [`PortState::pauses`], the classes that a pause frame is about.
pub const PAUSES: u32 = (1 << 10) - 1;
/// The classes of which credits are to be returned to the far end, as a shift of their bits.
pub const UPDATES: u32 = 10;
/// The classes whose credits the far end is to compare, likewise.
pub const SYNCS: u32 = 20;
/// An acknowledgement is due.
pub const ACK: u32 = 1 << 29;
/// Frames are to be sent again.
pub const REPLAY: u32 = 1 << 30;
/// Of [`PortState::stopped`]: the replay buffer has no room, and no queue starts a frame.
pub const REPLAY_FULL: u32 = 1 << 29;

/// One port: 128 octets too.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct PortState {
    /// One queue per priority in use, and last the control queue.
    pub queues: Box<[QueueState]>,
    /// End of the transmission in progress, or of the last one; never while the line is broken.
    pub busy_until: Instant,
    /// A bit for each queue in which a frame waits for transmission; higher queues go first.
    pub ready: u32,
    /// Class of the frame in transmission, if it still counts as queued there; else none.
    pub in_service: TrafficClass,
    /// The frame whose transmission started last.
    pub in_service_frame: FrameId,
    /// Its length.
    pub in_service_octets: u16,
    /// It is a host port without queue.
    pub arbiter: bool,
    /// From the end of a transmission until the far end acts on the frame.
    pub latency: Duration,
    /// Rate of the line.
    pub rate: BitRate,
    /// Octets that every frame occupies beyond its length.
    pub overhead: u32,
    /// The frame in transmission counts as queued.
    pub in_service_counts: bool,
    /// The lane of deliveries over lines of this kind.
    pub lane: Lane,
    /// The port's own number.
    pub index: PortId,
    /// A bit for each queue that may start no frame; and again by each reason for it, [`BY_PAUSE`] and [`BY_SHAPER`]; and [`REPLAY_FULL`].
    pub(super) stopped: u32,
    /// What goes ahead of all frames: [`PAUSES`], [`UPDATES`], [`SYNCS`], [`ACK`], [`REPLAY`].
    pub pauses: u32,
    /// [`FLOW_CONTROLLED`], [`CAPTURED`], [`POOLED`] and the like, any of them or none.
    pub attention: u16,
    /// A data queue that is longer than this marks the frames that join it; the longest queue is shorter where none does so.
    pub marks_above: u32,
    /// Octets (with overhead) whose serialisation was computed last: picoseconds, and remainder in 1/rate picoseconds.
    pub known_octets: u32,
    known_time: Duration,
    known_remainder: u64,
    /// Remainder of serialisation that is carried on, 1/rate ps.
    pub remainder: u64,
    /// The number of its first queue in the network.
    first_queue: u32,
    /// Frames that have reached the far end of the line.
    pub hops: u64,
    /// The accounts that no frame touches, apart from those that every frame does.
    pub ledger: Box<Ledger>,
}

/// The queues of all ports, by their numbers.
pub fn queues(ports: &[PortState]) -> impl Iterator<Item = &QueueState> {
    ports.iter().flat_map(|port| &port.queues)
}

/// The same, which may be changed.
pub fn queues_mut(ports: &mut [PortState]) -> impl Iterator<Item = &mut QueueState> {
    ports.iter_mut().flat_map(|port| &mut port.queues)
}

/// The time that `octets` (with overhead) take on a line: picoseconds, and remainder in 1/rate picoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Serialisation {
    octets: u32,
    time: Duration,
    remainder: u64,
}

/// A transmission at a rate that the line no longer has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Older {
    rate: BitRate,
    end: Instant,
    /// With overhead.
    octets: u32,
}

/// The rarely needed part of a port's accounts.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Octets of pause frames and other messages put on the line, wire overhead included.
    pub pause_octets: u64,
    /// A transmission that was in progress when the rate changed goes on at its own rate.
    pub older: Older,
    /// The serialisation that was known before the present one: data and acknowledgements often take turns.
    known_before: Serialisation,
    /// Bits of frames that broken lines cut off.
    pub cut_bits: u64,
    /// Frames lost on the line when it broke.
    pub lost: u64,
    /// Error models of the line, and the frames that they have hit.
    pub impairments: Impairments,
    /// The threshold of a port that marks by all its queues, or as frames leave.
    pub marks_above: u32,
    /// The scheduler of a port with [`SCHEDULED`].
    pub scheduler: Option<Scheduler>,
    /// For each data queue of a port with [`WRED`].
    pub early: Vec<EarlyDetection>,
    /// The frames of each queue that it has marked, by the threshold of the network or by its congestion point.
    marks: Vec<Marked>,
    /// The frames of each queue that it dropped and that are no data: acknowledgements and signals.
    control_drops: Vec<u64>,
    /// Data frames of each queue that were there when the line broke, or came while it was broken: those of earlier times.
    pub(super) flushed: Vec<u64>,
    /// While the line is broken, the room that each queue had, and its drops until then.
    pub(super) closed: Vec<Closed>,
    /// Data frames that a queue dropped at an instant at which another one had joined it.
    pub tied: u64,
    /// Integral of the scheduled rate up to `rate_since`, bit/s × ps.
    scheduled: u128,
    rate_since: Instant,
}

/// Frames that a queue has marked, each time that one did, and their octets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marked {
    /// Frames.
    pub frames: u64,
    /// Their octets.
    pub octets: u64,
}

impl Marked {
    /// Counts a frame of `octets`.
    #[inline(always)]
    pub fn add(&mut self, octets: u16) {
        self.frames += 1;
        self.octets += u64::from(octets);
    }
}

impl Ledger {
    /// A queue has marked a frame.
    #[cold]
    #[inline(never)]
    pub fn mark(&mut self, class: TrafficClass, octets: u16) {
        if self.marks.len() <= class.index() {
            self.marks.resize(class.index() + 1, Marked::default());
        }
        self.marks[class.index()].add(octets);
    }

    /// A queue has dropped a frame that is no data.
    #[cold]
    #[inline(never)]
    pub fn drop_control(&mut self, class: TrafficClass) {
        if self.control_drops.len() <= class.index() {
            self.control_drops.resize(class.index() + 1, 0);
        }
        self.control_drops[class.index()] += 1;
    }

    /// Frames of a class that were dropped and are no data.
    pub fn control_drops(&self, class: TrafficClass) -> u64 {
        self.control_drops.get(class.index()).copied().unwrap_or(0)
    }

    /// The frames of a class that it has marked.
    pub fn marks(&self, class: TrafficClass) -> Marked {
        self.marks.get(class.index()).copied().unwrap_or_default()
    }
}

/// A queue of a port whose line is broken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed {
    pub(super) plain_len: u32,
    pub(super) max_len: u32,
    pub(super) max_frames: u32,
    pub(super) dropped: u64,
}

impl QueueState {
    /// A queue of at most `max_len` octets, or `max_frames` frames, the `largest` of which has this number of octets. It marks frames where it is
    /// longer than `marks_above`.
    pub fn new(max_len: u32, max_frames: u32, largest: u16, marks_above: u32, cp: CpIndex) -> Self {
        Self {
            waiting: Chain::EMPTY,
            len: 0,
            plain_len: max_len.saturating_sub(u32::from(largest)).min(marks_above),
            max_len,
            max_frames,
            cp,
            sent_octets: 0,
            arrived: 0,
            dropped: 0,
            departed: 0,
            statistics: LengthStatistics::default(),
        }
    }

    /// Whether a frame that makes the queue longer than `plain_len`, to `len`, has room.
    #[cold]
    pub fn has_room_beyond(&self, len: u64) -> bool {
        len <= u64::from(self.max_len) || self.frames() < self.max_frames
    }

    /// Frames that count as queued.
    pub fn frames(&self) -> u32 {
        (self.arrived - self.dropped - self.departed) as u32
    }

    /// The queue as a congestion point sees it.
    #[inline(always)]
    pub fn seen(&self, rate: BitRate, paused: bool) -> Queue {
        Queue { len: Octets(self.len), frames: self.frames(), rate, sent: Octets(self.sent_octets), paused }
    }
}

impl PortState {
    /// A port at the start.
    pub fn new(config: &Config<'_>, port: &Port, index: PortId, queues: Box<[QueueState]>) -> Self {
        Self {
            busy_until: Instant::ZERO,
            ready: 0,
            in_service: TrafficClass::NONE,
            in_service_frame: FrameId::NONE,
            in_service_octets: 0,
            arbiter: port.capacity == Capacity::Arbiter,
            latency: port.latency,
            rate: port.rate,
            overhead: u32::from(config.wire_overhead),
            in_service_counts: config.in_service_counts,
            lane: 0,
            index,
            stopped: 0,
            pauses: 0,
            attention: 0,
            marks_above: u32::MAX,
            known_octets: 0,
            known_time: Duration::ZERO,
            known_remainder: 0,
            remainder: 0,
            first_queue: index.0 * queues.len() as u32,
            hops: 0,
            ledger: Box::default(),
            queues,
        }
    }

    /// Whether the end of each transmission is an event.
    #[inline(always)]
    pub fn flow_controlled(&self) -> bool {
        self.attention & FLOW_CONTROLLED != 0
    }

    /// Whether an event, and nothing else, lets its departures happen.
    #[inline(always)]
    pub fn departs_by_event(&self) -> bool {
        self.attention & (FLOW_CONTROLLED | SENDS_PAUSES) != 0
    }

    /// The number of the queue of a class in the network.
    #[inline(always)]
    pub fn queue(&self, class: TrafficClass) -> QueueId {
        QueueId(self.first_queue + u32::from(class.0))
    }

    /// Whether its queues share memory with others.
    #[inline(always)]
    pub fn pooled(&self) -> bool {
        self.attention & POOLED != 0
    }

    /// Whether the line is captured.
    #[inline(always)]
    pub fn captured(&self) -> bool {
        self.attention & CAPTURED != 0
    }

    /// Whether its line is whole.
    #[inline(always)]
    pub fn is_up(&self) -> bool {
        self.attention & DOWN == 0
    }

    /// Whether a frame that has room in its queue may be refused nevertheless, or is marked otherwise than by its own queue as it comes,
    /// or goes into a histogram.
    #[inline(always)]
    pub fn is_special(&self) -> bool {
        self.attention & (POOLED | DRAINS | MARKS_BY_PORT | MARKS_AT_DEPARTURE | DOWN | HISTOGRAMS | WRED) != 0
    }

    /// Marks frames beyond a threshold in octets: as they join their queue, unless [`MARKS_BY_PORT`] or [`MARKS_AT_DEPARTURE`].
    pub fn mark_above(&mut self, threshold: u32) {
        let otherwise = self.attention & (MARKS_BY_PORT | MARKS_AT_DEPARTURE) != 0;
        *(if otherwise { &mut self.ledger.marks_above } else { &mut self.marks_above }) = threshold;
    }

    /// Octets in all its data queues.
    pub fn data_octets(&self) -> u64 {
        self.queues[..self.queues.len() - 1].iter().map(|queue| queue.len).sum()
    }

    /// The length that decides on the marks of frames of `class`: of their queue, or of all data queues. No control frame is marked.
    #[inline]
    pub fn len_to_mark(&self, class: TrafficClass) -> u64 {
        let data = &self.queues[..self.queues.len() - 1];
        match data.get(class.index()) {
            Some(_) if self.attention & MARKS_BY_PORT != 0 => self.data_octets(),
            Some(queue) => queue.len,
            None => 0,
        }
    }

    /// Whether a frame of `class` that is there is to be marked by that length, if it can be marked.
    pub fn is_to_mark(&mut self, class: TrafficClass) -> bool {
        let len = self.len_to_mark(class);
        match self.attention & WRED {
            0 => len > u64::from(self.ledger.marks_above),
            _ => self.ledger.early.get_mut(class.index()).is_some_and(|own| own.marks(len)),
        }
    }

    /// A bit for each queue from which a frame may start when the line is free.
    #[inline(always)]
    pub fn eligible<M: Model>(&self) -> u32 {
        if M::FULL { self.ready & !self.stopped } else { self.ready }
    }

    /// Whether something is to start when the line is free: a frame, or a pause frame.
    #[inline(always)]
    pub fn has_work<M: Model>(&self) -> bool {
        self.eligible::<M>() != 0 || (M::FULL && self.pauses != 0)
    }

    /// Whether priority flow control, lack of credits or a full replay buffer stops the queue of `class`.
    #[inline(always)]
    pub fn stops<M: Model>(&self, class: TrafficClass) -> bool {
        // Most queues are held by nothing.
        self.holds::<M>(class) && self.stopped & (class.bit() << BY_PAUSE | REPLAY_FULL) != 0
    }

    /// Whether the queue of `class` may start no frame.
    #[inline(always)]
    pub fn holds<M: Model>(&self, class: TrafficClass) -> bool {
        M::FULL && self.stopped & class.bit() != 0
    }

    /// Whether settling it changes anything: a transmission has ended, or something waits for the free line.
    #[inline(always)]
    pub fn is_due<M: Model>(&self, now: Instant) -> bool {
        self.busy_until <= now && (self.in_service != TrafficClass::NONE || self.has_work::<M>())
    }

    /// Whether a frame could start at once. The port must be settled.
    #[inline(always)]
    pub fn free<M: Model>(&self, now: Instant) -> bool {
        self.busy_until <= now && !self.has_work::<M>()
    }

    /// Time to send `octets`; remainders are carried, so that back-to-back frames keep the line's rate exactly.
    #[inline(always)]
    pub fn serialise(&mut self, octets: u32) -> Duration {
        if octets != self.known_octets {
            self.know(octets);
        }
        if self.known_remainder == 0 {
            return self.known_time;
        }
        self.remainder += self.known_remainder;
        if self.remainder >= self.rate.0 {
            self.remainder -= self.rate.0;
            Duration(self.known_time.0 + 1)
        } else {
            self.known_time
        }
    }

    #[inline(always)]
    fn know(&mut self, octets: u32) {
        let present =
            Serialisation { octets: self.known_octets, time: self.known_time, remainder: self.known_remainder };
        let mut known = core::mem::replace(&mut self.ledger.known_before, present);
        if known.octets != octets {
            let (time, remainder) = self.rate.serialisation(u64::from(octets));
            known = Serialisation { octets, time, remainder };
        }
        (self.known_octets, self.known_time, self.known_remainder) = (known.octets, known.time, known.remainder);
    }

    /// Bits of the transmission in progress that are still to come, rounded down. Its time may be a picosecond longer than its
    /// bits, yet no more are to come than were begun.
    #[inline]
    pub fn unsent_bits(&self, now: Instant) -> u64 {
        if self.busy_until == Instant::NEVER {
            return 0;
        }
        let time = self.busy_until.since(now);
        let older = &self.ledger.older;
        let (rate, octets) =
            if self.busy_until == older.end { (older.rate, older.octets) } else { (self.rate, self.known_octets) };
        let bits = match time.0.checked_mul(rate.0) {
            Some(bits) => bits / PS_PER_S,
            None => (u128::from(time.0) * u128::from(rate.0) / u128::from(PS_PER_S)) as u64,
        };
        bits.min(u64::from(octets) * 8)
    }

    /// Bits put on the line up to `now`. The port must be settled.
    pub fn sent_bits(&self, now: Instant) -> u64 {
        self.octets_begun() * 8 - self.ledger.cut_bits - self.unsent_bits(now)
    }

    /// Octets put on the line, wire overhead included, the transmission in progress counted whole: no hop has to add them up.
    fn octets_begun(&self) -> u64 {
        let overhead = u64::from(self.overhead);
        let left = |queue: &QueueState| queue.sent_octets + queue.departed * overhead;
        let in_service = match self.in_service {
            TrafficClass::NONE => 0,
            _ => u64::from(self.in_service_octets) + overhead,
        };
        self.queues.iter().map(left).sum::<u64>() + in_service + self.ledger.pause_octets
    }

    /// Bits that the scheduled rate could have carried up to `now`: of an idle line more than 64 bits can count.
    pub fn scheduled_bits(&self, now: Instant) -> u128 {
        (self.ledger.scheduled + self.scheduled_since(now)) / u128::from(PS_PER_S)
    }

    /// Bit/s × ps since the last change of the rate.
    fn scheduled_since(&self, now: Instant) -> u128 {
        u128::from(now.passed_since(self.ledger.rate_since).0) * u128::from(self.rate.0)
    }

    /// The frame in transmission counts as queued in the queue of this class.
    pub fn serves(&self, class: TrafficClass) -> bool {
        self.in_service == class
    }

    /// The line has another rate from the next transmission on.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.pass_rate(now);
        if self.ledger.older.end != self.busy_until {
            self.ledger.older = Older { rate: self.rate, end: self.busy_until, octets: self.known_octets };
        }
        self.rate = rate;
        self.known_octets = 0;
        self.ledger.known_before = Serialisation::default();
        self.remainder = 0;
    }

    /// Data frames that a queue has dropped, those that it lost with its line among them.
    pub fn dropped_data(&self, class: TrafficClass) -> u64 {
        self.queues[class.index()].dropped - self.ledger.control_drops(class)
    }

    /// The rate was what it is until `now`.
    pub fn pass_rate(&mut self, now: Instant) {
        self.ledger.scheduled += self.scheduled_since(now);
        self.ledger.rate_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    /// A hop touches two ports and two queues; a field more than fits would cost it another line of the cache each.
    #[test]
    fn ports_and_queues_fill_two_cache_lines() {
        assert_eq!((size_of::<PortState>(), align_of::<PortState>()), (128, 64));
        assert_eq!((size_of::<QueueState>(), align_of::<QueueState>()), (128, 64));
        // `ahead` asks for a field of either line.
        let line = |offset: usize| offset / 64;
        assert_ne!(line(offset_of!(PortState, busy_until)), line(offset_of!(PortState, hops)));
        assert_ne!(line(offset_of!(QueueState, statistics)), line(offset_of!(QueueState, len)));
    }
}
