//! The keys of `[[collective]]` and `[[job]]`: ranks that exchange messages, each of which waits for others.

use penstock_schemes::{BitRate, Duration, Octets};

use super::flow::Starts;
use super::{AckClass, Carried, LONGEST_FRAME, TransportName};
use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, Lines, Names, Weights};
use crate::keys::ranges::{LARGEST_COUNT, RATE, TIME};
use crate::keys::sizes;

words! {
    pub(crate) enum CollectiveKind {
        AllReduce = "all-reduce",
        ReduceScatter = "reduce-scatter",
        AllGather = "all-gather",
        AllToAll = "all-to-all",
        Broadcast = "broadcast",
        Reduce = "reduce",
        Barrier = "barrier",
    }
}

words! {
    pub(crate) enum CollectiveAlgorithm {
        Ring = "ring",
        Tree = "tree",
        HalvingDoubling = "halving-doubling",
        Direct = "direct",
        Pairwise = "pairwise",
        Nccl = "nccl",
    }
}

words! {
    pub(crate) enum Placement { InOrder = "in-order", ByRack = "by-rack", Random = "random" }
}

words! {
    pub(crate) enum Connections { Kept = "kept", PerMessage = "per-message" }
}

section! {
    /// A collective operation, as in the training of a large model: ranks on hosts exchange messages, and each message waits for those that it
    /// needs. Several tables run at once. Results have the times of the job, of its iterations and of its ranks.
    pub(crate) struct Collective {
        /// Name of the job; its messages are NAME.0, NAME.1, …
        name: Option<String> => "job0, job1, … in the order of the file";
        /// What the ranks do together. "all-reduce": each gets the sum of all; "reduce-scatter": each gets a part of the sum; "all-gather": each gets
        /// the parts of all; "all-to-all": each sends another part to each; "broadcast", "reduce": from the first rank, or to it; "barrier": each
        /// waits for all.
        kind: CollectiveKind;
        /// The messages. "ring": from each rank to the next, in steps; "tree": the two binary trees of NCCL; "halving-doubling": with partners at
        /// distances of powers of two; "direct": from each rank to each at once; "pairwise": the same, one partner after another;
        /// "nccl": ring or tree, whichever NCCL's cost model (2.x, Hopper) takes for the size, the ranks and the rates of the lines.
        algorithm: Option<CollectiveAlgorithm> => "\"ring\"; for all-to-all \"direct\"";
        /// Octets of data at a rank: the size S of NCCL's tests. A barrier has messages of one octet.
        size: Octets [sizes::SIZE];
        /// For all-to-all: the members of a group get these shares of each rank's data, in their order, as experts of different popularity. The last
        /// one holds for all further members: with [2, 1] the first gets twice as much as each of the others.
        shares: Option<Weights> [0..=1_000_000] => "all members get as much";
        /// The hosts of the ranks: a name, a range such as "h0..h63", or a list of these.
        hosts: Option<Names> => "all hosts";
        /// Ranks on each host, such as its GPUs. Messages between them do not enter the network.
        ranks_per_host: u64 [1..=1024] = 1;
        /// The ranks of each host. "in-order": the first ranks on the first host of the list, the next ones on the second; "by-rack": the next
        /// host is at another switch, so that neighbours in a ring are in different racks; "random": hosts in a random order.
        placement: Placement = Placement::InOrder;
        /// Rate of a rank's link to the ranks of its host.
        local_rate: Option<BitRate> [RATE] => "messages inside of a host take the local latency alone";
        /// Delay of messages inside of a host.
        local_latency: Duration [TIME] = Duration::ZERO;
        /// Ranks that work together: the first ranks are one group, the next ones another, and each group does the collective by itself.
        group: Option<u64> [2..=1_000_000] => "all ranks are one group";
        /// Distance between the ranks of a group. With group = 4 and stride = 8 the first group has the ranks 0, 8, 16 and 24, as data parallelism
        /// has them; with 1 their numbers are consecutive, as in tensor parallelism.
        stride: u64 [1..=1_000_000] = 1;
        /// The messages inside of a host, where it has several ranks: a hierarchy. An all-reduce is then a reduce-scatter on each host, an
        /// all-reduce of ranks of different hosts, and an all-gather on each host.
        inside: Option<CollectiveAlgorithm> => "no hierarchy";
        /// Parts of the data that are sent independently of each other.
        channels: u64 [1..=1024] = 1;
        /// Parts of the data of a channel, each of which is sent on as soon as it has arrived.
        chunks: u64 [1..=100_000] = 1;
        /// Chunks of a channel that a rank may have under way to another: the next one begins when one has arrived. Those that are under way share the
        /// line of the host.
        in_flight: u64 [1..=100_000] = 1;
        /// Time from the arrival of the data that a message needs to the start of the message.
        step_latency: Duration [TIME] = Duration::ZERO;
        /// How often the ranks do it. A rank begins its next iteration when it has ended its own part of the last one.
        iterations: u64 [1..=1_000_000] = 1;
        /// Time that a rank computes before each iteration: a time, or { uniform = { minimum = "1 ms", maximum = "2 ms" } }, from which
        /// each rank and iteration draws its own.
        compute: Either<Duration, Starts> [(TIME, ())] = Either::First(Duration::ZERO);
        /// When the first iteration begins.
        start: Duration [TIME] = Duration::ZERO;
        /// Connections, as queue pairs of RoCE. "kept": messages from a rank to another have one, and each channel of a collective another. They are
        /// sent in order, on one path of load_balancing = "flow", and the rate limiter, the scheme and the transport keep their state between
        /// them. "per-message": each message has a new one, with another path.
        connections: Connections = Connections::Kept;
        /// Seed of the random placement and of drawn times.
        seed: Option<u64> [0..=LARGEST_COUNT] => "the scenario's";
        /// The transport of the messages: as for a flow. Without one a frame that is lost is not sent again, and its message never ends.
        transport: Carried = Either::First(TransportName(None));
        /// Priority of a transport's acknowledgements: as for a flow.
        acks: Option<Either<AckClass, u8>> [((), 0..=7)] => "that of the messages' data, where they have a transport";
        /// Length of a frame: as for a flow.
        frame: Option<Octets> [Octets(64)..=LONGEST_FRAME] => "that around a full segment of the transport; without one 1500 octets";
        /// Whether the scheme controls the messages.
        controlled: bool = true;
        /// Priority of the messages' frames, 0 to 7.
        priority: u8 [0..=7] = 0;
        /// Weight, for schemes that use weights.
        weight: u16 [1..=65_535] = 1;
    }
}

