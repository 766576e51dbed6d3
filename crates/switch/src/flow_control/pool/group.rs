//! The memory of the frames that came in over one line in one priority: a priority group.

use super::{PoolId, Terms};

/// Memory of the frames of a line and a priority, octets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Of the shared part: beyond the reserve, and outside of the headroom.
    pub shared: u64,
    /// Of the headroom.
    pub headroom: u64,
}

impl Occupancy {
    /// The larger of each part.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { shared: self.shared.max(other.shared), headroom: self.headroom.max(other.headroom) }
    }
}

/// The frames of a line and a priority.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) pool: PoolId,
    /// Outside of the headroom.
    pub(super) held: u64,
    pub(super) in_headroom: u64,
    /// The most of both since the last reading.
    pub(super) most: Occupancy,
    /// The most of the headroom; none but for lossless groups.
    pub(super) headroom: Option<u64>,
    pub(super) terms: Terms,
}

impl Group {
    /// One without a pool.
    pub(super) const NONE: Self = Self {
        pool: PoolId::NONE,
        held: 0,
        in_headroom: 0,
        most: Occupancy { shared: 0, headroom: 0 },
        headroom: None,
        terms: Terms::NONE,
    };

    pub(super) fn occupancy(&self) -> Occupancy {
        Occupancy { shared: self.terms.beyond(self.held), headroom: self.in_headroom }
    }
}
