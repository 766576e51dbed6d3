//! Files of others run by the executor take the times of their closed forms: 400 Gb/s and 500 ns a message.

use penstock_jobs::read::{self, File, Options};
use penstock_jobs::{Executor, Settings};

use crate::toy::Toy;
use crate::{ALL_REDUCE, RING, data};

const LATENCY_PS: u64 = 500_000;
const OCTET_PS: u64 = 20;

/// How long the files take, ps, and the octets that each of the ranks sends.
fn run(files: &[File<'_>]) -> (u64, u64) {
    let graph = read::read(files, &Options::default()).expect("it is right").graph;
    let ranks = graph.ranks();
    let mut toy = Toy::new(ranks, LATENCY_PS, OCTET_PS);
    let time_ps = toy.run(&mut Executor::new(graph, Settings::default()).expect("it can end"));
    (time_ps, toy.octets / u64::from(ranks))
}

/// A ring's all-reduce: 2 (n - 1) steps of an n-th.
fn all_reduce_ps(ranks: u64, octets: u64) -> u64 {
    2 * (ranks - 1) * (LATENCY_PS + octets / ranks * OCTET_PS)
}

#[test]
fn a_ring_of_messages_with_computations() {
    // A rank reduces for 7 us after each of the first seven receives.
    assert_eq!(run(&RING), (all_reduce_ps(8, 1 << 20) + 7 * 7_000_000, 1_835_008));
}

#[test]
fn a_collective_of_a_trace() {
    assert_eq!(run(&ALL_REDUCE), (all_reduce_ps(4, 1 << 20), 1_572_864));
}

#[test]
fn a_workload_of_simai() {
    // Two layers of 556 us, an all-reduce each with an update of 1 ns, and four computations of 1 ns backward.
    let time_ps = 2 * 556_000_000 + all_reduce_ps(8, 16 << 20) + all_reduce_ps(8, 64 << 20) + 2 * 1000 + 4 * 1000;
    let octets = (16 << 20) / 8 * 14 + (64 << 20) / 8 * 14;
    assert_eq!(run(&[data!("simai/microAllReduce.txt")]), (time_ps, octets));
}
