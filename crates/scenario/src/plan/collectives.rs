//! Jobs that are one collective, repeated: from a `[[collective]]` to its graph.

use penstock_jobs::nccl::{Generation, Model};
use penstock_jobs::{Algorithm, Graph, GraphBuilder, GraphError, Kind, Level, Rank, Time, Work};
use penstock_schemes::Duration;

use super::jobs::{Job, Operation, ranks};
use super::loads;
use crate::error::Fault;
use crate::keys::fields::{Either, Weights};
use crate::keys::sections::{Collective, CollectiveAlgorithm, CollectiveKind};
use crate::keys::topology::Layout;
use crate::limits::Bounds;

impl Collective {
    /// Its job, in a run of so long.
    pub(crate) fn job(&self, layout: &Layout, seed: u64, run: Duration, bounds: &Bounds<'_>) -> Result<Job, Fault> {
        let of = ranks!(self);
        let hosts = of.hosts(layout, run, bounds)?;
        let ranks = of.room(hosts.len(), bounds)?;
        if ranks < 2 {
            return Err(self.hosts.fault("a collective needs two ranks at least").with_hint("for instance \"h0..h7\""));
        }
        let groups = self.groups(ranks)?;
        let members = groups[0].len() as u32;
        let line = hosts.iter().map(|&host| loads::rate_of(layout, host)).fold(f64::INFINITY, f64::min);
        let kind = self.kind(members)?;
        let chosen = self.chosen(&kind, members, line)?;
        let graph = self.graph(groups, members, kind, chosen)?;
        let mut job = of.job((graph, ranks), &hosts, (layout, seed), bounds, |e| self.refused(e))?;
        job.collective = Some(self.operation(members, chosen));
        Ok(job)
    }

    fn refused(&self, error: &GraphError) -> Fault {
        self.algorithm.fault(error.message.clone()).with_hint("another algorithm, or another number of ranks")
    }

    /// The ranks of each group.
    fn groups(&self, ranks: u32) -> Result<Vec<Vec<Rank>>, Fault> {
        let stride = *self.stride as u32;
        let Some(group) = self.group.map(|group| group as u32) else {
            if stride > 1 {
                return Err(self
                    .stride
                    .fault("all ranks are one group")
                    .with_hint("give the size of a group, as in group = 8"));
            }
            return Ok(vec![(0..ranks).collect()]);
        };
        let block = u64::from(group) * u64::from(stride);
        if block > u64::from(ranks) || !u64::from(ranks).is_multiple_of(block) {
            let message = format!("{ranks} ranks are no multiple of group times stride, {group} times {stride}");
            return Err(self.group.fault(message).with_hint("a divisor of the number of ranks"));
        }
        let block = block as u32;
        let first = (0..ranks).filter(|rank| rank % block < stride);
        Ok(first.map(|first| (0..group).map(|member| first + member * stride).collect()).collect())
    }

    /// The algorithm: the one that is written, or that of NCCL's cost model among these members, at hosts with lines of this rate.
    fn chosen(&self, kind: &Kind, members: u32, line: f64) -> Result<CollectiveAlgorithm, Fault> {
        let usual = match *self.kind {
            CollectiveKind::AllToAll => CollectiveAlgorithm::Direct,
            _ => CollectiveAlgorithm::Ring,
        };
        let written = self.algorithm.unwrap_or(usual);
        if written != CollectiveAlgorithm::Nccl {
            return Ok(written);
        }
        let each = *self.ranks_per_host as u32;
        let together = if *self.stride == 1 && members.is_multiple_of(each) { each } else { 1 };
        let inside = self.local_rate.map_or(line, |rate| rate.0 as f64);
        let model = Model::new(Generation::Hopper, *self.channels as u32, inside / 8e9, line / 8e9);
        match model.choose(kind, self.size.0, members, together).map(|choice| choice.algorithm) {
            Some(Algorithm::DoubleTree) => Ok(CollectiveAlgorithm::Tree),
            Some(_) => Ok(CollectiveAlgorithm::Ring),
            None => {
                let message =
                    format!("NCCL's cost model has no choice for {}", word(CollectiveKind::WORDS, *self.kind));
                Err(self.algorithm.fault(message).with_hint("name an algorithm, or leave it out"))
            }
        }
    }

    /// What these members do.
    fn kind(&self, members: u32) -> Result<Kind, Fault> {
        if let Some(Weights(shares)) = &*self.shares {
            return self.uneven(shares, members as usize);
        }
        Ok(match *self.kind {
            CollectiveKind::AllReduce => Kind::AllReduce,
            CollectiveKind::ReduceScatter => Kind::ReduceScatter,
            CollectiveKind::AllGather => Kind::AllGather,
            CollectiveKind::AllToAll => Kind::AllToAll,
            CollectiveKind::Broadcast => Kind::Broadcast { root: 0 },
            CollectiveKind::Reduce => Kind::Reduce { root: 0 },
            CollectiveKind::Barrier => Kind::Barrier,
        })
    }

