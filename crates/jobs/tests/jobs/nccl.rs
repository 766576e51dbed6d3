//! NCCL's cost model, with numbers worked out from its source.

use penstock_jobs::nccl::{Generation, Model, Protocol};
use penstock_jobs::{Algorithm, Kind};

/// 8 GPUs a host on NVLink, 16 channels of 20 GB/s inside and of 12.5 GB/s outside.
fn model() -> Model {
    Model::new(Generation::Hopper, 16, 20.0, 12.5)
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.expect("a time");
    assert!((value - expected).abs() < 1e-9 * expected, "{value} {expected}");
}

#[test]
fn times_are_those_of_the_source() {
    let time = |octets, how, ranks| model().time_us(&Kind::AllReduce, octets, how, ranks, 8);
    // One host: 14 steps of 0.6 us. LL has half of 320 GB/s, at most 141; 1 MB at 8 / 14 of that.
    near(
        time(1_000_000, (Algorithm::Ring, Protocol::Ll), 8),
        6.6 + 14.0 * 0.6 + 1_000_000.0 / (1000.0 * 141.0 * 8.0 / 14.0),
    );
    // 64 hosts, 512 ranks: 1022 steps, 126 of them between hosts; an overhead of 3 us is below 3.4. Plateau: 1.4.
    near(
        time(1 << 30, (Algorithm::Ring, Protocol::Simple), 512),
        (8.4 + 896.0 * 3.4 + 126.0 * 14.0) * 1.4 + (1_u64 << 30) as f64 / (1000.0 * 200.0 * 512.0 / 1022.0),
    );
    // LL: 0.6 us is below the overhead of 1 us. At most 20.4 GB/s with Intel's processors.
    near(
        time(1_024, (Algorithm::Ring, Protocol::Ll), 512),
        6.6 + 896.0 + 126.0 * 2.7 + 1_024.0 / (1000.0 * 20.4 * 512.0 / 1022.0),
    );
    // A tree of 64 hosts: chains of 7 and 6 levels, each twice. 1024 octets are 64 * 2^4: 0.9 of 200 * 0.92 / 3.8, at
    // most 20.4.
    near(
        time(1_024, (Algorithm::DoubleTree, Protocol::Ll), 512),
        6.8 + 2.0 * (7.0 * 0.6 + 6.0 * 5.0) + 1_024.0 / (1000.0 * 20.4 * 0.5 * 0.9),
    );
    // 2 hosts decide by the inside: 320 * 0.92 GB/s, of which 120 of 128. 64 MiB are 64 * 2^20: 0.9.
    near(
        time(1 << 26, (Algorithm::DoubleTree, Protocol::Ll128), 16),
        14.0 + 2.0 * (7.0 * 1.25 + 8.5) + (1 << 26) as f64 / (1000.0 * 320.0 * 0.92 * 120.0 / 128.0 * 0.5 * 0.9),
    );
    // One rank a host: a ring's steps take a tree's latency.
    near(
        model().time_us(&Kind::AllGather, 64, (Algorithm::Ring, Protocol::Ll128), 4, 1),
        14.0 + 3.0 * 8.5 + 64.0 / (1000.0 * 184.0 * 4.0 / 3.0),
    );
    near(
        model().time_us(&Kind::Broadcast { root: 0 }, 1_000_000, (Algorithm::Ring, Protocol::Simple), 16, 8),
        8.4 + 14.0 + 1_000_000.0 / (1000.0 * 320.0),
    );
}

#[test]
fn small_sizes_take_trees_and_large_ones_rings() {
    let choice = |octets, ranks| {
        let choice = model().choose(&Kind::AllReduce, octets, ranks, 8).expect("a choice");
        (choice.algorithm, choice.protocol)
    };
    assert_eq!(choice(1_024, 512), (Algorithm::DoubleTree, Protocol::Ll));
    assert_eq!(choice(1 << 34, 512), (Algorithm::Ring, Protocol::Simple));
    // In one host a tree is a chain, so that a ring has the same latency and more bandwidth.
    assert_eq!(choice(1 << 20, 8).0, Algorithm::Ring);
    let gathered = model().choose(&Kind::AllGather, 1_024, 512, 8).expect("a choice");
    assert_eq!(gathered.algorithm, Algorithm::Ring);
    assert_eq!(model().choose(&Kind::AllToAll, 1_024, 512, 8), None);
    assert_eq!(model().choose(&Kind::AllReduce, 1_024, 1, 1), None);
}

#[test]
fn a_disabled_protocol_is_not_chosen() {
    let sizes = (6..36).map(|power| 1_u64 << power);
    let chosen = |model: &Model| {
        let choices = sizes.clone().filter_map(|octets| model.choose(&Kind::AllReduce, octets, 64, 8));
        choices.filter(|choice| choice.protocol == Protocol::Ll128).count()
    };
    assert!(chosen(&model()) > 0);
    assert_eq!(chosen(&Model { ll128: false, ..model() }), 0);
}
