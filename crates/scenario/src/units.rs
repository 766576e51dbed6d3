//! Numbers with units, from text to exact integers and back: `"150 KB"`, `"0.5 us"`, `"10 Gbps"`.
//!
//! No floating point is involved: a decimal number times its unit must be a whole number of the base unit (octets,
//! picoseconds, bits per second), else it is refused.

use std::fmt;

/// What a number with a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// A duration or a point in time, in picoseconds.
    Time,
    /// An amount of data, in octets.
    Size,
    /// A rate, in bits per second.
    Rate,
    /// A part of something, in parts per billion.
    Tolerance,
}

/// The most digits of a number, the point counted: times the largest unit they stay below 2^128.
const MAX_DIGITS: usize = 24;

/// Name of a unit and how many base units it has. The first name of a value is the one that is written.
type Names = &'static [(&'static str, u64)];

const TIME: Names = &[
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
    ("ns", 1000),
    ("ps", 1),
    ("min", 60_000_000_000_000),
];
const SIZE: Names = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("kB", 1000),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("octets", 1),
    ("octet", 1),
    ("B", 1),
];
const RATE: Names = &[
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("kbps", 1000),
    ("bps", 1),
    ("Tb/s", 1_000_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("kb/s", 1000),
    ("Tbit/s", 1_000_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1000),
    ("bit/s", 1),
];
const TOLERANCE: Names = &[("ppm", 1000), ("ppb", 1)];

impl Dimension {
    /// The units of this dimension, the ones to write first.
    pub(crate) const fn units(self) -> Names {
        match self {
            Self::Time => TIME,
            Self::Size => SIZE,
            Self::Rate => RATE,
            Self::Tolerance => TOLERANCE,
        }
    }

    /// The word for a value.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Size => "size",
            Self::Rate => "rate",
            Self::Tolerance => "tolerance",
        }
    }

    /// The base unit.
    pub(crate) const fn base(self) -> &'static str {
        match self {
            Self::Time => "picoseconds",
            Self::Size => "octets",
            Self::Rate => "bit/s",
            Self::Tolerance => "parts per billion",
        }
    }

    /// A value as one writes it.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Time => "15 ms",
            Self::Size => "150 KB",
            Self::Rate => "10 Gbps",
            Self::Tolerance => "100 ppm",
        }
    }
}

/// Why a text is no number with a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong.
    pub message: String,
    /// What would be right; `None` where the number is beyond any that can be held.
    pub hint: Option<String>,
}

impl Unreadable {
    fn new(message: String, hint: impl Into<String>) -> Self {
        Self { message, hint: Some(hint.into()) }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// Reads a number and its unit; the result is in the base unit.
///
/// # Errors
/// What is wrong and what would be right.
pub fn parse(dimension: Dimension, text: &str) -> Result<u64, Unreadable> {
    let (number, unit) = split(text);
    let write = || format!("write a number and a unit, as in \"{}\"", dimension.example());
    let too_large = || Unreadable { message: format!("\"{text}\" is too large"), hint: None };
    if number.starts_with('-') {
        return Err(Unreadable::new(format!("\"{text}\" is negative; a {} is not", dimension.noun()), write()));
    }
    if number.is_empty() {
        return Err(Unreadable::new(format!("\"{text}\" is not a {}", dimension.noun()), write()));
    }
    if unit.is_empty() {
        return Err(Unreadable::new(format!("\"{text}\" has no unit"), write()));
    }
    if unit.starts_with(['e', 'E']) && unit[1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) {
        let hint = "write the number in full, or with a larger unit";
        return Err(Unreadable::new(format!("\"{text}\" has an exponent"), hint));
    }
    let Some(&(_, factor)) = dimension.units().iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit(dimension, text, unit));
    };
    if number.len() > MAX_DIGITS {
        let message = format!("\"{text}\" has too many digits; {MAX_DIGITS} are the most");
        return Err(Unreadable::new(message, "write it with a larger unit"));
    }
    let Some((mantissa, decimals)) = decimal(number) else {
        return Err(Unreadable::new(format!("\"{number}\" is not a number"), write()));
    };
    let scale = 10_u128.pow(decimals);
    let product = mantissa.checked_mul(u128::from(factor)).ok_or_else(too_large)?;
    if product % scale != 0 {
        let message = format!("\"{text}\" is not a whole number of {}", dimension.base());
        return Err(Unreadable::new(
            message,
            format!("write fewer decimals; {} are the least there is", dimension.base()),
        ));
    }
    u64::try_from(product / scale).map_err(|_| too_large())
}

/// Writes `value` (in the base unit) with the largest unit of which it is a whole number.
#[must_use]
pub fn format(dimension: Dimension, value: u64) -> String {
    let units = dimension.units();
    let exact = |&&(name, factor): &&(&str, u64)| match value {
        0 => factor == 1 || matches!(name, "s" | "ppm"),
        _ => name != "min" && value.is_multiple_of(factor),
    };
    let (name, factor) = units.iter().find(exact).expect("each dimension has its base unit");
    format!("{} {name}", value / factor)
}

/// A time in picoseconds, as one writes it.
pub(crate) fn time(picoseconds: u64) -> String {
    format(Dimension::Time, picoseconds)
}

