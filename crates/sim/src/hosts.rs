//! Hosts: the data of flows, their transports, and the queues before rate limiters.
//! The machines themselves are those of `penstock_endpoint`.

pub(crate) mod entropy;
pub(crate) mod generator;
pub(crate) mod transmit_queue;
pub(crate) mod transport;

use crate::hosts::generator::Source;
use crate::random::Stream;

/// The flows and limiters of all hosts.
pub(crate) type Sources<S> = penstock_endpoint::Sources<S, Source, Stream>;
