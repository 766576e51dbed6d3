//! The network to simulate: nodes, ports, routes, flows and the changes to them, as plain data under typed indices.
//!
//! The scenario crate builds a [`Network`] and vouches for it; the engine takes it as true and panics on nonsense. Times,
//! rates and queues are bounded ([`LONGEST`], [`FASTEST`], [`LARGEST_QUEUE`]) so that no sum in the engine can overflow:
//! it need not check any.
//!
//! A *port* is one direction of a link: an output queue per priority and the line behind it. A flow's route is a tree of
//! *hops* (a chain for unicast). The same tree carries data and probes down to the destinations and signals back up:
//!
//! ```text
//!  host h0                sw0                    sw1                  host h6
//!    port p0 ============> port p1 =============> port p2 ==========>  delivered
//!    hop 0 (root)          hop 1                  hop 2 (leaf)
//!         <===back of hop 0      <===back of hop 1      <===back of hop 2
//! ```

mod builder;
mod flow;
mod interfaces;
mod processes;
mod reach;
mod routing;
mod work;

pub use builder::Builder;
pub use flow::{Carriage, Dependency, Excess, Flow, ReactionPointSpec, SEND_BUFFER, Traffic, Transmit};
pub use interfaces::{Receiver, Storm};
pub use processes::{Arrival, Arrivals, Branch, CrossedLink, LaterRoute, Limiting, Process, Processes, Sharing};
pub use routing::{Multipath, PathChoice, Reroute, Ties};
pub use work::{Begun, JobOutcome, LinkSpan, Message, MessageAccount, PathPiece, SentOnPath, Span, Work};

/// A flow is an index into [`Network::flows`], a port one into [`Network::ports`].
pub use penstock_endpoint::{FlowId, Pacer, PortId};
/// The parts of the network that its switches need.
pub use penstock_switch::config::{
    Action, Capacity, CreditLine, EarlyDrops, Errors, FASTEST, Impairment, Ingress, LARGEST_QUEUE, LONGEST, Marking,
    Node, NodeKind, OwnLine, Pfc, Pool, Port, RetryLine, Service, Shaper, Share, Watchdog, Wred,
};
/// A node is an index into [`Network::nodes`], a hop one into [`Network::hops`]; for queues see [`Network::queue`].
pub use penstock_switch::events::{HopId, NodeId, QueueId};

use penstock_endpoint::TrafficClass;
use penstock_endpoint::entropy_states::Profile;
use penstock_schemes::{BitRate, CpId, CreditLimit, Duration, Instant, Octets};
use penstock_switch::config::{Config, configuration};

penstock_endpoint::indices!(
    /// Index into [`Network::reaction_points`].
    pub RpId
);

