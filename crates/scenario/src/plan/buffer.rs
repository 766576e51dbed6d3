//! Shared memory: from `[[buffer]]` to the pools of switches.

use std::collections::BTreeSet;

use penstock_schemes::Octets;
use penstock_sim::network::{LARGEST_QUEUE, Network, NodeId, Pool, PortId, Share};
use penstock_sim::pfc::{Reach, headroom, headroom_in_cells};

use super::chips::{Chip, switches};
use super::network::largest_frame;
use crate::error::Fault;
use crate::keys::alpha::{Alpha, ByPriority};
use crate::keys::fields::{Counts, Either};
use crate::keys::read::Blame;
use crate::keys::sections;
use crate::keys::topology::Layout;
use crate::resolve::PoolKeys;

/// A pool as it is laid out.
pub(crate) struct PlannedPool {
    pub(crate) pool: Pool,
    pub(crate) name: String,
    /// The headroom that all lines need at once.
    pub(crate) needed: Octets,
    /// The part of its size that is no reserve.
    pub(crate) common: Octets,
    /// Where it stops lossless lines, if it does.
    pub(crate) stopping: Option<Stopping>,
}

/// The ports of a node, and those of its neighbours that lead to it.
#[derive(Debug, Clone, Default)]
struct Ports {
    own: usize,
    to_it: Vec<PortId>,
}

/// The pools of `network`, which is laid out except for them; `lossless` priorities and `reaches` are those of flow control, `chips` the
/// memory of each node. Each table then has keys that follow from the network.
pub(crate) fn pools(
    tables: &[sections::Buffer],
    network: &Network,
    layout: &Layout,
    chips: &[Option<Chip<'_>>],
    (lossless, reaches): (&[u8], &[Option<Reach>]),
) -> Result<(Vec<PlannedPool>, Vec<PoolKeys>), Fault> {
    let mut ports = vec![Ports::default(); network.nodes.len()];
    for (id, port) in (0..).map(PortId).zip(&network.ports) {
        ports[port.node.index()].own += 1;
        ports[port.peer.index()].to_it.push(id);
    }
    let mut keys = Vec::with_capacity(tables.len());
    let mut taken = BTreeSet::new();
    let mut known = BTreeSet::new();
    let all: BTreeSet<u8> = network.priorities.iter().chain(lossless).copied().collect();
    // Those without a size take what the others of the switch leave, so that their headrooms come first.
    let mut drafts = Vec::new();
    for table in tables {
        let name = Option::clone(&table.name).unwrap_or_default();
        if !known.insert(name.clone()) {
            let message = format!("there is a pool \"{name}\" already");
            return Err(table.name.fault(message).with_hint("give each [[buffer]] a different name"));
        }
        let priorities: Vec<u8> = match &*table.priorities {
            Some(Counts(listed)) => listed.iter().copied().collect::<BTreeSet<u8>>().into_iter().collect(),
            None => all.iter().copied().chain(reserved(table)).collect::<BTreeSet<u8>>().into_iter().collect(),
        };
        let own_lossless = priorities.iter().filter(|own| lossless.contains(own)).count();
        let (mut headrooms, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for node in switches(&table.switches, layout)? {
            if let Some(priority) = priorities.iter().find(|&&priority| !taken.insert((node, priority))) {
                let message = format!("priority {priority} of {} has a pool already", layout.nodes[node].name);
                let hint = "each priority of a switch is in one [[buffer]]: list others in priorities or switches";
                return Err(table.priorities.fault(message).with_hint(hint));
            }
            let cell = table.cell.or(chips[node].map(|chip| chip.cell)).unwrap_or(Octets(1)).0 as u16;
            let lines = lines(network, &ports[node].to_it, reaches, cell);
            let headroom = match &*table.headroom {
                Either::Second(octets) => *octets,
                Either::First(_) => {
                    let all = lines.iter().fold(0, |sum: u64, (_, most)| sum.saturating_add(most.0));
                    Octets(all.saturating_mul(own_lossless as u64))
                }
            };
            headrooms.insert(headroom);
            cells.insert(cell);
            drafts.push(Draft {
                table,
                name: name.clone(),
                node,
                priorities: priorities.clone(),
                own_lossless,
                cell,
                headroom,
                lines,
            });
        }
        let alike = |values: BTreeSet<u64>| values.first().copied().filter(|_| values.len() == 1).map(Octets);
        keys.push(PoolKeys {
            priorities,
            headroom: alike(headrooms.into_iter().map(|octets| octets.0).collect()),
            cell: alike(cells.into_iter().map(u64::from).collect()),
        });
    }
    let mut pools = Vec::new();
    for draft in &drafts {
        let Draft { table, node, own_lossless, .. } = *draft;
        let size = match *table.size {
            Some(size) => size,
            None => rest(draft, &drafts, chips[node], &layout.nodes[node].name)?,
        };
        let pool = draft.pool(size, network, layout, &ports[node], chips[node])?;
        let needed = headroom_needed(&pool, reaches, own_lossless);
        let reserved = pool.reserved(ports[node].own as u64, ports[node].to_it.len() as u64);
        let common = Octets(pool.size.0.saturating_sub(reserved.0));
        let stops = |own: &u8| network.pfc.as_ref().is_some_and(|pfc| pfc.priorities.contains(own));
        let all = (pool.lines.len() * pool.priorities.iter().filter(|own| stops(own)).count()) as u64;
        let shares = pool.priorities.iter().zip(&pool.ingress).filter(|(own, _)| stops(own)).map(|(_, share)| *share);
        let at = |n: u64| shares.clone().map(|share| stopped_at(common, share, n)).min();
        let stopping = at(1).zip(at(all.max(1))).filter(|_| all > 0);
        let stopping = stopping.map(|(alone, together)| Stopping { alone, together });
        pools.push(PlannedPool { pool, name: draft.name.clone(), needed, common, stopping });
    }
    Ok((pools, keys))
}

/// The priorities that a table names a reserve of.
fn reserved(table: &sections::Buffer) -> impl Iterator<Item = u8> {
    [&table.reserve, &table.ingress_reserve].into_iter().flat_map(|reserve| reserve.listed())
}

/// A pool of a switch before its size is known.
struct Draft<'a> {
    table: &'a sections::Buffer,
    name: String,
    node: usize,
    priorities: Vec<u8>,
    /// How many of them are lossless.
    own_lossless: usize,
    cell: u16,
    headroom: Octets,
    /// See [`Pool::lines`].
    lines: Vec<(PortId, Octets)>,
}

/// What the memory of a switch leaves to the one pool without a size, in whole cells.
fn rest(draft: &Draft<'_>, drafts: &[Draft<'_>], chip: Option<Chip<'_>>, name: &str) -> Result<Octets, Fault> {
    let key = &draft.table.size;
    let Some(chip) = chip else {
        return Err(key
            .fault("missing")
            .with_hint("expected a size, as in \"150 KB\", or a [[switch]] with its memory"));
    };
    let own = || drafts.iter().filter(|other| other.node == draft.node);
    if own().filter(|other| other.table.size.is_none()).count() > 1 {
        let message = format!("two pools of {name} have no size, and divide what is left of its memory nowhere");
        return Err(key.fault(message).with_hint("one pool of a switch may be without a size"));
    }
    let taken = own().fold(0, |sum: u64, other| {
        sum.saturating_add(other.table.size.map_or(0, |size| size.0)).saturating_add(other.headroom.0)
    });
    let left = chip.memory.0.saturating_sub(taken);
    let whole = left - left % u64::from(draft.cell);
    if whole == 0 {
        let message = format!("{name} has {}, and headroom and other pools take {}", chip.memory, Octets(taken));
        let hint = "shorter cables, fewer lossless priorities, or smaller pools";
        return Err(chip.table.memory.fault(message).with_hint(hint));
    }
    Ok(Octets(whole))
}

