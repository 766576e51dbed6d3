//! DCQCN's alpha: the estimate of how often notifications come.

/// Alpha with 30 fraction bits: an estimate in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alpha(pub(super) u32);

impl Alpha {
    pub(super) const ONE: u32 = 1 << 30;

    /// A share of intervals, rounded.
    pub(super) fn of(share: f64) -> Self {
        Self((share * f64::from(Self::ONE) + 0.5) as u32)
    }

    /// (1 - g) alpha, with `g_inverse` for 1/g.
    pub(super) fn fall(&mut self, g_inverse: u32) {
        self.0 -= self.0 / g_inverse;
    }

    /// (1 - g) alpha + g. Never beyond 1, for the part that falls away grows with alpha.
    pub(super) fn rise(&mut self, g_inverse: u32) {
        self.fall(g_inverse);
        self.0 += Self::ONE / g_inverse;
    }

    /// `rate` × alpha / 2, rounded down.
    pub(super) fn half_of(self, rate: u64) -> u64 {
        ((u128::from(rate) * u128::from(self.0)) >> 31) as u64
    }
}
