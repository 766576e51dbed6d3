//! Jobs: a graph of work whose ranks are on hosts, with the messages that it sends over the network.

use std::collections::BTreeMap;

use penstock_jobs::executor::Detail;
use penstock_jobs::graph::CollectiveId;
use penstock_jobs::schedule::Schedule;
use penstock_jobs::{Executor, Graph, GraphError, GroupId, Local, Rank, Settings, Work, placement};
use penstock_schemes::{Duration, Octets};

use super::arrival::{Arrival, Demand};
use super::loads;
use crate::error::Fault;
use crate::keys::fields::Names;
use crate::keys::read::Entry;
use crate::keys::sections::{Connections, Placement};
use crate::keys::topology::Layout;
use crate::limits::{Bounds, MESSAGES};

/// How there would be fewer messages.
pub(crate) const LESS: &str = "fewer iterations, channels, chunks or ranks";

/// Nodes and iterations up to which each computation is recorded, and not only each collective.
const RECORDED: u64 = 2_000_000;

/// Messages up to which the slowest path of a job is kept: 20 octets for each of them, and 80 more once it has ended.
const MESSAGES_OF_PATHS: u64 = 4_000_000;

/// A job, its ranks on hosts, before it begins.
#[derive(Debug, Clone)]
pub struct Job {
    executor: Executor,
    /// The host of each rank, a node's index.
    hosts: Vec<usize>,
    iterations: u32,
    start: Duration,
    /// Whether a rank keeps a connection to each other one, on each channel.
    pub(super) keeps_connections: bool,
    /// Whether its result has its slowest path.
    pub(super) keeps_path: bool,
    messages: u32,
    /// The links between ranks of one host.
    pub(super) local: Local,
    /// A program sends its messages; see `outside_work`.
    pub(super) outside: bool,
    /// What goes over each connection, in all iterations.
    connections: BTreeMap<Connection, Load>,
    pub(super) collective: Option<Operation>,
}

/// A connection: from a rank to another, on a channel.
pub(super) type Connection = (Rank, Rank, u32);

/// Messages of a connection, and their octets.
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

/// The keys that `[[collective]]` and `[[job]]` have alike: ranks on hosts.
pub(super) struct Ranks<'a> {
    pub(super) hosts: &'a Entry<Option<Names>>,
    pub(super) each: &'a Entry<u64>,
    pub(super) placement: Placement,
    pub(super) local: Local,
    pub(super) iterations: &'a Entry<u64>,
    pub(super) start: &'a Entry<Duration>,
    pub(super) connections: Connections,
    pub(super) seed: Option<u64>,
}

/// Borrows them from a table.
macro_rules! ranks {
    ($table:expr) => {
        $crate::plan::jobs::Ranks {
            hosts: &$table.hosts,
            each: &$table.ranks_per_host,
            placement: *$table.placement,
            local: penstock_jobs::Local {
                rate_bps: $table.local_rate.map_or(0, |rate| rate.0),
                latency_ps: $table.local_latency.0,
            },
            iterations: &$table.iterations,
            start: &$table.start,
            connections: *$table.connections,
            seed: *$table.seed,
        }
    };
}
pub(super) use ranks;

impl Ranks<'_> {
    /// The hosts, in a run of so long.
    pub(super) fn hosts(&self, layout: &Layout, run: Duration, bounds: &Bounds<'_>) -> Result<Vec<usize>, Fault> {
        if **self.start >= run {
            let hint = format!("the run ends at {run}");
            return Err(self.start.fault("the job would start at or after the end of the run").with_hint(hint));
        }
        loads::hosts(self.hosts, layout, bounds)
    }

    /// The most ranks that this number of hosts has room for.
    pub(super) fn room(&self, hosts: usize, bounds: &Bounds<'_>) -> Result<u32, Fault> {
        let ranks = hosts as u64 * **self.each;
        bounds.check(MESSAGES, ranks, "fewer hosts, or ranks_per_host").map_err(|e| self.each.excess(e))?;
        Ok(ranks as u32)
    }

    /// The job of a graph of `ranks` ranks on these hosts. `refused` is the error about the graph.
    pub(super) fn job(
        &self,
        (graph, ranks): (Graph, u32),
        hosts: &[usize],
        (layout, seed): (&Layout, u64),
        bounds: &Bounds<'_>,
        refused: impl Fn(&GraphError) -> Fault,
    ) -> Result<Job, Fault> {
        let seed = self.seed.unwrap_or(seed);
        let host_of = self.placed(layout, hosts, ranks, seed);
        let iterations = **self.iterations as u32;
        let all_nodes = u64::from(graph.len()) * u64::from(iterations) <= RECORDED;
        let connections = connections(&graph, &host_of, iterations, |messages| {
            bounds.go_on()?;
            bounds.check(MESSAGES, messages, LESS)
        })
        .map_err(|e| self.iterations.excess(e))?;
        let messages: u64 = connections.values().map(|load| u64::from(load.messages)).sum();
        let detail = match (all_nodes, messages <= MESSAGES_OF_PATHS) {
            (true, true) => Detail::Job,
            (true, false) => Detail::Nodes,
            (false, _) => Detail::Collectives,
        };
        let settings = Settings { host_of: host_of.clone(), local: self.local, iterations, seed, detail };
        let executor = Executor::new(graph, settings).map_err(|e| refused(&e))?;
        bounds.check(MESSAGES, executor.messages(), LESS).map_err(|e| self.iterations.excess(e))?;
        Ok(Job {
            messages: executor.messages() as u32,
            executor,
            hosts: host_of.iter().map(|&host| hosts[host as usize]).collect(),
            iterations,
            start: **self.start,
            keeps_connections: self.connections == Connections::Kept,
            keeps_path: detail == Detail::Job,
            connections,
            local: self.local,
            outside: false,
            collective: None,
        })
    }

    /// The index of each rank's host in the list.
    fn placed(&self, layout: &Layout, hosts: &[usize], ranks: u32, seed: u64) -> Vec<u32> {
        let (count, each) = (hosts.len() as u32, **self.each as u32);
        let host_of = match self.placement {
            Placement::InOrder => placement::in_order(ranks, count, each),
            Placement::Random => placement::at_random(ranks, count, each, seed),
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
        host_of.expect("there are no more ranks than the hosts have room for")
    }
}

