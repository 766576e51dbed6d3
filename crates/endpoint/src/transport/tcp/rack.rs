//! RACK-TLP (RFC 8985): a segment is lost if one that was sent later has arrived, and time enough has passed.
//!
//! Each segment in flight has a record. A log has all transmissions in the order of time. The one at its head has
//! waited longest, so a search for losses reads only lost or stale entries, and each transmission
//! once. (RFC 8985, section 6.2, step 5, allows such a list.)
//!
//! Transmissions are numbered, so that two at one instant are in order: RFC 8985 takes the higher sequence number for the
//! later one, which is wrong for a retransmission after new data. The least round trip is that of the whole flow (section
//! 6.2, step 1, suggests a window of minutes). The timer for reordering is set to the first segment that it concerns, not to
//! the last (step 5), so that none waits for another.

use alloc::collections::VecDeque;

use penstock_schemes::{Duration, Instant};

use super::records::{Record, Records};
use super::scoreboard::{DUP_THRESH, Scoreboard};

/// PTO before the first round trip is known. (Section 7.2)
const FIRST_PTO: Duration = Duration::from_ms(1000);

/// A transmission: when, and which in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    at: Instant,
    number: u64,
}

/// A segment's last transmission.
#[derive(Debug, Clone, Copy)]
struct Transmission {
    /// `Segment.xmit_ts`.
    sent: Stamp,
    retransmitted: bool,
}

/// State of section 5.2, and of section 5.4 for the probe.
#[derive(Debug, Clone, Default)]
pub(super) struct Rack {
    records: Records<Transmission>,
    /// Each transmission, with its first octet. An entry is stale if its record is gone, has arrived or was sent again since.
    log: VecDeque<(u64, Stamp)>,
    transmissions: u64,
    /// `RACK.xmit_ts`: the latest transmission that has arrived.
    newest: Option<Stamp>,
    rtt: Duration,
    min_rtt: Option<Duration>,
    /// `RACK.fack`: the highest octet that has arrived, plus 1.
    fack: u64,
    reordering_seen: bool,
    /// Segments acknowledged selectively since the last recovery: `RACK.segs_sacked`.
    segments_sacked: u32,
    /// When a segment that was sent before `newest` has waited long enough.
    deadline: Option<Instant>,
    probe: Probe,
}

/// The tail loss probe.
#[derive(Debug, Clone, Default)]
struct Probe {
    /// When it is to be sent.
    deadline: Option<Instant>,
    /// It is to be sent.
    due: bool,
    /// `TLP.end_seq`, and whether the probe was a retransmission.
    out: Option<(u64, bool)>,
    /// A round trip has been timed since the last probe. (Section 7.3)
    sampled: bool,
}

/// The result of a search for losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Found {
    pub(super) lost: bool,
    /// When the latest of those that had been sent again before was sent.
    pub(super) again: Option<Instant>,
}

impl Rack {
    /// `start..end` is sent. (Section 6.1)
    pub(super) fn on_send(&mut self, now: Instant, start: u64, end: u64, again: bool) {
        self.transmissions += 1;
        let stamp = Stamp { at: now, number: self.transmissions };
        if again {
            self.records.change(start, end, |record| {
                record.about = Transmission { sent: stamp, retransmitted: true };
                self.log.push_back((record.start, stamp));
            });
        } else {
            self.records.push(start, end, Transmission { sent: stamp, retransmitted: false });
            self.log.push_back((start, stamp));
        }
    }

    /// Of `start..end`, which is to be sent again, the part that was one segment with `start`.
    pub(super) fn first_segment(&self, start: u64, end: u64) -> (u64, u64) {
        (start, self.records.beyond(start).map_or(end, |r| end.min(r.end)))
    }

    /// Of `start..end`, which is to be sent again, the part that was one segment with its end.
    pub(super) fn last_segment(&self, start: u64, end: u64) -> (u64, u64) {
        (self.records.beyond(end - 1).map_or(start, |r| start.max(r.start)), end)
    }

    /// `start..end` has arrived, and had not before; to be called in ascending order. (Section 6.2, steps 1 to 3)
    pub(super) fn on_delivery(&mut self, now: Instant, start: u64, end: u64, selective: bool) {
        let mut records = core::mem::take(&mut self.records);
        records.deliver(start, end, |record| {
            self.take(now, record);
            self.segments_sacked = self.segments_sacked.saturating_add(u32::from(selective));
        });
        self.records = records;
    }

