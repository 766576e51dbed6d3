//! How a key of a scenario is declared, and what a value of it looks like once it has been read.
//!
//! One declaration (see `sections.rs`) feeds the reader (`read.rs`), the resolved scenario (`write.rs`), the JSON
//! schema and the reference (`schema.rs`).

use crate::tree::Origin;
use crate::units::{self, Dimension};

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

/// What holds where a key is not written.
#[derive(Debug)]
pub(crate) enum Fallback {
    /// It must be written.
    Required,
    /// This value, as TOML.
    Value(String),
    /// Nothing, or something that follows from the rest; the words say what.
    None(&'static str),
}

/// The kind of a value.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A number with its unit, from the first to the second value (base units).
    Quantity(Dimension, u64, u64),
    /// A queue's size: octets, or frames.
    Capacity,
    /// A whole number, from the first to the second value.
    Count(u64, u64),
    /// A list of whole numbers, each from the first to the second value and none twice.
    Counts(u64, u64),
    /// A number, from the first to the second value.
    Real(f64, f64),
    /// True or false.
    Switch,
    /// One line of text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Names: one, a range such as `"h0..h7"`, or a list of these.
    Names,
    /// A list of names, taken as they stand.
    List,
    /// A table.
    Table(Section),
    /// A list of tables, `[[…]]`.
    Tables(Section),
    /// One of several kinds that differ in form.
    Either(Vec<Kind>),
}

/// A value that has been read.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// In the dimension's base unit.
    Quantity(Dimension, u64),
    /// A queue's size in frames.
    Frames(u32),
    Count(u64),
    Counts(Vec<u64>),
    Real(f64),
    Switch(bool),
    Text(String),
    Word(&'static str),
    List(Vec<String>),
    Table(Record),
    Tables(Vec<Record>),
}

/// A table that has been read: every declared key with its value, or `None` where it has none.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// The table's own path, empty at the top.
    pub(crate) path: String,
    pub(crate) origin: Origin,
    /// It stands in place of a word (`{ ideal = "10 us" }`) and is written on one line.
    pub(crate) inline: bool,
    pub(crate) entries: Vec<(&'static str, Option<Entry>)>,
}

/// A key's value and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) origin: Origin,
    pub(crate) value: Value,
}

impl Kind {
    /// What the value must be, to follow "expected".
    pub(crate) fn expects(&self) -> String {
        match self {
            Self::Quantity(d, ..) => format!("a {} with its unit, as in \"{}\"", d.noun(), d.example()),
            Self::Capacity => "a size, as in \"150 KB\" or \"100 frames\"".into(),
            Self::Count(low, high) if *high > u64::from(u32::MAX) => format!("a whole number of at least {low}"),
            Self::Count(low, high) => format!("a whole number from {low} to {high}"),
            Self::Counts(low, high) => format!("a list of whole numbers from {low} to {high}"),
            Self::Real(low, high) => format!("a number from {low} to {high}"),
            Self::Switch => "true or false".into(),
            Self::Text => "text".into(),
            Self::Word(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" or "),
            Self::Names => "a name, a range such as \"h0..h7\", or a list of these".into(),
            Self::List => "a list of names".into(),
            Self::Table(section) => {
                let names: Vec<&str> = section.keys.iter().map(|k| k.name).collect();
                format!("a table of {}", names.join(", "))
            }
            Self::Tables(_) => "a list of tables".into(),
            Self::Either(kinds) => kinds.iter().map(Self::expects).collect::<Vec<_>>().join(", or "),
        }
    }
}

impl Kind {
    /// A value of this kind for the key at `path`, as one writes it.
    pub(crate) fn example(&self, path: &str) -> String {
        match self {
            Self::Quantity(d, low, high) => {
                let usual = units::parse(*d, d.example()).expect("an example is right");
                format!("\"{}\"", units::format(*d, usual.clamp(*low, *high)))
            }
            Self::Capacity => "\"150 KB\"".into(),
            Self::Count(low, _) => low.to_string(),
            Self::Counts(low, _) => format!("[{low}]"),
            Self::Real(low, _) => low.to_string(),
            Self::Switch => "true".into(),
            Self::Text => "\"a line of text\"".into(),
            Self::Word(words) => format!("\"{}\"", words[0]),
            Self::Names => "\"h0..h7\"".into(),
            Self::List => "[\"h0\", \"sw0\"]".into(),
            Self::Table(_) => format!("[{path}]"),
            Self::Tables(_) => format!("[[{path}]]"),
            Self::Either(kinds) => kinds[0].example(path),
        }
    }
}

