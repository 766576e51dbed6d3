//! Indices into lists, with a type for each list.

use penstock_schemes::Rank;

/// Declares types of indices. Each has a value that is no index, as no list is that long.
#[doc(hidden)]
#[macro_export]
macro_rules! indices {
    ($($(#[$doc:meta])+ $visibility:vis $name:ident),+ $(,)?) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $visibility struct $name(pub u32);
        impl $name {
            /// No index.
            pub const NONE: Self = Self(u32::MAX);

            /// As an index into its list.
            #[must_use]
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+ };
}

indices!(
    /// A flow, by its index in the list of flows.
    pub FlowId,
    /// A port, by its index in the list of ports.
    pub PortId,
    /// A limiter, in the order in which limiters were added.
    pub LimiterId,
    /// A destination of a flow, by its index in the list of all destinations.
    pub DestinationId,
);

impl FlowId {
    /// The name by which schemes know the flow.
    #[must_use]
    #[inline(always)]
    pub const fn key(self) -> penstock_schemes::FlowKey {
        penstock_schemes::FlowKey(self.0)
    }
}

/// A queue of each port: the priority of a flow as a small number, or the control frames.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TrafficClass(pub u8);

impl TrafficClass {
    /// No class.
    pub const NONE: Self = Self(u8::MAX);

    /// As an index into the queues of a port.
    #[must_use]
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The class of a frame of this one with a rank, where classes have these numbers of levels.
    #[must_use]
    #[inline(always)]
    pub(crate) fn raised(self, rank: Option<Rank>, levels: &[u8]) -> Self {
        let most = || levels.get(self.index()).map_or(0, |levels| levels - 1);
        rank.map_or(self, |rank| Self(self.0 + rank.level.min(most())))
    }

    /// Its bit in a set of classes.
    #[must_use]
    #[inline(always)]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }
}
