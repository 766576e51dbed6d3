//! A folder of output: whole under its final name, or not there at all.
//!
//! Everything is written to a hidden sibling, flushed to the disk and renamed at the end. A failed run removes it. A killed
//! process leaves it behind, never a half-written folder under the final name; the next run to that name removes it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::RunError;
use crate::error::MAKE_FOLDER;

/// The resolved scenario.
pub(crate) const SCENARIO: &str = "scenario.toml";
/// The summary.
pub(crate) const SUMMARY: &str = "summary.json";

/// The comparison of several runs.
const COMPARISON: &str = "compare.json";

/// The answers of reproduced papers.
const REPORT: &str = "reproduce.json";

/// The content of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The results of a run.
    Results,
    /// Several runs and their comparison.
    Comparison,
    /// A report on papers.
    Report,
}

impl Holds {
    /// The file of such a folder that `path` lacks.
    pub(crate) fn lacks(self, path: &Path) -> Option<&'static str> {
        let files: &[&str] = match self {
            Self::Results => &[SCENARIO, SUMMARY],
            Self::Comparison => &[COMPARISON],
            Self::Report => &[REPORT],
        };
        files.iter().find(|name| !path.join(name).is_file()).copied()
    }
}

/// An unfinished folder. Dropped without [`publish`](Self::publish), it leaves nothing.
#[derive(Debug)]
pub struct Folder {
    partial: PathBuf,
    target: PathBuf,
    replace: bool,
    holds: Holds,
}

impl Folder {
    /// Starts the folder that is to be `target`. Anything that is there already is refused, unless `replace` is set and
    /// it holds the same (or nothing): a slip of the pen must not cost anybody their home folder.
    ///
    /// # Errors
    /// If it is refused, or cannot be made.
    pub fn create(target: &Path, replace: bool, holds: Holds) -> Result<Self, RunError> {
        let target = std::path::absolute(target).map_err(RunError::io(target, "find the folder"))?;
        // Where the name is a link to a folder, that folder is meant.
        let target = if target.is_dir() {
            target.canonicalize().map_err(RunError::io(&target, "find the folder"))?
        } else {
            target
        };
        if target.symlink_metadata().is_ok() {
            if !replace {
                return Err(RunError::Exists { path: target });
            }
            refuse_foreign(&target, holds)?;
        }
        let parent = target.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
        if let Some(file) = parent.ancestors().find(|above| above.exists()).filter(|above| !above.is_dir()) {
            return Err(RunError::BelowFile { file: file.to_owned(), path: target });
        }
        fs::create_dir_all(&parent).map_err(RunError::io(&parent, MAKE_FOLDER))?;
        remove_leftovers(&target, &parent);
        let partial = sibling(&target, "partial");
        // The name that was asked for says more than the hidden one.
        fs::create_dir(&partial).map_err(RunError::io(&target, MAKE_FOLDER))?;
        Ok(Self { partial, target, replace, holds })
    }

    /// Where everything is written until the folder is whole.
    #[must_use]
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Where `name` is written until the folder is whole.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Writes a text file.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), RunError> {
        let path = self.file(name);
        let mut file = File::create_new(&path).map_err(RunError::io(&path, "make the file"))?;
        file.write_all(text.as_bytes()).map_err(RunError::io(&path, "write"))?;
        file.sync_all().map_err(RunError::io(&path, "write"))
    }

    /// Gives the folder its final name. Replaces an older folder if that was asked for.
    ///
    /// # Errors
    /// If something else has come to the name, or if the system refuses.
    pub fn publish(self) -> Result<PathBuf, RunError> {
        let give_name = || fs::rename(&self.partial, &self.target).map_err(RunError::io(&self.target, MAKE_FOLDER));
        if self.target.symlink_metadata().is_err() {
            give_name()?;
        } else if self.replace {
            // Asked again: something else may have come to the name during the run.
            refuse_foreign(&self.target, self.holds)?;
            let old = sibling(&self.target, "old");
            fs::rename(&self.target, &old).map_err(RunError::io(&self.target, "replace the folder"))?;
            if let Err(error) = give_name() {
                // The older results keep their name. If even that fails, the first error says more than the second.
                let _ = fs::rename(&old, &self.target);
                return Err(error);
            }
            // The new results are in place. A leftover that cannot be removed keeps its hidden name and misleads
            // nobody.
            let _ = fs::remove_dir_all(&old);
        } else {
            return Err(RunError::Exists { path: self.target.clone() });
        }
        Ok(self.target.clone())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After `publish` there is nothing under this name. Otherwise the error that led here is reported already, and
        // a leftover under a hidden name misleads nobody.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

fn refuse_foreign(target: &Path, holds: Holds) -> Result<(), RunError> {
    let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    match holds.lacks(target) {
        Some(missing) if !empty() => Err(RunError::NoResults { path: target.to_owned(), missing }),
        _ => Ok(()),
    }
}

/// A hidden name next to `target` on the same file system, this process's own.
fn sibling(target: &Path, purpose: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!("{}{}-{count}", hidden_prefix(target, purpose), std::process::id()))
}

/// The beginning of hidden names next to `target`; the number of a process follows. That number means something on one
/// machine only, so the name of the machine comes before it.
fn hidden_prefix(target: &Path, purpose: &str) -> String {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!(".{name}.{purpose}-{}-", machine.trim())
}

