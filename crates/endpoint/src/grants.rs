//! Grants: the destinations of a port that want to let a source send take turns, no faster than the port's line carries what they ask for.
//!
//! ```text
//!   Destination.on_frame, Grants.ask --> list of destinations --one turn a frame's time--> Destination.grant --> signal
//!        ^                                     |
//!        +---------- asks again ---------------+
//! ```
//!
//! The first grant after a pause goes at once. A destination that asks again goes to the end of the list, so that flows share the line by
//! frames. (Handley et al. 2017, section 3.2: a pull queue, served by turns among connections)

use alloc::collections::VecDeque;

use penstock_schemes::{BitRate, Draw, Duration, Instant, Out, Scheme};

use crate::destination::Destination;
use crate::ids::{DestinationId, PortId};
use crate::timer::{Alarms, Timer};

/// The turns of the destinations behind one port.
#[derive(Debug, Clone)]
pub struct Grants {
    waiting: VecDeque<DestinationId>,
    /// When the line could have carried all that was granted.
    free: Instant,
    /// Remainder of that time, in 1/rate picoseconds.
    remainder: u64,
    /// Time of the pending timer.
    armed: Instant,
}

impl Default for Grants {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), free: Instant::ZERO, remainder: 0, armed: Instant::NEVER }
    }
}

impl Grants {
    /// A frame or signal has come to `destination`, which is `own`, at `port`, or its timer has expired: it gets a place in the list if it wants a turn and has none.
    #[inline(always)]
    pub fn ask<S: Scheme, D: Draw>(
        &mut self,
        now: Instant,
        own: DestinationId,
        destination: &mut Destination<S, D>,
        port: PortId,
        alarms: &mut impl Alarms,
    ) {
        if destination.wants_turn() {
            destination.in_turn = true;
            self.waiting.push_back(own);
            self.arm(now, port, alarms);
        }
    }

    /// The timer of the port has expired: the destination whose turn it is, if it is time.
    pub fn on_timeout(&mut self, now: Instant) -> Option<DestinationId> {
        if self.armed != now {
            return None;
        }
        self.armed = Instant::NEVER;
        self.waiting.pop_front()
    }

    /// The destination that [`on_timeout`](Self::on_timeout) returned sends its grant for the line of `port` with `rate`, on which a frame occupies
    /// `overhead` octets beyond its own length.
    pub fn grant<S: Scheme, D: Draw>(
        &mut self,
        now: Instant,
        own: DestinationId,
        destination: &mut Destination<S, D>,
        (port, rate, overhead): (PortId, BitRate, u32),
        driver: &mut (impl Alarms + Out<S>),
    ) {
        destination.in_turn = false;
        let octets = destination.grant(now, rate, driver);
        if octets > 0 && rate > BitRate::ZERO {
            let (time, rest) = rate.serialisation(u64::from(u32::from(octets) + overhead));
            let remainder = self.remainder + rest;
            let carry = u64::from(remainder >= rate.0);
            self.remainder = remainder - carry * rate.0;
            self.free = now + Duration(time.0 + carry);
        }
        destination.arm(own, driver);
        if destination.wants_turn() {
            destination.in_turn = true;
            self.waiting.push_back(own);
        }
        self.arm(now, port, driver);
    }

    /// Asks for the timer of the next turn, unless it is under way.
    fn arm(&mut self, now: Instant, port: PortId, alarms: &mut impl Alarms) {
        let at = self.free.max(now);
        if !self.waiting.is_empty() && at < self.armed {
            self.armed = at;
            alarms.wake(at, Timer::Grant(port), port.0);
        }
    }
}
