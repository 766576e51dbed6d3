//! Shared memory: from `[[buffer]]` to the pools of switches.

use std::collections::BTreeSet;

use penstock_schemes::Octets;
use penstock_sim::network::{LARGEST_QUEUE, Network, NodeId, NodeKind, Pool, Share, headroom_of_line};

use crate::assemble::largest_frame;
use crate::error::Fault;
use crate::fields::{Counts, Either};
use crate::limits::NODES;
use crate::names;
use crate::read::{Blame, Entry};
use crate::schemes;
use crate::sections::{self, AllSwitches, NoThreshold};
use crate::topology::Layout;

/// The pools of `network`, which is laid out except for them, and for each the number of its table. The record then holds names, priorities and
/// the headroom where all switches have the same.
pub(crate) fn pools(
    tables: &mut [sections::Buffer],
    network: &Network,
    layout: &Layout,
) -> Result<Vec<(Pool, String)>, Fault> {
    let mut pools = Vec::new();
    let mut taken = BTreeSet::new();
    let mut known = BTreeSet::new();
    for (number, table) in tables.iter_mut().enumerate() {
        let name = table.name.fill(format!("pool{number}"));
        if !known.insert(name.clone()) {
            let message = format!("there is a pool \"{name}\" already");
            return Err(table.name.fault(message).with_hint("give each [[buffer]] a name of its own"));
        }
        let priorities = schemes::listed(&table.priorities, network)?;
        table.priorities.fill(Counts(priorities.clone()));
        let mut headrooms = BTreeSet::new();
        for node in switches(&table.switches, layout)? {
            let pool = pool(table, network, layout, node, &priorities)?;
            if let Some(priority) = priorities.iter().find(|&&priority| !taken.insert((node, priority))) {
                let message = format!("priority {priority} of {} has a pool already", layout.nodes[node].name);
                let hint = "each priority of a switch is in one [[buffer]]: list others in priorities or switches";
                return Err(table.priorities.fault(message).with_hint(hint));
            }
            headrooms.insert(pool.headroom);
            pools.push((pool, name.clone()));
        }
        if let [alike] = headrooms.into_iter().collect::<Vec<_>>()[..] {
            table.headroom.replace(Either::Second(alike));
        }
    }
    Ok(pools)
}

/// The switches that `key` names, in order.
fn switches(key: &Entry<Either<AllSwitches, crate::fields::Names>>, layout: &Layout) -> Result<Vec<usize>, Fault> {
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
    node: usize,
    priorities: &[u8],
) -> Result<Pool, Fault> {
    let cell = table.cell.0 as u16;
    let own = NodeId(node as u32);
    let queues = network.ports.iter().filter(|port| port.node == own).count() * priorities.len();
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
        let message = format!("{} hold no frame of {} octets{cells}", *table.size, largest_frame(network));
        return Err(table.size.fault(message).with_hint(format!("at least {}", Octets(largest))));
    }
    let headroom = match &*table.headroom {
        Either::Second(octets) => *octets,
        Either::First(_) => needed(network, own, priorities, cell),
    };
    if table.size.0.saturating_add(headroom.0) > LARGEST_QUEUE.0 {
        let message = format!("{} and a headroom of {headroom} at {name} are more than {LARGEST_QUEUE}", *table.size);
        return Err(table.headroom.fault(message).with_hint("a smaller size, or a smaller headroom"));
    }
    Ok(Pool {
        node: own,
        priorities: priorities.to_vec(),
        cell,
        size: *table.size,
        headroom,
        egress: Share { reserve: *table.reserve, alpha: alpha(&table.alpha) },
        ingress: Share { reserve: *table.ingress_reserve, alpha: alpha(&table.ingress_alpha) },
    })
}

fn alpha(alpha: &Either<NoThreshold, f64>) -> Option<f64> {
    match alpha {
        Either::First(NoThreshold::None) => None,
        Either::Second(alpha) => Some(*alpha),
    }
}

/// The headroom of all lines that lead to a switch, for those of these priorities that are lossless.
fn needed(network: &Network, node: NodeId, priorities: &[u8], cell: u16) -> Octets {
    let Some(pfc) = &network.pfc else { return Octets(0) };
    let lossless = priorities.iter().filter(|priority| pfc.priorities.contains(priority)).count() as u64;
    let lines = network.ports.iter().zip(&pfc.ingress).filter(|(port, _)| port.peer == node);
    let of_lines: u64 = lines.filter_map(|(_, ingress)| Some(headroom_of_line(ingress.as_ref()?, cell).0)).sum();
    Octets(of_lines.saturating_mul(lossless))
}

/// The assumptions behind pools, in sentences.
pub(crate) fn notes(network: &Network) -> Vec<String> {
    let short = |pool: &&Pool| pool.headroom < needed(network, pool.node, &pool.priorities, pool.cell);
    let short = network.pools.iter().filter(short).count();
    if short == 0 {
        return Vec::new();
    }
    vec![format!(
        "buffer: the headroom of {short} {} has no room for all lines at once, so that frames of lossless priorities may be lost",
        if short == 1 { "pool" } else { "pools" }
    )]
}
