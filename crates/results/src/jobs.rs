//! Jobs: the table of what their ranks have done, and the times and bandwidths in the summary.

use std::collections::BTreeMap;

use penstock_jobs::Work;
use penstock_scenario::{Job, Plan};
use penstock_schemes::{Duration, Instant};
use penstock_sim::outcome::{JobOutcome, Outcome, Span};
use serde::{Deserialize, Serialize};

use crate::ideal::Frames;
use crate::paths::Paths;
use crate::schema::{Key, Object, Shape, Shaped, record};

record! {
    /// A row of the table of jobs: something that a rank has ended.
    JobRow {
        /// The job.
        job: String, "";
        /// The rank.
        rank: u64, "";
        /// The host of the rank.
        host: String, "";
        /// The iteration, from 0 on.
        iteration: u64, "";
        /// What it was: iteration (all of the rank's work in one), compute, delay, send, receive or collective.
        work: String, "";
        /// Name of the node of the job's graph. Null for an iteration.
        node: Option<String>, "";
        /// When it began.
        begin_s: f64, "s";
        /// When it ended: of a collective, when the rank had sent and received all of its messages.
        end_s: f64, "s";
        /// The node that it waited for longest, so that its end let it begin. Null if it waited for none.
        after: Option<String>, "";
    }
}

record! {
    /// A job. Its times cover all iterations that all ranks have ended, those before the end of the warm-up among them.
    JobSummary {
        /// Its name.
        name: String, "";
        /// What its ranks do together. Present only for a `[[collective]]`, as the next four.
        kind: Option<String>, "", unless "Option::is_none";
        /// The algorithm.
        algorithm: Option<String>, "", unless "Option::is_none";
        /// Octets of data at a rank, S.
        size_octets: Option<u64>, "octets", unless "Option::is_none";
        /// Ranks that work together.
        group_ranks: Option<u64>, "", unless "Option::is_none";
        /// The least time of the collective: the octets of the busiest host, with headers, at the rate of its line. It has no latency, and the
        /// network between hosts has no limit.
        ideal_s: Option<f64>, "s", unless "Option::is_none";
        /// All ranks.
        ranks: u64, "";
        /// Iterations that were asked for.
        iterations: u64, "";
        /// Iterations that all ranks have ended.
        iterations_ended: u64, "";
        /// From its start to the end of its last rank. Null if it had not ended at the end of the run.
        job_time_s: Option<f64>, "s";
        /// Mean time of an iteration, from the begin of its first rank to the end of its last. Null if none has ended, as all below.
        iteration_mean_s: Option<f64>, "s";
        /// The longest iteration.
        iteration_max_s: Option<f64>, "s";
        /// Mean time of the collective in an iteration, from the begin of the last rank to the end of the last: t of NCCL's tests.
        collective_mean_s: Option<f64>, "s";
        /// Algorithm bandwidth, S / t.
        algorithm_bandwidth_bps: Option<f64>, "bit/s";
        /// Bus bandwidth, as NCCL's tests define it: that of the algorithm, times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n for
        /// reduce-scatter, all-gather and all-to-all, and 1 for others.
        bus_bandwidth_bps: Option<f64>, "bit/s";
        /// The ideal time over t: 1 where nothing but the lines of the hosts takes time.
        efficiency: Option<f64>, "";
        /// Exposed communication: mean time of an iteration of a rank in which it does not compute.
        exposed_communication_s: Option<f64>, "s";
        /// Mean time in an iteration from the end of the first rank to that of the last.
        straggling_s: Option<f64>, "s";
        /// Computations and delays on the slowest path: the pieces that determined the end of the job, from its start on. The next seven are
        /// the rest of its time. Null if the job had not ended, or has more than 4 million messages or 2 million nodes, as all below.
        path_computing_s: Option<f64>, "s";
        /// Messages inside of hosts on it.
        path_local_s: Option<f64>, "s";
        /// Its messages on an empty network.
        path_ideal_s: Option<f64>, "s";
        /// The waits of their last frames in queues.
        path_queue_s: Option<f64>, "s";
        /// The same in pauses of priority flow control, and pauses of their hosts.
        path_pause_s: Option<f64>, "s";
        /// Time that their rate limiters added.
        path_limited_s: Option<f64>, "s";
        /// Other time of messages whose connections sent something again.
        path_lost_s: Option<f64>, "s";
        /// Other time of messages: at their hosts.
        path_host_s: Option<f64>, "s";
        /// The port at which its messages waited longest. Null also if they waited at none.
        path_port: Option<String>, "";
        /// Their waits there together, pauses included.
        path_port_s: Option<f64>, "s";
    }
}

