//! The state of a run beside that of its switches (`penstock_switch::state`): steps of frames, counts, and the events to come. The types and
//! their own methods; the files of `engine` let frames move.

pub(crate) mod event;
pub(crate) mod event_queue;
pub(crate) mod hops;
pub(crate) mod records;

/// All ports of the network, hosts' among them, as one switch.
pub(crate) type Fabric<S, M> = penstock_switch::Fabric<S, event_queue::EventQueue, M>;
