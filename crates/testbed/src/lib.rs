//! The testbed: a switch and network interfaces on Linux, made of the schemes' own state machines and of real frames.
//!
//! ```text
//!  netns of a host          process of its interface           process of the switch
//!  application -- TAP ====> classify, reaction point, tags ==> veth ==> learn, queue, congestion point ==> veth ==> …
//!                                     ^                                          |
//!                                     +------------- CNM, BCN, probe, … <--------+
//! ```
//!
//! - [`frame`], [`scheme_frames`]: tags and signals as octets
//! - [`bridge`], [`learning`]: the switch (`penstock_switch`, with real frames), without input or output
//! - [`interface`], [`host_queue`]: a host's network interface, without input or output
//! - [`addressing`]: addresses of nodes and ports of flows
//! - [`pause`]: pause frames, and the stops of a host
//! - [`lateness`]: how late a process was
//! - [`device`], [`node`], [`clock`], [`agenda`]: a process of the testbed; [`record`], [`statistics`]: its records
//! - [`layout`], [`collect`]: before and after a run

pub mod addressing;
pub mod agenda;
pub mod bridge;
pub mod clock;
pub mod collect;
pub mod device;
mod error;
pub mod frame;
pub mod host_queue;
pub mod interface;
pub mod lateness;
pub mod layout;
pub mod learning;
pub mod node;
pub mod pause;
pub mod progress;
pub mod record;
pub mod scheme_frames;
pub mod statistics;

pub use error::TestbedError;
