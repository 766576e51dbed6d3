//! Acknowledgements, windows, verdicts, tags and signals to the previous hop, against numbers computed by hand, with a scheme
//! that has no other purpose.

use crate::common::trial::{Config, PLAIN, Trial};
use crate::common::{Look, Looking, star};
use penstock_schemes::*;
use penstock_sim::network::*;
use penstock_sim::{Full, Outcome, Sim, View};

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const ROOMY: Octets = Octets(10_000_000);

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// Keeps the variables of the reaction points of `flows` flows, and of the congestion points of `queues`, at the end.
struct Last {
    flows: u32,
    queues: Vec<QueueId>,
    rps: Vec<[i64; 5]>,
    cps: Vec<[i64; 2]>,
}

impl Look<Trial> for Last {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_ms(10_000))
    }

    fn sample(&mut self, _: Instant, view: &dyn View<Trial>) {
        (self.rps, self.cps) = (vec![[0; 5]; self.flows as usize], vec![[0; 2]; self.queues.len()]);
        for flow in 0..self.flows {
            view.rp(FlowId(flow)).expect("flows are controlled").vars(&mut self.rps[flow as usize]);
        }
        for (queue, row) in self.queues.iter().zip(&mut self.cps) {
            view.cp(*queue).expect("queues have congestion points").vars(row);
        }
    }
}

fn run(b: &Builder, config: Config, until: Instant, queues: &[QueueId]) -> (Outcome, Last) {
    let mut last =
        Last { flows: b.network.flows.len() as u32, queues: queues.to_vec(), rps: Vec::new(), cps: Vec::new() };
    let configs = vec![config; b.network.priorities.len()];
    let mut sim = Sim::<Trial, _, Full>::new(&b.network, &configs, 1, Looking::with(&mut last));
    sim.run_until(until);
    (sim.finish().0, last)
}

/// A frame of 1500 octets takes 12 us a link, its acknowledgement of 64 octets 0.512 us, and each link 1 us more: the
/// acknowledgement is there 29.024 us after the release.
#[test]
fn a_window_is_released_by_acknowledgements() {
    let b = star(1, GBPS, US, ROOMY);
    for (frames, sent) in [(1, 35), (2, 70)] {
        let (outcome, last) = run(&b, Config { window: Some(frames * 1500), ..PLAIN }, us(1000), &[]);
        // At 0, 29.024 … 986.816 us; with two frames also at 12, 41.024 … 998.816 us.
        assert_eq!(outcome.flows[0].frames_sent, sent, "a window of {frames} frames");
        let [acked, lost, silent, rtt, _] = last.rps[0];
        assert_eq!((lost, silent, rtt), (0, 0, 29_024_000));
        assert_eq!(acked, 1500 * outcome.totals.acks_delivered as i64);
        assert_eq!(outcome.totals.acks_sent, outcome.totals.frames_delivered);
    }
    // An echo of 61 octets lengthens the acknowledgement to 125 octets: 1 us a link.
    let (_, last) = run(&b, Config { window: Some(1500), echo: 61, ..PLAIN }, us(1000), &[]);
    assert_eq!(last.rps[0][3], 30_000_000);
}

/// A window that is smaller than a frame lets one frame go at a time.
#[test]
fn one_frame_is_always_let_go() {
    let b = star(1, GBPS, US, ROOMY);
    let (outcome, _) = run(&b, Config { window: Some(0), ..PLAIN }, us(1000), &[]);
    assert_eq!(outcome.flows[0].frames_sent, 35);
}

/// The window has room for a frame of 1500 octets and the last one of 100, and not for two whole ones. The last frame leaves at
/// 12 us, waits for the first at the switch until 25 us and is there at 26.8 us.
#[test]
fn a_short_last_frame_needs_room_for_itself_alone() {
    for queue in [None, Some(Octets(1_000_000))] {
        let mut b = star(1, GBPS, US, ROOMY);
        b.network.flows[0].size = Some(Octets(1600));
        if let Some(size) = queue {
            (b.network.flows[0].traffic, b.network.flows[0].excess) =
                (Traffic::Constant(BitRate(100 * GBPS.0)), Excess::Queue(size));
        }
        let (outcome, last) = run(&b, Config { window: Some(1600), ..PLAIN }, us(1000), &[]);
        assert_eq!(outcome.flows[0].completed, Some(Instant(26_800_000)), "{queue:?}");
        assert_eq!((last.rps[0][0], last.rps[0][4]), (1600, 1500), "the last frame has 1500 octets before it");
    }
}

/// Two sources fill a queue of ten frames. Acknowledgements report lost frames, but for those at the end of a flow, of
/// which a silence tells.
#[test]
fn acknowledgements_tell_of_losses() {
    for trims in [false, true] {
        let mut b = star(2, GBPS, US, Octets(15_000));
        b.network.trimmed = if trims { vec![0] } else { Vec::new() };
        for flow in &mut b.network.flows {
            flow.size = Some(Octets(150_000));
        }
        let (outcome, last) = run(&b, PLAIN, us(500_000), &[]);
        assert!(outcome.totals.frames_dropped > 50, "{outcome:?}");
        for (flow, [acked, lost, silent, ..]) in outcome.flows.iter().zip(&last.rps) {
            assert_eq!(*acked as u64, 1500 * flow.frames_delivered, "{trims}");
            assert_eq!((lost + silent) as u64, 1500 * flow.frames_dropped, "{trims}");
            assert_eq!(acked + lost + silent, 150_000);
            if trims {
                assert_eq!(*silent, 0, "the header of every frame arrives");
            }
        }
        let headers = if trims { outcome.totals.frames_dropped } else { 0 };
        assert_eq!(outcome.totals.headers_sent, headers);
        assert_eq!(outcome.totals.headers_delivered, headers);
    }
}

