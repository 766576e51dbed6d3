//! Completions of finite flows: the table with a row for each, and the slowdowns in the summary.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use penstock_scenario::{GeneratedFlow, Plan};
use penstock_schemes::{Duration, Instant};
use penstock_sim::Outcome;
use penstock_sim::network::{Flow, FlowId, HopId, Network, PortId};
use penstock_sim::outcome::{FlowEnd, FlowOutcome};
use serde::{Deserialize, Serialize};

use crate::ideal::{Frames, Links};
use crate::jobs;
use crate::schema::{Key, Object, Shape, Shaped, record};

/// Facts about the run that its driver knows, in addition to the outcome.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// The simulated time that was reached.
    pub end: Instant,
    /// Whether that is not the plan's end.
    pub interrupted: bool,
    /// Whether the run was over before it, since all of its flows had ended.
    pub over: bool,
    /// Time on the wall clock, s.
    pub wall_s: f64,
}

record! {
    /// A row of the table of completions.
    CompletionRow {
        /// The flow.
        flow: String, "";
        /// Name of the `[[flow]]`, `[[load]]` or `[[incast]]` table that it comes from.
        group: String, "";
        /// The host that sends.
        source: String, "";
        /// The hosts that receive.
        destinations: Vec<String>, "";
        /// Its size: octets of a transport's data, or else of frames.
        size_octets: u64, "octets";
        /// When it started. Null for a flow that waited for others to the end of the run.
        start_s: Option<f64>, "s";
        /// When its last octet was delivered: the end that counts for `slowdown`. Null if data is missing at the end of the run.
        end_s: Option<f64>, "s";
        /// When its sender got the acknowledgement of its last octet, the end that HPCC's and ConWeave's simulators and htsim count. Null
        /// for a flow without a transport, and if it has not come by the end of the run.
        acked_s: Option<f64>, "s";
        /// The least flow completion time: that on an empty network without control. Frames, the last one shorter, go from link to link as
        /// fast as lines send them, with the links' delays, headers and wire overhead. Of a line whose rate changes the fastest counts.
        /// Where switches spread frames over several paths it is a bound, over the fastest links between switches.
        ideal_s: f64, "s";
        /// The least time to `acked_s`: the ideal one, and that of the shortest frame on the way back. Null without a transport.
        ideal_acked_s: Option<f64>, "s";
        /// Flow completion time, to `end_s`, over the ideal one: 1 or more.
        slowdown: Option<f64>, "";
        /// Segments that its transport sent again.
        retransmissions: u64, "frames";
        /// Retransmission timeouts of its transport.
        timeouts: u64, "";
    }
}

record! {
    /// Slowdowns of finite flows that started after the warm-up: flow completion time over that on an empty network. Percentiles
    /// are those of the flows that completed; `flows` less `completed` had not at the end of the run.
    CompletionSummary {
        /// Name of the table that the flows come from. Null for all flows.
        group: Option<String>, "";
        /// The flows have this size or more.
        least_octets: u64, "octets";
        /// The flows have this size or less. Null where there is no bound.
        most_octets: Option<u64>, "octets";
        /// How many there are.
        flows: u64, "";
        /// How many of them completed.
        completed: u64, "";
        /// Mean slowdown. Null where no flow completed, as all below.
        slowdown_mean: Option<f64>, "";
        /// Median.
        slowdown_p50: Option<f64>, "";
        /// 95th percentile: the least slowdown that this share of the flows does not exceed.
        slowdown_p95: Option<f64>, "";
        /// 99th percentile.
        slowdown_p99: Option<f64>, "";
        /// 99.9th percentile.
        slowdown_p999: Option<f64>, "";
    }
}

/// Limits between the buckets of sizes, octets.
const BUCKETS: [RangeInclusive<u64>; 5] =
    [0..=10_000, 10_001..=100_000, 100_001..=1_000_000, 1_000_001..=10_000_000, 10_000_001..=u64::MAX];

/// The flow of a completion.
#[derive(Debug, Clone)]
enum Whose {
    /// A flow of the network.
    Single(usize),
    /// One that a load or incasts made.
    Generated(GeneratedFlow),
}

