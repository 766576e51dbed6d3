//! The octets in flight: counted at the source from the octets that it sends and those that destinations acknowledge.
//!
//! ```text
//!   destination: arrived, lost ---- acknowledgement ----> source: known (arrived, lost) of each destination
//!                                                         flow:   in flight = sent - settled
//! ```
//!
//! An octet is *settled* when it is known to have arrived or to be lost; of a flow with several destinations, when that is
//! known of all of them. Octets that a silence gives up are *written off*: they count as settled until it is known what became
//! of them. Acknowledgements of frames that were sent after the silence settle frames that were sent after it.

use penstock_schemes::{Duration, Instant, Octets};

/// The state of one destination as the source knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    arrived: Octets,
    lost: Octets,
}

impl Known {
    /// Takes in the counts of an acknowledgement. One that is older than the last one says nothing new: of two with the same octets that
    /// have arrived, the one with fewer that are lost. `lost` counts modulo 2^32.
    pub(crate) fn learn(&mut self, arrived: Octets, lost: u32) {
        let more = lost.wrapping_sub(self.lost.0 as u32);
        if arrived >= self.arrived && more <= u32::MAX / 2 {
            self.arrived = arrived;
            self.lost.0 += u64::from(more);
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
    /// Octets sent since the start, and how many of them are settled.
    sent: u64,
    settled: u64,
    /// Octets that have arrived, and that count as lost. Where frames overtake one another, some that count as lost arrive after all, so that
    /// the sum can be more than was sent.
    arrived: u64,
    lost: u64,
    /// Octets given up by a silence of which nothing is known since.
    written_off: u64,
    /// The last silence.
    gave_up_at: Instant,
    /// Smoothed round-trip time and its variation, ps. (RFC 6298, section 2)
    round_trip: Option<(u64, u64)>,
    doublings: u32,
    /// When nothing has come for too long; never while nothing is in flight.
    pub(crate) deadline: Instant,
    /// Time of the earliest pending timer.
    pub(crate) armed: Instant,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            sent: 0,
            settled: 0,
            arrived: 0,
            lost: 0,
            written_off: 0,
            gave_up_at: Instant::ZERO,
            round_trip: None,
            doublings: 0,
            deadline: Instant::NEVER,
            armed: Instant::NEVER,
        }
    }
}

impl InFlight {
    pub(crate) fn octets(&self) -> Octets {
        Octets(self.sent - self.settled)
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
        let (acked_before, lost_before) = (self.arrived, self.lost);
        let arrived = known.iter().map(|k| k.arrived.0).min().unwrap_or(0);
        let settled = known.iter().map(|k| k.arrived.0 + k.lost.0).min().unwrap_or(0);
        self.arrived = self.arrived.max(arrived);
        self.lost = self.lost.max(settled.saturating_sub(self.arrived));
        if self.written_off > 0 {
            let late = now.since(self.gave_up_at) < round_trip;
            let late = if late { self.arrived - acked_before } else { 0 };
            self.account_for(late + (self.lost - lost_before));
        }
        let all = (self.arrived + self.lost + self.written_off).min(self.sent);
        let newly = all.saturating_sub(self.settled);
        self.settled += newly;
        let acked = (self.arrived - acked_before).min(newly);
        self.deadline = if self.octets() > Octets(0) { now + self.silence() } else { Instant::NEVER };
        Settled { acked: Octets(acked), lost: Octets(newly - acked) }
    }

    /// Octets written off that are now known to have arrived or to be lost. No more are written off than are missing: where
    /// acknowledgements were lost with the frames, more are accounted for than those that came say.
    #[cold]
    fn account_for(&mut self, octets: u64) {
        let missing = self.sent.saturating_sub(self.arrived + self.lost);
        self.written_off = self.written_off.saturating_sub(octets).min(missing);
    }

