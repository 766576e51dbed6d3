//! Schemes that a scenario names by their location: a shared library, `./libmine.so`, or a class in a file, `my.py:MyScheme`.
//!
//! Who can load such a thing installs a loader; where nobody has, as in a browser, locations are refused. A scheme that was loaded stays for
//! the lifetime of the process: parameters and functions of plans point into it. Of two with one name the one that was loaded last has
//! that name in files.

use std::sync::{OnceLock, PoisonError, RwLock};

use penstock_schemes::foreign::{Config, Definition};
use penstock_schemes::{Info, SCHEMES, SchemeConfig, Value};

/// Loads the scheme at a location; else says why it cannot, and how to mend it.
pub type Loader = fn(&str) -> Result<&'static Definition, Refusal>;

/// The reason why a foreign scheme is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The mistake.
    pub message: String,
    /// What to do instead.
    pub hint: String,
}

static LOADER: OnceLock<Loader> = OnceLock::new();
static LOADED: RwLock<Vec<&'static Definition>> = RwLock::new(Vec::new());

/// Installs the loader of this process. The first one stays.
pub fn install(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

/// Whether a text names a scheme by its location. Names of schemes have neither slash, dot nor colon.
#[must_use]
pub fn is_location(text: &str) -> bool {
    text.contains(['/', '.', ':', '\\'])
}

/// Loads the scheme at a location, which then has a name in files.
pub(crate) fn load(location: &str) -> Result<(), Refusal> {
    let Some(loader) = LOADER.get() else {
        let message = format!("\"{location}\" is a file, and schemes of files are not loaded here");
        return Err(Refusal { message, hint: "name a scheme of Penstock".to_owned() });
    };
    let definition = loader(location)?;
    let name = definition.info.name;
    if SCHEMES.iter().any(|info| info.name == name) {
        let message = format!("{location} calls its scheme \"{name}\", which is one of Penstock's");
        return Err(Refusal { message, hint: format!("give it another name, as in \"my-{name}\"") });
    }
    let mut loaded = LOADED.write().unwrap_or_else(PoisonError::into_inner);
    loaded.retain(|known| !std::ptr::eq(*known, definition));
    loaded.push(definition);
    Ok(())
}

/// The scheme at a location that was loaded.
pub(crate) fn at(location: &str) -> Option<&'static Info> {
    find(|known| known.location == location).map(|definition| definition.info)
}

fn find(is_it: impl Fn(&Definition) -> bool) -> Option<&'static Definition> {
    LOADED.read().unwrap_or_else(PoisonError::into_inner).iter().rev().find(|known| is_it(known)).copied()
}

/// The definition of a foreign scheme, by its entry.
fn of_info(info: &Info) -> Option<&'static Definition> {
    find(|known| std::ptr::eq(known.info, info))
}

/// The text that names a scheme in a file.
pub(crate) fn written(info: &Info) -> &'static str {
    of_info(info).map_or_else(|| listed(info.name), |definition| definition.location)
}

/// The name of a listed scheme, which lasts.
fn listed(name: &str) -> &'static str {
    SCHEMES.iter().find(|info| info.name == name).map_or("", |info| info.name)
}

/// Every scheme that files can have settings of: those of Penstock, and those that were loaded, one for each name.
pub(crate) fn known() -> Vec<&'static Info> {
    let mut all: Vec<&'static Info> = SCHEMES.iter().collect();
    for definition in LOADED.read().unwrap_or_else(PoisonError::into_inner).iter().rev() {
        if all.iter().all(|info| info.name != definition.info.name) {
            all.push(definition.info);
        }
    }
    all
}

/// A scheme with values for its parameters.
pub(crate) fn configured(info: &Info, values: &[Value]) -> SchemeConfig {
    let config = match of_info(info) {
        Some(definition) => Config::new(definition, values).map(SchemeConfig::Foreign),
        None => SchemeConfig::new(info.name, values),
    };
    config.expect("values are of their parameters' kinds")
}
