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
use std::ops::Range;

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Capacity, NodeKind};

use crate::error::{Fault, suggest};
use crate::keys::declare::{one_of, section, words};
use crate::keys::fields::{Length, Propagation};
use crate::keys::read::{Blame, Entry};
use crate::limits::{Bounds, LINKS, NODES};

pub(crate) use graph::LineCredits;

one_of! {
    /// Nodes and links: exactly one of the tables below. A port is called after its ends, `sw0->h8`; parallel links are numbered,
    /// `leaf0->spine1.2`.
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
    surroundings: Surroundings,
    /// Ports whose links are down, which no switch but their own ones knows.
    pub(crate) down: BTreeSet<usize>,
    /// What switches know of it later, when they have heard of links that break, in order of time.
    pub(crate) later: Vec<Epoch>,
    /// The ports of the links that have credits, for each of [`Shape::credits`].
    pub(crate) credited: Vec<Range<usize>>,
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
    /// The length of its cable, where that is given.
    pub(crate) cable: Option<Length>,
    /// Its number among the parallel links of its ends, from 1; 0 for a link that is alone.
    pub(crate) parallel: u16,
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
    cable: Option<Length>,
    buffer: Capacity,
}

words! {
    /// Which of several shortest paths a flow takes.
    #[derive(Default)]
    pub(crate) enum Routing { #[default] Ecmp = "ecmp", ByDestination = "d-mod-k" }
}

/// Description of the key `routing`.
const ROUTING: &str = "Which of several shortest paths (by hops) a flow takes. \"ecmp\": by a hash of the flow's and the \
    switch's names, the same in every run (network.ecmp_seed gives another one). \"d-mod-k\": by the number of the destination, \
    so that a shift permutation never puts two flows on one link. At the i-th choice from the source it is up-port \
    floor(d / k^i) mod k.";

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
    /// The key of the size of output queues.
    fn buffer(&self) -> &Entry<Option<Capacity>>;
    /// The sizes of output queues that its keys give.
    fn buffers(&self) -> Vec<Size<'_>> {
        size(self.buffer()).into_iter().collect()
    }
    /// How ties between shortest paths are decided, where there can be any.
    fn routing(&self) -> Routing {
        Routing::Ecmp
    }
    /// The credits that its keys give to links.
    fn credits(&self) -> Vec<&Entry<Option<LineCredits>>> {
        Vec::new()
    }
}

/// The names of the ports of a link, as a scenario has it: in one direction, as in `sw0->h8`, or in both, as in `sw0--h8`; parallel ones
/// end in their number.
pub(crate) fn ports_of(link: &str) -> Vec<String> {
    let Some((a, b)) = link.split_once("--") else { return vec![link.to_owned()] };
    let (node, number) = b.split_at(b.find('.').unwrap_or(b.len()));
    vec![format!("{a}->{b}"), format!("{node}->{a}{number}")]
}

/// The size of output queues, and the key that gives it.
pub(crate) type Size<'a> = (Capacity, &'a dyn Blame);

fn size(key: &Entry<Option<Capacity>>) -> Option<Size<'_>> {
    key.map(|size| -> Size<'_> { (size, key) })
}

/// What topologies take from other tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Surroundings {
    /// Propagation delay of a metre of cable.
    pub(crate) cable_delay: Duration,
    /// The memory of switches: the size of output queues without a size.
    pub(crate) memory: Option<Octets>,
}

/// Lays out the layout.
pub(crate) fn build(topology: &Topology, surroundings: Surroundings, bounds: &Bounds<'_>) -> Result<Layout, Fault> {
    let shape = topology.given();
    if shape.buffer().is_none() && surroundings.memory.is_none() {
        let hint = "expected a size, as in \"150 KB\" or \"100 frames\", or a [[switch]] with its memory";
        return Err(shape.buffer().fault("missing").with_hint(hint));
    }
    let (nodes, links) = shape.counts();
    let checks = bounds.check(NODES, nodes, "a smaller topology").and(bounds.check(LINKS, links, "a smaller topology"));
    checks.map_err(|(message, hint)| topology.fault(message).with_hint(hint))?;
    let mut layout = Layout { routing: shape.routing(), surroundings, ..Layout::default() };
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

    /// Name of a port: its ends, and its number where links are parallel, as in `leaf0->spine1.2`.
    pub(crate) fn port_name(&self, port: usize) -> String {
        let p = &self.ports[port];
        let name = format!("{}->{}", self.nodes[p.node].name, self.nodes[p.peer].name);
        if p.parallel == 0 { name } else { format!("{name}.{}", p.parallel) }
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

    /// A line of this rate, propagation and buffer.
    fn line(&self, rate: BitRate, propagation: Propagation, buffer: Option<Capacity>) -> Line {
        let around = self.surroundings;
        let buffer = buffer.or(around.memory.map(Capacity::Octets)).expect("checked before it is built");
        Line { rate, delay: propagation.delay(around.cable_delay), cable: propagation.cable(), buffer }
    }

    /// A bidirectional link between `a` and `b`; false if there is one.
    fn link(&mut self, a: usize, b: usize, line: Line) -> bool {
        self.add_link(a, b, [line; 2], 0)
    }

    /// The same `count` times, with a line from `a` to `b`, and one from `b` to `a`.
    fn links(&mut self, a: usize, b: usize, lines: [Line; 2], count: u16) -> bool {
        let alone = count == 1;
        (1..=count).all(|number| self.add_link(a, b, lines, if alone { 0 } else { number }))
    }

    fn add_link(&mut self, a: usize, b: usize, lines: [Line; 2], parallel: u16) -> bool {
        for ((node, peer), line) in [(a, b), (b, a)].into_iter().zip(lines) {
            let index = self.ports.len();
            let number = self.nodes[node].ports.len() as u16;
            let Line { rate, delay, cable, buffer } = line;
            let buffer = if self.is_host(node) { Capacity::Arbiter } else { buffer };
            self.ports.push(LayoutPort { node, peer, rate, delay, cable, parallel, buffer, number });
            self.nodes[node].ports.push(index);
            let name = self.port_name(index);
            if self.port_names.insert(name, index).is_some() {
                return false;
            }
        }
        true
    }
}
