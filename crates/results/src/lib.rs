//! The result of a run, as it is made: wherever a plan is simulated, its numbers come from here.
//!
//! ```text
//!   Plan --> Course: when to measure        --slices-->  Sim<S, P>  --probe calls-->  Sampler: the numbers of a row
//!                |                                                                            |
//!                +--- Outcome, windows, settling times --> Summary                   a sink of the caller's
//! ```
//!
//! The caller brings the sink of the rows and the clock on the wall: the runner has Arrow tables and folders, the browser
//! columns in memory. So both give the same numbers for the same plan.

mod actions;
pub mod completions;
mod costs;
mod fair;
mod ideal;
pub mod jobs;
mod notes;
pub mod paths;
mod queues;
pub mod registry;
mod sampler;
mod schedule;
mod schema;
mod settling;
pub mod summary;
mod switches;

pub use actions::Actions;
pub use sampler::{FlowSample, QueueSample, Sampler};
pub use schedule::{Course, Simulation};
pub use schema::{Key, Object, Shape};
pub use summary::{OBJECTS, Summary};
