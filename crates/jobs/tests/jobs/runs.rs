//! Jobs run: times, units, local links, iterations, records, what waits.

use penstock_jobs::executor::Detail;
use penstock_jobs::{
    Action, Algorithm, Collective, Executor, GraphBuilder, Kind, Local, MessageId, Record, Settings, Time, Work,
    placement,
};

use proptest::prelude::*;

use crate::toy::{Toy, one, time_ps};

fn compute(ps: u64, unit: u32) -> Work {
    Work::Compute { time: Time::Fixed(ps), unit }
}

fn send(to: u32, octets: u64) -> Work {
    Work::Send { to, octets, tag: 0 }
}

fn receive(from: u32, octets: u64) -> Work {
    Work::Receive { from: Some(from), octets, tag: Some(0) }
}

#[test]
fn computations_of_a_unit_follow_each_other() {
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, compute(100, 0), "");
    graph.add_node(0, compute(10, 0), "");
    graph.add_node(0, compute(60, 1), "");
    let delay = graph.add_node(0, Work::Delay { ps: 1_000 }, "");
    let last = graph.add_node(0, compute(7, 0), "");
    graph.after_start(last, delay);
    // 100 + 10 + 7 on unit 0; 60 on unit 1; the delay takes no unit.
    assert_eq!(time_ps(graph.clone().finish().expect("a graph"), 0, 0, Settings::default()), 1_000);
    graph.after(last, delay);
    assert_eq!(time_ps(graph.finish().expect("a graph"), 0, 0, Settings::default()), 1_007);
}

#[test]
fn a_message_ends_its_send_and_its_receive() {
    let mut graph = GraphBuilder::new(2);
    let first = graph.add_node(0, compute(50, 0), "work");
    let sent = graph.add_node(0, send(1, 3), "out");
    graph.after(sent, first);
    let got = graph.add_node(1, receive(0, 3), "in");
    let busy = graph.add_node(1, compute(1_000, 0), "busy");
    let after = graph.add_node(1, compute(5, 1), "after");
    graph.after(after, got);
    let settings = Settings { detail: Detail::Nodes, ..Settings::default() };
    let mut job = Executor::new(graph.finish().expect("a graph"), settings).expect("it can end");
    let mut out = Vec::new();
    job.start(0, &mut out);
    assert_eq!((out.len(), job.next_wake_ps()), (0, Some(50)));
    job.wake(50, &mut out);
    assert_eq!(out, [Action::Send { message: MessageId(0), from: 0, to: 1, octets: 3 }]);
    assert_eq!(
        job.waiting(9),
        [
            "node 1 \"out\" of rank 0 (send of 3 octets to rank 1, tag 0) in iteration 0: its last octet has not arrived, or its \
             sender has not heard of it",
            "node 2 \"in\" of rank 1 (receive of 3 octets from rank 0, tag 0) in iteration 0: the last octet of node 1 \"out\" \
             of rank 0 (send of 3 octets to rank 1, tag 0) has not arrived",
            "node 3 \"busy\" of rank 1 (computation on unit 0) in iteration 0: its time has not passed",
        ]
    );
    job.delivered(MessageId(0), 400, &mut out);
    job.wake(405, &mut out);
    assert!(job.wants_notice(MessageId(0)));
    job.acknowledged(MessageId(0), 410, &mut out);
    assert!(!job.is_done());
    job.wake(1_000, &mut out);
    assert_eq!((job.is_done(), out.last()), (true, Some(&Action::Finished)));
    let times: Vec<_> = job.take_records().iter().map(|r| (r.node, r.begin_ps, r.end_ps, r.after)).collect();
    assert_eq!(
        times,
        [
            (Some(first), 0, 50, None),
            (Some(got), 0, 400, None),
            (Some(after), 400, 405, Some(got)),
            (Some(sent), 50, 410, Some(first)),
            (None, 0, 410, None),
            (Some(busy), 0, 1_000, None),
            (None, 0, 1_000, None),
        ]
    );
    assert!(job.take_records().is_empty());
}

