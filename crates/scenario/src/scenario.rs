//! A scenario as its file says it: loaded, changed by `--set`, saved, and laid out as a plan.

use std::cmp::Reverse;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value as Toml};

use crate::error::{Fault, brief};
use crate::keys::fields::Table as _;
use crate::keys::location::Location;
use crate::keys::sections::Experiment;
use crate::keys::tree::{Data, Node, Origin};
use crate::limits::Bounds;
use crate::plan::listed_jobs::OUTSIDE;
use crate::plan::planner;
use crate::resolve::{self, Choice, Resolved};
use crate::{Plan, ScenarioError};

/// The largest file that is read, in octets.
const MAX_FILE: u64 = 64_000_000;

/// The most octets of it outside of texts of several lines: keys take a hundred times as much memory.
const MAX_KEYS: u64 = 4_000_000;

/// Hint for a file that is too large.
const TOO_LARGE: &str =
    "flows that are alike need one table: from = \"h0..h7\", repeat = 100; others are lines of flows in a [[trace]]";

/// A scenario file. Its keys are checked when it becomes a [`Plan`].
#[derive(Debug, Clone)]
pub struct Scenario {
    file: String,
    name: String,
    document: DocumentMut,
    tree: Node,
    /// Keys that were set by names of tables in lists: by numbers, and as they were written.
    named: Vec<(String, String)>,
}

