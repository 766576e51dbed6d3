//! Links by their names in a scenario.

use crate::keys::topology::Layout;

/// The ports of a link: one for a direction, as in `a->b`, or both, as in `a--b`. Else the name of the port that there is not.
pub(crate) fn ports_of(layout: &Layout, link: &str) -> Result<Vec<usize>, String> {
    let names = match link.split_once("--") {
        Some((a, b)) => vec![format!("{a}->{b}"), format!("{b}->{a}")],
        None => vec![link.to_owned()],
    };
    names.into_iter().map(|name| layout.port(&name).ok_or(name)).collect()
}
