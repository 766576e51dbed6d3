//! RoCE's reliable connection as network cards implement it: a frame out of sequence is discarded, and everything from the
//! missing one on is sent again.
//!
//! ```text
//!   sender    0 1 2 3 4 5 . . 2 3 4 5 6          receiver   0 1   3 4 5      2 3 4 5
//!                     ^ NAK 2                                     NAK 2      one NAK until 2 has come
//! ```
//!
//! Frames carry packet sequence numbers of 24 bits. The receiver acknowledges every `ack_every`-th frame, the last of each
//! message, and duplicates. It answers the first frame out of sequence by a NAK with the expected number, and others not at
//! all until the expected frame has arrived.
//!
//! If switches trim, each header of the expected frame is answered by a NAK too, and that of a later frame as soon as that is
//! expected (our reading; no standard has it). After a NAK such a later frame is sent again, so only the header of a second copy
//! counts: one that arrives after a header or a frame with a higher number.
//!
//! A lost NAK, a lost last frame and a lost retransmission are left to the timeout. The only window is that of the numbers. The
//! number of retries has no limit: a network card would report an error after some (seven by default in the verbs interface),
//! but a flow here ends when its data has arrived.
//!
//! Sources: InfiniBand Architecture Specification, volume 1, section 9.7 (numbers: 9.7.2; the responder's answers: 9.7.5;
//! the requester's timeout: 9.7.6); annex A17 for RoCEv2. Zhu et al. 2015 (DCQCN) run on it.

use alloc::vec::Vec;

use penstock_schemes::info::values::{count, octets, us};
use penstock_schemes::info::{Configuration, parameters};
use penstock_schemes::{Duration, Instant, Octets};

use super::messages::Messages;
use super::sequence::Numbering;
use super::{Ack, Acks, ROCE_ACK_OCTETS, ROCE_HEADER_OCTETS, Receiver, SackBlocks, Segment, Sender, Statistics};

parameters! {
    /// Go-back-N's parameters.
    pub struct Config {
        /// Octets of data in a full frame.
        mtu: Octets {
            default: octets(1024),
            range: octets(64)..=octets(65_536),
            source: "InfiniBand, section 9.4.3; the largest for Ethernet's 1500 octets",
        }
        /// Frames that are answered by one acknowledgement.
        ack_every: u32 {
            default: count(1),
            range: count(1)..=count(1000),
            source: "ns3-rdma, L2AckInterval",
        }
        /// Time without acknowledgement after which everything is sent again.
        timeout: Duration {
            default: us(67_109),
            range: us(1)..=us(600_000_000),
            source: "InfiniBand, section 9.7.6.1.3: 4.096 us * 2^14, the default of the perftest tools",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let values: Vec<_> = Self::PARAMETERS.iter().map(|p| p.default).collect();
        Self::from_values(&values).expect("defaults are of their parameters' kinds")
    }
}

/// The sending half of a flow. Each [`supply`](Sender::supply) is a message.
#[derive(Debug, Clone)]
pub struct GoBackNSender {
    numbering: Numbering,
    timeout: Duration,
    messages: Messages,
    finished: bool,
    /// First frame that is not acknowledged, the next one, and the first that has never been sent.
    una: u64,
    next: u64,
    unsent: u64,
    deadline: Option<Instant>,
    statistics: Statistics,
}

impl GoBackNSender {
    /// A sender whose first frame has packet sequence number `first` modulo 2^24.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        Self {
            numbering: Numbering::psn(first),
            timeout: config.timeout,
            messages: Messages::new(config.mtu.0),
            finished: false,
            una: 0,
            next: 0,
            unsent: 0,
            deadline: None,
            statistics: Statistics { cwnd: Octets(u64::MAX), ssthresh: Octets(u64::MAX), ..Statistics::default() },
        }
    }

    /// Everything that is not acknowledged is to be sent again.
    fn go_back(&mut self) {
        self.next = self.una;
        self.deadline = None;
    }
}

