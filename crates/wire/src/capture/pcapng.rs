//! pcapng: sections, interfaces, enhanced and simple packet blocks; written with nanoseconds and comments.
//!
//! ```
//! use penstock_wire::capture::{frames, pcapng};
//!
//! let mut file = Vec::new();
//! pcapng::section(&mut file, "Penstock", None);
//! pcapng::interface(&mut file, "s1:2 out", Some("from s1 to h2"), Some(10_000_000_000));
//! pcapng::packet(&mut file, 0, 1_500, &[0; 60], Some("queue 52000 octets"));
//! let read = frames(&file)?.next().expect("a frame")?;
//! assert_eq!((read.time_ns, read.octets.len(), read.comment), (Some(1_500), 60, Some("queue 52000 octets")));
//! # Ok::<(), penstock_wire::capture::Damage>(())
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Captured, Damage, ETHERNET, Order, cut, number};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
const MAGIC: u32 = 0x1a2b_3c4d;
/// The first octets of a file, in either byte order.
pub(super) const SECTION_BYTES: [u8; 4] = SECTION.to_be_bytes();

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_NAME: u16 = 2;
const OPTION_DESCRIPTION: u16 = 3;
const OPTION_APPLICATION: u16 = 4;
const OPTION_SPEED: u16 = 8;
const OPTION_RESOLUTION: u16 = 9;
const OPTION_FCS: u16 = 13;
const OPTION_OFFSET: u16 = 14;

/// Type and two lengths.
const BLOCK: usize = 12;

#[derive(Debug, Clone, Copy)]
struct Interface<'a> {
    link: u16,
    /// The unit of times: 10^-n seconds, or 2^-n.
    exponent: u8,
    binary: bool,
    /// Seconds that are added to each time.
    offset_s: i64,
    snap: u32,
    name: &'a [u8],
    bits_per_s: Option<u64>,
}

/// The frames of a pcapng file.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    file: &'a [u8],
    order: Order,
    at: usize,
    /// Of all sections; those of the current one begin at `first`.
    interfaces: Vec<Interface<'a>>,
    first: usize,
}

impl<'a> Frames<'a> {
    pub(super) fn new(file: &'a [u8]) -> Self {
        Self { file, order: Order { big: true }, at: 0, interfaces: Vec::new(), first: 0 }
    }

