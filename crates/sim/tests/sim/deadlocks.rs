//! Deadlocks of priority flow control are found and named, and the watchdog ends them.

use crate::common::{Looking, cases, lossless};
use penstock_schemes::none::NoControl;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::{Full, Outcome, Sim};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const INGRESS: Ingress = Ingress { buffer: Octets(30_000), xoff: Octets(15_000), xon: Octets(12_000) };
const WATCHDOG: Watchdog = Watchdog {
    after: Duration(1_000_000_000),
    restoration: Duration(500_000_000),
    poll: Duration(0),
    action: Action::Drop,
};

fn ms(n: u64) -> Instant {
    Instant(n * 1_000_000_000)
}

fn run(network: &Network, cuts: &[Instant]) -> Outcome {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let mut sim = Sim::<NoControl, _, Full>::new(network, &vec![config; network.priorities.len()], 1, Looking::none());
    cuts.iter().for_each(|&cut| sim.run_until(cut));
    sim.finish().0
}

/// A ring of `n` switches (nodes n .. 2n) with a host each. Each flow goes on for `far` links of the ring, so that each of these carries `far` flows at
/// its own rate.
pub(crate) fn ring(n: usize, far: usize, buffer: Octets) -> Builder {
    let mut b = Builder::new(n, n);
    for host in 0..n {
        b.link(host, n + host, GBPS, US, buffer);
    }
    for switch in 0..n {
        b.link(n + switch, n + (switch + 1) % n, GBPS, US, buffer);
    }
    for host in 0..n {
        let switches = (0..=far).map(|step| n + (host + step) % n);
        let path: Vec<usize> = [host].into_iter().chain(switches).chain([(host + far) % n]).collect();
        b.flow(&path);
    }
    b
}

pub(crate) fn stopping(mut b: Builder, watchdog: Option<Watchdog>) -> Builder {
    lossless(&mut b.network, vec![0], INGRESS);
    b.network.pfc.as_mut().expect("just set").watch(watchdog);
    b
}

#[test]
fn a_ring_that_stands_still_is_found_and_named() {
    for n in 3..6 {
        let b = stopping(ring(n, 2, Octets(100_000)), None);
        let outcome = run(&b.network, &[ms(20)]);
        let [deadlock] = &outcome.deadlocks[..] else { panic!("{n} switches: {:?}", outcome.deadlocks) };
        let ring: Vec<QueueId> =
            (0..n).map(|switch| b.network.queue(b.port(n + switch, n + (switch + 1) % n), 0)).collect();
        assert_eq!((&deadlock.cycle, deadlock.ended), (&ring, None), "{n} switches");
        // Since then nothing moves: the frames under way have arrived a link later, those in the last switch aside.
        assert!(deadlock.since < ms(10), "{n} switches: {}", deadlock.since.as_seconds());
        let delivered = |until: Instant| run(&b.network, &[until]).totals.frames_delivered;
        let begin = delivered(deadlock.since);
        let rest = delivered(ms(20)) - delivered(deadlock.since + Duration::from_ms(1));
        assert_eq!((begin > 0, rest, outcome.totals.frames_dropped), (true, 0, 0), "{n} switches");
        // Before the last stop there is none.
        assert_eq!(run(&b.network, &[deadlock.since]).deadlocks, []);
        assert_eq!(run(&b.network, &[deadlock.since + Duration(1)]).deadlocks, outcome.deadlocks);
    }
}

#[test]
fn without_flow_control_there_is_none() {
    let mut b = ring(3, 2, Octets(20_000));
    // Greedy sources in phase would take every place that becomes free, and leave none to the frames of the ring.
    for flow in &mut b.network.flows {
        (flow.traffic, flow.excess) = (Traffic::Poisson(BitRate(800_000_000)), Excess::Discard);
    }
    let delivered = |until: Instant| {
        let outcome = run(&b.network, &[until]);
        assert_eq!(outcome.deadlocks, []);
        assert!(outcome.totals.frames_dropped > 0);
        outcome.totals.frames_delivered
    };
    let (half, whole) = (delivered(ms(10)), delivered(ms(20)));
    assert!(half > 500 && whole > half + 500, "{half} and {whole} frames");
}

/// Flows of one link each share nothing: no switch waits for the next.
#[test]
fn a_ring_without_a_cycle_of_buffers_has_none() {
    let b = stopping(ring(4, 1, Octets(100_000)), None);
    assert_eq!(run(&b.network, &[ms(20)]).deadlocks, []);
}

