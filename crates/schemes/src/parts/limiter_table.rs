//! The reaction point of Bottleneck Selection: a rate calculator for each congested switch, the slowest of which governs.
//!
//! ```text
//!                      notification of a known switch: its entry's rate falls
//!            +-------------------------------------------------------------------+
//!            v                                                                   |
//!   +------- table -------+   each frame: debits the byte counter of every entry |
//!   | switch | calculator | -----------------------------------------------------+--> rate = least CR of the table
//!   | switch | calculator |   each entry has a timer                             |
//!   +---------------------+                                                      |
//!     ^ notification of an unknown switch: a new entry        v entry back at line rate, or idle: removed
//! ```
//!
//! In a full table the fastest entry, the one that matters least, changes hands: the notification decreases it as if it had
//! always been the new switch's. So a notification never raises the rate, and a table of one
//! entry is QCN's rate limiter.
//!
//! Source: Matsushima et al. 2014, section II.B and algorithm 1.

use alloc::boxed::Box;
use alloc::vec;

use crate::info::values::{choice, count, us};
use crate::info::{choice, parameters};
use crate::parts::notification::Cnm;
use crate::parts::rate_calculator::{RateCalculator, Rules};
use crate::units::{BitRate, Duration, FlowKey, Instant};
use crate::{Allowance, Draw, Out, ReactionPoint, Release, Scheme, Var};

choice! {
    /// The owner of an entry.
    pub enum EntryKey {
        /// A switch, by its MAC address. (Matsushima et al. 2014)
        Switch = "switch",
        /// A queue, by its whole CPID.
        Queue = "queue",
    }
}

choice! {
    /// Which notification makes an entry.
    pub enum EntryCreate {
        /// Any. (Matsushima et al. 2014, algorithm 1)
        Any = "any",
        /// One whose queue is above the set point, as with QCN's limiter. (Pan)
        AboveSetPoint = "above-set-point",
    }
}

choice! {
    /// The effect on an entry of the notification that makes it.
    pub enum BsFirst {
        /// Decreases it at once, from the line rate.
        CreateThenDecrease = "create-then-decrease",
        /// Nothing more, as algorithm 1 of Matsushima et al. 2014 is printed. Such an entry lives for one cycle.
        CreateOnly = "create-only",
    }
}

choice! {
    /// The event that removes an entry.
    pub enum EntryRelease {
        /// A frame is sent while it is at line rate. (QCN's rule)
        LineRate = "line-rate",
        /// No notification came from its switch for `entry_idle_time`.
        Idle = "idle",
        /// Nothing.
        Never = "never",
    }
}

parameters! {
    /// The table of rate calculators.
    pub struct TableParameters {
        /// The owner of an entry: a switch, by its MAC address, or a queue, by its CPID.
        entry_key: EntryKey {
            default: choice("switch"),
            source: "Matsushima et al. 2014 section II.B",
        }
        /// Entries of the table; when it is full, the fastest entry changes hands.
        table_size: u32 {
            default: count(8),
            range: count(1)..=count(1024),
            source: "option; unbounded in Matsushima et al. 2014",
        }
        /// Which notification makes an entry: any, or one whose queue is above the set point.
        entry_create: EntryCreate {
            default: choice("any"),
            source: "Matsushima et al. 2014 algorithm 1; Pan",
        }
        /// The effect on an entry of the notification that makes it: decreases it from the line rate, or nothing (as
        /// printed).
        bs_first: BsFirst {
            default: choice("create-then-decrease"),
            source: "Matsushima et al. 2014 algorithm 1",
        }
        /// The event that removes an entry.
        entry_release: EntryRelease {
            default: choice("line-rate"),
            source: "option; not in Matsushima et al. 2014",
        }
        /// How long an entry must be without notification to be removed.
        entry_idle_time: Duration {
            default: us(100_000),
            range: us(1)..=us(1_000_000_000),
            source: "option",
            when: entry_release = "idle",
        }
    }
}

