//! Any graph: nodes and links as listed, or range by range as fabrics are built.

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Capacity, LARGEST_QUEUE, NodeKind};

use super::{BUFFER, Layout, ROUTING, Routing, Shape, Size, size};
use crate::error::Fault;
use crate::keys::declare::{section, words};
use crate::keys::fields::{Counts, Either, Length, List, Names, Propagation};
use crate::keys::ranges::{RATE, SPAN, TIME};
use crate::keys::read::{Blame, Entry};
use crate::limits::{Bounds, FLOWS, LINKS, NODES};
use crate::names;

section! {
    /// Nodes and links as listed, one by one or range by range: leaves and spines with cables of several lengths, planes, rails, hosts at two
    /// switches.
    pub(crate) struct Graph {
        /// The hosts: a range such as "h0..h7", or a list of names and ranges.
        hosts: Names;
        /// The switches, likewise.
        switches: Names;
        #[doc = BUFFER]
        buffer: Option<Capacity> => "the memory of the switch, where [[switch]] gives it";
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
        link: Vec<Link>;
        node: Vec<Special> = Vec::new();
    }
}

words! {
    /// Which nodes of a range a link table joins with which of another.
    #[derive(Default)]
    pub(crate) enum Joined { #[default] Each = "each", Blocks = "blocks", Turns = "turns" }
}

section! {
    /// A bidirectional link between two nodes, or links between two ranges of nodes.
    pub(crate) struct Link {
        /// The two nodes that it joins, or two ranges of them, as in ["h0..h31", "leaf0"].
        ends: List;
        /// Which nodes of two ranges are joined. "each": every node of one with every node of the other; within one range every pair. "blocks": the
        /// nodes of the first range in blocks of equal size, a block for each node of the second, as servers in racks. "turns": the nodes of the
        /// first range in turns, as network interfaces that belong to rails.
        join: Joined = Joined::Each;
        /// Number of parallel links between two nodes; each flow takes one of them, by its hash, as of a link aggregate.
        parallel: u64 [1..=64] = 1;
        /// Its rate in each direction, or one for each, as in { up = "10 Gbps", down = "40 Gbps" }.
        rate: Either<BitRate, Rates> [(RATE, ())];
        /// Its propagation delay in each direction, or one for each, as in { up = "1 us", down = "3 us" }.
        delay: Either<Propagation, Delays> = Either::First(Propagation::NONE);
        /// The length of its cable, instead of a delay.
        cable: Option<Length> [Length(0)..=Propagation::LONGEST_CABLE] => "a delay without a cable";
        /// Size of the output queues of switches at its ends.
        buffer: Option<Capacity> => "the graph's buffer";
        /// Credits in each direction, as in { buffer = "64 KB" }, instead of a table [[credits]] that lists its links.
        credits: Option<LineCredits> => "those of [[credits]]";
    }
}

section! {
    /// Credit-based flow control of the links of a table: the keys of [[credits]], in both directions.
    pub(crate) struct LineCredits {
        /// The priorities with credits.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// Octets of a credit.
        cell: Option<Octets> [Octets(1)..=Octets(65_535)] => "as in [[credits]]";
        /// Memory at the far end for each priority.
        buffer: Option<Octets> [Octets(1)..=LARGEST_QUEUE] => "what keeps the link full, as buffer = \"auto\" of [[credits]]";
        /// The least distance between two updates, octets of the reverse link.
        spacing: Option<Octets> [Octets(0)..=Octets(1_000_000)] => "as in [[credits]]";
        /// Time between messages by which the far end finds credits of frames that the link has lost.
        sync: Option<Duration> [SPAN] => "as in [[credits]]";
    }
}

section! {
    /// The rates of a link whose directions differ.
    pub(crate) struct Rates {
        /// From the first of its ends to the second.
        up: BitRate [RATE];
        /// From the second to the first.
        down: BitRate [RATE];
    }
}

section! {
    /// The propagation delays of a link whose directions differ.
    pub(crate) struct Delays {
        /// From the first of its ends to the second.
        up: Propagation;
        /// From the second to the first.
        down: Propagation;
    }
}

section! {
    /// The settings of a single node.
    pub(crate) struct Special {
        /// The node's name.
        name: String;
        /// Time that a frame takes through this node, instead of network.node_delay.
        delay: Duration [TIME];
    }
}

impl Shape for Graph {
    fn counts(&self) -> (u64, u64) {
        (0, self.link.len() as u64)
    }

    fn build(&self, layout: &mut Layout, bounds: &Bounds<'_>) -> Result<(), Fault> {
        for (key, kind) in [(&self.hosts, NodeKind::Host), (&self.switches, NodeKind::Switch)] {
            let names = names::expand_all(key, bounds.most(FLOWS)).map_err(|e| key.excess(e))?;
            let nodes = (layout.nodes.len() + names.len()) as u64;
            bounds.check(NODES, nodes, "fewer hosts or switches").map_err(|e| key.excess(e))?;
            for name in names {
                if layout.add_named(kind, name.clone()).is_none() {
                    let message = format!("the name \"{name}\" is used twice");
                    return Err(key.fault(message).with_hint("give each node a different name"));
                }
            }
        }
        for link in self.link.iter() {
            link.build(layout, *self.buffer, bounds)?;
        }
        for node in self.node.iter() {
            let index = find(layout, &node.name, &node.name)?;
            if layout.nodes[index].delay.replace(*node.delay).is_some() {
                let message = format!("the node \"{}\" is listed twice", *node.name);
                return Err(node.name.fault(message).with_hint("list each node once"));
            }
        }
        Ok(())
    }

    fn buffer(&self) -> &Entry<Option<Capacity>> {
        &self.buffer
    }

    fn buffers(&self) -> Vec<Size<'_>> {
        let own = std::iter::once(&self.buffer).chain(self.link.iter().map(|link| &link.buffer));
        own.filter_map(size).collect()
    }

    fn routing(&self) -> Routing {
        *self.routing
    }

    fn credits(&self) -> Vec<&Entry<Option<LineCredits>>> {
        self.link.iter().map(|link| &link.credits).filter(|credits| credits.is_some()).collect()
    }
}

