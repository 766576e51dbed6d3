//! Queues that may start no frame: a pause frame stops them, their line lacks credits, their shaper has nothing left, or the replay buffer
//! of their port is full.

use penstock_endpoint::TrafficClass;
use penstock_schemes::Instant;

use crate::model::Full;
use crate::state::port::{BY_PAUSE, BY_SHAPER, PortState, REPLAY_FULL, SHAPED};

impl PortState {
    /// From now on no frame of `class` starts, for this reason.
    pub fn hold(&mut self, class: TrafficClass, by: u32) {
        self.stopped |= class.bit() | class.bit() << by;
    }

    /// This reason no longer holds.
    pub fn let_go(&mut self, class: TrafficClass, by: u32) {
        self.stopped &= !(class.bit() << by);
        self.let_go_unless_held(class);
    }

    /// No reason may be left.
    fn let_go_unless_held(&mut self, class: TrafficClass) {
        if self.stopped & (class.bit() << BY_PAUSE | class.bit() << BY_SHAPER | REPLAY_FULL) == 0 {
            self.stopped &= !class.bit();
        }
    }

    /// The replay buffer is full, or has room. Whether that is new.
    pub fn hold_all(&mut self, full: bool) -> bool {
        if full == (self.stopped & REPLAY_FULL != 0) {
            return false;
        }
        let classes = (0..self.queues.len() as u8).map(TrafficClass);
        if full {
            self.stopped |= classes.fold(REPLAY_FULL, |bits, class| bits | class.bit());
        } else {
            self.stopped &= !REPLAY_FULL;
            classes.for_each(|class| self.let_go_unless_held(class));
        }
        true
    }

    /// Shapers let go of the queues that may send by the end of the transmission in progress, or by `now` if that is earlier. Where nothing
    /// else may start, the line is idle until the first queue of which a shaper lets go. Without shapers nothing happens.
    #[cold]
    pub fn let_go_shaped(&mut self, now: Instant) {
        if self.attention & SHAPED == 0 {
            return;
        }
        let mut at = self.busy_until.min(now);
        loop {
            let mut next = Instant::NEVER;
            for class in (0..self.queues.len() as u8).map(TrafficClass) {
                if self.stopped & class.bit() << BY_SHAPER == 0 {
                    continue;
                }
                let due = self.ledger.scheduler.as_ref().map_or(Instant::ZERO, |scheduler| scheduler.due(class));
                // A queue that is empty, or paused, until now starts nothing before now.
                let starts = self.ready & class.bit() != 0 && !self.stops::<Full>(class);
                if due <= if starts { at } else { now } {
                    self.let_go(class, BY_SHAPER);
                } else if starts {
                    next = next.min(due);
                }
            }
            if next > now || self.has_work::<Full>() {
                return;
            }
            (at, self.busy_until) = (next, next);
        }
    }
}
