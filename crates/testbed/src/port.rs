//! An output port of a switch: a queue for each priority and one for control frames, served at the port's rate in virtual
//! time.
//!
//! Frames come with the times at which the kernel has received them, and leave at the times at which the line would have sent
//! them. So the queue is as long as it would be behind a real line, however late the process is woken.

use std::collections::VecDeque;

use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, CongestionPoint, Duration, Fate, FlowKey, Instant, Octets, Out, Queue};
use penstock_schemes::{Class, Frame, To};
use penstock_sim::network::Capacity;
use penstock_sim::random::Stream;
use serde::{Deserialize, Serialize};

use crate::frame::{Header, length};
use crate::pause::{Ingress, Stops, pause_time};
use crate::scheme_frames::{Addressing, OnWire};

/// A frame in a port.
#[derive(Debug, Clone)]
pub struct Held {
    /// From the destination address to before the check sequence, tags included.
    pub octets: Vec<u8>,
    /// Its meaning to the scheme.
    pub kind: Kind,
    /// The port by which it came, if an ingress buffer there holds it.
    pub from: Option<usize>,
}

/// A frame that an ingress buffer no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// The port by which it came.
    pub from: usize,
    /// Its class.
    pub class: usize,
    /// Its length.
    pub octets: u16,
}

/// The meaning of a frame to the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Data of a flow; without one, data that nothing controls.
    Data {
        /// Its flow, by its number in the scenario.
        flow: Option<u16>,
        /// Weight of the flow.
        weight: u16,
    },
    /// A signal that goes to the flow's destination, past the congestion point of this class.
    Probe {
        /// The class of the flow's data.
        class: usize,
    },
    /// Anything else.
    Other,
}

/// A frame that has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// When the node at the far end is to act on it.
    pub due: Instant,
    /// Its octets.
    pub octets: Vec<u8>,
}

/// A signal that a congestion point sends: addressee, class, signal, and the frame that gave rise to it.
#[derive(Debug)]
pub struct Sent<S: OnWire> {
    /// Its addressee.
    pub to: To,
    /// Its class.
    pub class: Class,
    /// Its content.
    pub signal: S::Signal,
    /// The frame that gave rise to it; empty for a timer.
    pub sampled: Vec<u8>,
}

/// The flow of frames that no reaction point limits.
const NOBODY: FlowKey = FlowKey(u32::MAX);

/// Counts and measures of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Data frames that came.
    pub arrived: u64,
    /// Data frames that found no room.
    pub dropped: u64,
    /// Signals that its congestion point has sent.
    pub signals: u64,
    /// Frames that have left for the line.
    pub frames_sent: u64,
    /// Their octets.
    pub octets_sent: u64,
    /// Frames that its congestion point has marked.
    pub frames_marked: u64,
    /// Their octets.
    pub octets_marked: u64,
}

/// Time-weighted statistics of a queue's length.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lengths {
    since: Instant,
    begun: Instant,
    area: u128,
    area_squared: f64,
    empty: Duration,
    min: u64,
    max: u64,
}

impl Lengths {
    fn restart(&mut self, now: Instant, len: u64) {
        *self = Self { since: now, begun: now, min: len, max: len, ..Self::default() };
    }

    /// The length was `len` up to now.
    fn pass(&mut self, now: Instant, len: u64) {
        let time = now.passed_since(self.since).0;
        self.since = now;
        self.area += u128::from(len) * u128::from(time);
        self.area_squared += len as f64 * len as f64 * time as f64;
        if len == 0 {
            self.empty = Duration(self.empty.0 + time);
        }
    }

    /// The length has become `len`.
    fn reach(&mut self, len: u64) {
        self.min = self.min.min(len);
        self.max = self.max.max(len);
    }

    /// Mean, standard deviation, least, largest, and the share of time without an octet.
    #[must_use]
    pub fn moments(&self) -> (f64, f64, u64, u64, f64) {
        let time = self.since.passed_since(self.begun).0 as f64;
        if time == 0.0 {
            return (0.0, 0.0, self.min, self.max, 0.0);
        }
        let mean = self.area as f64 / time;
        let variance = self.area_squared / time - mean * mean;
        (mean, variance.max(0.0).sqrt(), self.min, self.max, self.empty.0 as f64 / time)
    }
}

