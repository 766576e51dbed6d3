//! The keys of `[pfc]`.

use std::ops::RangeInclusive;

use penstock_schemes::{Duration, Octets};
use penstock_sim::network::LARGEST_QUEUE;

use crate::keys::declare::{section, words};
use crate::keys::fields::{Counts, Either, List};
use crate::keys::ranges::{SPAN, TIME};

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
    /// Priority flow control (802.1Qbb). A switch counts the octets that it holds for each ingress link and each lossless priority,
    /// and pauses the far end of the link before the buffer is full. An empty table, `[pfc]`, is enough; without the table there is
    /// no flow control.
    pub(crate) struct Pfc {
        /// The lossless priorities. Switches may have some that no flow uses; headroom is reserved for them, too.
        priorities: Option<Counts> [0..=7] => "all that flows have";
        /// The ports that the switch at the other end of their link may pause: all, or those listed.
        ports: Either<AllPorts, List> = Either::First(AllPorts::All);
        /// Ingress buffer of a switch, for each ingress link and each priority.
        buffer: Option<Octets> [SOME_ROOM] => "as much as the switch's output queue of the same link has";
        /// The part of the buffer above xoff, for frames that still arrive after a neighbour has been paused. "auto": computed
        /// from rates, delays, response and mtu of the link, whatever traffic it has. Or a size, which may be too small on purpose. The
        /// resolved scenario has the octets.
        headroom: Either<Computed, Octets> [((), ROOM)] = Either::First(Computed::Auto);
        /// Octets in the buffer from which on the neighbour is paused.
        xoff: Option<Octets> [SOME_ROOM] => "the buffer without its headroom";
        /// Octets in the buffer at or below which the neighbour may resume.
        xon: Option<Octets> [ROOM] => "two of the largest frames below xoff, or 0";
        /// Length of a pause, in quanta of 512 bit times of the paused port. The pause frame is sent again after half of that.
        quanta: u16 [1..=65_535] = 65_535;
        /// The longest frame of a link, with FCS and tags. Headroom is computed for such frames, whether or not a flow sends them.
        mtu: Option<Octets> [Octets(64)..=Octets(LONGEST_MTU)] => "the longest frame of any flow";
        /// Time from the arrival of a pause frame until the port starts no more frames of the priority; headroom includes it.
        response: Option<Duration> [TIME] => "the quanta that 802.3 (31B.3.7) allows a port of its speed: 67 at 10 Gb/s, 80 at 25, 394 at 100, 453 at 200, 905 at 400";
        watchdog: Option<Watchdog> => "none: a queue that is stopped waits for as long as it takes";
        link: Vec<PfcLink> = Vec::new();
    }
}

words! {
    pub(crate) enum WatchdogAction { Drop = "drop", Forward = "forward", Alert = "alert" }
}

section! {
    /// The watchdog of priority flow control at the ports of switches. A queue that has been paused continuously for too long ignores pause frames
    /// until none has arrived for a while. So a deadlock ends, and a storm pauses the queue once. Frames may be lost then. (SONiC, table
    /// PFC_WD: detection_time, restoration_time and action of each port, POLL_INTERVAL of all.)
    pub(crate) struct Watchdog {
        /// The ports of switches with these settings: all, or those listed, as in ["leaf0->h3"]. Others have the settings of
        /// [[pfc.watchdog.port]], or no watchdog.
        ports: Either<AllPorts, List> = Either::First(AllPorts::All);
        /// Detection time: how long a queue is paused before the watchdog acts.
        after: Duration [SPAN] = Duration::from_ms(200);
        /// "drop": the queue drops its frames and those that arrive meanwhile. "forward": it sends them. "alert": it stays paused, and the storm is
        /// only counted.
        action: WatchdogAction = WatchdogAction::Drop;
        /// Restoration time: the queue obeys pause frames again after this time without one. Pauses are refreshed after half of pfc.quanta; with
        /// less than that here, a storm pauses the queue again and again.
        restoration: Duration [SPAN] = Duration::from_ms(200);
        /// Polling interval of the watchdog: both times begin and end at a poll. SONiC polls every 100 ms or 200 ms. "0 s": no polling, both
        /// times are exact.
        poll: Duration [TIME] = Duration::ZERO;
        port: Vec<WatchdogPort> = Vec::new();
    }
}

section! {
    /// The watchdog of single ports, as a row of SONiC's table PFC_WD.
    pub(crate) struct WatchdogPort {
        /// The ports of switches, as in ["leaf0->h3"].
        ports: List;
        /// Detection time.
        after: Option<Duration> [SPAN] => "that of [pfc.watchdog]";
        /// What happens to the queue meanwhile.
        action: Option<WatchdogAction> => "that of [pfc.watchdog]";
        /// Restoration time.
        restoration: Option<Duration> [SPAN] => "that of [pfc.watchdog]";
    }
}

section! {
    /// Settings of single links. The resolved scenario has the computed values here, if links differ.
    pub(crate) struct PfcLink {
        /// The ports that are paused, as in ["h0->sw0"].
        ports: List;
        /// Ingress buffer at the far end of these links.
        buffer: Option<Octets> [SOME_ROOM] => "that of [pfc]";
        /// The part of the buffer above xoff.
        headroom: Option<Octets> [ROOM] => "that of [pfc]";
        /// Time from the arrival of a pause frame at these ports until they start no more frames.
        response: Option<Duration> [TIME] => "that of [pfc]";
        /// Octets in the buffer from which on the neighbour is paused.
        xoff: Option<Octets> [SOME_ROOM] => "the buffer without its headroom";
        /// Octets in the buffer at or below which the neighbour may resume.
        xon: Option<Octets> [ROOM] => "two of the largest frames below xoff, or 0";
    }
}
