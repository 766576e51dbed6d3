//! A base value, spread uniformly by a fraction: QCN's ±15 % on sampling intervals and cycles.

/// How far values spread: a fraction in [0, 1) with 16 fraction bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread(u32);

impl Spread {
    /// No spread.
    pub const NONE: Self = Self(0);

    /// The fraction `x` (0.15 for ±15 %), rounded to 2^-16.
    #[must_use]
    pub fn new(x: f64) -> Self {
        Self((x * 65_536.0 + 0.5) as u32)
    }

    /// `base` × U[1 − x, 1 + x), rounded down; `word` is the uniform random word.
    #[must_use]
    pub fn apply(self, base: u64, word: u32) -> u64 {
        let span = u128::from(base) * u128::from(self.0) * 2;
        let low = u128::from(base) * u128::from((1 << 16) - self.0);
        ((low + ((span * u128::from(word)) >> 32)) >> 16) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_the_middle() {
        let spread = Spread::new(0.15); // 9830 / 65536 = 0.149993...
        assert_eq!(spread.apply(150_000, 0), 127_500); // 150 000 × 55 706 / 65 536 = 127 500.9
        assert_eq!(spread.apply(150_000, 1 << 31), 150_000);
        assert_eq!(spread.apply(150_000, u32::MAX), 172_499);
        assert_eq!(Spread::NONE.apply(150_000, 12_345), 150_000);
    }
}
