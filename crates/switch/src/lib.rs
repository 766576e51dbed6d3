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
//! | [`state`] | frames, ports and queues, congestion points, hops, histograms of queues, error models of lines |
//! | [`flow_control`] | counters, stops and pause frames (`pause`), shared memory (`pool`), deadlocks, headroom (`pfc`) |
//! | [`datapath`] | [`Fabric`]: arrival at a port and trimming (`enqueue`), ECN, headers that switches write (`telemetry`), pauses sent and obeyed (`pausing`), watchdog, line capture |
//!
//! # Example
//!
//! Three frames of 1250 octets come to an idle port of 10 Gb/s at once: 1 us each. The queue has room for two, one of which is in
//! transmission.
//!
//! ```
//! use penstock_endpoint::{FlowId, PortId, TrafficClass};
//! use penstock_schemes::none::{Config as Parameters, NoControl};
//! use penstock_schemes::{BitRate, Duration, FlowKey, Instant, Octets};
//! use penstock_switch::config::{Capacity, Node, NodeKind, Port};
//! use penstock_switch::datapath::enqueue::Enqueued;
//! use penstock_switch::events::{FrameId, HopId, Lane, NodeId, PauseId};
//! use penstock_switch::state::frame::{Marks, Payload, Slot};
//! use penstock_switch::state::hop_info::HopInfo;
//! use penstock_switch::{Arrival, Config, Events, Fabric, Lean, Timer};
//!
//! /// The driver's list of deliveries; without flow control and congestion points there are no timers.
//! #[derive(Debug, Default)]
//! struct List(Vec<(Instant, FrameId)>);
//!
//! impl Events for List {
//!     fn wake(&mut self, _: Instant, _: Timer) {}
//!     fn deliver(&mut self, at: Instant, frame: FrameId, _: PortId, _: Lane) {
//!         self.0.push((at, frame));
//!     }
//!     fn deliver_corrupted(&mut self, _: Instant, _: FrameId, _: PortId) {}
//!     fn deliver_pause(&mut self, _: Instant, _: PauseId, _: PortId) {}
//! }
//!
//! let nodes = [Node::new(NodeKind::Switch, 1), Node::new(NodeKind::Host, 2)];
//! let mut port = Port::new(NodeId(0), NodeId(1), BitRate::from_gbps(10), Duration::from_us(3));
//! port.capacity = Capacity::Frames(2);
//! let ports = [port];
//! let config = Config::new(&nodes, &ports);
//! let hops = vec![HopInfo { flow: FlowId(0), weight: 1, class: TrafficClass(0) }];
//! let mut fabric = Fabric::<NoControl, List, Lean>::new(&config, hops, &[Parameters {}], 1, List::default());
//! let frame = Slot {
//!     next: FrameId::NONE,
//!     flow: FlowKey(0),
//!     hop: HopId(0),
//!     octets: 1250,
//!     class: TrafficClass(0),
//!     marks: Marks::NONE,
//!     sent_at: Instant::ZERO,
//!     seq: Octets(0),
//!     payload: Payload::Data(()),
//! };
//! let mut signals = Vec::new();
//! let answers = [(); 3].map(|()| {
//!     let index = fabric.frames.insert(frame.clone());
//!     let arrival = Arrival { index, class: TrafficClass(0), octets: 1250, from: PortId::NONE };
//!     fabric.enqueue(PortId(0), arrival, &mut signals)
//! });
//! assert_eq!(answers, [Enqueued::Queued, Enqueued::Queued, Enqueued::Dropped]);
//! let mut delivered = Vec::new();
//! while let Some((at, frame)) = fabric.events.0.pop() {
//!     fabric.now = at;
//!     // The transmission of the next frame has begun when this one ended.
//!     fabric.cross(PortId(0));
//!     fabric.frames.remove(frame);
//!     delivered.push(at);
//! }
//! assert_eq!(delivered, [4, 5].map(|us| Instant::ZERO + Duration::from_us(us)));
//! ```
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
