//! Entropy values of sprayed frames that are used again: REPS (Bonato et al. 2025, "REPS: Recycled Entropy Packet Spraying for Adaptive
//! Load Balancing and Failure Mitigation").
//!
//! Switches choose the path of a frame by a hash of its entropy value. An acknowledgement returns the value of its frame; where that was not
//! marked, the path is neither congested nor broken, and the value goes into a ring, from which the next frames take theirs. Frames for which
//! there is none get a random one. After a loss, when paths may have failed, the source explores no more: it uses the values of the ring again.

use penstock_schemes::{Draw, Duration, Instant};

/// Values that the ring holds. (Bonato et al.: 8 are enough)
const RING: usize = 8;
/// How long a source explores no paths after a loss. Chosen here: many round trips of data centers, as each path that is tried without effect costs one.
const FREEZE: Duration = Duration::from_ms(10);

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
    /// The source explores no paths before this time.
    frozen_until: Instant,
}

impl RecycledEntropy {
    /// The value of a frame that is sent now.
    pub fn next(&mut self, now: Instant, words: &mut impl Draw) -> u16 {
        if self.fresh > 0 {
            let oldest = &mut self.ring[(self.head + RING - self.fresh) % RING];
            oldest.fresh = false;
            self.fresh -= 1;
            return oldest.value;
        }
        if now < self.frozen_until && self.filled > 0 {
            // A ring that is not full has its values at the front.
            self.head = (self.head + 1) % self.filled;
            return self.ring[self.head].value;
        }
        words.draw() as u16
    }

    /// The acknowledgement of a frame with this value has come. `marked`: a queue of its path was too long, or has cut it down.
    pub fn on_ack(&mut self, value: u16, marked: bool) {
        if marked {
            return;
        }
        let slot = &mut self.ring[self.head];
        self.fresh += usize::from(!slot.fresh);
        *slot = Cached { value, fresh: true };
        self.head = (self.head + 1) % RING;
        self.filled = (self.filled + 1).min(RING);
    }

    /// A frame is sent again: paths may have failed.
    pub fn on_loss(&mut self, now: Instant) {
        if now >= self.frozen_until {
            self.frozen_until = now + FREEZE;
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
        own.on_ack(1001, false);
        own.on_ack(1000, true);
        own.on_ack(1002, false);
        let next = [(); 3].map(|()| own.next(now, &mut words));
        assert_eq!(next, [1001, 1002, 1002], "then a new one, which is 1002 here by chance");
    }

    /// Twelve values come for eight slots: the last eight are there, the oldest first.
    #[test]
    fn a_full_ring_keeps_the_newest() {
        let (mut own, mut words) = (RecycledEntropy::default(), Counter(999));
        (0..12).for_each(|value| own.on_ack(value, false));
        let next: Vec<u16> = (0..9).map(|_| own.next(Instant::ZERO, &mut words)).collect();
        assert_eq!(next, [4, 5, 6, 7, 8, 9, 10, 11, 1000]);
    }

    /// Of three values that were used, one after the other is used again until the freeze ends.
    #[test]
    fn a_loss_stops_the_search_for_paths() {
        let (mut own, mut words, now) = (RecycledEntropy::default(), Counter(999), Instant::ZERO);
        (1..=3).for_each(|value| own.on_ack(value, false));
        (0..3).for_each(|_| assert!(own.next(now, &mut words) < 4));
        own.on_loss(now);
        let frozen: Vec<u16> = (0..6).map(|_| own.next(now, &mut words)).collect();
        assert!(frozen.iter().all(|value| *value < 4) && (1..=3).all(|value| frozen.contains(&value)), "{frozen:?}");
        assert_eq!(own.next(now + FREEZE, &mut words), 1000);
    }
}
