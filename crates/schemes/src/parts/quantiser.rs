//! The congestion measure and its quantisation.
//!
//! `Fb = -(q_off + w q_delta)` (Mliki et al. 2016, Kabbani and Yasuda 2010, Matsushima et al. 2014, Jiang et al. 2015;
//! 802.1Qau cpFb). Negative Fb means congestion; only its size travels, in steps of |Fb|max / 63 with |Fb|max = (2w +
//! 1) Qeq.

use crate::info::choice;

choice! {
    /// How |Fb| becomes the value that travels.
    pub enum Quantise {
        /// `floor(|Fb| 63 / |Fb|max)`, 63 from |Fb|max on.
        Linear63 = "linear63",
        /// The six most significant bits of a register that is just wide enough for |Fb|max.
        Shift6 = "shift6",
        /// Not quantised: |Fb| / |Fb|max with 14 fraction bits, so that Gd |Fb|max is exactly one half for Gd = 1/128.
        None = "none",
    }
}

/// |Fb| as it travels, in 1/256 of a quantisation step: 0 ..= 64 × 256. The hardware's and the standard's six bits are
/// [`steps`](Self::steps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct QntzFb(u16);

impl QntzFb {
    /// Units in a step.
    pub const PER_STEP: u16 = 256;

    /// `n` whole steps; the standard's values are 0 to 63.
    #[must_use]
    pub const fn from_steps(n: u8) -> Self {
        Self(n as u16 * Self::PER_STEP)
    }

    /// `units` of 1/256 step; if the value travels in six bits, rounded to the nearest whole step, a half upwards.
    #[must_use]
    pub const fn from_units(units: u16, six_bits: bool) -> Self {
        if six_bits { Self((units + Self::PER_STEP / 2) / Self::PER_STEP * Self::PER_STEP) } else { Self(units) }
    }

    /// Whole steps, 0 to 63.
    #[must_use]
    pub const fn steps(self) -> u8 {
        let n = self.0 / Self::PER_STEP;
        if n > 63 { 63 } else { n as u8 }
    }

    /// In 1/256 of a step.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// No congestion, or too little to show.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// The congestion measure at a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Queue length less the set point, octets.
    pub q_off: i64,
    /// Queue length less the one at the sample before, octets.
    pub q_delta: i64,
    /// −Fb = q_off + w q_delta in 1/1024 octets: positive means congestion.
    pub congestion: i64,
}

/// Computes Fb and quantises it.
#[derive(Debug, Clone, Copy)]
pub struct Quantiser {
    q_eq: i64,
    /// w in 1/1024.
    w: i64,
    /// |Fb|max in 1/1024 octets.
    fb_max: i64,
    mode: Quantise,
    /// Right shift from 1/1024 octets to steps in mode `shift6`.
    shift: u32,
}

impl Quantiser {
    /// For set point `q_eq` (octets) and weight `w` (rounded to 1/1024).
    #[must_use]
    pub fn new(q_eq: u64, w: f64, mode: Quantise) -> Self {
        let w = (w * 1024.0 + 0.5) as i64;
        let fb_max = (2 * w + 1024) * q_eq as i64;
        let register_bits = 64 - (fb_max as u64 / 1024).leading_zeros();
        Self { q_eq: q_eq as i64, w, fb_max, mode, shift: register_bits.saturating_sub(6) + 10 }
    }

    /// The measure for a queue of `len` octets that had `q_old` octets at the sample before.
    #[must_use]
    pub fn measure(&self, len: u64, q_old: u64) -> Measure {
        let q_off = len as i64 - self.q_eq;
        let q_delta = len as i64 - q_old as i64;
        Measure { q_off, q_delta, congestion: q_off * 1024 + self.w * q_delta }
    }

    /// |Fb| as it travels; zero for Fb ≥ 0. Rounds down.
    #[must_use]
    pub fn quantise(&self, m: Measure) -> QntzFb {
        if m.congestion <= 0 {
            return QntzFb(0);
        }
        let fb = m.congestion.min(self.fb_max);
        match self.mode {
            Quantise::Linear63 => QntzFb::from_steps((fb * 63 / self.fb_max) as u8),
            Quantise::Shift6 => QntzFb::from_steps((fb >> self.shift).min(63) as u8),
            Quantise::None => QntzFb((i128::from(fb) * (64 * 256) / i128::from(self.fb_max)) as u16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(q_eq: u64, mode: Quantise, fb: i64) -> u8 {
        Quantiser::new(q_eq, 2.0, mode).quantise(Measure { q_off: 0, q_delta: 0, congestion: fb * 1024 }).steps()
    }

    #[test]
    fn golden_vector_4() {
        for (fb, expected) in [(13_000, 6), (26_000, 12), (52_000, 25), (104_000, 50), (130_000, 63)] {
            assert_eq!(steps(26_000, Quantise::Linear63, fb), expected);
            assert_eq!(steps(26_000, Quantise::Shift6, fb), expected, "130 000 >> 11 = 63: here both agree");
        }
        assert_eq!(steps(26_000, Quantise::Linear63, 1_000_000), 63);
        assert_eq!(steps(26_000, Quantise::Linear63, -1), 0);
    }

    #[test]
    fn shift_is_not_linear_elsewhere() {
        assert_eq!(steps(33_000, Quantise::Shift6, 165_000), 40);
        assert_eq!(steps(33_000, Quantise::Linear63, 165_000), 63);
        assert_eq!(steps(33_000, Quantise::Shift6, 33_000), 8);
        assert_eq!(steps(33_000, Quantise::Linear63, 33_000), 12);
    }

    #[test]
    fn unquantised_is_half_at_most() {
        let q = Quantiser::new(64_000, 2.0, Quantise::None);
        let at = |fb: i64| q.quantise(Measure { q_off: 0, q_delta: 0, congestion: fb * 1024 }).get();
        assert_eq!(at(320_000), 64 * 256);
        assert_eq!(QntzFb::from_units(64 * 256, false).steps(), 63, "six bits hold no more");
        assert_eq!(at(160_000), 32 * 256);
        assert_eq!(at(1), 0);
        assert_eq!(at(20), 1); // 20 × 16 384 / 320 000 = 1.02
    }

    #[test]
    fn measure_is_the_papers_formula() {
        let m = Quantiser::new(26_000, 2.0, Quantise::Linear63).measure(52_000, 39_000);
        assert_eq!((m.q_off, m.q_delta), (26_000, 13_000));
        assert_eq!(m.congestion, (26_000 + 2 * 13_000) * 1024);
        let half = Quantiser::new(26_000, 0.5, Quantise::Linear63).measure(30_000, 27_000);
        assert_eq!(half.congestion, 4000 * 1024 + 3000 * 512);
    }
}
