//! Alizadeh et al. 2010, section 3.3: N sources of scheme `dctcp` in step at a queue that marks above K segments.
//!
//! The queue reaches K + N. At a cut each source's window is W* + 1, where W* = (C RTT + K) / N, and loses D = (W* + 1) alpha / 2. Here
//! alpha solves alpha² (1 - alpha / 4) = (2 W* + 1) / (W* + 1)² (equation 6). The square root of 2 / W* is its value for a small alpha.
//! So the amplitude is A = N D, the least queue K + N - A, and a sawtooth lasts D round trips.
//!
//! That is for a fluid whose alpha does not move and whose windows grow all the time. Frames and RFC 8257 add four things:
//!
//! - An acknowledgement with a mark lets no window grow (section 3.3), so that one round trip of a sawtooth is without growth, and its marks
//!   are a part of D + 1 and not of D.
//! - A window that grows to a fraction of a frame sends no more: half a round trip on average.
//! - A cut takes alpha before the marks that caused it are folded in, at its least. Of P round trips one is marked, so that alpha goes from a
//!   to a + g (1 - a), and back by (1 - g) in each of the other P - 1.
//! - A source has its frames in one train a round trip. So sources are cut one after the other within one round trip, the first of them before
//!   the queue falls, and once more by what it sent then.
//!
//! With the first three, [`sawtooth`] has D and P = D + 3/2, and two sources keep them within 10 %. The fourth takes up to one and a half round
//! trips, in which windows do not grow and more frames are marked: up to ten sources are between that D and the fluid's. For 40 sources, whose windows
//! are of 3 to 5 segments, D is 1.4 to 1.8, and a cut takes `ceil(D)` whole frames off what is in flight.
//!
//! ns-3 3.44 with an acknowledgement a segment is further off. It has 1.4 times the fluid's amplitude for N = 2 and K = 20 or 65, 2.1 times
//! for N = 10 and K = 40 or 100, and 1.3 times for N = 40 and K = 40. The paper's figure 12 has 40 sources less in step than the law
//! supposes.

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Value};
use penstock_sim::network::{Network, QueueId};
use penstock_sim::{Lean, Sim, View};

use super::{configured, ms};
use crate::common::{Look, Looking, star};

/// Octets of a segment, and its time on the line of 10 Gb/s.
const SEGMENT: u64 = 1500;
const SEGMENT_US: f64 = 1.2;
const ROUND_TRIP_US: f64 = 100.0;

/// D for windows of `w` at the threshold, by bisection of equation 6.
fn fluid(w: f64) -> f64 {
    let right = (2.0 * w + 1.0) / (w + 1.0).powi(2);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let alpha = (low + high) / 2.0;
        if alpha * alpha * (1.0 - alpha / 4.0) < right { low = alpha } else { high = alpha }
    }
    (w + 1.0) * low / 2.0
}

/// The same with pauses of growth and the least alpha (g = 1/16), by repetition from any P: D = P - 3/2.
fn sawtooth(w: f64) -> f64 {
    let keep = 1.0 - 1.0 / 16.0;
    let mut d: f64 = 1.0;
    for _ in 0..200 {
        let fall = f64::powf(keep, d + 0.5);
        let least = fall * (1.0 - keep) / (1.0 - fall * keep);
        d = (d + (w + 1.0) * least / 2.0) / 2.0;
    }
    d
}

/// The lengths of a queue from a time on, in segments.
struct Lengths {
    queue: QueueId,
    from: Instant,
    segments: Vec<f64>,
}

const STEP: Duration = Duration::from_us(2);

impl Look<Mixed> for Lengths {
    fn interval(&self) -> Option<Duration> {
        Some(STEP)
    }

    fn sample(&mut self, now: Instant, view: &dyn View<Mixed>) {
        if now >= self.from {
            self.segments.push(view.queue(self.queue).len.0 as f64 / SEGMENT as f64);
        }
    }
}

