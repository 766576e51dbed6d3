//! Numbers with units: the only module where a text such as `"150 KB"`, `"0.5 us"` or `"10 Gbps"` is read, and where one is
//! written.
//!
//! Scenario files, `--set`, axes of maps, bounds of a search, defaults on reference pages and numbers in messages come
//! through here; Python calls it as `penstock._core.read_quantity`, `write_quantity` and `show_quantity`. It is in this
//! crate because the quantities are: a simulator, a driver and a page share [`Octets`], [`Duration`], [`BitRate`] and the
//! [`Value`] of a parameter, and each of them needs the texts. It reads text and no file, and needs only `alloc`.
//!
//! There are three ways to write a number, each for one purpose:
//!
//! | | 33 100 octets | purpose |
//! |---|---|---|
//! | [`Dimension::write`], `Display` | `33100 octets` | a resolved scenario: the largest unit that leaves a whole number |
//! | [`Dimension::write_short`] | `33.1 KB` | a proposal for a person to take over: a decimal number, still exact |
//! | [`show`] | `33.1 KB` | a measured number on a screen: three digits |
//!
//! The first two read back as the same number. Reading involves no floating point: a decimal number times its unit must be
//! a whole number of the base unit (octets, picoseconds, bits per second), else it is refused.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use crate::info::{Unit, Value};
use crate::units::{BitRate, Duration, Instant, Octets};

/// The words after an amount that a line has for each Gb/s of its rate.
pub const PER_GBPS: &str = "per Gbps";

/// The dimension of a number with a unit.
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
    /// A number of frames.
    Frames,
    /// The length of a cable, in millimetres.
    Length,
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
const FRAMES: Names = &[("frames", 1), ("frame", 1)];
const LENGTH: Names = &[("km", 1_000_000), ("m", 1000), ("cm", 10), ("mm", 1)];

