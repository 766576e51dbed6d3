//! Frames from texts: the kind of a frame, and values of its fields by their names.
//!
//! ```
//! use penstock_wire::encode::encode;
//!
//! let frame = encode("cnm", &[("quantized_feedback", "25"), ("flow_identifier", "5")])?;
//! assert_eq!(frame.len(), 60);
//! assert_eq!(frame[12..20], [0x22, 0xe9, 0x00, 0x05, 0x22, 0xe7, 0x00, 0x19]);
//! # Ok::<(), penstock_wire::encode::EncodeError>(())
//! ```

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::checksum::PseudoHeader;
use crate::ethernet::ether_type;
use crate::{
    FORMATS, Field, Format, Show, cn_tag, ethernet, fast_cnp, ipv4, ipv6, lldp, mac_control, mrc, roce, tcp, udp, vlan,
};

/// A kind of frame that can be written.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its description, a short text.
    pub title: &'static str,
    /// Its formats from the outside in; those with `false` are left out unless one of their fields has a value.
    pub formats: Cow<'static, [(&'static Format, bool)]>,
    /// The name of the octets behind the formats, if there may be any.
    pub rest: Option<&'static str>,
    values: &'static [(&'static str, u128)],
}

impl Kind {
    /// Whether it is a packet of RoCEv2 that notifies.
    fn is_cnp(&self) -> bool {
        matches!(self.name, "cnp" | "fast_cnp")
    }

    /// Whether it is a packet of RoCEv2.
    fn is_roce(&self) -> bool {
        self.is_cnp() || self.name.starts_with("mrc_")
    }
}

const ETHERNET: (&Format, bool) = (&ethernet::FORMAT, true);
const VLAN: (&Format, bool) = (&vlan::FORMAT, false);
const CN_TAG: (&Format, bool) = (&cn_tag::FORMAT, false);

const CONTROL: (&str, u128) = ("eth.destination", 0x0180_c200_0001);

/// Every kind of frame that can be written: those below, and each message.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let is_other =
        |format: &Format| FRAMES.iter().any(|kind| kind.formats.iter().any(|known| known.0.name == format.name));
    let messages = FORMATS.iter().filter(move |format| !is_other(format)).filter_map(|&format| {
        let message = format.message?;
        // The messages of an EtherType have a field for the flow.
        let tag = (format.field("subtype").is_none()).then_some(CN_TAG);
        let formats = [ETHERNET, VLAN].into_iter().chain(tag).chain([(format, true)]).collect();
        let rest = if format.is_tag() { Some("payload") } else { message.sampled.map(|_| "msdu") };
        Some(Kind { name: format.name, title: format.title, formats, rest, values: &[] })
    });
    FRAMES.iter().cloned().chain(messages)
}

/// A packet of RoCEv2 with a header of MRC.
macro_rules! mrc_kind {
    ($name:literal, $title:literal, $($module:ident)::+, $opcode:expr) => {
        Kind {
            name: $name,
            title: $title,
            formats: Cow::Borrowed(&[
                ETHERNET,
                VLAN,
                (&ipv4::FORMAT, true),
                (&udp::FORMAT, true),
                (&roce::FORMAT, true),
                (&$($module)::+::FORMAT, true),
            ]),
            rest: None,
            values: &[
                ("ipv4.protocol", ipv4::protocol::UDP as u128),
                ("ipv4.dscp", 48),
                ("udp.source_port", 49_152),
                ("udp.destination_port", udp::ROCE as u128),
                ("bth.opcode", $opcode as u128),
            ],
        }
    };
}

