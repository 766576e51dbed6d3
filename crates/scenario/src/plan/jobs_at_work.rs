//! Jobs as the engine sees them: messages that end, and those that begin then.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_jobs::{Action, Executor, MessageId, Rank, Work as NodeWork};
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Arrival, Work};
use penstock_sim::outcome::{JobOutcome, Span};

use super::generated_flows::{FlowRoutes, GeneratedFlows, Inner};
use super::jobs::Job;

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
    /// For each pair of ranks its messages so far, and the routes of its connection, where it keeps one.
    connections: BTreeMap<(Rank, Rank), (u32, Option<FlowRoutes>)>,
}

impl Running {
    fn next_wake(&self) -> Option<Instant> {
        if self.begun { self.executor.next_wake_ps().map(Instant) } else { Some(self.start) }
    }

    /// Adds the messages that begin now.
    fn send(&mut self, generated: &Inner, actions: &mut Vec<Action>, now: Instant, out: &mut Vec<Arrival>) {
        let job = job_of(generated, self.table);
        let name = generated.name_of_table(self.table);
        for action in actions.drain(..) {
            let Action::Send { message, from, to, octets } = action else { continue };
            let arrival = job.arrival((from, to), now.since(Instant::ZERO), Octets(octets));
            let (number, known) = self.connections.entry((from, to)).or_default();
            let routes = || generated.routes(&job.name_of_path(name, (from, to), *number), &arrival);
            let routes = if job.keeps_connections && generated.keeps_routes() {
                known.get_or_insert_with(routes).clone()
            } else {
                routes()
            };
            *number += 1;
            out.push(generated.begin((self.table, message.0 as u32), &arrival, routes));
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
    fn ended(&mut self, process: u32, number: u32, now: Instant, out: &mut Vec<Arrival>) {
        let job = self.jobs.iter_mut().find(|job| job.table == process as usize).expect("the process is of a job");
        job.executor.delivered(MessageId(number.into()), now.0, &mut self.actions);
        job.send(&self.generated, &mut self.actions, now, out);
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Arrival>) {
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
