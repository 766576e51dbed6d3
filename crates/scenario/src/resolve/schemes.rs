//! The scheme that runs, its settings, and the profiles that these start from.

use penstock_schemes::{Info, SCHEMES};

use super::Choice;
use crate::error::{Fault, brief, suggest};
use crate::foreign::{self, Refusal, is_location};
use crate::keys::location::Location;
use crate::keys::sections::{Experiment, ProfileName, SchemeName, Settings};
use crate::keys::tree::{Data, Node, Origin};

/// Loads the schemes that a choice and the keys `scheme` of a tree name by their locations.
pub(crate) fn load(tree: &Node, choice: &Choice) -> Result<(), Fault> {
    if let Some(name) = choice.scheme.as_deref().filter(|name| is_location(name)) {
        foreign::load(name).map_err(|Refusal { message, hint }| chosen("scheme", message, hint))?;
    }
    if let Some(node) = tree.at(&["scheme"]) {
        load_at(node, "scheme")?;
    }
    let Some(Data::List(priorities)) = tree.at(&["priority"]).map(|node| &node.data) else { return Ok(()) };
    let named = priorities.iter().enumerate().filter_map(|(i, table)| Some((i, table.at(&["scheme"])?)));
    named.into_iter().try_for_each(|(i, node)| load_at(node, &format!("priority.{i}.scheme")))
}

fn load_at(node: &Node, path: &str) -> Result<(), Fault> {
    let Data::Text(text) = &node.data else { return Ok(()) };
    if !is_location(text) {
        return Ok(());
    }
    foreign::load(text).map_err(|Refusal { message, hint }| Location { path, origin: node.origin }.error(message, hint))
}

/// The scheme of the priorities that have no table. The record then has settings of each scheme that runs, with its profile's values.
pub(super) fn choose(record: &mut Experiment, choice: &Choice) -> Result<&'static Info, Fault> {
    if let Some(name) = &choice.scheme {
        let listed = || SCHEMES.iter().find(|info| info.name == name);
        let Some(info) = foreign::at(name).or_else(listed) else {
            let hint = suggest(name, SCHEMES.iter().map(|info| info.name));
            return Err(chosen("scheme", format!("unknown scheme \"{name}\""), hint));
        };
        record.scheme.replace(SchemeName(info));
    }
    let SchemeName(chosen) = *record.scheme;
    let by = record.scheme.origin();
    let schemes = record.schemes.inner();
    schemes.fill(chosen, by)?;
    for (info, settings) in schemes.all() {
        if let Some(settings) = settings {
            let wanted = if info.name == chosen.name { choice.profile.as_deref() } else { None };
            apply_profile(info, settings, wanted)?;
        }
    }
    for own in record.priority.iter() {
        if let Some(SchemeName(info)) = *own.scheme {
            record.schemes.inner().fill(info, own.scheme.table_origin())?;
        }
    }
    Ok(chosen)
}

/// Gives the parameters that the table does not set the values of its profile, or of the one wanted instead.
fn apply_profile(info: &Info, settings: &mut Settings, wanted: Option<&str>) -> Result<(), Fault> {
    if let Some(name) = wanted {
        let Some(profile) = info.profile(name) else {
            let message = format!("{} has no profile \"{name}\"", info.name);
            return Err(chosen("profile", message, no_profile(info, name)));
        };
        if let Some(entry) = &mut settings.profile {
            entry.replace(Some(ProfileName(profile)));
        }
    }
    let Some(profile) = settings.profile() else { return Ok(()) };
    for (parameter, value) in info.parameters.iter().zip(&mut settings.values) {
        let set = profile.settings.iter().find(|(name, _)| *name == parameter.name);
        if let Some((_, set)) = set.filter(|_| value.origin() == Origin::Default) {
            value.replace(*set);
        }
    }
    Ok(())
}

/// The names of the profiles, as a hint for an unknown name.
pub(crate) fn no_profile(info: &Info, name: &str) -> String {
    match info.profiles {
        [] => format!("{} has no profiles", info.name),
        profiles => suggest(name, profiles.iter().map(|p| p.name)),
    }
}

/// An error in a setting that was chosen for the run outside of the file.
pub(crate) fn chosen(what: &str, message: String, hint: impl Into<String>) -> Fault {
    let message = format!("{message}, as given by --{what}");
    Fault { line: None, key: Some(what.to_owned()), message: brief(&message), hint: Some(hint.into()) }
}
