//! Entropy values with states, as sources of MRC keep them. (OCP, *Multipath Reliable Connection*, revision 1.0, section 9 and figure 5;
//! a reconstruction from texts about it)
//!
//! ```text
//!                  marked, or trimmed before the last hop                  nothing heard of a frame, and later ones have arrived
//!   SKIP <------------------------------------------------ GOOD --------------------------------------------> ASSUMED BAD
//!     \_________________ its turn has passed once __________^ ^__________ the answer to a probe, or a late one ________/
//!
//!   DENIED: by the operator, and never used
//! ```
//!
//! A source takes the good values of its list in turns, each for one frame. The answer to a frame says how it fared. A frame that was trimmed at the
//! last hop says nothing of its path: all paths lead there. A frame counts as lost without a trace when frames that were sent `overtaken`
//! later have been answered, or when the transport has timed out; then its value is assumed bad, and probes test it.
//! Where values belong to planes, the turn of a value that is not good goes to another of its plane, so that planes carry alike.
//!
//! Values in reserve take the places of those that are assumed bad or denied, each of one of its plane, as long as there are good ones. A value that has
//! lost its place is probed as others are, and waits in the reserve.
//!
//! Readings, where the texts leave it open: the turn of a skipped value passes once. A late answer restores a value as that to a probe does.
//! A source whose values are all bad uses them nevertheless.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use penstock_schemes::{Draw, Duration, Instant};

/// The values that each flow has, and when their states change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// How many values are used in turns.
    pub values: u16,
    /// Values in reserve: of all values that are numbered or drawn those that come last in the order of the flow.
    pub backup: u16,
    /// They are the numbers of paths, from 0 on, rather than drawn.
    pub numbered: bool,
    /// Planes. Value v belongs to plane v mod `planes`; one where values are drawn.
    pub planes: u16,
    /// Frames sent later and answered after which one without answer counts as lost.
    pub overtaken: u32,
    /// Time between two probes of a value that is assumed bad.
    pub probe_interval: Duration,
    /// Values that are never used. At least one is left.
    pub denied: Vec<u16>,
}

/// The state of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Skip,
    AssumedBad,
    Denied,
}

/// What an answer says of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It has arrived.
    Arrived,
    /// It has arrived with a mark.
    Marked,
    /// Its header has arrived.
    Trimmed,
    /// Its header has arrived, which the last switch before the destination has cut off.
    TrimmedAtLastHop,
}

/// The value of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The value.
    pub value: u16,
    /// Its slot among those of the flow.
    pub slot: u16,
    /// The number of the frame, modulo 2^32; of a probe none.
    pub number: Option<u32>,
}

/// How often states changed, and probes were sent, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathChanges {
    /// Good values that are skipped once.
    pub skipped: u64,
    /// Values that became assumed bad.
    pub assumed_bad: u64,
    /// Values that were restored from that.
    pub restored: u64,
    /// Probes.
    pub probes: u64,
}

/// A value in its place of the list.
#[derive(Debug, Clone, Copy)]
struct Slot {
    value: u16,
    state: State,
    /// While it is assumed bad: when it is probed next.
    probe_at: Instant,
}

/// A frame whose answer is awaited.
#[derive(Debug, Clone, Copy)]
struct Sent {
    slot: u16,
    answered: bool,
    /// The sequence number of its segment.
    seq: u32,
    at: Instant,
}

/// The entropy values of a flow.
#[derive(Debug, Clone)]
pub struct EntropyStates {
    slots: Vec<Slot>,
    /// The slots that are used in turns. Place p is of plane p modulo `planes`, as slot p is.
    active: Vec<u16>,
    /// The others, in the order in which they take over.
    reserve: VecDeque<u16>,
    planes: usize,
    overtaken: u32,
    probe_interval: Duration,
    /// The place whose turn was last, and those within each plane from which turns of others were filled last.
    last: usize,
    last_of_plane: Vec<usize>,
    /// Frames from number `first` on.
    sent: VecDeque<Sent>,
    first: u32,
    /// The number after that of the latest frame that was answered.
    answered: u32,
    round_trip: Duration,
    /// When the next probe may be due; never while no value is assumed bad.
    probe_at: Instant,
    changes: PathChanges,
}