/// A finite flow and its state at the end of the run.
#[derive(Debug, Clone)]
pub struct Completion {
    flow: Whose,
    size: u64,
    /// None, if the flow has not begun.
    start: Option<Instant>,
    end: Option<Instant>,
    acked: Option<Instant>,
    ideal: Duration,
    /// From there to the acknowledgement, for a flow with a transport.
    time_back: Option<Duration>,
    retransmissions: u64,
    timeouts: u64,
}

/// Whether a result has completions: where some flow has a size.
#[must_use]
pub fn are_reported(plan: &Plan) -> bool {
    plan.generated.has_streams() || plan.finite
}

/// When the last of all finite flows was complete, and the last job was done; `None` where there is none, or one had not completed when the run
/// ended.
pub(crate) fn finished(plan: &Plan, outcome: &Outcome, ending: &Ending) -> Option<Instant> {
    let single = plan.network.flows.iter().zip(&outcome.flows).filter(|(flow, _)| flow.size.is_some());
    let processes = plan.network.processes.list.iter();
    let of_work = processes.flat_map(|process| (0..process.flows).map(|_| process.of_work));
    let streamed = outcome.ends.iter().zip(of_work).filter(|(_, of_work)| !of_work);
    let made = streamed.map(|(end, _)| (end.completed != Instant::NEVER).then_some(end.completed));
    let jobs = (!outcome.jobs.is_empty()).then(|| jobs::finished(outcome));
    let ends: Option<Vec<Instant>> = single.map(|(_, flow)| flow.completed).chain(made).chain(jobs).collect();
    ends?.into_iter().max().filter(|_| !ending.interrupted)
}

/// The completions of all finite flows that could begin until the run ended: those of the network, then those that loads and incasts
/// made. They are made one after the other, so that no list has them.
pub fn completions<'a>(plan: &'a Plan, outcome: &'a Outcome, ending: &Ending) -> impl Iterator<Item = Completion> + 'a {
    // Of a run that was interrupted early, most of a load had not begun.
    let until = if ending.interrupted { ending.end } else { Instant::NEVER };
    let links = Rc::new(Links::new(&plan.network));
    let of_made = Rc::clone(&links);
    let single = move |(flow, (spec, outcome)): (usize, (&Flow, &FlowOutcome))| {
        if outcome.started.is_none() && spec.start != Instant::NEVER && spec.start > until {
            return None;
        }
        let (ideal, time_back) = ideal(&plan.network, &links, FlowId(flow as u32))?;
        Some(Completion {
            flow: Whose::Single(flow),
            size: spec.size?.0,
            start: outcome.started.or_else(|| (spec.start != Instant::NEVER).then_some(spec.start)),
            end: outcome.completed,
            acked: outcome.acked,
            ideal,
            time_back: spec.transport.as_ref().map(|_| time_back),
            retransmissions: outcome.retransmissions,
            timeouts: outcome.timeouts,
        })
    };
    let counts = plan.network.processes.list.iter().map(|process| process.flows as usize);
    let firsts: Vec<usize> = counts.scan(0, |next, flows| Some(std::mem::replace(next, *next + flows))).collect();
    let made = move |flow: GeneratedFlow| {
        let end: &FlowEnd = &outcome.ends[firsts[flow.table] + flow.number as usize];
        let process = &plan.network.processes.list[flow.table];
        let frames = Frames::new(&plan.network, flow.size.0, process.frame, process.payload());
        Completion {
            size: flow.size.0,
            start: Some(flow.start),
            end: (end.completed != Instant::NEVER).then_some(end.completed),
            acked: (end.acked != Instant::NEVER).then_some(end.acked),
            ideal: of_made.time(frames, &flow.path),
            time_back: process.transport.as_ref().map(|_| of_made.time_back(&flow.path)),
            retransmissions: end.retransmissions.into(),
            timeouts: end.timeouts.into(),
            flow: Whose::Generated(flow),
        }
    };
    let of_network = plan.network.flows.iter().zip(&outcome.flows).enumerate().filter_map(single);
    of_network.chain(plan.generated.begun(until).map(made))
}