impl Dimension {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Time, Self::Size, Self::Rate, Self::Tolerance, Self::Frames, Self::Length];

    /// Names of its units with their factors over the base unit, those to write first.
    #[must_use]
    pub const fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Time => TIME,
            Self::Size => SIZE,
            Self::Rate => RATE,
            Self::Tolerance => TOLERANCE,
            Self::Frames => FRAMES,
            Self::Length => LENGTH,
        }
    }

    /// The word for a value.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Size => "size",
            Self::Rate => "rate",
            Self::Tolerance => "tolerance",
            Self::Frames => "number of frames",
            Self::Length => "length",
        }
    }

    /// The base unit.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Self::Time => "picoseconds",
            Self::Size => "octets",
            Self::Rate => "bit/s",
            Self::Tolerance => "parts per billion",
            Self::Frames => "frames",
            Self::Length => "millimetres",
        }
    }

    /// An example of a value, as a person writes it.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "15 ms",
            Self::Size => "150 KB",
            Self::Rate => "10 Gbps",
            Self::Tolerance => "100 ppm",
            Self::Frames => "100 frames",
            Self::Length => "40 m",
        }
    }

    /// Examples of an amount that follows the rate of a line.
    #[must_use]
    pub const fn of_line(self) -> &'static [&'static str] {
        match self {
            Self::Size => &["32 us", "4 KB per Gbps"],
            _ => &["0.2 Mbps per Gbps"],
        }
    }

    /// The dimension that has a unit of this name.
    fn of_unit(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.factor(name).is_some())
    }

    /// How many base units the unit called `name` has.
    fn factor(self, name: &str) -> Option<u64> {
        self.units().iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor)
    }

    /// Whether a text ends in one of its units.
    #[must_use]
    pub fn has_unit_of(self, text: &str) -> bool {
        self.factor(split(text).1).is_some()
    }

    /// Reads a number and its unit; the result is in the base unit.
    ///
    /// # Errors
    /// The fault in the text, and a form to write instead.
    pub fn read(self, text: &str) -> Result<u64, Unreadable> {
        let (number, unit) = split(text);
        let write = || format!("write a number and a unit, as in \"{}\"", self.example());
        if number.starts_with('-') {
            return Err(Unreadable::new(format!("\"{text}\" is negative; a {} is not", self.noun()), write()));
        }
        if number.is_empty() {
            return Err(Unreadable::new(format!("\"{text}\" is not a {}", self.noun()), write()));
        }
        if unit.is_empty() {
            return Err(Unreadable::new(format!("\"{text}\" has no unit"), write()));
        }
        if let Some(fault) = malformed(text, unit) {
            return Err(fault);
        }
        let factor = self.factor(unit).ok_or_else(|| self.unknown_unit(text, unit))?;
        scaled(text, number, factor, self.base(), write)
    }

    /// Writes `value` (in the base unit) with the largest unit of which it is a whole number.
    #[must_use]
    pub fn write(self, value: u64) -> String {
        let (count, unit) = self.whole(value);
        format!("{count} {unit}")
    }

    /// Writes `value` (in the base unit) as a decimal number of the largest unit that it reaches, in powers of 1000.
    #[must_use]
    pub fn write_short(self, value: u64) -> String {
        let reached = |&&(_, factor): &&(&str, u64)| factor <= value && 10_u64.pow(factor.ilog10()) == factor;
        let Some(&(name, factor)) = self.units().iter().find(reached) else { return self.write(value) };
        let (whole, part) = (value / factor, value % factor);
        if part == 0 {
            return format!("{whole} {name}");
        }
        let decimals = format!("{part:0width$}", width = factor.ilog10() as usize);
        format!("{whole}.{} {name}", decimals.trim_end_matches('0'))
    }

    /// The number that [`write`](Self::write) writes, and its unit.
    fn whole(self, value: u64) -> (u64, &'static str) {
        let exact = |&&(name, factor): &&(&str, u64)| match value {
            0 => factor == 1 || matches!(name, "s" | "ppm" | "m"),
            _ => name != "min" && value.is_multiple_of(factor),
        };
        let (name, factor) = self.units().iter().find(exact).expect("each dimension has its base unit");
        (value / factor, name)
    }

    fn unknown_unit(self, text: &str, unit: &str) -> Unreadable {
        if let Some(other) = Self::of_unit(unit) {
            let message = format!("\"{text}\" is a {}, not a {}", other.noun(), self.noun());
            return Unreadable::new(message, format!("for instance \"{}\"", self.example()));
        }
        if unit.split_whitespace().next().is_some_and(|first| first != unit && Self::of_unit(first).is_some()) {
            let message = format!("\"{text}\" goes on after its unit");
            return Unreadable::new(message, format!("write one number and one unit, as in \"{}\"", self.example()));
        }
        let known: Vec<&str> = self.units().iter().map(|(name, _)| *name).filter(|name| name.is_ascii()).collect();
        let message = format!("\"{unit}\" is not a unit of {}", self.noun());
        Unreadable::new(message, format!("known are {}", known.join(", ")))
    }
}

/// Why a text is no number with a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The fault in the text.
    pub message: String,
    /// A form to write instead; `None` where the number is beyond any that can be held.
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

/// The number at the start of a text, and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The fault of a number that goes on where its unit should begin.
fn malformed(text: &str, unit: &str) -> Option<Unreadable> {
    if unit.starts_with(['e', 'E']) && unit[1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) {
        let hint = "write the number in full, or with a larger unit";
        return Some(Unreadable::new(format!("\"{text}\" has an exponent"), hint));
    }
    let mark = unit.chars().next().filter(|c| matches!(c, ',' | '_' | '\''))?;
    let hint = "write digits alone, and a point before decimals, as in 1500.5";
    Some(Unreadable::new(format!("\"{text}\" has a {mark} in its number"), hint))
}

/// The decimal `number` times `factor`, which must be whole; `write` is the hint where it is no number.
fn scaled(
    text: &str,
    number: &str,
    factor: u64,
    base: &str,
    write: impl FnOnce() -> String,
) -> Result<u64, Unreadable> {
    let too_large = || Unreadable { message: format!("\"{text}\" is too large"), hint: None };
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
        let message = format!("\"{text}\" is not a whole number of {base}");
        return Err(Unreadable::new(message, format!("write fewer decimals; {base} are the least there is")));
    }
    u64::try_from(product / scale).map_err(|_| too_large())
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

