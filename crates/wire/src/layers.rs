//! A frame's formats, one after the other, with the offset and the faults of each.
//!
//! ```
//! use penstock_wire::layers::{Types, layers};
//!
//! // A CN-TAG of flow 5 before an unknown EtherType.
//! let frame = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x22, 0xe9, 0, 5, 0x12, 0x34, 0xff];
//! let names: Vec<&str> = layers(&frame, Types::default()).map(|layer| layer.name()).collect();
//! assert_eq!(names, ["eth", "cn_tag", "data"]);
//! ```

mod note;
mod options;
mod rdma;
mod tunnel;

use alloc::string::String;
use alloc::vec::Vec;

pub use note::Note;

use crate::checksum::PseudoHeader;
use crate::ethernet::{LEAST_TYPE, ether_type};
use crate::{Error, FORMATS, Field, Format, Show, cnm, ethernet, experimental, ipv4, ipv6, lldp, mac_control};
use crate::{fast_cnp, roce, tcp, udp, vlan};

/// EtherTypes of formats that have none, or none that is public. Stations have to agree on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types {
    /// SMCC's messages.
    pub smcc: u16,
    /// The messages of [`experimental`].
    pub experimental: u16,
    /// Congestion isolation messages, besides those of the experimental EtherType.
    pub cim: Option<u16>,
}

impl Default for Types {
    fn default() -> Self {
        Self { smcc: ether_type::SMCC, experimental: ether_type::EXPERIMENTAL, cim: None }
    }
}

impl Types {
    /// The message or tag behind an EtherType, of which `octets` are the first.
    fn format(&self, kind: u16, octets: &[u8]) -> Option<&'static Format> {
        if Some(kind) == self.cim {
            return Some(&experimental::cim::FORMAT);
        }
        let kind = match kind {
            kind if kind == self.smcc => ether_type::SMCC,
            kind if kind == self.experimental => ether_type::EXPERIMENTAL,
            ether_type::SMCC | ether_type::EXPERIMENTAL => return None,
            kind => kind,
        };
        FORMATS.iter().copied().find(|format| format.is_message(kind, octets))
    }
}

/// One format of a frame, or octets that have none.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Its format; `None` for data and padding.
    pub format: Option<&'static Format>,
    /// The name of octets without a format.
    label: &'static str,
    /// Where it begins in the frame.
    pub offset: usize,
    /// Its octets, as far as they were captured.
    pub octets: &'a [u8],
    /// Its octets behind these, which were on the line and are not in the capture.
    pub missing: usize,
    /// A check that needs such octets, and was not made.
    pub unchecked: Option<&'static str>,
    /// It is part of the sampled frame that a notification encapsulates.
    pub encapsulated: bool,
    /// Its first fault, with the offset in the frame.
    pub fault: Option<Error>,
}

impl<'a> Layer<'a> {
    /// Its name, such as `cnm`, `data` or `padding`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.format.map_or(self.label, |format| format.name)
    }

    /// Its fields in the order of the line, each with its value in a form that is shown. Of a layer that is cut off, those
    /// that are whole.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, Shown<'a>)> + '_ {
        let octets = self.octets;
        let fields = self.format.map_or(&[][..], |format| format.fields);
        let whole = move |field: &&'static Field| field.end() <= octets.len();
        // Few fields: the next one is the first behind the one before.
        let mut from = 0;
        core::iter::from_fn(move || {
            let field =
                fields.iter().filter(whole).filter(|field| field.first >= from).min_by_key(|field| field.first)?;
            from = field.first + 1;
            Some(field)
        })
        .map(move |field| (field, Shown { field, octets }))
    }

    /// The value of a field, if the layer has it and all its octets are there.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<u128> {
        let field = self.format?.field(name)?;
        (field.end() <= self.octets.len()).then(|| field.read(self.octets))
    }

    /// Name and value of each part of an LLDP TLV that has no fields for them; of other formats none.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let is_tlv = self.format.is_some_and(|format| format.name == lldp::tlv::FORMAT.name);
        if is_tlv { lldp::content(self.octets).parts } else { Vec::new() }
    }

    /// Its oddities, which are no fault: reserved bits that are set, feedback of 0.
    pub fn notes(&self) -> impl Iterator<Item = Note> + '_ {
        let reserved = self.format.map_or(&[][..], |format| format.fields).iter().filter(|field| field.reserved);
        let set = reserved.filter(|field| field.read(self.octets) != 0).map(Note::Reserved);
        let silent = self.name() == cnm::FORMAT.name && self.value("quantized_feedback") == Some(0);
        set.chain(silent.then_some(Note::NoFeedback))
    }
}