    /// The name of an interface that was read.
    pub(super) fn interface_name(&self, interface: u32) -> Option<String> {
        let name = self.interfaces.get(interface as usize)?.name;
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).to_string())
    }

    /// The rate of an interface that was read, if the file has it.
    pub(super) fn interface_rate(&self, interface: u32) -> Option<u64> {
        self.interfaces.get(interface as usize)?.bits_per_s
    }

    /// The next block: its type and body.
    fn block(&mut self) -> Option<Result<(u32, &'a [u8]), Damage>> {
        let offset = self.at;
        let left = self.file.get(offset..).filter(|left| !left.is_empty())?;
        self.at = self.file.len();
        if left.len() < BLOCK {
            return Some(Err(cut(offset, "the head of a block", BLOCK, left.len())));
        }
        if left.get(..4) == Some(&SECTION_BYTES) {
            self.order = match left.get(8..12) {
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => Order { big: true },
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => Order { big: false },
                _ => {
                    let found = Order { big: true }.u32(left, 8).into();
                    return Some(Err(number(offset + 8, "the byte order", found, "439041101 or its reverse")));
                }
            };
            self.first = self.interfaces.len();
        }
        let (kind, length) = (self.order.u32(left, 0), self.order.u32(left, 4) as usize);
        if length < BLOCK || length % 4 != 0 {
            let wanted = "at least 12 and a multiple of 4";
            return Some(Err(number(offset + 4, "the length of a block", length as u64, wanted)));
        }
        let Some(block) = left.get(..length) else { return Some(Err(cut(offset, "a block", length, left.len()))) };
        let again = self.order.u32(block, length - 4) as usize;
        if again != length {
            let place = offset + length - 4;
            return Some(Err(number(place, "the length at the end of a block", again as u64, "that at its start")));
        }
        self.at = offset + length;
        Some(Ok((kind, &block[8..length - 4])))
    }

    fn interface(&self, offset: usize, body: &'a [u8]) -> Result<Interface<'a>, Damage> {
        if body.len() < 8 {
            return Err(cut(offset, "an interface", 8, body.len()));
        }
        let (link, snap) = (self.order.u16(body, 0), self.order.u32(body, 4));
        let mut interface =
            Interface { link, exponent: 6, binary: false, offset_s: 0, snap, name: &[], bits_per_s: None };
        for (code, value) in options(self.order, body.get(8..).unwrap_or_default()) {
            match (code, value) {
                (OPTION_NAME, name) => interface.name = name,
                (OPTION_RESOLUTION, &[unit]) => {
                    (interface.exponent, interface.binary) = (unit & 0x7f, unit & 0x80 != 0);
                }
                (OPTION_OFFSET, value) if value.len() == 8 => interface.offset_s = self.order.u64(value, 0) as i64,
                (OPTION_SPEED, value) if value.len() == 8 => {
                    interface.bits_per_s = Some(self.order.u64(value, 0)).filter(|&rate| rate > 0);
                }
                _ => {}
            }
        }
        Ok(interface)
    }

    /// A frame in a packet block: the interface, where the two halves of its time, its lengths, and its octets begin.
    fn packet(&self, offset: usize, body: &'a [u8], wide: bool) -> Result<Captured<'a>, Damage> {
        const HEAD: usize = 20;
        if body.len() < HEAD {
            return Err(cut(offset, "the head of a frame", HEAD, body.len()));
        }
        let number_of = if wide { self.order.u32(body, 0) } else { self.order.u16(body, 0).into() };
        let (number, interface) = self.at_interface(offset + 8, number_of)?;
        let time = u64::from(self.order.u32(body, 4)) << 32 | u64::from(self.order.u32(body, 8));
        let (captured, original) = (self.order.u32(body, 12), self.order.u32(body, 16));
        let end = HEAD.saturating_add(captured as usize);
        let octets = body.get(HEAD..end).ok_or_else(|| cut(offset, "a frame", end, body.len()))?;
        let comment = options(self.order, body.get(end.next_multiple_of(4)..).unwrap_or_default())
            .find(|&(code, _)| code == OPTION_COMMENT)
            .and_then(|(_, text)| core::str::from_utf8(text).ok());
        let time_ns = nanoseconds(time, interface);
        Ok(Captured { interface: number, link: interface.link, time_ns, octets, original, offset, comment })
    }

    fn simple(&self, offset: usize, body: &'a [u8]) -> Result<Captured<'a>, Damage> {
        if body.len() < 4 {
            return Err(cut(offset, "the head of a frame", 4, body.len()));
        }
        let (number, interface) = self.at_interface(offset, 0)?;
        let original = self.order.u32(body, 0);
        let captured = if interface.snap == 0 { original } else { original.min(interface.snap) };
        let end = 4usize.saturating_add(captured as usize);
        let octets = body.get(4..end).ok_or_else(|| cut(offset, "a frame", end, body.len()))?;
        Ok(Captured { interface: number, link: interface.link, time_ns: None, octets, original, offset, comment: None })
    }

    /// An interface of the section, with its number in the file.
    fn at_interface(&self, offset: usize, number_of: u32) -> Result<(u32, &Interface<'a>), Damage> {
        let place = self.first.saturating_add(number_of as usize);
        let interface = self.interfaces.get(place).ok_or_else(|| {
            number(offset, "the interface of a frame", number_of.into(), "one that the section has described before")
        })?;
        Ok((place as u32, interface))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Captured<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let offset = self.at;
            let (kind, body) = match self.block()? {
                Ok(block) => block,
                Err(damage) => return Some(Err(damage)),
            };
            let found = match kind {
                INTERFACE => match self.interface(offset, body) {
                    Ok(interface) => {
                        self.interfaces.push(interface);
                        continue;
                    }
                    Err(damage) => Err(damage),
                },
                ENHANCED => self.packet(offset, body, true),
                PACKET => self.packet(offset, body, false),
                SIMPLE => self.simple(offset, body),
                _ => continue,
            };
            if found.is_err() {
                self.at = self.file.len();
            }
            return Some(found);
        }
    }
}

/// The options at the start of `octets`, code and value.
fn options(order: Order, octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut left = octets;
    core::iter::from_fn(move || {
        let (code, length) = (order.u16(left, 0), usize::from(order.u16(left, 2)));
        let value = left.get(4..4 + length).filter(|_| code != OPTION_END)?;
        left = left.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}

/// `None` where the time is not within 64 bits of nanoseconds.
fn nanoseconds(time: u64, interface: &Interface<'_>) -> Option<u64> {
    const PER_S: u128 = 1_000_000_000;
    let time = u128::from(time);
    let ns = if interface.binary {
        // At most 63 bits of a second matter; below 2^-127 is below any clock.
        (time * PER_S).checked_shr(interface.exponent.into())?
    } else if interface.exponent <= 9 {
        time * 10u128.pow(9 - u32::from(interface.exponent))
    } else {
        time / 10u128.checked_pow(u32::from(interface.exponent) - 9)?
    };
    let ns = i128::try_from(ns).ok()? + i128::from(interface.offset_s) * PER_S as i128;
    u64::try_from(ns).ok()
}

/// Begins a section, in the byte order of most machines; `application` says who writes it.
pub fn section(out: &mut Vec<u8>, application: &str, comment: Option<&str>) {
    let mut body = Vec::new();
    body.extend(MAGIC.to_le_bytes());
    body.extend([1, 0, 0, 0]);
    // The length of the section is not given.
    body.extend([0xff; 8]);
    if let Some(comment) = comment {
        option(&mut body, OPTION_COMMENT, comment.as_bytes());
    }
    option(&mut body, OPTION_APPLICATION, application.as_bytes());
    body.extend([0; 4]);
    block(out, SECTION, &body);
}

/// Describes the section's next interface: Ethernet, with times in nanoseconds, frames without check sequences.
pub fn interface(out: &mut Vec<u8>, name: &str, description: Option<&str>, bits_per_s: Option<u64>) {
    let mut body = Vec::new();
    body.extend(ETHERNET.to_le_bytes());
    body.extend([0; 6]);
    option(&mut body, OPTION_NAME, name.as_bytes());
    if let Some(description) = description {
        option(&mut body, OPTION_DESCRIPTION, description.as_bytes());
    }
    if let Some(speed) = bits_per_s {
        option(&mut body, OPTION_SPEED, &speed.to_le_bytes());
    }
    option(&mut body, OPTION_RESOLUTION, &[9]);
    option(&mut body, OPTION_FCS, &[0]);
    body.extend([0; 4]);
    block(out, INTERFACE, &body);
}

/// Adds a frame of an interface of the section, with a comment if there is one. Comments beyond 65 535 octets are cut.
pub fn packet(out: &mut Vec<u8>, interface: u32, time_ns: u64, octets: &[u8], comment: Option<&str>) {
    part(out, interface, time_ns, octets, octets.len() as u32, comment);
}

/// Adds the first octets of a frame that had `original` of them.
pub fn part(out: &mut Vec<u8>, interface: u32, time_ns: u64, octets: &[u8], original: u32, comment: Option<&str>) {
    let mut body = Vec::with_capacity(octets.len() + 64);
    body.extend(interface.to_le_bytes());
    body.extend(((time_ns >> 32) as u32).to_le_bytes());
    body.extend((time_ns as u32).to_le_bytes());
    body.extend((octets.len() as u32).to_le_bytes());
    body.extend(original.to_le_bytes());
    body.extend(octets);
    body.resize(body.len().next_multiple_of(4), 0);
    if let Some(comment) = comment {
        option(&mut body, OPTION_COMMENT, comment.as_bytes());
        body.extend([0; 4]);
    }
    block(out, ENHANCED, &body);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let length = (BLOCK + body.len()) as u32;
    out.extend(kind.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(body);
    out.extend(length.to_le_bytes());
}
