//! Credit-based flow control and link-level retry: throughput by hand, no loss, deadlocks by name, go-back-N by its formula.

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases, star};
use crate::deadlocks::ring;
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::probe::{Content, FrameSeen, Load};
use penstock_sim::{Full, Outcome, Sim};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(10_000_000_000);
const FAR: Duration = Duration(5_000_000);
/// No credits are compared in tests that count picoseconds.
const SELDOM: Duration = Duration(1_000_000_000_000);

fn credits(network: &mut Network, port: PortId, cells: u32, spacing: u64, sync: Duration) {
    let priorities = network.priorities.clone();
    network.credits.push(CreditLine { port, priorities, cell: 256, cells, spacing: Octets(spacing), sync });
}

fn retry(network: &mut Network, port: PortId, buffer: u64, most_replays: u32) {
    let timer = Duration::from_us(100);
    let line = RetryLine { port, priorities: None, buffer: Octets(buffer), timer, spacing: Octets(2048), most_replays };
    network.retries.push(line);
}

fn errors(network: &mut Network, port: PortId, errors: Errors, control: bool) {
    let (from, until) = (Instant::ZERO, Instant::NEVER);
    network.impairments.push(Impairment { port, from, until, errors, control, seed: 7 + u64::from(port.0) });
}

fn run(network: &Network, end: Duration) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<NoControl, _, Full>::new(network, &vec![config; network.priorities.len()], 1, Looking::none());
    sim.run_until(Instant::ZERO + end);
    sim.finish().0
}

/// When a flow of `frames` frames of 1500 octets from one host to the next has ended.
fn ends(b: &mut Builder, frames: u64) -> Instant {
    b.network.flows[0].size = Some(Octets(1500 * frames));
    let outcome = run(&b.network, Duration::from_ms(50));
    assert_eq!(outcome.totals.frames_dropped, 0);
    outcome.flows[0].completed.expect("all frames arrive")
}

fn pair() -> Builder {
    let mut b = Builder::new(2, 0);
    b.link(0, 1, GBPS, FAR, Octets(0));
    b.flow(&[0, 1]);
    b
}

/// A frame of 1500 octets takes 1.2 us, and six cells of 256; an update of 8 octets 6.4 ns. From the start of a frame to the return of its
/// credits pass T = 1.2 + 5 + 0.0064 + 5 = 11.2064 us. With credits for W frames, W of them start in each T, or all the time where
/// W × 1.2 us is longer than T: from ten frames on.
#[test]
fn throughput_is_credits_over_the_round_trip() {
    const FRAME: u64 = 1_200_000;
    let round_trip = FRAME + 5_000_000 + 6_400 + 5_000_000;
    for window in 1..=12 {
        for rest in [0, 5] {
            let mut b = pair();
            let port = b.port(0, 1);
            credits(&mut b.network, port, (6 * window + rest) as u32, 0, SELDOM);
            let (turns, frames) = (20, 20 * window);
            let last = (turns - 1) * round_trip.max(window * FRAME) + (window - 1) * FRAME;
            assert_eq!(ends(&mut b, frames), Instant(last + FRAME + FAR.0), "{window} frames and {rest} cells");
        }
    }
}

/// In a switch a frame is held until it has left: 1.2 us more, and the queue of the switch is never longer than one frame.
#[test]
fn a_switch_returns_credits_as_frames_leave() {
    let mut b = star(1, GBPS, FAR, Octets(2000));
    let port = b.port(0, 2);
    credits(&mut b.network, port, 6, 0, SELDOM);
    let round_trip = 2 * 1_200_000 + 2 * 5_000_000 + 6_400;
    assert_eq!(ends(&mut b, 10), Instant(9 * round_trip + 2 * (1_200_000 + 5_000_000)));
    let outcome = run(&b.network, Duration::from_ms(50));
    // From the end of each frame until the credits of the last one have come, the host's own last one among them.
    assert_eq!(outcome.totals.credit_wait_ps, 10 * (round_trip - 1_200_000));
    assert_eq!(
        (outcome.queues[b.network.queue(b.port(2, 1), 0).index()].max_octets, outcome.totals.pause_frames),
        (1500, 0)
    );
}

/// Updates at least 6000 octets of the line back apart: 4.8 us. The second frame of two has its credits returned with the next update.
#[test]
fn updates_keep_their_distance() {
    let mut b = pair();
    let port = b.port(0, 1);
    credits(&mut b.network, port, 12, 6000, SELDOM);
    // Arrivals at 6.2 and 7.4 us; updates start at 6.2 and 11.0 us and come at 11.2064 and 16.0064 us.
    assert_eq!(ends(&mut b, 4), Instant(16_006_400 + 1_200_000 + FAR.0));
}

