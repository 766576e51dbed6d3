//! A frame comes to a port. First it is decided what becomes of it ([`Admission`]). The congestion point of its queue decides where it
//! does so (`CongestionPoint::ADMITS`), then the room in the queue, or in the ingress buffer that bounds it instead, then the queue's pool
//! ([`crate::flow_control::pool`]). Then that is done.

use core::marker::PhantomData;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{CongestionPoint, Fate, HEADER, PortView, Queue, Scheme, Verdict};

use crate::datapath::{Arrival, Classes, Fabric, HopContext, Outbox, SignalSender};
use crate::events::{CounterId, Events, FrameId};
use crate::flow_control::pause::Ingress;
use crate::model::Model;
use crate::state::frame::{FrameKind, GONE, Marks};
use crate::state::hop_info::weight_of;
use crate::state::port::{
    CREDITED, DOWN, DRAINS, HISTOGRAMS, MARKS_AT_DEPARTURE, MARKS_BY_PORT, POOLED, PortState, QueueState, TRIMS, WRED,
};

/// The outcome of a frame's arrival at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It is in a queue of the port, or on the line.
    Queued,
    /// Its header alone is.
    Trimmed,
    /// Its header alone went on, and found no room.
    TrimmedThenDropped,
    /// It is gone.
    Dropped,
}

/// What becomes of a frame at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    /// It joins the queue, which is short with it: nothing else can happen.
    Queue,
    /// It joins the queue, which is longer with it than `QueueState::plain_len`, and may be marked.
    QueueLong,
    /// Its header goes on in the class of control frames.
    Trim,
    /// It is dropped.
    Drop,
}

/// An admission, and what it rests on.
struct Decision {
    /// The frame, in the class in which it goes on.
    arrival: Arrival,
    admission: Admission,
    /// The counter of its ingress buffer, or none.
    counter: CounterId,
    memory: PoolAnswer,
}

/// A port with all its queues, for a congestion point.
struct Queues<'a, M> {
    p: &'a PortState,
    classes: &'a Classes,
    model: PhantomData<M>,
}

impl<M: Model> PortView for Queues<'_, M> {
    fn queue(&self, priority: u8) -> Option<Queue> {
        let class = *self.classes.get(usize::from(priority)).filter(|&&class| class != GONE)?;
        Some(self.p.queues[class.index()].seen(self.p.rate, self.p.stops::<M>(class)))
    }
}