#[test]
fn the_watchdog_ends_it() {
    let still = run(&stopping(ring(3, 2, Octets(100_000)), None).network, &[ms(20)]);
    let since = still.deadlocks[0].since;
    for (action, drops) in [(Action::Drop, true), (Action::Forward, false)] {
        let b = stopping(ring(3, 2, Octets(100_000)), Some(Watchdog { action, ..WATCHDOG }));
        let outcome = run(&b.network, &[ms(20)]);
        let first = &outcome.deadlocks[0];
        assert_eq!((&first.cycle, first.since), (&still.deadlocks[0].cycle, since));
        // The queue that was stopped first has been so for a millisecond: not later than that after the last one.
        let ended = first.ended.expect("the watchdog broke it");
        assert!(ended > since && ended <= since + WATCHDOG.after, "{}", ended.as_seconds());
        let totals = &outcome.totals;
        assert!(totals.watchdog_fired > 0, "{totals:?}");
        // Where all send at once, the ring turns, and each finds the room that the one before it has left.
        assert_eq!((totals.watchdog_dropped > 0, totals.frames_dropped > 0), (drops, drops), "{totals:?}");
        assert!(totals.frames_delivered > 4 * still.totals.frames_delivered, "{totals:?}");
        assert!(still.totals.watchdog_fired == 0 && still.totals.watchdog_dropped == 0);
    }
}

/// The chain of `pfc.rs`, with a switch for the source: its port stops at 75 us and goes on at 134 us, after 59.5 us.
#[test]
fn the_watchdog_waits_for_its_time() {
    let chain = |after: u64| {
        let mut b = Builder::new(2, 2);
        b.link(0, 2, GBPS, Duration(0), Octets(100_000));
        b.link(2, 3, GBPS, US, Octets(100_000));
        b.link(1, 3, BitRate(500_000_000), US, Octets(100_000));
        b.flow(&[0, 2, 3, 1]);
        lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
        let watchdog = Watchdog {
            after: Duration(after),
            restoration: Duration(1_000_000_000),
            poll: Duration(0),
            action: Action::Forward,
        };
        b.network.pfc.as_mut().expect("just set").watch(Some(watchdog));
        let queue = b.network.queue(b.port(2, 3), 0).index();
        let outcome = run(&b.network, &[Instant(160_000_000)]);
        (outcome.totals.watchdog_fired, outcome.queues[queue].paused, outcome.deadlocks.len())
    };
    // Twelve microseconds later than in `pfc.rs`, for the path through the first switch; no response time.
    let (fired, paused, deadlocks) = chain(1_000_000_000);
    assert_eq!((fired, deadlocks), (0, 0));
    assert!(paused >= Duration(50_000_000), "{paused:?}");
    // Stopped for just as long as the watchdog waits, and no deadlock: it fires all the same.
    assert_eq!(chain(20_000_000), (1, Duration(20_000_000), 0));
}

