//! Long flows against the theory of them: NewReno's square-root law, CUBIC's curve, DCTCP's sawtooth.

use super::*;
use crate::transport::channel::{Channel, Line};
use crate::transport::sequence::Numbering;
use crate::transport::{Receiver, Sender};

const MS: u64 = 1_000_000_000;

/// A flow without end, whose segments of 1000 octets are acknowledged one by one.
fn channel(config: Config, line: Line) -> Channel<TcpSender, TcpReceiver> {
    let config = Config { mss: Octets(1000), ack_every: 1, receive_window: Octets(1 << 30), ..config };
    let (sender, receiver) = (TcpSender::new(&config, 0), TcpReceiver::new(&config, 0));
    let mut channel = Channel::new(sender, receiver, line, Numbering::tcp(0), 1);
    channel.sender.supply(Octets(1 << 40));
    channel
}

fn with(congestion: Congestion) -> Config {
    Config { congestion, ..Config::default() }
}

fn cwnd(channel: &Channel<TcpSender, TcpReceiver>) -> f64 {
    channel.sender.statistics().cwnd.0 as f64 / 1000.0
}

/// Of every 1/p segments one is lost: the window goes from W / 2 to W, and in the W / 2 round trips of this cycle 3/8 W^2
/// = 1/p segments go. So the mean window is 3/4 W = sqrt(3 / (2 p)) segments. (Mathis et al. 1997) A recovery takes a round
/// trip in which the window does not grow, and which the law does not know: the smaller the window, the further below it.
#[test]
fn newreno_obeys_the_square_root_law() {
    let round_trip = 100 * MS;
    let flavours = [(100, true, false), (1000, true, false), (10_000, true, false)];
    for (each, sack, rack) in
        flavours.into_iter().chain([(100, false, false), (1000, false, false), (1000, true, true)])
    {
        let line = Line { delay: Duration(round_trip / 2), loses: Some((each, each)), ..Line::default() };
        let mut c = channel(Config { sack, rack, ..with(Congestion::NewReno) }, line);
        // A cycle takes about 0.8 sqrt(1/p) round trips.
        let cycle = each.isqrt() * round_trip;
        c.run_until(Duration(3 * cycle));
        let (delivered, from) = (c.receiver.delivered().0, c.now);
        c.run_until(Duration(23 * cycle));
        let round_trips = (c.now - from) as f64 / round_trip as f64;
        let window = (c.receiver.delivered().0 - delivered) as f64 / 1000.0 / round_trips;
        let law = (1.5 * each as f64).sqrt();
        assert!((window / law - 1.0).abs() < 0.15, "1/p = {each}, SACK {sack}, RACK {rack}: {window}, not {law}");
        assert_eq!(c.sender.statistics().timeouts, 0);
    }
}

/// One loss, then none. At each round trip the window lies between W(t) and W(t + RTT), its target: it follows the curve through
/// its flat part, where it stays within 0.1 % for a second, and beyond it.
#[test]
fn cubic_follows_its_curve() {
    let line = Line { delay: Duration::from_ms(50), loses: Some((300, u64::MAX)), ..Line::default() };
    let mut c = channel(with(Congestion::Cubic), line);
    // Samples between the acknowledgements, which come at multiples of 100 ms.
    let mut sample = |ms: u64| {
        c.run_until(Duration(ms * MS));
        (c.sender.statistics().recoveries, cwnd(&c))
    };
    let mut ms = 50;
    let (mut w_max, mut least) = (0.0, f64::INFINITY);
    let start = loop {
        match sample(ms) {
            (0, window) => w_max = window,
            (_, window) if window > least => break ms - 50,
            (_, window) => least = window,
        }
        ms += 100;
    };
    // Slow start goes on for the round trip in which the loss is found, so W_max is the window at the cut: least / 0.7.
    let peak = least / 0.7;
    assert!(peak >= w_max, "{peak} after {w_max}");
    let k = ((peak - least) / 0.4).cbrt();
    let curve = |t: f64| peak + 0.4 * (t - k).powi(3);
    assert!((5.0..7.0).contains(&k), "{k} s");
    for i in 1..=90 {
        let t = f64::from(i) / 10.0;
        let (recoveries, window) = sample(start + 50 + 100 * u64::from(i as u32));
        assert_eq!(recoveries, 1);
        assert!(curve(t) - 0.002 <= window && window <= curve(t + 0.1) + 0.002, "{window} at {t} s: {}", curve(t));
        assert!((t - k).abs() > 0.5 || (window / peak - 1.0).abs() < 0.001, "{window} at {t} s, K = {k} s");
    }
}

/// A queue that marks from K octets on, at 10 Gb/s with 100 us of round trip (125 segments).
///
/// The window rises to W = 125 + K, the queue to K and one segment. A cut takes alpha / 2 of the window, where alpha = sqrt(2 /
/// W). (Alizadeh et al. 2010, section 3.3, for one flow) The line is never idle.
#[test]
fn dctcp_oscillates_by_the_square_root_of_the_window() {
    for k in [20_000, 65_000, 200_000] {
        let line = Line { delay: Duration::from_us(50), octet: 800, queue: Some((k, 1_000_000)), ..Line::default() };
        let mut c = channel(with(Congestion::Dctcp), line);
        c.run_until(Duration::from_ms(50));
        c.longest_queue = 0;
        let delivered = c.receiver.delivered().0;
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for step in 1..=10_000 {
            c.run_until(Duration::from_ms(50) + Duration::from_us(5 * step));
            (low, high) = (low.min(cwnd(&c)), high.max(cwnd(&c)));
        }
        let window = 125.0 + k as f64 / 1000.0;
        let cut = (2.0 / window).sqrt() / 2.0 * window;
        assert!(((high - low) / cut - 1.0).abs() < 0.15, "K = {k}: {low} to {high}, and a cut of {cut}");
        assert_eq!(c.longest_queue, k + 1000);
        let carried = (c.receiver.delivered().0 - delivered) as f64 * 8.0 / 0.05;
        assert!((carried / 10e9 - 1.0).abs() < 0.001, "{carried} bit/s");
        assert_eq!(c.sender.statistics().retransmissions, 0);
    }
}
