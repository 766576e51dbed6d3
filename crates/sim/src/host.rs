//! Hosts: limiters release frames, reaction points set their rates, limiters of one port take turns.

use penstock_schemes::{FlowKey, Instant, Octets, ReactionPoint, Release, Scheme, To};

use crate::acknowledgement::acknowledged;
use crate::admission::Entry;
use crate::engine::{NEVER, Sim, State, Waiting};
use crate::event::Event;
use crate::event_queue::{EventQueue, RELEASES};
use crate::fabric::Sender;
use crate::frame::{Kind, Marks, NONE, Payload, Slot};
use crate::network::HopId;
use crate::probe::Probe;
use crate::source::{FlowState, Limiter};

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    pub(crate) fn start(&mut self, flow: u32) {
        let now = self.state.fabric.now;
        let limiter_index = self.state.flows[flow as usize].limiter;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let state = &mut self.state.flows[flow as usize];
        state.pass_rate(now, limiter.rate);
        state.started = true;
        if let Some(rp) = &mut limiter.rp {
            rp.on_start(Instant(now), FlowState::key(flow), &mut limiter.stream, &mut Sender(&mut self.outbox));
            self.after_rp(limiter_index);
        }
        self.reschedule(limiter_index);
        self.generate(flow);
    }

    /// Lets a flow's generator make what is due, and sees to it that never too much comes due at a time.
    pub(crate) fn generate(&mut self, flow: u32) {
        let fabric = &mut self.state.fabric;
        let generator = &mut self.state.flows[flow as usize].generator;
        let before = generator.offered;
        generator.advance(fabric.now);
        if let Some(at) = generator.ask_again(fabric.now) {
            fabric.events.schedule(at, Event::Generate(flow));
        }
        let made = generator.offered - before;
        self.charge(made);
    }

    pub(crate) fn stop(&mut self, flow: u32) {
        let now = self.state.fabric.now;
        let state = &mut self.state.flows[flow as usize];
        state.pass_rate(now, self.state.limiters[state.limiter as usize].rate);
        state.generator.advance(now);
        state.stopped = true;
        let limiter_index = state.limiter;
        if let Some(rp) = &mut self.state.limiters[limiter_index as usize].rp {
            rp.on_stop(Instant(now), FlowState::key(flow));
            self.after_rp(limiter_index);
        }
        self.reschedule(limiter_index);
    }

    pub(crate) fn rp_timeout(&mut self, limiter_index: u32) {
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if limiter.armed != self.state.fabric.now {
            return;
        }
        limiter.armed = NEVER;
        let now = Instant(self.state.fabric.now);
        if let Some(rp) = &mut limiter.rp {
            rp.on_timeout(now, &mut limiter.stream, &mut Sender(&mut self.outbox));
            self.after_rp(limiter_index);
        }
    }

    /// After any call of a reaction point: takes over its allowance, arms its timer, sends its signals.
    #[inline]
    pub(crate) fn after_rp(&mut self, limiter_index: u32) {
        // Where several flows share the point, their own regulators may have changed although the allowance has not.
        if self.adopt(limiter_index) || self.state.limiters[limiter_index as usize].flows.len() > 1 {
            self.reschedule(limiter_index);
        }
        if !self.outbox.is_empty() {
            self.route_from_rp(limiter_index);
        }
    }

    /// Reads a reaction point's answers; true if its allowance has changed.
    #[inline(always)]
    pub(crate) fn adopt(&mut self, limiter_index: u32) -> bool {
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let changed = adopt(limiter, limiter_index, &mut self.state.fabric.events);
        if changed.anything() {
            self.take_over(limiter_index, changed);
        }
        changed.anything()
    }

    /// To go through the flows of a limiter is work: what one event costs, sixteen of them do.
    fn charge_flows(&mut self, limiter_index: u32) {
        let flows = self.state.limiters[limiter_index as usize].flows.len() as u64;
        if flows >= 16 {
            self.charge(flows / 16);
        }
    }

    /// Gives effect to what has changed in a reaction point's answers.
    fn take_over(&mut self, limiter_index: u32, changed: Changed) {
        let now = self.state.fabric.now;
        self.charge_flows(limiter_index);
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if changed.limiting {
            limiter.limiting = !limiter.limiting;
            self.state.hosts[limiter.host as usize].change(now, limiter.limiting);
        }
        let Some(rp) = &limiter.rp else { return };
        let allowance = rp.allowance();
        limiter.window = allowance.window.map_or(NEVER, |w| w.0);
        if allowance.rate.0 != limiter.rate {
            for &flow in &limiter.flows {
                self.state.flows[flow as usize].pass_rate(now, limiter.rate);
            }
            limiter.set_rate(now, allowance.rate.0);
        }
    }

    #[cold]
    pub(crate) fn route_from_rp(&mut self, limiter_index: u32) {
        self.charge(self.outbox.len() as u64);
        let mut outbox = self.take_outbox();
        for (to, class, signal) in outbox.drain(..) {
            let To::Destination(FlowKey(flow)) = to else { panic!("a reaction point signals destinations only") };
            assert_eq!(
                self.state.flows[flow as usize].limiter, limiter_index,
                "a reaction point signals the destinations of its own flows"
            );
            let root = HopId(self.state.flows[flow as usize].root);
            self.send_down(flow, root, class, signal);
        }
        self.return_outbox(outbox);
    }

    /// Sees to it that the limiter wakes when its next frame may go; returns that time.
    #[inline(always)]
    pub(crate) fn reschedule(&mut self, limiter_index: u32) -> u64 {
        let now = self.state.fabric.now;
        let overhead = self.state.fabric.overhead;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if limiter.waiting {
            return NEVER;
        }
        if limiter.flows.len() > 1 {
            self.charge_flows(limiter_index);
        }
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let wake = limiter.next_release(now, &mut self.state.flows, overhead);
        if wake != limiter.wake {
            limiter.wake = wake;
            if wake != NEVER {
                self.state.fabric.events.schedule_in(RELEASES, wake, Event::Release(limiter_index));
            }
        }
        wake
    }

    /// Releases a frame of the flow whose turn it is, for which traffic, pacer and window allow it. If the line is not free,
    /// or other limiters wait for it and it is not this one's turn, it waits.
    #[inline(always)]
    pub(crate) fn release(&mut self, limiter_index: u32, in_turn: bool) {
        let State { fabric, flows, limiters, .. } = &mut self.state;
        let now = fabric.now;
        let limiter = &mut limiters[limiter_index as usize];
        let port = limiter.port;
        let (p, mut around) = fabric.at(port);
        around.settle(p);
        if PFC && p.arbiter && p.stops::<PFC>(u32::from(flows[limiter.flow_in_turn() as usize].class)) {
            limiter.waiting = true;
            self.parked[port as usize].push_back(limiter_index);
            return;
        }
        // Whoever shares a line waits for the others that may send at the same instant: the turn decides among them.
        let others = p.shared || !self.waiting[port as usize].is_empty();
        if p.arbiter && (!p.free::<PFC>(now) || (!in_turn && others)) {
            limiter.waiting = true;
            self.waiting[port as usize].push_back(Waiting { since: now, limiter: limiter_index });
            self.arm_nic(port);
            return;
        }
        let flow_index = limiter.flow_in_turn();
        let flow = &mut flows[flow_index as usize];
        let (octets, last) = flow.generator.take(now);
        let octets = octets + limiter.tag;
        let wire_octets = u32::from(octets) + p.overhead;
        let seq = flow.sent_octets - flow.sent * u64::from(p.overhead);
        flow.sent += 1;
        flow.sent_octets += u64::from(wire_octets);
        if last {
            flow.pass_rate(now, limiter.rate);
            flow.stopped = true;
        }
        limiter.spend(now, wire_octets);
        let tag = limiter.rp.as_mut().map_or_else(S::Tag::default, |rp| {
            let frame = Release { flow: FlowState::key(flow_index), octets, seq: Octets(seq), last };
            rp.on_send(Instant(now), frame, &mut limiter.stream, &mut Sender(&mut self.outbox))
        });
        let class = flow.class;
        let payload = Payload::Data(tag);
        if acknowledged::<S>() && limiter.rp.is_some() {
            limiter.in_flight += u64::from(octets);
            flow.send(now, flow_index, octets, around.events);
        }
        let slot = Slot {
            next: NONE,
            flow: flow_index,
            hop: flow.root,
            octets,
            class,
            marks: Marks::last(last),
            sent_at: now,
            seq,
            at: 0,
            payload,
        };
        let (mut wake, overhead) = (NEVER, p.overhead);
        let alone = limiter.flows.len() == 1;
        let changed = adopt(limiter, limiter_index, around.events);
        if alone && !changed.anything() {
            wake = limiter.next_release_of(flow, now, overhead);
            limiter.wake = wake;
        }
        let signals = !self.outbox.is_empty();
        if signals {
            std::mem::swap(&mut self.outbox, &mut self.outbox_of_rp);
        }
        let index = around.frames.insert(slot);
        let entry = if p.arbiter {
            around.pass(p, index, class, octets);
            Entry::Queued
        } else {
            around.enqueue(p, index, class, octets, NONE, &mut self.outbox)
        };
        if wake != NEVER {
            around.events.schedule_in(RELEASES, wake, Event::Release(limiter_index));
        }
        if entry != Entry::Queued {
            self.count_refusal(flow_index, Kind::Data, entry);
        }
        if !self.outbox.is_empty() || P::ARRIVALS {
            self.seen_at_queue(port, class, flow_index, entry == Entry::Queued);
        }
        if changed.anything() {
            self.take_over(limiter_index, changed);
        }
        if changed.anything() || !alone {
            self.reschedule(limiter_index);
        }
        if signals {
            std::mem::swap(&mut self.outbox, &mut self.outbox_of_rp);
            self.route_from_rp(limiter_index);
        }
    }

    /// Makes the event at which the line of a host port is free again.
    pub(crate) fn arm_nic(&mut self, port: u32) {
        let p = &self.state.fabric.ports[port as usize];
        if !p.up {
            return;
        }
        let at = p.busy_until.max(self.state.fabric.now);
        if self.nic_armed[port as usize] != at {
            self.nic_armed[port as usize] = at;
            self.state.fabric.events.schedule(at, Event::NicFree(port));
        }
    }

    /// The limiter whose turn it is at a host port: the one that has waited longest, and of several that began to wait at the
    /// same instant the next one round.
    fn next_turn(&mut self, port: u32) -> Option<u32> {
        let waiting = &mut self.waiting[port as usize];
        let last = &mut self.last_turn[port as usize];
        let since = waiting.front()?.since;
        let ties = waiting.iter().take_while(|w| w.since == since).enumerate();
        let (place, _) = ties.min_by_key(|(_, w)| w.limiter.wrapping_sub(last.wrapping_add(1)))?;
        *last = waiting.remove(place)?.limiter;
        Some(*last)
    }

    /// The line of a host port is free: the limiters that wait take their turns.
    pub(crate) fn nic_free(&mut self, port: u32) {
        if self.nic_armed[port as usize] != self.state.fabric.now {
            return;
        }
        let now = self.state.fabric.now;
        self.nic_armed[port as usize] = NEVER;
        self.state.fabric.settle(port);
        while self.state.fabric.idle(port) {
            let Some(limiter) = self.next_turn(port) else { return };
            self.state.limiters[limiter as usize].waiting = false;
            // Since it began to wait, its allowance may have changed.
            if self.reschedule(limiter) == now {
                self.state.limiters[limiter as usize].wake = NEVER;
                self.release(limiter, true);
            }
        }
        if !self.waiting[port as usize].is_empty() {
            self.arm_nic(port);
        }
    }
}

/// What has changed in a reaction point's answers.
#[derive(Debug, Clone, Copy)]
struct Changed {
    allowance: bool,
    limiting: bool,
}

impl Changed {
    #[inline(always)]
    pub(crate) fn anything(self) -> bool {
        self.allowance || self.limiting
    }
}

/// Arms the reaction point's timer and compares its answers with what is in force.
#[inline(always)]
fn adopt<S: Scheme>(limiter: &mut Limiter<S>, index: u32, events: &mut EventQueue) -> Changed {
    let Some(rp) = &limiter.rp else { return Changed { allowance: false, limiting: false } };
    if let Some(Instant(at)) = rp.next_timeout()
        && at < limiter.armed
    {
        limiter.armed = at;
        events.schedule(at, Event::RpTimer(index));
    }
    let allowance = rp.allowance();
    let window = allowance.window.map_or(NEVER, |w| w.0);
    Changed {
        allowance: allowance.rate.0 != limiter.rate || window != limiter.window,
        limiting: rp.limiting() != limiter.limiting,
    }
}