#[test]
fn a_message_waits_for_its_receive() {
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 3), "");
    let work = graph.add_node(1, compute(900, 0), "");
    let got = graph.add_node(1, receive(0, 3), "");
    graph.after(got, work);
    assert_eq!(time_ps(graph.finish().expect("a graph"), 10, 1, Settings::default()), 900);
}

#[test]
#[should_panic(expected = "message 0 is not under way")]
fn a_message_arrives_once() {
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 3), "");
    graph.add_node(1, receive(0, 3), "");
    let mut job = Executor::new(graph.finish().expect("a graph"), Settings::default()).expect("it can end");
    job.start(0, &mut Vec::new());
    job.delivered(MessageId(0), 1, &mut Vec::new());
    job.acknowledged(MessageId(0), 1, &mut Vec::new());
    job.delivered(MessageId(0), 2, &mut Vec::new());
}

#[test]
fn messages_inside_of_a_host_take_its_link() {
    // To itself and to the neighbour, 1000 octets each at 8 Gb/s: 1 us each, one after another, and 5 ns.
    let mut graph = GraphBuilder::new(3);
    graph.add_node(0, send(0, 1_000), "");
    graph.add_node(0, receive(0, 1_000), "");
    graph.add_node(0, send(1, 1_000), "");
    graph.add_node(1, receive(0, 1_000), "");
    graph.add_node(0, send(2, 1_000), "");
    graph.add_node(2, receive(0, 1_000), "");
    let graph = graph.finish().expect("a graph");
    let local = Local { rate_bps: 8_000_000_000, latency_ps: 5_000 };
    let settings = Settings { host_of: vec![4, 4, 1], local, ..Settings::default() };
    let mut job = Executor::new(graph.clone(), settings.clone()).expect("it can end");
    let mut network = Toy::new(3, 7, 1);
    assert_eq!(network.run(&mut job), 2_005_000);
    assert_eq!((network.messages, network.octets, job.messages()), (1, 1_000, 3));
    // Without hosts only the message to itself stays.
    let mut network = Toy::new(3, 7, 1);
    network.run(&mut Executor::new(graph.clone(), Settings { local, ..Settings::default() }).expect("it can end"));
    assert_eq!(network.messages, 2);
    let wrong = Settings { host_of: vec![0; 2], ..settings };
    assert_eq!(
        Executor::new(graph, wrong).expect_err("a refusal").message,
        "2 hosts for 3 ranks: the host of each rank"
    );
}

#[test]
fn octets_of_none_and_of_many_are_messages_too() {
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 0), "");
    graph.add_node(1, receive(0, 0), "");
    assert_eq!(time_ps(graph.finish().expect("a graph"), 3, 1, Settings::default()), 3);
    let mut graph = GraphBuilder::new(2);
    graph.add_node(0, send(1, 5 << 32), "");
    graph.add_node(1, receive(0, 5 << 32), "");
    assert_eq!(time_ps(graph.finish().expect("a graph"), 3, 2, Settings::default()), 3 + (10 << 32));
}

#[test]
fn iterations_follow_each_other_rank_by_rank() {
    // Rank 0 computes 10 and sends; rank 1 receives and computes 100: rank 0 runs ahead.
    let mut graph = GraphBuilder::new(2);
    let work = graph.add_node(0, compute(10, 0), "");
    let sent = graph.add_node(0, send(1, 1), "");
    graph.after(sent, work);
    let got = graph.add_node(1, receive(0, 1), "");
    let work = graph.add_node(1, compute(100, 0), "");
    graph.after(work, got);
    let settings = Settings { iterations: 5, ..Settings::default() };
    let mut job = Executor::new(graph.finish().expect("a graph"), settings).expect("it can end");
    // 10 + latency 2 + 1 octet, then five computations of rank 1.
    assert_eq!(Toy::new(2, 2, 1).run(&mut job), 13 + 500);
    let ends: Vec<_> = job.take_records().iter().map(|r| (r.rank, r.iteration, r.begin_ps, r.end_ps)).collect();
    assert!(ends.contains(&(0, 4, 52, 65)));
    assert!(ends.contains(&(1, 0, 0, 113)));
    assert!(ends.contains(&(1, 4, 413, 513)));
    assert_eq!((ends.len(), job.messages()), (10, 5));
}

