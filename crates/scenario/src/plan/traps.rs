//! Notes on settings that are valid and do not do what a reader takes them to do: marks that come after pauses or never, pools that cannot
//! be used, loads that no link carries.

use std::collections::BTreeMap;

use penstock_schemes::{Action, Octets, Unit};
use penstock_sim::network::{Capacity, EarlyDrops, Network, NodeId, NodeKind, Pool, Process, Share};

use super::Assigned;
use super::buffer::{others, stopped_at};
use super::network::largest_frame;
use super::pfc::size_of;
use super::source_table::SourceTable;

/// All of them. `origins` are those of the network's processes, `commons` those of its pools.
pub(crate) fn notes(
    network: &Network,
    schemes: &[Assigned],
    (origins, commons): (&[SourceTable], &[Octets]),
    (names, ports): (&[String], &[String]),
) -> Vec<String> {
    let marks = schemes.iter().filter_map(|own| marks_after_pauses(network, own, commons, names));
    let others = [unreachable(network, commons, ports), unusable(network, commons, names)];
    marks.chain(others.into_iter().flatten()).chain(beyond_links(network, origins, names)).collect()
}

/// The length of a queue from which on frames of a priority are marked, and the key that says so.
fn first_mark(network: &Network, own: &Assigned) -> Option<(Octets, String)> {
    let info = own.config.info();
    let marks = info.actions.contains(&Action::Marks);
    let of_queue =
        info.parameters.iter().enumerate().filter(|(_, parameter)| {
            marks && parameter.unit == Unit::Threshold && info.has_effect(parameter, &own.values)
        });
    let lines = || network.ports.iter().filter(|port| port.congestion_points).map(|port| port.rate);
    let of_scheme = of_queue.filter_map(|(i, parameter)| {
        let least = lines().map(|line| own.threshold_at(i, line)).min();
        Some((least?, format!("schemes.{}.{}", info.name, parameter.name)))
    });
    let of_network = network.ecn_threshold.map(|octets| (octets, "network.ecn_threshold".to_owned()));
    of_scheme.chain(of_network).min_by_key(|(octets, _)| *octets)
}

/// Says where flow control stops the lines of a switch before a queue there is long enough for a mark.
fn marks_after_pauses(network: &Network, own: &Assigned, commons: &[Octets], names: &[String]) -> Option<String> {
    let pfc = network.pfc.as_ref().filter(|pfc| pfc.priorities.contains(&own.priority))?;
    let base = first_mark(network, own);
    // The ports that a [[wred]] is about go by it.
    let early = network.wred.iter().filter(|early| early.priority == own.priority && early.drops != EarlyDrops::All);
    let early: BTreeMap<usize, u64> = early.map(|early| (early.port.index(), early.ramp.k_min)).collect();
    let mut firsts: BTreeMap<NodeId, (Octets, String)> = BTreeMap::new();
    for (index, port) in network.ports.iter().enumerate() {
        let own = early.get(&index).map(|min| (Octets(*min), "min of [[wred]]".to_owned()));
        let Some(found) = own.or_else(|| base.clone()) else { continue };
        let first = firsts.entry(port.node).or_insert_with(|| found.clone());
        if found.0 < first.0 {
            *first = found;
        }
    }
    // For each switch the lines that it stops, and the least octets at which it stops one by itself.
    let mut lines: BTreeMap<NodeId, (u64, u64)> = BTreeMap::new();
    for (port, ingress) in network.ports.iter().zip(&pfc.ingress) {
        if let Some(ingress) = ingress {
            let (count, xoff) = lines.entry(port.peer).or_insert((0, u64::MAX));
            (*count, *xoff) = (*count + 1, (*xoff).min(ingress.xoff.0));
        }
    }
    let shared = network.pools.iter().zip(commons).filter_map(|(pool, common)| {
        let class = pool.priorities.iter().position(|priority| *priority == own.priority)?;
        Some((pool.node, (*common, pool.ingress[class])))
    });
    let shared: BTreeMap<NodeId, (Octets, Share)> = shared.collect();
    // The most that `n` lines hold together when the last of them is stopped.
    let held = |node: NodeId, xoff: u64, n: u64| {
        n.saturating_mul(
            shared.get(&node).map_or(u64::MAX, |(common, share)| stopped_at(*common, *share, n).0).min(xoff),
        )
    };
    let late = |(&node, &(count, xoff)): (&NodeId, &(u64, u64))| {
        // The line back to the neighbour that the queue leads to brings it nothing.
        let most = count.saturating_sub(1).max(1);
        let threshold = firsts.get(&node)?.0;
        let beyond = |n: u64| held(node, xoff, n) + largest_frame(network) > threshold.0;
        let enough = (1..=most).find(|&n| beyond(n));
        (enough != Some(1)).then(|| (enough.unwrap_or(u64::MAX), node, xoff, most))
    };
    let (enough, node, xoff, most) = lines.iter().filter_map(late).max()?;
    let (threshold, key) = &firsts[&node];
    let (switch, alone) = (&names[node.index()], Octets(held(node, xoff, 1)));
    Some(if enough == u64::MAX {
        format!(
            "flow control comes before marks: {switch} stops a line at {alone}, and {most} lines at {} together; a queue is marked \
             from {threshold} on ({key}), so that nothing is ever marked there",
            Octets(held(node, xoff, most)),
        )
    } else {
        format!(
            "flow control comes before marks: {switch} stops a line at {alone}, and a queue is marked from {threshold} on ({key}): \
             where fewer than {enough} lines feed the queue they are stopped and nothing is marked"
        )
    })
}

