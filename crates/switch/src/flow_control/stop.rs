//! A queue as pause frames stop it (802.1Qbb): a stop is asked for, comes into force after the port's response time, and expires unless it is
//! renewed or taken back before.

use penstock_schemes::{Duration, Instant};

/// The stops of a queue.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// When a stop begins that was asked for and is not yet in force.
    pub from: Instant,
    /// When the stop expires.
    pub until: Instant,
    /// Since when it is in force; never if it is not.
    pub since: Instant,
    /// How long earlier stops lasted, together.
    total: Duration,
    /// Pause frames that asked for a stop.
    pub frames: u64,
    /// Pause frames that let the queue go on.
    pub resumes: u64,
    /// Stops that came into force.
    pub stops: u64,
    /// The storm that the watchdog has seen here lasts until then, if no more pause frames come.
    pub let_off: Instant,
    /// The watchdog drops all its frames until then.
    pub draining: bool,
}

impl Stop {
    /// No stop yet.
    pub const NONE: Self = Self {
        from: Instant::NEVER,
        until: Instant::ZERO,
        since: Instant::NEVER,
        total: Duration::ZERO,
        frames: 0,
        resumes: 0,
        stops: 0,
        let_off: Instant::ZERO,
        draining: false,
    };

    /// Whether it is in force.
    #[must_use]
    pub fn in_force(&self) -> bool {
        self.since != Instant::NEVER
    }

    /// A pause frame asks for a stop from `from` to `until`; one that is in force goes on.
    pub fn ask(&mut self, from: Instant, until: Instant) {
        self.until = until;
        if !self.in_force() {
            self.from = self.from.min(from);
        }
    }

    /// It comes into force.
    pub fn begin(&mut self, now: Instant) {
        (self.from, self.since) = (Instant::NEVER, now);
        self.stops += 1;
    }

    /// It ends, or is taken back before it has come into force. Since when it was in force, if it was.
    pub fn end(&mut self, now: Instant) -> Option<Instant> {
        self.from = Instant::NEVER;
        let since = core::mem::replace(&mut self.since, Instant::NEVER);
        self.total = self.total + now.since(since);
        (since != Instant::NEVER).then_some(since)
    }

    /// How long the queue has been stopped until `now`.
    #[must_use]
    pub fn paused(&self, now: Instant) -> Duration {
        self.total + now.since(self.since)
    }

    /// When it begins or expires; never if neither lies ahead.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        if self.in_force() || self.from != Instant::NEVER { self.from.min(self.until) } else { Instant::NEVER }
    }
}
