//! Every key that a scenario can have: name, type, range, default and meaning, each said once. The keys of a topology stand
//! in its file (`topology/`), those of distributions in `sizes.rs`.

mod buffer;
mod burst;
mod classes;
mod collective;
mod entropy;
mod flow;
mod impairment;
mod interface;
mod load;
mod lossless;
mod parameters;
mod pfc;
mod schemes;
mod switch;
mod testbed;
mod trace;
mod transport;

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Capacity, LARGEST_QUEUE};

use crate::keys::declare::{section, words};
use crate::keys::fields::{Either, List, Tolerance};
use crate::keys::ranges::{LARGEST_COUNT, RATE, SPAN, TIME};
use crate::keys::topology::Topology;

pub(crate) use buffer::{AllSwitches, Buffer};
pub(crate) use burst::Burst;
pub(crate) use classes::{Priority, QueueLength, Wred};
pub(crate) use collective::{Collective, CollectiveAlgorithm, CollectiveKind, Connections, Job, Placement};
pub(crate) use entropy::EntropyValues;
pub(crate) use flow::{AboveRate, Flow, Group, LONGEST_FRAME, Starts, Think, TrafficKind};
pub(crate) use impairment::{AllLinks, Impairment};
pub(crate) use interface::{Event, Host};
pub(crate) use load::{Gaps, Incast, Load, Pairs, Reference};
pub(crate) use lossless::{CREDIT, CREDIT_SPACING, CREDIT_SYNC, Credits, Retry};
pub(crate) use parameters::check_order;
pub(crate) use pfc::{AllPorts, Computed, Pfc, PfcLink, Watchdog, WatchdogAction};
pub(crate) use schemes::{NewValues, ProfileName, SchemeName, Schemes, Settings};
pub(crate) use switch::{Chip, Switch};
pub(crate) use testbed::{Sender, Testbed};
pub(crate) use trace::Trace;
pub(crate) use transport::{AckClass, Carried, TransportName, TransportTable};

/// The largest tolerance of clocks, a hundredth.
const MOST_OFF: Tolerance = Tolerance(10_000_000);

words! {
    pub(crate) enum Until { Duration = "duration", Complete = "all-flows-complete" }
}

section! {
    /// A scenario: one file, one experiment.
    pub(crate) struct Experiment {
        /// Name of the scenario.
        name: Option<String> => "the file's name without .toml";
        /// The question that the scenario answers, in one line.
        question: String;
        /// Simulated time.
        duration: Duration [SPAN];
        /// When the run ends. "duration": after that time. "all-flows-complete": when every flow with a size has ended, and at the latest
        /// after the duration.
        until: Until = Until::Duration;
        /// Statistics begin here; they cover the time from here to the end.
        warmup: Duration [TIME] = Duration::ZERO;
        /// Seed of all random numbers. Same scenario and seed, same bytes.
        seed: u64 [0..=LARGEST_COUNT] = 1;
        /// Fail the run if the network loses a data frame.
        lossless: bool = false;
        /// Whether data frames that [[impairment]] loses break the claim lossless = true.
        impaired_is_lost: bool = false;
        /// Fail the run if the scheme never reacted to congestion. A reaction lowers a rate or a window, or trims or moves a frame; if the
        /// scheme has messages or marks, reactions to losses do not count.
        require_action: bool = false;
        /// Which scheme runs, unless --scheme says otherwise.
        scheme: SchemeName;
        schemes: Schemes {};
        priority: Vec<Priority> = Vec::new();
        topology: Topology;
        network: Network {};
        wred: Vec<Wred> = Vec::new();
        pfc: Option<Pfc> => "no flow control";
        switch: Vec<Switch> = Vec::new();
        buffer: Vec<Buffer> = Vec::new();
        hosts: Hosts {};
        group: Vec<Group> = Vec::new();
        flow: Vec<Flow> = Vec::new();
        load: Vec<Load> = Vec::new();
        incast: Vec<Incast> = Vec::new();
        burst: Vec<Burst> = Vec::new();
        trace: Vec<Trace> = Vec::new();
        collective: Vec<Collective> = Vec::new();
        job: Vec<Job> = Vec::new();
        change: Vec<Change> = Vec::new();
        impairment: Vec<Impairment> = Vec::new();
        credits: Vec<Credits> = Vec::new();
        retry: Vec<Retry> = Vec::new();
        host: Vec<Host> = Vec::new();
        event: Vec<Event> = Vec::new();
        window: Vec<Window> = Vec::new();
        record: Record {};
        testbed: Option<Testbed> => "the scenario's own times, iperf3 for every flow";
    }
}

words! {
    pub(crate) enum SwitchClocks { Aligned = "aligned", Own = "own" }
}

words! {
    pub(crate) enum MarkedAt { Arrival = "arrival", Departure = "departure" }
}

