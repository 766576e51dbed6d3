//! IPv4. Frames with options are read; none are written.

use crate::Error;
use crate::checksum::Sum;

/// Protocols above IPv4 and IPv6.
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// GRE.
    pub const GRE: u8 = 47;
}

/// Codepoints of explicit congestion notification (RFC 3168).
pub mod ecn {
    /// The transport does not take part.
    pub const NOT_ECT: u8 = 0;
    /// ECN-capable transport, codepoint 1.
    pub const ECT_1: u8 = 1;
    /// ECN-capable transport, codepoint 0.
    pub const ECT_0: u8 = 2;
    /// Congestion experienced.
    pub const CE: u8 = 3;
}

crate::field::format! {
    "ipv4", "IPv4", "RFC 791, RFC 2474, RFC 3168", 20 octets;
    /// 4.
    version, set_version: u8 = "Version", 0..4, usually 4;
    /// Words of 32 bits in the header, 5 without options.
    ihl, set_ihl: u8 = "IHL", 4..8, usually 5;
    /// Differentiated services codepoint.
    dscp, set_dscp: u8 = "DSCP", 8..14;
    /// Explicit congestion notification.
    ecn, set_ecn: u8 = "ECN", 14..16;
    /// Octets of header and data.
    total_length, set_total_length: u16 = "Total Length", 16..32;
    /// Number that fragments of a datagram share.
    identification, set_identification: u16 = "Identification", 32..48;
    /// Routers may not make fragments of it.
    dont_fragment, set_dont_fragment: bool = "DF", 49..50, usually 1;
    /// More fragments of it follow.
    more_fragments, set_more_fragments: bool = "MF", 50..51;
    /// Fragment offset, in units of 8 octets.
    fragment_offset, set_fragment_offset: u16 = "Fragment Offset", 51..64;
    /// Hops that are left.
    time_to_live, set_time_to_live: u8 = "Time to Live", 64..72, usually 64;
    /// The format behind the header: 6 TCP, 17 UDP.
    protocol, set_protocol: u8 = "Protocol", 72..80;
    /// Checksum of the header.
    header_checksum, set_header_checksum: u16 = "Header Checksum", 80..96 as Hex;
    /// Sender.
    source, set_source: [u8; 4] = "Source Address", 96..128, usually 0x0a00_0002;
    /// Receiver.
    destination, set_destination: [u8; 4] = "Destination Address", 128..160, usually 0x0a00_0001;
    reserved {
        /// Sent as 0.
        reserved_flag, set_reserved_flag: bool = "Reserved flag", 48..49;
    }
}

fn header(octets: &[u8]) -> usize {
    usize::from(octets.first().copied().unwrap_or(0) & 0xf) * 4
}

fn measure(octets: &[u8]) -> Result<usize, Error> {
    let header = header(octets);
    if header < Repr::OCTETS {
        return Err(FORMAT.illegal("ihl", octets, "5 to 15"));
    }
    if octets.len() < header {
        return Err(FORMAT.truncated("Options", Repr::OCTETS, header - Repr::OCTETS, octets.len() - Repr::OCTETS));
    }
    if (crate::field::read(octets, 16, 16) as usize) < header {
        return Err(FORMAT.illegal("total_length", octets, "at least the header's octets"));
    }
    Ok(header)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 0, 4) != 4 {
        return Err(FORMAT.illegal("version", octets, "4"));
    }
    if header(octets) < Repr::OCTETS {
        return Err(FORMAT.illegal("ihl", octets, "5 to 15"));
    }
    if (crate::field::read(octets, 16, 16) as usize) < header(octets) {
        return Err(FORMAT.illegal("total_length", octets, "at least the header's octets"));
    }
    Ok(())
}

/// The checksum that the header at the start of `octets` should have.
#[must_use]
pub fn checksum(octets: &[u8]) -> u16 {
    let header = octets.get(..header(octets).min(octets.len())).unwrap_or_default();
    let (before, after) = header.split_at(header.len().min(10));
    Sum::default().with(before).with(after.get(2..).unwrap_or_default()).checksum()
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// The data behind header and options, as far as it is there.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        let end = usize::from(self.total_length()).min(octets.len());
        octets.get(header(octets)..end).unwrap_or_default()
    }
}

impl Repr {
    /// A header for this number of octets of data, with its checksum.
    #[must_use]
    pub fn new(source: [u8; 4], destination: [u8; 4], protocol: u8, payload: u16) -> Self {
        Self {
            version: 4,
            ihl: 5,
            dscp: 0,
            ecn: 0,
            total_length: payload.saturating_add(Self::OCTETS as u16),
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: 64,
            protocol,
            header_checksum: 0,
            source,
            destination,
        }
        .with_checksum()
    }

    /// The same with the checksum that belongs to its values.
    #[must_use]
    pub fn with_checksum(mut self) -> Self {
        let mut octets = [0; Self::OCTETS];
        self.header_checksum = if self.emit(&mut octets).is_ok() { checksum(&octets) } else { 0 };
        self
    }
}
