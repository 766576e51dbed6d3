//! There is always one more frame.

use penstock_sim::network::Traffic;

use super::Kind;

pub(crate) const KIND: Kind =
    Kind { word: "greedy", doc: "there is always one more", keys: &[], traffic: |_| Ok(Traffic::Greedy) };
