//! The event queue: a few first-in-first-out lanes, and a calendar for the rest.
//!
//! Events come out in order of (time, rank), whoever put them in first: a rank says which entity an event belongs to
//! ([`crate::event::Event`]). Events of one time and rank, of which no two may be in lanes unless they are the same,
//! come out in the order in which their entity has made them.
//!
//! *Lanes.* Most events are made by the same rule over and over: a frame that starts on an idle line of a common kind is
//! delivered a fixed time later, a limiter wakes a fixed time later. Such events are made in the order of
//! their times, so a plain queue holds them. Whoever makes one names its lane; an event that is before the last of its lane
//! goes to the calendar, so a lane is a matter of speed, never of results.
//!
//! *Calendar.* It covers `BUCKETS` equal spans of time from the current one on; a bitmap finds the next bucket that holds
//! something. An event further away waits in a heap until its bucket comes within reach. A bucket is sorted when its turn
//! comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_schemes::Instant;

/// What an event is about: a kind and an index, packed by the engine.
pub(crate) type What = u32;

/// An event's turn among those of one time.
pub(crate) type Rank = u32;

/// Names a lane: deliveries over the two most common kinds of lines, releases, or none.
pub(crate) type Lane = u8;
/// How many lanes there are.
pub(crate) const LANES: usize = 3;
/// The lane of limiters' releases.
pub(crate) const RELEASES: Lane = 2;
/// No lane: straight to the calendar.
pub(crate) const NO_LANE: Lane = LANES as Lane;

#[derive(Clone, Copy, Debug)]
struct Event {
    at: Instant,
    what: What,
    rank: Rank,
}

impl Event {
    /// Whether it comes before `other`.
    #[inline(always)]
    fn before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && self.rank < other.rank)
    }
}

/// Later than any event.
const LAST: Event = Event { at: Instant::NEVER, what: 0, rank: Rank::MAX };

/// A queue of events whose times never precede the last one taken.
#[derive(Debug)]
pub(crate) struct EventQueue {
    lanes: [Ring; LANES],
    calendar: Calendar,
}

impl EventQueue {
    /// A queue for events that are mostly at most `reach` picoseconds ahead, `per_second` of them in a second.
    pub(crate) fn new(reach: u64, per_second: f64) -> Self {
        Self { lanes: std::array::from_fn(|_| Ring::new()), calendar: Calendar::new(reach, per_second) }
    }

    /// Puts in an event at `at`, which is not before the last event taken.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: Lane, at: Instant, rank: Rank, what: What) {
        match self.lanes.get_mut(usize::from(lane)) {
            Some(lane) if lane.takes(at) => lane.push(at, rank, what),
            _ => self.calendar.push(Event { at, what, rank }),
        }
    }

    /// Takes the first event, if it is before `limit`.
    #[inline(always)]
    pub(crate) fn pop(&mut self, limit: Instant) -> Option<(Instant, What)> {
        let [a, b, c] = &mut self.lanes;
        let mut lane = if b.before(a) { b } else { a };
        if c.before(lane) {
            lane = c;
        }
        let first = lane.first_at;
        if first >= self.calendar.bound {
            let other = self.calendar.head(first);
            if other.before(lane.first()) {
                if other.at >= limit {
                    return None;
                }
                self.calendar.take();
                return Some((other.at, other.what));
            }
        }
        if first >= limit {
            return None;
        }
        Some((first, lane.pop()))
    }
}

/// How many events a lane holds at the most; the calendar takes what is more.
const LANE_SIZE: usize = 1 << 13;

/// A queue of events in a ring. The place behind the last event holds [`LAST`].
#[derive(Debug)]
struct Ring {
    /// Time of the first event, never if there is none.
    first_at: Instant,
    /// Time of the last event, also when it has been taken.
    last_at: Instant,
    head: usize,
    tail: usize,
    events: Box<[Event; LANE_SIZE]>,
}

impl Ring {
    fn new() -> Self {
        let events = vec![LAST; LANE_SIZE].into_boxed_slice().try_into().expect("the size is LANE_SIZE");
        Self { first_at: Instant::NEVER, last_at: Instant::ZERO, head: 0, tail: 0, events }
    }

    /// Whether an event at `at` can be the last one here.
    #[inline(always)]
    fn takes(&self, at: Instant) -> bool {
        at >= self.last_at && self.tail - self.head < LANE_SIZE - 1
    }

    #[inline(always)]
    fn push(&mut self, at: Instant, rank: Rank, what: What) {
        let event = &mut self.events[self.tail % LANE_SIZE];
        (event.at, event.what, event.rank) = (at, what, rank);
        if self.first_at == Instant::NEVER {
            self.first_at = at;
        }
        self.tail += 1;
        self.events[self.tail % LANE_SIZE].at = Instant::NEVER;
        if self.last_at == at {
            self.sink();
        }
        self.last_at = at;
    }