#[test]
fn a_job_of_no_iterations_is_done() {
    let graph = one(4, Collective::new(Kind::AllReduce, 100, Algorithm::Ring));
    assert_eq!(time_ps(graph, 1, 1, Settings { iterations: 0, ..Settings::default() }), 0);
}

#[test]
fn collectives_of_several_iterations_run_at_once() {
    // Rank 0 broadcasts and goes on; the others compute 1000 first.
    let mut graph = GraphBuilder::new(3);
    let group = graph.add_group(vec![0, 1, 2]);
    let collective = graph.collective(Collective::new(Kind::Broadcast { root: 0 }, 4, Algorithm::Direct));
    for rank in 0..3 {
        let node = graph.add_node(rank, Work::Collective { group, collective }, "");
        if rank > 0 {
            let work = graph.add_node(rank, compute(1_000, 0), "");
            graph.after(node, work);
        }
    }
    let settings = Settings { iterations: 3, ..Settings::default() };
    let mut job = Executor::new(graph.finish().expect("a graph"), settings).expect("it can end");
    assert_eq!(Toy::new(3, 5, 1).run(&mut job), 3_000);
    let ends: Vec<_> = job.take_records().iter().filter(|r| r.rank == 0).map(|r| r.end_ps).collect();
    assert_eq!(ends, [13, 26, 39]);
}

#[test]
fn a_straggler_delays_everyone() {
    let mut graph = GraphBuilder::new(8);
    let group = graph.add_group((0..8).collect());
    let collective = graph.collective(Collective::new(Kind::AllReduce, 8_000, Algorithm::Ring));
    for rank in 0..8 {
        let work = graph.add_node(rank, compute(if rank == 5 { 900 } else { 100 }, 0), "");
        let node = graph.add_node(rank, Work::Collective { group, collective }, "");
        graph.after(node, work);
    }
    let settings = Settings { detail: Detail::Job, ..Settings::default() };
    let mut job = Executor::new(graph.finish().expect("a graph"), settings).expect("it can end");
    let time_ps = Toy::new(8, 10, 1).run(&mut job);
    assert_eq!(time_ps, 900 + 14 * 1_010);
    let slowest = job.slowest_path(&job.clone().take_records());
    assert_eq!((slowest.len(), slowest[0].message, slowest[0].end_ps), (15, None, 900));
    assert_eq!(job.graph().rank(slowest[0].node), 5);
    let paths = job.take_paths();
    assert_eq!(paths.len(), 1);
    // The slowest path begins at the straggler and goes around the ring, without a pause.
    let steps = &paths[0].steps;
    assert_eq!((job.graph().rank(paths[0].first), steps.len()), (5, 14));
    assert_eq!((steps[0].begin_ps, steps[13].end_ps), (900, time_ps));
    assert!(steps.windows(2).all(|pair| pair[0].end_ps == pair[1].begin_ps && pair[0].to == pair[1].from));
    assert_eq!(job.graph().rank(paths[0].last), steps[13].to);
    assert_eq!(job.origin(steps[0].message).node, paths[0].first);
}

#[test]
fn a_collective_that_stops_names_the_message_that_is_missing() {
    let graph = one(4, Collective::new(Kind::AllReduce, 400, Algorithm::Ring));
    let mut job = Executor::new(graph, Settings::default()).expect("it can end");
    let mut out = Vec::new();
    job.start(0, &mut out);
    // Rank 2's first message is lost.
    while let Some(at) = out.iter().position(|action| !matches!(action, Action::Send { from: 2, .. })) {
        let Action::Send { message, .. } = out.remove(at) else { break };
        job.delivered(message, 1, &mut out);
    }
    assert!(!job.is_done());
    let waiting = job.waiting(9);
    assert_eq!(waiting.len(), 4);
    assert!(waiting[3].ends_with("the last of 100 octets from rank 2 to rank 3 has not arrived"), "{}", waiting[3]);
}

