//! Priority flow control over random incasts: with the computed headroom nothing is lost, without it something is.

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases, defaults, pfc};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::pfc::headroom;
use penstock_sim::{Full, Outcome, Sim, View};
use proptest::prelude::*;

/// How long the runs are.
const END: Instant = Instant(1_500_000_000);
/// Output queues hold next to nothing: for lossless priorities it does not matter.
const TINY: Octets = Octets(3000);

/// Looks at the network often.
struct Watching;

impl Look<Mixed> for Watching {
    fn interval(&self) -> Option<Duration> {
        Some(Duration(997_000))
    }
    fn sample(&mut self, _: Instant, view: &dyn View<Mixed>) {
        assert!(view.queue(QueueId(0)).paused <= END.since(Instant::ZERO));
    }
}

fn sim<'a>(network: &Network, probe: Looking<'a, Mixed>) -> Sim<Mixed, Looking<'a, Mixed>, Full> {
    Sim::new(network, &defaults("qcn", network), 1, probe)
}

/// Runs in pieces that end at `cuts`, in order.
fn run(network: &Network, cuts: &[u64]) -> Outcome {
    let mut sim = sim(network, Looking::none());
    for &cut in cuts {
        sim.run_until(Instant(cut));
    }
    sim.run_until(END);
    sim.finish().0
}

/// A source: its edge switch, rate of its line in Mb/s, its latency in ns, length of frames, traffic, and whether it is
/// controlled.
type Source = (usize, u64, u64, u16, u8, bool);

fn source() -> impl Strategy<Value = Source> {
    (0usize..3, 400u64..10_000, 0u64..20_000, 64u16..3000, 0u8..4, any::<bool>())
}

/// The parameters of the whole network.
#[derive(Debug, Clone)]
struct Tree {
    sources: Vec<Source>,
    /// Rate (Mb/s) and latency (ns) of the lines from edge switches to the core, and of the receiver's line.
    trunks: Vec<(u64, u64)>,
    receiver: (u64, u64),
    wire_overhead: u16,
    in_service_counts: bool,
    host_queues: bool,
    /// The receiver answers to each source: frames of this length, in the lossless priority or in the other.
    answers: Option<(u16, bool)>,
    response: u64,
    xoff: u64,
    /// Share of `xoff`, in percent.
    xon: u64,
    /// Pause time over the least, in quanta.
    quanta: u16,
}

fn tree() -> impl Strategy<Value = Tree> {
    let line = || (400u64..10_000, 0u64..20_000);
    let shape = (prop::collection::vec(source(), 2..9), prop::collection::vec(line(), 3), line());
    let paths = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of((64u16..3000, any::<bool>())));
    let limits = (0u64..3000, 1u64..40_000, 0u64..100, prop_oneof![0u16..20, 0u16..5000]);
    (shape, paths, limits).prop_map(|((sources, trunks, receiver), paths, (response, xoff, xon, quanta))| Tree {
        sources,
        trunks,
        receiver,
        wire_overhead: if paths.0 { 24 } else { 0 },
        in_service_counts: paths.1,
        host_queues: paths.2,
        answers: paths.3,
        response,
        xoff,
        xon,
        quanta,
    })
}

impl Tree {
    /// Hosts 0 .. n, the receiver n, edge switches n + 1 .. n + 4, the core n + 4. Priority 3 is lossless, 5 is not. In
    /// each ingress buffer `room` gives the room above XOFF, from the headroom that is needed.
    fn network(&self, room: impl Fn(u64) -> u64) -> Network {
        let n = self.sources.len();
        let core = n + 4;
        let mut b = Builder::new(n + 1, 4);
        let (mbps, ns) = (|rate: u64| BitRate(rate * 1_000_000), |time: u64| Duration(time * 1000));
        for (host, &(edge, rate, latency, ..)) in self.sources.iter().enumerate() {
            b.link(host, n + 1 + edge, mbps(rate), ns(latency), TINY);
        }
        for (edge, &(rate, latency)) in self.trunks.iter().enumerate() {
            b.link(n + 1 + edge, core, mbps(rate), ns(latency), TINY);
        }
        b.link(n, core, mbps(self.receiver.0), ns(self.receiver.1), TINY);
        b.network.priorities = vec![3, 5];
        b.network.wire_overhead = self.wire_overhead;
        b.network.in_service_counts = self.in_service_counts;
        for (host, &(edge, _, _, frame, traffic, controlled)) in self.sources.iter().enumerate() {
            let flow = b.flow(&[host, n + 1 + edge, core, n]);
            (flow.frame, flow.priority) = (frame, 3);
            let rate = BitRate(300_000_000);
            (flow.traffic, flow.excess) = match traffic {
                0 | 1 => (Traffic::Greedy, Excess::Wait),
                2 => (Traffic::Poisson(rate), Excess::Queue(Octets(20_000))),
                _ => (Traffic::OnOff { rate, on: ns(90_000), off: ns(70_000), random: true }, Excess::Discard),
            };
            if !controlled {
                flow.reaction_point = None;
            }
            if let Some((frame, same)) = self.answers {
                let flow = b.flow(&[n, core, n + 1 + edge, host]);
                (flow.frame, flow.priority) = (frame, if same { 3 } else { 5 });
            }
        }
        if self.host_queues {
            for port in b.network.ports.iter_mut().filter(|port| port.capacity == Capacity::Arbiter) {
                port.capacity = Capacity::Octets(Octets(30_000));
            }
        }
        let responses = vec![ns(self.response); b.network.ports.len()];
        let longest = b.network.largest_frame().expect("there are flows");
        let (mut quanta, mut ingress) = (1, Vec::new());
        for (index, port) in b.network.ports.iter().enumerate() {
            let reach = b.network.reaches(3, longest, &responses)[index];
            ingress.push(reach.filter(|_| b.network.nodes[port.peer.index()].kind == NodeKind::Switch).map(|reach| {
                quanta = quanta.max(reach.least_quanta().expect("lines are not so slow"));
                let buffer = Octets(self.xoff + room(headroom(&reach).0));
                Ingress { buffer, xoff: Octets(self.xoff), xon: Octets(self.xoff * self.xon / 100) }
            }));
        }
        let quanta = quanta.saturating_add(self.quanta);
        b.network.pfc = Some(pfc(vec![3], ingress, quanta, responses));
        b.network
    }
}