words! {
    pub(crate) enum MarkedBy { Queue = "queue", Port = "port" }
}

words! {
    /// How switches spread a flow's frames.
    #[derive(Default)]
    pub(crate) enum LoadBalancing {
        #[default] Flow = "flow",
        Flowlet = "flowlet",
        Spray = "spray",
        SprayRandom = "spray-random",
        Adaptive = "adaptive",
        AdaptiveFlowlet = "adaptive-flowlet",
        Reps = "reps",
        Mrc = "mrc",
        MrcStructured = "mrc-structured",
    }
}

words! {
    pub(crate) enum InBand { InBand = "in-band" }
}

section! {
    pub(crate) struct Ideal {
        /// The fixed delay from the sending point to the source.
        ideal: Duration [TIME];
    }
}

words! {
    pub(crate) enum Delayed { Switches = "switches", Hosts = "hosts", All = "all" }
}

words! {
    pub(crate) enum Watched { Switches = "switches", BetweenSwitches = "between-switches", Everywhere = "everywhere" }
}

section! {
    /// Properties of links, switches and signals.
    pub(crate) struct Network {
        /// Octets that each frame occupies on the line beyond its length. The length includes the FCS; preamble and gap are 20
        /// octets more. All rates include this overhead.
        wire_overhead: Octets [Octets(0)..=Octets(1000)] = Octets(0);
        /// Whether the frame in transmission counts as queued.
        in_service_counts: bool = true;
        /// The phase of switches that measure at intervals (FECN, E-FECN): the same for all, or a different one for each,
        /// drawn from the seed.
        switch_clocks: SwitchClocks = SwitchClocks::Aligned;
        /// ECN threshold of the data queues of switches that have no [[wred]]. A queue that is longer than this with the arriving frame marks that frame (CE), if the
        /// frame's transport uses ECN (RFC 3168).
        ecn_threshold: Option<Octets> [Octets(1)..=LARGEST_QUEUE] => "no queue marks";
        /// When switches mark frames, by ecn_threshold or by a scheme. "arrival": as a frame joins its queue. "departure": as its transmission
        /// starts, by the queue length at that time, so that the mark is as recent as possible.
        ecn_at: MarkedAt = MarkedAt::Arrival;
        /// The length that decides on marks, by ecn_threshold or by a scheme: that of the frame's queue ("queue"), or that of all data queues of the
        /// port together ("port").
        ecn_by: MarkedBy = MarkedBy::Queue;
        /// Whether switches trim. A data frame for which the queue or the switch's memory has no room is trimmed to its header (64 octets), which is
        /// forwarded with the control frames. So the destination detects the loss at once. The transports "go-back-n" and "selective" ask for the
        /// frame again; the schemes "nscc", "dctcp" and "annulus" acknowledge it as lost. Frames of "tcp", which ignores headers, are dropped.
        trimming: bool = false;
        /// Size of the queue of control frames at each port.
        control_buffer: Octets [Octets(64)..=LARGEST_QUEUE] = Octets(64_000);
        /// How signals are sent: as frames on the reverse path, or with an ideal fixed delay, as in { ideal = "10 us" }.
        feedback: Either<InBand, Ideal> = Either::First(InBand::InBand);
        /// Tolerance of the nodes' clocks, faster or slower: the rates of all lines on which a node sends deviate by
        /// an amount that is drawn for the node from the seed and its name. IEEE 802.3 allows 100 ppm. Without a tolerance,
        /// sources at exactly the rate of their bottleneck stay in phase, as no real clocks do.
        clock_tolerance: Tolerance [Tolerance(0)..=MOST_OFF] = Tolerance(0);
        /// Propagation delay of a metre of cable. Optical fibre and active cables: 5.05 ns, as in SONiC's formula of headroom
        /// (1/198 m/us); copper: 4.3 to 5.2 ns.
        cable_delay: Duration [Duration(3300)..=Duration(10_000)] = Duration(5050);
        /// Time from the arrival of a frame at a node to its entry into the output queue.
        node_delay: Duration [TIME] = Duration::ZERO;
        /// The nodes to which node_delay applies.
        node_delay_at: Delayed = Delayed::Switches;
        /// Time between the arrival of a frame at a host and the host's reaction, beyond node_delay.
        host_delay: Duration [TIME] = Duration::ZERO;
        /// Seed of the hash by which switches choose among shortest paths (routing = "ecmp"): another seed, other paths. It is
        /// separate from the seed of the run: runs with different seeds use the same paths.
        ecmp_seed: Option<u64> [0..=LARGEST_COUNT] => "no seed: the hash of the names alone";
        /// How switches choose among several shortest paths for the frames of a flow to one host. "flow": all frames take the flow's path (the
        /// topology's key routing). "flowlet": a frame that arrives flowlet_gap or more after the flow's last one at this switch begins a
        /// flowlet. The first flowlet takes the flow's path; the path of others follows from a hash of flow, switch, flowlet number and ecmp_seed. "spray":
        /// packet spraying, round robin: each frame takes the port that was not chosen for the longest time. "spray-random": each frame takes a random
        /// port. "adaptive": each frame takes the port with the fewest octets in its data queues; ties are broken at random. "adaptive-flowlet": each
        /// flowlet does so. "reps": by a hash of the frame's entropy value, which its source chooses. It uses values of acknowledged frames that were not
        /// marked again, and others are random, so that flows leave paths that are congested or lose frames (REPS: Bonato et al. 2025; it needs a
        /// transport). "mrc": by that hash, too. A flow takes the values of a list in turns, skips those that were marked or trimmed, and probes those that lose
        /// frames (network.entropy; MRC, a reconstruction; it needs the transport "selective"). "mrc-structured": the same, but the value is the number of a
        /// path: its remainder by the number of ports chooses one, broken or not, and the quotient is left to the next switch. A port whose link is down is not used while there is another. Signals, and acknowledgements unless
        /// spray_acks says otherwise, use the reverse of the flow's path. Multicast frames and flows with an explicit path are not load-balanced.
        load_balancing: LoadBalancing = LoadBalancing::Flow;
        entropy: Option<EntropyValues> => "the defaults of its keys, with \"mrc\" and \"mrc-structured\"";
        /// Whether acknowledgements are sprayed as well: each goes back over the path of the frame that it answers. Else all go back over the flow's path,
        /// so that a flow stops where that one breaks. It needs a load_balancing other than "flow".
        spray_acks: bool = false;
        /// Time from a change of a link's state until all switches have new routes. From then on flows, acknowledgements and signals take shortest
        /// paths over the links that are up; load_balancing and the topology's key routing choose among the remaining ports.
        /// A time, or { uniform = { minimum = "1 ms", maximum = "5 ms" } }, from which each change draws its own (from the seed and its number).
        /// "never": routes stay as they are, at the switches of a broken link as well, and flows over it stand still.
        /// Switches then go by the state that links have at that time. A link that is down in one direction is used in neither. Frames in flight go on by the new route from the switch at which it
        /// parts from the old one. A flow keeps the first link of its host. Multicast frames and flows with an explicit path keep their path.
        convergence: Option<Either<Never, Either<Duration, Starts>>> [((), (TIME, ()))] => "5 ms where a link goes down: a physical failure is often detected in milliseconds, and routing then converges (RFC 7938, 7.1)";
        /// Time after which the two switches of a link that goes down no longer use it (ECMP fast reroute). Until convergence they use those of
        /// their equally short paths that are left; frames for which there is none are lost at the port. "0 s": at once, as hardware does
        /// that takes the port out of its ECMP groups. With a load_balancing other than "flow" a switch sees its own ports at once in any case.
        local_repair: Duration [TIME] = Duration::ZERO;
        /// Gap between two frames of a flow at a switch after which the second begins a flowlet. While the delays of paths differ by less, frames
        /// stay in order.
        flowlet_gap: Option<Duration> [SPAN] => "500 us with flowlets (Alizadeh et al., CONGA, 2014)";
        /// The order of frames that arrive at a switch over several links at the same instant. At a full queue it decides which of them are
        /// lost. "number": the order of nodes and links in the scenario, always the same. "in-turn": round robin over the inputs; each queue
        /// starts after the input whose frame it took last. "drawn": a new random order at each instant, from the seed of the run. Multicast
        /// frames keep the order of numbers.
        ties: Ties = Ties::Number;
        /// Which ports have congestion points: those of switches, those of switches to switches (so that no scheme marks at the last hop), all, or the ports
        /// listed.
        congestion_points: Either<Watched, List> = Either::First(Watched::Switches);
    }
}