/// A configuration of a scheme with Bottleneck Selection.
pub trait TableConfig {
    /// A table in front of a line of rate `line`.
    fn limiter_table(&self, line: BitRate) -> LimiterTable;
}

/// An entry, or an empty slot.
#[derive(Debug, Clone)]
struct Entry {
    /// The switch or the queue that it belongs to.
    key: u64,
    calculator: RateCalculator,
    /// When it is removed for idleness.
    idle_at: Instant,
}

impl Entry {
    /// It has come back to line rate, by at least one cycle since it was made.
    fn back_at(&self, max_rate: u64) -> bool {
        let c = &self.calculator;
        c.current_rate() == max_rate && (c.byte_stage() > 0 || c.time_stage() > 0)
    }

    fn due(&self) -> Instant {
        self.calculator.next_timeout().unwrap_or(Instant::NEVER).min(self.idle_at)
    }
}

/// The reaction point of Bottleneck Selection.
#[derive(Debug, Clone)]
pub struct LimiterTable {
    key: EntryKey,
    create: EntryCreate,
    first: BsFirst,
    release: EntryRelease,
    idle_time: Duration,
    max_rate: u64,
    /// The first `used` slots are entries.
    slots: Box<[Entry]>,
    used: usize,
    /// The entry with the least rate, the first of them where several have it; 0 without entries.
    governing: usize,
}

impl LimiterTable {
    /// An empty table of calculators with `rules`.
    #[must_use]
    pub fn new(rules: Rules, config: &TableParameters) -> Self {
        let slot = Entry { key: 0, calculator: RateCalculator::new(rules), idle_at: Instant::NEVER };
        Self {
            key: config.entry_key,
            create: config.entry_create,
            first: config.bs_first,
            release: config.entry_release,
            idle_time: config.entry_idle_time,
            max_rate: rules.max_rate,
            slots: vec![slot; config.table_size as usize].into_boxed_slice(),
            used: 0,
            governing: 0,
        }
    }

    /// Goes by the parameters of `fresh`, a table that has just been made. Of entries for which it has no room the fastest go: those
    /// that would change hands. The others keep their keys: under another `entry_key` no notification finds them, and they leave
    /// as others do.
    pub fn configure(&mut self, fresh: Self) {
        while self.used > fresh.slots.len() {
            let at = self.fastest();
            self.used -= 1;
            self.slots.swap(at, self.used);
        }
        let room = fresh.slots.len();
        let slot = fresh.slots[0].clone();
        let rules = *slot.calculator.rules();
        let mut slots = core::mem::take(&mut self.slots).into_vec();
        slots.resize(room, slot);
        for entry in &mut slots {
            entry.calculator.configure(rules);
            if fresh.release != EntryRelease::Idle {
                entry.idle_at = Instant::NEVER;
            }
        }
        *self = Self { slots: slots.into_boxed_slice(), used: self.used, ..fresh };
        self.select();
    }