/// A size in octets, as one writes it.
pub(crate) fn size(octets: u64) -> String {
    format(Dimension::Size, octets)
}

/// Reads a number of frames, as in `"100 frames"`; `None` if the text is not of that form.
#[must_use]
pub fn parse_frames(text: &str) -> Option<u32> {
    let (number, unit) = split(text);
    matches!(unit, "frames" | "frame").then(|| number.parse().ok()).flatten()
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The digits of a plain decimal number without its point, and how many of them follow the point.
fn decimal(number: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let right = digits(whole) && digits(fraction) && !whole.is_empty() && !number.ends_with('.');
    if !right {
        return None;
    }
    let mantissa = format!("{whole}{fraction}").parse().ok()?;
    Some((mantissa, fraction.len() as u32))
}

fn unknown_unit(dimension: Dimension, text: &str, unit: &str) -> Unreadable {
    let others = [Dimension::Time, Dimension::Size, Dimension::Rate, Dimension::Tolerance];
    if let Some(other) = others.iter().find(|d| d.units().iter().any(|(name, _)| *name == unit)) {
        let message = format!("\"{text}\" is a {}, not a {}", other.noun(), dimension.noun());
        return Unreadable::new(message, format!("for instance \"{}\"", dimension.example()));
    }
    let known: Vec<&str> = dimension.units().iter().map(|(name, _)| *name).filter(|name| name.is_ascii()).collect();
    let message = format!("\"{unit}\" is not a unit of {}", dimension.noun());
    Unreadable::new(message, format!("known are {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::Dimension::{Rate, Size, Time, Tolerance};
    use super::*;

    #[test]
    fn numbers_are_exact() {
        for (dimension, text, value) in [
            (Size, "150 KB", 150_000),
            (Size, "64 KiB", 65_536),
            (Size, "1500 octets", 1500),
            (Size, "1500 B", 1500),
            (Size, "1.5KB", 1500),
            (Size, "2 MiB", 2_097_152),
            (Time, "0.5 us", 500_000),
            (Time, "0.5 \u{b5}s", 500_000),
            (Time, "1 min", 60_000_000_000_000),
            (Time, "3.7 s", 3_700_000_000_000),
            (Time, "7 ps", 7),
            (Rate, "10 Gbps", 10_000_000_000),
            (Rate, "0.61875 Gb/s", 618_750_000),
            (Rate, "0.5 Mbit/s", 500_000),
            (Rate, "1.6 Tbps", 1_600_000_000_000),
            (Tolerance, "100 ppm", 100_000),
            (Tolerance, "0.5 ppm", 500),
        ] {
            assert_eq!(parse(dimension, text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_is_refused_with_what_would_be_right() {
        for (dimension, text, part) in [
            (Time, "15", "has no unit (write a number and a unit, as in \"15 ms\")"),
            (Time, "-1 s", "is negative"),
            (Time, "0.0001 ps", "not a whole number of picoseconds"),
            (Size, "1.5 octets", "not a whole number of octets"),
            (Size, "10 Gbps", "is a rate, not a size (for instance \"150 KB\")"),
            (Size, "10 Kb", "not a unit of size"),
            (Time, "soon", "is not a time"),
            (Time, "1..2 s", "is not a number"),
            (Time, "1. s", "is not a number"),
            (Time, "1e3 s", "has an exponent (write the number in full"),
            (Time, "1 e", "\"e\" is not a unit of time"),
            (Rate, "9999999999999999999999999 bps", "has too many digits; 24 are the most"),
            (Rate, "999999999999999999999999 Tbps", "too large"),
            (Time, "99999999999 s", "too large"),
            (Rate, "1 GHz", "not a unit of rate (known are Tbps, Gbps"),
            (Rate, "", "is not a rate"),
        ] {
            let message = parse(dimension, text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn the_largest_exact_unit_is_written() {
        for (dimension, value, text) in [
            (Size, 150_000, "150 KB"),
            (Size, 65_536, "64 KiB"),
            (Size, 1500, "1500 octets"),
            (Size, 0, "0 octets"),
            (Time, 0, "0 s"),
            (Time, 60_000_000_000_000, "60 s"),
            (Time, 1_500_000, "1500 ns"),
            (Rate, 0, "0 bps"),
            (Rate, 950_000_000, "950 Mbps"),
            (Tolerance, 0, "0 ppm"),
            (Tolerance, 500, "500 ppb"),
            (Rate, 618_750_000, "618750 kbps"),
        ] {
            assert_eq!(format(dimension, value), text);
        }
        assert_eq!(parse_frames("100 frames"), Some(100));
        assert_eq!(parse_frames("100 octets"), None);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_reads_back(value: u64, which in 0..4_usize) {
            let dimension = [Time, Size, Rate, Tolerance][which];
            proptest::prop_assert_eq!(parse(dimension, &format(dimension, value)), Ok(value));
        }

        #[test]
        fn any_text_is_a_value_or_an_error(text in "\\PC{0,20}", which in 0..4_usize) {
            let _ = parse([Time, Size, Rate, Tolerance][which], &text);
        }
    }
}
