//! The types that a key's value can have: how each is described, read and written.

use std::ops::{Deref, RangeInclusive};

use penstock_schemes::quantity::{Dimension, Quantity};
use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::network::{Capacity, LARGEST_QUEUE};

use crate::error::{Fault, nearest};
use crate::keys::key::{Kind, Section};
use crate::keys::location::Location;
use crate::keys::ranges::TIME;
use crate::keys::tree::{Data, Node};
use crate::keys::write::{Written, quoted};

/// A type that a key's value can have.
pub(crate) trait Field: Sized {
    /// The range that a declaration gives the values, beyond their type.
    type Range;
    /// How it is described.
    fn kind(range: &Self::Range) -> Kind;
    /// Reads the value written at `location`.
    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault>;
    /// As it is written; `None` for a value that is not there.
    fn write(&self) -> Option<Written>;
}

/// A table with declared keys; [`section!`](crate::keys::declare::section) makes one.
pub(crate) trait Table: Sized {
    /// Its keys.
    fn section() -> Section;
    /// Reads it.
    fn read(node: &Node, location: Location<'_>) -> Result<Self, Fault>;
    /// Its keys with their values, those without one left out.
    fn write(&self) -> Vec<(&'static str, Written)>;
}

/// Some tolerance, in parts per billion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tolerance(pub(crate) u64);

impl Quantity for Tolerance {
    const DIMENSION: Dimension = Dimension::Tolerance;
    fn of(base: u64) -> Self {
        Self(base)
    }
    fn base(self) -> u64 {
        self.0
    }
}

/// The length of a cable, in millimetres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Length(pub(crate) u64);

impl Quantity for Length {
    const DIMENSION: Dimension = Dimension::Length;
    fn of(base: u64) -> Self {
        Self(base)
    }
    fn base(self) -> u64 {
        self.0
    }
}

macro_rules! quantities {
    ($($type:ident),+) => {
        $(impl Field for $type {
            type Range = RangeInclusive<Self>;
            fn kind(range: &Self::Range) -> Kind {
                Kind::Quantity(Self::DIMENSION, range.start().0, range.end().0)
            }
            fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
                quantity(range, node, location)
            }
            fn write(&self) -> Option<Written> {
                Some(Written::Line(quoted(&Self::DIMENSION.write(self.0))))
            }
        })+
    };
}
quantities!(Duration, Octets, BitRate, Tolerance, Length);

fn quantity<T: Quantity>(range: &RangeInclusive<T>, node: &Node, location: Location<'_>) -> Result<T, Fault> {
    match &node.data {
        Data::Text(text) => amount(range, text, location),
        Data::Integer(_) | Data::Real(_) => {
            let hint = format!("write a number and a unit, as in \"{}\"", T::DIMENSION.example());
            Err(location.error(format!("{} has no unit", node.data.noun()), hint))
        }
        _ => Err(location.unlike(&Kind::Quantity(T::DIMENSION, range.start().base(), range.end().base()), node)),
    }
}

/// Reads a number with a unit that is in `range`.
pub(crate) fn amount<T: Quantity>(range: &RangeInclusive<T>, text: &str, location: Location<'_>) -> Result<T, Fault> {
    let d = T::DIMENSION;
    let (low, high) = (range.start().base(), range.end().base());
    let (least, most) = (d.write(low), d.write(high));
    let all = || format!("from {least} to {most}");
    let x = d.read(text).map_err(|wrong| {
        let hint = wrong.hint.unwrap_or_else(|| format!("at most {most}"));
        location.error(wrong.message, hint)
    })?;
    if x == 0 && low > 0 {
        return Err(location.error(format!("\"{text}\" is zero; this {} must be more", d.noun()), all()));
    }
    if x < low {
        return Err(location.error(format!("\"{text}\" is below the minimum of {least}"), all()));
    }
    if x > high {
        return Err(location.error(format!("\"{text}\" is above the maximum of {most}"), all()));
    }
    Ok(T::of(x))
}

/// Some frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FrameCount(u64);

impl Quantity for FrameCount {
    const DIMENSION: Dimension = Dimension::Frames;
    fn of(base: u64) -> Self {
        Self(base)
    }
    fn base(self) -> u64 {
        self.0
    }
}

/// The frames that a queue can be said to hold.
const FRAMES: RangeInclusive<FrameCount> = FrameCount(1)..=FrameCount(u32::MAX as u64);

/// A queue's size: octets, or frames.
impl Field for Capacity {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Capacity
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        match &node.data {
            Data::Text(text) if Dimension::Frames.has_unit_of(text) => {
                amount(&FRAMES, text, location).map(|FrameCount(frames)| Self::Frames(frames as u32))
            }
            Data::Text(text) => amount(&(Octets(1)..=LARGEST_QUEUE), text, location).map(Self::Octets),
            Data::Integer(_) | Data::Real(_) => {
                let hint = "write a number and a unit, as in \"150 KB\" or \"100 frames\"";
                Err(location.error(format!("{} has no unit", node.data.noun()), hint))
            }
            _ => Err(location.unlike(&Kind::Capacity, node)),
        }
    }

