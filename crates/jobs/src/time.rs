//! Times of computations: fixed, or drawn at each execution.

/// The time of a computation, in picoseconds.
///
/// A drawn time depends on the seed, the node and the iteration alone: it is the same under every scheme of the
/// network.
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

impl Time {
    /// The time of a node in an iteration, in picoseconds.
    #[must_use]
    pub fn draw_ps(self, seed: u64, node: u32, iteration: u32) -> u64 {
        let word = || mix(seed ^ mix(u64::from(iteration) << 32 | u64::from(node)));
        match self {
            Self::Fixed(ps) => ps,
            Self::Uniform { low_ps, high_ps } => {
                let width = u128::from(high_ps - low_ps) + 1;
                low_ps + ((u128::from(word()) * width) >> 64) as u64
            }
            Self::Exponential { low_ps, mean_ps } => {
                // In (0, 1].
                let uniform = ((word() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                low_ps.saturating_add((-ln(uniform) * mean_ps as f64) as u64)
            }
            Self::Straggler { usual_ps, slow_ps, one_in } => {
                let slow = one_in > 0 && (u128::from(word()) * u128::from(one_in)) >> 64 == 0;
                if slow { slow_ps } else { usual_ps }
            }
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014) after one step: neighbouring words become
/// independent.
#[must_use]
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The natural logarithm of a normal number above 0, by sums and products alone: it has the same bits on every machine.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    // In [1, 2): ln m = 2 (z + z^3 / 3 + ...) with z = (m - 1) / (m + 1) below 1/3.
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let mut sum = 0.0;
    for power in (0..18).rev() {
        sum = sum * z * z + 1.0 / f64::from(2 * power + 1);
    }
    exponent as f64 * core::f64::consts::LN_2 + 2.0 * z * sum
}
