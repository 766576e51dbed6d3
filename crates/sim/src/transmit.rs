//! The transmit queue of a host: segments that a transport has sent, and that wait for their limiter.

use std::collections::{BTreeMap, VecDeque};

use penstock_endpoint::LimiterId;
use penstock_endpoint::transport::{Segment, Sender};
use penstock_schemes::{Instant, Scheme};

use crate::engine::Sim;
use crate::network::{FlowId, Transmit};
use crate::probe::Probe;

/// The part of the queue that one flow has.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransmitPart {
    pub(crate) segments: VecDeque<Segment>,
    /// Octets of their frames.
    octets: u64,
    /// Its transport waits for room.
    waits: bool,
    /// Segments that found no room, or were there when the flow was stopped.
    pub(crate) discarded: u64,
    area: u128,
    since: Instant,
}

impl TransmitPart {
    /// The integral of the octets that wait, up to `now`.
    pub(crate) fn area(&self, now: Instant) -> u128 {
        self.area + u128::from(self.octets) * u128::from(now.since(self.since).0)
    }

    /// Segments that the transport has sent, and that the limiter has not.
    pub(crate) fn unsent(&self) -> u64 {
        self.segments.len() as u64 + self.discarded
    }

    /// Whether its transport waits for room.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    fn change(&mut self, now: Instant, octets: u64) {
        self.area = self.area(now);
        (self.octets, self.since) = (octets, now);
    }
}

/// The queues of all limiters.
#[derive(Debug)]
pub(crate) struct TransmitQueues {
    kind: Transmit,
    queues: BTreeMap<LimiterId, TransmitQueue>,
}

#[derive(Debug, Default)]
struct TransmitQueue {
    /// Octets of the frames that wait, of all flows.
    octets: u64,
    /// The flows whose transports wait for room, in the order in which they began to.
    waiting: VecDeque<FlowId>,
}

impl TransmitQueues {
    pub(crate) fn new(kind: Transmit) -> Self {
        Self { kind, queues: BTreeMap::new() }
    }

    /// Whether there are such queues.
    pub(crate) fn exist(&self) -> bool {
        self.kind != Transmit::Pull
    }

    /// The queue of a limiter that is no longer there.
    pub(crate) fn forget(&mut self, limiter: LimiterId) {
        self.queues.remove(&limiter);
    }
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// Lets the transport of a flow send the segments that it may into the transmit queue, if there is one.
    #[inline(always)]
    pub(crate) fn fill_transmit_queue(&mut self, flow: FlowId) {
        if self.state.transports.transmit.exist() {
            self.fill_in_turn(flow, false);
        }
    }

    /// The same; says how many segments were sent. Out of turn, a flow waits behind those that wait already.
    fn fill_in_turn(&mut self, flow: FlowId, in_turn: bool) -> u64 {
        let now = self.state.fabric.now;
        let (limit, drops) = match self.state.transports.transmit.kind {
            Transmit::Pull => return 0,
            Transmit::Wait(limit) => (limit.0, false),
            Transmit::Drop(limit) => (limit.0, true),
        };
        let source = self.state.sources.flow_mut(flow);
        let limiter = source.limiter();
        let Some(connection) = &mut source.supply_mut().connection else { return 0 };
        let queue = self.state.transports.transmit.queues.entry(limiter).or_default();
        let mut made = 0;
        while let Some(data) = connection.sender.next_segment() {
            let octets = u64::from(connection.frame_octets(data));
            let Some(part) = &mut connection.queue else { break };
            let passes = in_turn || queue.waiting.is_empty();
            let room = passes && (queue.octets == 0 || queue.octets + octets <= limit);
            if !room && !drops {
                if !std::mem::replace(&mut part.waits, true) {
                    queue.waiting.push_back(flow);
                }
                break;
            }
            made += 1;
            let segment = connection.sender.poll_segment(now).expect("a segment may go");
            if room {
                part.segments.push_back(segment);
                part.change(now, part.octets + octets);
                queue.octets += octets;
            } else {
                part.discarded += 1;
            }
        }
        self.charge(made);
        if made > 0 {
            // Also where all of it was lost here.
            self.watch_sender(flow);
        }
        made
    }

    /// The segment of a flow that was taken last has left the transmit queue: there is room for others.
    pub(crate) fn left_transmit_queue(&mut self, flow: FlowId) {
        let now = self.state.fabric.now;
        let source = self.state.sources.flow_mut(flow);
        let limiter = source.limiter();
        let Some(connection) = &mut source.supply_mut().connection else { return };
        let Some(segment) = connection.taken else { return };
        let octets = u64::from(connection.frame_octets(segment.len));
        let Some(part) = &mut connection.queue else { return };
        part.change(now, part.octets - octets);
        self.give_room(limiter, octets);
    }

    /// A flow is stopped: its segments leave the transmit queue.
    pub(crate) fn clear_transmit_queue(&mut self, flow: FlowId) {
        let now = self.state.fabric.now;
        let source = self.state.sources.flow_mut(flow);
        let limiter = source.limiter();
        let Some(part) = source.supply_mut().connection.as_mut().and_then(|connection| connection.queue.as_mut())
        else {
            return;
        };
        let octets = part.octets;
        part.discarded += part.segments.len() as u64;
        part.segments.clear();
        part.change(now, 0);
        self.give_room(limiter, octets);
    }

    /// There is room for `octets` more in the queue of a limiter: the transports that wait for it go on, in turn.
    fn give_room(&mut self, limiter: LimiterId, octets: u64) {
        let Some(queue) = self.state.transports.transmit.queues.get_mut(&limiter) else { return };
        queue.octets -= octets;
        loop {
            let queue = self.state.transports.transmit.queues.entry(limiter).or_default();
            let Some(flow) = queue.waiting.pop_front() else { break };
            let source = self.state.sources.flow_mut(flow);
            let active = source.active();
            let connection = source.supply_mut().connection.as_mut();
            let part = connection.and_then(|connection| connection.queue.as_mut()).expect("it waits in the queue");
            part.waits = false;
            if !active {
                continue;
            }
            let made = self.fill_in_turn(flow, true);
            let queue = self.state.transports.transmit.queues.entry(limiter).or_default();
            if queue.waiting.back() == Some(&flow) {
                // There is no more room. It has had its turn, unless there was none for a single segment of it.
                if made == 0 {
                    queue.waiting.rotate_right(1);
                }
                break;
            }
        }
        self.with_limiter(limiter, |sources, now, host| sources.wake(now, limiter, host));
    }
}
