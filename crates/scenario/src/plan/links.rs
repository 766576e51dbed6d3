//! Links by their names in a scenario.

use crate::keys::topology::{self, Layout};

/// The ports of a link: one for a direction, as in `a->b`, or both, as in `a--b`. Else the name of the port that there is not.
pub(crate) fn ports_of(layout: &Layout, link: &str) -> Result<Vec<usize>, String> {
    let names = topology::ports_of(link);
    names.into_iter().map(|name| layout.port(&name).ok_or(name)).collect()
}
