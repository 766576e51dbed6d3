//! Ports, frames and announcements for tests.
#![allow(dead_code)]

use penstock_domain::lldpdu::MOST_OCTETS;
use penstock_domain::{Component, Port, Received, Station};
use penstock_schemes::{Duration, Instant};
use penstock_wire::MacAddress;

/// A point in time, in seconds.
pub(crate) fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(1000 * seconds)
}

/// A station of this number.
pub(crate) fn station(number: u8) -> Station<'static> {
    Station { address: MacAddress([2, 0, 0, 0, 0, number]), port: "eth0" }
}

/// The announcement of a port, with this time to live.
pub(crate) fn announcement(component: &Component, port: &Port, number: u8, seconds: u16) -> Vec<u8> {
    let mut frame = vec![0; MOST_OCTETS];
    let length = port.announce(component, &station(number), 1, seconds, &mut frame).unwrap();
    frame.truncate(length);
    frame
}

/// An LLDP frame of a station with these octets behind its time to live.
pub(crate) fn lldp(number: u8, seconds: u16, rest: &[u8]) -> Vec<u8> {
    let source = [2, 0, 0, 0, 0, number];
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 0x0e];
    frame.extend(source);
    frame.extend([0x88, 0xcc, 0x02, 0x07, 0x04]);
    frame.extend(source);
    frame.extend([0x04, 0x02, 0x05, b'p', 0x06, 0x02]);
    frame.extend(seconds.to_be_bytes());
    frame.extend(rest);
    frame
}

/// A congestion notification TLV.
pub(crate) fn cn(cnpv: u8, ready: u8) -> [u8; 8] {
    [0xfe, 0x06, 0x00, 0x80, 0xc2, 0x08, cnpv, ready]
}

/// Hands a frame in, of which nothing is forwarded.
pub(crate) fn hear(port: &mut Port, component: &Component, now: Instant, mut frame: Vec<u8>) -> bool {
    match port.receive(component, now, &mut frame) {
        Received::Announcement { changed } => changed,
        other => panic!("an LLDP frame ends at the port, but: {other:?}"),
    }
}

/// A notification in an Ethernet frame, behind these tags.
pub(crate) fn cnm(tags: &[u8], feedback: u8, priority: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0xaa];
    frame.extend(tags);
    frame.extend([0x22, 0xe7, 0x00, feedback]);
    frame.extend([0; 8]);
    frame.extend([0xfe, 0x6a, 0x00, 0xcb, priority << 5, 0]);
    frame.extend([2, 0, 0, 0, 0, 2, 0, 0]);
    frame.resize(60, 0);
    frame
}
