//! The results folder: whole under its final name, or not there at all.
//!
//! Everything is written to a hidden sibling, flushed to the disk and renamed at the end. A killed process leaves the
//! sibling behind, never a half-written folder under the final name; a failed run removes it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::RunError;

/// The resolved scenario.
pub(crate) const SCENARIO: &str = "scenario.toml";
/// The summary.
pub(crate) const SUMMARY: &str = "summary.json";

/// A results folder under way. Dropped without [`publish`](Self::publish), it leaves nothing.
#[derive(Debug)]
pub(crate) struct Folder {
    partial: PathBuf,
    target: PathBuf,
    replace: bool,
}

impl Folder {
    /// Starts the folder that is to be `target`. What is there already is refused, unless `replace` is set and it is a
    /// results folder (or empty): a slip of the pen must not cost anybody their home folder.
    pub(crate) fn create(target: &Path, replace: bool) -> Result<Self, RunError> {
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
            refuse_foreign(&target)?;
        }
        let parent = target.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
        fs::create_dir_all(&parent).map_err(RunError::io(&parent, "make the folder"))?;
        let partial = sibling(&target, "partial");
        fs::create_dir(&partial).map_err(RunError::io(&partial, "make the folder"))?;
        Ok(Self { partial, target, replace })
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

    /// Gives the folder its final name, in place of an older one where that was asked for.
    pub(crate) fn publish(self) -> Result<PathBuf, RunError> {
        let give_name =
            || fs::rename(&self.partial, &self.target).map_err(RunError::io(&self.target, "make the folder"));
        if self.target.symlink_metadata().is_err() {
            give_name()?;
        } else if self.replace {
            // Asked again: something else may have come to the name during the run.
            refuse_foreign(&self.target)?;
            let old = sibling(&self.target, "old");
            fs::rename(&self.target, &old).map_err(RunError::io(&self.target, "replace the folder"))?;
            if let Err(error) = give_name() {
                // The older results keep their name. If even that fails, the first error says more than the second.
                let _ = fs::rename(&old, &self.target);
                return Err(error);
            }
            fs::remove_dir_all(&old).map_err(RunError::io(&old, "remove the replaced folder"))?;
        } else {
            return Err(RunError::Exists { path: self.target.clone() });
        }
        Ok(self.target.clone())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After `publish` there is nothing under this name. Otherwise the error that brought us here is told already,
        // and a leftover under a hidden name misleads nobody.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// The file of a results folder that `path` lacks.
pub(crate) fn lacks(path: &Path) -> Option<&'static str> {
    [SCENARIO, SUMMARY].into_iter().find(|name| !path.join(name).is_file())
}

fn refuse_foreign(target: &Path) -> Result<(), RunError> {
    let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    match lacks(target) {
        Some(missing) if !empty() => Err(RunError::NoResults { path: target.to_owned(), missing }),
        _ => Ok(()),
    }
}

/// A hidden name beside `target` on the same file system, this process's own.
fn sibling(target: &Path, purpose: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}.{purpose}-{}-{count}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let folder = Folder::create(&target, false).unwrap();
        results(&folder, "one");
        assert!(!target.exists());
        assert_eq!(folder.publish().unwrap(), target);
        assert_eq!(names(&target), [SCENARIO, SUMMARY]);
        assert_eq!(names(&root.path().join("deep")), ["er"]);
    }

    #[test]
    fn a_failed_run_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        drop(Folder::create(&root.path().join("out"), false).unwrap());
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn an_existing_folder_is_replaced_only_when_asked_and_only_by_a_whole_one() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let first = Folder::create(&target, false).unwrap();
        results(&first, "one");
        first.publish().unwrap();

        assert!(matches!(Folder::create(&target, false), Err(RunError::Exists { .. })));

        let broken = Folder::create(&target, true).unwrap();
        results(&broken, "two");
        drop(broken);
        assert_eq!(fs::read_to_string(target.join(SCENARIO)).unwrap(), "one");

        let second = Folder::create(&target, true).unwrap();
        results(&second, "two");
        second.publish().unwrap();
        assert_eq!(fs::read_to_string(target.join(SCENARIO)).unwrap(), "two");
        assert_eq!(names(root.path()), ["out"]);
    }

    #[test]
    fn a_folder_that_came_during_the_run_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let folder = Folder::create(&target, false).unwrap();
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
            assert!(matches!(Folder::create(&target, true), Err(RunError::NoResults { missing: SCENARIO, .. })));
        }
        assert_eq!(names(root.path()), ["thesis.tex"]);
    }

    #[test]
    fn a_parent_that_is_a_file_is_an_error_with_its_path() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Folder::create(&file.join("out"), false).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
