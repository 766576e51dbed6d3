//! Ranks: the destinations of a port that have something left to grant, the one with the least first.
//!
//! ```text
//!   Destination.on_frame --> Ranks.note --> place in the list --> Destination.grant_ranked, from the first to the last that may
//! ```
//!
//! Whose place changes is the destination that a frame, a signal or a timer has come to. All those before the last place that may grant are called
//! then, for the places of others change with it. (Montazeri et al. 2018, section 3.3)

use alloc::vec::Vec;

use penstock_schemes::Scheme;

use crate::destination::Destination;
use crate::ids::DestinationId;

/// The destinations behind one port, in their order.
#[derive(Debug, Clone, Default)]
pub struct Ranks {
    /// What each has left, its number, and where it is.
    list: Vec<(u64, u32, DestinationId)>,
}

impl Ranks {
    /// Something has come to `destination`, which is `own`, or it has granted: it gets its place, or leaves the list with nothing left.
    pub fn note<S: Scheme, D: penstock_schemes::Draw>(
        &mut self,
        own: DestinationId,
        destination: &mut Destination<S, D>,
    ) {
        let left = destination.left_to_grant();
        if destination.ranked {
            self.list.retain(|&(_, _, other)| other != own);
        }
        destination.ranked = left.is_some();
        if let Some(left) = left {
            let entry = (left, destination.number(), own);
            let place = self.list.partition_point(|other| *other < entry);
            self.list.insert(place, entry);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The one at a place.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<DestinationId> {
        self.list.get(place).map(|&(_, _, destination)| destination)
    }
}
