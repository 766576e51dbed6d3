//! Observers: they watch a run and never steer it. A probe whose methods are empty costs nothing.

use penstock_endpoint::entropy_states::Heard;
pub use penstock_endpoint::transport::{Ack, Segment};
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme};

use crate::network::{FlowId, HopId, PortId, QueueId};

/// Watches a run.
pub trait Probe<S: Scheme> {
    /// Whether [`arrival`](Self::arrival) may be called, for every data frame at every queue.
    const ARRIVALS: bool = false;

    /// Whether it is called in this run, where [`ARRIVALS`](Self::ARRIVALS) says that it may be.
    fn sees_arrivals(&self) -> bool {
        Self::ARRIVALS
    }

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

    /// The ports whose frames [`frame`](Self::frame) is to see, each once. Asked at the start of the run; where there are
    /// any, the engine is to be the one with [`Full`](crate::Full).
    fn captured_ports(&self) -> &[PortId] {
        &[]
    }

    /// Whether [`acknowledged`](Self::acknowledged), [`sent`](Self::sent), [`timer`](Self::timer) and [`pauses`](Self::pauses) are called.
    const FOLLOWS: bool = false;

    /// An acknowledgement for the scheme has reached the source of a flow, whose reaction point has acted on it: its round trip, and
    /// whether it echoes a mark.
    fn acknowledged(&mut self, _flow: FlowId, _rtt: Duration, _marked: bool) {}

    /// A frame of a flow has been released.
    fn sent(&mut self, _flow: FlowId, _octets: u16) {}

    /// A timer of the reaction point of a flow has expired, or one that somebody has set for it ([`Sim::wake`](crate::Sim::wake)).
    fn timer(&mut self, _now: Instant, _flow: FlowId) {}

    /// Whether the slice ends with this event ([`Sim::run_slice`](crate::Sim::run_slice)), since the caller wants to act at its time. Asked
    /// after signals, acknowledgements, timers and frames that are released. How a run is cut into slices changes nothing in it.
    fn pauses(&self) -> bool {
        false
    }

    /// A frame of a tapped port has left its line: every frame whose transmission started there, once.
    fn frame(&mut self, _seen: &FrameSeen<'_, S>) {}
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
    /// The port over whose line it came; `None` if it came over none. Signals of one instant come in the order of these.
    pub over: Option<PortId>,
    /// The message.
    pub signal: &'a S::Signal,
    /// The rate allowed after it.
    pub rate: BitRate,
}

/// A frame that has left the line of a port.
#[derive(Debug)]
pub struct FrameSeen<'a, S: Scheme> {
    /// The port.
    pub port: PortId,
    /// The start of its transmission. Frames of one port come in the order of their starts, those of several do not.
    pub start: Instant,
    /// The time at which it has left the line.
    pub end: Instant,
    /// Length of its queue at that time, itself included; `None` where it came out of none.
    pub queue: Option<Octets>,
    /// Its length, with FCS, without wire overhead.
    pub octets: u16,
    /// No frame that is still to be seen started before this time.
    pub earliest: Instant,
    /// How it left.
    pub fate: FateOnLine,
    /// Its content at the line's end.
    pub content: Content<'a, S>,
}

/// How a frame leaves a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FateOnLine {
    /// It has reached the far end.
    Crossed,
    /// It has reached the far end with errors, and is dropped there.
    Corrupted,
    /// The line has broken.
    Lost,
    /// The run has ended.
    UnderWay,
}

/// The content of a frame.
#[derive(Debug)]
pub enum Content<'a, S: Scheme> {
    /// A frame of a flow.
    Frame {
        /// The flow.
        flow: FlowId,
        /// Its priority; `None` for that of control frames.
        priority: Option<u8>,
        /// The load.
        load: Load<'a, S>,
    },
    /// A frame of priority flow control.
    Pause {
        /// A bit for each priority that it stops.
        stop: u8,
        /// A bit for each priority that it lets go on.
        resume: u8,
    },
}

/// The load of a frame of a flow.
#[derive(Debug)]
pub enum Load<'a, S: Scheme> {
    /// Data, from the source to the destinations.
    Data {
        /// The scheme's tag.
        tag: &'a S::Tag,
        /// Octets that the flow had sent before it, headers included.
        seq: Octets,
        /// A queue has cut it down to its header.
        trimmed: bool,
        /// The mark of explicit congestion notification.
        ecn: Ecn,
        /// The segment of the flow's transport, where it has one. One without data probes a path.
        segment: Option<&'a Segment>,
        /// Its entropy value, where it has one.
        entropy: Option<u16>,
    },
    /// An acknowledgement of the flow's transport, from its destination to its source.
    Ack {
        /// The acknowledgement.
        ack: &'a Ack,
        /// The frame that it answers, where frames have entropy values.
        answered: Option<Answered>,
    },
    /// An acknowledgement for the scheme, from a destination to the source.
    Echo {
        /// The echo.
        echo: &'a S::Echo,
        /// Octets of the flow that have arrived there, headers included.
        arrived: Octets,
        /// The hop over which it goes back: the destination is behind it.
        hop: HopId,
    },
    /// A signal of the scheme.
    Signal {
        /// The message.
        signal: &'a S::Signal,
        /// Where it goes.
        path: SignalPath,
    },
}

/// A frame with an entropy value that has been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// Its value.
    pub value: u16,
    /// How it has arrived.
    pub heard: Heard,
    /// It was a probe of its path.
    pub probe: bool,
}

/// The path of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalPath {
    /// From the source to the destinations.
    Down,
    /// To the source.
    Up {
        /// The queue whose congestion point sent it; `None` where a destination did.
        origin: Option<QueueId>,
        /// The hop over which it goes back: its sender is behind it.
        hop: HopId,
    },
    /// To the congestion point of the previous hop, which is this one.
    Back {
        /// The previous hop.
        hop: HopId,
    },
}

/// The codepoint of explicit congestion notification. (RFC 3168, section 5)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not take part.
    Incapable,
    /// A queue may mark the frame.
    Capable,
    /// A queue has marked it.
    Experienced,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Frames that have left it for the link since the start of the run.
    pub frames_sent: u64,
    /// Their octets, without wire overhead.
    pub octets_sent: Octets,
    /// Frames that it has marked since the start of the run, whoever decides on marks.
    pub frames_marked: u64,
    /// Their octets.
    pub octets_marked: Octets,
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
    /// When it was completed or stopped, if it was.
    pub ended: Option<Instant>,
}