    /// Moves the last event before those of its time that come after it.
    #[cold]
    fn sink(&mut self) {
        let mut place = self.tail - 1;
        let event = self.events[place % LANE_SIZE];
        while place > self.head && event.before(self.events[(place - 1) % LANE_SIZE]) {
            self.events[place % LANE_SIZE] = self.events[(place - 1) % LANE_SIZE];
            place -= 1;
        }
        self.events[place % LANE_SIZE] = event;
    }

    /// Takes the first event; there must be one.
    #[inline(always)]
    fn pop(&mut self) -> What {
        let what = self.events[self.head % LANE_SIZE].what;
        self.head += 1;
        self.first_at = self.events[self.head % LANE_SIZE].at;
        what
    }

    #[inline(always)]
    fn first(&self) -> Event {
        self.events[self.head % LANE_SIZE]
    }

    /// Whether the first event here comes before the first one of `other`.
    #[inline(always)]
    fn before(&self, other: &Self) -> bool {
        self.first_at < other.first_at || (self.first_at == other.first_at && self.first().before(other.first()))
    }
}

const BUCKETS: usize = 4096;
const MASK: u64 = BUCKETS as u64 - 1;
const WORDS: usize = BUCKETS / 64;

#[derive(Debug)]
struct Calendar {
    /// No event is before this time; never if there is none.
    bound: Instant,
    /// log2 of a bucket's span in picoseconds.
    shift: u32,
    /// Number of the current bucket, counted from time zero.
    current: u64,
    /// The current bucket's events in order; those before `cursor` are taken.
    due: Vec<Event>,
    cursor: usize,
    buckets: Box<[Vec<Event>; BUCKETS]>,
    /// A bit for each bucket that holds something, and a bit for each word of them.
    occupied: [u64; WORDS],
    summary: u64,
    far: BinaryHeap<Reverse<(Instant, Rank, u64, What)>>,
    far_inserted: u64,
    /// Bucket of the first event in `far`.
    far_bucket: u64,
}

impl Calendar {
    fn new(reach: u64, per_second: f64) -> Self {
        let few_events = (4e12 / per_second.max(1.0)) as u64;
        let span = few_events.max(reach.saturating_mul(2) / BUCKETS as u64).clamp(1 << 4, 1 << 34);
        Self {
            bound: Instant::NEVER,
            shift: span.next_power_of_two().trailing_zeros(),
            current: 0,
            due: Vec::new(),
            cursor: 0,
            buckets: Box::new([const { Vec::new() }; BUCKETS]),
            occupied: [0; WORDS],
            summary: 0,
            far: BinaryHeap::new(),
            far_inserted: 0,
            far_bucket: u64::MAX,
        }
    }

    #[inline(always)]
    fn push(&mut self, event: Event) {
        self.bound = self.bound.min(event.at);
        let bucket = event.at.0 >> self.shift;
        if bucket.wrapping_sub(self.current + 1) < MASK {
            self.put(bucket, event);
        } else if bucket <= self.current {
            self.put_due(event);
        } else {
            self.put_far(bucket, event);
        }
    }

    /// The first event if it is at `until` or before; else one that is later than `until`.
    #[inline(always)]
    fn head(&mut self, until: Instant) -> Event {
        if let Some(&event) = self.due.get(self.cursor) { event } else { self.next_head(until) }
    }

    fn next_head(&mut self, until: Instant) -> Event {
        loop {
            if let Some(&event) = self.due.get(self.cursor) {
                self.bound = event.at;
                return event;
            }
            let next = self.next_occupied().unwrap_or(u64::MAX).min(self.far_bucket);
            if next == u64::MAX {
                self.bound = Instant::NEVER;
                return LAST;
            }
            let start = Instant(next << self.shift);
            if start > until {
                self.bound = start;
                return LAST;
            }
            self.advance(next);
        }
    }

    /// Removes the event that `head` has shown.
    #[inline(always)]
    fn take(&mut self) {
        self.cursor += 1;
        if let Some(next) = self.due.get(self.cursor) {
            self.bound = next.at;
        }
    }

