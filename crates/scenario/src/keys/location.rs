//! Where a value stands: its path and its line, for errors about it.

use crate::error::{Fault, brief};
use crate::keys::key::Kind;
use crate::keys::tree::{Node, Origin};

/// The path of a key, which stands in quotes where TOML asks for them.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Where a value was written.
#[derive(Clone, Copy)]
pub(crate) struct Location<'a> {
    pub(crate) path: &'a str,
    pub(crate) origin: Origin,
}

impl Location<'_> {
    /// The whole file.
    pub(crate) const FILE: Self = Location { path: "", origin: Origin::Line(1) };

    /// An error with its hint.
    pub(crate) fn error(self, mut message: String, hint: impl Into<String>) -> Fault {
        if self.origin == Origin::Set {
            message.push_str(", as given by --set");
        }
        Fault {
            line: if let Origin::Line(line) = self.origin { Some(line) } else { None },
            key: (!self.path.is_empty()).then(|| brief(self.path)),
            message: brief(&message),
            hint: Some(hint.into()),
        }
    }

    /// The error about a value that is not of its kind.
    pub(crate) fn unlike(self, kind: &Kind, node: &Node) -> Fault {
        let hint = format!("for instance {}", kind.example(self.path));
        self.error(format!("expected {}, found {}", kind.expects(), node.data.noun()), hint)
    }
}