/// The least flow completion time, and that of the path back of its last acknowledgement; `None` for a flow without size.
fn ideal(network: &Network, links: &Links, flow: FlowId) -> Option<(Duration, Duration)> {
    let spec = &network.flows[flow.index()];
    let frames = Frames::new(network, spec.size?.0, spec.frame, spec.payload());
    let path = |leaf: HopId| {
        let hops = std::iter::successors(Some(leaf), |hop| network.hops[hop.index()].parent);
        let mut ports: Vec<PortId> = hops.map(|hop| network.hops[hop.index()].port).collect();
        ports.reverse();
        ports
    };
    let paths = network.last_hops(flow).map(path);
    paths.map(|path| (links.time(frames, &path), links.time_back(&path))).max()
}

impl Completion {
    fn slowdown(&self) -> Option<f64> {
        Some(self.end?.since(self.start?).as_seconds() / self.ideal.as_seconds())
    }

    /// Name of the table that the flow comes from.
    fn group<'a>(&self, plan: &'a Plan) -> &'a str {
        match &self.flow {
            Whose::Single(flow) => &plan.flow_tables[*flow],
            Whose::Generated(flow) => plan.generated.table(flow.table),
        }
    }

    /// Its row of the table.
    #[must_use]
    pub fn row(&self, plan: &Plan) -> CompletionRow {
        let node = |node: usize| plan.node_names[node].clone();
        let (flow, source, destinations) = match &self.flow {
            Whose::Single(flow) => {
                let (source, destinations) = &plan.flow_ends[*flow];
                (plan.flow_names[*flow].clone(), *source, destinations.iter().map(|&to| node(to)).collect())
            }
            Whose::Generated(flow) => (flow.name(&plan.generated), flow.source, vec![node(flow.destination)]),
        };
        CompletionRow {
            flow,
            group: self.group(plan).to_owned(),
            source: node(source),
            destinations,
            size_octets: self.size,
            start_s: self.start.map(|start| start.since(Instant::ZERO).as_seconds()),
            end_s: self.end.map(|end| end.since(Instant::ZERO).as_seconds()),
            acked_s: self.acked.map(|acked| acked.since(Instant::ZERO).as_seconds()),
            ideal_s: self.ideal.as_seconds(),
            ideal_acked_s: self.time_back.map(|back| (self.ideal + back).as_seconds()),
            slowdown: self.slowdown(),
            retransmissions: self.retransmissions,
            timeouts: self.timeouts,
        }
    }
}

/// All flows together, each group, and of both each bucket of sizes that has flows.
pub(crate) fn summaries(plan: &Plan, completions: impl Iterator<Item = Completion>) -> Vec<CompletionSummary> {
    let from = Instant::ZERO + plan.warmup;
    let mut groups: Vec<(&str, Group)> = Vec::new();
    for completion in completions.filter(|completion| completion.start.is_some_and(|start| start >= from)) {
        let group = completion.group(plan);
        // Flows of a group are neighbours.
        if groups.last().is_none_or(|(last, _)| *last != group) {
            groups.push((group, Group::default()));
        }
        if let Some((_, own)) = groups.last_mut() {
            own.add(&completion);
        }
    }
    let all: Vec<&Group> = groups.iter().map(|(_, group)| group).collect();
    let mut summaries = Vec::new();
    Group::sum_up(&all, None, &mut summaries);
    if groups.len() > 1 {
        for (name, own) in by_name(&groups) {
            Group::sum_up(&own, Some(name), &mut summaries);
        }
    }
    summaries
}

