//! Description of a key: name, kind, default, meaning. The JSON schema and the reference (`schema.rs`) are made from
//! it, and errors name the expected value from it. `declare.rs` has it from the same lines as the types that hold the
//! values.

use penstock_schemes::quantity::Dimension;

use crate::keys::tree::Data;

/// A table of keys.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) doc: String,
    pub(crate) keys: Vec<Key>,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) fallback: Fallback,
    pub(crate) doc: String,
}

/// The value of a key that is not written.
#[derive(Debug)]
pub(crate) enum Fallback {
    /// It must be written.
    Required,
    /// This value, as TOML.
    Value(String),
    /// None, or one that follows from the rest, as the text says.
    None(&'static str),
}

/// The text of a description: its lines, joined.
pub(crate) fn description(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The kind of a value.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A number with its unit, from the first to the second value (base units).
    Quantity(Dimension, u64, u64),
    /// The same, or an amount that follows the rate of a port's line.
    OfLine(Dimension, u64, u64),
    /// A queue's size: octets, or frames.
    Capacity,
    /// A whole number, from the first to the second value.
    Count(u64, u64),
    /// A list of whole numbers, each from the first to the second value and none twice.
    Counts(u64, u64),
    /// Whole numbers in an order, which may repeat.
    Weights(u64, u64),
    /// A number, from the first to the second value.
    Real(f64, f64),
    /// True or false.
    Switch,
    /// One line of text.
    Text,
    /// Lines of text.
    Lines,
    /// One of these names.
    Word(Vec<&'static str>),
    /// The location of a scheme of a file.
    Location,
    /// Names: one, a range such as `"h0..h7"`, or a list of these.
    Names,
    /// A list of names, taken as they stand.
    List,
    /// A table.
    Table(Section),
    /// Tables of parameters, one for each scheme.
    Parameters(Section),
    /// A table with exactly one of these keys.
    OneOf(Section),
    /// A list of tables, `[[…]]`.
    Tables(Section),
    /// A fraction of whole numbers, as in `"1/8"`.
    Fraction,
    /// A table with a value for each of some priorities, as in `{ 0 = 8, 3 = 1 }`.
    ByPriority(Box<Kind>),
    /// One of several kinds that differ in form.
    Either(Vec<Kind>),
}

/// More names than these are listed without quotes.
const MANY: usize = 6;

impl Kind {
    /// Description of the values allowed, to follow "expected".
    pub(crate) fn expects(&self) -> String {
        match self {
            Self::Quantity(d, ..) => format!("a {} with its unit, as in \"{}\"", d.noun(), d.example()),
            Self::OfLine(d, ..) => {
                format!(
                    "a {} with its unit, as in \"{}\", or \"{}\"",
                    d.noun(),
                    d.example(),
                    d.of_line().join("\" or \"")
                )
            }
            Self::Capacity => "a size, as in \"150 KB\" or \"100 frames\"".into(),
            Self::Count(low, high) if *high > u64::from(u32::MAX) => format!("a whole number of at least {low}"),
            Self::Count(low, high) => format!("a whole number from {low} to {high}"),
            Self::Counts(low, high) | Self::Weights(low, high) => {
                format!("a list of whole numbers from {low} to {high}")
            }
            Self::Real(low, high) => format!("a number from {low} to {high}"),
            Self::Switch => "true or false".into(),
            Self::Text => "text in quotes".into(),
            Self::Lines => "lines of text between ''' and '''".into(),
            Self::Word(words) if words.len() > MANY => format!("one of {}", words.join(", ")),
            Self::Word(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" or "),
            Self::Location => "the location of a scheme, as in \"./libmine.so\"".into(),
            Self::Names => "a name, a range such as \"h0..h7\", or a list of these".into(),
            Self::List => "a list of names".into(),
            Self::Table(section) | Self::OneOf(section) => {
                let names: Vec<&str> = section.keys.iter().map(|k| k.name).collect();
                format!("a table of {}", names.join(", "))
            }
            Self::Parameters(_) => "a table of schemes, each with parameters".into(),
            Self::Tables(_) => "a list of tables".into(),
            Self::Fraction => "a fraction, as in \"1/8\"".into(),
            Self::ByPriority(kind) => format!("a table by priority, as in {{ 3 = {} }}", kind.example("")),
            Self::Either(kinds) => kinds.iter().map(Self::expects).collect::<Vec<_>>().join(", or "),
        }
    }
}

impl Kind {
    /// A value of this kind for the key at `path`, as one writes it.
    pub(crate) fn example(&self, path: &str) -> String {
        match self {
            Self::Quantity(d, low, high) | Self::OfLine(d, low, high) => {
                let usual = d.read(d.example()).expect("an example is right");
                format!("\"{}\"", d.write(usual.clamp(*low, *high)))
            }
            Self::Capacity => "\"150 KB\"".into(),
            Self::Count(low, _) => low.to_string(),
            Self::Counts(low, _) | Self::Weights(low, _) => format!("[{low}]"),
            // The least value is seldom one that makes sense, such as that of a load.
            Self::Real(low, high) => 0.5_f64.clamp(*low, *high).to_string(),
            Self::Switch => "true".into(),
            Self::Text => "\"a line of text\"".into(),
            Self::Lines => "'''…'''".into(),
            Self::Word(words) => format!("\"{}\"", words[0]),
            Self::Location => "\"./libmine.so\"".into(),
            Self::Names => "\"h0..h7\"".into(),
            Self::List => "[\"h0\", \"sw0\"]".into(),
            Self::Table(_) | Self::OneOf(_) => format!("[{path}]"),
            Self::Parameters(_) => format!("{path}.qcn.q_eq = \"33 KB\""),
            Self::Tables(_) => format!("[[{path}]]"),
            Self::Fraction => "\"1/8\"".into(),
            Self::ByPriority(kind) => format!("{{ 3 = {} }}", kind.example(path)),
            Self::Either(kinds) => kinds[0].example(path),
        }
    }
}

impl Kind {
    /// Whether it has this very word.
    pub(crate) fn has_word(&self, data: &Data) -> bool {
        match (self, data) {
            (Self::Word(words), Data::Text(text)) => words.contains(&text.as_str()),
            (Self::Either(kinds), _) => kinds.iter().any(|kind| kind.has_word(data)),
            _ => false,
        }
    }

    /// Whether its values have the form of this one.
    pub(crate) fn fits(&self, data: &Data) -> bool {
        if let Self::Either(kinds) = self {
            return kinds.iter().any(|kind| kind.fits(data));
        }
        match data {
            Data::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                matches!(self, Self::Quantity(..) | Self::OfLine(..) | Self::Capacity)
            }
            Data::Text(_) => matches!(self, Self::Word(_) | Self::Location | Self::Text | Self::Lines | Self::Names),
            Data::Integer(_) => matches!(
                self,
                Self::Quantity(..) | Self::OfLine(..) | Self::Capacity | Self::Count(..) | Self::Real(..)
            ),
            Data::Real(_) => matches!(self, Self::Quantity(..) | Self::OfLine(..) | Self::Capacity | Self::Real(..)),
            Data::List(_) => matches!(self, Self::List | Self::Names | Self::Counts(..) | Self::Weights(..)),
            Data::Table(_) => matches!(self, Self::Table(_) | Self::OneOf(_) | Self::Parameters(_)),
            Data::Switch(_) | Data::Date => false,
        }
    }
}
