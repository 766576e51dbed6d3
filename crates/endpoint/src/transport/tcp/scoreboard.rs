//! The state of the octets in flight: acknowledged selectively, lost, sent again.
//!
//! ```text
//!   una                                   high_rxt         lost_below                    nxt
//!    |  sent again  | sacked |  sent again  |  to be sent again  | sacked | in flight | sacked |
//! ```
//!
//! Octets are [`lost`](Scoreboard::lost) from the moment that they are found to be until they are sent again. RFC
//! 6675's variables are kept as first octets *behind* those that they name: `high_rxt` is HighRxt + 1. Its IsLost has
//! one bound for the whole scoreboard ([`lost_below`](Scoreboard::lost_below)). An octet is lost if the ranges above it hold
//! enough octets, so all unacknowledged octets below the start of some range are lost, and no octet is tested alone.

use crate::transport::ranges::Ranges;

/// DupThresh of RFC 6675, section 2, and the three duplicate acknowledgements of RFC 5681, section 3.2.
pub(super) const DUP_THRESH: u32 = 3;

/// The scoreboard of a sender. Offsets are octets from the start of the flow.
#[derive(Debug, Clone)]
pub(super) struct Scoreboard {
    mss: u64,
    /// First octet that is not acknowledged cumulatively (SND.UNA), and first that has not been sent (SND.NXT).
    pub(super) una: u64,
    pub(super) nxt: u64,
    sacked: Ranges,
    lost: Ranges,
    lost_below: u64,
    high_rxt: u64,
    /// Octets that have been found to be lost so far, those that were lost again among them.
    losses: u64,
}

impl Scoreboard {
    pub(super) fn new(mss: u64) -> Self {
        let (sacked, lost) = (Ranges::default(), Ranges::default());
        Self { mss, una: 0, nxt: 0, sacked, lost, lost_below: 0, high_rxt: 0, losses: 0 }
    }

    /// Octets sent and not acknowledged cumulatively: FlightSize of RFC 5681, section 2.
    pub(super) fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// Octets acknowledged selectively.
    pub(super) fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// Octets that have been found to be lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    /// Octets to be sent again.
    pub(super) fn lost(&self) -> &Ranges {
        &self.lost
    }

    /// Everything below `ack`, which lies beyond una, is acknowledged. Calls `new` for each part that was not.
    pub(super) fn acknowledge(&mut self, ack: u64, mut new: impl FnMut(u64, u64)) {
        if self.sacked.is_empty() {
            new(self.una, ack);
        } else {
            let mut at = self.una;
            while let Some((start, end)) = self.sacked.first_gap(at, ack) {
                new(start, end);
                at = end;
            }
            self.sacked.remove_below(ack);
        }
        self.una = ack;
        self.lost.remove_below(ack);
        self.high_rxt = self.high_rxt.max(ack);
    }

    /// `start..end` is acknowledged selectively. Calls `new` for each part that was not.
    pub(super) fn select(&mut self, start: u64, end: u64, new: impl FnMut(u64, u64)) {
        if start >= self.una && end <= self.nxt {
            self.sacked.insert_with(start, end, new);
            self.lost.remove(start, end);
        }
    }

    /// RFC 6675, IsLost: finds the octets that are lost by DupThresh ranges, or by more than (DupThresh - 1) segments,
    /// acknowledged above them. Returns whether the first unacknowledged octet is.
    pub(super) fn find_lost(&mut self) -> bool {
        let most = u64::from(DUP_THRESH - 1) * self.mss;
        let (mut ranges, mut octets) = (0, 0);
        let enough = self.sacked.as_slice().iter().rev().find(|&&(start, end)| {
            ranges += 1;
            octets += end - start;
            ranges >= DUP_THRESH || octets > most
        });
        if let Some(&(bound, _)) = enough {
            self.lose_gaps(self.lost_below.max(self.high_rxt), bound);
            self.lost_below = self.lost_below.max(bound);
        }
        self.una < self.lost_below
    }

