//! Golden traces of [`TcpSender`], computed by hand: slow start, congestion avoidance, recovery with and without selective
//! acknowledgements, timeouts.
//!
//! A segment has 1000 octets and is named by its number: `"3 c4 r2"` are new segments 3 and 4, the latter with CWR, and
//! segment 2 again; `"p"` is a probe of a closed window. Windows are in segments. Times are milliseconds.

use crate::transport::tcp::*;
use crate::transport::{Ack, SackBlocks, Sender};
use penstock_schemes::Instant;

const MS: u64 = 1_000_000_000;

/// A sender with as much data as it wants.
pub(super) struct Trace {
    pub(super) sender: TcpSender,
    pub(super) window: u32,
    /// New segments may be marked.
    marks: bool,
}

impl Trace {
    pub(super) fn new(config: Config) -> Self {
        let mut trace = Self::idle(config);
        trace.sender.supply(Octets(1_000_000_000));
        trace
    }

    /// A sender without data.
    pub(super) fn idle(config: Config) -> Self {
        let sender = TcpSender::new(&config, 0);
        Self { sender, window: config.receive_window.0 as u32, marks: config.marks() }
    }

    /// Everything that may go at `ms`.
    pub(super) fn sent(&mut self, ms: u64) -> String {
        let mut sent = Vec::new();
        while let Some(s) = self.sender.poll_segment(Instant(ms * MS)) {
            assert!(sent.len() < 1000, "it does not end: {s:?}");
            if s.len == 0 {
                sent.push("p".into());
                continue;
            }
            assert_eq!(s.ect, self.marks && !s.retransmission, "{s:?}");
            let flag = if s.retransmission { "r" } else { "" };
            sent.push(format!("{}{flag}{}", if s.cwr { "c" } else { "" }, s.seq / 1000));
        }
        sent.join(" ")
    }

    /// Everything before segment `to` has arrived, and the ranges `sack`; the ECN-Echo is `ece`. Returns the segments
    /// that go then.
    pub(super) fn acknowledge(&mut self, ms: u64, to: u32, sack: &[(u32, u32)], ece: bool) -> String {
        let mut blocks = SackBlocks::NONE;
        sack.iter().for_each(|&(a, b)| blocks.push(a * 1000, b * 1000));
        let ack = Ack { ack: to * 1000, window: self.window, sack: blocks, ece, nak: false, cut: None };
        self.sender.on_ack(Instant(ms * MS), &ack);
        self.sent(ms)
    }

    pub(super) fn ack(&mut self, ms: u64, to: u32) -> String {
        self.acknowledge(ms, to, &[], false)
    }

    pub(super) fn sack(&mut self, ms: u64, to: u32, sack: &[(u32, u32)]) -> String {
        self.acknowledge(ms, to, sack, false)
    }

    /// The time of the next timeout comes. Returns its time, in ms, and the segments that go then.
    pub(super) fn timeout(&mut self) -> (u64, String) {
        let at = self.sender.next_timeout().expect("a timer runs");
        self.sender.on_timeout(at);
        (at.0 / MS, self.sent(at.0 / MS))
    }

    /// cwnd and ssthresh in segments.
    pub(super) fn windows(&self) -> (f64, f64) {
        let t = self.sender.statistics();
        (t.cwnd.0 as f64 / 1000.0, if t.ssthresh.0 == u64::MAX { f64::INFINITY } else { t.ssthresh.0 as f64 / 1000.0 })
    }

    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let t = self.sender.statistics();
        (t.retransmissions, t.recoveries, t.timeouts)
    }
}

/// NewReno with an initial window of `window` segments.
pub(super) fn newreno(window: u32) -> Config {
    Config { mss: Octets(1000), congestion: Congestion::NewReno, initial_window: window, ..Config::default() }
}

fn without_sack(window: u32) -> Config {
    Config { sack: false, ..newreno(window) }
}

/// IW = 2. Each acknowledgement of a segment opens the window by one, and moves it by one: two segments.
#[test]
fn slow_start() {
    let mut t = Trace::new(newreno(2));
    assert_eq!(t.sent(0), "0 1");
    assert_eq!(t.ack(100, 1), "2 3");
    assert_eq!(t.ack(100, 2), "4 5");
    assert_eq!(t.windows(), (4.0, f64::INFINITY));
    for (to, sent) in [(3, "6 7"), (4, "8 9"), (5, "10 11"), (6, "12 13")] {
        assert_eq!(t.ack(200, to), sent);
    }
    // An acknowledgement of two segments opens by one (RFC 5681, equation (2)), and moves by two.
    assert_eq!(t.ack(300, 8), "14 15 16");
    assert_eq!(t.windows().0, 9.0);
}

