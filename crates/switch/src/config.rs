//! A network as its switches see it, as plain data: nodes, ports, marking, priority flow control (802.1Qbb) with its watchdog, and the
//! memory that queues share.

use alloc::vec;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::parts::marking::Ramp;
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, CpId, CreditLimit, Duration, Instant, Octets};

use crate::events::{NodeId, QueueId};

/// All that switches need to be made: part of the network, or all of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config<'a> {
    /// Hosts and switches.
    pub nodes: &'a [Node],
    /// Output ports.
    pub ports: &'a [Port],
    /// For each port, that of the opposite direction of its link; none where frames go one way alone. Empty without flow control.
    pub reverse: Vec<PortId>,
    /// The priorities that have queues, ascending, each once. A higher priority is served first, unless `service` says otherwise.
    pub priorities: &'a [u8],
    /// The ports at which a scheme has other parameters than those of its priority: their configurations are after those of the priorities, in this
    /// order.
    pub own_lines: &'a [OwnLine],
    /// Octets that every frame occupies on the line beyond its own length.
    pub wire_overhead: u16,
    /// The frame in transmission counts as queued.
    pub in_service_counts: bool,
    /// Each node measures at its own offset, drawn from the seed; else all do at the same instants.
    pub own_clocks: bool,
    /// A data queue of a switch that is longer than this with the frame that comes marks the frame, if it may be marked (ECN: RFC 3168).
    pub ecn_threshold: Option<Octets>,
    /// When it marks, and by which length.
    pub marking: Marking,
    /// How ports of switches serve the queues of each priority; by strict priority where the list ends.
    pub service: &'a [Service],
    /// Queues with WRED, each once. The rest mark by `ecn_threshold`.
    pub wred: &'a [Wred],
    /// Priorities whose frames switches trim.
    pub trimmed: &'a [u8],
    /// Size of the control queue of each port.
    pub control_capacity: Octets,
    /// The share of each line of switches that control frames may take, where they are credits.
    pub credit_limit: Option<CreditLimit>,
    /// The longest frame, octets. A queue that is counted in frames has this memory for each.
    pub largest_frame: u16,
    /// Priority flow control, where there is any.
    pub pfc: Option<&'a Pfc>,
    /// Memory that queues of switches share.
    pub pools: &'a [Pool],
    /// Lines that lose frames at random: those of one line in this order.
    pub impairments: &'a [Impairment],
    /// Lines with credit-based flow control, each once.
    pub credits: &'a [CreditLine],
    /// Lines with link-level retry, each once.
    pub retries: &'a [RetryLine],
}

impl<'a> Config<'a> {
    /// Switches that drop frames for which there is no room: one priority, lines without overhead, no flow control, no marks.
    #[must_use]
    pub fn new(nodes: &'a [Node], ports: &'a [Port]) -> Self {
        Self {
            nodes,
            ports,
            reverse: Vec::new(),
            priorities: &[0],
            own_lines: &[],
            wire_overhead: 0,
            in_service_counts: true,
            own_clocks: false,
            ecn_threshold: None,
            marking: Marking::default(),
            service: &[],
            wred: &[],
            trimmed: &[],
            control_capacity: Octets(64_000),
            credit_limit: None,
            largest_frame: 1500,
            pfc: None,
            pools: &[],
            impairments: &[],
            credits: &[],
            retries: &[],
        }
    }

    /// How many queues a port has: one per priority and the control queue.
    #[must_use]
    pub fn queues_per_port(&self) -> usize {
        self.priorities.len() + 1
    }

    /// Whether ports send pause frames, or messages of credits or of link-level retry.
    #[must_use]
    pub fn sends_messages(&self) -> bool {
        self.pfc.is_some() || !self.credits.is_empty() || !self.retries.is_empty()
    }

    /// The class of a priority: its index among [`Self::priorities`].
    ///
    /// # Panics
    /// If it is none of them.
    #[must_use]
    pub fn class(&self, priority: u8) -> TrafficClass {
        let index = self.priorities.iter().position(|&p| p == priority);
        TrafficClass(index.expect("priority of a flow is listed in `priorities`") as u8)
    }

    /// Which of the configurations the scheme of a class has at a port whose line has rate `line`.
    #[must_use]
    pub fn configuration(&self, class: usize, line: BitRate) -> usize {
        configuration(self.priorities, self.own_lines, class, line)
    }

    /// The queue of `priority` at `port`.
    ///
    /// # Panics
    /// If `priority` has no queues.
    #[must_use]
    pub fn queue(&self, port: PortId, priority: u8) -> QueueId {
        QueueId(port.0 * self.queues_per_port() as u32 + u32::from(self.class(priority).0))
    }

