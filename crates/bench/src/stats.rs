//! The median of a few measurements, and how far they are apart.

/// A measurement that was repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repeated {
    /// The middle one; of an even number, the mean of the middle two.
    pub median: f64,
    /// Half the distance of the smallest and the largest, over the median.
    pub spread: f64,
}

impl Repeated {
    /// # Panics
    /// If there is no value.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
        Self { median, spread: (values[n - 1] - values[0]) / 2.0 / median }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_spread() {
        assert_eq!(Repeated::of(vec![3.0, 1.0, 2.0]), Repeated { median: 2.0, spread: 0.5 });
        assert_eq!(Repeated::of(vec![4.0, 2.0, 1.0, 9.0]).median, 3.0);
    }
}