/// Frames of priority 3 that switches dropped.
fn lossless_drops(network: &Network, outcome: &Outcome) -> u64 {
    let drops = |(index, port): (usize, &Port)| {
        let at_switch = network.nodes[port.node.index()].kind == NodeKind::Switch;
        let queue = &outcome.queues[network.queue(PortId(index as u32), 3).index()];
        if at_switch { queue.frames_dropped } else { 0 }
    };
    network.ports.iter().enumerate().map(drops).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96), ..ProptestConfig::default() })]

    /// In any network no frame is lost, frames are conserved (`finish` checks it), and neither cuts nor observers
    /// change a bit of the result.
    #[test]
    fn with_headroom_no_frame_is_lost(tree in tree(), cuts in prop::collection::vec(0u64..END.0, 0..4)) {
        let network = tree.network(|needed| needed);
        let whole = run(&network, &[]);
        prop_assert_eq!(lossless_drops(&network, &whole), 0);
        prop_assert_eq!(&whole.deadlocks, &[], "no way leads back");
        let mut cuts = cuts;
        cuts.sort_unstable();
        prop_assert_eq!(&whole, &run(&network, &cuts));
        let mut watching = Watching;
        let mut watched = sim(&network, Looking::with(&mut watching));
        watched.run_until(END);
        let mut watched = watched.finish().0;
        watched.totals.events = whole.totals.events;
        prop_assert_eq!(&whole, &watched);
    }

    /// Four or more greedy sources over lines of 20 us or more: after XOFF some 40 us of frames come in over each line, of
    /// which the port lets out a quarter or less. With an eighth of the headroom, losses are certain, and they are counted.
    #[test]
    fn with_little_headroom_frames_are_lost(tree in tree(), n in 4usize..8, latency in 20_000u64..40_000) {
        let mut tree = tree;
        (tree.answers, tree.host_queues, tree.xoff) = (None, false, tree.xoff.max(3000));
        (tree.receiver.0, tree.trunks) = (5_000, vec![(10_000, latency); 3]);
        tree.sources = (0..n).map(|_| (0, 10_000, latency, 1500, 0, false)).collect();
        let network = tree.network(|needed| needed / 8);
        let outcome = run(&network, &[]);
        prop_assert!(lossless_drops(&network, &outcome) > 0);
        prop_assert_eq!(lossless_drops(&network, &outcome), outcome.totals.frames_dropped);
        let network = tree.network(|needed| needed);
        prop_assert_eq!(lossless_drops(&network, &run(&network, &[])), 0);
    }
}