/// One queue of a port.
#[derive(Debug)]
pub(crate) struct QueueState<S: OnWire> {
    pub(crate) cp: Option<S::Cp>,
    pub(crate) draw: Stream,
    waiting: VecDeque<Held>,
    pub(crate) len: u64,
    pub(crate) frames: u32,
    sent: u64,
    capacity: Capacity,
    pub(crate) counts: Counts,
    pub(crate) lengths: Lengths,
}

impl<S: OnWire> QueueState<S> {
    pub(crate) fn new(capacity: Capacity, cp: Option<S::Cp>, draw: Stream) -> Self {
        Self {
            cp,
            draw,
            waiting: VecDeque::new(),
            len: 0,
            frames: 0,
            sent: 0,
            capacity,
            counts: Counts::default(),
            lengths: Lengths::default(),
        }
    }

    fn seen(&self, rate: BitRate, paused: bool) -> Queue {
        Queue { len: Octets(self.len), frames: self.frames, rate, sent: Octets(self.sent), paused }
    }

    fn fits(&self, octets: u16) -> bool {
        match self.capacity {
            Capacity::Octets(most) => self.len + u64::from(octets) <= most.0,
            Capacity::Frames(most) => self.frames < most,
            Capacity::Arbiter => true,
        }
    }
}

/// Where a congestion point's signals go.
struct Outbox<'a, S: OnWire> {
    sent: &'a mut Vec<Sent<S>>,
    sampled: &'a [u8],
}

impl<S: OnWire> Out<S> for Outbox<'_, S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        self.sent.push(Sent { to, class, signal, sampled: self.sampled.to_vec() });
    }
}

/// The line of a port.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// Its rate.
    pub rate: BitRate,
    /// From the end of a transmission until the peer acts on the frame.
    pub latency: Duration,
    /// Octets that every frame occupies beyond its length.
    pub overhead: u16,
    /// The frame in transmission counts as queued.
    pub in_service_counts: bool,
}

/// A transmission in progress.
#[derive(Debug)]
enum Service {
    /// A frame of a queue, and its class.
    Frame(usize, Held),
    /// A pause frame.
    Pause(Vec<u8>),
}

impl Service {
    fn octets(&self) -> &[u8] {
        match self {
            Self::Frame(_, held) => &held.octets,
            Self::Pause(octets) => octets,
        }
    }
}

/// A port: its output queues and its line, and the buffers of the frames that come in by it.
#[derive(Debug)]
pub struct Port<S: OnWire> {
    line: Line,
    /// One a priority, the control queue last.
    pub(crate) queues: Vec<QueueState<S>>,
    in_service: Option<Service>,
    busy_until: Instant,
    remainder: u64,
    /// A bit for each class that priority flow control stops.
    stopped: u32,
    stops: Stops,
    ingress: Ingress,
    /// Frames of ingress buffers that have left their queue here, for the switch to tell the ports by which they came.
    released: Vec<Released>,
    /// Octets put on the line, overhead included, the transmission in progress counted whole.
    line_octets: u64,
    scheduled: u128,
    rate_since: Instant,
    departed: VecDeque<Departure>,
}

impl<S: OnWire> Port<S> {
    pub(crate) fn new(line: Line, queues: Vec<QueueState<S>>, stops: Stops, ingress: Ingress) -> Self {
        Self {
            line,
            queues,
            in_service: None,
            busy_until: Instant::ZERO,
            remainder: 0,
            stopped: 0,
            stops,
            ingress,
            released: Vec::new(),
            line_octets: 0,
            scheduled: 0,
            rate_since: Instant::ZERO,
            departed: VecDeque::new(),
        }
    }