    /// The identity of the congestion point of `priority` at `port`.
    #[must_use]
    pub fn cp_id(&self, port: PortId, priority: u8) -> CpId {
        let p = &self.ports[port.index()];
        CpId::new(self.nodes[p.node.index()].station, p.number, priority)
    }
}

/// The ports whose lines have a rate, at which the scheme of a priority has parameters that follow from that rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnLine {
    /// The priority.
    pub priority: u8,
    /// The rate, at the start of the run.
    pub line: BitRate,
}

/// Which of the configurations, those of `priorities` and then those of `own_lines`, the scheme of a class has at a line of rate `line`.
#[must_use]
pub fn configuration(priorities: &[u8], own_lines: &[OwnLine], class: usize, line: BitRate) -> usize {
    let own = OwnLine { priority: priorities[class], line };
    own_lines.iter().position(|other| *other == own).map_or(class, |own| priorities.len() + own)
}

/// The longest time of anything: a run, a delay, a turn. Times are 64 bits of picoseconds, 18 446 744 s. A frame may start
/// at the end of the longest run, take 139 072 s for the longest frame at 1 bit/s and then the delays of a link, a node
/// and a host. It arrives after 8 139 072 s; no sum is later.
pub const LONGEST: Duration = Duration(2_000_000 * PS_PER_S);
/// The fastest line, limiter and source: 100 Tb/s. In the longest run it sends 2 × 10^32 bit-picoseconds; 128 bits hold
/// 3.4 × 10^38.
pub const FASTEST: BitRate = BitRate(100_000_000_000_000);
/// The largest queue, 4 GB: the square of its length is below 2^64, and in the longest run the integral of it below 2^128.
pub const LARGEST_QUEUE: Octets = Octets(4_000_000_000);

/// How a port of a switch marks frames where there is a threshold ([`Config::ecn_threshold`]), and when and with which length it asks
/// congestion points that mark. Anything but the default costs time at every hop there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marking {
    /// A frame is marked as it leaves its queue, by the length at the start of its transmission with the frame itself; else as it joins the
    /// queue.
    pub at_departure: bool,
    /// The length that counts is that of all data queues of the port; else that of the frame's own.
    pub by_port: bool,
}

/// How ports of switches serve the queue of a priority: see [`scheduler`](crate::state::scheduler).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Service {
    /// Its weight in deficit round robin, never zero; `None`: strict priority.
    pub weight: Option<u16>,
    /// Its shaper, if it has one.
    pub shaper: Option<Shaper>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shaper {
    /// The rate at which it fills. Never zero, at most [`FASTEST`].
    pub rate: BitRate,
    /// The most that it holds. It takes at most [`LONGEST`] to fill.
    pub burst: Octets,
}

/// Random early detection of the queue of a priority at a port of a switch: see [`wred`](crate::state::wred). A congestion point there that
/// marks by thresholds marks by these.
#[derive(Debug, Clone, Copy)]
pub struct Wred {
    /// The port.
    pub port: PortId,
    /// The priority, one of [`Config::priorities`].
    pub priority: u8,
    /// The probability by the length of the queue.
    pub ramp: Ramp,
    /// The frames that are dropped. The others are marked, if they may be (ECN: RFC 3168).
    pub drops: EarlyDrops,
}

/// The frames that WRED drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyDrops {
    /// None: those of lossless priorities, and of priorities whose congestion points mark.
    None,
    /// Those that cannot be marked.
    Unmarkable,
    /// All, instead of marks.
    All,
}

/// A line that loses or corrupts frames at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impairment {
    /// The port whose line it is.
    pub port: PortId,
    /// It concerns frames whose transmission starts from then on.
    pub from: Instant,
    /// It concerns those that start before.
    pub until: Instant,
    /// Which frames it hits.
    pub errors: Errors,
    /// Whether it hits frames that are no data, pause frames among them.
    pub control: bool,
    /// Seed of its random words.
    pub seed: u64,
}

/// An error model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Errors {
    /// Each frame is hit with this probability.
    Loss(f64),
    /// Each bit on the line, wire overhead included, is wrong with this probability, and a frame with a wrong bit is hit.
    BitErrors(f64),
    /// The model of Gilbert (1960) and Elliott (1963) with two states, good at first: a frame is hit with the probability of the
    /// state, and after it the state changes. The bad state has p / (p + r) of the frames and lasts for 1 / r of them on average.
    Bursts {
        /// Probability that the good state ends with a frame.
        p: f64,
        /// Probability that the bad state does.
        r: f64,
        /// Probability of a hit in the good state.
        loss_good: f64,
        /// The same in the bad state.
        loss_bad: f64,
    },
}

