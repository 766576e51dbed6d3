//! Routes that change: a time after a link has broken, or is whole again, switches go by the links that are left.

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::{FlowId, Network, Reroute};

use super::changes;
use super::flow_census::FlowCensus;
use super::links;
use super::network::add_hops;
use super::routing::{self, Branch, Wanted};
use super::source_table::SourceTable;
use super::traffic::FlowSpec;
use crate::hash::hash;
use crate::keys::fields::Either;
use crate::keys::sections::LinkState;
use crate::keys::topology::{Epoch, Layout};
use crate::limits::{Bounds, Excess};
use crate::resolve::Resolved;

/// The most names in a note.
const NAMED: usize = 4;

/// The ports whose lines are broken from each time on, where that changes. A link that is not there is refused elsewhere.
fn broken(resolved: &Resolved, layout: &Layout) -> Vec<(Duration, BTreeSet<usize>)> {
    let mut events: Vec<(Duration, usize, bool)> = Vec::new();
    for change in resolved.change.iter() {
        let Some(link) = change.link.as_deref() else { continue };
        let ports = links::ports_of(layout, link).unwrap_or_default();
        for (at, state) in changes::states(change, *resolved.duration) {
            events.extend(ports.iter().map(|&port| (at, port, state == LinkState::Down)));
        }
    }
    events.sort_by_key(|&(at, ..)| at);
    let mut ports = BTreeSet::new();
    let mut states = Vec::new();
    for now in events.chunk_by(|a, b| a.0 == b.0) {
        for &(_, port, down) in now {
            if down {
                ports.insert(port)
            } else {
                ports.remove(&port)
            };
        }
        states.push((now[0].0, ports.clone()));
    }
    states.dedup_by(|later, earlier| later.1 == earlier.1);
    states
}

/// How long after each state began all switches know of it; `None` if they never do.
fn delays(resolved: &Resolved, states: usize) -> Option<Vec<Duration>> {
    let settings = &resolved.network;
    match &*settings.convergence {
        None | Some(Either::First(_)) => None,
        Some(Either::Second(Either::First(delay))) => Some(vec![*delay; states]),
        Some(Either::Second(Either::Second(starts))) => {
            let (least, most) = (starts.uniform.minimum.0, starts.uniform.maximum.0);
            let salt = [&resolved.seed.to_le_bytes()[..], b"convergence"].concat();
            let draw = |state: u64| {
                let steps = u128::from(most.saturating_sub(least)) + 1;
                Duration(least + ((u128::from(hash(&state.to_le_bytes(), &salt)) * steps) >> 64) as u64)
            };
            Some((0..states as u64).map(draw).collect())
        }
    }
}

