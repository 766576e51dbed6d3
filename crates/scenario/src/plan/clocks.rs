//! How far the clocks of nodes are off, and the rates of their links with them.

use penstock_schemes::BitRate;
use penstock_sim::network::FASTEST;

use crate::hash::hash;
use crate::keys::fields::Tolerance;

/// The deviation of each node's clock, in parts per billion.
#[derive(Debug)]
pub(crate) struct Clocks(Vec<i64>);

impl Clocks {
    /// Draws them, each from -`tolerance` to `tolerance` with equal likelihood. A draw depends on the seed and the
    /// node's name alone.
    pub(crate) fn draw<'a>(Tolerance(tolerance): Tolerance, seed: u64, names: impl Iterator<Item = &'a str>) -> Self {
        let salt = [&seed.to_le_bytes()[..], b"clock"].concat();
        let steps = 2 * u128::from(tolerance) + 1;
        let deviation = |name: &str| {
            let word = hash(name.as_bytes(), &salt);
            ((u128::from(word) * steps) >> 64) as i64 - tolerance as i64
        };
        Self(names.map(deviation).collect())
    }

    /// The rate at which `node` sends on a link of `rate`.
    pub(crate) fn rate(&self, node: usize, rate: BitRate) -> BitRate {
        let deviation = i128::from(rate.0) * i128::from(self.0[node]) / 1_000_000_000;
        let rate = (i128::from(rate.0) + deviation).clamp(1, i128::from(FASTEST.0));
        BitRate(rate as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_stay_within_their_tolerance_and_use_all_of_it() {
        let names: Vec<String> = (0..10_000).map(|i| format!("h{i}")).collect();
        let clocks = Clocks::draw(Tolerance(100_000), 1, names.iter().map(String::as_str));
        let (least, most) = (clocks.0.iter().min().unwrap(), clocks.0.iter().max().unwrap());
        assert!((-100_000..-99_900).contains(least) && (99_900..=100_000).contains(most), "{least} {most}");
        // The mean of 10 000 draws: its deviation is 57 735 / 100 ppb; five of them.
        let mean = clocks.0.iter().sum::<i64>() / 10_000;
        assert!(mean.abs() < 2900, "{mean}");
        assert_ne!(clocks.0, Clocks::draw(Tolerance(100_000), 2, names.iter().map(String::as_str)).0);
    }

    #[test]
    fn a_rate_deviates_as_its_clock_does() {
        let clocks = Clocks(vec![100_000, -100_000, 0]);
        assert_eq!(clocks.rate(0, BitRate(10_000_000_000)), BitRate(10_001_000_000));
        assert_eq!(clocks.rate(1, BitRate(10_000_000_000)), BitRate(9_999_000_000));
        assert_eq!(clocks.rate(2, BitRate(10_000_000_000)), BitRate(10_000_000_000));
        assert_eq!((clocks.rate(0, FASTEST), clocks.rate(1, BitRate(1))), (FASTEST, BitRate(1)));
    }
}