/// Says which queue never gets as long as the minimum threshold of its `[[wred]]`. Of lossless priorities flow control decides.
fn unreachable(network: &Network, commons: &[Octets], ports: &[String]) -> Option<String> {
    let lossless = network.pfc.as_ref().map_or(&[][..], |pfc| &pfc.priorities);
    let limit = |port: usize, priority: u8| {
        let of_pool = network.pools.iter().zip(commons).filter_map(|(pool, common)| {
            let class = pool.priorities.iter().position(|own| *own == priority)?;
            (pool.node == network.ports[port].node).then(|| stopped_at(*common, pool.egress[class], 1).0)
        });
        let own = match network.ports[port].capacity {
            Capacity::Arbiter => u64::MAX,
            capacity => size_of(capacity, largest_frame(network)),
        };
        of_pool.fold(own, u64::min)
    };
    let of_queues = network.wred.iter().filter(|early| !lossless.contains(&early.priority));
    let of_queues = of_queues.map(|early| (early, limit(early.port.index(), early.priority)));
    let beyond: Vec<_> = of_queues.filter(|(early, limit)| early.ramp.k_min >= *limit).collect();
    let (early, limit) = beyond.first()?;
    let others = match beyond.len() {
        1 => String::new(),
        n => format!(" (and the same at {})", others(n - 1)),
    };
    Some(format!(
        "wred: the queue of {} holds at most {}, and nothing happens up to min, {}: it marks and drops no frame early{others}",
        ports[early.port.index()],
        Octets(*limit),
        Octets(early.ramp.k_min),
    ))
}

