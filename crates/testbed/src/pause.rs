//! Priority flow control (802.1Qbb) of one port: the counters by which it stops its neighbour, and the stops that its neighbour
//! has asked for.
//!
//! ```text
//!   neighbour ===== data =====> Ingress: octets held of each class     held >= xoff: full, held <= xon: no longer
//!     Stops                        |
//!       ^                          v
//!       +------- PFC frame ------ the port's own line, ahead of all frames that wait
//! ```
//!
//! A PFC frame is made when its transmission starts, from the counters at that instant, as in the simulator.

use penstock_schemes::{BitRate, Duration, Instant, units::PS_PER_S};
use penstock_sim::network::{Ingress as Sizes, Network, PortEvent, PortId};
use penstock_sim::pfc::QUANTUM_BITS;
use penstock_wire::ethernet::{self, LEAST, ether_type};
use penstock_wire::{MacAddress, mac_control};

use crate::frame::Header;

/// The time of `quanta` on a line of this rate.
#[must_use]
pub fn pause_time(quanta: u16, rate: BitRate) -> Duration {
    let bits = u128::from(quanta) * u128::from(QUANTUM_BITS);
    let time = bits * u128::from(PS_PER_S) / u128::from(rate.0.max(1));
    Duration(time.min(u128::from(u64::MAX >> 2)) as u64)
}

/// The times of each priority that a PFC frame tells; `None` for any other frame, whatever its destination: one of another
/// EtherType or opcode, one with a tag (MAC control has none: 802.3, clause 31), one that ends too early.
///
/// A PAUSE of the whole line (802.3, annex 31B) is none: a line with priority flow control does not use it.
#[must_use]
pub fn times(frame: &[u8], header: &Header) -> Option<[Option<u16>; 8]> {
    if header.destination != mac_control::DESTINATION
        || header.ether_type != ether_type::MAC_CONTROL
        || header.tags() > 0
    {
        return None;
    }
    let packet = mac_control::pfc::Packet::new_checked(frame.get(header.data..)?).ok()?;
    Some(mac_control::pfc::Repr::parse(&packet).ok()?.times())
}

/// The frames of one class that have come in by a port and are still held.
#[derive(Debug, Clone)]
struct Counter {
    priority: u8,
    sizes: Sizes,
    held: u64,
    /// The neighbour is to stop.
    full: bool,
    /// The last frame signalled so.
    signalled: bool,
    /// When the pause frame is due again, if the counter is still full then.
    refresh: Instant,
}

/// The ingress buffers of a port, one a lossless class.
#[derive(Debug, Clone)]
pub struct Ingress {
    own: MacAddress,
    /// One a class; `None` where nothing is counted.
    counters: Vec<Option<Counter>>,
    quanta: u16,
    /// The time of a pause on the neighbour's line.
    time: Duration,
    /// A bit for each class to signal to the neighbour.
    pending: u32,
    sent: u64,
}

impl Ingress {
    /// The buffers of the frames that come in by port `id` of a node with this address.
    #[must_use]
    pub fn new(network: &Network, id: PortId, own: MacAddress) -> Self {
        let mut ingress = Self { own, counters: Vec::new(), quanta: 0, time: Duration::ZERO, pending: 0, sent: 0 };
        let spec = &network.ports[id.index()];
        let back = network.ports.iter().position(|port| port.node == spec.peer && port.peer == spec.node);
        let (Some(pfc), Some(back)) = (&network.pfc, back) else { return ingress };
        let counter = |&priority: &u8| {
            let sizes = pfc.ingress[back].filter(|_| pfc.priorities.contains(&priority))?;
            Some(Counter { priority, sizes, held: 0, full: false, signalled: false, refresh: Instant::NEVER })
        };
        ingress.counters = network.priorities.iter().map(counter).collect();
        ingress.quanta = pfc.quanta;
        // A line that changes counts as it is fastest: a pause that is renewed early does no harm.
        let changed = network.changes.iter().filter_map(|change| match change.event {
            PortEvent::Rate(rate) if change.port.index() == back => Some(rate),
            _ => None,
        });
        let rate = changed.fold(network.ports[back].rate, BitRate::max);
        ingress.time = pause_time(pfc.quanta, rate);
        ingress
    }

