//! Weighted random early detection (WRED): a queue marks or drops frames at random, the more the longer it is.
//!
//! The length is that of the moment, with the frame that arrives: switches call that weight 0, where others average. Up to the minimum nothing
//! happens; from there to the maximum the probability rises evenly up to its largest value; beyond, every frame is concerned. (Floyd and
//! Jacobson 1993; RFC 3168 for marks instead of drops)

use penstock_schemes::parts::marking::Ramp;

use crate::config::{EarlyDrops, Wred};
use crate::random::{Owner, Stream};

/// The early detection of a queue.
#[derive(Debug, Clone)]
pub struct EarlyDetection {
    ramp: Ramp,
    drops: EarlyDrops,
    stream: Stream,
}

impl EarlyDetection {
    /// That of queue number `queue`: by its table, or else by a step at `threshold`, octets.
    pub fn new(table: Option<&Wred>, threshold: u32, seed: u64, queue: usize) -> Self {
        let step = Ramp { k_min: u64::from(threshold), k_max: u64::from(threshold), p_max: 0 };
        let (ramp, drops) = table.map_or((step, EarlyDrops::None), |table| (table.ramp, table.drops));
        Self { ramp, drops, stream: Stream::new(seed, Owner::EarlyDetection, queue) }
    }

    /// Whether a frame is dropped with which the queue is `len` octets long.
    pub fn drops(&mut self, len: u64, markable: bool) -> bool {
        let concerned = match self.drops {
            EarlyDrops::None => false,
            EarlyDrops::Unmarkable => !markable,
            EarlyDrops::All => true,
        };
        concerned && self.ramp.marks(len, &mut self.stream)
    }

    /// Whether a frame that can be marked is, with which the queue is `len` octets long.
    pub fn marks(&mut self, len: u64) -> bool {
        self.drops != EarlyDrops::All && self.ramp.marks(len, &mut self.stream)
    }
}
