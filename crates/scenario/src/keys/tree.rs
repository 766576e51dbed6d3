//! A TOML document as a plain tree in which every value knows where it was written.

use toml_edit::{Document, Item, TableLike, Value as Toml};

use crate::error::Fault;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This line of the file, counted from 1.
    Line(usize),
    /// `--set`, or [`Scenario::set`](crate::Scenario::set).
    Set,
    /// The declaration of its key, or a profile.
    Default,
}

/// A value and its origin.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    pub(crate) data: Data,
}

/// A value of TOML.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Text(String),
    Integer(i64),
    Real(f64),
    Switch(bool),
    Date,
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Data {
    /// The value or its kind, for messages.
    pub(crate) fn noun(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::Integer(x) => format!("the number {x}"),
            Self::Real(x) => format!("the number {x}"),
            Self::Switch(x) => format!("{x}"),
            Self::Date => "a date".into(),
            Self::List(_) => "a list".into(),
            Self::Table(_) => "a table".into(),
        }
    }
}

impl Node {
    /// A table that is not written.
    pub(crate) const EMPTY: Self = Self { origin: Origin::Default, data: Data::Table(Vec::new()) };

    /// The tree of a whole document.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let lines = Lines::of(text);
        let document = Document::parse(text).map_err(|e| {
            let hint = match e.message() {
                // The parser gives no location for this one.
                message if message.contains("recurs") => "lists and tables stand in one another at most 80 deep",
                "integer number overflowed" => "whole numbers end at 9223372036854775807",
                "duplicate key" => "a key stands once in its table, a [table] once in the file; a list is [[flow]]",
                _ => "a line is key = \"value\", [table] or [[list]]; numbers with a unit stand in quotes",
            };
            Fault {
                line: Some(e.span().map_or_else(|| deepest(text), |span| lines.at(span.start))),
                key: None,
                message: format!("not TOML: {}", e.message().replace('\n', ", ")),
                hint: Some(hint.into()),
            }
        })?;
        Ok(Self { origin: Origin::Line(1), data: table(document.as_table(), &lines, 1) })
    }

    /// The tree of one value that a declaration gives as TOML text.
    pub(crate) fn declared(text: &str) -> Self {
        let value: Toml = text.parse().expect("a declared default is TOML");
        let mut node = of_value(&value, &Lines::of(text), 1);
        node.mark(Origin::Default);
        node
    }

    /// Says of this value and of all in it that it comes from `origin`.
    pub(crate) fn mark(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.data {
            Data::List(items) => items.iter_mut().for_each(|item| item.mark(origin)),
            Data::Table(entries) => entries.iter_mut().for_each(|(_, entry)| entry.mark(origin)),
            _ => {}
        }
    }

    /// Takes the origins from `older`, an earlier state of the same document.
    pub(crate) fn graft(&mut self, older: &Self) {
        self.origin = older.origin;
        match (&mut self.data, &older.data) {
            (Data::List(new), Data::List(old)) => new.iter_mut().zip(old).for_each(|(n, o)| n.graft(o)),
            (Data::Table(new), Data::Table(old)) => {
                for (key, node) in new {
                    if let Some((_, older)) = old.iter().find(|(k, _)| k == key) {
                        node.graft(older);
                    }
                }
            }
            _ => {}
        }
    }

    /// Calls `found` with the path of each value that was set, if it is not in another that was.
    pub(crate) fn visit_set(&self, path: &str, found: &mut dyn FnMut(&str)) {
        if self.origin == Origin::Set {
            return found(path);
        }
        let below = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
        match &self.data {
            Data::List(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(location, item)| item.visit_set(&below(&location.to_string()), found));
            }
            Data::Table(entries) => entries.iter().for_each(|(key, entry)| entry.visit_set(&below(key), found)),
            _ => {}
        }
    }

    /// The value at a path of keys and indices.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, part| node.child(part))
    }

    /// The value at a path of keys and indices.
    pub(crate) fn at_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, part| match &mut node.data {
            Data::Table(entries) => entries.iter_mut().find(|(key, _)| key == part).map(|(_, entry)| entry),
            Data::List(items) => part.parse::<usize>().ok().and_then(|i| items.get_mut(i)),
            _ => None,
        })
    }

    fn child(&self, part: &str) -> Option<&Self> {
        match &self.data {
            Data::Table(entries) => entries.iter().find(|(key, _)| key == part).map(|(_, entry)| entry),
            Data::List(items) => part.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        }
    }
}

/// The line on which most brackets are open and most parts of keys stand. Those in texts and comments count too: a
/// reader should look there.
fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest, mut location) = (0, 0, 1);
    for (number, line) in (1..).zip(text.lines()) {
        let mut parts = 0;
        for c in line.chars() {
            depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
            parts += i32::from(c == '.');
            if depth + parts > deepest {
                (deepest, location) = (depth + parts, number);
            }
        }
    }
    location
}

/// Where the lines of a text end, so that an offset becomes a line number without another count.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter_map(|(i, b)| (b == b'\n').then_some(i)).collect())
    }

    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|end| *end < offset)
    }
}

fn table(table: &dyn TableLike, lines: &Lines, line: usize) -> Data {
    let entries = table.iter().filter_map(|(name, item)| {
        let key = table.key(name).and_then(toml_edit::Key::span).map_or(line, |span| lines.at(span.start));
        of_item(item, lines, key).map(|node| (name.to_owned(), node))
    });
    Data::Table(entries.collect())
}

fn of_item(item: &Item, lines: &Lines, line: usize) -> Option<Node> {
    let of_table = |t: &toml_edit::Table| {
        let line = t.span().map_or(line, |span| lines.at(span.start));
        Node { origin: Origin::Line(line), data: table(t, lines, line) }
    };
    match item {
        Item::None => None,
        Item::Value(value) => Some(of_value(value, lines, line)),
        Item::Table(t) => Some(of_table(t)),
        Item::ArrayOfTables(tables) => {
            Some(Node { origin: Origin::Line(line), data: Data::List(tables.iter().map(of_table).collect()) })
        }
    }
}

/// The line on which a text of several lines has its first one: the line of its quotes, or the next.
fn first_line(value: &Toml, lines: &Lines) -> Option<usize> {
    let Toml::String(text) = value else { return None };
    let ends = text.value().bytes().filter(|b| *b == b'\n').count();
    let span = value.span().filter(|_| ends > 0)?;
    let (first, last) = (lines.at(span.start), lines.at(span.end.saturating_sub(1)));
    Some(last.saturating_sub(ends).max(first))
}

fn of_value(value: &Toml, lines: &Lines, line: usize) -> Node {
    let line = first_line(value, lines).unwrap_or(line);
    let data = match value {
        Toml::String(s) => Data::Text(s.value().clone()),
        Toml::Integer(x) => Data::Integer(*x.value()),
        Toml::Float(x) => Data::Real(*x.value()),
        Toml::Boolean(x) => Data::Switch(*x.value()),
        Toml::Datetime(_) => Data::Date,
        Toml::Array(items) => {
            let location = |v: &Toml| v.span().map_or(line, |span| lines.at(span.start));
            Data::List(items.iter().map(|v| of_value(v, lines, location(v))).collect())
        }
        Toml::InlineTable(t) => table(t, lines, line),
    };
    Node { origin: Origin::Line(line), data }
}
