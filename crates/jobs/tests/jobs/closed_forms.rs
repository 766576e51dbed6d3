//! Collectives on an idle network take the time of their closed forms.

use penstock_jobs::{Algorithm, Collective, Kind, Level, Local, Settings};

use crate::toy::{one, time_ps};

/// 1 us.
const LATENCY_PS: u64 = 1_000_000;
/// 100 Gb/s.
const OCTET_PS: u64 = 80;

fn run(ranks: u32, collective: Collective) -> u64 {
    time_ps(one(ranks, collective), LATENCY_PS, OCTET_PS, Settings::default())
}

/// Steps of messages of `octets` each.
fn steps(count: u64, octets: u64) -> u64 {
    count * (LATENCY_PS + octets * OCTET_PS)
}

/// Sizes of 1 KiB to 1 GiB, all divisible by 1024 ranks.
const SIZES: [u64; 4] = [1 << 10, 1 << 15, 1 << 20, 1 << 30];
const POWERS: [u32; 7] = [2, 4, 8, 16, 64, 256, 1024];

#[test]
fn rings_take_their_steps() {
    for n in POWERS {
        for size in SIZES {
            // Two million messages each: two sizes are enough.
            if n == 1024 && ![1 << 10, 1 << 30].contains(&size) {
                continue;
            }
            let (ranks, part) = (u64::from(n), size / u64::from(n));
            let new = |kind| Collective::new(kind, size, Algorithm::Ring);
            assert_eq!(run(n, new(Kind::AllReduce)), steps(2 * (ranks - 1), part), "{n} ranks, {size} octets");
            if n <= 64 {
                assert_eq!(run(n, new(Kind::ReduceScatter)), steps(ranks - 1, part));
                assert_eq!(run(n, new(Kind::AllGather)), steps(ranks - 1, part));
                assert_eq!(run(n, new(Kind::Broadcast { root: n / 2 })), steps(ranks - 1, size));
                assert_eq!(run(n, new(Kind::Reduce { root: n / 2 })), steps(ranks - 1, size));
            }
        }
    }
}

#[test]
fn a_ring_of_any_size_takes_its_steps() {
    for n in [3, 5, 6, 7, 9, 15, 31, 33, 100] {
        let all_reduce = Collective::new(Kind::AllReduce, 1_000 * u64::from(n), Algorithm::Ring);
        assert_eq!(run(n, all_reduce), steps(2 * (u64::from(n) - 1), 1_000));
    }
}

#[test]
fn halving_doubling_takes_a_logarithm_of_latencies() {
    for n in POWERS {
        for size in SIZES {
            let all_reduce = Collective::new(Kind::AllReduce, size, Algorithm::HalvingDoubling);
            let octets = 2 * (size - size / u64::from(n));
            let expected = 2 * u64::from(n.ilog2()) * LATENCY_PS + octets * OCTET_PS;
            assert_eq!(run(n, all_reduce), expected, "{n} ranks, {size} octets");
        }
    }
}

#[test]
fn exchanges_take_one_latency_or_one_a_partner() {
    for n in POWERS {
        for size in SIZES {
            // A million messages each: two sizes are enough.
            if n == 1024 && ![1 << 10, 1 << 30].contains(&size) {
                continue;
            }
            let (others, part) = (u64::from(n) - 1, size / u64::from(n));
            let new = |algorithm| Collective::new(Kind::AllToAll, size, algorithm);
            assert_eq!(run(n, new(Algorithm::Direct)), LATENCY_PS + others * part * OCTET_PS, "{n} ranks, {size}");
            assert_eq!(run(n, new(Algorithm::Pairwise)), steps(others, part), "{n} ranks, {size}");
        }
    }
    // 9 ranks exchange with those before and after them.
    assert_eq!(run(9, Collective::new(Kind::AllToAll, 9_000, Algorithm::Pairwise)), steps(8, 1_000));
}

