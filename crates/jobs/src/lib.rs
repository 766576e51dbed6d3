//! Jobs: the work of a parallel program on a network, as a state machine without input or output.
//!
//! A [`Graph`] has nodes of ranks: computations, sends, receives and collectives, with dependencies. An [`Executor`]
//! runs it by completions. Its caller, as the simulator, sends the messages that it is given and reports when their
//! last octet has arrived. It wakes the executor when that asked for it.
//!
//! ```text
//!   Graph (nodes, groups, collectives) --check--> Executor --Action::Send--> network
//!                                                    ^  next_wake_ps            |
//!                                                    +---- wake, delivered -----+
//! ```
//!
//! All times are picoseconds (`*_ps`), all sizes octets, all rates bits per second. Nothing here depends on a hash
//! map's order or on a clock: the same calls give the same actions.
//!
//! # Layers
//!
//! A file needs those of its row and of the rows above it.
//!
//! | Layer | Contents |
//! |---|---|
//! | [`collective`], [`time`] | what a collective does and by which algorithm; times, fixed and drawn |
//! | [`graph`], [`placement`], [`nccl`] | nodes and dependencies; ranks on hosts; NCCL's choice by its cost model |
//! | [`schedule`] | the messages of a collective, by algorithm |
//! | `matching`, [`check`] | partners of sends, receives and collectives; whether a graph can end |
//! | [`executor`], `expand` | the state machine; graphs whose collectives are written out |
//! | [`read`], [`mod@write`] | files of others to graphs, and graphs to files of others |

//!
//! # Example
//!
//! Four ranks compute for 1 us and sum up 4 MB around a ring, on a network where each message takes 2 us.
//!
//! ```
//! use penstock_jobs::{Action, Algorithm, Collective, Executor, GraphBuilder, Kind, Settings, Time, Work};
//!
//! let mut graph = GraphBuilder::new(4);
//! let group = graph.add_group(vec![0, 1, 2, 3]);
//! let collective = graph.collective(Collective::new(Kind::AllReduce, 4_000_000, Algorithm::Ring));
//! for rank in 0..4 {
//!     let forward = graph.add_node(rank, Work::Compute { time: Time::Fixed(1_000_000), unit: 0 }, "forward");
//!     let sum = graph.add_node(rank, Work::Collective { group, collective }, "sum");
//!     graph.after(sum, forward);
//! }
//! let mut job = Executor::new(graph.finish()?, Settings::default())?;
//!
//! let mut actions = Vec::new();
//! let mut under_way = std::collections::VecDeque::new();
//! let mut now_ps = 0;
//! job.start(now_ps, &mut actions);
//! while !job.is_done() {
//!     for action in actions.drain(..) {
//!         if let Action::Send { message, octets, .. } = action {
//!             assert_eq!(octets, 1_000_000);
//!             under_way.push_back((now_ps + 2_000_000, message));
//!         }
//!     }
//!     if let Some((at_ps, message)) = under_way.pop_front() {
//!         now_ps = at_ps;
//!         job.delivered(message, now_ps, &mut actions);
//!         // The sender hears of it at once.
//!         job.acknowledged(message, now_ps, &mut actions);
//!     } else {
//!         now_ps = job.next_wake_ps().expect("a job that is not done waits for a message or for a time");
//!         job.wake(now_ps, &mut actions);
//!     }
//! }
//! // The computation, and 2 (4 - 1) steps.
//! assert_eq!(now_ps, 1_000_000 + 6 * 2_000_000);
//! # Ok::<(), penstock_jobs::GraphError>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod check;
pub mod collective;
pub mod executor;
mod expand;
pub mod graph;
mod matching;
pub mod nccl;
pub mod placement;
pub mod read;
pub mod schedule;
pub mod time;
pub mod write;

pub use collective::{Algorithm, Collective, Kind, Level};
pub use executor::{Action, Executor, Local, MessageId, Record, Settings};
pub use graph::{Graph, GraphBuilder, GraphError, GroupId, NodeId, Rank, Work};
pub use time::Time;