/// Removes folders next to `target` that were left by processes of this machine that no longer run. A replaced folder
/// that one of them put aside goes only if there is something under the final name: it may be all that is left of the
/// results.
fn remove_leftovers(target: &Path, parent: &Path) {
    // Running processes are seen in /proc; where there is none, no process is known to be dead.
    let is_dead = |process: u32| Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists();
    let purposes: &[&str] = if target.exists() { &["partial", "old"] } else { &["partial"] };
    let prefixes: Vec<String> = purposes.iter().map(|purpose| hidden_prefix(target, purpose)).collect();
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
        let process = rest.and_then(|rest| rest.split_once('-')).and_then(|(process, _)| process.parse().ok());
        if process.is_some_and(is_dead) {
            // A folder that cannot be removed disturbs nothing.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a results folder.
    fn create(target: &Path, replace: bool) -> Result<Folder, RunError> {
        Folder::create(target, replace, Holds::Results)
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn results(folder: &Folder, text: &str) {
        folder.write(SCENARIO, text).unwrap();
        folder.write(SUMMARY, "{}").unwrap();
    }

    #[test]
    fn nothing_is_under_the_final_name_before_the_end() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("deep/er");
        let folder = create(&target, false).unwrap();
        results(&folder, "one");
        assert!(!target.exists());
        assert_eq!(folder.publish().unwrap(), target);
        assert_eq!(names(&target), [SCENARIO, SUMMARY]);
        assert_eq!(names(&root.path().join("deep")), ["er"]);
    }

    #[test]
    fn leftovers_of_dead_processes_of_this_machine_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let leave = |name: String| {
            fs::create_dir(root.path().join(&name)).unwrap();
            name
        };
        // No process has the number 2^32 - 1: Linux counts to 2^22 at most.
        let [partial, old] = ["partial", "old"].map(|purpose| hidden_prefix(&target, purpose));
        leave(format!("{partial}{}-0", u32::MAX));
        let put_aside = leave(format!("{old}{}-0", u32::MAX));
        let alive = leave(format!("{partial}1-0"));
        let elsewhere = leave(format!(".out.partial-not-{}-0", &partial[".out.partial-".len()..]));
        let of_another_name = leave(format!("{}{}-0", hidden_prefix(&root.path().join("other"), "partial"), u32::MAX));

        let folder = create(&target, false).unwrap();
        results(&folder, "one");
        folder.publish().unwrap();
        let mut expected = vec![put_aside, alive, elsewhere, of_another_name, "out".to_owned()];
        expected.sort();
        assert_eq!(names(root.path()), expected);

        drop(create(&target, true).unwrap());
        expected.retain(|name| !name.starts_with(&old));
        assert_eq!(names(root.path()), expected, "the replaced folder is not needed any more");
    }

    #[test]
    fn a_failed_run_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        drop(create(&root.path().join("out"), false).unwrap());
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn an_existing_folder_is_replaced_only_when_asked_and_only_by_a_whole_one() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let first = create(&target, false).unwrap();
        results(&first, "one");
        first.publish().unwrap();

        assert!(matches!(create(&target, false), Err(RunError::Exists { .. })));

        let broken = create(&target, true).unwrap();
        results(&broken, "two");
        drop(broken);
        assert_eq!(fs::read_to_string(target.join(SCENARIO)).unwrap(), "one");

        let second = create(&target, true).unwrap();
        results(&second, "two");
        second.publish().unwrap();
        assert_eq!(fs::read_to_string(target.join(SCENARIO)).unwrap(), "two");
        assert_eq!(names(root.path()), ["out"]);
    }

    #[test]
    fn a_folder_that_came_during_the_run_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let folder = create(&target, false).unwrap();
        fs::create_dir(&target).unwrap();
        assert!(matches!(folder.publish(), Err(RunError::Exists { .. })));
        assert!(names(&target).is_empty());
        assert_eq!(names(root.path()), ["out"]);
    }

    #[test]
    fn only_results_are_replaced() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("thesis.tex"), "years of work").unwrap();
        for target in [root.path().to_owned(), root.path().join("thesis.tex")] {
            assert!(matches!(create(&target, true), Err(RunError::NoResults { missing: SCENARIO, .. })));
        }
        assert_eq!(names(root.path()), ["thesis.tex"]);
    }

    #[test]
    fn a_parent_that_is_a_file_is_an_error_with_its_path() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let error = create(&file.join("deep/out"), false).unwrap_err();
        assert!(error.is_refusal() && error.to_string().ends_with("file is a file, not a folder"), "{error}");
    }

    #[test]
    fn a_comparison_is_replaced_by_a_comparison_alone() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let comparison = |replace| Folder::create(&target, replace, Holds::Comparison);
        let first = comparison(false).unwrap();
        fs::write(first.partial().join(COMPARISON), "{}").unwrap();
        first.publish().unwrap();
        assert!(matches!(create(&target, true), Err(RunError::NoResults { missing: SCENARIO, .. })));
        assert!(comparison(false).unwrap_err().is_refusal());
        drop(comparison(true).unwrap());
        assert_eq!(names(root.path()), ["out"]);
    }
}
