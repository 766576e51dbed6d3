//! The summary of a run: the object that `summary.json` holds and `penstock run --json` prints. Other tools build on its
//! names, so they are part of the interface.
//!
//! Metrics of the network, queues, flows and hosts are declared in `penstock_sim::metrics`. An object of metrics is
//! made from a source, such as [`FlowSource`]: the engine's outcome, and a method for each metric that the engine does
//! not know.

use penstock_scenario::{FairPeriod, Plan, plan};
use penstock_schemes::{Duration, Instant};
use penstock_sim::metrics_of;
use penstock_sim::network::{NodeKind, Pfc, Transmit};
use penstock_sim::outcome::{self, FlowOutcome, HostOutcome, Outcome, QueueOutcome};
use serde::{Deserialize, Serialize};

use crate::actions::{self, Actions};
use crate::completions::{self, CompletionSummary, Ending};
pub use crate::costs::{RunSummary, TestbedSummary};
use crate::fair;
use crate::jobs::{self, JobSummary};
use crate::notes;
pub use crate::queues::QueueSummary;
use crate::queues::{queues, ratio};
use crate::schema::{Key, Object, Shape, Shaped, condition, object, record, value, value_type};
use crate::switches::{DeadlockSummary, PoolSummary, deadlocks, pools};

/// Every object of a summary, each before those that hold it.
pub const OBJECTS: &[Object] = &[
    Assigned::OBJECT,
    Actions::OBJECT,
    Totals::OBJECT,
    QueueSummary::OBJECT,
    FlowSummary::OBJECT,
    HostSummary::OBJECT,
    PoolSummary::OBJECT,
    DeadlockSummary::OBJECT,
    CompletionSummary::OBJECT,
    JobSummary::OBJECT,
    WindowTotals::OBJECT,
    WindowFlow::OBJECT,
    WindowSummary::OBJECT,
    TestbedSummary::OBJECT,
    RunSummary::OBJECT,
    Summary::OBJECT,
];