words! {
    pub(crate) enum Never { Never = "never" }
}

words! {
    pub(crate) enum Ties { Number = "number", InTurn = "in-turn", Drawn = "drawn" }
}

words! {
    pub(crate) enum IdealPacer { Ideal = "ideal" }
}

section! {
    pub(crate) struct TokenBucket {
        /// The most octets that the bucket holds; at least a frame.
        depth: Octets [Octets(1)..=Octets(1 << 40)];
        /// Time between refills.
        interval: Duration [SPAN];
        /// Granularity of the rate: rates are rounded down to a multiple of it.
        granularity: BitRate [RATE];
    }
}

section! {
    pub(crate) struct BucketPacer {
        /// A token bucket.
        token_bucket: TokenBucket;
    }
}

words! {
    pub(crate) enum Arbiter { Arbiter = "arbiter" }
}

words! {
    pub(crate) enum Limiters { PerFlow = "per-flow", PerHost = "per-host" }
}

words! {
    pub(crate) enum NoQueue { None = "none" }
}

words! {
    pub(crate) enum WhenFull { Wait = "wait", Drop = "drop" }
}

section! {
    pub(crate) struct TransmitQueue {
        /// The most octets that wait in the queue.
        limit: Octets [Octets(1)..=LARGEST_QUEUE];
        /// What happens to a segment for which the queue has no room. Its transport waits (as with TCP small queues), or it is
        /// dropped, and the transport detects the loss as any other (as with a drop-tail queue).
        when_full: WhenFull = WhenFull::Wait;
    }
}