    /// Whether the buffer of `class` takes a frame; `None` where nothing is counted.
    #[must_use]
    pub fn has_room(&self, class: usize, octets: u16) -> Option<bool> {
        let counter = self.counters.get(class)?.as_ref()?;
        Some(counter.held + u64::from(octets) <= counter.sizes.buffer.0)
    }

    /// Octets held of `class`.
    #[must_use]
    pub fn held(&self, class: usize) -> u64 {
        self.counters.get(class).and_then(Option::as_ref).map_or(0, |counter| counter.held)
    }

    /// A frame of `class` is held from now on.
    pub fn hold(&mut self, class: usize, octets: u16) {
        let Some(Some(counter)) = self.counters.get_mut(class) else { return };
        counter.held += u64::from(octets);
        if !counter.full && counter.held >= counter.sizes.xoff.0 {
            counter.full = true;
            self.pending |= 1 << class;
        }
    }

    /// A frame of `class` has left its queue.
    pub fn let_go(&mut self, class: usize, octets: u16) {
        let Some(Some(counter)) = self.counters.get_mut(class) else { return };
        counter.held -= u64::from(octets);
        if counter.full && counter.held <= counter.sizes.xon.0 {
            counter.full = false;
            // Where the stop still waits for the line, nothing is to be signalled.
            self.pending = self.pending & !(1 << class) | u32::from(counter.signalled) << class;
        }
    }

    /// Whether there is something to signal to the neighbour.
    #[must_use]
    pub fn pending(&self) -> bool {
        self.pending != 0
    }

    /// When a pause frame is due again.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        self.counters.iter().flatten().map(|counter| counter.refresh).fold(Instant::NEVER, Instant::min)
    }

    /// Half of a pause time has passed: stops that are still needed are signalled again.
    pub fn refresh(&mut self, now: Instant) {
        for (class, counter) in self.counters.iter_mut().enumerate() {
            let Some(counter) = counter.as_mut().filter(|counter| counter.refresh <= now) else { continue };
            counter.refresh = Instant::NEVER;
            if counter.full {
                self.pending |= 1 << class;
            }
        }
    }

    /// The PFC frame whose transmission starts now.
    pub fn compose(&mut self, now: Instant) -> Vec<u8> {
        let mut times = [None; 8];
        for (class, counter) in self.counters.iter_mut().enumerate() {
            let Some(counter) = counter.as_mut().filter(|_| self.pending >> class & 1 == 1) else { continue };
            counter.signalled = counter.full;
            counter.refresh = if counter.full { now + Duration(self.time.0 / 2) } else { Instant::NEVER };
            times[usize::from(counter.priority & 7)] = Some(if counter.full { self.quanta } else { 0 });
        }
        self.pending = 0;
        self.sent += 1;
        let header = ethernet::Repr {
            destination: mac_control::DESTINATION,
            source: self.own,
            ether_type: ether_type::MAC_CONTROL,
        };
        let mut frame = vec![0; LEAST];
        let written = header.emit(&mut frame).and_then(|at| mac_control::pfc::Repr::new(times).emit(&mut frame[at..]));
        debug_assert!(written.is_ok(), "the least frame has room for a PFC frame");
        frame
    }

    /// PFC frames whose transmission has started.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// A class as its neighbour stops it.
#[derive(Debug, Clone, Copy)]
struct Stop {
    /// When a stop begins that has been signalled and is not yet in force.
    from: Instant,
    /// When the stop runs out.
    until: Instant,
    /// Since when it is stopped; never if it is not.
    since: Instant,
    /// Time stopped before that.
    total: Duration,
    /// Pause frames that stopped it or went on stopping it.
    frames: u64,
    /// Times that it was stopped.
    times: u64,
}

impl Stop {
    const NONE: Self = Self {
        from: Instant::NEVER,
        until: Instant::ZERO,
        since: Instant::NEVER,
        total: Duration::ZERO,
        frames: 0,
        times: 0,
    };

    fn in_force(&self) -> bool {
        self.since != Instant::NEVER
    }

    /// When something happens to it by itself.
    fn next_event(&self) -> Instant {
        if self.in_force() || self.from != Instant::NEVER { self.from.min(self.until) } else { Instant::NEVER }
    }
}

/// The classes of a port as its neighbour stops them.
#[derive(Debug, Clone)]
pub struct Stops {
    /// Under the indices of [`Network::priorities`].
    stops: Vec<Stop>,
    /// Whether the neighbour may stop each class: its flow control counts what this port sends of it.
    lossless: Vec<bool>,
    response: Duration,
}

