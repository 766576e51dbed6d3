//! Frames at even distances.

use penstock_sim::network::Traffic;

use super::{Kind, Own};

pub(crate) const KIND: Kind = Kind {
    word: "constant",
    doc: "at even distances",
    keys: &[Own::Rate],
    traffic: |keys| Ok(Traffic::Constant(keys.rate()?)),
};
