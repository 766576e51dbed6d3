//! Alizadeh et al. 2010, section 3.3: N sources of scheme `dctcp` in step at a queue that marks above K segments.
//!
//! The queue reaches K + N. At a cut each source's window is W* + 1, where W* = (C RTT + K) / N, and loses D = (W* + 1) alpha / 2; alpha
//! solves alpha² (1 - alpha / 4) = (2 W* + 1) / (W* + 1)² (equation 6; the square root of 2 / W* is its value for a small alpha).
//! So the amplitude is A = N D, the least queue K + N - A, and a sawtooth lasts D round trips.
//!
//! Frames are whole. What a source has in flight is its window rounded down, so a cut takes `floor(D)` or `ceil(D)` frames off it, and the frame
//! that asks for the last acknowledgement may be in the queue as well: A lies between N D and N ceil(D) + 1. For windows of many segments
//! that is the law itself. For 40 sources at 100 us, whose windows are of 3 to 5 segments, D is 1.4 to 1.8 and the sawtooth of
//! 2 N segments is up to half as high again; the paper's figure 12 has the same sources less in step than the law supposes.

use penstock_schemes::{BitRate, Duration, Octets, Value};

use crate::common::star;
use crate::{configured, ms, run};

/// Octets of a segment, and its time on the line of 10 Gb/s.
const SEGMENT: u64 = 1500;
const SEGMENT_US: f64 = 1.2;

/// D for windows of `w` at the threshold, by bisection of equation 6.
fn cut(w: f64) -> f64 {
    let right = (2.0 * w + 1.0) / (w + 1.0).powi(2);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let alpha = (low + high) / 2.0;
        if alpha * alpha * (1.0 - alpha / 4.0) < right { low = alpha } else { high = alpha }
    }
    (w + 1.0) * low / 2.0
}

#[test]
fn dctcp_keeps_the_law_of_its_sawtooth() {
    // Two frames of 1.2 us and two acknowledgements of 51 ns are sent, and four links crossed, in 100 us.
    let (latency, round_trip_us) = (Duration(24_374_000), 100.0);
    let (warmup, end) = (40, 100);
    for n in [2, 5, 10, 40] {
        for k in [20, 40, 65, 100] {
            let mut b = star(n, BitRate::from_gbps(10), latency, Octets(3_000_000));
            for (i, flow) in b.network.flows.iter_mut().enumerate() {
                flow.start.0 = 13_000_000 * i as u64;
            }
            let queue = b.network.queue(b.port(n + 1, n), 0).index();
            let config = configured("dctcp", &[("k", Value::Octets(Octets(k * SEGMENT)))]);
            let outcome = run(&b.network, &config, ms(warmup), ms(end));
            let q = outcome.queues[queue];
            let segments = |octets: u64| octets as f64 / SEGMENT as f64;
            let (most, least) = (segments(q.max_octets), segments(q.min_octets));
            let (sources, threshold) = (n as f64, k as f64);
            let d = cut((round_trip_us / SEGMENT_US + threshold) / sources);
            let shown = format!("N = {n}, K = {k}: {least} to {most} segments, D = {d:.2}");
            assert!((threshold + sources..=threshold + sources + 1.0).contains(&most), "{shown}");
            // An empty queue ends the fall.
            let bounds = [sources * d, sources * d.ceil() + 1.0].map(|a| a.min(threshold + sources + 1.0));
            assert!((0.9 * bounds[0]..=1.1 * bounds[1]).contains(&(most - least)), "{shown}, A in {bounds:?}");
            assert_eq!(outcome.totals.frames_dropped, 0);
        }
    }
}