    fn write(&self) -> Option<Written> {
        match self {
            Self::Octets(octets) => octets.write(),
            Self::Frames(n) => Some(Written::Line(quoted(&Dimension::Frames.write(u64::from(*n))))),
            Self::Arbiter => None,
        }
    }
}

/// The propagation delay of a link: a time, or the length of its cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Time(Duration),
    Cable(Length),
}

impl Propagation {
    /// No delay.
    pub(crate) const NONE: Self = Self::Time(Duration::ZERO);
    /// The longest cable: 1000 km.
    pub(crate) const LONGEST_CABLE: Length = Length(1_000_000_000);

    /// The delay, where a metre of cable has `per_metre`.
    pub(crate) fn delay(self, per_metre: Duration) -> Duration {
        match self {
            Self::Time(time) => time,
            Self::Cable(Length(millimetres)) => Duration(millimetres * per_metre.0 / 1000),
        }
    }

    /// The length of its cable, where that is given.
    pub(crate) fn cable(self) -> Option<Length> {
        if let Self::Cable(length) = self { Some(length) } else { None }
    }
}

impl Field for Propagation {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Either(vec![Duration::kind(&TIME), Length::kind(&(Length(0)..=Self::LONGEST_CABLE))])
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        match &node.data {
            Data::Text(text) if Dimension::Length.has_unit_of(text) => {
                amount(&(Length(0)..=Self::LONGEST_CABLE), text, location).map(Self::Cable)
            }
            _ => Duration::read(&TIME, node, location).map(Self::Time),
        }
    }

    fn write(&self) -> Option<Written> {
        match self {
            Self::Time(time) => time.write(),
            Self::Cable(length) => length.write(),
        }
    }
}

macro_rules! counts {
    ($($type:ident),+) => {
        $(impl Field for $type {
            type Range = RangeInclusive<Self>;
            fn kind(range: &Self::Range) -> Kind {
                Kind::Count(u64::from(*range.start()), u64::from(*range.end()))
            }
            fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
                let Data::Integer(x) = node.data else { return Err(location.unlike(&Self::kind(range), node)) };
                let x = Self::try_from(x).ok().filter(|x| range.contains(x));
                x.ok_or_else(|| location.unlike(&Self::kind(range), node))
            }
            fn write(&self) -> Option<Written> {
                Some(Written::Line(self.to_string()))
            }
        })+
    };
}
counts!(u8, u16, u64);

/// Whole numbers, none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) Vec<u8>);

impl Field for Counts {
    type Range = RangeInclusive<u8>;

    fn kind(range: &Self::Range) -> Kind {
        Kind::Counts(u64::from(*range.start()), u64::from(*range.end()))
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let mut counts = Vec::new();
        for (x, location) in listed(&Self::kind(range), range, node, location)? {
            if counts.contains(&x) {
                return Err(location.error(format!("{x} is listed twice"), "list each number once"));
            }
            counts.push(x);
        }
        Ok(Self(counts))
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(format!("{:?}", self.0)))
    }
}

