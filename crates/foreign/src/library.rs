//! Libraries by their location: loaded once, and again when the file was written since.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::Definition;

use crate::read;

/// The function that a library exports.
pub const SYMBOL: &str = "penstock_scheme_describe";

/// Whether a location is that of a shared library, by its name.
#[must_use]
pub fn is_library(location: &str) -> bool {
    let endings = ["so", "dylib", "dll"].map(OsStr::new);
    Path::new(location).extension().is_some_and(|ending| endings.contains(&ending))
}

/// A library that was loaded, and when its file was written.
struct Loaded {
    location: String,
    written: Option<SystemTime>,
    definition: &'static Definition,
}

static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// Loads the library at `location`, relative to the current folder. One that is loaded already is not loaded again, unless its file
/// was written since. It stays for the lifetime of the process.
///
/// # Errors
/// If there is no such library, if it is of another version of the interface, or if its description breaks a rule.
pub fn load(location: &str) -> Result<&'static Definition, Refusal> {
    let path = Path::new(location);
    let written = path.metadata().and_then(|about| about.modified()).ok();
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = loaded.iter().find(|known| known.location == location && known.written == written) {
        return Ok(known.definition);
    }
    if written.is_none() {
        let message = format!("{location}: no such file");
        let hint = "build the library first; its location is relative to the current folder".to_owned();
        return Err(Refusal { message, hint });
    }
    // Without a slash, the system looks elsewhere.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let definition = read::of_library(&path, location)?;
    loaded.push(Loaded { location: location.to_owned(), written, definition });
    Ok(definition)
}
