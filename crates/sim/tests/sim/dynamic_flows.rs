//! Flows of processes: they come and go, with the results of the same flows that are there from the beginning.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{Looking, cases, defaults, pfc};
use penstock_endpoint::transport::{Transport, go_back_n, tcp};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::outcome::FlowEnd;
use penstock_sim::{Full, Outcome, Partition, RemoteFrames, Sim};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
const END: Instant = Instant(40_000_000_000);
/// Four hosts around a switch, which is node 4.
const HOSTS: usize = 4;

fn star() -> Builder {
    let mut b = Builder::new(HOSTS, 1);
    for host in 0..HOSTS {
        b.link(host, HOSTS, GBPS, Duration::from_us(2), Octets(30_000));
    }
    b
}

/// A process of the test: its priority, its rate limiters, its flows as start, source, step to the destination, size.
#[derive(Debug, Clone)]
struct Trial {
    priority: u8,
    limiting: Limiting,
    transport: Option<Transport>,
    flows: Vec<(Instant, usize, usize, Octets)>,
}

fn ends(trial: &Trial, flow: usize) -> (usize, usize) {
    let (_, from, step, _) = trial.flows[flow];
    (from, (from + 1 + step) % HOSTS)
}

fn frame(trial: &Trial) -> u16 {
    trial.transport.as_ref().map_or(1500, |transport| penstock_sim::longest_frame(transport).0 as u16)
}

/// The network with all flows from the beginning.
fn dense(trials: &[Trial]) -> Network {
    let mut b = star();
    let _ = b.flow(&[0, HOSTS, 3]);
    b.network.priorities = vec![0, 3];
    let mut shared = Vec::new();
    for trial in trials {
        for (index, &(start, _, _, size)) in trial.flows.iter().enumerate() {
            let (from, to) = ends(trial, index);
            let flow = b.flow(&[from, HOSTS, to]);
            (flow.start, flow.size, flow.priority, flow.frame) = (start, Some(size), trial.priority, frame(trial));
            let id = b.network.flows.len() - 1;
            match trial.limiting {
                Limiting::Own(_) => {}
                Limiting::Uncontrolled => {
                    b.network.reaction_points.pop();
                    b.network.flows[id].reaction_point = None;
                }
                Limiting::Shared => {
                    let point = RpId(b.network.reaction_points.len() as u32 - 1);
                    let known = shared.iter().find(|&&(host, priority, _)| (host, priority) == (from, trial.priority));
                    if let Some(&(_, _, known)) = known {
                        b.network.reaction_points.pop();
                        b.network.flows[id].reaction_point = Some(known);
                    } else {
                        shared.push((from, trial.priority, point));
                    }
                }
            }
            if let Some(transport) = &trial.transport {
                let reverse_path = b.network.add_reverse_path(b.network.flows[id].root);
                let carriage = Carriage { transport: transport.clone(), acks: Some(trial.priority), reverse_path };
                b.network.flows[id].transport = Some(carriage);
            }
        }
    }
    b.network
}

/// The network with the flows to come, and these in the order of their starts.
fn to_come(trials: &[Trial]) -> (Network, Vec<Arrival>) {
    let mut b = star();
    let _ = b.flow(&[0, HOSTS, 3]);
    b.network.priorities = vec![0, 3];
    let ports = b.network.ports.len();
    let mut processes = Processes {
        longest_path: 2,
        most_hops: 2,
        limiters: vec![0; ports],
        sharing: vec![Sharing::default()],
        ..Processes::default()
    };
    let (mut arrivals, mut shared) = (Vec::new(), Vec::new());
    for (process, trial) in trials.iter().enumerate() {
        let mut links: BTreeMap<_, u64> = BTreeMap::new();
        for (number, &(start, _, _, size)) in trial.flows.iter().enumerate() {
            let (from, to) = ends(trial, number);
            let port = b.port(from, HOSTS);
            let mut reaction_point = None;
            if trial.limiting == Limiting::Shared {
                let known = shared.iter().position(|&place| place == (from, trial.priority));
                let place = known.unwrap_or_else(|| {
                    shared.push((from, trial.priority));
                    b.network.reaction_points.push(ReactionPointSpec { port, pacer: Pacer::Ideal });
                    processes.sharing.push(Sharing { flows: 0, priority: trial.priority });
                    shared.len() - 1
                });
                processes.sharing[1 + place].flows += 1;
                reaction_point = Some(RpId(1 + place as u32));
            } else {
                processes.limiters[port.index()] += 1;
            }
            let path = vec![(port, b.port(HOSTS, from)), (b.port(HOSTS, to), b.port(to, HOSTS))];
            path.iter().for_each(|&link| *links.entry(link).or_default() += size.0);
            let (process, number, tree) = (process as u32, number as u32, Vec::new());
            let later = Vec::new();
            arrivals.push(Arrival { process, number, start, size, stays: false, path, tree, later, reaction_point });
        }
        processes.list.push(Process {
            flows: trial.flows.len() as u32,
            priority: trial.priority,
            frame: frame(trial),
            weight: 1,
            transport: trial.transport.clone().map(|transport| (transport, Some(trial.priority))),
            limiting: trial.limiting,
            links: links.into_iter().map(|(link, octets)| CrossedLink { link, octets }).collect(),
            span: END.since(Instant::ZERO),
            of_work: false,
        });
    }
    b.network.processes = processes;
    arrivals.sort_by_key(|arrival| (arrival.start, arrival.process, arrival.number));
    (b.network, arrivals)
}

