//! UDP.

use crate::Error;
use crate::checksum::PseudoHeader;

/// Port of RoCEv2.
pub const ROCE: u16 = 4791;

/// Port of VXLAN (RFC 7348).
pub const VXLAN: u16 = 4789;

crate::field::format! {
    "udp", "UDP", "RFC 768", 8 octets;
    /// Port of the sender.
    source_port, set_source_port: u16 = "Source Port", 0..16;
    /// Port of the receiver; 4791 is RoCEv2.
    destination_port, set_destination_port: u16 = "Destination Port", 16..32;
    /// Octets of header and data.
    length, set_length: u16 = "Length", 32..48;
    /// Checksum of addresses, header and data; 0 over IPv4: none.
    checksum, set_checksum: u16 = "Checksum", 48..64 as Hex;
}

fn measure(octets: &[u8]) -> Result<usize, Error> {
    legal(octets)?;
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 32, 16) < 8 {
        return Err(FORMAT.illegal("length", octets, "at least 8"));
    }
    Ok(())
}

/// The checksum that the datagram in `octets`, header and data, should have. Never 0, which says that there is none.
#[must_use]
pub fn checksum(octets: &[u8], pseudo: PseudoHeader) -> u16 {
    let (before, after) = octets.split_at(octets.len().min(6));
    let sum = pseudo.sum(octets.len() as u32).with(before).with(after.get(2..).unwrap_or_default());
    match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    }
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// The data behind the header, as far as it is there.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        let end = usize::from(self.length()).min(octets.len());
        octets.get(Repr::OCTETS..end).unwrap_or_default()
    }
}
