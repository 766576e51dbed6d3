//! Where flows pass, and how switches choose among the paths of one.

pub(crate) mod load_balancing;
pub(crate) mod routes;
