//! A gain as hardware has it: a mantissa of 18 bits and a shift, so that a change of rate is one multiplication.
//!
//! 18 bits are the width of the multipliers of FPGAs; the error of rounding the mantissa is at most 2^-18 of the gain.

/// Bits of the mantissa.
pub const MANTISSA_BITS: u32 = 18;

/// A gain in bit/s per octet: `mantissa × 2^shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gain {
    mantissa: u32,
    shift: i8,
}

impl Gain {
    /// The gain that makes `rate` bit/s (up to 2^46) of `octets` (1 to 2^46): the mantissa's highest bit is 1, its lowest
    /// is rounded to the nearest, halves up.
    #[must_use]
    pub fn new(rate: u64, octets: u64) -> Self {
        let (rate, octets) = (u128::from(rate), u128::from(octets));
        let rounded = |shift: i8| {
            let (up, down) = (shift.min(0).unsigned_abs(), shift.max(0).unsigned_abs());
            ((rate << up) * 2 + (octets << down)) / ((octets << down) * 2)
        };
        // The least gain, 2^-46, needs this shift.
        let mut shift: i8 = -64;
        while rounded(shift) >> MANTISSA_BITS != 0 {
            shift += 1;
        }
        Self { mantissa: rounded(shift) as u32, shift }
    }

    /// The mantissa, below 2^18.
    #[must_use]
    pub const fn mantissa(self) -> u32 {
        self.mantissa
    }

    /// The power of 2 that the mantissa is multiplied by, −63 to 29.
    #[must_use]
    pub const fn shift(self) -> i8 {
        self.shift
    }

    /// The gain times `octets`, bit/s, rounded down; at most 2^63 − 1.
    #[must_use]
    pub fn times(self, octets: u32) -> u64 {
        let product = u64::from(self.mantissa) * u64::from(octets);
        if self.shift <= 0 {
            product.checked_shr(u32::from(self.shift.unsigned_abs())).unwrap_or(0)
        } else {
            (u128::from(product) << self.shift).min(i64::MAX as u128) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_papers_gain_is_exact() {
        // 256 Mb/s at 64 000 octets are 4000 bit/s an octet: 256 000 × 2^-6, and 256 000 < 2^18 <= 512 000.
        let gain = Gain::new(256_000_000, 64_000);
        assert_eq!(gain, Gain { mantissa: 256_000, shift: -6 });
        assert_eq!((gain.mantissa(), gain.shift()), (256_000, -6));
        assert_eq!(gain.times(64_000), 256_000_000);
        assert_eq!(gain.times(1), 4000);
        assert_eq!(gain.times(0), 0);
    }

    #[test]
    fn others_are_rounded() {
        // 2.56 Gb/s at 24 000 octets are 106 666.67 bit/s an octet: 213 333.33 × 2^-1.
        let gain = Gain::new(2_560_000_000, 24_000);
        assert_eq!(gain, Gain { mantissa: 213_333, shift: -1 });
        assert_eq!(gain.times(24_000), 2_559_996_000);
        assert_eq!(gain.times(1), 106_666, "106 666.5, rounded down");
        // 1 kb/s at 3 octets are 333.33 bit/s an octet: 170 666.67 × 2^-9, rounded up.
        assert_eq!(Gain::new(1000, 3), Gain { mantissa: 170_667, shift: -9 });
    }

    #[test]
    fn large_gains_shift_left_and_saturate() {
        // 1 Tb/s at 64 octets are 15 625 000 000 bit/s an octet: 238 418.58 × 2^16.
        let gain = Gain::new(1_000_000_000_000, 64);
        assert_eq!(gain, Gain { mantissa: 238_419, shift: 16 });
        assert_eq!(gain.times(64), 1_000_001_765_376); // 238 419 × 64 × 65 536
        assert_eq!(gain.times(u32::MAX), i64::MAX as u64);
    }

    proptest! {
        #[test]
        fn a_gain_is_within_its_rounding(rate in 1_000u64..1_000_000_000_001, octets in 64u64..1_000_000_001, x in 0u32..200_000) {
            let gain = Gain::new(rate, octets);
            prop_assert!(gain.mantissa >> MANTISSA_BITS == 0 && gain.mantissa >> (MANTISSA_BITS - 1) == 1);
            let exact = u128::from(rate) * u128::from(x) / u128::from(octets);
            prop_assert!(u128::from(gain.times(x)).abs_diff(exact) <= (exact >> (MANTISSA_BITS - 1)) + 1);
            prop_assert!(gain.times(x) <= gain.times(x + 1));
        }
    }
}
