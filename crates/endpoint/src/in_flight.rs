//! The octets in flight: counted at the source from the octets that it sends and those that destinations acknowledge.
//!
//! ```text
//!   destination: arrived, lost ---- acknowledgement ----> source: known (arrived, lost) of each destination
//!                                                         flow:   in flight = sent - settled
//! ```
//!
//! An octet is *settled* when it is known to have arrived or to be lost; of a flow with several destinations, when that is
//! known of all of them.

use penstock_schemes::{Duration, Instant, Octets};

/// The state of one destination as the source knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    arrived: Octets,
    lost: Octets,
}

impl Known {
    /// Takes in the counts of an acknowledgement. One that is older than the last one says nothing new. `lost` counts
    /// modulo 2^32.
    pub(crate) fn learn(&mut self, arrived: Octets, lost: u32) {
        if arrived >= self.arrived {
            self.arrived = arrived;
            self.lost.0 += u64::from(lost.wrapping_sub(self.lost.0 as u32));
        }
    }
}

/// Octets that an acknowledgement has settled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) acked: Octets,
    pub(crate) lost: Octets,
}

/// The least time without acknowledgement after which the octets in flight count as lost: far above the queueing of a
/// data center.
const LEAST_SILENCE: Duration = Duration::from_ms(1);
/// The same before the first round trip is known.
const FIRST_SILENCE: Duration = Duration::from_ms(100);
/// How often in a row it doubles.
const MOST_DOUBLINGS: u32 = 6;

/// The octets that a flow has in flight.
#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    /// Octets sent since the start.
    sent: u64,
    /// Octets settled: arrived, and lost.
    arrived: u64,
    lost: u64,
    /// Octets sent before the last silence: they count as settled from then on.
    given_up: u64,
    /// Smoothed round-trip time and its variation, ps. (RFC 6298, section 2)
    round_trip: Option<(u64, u64)>,
    doublings: u32,
    /// When nothing has come for too long; never while nothing is in flight.
    pub(crate) deadline: Instant,
    /// Time of the earliest timer under way.
    pub(crate) armed: Instant,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            sent: 0,
            arrived: 0,
            lost: 0,
            given_up: 0,
            round_trip: None,
            doublings: 0,
            deadline: Instant::NEVER,
            armed: Instant::NEVER,
        }
    }
}

impl InFlight {
    pub(crate) fn octets(&self) -> Octets {
        Octets(self.sent - self.settled())
    }

    fn settled(&self) -> u64 {
        (self.arrived + self.lost).max(self.given_up).min(self.sent)
    }

    pub(crate) fn send(&mut self, now: Instant, octets: u64) {
        self.sent += octets;
        if self.deadline == Instant::NEVER {
            self.deadline = now + self.silence();
        }
    }

    /// An acknowledgement has come after `round_trip`; `known` has the state of every destination.
    pub(crate) fn acknowledge(&mut self, now: Instant, round_trip: Duration, known: &[Known]) -> Settled {
        self.doublings = 0;
        self.time(round_trip.0);
        let (before, acked_before) = (self.settled(), self.arrived);
        let arrived = known.iter().map(|k| k.arrived.0).min().unwrap_or(0);
        let settled = known.iter().map(|k| k.arrived.0 + k.lost.0).min().unwrap_or(0);
        self.arrived = self.arrived.max(arrived);
        self.lost = self.lost.max(settled.saturating_sub(self.arrived));
        let newly = self.settled() - before;
        let acked = (self.arrived - acked_before).min(newly);
        self.deadline = if self.octets() > Octets(0) { now + self.silence() } else { Instant::NEVER };
        Settled { acked: Octets(acked), lost: Octets(newly - acked) }
    }

    /// Nothing has come for too long: all octets in flight are lost. Returns their number.
    pub(crate) fn give_up(&mut self) -> Octets {
        let lost = self.octets();
        self.given_up = self.sent;
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.deadline = Instant::NEVER;
        lost
    }

    /// RFC 6298, (2.2) and (2.3).
    fn time(&mut self, sample: u64) {
        self.round_trip = Some(match self.round_trip {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => {
                let difference = smoothed.abs_diff(sample);
                (smoothed - smoothed / 8 + sample / 8, variation - variation / 4 + difference / 4)
            }
        });
    }

    /// RFC 6298's timeout, with a minimum for data centers, doubled for each timeout since.
    fn silence(&self) -> Duration {
        let timeout = match self.round_trip {
            None => FIRST_SILENCE,
            Some((smoothed, variation)) => Duration(smoothed + 4 * variation).max(LEAST_SILENCE),
        };
        Duration(timeout.0.saturating_mul(1 << self.doublings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Duration = Duration::from_us(10);

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn known(arrived: u64, lost: u64) -> Known {
        Known { arrived: Octets(arrived), lost: Octets(lost) }
    }

    fn settled(acked: u64, lost: u64) -> Settled {
        Settled { acked: Octets(acked), lost: Octets(lost) }
    }

    #[test]
    fn settled_octets_are_no_longer_in_flight() {
        let mut f = InFlight::default();
        f.send(at(0), 4000);
        assert_eq!((f.octets(), f.deadline), (Octets(4000), at(0) + FIRST_SILENCE));
        assert_eq!(f.acknowledge(at(10), ROUND_TRIP, &[known(1000, 0)]), settled(1000, 0));
        assert_eq!(f.acknowledge(at(20), ROUND_TRIP, &[known(2000, 1000)]), settled(1000, 1000));
        // Round trips of 10 us: far below the least silence.
        assert_eq!((f.octets(), f.deadline), (Octets(1000), at(20) + LEAST_SILENCE));
        assert_eq!(f.acknowledge(at(30), ROUND_TRIP, &[known(3000, 1000)]), settled(1000, 0));
        assert_eq!((f.octets(), f.deadline), (Octets(0), Instant::NEVER));
    }

    /// The slower of two destinations decides.
    #[test]
    fn a_frame_is_settled_when_all_destinations_have_it() {
        let mut f = InFlight::default();
        f.send(at(0), 2000);
        assert_eq!(f.acknowledge(at(1), ROUND_TRIP, &[known(2000, 0), known(0, 0)]), settled(0, 0));
        assert_eq!(f.acknowledge(at(2), ROUND_TRIP, &[known(2000, 0), known(1000, 1000)]), settled(1000, 1000));
        assert_eq!(f.octets(), Octets(0));
    }

    /// After a silence, late acknowledgements settle nothing twice.
    #[test]
    fn octets_that_were_given_up_stay_given_up() {
        let mut f = InFlight::default();
        f.send(at(0), 3000);
        assert_eq!(f.give_up(), Octets(3000));
        f.send(at(5), 1000);
        let twice = Duration(2 * FIRST_SILENCE.0);
        assert_eq!((f.octets(), f.deadline), (Octets(1000), at(5) + twice), "it waits twice as long");
        assert_eq!(f.acknowledge(at(6), ROUND_TRIP, &[known(2000, 0)]), settled(0, 0));
        assert_eq!(f.acknowledge(at(7), ROUND_TRIP, &[known(3000, 1000)]), settled(1000, 0));
    }

    /// Losses are counted modulo 2^32, and an older acknowledgement says nothing.
    #[test]
    fn losses_wrap() {
        let mut k = known(10, u64::from(u32::MAX));
        k.learn(Octets(20), 4);
        assert_eq!(k, known(20, (1 << 32) + 4));
        k.learn(Octets(15), 2);
        assert_eq!(k, known(20, (1 << 32) + 4));
    }
}