/// The outcome without the marks of flows of processes: the ends are those of all.
fn comparable(outcome: Outcome) -> Outcome {
    let end = |flow: &penstock_sim::outcome::FlowOutcome| FlowEnd {
        completed: flow.completed.unwrap_or(Instant::NEVER),
        acked: flow.acked.unwrap_or(Instant::NEVER),
        retransmissions: flow.retransmissions as u32,
        timeouts: flow.timeouts as u32,
    };
    let ends = if outcome.ends.is_empty() { outcome.flows[1..].iter().map(end).collect() } else { outcome.ends };
    Outcome { ends, flows: outcome.flows[..1].to_vec(), ..outcome }
}

/// How a run is made: places are kept, or it goes in steps of a number of picoseconds.
#[derive(Debug, Clone, Copy)]
struct How {
    keeps: bool,
    step: Option<u64>,
}

/// The outcome, and the places that were there for flows of processes.
fn run(scheme: &str, network: &Network, arrivals: Option<Vec<Arrival>>, how: How) -> (Outcome, usize) {
    let configs = defaults(scheme, network);
    let mut sim = Sim::<Mixed, _, Full>::new(network, &configs, 1, Looking::none());
    if let Some(arrivals) = arrivals {
        sim.feed(Box::new(arrivals.into_iter()));
    }
    if how.keeps {
        sim.keep_slots();
    }
    let mut at = 0;
    while let Some(step) = how.step
        && at < END.0
    {
        at += step;
        sim.run_until(Instant(at).min(END));
    }
    sim.run_until(END);
    let places = sim.slots();
    (comparable(sim.finish().0), places)
}

/// The same in parts: each node is in the one that `of_node` says.
fn run_in_parts(scheme: &str, network: &Network, arrivals: &[Arrival], of_node: Vec<u32>) -> (Outcome, usize) {
    let partition = Arc::new(Partition::by_node(network, 3, of_node).expect("it can be cut"));
    let configs = defaults(scheme, network);
    let part = |own| {
        let mut part = Sim::<Mixed, _, Full>::part(network, &configs, 1, Looking::none(), &partition, own);
        part.feed(Box::new(Vec::from(arrivals).into_iter()));
        part
    };
    let mut parts: Vec<_> = (0..3).map(part).collect();
    while parts[0].now() < END {
        let window = (parts[0].now() + partition.lookahead()).min(END);
        let mut mail: Vec<RemoteFrames<Mixed>> = parts.iter().map(|_| RemoteFrames::default()).collect();
        for part in &mut parts {
            assert!(part.run_part(window));
            part.export(&mut mail);
        }
        parts.iter_mut().zip(&mut mail).for_each(|(part, mail)| part.import(mail));
        let wants = parts[0].wants_slots();
        assert!(parts.iter().all(|part| part.wants_slots() == wants), "all look at the same time");
        if wants {
            Sim::reclaim_slots(&mut parts.iter_mut().collect::<Vec<_>>());
        }
    }
    let places = parts[0].slots();
    assert!(parts.iter().all(|part| part.slots() == places));
    parts.iter_mut().for_each(Sim::settle);
    (comparable(Sim::finish_parts(parts).0), places)
}

/// Loads that come to some 60 % of what four lines carry, with bursts of it to one host.
fn trial() -> impl Strategy<Value = Trial> {
    let transports = [
        None,
        Some(Transport::GoBackN(go_back_n::Config { timeout: Duration::from_us(500), ..go_back_n::Config::default() })),
        Some(Transport::Tcp(tcp::Config { rto_min: Duration::from_us(500), ..tcp::Config::default() })),
    ];
    let limiting = [Limiting::Uncontrolled, Limiting::Own(Pacer::Ideal)];
    let flow = (0..END.0 / 1_000_000, 0..HOSTS, 0..HOSTS - 1, 1_u64..40_000);
    let parts = (any::<bool>(), 0..2_usize, 0..3_usize, prop::collection::vec(flow, 1..400));
    parts.prop_map(move |(high, limiter, transport, mut flows)| {
        flows.sort_by_key(|&(start, ..)| start);
        let flow = |(start, from, step, size): (u64, usize, usize, u64)| {
            // A third begins together with others, at times that others begin at.
            let start = if size % 3 == 0 { start / 4000 * 4000 } else { start };
            (Instant(start * 1_000_000), from, step, Octets(size))
        };
        let mut flows: Vec<_> = flows.into_iter().map(flow).collect();
        flows.sort_by_key(|&(start, ..)| start);
        Trial {
            priority: if high { 3 } else { 0 },
            limiting: limiting[limiter],
            transport: transports[transport].clone(),
            flows,
        }
    })
}

