//! Slowest paths of jobs: the pieces that determined the end of each job, and what took their time. And when their messages used links.
//!
//! The pieces follow each other without a gap: computations, delays, messages. The time of a message has these parts:
//!
//! - that of its octets on an empty network;
//! - the time that its last frame waited on its path, shared among ports and pauses as the mean waits of octets there are;
//! - the pauses of its host;
//! - the part that its rate limiter added at the mean rate that it allowed;
//! - a rest. It counts as loss where the connection sent something again, and as the limiter's where that allowed less than the line. Else the
//!   message waited at its host: for the latency of its step, for earlier messages of its connection, for others on the line.

use std::collections::BTreeMap;

use penstock_jobs::Work;
use penstock_scenario::{Job, Plan};
use penstock_schemes::Duration;
use penstock_sim::network::PortId;
use penstock_sim::outcome::{JobOutcome, MessageAccount, Outcome, PathPiece, SentOnPath};
use serde::{Deserialize, Serialize};

use crate::ideal::{Frames, Links};
use crate::schema::{Key, Object, Shape, Shaped, record};

record! {
    /// A row of the table of paths: a piece of a job's slowest path.
    PathRow {
        /// The job.
        job: String, "";
        /// The iteration, from 0 on.
        iteration: u64, "";
        /// What it was: compute, delay, message, or local for a message inside of a host.
        work: String, "";
        /// Name of the node of the job's graph; of a message that of its sender.
        node: String, "";
        /// The rank, or the sender.
        rank: u64, "";
        /// Its host.
        host: String, "";
        /// The receiver of a message. Null for other work, as all of the next three.
        to_rank: Option<u64>, "";
        /// The host of the receiver.
        to_host: Option<String>, "";
        /// Octets of the message.
        size_octets: Option<u64>, "octets";
        /// When it began; a message when it could begin.
        begin_s: f64, "s";
        /// When it ended: the begin of the next piece.
        end_s: f64, "s";
        /// Time of the message on an empty network. Null for work without a network, as all below.
        ideal_s: Option<f64>, "s";
        /// Time in queues: the wait of the last frame on its path, without pauses.
        queue_s: Option<f64>, "s";
        /// Time in pauses of priority flow control: the share of that wait, and the pauses of the host.
        pause_s: Option<f64>, "s";
        /// Time that the rate limiter added: all that is left where it allowed less than the line, on average, and nothing was sent again. Else
        /// that of the octets at the mean rate that it allowed, less that at the rate of the line.
        limited_s: Option<f64>, "s";
        /// The rest, if the connection sent something again.
        lost_s: Option<f64>, "s";
        /// The rest, if not, at a limiter that allowed the rate of the line: the latency of the step, earlier messages of the connection, others on the line of the host.
        host_s: Option<f64>, "s";
        /// The port at which an octet waited longest. Null also if it waited at none.
        port: Option<String>, "";
        /// The share of the wait of the last frame that was there, pauses included.
        port_s: Option<f64>, "s";
    }
}

/// The columns of the table.
pub const KEYS: &[Key] = PathRow::OBJECT.keys;

record! {
    /// A row of the table of links: a time in which messages of a job were under way over a link.
    LinkRow {
        /// The job.
        job: String, "";
        /// The port at its begin. Of a message that has several paths those of the first one count.
        port: String, "";
        /// When the first message began.
        begin_s: f64, "s";
        /// When the last one's end was at its receiver. Gaps to the next time are closed, the shortest first, where a link has hundreds.
        end_s: f64, "s";
    }
}

/// The columns of that table.
pub const LINK_KEYS: &[Key] = LinkRow::OBJECT.keys;

/// The rows of the table of links, job after job and port after port.
pub fn link_rows<'a>(plan: &'a Plan, outcome: &'a Outcome) -> impl Iterator<Item = LinkRow> + 'a {
    plan.generated.jobs().zip(&outcome.jobs).flat_map(move |((table, _), outcome)| {
        outcome.links.iter().map(move |span| LinkRow {
            job: plan.generated.table(table).to_owned(),
            port: plan.port_names[span.port.index()].clone(),
            begin_s: span.begin.as_seconds(),
            end_s: span.end.as_seconds(),
        })
    })
}

/// The time of a message by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Causes {
    ideal: Duration,
    queue: Duration,
    pause: Duration,
    /// Of both, the wait of the last frame on its path.
    on_path: Duration,
    limited: Duration,
    lost: Duration,
    host: Duration,
}

