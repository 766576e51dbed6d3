//! Frames at random.

use penstock_sim::network::Traffic;

use super::{Kind, Own};

pub(crate) const KIND: Kind = Kind {
    word: "poisson",
    doc: "at random with exponential distances",
    keys: &[Own::Rate],
    traffic: |keys| Ok(Traffic::Poisson(keys.rate()?)),
};
