//! Executors that run the ranks of some hosts each give what one of all ranks gives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_jobs::executor::{Detail, Piece};
use penstock_jobs::{
    Action, Algorithm, Collective, Executor, Graph, GraphBuilder, Kind, Local, MessageId, Record, Settings, Time, Work,
};
use proptest::prelude::*;

const RANKS: u32 = 6;

/// A message takes this long, and the news of its end that.
const LATENCY_PS: u64 = 70;
const NEWS_PS: u64 = 45;

/// What happens to a message, in the order of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Delivered,
    Acknowledged,
}

/// Runs the parts of a job until `end_ps` at the latest. `part_of` has the part of each rank.
fn run(parts: &mut [Executor], part_of: &[usize], end_ps: u64) {
    let mut events: BinaryHeap<Reverse<(u64, usize, What, MessageId)>> = BinaryHeap::new();
    let mut actions = Vec::new();
    let mut now_ps = 0;
    for own in 0..parts.len() {
        parts[own].start(now_ps, &mut actions);
        loop {
            for action in actions.drain(..) {
                if let Action::Send { message, to, octets, .. } = action {
                    let at_ps = now_ps + LATENCY_PS + 3 * octets;
                    events.push(Reverse((at_ps, part_of[to as usize], What::Delivered, message)));
                }
            }
            // Parts begin one after another, and then go on together.
            if own + 1 < parts.len() && now_ps == 0 {
                break;
            }
            let wake_ps = parts.iter().filter_map(Executor::next_wake_ps).min();
            let event_ps = events.peek().map(|Reverse(event)| event.0);
            let Some(next_ps) = wake_ps.into_iter().chain(event_ps).min().filter(|&at_ps| at_ps < end_ps) else {
                return;
            };
            now_ps = next_ps;
            for (own, part) in parts.iter_mut().enumerate() {
                while let Some(&Reverse((at_ps, of, what, message))) = events.peek()
                    && (at_ps, of) == (now_ps, own)
                {
                    events.pop();
                    match what {
                        What::Delivered => {
                            if part.wants_notice(message) {
                                let sender = part_of[part.origin(message).from as usize];
                                events.push(Reverse((now_ps + NEWS_PS, sender, What::Acknowledged, message)));
                            }
                            part.delivered(message, now_ps, &mut actions);
                        }
                        What::Acknowledged => part.acknowledged(message, now_ps, &mut actions),
                    }
                }
                if part.next_wake_ps().is_some_and(|at_ps| at_ps <= now_ps) {
                    part.wake(now_ps, &mut actions);
                }
            }
        }
    }
}

/// Records, slowest path, and what waits.
type Found = (bool, Vec<Record>, Vec<Piece>, Vec<String>);

/// The result with the ranks of each host in the part of that host.
fn result(graph: &Graph, settings: &Settings, part_of_host: &[usize], end_ps: u64) -> Found {
    let part_of: Vec<usize> = settings.host_of.iter().map(|&host| part_of_host[host as usize]).collect();
    let whole = Executor::new(graph.clone(), settings.clone()).expect("it was checked");
    let count = part_of_host.iter().max().map_or(1, |last| last + 1);
    let part = |own: usize| {
        let mut part = whole.clone();
        if count > 1 {
            part.restrict(part_of.iter().map(|&of| of == own).collect());
        }
        part
    };
    let mut parts: Vec<Executor> = (0..count).map(part).collect();
    run(&mut parts, &part_of, end_ps);
    let mut all = parts.remove(0);
    parts.into_iter().for_each(|part| all.absorb(part));
    let records = all.take_records();
    let path = if all.is_done() { all.slowest_path(&records) } else { Vec::new() };
    (all.is_done(), records, path, all.waiting(9))
}

/// What a program does in some order.
type Item = (u32, u32, u8, u64, bool);

fn program(work: &[Item], collective: Collective) -> Graph {
    let mut graph = GraphBuilder::new(RANKS);
    let groups: [&[u32]; 2] = [&[0, 1, 2, 3, 4, 5], &[5, 0, 3]];
    let numbers = groups.map(|group| graph.add_group(group.to_vec()));
    let collective = graph.collective(collective);
    let mut last: [Option<u32>; RANKS as usize] = [None; RANKS as usize];
    for &(from, to, kind, size, ordered) in work {
        let mut add = |rank: u32, work: Work, ordered: bool| {
            let node = graph.add_node(rank, work, "");
            if let Some(before) = last[rank as usize].replace(node).filter(|_| ordered) {
                if size % 3 == 0 { graph.after_start(node, before) } else { graph.after(node, before) }
            }
        };
        match kind {
            0 => add(from, Work::Compute { time: Time::Fixed(size), unit: to }, ordered),
            1 | 2 => {
                add(from, Work::Send { to, octets: size, tag: 0 }, ordered);
                add(to, Work::Receive { from: Some(from), octets: size, tag: Some(0) }, ordered);
            }
            _ => {
                let group = to as usize % 2;
                for &rank in groups[group] {
                    add(rank, Work::Collective { group: numbers[group], collective }, true);
                }
            }
        }
    }
    graph.finish().expect("all names exist")
}

proptest! {
    #[test]
    fn parts_give_what_one_executor_gives(
        work in prop::collection::vec((0..RANKS, 0..RANKS, 0_u8..5, 0_u64..900, any::<bool>()), 1..40),
        host_of in prop::collection::vec(0_u32..4, RANKS as usize),
        part_of_host in prop::collection::vec(0_usize..3, 4),
        kind in 0_usize..4,
        (chunks, in_flight, step_latency_ps) in (1_u32..4, 0_u32..3, 0_u64..2),
        (iterations, end_ps) in (1_u32..4, 0_u64..30_000),
    ) {
        let kinds = [Kind::AllReduce, Kind::Broadcast { root: 1 }, Kind::Reduce { root: 0 }, Kind::AllToAll];
        let algorithm = if kind == 3 { Algorithm::Direct } else { Algorithm::Ring };
        let collective =
            Collective { chunks, in_flight, step_latency_ps, ..Collective::new(kinds[kind].clone(), 60, algorithm) };
        let graph = program(&work, collective);
        if graph.check().is_err() {
            return Ok(());
        }
        let local = Local { rate_bps: 0, latency_ps: 10 };
        let settings = Settings { host_of, local, iterations, seed: 3, detail: Detail::Job };
        // Some runs end before the job.
        let end_ps = if end_ps % 2 == 0 { u64::MAX } else { end_ps };
        let one = result(&graph, &settings, &[0; 4], end_ps);
        prop_assert!(end_ps < u64::MAX || one.0);
        prop_assert!(one.2.windows(2).all(|pair| pair[0].end_ps == pair[1].begin_ps), "{:?}", one.2);
        let parts = result(&graph, &settings, &part_of_host, end_ps);
        prop_assert_eq!(&parts.3, &one.3, "what waits");
        prop_assert_eq!(parts, one);
    }
}
