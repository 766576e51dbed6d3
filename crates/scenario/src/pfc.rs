//! Priority flow control: from `[pfc]` to an ingress buffer behind each port that can be stopped.

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::{Capacity, Ingress, Network, Pfc};
use penstock_sim::pfc::{Reach, headroom};

use crate::assemble::largest_frame;
use crate::error::Fault;
use crate::keys::{Entry, Record, Value};
use crate::read::fault;
use crate::schemes;
use crate::topology::Fabric;
use crate::tree::Origin;
use crate::units::{self, Dimension};

/// Flow control in `network`, which is laid out but for it. The record then holds the priorities, and for each link what
/// was computed: in `[pfc]` where all are alike, else in `[[pfc.link]]`.
pub(crate) fn pfc(table: &mut Record, network: &Network, fabric: &Fabric) -> Result<Pfc, Fault> {
    let priorities = priorities(table, network)?;
    table.fill("priorities", Value::Counts(priorities.iter().copied().map(u64::from).collect()));
    let mut pfc = Pfc {
        priorities,
        ingress: vec![None; network.ports.len()],
        quanta: table.number("quanta") as u16,
        response: Duration(table.number("response")),
    };
    let stoppable = ports(table, "ports", fabric)?;
    let links = links(table, &stoppable, fabric)?;
    let needed = needed(network, &pfc.priorities, pfc.response);
    let mut settled: BTreeMap<Settled, Vec<String>> = BTreeMap::new();
    for port in stoppable {
        let Some((room, reaches)) = &needed[port] else { continue };
        let at = At { table, link: links.get(&port).copied(), port: fabric.port_name(port) };
        check_quanta(&at, reaches, pfc.quanta)?;
        // The switch's own port on the same link differs in the last bit.
        let (ingress, headroom) = ingress(&at, network, network.ports[port ^ 1].capacity, *room)?;
        pfc.ingress[port] = Some(ingress);
        settled.entry(Settled { ingress, headroom }).or_default().push(at.port);
    }
    check_sums(table, &pfc, network, fabric)?;
    write_out(table, settled);
    Ok(pfc)
}

/// For each port the head-room that the buffer behind it needs, and what decides it for each of the priorities.
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

/// For each port the head-room that frames, delays and response ask for behind it; `None` where no lossless frame comes.
#[must_use]
pub fn headroom_needed(network: &Network) -> Vec<Option<Octets>> {
    let Some(pfc) = &network.pfc else { return vec![None; network.ports.len()] };
    needed(network, &pfc.priorities, pfc.response).into_iter().map(|needed| Some(needed?.0)).collect()
}

/// What the head-rooms of a network take for granted, in sentences.
pub(crate) fn notes(network: &Network) -> Vec<String> {
    let Some(pfc) = &network.pfc else { return Vec::new() };
    let mut notes = Vec::new();
    if pfc.response == Duration::ZERO {
        notes.push(
            "flow control: a stopped port obeys at once (pfc.response = \"0 s\"); real ports take some time, and the \
             head-rooms hold nothing for it"
                .to_owned(),
        );
    }
    let lossless = network.flows.iter().filter(|flow| pfc.priorities.contains(&flow.priority));
    if let Some(largest) = lossless.map(|flow| flow.frame).max() {
        let whole = u64::from(largest) == largest_frame(network);
        let of = if whole { "any flow" } else { "a lossless flow; other flows have longer ones" };
        notes.push(format!(
            "flow control: head-rooms count with frames of at most {largest} octets, the longest of {of}; traffic with a \
             larger MTU would need more"
        ));
    }
    notes
}

/// What a link's ingress buffer came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Settled {
    ingress: Ingress,
    headroom: Octets,
}

/// Writes the octets into the record.
fn write_out(table: &mut Record, settled: BTreeMap<Settled, Vec<String>>) {
    let size = |octets: Octets| Value::Quantity(Dimension::Size, octets.0);
    let values = |settled: &Settled| {
        let Settled { ingress, headroom } = *settled;
        [
            ("buffer", size(ingress.buffer)),
            ("headroom", size(headroom)),
            ("xoff", size(ingress.xoff)),
            ("xon", size(ingress.xon)),
        ]
    };
    if let [(alike, _)] = settled.iter().collect::<Vec<_>>()[..] {
        values(alike).into_iter().for_each(|(key, value)| table.replace(key, value));
        table.replace("link", Value::Tables(Vec::new()));
        return;
    }
    let link = |(i, (settled, ports)): (usize, (Settled, Vec<String>))| {
        let entry = |value| Some(Entry { origin: Origin::Default, value });
        let ports = ("ports", entry(Value::List(ports)));
        let rest = values(&settled).map(|(key, value)| (key, entry(value)));
        let path = format!("{}.{i}", table.key_path("link"));
        Record { path, origin: Origin::Default, inline: false, entries: [ports].into_iter().chain(rest).collect() }
    };
    let links = settled.into_iter().enumerate().map(link).collect();
    table.replace("link", Value::Tables(links));
}

/// Refuses switches whose ingress buffers together hold more of a priority than one of their queues can: all of it may be
/// bound for the same port.
fn check_sums(table: &Record, pfc: &Pfc, network: &Network, fabric: &Fabric) -> Result<(), Fault> {
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
                fabric.nodes[p.node.index()].name,
                units::size(octets),
                fabric.port_name(port),
                units::size(room),
            );
            let hint = format!("buffers of at most {}", units::size(room / buffers));
            return Err(fault(table, "buffer", message).with_hint(hint));
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

/// What an error speaks of.
struct At<'a> {
    table: &'a Record,
    /// The table `[[pfc.link]]` of the port, if it has one.
    link: Option<&'a Record>,
    /// Name of the port that is stopped.
    port: String,
}

