//! Golden traces of [`TcpSender`], computed by hand: marks, losses by time, probes, windows that do not limit.
//! In the notation of [`golden_traces`](super::golden_traces).

use super::golden_traces::{Trace, newreno};
use crate::transport::tcp::*;
use crate::transport::{Ack, SackBlocks, Sender};
use penstock_schemes::Instant;

const MS: u64 = 1_000_000_000;

fn by_time(window: u32) -> Config {
    Config { rack: true, ..newreno(window) }
}

fn echo(t: &mut Trace, ms: u64, to: u32) -> String {
    t.acknowledge(ms, to, &[], true)
}

/// Ten in flight, the first is marked: cwnd = 5. ECN-Echo stays until the receiver has seen CWR, on segment 10, and cuts no
/// further: the acknowledgement of 10 segments is still of data sent before. That of 11 counts again: 5 in flight, cwnd =
/// 2.5.
#[test]
fn marks_cut_once_a_window() {
    let mut t = Trace::new(Config { ecn: true, ..newreno(10) });
    assert_eq!(t.sent(0), "0 1 2 3 4 5 6 7 8 9");
    assert_eq!(echo(&mut t, 100, 1), "");
    assert_eq!(t.windows(), (5.0, 5.0));
    for to in 2..=5 {
        assert_eq!(echo(&mut t, 100, to), "", "{to}");
    }
    for (to, sent) in [(6, "c10"), (7, "11"), (8, "12"), (9, "13"), (10, "14")] {
        assert_eq!(echo(&mut t, 100, to), sent);
    }
    assert_eq!(t.windows(), (5.0, 5.0), "neither cut nor grown");
    assert_eq!(echo(&mut t, 200, 11), "");
    assert_eq!(t.windows(), (2.5, 2.5));
    assert_eq!(t.sender.statistics().marked_cuts, 2);
    for (to, sent) in [(12, ""), (13, ""), (14, "c15 16"), (15, "17")] {
        assert_eq!(t.ack(200, to), sent, "{to}");
    }
    assert_eq!(t.windows(), (3.5, 2.5), "12, 13 and 14 acknowledge a window of 2.5");
}

/// A loss and marks in one window: one cut. Segment 10 is new, and carries CWR for the loss.
#[test]
fn a_mark_in_a_window_with_a_loss_does_not_count() {
    let mut t = Trace::new(Config { ecn: true, ..newreno(10) });
    t.sent(0);
    assert_eq!(t.sack(100, 0, &[(1, 4)]), "r0");
    assert_eq!(t.windows(), (5.0, 5.0));
    assert_eq!(t.acknowledge(101, 0, &[(1, 7)], true), "c10");
    assert_eq!(t.acknowledge(200, 10, &[], true), "11 12 13 14");
    assert_eq!(t.windows(), (5.0, 5.0));
    assert_eq!(t.sender.statistics().marked_cuts, 0);
    echo(&mut t, 300, 11);
    assert_eq!(t.sender.statistics().marked_cuts, 1, "of the next window");
}

/// Alpha is 1: the first mark halves. Of the window after it (segments 1 to 10, acknowledged by 11) one in ten is
/// marked: alpha = 15/16 + 0.1/16 = 0.94375. By then nine segments without mark have made 5 into 6 segments: cwnd = 6 * (1 -
/// 0.471 875) = 3.168 75.
#[test]
fn dctcp_cuts_by_the_share_of_marks() {
    let mut t = Trace::new(Config { congestion: Congestion::Dctcp, ..newreno(10) });
    t.sent(0);
    echo(&mut t, 100, 1);
    assert_eq!(t.windows(), (5.0, 5.0));
    (2..=10).for_each(|to| drop(t.ack(100, to)));
    assert_eq!(t.windows().0, 6.0);
    echo(&mut t, 200, 11);
    assert_eq!(t.windows(), (3.169, 3.169), "to the next octet");
}

