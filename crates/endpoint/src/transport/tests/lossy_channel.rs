//! A two-way channel for tests: one flow over a line that delays, loses, reorders, repeats and marks, and breaks at times.
//!
//! Every step is checked against the duties of a transport. The receiver delivers nothing that has not arrived, the
//! sender takes nothing for acknowledged that has not been delivered, and something happens as long as data is left.

use std::collections::BTreeMap;

use penstock_schemes::{Duration, Instant};

use crate::transport::ranges::Ranges;
use crate::transport::sequence::Numbering;
use crate::transport::{Ack, Receiver, Segment, Sender};

/// The faults and delays of the line. Shares are of a thousand segments.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Line {
    /// One direction.
    pub(in crate::transport) delay: Duration,
    /// Picoseconds of an octet.
    pub(in crate::transport) octet: u64,
    pub(in crate::transport) loss: u64,
    /// Share of which the header alone arrives, ahead of others; of transports that make use of it.
    pub(in crate::transport) cut: u64,
    pub(in crate::transport) ack_loss: u64,
    pub(in crate::transport) repeats: u64,
    pub(in crate::transport) marks: u64,
    /// Share of segments and acknowledgements that take longer, by up to `jitter`.
    pub(in crate::transport) reordered: u64,
    pub(in crate::transport) jitter: Duration,
    /// From and to; nothing passes in either direction.
    pub(in crate::transport) outages: Vec<(u64, u64)>,
    /// The number of the first new segment that is lost, and the distance from each lost one to the next.
    pub(in crate::transport) loses: Option<(u64, u64)>,
    /// A switch's queue instead of the card's: octets from which it marks, and beyond which it drops.
    pub(in crate::transport) queue: Option<(u64, u64)>,
    pub(in crate::transport) seed: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Segment(Segment, bool),
    Header(Segment),
    Ack(Ack),
}

/// How the caller of the transport behaves; it must make no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::transport) enum Caller {
    /// Takes every segment that may go whenever something has happened.
    Plain,
    /// Asks for lengths and timeouts again and again, and calls for timeouts that are not due.
    Fussy,
}

/// The application at the receiver reads; gives the acknowledgement that this causes.
pub(in crate::transport) type Read<R> = Box<dyn FnMut(&mut R) -> Option<Ack>>;

/// One flow in the channel.
pub(in crate::transport) struct Channel<S, R> {
    pub(in crate::transport) sender: S,
    pub(in crate::transport) receiver: R,
    line: Line,
    numbering: Numbering,
    /// Octets that a sequence number stands for.
    unit: u64,
    /// Octets that may be outstanding.
    pub(in crate::transport) most_outstanding: u64,
    caller: Caller,
    reader: Option<(Duration, Read<R>)>,
    read_at: Option<u64>,
    pub(in crate::transport) now: u64,
    events: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    random: u64,
    free_at: u64,
    arrived: Ranges,
    new_segments: u64,
    /// Every segment that was sent, and when.
    pub(in crate::transport) sent: Vec<(u64, Segment)>,
    /// Longest queue of the switch since this was last cleared, octets.
    pub(in crate::transport) longest_queue: u64,
}

impl<S: Sender, R: Receiver> Channel<S, R> {
    pub(in crate::transport) fn new(sender: S, receiver: R, line: Line, numbering: Numbering, unit: u64) -> Self {
        let random = line.seed;
        Self {
            sender,
            receiver,
            line,
            numbering,
            unit,
            most_outstanding: u64::MAX,
            caller: Caller::Plain,
            reader: None,
            read_at: None,
            now: 0,
            events: BTreeMap::new(),
            scheduled: 0,
            random,
            free_at: 0,
            arrived: Ranges::default(),
            new_segments: 0,
            sent: Vec::new(),
            longest_queue: 0,
        }
    }

    pub(in crate::transport) fn called_by(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// The line, to be changed from now on.
    pub(in crate::transport) fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    /// Lets the application at the receiver read once in `period`.
    pub(in crate::transport) fn reads(&mut self, period: Duration, read: Read<R>) {
        self.reader = Some((period, read));
        self.read_at = Some(period.0);
    }

    /// Runs until `end`, or until the flow has finished.
    ///
    /// # Panics
    /// If nothing more would happen although data is left, or ever more happens at one instant.
    pub(in crate::transport) fn run_until(&mut self, end: Duration) {
        let mut at_once = 0;
        while !self.sender.is_finished() {
            self.pull();
            let at = self.next_event();
            assert!(at != u64::MAX, "the flow stands still at {} ps: {:?}", self.now, self.sender.statistics());
            if at > end.0 {
                break;
            }
            at_once = if at == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 100_000, "no time passes at {} ps: {:?}", self.now, self.sender.statistics());
            self.now = at;
            self.step();
            self.check();
        }
    }

    /// When something is next to be done.
    fn next_event(&self) -> u64 {
        let timeouts = [self.sender.next_timeout(), self.receiver.next_timeout()];
        let card = (self.sender.next_segment().is_some()).then_some(self.free_at);
        let event = self.events.keys().next().map(|k| k.0);
        timeouts
            .into_iter()
            .flatten()
            .map(|at| at.0)
            .chain(card)
            .chain(event)
            .chain(self.read_at)
            .min()
            .map_or(u64::MAX, |at| at.max(self.now))
    }

