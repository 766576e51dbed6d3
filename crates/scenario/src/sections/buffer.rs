//! The keys of `[[buffer]]`.

use std::ops::RangeInclusive;

use penstock_schemes::Octets;
use penstock_sim::network::LARGEST_QUEUE;

use super::pfc::Computed;
use crate::declare::{section, words};
use crate::fields::{Counts, Either, Names};

const ROOM: RangeInclusive<Octets> = Octets(0)..=LARGEST_QUEUE;
const SOME_ROOM: RangeInclusive<Octets> = Octets(1)..=LARGEST_QUEUE;

/// Factors of dynamic thresholds; those of switches are 1/128 to 8.
const ALPHA: RangeInclusive<f64> = 0.0..=1024.0;

words! {
    pub(crate) enum AllSwitches { All = "all" }
}

words! {
    pub(crate) enum NoThreshold { None = "none" }
}

section! {
    /// Memory that the queues of a switch share; each switch has its own. A frame is dropped where its queue finds no memory: it takes the
    /// queue's reserve first, and after that no more than alpha × the memory that is still free (Choudhury and Hahne 1998). The
    /// size of output queues (`topology.….buffer`) and of ingress buffers (`pfc.buffer`) bounds each of them as before, so
    /// make it as large as the shared memory where that alone is to decide. Without such a table no queue shares anything.
    pub(crate) struct Buffer {
        /// Name of the pool.
        name: Option<String> => "pool0, pool1, … in the order of the file";
        /// The switches that have it: all, or those listed.
        switches: Either<AllSwitches, Names> = Either::First(AllSwitches::All);
        /// The priorities whose queues share it. Two pools of a switch have none in common.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// The memory of each switch, reserves included, headroom not.
        size: Octets [SOME_ROOM];
        /// Each frame takes whole cells of this size.
        cell: Octets [Octets(1)..=Octets(65_535)] = Octets(1);
        /// Memory that is kept for each output queue.
        reserve: Octets [ROOM] = Octets(0);
        /// Beyond its reserve, an output queue takes at most alpha × the free memory; "none": all that is free. Frames that an
        /// ingress buffer holds (those of lossless priorities) are bounded there, and not here.
        alpha: Either<NoThreshold, f64> [((), ALPHA)] = Either::Second(1.0);
        /// Memory that is kept for the frames of each line and priority that come in.
        ingress_reserve: Octets [ROOM] = Octets(0);
        /// Beyond it, the frames of a line and priority take at most ingress_alpha × the free memory. Of a lossless priority, the far end
        /// of the line is stopped there, and frames that come nevertheless go into the headroom; it goes on with
        /// `xoff` − `xon` octets less. Of any other priority, frames are dropped there. "none": all that is free.
        ingress_alpha: Either<NoThreshold, f64> [((), ALPHA)] = Either::First(NoThreshold::None);
        /// Memory, beyond the size, for frames of lossless priorities that come after the far end of their line was stopped: "auto" has room for
        /// all lines at once, each with its headroom in [pfc], as short frames in whole cells; or a size, which lines share.
        headroom: Either<Computed, Octets> [((), ROOM)] = Either::First(Computed::Auto);
    }
}