/// The answer of a queue's pool to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolAnswer {
    /// It has room, or there is no pool.
    Free,
    /// The frame has its memory.
    Taken,
    /// It has none.
    Refused,
}

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// Puts a frame into the queue of its class at `port`, or into the one that the congestion point there decides on.
    #[inline(always)]
    pub fn enqueue(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Enqueued {
        let (p, mut context) = self.at(port);
        if M::FULL && p.attention == POOLED {
            let mut context = context.with_pool_alone();
            context.settle(p);
            return match context.take_memory(p, arrival) {
                Some(memory) => context.enqueue(p, arrival, memory, out),
                None => self.enqueue_in_settled_pool(port, arrival, out),
            };
        }
        context.settle(p);
        let Some(memory) = context.take_memory(p, arrival) else {
            return self.enqueue_in_settled_pool(port, arrival, out);
        };
        let decision = context.decide(p, arrival, memory);
        if M::FULL && decision.admission == Admission::Trim {
            return self.trim(port, decision.arrival, out);
        }
        context.carry_out(p, decision, out)
    }

    /// The same for a frame that is not certain to get memory: all ports that share it are settled before its pool is asked.
    #[cold]
    fn enqueue_in_settled_pool(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Enqueued {
        let memory = self.ask_settled_pool(port, arrival);
        let (p, mut context) = self.at(port);
        let decision = context.decide(p, arrival, memory);
        if decision.admission == Admission::Trim {
            return self.trim(port, decision.arrival, out);
        }
        context.carry_out(p, decision, out)
    }

    /// The answer of a frame's pool when all ports that share the memory have been settled.
    fn ask_settled_pool(&mut self, port: PortId, arrival: Arrival) -> PoolAnswer {
        let Arrival { class, octets, from, .. } = arrival;
        let Some(pools) = self.pauses.pools.as_deref() else { return PoolAnswer::Free };
        let claim = pools.claim((port, class, from), octets, self.queue(self.queue_at(port, class)).len);
        let mut next = 0;
        while let Some(neighbour) = self.pauses.port_of_pool(claim, next) {
            if !self.port(neighbour).flow_controlled() {
                self.settle(neighbour);
            }
            next += 1;
        }
        // Where congestion points decide on frames, the pool is asked after that.
        let has_room = S::Cp::ADMITS || self.pauses.pools.as_deref().is_none_or(|pools| pools.has_room(claim));
        if has_room { PoolAnswer::Free } else { PoolAnswer::Refused }
    }

    /// Sends the header of a frame that finds no room in its queue at a port.
    #[cold]
    fn trim(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Enqueued {
        let header = self.cut(port, arrival, out);
        let memory = self.ask_settled_pool(port, header);
        let (p, mut context) = self.at(port);
        match context.enqueue(p, header, memory, out) {
            Enqueued::Dropped => Enqueued::TrimmedThenDropped,
            _ => Enqueued::Trimmed,
        }
    }

    /// Cuts a frame that finds no room in its queue at a port down to its header, which comes instead. To the queue's congestion
    /// point it is dropped.
    fn cut(&mut self, port: PortId, arrival: Arrival, out: &mut Outbox<S>) -> Arrival {
        let Arrival { index, class, .. } = arrival;
        let header = Arrival { class: self.control_class(), octets: HEADER, ..arrival };
        let p = &mut self.ports[port.index()];
        let (rate, stopped) = (p.rate, p.stops::<M>(class));
        let q = &mut p.queues[class.index()];
        q.arrived += 1;
        q.dropped += 1;
        let slot = self.frames.get_mut(index);
        if let Some(state) = self.cps.get_mut(q.cp.index())
            && let Some(frame) = slot.data(weight_of(&self.hop_info, slot.hop))
        {
            let seen = q.seen(rate, stopped);
            state.cp.on_arrival(self.now, frame, Fate::Dropped, &seen, &mut state.stream, &mut SignalSender(out));
            state.arm(&mut self.events, q.cp);
        }
        slot.marks = slot.marks.with(Marks::TRIMMED);
        (slot.class, slot.octets) = (header.class, header.octets);
        header
    }
}

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// Puts a frame into a queue of a settled port that trims no frames; `memory` is the answer of the queue's pool.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        p: &mut PortState,
        arrival: Arrival,
        memory: PoolAnswer,
        out: &mut Outbox<S>,
    ) -> Enqueued {
        let decision = self.decide(p, arrival, memory);
        self.carry_out(p, decision, out)
    }

    /// Takes memory for a frame that comes to a settled port where it is sure to get it; else `None`. A frame that its own queue might
    /// refuse or mark is not given memory.
    #[inline(always)]
    fn take_memory(&mut self, p: &PortState, arrival: Arrival) -> Option<PoolAnswer> {
        if !Self::has_pool(p) {
            return Some(PoolAnswer::Free);
        }
        let Arrival { class, octets, .. } = arrival;
        let q = &p.queues[class.index()];
        let len = q.len + u64::from(octets);
        let held = M::FULL && p.flow_controlled();
        if S::Cp::ADMITS || held || len > u64::from(q.plain_len) {
            return None;
        }
        let pools = self.pauses.pools.as_deref_mut()?;
        pools.takes_surely(self.now, p.queue(class), octets, len).then_some(PoolAnswer::Taken)
    }

    /// Decides on a frame that comes to a settled port.
    #[inline(always)]
    fn decide(&mut self, p: &mut PortState, arrival: Arrival, memory: PoolAnswer) -> Decision {
        let admitted = if S::Cp::ADMITS { self.admit(p, arrival) } else { Some(arrival.class) };
        let arrival = Arrival { class: admitted.unwrap_or(arrival.class), ..arrival };
        let Arrival { index, class, octets, from } = arrival;
        let q = &p.queues[class.index()];
        let ingress = if M::FULL && p.flow_controlled() { self.ingress(from, class, octets) } else { Ingress::NONE };
        let by_ingress = M::FULL && ingress.counter != CounterId::NONE;
        let short = !by_ingress && q.len + u64::from(octets) <= u64::from(q.plain_len);
        let at = (p.index, class, from);
        let special = M::FULL && p.is_special();
        let admission = if memory == PoolAnswer::Taken {
            Admission::Queue
        } else if S::Cp::ADMITS && admitted.is_none() {
            Admission::Drop
        } else if (short || self.fits(q, ingress, octets))
            && !(special && self.refuses(at, (octets, q.len), p.attention, memory))
        {
            if short {
                Admission::Queue
            } else if special && p.attention & WRED != 0 && self.reborrow().drops_early(p, arrival) {
                Admission::Drop
            } else {
                Admission::QueueLong
            }
        } else if M::FULL && p.attention & TRIMS != 0 && self.is_cut(index, (p.index, class), p.attention) {
            Admission::Trim
        } else {
            Admission::Drop
        };
        Decision { arrival, admission, counter: ingress.counter, memory }
    }

    /// Puts a frame into its queue, or drops it, as was decided.
    #[inline(always)]
    fn carry_out(&mut self, p: &mut PortState, decision: Decision, out: &mut Outbox<S>) -> Enqueued {
        let Decision { arrival: Arrival { index, class, octets, from }, admission, counter, memory } = decision;
        let fits = matches!(admission, Admission::Queue | Admission::QueueLong);
        let (rate, stopped, waits) = (p.rate, p.stops::<M>(class), p.holds::<M>(class));
        let (special, held) = (M::FULL && p.is_special(), M::FULL && p.flow_controlled());
        let q = &mut p.queues[class.index()];
        let len = q.len + u64::from(octets);
        q.arrived += 1;
        if fits {
            if admission == Admission::QueueLong {
                if len > u64::from(p.marks_above) {
                    if special && p.attention & WRED != 0 {
                        self.reborrow().mark_early(&mut p.ledger, (class, len), index);
                    } else {
                        self.frames.mark(index, &mut p.ledger, class);
                    }
                }
                // In a lean switch no frame is dropped at once after one that left room for another.
                if !(M::FULL || M::SHARED) {
                    q.statistics.joined = self.now;
                }
            }
            if special {
                if p.attention & HISTOGRAMS != 0 {
                    self.observed.histograms.joins((p.index, class), self.now, &q.statistics, q.len);
                }
                if memory != PoolAnswer::Taken {
                    self.pauses.take_from_pool(self.now, index, (p.index, class, from), (octets, q.len), counter);
                }
            }
            q.statistics.pass(self.now, q.len);
            if len > u64::from(q.statistics.max) {
                q.statistics.max = len as u32;
            }
            q.len = len;
            if M::FULL || M::SHARED {
                q.statistics.joined = self.now;
            }
            if held {
                self.pauses.hold(index, counter, octets);
            }
        } else {
            q.dropped += 1;
            if self.frames.get(index).kind() != FrameKind::Data {
                p.ledger.drop_control(class);
            }
        }
        let (cp, seen) = (q.cp, q.seen(rate, stopped));
        if let Some(state) = self.cps.get_mut(cp.index())
            && let Some(slot) = self.frames.peek_mut(index)
            && let Some(frame) = slot.data(weight_of(self.hop_info, slot.hop))
        {
            let fate = if fits { Fate::Queued } else { Fate::Dropped };
            state.cp.on_arrival(self.now, frame, fate, &seen, &mut state.stream, &mut SignalSender(out));
            state.arm(self.events, cp);
        }
        if !fits {
            let tied = p.queues[class.index()].statistics.joined == self.now && class.index() + 1 < p.queues.len();
            p.ledger.tied += u64::from(tied);
            self.frames.remove(index);
            return Enqueued::Dropped;
        }
        if !(special && p.attention & MARKS_AT_DEPARTURE != 0) {
            self.ask_for_mark(p, class, index, self.now);
        }
        if special && p.attention & (MARKS_BY_PORT | MARKS_AT_DEPARTURE) == MARKS_BY_PORT {
            self.reborrow().mark_as_it_comes(p, class, index);
        }
        let lacks = M::FULL && p.attention & CREDITED != 0 && self.lacks_credits(p, class, octets);
        if p.busy_until <= self.now && !waits && !lacks {
            self.start(p, class, index, octets, self.now);
        } else {
            self.frames.get_mut(index).next = FrameId::NONE;
            p.queues[class.index()].waiting.push(self.frames, index);
            p.ready |= class.bit();
        }
        Enqueued::Queued
    }

    /// The class in which a frame that comes to a queue goes on, by the verdict of the queue's congestion point; `None` if it does not.
    pub(crate) fn admit(&mut self, p: &PortState, arrival: Arrival) -> Option<TrafficClass> {
        match self.verdict(p, arrival) {
            Verdict::Accept => Some(arrival.class),
            Verdict::Drop => None,
            Verdict::Move(priority) => {
                let other = self.classes.get(usize::from(priority)).filter(|&&class| class != GONE);
                Some(*other.expect("frames are moved to priorities that the network has"))
            }
        }
    }

    /// The verdict of a queue's congestion point on a frame that comes to the queue.
    fn verdict(&mut self, p: &PortState, arrival: Arrival) -> Verdict {
        let Arrival { index, class, octets, from } = arrival;
        let q = &p.queues[class.index()];
        let fits = self.fits(q, self.ingress(from, class, octets), octets)
            && !(M::FULL && p.is_special() && !self.pauses.pool_has_room((p.index, class, from), octets, q.len));
        let port = Queues::<M> { p, classes: self.classes, model: PhantomData };
        let seen = q.seen(p.rate, p.stops::<M>(class));
        let Some(state) = self.cps.get_mut(q.cp.index()) else { return Verdict::Accept };
        let slot = self.frames.get_mut(index);
        let weight = weight_of(self.hop_info, slot.hop);
        let Some(frame) = slot.data(weight) else { return Verdict::Accept };
        let verdict = state.cp.admit(self.now, frame, fits, &seen, &port, &mut state.stream);
        state.moved += u64::from(matches!(verdict, Verdict::Move(_)));
        state.arm(self.events, q.cp);
        verdict
    }

    /// Whether a frame that finds no room in the queue of a port and class is cut down to its header there.
    #[cold]
    pub(crate) fn is_cut(&self, index: FrameId, (port, class): (PortId, TrafficClass), attention: u16) -> bool {
        let drains = attention & DOWN != 0 || (attention & DRAINS != 0 && self.pauses.drains(port, class));
        !drains && self.pauses.trimmed & class.bit() != 0 && self.frames.get(index).can_be_cut()
    }

    /// Whether a frame of `octets` that has room in its queue of `len` is refused: the queue's pool has no memory for it, or the
    /// watchdog drains the queue, or the line is broken. `at` is the queue's port and class, and the line that the frame came over.
    #[inline(always)]
    pub(crate) fn refuses(
        &mut self,
        at: (PortId, TrafficClass, PortId),
        (octets, len): (u16, u64),
        attention: u16,
        memory: PoolAnswer,
    ) -> bool {
        if attention & DOWN != 0 {
            return true;
        }
        if memory == PoolAnswer::Refused || S::Cp::ADMITS {
            let pools = self.pauses.pools.as_deref_mut();
            if pools.is_some_and(|pools| !pools.admits(pools.claim(at, octets, len))) {
                return true;
            }
        }
        attention & DRAINS != 0 && self.pauses.drops_at(at.0, at.1)
    }

    /// The ingress buffer of a frame of `class` that comes over the line of port `from`, if there is one.
    #[inline(always)]
    pub(crate) fn ingress(&self, from: PortId, class: TrafficClass, octets: u16) -> Ingress {
        if M::FULL { self.pauses.ingress(from, class, octets) } else { Ingress::NONE }
    }

    /// Whether a frame has room in the queue, or in the ingress buffer that bounds it instead.
    #[inline(always)]
    pub(crate) fn fits(&self, q: &QueueState, ingress: Ingress, octets: u16) -> bool {
        if M::FULL && ingress.counter != CounterId::NONE {
            ingress.has_room
        } else {
            let len = q.len + u64::from(octets);
            len <= u64::from(q.plain_len) || q.has_room_beyond(len)
        }
    }
}
