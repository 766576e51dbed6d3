//! The managed objects of congestion notification, as in IEEE8021-CN-MIB. Each is declared once, in `objects/tables.rs`. Its row as a
//! struct with the defaults, its text, its page and the columns of `penstock dcb show` follow from that.
//!
//! Names, ranges, defaults and clauses are those of the MIB of 802.1Q-2014, whose references name the clauses.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use penstock_schemes::quantity::Dimension;

mod tables;

pub use tables::{
    ComponentPriority, CongestionPoint, Global, PortPriority, ReactionPointGroup, ReactionPointPort, TABLES,
};

/// A table of the MIB; a row of it is one of the structs of this module.
#[derive(Debug)]
pub struct Table {
    /// Its name in the MIB.
    pub name: &'static str,
    /// The things that have a row each.
    pub per: &'static str,
    /// The clause that describes it.
    pub clause: &'static str,
    /// Its purpose.
    pub meaning: &'static str,
    /// Its objects, those that are indices aside.
    pub objects: &'static [Object],
}

/// A managed object.
#[derive(Debug)]
pub struct Object {
    /// Its name here and on the command line, such as `rpg_time_reset`.
    pub key: &'static str,
    /// Its name in the MIB, such as `ieee8021CnRpgTimeReset`.
    pub name: &'static str,
    /// The standard's variable, such as `rpgTimeReset`.
    pub variable: &'static str,
    /// The clause of the variable.
    pub clause: &'static str,
    /// The values that it takes.
    pub syntax: Syntax,
    /// The unit of its number.
    pub unit: Unit,
    /// A manager may set it.
    pub writable: bool,
    /// Its value at first.
    pub default: Default,
    /// The parameter of QCN that it sets, where a scheme has one.
    pub parameter: Option<Parameter>,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The parameter of a scheme that an object sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in `penstock-schemes`.
    pub name: &'static str,
    /// The parameter is 2 to the power of the object.
    pub power: bool,
}

/// A parameter's value as an object has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The object's number that is nearest.
    pub number: i128,
    /// It is the parameter's value exactly.
    pub exact: bool,
}

/// The values of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// True or false: 1 or 2 in the MIB.
    Truth,
    /// A number from the first to the second.
    Number(i128, i128),
    /// One of these names, each with its number in the MIB.
    Choice(&'static [(&'static str, i128)]),
    /// A number that only grows.
    Counter,
    /// The 8 octets of an identifier, or the 6 of an address.
    Octets(usize),
}

/// The unit of an object's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// None.
    One,
    /// Octets.
    Octets,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds, in which Linux holds times that the MIB has in milliseconds.
    Microseconds,
    /// Hundredths of a second.
    Centiseconds,
    /// 10^6 bit/s, with preamble and gap between frames.
    MegabitsPerSecond,
    /// Percent.
    Percent,
    /// Frames.
    Frames,
}

/// An object's value at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// The MIB's default.
    Mib(i128),
    /// A default of this program, since the MIB has none.
    Own(i128),
    /// The system's to say.
    None,
}

impl Default {
    /// The number, if there is one.
    #[must_use]
    pub const fn number(self) -> Option<i128> {
        match self {
            Self::Mib(number) | Self::Own(number) => Some(number),
            Self::None => None,
        }
    }
}

/// A text or number that is no value of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAValue {
    /// The object's key.
    pub key: &'static str,
    /// The fault.
    pub message: String,
    /// The values that would be right.
    pub hint: String,
}

impl fmt::Display for NotAValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.key, self.message, self.hint)
    }
}

impl core::error::Error for NotAValue {}

impl Unit {
    /// The dimension of a text in this unit, and how many of its base units this unit has.
    #[must_use]
    pub const fn dimension(self) -> Option<(Dimension, u64)> {
        match self {
            Self::Octets => Some((Dimension::Size, 1)),
            Self::Milliseconds => Some((Dimension::Time, 1_000_000_000)),
            Self::Microseconds => Some((Dimension::Time, 1_000_000)),
            Self::Centiseconds => Some((Dimension::Time, 10_000_000_000)),
            Self::MegabitsPerSecond => Some((Dimension::Rate, 1_000_000)),
            Self::One | Self::Percent | Self::Frames => None,
        }
    }