impl Sender for GoBackNSender {
    fn supply(&mut self, octets: Octets) {
        self.messages.post(octets.0);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_segment(&self) -> Option<u32> {
        let frame = self.messages.frame(self.next)?;
        (self.next - self.una < self.numbering.most_in_flight()).then_some(frame.octets)
    }

    fn header_octets(&self) -> u32 {
        ROCE_HEADER_OCTETS
    }

    fn may_be_trimmed(&self) -> bool {
        true
    }

    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        let len = self.next_segment()?;
        let last = self.messages.frame(self.next)?.last;
        let retransmission = self.next < self.unsent;
        let seq = self.numbering.wrap(self.next);
        self.next += 1;
        self.unsent = self.unsent.max(self.next);
        self.deadline.get_or_insert(now + self.timeout);
        self.statistics.segments += 1;
        if retransmission {
            self.statistics.retransmissions += 1;
            self.statistics.retransmitted.0 += u64::from(len);
        }
        Some(Segment { seq, len, last, retransmission, ect: true, cwr: false })
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let Some(to) = self.numbering.unwrap(ack.ack, self.una) else { return };
        if to < self.una || to > self.unsent {
            return;
        }
        if to > self.una {
            self.una = to;
            self.next = self.next.max(to);
            self.messages.release(to);
            self.deadline = (self.next > to).then_some(now + self.timeout);
        }
        if ack.nak && self.next > self.una {
            self.go_back();
            self.statistics.recoveries += 1;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|at| at <= now) {
            self.go_back();
            self.statistics.timeouts += 1;
        }
    }

    fn has_arrived(&self, seq: u32) -> bool {
        self.numbering.unwrap(seq, self.una).is_none_or(|psn| psn < self.una)
    }

    fn acknowledged(&self) -> Octets {
        Octets(self.messages.octets_before(self.una))
    }

    fn is_finished(&self) -> bool {
        self.finished && self.una == self.messages.frames()
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

/// The receiving half of a flow.
#[derive(Debug, Clone)]
pub struct GoBackNReceiver {
    numbering: Numbering,
    ack_every: u32,
    /// The frame that is expected.
    expected: u64,
    /// Frames since the last acknowledgement.
    pending: u32,
    /// A NAK has been sent, and the expected frame has not come since.
    nak_sent: bool,
    /// The first later frame of which the header alone has come, and is not about to be sent again.
    cut: Option<u64>,
    /// The frame of which a header has come last, and the last one that has come out of sequence since the NAK.
    header: u64,
    ahead: u64,
    delivered: u64,
}

impl GoBackNReceiver {
    /// A receiver of a flow whose first frame has packet sequence number `first` modulo 2^24.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        Self {
            numbering: Numbering::psn(first),
            ack_every: config.ack_every,
            expected: 0,
            pending: 0,
            nak_sent: false,
            cut: None,
            header: 0,
            ahead: 0,
            delivered: 0,
        }
    }

    fn acknowledge(&mut self, nak: bool) -> Acks {
        self.pending = 0;
        let ack = self.numbering.wrap(self.expected);
        Acks::one(Ack { ack, window: u32::MAX, sack: SackBlocks::NONE, ece: false, nak, cut: None })
    }

    /// Asks for everything from the expected frame on.
    fn ask_again(&mut self) -> Acks {
        self.nak_sent = true;
        (self.cut, self.ahead) = (None, 0);
        self.acknowledge(true)
    }
}

impl Receiver for GoBackNReceiver {
    fn on_segment(&mut self, _: Instant, segment: &Segment, _: bool) -> Acks {
        match self.numbering.unwrap(segment.seq, self.expected) {
            Some(psn) if psn == self.expected => {
                self.expected += 1;
                self.delivered += u64::from(segment.len);
                self.nak_sent = false;
                self.pending += 1;
                if self.cut == Some(self.expected) {
                    return self.ask_again();
                }
                let now = segment.last || self.pending >= self.ack_every;
                if now { self.acknowledge(false) } else { Acks::NONE }
            }
            Some(psn) if psn > self.expected => {
                let acks = if self.nak_sent { Acks::NONE } else { self.ask_again() };
                self.ahead = self.ahead.max(psn);
                acks
            }
            _ => self.acknowledge(false),
        }
    }

    fn on_header(&mut self, _: Instant, segment: &Segment) -> Acks {
        let Some(psn) = self.numbering.unwrap(segment.seq, self.expected).filter(|&psn| psn >= self.expected) else {
            return Acks::NONE;
        };
        let second = psn <= self.header.max(self.ahead);
        self.header = psn;
        if psn == self.expected {
            return self.ask_again();
        }
        // The frames before it may still be in flight.
        if second || !self.nak_sent {
            self.cut = Some(self.cut.map_or(psn, |first| first.min(psn)));
        }
        Acks::NONE
    }

