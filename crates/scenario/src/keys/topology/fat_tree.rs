//! The fat tree: edge, aggregation and core switches that all have k ports.

use penstock_schemes::BitRate;
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, ROUTING, Routing, Shape};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::fields::Propagation;
use crate::keys::ranges::RATE;
use crate::keys::read::Entry;
use crate::limits::Bounds;

section! {
    /// The k-ary fat tree: k pods of k/2 edge and k/2 aggregation switches (edge0, agg0, …, pod by pod), (k/2)² core switches
    /// (core0, …), k³/4 hosts (h0, …, edge by edge).
    pub(crate) struct FatTree {
        /// Ports of a switch; even.
        k: u64 [2..=32];
        /// Rate of every link.
        link_rate: BitRate [RATE];
        /// Propagation delay of every link, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
    }
}

impl Shape for FatTree {
    fn counts(&self) -> (u64, u64) {
        (self.k.pow(3) / 4 + self.k.pow(2) * 5 / 4, self.k.pow(3) * 3 / 4)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let k = *self.k;
        if !k.is_multiple_of(2) {
            let message = format!("a fat tree needs an even number of ports, found {k}");
            return Err(self.k.fault(message).with_hint(format!("for instance {}", k - 1)));
        }
        let line = layout.line(*self.link_rate, *self.link_delay, *self.buffer);
        let half = (k / 2) as usize;
        let hosts = layout.add(NodeKind::Host, "h", k * k * k / 4);
        let edges = layout.add(NodeKind::Switch, "edge", k * k / 2);
        let aggregation = layout.add(NodeKind::Switch, "agg", k * k / 2);
        let cores = layout.add(NodeKind::Switch, "core", k * k / 4);
        for (i, host) in hosts.into_iter().enumerate() {
            layout.link(host, edges[i / half], line);
        }
        for (i, edge) in edges.iter().enumerate() {
            let pod = i / half * half;
            for up in &aggregation[pod..pod + half] {
                layout.link(*edge, *up, line);
            }
        }
        for (i, agg) in aggregation.iter().enumerate() {
            let first = i % half * half;
            for core in &cores[first..first + half] {
                layout.link(*agg, *core, line);
            }
        }
        Ok(())
    }

    fn buffer(&self) -> &Entry<Option<Capacity>> {
        &self.buffer
    }

    fn routing(&self) -> Routing {
        *self.routing
    }
}