/// A type whose values are written with a unit.
pub trait Quantity: Copy + Ord {
    /// The dimension of its values.
    const DIMENSION: Dimension;
    /// The value of `base` in the base unit.
    fn of(base: u64) -> Self;
    /// How many base units it has.
    fn base(self) -> u64;
}

macro_rules! quantities {
    ($($type:ident = $dimension:ident),+) => {
        $(impl Quantity for $type {
            const DIMENSION: Dimension = Dimension::$dimension;
            fn of(base: u64) -> Self {
                Self(base)
            }
            fn base(self) -> u64 {
                self.0
            }
        }
        impl fmt::Display for $type {
            /// As [`Dimension::write`] has it.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (count, unit) = Dimension::$dimension.whole(self.0);
                write!(f, "{count} {unit}")
            }
        })+
    };
}
quantities!(Octets = Size, Duration = Time, Instant = Time, BitRate = Rate);

impl fmt::Display for Value {
    /// As a scenario file has it, without quotation marks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Octets(octets) => octets.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Choice(word) => f.write_str(word),
            Self::Switch(on) => on.fmt(f),
            Self::PerGbps(rate) => write!(f, "{rate} {PER_GBPS}"),
        }
    }
}

impl fmt::Display for Unit {
    /// The unit in which a program that knows no types has the number; for words, the words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Octets | Self::Threshold => "octets",
            Self::Time => "s",
            Self::Rate => "bit/s",
            Self::Count => "count",
            Self::Real => "ratio",
            Self::Switch => "true or false",
            Self::Choice(words) => return f.write_str(&words.join(" | ")),
        })
    }
}

impl Unit {
    /// The unit of numbers that [`Display`](fmt::Display) writes as `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Octets, Self::Time, Self::Rate, Self::Count, Self::Real]
            .into_iter()
            .find(|unit| unit.to_string() == name)
    }

    /// Reads a value: a number with its unit, a number without one where it has none, or a word.
    ///
    /// # Errors
    /// The fault in the text, and a form to write instead.
    pub fn read(self, text: &str) -> Result<Value, Unreadable> {
        match self {
            Self::Octets | Self::Threshold => Dimension::Size.read(text).map(|octets| Value::Octets(Octets(octets))),
            Self::Time => Dimension::Time.read(text).map(|ps| Value::Time(Duration(ps))),
            Self::Rate => Dimension::Rate.read(text).map(|bps| Value::Rate(BitRate(bps))),
            Self::Count => count(text).map(Value::Count),
            Self::Real => real(text).map(Value::Real),
            Self::Choice(words) => {
                let word = words.iter().find(|word| **word == text.trim()).map(|word| Value::Choice(word));
                word.ok_or_else(|| Unreadable::new(format!("\"{text}\" is not known"), words.join(" or ")))
            }
            Self::Switch => match text.trim() {
                "true" => Ok(Value::Switch(true)),
                "false" => Ok(Value::Switch(false)),
                _ => Err(Unreadable::new(format!("\"{text}\" is not a switch"), "write true or false")),
            },
        }
    }

    /// The value that is `number` in the unit of [`Display`](fmt::Display), rounded to the nearest base unit. `None` for numbers that
    /// are negative, infinite or too large, and for choices.
    #[must_use]
    pub fn of_number(self, number: f64) -> Option<Value> {
        let whole = |number: f64| {
            // From 2^52 on, numbers are whole, and a half added would round them.
            let half = if number < 4_503_599_627_370_496.0 { 0.5 } else { 0.0 };
            (0.0..18_446_744_073_709_551_615.0).contains(&number).then_some((number + half) as u64)
        };
        match self {
            Self::Octets | Self::Threshold => whole(number).map(|octets| Value::Octets(Octets(octets))),
            Self::Time => whole(number * 1e12).map(|ps| Value::Time(Duration(ps))),
            Self::Rate => whole(number).map(|bps| Value::Rate(BitRate(bps))),
            Self::Count => whole(number).map(Value::Count),
            Self::Real => number.is_finite().then_some(Value::Real(number)),
            Self::Choice(_) | Self::Switch => None,
        }
    }
}

