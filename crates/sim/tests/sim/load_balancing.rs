//! Frames over several paths: choices computed by hand on a leaf and spine, order and disorder, congested and broken links.

use crate::common::Looking;
use penstock_endpoint::transport::{Transport, go_back_n, selective};
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::{Full, Outcome, Sim, longest_frame};
use proptest::prelude::*;

const RATE: BitRate = BitRate(10_000_000_000);
const US: Duration = Duration(1_000_000);
const GAP: Duration = Duration(20_000_000);

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// Two leaves, each with `hosts` hosts, and `spines` spines: hosts come first, then the leaves. Links take 1 us, those of the
/// last spine `slow`.
fn fabric(hosts: usize, spines: usize, slow: Duration) -> Builder {
    let mut b = Builder::new(2 * hosts, 2 + spines);
    for host in 0..2 * hosts {
        b.link(host, 2 * hosts + host / hosts, RATE, US, Octets(1_000_000));
    }
    for leaf in 0..2 {
        for spine in 0..spines {
            let latency = if spine + 1 == spines { slow } else { US };
            b.link(2 * hosts + leaf, 2 * hosts + 2 + spine, RATE, latency, Octets(1_000_000));
        }
    }
    b
}

/// A flow between hosts of the two leaves over all spines, the first of them the first path.
fn spread(b: &mut Builder, from: usize, to: usize, hosts: usize, spines: usize) -> FlowId {
    let (up, down) = (2 * hosts, 2 * hosts + 1);
    let first = b.network.hops.len() as u32;
    let _ = b.flow(&[from, up]);
    let n = spines as u32;
    (b.network.hops[first as usize].first_child, b.network.hops[first as usize].children) =
        (HopId(first + 1), spines as u16);
    let mut add = |a: usize, z: usize, parent: u32, child: Option<u32>| {
        let (port, back) = (b.port(a, z), b.port(z, a));
        let (first_child, children) = (HopId(child.unwrap_or(0)), u16::from(child.is_some()));
        b.network.hops.push(Hop { port, back, parent: Some(HopId(parent)), first_child, children });
    };
    for i in 0..n {
        add(up, down + 1 + i as usize, first, Some(first + 1 + n + i));
    }
    for i in 0..n {
        add(down + 1 + i as usize, down, first + 1 + i, Some(first + 1 + 2 * n + i));
    }
    for i in 0..n {
        add(down, to, first + 1 + n + i, None);
    }
    FlowId(b.network.flows.len() as u32 - 1)
}

/// Switches choose so, behind the first hop of each flow.
fn choose(network: &mut Network, by: PathChoice) {
    let roots: Vec<HopId> = network.flows.iter().map(|flow| flow.root).collect();
    let hops = roots.into_iter().filter(|root| network.hops[root.index()].children > 1).collect();
    network.load_balancing = Some(Multipath { by, profile: None, seed: 7, hops });
}

fn run(network: &Network, end: Instant) -> Outcome {
    let configs = vec![Config {}; network.priorities.len()];
    let mut sim = Sim::<NoControl, _, Full>::new(network, &configs, 1, Looking::none());
    sim.run_until(end);
    sim.finish().0
}

/// The frames that came to each port from node `a` to one of `to`.
fn frames(b: &Builder, outcome: &Outcome, a: usize, to: std::ops::Range<usize>) -> Vec<u64> {
    to.map(|z| outcome.queues[b.network.queue(b.port(a, z), 0).index()].frames_arrived).collect()
}

fn carry(network: &mut Network, flow: FlowId, transport: Transport) {
    let reverse_path = network.add_reverse_path(network.flows[flow.index()].root);
    let flow = &mut network.flows[flow.index()];
    flow.frame = longest_frame(&transport).0 as u16;
    flow.transport = Some(Carriage { transport, acks: Some(flow.priority), reverse_path });
}

/// Seven frames of one flow over three spines: 0, 1, 2, 0, 1, 2, 0. All arrive, each once: the last after 7 transmissions of 1.2 us at the
/// source, one at each of three switches, and four links of 1 us.
#[test]
fn turns_go_around() {
    let mut b = fabric(1, 3, US);
    let flow = spread(&mut b, 0, 1, 1, 3);
    b.network.flows[flow.index()].size = Some(Octets(7 * 1500));
    choose(&mut b.network, PathChoice::Turns);
    let outcome = run(&b.network, us(1000));
    assert_eq!(frames(&b, &outcome, 2, 4..7), [3, 2, 2]);
    assert_eq!(outcome.flows[0].frames_delivered, 7);
    assert_eq!(outcome.flows[0].completed, Some(Instant(10 * 1_200_000 + 4 * 1_000_000)));
}

