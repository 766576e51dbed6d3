//! One LLDP frame: its sender, the time for which it holds, and its announcement of congestion notification. (802.1AB)
//!
//! A frame that breaks 802.1AB's order of TLVs is refused as a whole. A congestion notification TLV that breaks its format,
//! or a second one, counts as none: then the sender does not take part, which is the safe reading.

use core::fmt;

use penstock_wire::ethernet::ether_type;
use penstock_wire::lldp::{self, cn, tlv, tlv_type, ttl};
use penstock_wire::{Error, MacAddress, ethernet};

/// The longest frame without its check sequence.
pub const MOST_OCTETS: usize = 1514;

/// The most octets of a chassis or port identifier, its subtype included (clauses 8.5.2 and 8.5.3).
pub const MOST_IDENTIFIER: usize = 256;

/// The instances of LLDP, numbered from 1: nearest bridge, nearest bridge that is no two-port MAC relay, nearest customer
/// bridge. The MIB leaves the numbers to the table of addresses; these are Penstock's.
pub const INSTANCES: [MacAddress; 3] = [
    lldp::DESTINATION,
    MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x03]),
    MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x00]),
];

/// The announcement of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lldpdu<'a> {
    /// Its chassis identifier, with the subtype.
    pub chassis: &'a [u8],
    /// Its port identifier, with the subtype.
    pub port: &'a [u8],
    /// Seconds for which it holds; 0: no longer.
    pub seconds: u16,
    /// The congestion notification TLV.
    pub cn: Announced,
}

/// The congestion notification TLV of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announced {
    /// There is none.
    Nothing,
    /// Bits of the priorities, and of those that are ready.
    Priorities {
        /// Bit n: priority n is a congestion notification priority.
        cnpv: u8,
        /// Bit n: its priority is remapped no longer.
        ready: u8,
    },
    /// There is one that is not legal, or more than one.
    Wrong,
}

/// Why a frame is no legal LLDP frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It is longer than a frame can be.
    TooLong(usize),
    /// It is no LLDP frame.
    NotLldp,
    /// The TLV at this octet should be of another type: chassis, port and time to live come first, once each.
    Order(usize),
    /// A TLV is not whole or not legal.
    Format(Error),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(octets) => write!(f, "the frame has {octets} octets, more than {MOST_OCTETS}"),
            Self::NotLldp => f.write_str("this is no LLDP frame: its EtherType is not 88cc"),
            Self::Order(octet) => {
                write!(
                    f,
                    "lldp: the TLV at octet {octet} is out of order: chassis, port, time to live come first, once"
                )
            }
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Malformed {}

impl From<Error> for Malformed {
    fn from(error: Error) -> Self {
        Self::Format(error)
    }
}

/// Reads a frame, which begins with its destination address.
///
/// # Errors
/// It is no legal LLDP frame.
pub fn parse(frame: &[u8]) -> Result<Lldpdu<'_>, Malformed> {
    if frame.len() > MOST_OCTETS {
        return Err(Malformed::TooLong(frame.len()));
    }
    let header = ethernet::Packet::new_checked(frame)?;
    if header.ether_type() != ether_type::LLDP {
        return Err(Malformed::NotLldp);
    }
    let mut read = Tlvs { frame, at: ethernet::Repr::OCTETS };
    let chassis = read.identifier(tlv_type::CHASSIS_ID)?;
    let port = read.identifier(tlv_type::PORT_ID)?;
    let place = read.at;
    let (kind, time, _) = read.next()?;
    if kind != tlv_type::TIME_TO_LIVE {
        return Err(Malformed::Order(place));
    }
    let seconds = ttl::Packet::new_checked(time).map_err(|error| error.behind(place))?.seconds();
    Ok(Lldpdu { chassis, port, seconds, cn: read.announced()? })
}

struct Tlvs<'a> {
    frame: &'a [u8],
    at: usize,
}

