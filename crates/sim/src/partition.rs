//! How a network is cut into parts that are simulated side by side (`parts`).
//!
//! A part has some of the nodes, with their ports, the sources and the destinations there. Frames go from part to part over the
//! lines that are cut. The least delay of these is the *lookahead*: no part feels an event of another sooner.
//!
//! A host goes with the switch that it hangs on, and so do nodes that a line without delay joins. These clusters are handed out one
//! after the other, each to the part with which it has most traffic in common, weighed down by how full that part is (linear
//! deterministic greedy: Stanton and Kliot 2012, "Streaming graph partitioning for large distributed graphs"), and then moved as
//! long as that takes traffic off the cut lines. The same is done after those with hosts were handed out in blocks of neighbours; the
//! way counts that leaves less traffic on cut lines.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use penstock_schemes::Duration;

use crate::network::{CrossedLink, Feedback, FlowId, Network, NodeId, NodeKind, Pfc, PortId, Traffic};

/// Rounds in which clusters are moved, at the most.
const ROUNDS: usize = 8;
/// A part may have this much more to do than the mean.
const SLACK: f64 = 1.02;

/// A network in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    parts: usize,
    /// The part of each node.
    of_node: Vec<u32>,
    /// The part of each port, and that of the node at the far end of its line.
    of_port: Vec<(u32, u32)>,
    /// The part of each flow's source.
    of_flow: Vec<u32>,
    /// The part of each pool.
    of_pool: Vec<u32>,
    lookahead: Duration,
}

/// Why a network is simulated in one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// There is one node or cluster, or fewer of them than parts.
    Small,
    /// The watchdog of priority flow control looks at the whole network.
    Watchdog,
    /// Signals outside of the network.
    Ideal,
    /// The run ends with the last flow.
    UntilComplete,
    /// Flows begin when others have ended.
    Sequels,
    /// The last delivery of a finite flow is known where all its destinations are.
    Multicast,
    /// A line between two parts has no delay.
    NoDelay,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "the network has fewer switches than threads",
            Self::Watchdog => "the watchdog of flow control, which looks at the whole network",
            Self::Ideal => "ideal feedback, which crosses no line",
            Self::UntilComplete => "the run ends with its last flow",
            Self::Sequels => "flows begin when others have ended",
            Self::Multicast => "a finite flow to several destinations",
            Self::NoDelay => "a line between two threads would have no delay",
        })
    }
}

impl Partition {
    /// Cuts a network into `parts` parts, with as much to do in each as in the others and little traffic between them.
    ///
    /// # Errors
    /// If the network cannot be cut.
    pub fn new(network: &Network, parts: usize) -> Result<Self, Obstacle> {
        obstacle(network).map_or(Ok(()), Err)?;
        let clusters = Clusters::new(network);
        if parts == 0 || clusters.work.len() < parts {
            return Err(Obstacle::Small);
        }
        let of_cluster = clusters.hand_out(parts);
        if (0..parts as u32).any(|part| !of_cluster.contains(&part)) {
            return Err(Obstacle::Small);
        }
        let of_node = clusters.of_node.iter().map(|&cluster| of_cluster[cluster]).collect();
        Self::by_node(network, parts, of_node)
    }

