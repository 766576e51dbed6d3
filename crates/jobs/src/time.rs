//! Times of computations: fixed, or drawn at each execution.

/// The time of a computation, in picoseconds.
///
/// A drawn time depends on the seed, the node and the iteration alone: it is the same under every scheme of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Always the same.
    Fixed(u64),
    /// Each value from `low_ps` to `high_ps` with the same probability.
    Uniform {
        /// The smallest.
        low_ps: u64,
        /// The largest.
        high_ps: u64,
    },
    /// `low_ps` and an exponentially distributed time of mean `mean_ps`.
    Exponential {
        /// The smallest.
        low_ps: u64,
        /// The mean of what is added.
        mean_ps: u64,
    },
    /// `usual_ps`, but `slow_ps` in one of `one_in` cases: a straggler. `one_in` of 0 is never.
    Straggler {
        /// The time of the others.
        usual_ps: u64,
        /// The time of a straggler.
        slow_ps: u64,
        /// One in this number is slow.
        one_in: u32,
    },
}
