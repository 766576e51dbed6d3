//! The parking lot: a row of switches.

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
    /// A row of switches sw0, sw1, … with hosts at each: h0 and the next ones at sw0, then those of sw1, and so on.
    pub(crate) struct ParkingLot {
        /// Number of switches.
        switches: u64 [2..=1024];
        /// Number of hosts at each switch.
        hosts_per_switch: u64 [1..=1024] = 2;
        /// Rate of the links of the hosts.
        link_rate: BitRate [RATE];
        /// Rate of the links between switches.
        trunk_rate: BitRate [RATE];
        /// Propagation delay of the links of the hosts, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        /// Propagation delay of the links between switches, one way: a time, or the length of its cable, as in "40 m".
        trunk_delay: Propagation = Propagation::NONE;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
    }
}

impl Shape for ParkingLot {
    fn counts(&self) -> (u64, u64) {
        let (switches, hosts) = (*self.switches, *self.switches * *self.hosts_per_switch);
        (hosts + switches, hosts + switches - 1)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = layout.line(*self.link_rate, *self.link_delay, *self.buffer);
        let trunk = layout.line(*self.trunk_rate, *self.trunk_delay, *self.buffer);
        let each = *self.hosts_per_switch;
        let hosts = layout.add(NodeKind::Host, "h", *self.switches * each);
        let switches = layout.add(NodeKind::Switch, "sw", *self.switches);
        for (i, host) in hosts.into_iter().enumerate() {
            layout.link(host, switches[i / each as usize], edge);
        }
        for pair in switches.windows(2) {
            layout.link(pair[0], pair[1], trunk);
        }
        Ok(())
    }

    fn buffer(&self) -> &Entry<Option<Capacity>> {
        &self.buffer
    }
}
