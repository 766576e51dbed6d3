//! The keys of `[[buffer]]`.

use std::ops::RangeInclusive;

use penstock_schemes::Octets;
use penstock_sim::network::LARGEST_QUEUE;

use super::pfc::Computed;
use crate::keys::alpha::{Alpha, ByPriority};
use crate::keys::declare::{section, words};
use crate::keys::fields::{Counts, Either, Names};

const ROOM: RangeInclusive<Octets> = Octets(0)..=LARGEST_QUEUE;
const SOME_ROOM: RangeInclusive<Octets> = Octets(1)..=LARGEST_QUEUE;

words! {
    pub(crate) enum AllSwitches { All = "all" }
}

section! {
    /// Shared memory (buffer pool) of the queues of a switch; each switch has its own. A queue uses its reserve first, and after that
    /// at most alpha × the free memory (Choudhury and Hahne 1998); otherwise the frame is dropped. The size of output queues
    /// (`topology.….buffer`) and of ingress buffers (`pfc.buffer`) is a limit in addition. If the pool alone is to decide, make
    /// these sizes as large as the shared memory. Without such a table no queue shares memory.
    pub(crate) struct Buffer {
        /// Name of the pool.
        name: Option<String> => "pool0, pool1, … in the order of the file";
        /// The switches that have it: all, or those listed.
        switches: Either<AllSwitches, Names> = Either::First(AllSwitches::All);
        /// The priorities whose queues share it, whether or not flows have them. A priority is in one pool of a switch only.
        priorities: Option<Counts> [0..=7] => "all that flows have, lossless ones, and those with a reserve here";
        /// The memory of each switch, with reserves and without headroom.
        size: Option<Octets> [SOME_ROOM] => "the memory of the switch ([[switch]]) without headroom and the other pools";
        /// Size of a memory cell: each frame takes whole cells.
        cell: Option<Octets> [Octets(1)..=Octets(65_535)] => "that of the switch ([[switch]]), or an octet";
        /// Memory reserved for each output queue, or for those of each priority, as in { 3 = "10 KB" }; others have none. It is kept for
        /// priorities without flows, too.
        reserve: ByPriority<Octets> [ROOM] = ByPriority::All(Octets(0));
        /// Beyond its reserve, an output queue takes at most alpha × the free memory: a number, "1/8", { dynamic_th = -3 } as in SONiC, or
        /// "none" for all free memory. Or one for each priority, as in { 0 = 8, 3 = "1/8" }; others have none. Frames of lossless
        /// priorities are limited by their ingress buffer instead.
        alpha: ByPriority<Alpha> = ByPriority::All(Alpha(Some(1.0)));
        /// Memory reserved for the arriving frames of each link and priority, or of some priorities.
        ingress_reserve: ByPriority<Octets> [ROOM] = ByPriority::All(Octets(0));
        /// Beyond that reserve, the frames of a link and priority take at most ingress_alpha × the free memory, in the forms of alpha. At this
        /// threshold a lossless priority pauses the far end of the link, and frames that still arrive use the headroom; it resumes the
        /// far end `xoff` − `xon` octets below. Frames of any other priority are dropped at the threshold. "none": all free memory.
        ingress_alpha: ByPriority<Alpha> = ByPriority::All(Alpha(None));
        /// Memory, in addition to the size, for frames of lossless priorities that arrive after the far end of their link was paused. "auto":
        /// enough for all links at once, each with its headroom in [pfc], as short frames in whole cells. Or a size, which the links share.
        headroom: Either<Computed, Octets> [((), ROOM)] = Either::First(Computed::Auto);
    }
}
