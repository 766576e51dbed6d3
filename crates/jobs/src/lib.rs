//! Jobs: the work of a parallel program on a network, as a state machine without input or output.
//!
//! A [`Graph`] has nodes of ranks: computations, sends, receives and collectives, with dependencies. An [`Executor`] runs it by
//! completions. Its caller (the simulator, or a test with a formula for the network) sends the messages that it is given, reports when
//! their last octet has arrived, and wakes the executor when it asked for that.
//!
//! ```text
//!   Graph (nodes, groups, collectives) --check--> Executor --Action::Send--> network
//!                                                    ^  next_wake_ps            |
//!                                                    +---- wake, delivered -----+
//! ```
//!
//! All times are picoseconds (`*_ps`), all sizes octets, all rates bits per second. Nothing here depends on a hash map's order or on a
//! clock: the same calls give the same actions.
//!
//! # Layers
//!
//! A file needs those of its row and of the rows above it.
//!
//! | Layer | Contents |
//! |---|---|
//! | [`collective`], [`time`] | what a collective does and by which algorithm; times, fixed and drawn |
//! | [`graph`], [`placement`], [`nccl`] | nodes and dependencies; ranks on hosts; NCCL's choice of algorithm and protocol |
//! | [`schedule`] | the messages of a collective, by algorithm |
//! | `matching`, [`check`] | partners of sends, receives and collectives; whether a graph can end |
//! | [`executor`] | the state machine |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod check;
pub mod collective;
pub mod executor;
pub mod graph;
mod matching;
pub mod nccl;
pub mod placement;
pub mod schedule;
pub mod time;

pub use collective::{Algorithm, Collective, Kind, Level};
pub use executor::{Action, Executor, Local, MessageId, Record, Settings};
pub use graph::{Graph, GraphBuilder, GraphError, GroupId, NodeId, Rank, Work};
pub use time::Time;
