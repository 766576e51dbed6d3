//! A scenario as a tree of TOML that can be cut and joined at will, right or wrong.

use toml_edit::{DocumentMut, Item, Value as Toml};

/// A table: its keys in their order. A key may stand twice.
pub(crate) type Table = Vec<(String, Node)>;

/// The content of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// A value as TOML text.
    Value(String),
    /// A table, on one line (`{ … }`) or under a header.
    Table { inline: bool, entries: Table },
    /// `[[…]]`.
    Tables(Vec<Table>),
}

/// The path to an entry: in each table the index of a key, in each list of tables the index of a table.
pub(crate) type Path = Vec<usize>;

/// The document that `text` is.
pub(crate) fn read(text: &str) -> Option<Table> {
    let document: DocumentMut = text.parse().ok()?;
    Some(document.iter().filter_map(|(key, item)| Some((key.to_owned(), of_item(item)?))).collect())
}

fn of_item(item: &Item) -> Option<Node> {
    let of_table = |table: &toml_edit::Table| -> Table {
        table.iter().filter_map(|(key, item)| Some((key.to_owned(), of_item(item)?))).collect()
    };
    Some(match item {
        Item::None => return None,
        Item::Value(value) => of_value(value),
        Item::Table(table) => Node::Table { inline: false, entries: of_table(table) },
        Item::ArrayOfTables(tables) => Node::Tables(tables.iter().map(of_table).collect()),
    })
}

fn of_value(value: &Toml) -> Node {
    match value {
        Toml::InlineTable(table) => {
            let entries = table.iter().map(|(key, value)| (key.to_owned(), of_value(value))).collect();
            Node::Table { inline: true, entries }
        }
        other => Node::Value(other.clone().decorated("", "").to_string()),
    }
}

/// The document as TOML.
pub(crate) fn write(table: &Table) -> String {
    let mut text = String::new();
    section(table, "", &mut text);
    text
}

fn section(table: &Table, path: &str, text: &mut String) {
    for (key, node) in table {
        match node {
            Node::Value(value) => *text += &format!("{} = {value}\n", quoted_key(key)),
            Node::Table { inline: true, entries } => *text += &format!("{} = {}\n", quoted_key(key), in_line(entries)),
            _ => {}
        }
    }
    for (key, node) in table {
        let key = quoted_key(key);
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        match node {
            Node::Table { inline: false, entries } => {
                *text += &format!("\n[{path}]\n");
                section(entries, &path, text);
            }
            Node::Tables(tables) => {
                for entries in tables {
                    *text += &format!("\n[[{path}]]\n");
                    section(entries, &path, text);
                }
            }
            _ => {}
        }
    }
}

fn in_line(entries: &Table) -> String {
    let item = |(key, node): &(String, Node)| {
        let value = match node {
            Node::Value(value) => value.clone(),
            Node::Table { entries, .. } => in_line(entries),
            Node::Tables(tables) => format!("[{}]", tables.iter().map(in_line).collect::<Vec<_>>().join(", ")),
        };
        format!("{} = {value}", quoted_key(key))
    };
    format!("{{ {} }}", entries.iter().map(item).collect::<Vec<_>>().join(", "))
}

/// A key, in quotes where TOML wants them.
fn quoted_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

/// A text as a value of TOML.
pub(crate) fn quoted(text: &str) -> String {
    Toml::from(text).to_string()
}

/// The text that a value of TOML stands for, if it is one.
pub(crate) fn text_of(value: &str) -> Option<String> {
    value.parse::<Toml>().ok()?.as_str().map(str::to_owned)
}

/// The paths to all entries.
pub(crate) fn paths(table: &Table) -> Vec<Path> {
    fn collect(table: &Table, path: &Path, list: &mut Vec<Path>) {
        for (i, (_, node)) in table.iter().enumerate() {
            let mut path = path.clone();
            path.push(i);
            list.push(path.clone());
            match node {
                Node::Value(_) => {}
                Node::Table { entries, .. } => collect(entries, &path, list),
                Node::Tables(tables) => {
                    for (n, entries) in tables.iter().enumerate() {
                        path.push(n);
                        collect(entries, &path, list);
                        path.pop();
                    }
                }
            }
        }
    }
    let mut list = Vec::new();
    collect(table, &Vec::new(), &mut list);
    list
}

/// The table that holds the entry at `path`, and the entry's index in it.
pub(crate) fn holder<'a>(table: &'a mut Table, path: &[usize]) -> (&'a mut Table, usize) {
    let (place, rest) = path.split_first().expect("a path has a place");
    if rest.is_empty() {
        return (table, *place);
    }
    match &mut table[*place].1 {
        Node::Table { entries, .. } => holder(entries, rest),
        Node::Tables(tables) => holder(&mut tables[rest[0]], &rest[1..]),
        Node::Value(_) => unreachable!("a path leads through tables"),
    }
}

/// The names of the keys along `path`.
pub(crate) fn names(table: &Table, path: &[usize]) -> Vec<String> {
    let Some((place, rest)) = path.split_first() else { return Vec::new() };
    let (key, node) = &table[*place];
    let mut list = vec![key.clone()];
    match node {
        Node::Table { entries, .. } => list.extend(names(entries, rest)),
        Node::Tables(tables) if !rest.is_empty() => list.extend(names(&tables[rest[0]], &rest[1..])),
        _ => {}
    }
    list
}

/// The entry called `key`.
pub(crate) fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Node> {
    table.iter().find(|(name, _)| name == key).map(|(_, node)| node)
}

/// Gives `key` a value.
pub(crate) fn set(table: &mut Table, key: &str, node: Node) {
    match table.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = node,
        None => table.push((key.to_owned(), node)),
    }
}

/// The table called `key`, made where there is none.
pub(crate) fn table_at<'a>(table: &'a mut Table, key: &str) -> &'a mut Table {
    if !matches!(get(table, key), Some(Node::Table { .. })) {
        set(table, key, Node::Table { inline: false, entries: Vec::new() });
    }
    match table.iter_mut().find(|(name, _)| name == key) {
        Some((_, Node::Table { entries, .. })) => entries,
        _ => unreachable!("it has just been made"),
    }
}

/// The list of tables called `key`, made where there is none.
pub(crate) fn tables_at<'a>(table: &'a mut Table, key: &str) -> &'a mut Vec<Table> {
    if !matches!(get(table, key), Some(Node::Tables(_))) {
        set(table, key, Node::Tables(Vec::new()));
    }
    match table.iter_mut().find(|(name, _)| name == key) {
        Some((_, Node::Tables(tables))) => tables,
        _ => unreachable!("it has just been made"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = \"1 s\"\nc = { d = [1, 2], e = { f = true } }\n\n[t]\nx = 1.5\n\n[[l]]\ny = \"\\n\"\n\n[[l]]\n\n[l.m]\nz = 3\n";

    #[test]
    fn a_document_is_written_as_it_was_read() {
        let table = read(TEXT).unwrap();
        assert_eq!(write(&table), TEXT);
        assert_eq!(read(&write(&table)).unwrap(), table);
    }

    #[test]
    fn paths_lead_to_every_entry() {
        let mut table = read(TEXT).unwrap();
        let all: Vec<String> = paths(&table).iter().map(|path| names(&table, path).join(".")).collect();
        assert_eq!(all, ["a", "c", "c.d", "c.e", "c.e.f", "t", "t.x", "l", "l.y", "l.m", "l.m.z"]);
        let last = paths(&table).pop().unwrap();
        let (inner, place) = holder(&mut table, &last);
        assert_eq!(inner[place].0, "z");
    }
}
