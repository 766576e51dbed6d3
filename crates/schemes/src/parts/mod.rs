//! Pieces that schemes are composed of. Each is a small state machine with integer state.

pub mod gain;
pub mod jitter;
pub mod quantiser;
pub mod rate_calculator;
pub mod sampler;
