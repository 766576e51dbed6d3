//! Sentences on what a run met, and what its scenario may not mean.

use penstock_scenario::Plan;
use penstock_schemes::{Instant, Octets};
use penstock_sim::network::{Excess, Flow, Ties, Traffic};
use penstock_sim::outcome::{FlowOutcome, Outcome};

use crate::jobs;

/// The notes on a run that ended at `end`.
pub(crate) fn of_run(plan: &Plan, outcome: &Outcome, end: Instant) -> Vec<String> {
    let jobs = jobs::notes(plan, outcome);
    offers(plan, outcome, end).into_iter().chain(ties(plan, outcome)).chain(jobs).collect()
}

/// Flows whose schedules stood still while their frames waited, so that they offered less than they say.
fn offers(plan: &Plan, outcome: &Outcome, end: Instant) -> Option<String> {
    let flows = plan.network.flows.iter().zip(&outcome.flows).zip(&plan.flow_names);
    let short: Vec<String> = flows
        .filter_map(|((flow, outcome), name)| {
            let (offered, written) = offered_gbps(flow, outcome, u64::from(plan.network.wire_overhead), end)?;
            Some(format!("{name} offered {offered:.3} of {written:.3} Gb/s"))
        })
        .collect();
    let more = short.len().saturating_sub(3);
    let listed = short.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more flows less than they say") } else { String::new() };
    (!short.is_empty()).then(|| {
        format!(
            "{listed}{more}: with excess = \"stall\" a schedule stands still while its frame waits; with \"wait\" it goes on"
        )
    })
}

/// What a flow offered and what its schedule says, Gb/s, if that is more than chance makes of it.
fn offered_gbps(flow: &Flow, outcome: &FlowOutcome, overhead: u64, end: Instant) -> Option<(f64, f64)> {
    if flow.excess != Excess::Stall || flow.transport.is_some() || flow.size.is_some() {
        return None;
    }
    let written = flow.traffic.mean_bps()?;
    let from = outcome.started?;
    let time = flow.stop.map_or(end, |stop| stop.min(end)).since(from).as_seconds();
    let bits = 8.0 * Octets(u64::from(flow.frame) + overhead).0 as f64;
    let (due, made) = (written * time / bits, outcome.frames_offered as f64);
    // Four standard deviations of as many draws, where there are any, and two frames.
    let chance = match flow.traffic {
        Traffic::Poisson(_) => 4.0 * due.sqrt(),
        Traffic::OnOff { on, off, .. } => {
            let turns = (time / (on + off).as_seconds()).max(1.0);
            4.0 * due * (2.0 / turns).sqrt()
        }
        Traffic::Constant(_) | Traffic::Greedy => 0.0,
    };
    (made < due * 0.995 - chance - 2.0).then(|| (made * bits / time / 1e9, written / 1e9))
}

/// Losses that the order of frames at one instant decided.
fn ties(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let (tied, dropped) = (outcome.totals.tied_losses, outcome.totals.frames_dropped);
    let decides = plan.network.ties == Ties::Number && tied > 0 && tied * 100 >= dropped;
    decides.then(|| {
        format!(
            "{tied} of {dropped} losses fell on an instant at which another frame had joined the same queue. The order of nodes and links in \
             the scenario decided which was lost; network.ties = \"in-turn\" goes round a switch's inputs"
        )
    })
}
