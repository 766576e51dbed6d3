//! Collectives over levels: inside of blocks, and across them among the members with the same index in their block.

use alloc::vec::Vec;

use super::{Plan, Slice, exchange, halving, matrix, parts, ring, tree};
use crate::collective::{Algorithm, Collective, Kind, Level};

/// Plans a slice of a collective among all members.
pub(super) fn plan(plan: &mut Plan, collective: &Collective, members: u32, slice: &Slice) {
    let team: Vec<u32> = (0..members).collect();
    let octets = slice.of(collective.octets);
    let levels = Levels { inner: &collective.levels, algorithm: collective.algorithm };
    match collective.kind {
        Kind::AllReduce => levels.all_reduce(plan, &team, octets),
        Kind::Barrier => levels.all_reduce(plan, &team, 0),
        Kind::ReduceScatter => levels.reduce_scatter(plan, &team, &slice.parts(collective.octets, members)),
        Kind::AllGather => levels.all_gather(plan, &team, &slice.parts(collective.octets, members)),
        Kind::AllToAll | Kind::AllToAllV(_) => levels.all_to_all(plan, &team, &matrix(collective, members, slice)),
        Kind::Broadcast { root } => levels.broadcast(plan, &team, root as usize, octets),
        Kind::Reduce { root } => levels.reduce(plan, &team, root as usize, octets),
    }
}

/// The levels that a team still has, the innermost first, and the algorithm of the outermost.
#[derive(Clone, Copy)]
struct Levels<'a> {
    inner: &'a [Level],
    algorithm: Algorithm,
}

impl<'a> Levels<'a> {
    /// The innermost level alone, the size of its blocks, and the levels across; `None` if there is one level.
    fn split(self) -> Option<(Self, usize, Self)> {
        let (level, inner) = self.inner.split_first()?;
        Some((Self { inner: &[], algorithm: level.algorithm }, level.members as usize, Self { inner, ..self }))
    }

    fn all_reduce(self, plan: &mut Plan, team: &[u32], octets: u64) {
        if let Some((inside, block, across)) = self.split() {
            let sizes = parts(octets, block);
            blocks(team, block).for_each(|team| inside.reduce_scatter(plan, team, &sizes));
            for (at, team) in rails(team, block) {
                across.all_reduce(plan, &team, sizes[at]);
            }
            blocks(team, block).for_each(|team| inside.all_gather(plan, team, &sizes));
        } else if team.len() > 1 {
            match self.algorithm {
                Algorithm::Ring => ring::all_reduce(plan, team, &parts(octets, team.len())),
                Algorithm::DoubleTree => tree::all_reduce(plan, team, octets),
                Algorithm::HalvingDoubling => halving::all_reduce(plan, team, octets),
                Algorithm::Direct | Algorithm::Pairwise => {
                    let sizes = parts(octets, team.len());
                    self.reduce_scatter(plan, team, &sizes);
                    self.all_gather(plan, team, &sizes);
                }
            }
        }
    }

    fn reduce_scatter(self, plan: &mut Plan, team: &[u32], sizes: &[u64]) {
        if let Some((inside, block, across)) = self.split() {
            let sums = sums(sizes, block);
            blocks(team, block).for_each(|team| inside.reduce_scatter(plan, team, &sums));
            for (at, team) in rails(team, block) {
                across.reduce_scatter(plan, &team, &of_rail(sizes, at, block));
            }
        } else if team.len() > 1 {
            match self.algorithm {
                Algorithm::Ring => ring::reduce_scatter(plan, team, sizes),
                Algorithm::HalvingDoubling => halving::reduce_scatter(plan, team, sizes),
                Algorithm::Direct => exchange::all_to_all(plan, team, false, |_, to| Some(sizes[to])),
                Algorithm::Pairwise => exchange::all_to_all(plan, team, true, |_, to| Some(sizes[to])),
                Algorithm::DoubleTree => unreachable!("a tree scatters nothing"),
            }
        }
    }

