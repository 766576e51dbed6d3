//! Sequence numbers: 64-bit offsets within, fewer bits on the wire.
//!
//! A number on the wire is the offset plus the flow's first number, in its last `bits` bits. It means the offset nearest
//! to one that the reader knows. That is right while the two are less than half of the number space apart. (RFC 9293,
//! section 3.4; InfiniBand Architecture Specification, volume 1, section 9.7.2)

/// The numbering of a flow's octets, or frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbering {
    bits: u32,
    first: u32,
}

impl Numbering {
    /// TCP's: 32 bits, the first octet has number `first`.
    #[must_use]
    pub const fn tcp(first: u32) -> Self {
        Self { bits: 32, first }
    }

    /// RoCE's packet sequence numbers: 24 bits, the first frame has number `first` modulo 2^24.
    #[must_use]
    pub const fn psn(first: u32) -> Self {
        Self { bits: 24, first }
    }

    /// Numbers that may be in flight at once: fewer than half of the space.
    #[must_use]
    pub const fn most_in_flight(self) -> u64 {
        (1 << (self.bits - 1)) - 1
    }

    /// The number of `offset`.
    #[must_use]
    pub const fn wrap(self, offset: u64) -> u32 {
        self.masked((offset as u32).wrapping_add(self.first))
    }

    /// The offset with `number` that is nearest to `near`; `None` if it would lie before the start of the flow.
    #[must_use]
    pub const fn unwrap(self, number: u32, near: u64) -> Option<u64> {
        let unused = 32 - self.bits;
        // The distance, with the sign of its highest bit.
        let distance = (self.masked(number.wrapping_sub(self.wrap(near))) << unused) as i32 >> unused;
        near.checked_add_signed(distance as i64)
    }

    const fn masked(self, number: u32) -> u32 {
        number & (u32::MAX >> (32 - self.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::Numbering;
    use proptest::prelude::*;

    #[test]
    fn numbers_wrap_at_their_width() {
        let tcp = Numbering::tcp(0xffff_fff0);
        assert_eq!((tcp.wrap(0), tcp.wrap(15), tcp.wrap(16), tcp.wrap(17)), (0xffff_fff0, 0xffff_ffff, 0, 1));
        let psn = Numbering::psn(0xff_fffe);
        assert_eq!((psn.wrap(1), psn.wrap(2), psn.wrap(1 << 24)), (0xff_ffff, 0, 0xff_fffe));
    }

    #[test]
    fn a_number_stands_for_the_nearest_offset() {
        let tcp = Numbering::tcp(0xffff_fff0);
        assert_eq!(tcp.unwrap(1, 5), Some(17), "past the wrap");
        assert_eq!(tcp.unwrap(0xffff_fff0, 20), Some(0), "before the wrap");
        assert_eq!(tcp.unwrap(0xffff_ffef, 0), None, "before the flow");
        // Half of the space or more ahead is behind.
        assert_eq!(tcp.unwrap(tcp.wrap(1 << 33 | 7), 1 << 33), Some(1 << 33 | 7));
        assert_eq!(tcp.unwrap(tcp.wrap((1 << 33) - 7), 1 << 33), Some((1 << 33) - 7));
        let psn = Numbering::psn(0);
        assert_eq!(psn.unwrap(0x7f_ffff, 0), Some(0x7f_ffff));
        assert_eq!(psn.unwrap(0x80_0000, 0), None);
        assert_eq!(psn.unwrap(0x80_0000, 1 << 24), Some((1 << 24) - 0x80_0000));
    }

    proptest! {
        #[test]
        fn unwrap_undoes_wrap(first: u32, near in 0u64..1 << 40, distance in -0x7f_ffffi64..0x7f_ffff, narrow: bool) {
            let numbering = if narrow { Numbering::psn(first) } else { Numbering::tcp(first) };
            let offset = near.saturating_add_signed(distance);
            prop_assert_eq!(numbering.unwrap(numbering.wrap(offset), near), Some(offset));
        }
    }
}
