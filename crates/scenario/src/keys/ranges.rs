//! Ranges that several keys have.

use std::ops::RangeInclusive;

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{FASTEST, LONGEST};

/// Any time.
pub(crate) const TIME: RangeInclusive<Duration> = Duration(0)..=LONGEST;

/// Any time but none.
pub(crate) const SPAN: RangeInclusive<Duration> = Duration(1)..=LONGEST;

/// Any rate of a line.
pub(crate) const RATE: RangeInclusive<BitRate> = BitRate(1)..=FASTEST;

/// Largest TOML integer.
pub(crate) const LARGEST_COUNT: u64 = i64::MAX as u64;