    #[inline(always)]
    fn put(&mut self, bucket: u64, event: Event) {
        let index = (bucket & MASK) as usize;
        let events = &mut self.buckets[index];
        if events.is_empty() {
            self.occupied[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        }
        events.push(event);
    }

    fn put_due(&mut self, event: Event) {
        let mut index = self.due.len();
        while index > self.cursor && event.before(self.due[index - 1]) {
            index -= 1;
        }
        self.due.insert(index, event);
    }

    #[cold]
    fn put_far(&mut self, bucket: u64, event: Event) {
        self.far.push(Reverse((event.at, event.rank, self.far_inserted, event.what)));
        self.far_inserted += 1;
        self.far_bucket = self.far_bucket.min(bucket);
    }

    /// Makes `next`, the first bucket that holds something, the current one.
    fn advance(&mut self, next: u64) {
        self.current = next;
        self.due.clear();
        self.cursor = 0;
        if self.far_bucket != u64::MAX && self.far_bucket <= next + MASK {
            self.fetch_far();
        }
        let index = (next & MASK) as usize;
        std::mem::swap(&mut self.due, &mut self.buckets[index]);
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.summary &= !(1 << (index / 64));
        }
        // Events of one time and rank stand in order of insertion already: those from the heap came first.
        if self.due.len() <= 24 {
            insertion_sort(&mut self.due);
        } else {
            self.due.sort_by_key(|event| (event.at, event.rank));
        }
    }

    /// Moves what has come within reach from the heap to the buckets. No event can have been put into those directly.
    #[cold]
    fn fetch_far(&mut self) {
        self.far_bucket = u64::MAX;
        while let Some(&Reverse((at, rank, _, what))) = self.far.peek() {
            let bucket = at.0 >> self.shift;
            if bucket > self.current + MASK {
                self.far_bucket = bucket;
                break;
            }
            self.far.pop();
            self.put(bucket, Event { at, what, rank });
        }
    }

    /// The number of the first bucket after the current one that holds something.
    fn next_occupied(&self) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let from = ((self.current + 1) & MASK) as usize;
        let word = from / 64;
        let rest = self.occupied[word] & (u64::MAX << (from % 64));
        let index = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            let above = if word == 63 { 0 } else { self.summary & (u64::MAX << (word + 1)) };
            let words = if above != 0 { above } else { self.summary };
            let word = words.trailing_zeros() as usize;
            word * 64 + self.occupied[word].trailing_zeros() as usize
        };
        Some(self.current + 1 + ((index as u64).wrapping_sub(from as u64) & MASK))
    }
}

/// Sorts by time and rank; events that are equal in both keep their order.
#[inline(always)]
fn insertion_sort(events: &mut [Event]) {
    for i in 1..events.len() {
        let event = events[i];
        let mut j = i;
        while j > 0 && event.before(events[j - 1]) {
            events[j] = events[j - 1];
            j -= 1;
        }
        events[j] = event;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain heap of (time, rank, insertion), for any span, any lanes and any mix of near and far events. A rank
        /// of 100 and more is made once, and goes to a lane; the others are common, and go to the calendar.
        #[test]
        fn order_is_time_then_rank_then_insertion(
            reach in 1u64..1_000_000_000,
            steps in prop::collection::vec((0u64..40, 0u32..24, 0u8..5, 0u32..1000, 0usize..4), 1..400),
        ) {
            let mut queue = EventQueue::new(reach, 1e6);
            let mut reference = BinaryHeap::new();
            let (mut now, mut inserted) = (0, 0u32);
            for (ahead, scale, lane, chance, takes) in steps {
                let at = now + (ahead << scale);
                let common = lane >= NO_LANE;
                let rank = if common { chance % 4 } else { (chance + 1) << 10 | inserted };
                queue.push(lane, Instant(at), rank, inserted);
                reference.push(Reverse((at, rank, inserted)));
                inserted += 1;
                for _ in 0..takes {
                    let expected = reference.pop().map(|Reverse((at, _, what))| (Instant(at), what));
                    let taken = queue.pop(Instant::NEVER);
                    prop_assert_eq!(taken, expected);
                    now = taken.map_or(now, |(at, _)| at.0);
                }
            }
            while let Some(Reverse((at, _, what))) = reference.pop() {
                prop_assert_eq!(queue.pop(Instant::NEVER), Some((Instant(at), what)));
            }
            prop_assert_eq!(queue.pop(Instant::NEVER), None);
        }
    }

    #[test]
    fn a_limit_leaves_later_events_in_place() {
        let mut queue = EventQueue::new(1_000, 1e6);
        queue.push(0, Instant(50), 0, 1);
        queue.push(NO_LANE, Instant(10_000_000_000_000), 0, 2);
        assert_eq!(queue.pop(Instant(50)), None);
        assert_eq!(queue.pop(Instant(51)), Some((Instant(50), 1)));
        assert_eq!(queue.pop(Instant(1_000_000)), None);
        queue.push(NO_LANE, Instant(2_000_000), 0, 3);
        assert_eq!(queue.pop(Instant::NEVER), Some((Instant(2_000_000), 3)));
        assert_eq!(queue.pop(Instant::NEVER), Some((Instant(10_000_000_000_000), 2)));
    }
}