    fn ack_octets(&self, _: &Ack) -> u32 {
        ROCE_ACK_OCTETS
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant) -> Option<Ack> {
        None
    }

    fn delivered(&self) -> Octets {
        Octets(self.delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn config() -> Config {
        Config { mtu: Octets(1000), timeout: Duration::from_us(100), ..Config::default() }
    }

    fn sender(octets: u64, first: u32) -> GoBackNSender {
        let mut s = GoBackNSender::new(&config(), first);
        s.supply(Octets(octets));
        s.finish();
        s
    }

    fn ack(ack: u32, nak: bool) -> Ack {
        Ack { ack, window: u32::MAX, sack: SackBlocks::NONE, ece: false, nak, cut: None }
    }

    /// The numbers of all frames that may go now.
    fn send(s: &mut GoBackNSender, now: u64) -> Vec<u32> {
        core::iter::from_fn(|| s.poll_segment(Instant(now * US))).map(|f| f.seq).collect()
    }

    fn frame(seq: u32) -> Segment {
        Segment { seq, len: 1000, last: false, retransmission: false, ect: true, cwr: false }
    }

    fn receive(r: &mut GoBackNReceiver, segment: Segment) -> Vec<(u32, bool)> {
        r.on_segment(Instant::ZERO, &segment, false).into_iter().map(|a| (a.ack, a.nak)).collect()
    }

    #[test]
    fn a_nak_sends_everything_from_there_again() {
        let mut s = sender(4500, 0);
        assert_eq!(send(&mut s, 0), [0, 1, 2, 3, 4]);
        s.on_ack(Instant(10 * US), &ack(2, true));
        assert_eq!(s.acknowledged(), Octets(2000));
        s.on_ack(Instant(10 * US), &ack(2, true));
        let again: Vec<_> = core::iter::from_fn(|| s.poll_segment(Instant(11 * US))).collect();
        assert_eq!(again.iter().map(|f| (f.seq, f.len)).collect::<Vec<_>>(), [(2, 1000), (3, 1000), (4, 500)]);
        assert!(again.iter().all(|f| f.retransmission) && again[2].last && !again[1].last);
        s.on_ack(Instant(20 * US), &ack(5, false));
        assert!(s.is_finished() && s.next_timeout().is_none());
        let t = s.statistics();
        assert_eq!((t.segments, t.retransmissions, t.retransmitted.0, t.recoveries), (8, 3, 2500, 1));
    }

    /// Sent at 0, acknowledged up to 1 at 60 us: the timeout is at 160 us; then at 161 + 100 us.
    #[test]
    fn a_timeout_sends_everything_again() {
        let mut s = sender(3000, 0);
        send(&mut s, 0);
        assert_eq!(s.next_timeout(), Some(Instant(100 * US)));
        s.on_ack(Instant(60 * US), &ack(1, false));
        s.on_timeout(Instant(159 * US));
        assert_eq!(send(&mut s, 159), [], "early");
        s.on_timeout(Instant(160 * US));
        assert_eq!(s.next_timeout(), None, "nothing is in flight until it is sent");
        assert_eq!(send(&mut s, 161), [1, 2]);
        assert_eq!(s.next_timeout(), Some(Instant(261 * US)));
        assert_eq!(s.statistics().timeouts, 1);
    }

    /// An acknowledgement of frames that are about to be sent again spares them.
    #[test]
    fn an_acknowledgement_that_comes_late_still_counts() {
        let mut s = sender(5000, 0);
        send(&mut s, 0);
        s.on_timeout(Instant(100 * US));
        assert_eq!(s.poll_segment(Instant(100 * US)).map(|f| f.seq), Some(0));
        s.on_ack(Instant(101 * US), &ack(4, false));
        assert_eq!(send(&mut s, 101), [4]);
        s.on_ack(Instant(102 * US), &ack(3, true));
        assert_eq!(send(&mut s, 102), [], "old");
        s.on_ack(Instant(102 * US), &ack(9, false));
        assert_eq!(s.acknowledged(), Octets(4000), "of frames that were never sent");
    }

    #[test]
    fn one_nak_until_the_expected_frame_has_come() {
        let mut r = GoBackNReceiver::new(&Config { ack_every: 2, ..config() }, 0);
        assert_eq!(receive(&mut r, frame(0)), []);
        assert_eq!(receive(&mut r, frame(2)), [(1, true)]);
        assert_eq!(receive(&mut r, frame(3)), []);
        assert_eq!(receive(&mut r, frame(1)), []);
        assert_eq!(receive(&mut r, frame(2)), [(3, false)], "every second");
        assert_eq!(receive(&mut r, frame(4)), [(3, true)], "another gap");
        assert_eq!(receive(&mut r, frame(0)), [(3, false)], "a duplicate");
        assert_eq!(receive(&mut r, Segment { last: true, ..frame(3) }), [(4, false)], "the last of a message");
        assert_eq!(r.delivered(), Octets(4000));
    }

    fn receive_header(r: &mut GoBackNReceiver, seq: u32) -> Vec<(u32, bool)> {
        r.on_header(Instant::ZERO, &frame(seq)).into_iter().map(|a| (a.ack, a.nak)).collect()
    }

    /// The headers of 2 and 3 overtake 0 and 1. When 1 has come, 2 is asked for; the header of its second copy asks again.
    #[test]
    fn a_header_asks_for_its_frame_when_that_is_expected() {
        let mut r = GoBackNReceiver::new(&config(), 0);
        assert_eq!(receive_header(&mut r, 3), []);
        assert_eq!(receive_header(&mut r, 2), []);
        assert_eq!(receive(&mut r, frame(0)), [(1, false)]);
        assert_eq!(receive(&mut r, frame(1)), [(2, true)]);
        assert_eq!(receive(&mut r, frame(4)), [], "one NAK is enough");
        assert_eq!(receive_header(&mut r, 2), [(2, true)]);
        assert_eq!(receive(&mut r, frame(2)), [(3, false)]);
        assert_eq!(receive(&mut r, frame(3)), [(4, false)], "its copy was whole");
        assert_eq!(receive_header(&mut r, 1), [], "of one that has come");
        assert_eq!(receive_header(&mut r, 4), [(4, true)]);
    }

    /// Of 0 to 3 the last three are cut: NAK 1 sends all three again. The first copies' headers say nothing new then, the second one of 2
    /// does: it comes behind that of 3, and before the frame 1 that it has overtaken.
    #[test]
    fn a_second_copy_that_is_cut_is_asked_for_again() {
        let mut r = GoBackNReceiver::new(&config(), 0);
        assert_eq!(receive(&mut r, frame(0)), [(1, false)]);
        assert_eq!(receive_header(&mut r, 1), [(1, true)]);
        assert_eq!(receive_header(&mut r, 2), []);
        assert_eq!(receive_header(&mut r, 3), []);
        let mut without = r.clone();
        assert_eq!(receive(&mut without, frame(1)), [(2, false)], "2 is behind it");
        assert_eq!(receive_header(&mut r, 2), []);
        assert_eq!(receive(&mut r, frame(1)), [(2, true)]);
    }

    #[test]
    fn numbers_wrap_at_24_bits() {
        let mut s = sender(3000, 0xff_fffe);
        assert_eq!(send(&mut s, 0), [0xff_fffe, 0xff_ffff, 0]);
        s.on_ack(Instant::ZERO, &ack(0, true));
        assert_eq!(send(&mut s, 0), [0]);
        s.on_ack(Instant::ZERO, &ack(1, false));
        assert!(s.is_finished());
        let mut r = GoBackNReceiver::new(&config(), 0xff_ffff);
        assert_eq!(receive(&mut r, frame(0xff_ffff)), [(0, false)]);
        assert_eq!(receive(&mut r, frame(0xff_fff0)), [(0, false)], "before the flow");
    }

    #[test]
    fn fewer_than_half_of_the_numbers_are_in_flight() {
        let mut s = sender(u64::MAX, 0);
        s.next = 0x7f_ffff;
        s.unsent = s.next;
        assert_eq!(s.next_segment(), None);
        s.on_ack(Instant::ZERO, &ack(1, false));
        assert_eq!(s.next_segment(), Some(1000));
    }
}
