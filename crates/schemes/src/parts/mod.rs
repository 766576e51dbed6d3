//! Pieces that schemes are composed of. Each is a small state machine with integer state.

pub mod ecm;
pub mod explicit_rate;
pub mod flow_table;
pub mod gain;
pub mod holds;
pub mod jitter;
pub mod limiter_table;
pub mod marking;
pub mod marking_cp;
pub mod median;
pub mod notification;
pub mod power;
pub mod quantiser;
pub mod rate_calculator;
pub mod rate_limiter;
pub mod regulators;
pub mod root;
pub mod sampler;
pub mod sampling_cp;
