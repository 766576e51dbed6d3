//! The schemes, and the calculators of their hardware, for C: events in, decisions out.
//!
//! `include/penstock.h` describes each function, as a caller reads it; this crate is what is behind them.
//!
//! ```text
//!   penstock_scheme   a name and parameters, read once
//!        |
//!        +-- penstock_rp, penstock_cp, penstock_np      the three points, behind one table of functions whatever the scheme
//!   penstock_rate_calculator, penstock_sampler, ...     parts of them, as a core in hardware has them
//! ```
//!
//! # What holds at the border
//!
//! - All memory is allocated in `create` and `configure`.
//! - No panic leaves a function: where there is one, the program ends. Arguments of callers lead to none; null handles and
//!   null pointers are answered with a status, or with nothing.
//! - Time that goes back is taken as the latest time before.
//! - No floating point after creation where the scheme's state is integer ([`Info::integer_state`](penstock_schemes::Info)).
//! - A handle belongs to one thread at a time. Handles share nothing.
//!
//! Unsafe code is what the border needs: pointers of the caller become references, handles boxes.
#![cfg_attr(not(feature = "std"), no_std)]
#![allow(unsafe_code, reason = "pointers of callers in C")]

extern crate alloc;

mod abi;
mod calculators;
mod create;
#[cfg(not(feature = "std"))]
mod freestanding;
mod handles;
mod points;

pub use abi::{Ack, Allowance, Echo, Frame, Host, Label, Message, Place, Queue, Release, Signal, Status, VERSION};
pub use calculators::*;
pub use create::*;
pub use handles::*;