    /// Everything that is due now.
    fn step(&mut self) {
        let now = Instant(self.now);
        if self.caller == Caller::Fussy || self.sender.next_timeout().is_some_and(|at| at <= now) {
            self.sender.on_timeout(now);
        }
        if let Some(ack) = self.receiver.on_timeout(now) {
            self.send_ack(ack);
        }
        if let Some((period, read)) = self.reader.as_mut().filter(|_| self.read_at.is_some_and(|at| at <= self.now)) {
            self.read_at = Some(self.now + period.0);
            if let Some(ack) = read(&mut self.receiver) {
                self.send_ack(ack);
            }
        }
        if let Some(event) = self.events.first_entry().filter(|e| e.key().0 <= self.now) {
            match event.remove() {
                Event::Segment(segment, ce) => self.deliver(&segment, ce),
                Event::Header(segment) => {
                    for ack in self.receiver.on_header(now, &segment) {
                        self.send_ack(ack);
                    }
                }
                Event::Ack(ack) => self.sender.on_ack(now, &ack),
            }
        }
    }

    fn deliver(&mut self, segment: &Segment, ce: bool) {
        if let Some(start) = self.numbering.unwrap(segment.seq, self.receiver.delivered().0 / self.unit) {
            let start = start * self.unit;
            self.arrived.insert(start, start + u64::from(segment.len));
        }
        for ack in self.receiver.on_segment(Instant(self.now), segment, ce) {
            self.send_ack(ack);
        }
    }

    fn check(&self) {
        let delivered = self.receiver.delivered().0;
        assert!(self.sender.acknowledged().0 <= delivered, "acknowledged before it was delivered");
        let whole = self.arrived.holding(0).map_or(0, |r| r.1);
        assert!(delivered <= whole, "{delivered} octets delivered of {whole} that have arrived");
    }

    /// The card takes the segments that it has room for.
    fn pull(&mut self) {
        let before = self.sent.len();
        while self.line.queue.is_some() || self.free_at <= self.now {
            assert!(self.sent.len() - before < 100_000, "it does not end: {:?}", self.sent.last());
            let length = self.sender.next_segment();
            if self.caller == Caller::Fussy {
                self.sender.on_timeout(Instant(self.now));
                assert_eq!(self.sender.next_segment(), length);
                let _ = self.sender.next_timeout();
            }
            let segment = self.sender.poll_segment(Instant(self.now));
            assert_eq!(segment.map(|s| s.len), length, "the length that was announced");
            let Some(segment) = segment else { return };
            let acknowledged = self.sender.acknowledged().0;
            let end = self.numbering.unwrap(segment.seq, acknowledged / self.unit).map_or(0, |start| start * self.unit)
                + u64::from(segment.len);
            assert!(end <= acknowledged.saturating_add(self.most_outstanding), "{segment:?} beyond the window");
            self.sent.push((self.now, segment));
            self.transmit(segment);
        }
    }

    fn transmit(&mut self, segment: Segment) {
        let start = self.free_at.max(self.now);
        let mut marked = segment.ect && self.happens(self.line.marks);
        if let Some((mark, drop)) = self.line.queue {
            let queued = (start - self.now) / self.line.octet;
            self.longest_queue = self.longest_queue.max(queued);
            marked |= segment.ect && queued > mark;
            if queued > drop {
                return;
            }
        }
        self.free_at = start + u64::from(segment.len) * self.line.octet;
        self.new_segments += u64::from(!segment.retransmission);
        let chosen = self.line.loses.is_some_and(|(first, each)| {
            let after = self.new_segments.checked_sub(first);
            !segment.retransmission && after.is_some_and(|n| n % each == 0)
        });
        if chosen || self.happens(self.line.loss) || self.is_broken() {
            return;
        }
        if self.sender.may_be_trimmed() && self.happens(self.line.cut) {
            self.pass(self.now, Event::Header(segment));
            return;
        }
        self.pass(self.free_at, Event::Segment(segment, marked));
        if self.happens(self.line.repeats) {
            self.pass(self.free_at, Event::Segment(segment, marked));
        }
    }

    fn send_ack(&mut self, ack: Ack) {
        if !self.happens(self.line.ack_loss) && !self.is_broken() {
            self.pass(self.now, Event::Ack(ack));
        }
    }

    fn pass(&mut self, from: u64, event: Event) {
        let later = if self.happens(self.line.reordered) { self.random() % (self.line.jitter.0 + 1) } else { 0 };
        self.scheduled += 1;
        self.events.insert((from + self.line.delay.0 + later, self.scheduled), event);
    }

    fn is_broken(&self) -> bool {
        self.line.outages.iter().any(|&(from, to)| from <= self.now && self.now < to)
    }

    fn happens(&mut self, share: u64) -> bool {
        share > 0 && self.random() % 1000 < share
    }

    /// SplitMix64. (Steele et al. 2014)
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