impl Scenario {
    /// Reads a file. The scenario's name is the file's without `.toml`.
    ///
    /// # Errors
    /// If there is no such file, if it is a folder, larger than 64 MB, or than 4 MB without the lists of traces, not UTF-8, empty,
    /// or not TOML.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let name = path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
        let text = content(path).map_err(|fault| fault.in_file(&file))?;
        Self::parse(&text, &file, &name)
    }

    /// Reads a text. `origin` stands for the file in messages; `name` is the scenario's unless the text says otherwise.
    ///
    /// # Errors
    /// If the text is longer than 64 MB, or than 4 MB without the lists of traces, empty, or not TOML.
    pub fn parse(text: &str, origin: &str, name: &str) -> Result<Self, ScenarioError> {
        let (document, tree) = document(text).map_err(|fault| fault.in_file(origin))?;
        Ok(Self { file: origin.into(), name: name.into(), document, tree, named: Vec::new() })
    }

    /// Sets the value at a dotted path such as `schemes.qcn.q_eq` or `flow.0.rate`. A table of a list can be given by name, as in
    /// `load.web.load`. Missing tables of the path are added. `value` is TOML, or text that needs no quotes.
    ///
    /// # Errors
    /// If the path leads through something that is no table, or past the end of a list. Whether the key exists and its
    /// value is right is seen by [`plan`](Self::plan).
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ScenarioError> {
        self.set_value(key, value).map_err(|fault| fault.in_file(&self.file))
    }

    /// The file, or the text that stands for it in messages.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The keys that [`set`](Self::set) has set, as dotted paths; none below another.
    #[must_use]
    pub fn keys_set(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.tree.visit_set("", &mut |path| found.push(path.to_owned()));
        found
    }

    /// Takes keys of the text as [set](Self::set): where [`to_toml`](Self::to_toml) was read again, they are those of
    /// [`keys_set`](Self::keys_set) before. Keys that the text does not have are left out.
    pub fn take_as_set(&mut self, keys: &[String]) {
        for key in keys {
            if let Some(node) = self.tree.at_mut(&key.split('.').collect::<Vec<_>>()) {
                node.mark(Origin::Set);
            }
        }
    }

    /// The file as it was read, with the values set since.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.document.to_string()
    }

    /// Name of the scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or(&self.name)
    }

    /// The question that it answers; empty if the file has none.
    #[must_use]
    pub fn question(&self) -> &str {
        self.text("question").unwrap_or_default()
    }

    /// The scheme that runs unless another is chosen; empty if the file names none.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.text("scheme").unwrap_or_default()
    }

    /// The schemes that the file has settings for.
    #[must_use]
    pub fn schemes(&self) -> Vec<&str> {
        match self.tree.at(&["schemes"]).map(|node| &node.data) {
            Some(Data::Table(entries)) => entries.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a program sends messages of it: a `[[job]]` has `graph = "outside"`.
    #[must_use]
    pub fn has_outside(&self) -> bool {
        let Some(Data::List(jobs)) = self.tree.at(&["job"]).map(|node| &node.data) else { return false };
        let outside = |graph: &Node| matches!(&graph.data, Data::Text(text) if text == OUTSIDE);
        jobs.iter().any(|job| job.at(&["graph"]).is_some_and(outside))
    }

    /// Checks everything and lays the run out.
    ///
    /// # Errors
    /// For the first mistake: its location, a message, and a hint.
    pub fn plan(&self, choice: &Choice) -> Result<Plan, ScenarioError> {
        self.plan_while(choice, &mut || true)
    }

    /// The same, as long as `waits`, which is asked some thousand times a second, says that it should go on.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), or if it was interrupted.
    pub fn plan_while(&self, choice: &Choice, waits: &mut dyn FnMut() -> bool) -> Result<Plan, ScenarioError> {
        let bounds = Bounds::new(choice.limits, waits);
        let plan = resolve::schemes::load(&self.tree, choice)
            .and_then(|()| Experiment::read(&self.tree, Location::FILE))
            .and_then(|record| Resolved::new(record, &self.name, choice))
            .and_then(|resolved| planner::plan(resolved, choice, &bounds));
        plan.map_err(|fault| self.as_written(fault).in_file(&self.file))
    }

    /// A fault of a key that was set by a name, or of one below it, tells that name.
    fn as_written(&self, mut fault: Fault) -> Fault {
        let below = |key: &str, (numbers, written): &(String, String)| {
            let rest = key.strip_prefix(numbers.as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then(|| format!("{written}{rest}"))
        };
        if let Some(key) = fault.key.as_mut()
            && let Some(written) = self.named.iter().rev().find_map(|named| below(key, named))
        {
            *key = written;
        }
        fault
    }

    fn set_value(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        let written = key;
        let key = numbered(self.document.as_item(), written);
        let path: Vec<&str> = key.split('.').collect();
        let fault = |message: &str| Fault {
            line: None,
            key: Some(brief(written)),
            message: brief(&format!("{message}, as given by --set")),
            hint: None,
        };
        if path.iter().any(|part| part.trim().is_empty()) {
            return Err(fault("a part of the key is empty").with_hint("for instance schemes.qcn.q_eq, or flow.0.rate"));
        }
        let mut changed = self.document.clone();
        let entry = reach(changed.as_item_mut(), &path).map_err(|(message, hint)| fault(&message).with_hint(hint))?;
        let value: Toml = value.trim().parse().unwrap_or_else(|_| Toml::from(value.trim()));
        if let (Some(old), mut new) = (entry.as_value(), value.clone()) {
            // The comment behind the old value stays where it is.
            *new.decor_mut() = old.decor().clone();
            *entry = Item::Value(new);
        } else {
            *entry = toml_edit::value(value);
        }
        let mut tree = Node::parse(&changed.to_string())?;
        tree.graft(&self.tree);
        // Nodes for which `graft` found no older origin stand under a table that was made for this key.
        let made = (0..path.len()).find(|n| self.tree.at(&path[..=*n]).is_none()).unwrap_or(path.len() - 1);
        tree.at_mut(&path[..=made]).expect("the key has just been set").mark(Origin::Set);
        if key != written {
            self.named.push((key, written.to_owned()));
        }
        self.document = changed;
        self.tree = tree;
        Ok(())
    }

    fn text(&self, key: &str) -> Option<&str> {
        match &self.tree.at(&[key])?.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The text of a file.
fn content(path: &Path) -> Result<String, Fault> {
    let unread = |e: std::io::Error| Fault::whole(format!("cannot be read: {e}")).with_hint(unreadable(e.kind()));
    let data = fs::metadata(path).map_err(unread)?;
    if data.is_dir() {
        return Err(Fault::whole("is a folder, not a scenario file").with_hint("name one of the .toml files in it"));
    }
    if !data.is_file() {
        return Err(Fault::whole("is not a regular file").with_hint("name a .toml file"));
    }
    check_length(data.len(), MAX_FILE, "a scenario has at most 64 MB")?;
    let octets = fs::read(path).map_err(unread)?;
    String::from_utf8(octets)
        .map_err(|e| Fault::whole(format!("is not UTF-8 text: {e}")).with_hint("save it as UTF-8, as TOML asks for"))
}

/// The document that `text` is, and the same as a tree.
fn document(text: &str) -> Result<(DocumentMut, Node), Fault> {
    check_length(text.len() as u64, MAX_FILE, "a scenario has at most 64 MB")?;
    check_length(outside_of_lists(text) as u64, MAX_KEYS, "a scenario has at most 4 MB beside the lists of traces")?;
    let tree = Node::parse(text)?;
    if matches!(&tree.data, Data::Table(entries) if entries.is_empty()) {
        let hint = "a scenario has question, duration, scheme, a [topology.…] and at least one [[flow]]";
        return Err(Fault::whole("is empty").with_hint(hint));
    }
    let document = text.parse().map_err(|_| Fault::whole("not TOML"))?;
    Ok((document, tree))
}

fn check_length(octets: u64, most: u64, words: &str) -> Result<(), Fault> {
    if octets <= most {
        return Ok(());
    }
    Err(Fault::whole(format!("has {octets} octets; {words}")).with_hint(TOO_LARGE))
}

/// The octets of a text outside of multi-line strings, which begin with `key = '''` and end with a line that is `'''`.
/// All octets, if the text has such quotes elsewhere.
fn outside_of_lists(text: &str) -> usize {
    let opens = |line: &str, quotes: &str| {
        let key = line.strip_suffix(quotes).and_then(|before| before.trim_end().strip_suffix('='));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        key.is_some_and(|key| !key.trim().is_empty() && key.chars().all(plain))
    };
    let quoting = ["'''", "\"\"\""];
    let (mut outside, mut within) = (0, None);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        match within {
            Some(quotes) if bare == quotes => within = None,
            // The text goes on, or TOML does behind it.
            Some(quotes) if !bare.contains(quotes) => continue,
            None if !quoting.iter().any(|quotes| bare.contains(quotes)) => {}
            None => match quoting.into_iter().find(|quotes| opens(bare, quotes)) {
                Some(quotes) => within = Some(quotes),
                None => return text.len(),
            },
            Some(_) => return text.len(),
        }
        outside += line.len();
    }
    outside
}

/// The hint for an error of the file system.
fn unreadable(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "look for a slip in the name",
        ErrorKind::PermissionDenied => "ask for leave to read it",
        _ => "name a .toml file that can be read",
    }
}

/// The name of a table in a list.
fn name_of(table: &Table) -> Option<&str> {
    table.get("name")?.as_str()
}

/// The tables of a list, for a hint.
fn known_of(list: &str, tables: &ArrayOfTables) -> String {
    let numbers = format!("there are {list}.0 to {list}.{}", tables.len().saturating_sub(1));
    let named: Vec<&str> = tables.iter().filter_map(name_of).collect();
    if named.is_empty() { numbers } else { format!("{numbers}, by name {}", brief(&named.join(", "))) }
}

/// A dotted path with numbers instead of the names of tables in lists: `load.web.load` is `load.0.load` where the first
/// `[[load]]` has that name. A number is one, whatever names there are. A name may have dots, as `f0..f7` has: of several that fit,
/// the longest is meant.
fn numbered(document: &Item, path: &str) -> String {
    let (mut entry, mut rest, mut parts) = (Some(document), Some(path), Vec::new());
    while let Some(left) = rest {
        let (part, behind) = match entry.and_then(|entry| by_name(entry, left)) {
            Some((number, behind)) => (number.to_string(), behind),
            None => {
                left.split_once('.').map_or((left.to_owned(), None), |(part, behind)| (part.to_owned(), Some(behind)))
            }
        };
        entry = entry.and_then(|item| match item {
            Item::ArrayOfTables(_) => item.get(part.parse::<usize>().ok()?),
            _ => item.get(part.as_str()),
        });
        parts.push(part);
        rest = behind;
    }
    parts.join(".")
}

/// The number of the table of a list with whose name a path begins, and the rest of the path.
fn by_name<'p>(list: &Item, path: &'p str) -> Option<(usize, Option<&'p str>)> {
    let tables = list.as_array_of_tables()?;
    if path.split('.').next()?.parse::<usize>().is_ok() {
        return None;
    }
    let named = tables.iter().enumerate().filter_map(|(i, table)| {
        let name = name_of(table)?;
        let behind = path.strip_prefix(name)?;
        let behind = if behind.is_empty() { None } else { Some(behind.strip_prefix('.')?) };
        Some((name.len(), Reverse(i), behind))
    });
    // Of several tables with one name, the first.
    named.max_by_key(|&(length, first, _)| (length, first)).map(|(_, Reverse(i), behind)| (i, behind))
}

/// The entry at a path of a document; missing tables are added. An error has its hint.
fn reach<'a>(item: &'a mut Item, path: &[&str]) -> Result<&'a mut Item, (String, String)> {
    let mut entry = item;
    for (i, part) in path.iter().enumerate() {
        if entry.is_none() {
            let mut table = Table::new();
            table.set_implicit(i + 1 < path.len());
            *entry = Item::Table(table);
        }
        if let Item::Value(Toml::Array(_)) = entry {
            let list = path[..i].join(".");
            return Err((format!("{list} is a list within a line"), format!("set the whole of it: {list} = […]")));
        }
        if let Item::ArrayOfTables(tables) = entry {
            let list = path[..i].join(".");
            let known = known_of(&list, tables);
            let table = part.parse::<usize>().ok().and_then(|n| tables.get_mut(n));
            let table = table.ok_or_else(|| (format!("there is no {list}.{part}"), known))?;
            let rest = &path[i + 1..];
            let whole = || ("is a table".to_owned(), format!("set one key of it, as in {list}.{part}.KEY"));
            let (first, rest) = rest.split_first().ok_or_else(whole)?;
            return reach(table.entry(first).or_insert(Item::None), rest);
        }
        let table = entry.as_table_like_mut().ok_or_else(|| {
            let key = path[..i].join(".");
            (format!("{key} is not a table"), format!("it is a value: set {key} itself"))
        })?;
        entry = table.entry(part).or_insert(Item::None);
    }
    match entry {
        Item::Table(_) | Item::ArrayOfTables(_) => {
            Err(("is a table".to_owned(), format!("set one key of it, as in {}.KEY", path.join("."))))
        }
        _ => Ok(entry),
    }
}