/// A receiver that takes next to nothing (1 kb/s) stops the switch before it, and that one the source: a storm. Pause frames come each
/// 5.12 us for as long as it lasts. A victim goes from the same source to another host of the first switch. Gives how often the watchdog
/// acted, and the octets of the victim that arrive in each of ten milliseconds.
fn storm(watchdog: Watchdog, ends: Option<Instant>) -> (u64, Vec<u64>) {
    let mut b = Builder::new(3, 2);
    b.link(0, 3, GBPS, US, Octets(100_000));
    b.link(1, 3, GBPS, US, Octets(100_000));
    b.link(3, 4, GBPS, US, Octets(100_000));
    b.link(2, 4, BitRate(1000), US, Octets(100_000));
    b.flow(&[0, 3, 4, 2]);
    b.flow(&[0, 3, 1]);
    lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
    let pfc = b.network.pfc.as_mut().expect("just set");
    pfc.quanta = 20;
    pfc.watch(Some(watchdog));
    // The path back breaks: no pause frame comes any more.
    let port = b.port(4, 3);
    b.network.changes = ends.map(|at| Change { at, port, event: PortEvent::Down }).into_iter().collect();
    let mut fired = 0;
    let mut octets = vec![0];
    for until in 1..=10 {
        let outcome = run(&b.network, &[ms(until)]);
        fired = outcome.totals.watchdog_fired;
        octets.push(outcome.flows[1].frames_delivered * 1500);
    }
    (fired, octets.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

/// Detection 200 us, restoration 400 us. The time without pause frames never comes, so the queue is stopped once, and from then on the
/// victim has its half of the source's line (62 500 octets a millisecond) or more.
#[test]
fn a_storm_that_goes_on_stops_the_fabric_once() {
    for (action, poll) in [(Action::Drop, 0), (Action::Drop, 100_000_000), (Action::Forward, 0)] {
        let us = |n: u64| Duration(n * 1_000_000);
        let watchdog = Watchdog { after: us(200), restoration: us(400), poll: Duration(poll), action };
        let (fired, octets) = storm(watchdog, None);
        if action == Action::Drop {
            assert_eq!(fired, 1, "{octets:?}");
            assert!(octets[1..].iter().all(|&octets| octets > 61_000), "{octets:?}");
        }
        // The storm ends at 5 ms: the queue obeys again 400 us later, and nobody stops it any more.
        assert_eq!(storm(watchdog, Some(ms(5))).0, fired);
    }
}

/// Stopped from 130 us on for 200 us, by looks each 100 us. The look at 200 us is the first that finds it stopped, that at 400 us has
/// found it so for 200 us. Without looks it would be 330 us.
#[test]
fn the_watchdog_counts_whole_looks() {
    let chain = |poll: u64| {
        let watchdog =
            Watchdog { after: Duration(200_000_000), restoration: US, poll: Duration(poll), action: Action::Forward };
        let mut b = Builder::new(2, 2);
        b.link(0, 2, GBPS, Duration(0), Octets(100_000));
        b.link(2, 3, GBPS, Duration(0), Octets(100_000));
        b.link(1, 3, BitRate(1000), Duration(0), Octets(100_000));
        b.flow(&[0, 2, 3, 1]).start = Instant(58_000_000 - 512_000);
        lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
        b.network.pfc.as_mut().expect("just set").watch(Some(watchdog));
        let queue = b.network.queue(b.port(2, 3), 0).index();
        run(&b.network, &[Instant(450_000_000)]).queues[queue].paused
    };
    // The fourth frame is there 12 + 4 x 12 us after the start, the pause frame 0.512 us and what is left of a transmission later.
    assert_eq!(chain(0), Duration(200_000_000));
    let by_looks = chain(100_000_000);
    assert!(by_looks.0 % 100_000_000 != 0 && by_looks > Duration(200_000_000), "{by_looks:?}");
}

/// The chain of `the_watchdog_waits_for_its_time`, whose queue is stopped and let go again and again: with "alert" everything goes on as
/// without a watchdog. Each stop is a storm where 1 us without a pause frame ends one, and all of them are one storm where it takes 1 ms.
#[test]
fn an_alert_counts_storms_and_does_nothing_else() {
    let chain = |watchdog: Option<Watchdog>| {
        let mut b = Builder::new(2, 2);
        b.link(0, 2, GBPS, Duration(0), Octets(100_000));
        b.link(2, 3, GBPS, US, Octets(100_000));
        b.link(1, 3, BitRate(500_000_000), US, Octets(100_000));
        b.flow(&[0, 2, 3, 1]);
        lossless(&mut b.network, vec![0], Ingress { buffer: Octets(20_000), xoff: Octets(6000), xon: Octets(3000) });
        b.network.pfc.as_mut().expect("just set").watch(watchdog);
        let queue = b.network.queue(b.port(2, 3), 0).index();
        let mut outcome = run(&b.network, &[ms(2)]);
        outcome.totals.events = 0;
        (std::mem::take(&mut outcome.totals.watchdog_fired), outcome.queues[queue].stops, outcome)
    };
    let alert = |restoration: Duration| {
        let after = Duration(20_000_000);
        Some(Watchdog { after, restoration, poll: Duration(0), action: Action::Alert })
    };
    let (_, stops, without) = chain(None);
    assert!(stops > 10 && without.totals.frames_dropped == 0, "{stops}");
    for (restoration, storms) in [(US, stops), (Duration::from_ms(1), 1)] {
        assert_eq!(chain(alert(restoration)), (storms, stops, without.clone()));
    }
    // A storm that lasts is one, and the victim gets nothing more.
    let watchdog = Watchdog { after: Duration::from_us(200), ..alert(Duration::from_us(400)).expect("just made") };
    let (fired, octets) = storm(watchdog, None);
    assert_eq!((fired, &octets[1..]), (1, &[0; 9][..]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    /// Frames are conserved (`finish` checks it) and a run can be cut anywhere, however often the watchdog acts.
    #[test]
    fn the_watchdog_conserves_frames(
        (n, far) in (3usize..6).prop_flat_map(|n| (Just(n), 1..n)),
        (after, restoration) in (1u64..2_000_000_000, 1u64..500_000_000),
        action in prop_oneof![Just(Action::Drop), Just(Action::Forward), Just(Action::Alert)],
        poll in prop_oneof![Just(0), 1u64..300_000_000],
        (quanta, pooled, in_service) in (prop_oneof![20u16..400, Just(u16::MAX)], any::<bool>(), any::<bool>()),
        trims in any::<bool>(),
        cut in 0u64..8_000_000_000,
    ) {
        let watchdog = Watchdog { after: Duration(after), restoration: Duration(restoration), poll: Duration(poll), action };
        let mut b = stopping(ring(n, far, Octets(100_000)), Some(watchdog));
        b.network.pfc.as_mut().expect("just set").quanta = quanta;
        b.network.in_service_counts = in_service;
        b.network.trimmed = if trims { vec![0] } else { Vec::new() };
        if pooled {
            b.network.pools = (n..2 * n).map(|node| {
                let mut pool = Pool::new(NodeId(node as u32), vec![0], Octets(60_000));
                (pool.cell, pool.headroom) = (208, Octets(30_000));
                pool.ingress = vec![Share { reserve: Octets(1500), alpha: Some(0.25) }; pool.priorities.len()];
                pool
            }).collect();
        }
        let whole = run(&b.network, &[ms(8)]);
        prop_assert_eq!(&whole, &run(&b.network, &[Instant(cut), ms(8)]));
        // A queue that is drained trims nothing.
        prop_assert!(whole.totals.watchdog_dropped <= whole.totals.frames_dropped - whole.totals.frames_trimmed);
        for deadlock in &whole.deadlocks {
            prop_assert!(deadlock.cycle.len() > 1 && deadlock.ended.is_none_or(|ended| ended > deadlock.since));
        }
        if far == 1 {
            prop_assert_eq!(&whole.deadlocks, &[]);
        }
    }
}