const FRAMES: &[Kind] = &[
    Kind {
        name: "data",
        title: "a data frame, of which the CN-TAG names the flow",
        formats: Cow::Borrowed(&[ETHERNET, VLAN, (&cn_tag::FORMAT, true)]),
        rest: Some("payload"),
        values: &[],
    },
    Kind {
        name: "pause",
        title: "a PAUSE frame",
        formats: Cow::Borrowed(&[ETHERNET, (&mac_control::pause::FORMAT, true)]),
        rest: None,
        values: &[CONTROL],
    },
    Kind {
        name: "pfc",
        title: "a frame of priority-based flow control",
        formats: Cow::Borrowed(&[ETHERNET, (&mac_control::pfc::FORMAT, true)]),
        rest: None,
        values: &[CONTROL],
    },
    Kind {
        name: "lldp",
        title: "an LLDP frame with the congestion notification TLV, or TLVs of PFC and ETS",
        formats: Cow::Borrowed(&[
            ETHERNET,
            (&lldp::ttl::FORMAT, true),
            (&lldp::cn::FORMAT, false),
            (&lldp::pfc::FORMAT, false),
            (&lldp::ets_configuration::FORMAT, false),
            (&lldp::ets_recommendation::FORMAT, false),
        ]),
        rest: None,
        values: &[("eth.destination", 0x0180_c200_000e)],
    },
    Kind {
        name: "cnp",
        title: "a congestion notification packet of RoCEv2",
        formats: Cow::Borrowed(&[ETHERNET, VLAN, (&ipv4::FORMAT, true), (&udp::FORMAT, true), (&roce::FORMAT, true)]),
        rest: None,
        values: &[
            ("ipv4.protocol", ipv4::protocol::UDP as u128),
            ("ipv4.dscp", 48),
            ("udp.source_port", 49_152),
            ("udp.destination_port", udp::ROCE as u128),
            ("bth.opcode", roce::CNP as u128),
            ("bth.becn", 1),
        ],
    },
    Kind {
        name: "fast_cnp",
        title: "a congestion notification packet of a switch, with the flow's destination",
        formats: Cow::Borrowed(&[
            ETHERNET,
            VLAN,
            (&ipv6::FORMAT, true),
            (&fast_cnp::FORMAT, true),
            (&udp::FORMAT, true),
            (&roce::FORMAT, true),
        ]),
        rest: None,
        values: &[
            ("ipv6.next_header", fast_cnp::NEXT_HEADER as u128),
            ("ipv6.dscp", 48),
            ("udp.source_port", 49_152),
            ("udp.destination_port", udp::ROCE as u128),
            ("bth.opcode", roce::CNP as u128),
            ("bth.becn", 1),
        ],
    },
    mrc_kind!("mrc_sack", "a selective acknowledgement of MRC", mrc, mrc::SACK),
    mrc_kind!("mrc_nack", "a negative acknowledgement of MRC", mrc::nack, mrc::NACK),
    mrc_kind!("mrc_probe", "a probe of a path by MRC", mrc::probe, mrc::PROBE),
    mrc_kind!(
        "mrc_endpoint_request",
        "a request of MRC between interfaces",
        mrc::endpoint_request,
        mrc::ENDPOINT_REQUEST
    ),
    mrc_kind!(
        "mrc_endpoint_response",
        "a response of MRC between interfaces",
        mrc::endpoint_response,
        mrc::ENDPOINT_RESPONSE
    ),
    Kind {
        name: "udp",
        title: "a UDP datagram over IPv4",
        formats: Cow::Borrowed(&[ETHERNET, VLAN, CN_TAG, (&ipv4::FORMAT, true), (&udp::FORMAT, true)]),
        rest: Some("payload"),
        values: &[("ipv4.protocol", ipv4::protocol::UDP as u128)],
    },
    Kind {
        name: "udp6",
        title: "a UDP datagram over IPv6",
        formats: Cow::Borrowed(&[ETHERNET, VLAN, CN_TAG, (&ipv6::FORMAT, true), (&udp::FORMAT, true)]),
        rest: Some("payload"),
        values: &[("ipv6.next_header", ipv4::protocol::UDP as u128)],
    },
    Kind {
        name: "tcp",
        title: "a TCP segment over IPv4",
        formats: Cow::Borrowed(&[
            ETHERNET,
            VLAN,
            CN_TAG,
            (&ipv4::FORMAT, true),
            (&tcp::FORMAT, true),
            (&tcp::mss::FORMAT, false),
            (&tcp::sack::FORMAT, false),
        ]),
        rest: Some("payload"),
        values: &[("ipv4.protocol", ipv4::protocol::TCP as u128)],
    },
];

