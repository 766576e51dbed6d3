//! Priority flow control: from `[pfc]` to an ingress buffer behind each port that can be stopped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Action, Capacity, Ingress, Network, Pfc, PortEvent, Watchdog};
use penstock_sim::pfc::{Reach, headroom, standard_response};

use super::classes::{listed_switch_ports, switch_ports};
use super::network::largest_frame;
use crate::error::Fault;
use crate::keys::fields::{Counts, Either, List};
use crate::keys::read::{Blame, Entry};
use crate::keys::sections;
use crate::keys::topology::Layout;
use crate::resolve::LinkSizes;

/// Flow control as it is laid out.
pub(crate) struct Settled {
    pub(crate) pfc: Pfc,
    /// All lossless priorities, those that no flow has among them.
    pub(crate) lossless: Vec<u8>,
    /// The longest frame that headrooms count with.
    pub(crate) mtu: Octets,
    /// The ports that can be stopped, by the sizes of the buffer behind them.
    pub(crate) links: BTreeMap<LinkSizes, Vec<String>>,
    /// For each port that can be stopped, the reach that its headroom follows from.
    pub(crate) reaches: Vec<Option<Reach>>,
    pub(crate) notes: Vec<String>,
}

/// Flow control in `network`, which is laid out except for it. `alone`: no switch has shared memory; `memory` is that of each node with a chip.
pub(crate) fn pfc(
    table: &sections::Pfc,
    network: &Network,
    layout: &Layout,
    (alone, memory): (bool, &[Option<Octets>]),
) -> Result<Settled, Fault> {
    let lossless = match &*table.priorities {
        Some(Counts(listed)) => listed.iter().copied().collect::<BTreeSet<u8>>().into_iter().collect(),
        None => network.priorities.clone(),
    };
    let of_flows = largest_frame(network);
    let mtu = table.mtu.unwrap_or(Octets(of_flows));
    if mtu.0 < of_flows {
        let message = format!("{mtu} are less than the longest frame of the flows, {of_flows} octets");
        return Err(table.mtu.fault(message).with_hint(format!("at least {}", Octets(of_flows))));
    }
    let stoppable = stoppable(&table.ports, layout)?;
    let links = links(table, &stoppable, layout)?;
    let responses = responses(table, &stoppable, &links, network);
    // The lossless priorities of flows; of others there is nothing to stop.
    let priorities: Vec<u8> = lossless.iter().copied().filter(|own| network.priorities.contains(own)).collect();
    let mut pfc = Pfc::new(priorities, vec![None; network.ports.len()]);
    (pfc.quanta, pfc.responses) = (*table.quanta, responses);
    if let Some(table) = &*table.watchdog {
        pfc.watchdogs = watchdogs(table, layout)?;
    }
    let mut needed = needed(network, &lossless, mtu.0 as u16, &pfc.responses);
    let mut links_of: BTreeMap<LinkSizes, Vec<String>> = BTreeMap::new();
    let mut short = Vec::new();
    for &port in &stoppable {
        let Some(reach) = &needed[port] else { continue };
        let at = At { table, link: links.get(&port).copied(), port: layout.port_name(port) };
        check_quanta(&at, reach, pfc.quanta)?;
        let room = headroom(reach);
        // The switch's own port on the same link differs in the last bit.
        let (ingress, headroom) = ingress(&at, network, network.ports[port ^ 1].capacity, room)?;
        pfc.ingress[port] = Some(ingress);
        if ingress.buffer.0 - ingress.xoff.0 < room.0 {
            short.push((at.port.clone(), ingress.buffer.0 - ingress.xoff.0, room));
        }
        links_of.entry(LinkSizes { ingress, headroom, response: reach.response }).or_default().push(at.port);
    }
    for (port, needed) in needed.iter_mut().enumerate() {
        *needed = needed.filter(|_| pfc.ingress[port].is_some());
    }
    let most = check_sums(table, &pfc, network, layout, memory)?;
    let mut notes = notes(&pfc, &lossless, mtu, mtu.0 == of_flows);
    notes.extend(most.filter(|_| alone).map(|(node, octets)| {
        format!(
            "flow control: the ingress buffers of {} are {octets} in all, more than a switch has: [[buffer]] gives its lines and \
             queues one memory that they share",
            layout.nodes[node].name
        )
    }));
    notes.extend(of_short(&short));
    Ok(Settled { pfc, lossless, mtu, links: links_of, reaches: needed, notes })
}