/// The layout as switches know it later: the two switches of a link `network.local_repair` after it went down, all others
/// `network.convergence` after it went down or came back. A link that is back is used when all know it, or at once if they never knew.
pub(crate) fn epochs(resolved: &Resolved, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<Epoch>, Excess> {
    let states = broken(resolved, layout);
    let Some(delays) = delays(resolved, states.len()) else { return Ok(Vec::new()) };
    let repair = *resolved.network.local_repair;
    // When its switches act, and all of them: by the state that the links have then.
    let mut events: Vec<(Duration, bool)> = Vec::new();
    for (&(at, _), &delay) in states.iter().zip(&delays) {
        events.extend([(at + repair, false), (at + delay, true)]);
    }
    events.retain(|(at, ..)| *at < *resolved.duration);
    events.sort_unstable();
    let (mut near, mut far) = (None, None);
    let mut epochs: Vec<Epoch> = Vec::new();
    let mut before = (BTreeSet::new(), BTreeSet::new());
    for now in events.chunk_by(|a, b| a.0 == b.0) {
        let earlier = far;
        let present = states.partition_point(|(at, _)| *at <= now[0].0).checked_sub(1);
        for &(_, all) in now {
            *(if all { &mut far } else { &mut near }) = present;
        }
        // What all know its switches know, too.
        let ports = |state: Option<usize>| state.map_or_else(BTreeSet::new, |state| states[state].1.clone());
        let known = ports(far);
        let down: BTreeSet<usize> = ports(near.max(far)).difference(&known).copied().collect();
        let news = (far != earlier).then(|| known.clone());
        if before == (known.clone(), down.clone()) {
            continue;
        }
        bounds.search(layout.ports.len())?;
        let mut layout = layout.without(&known);
        layout.down.clone_from(&down);
        before = (known, down);
        epochs.push(Epoch { at: now[0].0, layout, known: news });
    }
    Ok(epochs)
}

/// Whether switches find the route of a flow, and to which host.
fn found_by_switches(resolved: &Resolved, flow: &FlowSpec) -> Option<usize> {
    let listed = matches!(flow.origin, SourceTable::Flow(table) if resolved.flow[table].path.is_some());
    flow.host().filter(|_| !listed)
}

/// Adds the routes that flows have later. Gives a sentence about the flows that stand still, or lose frames, for as long as a link is broken.
pub(crate) fn add_routes(
    resolved: &Resolved,
    network: &mut Network,
    layout: &Layout,
    flows: &[FlowSpec],
    census: &FlowCensus,
    bounds: &Bounds<'_>,
) -> Result<Option<String>, Excess> {
    let states = broken(resolved, layout);
    if states.is_empty() {
        return Ok(None);
    }
    let mut present: Vec<Vec<Branch>> = flows.iter().map(|flow| flow.route.clone()).collect();
    let (mut stuck, mut links, mut tables) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // The flows whose routes lead over a broken link although all switches know it.
    let mut look = |at: Duration, ports: &BTreeSet<usize>, present: &[Vec<Branch>]| {
        let is_broken = |port: usize| ports.contains(&port) || ports.contains(&(port ^ 1));
        for (flow, route) in present.iter().enumerate() {
            bounds.search(1 + route.len() / 8)?;
            // One that waits for others has no start yet.
            let over = flows[flow].stop.is_some_and(|stop| stop.0 <= at.0);
            if let Some(branch) = route.iter().find(|branch| !over && is_broken(branch.port)) {
                stuck.insert(flow);
                links.insert(branch.port & !1);
            }
        }
        for (table, footprint) in census.footprints.iter().enumerate().filter(|_| layout.later.is_empty()) {
            if let Some(&port) = ports.iter().find(|&&port| footprint.crosses(port) || footprint.crosses(port ^ 1)) {
                tables.insert(table);
                links.insert(port & !1);
            }
        }
        Ok::<(), Excess>(())
    };
    for Epoch { at, layout, known } in &layout.later {
        for (flow, route) in routes_in(resolved, layout, flows, bounds)? {
            if route == present[flow] {
                continue;
            }
            let root = add_hops(&mut network.hops, &route);
            let reverse_path = flows[flow].carriage.is_some().then(|| network.add_reverse_path(root));
            network.reroutes.push(Reroute { at: Instant(at.0), flow: FlowId(flow as u32), root, reverse_path });
            present[flow] = route;
        }
        if let Some(known) = known {
            look(*at, known, &present)?;
        }
    }
    // All states where none is ever known; else the last one, if the run ends before that is.
    let never = layout.later.is_empty();
    let last = layout.later.iter().rev().find_map(|epoch| epoch.known.as_ref());
    for (at, ports) in &states[if never { 0 } else { states.len() - 1 }..] {
        if never || last != Some(ports) {
            look(*at, ports, &present)?;
        }
    }
    let single = stuck.into_iter().map(|flow| flows[flow].name.clone());
    let generated = tables.into_iter().map(|table| format!("flows of {}", census.tables[table].model.name));
    let names: Vec<String> = single.chain(generated).collect();
    let end = |node: usize| &layout.nodes[node].name;
    let links = links.into_iter().map(|port| &layout.ports[port]);
    let links: Vec<String> = links.map(|port| format!("{}--{}", end(port.node), end(port.peer))).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let (names, links) = (listed(&names), listed(&links));
    let advice = if layout.later.is_empty() {
        "no route changes (network.convergence = \"never\")"
    } else {
        "no route avoids it, or none before the run ends"
    };
    Ok(Some(format!(
        "while a link is broken ({links}), the frames that are sent over it are lost, and {names} may stand still: {advice}"
    )))
}

/// The names; of many, the first few.
fn listed(names: &[String]) -> String {
    match names.len() {
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        _ => names.join(", "),
    }
}

/// The route of each flow that switches find, where there is one.
fn routes_in(
    resolved: &Resolved,
    layout: &Layout,
    flows: &[FlowSpec],
    bounds: &Bounds<'_>,
) -> Result<Vec<(usize, Vec<Branch>)>, Excess> {
    let found = flows.iter().enumerate().filter_map(|(i, flow)| Some((i, flow, found_by_switches(resolved, flow)?)));
    let (numbers, wanted): (Vec<usize>, Vec<Wanted<'_>>) = found
        .map(|(i, flow, destination)| {
            let first = Some(flow.route[0].port);
            (i, Wanted { flow: &flow.name, source: flow.source, destination, first })
        })
        .unzip();
    let routes = routing::routes(layout, &wanted, bounds)?;
    Ok(numbers.into_iter().zip(routes).filter_map(|(i, route)| Some((i, route?))).collect())
}