/// One window of 10 segments is cut to 5 and acknowledged whole, then the next of 5: 6 segments; then 6: 7 segments.
#[test]
fn congestion_avoidance() {
    let mut t = Trace::new(newreno(10));
    t.sent(0);
    // Segment 0 is lost; three blocks and it goes again. ssthresh = 10 / 2 = 5: limited transmit's two do not count.
    assert_eq!(t.sack(100, 0, &[(1, 2)]), "10");
    assert_eq!(t.sack(100, 0, &[(1, 3)]), "11");
    assert_eq!(t.sack(100, 0, &[(1, 4)]), "r0");
    assert_eq!(t.windows(), (5.0, 5.0));
    assert_eq!(t.sack(100, 0, &[(1, 12)]), "12 13 14 15");
    assert_eq!(t.ack(200, 12), "16", "the end of recovery: 12 to 16 are five");
    for (to, cwnd) in [(13, 5.0), (14, 5.0), (15, 5.0), (16, 5.0), (17, 6.0)] {
        t.ack(300, to);
        assert_eq!(t.windows().0, cwnd, "{to}");
    }
    for to in 18..=23 {
        t.ack(400, to);
        assert_eq!(t.windows().0, if to < 23 { 6.0 } else { 7.0 }, "{to}");
    }
}

/// Ten segments, then four more for acknowledgements 1 and 2; segment 2 is lost.
///
/// Flight 12 when the first duplicate comes, so ssthresh = 6. The n-th duplicate allows 6 + n in flight; 14 are (with the two
/// of limited transmit), so that the ninth lets 16 go. The acknowledgement of all of 15 ends it with 5 in flight: cwnd =
/// min(6, 5 + 1) = 6.
#[test]
fn fast_recovery_without_sack_and_one_loss() {
    let mut t = Trace::new(without_sack(10));
    assert_eq!(t.sent(0), "0 1 2 3 4 5 6 7 8 9");
    assert_eq!(t.ack(100, 1), "10 11");
    assert_eq!(t.ack(100, 2), "12 13");
    assert_eq!(t.ack(101, 2), "14", "limited transmit");
    assert_eq!(t.ack(102, 2), "15");
    assert_eq!(t.ack(103, 2), "r2");
    assert_eq!(t.windows(), (6.0, 6.0));
    for duplicate in 4..=8 {
        assert_eq!(t.ack(100 + duplicate, 2), "", "duplicate {duplicate}");
    }
    for (duplicate, sent) in [(9, "16"), (10, "17"), (11, "18"), (12, "19"), (13, "20")] {
        assert_eq!(t.ack(100 + duplicate, 2), sent);
    }
    assert_eq!(t.ack(203, 16), "21");
    assert_eq!(t.windows(), (6.0, 6.0));
    assert_eq!(t.counts(), (1, 1, 0));
}

/// With nothing in flight at the end of a recovery the window is two segments, so that there is no burst. (RFC 6582, section
/// 3.2, step 3, (1))
#[test]
fn the_window_after_a_recovery_is_what_is_in_flight() {
    let mut t = Trace::idle(without_sack(10));
    t.sender.supply(Octets(10_000));
    t.sent(0);
    (1..=9).for_each(|_| drop(t.ack(100, 0)));
    assert_eq!(t.windows(), (5.0, 5.0));
    t.ack(200, 10);
    assert_eq!(t.windows(), (2.0, 5.0));
    assert_eq!(t.counts(), (1, 1, 0));
}

/// As above, but segment 5 is lost too, so that there are 12 duplicates, of 3, 4, 6 to 15.
///
/// The acknowledgement of 5 is partial: it takes back 3 segments and gives 1, so that 6 + 12 - 3 + 1 = 16 are allowed and 15
/// are in flight. Four duplicates of 16 to 19 let four more go; the acknowledgement of 20 ends it.
#[test]
fn fast_recovery_without_sack_and_two_losses() {
    let mut t = Trace::new(without_sack(10));
    t.sent(0);
    t.ack(100, 1);
    t.ack(100, 2);
    let sent: Vec<_> = (1..=12).map(|duplicate| t.ack(100 + duplicate, 2)).collect();
    assert_eq!(sent, ["14", "15", "r2", "", "", "", "", "", "16", "17", "18", "19"]);
    let timeout = t.sender.next_timeout();
    assert_eq!(t.ack(203, 5), "r5 20");
    assert!(t.sender.next_timeout() > timeout, "the first partial acknowledgement restarts the timer");
    let sent: Vec<_> = (216..=219).map(|ms| t.ack(ms, 5)).collect();
    assert_eq!(sent, ["21", "22", "23", "24"]);
    assert_eq!(t.ack(303, 20), "25");
    assert_eq!(t.windows(), (6.0, 6.0));
    assert_eq!(t.counts(), (2, 1, 0));
}

