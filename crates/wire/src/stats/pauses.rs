//! How long pause frames stop a line: not the sum of their times, since a frame replaces the time that is left.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::MacAddress;
use crate::mac_control::QUANTUM_BITS;

/// A pause of 200 ms or more is a storm unless the caller says otherwise, picoseconds: the watchdogs of switches then act
/// (`detection_time` of SONiC's default PFC_WD table).
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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

/// The time of one pause, picoseconds of the file's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub since_ps: u128,
    /// When it ended.
    pub until_ps: u128,
}

impl Span {
    /// How long it lasted, picoseconds.
    #[must_use]
    pub fn length_ps(&self) -> u128 {
        self.until_ps.saturating_sub(self.since_ps)
    }
}

/// The union of the times from each stop to the resume behind it, or to the end of its quanta. A frame replaces the time that
/// is left (IEEE 802.3, annexes 31B.3.3 and 31D.3.3). Times are those at which the frames were captured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Pauses in the order of time: a stop while the line is stopped continues one. No two overlap.
    spans: Vec<Span>,
}

impl Stopped {
    /// How many pauses there are.
    #[must_use]
    pub fn pauses(&self) -> u64 {
        self.spans.len() as u64
    }

    /// The pauses up to `end_ps`, at which the capture ends: nobody knows whether a later frame resumes the last.
    pub fn spans(&self, end_ps: u128) -> impl Iterator<Item = Span> + '_ {
        self.spans.iter().map(move |span| Span { until_ps: span.until_ps.min(end_ps).max(span.since_ps), ..*span })
    }

    /// The time of all pauses up to `end_ps`, picoseconds.
    #[must_use]
    pub fn total_ps(&self, end_ps: u128) -> u128 {
        self.spans(end_ps).map(|span| span.length_ps()).sum()
    }

    /// The longest pause, likewise.
    #[must_use]
    pub fn longest_ps(&self, end_ps: u128) -> u128 {
        self.spans(end_ps).map(|span| span.length_ps()).max().unwrap_or(0)
    }

    /// How many pauses lasted for `storm_ps` or longer up to `end_ps`.
    #[must_use]
    pub fn storms(&self, end_ps: u128, storm_ps: u128) -> u64 {
        self.spans(end_ps).filter(|span| span.length_ps() >= storm_ps).count() as u64
    }

    /// The time behind `end_ps` that is asked for.
    #[must_use]
    pub fn open_ps(&self, end_ps: u128) -> u128 {
        self.spans.last().map_or(0, |last| last.until_ps.saturating_sub(end_ps))
    }

    /// A frame that asks for `quanta` on a line of `bits_per_s`.
    fn frame(&mut self, time_ns: u64, quanta: u128, bits_per_s: u64) {
        // A capture may hold frames a little out of their order.
        let now = (u128::from(time_ns) * 1000).max(self.spans.last().map_or(0, |last| last.since_ps));
        let until_ps = now + quanta * u128::from(QUANTUM_BITS) * 1_000_000_000_000 / u128::from(bits_per_s.max(1));
        match self.spans.last_mut() {
            Some(last) if now <= last.until_ps => last.until_ps = until_ps,
            _ if quanta > 0 => self.spans.push(Span { since_ps: now, until_ps }),
            _ => {}
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
        let known = self.stopped.take().or_else(|| first.then(Stopped::default));
        self.stopped = match (time_ns, bits_per_s, known) {
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
