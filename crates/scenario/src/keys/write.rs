//! The resolved scenario: back to TOML, with every value written out.

use std::fmt::Write;

/// A value as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// On one line.
    Line(String),
    /// A table in braces.
    Inline(Keys),
    /// A table under its header.
    Table(Keys),
    /// A list of tables, each under its header.
    Tables(Vec<Keys>),
}

/// The keys of a table with their values.
pub(crate) type Keys = Vec<(&'static str, Written)>;

impl Written {
    /// The same, a table in braces.
    pub(crate) fn on_one_line(self) -> Self {
        if let Self::Table(keys) = self { Self::Inline(keys) } else { self }
    }
}

/// The whole scenario as TOML.
pub(crate) fn document(scenario: &Keys) -> String {
    let mut text = String::new();
    tables(scenario, "", &mut text);
    text
}

/// A declared default as TOML.
pub(crate) fn declared(value: Option<Written>) -> String {
    value.map_or_else(String::new, |written| in_line(&written).unwrap_or_else(|| "[]".to_owned()))
}

fn tables(keys: &Keys, path: &str, text: &mut String) {
    for (key, written) in keys {
        if let Written::Line(line) = written {
            let _ = writeln!(text, "{key} = {line}");
        }
    }
    for (key, written) in keys {
        if let Written::Inline(inner) = written {
            let _ = writeln!(text, "{key} = {}", braces(inner));
        }
    }
    for (key, written) in keys {
        let path = if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") };
        match written {
            Written::Table(inner) => {
                if inner.iter().any(|(_, written)| matches!(written, Written::Line(_))) {
                    let _ = write!(text, "\n[{path}]\n");
                }
                tables(inner, &path, text);
            }
            Written::Tables(list) => {
                for inner in list {
                    let _ = write!(text, "\n[[{path}]]\n");
                    tables(inner, &path, text);
                }
            }
            Written::Line(_) | Written::Inline(_) => {}
        }
    }
}

/// A value on one line; `None` for an empty list of tables.
fn in_line(written: &Written) -> Option<String> {
    Some(match written {
        Written::Line(line) => line.clone(),
        Written::Inline(keys) | Written::Table(keys) => braces(keys),
        Written::Tables(list) if list.is_empty() => return None,
        Written::Tables(list) => format!("[{}]", list.iter().map(braces).collect::<Vec<_>>().join(", ")),
    })
}

fn braces(keys: &Keys) -> String {
    let items = keys.iter().filter_map(|(key, written)| Some(format!("{key} = {}", in_line(written)?)));
    format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
