//! The keys of `network.entropy`.

use std::ops::RangeInclusive;

use penstock_schemes::Duration;

use crate::keys::declare::section;
use crate::keys::fields::Counts;
use crate::keys::ranges::SPAN;

const MANY: RangeInclusive<u16> = 1..=16_384;
const ANY: RangeInclusive<u16> = 0..=16_384;

section! {
    /// The entropy values of each flow, with load_balancing = "mrc" or "mrc-structured". (OCP, Multipath Reliable Connection 1.0, a reconstruction)
    pub(crate) struct EntropyValues {
        /// Values of a flow. Texts on MRC have 128 to 256.
        values: u16 [MANY] = 128;
        /// Values in reserve. Each takes the place of a value of its plane that is assumed bad or denied; that one waits in the reserve then. With
        /// "mrc-structured" numbers go up to the sum of both, and which of them are in reserve is drawn for each flow.
        backup: u16 [ANY] = 0;
        /// Planes, with "mrc-structured": value v belongs to plane v mod planes. The first switch that chooses has a port to each. A value that is not good is
        /// replaced by one of its plane, so that planes carry alike.
        planes: u16 [MANY] = 1;
        /// Frames sent later and answered after which a frame without an answer counts as lost, and its value is assumed bad. The bitmap of MRC's
        /// selective acknowledgement has 64 bits.
        overtaken: u16 [MANY] = 64;
        /// Time between two probes of a value that is assumed bad. Sources probe when acknowledgements arrive.
        probe_interval: Duration [SPAN] = Duration::from_us(100);
        /// Values that no flow uses, with "mrc-structured".
        denied: Option<Counts> [0..=255] => "all values are used";
    }
}