/// The first frame is lost on its link; with a window of one frame nothing can go until the silence is noticed, 100 ms later.
#[test]
fn a_silence_ends_a_stall() {
    let mut b = star(1, GBPS, US, ROOMY);
    let port = b.port(0, 2);
    for (at, event) in [(5, PortEvent::Down), (6, PortEvent::Up)] {
        b.network.changes.push(Change { at: us(at), port, event });
    }
    let (outcome, last) = run(&b, Config { window: Some(1500), ..PLAIN }, us(100_000), &[]);
    assert_eq!((outcome.flows[0].frames_sent, last.rps[0][2]), (1, 0));
    // From then on as before.
    let (outcome, last) = run(&b, Config { window: Some(1500), ..PLAIN }, us(101_000), &[]);
    assert_eq!((outcome.flows[0].frames_sent, last.rps[0][2]), (1 + 35, 1500));
}

/// The queue takes a frame only while it holds two at the most, although there is room for ten.
#[test]
fn a_verdict_drops_what_would_fit() {
    let mut b = star(2, GBPS, US, Octets(15_000));
    for flow in &mut b.network.flows {
        flow.size = Some(Octets(15_000));
    }
    let out = b.port(3, 2);
    let queue = b.network.queue(out, 0);
    let (outcome, _) = run(&b, Config { limit: 3000, ..PLAIN }, us(10_000), &[]);
    // A frame that finds 3000 octets is taken in.
    assert_eq!(outcome.queues[queue.index()].max_octets, 4500);
    assert!(outcome.queues[queue.index()].frames_dropped > 0);
}

/// Flow 1 is moved to the queue of priority 5, which is served first. Both flows have priority 0, and keep it: the receiver's
/// switch moves them again.
#[test]
fn a_verdict_moves_frames_to_another_queue() {
    let mut b = star(2, GBPS, US, ROOMY);
    b.network.priorities = vec![0, 5];
    let out = b.port(3, 2);
    let queues = [b.network.queue(out, 0), b.network.queue(out, 5)];
    let (outcome, last) = run(&b, Config { odd_flows_to: Some(5), ..PLAIN }, us(10_000), &[queues[0]]);
    let arrived = queues.map(|q| outcome.queues[q.index()].frames_arrived);
    assert_eq!(arrived[0], outcome.flows[0].frames_sent - 1, "the last one is on its way");
    assert_eq!(arrived[1], outcome.flows[1].frames_sent - 1);
    // The moved flow has the line to itself but for the frame that was in transmission as its first one came.
    assert!(outcome.flows[1].frames_delivered > 20 * outcome.flows[0].frames_delivered, "{:?}", outcome.flows);
    assert!(last.cps[0][1] >= 1500, "the congestion point sees the other queue");
}

/// h0 - s2 - s3 - h1: of each frame the second switch tells the first, and the first tells the source.
#[test]
fn a_signal_goes_to_the_previous_hop() {
    for feedback in [Feedback::InBand, Feedback::Ideal(Duration(1_512_000))] {
        let mut b = Builder::new(2, 2);
        b.link(0, 2, GBPS, US, ROOMY);
        b.link(2, 3, GBPS, US, ROOMY);
        b.link(3, 1, GBPS, US, ROOMY);
        b.flow(&[0, 2, 3, 1]).size = Some(Octets(15_000));
        b.network.feedback = feedback;
        let queues = [b.network.queue(b.port(2, 3), 0), b.network.queue(b.port(3, 1), 0)];
        // The second switch has the first frame at 26 us, the first switch its signal at 27.512 us. Until then the source has had two,
        // of the frames that were at the first switch at 13 and 25 us.
        for (until, heard, at_source) in
            [(Instant(27_512_000), 0, 2), (Instant(27_512_001), 1, 2), (us(10_000), 10, 10)]
        {
            let (outcome, last) = run(&b, Config { tells_previous_hop: true, ..PLAIN }, until, &queues);
            assert_eq!(last.cps.iter().map(|row| row[0]).collect::<Vec<_>>(), [heard, 0], "{feedback:?} {until:?}");
            assert_eq!(outcome.totals.signals_to_previous_hops as i64, heard + at_source);
            assert_eq!(outcome.totals.signals_discarded, 0);
        }
    }
}

/// 100 octets of tag make frames of 1600 octets: 12.8 us a link.
#[test]
fn tags_cost_what_they_cost() {
    let mut b = star(1, GBPS, US, ROOMY);
    b.network.flows[0].size = Some(Octets(1500));
    let (outcome, last) = run(&b, Config { tag: 100, ..PLAIN }, us(1000), &[]);
    assert_eq!(outcome.flows[0].completed, Some(Instant(27_600_000)));
    assert_eq!(last.rps[0][0], 1600);
}
