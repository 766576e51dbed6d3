//! The extension header of IPv6 that is followed: the Destination Options of a Fast CNP.

use super::{Layer, Layers, Network, Next, octet};
use crate::checksum::PseudoHeader;
use crate::fast_cnp;

impl<'a> Layers<'a> {
    /// The options, and then the format that they name. Checksums cover that one's number, and not the header's of the options.
    pub(super) fn destination_options(&mut self) -> Option<Layer<'a>> {
        self.header(&fast_cnp::FORMAT, |this, octets| {
            let next = octet(octets, 0);
            if let Some(Network { pseudo: PseudoHeader::Ipv6(_, _, covered), .. }) = &mut this.network {
                *covered = next;
            }
            this.next = Next::Protocol(next);
        })
    }
}