    /// An all-to-all in which each rank divides its data among the members in these proportions.
    fn uneven(&self, shares: &[u64], members: usize) -> Result<Kind, Fault> {
        if *self.kind != CollectiveKind::AllToAll {
            let message = format!("{} has no shares", word(CollectiveKind::WORDS, *self.kind));
            return Err(self.shares.fault(message).with_hint("leave them out, or kind = \"all-to-all\""));
        }
        if shares.len() > members {
            let message = format!("{} shares for {members} members of a group", shares.len());
            return Err(self
                .shares
                .fault(message)
                .with_hint("one for each, or fewer: the last one holds for the others"));
        }
        let last = shares.last().copied().unwrap_or_default();
        let of_each = || shares.iter().copied().chain(std::iter::repeat(last)).take(members).map(u128::from);
        let all: u128 = of_each().sum();
        if all == 0 {
            return Err(self.shares.fault("no member gets anything").with_hint("for instance [2, 1]"));
        }
        // Sums are rounded, and not shares, so that the parts are all of the data.
        let mut sum = 0;
        let mut begun = 0;
        let row = of_each().map(|share| {
            sum += share;
            let end = (u128::from(self.size.0) * sum / all) as u64;
            end - std::mem::replace(&mut begun, end)
        });
        let row: Vec<u64> = row.collect();
        Ok(Kind::AllToAllV(row.repeat(members)))
    }

    fn operation(&self, members: u32, chosen: CollectiveAlgorithm) -> Operation {
        let n = f64::from(members);
        Operation {
            kind: word(CollectiveKind::WORDS, *self.kind),
            algorithm: word(CollectiveAlgorithm::WORDS, chosen),
            size: *self.size,
            members,
            bus_factor: match *self.kind {
                CollectiveKind::AllReduce => 2.0 * (n - 1.0) / n,
                CollectiveKind::ReduceScatter | CollectiveKind::AllGather | CollectiveKind::AllToAll => (n - 1.0) / n,
                CollectiveKind::Broadcast | CollectiveKind::Reduce | CollectiveKind::Barrier => 1.0,
            },
        }
    }

    /// A computation of each rank, and then its part in the collective.
    fn graph(
        &self,
        groups: Vec<Vec<Rank>>,
        members: u32,
        kind: Kind,
        chosen: CollectiveAlgorithm,
    ) -> Result<Graph, Fault> {
        let each = *self.ranks_per_host as u32;
        let mut levels = Vec::new();
        if let Some(inside) = *self.inside {
            if each < 2 || members <= each || !members.is_multiple_of(each) || *self.stride > 1 {
                let message = "a hierarchy needs groups with all ranks of several hosts, and several ranks on each";
                return Err(self.inside.fault(message).with_hint("for instance ranks_per_host = 8, without stride"));
            }
            if inside == CollectiveAlgorithm::Nccl {
                return Err(self
                    .inside
                    .fault("NCCL's cost model is one of all ranks")
                    .with_hint("for instance \"ring\""));
            }
            levels.push(Level { members: each, algorithm: algorithm(inside) });
        }
        let compute = match &*self.compute {
            Either::First(time) => Time::Fixed(time.0),
            Either::Second(starts) => {
                let (low_ps, high_ps) = (starts.uniform.minimum.0, starts.uniform.maximum.0);
                if low_ps >= high_ps {
                    let message = format!("not above the minimum of {}", *starts.uniform.minimum);
                    return Err(starts.uniform.maximum.fault(message).with_hint("for a single time, write it alone"));
                }
                Time::Uniform { low_ps, high_ps }
            }
        };
        let mut builder = GraphBuilder::new(groups.iter().map(|group| group.len() as u32).sum());
        let collective = builder.collective(penstock_jobs::Collective {
            levels,
            channels: *self.channels as u32,
            chunks: *self.chunks as u32,
            in_flight: *self.in_flight as u32,
            step_latency_ps: self.step_latency.0,
            ..penstock_jobs::Collective::new(kind, self.size.0, algorithm(chosen))
        });
        let name = word(CollectiveKind::WORDS, *self.kind);
        for ranks in groups {
            let group = builder.add_group(ranks.clone());
            for rank in ranks {
                let part = builder.add_node(rank, Work::Collective { group, collective }, name);
                if compute != Time::Fixed(0) {
                    let computing = builder.add_node(rank, Work::Compute { time: compute, unit: 0 }, "compute");
                    builder.after(part, computing);
                }
            }
        }
        builder.finish().map_err(|e| self.refused(&e))
    }
}

/// The text of a value.
fn word<T: PartialEq + Copy>(words: &'static [(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, of)| *of == value).map_or("", |(word, _)| word)
}

fn algorithm(algorithm: CollectiveAlgorithm) -> Algorithm {
    match algorithm {
        CollectiveAlgorithm::Ring | CollectiveAlgorithm::Nccl => Algorithm::Ring,
        CollectiveAlgorithm::Tree => Algorithm::DoubleTree,
        CollectiveAlgorithm::HalvingDoubling => Algorithm::HalvingDoubling,
        CollectiveAlgorithm::Direct => Algorithm::Direct,
        CollectiveAlgorithm::Pairwise => Algorithm::Pairwise,
    }
}
