//! The parking lot: a row of switches.

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Line, Shape, Size};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::ranges::{RATE, TIME};
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
        /// Propagation delay of the links of the hosts, one way.
        link_delay: Duration [TIME] = Duration::ZERO;
        /// Propagation delay of the links between switches, one way.
        trunk_delay: Duration [TIME] = Duration::ZERO;
        #[doc = BUFFER]
        buffer: Capacity;
    }
}

impl Shape for ParkingLot {
    fn counts(&self) -> (u64, u64) {
        let (switches, hosts) = (*self.switches, *self.switches * *self.hosts_per_switch);
        (hosts + switches, hosts + switches - 1)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let edge = Line { rate: *self.link_rate, delay: *self.link_delay, buffer: *self.buffer };
        let trunk = Line { rate: *self.trunk_rate, delay: *self.trunk_delay, buffer: *self.buffer };
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

    fn buffers(&self) -> Vec<Size<'_>> {
        vec![(*self.buffer, &self.buffer)]
    }
}
