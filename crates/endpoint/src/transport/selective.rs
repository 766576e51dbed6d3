//! RoCE with selective retransmission (IRN): frames out of sequence are kept, and only lost ones are sent again.
//!
//! The receiver answers each frame: one in sequence by an acknowledgement, one out of sequence by a NAK that names the
//! expected frame and the one that has arrived. The sender keeps a bitmap of those. A NAK or a timeout begins a recovery:
//! the expected frame is sent again, then, once each, every frame with a later one in the bitmap, then new ones. The
//! recovery ends when everything that had been sent before it has been acknowledged. The number of frames in flight is
//! capped at a bandwidth-delay product. A timeout is short where few frames are in flight, since no NAK can be expected
//! then.
//!
//! Where switches trim, the header of a frame without its data is answered by a NAK that names this frame, and the sender sends it again
//! (our reading; the paper does not trim).
//!
//! Reading: after a timeout each acknowledgement of a part of the frames that were in flight sends the one that is
//! expected next. The paper does not say how a tail of several lost frames is repaired; else each would take a timeout.
//! With a threshold for reordering each frame has to be overdue by itself to be sent again.
//! As in [`go_back_n`] retries have no limit.
//!
//! [`go_back_n`]: super::go_back_n
//!
//! Source: Mittal et al. 2018, *Revisiting Network Support for RDMA*, sections 3.1 (recovery), 3.2 (cap), 4.1 (values).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use penstock_schemes::info::values::{count, octets, switch, us};
use penstock_schemes::info::{Configuration, parameters};
use penstock_schemes::{Duration, Instant, Octets};

use super::messages::Messages;
use super::ranges::Ranges;
use super::sequence::Numbering;
use super::{Ack, Acks, ROCE_ACK_OCTETS, ROCE_HEADER_OCTETS, Receiver, SackBlocks, Segment, Sender, Statistics};

/// Octets of MRC's header of an acknowledgement with its state of congestion control, and of that which says that a frame was trimmed. (OCP,
/// Multipath Reliable Connection 1.0, tables 7-12, 7-14 and 7-16, as a program that builds them has them)
const MRC_SACK_OCTETS: u32 = 36;
const MRC_NACK_OCTETS: u32 = 20;