/// Of three frames with credits for one each, the line loses the second: its credits come back with the next comparison, at 100 us. The
/// `CC_Update` takes 64 octets (51.2 ns) there, the update 6.4 ns back.
#[test]
fn credits_of_lost_frames_are_found() {
    let mut b = pair();
    let port = b.port(0, 1);
    credits(&mut b.network, port, 6, 0, Duration::from_us(100));
    errors(&mut b.network, port, Errors::Loss(1.0), false);
    (b.network.impairments[0].from, b.network.impairments[0].until) = (Instant(5_000_000), Instant(12_000_000));
    b.network.flows[0].size = Some(Octets(4500));
    let outcome = run(&b.network, Duration::from_us(200));
    assert_eq!((outcome.flows[0].frames_delivered, outcome.totals.frames_impaired), (2, 1));
    // The second frame started at 11.2064 us; its queue waits from its end to the update at 110.0576 us; the first and the last wait 10.0064.
    let update = 100_000_000 + 51_200 + 5_000_000 + 6_400 + 5_000_000;
    assert_eq!(outcome.totals.credit_wait_ps, 2 * 10_006_400 + update - (11_206_400 + 1_200_000));
}

/// The line back loses every update before 20 us: the comparison brings another.
#[test]
fn lost_updates_are_made_good() {
    let mut b = pair();
    let (port, back) = (b.port(0, 1), b.port(1, 0));
    credits(&mut b.network, port, 6, 0, Duration::from_us(100));
    errors(&mut b.network, back, Errors::Loss(1.0), true);
    b.network.impairments[0].until = Instant(20_000_000);
    let update = 100_000_000 + 51_200 + 5_000_000 + 6_400 + 5_000_000;
    assert_eq!(ends(&mut b, 2), Instant(update + 1_200_000 + FAR.0));
}

#[test]
fn a_ring_of_credits_stands_still_by_name() {
    let mut b = ring(3, 2, Octets(100_000));
    for port in 0..b.network.ports.len() as u32 {
        credits(&mut b.network, PortId(port), 30, 0, Duration::from_us(256));
    }
    let outcome = run(&b.network, Duration::from_ms(20));
    let [deadlock] = &outcome.deadlocks[..] else { panic!("{:?}", outcome.deadlocks) };
    let ring: Vec<QueueId> = (0..3).map(|s| b.network.queue(b.port(3 + s, 3 + (s + 1) % 3), 0)).collect();
    assert_eq!((&deadlock.cycle, deadlock.ended, outcome.totals.frames_dropped), (&ring, None, 0));
    let delivered = |until| run(&b.network, until).totals.frames_delivered;
    assert_eq!(delivered(Duration::from_ms(10)), delivered(Duration::from_ms(20)));
    // A ring without a cycle of buffers has none.
    b = crate::deadlocks::ring(4, 1, Octets(100_000));
    for port in 0..b.network.ports.len() as u32 {
        credits(&mut b.network, PortId(port), 30, 0, Duration::from_us(256));
    }
    assert_eq!(run(&b.network, Duration::from_ms(20)).deadlocks, []);
}

/// The share of a line's time in which frames of 1500 octets arrive that have not come before, of a line of 20 ms.
fn goodput(ber: f64) -> (f64, Outcome) {
    let mut b = pair();
    let port = b.port(0, 1);
    retry(&mut b.network, port, 40_000, 100_000);
    errors(&mut b.network, port, Errors::BitErrors(ber), false);
    let outcome = run(&b.network, Duration::from_ms(400));
    (outcome.totals.frames_delivered as f64 * 1.2e-6 / 0.4, outcome)
}

/// A corrupted frame starts at 0, ends at 1.2 us, comes at 6.2 and its NACK at 11.2064 us, after ten frames in all: W = 10. Goodput is
/// (1 - p) / (1 - p + p W), where p is the probability that one of 12 000 bits is wrong. Of n frame times each takes one of
/// some 333 000; the standard deviation of goodput is W √(p (1 - p) / n) at the most, and five of them are allowed.
#[test]
fn goodput_of_retry_is_that_of_go_back_n() {
    const W: f64 = 10.0;
    for ber in [0.0_f64, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4] {
        let p = 1.0 - (1.0 - ber).powi(12_000);
        let expected = (1.0 - p) / (1.0 - p + p * W);
        let (goodput, outcome) = goodput(ber);
        let allowed = 5.0 * W * (p * (1.0 - p) / (400e-3 / 1.2e-6)).sqrt() + 1e-4;
        assert!((goodput - expected).abs() < allowed, "{ber}: {goodput}, not {expected} ± {allowed}");
        let totals = &outcome.totals;
        assert_eq!((totals.frames_impaired, totals.frames_dropped), (0, 0), "{ber}");
        assert_eq!(totals.replays > 0, ber > 0.0);
        // Each replay begins after the ten frames of a window, and may be cut short by the next.
        assert!(totals.frames_replayed <= totals.replays * 10, "{totals:?}");
    }
}

