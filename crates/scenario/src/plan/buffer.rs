//! Shared memory: from `[[buffer]]` to the pools of switches.

use std::collections::BTreeSet;

use penstock_schemes::Octets;
use penstock_sim::network::{LARGEST_QUEUE, Network, NodeId, NodeKind, Pool, PortId, Share};
use penstock_sim::pfc::{Reach, headroom, headroom_in_cells};

use super::network::largest_frame;
use super::schemes;
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::{Blame, Entry};
use crate::keys::sections::{self, AllSwitches, NoThreshold};
use crate::keys::topology::Layout;
use crate::limits::NODES;
use crate::names;
use crate::resolve::PoolKeys;

/// A pool as it is laid out.
pub(crate) struct PlannedPool {
    pub(crate) pool: Pool,
    pub(crate) name: String,
    /// The headroom that all lines need at once.
    pub(crate) needed: Octets,
    pub(crate) common: SharedPart,
    /// Where it stops lossless lines, if it does.
    pub(crate) stopping: Option<Stopping>,
}

/// The ports of a node, and those of its neighbours that lead to it.
#[derive(Debug, Clone, Default)]
struct Ports {
    own: usize,
    to_it: Vec<PortId>,
}

/// The pools of `network`, which is laid out except for them; `lossless` priorities and `reaches` are those of flow control. Each table
/// then has keys that follow from the network.
pub(crate) fn pools(
    tables: &[sections::Buffer],
    network: &Network,
    layout: &Layout,
    (lossless, reaches): (&[u8], &[Option<Reach>]),
) -> Result<(Vec<PlannedPool>, Vec<PoolKeys>), Fault> {
    let mut ports = vec![Ports::default(); network.nodes.len()];
    for (id, port) in (0..).map(PortId).zip(&network.ports) {
        ports[port.node.index()].own += 1;
        ports[port.peer.index()].to_it.push(id);
    }
    let (mut pools, mut keys) = (Vec::new(), Vec::with_capacity(tables.len()));
    let mut taken = BTreeSet::new();
    let mut known = BTreeSet::new();
    let known_priorities: BTreeSet<u8> = network.priorities.iter().chain(lossless).copied().collect();
    for table in tables {
        let name = Option::clone(&table.name).unwrap_or_default();
        if !known.insert(name.clone()) {
            let message = format!("there is a pool \"{name}\" already");
            return Err(table.name.fault(message).with_hint("give each [[buffer]] a different name"));
        }
        let priorities = schemes::listed(&table.priorities, &known_priorities, network)?;
        let own_lossless = priorities.iter().filter(|own| lossless.contains(own)).count();
        let mut headrooms = BTreeSet::new();
        for node in switches(&table.switches, layout)? {
            let lines = lines(network, &ports[node].to_it, reaches, table.cell.0 as u16);
            let pool = pool(table, network, layout, (node, ports[node].own), &priorities, (own_lossless, lines))?;
            if let Some(priority) = priorities.iter().find(|&&priority| !taken.insert((node, priority))) {
                let message = format!("priority {priority} of {} has a pool already", layout.nodes[node].name);
                let hint = "each priority of a switch is in one [[buffer]]: list others in priorities or switches";
                return Err(table.priorities.fault(message).with_hint(hint));
            }
            headrooms.insert(pool.headroom);
            if pool.priorities.is_empty() {
                continue;
            }
            let needed = headroom_needed(&pool, reaches, own_lossless);
            let queues = pool.priorities.len() * ports[node].own;
            let groups = pool.priorities.len() * ports[node].to_it.len();
            let reserved = queues as u64 * pool.egress.reserve.0 + groups as u64 * pool.ingress.reserve.0;
            let common = SharedPart { octets: pool.size.0.saturating_sub(reserved), ingress: pool.ingress };
            let stops = |own: &&u8| network.pfc.as_ref().is_some_and(|pfc| pfc.priorities.contains(own));
            let all = (pool.lines.len() * pool.priorities.iter().filter(stops).count()) as u64;
            let stopping =
                (all > 0).then(|| Stopping { alone: common.stopped_at(1), together: common.stopped_at(all) });
            pools.push(PlannedPool { pool, name: name.clone(), needed, common, stopping });
        }
        let headroom = if let [alike] = headrooms.into_iter().collect::<Vec<_>>()[..] { Some(alike) } else { None };
        keys.push(PoolKeys { priorities, headroom });
    }
    Ok((pools, keys))
}

/// The switches that `key` names, in order.
fn switches(
    key: &Entry<Either<AllSwitches, crate::keys::fields::Names>>,
    layout: &Layout,
) -> Result<Vec<usize>, Fault> {
    let texts = match &**key {
        Either::First(AllSwitches::All) => {
            return Ok((0..layout.nodes.len()).filter(|&node| !layout.is_host(node)).collect());
        }
        Either::Second(texts) => texts,
    };
    let mut chosen = BTreeSet::new();
    for name in names::expand_all(texts, NODES.most as usize).map_err(|excess| key.excess(excess))? {
        let node = layout
            .node(&name)
            .ok_or_else(|| key.fault(format!("there is no switch \"{name}\"")).with_hint(layout.suggest_node(&name)))?;
        if layout.nodes[node].kind == NodeKind::Host {
            let message = format!("\"{name}\" is a host, and hosts share no memory");
            return Err(key.fault(message).with_hint("list switches"));
        }
        if !chosen.insert(node) {
            let message = format!("the switch \"{name}\" is listed twice");
            return Err(key.fault(message).with_hint("list each switch once"));
        }
    }
    Ok(chosen.into_iter().collect())
}

