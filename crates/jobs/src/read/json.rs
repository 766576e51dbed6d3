//! JSON as Chakra's files have it, with the octet of each value.
//!
//! Source: RFC 8259. Numbers stay texts: a file has whole numbers up to 2^64 - 1, which a floating-point number would
//! round.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Place, ReadError};

/// How deep values may be inside each other.
const DEPTH_MAX: usize = 64;

/// A value, and the octet of the file where it begins.
#[derive(Debug, Clone)]
pub(super) struct Json {
    pub(super) at: usize,
    pub(super) value: Value,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    /// A text.
    Text(String),
    /// Values in their order.
    List(Vec<Json>),
    /// Values by name; a name that appears twice is refused.
    Object(BTreeMap<String, Json>),
}

/// Reads the values of a file, which may follow each other without a comma, as Chakra's converter writes them.
///
/// # Errors
///
/// The text is not JSON, or its values are more than 64 inside each other.
pub(super) fn parse(octets: &[u8]) -> Result<Vec<Json>, ReadError> {
    let mut reader = Reader { octets, at: 0 };
    let mut values = Vec::new();
    while reader.next().is_some() {
        values.push(reader.value(0)?);
    }
    Ok(values)
}

struct Reader<'a> {
    octets: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, reason: impl Into<String>) -> ReadError {
        ReadError::new(Place::Octet(self.at), reason)
    }

    /// The next octet that is no white space.
    fn next(&mut self) -> Option<u8> {
        while self.octets.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.octets.get(self.at).copied()
    }

    fn value(&mut self, depth: usize) -> Result<Json, ReadError> {
        let next = self.next();
        let at = self.at;
        if depth > DEPTH_MAX {
            return Err(self.error(format!("values are more than {DEPTH_MAX} inside each other")));
        }
        let value = match next {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.text()?),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.name("true", Value::Bool(true))?,
            Some(b'f') => self.name("false", Value::Bool(false))?,
            Some(b'n') => self.name("null", Value::Null)?,
            Some(_) => return Err(self.error("no value begins here; write a number, a text in quotes, [ or {")),
            None => return Err(self.error("the file ends where a value is due")),
        };
        Ok(Json { at, value })
    }

    fn name(&mut self, name: &str, value: Value) -> Result<Value, ReadError> {
        if !self.octets[self.at..].starts_with(name.as_bytes()) {
            return Err(self.error("no value begins here; write true, false or null"));
        }
        self.at += name.len();
        Ok(value)
    }

    fn number(&mut self) -> Value {
        let begin = self.at;
        let of_number = |octet: &u8| octet.is_ascii_digit() || b"+-.eE".contains(octet);
        while self.octets.get(self.at).is_some_and(of_number) {
            self.at += 1;
        }
        Value::Number(self.octets[begin..self.at].iter().map(|&octet| char::from(octet)).collect())
    }

    fn object(&mut self, depth: usize) -> Result<Value, ReadError> {
        let mut entries = BTreeMap::new();
        self.at += 1;
        if self.next() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(entries));
        }
        loop {
            if self.next() != Some(b'"') {
                return Err(self.error("a name in quotes is due here"));
            }
            let name = self.text()?;
            if self.next() != Some(b':') {
                return Err(self.error("a colon is due here"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            if let Some(before) = entries.insert(name, value) {
                return Err(self.error(format!("a name appears twice in one object, first before octet {}", before.at)));
            }
            if self.ends(b'}')? {
                return Ok(Value::Object(entries));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, ReadError> {
        let mut entries = Vec::new();
        self.at += 1;
        if self.next() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(entries));
        }
        loop {
            entries.push(self.value(depth + 1)?);
            if self.ends(b']')? {
                return Ok(Value::List(entries));
            }
        }
    }

    /// Takes a comma, or the end of a list or object; says whether it was the end.
    fn ends(&mut self, end: u8) -> Result<bool, ReadError> {
        let next = self.next();
        if next != Some(b',') && next != Some(end) {
            return Err(self.error(format!("a comma or {} is due here", char::from(end))));
        }
        self.at += 1;
        Ok(next == Some(end))
    }

    fn text(&mut self) -> Result<String, ReadError> {
        let begin = self.at;
        self.at += 1;
        let mut octets = Vec::new();
        loop {
            let Some(&octet) = self.octets.get(self.at) else {
                return Err(ReadError::new(Place::Octet(begin), "the file ends inside this text"));
            };
            self.at += 1;
            match octet {
                b'"' => break,
                b'\\' => {
                    let mut utf8 = [0; 4];
                    octets.extend(self.escaped()?.encode_utf8(&mut utf8).bytes());
                }
                _ => octets.push(octet),
            }
        }
        String::from_utf8(octets).map_err(|_| ReadError::new(Place::Octet(begin), "this text is not UTF-8"))
    }

    /// The character after a backslash; half of a pair of surrogates becomes U+FFFD.
    fn escaped(&mut self) -> Result<char, ReadError> {
        let octet = self.octets.get(self.at).copied();
        self.at += 1;
        Ok(match octet {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let digits = self.octets.get(self.at..self.at + 4).and_then(|digits| core::str::from_utf8(digits).ok());
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let code = code.ok_or_else(|| self.error("four hexadecimal digits are due here"))?;
                self.at += 4;
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                return Err(
                    self.error("no character is escaped so; write one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
                );
            }
        })
    }
}
