//! The headroom of priority flow control (802.1Qbb): how much still arrives after a neighbour was told to stop.

use penstock_schemes::{BitRate, Duration, Octets, units::PS_PER_S};

use crate::network::{Crossed, Network, NodeKind, PortEvent, PortId};

/// Length of a PFC frame with FCS: addresses and type, opcode, enable vector, eight times, and padding up to the least frame
/// (802.3 annex 31D).
pub const FRAME: u16 = 64;

/// Bit times of a quantum of pause time (802.3 31B.2).
pub const QUANTUM_BITS: u64 = 512;

/// No signal of a scheme is longer, in a network with flow control.
pub const LARGEST_SIGNAL: u16 = 256;

/// The quantities that decide how much can arrive over a line after its far end has said stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Rate of the line that brings the data: the highest that it ever has.
    pub rate: BitRate,
    /// From the end of a frame's transmission on it until the far end acts: propagation, and that node's delay.
    pub latency: Duration,
    /// Longest frame of the lossless priority on it, octets with FCS.
    pub largest: u16,
    /// Rate of the line back, over which pause frames go: the lowest that it ever has.
    pub back_rate: BitRate,
    /// The same as `latency` for the line back.
    pub back_latency: Duration,
    /// Longest frame of any priority on the line back, octets with FCS.
    pub back_largest: u16,
    /// See [`Pfc::response`](crate::network::Pfc::response).
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
///    `stop` the near end sends at `rate`: in all `rate` × (`latency` + wait + PFC frame's time + `back_latency` +
///    `response`) octets, wire overhead included. The wait is that for one frame of `back_largest` octets, for only the
///    frame in transmission precedes a PFC frame; the messages of other priorities share the same PFC frame, and one that
///    is in transmission is not longer than `back_largest`.
/// 3. *The last frame* may begin at `stop`: `largest` more.
/// 4. Wire overhead takes time and no room: of term 2, every `largest` + `wire_overhead` octets of the line bring at most
///    `largest` octets into the buffer, and a shorter frame at the end of it its length.
/// 5. Each copy of a multicast frame counts: all of it is multiplied by `copies` (and 1 is taken away after that).
///
/// (802.1Qbb's informative annex on buffer requirements has the same terms: cable both ways, delays of interfaces and layers,
/// a frame each way, the PFC frame.)
#[must_use]
pub fn headroom(reach: &Reach) -> Octets {
    let whole = u128::from(reach.largest) + u128::from(reach.wire_overhead);
    // One picosecond more: the near end's clock of whole picoseconds may run ahead of its rate by that much.
    let time =
        reach.latency.0 + reach.wait().0 + reach.back_time(FRAME).0 + reach.back_latency.0 + reach.response.0 + 1;
    let bit_ps = u128::from(time) * u128::from(reach.rate.0);
    let on_line = bit_ps.div_ceil(8 * u128::from(PS_PER_S));
    let (frames, rest) = (on_line / whole, on_line % whole);
    let sent = frames * u128::from(reach.largest) + rest.saturating_sub(reach.wire_overhead.into());
    let octets = u128::from(reach.copies) * (sent + 2 * u128::from(reach.largest)) - 1;
    // Where it is more than any number, no buffer has it.
    Octets(octets.try_into().unwrap_or(u64::MAX))
}

/// The use that flows make of a port.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// The port of the opposite direction, if a flow crosses this one either way.
    back: Option<PortId>,
    /// Longest frame of any flow, octets.
    largest: u16,
    /// Longest frame of the flows of one priority, octets.
    largest_of_priority: u16,
    /// The most output queues that a frame of that priority joins at the far end.
    copies: u16,
}

impl Network {
    /// For each port the reach of flow control over its line, for the buffer of `priority` at its far end; `None` where no
    /// flow of that priority passes in either direction. `response` as in [`Pfc`](crate::network::Pfc). Rates that change
    /// count as they are worst.
    #[must_use]
    pub fn reaches(&self, priority: u8, response: Duration) -> Vec<Option<Reach>> {
        let uses = self.uses(priority);
        let mut rates: Vec<(BitRate, BitRate)> = self.ports.iter().map(|port| (port.rate, port.rate)).collect();
        for change in &self.changes {
            if let PortEvent::Rate(rate) = change.event {
                let (lowest, highest) = &mut rates[change.port.index()];
                (*lowest, *highest) = ((*lowest).min(rate), (*highest).max(rate));
            }
        }
        let reach = |port: usize| {
            let back = uses[port].back?.index();
            let largest = uses[port].largest_of_priority.max(uses[back].largest_of_priority);
            (largest > 0).then(|| Reach {
                rate: rates[port].1,
                latency: self.ports[port].latency,
                // Signals in a flow's own priority go down its way, or up.
                largest: uses[port].largest_of_priority.max(LARGEST_SIGNAL),
                back_rate: rates[back].0,
                back_latency: self.ports[back].latency,
                back_largest: uses[back].largest.max(LARGEST_SIGNAL),
                response,
                wire_overhead: self.wire_overhead,
                copies: uses[port].copies.max(1),
            })
        };
        (0..self.ports.len()).map(reach).collect()
    }

    /// The use that flows make of each port; the part that is by priority, for `priority`.
    fn uses(&self, priority: u8) -> Vec<Use> {
        let mut uses = vec![Use::default(); self.ports.len()];
        let chosen = self.spread.as_ref().map_or(&[][..], |spread| &spread.hops[..]);
        for (own, root) in self.routes() {
            let flow = &self.flows[own.index()];
            for (id, hop) in self.route_from(root).map(|hop| (hop, &self.hops[hop.index()])) {
                uses[hop.back.index()].back = Some(hop.port);
                let port = &mut uses[hop.port.index()];
                port.back = Some(hop.back);
                port.largest = port.largest.max(self.longest_of(flow));
                if self.joins(flow.priority, priority) {
                    port.largest_of_priority = port.largest_of_priority.max(self.longest_of(flow));
                    let one = chosen.binary_search(&id).is_ok();
                    port.copies = port.copies.max(if one { 1 } else { hop.children });
                }
            }
        }
        for process in &self.processes.list {
            for &Crossed { link: (port, back), .. } in &process.links {
                uses[back.index()].back = Some(port);
                let onward = self.nodes[self.ports[port.index()].peer.index()].kind == NodeKind::Switch;
                let port = &mut uses[port.index()];
                port.back = Some(back);
                port.largest = port.largest.max(self.longest_of_process(process));
                if self.joins(process.priority, priority) {
                    port.largest_of_priority = port.largest_of_priority.max(self.longest_of_process(process));
                    port.copies = port.copies.max(u16::from(onward));
                }
            }
        }
        uses
    }
}
