//! Every transport over a line with faults.

pub(in crate::transport) mod lossy_channel;
mod properties;
