//! RoCEv2 packets of a capture, by sender and queue pair.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::AddAssign;

use crate::ipv4::ecn::CE;
use crate::roce::{CNP, carries_data};

/// RoCEv2 packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roce {
    /// Packets with data: sends, writes, and responses to reads.
    pub data: u64,
    /// Those that carry a mark of congestion (CE).
    pub marked: u64,
    /// Congestion notification packets.
    pub cnps: u64,
}

impl Roce {
    /// The counts of one packet, from its operation and its ECN field; `None` if it is neither data nor a notification.
    pub(super) fn of(opcode: u8, ecn: Option<u128>) -> Option<Roce> {
        if opcode == CNP {
            Some(Roce { cnps: 1, ..Roce::default() })
        } else if carries_data(opcode) {
            Some(Roce { data: 1, marked: u64::from(ecn == Some(CE.into())), cnps: 0 })
        } else {
            None
        }
    }
}

impl AddAssign for Roce {
    fn add_assign(&mut self, other: Roce) {
        self.data += other.data;
        self.marked += other.marked;
        self.cnps += other.cnps;
    }
}

/// A sender and the queue pair that it sends to, seen at an interface. Routers keep IP addresses, and replace MAC addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePair {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// The sender of the packets.
    pub source: IpAddr,
    /// Their addressee.
    pub destination: IpAddr,
    /// The queue pair at the addressee; `None` where it was not captured.
    pub qp: Option<u32>,
}

impl QueuePair {
    /// One at an interface, before its packet's IP header has been read.
    pub(super) fn at(interface: u32) -> QueuePair {
        let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        QueuePair { interface, source: unknown, destination: unknown, qp: None }
    }

    /// Takes the addresses of an IP header.
    pub(super) fn ends(&mut self, six: bool, source: Option<u128>, destination: Option<u128>) {
        let address = |bits: u128| match six {
            true => IpAddr::V6(Ipv6Addr::from_bits(bits)),
            false => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
        };
        if let Some((source, destination)) = source.zip(destination) {
            (self.source, self.destination) = (address(source), address(destination));
        }
    }
}
