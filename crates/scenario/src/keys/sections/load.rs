//! The keys of `[[load]]` and `[[incast]]`: flows that a process makes.

use penstock_schemes::{Duration, Octets};

use super::{AckClass, Carried, LONGEST_FRAME, TransportName};
use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, Names};
use crate::keys::ranges::{LARGEST_COUNT, SPAN, TIME};
use crate::keys::sizes::{self, Distribution};

words! {
    pub(crate) enum Gaps { Poisson = "poisson", Lognormal = "lognormal", Even = "even" }
}

words! {
    pub(crate) enum Pairs { Random = "random", Permutation = "permutation", AllToAll = "all-to-all", Racks = "racks" }
}

words! {
    pub(crate) enum Reference { Hosts = "hosts", Bisection = "bisection" }
}

section! {
    /// An offered load: flows with random starts, and sizes from a distribution, between hosts of a set. If a scenario
    /// has loads or incasts, no fair share is computed, and results aggregate their flows.
    pub(crate) struct Load {
        /// Name of the load; its flows are NAME.0, NAME.1, …
        name: Option<String> => "load0, load1, … in the order of the file";
        /// The hosts that take part: a name, a range such as "h0..h31", or a list of these.
        hosts: Option<Names> => "all hosts";
        /// The mean offered load: octets of data per time, divided by the capacity of the reference.
        load: f64 [0.000_001..=1.0];
        /// The capacity of which the load is a share. It is the sum of the rates of the hosts' links, or the bisection: the most that one
        /// half of the hosts, in their order, can send to the other and receive from it.
        reference: Reference = Reference::Hosts;
        /// Sizes of the flows, of frames or of a transport's data: as the key size of a flow.
        size: Either<Octets, Distribution> [(sizes::SIZE, ())];
        /// The time from one arrival to the next: "poisson" (exponential), "lognormal" or "even".
        gaps: Gaps = Gaps::Poisson;
        /// Standard deviation of the logarithm of lognormal gaps.
        sigma: Option<f64> [0.01..=5.0] => "for lognormal gaps 2";
        /// Flows that begin at each arrival.
        burst: u64 [1..=100_000] = 1;
        /// The pairs of hosts: "random" (any two), "permutation" (each host to one other, drawn once), "all-to-all" (every pair in
        /// turn), or "racks" (any two that are not at the same switch).
        pairs: Pairs = Pairs::Random;
        /// When the first gap begins.
        start: Duration [TIME] = Duration::ZERO;
        /// No flow begins at or after this time.
        end: Option<Duration> [SPAN] => "the end of the run";
        /// The most flows.
        flows: Option<u64> [1..=1_000_000_000] => "no limit";
        /// Seed of the load's own random numbers, so that it stays the same if the scenario's seed changes.
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

section! {
    /// Repeated incasts: several hosts send to one at the same instant.
    pub(crate) struct Incast {
        /// Name of the incasts; their flows are NAME.0, NAME.1, …
        name: Option<String> => "incast0, incast1, … in the order of the file";
        /// The hosts that may send and receive: a name, a range such as "h0..h31", or a list of these.
        hosts: Option<Names> => "all hosts";
        /// The host that receives.
        to: Option<String> => "one of the hosts, drawn for each incast";
        /// How many hosts send, drawn for each incast.
        fan_in: u64 [1..=100_000];
        /// The size of each answer: as the key size of a flow.
        size: Either<Octets, Distribution> [(sizes::SIZE, ())];
        /// The time from one incast to the next, or its mean.
        every: Duration [SPAN];
        /// Whether that time is exponentially distributed.
        random: bool = false;
        /// When the first incast begins; if gaps are random, when the first gap begins.
        start: Duration [TIME] = Duration::ZERO;
        /// No incast begins at or after this time.
        end: Option<Duration> [SPAN] => "the end of the run";
        /// Seed of the incasts' own random numbers.
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
