//! The hash of names from which draws follow: of paths, clocks, starts and sizes.

use penstock_sim::random::mix;

/// FNV-1a over both texts, its bits mixed once more so that names that differ in their last digit spread well.
pub(crate) fn hash(first: &[u8], second: &[u8]) -> u64 {
    let octets = first.iter().chain(&[0]).chain(second);
    mix(octets.fold(0xcbf2_9ce4_8422_2325_u64, |x, b| (x ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)))
}
