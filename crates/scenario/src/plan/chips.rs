//! The packet memory of switches: from `[[switch]]` to what its pools may take.

use std::collections::BTreeSet;

use penstock_schemes::Octets;
use penstock_sim::network::NodeKind;

use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::Entry;
use crate::keys::sections::{self, AllSwitches, Switch};
use crate::keys::topology::Layout;
use crate::limits::NODES;
use crate::names;

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
        for node in switches(&table.switches, layout)? {
            if chips[node].replace(chip).is_some() {
                let message = format!("{} has a [[switch]] already", layout.nodes[node].name);
                return Err(table.switches.fault(message).with_hint("list each switch once"));
            }
        }
    }
    Ok(chips)
}

/// The switches that `key` names, in order.
pub(crate) fn switches(
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
