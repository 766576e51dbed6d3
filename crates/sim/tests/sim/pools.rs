//! Memory that the queues of a switch share: thresholds in closed form, headroom to the octet, conservation in random networks.

use crate::common::random::random_network;
use crate::common::{Looking, cases, lossless, pfc, respond};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::pfc::{headroom, headroom_in_cells};
use penstock_sim::{Full, Outcome, Sim};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const ROOMY: Octets = Octets(100_000_000);
const END: Instant = Instant(4_000_000_000);

fn ms(n: u64) -> Instant {
    Instant(n * 1_000_000_000)
}

fn sim(network: &Network) -> Sim<NoControl, Looking<'static, NoControl>, Full> {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    Sim::new(network, &vec![config; network.priorities.len()], 1, Looking::none())
}

/// Runs in pieces that end at `cuts`, measured from `from` on.
fn run(network: &Network, from: Instant, cuts: &[Instant]) -> Outcome {
    let mut sim = sim(network);
    sim.run_until(from);
    sim.start_measuring();
    cuts.iter().for_each(|&cut| sim.run_until(cut));
    sim.finish().0
}

fn dynamic(alpha: f64) -> Share {
    Share { reserve: Octets(0), alpha: Some(alpha) }
}

/// A pool of all of the network's priorities at `node`, in octets, without headroom.
fn pool(network: &Network, node: usize, size: u64, egress: Share) -> Pool {
    let mut pool = Pool::new(NodeId(node as u32), network.priorities.clone(), Octets(size));
    pool.egress = vec![egress; pool.priorities.len()];
    pool
}

/// Two sources at 1 Gb/s for each of `n` receivers behind lines of 1 Gb/s; the switch is the last node.
fn congested(n: usize, frame: u16) -> Builder {
    let mut b = Builder::new(3 * n, 1);
    for host in 0..3 * n {
        b.link(host, 3 * n, GBPS, US, ROOMY);
    }
    for queue in 0..n {
        for source in 0..2 {
            b.flow(&[n + 2 * queue + source, 3 * n, queue]).frame = frame;
        }
    }
    b
}

/// n queues that fill for ever stand at T = alpha × (B − n T), so at T = alpha B / (1 + n alpha) each (Choudhury and Hahne 1998,
/// equation 1). A frame of 100 octets moves a queue by 100 and the threshold by alpha × 100.
#[test]
fn n_congested_queues_stand_at_the_steady_threshold() {
    const B: f64 = 1e6;
    for (n, alpha) in [(1, 0.5), (1, 1.0), (1, 8.0), (2, 1.0), (4, 0.25), (4, 2.0), (8, 1.0)] {
        let mut b = congested(n, 100);
        b.network.pools = vec![pool(&b.network, 3 * n, B as u64, dynamic(alpha))];
        let outcome = run(&b.network, ms(20), &[ms(30)]);
        let expected = alpha * B / (1.0 + n as f64 * alpha);
        let step = 100.0 * (1.0 + n as f64 * alpha);
        for receiver in 0..n {
            let queue = &outcome.queues[b.network.queue(b.port(3 * n, receiver), 0).index()];
            let at = (queue.min_octets as f64, queue.mean_octets, queue.max_octets as f64);
            let near = |x: f64| (x - expected).abs() <= step;
            assert!(near(at.0) && near(at.1) && near(at.2), "{n} queues, alpha {alpha}: {at:?}, not {expected}");
            assert!(queue.frames_dropped > 0);
        }
        let pool = &outcome.pools[0];
        assert!((pool.mean_octets - n as f64 * expected).abs() <= n as f64 * step, "{pool:?}");
        assert_eq!(pool.frames_refused, outcome.queues.iter().map(|queue| queue.frames_dropped).sum::<u64>());
    }
}

