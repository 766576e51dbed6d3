//! Counts and measures of a queue, as records have them.

use serde::{Deserialize, Serialize};

/// Counts of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCounts {
    /// Data frames that came.
    pub arrived: u64,
    /// Data frames that found no room.
    pub dropped: u64,
    /// Signals that its congestion point has sent.
    pub signals: u64,
    /// Frames that have left for the line.
    pub frames_sent: u64,
    /// Their octets.
    pub octets_sent: u64,
    /// Frames that it has marked.
    pub frames_marked: u64,
    /// Their octets.
    pub octets_marked: u64,
}

/// The length of a queue over time, octets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
    /// Least.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Share of the time without an octet.
    pub empty: f64,
}