/// A permutation of eight hosts at each leaf, at line rate over four spines: each uplink of a leaf has as many frames as the others, but for
/// one.
#[test]
fn turns_balance_a_permutation() {
    let mut b = fabric(8, 4, US);
    for host in 0..8 {
        spread(&mut b, host, 8 + (host + 3) % 8, 8, 4);
    }
    choose(&mut b.network, PathChoice::Turns);
    let outcome = run(&b.network, us(500));
    let uplinks = frames(&b, &outcome, 16, 18..22);
    assert!(uplinks[0] > 500, "{uplinks:?}");
    assert!(uplinks.iter().max().unwrap() - uplinks.iter().min().unwrap() <= 1, "{uplinks:?}");
}

/// At random each of four uplinks has a quarter: of 4000 frames 1000, with a deviation of 27.4; five of them. Another seed, other frames.
#[test]
fn random_choices_are_even() {
    let mut b = fabric(1, 4, US);
    let flow = spread(&mut b, 0, 1, 1, 4);
    b.network.flows[flow.index()].size = Some(Octets(4000 * 1500));
    choose(&mut b.network, PathChoice::Random);
    let outcome = run(&b.network, us(10_000));
    let uplinks = frames(&b, &outcome, 2, 4..8);
    assert!(uplinks.iter().all(|&n| n.abs_diff(1000) < 137), "{uplinks:?}");
    let mut sim = Sim::<NoControl, _, Full>::new(&b.network, &[Config {}], 2, Looking::none());
    sim.run_until(us(10_000));
    assert_ne!(frames(&b, &sim.finish().0, 2, 4..8), uplinks);
}

/// A flow that is never silent for the gap is one flowlet, which takes the first path: to the last bit as without a choice.
#[test]
fn one_flowlet_is_a_flow_without_choice() {
    let mut chosen = fabric(1, 3, US);
    let flow = spread(&mut chosen, 0, 1, 1, 3);
    choose(&mut chosen.network, PathChoice::Flowlet(GAP));
    let mut fixed = fabric(1, 3, US);
    let _ = fixed.flow(&[0, 2, 4, 3, 1]);
    for b in [&mut chosen, &mut fixed] {
        b.network.flows[flow.index()].size = Some(Octets(100 * 1500));
    }
    assert_eq!(run(&chosen.network, us(1000)), run(&fixed.network, us(1000)));
}

/// Bursts of five frames, which last 6 us, begin every 40 us. At a gap of 20 us each is a flowlet, whose frames stay together: each uplink has a
/// multiple of five. At a gap of 41 us all are one.
#[test]
fn a_flowlet_begins_after_a_gap() {
    let frames_at = |gap| {
        let mut b = fabric(1, 3, US);
        let flow = spread(&mut b, 0, 1, 1, 3);
        let (on, off) = (Duration::from_us(6), Duration::from_us(34));
        b.network.flows[flow.index()].traffic = Traffic::OnOff { rate: RATE, on, off, random: false };
        choose(&mut b.network, PathChoice::Flowlet(gap));
        let outcome = run(&b.network, us(3990));
        frames(&b, &outcome, 2, 4..7)
    };
    // A hundred flowlets.
    let many = frames_at(GAP);
    assert_eq!(many.iter().sum::<u64>(), 500);
    assert!(many.iter().all(|n| n % 5 == 0 && *n >= 50), "{many:?}");
    assert_eq!(frames_at(Duration::from_us(41)), [500, 0, 0]);
}