/// CUBIC: a mark leaves 0.7 windows, as a loss does.
#[test]
fn cubic_cuts_to_seven_tenths() {
    let mut t = Trace::new(Config { congestion: Congestion::Cubic, ecn: true, ..newreno(10) });
    t.sent(0);
    echo(&mut t, 100, 1);
    assert_eq!(t.windows(), (7.0, 7.0));
    let mut t = Trace::new(Config { congestion: Congestion::Cubic, ..newreno(10) });
    t.sent(0);
    t.sack(100, 0, &[(1, 4)]);
    assert_eq!(t.windows(), (7.0, 7.0));
}

/// A round trip of 40 ms. Segment 1 is missing when 2 has come at 41 ms: at 0 + 41 + 40 / 4 = 51 ms it is lost. Seven were in
/// flight, not counting the one that limited transmit let go.
#[test]
fn a_loss_is_found_by_time() {
    let mut t = Trace::new(by_time(6));
    assert_eq!(t.sent(0), "0 1 2 3 4 5");
    assert_eq!(t.ack(40, 1), "6 7");
    assert_eq!(t.sack(41, 1, &[(2, 3)]), "8");
    assert_eq!(t.timeout(), (51, "r1".into()));
    assert_eq!(t.windows(), (3.5, 3.5));
    assert_eq!(t.counts(), (1, 1, 0));
}

#[test]
fn three_segments_need_no_time() {
    let mut t = Trace::new(by_time(6));
    t.sent(0);
    t.ack(40, 1);
    assert_eq!(t.sack(41, 1, &[(2, 5)]), "r1", "sent 41 ms ago");
    assert_eq!(t.counts(), (1, 1, 0));
}

/// One acknowledgement reports three segments, the latest first: they have arrived in order.
#[test]
fn blocks_of_one_acknowledgement_are_no_reordering() {
    let mut t = Trace::new(by_time(7));
    t.sent(0);
    t.ack(40, 1);
    assert_eq!(t.sack(41, 1, &[(6, 7), (2, 3), (4, 5)]), "r1 r3", "at once: 7, 8 and they are four");
}

/// A segment that arrives within the time is no loss, and from then on three others are none either. Segment 6, sent at
/// 40 ms, is lost at 40 + 40 + 40 / 4 = 90 ms, although 7, 8 and 9 have arrived by 85.
#[test]
fn reordering_is_no_loss_by_time() {
    let mut t = Trace::new(by_time(6));
    t.sent(0);
    assert_eq!(t.ack(40, 1), "6 7");
    assert_eq!(t.sack(41, 1, &[(2, 3)]), "8");
    assert_eq!(t.ack(45, 3), "9 10");
    assert_eq!(t.ack(46, 6), "11 12 13 14");
    assert_eq!(t.sack(81, 6, &[(7, 8)]), "15");
    assert_eq!(t.sack(82, 6, &[(7, 9)]), "16");
    assert_eq!(t.sack(85, 6, &[(7, 10)]), "17");
    assert_eq!(t.counts(), (0, 0, 0));
    assert_eq!(t.timeout(), (90, "r6".into()));
}

/// The retransmission at 51 ms is lost as well. Segment 9 goes at 83 ms and its acknowledgement shows it: a second cut.
#[test]
fn a_lost_retransmission_is_a_second_loss() {
    let mut t = Trace::new(by_time(6));
    t.sent(0);
    t.ack(40, 1);
    t.sack(41, 1, &[(2, 3)]);
    t.timeout();
    assert_eq!(t.windows(), (3.5, 3.5));
    assert_eq!(t.sack(60, 1, &[(2, 6)]), "", "6, 7, 8 and 1 again are four");
    assert_eq!(t.sack(80, 1, &[(2, 7)]), "");
    assert_eq!(t.sack(83, 1, &[(2, 8)]), "9", "8, 1 and 9");
    assert_eq!(t.sack(84, 1, &[(2, 9)]), "10");
    assert_eq!(t.sack(123, 1, &[(2, 10)]), "r1", "51 + 40 ms is past, and 9 went later");
    assert_eq!(t.windows(), (2.0, 2.0), "half of 3.5, two segments at least");
    assert_eq!(t.counts(), (2, 2, 0));
}