/// Everything that a run is made of, but for the scheme, the seed and the duration: [`Builder`] makes one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Network {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Output ports.
    pub ports: Vec<Port>,
    /// The priorities (0 to 7) that data flows use or to which schemes move frames, ascending, each once. A higher priority is served first,
    /// unless `service` says otherwise.
    pub priorities: Vec<u8>,
    /// The priority to whose queues the scheme of each of them moves frames, one of them; none where the list ends.
    pub moves: Vec<Option<u8>>,
    /// How many priorities from each of them upwards frames of its flows may have, where the scheme says so; one where the list ends.
    pub levels: Vec<u8>,
    /// Octets by which the scheme of each of them lengthens controlled data frames; none where the list ends.
    pub tags: Vec<u16>,
    /// The ports at which a scheme has other parameters than those of its priority. Their configurations follow those of the priorities, in this
    /// order.
    pub own_lines: Vec<OwnLine>,
    /// The hops of all routes.
    pub hops: Vec<Hop>,
    /// Traffic.
    pub flows: Vec<Flow>,
    /// The processes that make more flows while the run goes on.
    pub processes: Processes,
    /// The flows that begin when others have ended, each once.
    pub dependencies: Vec<Dependency>,
    /// The run ends when every flow with a size has ended.
    pub until_complete: bool,
    /// Rate limiters, in front of one host port each.
    pub reaction_points: Vec<ReactionPointSpec>,
    /// The changes of links, in order of time.
    pub changes: Vec<Change>,
    /// New routes of flows, in order of time, those of one flow at different times.
    pub reroutes: Vec<Reroute>,
    /// Octets that every frame occupies on the line beyond its own length (preamble, gap: 24 with FCS, or 0). All rates
    /// count them.
    pub wire_overhead: u16,
    /// The frame in transmission counts as queued.
    pub in_service_counts: bool,
    /// Each node measures at its own offset, drawn from the seed; else all do at the same instants.
    pub own_clocks: bool,
    /// A data queue of a switch that is longer than this with the frame that comes marks the frame, if it may be marked (ECN: RFC 3168); at
    /// most [`LARGEST_QUEUE`]. `None`: no queue marks.
    pub ecn_threshold: Option<Octets>,
    /// When it marks, and by which length.
    pub marking: Marking,
    /// How switches serve the queues of each of the priorities; by strict priority where the list ends.
    pub service: Vec<Service>,
    /// Queues of switches with WRED, each once. The rest mark by `ecn_threshold`.
    pub wred: Vec<Wred>,
    /// Priorities whose frames switches trim: one that finds no room goes on as its header, with the control frames. A frame of a transport
    /// that makes nothing of a header is dropped.
    pub trimmed: Vec<u8>,
    /// The stage between the transports of a host and its rate limiters.
    pub transmit: Transmit,
    /// Size of the control queue of each port.
    pub control_capacity: Octets,
    /// The share of each line of switches that control frames may take, where they are credits.
    pub credit_limit: Option<CreditLimit>,
    /// How signals travel.
    pub feedback: Feedback,
    /// Priority flow control, where there is any.
    pub pfc: Option<Pfc>,
    /// Memory that queues of switches share. The limit of each queue, and of each ingress buffer, holds as well.
    pub pools: Vec<Pool>,
    /// Lines that lose frames at random.
    pub impairments: Vec<Impairment>,
    /// Lines with credit-based flow control, each once.
    pub credits: Vec<CreditLine>,
    /// Lines with link-level retry, each once.
    pub retries: Vec<RetryLine>,
    /// Hosts that send pause frames for no reason; flow control is there.
    pub storms: Vec<Storm>,
    /// Hosts that process what they receive slowly, one a link.
    pub receivers: Vec<Receiver>,
    /// How switches spread the frames of flows with several paths; `None` where each flow has one.
    pub load_balancing: Option<Multipath>,
    /// Acknowledgements go back over the path of the frame that they answer; else over the first path of their flow.
    pub spray_acks: bool,
    /// Where they do, for the last hop of each path of flows with transports and several paths the first hop of acknowledgements.
    pub reverse_paths: Vec<(HopId, HopId)>,
    /// The order in which a switch takes frames that arrive at one instant.
    pub ties: Ties,
}

impl Network {
    /// Nodes without links: one priority, lines without overhead, no flow control, no marks.
    #[must_use]
    pub fn new(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            ports: Vec::new(),
            priorities: vec![0],
            moves: Vec::new(),
            levels: Vec::new(),
            tags: Vec::new(),
            own_lines: Vec::new(),
            hops: Vec::new(),
            flows: Vec::new(),
            processes: Processes::default(),
            dependencies: Vec::new(),
            until_complete: false,
            reaction_points: Vec::new(),
            changes: Vec::new(),
            reroutes: Vec::new(),
            wire_overhead: 0,
            in_service_counts: true,
            own_clocks: false,
            ecn_threshold: None,
            marking: Marking::default(),
            service: Vec::new(),
            wred: Vec::new(),
            trimmed: Vec::new(),
            transmit: Transmit::Pull,
            control_capacity: Octets(64_000),
            credit_limit: None,
            feedback: Feedback::InBand,
            pfc: None,
            pools: Vec::new(),
            impairments: Vec::new(),
            credits: Vec::new(),
            retries: Vec::new(),
            storms: Vec::new(),
            receivers: Vec::new(),
            load_balancing: None,
            spray_acks: false,
            reverse_paths: Vec::new(),
            ties: Ties::Number,
        }
    }
}

/// One link of a route.
#[derive(Debug, Clone, Copy)]
pub struct Hop {
    /// The port whose queue a frame joins here.
    pub port: PortId,
    /// The port of the opposite direction, at the far end.
    pub back: PortId,
    /// The hop before; `None` at the source.
    pub parent: Option<HopId>,
    /// The hops after, `first_child .. first_child + children`. None of them: the far end is a destination.
    pub first_child: HopId,
    /// How many hops follow.
    pub children: u16,
}