    /// The first unacknowledged segment is lost, unless it has been sent again since the last timeout.
    pub(super) fn lose_first(&mut self) {
        let gap = self.sacked.first_gap(self.una, self.nxt);
        if let Some((start, end)) = gap.filter(|gap| gap.0 >= self.high_rxt) {
            self.insert_lost(start, end.min(start + self.mss));
        }
    }

    /// `start..end` is lost.
    pub(super) fn lose(&mut self, start: u64, end: u64) {
        self.lose_gaps(start.max(self.una), end);
    }

    /// Everything that is outstanding is lost, sent again or not: the retransmission timer has expired.
    pub(super) fn lose_all(&mut self) {
        self.lost_below = self.nxt;
        self.lose_gaps(self.una, self.nxt);
    }

    fn lose_gaps(&mut self, from: u64, to: u64) {
        let mut at = from;
        while let Some((start, end)) = self.sacked.first_gap(at, to) {
            self.insert_lost(start, end);
            at = end;
        }
    }

    fn insert_lost(&mut self, start: u64, end: u64) {
        let before = self.lost.total();
        self.lost.insert(start, end);
        self.losses += self.lost.total() - before;
    }

    /// `start..end` is sent for the first time.
    pub(super) fn send(&mut self, end: u64) {
        self.nxt = end;
    }

    /// `start..end` is sent again; where it `counts`, HighRxt follows. (RFC 6675, step (C.2))
    pub(super) fn send_again(&mut self, start: u64, end: u64, counts: bool) {
        self.lost.remove(start, end);
        if counts {
            self.high_rxt = self.high_rxt.max(end);
        }
    }

    /// Octets that are estimated to be in flight: RFC 6675, SetPipe.
    ///
    /// Those that were sent again without being lost count twice, as its steps (a) and (b) say.
    #[inline(always)]
    pub(super) fn pipe(&self) -> u64 {
        let once = self.outstanding() - self.sacked.total() - self.lost.total();
        let from = self.lost_below.max(self.una);
        if self.high_rxt <= from {
            return once;
        }
        once + (self.high_rxt - from) - self.sacked.count(from, self.high_rxt)
    }

    /// RFC 6675, NextSeg, rule (3): octets not sent again below the highest octet acknowledged selectively.
    pub(super) fn speculative(&self) -> Option<(u64, u64)> {
        let (start, end) = self.sacked.first_gap(self.high_rxt, self.sacked.end()?)?;
        Some((start, end.min(start + self.mss)))
    }

