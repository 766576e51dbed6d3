//! The keys of `[pfc]`.

use std::ops::RangeInclusive;

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::LARGEST_QUEUE;

use super::{SPAN, TIME};
use crate::declare::{section, words};
use crate::fields::{Counts, Either, List};

const ROOM: RangeInclusive<Octets> = Octets(0)..=LARGEST_QUEUE;
const SOME_ROOM: RangeInclusive<Octets> = Octets(1)..=LARGEST_QUEUE;

/// The longest frame that headrooms may count with: the engine's lengths have 16 bits.
const LONGEST_MTU: u64 = 65_535;

words! {
    pub(crate) enum AllPorts { All = "all" }
}

words! {
    pub(crate) enum Computed { Auto = "auto" }
}

section! {
    /// Priority flow control (802.1Qbb). A switch counts, for each link by which frames come in and each lossless priority, the
    /// octets that it holds, and stops the far end of the link before their buffer is full. The table alone, `[pfc]`, is enough;
    /// without it there is none.
    pub(crate) struct Pfc {
        /// The lossless priorities. A switch can have some that no flow uses; headroom is reserved for them, too.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// Which ports can be stopped by the switch at the other end of their link: all, or those listed.
        ports: Either<AllPorts, List> = Either::First(AllPorts::All);
        /// Ingress buffer of a switch, for each link by which frames come in and each priority.
        buffer: Option<Octets> [SOME_ROOM] => "as much as the switch's output queue of the same link has";
        /// The part of the buffer above xoff, for frames that still come after a neighbour has been stopped: computed
        /// from rates, delays, response and mtu of the link, whoever sends over it, or a size, which may be too small on purpose. The
        /// resolved scenario says the octets.
        headroom: Either<Computed, Octets> [((), ROOM)] = Either::First(Computed::Auto);
        /// Octets in the buffer from which on the neighbour is paused.
        xoff: Option<Octets> [SOME_ROOM] => "the buffer without its headroom";
        /// Octets in the buffer at or below which the neighbour may resume.
        xon: Option<Octets> [ROOM] => "two of the largest frames below xoff, or 0";
        /// How long a pause frame stops a port, in 512 bit times of the port. It is sent again at half of that.
        quanta: u16 [1..=65_535] = 65_535;
        /// The longest frame that a line may carry, with FCS and tags: headrooms have room for such frames, whether or not a flow sends some.
        mtu: Option<Octets> [Octets(64)..=Octets(LONGEST_MTU)] => "the longest frame of any flow";
        /// From the arrival of a pause frame until the port starts no more frames of the priority; headrooms leave room for it.
        response: Option<Duration> [TIME] => "the quanta that 802.3 (31B.3.7) allows a port of its speed: 67 at 10 Gb/s, 80 at 25, 394 at 100, 453 at 200, 905 at 400";
        watchdog: Option<Watchdog> => "none: a queue that is stopped waits for as long as it takes";
        link: Vec<PfcLink> = Vec::new();
    }
}

words! {
    pub(crate) enum WatchdogAction { Drop = "drop", Forward = "forward", Alert = "alert" }
}

section! {
    /// The watchdog of flow control at the ports of switches: a queue that has been stopped without a break for too long ignores pause frames until
    /// none has come for a while, so that a deadlock ends, and a storm stops the queue once. Frames may be lost then. (SONiC: detection_time,
    /// restoration_time, POLL_INTERVAL.)
    pub(crate) struct Watchdog {
        /// How long a queue is stopped before the watchdog acts.
        after: Duration [SPAN] = Duration::from_ms(200);
        /// "drop": the queue drops the frames that it has and those that come meanwhile; "forward": it sends them; "alert": it stays stopped,
        /// and the storm is counted alone.
        action: WatchdogAction = WatchdogAction::Drop;
        /// How long no pause frame has come for the queue when it obeys again: each that comes begins this time again. Pauses that last are
        /// refreshed at half of pfc.quanta; with less than that here a storm stops the queue again and again.
        restoration: Duration [SPAN] = Duration::from_ms(200);
        /// Distance of the watchdog's looks at the queues: both times end at a look, and count from the first look behind their beginning.
        /// SONiC looks each 100 ms or 200 ms. At 0 s it sees everything at once.
        poll: Duration [TIME] = Duration::ZERO;
    }
}

section! {
    /// Settings of single links. The resolved scenario says here what was computed, where links differ.
    pub(crate) struct PfcLink {
        /// The ports that are stopped, as in ["h0->sw0"].
        ports: List;
        /// Ingress buffer at the far end of these links.
        buffer: Option<Octets> [SOME_ROOM] => "that of [pfc]";
        /// The part of the buffer above xoff.
        headroom: Option<Octets> [ROOM] => "that of [pfc]";
        /// From the arrival of a pause frame at these ports until they start no more frames.
        response: Option<Duration> [TIME] => "that of [pfc]";
        /// Octets in the buffer from which on the neighbour is paused.
        xoff: Option<Octets> [SOME_ROOM] => "the buffer without its headroom";
        /// Octets in the buffer at or below which the neighbour may resume.
        xon: Option<Octets> [ROOM] => "two of the largest frames below xoff, or 0";
    }
}
