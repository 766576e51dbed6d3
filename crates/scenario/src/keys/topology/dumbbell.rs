//! The dumbbell: two switches and the bottleneck between them.

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Line, Shape, Size};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::ranges::{RATE, TIME};
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
        /// Propagation delay of the links of the hosts, one way.
        link_delay: Duration [TIME] = Duration::ZERO;
        /// Propagation delay of the link between the switches, one way.
        bottleneck_delay: Duration [TIME] = Duration::ZERO;
        #[doc = BUFFER]
        buffer: Capacity;
    }
}

impl Shape for Dumbbell {
    fn counts(&self) -> (u64, u64) {
        let hosts = *self.sources + *self.receivers;
        (hosts + 2, hosts + 1)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = Line { rate: *self.link_rate, delay: *self.link_delay, buffer: *self.buffer };
        let bottleneck = Line { rate: *self.bottleneck_rate, delay: *self.bottleneck_delay, buffer: *self.buffer };
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

    fn buffers(&self) -> Vec<Size<'_>> {
        vec![(*self.buffer, &self.buffer)]
    }
}
