//! The content of TLVs whose length differs: who sends, and what it tells about its port. (802.1AB clause 8.5, 802.1Q annex D,
//! 802.3 clause 79, and CEE's DCBX 1.01, which devices spoke before 802.1Qaz)

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use super::{IEEE_802_1, tlv, tlv_type};
use crate::{Error, MacAddress};

/// The organisation of 802.3's own TLVs.
pub const IEEE_802_3: [u8; 3] = [0x00, 0x12, 0x0f];

/// The organisation of DCBX before 802.1Qaz: CEE's is subtype 2.
pub const CEE: [u8; 3] = [0x00, 0x1b, 0x21];

/// The most octets of a TLV that nobody knows which are shown.
const SHOWN: usize = 64;

/// The parts of a TLV, each with its name, in their order; and the fault of the first that is not whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Content {
    /// Name and value of each part.
    pub parts: Vec<(&'static str, String)>,
    /// Its octets end within a part.
    pub fault: Option<Error>,
}

/// The content of the TLV at the start of `octets`. That of a TLV whose format has fields for it is empty.
#[must_use]
pub fn content(octets: &[u8]) -> Content {
    let Ok(head) = tlv::Packet::new_checked(octets) else { return Content::default() };
    let mut parts = Parts { octets: head.information(), at: 0, found: Vec::new() };
    let read = match head.tlv_type() {
        tlv_type::END | tlv_type::TIME_TO_LIVE => Ok(()),
        tlv_type::CHASSIS_ID => parts.identifier("Chassis ID", &CHASSIS),
        tlv_type::PORT_ID => parts.identifier("Port ID", &PORT),
        4 => parts.text("Port description"),
        5 => parts.text("System name"),
        6 => parts.text("System description"),
        7 => parts.capabilities(),
        8 => parts.management_address(),
        tlv_type::ORGANISATION => parts.organisation(super::format_of(octets).name != tlv::FORMAT.name),
        _ => parts.rest("Octets"),
    };
    let fault = read.err().map(|Short { part, needs }| {
        let has = parts.octets.len() - parts.at;
        tlv::FORMAT.truncated(part, tlv::Repr::OCTETS + parts.at, needs, has)
    });
    Content { parts: parts.found, fault }
}

/// Kinds of identifiers, from 1.
const CHASSIS: [&str; 7] =
    ["chassis component", "interface alias", "port component", MAC, ADDRESS, "interface name", "local"];
const PORT: [&str; 7] = ["interface alias", "port component", MAC, ADDRESS, "interface name", "agent circuit", "local"];
const MAC: &str = "MAC address";
const ADDRESS: &str = "network address";

/// Bits of a system's capabilities, from the lowest.
const CAPABILITIES: [&str; 11] = [
    "other",
    "repeater",
    "bridge",
    "WLAN access point",
    "router",
    "telephone",
    "DOCSIS cable device",
    "station only",
    "C-VLAN component",
    "S-VLAN component",
    "two-port MAC relay",
];

/// A part that the octets of the TLV do not hold whole.
struct Short {
    part: &'static str,
    needs: usize,
}

struct Parts<'a> {
    octets: &'a [u8],
    at: usize,
    found: Vec<(&'static str, String)>,
}

impl<'a> Parts<'a> {
    fn take(&mut self, part: &'static str, needs: usize) -> Result<&'a [u8], Short> {
        let taken = self.octets.get(self.at..self.at + needs).ok_or(Short { part, needs })?;
        self.at += needs;
        Ok(taken)
    }

    fn number(&mut self, part: &'static str, octets: usize) -> Result<u32, Short> {
        Ok(self.take(part, octets)?.iter().fold(0, |sum, &octet| sum << 8 | u32::from(octet)))
    }

    fn left(&mut self) -> &'a [u8] {
        let left = self.octets.get(self.at..).unwrap_or_default();
        self.at = self.octets.len();
        left
    }

    fn say(&mut self, part: &'static str, value: impl Into<String>) {
        self.found.push((part, value.into()));
    }

    /// A number that is a part.
    fn say_number(&mut self, part: &'static str, octets: usize) -> Result<(), Short> {
        let number = self.number(part, octets)?;
        self.say(part, number.to_string());
        Ok(())
    }

