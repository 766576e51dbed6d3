//! pcap, micro- and nanoseconds, either byte order.

use super::{Captured, Damage, Order, Reason, cut, number};

const HEAD: usize = 24;
const RECORD: usize = 16;
/// No capture has longer frames: libpcap's own limit.
const LONGEST: u32 = 262_144;

/// The frames of a pcap file.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    file: &'a [u8],
    order: Order,
    /// Nanoseconds in the unit of the second part of a time.
    unit: u64,
    link: u16,
    at: usize,
}

impl<'a> Frames<'a> {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// If it is not that of pcap, or not whole.
    pub fn new(file: &'a [u8]) -> Result<Self, Damage> {
        let (big, unit) = match file.get(..4) {
            Some([0xa1, 0xb2, 0xc3, 0xd4]) => (true, 1000),
            Some([0xd4, 0xc3, 0xb2, 0xa1]) => (false, 1000),
            Some([0xa1, 0xb2, 0x3c, 0x4d]) => (true, 1),
            Some([0x4d, 0x3c, 0xb2, 0xa1]) => (false, 1),
            _ => return Err(Damage { offset: 0, reason: Reason::Unknown }),
        };
        if file.len() < HEAD {
            return Err(cut(0, "the head", HEAD, file.len()));
        }
        let order = Order { big };
        let major = order.u16(file, 4);
        if major != 2 {
            return Err(number(4, "the version", major.into(), "2"));
        }
        // The upper half may say how long check sequences are.
        let link = order.u32(file, 20) as u16;
        Ok(Self { file, order, unit, link, at: HEAD })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Captured<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        let left = self.file.get(offset..).filter(|left| !left.is_empty())?;
        self.at = self.file.len();
        if left.len() < RECORD {
            return Some(Err(cut(offset, "the head of a frame", RECORD, left.len())));
        }
        let word = |at| self.order.u32(left, at);
        let (captured, original) = (word(8), word(12));
        if captured > LONGEST {
            return Some(Err(number(offset + 8, "the length of a frame", captured.into(), "at most 262144")));
        }
        let parts = u64::from(word(4));
        if parts * self.unit >= 1_000_000_000 {
            let wanted = "less than a second";
            return Some(Err(number(offset + 4, "the second part of a time", parts, wanted)));
        }
        let end = RECORD + captured as usize;
        let Some(octets) = left.get(RECORD..end) else {
            return Some(Err(cut(offset, "a frame", end, left.len())));
        };
        self.at = offset + end;
        let time_ns = Some(u64::from(word(0)) * 1_000_000_000 + parts * self.unit);
        Some(Ok(Captured { interface: 0, link: self.link, time_ns, octets, original, offset, comment: None }))
    }
}
