//! Congestion notification domains (IEEE 802.1Qau, today clauses 30 to 33 of 802.1Q): which ports are inside, and how the
//! edge keeps out frames of those that are not.
//!
//! Congestion notification works if every source of a congestion notification priority (CNPV) has a reaction point that slows
//! down on each CNM. So each port watches for each such priority whether its neighbour takes part:
//!
//! ```text
//!   LLDP frames --> lldpdu --> neighbours --> Defense, a state machine for each port and priority
//!                                                 |
//!   frames in  --> priorities remapped, notifications refused <--+--> CN-TAGs removed --> frames out
//!                                                 |
//!   LLDP frames <-- congestion notification TLV <-+
//! ```
//!
//! - [`Defense`]: the state machine of one port and priority. Start here.
//! - [`Component`]: a bridge component or end station, and which priorities it takes for congestion notification
//! - [`Port`]: a port's eight machines, its neighbours, and its treatment of frames
//! - [`objects`]: the managed objects of IEEE8021-CN-MIB
//! - [`dcbnl`]: Linux's messages for a network interface that has reaction points
//!
//! Nothing here owns a clock or a socket. Time is an argument, frames are octets that are handed in and out. Memory is
//! bounded by the types: a [`Port`] allocates none, whatever arrives.
//!
//! # Sources
//!
//! Modes, managed objects, their defaults and the clauses of the variables: IEEE8021-CN-MIB of 802.1Q-2014. Transitions of
//! the state machine (figure 32-1) and the rule of one neighbour: the code of a switch's firmware that cites the standard.
//! The text of the standard was not at hand; where a reading is Penstock's own, the item says so.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod component;
pub mod dcbnl;
mod defense;
mod frame;
pub mod lldpdu;
mod neighbours;
pub mod objects;
mod port;

pub use component::{Component, EighthPriority};
pub use defense::{Choice, Defense, Heard, State};
pub use frame::Refusal;
pub use neighbours::{MOST_NEIGHBOURS, Neighbours};
pub use objects::DefenseMode;
pub use port::{Counters, Port, Received, Station};

/// The number of priorities.
pub const PRIORITIES: usize = 8;