/// 100 octets in cells of 208: a queue has as many frames as T has cells.
#[test]
fn a_frame_takes_whole_cells() {
    let mut b = congested(1, 100);
    b.network.pools = vec![pool(&b.network, 3, 208_000, dynamic(1.0))];
    b.network.pools[0].cell = 208;
    let outcome = run(&b.network, ms(20), &[ms(30)]);
    let queue = &outcome.queues[b.network.queue(b.port(3, 0), 0).index()];
    // T = 104 000 octets, 500 cells.
    assert_eq!((queue.max_octets, outcome.pools[0].max_octets), (50_000, 104_000));
}

/// 209 octets take two cells of 208 octets.
#[test]
fn a_frame_of_one_octet_more_takes_a_cell_more() {
    for (frame, cells) in [(208, 1), (209, 2)] {
        let mut b = congested(1, frame);
        b.network.pools = vec![pool(&b.network, 3, 10 * 208, Share::FREE)];
        b.network.pools[0].cell = 208;
        let outcome = run(&b.network, ms(1), &[ms(2)]);
        let queue = &outcome.queues[b.network.queue(b.port(3, 0), 0).index()];
        assert_eq!(queue.max_octets, u64::from(frame) * 10 / cells);
    }
}

/// Receivers 0 to 3; receivers 1 to 3 are congested from the start if `busy`. At 10 ms five hosts send a burst of 300 KB together to
/// receiver 0, at 5 Gb/s into 1 Gb/s: some 240 KB of it have to wait.
fn burst(busy: bool) -> Builder {
    let hosts = 4 + 6 + 5;
    let mut b = Builder::new(hosts, 1);
    for host in 0..hosts {
        b.link(host, hosts, GBPS, US, ROOMY);
    }
    for source in 0..6 {
        if busy {
            b.flow(&[4 + source, hosts, 1 + source / 2]);
        }
    }
    for source in 10..15 {
        let flow = b.flow(&[source, hosts, 0]);
        (flow.start, flow.size) = (ms(10), Some(Octets(60_000)));
    }
    b
}

/// Frames of the burst that are dropped.
fn lost(mut b: Builder, egress: Share) -> u64 {
    let switch = b.network.nodes.len() - 1;
    b.network.pools = vec![pool(&b.network, switch, 1_000_000, egress)];
    let outcome = run(&b.network, ms(0), &[ms(20)]);
    outcome.queues[b.network.queue(b.port(switch, 0), 0).index()].frames_dropped
}

/// 1 MB: a 15th for each of the 15 ports, or up to half of it for one queue alone (T = 1 MB − T).
#[test]
fn an_incast_that_overflows_a_partition_passes_under_a_dynamic_threshold() {
    let partition = Share { reserve: Octets(1_000_000 / 15), alpha: Some(0.0) };
    assert!(lost(burst(false), partition) > 0);
    // 240 KB ≤ 1 MB − 240 KB.
    assert_eq!(lost(burst(false), dynamic(1.0)), 0);
}

/// Three queues that are always full leave 1 MB / (1 + 3 alpha) free: with alpha 8 that is 40 KB, and the burst needs 240 KB at once. In a
/// partition among the four ports that are used it has 250 KB.
#[test]
fn an_incast_that_overflows_a_dynamic_threshold_passes_in_a_partition() {
    let mut b = burst(true);
    let switch = b.network.nodes.len() - 1;
    // Per-port queues of a quarter each, no pool.
    for port in b.network.ports.iter_mut().filter(|port| port.node.index() == switch) {
        port.capacity = Capacity::Octets(Octets(250_000));
    }
    let outcome = run(&b.network, ms(0), &[ms(20)]);
    assert_eq!(outcome.queues[b.network.queue(b.port(switch, 0), 0).index()].frames_dropped, 0);
    assert!(lost(burst(true), dynamic(8.0)) > 0);
}

/// A reserve is there however full the pool is: the first 40 frames of the burst pass where others have taken all that is shared.
#[test]
fn a_reserve_is_kept() {
    let kept = Share { reserve: Octets(60_000), alpha: None };
    let none = lost(burst(true), Share::FREE);
    let some = lost(burst(true), kept);
    assert!(some + 60_000 / 1500 - 1 <= none, "{some} of {none} frames are lost with a reserve of 40 frames");
}

