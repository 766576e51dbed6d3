//! Any graph: nodes and links as listed.

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Capacity, NodeKind};

use super::{BUFFER, Layout, Line, ROUTING, Routing, Shape, Size};
use crate::error::Fault;
use crate::keys::declare::section;
use crate::keys::fields::{Either, List, Names};
use crate::keys::ranges::{RATE, TIME};
use crate::keys::read::Blame;
use crate::limits::{Bounds, FLOWS, NODES};
use crate::names;

section! {
    /// Nodes and links as listed.
    pub(crate) struct Graph {
        /// The hosts: a range such as "h0..h7", or a list of names and ranges.
        hosts: Names;
        /// The switches, likewise.
        switches: Names;
        #[doc = BUFFER]
        buffer: Capacity;
        #[doc = ROUTING]
        routing: Routing = Routing::Ecmp;
        link: Vec<Link>;
        node: Vec<Special> = Vec::new();
    }
}

section! {
    /// A bidirectional link between two nodes.
    pub(crate) struct Link {
        /// The two nodes that it joins.
        ends: List;
        /// Its rate in each direction, or one for each, as in { up = "10 Gbps", down = "40 Gbps" }.
        rate: Either<BitRate, Rates> [(RATE, ())];
        /// Its propagation delay in each direction, or one for each, as in { up = "1 us", down = "3 us" }.
        delay: Either<Duration, Delays> [(TIME, ())] = Either::First(Duration::ZERO);
        /// Size of the output queues of switches at its ends.
        buffer: Option<Capacity> => "the graph's buffer";
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
        up: Duration [TIME];
        /// From the second to the first.
        down: Duration [TIME];
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
            let [a, b] = &**link.ends else {
                let message = format!("a link has two ends, found {}", link.ends.len());
                return Err(link.ends.fault(message).with_hint("for instance ends = [\"h0\", \"sw0\"]"));
            };
            let (from, to) = (find(layout, &link.ends, a)?, find(layout, &link.ends, b)?);
            if from == to {
                let hint = "a link joins two different nodes";
                return Err(link.ends.fault(format!("both ends are \"{a}\"")).with_hint(hint));
            }
            let buffer = link.buffer.unwrap_or(*self.buffer);
            let rates = match &*link.rate {
                Either::First(rate) => [*rate; 2],
                Either::Second(rates) => [*rates.up, *rates.down],
            };
            let delays = match &*link.delay {
                Either::First(delay) => [*delay; 2],
                Either::Second(delays) => [*delays.up, *delays.down],
            };
            let [up, down] = [0, 1].map(|way| Line { rate: rates[way], delay: delays[way], buffer });
            if !layout.link_by_direction(from, to, [up, down]) {
                let message = format!("two links join \"{a}\" and \"{b}\"");
                return Err(link.ends.fault(message).with_hint("one link between two nodes; it is bidirectional"));
            }
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

    fn buffers(&self) -> Vec<Size<'_>> {
        let mut buffers: Vec<Size<'_>> = vec![(*self.buffer, &self.buffer)];
        for link in self.link.iter() {
            buffers.extend(link.buffer.map(|size| -> Size<'_> { (size, &link.buffer) }));
        }
        buffers
    }

    fn routing(&self) -> Routing {
        *self.routing
    }
}

/// The node called `name`, as `key` says.
fn find(layout: &Layout, key: &dyn Blame, name: &str) -> Result<usize, Fault> {
    let missing = || key.blame(format!("there is no node \"{name}\"")).with_hint(layout.suggest_node(name));
    layout.node(name).ok_or_else(missing)
}