impl Stops {
    /// Nothing of port `id` is stopped.
    #[must_use]
    pub fn new(network: &Network, id: PortId) -> Self {
        let pfc = network.pfc.as_ref().filter(|pfc| pfc.ingress[id.index()].is_some());
        let lossless = |priority: &u8| pfc.is_some_and(|pfc| pfc.priorities.contains(priority));
        Self {
            stops: vec![Stop::NONE; network.priorities.len()],
            lossless: network.priorities.iter().map(lossless).collect(),
            response: pfc.and_then(|pfc| pfc.responses.get(id.index()).copied()).unwrap_or(Duration::ZERO),
        }
    }

    /// Whether the neighbour may stop anything.
    #[must_use]
    pub fn obeys(&self) -> bool {
        self.lossless.contains(&true)
    }

    /// A PFC frame stops `class` for a time, or releases it with none. [`due`](Self::due) says what follows; nothing
    /// for a class without flow control.
    pub fn tell(&mut self, now: Instant, class: usize, time: Duration) {
        if self.lossless.get(class) != Some(&true) {
            return;
        }
        let Some(stop) = self.stops.get_mut(class) else { return };
        stop.until = now + time;
        if time == Duration::ZERO {
            return;
        }
        stop.frames += 1;
        if !stop.in_force() {
            stop.from = stop.from.min(now + self.response);
        }
    }

    /// When a stop begins or runs out.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        self.stops.iter().map(Stop::next_event).fold(Instant::NEVER, Instant::min)
    }

    /// The next change that is due: a class, and whether it stops.
    pub fn due(&mut self, now: Instant) -> Option<(usize, bool)> {
        let (class, stop) = self.stops.iter_mut().enumerate().find(|(_, stop)| stop.next_event() <= now)?;
        if stop.until <= now {
            let in_force = stop.in_force();
            stop.total = stop.total + now.since(stop.since);
            (stop.from, stop.since) = (Instant::NEVER, Instant::NEVER);
            // A stop that never came into force ends too, and changes nothing.
            return if in_force { Some((class, false)) } else { self.due(now) };
        }
        (stop.from, stop.since) = (Instant::NEVER, now);
        stop.times += 1;
        Some((class, true))
    }

    /// How often `class` has been stopped.
    #[must_use]
    pub fn times(&self, class: usize) -> u64 {
        self.stops.get(class).map_or(0, |stop| stop.times)
    }

    /// How long `class` has been stopped until `now`, and by how many frames.
    #[must_use]
    pub fn paused(&self, class: usize, now: Instant) -> (Duration, u64) {
        let stop = self.stops.get(class).copied().unwrap_or(Stop::NONE);
        (stop.total + now.since(stop.since), stop.frames)
    }
}

#[cfg(test)]
mod tests {
    use penstock_schemes::Octets;