/// Credit-based flow control of a line: see [`credits`](crate::flow_control::credits). Its priorities are lossless on this line, and have no
/// ingress buffer of priority flow control there.
#[derive(Debug, Clone)]
pub struct CreditLine {
    /// The port that sends.
    pub port: PortId,
    /// The priorities, each one of [`Config::priorities`].
    pub priorities: Vec<u8>,
    /// Octets of a credit: each frame takes whole credits. Never zero.
    pub cell: u16,
    /// Credits of each priority: the memory of the far end. Room for the longest frame at least.
    pub cells: u32,
    /// The least distance between two updates of the far end, octets of the line back.
    pub spacing: Octets,
    /// The distance of the messages that find out credits of frames that were lost. Never zero.
    pub sync: Duration,
}

/// Link-level retry of a line: see [`retry`](crate::flow_control::retry).
#[derive(Debug, Clone)]
pub struct RetryLine {
    /// The port that sends.
    pub port: PortId,
    /// The priorities whose frames are sent again; `None`: all, and control frames.
    pub priorities: Option<Vec<u8>>,
    /// Octets that may wait for their acknowledgement: the longest frame at least.
    pub buffer: Octets,
    /// Time without progress after which all that is not acknowledged is sent again. Never zero.
    pub timer: Duration,
    /// The least distance between two acknowledgements, octets of the line back.
    pub spacing: Octets,
    /// Replays without progress after which the first frame is given up. Never zero.
    pub most_replays: u32,
}

/// A host or a switch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Node {
    /// A host or a switch.
    pub kind: NodeKind,
    /// Its MAC address (48 bits), unique.
    pub station: u64,
}

impl Node {
    /// A node with this MAC address.
    #[must_use]
    pub fn new(kind: NodeKind, station: u64) -> Self {
        Self { kind, station }
    }
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Sources and destinations of flows.
    Host,
    /// Forwards.
    Switch,
}

/// An output port and the line from it to `peer`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Port {
    /// Where the port is.
    pub node: NodeId,
    /// Where its line leads.
    pub peer: NodeId,
    /// The port's number at its node, for the identity of its congestion points.
    pub number: u16,
    /// Rate of the line at the start. Never zero, at most [`FASTEST`].
    pub rate: BitRate,
    /// From the end of a frame's transmission until the peer acts on it: propagation, and the delay of the peer. At most
    /// three times [`LONGEST`].
    pub latency: Duration,
    /// Size of each of its data queues, at most [`LARGEST_QUEUE`].
    pub capacity: Capacity,
    /// Whether its queues have congestion points.
    pub congestion_points: bool,
}

impl Port {
    /// A host's port number 0 without queue or congestion points.
    #[must_use]
    pub fn new(node: NodeId, peer: NodeId, rate: BitRate, latency: Duration) -> Self {
        Self { node, peer, number: 0, rate, latency, capacity: Capacity::Arbiter, congestion_points: false }
    }
}

/// The size of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// It holds this number of octets.
    Octets(Octets),
    /// It holds this number of frames.
    Frames(u32),
    /// A host port without queue: reaction points take turns (round robin), each waits until the line is free.
    Arbiter,
}

/// Priority flow control (802.1Qbb): a switch that is about to run out of room stops its neighbour, priority by
/// priority.
///
/// A switch counts, for each port by which frames come in and each lossless priority, the octets that it holds. From
/// XOFF on it sends pause frames against the direction of the data, at XON a resume frame. A frame that arrives beyond
/// the ingress buffer is dropped, and counts at the output queue that it was bound for. The limit of an output queue
/// holds only for frames that no ingress buffer holds: those of a host at its own port, those that come in where there
/// is no flow control.
///
/// A copy of a multicast frame counts as long as that copy is held. A frame is held until it departs from its output queue:
/// to the end of its transmission if [`Config::in_service_counts`], else to its start.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pfc {
    /// The lossless priorities, each one of [`Config::priorities`].
    pub priorities: Vec<u8>,
    /// For each port, the ingress buffer at the far end of its line, one for each lossless priority; `None` where the far
    /// end sends no pause frames (a host, or a port without PFC).
    pub ingress: Vec<Option<Ingress>>,
    /// How long a pause frame stops a queue, from its arrival: in quanta of 512 bit times of the stopped port. Refreshed half
    /// of it after its transmission began. Never zero; [`Reach::least_quanta`](crate::flow_control::pfc::Reach::least_quanta) says from
    /// which number on stops do not run out.
    pub quanta: u16,
    /// For each port, from the arrival of a pause frame until the port starts no more frames of that priority; at once at ports that have no
    /// entry. A resume frame acts at once.
    pub responses: Vec<Duration>,
    /// For each port, what lets its queues go that are stopped for too long; nothing at ports that have no entry.
    pub watchdogs: Vec<Option<Watchdog>>,
}

