//! The headroom of priority flow control (802.1Qbb): how much still arrives after a neighbour was signalled to stop.

use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, Duration, Octets};

/// Length of a PFC frame with FCS: addresses and type, opcode, enable vector, eight times, and padding up to the least frame
/// (802.3 annex 31D).
pub const FRAME: u16 = 64;

/// Octets of the shortest frame with FCS (802.3 clause 4.4.2, minFrameSize).
const LEAST_FRAME: u64 = 64;

/// Bit times of a quantum of pause time (802.3 31B.2).
pub const QUANTUM_BITS: u64 = 512;

/// The longest response of a port to a pause frame, in quanta, by its speed in bit/s (802.3 31B.3.7; the table of SONiC's
/// `cfgmgr/buffer_headroom_mellanox.lua`).
const RESPONSES: [(u64, u64); 10] = [
    (100_000_000, 1),
    (1_000_000_000, 2),
    (10_000_000_000, 67),
    (25_000_000_000, 80),
    (40_000_000_000, 118),
    (50_000_000_000, 147),
    (100_000_000_000, 394),
    (200_000_000_000, 453),
    (400_000_000_000, 905),
    (800_000_000_000, 905),
];

/// The time that 802.3 gives a port of this rate from the arrival of a pause frame until it starts no more frames: the quanta of its speed.
/// A rate between two speeds has the time of the nearer one, by their ratio, so that a clock within its tolerance changes nothing. One that
/// is slower or faster than all has that of the slowest or the fastest.
#[must_use]
pub fn standard_response(rate: BitRate) -> Duration {
    let ratio =
        |speed: u64| u128::from(speed.max(rate.0)) * u128::from(PS_PER_S) / u128::from(speed.min(rate.0).max(1));
    let (speed, quanta) = RESPONSES.into_iter().min_by_key(|&(speed, _)| ratio(speed)).expect("the table has entries");
    Duration(quanta * QUANTUM_BITS * (PS_PER_S / 1_000_000) / (speed / 1_000_000))
}

/// No signal of a scheme is longer, in a network with flow control.
pub const LARGEST_SIGNAL: u16 = 256;

/// The quantities that decide how much can arrive over a line after its far end has said stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Rate of the line that brings the data: the highest that it ever has.
    pub rate: BitRate,
    /// From the end of a frame's transmission on it until the far end acts: propagation, and that node's delay.
    pub latency: Duration,
    /// Longest frame of the lossless priority that it may bring, octets with FCS.
    pub largest: u16,
    /// Rate of the line back, over which pause frames go: the lowest that it ever has.
    pub back_rate: BitRate,
    /// The same as `latency` for the line back.
    pub back_latency: Duration,
    /// Longest frame of any priority that the line back may carry, octets with FCS.
    pub back_largest: u16,
    /// See [`Pfc::responses`](crate::config::Pfc::responses).
    pub response: Duration,
    /// Octets of each frame on the line beyond its own length.
    pub wire_overhead: u16,
    /// The most output queues that one frame joins at the far end: 1 without multicast.
    pub copies: u16,
}

impl Reach {
    /// The longest time that a PFC frame waits for the line back: one frame has just started.
    fn wait(&self) -> Duration {
        self.back_time(self.back_largest.max(FRAME))
    }

    /// The longest time that a frame of `octets` takes on the line back, in whole picoseconds.
    fn back_time(&self, octets: u16) -> Duration {
        let (time, rest) = self.back_rate.serialisation(u64::from(octets) + u64::from(self.wire_overhead));
        Duration(time.0 + u64::from(rest > 0))
    }

    /// Octets of the line, wire overhead included, of the frames between the one that brings the counter to `xoff` and the last one. That has
    /// to begin before the near end stops.
    ///
    /// The pause frame waits for one that has begun before it. So a frame comes too late if it would begin in the very instant of the longest
    /// stop: strictly fewer octets than the time has.
    fn on_line(&self) -> u128 {
        let octet = 8 * u128::from(PS_PER_S);
        let time = self.latency.0 + self.wait().0 + self.back_time(FRAME).0 + self.back_latency.0 + self.response.0;
        // Where octets do not take whole picoseconds, the near end's clock may run ahead of its rate by one of them.
        let ahead = u64::from(!octet.is_multiple_of(self.rate.0.max(1).into()));
        (u128::from(time + ahead) * u128::from(self.rate.0)).saturating_sub(1) / octet
    }

    /// The least pause time, in quanta, with which a stop never runs out before its refresh arrives; `None` if 65 535 quanta
    /// are too few.
    ///
    /// A pause frame goes again half its time after its last start. It may then wait for one frame, so half of the time has
    /// to be longer than that wait; and no stop begins within the response time.
    #[must_use]
    pub fn least_quanta(&self) -> Option<u16> {
        let time = (2 * self.wait().0).max(self.response.0);
        let quanta = u128::from(time) * u128::from(self.rate.0) / u128::from(PS_PER_S * QUANTUM_BITS) + 1;
        u16::try_from(quanta).ok()
    }
}