parameters! {
    /// Parameters of selective retransmission.
    pub struct Config {
        /// Octets of data in a full frame.
        mtu: Octets {
            default: octets(1000),
            range: octets(64)..=octets(65_536),
            source: "Mittal et al. 2018, section 4.1",
        }
        /// Frames in sequence that are answered by one acknowledgement.
        ack_every: u32 {
            default: count(1),
            range: count(1)..=count(1000),
            source: "Mittal et al. 2018, section 3.1",
        }
        /// Frames that may be in flight; 0 for no cap.
        bdp_cap: u32 {
            default: count(110),
            range: count(0)..=count(8_388_607),
            source: "Mittal et al. 2018, section 4.1, for 40 Gb/s and 24 us",
        }
        /// Frames that come behind a missing one before that counts as lost. Where frames of a flow overtake one another, a threshold of 1
        /// takes each late one for lost.
        reordering: u32 {
            default: count(1),
            range: count(1)..=count(8_388_607),
            source: "Mittal et al. 2018, section 7: a threshold of NACKs",
        }
        /// Whether each acknowledgement has a bitmap of 64 frames, as that of MRC, in a header of 36 octets. Else one out of sequence names the frame that has
        /// arrived, and a lost one is missed.
        bitmap: bool {
            default: switch(false),
            source: "OCP, Multipath Reliable Connection 1.0, tables 7-12 and 7-14, as texts about it have them",
        }
        /// Timeout while fewer than rto_few frames are in flight.
        rto_low: Duration {
            default: us(100),
            range: us(1)..=us(600_000_000),
            source: "Mittal et al. 2018, section 4.1",
        }
        /// Timeout otherwise: a round trip with one full queue.
        rto_high: Duration {
            default: us(320),
            range: us(1)..=us(600_000_000),
            at_least: rto_low,
            source: "Mittal et al. 2018, section 4.1",
        }
        /// Frames in flight from which the long timeout holds.
        rto_few: u32 {
            default: count(3),
            range: count(0)..=count(1000),
            source: "Mittal et al. 2018, section 4.1, N",
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
    /// Frames that may be in flight, and that a receiver keeps.
    fn cap(&self, numbering: Numbering) -> u64 {
        let most = numbering.most_in_flight();
        if self.bdp_cap == 0 { most } else { most.min(self.bdp_cap.into()) }
    }
}

/// A recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Recovery {
    /// It ends when everything before this frame is acknowledged.
    until: u64,
    /// Frames before this one have been sent again in it.
    again: u64,
    /// The expected frame is to be sent again, regardless of the bitmap.
    head: bool,
    by_timeout: bool,
}

/// The sending half of a flow. Each [`supply`](Sender::supply) is a message.
#[derive(Debug, Clone)]
pub struct SelectiveSender {
    numbering: Numbering,
    cap: u64,
    rto: (Duration, Duration),
    few: u64,
    reordering: u64,
    messages: Messages,
    finished: bool,
    /// First frame that is not acknowledged, and first that has not been sent.
    una: u64,
    next: u64,
    /// The bitmap.
    arrived: Ranges,
    /// Frames of which the header alone has come, and those that were sent again for this reason, as long as nothing is known of the copy.
    cut: Ranges,
    mended: Ranges,
    recovery: Option<Recovery>,
    deadline: Option<Instant>,
    statistics: Statistics,
}

impl SelectiveSender {
    /// A sender whose first frame has packet sequence number `first` modulo 2^24.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        let numbering = Numbering::psn(first);
        let cap = config.cap(numbering);
        let cwnd = if config.bdp_cap == 0 { u64::MAX } else { cap * config.mtu.0 };
        Self {
            numbering,
            cap,
            rto: (config.rto_low, config.rto_high),
            few: config.rto_few.into(),
            reordering: config.reordering.into(),
            messages: Messages::new(config.mtu.0),
            finished: false,
            una: 0,
            next: 0,
            arrived: Ranges::default(),
            cut: Ranges::default(),
            mended: Ranges::default(),
            recovery: None,
            deadline: None,
            statistics: Statistics { cwnd: Octets(cwnd), ssthresh: Octets(u64::MAX), ..Statistics::default() },
        }
    }

    /// The frame that goes next.
    fn choose(&self) -> Option<u64> {
        if let Some(lost) = self.lost() {
            return Some(lost);
        }
        (self.next < self.messages.frames() && self.next - self.una < self.cap).then_some(self.next)
    }

    /// The next frame to be sent again.
    fn lost(&self) -> Option<u64> {
        if self.recovery.is_some_and(|recovery| recovery.head) {
            return Some(self.una);
        }
        let (gap, cut) = (self.overdue(), self.cut.first().map(|range| range.0));
        gap.into_iter().chain(cut).min()
    }

    /// The next frame that a recovery sends again as those behind it have come.
    fn overdue(&self) -> Option<u64> {
        let end = self.arrived.end()?;
        let mut from = self.recovery?.again.max(self.una);
        loop {
            let (missing, _) = self.arrived.first_gap(from, end)?;
            match self.mended.holding(missing) {
                Some((_, mended)) => from = mended,
                None => return self.is_overdue(missing).then_some(missing),
            }
        }
    }

    /// Whether enough later frames have arrived for a missing one to count as lost.
    fn is_overdue(&self, missing: u64) -> bool {
        self.arrived.end().is_some_and(|end| self.arrived.count(missing, end) >= self.reordering)
    }

    /// The header alone of a frame has come.
    fn cut_off(&mut self, psn: u64) {
        if psn >= self.una && self.arrived.holding(psn).is_none() {
            self.mended.remove(psn, psn + 1);
            self.statistics.recoveries += self.cut.insert(psn, psn + 1);
        }
    }

    /// Frames of a range have arrived, as far as they lie beyond `to`.
    fn arrive(&mut self, to: u64, range: Option<(u64, u64)>) {
        let range = range.map(|(start, end)| (start.max(to), end));
        if let Some((start, end)) = range.filter(|r| r.0 < r.1 && r.1 <= self.next) {
            self.arrived.insert(start, end);
            self.cut.remove(start, end);
        }
    }

    fn timeout(&self) -> Duration {
        if self.next - self.una < self.few { self.rto.0 } else { self.rto.1 }
    }

    fn recover(&mut self, by_timeout: bool) {
        // After a timeout nothing is known of any copy.
        if by_timeout {
            self.mended = Ranges::default();
        }
        let head = self.mended.holding(self.una).is_none();
        self.recovery = Some(Recovery { until: self.next, again: self.una, head, by_timeout });
    }
}

