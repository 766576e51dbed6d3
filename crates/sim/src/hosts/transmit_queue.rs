//! The transmit queue of a host: segments that a transport has sent, and that wait for their limiter.

use std::collections::{BTreeMap, VecDeque};

use penstock_endpoint::LimiterId;
use penstock_endpoint::transport::Segment;
use penstock_schemes::Instant;

use crate::network::{FlowId, Transmit};

/// The part of the queue that one flow has.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransmitPart {
    pub(crate) segments: VecDeque<Segment>,
    /// Octets of their frames.
    pub(crate) octets: u64,
    /// Its transport waits for room.
    pub(crate) waits: bool,
    /// Segments that found no room, or were there when the flow was stopped.
    pub(crate) discarded: u64,
    area: u128,
    since: Instant,
}

impl TransmitPart {
    /// The integral of the octets that wait, up to `now`.
    pub(crate) fn area(&self, now: Instant) -> u128 {
        self.area + u128::from(self.octets) * u128::from(now.since(self.since).0)
    }

    /// Segments that the transport has sent, and that the limiter has not.
    pub(crate) fn unsent(&self) -> u64 {
        self.segments.len() as u64 + self.discarded
    }

    /// Whether its transport waits for room.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    pub(crate) fn change(&mut self, now: Instant, octets: u64) {
        self.area = self.area(now);
        (self.octets, self.since) = (octets, now);
    }
}

/// The queues of all limiters.
#[derive(Debug)]
pub(crate) struct TransmitQueues {
    pub(crate) kind: Transmit,
    pub(crate) queues: BTreeMap<LimiterId, TransmitQueue>,
}

#[derive(Debug, Default)]
pub(crate) struct TransmitQueue {
    /// Octets of the frames that wait, of all flows.
    pub(crate) octets: u64,
    /// The flows whose transports wait for room, in the order in which they began to.
    pub(crate) waiting: VecDeque<FlowId>,
}

impl TransmitQueues {
    pub(crate) fn new(kind: Transmit) -> Self {
        Self { kind, queues: BTreeMap::new() }
    }

    /// Whether there are such queues.
    pub(crate) fn exist(&self) -> bool {
        self.kind != Transmit::Pull
    }

    /// The queue of a limiter that is no longer there.
    pub(crate) fn forget(&mut self, limiter: LimiterId) {
        self.queues.remove(&limiter);
    }
}
