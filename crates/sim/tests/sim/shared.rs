//! Flows that share a reaction point, each with its own regulator; and a stopped queue as schemes see it.

use crate::common::{Look, Looking, lossless};
use penstock_schemes::none::{Config, NoControl, Silent};
use penstock_schemes::{
    Allowance, BitRate, CongestionPoint, Draw, Duration, Fate, FlowKey, Frame, Info, Instant, Never, Octets, Out,
    Place, Queue, ReactionPoint, Release, Scheme, SchemeConfig,
};
use penstock_sim::network::*;
use penstock_sim::{Full, Outcome, Sim, View};

const GBPS: BitRate = BitRate(1_000_000_000);
const ROOMY: Octets = Octets(10_000_000);

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// A scheme whose reaction point keeps a regulator for each of its flows: flow n goes every 50 × (n + 1) us, and flow 1 not
/// before the point's timer has run at 200 us. Its congestion point counts the frames that arrive while the queue is stopped.
#[derive(Debug, Clone, Copy)]
struct Regulated;

impl Scheme for Regulated {
    const INFO: Info =
        Info { name: "regulated", title: "A regulator for each flow", source: "tests", ..<NoControl as Scheme>::INFO };
    type Config = Config;
    type Tag = ();
    type Echo = Never;
    type Signal = Never;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;
}

#[derive(Debug, Clone)]
struct Cp {
    at_stopped_queue: i64,
}

impl CongestionPoint<Regulated> for Cp {
    fn new(_: &Config, _: Place) -> Self {
        Self { at_stopped_queue: 0 }
    }

    fn configure(&mut self, _: &Config, _: Place) {}

    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, ()>,
        _: Fate,
        queue: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Regulated>,
    ) {
        self.at_stopped_queue += i64::from(queue.paused);
    }

    fn vars(&self, row: &mut [i64]) {
        row[0] = self.at_stopped_queue;
    }
}

#[derive(Debug, Clone)]
struct Rp {
    line: BitRate,
    next: [Instant; 3],
    timer: Option<Instant>,
}

impl ReactionPoint<Regulated> for Rp {
    fn new(_: &Config, line: BitRate) -> Self {
        Self { line, next: [Instant::ZERO, Instant(u64::MAX), Instant::ZERO], timer: Some(us(200)) }
    }

    fn configure(&mut self, _: &Config, _: BitRate) {}

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Regulated>) {
        match signal {}
    }

    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<Regulated>) {
        let FlowKey(flow) = frame.flow;
        assert!(self.next[flow as usize] <= now, "flow {flow} at {now:?}");
        self.next[flow as usize] = now + Duration::from_us(50 * (u64::from(flow) + 1));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timer
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Regulated>) {
        if self.timer.is_some_and(|at| at <= now) {
            (self.timer, self.next[1]) = (None, now);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    fn admits(&self, _: Instant, flow: FlowKey) -> Instant {
        self.next[flow.0 as usize]
    }

    fn limiting(&self) -> bool {
        true
    }
}

fn run(network: &Network, until: Instant, mut last: Last) -> (Outcome, Last) {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<Regulated, _, Full>::new(network, &[config], 1, Looking::with(&mut last));
    sim.run_until(until);
    (sim.finish().0, last)
}

/// Keeps the last value of the congestion point's variable at a queue.
struct Last(QueueId, i64);

impl Look<Regulated> for Last {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_us(10))
    }
    fn sample(&mut self, _: Instant, view: &dyn View<Regulated>) {
        let mut row = [0];
        if let Some(point) = view.cp(self.0) {
            point.vars(&mut row);
        }
        self.1 = row[0];
    }
}

/// Source 0, receiver 1, switch 2; three greedy flows behind one reaction point.
fn three_flows() -> Builder {
    let mut b = Builder::new(2, 1);
    b.link(0, 2, GBPS, Duration::from_us(1), ROOMY);
    b.link(1, 2, GBPS, Duration::from_us(1), ROOMY);
    for _ in 0..3 {
        b.flow(&[0, 2, 1]).reaction_point = Some(RpId(0));
    }
    b.network.reaction_points.truncate(1);
    b
}

/// Frames last 12 us. Flow 0 could go at 0, 50, 100 … us and flow 2 at 0, 150, 300 …; where they meet, flow 0 goes first if
/// it is its turn, and the other 12 us later. Flow 1 joins at 200 us, every 100 us, although the rate allowed to all of them
/// never changes.
#[test]
fn each_flow_goes_when_its_own_regulator_lets_it() {
    let b = three_flows();
    let outcome = run(&b.network, us(200), Last(QueueId(0), 0)).0;
    // Flow 0: 0, 50, 100, 150 us; flow 2: 12 us, 162 us.
    assert_eq!(outcome.flows.iter().map(|f| f.frames_sent).collect::<Vec<_>>(), [4, 0, 2]);
    let outcome = run(&b.network, us(12_000), Last(QueueId(0), 0)).0;
    let sent: Vec<_> = outcome.flows.iter().map(|f| f.frames_sent).collect();
    // Each at its own pace, less the time of waiting for one another: at most 24 us a frame.
    assert!((12_000 / 74..=12_000 / 50).contains(&sent[0]), "{sent:?}");
    assert!((11_800 / 124..=11_800 / 100).contains(&sent[1]), "{sent:?}");
    assert!((12_000 / 174..=12_000 / 150 + 1).contains(&sent[2]), "{sent:?}");
}

/// The output is stopped from the other side: a host queue with a congestion point. Its line goes to a switch whose ingress
/// buffer is full after one frame, so that nearly every frame that comes to the queue finds it stopped.
#[test]
fn schemes_see_that_a_queue_is_stopped() {
    let mut b = three_flows();
    let port = b.port(0, 2);
    b.network.ports[port.index()].capacity = Capacity::Octets(ROOMY);
    b.network.ports[port.index()].congestion_points = true;
    let slow = b.port(2, 1);
    b.network.ports[slow.index()].rate = BitRate(1_000_000);
    let queue = b.network.queue(port, 0);
    let (outcome, probe) = run(&b.network, us(1000), Last(queue, 0));
    assert_eq!((probe.1, outcome.queues[queue.index()].paused), (0, Duration::ZERO), "nothing stops it");
    lossless(&mut b.network, vec![0], Ingress { buffer: Octets(6000), xoff: Octets(1500), xon: Octets(0) });
    // The first frame arrives at 13 us: XOFF; in force at 13 + 0.512 + 1 us. Flow 2's frame of 12 us is on the line by then.
    // One frame leaves the switch every 12 ms: no more is to be seen of the rest than that it waits.
    let (outcome, probe) = run(&b.network, us(1000), Last(queue, 0));
    assert_eq!(outcome.queues[queue.index()].paused, Duration(1_000_000_000 - 14_512_000));
    let sent = outcome.flows.iter().map(|f| f.frames_sent as i64).sum::<i64>();
    assert_eq!(probe.1, sent - 2);
}
