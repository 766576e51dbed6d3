//! What is wrong with a scenario, where, and what would be right.

use std::fmt;

/// A scenario that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or what stands for it.
    pub file: String,
    /// The line, counted from 1; `None` where no single line is to blame.
    pub line: Option<usize>,
    /// The key, as a dotted path such as `schemes.qcn.q_eq` or `flow.0.rate`.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// The same error, with what would be right.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// To compare a word with so many takes some milliseconds, or a tenth of a second if all are long.
const MOST_COMPARED: usize = 5000;

/// `did you mean "…"?` for the known word that is nearest to `word`, or else the list of them.
pub(crate) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().take(MOST_COMPARED).collect();
    let nearest = known.iter().map(|k| (distance(word, k), *k)).min();
    match nearest {
        Some((d, name)) if d <= 1 + name.chars().count() / 3 => Some(format!("did you mean \"{name}\"?")),
        Some(_) if known.len() <= 12 => Some(format!("known are {}", known.join(", "))),
        _ => None,
    }
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
        assert_eq!(suggest("q_eqq", ["w", "q_eq"]).as_deref(), Some("did you mean \"q_eq\"?"));
        assert_eq!(suggest("xyzzy", ["w", "q_eq"]).as_deref(), Some("known are w, q_eq"));
        assert_eq!(suggest("xyzzy", []), None);
    }

    #[test]
    fn an_error_names_its_place() {
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
