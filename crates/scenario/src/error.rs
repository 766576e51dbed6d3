//! Errors of a scenario: the mistake, its location, and a hint.

use std::cmp::Reverse;
use std::fmt;

/// A scenario that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or the name that stands for it.
    pub file: String,
    /// The line, counted from 1; `None` where no single line is to blame.
    pub line: Option<usize>,
    /// The key, as a dotted path such as `schemes.qcn.q_eq` or `flow.0.rate`.
    pub key: Option<String>,
    /// The mistake, as text.
    pub message: String,
    /// The hint: what to write instead.
    pub hint: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {}", visible(key))?;
        }
        write!(f, ": {}", visible(&self.message))?;
        if let Some(hint) = &self.hint {
            write!(f, " ({})", visible(hint))?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// A mistake, its location in the file, and a hint. The file's name joins it in [`Fault::in_file`] alone.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) line: Option<usize>,
    pub(crate) key: Option<String>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Fault {
    /// A fault of the whole file.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, key: None, message: brief(&message.into()), hint: None }
    }

    /// The same fault, with a hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(brief(&hint.into())), ..self }
    }

    /// The error that a caller sees.
    pub(crate) fn in_file(self, file: &str) -> ScenarioError {
        let Self { line, key, message, hint } = self;
        ScenarioError { file: file.to_owned(), line, key, message, hint }
    }
}

/// `text` without its middle, if it is too long to be read.
pub(crate) fn brief(text: &str) -> String {
    const LONG: usize = 500;
    const ENDS: (usize, usize) = (300, 100);
    let count = text.chars().count();
    if count <= LONG {
        return text.to_owned();
    }
    let start: String = text.chars().take(ENDS.0).collect();
    let end: String = text.chars().skip(count - ENDS.1).collect();
    format!("{start} … {end}")
}

/// `text` with control characters, and those that turn the direction of writing, as their escapes: text from a file
/// must not act on a terminal.
fn visible(text: &str) -> String {
    let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// The most names that one is compared with: that takes some milliseconds, or a tenth of a second if all are long.
const MOST_COMPARED: usize = 5000;

/// `did you mean "…"?` for the known word that is nearest to `word`, or else the list of them; of many, the nearest.
pub(crate) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let known: Vec<&str> = known.into_iter().take(MOST_COMPARED).collect();
    match nearest(word, known.iter().copied()) {
        Some(hint) => hint,
        None if known.is_empty() => "there is none".to_owned(),
        None if known.len() <= SHOWN => format!("known are {}", known.join(", ")),
        None => {
            let mut order = known.clone();
            order.sort_by_cached_key(|name| distance(word, name));
            format!("known are {} and {} more", order[..SHOWN].join(", "), order.len() - SHOWN)
        }
    }
}

/// `did you mean "…"?` for the known word that is nearest to `word`, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Of those that are as near, one that begins alike: people seldom mistake a first letter.
    let rank = |name: &&'a str| {
        (distance(word, name), Reverse(word.chars().zip(name.chars()).take_while(|(a, b)| a == b).count()))
    };
    let name = known.into_iter().take(MOST_COMPARED).min_by_key(|name| (rank(name), *name))?;
    let distance = distance(word, name);
    (distance <= 1 + name.chars().count() / 3).then(|| format!("did you mean \"{name}\"?"))
}

/// How many letters must be changed, added, taken away or swapped with their neighbour to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        assert_eq!(distance("q_eqq", "q_eq"), 1);
        assert_eq!(distance("duratoin", "duration"), 1);
        assert_eq!(suggest("q_eqq", ["w", "q_eq"]), "did you mean \"q_eq\"?");
        assert_eq!(suggest("qncc", ["hpcc", "qcn"]), "did you mean \"qcn\"?");
        assert_eq!(suggest("xyzzy", ["w", "q_eq"]), "known are w, q_eq");
        assert_eq!(suggest("xyzzy", []), "there is none");
        let many: Vec<String> = (0..20).map(|i| format!("node{i}")).collect();
        let hint = suggest("xyzzy18", many.iter().map(String::as_str));
        assert!(hint.starts_with("known are node18, ") && hint.ends_with(" and 8 more"), "{hint}");
    }

    #[test]
    fn an_error_does_not_act_on_a_terminal() {
        let error = ScenarioError {
            file: "a\u{1b}[31m.toml".into(),
            line: None,
            key: Some("sch\neme".into()),
            message: "\"\u{7}\u{202e}\u{e9}\" is not known".into(),
            hint: Some("a\tb".into()),
        };
        assert_eq!(error.to_string(), "a\\u{1b}[31m.toml: sch\\neme: \"\\u{7}\\u{202e}\u{e9}\" is not known (a\\tb)");
    }

    #[test]
    fn an_error_names_its_location() {
        let error = ScenarioError {
            file: "scenarios/x.toml".into(),
            line: Some(12),
            key: Some("schemes.qcn.q_eqq".into()),
            message: "unknown key".into(),
            hint: Some("did you mean \"q_eq\"?".into()),
        };
        assert_eq!(error.to_string(), "scenarios/x.toml:12: schemes.qcn.q_eqq: unknown key (did you mean \"q_eq\"?)");
    }
}
