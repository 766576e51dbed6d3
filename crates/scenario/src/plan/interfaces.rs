//! `[[host]]` and `[[event]]`: hosts that process what they receive slowly, and PFC storms.

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Network, PortId, Receiver, Storm};
use penstock_sim::pfc::standard_response;

use super::network::largest_frame;
use crate::error::Fault;
use crate::keys::fields::{Counts, Either};
use crate::keys::sections;
use crate::keys::topology::Layout;
use crate::limits::{Bounds, NODES};
use crate::names;
use crate::resolve::Resolved;

/// Adds the receivers and the storms of a scenario to its network, which is laid out with its flow control.
pub(crate) fn add(
    resolved: &Resolved,
    network: &mut Network,
    layout: &Layout,
    bounds: &Bounds<'_>,
) -> Result<(), Fault> {
    let mut taken = BTreeSet::new();
    for table in resolved.host.iter() {
        for host in hosts(table, layout, bounds)? {
            if !taken.insert(host) {
                let message = format!("the host \"{}\" has a table [[host]] already", layout.nodes[host].name);
                return Err(table.names.fault(message).with_hint("list each host once"));
            }
            let receiver = receiver(table, network)?;
            network.receivers.extend(links(layout, host).map(|link| Receiver { link, ..receiver }));
        }
    }
    for table in resolved.event.iter() {
        let storms = storms(table, resolved, network, layout)?;
        network.storms.extend(storms);
    }
    let paused: Vec<PortId> = network.receivers.iter().map(|own| own.link.0).collect();
    let paused: Vec<PortId> = paused.into_iter().chain(network.storms.iter().map(|own| own.link.0)).collect();
    if let (Some(pfc), Some(table)) = (&mut network.pfc, &*resolved.pfc) {
        for port in paused {
            let response = table.response.unwrap_or_else(|| standard_response(network.ports[port.index()].rate));
            pfc.responses[port.index()] = response;
        }
    }
    Ok(())
}

/// The links of a host: the port that leads to it, and its own.
fn links(layout: &Layout, host: usize) -> impl Iterator<Item = (PortId, PortId)> + '_ {
    let port = |port: usize| PortId(port as u32);
    // The two directions of a link differ in the last bit.
    layout.nodes[host].ports.iter().map(move |&own| (port(own ^ 1), port(own)))
}

/// The hosts that a table names.
fn hosts(table: &sections::Host, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<usize>, Fault> {
    let Either::First(listed) = &*table.names else {
        return Ok((0..layout.nodes.len()).filter(|&node| layout.is_host(node)).collect());
    };
    let names = names::expand_all(listed, bounds.most(NODES)).map_err(|e| table.names.excess(e))?;
    let host = |name: &String| layout.host(name).map_err(|e| table.names.excess(e));
    names.iter().map(host).collect()
}

/// The receiver of a table, for no link yet.
fn receiver(table: &sections::Host, network: &Network) -> Result<Receiver, Fault> {
    let (buffer, largest) = (*table.buffer, largest_frame(network));
    if buffer.0 < largest {
        let message = format!("{buffer} are too small for a frame of {largest} octets");
        return Err(table.buffer.fault(message).with_hint(format!("at least {}", Octets(largest))));
    }
    let written = [&table.xoff, &table.xon].into_iter().find(|key| key.is_some());
    if let (Some(key), None) = (written, &network.pfc) {
        let message = "there is no flow control, so that the interface pauses nothing";
        return Err(key.fault(message).with_hint("add a table [pfc], or leave this out"));
    }
    let xoff = table.xoff.unwrap_or(Octets(buffer.0.div_ceil(2)));
    if xoff > buffer {
        let message = format!("{xoff} are beyond the receive buffer of {buffer}");
        return Err(table.xoff.fault(message).with_hint("the buffer without the headroom of the link"));
    }
    let xon = table.xon.unwrap_or(Octets(xoff.0 / 2));
    if xon >= xoff {
        let message = format!("{xon} are not below xoff, {xoff}");
        return Err(table.xon.fault(message).with_hint("the switch resumes when the buffer has emptied below xoff"));
    }
    let link = (PortId::NONE, PortId::NONE);
    Ok(Receiver { link, rate: *table.drain_rate, buffer, xoff, xon })
}

/// The storms of a table, one a link.
fn storms(
    table: &sections::Event,
    resolved: &Resolved,
    network: &Network,
    layout: &Layout,
) -> Result<Vec<Storm>, Fault> {
    let Some(pfc) = &network.pfc else {
        let message = "there is no flow control, so that nothing obeys pause frames";
        return Err(table.kind.fault(message).with_hint("add a table [pfc]"));
    };
    let host = layout.host(&table.host).map_err(|e| table.host.excess(e))?;
    let (from, until) = (Instant(table.from.0), table.until.map_or(Instant::NEVER, |until| Instant(until.0)));
    if *table.from >= *resolved.duration {
        let message = "an event at or after the end of the run";
        return Err(table.from.fault(message).with_hint(format!("the run ends at {}", *resolved.duration)));
    }
    if until <= from {
        let hint = format!("it begins at {}; until must be later", *table.from);
        return Err(table.until.fault("a storm would end before it begins").with_hint(hint));
    }
    let priorities = match &*table.priorities {
        None => pfc.priorities.clone(),
        Some(Counts(listed)) => {
            if let Some(lossy) = listed.iter().find(|own| !pfc.priorities.contains(own)) {
                let message = format!("priority {lossy} has no flow control, or no flow has it");
                let lossless: Vec<String> = pfc.priorities.iter().map(u8::to_string).collect();
                let hint = format!("lossless priorities of flows are {}", lossless.join(", "));
                return Err(table.priorities.fault(message).with_hint(hint));
            }
            listed.clone()
        }
    };
    let overlaps = |other: &Storm| other.from < until && from < other.until;
    let shares = |other: &Storm| other.priorities.iter().any(|own| priorities.contains(own));
    let mut storms = Vec::new();
    for link in links(layout, host) {
        if network.storms.iter().any(|other| other.link == link && overlaps(other) && shares(other)) {
            let message = format!("two storms of {} would pause the same priority at the same time", *table.host);
            return Err(table.from.fault(message).with_hint("write one, from the first beginning to the last end"));
        }
        let interval = table.interval.unwrap_or(Duration(u64::MAX / 2));
        storms.push(Storm { link, priorities: priorities.clone(), from, until, interval });
    }
    Ok(storms)
}