impl Record {
    /// The path of one of its keys.
    pub(crate) fn key_path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The entry of a declared key.
    ///
    /// # Panics
    /// If the key is not declared.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        let slot = self.entries.iter().find(|(name, _)| *name == key);
        slot.unwrap_or_else(|| panic!("key {key} is not declared in [{}]", self.path)).1.as_ref()
    }

    /// Gives a declared key a value that follows from others, if it has none.
    pub(crate) fn fill(&mut self, key: &str, value: Value) {
        let slot = self.entries.iter_mut().find(|(name, _)| *name == key).expect("key is declared");
        slot.1.get_or_insert(Entry { origin: Origin::Default, value });
    }

    /// Gives a declared key another value, which no line of the file is to blame for.
    pub(crate) fn replace(&mut self, key: &str, value: Value) {
        let slot = self.entries.iter_mut().find(|(name, _)| *name == key).expect("key is declared");
        slot.1 = Some(Entry { origin: Origin::Default, value });
    }

    /// Takes tables out of a list; says how many.
    pub(crate) fn leave_out(&mut self, key: &str, which: impl Fn(&Record) -> bool) -> usize {
        let slot = self.entries.iter_mut().find(|(name, _)| *name == key).expect("key is declared");
        let Some(Entry { value: Value::Tables(records), .. }) = &mut slot.1 else { return 0 };
        let before = records.len();
        records.retain(|record| !which(record));
        before - records.len()
    }

    /// A whole number or a quantity in its base unit, if the key has one.
    pub(crate) fn get(&self, key: &str) -> Option<u64> {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Quantity(_, x) | Value::Count(x)) => Some(*x),
            _ => None,
        }
    }

    /// A whole number or a quantity in its base unit.
    pub(crate) fn number(&self, key: &str) -> u64 {
        self.get(key).unwrap_or_else(|| panic!("{} has a value", self.key_path(key)))
    }

    /// A number, whole or not.
    pub(crate) fn real(&self, key: &str) -> f64 {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Real(x)) => *x,
            _ => panic!("{} is a number", self.key_path(key)),
        }
    }

    /// Text or a word, if the key has one.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// True or false.
    pub(crate) fn switch(&self, key: &str) -> bool {
        matches!(self.entry(key).map(|e| &e.value), Some(Value::Switch(true)))
    }

    /// A list of texts, if the key has one.
    pub(crate) fn list(&self, key: &str) -> Option<&[String]> {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::List(items)) => Some(items),
            _ => None,
        }
    }

    /// A list of whole numbers, if the key has one.
    pub(crate) fn counts(&self, key: &str) -> Option<&[u64]> {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Counts(items)) => Some(items),
            _ => None,
        }
    }

    /// A table, if the key has one.
    pub(crate) fn table(&self, key: &str) -> Option<&Record> {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Table(record)) => Some(record),
            _ => None,
        }
    }

    /// A table, if the key has one.
    pub(crate) fn table_mut(&mut self, key: &str) -> Option<&mut Record> {
        let slot = self.entries.iter_mut().find(|(name, _)| *name == key)?;
        match slot.1.as_mut().map(|e| &mut e.value) {
            Some(Value::Table(record)) => Some(record),
            _ => None,
        }
    }

    /// A list of tables, empty where there is none.
    pub(crate) fn tables(&self, key: &str) -> &[Record] {
        match self.entry(key).map(|e| &e.value) {
            Some(Value::Tables(records)) => records,
            _ => &[],
        }
    }

    /// A list of tables, empty where there is none.
    pub(crate) fn tables_mut(&mut self, key: &str) -> &mut [Record] {
        let slot = self.entries.iter_mut().find(|(name, _)| *name == key).expect("key is declared");
        match slot.1.as_mut().map(|e| &mut e.value) {
            Some(Value::Tables(records)) => records,
            _ => &mut [],
        }
    }
}