/// For each port that can be stopped the time until it obeys: that of its table, that of all, or that of the standard for the fastest rate
/// that it ever has.
fn responses(
    table: &sections::Pfc,
    stoppable: &[usize],
    links: &BTreeMap<usize, &sections::PfcLink>,
    network: &Network,
) -> Vec<Duration> {
    let mut rates: Vec<BitRate> = network.ports.iter().map(|port| port.rate).collect();
    for change in &network.changes {
        if let PortEvent::Rate(rate) = change.event {
            let highest = &mut rates[change.port.index()];
            *highest = (*highest).max(rate);
        }
    }
    let mut responses = vec![Duration::ZERO; rates.len()];
    for &port in stoppable {
        let own = links.get(&port).and_then(|link| *link.response).or(*table.response);
        responses[port] = own.unwrap_or_else(|| standard_response(rates[port]));
    }
    responses
}

/// For each port the settings of its watchdog.
fn watchdogs(table: &sections::Watchdog, layout: &Layout) -> Result<Vec<Option<Watchdog>>, Fault> {
    let action = |action| match action {
        sections::WatchdogAction::Drop => Action::Drop,
        sections::WatchdogAction::Forward => Action::Forward,
        sections::WatchdogAction::Alert => Action::Alert,
    };
    let poll = *table.poll;
    let looks = |key: &dyn Blame, time: Duration| {
        if time >= poll {
            return Ok(time);
        }
        let message = format!("{time} is shorter than the polling interval of {poll}, at which the watchdog looks");
        Err(key.blame(message).with_hint(format!("at least {poll}, or a shorter pfc.watchdog.poll")))
    };
    let all = Watchdog {
        after: looks(&table.after, *table.after)?,
        restoration: looks(&table.restoration, *table.restoration)?,
        poll,
        action: action(*table.action),
    };
    let mut watchdogs = vec![None; layout.ports.len()];
    for port in switch_ports(&table.ports, layout, "the watchdog")? {
        watchdogs[port] = Some(all);
    }
    let mut taken = BTreeSet::new();
    for row in table.port.iter() {
        let mut own = all;
        if let Some(after) = *row.after {
            own.after = looks(&row.after, after)?;
        }
        if let Some(restoration) = *row.restoration {
            own.restoration = looks(&row.restoration, restoration)?;
        }
        own.action = row.action.map_or(all.action, action);
        for port in listed_switch_ports(&row.ports, &row.ports, layout, "the watchdog")? {
            if !taken.insert(port) {
                let message = format!("the port \"{}\" has a [[pfc.watchdog.port]] already", layout.port_name(port));
                return Err(row.ports.fault(message).with_hint("list each port once"));
            }
            watchdogs[port] = Some(own);
        }
    }
    Ok(watchdogs)
}

/// For each port that leads to a switch the reach that decides the headroom of the buffer behind it: priorities differ by the copies that
/// switches make alone.
fn needed(network: &Network, priorities: &[u8], mtu: u16, responses: &[Duration]) -> Vec<Option<Reach>> {
    let all: Vec<Vec<Option<Reach>>> =
        priorities.iter().map(|&priority| network.reaches(priority, mtu, responses)).collect();
    let at_port = |port: usize| all.iter().filter_map(|of_ports| of_ports[port]).max_by_key(|reach| reach.copies);
    (0..network.ports.len()).map(at_port).collect()
}

/// The assumptions behind the headrooms of a network, in sentences.
fn notes(pfc: &Pfc, lossless: &[u8], mtu: Octets, of_flows: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let stoppable = pfc.responses.iter().zip(&pfc.ingress).filter(|(_, ingress)| ingress.is_some());
    if stoppable.clone().any(|(response, _)| *response == Duration::ZERO) {
        notes.push(
            "flow control: a stopped port obeys at once (pfc.response = \"0 s\"); real ports take some time, and the \
             headrooms hold nothing for it"
                .to_owned(),
        );
    }
    if of_flows {
        notes.push(format!(
            "flow control: headrooms count with frames of at most {} octets, the longest of any flow; lines that carry longer \
             ones need more (pfc.mtu)",
            mtu.0
        ));
    }
    let idle: Vec<String> = lossless.iter().filter(|own| !pfc.priorities.contains(own)).map(u8::to_string).collect();
    if !idle.is_empty() {
        let (noun, list) = (if idle.len() == 1 { "priority" } else { "priorities" }, idle.join(", "));
        notes.push(format!("flow control: no flow has {noun} {list}; headroom in pools is kept all the same"));
    }
    notes
}

/// A note on the ports behind which there is less room than frames, delays and response ask for.
fn of_short(short: &[(String, u64, Octets)]) -> Option<String> {
    let (port, room, needed) = short.iter().min_by_key(|(_, room, needed)| Reverse(needed.0 - room))?;
    let others = match short.len() {
        1 => String::new(),
        2 => ", and 1 other port with less than it needs".to_owned(),
        n => format!(", and {} other ports with less than they need", n - 1),
    };
    Some(format!(
        "flow control: frames may be lost: the headroom of {port} is {}, and {needed} are needed (headroom = \"auto\"){others}",
        Octets(*room),
    ))
}

