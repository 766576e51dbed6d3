//! Segments join the transmit queue of their limiter, and leave it.

use penstock_endpoint::LimiterId;
use penstock_endpoint::transport::Sender;
use penstock_schemes::Scheme;
use penstock_switch::Model;

use crate::engine::Sim;
use crate::network::{FlowId, Transmit};
use crate::probe::Probe;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
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
