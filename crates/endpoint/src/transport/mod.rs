//! Transports: they decide which octets of a flow are sent next and which are sent again, and how the destination
//! answers.
//!
//! A flow has two halves, a [`Sender`] at its source and a [`Receiver`] at its destination. Neither has a clock, a
//! socket or a payload: the caller passes the time, carries [`Segment`]s and [`Ack`]s, and reads the next timeout.
//!
//! ```text
//!   application --supply--> Sender --poll_segment--> reaction point, line ~~~~> on_segment-- Receiver --delivered--> application
//!                             ^  \_ next_timeout, on_timeout                                  |  \_ next_timeout, on_timeout
//!                             +-- on_ack <~~~~~~~~~~~~~~~~~~~ line <----- acknowledgements ---+
//! ```
//!
//! # A segment is pulled, not pushed
//!
//! A network card limits a flow beneath its transport: the reaction point of QCN sets a rate, priority flow control
//! stops a class. So a sender never hands out more than one segment. [`Sender::next_segment`] says how long the next
//! one would be, for a limiter that must know it beforehand, and [`Sender::poll_segment`] takes it when the card has
//! room. A segment that is not taken is not in flight, and the transport queues none. A segment never becomes ready by itself:
//! only acknowledgements, timeouts and new data change that. So a caller that got no segment waits for one of the three. (BBR paces: its rate is such a timeout.)
//!
//! # Contract
//!
//! Times never decrease from call to call. `on_timeout` may come early or late: it acts on everything that is due.
//! After each of [`supply`](Sender::supply), [`on_ack`](Sender::on_ack) and [`on_timeout`](Sender::on_timeout) the next
//! segment and the next timeout may have changed. Polled in any order and number between two such calls, a sender gives
//! the same segments.
//!
//! | transport | for |
//! |---|---|
//! | [`tcp`] | TCP: NewReno, CUBIC, DCTCP or BBR, with or without selective acknowledgements |
//! | [`go_back_n`] | RoCE today: after a loss everything is sent again |
//! | [`selective`] | RoCE with selective retransmission (Mittal et al. 2018): only lost frames are sent again |
//!
//! Data and acknowledgements carry the sequence numbers of the wire, which wrap ([`sequence`]). Within the state
//! machines they are 64-bit offsets from the start of the flow.
//!
//! # Example
//!
//! A flow of 100 000 octets over a line that takes 10 us each way and loses the eighth segment:
//!
//! ```
//! use penstock_endpoint::transport::tcp::{Config, TcpReceiver, TcpSender};
//! use penstock_endpoint::transport::{Receiver, Sender};
//! use penstock_schemes::{Duration, Instant, Octets};
//! use std::collections::VecDeque;
//!
//! let config = Config::default();
//! let (mut sender, mut receiver) = (TcpSender::new(&config, 0), TcpReceiver::new(&config, 0));
//! sender.supply(Octets(100_000));
//! sender.finish();
//!
//! let way = Duration::from_us(10);
//! let (mut segments, mut acks, mut now) = (VecDeque::new(), VecDeque::new(), Instant::ZERO);
//! while !sender.is_finished() {
//!     while let Some(segment) = sender.poll_segment(now) {
//!         if sender.statistics().segments != 8 {
//!             segments.push_back((now + way, segment));
//!         }
//!     }
//!     // The next thing that is due: an arrival, or a timeout.
//!     let arrivals = [segments.front().map(|s| s.0), acks.front().map(|a: &(Instant, _)| a.0)];
//!     let timeouts = [sender.next_timeout(), receiver.next_timeout()];
//!     now = arrivals.into_iter().chain(timeouts).flatten().min().expect("data is left").max(now);
//!     while let Some(&(_, segment)) = segments.front().filter(|s| s.0 <= now) {
//!         segments.pop_front();
//!         acks.extend(receiver.on_segment(now, &segment, false).into_iter().map(|ack| (now + way, ack)));
//!     }
//!     acks.extend(receiver.on_timeout(now).map(|ack| (now + way, ack)));
//!     while let Some(&(_, ack)) = acks.front().filter(|a| a.0 <= now) {
//!         acks.pop_front();
//!         sender.on_ack(now, &ack);
//!     }
//!     sender.on_timeout(now);
//! }
//! assert_eq!(receiver.delivered(), Octets(100_000));
//! assert_eq!(sender.statistics().retransmissions, 1);
//! assert_eq!(sender.statistics().timeouts, 0);
//! ```