    fn text(&mut self, part: &'static str) -> Result<(), Short> {
        let text = text(self.left());
        self.say(part, text);
        Ok(())
    }

    fn rest(&mut self, part: &'static str) -> Result<(), Short> {
        let left = self.left();
        if !left.is_empty() {
            let more = if left.len() > SHOWN { " …" } else { "" };
            self.say(part, hex(left.get(..SHOWN).unwrap_or(left)) + more);
        }
        Ok(())
    }

    fn identifier(&mut self, part: &'static str, kinds: &[&'static str]) -> Result<(), Short> {
        let subtype = self.number(part, 1)? as usize;
        let kind = subtype.checked_sub(1).and_then(|place| kinds.get(place)).copied();
        let id = self.take(part, (self.octets.len() - self.at).max(1))?;
        let shown = match kind {
            Some(MAC) => mac(id),
            Some(ADDRESS) => address(id),
            Some(_) => Some(text(id)),
            None => None,
        };
        let kind = kind.map_or_else(|| Cow::Owned(format!("subtype {subtype}")), Cow::Borrowed);
        self.say(part, format!("{} ({kind})", shown.unwrap_or_else(|| hex(id))));
        Ok(())
    }

    fn capabilities(&mut self) -> Result<(), Short> {
        for part in ["System capabilities", "Enabled capabilities"] {
            let bits = self.number(part, 2)?;
            let names = CAPABILITIES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
            let names: Vec<&str> = names.map(|(_, &name)| name).collect();
            self.say(part, if names.is_empty() { "none".to_string() } else { names.join(", ") });
        }
        Ok(())
    }

    fn management_address(&mut self) -> Result<(), Short> {
        const PART: &str = "Management address";
        let octets = self.number(PART, 1)? as usize;
        let id = self.take(PART, octets)?;
        self.say(PART, address(id).unwrap_or_else(|| hex(id)));
        self.number("Interface numbering", 1)?;
        self.say_number("Interface number", 4)
    }

    /// Behind the organisation and its subtype; `known`: fields say it.
    fn organisation(&mut self, known: bool) -> Result<(), Short> {
        if known {
            return Ok(());
        }
        let id: [u8; 3] = self.take("OUI", 3)?.try_into().unwrap_or_default();
        let [a, b, c] = id;
        let subtype = self.number("Subtype", 1)?;
        let name = match id {
            IEEE_802_1 => " (802.1)",
            IEEE_802_3 => " (802.3)",
            CEE => " (CEE)",
            _ => "",
        };
        self.say("OUI", format!("{a:02X}-{b:02X}-{c:02X}{name}"));
        self.say("Subtype", subtype.to_string());
        match (id, subtype) {
            (IEEE_802_1, 1) => self.say_number("Port VLAN ID", 2),
            (IEEE_802_1, 3) => {
                let vid = self.number("VLAN ID", 2)?;
                let octets = self.number("VLAN name", 1)? as usize;
                let name = text(self.take("VLAN name", octets)?);
                self.say("VLAN name", format!("{name} (VLAN {vid})"));
                Ok(())
            }
            (IEEE_802_1, 12) => self.applications(),
            (IEEE_802_3, 4) => self.say_number("Maximum frame size", 2),
            (CEE, 2) => self.cee(),
            _ => self.rest("Octets"),
        }
    }

    /// Application priority TLV (802.1Q, annex D.2.11).
    fn applications(&mut self) -> Result<(), Short> {
        const PART: &str = "Application priority";
        self.number(PART, 1)?;
        while self.at < self.octets.len() {
            let first = self.number(PART, 1)?;
            let id = self.number(PART, 2)?;
            let (priority, selector) = (first >> 5, first & 7);
            let what = match selector {
                1 if id == 0 => "any other EtherType".to_string(),
                1 => format!("EtherType 0x{id:04x}"),
                2 => format!("TCP or SCTP port {id}"),
                3 => format!("UDP or DCCP port {id}"),
                4 => format!("port {id} of TCP, SCTP, UDP or DCCP"),
                5 => format!("DSCP {id}"),
                _ => format!("selector {selector}, protocol {id}"),
            };
            self.say(PART, format!("{what}: priority {priority}"));
        }
        Ok(())
    }

    /// CEE's list of TLVs within the TLV.
    fn cee(&mut self) -> Result<(), Short> {
        while self.at < self.octets.len() {
            let head = self.number("CEE TLV", 2)?;
            let (kind, length) = (head >> 9, (head & 0x1ff) as usize);
            let octets = self.take("CEE TLV", length)?;
            let mut inner = Parts { octets, at: 0, found: Vec::new() };
            let read = inner.cee_tlv(kind);
            self.found.append(&mut inner.found);
            if let Err(short) = read {
                // The offset of the incomplete part.
                self.octets = octets;
                self.at = inner.at;
                return Err(short);
            }
        }
        Ok(())
    }

    fn cee_tlv(&mut self, kind: u32) -> Result<(), Short> {
        if kind == 1 {
            self.take("CEE control", 2)?;
            let (sequence, acknowledged) = (self.number("CEE control", 4)?, self.number("CEE control", 4)?);
            self.say("CEE control", format!("sequence {sequence}, acknowledged {acknowledged}"));
            return Ok(());
        }
        let (part, title) = match kind {
            2 => ("CEE priority groups", "CEE priority groups, state"),
            3 => ("CEE PFC", "CEE PFC, state"),
            4 => ("CEE application", "CEE application, state"),
            _ => ("CEE feature", "CEE feature, state"),
        };
        self.take(title, 2)?;
        let flags = self.number(title, 1)?;
        self.take(title, 1)?;
        let set = |bit: u32, yes: &'static str, no: &'static str| if flags & bit == 0 { no } else { yes };
        let words =
            [set(0x80, "enabled", "not enabled"), set(0x40, "willing", "not willing"), set(0x20, "error", "no error")];
        self.say(title, words.join(", "));
        match kind {
            2 => {
                let groups = self.number(part, 4)?;
                let shares = self.take(part, 8)?;
                let classes = self.number(part, 1)?;
                let groups: Vec<String> = (0..8).map(|p| (groups >> (28 - 4 * p) & 0xf).to_string()).collect();
                let shares: Vec<String> = shares.iter().map(u8::to_string).collect();
                self.say(part, format!("of priorities 0 to 7: {}", groups.join(" ")));
                self.say(part, format!("percent of groups 0 to 7: {}", shares.join(" ")));
                self.say(part, format!("{classes} traffic classes"));
            }
            3 => {
                let enable = self.number(part, 1)?;
                let classes = self.number(part, 1)?;
                self.say(part, format!("priorities {}, {classes} at once", priorities(enable)));
            }
            4 => {
                while self.at < self.octets.len() {
                    let id = self.number(part, 2)?;
                    let selector = self.number(part, 1)? & 3;
                    self.take(part, 2)?;
                    let map = self.number(part, 1)?;
                    let what = match selector {
                        0 => format!("EtherType 0x{id:04x}"),
                        1 => format!("TCP or UDP port {id}"),
                        _ => format!("selector {selector}, protocol {id}"),
                    };
                    self.say(part, format!("{what}: priorities {}", priorities(map)));
                }
            }
            _ => {
                self.say(part, format!("type {kind}"));
                self.rest("Octets")?;
            }
        }
        Ok(())
    }
}

/// The priorities of a vector, in which bit n is priority n.
fn priorities(vector: u32) -> String {
    let set: Vec<String> = (0..8).filter(|n| vector >> n & 1 == 1).map(|n| n.to_string()).collect();
    if set.is_empty() { "none".to_string() } else { set.join(" ") }
}

fn mac(octets: &[u8]) -> Option<String> {
    Some(MacAddress(octets.try_into().ok()?).to_string())
}

/// An address behind its family: 1 IPv4, 2 IPv6 (IANA).
fn address(octets: &[u8]) -> Option<String> {
    match octets.split_first()? {
        (1, address) => Some(Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?).to_string()),
        (2, address) => Some(Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?).to_string()),
        _ => None,
    }
}

/// Text without the zeros that some devices add.
fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).trim_end_matches('\0').to_string()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(" ")
}