impl Causes {
    /// Those of a message that took `time`. On an empty network it takes `ideal` in all, and its last frame `of_last`. Its octets take
    /// `at_line` at the rate of its line, and `at_rate` at the rate that its limiter allowed.
    fn new(
        time: Duration,
        (ideal, of_last): (Duration, Duration),
        (at_line, at_rate): (Duration, Duration),
        account: &MessageAccount,
    ) -> Self {
        let ideal = ideal.min(time);
        let mut left = time - ideal;
        let mut take = |wanted: u64| {
            let taken = Duration(wanted).min(left);
            left = left - taken;
            taken
        };
        let waited = take(account.last.0.saturating_sub(of_last.0));
        let in_pauses = u128::from(waited.0) * u128::from(account.paused.0) / u128::from(account.waited.0.max(1));
        let in_pauses = Duration(in_pauses as u64).min(waited);
        let stopped = take(account.stopped.0);
        let mut limited = take(at_rate.0.saturating_sub(at_line.0));
        let rest = take(time.0);
        let (mut lost, mut host) = (Duration::ZERO, Duration::ZERO);
        // A limiter whose rate falls and rises takes longer than one at the mean of both.
        match account.retransmissions {
            0 if at_rate > at_line => limited = limited + rest,
            0 => host = rest,
            _ => lost = rest,
        }
        Self { ideal, queue: waited - in_pauses, pause: in_pauses + stopped, on_path: waited, limited, lost, host }
    }

    /// The wait of the last frame at the port where octets waited longest, s.
    fn at_port_s(&self, account: &MessageAccount) -> f64 {
        self.on_path.as_seconds() * account.at_port.as_seconds() / account.waited.as_seconds().max(1e-12)
    }
}

/// The slowest path of a job in brief: times by cause, and the port at which it waited longest.
#[derive(Debug, Default)]
pub(crate) struct PathSums {
    pub(crate) computing_s: f64,
    pub(crate) local_s: f64,
    pub(crate) ideal_s: f64,
    pub(crate) queue_s: f64,
    pub(crate) pause_s: f64,
    pub(crate) limited_s: f64,
    pub(crate) lost_s: f64,
    pub(crate) host_s: f64,
    pub(crate) port: Option<(String, f64)>,
}

