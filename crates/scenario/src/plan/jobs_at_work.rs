//! Jobs as the engine sees them: messages that end, and those that begin then.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_jobs::executor::Piece;
use penstock_jobs::{Action, Executor, MessageId, Work as NodeWork};
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Arrival, Begun, Message, MessageAccount, PortId, Work};
use penstock_sim::outcome::{JobOutcome, PathPiece, SentOnPath, Span};

use super::busy_links::BusyLinks;
use super::generated_flows::{GeneratedFlows, Inner};
use super::jobs::{Connection, Job};

/// The most sentences on work that waits, of a job.
const SENTENCES: usize = 3;

/// All jobs of a run.
#[derive(Debug)]
pub(crate) struct JobsAtWork {
    generated: Arc<Inner>,
    jobs: Vec<Running>,
    /// Empty between two calls.
    actions: Vec<Action>,
}

/// A job that runs.
#[derive(Debug)]
struct Running {
    table: usize,
    executor: Executor,
    start: Instant,
    begun: bool,
    /// For each connection that has begun and not ended its messages so far, and its flow.
    connections: BTreeMap<Connection, (u32, Option<Kept>)>,
    links: BusyLinks,
    /// The ports of messages that are under way to hosts of this part, and when they began, by their numbers.
    under_way: BTreeMap<u32, (Instant, Arc<[PortId]>)>,
    /// The ports of connections that are kept, from another part, by their flows.
    elsewhere: BTreeMap<u32, Arc<[PortId]>>,
    /// The accounts of messages that have ended, where the slowest path is kept.
    accounts: BTreeMap<u32, MessageAccount>,
}

/// The flow of a connection that is kept: its number, that of the first message, and the ports that it crosses at its start.
#[derive(Debug, Clone)]
struct Kept {
    flow: u32,
    ports: Arc<[PortId]>,
}

impl Running {
    fn next_wake(&self) -> Option<Instant> {
        if self.begun { self.executor.next_wake_ps().map(Instant) } else { Some(self.start) }
    }

    /// Adds the messages that begin now.
    fn send(&mut self, generated: &Inner, actions: &mut Vec<Action>, now: Instant, out: &mut Vec<Begun>) {
        let job = job_of(generated, self.table);
        let name = generated.name_of_table(self.table);
        for action in actions.drain(..) {
            let Action::Send { message, from, to, octets } = action else { continue };
            let (number, connection) = (message.0 as u32, (from, to, self.executor.channel(message)));
            let arrival = job.arrival(connection, now.since(Instant::ZERO), Octets(octets));
            let all = job.messages_of(connection);
            let (sent, kept) = self.connections.entry(connection).or_default();
            *sent += 1;
            let last = *sent == all;
            if let Some(Kept { flow, ports }) = kept.clone() {
                let process = self.table as u32;
                out.push(Begun::Message(Message { process, flow, number, size: arrival.size, last }));
                self.under_way.insert(number, (now, ports));
            } else {
                let routes = generated.routes(&job.name_of_path(name, connection, *sent - 1), &arrival);
                let mut arrival = generated.begin((self.table, number), &arrival, routes);
                arrival.stays = job.keeps_connections && !last;
                let ports = ports_of(&arrival);
                *kept = arrival.stays.then(|| Kept { flow: number, ports: Arc::clone(&ports) });
                self.under_way.insert(number, (now, ports));
                out.push(Begun::Flow(arrival));
            }
            if last {
                self.connections.remove(&connection);
            }
        }
    }

    /// A message begins in another part, for a host of this one.
    fn begins_elsewhere(&mut self, begun: &Begun, at: Instant) {
        let (number, ports) = match begun {
            Begun::Flow(arrival) => {
                let ports = ports_of(arrival);
                if arrival.stays {
                    self.elsewhere.insert(arrival.number, Arc::clone(&ports));
                }
                (arrival.number, Some(ports))
            }
            Begun::Message(Message { flow, number, last: true, .. }) => (*number, self.elsewhere.remove(flow)),
            Begun::Message(Message { flow, number, .. }) => (*number, self.elsewhere.get(flow).cloned()),
        };
        self.under_way.extend(ports.map(|ports| (number, (at, ports))));
    }

    /// Takes what the job was in another part.
    fn absorb(&mut self, other: Self) {
        self.begun |= other.begun;
        self.executor.absorb(other.executor);
        self.links.absorb(other.links);
        self.accounts.extend(other.accounts);
    }

    /// The slowest path of a job that has ended.
    fn path(&self, records: &[penstock_jobs::Record]) -> Vec<PathPiece> {
        let piece = |piece: Piece| {
            let message = piece.message.map(|message| {
                let origin = self.executor.origin(message);
                let account = self.accounts.get(&(message.0 as u32)).copied();
                SentOnPath { from: origin.from, to: origin.to, size: Octets(origin.octets), account }
            });
            let (begin, end) = (Instant(piece.begin_ps), Instant(piece.end_ps));
            PathPiece { iteration: piece.iteration, node: piece.node, begin, end, message }
        };
        self.executor.slowest_path(records).into_iter().map(piece).collect()
    }

