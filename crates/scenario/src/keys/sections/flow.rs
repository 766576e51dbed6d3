//! The keys of `[[flow]]` and `[[group]]`.

use penstock_schemes::{BitRate, Duration, Octets};

use super::{AckClass, Carried, TransportName};
use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, List, Names};
use crate::keys::ranges::{RATE, SPAN, TIME};
use crate::keys::sizes::{self, Distribution};

/// The longest frame.
pub(crate) const LONGEST_FRAME: Octets = Octets(16_384);

section! {
    /// Traffic. A table stands for one flow, or for several: from many to one, from one to many, or pairwise.
    pub(crate) struct Flow {
        /// Name of the flow. For several: a range such as "a0..a7", or a name that gets numbers.
        name: Option<String> => "f0, f1, … in the order of the file";
        /// The sending hosts: a name, a range such as "h0..h7", or a list of these.
        from: Names;
        /// The receiving hosts, likewise, or groups: a flow to a group has all members as destinations.
        to: Names;
        /// How frames come about: there is always one more; at even distances; at random with exponential distances; in turns of
        /// sending at even distances and of silence.
        traffic: TrafficKind = TrafficKind::Greedy;
        /// Rate of the frames, with wire overhead; for on-off traffic that of the on periods.
        rate: Option<BitRate> [RATE] => "greedy flows have none";
        /// Length of an on period, or its mean.
        on: Option<Duration> [SPAN] => "only for on-off";
        /// Length of an off period, or its mean.
        off: Option<Duration> [TIME] => "only for on-off";
        /// Whether on and off periods are exponentially distributed.
        random: bool = false;
        /// Octets to send, of frames or of a transport's data; the last frame may be shorter. A size, or a distribution, from which each flow draws
        /// its size (from the seed and the flow's name). Uniform: { uniform = { minimum = "10 KB", maximum = "1 MB" } }. Exponential:
        /// { exponential = { mean = "1 MB" } }. Bounded Pareto: { pareto = { shape = 1.2, minimum = "1 KB", maximum = "1 GB" } }.
        /// Measured points: { points = [{ size = "10 KB", share = 0.5 }, { size = "1 MB", share = 1.0 }] }. There, share is the share of
        /// flows up to that size; sizes between two points are interpolated, and none is below the first. Workloads of papers by their
        /// names: { workload = "websearch" }.
        size: Option<Either<Octets, Distribution>> [(sizes::SIZE, ())] => "no end";
        /// Length of a frame, with FCS, without wire overhead.
        frame: Option<Octets> [Octets(64)..=LONGEST_FRAME] => "that around a full segment of the transport; without one 1500 octets";
        /// The transport of the flow: "none" (frames without acknowledgements and retransmissions), "tcp", "go-back-n" or "selective"; or a
        /// table with parameters, as in { tcp = { congestion = "dctcp" } }. With a transport, size counts octets of data, and rate
        /// is that of the application, which writes full segments.
        transport: Carried = Either::First(TransportName(None));
        /// Priority of a transport's acknowledgements, 0 to 7, or "control": with the control frames, ahead of all data.
        acks: Option<Either<AckClass, u8>> [((), 0..=7)] => "that of the flow's data, where it has a transport";
        /// When the flow begins: a time, or { uniform = { minimum = "0 s", maximum = "1 ms" } }, from which each flow draws its
        /// start (from the seed and the flow's name).
        start: Either<Duration, Starts> [(TIME, ())] = Either::First(Duration::ZERO);
        /// When the flow stops, if it has not ended before.
        stop: Option<Duration> [SPAN] => "the end of the run";
        /// The flow begins when all of these flows have ended: names, or ranges such as "a0..a7". The answer of a flow (see response)
        /// is called NAME.response. A flow ends when all of its octets have arrived, or at its stop.
        after: Option<Names> => "the flow begins at its start";
        /// As after, but the first flow of the table waits for the first of these only, the second for the second, and so on.
        after_each: Option<Names> => "the flow begins at its start";
        /// Time from the end of those flows to the beginning of this one.
        delay: Duration [TIME] = Duration::ZERO;
        /// Size of the answer: when the flow has ended, its destination sends a flow of this size at once. Values as for size.
        response: Option<Either<Octets, Distribution>> [(sizes::SIZE, ())] => "no answer";
        /// Time from the beginning of a flow of the table to that of the next.
        stagger: Duration [TIME] = Duration::ZERO;
        /// Number of rounds of the table's flows. Each flow of each round has a different name.
        repeat: u64 [1..=100_000] = 1;
        /// Time from the start of a round to that of the next.
        every: Option<Duration> [SPAN] => "only with repeat";
        /// Instead of every, a closed loop. Each flow of a round begins this long after its own flow of the round before, or the
        /// answer to it, has ended. A time, or { exponential = { mean = "10 us" } }, from which each flow draws (from the
        /// seed and the flow's name).
        think: Option<Either<Duration, Think>> [(TIME, ())] => "only with repeat";
        /// What happens to frames that cannot be sent when they are generated, since the limiter or another flow blocks them.
        /// "wait": they wait, as an application's data do: all of a flow with a size, 4 MiB of any other (Linux's largest send buffer); the
        /// rest is discarded at the source. { queue = "64 KB" }: they wait in a source queue of this size. "discard": only one frame
        /// may wait. "stall": the schedule stops while its frame waits, so that the flow offers less than its rate.
        /// A transport keeps the data that it cannot send.
        excess: Either<AboveRate, SourceQueue> = Either::First(AboveRate::Wait);
        /// Whether the scheme controls the flow.
        controlled: bool = true;
        /// Priority of its frames, 0 to 7; higher is served first.
        priority: u8 [0..=7] = 0;
        /// Weight, for schemes that use weights.
        weight: u16 [1..=65_535] = 1;
        /// The nodes from source to destination, for a single flow to a host.
        path: Option<List> => "a shortest path";
    }
}

words! {
    pub(crate) enum TrafficKind { Greedy = "greedy", Constant = "constant", Poisson = "poisson", OnOff = "on-off" }
}

words! {
    pub(crate) enum AboveRate { Wait = "wait", Discard = "discard", Stall = "stall" }
}

section! {
    pub(crate) struct SourceQueue {
        /// Octets that may wait at the source; more is discarded.
        queue: Octets [Octets(1)..=Octets(1 << 40)];
    }
}

section! {
    pub(crate) struct Think {
        /// Exponentially distributed times.
        exponential: Mean;
    }
}

section! {
    pub(crate) struct Mean {
        /// The mean.
        mean: Duration [SPAN];
    }
}

section! {
    pub(crate) struct Starts {
        /// Uniformly distributed times.
        uniform: Times;
    }
}

section! {
    pub(crate) struct Times {
        /// The least of them.
        minimum: Duration [TIME];
        /// The greatest of them.
        maximum: Duration [SPAN];
    }
}

section! {
    /// A multicast group. A flow to it sends each frame once; switches copy it where the paths to the members diverge.
    pub(crate) struct Group {
        /// The group's name, for the key to of flows.
        name: String;
        /// Its hosts: a name, a range such as "h6..h7", or a list of these.
        members: Names;
        /// The links of its tree, as in ["sw0->sw1", "sw1->h6", "sw1->h7"]: from one root to each member. A source other than
        /// the root reaches it by a shortest path.
        links: Option<List> =>
            "for each source a tree of shortest paths, which share links as far as they can";
    }
}