/// Reads the paths of a run's jobs.
#[derive(Debug)]
pub(crate) struct Paths<'a> {
    plan: &'a Plan,
    links: Links,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self { plan, links: Links::new(&plan.network) }
    }

    fn causes(&self, (table, job): (usize, &Job), piece: &PathPiece, sent: &SentOnPath) -> Option<Causes> {
        let account = sent.account?;
        let process = &self.plan.network.processes.list[table];
        let frames = Frames::new(&self.plan.network, sent.size.0.max(1), process.frame, process.payload());
        let path: Vec<PortId> = self.plan.generated.path_of_message(table, job, (sent.from, sent.to));
        let line = self.plan.network.ports[path.first()?.index()].rate;
        let octets = frames.octets();
        let at_line = line.serialisation(octets).0;
        let at_rate = if account.rate.0 == 0 { Duration::ZERO } else { account.rate.serialisation(octets).0 };
        let ideal = (self.links.time(frames, &path), self.links.time(frames.last(), &path));
        Some(Causes::new(piece.end.since(piece.begin), ideal, (at_line, at_rate), &account))
    }

    /// The sums of a job; `None` if its path is not known.
    pub(crate) fn sums(&self, table: usize, job: &Job, outcome: &JobOutcome) -> Option<PathSums> {
        let mut sums = PathSums::default();
        let mut ports: BTreeMap<PortId, f64> = BTreeMap::new();
        for piece in &outcome.path {
            let time = piece.end.since(piece.begin).as_seconds();
            let causes = piece.message.as_ref().map(|sent| (sent, self.causes((table, job), piece, sent)));
            match causes {
                None => sums.computing_s += time,
                Some((_, None)) => sums.local_s += time,
                Some((sent, Some(causes))) => {
                    sums.ideal_s += causes.ideal.as_seconds();
                    sums.queue_s += causes.queue.as_seconds();
                    sums.pause_s += causes.pause.as_seconds();
                    sums.limited_s += causes.limited.as_seconds();
                    sums.lost_s += causes.lost.as_seconds();
                    sums.host_s += causes.host.as_seconds();
                    if let Some(account) = sent.account
                        && let Some(port) = account.port
                    {
                        *ports.entry(port).or_default() += causes.at_port_s(&account);
                    }
                }
            }
        }
        let longest = ports.into_iter().reduce(|one, other| if other.1 > one.1 { other } else { one });
        sums.port = longest.map(|(port, time)| (self.plan.port_names[port.index()].clone(), time));
        (!outcome.path.is_empty()).then_some(sums)
    }

    fn row(&self, table: usize, job: &Job, piece: &PathPiece) -> PathRow {
        let graph = job.graph();
        let sent = piece.message;
        let causes = sent.as_ref().and_then(|sent| self.causes((table, job), piece, sent));
        let seconds = |part: fn(&Causes) -> Duration| causes.as_ref().map(|causes| part(causes).as_seconds());
        let rank = sent.map_or_else(|| graph.rank(piece.node), |sent| sent.from);
        let host = |rank: u32| self.plan.node_names[job.hosts()[rank as usize]].clone();
        let account = sent.and_then(|sent| sent.account);
        let port = account.and_then(|account| account.port);
        let work = match (graph.work(piece.node), sent) {
            (_, Some(sent)) if sent.account.is_some() => "message",
            (_, Some(_)) => "local",
            (Work::Delay { .. }, None) => "delay",
            (_, None) => "compute",
        };
        PathRow {
            job: self.plan.generated.table(table).to_owned(),
            iteration: piece.iteration.into(),
            work: work.to_owned(),
            node: graph.name(piece.node).to_owned(),
            rank: rank.into(),
            host: host(rank),
            to_rank: sent.map(|sent| sent.to.into()),
            to_host: sent.map(|sent| host(sent.to)),
            size_octets: sent.map(|sent| sent.size.0),
            begin_s: piece.begin.as_seconds(),
            end_s: piece.end.as_seconds(),
            ideal_s: seconds(|causes| causes.ideal),
            queue_s: seconds(|causes| causes.queue),
            pause_s: seconds(|causes| causes.pause),
            limited_s: seconds(|causes| causes.limited),
            lost_s: seconds(|causes| causes.lost),
            host_s: seconds(|causes| causes.host),
            port: port.map(|port| self.plan.port_names[port.index()].clone()),
            port_s: causes.as_ref().zip(account).map(|(causes, account)| causes.at_port_s(&account)),
        }
    }
}

/// The rows of the table, job after job.
pub fn rows<'a>(plan: &'a Plan, outcome: &'a Outcome) -> impl Iterator<Item = PathRow> + 'a {
    let paths = std::rc::Rc::new(Paths::new(plan));
    plan.generated.jobs().zip(&outcome.jobs).flat_map(move |((table, job), outcome)| {
        let paths = std::rc::Rc::clone(&paths);
        outcome.path.iter().map(move |piece| paths.row(table, job, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 us: 40 on an empty network, 30 more of the last frame with two fifths in pauses, 20 more at half the line's rate, 10 more.
    #[test]
    fn the_time_of_a_message_is_split_without_a_gap() {
        let us = Duration::from_us;
        let account = MessageAccount { last: us(35), waited: us(15), paused: us(6), ..MessageAccount::default() };
        let split = |time, account: &MessageAccount| Causes::new(us(time), (us(40), us(5)), (us(20), us(40)), account);
        let (queue, pause, on_path, limited) = (us(18), us(12), us(30), us(30));
        let expected = Causes { ideal: us(40), queue, pause, on_path, limited, lost: us(0), host: us(0) };
        assert_eq!(split(100, &account), expected);
        // At the rate of the line the rest is one of the host.
        let unlimited = Causes::new(us(100), (us(40), us(5)), (us(20), us(20)), &account);
        assert_eq!((unlimited.limited, unlimited.host), (us(0), us(30)));
        let again = split(100, &MessageAccount { retransmissions: 1, ..account });
        assert_eq!((again.limited, again.lost, again.host), (us(20), us(10), us(0)));
        let stopped = split(100, &MessageAccount { stopped: us(15), ..account });
        assert_eq!((stopped.pause, stopped.limited, stopped.host), (us(27), us(15), us(0)));
        // No part is longer than what is left.
        let short = split(50, &account);
        assert_eq!((short.queue, short.pause, short.limited, short.host), (us(6), us(4), us(0), us(0)));
    }
}
