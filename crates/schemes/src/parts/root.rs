//! A square root by additions, multiplications and divisions alone, so that it gives the same bits on every machine without
//! the standard library.

/// The square root of `x`; 0 for 0 and below. Newton's method, up to the last or the last but one bit.
#[must_use]
pub fn square_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // Half of the exponent, and a mantissa near that of the root: within 4 %.
    let mut root = f64::from_bits((x.to_bits() >> 1) + 0x1ff7_a3be_a91d_9b1b);
    for _ in 0..4 {
        root = 0.5 * (root + x / root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_found_again() {
        for n in 1..=10_000_u32 {
            let n = f64::from(n);
            assert!((square_root(n * n) - n).abs() <= n * 1e-15, "{n}");
            let small = n * 1e-9;
            assert!((square_root(small * small) - small).abs() <= small * 1e-15, "{small}");
        }
        assert_eq!((square_root(0.0), square_root(-1.0), square_root(4.0)), (0.0, 0.0, 2.0));
    }
}