    /// Nothing has come for too long: all octets in flight are lost. Returns their number.
    pub(crate) fn give_up(&mut self, now: Instant) -> Octets {
        let lost = self.octets();
        self.written_off += lost.0;
        self.settled = self.sent;
        self.gave_up_at = now;
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
        assert_eq!(f.give_up(at(1)), Octets(3000));
        f.send(at(5), 1000);
        let twice = Duration(2 * FIRST_SILENCE.0);
        assert_eq!((f.octets(), f.deadline), (Octets(1000), at(5) + twice), "it waits twice as long");
        assert_eq!(f.acknowledge(at(6), ROUND_TRIP, &[known(2000, 0)]), settled(0, 0));
        assert_eq!(f.acknowledge(at(7), ROUND_TRIP, &[known(3000, 1000)]), settled(1000, 0));
    }

    /// Ten frames are in flight, of which those on one of two paths are lost, and the receiver cannot know: it waits for late ones. From the silence
    /// on each acknowledgement of a new frame settles that frame, so that the window opens again; those of old ones settle nothing.
    #[test]
    fn new_frames_are_settled_although_lost_ones_are_not() {
        let mut f = InFlight::default();
        f.send(at(0), 10_000);
        assert_eq!(f.acknowledge(at(10), ROUND_TRIP, &[known(5000, 0)]), settled(5000, 0));
        assert_eq!(f.give_up(at(1100)), Octets(5000));
        for frame in 1..=20 {
            f.send(at(1100 + 10 * frame), 1000);
            let now = at(1110 + 10 * frame);
            assert_eq!(f.acknowledge(now, ROUND_TRIP, &[known(5000 + 1000 * frame, 0)]), settled(1000, 0), "{frame}");
            assert_eq!(f.octets(), Octets(0));
        }
        // At last it counts them as lost; that settles nothing twice. Another frame is in flight.
        f.send(at(2000), 1000);
        assert_eq!(f.acknowledge(at(2010), ROUND_TRIP, &[known(25_000, 5000)]), settled(0, 0));
        assert_eq!(f.octets(), Octets(1000));
        // One that was given up and arrives after all settles nothing either.
        assert_eq!(f.give_up(at(4000)), Octets(1000));
        assert_eq!(f.acknowledge(at(4001), Duration::from_us(500), &[known(26_000, 5000)]), settled(0, 0));
        assert_eq!((f.octets(), f.written_off), (Octets(0), 0));
    }

    /// Acknowledgements of frames that were given up are lost; the first one that comes says of them all.
    #[test]
    fn no_more_is_written_off_than_is_missing() {
        let mut f = InFlight::default();
        f.send(at(0), 3000);
        f.give_up(at(10));
        f.send(at(20), 1000);
        assert_eq!(f.acknowledge(at(30), ROUND_TRIP, &[known(3000, 1000)]), settled(1000, 0));
        f.send(at(40), 1000);
        assert_eq!((f.octets(), f.written_off), (Octets(1000), 0));
    }

    /// Two frames count as lost and arrive after all. What is sent then is in flight, and a silence gives it up.
    #[test]
    fn late_frames_do_not_settle_what_is_sent_later() {
        let mut f = InFlight::default();
        f.send(at(0), 4000);
        assert_eq!(f.acknowledge(at(10), ROUND_TRIP, &[known(2000, 2000)]), settled(2000, 2000));
        assert_eq!(f.acknowledge(at(20), ROUND_TRIP, &[known(4000, 2000)]), settled(0, 0));
        assert_eq!((f.octets(), f.deadline), (Octets(0), Instant::NEVER));
        f.send(at(30), 1000);
        assert_eq!((f.octets(), f.deadline), (Octets(1000), at(30) + LEAST_SILENCE));
        assert_eq!(f.give_up(f.deadline), Octets(1000));
        assert_eq!(f.octets(), Octets(0));
    }

    /// Losses are counted modulo 2^32, and an older acknowledgement says nothing.
    #[test]
    fn losses_wrap() {
        let mut k = known(10, u64::from(u32::MAX));
        k.learn(Octets(20), 4);
        assert_eq!(k, known(20, (1 << 32) + 4));
        k.learn(Octets(15), 2);
        assert_eq!(k, known(20, (1 << 32) + 4));
        // Acknowledgements of two headers without their data overtake each other: nothing has arrived in between.
        k.learn(Octets(20), 3);
        assert_eq!(k, known(20, (1 << 32) + 4));
    }
}
