//! A network gives the same results in parts as in one piece, to the last bit.

use std::sync::Arc;

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases, defaults, trial};
use penstock_endpoint::transport::{Transport, go_back_n, tcp};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets, Scheme};
use penstock_sim::network::*;
use penstock_sim::partition::Obstacle;
use penstock_sim::probe::{FlowNow, QueueNow, SignalSeen};
use penstock_sim::{CombinedView, Full, Lean, Model, Outcome, Partition, RemoteFrames, Sim, View, longest_frame};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);

/// Keeps all that it sees: samples of every queue and flow, and signals.
#[derive(Debug, Default)]
struct Witness {
    queues: u32,
    flows: u32,
    samples: Vec<(Instant, Vec<QueueNow>, Vec<FlowNow>)>,
    signals: Vec<(Instant, Option<PortId>, FlowId, BitRate)>,
}

impl Witness {
    fn new(network: &Network) -> Self {
        let queues = (network.ports.len() * network.queues_per_port()) as u32;
        Self { queues, flows: network.flows.len() as u32, ..Self::default() }
    }
}

impl<S: Scheme> Look<S> for Witness {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_us(37))
    }

    fn sample(&mut self, now: Instant, view: &dyn View<S>) {
        let queues = (0..self.queues).map(|queue| view.queue(QueueId(queue))).collect();
        let flows = (0..self.flows).map(|flow| view.flow(FlowId(flow))).collect();
        self.samples.push((now, queues, flows));
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, S>) {
        self.signals.push((now, seen.over, seen.flow, seen.rate));
    }
}

/// The instants at which a run is measured: its warm-up, a window, its end.
#[derive(Debug, Clone, Copy)]
struct Times {
    warm: Instant,
    closes: Instant,
    end: Instant,
}

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// All that a run gives.
#[derive(Debug, PartialEq)]
struct Given {
    outcome: Outcome,
    window: Option<Outcome>,
    samples: Vec<(Instant, Vec<QueueNow>, Vec<FlowNow>)>,
    signals: Vec<(Instant, Option<PortId>, FlowId, BitRate)>,
}

fn whole<S: Scheme, M: Model>(network: &Network, configs: &[S::Config], at: Times) -> Given {
    let mut witness = Witness::new(network);
    let mut sim = Sim::<S, _, M>::new(network, configs, 1, Looking::with(&mut witness));
    sim.run_until(at.warm);
    sim.start_measuring();
    sim.open_window(7);
    sim.run_until(at.closes);
    let window = sim.close_window(7);
    sim.run_until(at.end);
    let outcome = sim.finish().0;
    let Witness { samples, signals, .. } = witness;
    Given { outcome, window, samples, signals }
}

type Parts<'a, S, M> = Vec<Sim<S, Looking<'a, S>, M>>;

fn together<S: Scheme, M: Model>(parts: &Parts<'_, S, M>, witness: &mut Witness) {
    let parts: Vec<_> = parts.iter().collect();
    let now = parts[0].now();
    Look::<S>::sample(witness, now, &CombinedView::new(&parts).expect("they are parts"));
}

/// Lets all parts come to `end`, one after the other, in windows of no more than the lookahead.
fn run_parts<S: Scheme, M: Model>(
    parts: &mut Parts<'_, S, M>,
    lookahead: Duration,
    end: Instant,
    witness: &mut Witness,
) {
    while parts[0].now() < end {
        let window = (parts[0].now() + lookahead).min(end);
        loop {
            let done: Vec<bool> = parts.iter_mut().map(|part| part.run_part(window)).collect();
            assert!(done.iter().all(|one| *one == done[0]), "all parts come to a sample at the same time");
            if done[0] {
                break;
            }
            together(parts, witness);
        }
        for from in 0..parts.len() {
            let mut mail: Vec<RemoteFrames<S>> = parts.iter().map(|_| RemoteFrames::default()).collect();
            parts[from].export(&mut mail);
            assert!(mail[from].is_empty());
            parts.iter_mut().zip(&mut mail).for_each(|(part, mail)| part.import(mail));
        }
    }
}