/// Source 0, receiver 1, switch 2 of `pfc.rs`: the counter is 4500 octets before the frame of 73 us comes, and the source stops after
/// the one that comes at 85 us, when one departs.
///
/// With 5999 octets below the threshold the frame of 73 us is the first in the headroom, whole: 1500 octets. At 85 us the one that departs empties it,
/// and the last one fills it again.
#[test]
fn headroom_is_used_to_the_octet() {
    let network = |headroom: u64| {
        let mut b = Builder::new(2, 1);
        b.link(0, 2, GBPS, US, ROOMY);
        b.link(1, 2, BitRate(500_000_000), US, ROOMY);
        b.flow(&[0, 2, 1]);
        lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
        respond(&mut b.network, Duration(500_000));
        let ingress = Share { reserve: Octets(5999), alpha: Some(0.0) };
        let size = 2 * 5999;
        let mut pool = pool(&b.network, 2, size, Share::FREE);
        (pool.headroom, pool.ingress) = (Octets(headroom), vec![ingress; pool.priorities.len()]);
        b.network.pools = vec![pool];
        b
    };
    let enough = network(1500);
    let outcome = run(&enough.network, ms(0), &[Instant(134_512_000)]);
    let pool = &outcome.pools[0];
    assert_eq!((pool.headroom_max_octets, pool.max_octets, pool.frames_refused), (1500, 6000, 0));
    let groups = |outcome: &Outcome, b: &Builder| {
        [0, 1].map(|peer| {
            let queue = &outcome.queues[b.network.queue(b.port(2, peer), 0).index()];
            (queue.ingress_shared_max_octets, queue.ingress_headroom_max_octets)
        })
    };
    // Nothing came in from the receiver.
    assert_eq!(groups(&outcome, &enough), [(0, 1500), (0, 0)]);
    // As with a separate buffer: stopped at 75.012 us, released at 133 us.
    let queue = &outcome.queues[enough.network.queue(enough.port(0, 2), 0).index()];
    assert_eq!((queue.paused, queue.pause_frames), (Duration(134_512_000 - 75_012_000), 1));
    assert_eq!(outcome.totals.frames_dropped, 0);
    let outcome = run(&network(1499).network, ms(0), &[Instant(134_512_000)]);
    // The frame of 73 us finds no room, and nothing stops the source: the frame of 85 us finds the room of the one that departs then.
    assert!(outcome.pools[0].frames_refused > 0);
    assert_eq!(outcome.pools[0].frames_refused, outcome.totals.frames_dropped);
}

/// A threshold that moves stops a neighbour as a fixed one does: alpha 1 of 12 000 octets is reached at 6000, at 73 us. The neighbour may go on
/// 6000 octets below it: with 3000, at 133 us, for 3000 + 6000 ≤ 12 000 − 3000. The resume frame arrives at 134.512 us.
#[test]
fn a_dynamic_threshold_stops_a_neighbour() {
    let mut b = Builder::new(2, 1);
    b.link(0, 2, GBPS, US, ROOMY);
    b.link(1, 2, BitRate(500_000_000), US, ROOMY);
    b.flow(&[0, 2, 1]);
    lossless(&mut b.network, vec![0], Ingress { buffer: Octets(60_000), xoff: Octets(50_000), xon: Octets(44_000) });
    respond(&mut b.network, Duration(500_000));
    let mut pool = pool(&b.network, 2, 12_000, Share::FREE);
    (pool.headroom, pool.ingress) = (Octets(10_001), vec![dynamic(1.0); pool.priorities.len()]);
    b.network.pools = vec![pool];
    let outcome = run(&b.network, ms(0), &[Instant(140_000_000)]);
    let queue = &outcome.queues[b.network.queue(b.port(0, 2), 0).index()];
    assert_eq!((queue.paused, queue.pause_frames), (Duration(134_512_000 - 75_012_000), 1));
    assert_eq!(outcome.totals.frames_dropped, 0);
    // The shared watermark is the threshold that was reached; none of the headroom was used.
    let group = &outcome.queues[b.network.queue(b.port(2, 0), 0).index()];
    assert_eq!((group.ingress_shared_max_octets, group.ingress_headroom_max_octets), (6000, 0));
}

