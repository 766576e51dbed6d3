//! Chakra: files of ASTRA-sim and PyTorch, each variant of a number, and what is refused.

use std::collections::BTreeMap;

use penstock_jobs::collective::Kind;
use penstock_jobs::read::{self, File, Options};
use penstock_jobs::{Time, Work};

use crate::{ALL_REDUCE, RING, data, pairs, refusal, text, works};

#[test]
fn a_ring_of_messages_has_its_known_numbers() {
    let read = read::read(&RING, &Options::default()).expect("it is right");
    assert_eq!(read.lost, read::Lost::default());
    for rank in 0..8 {
        let works = works(&read.graph, rank);
        assert_eq!(works.len(), 35);
        let sends = works
            .iter()
            .filter(|work| matches!(work, Work::Send { to, octets: 131_072, tag: 0 } if *to == (rank + 1) % 8));
        let from = Some((rank + 7) % 8);
        let receives = works.iter().filter(|&&work| work == Work::Receive { from, octets: 131_072, tag: Some(0) });
        let computes =
            works.iter().filter(|work| matches!(work, Work::Compute { time: Time::Fixed(7_000_000), unit: 1 }));
        assert_eq!((sends.count(), receives.count(), computes.count()), (14, 14, 7));
        let sent: u64 = works.iter().map(|work| if let Work::Send { octets, .. } = work { *octets } else { 0 }).sum();
        // 2 (n - 1) / n of 1 MiB.
        assert_eq!(sent, 1_835_008);
    }
    // A chain at each rank.
    let chain: Vec<_> =
        (0..8).flat_map(|rank| (1..35).map(move |node| (35 * rank + node, 35 * rank + node - 1))).collect();
    assert_eq!(pairs(&read.graph), [chain, vec![]]);
    read.graph.check().expect("it can end");
}

#[test]
fn zeros_that_an_encoder_leaves_out_are_read() {
    let read = read::read(&ALL_REDUCE, &Options::default()).expect("it is right");
    assert_eq!(read.graph.len(), 4);
    let [collective] = read.graph.collectives() else { panic!("one collective is shared") };
    assert_eq!((&collective.kind, collective.octets), (&Kind::AllReduce, 1 << 20));
    assert_eq!(read.graph.groups(), [[0, 1, 2, 3]]);
    // Without comm_type, too: the 15 octets of the attribute are cut out of the node.
    let without: Vec<Vec<u8>> = ALL_REDUCE
        .iter()
        .map(|file| {
            let at = file.octets.windows(9).position(|part| part == b"comm_type").expect("it is there") - 4;
            let mut octets = [&file.octets[..at], &file.octets[at + 15..]].concat();
            octets[8] -= 15;
            octets
        })
        .collect();
    let files: Vec<File<'_>> =
        ALL_REDUCE.iter().zip(&without).map(|(file, octets)| File { name: file.name, octets }).collect();
    assert_eq!(read::read(&files, &Options::default()).expect("it is right").graph, read.graph);
}

#[test]
fn files_are_ordered_by_the_ranks_of_their_names() {
    let mut files = ALL_REDUCE;
    files.reverse();
    let right = read::read(&ALL_REDUCE, &Options::default()).expect("it is right").graph;
    assert_eq!(read::read(&files, &Options::default()).expect("it is right").graph, right);
    let refused = |files: &[File<'_>]| read::read(files, &Options::default()).expect_err("it is wrong").to_string();
    let missing = refused(&files[..3]);
    assert!(missing.starts_with("chakra/all_reduce_4_ranks_1MB.1.et: there is no file of rank 0"), "{missing}");
    let twice = refused(&[files[0], files[0]]);
    assert!(twice.contains("is a file of rank 3 too"), "{twice}");
    let unnamed = refused(&[files[0], File { name: "trace.et", ..files[1] }]);
    assert_eq!(unnamed, "trace.et: the name has no rank; write one before its ending, as in trace.0.et");
    // A rank that a message names and that has no file.
    let alone = refused(&RING[..7]);
    assert!(alone.starts_with("chakra/ring_8_ranks_1MB.0.et: octet ") && alone.contains("comm_src is 7"), "{alone}");
}

/// A field of a message: a varint.
fn varint(field: u64, mut value: u64) -> Vec<u8> {
    let mut octets = vec![];
    for number in [field << 3, value] {
        value = number;
        while value >= 0x80 {
            octets.push(value as u8 | 0x80);
            value >>= 7;
        }
        octets.push(value as u8);
    }
    octets
}

/// A field of a message: octets, fewer than 128.
fn part(field: u64, content: &[u8]) -> Vec<u8> {
    let key = varint(field, 0);
    let key = &key[..key.len() - 1];
    let mut octets = key.to_vec();
    *octets.first_mut().expect("a key") |= 2;
    octets.push(content.len() as u8);
    octets.extend(content);
    octets
}

/// A field of fixed width.
fn fixed(field: u64, wire: u8, content: &[u8]) -> Vec<u8> {
    let key = varint(field, 0);
    let mut octets = key[..key.len() - 1].to_vec();
    *octets.first_mut().expect("a key") |= wire;
    octets.extend(content);
    octets
}

fn attribute(name: &str, value: Vec<u8>) -> Vec<u8> {
    part(10, &[part(1, name.as_bytes()), value].concat())
}

/// A file of these nodes.
fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let mut octets = vec![0];
    for node in nodes {
        let length = varint(0, node.len() as u64);
        octets.extend(&length[1..]);
        octets.extend(node);
    }
    octets
}

