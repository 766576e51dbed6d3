//! The star.

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
    /// Hosts h0, h1, … around one switch, sw0.
    pub(crate) struct Star {
        /// Number of hosts.
        hosts: u64 [2..=8192];
        /// Rate of every link.
        link_rate: BitRate [RATE];
        /// Propagation delay of every link, one way: a time, or the length of its cable, as in "40 m".
        link_delay: Propagation = Propagation::NONE;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
    }
}

impl Shape for Star {
    fn counts(&self) -> (u64, u64) {
        (*self.hosts + 1, *self.hosts)
    }

    fn build(&self, layout: &mut Layout, _: &Bounds<'_>) -> Result<(), Fault> {
        let line = layout.line(*self.link_rate, *self.link_delay, *self.buffer);
        let hosts = layout.add(NodeKind::Host, "h", *self.hosts);
        let switch = layout.add_numbered(NodeKind::Switch, "sw");
        for host in hosts {
            layout.link(host, switch, line);
        }
        Ok(())
    }

    fn buffer(&self) -> &Entry<Option<Capacity>> {
        &self.buffer
    }
}