/// Pools of random sizes at every switch of a random network, under random flow control, or none; switches trim, or do not.
fn pooled(network: Network) -> impl Strategy<Value = Network> {
    let (ports, nodes) = (network.ports.len(), network.nodes.len());
    let share = || (0u64..4000, prop::option::of(prop_oneof![0.0..0.2, 0.2..16.0]));
    let own = (share(), share(), 0u64..200_000, 0u64..40_000, prop_oneof![Just(1u16), 2u16..300]);
    let ingress = prop::option::weighted(0.8, (1u64..30_000, 0u64..100, 0u64..20_000));
    let split = prop::collection::vec(0u8..3, 3);
    let parts = (prop::collection::vec(own, 2 * nodes), prop::collection::vec(ingress, ports), split);
    (parts, any::<[bool; 2]>(), 1u16..300).prop_map(move |((own, ingress, split), [stopping, trims], quanta)| {
        let mut network = network.clone();
        let at_switch = |node: NodeId| network.nodes[node.index()].kind == NodeKind::Switch;
        let entry = |(port, limits): (&Port, Option<(u64, u64, u64)>)| {
            let (xoff, percent, room) = limits.filter(|_| at_switch(port.peer))?;
            Some(Ingress { buffer: Octets(xoff + room), xoff: Octets(xoff), xon: Octets(xoff * percent / 100) })
        };
        let ingress = network.ports.iter().zip(ingress).map(entry).collect();
        let pfc = pfc(vec![0, 7], ingress, quanta, Vec::new());
        for node in (0..nodes).filter(|&node| at_switch(NodeId(node as u32))) {
            // Each priority is in the first pool, in the second one, or in none.
            for half in 0..2 {
                let ((reserve, alpha), (reserve_in, alpha_in), size, headroom, cell) = own[2 * node + half];
                let which = network.priorities.iter().zip(&split).filter(|(_, part)| usize::from(**part) == half);
                let priorities: Vec<u8> = which.map(|(&priority, _)| priority).collect();
                let reserves = (reserve + reserve_in) * priorities.len() as u64 * ports as u64;
                let mut pool = Pool::new(NodeId(node as u32), priorities, Octets(size + reserves));
                (pool.cell, pool.headroom) = (cell, Octets(headroom));
                pool.egress = vec![Share { reserve: Octets(reserve), alpha }; pool.priorities.len()];
                pool.ingress = vec![Share { reserve: Octets(reserve_in), alpha: alpha_in }; pool.priorities.len()];
                network.pools.push(pool);
            }
        }
        network.trimmed = if trims { network.priorities.clone() } else { Vec::new() };
        network.pfc = stopping.then_some(pfc);
        network
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4000), ..ProptestConfig::default() })]

    /// The accounts of every pool are those of the frames in its queues, and no pool gives more than it has: `finish` checks both.
    #[test]
    fn pools_conserve_their_memory(network in random_network().prop_flat_map(pooled), end in 0u64..END.0) {
        let outcome = run(&network, Instant(0), &[Instant(end)]);
        let dropped: u64 = outcome.queues.iter().map(|queue| queue.frames_dropped).sum();
        prop_assert!(outcome.pools.iter().map(|pool| pool.frames_refused).sum::<u64>() <= dropped);
        for (pool, spec) in outcome.pools.iter().zip(&network.pools) {
            prop_assert!(pool.max_octets <= spec.size.0 + spec.headroom.0);
            prop_assert!(pool.headroom_max_octets <= spec.headroom.0);
        }
        for (queue, port) in outcome.queues.iter().zip(network.ports.iter().flat_map(|port| vec![port; network.queues_per_port()])) {
            let of_switch = outcome.pools.iter().zip(&network.pools).filter(|(_, spec)| spec.node == port.node);
            let (most, headroom) = of_switch.fold((0, 0), |(most, headroom), (pool, _)| {
                (most.max(pool.max_octets), headroom.max(pool.headroom_max_octets))
            });
            prop_assert!(queue.ingress_shared_max_octets <= most && queue.ingress_headroom_max_octets <= headroom);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    #[test]
    fn where_a_run_is_cut_changes_nothing(network in random_network().prop_flat_map(pooled), cut in 0u64..END.0) {
        let whole = run(&network, Instant(0), &[END]);
        prop_assert_eq!(&whole, &run(&network, Instant(0), &[Instant(cut), END]));
    }

    /// A pool that learns of departures when it has to gives the same as one that sees each at once, as under flow control.
    #[test]
    fn a_pool_may_learn_late_of_departures(network in random_network().prop_flat_map(pooled), cut in 0u64..END.0) {
        let nobody_stops = pfc(Vec::new(), vec![None; network.ports.len()], 1, Vec::new());
        let outcomes = [None, Some(nobody_stops)].map(|pfc| {
            let mut network = network.clone();
            network.pfc = pfc;
            let mut outcome = run(&network, Instant(cut), &[END]);
            // The end of each transmission is an event there.
            outcome.totals.events = 0;
            // Priority groups are read where there is flow control.
            for queue in &mut outcome.queues {
                (queue.ingress_shared_max_octets, queue.ingress_headroom_max_octets) = (0, 0);
            }
            outcome
        });
        prop_assert_eq!(&outcomes[0], &outcomes[1]);
    }

    /// With the headroom of `pfc::headroom_in_cells` in the pool, for each line, no frame of a lossless priority is lost, wherever the threshold is.
    #[test]
    fn with_headroom_in_the_pool_no_frame_is_lost(
        sources in prop::collection::vec((400u64..10_000, 0u64..20_000, 64u16..3000), 2..9),
        (receiver, size, alpha) in (400u64..5_000, 3000u64..100_000, 0.01..4.0),
        (cell, response) in (prop_oneof![Just(1u16), 2u16..300], 0u64..3_000_000),
    ) {
        let n = sources.len();
        let mut b = Builder::new(n + 1, 1);
        for &(rate, latency, _) in &sources {
            let host = b.network.ports.len() / 2;
            b.link(host, n + 1, BitRate(rate * 1_000_000), Duration(latency * 1000), ROOMY);
        }
        b.link(n, n + 1, BitRate(receiver * 1_000_000), US, ROOMY);
        for (source, &(_, _, frame)) in sources.iter().enumerate() {
            b.flow(&[source, n + 1, n]).frame = frame;
        }
        let longest = sources.iter().map(|(_, _, frame)| *frame).max().unwrap_or(0);
        let responses = vec![Duration(response); b.network.ports.len()];
        let reaches = b.network.reaches(0, longest, &responses);
        let lines: Vec<(PortId, Octets)> = (0..).map(PortId).zip(&reaches)
            .filter_map(|(port, reach)| Some((port, headroom_in_cells(reach.as_ref()?, cell)))).collect();
        let ingress: Vec<Option<Ingress>> = b.network.ports.iter().zip(&reaches).map(|(port, reach)| {
            let reach = reach.as_ref().filter(|_| port.node.index() < n)?;
            let xoff = 50_000_000;
            Some(Ingress { buffer: Octets(xoff + headroom(reach).0), xoff: Octets(xoff), xon: Octets(xoff - 3000) })
        }).collect();
        let of_lines = lines.iter().filter(|(line, _)| ingress[line.index()].is_some()).map(|(_, room)| room.0).sum();
        b.network.pfc = Some(pfc(vec![0], ingress, u16::MAX, responses));
        let mut pool = pool(&b.network, n + 1, size, Share::FREE);
        (pool.cell, pool.headroom, pool.lines) = (cell, Octets(of_lines), lines);
        pool.ingress = vec![dynamic(alpha); pool.priorities.len()];
        b.network.pools = vec![pool];
        let outcome = run(&b.network, Instant(0), &[END]);
        prop_assert_eq!(outcome.totals.frames_dropped, 0);
        prop_assert!(outcome.totals.pause_frames > 0 || outcome.pools[0].max_octets < size);
    }
}