    /// When something happens by itself.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        let line = self.in_service.as_ref().map_or(Instant::NEVER, |_| self.busy_until);
        let timers = self.queues.iter().filter_map(|queue| queue.cp.as_ref()?.next_timeout());
        timers.fold(line, Instant::min).min(self.stops.next_event()).min(self.ingress.next_event())
    }

    /// Handles what is due at `now`, the time of [`next_event`](Self::next_event).
    pub fn step(&mut self, now: Instant, sent: &mut Vec<Sent<S>>) {
        if self.in_service.is_some() && self.busy_until <= now {
            self.finish(now);
            self.begin(now);
        }
        self.obey(now);
        self.ingress.refresh(now);
        self.settle(now);
        let rate = self.line.rate;
        for (class, queue) in self.queues.iter_mut().enumerate() {
            let seen = queue.seen(rate, self.stopped >> class & 1 == 1);
            let Some(cp) = &mut queue.cp else { continue };
            if cp.next_timeout().is_some_and(|at| at <= now) {
                let before = sent.len();
                cp.on_timeout(now, &seen, &mut queue.draw, &mut Outbox { sent, sampled: &[] });
                queue.counts.signals += (sent.len() - before) as u64;
            }
        }
    }

    /// A frame comes to the queue of `class`. `room` says whether the ingress buffer that bounds it in place of the queue has
    /// room, if there is one.
    ///
    /// # Errors
    /// If it finds no room: the frame.
    pub fn enqueue(
        &mut self,
        now: Instant,
        class: usize,
        mut held: Held,
        room: Option<bool>,
        sent: &mut Vec<Sent<S>>,
    ) -> Result<(), Held> {
        let (rate, paused) = (self.line.rate, self.stopped >> class & 1 == 1);
        let queue = &mut self.queues[class];
        let octets = length(held.octets.len());
        let fits = room.unwrap_or_else(|| queue.fits(octets));
        queue.lengths.pass(now, queue.len);
        if fits {
            queue.len += u64::from(octets);
            queue.frames += 1;
            queue.lengths.reach(queue.len);
        }
        if let Kind::Data { flow, weight } = held.kind {
            queue.counts.arrived += 1;
            queue.counts.dropped += u64::from(!fits);
            let seen = queue.seen(rate, paused);
            if let Some(cp) = &mut queue.cp {
                let mut tag = S::tag(&held.octets);
                let before = sent.len();
                let fate = if fits { Fate::Queued } else { Fate::Dropped };
                let frame = view::<S>(now, flow, weight, octets, &mut tag);
                let mut outbox = Outbox { sent, sampled: &held.octets };
                cp.on_arrival(now, frame, fate, &seen, &mut queue.draw, &mut outbox);
                if S::Cp::MARKS
                    && fits
                    && cp.mark(now, view::<S>(now, flow, weight, octets, &mut tag), seen.len, &mut queue.draw)
                {
                    queue.counts.frames_marked += 1;
                    queue.counts.octets_marked += u64::from(octets);
                }
                queue.counts.signals += (sent.len() - before) as u64;
                edit::<S>(tag, flow, &mut held.octets);
            }
        }
        if !fits {
            return Err(held);
        }
        queue.waiting.push_back(held);
        self.settle(now);
        Ok(())
    }

    /// The line's rate changes, from the next transmission on.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.scheduled += u128::from(now.passed_since(self.rate_since).0) * u128::from(self.line.rate.0);
        self.rate_since = now;
        self.line.rate = rate;
        self.remainder = 0;
    }

    /// The neighbour stops a class for a number of quanta, or releases it with none.
    pub fn pause(&mut self, now: Instant, class: usize, quanta: u16) {
        self.stops.tell(now, class, pause_time(quanta, self.line.rate));
        self.obey(now);
        self.settle(now);
    }

    /// Whether the neighbour may stop a class here.
    #[must_use]
    pub fn obeys(&self) -> bool {
        self.stops.obeys()
    }

    /// How long the neighbour has stopped a class, and by how many frames.
    #[must_use]
    pub fn paused(&self, class: usize, now: Instant) -> (Duration, u64) {
        self.stops.paused(class, now)
    }

    /// How often the neighbour has stopped a class.
    #[must_use]
    pub fn times_stopped(&self, class: usize) -> u64 {
        self.stops.times(class)
    }

    /// The buffers of the frames that come in by this port.
    #[must_use]
    pub fn ingress(&self) -> &Ingress {
        &self.ingress
    }

    /// A frame that has come in by this port is held from now on.
    pub fn hold(&mut self, now: Instant, class: usize, octets: u16) {
        self.ingress.hold(class, octets);
        self.settle(now);
    }

    /// A frame that has come in by this port is held no longer.
    pub fn let_go(&mut self, now: Instant, class: usize, octets: u16) {
        self.ingress.let_go(class, octets);
        self.settle(now);
    }

    /// The next frame of an ingress buffer that has left its queue here.
    pub fn poll_released(&mut self) -> Option<Released> {
        self.released.pop()
    }

    /// Stops classes, or lets them go on, as far as that is due.
    fn obey(&mut self, now: Instant) {
        while let Some((class, stopped)) = self.stops.due(now) {
            self.stopped = self.stopped & !(1 << class) | u32::from(stopped) << class;
        }
    }

    /// Starts a transmission if the line is idle.
    fn settle(&mut self, now: Instant) {
        if self.in_service.is_none() {
            self.begin(now);
        }
    }

    /// The next frame that has left.
    pub fn poll_departure(&mut self) -> Option<Departure> {
        self.departed.pop_front()
    }

    /// Bits put on the line up to `now`, and bits that it could have carried.
    #[must_use]
    pub fn line_bits(&self, now: Instant) -> (u64, u128) {
        let unsent = self.in_service.as_ref().map_or(0, |service| {
            let rest = u128::from(self.busy_until.passed_since(now).0) * u128::from(self.line.rate.0);
            let whole = (u64::from(length(service.octets().len())) + u64::from(self.line.overhead)) * 8;
            ((rest / u128::from(PS_PER_S)) as u64).min(whole)
        });
        let scheduled = self.scheduled + u128::from(now.passed_since(self.rate_since).0) * u128::from(self.line.rate.0);
        (self.line_octets * 8 - unsent, scheduled / u128::from(PS_PER_S))
    }

    /// Statistics begin again.
    pub fn start_measuring(&mut self, now: Instant) {
        for queue in &mut self.queues {
            queue.lengths.restart(now, queue.len);
        }
    }

    /// Statistics include all time up to `now`.
    pub fn pass(&mut self, now: Instant) {
        for queue in &mut self.queues {
            queue.lengths.pass(now, queue.len);
        }
    }

    /// Frames that wait or are sent.
    #[must_use]
    pub fn held(&self) -> u64 {
        let waiting: usize = self.queues.iter().map(|queue| queue.waiting.len()).sum();
        (waiting + usize::from(self.in_service.is_some())) as u64
    }

    /// Starts the transmission of the next frame, if one may go. A pause frame precedes all that wait.
    fn begin(&mut self, now: Instant) {
        if self.ingress.pending() {
            let octets = self.ingress.compose(now);
            self.occupy(now, octets.len());
            self.in_service = Some(Service::Pause(octets));
            return;
        }
        let ready = |class: &usize| !self.queues[*class].waiting.is_empty() && self.stopped >> class & 1 == 0;
        let Some(class) = (0..self.queues.len()).rev().find(ready) else { return };
        let Some(mut held) = self.queues[class].waiting.pop_front() else { return };
        if S::Cp::STAMPS {
            self.stamp(now, class, &mut held);
        }
        self.occupy(now, held.octets.len());
        let held = if self.line.in_service_counts { held } else { self.depart(now, class, held) };
        self.in_service = Some(Service::Frame(class, held));
    }

    /// A frame of `octets`, without its check sequence, occupies the line from now on.
    fn occupy(&mut self, now: Instant, octets: usize) {
        let octets = u64::from(length(octets)) + u64::from(self.line.overhead);
        let (time, rest) = self.line.rate.serialisation(octets);
        self.remainder += rest;
        let carry = u64::from(self.remainder >= self.line.rate.0);
        self.remainder -= carry * self.line.rate.0;
        self.busy_until = now + time + Duration(carry);
        self.line_octets += octets;
    }

    /// The transmission ends.
    fn finish(&mut self, now: Instant) {
        let octets = match self.in_service.take() {
            Some(Service::Frame(class, held)) if self.line.in_service_counts => self.depart(now, class, held).octets,
            Some(Service::Frame(_, held)) => held.octets,
            Some(Service::Pause(octets)) => octets,
            None => return,
        };
        self.departed.push_back(Departure { due: now + self.line.latency, octets });
    }

    /// A frame leaves its queue.
    fn depart(&mut self, now: Instant, class: usize, held: Held) -> Held {
        let octets = length(held.octets.len());
        let (rate, stopped) = (self.line.rate, self.stopped);
        let queue = &mut self.queues[class];
        queue.lengths.pass(now, queue.len);
        queue.len -= u64::from(octets);
        queue.frames -= 1;
        queue.sent += u64::from(octets);
        queue.counts.frames_sent += 1;
        queue.counts.octets_sent += u64::from(octets);
        queue.lengths.reach(queue.len);
        self.released.extend(held.from.map(|from| Released { from, class, octets }));
        if let Kind::Data { flow, weight } = held.kind {
            let seen = queue.seen(rate, stopped >> class & 1 == 1);
            if let Some(cp) = &mut queue.cp {
                let mut tag = S::tag(&held.octets);
                cp.on_departure(now, view::<S>(now, flow, weight, octets, &mut tag), &seen);
            }
        }
        held
    }

    /// The congestion point writes into a frame whose transmission starts.
    fn stamp(&mut self, now: Instant, class: usize, held: &mut Held) {
        let (rate, stopped) = (self.line.rate, self.stopped);
        match held.kind {
            Kind::Data { flow, weight } => {
                let octets = length(held.octets.len());
                let queue = &mut self.queues[class];
                let mut seen = queue.seen(rate, stopped >> class & 1 == 1);
                seen.len.0 -= u64::from(octets);
                seen.frames -= 1;
                if let Some(cp) = &mut queue.cp {
                    let mut tag = S::tag(&held.octets);
                    cp.on_transmission(now, view::<S>(now, flow, weight, octets, &mut tag), &seen);
                    edit::<S>(tag, flow, &mut held.octets);
                }
            }
            Kind::Probe { class } => {
                let queue = &mut self.queues[class];
                let seen = queue.seen(rate, stopped >> class & 1 == 1);
                if let (Some(cp), Some((flow, mut signal))) = (&mut queue.cp, S::parse(&held.octets)) {
                    cp.on_probe_departure(now, &mut signal, &seen);
                    held.octets = again::<S>(&held.octets, flow, signal);
                }
            }
            Kind::Other => {}
        }
    }
}

