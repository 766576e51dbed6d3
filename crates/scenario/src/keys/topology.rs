//! Topologies: from a table of sizes and rates to nodes and ports with names. Each has its own file, with its keys;
//! the list below has all of them.

mod dragonfly;
mod dumbbell;
mod fat_tree;
mod graph;
mod leaf_spine;
mod parking_lot;
mod star;

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use crate::error::{Fault, suggest};
use crate::keys::declare::{one_of, section, words};
use crate::keys::read::Blame;
use crate::limits::{Bounds, LINKS, NODES};

one_of! {
    /// Nodes and links: exactly one of the tables below. A port is called after its ends, `sw0->h8`.
    pub(crate) enum Topology: dyn Shape, "topology" {
        "star" = Star(star::Star),
        "dumbbell" = Dumbbell(dumbbell::Dumbbell),
        "parking-lot" = ParkingLot(parking_lot::ParkingLot),
        "leaf-spine" = LeafSpine(leaf_spine::LeafSpine),
        "fat-tree" = FatTree(fat_tree::FatTree),
        "dragonfly" = Dragonfly(dragonfly::Dragonfly),
        "graph" = Graph(graph::Graph),
    }
}

/// Nodes and ports. The two directions of a link are ports `2 i` and `2 i + 1`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(crate) nodes: Vec<LayoutNode>,
    pub(crate) ports: Vec<LayoutPort>,
    /// How ties between shortest paths are decided.
    pub(crate) routing: Routing,
    /// Seed of the hash that decides them.
    pub(crate) ecmp_seed: Option<u64>,
    /// Switches choose among them frame by frame, or flowlet by flowlet.
    pub(crate) spreads: bool,
    /// Ports whose links are down, which no switch but their own ones knows.
    pub(crate) down: BTreeSet<usize>,
    /// What switches know of it later, when they have heard of links that break, in order of time.
    pub(crate) later: Vec<Epoch>,
    names: BTreeMap<String, usize>,
    port_names: BTreeMap<String, usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct LayoutNode {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    /// Its number among the hosts, or among the switches.
    pub(crate) number: u64,
    /// Its delay, if it differs from the topology's.
    pub(crate) delay: Option<Duration>,
    /// Its output ports, in the order of their numbers.
    pub(crate) ports: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct LayoutPort {
    pub(crate) node: usize,
    pub(crate) peer: usize,
    pub(crate) rate: BitRate,
    /// Propagation.
    pub(crate) delay: Duration,
    /// Size of the queue, if the port is a switch's.
    pub(crate) buffer: Capacity,
    /// Number at its node.
    pub(crate) number: u16,
}

/// A layout as switches know it from a time on.
#[derive(Debug, Clone)]
pub(crate) struct Epoch {
    pub(crate) at: Duration,
    /// Without the links that all switches know to be broken.
    pub(crate) layout: Layout,
    /// The ports whose links have been broken for so long that all switches know it, where they hear of one now.
    pub(crate) known: Option<BTreeSet<usize>>,
}

/// Rate, delay and buffer of a link.
#[derive(Clone, Copy)]
struct Line {
    rate: BitRate,
    delay: Duration,
    buffer: Capacity,
}

words! {
    /// Which of several shortest paths a flow takes.
    #[derive(Default)]
    pub(crate) enum Routing { #[default] Ecmp = "ecmp", ByDestination = "d-mod-k" }
}

/// Description of the key `routing`.
const ROUTING: &str = "Which of several shortest paths (by hops) a flow takes: \"ecmp\" by a hash of the flow's and the \
    switch's names, the same in every run (network.ecmp_seed gives another one); \"d-mod-k\" by the number of the destination (at the i-th choice from the \
    source, up-port floor(d / k^i) mod k), so that a shift permutation never puts two flows on one link.";

/// Description of the key `buffer`.
const BUFFER: &str = "Size of each output queue of a switch, per priority. With priority flow control, frames of a lossless \
    priority are counted against the ingress buffers instead (pfc.buffer, by default of this size), and output queues are \
    not bounded for them.";

/// A form of networks: its keys are its fields.
pub(crate) trait Shape {
    /// How many nodes and links it will have; nodes that are listed by name are counted as they are read.
    fn counts(&self) -> (u64, u64);
    /// Adds the nodes and links to an empty layout.
    fn build(&self, layout: &mut Layout, bounds: &Bounds<'_>) -> Result<(), Fault>;
    /// The sizes of output queues that its keys give.
    fn buffers(&self) -> Vec<Size<'_>>;
    /// How ties between shortest paths are decided, where there can be any.
    fn routing(&self) -> Routing {
        Routing::Ecmp
    }
}

/// The size of output queues, and the key that gives it.
pub(crate) type Size<'a> = (Capacity, &'a dyn Blame);

/// Lays out the layout.
pub(crate) fn build(topology: &Topology, bounds: &Bounds<'_>) -> Result<Layout, Fault> {
    let shape = topology.given();
    let (nodes, links) = shape.counts();
    let checks = bounds.check(NODES, nodes, "a smaller topology").and(bounds.check(LINKS, links, "a smaller topology"));
    checks.map_err(|(message, hint)| topology.fault(message).with_hint(hint))?;
    let mut layout = Layout { routing: shape.routing(), ..Layout::default() };
    shape.build(&mut layout, bounds)?;
    Ok(layout)
}

impl Layout {
    /// The node called `name`.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The port called `name`, `node->peer`.
    pub(crate) fn port(&self, name: &str) -> Option<usize> {
        self.port_names.get(name).copied()
    }

    /// The same without some links, each of which has one of its `ports` listed; no later state of it.
    pub(crate) fn without(&self, ports: &BTreeSet<usize>) -> Self {
        let mut layout = Self { later: Vec::new(), ..self.clone() };
        for node in &mut layout.nodes {
            node.ports.retain(|port| !ports.contains(port) && !ports.contains(&(port ^ 1)));
        }
        layout
    }

    /// Name of a port.
    pub(crate) fn port_name(&self, port: usize) -> String {
        let p = &self.ports[port];
        format!("{}->{}", self.nodes[p.node].name, self.nodes[p.peer].name)
    }

    /// Whether a node is a host.
    pub(crate) fn is_host(&self, node: usize) -> bool {
        self.nodes[node].kind == NodeKind::Host
    }

    /// The host called `name`, or why there is none, and a hint.
    pub(crate) fn host(&self, name: &str) -> Result<usize, (String, String)> {
        match self.node(name) {
            Some(node) if self.is_host(node) => Ok(node),
            Some(_) => Err((format!("\"{name}\" is a switch; flows run between hosts"), self.hosts())),
            None => Err((format!("there is no host \"{name}\""), self.hosts())),
        }
    }

    /// Which hosts there are.
    fn hosts(&self) -> String {
        let hosts: Vec<&str> =
            self.nodes.iter().filter(|n| n.kind == NodeKind::Host).map(|n| n.name.as_str()).collect();
        match hosts[..] {
            [first, .., last] => format!("hosts are {first} to {last}"),
            _ => format!("hosts are {}", hosts.join(", ")),
        }
    }

    /// The nearest node's name, as a hint.
    pub(crate) fn suggest_node(&self, name: &str) -> String {
        suggest(name, self.names.keys().map(String::as_str))
    }

    /// The nearest port's name, as a hint.
    pub(crate) fn suggest_port(&self, name: &str) -> String {
        suggest(name, self.port_names.keys().map(String::as_str))
    }

    /// `count` nodes called `prefix` and their number.
    fn add(&mut self, kind: NodeKind, prefix: &str, count: u64) -> Vec<usize> {
        (0..count).map(|_| self.add_numbered(kind, prefix)).collect()
    }

    /// A node called `prefix` and the number of nodes that have that prefix already.
    fn add_numbered(&mut self, kind: NodeKind, prefix: &str) -> usize {
        let number = self.nodes.iter().rev().find_map(|n| n.name.strip_prefix(prefix)?.parse::<u64>().ok());
        let name = format!("{prefix}{}", number.map_or(0, |n| n + 1));
        self.add_named(kind, name).expect("numbered names differ")
    }

    /// A node called `name`; `None` if there is one.
    fn add_named(&mut self, kind: NodeKind, name: String) -> Option<usize> {
        let index = self.nodes.len();
        if self.names.insert(name.clone(), index).is_some() {
            return None;
        }
        let number = self.nodes.iter().rev().find(|n| n.kind == kind).map_or(0, |n| n.number + 1);
        self.nodes.push(LayoutNode { name, kind, number, delay: None, ports: Vec::new() });
        Some(index)
    }

    /// A bidirectional link between `a` and `b`; false if there is one.
    fn link(&mut self, a: usize, b: usize, line: Line) -> bool {
        self.link_by_direction(a, b, [line; 2])
    }

    /// The same with a line from `a` to `b`, and one from `b` to `a`.
    fn link_by_direction(&mut self, a: usize, b: usize, lines: [Line; 2]) -> bool {
        for ((node, peer), line) in [(a, b), (b, a)].into_iter().zip(lines) {
            let index = self.ports.len();
            let number = self.nodes[node].ports.len() as u16;
            let buffer = if self.is_host(node) { Capacity::Arbiter } else { line.buffer };
            self.ports.push(LayoutPort { node, peer, rate: line.rate, delay: line.delay, buffer, number });
            self.nodes[node].ports.push(index);
            let name = self.port_name(index);
            if self.port_names.insert(name, index).is_some() {
                return false;
            }
        }
        true
    }
}