#[test]
fn drawn_times_depend_on_seed_node_and_iteration() {
    let draws = |time: Time, seed| (0..20_000).map(move |node| time.draw_ps(seed, node, 3)).collect::<Vec<_>>();
    let mean = |times: &[u64]| times.iter().sum::<u64>() as f64 / times.len() as f64;
    let uniform = draws(Time::Uniform { low_ps: 100, high_ps: 200 }, 1);
    assert_eq!((uniform.iter().min(), uniform.iter().max()), (Some(&100), Some(&200)));
    assert!((mean(&uniform) - 150.0).abs() < 1.0);
    let exponential = draws(Time::Exponential { low_ps: 0, mean_ps: 1_000_000 }, 1);
    assert!((mean(&exponential) / 1_000_000.0 - 1.0).abs() < 0.02, "{}", mean(&exponential));
    // A share of e^-3 is above three means.
    let above = exponential.iter().filter(|&&ps| ps > 3_000_000).count() as f64 / 20_000.0;
    assert!((above - 0.0498).abs() < 0.005, "{above}");
    let slow = draws(Time::Straggler { usual_ps: 1, slow_ps: 9, one_in: 100 }, 1);
    let count = slow.iter().filter(|&&ps| ps == 9).count();
    assert!((150..250).contains(&count), "{count}");
    assert!(draws(Time::Straggler { usual_ps: 1, slow_ps: 9, one_in: 0 }, 1).iter().all(|&ps| ps == 1));
    assert_eq!(uniform, draws(Time::Uniform { low_ps: 100, high_ps: 200 }, 1));
    assert_ne!(uniform, draws(Time::Uniform { low_ps: 100, high_ps: 200 }, 2));
    assert_eq!(draws(Time::Fixed(7), 1), vec![7; 20_000]);
}

#[test]
fn ranks_are_placed() {
    assert_eq!(placement::in_order(5, 3, 2), Some(vec![0, 0, 1, 1, 2]));
    assert_eq!(placement::in_order(7, 3, 2), None);
    assert_eq!(placement::in_order(1, 3, 0), None);
    // Racks 0 and 1 have hosts 0 to 2 and 3 to 5.
    assert_eq!(placement::by_rack(4, &[0, 0, 0, 1, 1, 1], 1), Some(vec![0, 3, 1, 4]));
    let random = placement::at_random(64, 64, 1, 3).expect("64 hosts");
    let mut sorted = random.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..64).collect::<Vec<_>>());
    assert_ne!(random, sorted);
    assert_eq!(Some(random), placement::at_random(64, 64, 1, 3));
    // Each of 4 hosts comes first in about a quarter of the seeds.
    let first = (0..4_000).filter(|&seed| placement::at_random(1, 4, 1, seed) == Some(vec![2])).count();
    assert!((900..1_100).contains(&first), "{first}");
}

/// Two groups that overlap, with computations between.
fn training(collective: &Collective) -> penstock_jobs::Graph {
    let mut graph = GraphBuilder::new(8);
    let groups = [graph.add_group(vec![0, 1, 2, 3, 4, 5, 6, 7]), graph.add_group(vec![6, 4, 2, 0])];
    let collective = graph.collective(collective.clone());
    for rank in 0..8 {
        let work = graph.add_node(rank, compute(1_000 * u64::from(rank), 0), "forward");
        let both = groups.map(|group| {
            let member = graph_has(group, rank);
            let node = member.then(|| graph.add_node(rank, Work::Collective { group, collective }, "reduce"));
            node.inspect(|&node| graph.after(node, work))
        });
        let sent = graph.add_node(rank, send((rank + 1) % 8, 77), "next");
        let got = graph.add_node(rank, receive((rank + 7) % 8, 77), "last");
        both.into_iter().flatten().for_each(|node| graph.after(sent, node));
        graph.after_start(got, work);
    }
    graph.finish().expect("a graph")
}

