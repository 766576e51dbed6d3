//! `[[credits]]`, those of a graph's links, and `[[retry]]`: links that lose no frame for lack of room, or send again what they lose.

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{CreditLine, HopId, LARGEST_QUEUE, Network, PortEvent, PortId, RetryLine};

use super::impairment::ports_of;
use super::network::largest_frame;
use crate::error::Fault;
use crate::keys::fields::{Counts, Either, List};
use crate::keys::read::Entry;
use crate::keys::sections::{self, CREDIT, CREDIT_SPACING, CREDIT_SYNC, Computed, Credits};
use crate::keys::topology::{Layout, LineCredits};
use crate::resolve::Resolved;

/// Octets of an acknowledgement or an update on the line.
const MESSAGE: u64 = 8;

/// Adds those of a scenario to its network, which is laid out but for the paths that frames choose. Returns notes.
pub(crate) fn add(resolved: &Resolved, network: &mut Network, layout: &Layout) -> Result<Vec<String>, Fault> {
    let mut notes = Vec::new();
    let (mut taken, mut retried) = (BTreeSet::new(), BTreeSet::new());
    let tables = credits(resolved, layout)?;
    for (table, ports) in &tables {
        let priorities = priorities(&table.priorities, network)?.unwrap_or_else(|| network.priorities.clone());
        let lines = ports.iter().map(|&port| credit_line(table, port, &priorities, network));
        let lines: Vec<CreditLine> = lines.collect::<Result<_, _>>()?;
        check_priorities(table, &priorities, network)?;
        let others = Others::of(network);
        for line in &lines {
            check_line(table, line, network, layout, &others)?;
            if let Some(priority) = priorities.iter().find(|&&priority| !taken.insert((line.port, priority))) {
                let message =
                    format!("priority {priority} of {} has credits already", layout.port_name(line.port.index()));
                return Err(table.links.fault(message).with_hint("list each link and priority once"));
            }
        }
        let sizes = lines.iter().map(|line| u64::from(line.cells) * u64::from(line.cell));
        let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
        notes.push(format!(
            "credits: {} with {} for each priority, in credits of {}",
            lines_in_words(lines.len()),
            between(Octets(least), Octets(most)),
            *table.cell
        ));
        network.credits.extend(lines);
    }
    check_sums(tables.first().map(|(table, _)| table), network, layout)?;
    for table in resolved.retry.iter() {
        let ports = ports_of(&table.links, layout)?;
        let priorities = priorities(&table.priorities, network)?;
        let mut lines = Vec::new();
        for &port in &ports {
            if !retried.insert(port) {
                let message = format!("the link {} has a table [[retry]] already", layout.port_name(port));
                return Err(table.links.fault(message).with_hint("list each direction of a link once"));
            }
            lines.push(retry_line(table, port, priorities.clone(), network)?);
        }
        let (least, most) = (lines.iter().map(|line| line.buffer).min(), lines.iter().map(|line| line.buffer).max());
        let sizes = between(least.unwrap_or(Octets(0)), most.unwrap_or(Octets(0)));
        notes.push(format!("retry: {} with replay buffers of {sizes}", lines_in_words(lines.len())));
        network.retries.extend(lines);
    }
    network.credits.sort_by_key(|line| line.port);
    network.retries.sort_by_key(|line| line.port);
    Ok(notes)
}

/// The tables `[[credits]]`, then those of a graph's links, each with its ports.
fn credits(resolved: &Resolved, layout: &Layout) -> Result<Vec<(Credits, Vec<usize>)>, Fault> {
    let listed = resolved.credits.iter().map(|table| Ok((table.clone(), ports_of(&table.links, layout)?)));
    let of_links = resolved.topology.given().credits().into_iter().filter_map(of_links).zip(&layout.credited);
    listed.chain(of_links.map(|(table, ports)| Ok((table, ports.clone().collect())))).collect()
}

/// The credits of a graph's links as such a table. An error about it names their keys.
fn of_links(credits: &Entry<Option<LineCredits>>) -> Option<Credits> {
    let given = (**credits).as_ref()?;
    Some(Credits {
        links: credits.with(Either::Second(List(Vec::new()))),
        priorities: given.priorities.clone(),
        cell: given.cell.with(given.cell.unwrap_or(CREDIT)),
        buffer: given.buffer.with(given.buffer.map_or(Either::First(Computed::Auto), Either::Second)),
        spacing: given.spacing.with(given.spacing.unwrap_or(CREDIT_SPACING)),
        sync: given.sync.with(given.sync.unwrap_or(CREDIT_SYNC)),
    })
}

