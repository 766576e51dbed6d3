//! The probe of a run in steps: it samples for the summary, and counts what the sources of flows learn, for those who decide on rates.

use std::sync::Arc;

use penstock_results::Sampler;
use penstock_scenario::Plan;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Duration, Instant};
use penstock_sim::network::FlowId;
use penstock_sim::probe::{Probe, SignalSeen, View};

/// What the source of a flow has learnt since the start of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Learnt {
    /// Acknowledgements, and those that echo a mark.
    pub acks: u64,
    /// Of them, those that echo a mark.
    pub marked: u64,
    /// Signals.
    pub signals: u64,
    /// Round trips of all acknowledgements, added up.
    pub round_trips: Duration,
    /// Octets sent, without wire overhead.
    pub octets: u64,
}

/// When a run pauses, so that someone decides for a flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pauses {
    /// After this number of acknowledgements since the last pause for the flow; 0 for never.
    pub acks: u64,
    /// After each signal.
    pub signals: bool,
}

/// A flow and the next pause for it.
#[derive(Debug, Clone, Copy)]
struct Followed {
    learnt: Learnt,
    /// The acknowledgement, the octet and the time with which the run pauses.
    next_ack: u64,
    next_octet: u64,
    wake_at: Instant,
    due: bool,
}

/// The probe: it keeps no rows.
#[derive(Debug)]
pub(crate) struct Watch {
    interval: Duration,
    sampler: Sampler<Arc<Plan>>,
    pauses: Pauses,
    /// The flows that are followed: those of the network, or none.
    flows: Vec<Followed>,
    /// A pause is due.
    paused: bool,
}

impl Watch {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let sampler = Sampler::new(Arc::clone(plan));
        Self { interval: plan.record.interval, sampler, pauses: Pauses::default(), flows: Vec::new(), paused: false }
    }

    /// Follows the first `flows` flows, and pauses by a rule.
    pub(crate) fn follow(&mut self, flows: usize, pauses: Pauses) {
        let next_ack = if pauses.acks == 0 { u64::MAX } else { pauses.acks };
        let fresh =
            Followed { learnt: Learnt::default(), next_ack, next_octet: u64::MAX, wake_at: Instant::NEVER, due: false };
        (self.pauses, self.flows) = (pauses, vec![fresh; flows]);
    }

    /// What the source of a flow has learnt.
    pub(crate) fn learnt(&self, flow: usize) -> Learnt {
        self.flows[flow].learnt
    }

    /// Whether the run has paused for a flow; the answer to the second such question is no.
    pub(crate) fn take_due(&mut self, flow: usize) -> bool {
        std::mem::take(&mut self.flows[flow].due)
    }

    /// The run pauses once the flow has sent this number of further octets; with `None` not for that.
    pub(crate) fn wake_after(&mut self, flow: usize, octets: Option<u64>) {
        let own = &mut self.flows[flow];
        own.next_octet = octets.map_or(u64::MAX, |octets| own.learnt.octets.saturating_add(octets.max(1)));
    }

    /// The run pauses at this time, when a timer for the flow expires.
    pub(crate) fn wake_at(&mut self, flow: usize, at: Instant) {
        self.flows[flow].wake_at = at;
    }

    /// The run goes on after a pause. Says whether there was one.
    pub(crate) fn goes_on(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    pub(crate) fn sampler(&self) -> &Sampler<Arc<Plan>> {
        &self.sampler
    }
}

impl Probe<Mixed> for Watch {
    const FOLLOWS: bool = true;

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn sample(&mut self, now: Instant, view: &impl View<Mixed>) {
        self.sampler.look_for_ends(|flow| view.flow(flow).ended);
        for i in 0..self.sampler.flows() {
            self.sampler.flow(now, i, view.flow(FlowId(i as u32)));
        }
        self.sampler.end_sample(now);
    }

    fn signal(&mut self, _now: Instant, seen: &SignalSeen<'_, Mixed>) {
        let Some(own) = self.flows.get_mut(seen.flow.index()) else { return };
        own.learnt.signals += 1;
        if self.pauses.signals {
            (own.due, self.paused) = (true, true);
        }
    }

    fn acknowledged(&mut self, flow: FlowId, rtt: Duration, marked: bool) {
        let Some(own) = self.flows.get_mut(flow.index()) else { return };
        own.learnt.acks += 1;
        own.learnt.marked += u64::from(marked);
        own.learnt.round_trips = own.learnt.round_trips + rtt;
        if own.learnt.acks == own.next_ack {
            own.next_ack += self.pauses.acks;
            (own.due, self.paused) = (true, true);
        }
    }

    fn sent(&mut self, flow: FlowId, octets: u16) {
        let Some(own) = self.flows.get_mut(flow.index()) else { return };
        own.learnt.octets += u64::from(octets);
        if own.learnt.octets >= own.next_octet {
            own.next_octet = u64::MAX;
            (own.due, self.paused) = (true, true);
        }
    }

    fn timer(&mut self, now: Instant, flow: FlowId) {
        let Some(own) = self.flows.get_mut(flow.index()).filter(|own| own.wake_at == now) else { return };
        own.wake_at = Instant::NEVER;
        (own.due, self.paused) = (true, true);
    }

    fn pauses(&self) -> bool {
        self.paused
    }
}
