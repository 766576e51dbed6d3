//! Headers behind RoCEv2's base transport header.

use super::{Layer, Layers, Next};
use crate::{Format, mrc, roce};

impl<'a> Layers<'a> {
    /// The base transport header, and then the part that its operation has.
    pub(super) fn base_transport(&mut self) -> Option<Layer<'a>> {
        self.header(&roce::FORMAT, |this, octets| {
            this.next = match octets.first() {
                Some(&roce::CNP) => Next::Rest("cnp_reserved", true),
                Some(&opcode) => mrc::header_of(opcode).map_or(Next::Rest("data", true), Next::Mrc),
                None => Next::Rest("data", true),
            };
        })
    }

    /// A header of MRC.
    pub(super) fn mrc(&mut self, format: &'static Format) -> Option<Layer<'a>> {
        self.header(format, |this, _| this.next = Next::Rest("data", true))
    }
}
