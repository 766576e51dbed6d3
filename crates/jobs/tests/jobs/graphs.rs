//! Graphs that cannot run are refused, with the nodes at fault named.

use penstock_jobs::{Algorithm, Collective, Graph, GraphBuilder, GraphError, Kind, Time, Work};
use proptest::prelude::*;

fn send(to: u32, octets: u64, tag: u32) -> Work {
    Work::Send { to, octets, tag }
}

fn receive(from: u32, octets: u64, tag: u32) -> Work {
    Work::Receive { from: Some(from), octets, tag: Some(tag) }
}

fn compute() -> Work {
    Work::Compute { time: Time::Fixed(5), unit: 0 }
}

/// What `finish` and `check` say about a graph.
fn refusal(graph: GraphBuilder) -> String {
    graph.finish().and_then(|graph| graph.check()).expect_err("a refusal").message
}

fn finished(build: impl FnOnce(&mut GraphBuilder)) -> Result<Graph, GraphError> {
    let mut graph = GraphBuilder::new(3);
    build(&mut graph);
    graph.finish()
}

#[test]
fn a_cycle_is_named_with_its_nodes_in_order() {
    let mut graph = GraphBuilder::new(1);
    for name in ["a", "b", "c", "d"] {
        graph.add_node(0, compute(), name);
    }
    graph.after(1, 0);
    graph.after(2, 1);
    graph.after_start(3, 2);
    graph.after(1, 3);
    assert_eq!(
        refusal(graph),
        "the graph cannot end: node 1 \"b\" of rank 0 (computation on unit 0) waits for node 3 \"d\" of rank 0 (computation \
         on unit 0) waits for node 2 \"c\" of rank 0 (computation on unit 0) waits for the first"
    );
}

#[test]
fn a_node_that_waits_for_itself_is_a_cycle() {
    let mut graph = GraphBuilder::new(1);
    graph.add_node(0, Work::Delay { ps: 1 }, "");
    graph.after(0, 0);
    assert_eq!(refusal(graph), "the graph cannot end: node 0 of rank 0 (delay of 1 ps) waits for the first");
}

#[test]
fn ranks_that_receive_before_they_send_wait_for_each_other() {
    let mut graph = GraphBuilder::new(2);
    for rank in 0..2 {
        let receive = graph.add_node(rank, receive(1 - rank, 8, 0), "");
        let send = graph.add_node(rank, send(1 - rank, 8, 0), "");
        graph.after(send, receive);
    }
    let message = refusal(graph);
    assert!(message.starts_with(
        "the graph cannot end: node 0 of rank 0 (receive of 8 octets from rank 1, tag 0) waits for node 3"
    ));
    assert!(message.contains("node 3 of rank 1 (send of 8 octets to rank 0, tag 0) waits for node 2 of rank 1"));
    // A send that needs only the begin of the receive can start.
    let mut graph = GraphBuilder::new(2);
    for rank in 0..2 {
        let receive = graph.add_node(rank, receive(1 - rank, 8, 0), "");
        let send = graph.add_node(rank, send(1 - rank, 8, 0), "");
        graph.after_start(send, receive);
    }
    assert_eq!(graph.finish().and_then(|graph| graph.check()), Ok(()));
}

#[test]
fn a_long_cycle_is_cut_in_its_message() {
    let mut graph = GraphBuilder::new(1);
    for node in 0..100 {
        graph.add_node(0, compute(), "");
        graph.after(node, (node + 1) % 100);
    }
    assert!(refusal(graph).ends_with("waits for 88 others waits for the first"));
}

#[test]
fn messages_without_partner_are_named() {
    let mut graph = GraphBuilder::new(3);
    graph.add_node(0, send(1, 8, 5), "x");
    graph.add_node(1, receive(0, 8, 5), "");
    graph.add_node(0, send(1, 8, 5), "y");
    assert_eq!(
        refusal(graph.clone()),
        "node 2 \"y\" of rank 0 (send of 8 octets to rank 1, tag 5) has no receive: from rank 0 to rank 1 with tag 5 there \
         are 2 sends and 1 receives"
    );
    graph.add_node(1, receive(0, 8, 6), "");
    assert!(refusal(graph).contains("there are 2 sends and 1 receives"));
    let mut graph = GraphBuilder::new(3);
    graph.add_node(2, receive(1, 9, 0), "z");
    assert!(refusal(graph).starts_with("node 0 \"z\" of rank 2 (receive of 9 octets from rank 1, tag 0) has no send"));
}

