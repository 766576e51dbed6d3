//! Models of switches: what a switch can do, chosen when it is compiled. A hop does not pay for what its model lacks.

use core::fmt::Debug;

/// What a switch can do.
pub trait Model: Debug + Send + Sync + 'static {
    /// All of it: priority flow control, trimming, marks by the port and at departure, shared memory, line capture, histograms.
    const FULL: bool;
    /// Of all that, shared memory alone.
    const SHARED: bool;
}

/// Queues that drop and mark.
#[derive(Debug)]
pub enum Lean {}

/// Queues that share memory besides: [`Full`] takes it for ports that need no more.
#[derive(Debug)]
pub enum Shared {}

/// Everything.
#[derive(Debug)]
pub enum Full {}

impl Model for Lean {
    const FULL: bool = false;
    const SHARED: bool = false;
}

impl Model for Shared {
    const FULL: bool = false;
    const SHARED: bool = true;
}

impl Model for Full {
    const FULL: bool = true;
    const SHARED: bool = false;
}
