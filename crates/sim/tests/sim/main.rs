//! The simulator's tests, in one program: the engine is generic, and each program compiles those of its schemes again.

mod common;

mod allocation;
mod bounds;
mod contract;
mod deadlocks;
mod dependencies;
mod dynamic_flows;
mod engine;
mod failures;
mod headroom;
mod incasts;
mod large;
mod laws;
mod line_capture;
mod load_balancing;
mod lossless_links;
mod mixed;
mod offered;
mod parallel;
mod pfc;
mod pools;
mod schemes_of_today;
mod shared;
mod traffic_classes;
mod transmit;
mod transports;
mod work;