/// Why texts are no frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// No kind has this name.
    Kind(String),
    /// The kind of frame has no field of this name; the second text says which it has.
    Key(String, String),
    /// A field of this name has a value already.
    Twice(String),
    /// The text is no value of the field; the third text says what would be.
    Value(String, String, String),
    /// The frame would be longer than a frame can be.
    Long(usize),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(name) => {
                write!(f, "no kind of frame is called '{name}'; there are ")?;
                for (i, kind) in kinds().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, kind.name)?;
                }
                Ok(())
            }
            Self::Key(key, known) => write!(f, "the frame has no field '{key}'; it has {known}"),
            Self::Twice(key) => write!(f, "'{key}' has a value already: leave one of them out"),
            Self::Value(key, text, wanted) => write!(f, "{key} cannot be '{text}': it takes {wanted}"),
            Self::Long(octets) => write!(f, "the frame would have {octets} octets; it can have {MOST}"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// The longest frame that is written.
pub const MOST: usize = 65_535;

/// EtherType of data that has none: a reserved value.
const NO_TYPE: u16 = 0xffff;

/// One format of the frame that is being made.
struct Part {
    format: &'static Format,
    at: usize,
    /// Fields that have a value from outside.
    given: Vec<&'static str>,
}

/// The octets of a frame, without its check sequence, padded to 60 octets.
///
/// Each pair is the name of a field and its value. A name without its format is that of the innermost format which has it;
/// `eth.source` names one by its format. The other fields have their usual values: EtherTypes, lengths and checksums
/// follow from the rest. Given values are written as they are, wrong ones too, so that frames can be made which are
/// malformed.
///
/// # Errors
/// If the kind, a name or a value is none.
pub fn encode(kind: &str, pairs: &[(&str, &str)]) -> Result<Vec<u8>, EncodeError> {
    let Some(kind) = &kinds().find(|known| known.name == kind) else {
        return Err(EncodeError::Kind(kind.to_string()));
    };
    let mut values: Vec<(&'static Format, &'static Field, u128)> = Vec::new();
    let mut rest = None;
    for &(key, text) in pairs {
        if Some(key) == kind.rest {
            if rest.replace(parse_octets(key, text)?).is_some() {
                return Err(EncodeError::Twice(key.to_string()));
            }
            continue;
        }
        let (format, field) = find(kind, key)?;
        if values.iter().any(|&(given, other, _)| given.name == format.name && other.name == field.name) {
            return Err(EncodeError::Twice(key.to_string()));
        }
        values.push((format, field, parse(key, field, text)?));
    }

    let mut frame = Vec::new();
    let mut parts = Vec::new();
    for &(format, always) in &*kind.formats {
        let given: Vec<_> = values.iter().filter(|value| value.0.name == format.name).collect();
        if always || !given.is_empty() {
            let at = frame.len();
            frame.resize(at + format.octets, 0);
            let octets = &mut frame[at..];
            defaults(kind, format, octets);
            for (_, field, value) in &given {
                field.write(octets, *value);
            }
            // Chassis and port precede the time to live, and are no separate formats.
            if format.name == lldp::ttl::FORMAT.name {
                name_port(&mut frame, at);
            }
            let at = frame.len() - format.octets;
            // Options fill words of 32 bits.
            if format.name == tcp::sack::FORMAT.name {
                frame.extend([tcp::option_kind::NO_OPERATION; 2]);
            }
            parts.push(Part { format, at, given: given.iter().map(|value| value.1.name).collect() });
        }
    }
    if kind.name == "lldp" {
        frame.extend([0, 0]);
    }
    if kind.is_cnp() {
        frame.extend([0; roce::CNP_RESERVED]);
    }
    let behind = frame.len();
    frame.extend(rest.as_deref().unwrap_or_default());
    if kind.is_roce() {
        frame.extend([0; roce::ICRC]);
    }
    if frame.len() > MOST {
        return Err(EncodeError::Long(frame.len()));
    }
    lengths(&mut frame, &parts, behind);
    checksums(&mut frame, &parts, kind);
    if frame.len() < ethernet::LEAST {
        frame.resize(ethernet::LEAST, 0);
    }
    Ok(frame)
}

fn find(kind: &Kind, key: &str) -> Result<(&'static Format, &'static Field), EncodeError> {
    let (wanted, name) = key.split_once('.').map_or((None, key), |(format, name)| (Some(format), name));
    let formats = || kind.formats.iter().map(|&(format, _)| format);
    let fits = |format: &&'static Format| wanted.is_none_or(|wanted| wanted == format.name);
    let found = formats().rev().filter(fits).find_map(|format| Some((format, format.field(name)?)));
    found.ok_or_else(|| {
        let mut names: Vec<String> = formats()
            .flat_map(|format| format.fields.iter().map(move |field| format!("{}.{}", format.name, field.name)))
            .collect();
        names.extend(kind.rest.map(ToString::to_string));
        EncodeError::Key(key.to_string(), names.join(", "))
    })
}

fn parse(key: &str, field: &Field, text: &str) -> Result<u128, EncodeError> {
    let wrong = |wanted: String| EncodeError::Value(key.to_string(), text.to_string(), wanted);
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u128::from_str_radix(digits, 16).ok(),
        _ if text.starts_with('+') => None,
        _ => text.parse().ok(),
    };
    match field.show {
        Show::Mac => mac(text).ok_or_else(|| wrong("a MAC address such as 02:00:00:00:00:01".into())),
        Show::Ipv4 => text
            .parse::<core::net::Ipv4Addr>()
            .map(|address| address.to_bits().into())
            .map_err(|_| wrong("an IPv4 address such as 10.0.0.1".into())),
        Show::Ipv6 => text
            .parse::<core::net::Ipv6Addr>()
            .map(core::net::Ipv6Addr::to_bits)
            .map_err(|_| wrong("an IPv6 address such as fd00::1".into())),
        Show::Signed => {
            let half = 1i128 << (field.bits - 1);
            let value = text.parse().ok().filter(|value| !text.starts_with('+') && (-half..half).contains(value));
            let value = value.ok_or_else(|| wrong(format!("a whole number from {} to {}", -half, half - 1)))?;
            Ok(value as u128 & field.largest())
        }
        Show::Number | Show::Flag | Show::Hex => number(text)
            .filter(|&value| value <= field.largest())
            .ok_or_else(|| wrong(format!("a whole number from 0 to {}, or hexadecimal behind 0x", field.largest()))),
    }
}

