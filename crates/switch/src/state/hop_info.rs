//! Of each hop: its flow, with the properties that ports need.

use penstock_endpoint::{FlowId, TrafficClass};

use crate::events::HopId;

/// The flow of a hop, and its properties that ports need.
#[derive(Debug, Clone, Copy)]
pub struct HopInfo {
    /// The flow.
    pub flow: FlowId,
    /// Its weight.
    pub weight: u16,
    /// The class of its data.
    pub class: TrafficClass,
}

/// The weight of a hop's flow, looked up so that the compiler may leave it out for schemes without weights.
#[inline(always)]
pub fn weight_of(hop_info: &[HopInfo], hop: HopId) -> u16 {
    hop_info.get(hop.index()).map_or(1, |f| f.weight)
}