    /// The partition in which each node is in the part that `of_node` says, below `parts`.
    ///
    /// # Errors
    /// If the network cannot be cut, or not there.
    ///
    /// # Panics
    /// If there is not one part a node.
    pub fn by_node(network: &Network, parts: usize, of_node: Vec<u32>) -> Result<Self, Obstacle> {
        obstacle(network).map_or(Ok(()), Err)?;
        assert_eq!(of_node.len(), network.nodes.len(), "a part for each node");
        assert!(of_node.iter().all(|&part| (part as usize) < parts), "parts are below {parts}");
        let at = |node: NodeId| of_node[node.index()];
        let of_port: Vec<(u32, u32)> = network.ports.iter().map(|port| (at(port.node), at(port.peer))).collect();
        let cut = network.ports.iter().zip(&of_port).filter(|(_, (own, peer))| own != peer);
        let lookahead = cut.map(|(port, _)| port.latency).min().unwrap_or(Duration(u64::MAX));
        if lookahead == Duration::ZERO {
            return Err(Obstacle::NoDelay);
        }
        let flows = (0..network.flows.len() as u32).map(FlowId);
        let is_split = |flow: FlowId| {
            let mut ends = network.last_hops(flow).map(|hop| of_port[network.hops[hop.index()].port.index()].1);
            let first = ends.next();
            network.flows[flow.index()].size.is_some() && ends.any(|part| Some(part) != first)
        };
        if flows.clone().any(is_split) {
            return Err(Obstacle::Multicast);
        }
        let source = |flow: FlowId| of_port[root_port(network, flow).index()].0;
        let of_flow = flows.map(source).collect();
        let of_pool = network.pools.iter().map(|pool| at(pool.node)).collect();
        Ok(Self { parts, of_node, of_port, of_flow, of_pool, lookahead })
    }

    /// How many parts there are.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The least delay of a line from one part to another; longer than any run if there is none.
    #[must_use]
    pub fn lookahead(&self) -> Duration {
        self.lookahead
    }

    /// The part of a node.
    #[must_use]
    pub fn of_node(&self, node: NodeId) -> usize {
        self.of_node[node.index()] as usize
    }

    /// The part of a port.
    pub(crate) fn of_port(&self, port: PortId) -> usize {
        self.of_port[port.index()].0 as usize
    }

    /// The part at the far end of a port's line.
    pub(crate) fn beyond(&self, port: PortId) -> usize {
        self.of_port[port.index()].1 as usize
    }

    /// The part of a flow's source.
    pub(crate) fn of_flow(&self, flow: FlowId) -> usize {
        self.of_flow[flow.index()] as usize
    }

    /// The part of a pool, by its index in the network.
    pub(crate) fn of_pool(&self, pool: usize) -> usize {
        self.of_pool[pool] as usize
    }

    /// The events of a second that each part has, as an estimate: the frames that arrive at its nodes and those that its hosts send.
    #[must_use]
    pub fn work(&self, network: &Network) -> Vec<f64> {
        let mut work = vec![0.0; self.parts];
        for (node, of_node) in Traffics::new(network).work.into_iter().zip(&self.of_node) {
            work[*of_node as usize] += node;
        }
        work
    }
}

/// Whether a network is to stay in one part, and why.
fn obstacle(network: &Network) -> Option<Obstacle> {
    let obstacles = [
        (network.pfc.as_ref().is_some_and(Pfc::is_watched), Obstacle::Watchdog),
        (matches!(network.feedback, Feedback::Ideal(_)), Obstacle::Ideal),
        (network.until_complete && waits_for_flows(network), Obstacle::UntilComplete),
        (!network.dependencies.is_empty(), Obstacle::Sequels),
    ];
    obstacles.into_iter().find_map(|(there, obstacle)| there.then_some(obstacle))
}

/// Whether finite flows other than messages of work are to end. Work waits at the end of its instant, they end in the midst of one.
fn waits_for_flows(network: &Network) -> bool {
    let streams = network.processes.list.iter().any(|process| !process.of_work);
    streams || network.flows.iter().any(|flow| flow.size.is_some())
}

/// The port at which a flow begins.
fn root_port(network: &Network, flow: FlowId) -> PortId {
    network.hops[network.flows[flow.index()].root.index()].port
}

/// The traffic of a network, as an estimate.
struct Traffics {
    /// Frames a second over the line of each port.
    over: Vec<f64>,
    /// Events a second at each node.
    work: Vec<f64>,
}

