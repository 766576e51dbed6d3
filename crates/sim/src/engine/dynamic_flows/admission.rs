//! Flows of processes get their slots: one ahead of the stream that they come from, and those of work when they begin.

use penstock_endpoint::{Destination, FlowSpec, LimiterSpec};
use penstock_schemes::{FlowKey, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::engine::dynamic_flows::slots::Slots;
use crate::engine::dynamic_flows::{DynamicFlows, put};
use crate::engine::setup::source;
use crate::network::{Arrival, Arrivals, Flow, FlowId, Message, Pacer};
use crate::probe::Probe;
use crate::random::{Owner, Stream};
use crate::state::event::Event;
use crate::state::records::FlowRecord;

impl<S: Scheme> DynamicFlows<S> {
    /// The process of a flow and its number there, if it is one of work.
    pub(crate) fn number_in_work(&self, flow: FlowId) -> Option<(u32, u32)> {
        let key = self.taken[self.slot(flow)?]?;
        let process = self.processes.partition_point(|numbered| numbered.flow <= key.0).checked_sub(1)?;
        let numbered = &self.processes[process];
        numbered.process.of_work.then(|| (process as u32, key.0 - numbered.flow))
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The flows of the network's processes come from `arrivals`. To be called before the run begins.
    pub fn feed(&mut self, arrivals: Box<dyn Arrivals>) {
        self.dynamic_flows.arrivals = Some(arrivals);
        self.admit_next();
    }

    /// Flows of processes keep their slots when they are over. Changes nothing but the memory that the run takes.
    pub fn keep_slots(&mut self) {
        self.dynamic_flows.patience = usize::MAX;
    }

    /// Places for flows of processes, taken or free.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.dynamic_flows.taken.len()
    }

    /// The start of a flow of a process has come: if it is the one that was announced, the next one takes a slot. Whether it starts here: it is
    /// announced in all parts of a network, and one has its source.
    pub(crate) fn arrives(&mut self, flow: FlowId) -> bool {
        if self.dynamic_flows.announced == Some(flow) {
            self.admit_next();
        }
        let own = self.has_source(flow);
        self.housekeeping += u64::from(!own);
        own
    }

    /// The next flow of the stream comes into a slot.
    fn admit_next(&mut self) {
        let next = self.dynamic_flows.arrivals.as_mut().and_then(Iterator::next);
        self.dynamic_flows.announced = next.map(|arrival| self.admit(&arrival));
    }

    /// A flow of work begins here. Returns its slot.
    pub(crate) fn admit_work(&mut self, arrival: &Arrival) -> FlowId {
        let group = self.part.as_ref().map_or(0, |part| group_of(part.own));
        self.admit_to(group, arrival, true)
    }

    /// A flow of work has begun in another part. It has the same slot here.
    pub(crate) fn admit_elsewhere(&mut self, arrival: &Arrival, part: usize) -> FlowId {
        self.admit_to(group_of(part), arrival, false)
    }

    /// Slots are given away by each of `parts` parts.
    pub(crate) fn share_slots(&mut self, parts: usize) {
        self.dynamic_flows.slots = Slots::new(group_of(parts));
    }

    /// A flow of the stream comes into a slot, and starts at its time. Returns the slot.
    fn admit(&mut self, arrival: &Arrival) -> FlowId {
        self.admit_to(0, arrival, true)
    }

    /// A flow comes into a slot of a group. Its start is an event where it `starts`.
    fn admit_to(&mut self, group: usize, arrival: &Arrival, starts: bool) -> FlowId {
        // The parts of a network look together, when they meet.
        if self.part.is_none() && self.wants_slots() {
            Self::reclaim_slots(&mut [&mut *self]);
        }
        self.dynamic_flows.since += 1;
        let index = self.dynamic_flows.slots.take(group);
        let slot = FlowId(self.dynamic_flows.first.flow + index as u32);
        let key = FlowKey(self.dynamic_flows.processes[arrival.process as usize].flow + arrival.number);
        let flow = self.lay_out(slot, arrival);
        self.leave_places(index, key, arrival, &flow);
        self.equip(slot, key, arrival, &flow);
        self.flow_completion.come(slot);
        if index == self.dynamic_flows.taken.len() {
            self.dynamic_flows.taken.push(None);
        }
        self.dynamic_flows.taken[index] = Some(key);
        self.dynamic_flows.slot_of.insert(key.0, slot);
        if arrival.stays {
            let &Arrival { process, number, size, .. } = arrival;
            self.expect_message(slot, &Message { process, flow: number, number, size, last: false });
        }
        if starts {
            self.state.fabric.events.schedule_of(arrival.start, Event::Start(slot), key);
        }
        slot
    }

    /// Lists get entries for slots up to `index` that other groups will have: they are those of no flow.
    fn leave_places(&mut self, index: usize, key: FlowKey, arrival: &Arrival, flow: &Flow) {
        let class = self.state.fabric.class_of(flow.priority);
        let port = arrival.path[0].0;
        let host = self.dynamic_flows.ports[port.index()];
        while self.dynamic_flows.taken.len() < index {
            let dynamic_flows = &self.dynamic_flows;
            let slot = FlowId(dynamic_flows.first.flow + dynamic_flows.taken.len() as u32);
            let (limiter, destination) = (dynamic_flows.limiter(slot), dynamic_flows.destination(slot));
            let draw = |owner| Stream::new(dynamic_flows.seed, owner, 0);
            let sources = &mut self.state.sources;
            let spec = LimiterSpec::new(port, host.rate, Pacer::Ideal, None, draw(Owner::ReactionPoint));
            sources.put_limiter(limiter, 0, spec, false);
            self.homes.resize(sources.limiters().len(), host.node);
            let (own, _) =
                source(flow, dynamic_flows.overhead, dynamic_flows.seed, FlowId(key.0), &self.state.transports);
            sources.put_flow(slot, key, limiter, FlowSpec { class, frame: flow.frame, destinations: 1 }, own);
            sources.forget_flow(slot);
            sources.flow_mut(slot).supply_mut().forget();
            let config = &dynamic_flows.configs[class.index()];
            put(
                &mut self.destinations,
                destination.index(),
                Destination::new(config, key, destination.0, draw(Owner::NotificationPoint)),
            );
            put(&mut self.leaves, destination.index(), flow.root);
            put(&mut self.state.records, slot.index(), FlowRecord::new(destination, 1, true, None));
            self.dynamic_flows.taken.push(None);
        }
    }
}

/// The group of slots that a part gives away; that of flows that all know of is 0.
fn group_of(part: usize) -> usize {
    part + 1
}