    /// Its name behind a number; empty where there is none.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Octets => "octets",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Centiseconds => "cs",
            Self::MegabitsPerSecond => "Mb/s",
            Self::Percent => "%",
            Self::Frames => "frames",
        }
    }
}

impl Object {
    /// Reads a value: a word, or a number in the object's unit, or a quantity that has a unit, such as `"15 ms"`.
    ///
    /// # Errors
    /// It is no value of this object.
    pub fn read(&self, text: &str) -> Result<i128, NotAValue> {
        self.read_in(self.unit, text)
    }

    /// Reads a value, and gives its number in `unit`, which has the dimension of the object's own.
    ///
    /// # Errors
    /// It is no value of this object, or no whole number of `unit`.
    pub fn read_in(&self, unit: Unit, text: &str) -> Result<i128, NotAValue> {
        let text = text.trim();
        let number = match self.syntax {
            Syntax::Truth => match text {
                "true" | "on" => 1,
                "false" | "off" => 2,
                _ => return Err(self.refused(format!("\"{text}\" is neither true nor false"))),
            },
            Syntax::Choice(words) => {
                let short = |word: &str| word.trim_start_matches(|c: char| c.is_ascii_lowercase()).to_ascii_lowercase();
                let found =
                    words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word) || short(word) == short_text(text));
                found.ok_or_else(|| self.refused(format!("\"{text}\" is none of its values")))?.1
            }
            Syntax::Octets(_) => return Err(self.refused("its value is the device's own".to_string())),
            Syntax::Number(..) | Syntax::Counter => self.quantity(unit, text)?,
        };
        if unit == self.unit { self.check(number) } else { Ok(number) }
    }

    fn quantity(&self, unit: Unit, text: &str) -> Result<i128, NotAValue> {
        if let Ok(number) = text.parse::<i128>() {
            let (own, wanted) = (self.unit.dimension(), unit.dimension());
            return Ok(match (own, wanted) {
                (Some((_, own)), Some((_, wanted))) => number * i128::from(own) / i128::from(wanted),
                _ => number,
            });
        }
        let Some((dimension, factor)) = unit.dimension() else {
            return Err(self.refused(format!("\"{text}\" is not a whole number")));
        };
        let base = dimension.read(text).map_err(|fault| self.refused(fault.message))?;
        if base % factor != 0 {
            return Err(self.refused(format!("\"{text}\" is not a whole number of {}", unit.name())));
        }
        Ok(i128::from(base / factor))
    }

    /// The number, if the object takes it.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, number: i128) -> Result<i128, NotAValue> {
        let right = match self.syntax {
            Syntax::Truth => (1..=2).contains(&number),
            Syntax::Number(least, most) => (least..=most).contains(&number),
            Syntax::Choice(words) => words.iter().any(|&(_, of)| of == number),
            Syntax::Counter => (0..=i128::from(u64::MAX)).contains(&number),
            Syntax::Octets(octets) => number >= 0 && number >> (8 * octets) == 0,
        };
        if right { Ok(number) } else { Err(self.refused(format!("{number} is out of range"))) }
    }

    /// The object's number for a parameter's value, which is in the unit of the schemes: octets, seconds, bit/s or a count.
    #[must_use]
    pub fn fit(&self, value: f64) -> Fit {
        let (least, most) = match self.syntax {
            Syntax::Number(least, most) => (least, most),
            _ => (0, i128::from(u64::MAX)),
        };
        if self.parameter.is_some_and(|parameter| parameter.power) {
            // The standard library alone has logarithms.
            let power =
                |exponent: i128| (0..exponent.abs()).fold(1.0, |p, _| if exponent < 0 { p / 2.0 } else { p * 2.0 });
            let distance = |exponent: &i128| (power(*exponent) / value).max(value / power(*exponent));
            let nearest = (least..=most).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(least);
            return Fit { number: nearest, exact: power(nearest) == value };
        }
        let scale = match self.unit {
            Unit::Milliseconds => 1e3,
            Unit::Microseconds => 1e6,
            Unit::Centiseconds => 1e2,
            Unit::MegabitsPerSecond => 1e-6,
            Unit::One | Unit::Octets | Unit::Percent | Unit::Frames => 1.0,
        };
        // Half a unit is far above the error of a float here.
        let number = ((value * scale + 0.5) as i128).clamp(least, most);
        Fit { number, exact: (number as f64 - value * scale).abs() < 1e-6 }
    }

    fn refused(&self, message: String) -> NotAValue {
        NotAValue { key: self.key, message, hint: format!("its values are {}", self.range()) }
    }

    /// Writes a value for a person: the word, or the number with its unit.
    #[must_use]
    pub fn show(&self, number: i128) -> String {
        match self.syntax {
            Syntax::Truth => if number == 1 { "true" } else { "false" }.to_string(),
            Syntax::Choice(words) => words
                .iter()
                .find(|&&(_, of)| of == number)
                .map_or_else(|| number.to_string(), |(word, _)| (*word).to_string()),
            Syntax::Octets(octets) => format!("0x{number:0width$x}", width = 2 * octets),
            Syntax::Number(..) | Syntax::Counter => in_unit(number, self.unit),
        }
    }

    /// The values that it takes, as text.
    #[must_use]
    pub fn range(&self) -> String {
        match self.syntax {
            Syntax::Truth => "true, false".to_string(),
            Syntax::Number(least, most) if self.unit == Unit::One => format!("{least} to {most}"),
            Syntax::Number(least, most) => format!("{least} to {most} {}", self.unit.name()),
            Syntax::Choice(words) => {
                let mut list = String::new();
                for (index, (word, number)) in words.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    list += &format!("{comma}{word} ({number})");
                }
                list
            }
            Syntax::Counter => "a counter".to_string(),
            Syntax::Octets(octets) => format!("{octets} octets"),
        }
    }
}