/// Three losses: the second partial acknowledgement does not restart the timer ("impatient").
#[test]
fn the_second_partial_acknowledgement_lets_the_timer_run() {
    let mut t = Trace::new(without_sack(10));
    t.sent(0);
    (1..=3).for_each(|_| drop(t.ack(100, 0)));
    assert_eq!(t.ack(200, 2), "r2");
    let timeout = t.sender.next_timeout();
    assert_eq!(t.ack(300, 4), "r4");
    assert_eq!(t.sender.next_timeout(), timeout);
}

/// A timeout in a recovery takes back all that duplicates had allowed: one segment goes.
#[test]
fn a_timeout_takes_back_what_duplicates_allowed() {
    let mut t = Trace::new(without_sack(10));
    t.sent(0);
    (1..=6).for_each(|_| drop(t.ack(100, 0)));
    assert_eq!(t.timeout(), (1100, "r0".into()));
    assert_eq!(t.counts(), (2, 1, 1));
}

/// After a timeout duplicates below the recovery point begin no recovery. (RFC 6582, section 3.2, step 1)
#[test]
fn duplicates_after_a_timeout_are_no_loss() {
    let mut t = Trace::new(without_sack(4));
    assert_eq!(t.sent(0), "0 1 2 3");
    assert_eq!(t.timeout(), (1000, "r0".into()));
    for _ in 0..5 {
        assert_eq!(t.ack(1100, 0), "");
    }
    assert_eq!(t.ack(1200, 4), "4 5", "all four had arrived: cwnd = 2");
    // Nor do those at the recovery point: the receiver has seen segments twice.
    let sent: Vec<_> = (1..=4).map(|_| t.ack(1210, 4)).collect();
    assert_eq!(sent, ["6", "7", "", ""], "limited transmit");
    assert_eq!(t.counts(), (1, 0, 1));
}

/// As without selective acknowledgements, with segment 2 lost, but now those that have arrived are not in flight. After the
/// retransmission 14 - 3 = 11 are, and at 5, below the window of 6, the next goes.
#[test]
fn fast_recovery_with_sack_and_one_loss() {
    let mut t = Trace::new(newreno(10));
    assert_eq!(t.sent(0), "0 1 2 3 4 5 6 7 8 9");
    assert_eq!(t.ack(100, 1), "10 11");
    assert_eq!(t.ack(100, 2), "12 13");
    assert_eq!(t.sack(103, 2, &[(3, 4)]), "14");
    assert_eq!(t.sack(104, 2, &[(3, 5)]), "15");
    assert_eq!(t.sack(105, 2, &[(3, 6)]), "r2");
    assert_eq!(t.windows(), (6.0, 6.0));
    for last in 6..=10 {
        assert_eq!(t.sack(100 + u64::from(last), 2, &[(3, last + 1)]), "", "{last}");
    }
    for (last, sent) in [(11, "16"), (12, "17"), (13, "18"), (14, "19"), (15, "20")] {
        assert_eq!(t.sack(100 + u64::from(last), 2, &[(3, last + 1)]), sent);
    }
    assert_eq!(t.ack(205, 16), "21");
    assert_eq!(t.windows(), (6.0, 6.0));
    assert_eq!(t.counts(), (1, 1, 0));
}