record! {
    /// A run in numbers. All but `run` follows from scenario and seed alone.
    Summary {
        /// Name of the scenario.
        scenario: String, "";
        /// The question that the scenario answers.
        question: String, "";
        /// Name of the scheme; `mixed` where priorities have different ones.
        scheme: String, "";
        /// The profile that the scheme's parameters started from, the same for all priorities.
        profile: Option<String>, "";
        /// The scheme of each priority. Present only where priorities have different schemes or profiles.
        schemes: Vec<Assigned>, "", unless "Vec::is_empty";
        /// Seed of all random streams.
        seed: u64, "";
        /// Simulated time that the run lasted; everything below covers it. `planned_s`, unless it was stopped or over before.
        duration_s: f64, "s";
        /// Simulated time that was asked for.
        planned_s: f64, "s";
        /// Time before statistics begin.
        warmup_s: f64, "s";
        /// When the run was stopped, `duration_s`. Present only where it was stopped before its end.
        interrupted_at_s: Option<f64>, "s", unless "Option::is_none";
        /// When the run was over, `duration_s`: every flow with a size had ended (`until = "all-flows-complete"`), before the time that was
        /// asked for. Present only there.
        ended_at_s: Option<f64>, "s", unless "Option::is_none";
        /// When the last flow with a size was complete, those of loads among them, and the last job was done. Present only where there are such
        /// flows or jobs, and all of them completed.
        finished_at_s: Option<f64>, "s", unless "Option::is_none";
        /// Whether no data frame was lost. Present only where the scenario claims it (`lossless = true`).
        lossless: Option<bool>, "", unless "Option::is_none";
        /// Whether the scheme has acted: lowered a rate or a window, trimmed or moved a frame. Present only where the scenario claims it
        /// (`require_action = true`), and not for schemes without actions.
        acted: Option<bool>, "", unless "Option::is_none";
        /// The actions of the scheme, each of those that it declares, over the whole run. Present only where it declares some, and the
        /// run was a simulation.
        actions: Option<Actions>, "", unless "Option::is_none";
        /// Counts over the network and the whole run.
        totals: Totals, "";
        /// Frames dropped in the network over frames sent; drops of multicast copies count each, each frame sent once.
        loss_rate: f64, "";
        /// Feedback frames that reached sources over data frames sent.
        feedback_rate: f64, "";
        /// Jain's index of the controlled flows of `[[flow]]` tables, of throughput over fair share: 1 if each has the same part of its share, 1/n
        /// if one of n has all. Flows without a share do not count; where no fair share is computed, it is that of the throughputs. 1 if there is
        /// nothing to compare.
        jain_index: f64, "";
        /// The recorded queues.
        queues: Vec<QueueSummary>, "";
        /// Every flow of a `[[flow]]` table.
        flows: Vec<FlowSummary>, "";
        /// Every host.
        hosts: Vec<HostSummary>, "";
        /// Memory that queues share, for each switch. Present only where the scenario has some (`[[buffer]]`).
        pools: Vec<PoolSummary>, "", unless "Vec::is_empty";
        /// Deadlocks of priority flow control, in the order of their ends. Present only where there was one.
        deadlocks: Vec<DeadlockSummary>, "", unless "Vec::is_empty";
        /// Slowdowns of finite flows: all together, then each group; each first whole, then by size. Present only where some
        /// flow has a size.
        completions: Vec<CompletionSummary>, "", unless "Vec::is_empty";
        /// Jobs. Present only where the scenario has some (`[[collective]]`).
        jobs: Vec<JobSummary>, "", unless "Vec::is_empty";
        /// The windows of measurement (`[[window]]`). Present only where there are some; of a run that was stopped, those it opened.
        windows: Vec<WindowSummary>, "", unless "Vec::is_empty";
        /// How well the testbed kept time. Present only where the run was one of real frames on the testbed.
        testbed: Option<TestbedSummary>, "", unless "Option::is_none";
        /// Sentences on the scenario as it was laid out, and on what the run met and the scenario may not mean: flows that offered less
        /// than they say, losses that ties decided. Present only where there are some.
        notes: Vec<String>, "", unless "Vec::is_empty";
        /// Cost of the run on this machine: the only part that the same scenario and seed do not repeat.
        run: RunSummary, "";
    }
}

record! {
    /// The scheme of a priority.
    Assigned {
        /// The priority, 0 to 7.
        priority: u8, "";
        /// Name of its scheme.
        scheme: String, "";
        /// The profile that the scheme's parameters started from.
        profile: Option<String>, "";
    }
}

metrics_of!(totals, run => object!(Totals of TotalsSource, "Counts over the network and the whole run."));

metrics_of!(flow, run => object!(FlowSummary of FlowSource,
    "A flow. Rates cover the time after the warm-up, those of a flow with a size the part of it from its start to its end. They count \
     wire overhead. Counts cover the whole run."));

metrics_of!(flow, table => object!(FlowRow of FlowSource, "A row of the table of flows."));

metrics_of!(host, run => object!(HostSummary of HostSource, "A host, over the time after the warm-up."));

record! {
    /// A window of measurement: statistics and counts from its start to its end.
    WindowSummary {
        /// Its name.
        name: String, "";
        /// When it opened.
        start_s: f64, "s";
        /// When it closed: where a run that was stopped ended, if that was earlier than planned.
        end_s: f64, "s";
        /// Counts over the network.
        totals: WindowTotals, "";
        /// Frames dropped in the network over frames sent.
        loss_rate: f64, "";
        /// Feedback frames that reached sources over data frames sent.
        feedback_rate: f64, "";
        /// Jain's index of the controlled flows, of throughput over fair share.
        jain_index: f64, "";
        /// The recorded queues.
        queues: Vec<QueueSummary>, "";
        /// Every flow of a `[[flow]]` table.
        flows: Vec<WindowFlow>, "";
        /// Every host.
        hosts: Vec<HostSummary>, "";
        /// Memory that queues share. Present only where the scenario has some (`[[buffer]]`).
        pools: Vec<PoolSummary>, "", unless "Vec::is_empty";
    }
}

