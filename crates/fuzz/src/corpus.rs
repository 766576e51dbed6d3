//! Where mutation starts: every scenario, every experiment of a paper with its profile, and inputs that once did harm.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_scenario::Scenario;
use toml_edit::{DocumentMut, Item, Table as Section, Value as Toml};

use crate::document::{self, Table};

/// Files of a paper's folder that are no experiments.
const OTHERS: [&str; 2] = ["profile.toml", "claims.toml"];
/// Inputs that once did harm, below the root.
const REGRESSIONS: &str = "crates/fuzz/corpus";

/// A file to start from.
#[derive(Debug)]
pub(crate) struct Seed {
    /// Its path below the root.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) table: Table,
}

/// All seeds below `root`, in the order of their names; the regressions first.
pub(crate) fn load(root: &Path) -> Result<Vec<Seed>, String> {
    let mut seeds = Vec::new();
    for file in files(&root.join(REGRESSIONS))? {
        seeds.push(seed(root, &file, read(&file)?));
    }
    for file in files(&root.join("scenarios"))? {
        seeds.push(seed(root, &file, read(&file)?));
    }
    for file in files(&root.join("papers"))? {
        if !OTHERS.iter().any(|other| file.ends_with(other)) {
            seeds.push(seed(root, &file, experiment(&file)?));
        }
    }
    Ok(seeds)
}

fn seed(root: &Path, file: &Path, text: String) -> Seed {
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let table = document::read(&text).unwrap_or_default();
    Seed { name, text, table }
}

/// An experiment with all that its paper's profile sets, the parameters of every scheme included.
fn experiment(file: &Path) -> Result<String, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut scenario = Scenario::load(file).map_err(|error| wrong(&error))?;
    let profile: DocumentMut = read(&file.with_file_name("profile.toml"))?.parse().map_err(|error| wrong(&error))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let own = profile.get("experiment").and_then(|tables| tables.get(&*name));
    for settings in [profile.get("every"), own].into_iter().flatten().filter_map(Item::as_table) {
        set_all(&mut scenario, settings).map_err(|error| wrong(&error))?;
    }
    Ok(scenario.to_toml())
}

fn set_all(scenario: &mut Scenario, settings: &Section) -> Result<(), penstock_scenario::ScenarioError> {
    for (key, value) in settings.iter().filter_map(|(key, item)| Some((key, item.as_value()?))) {
        let text = match value {
            Toml::String(text) => text.value().clone(),
            other => other.clone().decorated("", "").to_string(),
        };
        scenario.set(key, &text)?;
    }
    Ok(())
}

/// Every `.toml` below `folder`, in order; none where there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut list = Vec::new();
    for entry in entries {
        list.push(entry.map_err(|error| format!("{}: {error}", folder.display()))?.path());
    }
    list.sort();
    let mut found = Vec::new();
    for path in list {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    // papers/ruff.toml configures a tool.
    found.retain(|path| !path.ends_with("ruff.toml"));
    Ok(found)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}
