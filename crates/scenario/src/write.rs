//! The resolved scenario: a record back to TOML, with every value written out.

use std::fmt::Write;

use crate::keys::{Record, Value};
use crate::units;

/// The whole scenario as TOML.
pub(crate) fn document(record: &Record) -> String {
    let mut text = String::new();
    tables(record, &mut text);
    text
}

/// A value on one line; `None` for tables.
pub(crate) fn value(value: &Value) -> Option<String> {
    Some(match value {
        Value::Quantity(dimension, x) => quoted(&units::format(*dimension, *x)),
        Value::Frames(n) => quoted(&format!("{n} frames")),
        Value::Count(x) => x.to_string(),
        Value::Counts(items) => format!("[{}]", items.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        Value::Real(x) => format!("{x:?}"),
        Value::Switch(x) => x.to_string(),
        Value::Text(text) => quoted(text),
        Value::Word(word) => quoted(word),
        Value::List(items) if items.len() == 1 => format!("[{}]", quoted(&items[0])),
        Value::List(items) => format!("[{}]", items.iter().map(|s| quoted(s)).collect::<Vec<_>>().join(", ")),
        Value::Table(_) | Value::Tables(_) => return None,
    })
}

fn tables(record: &Record, text: &mut String) {
    let present = || record.entries.iter().filter_map(|(key, entry)| entry.as_ref().map(|e| (*key, &e.value)));
    for (key, entry) in present() {
        if let Some(line) = value(entry) {
            let _ = writeln!(text, "{key} = {line}");
        }
    }
    for (key, entry) in present() {
        if let Value::Table(inner) = entry
            && inner.inline
        {
            let _ = writeln!(text, "{key} = {}", inline(inner));
        }
    }
    for (key, entry) in present() {
        let path = record.key_path(key);
        match entry {
            Value::Table(inner) if !inner.inline => {
                if inner.entries.iter().any(|(_, e)| e.as_ref().is_some_and(|e| value(&e.value).is_some())) {
                    let _ = write!(text, "\n[{path}]\n");
                }
                tables(inner, text);
            }
            Value::Tables(list) => {
                for inner in list {
                    let _ = write!(text, "\n[[{path}]]\n");
                    tables(inner, text);
                }
            }
            _ => {}
        }
    }
}

fn inline(record: &Record) -> String {
    let items = record.entries.iter().filter_map(|(key, entry)| {
        let text = match &entry.as_ref()?.value {
            Value::Table(inner) => inline(inner),
            Value::Tables(list) if list.is_empty() => return None,
            Value::Tables(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
            other => value(other)?,
        };
        Some(format!("{key} = {text}"))
    });
    format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
