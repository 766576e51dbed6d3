//! Jobs: from a `[[collective]]` to a graph of work whose ranks are on hosts, with the messages that it sends over the network.

use std::collections::BTreeMap;

use penstock_jobs::executor::Detail;
use penstock_jobs::graph::CollectiveId;
use penstock_jobs::nccl::{Generation, Model};
use penstock_jobs::schedule::Schedule;
use penstock_jobs::{
    Algorithm, Executor, Graph, GraphBuilder, GraphError, GroupId, Kind, Level, Local, Rank, Settings, Time, Work,
    placement,
};
use penstock_schemes::{BitRate, Duration, Octets};

use super::arrival::{Arrival, Demand};
use super::loads;
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::sections::{Collective, CollectiveAlgorithm, CollectiveKind, Connections, Placement};
use crate::keys::topology::Layout;
use crate::limits::{Bounds, MESSAGES};

/// How there would be fewer messages.
pub(crate) const LESS: &str = "fewer iterations, channels, chunks or ranks";

/// Nodes and iterations up to which each computation is recorded, and not only each collective.
const RECORDED: u64 = 2_000_000;

/// A job, its ranks on hosts, before it begins.
#[derive(Debug, Clone)]
pub struct Job {
    executor: Executor,
    /// The host of each rank, a node's index.
    hosts: Vec<usize>,
    iterations: u32,
    start: Duration,
    /// Whether a rank has one connection to each other one.
    pub(super) keeps_connections: bool,
    messages: u32,
    /// What goes from each rank to each, of all iterations.
    pairs: BTreeMap<(Rank, Rank), Load>,
    collective: Option<Operation>,
}

/// Messages of a pair of ranks, and their octets.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    messages: u32,
    octets: u64,
}

/// The collective of a job that is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// Its name, as in a scenario.
    pub kind: &'static str,
    /// Its algorithm, as in a scenario.
    pub algorithm: &'static str,
    /// The octets of a rank.
    pub size: Octets,
    /// The ranks of a group.
    pub members: u32,
    /// Bus bandwidth over algorithm bandwidth, as NCCL's tests define it: what a rank sends at the least, over the size.
    pub bus_factor: f64,
}

