//! About how many events a run has, before it is made.

use penstock_scenario::Plan;
use penstock_schemes::Instant;
use penstock_sim::network::{Excess, FlowId, Traffic};

/// Events and recorded rows of a run of `plan`, as far as frames and samples make them: timers of schemes come on top.
pub(crate) fn events(plan: &Plan) -> f64 {
    let network = &plan.network;
    let seconds = |picoseconds: u64| picoseconds as f64 / 1e12;
    let duration = plan.duration.0;
    // A flow that waits for others may begin at once.
    let begins = |flow: &penstock_sim::network::Flow| if flow.start == Instant::NEVER { 0 } else { flow.start.0 };
    let frames = |flow: &penstock_sim::network::Flow| {
        let line = network.ports[network.hops[flow.root.index()].port.index()].rate.0 as f64;
        let rate = flow.traffic.mean_bps().map_or(line, |rate| rate.min(line));
        let end = flow.stop.map_or(duration, |stop| stop.0.min(duration));
        let octets = rate / 8.0 * seconds(end.saturating_sub(begins(flow)));
        let octets = flow.size.map_or(octets, |size| octets.min(size.0 as f64));
        octets / f64::from(flow.frame) + 1.0
    };
    // Frames that never reach the network are work too, but for those at even distances. Each turn of on-off traffic begins
    // with one, however short it is.
    let made = |flow: &penstock_sim::network::Flow| {
        let time = flow.stop.map_or(duration, |stop| stop.0.min(duration)).saturating_sub(begins(flow));
        match flow.traffic {
            Traffic::OnOff { on, off, .. } => time as f64 / (on + off).0.max(1) as f64,
            Traffic::Poisson(rate) if flow.excess != Excess::Stall => {
                rate.0 as f64 / 8.0 * seconds(time) / f64::from(flow.frame)
            }
            _ => 0.0,
        }
    };
    let per_hop = if network.pfc.is_some() || !network.pools.is_empty() { 2.0 } else { 1.0 };
    let flows = network.flows.iter().enumerate().map(|(i, flow)| {
        let hops = network.route(FlowId(i as u32)).count() as f64;
        frames(flow) * (hops * per_hop + 1.0) + made(flow)
    });
    let made = plan.generated.flows().map(|flow| {
        let process = &network.processes.list[flow.table];
        let line = network.ports[flow.path[0].index()].rate.0 as f64;
        let most = line / 8.0 * seconds(duration.saturating_sub(flow.start.0));
        (most.min(flow.size.0 as f64) / f64::from(process.frame) + 1.0) * (flow.path.len() as f64 * per_hop + 1.0)
    });
    let samples = (duration / plan.record.interval.0.max(1)) as f64;
    let rows = (plan.record.queues.len() + network.flows.len()) as f64;
    flows.sum::<f64>() + made.sum::<f64>() + samples * (rows + network.ports.len() as f64 / 8.0)
}