impl Traffics {
    fn new(network: &Network) -> Self {
        let mut over = vec![0.0; network.ports.len()];
        let mut work = vec![0.0; network.nodes.len()];
        let frames = |bps: u64, octets: u16| bps as f64 / (8.0 * f64::from(octets.max(64)));
        for (id, flow) in (0..).map(FlowId).zip(&network.flows) {
            let root = &network.ports[root_port(network, id).index()];
            let bps = match flow.traffic {
                Traffic::Constant(rate) | Traffic::Poisson(rate) | Traffic::OnOff { rate, .. } => {
                    rate.0.min(root.rate.0)
                }
                Traffic::Greedy => root.rate.0,
            };
            let rate = frames(bps, flow.frame);
            for hop in network.route(id) {
                let port = network.hops[hop.index()].port;
                let most = frames(network.ports[port.index()].rate.0, flow.frame);
                let load: &mut f64 = &mut over[port.index()];
                *load = (*load + rate).min(most);
            }
            work[root.node.index()] += rate;
        }
        for process in &network.processes.list {
            for &CrossedLink { link: (port, _), octets } in &process.links {
                let line = &network.ports[port.index()];
                let most = frames(line.rate.0, process.frame);
                // As fast as they come, or as the line lets them.
                let all = frames(octets.saturating_mul(8), process.frame);
                let rate = (all / process.span.max(Duration(1)).as_seconds()).min(most);
                let load: &mut f64 = &mut over[port.index()];
                *load = (*load + rate).min(most);
                if network.nodes[line.node.index()].kind == NodeKind::Host {
                    work[line.node.index()] += rate;
                }
            }
        }
        for (port, load) in network.ports.iter().zip(&over) {
            work[port.peer.index()] += load;
        }
        Self { over, work }
    }
}

/// Nodes that stay together.
struct Clusters {
    of_node: Vec<usize>,
    /// Whether a cluster has hosts.
    access: Vec<bool>,
    /// Events a second.
    work: Vec<f64>,
    /// Frames a second between a cluster and each other one.
    beside: Vec<BTreeMap<usize, f64>>,
}