impl PartialOrd for Value {
    /// Numbers of one unit are ordered; all else is not.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Octets(a), Self::Octets(b)) => a.partial_cmp(b),
            (Self::Time(a), Self::Time(b)) => a.partial_cmp(b),
            (Self::Rate(a), Self::Rate(b)) => a.partial_cmp(b),
            (Self::Count(a), Self::Count(b)) => a.partial_cmp(b),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

impl Value {
    /// The number in the unit that [`Unit`] names: octets, s, bit/s, or without a unit; `None` for a word or a switch.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Octets(octets) => Some(octets.0 as f64),
            Self::Time(time) => Some(time.as_seconds()),
            Self::Rate(rate) => Some(rate.0 as f64),
            Self::Count(count) => Some(count as f64),
            Self::Real(number) => Some(number),
            Self::Choice(_) | Self::Switch(_) | Self::PerGbps(_) => None,
        }
    }

    /// As a person takes it over: as [`Dimension::write_short`] has it where there is a unit.
    #[must_use]
    pub fn write_short(self) -> String {
        match self {
            Self::Octets(octets) => Dimension::Size.write_short(octets.0),
            Self::Time(time) => Dimension::Time.write_short(time.0),
            Self::Rate(rate) => Dimension::Rate.write_short(rate.0),
            _ => self.to_string(),
        }
    }
}

/// Reads a whole number without a unit.
fn count(text: &str) -> Result<u64, Unreadable> {
    let (number, unit) = split(text);
    let write = || String::from("write a whole number without a unit, as in 8");
    if let Some(fault) = malformed(text, unit) {
        return Err(fault);
    }
    if number.starts_with('-') {
        return Err(Unreadable::new(format!("\"{text}\" is negative; a count is not"), write()));
    }
    if number.is_empty() || !unit.is_empty() {
        return Err(Unreadable::new(format!("\"{text}\" is {}, not a count", found(unit)), write()));
    }
    scaled(text, number, 1, "ones", write).map_err(|fault| {
        let fraction = fault.message.ends_with("ones");
        if fraction { Unreadable::new(format!("\"{text}\" is not a whole number"), write()) } else { fault }
    })
}

/// Reads a number without a unit.
fn real(text: &str) -> Result<f64, Unreadable> {
    let (number, unit) = split(text);
    let write = "write a number without a unit, as in 0.5";
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if number.is_empty() => Err(Unreadable::new(format!("\"{text}\" is not a finite number"), write)),
        Ok(_) => Err(Unreadable { message: format!("\"{text}\" is too large"), hint: None }),
        Err(_) if number.is_empty() => Err(Unreadable::new(format!("\"{text}\" is not a number"), write)),
        Err(_) => Err(malformed(text, unit)
            .unwrap_or_else(|| Unreadable::new(format!("\"{text}\" is {}, not a number", found(unit)), write))),
    }
}

/// The noun for a text that has `unit`, where none belongs.
fn found(unit: &str) -> String {
    match Dimension::of_unit(unit) {
        Some(dimension) => format!("a {}", dimension.noun()),
        None => String::from("a text"),
    }
}

/// Writes a measured number for a screen, with three digits: octets such as `33.1 KB`, rates such as `119 Mb/s`, times such as
/// `3.70 ms` or `2 h 1 min`, counts such as `18.2 M`. All others have no unit.
#[must_use]
pub fn show(unit: Unit, number: f64) -> String {
    match unit {
        Unit::Octets | Unit::Threshold => scale(number, &["B", "KB", "MB", "GB", "TB"]),
        Unit::Rate => scale(number, &["b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"]),
        Unit::Time => show_time(number),
        Unit::Count => String::from(scale(number, &["", "k", "M", "G"]).trim_end()),
        Unit::Real | Unit::Choice(_) | Unit::Switch => three_digits(number),
    }
}