    use super::*;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_us(n)
    }

    fn read(frame: &[u8]) -> Option<[Option<u16>; 8]> {
        times(frame, &Header::read(frame)?)
    }

    /// One class, of priority 3: XOFF at 3000 octets, XON at 1000.
    fn ingress() -> Ingress {
        let sizes = Sizes { buffer: Octets(5000), xoff: Octets(3000), xon: Octets(1000) };
        let counter = Counter { priority: 3, sizes, held: 0, full: false, signalled: false, refresh: Instant::NEVER };
        Ingress {
            own: MacAddress([2, 0, 0, 0, 0, 9]),
            counters: vec![Some(counter)],
            quanta: 100,
            time: pause_time(100, BitRate(10_000_000_000)),
            pending: 0,
            sent: 0,
        }
    }

    #[test]
    fn a_pause_takes_512_bit_times_a_quantum() {
        // 100 quanta at 10 Gb/s: 51 200 bits, 5.12 us.
        assert_eq!(pause_time(100, BitRate(10_000_000_000)), Duration(5_120_000));
    }

    #[test]
    fn the_neighbour_is_stopped_at_xoff_and_goes_on_at_xon() {
        let mut ingress = ingress();
        for _ in 0..2 {
            ingress.hold(0, 1000);
        }
        assert!(!ingress.pending());
        ingress.hold(0, 1000);
        assert!(ingress.pending());
        let frame = ingress.compose(us(1));
        // To 01-80-C2-00-00-01, type 8808, opcode 0101, enable 0008, time(3) at octets 24 and 25: 100 quanta.
        assert_eq!(frame[..18], [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 1, 1, 0, 8]);
        assert_eq!((frame[24], frame[25], frame.len()), (0, 100, 60));
        assert!(frame[26..].iter().all(|&octet| octet == 0));
        assert_eq!(read(&frame).unwrap()[3], Some(100));
        // Half of 5.12 us later it is due again.
        assert_eq!(ingress.next_event(), us(1) + Duration(2_560_000));
        ingress.refresh(ingress.next_event());
        assert!(ingress.pending());
        ingress.compose(us(4));
        ingress.let_go(0, 1000);
        assert!(!ingress.pending(), "2000 octets are above XON");
        ingress.let_go(0, 1000);
        let frame = ingress.compose(us(5));
        assert_eq!(read(&frame).unwrap()[3], Some(0));
        assert_eq!((ingress.next_event(), ingress.sent()), (Instant::NEVER, 3));
    }

    #[test]
    fn a_stop_that_nobody_was_told_is_not_taken_back() {
        let mut ingress = ingress();
        ingress.hold(0, 3000);
        ingress.let_go(0, 3000);
        assert!(!ingress.pending());
        assert_eq!(
            (ingress.has_room(0, 5000), ingress.has_room(0, 5001), ingress.has_room(1, 1)),
            (Some(true), Some(false), None)
        );
    }

    fn stops(response: Duration) -> Stops {
        Stops { stops: vec![Stop::NONE; 2], lossless: vec![true; 2], response }
    }

    #[test]
    fn a_class_without_flow_control_is_not_stopped() {
        let mut stops = Stops { lossless: vec![true, false], ..stops(Duration::ZERO) };
        stops.tell(us(10), 1, Duration::from_us(5));
        stops.tell(us(10), 2, Duration::from_us(5));
        assert_eq!((stops.next_event(), stops.obeys()), (Instant::NEVER, true));
        assert!(!Stops { lossless: vec![false; 2], ..stops }.obeys());
    }

    /// Octets 12 and 13 are the EtherType, 14 and 15 the opcode.
    #[test]
    fn a_frame_of_another_type_or_with_a_tag_is_no_pfc_frame() {
        let mut ingress = ingress();
        ingress.hold(0, 3000);
        let right = ingress.compose(us(1));
        assert!(read(&right).is_some());
        let changed = |at: usize, octet: u8| {
            let mut frame = right.clone();
            frame[at] = octet;
            frame
        };
        for frame in [changed(13, 0x09), changed(12, 0x22), changed(15, 0x02), changed(5, 0x02), right[..20].to_vec()] {
            assert_eq!(read(&frame), None, "{frame:02x?}");
        }
        let mut tagged = right;
        crate::frame::put_tags(&mut tagged, 7, None);
        assert_eq!(read(&tagged), None);
    }

    #[test]
    fn a_stop_runs_out_by_itself_and_is_renewed() {
        let mut stops = stops(Duration::ZERO);
        stops.tell(us(10), 1, Duration::from_us(5));
        assert_eq!((stops.due(us(10)), stops.due(us(10)), stops.next_event()), (Some((1, true)), None, us(15)));
        stops.tell(us(12), 1, Duration::from_us(5));
        assert_eq!((stops.due(us(15)), stops.next_event()), (None, us(17)));
        assert_eq!(stops.due(us(17)), Some((1, false)));
        assert_eq!((stops.paused(1, us(30)), stops.next_event()), ((Duration::from_us(7), 2), Instant::NEVER));
    }

    #[test]
    fn a_stop_begins_after_the_response_and_a_zero_ends_it() {
        let mut stops = stops(Duration::from_us(2));
        stops.tell(us(10), 0, Duration::from_us(50));
        assert_eq!((stops.due(us(11)), stops.next_event()), (None, us(12)));
        assert_eq!(stops.due(us(12)), Some((0, true)));
        stops.tell(us(20), 0, Duration::ZERO);
        assert_eq!((stops.due(us(20)), stops.paused(0, us(40))), (Some((0, false)), (Duration::from_us(8), 1)));
        // One that is taken back within the response time never begins.
        stops.tell(us(50), 0, Duration::from_us(50));
        stops.tell(us(51), 0, Duration::ZERO);
        assert_eq!((stops.due(us(60)), stops.next_event()), (None, Instant::NEVER));
        assert_eq!(stops.paused(0, us(60)), (Duration::from_us(8), 2));
    }
}
