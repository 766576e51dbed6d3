//! Frames in turns.

use penstock_sim::network::Traffic;

use super::{Kind, Own};

pub(crate) const KIND: Kind = Kind {
    word: "on-off",
    doc: "in turns of sending at even distances and of silence",
    keys: &[Own::Rate, Own::On, Own::Off, Own::Random],
    traffic: |keys| Ok(Traffic::OnOff { rate: keys.rate()?, on: keys.on()?, off: keys.off()?, random: keys.random() }),
};
