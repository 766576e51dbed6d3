//! The dragonfly: groups of switches that are all linked to one another, and one link between any two groups.
//! (Kim et al. 2008, "Technology-Driven, Highly-Scalable Dragonfly Topology")

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
    /// Groups of switches (sw0, sw1, … group by group), in each of which every switch has a link to every other, and one link
    /// between any two groups; hosts h0, h1, … switch by switch. A shortest path has at most three links between switches. Where
    /// one over a third group is as short as the direct one, `routing` may take it.
    pub(crate) struct Dragonfly {
        /// Number of groups; at most one more than a group has links to others.
        groups: u64 [2..=1024];
        /// Number of switches in each group.
        switches_per_group: u64 [1..=1024];
        /// Number of hosts at each switch.
        hosts_per_switch: u64 [1..=1024];
        /// Most links of a switch to other groups.
        global_links: u64 [1..=1024];
        /// Rate of the links of the hosts.
        host_rate: BitRate [RATE];
        /// Rate of the links within a group.
        local_rate: BitRate [RATE];
        /// Rate of the links between groups.
        global_rate: BitRate [RATE];
        /// Propagation delay of the links of hosts and within a group, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        /// Propagation delay of the links between groups, one way: a time, or the length of its cable, as in "40 m".
        global_delay: Propagation = Propagation::NONE;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
    }
}

impl Shape for Dragonfly {
    fn counts(&self) -> (u64, u64) {
        let (groups, switches) = (*self.groups, *self.switches_per_group);
        let hosts = groups * switches * *self.hosts_per_switch;
        let links = groups * switches * (switches - 1) / 2 + groups * (groups - 1) / 2;
        (hosts + groups * switches, hosts + links)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let (groups, size) = (*self.groups as usize, *self.switches_per_group as usize);
        let (each, global) = (*self.hosts_per_switch as usize, *self.global_links as usize);
        if groups > size * global + 1 {
            let message = format!(
                "{groups} groups need {} links to others, but {size} switches with {global} each have {}",
                groups - 1,
                size * global
            );
            return Err(self.groups.fault(message).with_hint(format!("at most {}", size * global + 1)));
        }
        let edge = layout.line(*self.host_rate, *self.link_delay, *self.buffer);
        let local = layout.line(*self.local_rate, *self.link_delay, *self.buffer);
        let trunk = layout.line(*self.global_rate, *self.global_delay, *self.buffer);
        let hosts = layout.add(NodeKind::Host, "h", (groups * size * each) as u64);
        let switches = layout.add(NodeKind::Switch, "sw", (groups * size) as u64);
        for (i, host) in hosts.into_iter().enumerate() {
            layout.link(host, switches[i / each], edge);
        }
        for group in switches.chunks(size) {
            for (i, a) in group.iter().enumerate() {
                for b in &group[i + 1..] {
                    layout.link(*a, *b, local);
                }
            }
        }
        // A group numbers the others without itself; each of its switches takes the next `global` of them.
        let towards = |from: usize, to: usize| {
            let number = if to > from { to - 1 } else { to };
            switches[from * size + number / global]
        };
        for a in 0..groups {
            for b in a + 1..groups {
                layout.link(towards(a, b), towards(b, a), trunk);
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
