//! What the methods of a scheme in Python get: a frame, a queue, an acknowledgement. They are values: to change one changes nothing.

use penstock_schemes::foreign::abi::{self, WORDS};
use pyo3::prelude::*;

/// A data frame at a queue or its destination.
#[pyclass(name = "Frame", module = "penstock._core", frozen, get_all)]
pub(crate) struct PyFrame {
    now: u64,
    flow: u32,
    octets: u16,
    weight: u16,
    seq: u64,
    sent_at: u64,
    last: bool,
    trimmed: bool,
    dropped: bool,
    marked: bool,
    word: [u64; WORDS],
    random: u32,
}

impl PyFrame {
    pub(super) fn new(now: u64, frame: &abi::Frame<'_>, random: u32) -> Self {
        let &abi::Frame { seq, sent_at, flow, octets, weight, last, trimmed, dropped, .. } = frame;
        let (last, trimmed, dropped) = (last != 0, trimmed != 0, dropped != 0);
        let (marked, word) = (frame.tag.marked != 0, frame.tag.word);
        Self { now, flow, octets, weight, seq, sent_at, last, trimmed, dropped, marked, word, random }
    }
}

/// An output queue.
#[pyclass(name = "Queue", module = "penstock._core", frozen, get_all)]
pub(crate) struct PyQueue {
    octets: u64,
    frames: u32,
    sent: u64,
    rate: u64,
    paused: bool,
}

impl PyQueue {
    pub(super) fn new(queue: &abi::Queue) -> Self {
        let &abi::Queue { len, sent, rate, frames, paused, .. } = queue;
        Self { octets: len, frames, sent, rate, paused: paused != 0 }
    }
}

/// Where a congestion point sits.
#[pyclass(name = "Place", module = "penstock._core", frozen, get_all)]
pub(crate) struct PyPlace {
    cp: u64,
    line: u64,
    capacity: u64,
    phase: u64,
}

impl PyPlace {
    pub(super) fn new(place: &abi::Place) -> Self {
        let &abi::Place { cp, line, capacity, phase } = place;
        Self { cp, line, capacity, phase }
    }
}

/// A control frame that has arrived.
#[pyclass(name = "Signal", module = "penstock._core", frozen, get_all)]
pub(crate) struct PySignal {
    now: u64,
    flow: u32,
    octets: u16,
    kind: u8,
    word: [u64; WORDS],
    random: u32,
}

impl PySignal {
    pub(super) fn new(now: u64, flow: u32, signal: &abi::Signal, random: u32) -> Self {
        Self { now, flow, octets: signal.octets, kind: signal.kind, word: signal.word, random }
    }
}

/// An acknowledgement.
#[pyclass(name = "Acknowledgement", module = "penstock._core", frozen, get_all)]
pub(crate) struct PyAcknowledgement {
    now: u64,
    flow: u32,
    acked: u64,
    lost: u64,
    rtt: u64,
    marked: bool,
    word: [u64; WORDS],
    random: u32,
}

impl PyAcknowledgement {
    pub(super) fn new(now: u64, flow: u32, ack: &abi::Ack, random: u32) -> Self {
        let &abi::Ack { acked, lost, rtt, echo } = ack;
        Self { now, flow, acked, lost, rtt, marked: echo.marked != 0, word: echo.word, random }
    }
}

/// A data frame that a reaction point lets go.
#[pyclass(name = "Release", module = "penstock._core", frozen, get_all)]
pub(crate) struct PyRelease {
    now: u64,
    flow: u32,
    octets: u16,
    seq: u64,
    last: bool,
    random: u32,
}

impl PyRelease {
    pub(super) fn new(now: u64, release: &abi::Release, random: u32) -> Self {
        let &abi::Release { seq, flow, octets, last, .. } = release;
        Self { now, flow, octets, seq, last: last != 0, random }
    }
}
