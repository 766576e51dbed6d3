//! IPv6. Of extension headers the Destination Options of a Fast CNP are followed, and no others.

use crate::Error;

crate::field::format! {
    "ipv6", "IPv6", "RFC 8200", 40 octets;
    /// 6.
    version, set_version: u8 = "Version", 0..4, usually 6;
    /// Differentiated services codepoint.
    dscp, set_dscp: u8 = "DSCP", 4..10;
    /// Explicit congestion notification.
    ecn, set_ecn: u8 = "ECN", 10..12;
    /// Number of the flow at its source.
    flow_label, set_flow_label: u32 = "Flow Label", 12..32;
    /// Octets behind the header.
    payload_length, set_payload_length: u16 = "Payload Length", 32..48;
    /// The format behind the header: 6 TCP, 17 UDP.
    next_header, set_next_header: u8 = "Next Header", 48..56;
    /// Hops that are left.
    hop_limit, set_hop_limit: u8 = "Hop Limit", 56..64, usually 64;
    /// Sender.
    source, set_source: [u8; 16] = "Source Address", 64..192, usually 0xfd00_0000_0000_0000_0000_0000_0000_0002;
    /// Receiver.
    destination, set_destination: [u8; 16] = "Destination Address", 192..320, usually 0xfd00_0000_0000_0000_0000_0000_0000_0001;
}

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 0, 4) != 6 {
        return Err(FORMAT.illegal("version", octets, "6"));
    }
    Ok(())
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// The data behind the header, as far as it is there.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        let end = (Repr::OCTETS + usize::from(self.payload_length())).min(octets.len());
        octets.get(Repr::OCTETS..end).unwrap_or_default()
    }
}