section! {
    /// How hosts send.
    pub(crate) struct Hosts {
        /// The pacer. "ideal": a frame is released when the last one would have ended at the allowed
        /// rate; or { token_bucket = { depth = "3 KB", interval = "16 us", granularity = "0.5 Mbps" } }.
        pacer: Either<IdealPacer, BucketPacer> = Either::First(IdealPacer::Ideal);
        /// The queue at a host's port. "arbiter": no queue; rate limiters take turns, and each waits until the line is free. Or a
        /// size.
        queue: Either<Arbiter, Capacity> = Either::First(Arbiter::Arbiter);
        /// The flows that share a rate limiter: none, or the flows of one host, first link and priority.
        reaction_points: Limiters = Limiters::PerFlow;
        /// The queue between the transports of a host and a rate limiter. "none": a segment is built when it may be sent, as if the
        /// transport saw the limiter. Or a queue of segments, as in { limit = "100 KB", when_full = "drop" }. Each rate limiter has
        /// one; all flows of the limiter share it and take turns. Flows without a transport have no such queue.
        transmit_queue: Either<NoQueue, TransmitQueue> = Either::First(NoQueue::None);
    }
}

words! {
    pub(crate) enum LinkState { Down = "down", Up = "up" }
}

section! {
    /// A change during the run: of a link, or of parameters of a scheme. A rate at "0 s" is the initial rate of the
    /// port.
    pub(crate) struct Change {
        /// The link, in one direction, as in "sw0->h8", or both, as in "sw0--h8".
        link: Option<String> => "not a change of a link";
        /// When.
        at: Duration [TIME];
        /// The link's rate from then on.
        rate: Option<BitRate> [RATE] => "not a change of rate";
        /// The link goes down or comes up.
        state: Option<LinkState> => "not a change of state";
        /// How long the link stays down.
        down_for: Option<Duration> [SPAN] => "until another change";
        /// A link that flaps: time from one going down to the next. It needs state = "down" and down_for.
        every: Option<Duration> [SPAN] => "it happens once";
        /// How often it happens in all.
        times: Option<u64> [1..=LARGEST_COUNT] => "with every, until the end of the run";
        /// The link goes down before this time alone.
        until: Option<Duration> [SPAN] => "the end of the run";
        /// New parameters wherever the scheme runs: as in schemes.qcn.q_eq = "33 KB", with the keys of [schemes.NAME]. The points keep
        /// their state.
        schemes: Option<NewValues> => "not a change of parameters";
    }
}

impl Change {
    /// The new values of parameters, if there are any.
    pub(crate) fn new_values(&self) -> Option<&NewValues> {
        self.schemes.as_ref().filter(|new| new.schemes().next().is_some())
    }
}

section! {
    /// A window of measurement in addition to the whole run: the summary has its statistics and counts too. Windows may
    /// overlap.
    pub(crate) struct Window {
        /// Name of the window.
        name: String;
        /// When it opens.
        start: Duration [TIME];
        /// When it closes.
        end: Option<Duration> [SPAN] => "the end of the run";
    }
}

words! {
    pub(crate) enum Shown { Used = "used", Switches = "switches" }
}

section! {
    /// The records of a run.
    pub(crate) struct Record {
        /// Sampling interval of the recorded queues and of the flows of [[flow]] tables. With more than 4000 of these the default is
        /// longer, for 4 million values in all, but at least 100 samples. A note of the run says so.
        interval: Option<Duration> [SPAN] => "duration / 1000, or longer in a large network";
        /// The recorded queues: those that a flow crosses, all queues of switches, or those of the ports listed.
        queues: Either<Shown, List> = Either::First(Shown::Used);
        /// The most flows whose rates are recorded as time series. If there are more flows, the recorded ones are evenly spread over the
        /// list, and a note says so; the summary has all flows.
        most_flows: u64 [1..=LARGEST_COUNT] = 1000;
        /// Record every signal that reaches a source.
        signals: bool = true;
        /// Record every arrival of a data frame at these queues.
        arrivals: bool = false;
        /// Keep histograms of these queues: the summary has percentiles of length, delay and pause then. It costs time at every hop.
        percentiles: bool = false;
    }
}