#[test]
fn sizes_of_a_message_agree() {
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 1 << 32, 0), "");
    graph.add_node(1, receive(0, 1 << 33, 0), "");
    assert_eq!(
        refusal(graph),
        "node 1 of rank 1 (receive of 8589934592 octets from rank 0, tag 0) belongs to node 0 of rank 0 (send of 4294967296 \
         octets to rank 1, tag 0): the same size at both"
    );
}

#[test]
fn messages_of_one_key_meet_in_the_order_of_dependencies() {
    // The receive with the larger number comes first, by its dependency.
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 1, 0), "");
    graph.add_node(0, send(1, 2, 0), "");
    graph.add_node(1, receive(0, 2, 0), "");
    graph.add_node(1, receive(0, 1, 0), "");
    assert!(refusal(graph.clone()).ends_with("the same size at both"));
    graph.after(2, 3);
    assert_eq!(graph.finish().and_then(|graph| graph.check()), Ok(()));
}

#[test]
fn receives_from_any_take_what_comes() {
    let mut graph = GraphBuilder::new(3);
    for rank in 1..3 {
        graph.add_node(rank, send(0, 10 * u64::from(rank), rank), "");
        graph.add_node(0, Work::Receive { from: None, octets: 0, tag: None }, "");
    }
    assert_eq!(graph.clone().finish().and_then(|graph| graph.check()), Ok(()));
    graph.add_node(1, send(0, 1, 1), "");
    assert_eq!(refusal(graph.clone()), "3 sends go to rank 0, which has 2 receives: as many of both");
    // The third receive wants a tag that nobody sends.
    graph.add_node(0, Work::Receive { from: None, octets: 0, tag: Some(9) }, "nine");
    assert_eq!(
        refusal(graph),
        "the graph cannot end: node 5 \"nine\" of rank 0 (receive of 0 octets from rank any, tag 9) waits for a message that \
         no send brings"
    );
}

#[test]
fn members_take_part_in_the_same_collectives() {
    let all_reduce = |octets| Collective::new(Kind::AllReduce, octets, Algorithm::Ring);
    let mut graph = GraphBuilder::new(3);
    let group = graph.add_group(vec![2, 0, 1]);
    let (small, large) = (graph.collective(all_reduce(8)), graph.collective(all_reduce(9)));
    assert_eq!(graph.collective(all_reduce(8)), small);
    graph.add_node(0, Work::Collective { group, collective: small }, "first");
    graph.add_node(1, Work::Collective { group, collective: small }, "");
    assert_eq!(
        refusal(graph.clone()),
        "rank 2 has 0 collectives of group 0, rank 0 has 1: node 0 \"first\" of rank 0 (all-reduce of 8 octets in group 0) has \
         no partner there"
    );
    graph.add_node(2, Work::Collective { group, collective: large }, "");
    assert_eq!(
        refusal(graph),
        "node 0 \"first\" of rank 0 (all-reduce of 8 octets in group 0) belongs to node 2 of rank 2 (all-reduce of 9 octets in \
         group 0), collective 0 of its group: the same at all members"
    );
}

#[test]
fn collectives_in_opposite_orders_are_a_cycle() {
    let mut graph = GraphBuilder::new(2);
    let groups = [graph.add_group(vec![0, 1]), graph.add_group(vec![0, 1])];
    let collective = graph.collective(Collective::new(Kind::Barrier, 0, Algorithm::Ring));
    for rank in 0..2 {
        let [one, two] = if rank == 0 { groups } else { [groups[1], groups[0]] };
        let before = graph.add_node(rank, Work::Collective { group: one, collective }, "");
        let after = graph.add_node(rank, Work::Collective { group: two, collective }, "");
        graph.after(after, before);
    }
    assert!(
        refusal(graph)
            .starts_with("the graph cannot end: node 0 of rank 0 (barrier of 0 octets in group 0) waits for node 3")
    );
}

