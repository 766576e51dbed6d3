//! The cores as Rust types, for tests that hold them to the Rust state machines clock by clock.
//!
//! Each build in a `core.toml` is a module here. The structures `In` and `Out` have a field for each port. `Core::clock` returns
//! the outputs under given inputs, and then applies the clock's edge.

pub mod axil;
pub mod bits;
pub mod bucket;
pub mod dcqcn;
pub mod flow_control;
pub mod messages;
pub mod reaction_point;
pub mod recorded;
pub mod stream;
pub mod vectors;
// Linked for its C++.
use penstock_cosim_runtime as _;

include!(concat!(env!("OUT_DIR"), "/cores.rs"));

/// A core of any build, for benches that several builds share. (Each `Core` says the same by itself.)
pub trait Clocked {
    /// The inputs at its ports for a clock.
    type In;
    /// The outputs at its ports in a clock.
    type Out;
    /// A core that has not been reset.
    fn new(seed: u64) -> Self;
    /// One clock: gives the outputs under these inputs, then comes the edge.
    fn clock(&mut self, input: &Self::In) -> Self::Out;
    /// As many clocks with the same inputs, but none from the first on in which a random word is drawn. Gives their
    /// number, and the outputs of the clock that comes next.
    fn run(&mut self, input: &Self::In, clocks: u64) -> (u64, Self::Out);
}

/// How many operations a lock step has at least, from `PENSTOCK_OPERATIONS`; 0 without it, and it ends where it does.
///
/// # Panics
///
/// If that is not a number.
#[must_use]
pub fn operations() -> u64 {
    std::env::var("PENSTOCK_OPERATIONS").map_or(0, |said| said.parse().expect("PENSTOCK_OPERATIONS is a number"))
}

/// As many clocks, or [`operations`] if these are more.
#[must_use]
pub fn at_least(clocks: u64) -> u64 {
    clocks.max(operations())
}

/// Random words for tests: SplitMix64, so that a seed says which run it was.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "an iterator would wrap each word, for there is no last one")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