fn in_parts<S: Scheme, M: Model>(network: &Network, configs: &[S::Config], partition: Partition, at: Times) -> Given {
    let partition = Arc::new(partition);
    let mut own: Vec<_> = (0..partition.parts()).map(|_| Witness::new(network)).collect();
    let looks = own.iter_mut().map(|witness| Looking::with(witness));
    let part = |(own, look)| Sim::<S, _, M>::part(network, configs, 1, look, &partition, own);
    let mut parts: Parts<'_, S, M> = (0..).zip(looks).map(part).collect();
    let mut witness = Witness::new(network);
    run_parts(&mut parts, partition.lookahead(), at.warm, &mut witness);
    for part in &mut parts {
        part.start_measuring();
        part.open_window(7);
    }
    run_parts(&mut parts, partition.lookahead(), at.closes, &mut witness);
    let window = Sim::close_windows(&mut parts.iter_mut().collect::<Vec<_>>(), 7);
    run_parts(&mut parts, partition.lookahead(), at.end, &mut witness);
    parts.iter_mut().for_each(Sim::settle);
    together(&parts, &mut witness);
    let outcome = Sim::finish_parts(parts).0;
    let mut signals: Vec<_> = own.into_iter().flat_map(|probe| probe.signals).collect();
    signals.sort_by_key(|&(now, over, ..)| (now, over));
    Given { outcome, window, samples: witness.samples, signals }
}

/// Compares a network in one part and in some.
fn compare<S: Scheme, M: Model>(network: &Network, configs: &[S::Config], partition: Partition, at: Times) -> Given {
    let one = whole::<S, M>(network, configs, at);
    let some = in_parts::<S, M>(network, configs, partition, at);
    // The largest of it would be reported last.
    assert_eq!(one.outcome.totals, some.outcome.totals);
    assert_eq!(one.outcome, some.outcome);
    assert_eq!(one.window, some.window);
    assert_eq!(one.signals, some.signals);
    assert_eq!(one.samples, some.samples);
    one
}

const TIMES: Times =
    Times { warm: Instant(1_100_000_000), closes: Instant(2_345_678_901), end: Instant(3_900_000_000) };

/// Every other flow gets a transport.
fn carry(network: &mut Network) {
    let transports = [
        Transport::Tcp(tcp::Config { congestion: tcp::Congestion::Dctcp, ..tcp::Config::default() }),
        Transport::GoBackN(go_back_n::Config::default()),
    ];
    for index in (0..network.flows.len()).step_by(2) {
        let reverse_path = network.add_reverse_path(network.flows[index].root);
        let flow = &mut network.flows[index];
        let transport = transports[index / 2 % 2].clone();
        flow.frame = longest_frame(&transport).0 as u16;
        let acks = (index % 4 == 0).then_some(flow.priority);
        flow.transport = Some(Carriage { transport, acks, reverse_path });
    }
    network.ecn_threshold = Some(Octets(3000));
}

