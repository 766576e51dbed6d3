//! Packet-level simulation of congestion management: the event engine, hosts, switches, links and queues.
//!
//! A [`network::Network`] describes the nodes, links and flows, a scheme from `penstock_schemes` manages congestion, a
//! [`probe::Probe`] watches, and [`Sim`] runs. There is no file, clock or thread here: the same network, scheme and
//! seed give the same bits on every machine.
//!
//! - [`network`]: nodes, ports, routes, flows, as plain data
//! - [`probe`]: the view of observers
//! - [`outcome`]: the result of a run; [`metrics`]: the metrics of a result, declared once
//! - [`random`]: the random words that a run sees
//! - `engine`: the event loop; `event_queue`: the events to come
//! - `fabric`: frames through ports; `port`: one port and its queues; `journey`: frames and signals on their ways
//! - `facts`: the flow of each hop
//! - [`partition`]: a network in parts; [`parts`]: their simulation side by side
//! - `measure`: windows of measurement; `report`: the end of a run
//! - [`pfc`]: the headroom that priority flow control needs; `pause`: ingress counters, stopped queues; `pause_frames`: pause frames on their way; `stops`: questions about them
//! - `deadlock`: queues that wait for one another; `watchdog`: lets queues go that are stopped for too long
//! - `pool`: memory that the queues of a switch share
//! - `admission`: verdicts of congestion points; `acknowledgement`: acknowledgements on their ways
//! - `transport`: segments and acknowledgements of transports on their ways; `transmit`: the queue of segments at a limiter
//! - `host`: drives flows, limiters and destinations, which are `penstock_endpoint`'s; `generator`: the frames that
//!   flows send
//! - `processes`: the flows that processes make; `crowd`: such flows come and go in the engine
//! - `ends`: ends of flows, which others wait for
//! - `taps`: the frames on lines that a probe looks at
//! - `spread`: frames of a flow over several ways
//! - `records`: the counts of flows and hosts; `start`: the start of a run
//!
//! The engine is compiled for each scheme, whose calls are inlined. Code that runs seldom sees frames, congestion
//! points and sums through interfaces that are the same for all (`frame::Arena`, `point::Points`, `measure::Parts`), so
//! that it is compiled once.
//!
//! # Example
//!
//! One host sends 100 frames to another, without control:
//!
//! ```
//! use penstock_schemes::none::{Config, NoControl};
//! use penstock_schemes::{BitRate, Duration, Instant, Octets};
//! use penstock_sim::network::*;
//! use penstock_sim::{NoProbe, Sim};
//!
//! let port = |from, to| Port {
//!     node: NodeId(from),
//!     peer: NodeId(to),
//!     number: 0,
//!     rate: BitRate::from_gbps(10),
//!     latency: Duration::from_us(1),
//!     capacity: Capacity::Arbiter,
//!     congestion_points: false,
//! };
//! let network = Network {
//!     nodes: vec![Node { kind: NodeKind::Host, station: 1 }, Node { kind: NodeKind::Host, station: 2 }],
//!     ports: vec![port(0, 1), port(1, 0)],
//!     priorities: vec![0],
//!     moves: Vec::new(),
//!     tags: Vec::new(),
//!     hops: vec![Hop { port: PortId(0), back: PortId(1), parent: None, first_child: HopId(1), children: 0 }],
//!     flows: vec![Flow {
//!         root: HopId(0),
//!         priority: 0,
//!         frame: 1500,
//!         weight: 1,
//!         start: Instant::ZERO,
//!         stop: None,
//!         size: Some(Octets(150_000)),
//!         traffic: Traffic::Greedy,
//!         excess: Excess::Wait,
//!         reaction_point: Some(RpId(0)),
//!         transport: None,
//!     }],
//!     processes: Processes::default(),
//!     sequels: Vec::new(),
//!     until_complete: false,
//!     reaction_points: vec![ReactionPointSpec { port: PortId(0), pacer: Pacer::Ideal }],
//!     changes: Vec::new(),
//!     reroutes: Vec::new(),
//!     wire_overhead: 0,
//!     in_service_counts: true,
//!     own_clocks: false,
//!     ecn_threshold: None,
//!     marking: Marking::default(),
//!     trimmed: vec![],
//!     transmit: Transmit::Pull,
//!     control_capacity: Octets(64_000),
//!     feedback: Feedback::InBand,
//!     pfc: None,
//!     pools: Vec::new(),
//!     spread: None,
//!     ties: Ties::Number,
//! };
//! let mut sim = Sim::<NoControl, _, false>::new(&network, &[Config {}], 1, NoProbe);
//! sim.run_until(Instant::ZERO + Duration::from_ms(1));
//! let (outcome, _) = sim.finish();
//! // 100 frames of 1.2 us, and 1 us on the line.
//! assert_eq!(outcome.flows[0].completed, Some(Instant::ZERO + Duration::from_us(121)));
//! ```
//!
//! # How it is built
//!
//! Two choices give the engine its speed. A frame costs one event per link, because ports settle their departures lazily
//! (`fabric`). And everything is in arenas under indices: a frame is written once, at its source, and then only relinked.
//! Networks that no cache holds have a third one: their runs ask for the memory of frames before these come (`ahead`).
#![forbid(unsafe_code)]

mod acknowledgement;
mod admission;
mod ahead;
mod convergence;
mod crowd;
mod deadlock;
mod ends;
mod engine;
mod event;
mod event_queue;
mod fabric;
mod facts;
mod frame;
mod generator;
pub mod histogram;
mod host;
mod journey;
mod marks;
mod measure;
mod memory;
pub mod metrics;
pub mod network;
pub mod outcome;
pub mod partition;
pub mod parts;
mod pause;
mod pause_frames;
pub mod pfc;
mod point;
mod pool;
mod port;
pub mod probe;
mod processes;
pub mod random;
mod records;
mod report;
mod routes;
mod settings;
mod spread;
mod stamps;
mod start;
mod stops;
mod taps;
mod ties;
mod transmit;
mod transport;
mod watchdog;

pub use engine::Sim;
pub use network::Network;
pub use outcome::Outcome;
pub use partition::Partition;
pub use parts::{Mail, Together};
pub use probe::{NoProbe, Probe, View};
pub use settings::Setting;
pub use transport::longest_frame;
