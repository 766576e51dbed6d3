//! Schemes of shared libraries, as `include/penstock_scheme.h` describes them.
//!
//! ```text
//!   ./libmine.so --load--> description (C) --read--> Definition (schemes::foreign) --> Foreign in the engine
//! ```
//!
//! This is the one crate with unsafe code: it loads a library, and reads the description that it returns, once. Where a signal ends the
//! process, it says which function ran. From then on the engine
//! calls its functions through a table of safe types. A library is trusted as any program is that one starts: it can do what its user can.
//!
//! In a browser, which has no libraries, [`define`] is all of it.
#![deny(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "the time of a file says whether it was written again")]

#[cfg(not(target_family = "wasm"))]
mod crash;
pub mod define;
#[cfg(not(target_family = "wasm"))]
mod library;
#[cfg(not(target_family = "wasm"))]
mod read;

#[cfg(not(target_family = "wasm"))]
pub use library::{SYMBOL, is_library, load};
