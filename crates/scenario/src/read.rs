//! The reader: a tree and a declaration in, a record out, or an error with its place and what would be right.

use penstock_sim::network::LARGEST_QUEUE;

use crate::error::Fault;
use crate::error::{brief, nearest, suggest};
use crate::keys::{Entry, Fallback, Key, Kind, Record, Section, Value};
use crate::limits::Excess;
use crate::tree::{Data, Node, Origin};
use crate::units::{self, Dimension};

/// Reads the table `node` at `path` by `section`.
pub(crate) fn record(section: &Section, node: &Node, path: &str) -> Result<Record, Fault> {
    let at = Place { path, origin: node.origin };
    let Data::Table(given) = &node.data else {
        let hint = if path.is_empty() { "a scenario is a table".to_owned() } else { format!("write [{path}]") };
        return Err(at.error(format!("expected a table, found {}", node.data.noun()), hint));
    };
    for (name, entry) in given {
        if !section.keys.iter().any(|key| key.name == name) {
            let place = join(path, name);
            let at = Place { path: &place, origin: entry.origin };
            return Err(at.error("unknown key".into(), suggest(name, section.keys.iter().map(|key| key.name))));
        }
    }
    let mut entries = Vec::with_capacity(section.keys.len());
    for key in &section.keys {
        let place = join(path, key.name);
        let entry = match given.iter().find(|(name, _)| name == key.name) {
            Some((_, node)) => Some(read_entry(&key.kind, node, &place)?),
            None => fallback(key, &place, node.origin)?,
        };
        entries.push((key.name, entry));
    }
    Ok(Record { path: path.to_owned(), origin: node.origin, inline: false, entries })
}

/// An error about `key` of `record`, at the place where the key was written.
pub(crate) fn fault(record: &Record, key: &str, message: impl Into<String>) -> Fault {
    let origin = record.entry(key).map_or(record.origin, |e| e.origin);
    let origin = if origin == Origin::Default { record.origin } else { origin };
    let hint = None;
    Fault { hint, ..Place { path: &record.key_path(key), origin }.error(message.into(), "") }
}

/// The same with its hint.
pub(crate) fn excess(record: &Record, key: &str, (message, hint): Excess) -> Fault {
    fault(record, key, message).with_hint(hint)
}

fn fallback(key: &Key, path: &str, table: Origin) -> Result<Option<Entry>, Fault> {
    match &key.fallback {
        Fallback::Value(text) => read_entry(&key.kind, &Node::declared(text), path).map(Some),
        Fallback::None(_) => Ok(None),
        Fallback::Required => {
            // What is missing was not given itself, though the table around it may have been.
            let (origin, message) = match table {
                Origin::Set => (Origin::Default, "missing beside what is given by --set"),
                other => (other, "missing"),
            };
            let at = Place { path, origin };
            Err(at.error(message.into(), format!("expected {}", key.kind.expects())))
        }
    }
}

fn read_entry(kind: &Kind, node: &Node, path: &str) -> Result<Entry, Fault> {
    let at = Place { path, origin: node.origin };
    Ok(Entry { origin: node.origin, value: value(kind, node, at)? })
}