    fn all_gather(self, plan: &mut Plan, team: &[u32], sizes: &[u64]) {
        if let Some((inside, block, across)) = self.split() {
            for (at, team) in rails(team, block) {
                across.all_gather(plan, &team, &of_rail(sizes, at, block));
            }
            let sums = sums(sizes, block);
            blocks(team, block).for_each(|team| inside.all_gather(plan, team, &sums));
        } else if team.len() > 1 {
            match self.algorithm {
                Algorithm::Ring => ring::all_gather(plan, team, sizes),
                Algorithm::HalvingDoubling => halving::all_gather(plan, team, sizes),
                Algorithm::Direct => exchange::all_to_all(plan, team, false, |from, _| Some(sizes[from])),
                Algorithm::Pairwise => exchange::all_to_all(plan, team, true, |from, _| Some(sizes[from])),
                Algorithm::DoubleTree => unreachable!("a tree gathers nothing"),
            }
        }
    }

    /// Inside, a member gets from its block all that is for its rail; across, each gets its own.
    fn all_to_all(self, plan: &mut Plan, team: &[u32], octets: &[Option<u64>]) {
        let n = team.len();
        if let Some((inside, block, across)) = self.split() {
            let count = n / block;
            // From the member with index `from` to the one with index `to` in a block and on a rail, of those that
            // `with` counts.
            let sum = |pairs: &mut dyn Iterator<Item = usize>| {
                pairs.filter_map(|at| octets[at]).fold(None, |sum, octets| Some(sum.unwrap_or(0) + octets))
            };
            for (b, team) in blocks(team, block).enumerate() {
                let inner: Vec<_> = (0..block * block)
                    .map(|at| {
                        let row = (b * block + at / block) * n;
                        sum(&mut (0..count).map(|other| row + other * block + at % block))
                    })
                    .collect();
                inside.all_to_all(plan, team, &inner);
            }
            for (rail, team) in rails(team, block) {
                let outer: Vec<_> = (0..count * count)
                    .map(|at| {
                        let column = at % count * block + rail;
                        sum(&mut (0..block).map(|member| (at / count * block + member) * n + column))
                    })
                    .collect();
                across.all_to_all(plan, &team, &outer);
            }
        } else if n > 1 {
            exchange::all_to_all(plan, team, self.algorithm == Algorithm::Pairwise, |from, to| octets[from * n + to]);
        }
    }

    fn broadcast(self, plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
        if let Some((inside, block, across)) = self.split() {
            let rail: Vec<u32> = team.iter().skip(root % block).step_by(block).copied().collect();
            across.broadcast(plan, &rail, root / block, octets);
            blocks(team, block).for_each(|team| inside.broadcast(plan, team, root % block, octets));
        } else if team.len() > 1 {
            match self.algorithm {
                Algorithm::Ring => ring::broadcast(plan, team, root, octets),
                Algorithm::DoubleTree => tree::broadcast(plan, team, root, octets),
                _ => exchange::broadcast(plan, team, root, octets),
            }
        }
    }

    fn reduce(self, plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
        if let Some((inside, block, across)) = self.split() {
            blocks(team, block).for_each(|team| inside.reduce(plan, team, root % block, octets));
            let rail: Vec<u32> = team.iter().skip(root % block).step_by(block).copied().collect();
            across.reduce(plan, &rail, root / block, octets);
        } else if team.len() > 1 {
            match self.algorithm {
                Algorithm::Ring => ring::reduce(plan, team, root, octets),
                Algorithm::DoubleTree => tree::reduce(plan, team, root, octets),
                _ => exchange::reduce(plan, team, root, octets),
            }
        }
    }
}

/// The members of each block.
fn blocks(team: &[u32], block: usize) -> impl Iterator<Item = &[u32]> {
    team.chunks(block)
}

/// For each index in a block the members that have it.
fn rails(team: &[u32], block: usize) -> impl Iterator<Item = (usize, Vec<u32>)> {
    (0..block).map(move |at| (at, of_rail(team, at, block)))
}

/// What a rail has of something that each member has.
fn of_rail<T: Copy>(all: &[T], at: usize, block: usize) -> Vec<T> {
    all.iter().skip(at).step_by(block).copied().collect()
}

/// For each index in a block the sum of the parts of the members that have it.
fn sums(sizes: &[u64], block: usize) -> Vec<u64> {
    (0..block).map(|at| sizes.iter().skip(at).step_by(block).sum()).collect()
}
