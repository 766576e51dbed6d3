//! Packet-level simulation of congestion management: the event engine, hosts, switches, links and queues.
//!
//! A [`network::Network`] describes the nodes, links and flows, a scheme from `penstock_schemes` manages congestion, a
//! [`probe::Probe`] watches, and [`Sim`] runs. There is no file, clock or thread here: the same network, scheme and
//! seed give the same bits on every machine.
//!
//! # Layers
//!
//! A file needs those of its row and of the rows above it, and no two files need each other, parents and children aside.
//!
//! | Layer | Contents |
//! |---|---|
//! | `penstock_switch` | switches, and all ports of hosts: queues, marks, shared memory, flow control; it knows neither [`Sim`] nor a probe |
//! | [`network`] | the network as plain data: nodes, ports, flows, processes, routes, flow control |
//! | [`outcome`], [`metrics`], [`probe`], [`partition`] | results and their metrics, the view of observers, a network in parts |
//! | `state` | steps of frames from hop to hop, counts, events and their queue |
//! | `hosts`, `routing` | generators, transports, transmit queues; where flows pass, load balancing |
//! | `engine` | [`Sim`] and the event loop; below it a file a matter |
//!
//! Files of `engine`:
//!
//! - `forwarding`: frames and signals from hop to hop; `acknowledgement`, `transport`: those of schemes and transports
//! - `host`: sources, limiters and destinations, which are `penstock_endpoint`'s; `transmit_queue`: segments before a limiter
//! - `flow_control`: what pauses do to hosts; `load_balancing`, `ties`, `convergence`: the choice of a path, frames of one instant,
//!   new routes
//! - `dynamic_flows`: flows that processes make, and the reuse of their slots; `flow_completion`: flows that wait for others;
//!   `work`: flows that begin as others end
//! - `parameter_changes`: schemes configured during a run; [`parallel`]: a network simulated in parts; `prefetch`: memory asked for in
//!   advance
//! - `setup`, `run_state`, `measure`, `conservation`: the start of a run, its state, its windows of measurement, its end
//! - `impairment`: frames that lines lose at random; `interfaces`: hosts that pause their switch; `line_capture`: frames that a probe is shown
//!
//! # Two engines
//!
//! `Sim<S, P, M>` is compiled for each scheme, and each of them twice. With [`Full`] switches can do everything: priority flow control,
//! pools of memory, trimming, marks by port or at departure, line capture. It costs time at every hop; without it,
//! [`Sim::new`] refuses a network that [needs it](Network::needs_flow_control). A network that does not runs the same in both.
//!
//! The engine is compiled for each scheme, whose calls are inlined. Code that runs seldom sees frames, congestion
//! points and sums through interfaces that are the same for all (`Arena`, `CongestionPoints`, `measure::Counted`), so
//! that it is compiled once.
//!
//! # Example
//!
//! One host sends 100 frames to another, without control:
//!
//! ```
//! use penstock_schemes::none::{Config, NoControl};
//! use penstock_schemes::{BitRate, Duration, Instant, Octets};
//! use penstock_sim::network::Builder;
//! use penstock_sim::{Lean, NoProbe, Sim};
//!
//! let mut builder = Builder::new(2, 0);
//! builder.link(0, 1, BitRate::from_gbps(10), Duration::from_us(1), Octets(0));
//! builder.flow(&[0, 1]).size = Some(Octets(150_000));
//! let mut sim = Sim::<NoControl, _, Lean>::new(&builder.network, &[Config {}], 1, NoProbe);
//! sim.run_until(Instant::ZERO + Duration::from_ms(1));
//! let (outcome, _) = sim.finish();
//! // 100 frames of 1.2 us, and 1 us on the line.
//! assert_eq!(outcome.flows[0].completed, Some(Instant::ZERO + Duration::from_us(121)));
//! ```
//!
//! # How it is built
//!
//! Two choices give the engine its speed. A frame costs one event per link, because ports settle their departures lazily
//! (`penstock_switch::datapath`). And everything is in arenas under indices: a frame is written once, at its source, and then only relinked.
//! Networks that no cache holds have a third one: their runs ask for the memory of frames before these come (`prefetch`).
#![forbid(unsafe_code)]

mod engine;
mod hosts;
pub mod metrics;
pub mod network;
pub mod outcome;
pub mod partition;
pub mod probe;
mod routing;
mod state;

pub use engine::Sim;
pub use engine::parallel::{self, CombinedView, RemoteFrames, Stop};
pub use engine::parameter_changes::Reconfiguration;
pub use engine::steering::Steering;

pub use hosts::transport::longest_frame;
pub use network::Network;
pub use outcome::Outcome;
pub use partition::Partition;
pub use penstock_switch::flow_control::pfc;
pub use penstock_switch::{Full, Lean, Model, histogram, random};
pub use probe::{NoProbe, Probe, View};