fn send(size: Vec<u8>) -> Vec<u8> {
    [varint(3, 5), attribute("comm_size", size), attribute("comm_dst", varint(7, 0))].concat()
}

fn read_one(octets: &[u8]) -> Result<read::Imported, read::ReadError> {
    read::chakra::read(&[File { name: "x", octets }], &Options::default())
}

#[test]
fn each_variant_of_a_whole_number_is_read() {
    let variants = [
        fixed(3, 1, &5e9_f64.to_le_bytes()),
        varint(9, 5_000_000_000),
        varint(11, 5_000_000_000),
        varint(13, 5_000_000_000),
        varint(17, 10_000_000_000),
        fixed(21, 1, &5_000_000_000_u64.to_le_bytes()),
        fixed(25, 1, &5_000_000_000_u64.to_le_bytes()),
    ];
    for variant in variants {
        let read = read_one(&file(&[send(variant.clone())])).expect("it is right");
        assert_eq!(works(&read.graph, 0), [Work::Send { to: 0, octets: 5_000_000_000, tag: 0 }], "{variant:?}");
    }
    for variant in [
        fixed(5, 5, &7_f32.to_le_bytes()),
        varint(7, 7),
        varint(15, 14),
        fixed(19, 5, &7_u32.to_le_bytes()),
        fixed(23, 5, &7_u32.to_le_bytes()),
    ] {
        let read = read_one(&file(&[send(variant.clone())])).expect("it is right");
        assert_eq!(works(&read.graph, 0), [Work::Send { to: 0, octets: 7, tag: 0 }], "{variant:?}");
    }
    let negative = read_one(&file(&[send(varint(9, u64::MAX))])).expect_err("a size is not negative").to_string();
    assert_eq!(negative, "x: octet 4: comm_size is no whole number from 0 to 18446744073709551615; write one");
    let text = read_one(&file(&[send(part(29, b"five"))])).expect_err("a size is a number").to_string();
    assert!(text.contains("comm_size is no whole number"), "{text}");
    // A list where a number is due, and a number of the wrong width.
    read_one(&file(&[send(varint(8, 1))])).expect_err("a list is octets");
    read_one(&file(&[send(varint(3, 1))])).expect_err("a double is 8 octets");
}

#[test]
fn tags_of_minus_one_are_any_at_receives() {
    let receive = [
        varint(3, 6),
        attribute("comm_size", varint(9, 1)),
        attribute("comm_src", varint(7, u64::MAX)),
        attribute("comm_tag", varint(7, u64::MAX)),
    ];
    let read = read_one(&file(&[receive.concat(), [varint(1, 1), send(varint(9, 1))].concat()])).expect("it is right");
    assert_eq!(works(&read.graph, 0)[0], Work::Receive { from: None, octets: 1, tag: None });
    assert_eq!(read.lost.receives.number, 0);
}