/// A field's value, as people read it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    field: &'static Field,
    octets: &'a [u8],
}

impl Shown<'_> {
    /// The value as a number; negative ones are below 0.
    #[must_use]
    pub fn number(&self) -> i128 {
        if self.field.show == Show::Signed { self.field.read_signed(self.octets) } else { self.unsigned() as i128 }
    }

    /// The bits as a number.
    #[must_use]
    pub fn unsigned(&self) -> u128 {
        self.field.read(self.octets)
    }
}

impl core::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let value = self.unsigned();
        match self.field.show {
            Show::Number | Show::Flag => write!(f, "{value}"),
            Show::Signed => write!(f, "{}", self.number()),
            Show::Hex => write!(f, "0x{value:0width$x}", width = self.field.bits.div_ceil(4)),
            Show::Mac => write!(f, "{}", crate::MacAddress::from_u64(value as u64)),
            Show::Ipv4 => write!(f, "{}", core::net::Ipv4Addr::from_bits(value as u32)),
            Show::Ipv6 => write!(f, "{}", core::net::Ipv6Addr::from_bits(value)),
        }
    }
}

/// The layers of a frame, which begins with its destination address and ends before its check sequence.
#[must_use]
pub fn layers(frame: &[u8], types: Types) -> Layers<'_> {
    layers_of_captured(frame, frame.len(), types)
}

/// The layers of a frame that had `original` octets on the line, of which the first are in the capture.
///
/// That a part was not captured is no fault. Of the last layers `missing` says how much is not there, and `unchecked` the
/// check that could not be made.
#[must_use]
pub fn layers_of_captured(frame: &[u8], original: usize, types: Types) -> Layers<'_> {
    let end = original.max(frame.len());
    Layers { frame, types, line: end, at: 0, end, next: Next::Ethernet, network: None, outer: None }
}

/// Iterator over the layers of a frame; made by [`layers`] and [`layers_of_captured`].
#[derive(Debug, Clone)]
pub struct Layers<'a> {
    frame: &'a [u8],
    types: Types,
    /// Octets of the frame on the line, of which `frame` has the first.
    line: usize,
    /// The next octet.
    at: usize,
    /// The end on the line of the part that is read: of the frame, of a datagram, of an encapsulated frame's part.
    end: usize,
    next: Next,
    network: Option<Network>,
    /// The end of the frame around an encapsulated part that is being read.
    outer: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    Ethernet,
    Type(u16),
    Tlv,
    Protocol(u8),
    Roce,
    Mrc(&'static Format),
    Vxlan,
    /// The octets behind a transport header: its name, and whether the invariant CRC follows.
    Rest(&'static str, bool),
    /// Options up to this offset.
    TcpOption(usize),
    Padding,
    Done,
}

/// The datagram that is being read.
#[derive(Debug, Clone, Copy)]
struct Network {
    ether_type: u16,
    offset: usize,
    pseudo: PseudoHeader,
    /// All of it was on the line.
    whole: bool,
}

impl<'a> Iterator for Layers<'a> {
    type Item = Layer<'a>;

    fn next(&mut self) -> Option<Layer<'a>> {
        loop {
            let found = match self.next {
                Next::Ethernet => self.header(&ethernet::FORMAT, |this, octets| {
                    this.next = Next::Type(u16_at(octets, 12));
                }),
                Next::Type(kind) => self.by_type(kind),
                Next::Tlv => self.tlv(),
                Next::Protocol(protocol) => self.transport(protocol),
                Next::Roce => self.base_transport(),
                Next::Mrc(format) => self.mrc(format),
                Next::Vxlan => Some(self.vxlan()),
                Next::Rest(label, crc) => Some(self.rest(label, crc)),
                Next::TcpOption(end) => self.tcp_option(end),
                Next::Padding => self.padding(),
                Next::Done => return None,
            };
            // A part without octets is no layer.
            let is_any = |layer: &Layer<'_>| !layer.octets.is_empty() || layer.missing > 0 || layer.fault.is_some();
            if let Some(layer) = found.filter(is_any) {
                return Some(layer);
            }
        }
    }
}