fn mac(text: &str) -> Option<u128> {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let octet = |part: &&str| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_hexdigit());
        if digits { u128::from_str_radix(part, 16).ok() } else { None }
    };
    if parts.len() != 6 {
        return None;
    }
    parts.iter().try_fold(0, |sum, part| Some(sum << 8 | octet(part)?))
}

/// Octets written as hexadecimal digits; blanks, colons and dashes between octets are left out.
///
/// # Errors
/// [`EncodeError::Value`] if there is something else, or half an octet.
pub fn parse_octets(key: &str, text: &str) -> Result<Vec<u8>, EncodeError> {
    let wrong = || EncodeError::Value(key.to_string(), text.to_string(), "hexadecimal digits, two an octet".into());
    let digits = text.strip_prefix("0x").unwrap_or(text).chars().filter(|c| !c.is_whitespace() && !":-".contains(*c));
    let digits = digits.map(|c| c.to_digit(16)).collect::<Option<Vec<u32>>>().ok_or_else(wrong)?;
    let (pairs, half) = digits.as_chunks::<2>();
    if half.is_empty() { Ok(pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect()) } else { Err(wrong()) }
}

/// The usual values of a format's fields.
fn defaults(kind: &Kind, format: &'static Format, octets: &mut [u8]) {
    for field in format.fields {
        let own = kind.values.iter().find(|(name, _)| name.split_once('.') == Some((format.name, field.name)));
        field.write(octets, own.map_or(field.usual, |&(_, value)| value));
    }
}

/// Chassis and port before the time to live: the source's address, and port 1.
fn name_port(frame: &mut Vec<u8>, at: usize) {
    let source: Vec<u8> = frame.get(6..12).unwrap_or_default().to_vec();
    let mut head = vec![lldp::tlv_type::CHASSIS_ID << 1, 7, 4];
    head.extend(source);
    head.extend([lldp::tlv_type::PORT_ID << 1, 2, 7, b'1']);
    frame.splice(at..at, head);
}

