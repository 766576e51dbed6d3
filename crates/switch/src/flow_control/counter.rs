//! What a line has sent into a switch: the counter whose thresholds stop its near end and let it go on.

use penstock_schemes::{Duration, Instant};

/// The frames of one priority that have come in over one line and are still held.
#[derive(Debug, Clone)]
pub struct Counter {
    /// Their octets.
    pub held: u64,
    /// 0 where nothing is counted: that line or priority has no ingress buffer.
    pub(super) buffer: u64,
    /// From this number of octets on the neighbour is to stop.
    pub xoff: u64,
    /// At this number or less it may go on.
    pub xon: u64,
    /// The neighbour is to stop.
    pub full: bool,
    /// The last frame signalled so, or the last frame about it was lost on the line.
    pub announced: bool,
    /// When the pause frame is due again, if the counter is still full then.
    pub refresh: Instant,
    /// Its line has credits, which are returned as frames depart.
    pub credited: bool,
    /// The far end is a host that signals stop whatever it holds, and repeats that after this time; zero: it does not.
    pub storm: Duration,
    /// A frame that is held is looked at from this number of octets on: all of them where a line has credits.
    pub(super) rising: u64,
    /// A frame that departs is looked at below this number.
    pub(super) falling: u64,
}

impl Counter {
    /// One that nothing fills.
    pub(super) const NOTHING: Self = Self {
        held: 0,
        buffer: 0,
        xoff: u64::MAX,
        xon: 0,
        full: false,
        announced: false,
        refresh: Instant::NEVER,
        credited: false,
        storm: Duration::ZERO,
        rising: u64::MAX,
        falling: 0,
    };

    /// The neighbour is to stop, or may go on.
    pub fn set_full(&mut self, full: bool) {
        self.full = full;
        self.arm();
    }

    /// The thresholds follow from the rest.
    pub(super) fn arm(&mut self) {
        (self.rising, self.falling) = match (self.credited, self.full) {
            (true, _) => (0, u64::MAX),
            (false, true) => (u64::MAX, self.xon.saturating_add(1)),
            (false, false) => (self.xoff, 0),
        };
    }
}