/// Four segments, no more data. The first takes 40 ms; two round trips later the last is sent again, as a probe. Its selective
/// acknowledgement shows that 1 and 2 are lost. No timeout.
#[test]
fn a_tail_loss_probe_finds_the_losses() {
    let mut t = Trace::idle(by_time(4));
    t.sender.supply(Octets(4000));
    assert_eq!(t.sent(0), "0 1 2 3");
    assert_eq!(t.sender.next_timeout(), Some(Instant(1000 * MS)), "before the first round trip there is no probe");
    assert_eq!(t.ack(40, 1), "");
    assert_eq!(t.timeout(), (120, "r3".into()));
    assert_eq!(t.sender.next_timeout(), Some(Instant(320 * MS)), "120 + RTO, 200 at least");
    assert_eq!(t.sack(160, 1, &[(3, 4)]), "r1 r2");
    assert_eq!(t.windows(), (2.0, 2.0));
    assert_eq!(t.ack(200, 4), "");
    assert_eq!(t.counts(), (3, 1, 0));
}

/// Both retransmissions are lost. The first loss, of 1, is found at 124 ms and cuts again. That of 4, which had been sent before
/// that cut, is part of it. Segment 2 comes after 3, so that ten milliseconds are left for reordering.
#[test]
fn retransmissions_from_before_a_cut_do_not_cut_again() {
    let mut t = Trace::new(by_time(8));
    assert_eq!(t.sent(0), "0 1 2 3 4 5 6 7");
    assert_eq!(t.ack(40, 1), "8 9");
    assert_eq!(t.sack(41, 1, &[(3, 4)]), "10");
    assert_eq!(t.sack(42, 1, &[(2, 4)]), "11");
    assert_eq!(t.sack(43, 1, &[(2, 4), (5, 8)]), "12 13 14");
    assert_eq!(t.timeout(), (53, "r1".into()));
    assert_eq!(t.windows(), (4.5, 4.5));
    for end in 9..=12 {
        assert_eq!(t.sack(71 + u64::from(end), 1, &[(2, 4), (5, end)]), "", "{end}");
    }
    assert_eq!(t.sack(83, 1, &[(2, 4), (5, 13)]), "r4");
    assert_eq!(t.sack(84, 1, &[(2, 4), (5, 14)]), "15");
    assert_eq!(t.sack(85, 1, &[(2, 4), (5, 15)]), "16");
    assert_eq!(t.sack(124, 1, &[(2, 4), (5, 16)]), "r1", "53 + 40 + 10 ms are past");
    assert_eq!(t.windows(), (2.25, 2.25));
    assert_eq!(t.sack(125, 1, &[(2, 4), (5, 17)]), "");
    assert_eq!(t.timeout(), (133, "r4".into()));
    assert_eq!(t.counts(), (4, 2, 0));
}

/// Where the timeout is shorter than two round trips the probe comes instead: after four round trips of 40 ms RTTVAR is
/// 20 * (3/4)^3 = 8.4375 and RTO = 40 + 4 * 8.4375 = 73.75 ms.
#[test]
fn a_probe_goes_before_the_timeout() {
    let mut t = Trace::idle(Config { rto_min: Duration::from_ms(10), ..by_time(4) });
    for i in 0..4 {
        t.sender.supply(Octets(1000));
        t.sent(40 * u64::from(i));
        t.ack(40 * u64::from(i + 1), i + 1);
    }
    t.sender.supply(Octets(2000));
    assert_eq!(t.sent(160), "4 5");
    assert_eq!(t.sender.next_timeout(), Some(Instant(233_750_000_000)));
    assert_eq!(t.timeout(), (233, "r5".into()));
    assert_eq!(t.counts(), (1, 0, 0));
}