/// The switch stops its hosts from 20 KB on; the buffers are smaller than what may come until they have stopped.
fn with_flow_control(network: &mut Network) {
    let ingress = Ingress { buffer: Octets(26_000), xoff: Octets(20_000), xon: Octets(15_000) };
    let to_switch = |port: &Port| (port.peer.index() == HOSTS).then_some(ingress);
    let ingress = network.ports.iter().map(to_switch).collect();
    let responses = vec![Duration::from_us(1); network.ports.len()];
    network.pfc = Some(pfc(network.priorities.clone(), ingress, 200, responses));
}

/// Circumstances of a comparison.
#[derive(Debug, Clone)]
struct Case {
    changes: Vec<Change>,
    until_complete: bool,
    flow_control: bool,
    step: u64,
    of_node: Vec<u32>,
}

fn agree(scheme: &str, trials: &[Trial], case: &Case) {
    let &Case { ref changes, until_complete, flow_control, step, ref of_node } = case;
    let whole = How { keeps: false, step: None };
    let mut there = dense(trials);
    (there.changes, there.until_complete) = (changes.clone(), until_complete);
    if flow_control {
        with_flow_control(&mut there);
    }
    let (expected, _) = run(scheme, &there, None, whole);
    let (mut network, arrivals) = to_come(trials);
    (network.changes, network.until_complete) = (changes.clone(), until_complete);
    if flow_control {
        with_flow_control(&mut network);
    }
    for how in [whole, How { keeps: true, step: None }, How { keeps: false, step: Some(step) }] {
        let (found, _) = run(scheme, &network, Some(arrivals.clone()), how);
        assert_eq!(found, expected, "{} {how:?}", scheme);
    }
    if !until_complete && !flow_control {
        let (found, _) = run_in_parts(scheme, &network, &arrivals, of_node.clone());
        assert_eq!(found, expected, "{} in parts", scheme);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    /// Flows that come and go have the results of flows that are there from the beginning. Places that are used again,
    /// cuts of the run, and parts of the network change nothing.
    #[test]
    fn flows_that_come_and_go_change_nothing(
        mut trials in prop::collection::vec(trial(), 1..3),
        shared in any::<bool>(),
        broken in prop::option::of((0_u64..40_000, 0_u64..2000, 0_usize..2 * HOSTS)),
        until_complete in any::<bool>(),
        flow_control in any::<bool>(),
        step in 20_000_000_u64..3_000_000_000,
        of_node in prop::collection::vec(0_u32..3, HOSTS + 1),
        scheme in prop::sample::select(vec!["none", "qcn", "dcqcn", "e2cm", "fqcn"]),
    ) {
        for trial in trials.iter_mut().filter(|trial| shared && trial.limiting != Limiting::Uncontrolled) {
            trial.limiting = Limiting::Shared;
        }
        let changes: Vec<Change> = broken.into_iter().flat_map(|(at, us, port)| {
            let change = |us, event| Change { at: Instant(us * 1_000_000), port: PortId(port as u32), event };
            [change(at, PortEvent::Down), change(at + us, PortEvent::Up)]
        }).collect();
        let case = Case { changes, until_complete, flow_control, step, of_node };
        agree(scheme, &trials, &case);
    }
}

/// 20 000 flows of one frame each, 2 us apart, of which few are there at a time.
fn short() -> Trial {
    let flow = |i: usize| (Instant(2_000_000 * i as u64), i % HOSTS, i % (HOSTS - 1), Octets(100));
    Trial {
        priority: 0,
        limiting: Limiting::Own(Pacer::Ideal),
        transport: None,
        flows: (0..20_000).map(flow).collect(),
    }
}

/// Places follow the flows that are there, not those that ever were.
#[test]
fn places_follow_the_flows_that_are_there() {
    let (network, arrivals) = to_come(&[short()]);
    let (outcome, places) = run("qcn", &network, Some(arrivals.clone()), How { keeps: false, step: None });
    assert!(outcome.ends.iter().filter(|end| end.completed != Instant::NEVER).count() > 19_990);
    assert!(places < 2000, "{places} places");
    let (in_parts, places) = run_in_parts("qcn", &network, &arrivals, vec![0, 1, 2, 1, 0]);
    assert_eq!(in_parts, outcome);
    assert!(places < 2000, "{places} places of each part");
    let (kept, places) = run("qcn", &network, Some(arrivals), How { keeps: true, step: None });
    assert_eq!((kept, places), (outcome, 20_000));
}

/// A congestion point that remembers flows may speak of any: none is forgotten.
#[test]
fn a_point_that_remembers_flows_keeps_them() {
    let (network, arrivals) = to_come(&[short()]);
    assert_eq!(run("fqcn", &network, Some(arrivals), How { keeps: false, step: None }).1, 20_000);
}
