//! The keys of `[[burst]]`: incasts that come in clusters.

use penstock_schemes::{Duration, Octets};

use super::{AckClass, Carried, LONGEST_FRAME, TransportName};
use crate::keys::declare::section;
use crate::keys::fields::{Either, Names};
use crate::keys::ranges::{LARGEST_COUNT, SPAN, TIME};
use crate::keys::sizes::{self, Distribution};

/// The number of senders of a burst.
pub(crate) const DEGREE: std::ops::RangeInclusive<u64> = 1..=100_000;

section! {
    pub(crate) struct Degrees {
        /// The fewest senders.
        minimum: u64 [DEGREE];
        /// The most.
        maximum: u64 [DEGREE];
    }
}

section! {
    /// Bursts: several hosts send to one, again and again, in clusters, as measured in data centers. A load of bursts is open:
    /// bursts come whether or not those before have ended. If a scenario has any, no fair share is computed, and
    /// results aggregate their flows.
    pub(crate) struct Burst {
        /// Name of the bursts; their flows are NAME.0, NAME.1, …
        name: Option<String> => "burst0, burst1, … in the order of the file";
        /// The hosts that may send: a name, a range such as "h0..h31", or a list of these.
        hosts: Option<Names> => "all hosts";
        /// The hosts that receive, each equally often, likewise.
        to: Option<Names> => "the hosts that may send";
        /// Octets of a burst, of all senders together, each with an equal share: as the key size of a flow.
        size: Option<Either<Octets, Distribution>> [(sizes::SIZE, ())] => "that of the duration";
        /// Instead of a size, the time for which a burst fills the receiver's line: its size is that time at the line's rate.
        duration: Option<Duration> [SPAN] => "that of the size at the line's rate; with a longer spread, the spread";
        /// How many hosts send, drawn for each burst from all but the receiver, none twice: a number, or every number of
        /// { minimum = 8, maximum = 24 } equally likely. A burst with fewer octets than senders has as many senders as octets.
        degree: Either<u64, Degrees> [(DEGREE, ())];
        /// Senders begin within this time after the burst begins, each instant equally likely.
        spread: Duration [TIME] = Duration::ZERO;
        /// The mean load: octets of all bursts per time, divided by the rate of the receivers' lines. Either load or every.
        load: Option<f64> [0.000_001..=1.0] => "that of every";
        /// Mean time from one burst to the next at a receiver, or at the average one where correlation makes them differ.
        every: Option<Duration> [SPAN] => "that of load";
        /// Mean number of bursts in a cluster, all to one receiver. The number is geometrically distributed; clusters are a Poisson process,
        /// and may overlap. 1: no clusters.
        cluster: f64 [1.0..=100_000.0] = 1.0;
        /// Mean time from one burst to the next of a cluster, exponentially distributed.
        gap: Option<Duration> [SPAN] => "a cluster needs it";
        /// The probability that another receiver at the same switch gets a burst at the same time: for each of them, at each burst.
        correlation: f64 [0.0..=1.0] = 0.0;
        /// No burst begins before this time. The process is stationary from then on.
        start: Duration [TIME] = Duration::ZERO;
        /// No burst begins at or after this time.
        end: Option<Duration> [SPAN] => "the end of the run";
        /// Seed of the bursts' own random numbers.
        seed: Option<u64> [0..=LARGEST_COUNT] => "the scenario's";
        /// The transport of the flows: as for a flow.
        transport: Carried = Either::First(TransportName(None));
        /// Priority of a transport's acknowledgements: as for a flow.
        acks: Option<Either<AckClass, u8>> [((), 0..=7)] => "that of the flows' data, where they have a transport";
        /// Length of a frame: as for a flow.
        frame: Option<Octets> [Octets(64)..=LONGEST_FRAME] => "that around a full segment of the transport; without one 1500 octets";
        /// Whether the scheme controls the flows.
        controlled: bool = true;
        /// Priority of the flows' frames, 0 to 7.
        priority: u8 [0..=7] = 0;
        /// Weight, for schemes that use weights.
        weight: u16 [1..=65_535] = 1;
    }
}