/// The settings of the scheme that has all that the contract offers.
const TRIAL: trial::Config = trial::Config { window: Some(20_000), tag: 4, echo: 8, ..trial::PLAIN };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    /// Every node anywhere: hosts away from their switches, parts that are nowhere whole or empty.
    #[test]
    fn random_networks_give_the_same_in_parts(
        mut network in random_network(),
        of_node in prop::collection::vec(0_u32..3, 12),
        kind in 0_u8..8,
        ties in prop::sample::select(vec![Ties::Number, Ties::InTurn, Ties::Drawn]),
        (xoff, quanta, response) in (1500_u64..20_000, prop::sample::select(vec![20_u16, 500, u16::MAX]), 0_u64..3_000_000),
    ) {
        network.feedback = Feedback::InBand;
        network.ties = ties;
        let of_node = of_node[..network.nodes.len()].to_vec();
        if kind == 1 || kind == 5 {
            carry(&mut network);
        }
        if kind >= 6 {
            crate::lossless_links::lossy(&mut network, u32::from(quanta) % 31, 1e-5);
        } else if kind >= 4 {
            let ingress = Ingress { buffer: Octets(xoff + 6000), xoff: Octets(xoff), xon: Octets(xoff / 2) };
            crate::common::lossless(&mut network, vec![0, 2], ingress);
            network.pfc.as_mut().expect("just set").quanta = quanta;
            crate::common::respond(&mut network, Duration(response));
        }
        match Partition::by_node(&network, 3, of_node) {
            // Others have too many windows for a short test.
            Ok(partition) if partition.lookahead() > Duration(200_000) => match kind {
                0 => drop(compare::<Mixed, Lean>(&network, &defaults("qcn", &network), partition, TIMES)),
                1 | 4 | 5 => drop(compare::<Mixed, Full>(&network, &defaults("qcn", &network), partition, TIMES)),
                2 | 6 | 7 => drop(compare::<Mixed, Full>(&network, &defaults("none", &network), partition, TIMES)),
                _ => {
                    network.priorities = vec![0, 2, 5];
                    network.flows.iter_mut().for_each(|flow| flow.priority = flow.priority.min(5));
                    let configs: Vec<_> = network.priorities.iter().map(|_| TRIAL).collect();
                    network.trimmed = network.priorities.clone();
                    drop(compare::<trial::Trial, Full>(&network, &configs, partition, TIMES));
                }
            },
            Ok(_) | Err(Obstacle::NoDelay) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

/// Two switches with three hosts each; flows cross in both directions and meet at a slow port.
fn two_switches(latency: Duration) -> Builder {
    let mut b = Builder::new(6, 2);
    for host in 0..6 {
        b.link(host, 6 + host / 3, GBPS, Duration::from_us(1), Octets(60_000));
    }
    b.link(6, 7, GBPS, latency, Octets(60_000));
    for (from, to) in [(0, 3), (1, 3), (4, 2), (5, 2)] {
        b.flow(&[from, 6 + from / 3, 6 + to / 3, to]);
    }
    b
}

#[test]
fn a_cut_goes_between_the_switches() {
    let b = two_switches(Duration::from_us(5));
    let partition = Partition::new(&b.network, 2).unwrap();
    let of: Vec<usize> = (0..8).map(|node| partition.of_node(NodeId(node))).collect();
    assert_eq!(of, [0, 0, 0, 1, 1, 1, 0, 1]);
    assert_eq!(partition.lookahead(), Duration::from_us(5));
    let work = partition.work(&b.network);
    assert!((work[0] / work[1] - 1.0).abs() < 1e-9, "{work:?}");
    let given = compare::<Mixed, Lean>(&b.network, &defaults("qcn", &b.network), partition, TIMES);
    assert!(given.outcome.totals.frames_delivered > 500 && !given.signals.is_empty());
    assert!(given.signals.iter().all(|(_, over, ..)| over.is_some()));
}

/// A line that is cut breaks with frames on it, and in the middle of one; the last of them is on the line at the end.
#[test]
fn frames_are_lost_on_a_cut_line_once() {
    let mut b = two_switches(Duration::from_us(100));
    let (there, back) = (b.port(6, 7), b.port(7, 6));
    for (at, port, event) in [
        (1500, there, PortEvent::Down),
        (1500, back, PortEvent::Down),
        (1610, there, PortEvent::Up),
        (2000, back, PortEvent::Up),
    ] {
        b.network.changes.push(Change { at: us(at), port, event });
    }
    let partition = Partition::new(&b.network, 2).unwrap();
    let given = compare::<Mixed, Lean>(&b.network, &defaults("qcn", &b.network), partition, TIMES);
    // Eight frames of 12 us are on 100 us of line, and one before it. Those that wait behind it, or come while it is cut, are flushed.
    let flushed: u64 = given.outcome.queues.iter().map(|queue| queue.frames_flushed).sum();
    assert!(flushed > 0);
    assert!((16..=20).contains(&(given.outcome.totals.frames_lost_on_link - flushed)), "{:?}", given.outcome.totals);
    assert!(given.outcome.totals.frames_in_flight > 16);
}

/// The line breaks on which pause frames go from one part to another. What they said is said again when it is whole.
#[test]
fn pauses_are_lost_on_a_cut_line_once() {
    let mut b = two_switches(Duration::from_us(100));
    // The port of host 3 has three flows, so that switch 7 stops switch 6 and host 4.
    b.flow(&[4, 7, 3]);
    let ingress = Ingress { buffer: Octets(60_000), xoff: Octets(15_000), xon: Octets(6000) };
    crate::common::lossless(&mut b.network, vec![0], ingress);
    // Stops last for 67 us, and are renewed every 34: some are on the line at any time.
    b.network.pfc.as_mut().expect("just set").quanta = 131;
    let back = b.port(7, 6);
    for (at, event) in [(1500, PortEvent::Down), (1900, PortEvent::Up), (2222, PortEvent::Down), (2223, PortEvent::Up)]
    {
        b.network.changes.push(Change { at: us(at), port: back, event });
    }
    let partition = Partition::new(&b.network, 2).unwrap();
    let given = compare::<Mixed, Full>(&b.network, &defaults("qcn", &b.network), partition, TIMES);
    let heard: u64 = given.outcome.queues.iter().map(|queue| queue.pause_frames).sum();
    let sent = given.outcome.totals.pause_frames;
    assert!(heard > 20 && sent > heard + 4, "{sent} sent, {heard} stops heard");
}

/// A flow that sends through a cut has as many octets delivered in the one part as it has sent in the other.
#[test]
fn a_finite_flow_completes_at_the_same_time() {
    let mut b = two_switches(Duration::from_us(5));
    b.network.flows[1].size = Some(Octets(30_000));
    let partition = Partition::new(&b.network, 2).unwrap();
    let given = compare::<Mixed, Lean>(&b.network, &defaults("none", &b.network), partition, TIMES);
    assert!(given.outcome.flows[1].completed.is_some());
}

#[test]
fn a_network_that_cannot_be_cut_says_why() {
    let refused = |change: &dyn Fn(&mut Network)| {
        let mut b = two_switches(Duration::from_us(5));
        change(&mut b.network);
        Partition::new(&b.network, 2).map(|_| ()).unwrap_err()
    };
    assert_eq!(refused(&|network| network.feedback = Feedback::Ideal(Duration::from_us(1))), Obstacle::Ideal);
    let until_complete = |network: &mut Network| {
        network.until_complete = true;
        network.flows[0].size = Some(Octets(30_000));
    };
    assert_eq!(refused(&until_complete), Obstacle::UntilComplete);
    let watched = |network: &mut Network| {
        let ingress = Ingress { buffer: Octets(6000), xoff: Octets(1500), xon: Octets(0) };
        crate::common::lossless(network, vec![0], ingress);
        let watchdog = Watchdog {
            after: Duration::from_ms(1),
            restoration: Duration::from_ms(1),
            poll: Duration::ZERO,
            action: Action::Drop,
        };
        network.pfc.as_mut().expect("just set").watch(Some(watchdog));
    };
    assert_eq!(refused(&watched), Obstacle::Watchdog);
    let dependency = Dependency { flow: FlowId(1), after: vec![FlowId(0)], delay: Duration::ZERO };
    assert_eq!(refused(&|network| network.dependencies.push(dependency.clone())), Obstacle::Sequels);
    // Nothing is left to cut.
    let no_delay = |network: &mut Network| network.ports.iter_mut().for_each(|port| port.latency = Duration::ZERO);
    assert_eq!(refused(&no_delay), Obstacle::Small);
    let b = two_switches(Duration::ZERO);
    assert_eq!(Partition::by_node(&b.network, 2, vec![0, 0, 0, 1, 1, 1, 0, 1]).unwrap_err(), Obstacle::NoDelay);
    assert_eq!(Partition::new(&two_switches(Duration::from_us(1)).network, 3).unwrap_err(), Obstacle::Small);
}

/// A ring of switches that stop one another, each in a separate part: the deadlock is found, and named, as in one part.
#[test]
fn a_deadlock_across_parts_is_found() {
    let b = crate::deadlocks::stopping(crate::deadlocks::ring(3, 2, Octets(100_000)), None);
    let partition = Partition::by_node(&b.network, 3, vec![0, 1, 2, 0, 1, 2]).unwrap();
    let given = compare::<Mixed, Full>(&b.network, &defaults("none", &b.network), partition, TIMES);
    let [deadlock] = &given.outcome.deadlocks[..] else { panic!("{:?}", given.outcome.deadlocks) };
    assert_eq!(deadlock.cycle.len(), 3);
    assert!(given.outcome.totals.pause_frames > 3);
}
