//! Packet-level simulation of congestion management: the event engine, hosts, switches, links and queues.
//!
//! A [`network::Network`] says what there is, a scheme from `penstock_schemes` says how congestion is managed, a
//! [`probe::Probe`] watches, and [`Sim`] runs. There is no file, clock or thread here: the same network, scheme and seed
//! give the same bits on every machine.
//!
//! - [`network`]: nodes, ports, routes, flows, as plain data
//! - [`probe`]: what observers see
//! - [`outcome`]: what a run comes to; [`metrics`]: what there is to tell of it, declared once
//! - [`random`]: the random words that a run sees
//! - `engine`: the event loop; `agenda`: the event queue
//! - `fabric`: frames through ports; `port`: one port and its queues; `journey`: frames and signals on their ways
//! - `measure`: windows of measurement; `report`: the end of a run
//! - [`pfc`]: the head-room that priority flow control needs; `pause`: ingress counters, pause frames, stopped queues
//! - `admission`: verdicts of congestion points; `acknowledgement`: what is in flight
//! - `source`: generators and limiters; `host`: what releases and limits frames
//!
//! Two choices give the engine its speed. A frame costs one event per link, because ports settle their departures lazily
//! (`fabric`). And everything is in arenas under indices: a frame is written once, at its source, and then only relinked.
#![forbid(unsafe_code)]

mod acknowledgement;
mod admission;
mod agenda;
mod engine;
mod event;
mod fabric;
mod frame;
mod host;
mod journey;
mod measure;
pub mod metrics;
pub mod network;
pub mod outcome;
pub mod pacer;
mod pause;
pub mod pfc;
mod port;
pub mod probe;
pub mod random;
mod report;
mod source;

pub use engine::Sim;
pub use network::Network;
pub use outcome::Outcome;
pub use probe::{NoProbe, Probe, View};