/// Mean maximum, mean minimum and mean distance in samples of the swings of more than `least`.
fn swings(lengths: &[f64], least: f64) -> (f64, f64, f64) {
    let (mut ends, mut rising) = ([Vec::new(), Vec::new()], true);
    let (mut extreme, mut at) = (lengths[0], 0);
    for (i, &length) in lengths.iter().enumerate() {
        let beyond = if rising { length - extreme } else { extreme - length };
        if beyond > 0.0 {
            (extreme, at) = (length, i);
        } else if beyond < -least {
            ends[usize::from(rising)].push((extreme, at));
            (extreme, at, rising) = (length, i, !rising);
        }
    }
    let mean = |of: &[(f64, usize)]| of.iter().map(|(length, _)| length).sum::<f64>() / of.len() as f64;
    let [low, high] = &ends;
    let apart = (high[high.len() - 1].1 - high[0].1) as f64 / (high.len() - 1) as f64;
    (mean(high), mean(low), apart)
}

/// N sources at K segments, 40 to 100 ms: the queue's lengths.
fn lengths(n: usize, k: u64) -> Vec<f64> {
    // Two frames of 1.2 us and two acknowledgements of 51 ns are sent, and four links crossed, in 100 us.
    let mut b = star(n, BitRate::from_gbps(10), Duration(24_374_000), Octets(3_000_000));
    for (i, flow) in b.network.flows.iter_mut().enumerate() {
        flow.start.0 = 13_000_000 * i as u64;
    }
    let mut seen = Lengths { queue: b.network.queue(b.port(n + 1, n), 0), from: ms(40), segments: Vec::new() };
    let config = configured("dctcp", &[("k", Value::Octets(Octets(k * SEGMENT)))]);
    let network: &Network = &b.network;
    let configs = vec![config; network.priorities.len()];
    let mut sim = Sim::<Mixed, _, Lean>::new(network, &configs, 1, Looking::with(&mut seen));
    sim.run_until(ms(100));
    let outcome = sim.finish().0;
    assert_eq!(outcome.totals.frames_dropped, 0);
    seen.segments
}

#[test]
fn dctcp_keeps_the_law_of_its_sawtooth() {
    let within = |[low, high]: [f64; 2], seen: f64| (0.9 * low..=1.1 * high).contains(&seen);
    for n in [2, 5, 10, 40] {
        for k in [20, 40, 65, 100] {
            let (sources, threshold) = (n as f64, k as f64);
            let w = (ROUND_TRIP_US / SEGMENT_US + threshold) / sources;
            let (d, fluid) = (sawtooth(w), fluid(w));
            let lengths = lengths(n, k);
            let (most, least, apart) = swings(&lengths, sources * fluid.min(threshold / sources) / 2.0);
            let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
            // A round trip lasts as long as its frames: with the queue's mean.
            let rounds = apart * STEP.0 as f64 / 1e6 / (ROUND_TRIP_US + mean * SEGMENT_US);
            let shown = format!(
                "N = {n}, K = {k}: {least:.1} to {most:.1} segments, {rounds:.2} round trips, D = {d:.2} or {fluid:.2}"
            );
            let loss = match n {
                2 => [d, d],
                5 | 10 => [d, fluid],
                _ => [fluid, fluid.ceil()],
            };
            // An empty queue ends the fall.
            let amplitude = loss.map(|d| (sources * d).min(threshold + sources));
            assert!(within([threshold + sources; 2], most), "{shown}");
            assert!(within(amplitude, most - least), "{shown}, A from {amplitude:.1?}");
            let growth = (most - least) / sources;
            let pause = if n == 2 { [1.5; 2] } else { [1.5, 3.0] };
            assert!(within(pause.map(|pause| growth + pause), rounds), "{shown}");
            let rest = amplitude.map(|a| threshold + sources - a);
            let off = 0.1 * (threshold + sources);
            assert!((rest[1] - off..=rest[0] + off).contains(&least), "{shown}");
        }
    }
}
