//! Random choices, the same for the same seed and input.

use penstock_sim::random::mix;

/// A stream of random words (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of an input.
    pub(crate) fn new(seed: u64, input: u64) -> Self {
        let mut stream = Self(seed);
        let word = stream.word();
        Self(word ^ input.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Less than `n`, which is not zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + ((u128::from(self.word()) * (u128::from(high - low) + 1)) >> 64) as u64
    }

    /// True once in `n`.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// Somewhere from `low` to `high`, each power of two equally likely.
    pub(crate) fn scale(&mut self, low: u64, high: u64) -> u64 {
        let bits = |x: u64| u64::from(u64::BITS - x.leading_zeros());
        let width = self.between(bits(low), bits(high)) as u32;
        let top = if width == 0 { 0 } else { 1 << (width - 1) };
        self.between(top, top.saturating_mul(2).saturating_sub(1).max(top)).clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_keep_to_their_bounds() {
        let words = |seed, input| {
            (0..4).map(|_| 0).scan(Random::new(seed, input), |r, _: i32| Some(r.word())).collect::<Vec<_>>()
        };
        assert_eq!(words(1, 2), words(1, 2));
        assert_ne!(words(1, 2), words(1, 3));
        assert_ne!(words(1, 2), words(2, 2));
        let mut random = Random::new(7, 0);
        for _ in 0..10_000 {
            assert!(random.below(3) < 3);
            assert!((5..=9).contains(&random.between(5, 9)));
            assert!((0..=1000).contains(&random.scale(0, 1000)));
            assert!((1..=u64::MAX).contains(&random.scale(1, u64::MAX)));
        }
    }
}