/// An acknowledgement that comes before the probe has left makes it needless.
#[test]
fn a_probe_that_has_not_left_is_taken_back() {
    let mut t = Trace::idle(by_time(4));
    t.sender.supply(Octets(4000));
    t.sent(0);
    t.ack(40, 1);
    t.sender.on_timeout(Instant(120 * MS));
    assert_eq!(t.sender.next_segment(), Some(1000));
    assert_eq!(t.ack(125, 2), "");
}

/// A probe is the last segment as it was sent, be it short.
#[test]
fn a_probe_is_a_segment() {
    let mut t = Trace::idle(by_time(4));
    t.sender.supply(Octets(3001));
    assert_eq!(t.sent(0), "0 1 2 3");
    t.ack(40, 1);
    assert_eq!(t.timeout(), (120, "r3".into()));
    assert_eq!(t.sender.statistics().retransmitted, Octets(1));
}

/// The probe began a recovery, which has cut the window: an acknowledgement beyond the probe does not cut it again.
#[test]
fn a_probe_that_began_a_recovery_is_not_reported_again() {
    let mut t = Trace::idle(by_time(8));
    t.sender.supply(Octets(8000));
    t.sent(0);
    t.ack(40, 1);
    assert_eq!(t.timeout(), (120, "r7".into()));
    assert_eq!(t.sack(160, 1, &[(7, 8)]), "r1 r2 r3");
    assert_eq!(t.windows(), (3.5, 3.5));
    assert_eq!(t.ack(200, 4), "r4 r5 r6");
    t.ack(240, 8);
    t.sender.supply(Octets(1000));
    t.sent(240);
    t.ack(280, 9);
    assert_eq!(t.windows(), (3.5, 3.5));
}

/// After a recovery three segments are counted again: one that comes out of order leaves time, 120 + 40 + 10 ms.
#[test]
fn a_recovery_does_not_end_the_time_for_reordering() {
    let mut t = Trace::new(by_time(6));
    assert_eq!(t.sent(0), "0 1 2 3 4 5");
    assert_eq!(t.ack(40, 1), "6 7");
    assert_eq!(t.sack(41, 1, &[(2, 5)]), "r1");
    assert_eq!(t.sack(80, 1, &[(2, 8)]), "8 9");
    assert_eq!(t.ack(81, 8), "10");
    assert_eq!(t.ack(120, 10), "11 12");
    assert_eq!(t.ack(121, 11), "13");
    assert_eq!(t.sack(160, 11, &[(12, 13)]), "14");
    assert_eq!(t.timeout(), (170, "r11".into()));
}

/// Segment 3 alone is lost. One segment may be answered late: the probe waits 2 * 40 + 40 ms. It repairs the loss; the first
/// acknowledgement beyond it tells so, and the window is cut.
#[test]
fn a_loss_that_a_probe_repairs_is_signalled_to_congestion_control() {
    let mut t = Trace::idle(by_time(4));
    t.sender.supply(Octets(4000));
    t.sent(0);
    t.ack(40, 3);
    assert_eq!(t.timeout(), (160, "r3".into()));
    t.ack(200, 4);
    assert_eq!(t.windows(), (6.0, f64::INFINITY), "either of the two may have come");
    t.sender.supply(Octets(2000));
    assert_eq!(t.sent(200), "4 5");
    t.ack(240, 5);
    assert_eq!(t.windows(), (2.0, 2.0));
    assert_eq!(t.counts(), (1, 0, 0));

    // The same, but both came: a bare duplicate says so.
    let mut t = Trace::idle(by_time(4));
    t.sender.supply(Octets(6000));
    t.sent(0);
    t.ack(40, 3);
    assert_eq!(t.sent(40), "");
    let (at, probe) = t.timeout();
    assert_eq!((at, probe.as_str()), (120, "r5"));
    t.ack(150, 6);
    t.ack(151, 6);
    t.sender.supply(Octets(2000));
    t.sent(200);
    t.ack(240, 7);
    assert_eq!(t.windows().1, f64::INFINITY);
}

