//! Priority flow control: from `[pfc]` to an ingress buffer behind each port that can be stopped.

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::{Capacity, Ingress, Network, Pfc, Watchdog};
use penstock_sim::pfc::{Reach, headroom};

use crate::assemble::largest_frame;
use crate::error::Fault;
use crate::fields::{Counts, Either, List};
use crate::read::{Blame, Entry};
use crate::schemes;
use crate::sections;
use crate::topology::Layout;

/// Flow control in `network`, which is laid out except for it. The record then holds the priorities, and for each link
/// the sizes that were computed: in `[pfc]` where all are alike, else in `[[pfc.link]]`.
pub(crate) fn pfc(table: &mut sections::Pfc, network: &Network, layout: &Layout) -> Result<Pfc, Fault> {
    let priorities = schemes::listed(&table.priorities, network)?;
    table.priorities.fill(Counts(priorities.clone()));
    let mut pfc = Pfc {
        priorities,
        ingress: vec![None; network.ports.len()],
        quanta: *table.quanta,
        response: *table.response,
        watchdog: table.watchdog.as_ref().map(watchdog),
    };
    let stoppable = stoppable(&table.ports, layout)?;
    let links = links(table, &stoppable, layout)?;
    let needed = needed(network, &pfc.priorities, pfc.response);
    let mut settled: BTreeMap<Settled, Vec<String>> = BTreeMap::new();
    for port in stoppable {
        let Some((room, reaches)) = &needed[port] else { continue };
        let at = At { table, link: links.get(&port).copied(), port: layout.port_name(port) };
        check_quanta(&at, reaches, pfc.quanta)?;
        // The switch's own port on the same link differs in the last bit.
        let (ingress, headroom) = ingress(&at, network, network.ports[port ^ 1].capacity, *room)?;
        pfc.ingress[port] = Some(ingress);
        settled.entry(Settled { ingress, headroom }).or_default().push(at.port);
    }
    check_sums(table, &pfc, network, layout)?;
    write_out(table, settled);
    Ok(pfc)
}

fn watchdog(table: &sections::Watchdog) -> Watchdog {
    let drops = *table.action == sections::WatchdogAction::Drop;
    Watchdog { after: *table.after, restoration: *table.restoration, poll: *table.poll, drops }
}

/// For each port the headroom that the buffer behind it needs, and the reach that decides it for each priority.
type Needed = Vec<Option<(Octets, Vec<Reach>)>>;

fn needed(network: &Network, priorities: &[u8], response: Duration) -> Needed {
    let all: Vec<Vec<Option<Reach>>> = priorities.iter().map(|priority| network.reaches(*priority, response)).collect();
    let at_port = |port: usize| {
        let reaches: Vec<Reach> = all.iter().filter_map(|of_ports| of_ports[port]).collect();
        let room = reaches.iter().map(headroom).max()?;
        Some((room, reaches))
    };
    (0..network.ports.len()).map(at_port).collect()
}

/// For each port the headroom that frames, delays and response ask for behind it; `None` where no lossless frame comes.
#[must_use]
pub fn headroom_needed(network: &Network) -> Vec<Option<Octets>> {
    let Some(pfc) = &network.pfc else { return vec![None; network.ports.len()] };
    needed(network, &pfc.priorities, pfc.response).into_iter().map(|needed| Some(needed?.0)).collect()
}

/// The assumptions behind the headrooms of a network, in sentences.
pub(crate) fn notes(network: &Network) -> Vec<String> {
    let Some(pfc) = &network.pfc else { return Vec::new() };
    let mut notes = Vec::new();
    if pfc.response == Duration::ZERO {
        notes.push(
            "flow control: a stopped port obeys at once (pfc.response = \"0 s\"); real ports take some time, and the \
             headrooms hold nothing for it"
                .to_owned(),
        );
    }
    let made = network.processes.list.iter().map(|process| (process.priority, network.longest_of_process(process)));
    let frames = network.flows.iter().map(|flow| (flow.priority, network.longest_of(flow))).chain(made);
    let lossless = frames.filter(|(own, _)| pfc.priorities.iter().any(|&priority| network.joins(*own, priority)));
    if let Some(largest) = lossless.map(|(_, frame)| frame).max() {
        let whole = u64::from(largest) == largest_frame(network);
        let of = if whole { "any flow" } else { "a lossless flow; other flows have longer ones" };
        notes.push(format!(
            "flow control: headrooms count with frames of at most {largest} octets, the longest of {of}; traffic with a \
             larger MTU would need more"
        ));
    }
    notes
}

/// The sizes of a link's ingress buffer, as they were settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Settled {
    ingress: Ingress,
    headroom: Octets,
}

/// Writes the octets into the record.
fn write_out(table: &mut sections::Pfc, settled: BTreeMap<Settled, Vec<String>>) {
    if let [(alike, _)] = settled.iter().collect::<Vec<_>>()[..] {
        let Settled { ingress, headroom } = *alike;
        table.buffer.replace(Some(ingress.buffer));
        table.headroom.replace(Either::Second(headroom));
        table.xoff.replace(Some(ingress.xoff));
        table.xon.replace(Some(ingress.xon));
        table.link.replace(Vec::new());
        return;
    }
    let link = |(Settled { ingress, headroom }, ports)| sections::PfcLink {
        ports: Entry::computed(List(ports)),
        buffer: Entry::computed(Some(ingress.buffer)),
        headroom: Entry::computed(Some(headroom)),
        xoff: Entry::computed(Some(ingress.xoff)),
        xon: Entry::computed(Some(ingress.xon)),
    };
    table.link.replace(settled.into_iter().map(link).collect());
}

/// Refuses switches whose ingress buffers together hold more of a priority than one of their queues can: all of it may be
/// bound for the same port.
fn check_sums(table: &sections::Pfc, pfc: &Pfc, network: &Network, layout: &Layout) -> Result<(), Fault> {
    let largest = largest_frame(network);
    let mut held = vec![(0, 0); network.nodes.len()];
    for (port, ingress) in network.ports.iter().zip(&pfc.ingress) {
        if let Some(ingress) = ingress {
            let (buffers, octets) = &mut held[port.peer.index()];
            *buffers += 1;
            *octets += ingress.buffer.0;
        }
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
    Ok(())
}

/// The most octets in a queue; frames of up to `largest` octets count as such.
fn size_of(capacity: Capacity, largest: u64) -> u64 {
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
            if !stoppable.contains(&port) {
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
            let message = format!("the port \"{name}\" leads to a host, and hosts stop nobody");
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
fn check_quanta(at: &At<'_>, reaches: &[Reach], quanta: u16) -> Result<(), Fault> {
    let Some(least) = reaches.iter().map(Reach::least_quanta).max_by_key(|least| least.unwrap_or(u16::MAX)) else {
        return Ok(());
    };
    match least {
        Some(least) if least <= quanta => Ok(()),
        Some(least) => {
            let message = format!("{quanta} quanta are over before the pause frame for {} comes again", at.port);
            Err(at.table.quanta.fault(message).with_hint(format!("at least {least}")))
        }
        None => {
            let message = format!("the longest pause is over before the pause frame for {} comes again", at.port);
            Err(at.table.quanta.fault(message).with_hint("shorter frames, a faster line back, or a shorter response"))
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
        let message = format!("{} hold no frame of {largest} octets", Octets(xoff));
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