impl Draft<'_> {
    /// The pool.
    fn pool(
        &self,
        size: Octets,
        network: &Network,
        layout: &Layout,
        ports: &Ports,
        chip: Option<Chip<'_>>,
    ) -> Result<Pool, Fault> {
        let Self { table, cell, headroom, .. } = *self;
        let name = &layout.nodes[self.node].name;
        let priorities = self.priorities.iter().copied().filter(|own| network.priorities.contains(own)).collect();
        let mut pool = Pool::new(NodeId(self.node as u32), priorities, size);
        let share = |reserve: &ByPriority<Octets>, alpha: &ByPriority<Alpha>, own: u8| Share {
            reserve: reserve.of(own, Octets(0)),
            alpha: alpha.of(own, Alpha(None)).0,
        };
        let of_all = |reserve, alpha| pool.priorities.iter().map(|own| share(reserve, alpha, *own)).collect();
        (pool.egress, pool.ingress) =
            (of_all(&table.reserve, &table.alpha), of_all(&table.ingress_reserve, &table.ingress_alpha));
        let kept = |own: u8| {
            let (queue, line) = (table.reserve.of(own, Octets(0)).0, table.ingress_reserve.of(own, Octets(0)).0);
            let of_lines = line.saturating_mul(ports.to_it.len() as u64);
            queue.saturating_mul(ports.own as u64).saturating_add(of_lines)
        };
        let idle = self.priorities.iter().filter(|own| !pool.priorities.contains(own));
        pool.idle = Octets(idle.fold(0, |sum: u64, own| sum.saturating_add(kept(*own))));
        let reserved = pool.reserved(ports.own as u64, ports.to_it.len() as u64);
        if reserved > size {
            let queues = ports.own * self.priorities.len();
            let message = format!(
                "the reserves of {queues} queues and of as many lines and priorities at {name} are {reserved} together, more than \
                 the {size} of the pool"
            );
            let hint = format!("at most {} each", Octets(size.0 / queues.max(1) as u64));
            let some = self.priorities.iter().any(|own| table.reserve.of(*own, Octets(0)).0 > 0);
            let at: &dyn Blame = if some { &table.reserve } else { &table.ingress_reserve };
            return Err(at.blame(message).with_hint(hint));
        }
        let largest = largest_frame(network).div_ceil(u64::from(cell)) * u64::from(cell);
        let cells = if cell == 1 { String::new() } else { format!(" in cells of {}", Octets(u64::from(cell))) };
        if size.0 < largest {
            let message = format!("{size} are too small for a frame of {} octets{cells}", largest_frame(network));
            let at: &dyn Blame = match chip {
                Some(chip) if table.size.is_none() => &chip.table.memory,
                _ => &table.size,
            };
            return Err(at.blame(message).with_hint(format!("at least {}", Octets(largest))));
        }
        if size.0.saturating_add(headroom.0) > LARGEST_QUEUE.0 {
            let message = format!("{size} and a headroom of {headroom} at {name} are more than {LARGEST_QUEUE}");
            return Err(table.headroom.fault(message).with_hint("a smaller size, or a smaller headroom"));
        }
        (pool.cell, pool.headroom, pool.lines) = (cell, headroom, self.lines.clone());
        Ok(pool)
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

/// The octets at which each of `n` lines with this share that hold as much is stopped, in closed form: alpha × S / (1 + n × alpha) of the
/// shared part S, beyond its reserve.
pub(crate) fn stopped_at(shared: Octets, share: Share, n: u64) -> Octets {
    let (shared, n) = (shared.0 as f64, n as f64);
    let threshold = share.alpha.map_or(shared / n, |alpha| alpha * shared / (1.0 + n * alpha));
    Octets(share.reserve.0 + threshold as u64)
}

/// Refuses pools that take more than the memory of their switch, and priorities that none of its pools has. Says how much no pool takes.
pub(crate) fn check_memory(
    chips: &[Option<Chip<'_>>],
    pools: &[PlannedPool],
    priorities: &[u8],
    layout: &Layout,
) -> Result<Vec<String>, Fault> {
    let mut unused = Vec::new();
    for (node, chip) in chips.iter().enumerate().filter_map(|(node, chip)| Some((node, (*chip)?))) {
        let name = &layout.nodes[node].name;
        let own: Vec<&PlannedPool> = pools.iter().filter(|laid| laid.pool.node.index() == node).collect();
        let has: BTreeSet<u8> = own.iter().flat_map(|laid| &laid.pool.priorities).copied().collect();
        if let Some(without) = priorities.iter().find(|priority| !has.contains(priority)) {
            let message = format!("no [[buffer]] of {name} has priority {without}, so that its frames have no memory");
            return Err(chip.table.switches.fault(message).with_hint("list it in priorities of a [[buffer]]"));
        }
        let all: u64 = own.iter().map(|laid| laid.pool.size.0.saturating_add(laid.pool.headroom.0)).sum();
        if all > chip.memory.0 {
            let sum: Vec<String> = own.iter().map(|laid| parts(laid)).collect();
            let message = format!("{name} has {}, and its pools take {}: {}", chip.memory, Octets(all), sum.join("; "));
            let hint = format!(
                "{} less: smaller sizes or reserves, shorter cables, fewer lossless priorities",
                Octets(all - chip.memory.0)
            );
            return Err(chip.table.memory.fault(message).with_hint(hint));
        }
        // A part of a cell is no memory.
        if chip.memory.0 - all >= chip.cell.0 {
            unused.push((Octets(chip.memory.0 - all), name));
        }
    }
    let note = unused.iter().max().map(|(octets, name)| {
        let others = match unused.len() {
            1 => String::new(),
            n => format!(", and less of {}", others(n - 1)),
        };
        format!("switch: {octets} of the memory of {name} are in no pool{others}")
    });
    Ok(note.into_iter().collect())
}

/// What a pool is made of.
fn parts(laid: &PlannedPool) -> String {
    let PlannedPool { pool, name, common, .. } = laid;
    let reserves = Octets(pool.size.0 - common.0);
    format!("{name} {common} shared, {reserves} in reserves and {} of headroom", pool.headroom)
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

/// As many others, in words.
pub(super) fn others(number: usize) -> String {
    if number == 1 { "another".into() } else { format!("{number} others") }
}