/// The values of a list with one at least, each with its place.
fn listed<'a, T: Field>(
    kind: &Kind,
    range: &T::Range,
    node: &'a Node,
    location: Location<'a>,
) -> Result<Vec<(T, Location<'a>)>, Fault> {
    let Data::List(items) = &node.data else { return Err(location.unlike(kind, node)) };
    if items.is_empty() {
        return Err(location.error("an empty list".into(), format!("expected {}", kind.expects())));
    }
    items
        .iter()
        .map(|item| {
            let location = Location { origin: item.origin, ..location };
            Ok((T::read(range, item, location)?, location))
        })
        .collect()
}

/// Weights of members, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Weights(pub(crate) Vec<u64>);

impl Field for Weights {
    type Range = RangeInclusive<u64>;

    fn kind(range: &Self::Range) -> Kind {
        Kind::Weights(*range.start(), *range.end())
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        Ok(Self(listed(&Self::kind(range), range, node, location)?.into_iter().map(|(weight, _)| weight).collect()))
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(format!("{:?}", self.0)))
    }
}

impl Field for f64 {
    type Range = RangeInclusive<Self>;

    fn kind(range: &Self::Range) -> Kind {
        Kind::Real(*range.start(), *range.end())
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let x = match node.data {
            Data::Integer(x) => Some(x as Self),
            Data::Real(x) => Some(x),
            _ => None,
        };
        x.filter(|x| range.contains(x)).ok_or_else(|| location.unlike(&Self::kind(range), node))
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(format!("{self:?}")))
    }
}

impl Field for bool {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Switch
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        if let Data::Switch(x) = node.data { Ok(x) } else { Err(location.unlike(&Kind::Switch, node)) }
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(self.to_string()))
    }
}

/// One line of text.
impl Field for String {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Text
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let Data::Text(text) = &node.data else { return Err(location.unlike(&Kind::Text, node)) };
        if text.trim().is_empty() || text.contains(char::is_control) {
            let found = if text.trim().is_empty() { "nothing" } else { "line ends or other control characters" };
            let hint = format!("for instance {}", Kind::Text.example(location.path));
            return Err(location.error(format!("expected one line of text, found {found}"), hint));
        }
        Ok(text.clone())
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(quoted(self)))
    }
}

/// Lines of text, as they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) String);

impl Field for Lines {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Lines
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let Data::Text(text) = &node.data else { return Err(location.unlike(&Kind::Lines, node)) };
        Ok(Self(text.clone()))
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(quoted(&self.0)))
    }
}

/// Values that have another name now.
const FORMER: [(&str, &str); 1] = [("hold", "stall")];

/// The value of one of some names.
pub(crate) fn word<T: Copy>(words: &[(&'static str, T)], node: &Node, location: Location<'_>) -> Result<T, Fault> {
    let names: Vec<&'static str> = words.iter().map(|(word, _)| *word).collect();
    Ok(words[which(names, node, location)?].1)
}

/// Which of some names a node is. (Not in [`word`], which is compiled for each type of value.)
fn which(names: Vec<&'static str>, node: &Node, location: Location<'_>) -> Result<usize, Fault> {
    let Data::Text(text) = &node.data else { return Err(location.unlike(&Kind::Word(names), node)) };
    if let Some(index) = names.iter().position(|word| word == text) {
        return Ok(index);
    }
    let former = FORMER.iter().find(|(former, now)| former == text && names.contains(now));
    let hint = match former {
        Some((_, now)) => Some(format!("it is called \"{now}\"")),
        None => nearest(text, names.iter().copied()),
    };
    let kind = Kind::Word(names);
    Err(location.error(
        format!("\"{text}\" is not known here, expected {}", kind.expects()),
        hint.unwrap_or_else(|| format!("for instance {}", kind.example(location.path))),
    ))
}

/// Names, as they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List(pub(crate) Vec<String>);

/// Names and ranges of names: one, or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl Deref for List {
    type Target = [String];
    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl Deref for Names {
    type Target = [String];
    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl Field for List {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::List
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        names(&Kind::List, node, location).map(Self)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Line(format!("[{}]", self.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))))
    }
}

