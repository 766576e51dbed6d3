//! Random words: every entity has a separate stream, derived from the seed and its identity, so that the draws of one
//! entity never shift the words that another sees. Another machine sees the same words if it makes the same stream.

use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{Draw, Duration};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// The owner of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A queue's, under its [`QueueId`](crate::events::QueueId).
    CongestionPoint,
    /// A limiter's, under its number.
    ReactionPoint,
    /// A destination's: under the number of leaves, over all flows, that come before its own.
    NotificationPoint,
    /// A flow's, under its [`FlowId`](penstock_endpoint::FlowId).
    Generator,
    /// A node's, under its [`NodeId`](crate::events::NodeId).
    Clock,
    /// A node's too, for the paths of frames.
    Switch,
    /// A queue's, for its WRED.
    EarlyDetection,
    /// A flow's too, for the paths that it tries, under its number.
    Entropy,
    /// A line's, for the frames that it loses: under the number of the error model among those of the line.
    Line,
}

/// A stream of random words.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro128PlusPlus);

impl Stream {
    /// That of entity `index` of its kind.
    #[must_use]
    pub fn new(seed: u64, owner: Owner, index: usize) -> Self {
        let identity = (owner as u64) << 48 | index as u64;
        // Spread the identity over all bits, so that seeds 1, 2, 3 and owners 1, 2, 3 do not meet.
        let key = seed ^ identity.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        Self(Xoshiro128PlusPlus::seed_from_u64(key))
    }

    /// A time below one second, any of them alike: more than the intervals at which congestion points measure.
    pub fn offset(&mut self) -> Duration {
        Duration(((u128::from(self.draw()) * u128::from(PS_PER_S)) >> 32) as u64)
    }
}

impl Draw for Stream {
    #[inline]
    fn draw(&mut self) -> u32 {
        self.0.next_u32()
    }
}

/// Spreads the bits of a number over all of it: the last step of SplitMix64. (Steele et al. 2014; Stafford's variant 13)
#[must_use]
pub fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let words = |seed, owner, index| {
            let mut s = Stream::new(seed, owner, index);
            [s.draw(), s.draw(), s.draw()]
        };
        let a = words(1, Owner::CongestionPoint, 0);
        assert_eq!(a, words(1, Owner::CongestionPoint, 0));
        assert_ne!(a, words(2, Owner::CongestionPoint, 0));
        assert_ne!(a, words(1, Owner::CongestionPoint, 1));
        assert_ne!(a, words(1, Owner::ReactionPoint, 0));
    }
}