/// The last frame of a flow is lost, and its NACK: the timer of 100 us sends it again.
#[test]
fn the_timer_finds_a_lost_tail() {
    let mut b = pair();
    let (port, back) = (b.port(0, 1), b.port(1, 0));
    retry(&mut b.network, port, 40_000, 10);
    errors(&mut b.network, port, Errors::Loss(1.0), true);
    errors(&mut b.network, back, Errors::Loss(1.0), true);
    b.network.impairments.iter_mut().for_each(|own| own.until = Instant(10_000_000));
    // It starts at 0, and so does the time without progress.
    assert_eq!(ends(&mut b, 1), Instant(100_000_000 + 1_200_000 + FAR.0));
}

/// A line that loses all gives a frame up after two replays without success: the third NACK comes before 40 us.
#[test]
fn a_frame_is_given_up_after_the_last_replay() {
    let mut b = pair();
    let port = b.port(0, 1);
    retry(&mut b.network, port, 40_000, 2);
    errors(&mut b.network, port, Errors::Loss(1.0), false);
    b.network.flows[0].size = Some(Octets(4500));
    b.network.impairments[0].until = Instant(30_000_000);
    let outcome = run(&b.network, Duration::from_ms(1));
    // It goes at 0, 11.2064 and 22.4128 us, and its last NACK comes at 33.6192 us, when the others go for the third time.
    assert_eq!((outcome.totals.frames_impaired, outcome.flows[0].frames_delivered), (1, 2));
    assert_eq!(outcome.totals.replays, 3);
}

/// Credits and retry on all lines, which have bit errors: `more` credits than the longest frame needs.
pub(crate) fn lossy(network: &mut Network, more: u32, ber: f64) {
    let largest = u32::from(network.largest_frame().unwrap_or(0).max(256));
    for port in (0..network.ports.len() as u32).map(PortId) {
        credits(network, port, largest.div_ceil(256) + more, 300, Duration::from_us(50));
        if ber > 0.0 {
            retry(network, port, 20_000, 1000);
            errors(network, port, Errors::BitErrors(ber), true);
        }
    }
}

/// The offsets of the frames that come over a line.
struct Offsets(PortId, Vec<u64>);

impl Look<NoControl> for Offsets {
    fn captured_ports(&self) -> &[PortId] {
        std::slice::from_ref(&self.0)
    }

    fn frame(&mut self, seen: &FrameSeen<'_, NoControl>) {
        if let Content::Frame { load: Load::Data { seq, .. }, .. } = seen.content {
            self.1.push(seq.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1000)))]

    /// Credits lose nothing whatever the traffic, with room for one frame or more, and neither do they with retry on lines that do.
    #[test]
    fn no_frame_is_lost(mut network in random_network(), more in 0_u32..40, ber in prop_oneof![Just(0.0), 1e-6..1e-4]) {
        network.pools.clear();
        network.pfc = None;
        network.changes.clear();
        // A host's own queue has room for all that it makes.
        network.ports.iter_mut().filter(|port| port.capacity == Capacity::Frames(8)).for_each(|port| port.capacity = Capacity::Octets(LARGEST_QUEUE));
        lossy(&mut network, more, ber);
        let outcome = run(&network, Duration::from_ms(2));
        prop_assert_eq!((outcome.totals.frames_impaired, outcome.totals.frames_lost_on_link), (0, 0));
        let at_switches = outcome.totals.frames_dropped;
        prop_assert_eq!(at_switches, 0, "{:?}", outcome.totals);
    }

    /// A line with retry brings each frame once and in order, whatever it and the line back lose.
    #[test]
    fn frames_come_once_and_in_order(
        (there, back) in (1e-7..1e-4, 0.0..0.3),
        (buffer, spacing, timer) in (1500_u64..60_000, 0_u64..20_000, 1_u64..200),
        latency in 0_u64..20_000_000,
        credited in any::<bool>(),
    ) {
        let mut b = Builder::new(2, 0);
        b.link(0, 1, GBPS, Duration(latency), Octets(0));
        b.flow(&[0, 1]).size = Some(Octets(1500 * 100));
        b.network.until_complete = true;
        let (port, reverse) = (b.port(0, 1), b.port(1, 0));
        retry(&mut b.network, port, buffer, 1_000_000);
        let line = &mut b.network.retries[0];
        (line.spacing, line.timer) = (Octets(spacing), Duration::from_us(timer));
        errors(&mut b.network, port, Errors::BitErrors(there), true);
        errors(&mut b.network, reverse, Errors::Loss(back), true);
        if credited {
            credits(&mut b.network, port, 60, spacing, Duration::from_us(30));
        }
        let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
        let mut offsets = Offsets(port, Vec::new());
        let mut sim = Sim::<_, _, Full>::new(&b.network, &[config], 1, Looking::with(&mut offsets));
        sim.run_until(Instant::ZERO + Duration::from_ms(400));
        let outcome = sim.finish().0;
        let Offsets(_, seen) = offsets;
        prop_assert_eq!(seen, (0..100).map(|frame| 1500 * frame).collect::<Vec<_>>());
        prop_assert!(outcome.flows[0].completed.is_some());
    }
}
