//! Places that are used again: flows of processes that are over are forgotten.

use penstock_schemes::{Instant, Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::state::frame::Arena;

use crate::engine::Sim;
use crate::engine::dynamic_flows::FEW;
use crate::network::FlowId;
use crate::outcome::{FlowEnd, Totals};
use crate::probe::Probe;
use crate::state::event::Event;
use crate::state::records::FlowRecord;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Whether it is time to look for slots.
    #[must_use]
    pub fn wants_slots(&self) -> bool {
        self.dynamic_flows.since >= self.dynamic_flows.patience && self.dynamic_flows.slots.are_scarce()
    }

    /// Forgets the flows that are over and that nothing refers to: their slots are free. `parts` are all parts of a network, at one
    /// time: each has the same flows in the same slots.
    ///
    /// # Panics
    /// If frames of a flow were made or lost by the engine itself.
    pub fn reclaim_slots(parts: &mut [&mut Self]) {
        let Some(slots) = parts.first().map(|part| part.dynamic_flows.taken.len()) else { return };
        let mut held = vec![false; slots];
        parts.iter().for_each(|part| part.find_held(&mut held));
        let first = parts[0].dynamic_flows.first.flow;
        let forgotten: Vec<FlowId> =
            (first..).zip(&held).filter(|(_, held)| !**held).map(|(flow, _)| FlowId(flow)).collect();
        for &flow in &forgotten {
            let counts = parts.iter().map(|part| part.frames_of(flow));
            let (sent, known) = counts.fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
            assert!(
                sent == known,
                "a flow has finished with {sent} frames sent, of which {known} came or were dropped or lost"
            );
        }
        // So that to look costs no more than the flows that come: all that was looked at, spread over them.
        let looked_at: usize =
            parts.iter().map(|part| part.state.fabric.frames.held() + part.state.fabric.events.room()).sum();
        let patience = FEW.max(slots / 2).max(looked_at / FEW);
        for part in parts {
            forgotten.iter().for_each(|&flow| part.forget(flow));
            part.silence_timers(&held);
            (part.dynamic_flows.patience, part.dynamic_flows.since) = (patience, 0);
        }
    }

    /// Marks the slots that are free, and those of flows that are not over or to which something refers.
    fn find_held(&self, held: &mut [bool]) {
        let fabric = &self.state.fabric;
        let frames: &dyn Arena = &fabric.frames;
        for (_, frame) in frames.iter() {
            let hop_info = fabric.hop_info.get(frame.hop.index());
            let flow = hop_info.map_or_else(|| self.flow_of(frame.flow), |hop_info| hop_info.flow);
            if let Some(index) = self.dynamic_flows.slot(flow) {
                held[index] = true;
            }
        }
        for flow in self.dynamic_flows.accounts.flows() {
            held[self.dynamic_flows.index(flow)] = true;
        }
        for (index, flow) in (self.dynamic_flows.first.flow..).map(FlowId).take(held.len()).enumerate() {
            held[index] |= self.dynamic_flows.taken[index].is_none() || !self.is_forgettable(flow);
        }
    }

    /// The timers of flows that are forgotten would do nothing. They come all the same, for events are counted, but to nobody.
    fn silence_timers(&mut self, held: &[bool]) {
        let dynamic_flows = &self.dynamic_flows;
        self.state.fabric.events.change(&mut |what| {
            let whose = dynamic_flows.owner(Event::unpack(what));
            if whose.is_some_and(|index| !held[index]) { Event::Nothing.pack() } else { what }
        });
    }

    /// Whether a flow has finished, and neither it nor the limiter and the destination of its slot have anything to do, those that
    /// are here. A timer of theirs that is under way then would find nothing to do when it expires.
    fn is_forgettable(&self, flow: FlowId) -> bool {
        (!self.has_source(flow) || self.source_rests(flow))
            && (!self.has_destination(flow) || self.destination_rests(flow))
    }

    fn source_rests(&self, flow: FlowId) -> bool {
        let sources = &self.state.sources;
        let source = sources.flow(flow);
        let queued = source.supply().connection.as_ref().and_then(|connection| connection.queue.as_ref());
        let limiter = sources.limiter(source.limiter());
        // A limiter that waits knows the class of one of its flows.
        let needed = limiter.is_waiting() && limiter.flows().len() == 1;
        source.is_over()
            && !needed
            && !queued.is_some_and(|part| part.waits())
            && sources.octets_in_flight(flow) == Octets(0)
            && sources.rests(self.dynamic_flows.limiter(flow))
    }

    fn destination_rests(&self, flow: FlowId) -> bool {
        self.destinations[self.dynamic_flows.destination(flow).index()].rests() && self.state.transports.rests(flow)
    }

    /// Frames of a flow that were sent here, and those that came, or were dropped or lost, here.
    fn frames_of(&self, flow: FlowId) -> (u64, u64) {
        let record = &self.state.records[flow.index()];
        (self.state.sources.flow(flow).sent(), record.delivered + record.dropped + record.lost + record.impaired)
    }

    /// Forgets a flow: its counts go into the sums.
    fn forget(&mut self, flow: FlowId) {
        self.state.totals = self.state.counted().totals_with(self.state.totals, flow);
        let index = self.dynamic_flows.index(flow);
        if let Some(key) = self.dynamic_flows.taken[index].take() {
            self.dynamic_flows.ends[(key.0 - self.dynamic_flows.first.flow) as usize] = self.end_of(flow);
            self.dynamic_flows.slot_of.remove(&key.0);
        }
        let destination = self.dynamic_flows.destination(flow);
        self.state.records[flow.index()] = FlowRecord::new(destination, 1, true, None);
        if let Some(conversation) = self.dynamic_flows.conversations.get_mut(index) {
            *conversation = None;
        }
        self.state.sources.forget_flow(flow);
        self.state.sources.flow_mut(flow).supply_mut().forget();
        self.state.transports.forget(flow);
        self.state.transports.transmit.forget(self.dynamic_flows.limiter(flow));
        self.dynamic_flows.slots.give_back(index);
    }

    /// The rest of a flow that has finished.
    fn end_of(&self, flow: FlowId) -> FlowEnd {
        let counts = self.state.counted().totals_with(Totals::default(), flow);
        FlowEnd {
            completed: self.state.records[flow.index()].completed.unwrap_or(Instant::NEVER),
            acked: self.state.records[flow.index()].acked.unwrap_or(Instant::NEVER),
            retransmissions: counts.retransmissions.try_into().unwrap_or(u32::MAX),
            timeouts: counts.timeouts.try_into().unwrap_or(u32::MAX),
        }
    }

    /// The rest of all flows of processes at the end of the run.
    pub(crate) fn ends_of_processes(&mut self) -> Vec<FlowEnd> {
        let mut ends = std::mem::take(&mut self.dynamic_flows.ends);
        for (&key, &flow) in &self.dynamic_flows.slot_of {
            ends[(key - self.dynamic_flows.first.flow) as usize] = self.end_of(flow);
        }
        ends
    }
}
