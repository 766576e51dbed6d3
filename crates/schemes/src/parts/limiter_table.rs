//! The reaction point of Bottleneck Selection: a rate calculator for each congested switch, the slowest of which governs.
//!
//! ```text
//!                      notification of a known switch: its entry's rate falls
//!            +-------------------------------------------------------------------+
//!            v                                                                   |
//!   +------- table -------+   each frame: debits the byte counter of every entry |
//!   | switch | calculator | -----------------------------------------------------+--> rate = least CR of the table
//!   | switch | calculator |   each entry: a timer of its own                     |
//!   +---------------------+                                                      |
//!     ^ notification of an unknown switch: a new entry        v entry back at line rate, or idle: removed
//! ```
//!
//! A full table makes no room: its fastest entry, the one that matters least, changes hands, and the notification
//! decreases it as if it had always been the new switch's. So a notification never raises the rate, and a table of one
//! entry is QCN's rate limiter.
//!
//! Source: paper 003, section II.B and algorithm 1.

use alloc::boxed::Box;
use alloc::vec;

use crate::info::values::{choice, count, us};
use crate::info::{choice, parameters};
use crate::parts::notification::Cnm;
use crate::parts::rate_calculator::{RateCalculator, Rules};
use crate::units::{BitRate, Duration, Instant};
use crate::{Allowance, Draw, Out, ReactionPoint, Release, Scheme, Var};

choice! {
    /// What has an entry of its own.
    pub enum EntryKey {
        /// A switch, by its MAC address. (Paper 003)
        Switch = "switch",
        /// A queue, by its whole CPID.
        Queue = "queue",
    }
}

choice! {
    /// Which notification makes an entry.
    pub enum EntryCreate {
        /// Any. (Paper 003, algorithm 1)
        Any = "any",
        /// One whose queue is above the set point, as with QCN's limiter. (Pan)
        AboveSetPoint = "above-set-point",
    }
}

choice! {
    /// What the notification that makes an entry does to it.
    pub enum BsFirst {
        /// Decreases it at once, from the line rate.
        CreateThenDecrease = "create-then-decrease",
        /// Nothing more, as algorithm 1 of paper 003 is printed. Such an entry lives for one cycle.
        CreateOnly = "create-only",
    }
}

choice! {
    /// What removes an entry.
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
        key: EntryKey = choice("switch"); "paper 003 section II.B", "What has an entry of its own: a switch, by its MAC address, or a queue, by its CPID.";
        table_size: u32 = count(8), count(1) => count(1024); "option; unbounded in paper 003", "Entries of the table; when it is full, the fastest entry changes hands.";
        entry_create: EntryCreate = choice("any"); "paper 003 algorithm 1; Pan", "Which notification makes an entry: any, or one whose queue is above the set point.";
        bs_first: BsFirst = choice("create-then-decrease"); "paper 003 algorithm 1", "What the notification that makes an entry does to it: decreases it from the line rate, or nothing (as printed).";
        entry_release: EntryRelease = choice("line-rate"); "option; not in paper 003", "What removes an entry.";
        entry_idle_time: Duration = us(100_000), us(1) => us(1_000_000_000); "option", "How long an entry must be without notification to be removed (entry_release = idle).";
    }
}

/// A configuration of a scheme with Bottleneck Selection.
pub trait TableConfig {
    /// A table in front of a line of rate `line`.
    fn limiter_table(&self, line: BitRate) -> LimiterTable;
}

/// An entry, or the place of one.
#[derive(Debug, Clone)]
struct Entry {
    /// Whose it is.
    key: u64,
    calculator: RateCalculator,
    /// When it is removed for idleness.
    idle_at: Instant,
}

impl Entry {
    /// At line rate for longer than since its making.
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
    /// The first `used` places are entries.
    places: Box<[Entry]>,
    used: usize,
    /// The entry with the least rate, the first of them where several have it; 0 without entries.
    governing: usize,
}

impl LimiterTable {
    /// An empty table of calculators with `rules`.
    #[must_use]
    pub fn new(rules: Rules, config: &TableParameters) -> Self {
        let place = Entry { key: 0, calculator: RateCalculator::new(rules), idle_at: Instant::NEVER };
        Self {
            key: config.key,
            create: config.entry_create,
            first: config.bs_first,
            release: config.entry_release,
            idle_time: config.entry_idle_time,
            max_rate: rules.max_rate,
            places: vec![place; config.table_size as usize].into_boxed_slice(),
            used: 0,
            governing: 0,
        }
    }

    /// Rate and congested switch (or CPID) of each entry.
    pub fn entries(&self) -> impl Iterator<Item = (BitRate, u64)> + '_ {
        self.places[..self.used].iter().map(|entry| (BitRate(entry.calculator.current_rate()), entry.key))
    }

    /// The least rate of the entries, the line's without any.
    #[must_use]
    pub fn current_rate(&self) -> BitRate {
        BitRate(if self.used == 0 { self.max_rate } else { self.places[self.governing].calculator.current_rate() })
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
        let known = self.places[..self.used].iter().position(|entry| entry.key == key);
        let (at, decreases) = match known {
            Some(at) => (at, true),
            None if self.create == EntryCreate::AboveSetPoint && signal.q_off <= 0 => return,
            None if self.used < self.places.len() => (self.make(now, draw), self.first == BsFirst::CreateThenDecrease),
            None => (self.fastest(), true),
        };
        let entry = &mut self.places[at];
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
        self.places[at].calculator.reset();
        self.places[at].calculator.start_timer(now, draw);
        at
    }

    /// The entry with the largest rate, the first of them where several have it.
    fn fastest(&self) -> usize {
        let mut at = 0;
        for i in 1..self.used {
            if self.places[i].calculator.current_rate() > self.places[at].calculator.current_rate() {
                at = i;
            }
        }
        at
    }

    /// Keeps the entries for which `keeps` is true, the last one in the place of one that goes.
    fn retain(&mut self, mut keeps: impl FnMut(&mut Entry) -> bool) {
        let mut i = 0;
        while i < self.used {
            if keeps(&mut self.places[i]) {
                i += 1;
            } else {
                self.used -= 1;
                self.places.swap(i, self.used);
            }
        }
        self.select();
    }

    /// Finds the governing entry anew: read literally, algorithm 1's minimum could only fall.
    fn select(&mut self) {
        self.governing = 0;
        for i in 1..self.used {
            if self.places[i].calculator.current_rate() < self.places[self.governing].calculator.current_rate() {
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

    fn on_signal(&mut self, now: Instant, signal: Cnm, draw: &mut impl Draw, _out: &mut impl Out<S>) {
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
        self.places[..self.used].iter().map(Entry::due).min().filter(|&due| due != Instant::NEVER)
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
        let (key, c) = match self.places[..self.used].get(self.governing) {
            Some(entry) => (entry.key, &entry.calculator),
            // A place that is not in use is at line rate; only its counters may be old.
            None => return row.copy_from_slice(&[0, 0, self.max_rate as i64, 0, 0]),
        };
        let stages = [i64::from(c.byte_stage()), i64::from(c.time_stage())];
        row.copy_from_slice(&[self.used as i64, key as i64, c.target_rate() as i64, stages[0], stages[1]]);
    }
}