fn lines_in_words(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

/// A size, or the least and the largest of several.
fn between(least: Octets, most: Octets) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// The priorities of a table that flows have; `None` where it lists none.
fn priorities(key: &Entry<Option<Counts>>, network: &Network) -> Result<Option<Vec<u8>>, Fault> {
    let Some(Counts(listed)) = &**key else { return Ok(None) };
    if let Some(unused) = listed.iter().find(|own| !network.priorities.contains(own)) {
        let of_flows: Vec<String> = network.priorities.iter().map(u8::to_string).collect();
        let hint = format!("flows have {}", of_flows.join(", "));
        return Err(key.fault(format!("no flow has priority {unused}")).with_hint(hint));
    }
    Ok(Some(listed.clone()))
}

/// The highest rate that a port ever has, and the lowest of the port that leads back.
fn rates(network: &Network, port: usize) -> (BitRate, BitRate) {
    let (mut highest, mut lowest) = (network.ports[port].rate, network.ports[port ^ 1].rate);
    for change in &network.changes {
        match change.event {
            PortEvent::Rate(rate) if change.port.index() == port => highest = highest.max(rate),
            PortEvent::Rate(rate) if change.port.index() == port ^ 1 => lowest = lowest.min(rate),
            _ => {}
        }
    }
    (highest, lowest)
}

/// The longest time from the start of the longest frame on the line of a port until a message of the far end about it has come. The far
/// end sends one each `spacing` octets, and holds the frame for `held` times its length before.
fn answer_time(network: &Network, port: usize, spacing: Octets, held: u64) -> Duration {
    let (rate, back) = rates(network, port);
    let frame = largest_frame(network) + u64::from(network.wire_overhead);
    // The two directions of a link differ in the last bit.
    let both = network.ports[port].latency.0 + network.ports[port ^ 1].latency.0;
    let there = rate.serialisation((1 + held) * frame).0;
    Duration(both + there.0 + back.serialisation(frame + spacing.0 + MESSAGE).0.0)
}

/// Frames that the line of a port carries in a time, and one more.
fn frames(network: &Network, port: usize, time: Duration) -> u64 {
    let frame = largest_frame(network) + u64::from(network.wire_overhead);
    let (rate, _) = rates(network, port);
    time.0.div_ceil(rate.serialisation(frame).0.0.max(1)) + 1
}

fn credit_line(table: &Credits, port: usize, priorities: &[u8], network: &Network) -> Result<CreditLine, Fault> {
    let (largest, cell) = (largest_frame(network), table.cell.0);
    let of_largest = largest.div_ceil(cell);
    let cells = match *table.buffer {
        Either::First(_) => {
            // The far end holds a frame until it has left.
            of_largest.saturating_mul(frames(network, port, answer_time(network, port, *table.spacing, 1)))
        }
        Either::Second(octets) => octets.0 / cell,
    };
    if cells < of_largest {
        let message = format!("{} are too small for a frame of {largest} octets", Octets(cells * cell));
        let hint = format!("at least {}, {of_largest} credits of {}", Octets(of_largest * cell), *table.cell);
        return Err(table.buffer.fault(message).with_hint(hint));
    }
    if cells > LARGEST_QUEUE.0 / cell {
        let message = "the link would need more than 4 GB of memory at its far end";
        return Err(table.buffer.fault(message).with_hint("give a size, or smaller credits and distances"));
    }
    let (spacing, sync) = (*table.spacing, *table.sync);
    let port = PortId(port as u32);
    Ok(CreditLine { port, priorities: priorities.to_vec(), cell: cell as u16, cells: cells as u32, spacing, sync })
}

/// Other things of a network that decide on the room of frames over a line.
struct Others {
    /// The receive buffers of hosts.
    receivers: BTreeMap<PortId, Octets>,
    /// The lines whose frames are copied at the far end.
    copied: BTreeSet<PortId>,
}

impl Others {
    fn of(network: &Network) -> Self {
        let chosen = network.load_balancing.as_ref().map_or(&[][..], |spread| &spread.hops[..]);
        let hops = (0..).map(HopId).zip(&network.hops);
        let copied = hops.filter(|(id, hop)| hop.children > 1 && chosen.binary_search(id).is_err());
        Self {
            receivers: network.receivers.iter().map(|own| (own.link.0, own.buffer)).collect(),
            copied: copied.map(|(_, hop)| hop.port).collect(),
        }
    }
}

/// Refuses credits of priorities whose frames change their priority.
fn check_priorities(table: &Credits, priorities: &[u8], network: &Network) -> Result<(), Fault> {
    let moves = |own: &u8| network.priorities.iter().any(|&other| other != *own && network.joins(other, *own));
    if let Some(priority) = priorities.iter().find(|own| moves(own)) {
        let message = format!("a scheme moves frames to priority {priority}, where nothing has spent credits for them");
        return Err(table.priorities.fault(message).with_hint("another scheme, or [pfc]"));
    }
    Ok(())
}

/// Refuses credits of a line where something else decides on the room of frames.
fn check_line(
    table: &Credits,
    line: &CreditLine,
    network: &Network,
    layout: &Layout,
    others: &Others,
) -> Result<(), Fault> {
    let (port, name) = (line.port.index(), layout.port_name(line.port.index()));
    let shares = |own: &[u8]| line.priorities.iter().copied().find(|priority| own.contains(priority));
    let stopped = network.pfc.as_ref().filter(|pfc| pfc.ingress[port].is_some());
    if let Some(priority) = stopped.and_then(|pfc| shares(&pfc.priorities)) {
        let message = format!("priority {priority} of {name} has priority flow control");
        return Err(table.priorities.fault(message).with_hint("leave it out here, or in pfc.priorities or pfc.ports"));
    }
    let peer = network.ports[port].peer;
    if network.pools.iter().any(|pool| pool.node == peer && shares(&pool.priorities).is_some()) {
        let message =
            format!("a [[buffer]] of {} could drop frames that have credits", layout.nodes[peer.index()].name);
        let hint = "credits give each line its memory: leave the [[buffer]] out";
        return Err(table.priorities.fault(message).with_hint(hint));
    }
    let all = Octets(u64::from(line.cells) * u64::from(line.cell));
    if let Some(buffer) = others.receivers.get(&line.port).filter(|buffer| **buffer < all) {
        let message = format!("the receive buffer of the host at {name}, {buffer}, is smaller than its credits");
        let hint = format!("a buffer of {all} in [[host]], or a smaller one here");
        return Err(table.buffer.fault(message).with_hint(hint));
    }
    if others.copied.contains(&line.port) {
        let message = format!("frames over {name} are copied, and each copy would hold their credits");
        return Err(table.links.fault(message).with_hint("leave the links of multicast flows out"));
    }
    Ok(())
}

/// Refuses switches whose buffers together hold more than a queue can.
fn check_sums(first: Option<&Credits>, network: &Network, layout: &Layout) -> Result<(), Fault> {
    let of_pfc = network.pfc.iter().flat_map(|pfc| pfc.ingress.iter().enumerate());
    let of_pfc = of_pfc.filter_map(|(port, own)| Some((port, own.as_ref()?.buffer.0)));
    let of_credits =
        network.credits.iter().map(|line| (line.port.index(), u64::from(line.cells) * u64::from(line.cell)));
    let mut held = vec![0; network.nodes.len()];
    of_pfc.chain(of_credits).for_each(|(port, octets)| held[network.ports[port].peer.index()] += octets);
    let full = held.iter().position(|&octets| octets > LARGEST_QUEUE.0 - 200_000_000);
    match (full, first) {
        (Some(node), Some(table)) if !network.credits.is_empty() => {
            let message = format!("the buffers of {} hold {} together", layout.nodes[node].name, Octets(held[node]));
            Err(table.buffer.fault(message).with_hint("3.8 GB are the most: smaller buffers"))
        }
        _ => Ok(()),
    }
}

fn retry_line(
    table: &sections::Retry,
    port: usize,
    priorities: Option<Vec<u8>>,
    network: &Network,
) -> Result<RetryLine, Fault> {
    let largest = largest_frame(network);
    let time = answer_time(network, port, *table.spacing, 0);
    let buffer = match *table.buffer {
        Either::First(_) => Octets(largest.saturating_mul(frames(network, port, time)).min(LARGEST_QUEUE.0)),
        Either::Second(octets) => octets,
    };
    if buffer.0 < largest {
        let message = format!("{buffer} are too small for a frame of {largest} octets");
        return Err(table.buffer.fault(message).with_hint(format!("at least {}", Octets(largest))));
    }
    let timer = match *table.timer {
        Either::First(_) => Duration(2 * time.0),
        Either::Second(time) => time,
    };
    let (spacing, most_replays) = (*table.spacing, *table.most_replays as u32);
    Ok(RetryLine { port: PortId(port as u32), priorities, buffer, timer, spacing, most_replays })
}