/// The columns of the table.
pub const KEYS: &[Key] = JobRow::OBJECT.keys;

/// When the last job was done; `None` where one was not, or there is none.
pub(crate) fn finished(outcome: &Outcome) -> Option<Instant> {
    let ends: Option<Vec<Instant>> = outcome.jobs.iter().map(|job| last_end(job).filter(|_| job.done)).collect();
    ends?.into_iter().max()
}

fn last_end(job: &JobOutcome) -> Option<Instant> {
    job.spans.iter().map(|span| span.end).max()
}

/// The rows of the table, job after job.
pub fn rows<'a>(plan: &'a Plan, outcome: &'a Outcome) -> impl Iterator<Item = JobRow> + 'a {
    plan.generated.jobs().zip(&outcome.jobs).flat_map(move |((table, job), outcome)| {
        outcome.spans.iter().map(move |span| row(plan, plan.generated.table(table), job, span))
    })
}

fn row(plan: &Plan, name: &str, job: &Job, span: &Span) -> JobRow {
    let graph = job.graph();
    JobRow {
        job: name.to_owned(),
        rank: span.rank.into(),
        host: plan.node_names[job.hosts()[span.rank as usize]].clone(),
        iteration: span.iteration.into(),
        work: span.node.map_or("iteration", |node| word(graph.work(node))).to_owned(),
        node: span.node.map(|node| graph.name(node).to_owned()),
        begin_s: span.begin.as_seconds(),
        end_s: span.end.as_seconds(),
        after: span.after.map(|node| graph.name(node).to_owned()),
    }
}

const fn word(work: Work) -> &'static str {
    match work {
        Work::Compute { .. } => "compute",
        Work::Delay { .. } => "delay",
        Work::Send { .. } => "send",
        Work::Receive { .. } => "receive",
        Work::Collective { .. } => "collective",
    }
}

/// The summary of each job.
pub(crate) fn summaries(plan: &Plan, outcome: &Outcome) -> Vec<JobSummary> {
    let paths = Paths::new(plan);
    let jobs = plan.generated.jobs().zip(&outcome.jobs);
    jobs.map(|((table, job), outcome)| summary((plan, &paths), table, job, outcome)).collect()
}

/// Sentences on jobs that had not ended, and on what they waited for.
pub(crate) fn notes(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let open = plan.generated.jobs().zip(&outcome.jobs).filter(|(_, outcome)| !outcome.done);
    let sentence = |((table, _), outcome): ((usize, &Job), &JobOutcome)| {
        let name = plan.generated.table(table);
        let waiting =
            if outcome.waiting.is_empty() { String::new() } else { format!(": {}", outcome.waiting.join("; ")) };
        format!("{name} had not ended at the end of the run{waiting}")
    };
    open.map(sentence).collect()
}

/// The times of the ranks in one iteration.
#[derive(Debug, Clone, Copy)]
struct Times {
    ranks: u32,
    first_begin: Instant,
    last_begin: Instant,
    first_end: Instant,
    last_end: Instant,
}

/// For each iteration that all ranks have ended, the times of spans that `which` takes.
fn times(spans: &[Span], ranks: u32, which: impl Fn(&Span) -> bool) -> Vec<Times> {
    let mut found: BTreeMap<u32, Times> = BTreeMap::new();
    for span in spans.iter().filter(|span| which(span)) {
        let own = Times {
            ranks: 0,
            first_begin: span.begin,
            last_begin: span.begin,
            first_end: span.end,
            last_end: span.end,
        };
        let times = found.entry(span.iteration).or_insert(own);
        times.ranks += 1;
        times.first_begin = times.first_begin.min(span.begin);
        times.last_begin = times.last_begin.max(span.begin);
        times.first_end = times.first_end.min(span.end);
        times.last_end = times.last_end.max(span.end);
    }
    found.into_values().filter(|times| times.ranks == ranks).collect()
}