section! {
    /// A job: ranks on hosts that compute, send and receive, each operation after those that it waits for. Files of others become such a table by
    /// `penstock import`. Several tables run at once, beside those of [[collective]].
    pub(crate) struct Job {
        /// Name of the job; its messages are NAME.0, NAME.1, …
        name: Option<String> => "graph0, graph1, … in the order of the file";
        /// What the ranks do, as lines of text between ''' and ''': in GOAL, the language of LogGOPSim, or as a workload of SimAI. GOAL begins with
        /// "num_ranks 2". Each rank has a block "rank 0 { … }" of lines such as "a: calc 1000" (ns), "b: send 4096b to 1 tag 7" and "b requires a".
        /// The other end has "recv 4096b from 0 tag 7". A send that no receive matches, or a circle, is refused with its name. "outside": a program
        /// sends the messages by the functions of penstock_engine.h, from rank to rank; without such a program there are none.
        graph: Lines;
        /// Whether receives without a send, sends without a receive, and operations of one unit without an order are completed.
        complete: bool = false;
        /// The hosts of the ranks: a name, a range such as "h0..h63", or a list of these.
        hosts: Option<Names> => "all hosts";
        /// Ranks on each host, such as its GPUs. Messages between them do not enter the network.
        ranks_per_host: u64 [1..=1024] = 1;
        /// The ranks of each host. "in-order": the first ranks on the first host of the list, the next ones on the second; "by-rack": the next
        /// host is at another switch, so that neighbours in a ring are in different racks; "random": hosts in a random order.
        placement: Placement = Placement::InOrder;
        /// Rate of a rank's link to the ranks of its host.
        local_rate: Option<BitRate> [RATE] => "messages inside of a host take the local latency alone";
        /// Delay of messages inside of a host.
        local_latency: Duration [TIME] = Duration::ZERO;
        /// How often the ranks do it. A rank begins its next iteration when it has ended its own part of the last one.
        iterations: u64 [1..=1_000_000] = 1;
        /// When the first iteration begins.
        start: Duration [TIME] = Duration::ZERO;
        /// Connections, as queue pairs of RoCE. "kept": messages from a rank to another have one, and each channel of a collective another. They are
        /// sent in order, on one path of load_balancing = "flow", and the rate limiter, the scheme and the transport keep their state between
        /// them. "per-message": each message has a new one, with another path.
        connections: Connections = Connections::Kept;
        /// Seed of the random placement and of drawn times.
        seed: Option<u64> [0..=LARGEST_COUNT] => "the scenario's";
        /// The transport of the messages: as for a flow. Without one a frame that is lost is not sent again, and its message never ends.
        transport: Carried = Either::First(TransportName(None));
        /// Priority of a transport's acknowledgements: as for a flow.
        acks: Option<Either<AckClass, u8>> [((), 0..=7)] => "that of the messages' data, where they have a transport";
        /// Length of a frame: as for a flow.
        frame: Option<Octets> [Octets(64)..=LONGEST_FRAME] => "that around a full segment of the transport; without one 1500 octets";
        /// Whether the scheme controls the messages.
        controlled: bool = true;
        /// Priority of the messages' frames, 0 to 7.
        priority: u8 [0..=7] = 0;
        /// Weight, for schemes that use weights.
        weight: u16 [1..=65_535] = 1;
    }
}
