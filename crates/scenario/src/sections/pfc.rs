//! The keys of `[pfc]`.

use penstock_sim::network::LARGEST_QUEUE;

use super::{Section, key, optional, section, size, time};
use crate::keys::Kind;

pub(super) fn pfc() -> Section {
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
                 from rates, delays and frames of the link, or a size, which may be too small on purpose.",
            ),
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
                "From the arrival of a pause frame until the port starts no more frames of the priority.",
            ),
        ],
    )
}
