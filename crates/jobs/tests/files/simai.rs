//! SimAI's workloads: the steps of a rank, its groups, and what is refused.

use penstock_jobs::collective::Kind;
use penstock_jobs::read::{self, File, Options};
use penstock_jobs::{Graph, Time, Work};

use crate::{data, pairs, refusal, text, works};

fn compute(ns: u64) -> Work {
    Work::Compute { time: Time::Fixed(ns * 1000), unit: 0 }
}

/// The collective of a node: kind, octets, ranks.
fn collective(graph: &Graph, node: u32) -> (Kind, u64, Vec<u32>) {
    let Work::Collective { group, collective } = graph.work(node) else { panic!("node {node} is no collective") };
    let collective = &graph.collectives()[collective as usize];
    (collective.kind.clone(), collective.octets, graph.groups()[group as usize].clone())
}

#[test]
fn two_layers_of_all_reduces_are_a_chain_at_each_rank() {
    let read = read::read(&[data!("simai/microAllReduce.txt")], &Options::default()).expect("it is right");
    let graph = &read.graph;
    assert_eq!((graph.ranks(), graph.len()), (8, 80));
    // Forward: 556 us, an all-reduce, an update of 1 ns; then backward two computations of 1 ns a layer.
    let kinds = works(graph, 3);
    assert_eq!((kinds[0], kinds[2], kinds[3]), (compute(556_000), Work::Delay { ps: 1000 }, compute(556_000)));
    assert_eq!(kinds[6..], [compute(1); 4]);
    assert_eq!(collective(graph, 1), (Kind::AllReduce, 16_777_216, (0..8).collect()));
    assert_eq!(collective(graph, 4), (Kind::AllReduce, 67_108_864, (0..8).collect()));
    let chain: Vec<_> =
        (0..8).flat_map(|rank| (1..10).map(move |node| (10 * rank + node, 10 * rank + node - 1))).collect();
    assert_eq!(pairs(graph), [chain, vec![]]);
    graph.check().expect("it can end");
}

const HEADER: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8";

#[test]
fn groups_are_those_of_simai() {
    let layers = "a -1 1 ALLGATHER 8192 1 ALLTOALL_EP 5000 1 REDUCESCATTER 7000 3\n\
                  b\t-1\t1\tALLTOALL_DP_EP\t100\t1\tNONE\t0\t1\tALLREDUCE_DP_EP\t6000\t3\n";
    let read =
        text("x", &format!("{HEADER} checkpoints: 0 checkpoint_initiates: 0\n2\n{layers}")).expect("it is right");
    // Rank 5 is the second of the tensor group (4, 5), whose expert group has the tensor groups (4, 5) and (6, 7).
    let nodes: Vec<u32> = (0..read.graph.len()).filter(|&node| read.graph.rank(node) == 5).collect();
    let of_rank = |index: usize| collective(&read.graph, nodes[index]);
    assert_eq!(of_rank(1), (Kind::AllGather, 8192, vec![4, 5]));
    // A forward communication below 4096 octets has 4096.
    assert_eq!(of_rank(4), (Kind::AllToAll, 4096, vec![1, 5]));
    // Backward, b first: input without communication, weights; then a.
    assert_eq!(of_rank(8), (Kind::AllReduce, 6000, vec![1, 5]));
    assert_eq!(of_rank(11), (Kind::AllToAll, 5000, vec![5, 7]));
    assert_eq!(of_rank(14), (Kind::ReduceScatter, 7000, vec![1, 3, 5, 7]));
    assert_eq!(nodes.len(), 16);
    read.graph.check().expect("it can end");
}

