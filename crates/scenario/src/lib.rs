//! Scenario files: TOML in, a typed and validated [`Plan`] out.
//!
//! A scenario is one experiment: a scheme, a topology, traffic, what happens to links, what is recorded. Its keys are
//! declared once, in `sections.rs`; the reader, the resolved scenario, the [`schema()`] and the [`reference()`] all
//! come from there. Who holds a [`Plan`] need not check anything again.
//!
//! ```text
//! text --tree.rs--> values with line numbers --read.rs--> records --topology, routing, traffic, assemble--> Plan
//!                                              ^                                                  fair.rs --^
//!                                     sections.rs, units.rs
//! ```

mod assemble;
mod clocks;
mod error;
mod fair;
mod groups;
mod keys;
pub mod limits;
mod names;
mod pfc;
pub mod plan;
mod read;
mod routing;
mod scenario;
mod schema;
mod schemes;
mod sections;
mod sizes;
mod topology;
mod traffic;
mod tree;
pub mod units;
mod windows;
mod write;

pub use error::ScenarioError;
pub use pfc::headroom_needed;
pub use plan::{Assigned, FairPeriod, Plan, Record, Window};
pub use scenario::{Choice, Scenario};
pub use schema::{reference, schema};