/// Refuses switches whose ingress buffers together hold more of a priority than one of their queues can: all of it may be
/// bound for the same port.
///
/// Returns the switch with the largest sum, of all its priorities, where that is more than memories of switches are.
fn check_sums(
    table: &sections::Pfc,
    pfc: &Pfc,
    network: &Network,
    layout: &Layout,
    memory: &[Option<Octets>],
) -> Result<Option<(usize, Octets)>, Fault> {
    let largest = largest_frame(network);
    let mut held = vec![(0, 0); network.nodes.len()];
    for (port, ingress) in network.ports.iter().zip(&pfc.ingress) {
        if let Some(ingress) = ingress {
            let (buffers, octets) = &mut held[port.peer.index()];
            *buffers += 1;
            *octets += ingress.buffer.0;
        }
    }
    // A chip holds no more than its memory, whatever its lines may take.
    for ((_, octets), memory) in held.iter_mut().zip(memory) {
        *octets = memory.map_or(*octets, |memory| memory.0.min(*octets));
    }
    for (port, p) in network.ports.iter().enumerate() {
        let (buffers, octets) = held[p.node.index()];
        let room = (1 << 32) - 1 - size_of(p.capacity, largest);
        if octets > room {
            let message = format!(
                "the {buffers} ingress buffers of {} hold {} together, which could all wait for {}; {} are the most",
                layout.nodes[p.node.index()].name,
                Octets(octets),
                layout.port_name(port),
                Octets(room),
            );
            let hint = format!("buffers of at most {}", Octets(room / buffers));
            return Err(table.buffer.fault(message).with_hint(hint));
        }
    }
    let of_priorities = |octets: u64| octets.saturating_mul(pfc.priorities.len() as u64);
    let most = held.iter().enumerate().min_by_key(|(_, (_, octets))| Reverse(*octets));
    let most = most.map(|(node, (_, octets))| (node, Octets(of_priorities(*octets))));
    Ok(most.filter(|(_, octets)| *octets > LARGEST_MEMORY))
}

/// No switching chip has more packet memory (the largest of 2026 have some 250 MB).
const LARGEST_MEMORY: Octets = Octets(300_000_000);

/// The most octets in a queue; frames of up to `largest` octets count as such.
pub(super) fn size_of(capacity: Capacity, largest: u64) -> u64 {
    match capacity {
        Capacity::Octets(octets) => octets.0,
        Capacity::Frames(n) => u64::from(n) * largest,
        Capacity::Arbiter => 0,
    }
}

/// A port that can be stopped, and the tables that describe the buffer behind it.
struct At<'a> {
    table: &'a sections::Pfc,
    /// The table `[[pfc.link]]` of the port, if it has one.
    link: Option<&'a sections::PfcLink>,
    /// Name of the port that is stopped.
    port: String,
}

impl<'a> At<'a> {
    /// A size, from the port's own table or from that of all, and the key that says so, or could.
    fn size(
        &self,
        own: impl Fn(&'a sections::PfcLink) -> &'a Entry<Option<Octets>>,
        all: &'a Entry<Option<Octets>>,
    ) -> (Option<Octets>, &'a dyn Blame) {
        match self.link.map(own).filter(|own| own.is_some()) {
            Some(own) => (**own, own),
            None => (**all, all),
        }
    }

    /// The headroom that is given, likewise.
    fn headroom(&self) -> (Option<Octets>, &'a dyn Blame) {
        match (self.link.map(|link| &link.headroom).filter(|own| own.is_some()), &*self.table.headroom) {
            (Some(own), _) => (**own, own),
            (None, Either::Second(octets)) => (Some(*octets), &self.table.headroom),
            (None, Either::First(_)) => (None, &self.table.headroom),
        }
    }
}

/// The table `[[pfc.link]]` of each port that has one.
fn links<'a>(
    table: &'a sections::Pfc,
    stoppable: &[usize],
    layout: &Layout,
) -> Result<BTreeMap<usize, &'a sections::PfcLink>, Fault> {
    let mut links = BTreeMap::new();
    for link in table.link.iter() {
        for port in ports(&link.ports, &link.ports, layout)? {
            let name = layout.port_name(port);
            if stoppable.binary_search(&port).is_err() {
                let message = format!("the port \"{name}\" is not one of pfc.ports");
                return Err(link.ports.fault(message).with_hint("list it there, too"));
            }
            if links.insert(port, link).is_some() {
                let message = format!("the port \"{name}\" has a [[pfc.link]] already");
                return Err(link.ports.fault(message).with_hint("list each port once"));
            }
        }
    }
    Ok(links)
}