#[test]
fn weights_are_communicated_beside_what_follows() {
    let content =
        format!("{HEADER}\n2\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 5000 9\nb -1 4 NONE 0 5 NONE 0 6 ALLREDUCE 5000 9\n");
    let file = File { name: "x", octets: content.as_bytes() };
    let read = read::read(&[file], &Options { passes: 2, ..Options::default() }).expect("it is right");
    // Of a pass: 0 and 1 forward; 2 input and 3 weights of b, 4 and 5 its all-reduce and update; 6 to 9 those of a.
    let first = works(&read.graph, 0);
    let computations = [first[0], first[1], first[2], first[3], first[6], first[7]];
    assert_eq!(computations, [1, 4, 5, 6, 2, 3].map(compute));
    assert_eq!((first[5], first[9]), (Work::Delay { ps: 9000 }, Work::Delay { ps: 9000 }));
    let of_rank: Vec<_> = pairs(&read.graph)[0].iter().copied().filter(|&(node, _)| node < 20).collect();
    let pass = |base: u32| {
        let own = [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 3), (7, 6), (8, 7), (9, 8)];
        own.map(|(node, other)| (base + node, base + other))
    };
    // The second pass enters a (10) after the computations of the first (7) and the update of a (9); b (11) after that
    // of b (5).
    let mut expected: Vec<_> = pass(0).into_iter().chain(pass(10)).chain([(10, 7), (10, 9), (11, 5)]).collect();
    expected.sort_unstable();
    assert_eq!(of_rank, expected);
}

#[test]
fn checkpoints_repeat_forward_steps() {
    let layer = |name: &str, ns: u64| format!("{name} -1 {ns} NONE 0 10 NONE 0 20 NONE 0 1\n");
    let layers = [layer("a", 1), layer("b", 2), layer("c", 3)].concat();
    let read =
        text("x", &format!("{HEADER} checkpoints: 2 0 1 checkpoint_initiates: 1 2\n3\n{layers}")).expect("it is right");
    // Before the backward step of c (2) the forward step of b (1) is repeated, from the last checkpoint on.
    assert_eq!(works(&read.graph, 0), [1, 2, 3, 2, 10, 20, 10, 20, 10, 20].map(compute));
    let unknown = refusal("x", &format!("{HEADER} checkpoints: 1 2 checkpoint_initiates: 1 1\n3\n{layers}"));
    assert!(unknown.starts_with("x:1: layer 1 initiates forward steps, and no checkpoint"), "{unknown}");
}

#[test]
fn wrong_fields_are_refused_with_their_line() {
    let layer = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    let with_header = |header: &str| refusal("x", &format!("HYBRID_TRANSFORMER {header}\n1\n{layer}"));
    assert_eq!(
        with_header("model_parallel_NPU_group: 3 ep: 1 all_gpus: 8"),
        "x:1: all_gpus 8, model_parallel_NPU_group 3 and ep 1 are no groups; write an all_gpus that the product of the others divides"
    );
    assert!(
        with_header("model_parallel_NPU_group: 1 all_gpus: 4294967295")
            .starts_with("x:1: all_gpus is 4294967295; write 1048576")
    );
    assert!(
        with_header("model_parallel_NPU_group: 1 all_gpus: -8")
            .starts_with("x:1: all_gpus: has \"-8\" and no whole number")
    );
    assert!(
        with_header("model_parallel_NPU_group: 1 all_gpus: 8 tp: 3")
            .starts_with("x:1: \"tp:\" is no key of the first line")
    );
    assert!(refusal("x", "MICRO\n1\n").starts_with("x:1: the policy \"MICRO\" is not read here"));
    let cases = [
        (
            format!("2\n{layer}\n\nb -1 1 ALLREDUCED 5 1 NONE 0 1 NONE 0 1\n"),
            "x:6: the communication \"ALLREDUCED\" is unknown; write NONE, or ALLREDUCE",
        ),
        (format!("2\n{layer}"), "x:4: the file ends where the name of a layer is due"),
        (format!("1\n{layer}{layer}"), "x:4: \"a\" follows the last of 1 layers"),
        (format!("0\n{layer}"), "x:2: there are 0 layers"),
        (format!("99999999999\n{layer}"), "x:2: the number of layers is due here"),
        (
            "1\na -1 x NONE 0 1 NONE 0 1 NONE 0 1\n".to_string(),
            "x:3: a time of computation in ns is due here, and not \"x\"",
        ),
        (
            "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1".to_string(),
            "x:3: the file ends at its last number, which may be cut off",
        ),
    ];
    for (content, message) in cases {
        let found = refusal("x", &format!("{HEADER}\n{content}"));
        assert!(found.starts_with(message), "{content:?} gives {found:?}");
    }
    let large =
        refusal("x", &format!("{}\n2000\n{}", HEADER.replace("all_gpus: 8", "all_gpus: 1048576"), layer.repeat(2000)));
    assert!(
        large.starts_with("x:1: 1048576 ranks would have 6291456000 nodes together, and 50000000 are the most"),
        "{large}"
    );
}