/// EtherTypes and lengths that were not given.
fn lengths(frame: &mut [u8], parts: &[Part], behind: usize) {
    let total = frame.len();
    for (i, part) in parts.iter().enumerate() {
        let sampled = part.format.message.and_then(|message| message.sampled);
        let value = |name: &str| -> Option<usize> {
            Some(match (part.format.name, name) {
                (_, "ether_type") => usize::from(next_type(parts, i)),
                (_, name) if sampled.is_some_and(|sampled| sampled.length == name) => total - behind,
                ("ipv4", "total_length") => total - part.at,
                ("ipv6", "payload_length") => total - part.at - ipv6::Repr::OCTETS,
                ("udp", "length") => total - part.at,
                ("tcp", "data_offset") => (behind - part.at) / 4,
                _ => return None,
            })
        };
        for field in part.format.fields.iter().filter(|field| !part.given.contains(&field.name)) {
            if let Some(value) = value(field.name) {
                field.write(frame.get_mut(part.at..).unwrap_or_default(), value as u128);
            }
        }
    }
}

/// The EtherType of the format behind the one of this index.
fn next_type(parts: &[Part], i: usize) -> u16 {
    let Some(next) = parts.get(i + 1) else { return NO_TYPE };
    if let Some(message) = next.format.message {
        return message.ether_type;
    }
    match next.format.name {
        "vlan" => ether_type::VLAN,
        "pause" | "pfc" => ether_type::MAC_CONTROL,
        "ipv4" => ether_type::IPV4,
        "ipv6" => ether_type::IPV6,
        "lldp_ttl" => ether_type::LLDP,
        _ => NO_TYPE,
    }
}

/// Checksums that were not given, from the inside out.
fn checksums(frame: &mut [u8], parts: &[Part], kind: &Kind) {
    let place = |name: &str| parts.iter().find(|part| part.format.name == name);
    let open = |part: &Part, field: &str| !part.given.contains(&field);
    let mut pseudo = None;
    if let Some(part) = place("ipv4") {
        let octets = frame.get_mut(part.at..).unwrap_or_default();
        if open(part, "header_checksum") {
            let checksum = ipv4::checksum(octets);
            octets[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        pseudo = ipv4::Packet::new_checked(&*octets)
            .ok()
            .map(|packet| PseudoHeader::Ipv4(packet.source(), packet.destination(), packet.protocol()));
    }
    if let Some(part) = place("ipv6") {
        let options = place("fast_cnp").and_then(|part| fast_cnp::Packet::new_checked(&frame[part.at..]).ok());
        pseudo = ipv6::Packet::new_checked(&frame[part.at..]).ok().map(|packet| {
            let next = options.map_or(packet.next_header(), |options| options.next_header());
            PseudoHeader::Ipv6(packet.source(), packet.destination(), next)
        });
    }
    let network = [("ipv4", ether_type::IPV4), ("ipv6", ether_type::IPV6)];
    if kind.is_roce()
        && let Some((part, ether_type)) = network.iter().find_map(|&(name, kind)| Some((place(name)?, kind)))
        && let Some(end) = frame.len().checked_sub(roce::ICRC)
        && let Some(icrc) = roce::icrc(ether_type, &frame[part.at..end])
    {
        frame[end..].copy_from_slice(&icrc);
    }
    if let (Some(part), Some(pseudo)) = (place("udp"), pseudo)
        && open(part, "checksum")
        // RoCEv2 over IPv4 has an invariant CRC instead.
        && (kind.name == "fast_cnp" || !kind.is_roce())
    {
        let checksum = udp::checksum(&frame[part.at..], pseudo);
        frame[part.at + 6..part.at + 8].copy_from_slice(&checksum.to_be_bytes());
    }
    if let (Some(part), Some(pseudo)) = (place("tcp"), pseudo)
        && open(part, "checksum")
    {
        let checksum = tcp::checksum(&frame[part.at..], pseudo);
        frame[part.at + 16..part.at + 18].copy_from_slice(&checksum.to_be_bytes());
    }
}