fn value(kind: &Kind, node: &Node, at: Place<'_>) -> Result<Value, Fault> {
    let wrong = || {
        let hint = format!("for instance {}", kind.example(at.path));
        Err(at.error(format!("expected {}, found {}", kind.expects(), node.data.noun()), hint))
    };
    match (kind, &node.data) {
        (Kind::Quantity(dimension, low, high), Data::Text(text)) => quantity(*dimension, *low, *high, text, at),
        (Kind::Quantity(dimension, ..), Data::Integer(_) | Data::Real(_)) => {
            let hint = format!("write a number and a unit, as in \"{}\"", dimension.example());
            Err(at.error(format!("{} has no unit", node.data.noun()), hint))
        }
        (Kind::Capacity, Data::Text(text)) => match units::parse_frames(text) {
            Some(0) => Err(at.error("a queue holds at least one frame".into(), "for instance \"100 frames\"")),
            Some(frames) => Ok(Value::Frames(frames)),
            None => quantity(Dimension::Size, 1, LARGEST_QUEUE.0, text, at),
        },
        (Kind::Capacity, Data::Integer(_) | Data::Real(_)) => {
            let hint = "write a number and a unit, as in \"150 KB\" or \"100 frames\"";
            Err(at.error(format!("{} has no unit", node.data.noun()), hint))
        }
        (Kind::Count(low, high), Data::Integer(x)) => match u64::try_from(*x) {
            Ok(x) if (*low..=*high).contains(&x) => Ok(Value::Count(x)),
            _ => wrong(),
        },
        (Kind::Counts(low, high), Data::List(items)) => {
            if items.is_empty() {
                return Err(at.error("an empty list".into(), format!("expected {}", kind.expects())));
            }
            let mut counts = Vec::with_capacity(items.len());
            for item in items {
                let at = Place { origin: item.origin, ..at };
                let Value::Count(x) = value(&Kind::Count(*low, *high), item, at)? else { unreachable!("a count") };
                if counts.contains(&x) {
                    return Err(at.error(format!("{x} is listed twice"), "list each number once"));
                }
                counts.push(x);
            }
            Ok(Value::Counts(counts))
        }
        (Kind::Real(low, high), Data::Integer(_) | Data::Real(_)) => {
            let x = if let Data::Integer(x) = node.data { x as f64 } else { real(&node.data) };
            if *low <= x && x <= *high { Ok(Value::Real(x)) } else { wrong() }
        }
        (Kind::Switch, Data::Switch(x)) => Ok(Value::Switch(*x)),
        (Kind::Text, Data::Text(text)) => {
            if text.trim().is_empty() || text.contains(char::is_control) {
                let found = if text.trim().is_empty() { "nothing" } else { "line ends or other control characters" };
                let hint = format!("for instance {}", kind.example(at.path));
                return Err(at.error(format!("expected one line of text, found {found}"), hint));
            }
            Ok(Value::Text(text.clone()))
        }
        (Kind::Word(words), Data::Text(text)) => match words.iter().find(|word| *word == text) {
            Some(word) => Ok(Value::Word(word)),
            None => Err(at.error(
                format!("\"{text}\" is not known here, expected {}", kind.expects()),
                nearest(text, words.iter().copied())
                    .unwrap_or_else(|| format!("for instance {}", kind.example(at.path))),
            )),
        },
        (Kind::Names, Data::Text(text)) => Ok(Value::List(vec![text.clone()])),
        (Kind::Names | Kind::List, Data::List(items)) => {
            if items.is_empty() {
                return Err(at.error("an empty list".into(), format!("expected {}", kind.expects())));
            }
            let names = items.iter().map(|item| match &item.data {
                Data::Text(text) => Ok(text.clone()),
                other => {
                    let at = Place { origin: item.origin, ..at };
                    Err(at.error(format!("expected a name, found {}", other.noun()), "for instance \"h0\""))
                }
            });
            Ok(Value::List(names.collect::<Result<_, _>>()?))
        }
        (Kind::Table(section), Data::Table(_)) => Ok(Value::Table(record(section, node, at.path)?)),
        (Kind::Tables(section), Data::List(items)) => {
            let read = |(i, item): (usize, &Node)| record(section, item, &format!("{}.{i}", at.path));
            Ok(Value::Tables(items.iter().enumerate().map(read).collect::<Result<_, _>>()?))
        }
        (Kind::Tables(_), Data::Table(_)) => {
            Err(at.error("expected a list of tables, found a table".into(), format!("write [[{}]]", at.path)))
        }
        (Kind::Either(kinds), data) => match either(kinds, data) {
            Some(kind) => value(kind, node, at).map(|value| match value {
                Value::Table(record) => Value::Table(Record { inline: true, ..record }),
                other => other,
            }),
            None => wrong(),
        },
        _ => wrong(),
    }
}

/// The alternative whose form fits the value best.
fn either<'a>(kinds: &'a [Kind], data: &Data) -> Option<&'a Kind> {
    let word_fits = |kind: &&Kind| match (kind, data) {
        (Kind::Word(words), Data::Text(text)) => words.contains(&text.as_str()),
        _ => false,
    };
    let form_fits = |kind: &&Kind| match data {
        Data::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            matches!(kind, Kind::Quantity(..) | Kind::Capacity)
        }
        Data::Text(_) => matches!(kind, Kind::Word(_) | Kind::Text | Kind::Names),
        Data::Integer(_) | Data::Real(_) => matches!(kind, Kind::Quantity(..) | Kind::Capacity),
        Data::List(_) => matches!(kind, Kind::List | Kind::Names | Kind::Counts(..)),
        Data::Table(_) => matches!(kind, Kind::Table(_)),
        Data::Switch(_) | Data::Date => false,
    };
    kinds.iter().find(word_fits).or_else(|| kinds.iter().find(form_fits))
}

fn quantity(d: Dimension, low: u64, high: u64, text: &str, at: Place<'_>) -> Result<Value, Fault> {
    let (least, most) = (units::format(d, low), units::format(d, high));
    let range = || format!("from {least} to {most}");
    let x = units::parse(d, text).map_err(|wrong| match wrong.hint {
        Some(hint) => at.error(wrong.message, hint),
        None => at.error(wrong.message, format!("at most {most}")),
    })?;
    if x == 0 && low > 0 {
        return Err(at.error(format!("\"{text}\" is zero; this {} must be more", d.noun()), range()));
    }
    if x < low {
        return Err(at.error(format!("\"{text}\" is below the minimum of {least}"), range()));
    }
    if x > high {
        return Err(at.error(format!("\"{text}\" is above the maximum of {most}"), range()));
    }
    Ok(Value::Quantity(d, x))
}

fn real(data: &Data) -> f64 {
    if let Data::Real(x) = data { *x } else { f64::NAN }
}

/// The path of a key, which stands in quotes where TOML asks for them.
fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Where a value was written.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) path: &'a str,
    pub(crate) origin: Origin,
}

impl Place<'_> {
    pub(crate) fn error(self, mut message: String, hint: impl Into<String>) -> Fault {
        if self.origin == Origin::Set {
            message.push_str(", as given by --set");
        }
        Fault {
            line: if let Origin::Line(line) = self.origin { Some(line) } else { None },
            key: (!self.path.is_empty()).then(|| brief(self.path)),
            message: brief(&message),
            hint: Some(hint.into()),
        }
    }
}