impl EntropyStates {
    /// The values of a flow by `profile`, in an order that is drawn.
    pub fn new(profile: &Profile, words: &mut impl Draw) -> Self {
        let planes = usize::from(profile.planes.max(1));
        let mut values: Vec<u16> = (0..profile.values + profile.backup).collect();
        if profile.numbered {
            shuffle_within_planes(&mut values, planes, words);
        } else {
            values.iter_mut().for_each(|value| *value = words.draw() as u16);
        }
        let state = |value: u16| if profile.denied.contains(&value) { State::Denied } else { State::Good };
        let slot = |value| Slot { value, state: state(value), probe_at: Instant::NEVER };
        let last = below(words, profile.values.into());
        let mut own = Self {
            slots: values.into_iter().map(slot).collect(),
            active: (0..profile.values).collect(),
            reserve: (profile.values..profile.values + profile.backup).collect(),
            planes,
            overtaken: profile.overtaken,
            probe_interval: profile.probe_interval,
            last,
            last_of_plane: (0..planes).collect(),
            sent: VecDeque::new(),
            first: 0,
            answered: 0,
            round_trip: Duration::ZERO,
            probe_at: Instant::NEVER,
            changes: PathChanges::default(),
        };
        for slot in 0..profile.values {
            if own.slots[usize::from(slot)].state == State::Denied {
                own.replace(slot);
            }
        }
        own
    }

    /// The value of a frame that is sent now, with the segment of sequence number `seq`.
    pub fn next(&mut self, now: Instant, seq: u32) -> Turn {
        let slot = self.turn();
        let number = self.first.wrapping_add(self.sent.len() as u32);
        self.sent.push_back(Sent { slot: slot as u16, answered: false, seq, at: now });
        Turn { value: self.slots[slot].value, slot: slot as u16, number: Some(number) }
    }

    /// The slot whose turn it is. In a second round those that the first one skipped are good.
    fn turn(&mut self) -> usize {
        let places = self.active.len();
        for _ in 0..2 * places {
            self.last = (self.last + 1) % places;
            let slot = usize::from(self.active[self.last]);
            match self.slots[slot].state {
                State::Good => return slot,
                State::Skip => self.slots[slot].state = State::Good,
                State::AssumedBad | State::Denied => {}
            }
            if let Some(other) = self.other_of_plane(self.last % self.planes) {
                return other;
            }
        }
        let mut after = (1..=places).map(|ahead| (self.last + ahead) % places);
        let usable = after.find(|&place| self.slots[usize::from(self.active[place])].state != State::Denied);
        self.last = usable.unwrap_or(self.last);
        usize::from(self.active[self.last])
    }

    /// Another good slot of a plane, where there are several planes.
    fn other_of_plane(&mut self, plane: usize) -> Option<usize> {
        if self.planes == 1 {
            return None;
        }
        let (from, places) = (self.last_of_plane[plane], self.active.len());
        let ahead = (1..=places / self.planes).map(|step| (from + step * self.planes) % places);
        let slot = |place: usize| usize::from(self.active[place]);
        let other = ahead.into_iter().find(|&place| self.slots[slot(place)].state == State::Good)?;
        self.last_of_plane[plane] = other;
        Some(slot(other))
    }

    /// A slot of the reserve takes the place of `slot`, if a good one of its plane is there.
    #[cold]
    fn replace(&mut self, slot: u16) {
        let Some(place) = self.active.iter().position(|&own| own == slot) else { return };
        let fits = |other: usize| {
            other % self.planes == place % self.planes && matches!(self.slots[other].state, State::Good | State::Skip)
        };
        let Some(at) = self.reserve.iter().position(|&other| fits(usize::from(other))) else { return };
        if let Some(other) = self.reserve.remove(at) {
            self.active[place] = other;
            self.reserve.push_back(slot);
        }
    }

