//! Fields of a protobuf message, one after another, each with its octet in the file.
//!
//! Source: "Encoding", <https://protobuf.dev/programming-guides/encoding>. Only what Chakra's messages need: varints,
//! fixed numbers and length-delimited fields. Groups (wire types 3 and 4) are refused, as no message here has one.

use alloc::format;

use super::{Place, ReadError};

/// Octets of a file from `at` to `end`, read from the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    octets: &'a [u8],
    at: usize,
    end: usize,
}

/// The value of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    /// A varint, as it is encoded: its type says whether it has a sign.
    Varint(u64),
    /// Eight octets.
    Fixed64(u64),
    /// Four octets.
    Fixed32(u32),
    /// A message, a text, or numbers without gaps.
    Octets(Cursor<'a>),
}

/// A field: its number, its value, and the octet of the file where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) value: Value<'a>,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over a whole file.
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets, at: 0, end: octets.len() }
    }

    /// The octet of the file that comes next.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// The octets that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.octets[self.at..self.end]
    }

    /// The next varint: seven bits an octet, the lowest first.
    ///
    /// # Errors
    ///
    /// It is cut off, or has more than 64 bits.
    pub(super) fn varint(&mut self) -> Result<u64, ReadError> {
        let begin = self.at;
        let mut value = 0u64;
        for (index, &octet) in self.rest().iter().take(10).enumerate() {
            let bits = u64::from(octet & 0x7f);
            if index == 9 && bits > 1 {
                break;
            }
            value |= bits << (7 * index);
            if octet < 0x80 {
                self.at += index + 1;
                return Ok(value);
            }
        }
        let reason =
            if self.rest().len() < 10 { "the file ends inside a number" } else { "a number has more than 64 bits" };
        Err(ReadError::new(Place::Octet(begin), reason))
    }

    /// The next octets, which a length precedes: a message of the file, or a field of a message.
    ///
    /// # Errors
    ///
    /// The length is cut off, or longer than what is left.
    pub(super) fn delimited(&mut self) -> Result<Self, ReadError> {
        let begin = self.at;
        let length = self.varint()?;
        let left = self.end - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => {
                let inner = Self { octets: self.octets, at: self.at, end: self.at + length };
                self.at += length;
                Ok(inner)
            }
            _ => Err(ReadError::new(
                Place::Octet(begin),
                format!("a part of {length} octets begins here, and {left} are left"),
            )),
        }
    }

    /// The next field of a message; `None` at its end.
    ///
    /// # Errors
    ///
    /// It is cut off, or its type is none of protobuf's.
    pub(super) fn field(&mut self) -> Result<Option<Field<'a>>, ReadError> {
        if self.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => Value::Octets(self.delimited()?),
            5 => Value::Fixed32(u32::from_le_bytes(self.fixed()?)),
            other => {
                return Err(ReadError::new(
                    Place::Octet(at),
                    format!("a field has wire type {other}; only 0, 1, 2 and 5 occur here"),
                ));
            }
        };
        match u32::try_from(key >> 3) {
            Ok(number) if number > 0 => Ok(Some(Field { number, value, at })),
            _ => Err(ReadError::new(Place::Octet(at), "a field has number 0, or one beyond 32 bits")),
        }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let octets = self.rest().first_chunk::<N>().copied();
        self.at += if octets.is_some() { N } else { 0 };
        octets.ok_or_else(|| ReadError::new(Place::Octet(self.at), "the file ends inside a number"))
    }
}