/// Segments 2, 5 and 6 are lost. With 7 there are three segments above 2, but one above 5 and 6; with 9 there are three, and 14
/// - 5 selected - 2 lost = 7 are in flight. 11 leaves 5: 5 goes again, for 12 6, for 13 the first new one.
#[test]
fn fast_recovery_with_sack_and_three_losses() {
    let mut t = Trace::new(newreno(10));
    t.sent(0);
    t.ack(100, 1);
    t.ack(100, 2);
    assert_eq!(t.sack(103, 2, &[(3, 4)]), "14");
    assert_eq!(t.sack(104, 2, &[(3, 5)]), "15");
    assert_eq!(t.sack(107, 2, &[(7, 8), (3, 5)]), "r2");
    let sent: Vec<_> = (9..=16).map(|end| t.sack(100, 2, &[(7, end), (3, 5)])).collect();
    assert_eq!(sent, ["", "", "", "r5", "r6", "16", "17", "18"]);
    assert_eq!(t.sack(207, 5, &[(7, 16)]), "19");
    assert_eq!(t.sack(212, 6, &[(7, 16)]), "20");
    assert_eq!(t.ack(213, 16), "21");
    assert_eq!(t.windows(), (6.0, 6.0));
    assert_eq!(t.counts(), (3, 1, 0));
}

/// Segment 0 is lost, and 12, which goes in the recovery, as well. 12 is repaired in it. The acknowledgement of 12 ends it and
/// begins another: seven are outstanding, of which 13 to 15 have arrived; the window was 5, so it is 2.5 now.
#[test]
fn a_loss_of_the_next_window_is_a_second_loss() {
    let mut t = Trace::new(newreno(10));
    t.sent(0);
    assert_eq!(t.sack(100, 0, &[(1, 2)]), "10");
    assert_eq!(t.sack(100, 0, &[(1, 3)]), "11");
    assert_eq!(t.sack(100, 0, &[(1, 4)]), "r0");
    assert_eq!(t.sack(101, 0, &[(1, 12)]), "12 13 14 15");
    assert_eq!(t.sack(199, 0, &[(13, 16), (1, 12)]), "r12 16 17 18");
    assert_eq!(t.windows(), (5.0, 5.0));
    assert_eq!(t.sack(200, 12, &[(13, 16)]), "");
    assert_eq!(t.windows(), (2.5, 2.5));
    // 17 and 18 are in flight, and there is no room for a third; then for one.
    assert_eq!(t.ack(299, 17), "");
    assert_eq!(t.ack(299, 18), "19");
    assert_eq!(t.counts(), (2, 2, 0));
}

/// Segment 0 is timed, lost and sent again: its acknowledgement after 200 ms is no round trip. (Karn's algorithm)
#[test]
fn a_retransmission_is_not_timed() {
    for config in [newreno(4), without_sack(4)] {
        let mut t = Trace::new(config);
        t.sent(0);
        (2..=4).for_each(|end| drop(t.sack(100, 0, &[(1, end)])));
        assert_eq!(t.counts(), (1, 1, 0));
        t.ack(200, 6);
        assert_eq!(t.sender.statistics().srtt, None);
        t.ack(300, 7);
        assert_eq!(t.sender.statistics().srtt, Some(Duration::from_ms(100)));
    }
}

/// Without selective acknowledgements one that opens the window is no duplicate. (RFC 5681, section 2)
#[test]
fn a_window_update_is_no_duplicate() {
    let mut t = Trace::new(without_sack(4));
    t.sent(0);
    for _ in 0..5 {
        t.window += 1000;
        assert_eq!(t.ack(100, 0), "");
    }
    assert_eq!(t.counts(), (0, 0, 0));
}

/// CUBIC in a pause of 10 s: its time stands still, else W(t) would be 215 segments when it goes on, and the window half as large
/// again a round trip later. W_max = 10, cwnd = 7, and K = 1.957 s.
#[test]
fn a_pause_is_not_time_for_cubic() {
    let mut t = Trace::idle(Config { congestion: Congestion::Cubic, ..newreno(10) });
    t.sender.supply(Octets(19_000));
    assert_eq!(t.sent(0), "0 1 2 3 4 5 6 7 8 9");
    (2..=4).for_each(|end| drop(t.sack(100, 0, &[(1, end)])));
    assert_eq!(t.windows(), (7.0, 7.0));
    t.sack(100, 0, &[(1, 12)]);
    t.ack(200, 12);
    (13..=19).for_each(|to| drop(t.ack(300, to)));
    let (before, _) = t.windows();
    assert!((7.0..8.0).contains(&before), "{before}");
    t.sender.supply(Octets(20_000));
    t.sent(10_300);
    (20..=26).for_each(|to| drop(t.ack(10_400, to)));
    let (after, _) = t.windows();
    assert!(after < before + 1.0, "{before}, then {after}");
}