    fn take(&mut self, now: Instant, record: Record<Transmission>) {
        let Transmission { sent, retransmitted } = record.about;
        if record.end > self.fack {
            self.fack = record.end;
        } else if !retransmitted {
            self.reordering_seen = true;
        }
        let rtt = now.since(sent.at);
        if retransmitted {
            // It is the first transmission that has arrived.
            if self.min_rtt.is_some_and(|least| rtt < least) {
                return;
            }
        } else {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.probe.sampled = true;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(Some(sent));
    }

    /// Everything below `una` is acknowledged: its records go.
    pub(super) fn forget(&mut self, una: u64) {
        self.records.forget(una);
    }

    /// Section 6.2, step 4, `RACK_update_reo_wnd`.
    fn reordering_window(&self, recovering: bool, srtt: Option<Duration>) -> Duration {
        if !self.reordering_seen && (recovering || self.segments_sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        Duration(self.min_rtt.map_or(0, |least| least.0 / 4)).min(srtt.unwrap_or(Duration::ZERO))
    }

    /// Section 6.2, step 5: tells the scoreboard which octets are lost, and sets the timer for those that may be soon.
    pub(super) fn find_lost(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        recovering: bool,
        srtt: Option<Duration>,
    ) -> Found {
        let mut found = Found::default();
        self.deadline = None;
        let Some(newest) = self.newest else { return found };
        let wait = self.rtt + self.reordering_window(recovering, srtt);
        while let Some(&(start, sent)) = self.log.front() {
            if let Some(record) = self.current(start, sent) {
                if sent >= newest {
                    break;
                }
                if sent.at + wait > now {
                    self.deadline = Some(sent.at + wait);
                    break;
                }
                board.lose(record.start, record.end);
                found.lost = true;
                if record.about.retransmitted {
                    found.again = found.again.max(Some(sent.at));
                }
            }
            self.log.pop_front();
        }
        found
    }

    /// The record of the transmission of `start` at `sent`, if that is its latest and it has not arrived.
    fn current(&self, start: u64, sent: Stamp) -> Option<Record<Transmission>> {
        let record = self.records.beginning(start)?;
        (!record.has_arrived() && record.about.sent == sent).then_some(*record)
    }

    /// Section 6.3: the retransmission timer has expired. The first segment is lost, and those that have waited long enough.
    pub(super) fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, srtt: Option<Duration>) {
        let wait = self.rtt + self.reordering_window(true, srtt);
        for record in self.records.iter() {
            let first = record.start <= board.una;
            if !record.has_arrived() && (first || record.about.sent.at + wait <= now) {
                board.lose(record.start, record.end);
            }
        }
        self.begin_recovery();
    }

    /// Fast or timeout recovery begins: no probe is out. (Section 7.1)
    pub(super) fn begin_recovery(&mut self) {
        self.probe = Probe { sampled: self.probe.sampled, ..Probe::default() };
    }

    /// A recovery has ended: segments are counted from 0.
    pub(super) fn end_recovery(&mut self) {
        self.segments_sacked = 0;
    }

    /// The time of section 6.2's timer.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Section 7.2: sets the probe's timer if a probe `may` be sent; it is not later than the retransmission timer's.
    pub(super) fn schedule_probe(
        &mut self,
        now: Instant,
        may: bool,
        srtt: Option<Duration>,
        extra: Duration,
        rto: Option<Instant>,
    ) {
        self.probe.deadline = (may && self.probe.out.is_none() && !self.probe.due && self.probe.sampled).then(|| {
            let pto = srtt.map_or(FIRST_PTO, |srtt| srtt + srtt + extra);
            (now + pto).min(rto.unwrap_or(Instant::NEVER))
        });
    }

    pub(super) fn probe_deadline(&self) -> Option<Instant> {
        self.probe.deadline
    }

    /// The probe's timer has expired.
    pub(super) fn probe_now(&mut self) {
        self.probe.deadline = None;
        self.probe.due = true;
    }

    pub(super) fn probe_due(&self) -> bool {
        self.probe.due
    }

    /// The probe has been sent, and `nxt` is the first octet that has not. (Section 7.3)
    pub(super) fn on_probe(&mut self, nxt: u64, retransmission: bool) {
        self.probe = Probe { deadline: None, due: false, out: Some((nxt, retransmission)), sampled: false };
    }

    /// Section 7.4.2: returns whether the probe has repaired a loss, which congestion control must hear of. A `duplicate`
    /// acknowledges nothing new and has no selective blocks.
    pub(super) fn on_ack(&mut self, ack: u64, duplicate: bool) -> bool {
        self.probe.due = false;
        let Some((end, retransmission)) = self.probe.out.filter(|p| ack >= p.0) else { return false };
        let repaired = retransmission && ack > end;
        if !retransmission || repaired || duplicate {
            self.probe.out = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn at(ms: u64) -> Instant {
        Instant(ms * MS)
    }

    fn ms(n: u64) -> Duration {
        Duration(n * MS)
    }

    /// Segments of 100 octets sent a millisecond apart from time 0.
    fn sent(n: u64) -> (Rack, Scoreboard) {
        let (mut rack, mut board) = (Rack::default(), Scoreboard::new(100));
        for i in 0..n {
            rack.on_send(at(i), i * 100, (i + 1) * 100, false);
            board.send((i + 1) * 100);
        }
        (rack, board)
    }

    fn deliver(rack: &mut Rack, board: &mut Scoreboard, now: Instant, segment: u64) {
        board.select(segment * 100, (segment + 1) * 100, |a, b| rack.on_delivery(now, a, b, true));
    }

    /// A round trip of 40 ms; segment 0 is missing. Segment 1 arrives at 41 ms: a quarter of 40 ms later, at 0 + 40 + 10 ms, 0
    /// is lost.
    #[test]
    fn a_segment_is_lost_a_quarter_of_the_round_trip_after_a_later_one() {
        let (mut rack, mut board) = sent(4);
        deliver(&mut rack, &mut board, at(41), 1);
        assert_eq!(rack.find_lost(at(41), &mut board, false, Some(ms(40))), Found::default());
        assert_eq!(rack.deadline(), Some(at(50)));
        assert_eq!(rack.find_lost(at(50), &mut board, false, Some(ms(40))), Found { lost: true, again: None });
        assert_eq!((board.lost().as_slice(), rack.deadline()), (&[(0, 100)][..], None));
    }

    #[test]
    fn three_segments_or_a_recovery_leave_no_time_for_reordering() {
        let (mut rack, mut board) = sent(5);
        deliver(&mut rack, &mut board, at(41), 1);
        deliver(&mut rack, &mut board, at(42), 2);
        assert!(!rack.find_lost(at(42), &mut board, false, Some(ms(40))).lost);
        deliver(&mut rack, &mut board, at(43), 3);
        assert!(rack.find_lost(at(43), &mut board, false, Some(ms(40))).lost, "0 + 40 ms is past");
        rack.end_recovery();
        assert_eq!(rack.reordering_window(false, Some(ms(40))), ms(10), "counted from 0");

        let (mut rack, mut board) = sent(5);
        deliver(&mut rack, &mut board, at(41), 1);
        assert!(rack.find_lost(at(41), &mut board, true, Some(ms(40))).lost, "in recovery");
    }

    #[test]
    fn reordering_that_was_seen_keeps_the_window() {
        let (mut rack, mut board) = sent(6);
        deliver(&mut rack, &mut board, at(41), 1);
        deliver(&mut rack, &mut board, at(42), 0);
        assert!(rack.reordering_seen);
        for i in 3..6 {
            deliver(&mut rack, &mut board, at(40 + i), i);
        }
        // Segment 2, sent at 2 ms; the latest round trip is 40 ms, the least 40 ms.
        assert!(!rack.find_lost(at(45), &mut board, true, Some(ms(40))).lost);
        assert_eq!(rack.deadline(), Some(at(52)));
        assert_eq!(rack.reordering_window(true, Some(ms(4))), ms(4), "SRTT bounds it");
    }

    /// A retransmission is lost again: it is found by one that was sent after it.
    #[test]
    fn a_lost_retransmission_is_found() {
        let (mut rack, mut board) = sent(5);
        (1..=3).for_each(|i| deliver(&mut rack, &mut board, at(40 + i), i));
        assert!(rack.find_lost(at(43), &mut board, false, Some(ms(40))).lost);
        rack.on_send(at(43), 0, 100, true);
        board.send_again(0, 100, true);
        rack.on_send(at(44), 500, 600, false);
        board.send(600);
        deliver(&mut rack, &mut board, at(84), 5);
        // Segment 4 went at 4 ms and is lost too; segment 0 was sent again at 43 ms, and 43 + 40 ms is past.
        let found = rack.find_lost(at(84), &mut board, true, Some(ms(40)));
        assert_eq!(found, Found { lost: true, again: Some(at(43)) });
        assert_eq!(board.lost().as_slice(), [(0, 100), (400, 500)]);
    }

    /// New data and a retransmission at one instant, in this order: the arrival of the former does not show that the latter
    /// is lost.
    #[test]
    fn transmissions_of_one_instant_are_in_order() {
        let (mut rack, mut board) = sent(2);
        deliver(&mut rack, &mut board, at(41), 1);
        assert!(rack.find_lost(at(60), &mut board, true, Some(ms(40))).lost);
        rack.on_send(at(60), 200, 300, false);
        board.send(300);
        rack.on_send(at(60), 0, 100, true);
        board.send_again(0, 100, false);
        deliver(&mut rack, &mut board, at(100), 2);
        assert!(!rack.find_lost(at(100), &mut board, true, Some(ms(40))).lost);
    }

    /// The acknowledgement of a retransmission that comes sooner than any round trip is that of the first transmission.
    #[test]
    fn an_early_acknowledgement_of_a_retransmission_is_not_timed() {
        let (mut rack, mut board) = sent(3);
        deliver(&mut rack, &mut board, at(42), 2);
        rack.on_send(at(50), 0, 100, true);
        deliver(&mut rack, &mut board, at(60), 0);
        assert_eq!((rack.rtt, rack.newest.map(|s| s.at)), (ms(40), Some(at(2))));
        rack.on_send(at(60), 100, 200, true);
        deliver(&mut rack, &mut board, at(105), 1);
        assert_eq!((rack.rtt, rack.newest.map(|s| s.at)), (ms(45), Some(at(60))));
        assert!(!rack.reordering_seen, "retransmissions are no reordering");
    }

    #[test]
    fn a_timeout_loses_the_first_and_the_late() {
        let (mut rack, mut board) = sent(3);
        board.acknowledge(100, |a, b| rack.on_delivery(at(40), a, b, false));
        rack.forget(100);
        rack.on_send(at(195), 300, 400, false);
        board.send(400);
        rack.on_timeout(at(200), &mut board, Some(ms(40)));
        assert_eq!(board.lost().as_slice(), [(100, 300)], "the last was sent 5 ms ago");
        rack.on_send(at(205), 100, 300, true);
        board.send_again(100, 300, false);
        rack.on_timeout(at(210), &mut board, Some(ms(40)));
        assert_eq!(board.lost().as_slice(), [(100, 200)], "the first, although it was sent 5 ms ago");
    }

    #[test]
    fn the_probe_comes_after_two_round_trips() {
        let (mut rack, _) = sent(2);
        rack.schedule_probe(at(2), true, None, Duration::ZERO, None);
        assert_eq!(rack.probe_deadline(), None, "no round trip has been timed");
        rack.probe.sampled = true;
        rack.schedule_probe(at(2), true, Some(ms(40)), ms(5), Some(at(1000)));
        assert_eq!(rack.probe_deadline(), Some(at(87)));
        rack.schedule_probe(at(2), true, Some(ms(40)), ms(5), Some(at(50)));
        assert_eq!(rack.probe_deadline(), Some(at(50)), "not after the retransmission timer");
        rack.schedule_probe(at(2), false, Some(ms(40)), ms(5), None);
        assert_eq!(rack.probe_deadline(), None);
        rack.probe_now();
        assert!(rack.probe_due());
        rack.on_probe(200, true);
        rack.probe.sampled = true;
        rack.schedule_probe(at(90), true, Some(ms(40)), Duration::ZERO, None);
        assert_eq!(rack.probe_deadline(), None, "one probe at a time");
    }

    #[test]
    fn a_probe_that_repairs_a_loss_is_reported() {
        let mut rack = Rack::default();
        rack.on_probe(200, true);
        assert!(!rack.on_ack(100, false) && rack.probe.out.is_some(), "below the probe");
        assert!(!rack.on_ack(200, false) && rack.probe.out.is_some(), "either of the two");
        assert!(rack.on_ack(300, false) && rack.probe.out.is_none(), "beyond, and no duplicate came");
        rack.on_probe(300, true);
        assert!(!rack.on_ack(300, true) && rack.probe.out.is_none(), "both have arrived");
        rack.on_probe(400, false);
        assert!(!rack.on_ack(500, false) && rack.probe.out.is_none(), "new data");
    }
}