metrics_of!(totals, window => object!(WindowTotals of TotalsSource,
    "Counts over the network in a window. Those of windows that lie end to end add up to those of the run."));

metrics_of!(flow, window => object!(WindowFlow of FlowSource, "A flow in a window."));

/// Source of the totals of a run or a window.
struct TotalsSource<'a> {
    plan: &'a Plan,
    outcome: &'a outcome::Totals,
    queues: &'a [QueueOutcome],
    /// Sources of the run send probes.
    probing: bool,
}

impl TotalsSource<'_> {
    fn probing(&self) -> bool {
        self.probing
    }

    fn uncontrolled(&self) -> bool {
        self.plan.uncontrolled()
    }

    fn transported(&self) -> bool {
        self.plan.transported
    }

    fn path_states(&self) -> bool {
        self.plan.network.entropy_profile().is_some()
    }

    fn flow_control(&self) -> bool {
        self.plan.network.pfc.is_some()
    }

    fn trimming(&self) -> bool {
        !self.plan.network.trimmed.is_empty()
    }

    fn impaired(&self) -> bool {
        self.plan.is_impaired()
    }

    fn credited(&self) -> bool {
        self.plan.is_credited()
    }

    fn retried(&self) -> bool {
        self.plan.is_retried()
    }

    fn watched(&self) -> bool {
        self.plan.network.pfc.as_ref().is_some_and(Pfc::is_watched)
    }

    fn notifications(&self) -> u64 {
        self.outcome.feedback_frames - self.outcome.probes_returned
    }

    fn paused_s(&self) -> f64 {
        let stopped = self.queues.iter().fold(Duration::ZERO, |sum, queue| sum + queue.paused);
        Duration(stopped.0 - self.outcome.credit_wait_ps).as_seconds()
    }

    fn credit_wait_s(&self) -> f64 {
        Duration(self.outcome.credit_wait_ps).as_seconds()
    }

    fn feedback_discarded(&self) -> u64 {
        self.outcome.signals_discarded
    }
}

/// Source of the summary of a flow.
struct FlowSource<'a> {
    plan: &'a Plan,
    /// Its index.
    flow: usize,
    outcome: &'a FlowOutcome,
    /// Sources of the run send probes.
    probing: bool,
    /// Time-weighted shares over the time measured, bit/s.
    max_min_bps: f64,
    proportional_bps: f64,
    /// Of the whole run.
    settling: Option<Duration>,
}

impl FlowSource<'_> {
    fn probing(&self) -> bool {
        self.probing
    }

    fn queued(&self) -> bool {
        self.plan.network.transmit != Transmit::Pull
    }

    fn transported(&self) -> bool {
        self.plan.transported
    }

    fn finite(&self) -> bool {
        self.plan.finite
    }

    fn impaired(&self) -> bool {
        self.plan.is_impaired()
    }

    fn name(&self) -> String {
        self.plan.flow_names[self.flow].clone()
    }

    fn source(&self) -> String {
        self.plan.node_names[self.plan.flow_ends[self.flow].0].clone()
    }

    fn destinations(&self) -> Vec<String> {
        self.plan.flow_ends[self.flow].1.iter().map(|&node| self.plan.node_names[node].clone()).collect()
    }

    fn fair_rate_bps(&self) -> f64 {
        self.max_min_bps
    }

    fn proportional_rate_bps(&self) -> f64 {
        self.proportional_bps
    }

    fn notifications_received(&self) -> u64 {
        self.outcome.feedback_received - self.outcome.probes_returned
    }

    fn settling_time_s(&self) -> Option<f64> {
        self.settling.map(Duration::as_seconds)
    }

    fn start_s(&self) -> Option<f64> {
        self.outcome.started.map(Instant::as_seconds)
    }

    fn end_s(&self) -> Option<f64> {
        let finite = self.plan.network.flows[self.flow].size.is_some();
        let end = if finite { self.outcome.completed } else { self.outcome.ended };
        end.map(Instant::as_seconds)
    }

    fn completion_time_s(&self) -> Option<f64> {
        Some(self.outcome.completed?.since(self.outcome.started?).as_seconds())
    }

    fn group(&self) -> String {
        self.plan.flow_tables[self.flow].clone()
    }

    fn controlled(&self) -> bool {
        self.plan.network.flows[self.flow].reaction_point.is_some()
    }
}

