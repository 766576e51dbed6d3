//! A network interface as a state machine without input or output.
//!
//! Nothing here owns a clock, a socket, a random generator or an event queue. Time is an argument. Random words come
//! from [`Draw`](penstock_schemes::Draw), data from a [`DataSource`]. Frames are returned with their times; signals and
//! acknowledgements are passed in. A simulator drives it by events, a program on a host by a poll loop.
//!
//! ```text
//!   DataSource --> flow --> limiter: reaction point, pacer, window --> turn at the port --> frames with times
//!                          ^                                                                |
//!                          +------ signals, acknowledgements ------ Destination <-----------+
//! ```
//!
//! - [`Nic`]: one port with everything that belongs to it, to be polled. Start here.
//! - [`Sources`]: flows, limiters and arbiters of many ports, for drivers that bring their own lines and timers
//! - [`transport`]: transmission, retransmission and acknowledgement of octets, above the limiter
//! - [`Destination`]: the receiver: notification point, receipt, acknowledgements
//! - [`Grants`]: the turns of the destinations of a port, where receivers grant frames
//! - [`DataSource`]: the source of data
//! - [`Pacer`], [`TokenBucket`]: release times of frames at a rate
//! - [`Timer`], [`Alarms`], [`Timers`]: calls that are due at a time
//!
//! # Rules for drivers
//!
//! 1. `now` never decreases from one call to the next.
//! 2. At one instant inputs come before polls, and timers in the order of [`Timer`].
//! 3. The same calls, data and random words give the same frames; a clone continues as the original does.
//!
//! # Example
//!
//! Two flows share a port of 10 Gb/s, driven by a poll loop. A frame of 1250 octets takes 1 us.
//!
//! ```
//! use penstock_endpoint::{FlowSpec, Nic, Outgoing, Pacer, DataSource, Taken, TrafficClass};
//! use penstock_schemes::none::NoControl;
//! use penstock_schemes::{BitRate, Draw, Duration, Instant};
//!
//! /// An application with this number of frames of 1250 octets left to send.
//! struct Frames(u32);
//!
//! impl DataSource for Frames {
//!     fn when(&mut self, now: Instant) -> Instant {
//!         if self.0 > 0 { now } else { Instant::NEVER }
//!     }
//!     fn next_octets(&self) -> u16 {
//!         1250
//!     }
//!     fn take(&mut self, _: Instant) -> Taken {
//!         self.0 -= 1;
//!         Taken { octets: 1250, last: self.0 == 0 }
//!     }
//! }
//!
//! /// No control draws no words.
//! struct NoWords;
//!
//! impl Draw for NoWords {
//!     fn draw(&mut self) -> u32 {
//!         unreachable!("nothing is random here")
//!     }
//! }
//!
//! let us = |n| Instant::ZERO + Duration::from_us(n);
//! let mut nic = Nic::<NoControl, Frames, NoWords>::new(BitRate::from_gbps(10), 0);
//! let flows = [3, 2].map(|frames| {
//!     let limiter = nic.add_uncontrolled(Pacer::Ideal, NoWords);
//!     let spec = FlowSpec { class: TrafficClass(0), frame: 1250, destinations: 1 };
//!     nic.add_flow(limiter, spec, Frames(frames))
//! });
//! for flow in flows {
//!     nic.start(us(0), flow);
//! }
//! // A neighbour stops the class from 2.5 us to 10 us.
//! let mut stops = vec![(us(10), false), (Instant(2_500_000), true)];
//!
//! let (mut now, mut sent) = (us(0), Vec::new());
//! loop {
//!     while let Some((_, stop)) = stops.pop_if(|&mut (at, _)| at == now) {
//!         if stop { nic.pause(now, TrafficClass(0)) } else { nic.resume(now, TrafficClass(0)) }
//!     }
//!     while let Some(frame) = nic.poll_transmit(now) {
//!         if let Outgoing::Data(data) = frame.frame {
//!             sent.push((frame.at, data.flow));
//!         }
//!     }
//!     // Sleep until the network interface or a neighbour has something to do.
//!     let next = nic.next_timeout().into_iter().chain(stops.last().map(|&(at, _)| at)).min();
//!     match next {
//!         Some(at) => now = at,
//!         None => break,
//!     }
//! }
//! // They take turns. The third frame had begun when the stop came. At 3 us it is b's turn, but b is stopped; so a is next.
//! let [a, b] = flows;
//! assert_eq!(sent, [(us(0), a), (us(1), b), (us(2), a), (us(10), a), (us(11), b)]);
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod arbiter;
pub mod cache;
mod destination;
pub mod entropy;
pub mod entropy_states;
mod flow;
mod flow_slots;
mod grants;
mod ids;
mod in_flight;
mod limiter;
mod nic;
mod pacer;
mod ranks;
mod source;
mod sources;
mod timer;
pub mod transport;

pub use destination::{Acknowledgement, Destination, acknowledged};
pub use flow::{Flow, FlowSpec};
pub use grants::Grants;
pub use ids::{DestinationId, FlowId, LimiterId, PortId, TrafficClass};
pub use limiter::{Limiter, LimiterSpec};
pub use nic::{Nic, Outgoing, Transmit};
pub use pacer::{Pacer, TokenBucket};
pub use ranks::Ranks;
pub use source::{DataSource, Taken};
pub use sources::{Changes, Line, Permission, Sent, Sources, Watch};
pub use timer::{Alarms, Timer, Timers};
