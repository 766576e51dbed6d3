//! Scenario files: TOML in, a typed and validated [`Plan`] out.
//!
//! A scenario is one experiment: a scheme, a topology, traffic, changes of links, settings of the recording. Three layers make a plan of it,
//! each of which knows only those before it:
//!
//! ```text
//! text -- keys --> Experiment -- resolve --> Resolved -- plan --> Plan
//!      what may be written      every default      network, flows, routes, shares
//! ```
//!
//! - `keys`: each table is a struct whose fields are its keys, declared once; the reader, the resolved scenario, the [`schema()`] and the
//!   [`reference()`] all follow from that. A value knows its location in the file, so that an error about it names line and key. The
//!   file of a topology or of a distribution also says what its keys stand for.
//! - `resolve`: the same with every default filled in.
//! - `plan`: what the engine runs. The holder of a [`Plan`] need not check anything again.

pub mod catalogue;
pub mod declared;
pub mod description;
mod error;
pub mod foreign;
mod hash;
mod keys;
pub mod limits;
pub mod names;
pub mod plan;
mod resolve;
mod scenario;

pub use error::ScenarioError;
pub use keys::schema::{reference, schema};
pub use plan::buffer::Stopping;
pub use plan::fair::FairShares;
pub use plan::generated_flows::{GeneratedFlow, GeneratedFlows};
pub use plan::jobs::Job;
pub use plan::outside_work::{Event, MOST_OCTETS, Outside};
pub use plan::{
    Application, Assigned, CodePoints, FairPeriod, ParameterChange, Plan, Record, Sampled, Testbed, Window,
};
pub use resolve::Choice;
pub use scenario::Scenario;