/// Source of the summary of a host.
struct HostSource<'a> {
    plan: &'a Plan,
    name: &'a str,
    outcome: &'a HostOutcome,
    /// How long its queues were stopped, and by how many frames.
    paused: Duration,
    pause_frames: u64,
}

impl HostSource<'_> {
    fn slow_receivers(&self) -> bool {
        !self.plan.network.receivers.is_empty()
    }

    fn flow_control(&self) -> bool {
        self.plan.network.pfc.is_some()
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn paused_s(&self) -> f64 {
        self.paused.as_seconds()
    }

    fn pause_frames(&self) -> u64 {
        self.pause_frames
    }
}

/// A window that has closed.
#[derive(Debug)]
pub struct Measured {
    /// Its index in the plan.
    pub window: usize,
    /// When it closed.
    pub until: Instant,
    /// Its counts and measures.
    pub outcome: Outcome,
}

impl Ending {
    /// Where measuring began: a run that was stopped in its warm-up has measured nothing.
    fn measured_from(&self, plan: &Plan) -> Instant {
        (Instant::ZERO + plan.warmup).min(self.end)
    }
}

impl Summary {
    /// The simulated time that the run reached, s.
    #[must_use]
    pub fn end_s(&self) -> f64 {
        self.duration_s
    }

    /// The summary of a run of `plan`: the engine's counts, the windows that were measured, and the flows' settling times.
    #[must_use]
    pub fn new(
        plan: &Plan,
        outcome: &Outcome,
        windows: &[Measured],
        settling: &[Option<Duration>],
        ending: &Ending,
    ) -> Self {
        let totals = &outcome.totals;
        let probing = totals.probes_sent > 0;
        let periods = fair::periods(plan, &outcome.flows);
        let flows = flow_sources(plan, outcome, &periods, settling, ending);
        Self {
            scenario: plan.name.clone(),
            question: plan.question.clone(),
            scheme: plan.scheme().to_owned(),
            profile: plan.profile().map(str::to_owned),
            schemes: schemes(plan),
            seed: plan.seed,
            duration_s: ending.end.as_seconds(),
            planned_s: plan.duration.as_seconds(),
            warmup_s: plan.warmup.as_seconds(),
            interrupted_at_s: ending.interrupted.then(|| ending.end.as_seconds()),
            ended_at_s: ending.over.then(|| ending.end.as_seconds()),
            finished_at_s: completions::finished(plan, outcome, ending).map(Instant::as_seconds),
            lossless: plan.lossless.then_some(lost_frames(plan, totals) == 0),
            acted: actions::acted(plan, totals).filter(|_| plan.acted),
            actions: actions::counts(plan, totals),
            totals: Totals::new(&TotalsSource { plan, outcome: totals, queues: &outcome.queues, probing }),
            loss_rate: ratio(totals.frames_dropped, totals.frames_sent),
            feedback_rate: ratio(totals.feedback_frames, totals.frames_sent),
            jain_index: fairness(plan, &flows),
            queues: queues(plan, outcome),
            flows: flows.iter().map(FlowSummary::new).collect(),
            hosts: hosts(plan, outcome),
            pools: pools(plan, outcome),
            deadlocks: deadlocks(plan, outcome),
            completions: if completions::are_reported(plan) {
                completions::summaries(plan, completions::completions(plan, outcome, ending))
            } else {
                Vec::new()
            },
            jobs: jobs::summaries(plan, outcome),
            windows: windows.iter().map(|measured| window(plan, measured, &periods, probing)).collect(),
            notes: plan.notes.iter().cloned().chain(notes::of_run(plan, outcome, ending.end)).collect(),
            testbed: None,
            run: RunSummary {
                wall_s: ending.wall_s,
                events_per_s: if ending.wall_s > 0.0 { (totals.events as f64 / ending.wall_s) as u64 } else { 0 },
                ns_per_packet_hop: ending.wall_s * 1e9 / totals.packet_hops.max(1) as f64,
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// The summary without its flows, which are most of it where there are many: the table of flows has them as columns.
    #[must_use]
    pub fn without_flows(&self) -> Self {
        Self { flows: Vec::new(), ..self.clone() }
    }

    /// The object as text, a line a value.
    ///
    /// # Panics
    /// Never: every summary can be written as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a summary has text keys only");
        text.push('\n');
        text
    }
}

/// The rows of the table of flows.
#[must_use]
pub fn flow_rows(plan: &Plan, outcome: &Outcome, settling: &[Option<Duration>], ending: &Ending) -> Vec<FlowRow> {
    let periods = fair::periods(plan, &outcome.flows);
    flow_sources(plan, outcome, &periods, settling, ending).iter().map(FlowRow::new).collect()
}

/// The scheme of each priority; nothing where all have the same, settings aside.
fn schemes(plan: &Plan) -> Vec<Assigned> {
    let summary = |assigned: &plan::Assigned| Assigned {
        priority: assigned.priority,
        scheme: assigned.config.info().name.to_owned(),
        profile: assigned.profile.clone(),
    };
    let all: Vec<_> = plan.schemes.iter().map(summary).collect();
    let differ = all.windows(2).any(|pair| (&pair[0].scheme, &pair[0].profile) != (&pair[1].scheme, &pair[1].profile));
    if differ { all } else { Vec::new() }
}

/// The summary of a window. `periods` are the fair shares of the run, `probing` says whether sources send probes at any time.
fn window(plan: &Plan, measured: &Measured, periods: &[FairPeriod], probing: bool) -> WindowSummary {
    let Measured { window, until, outcome } = measured;
    let spec = &plan.windows[*window];
    let totals = &outcome.totals;
    let flows = &outcome.flows[..plan.single];
    let fair = fair::mean_bps(periods, spec.time.start, *until, flows, |period| &period.max_min_bps);
    let flow = |(i, outcome)| {
        // A window tells no proportional share and no settling time.
        let (max_min_bps, proportional_bps, settling) = (fair[i], 0.0, None);
        FlowSource { plan, flow: i, outcome, probing, max_min_bps, proportional_bps, settling }
    };
    let flows: Vec<FlowSource<'_>> = flows.iter().enumerate().map(flow).collect();
    WindowSummary {
        name: spec.name.clone(),
        start_s: spec.time.start.since(Instant::ZERO).as_seconds(),
        end_s: until.since(Instant::ZERO).as_seconds(),
        totals: WindowTotals::new(&TotalsSource { plan, outcome: totals, queues: &outcome.queues, probing }),
        loss_rate: ratio(totals.frames_dropped, totals.frames_sent),
        feedback_rate: ratio(totals.feedback_frames, totals.frames_sent),
        jain_index: fairness(plan, &flows),
        queues: queues(plan, outcome),
        flows: flows.iter().map(WindowFlow::new).collect(),
        hosts: hosts(plan, outcome),
        pools: pools(plan, outcome),
    }
}

/// Data frames that break the claim of a run that the network loses none.
fn lost_frames(plan: &Plan, totals: &outcome::Totals) -> u64 {
    let impaired = if plan.impaired_is_lost { totals.frames_impaired } else { 0 };
    totals.frames_dropped + totals.frames_lost_on_link + impaired
}

/// Jain's index of the controlled flows' throughputs, each over the flow's fair share where there is one.
fn fairness(plan: &Plan, flows: &[FlowSource<'_>]) -> f64 {
    let entitled = |flow: &&FlowSource<'_>| flow.controlled() && (!plan.shared || flow.max_min_bps > 0.0);
    let flows = || flows.iter().filter(entitled);
    // Equal shares change nothing, and dividing by them would round.
    let alike = flows().zip(flows().skip(1)).all(|(one, next)| one.max_min_bps == next.max_min_bps);
    let part = |flow: &FlowSource<'_>| flow.outcome.throughput_bps / if alike { 1.0 } else { flow.max_min_bps };
    jain_index(flows().map(part))
}

/// Sources of the flows' summaries over the whole run.
fn flow_sources<'a>(
    plan: &'a Plan,
    outcome: &'a Outcome,
    periods: &[FairPeriod],
    settling: &[Option<Duration>],
    ending: &Ending,
) -> Vec<FlowSource<'a>> {
    let (from, flows) = (ending.measured_from(plan), &outcome.flows[..plan.single]);
    let max_min_bps = fair::mean_bps(periods, from, ending.end, flows, |period| &period.max_min_bps);
    let proportional_bps = fair::mean_bps(periods, from, ending.end, flows, |period| &period.proportional_bps);
    let source = |(flow, outcome_of_flow): (usize, &'a FlowOutcome)| FlowSource {
        plan,
        flow,
        outcome: outcome_of_flow,
        probing: outcome.totals.probes_sent > 0,
        max_min_bps: max_min_bps[flow],
        proportional_bps: proportional_bps[flow],
        settling: settling[flow],
    };
    flows.iter().enumerate().map(source).collect()
}

fn hosts(plan: &Plan, outcome: &Outcome) -> Vec<HostSummary> {
    let network = &plan.network;
    let mut pauses = vec![(Duration::ZERO, 0); network.nodes.len()];
    for (port, queues) in network.ports.iter().zip(outcome.queues.chunks(network.queues_per_port())) {
        let (paused, pause_frames) = &mut pauses[port.node.index()];
        *paused = queues.iter().fold(*paused, |sum, queue| sum + queue.paused);
        *pause_frames += queues.iter().map(|queue| queue.pause_frames).sum::<u64>();
    }
    let nodes = network.nodes.iter().zip(&plan.node_names).zip(&outcome.hosts).zip(pauses);
    nodes
        .filter(|(((node, _), _), _)| node.kind == NodeKind::Host)
        .map(|(((_, name), outcome), (paused, pause_frames))| {
            HostSummary::new(&HostSource { plan, name, outcome, paused, pause_frames })
        })
        .collect()
}

/// Jain's index: (Σx)² / (n Σx²). (Jain, Chiu and Hawe 1984, "A quantitative measure of fairness")
fn jain_index(rates: impl Iterator<Item = f64>) -> f64 {
    let (n, sum, squares) = rates.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (n * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_index_of_known_rates() {
        assert_eq!(jain_index([5.0, 5.0, 5.0].into_iter()), 1.0);
        assert_eq!(jain_index([8.0, 0.0, 0.0, 0.0].into_iter()), 0.25);
        // (1 + 2 + 3)² / (3 · 14) = 36/42
        assert!((jain_index([1.0, 2.0, 3.0].into_iter()) - 36.0 / 42.0).abs() < 1e-15);
        assert_eq!(jain_index([].into_iter()), 1.0);
        assert_eq!(jain_index([0.0, 0.0].into_iter()), 1.0);
    }
}