/// A data frame as the scheme sees it. No frame says when it was sent, nor how much its flow had sent before.
fn view<'a, S: OnWire>(
    now: Instant,
    flow: Option<u16>,
    weight: u16,
    octets: u16,
    tag: &'a mut S::Tag,
) -> Frame<'a, S::Tag> {
    Frame {
        flow: flow.map_or(NOBODY, |flow| FlowKey(u32::from(flow))),
        octets,
        weight,
        seq: Octets(0),
        last: false,
        trimmed: false,
        sent_at: now,
        tag,
    }
}

/// Writes an edited tag; frames that nothing controls have none.
fn edit<S: OnWire>(tag: S::Tag, flow: Option<u16>, octets: &mut [u8]) {
    if flow.is_some() {
        S::edit(tag, octets);
    }
}

/// The frame of a signal that a congestion point has edited.
fn again<S: OnWire>(octets: &[u8], flow: u16, signal: S::Signal) -> Vec<u8> {
    let Some(header) = Header::read(octets) else { return octets.to_vec() };
    let priority = header.priority.unwrap_or(0);
    let Header { destination, source, .. } = header;
    S::emit(signal, &Addressing { destination, source, priority, flow, sampled: &[] })
}

/// Words for queues without a congestion point.
pub(crate) fn no_words() -> Stream {
    Stream::new(0, penstock_sim::random::Owner::CongestionPoint, usize::from(u16::MAX))
}
