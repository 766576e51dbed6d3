//! Jobs as the engine sees them: messages that end, and those that begin then.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_jobs::{Action, Executor, MessageId, Work as NodeWork};
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Begun, Message, Work};
use penstock_sim::outcome::{JobOutcome, Span};

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
    /// For each connection that has begun and not ended its messages so far, and the first one's number.
    connections: BTreeMap<Connection, (u32, u32)>,
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
            let (sent, flow) = self.connections.entry(connection).or_insert((0, number));
            *sent += 1;
            let (sent, flow) = (*sent, *flow);
            if sent == all {
                self.connections.remove(&connection);
            }
            if job.keeps_connections && sent > 1 {
                let (process, last) = (self.table as u32, sent == all);
                out.push(Begun::Message(Message { process, flow, number, size: arrival.size, last }));
                continue;
            }
            let routes = generated.routes(&job.name_of_path(name, connection, sent - 1), &arrival);
            let mut arrival = generated.begin((self.table, number), &arrival, routes);
            arrival.stays = job.keeps_connections && sent < all;
            out.push(Begun::Flow(arrival));
        }
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
        let spans = self.executor.take_records().into_iter().map(span).collect();
        let waiting = if self.executor.is_done() { Vec::new() } else { self.executor.waiting(SENTENCES) };
        JobOutcome { process: self.table as u32, done: self.executor.is_done(), spans, computed, waiting }
    }
}

impl GeneratedFlows {
    /// The work of all jobs, for the engine; `None` where there are none.
    #[must_use]
    pub fn work(&self) -> Option<Box<dyn Work>> {
        Some(Box::new(JobsAtWork::new(&self.0)?))
    }
}

/// The job of a table.
fn job_of(generated: &Inner, table: usize) -> &Job {
    generated.job(table).expect("the table is one of a job")
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
        };
        let jobs: Vec<Running> = generated.jobs().map(running).collect();
        (!jobs.is_empty()).then(|| Self { generated: Arc::clone(generated), jobs, actions: Vec::new() })
    }
}

impl Work for JobsAtWork {
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Begun>) {
        let job = self.jobs.iter_mut().find(|job| job.table == process as usize).expect("the process is of a job");
        job.executor.delivered(MessageId(number.into()), now.0, &mut self.actions);
        job.send(&self.generated, &mut self.actions, now, out);
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
