//! NewReno (RFC 5681; the recovery of RFC 6582 is the sender's): one segment more a round trip, half of it after a loss.

use super::{Acknowledged, Window};

/// Its state: the octets that congestion avoidance has counted.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct NewReno {
    /// Octets acknowledged towards the next segment of window. (RFC 5681, section 3.1, after equation (3))
    counted: u64,
}

impl NewReno {
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Acknowledged) {
        if !ack.grows {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.octets);
            return;
        }
        self.counted += ack.octets;
        if self.counted >= window.cwnd {
            self.counted -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    pub(super) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.counted = 0;
        window.cut(window.half(flight));
    }

    /// As after a loss. (RFC 3168, section 6.1.2: "the sender treats it as a lost packet")
    pub(super) fn on_mark(&mut self, window: &mut Window, flight: u64) {
        self.counted = 0;
        window.marked(flight.min(window.cwnd) / 2);
    }

    pub(super) fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        self.counted = 0;
        window.ssthresh = window.half(flight);
        window.lose();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{acknowledged, window};
    use super::*;
    use penstock_schemes::Instant;

    #[test]
    fn slow_start_adds_at_most_a_segment_an_acknowledgement() {
        let (mut c, mut w) = (NewReno::default(), window(10));
        w.ssthresh = 12_000;
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 2000));
        assert_eq!(w.cwnd, 11_000, "min(N, SMSS)");
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 400));
        assert_eq!(w.cwnd, 11_400);
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 1000));
        assert_eq!(w.cwnd, 12_400);
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 1000));
        assert_eq!(w.cwnd, 12_400, "congestion avoidance");
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let (mut c, mut w) = (NewReno::default(), window(10));
        // 10 acknowledgements of 1000: 11 segments. 11 of 1000 on top: 12.
        for k in 1..=21 {
            c.on_ack(&mut w, &acknowledged(Instant::ZERO, 1000));
            assert_eq!(
                w.cwnd,
                if k < 10 {
                    10_000
                } else if k < 21 {
                    11_000
                } else {
                    12_000
                },
                "{k}"
            );
        }
    }

    #[test]
    fn a_window_that_does_not_limit_does_not_grow() {
        let (mut c, mut w) = (NewReno::default(), window(10));
        for _ in 0..100 {
            c.on_ack(&mut w, &Acknowledged { grows: false, ..acknowledged(Instant::ZERO, 1000) });
        }
        assert_eq!(w, window(10));
    }

    #[test]
    fn cuts() {
        let (mut c, mut w) = (NewReno::default(), window(10));
        c.on_loss(&mut w, 9000);
        assert_eq!((w.cwnd, w.ssthresh), (4500, 4500), "half of the flight");
        c.on_loss(&mut w, 3000);
        assert_eq!((w.cwnd, w.ssthresh), (2000, 2000), "two segments at least");
        let mut w = window(10);
        c.on_mark(&mut w, 10_000);
        assert_eq!((w.cwnd, w.ssthresh), (5000, 5000));
        c.on_mark(&mut w, 3000);
        assert_eq!((w.cwnd, w.ssthresh), (2000, 2000), "the floor");
        w.cwnd = 1000;
        c.on_mark(&mut w, 1000);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 2000), "the floor does not raise it");
        (w.cwnd, w.floor) = (2000, 1000);
        c.on_mark(&mut w, 2000);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 2000), "a lower floor");
        let mut w = window(10);
        c.on_timeout(&mut w, 8000);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 4000));
    }

    #[test]
    fn a_cut_forgets_what_has_been_counted() {
        let (mut c, mut w) = (NewReno::default(), window(10));
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 9999));
        c.on_loss(&mut w, 10_000);
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 4999));
        assert_eq!(w.cwnd, 5000);
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 1));
        assert_eq!(w.cwnd, 6000);
    }
}
