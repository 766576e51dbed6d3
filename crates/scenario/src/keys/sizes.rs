//! Sizes of flows: given, or drawn from a distribution.
//!
//! A flow draws once, by inversion of the distribution function. Its draw depends on the seed and on its name alone, so
//! that another flow in the scenario changes nothing; `libm` gives the same logarithms and powers on every machine.

use std::ops::RangeInclusive;

use penstock_schemes::Octets;

use crate::error::Fault;
use crate::hash::hash;
use crate::keys::declare::{one_of, section};
use crate::keys::fields::{Either, Field, word};
use crate::keys::key::Kind;
use crate::keys::location::Location;
use crate::keys::read::Entry;
use crate::keys::tree::Node;
use crate::keys::write::{Written, quoted};

/// Where the sizes of a table's flows come from, octets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sizes {
    /// All the same.
    Fixed(u64),
    /// Every size from the first to the second equally likely.
    Uniform(u64, u64),
    /// With this mean.
    Exponential(u64),
    /// The bounded Pareto distribution: density proportional to size^(-shape - 1) between the bounds.
    Pareto { shape: f64, minimum: u64, maximum: u64 },
    /// The logarithm is normally distributed with the deviation sigma about that of the median, between the bounds: sizes beyond are not drawn.
    Lognormal { median: f64, sigma: f64, minimum: u64, maximum: u64 },
    /// Points of the distribution function, sizes and shares rising, the last share 1; straight lines between them.
    Points(Vec<(u64, f64)>),
}

/// The size of a flow.
pub(crate) const SIZE: RangeInclusive<Octets> = Octets(1)..=Octets(1 << 50);

one_of! {
    pub(crate) enum Distribution: dyn Drawn, "distribution" {
        "uniform" = Uniform(Uniform),
        "exponential" = Exponential(Exponential),
        "pareto" = Pareto(Pareto),
        "lognormal" = Lognormal(Lognormal),
        "points" = Points(Vec<Point>),
        "workload" = Workload(Workload),
    }
}

section! {
    pub(crate) struct Uniform {
        /// The smallest size.
        minimum: Octets [SIZE];
        /// The largest.
        maximum: Octets [SIZE];
    }
}

section! {
    pub(crate) struct Exponential {
        /// The mean.
        mean: Octets [SIZE];
    }
}

section! {
    pub(crate) struct Pareto {
        /// The exponent of the tail.
        shape: f64 [0.01..=100.0];
        /// The smallest size.
        minimum: Octets [SIZE];
        /// The largest.
        maximum: Octets [SIZE];
    }
}

section! {
    pub(crate) struct Lognormal {
        /// Half of the sizes are smaller, before those beyond the bounds are left out.
        median: Octets [SIZE];
        /// Deviation of the natural logarithm: 0.68 of the sizes lie between median / e^sigma and median × e^sigma.
        sigma: f64 [0.001..=10.0];
        /// The smallest size.
        minimum: Octets [SIZE] = Octets(1);
        /// The largest.
        maximum: Octets [SIZE] = *SIZE.end();
    }
}

section! {
    pub(crate) struct Point {
        /// A size.
        size: Octets [SIZE];
        /// The share of flows that are no larger.
        share: f64 [0.0..=1.0];
    }
}

/// A distribution that was measured, and that papers of the field use: its name, and the text of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workload(&'static str, &'static str);

include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

impl Field for Workload {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Word(WORKLOADS.iter().map(|(name, _)| *name).collect())
    }

    fn read((): &(), node: &Node, place: Location<'_>) -> Result<Self, Fault> {
        word(WORKLOADS, node, place)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(quoted(self.0)))
    }
}

impl Drawn for Workload {
    fn sizes(&self) -> Result<Sizes, Fault> {
        let lines = self.1.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let point = |line: &str| {
            let (size, percent) = line.split_once(' ').expect("a line has a size and a share");
            let number = |text: &str| text.trim().parse::<f64>().expect("sizes and shares are numbers");
            (number(size) as u64, number(percent) / 100.0)
        };
        Ok(Sizes::Points(lines.map(point).collect()))
    }
}

/// A distribution as a file gives it.
pub(crate) trait Drawn {
    /// The sizes, if the keys agree with one another.
    fn sizes(&self) -> Result<Sizes, Fault>;
}

impl Drawn for Uniform {
    fn sizes(&self) -> Result<Sizes, Fault> {
        let (minimum, maximum) = bounds(&self.minimum, &self.maximum)?;
        Ok(Sizes::Uniform(minimum, maximum))
    }
}

impl Drawn for Exponential {
    fn sizes(&self) -> Result<Sizes, Fault> {
        Ok(Sizes::Exponential(self.mean.0))
    }
}

