//! Leaf and spine: two layers of switches, each of one linked to each of the other.

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
        /// Parallel links between a leaf and a spine; each flow takes one of them, by its hash, as of a link aggregate.
        parallel: u64 [1..=64] = 1;
        /// Rate of the links between leaves and spines.
        fabric_rate: BitRate [RATE];
        /// Propagation delay of every link, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        /// The same of the links between leaves and spines, if it differs.
        fabric_delay: Option<Propagation> => "link_delay";
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
    }
}

impl Shape for LeafSpine {
    fn counts(&self) -> (u64, u64) {
        let hosts = *self.leaves * *self.hosts_per_leaf;
        (hosts + *self.leaves + *self.spines, hosts + *self.leaves * *self.spines * *self.parallel)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = layout.line(*self.host_rate, *self.link_delay, *self.buffer);
        let trunk = layout.line(*self.fabric_rate, self.fabric_delay.unwrap_or(*self.link_delay), *self.buffer);
        let each = *self.hosts_per_leaf;
        let hosts = layout.add(NodeKind::Host, "h", *self.leaves * each);
        let leaves = layout.add(NodeKind::Switch, "leaf", *self.leaves);
        let spines = layout.add(NodeKind::Switch, "spine", *self.spines);
        for (i, host) in hosts.into_iter().enumerate() {
            layout.link(host, leaves[i / each as usize], edge);
        }
        for leaf in leaves {
            for spine in &spines {
                layout.links(leaf, *spine, [trunk; 2], *self.parallel as u16);
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
