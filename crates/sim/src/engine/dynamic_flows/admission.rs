//! Flows of processes get their slots: one ahead of the stream that they come from, and those of work when they begin.

use penstock_schemes::{FlowKey, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::engine::dynamic_flows::DynamicFlows;
use crate::network::{Arrival, Arrivals, FlowId, Message};
use crate::probe::Probe;
use crate::state::event::Event;

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

    /// A flow comes into a slot, and starts at its time. Returns the slot.
    pub(crate) fn admit(&mut self, arrival: &Arrival) -> FlowId {
        // The parts of a network look together, when they meet.
        if self.part.is_none() && self.wants_slots() {
            Self::reclaim_slots(&mut [&mut *self]);
        }
        self.dynamic_flows.since += 1;
        let slot = self
            .dynamic_flows
            .free
            .pop()
            .unwrap_or(FlowId(self.dynamic_flows.first.flow + self.dynamic_flows.taken.len() as u32));
        let key = FlowKey(self.dynamic_flows.processes[arrival.process as usize].flow + arrival.number);
        let flow = self.lay_out(slot, arrival);
        self.equip(slot, key, arrival, &flow);
        self.flow_completion.come(slot);
        let index = self.dynamic_flows.index(slot);
        if index == self.dynamic_flows.taken.len() {
            self.dynamic_flows.taken.push(None);
        }
        self.dynamic_flows.taken[index] = Some(key);
        self.dynamic_flows.slot_of.insert(key.0, slot);
        if arrival.stays {
            let &Arrival { process, number, size, .. } = arrival;
            self.expect_message(slot, &Message { process, flow: number, number, size, last: false });
        }
        self.state.fabric.events.schedule_of(arrival.start, Event::Start(slot), key);
        slot
    }
}
