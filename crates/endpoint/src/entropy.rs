//! Entropy values of sprayed frames that are used again: REPS (Bonato et al. 2025, "REPS: Recycled Entropy Packet Spraying for Adaptive
//! Load Balancing and Failure Mitigation").
//!
//! Switches choose the path of a frame by a hash of its entropy value. An acknowledgement returns the value of its frame; where that was not
//! marked, the path is neither congested nor broken, and the value goes into a ring, from which the next frames take theirs. Frames for which
//! there is none get a random one. After a loss, when paths may have failed, the source explores no more for a while: it uses the values of the
//! ring again. A frame that a switch has trimmed is no such loss, for its header has arrived. Then the ring is emptied, and the source explores.
//! Lengths and rules are those of the authors' program, uet-htsim (commit 40ccb052, uec_mp.cpp and buffer_reps.cpp), which takes a timeout for the loss.

use penstock_schemes::{Draw, Duration, Instant};

/// Values that the ring holds. (Bonato et al.: 8 are enough)
const RING: usize = 8;
/// How long a source explores no paths after a loss: many round trips, as each path that is tried without effect costs one. (`exit_freeze_after`)
const FREEZE: Duration = Duration::from_ms(10);
/// Frames that get random values after that. (`explore_counter`)
const EXPLORE: u32 = 16;

/// A value of the ring, and whether no frame has taken it since its acknowledgement came.
#[derive(Debug, Clone, Copy, Default)]
struct Cached {
    value: u16,
    fresh: bool,
}

/// The entropy values of a flow.
#[derive(Debug, Clone, Default)]
pub struct RecycledEntropy {
    ring: [Cached; RING],
    /// Where the next value goes, and how many values there ever were, RING at the most.
    head: usize,
    filled: usize,
    /// How many of them are fresh.
    fresh: usize,
    /// The source explores no paths before this time; zero where it does.
    frozen_until: Instant,
    /// Frames that still get random values.
    explore: u32,
    /// Trimmed frames that have not been sent again.
    trimmed: u32,
}

impl RecycledEntropy {
    /// The value of a frame that is sent now.
    pub fn next(&mut self, now: Instant, words: &mut impl Draw) -> u16 {
        self.thaw(now);
        if self.explore > 0 {
            self.explore -= 1;
            return words.draw() as u16;
        }
        if self.fresh > 0 {
            let oldest = &mut self.ring[(self.head + RING - self.fresh) % RING];
            oldest.fresh = false;
            self.fresh -= 1;
            return oldest.value;
        }
        if self.is_frozen() && self.filled > 0 {
            // A ring that is not full has its values at the front.
            self.head = (self.head + 1) % self.filled;
            return self.ring[self.head].value;
        }
        words.draw() as u16
    }

    fn is_frozen(&self) -> bool {
        self.frozen_until > Instant::ZERO
    }

    /// The time without exploration may have ended.
    fn thaw(&mut self, now: Instant) {
        if self.is_frozen() && now >= self.frozen_until {
            *self = Self { explore: EXPLORE, trimmed: self.trimmed, ..Self::default() };
        }
    }

    /// The acknowledgement of a frame with this value has come. `marked`: a queue of its path was too long, or has trimmed it.
    pub fn on_ack(&mut self, now: Instant, value: u16, marked: bool) {
        self.thaw(now);
        if marked {
            return;
        }
        let slot = &mut self.ring[self.head];
        self.fresh += usize::from(!slot.fresh);
        *slot = Cached { value, fresh: true };
        self.head = (self.head + 1) % RING;
        self.filled = (self.filled + 1).min(RING);
    }

    /// The header alone of a frame has arrived.
    pub fn on_trimmed(&mut self) {
        self.trimmed += 1;
    }

    /// A frame is sent again. Unless it was trimmed, paths may have failed.
    pub fn on_loss(&mut self, now: Instant) {
        self.thaw(now);
        match self.trimmed.checked_sub(1) {
            Some(others) => self.trimmed = others,
            None if !self.is_frozen() && self.explore == 0 => self.frozen_until = now + FREEZE,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000, 1001, …
    struct Counter(u32);

    impl Draw for Counter {
        fn draw(&mut self) -> u32 {
            self.0 += 1;
            self.0
        }
    }

    #[test]
    fn values_that_arrived_are_used_again_in_their_order() {
        let (mut own, mut words, now) = (RecycledEntropy::default(), Counter(999), Instant::ZERO);
        assert_eq!([own.next(now, &mut words), own.next(now, &mut words)], [1000, 1001]);
        own.on_ack(now, 1001, false);
        own.on_ack(now, 1000, true);
        own.on_ack(now, 1002, false);
        let next = [(); 3].map(|()| own.next(now, &mut words));
        assert_eq!(next, [1001, 1002, 1002], "then a new one, which is 1002 here by chance");
    }

    /// Twelve values come for eight slots: the last eight are there, the oldest first.
    #[test]
    fn a_full_ring_keeps_the_newest() {
        let (mut own, mut words) = (RecycledEntropy::default(), Counter(999));
        (0..12).for_each(|value| own.on_ack(Instant::ZERO, value, false));
        let next: Vec<u16> = (0..9).map(|_| own.next(Instant::ZERO, &mut words)).collect();
        assert_eq!(next, [4, 5, 6, 7, 8, 9, 10, 11, 1000]);
    }

    /// Of three values that were used, one after the other is used again until the freeze ends.
    #[test]
    fn a_loss_stops_the_search_for_paths() {
        let (mut own, mut words, now) = (RecycledEntropy::default(), Counter(999), Instant::ZERO);
        (1..=3).for_each(|value| own.on_ack(Instant::ZERO, value, false));
        (0..3).for_each(|_| assert!(own.next(now, &mut words) < 4));
        own.on_loss(now);
        let frozen: Vec<u16> = (0..6).map(|_| own.next(now, &mut words)).collect();
        assert!(frozen.iter().all(|value| *value < 4) && (1..=3).all(|value| frozen.contains(&value)), "{frozen:?}");
        // Then the ring is empty; sixteen frames get new values, and what arrives meanwhile is used after them.
        let after = now + FREEZE;
        assert_eq!(own.next(after, &mut words), 1000);
        own.on_ack(after, 7, false);
        own.on_loss(after);
        let explored: Vec<u16> = (0..17).map(|_| own.next(after, &mut words)).collect();
        assert_eq!((explored[0], explored[14], explored[15], explored[16]), (1001, 1015, 7, 1016));
    }

    /// Two frames were trimmed, and are sent again: no path has failed. The third one that is sent again was lost.
    #[test]
    fn a_trimmed_frame_is_no_sign_of_a_failed_path() {
        let (mut own, mut words, now) = (RecycledEntropy::default(), Counter(999), Instant::ZERO);
        own.on_ack(now, 1, false);
        assert_eq!(own.next(now, &mut words), 1);
        (0..2).for_each(|_| own.on_trimmed());
        (0..2).for_each(|_| own.on_loss(now));
        assert_eq!(own.next(now, &mut words), 1000);
        own.on_loss(now);
        assert_eq!([own.next(now, &mut words), own.next(now, &mut words)], [1, 1]);
    }
}