impl Pfc {
    /// Flow control with the longest pauses, which act when they arrive, and without a watchdog.
    #[must_use]
    pub fn new(priorities: Vec<u8>, ingress: Vec<Option<Ingress>>) -> Self {
        Self { priorities, ingress, quanta: u16::MAX, responses: Vec::new(), watchdogs: Vec::new() }
    }

    /// The same watchdog at all ports.
    pub fn watch(&mut self, watchdog: Option<Watchdog>) {
        self.watchdogs = vec![watchdog; self.ingress.len()];
    }

    /// Whether any port has a watchdog.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.watchdogs.iter().any(Option::is_some)
    }
}

/// An ingress buffer of one priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ingress {
    /// The most octets that it holds. The part above `xoff` is the headroom: see [`headroom`](crate::flow_control::pfc::headroom). All of
    /// a switch and one of its output queues together hold less than 2^32: that queue can be as long.
    pub buffer: Octets,
    /// From this number of octets on the neighbour is stopped; at most `buffer`.
    pub xoff: Octets,
    /// At this number of octets or less it may go on; below `xoff`.
    pub xon: Octets,
}

/// Memory of one switch that the queues of some priorities share.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pool {
    /// The switch. No two of its pools have a priority in common.
    pub node: NodeId,
    /// The priorities whose queues share it, each one of [`Config::priorities`].
    pub priorities: Vec<u8>,
    /// Octets of a cell: each frame takes whole cells. Never zero.
    pub cell: u16,
    /// All of it but the headroom, at most [`LARGEST_QUEUE`]; no less than all reserves.
    pub size: Octets,
    /// Memory for frames of lossless priorities that come after their neighbour was signalled to stop, for all lines together.
    pub headroom: Octets,
    /// The most of the headroom that the frames of one line and priority take: each with its port, in the order of ports. Frames over other
    /// lines may take all of it. [`headroom_in_cells`](crate::flow_control::pfc::headroom_in_cells) is enough.
    pub lines: Vec<(PortId, Octets)>,
    /// What each output queue may take, by its priority, in the order of `priorities`.
    pub egress: Vec<Share>,
    /// What the frames that came over a line may take, likewise.
    pub ingress: Vec<Share>,
    /// Reserves, of queues and lines together, of priorities of the pool that no flow has. They stay empty.
    pub idle: Octets,
}

impl Pool {
    /// Memory in cells of one octet without reserves, thresholds or headroom.
    #[must_use]
    pub fn new(node: NodeId, priorities: Vec<u8>, size: Octets) -> Self {
        let free = vec![Share::FREE; priorities.len()];
        Self {
            node,
            cell: 1,
            size,
            headroom: Octets(0),
            lines: Vec::new(),
            egress: free.clone(),
            ingress: free,
            priorities,
            idle: Octets(0),
        }
    }

    /// What `queues` output queues and the frames of `lines` of each priority have for themselves, together with [`Self::idle`].
    #[must_use]
    pub fn reserved(&self, queues: u64, lines: u64) -> Octets {
        let of = |shares: &[Share]| shares.iter().fold(0, |sum: u64, share| sum.saturating_add(share.reserve.0));
        let all = of(&self.egress).saturating_mul(queues).saturating_add(of(&self.ingress).saturating_mul(lines));
        Octets(all.saturating_add(self.idle.0))
    }
}

/// How much of a pool one queue, or the frames of one line, may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Memory that is kept for it.
    pub reserve: Octets,
    /// The factor of its dynamic threshold; `None`: it may take all that is free.
    pub alpha: Option<f64>,
}

impl Share {
    /// No reserve, and all that is free.
    pub const FREE: Self = Self { reserve: Octets(0), alpha: None };
}

/// What becomes of a queue that has been stopped for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It ignores pause frames and drops its frames.
    Drop,
    /// It ignores pause frames and sends its frames.
    Forward,
    /// It stays stopped. The storm is counted once, until no pause frame has come for [`Watchdog::restoration`].
    Alert,
}

/// The settings of the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchdog {
    /// How long a queue is stopped before it acts. Never zero.
    pub after: Duration,
    /// How long no pause frame has come for the queue when it obeys again. Never zero.
    pub restoration: Duration,
    /// Distance of its looks at the queues: it counts whole ones of these. Zero: it sees everything at once.
    pub poll: Duration,
    /// What it does meanwhile.
    pub action: Action,
}

impl Watchdog {
    /// When something that has been so since `from` has been so for `time`, by its looks: the first one counts nothing, each
    /// that follows the time since the one before.
    pub fn due(&self, from: Instant, time: Duration) -> Instant {
        if self.poll == Duration::ZERO {
            return from + time;
        }
        let looks = from.0.div_ceil(self.poll.0).saturating_add(time.0.div_ceil(self.poll.0));
        Instant(looks.saturating_mul(self.poll.0))
    }
}