fn mean(values: impl Iterator<Item = Duration>) -> Option<f64> {
    let (count, sum) = values.fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value.as_seconds()));
    (count > 0).then(|| sum / count as f64)
}

fn summary((plan, paths): (&Plan, &Paths<'_>), table: usize, job: &Job, outcome: &JobOutcome) -> JobSummary {
    let (graph, ranks) = (job.graph(), job.graph().ranks());
    let operation = job.operation();
    let iterations = times(&outcome.spans, ranks, |span| span.node.is_none());
    let is_collective = |span: &Span| span.node.is_some_and(|node| matches!(graph.work(node), Work::Collective { .. }));
    let collectives = if operation.is_some() { times(&outcome.spans, ranks, is_collective) } else { Vec::new() };
    let collective_mean_s = mean(collectives.iter().map(|own| own.last_end.since(own.last_begin)));
    let ideal_s = operation.map(|_| ideal(plan, table, job).as_seconds());
    let algorithm_bandwidth_bps =
        operation.zip(collective_mean_s).map(|(operation, time)| operation.size.0 as f64 * 8.0 / time);
    let of_ranks = outcome.spans.iter().filter(|span| span.node.is_none());
    let busy: f64 = outcome.computed.iter().map(|time| time.as_seconds()).sum();
    let alive: f64 = of_ranks.clone().map(|span| span.end.since(span.begin).as_seconds()).sum();
    let ended = of_ranks.count();
    let start = Instant::ZERO + job.start();
    let path = paths.sums(table, job, outcome);
    let port = path.as_ref().and_then(|path| path.port.clone());
    JobSummary {
        name: plan.generated.table(table).to_owned(),
        kind: operation.map(|own| own.kind.to_owned()),
        algorithm: operation.map(|own| own.algorithm.to_owned()),
        size_octets: operation.map(|own| own.size.0),
        group_ranks: operation.map(|own| own.members.into()),
        ideal_s,
        ranks: ranks.into(),
        iterations: job.iterations().into(),
        iterations_ended: iterations.len() as u64,
        job_time_s: last_end(outcome).filter(|_| outcome.done).map(|end| end.since(start).as_seconds()),
        iteration_mean_s: mean(iterations.iter().map(|own| own.last_end.since(own.first_begin))),
        iteration_max_s: iterations
            .iter()
            .map(|own| own.last_end.since(own.first_begin))
            .max()
            .map(Duration::as_seconds),
        collective_mean_s,
        algorithm_bandwidth_bps,
        bus_bandwidth_bps: operation.zip(algorithm_bandwidth_bps).map(|(own, rate)| own.bus_factor * rate),
        efficiency: ideal_s.zip(collective_mean_s).map(|(ideal, time)| ideal / time),
        exposed_communication_s: (ended > 0).then(|| (alive - busy).max(0.0) / ended as f64),
        straggling_s: mean(iterations.iter().map(|own| own.last_end.since(own.first_end))),
        path_computing_s: path.as_ref().map(|path| path.computing_s),
        path_local_s: path.as_ref().map(|path| path.local_s),
        path_ideal_s: path.as_ref().map(|path| path.ideal_s),
        path_queue_s: path.as_ref().map(|path| path.queue_s),
        path_pause_s: path.as_ref().map(|path| path.pause_s),
        path_limited_s: path.as_ref().map(|path| path.limited_s),
        path_lost_s: path.as_ref().map(|path| path.lost_s),
        path_host_s: path.as_ref().map(|path| path.host_s),
        path_port_s: port.as_ref().map(|(_, time)| *time),
        path_port: port.map(|(name, _)| name),
    }
}

/// The time that the busiest host needs for the octets of an iteration, in one direction, at the rate of its fastest line.
fn ideal(plan: &Plan, table: usize, job: &Job) -> Duration {
    let network = &plan.network;
    let process = &network.processes.list[table];
    let line = |host: usize| {
        let ports = network.ports.iter().filter(|port| port.node.index() == host);
        ports.map(|port| port.rate).max()
    };
    let time = |(host, (sent, received)): (usize, (u64, u64))| {
        let frames = Frames::new(network, sent.max(received), process.frame, process.payload());
        line(host).map(|rate| rate.serialisation(frames.octets()).0)
    };
    job.octets_of_hosts().into_iter().filter_map(time).max().unwrap_or(Duration::ZERO)
}