/// The messages between ranks of different hosts. `check` sees how many there are so far.
fn connections<E>(
    graph: &Graph,
    host_of: &[u32],
    iterations: u32,
    check: impl Fn(u64) -> Result<(), E>,
) -> Result<BTreeMap<Connection, Load>, E> {
    let mut all_connections: BTreeMap<Connection, Load> = BTreeMap::new();
    let mut schedules: BTreeMap<(CollectiveId, usize), Option<Schedule>> = BTreeMap::new();
    let mut all = 0_u64;
    let mut add = |loads: &mut BTreeMap<Connection, Load>, (from, to, channel): Connection, octets: u64| {
        all += u64::from(iterations);
        check(all)?;
        if host_of[from as usize] != host_of[to as usize] {
            let load = loads.entry((from, to, channel)).or_default();
            load.messages += iterations;
            load.octets = load.octets.saturating_add(octets.max(1).saturating_mul(u64::from(iterations)));
        }
        Ok(())
    };
    for node in 0..graph.len() {
        match graph.work(node) {
            Work::Send { to, octets, .. } => add(&mut all_connections, (graph.rank(node), to, 0), octets)?,
            Work::Collective { group, collective } => {
                // Once for all members: at the first one.
                let ranks: &[Rank] = &graph.groups()[group as GroupId as usize];
                if ranks[0] != graph.rank(node) {
                    continue;
                }
                // Before they are listed.
                let about = graph.collectives()[collective as usize].messages(ranks.len() as u32);
                check(u64::try_from(about).unwrap_or(u64::MAX).saturating_mul(u64::from(iterations)))?;
                let schedule = schedules
                    .entry((collective, ranks.len()))
                    .or_insert_with(|| Schedule::new(&graph.collectives()[collective as usize], ranks.len() as u32));
                let Some(schedule) = schedule else {
                    // It has 2^32 messages or more.
                    return check(u64::MAX).map(|()| all_connections);
                };
                for (number, message) in (0..).zip(schedule.messages()) {
                    let (from, to) = (ranks[message.from as usize], ranks[message.to as usize]);
                    add(&mut all_connections, (from, to, schedule.channel(number)), message.octets)?;
                }
            }
            Work::Compute { .. } | Work::Delay { .. } | Work::Receive { .. } => {}
        }
    }
    Ok(all_connections)
}

impl Job {
    /// The job without a graph, for messages from outside: each rank has a connection to each one of another host.
    pub(super) fn for_outside(mut self) -> Self {
        let ranks = self.hosts.len() as Rank;
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to, 0)));
        let apart = pairs.filter(|&(from, to, _)| self.hosts[from as usize] != self.hosts[to as usize]);
        self.connections = apart.map(|connection| (connection, Load { messages: 1, octets: 1 })).collect();
        self.messages = self.connections.len() as u32;
        self.outside = true;
        self
    }

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
        for (&(from, to, _), load) in &self.connections {
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

    /// Messages of a connection in all.
    pub(super) fn messages_of(&self, connection: Connection) -> u32 {
        self.connections.get(&connection).map_or(0, |load| load.messages)
    }

    /// The name that the path of message `number` of a connection follows from.
    pub(super) fn name_of_path(&self, job: &str, (from, to, channel): Connection, number: u32) -> String {
        let channel = if channel > 0 { format!("/{channel}") } else { String::new() };
        let number = if self.keeps_connections { String::new() } else { format!(".{number}") };
        format!("{job}.{from}-{to}{channel}{number}")
    }

    /// What its messages demand of the network: those of a connection together.
    pub(super) fn demands<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Demand> + 'a {
        self.connections.iter().flat_map(move |(&connection, load)| {
            let (paths, flows) = if self.keeps_connections { (1, load.messages) } else { (load.messages, 1) };
            let size = Octets(load.octets / u64::from(paths));
            (0..paths).map(move |number| Demand {
                arrival: self.arrival(connection, self.start, size),
                flows,
                name: self.name_of_path(name, connection, number),
            })
        })
    }

    /// A message of a connection. One without octets has the shortest frame.
    pub(super) fn arrival(&self, (from, to, _): Connection, start: Duration, size: Octets) -> Arrival {
        let (source, destination) = (self.hosts[from as usize], self.hosts[to as usize]);
        Arrival { start, source, destination, size: size.max(Octets(1)) }
    }
}