/// New data serves as a probe, even beyond the congestion window.
#[test]
fn a_probe_is_new_data_where_there_is_some() {
    let mut t = Trace::new(by_time(2));
    assert_eq!(t.sent(0), "0 1");
    assert_eq!(t.ack(40, 1), "2 3");
    assert_eq!(t.timeout(), (120, "4".into()));
    assert_eq!(t.counts(), (0, 0, 0));
    assert_eq!(t.timeout(), (320, "r1".into()), "one probe, then the retransmission timer");
    assert_eq!(t.counts(), (1, 0, 1));
}

/// A window of three segments. It closes, is probed after 1 s, 2 s, 4 s (the least timeout), and opens.
#[test]
fn a_closed_window_is_probed() {
    let mut t = Trace::new(Config { receive_window: Octets(3000), rto_min: Duration::from_ms(1000), ..newreno(10) });
    assert_eq!(t.sent(0), "0 1 2", "the receiver's window");
    assert_eq!(t.ack(100, 1), "3");
    t.window = 0;
    assert_eq!(t.ack(200, 4), "");
    assert_eq!(t.timeout(), (1200, "p".into()));
    assert_eq!(t.ack(1300, 4), "", "still closed");
    assert_eq!(t.timeout(), (3200, "p".into()));
    assert_eq!(t.timeout(), (7200, "p".into()));
    t.window = 1000;
    assert_eq!(t.ack(7300, 4), "4");
    t.window = 3000;
    assert_eq!(t.ack(7400, 5), "5 6 7");
    t.window = 0;
    t.ack(7500, 8);
    assert_eq!(t.timeout(), (8500, "p".into()), "from the start");
    assert_eq!(t.counts(), (0, 0, 0), "no timeout");
}

/// 400 octets of window are not worth a segment while 3000 have been seen; 1500 are. (RFC 9293, section 3.8.6.2.1)
#[test]
fn small_windows_are_not_filled() {
    let mut t = Trace::new(Config { mss: Octets(2000), receive_window: Octets(3000), ..newreno(10) });
    let first = t.sender.poll_segment(Instant::ZERO).expect("a full segment");
    assert_eq!((first.len, t.sender.next_segment()), (2000, None), "1000 of 3000");
    t.window = 1500;
    t.ack(10, 2);
    assert_eq!(t.sender.next_segment(), None, "the segment that fits was sent");
    assert_eq!(t.sender.statistics().segments, 2);
}

/// An application that sends two segments at a time never fills a window of ten, and the window stays.
#[test]
fn a_window_that_does_not_limit_stays() {
    for (validate_window, cwnd) in [(true, 10.0), (false, 20.0)] {
        let mut t = Trace::idle(Config { validate_window, ..newreno(10) });
        for i in 0..5 {
            t.sender.supply(Octets(2000));
            t.sent(i * 100);
            t.ack(i * 100 + 50, i as u32 * 2 + 1);
            t.ack(i * 100 + 50, i as u32 * 2 + 2);
        }
        assert_eq!(t.windows().0, cwnd);
    }
}

/// A flow that had ten segments in flight before a loss, and sends two at a time after it: the ten do not count for
/// ever.
#[test]
fn a_window_that_no_longer_limits_stays() {
    let mut t = Trace::idle(newreno(10));
    t.sender.supply(Octets(10_000));
    t.sent(0);
    assert_eq!(t.sack(100, 0, &[(1, 4)]), "r0");
    t.ack(200, 10);
    assert_eq!(t.windows(), (5.0, 5.0));
    for i in 1..=20 {
        t.sender.supply(Octets(2000));
        t.sent(200 + i * 100);
        t.ack(250 + i * 100, 9 + i as u32 * 2);
        t.ack(250 + i * 100, 10 + i as u32 * 2);
    }
    assert_eq!(t.windows(), (5.0, 5.0));
}