#[test]
fn control_dependencies_are_left_out_if_asked() {
    // Node 1 is called by node 0, which waits for its data: PyTorch's traces have such pairs.
    let octets = file(&[[varint(3, 4), varint(5, 1)].concat(), [varint(1, 1), varint(3, 4), varint(4, 0)].concat()]);
    let both = read_one(&octets).expect("it is right");
    assert_eq!(pairs(&both.graph)[0], [(0, 1), (1, 0)]);
    both.graph.check().expect_err("it is a cycle");
    let note = "nodes of one rank wait for each other; leave control dependencies out, as Chakra's own feeder does";
    assert_eq!(both.notes, [note]);
    let options = Options { control_deps: false, ..Options::default() };
    let data = read::chakra::read(&[File { name: "x", octets: &octets }], &options).expect("it is right");
    assert_eq!((pairs(&data.graph)[0].as_slice(), data.notes.as_slice()), (&[(0, 1)][..], &[][..]));
    data.graph.check().expect("it can end");
}

#[test]
fn unknown_nodes_are_refused_with_their_octet() {
    let refused = |nodes: &[Vec<u8>]| read_one(&file(nodes)).expect_err("it is wrong").to_string();
    let unknown = refused(&[[varint(1, 4), part(2, b"x"), varint(3, 8)].concat()]);
    assert!(unknown.starts_with("x: octet 1: node 4 (x): its type is 8; write one from 1 to 7"), "{unknown}");
    assert!(refused(&[varint(1, 4)]).contains("its type is 0"));
    let double = refused(&[[varint(1, 4), varint(3, 4)].concat(), [varint(1, 4), varint(3, 4)].concat()]);
    assert_eq!(double, "x: octet 6: node 4: another node of the file has its number; give each its own");
    let gather =
        refused(&[[varint(3, 7), attribute("comm_type", varint(9, 3)), attribute("comm_size", varint(9, 1))].concat()]);
    assert!(gather.contains("its comm_type is 3 (GATHER)"), "{gather}");
    let group =
        refused(&[[varint(3, 7), attribute("comm_size", varint(9, 1)), attribute("pg_name", part(29, b"7"))].concat()]);
    assert!(group.contains("there is no group \"7\""), "{group}");
    let long = refused(&[[varint(3, 4), varint(7, u64::MAX / 1000)].concat()]);
    assert!(long.contains("the duration is longer than 2^64 ps"), "{long}");
    let no_metadata = read_one(&file(&[])[1..]).expect_err("it is empty").to_string();
    assert!(no_metadata.starts_with("x: the file is empty"), "{no_metadata}");
    let node_first = [&[4][..], &varint(1, 4), &varint(3, 4)].concat();
    let node_first = read_one(&node_first).expect_err("metadata come first").to_string();
    assert!(node_first.contains("the first message is no GlobalMetadata"), "{node_first}");
}

#[test]
fn computations_without_a_duration_need_a_stated_rate() {
    let node =
        [varint(3, 4), attribute("num_ops", varint(9, 3_000)), attribute("tensor_size", varint(13, 1_000))].concat();
    let octets = file(&[node]);
    let files = [File { name: "x", octets: &octets }];
    let refused = read_one(&octets).expect_err("no rate is stated").to_string();
    assert!(
        refused.contains("there is no duration, and num_ops 3000; state a rate of operations a second"),
        "{refused}"
    );
    let time = |ops_per_s, memory_octets_per_s| {
        let options = Options { ops_per_s, memory_octets_per_s, ..Options::default() };
        works(&read::chakra::read(&files, &options).expect("it is right").graph, 0)[0]
    };
    let compute = |ps| Work::Compute { time: Time::Fixed(ps), unit: 1 };
    // 3000 operations at 10^9 a second take 3 us; 1000 octets at 10^8 a second 10 us.
    assert_eq!(time(Some(1e9), None), compute(3_000_000));
    assert_eq!(time(Some(1e9), Some(1e8)), compute(10_000_000));
}

