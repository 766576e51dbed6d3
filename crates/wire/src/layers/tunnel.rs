//! Tunnels: the header in front of a frame or a datagram that is carried in another one, which is read next. The headers themselves have
//! no fields here.

use super::{Layer, Layers, Next, octet, u16_at};
use crate::ethernet::ether_type;

/// What GRE calls an Ethernet frame (RFC 7637), and a mirrored one with a header of 8 octets before it (ERSPAN, type II).
const BRIDGED: u16 = 0x6558;
const MIRRORED: u16 = 0x88be;

impl<'a> Layers<'a> {
    /// VXLAN (RFC 7348, section 5): 8 octets, of which the flag for a network identifier is set, and what is reserved is 0.
    pub(super) fn vxlan(&mut self) -> Layer<'a> {
        let left = self.left();
        let is_vxlan =
            left.len() < 8 || (octet(left, 0), octet(left, 1), u16_at(left, 2), octet(left, 7)) == (8, 0, 0, 0);
        if is_vxlan { self.tunnel("vxlan", 8, Next::Ethernet) } else { self.rest("data", false) }
    }

    /// GRE (RFC 2784, RFC 2890): 4 octets, and 4 more for each of checksum, key and sequence number.
    pub(super) fn gre(&mut self) -> Layer<'a> {
        let left = self.left();
        let (flags, kind) = (u16_at(left, 0), u16_at(left, 2));
        let more = (flags & 0xb000).count_ones() as usize * 4;
        match kind {
            _ if flags & 0x4fff != 0 => self.rest("data", false),
            BRIDGED => self.tunnel("gre", 4 + more, Next::Ethernet),
            MIRRORED => self.tunnel("gre", 4 + more + 8, Next::Ethernet),
            ether_type::IPV4 | ether_type::IPV6 => self.tunnel("gre", 4 + more, Next::Type(kind)),
            _ => self.rest("data", false),
        }
    }

    /// A header of `octets`, behind which `then` follows.
    fn tunnel(&mut self, label: &'static str, octets: usize, then: Next) -> Layer<'a> {
        if octets > self.on_line() {
            return self.rest("data", false);
        }
        let mut layer = self.layer(None, label, octets);
        if layer.missing > 0 {
            layer.unchecked = Some("what the tunnel carries");
        }
        self.network = None;
        self.next = if layer.missing > 0 { Next::Done } else { then };
        layer
    }
}