fn short_text(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect::<String>().to_ascii_lowercase()
}

/// A number with its unit, as the MIB has both.
#[must_use]
pub fn in_unit(number: i128, unit: Unit) -> String {
    match unit {
        Unit::One => number.to_string(),
        _ => format!("{number} {}", unit.name()),
    }
}

/// The keys of a table's objects, as a hint.
fn keys(table: &str) -> String {
    let objects = TABLES.iter().filter(|known| known.name == table).flat_map(|known| known.objects);
    let list: Vec<&str> = objects.map(|object| object.key).collect();
    format!("its objects are {}", list.join(", "))
}

/// A type that a managed object can have.
pub trait Managed: Copy {
    /// Its values.
    const SYNTAX: Syntax;
    /// Its number in the MIB.
    fn number(self) -> i128;
    /// The value of a number that [`SYNTAX`](Self::SYNTAX) has.
    fn of(number: i128) -> Option<Self>;
}

impl Managed for bool {
    const SYNTAX: Syntax = Syntax::Truth;
    fn number(self) -> i128 {
        if self { 1 } else { 2 }
    }
    fn of(number: i128) -> Option<Self> {
        matches!(number, 1 | 2).then_some(number == 1)
    }
}

macro_rules! numbers {
    ($($type:ident),+) => { $(
        impl Managed for $type {
            const SYNTAX: Syntax = Syntax::Number($type::MIN as i128, $type::MAX as i128);
            fn number(self) -> i128 {
                self.into()
            }
            fn of(number: i128) -> Option<Self> {
                number.try_into().ok()
            }
        }
    )+ };
}

numbers! { u8, u32, i32, u64 }