impl Link {
    /// Adds its links.
    fn build(&self, layout: &mut Layout, buffer: Option<Capacity>, bounds: &Bounds<'_>) -> Result<(), Fault> {
        let [a, b] = &**self.ends else {
            let message = format!("a link has two ends, found {}", self.ends.len());
            return Err(self.ends.fault(message).with_hint("for instance ends = [\"h0\", \"sw0\"]"));
        };
        let names = |text| names::expand(text, bounds.most(NODES)).map_err(|e| self.ends.excess(e));
        let find = |name: &String| find(layout, &self.ends, name);
        let from: Vec<usize> = names(a)?.iter().map(find).collect::<Result<_, _>>()?;
        let to: Vec<usize> = names(b)?.iter().map(find).collect::<Result<_, _>>()?;
        let most = if *self.join == Joined::Each { from.len() * to.len() } else { from.len() };
        let links = (layout.ports.len() / 2) as u64 + most as u64 * *self.parallel;
        bounds.check(LINKS, links, "smaller ranges").map_err(|e| self.ends.excess(e))?;
        let pairs = self.pairs(&from, &to)?;
        let rates = match &*self.rate {
            Either::First(rate) => [*rate; 2],
            Either::Second(rates) => [*rates.up, *rates.down],
        };
        let propagation = match (&*self.delay, *self.cable) {
            (Either::First(Propagation::NONE), Some(length)) => [Propagation::Cable(length); 2],
            (_, Some(_)) => {
                let message = "a link has a delay, or a cable from whose length it follows";
                return Err(self.cable.fault(message).with_hint("leave one of them out"));
            }
            (Either::First(both), None) => [*both; 2],
            (Either::Second(delays), None) => [*delays.up, *delays.down],
        };
        let buffer = self.buffer.or(buffer);
        let lines = [0, 1].map(|way| layout.line(rates[way], propagation[way], buffer));
        let first = layout.ports.len();
        for (from, to) in pairs {
            if from == to {
                let message = format!("both ends are \"{}\"", layout.nodes[from].name);
                return Err(self.ends.fault(message).with_hint("a link joins two different nodes"));
            }
            let joined = layout.nodes[from].ports.iter().any(|port| layout.ports[*port].peer == to);
            if joined || !layout.links(from, to, lines, *self.parallel as u16) {
                let [from, to] = [from, to].map(|node| &layout.nodes[node].name);
                let message = format!("two links join \"{from}\" and \"{to}\"");
                let hint = "links are bidirectional; for parallel ones write parallel = 2 in one table";
                return Err(self.ends.fault(message).with_hint(hint));
            }
        }
        if self.credits.is_some() {
            layout.credited.push(first..layout.ports.len());
        }
        Ok(())
    }

    /// The pairs of nodes that it joins.
    fn pairs(&self, from: &[usize], to: &[usize]) -> Result<Vec<(usize, usize)>, Fault> {
        let (n, m) = (from.len(), to.len());
        if *self.join == Joined::Each {
            // Within a range each pair once.
            let others = |i: usize| if n > 1 && from == to { &to[i + 1..] } else { to };
            return Ok((0..n).flat_map(|i| others(i).iter().map(move |peer| (from[i], *peer))).collect());
        }
        if !n.is_multiple_of(m) {
            let message = format!("{n} nodes are no blocks of equal size for {m}");
            let hint = format!("the first range has {m} nodes, or a multiple of it");
            return Err(self.ends.fault(message).with_hint(hint));
        }
        let other = |i: usize| if *self.join == Joined::Blocks { i / (n / m) } else { i % m };
        Ok(from.iter().enumerate().map(|(i, node)| (*node, to[other(i)])).collect())
    }
}

/// The node called `name`, as `key` says.
fn find(layout: &Layout, key: &dyn Blame, name: &str) -> Result<usize, Fault> {
    let missing = || key.blame(format!("there is no node \"{name}\"")).with_hint(layout.suggest_node(name));
    layout.node(name).ok_or_else(missing)
}