impl Drawn for Pareto {
    fn sizes(&self) -> Result<Sizes, Fault> {
        let (minimum, maximum) = bounds(&self.minimum, &self.maximum)?;
        Ok(Sizes::Pareto { shape: *self.shape, minimum, maximum })
    }
}

impl Drawn for Lognormal {
    fn sizes(&self) -> Result<Sizes, Fault> {
        let (minimum, maximum) = bounds(&self.minimum, &self.maximum)?;
        if !(minimum..=maximum).contains(&self.median.0) {
            let message = format!("not between the bounds of {} and {}", *self.minimum, *self.maximum);
            return Err(self.median.fault(message).with_hint("a minimum below it and a maximum above it"));
        }
        Ok(Sizes::Lognormal { median: self.median.0 as f64, sigma: *self.sigma, minimum, maximum })
    }
}

fn bounds(minimum: &Entry<Octets>, maximum: &Entry<Octets>) -> Result<(u64, u64), Fault> {
    if **minimum < **maximum {
        return Ok((minimum.0, maximum.0));
    }
    let message = format!("not above the minimum of {}", **minimum);
    Err(maximum.fault(message).with_hint("for a single size, write it alone"))
}

impl Drawn for Vec<Point> {
    fn sizes(&self) -> Result<Sizes, Fault> {
        let mut points: Vec<(u64, f64)> = Vec::with_capacity(self.len());
        for Point { size, share } in self {
            if let Some(&(last_size, last_share)) = points.last() {
                if size.0 <= last_size {
                    let message = format!("not above the {} before it", Octets(last_size));
                    return Err(size.fault(message).with_hint("list the points in rising order"));
                }
                if **share <= last_share {
                    let message = format!("{} is not above the {last_share} before it", **share);
                    let hint = "the share of a point is that of all flows that are no larger";
                    return Err(share.fault(message).with_hint(hint));
                }
            }
            points.push((size.0, **share));
        }
        match self.last() {
            Some(last) if *last.share < 1.0 => {
                let message = format!("the last share is {}: some flows would have no size", *last.share);
                Err(last.share.fault(message).with_hint("no flow is larger than the last point: 1.0"))
            }
            _ => Ok(Sizes::Points(points)),
        }
    }
}

impl Sizes {
    /// The sizes that the key `size` of a flow's table gives.
    pub(crate) fn read(size: &Either<Octets, Distribution>) -> Result<Self, Fault> {
        match size {
            Either::First(size) => Ok(Self::Fixed(size.0)),
            Either::Second(distribution @ Distribution::Points(points)) if points.is_empty() => {
                Err(distribution.fault("no points").with_hint("at least { size = \"1 MB\", share = 1.0 }"))
            }
            Either::Second(distribution) => distribution.given().sizes(),
        }
    }

    /// The size of the flow called `name`.
    pub(crate) fn of(&self, seed: u64, name: &str) -> Octets {
        self.draw(hash(name.as_bytes(), &seed.to_le_bytes()))
    }

    /// The size that a random word stands for.
    pub(crate) fn draw(&self, word: u64) -> Octets {
        Octets(self.invert(word).max(1))
    }

    /// Its mean, octets.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => *size as f64,
            Self::Uniform(minimum, maximum) => (*minimum as f64 + *maximum as f64) / 2.0,
            Self::Exponential(mean) => *mean as f64,
            Self::Pareto { shape, minimum, maximum } => {
                let (low, high, a) = (*minimum as f64, *maximum as f64, *shape);
                let norm = a * libm::pow(low, a) / (1.0 - libm::pow(low / high, a));
                if (a - 1.0).abs() < 1e-9 {
                    norm * libm::log(high / low)
                } else {
                    norm * (libm::pow(high, 1.0 - a) - libm::pow(low, 1.0 - a)) / (1.0 - a)
                }
            }
            Self::Lognormal { median, sigma, minimum, maximum } => {
                let [low, high] = [*minimum, *maximum].map(|bound| libm::log(bound as f64 / median) / sigma);
                let inside = normal_share(high) - normal_share(low);
                let beyond = normal_share(high - sigma) - normal_share(low - sigma);
                median * libm::exp(sigma * sigma / 2.0) * beyond / inside
            }
            Self::Points(points) => {
                let (first, share) = points[0];
                let steps = points.windows(2).map(|pair| {
                    let ((low, below), (high, upto)) = (pair[0], pair[1]);
                    (upto - below) * (low as f64 + high as f64) / 2.0
                });
                first as f64 * share + steps.sum::<f64>()
            }
        }
    }

    /// The size below which the distribution has the share `word` / 2^64.
    fn invert(&self, word: u64) -> u64 {
        // 53 bits, as many as a double has, and in the middle of their step: never 0 or 1.
        let share = ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform(minimum, maximum) => {
                let sizes = u128::from(maximum - minimum) + 1;
                minimum + ((u128::from(word) * sizes) >> 64) as u64
            }
            Self::Exponential(mean) => rounded(-libm::log(share) * *mean as f64).max(1),
            Self::Pareto { shape, minimum, maximum } => {
                let (low, high) = (*minimum as f64, *maximum as f64);
                let beyond = 1.0 - share * (1.0 - libm::pow(low / high, *shape));
                rounded(low * libm::pow(beyond, -1.0 / shape)).clamp(*minimum, *maximum)
            }
            Self::Lognormal { median, sigma, minimum, maximum } => {
                let [low, high] =
                    [*minimum, *maximum].map(|bound| normal_share(libm::log(bound as f64 / median) / sigma));
                let deviations = normal_quantile(low + share * (high - low));
                rounded(median * libm::exp(sigma * deviations)).clamp(*minimum, *maximum)
            }
            Self::Points(points) => {
                let above = points.partition_point(|point| point.1 < share).min(points.len() - 1);
                let (size, upper) = points[above];
                let Some(&(below, lower)) = above.checked_sub(1).map(|i| &points[i]) else { return size };
                below + rounded((share - lower) / (upper - lower) * (size - below) as f64)
            }
        }
    }
}

