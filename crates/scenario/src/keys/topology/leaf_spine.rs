//! Leaf and spine: two layers of switches, each of one linked to each of the other.

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Line, ROUTING, Routing, Shape, Size};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::ranges::{RATE, TIME};
use crate::limits::Bounds;

section! {
    /// Switches leaf0, leaf1, …, each with a link to every one of spine0, spine1, …; hosts h0, h1, … leaf by leaf.
    pub(crate) struct LeafSpine {
        /// Number of leaf switches.
        leaves: u64 [1..=1024];
        /// Number of spine switches.
        spines: u64 [1..=1024];
        /// Number of hosts at each leaf.
        hosts_per_leaf: u64 [1..=1024];
        /// Rate of the links between hosts and leaves.
        host_rate: BitRate [RATE];
        /// Rate of the links between leaves and spines.
        fabric_rate: BitRate [RATE];
        /// Propagation delay of every link, one way.
        link_delay: Duration [TIME] = Duration::ZERO;
        #[doc = BUFFER]
        buffer: Capacity;
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
    }
}

impl Shape for LeafSpine {
    fn counts(&self) -> (u64, u64) {
        let hosts = *self.leaves * *self.hosts_per_leaf;
        (hosts + *self.leaves + *self.spines, hosts + *self.leaves * *self.spines)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = Line { rate: *self.host_rate, delay: *self.link_delay, buffer: *self.buffer };
        let trunk = Line { rate: *self.fabric_rate, ..edge };
        let each = *self.hosts_per_leaf;
        let hosts = layout.add(NodeKind::Host, "h", *self.leaves * each);
        let leaves = layout.add(NodeKind::Switch, "leaf", *self.leaves);
        let spines = layout.add(NodeKind::Switch, "spine", *self.spines);
        for (i, host) in hosts.into_iter().enumerate() {
            layout.link(host, leaves[i / each as usize], edge);
        }
        for leaf in leaves {
            for spine in &spines {
                layout.link(leaf, *spine, trunk);
            }
        }
        Ok(())
    }

    fn buffers(&self) -> Vec<Size<'_>> {
        vec![(*self.buffer, &self.buffer)]
    }

    fn routing(&self) -> Routing {
        *self.routing
    }
}