/// Two acknowledgements overtake each other: the receiver does not take back its window.
#[test]
fn an_old_window_does_not_close_a_new_one() {
    let mut t = Trace::new(Config { receive_window: Octets(3000), ..newreno(10) });
    t.sent(0);
    let ack = |window| Ack { ack: 3000, window, sack: SackBlocks::NONE, ece: false, nak: false, cut: None };
    t.sender.on_ack(Instant(100 * MS), &ack(2000));
    t.sender.on_ack(Instant(100 * MS), &ack(0));
    assert_eq!(t.sent(100), "3 4");
}

/// A window that opens before its probe has left needs none.
#[test]
fn a_window_that_opens_is_not_probed() {
    let mut t = Trace::new(Config { receive_window: Octets(3000), ..newreno(10) });
    t.sent(0);
    t.window = 0;
    t.ack(100, 3);
    t.sender.on_timeout(Instant(2000 * MS));
    assert_eq!(t.sender.next_segment(), Some(0));
    t.window = 3000;
    assert_eq!(t.ack(2001, 3), "3 4 5");
}

/// A flow ends when the application says so, and everything has arrived.
#[test]
fn a_flow_ends_when_the_application_says_so() {
    let mut t = Trace::idle(newreno(10));
    t.sender.supply(Octets(2000));
    t.sent(0);
    t.ack(100, 2);
    assert!(!t.sender.is_finished());
    t.sender.finish();
    assert!(t.sender.is_finished());
    t.sender.supply(Octets(1000));
    assert!(!t.sender.is_finished());
    assert!(t.sender.poll_segment(Instant(100 * MS)).is_some_and(|s| s.last));
}

/// A card that takes one segment a millisecond: nothing is in flight that it has not taken, and the window grows no further than
/// it is used.
#[test]
fn a_slow_card_limits_the_window() {
    let mut t = Trace::new(newreno(10));
    let mut acknowledged = 0;
    for ms in 0..200 {
        assert!(t.sender.poll_segment(Instant(ms * MS)).is_some());
        // A round trip of 8 ms.
        if ms >= 8 {
            acknowledged += 1;
            let ack = Ack {
                ack: acknowledged * 1000,
                window: t.window,
                sack: SackBlocks::NONE,
                ece: false,
                nak: false,
                cut: None,
            };
            t.sender.on_ack(Instant(ms * MS), &ack);
        }
    }
    // Nine in flight at most. Slow start ends at twice that: it grows while 2 * 9 >= cwnd.
    assert_eq!(t.windows().0, 19.0);
}

/// After 2 s without data the window is the initial one again. (RFC 5681, section 4.1)
#[test]
fn a_pause_restarts_the_window() {
    for (idle_restart, cwnd) in [(true, 4.0), (false, 8.0)] {
        let mut t = Trace::idle(Config { idle_restart, ..newreno(4) });
        t.sender.supply(Octets(4000));
        t.sent(0);
        (1..=4).for_each(|to| drop(t.ack(100, to)));
        assert_eq!(t.windows().0, 8.0);
        t.sender.supply(Octets(8000));
        assert!(t.sent(2100).starts_with("4 5 6 7"));
        assert_eq!(t.windows().0, cwnd);
    }
}

#[test]
fn acknowledgements_that_cannot_be_are_ignored() {
    let mut t = Trace::new(newreno(4));
    t.sent(0);
    t.ack(10, 2);
    let before = (t.windows(), t.sender.acknowledged(), t.sender.next_timeout());
    assert_eq!(t.ack(20, 1), "", "old");
    assert_eq!(t.ack(20, 100), "", "of data that has not been sent");
    assert_eq!(t.sack(20, 2, &[(50, 60)]), "", "selective, of data that has not been sent");
    assert_eq!((t.windows(), t.sender.acknowledged(), t.sender.next_timeout()), before);
    assert_eq!(t.counts(), (0, 0, 0));
}
