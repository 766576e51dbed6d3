//! The dumbbell: two switches and the bottleneck between them.

use penstock_schemes::BitRate;
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Shape};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::fields::Propagation;
use crate::keys::ranges::RATE;
use crate::keys::read::Entry;
use crate::limits::Bounds;

section! {
    /// Sources h0, h1, … at switch sw0, receivers (numbered on) at switch sw1, one link between the switches.
    pub(crate) struct Dumbbell {
        /// Number of hosts at sw0.
        sources: u64 [1..=4096];
        /// Number of hosts at sw1.
        receivers: u64 [1..=4096] = 1;
        /// Rate of the links of the hosts.
        link_rate: BitRate [RATE];
        /// Rate of the link between the switches.
        bottleneck_rate: BitRate [RATE];
        /// Propagation delay of the links of the hosts, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        /// Propagation delay of the link between the switches, one way: a time, or the length of its cable, as in "40 m".
        bottleneck_delay: Propagation = Propagation::NONE;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
    }
}

impl Shape for Dumbbell {
    fn counts(&self) -> (u64, u64) {
        let hosts = *self.sources + *self.receivers;
        (hosts + 2, hosts + 1)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = layout.line(*self.link_rate, *self.link_delay, *self.buffer);
        let bottleneck = layout.line(*self.bottleneck_rate, *self.bottleneck_delay, *self.buffer);
        let sources = layout.add(NodeKind::Host, "h", *self.sources);
        let receivers = layout.add(NodeKind::Host, "h", *self.receivers);
        let switches = layout.add(NodeKind::Switch, "sw", 2);
        for host in sources {
            layout.link(host, switches[0], edge);
        }
        layout.link(switches[0], switches[1], bottleneck);
        for host in receivers {
            layout.link(host, switches[1], edge);
        }
        Ok(())
    }

    fn buffer(&self) -> &Entry<Option<Capacity>> {
        &self.buffer
    }
}