fn graph_has(group: u32, rank: u32) -> bool {
    group == 0 || rank.is_multiple_of(2)
}

#[test]
fn a_graph_that_is_written_out_takes_the_same_time() {
    for algorithm in Algorithm::ALL {
        for (channels, chunks, in_flight, step_latency_ps) in [(1, 1, 0, 0), (2, 3, 1, 13)] {
            let collective = Collective {
                channels,
                chunks,
                in_flight,
                step_latency_ps,
                ..Collective::new(Kind::AllReduce, 1_001, algorithm)
            };
            let graph = training(&collective);
            let expanded = graph.expand().expect("few messages");
            let collectives = |graph: &penstock_jobs::Graph| {
                (0..graph.len()).filter(|&node| matches!(graph.work(node), Work::Collective { .. })).count()
            };
            assert_eq!((collectives(&graph), collectives(&expanded)), (12, 0));
            let run = |graph| {
                let mut job = Executor::new(graph, Settings::default()).expect("it can end");
                // Messages take no time at ports, so that their order at one time does not matter.
                let mut network = Toy::new(8, 500, 0);
                (network.run(&mut job), network.messages, network.octets)
            };
            assert_eq!(run(graph), run(expanded), "{collective:?}");
        }
    }
}

#[test]
fn the_slowest_path_has_no_gap() {
    for algorithm in Algorithm::ALL {
        for (latency_ps, step_latency_ps) in [(500, 0), (10, 13), (20_000, 1)] {
            let collective =
                Collective { chunks: 3, step_latency_ps, ..Collective::new(Kind::AllReduce, 1_001, algorithm) };
            let settings = Settings { detail: Detail::Job, iterations: 3, ..Settings::default() };
            let mut job = Executor::new(training(&collective), settings).expect("it can end");
            let time_ps = Toy::new(8, latency_ps, 3).run(&mut job);
            let records = job.take_records();
            let path = job.slowest_path(&records);
            assert_eq!((path[0].begin_ps, path[path.len() - 1].end_ps), (0, time_ps));
            assert!(path.windows(2).all(|pair| pair[0].end_ps == pair[1].begin_ps), "{path:?}");
            assert!(path.iter().all(|piece| piece.begin_ps < piece.end_ps));
            // Without a record of the path there is none.
            let first = |r: &&Record| (r.iteration, r.node) == (path[0].iteration, Some(path[0].node));
            let fewer: Vec<_> = records.iter().filter(|r| !first(r)).copied().collect();
            assert_eq!((fewer.len(), job.slowest_path(&fewer).len()), (records.len() - 1, 0));
        }
    }
}

#[test]
fn a_busy_unit_is_on_the_slowest_path() {
    let mut graph = GraphBuilder::new(1);
    let first = graph.add_node(0, compute(100, 0), "");
    let second = graph.add_node(0, compute(50, 0), "");
    let settings = Settings { detail: Detail::Job, ..Settings::default() };
    let mut job = Executor::new(graph.finish().expect("a graph"), settings).expect("it can end");
    Toy::new(1, 1, 1).run(&mut job);
    let records = job.take_records();
    let path: Vec<_> = job.slowest_path(&records).iter().map(|p| (p.node, p.begin_ps, p.end_ps)).collect();
    assert_eq!(path, [(first, 0, 100), (second, 100, 150)]);
}

