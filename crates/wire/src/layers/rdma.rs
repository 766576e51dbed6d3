//! Headers behind RoCEv2's base transport header.

use super::{Layer, Layers, Next};
use crate::{mrc, roce};

impl<'a> Layers<'a> {
    /// The base transport header, and then the part that its operation has.
    pub(super) fn base_transport(&mut self) -> Option<Layer<'a>> {
        self.header(&roce::FORMAT, |this, octets| {
            this.next = match octets.first() {
                Some(&roce::CNP) => Next::Rest("cnp_reserved", true),
                Some(&mrc::SACK) => Next::MrcSack,
                _ => Next::Rest("data", true),
            };
        })
    }

    /// MRC's selective acknowledgement.
    pub(super) fn mrc_sack(&mut self) -> Option<Layer<'a>> {
        self.header(&mrc::FORMAT, |this, _| this.next = Next::Rest("data", true))
    }
}