impl At<'_> {
    /// A size, from the port's own table or from that of all.
    fn get(&self, key: &str) -> Option<u64> {
        self.link.and_then(|link| link.get(key)).or_else(|| self.table.get(key))
    }

    fn fault(&self, key: &str, message: String) -> Fault {
        let own = self.link.filter(|link| link.entries.iter().any(|(name, entry)| *name == key && entry.is_some()));
        fault(own.unwrap_or(self.table), key, message)
    }
}

/// The table `[[pfc.link]]` of each port that has one.
fn links<'a>(table: &'a Record, stoppable: &[usize], fabric: &Fabric) -> Result<BTreeMap<usize, &'a Record>, Fault> {
    let mut links = BTreeMap::new();
    for link in table.tables("link") {
        for port in ports(link, "ports", fabric)? {
            let name = fabric.port_name(port);
            if !stoppable.contains(&port) {
                let message = format!("the port \"{name}\" is not one of pfc.ports");
                return Err(fault(link, "ports", message).with_hint("list it there, too"));
            }
            if links.insert(port, link).is_some() {
                let message = format!("the port \"{name}\" has a [[pfc.link]] already");
                return Err(fault(link, "ports", message).with_hint("list each port once"));
            }
        }
    }
    Ok(links)
}

fn priorities(table: &Record, network: &Network) -> Result<Vec<u8>, Fault> {
    let Some(listed) = table.counts("priorities") else { return Ok(network.priorities.clone()) };
    let used = |priority: &u64| network.priorities.iter().any(|p| u64::from(*p) == *priority);
    if let Some(priority) = listed.iter().find(|priority| !used(priority)) {
        let message = format!("no flow has priority {priority}");
        return Err(fault(table, "priorities", message).with_hint(schemes::used(network)));
    }
    let mut priorities: Vec<u8> = listed.iter().map(|priority| *priority as u8).collect();
    priorities.sort_unstable();
    Ok(priorities)
}

/// The ports that can be stopped: those that lead to switches, or those of them that are listed.
fn ports(table: &Record, key: &str, fabric: &Fabric) -> Result<Vec<usize>, Fault> {
    let leads_to_host = |port: usize| fabric.is_host(fabric.ports[port].peer);
    let Some(names) = table.list(key) else {
        return Ok((0..fabric.ports.len()).filter(|port| !leads_to_host(*port)).collect());
    };
    let mut chosen = BTreeSet::new();
    for name in names {
        let port = fabric.port(name).ok_or_else(|| {
            fault(table, key, format!("there is no port \"{name}\"")).with_hint(fabric.suggest_port(name))
        })?;
        if leads_to_host(port) {
            let message = format!("the port \"{name}\" leads to a host, and hosts stop nobody");
            return Err(fault(table, key, message).with_hint("list ports that lead to switches"));
        }
        if !chosen.insert(port) {
            let message = format!("the port \"{name}\" is listed twice");
            return Err(fault(table, key, message).with_hint("list each port once"));
        }
    }
    Ok(chosen.into_iter().collect())
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
            Err(at.fault("quanta", message).with_hint(format!("at least {least}")))
        }
        None => {
            let message = format!("the longest pause is over before the pause frame for {} comes again", at.port);
            Err(at.fault("quanta", message).with_hint("shorter frames, a faster line back, or a shorter response"))
        }
    }
}

/// The ingress buffer behind a port, and its head-room. `queue` is the output queue of the switch on the same link, `room`
/// the head-room that frames and delays ask for.
fn ingress(at: &At<'_>, network: &Network, queue: Capacity, room: Octets) -> Result<(Ingress, Octets), Fault> {
    let largest = largest_frame(network);
    let port = &at.port;
    let buffer = at.get("buffer").unwrap_or(size_of(queue, largest));
    let given = at.get("headroom");
    let headroom = given.unwrap_or(room.0);
    let whole = units::size(buffer);
    let below = buffer.checked_sub(headroom).filter(|below| *below >= largest);
    let Some(below) = below else {
        let least = units::size(headroom.saturating_add(largest));
        return Err(match given {
            Some(headroom) => {
                let message = format!(
                    "a head-room of {} is beyond the ingress buffer of {whole} behind {port}",
                    units::size(headroom)
                );
                let most = units::size(buffer.saturating_sub(largest));
                let hint = format!(
                    "{} are computed for it; at most {most}, a frame less than the buffer",
                    units::size(room.0)
                );
                at.fault("headroom", message).with_hint(hint)
            }
            None => {
                let message = format!(
                    "the head-room of {port}, {} as computed, is beyond the ingress buffer of {whole}",
                    units::size(headroom)
                );
                at.fault("buffer", message).with_hint(format!("at least {least}, room for a frame included"))
            }
        });
    };
    let xoff = at.get("xoff").unwrap_or(below);
    if xoff > below {
        let message = format!(
            "{} and the head-room of {port}, {}, are beyond the ingress buffer of {whole}",
            units::size(xoff),
            units::size(headroom)
        );
        return Err(at.fault("xoff", message).with_hint(format!("at most {}", units::size(below))));
    }
    if xoff < largest {
        let message = format!("{} hold no frame of {largest} octets", units::size(xoff));
        return Err(at.fault("xoff", message).with_hint(format!("at least {}", units::size(largest))));
    }
    let xon = at.get("xon").unwrap_or(xoff.saturating_sub(2 * largest));
    if xon >= xoff {
        let message = format!("{} is not below xoff, {} for {port}", units::size(xon), units::size(xoff));
        let hint = "who was stopped goes on when the buffer has emptied below xoff";
        return Err(at.fault("xon", message).with_hint(hint));
    }
    Ok((Ingress { buffer: Octets(buffer), xoff: Octets(xoff), xon: Octets(xon) }, Octets(headroom)))
}
