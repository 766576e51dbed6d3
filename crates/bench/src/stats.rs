//! The median of several measurements, and how far it can be trusted.

/// A measurement that was repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repeated {
    /// The middle one; of an even number, the mean of the middle two.
    pub median: f64,
    /// Half the width of the median's 95 % confidence interval, over the median. With fewer than nine measurements the
    /// interval is all of them.
    pub spread: f64,
}

impl Repeated {
    /// # Panics
    /// If there is no value.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
        // The number of n values below the true median is binomial: n / 2 ± 1.96 √n / 2 in 95 of 100 cases, for any
        // distribution of the values. So the interval leaves out about as many at either end as lie below that.
        let left_out = ((n as f64 - 1.0) / 2.0 - 0.98 * (n as f64).sqrt()).max(0.0) as usize;
        Self { median, spread: (values[n - 1 - left_out] - values[left_out]) / 2.0 / median }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_spread_over_all_of_their_range() {
        assert_eq!(Repeated::of(vec![3.0, 1.0, 2.0]), Repeated { median: 2.0, spread: 0.5 });
        assert_eq!(Repeated::of(vec![4.0, 2.0, 1.0, 9.0]).median, 3.0);
    }

    #[test]
    fn of_many_the_outer_ones_do_not_count() {
        // Tables of the binomial distribution give, for 25 values, the 8th from either end: 8 to 18, half of that 5.
        let mut values: Vec<f64> = (1..=25).map(f64::from).collect();
        assert_eq!(Repeated::of(values.clone()), Repeated { median: 13.0, spread: 5.0 / 13.0 });
        values[24] = 1e6;
        assert_eq!(Repeated::of(values), Repeated { median: 13.0, spread: 5.0 / 13.0 });
    }
}
