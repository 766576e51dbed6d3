//! Congestion control: it sets the size of the window.
//!
//! A [`Controller`] changes the [`Window`] on an acknowledgement, a loss, a mark or a timeout. Loss recovery
//! is the sender's task, and so is the choice of the events that count, and everything that the controllers have in common. BBR sets a rate
//! beside the window, from samples of the rate of delivery.

mod bbr;
mod cubic;
mod dctcp;
mod newreno;

use alloc::boxed::Box;

use penstock_schemes::{BitRate, Duration, Instant};

use super::Config;
use super::delivery::Delivery;
use bbr::Bbr;
use cubic::Cubic;
use dctcp::Dctcp;
use newreno::NewReno;

/// The congestion window and the bound of slow start, octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) cwnd: u64,
    /// [`u64::MAX`] before the first cut. (RFC 5681, section 3.1: "arbitrarily high")
    pub(super) ssthresh: u64,
    /// SMSS.
    pub(super) mss: u64,
    /// The least window that a mark leaves.
    pub(super) floor: u64,
}

impl Window {
    pub(super) fn new(config: &Config) -> Self {
        let mss = config.mss.0;
        Self { cwnd: config.first_window(), ssthresh: u64::MAX, mss, floor: u64::from(config.ecn_floor) * mss }
    }

    /// RFC 5681, section 3.1.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681, equation (2).
    fn slow_start(&mut self, acknowledged: u64) {
        self.cwnd += acknowledged.min(self.mss);
    }

    /// Half of the octets in flight, two segments at least. (RFC 5681, equation (4))
    fn half(&self, flight: u64) -> u64 {
        (flight / 2).max(2 * self.mss)
    }

    /// Loss recovery begins with this threshold, and the window is set to it. (RFC 6675, step (4.2))
    fn cut(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }

    /// A mark has cut the window to `cwnd`.
    fn marked(&mut self, cwnd: u64) {
        self.cwnd = cwnd.max(self.floor).min(self.cwnd);
        self.ssthresh = self.cwnd.max(2 * self.mss);
    }

    /// One segment: the loss window. (RFC 5681, section 3.1)
    fn lose(&mut self) {
        self.cwnd = self.mss;
    }
}

/// An acknowledgement, as congestion control sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acknowledged {
    pub(super) now: Instant,
    /// Octets that it acknowledges cumulatively and that were not before.
    pub(super) octets: u64,
    /// It carries ECN-Echo.
    pub(super) marked: bool,
    /// The first octet that is not acknowledged, and the first that has not been sent.
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) srtt: Option<Duration>,
    /// The window may grow: this is no recovery, there is no mark, and it is the window that limits the flow.
    pub(super) grows: bool,
    /// `None` where the controller keeps no account of deliveries.
    pub(super) path: Option<Path>,
}

/// What is on the path.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    /// Octets in flight before the acknowledgement and after it, and those found to be lost with it.
    pub(super) pipe_before: u64,
    pub(super) pipe: u64,
    pub(super) lost: u64,
    /// Losses are being repaired.
    pub(super) recovers: bool,
}

/// The rate at which segments go, and the octets that may go at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pacing {
    pub(super) rate: BitRate,
    pub(super) quantum: u64,
}

/// The controllers.
#[derive(Debug, Clone)]
pub(super) enum Controller {
    NewReno(NewReno),
    Cubic(Cubic),
    Dctcp(Dctcp),
    Bbr(Box<Bbr>),
}

impl Controller {
    pub(super) fn new(config: &Config) -> Self {
        match config.congestion {
            super::Congestion::NewReno => Self::NewReno(NewReno::default()),
            super::Congestion::Cubic => Self::Cubic(Cubic::new(config.fast_convergence)),
            super::Congestion::Dctcp => Self::Dctcp(Dctcp::new(config.g_inverse)),
            super::Congestion::Bbr => Self::Bbr(Box::new(Bbr::new(config))),
        }
    }

    /// An acknowledgement has come.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Acknowledged) {
        match self {
            Self::NewReno(c) => c.on_ack(window, ack),
            Self::Cubic(c) => c.on_ack(window, ack),
            Self::Dctcp(c) => c.on_ack(window, ack),
            Self::Bbr(c) => c.on_ack(window, ack),
        }
    }

    /// A loss has been found while `flight` octets were outstanding.
    pub(super) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        let flight = in_network(window, flight);
        match self {
            Self::NewReno(c) => c.on_loss(window, flight),
            Self::Cubic(c) => c.on_loss(window, flight),
            Self::Dctcp(c) => c.on_loss(window, flight),
            Self::Bbr(c) => c.on_loss(window),
        }
    }

    /// The network has marked data while `flight` octets were outstanding; comes once a window.
    pub(super) fn on_mark(&mut self, window: &mut Window, flight: u64) {
        match self {
            Self::NewReno(c) => c.on_mark(window, flight),
            Self::Cubic(c) => c.on_mark(window, flight),
            Self::Dctcp(c) => c.on_mark(window),
            Self::Bbr(_) => {}
        }
    }

    /// The retransmission timer has expired while `flight` octets were outstanding.
    pub(super) fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        // In slow start after another timeout the window says little. The threshold says what the network held before.
        let flight = if window.cwnd < window.ssthresh && window.ssthresh < u64::MAX {
            flight.min(window.ssthresh)
        } else {
            in_network(window, flight)
        };
        match self {
            Self::NewReno(c) => c.on_timeout(window, flight),
            Self::Cubic(c) => c.on_timeout(window, flight),
            Self::Dctcp(c) => c.on_timeout(window, flight),
            Self::Bbr(c) => c.on_timeout(window),
        }
    }

    /// The flow has had nothing to send for `pause`.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        if let Self::Cubic(c) = self {
            c.on_pause(pause);
        }
    }

    /// Data is about to go while nothing is in flight.
    pub(super) fn on_restart(&mut self) {
        if let Self::Bbr(c) = self {
            c.on_restart();
        }
    }

    /// Whether there is a rate, and an account of deliveries, beside the window.
    #[inline(always)]
    pub(super) fn paces(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// How segments go; `None` where the window alone says so.
    #[inline]
    pub(super) fn pacing(&self) -> Option<Pacing> {
        if let Self::Bbr(c) = self { Some(c.pacing()) } else { None }
    }

    /// The account of deliveries, where the controller goes by one.
    #[inline]
    pub(super) fn delivery(&mut self) -> Option<&mut Delivery> {
        if let Self::Bbr(c) = self { Some(&mut c.delivery) } else { None }
    }
}

/// Octets that the network may hold of `flight` that are outstanding.
///
/// More than the window are outstanding after a recovery of several round trips, for many have arrived, and a share of them all
/// would be no cut. The window is within what RFC 5681, equation (4), says of the threshold ("no more than"), and RFC 9438,
/// section 4.6, names it.
fn in_network(window: &Window, flight: u64) -> u64 {
    flight.min(window.cwnd)
}

/// An acknowledgement of `octets` in congestion avoidance, for unit tests.
#[cfg(test)]
fn acknowledged(now: Instant, octets: u64) -> Acknowledged {
    Acknowledged { now, octets, marked: false, una: 0, nxt: 0, srtt: None, grows: true, path: None }
}

/// A window of `cwnd` segments of 1000 octets beyond slow start, for unit tests.
#[cfg(test)]
fn window(cwnd: u64) -> Window {
    Window { cwnd: cwnd * 1000, ssthresh: cwnd * 1000, mss: 1000, floor: 2000 }
}
