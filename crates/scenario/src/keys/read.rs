//! Tables of a file as they are read: for each key its value and its location, so that an error can name both.

use std::ops::Deref;
use std::rc::Rc;

use crate::error::{Fault, suggest};
use crate::keys::fields::{self, Field, Table};
use crate::keys::location::{Location, join};
use crate::keys::tree::{Data, Node, Origin};
use crate::limits::Excess;

/// Keys that had another name: the old one is refused with the new one.
const RENAMED: &[(&str, &str)] = &[("acted", "require_action")];

/// The value of a key and where it comes from. It stands for its value wherever one is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Entry<T> {
    value: T,
    place: Place,
}

/// Where a value comes from. (Not in [`Entry`], which is compiled for each type of value.)
#[derive(Debug, Clone)]
struct Place {
    origin: Origin,
    key: &'static str,
    table: Rc<Stand>,
}

/// Where a table stands.
#[derive(Debug)]
struct Stand {
    path: String,
    origin: Origin,
}

impl Place {
    fn path(&self) -> String {
        join(&self.table.path, self.key)
    }

    fn fault(&self, message: String) -> Fault {
        let origin = if self.origin == Origin::Default { self.table.origin } else { self.origin };
        let fault = Location { path: &self.path(), origin }.error(message, "");
        Fault { hint: None, ..fault }
    }
}

impl<T> Deref for Entry<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Entry<T> {
    /// An error about the value, at the location of the key, or else of its table.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        self.place.fault(message.into())
    }

    /// The same with its hint.
    pub(crate) fn excess(&self, (message, hint): Excess) -> Fault {
        self.fault(message).with_hint(hint)
    }

    /// The path of its key.
    pub(crate) fn path(&self) -> String {
        self.place.path()
    }

    /// Where the value comes from.
    pub(crate) fn origin(&self) -> Origin {
        self.place.origin
    }

    /// Where the key's table comes from.
    pub(crate) fn table_origin(&self) -> Origin {
        self.place.table.origin
    }

    /// The value itself, to be changed in place.
    pub(crate) fn inner(&mut self) -> &mut T {
        &mut self.value
    }

    /// Replaces the value; no line of the file has the new one.
    pub(crate) fn replace(&mut self, value: T) {
        self.value = value;
        self.place.origin = Origin::Default;
    }

    /// Another value at the same location.
    pub(crate) fn with<U>(&self, value: U) -> Entry<U> {
        Entry { value, place: self.place.clone() }
    }

    /// A value that follows from others and is only written; no error speaks of it.
    pub(crate) fn computed(value: T) -> Self {
        let table = Rc::new(Stand { path: String::new(), origin: Origin::Default });
        Self { value, place: Place { origin: Origin::Default, key: "", table } }
    }
}

/// An entry whose value does not matter to an error about it.
pub(crate) trait Blame {
    /// An error about the value.
    fn blame(&self, message: String) -> Fault;
}

impl<T> Blame for Entry<T> {
    fn blame(&self, message: String) -> Fault {
        self.fault(message)
    }
}

impl<T: Clone> Entry<Option<T>> {
    /// The value, or else this one, which follows from others.
    pub(crate) fn fill(&mut self, value: T) -> T {
        if self.value.is_none() {
            self.replace(Some(value.clone()));
        }
        self.value.clone().unwrap_or(value)
    }
}

/// A table of the file, to be read key by key.
pub(crate) struct Given<'a> {
    entries: &'a [(String, Node)],
    table: Rc<Stand>,
}

impl<'a> Given<'a> {
    /// The table `node`, if it has none but the `known` keys.
    pub(crate) fn new(node: &'a Node, location: Location<'_>, known: &[&'static str]) -> Result<Self, Fault> {
        let Data::Table(entries) = &node.data else {
            let hint = match location.path {
                "" => "a scenario is a table".to_owned(),
                // An entry of a list.
                path if path.rsplit('.').next().is_some_and(|last| last.parse::<usize>().is_ok()) => {
                    let keys: Vec<String> = known.iter().take(3).map(|key| format!("{key} = …")).collect();
                    format!("write a table, as in {{ {} }}", keys.join(", "))
                }
                path => format!("write [{path}]"),
            };
            return Err(location.error(format!("expected a table, found {}", node.data.noun()), hint));
        };
        for (name, entry) in entries {
            if !known.contains(&name.as_str()) {
                let location = Location { path: &join(location.path, name), origin: entry.origin };
                let renamed = RENAMED.iter().find(|(old, new)| old == name && known.contains(new));
                let hint = renamed.map(|(_, new)| format!("it is called {new} now"));
                let hint = hint.unwrap_or_else(|| suggest(name, known.iter().copied()));
                return Err(location.error("unknown key".into(), hint));
            }
        }
        Ok(Self { entries, table: Rc::new(Stand { path: location.path.to_owned(), origin: node.origin }) })
    }

    /// A key that must be written.
    pub(crate) fn required<T: Field>(&self, key: &'static str, range: &T::Range) -> Result<Entry<T>, Fault> {
        let Some(node) = self.find(key) else {
            // A missing key was not given itself, though the table around it may have been.
            let (origin, message) = match self.table.origin {
                Origin::Set => (Origin::Default, "missing beside what is given by --set"),
                other => (other, "missing"),
            };
            let location = Location { path: &join(&self.table.path, key), origin };
            return Err(location.error(message.into(), format!("expected {}", T::kind(range).expects())));
        };
        self.entry(key, node, |node, location| T::read(range, node, location))
    }

    /// A key that need not be written, by this reader.
    pub(crate) fn or_else<T>(
        &self,
        key: &'static str,
        default: impl FnOnce() -> T,
        read: impl FnOnce(&Node, Location<'_>) -> Result<T, Fault>,
    ) -> Result<Entry<T>, Fault> {
        match self.find(key) {
            Some(node) => self.entry(key, node, read),
            None => Ok(Entry { value: default(), place: self.place(key, Origin::Default) }),
        }
    }

    /// A table whose keys need not be written.
    pub(crate) fn or_defaults<T: Table>(&self, key: &'static str) -> Result<Entry<T>, Fault> {
        self.entry(key, self.find(key).unwrap_or(&Node::EMPTY), |node, location| fields::table(node, location))
    }

    /// Which one of the `known` keys is given.
    pub(crate) fn the_one(&self, noun: &str, known: &[&'static str]) -> Result<&'static str, Fault> {
        let location = Location { path: &self.table.path, origin: self.table.origin };
        match self.entries {
            [(one, _)] => Ok(known.iter().find(|key| *key == one).copied().unwrap_or_default()),
            [] => Err(location.error(format!("no {noun}"), format!("exactly one of {}", known.join(", ")))),
            [(first, _), (second, node), ..] => {
                let location = Location { path: &join(location.path, second), origin: node.origin };
                Err(location.error(format!("a second {noun}; there is \"{first}\" already"), "keep one of them"))
            }
        }
    }

    /// Whether a key is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn find(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    fn entry<T>(
        &self,
        key: &'static str,
        node: &Node,
        read: impl FnOnce(&Node, Location<'_>) -> Result<T, Fault>,
    ) -> Result<Entry<T>, Fault> {
        let place = self.place(key, node.origin);
        let value = read(node, Location { path: &place.path(), origin: node.origin })?;
        Ok(Entry { value, place })
    }

    fn place(&self, key: &'static str, origin: Origin) -> Place {
        Place { origin, key, table: Rc::clone(&self.table) }
    }
}
