//! The event queue: a few first-in-first-out lanes, and a calendar for the rest.
//!
//! Events come out in order of (time, rank), not in the order in which they were put in: a rank says which entity an
//! event belongs to ([`crate::state::event::Event`]). Events of one time and rank, of which no two may be in lanes unless they
//! are the same, come out in the order in which their entity has made them.
//!
//! *Lanes.* Most events are made by the same rule over and over. A frame that starts on an idle line of a common kind
//! is delivered a fixed time later; a limiter wakes a fixed time later. Such events are made in the order of their
//! times, so a plain queue holds them. The code that makes one names its lane. An event that is before the last of its
//! lane goes to the calendar, so a lane is a matter of speed, never of results.
//!
//! *Calendar.* It covers `BUCKETS` equal spans of time from the current one on; a bitmap finds the next bucket that
//! holds something. An event further away waits in a heap until its bucket comes within reach. A bucket is sorted when
//! its turn comes. The spans grow or shrink until a bucket holds a few events: the number of those that come to the
//! calendar is not known beforehand. (Brown 1988 does the same with the number of buckets.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_schemes::{Duration, Instant};
use penstock_switch::events::{ELSEWHERE, Lane};

/// The content of an event: a kind and an index, packed by the engine.
pub(crate) type Packed = u32;

/// An event's turn among those of one time.
pub(crate) type Rank = u32;

/// How many lanes there are: for deliveries over the two most common kinds of lines, and for releases.
pub(crate) const LANES: usize = 3;
/// The lane of limiters' releases.
pub(crate) const RELEASES: Lane = 2;
/// No lane: straight to the calendar.
pub(crate) const NO_LANE: Lane = LANES as Lane;

/// An event in the queue, packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduled {
    pub(crate) at: Instant,
    pub(crate) what: Packed,
    pub(crate) rank: Rank,
}

impl Scheduled {
    /// Whether it comes before `other`.
    #[inline(always)]
    fn before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && self.rank < other.rank)
    }
}

/// Later than any event.
const LAST: Scheduled = Scheduled { at: Instant::NEVER, what: 0, rank: Rank::MAX };

/// A queue of events whose times never precede the last one taken.
#[derive(Debug)]
pub(crate) struct EventQueue {
    lanes: [Ring; LANES],
    calendar: Calendar,
    /// Events that happen elsewhere, in the order in which they were made.
    pub(crate) elsewhere: Vec<Scheduled>,
}

impl EventQueue {
    /// A queue for events that are mostly at most `reach` ahead, `per_second` of them in a second.
    pub(crate) fn new(reach: Duration, per_second: f64) -> Self {
        Self {
            lanes: std::array::from_fn(|_| Ring::new()),
            calendar: Calendar::new(reach, per_second),
            elsewhere: Vec::new(),
        }
    }

