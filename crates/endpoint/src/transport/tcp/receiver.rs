//! TCP's receiving half: reassembly, delayed and selective acknowledgements, window, ECN-Echo.

use penstock_schemes::{Duration, Instant, Octets};

use super::{Config, Congestion, HEADER_OCTETS};
use crate::transport::ranges::Ranges;
use crate::transport::sequence::Numbering;
use crate::transport::{Ack, Acks, Receiver, SackBlocks, Segment};

/// How the sender hears of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Echo {
    /// From a mark to the sender's CWR. (RFC 3168, section 6.1.3)
    UntilReduced,
    /// Each acknowledgement is of segments that were all marked, or all not. (RFC 8257, section 3.2)
    Exact,
}

/// The receiving half of a flow.
#[derive(Debug, Clone)]
pub struct TcpReceiver {
    numbering: Numbering,
    mss: u64,
    sack: bool,
    echo: Echo,
    capacity: u64,
    ack_every: u64,
    ack_delay: Duration,
    /// The application reads by [`read`](Self::read), not at once.
    buffered: bool,
    /// RCV.NXT: everything before it has arrived.
    nxt: u64,
    out_of_order: Ranges,
    /// An octet of each of the ranges of `out_of_order` that arrived most recently, the latest first.
    recent: [u64; SackBlocks::MOST],
    /// Octets that the application has read.
    read: u64,
    /// Right edge of the window that the sender knows.
    edge: u64,
    /// Octets that have arrived in order since the last acknowledgement.
    pending: u64,
    ack_at: Option<Instant>,
    /// ECN-Echo of the next acknowledgement; of [`Echo::Exact`], `DCTCP.CE`.
    ece: bool,
}

impl TcpReceiver {
    /// A receiver whose application reads at once; the first octet has sequence number `first`.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        let capacity = config.receive_window.0;
        Self {
            numbering: Numbering::tcp(first),
            mss: config.mss.0,
            sack: config.sack,
            echo: if config.congestion == Congestion::Dctcp { Echo::Exact } else { Echo::UntilReduced },
            capacity,
            ack_every: config.ack_every.into(),
            ack_delay: config.ack_delay,
            buffered: false,
            nxt: 0,
            out_of_order: Ranges::default(),
            recent: [0; SackBlocks::MOST],
            read: 0,
            edge: capacity,
            pending: 0,
            ack_at: None,
            ece: false,
        }
    }

    /// A receiver whose application reads by [`read`](Self::read).
    #[must_use]
    pub fn buffered(config: &Config, first: u32) -> Self {
        Self { buffered: true, ..Self::new(config, first) }
    }

    /// Octets that have been delivered, and that the application has not read.
    #[must_use]
    pub fn unread(&self) -> Octets {
        Octets(if self.buffered { self.nxt - self.read } else { 0 })
    }

    /// The application takes `octets` of the delivered data. Gives an acknowledgement if the window has opened by a
    /// segment, or by half of the receiver's capacity. (RFC 9293, section 3.8.6.2.2)
    ///
    /// # Panics
    /// If it takes more than there is.
    pub fn read(&mut self, octets: Octets) -> Option<Ack> {
        assert!(octets <= self.unread(), "{octets} are read, but only {} are there", self.unread());
        self.read += octets.0;
        let opened = self.nxt + self.room() - self.edge.min(self.nxt + self.room());
        (opened >= self.mss.min(self.capacity / 2)).then(|| self.acknowledge())
    }

    /// RCV.WND.
    fn room(&self) -> u64 {
        self.capacity - self.unread().0
    }

    /// Takes the octets `start..end`. Returns whether an acknowledgement must not wait. (RFC 5681, section 4.2)
    fn take(&mut self, start: u64, end: u64) -> bool {
        // A window that closes to less than was promised does not happen: the edge never moves left.
        let (start, end) = (start.max(self.nxt), end.min(self.edge));
        if start >= end {
            return true;
        }
        if start > self.nxt {
            self.out_of_order.insert(start, end);
            self.recent.rotate_right(1);
            self.recent[0] = start;
            return true;
        }
        let gaps = !self.out_of_order.is_empty();
        let mut next = end;
        if gaps {
            self.out_of_order.insert(start, end);
            next = self.out_of_order.holding(start).expect("it has just been added").1;
            self.out_of_order.remove_below(next);
        }
        self.pending += next - self.nxt;
        self.nxt = next;
        gaps
    }

    fn acknowledge(&mut self) -> Ack {
        self.pending = 0;
        self.ack_at = None;
        let ack = Ack {
            ack: self.numbering.wrap(self.nxt),
            window: self.room() as u32,
            sack: if self.sack && !self.out_of_order.is_empty() { self.blocks() } else { SackBlocks::NONE },
            ece: self.ece,
            nak: false,
            cut: None,
        };
        self.edge = self.nxt + self.room();
        ack
    }

    /// The latest range first, then those before it, then the others from the highest. (RFC 2018, section 4)
    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let mut newest = [(0, 0); SackBlocks::MOST];
        let mut count = 0;
        let ranges = self.out_of_order.as_slice();
        let latest = self.recent.iter().filter_map(|&octet| self.out_of_order.holding(octet));
        for range in latest.chain(ranges.iter().rev().copied()) {
            if count < newest.len() && !newest[..count].contains(&range) {
                newest[count] = range;
                count += 1;
                blocks.push(self.numbering.wrap(range.0), self.numbering.wrap(range.1));
            }
            if count == ranges.len().min(newest.len()) {
                break;
            }
        }
        // Ranges that have become one count once.
        for (octet, range) in self.recent.iter_mut().zip(newest) {
            *octet = range.0;
        }
        blocks
    }

    /// Takes in the mark of an arriving segment. Gives the acknowledgement that must go before, if any, and whether the
    /// segment itself is acknowledged at once.
    fn mark(&mut self, segment: &Segment, ce: bool) -> (Option<Ack>, bool) {
        match self.echo {
            Echo::UntilReduced => {
                self.ece = (self.ece && !segment.cwr) || ce;
                (None, false)
            }
            Echo::Exact if ce != self.ece => {
                // Segments that arrived before are acknowledged with the mark that they had.
                let before = (self.pending > 0).then(|| self.acknowledge());
                self.ece = ce;
                (before, true)
            }
            Echo::Exact => (None, false),
        }
    }
}

