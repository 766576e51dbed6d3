//! Sets of offsets as sorted ranges: octets out of order, acknowledged selectively, or lost.
//!
//! Ranges are few (holes and losses, not segments), so they lie in one vector; it keeps its room, and in the steady state
//! nothing is allocated. A range is `start..end`; ranges neither overlap nor touch.

use alloc::vec::Vec;

/// A set of offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    ranges: Vec<(u64, u64)>,
    total: u64,
}

impl Ranges {
    /// How many offsets are in the set.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, in ascending order.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.ranges.first().copied()
    }

    /// One past the greatest offset.
    pub(super) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|r| r.1)
    }

    /// The range that holds `offset`.
    pub(super) fn holding(&self, offset: u64) -> Option<(u64, u64)> {
        self.ranges.get(self.behind(offset)).copied().filter(|r| r.0 <= offset)
    }

    /// Adds `start..end`, and calls `new` for each part of it that was not in the set, in ascending order.
    pub(super) fn insert_with(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // Ranges that overlap or touch: they become one.
        let from = self.ranges.partition_point(|r| r.1 < start);
        let to = from + self.ranges[from..].partition_point(|r| r.0 <= end);
        let mut at = start;
        let (mut low, mut high) = (start, end);
        for &(a, b) in &self.ranges[from..to] {
            if at < a {
                new(at, a.min(end));
                self.total += a.min(end) - at;
            }
            at = at.max(b);
            (low, high) = (low.min(a), high.max(b));
        }
        if at < end {
            new(at, end);
            self.total += end - at;
        }
        if from == to {
            self.ranges.insert(from, (low, high));
        } else {
            self.ranges[from] = (low, high);
            self.ranges.drain(from + 1..to);
        }
    }

    /// Adds `start..end`, and returns how many offsets of it were not in the set.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let before = self.total;
        self.insert_with(start, end, |_, _| ());
        self.total - before
    }

    /// Takes `start..end` out.
    pub(super) fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let from = self.ranges.partition_point(|r| r.1 <= start);
        let to = from + self.ranges[from..].partition_point(|r| r.0 < end);
        if from == to {
            return;
        }
        let (head, tail) = ((self.ranges[from].0, start), (end, self.ranges[to - 1].1));
        self.total -= self.ranges[from..to].iter().map(|&(a, b)| b.min(end) - a.max(start)).sum::<u64>();
        // The parts that stick out at either end stay.
        match (head.0 < head.1, tail.0 < tail.1) {
            (true, true) if to - from == 1 => {
                self.ranges[from] = head;
                self.ranges.insert(from + 1, tail);
            }
            (true, true) => {
                self.ranges[from] = head;
                self.ranges[to - 1] = tail;
                self.ranges.drain(from + 1..to - 1);
            }
            (true, false) => {
                self.ranges[from] = head;
                self.ranges.drain(from + 1..to);
            }
            (false, true) => {
                self.ranges[to - 1] = tail;
                self.ranges.drain(from..to - 1);
            }
            (false, false) => drop(self.ranges.drain(from..to)),
        }
    }

    /// Takes everything below `offset` out.
    pub(super) fn remove_below(&mut self, offset: u64) {
        if self.first().is_some_and(|r| r.0 < offset) {
            self.remove(0, offset);
        }
    }

    /// How many offsets of `start..end` are in the set.
    pub(super) fn count(&self, start: u64, end: u64) -> u64 {
        self.ranges[self.behind(start)..].iter().take_while(|r| r.0 < end).map(|r| r.1.min(end) - r.0.max(start)).sum()
    }

    /// The first gap within `start..end`.
    pub(super) fn first_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut at = start;
        for &(a, b) in &self.ranges[self.behind(start)..] {
            if at < a {
                break;
            }
            at = b;
        }
        let next = self.ranges.get(self.behind(at)).map_or(end, |r| r.0.min(end));
        (at < next).then_some((at, next))
    }

    /// The last gap within `start..end`.
    pub(super) fn last_gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut at = end;
        let below = self.ranges.partition_point(|r| r.0 < end);
        for &(a, b) in self.ranges[..below].iter().rev() {
            if b < at {
                let low = b.max(start);
                return (low < at).then_some((low, at));
            }
            at = a;
        }
        (start < at).then_some((start, at))
    }

    /// Index of the first range that ends behind `offset`.
    fn behind(&self, offset: u64) -> usize {
        self.ranges.partition_point(|r| r.1 <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use proptest::prelude::*;

    fn of(ranges: &[(u64, u64)]) -> Ranges {
        let mut set = Ranges::default();
        for &(a, b) in ranges {
            set.insert(a, b);
        }
        set
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut set = of(&[(0, 2), (4, 6), (8, 9)]);
        let mut new = Vec::new();
        set.insert_with(2, 8, |a, b| new.push((a, b)));
        assert_eq!((set.as_slice(), set.total()), (&[(0, 9)][..], 9));
        assert_eq!(new, [(2, 4), (6, 8)]);
        assert_eq!(set.insert(3, 3), 0, "nothing");
    }

    #[test]
    fn a_range_is_taken_out_of_the_middle() {
        let mut set = of(&[(0, 10)]);
        set.remove(3, 5);
        assert_eq!((set.as_slice(), set.total()), (&[(0, 3), (5, 10)][..], 8));
        set.remove_below(6);
        assert_eq!((set.as_slice(), set.total()), (&[(6, 10)][..], 4));
    }

    #[test]
    fn gaps() {
        let set = of(&[(2, 4), (6, 8)]);
        assert_eq!(set.first_gap(0, 10), Some((0, 2)));
        assert_eq!(set.first_gap(2, 10), Some((4, 6)));
        assert_eq!(set.first_gap(7, 10), Some((8, 10)));
        assert_eq!(set.first_gap(2, 4), None);
        assert_eq!(set.last_gap(0, 10), Some((8, 10)));
        assert_eq!(set.last_gap(0, 8), Some((4, 6)));
        assert_eq!(set.last_gap(0, 4), Some((0, 2)));
        assert_eq!(set.last_gap(5, 8), Some((5, 6)));
        assert_eq!(set.last_gap(6, 8), None);
        assert_eq!(of(&[]).last_gap(1, 3), Some((1, 3)));
        assert_eq!((set.holding(3), set.holding(4), set.end()), (Some((2, 4)), None, Some(8)));
    }

    proptest! {
        /// Against a set of single offsets.
        #[test]
        fn as_a_set_of_single_offsets(steps in prop::collection::vec((any::<bool>(), 0u64..40, 0u64..12), 1..40),
                                      start in 0u64..40, length in 0u64..20) {
            let (mut set, mut model) = (Ranges::default(), [false; 64]);
            for (insert, a, n) in steps {
                if insert {
                    let fresh = (a..a + n).filter(|&i| !model[i as usize]).count() as u64;
                    prop_assert_eq!(set.insert(a, a + n), fresh);
                } else {
                    set.remove(a, a + n);
                }
                (a..a + n).for_each(|i| model[i as usize] = insert);
                let ranges = set.as_slice();
                prop_assert!(ranges.iter().all(|r| r.0 < r.1) && ranges.windows(2).all(|w| w[0].1 < w[1].0));
                prop_assert!((0..64).all(|i| model[i as usize] == set.holding(i).is_some()));
                prop_assert_eq!(set.total(), model.iter().filter(|&&x| x).count() as u64);
            }
            let end = start + length;
            let gaps: Vec<u64> = (start..end).filter(|&i| !model[i as usize]).collect();
            prop_assert_eq!(set.count(start, end), length - gaps.len() as u64);
            prop_assert_eq!(set.first_gap(start, end).map(|g| g.0), gaps.first().copied());
            prop_assert_eq!(set.last_gap(start, end).map(|g| g.1), gaps.last().map(|&g| g + 1));
            for (a, b) in set.first_gap(start, end).into_iter().chain(set.last_gap(start, end)) {
                prop_assert!((a..b).all(|i| gaps.contains(&i)));
                prop_assert!((a == start || model[a as usize - 1]) && (b == end || model[b as usize]));
            }
        }
    }
}