mod dispatch;
pub mod go_back_n;
mod messages;
mod ranges;
pub mod selective;
pub mod sequence;
pub mod tcp;

#[cfg(test)]
mod tests;

pub use dispatch::{AnyReceiver, AnySender, TRANSPORTS, Transport, TransportInfo};

use penstock_schemes::{Duration, Instant, Octets};

/// The half of a transport that sends data.
pub trait Sender {
    /// The application hands over `octets` more; of a message-based transport, one message.
    fn supply(&mut self, octets: Octets);

    /// The application has handed over everything. A segment that ends with the last octet says so ([`Segment::last`]).
    fn finish(&mut self);

    /// Octets of the segment that [`poll_segment`](Self::poll_segment) would give now; `None` if it would give none.
    fn next_segment(&self) -> Option<u32>;

    /// Octets of the headers of a segment, from the network layer's on.
    fn header_octets(&self) -> u32;

    /// Whether the other half makes use of the header of a segment whose data was cut off ([`Receiver::on_header`]). Where it does not, a
    /// network that trims drops the segment.
    fn may_be_trimmed(&self) -> bool;

    /// The next segment. It counts as sent at `now`.
    fn poll_segment(&mut self, now: Instant) -> Option<Segment>;

    /// An acknowledgement has come.
    fn on_ack(&mut self, now: Instant, ack: &Ack);

    /// When [`on_timeout`](Self::on_timeout) is to be called next; it may lie in the past.
    fn next_timeout(&self) -> Option<Instant>;

    /// Acts on each timer that is due.
    fn on_timeout(&mut self, now: Instant);

    /// Whether the frame with this sequence number, one of those sent, is known to have arrived.
    fn has_arrived(&self, seq: u32) -> bool;

    /// Octets from the start of the flow that are known to have arrived in order.
    fn acknowledged(&self) -> Octets;

    /// Whether everything has been handed over, and all of it acknowledged.
    fn is_finished(&self) -> bool;

    /// The counts and the state so far.
    fn statistics(&self) -> Statistics;
}

/// The half of a transport that receives data.
pub trait Receiver {
    /// A segment has come; `ce` if the network has marked it (Congestion Experienced, RFC 3168, section 5). Returns the
    /// acknowledgements that go now, in this order.
    fn on_segment(&mut self, now: Instant, segment: &Segment, ce: bool) -> Acks;

    /// The header of a segment has come, whose data a queue without room has cut off. It may have overtaken others. Returns the
    /// acknowledgements that go now.
    fn on_header(&mut self, now: Instant, segment: &Segment) -> Acks;

    /// Octets of `ack` from the network layer's header on.
    fn ack_octets(&self, ack: &Ack) -> u32;

    /// When [`on_timeout`](Self::on_timeout) is to be called next.
    fn next_timeout(&self) -> Option<Instant>;

    /// Gives the acknowledgement that has been delayed, if it is due.
    fn on_timeout(&mut self, now: Instant) -> Option<Ack>;

    /// Octets from the start of the flow that have arrived, without a gap.
    fn delivered(&self) -> Octets;
}

/// One segment, or frame, from sender to receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// TCP: the sequence number of its first octet (32 bits). RoCE: its packet sequence number, PSN (24 bits).
    pub seq: u32,
    /// Octets of data, without headers. Zero for TCP's probe of a closed window.
    pub len: u32,
    /// It ends a message, or the flow.
    pub last: bool,
    /// Some of it has been sent before.
    pub retransmission: bool,
    /// The network may mark it (ECN-Capable Transport).
    pub ect: bool,
    /// TCP: Congestion Window Reduced. (RFC 3168, section 6.1.2)
    pub cwr: bool,
}

/// One acknowledgement from receiver to sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The sequence number that is expected next: everything before it has arrived.
    pub ack: u32,
    /// TCP: octets after `ack` that the receiver has room for. RoCE has no such window, and says `u32::MAX`.
    pub window: u32,
    /// Ranges after `ack` that have arrived, or a bitmap of them.
    pub sack: SackBlocks,
    /// TCP: ECN-Echo. (RFC 3168, section 6.1.3; RFC 8257, section 3.2)
    pub ece: bool,
    /// RoCE: a frame has come out of sequence, or the header alone of the one that is expected.
    pub nak: bool,
    /// Selective retransmission: the frame of which the header alone has come.
    pub cut: Option<u32>,
}

