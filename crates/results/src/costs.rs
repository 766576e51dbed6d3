//! The cost of a run on this machine: the objects of the summary that the same scenario and seed do not repeat.

use serde::{Deserialize, Serialize};

use crate::schema::{Key, Object, Shape, Shaped, record};

record! {
    /// A run on the testbed: times here are the machine's, all others in the summary are the network's.
    TestbedSummary {
        /// Whether its figures may be used: the lateness is within the bound, and the system lost no frame. If not, `faults` says why.
        valid: bool, "";
        /// Why its figures must not be used, in sentences.
        faults: Vec<String>, "";
        /// How many times slower the network's clock was than the machine's.
        time_scale: u64, "";
        /// Whether all processes ran with the priority of real time (SCHED_FIFO).
        real_time: bool, "";
        /// The lateness that 99 % of the frames may have.
        lateness_bound_s: f64, "s";
        /// How late frames left, median.
        lateness_p50_s: f64, "s";
        /// How late frames left, 99th percentile.
        lateness_p99_s: f64, "s";
        /// How late frames left, 99.9th percentile.
        lateness_p999_s: f64, "s";
        /// How late frames left, at worst.
        lateness_max_s: f64, "s";
        /// How late frames were read after the system had received them, 99th percentile.
        reading_p99_s: f64, "s";
        /// Time that interfaces gave up since they were woken too late, the most of any, on the network's clock.
        given_up_s: f64, "s";
        /// Frames that the system dropped, or did not take.
        frames_lost: u64, "frames";
    }
}

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