/// Writes a fraction in percent, such as `95.2 %`.
#[must_use]
pub fn show_share(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent <= 0.0 || percent >= 0.1 {
        return format!("{percent:.1} %");
    }
    if percent < 0.001 {
        return String::from("<0.001 %");
    }
    let decimals = if percent >= 0.01 { 2 } else { 3 };
    format!("{} %", format!("{percent:.decimals$}").trim_end_matches('0'))
}

fn show_time(seconds: f64) -> String {
    if seconds >= 100.0 {
        return long_time((seconds + 0.5) as u64);
    }
    for (factor, unit) in [(1.0, "s"), (1e3, "ms"), (1e6, "us")] {
        // A number that rounds to 1000 of a unit is 1 of the next.
        if seconds * factor >= 0.9995 {
            return format!("{} {unit}", three_digits(seconds * factor));
        }
    }
    if seconds == 0.0 { String::from("0 s") } else { format!("{} ns", three_digits(seconds * 1e9)) }
}

fn long_time(seconds: u64) -> String {
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match hours {
        0 => format!("{minutes} min {seconds} s"),
        1..100 => format!("{hours} h {minutes} min"),
        _ => format!("{} days {} h", hours / 24, hours % 24),
    }
}

/// In the first unit, a thousandth of the next one, that leaves less than 1000.
fn scale(number: f64, units: &[&str]) -> String {
    let (mut number, mut unit) = (number, 0);
    while number.abs() >= 999.5 && unit + 1 < units.len() {
        number /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(number), units[unit])
}

