//! Observers of which each test has its own: behind a pointer, so that the engine is compiled once for all of them.

use penstock_schemes::{Duration, Instant, Octets, Scheme};
use penstock_sim::network::{FlowId, PortId, QueueId};
use penstock_sim::probe::{FrameSeen, Probe, QueueNow, View};

/// What an observer sees: [`Probe`], as far as these tests look.
pub(crate) trait Look<S: Scheme> {
    fn interval(&self) -> Option<Duration> {
        None
    }
    fn sample(&mut self, _now: Instant, _queue: &dyn Fn(QueueId) -> QueueNow) {}
    fn arrival(&mut self, _now: Instant, _queue: QueueId, _flow: FlowId) {}
    fn captured_ports(&self) -> &[PortId] {
        &[]
    }
    fn frame(&mut self, _seen: &FrameSeen<'_, S>) {}
}

/// The observer of a run; what it has seen stays with its owner.
pub(crate) struct Looking<'a, S>(pub(crate) &'a mut dyn Look<S>);

impl<S: Scheme> Probe<S> for Looking<'_, S> {
    const ARRIVALS: bool = true;

    fn interval(&self) -> Option<Duration> {
        self.0.interval()
    }

    fn sample(&mut self, now: Instant, view: &impl View<S>) {
        self.0.sample(now, &|queue| view.queue(queue));
    }

    fn arrival(&mut self, now: Instant, queue: QueueId, flow: FlowId, _: Octets, _: bool) {
        self.0.arrival(now, queue, flow);
    }

    fn captured_ports(&self) -> &[PortId] {
        self.0.captured_ports()
    }

    fn frame(&mut self, seen: &FrameSeen<'_, S>) {
        self.0.frame(seen);
    }
}
