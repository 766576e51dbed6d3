//! RoCEv2 packets of a capture, by sender and queue pair.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::AddAssign;

use crate::ipv4::ecn::CE;
use crate::mrc;
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
    /// Selective acknowledgements of MRC.
    pub sacks: u64,
    /// Those of them that say that the path of a frame is to be skipped.
    pub skips: u64,
    /// Its negative acknowledgements.
    pub nacks: u64,
    /// Its probes of paths.
    pub probes: u64,
}

impl Roce {
    /// The counts of one packet, from its operation and its ECN field; `None` if it is none of these.
    pub(super) fn of(opcode: u8, ecn: Option<u128>) -> Option<Roce> {
        let none = Roce::default();
        match opcode {
            CNP => Some(Roce { cnps: 1, ..none }),
            mrc::SACK => Some(Roce { sacks: 1, ..none }),
            mrc::NACK => Some(Roce { nacks: 1, ..none }),
            mrc::PROBE => Some(Roce { probes: 1, ..none }),
            _ if carries_data(opcode) => Some(Roce { data: 1, marked: u64::from(ecn == Some(CE.into())), ..none }),
            _ => None,
        }
    }
}

impl AddAssign for Roce {
    fn add_assign(&mut self, other: Roce) {
        self.data += other.data;
        self.marked += other.marked;
        self.cnps += other.cnps;
        self.sacks += other.sacks;
        self.skips += other.skips;
        self.nacks += other.nacks;
        self.probes += other.probes;
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
