//! Links that break: their queues are flushed and counted, and flows take the routes that the plan of a run has for them.

use std::sync::Arc;

use crate::common::{Looking, lossless};
use penstock_endpoint::transport::{Transport, selective};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::{Full, Outcome, Partition, RemoteFrames, Sim};

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);

fn us(n: u64) -> Instant {
    Instant(n * 1_000_000)
}

fn run(network: &Network, until: Instant) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<NoControl, _, Full>::new(network, &vec![config; network.priorities.len()], 1, Looking::none());
    sim.run_until(until);
    sim.finish().0
}

/// The same in parts, one a node.
fn run_in_parts(network: &Network, until: Instant) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let nodes = network.nodes.len();
    let partition = Arc::new(Partition::by_node(network, nodes, (0..nodes as u32).collect()).expect("it can be cut"));
    let part = |own| {
        Sim::<NoControl, _, Full>::part(network, std::slice::from_ref(&config), 1, Looking::none(), &partition, own)
    };
    let mut parts: Vec<_> = (0..nodes).map(part).collect();
    let mut now = Instant::ZERO;
    while now < until {
        now = (now + partition.lookahead()).min(until);
        let mut mails: Vec<Vec<RemoteFrames<NoControl>>> = Vec::new();
        for part in &mut parts {
            assert!(part.run_part(now));
            let mut mail: Vec<RemoteFrames<NoControl>> = (0..nodes).map(|_| RemoteFrames::default()).collect();
            part.export(&mut mail);
            mails.push(mail);
        }
        for mail in &mut mails {
            parts.iter_mut().zip(mail).for_each(|(part, mail)| part.import(mail));
        }
    }
    Sim::finish_parts(parts).0
}

/// A host (0 and 1) at each of two switches (2 and 3), joined by path of 4 and of 5. The flow goes over 4; `later` it has a route over 5, and at last
/// the first one again. The link 2--4 is broken from 100 us on, and whole again at 600 us.
fn fabric(later: &[(u64, usize)], transported: bool) -> Builder {
    let mut b = Builder::new(2, 4);
    for (a, c) in [(0, 2), (1, 3), (2, 4), (4, 3), (2, 5), (5, 3)] {
        b.link(a, c, GBPS, US, Octets(100_000));
    }
    b.flow(&[0, 2, 4, 3, 1]);
    if transported {
        let transport = Transport::Selective(selective::Config::default());
        let reverse_path = b.network.add_reverse_path(HopId(0));
        b.network.flows[0].frame = penstock_sim::longest_frame(&transport).0 as u16;
        b.network.flows[0].size = Some(Octets(100_000));
        b.network.flows[0].transport = Some(Carriage { transport, acks: None, reverse_path });
    }
    for &(at, by) in later {
        let root = b.flow(&[0, 2, by, 3, 1]).root;
        b.network.flows.pop();
        b.network.reaction_points.pop();
        let reverse_path = transported.then(|| b.network.add_reverse_path(root));
        b.network.reroutes.push(Reroute { at: us(at), flow: FlowId(0), root, reverse_path });
    }
    let ports = [b.port(2, 4), b.port(4, 2)];
    for (at, event) in [(100, PortEvent::Down), (600, PortEvent::Up)] {
        b.network.changes.extend(ports.map(|port| Change { at: us(at), port, event }));
    }
    b
}

fn sent(b: &Builder, outcome: &Outcome, a: usize, c: usize) -> u64 {
    outcome.queues[b.network.queue(b.port(a, c), 0).index()].frames_sent
}

/// Frame k leaves the host at 12 k us and is at the switch 13 us later. Of those over 4, k = 0 to 6 are on the line or beyond it at
/// 100 us. The frame of 85 us (until 97 us, there at 98 us) has crossed it. Those that are at the
/// switch from 97 us (k = 7) to 289 us (k = 23) are lost. Routes change at 300 us: the frame that comes at 301 us (k = 24) is
/// the first one over 5, though it was sent before.
#[test]
fn a_flow_takes_the_other_route_when_switches_have_heard() {
    let b = fabric(&[(300, 5), (800, 4)], false);
    let outcome = run(&b.network, us(1000));
    assert_eq!(outcome.totals.frames_lost_on_link, 23 - 7 + 1);
    let dead = &outcome.queues[b.network.queue(b.port(2, 4), 0).index()];
    // That of 97 us is on the line.
    assert_eq!((dead.frames_flushed, dead.frames_dropped), (23 - 8 + 1, 0));
    // k = 24 to 65, which comes at 793 us.
    assert_eq!(sent(&b, &outcome, 2, 5), 42);
    assert!(sent(&b, &outcome, 2, 4) > 7 + 10);
    // Neither flow control nor parts change anything but its own.
    assert_eq!(outcome, run_in_parts(&b.network, us(1000)));
    let mut b = b;
    lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
    let lossless = run(&b.network, us(1000));
    assert_eq!((lossless.totals.pause_frames, lossless.totals.frames_lost_on_link), (0, 17));
    assert_eq!(lossless, run_in_parts(&b.network, us(1000)));
}

/// Segments and acknowledgements: all of the flow is there while the link is broken, and not before it is whole without another route.
#[test]
fn acknowledgements_move_too() {
    let b = fabric(&[(300, 5)], true);
    let mut never = b.network.clone();
    never.changes.truncate(2);
    let outcome = run(&never, us(20_000));
    assert!(outcome.flows[0].completed.is_some(), "{:?}", outcome.totals);
    assert_eq!(outcome, run_in_parts(&never, us(20_000)));
    never.reroutes.clear();
    assert_eq!(run(&never, us(20_000)).flows[0].completed, None);
}

/// Two flows at 1 Gb/s each fill the queue of their common line by 125 octets a microsecond. At 100 us there are some eight frames, all of
/// which are lost with it, with flow control and without.
#[test]
fn the_frames_that_wait_are_lost() {
    for controlled in [false, true] {
        let mut b = Builder::new(3, 1);
        for host in 0..3 {
            b.link(host, 3, GBPS, US, Octets(100_000));
        }
        b.flow(&[0, 3, 2]);
        b.flow(&[1, 3, 2]);
        if controlled {
            lossless(
                &mut b.network,
                vec![0],
                Ingress { buffer: Octets(80_000), xoff: Octets(60_000), xon: Octets(40_000) },
            );
        }
        let port = b.port(3, 2);
        b.network.changes = vec![
            Change { at: us(100), port, event: PortEvent::Down },
            Change { at: us(101), port, event: PortEvent::Up },
        ];
        let outcome = run(&b.network, us(102));
        let queue = &outcome.queues[b.network.queue(port, 0).index()];
        // Of 2 x 7 that came by 97 us, at 13 us and each 12 us, seven have left, and one of these is on the line.
        assert_eq!((queue.frames_flushed, queue.frames_dropped), (2 * 8 - 8, 0), "{controlled}");
        assert_eq!(outcome.totals.frames_lost_on_link, 2 * 8 - 7);
    }
}