    /// Rate and congested switch (or CPID) of each entry.
    pub fn entries(&self) -> impl Iterator<Item = (BitRate, u64)> + '_ {
        self.slots[..self.used].iter().map(|entry| (BitRate(entry.calculator.current_rate()), entry.key))
    }

    /// The least rate of the entries, the line's without any.
    #[must_use]
    pub fn current_rate(&self) -> BitRate {
        BitRate(if self.used == 0 { self.max_rate } else { self.slots[self.governing].calculator.current_rate() })
    }

    /// A notification.
    fn notify(&mut self, now: Instant, signal: &Cnm, draw: &mut impl Draw) {
        if signal.fb.is_zero() {
            return;
        }
        let key = match self.key {
            EntryKey::Switch => signal.cp.station(),
            EntryKey::Queue => signal.cp.0,
        };
        let known = self.slots[..self.used].iter().position(|entry| entry.key == key);
        let (at, decreases) = match known {
            Some(at) => (at, true),
            None if self.create == EntryCreate::AboveSetPoint && signal.q_off <= 0 => return,
            None if self.used < self.slots.len() => (self.make(now, draw), self.first == BsFirst::CreateThenDecrease),
            None => (self.fastest(), true),
        };
        let entry = &mut self.slots[at];
        entry.key = key;
        if self.release == EntryRelease::Idle {
            entry.idle_at = now + self.idle_time;
        }
        if decreases {
            entry.calculator.decrease(now, signal.fb, draw);
        }
        self.select();
    }

    /// A new entry at line rate.
    fn make(&mut self, now: Instant, draw: &mut impl Draw) -> usize {
        let at = self.used;
        self.used += 1;
        self.slots[at].calculator.reset();
        self.slots[at].calculator.start_timer(now, draw);
        at
    }

    /// The entry with the largest rate, the first of them where several have it.
    fn fastest(&self) -> usize {
        let mut at = 0;
        for i in 1..self.used {
            if self.slots[i].calculator.current_rate() > self.slots[at].calculator.current_rate() {
                at = i;
            }
        }
        at
    }

    /// Keeps the entries for which `keeps` is true, and moves the last one into the slot of a removed one.
    fn retain(&mut self, mut keeps: impl FnMut(&mut Entry) -> bool) {
        let mut i = 0;
        while i < self.used {
            if keeps(&mut self.slots[i]) {
                i += 1;
            } else {
                self.used -= 1;
                self.slots.swap(i, self.used);
            }
        }
        self.select();
    }

    /// Finds the governing entry again: read literally, algorithm 1's minimum could only fall.
    fn select(&mut self) {
        self.governing = 0;
        for i in 1..self.used {
            if self.slots[i].calculator.current_rate() < self.slots[self.governing].calculator.current_rate() {
                self.governing = i;
            }
        }
    }
}

