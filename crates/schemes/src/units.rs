//! Quantities with their units: time in picoseconds, sizes in octets, rates in bits per second, and identities.
//!
//! All are integers, so that a run gives the same bytes on every machine. One octet at 800 Gb/s lasts exactly 10 ps;
//! 2^64 ps are 213 days.

use core::ops::{Add, AddAssign, Sub};

/// A point in time: picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(pub u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(pub u64);

/// A number of octets (8 bits each). `KB` in papers and scenarios is 1000 octets, `KiB` 1024.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Octets(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BitRate(pub u64);

/// The caller's name for a flow. A scheme compares keys and hands them back in [`To`](crate::To); it never looks inside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowKey(pub u32);

/// Identity of a congestion point, the 8 octets of `cnmCpId` (802.1Qau): station MAC address (48 bits), port (13 bits)
/// and priority (3 bits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CpId(pub u64);

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);

    /// Time since `earlier`, zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// `d` later. Where [`Add`] saturates, this sum must be below 2^64 ps: for loops that have no instruction to spare.
    #[must_use]
    #[inline(always)]
    pub const fn after(self, d: Duration) -> Self {
        Self(self.0 + d.0)
    }

    /// Time since `earlier`. Where [`since`](Self::since) gives zero, `earlier` must not be later: for loops that have no
    /// instruction to spare.
    #[must_use]
    #[inline(always)]
    pub const fn passed_since(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }

    /// Seconds since the start, for people.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// `n` microseconds.
    #[must_use]
    pub const fn from_us(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn from_ms(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// Seconds, for people.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl BitRate {
    /// Nothing may be sent.
    pub const ZERO: Self = Self(0);

    /// `n` megabits (10^6 bits) per second.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` gigabits (10^9 bits) per second.
    #[must_use]
    pub const fn from_gbps(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// Time to send `octets` at this rate, rounded down, and the remainder in units of 1/rate picoseconds: add it to
    /// the next call's and no time is lost over a long run.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub const fn serialisation(self, octets: u64) -> (Duration, u64) {
        let bit_ps = octets as u128 * 8 * PS_PER_S as u128;
        if bit_ps <= u64::MAX as u128 {
            // Frames up to 2 MB: one division of 64 bits.
            let bit_ps = bit_ps as u64;
            return (Duration(bit_ps / self.0), bit_ps % self.0);
        }
        let rate = self.0 as u128;
        (Duration((bit_ps / rate) as u64), (bit_ps % rate) as u64)
    }
}

impl CpId {
    /// The congestion point of queue `priority` at output `port` of the station with MAC address `station`.
    #[must_use]
    pub const fn new(station: u64, port: u16, priority: u8) -> Self {
        Self(station << 16 | ((port & 0x1fff) as u64) << 3 | (priority & 7) as u64)
    }

    /// The queue's priority.
    #[must_use]
    pub const fn priority(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// MAC address of the station (48 bits).
    #[must_use]
    pub const fn station(self) -> u64 {
        self.0 >> 16
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    /// Zero if `d` is longer.
    fn sub(self, d: Self) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_carries_its_remainder() {
        // 1500 octets at 0.95 Gb/s: 12 000 bits / 0.95 = 12 631.578947... ns
        let (d, r) = BitRate(950_000_000).serialisation(1500);
        assert_eq!(d, Duration(12_631_578));
        assert_eq!(u128::from(d.0) * 950_000_000 + u128::from(r), 12_000 * u128::from(PS_PER_S));
        assert_eq!(BitRate::from_gbps(800).serialisation(1), (Duration(10), 0));
    }

    #[test]
    fn cp_id_keeps_its_parts() {
        let id = CpId::new(0x0200_0000_00aa, 5, 3);
        assert_eq!(id.station(), 0x0200_0000_00aa);
        assert_eq!(id.0 & 0xffff, 5 << 3 | 3);
    }
}
