//! Jobs: collectives of a few ranks, and graphs of work as text, of which some cannot end.

use super::{Scale, Wiring, picoseconds, plain, text};
use crate::document::{Node, Table, set, tables_at};
use crate::random::Random;

/// A collective or a graph.
pub(super) fn jobs(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let mut keys = Table::new();
    if random.one_in(2) {
        set(&mut keys, "ranks_per_host", plain(random.between(1, 4)));
        set(&mut keys, "local_latency", text(&scale.time(random)));
    }
    if random.one_in(3) {
        set(&mut keys, "iterations", plain(random.between(1, 4)));
    }
    if random.one_in(3) {
        set(&mut keys, "placement", text(random.pick(&["in-order", "by-rack", "random"])));
    }
    if random.one_in(3) {
        set(&mut keys, "connections", text(random.pick(&["kept", "per-message"])));
    }
    if random.one_in(2) {
        set(&mut keys, "transport", text("go-back-n"));
    }
    let kind = if random.one_in(3) {
        let ranks = random.between(1, 2 * wiring.hosts.len() as u64);
        set(&mut keys, "graph", Node::Value(format!("'''\n{}'''", goal(ranks, scale, random))));
        set(&mut keys, "complete", plain(random.one_in(2)));
        "job"
    } else {
        collective(&mut keys, scale, random);
        "collective"
    };
    tables_at(table, kind).push(keys);
}

fn collective(keys: &mut Table, scale: &Scale, random: &mut Random) {
    let kinds = ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "barrier"];
    set(keys, "kind", text(random.pick(&kinds)));
    let algorithms = ["ring", "tree", "halving-doubling", "direct", "pairwise", "nccl"];
    if random.one_in(2) {
        set(keys, "algorithm", text(random.pick(&algorithms)));
    }
    set(keys, "size", text(&format!("{} octets", random.scale(1, scale.frame * 200))));
    for key in ["channels", "chunks", "in_flight"] {
        if random.one_in(4) {
            set(keys, key, plain(random.between(1, 5)));
        }
    }
    if random.one_in(4) {
        set(keys, "group", plain(random.between(2, 6)));
        set(keys, "stride", plain(random.between(1, 3)));
    }
    if random.one_in(4) {
        set(keys, "inside", text(random.pick(&algorithms)));
    }
    match random.below(4) {
        0 => set(keys, "compute", text(&scale.time(random))),
        1 => set(keys, "step_latency", text(&scale.time(random))),
        2 => set(keys, "start", text(&picoseconds(random.scale(1, scale.duration.max(2))))),
        _ => {}
    }
}

/// Each rank computes, sends to the next one and receives from the one before; some leave out a part.
fn goal(ranks: u64, scale: &Scale, random: &mut Random) -> String {
    let octets = random.scale(1, scale.frame * 100);
    let blocks = (0..ranks).map(|rank| {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let mut lines = format!("a: calc {}\nb: send {octets}b to {next} tag 1\n", random.below(1_000_000));
        if !random.one_in(8) {
            lines += &format!("c: recv {octets}b from {before} tag 1\n");
        }
        lines += if random.one_in(8) { "c requires a\na requires c\n" } else { "b requires a\n" };
        format!("rank {rank} {{\n{lines}}}\n")
    });
    format!("num_ranks {ranks}\n{}", blocks.collect::<String>())
}
