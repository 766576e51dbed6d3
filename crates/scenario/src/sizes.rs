//! Sizes of flows: given, or drawn from a distribution.
//!
//! A flow draws once, by inversion of the distribution function. What it draws depends on the seed and on its name alone,
//! so that another flow in the scenario changes nothing; `libm` gives the same logarithms and powers on every machine.

use penstock_schemes::Octets;

use crate::error::Fault;
use crate::keys::{Record, Value};
use crate::read::fault;
use crate::routing::hash;
use crate::units;

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
    /// Points of the distribution function, sizes and shares rising, the last share 1; straight lines between them.
    Points(Vec<(u64, f64)>),
}

impl Sizes {
    /// What the key `size` of a flow's table says; `None` where it is absent.
    pub(crate) fn read(table: &Record) -> Result<Option<Self>, Fault> {
        if let Some(size) = table.get("size") {
            return Ok(Some(Self::Fixed(size)));
        }
        let Some(choice) = table.table("size") else { return Ok(None) };
        let mut given = choice.entries.iter().filter_map(|(name, entry)| Some((*name, &entry.as_ref()?.value)));
        let Some((name, value)) = given.next() else {
            let known: Vec<&str> = choice.entries.iter().map(|(name, _)| *name).collect();
            let hint = format!("exactly one of {}", known.join(", "));
            return Err(fault(table, "size", "no distribution").with_hint(hint));
        };
        if let Some((second, _)) = given.next() {
            let message = format!("a second distribution; there is \"{name}\" already");
            return Err(fault(choice, second, message).with_hint("keep one of them"));
        }
        match value {
            Value::Tables(points) => Self::points(choice, points),
            Value::Table(inner) if name == "exponential" => Ok(Self::Exponential(inner.number("mean"))),
            Value::Table(inner) => {
                let (minimum, maximum) = (inner.number("minimum"), inner.number("maximum"));
                if minimum >= maximum {
                    let message = format!("not above the minimum of {}", units::size(minimum));
                    return Err(fault(inner, "maximum", message).with_hint("for a single size, write it alone"));
                }
                Ok(match name {
                    "uniform" => Self::Uniform(minimum, maximum),
                    _ => Self::Pareto { shape: inner.real("shape"), minimum, maximum },
                })
            }
            other => unreachable!("a distribution cannot be {other:?}"),
        }
        .map(Some)
    }

    fn points(choice: &Record, tables: &[Record]) -> Result<Self, Fault> {
        let mut points: Vec<(u64, f64)> = Vec::with_capacity(tables.len());
        for table in tables {
            let (size, share) = (table.number("size"), table.real("share"));
            if let Some(&(last_size, last_share)) = points.last() {
                if size <= last_size {
                    let message = format!("not above the {} before it", units::size(last_size));
                    return Err(fault(table, "size", message).with_hint("list the points in rising order"));
                }
                if share <= last_share {
                    let message = format!("{share} is not above the {last_share} before it");
                    let hint = "the share of a point is that of all flows that are no larger";
                    return Err(fault(table, "share", message).with_hint(hint));
                }
            }
            points.push((size, share));
        }
        match points.last() {
            Some((_, 1.0)) => Ok(Self::Points(points)),
            Some((_, share)) => {
                let last = tables.last().expect("there is a point");
                let message = format!("the last share is {share}: some flows would have no size");
                Err(fault(last, "share", message).with_hint("no flow is larger than the last point: 1.0"))
            }
            None => Err(fault(choice, "points", "no points").with_hint("at least { size = \"1 MB\", share = 1.0 }")),
        }
    }

    /// The size of the flow called `name`.
    pub(crate) fn of(&self, seed: u64, name: &str) -> Octets {
        Octets(self.invert(hash(name.as_bytes(), &seed.to_le_bytes())))
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
            Self::Points(points) => {
                let above = points.partition_point(|point| point.1 < share).min(points.len() - 1);
                let (size, upper) = points[above];
                let Some(&(below, lower)) = above.checked_sub(1).map(|i| &points[i]) else { return size };
                below + rounded((share - lower) / (upper - lower) * (size - below) as f64)
            }
        }
    }
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
            for seed in [1, 2, 99] {
                let mean = mean(&sizes, seed);
                assert!((mean / expected - 1.0).abs() <= tolerance, "{sizes:?}, seed {seed}: {mean}, not {expected}");
            }
        }
    }

    #[test]
    fn the_ends_of_the_words_are_the_ends_of_the_sizes() {
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

    #[test]
    fn a_size_hangs_on_seed_and_name_alone() {
        let sizes = Sizes::Uniform(1, 1 << 50);
        assert_eq!(sizes.of(1, "f0"), sizes.of(1, "f0"));
        assert_ne!(sizes.of(1, "f0"), sizes.of(2, "f0"));
        assert_ne!(sizes.of(1, "f0"), sizes.of(1, "f1"));
    }
}
