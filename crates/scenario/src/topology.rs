//! The six topologies: from a table of sizes and rates to nodes and ports with names.

use std::collections::BTreeMap;

use penstock_schemes::Octets;
use penstock_sim::network::{Capacity, NodeKind};

use crate::error::Fault;
use crate::error::suggest;
use crate::keys::{Record, Value};
use crate::limits::{Bounds, FLOWS, LINKS, NODES};
use crate::names;
use crate::read::{excess, fault};

/// Nodes and ports. The two directions of a link are ports `2 i` and `2 i + 1`.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    pub(crate) nodes: Vec<FabricNode>,
    pub(crate) ports: Vec<FabricPort>,
    /// Ties between shortest paths go by the number of the destination, not by a hash.
    pub(crate) by_destination: bool,
    names: BTreeMap<String, usize>,
    port_names: BTreeMap<String, usize>,
}

#[derive(Debug)]
pub(crate) struct FabricNode {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    /// Its number among the hosts, or among the switches.
    pub(crate) number: u64,
    /// Its delay (ps), where it has one of its own.
    pub(crate) delay: Option<u64>,
    /// Its output ports, in the order of their numbers.
    pub(crate) ports: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct FabricPort {
    pub(crate) node: usize,
    pub(crate) peer: usize,
    /// Bits per second.
    pub(crate) rate: u64,
    /// Propagation, ps.
    pub(crate) delay: u64,
    /// Size of the queue, if the port is a switch's.
    pub(crate) buffer: Capacity,
    /// Number at its node.
    pub(crate) number: u16,
}

/// Rate, delay and buffer of a link.
#[derive(Clone, Copy)]
struct Line {
    rate: u64,
    delay: u64,
    buffer: Capacity,
}

/// Builds the one topology that `[topology]` holds.
pub(crate) fn build(topology: &Record, bounds: &Bounds<'_>) -> Result<Fabric, Fault> {
    let given: Vec<&str> = topology.entries.iter().filter(|(_, entry)| entry.is_some()).map(|(key, _)| *key).collect();
    let known: Vec<&str> = topology.entries.iter().map(|(key, _)| *key).collect();
    let one = match given[..] {
        [one] => one,
        [] => return Err(missing(topology, format!("exactly one of {}", known.join(", ")))),
        [_, second, ..] => {
            let message = format!("a second topology; there is [topology.{}] already", given[0]);
            return Err(fault(topology, second, message).with_hint("keep one of them"));
        }
    };
    let record = topology.table(one).expect("a topology is a table");
    let (nodes, links) = counts(one, record);
    let checks = bounds.check(NODES, nodes, "a smaller topology").and(bounds.check(LINKS, links, "a smaller topology"));
    checks.map_err(|e| excess(topology, one, e))?;
    let mut fabric = Fabric::default();
    match one {
        "star" => fabric.star(record),
        "dumbbell" => fabric.dumbbell(record),
        "parking-lot" => fabric.parking_lot(record),
        "leaf-spine" => fabric.leaf_spine(record),
        "fat-tree" => fabric.fat_tree(record)?,
        _ => fabric.graph(record, bounds)?,
    }
    fabric.by_destination =
        record.entries.iter().any(|(key, _)| *key == "routing") && record.text("routing") == Some("d-mod-k");
    Ok(fabric)
}

/// How many nodes and links a topology will have; a graph counts its nodes as it reads them.
fn counts(topology: &str, record: &Record) -> (u64, u64) {
    let n = |key: &str| record.number(key);
    match topology {
        "star" => (n("hosts") + 1, n("hosts")),
        "dumbbell" => (n("sources") + n("receivers") + 2, n("sources") + n("receivers") + 1),
        "parking-lot" => {
            let hosts = n("switches") * n("hosts_per_switch");
            (hosts + n("switches"), hosts + n("switches") - 1)
        }
        "leaf-spine" => {
            let hosts = n("leaves") * n("hosts_per_leaf");
            (hosts + n("leaves") + n("spines"), hosts + n("leaves") * n("spines"))
        }
        "fat-tree" => (n("k").pow(3) / 4 + n("k").pow(2) * 5 / 4, n("k").pow(3) * 3 / 4),
        _ => (0, record.tables("link").len() as u64),
    }
}

/// The size of a queue that a key gives.
pub(crate) fn capacity(record: &Record, key: &str) -> Option<Capacity> {
    match record.entry(key)?.value {
        Value::Quantity(_, x) => Some(Capacity::Octets(Octets(x))),
        Value::Frames(n) => Some(Capacity::Frames(n)),
        _ => None,
    }
}

fn missing(record: &Record, hint: String) -> Fault {
    let at = crate::read::Place { path: &record.path, origin: record.origin };
    at.error("no topology".into(), format!("expected {hint}"))
}

fn line(record: &Record, rate: &str, delay: &str) -> Line {
    let buffer = capacity(record, "buffer").expect("each topology has a buffer");
    Line { rate: record.number(rate), delay: record.number(delay), buffer }
}

impl Fabric {
    /// The node called `name`.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The port called `name`, `node->peer`.
    pub(crate) fn port(&self, name: &str) -> Option<usize> {
        self.port_names.get(name).copied()
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
        self.nodes.push(FabricNode { name, kind, number, delay: None, ports: Vec::new() });
        Some(index)
    }