/// The octets by which an ingress counter can rise above `xoff`. A buffer of `xoff` + headroom loses no frame, as long as
/// the pause time is not below [`Reach::least_quanta`] and the line back is whole.
///
/// ```text
///   the counter reaches xoff:  a frame ends on the line          -latency
///                              it arrives and the counter is xoff    0      overshoot
///                              the line back is free                 wait
///                              the PFC frame has left                + its time
///                              it takes effect                       + back_latency + response  = stop
///                              the frame begun at stop has left      + its time
/// ```
///
/// 1. *Overshoot.* Below `xoff` one octet was missing; the frame that brings it has up to `largest` octets:
///    `largest - 1` above `xoff`.
/// 2. *On the line.* The frame that brought the counter to `xoff` had left the line's near end `latency` before. From then to
///    `stop` the near end sends at `rate`: in all fewer than `rate` × (`latency` + wait + PFC frame's time + `back_latency` +
///    `response`) octets, wire overhead included, whole ones. The wait is that for one frame of `back_largest` octets, for only the frame
///    in transmission precedes a PFC frame. The messages of other priorities share the same PFC frame, and one that is in
///    transmission is not longer than `back_largest`.
/// 3. *The last frame* may begin just before `stop`: `largest` more.
/// 4. Wire overhead takes time and no room. Of term 2, every `largest` + `wire_overhead` octets of the line bring at most
///    `largest` octets into the buffer, and a shorter frame at the end of it its length.
/// 5. Each copy of a multicast frame counts: all of it is multiplied by `copies` (and 1 is taken away after that).
///
/// (802.1Qbb's informative annex on buffer requirements has the same terms: cable both ways, delays of interfaces and layers,
/// a frame each way, the PFC frame.)
#[must_use]
pub fn headroom(reach: &Reach) -> Octets {
    let whole = u128::from(reach.largest) + u128::from(reach.wire_overhead);
    let on_line = reach.on_line();
    let (frames, rest) = (on_line / whole, on_line % whole);
    let sent = frames * u128::from(reach.largest) + rest.saturating_sub(reach.wire_overhead.into());
    let octets = u128::from(reach.copies) * (sent + 2 * u128::from(reach.largest)) - 1;
    // Where it is more than any number, no buffer has it.
    Octets(octets.try_into().unwrap_or(u64::MAX))
}

/// The memory that a pool of cells needs above its threshold for the frames that still come: that of [`headroom`] where each frame takes whole cells of
/// `cell` octets.
///
/// The first and the last frame of its terms have `largest` octets, and take whole cells each. (A pool takes the frame that crosses the
/// threshold from the headroom as a whole; a buffer of octets lies partly below XOFF then, which is the octet less in [`headroom`].)
/// Between them the line brings the frames that take most cells for their time: [`most_cells`].
#[must_use]
pub fn headroom_in_cells(reach: &Reach, cell: u16) -> Octets {
    let overhead = reach.wire_overhead;
    if cell == 1 {
        return Octets(headroom(reach).0.saturating_add(1));
    }
    let ends = 2 * u128::from(reach.largest.div_ceil(cell));
    let cells = most_cells(reach.on_line(), reach.largest, overhead, cell) + ends;
    let octets = u128::from(reach.copies) * cells * u128::from(cell);
    Octets(octets.try_into().unwrap_or(u64::MAX))
}

/// The most cells of `cell` octets, two or more, that frames of at most `largest` octets take which need no more than `wire` octets of the
/// line, `overhead` octets each included.
///
/// A frame is best one octet longer than whole cells, or has the least length of 802.3. If a cell is longer than the overhead and an
/// octet, the line brings most in short frames: of the `least` cells that the shortest frame takes, and of one more. An exchange
/// of some of one kind for the other changes the time by as much each time, so that a shortest mix has few of one kind.
fn most_cells(wire: u128, largest: u16, overhead: u16, cell: u16) -> u128 {
    let (overhead, cell) = (u128::from(overhead), u128::from(cell));
    if cell <= overhead + 1 {
        // Long frames are better, the shortest length aside, which only makes it less.
        let most = u128::from(largest).div_ceil(cell);
        let whole = (most - 1) * cell + 1 + overhead;
        let rest = wire % whole;
        return wire / whole * most + if rest > overhead { (rest - overhead - 1) / cell + 1 } else { 0 };
    }
    let shortest = u128::from(LEAST_FRAME) + overhead;
    let least = u128::from(LEAST_FRAME).div_ceil(cell);
    // The time on the line, in octets, of frames that take `cells`: `short` of the shortest ones, and longer ones for the rest.
    let time = |cells: u128, short: u128| {
        let rest = cells.checked_sub(short * least)?;
        let longer = rest / (least + 1);
        let fits = rest == 0 || longer > 0;
        fits.then(|| short * shortest + rest * cell - longer * (cell - 1 - overhead))
    };
    let least_time = |cells: u128| {
        let all = cells / least;
        let few = 0..=all.min(least + 1);
        let many = all.saturating_sub(least + 1)..=all;
        few.chain(many).filter_map(|short| time(cells, short)).min().unwrap_or(shortest)
    };
    // A cell takes an octet of the line or more, and fewer cells take no longer.
    let (mut fits, mut beyond) = (0, wire + 1);
    while beyond - fits > 1 {
        let middle = fits.midpoint(beyond);
        *(if least_time(middle) <= wire { &mut fits } else { &mut beyond }) = middle;
    }
    fits
}