    /// Puts in an event at `at`, which is not before the last event taken.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: Lane, at: Instant, rank: Rank, what: Packed) {
        if !self.lanes.get_mut(usize::from(lane)).is_some_and(|lane| lane.push(at, rank, what)) {
            let event = Scheduled { at, what, rank };
            if lane == ELSEWHERE {
                self.elsewhere.push(event);
            } else {
                self.calendar.push(event);
            }
        }
    }

    /// Whether all events here come after one with this time and rank.
    #[inline(always)]
    pub(crate) fn is_behind(&mut self, at: Instant, rank: Rank) -> bool {
        let event = Scheduled { at, what: 0, rank };
        self.lanes.iter().all(|lane| at < lane.first_at || event.before(lane.first()))
            && (at < self.calendar.bound || event.before(self.calendar.head(at)))
    }

    /// Shows events up to `until`, most of them once, in no order; those that come late are left out.
    pub(crate) fn foresee(&mut self, until: Instant, mut see: impl FnMut(Scheduled)) {
        for lane in &mut self.lanes {
            lane.foresee(until, &mut see);
        }
        self.calendar.foresee(until, &mut see);
    }

    /// How many events there are, or somewhat more.
    pub(crate) fn room(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(|lane| lane.tail.wrapping_sub(lane.head) % LANE_SIZE).sum();
        lanes + self.calendar.due.len() + self.calendar.buckets.nodes.len() + self.calendar.far.len()
    }

    /// Replaces each event's content by what `change` makes of it. Times and turns stay.
    pub(crate) fn change(&mut self, change: &mut dyn FnMut(Packed) -> Packed) {
        for lane in &mut self.lanes {
            let mut slot = lane.head;
            while slot != lane.tail {
                lane.events[slot].what = change(lane.events[slot].what);
                slot = (slot + 1) % LANE_SIZE;
            }
        }
        let calendar = &mut self.calendar;
        calendar.due.iter_mut().skip(calendar.cursor).for_each(|event| event.what = change(event.what));
        // No two have come as the same: the content decides nothing.
        let mut far = std::mem::take(&mut calendar.far).into_vec();
        far.iter_mut().for_each(|Reverse((_, _, _, what))| *what = change(*what));
        calendar.far = far.into();
        let held: Vec<Chain> = calendar.buckets.held().collect();
        for chain in held {
            let mut slot = chain.first;
            while let Some(node) = calendar.buckets.nodes.get_mut(slot as usize) {
                node.event.what = change(node.event.what);
                slot = node.next;
            }
        }
    }

    /// Takes the first event, if it is before `limit`.
    #[inline(always)]
    pub(crate) fn pop(&mut self, limit: Instant) -> Option<(Instant, Packed)> {
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

/// How many events a lane holds at the most; the calendar takes the rest.
const LANE_SIZE: usize = 1 << 13;

/// A queue of events in a ring.
#[derive(Debug)]
#[repr(align(64))]
struct Ring {
    /// Time of the first event, never if there is none.
    first_at: Instant,
    /// Time of the last event, also when it has been taken.
    last_at: Instant,
    /// Where the first event is, and where the next one goes: one place at least stays free.
    head: usize,
    tail: usize,
    /// The place behind the last event that has been shown.
    foreseen: usize,
    events: Box<[Scheduled; LANE_SIZE]>,
}

impl Ring {
    fn new() -> Self {
        let events = vec![LAST; LANE_SIZE].into_boxed_slice().try_into().expect("the size is LANE_SIZE");
        Self { first_at: Instant::NEVER, last_at: Instant::ZERO, head: 0, tail: 0, foreseen: 0, events }
    }

    /// Appends an event; false if it cannot be the last one here, or if there is no room.
    #[inline(always)]
    fn push(&mut self, at: Instant, rank: Rank, what: Packed) -> bool {
        let next = (self.tail + 1) % LANE_SIZE;
        if at < self.last_at || next == self.head {
            return false;
        }
        // Not as a whole: it would be put together first.
        let slot = &mut self.events[self.tail % LANE_SIZE];
        (slot.at, slot.what, slot.rank) = (at, what, rank);
        if self.first_at == Instant::NEVER {
            self.first_at = at;
        }
        self.tail = next;
        if self.last_at == at {
            self.sink();
        }
        self.last_at = at;
        true
    }

    /// See [`EventQueue::foresee`].
    fn foresee(&mut self, until: Instant, see: &mut impl FnMut(Scheduled)) {
        let held = self.tail.wrapping_sub(self.head) % LANE_SIZE;
        if self.foreseen.wrapping_sub(self.head) % LANE_SIZE > held {
            self.foreseen = self.head;
        }
        while self.foreseen != self.tail && self.events[self.foreseen].at <= until {
            see(self.events[self.foreseen]);
            self.foreseen = (self.foreseen + 1) % LANE_SIZE;
        }
    }

    /// Moves the last event before those of its time that come after it.
    #[cold]
    fn sink(&mut self) {
        let before = |slot: usize| slot.wrapping_sub(1) % LANE_SIZE;
        let mut slot = before(self.tail);
        let event = self.events[slot];
        while slot != self.head && event.before(self.events[before(slot)]) {
            self.events[slot] = self.events[before(slot)];
            slot = before(slot);
        }
        self.events[slot] = event;
    }

    /// Takes the first event; there must be one.
    #[inline(always)]
    fn pop(&mut self) -> Packed {
        let what = self.events[self.head % LANE_SIZE].what;
        self.head = (self.head + 1) % LANE_SIZE;
        self.first_at = if self.head == self.tail { Instant::NEVER } else { self.events[self.head].at };
        what
    }

    /// The first event, or one that is later than all.
    #[inline(always)]
    fn first(&self) -> Scheduled {
        Scheduled { at: self.first_at, ..self.events[self.head % LANE_SIZE] }
    }

    /// Whether the first event here comes before the first one of `other`.
    #[inline(always)]
    fn before(&self, other: &Self) -> bool {
        self.first_at < other.first_at || (self.first_at == other.first_at && self.first().before(other.first()))
    }
}

const BUCKETS: usize = 4096;
/// The longest span of a bucket: 17 ms.
const LONGEST_SPAN: u64 = 1 << 34;
/// After this number of buckets the queue checks whether their span suits the events.
const PERIOD: u32 = 256;
/// Fewer events than this in a bucket, on average, and its span grows; more than that, and it shrinks.
const FEW: usize = 3;
const MANY: usize = 24;
/// This number of events in one bucket shrinks the span at once: where the next bucket never comes, the span would not
/// be looked at.
const CROWD: usize = 256;
const MASK: u64 = BUCKETS as u64 - 1;
const WORDS: usize = BUCKETS / 64;

#[derive(Debug)]
struct Calendar {
    /// No event is before this time; never if there is none.
    bound: Instant,
    /// log2 of a bucket's span in picoseconds, and the least that it may be.
    shift: u32,
    least_shift: u32,
    /// Buckets that have become current since the span was last looked at, and the events that were in those before them.
    advances: u32,
    fetched: usize,
    /// Room for the events while the span changes.
    moving: Vec<Scheduled>,
    /// Number of the current bucket, counted from time zero.
    current: u64,
    /// The current bucket's events in order; those before `cursor` are taken.
    due: Vec<Scheduled>,
    cursor: usize,
    buckets: Buckets,
    far: BinaryHeap<Reverse<(Instant, Rank, u64, Packed)>>,
    far_inserted: u64,
    /// Bucket of the first event in `far`.
    far_bucket: u64,
    /// The last bucket whose events have been shown.
    foreseen: u64,
}

impl Calendar {
    fn new(reach: Duration, per_second: f64) -> Self {
        let shift = |span: u64| span.clamp(1 << 4, LONGEST_SPAN).next_power_of_two().trailing_zeros();
        let few_events = (4e12 / per_second.max(1.0)) as u64;
        let least = reach.0.saturating_mul(2) / BUCKETS as u64;
        Self {
            bound: Instant::NEVER,
            shift: shift(few_events.max(least)),
            least_shift: shift(least),
            advances: 0,
            fetched: 0,
            moving: Vec::new(),
            current: 0,
            due: Vec::with_capacity(CROWD + 1),
            cursor: 0,
            buckets: Buckets::new(),
            far: BinaryHeap::new(),
            far_inserted: 0,
            far_bucket: u64::MAX,
            foreseen: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, event: Scheduled) {
        self.bound = self.bound.min(event.at);
        let bucket = event.at.0 >> self.shift;
        if bucket.wrapping_sub(self.current + 1) < MASK {
            self.buckets.put(bucket, event);
        } else if bucket <= self.current {
            self.put_due(event);
        } else {
            self.put_far(bucket, event);
        }
    }

    /// The first event if it is at `until` or before; else one that is later than `until`.
    #[inline(always)]
    fn head(&mut self, until: Instant) -> Scheduled {
        if let Some(&event) = self.due.get(self.cursor) { event } else { self.next_head(until) }
    }

    fn next_head(&mut self, until: Instant) -> Scheduled {
        loop {
            if let Some(&event) = self.due.get(self.cursor) {
                self.bound = event.at;
                return event;
            }
            let next = self.buckets.next_after(self.current).unwrap_or(u64::MAX).min(self.far_bucket);
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

    /// See [`EventQueue::foresee`]. The current bucket was shown before.
    fn foresee(&mut self, until: Instant, see: &mut impl FnMut(Scheduled)) {
        let last = (until.0 >> self.shift).min(self.current + MASK);
        self.foreseen = self.foreseen.max(self.current);
        while self.foreseen < last
            && let Some(next) = self.buckets.next_after(self.foreseen)
            && next <= last
        {
            self.buckets.events(next).for_each(&mut *see);
            self.foreseen = next;
        }
        self.foreseen = self.foreseen.max(last);
    }

    fn put_due(&mut self, event: Scheduled) {
        let mut index = self.due.len();
        while index > self.cursor && event.before(self.due[index - 1]) {
            index -= 1;
        }
        self.due.insert(index, event);
        if self.due.len() > CROWD && self.shift >= self.least_shift + 2 {
            self.set_shift(self.shift - 2);
        }
    }

    #[cold]
    fn put_far(&mut self, bucket: u64, event: Scheduled) {
        self.far.push(Reverse((event.at, event.rank, self.far_inserted, event.what)));
        self.far_inserted += 1;
        self.far_bucket = self.far_bucket.min(bucket);
    }

    /// Makes `next`, the first bucket that holds something, the current one.
    fn advance(&mut self, next: u64) {
        self.current = next;
        self.advances += 1;
        self.fetched += self.due.len();
        self.due.clear();
        self.cursor = 0;
        if self.far_bucket != u64::MAX && self.far_bucket <= next + MASK {
            self.fetch_far();
        }
        self.buckets.empty(next, &mut self.due);
        // Events of one time and rank stand in order of insertion already: those from the heap came first.
        if self.due.len() <= 24 {
            insertion_sort(&mut self.due);
        } else {
            self.due.sort_by_key(|event| (event.at, event.rank));
        }
        if self.advances == PERIOD {
            self.adapt();
        }
    }

    /// Changes the span if a bucket has held few events or many.
    #[cold]
    fn adapt(&mut self) {
        let mean = self.fetched / PERIOD as usize;
        (self.advances, self.fetched) = (0, 0);
        if mean < FEW && 1 << (self.shift + 2) <= LONGEST_SPAN {
            self.set_shift(self.shift + 2);
        } else if mean > MANY && self.shift >= self.least_shift + 2 {
            self.set_shift(self.shift - 2);
        }
    }

    /// Puts all events into buckets of another span. Events of one time and rank keep their order: they are in one bucket, or
    /// all in the heap.
    fn set_shift(&mut self, shift: u32) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.extend(self.due.drain(..).skip(self.cursor));
        while let Some(next) = self.buckets.next_after(self.current) {
            self.current = next;
            self.buckets.empty(next, &mut moving);
        }
        while let Some(Reverse((at, rank, _, what))) = self.far.pop() {
            moving.push(Scheduled { at, what, rank });
        }
        (self.cursor, self.far_bucket, self.bound, self.shift) = (0, u64::MAX, Instant::NEVER, shift);
        self.foreseen = 0;
        self.current = moving.first().map_or(self.current, |first| first.at.0 >> shift);
        for event in moving.drain(..) {
            self.push(event);
        }
        self.moving = moving;
    }

    /// Moves the events that have come within reach from the heap to the buckets. No event can have been put into those
    /// directly.
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
            self.buckets.put(bucket, Scheduled { at, what, rank });
        }
    }
}

/// Sorts by time and rank; events that are equal in both keep their order.
#[inline(always)]
fn insertion_sort(events: &mut [Scheduled]) {
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

/// No node.
const NO_NODE: u32 = u32::MAX;

/// An event in a bucket, and the node of the event that came to the bucket after it.
#[derive(Clone, Copy, Debug)]
struct Node {
    event: Scheduled,
    next: u32,
}

/// The events of a bucket, first in, first out; an empty one has no last node.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

/// The buckets after the current one. Each is a chain of nodes: a separate list for each would grow again and again.
#[derive(Debug)]
struct Buckets {
    /// The chain of each bucket.
    chains: Box<[Chain; BUCKETS]>,
    nodes: Vec<Node>,
    /// The first of the chain of free nodes.
    free: u32,
    /// A bit for each bucket that holds something, and a bit for each word of them.
    occupied: [u64; WORDS],
    summary: u64,
}

impl Buckets {
    fn new() -> Self {
        let chains = Box::new([Chain { first: NO_NODE, last: NO_NODE }; BUCKETS]);
        Self { chains, nodes: Vec::new(), free: NO_NODE, occupied: [0; WORDS], summary: 0 }
    }

    #[inline(always)]
    fn put(&mut self, bucket: u64, event: Scheduled) {
        let index = (bucket & MASK) as usize;
        let slot = if let Some(node) = self.nodes.get_mut(self.free as usize) {
            let next = node.next;
            (node.event, node.next) = (event, NO_NODE);
            std::mem::replace(&mut self.free, next)
        } else {
            self.nodes.push(Node { event, next: NO_NODE });
            (self.nodes.len() - 1) as u32
        };
        let chain = &mut self.chains[index];
        if let Some(last) = self.nodes.get_mut(chain.last as usize) {
            last.next = slot;
        } else {
            chain.first = slot;
            self.occupied[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        }
        chain.last = slot;
    }

    /// The chains that hold something.
    fn held(&self) -> impl Iterator<Item = Chain> + '_ {
        let holds = |index: usize| self.occupied[index / 64] & (1 << (index % 64)) != 0;
        (0..BUCKETS).filter(move |&index| holds(index)).map(|index| self.chains[index])
    }

    /// The events of a bucket.
    fn events(&self, bucket: u64) -> impl Iterator<Item = Scheduled> + '_ {
        let mut slot = self.chains[(bucket & MASK) as usize].first;
        std::iter::from_fn(move || {
            let node = self.nodes.get(slot as usize)?;
            slot = node.next;
            Some(node.event)
        })
    }

    /// Empties a bucket into `events`, in the order in which they came.
    #[inline(always)]
    fn empty(&mut self, bucket: u64, events: &mut Vec<Scheduled>) {
        let index = (bucket & MASK) as usize;
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.summary &= !(1 << (index / 64));
        }
        let chain = &mut self.chains[index];
        let first = chain.first;
        let mut slot = first;
        while let Some(node) = self.nodes.get(slot as usize) {
            events.push(node.event);
            slot = node.next;
        }
        if let Some(last) = self.nodes.get_mut(chain.last as usize) {
            last.next = std::mem::replace(&mut self.free, first);
        }
        chain.last = NO_NODE;
    }

    /// The number of the first bucket after `current` that holds something.
    #[inline(always)]
    fn next_after(&self, current: u64) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let from = ((current + 1) & MASK) as usize;
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
        Some(current + 1 + ((index as u64).wrapping_sub(from as u64) & MASK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a plain heap of (time, rank, insertion), for any span, any lanes and any mix of near and far events. A rank
        /// of 100 and more is made once, and goes to a lane; the others are common, and go to the calendar. Events that happen
        /// elsewhere are kept aside, as they were made.
        #[test]
        fn order_is_time_then_rank_then_insertion(
            reach in 1u64..1_000_000_000,
            steps in prop::collection::vec((0u64..40, 0u32..24, 0u8..5, 0u32..1000, 0usize..4), 1..400),
        ) {
            let mut queue = EventQueue::new(Duration(reach), 1e6);
            let mut reference = BinaryHeap::new();
            let (mut now, mut inserted) = (0, 0u32);
            let (mut elsewhere, mut pending) = (Vec::new(), BTreeSet::new());
            for (ahead, scale, lane, chance, takes) in steps {
                let at = now + (ahead << scale);
                let common = lane >= NO_LANE;
                let rank = if common { chance % 4 } else { (chance + 1) << 10 | inserted };
                queue.push(lane, Instant(at), rank, inserted);
                if lane == ELSEWHERE {
                    elsewhere.push((Instant(at), rank, inserted));
                } else {
                    reference.push(Reverse((at, rank, inserted)));
                    pending.insert(inserted);
                }
                // To look at what comes changes nothing, and shows nothing that has gone.
                queue.foresee(Instant(at), |event| assert!(pending.contains(&event.what)));
                inserted += 1;
                for _ in 0..takes {
                    let expected = reference.pop().map(|Reverse((at, _, what))| (Instant(at), what));
                    let taken = queue.pop(Instant::NEVER);
                    prop_assert_eq!(taken, expected);
                    now = taken.map_or(now, |(at, _)| at.0);
                    if let Some((_, what)) = taken {
                        pending.remove(&what);
                    }
                }
            }
            while let Some(Reverse((at, _, what))) = reference.pop() {
                prop_assert_eq!(queue.pop(Instant::NEVER), Some((Instant(at), what)));
            }
            prop_assert_eq!(queue.pop(Instant::NEVER), None);
            let aside: Vec<_> = queue.elsewhere.iter().map(|event| (event.at, event.rank, event.what)).collect();
            prop_assert_eq!(aside, elsewhere);
        }
    }

    /// Events that come far apart, then close together: the span grows, then shrinks, and the order stays that of a heap.
    #[test]
    fn the_span_suits_the_events() {
        let mut queue = EventQueue::new(Duration(1), 1e12);
        let (mut reference, mut now, mut made) = (BinaryHeap::new(), 0, 0);
        let mut shifts = Vec::new();
        for (distance, pending) in [(1_000_000, 20), (3, 5_000)] {
            for round in 0..60_000 {
                while reference.len() < pending {
                    let at = now + (made as u64 * 7919) % (2 * distance * pending as u64);
                    queue.push(NO_LANE, Instant(at), made % 3, made);
                    reference.push(Reverse((at, made % 3, made)));
                    made += 1;
                }
                let expected = reference.pop().map(|Reverse((at, _, what))| (Instant(at), what));
                assert_eq!(queue.pop(Instant::NEVER), expected, "round {round}");
                now = expected.map_or(now, |(at, _)| at.0);
            }
            shifts.push(queue.calendar.shift);
        }
        // 3 events at a distance of 1 us last some 2^21.5 ps, and the span may be four times that; 24 at 3 ps last some 2^6.
        assert!((20..=24).contains(&shifts[0]) && (4..=9).contains(&shifts[1]), "{shifts:?}");
    }

    #[test]
    fn a_limit_leaves_later_events_in_place() {
        let mut queue = EventQueue::new(Duration(1_000), 1e6);
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