/// Flow control as it should not be: any thresholds at any ports, pause times that run out, in a network that breaks.
fn careless(network: Network) -> impl Strategy<Value = Network> {
    let ports = network.ports.len();
    let ingress = prop::option::weighted(0.8, (1u64..30_000, 0u64..100, 0u64..20_000));
    let parts = (prop::collection::vec(ingress, ports), prop::sample::subsequence(vec![0u8, 2, 7], 1..=3));
    (parts, 1u16..300, 0u64..3_000_000).prop_map(move |((ingress, priorities), quanta, response)| {
        let mut network = network.clone();
        let responses = vec![Duration(response); network.ports.len()];
        let entry = |(port, limits): (&Port, Option<(u64, u64, u64)>)| {
            let (xoff, percent, room) = limits.filter(|_| network.nodes[port.peer.index()].kind == NodeKind::Switch)?;
            Some(Ingress { buffer: Octets(xoff + room), xoff: Octets(xoff), xon: Octets(xoff * percent / 100) })
        };
        let ingress = network.ports.iter().zip(ingress).map(entry).collect();
        network.pfc = Some(pfc(priorities, ingress, quanta, responses));
        network
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    /// Data frames, signals and pause frames are conserved (`finish` checks it) under any changes of lines, and a run
    /// can be cut anywhere.
    #[test]
    fn flow_control_conserves_frames(network in random_network().prop_flat_map(careless), cut in 0u64..END.0) {
        let whole = run(&network, &[]);
        prop_assert_eq!(&whole, &run(&network, &[cut]));
        prop_assert_eq!(&whole.deadlocks, &[], "a chain has no cycle");
        let stopping = whole.queues.iter().map(|queue| queue.pause_frames).sum::<u64>();
        prop_assert!(stopping <= whole.totals.pause_frames * 3, "a pause frame stops three priorities at the most");
        for queue in &whole.queues {
            prop_assert!(queue.paused <= END.since(Instant::ZERO));
            prop_assert!(queue.pause_frames > 0 || queue.paused == Duration::ZERO);
        }
    }

    /// Multicast: each frame joins several queues of one switch, and each copy counts.
    #[test]
    fn copies_need_headroom_too(
        sources in 1usize..4,
        receivers in prop::collection::vec(100u64..10_000, 2..5),
        (frame, latency, xoff) in (64u16..3000, 0u64..10_000_000, 1u64..20_000),
    ) {
        let n = sources + receivers.len();
        let mut b = Builder::new(n, 1);
        for host in 0..n {
            let rate = if host < sources { 10_000 } else { receivers[host - sources] };
            b.link(host, n, BitRate(rate * 1_000_000), Duration(latency), TINY);
        }
        for source in 0..sources {
            let root = b.network.hops.len() as u32;
            let flow = b.flow(&[source, n, sources]);
            (flow.frame, flow.priority) = (frame, 3);
            b.network.hops[root as usize].children = receivers.len() as u16;
            for receiver in sources + 1..n {
                let (port, back) = (b.port(n, receiver), b.port(receiver, n));
                b.network.hops.push(Hop { port, back, parent: Some(HopId(root)), first_child: HopId(0), children: 0 });
            }
        }
        b.network.priorities = vec![3];
        let responses = vec![Duration(500_000); b.network.ports.len()];
        let reach = |port: usize| b.network.reaches(3, frame, &responses)[port];
        let ingress = b.network.ports.iter().enumerate().map(|(index, port)| {
            let reach = reach(index).filter(|_| port.node.index() < sources)?;
            Some(Ingress { buffer: Octets(xoff + headroom(&reach).0), xoff: Octets(xoff), xon: Octets(xoff / 2) })
        });
        b.network.pfc = Some(pfc(vec![3], ingress.collect(), u16::MAX, responses.clone()));
        let outcome = run(&b.network, &[]);
        prop_assert_eq!(lossless_drops(&b.network, &outcome), 0);
        prop_assert!(outcome.totals.copies_made > 0);
    }
}

/// The headroom is tight: with one frame less of it a frame is lost in the worst case. The counter goes from one octet below
/// XOFF (13 500) to 15 000, at 10 Gb/s both ways with 20 us of latency. A frame of full length has just started in the
/// reverse direction, if the traffic there begins at the right time, and hardly anything departs.
#[test]
fn headroom_is_not_more_than_needed() {
    let mut b = Builder::new(3, 1);
    let (fast, latency) = (BitRate::from_gbps(10), Duration::from_us(20));
    b.link(0, 3, fast, latency, TINY);
    b.link(1, 3, BitRate(10_000_000), latency, TINY);
    b.link(2, 3, fast, latency, TINY);
    b.network.priorities = vec![3, 5];
    b.flow(&[0, 3, 1]).priority = 3;
    b.flow(&[2, 3, 0]).priority = 5;
    for flow in &mut b.network.flows {
        flow.reaction_point = None;
    }
    let port = b.port(0, 3);
    let responses = vec![Duration(3_000_000); b.network.ports.len()];
    let needed = headroom(&b.network.reaches(3, 1500, &responses)[port.index()].expect("a flow passes"));
    let mut lost = |room: u64, start: u64| {
        let ingress = Ingress { buffer: Octets(13_501 + room), xoff: Octets(13_501), xon: Octets(0) };
        let ingress = b.network.ports.iter().map(|p| (p.node == NodeId(0)).then_some(ingress)).collect();
        b.network.pfc = Some(pfc(vec![3], ingress, u16::MAX, responses.clone()));
        b.network.flows[1].start = Instant(start);
        lossless_drops(&b.network, &run(&b.network, &[]))
    };
    let starts = || (0..1_200_000).step_by(50_000);
    assert!(starts().all(|start| lost(needed.0, start) == 0));
    assert!(starts().any(|start| lost(needed.0 - 1500, start) > 0));
}
