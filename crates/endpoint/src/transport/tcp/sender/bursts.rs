//! For congestion control that sets a rate: a sender sends in bursts, each as long as a host hands over to its card at once, and
//! keeps the account of deliveries.

use penstock_schemes::{Duration, Instant};

use super::TcpSender;
use crate::transport::tcp::congestion::Pacing;

/// The burst that has begun, and when the next one may.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bursts {
    /// When the rate has made up for all that has gone.
    release: Instant,
    /// The next segment waits for that.
    waits: bool,
    /// Octets that may go before.
    left: u64,
}

impl Bursts {
    /// When the next segment may go; `None` for now.
    #[inline]
    pub(super) fn release(&self) -> Option<Instant> {
        self.waits.then_some(self.release)
    }

    /// It is `now`.
    #[inline]
    pub(super) fn pass(&mut self, now: Instant) {
        self.waits &= self.release > now;
    }

    /// A segment of `octets` goes. The next burst waits for as long as this one takes at the rate. A burst that begins late makes up for half of its
    /// first segment at most, as in Linux. A full segment has `mss` octets.
    #[inline(never)]
    pub(super) fn send(&mut self, now: Instant, octets: u32, pacing: Pacing, mss: u64) {
        let (takes, _) = pacing.rate.serialisation(octets.into());
        if now >= self.release {
            let late = now.since(self.release);
            self.release = now + (takes - Duration(late.0.min(takes.0 / 2)));
            self.left = pacing.quantum;
        } else {
            self.release += takes;
        }
        self.left = self.left.saturating_sub(octets.into());
        self.waits = self.left < mss && self.release > now;
    }
}

impl TcpSender {
    /// For a controller that paces: `start..end` has gone, again or for the first time.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, now: Instant, (start, end): (u64, u64), again: bool) {
        let octets = end - start;
        let before = self.board.pipe().saturating_sub(octets);
        if !again && self.board.outstanding() == octets {
            self.controller.on_restart();
        }
        if let Some(delivery) = self.controller.delivery() {
            delivery.on_send(now, start, end, again, before);
        }
        if let Some(pacing) = self.controller.pacing() {
            self.bursts.send(now, octets as u32, pacing, self.window.mss);
        }
        self.note_want_of_data();
    }

    /// The account of deliveries hears where the application leaves the window unused.
    #[inline(never)]
    pub(super) fn note_want_of_data(&mut self) {
        let idle = self.supplied == self.board.nxt && self.board.lost().is_empty();
        let pipe = self.board.pipe();
        if let Some(delivery) =
            self.controller.delivery().filter(|_| idle && pipe + self.window.mss <= self.window.cwnd)
        {
            delivery.limited_by_application(pipe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_schemes::BitRate;

    const US: u64 = 1_000_000;

    /// At 8 Mb/s a segment of 1000 octets takes a millisecond. Two go at once, and the next two after 2 ms.
    #[test]
    fn a_burst_waits_for_the_time_of_the_last_one() {
        let pacing = Pacing { rate: BitRate(8_000_000), quantum: 2000 };
        let (mut bursts, at) = (Bursts::default(), |us| Instant(us * US));
        bursts.send(at(0), 1000, pacing, 1000);
        assert_eq!(bursts.release(), None);
        bursts.send(at(0), 1000, pacing, 1000);
        assert_eq!(bursts.release(), Some(at(2000)));
        bursts.pass(at(1999));
        assert_eq!(bursts.release(), Some(at(2000)));
        // 300 us late: the next release makes up for them.
        bursts.pass(at(2300));
        assert_eq!(bursts.release(), None);
        bursts.send(at(2300), 1000, pacing, 1000);
        bursts.send(at(2300), 1000, pacing, 1000);
        assert_eq!(bursts.release(), Some(at(4000)));
        // A minute late: for half of a segment at most.
        bursts.pass(at(60_000_000));
        bursts.send(at(60_000_000), 1000, Pacing { quantum: 1000, ..pacing }, 1000);
        assert_eq!(bursts.release(), Some(at(60_000_500)));
    }
}
