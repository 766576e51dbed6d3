//! The keys of `[[switch]]`.

use penstock_schemes::Octets;
use penstock_sim::network::LARGEST_QUEUE;

use super::AllSwitches;
use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, Names};

words! {
    /// Chips whose memory is published.
    pub(crate) enum Chip {
        Spectrum1 = "spectrum-1",
        Spectrum2 = "spectrum-2",
        Spectrum3 = "spectrum-3",
        Spectrum4 = "spectrum-4",
        Trident2 = "trident-2",
        Trident3 = "trident-3",
        Tomahawk1 = "tomahawk-1",
        Tomahawk5 = "tomahawk-5",
    }
}

impl Chip {
    /// The memory for frames that SONiC configures, and a cell of it.
    pub(crate) fn memory(self) -> (Octets, Octets) {
        let (memory, cell) = match self {
            Self::Spectrum1 => (13_945_824, 96),
            Self::Spectrum2 => (34_287_552, 144),
            Self::Spectrum3 => (60_817_392, 144),
            Self::Spectrum4 => (136_209_408, 192),
            Self::Trident2 => (12_766_208, 208),
            Self::Trident3 => (33_004_032, 256),
            Self::Tomahawk1 => (15_982_720, 208),
            Self::Tomahawk5 => (165_660_324, 254),
        };
        (Octets(memory), Octets(cell))
    }
}

section! {
    /// The packet memory of switches. The pools of `[[buffer]]` divide it: reserves, shared memory and headroom add up to it, or the scenario is
    /// refused with the sum. Without a `[[buffer]]` all priorities share one pool. Output queues need no size then
    /// (`topology.….buffer`).
    pub(crate) struct Switch {
        /// The switches: all, or those listed.
        switches: Either<AllSwitches, Names> = Either::First(AllSwitches::All);
        /// A chip, instead of memory and cell: the memory for frames that SONiC configures (`egress_lossless_pool` of its devices: Spectrum by
        /// `mellanox_buffer_migrator.py`, Broadcom by `buffers_defaults_*.j2`), and its cell (`asic_table.j2`; Juniper, QFX5K packet buffers).
        chip: Option<Chip> => "memory and cell";
        /// The packet memory, headroom included.
        memory: Option<Octets> [Octets(1)..=LARGEST_QUEUE] => "that of the chip";
        /// Size of a memory cell: each frame takes whole cells.
        cell: Option<Octets> [Octets(1)..=Octets(65_535)] => "that of the chip, or an octet";
    }
}
