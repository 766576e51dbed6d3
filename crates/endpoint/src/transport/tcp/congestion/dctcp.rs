//! DCTCP (RFC 8257): the window is cut by half of the share of octets that were marked.
//!
//! Alpha has 30 fraction bits. Losses and timeouts are NewReno's (section 3.5); so is the growth (section 3.4).

use super::newreno::NewReno;
use super::{Acknowledged, Window};

/// Fraction bits of alpha.
const FRACTION: u32 = 30;

/// Its state, in the names of section 3.3.
#[derive(Debug, Clone)]
pub(in super::super) struct Dctcp {
    /// `DCTCP.Alpha`, 2^-30.
    alpha: u64,
    g_inverse: u64,
    /// `DCTCP.WindowEnd`.
    window_end: u64,
    /// `DCTCP.BytesAcked`, `DCTCP.BytesMarked`.
    bytes_acked: u64,
    bytes_marked: u64,
    reno: NewReno,
}

impl Dctcp {
    /// Alpha begins with 1, so that the first mark halves the window. (Linux, `dctcp_alpha_on_init`)
    pub(super) fn new(g_inverse: u32) -> Self {
        Self {
            alpha: 1 << FRACTION,
            g_inverse: g_inverse.into(),
            window_end: 0,
            bytes_acked: 0,
            bytes_marked: 0,
            reno: NewReno::default(),
        }
    }

    /// Section 3.3, steps 1 to 8.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Acknowledged) {
        self.bytes_acked += ack.octets;
        if ack.marked {
            self.bytes_marked += ack.octets;
        }
        if ack.una > self.window_end && self.bytes_acked > 0 {
            let marked = (u128::from(self.bytes_marked) << FRACTION) / u128::from(self.bytes_acked);
            self.alpha = self.alpha - self.alpha / self.g_inverse + marked as u64 / self.g_inverse;
            self.window_end = ack.nxt;
            self.bytes_acked = 0;
            self.bytes_marked = 0;
        }
        self.reno.on_ack(window, ack);
    }

    /// Section 3.3, step 9: `cwnd (1 - alpha / 2)`.
    pub(super) fn on_mark(&mut self, window: &mut Window) {
        let cut = (u128::from(window.cwnd) * u128::from(self.alpha)) >> (FRACTION + 1);
        self.reno = NewReno::default();
        window.marked(window.cwnd - cut as u64);
    }

    pub(super) fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.reno.on_loss(window, flight);
    }

    pub(super) fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        self.reno.on_timeout(window, flight);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{acknowledged, window};
    use super::*;
    use penstock_schemes::Instant;

    fn ack(octets: u64, marked: bool, una: u64, nxt: u64) -> Acknowledged {
        Acknowledged { marked, una, nxt, grows: false, ..acknowledged(Instant::ZERO, octets) }
    }

    fn alpha(c: &Dctcp) -> f64 {
        c.alpha as f64 / f64::from(1u32 << FRACTION)
    }

    /// g = 1/16, alpha from 1, two windows of ten segments: the first without marks, of the second four segments in ten.
    ///
    /// alpha = 15/16 = 0.9375; then 0.9375 * 15/16 + 0.4/16 = 0.878 906 25 + 0.025 = 0.903 906 25.
    #[test]
    fn alpha_follows_the_share_of_marked_octets() {
        let (mut c, mut w) = (Dctcp::new(16), window(10));
        c.on_ack(&mut w, &ack(1000, false, 1000, 10_000));
        assert_eq!(alpha(&c), 0.9375, "the first acknowledgement ends the window that began with nothing sent");
        for i in 2..=11 {
            // Segments 2 to 10 are of the window that ends with 10 000; the acknowledgement of 11 000 ends it.
            let marked = [3, 5, 7, 9].contains(&i);
            c.on_ack(&mut w, &ack(1000, marked, i * 1000, 10_000 + i * 1000));
            assert_eq!(c.window_end, if i < 11 { 10_000 } else { 21_000 });
        }
        assert!((alpha(&c) - 0.903_906_25).abs() < 1e-8, "{}", alpha(&c));
        assert_eq!(w, window(10), "without growth");
    }

    /// The share counts octets, not acknowledgements: one marked acknowledgement of 3000 and two others of 500.
    #[test]
    fn the_share_is_of_octets() {
        let (mut c, mut w) = (Dctcp { window_end: 3900, ..Dctcp::new(1) }, window(10));
        c.on_ack(&mut w, &ack(3000, true, 3000, 8000));
        c.on_ack(&mut w, &ack(500, false, 3500, 8000));
        assert_eq!(alpha(&c), 1.0, "the window goes on");
        c.on_ack(&mut w, &ack(500, false, 4000, 8000));
        assert!((alpha(&c) - 0.75).abs() < 1e-8, "{}", alpha(&c));
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha() {
        let (mut c, mut w) = (Dctcp::new(16), window(100));
        c.on_mark(&mut w);
        assert_eq!(w.cwnd, 50_000, "alpha = 1: as NewReno");
        c.alpha = (1 << FRACTION) / 5;
        c.on_mark(&mut w);
        // 50 000 * (1 - 0.1), and an octet at most for the rounding of alpha.
        assert!((45_000..=45_001).contains(&w.cwnd), "{}", w.cwnd);
        assert_eq!(w.ssthresh, w.cwnd, "congestion avoidance follows");
        c.alpha = 0;
        let before = w;
        c.on_mark(&mut w);
        assert_eq!(w, before);
        c.alpha = 1 << FRACTION;
        (0..10).for_each(|_| c.on_mark(&mut w));
        assert_eq!(w.cwnd, 2000, "the floor");
    }

    #[test]
    fn a_mark_forgets_what_has_been_counted() {
        let (mut c, mut w) = (Dctcp::new(16), window(10));
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 9999));
        c.on_mark(&mut w);
        c.on_ack(&mut w, &acknowledged(Instant::ZERO, 4999));
        assert_eq!(w.cwnd, 5000);
    }

    #[test]
    fn losses_are_those_of_newreno() {
        let (mut c, mut w) = (Dctcp::new(16), window(10));
        c.alpha = 0;
        c.on_loss(&mut w, 10_000);
        assert_eq!((w.cwnd, w.ssthresh), (5000, 5000));
        c.on_timeout(&mut w, 5000);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 2500));
        assert_eq!(c.alpha, 0, "alpha is of marks alone");
    }
}