    /// A link between `a` and `b`, both ways; false if there is one.
    fn link(&mut self, a: usize, b: usize, line: Line) -> bool {
        for (node, peer) in [(a, b), (b, a)] {
            let index = self.ports.len();
            let number = self.nodes[node].ports.len() as u16;
            let buffer = if self.is_host(node) { Capacity::Arbiter } else { line.buffer };
            self.ports.push(FabricPort { node, peer, rate: line.rate, delay: line.delay, buffer, number });
            self.nodes[node].ports.push(index);
            let name = self.port_name(index);
            if self.port_names.insert(name, index).is_some() {
                return false;
            }
        }
        true
    }

    fn star(&mut self, record: &Record) {
        let line = line(record, "link_rate", "link_delay");
        let hosts = self.add(NodeKind::Host, "h", record.number("hosts"));
        let switch = self.add_numbered(NodeKind::Switch, "sw");
        for host in hosts {
            self.link(host, switch, line);
        }
    }

    fn dumbbell(&mut self, record: &Record) {
        let edge = line(record, "link_rate", "link_delay");
        let sources = self.add(NodeKind::Host, "h", record.number("sources"));
        let receivers = self.add(NodeKind::Host, "h", record.number("receivers"));
        let switches = self.add(NodeKind::Switch, "sw", 2);
        for host in sources {
            self.link(host, switches[0], edge);
        }
        self.link(switches[0], switches[1], line(record, "bottleneck_rate", "bottleneck_delay"));
        for host in receivers {
            self.link(host, switches[1], edge);
        }
    }

    fn parking_lot(&mut self, record: &Record) {
        let edge = line(record, "link_rate", "link_delay");
        let trunk = line(record, "trunk_rate", "trunk_delay");
        let switches = record.number("switches");
        let each = record.number("hosts_per_switch");
        let hosts = self.add(NodeKind::Host, "h", switches * each);
        let switches = self.add(NodeKind::Switch, "sw", switches);
        for (i, host) in hosts.into_iter().enumerate() {
            self.link(host, switches[i / each as usize], edge);
        }
        for pair in switches.windows(2) {
            self.link(pair[0], pair[1], trunk);
        }
    }

    fn leaf_spine(&mut self, record: &Record) {
        let edge = line(record, "host_rate", "link_delay");
        let trunk = line(record, "fabric_rate", "link_delay");
        let each = record.number("hosts_per_leaf");
        let hosts = self.add(NodeKind::Host, "h", record.number("leaves") * each);
        let leaves = self.add(NodeKind::Switch, "leaf", record.number("leaves"));
        let spines = self.add(NodeKind::Switch, "spine", record.number("spines"));
        for (i, host) in hosts.into_iter().enumerate() {
            self.link(host, leaves[i / each as usize], edge);
        }
        for leaf in leaves {
            for spine in &spines {
                self.link(leaf, *spine, trunk);
            }
        }
    }