impl<'a> Layers<'a> {
    /// The octets of the part that were captured.
    fn left(&self) -> &'a [u8] {
        self.frame.get(self.at..self.end.min(self.frame.len())).unwrap_or_default()
    }

    /// How many octets of the part were on the line.
    fn on_line(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// The next `octets` octets, or as many as the part has.
    fn layer(&mut self, format: Option<&'static Format>, label: &'static str, octets: usize) -> Layer<'a> {
        let (offset, left) = (self.at, self.left());
        let octets = octets.min(self.on_line());
        self.at += octets;
        let there = left.get(..octets).unwrap_or(left);
        let missing = octets - there.len();
        let encapsulated = self.outer.is_some();
        Layer { format, label, offset, octets: there, missing, unchecked: None, encapsulated, fault: None }
    }

    /// A header. `then` says what follows; without it, padding does.
    fn header(&mut self, format: &'static Format, then: impl FnOnce(&mut Self, &'a [u8])) -> Option<Layer<'a>> {
        let (left, on_line) = (self.left(), self.on_line());
        self.next = Next::Padding;
        let measured = (format.measure)(left);
        let needs = match measured {
            Ok(octets) => octets,
            Err(Error::Truncated { offset, needs, .. }) => format.octets.max(offset.saturating_add(needs)),
            Err(_) => usize::MAX,
        };
        if needs <= left.len() {
            let mut layer = self.layer(Some(format), "", needs);
            layer.fault = (format.legal)(layer.octets).err().map(|error| error.behind(layer.offset));
            then(self, layer.octets);
            return Some(layer);
        }
        // Only the first octets of a frame are encapsulated: that they end is right.
        if self.outer.is_some() && matches!(measured, Err(Error::Truncated { .. })) {
            return Some(self.layer(None, "data", on_line));
        }
        let mut layer;
        if needs <= on_line {
            // It was on the line, and was not captured whole. What follows is not known.
            layer = self.layer(Some(format), "", needs);
            layer.unchecked = Some("the fields that were not captured");
            if layer.octets.len() >= format.octets {
                layer.fault = (format.legal)(layer.octets).err().map(|error| error.behind(layer.offset));
            }
            self.next = Next::Done;
        } else {
            let error = measured.err().unwrap_or_else(|| format.truncated("packet", 0, format.octets, left.len()));
            // The part that is there is shown, but nothing behind it can be found.
            layer = self.layer(Some(format), "", on_line);
            layer.fault = Some(error.behind(layer.offset));
        }
        Some(layer)
    }

    fn by_type(&mut self, kind: u16) -> Option<Layer<'a>> {
        let nothing = |_: &mut Self, _: &'a [u8]| {};
        let left = self.left();
        match kind {
            ether_type::VLAN | ether_type::S_TAG | ether_type::OLD_S_TAG => {
                self.header(&vlan::FORMAT, |this, octets| this.next = Next::Type(u16_at(octets, 2)))
            }
            ether_type::MAC_CONTROL => match u16_at(left, 0) {
                mac_control::PAUSE => self.header(&mac_control::pause::FORMAT, nothing),
                mac_control::PFC => self.header(&mac_control::pfc::FORMAT, nothing),
                _ => Some(self.rest("mac_control", false)),
            },
            ether_type::LLDP => {
                self.next = Next::Tlv;
                None
            }
            ether_type::IPV4 => self.ipv4(),
            ether_type::IPV6 => self.ipv6(),
            kind => match self.types.format(kind, left) {
                Some(format) => self.message(format),
                None if kind < LEAST_TYPE => {
                    self.end = self.end.min(self.at + usize::from(kind));
                    Some(self.rest("llc", false))
                }
                None => Some(self.rest("data", false)),
            },
        }
    }

    fn message(&mut self, format: &'static Format) -> Option<Layer<'a>> {
        let layer = self.header(format, |this, octets| {
            if let Some(next) = format.field(Format::NEXT) {
                this.next = Next::Type(next.read(octets) as u16);
            }
        });
        let is_sampled = format.message.is_some_and(|message| message.sampled.is_some());
        layer.map(|layer| if is_sampled { self.encapsulated(layer, format.octets) } else { layer })
    }

    /// A message of `fields` octets and a part of a frame, which is read next. Such a part holds no other.
    fn encapsulated(&mut self, mut message: Layer<'a>, fields: usize) -> Layer<'a> {
        let Some((own, part)) = message.octets.split_at_checked(fields) else { return message };
        if message.fault.is_none() && !message.encapsulated {
            self.outer = Some(self.end);
            self.end = self.at;
            self.at -= part.len() + message.missing;
            (message.octets, message.missing, message.unchecked) = (own, 0, None);
            if part.len() >= 2 {
                self.next = Next::Type(u16_at(part, 0));
                // The EtherType belongs to the part, and to no layer of it.
                self.at += 2;
            } else {
                self.next = Next::Rest("data", false);
            }
        }
        message
    }

    fn tlv(&mut self) -> Option<Layer<'a>> {
        let left = self.left();
        if self.on_line() == 0 && self.outer.is_some() {
            self.next = Next::Padding;
            return None;
        }
        if left.is_empty() && self.on_line() > 0 {
            self.next = Next::Done;
            let mut layer = self.layer(None, "lldp", usize::MAX);
            layer.unchecked = Some("the TLVs that were not captured");
            return Some(layer);
        }
        if left.is_empty() {
            // A list without its end.
            self.next = Next::Done;
            let mut layer = self.layer(Some(&lldp::tlv::FORMAT), "", 0);
            layer.fault = lldp::tlv::FORMAT.whole(left).err().map(|error| error.behind(layer.offset));
            return Some(layer);
        }
        let mut layer = self.header(lldp::format_of(left), |this, octets| {
            let last = octets.first().is_some_and(|first| first >> 1 == lldp::tlv_type::END);
            this.next = if last { Next::Padding } else { Next::Tlv };
        })?;
        if layer.fault.is_none() && layer.missing == 0 {
            layer.fault = lldp::content(layer.octets).fault.map(|fault| fault.behind(layer.offset));
        }
        Some(layer)
    }

    fn ipv4(&mut self) -> Option<Layer<'a>> {
        let (offset, has) = (self.at, self.on_line());
        let mut layer = self.header(&ipv4::FORMAT, |this, octets| {
            let pseudo = PseudoHeader::Ipv4(array(octets, 12), array(octets, 16), octet(octets, 9));
            let more_fragments_or_later = u16_at(octets, 6) & 0x3fff != 0;
            let whole = this.datagram(ether_type::IPV4, offset, pseudo, usize::from(u16_at(octets, 2)));
            this.next = if more_fragments_or_later || !whole && this.outer.is_none() {
                Next::Rest("data", false)
            } else {
                Next::Protocol(octet(octets, 9))
            };
        })?;
        if layer.format.is_some() && layer.fault.is_none() && layer.missing == 0 {
            let (found, wanted) = (u16_at(layer.octets, 10), ipv4::checksum(layer.octets));
            if found != wanted {
                layer.fault = Some(checksum(&ipv4::FORMAT, offset + 10, found, wanted));
            } else {
                layer.fault = self.short(&ipv4::FORMAT, offset, usize::from(u16_at(layer.octets, 2)), has);
            }
        }
        Some(layer)
    }

    fn ipv6(&mut self) -> Option<Layer<'a>> {
        let (offset, has) = (self.at, self.on_line());
        let total = |octets| ipv6::Repr::OCTETS + usize::from(u16_at(octets, 4));
        let mut layer = self.header(&ipv6::FORMAT, |this, octets| {
            let pseudo = PseudoHeader::Ipv6(array(octets, 8), array(octets, 24), octet(octets, 6));
            let whole = this.datagram(ether_type::IPV6, offset, pseudo, total(octets));
            let readable = whole || this.outer.is_some();
            this.next = if readable { Next::Protocol(octet(octets, 6)) } else { Next::Rest("data", false) };
        })?;
        if layer.format.is_some() && layer.fault.is_none() && layer.missing == 0 {
            layer.fault = self.short(&ipv6::FORMAT, offset, total(layer.octets), has);
        }
        Some(layer)
    }

    /// A datagram of `octets` from `offset` on: padding is behind it. Whether all of it was on the line.
    fn datagram(&mut self, ether_type: u16, offset: usize, pseudo: PseudoHeader, octets: usize) -> bool {
        let end = offset.saturating_add(octets);
        let whole = end <= self.end;
        self.end = self.end.min(end).max(self.at);
        self.network = Some(Network { ether_type, offset, pseudo, whole });
        whole
    }

    /// That a datagram ends too early. Encapsulated ones do.
    fn short(&self, format: &Format, offset: usize, octets: usize, has: usize) -> Option<Error> {
        let whole = octets <= has || self.outer.is_some();
        (!whole).then(|| format.truncated("datagram", 0, octets, has).behind(offset))
    }

    fn transport(&mut self, protocol: u8) -> Option<Layer<'a>> {
        let (offset, left, on_line) = (self.at, self.left(), self.on_line());
        let complete = self.network.filter(|network| network.whole && self.outer.is_none());
        match protocol {
            ipv4::protocol::UDP => {
                let mut layer = self.header(&udp::FORMAT, |this, octets| {
                    let end = offset + usize::from(u16_at(octets, 4)).max(udp::Repr::OCTETS);
                    this.end = this.end.min(end);
                    this.next = match u16_at(octets, 2) {
                        udp::ROCE => Next::Roce,
                        udp::VXLAN => Next::Vxlan,
                        _ => Next::Rest("data", false),
                    };
                })?;
                if let (Some(network), true, None, 0) = (complete, layer.format.is_some(), layer.fault, layer.missing) {
                    let (found, length) = (u16_at(layer.octets, 6), usize::from(u16_at(layer.octets, 4)));
                    let summed = found != 0 || network.ether_type == ether_type::IPV6;
                    if length > on_line {
                        layer.fault = Some(udp::FORMAT.truncated("datagram", 0, length, on_line).behind(offset));
                    } else if let Some(datagram) = left.get(..length) {
                        let wanted = udp::checksum(datagram, network.pseudo);
                        if summed && found != wanted {
                            layer.fault = Some(checksum(&udp::FORMAT, offset + 6, found, wanted));
                        }
                    } else if summed {
                        layer.unchecked = Some(CHECKSUM);
                    }
                }
                Some(layer)
            }
            ipv4::protocol::TCP => {
                let mut layer = self.header(&tcp::FORMAT, |this, octets| {
                    // Options are separate layers.
                    this.next = Next::TcpOption(offset + octets.len());
                    this.at = offset + tcp::Repr::OCTETS;
                })?;
                if layer.format.is_some() && layer.fault.is_none() && layer.missing == 0 {
                    layer.octets = layer.octets.get(..tcp::Repr::OCTETS).unwrap_or_default();
                    let (found, pseudo) = (u16_at(layer.octets, 16), complete.map(|network| network.pseudo));
                    if left.len() < on_line {
                        layer.unchecked = complete.map(|_| CHECKSUM);
                    } else if let Some(wanted) =
                        pseudo.map(|pseudo| tcp::checksum(left, pseudo)).filter(|&wanted| wanted != found)
                    {
                        layer.fault = Some(checksum(&tcp::FORMAT, offset + 16, found, wanted));
                    }
                }
                Some(layer)
            }
            ipv4::protocol::GRE => Some(self.gre()),
            fast_cnp::NEXT_HEADER if fast_cnp::is_one(left) => self.destination_options(),
            _ => Some(self.rest("data", false)),
        }
    }

    fn tcp_option(&mut self, end: usize) -> Option<Layer<'a>> {
        let end_of_data = self.end;
        self.end = end.min(self.end);
        let left = self.left();
        let found = match left.first() {
            None => {
                self.next = Next::Rest("data", false);
                None
            }
            Some(&tcp::option_kind::END) => {
                let rest = self.layer(None, "tcp_padding", left.len());
                self.next = Next::Rest("data", false);
                Some(rest)
            }
            Some(&tcp::option_kind::NO_OPERATION) => {
                self.at += 1;
                None
            }
            Some(_) => {
                let layer = self.header(tcp::option_format(left), |this, _| this.next = Next::TcpOption(end));
                if layer.is_some_and(|layer| layer.fault.is_some() || layer.format.is_none()) {
                    self.at = self.end;
                    self.next = Next::Rest("data", false);
                }
                layer
            }
        };
        self.end = end_of_data;
        found
    }

    /// All that is left, without a format; `crc`: but for the invariant CRC, which is judged with it.
    fn rest(&mut self, label: &'static str, crc: bool) -> Layer<'a> {
        let on_line = self.on_line();
        self.next = Next::Padding;
        if !crc || self.outer.is_some() {
            return self.layer(None, label, on_line);
        }
        let Some(data) = on_line.checked_sub(roce::ICRC) else {
            let mut layer = self.layer(None, label, on_line);
            layer.fault = Some(roce::FORMAT.truncated("ICRC", 0, roce::ICRC, on_line).behind(layer.offset));
            return layer;
        };
        if data > 0 {
            self.next = Next::Rest("icrc", true);
            return self.layer(None, label, data);
        }
        let mut layer = self.layer(None, "icrc", on_line);
        if layer.missing > 0 {
            layer.unchecked = Some("ICRC");
        } else if let Some(network) = self.network.filter(|network| network.whole) {
            let packet = self.frame.get(network.offset..layer.offset).unwrap_or_default();
            let found = array::<4>(layer.octets, 0);
            if let Some(wanted) = roce::icrc(network.ether_type, packet).filter(|&wanted| wanted != found) {
                let (found, wanted) = (u32::from_be_bytes(found), u32::from_be_bytes(wanted));
                layer.fault = Some(Error::Checksum { format: roce::FORMAT.name, offset: layer.offset, found, wanted });
            }
        }
        layer
    }

    fn padding(&mut self) -> Option<Layer<'a>> {
        // Behind an encapsulated part, the frame around it goes on.
        if let Some(outer) = self.outer.take() {
            self.at = self.end.max(self.at);
            self.end = outer;
            self.network = None;
            return None;
        }
        self.next = Next::Done;
        self.end = self.line;
        Some(self.layer(None, "padding", usize::MAX))
    }
}

/// The name of a check that needs all octets of a datagram.
const CHECKSUM: &str = "checksum";

fn checksum(format: &Format, offset: usize, found: u16, wanted: u16) -> Error {
    Error::Checksum { format: format.name, offset, found: found.into(), wanted: wanted.into() }
}

fn octet(octets: &[u8], at: usize) -> u8 {
    octets.get(at).copied().unwrap_or(0)
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(octets, at))
}

fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|i| octet(octets, at + i))
}