/// Says which pool stays half empty, since its factors are small. Where all queues, or all lines and priorities, are congested at once, each
/// holds alpha × S / (1 + A) of the shared part S, with A the sum of all alphas (Choudhury and Hahne 1998).
fn unusable(network: &Network, commons: &[Octets], names: &[String]) -> Option<String> {
    let lossless = network.pfc.as_ref().map_or(&[][..], |pfc| &pfc.priorities);
    let of_pool = |(pool, common): (&Pool, &Octets)| {
        let (mut ports, mut lines) = (0, 0);
        for port in &network.ports {
            (ports, lines) = (ports + u64::from(port.node == pool.node), lines + u64::from(port.peer == pool.node));
        }
        let ingress: Option<Vec<f64>> = pool.ingress.iter().map(|share| share.alpha).collect();
        // The ingress account alone bounds frames of lossless priorities.
        let egress = pool.priorities.iter().zip(&pool.egress);
        let egress: Option<Vec<f64>> =
            egress.map(|(own, share)| share.alpha.filter(|_| !lossless.contains(own))).collect();
        let accounts = [("alpha", egress, ports, "queues"), ("ingress_alpha", ingress, lines, "lines and priorities")];
        let of_account = |(key, alphas, n, what): (&'static str, Option<Vec<f64>>, u64, &'static str)| {
            let alphas = alphas?;
            let (largest, all) = (alphas.iter().copied().fold(0.0, f64::max), alphas.iter().sum::<f64>() * n as f64);
            (!alphas.is_empty()).then(|| (all / (1.0 + all), largest, key, n * alphas.len() as u64, what))
        };
        let least = accounts.into_iter().filter_map(of_account).min_by(|one, other| one.0.total_cmp(&other.0))?;
        (least.0 < HALF).then_some((least, pool.node, *common))
    };
    let small: Vec<_> = network.pools.iter().zip(commons).filter_map(of_pool).collect();
    let &((together, alpha, key, n, what), node, common) =
        small.iter().min_by(|one, other| one.0.0.total_cmp(&other.0.0))?;
    let others = match small.len() {
        1 => String::new(),
        n => format!(" (and less than half of {} other pools)", n - 1),
    };
    Some(format!(
        "buffer: {key} = {alpha} leaves most of the {common} that {} shares unused: one of its {what} takes at most {:.0} % of it, \
         alpha / (1 + alpha), and all {n} together {:.0} %{others}; a larger {key}, or a smaller pool",
        names[node.index()],
        alpha / (1.0 + alpha) * 100.0,
        together * 100.0,
    ))
}

/// A pool of which all that want memory get less than this part together cannot be used.
const HALF: f64 = 0.5;

/// Says where `[[load]]` tables bring more than links carry, over the time in which their flows start: hosts offer the rate that was asked
/// for, and some link on the path does not have it. The links of a switch to other switches count together, for flows may choose among them.
fn beyond_links(network: &Network, origins: &[SourceTable], names: &[String]) -> Option<String> {
    let switch = |node: NodeId| network.nodes[node.index()].kind == NodeKind::Switch;
    // By the ends: the switch alone for links to other switches.
    let mut offered: BTreeMap<(NodeId, Option<NodeId>), (f64, f64)> = BTreeMap::new();
    let loads = network.processes.list.iter().zip(origins).filter(|(_, origin)| matches!(origin, SourceTable::Load(_)));
    let mut counted = vec![false; network.ports.len()];
    for (process, _) in loads.filter(|(process, _)| process.flows >= FEW) {
        for crossed in &process.links {
            let (at, port) = (crossed.link.0.index(), &network.ports[crossed.link.0.index()]);
            if !switch(port.node) {
                continue;
            }
            let end = (!switch(port.peer)).then_some(port.peer);
            let (bps, rate) = offered.entry((port.node, end)).or_insert((0.0, 0.0));
            *bps += crossed.octets as f64 * 8.0 * on_wire(network, process) / process.span.as_seconds();
            if !std::mem::replace(&mut counted[at], true) {
                *rate += port.rate.0 as f64;
            }
        }
    }
    let beyond = offered.into_iter().map(|(ends, (bps, rate))| (bps / rate, ends)).filter(|(share, _)| *share > 1.0);
    let beyond: Vec<(f64, (NodeId, Option<NodeId>))> = beyond.collect();
    let &(share, (node, end)) = beyond.iter().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let name = |node: NodeId| &names[node.index()];
    let links = match end {
        Some(host) => format!("the link from {} to {}", name(node), name(host)),
        None => format!("the links from {} to other switches", name(node)),
    };
    let others = match beyond.len() {
        1 => String::new(),
        n => format!(" (and more than the rate of {})", others(n - 1)),
    };
    Some(format!(
        "the loads offer {:.0} % of the rate of {links}{others}: what does not fit waits, so that queues and completion times grow \
         with the length of the run; a lower load, or faster links",
        share * 100.0
    ))
}

/// A load of fewer flows has no mean rate to speak of.
const FEW: u32 = 100;

/// Octets on the line for each octet of a flow's size.
fn on_wire(network: &Network, process: &Process) -> f64 {
    let frame = f64::from(network.longest_of_process(process)) + f64::from(network.wire_overhead);
    frame / process.payload().max(1) as f64
}