/// Makes an enum whose names and numbers are those of a textual convention of the MIB.
macro_rules! words {
    ($(#[doc = $meaning:literal])+ $name:ident { $($(#[doc = $word_meaning:literal])+ $word:ident = $number:literal, $label:literal;)+ }) => {
        $(#[doc = $meaning])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $word_meaning])+ $word = $number,)+
        }

        impl Managed for $name {
            const SYNTAX: Syntax = Syntax::Choice(&[$(($label, $number)),+]);
            fn number(self) -> i128 {
                self as i128
            }
            fn of(number: i128) -> Option<Self> {
                match number {
                    $($number => Some(Self::$word),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// How a port treats frames of a congestion notification priority (clause 32.1.1).
    DefenseMode {
        /// The priority is no congestion notification priority here.
        Disabled = 1, "cptDisabled";
        /// Inside the domain, but the neighbour may not take CN-TAGs yet: they are removed on output.
        Interior = 2, "cptInterior";
        /// Inside the domain; CN-TAGs go out.
        InteriorReady = 3, "cptInteriorReady";
        /// The edge: priorities are remapped on input, CN-TAGs removed on output.
        Edge = 4, "cptEdge";
    }
}

words! {
    /// The chooser of the defense mode of a priority for a whole component.
    ComponentChoice {
        /// The manager.
        Admin = 1, "cpcAdmin";
        /// The state machine, by the announcements of neighbours.
        Auto = 2, "cpcAuto";
    }
}

words! {
    /// The chooser of the defense mode of a priority on one port.
    PortChoice {
        /// The manager, for this port.
        Admin = 1, "cpcAdmin";
        /// The state machine, by the announcements of the neighbour.
        Auto = 2, "cpcAuto";
        /// The component's choice.
        Component = 3, "cpcComp";
    }
}

words! {
    /// The choice of ports that are made later.
    Creation {
        /// New ports take the component's choice.
        AutoEnable = 1, "cncpAutoEnable";
        /// New ports are the manager's, and begin disabled.
        AutoDisable = 2, "cncpAutoDisable";
    }
}

words! {
    /// Which instance of LLDP carries a priority's indicators, for a component.
    ComponentLldp {
        /// None: the TLV is neither sent nor read.
        None = 1, "cnlNone";
        /// That of the selector beside it.
        Admin = 2, "cnlAdmin";
    }
}

words! {
    /// Which instance of LLDP carries a priority's indicators, on one port.
    PortLldp {
        /// None: the TLV is neither sent nor read.
        None = 1, "cnlNone";
        /// That of the selector beside it.
        Admin = 2, "cnlAdmin";
        /// The component's choice.
        Component = 3, "cnlComponent";
    }
}

/// The object of this key, in whichever table.
#[must_use]
pub fn object(key: &str) -> Option<&'static Object> {
    TABLES.iter().flat_map(|table| table.objects).find(|object| object.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_mib() {
        let mib = [
            ("def_mode_choice", 2),
            ("alternate_priority", 0),
            ("admin_defense_mode", 2),
            ("creation", 1),
            ("lldp_instance_choice", 2),
            ("lldp_instance_selector", 1),
            ("port_def_mode_choice", 3),
            ("port_admin_defense_mode", 1),
            ("port_lldp_instance_choice", 3),
            ("port_lldp_instance_selector", 3),
            ("port_alternate_priority", 0),
            ("cp_queue_size_set_point", 26_000),
            ("cp_feedback_weight", 1),
            ("cp_min_sample_base", 150_000),
            ("cp_min_header_octets", 0),
            ("rppp_max_rps", 1),
            ("rpg_enable", 1),
            ("rpg_time_reset", 15),
            ("rpg_byte_reset", 150_000),
            ("rpg_threshold", 5),
            ("rpg_ai_rate", 5),
            ("rpg_hai_rate", 50),
            ("rpg_gd", 7),
            ("rpg_min_dec_fac", 50),
            ("rpg_min_rate", 5),
        ];
        for (key, number) in mib {
            assert_eq!(object(key).unwrap().default, Default::Mib(number), "{key}");
        }
        let others = TABLES.iter().flat_map(|table| table.objects).filter(|one| matches!(one.default, Default::Mib(_)));
        assert_eq!(others.count(), mib.len());
    }

    #[test]
    fn names_are_unique_and_rows_have_their_defaults() {
        let all: Vec<&Object> = TABLES.iter().flat_map(|table| table.objects).collect();
        for one in &all {
            assert_eq!(
                all.iter().filter(|other| other.key == one.key || other.name == one.name).count(),
                1,
                "{}",
                one.key
            );
            if let Some(number) = one.default.number() {
                assert_eq!(one.check(number), Ok(number), "{}", one.key);
            }
        }
        for (one, number) in ReactionPointGroup::default().numbers().chain(PortPriority::default().numbers()) {
            assert_eq!(one.default.number().unwrap_or(0), number, "{}", one.key);
        }
        assert_eq!(object("rpg_time_reset").unwrap().name, "ieee8021CnRpgTimeReset");
        assert_eq!(object("port_def_mode_choice").unwrap().name, "ieee8021CnPortPriDefModeChoice");
    }

    #[test]
    fn values_are_read_as_names_numbers_and_quantities() {
        let read = |key, text| object(key).unwrap().read(text).map_err(|fault| fault.to_string());
        assert_eq!(read("rpg_time_reset", "15 ms"), Ok(15));
        assert_eq!(read("rpg_time_reset", "0.015 s"), Ok(15));
        assert_eq!(read("rpg_time_reset", "15"), Ok(15));
        assert_eq!(read("cp_queue_size_set_point", "33 KB"), Ok(33_000));
        assert_eq!(read("rpg_ai_rate", "5 Mbps"), Ok(5));
        assert_eq!(read("rpg_enable", "off"), Ok(2));
        assert_eq!(read("def_mode_choice", "cpcAuto"), Ok(2));
        assert_eq!(read("port_admin_defense_mode", "interior-ready"), Ok(3));
        assert_eq!(read("cp_feedback_weight", "-1"), Ok(-1));
        let wrong = [
            ("rpg_time_reset", "300 us", "rpg_time_reset: \"300 us\" is not a whole number of ms"),
            ("rpg_min_dec_fac", "0", "rpg_min_dec_fac: 0 is out of range (its values are 1 to 100 %)"),
            ("cp_queue_size_set_point", "99", "99 is out of range (its values are 100 to 4294967295 octets)"),
            ("rpg_ai_rate", "5 ms", "\"5 ms\" is a time, not a rate"),
            ("rpg_gd", "seven", "\"seven\" is not a whole number (its values are 0 to 31)"),
            ("port_def_mode_choice", "none", "its values are cpcAdmin (1), cpcAuto (2), cpcComp (3)"),
            ("rpg_enable", "1", "\"1\" is neither true nor false"),
            ("cp_identifier", "1", "its value is the device's own"),
        ];
        for (key, text, part) in wrong {
            let message = read(key, text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
        // Linux holds a finer unit.
        assert_eq!(object("rpg_time_reset").unwrap().read_in(Unit::Microseconds, "300 us"), Ok(300));
        assert_eq!(object("rpg_time_reset").unwrap().read_in(Unit::Microseconds, "15"), Ok(15_000));
    }

    #[test]
    fn values_are_shown_with_their_units() {
        let show = |key, number| object(key).unwrap().show(number);
        assert_eq!(show("rpg_time_reset", 15), "15 ms");
        assert_eq!(show("rpg_hai_rate", 50), "50 Mb/s");
        assert_eq!(show("rpg_enable", 1), "true");
        assert_eq!(show("port_admin_defense_mode", 4), "cptEdge");
        assert_eq!(show("cp_identifier", 0x0200_0000_00aa_0001), "0x0200000000aa0001");
        assert_eq!(show("cp_mac_address", 0xaa), "0x0000000000aa");
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        let fit = |key, value| {
            let Fit { number, exact } = object(key).unwrap().fit(value);
            (number, exact)
        };
        assert_eq!(fit("cp_queue_size_set_point", 33_000.0), (33_000, true));
        assert_eq!(fit("rpg_time_reset", 0.025), (25, true));
        assert_eq!(fit("rpg_time_reset", 0.0003), (0, false), "300 us are no whole milliseconds");
        assert_eq!(fit("rpg_ai_rate", 500_000.0), (1, false));
        assert_eq!(fit("rpg_hai_rate", 50e6), (50, true));
        assert_eq!(fit("rpg_gd", 128.0), (7, true));
        assert_eq!(fit("rpg_gd", 126.0), (7, false));
        assert_eq!(fit("cp_feedback_weight", 2.0), (1, true));
        assert_eq!(fit("cp_feedback_weight", 0.5), (-1, true));
        assert_eq!(fit("cp_feedback_weight", 3.0), (2, false), "4/3 is a smaller step than 3/2");
        assert_eq!(fit("cp_feedback_weight", 0.0), (-10, false));
        assert_eq!(fit("cp_min_sample_base", 1.0), (10_000, false));
    }

    #[test]
    fn a_row_takes_numbers_by_key() {
        let mut row = ReactionPointGroup::default();
        assert_eq!(row.set("rpg_gd", 6), Ok(()));
        assert_eq!(row.rpg_gd, 6);
        assert_eq!(row.set("rpg_enable", 2), Ok(()));
        assert!(!row.rpg_enable);
        assert!(row.set("rpg_gd", 32).is_err());
        let message = row.set("q_eq", 1).unwrap_err().to_string();
        assert!(message.contains("no object q_eq") && message.contains("rpg_enable, rpg_time_reset"), "{message}");
    }
}