impl Collective {
    /// Its job, in a run of so long.
    pub(crate) fn job(&self, layout: &Layout, seed: u64, run: Duration, bounds: &Bounds<'_>) -> Result<Job, Fault> {
        let hosts = loads::hosts(&self.hosts, layout, bounds)?;
        if *self.start >= run {
            let hint = format!("the run ends at {run}");
            return Err(self.start.fault("the collective would start at or after the end of the run").with_hint(hint));
        }
        let each = *self.ranks_per_host as u32;
        let ranks = hosts.len() as u64 * u64::from(each);
        bounds.check(MESSAGES, ranks, "fewer hosts, or ranks_per_host").map_err(|e| self.ranks_per_host.excess(e))?;
        let ranks = ranks as u32;
        if ranks < 2 {
            return Err(self.hosts.fault("a collective needs two ranks at least").with_hint("for instance \"h0..h7\""));
        }
        let groups = self.groups(ranks)?;
        let members = groups[0].len() as u32;
        let line = hosts.iter().map(|&host| loads::rate_of(layout, host)).fold(f64::INFINITY, f64::min);
        let chosen = self.chosen(members, line)?;
        let operation = self.operation(members, chosen);
        let host_of = self.placed(layout, &hosts, ranks, seed);
        let graph = self.graph(groups, members, chosen)?;
        let local =
            Local { rate_bps: self.local_rate.map_or(0, |BitRate(rate)| rate), latency_ps: self.local_latency.0 };
        let iterations = *self.iterations as u32;
        let all_nodes = u64::from(graph.len()) * u64::from(iterations) <= RECORDED;
        let settings = Settings {
            host_of: host_of.clone(),
            local,
            iterations,
            seed: self.seed.unwrap_or(seed),
            detail: if all_nodes { Detail::Nodes } else { Detail::Collectives },
        };
        let pairs = pairs(&graph, &host_of, iterations, |messages| {
            bounds.go_on()?;
            bounds.check(MESSAGES, messages, LESS)
        })
        .map_err(|e| self.iterations.excess(e))?;
        let executor = Executor::new(graph, settings).map_err(|e| self.refused(&e))?;
        bounds.check(MESSAGES, executor.messages(), LESS).map_err(|e| self.iterations.excess(e))?;
        Ok(Job {
            messages: executor.messages() as u32,
            executor,
            hosts: host_of.iter().map(|&host| hosts[host as usize]).collect(),
            iterations,
            start: *self.start,
            keeps_connections: *self.connections == Connections::Kept,
            pairs,
            collective: Some(operation),
        })
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
    fn chosen(&self, members: u32, line: f64) -> Result<CollectiveAlgorithm, Fault> {
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
        match model.choose(&self.kind(), self.size.0, members, together).map(|choice| choice.algorithm) {
            Some(Algorithm::DoubleTree) => Ok(CollectiveAlgorithm::Tree),
            Some(_) => Ok(CollectiveAlgorithm::Ring),
            None => {
                let message =
                    format!("NCCL's cost model has no choice for {}", word(CollectiveKind::WORDS, *self.kind));
                Err(self.algorithm.fault(message).with_hint("name an algorithm, or leave it out"))
            }
        }
    }

    fn kind(&self) -> Kind {
        match *self.kind {
            CollectiveKind::AllReduce => Kind::AllReduce,
            CollectiveKind::ReduceScatter => Kind::ReduceScatter,
            CollectiveKind::AllGather => Kind::AllGather,
            CollectiveKind::AllToAll => Kind::AllToAll,
            CollectiveKind::Broadcast => Kind::Broadcast { root: 0 },
            CollectiveKind::Reduce => Kind::Reduce { root: 0 },
            CollectiveKind::Barrier => Kind::Barrier,
        }
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

    /// The place of each rank in the list of hosts.
    fn placed(&self, layout: &Layout, hosts: &[usize], ranks: u32, seed: u64) -> Vec<u32> {
        let (count, each) = (hosts.len() as u32, *self.ranks_per_host as u32);
        let host_of = match *self.placement {
            Placement::InOrder => placement::in_order(ranks, count, each),
            Placement::Random => placement::at_random(ranks, count, each, self.seed.unwrap_or(seed)),
            Placement::ByRack => {
                let mut racks = BTreeMap::new();
                let rack = |&host: &usize| {
                    let switch = layout.nodes[host].ports.first().map(|&port| layout.ports[port].peer);
                    let next = racks.len() as u32;
                    *racks.entry(switch).or_insert(next)
                };
                let rack_of: Vec<u32> = hosts.iter().map(rack).collect();
                placement::by_rack(ranks, &rack_of, each)
            }
        };
        host_of.expect("there are as many ranks as the hosts have room for")
    }

    /// A computation of each rank, and then its part in the collective.
    fn graph(&self, groups: Vec<Vec<Rank>>, members: u32, chosen: CollectiveAlgorithm) -> Result<Graph, Fault> {
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
            ..penstock_jobs::Collective::new(self.kind(), self.size.0, algorithm(chosen))
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

/// The messages between ranks of different hosts. `check` sees how many there are so far.
fn pairs<E>(
    graph: &Graph,
    host_of: &[u32],
    iterations: u32,
    check: impl Fn(u64) -> Result<(), E>,
) -> Result<BTreeMap<(Rank, Rank), Load>, E> {
    let mut pairs: BTreeMap<(Rank, Rank), Load> = BTreeMap::new();
    let mut schedules: BTreeMap<(CollectiveId, usize), Option<Schedule>> = BTreeMap::new();
    let mut all = 0_u64;
    let mut add = |pairs: &mut BTreeMap<(Rank, Rank), Load>, from: Rank, to: Rank, octets: u64| {
        all += u64::from(iterations);
        check(all)?;
        if host_of[from as usize] != host_of[to as usize] {
            let pair = pairs.entry((from, to)).or_default();
            pair.messages += iterations;
            pair.octets = pair.octets.saturating_add(octets.max(1).saturating_mul(u64::from(iterations)));
        }
        Ok(())
    };
    for node in 0..graph.len() {
        match graph.work(node) {
            Work::Send { to, octets, .. } => add(&mut pairs, graph.rank(node), to, octets)?,
            Work::Collective { group, collective } => {
                // Once for all members: at the first one.
                let ranks: &[Rank] = &graph.groups()[group as GroupId as usize];
                if ranks[0] != graph.rank(node) {
                    continue;
                }
                let schedule = schedules
                    .entry((collective, ranks.len()))
                    .or_insert_with(|| Schedule::new(&graph.collectives()[collective as usize], ranks.len() as u32));
                let Some(schedule) = schedule else {
                    // It has 2^32 messages or more.
                    return check(u64::MAX).map(|()| pairs);
                };
                for message in schedule.messages() {
                    add(&mut pairs, ranks[message.from as usize], ranks[message.to as usize], message.octets)?;
                }
            }
            Work::Compute { .. } | Work::Delay { .. } | Work::Receive { .. } => {}
        }
    }
    Ok(pairs)
}

impl Job {
    /// Its graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.executor.graph()
    }

    /// The host of each rank, a node's index.
    #[must_use]
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// How often its graph runs.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// When it begins.
    #[must_use]
    pub fn start(&self) -> Duration {
        self.start
    }

    /// The collective, if it is one.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        self.collective
    }

    /// The octets that each host sends and receives over the network in an iteration, by its node's index.
    #[must_use]
    pub fn octets_of_hosts(&self) -> BTreeMap<usize, (u64, u64)> {
        let mut octets: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (&(from, to), load) in &self.pairs {
            let each = load.octets / u64::from(self.iterations);
            octets.entry(self.hosts[from as usize]).or_default().0 += each;
            octets.entry(self.hosts[to as usize]).or_default().1 += each;
        }
        octets
    }

    /// Its messages, those inside of hosts among them.
    pub(super) fn messages(&self) -> u32 {
        self.messages
    }

    /// An executor that begins it.
    pub(super) fn executor(&self) -> Executor {
        self.executor.clone()
    }

    /// The name that the path of message `number` of a pair follows from.
    pub(super) fn name_of_path(&self, job: &str, (from, to): (Rank, Rank), number: u32) -> String {
        if self.keeps_connections { format!("{job}.{from}-{to}") } else { format!("{job}.{from}-{to}.{number}") }
    }

    /// What its messages demand of the network: those of a connection together.
    pub(super) fn demands<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Demand> + 'a {
        self.pairs.iter().flat_map(move |(&pair, load)| {
            let (paths, flows) = if self.keeps_connections { (1, load.messages) } else { (load.messages, 1) };
            let size = Octets(load.octets / u64::from(paths));
            (0..paths).map(move |number| Demand {
                arrival: self.arrival(pair, self.start, size),
                flows,
                name: self.name_of_path(name, pair, number),
            })
        })
    }

    /// A message from a rank to another. One without octets has the shortest frame.
    pub(super) fn arrival(&self, (from, to): (Rank, Rank), start: Duration, size: Octets) -> Arrival {
        let (source, destination) = (self.hosts[from as usize], self.hosts[to as usize]);
        Arrival { start, source, destination, size: size.max(Octets(1)) }
    }
}
