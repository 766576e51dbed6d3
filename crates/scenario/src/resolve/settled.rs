//! What follows from the network: settled while it is planned.

use std::collections::BTreeMap;

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::Ingress;

use super::Resolved;
use crate::keys::fields::{Counts, Either, List};
use crate::keys::read::Entry;
use crate::keys::sections::{Flow, PfcLink, Wred};

/// What becomes of a table of flows.
#[derive(Debug)]
pub(crate) enum FlowTable {
    /// It stays, with a name for its flows.
    Named(String),
    /// Tables of those of its flows that are left.
    Pieces(Vec<Flow>),
}

/// The sizes of a link's ingress buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkSizes {
    pub(crate) ingress: Ingress,
    pub(crate) headroom: Octets,
    pub(crate) response: Duration,
}

/// Keys of a pool.
#[derive(Debug)]
pub(crate) struct PoolKeys {
    pub(crate) priorities: Vec<u8>,
    /// The headroom, where all switches have the same.
    pub(crate) headroom: Option<Octets>,
    /// The cell, likewise.
    pub(crate) cell: Option<Octets>,
}

impl Resolved {
    /// The tables of flows, in order.
    pub(crate) fn settle_flows(&mut self, settled: Vec<FlowTable>) {
        let tables = self.record.flow.inner();
        for (mut table, settled) in std::mem::take(tables).into_iter().zip(settled) {
            match settled {
                FlowTable::Named(name) => {
                    // Where the key was written matters no more.
                    if table.name.as_ref() != Some(&name) {
                        table.name.replace(Some(name));
                    }
                    tables.push(table);
                }
                FlowTable::Pieces(pieces) => tables.extend(pieces),
            }
        }
    }

    /// Flow control: its priorities, its longest frame, and the ports of each kind of link: in `[pfc]` where all are alike, else in
    /// `[[pfc.link]]`.
    pub(crate) fn settle_flow_control(
        &mut self,
        lossless: &[u8],
        mtu: Octets,
        links: BTreeMap<LinkSizes, Vec<String>>,
    ) {
        let Some(table) = self.record.pfc.inner() else { return };
        table.priorities.fill(Counts(lossless.to_vec()));
        table.mtu.fill(mtu);
        if let [(alike, _)] = links.iter().collect::<Vec<_>>()[..] {
            let LinkSizes { ingress, headroom, response } = *alike;
            table.response.replace(Some(response));
            table.buffer.replace(Some(ingress.buffer));
            table.headroom.replace(Either::Second(headroom));
            table.xoff.replace(Some(ingress.xoff));
            table.xon.replace(Some(ingress.xon));
            table.link.replace(Vec::new());
            return;
        }
        let link = |(LinkSizes { ingress, headroom, response }, ports)| PfcLink {
            ports: Entry::computed(List(ports)),
            buffer: Entry::computed(Some(ingress.buffer)),
            headroom: Entry::computed(Some(headroom)),
            response: Entry::computed(Some(response)),
            xoff: Entry::computed(Some(ingress.xoff)),
            xon: Entry::computed(Some(ingress.xon)),
        };
        table.link.replace(links.into_iter().map(link).collect());
    }

    /// Early detection: its tables, with the octets of thresholds.
    pub(crate) fn settle_wred(&mut self, tables: Vec<Wred>) {
        self.record.wred.replace(tables);
    }

    /// The pools, in order.
    pub(crate) fn settle_pools(&mut self, pools: Vec<PoolKeys>) {
        for (table, pool) in self.record.buffer.inner().iter_mut().zip(pools) {
            table.priorities.fill(Counts(pool.priorities));
            pool.cell.map(|cell| table.cell.fill(cell));
            if let Some(headroom) = pool.headroom {
                table.headroom.replace(Either::Second(headroom));
            }
        }
    }

    /// The distance of samples.
    pub(crate) fn settle_interval(&mut self, interval: Duration) {
        self.record.record.inner().interval.fill(interval);
    }
}