/// The share of a normal distribution below `x` deviations.
fn normal_share(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

/// Its inverse: Abramowitz and Stegun, equation 26.2.23, which is off by at most 4.5e-4, and two steps of Halley's method from there.
fn normal_quantile(share: f64) -> f64 {
    let share = share.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
    if share > 0.5 {
        return -normal_quantile(1.0 - share);
    }
    let t = libm::sqrt(-2.0 * libm::log(share));
    let above = (0.010_328 * t + 0.802_853) * t + 2.515_517;
    let below = ((0.001_308 * t + 0.189_269) * t + 1.432_788) * t + 1.0;
    let step = |x: f64| {
        let density = libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
        let error = (normal_share(x) - share) / density;
        x - error / (1.0 + x * error / 2.0)
    };
    step(step(above / below - t))
}

/// To the nearest whole number of octets.
fn rounded(octets: f64) -> u64 {
    (octets + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of the sizes of 200 000 flows.
    fn mean(sizes: &Sizes, seed: u64) -> f64 {
        let n = 200_000;
        (0..n).map(|i| sizes.of(seed, &format!("f{i}")).0 as f64).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn means_are_those_of_the_distributions() {
        // Bounded Pareto of shape 2 from 1 KB to 1 MB: mean = 2 L / (1 + L / H) = 2000 / 1.001 = 1998.002.
        let pareto = Sizes::Pareto { shape: 2.0, minimum: 1000, maximum: 1_000_000 };
        // Points: half at most 10 KB, all of them 10 KB; four tenths from 10 to 100 KB, mean 55; a tenth to 1 MB, mean 550.
        // 0.5 * 10 + 0.4 * 55 + 0.1 * 550 = 82 KB.
        let points = Sizes::Points(vec![(10_000, 0.5), (100_000, 0.9), (1_000_000, 1.0)]);
        // Standard error of 200 000 draws: deviation / 447. Uniform: 0.577 of the mean less the least; exponential: the
        // mean; points: about 180 KB. Five of them are 0.65 %, 1.1 %, 2.5 %. The heavy tail of Pareto: variance of shape
        // 2 = 2 L^2 ln(H / L) / ... about 3 times the mean squared: 5 * 1.7 / 447 = 2 %.
        for (sizes, expected, tolerance) in [
            (Sizes::Uniform(1250, 62_500_000), 31_250_625.0, 0.0065),
            (Sizes::Exponential(1_000_000), 1_000_000.0, 0.011),
            (pareto, 1998.0, 0.02),
            (points, 82_000.0, 0.025),
            (Sizes::Fixed(7), 7.0, 0.0),
        ] {
            assert!((sizes.mean() / expected - 1.0).abs() < 1e-5, "{sizes:?}: {}, not {expected}", sizes.mean());
            for seed in [1, 2, 99] {
                let mean = mean(&sizes, seed);
                assert!((mean / expected - 1.0).abs() <= tolerance, "{sizes:?}, seed {seed}: {mean}, not {expected}");
            }
        }
    }

    /// The means that the files' own readers in Python give; and every file ends with all flows.
    #[test]
    fn workloads_have_the_means_of_their_points() {
        for (word, mean) in [("websearch", 1_711_250.0), ("hadoop", 120_421.0), ("solar", 39_424.0)] {
            let (_, workload) = WORKLOADS.iter().find(|(name, _)| *name == word).expect("it has a file");
            let sizes = workload.sizes().expect("a workload is a distribution");
            assert!((sizes.mean() - mean).abs() < 1.0, "{word}: {}", sizes.mean());
        }
        for (word, workload) in WORKLOADS {
            let Ok(Sizes::Points(points)) = workload.sizes() else { panic!("{word} is no list of points") };
            assert_eq!(points.last().map(|point| point.1), Some(1.0), "{word} is in percent");
        }
    }

    #[test]
    fn the_least_and_largest_word_give_the_least_and_largest_size() {
        for (sizes, least, most) in [
            (Sizes::Uniform(100, 200), 100, 200),
            (Sizes::Pareto { shape: 1.2, minimum: 1000, maximum: 5000 }, 1000, 5000),
            (Sizes::Points(vec![(10, 0.25), (50, 1.0)]), 10, 50),
            // -ln(2^-54) = 37.4 means are the most; with a small mean the least would be nothing.
            (Sizes::Exponential(1000), 37_430, 1),
            (Sizes::Exponential(1), 37, 1),
        ] {
            assert_eq!((sizes.invert(0), sizes.invert(u64::MAX)), (least, most), "{sizes:?}");
        }
        // A quarter of all words has the first point's size; a share of 5/8 lies in the middle between the points.
        let points = Sizes::Points(vec![(10, 0.25), (50, 1.0)]);
        assert_eq!([1 << 61, 1 << 62, 5 << 61].map(|word| points.invert(word)), [10, 10, 30]);
        // The median of the exponential distribution is ln 2 of its mean, that of this Pareto L / sqrt(1 - (1 - 1/4) / 2).
        assert_eq!(Sizes::Exponential(1_000_000).invert(1 << 63), 693_147);
        assert_eq!(Sizes::Pareto { shape: 2.0, minimum: 1000, maximum: 2000 }.invert(1 << 63), 1265);
    }

    /// Shares from tables of the normal distribution; the quantile is the inverse of the share.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (share, deviations) in [(0.5, 0.0), (0.975, 1.959_963_985), (0.01, -2.326_347_874), (1e-9, -5.997_807_015)]
        {
            assert!((normal_quantile(share) - deviations).abs() < 1e-8, "{share}: {}", normal_quantile(share));
        }
        for share in (1..1000).map(|i| f64::from(i) / 1000.0) {
            assert!((normal_share(normal_quantile(share)) / share - 1.0).abs() < 1e-12, "{share}");
        }
        assert!(normal_quantile(0.0).is_finite() && normal_quantile(1.0).is_finite());
    }

    /// Without bounds that matter: quantiles are the median times exp(sigma z), the mean is the median times exp(sigma² / 2). With a maximum
    /// at the median, half of the distribution is left: its median is that share of a quarter, exp(-0.67449 sigma) of the old one, and its
    /// mean exp(sigma² / 2) Φ(-sigma) / Φ(0) of it.
    #[test]
    fn lognormal_sizes_have_their_quantiles() {
        let free = Sizes::Lognormal { median: 1e6, sigma: 1.5, minimum: 1, maximum: 1 << 50 };
        // exp(1.5 × 1.281552) = 6.83685; exp(1.125) = 3.080217.
        assert_eq!(free.invert(1 << 63), 1_000_000);
        let p90 = free.invert((0.9 * (1_u128 << 64) as f64) as u64) as f64;
        assert!((p90 / 6_836_850.0 - 1.0).abs() < 1e-4, "{p90}");
        assert!((free.mean() / 3_080_217.0 - 1.0).abs() < 1e-6, "{}", free.mean());
        let halved = Sizes::Lognormal { median: 1e6, sigma: 1.0, minimum: 1, maximum: 1_000_000 };
        // exp(-0.674490) = 0.509416; exp(0.5) × 0.158655 / 0.5 = 0.523157.
        assert_eq!(halved.invert(1 << 63), 509_416);
        assert!((halved.mean() / 523_157.0 - 1.0).abs() < 1e-5, "{}", halved.mean());
        assert_eq!(halved.invert(u64::MAX), 1_000_000);
        // Deviation of the mean of 200 000: 1 / 447 of that of one, which is 0.26 MB: five of them are 0.6 %.
        for seed in [1, 2, 99] {
            assert!((mean(&halved, seed) / 523_157.0 - 1.0).abs() < 0.006, "{}", mean(&halved, seed));
        }
        let bounded = Sizes::Lognormal { median: 1e6, sigma: 3.0, minimum: 1000, maximum: 1 << 30 };
        assert_eq!((bounded.invert(0), bounded.invert(u64::MAX)), (1000, 1 << 30));
    }

    #[test]
    fn a_size_hangs_on_seed_and_name_alone() {
        let sizes = Sizes::Uniform(1, 1 << 50);
        assert_eq!(sizes.of(1, "f0"), sizes.of(1, "f0"));
        assert_ne!(sizes.of(1, "f0"), sizes.of(2, "f0"));
        assert_ne!(sizes.of(1, "f0"), sizes.of(1, "f1"));
    }
}