/// Something that happens to a port.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The time of the change.
    pub at: Instant,
    /// The port that changes.
    pub port: PortId,
    /// The event.
    pub event: PortEvent,
}

/// An event that can happen to a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortEvent {
    /// The line's rate changes, from the next frame on. Never zero.
    Rate(BitRate),
    /// The line breaks: the frames on it are lost, and those in the port's queues; so are those that come until it is whole again.
    Down,
    /// The line is whole again.
    Up,
}

/// How signals travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// As real frames against the direction of the data.
    InBand,
    /// At an ideal fixed delay, outside of the network.
    Ideal(Duration),
}

impl Network {
    /// The queue of `priority` (one of [`Self::priorities`]) at `port`. Queues are numbered port by port, the control
    /// queue last.
    ///
    /// # Panics
    /// If no flow uses `priority`.
    #[must_use]
    pub fn queue(&self, port: PortId, priority: u8) -> QueueId {
        QueueId(port.0 * self.queues_per_port() as u32 + u32::from(self.class(priority).0))
    }

    /// The port and the priority of a data queue; `None` for a control queue.
    #[must_use]
    pub fn port_and_priority(&self, queue: QueueId) -> Option<(PortId, u8)> {
        let per_port = self.queues_per_port();
        let priority = *self.priorities.get(queue.index() % per_port)?;
        Some((PortId((queue.index() / per_port) as u32), priority))
    }

    /// Whether it needs the engine with priority flow control ([`Full`](crate::Full)). Its switches may need it: for flow control, credits,
    /// retry, pools, weights, shapers, WRED, trimming, or marks by the port or at departure. So may lines that lose frames, hosts that receive slowly, and
    /// acknowledgements that are sprayed or return entropy values.
    #[must_use]
    pub fn needs_flow_control(&self) -> bool {
        let classes = self.service.iter().any(|service| *service != Service::default()) || !self.wred.is_empty();
        let trims = !self.trimmed.is_empty() || self.credit_limit.is_some();
        let impaired = !self.impairments.is_empty() || !self.receivers.is_empty();
        let marks = self.marking != Marking::default();
        let sprayed = self.spray_acks || self.goes_by_entropy();
        let links = !self.credits.is_empty() || !self.retries.is_empty();
        self.pfc.is_some() || links || !self.pools.is_empty() || marks || trims || classes || impaired || sprayed
    }

    /// Whether switches go by entropy values.
    #[must_use]
    pub(crate) fn goes_by_entropy(&self) -> bool {
        let by = |spread: &Multipath| matches!(spread.by, PathChoice::Entropy | PathChoice::Number);
        self.load_balancing.as_ref().is_some_and(by)
    }

    /// The entropy values that each flow has, where they are listed.
    #[must_use]
    pub fn entropy_profile(&self) -> Option<&Profile> {
        self.load_balancing.as_ref()?.profile.as_ref()
    }

