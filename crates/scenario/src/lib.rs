//! Scenario files: TOML in, a typed and validated [`Plan`] out.
//!
//! A scenario is one experiment: a scheme, a topology, traffic, changes of links, settings of the recording. Each table
//! of it is a struct whose fields are its keys, declared once, in `sections.rs`, `topology/` and `sizes.rs`; the
//! reader, the resolved scenario, the [`schema()`] and the [`reference()`] all come from there. A value knows its location
//! in the file, so that an error about it names line and key; the file's name joins it where [`Scenario`] hands it out.
//! The holder of a [`Plan`] need not check anything again.
//!
//! ```text
//! text --tree.rs--> values with line numbers --read.rs--> sections --topology, routing, traffic, assemble--> Plan
//!                                              ^                                                    fair.rs --^
//!                          declare.rs, fields.rs
//! ```

mod assemble;
mod buffer;
pub mod catalogue;
mod clocks;
mod convergence;
mod declare;
pub mod description;
mod error;
mod fair;
mod fields;
mod groups;
mod keys;
pub mod limits;
mod loads;
mod made;
pub mod names;
mod pfc;
pub mod plan;
mod read;
mod recording;
mod retune;
mod round_trip;
mod routing;
mod scenario;
mod schema;
mod schemes;
mod sections;
mod sizes;
mod spread;
mod topology;
mod trace;
mod traffic;
mod traps;
mod tree;
mod windows;
mod write;

pub use buffer::Stopping;
pub use error::ScenarioError;
pub use fair::FairShares;
pub use made::{Made, MadeFlow};
pub use plan::{Application, Assigned, FairPeriod, ParameterChange, Plan, Record, Sampled, Testbed, Window};
pub use scenario::{Choice, Scenario};
pub use schema::{reference, schema};