impl<'a> Tlvs<'a> {
    /// The type of the next TLV, the whole of it, and its information.
    fn next(&mut self) -> Result<(u8, &'a [u8], &'a [u8]), Error> {
        let here = self.frame.get(self.at..).unwrap_or_default();
        let packet = tlv::Packet::new_checked(here).map_err(|error| error.behind(self.at))?;
        let (kind, end) = (packet.tlv_type(), tlv::Repr::OCTETS + usize::from(packet.length()));
        self.at += end;
        let whole = here.get(..end).unwrap_or_default();
        Ok((kind, whole, whole.get(tlv::Repr::OCTETS..).unwrap_or_default()))
    }

    fn identifier(&mut self, wanted: u8) -> Result<&'a [u8], Malformed> {
        let place = self.at;
        let (kind, _, information) = self.next()?;
        let right = kind == wanted && (2..=MOST_IDENTIFIER).contains(&information.len());
        if right { Ok(information) } else { Err(Malformed::Order(place)) }
    }

    /// The congestion notification TLV among the rest, up to the last TLV or the end of the frame.
    fn announced(&mut self) -> Result<Announced, Malformed> {
        let mut found = Announced::Nothing;
        while self.at < self.frame.len() {
            let place = self.at;
            let (kind, whole, information) = self.next()?;
            match kind {
                tlv_type::END if information.is_empty() => break,
                tlv_type::END | tlv_type::CHASSIS_ID | tlv_type::PORT_ID | tlv_type::TIME_TO_LIVE => {
                    return Err(Malformed::Order(place));
                }
                tlv_type::ORGANISATION if is_cn(information) => {
                    found = if found == Announced::Nothing { one(whole) } else { Announced::Wrong };
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

fn is_cn(information: &[u8]) -> bool {
    information.starts_with(&lldp::IEEE_802_1) && information.get(3) == Some(&lldp::subtype::CN)
}

fn one(whole: &[u8]) -> Announced {
    match cn::Packet::new_checked(whole).and_then(|packet| cn::Repr::parse(&packet)) {
        Ok(cn::Repr { cnpv, ready, .. }) => Announced::Priorities { cnpv, ready },
        Err(_) => Announced::Wrong,
    }
}

/// Writes the frame of a station: chassis by its address, port by its name, time to live, the TLV, and the end; the octets
/// that it has.
///
/// # Errors
/// It does not fit into `out`.
pub fn emit(
    station: &crate::Station<'_>,
    instance: u32,
    seconds: u16,
    tlv: Option<cn::Repr>,
    out: &mut [u8],
) -> Result<usize, Error> {
    let destination = INSTANCES.get(instance.wrapping_sub(1) as usize).copied().unwrap_or(lldp::DESTINATION);
    let ether_type = ether_type::LLDP;
    let mut at = ethernet::Repr { destination, source: station.address, ether_type }.emit(out)?;
    // Subtype 4 of a chassis is an address, subtype 5 of a port the name of an interface.
    let name = station.port.as_bytes().get(..(MOST_IDENTIFIER - 1).min(station.port.len())).unwrap_or_default();
    at += piece(out, at, tlv_type::CHASSIS_ID, 4, &station.address.0)?;
    at += piece(out, at, tlv_type::PORT_ID, 5, name)?;
    at += ttl::Repr { tlv_type: tlv_type::TIME_TO_LIVE, length: 2, seconds }.emit(rest(out, at))?;
    if let Some(tlv) = tlv {
        at += tlv.emit(rest(out, at))?;
    }
    at += tlv::Repr { tlv_type: tlv_type::END, length: 0 }.emit(rest(out, at))?;
    Ok(at)
}

fn rest(out: &mut [u8], at: usize) -> &mut [u8] {
    out.get_mut(at..).unwrap_or_default()
}

fn piece(out: &mut [u8], at: usize, tlv_type: u8, subtype: u8, text: &[u8]) -> Result<usize, Error> {
    let length = 1 + text.len();
    let head = tlv::Repr { tlv_type, length: length as u16 }.emit(rest(out, at))?;
    let (needs, has) = (head + length, out.len().saturating_sub(at));
    let Some(place) = rest(out, at).get_mut(head..needs) else {
        return Err(Error::NoRoom { format: tlv::FORMAT.name, needs, has });
    };
    place[0] = subtype;
    place[1..].copy_from_slice(text);
    Ok(needs)
}