impl<S> ReactionPoint<S> for LimiterTable
where
    S: Scheme<Tag = (), Signal = Cnm>,
    S::Config: TableConfig,
{
    const VARS: &'static [Var] = &[
        Var { name: "entries", description: "congested switches (or queues) that have an entry" },
        Var {
            name: "governing_cp",
            description: "MAC address of the switch (or CPID) whose entry governs; 0 without one",
        },
        Var { name: "target_rate_bps", description: "target rate TR of the governing entry, bit/s" },
        Var { name: "byte_stage", description: "cycles of its byte counter since its last notification" },
        Var { name: "time_stage", description: "cycles of its timer since its last notification" },
    ];

    fn new(config: &S::Config, line: BitRate) -> Self {
        config.limiter_table(line)
    }

    fn configure(&mut self, config: &S::Config, line: BitRate) {
        self.configure(config.limiter_table(line));
    }

    fn on_signal(&mut self, now: Instant, _flow: FlowKey, signal: Cnm, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.notify(now, &signal, draw);
    }

    #[inline]
    fn on_send(&mut self, _now: Instant, frame: Release, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        if self.used == 0 {
            return;
        }
        let (by_rate, max_rate) = (self.release == EntryRelease::LineRate, self.max_rate);
        self.retain(|entry| {
            let stays = !(by_rate && entry.back_at(max_rate));
            if stays {
                entry.calculator.count(frame.octets, draw);
            }
            stays
        });
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.slots[..self.used].iter().map(Entry::due).min().filter(|&due| due != Instant::NEVER)
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _out: &mut impl Out<S>) {
        self.retain(|entry| {
            let stays = now < entry.idle_at;
            if stays {
                entry.calculator.on_timeout(now, draw);
            }
            stays
        });
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.current_rate(), window: None }
    }

    fn limiting(&self) -> bool {
        self.used > 0
    }

    fn vars(&self, row: &mut [i64]) {
        let Some(entry) = self.slots[..self.used].get(self.governing) else {
            return row.copy_from_slice(&[0, 0, self.max_rate as i64, 0, 0]);
        };
        let c = &entry.calculator;
        let stages = [i64::from(c.byte_stage()), i64::from(c.time_stage())];
        row.copy_from_slice(&[self.used as i64, entry.key as i64, c.target_rate() as i64, stages[0], stages[1]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::info::values::mbps;
    use crate::parts::quantiser::QntzFb;
    use crate::qcn::Qcn;
    use crate::qcn_bs::QcnBs;
    use crate::testing::{Middle, Sent, config};
    use crate::units::{CpId, Octets};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const LINE: BitRate = BitRate(10_000_000_000);
    const AT: Instant = Instant(1_000_000);
    const FRAME: Release = Release { flow: FlowKey(0), octets: 1500, seq: Octets(0), last: false };

    fn table(changes: &[(&str, Value)]) -> LimiterTable {
        config::<QcnBs>("", changes).limiter_table(LINE)
    }

    fn cnm(fb: u8, cp: CpId) -> Cnm {
        Cnm { fb: QntzFb::from_steps(fb), cp, q_off: 1000, q_delta: 0 }
    }

    fn notify(table: &mut LimiterTable, fb: u8, cp: CpId) {
        table.notify(AT, &cnm(fb, cp), &mut Middle);
    }

    fn send(table: &mut LimiterTable, frames: u32) {
        for _ in 0..frames {
            ReactionPoint::<QcnBs>::on_send(table, AT, FRAME, &mut Middle, &mut Sent::default());
        }
    }

    fn rates(table: &LimiterTable) -> Vec<u64> {
        table.entries().map(|(rate, _)| rate.0).collect()
    }

    const SW0: CpId = CpId::new(0xa0, 1, 0);
    const SW1: CpId = CpId::new(0xa1, 1, 0);
    const SW2: CpId = CpId::new(0xa2, 1, 0);

    #[test]
    fn each_switch_has_a_rate_and_the_least_governs() {
        let mut t = table(&[]);
        assert_eq!(t.current_rate(), LINE);
        notify(&mut t, 32, SW0); // 10 × (1 - 32/128)
        notify(&mut t, 16, SW1); // 10 × (1 - 16/128)
        assert_eq!(rates(&t), [7_500_000_000, 8_750_000_000]);
        assert_eq!(t.current_rate(), BitRate(7_500_000_000), "QCN would be at 6.5625 Gb/s");
        notify(&mut t, 63, SW1); // 8.75 × (1 - 63/128), rounded down
        assert_eq!(rates(&t), [7_500_000_000, 4_443_359_375]);
        assert_eq!(t.current_rate(), BitRate(4_443_359_375));
        assert_eq!(t.entries().map(|(_, key)| key).collect::<Vec<_>>(), [0xa0, 0xa1]);
    }

    #[test]
    fn every_frame_debits_every_entry() {
        let mut t = table(&[]);
        notify(&mut t, 32, SW0);
        send(&mut t, 50);
        notify(&mut t, 16, SW1);
        send(&mut t, 51); // 101 × 1500 > 150 000: the first entry's cycle ends, (7.5 + 10) / 2
        assert_eq!(rates(&t), [8_750_000_000, 8_750_000_000]);
        send(&mut t, 50); // and the second one's, (8.75 + 10) / 2
        assert_eq!(rates(&t), [8_750_000_000, 9_375_000_000]);
    }

    #[test]
    fn the_rate_rises_when_the_governing_entry_does() {
        // Read literally, algorithm 1's minimum would stay at 7.5 Gb/s.
        let mut t = table(&[]);
        notify(&mut t, 32, SW0);
        send(&mut t, 101);
        assert_eq!(t.current_rate(), BitRate(8_750_000_000));
    }

    #[test]
    fn timers_are_the_entries_own() {
        let mut t = table(&[]);
        notify(&mut t, 32, SW0);
        let later = AT + Duration::from_us(5000);
        t.notify(later, &cnm(32, SW1), &mut Middle);
        let due = |t: &LimiterTable| ReactionPoint::<QcnBs>::next_timeout(t);
        assert_eq!(due(&t), Some(AT + Duration::from_us(15_000)));
        let first = AT + Duration::from_us(15_000);
        ReactionPoint::<QcnBs>::on_timeout(&mut t, first, &mut Middle, &mut Sent::default());
        assert_eq!(rates(&t), [8_750_000_000, 7_500_000_000]);
        assert_eq!(due(&t), Some(later + Duration::from_us(15_000)));
    }

    #[test]
    fn entries_of_queues_and_of_switches() {
        let other_port = CpId::new(0xa0, 2, 0);
        for (key, entries) in [("switch", 1), ("queue", 2)] {
            let mut t = table(&[("entry_key", choice(key))]);
            notify(&mut t, 32, SW0);
            notify(&mut t, 32, other_port);
            assert_eq!(t.entries().count(), entries, "{key}");
        }
    }

    #[test]
    fn making_an_entry() {
        let mut t = table(&[("bs_first", choice("create-only"))]);
        notify(&mut t, 32, SW0);
        assert_eq!(rates(&t), [LINE.0]);
        send(&mut t, 100);
        notify(&mut t, 32, SW0);
        assert_eq!(rates(&t), [7_500_000_000], "the second notification decreases");
        let mut t = table(&[("bs_first", choice("create-only"))]);
        notify(&mut t, 32, SW0);
        send(&mut t, 102); // a cycle without a second notification
        assert_eq!(t.entries().count(), 0);
        for (create, made) in [("any", 1), ("above-set-point", 0)] {
            let mut t = table(&[("entry_create", choice(create))]);
            t.notify(AT, &Cnm { q_off: -64, ..cnm(32, SW0) }, &mut Middle);
            assert_eq!(t.entries().count(), made, "{create}");
        }
        let mut t = table(&[]);
        notify(&mut t, 0, SW0);
        assert_eq!(t.entries().count(), 0, "|Fb| = 0 makes nothing");
    }

    #[test]
    fn entries_leave_at_line_rate_or_for_silence() {
        let mut t = table(&[]);
        notify(&mut t, 1, SW0); // 9.921875 Gb/s: five cycles of Fast Recovery, one of Active Increase
        notify(&mut t, 63, SW1);
        send(&mut t, 101 + 4 * 101 + 51 + 1);
        assert_eq!(
            t.entries().map(|(_, key)| key).collect::<Vec<_>>(),
            [0xa1],
            "the first is back at 10 Gb/s and gone"
        );
        let idle = [("entry_release", choice("idle")), ("entry_idle_time", us(1000))];
        let mut t = table(&idle);
        notify(&mut t, 63, SW0);
        let due = AT + Duration::from_us(1000);
        assert_eq!(ReactionPoint::<QcnBs>::next_timeout(&t), Some(due));
        ReactionPoint::<QcnBs>::on_timeout(&mut t, due, &mut Middle, &mut Sent::default());
        assert_eq!((t.entries().count(), t.current_rate()), (0, LINE));
    }

    #[test]
    fn in_a_full_table_the_fastest_entry_changes_hands() {
        let mut t = table(&[("table_size", count(2))]);
        notify(&mut t, 32, SW0);
        notify(&mut t, 16, SW1);
        notify(&mut t, 16, SW2); // 8.75 × (1 - 16/128), not 10 × (1 - 16/128)
        assert_eq!(t.entries().collect::<Vec<_>>(), [(BitRate(7_500_000_000), 0xa0), (BitRate(7_656_250_000), 0xa2)]);
    }

    /// 9.375, 7.5 and 8.75 Gb/s.
    #[test]
    fn a_table_that_becomes_smaller_keeps_the_slowest() {
        let mut t = table(&[]);
        for (fb, switch) in [(8, SW0), (32, SW1), (16, SW2)] {
            notify(&mut t, fb, switch);
        }
        t.configure(table(&[("table_size", count(2)), ("rpg_min_rate", mbps(8_000))]));
        assert_eq!(t.entries().collect::<Vec<_>>(), [(BitRate(8_750_000_000), 0xa2), (BitRate(8_000_000_000), 0xa1)]);
        assert_eq!(t.current_rate(), BitRate(8_000_000_000));
        t.configure(table(&[("table_size", count(3))]));
        notify(&mut t, 32, SW0);
        assert_eq!(rates(&t), [8_750_000_000, 8_000_000_000, 7_500_000_000]);
    }

    /// An event at a source: a notification of `fb` from switch `cp`, frames sent, time passing.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Notify(u8, u64),
        Send(u16),
        Wait(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0u8..64, 0u64..6).prop_map(|(fb, cp)| Step::Notify(fb, cp)),
            (64u16..1523).prop_map(Step::Send),
            (1u64..20_000).prop_map(Step::Wait),
        ];
        proptest::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn the_rate_is_the_least_and_the_table_is_bounded(steps in steps(), size in 1u64..5) {
            let mut t = table(&[("table_size", count(size))]);
            let mut now = AT;
            for step in steps {
                let before = t.current_rate();
                match step {
                    Step::Notify(fb, cp) => {
                        t.notify(now, &cnm(fb, CpId::new(cp, 0, 0)), &mut Middle);
                        prop_assert!(t.current_rate() <= before, "a notification never raises the rate");
                    }
                    Step::Send(octets) => {
                        let frame = Release { octets, ..FRAME };
                        ReactionPoint::<QcnBs>::on_send(&mut t, now, frame, &mut Middle, &mut Sent::default());
                    }
                    Step::Wait(us) => {
                        now += Duration::from_us(us);
                        ReactionPoint::<QcnBs>::on_timeout(&mut t, now, &mut Middle, &mut Sent::default());
                    }
                }
                let least = t.entries().map(|(rate, _)| rate).min().unwrap_or(LINE);
                prop_assert_eq!(t.current_rate(), least);
                prop_assert!(t.entries().count() <= size as usize);
                let keys: Vec<_> = t.entries().map(|(_, key)| key).collect();
                prop_assert!(keys.iter().enumerate().all(|(i, key)| !keys[..i].contains(key)), "one entry a switch");
            }
        }

        /// With one entry, a notification from any switch decreases it: the table is then QCN's limiter.
        #[test]
        fn a_table_of_one_entry_is_qcn(steps in steps()) {
            let mut t = table(&[("table_size", count(1))]);
            let qcn = config::<Qcn>("", &[("rl_create", choice("any"))]);
            let mut rp = <<Qcn as Scheme>::Rp as ReactionPoint<Qcn>>::new(&qcn, LINE);
            let mut now = AT;
            for step in steps {
                match step {
                    Step::Notify(fb, cp) => {
                        let signal = cnm(fb, CpId::new(cp, 0, 0));
                        t.notify(now, &signal, &mut Middle);
                        ReactionPoint::<Qcn>::on_signal(&mut rp, now, FRAME.flow, signal, &mut Middle, &mut Sent::default());
                    }
                    Step::Send(octets) => {
                        let frame = Release { octets, ..FRAME };
                        ReactionPoint::<QcnBs>::on_send(&mut t, now, frame, &mut Middle, &mut Sent::default());
                        ReactionPoint::<Qcn>::on_send(&mut rp, now, frame, &mut Middle, &mut Sent::default());
                    }
                    Step::Wait(us) => {
                        now += Duration::from_us(us);
                        ReactionPoint::<QcnBs>::on_timeout(&mut t, now, &mut Middle, &mut Sent::default());
                        ReactionPoint::<Qcn>::on_timeout(&mut rp, now, &mut Middle, &mut Sent::default());
                    }
                }
                prop_assert_eq!(t.current_rate(), rp.current_rate());
            }
        }
    }
}
