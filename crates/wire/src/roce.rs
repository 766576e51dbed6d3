//! RoCEv2, behind UDP port 4791: the base transport header, the congestion notification packet, and the invariant CRC.

use crate::checksum::Crc32;
use crate::{Error, ethernet::ether_type, fast_cnp, mrc};

/// Opcode of a congestion notification packet.
pub const CNP: u8 = 0x81;

/// Whether packets of an operation carry data: sends, writes, and responses to reads, of any transport service; no requests
/// to read, acknowledgements, atomic operations or notifications. (table 38 of chapter 9) MRC's writes have other opcodes.
#[must_use]
pub const fn carries_data(opcode: u8) -> bool {
    // The upper three bits are the service: 0 to 3 and 5 have these operations.
    matches!(opcode >> 5, 0..=3 | 5) && matches!(opcode & 0x1f, 0x00..=0x0b | 0x0d..=0x10 | 0x16 | 0x17)
        || mrc::carries_data(opcode)
}

/// Octets behind a CNP's header, all 0.
pub const CNP_RESERVED: usize = 16;

/// Octets of the invariant CRC, the last of a packet.
pub const ICRC: usize = 4;

crate::field::format! {
    "bth", "RoCEv2 base transport header", "InfiniBand Architecture Specification, volume 1, chapter 9 and annex A17 (RoCEv2)", 12 octets;
    /// The operation; 129 is a congestion notification packet.
    opcode, set_opcode: u8 = "OpCode", 0..8 as Hex;
    /// The receiver is to notify its user.
    se, set_se: bool = "SE", 8..9;
    /// State of migration.
    m, set_m: bool = "M", 9..10;
    /// Octets of padding at the data's end.
    pad_cnt, set_pad_cnt: u8 = "PadCnt", 10..12;
    /// Version of the transport header, 0.
    tver, set_tver: u8 = "TVer", 12..16;
    /// Partition key.
    p_key, set_p_key: u16 = "P_KEY", 16..32 as Hex, usually 0xffff;
    /// A forward congestion mark.
    fecn, set_fecn: bool = "FECN", 32..33;
    /// A backward congestion mark, set in a CNP.
    becn, set_becn: bool = "BECN", 33..34;
    /// Queue pair of the receiver.
    dest_qp, set_dest_qp: u32 = "DestQP", 40..64;
    /// An acknowledgement is wanted.
    a, set_a: bool = "A", 64..65;
    /// Packet sequence number.
    psn, set_psn: u32 = "PSN", 72..96;
    reserved {
        /// Sent as 0.
        reserved_6, set_reserved_6: u8 = "Resv6", 34..40;
        /// Sent as 0.
        reserved_7, set_reserved_7: u8 = "Resv7", 65..72;
    }
}

fn measure(_octets: &[u8]) -> Result<usize, Error> {
    Ok(Repr::OCTETS)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 12, 4) != 0 {
        return Err(FORMAT.illegal("tver", octets, "0, the only version"));
    }
    Ok(())
}

impl Repr {
    /// A congestion notification packet for a queue pair.
    #[must_use]
    pub fn cnp(dest_qp: u32) -> Self {
        Self {
            opcode: CNP,
            se: false,
            m: false,
            pad_cnt: 0,
            tver: 0,
            p_key: 0xffff,
            fecn: false,
            becn: true,
            dest_qp,
            a: false,
            psn: 0,
        }
    }
}

/// The four octets of the invariant CRC of a packet over IPv4 or IPv6 (which of them, the EtherType says): `octets` begin
/// with the IP header and end before the CRC.
///
/// It covers 8 octets of ones instead of InfiniBand's own header, then the packet. Fields that routers may change count as ones:
/// class of service, hops, flow label, checksums, and the octet of the congestion marks. (annex A17.3.3)
/// `None` if they are too short, or no UDP packet, or one with other options than those of a [`fast_cnp`].
#[must_use]
pub fn icrc(ether_type: u16, octets: &[u8]) -> Option<[u8; 4]> {
    const OPTIONS: usize = fast_cnp::Repr::OCTETS;
    const MOST: usize = crate::ipv6::Repr::OCTETS + OPTIONS + 8 + Repr::OCTETS;
    let (header, masked): (usize, &[usize]) = match ether_type {
        ether_type::IPV4 if octets.first() == Some(&0x45) && octets.get(9) == Some(&17) => (20, &[1, 8, 10, 11]),
        // Of the first octet's lower half, and the three behind it, no bit is the version's.
        ether_type::IPV6 if octets.first()? >> 4 == 6 => match (octets.get(6)?, octets.get(40..)?) {
            (17, _) => (40, &[1, 2, 3, 7]),
            (&fast_cnp::NEXT_HEADER, options) if fast_cnp::is_one(options) && options[0] == 17 => {
                (40 + OPTIONS, &[1, 2, 3, 7])
            }
            _ => return None,
        },
        _ => return None,
    };
    let length = header + 8 + Repr::OCTETS;
    let mut head = [0; MOST];
    let head = head.get_mut(..length)?;
    head.copy_from_slice(octets.get(..length)?);
    for &at in masked {
        head[at] = 0xff;
    }
    if ether_type == ether_type::IPV6 {
        head[0] |= 0x0f;
    }
    for at in [header + 6, header + 7, header + 12] {
        head[at] = 0xff;
    }
    let crc = Crc32::default().with(&[0xff; 8]).with(head).with(octets.get(length..)?);
    Some(crc.value().to_le_bytes())
}
