//! A port without queue, whose limiters take turns: each waits until the line is free.

use alloc::collections::VecDeque;

use penstock_schemes::Instant;

use crate::ids::{LimiterId, PortId};
use crate::timer::{Alarms, Timer};

/// A limiter that waits for its port's line.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    since: Instant,
    limiter: LimiterId,
    /// Its number: see [`Limiter::number`](crate::Limiter::number).
    number: u32,
}

/// The turns of one port.
#[derive(Debug, Clone)]
pub(crate) struct Arbiter {
    /// The limiters that wait for the line, in the order in which they began to.
    waiting: VecDeque<Waiting>,
    /// The limiters whose class priority flow control has stopped.
    parked: VecDeque<(LimiterId, u32)>,
    /// The number of the limiter that had the line last.
    last: u32,
    /// How many limiters the port has, and the first of them.
    limiters: usize,
    first: LimiterId,
    /// Time of the turn's timer that counts.
    armed: Instant,
}

impl Arbiter {
    pub(crate) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            parked: VecDeque::new(),
            last: u32::MAX,
            limiters: 0,
            first: LimiterId::NONE,
            armed: Instant::NEVER,
        }
    }

    /// Adds a limiter, with room for it to wait. If it is not the only one, the first one.
    pub(crate) fn add(&mut self, limiter: LimiterId) -> Option<LimiterId> {
        self.limiters += 1;
        self.waiting.reserve(self.limiters);
        self.parked.reserve(self.limiters);
        if self.limiters == 1 {
            self.first = limiter;
        }
        (self.limiters > 1).then_some(self.first)
    }

    #[inline(always)]
    pub(crate) fn any_wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    #[inline]
    pub(crate) fn wait(&mut self, since: Instant, limiter: LimiterId, number: u32) {
        self.waiting.push_back(Waiting { since, limiter, number });
    }

    pub(crate) fn park(&mut self, limiter: LimiterId, number: u32) {
        self.parked.push_back((limiter, number));
    }

    /// From `now` on, the parked limiters that `wanted` picks wait for the line as others do.
    pub(crate) fn unpark(&mut self, now: Instant, wanted: impl Fn(LimiterId) -> bool) {
        for _ in 0..self.parked.len() {
            let Some((limiter, number)) = self.parked.pop_front() else { return };
            if wanted(limiter) { self.wait(now, limiter, number) } else { self.park(limiter, number) }
        }
    }

    /// The limiter whose turn it is: the one that has waited longest, and of several that began to wait at the same instant the
    /// next one round.
    pub(crate) fn next(&mut self) -> Option<LimiterId> {
        let since = self.waiting.front()?.since;
        let alone = self.waiting.get(1).is_none_or(|second| second.since != since);
        let next = if alone { self.waiting.pop_front()? } else { self.next_round(since)? };
        self.last = next.number;
        Some(next.limiter)
    }

    /// The same where limiters have ranks: if the one whose turn it is has one, that with the least of all ranks.
    pub(crate) fn next_ranked(&mut self, rank: impl Fn(LimiterId) -> Option<u64>) -> Option<LimiterId> {
        if rank(self.waiting.front()?.limiter).is_none() {
            return self.next();
        }
        let ranked =
            self.waiting.iter().enumerate().filter_map(|(place, w)| Some((rank(w.limiter)?, w.since, w.number, place)));
        let (.., place) = ranked.min()?;
        let next = self.waiting.remove(place)?;
        self.last = next.number;
        Some(next.limiter)
    }

    /// Of the limiters that began to wait at `since`, the first one after the one that had the line last, all round.
    #[cold]
    fn next_round(&mut self, since: Instant) -> Option<Waiting> {
        let ties = self.waiting.iter().take_while(|w| w.since == since).enumerate();
        let (place, _) = ties.min_by_key(|(_, w)| w.number.wrapping_sub(self.last.wrapping_add(1)))?;
        self.waiting.remove(place)
    }

    /// Sees to it that turns go on at `at`, when the line of `own`, this port, is free.
    pub(crate) fn arm(&mut self, at: Instant, own: PortId, alarms: &mut impl Alarms) {
        if self.armed != at {
            self.armed = at;
            alarms.wake(at, Timer::Turn(own), own.0);
        }
    }

    /// The limiter with this number takes its turn without having waited for it. A pending timer for it no longer counts.
    #[inline(always)]
    pub(crate) fn take(&mut self, number: u32) {
        self.last = number;
        self.armed = Instant::NEVER;
    }

    /// Whether the timer that has expired is the one that counts.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        let due = self.armed == now;
        if due {
            self.armed = Instant::NEVER;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(turns: &mut Arbiter) -> Vec<u32> {
        core::iter::from_fn(|| turns.next()).map(|limiter| limiter.0).collect()
    }

    #[test]
    fn limiters_of_one_instant_go_round_after_the_last_one() {
        let mut turns = Arbiter::new();
        for (since, limiter) in [(5, 2), (5, 0), (5, 1), (6, 3), (6, 0)] {
            turns.wait(Instant(since), LimiterId(limiter), limiter);
        }
        // Nobody had the line before: 0 first. Of the later two, 3 comes after 2, and 0 after 3.
        assert_eq!(order(&mut turns), [0, 1, 2, 3, 0]);
        turns.wait(Instant(7), LimiterId(0), 0);
        turns.wait(Instant(7), LimiterId(4), 4);
        assert_eq!(order(&mut turns), [4, 0], "0 had the line last");
    }

    /// Reused slots: the numbers decide.
    #[test]
    fn numbers_order_turns_and_indices_do_not() {
        let mut turns = Arbiter::new();
        for (limiter, number) in [(0, 9), (1, 4), (2, 7)] {
            turns.wait(Instant(5), LimiterId(limiter), number);
        }
        assert_eq!(order(&mut turns), [1, 2, 0]);
    }

    /// 2 has the least left. 7 has no rank, and its turn when it has waited longest.
    #[test]
    fn the_least_rank_goes_first() {
        let mut turns = Arbiter::new();
        for limiter in [0, 7, 2, 1] {
            turns.wait(Instant(5 + u64::from(limiter == 7)), LimiterId(limiter), limiter);
        }
        turns.wait(Instant(7), LimiterId(3), 3);
        let left =
            |limiter: LimiterId| [Some(30), Some(20), Some(10), Some(20)].get(limiter.index()).copied().flatten();
        let order: Vec<u32> = core::iter::from_fn(|| turns.next_ranked(left)).map(|limiter| limiter.0).collect();
        assert_eq!(order, [2, 1, 3, 0, 7]);
    }

    #[test]
    fn parked_limiters_wait_from_the_end_of_the_stop() {
        let mut turns = Arbiter::new();
        for limiter in [3, 1, 2] {
            turns.park(LimiterId(limiter), limiter);
        }
        turns.wait(Instant(4), LimiterId(9), 9);
        turns.unpark(Instant(5), |limiter| limiter != LimiterId(1));
        assert_eq!(order(&mut turns), [9, 2, 3], "2 and 3 wait since 5; after 9 comes the least");
        turns.unpark(Instant(6), |_| true);
        assert_eq!(order(&mut turns), [1]);
    }
}
