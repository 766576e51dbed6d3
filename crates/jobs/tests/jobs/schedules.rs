//! The messages of collectives: octets of each member, who depends on whom, NCCL's trees.

use penstock_jobs::schedule::{Schedule, double_tree, part};
use penstock_jobs::{Algorithm, Collective, Kind, Level};
use proptest::prelude::*;

/// 2 to 33, 64 and 128 members.
fn sizes() -> impl Iterator<Item = u32> {
    (2..=33).chain([64, 128])
}

/// The octets that each member sends and receives.
fn octets(schedule: &Schedule, members: u32) -> (Vec<u64>, Vec<u64>) {
    let (mut sent, mut received) = (vec![0; members as usize], vec![0; members as usize]);
    for message in schedule.messages() {
        sent[message.from as usize] += message.octets;
        received[message.to as usize] += message.octets;
    }
    (sent, received)
}

fn schedule(kind: Kind, octets: u64, algorithm: Algorithm, members: u32) -> Schedule {
    let collective = Collective::new(kind, octets, algorithm);
    collective.check(members).expect("a collective that fits");
    Schedule::new(&collective, members).expect("a schedule of less than 2^32 messages")
}

/// For each member whether its result depends on each other one's data: bits.
fn knowledge(schedule: &Schedule, members: u32) -> Vec<u128> {
    let mut waits = schedule.waits().to_vec();
    // What a message carries at most: what its sender knows by those that it waits for.
    let mut carried: Vec<u128> = schedule.messages().iter().map(|message| 1 << message.from).collect();
    let mut known: Vec<u128> = (0..members).map(|member| 1 << member).collect();
    let mut ready: Vec<u32> = (0..waits.len() as u32).filter(|&message| waits[message as usize] == 0).collect();
    let mut ended = 0;
    while let Some(message) = ready.pop() {
        ended += 1;
        known[schedule.messages()[message as usize].to as usize] |= carried[message as usize];
        for &next in schedule.waiting_for(message) {
            let awaited = schedule.messages()[message as usize];
            let sender = schedule.messages()[next as usize].from;
            assert!(awaited.to == sender || awaited.from == sender, "a message waits for one of its sender's");
            if awaited.to == sender {
                carried[next as usize] |= carried[message as usize];
            }
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    assert_eq!(ended, waits.len(), "no message waits for ever");
    known
}

#[test]
fn a_ring_sends_all_parts_but_one_twice() {
    for n in sizes().chain([1024]) {
        // Divisible: 2 (n - 1) / n of S, to the octet.
        let size = 1_000 * u64::from(n);
        let (sent, received) = octets(&schedule(Kind::AllReduce, size, Algorithm::Ring, n), n);
        assert_eq!(sent, vec![2 * (u64::from(n) - 1) * 1_000; n as usize]);
        assert_eq!(received, sent);
    }
}

#[test]
fn eight_ranks_send_a_mebibyte_in_fourteen_steps() {
    // The trace of a ring of others: 14 messages of 131 072 octets, 1 835 008 octets a rank.
    let ring = schedule(Kind::AllReduce, 1 << 20, Algorithm::Ring, 8);
    assert_eq!(ring.sent_by(3).len(), 14);
    assert!(ring.messages().iter().all(|message| message.octets == 131_072));
    assert_eq!(octets(&ring, 8).0, [1_835_008; 8]);
}

#[test]
fn octets_of_members_are_exact_for_sizes_that_do_not_divide() {
    let size = (1 << 33) + 12_345;
    for n in sizes() {
        let own = |member: u32| part(size, u64::from(n), u64::from(member));
        for algorithm in [Algorithm::Ring, Algorithm::Direct, Algorithm::Pairwise] {
            let (sent, received) = octets(&schedule(Kind::ReduceScatter, size, algorithm, n), n);
            for member in 0..n {
                assert_eq!(sent[member as usize], size - own(member), "{algorithm:?} of {n}");
                let passed = if algorithm == Algorithm::Ring {
                    size - own((member + n - 1) % n)
                } else {
                    u64::from(n - 1) * own(member)
                };
                assert_eq!(received[member as usize], passed, "{algorithm:?} of {n}");
            }
            let (sent, received) = octets(&schedule(Kind::AllGather, size, algorithm, n), n);
            for member in 0..n {
                let passed = if algorithm == Algorithm::Ring {
                    size - own((member + 1) % n)
                } else {
                    u64::from(n - 1) * own(member)
                };
                assert_eq!(sent[member as usize], passed, "{algorithm:?} of {n}");
                assert_eq!(received[member as usize], size - own(member), "{algorithm:?} of {n}");
            }
        }
        for algorithm in [Algorithm::Direct, Algorithm::Pairwise] {
            let (sent, received) = octets(&schedule(Kind::AllToAll, size, algorithm, n), n);
            for member in 0..n {
                assert_eq!(sent[member as usize], size - own(member));
                assert_eq!(received[member as usize], u64::from(n - 1) * own(member));
            }
        }
        for algorithm in [Algorithm::Ring, Algorithm::DoubleTree, Algorithm::Direct] {
            let root = n / 2;
            let (_, received) = octets(&schedule(Kind::Broadcast { root }, size, algorithm, n), n);
            let (sent, _) = octets(&schedule(Kind::Reduce { root }, size, algorithm, n), n);
            for member in 0..n {
                let once = if member == root { 0 } else { size };
                assert_eq!(received[member as usize], once, "broadcast by {algorithm:?} of {n}");
                assert_eq!(sent[member as usize], once, "reduce by {algorithm:?} of {n}");
            }
        }
    }
}

#[test]
fn halving_doubling_sends_what_a_ring_sends_for_powers_of_two() {
    let size = (1 << 31) + 7 * 1024;
    for n in [2, 4, 8, 16, 32, 64, 128, 1024] {
        let halving = schedule(Kind::AllReduce, size, Algorithm::HalvingDoubling, n);
        assert_eq!(halving.sent_by(1).len() as u32, 2 * n.ilog2());
        let expected = 2 * (size - size / u64::from(n));
        assert_eq!(octets(&halving, n), (vec![expected; n as usize], vec![expected; n as usize]));
    }
}

#[test]
fn halving_doubling_of_others_has_a_step_before_and_after() {
    // 6 members: 0 gives to 1 and 2 to 3; 1, 3, 4 and 5 exchange 2 * 3/4 of 4000 octets; 1 and 3 give the result back.
    let (sent, received) = octets(&schedule(Kind::AllReduce, 4_000, Algorithm::HalvingDoubling, 6), 6);
    assert_eq!(sent, [4_000, 10_000, 4_000, 10_000, 6_000, 6_000]);
    assert_eq!(received, sent);
    // Parts of 1000 octets: 0 gives all 6000 to 1, which gets 1000 for it back.
    let (sent, received) = octets(&schedule(Kind::ReduceScatter, 6_000, Algorithm::HalvingDoubling, 6), 6);
    // The four have parts of 2000, 2000, 1000, 1000: the first sends 2000 of the others' half and 2000 of its
    // neighbour's.
    assert_eq!(sent, [6_000, 2_000 + 2_000 + 1_000, 6_000, 2_000 + 2_000 + 1_000, 4_000 + 1_000, 4_000 + 1_000]);
    assert_eq!(received[0], 1_000);
}

#[test]
fn a_double_tree_sends_both_halves_up_and_down() {
    for n in sizes().chain([1024]) {
        let tree = schedule(Kind::AllReduce, 1_001, Algorithm::DoubleTree, n);
        let (sent, received) = octets(&tree, n);
        // n - 1 links of each tree, each once up and once down.
        assert_eq!(sent.iter().sum::<u64>(), 2 * (u64::from(n) - 1) * 1_001);
        assert_eq!(received.iter().sum::<u64>(), 2 * (u64::from(n) - 1) * 1_001);
        // Two octets more than twice the size: nobody has more than two children in a tree and one in the other.
        assert!(sent.iter().all(|&octets| octets <= 2 * 1_002 + 1_001), "{n}: {sent:?}");
    }
}

#[test]
fn trees_are_those_of_nccl() {
    let table = include_str!("data/nccl-double-binary-tree.csv");
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let values: Vec<i64> = row.split(',').map(|value| value.parse().expect("a number")).collect();
        let value = |member: Option<u32>| member.map_or(-1, i64::from);
        let both = double_tree(values[0] as u32, values[1] as u32);
        let ours = both.iter().flat_map(|tree| [value(tree.up), value(tree.down[0]), value(tree.down[1])]);
        assert_eq!(ours.collect::<Vec<_>>(), values[2..], "{row}");
        rows += 1;
    }
    // 2 to 33, 64 and 128 ranks.
    assert_eq!(rows, 560 + 64 + 128);
}

#[test]
fn parents_and_children_of_trees_agree() {
    for n in sizes().chain([1, 1024]) {
        let both: Vec<_> = (0..n).map(|at| double_tree(n, at)).collect();
        for tree in 0..2 {
            assert_eq!(both.iter().filter(|both| both[tree].up.is_none()).count(), 1);
            let mut children = 0;
            for at in 0..n {
                for child in both[at as usize][tree].down.into_iter().flatten() {
                    assert_eq!(both[child as usize][tree].up, Some(at));
                    children += 1;
                }
            }
            assert_eq!(children, n - 1);
        }
    }
}

#[test]
fn everyone_depends_on_everyone() {
    let all = |n: u32| u128::MAX >> (128 - n);
    for n in sizes() {
        for algorithm in Algorithm::ALL {
            for kind in [Kind::AllReduce, Kind::Barrier] {
                assert_eq!(
                    knowledge(&schedule(kind, 64, algorithm, n), n),
                    vec![all(n); n as usize],
                    "{algorithm:?} {n}"
                );
            }
            for kind in [Kind::ReduceScatter, Kind::AllGather, Kind::AllToAll] {
                let collective = Collective::new(kind, 64, algorithm);
                if collective.check(n).is_ok() {
                    let known = knowledge(&Schedule::new(&collective, n).expect("few messages"), n);
                    assert_eq!(known, vec![all(n); n as usize], "{collective:?} {n}");
                }
            }
        }
        for algorithm in [Algorithm::Ring, Algorithm::DoubleTree, Algorithm::Direct] {
            let root = n - 1;
            let known = knowledge(&schedule(Kind::Broadcast { root }, 64, algorithm, n), n);
            assert!(known.iter().all(|known| known >> root & 1 == 1));
            assert_eq!(knowledge(&schedule(Kind::Reduce { root }, 64, algorithm, n), n)[root as usize], all(n));
            // The control: of a broadcast the root learns nothing.
            assert_eq!(known[root as usize], 1 << root);
        }
    }
}

#[test]
fn a_hierarchy_sends_a_block_of_the_data_across() {
    // 4 hosts of 8: inside 2 * 7/8 of 8000 octets, across 2 * 3/4 of the eighth.
    let collective = Collective {
        levels: vec![Level { members: 8, algorithm: Algorithm::Direct }],
        ..Collective::new(Kind::AllReduce, 8_000, Algorithm::Ring)
    };
    let schedule = Schedule::new(&collective, 32).expect("few messages");
    let across: u64 =
        schedule.messages().iter().filter(|m| m.from / 8 != m.to / 8 && m.from == 5).map(|m| m.octets).sum();
    assert_eq!(across, 1_500);
    assert_eq!(octets(&schedule, 32).0, [14_000 + 1_500; 32]);
    assert_eq!(knowledge(&schedule, 32), [u128::MAX >> 96; 32]);
}

#[test]
fn an_exchange_over_rails_leaves_a_host_once() {
    // 2 hosts of 3, 6 octets a pair: a member sends 12 to each of its host, and 18 over its rail.
    let collective = Collective {
        levels: vec![Level { members: 3, algorithm: Algorithm::Direct }],
        ..Collective::new(Kind::AllToAll, 36, Algorithm::Pairwise)
    };
    let schedule = Schedule::new(&collective, 6).expect("few messages");
    assert_eq!(octets(&schedule, 6), (vec![12 + 12 + 18; 6], vec![12 + 12 + 18; 6]));
    assert!(schedule.messages().iter().all(|m| m.from / 3 == m.to / 3 || m.from % 3 == m.to % 3));
}

#[test]
fn who_sends_nothing_to_a_member_sends_no_message() {
    #[rustfmt::skip]
    let kind = Kind::AllToAllV(vec![
        9, 1, 0,
        0, 9, 2,
        3, 0, 9,
    ]);
    for algorithm in [Algorithm::Direct, Algorithm::Pairwise] {
        let exchange = schedule(kind.clone(), 0, algorithm, 3);
        assert_eq!(octets(&exchange, 3), (vec![1, 2, 3], vec![3, 1, 2]));
        assert_eq!(exchange.messages().iter().filter(|m| m.from != m.to).count(), 3);
    }
}

#[test]
fn collectives_that_do_not_fit_are_refused() {
    let refused = |collective: Collective, members| collective.check(members).expect_err("a refusal");
    let new = Collective::new;
    assert_eq!(
        refused(new(Kind::AllToAll, 1, Algorithm::Ring), 4),
        "all-to-all has no algorithm ring: one of direct, pairwise"
    );
    assert_eq!(
        refused(new(Kind::Broadcast { root: 4 }, 1, Algorithm::Ring), 4),
        "root 4 is not in the group: an index from 0 to 3"
    );
    assert_eq!(
        refused(new(Kind::AllToAllV(vec![1; 15]), 1, Algorithm::Direct), 4),
        "15 sizes for 4 members: 16, row by row"
    );
    let levels = |members, algorithm| Collective {
        levels: vec![Level { members, algorithm }],
        ..new(Kind::AllReduce, 1, Algorithm::DoubleTree)
    };
    assert_eq!(refused(levels(3, Algorithm::Ring), 8), "8 members do not fill blocks of 3: a divisor of 8, at least 1");
    assert_eq!(
        refused(levels(4, Algorithm::DoubleTree), 8),
        "all-reduce has no algorithm double-tree inside of a block: one of ring, halving-doubling, direct, pairwise"
    );
    assert_eq!(levels(4, Algorithm::Ring).check(8), Ok(()));
    assert_eq!(refused(new(Kind::Barrier, 0, Algorithm::Ring), 0), "the group has no members");
    assert_eq!(
        refused(new(Kind::AllReduce, 0, Algorithm::Ring), 100_000),
        "all-reduce has some 20000000000 messages, more than 268435456: fewer members, channels or chunks, or levels"
    );
    let many = Collective { channels: u32::MAX, chunks: u32::MAX, ..new(Kind::Barrier, 0, Algorithm::DoubleTree) };
    assert!(refused(many, u32::MAX).contains("more than 268435456"));
    assert_eq!(new(Kind::AllReduce, 0, Algorithm::HalvingDoubling).check(100_000), Ok(()));
}

proptest! {
    /// Slices and levels change no sum, and everyone still depends on everyone.
    #[test]
    fn slices_and_levels_keep_sums(
        inner in 1_u32..5, middle in 1_u32..4, outer in 1_u32..6,
        size in 0_u64..1 << 40, channels in 1_u32..4, chunks in 1_u32..5, in_flight in 0_u32..3,
        algorithm in prop::sample::select(&Algorithm::ALL[..]),
        inside in prop::sample::select(vec![Algorithm::Ring, Algorithm::HalvingDoubling, Algorithm::Direct, Algorithm::Pairwise]),
    ) {
        let n = inner * middle * outer;
        let levels = vec![Level { members: inner, algorithm: inside }, Level { members: middle, algorithm: inside }];
        let flat = Collective::new(Kind::AllReduce, size, algorithm);
        let sliced = Collective { channels, chunks, in_flight, levels: levels.clone(), ..flat.clone() };
        prop_assert_eq!(sliced.check(n), Ok(()));
        let schedule = Schedule::new(&sliced, n).expect("few messages");
        prop_assert_eq!(knowledge(&schedule, n), vec![u128::MAX >> (128 - n); n as usize]);
        if !matches!(algorithm, Algorithm::HalvingDoubling) && inside != Algorithm::HalvingDoubling {
            // Without the steps for odd members every algorithm sends 2 (n - 1) S in all.
            let sent = octets(&schedule, n).0.iter().sum::<u64>();
            let direct: u64 = octets(&Schedule::new(&flat, n).expect("few messages"), n).0.iter().sum();
            prop_assert_eq!(direct, 2 * u64::from(n - 1) * size);
            prop_assert_eq!(sent, 2 * u64::from(n - 1) * size);
        }
        // Reduce-scatter and all-gather end and begin with the same parts, however they go.
        for kind in [Kind::ReduceScatter, Kind::AllGather] {
            let collective = Collective { kind, algorithm: inside, ..sliced.clone() };
            let schedule = Schedule::new(&collective, n).expect("few messages");
            prop_assert_eq!(knowledge(&schedule, n), vec![u128::MAX >> (128 - n); n as usize]);
        }
    }
}
