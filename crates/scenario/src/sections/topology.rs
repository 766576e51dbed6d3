//! The keys of `[topology]`.

use super::{Section, key, optional, rate, required, section, time};
use crate::keys::Kind;

/// The words of a topology's `routing`.
const ROUTING: &[&str] = &["ecmp", "d-mod-k"];

const BUFFER: &str = "Size of each output queue of a switch, per priority. With priority flow control, frames of a lossless \
    priority are held against the ingress buffers instead (pfc.buffer, by default of this size), and output queues have no \
    bound of their own for them.";
const LINK_RATE: &str = "Rate of every link.";
const LINK_DELAY: &str = "Propagation delay of every link, one way.";
const ROUTES: &str = "Which of several shortest paths (by hops) a flow takes: \"ecmp\" by a hash of the flow's and the \
    switch's names, the same in every run; \"d-mod-k\" by the number of the destination (at the i-th choice from the \
    source, up-port floor(d / k^i) mod k), so that a shift permutation never puts two flows on one link.";

pub(super) fn topology() -> Section {
    let kinds =
        [("star", star()), ("dumbbell", dumbbell()), ("parking-lot", parking_lot()), ("leaf-spine", leaf_spine())];
    let kinds = kinds.into_iter().chain([("fat-tree", fat_tree()), ("graph", graph())]);
    let keys = kinds.map(|(name, keys)| optional(name, Kind::Table(keys), "another topology", "")).collect();
    section("Nodes and links: exactly one of the tables below. A port is called after its ends, `sw0->h8`.", keys)
}

fn star() -> Section {
    section(
        "Hosts h0, h1, … around one switch, sw0.",
        vec![
            required("hosts", Kind::Count(2, 8192), "Number of hosts."),
            required("link_rate", rate(), LINK_RATE),
            key("link_delay", time(0), "0 s", LINK_DELAY),
            required("buffer", Kind::Capacity, BUFFER),
        ],
    )
}

fn dumbbell() -> Section {
    section(
        "Sources h0, h1, … at switch sw0, receivers (numbered on) at switch sw1, one link between the switches.",
        vec![
            required("sources", Kind::Count(1, 4096), "Number of hosts at sw0."),
            key("receivers", Kind::Count(1, 4096), "1", "Number of hosts at sw1."),
            required("link_rate", rate(), "Rate of the links of the hosts."),
            required("bottleneck_rate", rate(), "Rate of the link between the switches."),
            key("link_delay", time(0), "0 s", "Propagation delay of the links of the hosts, one way."),
            key("bottleneck_delay", time(0), "0 s", "Propagation delay of the link between the switches, one way."),
            required("buffer", Kind::Capacity, BUFFER),
        ],
    )
}

fn parking_lot() -> Section {
    section(
        "A row of switches sw0, sw1, … with hosts at each: h0 and the next ones at sw0, then those of sw1, and so on.",
        vec![
            required("switches", Kind::Count(2, 1024), "Number of switches."),
            key("hosts_per_switch", Kind::Count(1, 1024), "2", "Number of hosts at each switch."),
            required("link_rate", rate(), "Rate of the links of the hosts."),
            required("trunk_rate", rate(), "Rate of the links between switches."),
            key("link_delay", time(0), "0 s", "Propagation delay of the links of the hosts, one way."),
            key("trunk_delay", time(0), "0 s", "Propagation delay of the links between switches, one way."),
            required("buffer", Kind::Capacity, BUFFER),
        ],
    )
}

fn leaf_spine() -> Section {
    section(
        "Switches leaf0, leaf1, …, each with a link to every one of spine0, spine1, …; hosts h0, h1, … leaf by leaf.",
        vec![
            required("leaves", Kind::Count(1, 1024), "Number of leaf switches."),
            required("spines", Kind::Count(1, 1024), "Number of spine switches."),
            required("hosts_per_leaf", Kind::Count(1, 1024), "Number of hosts at each leaf."),
            required("host_rate", rate(), "Rate of the links between hosts and leaves."),
            required("fabric_rate", rate(), "Rate of the links between leaves and spines."),
            key("link_delay", time(0), "0 s", LINK_DELAY),
            required("buffer", Kind::Capacity, BUFFER),
            key("routing", Kind::Word(ROUTING), "ecmp", ROUTES),
        ],
    )
}

fn fat_tree() -> Section {
    section(
        "The k-ary fat tree: k pods of k/2 edge and k/2 aggregation switches (edge0, agg0, …, pod by pod), (k/2)² core \
         switches (core0, …), k³/4 hosts (h0, …, edge by edge).",
        vec![
            required("k", Kind::Count(2, 32), "Ports of a switch; even."),
            required("link_rate", rate(), LINK_RATE),
            key("link_delay", time(0), "0 s", LINK_DELAY),
            required("buffer", Kind::Capacity, BUFFER),
            key("routing", Kind::Word(ROUTING), "ecmp", ROUTES),
        ],
    )
}

fn graph() -> Section {
    let link = section(
        "A link between two nodes, both ways.",
        vec![
            required("ends", Kind::List, "The two nodes that it joins."),
            required("rate", rate(), "Its rate, each way."),
            key("delay", time(0), "0 s", "Its propagation delay, one way."),
            optional(
                "buffer",
                Kind::Capacity,
                "the graph's buffer",
                "Size of the output queues of switches at its ends.",
            ),
        ],
    );
    let node = section(
        "What is special about a node.",
        vec![
            required("name", Kind::Text, "The node's name."),
            required("delay", time(0), "Time that a frame takes through this node, instead of network.node_delay."),
        ],
    );
    section(
        "Nodes and links as listed.",
        vec![
            required("hosts", Kind::Names, "The hosts: a range such as \"h0..h7\", or a list of names and ranges."),
            required("switches", Kind::Names, "The switches, likewise."),
            required("buffer", Kind::Capacity, BUFFER),
            key("routing", Kind::Word(ROUTING), "ecmp", ROUTES),
            required("link", Kind::Tables(link), ""),
            key("node", Kind::Tables(node), "[]", ""),
        ],
    )
}