impl Sender for SelectiveSender {
    fn supply(&mut self, octets: Octets) {
        self.messages.post(octets.0);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_segment(&self) -> Option<u32> {
        self.messages.frame(self.choose()?).map(|f| f.octets)
    }

    fn header_octets(&self) -> u32 {
        ROCE_HEADER_OCTETS
    }

    fn may_be_trimmed(&self) -> bool {
        true
    }

    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        let psn = self.choose()?;
        let frame = self.messages.frame(psn)?;
        let retransmission = psn < self.next;
        if retransmission {
            self.statistics.retransmissions += 1;
            self.statistics.retransmitted.0 += u64::from(frame.octets);
            if self.cut.holding(psn).is_some() {
                self.cut.remove(psn, psn + 1);
                self.mended.insert(psn, psn + 1);
            } else if let Some(recovery) = &mut self.recovery {
                recovery.again = psn + 1;
            }
            if let Some(recovery) = self.recovery.as_mut().filter(|_| psn == self.una) {
                recovery.head = false;
            }
        } else {
            self.next += 1;
        }
        self.statistics.segments += 1;
        let rto = self.timeout();
        self.deadline.get_or_insert(now + rto);
        let seq = self.numbering.wrap(psn);
        Some(Segment { seq, len: frame.octets, last: frame.last, retransmission, ect: true, cwr: false })
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let Some(to) = self.numbering.unwrap(ack.ack, self.una) else { return };
        if to > self.next {
            return;
        }
        // One that others have overtaken still says what it knows of the frame that it answers.
        let to = to.max(self.una);
        let advanced = to > self.una;
        if advanced {
            self.una = to;
            self.arrived.remove_below(to);
            self.cut.remove_below(to);
            self.mended.remove_below(to);
            self.messages.release(to);
            self.deadline = (self.next > to).then(|| now + self.timeout());
        }
        for &(start, end) in ack.sack.as_slice() {
            self.arrive(to, self.numbering.unwrap(start, to).zip(self.numbering.unwrap(end, to)));
        }
        if let Some((first, mut bits)) = ack.sack.bitmap()
            && let Some(mut at) = self.numbering.unwrap(first, to)
        {
            while bits != 0 {
                let missing = bits.trailing_zeros();
                let run = (bits >> missing).trailing_ones();
                at += u64::from(missing);
                self.arrive(to, Some((at, at + u64::from(run))));
                at += u64::from(run);
                bits = bits.checked_shr(missing + run).unwrap_or(0);
            }
        }
        if let Some(psn) = ack.cut.and_then(|cut| self.numbering.unwrap(cut, to)).filter(|&psn| psn < self.next) {
            self.cut_off(psn);
        }
        if self.recovery.is_some_and(|r| to >= r.until) {
            self.recovery = None;
        }
        let begins = ack.nak && self.next > to && self.is_overdue(to);
        match &mut self.recovery {
            Some(recovery) => recovery.head |= advanced && recovery.by_timeout && to >= recovery.again,
            None if begins => {
                self.recover(false);
                self.statistics.recoveries += 1;
            }
            None => {}
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|at| at <= now) {
            self.recover(true);
            self.deadline = Some(now + self.timeout());
            self.statistics.timeouts += 1;
        }
    }

    fn has_arrived(&self, seq: u32) -> bool {
        let psn = self.numbering.unwrap(seq, self.una);
        psn.is_none_or(|psn| psn < self.una || self.arrived.holding(psn).is_some())
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
pub struct SelectiveReceiver {
    numbering: Numbering,
    cap: u64,
    ack_every: u32,
    bitmap: bool,
    /// The frame that is expected.
    expected: u64,
    /// The bitmap, with lengths: octets of each frame from the expected one on, 0 for one that has not come.
    held: VecDeque<u32>,
    /// Frames in sequence since the last acknowledgement.
    pending: u32,
    delivered: u64,
}

impl SelectiveReceiver {
    /// A receiver of a flow whose first frame has packet sequence number `first` modulo 2^24.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        Self {
            numbering: Numbering::psn(first),
            cap: config.cap(Numbering::psn(first)),
            ack_every: config.ack_every,
            bitmap: config.bitmap,
            expected: 0,
            held: VecDeque::new(),
            pending: 0,
            delivered: 0,
        }
    }

