//! What is written and read again is the same graph.

use std::collections::BTreeMap;

use penstock_jobs::collective::{Collective, Kind};
use penstock_jobs::read::{self, File, Options, usual_collective};
use penstock_jobs::{Algorithm, Graph, GraphBuilder, Time, Work, write};
use proptest::prelude::*;

use crate::{ALL_REDUCE, RING, data, pairs};

/// What must agree: ranks, works, names, dependencies whatever their order, groups and collectives.
fn same(one: &Graph, other: &Graph) {
    let nodes = |graph: &Graph| -> Vec<_> {
        (0..graph.len()).map(|node| (graph.rank(node), graph.work(node), graph.name(node).to_string())).collect()
    };
    assert_eq!(one.ranks(), other.ranks());
    assert_eq!(nodes(one), nodes(other));
    assert_eq!(pairs(one), pairs(other));
    assert_eq!((one.groups(), one.collectives()), (other.groups(), other.collectives()));
}

fn through_goal(graph: &Graph) -> Graph {
    let text = write::goal::write(graph).expect("GOAL has all of it").text;
    read::read(&[File { name: "x", octets: text.as_bytes() }], &Options::default()).expect(&text).graph
}

/// Through both encodings of Chakra.
fn through_chakra(graph: &Graph) -> Graph {
    let json = write::chakra_json::write(graph).expect("a trace has all of it");
    same(&read_traces(graph, &json, read::chakra_json::read), graph);
    let traces = write::chakra::write(graph).expect("a trace has all of it");
    assert_eq!((&json.groups, &json.notes), (&traces.groups, &traces.notes));
    read_traces(graph, &traces, read::chakra::read)
}