    /// The network as its switches see it.
    #[must_use]
    pub fn switches(&self) -> Config<'_> {
        let mut config = Config::new(&self.nodes, &self.ports);
        config.priorities = &self.priorities;
        config.own_lines = &self.own_lines;
        config.wire_overhead = self.wire_overhead;
        config.in_service_counts = self.in_service_counts;
        config.own_clocks = self.own_clocks;
        config.ecn_threshold = self.ecn_threshold;
        config.marking = self.marking;
        config.service = &self.service;
        config.wred = &self.wred;
        config.trimmed = &self.trimmed;
        (config.control_capacity, config.credit_limit) = (self.control_capacity, self.credit_limit);
        config.largest_frame = self.largest_frame().unwrap_or(0);
        config.pfc = self.pfc.as_ref();
        config.pools = &self.pools;
        config.impairments = &self.impairments;
        (config.credits, config.retries) = (&self.credits, &self.retries);
        config.reverse = if config.sends_messages() { self.reverse() } else { Vec::new() };
        config
    }

    /// For each port, that of the opposite direction of its link; none for one that no hop leads over.
    ///
    /// # Panics
    /// If a port has two.
    fn reverse(&self) -> Vec<PortId> {
        let mut reverse = vec![PortId::NONE; self.ports.len()];
        let made = self.processes.list.iter().flat_map(|process| process.links.iter().map(|crossed| crossed.link));
        let of_hosts = self.storms.iter().map(|storm| storm.link);
        let of_hosts = of_hosts.chain(self.receivers.iter().map(|receiver| receiver.link));
        for (port, back) in self.hops.iter().map(|hop| (hop.port, hop.back)).chain(made).chain(of_hosts) {
            for (port, back) in [(port, back), (back, port)] {
                let own = &mut reverse[port.index()];
                assert!(*own == PortId::NONE || *own == back, "port {} has two ways back", port.0);
                *own = back;
            }
        }
        reverse
    }

    /// How many queues a port has: one per priority and the control queue.
    #[must_use]
    pub fn queues_per_port(&self) -> usize {
        self.priorities.len() + 1
    }

    /// The identity of the congestion point of `priority` at `port`.
    #[must_use]
    pub fn cp_id(&self, port: PortId, priority: u8) -> CpId {
        let p = &self.ports[port.index()];
        CpId::new(self.nodes[p.node.index()].station, p.number, priority)
    }

    /// The hops of a flow's route, parents before children.
    pub fn route(&self, flow: FlowId) -> impl Iterator<Item = HopId> + '_ {
        self.route_from(self.flows[flow.index()].root)
    }

    /// The hops of the route that begins with one, parents before children.
    pub fn route_from(&self, root: HopId) -> impl Iterator<Item = HopId> + '_ {
        let mut waiting = vec![root];
        core::iter::from_fn(move || {
            let hop = waiting.pop()?;
            let h = &self.hops[hop.index()];
            waiting.extend((0..u32::from(h.children)).rev().map(|i| HopId(h.first_child.0 + i)));
            Some(hop)
        })
    }

    /// Whether switches choose the paths of a flow's frames.
    #[must_use]
    pub fn is_multipath(&self, flow: FlowId) -> bool {
        let chosen = self.load_balancing.as_ref().map_or(&[][..], |spread| &spread.hops[..]);
        !chosen.is_empty() && self.route(flow).any(|hop| chosen.binary_search(&hop).is_ok())
    }

    /// The last hop on the way to each destination of a flow; of several ways to one destination, on the first.
    pub fn last_hops(&self, flow: FlowId) -> impl Iterator<Item = HopId> + '_ {
        let most = if self.is_multipath(flow) { 1 } else { usize::MAX };
        self.route(flow).filter(|hop| self.hops[hop.index()].children == 0).take(most)
    }

    /// The last hop of a chain of hops, or of the first path of a tree.
    pub(crate) fn last_hop(&self, root: HopId) -> HopId {
        let mut hop = root;
        while self.hops[hop.index()].children > 0 {
            hop = self.hops[hop.index()].first_child;
        }
        hop
    }

    /// Adds the hops by which acknowledgements of a flow go, whose hops are the chain from `root`: over the same links back, those of the
    /// first path where there are several.
    /// Returns the first one. With [`spray_acks`](Self::spray_acks) each path has its own ([`reverse_paths`](Self::reverse_paths)).
    pub fn add_reverse_path(&mut self, root: HopId) -> HopId {
        let first = self.last_hop(root);
        let back = self.add_chain_back(first);
        let leaves = self.route_from(root).filter(|hop| self.hops[hop.index()].children == 0);
        let leaves: Vec<HopId> = leaves.filter(|_| self.spray_acks).collect();
        for leaf in leaves.iter().copied().filter(|_| leaves.len() > 1) {
            let own = if leaf == first { back } else { self.add_chain_back(leaf) };
            self.reverse_paths.push((leaf, own));
        }
        back
    }

    /// Adds the hops from the end of a path back to its beginning.
    fn add_chain_back(&mut self, leaf: HopId) -> HopId {
        let first = self.hops.len() as u32;
        let mut next = Some(leaf);
        while let Some(hop) = next {
            let Hop { port, back, parent, .. } = self.hops[hop.index()];
            let own = self.hops.len() as u32;
            self.hops.push(Hop {
                port: back,
                back: port,
                parent: (own > first).then(|| HopId(own - 1)),
                first_child: HopId(own + 1),
                children: u16::from(parent.is_some()),
            });
            next = parent;
        }
        HopId(first)
    }

    /// The longest frame of any flow, with its tags; `None` where there is none.
    #[must_use]
    pub fn largest_frame(&self) -> Option<u16> {
        let of_processes = self.processes.list.iter().map(|process| self.longest_of_process(process));
        self.flows.iter().map(|flow| self.longest_of(flow)).chain(of_processes).max()
    }

    /// The time from the release of a flow's longest frame until its acknowledgement of `ack` octets has arrived, through an empty
    /// network: that of its longest path.
    #[must_use]
    pub fn round_trip(&self, flow: FlowId, acknowledgement: u16) -> Option<Duration> {
        let octets = [self.longest_of(&self.flows[flow.index()]), acknowledgement];
        let path = |leaf: HopId| {
            let hops = std::iter::successors(Some(&self.hops[leaf.index()]), |hop| {
                hop.parent.map(|parent| &self.hops[parent.index()])
            });
            self.round_trip_over(hops.map(|hop| (hop.port, hop.back)), octets)
        };
        self.last_hops(flow).map(path).max()
    }

    /// Round-trip time of an empty network over `links`, pairs of a port and its opposite direction, for a frame of `octets[0]` and
    /// an acknowledgement of `octets[1]`, both without wire overhead.
    #[must_use]
    pub fn round_trip_over(&self, links: impl Iterator<Item = (PortId, PortId)>, octets: [u16; 2]) -> Duration {
        let line = |port: PortId| (self.ports[port.index()].rate, self.ports[port.index()].latency);
        round_trip(links, octets, self.wire_overhead, line)
    }

    /// The longest frame of a flow, with its tags, octets.
    #[must_use]
    pub fn longest_of(&self, flow: &Flow) -> u16 {
        flow.frame + if flow.reaction_point.is_some() { self.tags_of(flow.priority) } else { 0 }
    }

    /// The longest frame of a process, likewise.
    #[must_use]
    pub fn longest_of_process(&self, process: &Process) -> u16 {
        process.frame + if process.limiting == Limiting::Uncontrolled { 0 } else { self.tags_of(process.priority) }
    }

    /// Whether frames of flows of priority `own` may wait in queues of `priority`.
    #[must_use]
    pub fn joins(&self, own: u8, priority: u8) -> bool {
        let class = self.priorities.iter().position(|&other| other == own);
        own == priority || class.and_then(|class| self.moves.get(class)) == Some(&Some(priority))
    }

    /// Octets of tags on the controlled frames of a priority.
    fn tags_of(&self, priority: u8) -> u16 {
        let class = self.priorities.iter().position(|&own| own == priority);
        class.and_then(|class| self.tags.get(class)).copied().unwrap_or(0)
    }

    /// The class of control frames: the last queue of each port.
    pub(crate) fn control_class(&self) -> TrafficClass {
        TrafficClass(self.priorities.len() as u8)
    }

    /// Which of the configurations the scheme of a class has at a port.
    #[must_use]
    pub fn configuration(&self, class: TrafficClass, port: PortId) -> usize {
        configuration(&self.priorities, &self.own_lines, class.index(), self.ports[port.index()].rate)
    }

    /// The class of a priority: its index among [`Self::priorities`].
    pub(crate) fn class(&self, priority: u8) -> TrafficClass {
        let index = self.priorities.iter().position(|&p| p == priority);
        TrafficClass(index.expect("priority of a flow is listed in `priorities`") as u8)
    }
}

/// The time from the release of a frame until its acknowledgement has come, in an empty network: `octets` are those of the two, `overhead`
/// those that a line adds to each. `line` tells rate and delay of the line of a port.
pub(crate) fn round_trip(
    links: impl Iterator<Item = (PortId, PortId)>,
    octets: [u16; 2],
    overhead: u16,
    line: impl Fn(PortId) -> (BitRate, Duration),
) -> Duration {
    let over = |(port, octets): (PortId, u16)| {
        let (rate, delay) = line(port);
        let (serialisation, _) = rate.serialisation(u64::from(octets) + u64::from(overhead));
        serialisation.0.saturating_add(delay.0)
    };
    let [there, back] = octets;
    let both = links.flat_map(|(port, opposite)| [over((port, there)), over((opposite, back))]);
    Duration(both.fold(0, u64::saturating_add))
}