    fn acknowledge(&mut self, out_of_sequence: Option<u64>) -> Acks {
        self.pending = 0;
        let mut sack = SackBlocks::NONE;
        if self.bitmap {
            sack = self.held_around(out_of_sequence.unwrap_or(self.expected));
        } else if let Some(psn) = out_of_sequence {
            sack.push(self.numbering.wrap(psn), self.numbering.wrap(psn + 1));
        }
        let ack = self.numbering.wrap(self.expected);
        let nak = out_of_sequence.is_some();
        Acks::one(Ack { ack, window: u32::MAX, sack, ece: false, nak, cut: None })
    }

    /// The bitmap of the frames that are held: from the expected one on, or of the last 64 up to frame `psn`, if that is further ahead.
    fn held_around(&self, psn: u64) -> SackBlocks {
        let skipped = (psn - self.expected).saturating_sub(63);
        let held = self.held.iter().skip(skipped as usize).take(64).enumerate();
        let bits = held.fold(0, |bits, (bit, &octets)| bits | u64::from(octets > 0) << bit);
        SackBlocks::of_bitmap(self.numbering.wrap(self.expected + skipped), bits)
    }

    /// How far a frame lies ahead of the expected one; `None` for a duplicate, and for one beyond those that the sender may have in flight.
    fn ahead(&self, segment: &Segment) -> Option<u64> {
        let psn = self.numbering.unwrap(segment.seq, self.expected)?;
        psn.checked_sub(self.expected).filter(|&ahead| ahead < self.cap)
    }

    /// Delivers the frames that are in sequence; returns their number.
    fn deliver(&mut self) -> u32 {
        let mut frames = 0;
        while let Some(&octets) = self.held.front().filter(|&&octets| octets > 0) {
            self.held.pop_front();
            self.delivered += u64::from(octets);
            frames += 1;
        }
        self.expected += u64::from(frames);
        frames
    }
}

impl Receiver for SelectiveReceiver {
    fn on_segment(&mut self, _: Instant, segment: &Segment, _: bool) -> Acks {
        let Some(ahead) = self.ahead(segment) else {
            return self.acknowledge(None);
        };
        let place = ahead as usize;
        if self.held.len() <= place {
            self.held.resize(place + 1, 0);
        }
        self.held[place] = segment.len;
        if ahead > 0 {
            return self.acknowledge(Some(self.expected + ahead));
        }
        let frames = self.deliver();
        self.pending += 1;
        let now = segment.last || frames > 1 || self.pending >= self.ack_every;
        if now { self.acknowledge(None) } else { Acks::NONE }
    }

    fn on_header(&mut self, _: Instant, segment: &Segment) -> Acks {
        let here = |ahead: u64| self.held.get(ahead as usize).is_some_and(|&octets| octets > 0);
        if self.ahead(segment).is_none_or(here) {
            return Acks::NONE;
        }
        let ack = self.numbering.wrap(self.expected);
        self.pending = 0;
        let (sack, cut) = (SackBlocks::NONE, Some(segment.seq));
        Acks::one(Ack { ack, window: u32::MAX, sack, ece: false, nak: false, cut })
    }