impl Field for Names {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Names
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        match &node.data {
            Data::Text(text) => Ok(Self(vec![text.clone()])),
            _ => names(&Kind::Names, node, location).map(Self),
        }
    }

    fn write(&self) -> Option<Written> {
        List(self.0.clone()).write()
    }
}

fn names(kind: &Kind, node: &Node, location: Location<'_>) -> Result<Vec<String>, Fault> {
    let Data::List(items) = &node.data else { return Err(location.unlike(kind, node)) };
    if items.is_empty() {
        return Err(location.error("an empty list".into(), format!("expected {}", kind.expects())));
    }
    let name = |item: &Node| match &item.data {
        Data::Text(text) => Ok(text.clone()),
        other => {
            let location = Location { origin: item.origin, ..location };
            Err(location.error(format!("expected a name, found {}", other.noun()), "for instance \"h0\""))
        }
    };
    items.iter().map(name).collect()
}

impl<T: Table> Field for T {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Table(T::section())
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        table(node, location)
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Table(Table::write(self)))
    }
}

/// A table, if it is one.
pub(crate) fn table<T: Table>(node: &Node, location: Location<'_>) -> Result<T, Fault> {
    match node.data {
        Data::Table(_) => T::read(node, location),
        _ => Err(location.unlike(&Kind::Table(T::section()), node)),
    }
}

/// A list of tables.
impl<T: Table> Field for Vec<T> {
    type Range = ();

    fn kind((): &()) -> Kind {
        Kind::Tables(T::section())
    }

    fn read((): &(), node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        match &node.data {
            Data::List(items) => {
                let read = |(i, item): (usize, &Node)| {
                    T::read(item, Location { path: &format!("{}.{i}", location.path), origin: item.origin })
                };
                items.iter().enumerate().map(read).collect()
            }
            Data::Table(_) => {
                let message = "expected a list of tables, found a table".to_owned();
                Err(location.error(message, format!("write [[{}]]", location.path)))
            }
            _ => Err(location.unlike(&Self::kind(&()), node)),
        }
    }

    fn write(&self) -> Option<Written> {
        Some(Written::Tables(self.iter().map(Table::write).collect()))
    }
}

/// Absent where the key is not written.
impl<T: Field> Field for Option<T> {
    type Range = T::Range;

    fn kind(range: &Self::Range) -> Kind {
        T::kind(range)
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        T::read(range, node, location).map(Some)
    }

    fn write(&self) -> Option<Written> {
        self.as_ref().and_then(T::write)
    }
}

/// One of two types whose values differ in form.
#[derive(Debug, Clone)]
pub(crate) enum Either<A, B> {
    /// The first.
    First(A),
    /// The second; a table stands on one line.
    Second(B),
}

impl<A: Field, B: Field> Field for Either<A, B> {
    type Range = (A::Range, B::Range);

    fn kind((first, second): &Self::Range) -> Kind {
        Kind::Either(vec![A::kind(first), B::kind(second)])
    }

    fn read(range: &Self::Range, node: &Node, location: Location<'_>) -> Result<Self, Fault> {
        let (first, second) = (A::kind(&range.0), B::kind(&range.1));
        let by_word = [&first, &second].into_iter().position(|kind| kind.has_word(&node.data));
        let by_form = || [&first, &second].into_iter().position(|kind| kind.fits(&node.data));
        match by_word.or_else(by_form) {
            Some(0) => A::read(&range.0, node, location).map(Self::First),
            Some(_) => B::read(&range.1, node, location).map(Self::Second),
            None => Err(location.unlike(&Kind::Either(vec![first, second]), node)),
        }
    }

    fn write(&self) -> Option<Written> {
        let written = match self {
            Self::First(value) => value.write(),
            Self::Second(value) => value.write(),
        };
        written.map(Written::on_one_line)
    }
}
