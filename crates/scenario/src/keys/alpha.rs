//! Factors of dynamic thresholds, in each form in which switches are configured, and values that differ by priority.

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::keys::fields::Field;
use crate::keys::key::{Fallback, Key, Kind, Section};
use crate::keys::location::{Location, join};
use crate::keys::tree::{Data, Node};
use crate::keys::write::{Written, quoted};

/// The largest factor; those of switches are 1/128 to 64.
const LARGEST: f64 = 1024.0;

/// The factor of a dynamic threshold; none where there is no threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Alpha(pub(crate) Option<f64>);

impl Alpha {
    /// No threshold.
    const NONE: &'static str = "none";
    /// The key of SAI's exponent, and its least and largest values.
    const EXPONENT: (&'static str, i64, i64) = ("dynamic_th", -8, 7);

    /// The factor of an exponent of SAI: 2 to its power, but 0 for the least and no threshold for the largest
    /// (`mlnx_sai_buffer.c` of SAI-Implementation).
    fn of_exponent(exponent: i64) -> Self {
        match exponent {
            -8 => Self(Some(0.0)),
            7 => Self(None),
            _ => Self(Some(f64::exp2(exponent as f64))),
        }
    }

    /// A fraction, as in `1/8`.
    fn fraction(text: &str) -> Option<f64> {
        let (over, under) = text.split_once('/')?;
        let whole = |digits: &str| digits.trim().parse::<u32>().ok().map(f64::from);
        Some(whole(over)? / whole(under).filter(|under| *under > 0.0)?)
    }
}

impl Field for Alpha {
    type Range = ();

    fn kind((): &()) -> Kind {
        let (name, least, largest) = Self::EXPONENT;
        let exponent = Key {
            name,
            kind: Kind::Real(least as f64, largest as f64),
            fallback: Fallback::Required,
            doc: "Exponent of SAI and SONiC, a whole number: alpha is 2 to its power; at -8 it is 0, and at 7 there is no threshold."
                .to_owned(),
        };
        let table = Kind::Table(Section { doc: String::new(), keys: vec![exponent] });
        Kind::Either(vec![Kind::Real(0.0, LARGEST), Kind::Fraction, table, Kind::Word(vec![Self::NONE])])
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let number = match &node.data {
            Data::Text(text) if text == Self::NONE => return Ok(Self(None)),
            Data::Text(text) => Self::fraction(text),
            Data::Integer(x) => Some(*x as f64),
            Data::Real(x) => Some(*x),
            Data::Table(entries) => {
                let (name, least, largest) = Self::EXPONENT;
                return match &entries[..] {
                    [(key, Node { data: Data::Integer(x), .. })] if key == name && (least..=largest).contains(x) => {
                        Ok(Self::of_exponent(*x))
                    }
                    _ => {
                        let hint =
                            format!("{name} is a whole number from {least} to {largest}, as in {{ {name} = -3 }}");
                        Err(location.error("not a factor of a threshold".into(), hint))
                    }
                };
            }
            _ => None,
        };
        let inside = number.filter(|alpha| (0.0..=LARGEST).contains(alpha));
        inside.map(|alpha| Self(Some(alpha))).ok_or_else(|| location.unlike(&Self::kind(&()), node))
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(self.0.map_or_else(|| quoted(Self::NONE), |alpha| format!("{alpha:?}"))))
    }
}

/// A value for all priorities, or one for each of some.
#[derive(Debug, Clone)]
pub(crate) enum ByPriority<T> {
    All(T),
    Each(BTreeMap<u8, T>),
}

impl<T: Copy> ByPriority<T> {
    /// The value of a priority; `other` where others are listed alone.
    pub(crate) fn of(&self, priority: u8, other: T) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values.get(&priority).copied().unwrap_or(other),
        }
    }

    /// The priorities that are listed.
    pub(crate) fn listed(&self) -> impl Iterator<Item = u8> {
        let values = match self {
            Self::All(_) => None,
            Self::Each(values) => Some(values),
        };
        values.into_iter().flat_map(|values| values.keys().copied())
    }
}

/// The names of priorities.
pub(crate) const PRIORITIES: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];

impl<T: Field> Field for ByPriority<T> {
    type Range = T::Range;

    fn kind(range: &Self::Range) -> Kind {
        Kind::Either(vec![T::kind(range), Kind::ByPriority(Box::new(T::kind(range)))])
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let number = |key: &str| key.bytes().all(|digit| digit.is_ascii_digit());
        let Data::Table(entries) = &node.data else { return T::read(range, node, location).map(Self::All) };
        if entries.is_empty() || !entries.iter().all(|(key, _)| number(key)) {
            return T::read(range, node, location).map(Self::All);
        }
        let mut values = BTreeMap::new();
        for (key, value) in entries {
            let path = join(location.path, key);
            let location = Location { path: &path, origin: value.origin };
            let Some(priority) = PRIORITIES.iter().position(|name| name == key) else {
                return Err(location.error("no such priority".into(), "priorities are 0 to 7"));
            };
            values.insert(priority as u8, T::read(range, value, location)?);
        }
        Ok(Self::Each(values))
    }

    fn write(&self) -> Option<Written> {
        match self {
            Self::All(value) => value.write(),
            Self::Each(values) => {
                let write = |(priority, value): (&u8, &T)| Some((PRIORITIES[usize::from(*priority)], value.write()?));
                Some(Written::Inline(values.iter().filter_map(write).collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<f64>, String> {
        let location = Location { path: "alpha", origin: crate::keys::tree::Origin::Default };
        Alpha::read(&(), &Node::declared(text), location).map(|Alpha(alpha)| alpha).map_err(|fault| fault.message)
    }

    #[test]
    fn each_form_of_a_factor_is_read() {
        for (text, alpha) in [
            ("0.125", Some(0.125)),
            ("8", Some(8.0)),
            ("\"1/8\"", Some(0.125)),
            ("{ dynamic_th = -3 }", Some(0.125)),
            ("{ dynamic_th = 3 }", Some(8.0)),
            ("{ dynamic_th = 0 }", Some(1.0)),
            ("{ dynamic_th = -8 }", Some(0.0)),
            ("{ dynamic_th = 7 }", None),
            ("\"none\"", None),
        ] {
            assert_eq!(read(text), Ok(alpha), "{text}");
        }
        for wrong in
            ["-1", "2000", "\"1/0\"", "\"1/\"", "\"-1/8\"", "\"x\"", "true", "{ dynamic_th = 8 }", "{ th = 1 }"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
