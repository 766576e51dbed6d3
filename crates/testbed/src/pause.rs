//! Pause frames of priority flow control (802.1Qbb) as octets, and the stops of a host's interface that its switch has asked for. (Those of a
//! switch are `penstock_switch`'s.)

use penstock_schemes::{BitRate, Duration, Instant, units::PS_PER_S};
use penstock_sim::network::{Network, PortId};
use penstock_sim::pfc::QUANTUM_BITS;
use penstock_switch::flow_control::stop::Stop;
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

/// The times of each priority in a PFC frame; `None` for any other frame, whatever its destination: one of another
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

/// The PFC frame of a station with these times, as [`times`] reads it.
#[must_use]
pub fn frame(own: MacAddress, times: [Option<u16>; 8]) -> Vec<u8> {
    let header =
        ethernet::Repr { destination: mac_control::DESTINATION, source: own, ether_type: ether_type::MAC_CONTROL };
    let mut frame = vec![0; LEAST];
    let written = header.emit(&mut frame).and_then(|at| mac_control::pfc::Repr::new(times).emit(&mut frame[at..]));
    debug_assert!(written.is_ok(), "the least frame has room for a PFC frame");
    frame
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
        if time == Duration::ZERO {
            stop.until = now;
            stop.resumes += 1;
            return;
        }
        stop.frames += 1;
        stop.ask(now + self.response, now + time);
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
            // A stop that never came into force ends too, and changes nothing.
            return if stop.end(now).is_some() { Some((class, false)) } else { self.due(now) };
        }
        stop.begin(now);
        Some((class, true))
    }

    /// Frames that have let `class` go on.
    #[must_use]
    pub fn resumes(&self, class: usize) -> u64 {
        self.stops.get(class).map_or(0, |stop| stop.resumes)
    }

    /// How often `class` has been stopped.
    #[must_use]
    pub fn times(&self, class: usize) -> u64 {
        self.stops.get(class).map_or(0, |stop| stop.stops)
    }

    /// How long `class` has been stopped until `now`, and by how many frames.
    #[must_use]
    pub fn paused(&self, class: usize, now: Instant) -> (Duration, u64) {
        let stop = self.stops.get(class).copied().unwrap_or(Stop::NONE);
        (stop.paused(now), stop.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_us(n)
    }

    fn read(frame: &[u8]) -> Option<[Option<u16>; 8]> {
        times(frame, &Header::read(frame)?)
    }

    /// One that stops priority 3 for 100 quanta.
    fn stop() -> Vec<u8> {
        let mut times = [None; 8];
        times[3] = Some(100);
        frame(MacAddress([2, 0, 0, 0, 0, 9]), times)
    }

    #[test]
    fn a_pause_takes_512_bit_times_a_quantum() {
        // 100 quanta at 10 Gb/s: 51 200 bits, 5.12 us.
        assert_eq!(pause_time(100, BitRate(10_000_000_000)), Duration(5_120_000));
    }

    #[test]
    fn a_pause_frame_has_its_octets() {
        let frame = stop();
        // To 01-80-C2-00-00-01, type 8808, opcode 0101, enable 0008, time(3) at octets 24 and 25: 100 quanta.
        assert_eq!(frame[..18], [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 1, 1, 0, 8]);
        assert_eq!((frame[24], frame[25], frame.len()), (0, 100, 60));
        assert!(frame[26..].iter().all(|&octet| octet == 0));
        assert_eq!(read(&frame).unwrap()[3], Some(100));
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
        let right = stop();
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
        assert_eq!((stops.paused(0, us(60)), stops.resumes(0)), ((Duration::from_us(8), 2), 2));
    }
}
