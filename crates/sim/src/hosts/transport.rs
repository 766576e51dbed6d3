//! Transports: the halves of connections at their flows' ends, and the paths of segments and acknowledgements between them.
//!
//! Queues, schemes and flow control treat a segment as a data frame, and an acknowledgement too, on the flow's path
//! back. The part that the two halves of the transport read lies outside of the frame's slot: it is written when the
//! frame is sent, and read when it arrives, so that no hop touches it.

use std::collections::VecDeque;

use penstock_endpoint::entropy_states::Profile;
use penstock_endpoint::transport::{Ack, AnyReceiver, AnySender, Receiver, Segment, Sender, Transport};
use penstock_endpoint::{Taken, TrafficClass};
use penstock_schemes::{FlowKey, Instant, Octets};
use penstock_switch::events::FrameId;

use crate::hosts::entropy::{Entropy, Values};
use crate::hosts::transmit_queue::{TransmitPart, TransmitQueues};
use crate::network::{Flow, FlowId, HopId, Transmit};
use crate::state::event::Event;
use crate::state::event_queue::EventQueue;

/// Octets of an Ethernet frame besides its payload: MAC addresses, EtherType, FCS. (IEEE 802.3, clause 3.1.1)
const ETHERNET_OCTETS: u32 = 18;
/// The shortest Ethernet frame, with FCS. (IEEE 802.3, clause 4.4.2)
const SHORTEST: u32 = 64;
/// Data of a flow without end: more than the fastest line carries in the longest run.
const ENDLESS: u64 = 1 << 62;

/// Length of the frame around a packet of `octets` octets, its network layer's header included.
pub(crate) fn frame_around(octets: u32) -> u16 {
    (octets + ETHERNET_OCTETS).max(SHORTEST) as u16
}

/// Length of the frame around a full segment of `transport`, octets with FCS.
#[must_use]
pub fn longest_frame(transport: &Transport) -> Octets {
    Octets(transport.segment().0 + u64::from(transport.header_octets() + ETHERNET_OCTETS))
}

/// The sending half of a connection, at its flow's source.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub(crate) sender: AnySender,
    /// Octets of the flow in all, if it has a size; those of a full segment; those that the application has handed over.
    size: Option<u64>,
    segment: u64,
    handed: u64,
    /// The messages of a flow that stays, each but the first, until the sender has them; the last one ends the flow.
    later: Option<VecDeque<(Octets, bool)>>,
    /// The messages whose acknowledgements somebody waits for; `None` where nobody does.
    pub(crate) unacknowledged: Option<Box<Unacknowledged>>,
    /// The segment that was taken last.
    pub(crate) taken: Option<Segment>,
    /// The entropy values of its frames, where switches go by them.
    pub(crate) values: Option<Box<Values>>,
    /// Its part of the transmit queue; `None` where there is none.
    pub(crate) queue: Option<TransmitPart>,
    /// The timers under way.
    pub(crate) armed: Armed,
}

impl Connection {
    pub(crate) fn new(transport: &Transport, size: Option<Octets>, queued: bool) -> Self {
        Self {
            sender: transport.sender(0),
            size: size.map(|octets| octets.0),
            segment: transport.segment().0,
            handed: 0,
            later: None,
            unacknowledged: None,
            taken: None,
            values: None,
            queue: queued.then(TransmitPart::default),
            armed: Armed::NONE,
        }
    }

    /// Whether a segment may go.
    #[inline(never)]
    pub(crate) fn is_ready(&self) -> bool {
        match &self.queue {
            Some(queue) => !queue.segments.is_empty(),
            None => self.sender.next_segment().is_some(),
        }
    }

    /// Octets of the frame around the segment that goes next.
    pub(crate) fn next_octets(&self) -> u16 {
        let next = match &self.queue {
            Some(queue) => queue.segments.front().map(|segment| segment.len),
            None => self.sender.next_segment(),
        };
        self.frame_octets(next.unwrap_or(0))
    }

    /// Octets of the frame around a segment of `data` octets.
    pub(crate) fn frame_octets(&self, data: u32) -> u16 {
        frame_around(data + self.sender.header_octets())
    }

    /// Octets of the flow in all, if it has a size.
    pub(crate) fn size(&self) -> Option<Octets> {
        self.size.map(Octets)
    }

    /// Octets and number of the frames around `size` octets of data.
    pub(crate) fn extent(&self, size: Octets) -> (u64, u64) {
        let (full, rest) = (size.0 / self.segment, size.0 % self.segment);
        let last = if rest > 0 { u64::from(self.frame_octets(rest as u32)) } else { 0 };
        (full * u64::from(self.frame_octets(self.segment as u32)) + last, full + u64::from(rest > 0))
    }

