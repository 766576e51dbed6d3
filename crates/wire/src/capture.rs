//! Captures of frames: files of pcap and pcapng, read from either byte order, written as pcapng with nanoseconds.
//!
//! pcap: a head, then frames. pcapng: blocks, of which sections, interfaces and frames are read and all others passed over.
//! (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng)

pub mod pcap;
pub mod pcapng;

use alloc::string::String;
use core::fmt;

/// Link type of Ethernet.
pub const ETHERNET: u16 = 1;

/// A frame of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Number of the interface in the file, from 0.
    pub interface: u32,
    /// Its link type; [`ETHERNET`] or another.
    pub link: u16,
    /// When it was captured, nanoseconds of the file's clock (most often since 1970); `None` where the file does not say.
    pub time_ns: Option<u64>,
    /// Its octets, as many as were captured.
    pub octets: &'a [u8],
    /// The octets that it had.
    pub original: u32,
    /// Where it begins in the file.
    pub offset: usize,
    /// A comment on it.
    pub comment: Option<&'a str>,
}

/// Where a capture cannot be read on, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Octets from the file's start to the part that is damaged.
    pub offset: usize,
    /// The fault.
    pub reason: Reason,
}

/// The fault of a part of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It does not begin as pcap or pcapng do.
    Unknown,
    /// The file ends within a part.
    Cut {
        /// The part.
        part: &'static str,
        /// Octets that it has.
        needs: usize,
        /// Octets that are there.
        has: usize,
    },
    /// A number is not possible.
    Number {
        /// The value that it holds.
        what: &'static str,
        /// The number.
        found: u64,
        /// The values that are possible.
        wanted: &'static str,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "octet {}: ", self.offset)?;
        match &self.reason {
            Reason::Unknown => {
                f.write_str("this is neither pcap nor pcapng: the first octets are those of another format")
            }
            Reason::Cut { part, needs, has } => {
                write!(f, "the file ends within {part}, which has {needs} octets, of which {has} are there")
            }
            Reason::Number { what, found, wanted } => write!(f, "{what} is {found}, and should be {wanted}"),
        }
    }
}

impl core::error::Error for Damage {}

/// The frames of a capture in memory. After the first damage it ends.
#[derive(Debug, Clone)]
pub enum Frames<'a> {
    /// Those of a pcap file.
    Pcap(pcap::Frames<'a>),
    /// Those of a pcapng file.
    Pcapng(pcapng::Frames<'a>),
}

/// Reads a capture of either format.
///
/// # Errors
/// If it begins as neither does, or ends within its head.
pub fn frames(file: &[u8]) -> Result<Frames<'_>, Damage> {
    if file.get(..4) == Some(&pcapng::SECTION_BYTES) {
        return Ok(Frames::Pcapng(pcapng::Frames::new(file)));
    }
    pcap::Frames::new(file).map(Frames::Pcap)
}

impl<'a> Frames<'a> {
    /// The name of an interface, if the file has it.
    #[must_use]
    pub fn interface_name(&self, interface: u32) -> Option<String> {
        match self {
            Self::Pcap(_) => None,
            Self::Pcapng(frames) => frames.interface_name(interface),
        }
    }

    /// The rate of an interface in bit/s, if the file has it.
    #[must_use]
    pub fn interface_rate(&self, interface: u32) -> Option<u64> {
        match self {
            Self::Pcap(_) => None,
            Self::Pcapng(frames) => frames.interface_rate(interface),
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Captured<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Pcap(frames) => frames.next(),
            Self::Pcapng(frames) => frames.next(),
        }
    }
}

/// Numbers of a file in its byte order. Octets that are not there read as 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Order {
    big: bool,
}

impl Order {
    fn u16(self, octets: &[u8], at: usize) -> u16 {
        let bytes = core::array::from_fn(|i| octets.get(at + i).copied().unwrap_or(0));
        if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    fn u32(self, octets: &[u8], at: usize) -> u32 {
        let bytes = core::array::from_fn(|i| octets.get(at + i).copied().unwrap_or(0));
        if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn u64(self, octets: &[u8], at: usize) -> u64 {
        let (a, b) = (u64::from(self.u32(octets, at)), u64::from(self.u32(octets, at + 4)));
        if self.big { a << 32 | b } else { b << 32 | a }
    }
}

fn cut(offset: usize, part: &'static str, needs: usize, has: usize) -> Damage {
    Damage { offset, reason: Reason::Cut { part, needs, has } }
}

fn number(offset: usize, what: &'static str, found: u64, wanted: &'static str) -> Damage {
    Damage { offset, reason: Reason::Number { what, found, wanted } }
}
