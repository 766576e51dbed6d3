//! The keys of `[pfc]`.

use penstock_sim::network::LARGEST_QUEUE;

use super::{Section, key, optional, required, section, size, time};
use crate::keys::Kind;

/// Keys that `[pfc]` has for all links and `[[pfc.link]]` for some.
fn thresholds() -> [crate::keys::Key; 2] {
    [
        optional(
            "xoff",
            size(1, LARGEST_QUEUE.0),
            "the buffer without its head-room",
            "From so many octets in the buffer on, the neighbour is stopped.",
        ),
        optional(
            "xon",
            size(0, LARGEST_QUEUE.0),
            "two of the largest frames below xoff, or 0",
            "At so many octets or less, it may go on.",
        ),
    ]
}

fn link() -> Section {
    let keys = vec![
        required("ports", Kind::List, "The ports that are stopped, as in [\"h0->sw0\"]."),
        optional("buffer", size(1, LARGEST_QUEUE.0), "that of [pfc]", "Ingress buffer at the far end of these links."),
        optional("headroom", size(0, LARGEST_QUEUE.0), "that of [pfc]", "The part of the buffer above xoff."),
    ];
    section(
        "What is different at some links. The resolved scenario says here what was computed, where links differ.",
        keys.into_iter().chain(thresholds()).collect(),
    )
}

pub(super) fn pfc() -> Section {
    let [xoff, xon] = thresholds();
    section(
        "Priority flow control (802.1Qbb). A switch counts, for each link by which frames come in and each lossless \
         priority, the octets that it holds, and stops the far end of the link before their buffer is full. The table \
         alone, `[pfc]`, is enough; without it there is none.",
        vec![
            optional("priorities", Kind::Counts(0, 7), "all that flows have", "The lossless priorities."),
            key(
                "ports",
                Kind::Either(vec![Kind::Word(&["all"]), Kind::List]),
                "all",
                "Which ports can be stopped by the switch at the other end of their link: all, or those listed.",
            ),
            optional(
                "buffer",
                size(1, LARGEST_QUEUE.0),
                "as much as the switch's output queue of the same link has",
                "Ingress buffer of a switch, for each link by which frames come in and each priority.",
            ),
            key(
                "headroom",
                Kind::Either(vec![Kind::Word(&["auto"]), size(0, LARGEST_QUEUE.0)]),
                "auto",
                "The part of the buffer above xoff, for what still comes after a neighbour has been stopped: computed \
                 from rates, delays and frames of the link (those that the scenario's flows send, whatever the MTU), or \
                 a size, which may be too small on purpose. The resolved scenario says the octets.",
            ),
            xoff,
            xon,
            key(
                "quanta",
                Kind::Count(1, 65_535),
                "65535",
                "How long a pause frame stops a port, in 512 bit times of the port. It is sent again at half of that.",
            ),
            key(
                "response",
                time(0),
                "0 s",
                "From the arrival of a pause frame until the port starts no more frames of the priority. Real ports take \
                 some time; at 0 s head-rooms leave nothing for it.",
            ),
            key("link", Kind::Tables(link()), "[]", ""),
        ],
    )
}
