//! What a scenario may say: every key with its type, range, default and meaning, how it is read from a tree of values, and how it is
//! written. Nothing here knows another layer.
//!
//! ```text
//! tree -> key -> location -> fields -> read -> alpha -> declare -> sections, sizes, topology -> schema
//! ```

pub(crate) mod alpha;
pub(crate) mod declare;
pub(crate) mod fields;
pub(crate) mod key;
pub(crate) mod location;
pub(crate) mod ranges;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod sections;
pub(crate) mod sizes;
pub(crate) mod topology;
pub(crate) mod tree;
pub(crate) mod write;
