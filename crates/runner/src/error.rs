//! Errors around a run. The run itself cannot fail: a [`Plan`](penstock_scenario::Plan) is valid.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

use crate::file;

/// A results folder that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The folder of the results is there already, and the caller has not allowed its replacement.
    #[error("{}: exists already", .path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder would be below a file.
    #[error("{}: {} is a file, not a folder", .path.display(), .file.display())]
    BelowFile {
        /// The folder.
        path: PathBuf,
        /// The file above it.
        file: PathBuf,
    },
    /// The folder to be replaced, or read, is none of Penstock's.
    #[error("{}: holds no results of Penstock ({missing} is missing)", .path.display())]
    NoResults {
        /// The folder.
        path: PathBuf,
        /// The file that such a folder has and this one lacks.
        missing: &'static str,
    },
    /// Frames are to be captured, and there is no folder for the file.
    #[error("a capture needs a results folder for its file, and the run has none")]
    NoFolder,
    /// A table was asked for that the run has not recorded.
    #[error("the table {table} was not recorded")]
    NotRecorded {
        /// Its name.
        table: &'static str,
    },
    /// The run came to more than a scenario may ask for.
    #[error("at {at_s} s of the run: {message}")]
    Limit {
        /// Simulated time, s.
        at_s: f64,
        /// The excess, as text.
        message: String,
        /// The hint: how to need less.
        hint: String,
    },
    /// A scheme of a library or of a class in Python broke a rule.
    #[error("{location}: at {at_s} s of the run: {message}")]
    Scheme {
        /// Where the scheme comes from.
        location: &'static str,
        /// Simulated time, s.
        at_s: f64,
        /// The function and the rule, as text.
        message: String,
    },
    /// The operating system does not give the memory that the run needs.
    #[error("{what} need {megabytes} MB of memory, more than the system has available")]
    Memory {
        /// The things that need it, as text for the message.
        what: String,
        /// How much.
        megabytes: u64,
    },
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The action that was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A Parquet file could not be written or read.
    #[error("{}: {reason}", .path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A `summary.json` is not in the form that Penstock writes.
    #[error("{}: not a summary of Penstock: {source}", .path.display())]
    Summary {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
}

/// The action of making a folder.
pub(crate) const MAKE_FOLDER: &str = "make the folder";

// Linux's numbers of errors against which another name would help (errno.h). The standard library has no word for all
// of them.
const OPERATION_DENIED: i32 = 1;
const DENIED: i32 = 13;
const READ_ONLY: i32 = 30;
const NAME_TOO_LONG: i32 = 36;

impl RunError {
    /// Whether another name, or leave to replace the folder that has it, would help: then nothing was run or written.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.hint().is_some()
    }

    /// The hint, where another name, or leave to replace the folder that has it, would help.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Exists { .. } => Some("replace it with --force, or name another folder with --out"),
            Self::BelowFile { .. } => Some("name another folder with --out"),
            Self::NoFolder => Some("name a folder with --out"),
            Self::NoResults { .. } => Some("name another folder: this one holds something else"),
            Self::Io { action, source, .. } if *action == MAKE_FOLDER => match source.raw_os_error() {
                Some(OPERATION_DENIED | DENIED | READ_ONLY) => Some("name a folder with --out in which you may write"),
                Some(NAME_TOO_LONG) => Some("name a folder of at most 200 letters with --out"),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }

    pub(crate) fn table(path: &Path, error: ParquetError) -> Self {
        Self::Table { path: path.to_owned(), reason: file::reason(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_system_is_not_helped_by_force() {
        let made = |number| RunError::io(Path::new("out"), MAKE_FOLDER)(io::Error::from_raw_os_error(number));
        for number in [OPERATION_DENIED, DENIED, READ_ONLY, NAME_TOO_LONG] {
            let hint = made(number).hint().unwrap();
            assert!(hint.contains("--out") && !hint.contains("--force"), "{number}: {hint}");
        }
        // A full disk is the machine's failure.
        assert_eq!(made(28).hint(), None);
        assert!(RunError::Exists { path: "out".into() }.hint().unwrap().contains("--force"));
    }
}
