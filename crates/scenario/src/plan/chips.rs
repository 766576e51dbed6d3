//! The packet memory of switches: from `[[switch]]` to what its pools may take.

use std::collections::BTreeSet;

use penstock_schemes::Octets;

use super::buffer::{self, PlannedPool};
use crate::error::Fault;
use crate::keys::sections::{self, Switch};
use crate::keys::topology::Layout;

/// The memory of a switch, and who says so.
#[derive(Clone, Copy)]
pub(crate) struct Chip<'a> {
    pub(crate) table: &'a Switch,
    pub(crate) memory: Octets,
    pub(crate) cell: Octets,
}

fn chip(table: &Switch) -> Result<Chip<'_>, Fault> {
    let published = table.chip.map(sections::Chip::memory);
    let Some(memory) = table.memory.or(published.map(|(memory, _)| memory)) else {
        let message = "a switch has a chip or a memory";
        return Err(table.memory.fault(message).with_hint("for instance memory = \"64 MB\", or chip = \"tomahawk-5\""));
    };
    let cell = table.cell.or(published.map(|(_, cell)| cell)).unwrap_or(Octets(1));
    Ok(Chip { table, memory, cell })
}

/// The largest memory of a switch.
pub(crate) fn largest(tables: &[Switch]) -> Result<Option<Octets>, Fault> {
    let memories: Vec<Octets> = tables.iter().map(|table| Ok(chip(table)?.memory)).collect::<Result<_, Fault>>()?;
    Ok(memories.into_iter().max())
}

/// The memory of each node: none for hosts, and for switches without a table.
pub(crate) fn chips<'a>(tables: &'a [Switch], layout: &Layout) -> Result<Vec<Option<Chip<'a>>>, Fault> {
    let mut chips = vec![None; layout.nodes.len()];
    for table in tables {
        let chip = chip(table)?;
        for node in buffer::switches(&table.switches, layout)? {
            if chips[node].replace(chip).is_some() {
                let message = format!("{} has a [[switch]] already", layout.nodes[node].name);
                return Err(table.switches.fault(message).with_hint("list each switch once"));
            }
        }
    }
    Ok(chips)
}

/// Refuses pools that take more than the memory of their switch, and priorities that none of its pools has. Says how much no pool takes.
pub(crate) fn check(
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
        let others =
            if unused.len() == 1 { String::new() } else { format!(", and less of {} others", unused.len() - 1) };
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