/// The pool of a switch.
fn pool(
    table: &sections::Buffer,
    network: &Network,
    layout: &Layout,
    (node, ports): (usize, usize),
    priorities: &[u8],
    (lossless, lines): (usize, Vec<(PortId, Octets)>),
) -> Result<Pool, Fault> {
    let cell = table.cell.0 as u16;
    let priorities: Vec<u8> = priorities.iter().copied().filter(|own| network.priorities.contains(own)).collect();
    let queues = ports * priorities.len();
    let name = &layout.nodes[node].name;
    let reserved = (queues as u64).saturating_mul(table.reserve.0 + table.ingress_reserve.0);
    if reserved > table.size.0 {
        let message = format!(
            "the reserves of {queues} queues and of as many lines and priorities at {name} are {} together, more than the {} \
             of the pool",
            Octets(reserved),
            *table.size
        );
        let hint = format!("at most {} each", Octets(table.size.0 / queues as u64));
        let at: &dyn Blame = if table.reserve.0 > 0 { &table.reserve } else { &table.ingress_reserve };
        return Err(at.blame(message).with_hint(hint));
    }
    let largest = largest_frame(network).div_ceil(u64::from(cell)) * u64::from(cell);
    let cells = if cell == 1 { String::new() } else { format!(" in cells of {}", *table.cell) };
    if table.size.0 < largest {
        let message = format!("{} are too small for a frame of {} octets{cells}", *table.size, largest_frame(network));
        return Err(table.size.fault(message).with_hint(format!("at least {}", Octets(largest))));
    }
    let headroom = match &*table.headroom {
        Either::Second(octets) => *octets,
        Either::First(_) => {
            let all = lines.iter().fold(0, |sum: u64, (_, most)| sum.saturating_add(most.0));
            Octets(all.saturating_mul(lossless as u64))
        }
    };
    if table.size.0.saturating_add(headroom.0) > LARGEST_QUEUE.0 {
        let message = format!("{} and a headroom of {headroom} at {name} are more than {LARGEST_QUEUE}", *table.size);
        return Err(table.headroom.fault(message).with_hint("a smaller size, or a smaller headroom"));
    }
    let mut pool = Pool::new(NodeId(node as u32), priorities, *table.size);
    (pool.cell, pool.headroom, pool.lines) = (cell, headroom, lines);
    pool.egress = Share { reserve: *table.reserve, alpha: alpha(&table.alpha) };
    pool.ingress = Share { reserve: *table.ingress_reserve, alpha: alpha(&table.ingress_alpha) };
    Ok(pool)
}

fn alpha(alpha: &Either<NoThreshold, f64>) -> Option<f64> {
    match alpha {
        Either::First(NoThreshold::None) => None,
        Either::Second(alpha) => Some(*alpha),
    }
}

/// The lines of a pool that are lossless: each with its port and the memory that the frames of a priority may take of the headroom. As much
/// as is needed in cells where the ingress buffer has the headroom that is needed in octets; a smaller one is taken at its word.
fn lines(network: &Network, ports: &[PortId], reaches: &[Option<Reach>], cell: u16) -> Vec<(PortId, Octets)> {
    let Some(pfc) = &network.pfc else { return Vec::new() };
    let line = |&port: &PortId| {
        let (ingress, reach) = (pfc.ingress[port.index()].as_ref()?, reaches[port.index()].as_ref()?);
        let room = ingress.buffer.0 - ingress.xoff.0;
        // The frame that crosses the threshold is in the headroom as a whole.
        let whole = (room + 1).div_ceil(u64::from(cell)).saturating_mul(u64::from(cell));
        let memory = if room < headroom(reach).0 { whole } else { whole.max(headroom_in_cells(reach, cell).0) };
        Some((port, Octets(memory)))
    };
    ports.iter().filter_map(line).collect()
}

/// The headroom that all lines of a pool need at once, in whole cells, for each of `lossless` priorities.
fn headroom_needed(pool: &Pool, reaches: &[Option<Reach>], lossless: usize) -> Octets {
    let of_line = |(port, _): &(PortId, Octets)| Some(headroom_in_cells(reaches[port.index()].as_ref()?, pool.cell).0);
    let all: u64 = pool.lines.iter().filter_map(of_line).fold(0, u64::saturating_add);
    Octets(all.saturating_mul(lossless as u64))
}

/// The octets at which a pool stops a lossless line: they depend on the memory that others hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopping {
    /// Where no other line holds any.
    pub alone: Octets,
    /// Where all lossless lines and priorities hold as much.
    pub together: Octets,
}

/// The part of a pool that no line and no queue has for itself, and the shares of lines in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedPart {
    octets: u64,
    ingress: Share,
}

impl SharedPart {
    /// The octets at which each of `n` lines that hold as much is stopped, in closed form: alpha × S / (1 + n × alpha) of the shared part S,
    /// beyond its reserve.
    pub(crate) fn stopped_at(self, n: u64) -> Octets {
        let (shared, n) = (self.octets as f64, n as f64);
        let threshold = self.ingress.alpha.map_or(shared / n, |alpha| alpha * shared / (1.0 + n * alpha));
        Octets(self.ingress.reserve.0 + threshold as u64)
    }
}

/// The assumptions behind pools, in sentences.
pub(crate) fn notes(pools: &[PlannedPool]) -> Vec<String> {
    let short: Vec<&PlannedPool> = pools.iter().filter(|laid| laid.pool.headroom < laid.needed).collect();
    let Some(most) = short.iter().max_by_key(|laid| laid.needed) else { return Vec::new() };
    vec![format!(
        "buffer: the headroom of {} {} has no room for all lines at once, so that frames of lossless priorities may be lost: {} \
         is {}, and {} are needed",
        short.len(),
        if short.len() == 1 { "pool" } else { "pools" },
        most.name,
        most.pool.headroom,
        most.needed,
    )]
}
