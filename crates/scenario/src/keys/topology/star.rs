//! The star.

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Line, Shape, Size};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::ranges::{RATE, TIME};
use crate::limits::Bounds;

section! {
    /// Hosts h0, h1, … around one switch, sw0.
    pub(crate) struct Star {
        /// Number of hosts.
        hosts: u64 [2..=8192];
        /// Rate of every link.
        link_rate: BitRate [RATE];
        /// Propagation delay of every link, one way.
        link_delay: Duration [TIME] = Duration::ZERO;
        #[doc = BUFFER]
        buffer: Capacity;
    }
}

impl Shape for Star {
    fn counts(&self) -> (u64, u64) {
        (*self.hosts + 1, *self.hosts)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let line = Line { rate: *self.link_rate, delay: *self.link_delay, buffer: *self.buffer };
        let hosts = layout.add(NodeKind::Host, "h", *self.hosts);
        let switch = layout.add_numbered(NodeKind::Switch, "sw");
        for host in hosts {
            layout.link(host, switch, line);
        }
        Ok(())
    }

    fn buffers(&self) -> Vec<Size<'_>> {
        vec![(*self.buffer, &self.buffer)]
    }
}