#[test]
fn groups_come_from_options_dimensions_and_metadata() {
    let node = |kind, more: Vec<u8>| {
        file(&[[varint(3, 7), attribute("comm_type", varint(9, kind)), attribute("comm_size", varint(9, 100)), more]
            .concat()])
    };
    let read = |octets: &[Vec<u8>], options: &Options<'_>| {
        let names: Vec<String> = (0..octets.len()).map(|rank| format!("x.{rank}.et")).collect();
        let files: Vec<File<'_>> = names.iter().zip(octets).map(|(name, octets)| File { name, octets }).collect();
        read::read(&files, options)
    };
    // Of 2 x 3 ranks the second dimension is involved: ranks 0, 2, 4 and 1, 3, 5. An all-gather of 100 octets has 300
    // afterwards.
    let involved = attribute("involved_dim", part(28, &part(1, &[0, 1])));
    let six = vec![node(2, involved); 6];
    let graph = read(&six, &Options { dimensions: &[2, 3], ..Options::default() }).expect("it is right").graph;
    assert_eq!(graph.groups(), [[0, 2, 4], [1, 3, 5]]);
    assert_eq!((&graph.collectives()[0].kind, graph.collectives()[0].octets), (&Kind::AllGather, 300));
    let refused = read(&six, &Options::default()).expect_err("dimensions are not stated").to_string();
    assert!(refused.contains("whose product is the 6 ranks"), "{refused}");
    // A group of the caller.
    let named = vec![node(7, attribute("pg_name", part(29, b"9"))); 2];
    let groups = BTreeMap::from([("9".to_string(), vec![1, 0])]);
    let graph = read(&named, &Options { groups: Some(&groups), ..Options::default() }).expect("it is right").graph;
    assert_eq!(graph.groups(), [[1, 0]]);
    // Groups of PyTorch, in brackets and quotes.
    let values = br#"['[{"pg_name": "9", "ranks": [0, 1]}]']"#;
    let metadata = [varint(1, 1), varint(3, 1), part(8, &part(1, values))].concat();
    let with: Vec<Vec<u8>> = named
        .iter()
        .map(|octets| [octets.clone(), file(std::slice::from_ref(&metadata))[1..].to_vec()].concat())
        .collect();
    assert_eq!(read(&with, &Options::default()).expect("it is right").graph.groups(), [[0, 1]]);
}

#[test]
fn a_trace_of_pytorch_in_json_is_read() {
    let read = read::read(&[data!("chakra/small_chakra.0.json")], &Options::default()).expect("it is right");
    let graph = &read.graph;
    let compute = |us: u64, unit| Work::Compute { time: Time::Fixed(us * 1_000_000), unit };
    // Processor and device; collectives without a size are computations of their duration.
    assert_eq!(
        works(graph, 0),
        [
            compute(318, 0),
            compute(28, 0),
            compute(4, 1),
            compute(85, 0),
            compute(79, 0),
            compute(28, 0x7fff_ffff),
            compute(153, 0)
        ]
    );
    assert_eq!(pairs(graph)[0], [(1, 0), (2, 0), (4, 3), (5, 0), (5, 1), (5, 3)]);
    // Each node has a control dependency on one that the file lacks.
    assert_eq!(read.lost.dependencies.number, 7);
    assert!(read.lost.dependencies.first.ends_with("which waits for node 3"), "{}", read.lost.dependencies.first);
    assert_eq!(read.notes, ["3 collectives state no comm_size, as calls on a processor do, and are computations"]);
}

#[test]
fn the_json_of_the_converter_is_the_same_trace() {
    let content = r#"{"version": "0.0.4"}{"id": "1", "name": "s", "type": "COMM_SEND_NODE", "dataDeps": ["2"],
        "attr": [{"name": "comm_size", "int64Val": "5000000000"}, {"name": "comm_dst", "int32Val": 0}]}
        {"id": "2", "type": "COMP_NODE", "durationMicros": "3"}
        {"id": "3", "type": "COMM_RECV_NODE", "attr": [{"name": "comm_size", "int64Val": "5000000000"}]}"#;
    let read = text("x.json", content).expect("it is right");
    assert_eq!(
        works(&read.graph, 0),
        [
            Work::Send { to: 0, octets: 5_000_000_000, tag: 0 },
            Work::Compute { time: Time::Fixed(3_000_000), unit: 1 },
            Work::Receive { from: Some(0), octets: 5_000_000_000, tag: Some(0) }
        ]
    );
    assert_eq!(pairs(&read.graph)[0], [(0, 1)]);
    let wrong = |content: &str| refusal("x.json", content);
    assert!(wrong(r#"{"workload_graph": 5}"#).starts_with("x.json: octet 19: workload_graph is no list"));
    assert!(wrong(r#"{"workload_graph": [{"Id": -1}]}"#).contains("\"Id\" is not a whole number of 0 or more"));
    assert!(wrong(r#"{"workload_graph": [{"NodeType": "COMP"}]}"#).contains("one of INVALID_NODE, METADATA_NODE"));
    assert!(wrong(r#"{"a": 1, "a": 2}"#).contains("a name appears twice"));
    assert!(wrong(&format!("{{\"a\": {}", "[".repeat(100_000))).contains("more than 64 inside each other"));
}