/// The ports that can be stopped: those that lead to switches, or those of them that are listed.
fn stoppable(key: &Entry<Either<sections::AllPorts, List>>, layout: &Layout) -> Result<Vec<usize>, Fault> {
    match &**key {
        Either::First(_) => Ok((0..layout.ports.len()).filter(|port| !leads_to_host(layout, *port)).collect()),
        Either::Second(names) => ports(key, names, layout),
    }
}

/// The ports that `key` lists.
fn ports(key: &dyn Blame, names: &[String], layout: &Layout) -> Result<Vec<usize>, Fault> {
    let mut chosen = BTreeSet::new();
    for name in names {
        let port = layout
            .port(name)
            .ok_or_else(|| key.blame(format!("there is no port \"{name}\"")).with_hint(layout.suggest_port(name)))?;
        if leads_to_host(layout, port) {
            let message = format!("the port \"{name}\" leads to a host, and hosts send no pause frames");
            return Err(key.blame(message).with_hint("list ports that lead to switches"));
        }
        if !chosen.insert(port) {
            let message = format!("the port \"{name}\" is listed twice");
            return Err(key.blame(message).with_hint("list each port once"));
        }
    }
    Ok(chosen.into_iter().collect())
}

fn leads_to_host(layout: &Layout, port: usize) -> bool {
    layout.is_host(layout.ports[port].peer)
}

/// Refuses a pause time that can run out before its refresh arrives.
fn check_quanta(at: &At<'_>, reach: &Reach, quanta: u16) -> Result<(), Fault> {
    match reach.least_quanta() {
        Some(least) if least <= quanta => Ok(()),
        Some(least) => {
            let message = format!("a pause of {quanta} quanta ends before {} can be paused again", at.port);
            Err(at.table.quanta.fault(message).with_hint(format!("at least {least}")))
        }
        None => {
            let message = format!("even a pause of 65535 quanta ends before {} can be paused again", at.port);
            Err(at
                .table
                .quanta
                .fault(message)
                .with_hint("use shorter frames, a faster reverse link, or a shorter response"))
        }
    }
}

/// The ingress buffer behind a port, and its headroom. `queue` is the output queue of the switch on the same link, `room`
/// the headroom that frames and delays ask for.
fn ingress(at: &At<'_>, network: &Network, queue: Capacity, room: Octets) -> Result<(Ingress, Octets), Fault> {
    let largest = largest_frame(network);
    let port = &at.port;
    let (buffer, of_buffer) = at.size(|link| &link.buffer, &at.table.buffer);
    let buffer = buffer.map_or_else(|| size_of(queue, largest), |octets| octets.0);
    let (given, of_headroom) = at.headroom();
    let headroom = given.unwrap_or(room).0;
    let whole = Octets(buffer);
    let below = buffer.checked_sub(headroom).filter(|below| *below >= largest);
    let Some(below) = below else {
        let least = Octets(headroom.saturating_add(largest));
        return Err(match given {
            Some(headroom) => {
                let message =
                    format!("a headroom of {} is beyond the ingress buffer of {whole} behind {port}", headroom);
                let most = Octets(buffer.saturating_sub(largest));
                let hint = format!("{} are computed for it; at most {most}, a frame less than the buffer", room);
                of_headroom.blame(message).with_hint(hint)
            }
            None => {
                let message = format!(
                    "the headroom of {port}, {} as computed, is beyond the ingress buffer of {whole}",
                    Octets(headroom)
                );
                of_buffer.blame(message).with_hint(format!("at least {least}, room for a frame included"))
            }
        });
    };
    let (xoff, of_xoff) = at.size(|link| &link.xoff, &at.table.xoff);
    let xoff = xoff.map_or(below, |octets| octets.0);
    if xoff > below {
        let message = format!(
            "{} and the headroom of {port}, {}, are beyond the ingress buffer of {whole}",
            Octets(xoff),
            Octets(headroom)
        );
        return Err(of_xoff.blame(message).with_hint(format!("at most {}", Octets(below))));
    }
    if xoff < largest {
        let message = format!("{} are too small for a frame of {largest} octets", Octets(xoff));
        return Err(of_xoff.blame(message).with_hint(format!("at least {}", Octets(largest))));
    }
    let (xon, of_xon) = at.size(|link| &link.xon, &at.table.xon);
    let xon = xon.map_or_else(|| xoff.saturating_sub(2 * largest), |octets| octets.0);
    if xon >= xoff {
        let message = format!("{} is not below xoff, {} for {port}", Octets(xon), Octets(xoff));
        let hint = "a neighbour that was stopped goes on when the buffer has emptied below xoff";
        return Err(of_xon.blame(message).with_hint(hint));
    }
    Ok((Ingress { buffer: Octets(buffer), xoff: Octets(xoff), xon: Octets(xon) }, Octets(headroom)))
}