impl Receiver for TcpReceiver {
    /// TCP makes nothing of a header.
    fn on_header(&mut self, _: Instant, _: &Segment) -> Acks {
        Acks::NONE
    }

    fn on_segment(&mut self, now: Instant, segment: &Segment, ce: bool) -> Acks {
        let (before, changed) = self.mark(segment, ce);
        let urgent = match self.numbering.unwrap(segment.seq, self.nxt) {
            Some(start) => self.take(start, start + u64::from(segment.len)),
            // It lies before the flow: a probe of a closed window.
            None => true,
        };
        if urgent || changed || segment.last || self.pending >= self.ack_every * self.mss {
            return Acks::after(before, self.acknowledge());
        }
        self.ack_at.get_or_insert(now + self.ack_delay);
        before.map_or(Acks::NONE, Acks::one)
    }

    fn ack_octets(&self, ack: &Ack) -> u32 {
        HEADER_OCTETS + ack.sack.octets()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.ack_at
    }

    fn on_timeout(&mut self, now: Instant) -> Option<Ack> {
        self.ack_at.is_some_and(|at| at <= now).then(|| self.acknowledge())
    }

    fn delivered(&self) -> Octets {
        Octets(self.nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn config() -> Config {
        Config { mss: Octets(100), receive_window: Octets(1000), ..Config::default() }
    }

    fn segment(seq: u32) -> Segment {
        Segment { seq, len: 100, last: false, retransmission: false, ect: true, cwr: false }
    }

    /// The acknowledgements of `segment` as (ack, ECE).
    fn receive(r: &mut TcpReceiver, segment: Segment, ce: bool) -> Vec<(u32, bool)> {
        r.on_segment(Instant::ZERO, &segment, ce).into_iter().map(|a| (a.ack, a.ece)).collect()
    }

    fn sack(r: &mut TcpReceiver, seq: u32) -> Vec<(u32, u32)> {
        let acks: Vec<_> = r.on_segment(Instant::ZERO, &segment(seq), false).into_iter().collect();
        assert_eq!(acks.len(), 1);
        acks[0].sack.as_slice().to_vec()
    }

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut r = TcpReceiver::new(&config(), 0);
        assert_eq!(receive(&mut r, segment(0), false), []);
        assert_eq!(r.next_timeout(), Some(Instant(40 * MS)));
        assert_eq!(receive(&mut r, segment(100), false), [(200, false)]);
        assert_eq!(r.next_timeout(), None);
        let short = Segment { len: 50, ..segment(200) };
        assert_eq!(receive(&mut r, short, false), []);
        assert_eq!(receive(&mut r, Segment { seq: 250, ..segment(0) }, false), [], "150 octets");
        assert_eq!(receive(&mut r, Segment { seq: 350, ..short }, false), [(400, false)]);
    }

    #[test]
    fn a_lone_segment_is_acknowledged_after_the_delay() {
        let mut r = TcpReceiver::new(&config(), 0);
        let none = r.on_segment(Instant(5 * MS), &segment(0), false);
        assert_eq!(none.into_iter().count(), 0);
        assert_eq!(r.on_timeout(Instant(44 * MS)), None, "early");
        assert_eq!(r.on_timeout(Instant(45 * MS)).map(|a| a.ack), Some(100));
        assert_eq!(r.on_timeout(Instant(99 * MS)), None, "once");
        assert_eq!(receive(&mut r, Segment { last: true, ..segment(100) }, false), [(200, false)], "the last");
    }

    /// The delay is that of the first segment.
    #[test]
    fn a_second_segment_does_not_delay_the_first() {
        let mut r = TcpReceiver::new(&Config { ack_every: 3, ..config() }, 0);
        for ms in [0, 10] {
            r.on_segment(Instant(ms * MS), &segment(ms as u32 * 10), false);
        }
        assert_eq!(r.next_timeout(), Some(Instant(40 * MS)));
        assert_eq!(r.on_timeout(Instant(40 * MS)).map(|a| a.ack), Some(200));
    }

    #[test]
    fn gaps_and_duplicates_are_acknowledged_at_once() {
        let mut r = TcpReceiver::new(&config(), 0);
        assert_eq!(receive(&mut r, segment(100), false), [(0, false)], "a gap");
        assert_eq!(receive(&mut r, segment(300), false), [(0, false)]);
        assert_eq!(receive(&mut r, segment(0), false), [(200, false)], "it fills one");
        assert_eq!(receive(&mut r, segment(0), false), [(200, false)], "a duplicate");
        assert_eq!(receive(&mut r, segment(200), false), [(400, false)]);
        assert_eq!(r.delivered(), Octets(400));
        assert_eq!(receive(&mut r, segment(400), false), []);
    }

    /// RFC 2018, section 4: the block of the segment that has just come is the first.
    #[test]
    fn the_latest_block_comes_first() {
        let mut r = TcpReceiver::new(&config(), 0);
        assert_eq!(sack(&mut r, 500), [(500, 600)]);
        assert_eq!(sack(&mut r, 100), [(100, 200), (500, 600)]);
        assert_eq!(sack(&mut r, 300), [(300, 400), (100, 200), (500, 600)]);
        assert_eq!(sack(&mut r, 600), [(500, 700), (300, 400), (100, 200)]);
        assert_eq!(sack(&mut r, 200), [(100, 400), (500, 700)], "three ranges become one");
        assert_eq!(sack(&mut r, 800), [(800, 900), (100, 400), (500, 700)]);
        assert_eq!(sack(&mut r, 0), [(800, 900), (500, 700)]);
    }

    #[test]
    fn four_blocks_at_most() {
        let mut r = TcpReceiver::new(&Config { receive_window: Octets(10_000), ..config() }, 0);
        for i in 1..=5 {
            sack(&mut r, i * 200);
        }
        let acks = r.on_segment(Instant::ZERO, &segment(1000), false);
        // 40, the option's two, its blocks of eight, two of padding.
        assert!(acks.into_iter().all(|ack| r.ack_octets(&ack) == 40 + 2 + 4 * 8 + 2));
        assert_eq!(sack(&mut r, 1200), [(1200, 1300), (1000, 1100), (800, 900), (600, 700)]);
        let mut r = TcpReceiver::new(&Config { sack: false, ..config() }, 0);
        assert_eq!(sack(&mut r, 200), []);
        let acks = r.on_segment(Instant::ZERO, &segment(200), false);
        assert!(acks.into_iter().all(|ack| r.ack_octets(&ack) == 40));
    }

    #[test]
    fn numbers_wrap() {
        let mut r = TcpReceiver::new(&config(), 0xffff_ff9c); // 2^32 - 100
        assert_eq!(sack(&mut r, 100), [(100, 200)]);
        assert_eq!(receive(&mut r, segment(0xffff_ff9c), false), [(0, false)]);
        assert_eq!(receive(&mut r, segment(0), false), [(200, false)]);
        assert_eq!(r.delivered(), Octets(300));
        assert_eq!(
            receive(&mut r, Segment { len: 0, ..segment(0xffff_ff9b) }, false),
            [(200, false)],
            "before the flow"
        );
    }

    /// RFC 3168: ECN-Echo from the mark until CWR; a mark on the very segment with CWR starts it again.
    #[test]
    fn a_mark_is_echoed_until_the_window_is_reduced() {
        let mut r = TcpReceiver::new(&Config { ack_every: 1, ..config() }, 0);
        let cwr = |seq| Segment { cwr: true, ..segment(seq) };
        assert_eq!(receive(&mut r, segment(0), true), [(100, true)]);
        assert_eq!(receive(&mut r, segment(100), false), [(200, true)]);
        assert_eq!(receive(&mut r, cwr(200), false), [(300, false)]);
        assert_eq!(receive(&mut r, cwr(300), true), [(400, true)]);
    }

    /// RFC 8257, section 3.2, figure 1: marks 0 1 1 1 0, two segments to an acknowledgement.
    #[test]
    fn a_change_of_marks_is_acknowledged_at_once() {
        let mut r = TcpReceiver::new(&Config { congestion: Congestion::Dctcp, ..config() }, 0);
        assert_eq!(receive(&mut r, segment(0), false), []);
        assert_eq!(receive(&mut r, segment(100), true), [(100, false), (200, true)]);
        assert_eq!(receive(&mut r, segment(200), true), []);
        assert_eq!(receive(&mut r, segment(300), true), [(400, true)]);
        assert_eq!(receive(&mut r, segment(400), false), [(500, false)], "nothing was pending");
        assert_eq!(receive(&mut r, Segment { cwr: true, ..segment(500) }, false), []);
    }

    #[test]
    fn the_window_is_the_room_that_is_left() {
        let mut r = TcpReceiver::buffered(&config(), 0);
        let window = |acks: Acks| acks.into_iter().last().map(|a| (a.ack, a.window));
        for i in 0..9 {
            r.on_segment(Instant::ZERO, &segment(i * 100), false);
        }
        assert_eq!(window(r.on_segment(Instant::ZERO, &segment(900), false)), Some((1000, 0)));
        // Beyond the window: not taken, and answered.
        assert_eq!(window(r.on_segment(Instant::ZERO, &segment(1000), false)), Some((1000, 0)));
        let probe = Segment { len: 0, ..segment(999) };
        assert_eq!(window(r.on_segment(Instant::ZERO, &probe, false)), Some((1000, 0)));
        assert_eq!(r.read(Octets(99)), None, "less than a segment");
        assert_eq!(r.read(Octets(1)).map(|a| (a.ack, a.window)), Some((1000, 100)));
        assert_eq!(window(r.on_segment(Instant::ZERO, &Segment { len: 150, ..segment(1000) }, false)), None);
        assert_eq!(r.delivered(), Octets(1100), "the segment is cut at the edge");
    }

    /// Half of the receiver's capacity, where that is less than a segment.
    #[test]
    fn a_small_window_opens_by_half() {
        let mut r = TcpReceiver::buffered(&Config { receive_window: Octets(150), ..config() }, 0);
        assert_eq!(receive(&mut r, segment(0), false), []);
        assert_eq!(r.read(Octets(74)), None);
        assert_eq!(r.read(Octets(1)).map(|a| (a.ack, a.window)), Some((100, 125)));
    }

    #[test]
    #[should_panic(expected = "101 octets are read, but only 100 octets are there")]
    fn nothing_is_read_that_has_not_come() {
        let mut r = TcpReceiver::buffered(&config(), 0);
        r.on_segment(Instant::ZERO, &segment(0), false);
        r.read(Octets(101));
    }
}
