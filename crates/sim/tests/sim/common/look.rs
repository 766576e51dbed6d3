//! The observer of all tests: behind a pointer, so that the engine is compiled once for all of them.

use penstock_schemes::{Duration, Instant, Octets, Scheme};
use penstock_sim::network::{FlowId, PortId, QueueId};
use penstock_sim::probe::{FrameSeen, Probe, SignalSeen, View};

/// What an observer sees: [`Probe`], as far as these tests look.
pub(crate) trait Look<S: Scheme> {
    fn interval(&self) -> Option<Duration> {
        None
    }
    fn sample(&mut self, _now: Instant, _view: &dyn View<S>) {}
    fn signal(&mut self, _now: Instant, _seen: &SignalSeen<'_, S>) {}
    fn arrival(&mut self, _now: Instant, _queue: QueueId, _flow: FlowId) {}
    fn captured_ports(&self) -> &[PortId] {
        &[]
    }
    fn frame(&mut self, _seen: &FrameSeen<'_, S>) {}
}

/// The observer of a run, or none; what it has seen stays with its owner.
pub(crate) struct Looking<'a, S>(Option<&'a mut dyn Look<S>>);

impl<'a, S: Scheme> Looking<'a, S> {
    pub(crate) fn with(look: &'a mut dyn Look<S>) -> Self {
        Self(Some(look))
    }

    pub(crate) fn none() -> Self {
        Self(None)
    }
}

impl<S: Scheme> Probe<S> for Looking<'_, S> {
    const ARRIVALS: bool = true;

    fn sees_arrivals(&self) -> bool {
        self.0.is_some()
    }

    fn interval(&self) -> Option<Duration> {
        self.0.as_ref()?.interval()
    }

    fn sample(&mut self, now: Instant, view: &impl View<S>) {
        if let Some(look) = &mut self.0 {
            look.sample(now, view);
        }
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, S>) {
        if let Some(look) = &mut self.0 {
            look.signal(now, seen);
        }
    }

    fn arrival(&mut self, now: Instant, queue: QueueId, flow: FlowId, _: Octets, _: bool) {
        if let Some(look) = &mut self.0 {
            look.arrival(now, queue, flow);
        }
    }

    fn captured_ports(&self) -> &[PortId] {
        self.0.as_ref().map_or(&[], |look| look.captured_ports())
    }

    fn frame(&mut self, seen: &FrameSeen<'_, S>) {
        if let Some(look) = &mut self.0 {
            look.frame(seen);
        }
    }
}
