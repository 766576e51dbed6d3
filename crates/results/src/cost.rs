//! The cost of a run on the machine that made it.

use serde::{Deserialize, Serialize};

use crate::objects::{Key, Object, Shape, Shaped, record};

record! {
    /// Cost of a run.
    RunSummary {
        /// Time on the wall clock.
        wall_s: f64, "s";
        /// Events handled in a second of it.
        events_per_s: u64, "";
        /// Nanoseconds of it that a packet hop took.
        ns_per_packet_hop: f64, "ns";
        /// Version of Penstock.
        version: String, "";
    }
}

impl Default for RunSummary {
    /// The cost of no run, for comparisons.
    fn default() -> Self {
        Self { wall_s: 0.0, events_per_s: 0, ns_per_packet_hop: 0.0, version: String::new() }
    }
}