    fn fat_tree(&mut self, record: &Record) -> Result<(), Fault> {
        let k = record.number("k");
        if !k.is_multiple_of(2) {
            let message = format!("a fat tree needs an even number of ports, found {k}");
            return Err(fault(record, "k", message).with_hint(format!("for instance {}", k - 1)));
        }
        let line = line(record, "link_rate", "link_delay");
        let half = (k / 2) as usize;
        let hosts = self.add(NodeKind::Host, "h", k * k * k / 4);
        let edges = self.add(NodeKind::Switch, "edge", k * k / 2);
        let aggregation = self.add(NodeKind::Switch, "agg", k * k / 2);
        let cores = self.add(NodeKind::Switch, "core", k * k / 4);
        for (i, host) in hosts.into_iter().enumerate() {
            self.link(host, edges[i / half], line);
        }
        for (i, edge) in edges.iter().enumerate() {
            let pod = i / half * half;
            for up in &aggregation[pod..pod + half] {
                self.link(*edge, *up, line);
            }
        }
        for (i, agg) in aggregation.iter().enumerate() {
            let first = i % half * half;
            for core in &cores[first..first + half] {
                self.link(*agg, *core, line);
            }
        }
        Ok(())
    }

    fn graph(&mut self, record: &Record, bounds: &Bounds<'_>) -> Result<(), Fault> {
        for (key, kind) in [("hosts", NodeKind::Host), ("switches", NodeKind::Switch)] {
            let names = names::expand_all(record.list(key).unwrap_or(&[]), bounds.most(FLOWS))
                .map_err(|e| excess(record, key, e))?;
            let nodes = (self.nodes.len() + names.len()) as u64;
            bounds.check(NODES, nodes, "fewer hosts or switches").map_err(|e| excess(record, key, e))?;
            for name in names {
                if self.add_named(kind, name.clone()).is_none() {
                    let message = format!("the name \"{name}\" is used twice");
                    return Err(fault(record, key, message).with_hint("each node has a name of its own"));
                }
            }
        }
        let find = |fabric: &Self, record: &Record, key: &str, name: &str| {
            fabric.node(name).ok_or_else(|| {
                fault(record, key, format!("there is no node \"{name}\"")).with_hint(fabric.suggest_node(name))
            })
        };
        let buffer = capacity(record, "buffer").expect("a graph has a buffer");
        for link in record.tables("link") {
            let ends = link.list("ends").expect("a link has ends");
            let [a, b] = ends else {
                let message = format!("a link has two ends, found {}", ends.len());
                return Err(fault(link, "ends", message).with_hint("for instance ends = [\"h0\", \"sw0\"]"));
            };
            let (from, to) = (find(self, link, "ends", a)?, find(self, link, "ends", b)?);
            if from == to {
                let hint = "a link joins two different nodes";
                return Err(fault(link, "ends", format!("both ends are \"{a}\"")).with_hint(hint));
            }
            let buffer = capacity(link, "buffer").unwrap_or(buffer);
            if !self.link(from, to, Line { rate: link.number("rate"), delay: link.number("delay"), buffer }) {
                let message = format!("\"{a}\" and \"{b}\" are joined twice");
                let hint = "one link between two nodes; it runs both ways";
                return Err(fault(link, "ends", message).with_hint(hint));
            }
        }
        for node in record.tables("node") {
            let name = node.text("name").expect("a node has a name");
            let index = find(self, node, "name", name)?;
            if self.nodes[index].delay.replace(node.number("delay")).is_some() {
                let message = format!("the node \"{name}\" is listed twice");
                return Err(fault(node, "name", message).with_hint("list each node once"));
            }
        }
        Ok(())
    }
}