    /// A NAK names the frame that has arrived, or was trimmed, in an extra word. (Reading: the paper has the number, and no layout.)
    fn ack_octets(&self, ack: &Ack) -> u32 {
        match (self.bitmap, ack.cut) {
            (true, Some(_)) => ROCE_HEADER_OCTETS + MRC_NACK_OCTETS,
            (true, None) => ROCE_HEADER_OCTETS + MRC_SACK_OCTETS,
            (false, cut) => ROCE_ACK_OCTETS + if ack.nak || cut.is_some() { 4 } else { 0 },
        }
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

    fn sender(octets: u64, config: &Config) -> SelectiveSender {
        let mut s = SelectiveSender::new(config, 0);
        s.supply(Octets(octets));
        s.finish();
        s
    }

    fn nak(expected: u32, arrived: u32) -> Ack {
        let mut sack = SackBlocks::NONE;
        sack.push(arrived, arrived + 1);
        Ack { sack, nak: true, ..ack(expected) }
    }

    fn ack(ack: u32) -> Ack {
        Ack { ack, window: u32::MAX, sack: SackBlocks::NONE, ece: false, nak: false, cut: None }
    }

    fn send(s: &mut SelectiveSender, now: u64) -> Vec<u32> {
        core::iter::from_fn(|| s.poll_segment(Instant(now * US))).map(|f| f.seq).collect()
    }

    /// Frames 1 and 3 of six are lost: 2 brings NAK 1, 4 and 5 bring more. Each is sent again once, the latter as soon as a
    /// later frame is known to have arrived.
    #[test]
    fn only_what_is_lost_is_sent_again() {
        let mut s = sender(8000, &Config { bdp_cap: 6, ..Config::default() });
        assert_eq!(send(&mut s, 0), [0, 1, 2, 3, 4, 5], "the cap");
        s.on_ack(Instant(10 * US), &nak(1, 2));
        assert_eq!(send(&mut s, 10), [1, 6], "the expected frame, then new ones within the cap");
        s.on_ack(Instant(11 * US), &nak(1, 4));
        assert_eq!(send(&mut s, 11), [3]);
        s.on_ack(Instant(12 * US), &nak(1, 5));
        assert_eq!(send(&mut s, 12), []);
        s.on_ack(Instant(20 * US), &ack(3));
        assert_eq!(send(&mut s, 20), [7]);
        assert!(s.recovery.is_some());
        s.on_ack(Instant(21 * US), &ack(6));
        assert_eq!(s.recovery, None, "6 had not been sent when it began");
        s.on_ack(Instant(22 * US), &ack(8));
        assert!(s.is_finished());
        let t = s.statistics();
        assert_eq!((t.retransmissions, t.recoveries, t.timeouts), (2, 1, 0));
    }

    /// Frames 1 and 3 are late. With a threshold of two, 2 alone does not make 1 a loss, 2 and 4 do; 3 is one when 5 has come too.
    #[test]
    fn a_frame_is_lost_when_enough_later_ones_have_arrived() {
        let config = Config { bdp_cap: 6, reordering: 2, ..Config::default() };
        let mut s = sender(8000, &config);
        assert_eq!(send(&mut s, 0), [0, 1, 2, 3, 4, 5], "the cap");
        s.on_ack(Instant(10 * US), &nak(1, 2));
        assert_eq!(send(&mut s, 10), [6], "a new one within the cap");
        s.on_ack(Instant(11 * US), &nak(1, 4));
        assert_eq!(send(&mut s, 11), [1]);
        s.on_ack(Instant(12 * US), &nak(1, 5));
        assert_eq!(send(&mut s, 12), [3]);
        // One that is late and no more than that is never sent again.
        let mut s = sender(8000, &config);
        send(&mut s, 0);
        s.on_ack(Instant(10 * US), &nak(1, 2));
        s.on_ack(Instant(11 * US), &ack(3));
        s.on_ack(Instant(12 * US), &ack(6));
        assert_eq!(send(&mut s, 12), [6, 7]);
        assert_eq!((s.statistics().retransmissions, s.statistics().recoveries), (0, 0));
    }

    /// Two of four frames in flight: 100 us; from three on 320 us.
    #[test]
    fn the_timeout_is_short_where_few_are_in_flight() {
        let mut s = sender(4000, &Config::default());
        s.poll_segment(Instant::ZERO);
        assert_eq!(s.next_timeout(), Some(Instant(100 * US)));
        send(&mut s, 0);
        s.on_ack(Instant(50 * US), &ack(1));
        assert_eq!(s.next_timeout(), Some(Instant(370 * US)), "three in flight");
        s.on_ack(Instant(60 * US), &ack(2));
        assert_eq!(s.next_timeout(), Some(Instant(160 * US)));
    }

    /// All of four frames are lost: the timeout sends the first, and each acknowledgement the next.
    #[test]
    fn a_lost_tail_takes_one_timeout() {
        let mut s = sender(4000, &Config::default());
        send(&mut s, 0);
        s.on_timeout(Instant(320 * US));
        assert_eq!(send(&mut s, 320), [0]);
        for i in 1..4 {
            s.on_ack(Instant((320 + i) * US), &ack(i as u32));
            assert_eq!(send(&mut s, 320 + i), [i as u32]);
        }
        s.on_ack(Instant(330 * US), &ack(4));
        assert!(s.is_finished());
        assert_eq!(s.statistics().timeouts, 1);
    }

    #[test]
    fn a_retransmission_that_is_lost_waits_for_the_timeout() {
        let mut s = sender(5000, &Config::default());
        send(&mut s, 0);
        s.on_ack(Instant(10 * US), &nak(0, 1));
        assert_eq!(send(&mut s, 10), [0]);
        s.on_ack(Instant(11 * US), &nak(0, 3));
        assert_eq!(send(&mut s, 11), [2]);
        s.on_timeout(Instant(320 * US));
        assert_eq!(send(&mut s, 320), [0, 2], "once more");
    }

    fn cut(expected: u32, psn: u32) -> Ack {
        Ack { cut: Some(psn), ..ack(expected) }
    }

    /// The header of frame 2 came before frames 0 and 1, and its answer after theirs, as on another path.
    #[test]
    fn what_is_cut_is_sent_again_though_its_answer_was_overtaken() {
        let mut s = sender(8000, &Config { bdp_cap: 4, ..Config::default() });
        assert_eq!(send(&mut s, 0), [0, 1, 2, 3]);
        s.on_ack(Instant(10 * US), &ack(2));
        s.on_ack(Instant(11 * US), &cut(0, 2));
        assert_eq!(send(&mut s, 11), [2, 4, 5]);
        // What is said of frames that have arrived changes nothing.
        s.on_ack(Instant(12 * US), &cut(0, 1));
        s.on_ack(Instant(13 * US), &nak(0, 1));
        assert_eq!((send(&mut s, 13), s.statistics().retransmissions), (vec![], 1));
    }

    /// Of six frames the queue cuts 1 and 3. Each is sent again at once, before anything has come out of sequence, and once: the frames
    /// that come behind say nothing new. A copy that is cut goes once more.
    #[test]
    fn what_is_cut_is_sent_again_at_once() {
        let mut s = sender(8000, &Config { bdp_cap: 6, ..Config::default() });
        assert_eq!(send(&mut s, 0), [0, 1, 2, 3, 4, 5], "the cap");
        s.on_ack(Instant(10 * US), &cut(1, 3));
        s.on_ack(Instant(10 * US), &cut(1, 1));
        assert_eq!(send(&mut s, 10), [1, 3, 6], "and a new one within the cap");
        for arrived in [2, 4, 5] {
            s.on_ack(Instant(11 * US), &nak(1, arrived));
            assert_eq!(send(&mut s, 11), [], "{arrived}");
        }
        s.on_ack(Instant(12 * US), &cut(1, 1));
        assert_eq!(send(&mut s, 12), [1]);
        s.on_ack(Instant(13 * US), &ack(6));
        s.on_ack(Instant(13 * US), &cut(6, 2));
        assert_eq!(send(&mut s, 13), [7], "an old header");
        s.on_ack(Instant(14 * US), &ack(8));
        assert!(s.is_finished());
        let t = s.statistics();
        assert_eq!((t.retransmissions, t.recoveries, t.timeouts), (3, 4, 0), "three cuts, and the NAKs");
    }

    /// The copy of a cut frame is lost with its header: the timeout sends it.
    #[test]
    fn a_copy_of_a_cut_frame_that_is_lost_waits_for_the_timeout() {
        let mut s = sender(4000, &Config::default());
        send(&mut s, 0);
        s.on_ack(Instant(10 * US), &cut(1, 1));
        assert_eq!(send(&mut s, 10), [1]);
        s.on_ack(Instant(11 * US), &nak(1, 2));
        s.on_ack(Instant(12 * US), &nak(1, 3));
        assert_eq!(send(&mut s, 12), []);
        s.on_timeout(Instant(400 * US));
        assert_eq!(send(&mut s, 400), [1]);
    }

    #[test]
    fn the_receiver_names_the_frame_that_is_cut() {
        let mut r = SelectiveReceiver::new(&Config::default(), 0);
        let frame = |seq| Segment { seq, len: 1000, last: false, retransmission: false, ect: true, cwr: false };
        r.on_segment(Instant::ZERO, &frame(0), false);
        r.on_segment(Instant::ZERO, &frame(3), false);
        let mut header = |seq| {
            let acks: Vec<_> = r.on_header(Instant::ZERO, &frame(seq)).into_iter().collect();
            acks.iter().for_each(|ack| assert_eq!((ack.nak, r.ack_octets(ack)), (false, 52)));
            acks.iter().map(|ack| (ack.ack, ack.cut)).collect::<Vec<_>>()
        };
        assert_eq!(header(2), [(1, Some(2))]);
        assert_eq!(header(3), [], "it has come");
        assert_eq!(header(0), []);
        assert_eq!(header(111), [], "beyond the cap of 110");
    }

    #[test]
    fn the_receiver_keeps_what_is_out_of_sequence() {
        let mut r = SelectiveReceiver::new(&Config::default(), 0);
        let mut receive = |seq, len| {
            let frame = Segment { seq, len, last: false, retransmission: false, ect: true, cwr: false };
            let acks: Vec<_> = r.on_segment(Instant::ZERO, &frame, false).into_iter().collect();
            assert_eq!(acks.len(), 1);
            // IPv4 20, UDP 8, BTH 12, AETH 4, invariant CRC 4; and the number that has come.
            assert_eq!(r.ack_octets(&acks[0]), if acks[0].nak { 52 } else { 48 });
            (acks[0].ack, acks[0].nak, acks[0].sack.as_slice().to_vec(), r.delivered().0)
        };
        assert_eq!(receive(0, 1000), (1, false, vec![], 1000));
        assert_eq!(receive(3, 300), (1, true, vec![(3, 4)], 1000));
        assert_eq!(receive(2, 1000), (1, true, vec![(2, 3)], 1000));
        assert_eq!(receive(1, 1000), (4, false, vec![], 3300));
        assert_eq!(receive(2, 1000), (4, false, vec![], 3300), "a duplicate");
        assert_eq!(receive(114, 1000), (4, false, vec![], 3300), "beyond the cap of 110");
        assert_eq!(receive(113, 1000), (4, true, vec![(113, 114)], 3300));
    }

    /// Of frames in sequence every tenth is answered, and one that fills a gap.
    #[test]
    fn a_filled_gap_is_acknowledged_at_once() {
        let mut r = SelectiveReceiver::new(&Config { ack_every: 10, ..Config::default() }, 0);
        let mut acks = |seq| {
            let frame = Segment { seq, len: 1000, last: false, retransmission: false, ect: true, cwr: false };
            r.on_segment(Instant::ZERO, &frame, false).into_iter().map(|a| a.ack).collect::<Vec<_>>()
        };
        assert_eq!(acks(0), []);
        assert_eq!(acks(2), [1]);
        assert_eq!(acks(1), [3]);
        for seq in 3..12 {
            assert_eq!(acks(seq), []);
        }
        assert_eq!(acks(12), [13]);
    }

    /// With a bitmap the answer to frame 5 says that 0, 1, 3 and 5 have arrived, so that the sender misses 2 and 4 although all other answers are lost. The window
    /// of 64 frames follows the one that has arrived: 70 is the 64th from 7 on.
    #[test]
    fn a_bitmap_says_what_lost_acknowledgements_said() {
        let config = Config { bitmap: true, bdp_cap: 0, ..Config::default() };
        let (mut s, mut r) = (SelectiveSender::new(&config, 0), SelectiveReceiver::new(&config, 0));
        s.supply(Octets(100_000));
        send(&mut s, 0);
        let mut answer = |seq| {
            let frame = Segment { seq, len: 1000, last: false, retransmission: false, ect: true, cwr: false };
            let acks: Vec<_> = r.on_segment(Instant::ZERO, &frame, false).into_iter().collect();
            (acks[0], r.ack_octets(&acks[0]))
        };
        answer(0);
        answer(1);
        answer(3);
        let (ack, octets) = answer(5);
        // 44 and 36.
        assert_eq!((ack.ack, ack.sack.bitmap(), octets), (2, Some((2, 0b1010)), 80));
        s.on_ack(Instant(10 * US), &ack);
        let arrived: Vec<bool> = (0..7).map(|seq| s.has_arrived(seq)).collect();
        assert_eq!(arrived, [true, true, false, true, false, true, false]);
        assert_eq!(send(&mut s, 10), [2, 4]);
        let (ack, _) = answer(70);
        assert_eq!(ack.sack.bitmap(), Some((7, 1 << 63)));
        s.on_ack(Instant(11 * US), &ack);
        assert!(s.has_arrived(70) && !s.has_arrived(69));
    }
}