    /// The answer to the frame, or the probe, of `turn` has come. `has_arrived` says of a sequence number whether its segment is known to have arrived.
    pub fn on_answer(&mut self, now: Instant, turn: Turn, heard: Heard, has_arrived: impl Fn(u32) -> bool) {
        if let Some(number) = turn.number {
            let ahead = number.wrapping_sub(self.first);
            if let Some(sent) = self.sent.get_mut(ahead as usize) {
                sent.answered = true;
                self.round_trip = now.since(sent.at);
            }
            // Of two numbers the later one is less than half of all numbers ahead.
            let after = number.wrapping_add(1);
            if after.wrapping_sub(self.answered) < 1 << 31 {
                self.answered = after;
            }
        }
        self.hear(turn.slot, heard);
        while let Some(&Sent { slot, answered, seq, .. }) = self.sent.front() {
            let overtaken = self.answered.wrapping_sub(self.first) as i32 > self.overtaken as i32;
            if !answered && !overtaken {
                break;
            }
            if !answered && !has_arrived(seq) {
                self.assume_bad(now, slot);
            }
            self.sent.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    fn hear(&mut self, slot: u16, heard: Heard) {
        let Some(slot) = self.slots.get_mut(usize::from(slot)) else { return };
        self.changes.restored += u64::from(slot.state == State::AssumedBad);
        let skips = matches!(heard, Heard::Marked | Heard::Trimmed);
        self.changes.skipped += u64::from(skips && matches!(slot.state, State::Good | State::AssumedBad));
        slot.state = match slot.state {
            State::Denied => State::Denied,
            _ if skips => State::Skip,
            State::AssumedBad => State::Good,
            state => state,
        };
    }

    fn assume_bad(&mut self, now: Instant, number: u16) {
        let slot = &mut self.slots[usize::from(number)];
        if matches!(slot.state, State::Good | State::Skip) {
            self.changes.assumed_bad += 1;
            (slot.state, slot.probe_at) = (State::AssumedBad, now + self.probe_interval);
            self.probe_at = self.probe_at.min(slot.probe_at);
            self.replace(number);
        }
    }

    /// The transport has timed out: frames without an answer for more than two round trips are lost.
    pub fn on_silence(&mut self, now: Instant, has_arrived: impl Fn(u32) -> bool) {
        while let Some(&Sent { slot, answered, seq, at }) = self.sent.front() {
            if !answered && now.since(at) <= self.round_trip + self.round_trip {
                break;
            }
            if !answered && !has_arrived(seq) {
                self.assume_bad(now, slot);
            }
            self.sent.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// The probe that is due now.
    pub fn probe(&mut self, now: Instant) -> Option<Turn> {
        if now < self.probe_at {
            return None;
        }
        let bad = |slot: &&mut Slot| slot.state == State::AssumedBad;
        let due =
            self.slots.iter_mut().enumerate().find(|(_, slot)| slot.state == State::AssumedBad && slot.probe_at <= now);
        let turn = due.map(|(place, slot)| {
            slot.probe_at = now + self.probe_interval;
            Turn { value: slot.value, slot: place as u16, number: None }
        });
        self.changes.probes += u64::from(turn.is_some());
        self.probe_at = self.slots.iter_mut().filter(bad).map(|slot| slot.probe_at).min().unwrap_or(Instant::NEVER);
        turn
    }

    /// How often states have changed.
    #[must_use]
    pub fn changes(&self) -> PathChanges {
        self.changes
    }
}

/// A number below `end`, each as likely as the others.
fn below(words: &mut impl Draw, end: usize) -> usize {
    ((u64::from(words.draw()) * end as u64) >> 32) as usize
}

/// Orders the values of each plane by chance; the planes still come in turns. (Fisher and Yates, in each of them)
fn shuffle_within_planes(values: &mut [u16], planes: usize, words: &mut impl Draw) {
    for plane in 0..planes {
        let count = (values.len() + planes - 1 - plane) / planes;
        for place in (1..count).rev() {
            let other = below(words, place + 1);
            values.swap(plane + place * planes, plane + other * planes);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use State::{AssumedBad, Good, Skip};

    /// Zeros: each order is the reverse of none, and starts at the first place.
    struct Zeros;

    impl Draw for Zeros {
        fn draw(&mut self) -> u32 {
            0
        }
    }

    fn profile(values: u16, planes: u16, denied: Vec<u16>) -> Profile {
        Profile {
            values,
            backup: 0,
            numbered: true,
            planes,
            overtaken: 4,
            probe_interval: Duration::from_us(20),
            denied,
        }
    }

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn slots(turns: &[Turn]) -> Vec<u16> {
        turns.iter().map(|turn| turn.slot).collect()
    }

    fn send(own: &mut EntropyStates, us: u64, frames: u32) -> Vec<Turn> {
        (0..frames).map(|seq| own.next(at(us), seq)).collect()
    }

    fn states(own: &EntropyStates) -> Vec<State> {
        own.slots.iter().map(|slot| slot.state).collect()
    }

    /// Three values in turns, from the second place on. The mark of one lets its turn pass once; the trim of another, too, unless it was at the last
    /// hop.
    #[test]
    fn a_value_that_was_marked_is_skipped_once() {
        let mut own = EntropyStates::new(&profile(3, 1, vec![]), &mut Zeros);
        let turns = send(&mut own, 0, 4);
        assert_eq!(slots(&turns), [1, 2, 0, 1]);
        own.on_answer(at(8), turns[1], Heard::Marked, |_| false);
        assert_eq!(states(&own), [Good, Good, Skip]);
        own.on_answer(at(8), turns[0], Heard::TrimmedAtLastHop, |_| false);
        assert_eq!(states(&own), [Good, Good, Skip]);
        assert_eq!(slots(&send(&mut own, 9, 4)), [0, 1, 2, 0]);
        own.on_answer(at(10), turns[2], Heard::Trimmed, |_| false);
        assert_eq!(states(&own), [Skip, Good, Good]);
        assert_eq!(own.changes(), PathChanges { skipped: 2, ..PathChanges::default() });
    }

    /// All marked: the second round finds them good again.
    #[test]
    fn a_source_whose_values_are_all_skipped_goes_on() {
        let mut own = EntropyStates::new(&profile(2, 1, vec![]), &mut Zeros);
        for turn in send(&mut own, 0, 2) {
            own.on_answer(at(8), turn, Heard::Marked, |_| false);
        }
        assert_eq!(slots(&send(&mut own, 9, 2)), [1, 0]);
    }

    /// The first of six frames has no answer. That to the fifth, four later, says that it is lost; its value leaves the turns, and is probed 20 us
    /// later and again after 20 us, until a probe is answered.
    #[test]
    fn a_value_whose_frame_is_lost_is_probed_until_it_answers() {
        let mut own = EntropyStates::new(&profile(3, 1, vec![]), &mut Zeros);
        let turns = send(&mut own, 0, 6);
        assert_eq!(slots(&turns), [1, 2, 0, 1, 2, 0]);
        for turn in &turns[1..3] {
            own.on_answer(at(8), *turn, Heard::Arrived, |_| false);
        }
        own.on_answer(at(8), turns[4], Heard::Arrived, |seq| seq == 3);
        assert_eq!(states(&own), [Good, AssumedBad, Good]);
        assert_eq!(slots(&send(&mut own, 9, 3)), [2, 0, 2]);
        assert_eq!(own.probe(at(27)), None);
        let probe = own.probe(at(28)).unwrap();
        assert_eq!((probe.slot, probe.number, own.probe(at(47))), (1, None, None));
        assert!(own.probe(at(48)).is_some());
        own.on_answer(at(56), probe, Heard::Arrived, |_| false);
        assert_eq!((states(&own), own.probe(at(100))), (vec![Good; 3], None));
        assert_eq!(own.changes(), PathChanges { skipped: 0, assumed_bad: 1, restored: 1, probes: 2 });
    }

    /// The transport knows that the overtaken segment has arrived: the acknowledgement alone is lost.
    #[test]
    fn a_lost_acknowledgement_is_no_lost_frame() {
        let mut own = EntropyStates::new(&profile(3, 1, vec![]), &mut Zeros);
        let turns = send(&mut own, 0, 6);
        own.on_answer(at(8), turns[5], Heard::Arrived, |seq| seq < 6);
        assert_eq!(own.changes(), PathChanges::default());
    }

    /// No answer comes. After the time-out those sent more than two round trips before are lost, and the source goes on with what it has.
    #[test]
    fn silence_says_that_frames_are_lost() {
        let mut own = EntropyStates::new(&profile(2, 1, vec![]), &mut Zeros);
        let turns = send(&mut own, 0, 1);
        own.on_answer(at(8), turns[0], Heard::Arrived, |_| false);
        send(&mut own, 9, 2);
        let late = own.next(at(100), 9);
        own.on_silence(at(110), |_| false);
        assert_eq!(states(&own), [AssumedBad; 2]);
        assert_eq!(slots(&send(&mut own, 111, 2)), [1, 0]);
        own.on_answer(at(112), late, Heard::Marked, |_| false);
        assert_eq!(states(&own)[usize::from(late.slot)], Skip);
    }

    /// Two planes with two values each, of which one in plane 0 is denied and one in plane 1 is assumed bad: both planes still get every other frame.
    #[test]
    fn planes_carry_alike() {
        let mut own = EntropyStates::new(&profile(4, 2, vec![2]), &mut Zeros);
        let turns = send(&mut own, 0, 6);
        let planes = |turns: &[Turn]| turns.iter().map(|turn| turn.value % 2).collect::<Vec<_>>();
        assert!(turns.iter().all(|turn| turn.value != 2), "{turns:?}");
        assert_eq!(planes(&turns), [1, 0, 1, 0, 1, 0]);
        let bad = turns[0].value;
        turns[1..].iter().for_each(|turn| own.on_answer(at(8), *turn, Heard::Arrived, |_| false));
        let later = send(&mut own, 9, 6);
        assert!(later.iter().all(|turn| turn.value != bad && turn.value != 2), "{later:?}");
        assert_eq!(planes(&later), [1, 0, 1, 0, 1, 0]);
    }

    /// Two planes with two values each and one in reserve for each: by the draw 2 and 4 of plane 0 with 0 in reserve, 3 and 5 of plane 1 with 1. Value 2 is
    /// denied, so that 0 has its place from the start. A lost frame of 3 brings in 1. Value 3 answers a probe, waits, and takes over when 1 is lost.
    #[test]
    fn values_in_reserve_take_the_places_of_bad_ones_of_their_plane() {
        let profile = Profile { backup: 2, ..profile(4, 2, vec![2]) };
        let mut own = EntropyStates::new(&profile, &mut Zeros);
        let used = |own: &EntropyStates| {
            let mut used: Vec<u16> = own.active.iter().map(|&slot| own.slots[usize::from(slot)].value).collect();
            used.sort_unstable();
            used
        };
        let values = |turns: &[Turn]| turns.iter().map(|turn| turn.value).collect::<Vec<_>>();
        assert_eq!(used(&own), [0, 3, 4, 5]);
        let turns = send(&mut own, 0, 6);
        assert_eq!(values(&turns), [3, 4, 5, 0, 3, 4]);
        turns[1..].iter().for_each(|turn| own.on_answer(at(8), *turn, Heard::Arrived, |_| false));
        assert_eq!(used(&own), [0, 1, 4, 5]);
        let later = send(&mut own, 9, 8);
        assert_eq!(values(&later), [5, 0, 1, 4, 5, 0, 1, 4]);
        let probe = own.probe(at(29)).unwrap();
        assert_eq!(probe.value, 3);
        own.on_answer(at(36), probe, Heard::Arrived, |_| false);
        assert_eq!(used(&own), [0, 1, 4, 5]);
        for (_, turn) in later.iter().enumerate().filter(|&(place, _)| place != 2) {
            own.on_answer(at(37), *turn, Heard::Arrived, |_| false);
        }
        assert_eq!(used(&own), [0, 3, 4, 5]);
    }

    /// Numbers pass 2^32.
    #[test]
    fn numbers_wrap() {
        let mut own = EntropyStates::new(&profile(3, 1, vec![]), &mut Zeros);
        (own.first, own.answered) = (u32::MAX - 1, u32::MAX - 1);
        let turns = send(&mut own, 0, 8);
        assert_eq!(turns[2].number, Some(0));
        own.on_answer(at(8), turns[5], Heard::Arrived, |_| false);
        assert_eq!((own.changes().assumed_bad, own.first), (2, 0));
    }
}