type Reader = fn(&[File<'_>], &Options<'_>) -> Result<read::Imported, read::ReadError>;

fn read_traces(graph: &Graph, traces: &write::chakra::Traces, read: Reader) -> Graph {
    let names: Vec<String> = (0..traces.files.len()).map(|rank| format!("x.{rank}.et")).collect();
    let files: Vec<File<'_>> = names.iter().zip(&traces.files).map(|(name, octets)| File { name, octets }).collect();
    let groups: BTreeMap<String, Vec<u32>> =
        (0..).zip(graph.groups()).map(|(index, ranks)| (format!("{index}"), ranks.clone())).collect();
    // A file alone may be any, the more so as one without nodes is short.
    read(&files, &Options { groups: Some(&groups), ..Options::default() }).expect("it is right").graph
}

#[test]
fn files_of_others() {
    let read = |files: &[File<'_>]| read::read(files, &Options::default()).expect("it is right").graph;
    let goal = read(&[data!("goal/messages.goal")]);
    // Written by rank: rank 1 before rank 2.
    let written = write::goal::write(&goal).expect("GOAL has all of it").text;
    assert_eq!(
        written,
        "num_ranks 3\n\nrank 0 {\na: calc 8000\nb: send 80000000b to 1 tag 7\nc: recv 5000000000b from -1 tag -1\n\
         b requires a\nc irequires b\n}\n\nrank 1 {\nl1: recv 80000000b from 0 tag 7\nsend 5000000000b to 0 tag 4294967294\n\
         l2: send 0b to 1 tag 0\nl3: recv 0b from 1 tag 0\nl3 requires l1\n}\n\nrank 2 {\ncalc 5 cpu 3\n}\n"
    );
    let sorted = through_goal(&goal);
    same(&through_goal(&sorted), &sorted);
    for files in [&RING[..], &ALL_REDUCE[..]] {
        let graph = read(files);
        same(&through_chakra(&graph), &graph);
    }
    // Calls of collectives, which state no octets.
    let calls = read(&[data!("chakra/small_chakra.0.json")]);
    same(&through_chakra(&calls), &calls);
    // The nodes of a ring are those that ASTRA-sim wrote, but for comm_type, which messages have there and need not.
    let ring = write::chakra::write(&read(&RING)).expect("a trace has all of it");
    assert_eq!((ring.files.len(), ring.groups.as_str(), ring.notes.len()), (8, "", 0));
}

#[test]
fn collectives_go_to_goal_as_their_messages() {
    let read = |files: &[File<'_>]| read::read(files, &Options::default()).expect("it is right").graph;
    let expanded = read(&ALL_REDUCE).expand().expect("it can end");
    let goal = through_goal(&expanded);
    goal.check().expect("each message has its partner");
    // A ring of 4: each rank sends 2 (n - 1) / n of 1 MiB.
    let mut sent = [0; 4];
    for node in 0..goal.len() {
        if let Work::Send { octets, .. } = goal.work(node) {
            sent[goal.rank(node) as usize] += octets;
        }
    }
    assert_eq!(sent, [1_572_864; 4]);
}

#[test]
fn what_a_format_lacks_is_refused_with_the_node() {
    let one = |work: Work| {
        let mut builder = GraphBuilder::new(2);
        let group = builder.add_group(vec![0, 1]);
        let collective = builder.collective(Collective::new(Kind::AllGather, 7, Algorithm::Ring));
        let work = if let Work::Collective { .. } = work { Work::Collective { group, collective } } else { work };
        for rank in 0..2 {
            builder.add_node(rank, work, "n");
        }
        builder.finish().expect("it fits")
    };
    let drawn = one(Work::Compute { time: Time::Uniform { low_ps: 1, high_ps: 2 }, unit: 0 });
    let collective = one(Work::Collective { group: 0, collective: 0 });
    let far = one(Work::Compute { time: Time::Fixed(1), unit: 255 });
    let message = |error: write::WriteError| error.to_string();
    let goal = |graph: &Graph| message(write::goal::write(graph).expect_err("GOAL lacks it"));
    assert_eq!(goal(&drawn), "node 0 (\"n\" of rank 0): GOAL has no drawn times; give the computation a fixed time");
    assert!(goal(&collective).contains("GOAL has no collectives"));
    // 257 units at a rank: one has no cpu, as 256 is a unit and no cpu.
    let many = |units: u32| {
        let mut builder = GraphBuilder::new(1);
        for unit in 0..units {
            builder.add_node(0, Work::Compute { time: Time::Fixed(1000), unit: 2 * unit }, "n");
        }
        builder.finish().expect("it fits")
    };
    assert!(goal(&many(257)).contains("GOAL has 256 cpus, and one of them is that of delays; use fewer units"));
    // 128 of 256 even units are cpus; the last one takes the last odd cpu.
    let renumbered = write::goal::write(&many(256)).expect("each has a cpu");
    assert_eq!(renumbered.notes, ["128 computations have another cpu than their unit, as GOAL has 256"]);
    assert!(renumbered.text.contains("calc 1 cpu 255\n}"), "{}", renumbered.text);
    assert!(write::goal::write(&far).expect("it is a cpu").text.contains("n: calc 0 cpu 255\n"));
    let chakra = |graph: &Graph| message(write::chakra::write(graph).expect_err("a trace lacks it"));
    assert!(chakra(&drawn).contains("a trace has no drawn times"));
    assert!(chakra(&collective).contains("a trace has equal parts"));
    let mut builder = GraphBuilder::new(1);
    let nodes = ["a", "b"].map(|name| builder.add_node(0, Work::Delay { ps: 1500 }, name));
    builder.after_start(nodes[1], nodes[0]);
    let start = builder.finish().expect("it fits");
    assert!(chakra(&start).starts_with("node 1 (\"b\" of rank 0): a trace has no dependency on a start"));
    // Rounded, and said.
    let goal = write::goal::write(&start).expect("GOAL has starts");
    assert!(goal.text.contains("a: calc 2 cpu 255\n"), "{}", goal.text);
    assert_eq!(goal.notes.len(), 2);
}

/// A graph of up to four ranks whose nodes are in the order of their ranks; `goal` says for which format.
fn graphs(goal: bool) -> impl Strategy<Value = Graph> {
    let work = (0..6_u8, any::<u64>(), any::<u32>(), 0..4_u32, any::<bool>());
    let nodes = prop::collection::vec((0..4_u32, work), 0..24);
    let dependencies =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 0..30);
    (nodes, dependencies).prop_map(move |(mut nodes, dependencies)| {
        nodes.sort_by_key(|&(rank, _)| rank);
        let mut builder = GraphBuilder::new(4);
        let mut group = None;
        let mut added: Vec<(u32, u32)> = Vec::new();
        for (index, &(rank, (kind, number, word, peer, any))) in nodes.iter().enumerate() {
            let ps = if goal { number / 1000 * 1000 } else { number };
            let work = match kind {
                0 if !goal => Work::Delay { ps },
                0 | 1 => Work::Compute { time: Time::Fixed(ps), unit: word % 255 },
                2 => Work::Send { to: peer, octets: number, tag: word },
                3 | 4 => Work::Receive {
                    from: Some(peer).filter(|_| any),
                    octets: number,
                    tag: Some(word).filter(|_| kind == 3),
                },
                _ if goal => Work::Send { to: peer, octets: 0, tag: 0 },
                _ => {
                    let kind =
                        [Kind::AllReduce, Kind::AllGather, Kind::Broadcast { root: 1 }, Kind::Reduce { root: 0 }]
                            [peer as usize]
                            .clone();
                    let group = *group.get_or_insert_with(|| builder.add_group(vec![0, 1, 2, 3]));
                    let collective = builder.collective(usual_collective(kind, number / 4 * 4, 4));
                    Work::Collective { group, collective }
                }
            };
            let node = builder.add_node(rank, work, &format!("n{index}"));
            added.push((rank, node));
        }
        let mut bound = std::collections::BTreeSet::new();
        for (one, other, start) in dependencies {
            if added.is_empty() {
                break;
            }
            let ((rank, node), (other_rank, other)) = (added[one.index(added.len())], added[other.index(added.len())]);
            if rank == other_rank && node > other && bound.insert((node, other)) {
                if start && goal { builder.after_start(node, other) } else { builder.after(node, other) }
            }
        }
        builder.finish().expect("all of it exists")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn goal(graph in graphs(true)) {
        same(&through_goal(&graph), &graph);
    }

    #[test]
    fn chakra(graph in graphs(false)) {
        same(&through_chakra(&graph), &graph);
    }
}