/// Another flow fills the first uplink for 12 us from the start on. The first frame of the adaptive flow comes to the leaf at 2.2 us, when it has one frame
/// in transmission there and the others have none: the three frames take the other two.
#[test]
fn adaptive_frames_avoid_a_queue() {
    for by in [PathChoice::Queue, PathChoice::QueueOfFlowlet(GAP)] {
        let mut b = fabric(3, 2, US);
        for host in 0..2 {
            let crossing = b.flow(&[host, 6, 8, 7, 3 + host]);
            crossing.size = Some(Octets(10 * 1500));
        }
        let flow = spread(&mut b, 2, 5, 3, 2);
        b.network.flows[flow.index()].size = Some(Octets(3 * 1500));
        b.network.flows[flow.index()].start = us(2);
        choose(&mut b.network, by);
        let outcome = run(&b.network, us(1000));
        assert_eq!(frames(&b, &outcome, 6, 8..10), [20, 3], "{by:?}");
    }
}

/// While the line of the second spine is broken all frames go over the first; afterwards they take turns again.
#[test]
fn a_broken_line_is_no_choice() {
    for by in [PathChoice::Turns, PathChoice::Random, PathChoice::Queue, PathChoice::Flowlet(Duration(1))] {
        let mut b = fabric(1, 2, US);
        spread(&mut b, 0, 1, 1, 2);
        choose(&mut b.network, by);
        let port = b.port(2, 5);
        b.network.changes.push(Change { at: us(0), port, event: PortEvent::Down });
        let down = frames(&b, &run(&b.network, us(100)), 2, 4..6);
        assert!(down[0] > 70 && down[1] == 0, "{by:?} {down:?}");
        b.network.changes.push(Change { at: us(50), port, event: PortEvent::Up });
        let both = frames(&b, &run(&b.network, us(100)), 2, 4..6);
        assert!(both[0] < down[0] && both[1] > 0, "{by:?} {both:?}");
    }
}

/// Acknowledgements go back over the first path.
#[test]
fn answers_go_back_over_the_first_way() {
    let mut b = fabric(1, 2, US);
    let flow = spread(&mut b, 0, 1, 1, 2);
    b.network.flows[flow.index()].size = Some(Octets(146_000));
    carry(&mut b.network, flow, Transport::Selective(selective::Config::default()));
    choose(&mut b.network, PathChoice::Turns);
    let outcome = run(&b.network, us(10_000));
    assert!(outcome.flows[0].completed.is_some());
    assert_eq!(frames(&b, &outcome, 2, 4..6), [73, 73]);
    assert!(outcome.totals.acks_sent > 0);
    assert_eq!(frames(&b, &outcome, 3, 4..6), [outcome.totals.acks_sent, 0]);
}

/// Over paths whose delays differ by 2 x 30 us spraying disorders frames, so that go-back-n sends again, and selective repeat has all of the
/// data nevertheless.
#[test]
fn spraying_over_unequal_ways_disorders() {
    let run_with = |transport: Transport| {
        let mut b = fabric(1, 2, Duration::from_us(31));
        let flow = spread(&mut b, 0, 1, 1, 2);
        b.network.flows[flow.index()].size = Some(Octets(300_000));
        carry(&mut b.network, flow, transport);
        choose(&mut b.network, PathChoice::Turns);
        run(&b.network, us(100_000)).flows[0]
    };
    let first = run_with(Transport::GoBackN(go_back_n::Config::default()));
    assert!(first.retransmissions > 0);
    let second = run_with(Transport::Selective(selective::Config::default()));
    assert!(second.completed.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases(60)))]

    /// Frames keep their order as long as the gap exceeds the difference of the paths' delays: go-back-n, which sends
    /// again what comes early, has nothing to send again.
    #[test]
    fn flowlets_keep_their_order(slow in 1..40_u64, on in 1..40_u64, off in 1..200_u64, spines in 2..5_usize) {
        let mut b = fabric(1, spines, Duration::from_us(slow));
        let flow = spread(&mut b, 0, 1, 1, spines);
        let (on, off) = (Duration::from_us(on), Duration::from_us(off));
        carry(&mut b.network, flow, Transport::GoBackN(go_back_n::Config::default()));
        let own = &mut b.network.flows[flow.index()];
        own.traffic = Traffic::OnOff { rate: RATE, on, off, random: true };
        own.size = Some(Octets(200_000));
        // Two links of the slow spine, each slower by this than another's; and the transmission of a frame.
        choose(&mut b.network, PathChoice::Flowlet(Duration::from_us(2 * (slow - 1) + 2)));
        let outcome = run(&b.network, us(100_000));
        prop_assert_eq!(outcome.flows[0].retransmissions, 0);
        prop_assert!(outcome.flows[0].completed.is_some());
    }
}
