//! The keys of `[[flow]]` and `[[group]]`.

use super::{Section, key, optional, rate, required, section, size, time};
use crate::keys::Kind;

pub(super) fn flow() -> Section {
    let queue = section(
        "",
        vec![required("queue", size(1, 1 << 40), "Octets that may wait at the source; more is discarded.")],
    );
    section(
        "Traffic. A table stands for one flow, or for several: from many to one, from one to many, or pairwise.",
        vec![
            optional(
                "name",
                Kind::Text,
                "f0, f1, … in the order of the file",
                "Name of the flow. For several: a range such as \"a0..a7\", or a name that gets numbers.",
            ),
            required("from", Kind::Names, "The sending hosts: a name, a range such as \"h0..h7\", or a list of these."),
            required(
                "to",
                Kind::Names,
                "The receiving hosts, likewise, or groups: a flow to a group has all members as destinations.",
            ),
            key(
                "traffic",
                Kind::Word(&["greedy", "constant", "poisson", "on-off"]),
                "greedy",
                "How frames come about: there is always one more; at even distances; at random with exponential \
                 distances; in turns of sending at even distances and of silence.",
            ),
            optional(
                "rate",
                rate(),
                "greedy flows have none",
                "Rate of the frames (of on-off: while on), wire overhead included.",
            ),
            optional("on", time(1), "only for on-off", "Length of a turn of sending, or its mean."),
            optional("off", time(0), "only for on-off", "Length of a turn of silence, or its mean."),
            key("random", Kind::Switch, "false", "Lengths of turns are exponentially distributed (on-off)."),
            optional(
                "size",
                Kind::Either(vec![flow_size(), Kind::Table(distribution())]),
                "no end",
                "Octets to send in all; the last frame may be shorter. A size, or a distribution from which each flow \
                 draws its own (by the seed and the flow's name): { uniform = { minimum = \"10 KB\", maximum = \"1 MB\" } }; \
                 { exponential = { mean = \"1 MB\" } }; the bounded Pareto distribution { pareto = { shape = 1.2, \
                 minimum = \"1 KB\", maximum = \"1 GB\" } }; or measured points { points = [{ size = \"10 KB\", \
                 share = 0.5 }, { size = \"1 MB\", share = 1.0 }] }, where share is that of the flows that are no larger, \
                 with straight lines between the points and none smaller than the first.",
            ),
            key("frame", size(64, 16_384), "1500 octets", "Length of a frame, with FCS, without wire overhead."),
            key(
                "start",
                Kind::Either(vec![time(0), Kind::Table(start())]),
                "0 s",
                "When the flow begins: a time, or { uniform = { minimum = \"0 s\", maximum = \"1 ms\" } }, from which each \
                 flow draws its own (by the seed and the flow's name).",
            ),
            optional("stop", time(1), "the end of the run", "When the flow ends at the latest."),
            key("stagger", time(0), "0 s", "Each flow of the table begins so much later than the one before it."),
            key(
                "repeat",
                Kind::Count(1, 100_000),
                "1",
                "The table stands for so many rounds of its flows, each flow of each round with a name of its own.",
            ),
            optional("every", time(1), "only with repeat", "Each round begins so much later than the one before it."),
            key(
                "excess",
                Kind::Either(vec![Kind::Word(&["hold", "discard"]), Kind::Table(queue)]),
                "hold",
                "What becomes of frames above the allowed rate: the generator waits; they are discarded at the source; \
                 or they wait in a source queue, as in { queue = \"64 KB\" }.",
            ),
            key("controlled", Kind::Switch, "true", "Whether the scheme limits the flow."),
            key("priority", Kind::Count(0, 7), "0", "Priority of its frames, 0 to 7; higher is served first."),
            key("weight", Kind::Count(1, 65_535), "1", "Weight, for schemes that know weights."),
            optional(
                "path",
                Kind::List,
                "a shortest path",
                "The nodes from source to destination (for a single flow, to a host).",
            ),
        ],
    )
}

/// The size of a flow.
fn flow_size() -> Kind {
    size(1, 1 << 50)
}

/// A start that is drawn.
fn start() -> Section {
    let bounds =
        vec![required("minimum", time(0), "The earliest start."), required("maximum", time(1), "The latest start.")];
    section("", vec![required("uniform", Kind::Table(section("", bounds)), "All times alike.")])
}

fn distribution() -> Section {
    let bounds =
        || [required("minimum", flow_size(), "The smallest size."), required("maximum", flow_size(), "The largest.")];
    let shape = required("shape", Kind::Real(0.01, 100.0), "The exponent of the tail.");
    let point = vec![
        required("size", flow_size(), "A size."),
        required("share", Kind::Real(0.0, 1.0), "The share of flows that are no larger."),
    ];
    let no = "another distribution";
    section(
        "",
        vec![
            optional("uniform", Kind::Table(section("", bounds().into())), no, ""),
            optional("exponential", Kind::Table(section("", vec![required("mean", flow_size(), "The mean.")])), no, ""),
            optional("pareto", Kind::Table(section("", [shape].into_iter().chain(bounds()).collect())), no, ""),
            optional("points", Kind::Tables(section("", point)), no, ""),
        ],
    )
}

pub(super) fn group() -> Section {
    section(
        "A multicast group. A flow to it sends each frame once; switches copy it where the ways to the members part.",
        vec![
            required("name", Kind::Text, "The group's name, for the key to of flows."),
            required("members", Kind::Names, "Its hosts: a name, a range such as \"h6..h7\", or a list of these."),
            optional(
                "links",
                Kind::List,
                "for each source a tree of shortest paths, the ways to the members together as far as they can be",
                "The links of its tree, as in [\"sw0->sw1\", \"sw1->h6\", \"sw1->h7\"]: from one root to each member. A \
                 source other than the root reaches it by a shortest path.",
            ),
        ],
    )
}
