//! How long pause frames stop a line: not the sum of their times, since a frame replaces the time that is left.

use alloc::collections::BTreeMap;

use crate::MacAddress;
use crate::mac_control::QUANTUM_BITS;

/// A pause that lasts so long is a storm, picoseconds: 200 ms, after which the watchdogs of switches act (SONiC, `detection_time`).
pub const STORM_PS: u128 = 200_000_000_000;

/// The sender of pause frames, as an interface saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pauser {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// The sender.
    pub source: MacAddress,
    /// The priority; `None` for PAUSE, which stops all.
    pub priority: Option<u8>,
}

/// Frames that stop a priority, or let it go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paused {
    /// Frames with a time above 0.
    pub stops: u64,
    /// Frames with time 0.
    pub resumes: u64,
    /// The sum of all times that were asked for, quanta of 512 bit times. It is no time of pause.
    pub quanta: u64,
    /// How long the line was stopped; `None` without the line's rate, or where the file has no times.
    pub stopped: Option<Stopped>,
}

/// The union of the times from each stop to the resume behind it, or to the end of its quanta. A frame replaces the time that
/// is left (IEEE 802.3, annexes 31B.3.3 and 31D.3.3). Times are those at which the frames were captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Pauses: a stop while the line is stopped continues one.
    pub pauses: u64,
    /// All pauses before the last, picoseconds.
    before_ps: u128,
    /// The longest of them.
    longest_before_ps: u128,
    /// How many of them were storms.
    storms_before: u64,
    /// Start and end of the last, picoseconds of the file's clock.
    since_ps: u128,
    until_ps: u128,
}

impl Stopped {
    /// The time of all pauses up to `end_ps`, at which the capture ends: nobody knows whether a later frame resumes the last.
    #[must_use]
    pub fn total_ps(&self, end_ps: u128) -> u128 {
        self.before_ps + self.last_ps(end_ps)
    }

    /// The longest pause, likewise.
    #[must_use]
    pub fn longest_ps(&self, end_ps: u128) -> u128 {
        self.longest_before_ps.max(self.last_ps(end_ps))
    }

    /// How many pauses were storms, likewise.
    #[must_use]
    pub fn storms(&self, end_ps: u128) -> u64 {
        self.storms_before + u64::from(self.last_ps(end_ps) >= STORM_PS)
    }

    /// The time behind `end_ps` that is asked for.
    #[must_use]
    pub fn open_ps(&self, end_ps: u128) -> u128 {
        self.until_ps.saturating_sub(end_ps)
    }

    fn last_ps(&self, end_ps: u128) -> u128 {
        self.until_ps.min(end_ps).saturating_sub(self.since_ps)
    }

    /// A frame that asks for `quanta` on a line of `bits_per_s`.
    fn frame(&mut self, time_ns: u64, quanta: u128, bits_per_s: u64) {
        // A capture may hold frames a little out of their order.
        let now = (u128::from(time_ns) * 1000).max(self.since_ps);
        let until = now + quanta * u128::from(QUANTUM_BITS) * 1_000_000_000_000 / u128::from(bits_per_s.max(1));
        if self.pauses > 0 && now <= self.until_ps {
            self.until_ps = until;
        } else if quanta > 0 {
            self.storms_before = self.storms(now);
            (self.before_ps, self.longest_before_ps) = (self.total_ps(now), self.longest_ps(now));
            (self.since_ps, self.until_ps) = (now, until);
            self.pauses += 1;
        }
    }
}

impl Paused {
    fn frame(&mut self, time_ns: Option<u64>, quanta: u128, bits_per_s: Option<u64>) {
        let first = self.stops + self.resumes == 0;
        if quanta == 0 {
            self.resumes += 1;
        } else {
            self.stops += 1;
        }
        self.quanta += quanta as u64;
        // Where one time or rate is not known, the union is not.
        self.stopped = match (time_ns, bits_per_s, self.stopped.or(first.then(Stopped::default))) {
            (Some(time_ns), Some(rate), Some(mut stopped)) => {
                stopped.frame(time_ns, quanta, rate);
                Some(stopped)
            }
            _ => None,
        };
    }
}

/// Pause frames by sender and priority.
pub type Pauses = BTreeMap<Pauser, Paused>;

/// Counts a frame that asks for `quanta`.
pub(super) fn count(pauses: &mut Pauses, pauser: Pauser, time_ns: Option<u64>, quanta: u128, bits_per_s: Option<u64>) {
    pauses.entry(pauser).or_default().frame(time_ns, quanta, bits_per_s);
}
