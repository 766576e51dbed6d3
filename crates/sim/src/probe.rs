//! Observers: they watch a run and never steer it. A probe whose methods are empty costs nothing.

use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme};

use crate::network::{FlowId, QueueId};

/// Watches a run.
pub trait Probe<S: Scheme> {
    /// Whether [`arrival`](Self::arrival) is to be called, for every data frame at every queue.
    const ARRIVALS: bool = false;

    /// Distance of the calls of [`sample`](Self::sample); `None` for never.
    fn interval(&self) -> Option<Duration> {
        None
    }

    /// The state of everything at `now`.
    fn sample(&mut self, _now: Instant, _view: &impl View<S>) {}

    /// A signal has reached the reaction point of a flow, which has acted on it.
    fn signal(&mut self, _now: Instant, _seen: &SignalSeen<'_, S>) {}

    /// A data frame of `flow` has come to a queue: of the network's flows, or behind them of those that processes make. `len` is the queue's length with it (without it, if it was dropped).
    fn arrival(&mut self, _now: Instant, _queue: QueueId, _flow: FlowId, _len: Octets, _dropped: bool) {}
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProbe;

impl<S: Scheme> Probe<S> for NoProbe {}

/// A signal on its arrival at a source.
#[derive(Debug)]
pub struct SignalSeen<'a, S: Scheme> {
    /// The flow whose source it reached: one of the network's, or behind them of those that processes make.
    pub flow: FlowId,
    /// The queue whose congestion point sent it; `None` if a destination did.
    pub origin: Option<QueueId>,
    /// The message.
    pub signal: &'a S::Signal,
    /// The rate allowed after it.
    pub rate: BitRate,
}

/// A look at a running simulation.
pub trait View<S: Scheme> {
    /// State of a data queue.
    fn queue(&self, queue: QueueId) -> QueueNow;
    /// State of a flow of the network's.
    fn flow(&self, flow: FlowId) -> FlowNow;
    /// The congestion point of a queue, where it has one.
    fn cp(&self, queue: QueueId) -> Option<&S::Cp>;
    /// The reaction point of a flow, where it has one.
    fn rp(&self, flow: FlowId) -> Option<&S::Rp>;
}

/// A data queue at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueNow {
    /// Octets in the queue.
    pub len: Octets,
    /// Frames in the queue.
    pub frames: u32,
    /// Bits that the port has put on the line since the start of the run, of all priorities, wire overhead included, up to
    /// this instant exactly.
    pub line_bits: u64,
    /// Bits that the line could have carried since the start of the run at its scheduled rate.
    pub scheduled_bits: u128,
    /// Data frames dropped here since the start of the run.
    pub dropped: u64,
    /// How long priority flow control has stopped it since the start of the run.
    pub paused: Duration,
}

/// A flow at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowNow {
    /// The rate that its reaction point allows (the line's rate where there is none); zero before its start and after its end.
    pub allowed: BitRate,
    /// Octets delivered since the start of the run, wire overhead included; with several destinations their mean.
    pub delivered: Octets,
    /// Octets sent since the start of the run, wire overhead included.
    pub sent: Octets,
    /// Signals received since the start of the run.
    pub signals: u64,
}