impl Clusters {
    fn new(network: &Network) -> Self {
        let Traffics { over, work } = Traffics::new(network);
        let mut leader: Vec<usize> = (0..network.nodes.len()).collect();
        let mut lines = vec![0; network.nodes.len()];
        network.ports.iter().for_each(|port| lines[port.node.index()] += 1);
        for port in &network.ports {
            let hangs = network.nodes[port.node.index()].kind == NodeKind::Host && lines[port.node.index()] == 1;
            if hangs || port.latency == Duration::ZERO {
                let (a, b) = (lead(&leader, port.node.index()), lead(&leader, port.peer.index()));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut numbers = BTreeMap::new();
        let of_node: Vec<usize> = (0..leader.len())
            .map(|node| {
                let next = numbers.len();
                *numbers.entry(lead(&leader, node)).or_insert(next)
            })
            .collect();
        let mut access = vec![false; numbers.len()];
        for (node, _) in network.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Host) {
            access[of_node[node]] = true;
        }
        let (none, beside) = (vec![0.0; numbers.len()], vec![BTreeMap::new(); numbers.len()]);
        let mut clusters = Self { of_node, access, work: none, beside };
        for (node, work) in work.into_iter().enumerate() {
            clusters.work[clusters.of_node[node]] += work;
        }
        for (port, load) in network.ports.iter().zip(&over) {
            let (a, b) = (clusters.of_node[port.node.index()], clusters.of_node[port.peer.index()]);
            if a != b {
                // A line without traffic joins its ends as well, a little.
                for (one, other) in [(a, b), (b, a)] {
                    *clusters.beside[one].entry(other).or_default() += load + 1.0;
                }
            }
        }
        clusters
    }

    /// The part of each cluster: of two ways to hand them out the one with less traffic between parts.
    fn hand_out(&self, parts: usize) -> Vec<u32> {
        let total: f64 = self.work.iter().sum();
        let room = (total / parts as f64 * SLACK).max(f64::MIN_POSITIVE);
        let nobody = vec![u32::MAX; self.work.len()];
        let paths = [nobody, self.blocks(parts)].map(|begun| {
            let (mut of, mut held) = self.stream(begun, parts, room);
            for _ in 0..ROUNDS {
                if !self.improve(&mut of, &mut held, room) {
                    break;
                }
            }
            (self.cut(&of), of)
        });
        let [one, other] = paths;
        if other.0 <= one.0 { other.1 } else { one.1 }
    }

    /// Clusters with hosts in blocks of as much work each, in the order of their nodes: topologies number them pod by pod.
    fn blocks(&self, parts: usize) -> Vec<u32> {
        let with_hosts = |cluster: &usize| self.access[*cluster];
        let all: f64 = (0..self.work.len()).filter(with_hosts).map(|cluster| self.work[cluster]).sum();
        let mut of = vec![u32::MAX; self.work.len()];
        let mut before = 0.0;
        for cluster in (0..self.work.len()).filter(with_hosts) {
            let middle = before + self.work[cluster] / 2.0;
            of[cluster] = ((middle / all * parts as f64) as u32).min(parts as u32 - 1);
            before += self.work[cluster];
        }
        of
    }

    /// Hands out the clusters that nobody has.
    fn stream(&self, mut of: Vec<u32>, parts: usize, room: f64) -> (Vec<u32>, Vec<f64>) {
        let mut held = vec![0.0; parts];
        for (cluster, &part) in of.iter().enumerate().filter(|(_, part)| **part != u32::MAX) {
            held[part as usize] += self.work[cluster];
        }
        for cluster in self.order() {
            if of[cluster] != u32::MAX {
                continue;
            }
            let ties = self.ties(cluster, &of, parts);
            let value = |part: usize| (ties[part] + 1e-9) * (1.0 - held[part] / room);
            let with_room = (0..parts).filter(|&part| held[part] + self.work[cluster] <= room);
            let best = with_room.reduce(|best, part| if value(part) > value(best) { part } else { best });
            let emptiest = (0..parts).reduce(|best, part| if held[part] < held[best] { part } else { best });
            let best = best.or(emptiest).expect("there is a part");
            of[cluster] = best as u32;
            held[best] += self.work[cluster];
        }
        (of, held)
    }

    /// The traffic between parts.
    fn cut(&self, of: &[u32]) -> f64 {
        let between = |(cluster, beside): (usize, &BTreeMap<usize, f64>)| -> f64 {
            beside.iter().filter(|(other, _)| of[**other] != of[cluster]).map(|(_, load)| load).sum()
        };
        self.beside.iter().enumerate().map(between).sum()
    }

    /// Moves clusters that have more traffic with another part than with their own and find room there.
    fn improve(&self, of: &mut [u32], held: &mut [f64], room: f64) -> bool {
        let mut moved = false;
        for cluster in 0..of.len() {
            let (own, work) = (of[cluster] as usize, self.work[cluster]);
            let ties = self.ties(cluster, of, held.len());
            let better = (0..held.len()).filter(|&part| {
                part != own && ties[part] > ties[own] && (held[part] + work <= room || held[part] + work < held[own])
            });
            let best = better.reduce(|best, part| if ties[part] > ties[best] { part } else { best });
            if let Some(best) = best {
                of[cluster] = best as u32;
                held[own] -= work;
                held[best] += work;
                moved = true;
            }
        }
        moved
    }

    /// The traffic of a cluster with those of each part.
    fn ties(&self, cluster: usize, of: &[u32], parts: usize) -> Vec<f64> {
        let mut ties = vec![0.0; parts];
        for (&other, load) in &self.beside[cluster] {
            if let Some(tie) = ties.get_mut(of[other] as usize) {
                *tie += load;
            }
        }
        ties
    }

    /// All clusters, neighbours after neighbours.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.work.len()];
        let mut order = Vec::with_capacity(seen.len());
        for first in 0..seen.len() {
            let mut waiting = VecDeque::from([first]);
            while let Some(cluster) = waiting.pop_front() {
                if !std::mem::replace(&mut seen[cluster], true) {
                    order.push(cluster);
                    waiting.extend(self.beside[cluster].keys().copied().filter(|&other| !seen[other]));
                }
            }
        }
        order
    }
}

/// The least node of those that are joined with one.
fn lead(leader: &[usize], mut node: usize) -> usize {
    while leader[node] != node {
        node = leader[node];
    }
    node
}