#[test]
fn a_barrier_takes_the_latencies_of_its_algorithm() {
    for n in POWERS {
        let latencies = |algorithm| run(n, Collective::new(Kind::Barrier, 7, algorithm)) / LATENCY_PS;
        let levels = u64::from(n.ilog2());
        assert_eq!(latencies(Algorithm::Ring), 2 * (u64::from(n) - 1));
        assert_eq!(latencies(Algorithm::HalvingDoubling), 2 * levels);
        // From the deepest leaf up to the root, and down again.
        assert_eq!(latencies(Algorithm::DoubleTree), 2 * levels);
        assert_eq!(latencies(Algorithm::Direct), 2);
    }
}

#[test]
fn a_double_tree_takes_its_levels() {
    for n in POWERS {
        for size in SIZES {
            let time_ps = run(n, Collective::new(Kind::AllReduce, size, Algorithm::DoubleTree));
            let levels = u64::from(n.ilog2());
            // At each level of either tree a parent takes two halves of its children; the root has one child.
            let expected = 2 * levels * LATENCY_PS + (2 * levels - 1) * size * OCTET_PS;
            // Where a message takes as long as a latency, the trees' messages meet at ports.
            let percent = if size == 1 << 15 { 4 } else { 1 };
            assert!(time_ps.abs_diff(expected) * 100 <= expected * percent, "{n} {size}: {time_ps} {expected}");
        }
    }
}

#[test]
fn chunks_follow_each_other_through_a_double_tree() {
    // A parent gets a half from each of its two children and one from its parent. It is a leaf of the other tree, from
    // which it gets the other half. That is twice the size at each port, and the first chunk's time through the levels.
    for n in POWERS.into_iter().filter(|&n| n > 2 && n < 1024) {
        let size = 1 << 30;
        let tree = Collective { chunks: 64, ..Collective::new(Kind::AllReduce, size, Algorithm::DoubleTree) };
        let octets = run(n, tree) as f64 / (size * OCTET_PS) as f64;
        let levels = f64::from(n.ilog2());
        assert!((2.0..2.0 + (2.0 * levels - 1.0) / 64.0).contains(&octets), "{n} ranks: {octets} times the size");
    }
}

#[test]
fn chunks_follow_each_other_along_a_chain() {
    // 15 hops for the first of 32 chunks; the others arrive one after another. No window: 31 more chunks.
    let chain = Collective {
        chunks: 32,
        in_flight: 0,
        ..Collective::new(Kind::Broadcast { root: 3 }, 32_000, Algorithm::Ring)
    };
    assert_eq!(run(16, chain.clone()), steps(15, 1_000) + 31 * 1_000 * OCTET_PS);
    // One in flight at a time: each chunk waits for the arrival of the one before.
    assert_eq!(run(16, Collective { in_flight: 1, ..chain.clone() }), steps(15, 1_000) + steps(31, 1_000));
    // Two: the 31st chunk starts after 15 arrivals, the 32nd right behind it.
    assert_eq!(run(16, Collective { in_flight: 2, ..chain }), steps(15, 1_000) + steps(15, 1_000) + 1_000 * OCTET_PS);
}

#[test]
fn the_latency_of_steps_comes_before_each_message() {
    let ring = Collective { step_latency_ps: 7, ..Collective::new(Kind::AllReduce, 8_000, Algorithm::Ring) };
    assert_eq!(run(8, ring), steps(14, 1_000) + 14 * 7);
}

#[test]
fn a_hierarchy_takes_the_times_of_its_levels() {
    // 4 blocks of 8: rings inside with an eighth, rings across with a quarter of that.
    let levels = vec![Level { members: 8, algorithm: Algorithm::Ring }];
    let all_reduce = Collective { levels, ..Collective::new(Kind::AllReduce, 32_000, Algorithm::Ring) };
    assert_eq!(run(32, all_reduce.clone()), steps(7, 4_000) + steps(6, 1_000) + steps(7, 4_000));
    // Blocks are hosts with a link of 1 ps an octet and 10 ns.
    let host_of = (0..32).map(|rank| rank / 8).collect();
    let local = Local { rate_bps: 8_000_000_000_000, latency_ps: 10_000 };
    let graph = one(32, all_reduce);
    let settings = Settings { host_of, local, ..Settings::default() };
    assert_eq!(time_ps(graph, LATENCY_PS, OCTET_PS, settings), 2 * 7 * (10_000 + 4_000) + steps(6, 1_000));
}
