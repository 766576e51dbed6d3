//! TCP: the data path of RFC 9293, with congestion control.
//!
//! | part | where | by |
//! |---|---|---|
//! | data, windows, probes of a closed window | `sender`, `receiver` | RFC 9293, section 3.8.6 |
//! | retransmission timer | `timer` | RFC 6298 |
//! | fast retransmit and recovery without selective acknowledgements | `sender` | RFC 5681, section 3.2; RFC 6582 |
//! | selective acknowledgements, recovery with them | `scoreboard` | RFC 2018; RFC 6675 |
//! | losses by time, tail loss probes | `rack` | RFC 8985 |
//! | delayed acknowledgements | `receiver` | RFC 1122, section 4.2.3.2; RFC 5681, section 4.2 |
//! | explicit congestion notification | `sender`, `receiver` | RFC 3168; RFC 8257, section 3.2 |
//! | congestion control | `congestion` | RFC 5681 and RFC 6582; RFC 9438; RFC 8257; draft-cardwell-iccrg-bbr-congestion-control-00 |
//! | rate of delivery | `delivery` | draft-cheng-iccrg-delivery-rate-estimation-00 |
//!
//! # Omissions
//!
//! - The handshake and the close: a flow starts established, with the receiver's first window known; no sequence number
//!   stands for SYN or FIN. The last segment is marked ([`Segment::last`](super::Segment::last)).
//! - Options but MSS and selective acknowledgement. There are no timestamps; windows above 65 535 octets are taken as if a
//!   window scale had been agreed upon, and are not rounded to it. (RFC 7323)
//! - Nagle's algorithm: each hand-over of data is pushed, as with `TCP_NODELAY`.
//! - HyStart++ (RFC 9406), proportional rate reduction (RFC 6937), D-SACK (RFC 2883) and the undoing of a reaction to a loss
//!   that was none (RFC 9438, section 4.9). Without D-SACK the reordering window of RACK does not grow beyond its first value.
//! - The choice of RFC 3168, section 6.1.2, to send below one segment a round trip when marks persist (`ecn_floor`).
//!
//! # Readings
//!
//! - A receiver never takes back octets that it has acknowledged selectively, so that a timeout keeps the scoreboard.
//!   (RFC 2018, section 8, allows receivers to do so, and asks senders to forget; Linux keeps it too.)
//! - A loss that is found in a recovery, of data sent since it began, is repaired in it; when the recovery ends it begins
//!   another one, which does not repair it again. (RFC 6675, section 5, would, with the next duplicate.)
//! - One round trip is timed per window, and none across a retransmission. (RFC 6298, section 3)
//! - In congestion avoidance the window grows by octets acknowledged, not by acknowledgements. (RFC 5681, section 3.1, names
//!   both and recommends this one)

mod congestion;
mod delivery;
mod rack;
mod receiver;
mod records;
mod scoreboard;
mod sender;
mod timer;

pub use receiver::TcpReceiver;
pub use sender::TcpSender;

use alloc::vec::Vec;

use penstock_schemes::info::values::{choice, count, octets, switch, us};
use penstock_schemes::info::{Configuration, choice, parameters};
use penstock_schemes::{Duration, Octets};

/// Octets of an IPv4 header and a TCP header without options: the part of a segment on top of its data. (RFC 9293,
/// section 3.1)
pub(super) const HEADER_OCTETS: u32 = 40;

choice! {
    /// Congestion control.
    pub enum Congestion {
        /// NewReno: RFC 5681 and RFC 6582.
        NewReno = "newreno",
        /// CUBIC: RFC 9438.
        Cubic = "cubic",
        /// DCTCP: RFC 8257.
        Dctcp = "dctcp",
        /// BBR, version 1: Cardwell et al. 2016.
        Bbr = "bbr",
    }
}