    /// Takes the segment that may go. The flow does not end with it: data that is lost is sent again.
    #[inline(never)]
    pub(crate) fn take(&mut self, now: Instant) -> Taken {
        let segment = match &mut self.queue {
            Some(queue) => queue.segments.pop_front(),
            None => self.sender.poll_segment(now),
        };
        let segment = segment.expect("a limiter releases segments that may go");
        self.taken = Some(segment);
        Taken { octets: self.frame_octets(segment.len), last: false }
    }

    /// Sees to it that the sender, that of `flow` with this key, is called when its timer expires.
    #[inline]
    pub(crate) fn watch(&mut self, now: Instant, flow: FlowId, key: FlowKey, events: &mut EventQueue) {
        self.armed.ask(events, now, self.sender.next_timeout(), Event::Retransmit(flow), key);
    }

    /// The application has made `writes` segments of data since the start; with `all`, everything.
    pub(crate) fn hand_over(&mut self, writes: u64, all: bool) {
        let written = writes.saturating_mul(self.segment);
        let due = self.size.map_or(written, |size| if all { size } else { written.min(size) });
        if due > self.handed {
            self.sender.supply(Octets(due - self.handed));
            self.handed = due;
        }
        if all && self.size.is_some() {
            match self.later {
                Some(_) => self.hand_over_messages(),
                None => self.sender.finish(),
            }
        }
    }

    /// The flow stays: further messages follow the data that it has.
    pub(crate) fn stay(&mut self) {
        self.later = Some(VecDeque::new());
    }

    /// One message more of a flow that stays. The sender has it at once, unless the flow has not begun.
    pub(crate) fn post(&mut self, size: Octets, last: bool) {
        if let Some(later) = &mut self.later {
            later.push_back((size, last));
        }
        if self.handed > 0 {
            self.hand_over_messages();
        }
    }

    fn hand_over_messages(&mut self) {
        for (octets, last) in self.later.iter_mut().flat_map(|later| later.drain(..)) {
            self.sender.supply(octets);
            if last {
                self.sender.finish();
            }
        }
    }

    /// The application has all its data at once.
    pub(crate) fn hand_over_all(&mut self) {
        match self.size {
            Some(_) => self.hand_over(0, true),
            None => self.sender.supply(Octets(ENDLESS)),
        }
    }
}

/// The messages of a connection that have begun and are not acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unacknowledged {
    /// Octets of all messages so far.
    posted: u64,
    /// The octet with which each ends, and the numbers of its process and of it there.
    waiting: VecDeque<(u64, (u32, u32))>,
}

impl Unacknowledged {
    /// A message begins.
    pub(crate) fn push(&mut self, number: (u32, u32), size: Octets) {
        self.posted += size.0;
        self.waiting.push_back((self.posted, number));
    }

    /// Takes the next message, if it is acknowledged by one up to octet `to`.
    pub(crate) fn pop(&mut self, to: Octets) -> Option<(u32, u32)> {
        let &(end, number) = self.waiting.front()?;
        if end > to.0 {
            return None;
        }
        self.waiting.pop_front();
        Some(number)
    }
}

/// The receiving half of a connection, at its flow's destination.
#[derive(Debug)]
pub(crate) struct Reception {
    pub(crate) receiver: AnyReceiver,
    /// Octets of the flow, if it has a size; of one that stays those up to the end of the next message that is awaited.
    pub(crate) size: Option<Octets>,
    /// The first hop of acknowledgements, and their class.
    pub(crate) reverse_path: HopId,
    pub(crate) class: TrafficClass,
    /// The timers under way.
    pub(crate) armed: Armed,
}

impl Reception {
    pub(crate) fn new(transport: &Transport, size: Option<Octets>, reverse_path: HopId, class: TrafficClass) -> Self {
        Self { receiver: transport.receiver(0), size, reverse_path, class, armed: Armed::NONE }
    }
}

/// The part of a frame that transports alone read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried {
    /// No frame with a transport has been in the slot.
    Nothing,
    Segment(Segment),
    Ack(Ack),
}

/// The receiving halves of all connections, and the segments and acknowledgements that their frames carry.
#[derive(Debug)]
pub(crate) struct Transports {
    /// By flow; none where a flow has no transport.
    pub(crate) receptions: Vec<Option<Box<Reception>>>,
    /// Where segments wait for their limiters.
    pub(crate) transmit: TransmitQueues,
    /// Switches go by entropy values.
    pub(crate) by_entropy: bool,
    /// The values that each flow has, where they are listed.
    pub(crate) profile: Option<Profile>,
    /// By frame. An entry counts as long as its frame is in the network.
    pub(crate) carried: Vec<Carried>,
    /// Likewise, where switches go by entropy values.
    entropies: Vec<Option<Entropy>>,
}

impl Transports {
    pub(crate) fn new(transmit: Transmit, by_entropy: bool, profile: Option<Profile>) -> Self {
        Self {
            receptions: Vec::new(),
            transmit: TransmitQueues::new(transmit),
            by_entropy,
            profile,
            carried: Vec::new(),
            entropies: Vec::new(),
        }
    }