    /// RFC 6675, NextSeg, rule (4), and RFC 8985, section 7.3: a segment with the highest outstanding octet that is not
    /// acknowledged.
    pub(super) fn tail(&self) -> Option<(u64, u64)> {
        let (start, end) = self.sacked.last_gap(self.una, self.nxt)?;
        Some((start.max(end.saturating_sub(self.mss)), end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 100 octets sent.
    fn ten() -> Scoreboard {
        let mut board = Scoreboard::new(100);
        board.send(1000);
        board
    }

    fn select(board: &mut Scoreboard, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut new = Vec::new();
        board.select(start, end, |a, b| new.push((a, b)));
        new
    }

    #[test]
    fn new_parts_are_reported_once() {
        let mut board = ten();
        assert_eq!(select(&mut board, 200, 300), [(200, 300)]);
        assert_eq!(select(&mut board, 100, 400), [(100, 200), (300, 400)]);
        let mut new = Vec::new();
        board.acknowledge(500, |a, b| new.push((a, b)));
        assert_eq!(new, [(0, 100), (400, 500)]);
        assert_eq!((board.outstanding(), board.sacked().total(), board.pipe()), (500, 0, 500));
    }

    #[test]
    fn blocks_outside_of_the_flight_say_nothing() {
        let mut board = ten();
        board.acknowledge(200, |_, _| ());
        assert!(select(&mut board, 100, 300).is_empty());
        assert!(select(&mut board, 900, 1100).is_empty());
        assert!(board.sacked().is_empty());
    }

    /// Segments 1, 2, 4 and 6 of ten arrive: above octet 0 lie four segments in three ranges.
    #[test]
    fn three_ranges_or_more_than_two_segments_make_a_loss() {
        let mut board = ten();
        select(&mut board, 100, 200);
        select(&mut board, 400, 500);
        assert!(!board.find_lost(), "two ranges of two segments");
        assert_eq!(board.pipe(), 800);
        select(&mut board, 600, 700);
        // Three ranges above 0..100 alone; above 200..400 lie two.
        assert!(board.find_lost());
        assert_eq!((board.lost().as_slice(), board.pipe()), (&[(0, 100)][..], 600));
        // 201 octets above 200..400: more than two segments.
        select(&mut board, 700, 701);
        assert!(board.find_lost());
        assert_eq!(board.lost().as_slice(), [(0, 100), (200, 400)]);
        assert_eq!(board.pipe(), 1000 - 301 - 300);
    }

    /// Three ranges make a loss, however short they are.
    #[test]
    fn short_ranges_count() {
        let mut board = ten();
        select(&mut board, 150, 200);
        select(&mut board, 350, 400);
        assert!(!board.find_lost());
        select(&mut board, 550, 600);
        assert!(board.find_lost());
        assert_eq!(board.lost().as_slice(), [(0, 150)]);
    }

    #[test]
    fn exactly_two_segments_are_no_loss() {
        let mut board = ten();
        select(&mut board, 300, 500);
        assert!(!board.find_lost());
        select(&mut board, 500, 501);
        assert!(board.find_lost());
        assert_eq!(board.lost().as_slice(), [(0, 300)]);
    }

    #[test]
    fn a_segment_that_is_sent_again_is_in_flight_and_not_lost_again() {
        let mut board = ten();
        select(&mut board, 200, 500);
        assert!(board.find_lost());
        assert_eq!(board.pipe(), 500);
        board.send_again(0, 100, true);
        assert_eq!((board.lost().as_slice(), board.pipe()), (&[(100, 200)][..], 600));
        select(&mut board, 600, 700);
        board.find_lost();
        assert_eq!(board.lost().as_slice(), [(100, 200)], "500..600 has one segment above it");
        select(&mut board, 700, 900);
        board.find_lost();
        assert_eq!(board.lost().as_slice(), [(100, 200), (500, 600)], "0..100 has been sent again");
    }

    /// Octets that rule (3) sends again are not lost: they are in flight twice.
    #[test]
    fn speculative_segments_count_twice() {
        let mut board = ten();
        select(&mut board, 900, 1000);
        assert_eq!(board.speculative(), Some((0, 100)));
        board.send_again(0, 100, true);
        assert_eq!(board.speculative(), Some((100, 200)));
        assert_eq!(board.pipe(), 900 + 100);
        let mut later = board.clone();
        select(&mut later, 600, 800);
        assert!(later.find_lost());
        assert_eq!(later.lost().as_slice(), [(100, 600)], "0..100 has been sent again");
        board.acknowledge(100, |_, _| ());
        assert_eq!(board.pipe(), 800);
    }

    #[test]
    fn the_tail() {
        let mut board = ten();
        assert_eq!(board.tail(), Some((900, 1000)));
        select(&mut board, 950, 1000);
        assert_eq!(board.tail(), Some((850, 950)));
        select(&mut board, 0, 900);
        assert_eq!(board.tail(), Some((900, 950)));
        board.send_again(900, 950, false);
        assert_eq!(board.pipe(), 50, "a rescue does not count");
    }

    #[test]
    fn a_timeout_loses_all_but_what_has_arrived() {
        let mut board = ten();
        select(&mut board, 200, 500);
        board.find_lost();
        board.send_again(0, 100, true);
        board.lose_all();
        assert_eq!(board.lost().as_slice(), [(0, 200), (500, 1000)]);
        assert_eq!(board.pipe(), 0);
        board.send_again(0, 100, true);
        assert_eq!(board.pipe(), 100);
        board.acknowledge(500, |_, _| ());
        assert_eq!((board.pipe(), board.lost().as_slice()), (0, &[(500, 1000)][..]));
    }
}
