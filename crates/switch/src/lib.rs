//! Switches as state machines without input or output.
//!
//! Nothing here owns a clock, a socket or an event queue. The driver sets the time ([`Fabric::now`]), puts frames into queues, keeps
//! [timers](Timer) by [`Events`], and takes frames when they reach the far ends of their lines. A [`Fabric`] has the ports of one switch,
//! or of all switches and hosts of a network.
//!
//! ```text
//!   frame --> enqueue: congestion point, ingress buffer, pool, marks --> queue --> line --> Events::deliver
//!                |            drop, trim                                   ^
//!                +--> pause frames to the neighbour (priority flow control)  +-- pause frames received, watchdog
//! ```
//!
//! # Layers
//!
//! A file needs those of its row and of the rows above it.
//!
//! | Layer | Contents |
//! |---|---|
//! | [`config`], [`events`], [`model`], [`histogram`], [`random`] | the switch as plain data, its timers and indices, what it can do, histograms, random words |
//! | [`state`] | frames, ports and queues, congestion points, hops, histograms of queues |
//! | [`flow_control`] | counters, stops and pause frames (`pause`), shared memory (`pool`), deadlocks, headroom (`pfc`) |
//! | [`datapath`] | [`Fabric`]: arrival at a port (`enqueue`), ECN, headers that switches write (`telemetry`), pauses sent and obeyed (`pausing`), line capture |
//!
//! # Rules for drivers
//!
//! 1. The time never decreases.
//! 2. At one instant timers expire in the order of [`Timer`], deliveries in that of the ports that sent them.
//! 3. [`Fabric::review`](datapath::Fabric::review) follows each event with flow control: it signals to neighbours.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod config;
pub mod datapath;
pub mod events;
pub mod flow_control;
pub mod histogram;
pub mod model;
pub mod random;
pub mod state;

pub use config::Config;
pub use datapath::{Arrival, Fabric};
pub use events::{Events, Timer};
pub use model::{Full, Lean, Model, Shared};