#[test]
fn collectives_of_a_rank_that_receives_from_any_are_not_written_out() {
    let mut graph = GraphBuilder::new(2);
    let group = graph.add_group(vec![0, 1]);
    let collective = graph.collective(Collective::new(Kind::Barrier, 0, Algorithm::Ring));
    for rank in 0..2 {
        graph.add_node(rank, Work::Collective { group, collective }, "");
    }
    graph.add_node(0, send(1, 5), "");
    graph.add_node(1, Work::Receive { from: None, octets: 5, tag: None }, "");
    let graph = graph.finish().expect("a graph");
    // The message is before the barrier's first one at rank 1: 10 + 5, and 10 for its second.
    assert_eq!(time_ps(graph.clone(), 10, 1, Settings::default()), 25);
    assert!(graph.expand().expect_err("a refusal").message.contains("cannot be written out"));
}

proptest! {
    /// What a program does in some order ends, in any placement, any number of times, each time alike.
    #[test]
    fn programs_end(
        work in prop::collection::vec((0_u32..6, 0_u32..6, 0_u32..4, 0_u64..2_000, any::<bool>()), 1..60),
        host_of in prop::collection::vec(0_u32..3, 6),
        iterations in 1_u32..4,
    ) {
        let mut graph = GraphBuilder::new(6);
        let groups = [graph.add_group((0..6).collect()), graph.add_group(vec![5, 0, 3])];
        let mut last: [Option<u32>; 6] = [None; 6];
        let (mut messages, mut octets) = (0, 0);
        let hosts = |from: u32, to: u32| host_of[from as usize] != host_of[to as usize];
        for (from, to, kind, size, ordered) in work {
            // A node comes after the one before it of its rank, or after nothing.
            let mut add = |rank: u32, work: Work| {
                let node = graph.add_node(rank, work, "");
                if let Some(before) = last[rank as usize].replace(node).filter(|_| ordered) {
                    if size % 3 == 0 { graph.after_start(node, before) } else { graph.after(node, before) }
                }
            };
            match kind {
                0 => add(from, compute(size, to)),
                1 | 2 => {
                    add(from, send(to, size));
                    add(to, receive(from, size));
                    messages += u64::from(hosts(from, to));
                    octets += size * u64::from(hosts(from, to));
                }
                _ => {
                    let group = groups[to as usize % 2];
                    let members: &[u32] = if group == 0 { &[0, 1, 2, 3, 4, 5] } else { &[5, 0, 3] };
                    let collective = Collective::new(Kind::AllToAll, 0, Algorithm::Pairwise);
                    let sends = members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b)));
                    messages += sends.filter(|&(a, b)| a != b && hosts(a, b)).count() as u64;
                    // One index: all are alike.
                    let collective = graph.collective(collective);
                    for &rank in members {
                        last[rank as usize] = {
                            let node = graph.add_node(rank, Work::Collective { group, collective }, "");
                            if let Some(before) = last[rank as usize] {
                                graph.after(node, before);
                            }
                            Some(node)
                        };
                    }
                }
            }
        }
        let graph = graph.finish().expect("all names exist");
        prop_assert_eq!(graph.check(), Ok(()));
        let settings =
            Settings { host_of: host_of.clone(), iterations, detail: Detail::Job, ..Settings::default() };
        let run = || {
            let mut job = Executor::new(graph.clone(), settings.clone()).expect("it was checked");
            let mut network = Toy::new(6, 70, 3);
            let time_ps = network.run(&mut job);
            assert!(job.is_done(), "{:?}", job.waiting(9));
            let records = job.take_records();
            (time_ps, network.messages, network.octets, job.slowest_path(&records), records)
        };
        let (time_ps, sent, sent_octets, path, records) = run();
        prop_assert_eq!((sent, sent_octets), (u64::from(iterations) * messages, u64::from(iterations) * octets));
        prop_assert_eq!(records.len() as u64, u64::from(iterations) * u64::from(graph.len() + 6));
        prop_assert!(path.windows(2).all(|pair| pair[0].end_ps == pair[1].begin_ps), "{:?}", path);
        let ends = path.first().zip(path.last()).map(|(first, last)| (first.begin_ps, last.end_ps));
        prop_assert_eq!(ends.unwrap_or((0, 0)), (0, time_ps));
        prop_assert_eq!(run(), (time_ps, sent, sent_octets, path, records));
    }
}