/// Acknowledgements that answer one segment: two at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acks {
    first: Option<Ack>,
    second: Option<Ack>,
}

impl Acks {
    /// No acknowledgement.
    pub const NONE: Self = Self { first: None, second: None };

    /// One.
    #[must_use]
    #[inline]
    pub const fn one(ack: Ack) -> Self {
        Self { first: Some(ack), second: None }
    }

    /// `before`, if there is one, then `ack`.
    #[must_use]
    pub const fn after(before: Option<Ack>, ack: Ack) -> Self {
        match before {
            Some(_) => Self { first: before, second: Some(ack) },
            None => Self::one(ack),
        }
    }
}

impl IntoIterator for Acks {
    type Item = Ack;
    type IntoIter = core::iter::Chain<core::option::IntoIter<Ack>, core::option::IntoIter<Ack>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.second)
    }
}

/// Octets of a RoCEv2 frame besides its data: IPv4 20, UDP 8, base transport header 12, invariant CRC 4. (InfiniBand,
/// annex A17; the first frame of a write has 16 more, which are left out)
const ROCE_HEADER_OCTETS: u32 = 44;
/// Octets of a RoCEv2 acknowledgement: a frame with an acknowledgement extended header of 4. (InfiniBand, section 9.3.5)
const ROCE_ACK_OCTETS: u32 = ROCE_HEADER_OCTETS + 4;

/// Octets of MRC's probe of a path behind the base transport header. (OCP, Multipath Reliable Connection 1.0, table 7-18)
pub const MRC_PROBE_OCTETS: u32 = 16;

/// The largest packet sequence number of RoCE. (InfiniBand, section 9.2)
pub const LARGEST_PSN: u32 = 0x00ff_ffff;

/// Up to four ranges of sequence numbers, first and one past the last of each. Or a bitmap of 64, which takes the room of the ranges.
///
/// Four fit in TCP's 40 octets of options where no other option is used. (RFC 2018, section 3)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    count: u8,
}

impl SackBlocks {
    /// How many fit.
    pub const MOST: usize = 4;

    /// No block.
    pub const NONE: Self = Self { blocks: [(0, 0); 4], count: 0 };

    /// Adds a block behind the others, unless four are there.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = (start, end);
            self.count += 1;
        }
    }

    /// Instead of blocks: that of the 64 from `first` on those have arrived whose bits are set, the lowest first. (OCP, Multipath Reliable
    /// Connection 1.0, table 7-14)
    #[must_use]
    pub const fn of_bitmap(first: u32, bits: u64) -> Self {
        Self { blocks: [(first, 1), (bits as u32, (bits >> 32) as u32), (0, 0), (0, 0)], count: 0 }
    }

    /// The first of 64 and their bits, where it has these.
    #[must_use]
    pub const fn bitmap(&self) -> Option<(u32, u64)> {
        let [(first, is_one), (low, high), ..] = self.blocks;
        if self.count == 0 && is_one == 1 { Some((first, low as u64 | (high as u64) << 32)) } else { None }
    }

    /// The blocks, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Octets that they take in TCP's header: the option's own (RFC 2018, section 3), padded to words of four.
    #[must_use]
    pub fn octets(&self) -> u32 {
        if self.count == 0 { 0 } else { 4 + 8 * u32::from(self.count) }
    }
}

/// The counts of a sender so far, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Segments sent, those that were sent again among them; probes of a closed window are not.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Octets sent again.
    pub retransmitted: Octets,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that a loss was noticed without a timeout.
    pub recoveries: u64,
    /// Times that marks of the network cut the window.
    pub marked_cuts: u64,
    /// Octets that may be in flight, by congestion control; [`u64::MAX`] where nothing limits them.
    pub cwnd: Octets,
    /// Slow start ends at this window; [`u64::MAX`] before the first loss and where there is none.
    pub ssthresh: Octets,
    /// Smoothed round-trip time; `None` before the first sample, and where none are taken.
    pub srtt: Option<Duration>,
}
