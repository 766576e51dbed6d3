//! TCP: header, and the options that concern congestion: maximum segment size and selective acknowledgements.

use crate::checksum::PseudoHeader;
use crate::{Error, Format};

/// Kinds of options.
pub mod option_kind {
    /// The options end.
    pub const END: u8 = 0;
    /// Padding of an octet.
    pub const NO_OPERATION: u8 = 1;
    /// Maximum segment size.
    pub const MSS: u8 = 2;
    /// Selective acknowledgements may be sent.
    pub const SACK_PERMITTED: u8 = 4;
    /// A selective acknowledgement.
    pub const SACK: u8 = 5;
}

crate::field::format! {
    "tcp", "TCP", "RFC 9293, RFC 3168", 20 octets;
    /// Port of the sender.
    source_port, set_source_port: u16 = "Source Port", 0..16;
    /// Port of the receiver.
    destination_port, set_destination_port: u16 = "Destination Port", 16..32;
    /// Number of the first octet of data.
    sequence_number, set_sequence_number: u32 = "Sequence Number", 32..64;
    /// Number of the octet that is expected next.
    acknowledgment_number, set_acknowledgment_number: u32 = "Acknowledgment Number", 64..96;
    /// Words of 32 bits in the header, 5 without options.
    data_offset, set_data_offset: u8 = "Data Offset", 96..100;
    /// The congestion window was reduced.
    cwr, set_cwr: bool = "CWR", 104..105;
    /// A mark was seen (ECN-Echo).
    ece, set_ece: bool = "ECE", 105..106;
    /// The urgent pointer counts.
    urg, set_urg: bool = "URG", 106..107;
    /// The acknowledgment number counts.
    ack, set_ack: bool = "ACK", 107..108;
    /// Data is to be handed on at once.
    psh, set_psh: bool = "PSH", 108..109;
    /// The connection is reset.
    rst, set_rst: bool = "RST", 109..110;
    /// Sequence numbers begin.
    syn, set_syn: bool = "SYN", 110..111;
    /// The sender has no more data.
    fin, set_fin: bool = "FIN", 111..112;
    /// Octets that the receiver takes, before scaling.
    window, set_window: u16 = "Window", 112..128, usually 65_535;
    /// Checksum of addresses, header and data.
    checksum, set_checksum: u16 = "Checksum", 128..144 as Hex;
    /// Where urgent data ends.
    urgent_pointer, set_urgent_pointer: u16 = "Urgent Pointer", 144..160;
    reserved {
        /// Sent as 0.
        reserved, set_reserved: u8 = "Rsrvd", 100..104;
    }
}

fn header(octets: &[u8]) -> usize {
    crate::field::read(octets, 96, 4) as usize * 4
}

fn measure(octets: &[u8]) -> Result<usize, Error> {
    legal(octets)?;
    let header = header(octets);
    if octets.len() < header {
        return Err(FORMAT.truncated("Options", Repr::OCTETS, header - Repr::OCTETS, octets.len() - Repr::OCTETS));
    }
    Ok(header)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if header(octets) < Repr::OCTETS {
        return Err(FORMAT.illegal("data_offset", octets, "5 to 15"));
    }
    Ok(())
}

/// The checksum that the segment in `octets`, header and data, should have.
#[must_use]
pub fn checksum(octets: &[u8], pseudo: PseudoHeader) -> u16 {
    let (before, after) = octets.split_at(octets.len().min(16));
    pseudo.sum(octets.len() as u32).with(before).with(after.get(2..).unwrap_or_default()).checksum()
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// The options, as far as they are there.
    #[must_use]
    pub fn options(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        octets.get(Repr::OCTETS..header(octets).min(octets.len())).unwrap_or_default()
    }

    /// The data behind header and options.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        octets.get(header(octets)..).unwrap_or_default()
    }
}

/// Any option of more than one octet.
pub mod option {
    use crate::Error;

    crate::field::format! {
        "tcp_option", "TCP option", "RFC 9293, section 3.2", 2 octets;
        /// The option.
        kind, set_kind: u8 = "Kind", 0..8;
        /// Octets of the option with these two.
        length, set_length: u8 = "Length", 8..16;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        legal(octets)?;
        let (needs, has) = (usize::from(octets.get(1).copied().unwrap_or(2)), octets.len());
        if has < needs {
            return Err(FORMAT.truncated("option", 0, needs, has));
        }
        Ok(needs)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        if octets.get(1).is_none_or(|&length| length < 2) {
            return Err(FORMAT.illegal("length", octets, "at least 2"));
        }
        Ok(())
    }
}

