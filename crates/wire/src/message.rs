//! Messages and tags: all that readers besides this crate need to know of them. It stands in a format's declaration.

use crate::{Error, Format};

/// A message or a tag behind an EtherType. Some of its fields are found by their names: `subtype` distinguishes the messages
/// of an EtherType, `ether_type` names the format behind a tag. `rlq_id` is the flow that a message notifies, `cp_id` the
/// congestion point, `encapsulated_destination` or `destination` that of the flow's frames. A message with `returned`
/// notifies nobody before that is set.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Its name in Wireshark's column Protocol, and of its layer in scapy.
    pub abbreviation: &'static str,
    /// Its EtherType, unless stations agree on another.
    pub ether_type: u16,
    /// The text in Wireshark's column Info. `{rate}` is a field's value, `{-64*q_off}` a multiple of it,
    /// `{returned=1?back|forth}` the first text if the field has this value, and otherwise the second.
    pub info: &'static str,
    /// The strength of a notification; `None` of one that has none.
    pub strength: Option<StrengthField>,
    /// The first octets of a frame of the flow, which follow the fields.
    pub sampled: Option<Sampled>,
}

/// The field of a message that says how strong congestion is, or how slow the source shall be.
#[derive(Debug, Clone, Copy)]
pub struct StrengthField {
    /// The field.
    pub field: &'static str,
    /// Its unit: `octets`, `bit/s`, `ps` or `|Fb|`.
    pub unit: &'static str,
    /// The number of these in 1 of the field.
    pub factor: i64,
    /// The field and its value with which the message has no strength.
    pub unless: Option<(&'static str, u64)>,
}

/// A part of a frame within a message, from its EtherType on.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// Its name.
    pub name: &'static str,
    /// Its name in the standard.
    pub label: &'static str,
    /// The field with its octets.
    pub length: &'static str,
    /// The most octets.
    pub most: u16,
    /// Their range as text.
    pub range: &'static str,
}

impl Format {
    /// The name of the EtherType behind a tag.
    pub(crate) const NEXT: &'static str = "ether_type";

    /// Whether it is a tag of a frame, and no message.
    #[must_use]
    pub fn is_tag(&self) -> bool {
        self.message.is_some() && self.field(Self::NEXT).is_some()
    }

    /// Whether a message of this EtherType, at the start of `octets`, is one of these.
    #[must_use]
    pub(crate) fn is_message(&self, ether_type: u16, octets: &[u8]) -> bool {
        let subtype =
            || self.field("subtype").is_none_or(|field| !octets.is_empty() && field.read(octets) == field.usual);
        self.message.is_some_and(|message| message.ether_type == ether_type) && subtype()
    }

    /// Octets of a message with its part of a frame.
    pub(crate) fn with_sampled(&self, octets: &[u8]) -> Result<usize, Error> {
        let part = self.sampled_octets(octets)?;
        let (needs, has) = (part, octets.len() - self.octets);
        match self.message.and_then(|message| message.sampled) {
            Some(sampled) if has < needs => Err(self.truncated(sampled.label, self.octets, needs, has)),
            _ => Ok(self.octets + needs),
        }
    }

    /// Octets of the part of a frame, as the message says.
    pub(crate) fn sampled_octets(&self, octets: &[u8]) -> Result<usize, Error> {
        let Some(sampled) = self.message.and_then(|message| message.sampled) else { return Ok(0) };
        let length = self.field(sampled.length).map_or(0, |field| field.read(octets));
        if length > sampled.most.into() {
            return Err(self.illegal(sampled.length, octets, sampled.range));
        }
        Ok(length as usize)
    }

    /// Whether the fields of one value have it.
    pub(crate) fn fixed(&self, octets: &[u8]) -> Result<(), Error> {
        for field in self.fields {
            if let Some(wanted) = field.fixed.filter(|_| field.read(octets) != field.usual) {
                return Err(self.illegal(field.name, octets, wanted));
            }
        }
        Ok(())
    }
}