/// Segment 0 overtaken by two others is no loss, by three it is. (DupThresh)
#[test]
fn reordering_below_the_threshold_is_no_loss() {
    let mut t = Trace::new(newreno(6));
    assert_eq!(t.sent(0), "0 1 2 3 4 5");
    assert_eq!(t.sack(101, 0, &[(1, 2)]), "6");
    assert_eq!(t.sack(102, 0, &[(1, 3)]), "7");
    assert_eq!(t.ack(103, 3), "8 9", "cwnd 7: 3 to 9 are seven");
    assert_eq!(t.counts(), (0, 0, 0));
    assert_eq!(t.sack(204, 3, &[(4, 5)]), "10");
    assert_eq!(t.sack(205, 3, &[(4, 5), (6, 7)]), "11");
    assert_eq!(t.sack(206, 3, &[(4, 5), (6, 7), (8, 9)]), "r3", "three ranges");
}

/// An application that has no more data: 0 is lost, 1 to 3 arrive, 4 and 5 are lost as well.
///
/// After 0, nothing below 4 is left to be suspected. When 0 has arrived and una lies beyond it, one segment with the
/// highest octet is a rescue; 4 follows its acknowledgement.
#[test]
fn a_rescue_repairs_the_tail() {
    let mut t = Trace::idle(newreno(6));
    t.sender.supply(Octets(6000));
    t.sender.finish();
    assert_eq!(t.sent(0), "0 1 2 3 4 5");
    assert_eq!(t.sack(101, 0, &[(1, 2)]), "");
    assert_eq!(t.sack(102, 0, &[(1, 3)]), "");
    assert_eq!(t.sack(103, 0, &[(1, 4)]), "r0");
    assert_eq!(t.windows(), (3.0, 3.0));
    assert_eq!(t.ack(200, 4), "r5", "the rescue");
    assert_eq!(t.sack(300, 4, &[(5, 6)]), "r4", "by suspicion, rule (3)");
    assert_eq!(t.ack(400, 6), "");
    assert!(t.sender.is_finished());
    assert_eq!(t.counts(), (3, 1, 0));
}

/// No round trip is timed: RTO = 1 s, then 2 s, then 4 s. ssthresh = max(4 / 2, 2) = 2 stays for the same segment. Of the
/// rest one goes for each acknowledgement in slow start; the first new segment is timed, and ends the back-off.
#[test]
fn timeouts_back_off() {
    let mut t = Trace::new(newreno(4));
    assert_eq!(t.sent(0), "0 1 2 3");
    assert_eq!(t.timeout(), (1000, "r0".into()));
    assert_eq!(t.windows(), (1.0, 2.0));
    assert_eq!(t.timeout(), (3000, "r0".into()));
    assert_eq!(t.timeout(), (7000, "r0".into()));
    assert_eq!(t.windows(), (1.0, 2.0));
    assert_eq!(t.ack(7100, 1), "r1 r2", "cwnd = 2");
    assert_eq!(t.sender.next_timeout(), Some(Instant(15_100 * MS)), "RTO = 8 s: nothing has been timed");
    assert_eq!(t.ack(7200, 3), "r3 4 5", "a window of two is acknowledged in congestion avoidance: cwnd = 3");
    assert_eq!(t.ack(7300, 4), "6", "a retransmission is not timed");
    assert_eq!(t.sender.next_timeout(), Some(Instant(15_300 * MS)));
    t.ack(7300, 5);
    // Segment 4 took 100 ms: RTO = 100 + 4 * 50 = 300 ms.
    assert_eq!(t.sender.next_timeout(), Some(Instant(7600 * MS)));
    assert_eq!(t.counts(), (6, 0, 3));
}

/// A timeout in a recovery ends it, and keeps the selective acknowledgements.
#[test]
fn a_timeout_keeps_the_scoreboard() {
    let mut t = Trace::new(newreno(6));
    t.sent(0);
    t.sack(101, 0, &[(1, 2)]);
    t.sack(102, 0, &[(1, 3)]);
    assert_eq!(t.sack(103, 0, &[(1, 4)]), "r0");
    // The retransmission has restarted the timer: 103 + 1000 ms. (RFC 6675, section 6)
    assert_eq!(t.timeout(), (1103, "r0".into()));
    assert_eq!(t.windows(), (1.0, 2.0), "eight segments are outstanding, the window was 3, and two are the least");
    assert_eq!(t.ack(1200, 4), "r4 r5", "1 to 3 are not sent again");
    assert_eq!(t.sack(1300, 5, &[(6, 8)]), "8", "6 and 7 had arrived; 5 is in flight, cwnd = 2.5");
    assert_eq!(t.counts(), (4, 1, 1));
}