/// Maximum segment size.
pub mod mss {
    use crate::Error;

    crate::field::format! {
        "tcp_mss", "TCP maximum segment size", "RFC 9293, section 3.7.1", 4 octets;
        /// 2.
        kind, set_kind: u8 = "Kind", 0..8, usually 2;
        /// 4.
        length, set_length: u8 = "Length", 8..16, usually 4;
        /// The largest segment that the sender of the option takes, octets.
        mss, set_mss: u16 = "Maximum Segment Size", 16..32;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        legal(octets)?;
        Ok(Repr::OCTETS)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::option_head(&FORMAT, octets, super::option_kind::MSS, 4, ("2", "4"))
    }
}

/// Selective acknowledgements may be sent.
pub mod sack_permitted {
    use crate::Error;

    crate::field::format! {
        "tcp_sack_permitted", "TCP SACK permitted", "RFC 2018, section 2", 2 octets;
        /// 4.
        kind, set_kind: u8 = "Kind", 0..8, usually 4;
        /// 2.
        length, set_length: u8 = "Length", 8..16, usually 2;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        legal(octets)?;
        Ok(Repr::OCTETS)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::option_head(&FORMAT, octets, super::option_kind::SACK_PERMITTED, 2, ("4", "2"))
    }
}

/// A selective acknowledgement of one to four blocks: the first is in its fields, all are in [`blocks`](Packet::blocks).
pub mod sack {
    use crate::Error;

    crate::field::format! {
        "tcp_sack", "TCP selective acknowledgement", "RFC 2018, section 3", 10 octets;
        /// 5.
        kind, set_kind: u8 = "Kind", 0..8, usually 5;
        /// 2 and 8 for each block.
        length, set_length: u8 = "Length", 8..16, usually 10;
        /// The first octet of the first block.
        left_edge, set_left_edge: u32 = "Left Edge of 1st Block", 16..48;
        /// The octet behind it.
        right_edge, set_right_edge: u32 = "Right Edge of 1st Block", 48..80;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        legal(octets)?;
        let (needs, has) = (usize::from(octets.get(1).copied().unwrap_or(10)), octets.len());
        if has < needs {
            return Err(FORMAT.truncated("blocks", 2, needs - 2, has.saturating_sub(2)));
        }
        Ok(needs)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        if octets.first() != Some(&super::option_kind::SACK) {
            return Err(FORMAT.illegal("kind", octets, "5"));
        }
        match octets.get(1) {
            Some(10 | 18 | 26 | 34) => Ok(()),
            _ => Err(FORMAT.illegal("length", octets, "10, 18, 26 or 34")),
        }
    }

    impl<T: AsRef<[u8]>> Packet<T> {
        /// Left and right edge of each block.
        pub fn blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
            let octets = self.octets.as_ref();
            let end = usize::from(self.length()).min(octets.len());
            let blocks = octets.get(2..end).unwrap_or_default().chunks_exact(8);
            blocks.map(|block| (crate::field::read(block, 0, 32) as u32, crate::field::read(block, 32, 32) as u32))
        }
    }
}

fn option_head(
    format: &Format,
    octets: &[u8],
    kind: u8,
    length: u8,
    wanted: (&'static str, &'static str),
) -> Result<(), Error> {
    if octets.first() != Some(&kind) {
        return Err(format.illegal("kind", octets, wanted.0));
    }
    if octets.get(1) != Some(&length) {
        return Err(format.illegal("length", octets, wanted.1));
    }
    Ok(())
}

/// The format of the option at the start of `octets`, which is longer than an octet.
pub(crate) fn option_format(octets: &[u8]) -> &'static Format {
    match octets.first() {
        Some(&option_kind::MSS) => &mss::FORMAT,
        Some(&option_kind::SACK_PERMITTED) => &sack_permitted::FORMAT,
        Some(&option_kind::SACK) => &sack::FORMAT,
        _ => &option::FORMAT,
    }
}
