//! The keys of `[[host]]` and `[[event]]`: hosts that pause their switch.

use std::ops::RangeInclusive;

use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::LARGEST_QUEUE;

use crate::keys::declare::{section, words};
use crate::keys::fields::{Counts, Either, Names};
use crate::keys::ranges::{RATE, SPAN, TIME};

const ROOM: RangeInclusive<Octets> = Octets(0)..=LARGEST_QUEUE;
const SOME_ROOM: RangeInclusive<Octets> = Octets(1)..=LARGEST_QUEUE;

words! {
    pub(crate) enum AllHosts { All = "all" }
}

section! {
    /// Hosts whose network interface processes received frames slowly (a slow receiver: PCIe, cache misses, a busy CPU). Frames wait in its receive
    /// buffer, first come, first served, and reach the transport or the scheme from there. With priority flow control the interface pauses its
    /// switch at the thresholds; frames for which the buffer has no room are dropped. All other hosts process frames at once.
    pub(crate) struct Host {
        /// The hosts: all, names, or ranges of names, as in "h0..h3".
        names: Either<Names, AllHosts>;
        /// The rate at which frames leave the receive buffer, without wire overhead.
        drain_rate: BitRate [RATE];
        /// Size of the receive buffer, for each link and priority.
        buffer: Octets [SOME_ROOM];
        /// Octets in the buffer from which on the switch is paused.
        xoff: Option<Octets> [SOME_ROOM] => "half of the buffer";
        /// Octets in the buffer at or below which the switch may resume.
        xon: Option<Octets> [ROOM] => "half of xoff";
    }
}

words! {
    pub(crate) enum EventKind { PfcStorm = "pfc-storm" }
}

section! {
    /// Something that happens to a host. "pfc-storm": its network interface pauses the switch, whatever it receives, as a stuck
    /// interface does; at the end it sends a resume frame. It needs [pfc].
    pub(crate) struct Event {
        /// The kind of the event.
        kind: EventKind;
        /// The host. All of its links take part.
        host: String;
        /// The priorities that are paused.
        priorities: Option<Counts> [0..=7] => "all lossless ones";
        /// When it begins.
        from: Duration [TIME];
        /// When it ends.
        until: Option<Duration> [SPAN] => "it lasts to the end of the run";
        /// Time between pause frames, if that is less than half of the pause time (pfc.quanta), after which they are repeated anyway.
        interval: Option<Duration> [SPAN] => "half of the pause time";
    }
}