    /// The receiving half of flow `id`, if it has a transport. `acks` gives the class of acknowledgements.
    pub(crate) fn receive(&mut self, id: FlowId, flow: &Flow, acks: impl Fn(Option<u8>) -> TrafficClass) {
        let Some(carriage) = &flow.transport else { return };
        if self.receptions.len() <= id.index() {
            self.receptions.resize_with(id.index() + 1, || None);
        }
        let reception = Reception::new(&carriage.transport, flow.size, carriage.reverse_path, acks(carriage.acks));
        self.receptions[id.index()] = Some(Box::new(reception));
    }

    /// Acknowledgements of flow `id` go another way from now on. Returns the one before.
    pub(crate) fn send_back_over(&mut self, id: FlowId, reverse_path: HopId) -> Option<HopId> {
        let reception = self.receptions.get_mut(id.index())?.as_deref_mut()?;
        Some(std::mem::replace(&mut reception.reverse_path, reverse_path))
    }

    /// Whether the receiving half of flow `id` has no timer.
    pub(crate) fn rests(&self, id: FlowId) -> bool {
        let reception = self.receptions.get(id.index()).and_then(Option::as_deref);
        reception.is_none_or(|half| half.receiver.next_timeout().is_none())
    }

    /// Flow `id` is forgotten.
    pub(crate) fn forget(&mut self, id: FlowId) {
        if let Some(reception) = self.receptions.get_mut(id.index()) {
            *reception = None;
        }
    }

    #[inline]
    pub(crate) fn carry(&mut self, frame: FrameId, carried: Carried) {
        match self.carried.get_mut(frame.index()) {
            Some(slot) => *slot = carried,
            None => self.carry_more(frame, carried),
        }
    }

    /// The same for a frame in a slot that no frame has been in.
    #[cold]
    fn carry_more(&mut self, frame: FrameId, carried: Carried) {
        self.carried.resize(frame.index() + 1, Carried::Nothing);
        self.carried[frame.index()] = carried;
    }

    /// The part of a frame that its transport reads; `None` where there are no transports.
    pub(crate) fn carried(&self, frame: FrameId) -> Option<Carried> {
        let there = !self.receptions.is_empty();
        there.then(|| self.carried.get(frame.index()).copied().unwrap_or(Carried::Nothing))
    }

    /// The segment that a frame of a flow with a transport carries, if it carries one.
    pub(crate) fn segment(&self, frame: FrameId) -> Option<&Segment> {
        match self.carried.get(frame.index())? {
            Carried::Segment(segment) => Some(segment),
            Carried::Ack(_) | Carried::Nothing => None,
        }
    }

    /// The entropy value of a frame; `None` where it has none.
    pub(crate) fn entropy(&self, frame: FrameId) -> Option<Entropy> {
        self.entropies.get(frame.index()).copied().flatten()
    }

    /// A frame has this entropy value.
    #[cold]
    pub(crate) fn set_entropy(&mut self, frame: FrameId, entropy: Option<Entropy>) {
        if self.entropies.len() <= frame.index() {
            self.entropies.resize(frame.index() + 1, None);
        }
        self.entropies[frame.index()] = entropy;
    }

    /// The acknowledgement that a frame carries, if it carries one.
    pub(crate) fn ack(&self, frame: FrameId) -> Option<&Ack> {
        match self.carried.get(frame.index())? {
            Carried::Ack(ack) => Some(ack),
            Carried::Segment(_) | Carried::Nothing => None,
        }
    }

    /// The next message of flow `id` that is awaited, if it has a transport, ends with this octet.
    pub(crate) fn expect(&mut self, id: FlowId, size: Option<Octets>) {
        if let Some(reception) = self.receptions.get_mut(id.index()).and_then(Option::as_deref_mut) {
            reception.size = size;
        }
    }

    /// Octets of a flow that have arrived without a gap.
    pub(crate) fn delivered(&self, flow: FlowId) -> u64 {
        let reception = self.receptions.get(flow.index()).and_then(Option::as_deref);
        reception.map_or(0, |half| half.receiver.delivered().0)
    }
}

/// The timers of one half that are under way: the two that expire first. A pacer asks for one soon, while that for losses, asked for
/// before, goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Armed {
    first: Instant,
    second: Instant,
}

impl Armed {
    const NONE: Self = Self { first: Instant::NEVER, second: Instant::NEVER };

    /// Asks for a timer of flow `key` at `timeout`, unless one is under way that expires before.
    #[inline(always)]
    pub(crate) fn ask(
        &mut self,
        events: &mut EventQueue,
        now: Instant,
        timeout: Option<Instant>,
        event: Event,
        key: FlowKey,
    ) {
        let Some(at) = timeout else { return };
        let at = at.max(now);
        if at < self.first {
            self.second = self.first;
            self.first = at;
            events.schedule_of(at, event, key);
        }
    }

    /// A timer has expired.
    #[inline]
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.first == now {
            self.first = std::mem::replace(&mut self.second, Instant::NEVER);
        }
    }
}
