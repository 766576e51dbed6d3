//! The keys of `[[priority]]` and `[[wred]]`: traffic classes, and their early detection.

use std::ops::RangeInclusive;

use penstock_schemes::quantity::Dimension;
use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::LARGEST_QUEUE;

use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::fields::{Counts, Either, Field, List, amount};
use crate::keys::key::Kind;
use crate::keys::location::Location;
use crate::keys::ranges::{RATE, SPAN};
use crate::keys::sections::{AllPorts, SchemeName};
use crate::keys::tree::{Data, Node};
use crate::keys::write::Written;

/// The largest bucket of a shaper.
const LARGEST_BURST: Octets = Octets(1_000_000_000);

section! {
    /// A traffic class: its scheme, how ports of switches schedule its queues, and its code points. Without a table a priority runs the scenario's
    /// scheme, with strict priority over all lower ones.
    pub(crate) struct Priority {
        /// The priority. Flows need not use it.
        priority: u8 [0..=7];
        /// The scheme of this priority, whatever --scheme says.
        scheme: Option<SchemeName> => "the scenario's";
        /// A named set of values of that scheme, instead of its settings in [schemes.NAME].
        profile: Option<String> => "the settings in [schemes.NAME]";
        /// DWRR weight of its queues at ports of switches. Priorities with a weight share what strict priorities leave, in proportion to
        /// their weights (ETS, 802.1Qaz), by deficit round robin (Shreedhar and Varghese, 1995). The quantum of the smallest weight is the
        /// longest frame of any flow with wire_overhead, rounded up so that quanta are multiples of the weights.
        weight: Option<u16> [1..=1000] => "none: strict priority, the higher number first, before all priorities with a weight";
        /// The most that each port of a switch sends of this priority (a shaper, 802.1Q clause 8.6.8.4): a token bucket. A frame starts while
        /// the bucket is not overdrawn. Wire overhead counts.
        max_rate: Option<BitRate> [RATE] => "the line rate";
        /// Depth of that bucket. After a pause the priority sends this and one frame at line rate.
        burst: Option<Octets> [Octets(0)..=LARGEST_BURST] => "8 KB, with max_rate";
        /// DSCP values that map to this priority, as in [26, 27]. Frames in captures carry the first one.
        dscp: Option<Counts> [0..=63] => "8 times the priority (class selector, RFC 2474)";
        /// PCP of its frames in captures (802.1Q).
        pcp: Option<u8> [0..=7] => "the priority";
    }
}

section! {
    /// Random early detection (WRED) in queues of switches, by the instantaneous queue length (weight 0), the arriving frame included. Up to
    /// min nothing happens; from there to max the probability rises evenly to its value; beyond max it is 1. network.ecn_threshold does not hold
    /// for these queues. A scheme that marks by thresholds (dcqcn, dctcp) goes by these instead of its thresholds there.
    pub(crate) struct Wred {
        /// The priorities.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// The ports of switches: all, or those listed, as in ["sw0->h3"]. The resolved scenario lists them by rate, if a time is given.
        ports: Either<AllPorts, List> = Either::First(AllPorts::All);
        /// Minimum threshold: a size, or a time at the port's rate.
        min: QueueLength [QUEUE];
        /// Maximum threshold, likewise. At least min; equal to min, it is a step.
        max: QueueLength [QUEUE];
        /// The probability at max, 0 to 1. (Switches: drop or mark probability, in per cent.)
        probability: f64 [0.0..=1.0] = 1.0;
        /// Whether frames are marked (CE) instead of dropped, if their transport or scheme uses ECN (RFC 3168). Frames that cannot be marked are
        /// dropped. Frames of lossless priorities are never dropped.
        ecn: bool = true;
    }
}

/// Any length of a queue.
const QUEUE: RangeInclusive<Octets> = Octets(1)..=LARGEST_QUEUE;

/// The length of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueLength {
    /// This number of octets.
    Octets(Octets),
    /// What a port sends in this time.
    Time(Duration),
}

impl QueueLength {
    /// Its octets at a port of this rate: one at the least.
    pub(crate) fn at(self, rate: BitRate) -> Octets {
        match self {
            Self::Octets(octets) => octets,
            Self::Time(time) => {
                let bits = u128::from(time.0) * u128::from(rate.0) / 1_000_000_000_000;
                Octets(u64::try_from(bits / 8).unwrap_or(u64::MAX).max(1))
            }
        }
    }
}

impl Field for QueueLength {
    type Range = RangeInclusive<Octets>;

    fn kind(range: &Self::Range) -> Kind {
        Kind::Either(vec![Octets::kind(range), Duration::kind(&SPAN)])
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        match &node.data {
            Data::Text(text) if Dimension::Time.has_unit_of(text) => amount(&SPAN, text, location).map(Self::Time),
            _ => Octets::read(range, node, location).map(Self::Octets),
        }
    }

    fn write(&self) -> Option<Written> {
        match self {
            Self::Octets(octets) => octets.write(),
            Self::Time(time) => time.write(),
        }
    }
}