fn three_digits(number: f64) -> String {
    let size = number.abs();
    if number % 1.0 == 0.0 && size < 1000.0 {
        return format!("{number:.0}");
    }
    let decimals = if size >= 99.95 { 0 } else { 1 + usize::from(size < 9.995) };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::Dimension::{Frames, Length, Rate, Size, Time, Tolerance};
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
            (Frames, "100 frames", 100),
            (Frames, "1 frame", 1),
            (Length, "40 m", 40_000),
            (Length, "0.5m", 500),
            (Length, "120 km", 120_000_000),
        ] {
            assert_eq!(dimension.read(text), Ok(value), "{text}");
        }
    }

    /// For each dimension an unknown unit, none, that of another kind, and a number that is negative, missing, infinite or
    /// too large. Then two units, a comma, an exponent, and a part of the base unit.
    #[test]
    fn wrong_texts_are_refused_with_what_to_write() {
        let cases = [
            (
                Time,
                [
                    "1 sec",
                    "15",
                    "1 KB",
                    "-1 s",
                    "nan s",
                    "inf s",
                    "99999999999 s",
                    "1 s 5 ms",
                    "1,5 s",
                    "1e3 s",
                    "0.1 ps",
                ],
            ),
            (
                Size,
                [
                    "1 Kb",
                    "15",
                    "1 us",
                    "-1 B",
                    "nan B",
                    "inf B",
                    "99999999999 GB",
                    "1 KB 5 B",
                    "1,5 KB",
                    "1e3 B",
                    "0.1 B",
                ],
            ),
            (
                Rate,
                [
                    "1 GHz",
                    "15",
                    "1 KB",
                    "-1 bps",
                    "nan bps",
                    "inf bps",
                    "99999999 Tbps",
                    "1 bps bps",
                    "1,5 bps",
                    "1e3 bps",
                    "0.1 bps",
                ],
            ),
            (
                Tolerance,
                [
                    "5 %",
                    "15",
                    "1 s",
                    "-1 ppm",
                    "nan ppm",
                    "inf ppm",
                    "99999999999999999 ppm",
                    "1 ppm ppb",
                    "1,5 ppm",
                    "1e3 ppm",
                    "0.1 ppb",
                ],
            ),
            (
                Frames,
                [
                    "5 packets",
                    "15",
                    "1 KB",
                    "-1 frames",
                    "nan frames",
                    "inf frames",
                    "99999999999999999999 frames",
                    "1 frame 2 B",
                    "1,5 frames",
                    "1e3 frames",
                    "0.1 frames",
                ],
            ),
        ];
        for (dimension, texts) in cases {
            let (noun, base, example) = (dimension.noun(), dimension.base(), dimension.example());
            let parts = [
                format!("is not a unit of {noun} (known are {}", dimension.units()[0].0),
                format!("\"15\" has no unit (write a number and a unit, as in \"{example}\")"),
                format!(", not a {noun} (for instance \"{example}\")"),
                format!("is negative; a {noun} is not (write a number and a unit, as in \"{example}\")"),
                format!("is not a {noun} (write a number and a unit, as in \"{example}\")"),
                format!("is not a {noun} (write a number and a unit, as in \"{example}\")"),
                "is too large".into(),
                format!("goes on after its unit (write one number and one unit, as in \"{example}\")"),
                "has a , in its number (write digits alone, and a point before decimals, as in 1500.5)".into(),
                "has an exponent (write the number in full, or with a larger unit)".into(),
                format!("is not a whole number of {base} (write fewer decimals; {base} are the least there is)"),
            ];
            for (text, part) in texts.iter().zip(parts) {
                let message = dimension.read(text).unwrap_err().to_string();
                assert!(message.contains(&part), "{text}: {message}, expected {part}");
            }
        }
    }

    #[test]
    fn slips_within_a_number_are_named() {
        for (dimension, text, part) in [
            (Size, "", "\"\" is not a size"),
            (Size, "150_000 octets", "has a _ in its number"),
            (Time, "1..2 s", "\"1..2\" is not a number (write a number and a unit"),
            (Time, "1. s", "\"1.\" is not a number"),
            (Time, "+1 s", "\"+1\" is not a number"),
            (Time, "1 e", "\"e\" is not a unit of time"),
            (Time, "soon", "is not a time"),
            (Size, "10 Gbps", "is a rate, not a size"),
            (Rate, "10 KB/s", "\"KB/s\" is not a unit of rate"),
            (Size, "10 frames", "is a number of frames, not a size"),
            (
                Rate,
                "9999999999999999999999999 bps",
                "has too many digits; 24 are the most (write it with a larger unit)",
            ),
            (Rate, "999999999999999999999999 Tbps", "too large"),
        ] {
            let message = dimension.read(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn numbers_without_a_unit_have_none() {
        assert_eq!(Unit::Count.read("8"), Ok(Value::Count(8)));
        assert_eq!(Unit::Count.read(" 8.0 "), Ok(Value::Count(8)));
        assert_eq!(Unit::Real.read("0.25"), Ok(Value::Real(0.25)));
        assert_eq!(Unit::Real.read("1e-3"), Ok(Value::Real(0.001)));
        for (unit, text, part) in [
            (Unit::Count, "8 us", "is a time, not a count (write a whole number without a unit, as in 8)"),
            (Unit::Count, "8 apples", "is a text, not a count"),
            (Unit::Count, "2.5", "is not a whole number (write a whole number"),
            (Unit::Count, "-1", "is negative; a count is not"),
            (Unit::Count, "nan", "is a text, not a count"),
            (Unit::Count, "1e308", "has an exponent (write the number in full"),
            (Unit::Count, "1,000", "has a , in its number"),
            (Unit::Count, "99999999999999999999", "is too large"),
            (Unit::Count, "", "not a count"),
            (Unit::Real, "0.5 KB", "is a size, not a number (write a number without a unit, as in 0.5)"),
            (Unit::Real, "0,5", "has a , in its number"),
            (Unit::Real, "nan", "is not a finite number (write a number"),
            (Unit::Real, "inf", "is not a finite number"),
            (Unit::Real, "1e999", "is too large"),
            (Unit::Real, "", "is not a number"),
            (Unit::Real, "1 2", "is a text, not a number"),
            (Unit::Choice(&["a", "b"]), "c", "is not known (a or b)"),
            (Unit::Switch, "on", "is not a switch (write true or false)"),
            (Unit::Time, "10", "has no unit"),
        ] {
            let message = unit.read(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn the_largest_exact_unit_is_written() {
        for (dimension, value, text) in [
            (Size, 150_000, "150 KB"),
            (Size, 65_536, "64 KiB"),
            (Size, 1500, "1500 octets"),
            (Size, 33_100, "33100 octets"),
            (Size, 0, "0 octets"),
            (Time, 0, "0 s"),
            (Time, 60_000_000_000_000, "60 s"),
            (Time, 1_500_000, "1500 ns"),
            (Rate, 0, "0 bps"),
            (Rate, 950_000_000, "950 Mbps"),
            (Rate, 618_750_000, "618750 kbps"),
            (Tolerance, 0, "0 ppm"),
            (Tolerance, 500, "500 ppb"),
            (Frames, 100, "100 frames"),
        ] {
            assert_eq!(dimension.write(value), text);
        }
        assert_eq!(Octets(1500).to_string(), "1500 octets");
        assert_eq!(Duration::from_us(25_000).to_string(), "25 ms");
    }

    #[test]
    fn a_proposal_is_a_decimal_number() {
        for (dimension, value, text) in [
            (Size, 33_100, "33.1 KB"),
            (Size, 65_536, "65.536 KB"),
            (Size, 950, "950 octets"),
            (Size, 0, "0 octets"),
            (Size, 1_000_001, "1.000001 MB"),
            (Time, 12_300_000_000, "12.3 ms"),
            (Time, 90_000_000_000_000, "90 s"),
            (Time, 0, "0 s"),
            (Rate, 5_000_000, "5 Mbps"),
            (Rate, 999, "999 bps"),
            (Tolerance, 1500, "1.5 ppm"),
        ] {
            assert_eq!(dimension.write_short(value), text);
        }
        assert_eq!(Value::Octets(Octets(33_100)).write_short(), "33.1 KB");
        assert_eq!(Value::Count(33_100).write_short(), "33100");
    }

    #[test]
    fn measured_numbers_have_three_digits() {
        for (unit, number, text) in [
            (Unit::Octets, 0.0, "0 B"),
            (Unit::Octets, 999.0, "999 B"),
            (Unit::Octets, 33_120.4, "33.1 KB"),
            (Unit::Octets, 999_600.0, "1.00 MB"),
            (Unit::Octets, -1234.5, "-1.23 KB"),
            (Unit::Octets, 5e15, "5000 TB"),
            (Unit::Rate, 118_750_000.0, "119 Mb/s"),
            (Unit::Time, 0.0, "0 s"),
            (Unit::Time, 0.0037, "3.70 ms"),
            (Unit::Time, 0.9996, "1.00 s"),
            (Unit::Time, 8e-9, "8 ns"),
            (Unit::Time, 754.0, "12 min 34 s"),
            (Unit::Time, 7260.0, "2 h 1 min"),
            (Unit::Time, 400_000.0, "4 days 15 h"),
            (Unit::Count, 18_249_000.0, "18.2 M"),
            (Unit::Count, 12.0, "12"),
            (Unit::Real, 0.4567, "0.46"),
        ] {
            assert_eq!(show(unit, number), text);
        }
        let shares =
            [(0.0, "0.0 %"), (0.9524, "95.2 %"), (0.0004, "0.04 %"), (0.000_096, "0.01 %"), (0.000_02, "0.002 %")];
        for (fraction, text) in shares {
            assert_eq!(show_share(fraction), text);
        }
        assert_eq!(show_share(0.000_001), "<0.001 %");
    }

    #[test]
    fn a_value_and_its_number_are_the_same() {
        assert_eq!(Value::Time(Duration::from_us(10)).number(), Some(1e-5));
        assert_eq!(Unit::Time.of_number(1e-5), Some(Value::Time(Duration::from_us(10))));
        assert_eq!(Unit::Rate.of_number(0.6), Some(Value::Rate(BitRate(1))));
        // 2^52 + 1: adding a half would not change it.
        assert_eq!(Unit::Count.of_number(4_503_599_627_370_497.0), Some(Value::Count(4_503_599_627_370_497)));
        for number in [-1.0, f64::NAN, f64::INFINITY, 1e20] {
            assert_eq!(Unit::Octets.of_number(number), None, "{number}");
        }
        assert_eq!(Unit::Time.of_number(1e9), None);
        assert_eq!(Unit::Real.of_number(f64::NAN), None);
        assert_eq!(Unit::Switch.of_number(1.0), None);
        assert_eq!(Value::Switch(true).number(), None);
        for name in ["octets", "s", "bit/s", "count", "ratio"] {
            assert_eq!(Unit::named(name).map(|unit| unit.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Unit::named("parsec"), None);
    }

    #[test]
    fn values_of_one_unit_have_an_order() {
        let (octets, more) = (Value::Octets(Octets(1)), Value::Octets(Octets(2)));
        assert!(octets < more && Value::Real(0.5) < Value::Real(0.6));
        assert!(
            Value::Time(Duration(1)) < Value::Time(Duration(2)) && Value::Rate(BitRate(1)) < Value::Rate(BitRate(2))
        );
        assert!(Value::Count(1) < Value::Count(2));
        assert_eq!(octets.partial_cmp(&Value::Time(Duration(2))), None);
        assert_eq!(Value::Choice("a").partial_cmp(&Value::Choice("b")), None);
    }

    proptest::proptest! {
        #[test]
        fn a_written_number_reads_back(value: u64, small in 0..100_000_u64, which in 0..Dimension::ALL.len()) {
            let dimension = Dimension::ALL[which];
            for value in [value, small, small * 1000, small << 20, value % 1_000_000_000_000_000] {
                proptest::prop_assert_eq!(dimension.read(&dimension.write(value)), Ok(value));
                proptest::prop_assert_eq!(dimension.read(&dimension.write_short(value)), Ok(value));
            }
        }

        #[test]
        fn each_name_of_a_unit_reads_back(count in 0..100_000_u64, which in 0..Dimension::ALL.len(), unit: usize) {
            let (dimension, units) = (Dimension::ALL[which], Dimension::ALL[which].units());
            let (name, factor) = units[unit % units.len()];
            proptest::prop_assert_eq!(dimension.read(&format!("{count} {name}")), Ok(count * factor));
            proptest::prop_assert_eq!(dimension.read(&format!("{count}{name}")), dimension.read(&format!(" {count}  {name} ")));
        }

        #[test]
        fn a_written_value_reads_back(number: u64, real: f64, word in 0..2_usize, on: bool) {
            const WORDS: &[&str] = &["per-flow", "per-host"];
            let values = [
                (Unit::Octets, Value::Octets(Octets(number))),
                (Unit::Threshold, Value::Octets(Octets(number))),
                (Unit::Time, Value::Time(Duration(number))),
                (Unit::Rate, Value::Rate(BitRate(number))),
                (Unit::Count, Value::Count(number)),
                (Unit::Real, Value::Real(real)),
                (Unit::Choice(WORDS), Value::Choice(WORDS[word])),
                (Unit::Switch, Value::Switch(on)),
            ];
            for (unit, value) in values {
                proptest::prop_assert!(value.is_in(unit));
                proptest::prop_assert_eq!(unit.read(&value.to_string()), Ok(value));
                proptest::prop_assert_eq!(unit.read(&value.write_short()), Ok(value));
            }
        }

        #[test]
        fn whole_numbers_keep_their_value_as_a_float(number in 0..1_u64 << 52) {
            for unit in [Unit::Octets, Unit::Rate, Unit::Count] {
                proptest::prop_assert_eq!(unit.of_number(number as f64).and_then(Value::number), Some(number as f64));
            }
            // A float of seconds holds picoseconds up to a thousandth of 2^52.
            let time = Value::Time(Duration(number / 1000));
            proptest::prop_assert_eq!(Unit::Time.of_number(time.number().unwrap()), Some(time));
        }

        #[test]
        fn any_text_is_a_value_or_an_error(text in "\\PC{0,20}", which in 0..Dimension::ALL.len()) {
            let _ = Dimension::ALL[which].read(&text);
            for unit in [Unit::Octets, Unit::Time, Unit::Rate, Unit::Count, Unit::Real, Unit::Switch] {
                let _ = unit.read(&text);
            }
        }
    }
}