parameters! {
    /// TCP's parameters.
    pub struct Config {
        /// SMSS, octets of data in a full segment.
        mss: Octets {
            default: octets(1460),
            range: octets(64)..=octets(65_495),
            source: "RFC 9293, section 3.7.1; Ethernet's 1500 octets less 40 of headers",
        }
        /// Congestion control.
        congestion: Congestion {
            default: choice("cubic"),
            source: "Linux",
        }
        /// Selective acknowledgements.
        sack: bool {
            default: switch(true),
            source: "RFC 2018; RFC 6675",
        }
        /// Losses are found by time, and the tail of a flight is probed.
        rack: bool {
            default: switch(false),
            source: "RFC 8985",
            when: sack = true,
        }
        /// Segments may be marked, and marks cut the window; with DCTCP they always may, with BBR never.
        ecn: bool {
            default: switch(false),
            source: "RFC 3168",
            when: congestion = "newreno" | "cubic",
        }
        /// Segments to which marks can cut the window.
        ecn_floor: u32 {
            default: count(2),
            range: count(1)..=count(10),
            source: "Linux; RFC 9438, section 4.6, has 1",
        }
        /// Segments of the initial window.
        initial_window: u32 {
            default: count(10),
            range: count(1)..=count(1000),
            source: "RFC 6928, section 2",
        }
        /// Octets that the receiver has room for.
        receive_window: Octets {
            default: octets(6_291_456),
            range: octets(1000)..=octets(1_073_741_824),
            source: "Linux, tcp_rmem",
        }
        /// Full segments that are answered by one acknowledgement.
        ack_every: u32 {
            default: count(2),
            range: count(1)..=count(1000),
            source: "RFC 5681, section 4.2",
        }
        /// Longest time that an acknowledgement is delayed.
        ack_delay: Duration {
            default: us(40_000),
            range: us(0)..=us(500_000),
            source: "Linux; RFC 1122, section 4.2.3.2, has less than 500 ms",
        }
        /// Retransmission timeout before the first round trip is timed.
        rto_initial: Duration {
            default: us(1_000_000),
            range: us(1)..=us(60_000_000),
            source: "RFC 6298, (2.1)",
        }
        /// Least retransmission timeout.
        rto_min: Duration {
            default: us(200_000),
            range: us(1)..=us(60_000_000),
            source: "Linux, where the smoothed round trip comes on top; RFC 6298, (2.4), has 1 s",
        }
        /// Greatest retransmission timeout.
        rto_max: Duration {
            default: us(60_000_000),
            range: us(1)..=us(600_000_000),
            at_least: rto_min,
            source: "RFC 6298, (2.5)",
        }
        /// The window grows only while it limits the flow.
        validate_window: bool {
            default: switch(true),
            source: "RFC 9438, section 5.8; Linux",
        }
        /// After a pause longer than the retransmission timeout the window is the initial one at most.
        idle_restart: bool {
            default: switch(true),
            source: "RFC 5681, section 4.1",
        }
        /// A flow whose window shrinks from loss to loss yields faster.
        fast_convergence: bool {
            default: switch(true),
            source: "RFC 9438, section 4.7",
            when: congestion = "cubic",
        }
        /// 1/g: how slowly alpha follows.
        g_inverse: u32 {
            default: count(16),
            range: count(1)..=count(65_536),
            source: "Alizadeh et al. 2010, section 4, g = 1/16; RFC 8257, section 3.3, leaves it open",
            when: congestion = "dctcp",
        }
        /// How long the least round trip is believed. After it the flow keeps four segments in flight for a while, to see the path
        /// without a queue.
        min_rtt_window: Duration {
            default: us(10_000_000),
            range: us(1)..=us(600_000_000),
            source: "RTpropFilterLen; draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.2.2",
            when: congestion = "bbr",
        }
        /// How long that lasts, and a round trip at least.
        probe_rtt: Duration {
            default: us(200_000),
            range: us(0)..=us(60_000_000),
            source: "ProbeRTTDuration; draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.2.2",
            when: congestion = "bbr",
        }
        /// The host hands its card a millisecond's worth of segments at once, 64 KiB at most, which leave back to back. Without, it hands over one by one.
        offload: bool {
            default: switch(true),
            source: "BBR.send_quantum; draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.2",
            when: congestion = "bbr",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let values: Vec<_> = Self::PARAMETERS.iter().map(|p| p.default).collect();
        Self::from_values(&values).expect("defaults are of their parameters' kinds")
    }
}

impl Config {
    /// Whether data may be marked: it is ECN-capable. (RFC 3168, section 6.1)
    #[must_use]
    pub fn marks(&self) -> bool {
        match self.congestion {
            Congestion::NewReno | Congestion::Cubic => self.ecn,
            Congestion::Dctcp => true,
            Congestion::Bbr => false,
        }
    }

    /// Whether losses are found by time.
    fn by_time(&self) -> bool {
        self.rack && self.sack
    }

    /// IW: `min(10 MSS, max(2 MSS, 14 600))` for ten segments. (RFC 6928, section 2)
    fn first_window(&self) -> u64 {
        let (segments, mss) = (u64::from(self.initial_window), self.mss.0);
        (segments * mss).min((2 * mss).max(segments * 1460))
    }
}

#[cfg(test)]
mod tests;