    fn outcome(&mut self) -> JobOutcome {
        let graph = self.executor.graph();
        let mut computed = vec![Duration::ZERO; graph.ranks() as usize];
        let computes: Vec<bool> =
            (0..graph.len()).map(|node| matches!(graph.work(node), NodeWork::Compute { .. })).collect();
        let span = |record: penstock_jobs::Record| {
            let (begin, end) = (Instant(record.begin_ps), Instant(record.end_ps));
            if record.node.is_some_and(|node| computes[node as usize]) {
                let of_rank = &mut computed[record.rank as usize];
                *of_rank = *of_rank + end.since(begin);
            }
            Span { rank: record.rank, iteration: record.iteration, node: record.node, begin, end, after: record.after }
        };
        let records = self.executor.take_records();
        let path = if self.executor.is_done() { self.path(&records) } else { Vec::new() };
        let spans = records.into_iter().map(span).collect();
        let links = self.links.take();
        let waiting = if self.executor.is_done() { Vec::new() } else { self.executor.waiting(SENTENCES) };
        JobOutcome { process: self.table as u32, done: self.executor.is_done(), spans, computed, path, links, waiting }
    }
}

impl GeneratedFlows {
    /// The work of all jobs, for the engine; `None` where there are none.
    #[must_use]
    pub fn work(&self) -> Option<Box<dyn Work>> {
        Some(Box::new(JobsAtWork::new(&self.0)?))
    }

    /// The same for a part of the network that has these hosts, by the indices of their nodes.
    #[must_use]
    pub fn work_of_hosts(&self, has: impl Fn(usize) -> bool) -> Option<Box<dyn Work>> {
        let mut work = JobsAtWork::new(&self.0)?;
        for job in &mut work.jobs {
            let hosts = job_of(&self.0, job.table).hosts();
            job.executor.restrict(hosts.iter().map(|&host| has(host)).collect());
        }
        Some(Box::new(work))
    }
}

/// The ports that a message crosses at its start, on its first path.
fn ports_of(arrival: &Arrival) -> Arc<[PortId]> {
    arrival.path.iter().map(|&(port, _)| port).collect()
}

/// The job of a table.
fn job_of(generated: &Inner, table: usize) -> &Job {
    generated.job(table).expect("the table is one of a job")
}

/// What its messages are known by.
const OF_JOB: &str = "the process is of a job";

/// The job of a process.
fn of_process(jobs: &mut [Running], process: u32) -> &mut Running {
    jobs.iter_mut().find(|job| job.table == process as usize).expect(OF_JOB)
}

impl JobsAtWork {
    /// The jobs before they begin; `None` where there are none.
    pub(super) fn new(generated: &Arc<Inner>) -> Option<Self> {
        let running = |(table, job): (usize, &Job)| Running {
            table,
            executor: job.executor(),
            start: Instant::ZERO + job.start(),
            begun: false,
            connections: BTreeMap::new(),
            links: BusyLinks::default(),
            under_way: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            accounts: BTreeMap::new(),
        };
        let jobs: Vec<Running> = generated.jobs().map(running).collect();
        (!jobs.is_empty()).then(|| Self { generated: Arc::clone(generated), jobs, actions: Vec::new() })
    }
}

impl Work for JobsAtWork {
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        let job = of_process(&mut self.jobs, process);
        if let Some((begun, ports)) = job.under_way.remove(&number) {
            job.links.add(&ports, begun, now);
        }
        job.executor.delivered(MessageId(number.into()), now.0, &mut self.actions);
        job.send(&self.generated, &mut self.actions, now, out);
    }

    fn wants_notice(&self, process: u32, number: u32) -> bool {
        let job = self.jobs.iter().find(|job| job.table == process as usize).expect(OF_JOB);
        job.executor.wants_notice(MessageId(number.into()))
    }

    fn heard(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        let job = of_process(&mut self.jobs, process);
        job.executor.acknowledged(MessageId(number.into()), now.0, &mut self.actions);
        job.send(&self.generated, &mut self.actions, now, out);
    }

    fn begins_elsewhere(&mut self, begun: &Begun, at: Instant) {
        of_process(&mut self.jobs, begun.message().0).begins_elsewhere(begun, at);
    }

    fn absorb(&mut self, other: Box<dyn Any>) {
        let other: Self = *other.downcast().expect("all parts have the jobs of one plan");
        self.jobs.iter_mut().zip(other.jobs).for_each(|(job, other)| job.absorb(other));
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Begun>) {
        for job in &mut self.jobs {
            if job.next_wake().is_none_or(|at| at > now) {
                continue;
            }
            if job.begun {
                job.executor.wake(now.0, &mut self.actions);
            } else {
                job.begun = true;
                job.executor.start(now.0, &mut self.actions);
            }
            job.send(&self.generated, &mut self.actions, now, out);
        }
    }

    fn wants_accounts(&self) -> bool {
        self.jobs.iter().any(|job| job_of(&self.generated, job.table).keeps_path)
    }

    fn account(&mut self, process: u32, number: u32, account: MessageAccount) {
        let job = of_process(&mut self.jobs, process);
        if job_of(&self.generated, job.table).keeps_path {
            job.accounts.insert(number, account);
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        self.jobs.iter().filter_map(Running::next_wake).min()
    }

    fn is_done(&self) -> bool {
        self.jobs.iter().all(|job| job.begun && job.executor.is_done())
    }

    fn outcome(&mut self) -> Vec<JobOutcome> {
        self.jobs.iter_mut().map(Running::outcome).collect()
    }
}
