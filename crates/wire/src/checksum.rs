//! Checksums: the Internet's of 16 bits, and the CRC of Ethernet frames, which RoCE takes over.

/// A sum of 16-bit words in one's complement, as RFC 1071 has it. Octets may come in pieces of any length.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    sum: u64,
    /// An odd number of octets came: the next is the lower half of a word.
    odd: bool,
}

impl Sum {
    /// Adds octets.
    #[must_use]
    pub fn with(mut self, octets: &[u8]) -> Self {
        for &octet in octets {
            self.sum += if self.odd { u64::from(octet) } else { u64::from(octet) << 8 };
            self.odd = !self.odd;
        }
        self
    }

    /// The checksum: the complement of the sum.
    #[must_use]
    pub fn checksum(self) -> u16 {
        let mut sum = self.sum;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }
}

/// Addresses and protocol of a datagram, which UDP's and TCP's checksums cover too. (RFC 768, RFC 9293 section 3.1, RFC 8200
/// section 8.1)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PseudoHeader {
    /// Source, destination, protocol.
    Ipv4([u8; 4], [u8; 4], u8),
    /// Source, destination, next header.
    Ipv6([u8; 16], [u8; 16], u8),
}

impl PseudoHeader {
    /// The sum with which a checksum over `octets` octets of UDP or TCP begins.
    #[must_use]
    pub fn sum(self, octets: u32) -> Sum {
        let length = octets.to_be_bytes();
        match self {
            Self::Ipv4(source, destination, protocol) => {
                Sum::default().with(&source).with(&destination).with(&[0, protocol]).with(&length)
            }
            Self::Ipv6(source, destination, next) => {
                Sum::default().with(&source).with(&destination).with(&length).with(&[0, 0, 0, next])
            }
        }
    }
}

/// The remainder for each octet: the polynomial 04C11DB7 with its bits in the order of the line.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut remainder = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = remainder >> 1 ^ if remainder & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[octet] = remainder;
        octet += 1;
    }
    table
};

/// The CRC of IEEE 802.3, clause 3.2.9, over pieces of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// Adds octets.
    #[must_use]
    pub fn with(mut self, octets: &[u8]) -> Self {
        for &octet in octets {
            self.0 = self.0 >> 8 ^ TABLE[usize::from(self.0 as u8 ^ octet)];
        }
        self
    }

    /// The check sequence as a number; it goes over the line with its lowest octet first.
    #[must_use]
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// The four octets of the frame check sequence of `frame`, destination address to padding.
#[must_use]
pub fn fcs(frame: &[u8]) -> [u8; 4] {
    Crc32::default().with(frame).value().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_rfc_1071() {
        // Section 3: 0001 + f203 + f4f5 + f6f7 = 2ddf0, folded ddf2.
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().with(&octets).checksum(), !0xddf2);
        // In pieces of odd lengths.
        assert_eq!(Sum::default().with(&octets[..3]).with(&octets[3..4]).with(&octets[4..]).checksum(), !0xddf2);
        // An octet that is left over is the upper half of a word.
        assert_eq!(Sum::default().with(&[0x12]).checksum(), !0x1200);
    }

    #[test]
    fn crc_of_its_check_value() {
        assert_eq!(Crc32::default().with(b"123456789").value(), 0xcbf4_3926);
        // A frame with its check sequence leaves the same remainder, whatever it holds.
        for frame in [&b"123456789"[..], &[0; 60], &[0xff; 61]] {
            assert_eq!(Crc32::default().with(frame).with(&fcs(frame)).value(), 0x2144_df1c);
        }
    }
}