/// The groups of each name, in the order of the first one each: those of one name need not be neighbours.
fn by_name<'g, T>(groups: &'g [(&'g str, T)]) -> Vec<(&'g str, Vec<&'g T>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<(&str, Vec<&T>)> = Vec::new();
    for (name, group) in groups {
        let place = *places.entry(name).or_insert_with(|| {
            found.push((name, Vec::new()));
            found.len() - 1
        });
        found[place].1.push(group);
    }
    found
}

/// The flows of a table: for each of the buckets how many there are, and the slowdowns of those that completed.
#[derive(Debug, Default)]
struct Group {
    flows: [u64; BUCKETS.len()],
    slowdowns: [Vec<f64>; BUCKETS.len()],
}

impl Group {
    fn add(&mut self, completion: &Completion) {
        let bucket =
            BUCKETS.iter().position(|sizes| sizes.contains(&completion.size)).expect("buckets have every size");
        self.flows[bucket] += 1;
        self.slowdowns[bucket].extend(completion.slowdown());
    }

    /// Summarises groups together: all of their flows, then those of each bucket that has some.
    fn sum_up(groups: &[&Self], name: Option<&str>, summaries: &mut Vec<CompletionSummary>) {
        let flows = |bucket: usize| groups.iter().map(|group| group.flows[bucket]).sum::<u64>();
        let slowdowns = |bucket: usize| groups.iter().flat_map(move |group| &group.slowdowns[bucket]).copied();
        let all = (0..BUCKETS.len()).flat_map(slowdowns).collect();
        summaries.push(summary(name, &(0..=u64::MAX), (0..BUCKETS.len()).map(flows).sum(), all));
        for (bucket, sizes) in BUCKETS.iter().enumerate() {
            if flows(bucket) > 0 {
                summaries.push(summary(name, sizes, flows(bucket), slowdowns(bucket).collect()));
            }
        }
    }
}

fn summary(group: Option<&str>, sizes: &RangeInclusive<u64>, flows: u64, mut slowdowns: Vec<f64>) -> CompletionSummary {
    slowdowns.sort_by(f64::total_cmp);
    let mean = |all: &[f64]| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    CompletionSummary {
        group: group.map(str::to_owned),
        least_octets: *sizes.start(),
        most_octets: (*sizes.end() < u64::MAX).then_some(*sizes.end()),
        flows,
        completed: slowdowns.len() as u64,
        slowdown_mean: mean(&slowdowns),
        slowdown_p50: percentile(&slowdowns, 500),
        slowdown_p95: percentile(&slowdowns, 950),
        slowdown_p99: percentile(&slowdowns, 990),
        slowdown_p999: percentile(&slowdowns, 999),
    }
}

/// The least of the sorted values that `permille` of them do not exceed (nearest rank).
fn percentile(sorted: &[f64], permille: usize) -> Option<f64> {
    let rank = (sorted.len() * permille).div_ceil(1000).max(1);
    sorted.get(rank - 1).copied()
}

/// The columns of the table.
pub const KEYS: &[Key] = CompletionRow::OBJECT.keys;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!([500, 950, 990, 999].map(|p| percentile(&values, p)), [500.0, 950.0, 990.0, 999.0].map(Some));
        assert_eq!([500, 999].map(|p| percentile(&[1.0, 2.0, 3.0], p)), [2.0, 3.0].map(Some));
        assert_eq!((percentile(&[7.0], 500), percentile(&[], 500)), (Some(7.0), None));
    }

    #[test]
    fn groups_of_one_name_are_reported_once_where_the_first_stands() {
        let groups = [("b", 1), ("a", 2), ("b", 3), ("c", 4)];
        assert_eq!(by_name(&groups), [("b", vec![&1, &3]), ("a", vec![&2]), ("c", vec![&4])]);
        // A group a flow, as an import of flows has them: some milliseconds, where a search for each took minutes.
        let names: Vec<String> = (0..100_000).map(|i| format!("f{i}")).collect();
        let many: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(0..).collect();
        assert_eq!(by_name(&many).len(), many.len());
    }

    #[test]
    fn buckets_have_every_size_once() {
        for size in [0, 1, 10_000, 10_001, 100_000, 100_001, 1_000_000, 1_000_001, 10_000_000, 10_000_001, u64::MAX] {
            assert_eq!(BUCKETS.iter().filter(|bucket| bucket.contains(&size)).count(), 1, "{size}");
        }
    }
}
