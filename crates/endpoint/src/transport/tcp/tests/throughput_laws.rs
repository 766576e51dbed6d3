//! Long flows against the theory of them: NewReno's square-root law, CUBIC's curve, DCTCP's sawtooth, BBR's pipe.

use crate::transport::sequence::Numbering;
use crate::transport::tcp::*;
use crate::transport::tests::lossy_channel::{Channel, Line};
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
    Config { congestion, offload: false, ..Config::default() }
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

/// 10 Gb/s and 100 us of round trip, 125 segments; a queue that drops nothing.
fn pipe() -> Line {
    Line { delay: Duration::from_us(50), octet: 800, queue: Some((u64::MAX, u64::MAX)), ..Line::default() }
}

/// What is carried between `from` and `to`, bit/s.
fn carried(c: &mut Channel<TcpSender, TcpReceiver>, from: Duration, to: Duration) -> f64 {
    c.run_until(from);
    let (delivered, begin) = (c.receiver.delivered().0, c.now);
    c.longest_queue = 0;
    c.run_until(to);
    (c.receiver.delivered().0 - delivered) as f64 * 8.0 / ((c.now - begin) as f64 / 1e12)
}

/// BBR probes with 5/4 of its rate until 5/4 of a round trip and five segments are in flight, and drains that again: the queue has 37 to 38 segments at most.
/// The window is two round trips and three segments, five while it probes. A round trip is that of an empty line, with a segment's 0.8 us.
#[test]
fn bbr_fills_the_pipe_and_builds_no_more_than_its_probe() {
    let mut c = channel(with(Congestion::Bbr), pipe());
    let rate = carried(&mut c, Duration::from_ms(20), Duration::from_ms(120));
    assert!((0.98..=1.0).contains(&(rate / 10e9)), "{rate} bit/s");
    let round_trip = 125.0 * 1.008;
    let probe = 1.25 * round_trip + 5.0 - 125.0;
    assert!((c.longest_queue as f64 / 1000.0 - probe).abs() < 2.0, "{} octets, not {probe} segments", c.longest_queue);
    let window = 2.0 * round_trip;
    assert!((window + 2.9..window + 6.2).contains(&cwnd(&c)), "{} of {window} segments", cwnd(&c));
    assert_eq!(c.sender.statistics().retransmissions, 0);
}

/// The rate doubles from round to round: 2/ln 2 is just enough for that. Three rounds without growth fill the window's 2.89 round trips, all but one of them in
/// the queue; then it is drained.
#[test]
fn bbr_starts_up_and_drains_what_it_has_built() {
    let mut c = channel(with(Congestion::Bbr), pipe());
    c.run_until(Duration::from_us(1500));
    let queue = c.longest_queue as f64 / 125_000.0;
    assert!((1.5..=1.95).contains(&queue), "{queue} of what the line holds");
    let rate = carried(&mut c, Duration::from_us(2000), Duration::from_us(4000));
    assert!(rate > 9.7e9 && c.longest_queue < 40_000, "{rate} bit/s, {} octets", c.longest_queue);
}

/// One segment of 50 is lost. NewReno's law gives sqrt(1.5 * 50) = 8.7 of 125 segments; BBR's rate knows nothing of losses.
#[test]
fn bbr_keeps_its_rate_under_losses() {
    for rack in [false, true] {
        let mut c = channel(Config { rack, ..with(Congestion::Bbr) }, Line { loses: Some((50, 50)), ..pipe() });
        let rate = carried(&mut c, Duration::from_ms(50), Duration::from_ms(250));
        assert!(rate > 0.9 * 10e9, "RACK {rack}: {rate} bit/s, {:?}", c.sender.statistics());
        assert_eq!(c.sender.statistics().timeouts, 0);
    }
}

/// After 5 ms the path takes 50 us longer, as a queue might cause too. The old round trip is believed for 20 ms more. Then four segments
/// are in flight for 2 ms and a round, and the window follows the new one: two round trips of 151.2 us, and three segments.
#[test]
fn bbr_looks_for_the_round_trip_again() {
    let config =
        Config { min_rtt_window: Duration::from_ms(20), probe_rtt: Duration::from_ms(2), ..with(Congestion::Bbr) };
    let mut c = channel(config, pipe());
    c.run_until(Duration::from_ms(5));
    assert!(cwnd(&c) < 260.0);
    c.line_mut().delay = Duration::from_us(75);
    let mut probes = Vec::new();
    for us in (5000..40_000).step_by(50) {
        c.run_until(Duration::from_us(us));
        if cwnd(&c) <= 4.0 {
            probes.push(us);
        }
    }
    let (&first, &last) = (probes.first().expect("it looks"), probes.last().expect("it looks"));
    assert!((25_000..25_200).contains(&first), "{first} us");
    assert!((2000..2500).contains(&(last - first)) && probes.len() as u64 == (last - first) / 50 + 1, "{probes:?}");
    assert!((cwnd(&c) - 2.0 * 125.0 * 1.512).abs() < 6.2, "{}", cwnd(&c));
}

/// A card that takes a millisecond's worth at once gets 65 segments here, and the window has three such bursts more. They leave back to back: 52 us of line, then
/// nothing until the rate has made up for them.
#[test]
fn bbr_hands_a_card_with_offload_bursts() {
    let mut c = channel(Config { offload: true, ..with(Congestion::Bbr) }, pipe());
    let rate = carried(&mut c, Duration::from_ms(20), Duration::from_ms(120));
    assert!((0.98..=1.0).contains(&(rate / 10e9)), "{rate} bit/s");
    let window = 2.0 * 125.0 * 1.008 + 3.0 * 65.0;
    assert!(cwnd(&c) >= window, "{} of {window} segments at least", cwnd(&c));
    let last: Vec<u64> = c.sent.iter().rev().take(1000).map(|sent| sent.0).collect();
    let bursts = last.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((14..=20).contains(&bursts), "1000 segments went in {bursts} bursts");
}