#[test]
fn what_does_not_exist_is_refused() {
    let message = |build: fn(&mut GraphBuilder)| finished(build).expect_err("a refusal").message;
    assert_eq!(
        message(|graph| _ = graph.add_node(3, compute(), "")),
        "node 0 of rank 3 (computation on unit 0): there is no rank 3: the job has 3 ranks, from 0"
    );
    assert!(
        message(|graph| _ = graph.add_node(0, send(7, 1, 1), ""))
            .ends_with("there is no rank 7: the job has 3 ranks, from 0")
    );
    assert!(message(|graph| _ = graph.add_node(0, receive(7, 1, 1), "")).contains("there is no rank 7"));
    assert!(message(|graph| _ = graph.add_group(vec![1, 3])).starts_with("group 0: there is no rank 3"));
    assert_eq!(message(|graph| _ = graph.add_group(vec![1, 2, 1])), "group 0 has rank 1 twice: once");
    assert!(
        message(|graph| _ = graph.add_node(0, Work::Collective { group: 0, collective: 0 }, ""))
            .ends_with("there is no group 0, of 0")
    );
    assert!(
        message(|graph| {
            let group = graph.add_group(vec![1, 2]);
            let collective = graph.collective(Collective::new(Kind::AllReduce, 1, Algorithm::Ring));
            graph.add_node(0, Work::Collective { group, collective }, "");
        })
        .ends_with("rank 0 is not in group 0")
    );
    assert!(
        message(|graph| {
            let group = graph.add_group(vec![0, 1, 2]);
            let collective = graph.collective(Collective::new(Kind::Broadcast { root: 3 }, 1, Algorithm::Ring));
            graph.add_node(0, Work::Collective { group, collective }, "");
        })
        .ends_with("root 3 is not in the group: an index from 0 to 2")
    );
    assert_eq!(
        message(|graph| {
            graph.add_node(0, compute(), "");
            graph.after(0, 4);
        }),
        "a dependency names node 4, of 1: a node that was added"
    );
    assert!(
        message(|graph| {
            graph.add_node(0, compute(), "");
            graph.add_node(1, compute(), "");
            graph.after(1, 0);
        })
        .ends_with("between ranks write a send and a receive")
    );
    let time = Time::Uniform { low_ps: 2, high_ps: 1 };
    let refused = finished(|graph| _ = graph.add_node(0, Work::Compute { time, unit: 0 }, ""));
    assert!(refused.expect_err("a refusal").message.ends_with("the smallest time, 2 ps, is above the largest, 1 ps"));
}

proptest! {
    /// A graph of anything is refused or ends: nothing panics, and the order of dependencies does not matter.
    #[test]
    fn graphs_of_anything_end_or_are_refused(
        nodes in prop::collection::vec((0_u32..4, 0_u32..6, 0_u32..4, 0_u32..2), 0..12),
        edges in prop::collection::vec((0_u32..12, 0_u32..12, any::<bool>()), 0..12),
    ) {
        let mut graph = GraphBuilder::new(4);
        let group = graph.add_group(vec![0, 1, 2, 3]);
        let collective = graph.collective(Collective::new(Kind::AllReduce, 100, Algorithm::HalvingDoubling));
        for &(rank, kind, peer, tag) in &nodes {
            let work = match kind {
                0 => compute(),
                1 => Work::Delay { ps: 3 },
                2 => send(peer, 1, tag),
                3 => receive(peer, 1, tag),
                4 => Work::Receive { from: Some(peer), octets: 1, tag: None },
                _ => Work::Collective { group, collective },
            };
            graph.add_node(rank, work, "");
        }
        let rank = |node: u32| nodes.get(node as usize).map(|node| node.0);
        for (node, other, start) in edges {
            if rank(node).is_some() && rank(node) == rank(other) {
                if start { graph.after_start(node, other) } else { graph.after(node, other) }
            }
        }
        let graph = graph.finish().expect("all names exist");
        if graph.check().is_ok() {
            let any = (0..graph.len()).any(|node| matches!(graph.work(node), Work::Receive { tag: None, .. }));
            let mut job = penstock_jobs::Executor::new(graph, Default::default()).expect("it was checked");
            crate::toy::Toy::new(4, 1_000, 80).run(&mut job);
            // A receive of any tag may take the message that another one needs.
            prop_assert!(job.is_done() || any, "{:?}", job.waiting(9));
        }
    }
}
