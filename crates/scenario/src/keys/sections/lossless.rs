//! The keys of `[[credits]]` and `[[retry]]`.

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::LARGEST_QUEUE;

use super::impairment::AllLinks;
use super::pfc::Computed;
use crate::keys::declare::section;
use crate::keys::fields::{Counts, Either, List};
use crate::keys::ranges::SPAN;

/// Octets of a credit, the least distance between two updates, and the time between messages about lost credits, where they are not given.
pub(crate) const CREDIT: Octets = Octets(128);
pub(crate) const CREDIT_SPACING: Octets = Octets(6400);
pub(crate) const CREDIT_SYNC: Duration = Duration::from_us(256);

section! {
    /// Credit-based flow control of links (CBFC, Ultra Ethernet 1.0), beside or instead of [pfc]. A frame starts only while the memory at the far end of
    /// its link has room for it; no frame is dropped for lack of room. The far end returns credits as frames leave its output queues, a host at
    /// once or at its drain_rate.
    pub(crate) struct Credits {
        /// The links: all, or those listed, each in one direction, as in "sw0->h8", or in both, as in "sw0--h8".
        links: Either<AllLinks, List> = Either::First(AllLinks::All);
        /// The priorities with credits.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// Octets of a credit: each frame takes whole credits.
        cell: Octets [Octets(1)..=Octets(65_535)] = CREDIT;
        /// Memory at the far end of a link for each priority, rounded down to whole credits. "auto": what keeps the link full with the longest frames,
        /// which is the product of its rate and the time until the credits of a frame are back.
        buffer: Either<Computed, Octets> [((), Octets(1)..=LARGEST_QUEUE)] = Either::First(Computed::Auto);
        /// The least distance between two updates (CF_Update, 8 octets each), octets of the reverse link. The default is that of SAI's
        /// CBFC_CF_MIN_SPACING.
        spacing: Octets [Octets(0)..=Octets(1_000_000)] = CREDIT_SPACING;
        /// Time between messages (CC_Update, 64 octets) by which the far end finds credits of frames that the link has lost. The default is that of
        /// SAI's CBFC_CC_MESSAGE_TIMER.
        sync: Duration [SPAN] = CREDIT_SYNC;
    }
}

section! {
    /// Link-level retry (LLR, Ultra Ethernet 1.0): a link sends again what it loses, in order (go-back-N), so that flows see delay instead of loss.
    pub(crate) struct Retry {
        /// The links: all, or those listed, each in one direction, as in "sw0->h8", or in both, as in "sw0--h8".
        links: Either<AllLinks, List> = Either::First(AllLinks::All);
        /// The priorities whose frames are sent again.
        priorities: Option<Counts> [0..=7] => "all, and control frames";
        /// Octets of frames that may wait for their acknowledgement. "auto": what keeps the link full, which is the product of its rate and the time until
        /// the acknowledgement is back.
        buffer: Either<Computed, Octets> [((), Octets(1)..=LARGEST_QUEUE)] = Either::First(Computed::Auto);
        /// Time without progress after which all frames that wait are sent again: it finds the loss of the last frame, or of a NACK. "auto": twice
        /// the time until an acknowledgement is back.
        timer: Either<Computed, Duration> [((), SPAN)] = Either::First(Computed::Auto);
        /// The least distance between two acknowledgements (8 octets each), octets of the reverse link. The default is that of SAI's
        /// CTLOS_TARGET_SPACING.
        spacing: Octets [Octets(0)..=Octets(1_000_000)] = Octets(2048);
        /// Replays in a row without progress after which a frame is given up. It counts as lost at random by its link.
        most_replays: u64 [1..=1_000_000] = 255;
    }
}
